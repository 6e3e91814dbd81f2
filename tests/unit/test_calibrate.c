/* test_calibrate.c: engines fitted to measurements, against engines that are known. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "result/calibrate.h"
#include "result/fit_normal.h"
#include "result_fixture.h"
#include "run.h"

static struct arena *arena;

static void set_up(void)
{
    arena = arena_new();
}

static void tear_down(void)
{
    arena_free(arena);
}

TestSuite(calibrate, .init = set_up, .fini = tear_down);

/* A card and a model whose decode step is nothing but reading 2 N bytes of weights at a share of the
 * bandwidth: no fixed times, a sharp corner, no cache (context 0), no attention. */
#define PLAIN                                                                                                \
    "gpu card { memory = 80 GB   bandwidth = 2 TB/s   peak.fp16 = 312 TFLOPS }\n"                            \
    "engine plain : typical {\n"                                                                             \
    "  efficiency.bandwidth = 0.8   corner = 0   operation_time = 0 s   sequence_time = 0 s\n}\n"            \
    "model small { params = 4e9 }\nmodel middle { params = 8e9 }\nmodel large { params = 16e9 }\n"           \
    "scenario a { gpu = card  model = small   engine = plain  context = 0  batch = 1 }\n"                    \
    "scenario b : a { model = middle }\nscenario c : a { model = large }\n"

/* The declaration alone, without comments. */
static const char *declaration_of(const char *text)
{
    const char *start = strstr(text, "\nengine ");
    cr_assert_not_null(start, "%s", text);
    return start + 1;
}

/* The number after `name = ` in a declaration; NAN when it is not there. */
static double number_after(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    if (!at)
        return NAN;
    at += strlen(name);
    at += strspn(at, " =");
    return strtod(at, NULL);
}

/* Reading 8, 16 and 32 GB at 0.8 of 2 TB/s takes 5, 10 and 20 ms. Seen are 6, 12 and 24 ms, so the share is
 * 0.8 / 1.2 = 0.667. The pull to 0.8 (spread 0.12 against three figures with a scatter of 0.04) keeps
 * 1 / (1 + 3 * 9) of the logarithm: exp(-0.1823 * 27 / 28) * 0.8 = 0.671. */
Test(calibrate, recovers_a_known_share_of_bandwidth)
{
    const char *path = scratch_file(
        arena, "known.perf",
        PLAIN "measured a { tpot = 6 ms }\nmeasured b { tpot = 12 ms }\nmeasured c { tpot = 24 ms }\n");
    struct run run = RUN(arena, "calibrate", path);
    cr_assert(run.status == 0 && run.err_length == 0, "%d %s", run.status, run.err);
    const char *text = declaration_of(run.out);
    cr_assert(strncmp(text, "engine plain-calibrated : typical {\n", 36) == 0, "%s", text);
    cr_assert_float_eq(number_after(text, "efficiency.bandwidth"), 0.671, 0.001, "%s", text);
    /* What the plan's own engine says is written out, because the catalogue does not know that engine. */
    cr_assert_eq(number_after(text, "operation_time"), 0, "%s", text);
    cr_assert_eq(number_after(text, "corner"), 0, "%s", text);
    cr_assert_null(strstr(text, "dense"), "a step that computes next to nothing tells nothing of it: %s",
                   text);
    /* Before: 5 for 6 ms is 1 - 5/6 = 16.7 % off. */
    cr_assert_not_null(strstr(run.out, "16.7 /  16.7"), "%s", run.out);
}

/* A card that says itself what streams reach leaves the engine only its factor for that kind of memory. The
 * same runs as above: 0.8 of the card times exp(-0.1823 * 27 / 28) = 0.8388. */
Test(calibrate, a_card_with_a_share_of_its_own_is_fitted_by_its_kind_of_memory)
{
    const char *path =
        scratch_file(arena, "known.perf",
                     PLAIN "gpu graphics : card { memory_kind = gddr  efficiency.bandwidth = 0.8 }\n"
                           "scenario d : a { gpu = graphics }\n"
                           "measured d { tpot = 6 ms }\n"
                           "measured d { model = middle  tpot = 12 ms }\n"
                           "measured d { model = large  tpot = 24 ms }\n");
    struct run run = RUN(arena, "calibrate", path);
    cr_assert(run.status == 0, "%s", run.err);
    const char *text = declaration_of(run.out);
    cr_assert_float_eq(number_after(text, "by_memory.bandwidth_gddr"), 0.8388, 0.0005, "%s", text);
    cr_assert_float_eq(number_after(text, "efficiency.bandwidth"), 0.8, 1e-9, "the engine's own stays: %s",
                       text);
    cr_assert_null(strstr(text, "bandwidth_hbm"), "%s", text);
}

/* 48 runs of 5 and of 10 ms, seen at 1.2 times that times exp(0.02) and exp(-0.02) in turn: 24 folds of two
 * alike. With the pull p = 1 / 0.12^2 and w = 1 / 0.04^2 a fit to the other 46 moves by
 * w (46 ln 1.2 - 2 s 0.02) / (46 w + p), s = 1 or -1, and misses both by ln 1.2 + 0.02 s less that: by 0.0216
 * and -0.0201, in squares 0.00043564 and as errors 2.0860 %. All 48 move by w 48 ln 1.2 / (48 w + p), to a
 * share of 0.66695. */
Test(calibrate, many_runs_are_left_out_fold_by_fold)
{
    struct buffer plan = buffer_in(arena);
    buffer_text(&plan, PLAIN);
    for (int i = 0; i < 48; i++)
        buffer_printf(&plan, "measured %s { tpot = %.9f ms }\n", i % 4 < 2 ? "a" : "b",
                      6 * exp(i % 2 == 0 ? 0.02 : -0.02) * (i % 4 < 2 ? 1 : 2));
    struct result_fixture fixture = result_open(buffer_string(&plan));
    struct calibration *fitted;
    struct calibration_skip *rest;
    size_t rest_count, count = calibrate_plan(fixture.evaluator, &fitted, &rest, &rest_count);
    cr_assert(count == 1 && rest_count == 0 && fitted->runs == 48);
    cr_assert_float_eq(fitted->fit.held_out[FIT_TPOT].median, 0.020860, 2e-6);
    cr_assert_float_eq(fitted->fit.held_out[FIT_TPOT].mean, 0.020860, 2e-6);
    cr_assert_float_eq(fitted->fit.spread[FIT_TPOT], 0.00043564, 2e-7);
    cr_assert_float_eq(fitted->fitted.efficiency_bandwidth, 0.66695, 5e-5);
    cr_assert_eq(fitted->fit.cases.count, 2, "runs of one case are evaluated once");
    result_close(&fixture);
}

/* 100 (a + b - 1)^2 + (a / 0.25)^2 + (b / 0.4)^2 is least at a = 0.2688 and b = 0.6882: a = k / 16 and
 * b = k / 6.25 with k = 100 / 23.25. With b at most 0.5 it is least at a = 50 / 116. */
Test(calibrate, a_coefficient_at_its_bound_leaves_the_rest_to_others)
{
    bool chosen[COEFFICIENT_COUNT] = {[COEFFICIENT_OPERATION] = true, [COEFFICIENT_SEQUENCE] = true};
    double slopes[COEFFICIENT_COUNT] = {[COEFFICIENT_OPERATION] = 1, [COEFFICIENT_SEQUENCE] = 1};
    double out[COEFFICIENT_COUNT];
    struct normal_bounds bounds = {.high = {[COEFFICIENT_OPERATION] = 2, [COEFFICIENT_SEQUENCE] = 2}};
    struct normal normal = normal_of(chosen);
    normal_add(&normal, slopes, 1, 100);
    normal_solve(&normal, &bounds, out);
    cr_assert_float_eq(out[COEFFICIENT_OPERATION], 0.26882, 1e-5);
    cr_assert_float_eq(out[COEFFICIENT_SEQUENCE], 0.68817, 1e-5);
    bounds.high[COEFFICIENT_SEQUENCE] = 0.5;
    normal_solve(&normal, &bounds, out);
    cr_assert_float_eq(out[COEFFICIENT_OPERATION], 50.0 / 116, 1e-9);
    cr_assert_eq(out[COEFFICIENT_SEQUENCE], 0.5);
    cr_assert_eq(out[COEFFICIENT_BANDWIDTH], 0);
}

/* One figure: the pull keeps 1 / (1 + 9), so exp(0.1823 * 9 / 10) * 10 ms = 11.78 ms are expected for 12: 1.8
 * %. Others of its deployment scatter by 0.62 of the standard band, here that of a card that nobody measured,
 * 0.5 to 2: 2^0.62 = 1.537. */
Test(calibrate, one_run_helps_and_narrows_the_band_of_its_deployment)
{
    const char *path = scratch_file(arena, "one.perf", PLAIN "measured b { tpot = 12 ms }\n");
    struct run run = RUN(arena, "calibrate", path);
    const char *text = declaration_of(run.out);
    cr_assert_float_eq(number_after(text, "efficiency.bandwidth"), 0.8 / exp(0.1823 * 0.9), 0.001, "%s",
                       text);
    cr_assert_not_null(strstr(run.out, " 1.8 /   1.8"), "%s", run.out);
    cr_assert_eq(number_after(text, "band.tpot_high"), 1.537, "%s", text);
    cr_assert_eq(number_after(text, "band.tpot_low"), 0.651, "%s", text);
    cr_assert_not_null(strstr(text, "fitted_to = \"middle bf16 on card\""), "%s", text);
    cr_assert_null(strstr(text, "band.ttft"), "nothing tells of the first token: %s", text);
}

/* A speed is the time per token turned round: 1/12 ms = 83.33 tokens/s. */
Test(calibrate, a_speed_is_a_time_per_token)
{
    const char *time = scratch_file(arena, "one.perf", PLAIN "measured b { tpot = 12.5 ms }\n");
    const char *speed = scratch_file(arena, "one.perf", PLAIN "measured b { speed = 80 tokens/s }\n");
    struct run of_time = RUN(arena, "calibrate", time), of_speed = RUN(arena, "calibrate", speed);
    cr_assert(of_time.status == 0 && of_speed.status == 0);
    cr_assert_str_eq(declaration_of(of_time.out), declaration_of(of_speed.out));
}

/* The printed engine, imported and used, must be off by what was printed beside it. */
Test(calibrate, the_declaration_compiles_and_gives_the_printed_errors)
{
    static const char plan[] = PLAIN "measured a { tpot = 6.5 ms }\nmeasured b { tpot = 11 ms }\n"
                                     "measured c { tpot = 25 ms }\n";
    const char *path = scratch_file(arena, "plan.perf", plan);
    const char *directory = arena_strndup(arena, path, (size_t)(strrchr(path, '/') - path));
    const char *engine = arena_printf(arena, "%s/engine.perf", directory);
    struct run written = RUN(arena, "calibrate", path, "-o", engine);
    cr_assert(written.status == 0 && written.err_length == 0, "%d %s", written.status, written.err);
    cr_assert_not_null(strstr(written.out, "time per token"), "the errors are told: %s", written.out);
    struct result_fixture fixture =
        result_open(arena_printf(arena,
                                 "%s%sscenario a2 : a { engine = plain-calibrated }\n"
                                 "scenario b2 : b { engine = plain-calibrated }\n"
                                 "scenario c2 : c { engine = plain-calibrated }\n",
                                 plan, declaration_of(read_file(arena, engine, NULL))));
    cr_assert_eq(diags_errors(fixture.diags), 0);
    double errors[] = {fabs(result_number(&fixture, KIND_SCENARIO, "a2", "tpot") / 6.5e-3 - 1),
                       fabs(result_number(&fixture, KIND_SCENARIO, "b2", "tpot") / 11e-3 - 1),
                       fabs(result_number(&fixture, KIND_SCENARIO, "c2", "tpot") / 25e-3 - 1)};
    double mean = (errors[0] + errors[1] + errors[2]) / 3;
    double median = fmax(fmin(errors[0], errors[1]), fmin(fmax(errors[0], errors[1]), errors[2]));
    const char *printed = arena_printf(arena, "%.1f / %5.1f", 100 * median, 100 * mean);
    cr_assert_not_null(strstr(written.out, printed), "%s in %s", printed, written.out);
    /* The band holds what was left out: three runs scatter by about a tenth. */
    double high = result_number(&fixture, KIND_SCENARIO, "b2", "tpot.high");
    cr_assert(high > result_number(&fixture, KIND_SCENARIO, "b2", "tpot") * 1.1);
    result_close(&fixture);
}

/* Median and mean in column `column` of the line of the time per token: before, after, of runs left out. */
static void errors_of(const char *text, int column, double *median, double *mean)
{
    const char *at = strstr(text, "time per token");
    cr_assert_not_null(at, "%s", text);
    at += strlen("time per token");
    char *end;
    strtoul(at, &end, 10);
    for (int i = 0; i <= column; i++) {
        *median = strtod(end, &end);
        *mean = strtod(end + strspn(end, " /"), &end);
    }
}

/* MiniMax-M2.5 in fp8 on four H200 under vLLM 0.16.0, 1024 + 8192 tokens: e0276, e0277, e0278, e0280, e0279
 * of the public measurements of ai-dynamo/aiconfigurator (Apache-2.0; from InferenceX). A young port: the
 * catalogue's engine is a fifth too fast for all of them, and each is better predicted by a fit to the
 * others. */
Test(calibrate, what_is_left_out_is_better_predicted)
{
    const char *path = scratch_file(arena, "minimax.perf",
                                    "scenario u {\n  gpu = h200-sxm   tp = 4   model = minimax-m2.5   engine "
                                    "= vllm   utilization = 0.95\n"
                                    "  weights = fp8   prompt = 1024   output = 8192   batch = 1\n}\n"
                                    "scenario u4 : u { batch = 4 }   measured u4 { tpot = 12.451 ms }\n"
                                    "scenario u8 : u { batch = 8 }   measured u8 { tpot = 13.644 ms }\n"
                                    "scenario u16 : u { batch = 16 }   measured u16 { tpot = 15.971 ms }\n"
                                    "scenario u32 : u { batch = 32 }   measured u32 { tpot = 21.257 ms }\n"
                                    "scenario u64 : u { batch = 64 }   measured u64 { tpot = 27.042 ms }\n");
    struct run run = RUN(arena, "calibrate", path);
    double median[3], mean[3];
    cr_assert(run.status == 0, "%s", run.err);
    for (int i = 0; i < 3; i++)
        errors_of(run.out, i, &median[i], &mean[i]);
    cr_assert(mean[0] > 10 && mean[2] < mean[0] / 2, "%s", run.out);
    cr_assert(median[1] < median[0] && mean[1] <= mean[2], "%s", run.out);
    cr_assert_null(strstr(run.out, "Beware"), "%s", run.out);
}

Test(calibrate, refuses_when_there_is_nothing_to_fit)
{
    const char *none = scratch_file(arena, "none.perf", PLAIN);
    struct run run = RUN(arena, "calibrate", none);
    cr_assert(run.status == 1 && run.out_length == 0 && strstr(run.err, "no measurements"), "%d %s",
              run.status, run.err);
    /* 8 GB in 3 ms is 2.67 TB/s on a card with 2. */
    const char *impossible = scratch_file(arena, "impossible.perf", PLAIN "measured a { tpot = 3 ms }\n");
    run = RUN(arena, "calibrate", impossible);
    cr_assert(run.status == 1 && strstr(run.err, "better than the physical limit"), "%d %s", run.status,
              run.err);
    const char *ideal = scratch_file(arena, "ideal.perf",
                                     PLAIN "scenario d : a { engine = ideal }\n"
                                           "measured d { tpot = 6 ms }\n");
    run = RUN(arena, "calibrate", ideal);
    cr_assert(run.status == 1 && strstr(run.err, "ideal"), "%d %s", run.status, run.err);
    run = RUN(arena, "calibrate");
    cr_assert_eq(run.status, 2);
}

/* What cannot be is left out of the fit, and said. */
Test(calibrate, an_impossible_run_is_not_fitted)
{
    const char *with =
        scratch_file(arena, "plan.perf", PLAIN "measured a { tpot = 3 ms }\nmeasured b { tpot = 12 ms }\n");
    const char *without = scratch_file(arena, "plan.perf", PLAIN "measured b { tpot = 12 ms }\n");
    struct run both = RUN(arena, "calibrate", with), one = RUN(arena, "calibrate", without);
    cr_assert_str_eq(declaration_of(both.out), declaration_of(one.out));
    cr_assert_not_null(strstr(both.out, "not used: a, because it is better than the physical limit"), "%s",
                       both.out);
}

/* A fitted engine's band is of the deployments that were measured; elsewhere holds that of the engine it was
 * made of, also for engines that inherit from it. */
Test(calibrate, the_band_knows_where_it_was_measured)
{
    struct result_fixture fixture =
        result_open("engine mine : vllm {\n  band.tpot_low = 0.97   band.tpot_high = 1.03\n"
                    "  fitted_to = \"llama-3.1-8b fp8 on h100-sxm; llama-3.1-8b bf16 on h100-sxm, tp 2\"\n}\n"
                    "engine derived : mine { operation_time = 12 us }\n"
                    "scenario plain { model = llama-3.1-8b  gpu = h100-sxm  engine = vllm  prompt = 1000  "
                    "output = 300 }\n"
                    "scenario first : plain { engine = mine  weights = fp8 }\n"
                    "scenario second : plain { engine = mine  tp = 2  batch = 64 }\n"
                    "scenario layout : plain { engine = mine  tp = 4 }\n"
                    "scenario format : plain { engine = mine }\n"
                    "scenario card : first { gpu = h200-sxm }\n"
                    "scenario model : first { model = llama-3-8b }\n"
                    "scenario heir : first { engine = derived }\n"
                    "scenario far_heir : format { engine = derived }\n");
    static const char *const near[] = {"first", "second", "heir"};
    static const char *const far[] = {"layout", "format", "card", "model", "far_heir"};
    double standard = result_number(&fixture, KIND_SCENARIO, "plain", "tpot.high") /
                      result_number(&fixture, KIND_SCENARIO, "plain", "tpot");
    cr_assert(standard > 1.05);
    for (size_t i = 0; i < sizeof near / sizeof near[0]; i++)
        cr_expect_float_eq(result_number(&fixture, KIND_SCENARIO, near[i], "tpot.high") /
                               result_number(&fixture, KIND_SCENARIO, near[i], "tpot"),
                           1.03, 1e-9, "%s", near[i]);
    for (size_t i = 0; i < sizeof far / sizeof far[0]; i++)
        cr_expect_float_eq(result_number(&fixture, KIND_SCENARIO, far[i], "tpot.high") /
                               result_number(&fixture, KIND_SCENARIO, far[i], "tpot"),
                           standard, 1e-9, "%s", far[i]);
    result_close(&fixture);
}

/* Engines are fitted apart, each to its own scenarios. */
Test(calibrate, each_engine_to_its_own_runs)
{
    const char *path = scratch_file(
        arena, "two.perf",
        PLAIN "scenario d : b { engine = vllm }\nmeasured b { tpot = 12 ms }\nmeasured d { tpot = 12 ms }\n");
    struct run run = RUN(arena, "calibrate", path);
    cr_assert(run.status == 0, "%s", run.err);
    cr_assert_not_null(strstr(run.out, "engine plain-calibrated : typical {"));
    cr_assert_not_null(strstr(run.out, "engine vllm-calibrated : vllm {"));
    cr_assert_str_eq(run.out, RUN(arena, "calibrate", path).out, "the same every time");
}
