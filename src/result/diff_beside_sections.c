/* diff_beside_sections.c: what a diff tells about sweeps, models and cards. */
#include "base/arena.h"
#include "base/buffer.h"
#include "result/diff_internal.h"

enum { POINT_ROWS_MAX = 40, DECLARATION_ROWS_MAX = 100 };

/* ---- sweeps --------------------------------------------------------------------------------------- */

/* "2 048 tokens", "fp8": a value as it stands on an axis. */
static const char *axis_text(struct builder *builder, const struct report_quantity *axis)
{
    if (axis->type != QUANTITY_NUMBER)
        return word_text(builder, axis);
    struct dim dim = report_unit_dim(axis->unit);
    return exact_text(builder->arena, axis->value, unit_for_print(dim, axis->value, UNIT_STYLE_DECIMAL));
}

/* "batch = 64, prompt = 2 048 tok". */
static const char *point_text(struct builder *builder, const struct report_sweep_point *point)
{
    struct buffer out = buffer_in(builder->arena);
    for (size_t i = 0; i < point->axes.count; i++)
        buffer_printf(&out, "%s%s = %s", i ? words(builder, M_LIST_COMMA) : "", point->axes.items[i].name,
                      axis_text(builder, &point->axes.items[i]));
    return buffer_string(&out);
}

/* "batch × prompt". */
static const char *axes_text(struct builder *builder, const struct report_sweep *sweep)
{
    struct buffer out = buffer_in(builder->arena);
    for (size_t i = 0; i < sweep->axes.count; i++)
        buffer_printf(&out, "%s%s", i ? " \xC3\x97 " : "", sweep->axes.items[i]);
    return buffer_string(&out);
}

static const char *number(struct builder *builder, size_t count)
{
    return count_text(builder, (double)count);
}

static void say_sweep(struct builder *builder, struct report_section *section, const struct diff_sweep *sweep)
{
    static const enum message patterns[] = {
        [DIFF_KEPT] = M_DIFF_SWEEP, [DIFF_NEW] = M_DIFF_SWEEP_NEW, [DIFF_REMOVED] = M_DIFF_SWEEP_REMOVED};
    struct rich_text *out = add_paragraph(builder, section);
    SAY(builder, out, TONE_PLAIN, patterns[sweep->state], sweep->sweep->scenario,
        axes_text(builder, sweep->sweep), number(builder, sweep->changed), number(builder, sweep->kept),
        number(builder, sweep->worse), number(builder, sweep->better));
    if (sweep->added > 0)
        SAY(builder, out, TONE_PLAIN, M_DIFF_POINTS_NEW, number(builder, sweep->added));
    if (sweep->removed > 0)
        SAY(builder, out, TONE_PLAIN, M_DIFF_POINTS_REMOVED, number(builder, sweep->removed));
}

static void add_points(struct builder *builder, struct report_section *section,
                       const struct diff_sweep *sweep)
{
    size_t rows = 0, figures = 0;
    struct report_table *table = NULL;
    for (size_t i = 0; i < sweep->points.count; i++)
        for (size_t j = 0; j < sweep->points.items[i].figures.count; j++) {
            const struct diff_point *point = &sweep->points.items[i];
            figures++;
            if (rows == POINT_ROWS_MAX)
                continue;
            if (!table) {
                table = add_table(builder, section, NULL);
                add_change_columns(builder, table, words(builder, M_DIFF_POINT));
            }
            add_change_row(builder, table, point_text(builder, point->point), &point->figures.items[j]);
            rows++;
        }
    if (figures > rows)
        SAY(builder, add_paragraph(builder, section), TONE_MUTED, M_DIFF_MORE_FIGURES,
            number(builder, figures - rows));
}

void diff_sweeps_section(struct builder *builder, const struct diff *diff)
{
    if (diff->sweeps.count == 0)
        return;
    struct report_section *section = add_section(builder, "sweeps", words(builder, M_SWEEPS), true);
    for (size_t i = 0; i < diff->sweeps.count; i++) {
        say_sweep(builder, section, &diff->sweeps.items[i]);
        add_points(builder, section, &diff->sweeps.items[i]);
    }
}

/* ---- models and cards ----------------------------------------------------------------------------- */

static void say_lone(struct builder *builder, struct rich_text *out,
                     const struct diff_declaration *declaration)
{
    SAY(builder, out, TONE_PLAIN,
        declaration->state == DIFF_NEW ? M_DIFF_DECLARATION_NEW : M_DIFF_DECLARATION_REMOVED,
        declaration->name);
}

void diff_declarations_section(struct builder *builder, const struct diff *diff)
{
    if (diff->declarations.count == 0)
        return;
    struct report_section *section =
        add_section(builder, "declarations", words(builder, M_DIFF_DECLARATIONS), true);
    struct report_block *list = NULL;
    struct report_table *table = NULL;
    size_t rows = 0, figures = 0;
    for (size_t i = 0; i < diff->declarations.count; i++) {
        const struct diff_declaration *declaration = &diff->declarations.items[i];
        if (declaration->state == DIFF_KEPT)
            continue;
        if (!list)
            list = add_block(builder, section, BLOCK_LIST);
        say_lone(builder, VEC_PUSH(builder->arena, list->list.items), declaration);
    }
    for (size_t i = 0; i < diff->declarations.count; i++)
        for (size_t j = 0; j < diff->declarations.items[i].figures.count; j++) {
            const struct diff_declaration *declaration = &diff->declarations.items[i];
            figures++;
            if (rows == DECLARATION_ROWS_MAX)
                continue;
            if (!table) {
                table = add_table(builder, section, NULL);
                add_change_columns(builder, table, words(builder, M_DIFF_DECLARATION));
            }
            add_change_row(builder, table, declaration->name, &declaration->figures.items[j]);
            rows++;
        }
    if (figures > rows)
        SAY(builder, add_paragraph(builder, section), TONE_MUTED, M_DIFF_MORE_FIGURES,
            number(builder, figures - rows));
}
