/* test_result_bind.c: declarations to numbers: which format a tensor class gets, what stands for what is not
 * said, and the checks that need several declarations at once. */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/arena.h"
#include "result_fixture.h"

#define CARD                                                                                                 \
    "gpu card { memory = 80 GB  bandwidth = 2 TB/s  peak.fp16 = 312 TFLOPS  peak.fp8 = 624 TFLOPS  "         \
    "link = 300 GB/s  link_domain = 8 }\n"
#define BARE "model bare { params = 7e9  layers = 32  hidden = 4096  heads = 32 }\n"
/* One block: attention 2 * 64*64 + 2 * 64*32 = 12288, feed-forward 3*64*256 = 49152, norms 128; embedding and
 * head 1000*64 = 64000 each; final norm 64. */
#define SMALL "model small { layers = 1  hidden = 64  heads = 4  kv_heads = 2  ffn = 256  vocab = 1000\n"
#define LOAD  "gpu = card  context = 100  engine = ideal"

static double bytes(const char *text, const char *class)
{
    struct result_fixture fixture = result_open(text);
    char path[64] = "memory.weights.";
    strcat(path, class);
    cr_assert(diags_errors(fixture.diags) == 0, "%s", diags_get(fixture.diags, 0)->message);
    double value = result_number(&fixture, KIND_SCENARIO, "s", path);
    result_close(&fixture);
    return value;
}

Test(result_bind, weights_are_16_bits_unless_declared)
{
    const char *text = CARD SMALL "}\nscenario s { model = small  " LOAD " }";
    cr_expect_eq(bytes(text, "attention"), 12288 * 2);
    cr_expect_eq(bytes(text, "ffn"), 49152 * 2);
    cr_expect_eq(bytes(text, "embedding"), 64000 * 2);
    cr_expect_eq(bytes(text, "head"), 64000 * 2);
}

Test(result_bind, quantised_weights_leave_embedding_head_and_norms_in_16_bits)
{
    const char *text = CARD SMALL "weights = fp8 }\nscenario s { model = small  " LOAD " }";
    cr_expect_eq(bytes(text, "attention"), 12288);
    cr_expect_eq(bytes(text, "ffn"), 49152);
    cr_expect_eq(bytes(text, "embedding"), 64000 * 2);
    cr_expect_eq(bytes(text, "head"), 64000 * 2);
    cr_expect_eq(bytes(text, "norms"), (128 + 64) * 2);
}

Test(result_bind, wide_weights_take_everything_along)
{
    const char *text = CARD SMALL "weights = fp32 }\nscenario s { model = small  " LOAD " }";
    cr_expect_eq(bytes(text, "attention"), 12288 * 4);
    cr_expect_eq(bytes(text, "embedding"), 64000 * 4);
    cr_expect_eq(bytes(text, "norms"), (128 + 64) * 4);
}

Test(result_bind, a_class_of_the_model_is_stronger_than_its_weights)
{
    const char *text = CARD SMALL "weights = fp8  weights.attention = bf16  weights.embedding = fp8 }\n"
                                  "scenario s { model = small  " LOAD " }";
    cr_expect_eq(bytes(text, "attention"), 12288 * 2);
    cr_expect_eq(bytes(text, "ffn"), 49152);
    cr_expect_eq(bytes(text, "embedding"), 64000);
}

Test(result_bind, weights_of_the_scenario_replace_matrices_but_no_declared_embedding)
{
    const char *text = CARD SMALL "weights.attention = bf16  weights.embedding = fp32 }\n"
                                  "scenario s { model = small  weights = fp8  " LOAD " }";
    cr_expect_eq(bytes(text, "attention"), 12288);
    cr_expect_eq(bytes(text, "ffn"), 49152);
    cr_expect_eq(bytes(text, "embedding"), 64000 * 4);
    cr_expect_eq(bytes(text, "head"), 64000 * 2);
}

Test(result_bind, a_class_of_the_scenario_is_strongest)
{
    const char *text = CARD SMALL
        "weights = fp8 }\n"
        "scenario s { model = small  weights = fp8  weights.ffn = fp32  weights.head = fp8 " LOAD " }";
    cr_expect_eq(bytes(text, "attention"), 12288);
    cr_expect_eq(bytes(text, "ffn"), 49152 * 4);
    cr_expect_eq(bytes(text, "head"), 64000);
}

Test(result_bind, cache_is_16_bits_whatever_the_weights)
{
    struct result_fixture fixture =
        result_open(CARD SMALL "weights = fp8 }\nscenario a { model = small  " LOAD " }\n"
                               "scenario b : a { kv_cache = fp8 }");
    /* 2 heads of 16 for keys and values: 64 values per token. */
    cr_expect_eq(result_number(&fixture, KIND_SCENARIO, "a", "memory.kv_per_token"), 128);
    cr_expect_eq(result_number(&fixture, KIND_SCENARIO, "b", "memory.kv_per_token"), 64);
    result_close(&fixture);
}

Test(result_bind, params_without_architecture_are_all_there_is)
{
    struct result_fixture fixture =
        result_open(CARD BARE "scenario s { model = bare  weights = fp8  " LOAD " }");
    cr_expect_eq(result_number(&fixture, KIND_SCENARIO, "s", "memory.weights"), 7e9);
    cr_expect_eq(result_number(&fixture, KIND_MODEL, "bare", "matmul_params"), 7e9);
    cr_expect_eq(result_number(&fixture, KIND_MODEL, "bare", "params_estimate"), 12.0 * 32 * 4096 * 4096);
    result_close(&fixture);
}

Test(result_bind, declared_params_override_the_derived_count)
{
    /* 12288 + 49152 + 128 + 2 * 64000 + 64 = 189632 */
    struct result_fixture fixture =
        result_open(CARD SMALL "params = 190000 }\nscenario s { model = small  " LOAD " }");
    cr_expect_eq(result_number(&fixture, KIND_MODEL, "small", "params"), 190000);
    cr_expect_eq(result_count(&fixture, DIAG_W0603), 0);
    result_close(&fixture);
    fixture = result_open(CARD SMALL "params = 250000 }\nscenario s { model = small  " LOAD " }");
    cr_expect_eq(result_number(&fixture, KIND_MODEL, "small", "params"), 250000);
    cr_expect_eq(result_count(&fixture, DIAG_W0603), 1);
    result_close(&fixture);
}

/* Half of the derived 189632: every part is half of what the architecture says, none is negative, and a step
 * reads no more than there is: (12288 + 49152 + 64000 of the head) / 2 parameters of 2 bytes. */
Test(result_bind, a_declared_count_far_from_the_derived_one_scales_every_matrix)
{
    struct result_fixture fixture =
        result_open(CARD SMALL "params = 94816 }\nscenario s { model = small  " LOAD " }");
    cr_expect_float_eq(result_number(&fixture, KIND_SCENARIO, "s", "memory.weights"), 2 * 94816, 1e-6);
    cr_expect_float_eq(result_number(&fixture, KIND_SCENARIO, "s", "memory.weights.ffn"), 49152, 1e-6);
    cr_expect_eq(result_number(&fixture, KIND_SCENARIO, "s", "memory.weights.other"), 0);
    cr_expect_float_eq(result_number(&fixture, KIND_SCENARIO, "s", "decode.weight_traffic"), 125440, 1e-6);
    result_close(&fixture);
}

Test(result_bind, a_block_with_its_own_ffn_is_dense)
{
    struct result_fixture fixture = result_open(
        "model m { hidden = 64  heads = 4  vocab = 1000  experts = 8  active_experts = 2  expert_ffn = 32\n"
        "block dense { count = 1  ffn = 256 }\n block sparse { count = 3 } }\n" CARD
        "scenario s { model = m  " LOAD " }");
    cr_expect_eq(result_number(&fixture, KIND_MODEL, "m", "params.ffn"), 3 * 64 * 256);
    cr_expect_eq(result_number(&fixture, KIND_MODEL, "m", "params.experts"), 3 * 8 * 3 * 64 * 32);
    result_close(&fixture);
}

Test(result_bind, pages_are_for_engines_that_are_named)
{
    struct result_fixture fixture =
        result_open(CARD BARE "scenario a { model = bare  gpu = card  context = 100 }\n"
                              "scenario b : a { engine = typical }\n"
                              "scenario c : a { engine = ideal }\n"
                              "scenario d : a { page = 64 }");
    cr_expect_eq(result_number(&fixture, KIND_SCENARIO, "a", "memory.sequence_tokens"), 100);
    cr_expect_eq(result_number(&fixture, KIND_SCENARIO, "b", "memory.sequence_tokens"), 112);
    cr_expect_eq(result_number(&fixture, KIND_SCENARIO, "c", "memory.sequence_tokens"), 100);
    cr_expect_eq(result_number(&fixture, KIND_SCENARIO, "d", "memory.sequence_tokens"), 128);
    /* Without an engine, the memory of `typical`: 0.95 * 80 GB - 3 GB - 14 GB. */
    cr_expect_float_eq(result_number(&fixture, KIND_SCENARIO, "a", "memory.pool"), 59e9, 1);
    cr_expect_float_eq(result_number(&fixture, KIND_SCENARIO, "c", "memory.pool"), 66e9, 1);
    result_close(&fixture);
}

Test(result_bind, the_price_is_that_of_scenario_then_system_then_card)
{
    struct result_fixture fixture = result_open(
        BARE "gpu card { memory = 80 GB  bandwidth = 2 TB/s  peak.fp16 = 312 TFLOPS  price = 1 usd/h }\n"
             "system node { gpu = card  gpus_per_node = 8  price = 2 usd/h }\n"
             "scenario a { model = bare  gpu = card  context = 100 }\n"
             "scenario b { model = bare  system = node  context = 100 }\n"
             "scenario c : b { price = 3 eur/h }");
    cr_expect_float_eq(result_number(&fixture, KIND_SCENARIO, "a", "gpu_price") * 3600, 1, 1e-12);
    cr_expect_float_eq(result_number(&fixture, KIND_SCENARIO, "b", "gpu_price") * 3600, 2, 1e-12);
    cr_expect_float_eq(result_number(&fixture, KIND_SCENARIO, "c", "gpu_price") * 3600, 3, 1e-12);
    struct report_quantity cost =
        evaluate_row(fixture.evaluator, plan_find(fixture.plan, KIND_SCENARIO, "c"), Q_COST_PER_MTOK);
    cr_expect_str_eq(cost.unit, "eur");
    result_close(&fixture);
}

/* ---- errors ---------------------------------------------------------------------------------------- */

static void expect_one(const char *text, enum diag_code code)
{
    struct result_fixture fixture = result_open(text);
    cr_expect_eq(result_count(&fixture, code), 1, "%s: %zu times", diag_info(code)->code,
                 result_count(&fixture, code));
    cr_expect_eq(diags_count(fixture.diags), 1, "%zu diagnostics for one %s", diags_count(fixture.diags),
                 diag_info(code)->code);
    result_close(&fixture);
}

Test(result_bind, one_mistake_gives_one_error)
{
    expect_one(CARD "model m { layers = 32  hidden = 4096  heads = 32 }\n"
                    "scenario a { model = m  gpu = card  context = 1 }\nscenario b : a { batch = 2 }",
               DIAG_E0301);
    expect_one("gpu card { memory = 80 GB  bandwidth = 2 TB/s }\n" BARE
               "scenario a { model = bare  gpu = card  context = 1 }\nscenario b : a { batch = 2 }\n"
               "assert a.fits\nassert b.tpot < 1 s",
               DIAG_E0301);
    expect_one(CARD BARE "scenario a { model = bare  gpu = card }", DIAG_E0301);
    expect_one(CARD BARE "scenario a { model = bare  gpu = card  prompt = 10 }", DIAG_E0301);
    expect_one(CARD BARE "scenario a { model = bare  gpu = card  output = 10 }", DIAG_E0301);
    expect_one(CARD BARE "scenario a { model = bare  gpu = card  context = 1  speculation.tokens = 3 }",
               DIAG_E0301);
    expect_one(CARD BARE "scenario a { model = bare  gpu = card  context = 1  tp = 3 }", DIAG_E0302);
}

Test(result_bind, a_scenario_cannot_read_its_own_result)
{
    expect_one(CARD BARE "scenario a { model = bare  gpu = card  context = 1  batch = a.max_batch }",
               DIAG_E0212);
    expect_one(CARD BARE "scenario a { model = bare  gpu = card  context = 1  batch = b.max_batch }\n"
                         "scenario b { model = bare  gpu = card  context = 1  batch = a.max_batch }",
               DIAG_E0212);
}

Test(result_bind, a_scenario_may_read_the_result_of_another)
{
    struct result_fixture fixture =
        result_open(CARD BARE "scenario full : one { batch = one.max_batch }\n"
                              "scenario one { model = bare  gpu = card  context = 4096  engine = ideal }\n"
                              "assert full.fits");
    cr_expect_eq(diags_count(fixture.diags), 0);
    cr_expect_eq(result_number(&fixture, KIND_SCENARIO, "full", "memory.kv_sequences"), 30);
    result_close(&fixture);
}

Test(result_bind, ten_thousand_scenarios)
{
    struct arena *arena = arena_new();
    size_t size = 64 + 10000 * 80, length = 0;
    char *text = arena_alloc(arena, size + sizeof CARD + sizeof BARE);
    length += (size_t)snprintf(text, size, "%s%s", CARD, BARE);
    for (int i = 0; i < 10000; i++)
        length += (size_t)snprintf(text + length, 80,
                                   "scenario s%d { model = bare  gpu = card  context = %d }\n", i, i);
    struct result_fixture fixture = result_open(text);
    cr_expect_eq(diags_count(fixture.diags), 0);
    cr_expect(result_number(&fixture, KIND_SCENARIO, "s9999", "tpot") >
              result_number(&fixture, KIND_SCENARIO, "s0", "tpot"));
    result_close(&fixture);
    arena_free(arena);
}
