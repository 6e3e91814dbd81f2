/* diff_sections.c: what a diff tells about thresholds, assertions and inputs. */
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "result/diff_internal.h"
#include "sema/unit.h"

enum { ROWS_MAX = 200, NAMES_MAX = 4 };

static void say_more(struct builder *builder, struct report_section *section, size_t shown, size_t count,
                     const char *what)
{
    if (count > shown)
        rich_addf(builder->arena, add_paragraph(builder, section), TONE_MUTED, "%zu more %s are not shown.",
                  count - shown, what);
}

/* ---- thresholds ----------------------------------------------------------------------------------- */

static const char *note_of(struct builder *builder, const struct report_assertion *made)
{
    const char *detail = made->why ? made->why : made->margin;
    if (made->message && detail)
        return arena_printf(builder->arena, "%s: %s", made->message, detail);
    return made->message ? made->message : detail ? detail : "";
}

void diff_thresholds_section(struct builder *builder, const struct diff *diff)
{
    if (diff->thresholds.count == 0)
        return;
    struct report_section *section = add_section(builder, "thresholds", "Thresholds", diff->exceeded == 0);
    struct report_table *table = add_table(builder, section, NULL);
    add_column(builder, table, "Threshold", ALIGN_LEFT, NULL);
    add_column(builder, table, "", ALIGN_LEFT, NULL);
    add_column(builder, table, "Is", ALIGN_RIGHT, NULL);
    add_column(builder, table, "Limit", ALIGN_RIGHT, NULL);
    add_column(builder, table, "Note", ALIGN_LEFT, NULL);
    size_t shown = 0;
    for (int failing = 1; failing >= 0; failing--)
        for (size_t i = 0; i < diff->thresholds.count && shown < ROWS_MAX; i++) {
            const struct report_assertion *made = &diff->thresholds.items[i];
            if (made->holds == (failing != 0))
                continue;
            struct report_row *row = add_row(builder, table);
            add_cell(builder, row, TONE_PLAIN, made->text);
            add_cell(builder, row,
                     !made->holds ? TONE_BAD
                     : made->why  ? TONE_WARN
                                  : TONE_GOOD,
                     made->holds ? (made->why ? "not decided" : "holds") : "exceeded " DOWN);
            add_cell(builder, row, TONE_PLAIN, made->left ? made->left : "");
            add_cell(builder, row, TONE_PLAIN, made->right ? made->right : "");
            add_cell(builder, row, TONE_PLAIN, note_of(builder, made));
            shown++;
        }
    say_more(builder, section, shown, diff->thresholds.count, "thresholds");
}

/* ---- assertions ----------------------------------------------------------------------------------- */

static void say_assertion(struct builder *builder, struct rich_text *out, const struct diff_assertion *change)
{
    struct arena *arena = builder->arena;
    const struct report_assertion *made = change->new ? change->new : change->old;
    if (change->old && change->new)
        rich_add(arena, out, made->holds ? TONE_GOOD : TONE_BAD,
                 made->holds ? "holds again: " : "no longer holds: ");
    else if (change->new)
        rich_add(arena, out, made->holds ? TONE_PLAIN : TONE_BAD, made->holds ? "new: " : "new, and fails: ");
    else
        rich_add(arena, out, TONE_PLAIN, "removed: ");
    rich_add(arena, out, TONE_NAME, made->text);
    if (made->message)
        rich_addf(arena, out, TONE_PLAIN, ", %s", made->message);
    if (!change->new)
        return;
    if (made->why)
        rich_addf(arena, out, TONE_MUTED, " (%s)", made->why);
    else if (made->left && made->right)
        rich_addf(arena, out, TONE_MUTED, " (%s against %s)", made->left, made->right);
}

void diff_assertions_section(struct builder *builder, const struct diff *diff)
{
    if (diff->assertions.count == 0)
        return;
    struct report_section *section = add_section(builder, "assertions", "Assertions", false);
    struct report_block *list = add_block(builder, section, BLOCK_LIST);
    size_t shown = 0;
    for (; shown < diff->assertions.count && shown < ROWS_MAX; shown++)
        say_assertion(builder, VEC_PUSH(builder->arena, list->list.items), &diff->assertions.items[shown]);
    say_more(builder, section, shown, diff->assertions.count, "assertions");
}

/* ---- inputs ----------------------------------------------------------------------------------------- */

static const char *value_text(struct builder *builder, const struct report_attribute *attribute)
{
    if (!attribute)
        return "not set";
    const struct report_quantity *value = &attribute->value;
    if (value->type != QUANTITY_NUMBER)
        return value->type == QUANTITY_ABSENT ? value->text : word_text(value);
    struct dim dim = report_unit_dim(value->unit);
    return exact_text(builder, value->value, unit_for_print(dim, value->value, UNIT_STYLE_DECIMAL));
}

static const char *place_text(struct builder *builder, const struct diff_input *input)
{
    const struct report_attribute *from = input->new ? input->new : input->old;
    const char *was = input->new ? "" : "was at ";
    if (!from->file)
        return from->origin ? from->origin : "";
    if (strcmp(from->file, "--set") == 0)
        return "--set";
    return from->line ? arena_printf(builder->arena, "%s%s:%u", was, from->file, from->line) : from->file;
}

static const char *scenarios_text(struct builder *builder, const struct diff *diff,
                                  const struct diff_input *input)
{
    struct buffer out = buffer_in(builder->arena);
    if (input->scenarios.count == diff->kept && diff->kept > NAMES_MAX)
        return "all scenarios";
    for (size_t i = 0; i < input->scenarios.count && i < NAMES_MAX; i++)
        buffer_printf(&out, "%s%s", i ? ", " : "", input->scenarios.items[i]);
    if (input->scenarios.count > NAMES_MAX)
        buffer_printf(&out, " and %zu more", input->scenarios.count - NAMES_MAX);
    return buffer_string(&out);
}

void diff_inputs_section(struct builder *builder, const struct diff *diff)
{
    if (diff->inputs.count == 0 && diff->inputs_known)
        return;
    struct report_section *section = add_section(builder, "inputs", "Changed inputs", true);
    if (!diff->inputs_known) {
        rich_add(builder->arena, add_paragraph(builder, section), TONE_MUTED,
                 "A report of an earlier version does not list its inputs, so they are not compared.");
        return;
    }
    struct report_table *table = add_table(builder, section, NULL);
    add_column(builder, table, "Input", ALIGN_LEFT, NULL);
    add_column(builder, table, "Old", ALIGN_RIGHT, NULL);
    add_column(builder, table, "New", ALIGN_RIGHT, NULL);
    add_column(builder, table, "Where", ALIGN_LEFT, NULL);
    add_column(builder, table, "Scenarios", ALIGN_LEFT, NULL);
    size_t shown = 0;
    for (; shown < diff->inputs.count && shown < ROWS_MAX; shown++) {
        const struct diff_input *input = &diff->inputs.items[shown];
        struct report_row *row = add_row(builder, table);
        const char *owner = strcmp(input->kind, "scenario") == 0 ? NULL : input->of ? input->of : input->kind;
        add_cell(builder, row, TONE_PLAIN,
                 owner ? arena_printf(builder->arena, "%s.%s", owner, input->attribute) : input->attribute);
        add_cell(builder, row, TONE_PLAIN, value_text(builder, input->old));
        add_cell(builder, row, TONE_PLAIN, value_text(builder, input->new));
        add_cell(builder, row, TONE_MUTED, place_text(builder, input));
        add_cell(builder, row, TONE_PLAIN, scenarios_text(builder, diff, input));
    }
    say_more(builder, section, shown, diff->inputs.count, "inputs");
}
