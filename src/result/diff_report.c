/* diff_report.c: a comparison as the report that the backends draw: one sentence, the figures that matter,
 * why they moved, what came and went, and then, folded, everything that changed. */
#include <string.h>

#include "base/arena.h"
#include "result/diff_internal.h"
#include "source/diag.h"
#include "source/source.h"

enum { SUMMARY_MAX = 12, DETAILS_MAX = 24, LONE_MAX = 20 };

/* The figures of the first table; the others are in the details. */
static const enum quantity summary_figures[] = {
    Q_FITS,       Q_GPUS,          Q_TPOT,         Q_TTFT,      Q_LATENCY,
    Q_THROUGHPUT, Q_COST_PER_MTOK, Q_MEMORY_TOTAL, Q_MAX_BATCH, Q_DECODE_BOUND,
};

static bool is_summary(enum quantity quantity)
{
    for (size_t i = 0; i < sizeof summary_figures / sizeof summary_figures[0]; i++)
        if (summary_figures[i] == quantity)
            return true;
    return false;
}

/* ---- tables of figures ------------------------------------------------------------------------------ */

void add_change_columns(struct builder *builder, struct report_table *table, const char *lead)
{
    if (lead)
        add_column(builder, table, lead, ALIGN_LEFT, NULL);
    add_column(builder, table, words(builder, M_FIGURE), ALIGN_LEFT, NULL);
    add_column(builder, table, words(builder, M_OLD), ALIGN_RIGHT, NULL);
    add_column(builder, table, words(builder, M_NEW), ALIGN_RIGHT, NULL);
    add_column(builder, table, "\xCE\x94", ALIGN_RIGHT, NULL);
    add_column(builder, table, "\xCE\x94\xE2\x80\x89%", ALIGN_RIGHT, NULL);
}

static void add_relative(struct builder *builder, struct report_row *row, const struct diff_figure *figure)
{
    const char *text = figure->change == CHANGE_BETTER  ? WORDS(builder, M_BETTER, UP)
                       : figure->change == CHANGE_WORSE ? WORDS(builder, M_WORSE, DOWN)
                                                        : "";
    if (figure->has_relative)
        text = arena_printf(builder->arena, "%s%s", relative_text(builder, figure->relative),
                            change_mark(figure->change));
    struct report_cell *cell = add_cell(builder, row, change_tone(figure->change, TONE_PLAIN), text);
    cell->value = figure->relative;
    cell->has_value = figure->has_relative;
}

static void add_side(struct builder *builder, struct report_row *row, const struct report_quantity *side,
                     const struct report_quantity *other, struct print_unit unit)
{
    if (side->type != QUANTITY_NUMBER) {
        add_cell(builder, row, side->type == QUANTITY_ABSENT ? TONE_MUTED : TONE_PLAIN,
                 word_text(builder, side));
        return;
    }
    double against = other->type == QUANTITY_NUMBER ? other->value : side->value;
    struct report_cell *cell =
        add_cell(builder, row, TONE_PLAIN, side_number(builder, side->value, against, unit));
    cell->value = side->value;
    cell->has_value = true;
}

static double side_value(const struct report_quantity *side)
{
    return side->type == QUANTITY_NUMBER ? side->value : 0;
}

void add_change_row(struct builder *builder, struct report_table *table, const char *lead,
                    const struct diff_figure *figure)
{
    struct report_row *row = add_row(builder, table);
    struct print_unit unit =
        pair_unit(figure->row, figure->dim, side_value(figure->old), side_value(figure->new));
    if (lead)
        add_cell(builder, row, TONE_NAME, lead);
    add_cell(builder, row, TONE_PLAIN,
             with_unit(builder, figure->label ? figure->label : label_of(builder, figure->row), unit));
    add_side(builder, row, figure->old, figure->new, unit);
    add_side(builder, row, figure->new, figure->old, unit);
    if (figure->comparable)
        add_cell(builder, row, TONE_PLAIN,
                 delta_number(builder, figure->new->value - figure->old->value, unit));
    else
        add_cell(builder, row, TONE_PLAIN, "");
    add_relative(builder, row, figure);
}

static void add_summary(struct builder *builder, const struct diff *diff)
{
    if (diff->changed == 0)
        return;
    struct report_section *section = add_section(builder, "changes", words(builder, M_WHAT_CHANGED), false);
    struct report_table *table = add_table(builder, section, WORDS(builder, M_UP_AND_DOWN, UP, DOWN));
    add_change_columns(builder, table, words(builder, M_SCENARIO));
    for (size_t i = 0; i < diff->changed && i < SUMMARY_MAX; i++) {
        const struct diff_scenario *scenario = &diff->scenarios.items[i];
        for (size_t j = 0; j < scenario->figures.count; j++)
            if (is_summary(scenario->figures.items[j].row->id))
                add_change_row(builder, table, scenario->name, &scenario->figures.items[j]);
    }
    if (diff->changed > SUMMARY_MAX)
        SAY(builder, add_paragraph(builder, section), TONE_MUTED, M_CHANGED_MOST,
            arena_printf(builder->arena, "%d", SUMMARY_MAX),
            arena_printf(builder->arena, "%zu", diff->changed));
}

/* ---- why --------------------------------------------------------------------------------------------- */

static bool is_time(const struct diff_cause *cause)
{
    return cause->row->id != Q_MEMORY_TOTAL;
}

static void add_why(struct builder *builder, const struct diff *diff)
{
    struct report_section *section = NULL;
    struct report_block *list = NULL;
    for (size_t i = 0; i < diff->changed && i < SUMMARY_MAX; i++) {
        const struct diff_scenario *scenario = &diff->scenarios.items[i];
        for (size_t j = 0; j < scenario->causes.count; j++) {
            if (!is_time(&scenario->causes.items[j]))
                continue;
            if (!section) {
                section = add_section(builder, "why", words(builder, M_WHY), false);
                list = add_block(builder, section, BLOCK_LIST);
            }
            struct rich_text *out = VEC_PUSH(builder->arena, list->list.items);
            SAY(builder, out, TONE_PLAIN, M_NAME_BEFORE_FIGURE, scenario->name);
            say_cause(builder, out, &scenario->causes.items[j]);
        }
    }
}

static void add_term(struct builder *builder, struct report_table *table, const char *label, double old,
                     double new, double total, struct print_unit unit)
{
    struct report_row *row = add_row(builder, table);
    double delta = new - old;
    add_cell(builder, row, TONE_PLAIN, label);
    add_number(builder, row, old, unit);
    add_number(builder, row, new, unit);
    add_cell(builder, row, TONE_PLAIN, delta == 0 ? "0" : delta_number(builder, delta, unit));
    add_cell(builder, row, TONE_PLAIN, share_text(builder, delta / total));
}

static void add_cause_table(struct builder *builder, struct report_section *section,
                            const struct diff_cause *cause)
{
    /* The unit suits the parts, which are smaller than the whole. */
    struct print_unit unit =
        pair_unit(cause->row, report_unit_dim(cause->row->unit), 0.3 * cause->old, 0.3 * cause->new);
    struct report_table *table =
        add_table(builder, section, WORDS(builder, M_BY_PARTS, label_of(builder, cause->row)));
    add_column(builder, table, with_unit(builder, words(builder, M_PART), unit), ALIGN_LEFT, NULL);
    add_column(builder, table, words(builder, M_OLD), ALIGN_RIGHT, NULL);
    add_column(builder, table, words(builder, M_NEW), ALIGN_RIGHT, NULL);
    add_column(builder, table, "\xCE\x94", ALIGN_RIGHT, NULL);
    add_column(builder, table, WORDS(builder, M_SHARE_OF, "\xCE\x94"), ALIGN_RIGHT, NULL);
    double total = cause->new - cause->old;
    for (size_t i = 0; i < cause->terms.count; i++)
        add_term(builder, table, phrase(builder, cause->terms.items[i].label), cause->terms.items[i].old,
                 cause->terms.items[i].new, total, unit);
    add_term(builder, table, words(builder, M_PART_TOTAL), cause->old, cause->new, total, unit);
    table->rows.items[table->rows.count - 1].total = true;
}

static void add_details(struct builder *builder, const struct diff *diff)
{
    for (size_t i = 0; i < diff->changed && i < DETAILS_MAX; i++) {
        const struct diff_scenario *scenario = &diff->scenarios.items[i];
        struct report_section *section =
            add_section(builder, arena_printf(builder->arena, "scenario-%zu", i + 1),
                        WORDS(builder, M_IN_DETAIL, scenario->name), true);
        struct report_table *table = add_table(builder, section, words(builder, M_EVERY_FIGURE_CHANGED));
        add_change_columns(builder, table, NULL);
        for (size_t j = 0; j < scenario->figures.count; j++)
            add_change_row(builder, table, NULL, &scenario->figures.items[j]);
        for (size_t j = 0; j < scenario->causes.count; j++)
            add_cause_table(builder, section, &scenario->causes.items[j]);
    }
}

/* ---- scenarios that came and went ------------------------------------------------------------------------
 */

static void say_lone(struct builder *builder, struct rich_text *out, const struct diff_scenario *scenario)
{
    static const enum quantity said[] = {Q_TPOT, Q_TTFT, Q_THROUGHPUT, Q_COST_PER_MTOK, Q_MEMORY_TOTAL};
    bool is_new = scenario->state == DIFF_NEW;
    bool said_any = false;
    SAY(builder, out, TONE_PLAIN, is_new ? M_IS_NEW : M_IS_REMOVED, scenario->name);
    for (size_t i = 0; i < scenario->figures.count; i++) {
        const struct diff_figure *figure = &scenario->figures.items[i];
        const struct report_quantity *value = is_new ? figure->new : figure->old;
        bool wanted = figure->row->id == Q_FITS;
        for (size_t j = 0; j < sizeof said / sizeof said[0]; j++)
            wanted = wanted || figure->row->id == said[j];
        if (!wanted)
            continue;
        enum tone tone = figure->row->id == Q_FITS && !value->boolean ? TONE_BAD : TONE_PLAIN;
        say(builder, out, tone, said_any ? M_COMMA : is_new ? M_COLON : M_IT_WAS);
        said_any = true;
        if (figure->row->id == Q_FITS)
            say(builder, out, tone, value->boolean ? M_FITS_INTO_MEMORY : M_DOES_NOT_FIT_INTO_MEMORY);
        else
            SAY(builder, out, tone, M_FIGURE_AND_VALUE, label_within(builder, figure->row),
                figure_text(builder, figure->row, value->value, figure->dim));
    }
}

static void add_lone(struct builder *builder, const struct diff *diff)
{
    size_t count = diff->added + diff->removed;
    if (count == 0)
        return;
    struct report_section *section =
        add_section(builder, "scenarios", words(builder, M_NEW_AND_REMOVED), false);
    struct report_block *list = add_block(builder, section, BLOCK_LIST);
    for (size_t i = 0; i < count && i < LONE_MAX; i++)
        say_lone(builder, VEC_PUSH(builder->arena, list->list.items),
                 &diff->scenarios.items[diff->changed + i]);
    if (count > LONE_MAX)
        SAY(builder, add_paragraph(builder, section), TONE_MUTED, M_MORE_NOT_SHOWN,
            arena_printf(builder->arena, "%zu", count - LONE_MAX));
}

/* ---- the report ------------------------------------------------------------------------------------------
 */

static bool says_anything(const struct diff *diff)
{
    return diff->scenarios.count + diff->inputs.count + diff->assertions.count + diff->exceeded +
               diff->sweeps.count + diff->declarations.count >
           0;
}

/* In the language of the new side. */
static struct builder diff_builder(struct arena *arena, struct report *report, const struct report *new)
{
    report->language = new->language;
    return (struct builder){
        .arena = arena,
        .report = report,
        .language = new->language,
        .phrases = new->diags ? diags_phrases(new->diags) : NULL,
    };
}

struct report *diff_report(struct arena *arena, struct diff *diff)
{
    struct report *report = ARENA_NEW(arena, struct report);
    struct builder builder = diff_builder(arena, report, diff->new);
    report->plan = arena_printf(arena, "%s " ARROW " %s", diff->old->plan, diff->new->plan);
    report->diff = diff;
    diff_verdict(&builder, diff);
    if (!says_anything(diff))
        return report;
    if (diff->exceeded > 0)
        diff_thresholds_section(&builder, diff);
    diff_assertions_section(&builder, diff);
    add_summary(&builder, diff);
    add_why(&builder, diff);
    add_lone(&builder, diff);
    diff_sweeps_section(&builder, diff);
    diff_declarations_section(&builder, diff);
    diff_inputs_section(&builder, diff);
    add_details(&builder, diff);
    if (diff->exceeded == 0)
        diff_thresholds_section(&builder, diff);
    return report;
}

/* ---- when there is nothing to compare --------------------------------------------------------------------
 */

static void add_errors(struct builder *builder, const struct report *side, const char *id, const char *title)
{
    struct report_section *section = add_section(builder, id, title, false);
    struct report_block *list = add_block(builder, section, BLOCK_LIST);
    size_t said = 0;
    for (size_t i = 0; i < diags_count(side->diags) && said < LONE_MAX; i++) {
        const struct diag *diag = diags_get(side->diags, i);
        const struct diag_info *info = diag_info(diag->code);
        unsigned line, column;
        if (info->severity != DIAG_ERROR)
            continue;
        struct rich_text *out = VEC_PUSH(builder->arena, list->list.items);
        if (diag->span.file < sources_count(side->sources)) {
            const struct source *source = sources_get(side->sources, diag->span.file);
            source_position(source, diag->span.start, &line, &column);
            rich_add(builder->arena, out, TONE_NAME,
                     arena_printf(builder->arena, "%s:%u:%u", source->path, line, column));
            rich_add(builder->arena, out, TONE_PLAIN, " ");
        }
        rich_addf(builder->arena, out, TONE_PLAIN, "%s [%s]", diag->message, info->code);
        said++;
    }
    if (diags_errors(side->diags) > said)
        SAY(builder, add_paragraph(builder, section), TONE_MUTED, M_MORE_NOT_SHOWN,
            arena_printf(builder->arena, "%zu", diags_errors(side->diags) - said));
}

/* How many errors a plan has: of the new one first, of the old one alone or after that. */
static void say_errors(struct builder *builder, const struct report *side, bool is_new)
{
    static const enum message said[3][2] = {{M_OLD_HAS_ERRORS, M_OLD_HAS_AN_ERROR},
                                            {M_NEW_HAS_ERRORS, M_NEW_HAS_AN_ERROR},
                                            {M_AND_OLD_HAS_ERRORS, M_AND_OLD_HAS_AN_ERROR}};
    size_t count = diags_errors(side->diags);
    size_t which = is_new ? 1 : builder->report->verdict.runs.count > 0 ? 2 : 0;
    if (count > 0)
        SAY(builder, &builder->report->verdict, TONE_PLAIN, said[which][count == 1],
            arena_printf(builder->arena, "%zu", count));
}

static bool is_broken(const struct report *side)
{
    return side->diags && diags_errors(side->diags) > 0;
}

struct report *diff_broken_report(struct arena *arena, const struct report *old, const struct report *new)
{
    struct report *report = ARENA_NEW(arena, struct report);
    struct builder builder = diff_builder(arena, report, new);
    struct diff *diff = ARENA_NEW(arena, struct diff);
    *diff = (struct diff){.old = old, .new = new, .broken = true};
    report->plan = arena_printf(arena, "%s " ARROW " %s", old->plan, new->plan);
    report->diff = diff;
    report->verdict_tone = TONE_BAD;
    if (is_broken(new))
        say_errors(&builder, new, true);
    if (is_broken(old))
        say_errors(&builder, old, false);
    say(&builder, &report->verdict, TONE_PLAIN, M_SO_NOTHING_COMPARED);
    if (is_broken(new))
        add_errors(&builder, new, "errors-new", words(&builder, M_ERRORS_OF_NEW));
    if (is_broken(old))
        add_errors(&builder, old, "errors-old", words(&builder, M_ERRORS_OF_OLD));
    return report;
}
