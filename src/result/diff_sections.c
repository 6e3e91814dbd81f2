/* diff_sections.c: what a diff tells about thresholds, assertions and inputs. */
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "result/diff_internal.h"
#include "sema/unit.h"

enum { ROWS_MAX = 200, NAMES_MAX = 4 };

static void say_more(struct builder *builder, struct report_section *section, size_t shown, size_t count,
                     enum message what)
{
    if (count > shown)
        SAY(builder, add_paragraph(builder, section), TONE_MUTED, what,
            arena_printf(builder->arena, "%zu", count - shown));
}

/* ---- thresholds ----------------------------------------------------------------------------------- */

static const char *note_of(struct builder *builder, const struct report_assertion *made)
{
    const char *detail = made->why ? phrase(builder, made->why) : made->margin;
    if (made->message && detail)
        return WORDS(builder, M_MESSAGE_AND_DETAIL, made->message, detail);
    return made->message ? made->message : detail ? detail : "";
}

void diff_thresholds_section(struct builder *builder, const struct diff *diff)
{
    if (diff->thresholds.count == 0)
        return;
    struct report_section *section =
        add_section(builder, "thresholds", words(builder, M_THRESHOLDS), diff->exceeded == 0);
    struct report_table *table = add_table(builder, section, NULL);
    add_column(builder, table, words(builder, M_THRESHOLD), ALIGN_LEFT, NULL);
    add_column(builder, table, "", ALIGN_LEFT, NULL);
    add_column(builder, table, words(builder, M_IS), ALIGN_RIGHT, NULL);
    add_column(builder, table, words(builder, M_LIMIT_OF_THRESHOLD), ALIGN_RIGHT, NULL);
    add_column(builder, table, words(builder, M_NOTE), ALIGN_LEFT, NULL);
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
                     made->holds ? words(builder, made->why ? M_NOT_DECIDED : M_HOLDS)
                                 : WORDS(builder, M_EXCEEDED, DOWN));
            add_cell(builder, row, TONE_PLAIN, made->left ? made->left : "");
            add_cell(builder, row, TONE_PLAIN, made->right ? made->right : "");
            add_cell(builder, row, TONE_PLAIN, note_of(builder, made));
            shown++;
        }
    say_more(builder, section, shown, diff->thresholds.count, M_MORE_THRESHOLDS);
}

/* ---- assertions ----------------------------------------------------------------------------------- */

static void say_assertion(struct builder *builder, struct rich_text *out, const struct diff_assertion *change)
{
    const struct report_assertion *made = change->new ? change->new : change->old;
    const char *text = made->text;
    if (change->old && change->new)
        SAY(builder, out, TONE_PLAIN, made->holds ? M_ASSERTION_HOLDS_AGAIN : M_ASSERTION_HOLDS_NO_MORE,
            text);
    else if (change->new)
        SAY(builder, out, TONE_PLAIN, made->holds ? M_ASSERTION_IS_NEW : M_ASSERTION_IS_NEW_AND_FAILS, text);
    else
        SAY(builder, out, TONE_PLAIN, M_ASSERTION_REMOVED, text);
    if (made->message)
        SAY(builder, out, TONE_PLAIN, M_AND_MESSAGE, made->message);
    if (!change->new)
        return;
    if (made->why)
        SAY(builder, out, TONE_MUTED, M_BRACKETED, phrase(builder, made->why));
    else if (made->left && made->right)
        SAY(builder, out, TONE_MUTED, M_BRACKETED,
            WORDS(builder, M_SIDE_AGAINST_SIDE, made->left, made->right));
}

void diff_assertions_section(struct builder *builder, const struct diff *diff)
{
    if (diff->assertions.count == 0)
        return;
    struct report_section *section = add_section(builder, "assertions", words(builder, M_ASSERTIONS), false);
    struct report_block *list = add_block(builder, section, BLOCK_LIST);
    size_t shown = 0;
    for (; shown < diff->assertions.count && shown < ROWS_MAX; shown++)
        say_assertion(builder, VEC_PUSH(builder->arena, list->list.items), &diff->assertions.items[shown]);
    say_more(builder, section, shown, diff->assertions.count, M_MORE_ASSERTIONS);
}

/* ---- inputs ----------------------------------------------------------------------------------------- */

static const char *value_text(struct builder *builder, const struct report_attribute *attribute)
{
    if (!attribute)
        return words(builder, M_NOT_SET);
    const struct report_quantity *value = &attribute->value;
    if (value->type != QUANTITY_NUMBER)
        return value->type == QUANTITY_ABSENT ? phrase(builder, value->text) : word_text(builder, value);
    struct dim dim = report_unit_dim(value->unit);
    return exact_text(builder->arena, value->value, unit_for_print(dim, value->value, UNIT_STYLE_DECIMAL));
}

static const char *place_text(struct builder *builder, const struct diff_input *input)
{
    const struct report_attribute *from = input->new ? input->new : input->old;
    if (!from->file)
        return from->origin ? phrase(builder, from->origin) : "";
    if (strcmp(from->file, "--set") == 0)
        return "--set";
    if (!from->line)
        return from->file;
    const char *place = arena_printf(builder->arena, "%s:%u", from->file, from->line);
    return input->new ? place : WORDS(builder, M_WAS_AT, place);
}

static const char *scenarios_text(struct builder *builder, const struct diff *diff,
                                  const struct diff_input *input)
{
    struct buffer out = buffer_in(builder->arena);
    if (input->scenarios.count == diff->kept && diff->kept > NAMES_MAX)
        return words(builder, M_ALL_SCENARIOS_WITHIN);
    for (size_t i = 0; i < input->scenarios.count && i < NAMES_MAX; i++)
        buffer_printf(&out, "%s%s", i ? words(builder, M_LIST_COMMA) : "", input->scenarios.items[i]);
    if (input->scenarios.count <= NAMES_MAX)
        return buffer_string(&out);
    return WORDS(builder, M_AND_MORE, buffer_string(&out),
                 arena_printf(builder->arena, "%zu", input->scenarios.count - NAMES_MAX));
}

void diff_inputs_section(struct builder *builder, const struct diff *diff)
{
    if (diff->inputs.count == 0 && diff->inputs_known)
        return;
    struct report_section *section = add_section(builder, "inputs", words(builder, M_CHANGED_INPUTS), true);
    if (!diff->inputs_known) {
        say(builder, add_paragraph(builder, section), TONE_MUTED, M_INPUTS_NOT_LISTED);
        return;
    }
    struct report_table *table = add_table(builder, section, NULL);
    add_column(builder, table, words(builder, M_INPUT), ALIGN_LEFT, NULL);
    add_column(builder, table, words(builder, M_OLD), ALIGN_RIGHT, NULL);
    add_column(builder, table, words(builder, M_NEW), ALIGN_RIGHT, NULL);
    add_column(builder, table, words(builder, M_WHERE), ALIGN_LEFT, NULL);
    add_column(builder, table, words(builder, M_SCENARIOS), ALIGN_LEFT, NULL);
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
    say_more(builder, section, shown, diff->inputs.count, M_MORE_INPUTS);
}
