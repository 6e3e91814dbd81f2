/* build_measured.c: what was seen beside what was expected and what is possible. */
#include <math.h>

#include "base/arena.h"
#include "result/build_internal.h"
#include "result/measured.h"

#define EN_DASH "\xE2\x80\x93"

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
}

void build_measured(struct builder *builder)
{
    size_t count = builder->view->measurements.count;
    if (count == 0)
        return;
    struct report_section *section =
        add_section(builder, "measured", words(builder, M_MEASURED_HEADING), false);
    for (size_t i = 0; i < count; i++)
        say_measured(builder, section, &builder->measured[i]);
    struct report_table *table = add_table(builder, section, words(builder, M_MEASURED_AGAINST));
    add_column(builder, table, words(builder, M_SCENARIO), ALIGN_LEFT, NULL);
    add_column(builder, table, words(builder, M_FIGURE), ALIGN_LEFT, NULL);
    add_column(builder, table, words(builder, M_MEASURED_HEADING), ALIGN_RIGHT, NULL);
    add_column(builder, table, words(builder, M_EXPECTED_HEADING), ALIGN_RIGHT, NULL);
    add_column(builder, table, words(builder, M_BAND_HEADING), ALIGN_RIGHT, NULL);
    add_column(builder, table, words(builder, M_LIMIT_HEADING), ALIGN_RIGHT, NULL);
    add_column(builder, table, words(builder, M_MEASURED_TO_EXPECTED), ALIGN_RIGHT, NULL);
    add_column(builder, table, words(builder, M_MEASURED_TO_LIMIT), ALIGN_RIGHT, NULL);
    add_column(builder, table, words(builder, M_JUDGEMENT), ALIGN_LEFT, NULL);
    for (size_t i = 0; i < count; i++) {
        const struct measured_result *result = &builder->measured[i];
        for (size_t j = 0; j < result->count; j++)
            add_measured_row(builder, table, result->measurement->scenario->name, &result->rows[j]);
    }
}
