/* build_table.c: sections, blocks and tables, and the one form that figures of scenarios take. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "result/build_internal.h"

/* ---- blocks --------------------------------------------------------------------------------- */

struct report_section *add_section(struct builder *builder, const char *id, const char *title, bool folded)
{
    struct report_section *section = VEC_PUSH(builder->arena, builder->report->sections);
    section->id = id;
    section->title = title;
    section->folded = folded;
    return section;
}

struct report_block *add_block(struct builder *builder, struct report_section *section, enum block_kind kind)
{
    struct report_block *block = VEC_PUSH(builder->arena, section->blocks);
    block->kind = kind;
    return block;
}

struct rich_text *add_paragraph(struct builder *builder, struct report_section *section)
{
    return &add_block(builder, section, BLOCK_PARAGRAPH)->paragraph;
}

struct report_table *add_table(struct builder *builder, struct report_section *section, const char *caption)
{
    struct report_table *table = &add_block(builder, section, BLOCK_TABLE)->table;
    table->caption = caption;
    return table;
}

struct report_chart *add_chart(struct builder *builder, struct report_section *section, enum chart_kind kind,
                               const char *id, const char *title)
{
    struct report_chart *chart = &add_block(builder, section, BLOCK_CHART)->chart;
    chart->kind = kind;
    chart->id = id;
    chart->title = title;
    return chart;
}

void add_column(struct builder *builder, struct report_table *table, const char *heading, enum align align,
                const char *quantity)
{
    *VEC_PUSH(builder->arena, table->columns) = (struct report_column){heading, align, quantity};
}

struct report_row *add_row(struct builder *builder, struct report_table *table)
{
    return VEC_PUSH(builder->arena, table->rows);
}

struct report_cell *add_cell(struct builder *builder, struct report_row *row, enum tone tone,
                             const char *text)
{
    struct report_cell *cell = VEC_PUSH(builder->arena, row->cells);
    rich_add(builder->arena, &cell->text, tone, text);
    return cell;
}

struct report_cell *add_number(struct builder *builder, struct report_row *row, double value,
                               struct print_unit unit)
{
    struct report_cell *cell =
        add_cell(builder, row, TONE_PLAIN, unit_number(builder->arena, value, unit, 3));
    cell->value = value;
    cell->has_value = true;
    return cell;
}

size_t drawn(const struct builder *builder, const struct evaluation **out)
{
    size_t count = 0;
    for (size_t i = 0; i < builder->count && count < DRAWN_MAX; i++)
        if (builder->scenarios[i]->valid)
            out[count++] = builder->scenarios[i];
    return count;
}

void say_what_is_drawn(struct builder *builder, struct report_section *section)
{
    if (builder->valid <= DRAWN_MAX)
        return;
    SAY(builder, add_paragraph(builder, section), TONE_MUTED, M_ONLY_FIRST_SHOWN,
        count_text(builder, DRAWN_MAX), count_text(builder, (double)builder->valid));
}

struct print_unit scenarios_unit(struct builder *builder, enum quantity quantity)
{
    struct extent extent = {0, 0};
    struct dim dim = dim_none();
    for (size_t i = 0; i < builder->count; i++) {
        if (!builder->scenarios[i]->valid)
            continue;
        struct decl *scenario = builder->scenarios[i]->scenario;
        struct report_quantity value = evaluate_row(builder->evaluator, scenario, quantity);
        if (value.type != QUANTITY_NUMBER)
            continue;
        if (extent.high == 0)
            dim = evaluate_dim(builder->evaluator, scenario, quantity);
        extent_add(&extent, value.value);
    }
    return column_unit(quantity_info(quantity), dim, extent_middle(&extent));
}

enum { REASONS_MAX = 100 };

void add_reason(struct builder *builder, struct reasons *reasons, const char *of, const char *reason)
{
    const char *key = arena_printf(builder->arena, "%s: %s", of, reason);
    if (reasons->keys.count == REASONS_MAX)
        return;
    for (size_t i = 0; i < reasons->keys.count; i++)
        if (strcmp(reasons->keys.items[i], key) == 0)
            return;
    *VEC_PUSH(builder->arena, reasons->keys) = key;
    struct rich_text *text = VEC_PUSH(builder->arena, reasons->items);
    SAY(builder, text, TONE_MUTED, M_REASON_OF, of, reason);
}

void add_reasons(struct builder *builder, struct report_section *section, const struct reasons *reasons)
{
    if (reasons->items.count == 0)
        return;
    struct report_block *list = add_block(builder, section, BLOCK_LIST);
    for (size_t i = 0; i < reasons->items.count; i++)
        *VEC_PUSH(builder->arena, list->list.items) = reasons->items.items[i];
}

/* ---- matrices ------------------------------------------------------------------------------- */

static const char *column_quantity(struct builder *builder, const struct evaluation *evaluation,
                                   const struct matrix_row *row)
{
    return row->quantity == NULL ? NULL : quantity_name(builder, evaluation->scenario, row->quantity);
}

static void scenarios_as_columns(struct builder *builder, struct report_table *table,
                                 const struct evaluation *const *scenarios, size_t count,
                                 const struct matrix_row *rows, size_t row_count, struct print_unit unit)
{
    add_column(builder, table, with_unit(builder, words(builder, M_PART), unit), ALIGN_LEFT, NULL);
    for (size_t j = 0; j < count; j++)
        add_column(builder, table, scenarios[j]->scenario->name, ALIGN_RIGHT, NULL);
    for (size_t i = 0; i < row_count; i++) {
        struct report_row *row = add_row(builder, table);
        row->total = rows[i].total;
        add_cell(builder, row, TONE_PLAIN, rows[i].label);
        for (size_t j = 0; j < count; j++)
            add_number(builder, row, rows[i].values[j], unit);
    }
}

static void scenarios_as_rows(struct builder *builder, struct report_table *table,
                              const struct evaluation *const *scenarios, size_t count,
                              const struct matrix_row *rows, size_t row_count, struct print_unit unit)
{
    add_column(builder, table, words(builder, M_SCENARIO), ALIGN_LEFT, NULL);
    for (size_t i = 0; i < row_count; i++)
        add_column(builder, table, with_unit(builder, rows[i].label, unit), ALIGN_RIGHT,
                   column_quantity(builder, scenarios[0], &rows[i]));
    for (size_t j = 0; j < count; j++) {
        struct report_row *row = add_row(builder, table);
        add_cell(builder, row, TONE_NAME, scenarios[j]->scenario->name);
        for (size_t i = 0; i < row_count; i++)
            add_number(builder, row, rows[i].values[j], unit);
    }
}

void add_matrix(struct builder *builder, struct report_section *section, const char *caption,
                const struct evaluation *const *scenarios, size_t count, const struct matrix_row *rows,
                size_t row_count, struct print_unit unit)
{
    struct report_table *table = add_table(builder, section, caption);
    if (count <= COLUMNS_MAX)
        scenarios_as_columns(builder, table, scenarios, count, rows, row_count, unit);
    else
        scenarios_as_rows(builder, table, scenarios, count, rows, row_count, unit);
}
