/* test_sensitivity.c: elasticities against arithmetic on paper, against scaling laws and against plans with
 * other numbers written in them; thresholds against closed forms, and against plans at and beside them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/arena.h"
#include "result/assertion.h"
#include "result/build.h"
#include "result/sensitivity.h"
#include "result/threshold.h"
#include "result_fixture.h"

/* 7e9 parameters in 16 bits are 14e9 bytes; one token of cache is 2 x 32 x 4096 x 2 = 524288 bytes. */
#define CARD                                                                                                 \
    "gpu card { memory = 80 GB  bandwidth = 2 TB/s  peak.fp16 = 312 TFLOPS  link = 300 GB/s  link_domain = " \
    "8\n"                                                                                                    \
    "  price = 2 usd/h }\n"
#define BARE "model bare { params = 7e9  layers = 32  hidden = 4096  heads = 32 }\n"
#define GROUPED                                                                                              \
    "model grouped { layers = 32  hidden = 4096  heads = 32  kv_heads = 8  ffn = 14336  vocab = 128256 }\n"

static const double WEIGHTS = 14e9, TOKEN = 524288;

static const struct evaluation *evaluation_of(struct result_fixture *fixture, const char *name)
{
    struct decl *scenario = plan_find(fixture->plan, KIND_SCENARIO, name);
    cr_assert(scenario != NULL, "no scenario %s", name);
    const struct evaluation *evaluation = evaluate_scenario(fixture->evaluator, scenario);
    cr_assert(evaluation->valid, "%s: %s", name, evaluation->why);
    return evaluation;
}

static struct variation *variation_of(struct result_fixture *fixture, const char *name)
{
    return variation_new(fixture->arena, evaluation_of(fixture, name));
}

static struct elasticity elasticity_of(struct variation *variation, enum vary input,
                                       enum sensitivity_result result)
{
    struct elasticity all[RESULT_COUNT];
    sensitivity_of(variation, input, all);
    return all[result];
}

static void expect_slope(struct variation *variation, enum vary input, enum sensitivity_result result,
                         double expected)
{
    struct elasticity slope = elasticity_of(variation, input, result);
    cr_assert(slope.exists, "%s", vary_info(input).path);
    cr_assert(fabs(slope.value - expected) <= 1e-8, "%s on %d: %.12g instead of %.12g", vary_info(input).path,
              (int)result, slope.value, expected);
}

/* ---- elasticities ----------------------------------------------------------------------------------- */

Test(sensitivity, limit_of_a_textbook_step)
{
    struct result_fixture fixture =
        result_open(CARD BARE "scenario chat { gpu = card  model = bare  context = 4096  engine = ideal }\n");
    struct variation *chat = variation_of(&fixture, "chat");
    double cache = 4096 * TOKEN, traffic = WEIGHTS + cache;
    /* t = (weights + cache) / bandwidth */
    expect_slope(chat, VARY_BANDWIDTH, RESULT_CEILING_TPOT, -1);
    expect_slope(chat, VARY_PEAK, RESULT_CEILING_TPOT, 0);
    expect_slope(chat, VARY_WEIGHT_BITS, RESULT_CEILING_TPOT, WEIGHTS / traffic);
    expect_slope(chat, VARY_KV_BITS, RESULT_CEILING_TPOT, cache / traffic);
    expect_slope(chat, VARY_WEIGHT_BITS, RESULT_MEMORY, WEIGHTS / traffic);
    expect_slope(chat, VARY_BANDWIDTH, RESULT_COST, -1);
    expect_slope(chat, VARY_PRICE, RESULT_COST, 1);
    expect_slope(chat, VARY_BANDWIDTH, RESULT_THROUGHPUT, 1);
    /* Between 4095 and 4097 tokens. */
    double slope = log((WEIGHTS + 4097 * TOKEN) / (WEIGHTS + 4095 * TOKEN)) / log(4097.0 / 4095.0);
    expect_slope(chat, VARY_CONTEXT, RESULT_CEILING_TPOT, slope);
    /* One sequence has no neighbour below: from 1 to 2. */
    slope = log((WEIGHTS + 2 * cache) / (WEIGHTS + cache)) / log(2);
    expect_slope(chat, VARY_BATCH, RESULT_CEILING_TPOT, slope);
    cr_assert(!elasticity_of(chat, VARY_BATCH, RESULT_TTFT).exists);
    result_close(&fixture);
}

Test(sensitivity, corner_where_two_bounds_meet)
{
    /* Without a cache, 2 x 7e9 x 156 / 312e12 s of work equals 14e9 / 2e12 s of reading. */
    struct result_fixture fixture = result_open(
        CARD BARE "scenario chat { gpu = card  model = bare  context = 0  batch = 156  engine = ideal }\n");
    struct elasticity slope =
        elasticity_of(variation_of(&fixture, "chat"), VARY_BANDWIDTH, RESULT_CEILING_TPOT);
    cr_assert(slope.corner);
    cr_assert(fabs(slope.left + 1) <= 1e-8 && fabs(slope.right) <= 1e-8, "%g %g", slope.left, slope.right);
    result_close(&fixture);
}

static const char several[] = CARD BARE GROUPED
    "model mixture { layers = 16  hidden = 2048  heads = 16  kv_heads = 4  vocab = 50000\n"
    "  experts = 32  active_experts = 4  expert_ffn = 1024 }\n"
    "scenario one { gpu = card  model = grouped  prompt = 2000  output = 400  batch = 16 }\n"
    "scenario four { gpu = card  model = grouped  prompt = 700  output = 300  batch = 40  tp = 4 }\n"
    "scenario experts { gpu = card  model = mixture  prompt = 500  output = 300  batch = 32  tp = 2 }\n"
    "scenario step { gpu = card  model = grouped  context = 5000  batch = 9  prompt = 900 }\n"
    "scenario long { gpu = card  model = grouped  prompt = 30000  output = 20  batch = 3 }\n"
    "scenario full { gpu = card  model = grouped  prompt = 2000  output = 400  batch = 900 }\n";

static const char *const names[] = {"one", "four", "experts", "step", "long", "full"};
enum { NAMES = sizeof names / sizeof names[0] };

/* Twice every rate and half of every fixed time is half of every time: by Euler's theorem on homogeneous
 * functions, elasticities to times minus elasticities to rates are 1, whatever the operations of a step are.
 */
Test(sensitivity, times_are_homogeneous)
{
    static const enum vary rates[] = {VARY_BANDWIDTH, VARY_PEAK, VARY_LINK, VARY_PCIE, VARY_NETWORK};
    static const enum vary fixed[] = {VARY_OPERATION_TIME, VARY_SEQUENCE_TIME, VARY_ALLREDUCE_TIME,
                                      VARY_REQUEST_TIME};
    static const enum sensitivity_result times[] = {RESULT_TPOT, RESULT_TTFT, RESULT_CEILING_TPOT};
    struct result_fixture fixture = result_open(several);
    for (size_t n = 0; n < NAMES; n++)
        for (size_t t = 0; t < sizeof times / sizeof times[0]; t++) {
            struct variation *variation = variation_of(&fixture, names[n]);
            double sum = 0;
            for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++)
                sum -= elasticity_of(variation, rates[i], times[t]).value;
            for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
                sum += elasticity_of(variation, fixed[i], times[t]).value;
            cr_assert(fabs(sum - 1) <= 1e-7, "%s, result %d: %.12g", names[n], (int)times[t], sum);
        }
    result_close(&fixture);
}

/* All peaks together are the sum of each. */
Test(sensitivity, peaks_add_up)
{
    struct result_fixture fixture = result_open(several);
    for (size_t n = 0; n < NAMES; n++) {
        struct variation *variation = variation_of(&fixture, names[n]);
        double sum = 0;
        for (int i = 0; i < PM_COMPUTE_COUNT; i++)
            sum += elasticity_of(variation, (enum vary)(VARY_PEAK_FIRST + i), RESULT_TTFT).value;
        cr_assert(fabs(sum - elasticity_of(variation, VARY_PEAK, RESULT_TTFT).value) <= 1e-8);
    }
    result_close(&fixture);
}

Test(sensitivity, finite_differences)
{
    struct result_fixture fixture = result_open(several);
    const double h = 1e-3;
    size_t compared = 0;
    for (size_t n = 0; n < NAMES; n++) {
        struct variation *variation = variation_of(&fixture, names[n]);
        for (int i = 0; i < VARY_COUNT; i++) {
            enum vary input = (enum vary)i;
            double value = variation_value(variation, input);
            if (!(value > 0) || vary_info(input).whole)
                continue;
            struct pm_result below = variation_at(variation, input, value * exp(-h))->result;
            struct pm_result above = variation_at(variation, input, value * exp(h))->result;
            for (int r = 0; r < RESULT_COUNT; r++) {
                enum sensitivity_result result = (enum sensitivity_result)r;
                struct elasticity slope = elasticity_of(variation, input, result);
                if (!slope.exists || slope.corner)
                    continue;
                double difference =
                    log(sensitivity_value(&above, result) / sensitivity_value(&below, result)) / (2 * h);
                /* A sequence more or less in memory is a step of 1 / running. */
                double tolerance = strcmp(names[n], "full") == 0 ? 2 / h / 200 : 1e-4;
                cr_assert(fabs(difference - slope.value) <= tolerance, "%s, %s on %d: %g, by differences %g",
                          names[n], vary_info(input).path, r, slope.value, difference);
                compared++;
            }
        }
    }
    cr_assert(compared > 400, "%zu", compared);
    result_close(&fixture);
}

/* The same through the whole compiler: a plan in which the number stands. */
static double tpot_of(const char *attribute, double value)
{
    char text[2048];
    snprintf(text, sizeof text,
             CARD GROUPED
             "gpu other : card { %s%.17g%s }\n"
             "scenario chat { gpu = other  model = grouped  prompt = 2000  output = 400  batch = "
             "16  %s%.17g }\n",
             attribute[0] == 'b' ? "bandwidth = " : "peak.fp16 = ", attribute[0] == 'b' ? value : 312,
             attribute[0] == 'b' ? " TB/s" : " TFLOPS", "utilization = ", 0.9);
    struct result_fixture fixture = result_open(text);
    double tpot = result_number(&fixture, KIND_SCENARIO, "chat", "tpot");
    result_close(&fixture);
    return tpot;
}

Test(sensitivity, as_a_plan_would_say)
{
    double h = 1e-3;
    double difference = log(tpot_of("b", 2 * exp(h)) / tpot_of("b", 2 * exp(-h))) / (2 * h);
    struct result_fixture fixture = result_open(several);
    struct elasticity slope = elasticity_of(variation_of(&fixture, "one"), VARY_BANDWIDTH, RESULT_TPOT);
    cr_assert(fabs(slope.value - difference) <= 1e-5, "%g, in a plan %g", slope.value, difference);
    cr_assert(slope.value < -0.1 && slope.value > -1);
    result_close(&fixture);
}

Test(sensitivity, a_tenth_more_and_less)
{
    struct result_fixture fixture = result_open(several);
    struct sensitivity *all;
    size_t count = sensitivities(fixture.arena, evaluation_of(&fixture, "one"), &all);
    bool batch = false, bandwidth = false;
    for (size_t i = 0; i < count; i++) {
        if (all[i].input == VARY_BATCH) { /* a tenth of 16 is 1.6, so 2 */
            batch = true;
            cr_assert(all[i].more == 18 && all[i].less == 14, "%g %g", all[i].more, all[i].less);
        }
        if (all[i].input == VARY_BANDWIDTH) {
            bandwidth = true;
            cr_assert(fabs(all[i].more - 2.2e12) < 1 && fabs(all[i].less - 1.8e12) < 1);
            cr_assert(fabs(all[i].with_more[RESULT_TPOT] / tpot_of("b", 2.2) - 1) < 1e-12);
            cr_assert(fabs(all[i].with_less[RESULT_TPOT] / tpot_of("b", 1.8) - 1) < 1e-12);
        }
        cr_assert(all[i].input != VARY_CACHED_PREFIX && all[i].input != VARY_CONTEXT, "it has none");
    }
    cr_assert(batch && bandwidth);
    result_close(&fixture);
}

/* ---- thresholds -----------------------------------------------------------------------------------------
 */

static void expect_whole(struct threshold threshold, double last, double first)
{
    cr_assert(threshold.exists);
    cr_assert(threshold.last == last && threshold.first == first, "%.17g to %.17g instead of %g to %g",
              threshold.last, threshold.first, last, first);
}

static void expect_rate(struct threshold threshold, double expected)
{
    cr_assert(threshold.exists);
    cr_assert(fabs(threshold.last / expected - 1) <= 1e-13 && fabs(threshold.first / expected - 1) <= 1e-13,
              "%.17g to %.17g instead of %.17g", threshold.last, threshold.first, expected);
}

Test(threshold, limit_turns_compute_bound)
{
    struct result_fixture fixture = result_open(
        CARD BARE "scenario chat { gpu = card  model = bare  context = 0  batch = 16  engine = ideal }\n");
    struct variation *chat = variation_of(&fixture, "chat");
    /* 312e12 / 2e12 x 2 bytes / 2 FLOP = 156 */
    expect_whole(threshold_find(chat, VARY_BATCH, true, threshold_ceiling_side, NULL), 155, 156);
    cr_assert(!threshold_find(chat, VARY_BATCH, false, threshold_ceiling_side, NULL).exists);
    /* 16 x 14e9 FLOP / 312e12 = 14e9 B / 19.5e12 */
    expect_rate(threshold_find(chat, VARY_BANDWIDTH, true, threshold_ceiling_side, NULL), 19.5e12);
    /* and 32e12 FLOP/s of work are as slow as 2 TB/s */
    expect_rate(threshold_find(chat, VARY_PEAK, false, threshold_ceiling_side, NULL), 32e12);
    result_close(&fixture);
}

Test(threshold, memory_is_full)
{
    struct result_fixture fixture =
        result_open(CARD BARE "scenario chat { gpu = card  model = bare  context = 4096  engine = ideal }\n");
    struct variation *chat = variation_of(&fixture, "chat");
    /* 66e9 / (4096 x 524288) = 30.7; 66e9 / 524288 = 125885.01 */
    expect_whole(threshold_find(chat, VARY_BATCH, true, threshold_fits, NULL), 30, 31);
    expect_whole(threshold_find(chat, VARY_CONTEXT, true, threshold_fits, NULL), 125885, 125886);
    expect_rate(threshold_find(chat, VARY_MEMORY, false, threshold_fits, NULL), WEIGHTS + 4096 * TOKEN);
    /* 16 bits x (80e9 - cache) / 14e9 */
    expect_rate(threshold_find(chat, VARY_WEIGHT_BITS, true, threshold_fits, NULL),
                16 * (80e9 - 4096 * TOKEN) / WEIGHTS);
    result_close(&fixture);
}

Test(threshold, from_too_much_back_to_what_fits)
{
    struct result_fixture fixture = result_open(
        CARD BARE
        "scenario chat { gpu = card  model = bare  context = 4096  batch = 100  engine = ideal }\n");
    expect_whole(threshold_find(variation_of(&fixture, "chat"), VARY_BATCH, false, threshold_fits, NULL), 31,
                 30);
    result_close(&fixture);
}

#define ASSERTED                                                                                             \
    CARD BARE "scenario chat { gpu = card  model = bare  context = 4096  engine = ideal }\n"                 \
              "scenario other : chat { batch = 4 }\n"                                                        \
              "assert chat.ceiling.tpot <= 8.5 ms\n"                                                         \
              "assert chat.throughput >= other.throughput / 3.5\n"                                           \
              "assert chat.batch * chat.ceiling.tpot < 1 s\n"                                                \
              "assert chat.fits and chat.memory.kv < 3 GB\n"

Test(threshold, assertion_flips)
{
    struct result_fixture fixture = result_open(ASSERTED);
    struct variation *chat = variation_of(&fixture, "chat");
    const struct plan_view *view = plan_view(fixture.plan);
    struct threshold_assertion first = {fixture.evaluator, &view->assertions.items[0], false};
    /* (14e9 + 4096 x 524288) / 8.5e-3 */
    expect_rate(threshold_find(chat, VARY_BANDWIDTH, false, threshold_asserted, &first),
                (WEIGHTS + 4096 * TOKEN) / 8.5e-3);
    cr_assert(first.read);
    /* (17e9 - 14e9) / 524288 = 5722.05 */
    expect_whole(threshold_find(chat, VARY_CONTEXT, true, threshold_asserted, &first), 5722, 5723);
    /* A condition that joins two: 3e9 / 524288 = 5722.05 again, by its second half */
    struct threshold_assertion last = {fixture.evaluator, &view->assertions.items[3], false};
    expect_whole(threshold_find(chat, VARY_CONTEXT, true, threshold_asserted, &last), 5722, 5723);
    result_close(&fixture);
}

Test(threshold, what_an_assertion_reads)
{
    struct result_fixture fixture = result_open(ASSERTED);
    const struct plan_view *view = plan_view(fixture.plan);
    const struct evaluation *other = evaluation_of(&fixture, "other");
    struct threshold_assertion first = {fixture.evaluator, &view->assertions.items[0], false};
    cr_assert(threshold_asserted(&first, other) == 1);
    cr_assert(!first.read, "it does not read the other scenario");
    struct threshold_assertion second = {fixture.evaluator, &view->assertions.items[1], false};
    cr_assert(threshold_asserted(&second, other) >= 0);
    cr_assert(second.read);
    cr_assert(threshold_can_ask(&view->assertions.items[1]));
    cr_assert(!threshold_can_ask(&view->assertions.items[2]), "it reads the plan's own batch");
    cr_assert(threshold_can_ask(&view->assertions.items[3]));
    /* Nothing of what was supposed remains. */
    cr_assert(evaluate_scenario(fixture.evaluator, other->scenario) == other);
    result_close(&fixture);
}

/* On each side of every threshold stands what it says, neighbours apart, whatever the case. */
Test(threshold, both_sides)
{
    static const threshold_state states[] = {threshold_bound, threshold_ceiling_side, threshold_fits};
    struct result_fixture fixture = result_open(several);
    size_t found = 0;
    for (size_t n = 0; n < NAMES; n++) {
        struct variation *variation = variation_of(&fixture, names[n]);
        for (int i = 0; i < VARY_COUNT; i++)
            for (size_t s = 0; s < sizeof states / sizeof states[0]; s++)
                for (int above = 0; above < 2; above++) {
                    enum vary input = (enum vary)i;
                    struct threshold threshold = threshold_find(variation, input, above, states[s], NULL);
                    if (!threshold.exists)
                        continue;
                    found++;
                    double gap = fabs(threshold.first - threshold.last);
                    cr_assert(vary_info(input).whole ? gap == 1 : gap <= 1e-14 * threshold.last);
                    cr_assert(above ? threshold.first > threshold.last : threshold.first < threshold.last);
                    cr_assert(threshold.from != threshold.to);
                    cr_assert(states[s](NULL, variation_at(variation, input, threshold.last)) ==
                              threshold.from);
                    cr_assert(states[s](NULL, variation_at(variation, input, threshold.first)) ==
                              threshold.to);
                }
    }
    cr_assert(found > 50, "%zu", found);
    result_close(&fixture);
}

/* A plan with the threshold written in it flips, and one with its neighbour does not. */
Test(threshold, as_a_plan_would_say)
{
    for (int step = 0; step < 2; step++) {
        char text[1024];
        snprintf(text, sizeof text,
                 CARD GROUPED "scenario chat { gpu = card  model = grouped  prompt = 2000  output = 400  "
                              "batch = 8 }\nscenario there : chat { batch = %d }\n"
                              "assert chat.tpot <= 20 ms\nassert there.tpot <= 20 ms\n",
                 8);
        struct result_fixture fixture = result_open(text);
        struct threshold_assertion asked = {fixture.evaluator, &plan_view(fixture.plan)->assertions.items[0],
                                            false};
        struct threshold batch =
            threshold_find(variation_of(&fixture, "chat"), VARY_BATCH, true, threshold_asserted, &asked);
        cr_assert(batch.exists);
        result_close(&fixture);
        double value = step == 0 ? batch.last : batch.first;
        char *at = strstr(text, "there : chat { batch = 8");
        char changed[1100];
        snprintf(changed, sizeof changed, "%.*sthere : chat { batch = %.0f%s", (int)(at - text), text, value,
                 at + strlen("there : chat { batch = 8"));
        fixture = result_open(changed);
        struct report_assertion decided =
            assertion_decide(fixture.evaluator, &plan_view(fixture.plan)->assertions.items[1]);
        cr_assert(decided.holds == (step == 0), "batch %g", value);
        result_close(&fixture);
    }
}

/* ---- the report
 * -------------------------------------------------------------------------------------------- */

static const struct report_section *section_of(struct result_fixture *fixture)
{
    const struct report *report = report_build(fixture->evaluator, (struct report_options){0});
    cr_assert(report->sections.count == 1);
    cr_assert_str_eq(report->sections.items[0].id, "sensitivity");
    return &report->sections.items[0];
}

static const char *joined(struct result_fixture *fixture, const struct rich_text *text)
{
    const char *all = "";
    for (size_t i = 0; i < text->runs.count; i++)
        all = arena_printf(fixture->arena, "%s%s", all, text->runs.items[i].text);
    return all;
}

Test(sensitivity, section_says_what_would_change_it)
{
    struct result_fixture fixture = result_open(
        CARD BARE "scenario chat { gpu = card  model = bare  context = 0  batch = 16  engine = ideal }\n"
                  "assert chat.ceiling.tpot <= 10 ms\n"
                  "report { sections = sensitivity }\n");
    const struct report_section *section = section_of(&fixture);
    /* 14e9 / 2.2e12 instead of 14e9 / 2e12: 1 - 1 / 1.1 = 9.09 % */
    cr_assert_str_eq(joined(&fixture, &section->blocks.items[0].paragraph),
                     "chat: 10\xE2\x80\x89% more bandwidth gives 9.1\xE2\x80\x89% less time per token.");
    const struct report_block *list = &section->blocks.items[section->blocks.count - 1];
    cr_assert(list->kind == BLOCK_LIST);
    /* 156: see above; 19.5 TB/s: 312e12 / 16 */
    cr_assert_str_eq(
        joined(&fixture, &list->list.items.items[0]),
        "At its limit, decode becomes compute-bound from batch 156. At this load it is bound by memory "
        "up to 19.5\xE2\x80\x89TB/s of bandwidth.");
    /* 14e9 / 10e-3 = 1.4 TB/s; 14e9 x 222.857 / 312e12 = 10 ms, and so is 16 x 14e9 / 22.4e12 */
    const struct report_block *last = list;
    cr_assert_str_eq(
        joined(&fixture, &last->list.items.items[last->list.items.count - 1]),
        "chat.ceiling.tpot <= 10 ms holds up to batch 222, down to 1.40\xE2\x80\x89TB/s of bandwidth, "
        "down to 22.4\xE2\x80\x89TFLOP/s of fp16 arithmetic.");
    result_close(&fixture);
}

Test(sensitivity, only_the_first_of_many_scenarios)
{
    char text[4096];
    size_t length = (size_t)snprintf(text, sizeof text, CARD BARE "report { sections = sensitivity }\n");
    for (int i = 0; i < 20; i++)
        length += (size_t)snprintf(text + length, sizeof text - length,
                                   "scenario s%d { gpu = card  model = bare  context = 1000 }\n", i);
    struct result_fixture fixture = result_open(text);
    const struct report_section *section = section_of(&fixture);
    cr_assert_str_eq(joined(&fixture, &section->blocks.items[0].paragraph),
                     "For the first 3 of 20 scenarios.");
    size_t charts = 0;
    for (size_t i = 0; i < section->blocks.count; i++)
        charts += section->blocks.items[i].kind == BLOCK_CHART;
    cr_assert(charts == 3);
    result_close(&fixture);
}
