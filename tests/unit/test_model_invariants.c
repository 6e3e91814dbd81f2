/* test_model_invariants.c: what holds for every case (pm_verify), over a grid of models, cards, engines,
 * layouts and loads, the impossible ones included; and what relates one case to another. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "model_fixture.h"

static const char *const serving_models[] = {
    "meta-llama/Llama-3.1-70B",
    "Llama-3.1-8B",
    "Qwen3-32B",
    "gpt-oss-120b",
    "MiniMax-M2.5",
    "Qwen3-235B",
    "Qwen3.5-397B",
    "DeepSeek-R1",
};

enum { SERVING = sizeof serving_models / sizeof serving_models[0], SPECIAL = 7 };

/* Models with what the serving ones lack. */
static void special_model(struct fixture_model *out, int index)
{
    *out = (struct fixture_model){.model = {.hidden = 4096,
                                            .vocab = 32003,
                                            .tied_embeddings = true,
                                            .final_norms = 1,
                                            .max_context = 131072}};
    out->blocks[0] = (struct pm_block){.count = 24,
                                       .attention = PM_ATTENTION_GROUPED,
                                       .heads = 32,
                                       .kv_heads = 8,
                                       .head_dim = 128,
                                       .v_dim = 128,
                                       .ffn = 11000,
                                       .norms = 2,
                                       .output_bias = true,
                                       .qkv_bias = true};
    out->blocks[1] = out->blocks[0];
    out->blocks[1].count = 8;
    out->blocks[1].window = 1000;
    size_t blocks = 2;
    switch (index) {
    case 0: break;
    case 1: out->blocks[1].window = 0, out->blocks[1].chunk = 8192; break;
    case 2: /* nothing grows */ out->blocks[0].window = 4096; break;
    case 3: /* Mamba, and blocks of one part */
        out->blocks[0] = (struct pm_block){.count = 40,
                                           .attention = PM_ATTENTION_MAMBA,
                                           .ssm_heads = 128,
                                           .ssm_head_dim = 64,
                                           .ssm_groups = 8,
                                           .ssm_state = 128,
                                           .conv_kernel = 4,
                                           .norms = 1};
        out->blocks[1] = (struct pm_block){.count = 40,
                                           .attention = PM_ATTENTION_NONE,
                                           .experts = 512,
                                           .active_experts = 22,
                                           .expert_ffn = 2688,
                                           .expert_input = 1024,
                                           .shared_ffn = 5376,
                                           .norms = 1};
        break;
    case 4: /* a sparse index */
        out->blocks[0] = (struct pm_block){.count = 10,
                                           .attention = PM_ATTENTION_LATENT,
                                           .heads = 64,
                                           .q_rank = 1536,
                                           .kv_rank = 512,
                                           .nope_dim = 128,
                                           .rope_dim = 64,
                                           .v_dim = 128,
                                           .index_heads = 64,
                                           .index_dim = 128,
                                           .index_top = 2048,
                                           .ffn = 8192,
                                           .ffn_gated = true,
                                           .norms = 2};
        blocks = 1;
        break;
    case 5: /* parameters alone */
        out->model = (struct pm_model){.declared_params = 7e9};
        blocks = 0;
        break;
    case 6: /* parameters and blocks, no width */
        out->model = (struct pm_model){.declared_params = 7e9};
        out->blocks[0] = (struct pm_block){.count = 32, .attention = PM_ATTENTION_GROUPED};
        blocks = 1;
        break;
    default: cr_assert(false, "no such model");
    }
    fixture_formats(out, &fixture_fp8);
    fixture_connect(out, blocks);
}

static void grid_model(struct fixture_model *out, int index)
{
    if (index < SERVING) {
        cr_assert(fixture_serving_model(out, serving_models[index], index % 2 ? "fp8" : "bf16", "h100_sxm",
                                        "vllm"));
    } else {
        special_model(out, index - SERVING);
    }
}

/* A card with little of everything: no 8-bit unit, no link, a cache. */
static void grid_gpu(struct pm_gpu *out, int index)
{
    static const char *const names[] = {"h100_sxm", "h200_sxm", "b200_sxm"};
    if (index < 3) {
        cr_assert(fixture_gpu(out, names[index]));
        return;
    }
    *out = (struct pm_gpu){.memory = 24e9, .bandwidth = 3e11, .cache = 50e6, .tdp = 72, .price = 1e-4};
    out->peak[PM_FP16] = 60e12;
}

struct load {
    double context, prompt, output, batch, cached, drafts;
};

static const struct load loads[] = {
    {0, 0, 0, 1, 0, 0},        {4096, 0, 0, 1, 0, 0},    {4096, 0, 0, 333, 0, 0},
    {131072, 512, 0, 7, 0, 4}, {0, 1024, 1024, 1, 0, 0}, {0, 1024, 256, 64, 512, 0},
    {0, 30000, 1, 16, 0, 0},   {0, 0, 100, 8, 0, 0},     {0, 200000, 50, 999, 0, 3},
    {0, 1, 2, 1, 0, 0},        {0, 10.5, 3.5, 3, 99, 0}, {0, 900000, 90000, 2, 0, 0},
};

static const double layouts[][4] = {
    /* tp, pp, dp, ep */
    {1, 1, 1, 1}, {8, 1, 1, 1}, {4, 2, 1, 1}, {2, 1, 4, 8}, {16, 1, 1, 3}, {16, 4, 2, 32}, {1, 3, 1, 1},
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void verify(const struct pm_case *input, const char *what, size_t a, size_t b, size_t c)
{
    struct pm_result result;
    pm_evaluate(input, &result);
    const char *violation = pm_verify(input, &result);
    cr_expect_null(violation, "%s, model %zu, layout %zu, load %zu: %s", what, a, b, c, violation);
    if (input->engine->ideal) {
        cr_expect_eq(memcmp(&result.expected, &result.ceiling, offsetof(struct pm_service, tpot_band)), 0,
                     "%s, model %zu, layout %zu, load %zu: ideal is not the ceiling", what, a, b, c);
        cr_expect_eq(result.decode.time, result.decode_ceiling.time);
    }
}

Test(model_invariants, grid)
{
    static const char *const engines[] = {"vllm", "ideal", "greedy"};
    for (int m = 0; m < SERVING + SPECIAL; m++) {
        struct fixture_model model;
        grid_model(&model, m);
        for (int g = 0; g < 4; g++) {
            struct pm_gpu gpu;
            grid_gpu(&gpu, g);
            for (size_t e = 0; e < COUNT(engines); e++) {
                struct pm_engine engine;
                fixture_engine(&engine, engines[e]);
                if (strcmp(engines[e], "ideal") == 0) {
                    fixture_ideal(&engine);
                } else if (strcmp(engines[e], "greedy") == 0) { /* claims more than there is */
                    engine.efficiency_bandwidth = 2;
                    engine.operation_time = engine.sequence_time = engine.allreduce_time = 0;
                    engine.activations_in_overhead = false;
                    engine.chunk = 64;
                    for (int i = 0; i < PM_CLASS_COUNT; i++) {
                        engine.efficiency_dense[i] = engine.efficiency_experts[i] = 1;
                    }
                    engine.efficiency_attention = 1;
                    engine.expert_half_rows = 0;
                }
                for (size_t l = 0; l < COUNT(layouts); l++) {
                    for (size_t k = 0; k < COUNT(loads); k++) {
                        struct pm_case input = fixture_case(&model.model, &gpu, &engine);
                        input.tp = layouts[l][0], input.pp = layouts[l][1];
                        input.dp = layouts[l][2], input.ep = layouts[l][3];
                        input.context = loads[k].context;
                        input.prompt = loads[k].prompt;
                        input.output = loads[k].output;
                        input.batch = loads[k].batch;
                        input.cached_prefix = loads[k].cached;
                        input.draft_tokens = loads[k].drafts;
                        input.acceptance = 0.7;
                        input.static_step = loads[k].output == 0;
                        verify(&input, engines[e], (size_t)m, l, k);
                    }
                }
            }
        }
    }
}

/* Without any loss and fixed time, the operations still need what the ceiling says: the bound is one of
 * the formulas, not of a correction made afterwards. */
Test(model_invariants, operations_respect_the_ceiling)
{
    struct pm_engine engine;
    fixture_engine(&engine, "vllm");
    engine.efficiency_bandwidth = engine.efficiency_attention = engine.efficiency_link = 1;
    engine.operation_time = engine.sequence_time = engine.allreduce_time = engine.expert_half_rows = 0;
    for (int i = 0; i < PM_CLASS_COUNT; i++) {
        engine.efficiency_dense[i] = engine.efficiency_experts[i] = 1;
    }
    for (int m = 0; m < SERVING + SPECIAL; m++) {
        struct fixture_model model;
        grid_model(&model, m);
        for (int g = 0; g < 3; g++) {
            struct pm_gpu gpu;
            grid_gpu(&gpu, g);
            for (size_t l = 0; l < COUNT(layouts); l++) {
                struct pm_case input = fixture_case(&model.model, &gpu, &engine);
                struct pm_step step;
                struct pm_ceiling ceiling;
                input.tp = layouts[l][0], input.pp = layouts[l][1];
                input.dp = layouts[l][2], input.ep = layouts[l][3];
                for (double batch = 1; batch < 1e4; batch *= 7) {
                    pm_expected_step(&input, batch, 50 * batch, 0, &step, NULL, 0, NULL);
                    pm_ceiling_decode(&input, batch, 50 * batch, &ceiling);
                    cr_expect(step.time >= ceiling.time * (1 - 1e-12),
                              "model %d, card %d, layout %zu, batch %g: %g, ceiling %g", m, g, l, batch,
                              step.time, ceiling.time);
                    cr_expect(step.work >= ceiling.work * (1 - 1e-12),
                              "model %d, card %d, layout %zu, batch %g: work %g, ceiling %g", m, g, l, batch,
                              step.work, ceiling.work);
                    pm_expected_step(&input, 0, 0, batch, &step, NULL, 0, NULL);
                    pm_ceiling_prefill(&input, batch, 0, &ceiling);
                    cr_expect(step.time >= ceiling.time * (1 - 1e-12),
                              "model %d, card %d, layout %zu, prompt %g: %g, ceiling %g", m, g, l, batch,
                              step.time, ceiling.time);
                    cr_expect(step.work >= ceiling.work * (1 - 1e-12),
                              "model %d, card %d, layout %zu, prompt %g: work %g, ceiling %g", m, g, l, batch,
                              step.work, ceiling.work);
                }
            }
        }
    }
}

/* Nothing at all is given: results are wrong inputs' results, but numbers. */
Test(model_invariants, empty)
{
    struct pm_model model = {0};
    struct pm_gpu gpu = {0};
    struct pm_engine engine = {0};
    struct pm_case input = {.model = &model, .gpu = &gpu, .engine = &engine};
    struct pm_result result;
    pm_evaluate(&input, &result);
    cr_expect_null(pm_verify(&input, &result), "%s", pm_verify(&input, &result));
    input.batch = 1e9;
    input.prompt = input.output = 1e10;
    model.declared_params = 1e15;
    pm_evaluate(&input, &result);
    cr_expect_null(pm_verify(&input, &result), "%s", pm_verify(&input, &result));
}

/* Largest batch and context are exact: they fit, and one more does not. */
Test(model_invariants, limits_are_exact)
{
    for (int m = 0; m < SERVING + SPECIAL; m++) {
        struct fixture_model model;
        struct pm_gpu gpu;
        struct pm_engine engine;
        struct pm_result result, at, beyond;
        grid_model(&model, m);
        grid_gpu(&gpu, 2);
        fixture_engine(&engine, "vllm");
        struct pm_case input = fixture_case(&model.model, &gpu, &engine);
        input.tp = 8;
        input.context = 3000;
        input.batch = 5;
        pm_evaluate(&input, &result);
        cr_assert(result.memory.fits, "model %d", m);
        if (result.memory.max_batch_limit == PM_LIMIT_MEMORY) {
            struct pm_case other = input;
            other.batch = result.memory.max_batch;
            pm_evaluate(&other, &at);
            other.batch = result.memory.max_batch + 1;
            pm_evaluate(&other, &beyond);
            cr_expect(at.memory.fits && !beyond.memory.fits, "model %d: batch %.0f", m,
                      result.memory.max_batch);
        }
        if (result.memory.max_context_limit == PM_LIMIT_MEMORY) {
            struct pm_case other = input;
            other.context = result.memory.max_context;
            pm_evaluate(&other, &at);
            other.context = result.memory.max_context + 1;
            pm_evaluate(&other, &beyond);
            cr_expect(at.memory.fits && !beyond.memory.fits, "model %d: context %.0f", m,
                      result.memory.max_context);
        }
    }
}

/* At the critical batch compute takes at least as long as memory; one sequence fewer and it does not. */
Test(model_invariants, critical_batch)
{
    for (int m = 0; m < SERVING + SPECIAL; m++) {
        struct fixture_model model;
        struct pm_gpu gpu;
        struct pm_engine engine;
        struct pm_ceiling at, before;
        grid_model(&model, m);
        grid_gpu(&gpu, 0);
        fixture_ideal(&engine);
        struct pm_case input = fixture_case(&model.model, &gpu, &engine);
        input.static_step = true;
        double batch = pm_critical_batch(&input, 100);
        if (batch > 0) {
            pm_ceiling_decode(&input, batch, 100, &at);
            pm_ceiling_decode(&input, batch - 1, 100, &before);
            cr_expect(at.compute_time >= at.memory_time * (1 - 1e-9), "model %d, batch %g", m, batch);
            cr_expect(batch == 1 || before.compute_time < before.memory_time, "model %d, batch %g", m, batch);
        }
        double context = pm_critical_context(&input);
        if (context > 0) { /* up to there a batch exists, beyond there is none */
            cr_expect(pm_critical_batch(&input, context * 0.99) > 0, "model %d, context %g", m, context);
            cr_expect_eq(pm_critical_batch(&input, context * 1.01), 0, "model %d, context %g", m, context);
        }
    }
}

/* What perfmodel.h says that the numbers of a launch are products of. */
static void products_of(const struct pm_op *op)
{
    const struct pm_op_sizes *s = &op->sizes;
    double pairs = s->pairs + s->tokens * s->attended, tokens = s->tokens + s->prompt;
    double work = 2 * pairs * s->heads * s->width, weights = 0, cache = 0, activations = 0;
    switch (s->kind) {
    case PM_PRODUCT:
    case PM_EXPERTS:
        work = 2 * s->rows * s->matrix;
        weights = s->matrix * s->bits / 8 * (s->kind == PM_EXPERTS ? s->experts : 1);
        activations = 2 * s->rows * s->columns;
        break;
    case PM_DECODE_ATTENTION:
    case PM_DECODE_INDEX: cache = s->sequences * s->attended * s->token_bytes; break;
    case PM_PROMPT_LATENT: cache = s->cached * s->token_bytes; break;
    case PM_PROMPT_ATTENTION:
    case PM_PROMPT_INDEX: cache = (s->prompt + s->cached) * s->token_bytes; break;
    case PM_STATE_UPDATE:
        work = 6 * s->values * s->tokens;
        cache = s->state_bytes * s->passes;
        activations = 4 * s->tokens * s->passing;
        break;
    case PM_OP_KINDS: cr_expect(false, "no kind");
    }
    if (s->kind == PM_DECODE_ATTENTION || s->kind == PM_PROMPT_ATTENTION || s->kind == PM_PROMPT_LATENT)
        activations = (s->kind == PM_PROMPT_LATENT ? 4 : 2) * tokens * s->heads * s->width;
    cr_expect_float_eq(op->work, work, 1e-9 * work, "%s: %g, %g", op->name, op->work, work);
    cr_expect_float_eq(op->weight_bytes, weights, 1e-9 * weights, "%s: weights", op->name);
    cr_expect_float_eq(op->kv_bytes, cache, 1e-9 * cache, "%s: cache", op->name);
    cr_expect_float_eq(op->activation_bytes, activations, 1e-9 * activations, "%s: activations", op->name);
}

/* The operations and what stands beside them add up to the step. */
Test(model_invariants, operations_add_up)
{
    for (int m = 0; m < SERVING + SPECIAL; m++) {
        static struct pm_op ops[PM_OPS_MAX];
        struct fixture_model model;
        struct pm_gpu gpu;
        struct pm_engine engine;
        struct pm_step step;
        size_t count = 0;
        grid_model(&model, m);
        grid_gpu(&gpu, 1);
        fixture_engine(&engine, "trtllm");
        struct pm_case input = fixture_case(&model.model, &gpu, &engine);
        input.tp = 4;
        pm_expected_step(&input, 10, 2000, 300, &step, ops, PM_OPS_MAX, &count);
        double seconds = step.host_time + step.allreduce_time, launches = 0;
        for (size_t i = 0; i < count; i++) {
            seconds += ops[i].count * ops[i].seconds;
            launches += ops[i].count;
            cr_expect(ops[i].name != NULL && ops[i].seconds > 0 && ops[i].rate > 0);
            products_of(&ops[i]);
        }
        cr_expect_float_eq(seconds, step.time, 1e-12 * step.time + 1e-15, "model %d: %g, %g", m, seconds,
                           step.time);
        cr_expect_eq(launches, step.launches);
    }
}
