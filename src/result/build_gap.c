/* build_gap.c: the time between the limit and what was measured, as bars, as tables and in a sentence. */
#include <math.h>

#include "base/arena.h"
#include "result/build_internal.h"
#include "result/gap.h"
#include "result/impossible.h"
#include "result/measured.h"

static const struct {
    enum series_kind kind;
    enum message label;
} parts[GAP_TERMS] = {
    [GAP_LIMIT] = {SERIES_DECODE, M_GAP_LIMIT_PART},
    [GAP_ORDER] = {SERIES_ACTIVATIONS, M_GAP_ORDER_PART},
    [GAP_BANDWIDTH] = {SERIES_WEIGHTS, M_GAP_BANDWIDTH_PART},
    [GAP_KERNELS] = {SERIES_COMPUTE, M_GAP_KERNELS_PART},
    [GAP_ATTENTION] = {SERIES_KV, M_GAP_ATTENTION_PART},
    [GAP_COMMUNICATION] = {SERIES_COMMUNICATION, M_GAP_COMMUNICATION_PART},
    [GAP_LAUNCH] = {SERIES_FIXED, M_GAP_LAUNCH_PART},
    [GAP_HOST] = {SERIES_OVERHEAD, M_GAP_HOST_PART},
    [GAP_DRAFTS] = {SERIES_OTHER, M_GAP_DRAFTS_PART},
    [GAP_INTERFERENCE] = {SERIES_PREFILL, M_GAP_INTERFERENCE_PART},
    [GAP_PREFILL] = {SERIES_PREFILL, M_GAP_PREFILL_PART},
    [GAP_REQUEST] = {SERIES_OVERHEAD, M_GAP_REQUEST_PART},
    [GAP_STREAM] = {SERIES_FIXED, M_GAP_STREAM_PART},
    [GAP_WAVE] = {SERIES_COMPUTE, M_GAP_WAVE_PART},
    [GAP_QUEUE] = {SERIES_KV, M_GAP_QUEUE_PART},
    [GAP_REST] = {SERIES_SHORTFALL, M_GAP_REST_PART},
};

static const enum message coefficients[COEFFICIENT_COUNT] = {
    [COEFFICIENT_BANDWIDTH] = M_COEFFICIENT_BANDWIDTH, [COEFFICIENT_MEMORY] = M_COEFFICIENT_BANDWIDTH,
    [COEFFICIENT_DENSE] = M_COEFFICIENT_DENSE,         [COEFFICIENT_ATTENTION] = M_COEFFICIENT_ATTENTION,
    [COEFFICIENT_EXPERTS] = M_COEFFICIENT_EXPERTS,     [COEFFICIENT_OPERATION] = M_COEFFICIENT_OPERATION,
    [COEFFICIENT_SEQUENCE] = M_COEFFICIENT_SEQUENCE,   [COEFFICIENT_ALLREDUCE] = M_COEFFICIENT_ALLREDUCE,
    [COEFFICIENT_LINK] = M_COEFFICIENT_LINK,           [COEFFICIENT_REQUEST] = M_COEFFICIENT_REQUEST,
    [COEFFICIENT_STREAM] = M_COEFFICIENT_STREAM,       [COEFFICIENT_WAVE] = M_COEFFICIENT_WAVE,
};

static const struct {
    const char *id;
    enum message title;
} times[] = {
    [GAP_OF_TOKEN] = {"gap", M_GAP_TOKEN_TITLE},
    [GAP_OF_FIRST_TOKEN] = {"gap-first", M_GAP_FIRST_TITLE},
    [GAP_OF_REQUEST] = {"gap-request", M_GAP_REQUEST_TITLE},
};

/* Gaps of one kind of time, side by side. */
struct gaps {
    struct gap items[DRAWN_MAX];
    const struct evaluation *evaluations[DRAWN_MAX];
    size_t count;
};

static void collect(struct builder *builder, const struct measured_result *const *results, size_t count,
                    enum gap_time time, struct gaps *out)
{
    out->count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct evaluation *evaluation = evaluate_measured(builder->evaluator, results[i]->measurement);
        size_t before = out->count;
        for (size_t j = 0; j < results[i]->count && out->count == before && before < DRAWN_MAX; j++)
            if (gap_find(evaluation, &results[i]->rows[j], &out->items[before]) &&
                out->items[before].time == time)
                out->evaluations[out->count++] = evaluation;
    }
}

/* Smaller parts are left out: all others add up without them. */
static const double smallest_part = 5e-4;

static bool has_part(const struct gaps *gaps, enum gap_term term)
{
    for (size_t i = 0; i < gaps->count; i++)
        if (fabs(gaps->items[i].seconds[term]) > smallest_part * gaps->items[i].measured)
            return true;
    return false;
}

static void fill_bars(struct builder *builder, const struct gaps *gaps, struct print_unit unit,
                      struct bar_chart *chart)
{
    chart->unit = unit.text;
    chart->unit_scale = unit.scale;
    for (size_t i = 0; i < gaps->count; i++) {
        const struct gap *gap = &gaps->items[i];
        struct bar *bar = VEC_PUSH(builder->arena, chart->bars);
        bar->label = gaps->evaluations[i]->scenario->name;
        bar->total_text = unit_format(builder->arena, gap->measured, unit, 3);
        for (enum gap_term term = 0; term < GAP_TERMS; term++)
            if (gap->seconds[term] > smallest_part * gap->measured)
                *VEC_PUSH(builder->arena, bar->parts) =
                    (struct bar_part){parts[term].kind, words(builder, parts[term].label), gap->seconds[term],
                                      unit_format(builder->arena, gap->seconds[term], unit, 3)};
    }
}

static double *values_of(struct builder *builder, const struct gaps *gaps, enum gap_term term)
{
    double *values = ARENA_ARRAY(builder->arena, double, gaps->count);
    for (size_t i = 0; i < gaps->count; i++)
        values[i] = gaps->items[i].seconds[term];
    return values;
}

/* Limit and terms up to what is expected, then the rest and what was measured. */
static void add_parts(struct builder *builder, struct report_section *section, const struct gaps *gaps,
                      struct print_unit unit, const char *caption)
{
    struct matrix_row rows[GAP_TERMS + 2];
    size_t count = 0;
    double *expected = ARENA_ARRAY(builder->arena, double, gaps->count);
    double *measured = ARENA_ARRAY(builder->arena, double, gaps->count);
    for (size_t i = 0; i < gaps->count; i++) {
        expected[i] = gaps->items[i].expected;
        measured[i] = gaps->items[i].measured;
    }
    for (enum gap_term term = 0; term < GAP_REST; term++)
        if (has_part(gaps, term))
            rows[count++] = (struct matrix_row){words(builder, parts[term].label), NULL,
                                                values_of(builder, gaps, term), false};
    rows[count++] = (struct matrix_row){words(builder, M_GAP_EXPECTED_ROW), NULL, expected, true};
    rows[count++] = (struct matrix_row){words(builder, parts[GAP_REST].label), NULL,
                                        values_of(builder, gaps, GAP_REST), false};
    rows[count++] = (struct matrix_row){words(builder, M_GAP_MEASURED_ROW), NULL, measured, true};
    add_matrix(builder, section, caption, gaps->evaluations, gaps->count, rows, count, unit);
}

static void build_time_gap(struct builder *builder, struct report_section *section,
                           const struct measured_result *const *results, size_t count, enum gap_time time)
{
    static const struct dim dim = {{[DIM_TIME] = 1}};
    struct gaps gaps;
    struct extent extent = {0, 0};
    collect(builder, results, count, time, &gaps);
    if (gaps.count == 0)
        return;
    for (size_t i = 0; i < gaps.count; i++)
        extent_add(&extent, gaps.items[i].measured);
    struct print_unit unit = unit_for_print(dim, extent_middle(&extent), UNIT_STYLE_DECIMAL);
    const char *title = words(builder, times[time].title);
    struct report_chart *chart = add_chart(builder, section, CHART_BARS, times[time].id, title);
    chart->description = words(builder, M_GAP_CHART_TEXT);
    fill_bars(builder, &gaps, unit, &chart->bars);
    add_parts(builder, section, &gaps, unit, title);
}

void build_gaps(struct builder *builder, struct report_section *section,
                const struct measured_result *const *results, size_t count)
{
    for (size_t time = 0; time < sizeof times / sizeof times[0]; time++)
        build_time_gap(builder, section, results, count, (enum gap_time)time);
}

/* ---- in a sentence ---------------------------------------------------------------------------------- */

/* The two largest of the terms that lie above the limit. */
static void say_largest(struct builder *builder, const struct gap *gap, struct rich_text *text)
{
    enum gap_term first = GAP_ORDER, second = GAP_BANDWIDTH;
    double above = gap->measured - gap->seconds[GAP_LIMIT];
    for (enum gap_term term = GAP_ORDER; term < GAP_TERMS; term++) {
        if (gap->seconds[term] > gap->seconds[first]) {
            second = first;
            first = term;
        } else if (term != first && gap->seconds[term] > gap->seconds[second])
            second = term;
    }
    if (!(above > 0) || !(gap->seconds[second] > 0))
        return;
    SAY(builder, text, TONE_PLAIN, M_GAP_LARGEST, time_text(builder, above),
        percent_text(builder, gap->seconds[first] / above), words(builder, parts[first].label),
        percent_text(builder, gap->seconds[second] / above), words(builder, parts[second].label));
}

static const char *factor_text(struct builder *builder, double factor)
{
    static const struct print_unit bare = {"", 1};
    return unit_number(builder->arena, factor, bare, 3);
}

static void say_reasons(struct builder *builder, const struct evaluation *evaluation,
                        const struct measured_row *row, struct rich_text *text)
{
    struct gap_reason reasons[2];
    size_t count = gap_reasons(evaluation, row, reasons, 2);
    if (count == 0)
        say(builder, text, TONE_PLAIN, M_GAP_NO_REASON);
    else if (count == 1)
        SAY(builder, text, TONE_PLAIN, M_GAP_REASON, words(builder, coefficients[reasons[0].coefficient]),
            factor_text(builder, reasons[0].factor));
    else
        SAY(builder, text, TONE_PLAIN, M_GAP_TWO_REASONS,
            words(builder, coefficients[reasons[0].coefficient]), factor_text(builder, reasons[0].factor),
            words(builder, coefficients[reasons[1].coefficient]), factor_text(builder, reasons[1].factor));
}

/* Less than this share is no difference that asks for a reason. */
static const double small_difference = 0.02;

void say_gap(struct builder *builder, const struct measured_result *result, struct rich_text *text)
{
    struct gap gap;
    const struct measured_row *row = &result->rows[0];
    const struct evaluation *evaluation = evaluate_measured(builder->evaluator, result->measurement);
    if (row->beyond_ceiling) {
        const char *reasons[IMPOSSIBLE_REASONS];
        impossible_reasons(builder->arena, evaluation, row->row->id, row->measured, reasons);
        SAY(builder, text, TONE_WARN, M_MEASURED_IMPOSSIBLE,
            figure_text(builder, row->row, row->ceiling, row->dim), phrase(builder, reasons[0]));
        return;
    }
    if (!gap_find(evaluation, row, &gap))
        return;
    say_largest(builder, &gap, text);
    if (fabs(row->ratio - 1) > small_difference)
        say_reasons(builder, evaluation, row, text);
}

/* ---- for machines -------------------------------------------------------------------------------------- */

static void list_row(struct builder *builder, const struct measured_result *result,
                     const struct measured_row *row)
{
    struct gap gap;
    struct report_measurement *out = VEC_PUSH(builder->arena, builder->report->measurements);
    const struct evaluation *evaluation = evaluate_measured(builder->evaluator, result->measurement);
    *out = (struct report_measurement){
        .scenario = result->measurement->scenario->name,
        .quantity = row->row->name,
        .source = result->source,
        .unit = dim_si_unit(builder->arena, row->dim),
        .measured = row->measured,
        .has_expected = row->has_expected,
        .expected = row->expected,
        .low = row->low,
        .high = row->high,
        .has_ceiling = row->has_ceiling,
        .ceiling = row->ceiling,
        .possible = !row->beyond_ceiling,
        .inside = row->inside_band,
    };
    if (!gap_find(evaluation, row, &gap))
        return;
    for (enum gap_term term = 0; term < GAP_TERMS; term++)
        *VEC_PUSH(builder->arena, out->parts) = (struct report_gap_part){gap_word(term), gap.seconds[term]};
}

void list_measurements(struct builder *builder)
{
    for (size_t i = 0; i < builder->view->measurements.count; i++)
        for (size_t j = 0; j < builder->measured[i].count; j++)
            list_row(builder, &builder->measured[i], &builder->measured[i].rows[j]);
}
