/* build_compare.c: scenarios against the first, figure by figure. */
#include <math.h>

#include "base/arena.h"
#include "result/build_internal.h"
#include "result/compare.h"

static struct print_unit row_unit(const struct compared *compared, const struct compared_row *row)
{
    struct extent extent = {0, 0};
    for (size_t j = 0; j < compared->comparison->count; j++)
        if (row->cells[j].quantity.type == QUANTITY_NUMBER)
            extent_add(&extent, row->cells[j].quantity.value);
    return column_unit(row->row, row->dim, extent_middle(&extent));
}

/* "+12 %", "−0.04 %": with a sign, so that "less than" would be no word for it. */
static const char *difference_text(struct builder *builder, double difference)
{
    char text[NUMBER_TEXT_MAX];
    const char *sign = difference < 0 ? MINUS : "+";
    if (fabs(difference) >= 0.0005)
        return arena_printf(builder->arena, "%s%s", sign, percent_text(builder, difference));
    number_significant(text, 100 * fabs(difference), 1);
    return arena_printf(builder->arena, "%s%s\xE2\x80\x89%%", sign, text);
}

static void add_difference(struct builder *builder, struct report_cell *cell,
                           const struct compared_cell *compared)
{
    enum tone tone = change_tone(compared->change, TONE_MUTED);
    const char *mark = change_mark(compared->change);
    if (compared->change == CHANGE_SAME) {
        rich_add(builder->arena, &cell->text, TONE_MUTED, " =");
        return;
    }
    if (compared->change == CHANGE_NONE)
        return;
    if (compared->has_difference && compared->difference >= 9)
        rich_addf(builder->arena, &cell->text, tone, " \xC3\x97%s%s",
                  unit_number(builder->arena, 1 + compared->difference, (struct print_unit){"", 1}, 3), mark);
    else if (compared->has_difference)
        rich_addf(builder->arena, &cell->text, tone, " %s%s", difference_text(builder, compared->difference),
                  mark);
    else
        rich_add(builder->arena, &cell->text, tone, mark);
}

/* A table in the making: what its cells share. */
struct comparing {
    struct builder *builder;
    struct report_table *table;
    const struct compared *compared;
    struct reasons reasons;
};

static const char *scenario_name(const struct comparing *comparing, size_t scenario)
{
    return comparing->compared->comparison->scenarios[scenario]->name;
}

static void add_compared(struct comparing *comparing, struct report_row *row,
                         const struct compared_row *figure, size_t scenario, struct print_unit unit)
{
    struct builder *builder = comparing->builder;
    const struct compared_cell *compared = &figure->cells[scenario];
    const struct report_quantity *quantity = &compared->quantity;
    struct report_cell *cell = NULL;
    switch (quantity->type) {
    case QUANTITY_NUMBER: cell = add_number(builder, row, quantity->value, unit); break;
    case QUANTITY_BOOL:
        cell = add_cell(builder, row, quantity->boolean ? TONE_GOOD : TONE_BAD,
                        words(builder, quantity->boolean ? M_YES : M_NO));
        break;
    case QUANTITY_TEXT: cell = add_cell(builder, row, TONE_PLAIN, phrase(builder, quantity->text)); break;
    case QUANTITY_ABSENT:
        add_cell(builder, row, TONE_MUTED, EN_DASH);
        add_reason(builder, &comparing->reasons, scenario_name(comparing, scenario),
                   phrase(builder, quantity->text));
        return;
    }
    add_difference(builder, cell, compared);
    cell->best = compared->best;
}

static void figures_as_rows(struct comparing *comparing)
{
    struct builder *builder = comparing->builder;
    const struct compared *compared = comparing->compared;
    add_column(builder, comparing->table, words(builder, M_FIGURE), ALIGN_LEFT, NULL);
    for (size_t j = 0; j < compared->comparison->count; j++)
        add_column(builder, comparing->table, scenario_name(comparing, j), ALIGN_RIGHT, NULL);
    for (size_t i = 0; i < compared->row_count; i++) {
        const struct compared_row *each = &compared->rows[i];
        struct print_unit unit = row_unit(compared, each);
        struct report_row *row = add_row(builder, comparing->table);
        add_cell(builder, row, TONE_PLAIN, with_unit(builder, label_of(builder, each->row), unit));
        for (size_t j = 0; j < compared->comparison->count; j++)
            add_compared(comparing, row, each, j, unit);
    }
}

static void scenarios_as_rows(struct comparing *comparing)
{
    struct builder *builder = comparing->builder;
    const struct compared *compared = comparing->compared;
    struct print_unit *units = ARENA_ARRAY(builder->arena, struct print_unit, compared->row_count);
    add_column(builder, comparing->table, words(builder, M_SCENARIO), ALIGN_LEFT, NULL);
    for (size_t i = 0; i < compared->row_count; i++) {
        const struct compared_row *each = &compared->rows[i];
        units[i] = row_unit(compared, each);
        add_column(builder, comparing->table, with_unit(builder, label_of(builder, each->row), units[i]),
                   ALIGN_RIGHT, each->row->name);
    }
    for (size_t j = 0; j < compared->comparison->count; j++) {
        struct report_row *row = add_row(builder, comparing->table);
        add_cell(builder, row, TONE_NAME, scenario_name(comparing, j));
        for (size_t i = 0; i < compared->row_count; i++)
            add_compared(comparing, row, &compared->rows[i], j, units[i]);
    }
}

static void add_comparison(struct builder *builder, struct report_section *section,
                           const struct comparison *comparison)
{
    struct compared compared;
    compare_evaluate(builder->evaluator, comparison, &compared);
    struct comparing comparing = {.builder = builder, .compared = &compared};
    comparing.table =
        add_table(builder, section, WORDS(builder, M_AGAINST, comparison->scenarios[0]->name, UP, DOWN));
    if (comparison->count <= COLUMNS_MAX)
        figures_as_rows(&comparing);
    else
        scenarios_as_rows(&comparing);
    add_reasons(builder, section, &comparing.reasons);
}

void build_compare(struct builder *builder)
{
    if (builder->view->comparisons.count == 0)
        return;
    struct report_section *section = add_section(builder, "compare", words(builder, M_COMPARISON), false);
    for (size_t i = 0; i < builder->view->comparisons.count; i++)
        add_comparison(builder, section, &builder->view->comparisons.items[i]);
}
