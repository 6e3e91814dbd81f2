/* test_model_refined.c: the terms of calibration.md section 10, each by hand arithmetic, and steps of whole
 * models that an independent implementation of the same form made. */
#include <criterion/criterion.h>
#include <math.h>

#include "model/internal.h"
#include "model_fixture.h"

static void near(const char *what, double value, double expected)
{
    cr_expect(fabs(value - expected) <= 1e-9 * fabs(expected), "%s: %.17g, expected %.17g", what, value,
              expected);
}

/* ---- whole models --------------------------------------------------------------------------- */

struct vector {
    const char *model, *gpu, *engine, *precision;
    double gpus, dp, ep, input, output, concurrency;
    double decode, mixed, tpot;
};

static const struct vector vectors[] = {
    {"meta-llama/Llama-3.1-70B", "h100_sxm", "vllm", "fp8", 4, 1, 1, 1024, 1024, 16, 0.01291344002567487,
     0.059231433032556895, 0.013591926251361618},
    {"openai/gpt-oss-120b", "b200_sxm", "trtllm", "fp4", 2, 1, 1, 1024, 1024, 128, 0.0096582612372006424,
     0.012014236421437429, 0.0099504573782143845},
    {"MiniMaxAI/MiniMax-M2.5", "b200_sxm", "vllm", "fp8", 2, 2, 2, 1024, 1024, 512, 0.045522359265169246,
     0.07456879560152227, 0.052769785519015143},
    {"Qwen/Qwen3-235B-A22B-FP8", "h100_sxm", "trtllm", "fp8", 8, 1, 8, 128, 128, 16, 0.014010250766708079,
     0.021489799891068431, 0.014886760429719058},
    {"Qwen/Qwen3.5-397B-A17B", "b200_sxm", "sglang", "fp4", 4, 1, 1, 1024, 1024, 16, 0.0094539574831657355,
     0.021483959810061896, 0.0096301782203761285},
    {"deepseek-ai/DeepSeek-V3", "h200_sxm", "sglang", "fp8", 8, 1, 1, 1024, 8192, 16, 0.019696122258156128,
     0.08428044026322902, 0.019814379676378308},
    {"meta-llama/Llama-3.1-8B-Instruct", "h100_sxm", "trtllm", "bf16", 8, 1, 1, 1024, 128, 16,
     0.0032117224753434271, 0.0092699180284354782, 0.0039216672667214021},
    {"deepseek-ai/DeepSeek-V3", "b200_sxm", "trtllm", "fp4", 8, 8, 8, 8192, 1024, 128, 0.021025039324196651,
     0.31784133499154116, 0.025626561486031704},
};

Test(model_refined, vectors)
{
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        const struct vector *row = &vectors[i];
        struct fixture_model model;
        struct pm_gpu gpu;
        struct pm_engine engine;
        struct pm_result result;
        cr_assert(fixture_serving_model(&model, row->model, row->precision, row->gpu, row->engine));
        cr_assert(fixture_gpu(&gpu, row->gpu));
        fixture_engine(&engine, row->engine);
        fixture_refine(&engine, &model, row->engine);
        struct pm_case input = fixture_case(&model.model, &gpu, &engine);
        input.tp = row->gpus / row->dp;
        input.dp = row->dp;
        input.ep = row->ep;
        input.prompt = row->input;
        input.output = row->output;
        input.batch = row->concurrency;
        pm_evaluate(&input, &result);
        near("decode step", result.expected.decode_step, row->decode);
        near("mixed step", result.expected.prefill, row->mixed);
        near("tpot", result.expected.tpot, row->tpot);
        cr_expect_null(pm_verify(&input, &result), "row %zu: %s", i + 1, pm_verify(&input, &result));
    }
}

/* ---- a small case --------------------------------------------------------------------------- */

struct small {
    struct fixture_model model;
    struct pm_gpu gpu;
    struct pm_engine engine;
    struct pm_case input;
};

/* One block of a feed-forward alone, 1000 to 4000 and back: 4e6 weights of 16 bits an operation. */
static void set_up(struct small *small)
{
    *small = (struct small){.gpu = {.memory = 1e12,
                                    .bandwidth = 1e12,
                                    .link = 1e11,
                                    .link_domain = 8,
                                    .gpus_per_node = 8,
                                    .moe_calibrated = true}};
    small->gpu.peak[PM_BF16] = 1e15;
    small->model.model = (struct pm_model){.hidden = 1000};
    small->model.blocks[0] = (struct pm_block){.count = 1, .attention = PM_ATTENTION_NONE, .ffn = 4000};
    fixture_formats(&small->model, &fixture_bf16);
    fixture_connect(&small->model, 1);
    small->engine = (struct pm_engine){.efficiency_bandwidth = 0.5,
                                       .efficiency_dense = {0.5, 0.5, 0.5},
                                       .efficiency_attention = 0.5,
                                       .efficiency_experts = {0.1, 0.1, 0.1},
                                       .expert_half_rows = 5,
                                       .operation_time = 1e-6,
                                       .allreduce_time = 2e-6,
                                       .efficiency_link = 0.5,
                                       .page = 1};
    small->input = fixture_case(&small->model.model, &small->gpu, &small->engine);
    small->input.static_step = true;
}

static struct pm_step step_of(const struct small *small, double tokens)
{
    struct pm_step step;
    pm_expected_step(&small->input, tokens, 0, 0, &step, NULL, 0, NULL);
    return step;
}

/* 500 tokens: 4e9 FLOP at 5e14 take 8 us, 8e6 + 5e6 bytes at 5e11 take 26 us, twice. */
Test(model_refined, corner)
{
    struct small small;
    set_up(&small);
    near("sharp", step_of(&small, 500).time, 2 * (26e-6 + 1e-6));
    small.engine.corner = 4;
    near("fourth power", step_of(&small, 500).time, 2 * (pow(pow(8e-6, 4) + pow(26e-6, 4), 0.25) + 1e-6));
    small.engine.corner = 2;
    near("square", step_of(&small, 500).time, 2 * (hypot(8e-6, 26e-6) + 1e-6));
}

/* 8 experts of which 2 are used, 6 tokens: m = 1.5 over all, 12 / (8 (1 - 0.75^6)) over those touched. */
Test(model_refined, expert_rows)
{
    struct small small;
    set_up(&small);
    struct pm_block *block = &small.model.blocks[0];
    block->ffn = 0, block->experts = 8, block->active_experts = 2, block->expert_ffn = 100000;
    block->ffn_gated = true;
    small.gpu.bandwidth = 1e18; /* so that work decides */
    small.engine.expert_row_mix = 0.3;
    double touched = 12 / (8 * (1 - pow(0.75, 6))), rows = pow(1.5, 0.7) * pow(touched, 0.3);
    double router = 2 * 6 * 8000.0 / 5e14, work = 2 * 6 * 2 * 3 * 1e8;
    near("mixed", step_of(&small, 6).term[PM_BOUND_COMPUTE], work / (1e14 * rows / (rows + 5)) + router);
}

/* 8 experts of which 2 are used: 16 tokens that choose like 16^0.5 = 4 touch 8 (1 - 0.75^4) = 5.46875 of
 * them; of two powers the lesser counts, and 16^0.25 = 2 touch 3.5. */
Test(model_refined, tokens_that_route_alike)
{
    struct small small;
    set_up(&small);
    struct pm_block *block = &small.model.blocks[0];
    block->ffn = 0, block->experts = 8, block->active_experts = 2, block->expert_ffn = 1000;
    near("apart", step_of(&small, 16).distinct_experts, 8 * (1 - pow(0.75, 16)));
    block->expert_spread = 0.5;
    near("by the model", step_of(&small, 16).distinct_experts, 5.46875);
    near("one token", step_of(&small, 1).distinct_experts, 2);
    small.engine.expert_spread = 0.25;
    near("by the engine", step_of(&small, 16).distinct_experts, 3.5);
    block->expert_spread = 0.25, small.engine.expert_spread = 0.5;
    near("the lesser", step_of(&small, 16).distinct_experts, 3.5);
    small.engine.expert_spread = 0, small.engine.as_calibrated = true;
    near("the first form", step_of(&small, 16).distinct_experts, 8 * (1 - pow(0.75, 16)));
}

/* One row of 4e6 weights at 4.5 bits, twice: 2.25e6 bytes at 5e11 take 4.5 us, at half of that 9, and 1e4
 * bytes of activations 0.02 us either way. Formats that are widened first are read at full speed. */
Test(model_refined, narrow_weights)
{
    struct small small;
    set_up(&small);
    small.gpu.peak[PM_FP4] = 4e15;
    small.engine.efficiency_weights_4 = 0.5;
    fixture_formats(&small.model, &fixture_nvfp4);
    near("half the speed", step_of(&small, 1).term[PM_BOUND_WEIGHTS], 2 * (9e-6 + 2e-8));
    small.engine.efficiency_weights_4 = 1;
    near("full speed", step_of(&small, 1).term[PM_BOUND_WEIGHTS], 2 * (4.5e-6 + 2e-8));
    fixture_formats(&small.model, &fixture_int4);
    small.engine.efficiency_weights_4 = 0.5;
    near("widened", step_of(&small, 1).term[PM_BOUND_WEIGHTS], 2 * (4e-6 + 2e-8));
}

/* What is reached without a cap, and the cap: 1 / sqrt(1/a^2 + 1/b^2). */
Test(model_refined, rate_cap)
{
    struct small small;
    set_up(&small);
    small.gpu.bandwidth = 1e18;
    near("without", step_of(&small, 500).term[PM_BOUND_COMPUTE], 2 * 4e9 / 5e14);
    small.engine.rate_cap = 5e14;
    near("with", step_of(&small, 500).term[PM_BOUND_COMPUTE], 2 * 4e9 / (5e14 / sqrt(2)));
}

Test(model_refined, kinds_of_memory)
{
    struct small small;
    set_up(&small);
    double memory = step_of(&small, 1).term[PM_BOUND_WEIGHTS];
    small.engine.kind_bandwidth[PM_MEMORY_GDDR] = 0.5;
    near("unknown", step_of(&small, 1).term[PM_BOUND_WEIGHTS], memory);
    small.gpu.memory_kind = PM_MEMORY_GDDR;
    near("gddr", step_of(&small, 1).term[PM_BOUND_WEIGHTS], 2 * memory);
    small.gpu.bandwidth = 1e18;
    small.engine.kind_dense[PM_MEMORY_GDDR] = 0.25;
    near("dense", step_of(&small, 500).term[PM_BOUND_COMPUTE], 2 * 4e9 / 1.25e14);
    small.engine.efficiency_weight_only = 0.5;
    small.model.blocks[0].ffn_format = fixture_int4;
    near("widened", step_of(&small, 500).term[PM_BOUND_COMPUTE], 2 * 4e9 / 0.625e14);
}

/* Two of the three operations of a recurrent block count for 1.6. */
Test(model_refined, recurrent)
{
    struct small small;
    set_up(&small);
    struct pm_block *block = &small.model.blocks[0];
    block->attention = PM_ATTENTION_LINEAR, block->ffn = 0;
    block->linear_key_heads = block->linear_value_heads = 2;
    block->linear_key_dim = block->linear_value_dim = 64;
    near("without", step_of(&small, 1).launches, 3);
    small.engine.recurrent_factor = 1.6;
    near("with", step_of(&small, 1).launches, 4.2);
    near("their time", step_of(&small, 1).term[PM_BOUND_FIXED], 4.2e-6);
}

/* 4 GPUs at 80 GB/s in one step: three messages; else the ring at 50 GB/s and 8 us. */
Test(model_refined, one_shot)
{
    struct small small;
    set_up(&small);
    small.engine.efficiency_oneshot = 0.8, small.engine.ring_time = 8e-6;
    near("small", pm_allreduce_time(&small.input, 4, 1e5), 2e-6 + 3 * 1e5 / 8e10);
    near("large", pm_allreduce_time(&small.input, 4, 1e7), 2e-6 + 8e-6 + 2 * 0.75 * 1e7 / 5e10);
    small.gpu.link_domain = small.gpu.gpus_per_node = 16;
    near("beyond eight", pm_allreduce_time(&small.input, 16, 1e5), 2 * 15 * 4e-6 + 2 * 1e5 * 15 / 16 / 5e10);
}

/* Norms over all heads on 4 GPUs: 6 tokens' two sums of 4 bytes go around a ring at 50 GB/s, besides the
 * block's two all-reduces of 6 x 1000 values; norms per head, and replicas with all heads, need none. */
Test(model_refined, norms_over_all_heads)
{
    struct small small;
    set_up(&small);
    struct pm_block *block = &small.model.blocks[0];
    block->attention = PM_ATTENTION_GROUPED, block->heads = block->kv_heads = 8, block->head_dim = 125;
    small.input.tp = 4;
    double around = 2 * 0.75 / 5e10, both = 2 * (2e-6 + around * 12000);
    block->qk_norm = PM_QK_NORM_HEAD;
    near("per head", step_of(&small, 6).term[PM_BOUND_COMMUNICATION], both);
    block->qk_norm = PM_QK_NORM_FULL;
    near("over all", step_of(&small, 6).term[PM_BOUND_COMMUNICATION], both + 2e-6 + around * 48);
    near("their number", step_of(&small, 6).allreduces, 3);
    small.engine.as_calibrated = true;
    near("the first form", step_of(&small, 6).term[PM_BOUND_COMMUNICATION], both);
}

/* Every running user delays the first token; three chunks through two stages take 4 of 6 parts. */
Test(model_refined, first_token)
{
    struct small small;
    struct pm_result result;
    set_up(&small);
    small.engine.utilization = 1, small.engine.first_wave = 0.05;
    small.input.static_step = false;
    small.input.prompt = 100, small.input.output = 10, small.input.batch = 4;
    pm_evaluate(&small.input, &result);
    double before = result.expected.ttft;
    small.engine.user_time = 1e-3;
    pm_evaluate(&small.input, &result);
    near("users", result.expected.ttft, before + 4e-3);
    small.model.blocks[0].count = 2;
    small.engine.user_time = 0, small.engine.chunk = 100;
    small.input.prompt = 300, small.input.output = 1, small.input.batch = 1;
    pm_evaluate(&small.input, &result);
    double alone = result.prefill.time, ceiling = result.prefill_ceiling.time;
    small.input.pp = 2;
    pm_evaluate(&small.input, &result);
    double handover = result.prefill.term[PM_BOUND_COMMUNICATION];
    cr_expect(handover > 0);
    near("pipeline", result.prefill.time - handover, alone * 4 / 6);
    near("each stage's part", result.prefill_ceiling.time, ceiling / 2);
}
