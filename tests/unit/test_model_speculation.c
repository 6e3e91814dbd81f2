/* test_model_speculation.c: drafts, their verification, and whether they pay: hand arithmetic on small
 * models, identities that the solved break-evens must meet, and published runs with multi-token prediction.
 */
#include <criterion/criterion.h>
#include <math.h>

#include "model_fixture.h"
#include "result_fixture.h"

static void near(const char *what, double value, double expected)
{
    cr_expect(fabs(value - expected) <= 1e-9 * fabs(expected), "%s: %.17g, expected %.17g", what, value,
              expected);
}

/* Ten dense blocks of 1024 with 8 heads and a feed-forward of 4096, in 16 bits, on a card of 1 TB/s that is
 * never short of arithmetic, under an engine that reaches all of it and takes 10 us per operation. */
struct small {
    struct fixture_model model;
    struct pm_gpu gpu;
    struct pm_engine engine;
    struct pm_case input;
    struct pm_result result;
};

enum { BLOCK = 4 * 1024 * 1024 + 3 * 1024 * 4096, PROJECTION = 2 * 1024 * 1024, VOCAB = 32000 };

static void set_up(struct small *small)
{
    *small = (struct small){
        .gpu = {.memory = 80e9, .bandwidth = 1e12, .peak = {[PM_BF16] = 1e18}},
        .engine = {.efficiency_bandwidth = 1,
                   .efficiency_dense = {1, 1, 1},
                   .efficiency_attention = 1,
                   .efficiency_experts = {1, 1, 1},
                   .operation_time = 10e-6,
                   .utilization = 1,
                   .page = 1},
        .model = {.model = {.hidden = 1024, .vocab = VOCAB, .tied_embeddings = true}},
    };
    small->model.blocks[0] = (struct pm_block){.count = 10,
                                               .attention = PM_ATTENTION_GROUPED,
                                               .heads = 8,
                                               .kv_heads = 8,
                                               .head_dim = 128,
                                               .v_dim = 128,
                                               .ffn = 4096,
                                               .ffn_gated = true};
    fixture_connect(&small->model, 1);
    fixture_formats(&small->model, &fixture_bf16);
    small->input = fixture_case(&small->model.model, &small->gpu, &small->engine);
    small->input.static_step = true;
    small->input.context = 1000;
    small->input.batch = 1;
    small->input.draft_tokens = 2;
    small->input.acceptance = 0.5;
}

static const struct pm_result *evaluate(struct small *small)
{
    pm_evaluate(&small->input, &small->result);
    const char *violation = pm_verify(&small->input, &small->result);
    cr_assert_null(violation, "%s", violation);
    return &small->result;
}

/* A prediction block reads itself, the projection of two widths onto one, and the head. In bytes: weights
 * 2 * (16,777,216 + 2,097,152 + 32,768,000), 2 * 8 * 128 * 2 for each of 1000 cached tokens, and activations
 * 8,192 + 4,096 + 4,096 + 18,432 + 10,240 + 4,096 + 66,048 of seven operations. */
Test(model_speculation, a_prediction_block_by_hand)
{
    struct small small;
    set_up(&small);
    double weights = evaluate(&small)->memory.weights, kv = small.result.memory.kv_per_sequence;
    cr_expect_eq(small.result.speculation.draft_time, 0, "nothing predicts");
    small.model.model.mtp_params = BLOCK + PROJECTION;
    evaluate(&small);
    near("drafts", small.result.speculation.draft_time,
         2 * ((2.0 * (BLOCK + PROJECTION + 1024 * VOCAB) + 4096.0 * 1000 + 115200) / 1e12 + 7 * 10e-6));
    near("weights", small.result.memory.weights - weights, 2.0 * (BLOCK + PROJECTION));
    near("cache", small.result.memory.kv_per_sequence, kv / 10 * 11);
    near("step", small.result.expected.decode_step,
         small.result.decode.time + small.result.speculation.draft_time);
    small.input.free_drafts = true;
    evaluate(&small);
    cr_expect_eq(small.result.speculation.draft_time, 0, "drafts from the text");
    near("no weights", small.result.memory.weights, weights);
}

/* What drafts reads the prompt as well: 500 tokens through the same seven operations, each with the block's
 * weights once, 8,192 + 4,096 + 18,432 + 10,240 + 4,096 bytes of activations a token, and 2 * 8 * 128 * 2 of
 * keys and values and 4 * 8 * 128 around attention; logits of the last token alone. A draft model of one such
 * block has no projection. Look-up in the text reads nothing. */
Test(model_speculation, what_drafts_reads_the_prompt_by_hand)
{
    struct small small;
    struct fixture_model other;
    set_up(&small);
    small.model.model.mtp_params = BLOCK + PROJECTION;
    small.input.prompt = 500;
    double token = 8192 + 4096 + 18432 + 10240 + 8192, head = 2.0 * 1024 * VOCAB + 66048;
    double block = (2.0 * BLOCK + 500 * token + head) / 1e12 + 6 * 10e-6;
    double projection = (2.0 * PROJECTION + 500 * 4096.0) / 1e12 + 10e-6;
    double with = evaluate(&small)->expected.ttft;
    near("of a prediction block", small.result.expected.draft_prefill, block + projection);
    small.input.free_drafts = true;
    double without = evaluate(&small)->expected.ttft;
    cr_expect_eq(small.result.expected.draft_prefill, 0, "drafts from the text");
    near("inside the time to first token", with - without, block + projection);
    small.input.free_drafts = false;
    other = small.model;
    other.model.blocks = other.blocks;
    other.blocks[0].count = 1;
    other.model.mtp_params = 0;
    small.input.draft_model = &other.model;
    evaluate(&small);
    near("of a draft model", small.result.expected.draft_prefill, block);
    /* Other users wait for it, too. */
    small.input.static_step = false, small.input.context = 0;
    small.input.output = 100, small.input.batch = 4;
    with = evaluate(&small)->expected.prefill_share;
    near("own prefill", small.result.expected.prefill, small.result.mixed.time + block);
    small.input.free_drafts = true, small.input.draft_model = NULL;
    near("theirs", with - evaluate(&small)->expected.prefill_share, block);
}

/* The host takes its 20 us for each of 64 sequences: for two drafts of each, and for three tokens that are
 * verified, 5 * 64 * 20 us in place of 64 * 20 us. */
Test(model_speculation, the_host_has_its_time_for_every_token)
{
    struct small small;
    set_up(&small);
    small.model.model.mtp_params = BLOCK + PROJECTION;
    small.input.batch = 64;
    double without = evaluate(&small)->expected.decode_step, plain = small.result.speculation.plain_step;
    small.engine.sequence_time = 20e-6;
    near("with drafts", evaluate(&small)->expected.decode_step - without, 5 * 64 * 20e-6);
    near("without", small.result.speculation.plain_step - plain, 64 * 20e-6);
}

/* Of a dense and an expert block the parameters say which one predicts. */
Test(model_speculation, the_block_that_the_parameters_hold)
{
    struct small small, dense;
    set_up(&small);
    small.model.blocks[1] = small.model.blocks[0];
    small.model.blocks[1].ffn = 0;
    small.model.blocks[1].experts = 16, small.model.blocks[1].active_experts = 2;
    small.model.blocks[1].expert_ffn = 1024;
    fixture_connect(&small.model, 2);
    dense = small;
    dense.input.model = &dense.model.model;
    dense.model.model.blocks = dense.model.blocks;
    double router = 1024 * 16, experts = 16 * 3 * 1024 * 1024.0;
    small.input.model = &small.model.model;
    small.model.model.mtp_params = 4 * 1024 * 1024 + router + experts;
    dense.model.model.mtp_params = BLOCK;
    double with_experts = evaluate(&small)->speculation.draft_time;
    double without = evaluate(&dense)->speculation.draft_time;
    /* One token reads 2 experts of 3 * 1024 * 1024 and a router where the other reads 3 * 1024 * 4096; eight
     * operations (the router is one more) in place of six. */
    cr_expect(with_experts < without, "%g, %g", with_experts, without);
    near("bytes", small.result.memory.weights - dense.result.memory.weights,
         2 * (router + experts - 3 * 1024 * 4096.0));
}

/* The cache is read once for all tokens of a sequence, experts for each: T = 3 of 16 choose 2. */
Test(model_speculation, verification)
{
    struct small small, plain;
    set_up(&small);
    small.model.blocks[0].experts = 16, small.model.blocks[0].active_experts = 2;
    small.model.blocks[0].expert_ffn = 1024;
    plain = small;
    plain.model.model.blocks = plain.model.blocks;
    plain.input.model = &plain.model.model;
    small.input.model = &small.model.model;
    plain.input.draft_tokens = 0;
    const struct pm_result *with = evaluate(&small), *without = evaluate(&plain);
    near("experts", with->decode.distinct_experts, 16 * (1 - pow(1 - 2 / 16.0, 3)));
    near("one token", without->decode.distinct_experts, 2);
    near("cache at the ceiling", with->decode_ceiling.kv_traffic, without->decode_ceiling.kv_traffic);
    near("matrix work", with->decode_ceiling.matrix_work, 3 * without->decode_ceiling.matrix_work);
    near("tokens", with->expected.tokens_per_step, 1.75);
    near("tpot", with->expected.tpot, with->expected.decode_step / 1.75);
    near("without", with->speculation.plain_step, without->expected.decode_step);
    near("speed-up", with->speculation.speedup, without->expected.tpot / with->expected.tpot);
}

static double powers(double acceptance, int drafts)
{
    double sum = 0;
    for (int i = 0; i <= drafts; i++)
        sum += pow(acceptance, i);
    return sum;
}

/* One draft breaks even at the ratio of steps less 1; more at the root of 1 + a + ... + a^g. */
Test(model_speculation, break_even_acceptance)
{
    struct small small;
    set_up(&small);
    small.model.model.mtp_params = BLOCK + PROJECTION;
    small.input.draft_tokens = 1;
    evaluate(&small);
    double ratio = small.result.expected.decode_step / small.result.speculation.plain_step;
    cr_assert(ratio > 1 && ratio < 2);
    near("one draft", small.result.speculation.break_even_acceptance, ratio - 1);
    for (int drafts = 2; drafts < 9; drafts++) {
        small.input.draft_tokens = drafts;
        evaluate(&small);
        ratio = small.result.expected.decode_step / small.result.speculation.plain_step;
        near("the sum", powers(small.result.speculation.break_even_acceptance, drafts), ratio);
    }
    small.input.acceptance = small.result.speculation.break_even_acceptance;
    near("as fast", evaluate(&small)->speculation.speedup, 1);
    /* A step whose drafts take longer than all of them bring pays at no acceptance. */
    small.model.model.mtp_params = 1e12;
    cr_expect_lt(evaluate(&small)->speculation.break_even_acceptance, 0);
    /* Free drafts on a card that only waits for weights break even at once. */
    small.input.free_drafts = true;
    small.engine.operation_time = 0;
    cr_expect_lt(evaluate(&small)->speculation.break_even_acceptance, 0.02);
}

/* Exactly the last batch with a gain, by hand for the ideal engine, 312 TFLOP/s and 1 TB/s: W = 401,080,320
 * bytes of weights take W FLOP a token, the one token of context 40,960 of both. Three tokens a sequence are
 * compute-bound, one is not: 3 B (W + 40960) / 312 = 1.75 (W + 40960 B) gives B = 185.4. */
Test(model_speculation, break_even_batch)
{
    struct small small;
    set_up(&small);
    small.gpu.peak[PM_BF16] = 312e12;
    small.engine.ideal = true;
    small.input.context = 1;
    double batch = evaluate(&small)->speculation.break_even_batch;
    cr_assert_eq(batch, 185, "%g", batch);
    small.input.batch = batch;
    cr_expect_gt(evaluate(&small)->speculation.speedup, 1);
    small.input.batch = batch + 1;
    cr_expect_leq(evaluate(&small)->speculation.speedup, 1);
    small.input.acceptance = 0;
    cr_expect_eq(evaluate(&small)->speculation.break_even_batch, 0, "no draft is accepted");
    small.gpu.peak[PM_BF16] = 1e18, small.input.acceptance = 1;
    cr_expect_lt(evaluate(&small)->speculation.break_even_batch, 0, "arithmetic costs nothing");
}

/* TensorRT-LLM's best-practice page on DeepSeek-R1: three drafts, one user, 1024 + 2048 tokens, 8 B200 in
 * nvfp4 274.72 and 8 H200 in fp8 158.12 tokens/s per user. The 2.44 tokens a step are those of 97 other runs
 * (docs/calibration.md section 6). */
Test(model_speculation, published_runs)
{
    struct result_fixture fixture = result_open(
        "scenario b : r { gpu = b200-sxm  weights = nvfp4  weights.attention = bf16 }\n"
        "scenario h : r { gpu = h200-sxm  weights = fp8 }\n"
        "scenario r { model = deepseek-v3  gpu = b200-sxm  tp = 8  batch = 1  prompt = 1024  output = 2048\n"
        "  engine = tensorrt-llm  speculation { tokens = 3  acceptance = 0.675  method = mtp } }\n");
    double b200 = result_number(&fixture, KIND_SCENARIO, "b", "speed");
    double h200 = result_number(&fixture, KIND_SCENARIO, "h", "speed");
    cr_expect(fabs(b200 / 274.72 - 1) < 0.1, "B200: %g", b200);
    cr_expect(fabs(h200 / 158.12 - 1) < 0.1, "H200: %g", h200);
    result_close(&fixture);
}
