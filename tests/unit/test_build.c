/* test_build.c: what the report says, for cases whose figures are worked out by hand.
 *
 * The case is the textbook one: 7e9 parameters in 16 bits (14 GB), 32 blocks of width 4096, so the cache
 * takes 2 * 32 * 4096 * 2 B = 524288 B per token, 2 GiB for 4096 tokens; one card of 80 GB, 2 TB/s and
 * 312 TFLOPS; the `ideal` engine, where expected and ceiling are the same. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/intern.h"
#include "result/build.h"
#include "result/evaluate.h"
#include "sema/plan.h"
#include "source/diag.h"
#include "source/source.h"

#define THIN    "\xE2\x80\x89"
#define AT_MOST "\xE2\x89\xA4"
#define MINUS   "\xE2\x88\x92"

static struct arena *arena;

static void setup(void)
{
    arena = arena_new();
}

static void teardown(void)
{
    arena_free(arena);
}

TestSuite(build, .init = setup, .fini = teardown);

#define TEXTBOOK                                                                                             \
    "gpu card { memory = 80 GB  bandwidth = 2 TB/s  peak.fp16 = 312 TFLOPS }\n"                              \
    "model small { params = 7e9  layers = 32  hidden = 4096  heads = 32 }\n"                                 \
    "scenario chat { gpu = card  model = small  engine = ideal  weights = fp16  kv_cache = fp16\n"           \
    "  context = 4096  batch = 1 }\n"

static const struct report *build(const char *text)
{
    struct diags *diags = diags_new(arena);
    struct plan *plan = plan_load_text(arena, strings_new(arena), sources_new(arena), diags, "test.perf",
                                       text, strlen(text), (struct plan_options){0});
    struct evaluator *evaluator = evaluator_new(plan);
    plan_check(plan);
    evaluate_all(evaluator);
    for (size_t i = 0; i < diags_count(diags); i++)
        cr_assert_eq(diag_info(diags_get(diags, i)->code)->severity, DIAG_WARNING, "%s",
                     diags_get(diags, i)->message);
    return report_build(evaluator, (struct report_options){.quantities = true});
}

static const char *plain(const struct rich_text *text)
{
    struct buffer out = buffer_in(arena);
    for (size_t i = 0; i < text->runs.count; i++)
        buffer_text(&out, text->runs.items[i].text);
    return buffer_string(&out);
}

static const struct report_section *section(const struct report *report, const char *id)
{
    for (size_t i = 0; i < report->sections.count; i++)
        if (strcmp(report->sections.items[i].id, id) == 0)
            return &report->sections.items[i];
    return NULL;
}

/* The block number `index` of a kind in a section. */
static const struct report_block *block(const struct report *report, const char *id, enum block_kind kind,
                                        size_t index)
{
    const struct report_section *found = section(report, id);
    cr_assert_not_null(found, "no section %s", id);
    for (size_t i = 0; i < found->blocks.count; i++)
        if (found->blocks.items[i].kind == kind && index-- == 0)
            return &found->blocks.items[i];
    cr_assert_fail("no such block in %s", id);
    return NULL;
}

static const struct key_card *card(const struct report *report, size_t index)
{
    return &block(report, "key", BLOCK_CARDS, 0)->cards.cards.items[index];
}

static const struct key_figure *figure(const struct key_card *of, const char *quantity)
{
    for (size_t i = 0; i < of->figures.count; i++)
        if (strcmp(of->figures.items[i].quantity, quantity) == 0)
            return &of->figures.items[i];
    cr_assert_fail("no figure %s", quantity);
    return NULL;
}

static const char *cell(const struct report_table *table, size_t row, size_t column)
{
    return plain(&table->rows.items[row].cells.items[column].text);
}

/* ---- sentences ------------------------------------------------------------------------------ */

Test(build, the_verdict_of_one_scenario)
{
    /* (14e9 + 2147483648) B / 2e12 B/s = 8.0737 ms */
    const struct report *report = build(TEXTBOOK);
    cr_assert_str_eq(plain(&report->verdict), "chat decodes one sequence at 8.07" THIN "ms per token.");
    cr_assert_eq(report->verdict_tone, TONE_PLAIN);
}

Test(build, the_verdict_counts_assertions)
{
    const struct report *report = build(TEXTBOOK "assert chat.fits\nassert chat.tpot <= 8 ms\n");
    cr_assert_str_eq(plain(&report->verdict),
                     "1 of 2 assertions holds; chat decodes one sequence at 8.07" THIN "ms per token.");
    cr_assert_eq(report->verdict_tone, TONE_BAD);
    report = build(TEXTBOOK "assert chat.fits\nassert chat.tpot <= 9 ms\n");
    cr_assert_eq(strncmp(plain(&report->verdict), "All 2 assertions hold; ", 23), 0);
    cr_assert_eq(report->verdict_tone, TONE_GOOD);
}

Test(build, the_verdict_compares)
{
    /* int8 weights: 7e9 + 2147483648 B, 4.5737 ms; 4.5737 / 8.0737 = 0.5665, 43 % less */
    const struct report *report =
        build(TEXTBOOK "scenario half : chat { weights = int8 }\ncompare chat, half\n");
    cr_assert_str_eq(plain(&report->verdict),
                     "half decodes one sequence at 4.57" THIN "ms per token (43" THIN "% less than chat).");
}

Test(build, a_plan_without_scenarios_says_so)
{
    const struct report *report = build("gpu card { memory = 80 GB  bandwidth = 2 TB/s }\n");
    cr_assert_str_eq(plain(&report->verdict), "The plan declares no scenario.");
    cr_assert_null(section(report, "key"));
    cr_assert_not_null(section(report, "plan"));
}

Test(build, what_bounds_decode)
{
    const struct report *report = build(TEXTBOOK);
    cr_assert_str_eq(plain(&card(report, 0)->advice), "Decode is bound by reading weights: 14.0" THIN
                                                      "GB of the 16.1" THIN "GB moved per token.");
}

Test(build, what_other_users_take_is_said_when_there_are_others)
{
    /* A prompt of 512 tokens is 7.2e12 FLOP, 23.2 ms at the peak and more in practice, a tenth of which falls
     * on each of 10 output tokens: more than a tenth of the time per token, which is 7 ms and a few launches.
     */
    const struct report *report = build(TEXTBOOK "scenario two { gpu = card  model = small  weights = fp16\n"
                                                 "  prompt = 512  output = 10  batch = 2 }\n"
                                                 "scenario alone : two { batch = 1 }\n");
    const char *advice = plain(&card(report, 1)->advice);
    cr_assert_not_null(strstr(advice, "pass while prompts of other users are read."), "%s", advice);
    cr_assert_null(strstr(plain(&card(report, 2)->advice), "other users"));
}

Test(build, what_would_make_it_fit)
{
    /* 14e9 + 32 * 2^31 = 82719476736 B, 2719476736 B = 2.53 GiB above 80e9. Left for the cache: 66e9 B, which
     * is 30.7 sequences, or 66e9 / 32 / 524288 = 3933.9 tokens for each of 32. Halving the cache or the
     * weights saves 34 GB or 7 GB, and both are enough; two cards halve everything. 4096 / 3933 is a smaller
     * factor than 32 / 30, and that than 2. */
    const struct report *report = build(TEXTBOOK "scenario many : chat { batch = 32 }\n");
    const struct key_card *many = card(report, 1);
    cr_assert_eq(many->tone, TONE_BAD);
    cr_assert_str_eq(figure(many, "many.fits")->value, "does not fit");
    cr_assert_str_eq(figure(many, "many.fits")->detail, "short by 2.53" THIN "GiB");
    static const char expected[] = "Short by 2.53" THIN "GiB. It fits with context " AT_MOST " 3" THIN
                                   "933" THIN "tokens, the smallest change, or batch " AT_MOST
                                   " 30, or an 8-bit KV cache, or 8-bit weights, or tp = 2.";
    const char *advice = plain(&many->advice);
    cr_assert_eq(strncmp(advice, expected, strlen(expected)), 0, "%s", advice);
}

static bool fits(const char *change)
{
    const struct report *report = build(arena_printf(arena,
                                                     TEXTBOOK "scenario many : chat { batch = 32 }\n"
                                                              "scenario changed : many { %s }\n",
                                                     change));
    return card(report, 2)->tone != TONE_BAD;
}

/* What is offered fits, and the next smaller change does not. */
Test(build, offers_are_the_smallest_that_help)
{
    static const struct {
        const char *enough, *less;
    } offers[] = {
        {"context = 3933", "context = 3934"},
        {"batch = 30", "batch = 31"},
        {"kv_cache = fp8", "kv_cache = fp16"},
        {"weights = fp8", "weights = fp16"},
        {"tp = 2", "tp = 1"},
    };
    for (size_t i = 0; i < sizeof offers / sizeof offers[0]; i++) {
        cr_expect(fits(offers[i].enough), "%s", offers[i].enough);
        cr_expect_not(fits(offers[i].less), "%s", offers[i].less);
    }
}

Test(build, groups_of_a_node_stand_in_stages)
{
    /* 900e9 parameters of 16 bits over the 8 GPUs of a node: 2 stages of 16 of 32 blocks leave 112.5e9 B to
     * each, 3 of at most 11 leave 77.3e9 B. That is 24 GPUs; groups of 4 would take 7 stages, 28 GPUs. */
    const struct report *report = build(TEXTBOOK "model large : small { params = 9e11 }\n"
                                                 "scenario staged : chat { model = large  context = 1 }\n");
    const char *advice = plain(&card(report, 1)->advice);
    cr_assert_not_null(strstr(advice, "tp = 8 and pp = 3"), "%s", advice);
}

Test(build, no_offer_is_made_that_does_not_help)
{
    /* 700 GB of cache on top of 1.4 TB of weights: nothing but many cards helps, and not 64 of them with one
     * user more per card than memory holds. */
    const struct report *report = build(TEXTBOOK "model huge : small { params = 7e14 }\n"
                                                 "scenario never : chat { model = huge }\n");
    const char *advice = plain(&card(report, 1)->advice);
    cr_assert_not_null(strstr(advice, "No change of batch"), "%s", advice);
    cr_assert_null(strstr(advice, "It fits with"));
}

/* ---- key figures ---------------------------------------------------------------------------- */

Test(build, a_card_has_the_figures_people_look_for)
{
    const struct report *report = build(TEXTBOOK);
    const struct key_card *chat = card(report, 0);
    cr_assert_str_eq(chat->subtitle, "small fp16 on card, batch 1, context 4" THIN "096, engine ideal");
    cr_assert_str_eq(figure(chat, "chat.fits")->value, "fits");
    /* 80e9 - 16147483648 B = 63852516352 B = 59.47 GiB; 80e9 B = 74.51 GiB */
    cr_assert_str_eq(figure(chat, "chat.fits")->detail, "59.5" THIN "GiB free");
    cr_assert_str_eq(figure(chat, "chat.fits")->limit, "15.0 of 74.5" THIN "GiB usable");
    cr_assert_str_eq(figure(chat, "chat.speed")->value, "124" THIN "tok/s");
    cr_assert_str_eq(figure(chat, "chat.tpot")->value, "8.07" THIN "ms");
    cr_assert_str_eq(figure(chat, "chat.tpot")->limit, "limit 8.07" THIN "ms");
    cr_assert_null(figure(chat, "chat.tpot")->detail, "the ideal engine has no band");
    cr_assert_str_eq(figure(chat, "chat.decode.bound")->value, "bandwidth (weights)");
    cr_assert_eq(figure(chat, "chat.ttft")->tone, TONE_MUTED);
    cr_assert_not_null(figure(chat, "chat.ttft")->detail, "the reason");
}

Test(build, a_case_is_named_by_the_format_that_most_of_the_model_has)
{
    /* gpt-oss-20b: 19.1 of its 20.9 billion parameters are experts, in mxfp4, and the rest in bf16. */
    const struct report *report =
        build("scenario a { model = gpt-oss-20b  gpu = h100-sxm  batch = 1  context = 4096 }\n"
              "scenario b { model = llama-3.1-8b  gpu = h100-sxm  batch = 1  context = 4096 }");
    cr_assert_str_eq(card(report, 0)->subtitle,
                     "gpt-oss-20b mxfp4 on h100-sxm, batch 1, context 4" THIN "096");
    cr_assert_str_eq(card(report, 1)->subtitle,
                     "llama-3.1-8b bf16 on h100-sxm, batch 1, context 4" THIN "096");
}

Test(build, an_expected_value_has_its_band)
{
    /* `typical`: 0.84 to 1.21 of the expected value, or wider on a card without measurements. */
    const struct report *report = build(TEXTBOOK "scenario real : chat { engine = typical }\n");
    const struct key_figure *tpot = figure(card(report, 1), "real.tpot");
    cr_assert_not_null(tpot->detail);
    cr_assert_not_null(strstr(tpot->detail, " to "));
    cr_assert_str_eq(tpot->limit, "limit 8.07" THIN "ms");
}

static const char *many_scenarios(size_t count)
{
    struct buffer text = buffer_in(arena);
    buffer_text(&text, TEXTBOOK);
    for (size_t i = 1; i < count; i++)
        buffer_printf(&text, "scenario s%zu : chat { batch = %zu }\n", i, i);
    return buffer_string(&text);
}

Test(build, many_scenarios_are_drawn_in_part_and_listed_in_full)
{
    const struct report *report = build(many_scenarios(40));
    cr_assert_eq(block(report, "key", BLOCK_CARDS, 0)->cards.cards.count, 24);
    cr_assert_eq(block(report, "key", BLOCK_TABLE, 0)->table.rows.count, 40);
    cr_assert_eq(block(report, "memory", BLOCK_CHART, 0)->chart.bars.bars.count, 24);
    cr_assert_eq(block(report, "roofline", BLOCK_CHART, 0)->chart.roofline.points.count, 24);
    cr_assert_eq(report->scenarios.count, 40);
    cr_assert_str_eq(
        plain(&block(report, "memory", BLOCK_PARAGRAPH, 0)->paragraph),
        "Only the first 24 of 40 scenarios are shown here; the JSON report has the figures of all.");
}

/* ---- charts --------------------------------------------------------------------------------- */

Test(build, points_stand_on_the_roof)
{
    /* Intensity is exactly 1 FLOP/B (16-bit multi-head cache), so the roof there is 1 * 2e12. A prompt of 512
     * tokens is compute-bound: its limit is the peak. */
    const struct report *report = build(TEXTBOOK "scenario reading : chat { prompt = 512 }\n");
    const struct roofline_chart *chart = &block(report, "roofline", BLOCK_CHART, 0)->chart.roofline;
    cr_assert_eq(chart->devices.count, 1);
    cr_assert_str_eq(chart->devices.items[0].label, "card 2.00" THIN "TB/s");
    cr_assert_eq(chart->devices.items[0].roofs.count, 1);
    cr_assert_eq(chart->devices.items[0].roofs.items[0].peak, 312e12);
    cr_assert_eq(chart->points.count, 3);
    cr_assert_float_eq(chart->points.items[0].intensity, 1, 1e-12);
    cr_assert_float_eq(chart->points.items[0].ceiling / 2e12, 1, 1e-12);
    cr_assert_float_eq(chart->points.items[0].expected / 2e12, 1, 1e-12);
    cr_assert_eq(chart->points.items[2].phase, SERIES_PREFILL);
    cr_assert_float_eq(chart->points.items[2].ceiling / 312e12, 1, 1e-12);
}

Test(build, parts_add_up_to_the_total)
{
    const struct report *report = build(TEXTBOOK "scenario real : chat { engine = typical  batch = 8 }\n");
    static const char *const ids[] = {"memory", "time"};
    for (size_t k = 0; k < 2; k++) {
        const struct bar_chart *chart = &block(report, ids[k], BLOCK_CHART, 0)->chart.bars;
        const struct report_table *table = &block(report, ids[k], BLOCK_TABLE, 0)->table;
        size_t total = 0;
        while (!table->rows.items[total].total)
            total++;
        cr_assert_eq(chart->bars.count, 2);
        for (size_t i = 0; i < chart->bars.count; i++) {
            double drawn = 0, listed = 0;
            for (size_t j = 0; j < chart->bars.items[i].parts.count; j++)
                drawn += chart->bars.items[i].parts.items[j].value;
            for (size_t j = 0; j < total; j++)
                listed += table->rows.items[j].cells.items[i + 1].value;
            double sum = table->rows.items[total].cells.items[i + 1].value;
            cr_assert_gt(sum, 0);
            cr_assert_float_eq(drawn / sum, 1, 1e-9, "%s bar %zu", ids[k], i);
            cr_assert_float_eq(listed / sum, 1, 1e-9, "%s bar %zu", ids[k], i);
        }
    }
    /* chat: 14e9 B + 2 GiB = 15.04 GiB of 74.51 GiB */
    const struct bar *bar = &block(report, "memory", BLOCK_CHART, 0)->chart.bars.bars.items[0];
    cr_assert_str_eq(bar->total_text, "15.0" THIN "GiB");
    cr_assert_str_eq(bar->limit_text, "usable 74.5" THIN "GiB");
    cr_assert_eq(bar->limit, 80e9);
}

Test(build, a_sweep_marks_where_memory_is_full)
{
    /* 30 sequences fit and 31 do not: (80e9 - 14e9) / 2^31 = 30.7 */
    const struct report *report = build(TEXTBOOK "sweep chat { batch = 1, 16, 29, 31, 32  show tpot }\n");
    const struct line_chart *chart = &block(report, "sweeps", BLOCK_CHART, 0)->chart.lines;
    cr_assert_eq(chart->series.count, 1);
    cr_assert_eq(chart->series.items[0].points.count, 5);
    static const bool fits[] = {true, true, true, false, false};
    for (size_t i = 0; i < 5; i++)
        cr_assert_eq(chart->series.items[0].points.items[i].fits, fits[i]);
    cr_assert_float_eq(chart->series.items[0].points.items[0].y, 0.008073741824, 1e-12);
    cr_assert(chart->x_log);
    cr_assert_eq(chart->x_limit, 30);
    cr_assert_str_eq(chart->x_limit_text, "memory is full");
    const struct report_table *table = &block(report, "sweeps", BLOCK_TABLE, 0)->table;
    cr_assert_eq(table->rows.count, 5);
    cr_assert_str_eq(table->columns.items[1].quantity, "tpot");
    cr_assert_str_eq(cell(table, 0, 0), "1");
    cr_assert_str_eq(cell(table, 0, 2), "yes");
    cr_assert_str_eq(cell(table, 4, 2), "does not fit");
}

/* 14e9 B of weights are as much as 26 702.9 tokens of 2^19 B. At a context of one token a sequence computes
 * (14e9 + 2^19) FLOP / 312e12 = 44.873 us and reads 2^19 B / 2e12 = 0.262 us, the weights take 7 ms: 7 /
 * 0.044611 is 156.9 sequences. */
Test(build, a_sweep_marks_its_knee)
{
    const struct report *report = build(TEXTBOOK "scenario short : chat { context = 1 }\n"
                                                 "sweep chat { context = 1000, 8000, 64000  show tpot }\n"
                                                 "sweep short { batch = 1, 16, 256  show tpot }\n"
                                                 "sweep short { batch = 1, 16, 157  show tpot }\n"
                                                 "sweep chat { tp = 1, 2  show tpot }\n");
    const struct line_chart *chart = &block(report, "sweeps", BLOCK_CHART, 0)->chart.lines;
    cr_assert_float_eq(chart->x_knee, 14e9 / 524288, 1e-6);
    cr_assert_str_eq(chart->x_knee_text, "cache outweighs weights from 26" THIN "703");
    chart = &block(report, "sweeps", BLOCK_CHART, 1)->chart.lines;
    cr_assert_eq(chart->x_knee, 157);
    cr_assert_str_eq(chart->x_knee_text, "compute-bound from 157");
    cr_assert_eq(block(report, "sweeps", BLOCK_CHART, 2)->chart.lines.x_knee, 0, "nothing follows it");
    cr_assert_eq(block(report, "sweeps", BLOCK_CHART, 3)->chart.lines.x_knee, 0);
}

/* A thousandfold range is told in the unit of its smallest value: 1 to 1 000 000 tokens, not 1e-06 to 1 Mtok.
 */
Test(build, a_wide_axis_has_a_small_unit)
{
    const struct report *report = build(TEXTBOOK "sweep chat { context = 1, 1000, 1000000  show tpot }\n"
                                                 "sweep chat { context = 1000, 8000  show tpot }\n");
    cr_assert_eq(block(report, "sweeps", BLOCK_CHART, 0)->chart.lines.x_scale, 1);
}

Test(build, a_sweep_shows_what_fits_once)
{
    const struct report *report = build(TEXTBOOK "sweep chat { batch = 1, 32  show tpot, fits }\n");
    const struct report_table *table = &block(report, "sweeps", BLOCK_TABLE, 0)->table;
    cr_assert_eq(table->columns.count, 3);
    cr_assert_str_eq(cell(table, 0, 2), "yes");
    cr_assert_str_eq(cell(table, 1, 2), "no");
}

Test(build, an_impossible_point_says_why_and_breaks_the_line)
{
    /* 32 heads do not divide by 3. */
    const struct report *report = build(TEXTBOOK "sweep chat { tp = 1, 2, 3, 4  show tpot, fits }\n");
    const struct line_chart *chart = &block(report, "sweeps", BLOCK_CHART, 0)->chart.lines;
    cr_assert(chart->series.items[0].points.items[1].valid);
    cr_assert_not(chart->series.items[0].points.items[2].valid);
    const struct report_table *table = &block(report, "sweeps", BLOCK_TABLE, 0)->table;
    cr_assert_not_null(strstr(cell(table, 2, 3), "32"), "%s", cell(table, 2, 3));
}

Test(build, a_wide_column_takes_the_unit_of_its_middle)
{
    /* 8.07 ms and 1000 times as much: sqrt(8.07e-3 * 8.07) s = 0.26 s, so milliseconds. */
    const struct report *report =
        build(TEXTBOOK "gpu slow : card { bandwidth = 2 GB/s }\n"
                       "scenario crawl : chat { gpu = slow }\ncompare chat, crawl\n");
    const struct report_table *table = &block(report, "time", BLOCK_TABLE, 0)->table;
    cr_assert_str_eq(table->columns.items[0].heading, "Part (ms)");
    cr_assert_str_eq(cell(table, table->rows.count - 1, 1), "8.07");
    cr_assert_str_eq(cell(table, table->rows.count - 1, 2), "8" THIN "070");
}

/* ---- comparison and measurements ------------------------------------------------------------ */

static const struct report_row *row_labelled(const struct report_table *table, const char *start)
{
    for (size_t i = 0; i < table->rows.count; i++)
        if (strncmp(cell(table, i, 0), start, strlen(start)) == 0)
            return &table->rows.items[i];
    cr_assert_fail("no row %s", start);
    return NULL;
}

Test(build, a_comparison_says_better_or_worse)
{
    const struct report *report =
        build(TEXTBOOK "scenario half : chat { weights = int8 }\ncompare chat, half\n");
    const struct report_row *row =
        row_labelled(&block(report, "compare", BLOCK_TABLE, 0)->table, "Time per token");
    cr_assert_str_eq(plain(&row->cells.items[0].text), "Time per token (ms)");
    cr_assert_str_eq(plain(&row->cells.items[1].text), "8.07");
    cr_assert_str_eq(plain(&row->cells.items[2].text), "4.57 " MINUS "43" THIN "% \xE2\x96\xB2");
    cr_assert(row->cells.items[2].best);
    cr_assert_not(row->cells.items[1].best);
}

Test(build, a_measurement_is_set_against_expected_and_limit)
{
    /* 10 ms against 8.0737 ms: 1.2386, 24 % above */
    const struct report *report =
        build(TEXTBOOK "measured chat { tpot = 10 ms  source = \"a load test\" }\n");
    cr_assert_str_eq(plain(&block(report, "measured", BLOCK_PARAGRAPH, 0)->paragraph),
                     "chat: time per token measured 10.0" THIN "ms, 24" THIN "% above the 8.07" THIN
                     "ms expected (a load test).");
    const struct report_table *table = &block(report, "measured", BLOCK_TABLE, 0)->table;
    cr_assert_str_eq(cell(table, 0, 2), "10.0");
    cr_assert_str_eq(cell(table, 0, 6), "1.24");
}

/* ---- order ---------------------------------------------------------------------------------- */

Test(build, sections_come_in_the_order_the_plan_asks_for)
{
    const struct report *report =
        build(TEXTBOOK "report { title = \"A title\"  sections = plan, key, plan }\n");
    cr_assert_str_eq(report->title, "A title");
    cr_assert_eq(report->sections.count, 2);
    cr_assert_str_eq(report->sections.items[0].id, "plan");
    cr_assert_str_eq(report->sections.items[1].id, "key");
}

Test(build, all_sections_by_default)
{
    static const char *const order[] = {"key",         "roofline",    "time",    "memory", "sensitivity",
                                        "derivations", "assumptions", "sources", "plan",   "warnings"};
    const struct report *report = build(TEXTBOOK);
    cr_assert_eq(report->sections.count, sizeof order / sizeof order[0]);
    for (size_t i = 0; i < report->sections.count; i++)
        cr_assert_str_eq(report->sections.items[i].id, order[i]);
}

Test(build, every_row_has_a_cell_for_every_column)
{
    const struct report *report =
        build(TEXTBOOK "scenario half : chat { weights = int8  prompt = 100 }\n"
                       "compare chat, half\n"
                       "sweep half { batch = 1, 64  weights = fp16, int8  show tpot }\n"
                       "measured half { tpot = 10 ms  ttft = 1 s }\n");
    size_t tables = 0;
    for (size_t i = 0; i < report->sections.count; i++) {
        const struct report_section *each = &report->sections.items[i];
        for (size_t j = 0; j < each->blocks.count; j++) {
            if (each->blocks.items[j].kind != BLOCK_TABLE)
                continue;
            const struct report_table *table = &each->blocks.items[j].table;
            tables++;
            for (size_t k = 0; k < table->rows.count; k++)
                cr_assert_eq(table->rows.items[k].cells.count, table->columns.count, "%s, row %zu", each->id,
                             k);
        }
    }
    cr_assert_geq(tables, 8);
}
