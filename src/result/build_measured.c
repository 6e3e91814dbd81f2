/* build_measured.c: what was seen beside what was expected and what is possible. */
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "result/build_internal.h"
#include "result/measured.h"

static void add_optional(struct builder *builder, struct report_row *row, bool exists, double value,
                         struct print_unit unit)
{
    if (exists)
        add_number(builder, row, value, unit);
    else
        add_cell(builder, row, TONE_MUTED, EN_DASH);
}

static void add_judgement(struct builder *builder, struct report_row *row,
                          const struct measured_row *measured)
{
    if (measured->beyond_ceiling)
        add_cell(builder, row, TONE_BAD, words(builder, M_BEYOND_POSSIBLE));
    else if (!measured->has_expected)
        add_cell(builder, row, TONE_MUTED, EN_DASH);
    else if (measured->inside_band)
        add_cell(builder, row, TONE_GOOD, words(builder, M_AS_EXPECTED));
    else if (measured->measured > measured->high)
        add_cell(builder, row, TONE_WARN, words(builder, M_ABOVE_BAND));
    else
        add_cell(builder, row, TONE_WARN, words(builder, M_BELOW_BAND));
}

static void add_ratio(struct builder *builder, struct report_row *row, bool exists, double ratio)
{
    static const struct print_unit bare = {"", 1};
    if (exists)
        add_number(builder, row, ratio, bare);
    else
        add_cell(builder, row, TONE_MUTED, EN_DASH);
}

static void add_measured_row(struct builder *builder, struct report_table *table, const char *scenario,
                             const struct measured_row *measured)
{
    double largest = fmax(measured->measured, measured->has_expected ? measured->high : 0);
    struct print_unit unit = column_unit(measured->row, measured->dim, largest);
    struct report_row *row = add_row(builder, table);
    add_cell(builder, row, TONE_NAME, scenario);
    add_cell(builder, row, TONE_PLAIN, with_unit(builder, label_of(builder, measured->row), unit));
    add_number(builder, row, measured->measured, unit);
    add_optional(builder, row, measured->has_expected, measured->expected, unit);
    if (measured->has_expected && measured->low < measured->high)
        add_cell(builder, row, TONE_MUTED,
                 WORDS(builder, M_FROM_TO, unit_number(builder->arena, measured->low, unit, 3),
                       unit_number(builder->arena, measured->high, unit, 3)));
    else
        add_cell(builder, row, TONE_MUTED, EN_DASH);
    add_optional(builder, row, measured->has_ceiling, measured->ceiling, unit);
    add_ratio(builder, row, measured->has_expected, measured->ratio);
    add_ratio(builder, row, measured->has_ceiling, measured->ceiling_ratio);
    add_judgement(builder, row, measured);
}

/* "today: time per token measured 31.0 ms, 12 % above the 27.6 ms expected." */
static void say_measured(struct builder *builder, struct report_section *section,
                         const struct measured_result *result)
{
    if (result->count == 0)
        return;
    const struct measured_row *row = &result->rows[0];
    struct rich_text *text = add_paragraph(builder, section);
    const char *name = result->measurement->scenario->name, *label = label_within(builder, row->row);
    const char *seen = figure_text(builder, row->row, row->measured, row->dim);
    double off = row->has_expected ? row->ratio - 1 : 0;
    if (!row->has_expected)
        SAY(builder, text, TONE_PLAIN, M_MEASURED_ALONE, name, label, seen);
    else if (fabs(off) < 0.005)
        SAY(builder, text, TONE_PLAIN, M_MEASURED_AS_EXPECTED, name, label, seen);
    else
        SAY(builder, text, TONE_PLAIN, off > 0 ? M_MEASURED_ABOVE : M_MEASURED_BELOW, name, label, seen,
            percent_text(builder, off), figure_text(builder, row->row, row->expected, row->dim));
    if (result->source != NULL)
        SAY(builder, text, TONE_MUTED, M_BRACKETED, result->source);
    say(builder, text, TONE_PLAIN, M_FULL_STOP);
    say_gap(builder, result, text);
}

/* ---- many measurements -------------------------------------------------------------------------------- */

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* "2 005 runs: the expected time per token is off by 7.4 % ...". */
static void say_overall(struct builder *builder, struct report_section *section, enum quantity quantity)
{
    size_t measurements = builder->view->measurements.count, count = 0, inside = 0;
    double *errors = ARENA_ARRAY(builder->arena, double, measurements), sum = 0;
    const struct quantity_info *info = quantity_info(quantity);
    for (size_t i = 0; i < measurements; i++)
        for (size_t j = 0; j < builder->measured[i].count && count < measurements; j++) {
            const struct measured_row *row = &builder->measured[i].rows[j];
            if (row->row != info || !row->has_expected)
                continue;
            errors[count] = fabs(1 / row->ratio - 1);
            sum += errors[count++];
            inside += row->inside_band;
        }
    if (count == 0)
        return;
    qsort(errors, count, sizeof *errors, by_value);
    double median = (errors[(count - 1) / 2] + errors[count / 2]) / 2;
    SAY(builder, add_paragraph(builder, section), TONE_PLAIN, M_MEASURED_OVERALL,
        count_text(builder, (double)count), label_within(builder, info), percent_text(builder, median),
        percent_text(builder, sum / (double)count), count_text(builder, (double)inside));
}

/* How far the first figure is from what was expected; what is impossible comes first. */
static double farness(const struct measured_result *result)
{
    const struct measured_row *row = &result->rows[0];
    if (result->count == 0)
        return -1;
    return row->beyond_ceiling ? HUGE_VAL : row->has_expected ? fabs(log(row->ratio)) : 0;
}

/* At most DRAWN_MAX: all, or those farthest off, as they stand in the plan. */
static size_t choose(const struct builder *builder, const struct measured_result **out)
{
    size_t count = builder->view->measurements.count, kept = 0;
    for (size_t i = 0; i < count; i++) {
        const struct measured_result *result = &builder->measured[i];
        if (kept < DRAWN_MAX) {
            out[kept++] = result;
            continue;
        }
        size_t least = 0;
        for (size_t j = 1; j < kept; j++)
            least = farness(out[j]) < farness(out[least]) ? j : least;
        if (farness(result) <= farness(out[least]))
            continue;
        for (size_t j = least; j + 1 < kept; j++)
            out[j] = out[j + 1];
        out[kept - 1] = result;
    }
    return kept;
}

static void say_many(struct builder *builder, struct report_section *section)
{
    static const enum quantity quantities[] = {Q_TPOT, Q_SPEED, Q_TTFT, Q_THROUGHPUT};
    for (size_t i = 0; i < sizeof quantities / sizeof quantities[0]; i++)
        say_overall(builder, section, quantities[i]);
    SAY(builder, add_paragraph(builder, section), TONE_MUTED, M_MEASURED_FARTHEST,
        count_text(builder, DRAWN_MAX));
}

static void add_comparison(struct builder *builder, struct report_section *section,
                           const struct measured_result *const *results, size_t count)
{
    static const struct {
        enum message heading;
        enum align align;
    } columns[] = {
        {M_SCENARIO, ALIGN_LEFT},
        {M_FIGURE, ALIGN_LEFT},
        {M_MEASURED_HEADING, ALIGN_RIGHT},
        {M_EXPECTED_HEADING, ALIGN_RIGHT},
        {M_BAND_HEADING, ALIGN_RIGHT},
        {M_LIMIT_HEADING, ALIGN_RIGHT},
        {M_MEASURED_TO_EXPECTED, ALIGN_RIGHT},
        {M_MEASURED_TO_LIMIT, ALIGN_RIGHT},
        {M_JUDGEMENT, ALIGN_LEFT},
    };
    struct report_table *table = add_table(builder, section, words(builder, M_MEASURED_AGAINST));
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        add_column(builder, table, words(builder, columns[i].heading), columns[i].align, NULL);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < results[i]->count; j++)
            add_measured_row(builder, table, results[i]->measurement->scenario->name, &results[i]->rows[j]);
}

void build_measured(struct builder *builder)
{
    if (builder->view->measurements.count == 0)
        return;
    const struct measured_result *results[DRAWN_MAX];
    size_t count = choose(builder, results);
    struct report_section *section =
        add_section(builder, "measured", words(builder, M_MEASURED_HEADING), false);
    if (count < builder->view->measurements.count)
        say_many(builder, section);
    for (size_t i = 0; i < count; i++)
        say_measured(builder, section, results[i]);
    add_comparison(builder, section, results, count);
    build_gaps(builder, section, results, count);
}
