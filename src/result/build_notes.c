/* build_notes.c: what stands behind the figures: derivations, assumptions, the plan, warnings. */
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/intern.h"
#include "base/map.h"
#include "result/build_internal.h"
#include "result/derive.h"
#include "source/diag.h"
#include "source/source.h"

/* ---- derivations ---------------------------------------------------------------------------- */

/* What is worth a column when there are too many scenarios to spell out: the way from bytes and work to
 * the times. */
static const enum quantity traced[] = {
    Q_MEMORY_WEIGHTS,   Q_MEMORY_KV_PER_SEQUENCE, Q_DECODE_WORK, Q_DECODE_TRAFFIC,
    Q_DECODE_INTENSITY, Q_CEILING_TPOT,           Q_DECODE_TIME, Q_INTERFERENCE,
};
enum { TRACED_COUNT = sizeof traced / sizeof traced[0] };

static void add_traced(struct builder *builder, struct report_row *row, const struct evaluation *evaluation,
                       const struct print_unit *units)
{
    for (size_t i = 0; i < TRACED_COUNT; i++) {
        struct report_quantity value = evaluate_row(builder->evaluator, evaluation->scenario, traced[i]);
        if (value.type == QUANTITY_NUMBER)
            add_number(builder, row, value.value, units[i]);
        else
            add_cell(builder, row, TONE_MUTED, "\xE2\x80\x93");
    }
}

static void trace_the_rest(struct builder *builder, struct report_section *section)
{
    SAY(builder, add_paragraph(builder, section), TONE_PLAIN, M_FIRST_ARE_DERIVED,
        count_text(builder, DRAWN_MAX));
    struct report_table *table = add_table(builder, section, words(builder, M_STEPS_OF_ALL));
    struct print_unit units[TRACED_COUNT];
    add_column(builder, table, words(builder, M_SCENARIO), ALIGN_LEFT, NULL);
    for (size_t i = 0; i < TRACED_COUNT; i++) {
        const struct quantity_info *info = quantity_info(traced[i]);
        units[i] = scenarios_unit(builder, traced[i]);
        add_column(builder, table, with_unit(builder, label_of(builder, info), units[i]), ALIGN_RIGHT,
                   info->name);
    }
    for (size_t i = 0; i < builder->count; i++) {
        if (!builder->scenarios[i]->valid)
            continue;
        struct report_row *row = add_row(builder, table);
        add_cell(builder, row, TONE_NAME, builder->scenarios[i]->scenario->name);
        add_traced(builder, row, builder->scenarios[i], units);
    }
}

void build_derivations(struct builder *builder)
{
    const struct evaluation *scenarios[DRAWN_MAX];
    size_t count = drawn(builder, scenarios);
    if (count == 0)
        return;
    struct report_section *section =
        add_section(builder, "derivations", words(builder, M_HOW_FIGURES_WERE_MADE), true);
    for (size_t i = 0; i < count; i++)
        derive_main(builder->evaluator, scenarios[i]->scenario,
                    &add_block(builder, section, BLOCK_DERIVATION)->derivation);
    if (count < builder->valid)
        trace_the_rest(builder, section);
}

/* ---- assumptions ---------------------------------------------------------------------------- */

enum { NAMED_MAX = 3 };

/* One assumption, with the scenarios that rest on it. */
struct shared_assumption {
    struct assumption text;
    const char *named[NAMED_MAX];
    size_t count;
};

struct assumptions {
    VEC(struct shared_assumption *) list;
    struct map *found;
    struct strings *keys;
};

static void note_assumption(struct builder *builder, struct assumptions *assumptions,
                            const struct assumption *assumption, const char *scenario)
{
    /* Line ends separate the parts of the key; they never occur inside. */
    const char *key =
        intern_text(assumptions->keys, arena_printf(builder->arena, "%s\n%s\n%s", assumption->what,
                                                    assumption->value, assumption->reason));
    struct shared_assumption *shared = map_get(assumptions->found, key);
    if (shared == NULL) {
        shared = ARENA_NEW(builder->arena, struct shared_assumption);
        shared->text = *assumption;
        map_put(assumptions->found, key, shared);
        *VEC_PUSH(builder->arena, assumptions->list) = shared;
    }
    if (shared->count < NAMED_MAX)
        shared->named[shared->count] = scenario;
    shared->count++;
}

static const char *scenarios_text(struct builder *builder, const struct shared_assumption *shared)
{
    if (shared->count == builder->valid)
        return builder->valid == 1 ? shared->named[0] : words(builder, M_ALL_OF_THEM);
    struct buffer out = buffer_in(builder->arena);
    for (size_t i = 0; i < shared->count && i < NAMED_MAX; i++)
        buffer_printf(&out, "%s%s", i == 0 ? "" : words(builder, M_LIST_COMMA), shared->named[i]);
    if (shared->count <= NAMED_MAX)
        return buffer_string(&out);
    return WORDS(builder, M_AND_MORE, buffer_string(&out),
                 count_text(builder, (double)(shared->count - NAMED_MAX)));
}

void build_assumptions(struct builder *builder)
{
    struct assumptions assumptions = {
        .found = map_new(builder->arena),
        .keys = strings_new(builder->arena),
    };
    for (size_t i = 0; i < builder->count; i++) {
        const struct evaluation *evaluation = builder->scenarios[i];
        if (!evaluation->valid)
            continue;
        struct assumption *list;
        size_t count = evaluation_assumptions(builder->evaluator, evaluation, &list);
        for (size_t j = 0; j < count; j++)
            note_assumption(builder, &assumptions, &list[j], evaluation->scenario->name);
    }
    if (assumptions.list.count == 0)
        return;
    struct report_section *section = add_section(builder, "assumptions", words(builder, M_ASSUMPTIONS), true);
    say(builder, add_paragraph(builder, section), TONE_PLAIN, M_WHAT_PLAN_DOES_NOT_SAY);
    struct report_table *table = add_table(builder, section, NULL);
    add_column(builder, table, words(builder, M_ASSUMPTION), ALIGN_LEFT, NULL);
    add_column(builder, table, words(builder, M_VALUE), ALIGN_LEFT, NULL);
    add_column(builder, table, words(builder, M_REASON), ALIGN_LEFT, NULL);
    if (builder->valid > 1)
        add_column(builder, table, words(builder, M_SCENARIOS), ALIGN_LEFT, NULL);
    for (size_t i = 0; i < assumptions.list.count; i++) {
        const struct shared_assumption *shared = assumptions.list.items[i];
        struct report_row *row = add_row(builder, table);
        add_cell(builder, row, TONE_NAME, shared->text.what);
        add_cell(builder, row, TONE_PLAIN, shared->text.value);
        add_cell(builder, row, TONE_PLAIN, shared->text.reason);
        if (builder->valid > 1)
            add_cell(builder, row, TONE_PLAIN, scenarios_text(builder, shared));
    }
}

/* ---- the plan ------------------------------------------------------------------------------- */

void build_plan(struct builder *builder)
{
    const struct sources *sources = plan_sources(builder->plan);
    struct report_section *section = NULL;
    for (size_t i = 0; i < sources_count(sources); i++) {
        const struct source *source = sources_get(sources, (uint32_t)i);
        if (source->embedded || source->data || source->length == 0)
            continue;
        if (section == NULL)
            section = add_section(builder, "plan", words(builder, M_THE_PLAN), true);
        add_block(builder, section, BLOCK_LISTING)->listing =
            (struct report_listing){source->path, source->text, source->length};
    }
}

/* ---- warnings ------------------------------------------------------------------------------- */

enum { WARNINGS_MAX = 100 };

static void add_warning(struct builder *builder, struct rich_text *text, const struct diag *diag)
{
    const struct sources *sources = plan_sources(builder->plan);
    if (diag->span.file < sources_count(sources)) {
        const struct source *source = sources_get(sources, diag->span.file);
        unsigned line, column;
        source_position(source, diag->span.start, &line, &column);
        rich_addf(builder->arena, text, TONE_MUTED, "%s:%u:%u: ", source->path, line, column);
    }
    rich_add(builder->arena, text, TONE_WARN, phrase(builder, diag->message));
    rich_addf(builder->arena, text, TONE_MUTED, " [%s]", diag_info(diag->code)->code);
    for (const struct diag_note *note = diag->notes; note != NULL; note = note->next)
        SAY(builder, text, TONE_PLAIN, M_NEXT_NOTE, phrase(builder, note->text));
}

void build_warnings(struct builder *builder)
{
    const struct diags *diags = plan_diags(builder->plan);
    size_t warnings = diags_warnings(diags);
    struct report_section *section =
        add_section(builder, "warnings", words(builder, M_WARNINGS), warnings == 0);
    if (warnings == 0) {
        say(builder, add_paragraph(builder, section), TONE_PLAIN, M_NONE_SENTENCE);
        return;
    }
    struct report_block *list = add_block(builder, section, BLOCK_LIST);
    size_t shown = 0;
    for (size_t i = 0; i < diags_count(diags) && shown < WARNINGS_MAX; i++) {
        const struct diag *diag = diags_get(diags, i);
        if (diag_info(diag->code)->severity != DIAG_WARNING)
            continue;
        add_warning(builder, VEC_PUSH(builder->arena, list->list.items), diag);
        shown++;
    }
    if (shown < warnings)
        SAY(builder, add_paragraph(builder, section), TONE_MUTED, M_MORE_NOT_SHOWN,
            count_text(builder, (double)(warnings - shown)));
}
