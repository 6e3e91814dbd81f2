/* test_result_report.c: assertions, sweeps, comparisons, measurements and the list of quantities. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "result/assertion.h"
#include "result/compare.h"
#include "result/measured.h"
#include "result/name.h"
#include "result/sweep.h"
#include "result_fixture.h"

/* The textbook case: 14e9 bytes of weights and 524288 bytes of cache per token over 2 TB/s. */
#define BASE                                                                                                 \
    "gpu card { memory = 80 GB  bandwidth = 2 TB/s  peak.fp16 = 312 TFLOPS }\n"                              \
    "model bare { params = 7e9  layers = 32  hidden = 4096  heads = 32 }\n"                                  \
    "scenario one { model = bare  gpu = card  engine = ideal  context = 0 }\n"                               \
    "scenario four : one { context = 4096 }\n"                                                               \
    "scenario full : four { batch = 31 }\n"

/* ---- assertions ---------------------------------------------------------------------------------------- */

static struct report_assertion decide(const char *condition)
{
    static char text[2048];
    snprintf(text, sizeof text, "%sassert %s \"because\"\n", BASE, condition);
    struct result_fixture fixture = result_open(text);
    cr_assert(diags_errors(fixture.diags) == 0, "%s", diags_get(fixture.diags, 0)->message);
    struct report report = {0};
    assertions_evaluate(fixture.evaluator, &report);
    cr_assert_eq(report.assertions.count, 1);
    cr_expect_eq(assertions_held(&report), report.assertions.items[0].holds);
    return report.assertions.items[0]; /* the arena lives on until the test's process ends */
}

Test(result_report, an_assertion_tells_both_sides_and_the_margin)
{
    struct report_assertion holds = decide("one.tpot <= 10 ms"); /* 14e9 / 2e12 = 7 ms */
    cr_expect(holds.holds);
    cr_expect_str_eq(holds.left, "7.00\xE2\x80\x89ms");
    cr_expect_str_eq(holds.right, "10.0\xE2\x80\x89ms");
    cr_expect_str_eq(holds.margin, "30 % below");
    cr_expect_str_eq(holds.message, "because");
    cr_expect_eq(holds.line, 6);
    struct report_assertion fails = decide("one.tpot <= 5 ms");
    cr_expect(!fails.holds);
    cr_expect_str_eq(fails.margin, "40 % above");
    cr_expect_str_eq(decide("one.batch == 1").margin, "equal");
}

Test(result_report, an_assertion_on_fits_tells_the_room)
{
    /* 14e9 + 31 * 2147483648 = 80571993088 bytes against 80e9: 571993088 bytes are 545.5 MiB. */
    struct report_assertion fails = decide("full.fits");
    cr_expect(!fails.holds);
    cr_expect_str_eq(fails.margin, "short by 545\xE2\x80\x89MiB");
    cr_expect(decide("four.fits").holds);
}

Test(result_report, an_assertion_on_what_does_not_exist_fails_with_the_reason)
{
    struct report_assertion fails = decide("four.critical_batch < 100");
    cr_expect(!fails.holds);
    cr_expect_str_eq(fails.why, "no batch is compute-bound at this context");
}

/* ---- sweeps ----------------------------------------------------------------------------------------------
 */

Test(result_report, a_sweep_evaluates_every_point)
{
    struct result_fixture fixture =
        result_open(BASE "sweep four { batch = 1, 8, 30, 31, 64  tp = 1, 3\n show tpot, memory.total }\n");
    cr_assert(diags_errors(fixture.diags) == 0, "%s", diags_get(fixture.diags, 0)->message);
    struct sweep_result sweep;
    sweep_evaluate(fixture.evaluator, &plan_view(fixture.plan)->sweeps.items[0], &sweep);
    cr_assert_eq(sweep.count, 10);
    /* Two attributes, the second one fastest; batch 8: (14e9 + 8 * 2147483648) / 2e12 s. */
    cr_expect_float_eq(sweep.points[2].shown[0].value, (14e9 + 8 * 2147483648.0) / 2e12, 1e-12);
    cr_expect_eq(sweep.points[2].shown[1].value, 14e9 + 8 * 2147483648.0);
    cr_expect(sweep.points[4].fits);
    cr_expect(!sweep.points[6].fits);
    cr_expect_eq(sweep.max_fitting, 30);
    cr_expect_str_eq(sweep_value_text(fixture.evaluator, &sweep.sweep->axes[0], 2), "30");
    /* Three GPUs cannot share 32 heads: a reason at the point, no error of the plan. */
    cr_expect_eq(sweep.points[3].shown[0].type, QUANTITY_ABSENT);
    cr_expect(strstr(sweep.points[3].shown[0].text, "does not divide") != NULL);
    cr_expect_eq(diags_errors(fixture.diags), 0);
    result_close(&fixture);
}

/* ---- comparisons
 * ------------------------------------------------------------------------------------------- */

static const struct compared_row *find_row(const struct compared *compared, enum quantity quantity)
{
    for (size_t i = 0; i < compared->row_count; i++)
        if (compared->rows[i].row->id == quantity)
            return &compared->rows[i];
    cr_assert(false, "no row %s", quantity_info(quantity)->name);
    return NULL;
}

Test(result_report, a_comparison_knows_better_from_worse)
{
    struct result_fixture fixture = result_open(BASE "compare one, four, full\n");
    struct compared compared;
    compare_evaluate(fixture.evaluator, &plan_view(fixture.plan)->comparisons.items[0], &compared);
    const struct compared_row *tpot = find_row(&compared, Q_TPOT);
    cr_expect_float_eq(tpot->cells[1].difference, 2147483648.0 / 14e9, 1e-12);
    cr_expect_eq(tpot->cells[1].change, CHANGE_WORSE);
    cr_expect(tpot->cells[0].best && !tpot->cells[1].best && !tpot->cells[2].best);
    const struct compared_row *throughput = find_row(&compared, Q_THROUGHPUT);
    cr_expect_eq(throughput->cells[2].change, CHANGE_BETTER);
    cr_expect(throughput->cells[2].best);
    const struct compared_row *fits = find_row(&compared, Q_FITS);
    cr_expect_eq(fits->cells[1].change, CHANGE_SAME);
    cr_expect_eq(fits->cells[2].change, CHANGE_WORSE);
    cr_expect(fits->cells[0].best && fits->cells[1].best && !fits->cells[2].best);
    const struct compared_row *gpus = find_row(&compared, Q_GPUS);
    cr_expect(!gpus->cells[0].best, "all are equally good");
    for (size_t i = 0; i < compared.row_count; i++)
        cr_expect_neq(compared.rows[i].row->id, Q_COST_PER_MTOK, "no price is declared");
    result_close(&fixture);
}

/* ---- measurements
 * -------------------------------------------------------------------------------------------- */

Test(result_report, measurements_stand_beside_expected_and_ceiling)
{
    struct result_fixture fixture =
        result_open(BASE "scenario real : one { engine = typical }\n"
                         "measured real { tpot = 10 ms  throughput = 150 tokens/s  source = \"a test\" }\n");
    struct measured_result measured;
    measured_evaluate(fixture.evaluator, &plan_view(fixture.plan)->measurements.items[0], &measured);
    cr_assert_eq(measured.count, 2);
    cr_expect_str_eq(measured.source, "a test");
    cr_expect_float_eq(measured.rows[0].ceiling, 0.007, 1e-12);
    cr_expect_float_eq(measured.rows[0].ceiling_ratio, 10.0 / 7, 1e-9);
    cr_expect(measured.rows[0].has_expected && measured.rows[0].inside_band);
    cr_expect_float_eq(measured.rows[0].ratio * measured.rows[0].expected, 0.010, 1e-12);
    /* At most 1 / 7 ms = 142.86 tokens/s. */
    cr_expect(!measured.rows[0].beyond_ceiling && measured.rows[1].beyond_ceiling);
    cr_expect_eq(result_count(&fixture, DIAG_W0608), 1);
    result_close(&fixture);
}

Test(result_report, a_request_cannot_be_shorter_than_its_users_prefills)
{
    /* A prefill of 1000 tokens takes at least 2 * 7e9 * 1000 / 312e12 = 45 ms; sixteen of them 718 ms, and 10
     * decode steps at 7 ms more are computed in 7 ms. Each figure alone is above its own limit. */
    struct result_fixture fixture = result_open(
        BASE "scenario loop { model = bare  gpu = card  prompt = 1000  output = 10  batch = 16 }\n"
             "measured loop { ttft = 100 ms  tpot = 20 ms }\n");
    cr_expect_eq(result_count(&fixture, DIAG_W0608), 1);
    result_close(&fixture);
    fixture = result_open(
        BASE "scenario loop { model = bare  gpu = card  prompt = 1000  output = 10  batch = 16 }\n"
             "measured loop { ttft = 700 ms  tpot = 20 ms }\n");
    cr_expect_eq(result_count(&fixture, DIAG_W0608), 0);
    result_close(&fixture);
}

Test(result_report, prices_in_two_currencies_are_not_compared)
{
    struct result_fixture fixture = result_open(BASE "scenario a : one { price = 1 usd/h }\n"
                                                     "scenario b : one { price = 1 eur/h }\n"
                                                     "compare a, b\n");
    struct compared compared;
    compare_evaluate(fixture.evaluator, &plan_view(fixture.plan)->comparisons.items[0], &compared);
    const struct compared_row *cost = find_row(&compared, Q_COST_PER_MTOK);
    cr_expect_eq(cost->cells[1].quantity.type, QUANTITY_ABSENT);
    cr_expect(!cost->cells[1].has_difference && !cost->cells[0].best);
    result_close(&fixture);
}

/* ---- the list of quantities
 * ------------------------------------------------------------------------------------ */

static const struct report_quantity *find(const struct report *report, const char *name)
{
    for (size_t i = 0; i < report->quantities.count; i++)
        if (strcmp(report->quantities.items[i].name, name) == 0)
            return &report->quantities.items[i];
    cr_assert(false, "no quantity %s", name);
    return NULL;
}

Test(result_report, every_declaration_in_use_is_listed_once)
{
    struct result_fixture fixture = result_open(BASE);
    struct report report = {0};
    evaluate_report_quantities(fixture.evaluator, &report);
    cr_expect_eq(report.scenarios.count, 3);
    cr_expect_eq(report.models.count, 1);
    cr_expect_eq(report.gpus.count, 1);
    cr_expect_float_eq(find(&report, "four.ceiling.tpot")->value, 0.008073741824, 1e-15);
    cr_expect_str_eq(find(&report, "four.ceiling.tpot")->unit, "s");
    cr_expect_eq(find(&report, "four.fits")->type, QUANTITY_BOOL);
    cr_expect_str_eq(find(&report, "four.decode.bound")->text, "bandwidth (weights)");
    cr_expect_eq(find(&report, "card.balance")->value, 156);
    cr_expect_str_eq(find(&report, "card.balance")->unit, "FLOP/B");
    const struct report_quantity *absent = find(&report, "four.critical_batch");
    cr_expect_eq(absent->type, QUANTITY_ABSENT);
    cr_expect_str_eq(absent->text, "no batch is compute-bound at this context");
    for (size_t i = 0; i < report.quantities.count; i++) {
        const struct report_quantity *quantity = &report.quantities.items[i];
        cr_expect(quantity->type != QUANTITY_NUMBER || isfinite(quantity->value), "%s", quantity->name);
        cr_expect(quantity->type != QUANTITY_ABSENT || (quantity->text && *quantity->text), "%s",
                  quantity->name);
        for (size_t j = 0; j < i; j++)
            cr_assert_str_neq(quantity->name, report.quantities.items[j].name);
    }
    result_close(&fixture);
}

Test(result_report, names_are_quoted_where_they_must_be)
{
    struct result_fixture fixture = result_open(BASE);
    cr_expect_str_eq(quantity_full_name(fixture.arena, "llama-3.1-70b", "params"), "llama-3.1-70b.params");
    cr_expect_str_eq(quantity_full_name(fixture.arena, "Qwen/Qwen3-32B", "params"),
                     "\"Qwen/Qwen3-32B\".params");
    cr_expect_str_eq(quantity_full_name(fixture.arena, "3b", "params"), "\"3b\".params");
    cr_expect_str_eq(quantity_full_name(fixture.arena, "a-", "params"), "\"a-\".params");
    cr_expect_str_eq(quantity_full_name(fixture.arena, "if", "params"), "\"if\".params");
    cr_expect_str_eq(quantity_full_name(fixture.arena, "a\"b\\c", "params"), "\"a\\\"b\\\\c\".params");
    result_close(&fixture);
}

Test(result_report, a_misspelt_quantity_gets_a_suggestion)
{
    cr_expect_str_eq(quantity_suggest(QUANTITY_OF_SCENARIO, "tpto"), "tpot");
    cr_expect_str_eq(quantity_suggest(QUANTITY_OF_SCENARIO, "tpot.hihg"), "tpot.high");
    cr_expect_str_eq(quantity_suggest(QUANTITY_OF_SCENARIO, "decode.intensty"), "decode.intensity");
    cr_expect_str_eq(quantity_suggest(QUANTITY_OF_GPU, "balace"), "balance");
    cr_expect(quantity_suggest(QUANTITY_OF_SCENARIO, "colour") == NULL);
}

Test(result_report, assumptions_name_every_default)
{
    struct result_fixture fixture =
        result_open(BASE "scenario plain { model = bare  gpu = card  context = 1 }\n");
    const struct evaluation *evaluation =
        evaluate_scenario(fixture.evaluator, plan_find(fixture.plan, KIND_SCENARIO, "plain"));
    struct assumption *list;
    size_t count = evaluation_assumptions(fixture.evaluator, evaluation, &list);
    static const char *const expected[] = {"engine",   "utilization", "overhead", "page",   "batch",
                                           "prompt",   "weights",     "kv_cache", "params", "kv_heads",
                                           "head_dim", "peak.bf16",   "band"};
    cr_assert_eq(count, sizeof expected / sizeof expected[0]);
    for (size_t i = 0; i < count; i++) {
        cr_expect_str_eq(list[i].what, expected[i]);
        cr_expect(list[i].value && list[i].reason);
    }
    result_close(&fixture);
}
