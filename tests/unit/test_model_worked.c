/* test_model_worked.c: the worked numbers of the design (vectors/worked.csv), all of them, against the
 * library: a model of 7e9 parameters in 32 blocks on a card of 80 GB, 2 TB/s and 312 TFLOPS. */
#include <criterion/criterion.h>
#include <math.h>

#include "model_fixture.h"

struct worked {
    struct fixture_model model;
    struct pm_gpu gpu;
    struct pm_engine engine;
    struct pm_case input;
    struct pm_result result;
};

/* "gpu: memory 80 GB, bandwidth 2 TB/s, peak.fp16 312 TFLOPS; model: params 7e9, layers 32, hidden 4096,
 * heads 32", 16-bit weights and cache, no overhead, all memory usable. */
static void setup(struct worked *w)
{
    *w = (struct worked){0};
    w->gpu = (struct pm_gpu){.memory = 80e9, .bandwidth = 2e12};
    w->gpu.peak[PM_FP16] = 312e12;
    w->model.model = (struct pm_model){.declared_params = 7e9, .hidden = 4096};
    w->model.blocks[0] = (struct pm_block){.count = 32,
                                           .attention = PM_ATTENTION_GROUPED,
                                           .heads = 32,
                                           .kv_heads = 32,
                                           .head_dim = 128,
                                           .v_dim = 128,
                                           .ffn_gated = true,
                                           .norms = 2};
    fixture_formats(&w->model, &fixture_fp16);
    w->model.model.kv_format = fixture_fp16;
    fixture_connect(&w->model, 1);
    fixture_ideal(&w->engine);
    w->input = fixture_case(&w->model.model, &w->gpu, &w->engine);
    w->input.static_step = true;
}

static void run(struct worked *w, double context, double batch)
{
    w->input.context = context;
    w->input.batch = batch;
    pm_evaluate(&w->input, &w->result);
    cr_assert_null(pm_verify(&w->input, &w->result), "%s", pm_verify(&w->input, &w->result));
}

static void row(const char *id, double value, double expected)
{
    cr_expect(fabs(value - expected) <= 1e-9 * fabs(expected), "%s: %.17g, expected %.17g", id, value,
              expected);
}

/* "intensity, matrix work only". */
static double matrix_intensity(const struct worked *w)
{
    return w->result.decode_ceiling.matrix_work / w->result.decode_ceiling.traffic;
}

Test(model_worked, parameters_and_cache)
{
    struct worked w;
    setup(&w);
    run(&w, 4096, 1);
    row("params_estimate", w.result.params.estimate, 6442450944.0);
    row("weights_fp16", w.result.memory.weights, 14000000000.0);
    row("kv_per_token", w.result.params.kv_bytes_per_token, 524288.0);
    row("kv_4096", w.result.memory.kv, 2147483648.0);
    row("total_4096", w.result.memory.weights + w.result.memory.kv, 16147483648.0);
    row("max_batch_4096", w.result.memory.max_batch, 30.0);
    row("max_context_1", w.result.memory.max_context, 125885.0);
    row("kv_equals_weights", w.result.kv_equals_weights, 26702.880859375);
    w.model.blocks[0].kv_heads = 4;
    run(&w, 4096, 1);
    row("kv_4096_gqa_group8", w.result.memory.kv, 268435456.0);
    row("kv_equals_weights_gqa_group8", w.result.kv_equals_weights, 213623.046875);
    w.model.model.weights_format = fixture_int8;
    run(&w, 4096, 1);
    row("weights_int8", w.result.memory.weights, 7000000000.0);
    w.model.model.weights_format = fixture_int4;
    run(&w, 4096, 1);
    row("weights_int4", w.result.memory.weights, 3500000000.0);
}

Test(model_worked, one_token)
{
    struct worked w;
    setup(&w);
    run(&w, 0, 1);
    row("work_token", w.result.decode_ceiling.matrix_work, 14000000000.0);
    row("t_compute", w.result.decode_ceiling.compute_time, 4.4871794871794874e-05);
    row("t_memory_no_kv", w.result.decode_ceiling.memory_time, 0.007);
    row("ratio_no_kv", w.result.decode_ceiling.memory_time / w.result.decode_ceiling.compute_time, 156.0);
    row("balance", w.result.decode_ceiling.balance, 156.0);
    row("speed_no_kv", w.result.ceiling.speed, 142.85714285714286);
    run(&w, 4096, 1);
    row("t_memory_4096", w.result.decode_ceiling.memory_time, 0.008073741824);
    row("speed_4096", w.result.ceiling.speed, 123.8583078080848);
    row("intensity_4096", matrix_intensity(&w), 0.8670081546565935);
    row("intensity_4096_all", w.result.decode_ceiling.intensity, 1.0);
}

static double speed_with(const struct pm_format *weights, double kv_bits)
{
    struct worked w;
    setup(&w);
    w.model.model.weights_format = *weights;
    w.model.model.kv_format.bits = kv_bits;
    run(&w, 4096, 1);
    return w.result.expected.speed;
}

Test(model_worked, formats)
{
    double fp16 = speed_with(&fixture_fp16, 16);
    row("speed_int8_kv16", speed_with(&fixture_int8, 16), 218.63936323485845);
    row("gain_int8_kv16", speed_with(&fixture_int8, 16) / fp16, 1.7652377713220047);
    row("gain_int8_kv8", speed_with(&fixture_int8, 8) / fp16, 2.0);
    row("speed_int4_kv16", speed_with(&fixture_int4, 16), 354.1400249486831);
    row("gain_int4_kv16", speed_with(&fixture_int4, 16) / fp16, 2.8592351309805863);
    row("gain_int4_kv4", speed_with(&fixture_int4, 4) / fp16, 4.0);
}

Test(model_worked, batches)
{
    struct worked w;
    setup(&w);
    run(&w, 0, 1);
    row("batch_1_no_kv", matrix_intensity(&w), 1.0);
    row("batch_1_no_kv_throughput", w.result.ceiling.throughput, 142.85714285714286);
    row("critical_batch_no_kv", w.result.critical_batch, 156.0);
    run(&w, 0, 32);
    row("batch_32_no_kv", matrix_intensity(&w), 32.0);
    row("batch_32_no_kv_throughput", w.result.ceiling.throughput, 4571.428571428572);
    run(&w, 0, 256);
    row("batch_256_no_kv", matrix_intensity(&w), 256.0);
    row("batch_256_no_kv_throughput", w.result.ceiling.throughput, 22285.714285714283);
    run(&w, 4096, 1);
    row("batch_1_4096", matrix_intensity(&w), 0.8670081546565935);
    row("batch_1_4096_total", w.result.memory.weights + w.result.memory.kv, 16147483648.0);
    cr_expect(w.result.memory.fits);
    cr_expect_eq(w.result.critical_batch, 0, "critical_batch_4096: no batch is compute-bound");
    row("critical_context", w.result.critical_context, 172.27665070564518);
    run(&w, 4096, 32);
    row("batch_32_4096", matrix_intensity(&w), 5.415894994473868);
    row("batch_32_4096_total", w.result.memory.weights + w.result.memory.kv, 82719476736.0);
    cr_expect_not(w.result.memory.fits);
    run(&w, 4096, 256);
    row("batch_256_4096", matrix_intensity(&w), 6.357362375179025);
    row("batch_256_4096_total", w.result.memory.weights + w.result.memory.kv, 563755813888.0);
    cr_expect_not(w.result.memory.fits);
}

static double speed_at(double kv_heads, double batch)
{
    struct worked w;
    setup(&w);
    w.model.blocks[0].kv_heads = kv_heads;
    run(&w, 4096, batch);
    return w.result.ceiling.speed;
}

Test(model_worked, grouped_queries)
{
    row("gqa_group8_gain_b1_4096", speed_at(4, 1) / speed_at(32, 1), 1.1316926580909643);
    row("gqa_group8_gain_b32_4096", speed_at(4, 32) / speed_at(32, 32), 3.661784694378632);
}

Test(model_worked, prefill)
{
    struct worked w;
    setup(&w);
    w.input.prompt = 512;
    run(&w, 0, 1);
    row("prefill_512_work", w.result.prefill_ceiling.work, 7236853694464.0);
    row("prefill_512_ttft", w.result.ceiling.ttft, 0.02319504389251282);
    w.input.prompt = 4096;
    run(&w, 0, 1);
    row("prefill_4096_work", w.result.prefill_ceiling.work, 61743120252928.0);
    row("prefill_4096_ttft", w.result.ceiling.ttft, 0.19789461619528206);
}

static double accepted(double acceptance, double drafts)
{
    struct worked w;
    setup(&w);
    w.input.acceptance = acceptance;
    w.input.draft_tokens = drafts;
    run(&w, 4096, 1);
    return w.result.expected.tokens_per_step;
}

Test(model_worked, speculation)
{
    row("spec_0.8_4", accepted(0.8, 4), 3.3616);
    row("spec_0.6_4", accepted(0.6, 4), 2.3056);
    row("spec_0.8_1", accepted(0.8, 1), 1.7999999999999998);
}

/* Experts read per block by a decode step of `tokens` sequences, on the calibrated reading. */
static double distinct(double experts, double active, double tokens)
{
    struct worked w;
    setup(&w);
    w.model.model.declared_params = 0;
    w.model.model.vocab = 32000;
    w.model.blocks[0].experts = experts;
    w.model.blocks[0].active_experts = active;
    w.model.blocks[0].expert_ffn = 1024;
    fixture_engine(&w.engine, "vllm");
    run(&w, 1, tokens);
    return w.result.decode.distinct_experts;
}

Test(model_worked, experts)
{
    row("moe_8_2_T1", distinct(8, 2, 1), 2.0);
    row("moe_8_2_T2", distinct(8, 2, 2), 3.5);
    row("moe_8_2_T8", distinct(8, 2, 8), 7.1990966796875);
    row("moe_8_2_T32", distinct(8, 2, 32), 7.999196380594235);
    row("moe_8_2_T128", distinct(8, 2, 128), 7.999999999999999);
    row("moe_256_8_T1", distinct(256, 8, 1), 8.0);
    row("moe_256_8_T8", distinct(256, 8, 8), 57.42083078599535);
    row("moe_256_8_T64", distinct(256, 8, 64), 222.4424876855104);
    row("moe_256_8_T256", distinct(256, 8, 256), 255.92441438744697);
}
