/* test_model_step.c: formats and peaks, attended tokens, steps and communication, each against arithmetic
 * by hand, for what neither the worked numbers nor the serving vectors reach. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "model/internal.h"
#include "model_fixture.h"

static void near(const char *what, double value, double expected)
{
    cr_expect(fabs(value - expected) <= 1e-12 * fabs(expected), "%s: %.17g, expected %.17g", what, value,
              expected);
}

/* ---- formats -------------------------------------------------------------------------------- */

static const struct pm_gpu hopper = {
    .peak = {[PM_FP16] = 990e12, [PM_BF16] = 989e12, [PM_FP8] = 1979e12, [PM_INT8] = 1980e12}};
static const struct pm_gpu blackwell = {
    .peak = {[PM_BF16] = 2250e12, [PM_FP8] = 4500e12, [PM_FP4] = 9000e12}};
static const struct pm_gpu volta = {.peak = {[PM_FP16] = 125e12, [PM_FP32] = 15.7e12}};

static void peaks(const char *what, const struct pm_gpu *gpu, const struct pm_format *format, double ceiling,
                  double expected, enum pm_class computed)
{
    enum pm_class class = PM_CLASS_COUNT;
    near(what, pm_peak_ceiling(gpu, format), ceiling);
    near(what, pm_peak_expected(gpu, format, &class), expected);
    cr_expect_eq(class, computed, "%s: class %d", what, class);
}

Test(model_step, format_to_peak)
{
    peaks("bf16", &hopper, &fixture_bf16, 989e12, 989e12, PM_CLASS_16);
    peaks("fp16 is bf16", &hopper, &fixture_fp16, 989e12, 989e12, PM_CLASS_16);
    peaks("bf16 is fp16", &volta, &fixture_bf16, 125e12, 125e12, PM_CLASS_16);
    peaks("fp8", &hopper, &fixture_fp8, 1979e12, 1979e12, PM_CLASS_8);
    peaks("int8", &hopper, &fixture_int8, 1980e12, 1980e12, PM_CLASS_8);
    peaks("int8 without a unit", &blackwell, &fixture_int8, 2250e12, 2250e12, PM_CLASS_16);
    peaks("fp8 without a unit", &volta, &fixture_fp8, 125e12, 125e12, PM_CLASS_16);
    peaks("weight only", &blackwell, &fixture_int4, 2250e12, 2250e12, PM_CLASS_16);
    peaks("nvfp4", &blackwell, &fixture_nvfp4, 9000e12, 9000e12, PM_CLASS_4);
    peaks("nvfp4 without a unit", &hopper, &fixture_nvfp4, 989e12, 989e12, PM_CLASS_16);
    peaks("mxfp4", &blackwell, &fixture_mxfp4, 9000e12, 4500e12, PM_CLASS_8);
    peaks("mxfp4 without a unit", &hopper, &fixture_mxfp4, 989e12, 989e12, PM_CLASS_16);
}

/* ---- attended tokens ------------------------------------------------------------------------ */

/* The closed forms against sums, one position at a time. */
Test(model_step, attended_is_the_sum)
{
    static const double windows[] = {0, 1, 7, 64, 100, 1000};
    for (size_t w = 0; w < sizeof windows / sizeof windows[0]; w++) {
        for (double cached = 0; cached < 200; cached += 33) {
            for (double tokens = 1; tokens < 300; tokens += 41) {
                double sum = 0, chunked = 0;
                for (double i = cached + 1; i <= cached + tokens; i++) {
                    sum += windows[w] > 0 && i > windows[w] ? windows[w] : i;
                    chunked += fmod(i - 1, 37) + 1;
                }
                near("window", pm_attended_pairs(tokens, cached, windows[w], 0), sum);
                near("chunk", pm_attended_pairs(tokens, cached, 0, 37), chunked);
                struct pm_contexts contexts = {cached + 1, cached + tokens};
                near("mean", pm_attended_mean(contexts, windows[w], 0), sum / tokens);
            }
        }
    }
    struct pm_contexts one = {16385, 16385};
    near("first of its chunk", pm_attended_mean(one, 0, 8192), 1);
    one.first = one.last = 16384;
    near("last of its chunk", pm_attended_mean(one, 0, 8192), 8192);
}

/* ---- a small case, to compute by hand --------------------------------------------------------- */

struct small {
    struct fixture_model model;
    struct pm_gpu gpu;
    struct pm_engine engine;
    struct pm_case input;
};

/* d 1000, 10 heads of 100, 2 of keys and values, f 4000; no head. Round efficiencies and times. */
static void set_up(struct small *small)
{
    *small = (struct small){.gpu = {.memory = 1e12,
                                    .bandwidth = 1e12,
                                    .link = 1e11,
                                    .link_domain = 8,
                                    .gpus_per_node = 8,
                                    .pcie = 1e10,
                                    .network = 2e10,
                                    .moe_calibrated = true}};
    small->gpu.peak[PM_BF16] = 1e15;
    small->gpu.peak[PM_FP8] = 2e15;
    small->model.model = (struct pm_model){.hidden = 1000};
    small->model.blocks[0] = (struct pm_block){.count = 3,
                                               .attention = PM_ATTENTION_GROUPED,
                                               .heads = 10,
                                               .kv_heads = 2,
                                               .head_dim = 100,
                                               .v_dim = 100,
                                               .ffn = 4000,
                                               .ffn_gated = true};
    fixture_formats(&small->model, &fixture_bf16);
    fixture_connect(&small->model, 1);
    small->engine = (struct pm_engine){.efficiency_bandwidth = 0.5,
                                       .efficiency_dense = {0.5, 0.5, 0.5},
                                       .efficiency_attention = 0.5,
                                       .efficiency_experts = {0.1, 0.1, 0.1},
                                       .expert_half_rows = 5,
                                       .operation_time = 1e-6,
                                       .sequence_time = 1e-5,
                                       .allreduce_time = 2e-6,
                                       .efficiency_link = 0.5,
                                       .page = 1};
    small->input = fixture_case(&small->model.model, &small->gpu, &small->engine);
    small->input.static_step = true;
}

static struct pm_step step_of(const struct small *small, double decoding, double context, double prompt)
{
    struct pm_step step;
    pm_expected_step(&small->input, decoding, context, prompt, &step, NULL, 0, NULL);
    return step;
}

/* QKV 1000 x 1400, output 1000 x 1000, in 1000 x 8000, out 4000 x 1000: 14.4e6 weights; activations
 * 2 * 4 * (2400 + 2000 + 9000 + 5000); 4 sequences of 500 tokens: 4 * 500 * 800 bytes and 4 * 4 * 1000. */
Test(model_step, dense_decode)
{
    struct small small;
    set_up(&small);
    struct pm_step step = step_of(&small, 4, 500, 0);
    double weights = (14.4e6 * 2 + 8 * 18400.0) * 3 / 5e11, kv = (4 * 500 * 800.0 + 16 * 1000) * 3 / 5e11;
    near("weights", step.term[PM_BOUND_WEIGHTS], weights);
    near("kv", step.term[PM_BOUND_KV], kv);
    near("fixed", step.term[PM_BOUND_FIXED], 15e-6 + 4e-5);
    near("launches", step.launches, 15);
    near("time", step.time, weights + kv + 15e-6 + 4e-5);
    near("bytes", step.bytes_moved, (weights + kv) * 5e11);
    near("weights moved", step.weights_moved, 3 * 14.4e6 * 2);
    near("cache moved", step.kv_moved, 3 * 4 * 500 * 800.0);
    near("work", step.work, 3 * (2 * 4 * 14.4e6 + 4 * 10 * 100 * 4 * 500.0));
    cr_expect_eq(step.allreduces, 0);
    cr_expect_eq(step.bound, PM_BOUND_WEIGHTS);
}

/* A block that reuses keys and values projects queries alone, 1000 x 1000, and reads the cache all the same;
 * what it reads was read before, so the ceiling need not count it again. */
Test(model_step, reused_keys_and_values)
{
    struct small small;
    set_up(&small);
    struct pm_step own = step_of(&small, 4, 500, 0), reused;
    small.model.blocks[0].reuses_kv = true;
    reused = step_of(&small, 4, 500, 0);
    near("weights", own.term[PM_BOUND_WEIGHTS] - reused.term[PM_BOUND_WEIGHTS],
         (0.4e6 * 2 + 8 * 400.0) * 3 / 5e11);
    near("kv", reused.term[PM_BOUND_KV], own.term[PM_BOUND_KV]);
    near("launches", reused.launches, own.launches);
    struct pm_ceiling ceiling;
    pm_ceiling_decode(&small.input, 4, 500, &ceiling);
    near("at the ceiling", ceiling.kv_traffic, 0);
    near("the same work", ceiling.attention_work, 3 * 4 * 10 * 100 * 4 * 500.0);
}

/* Plain feed-forwards have f columns, not 2f; declared bytes beside them are one operation. */
Test(model_step, plain_feed_forward)
{
    struct small small;
    set_up(&small);
    double gated = step_of(&small, 1, 0, 0).bytes_moved;
    small.model.blocks[0].ffn_gated = false;
    near("plain", gated - step_of(&small, 1, 0, 0).bytes_moved, 3 * (2 * 4000e3 + 2 * 4000));
    double launches = step_of(&small, 1, 0, 0).launches;
    small.model.blocks[0].extra_params = 1e6;
    near("extra", step_of(&small, 1, 0, 0).launches, launches + 3);
}

/* A card may scale the fixed time and replace the bandwidth's share. */
Test(model_step, card_overrides)
{
    struct small small;
    set_up(&small);
    double busy = step_of(&small, 4, 500, 0).term[PM_BOUND_WEIGHTS];
    small.gpu.efficiency_bandwidth = 0.25, small.gpu.operation_time_factor = 3;
    near("bandwidth", step_of(&small, 4, 500, 0).term[PM_BOUND_WEIGHTS], 2 * busy);
    near("operations", step_of(&small, 4, 500, 0).term[PM_BOUND_FIXED], 45e-6 + 4e-5);
}

/* m = T k / E = 1.5 rows where the fit was made; elsewhere rows per touched expert and a third of 0.5. */
Test(model_step, expert_efficiency)
{
    struct small small;
    set_up(&small);
    struct pm_block *block = &small.model.blocks[0];
    block->ffn = 0, block->experts = 8, block->active_experts = 2, block->expert_ffn = 100000;
    small.gpu.bandwidth = 1e18;            /* so that work decides */
    double work = 3 * 2 * 6 * 2 * 3 * 1e8; /* 6 tokens, 2 experts each */
    double others = 3 * (2 * 6 * (2.4e6 + 8000) + 4 * 10 * 100 * 6) / 5e14;
    near("calibrated", step_of(&small, 6, 1, 0).term[PM_BOUND_COMPUTE], work / (1e14 * 1.5 / 6.5) + others);
    small.gpu.moe_calibrated = false;
    double touched = 8 * (1 - pow(0.75, 6)), rows = 12 / touched;
    near("elsewhere", step_of(&small, 6, 1, 0).term[PM_BOUND_COMPUTE],
         work / (1e15 * 0.5 / 3 * rows / (rows + 5)) + others);
    near("distinct", step_of(&small, 6, 1, 0).distinct_experts, touched);
}

/* 3 experts of 8 on the fullest of 3 GPUs, in place of 2 2/3. */
Test(model_step, uneven_experts)
{
    struct small small;
    set_up(&small);
    struct pm_block *block = &small.model.blocks[0];
    block->attention = PM_ATTENTION_NONE, block->ffn = 0;
    block->experts = 8, block->active_experts = 8, block->expert_ffn = 100;
    small.input.tp = 3;
    double even = step_of(&small, 1, 0, 0).bytes_moved, router = 3 * (2 * 8000.0 + 2 * 1008);
    small.input.ep = 3;
    near("uneven", step_of(&small, 1, 0, 0).bytes_moved - router, (even - router) * 9 / 8);
}

/* Without heads or width, a layer is one operation; without layers, the model is. */
Test(model_step, declared)
{
    struct small small;
    set_up(&small);
    small.model.model = (struct pm_model){.declared_params = 7e9};
    fixture_formats(&small.model, &fixture_fp8);
    fixture_connect(&small.model, 0);
    struct pm_step step = step_of(&small, 1, 100, 0);
    near("one", step.launches, 1);
    near("bytes", step.bytes_moved, 7e9);
    near("work", step.work, 14e9);
    small.model.blocks[0] = (struct pm_block){.count = 32, .attention = PM_ATTENTION_GROUPED};
    fixture_connect(&small.model, 1);
    step = step_of(&small, 1, 100, 0);
    near("a layer", step.launches, 32);
    near("bytes", step.bytes_moved, 7e9);
    /* With both: attention from heads and width, the rest a gated feed-forward: 5 operations a block. */
    small.model.model.hidden = 4096;
    small.model.blocks[0].heads = small.model.blocks[0].kv_heads = 32;
    small.model.blocks[0].head_dim = 128;
    step = step_of(&small, 1, 100, 0);
    near("five a block", step.launches, 160);
    near("work", step.work, 14e9 + 4 * 32.0 * 4096 * 100);
}

/* Decode reads the best 2048 tokens, the indexer all of them: 3 projections, scores, 6 of the attention. */
Test(model_step, sparse_index)
{
    struct small small;
    set_up(&small);
    struct pm_block *block = &small.model.blocks[0];
    *block = (struct pm_block){.count = 1,
                               .attention = PM_ATTENTION_LATENT,
                               .heads = 16,
                               .q_rank = 200,
                               .kv_rank = 64,
                               .nope_dim = 32,
                               .rope_dim = 16,
                               .v_dim = 32,
                               .index_heads = 4,
                               .index_dim = 24,
                               .index_top = 2048};
    fixture_formats(&small.model, &fixture_bf16);
    struct pm_op ops[32];
    struct pm_step step;
    size_t count;
    pm_expected_step(&small.input, 2, 10000, 0, &step, ops, 32, &count);
    cr_assert_eq(count, 9);
    double scores = 0, attention = 0;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(ops[i].name, "index scores") == 0) {
            scores += ops[i].kv_bytes;
            near("score work", ops[i].work, 2.0 * 4 * 24 * 2 * 10000);
            near("at the fp8 peak", ops[i].rate, 2e15 * 0.5);
        } else if (strcmp(ops[i].name, "decode attention") == 0) {
            attention += ops[i].kv_bytes;
            near("attention work", ops[i].work, 2.0 * 16 * (2 * 64 + 16) * 2 * 2048);
        }
    }
    near("keys", scores, 2 * 10000 * 24.0);
    near("cache", attention, 2 * 2048 * 80 * 2.0);
    struct pm_ceiling ceiling;
    pm_ceiling_decode(&small.input, 2, 10000, &ceiling);
    near("at the ceiling", ceiling.kv_traffic, scores + attention);
}

/* ---- communication -------------------------------------------------------------------------- */

Test(model_step, allreduce)
{
    struct small small;
    set_up(&small);
    near("none", pm_allreduce_time(&small.input, 1, 1e6), 0);
    near("link", pm_allreduce_time(&small.input, 4, 1e6), 2e-6 + 2 * 0.75e6 / 5e10);
    small.gpu.link_domain = 32, small.gpu.gpus_per_node = 32;
    near("16 on one link", pm_allreduce_time(&small.input, 16, 1e6),
         2 * 15 * 4e-6 + 2 * 1e6 * 15 / 16 / 5e10);
    small.gpu.link_mesh = true, small.gpu.link_domain = small.gpu.gpus_per_node = 8;
    near("3 of a mesh of 8", pm_allreduce_time(&small.input, 3, 7e5),
         2e-6 + 2 * 7e5 * 2 / 3 / (5e10 * 2 / 7));
    small.gpu.link_mesh = false;
    /* two nodes of 8: halves inside, 1/8 of the bytes between */
    near("two nodes", pm_allreduce_time(&small.input, 16, 8e6),
         2 * (2e-6 + 8e6 * 7 / 8 / 5e10) + (8e-6 + 2 * 1e6 / 2 / 1e10));
    small.gpu.link_domain = 1;
    near("an unstated domain", pm_allreduce_time(&small.input, 4, 1e6), 2e-6 + 2 * 0.75e6 / 5e10);
    small.gpu.link_domain = 2; /* bridges: 4 GPUs go over the host link, as measured on L40S */
    near("beyond the bridge", pm_allreduce_time(&small.input, 4, 1e6), 13e-6 + 2 * 0.75e6 / (0.12 * 1e10));
    small.gpu.link = 0;
    near("no link", pm_allreduce_time(&small.input, 2, 1e6), 5e-6 + 1e6 / (0.6 * 1e10));
}

/* Two per block over tp; one per block of experts over all with replicas of attention. A dense model's
 * replicas reduce their own tokens: the prompt is on one of them. */
Test(model_step, allreduces_of_a_step)
{
    struct small small;
    set_up(&small);
    small.input.tp = 2;
    struct pm_step step = step_of(&small, 8, 10, 0);
    near("tp", step.allreduces, 6);
    near("tp time", step.term[PM_BOUND_COMMUNICATION], 6 * (2e-6 + 8 * 2000 / 5e10));
    small.input.dp = 2;
    step = step_of(&small, 8, 10, 100);
    near("dense replicas", step.allreduces, 6);
    near("dense replicas' time", step.allreduce_time, 6 * (2e-6 + 104 * 2000 / 5e10));
    struct pm_block *block = &small.model.blocks[0];
    block->ffn = 0, block->experts = 8, block->active_experts = 2, block->expert_ffn = 100;
    step = step_of(&small, 8, 10, 100);
    near("experts", step.allreduces, 3);
    near("experts' time", step.allreduce_time, 3 * (2e-6 + 2 * 0.75 * 108 * 2000 / 5e10));
    small.model.blocks[0] = (struct pm_block){.count = 5, .attention = PM_ATTENTION_NONE, .ffn = 100};
    fixture_formats(&small.model, &fixture_bf16);
    small.input.dp = 1;
    near("one part, one all-reduce", step_of(&small, 8, 10, 0).allreduces, 5);
}

/* Fewer sequences than replicas: the busiest has one. */
Test(model_step, idle_replicas)
{
    struct small small;
    set_up(&small);
    small.input.dp = 4;
    near("one of four", step_of(&small, 1, 500, 0).term[PM_BOUND_KV],
         step_of(&small, 4, 500, 0).term[PM_BOUND_KV]);
    small.engine.as_calibrated = true;
    near("as calibrated", step_of(&small, 1, 500, 0).term[PM_BOUND_KV],
         step_of(&small, 4, 500, 0).term[PM_BOUND_KV] / 4);
}

/* Three stages with 6 sequences: 3 micro-batches of 2, and two hand-overs of 2 * 1000 values of 16 bits. */
Test(model_step, pipeline)
{
    struct small small;
    set_up(&small);
    double alone = step_of(&small, 2, 500, 0).time;
    small.input.pp = 3;
    near("stages", step_of(&small, 6, 500, 0).time, alone + 2 * (2e-6 + 2 * 1000 * 2 / 1e11));
    struct pm_ceiling two, six;
    small.input.pp = 1;
    pm_ceiling_decode(&small.input, 2, 500, &two);
    small.input.pp = 3;
    pm_ceiling_decode(&small.input, 6, 500, &six);
    near("the bound too", six.time, two.time);
}

/* ---- the ceiling ------------------------------------------------------------------------------ */

/* Fewest experts, split over all GPUs; the cache of the card is spared. */
Test(model_step, ceiling_traffic)
{
    struct small small;
    struct pm_ceiling ceiling;
    set_up(&small);
    struct pm_block *block = &small.model.blocks[0];
    block->ffn = 0, block->experts = 8, block->active_experts = 2, block->expert_ffn = 100;
    small.input.tp = 2;
    small.model.model.kv_format = fixture_fp8;
    pm_ceiling_decode(&small.input, 64, 100, &ceiling);
    near("weights", ceiling.weight_traffic, 3 * 2 * (2.4e6 / 2 + 8000 / 2 + 2 * 3e5 / 2));
    near("cache", ceiling.kv_traffic, 3 * 64 * 100 * 200.0);
    near("matrices", ceiling.matrix_work, 3 * 2 * 64 * (2.4e6 / 2 + 8000 / 2 + 2 * 3e5 / 2));
    near("attention", ceiling.attention_work, 3 * 4 * 64 * 5 * 100 * 100.0);
    /* the cache's 8-bit peak is the higher */
    near("compute", ceiling.compute_time, ceiling.matrix_work / 1e15 + ceiling.attention_work / 2e15);
    small.gpu.cache = 1e6;
    double traffic = ceiling.traffic;
    pm_ceiling_decode(&small.input, 64, 100, &ceiling);
    near("spared", ceiling.traffic, traffic - 1e6);
    small.gpu.cache = 1e12;
    pm_ceiling_decode(&small.input, 64, 100, &ceiling);
    near("all of it", ceiling.traffic, 0);
    cr_expect_eq(ceiling.bound, PM_BOUND_COMPUTE);
}

/* A prompt with a cached prefix reads the prefix's cache and attends to it. */
Test(model_step, ceiling_prefix)
{
    struct small small;
    struct pm_ceiling ceiling;
    set_up(&small);
    pm_ceiling_prefill(&small.input, 30, 70, &ceiling);
    near("pairs", ceiling.attention_work, 3 * 4 * 1000 * (30.0 * (70 + 100 + 1) / 2));
    near("read", ceiling.kv_traffic, 3 * 70 * 800.0);
    near("matrices", ceiling.matrix_work, 3 * 2 * 30 * 14.4e6);
}
