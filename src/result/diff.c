/* diff.c: two reports compared, scenario by scenario, figure by figure, input by input. */
#include "result/diff_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "sema/unit.h"

/* ---- figures ------------------------------------------------------------------------------------ */

/* What makes a scenario better or worse. The other figures follow from these, or cost nothing by themselves
 * (memory that is there is free to use). */
static const enum quantity judged[] = {Q_FITS, Q_TPOT, Q_TTFT, Q_LATENCY, Q_THROUGHPUT, Q_COST_PER_MTOK};

static bool is_judged(enum quantity quantity)
{
    for (size_t i = 0; i < sizeof judged / sizeof judged[0]; i++)
        if (judged[i] == quantity)
            return true;
    return false;
}

/* Beyond every change of a number: what does not fit is of no use. */
static const double weight_of_fit = 1000, weight_from_zero = 100;

/* Doubling and halving weigh the same, so a logarithm; positive is worse. */
static double weight_of(const struct diff_figure *figure)
{
    double sign = figure->row->better == BETTER_LOWER ? 1 : -1;
    if (figure->change != CHANGE_BETTER && figure->change != CHANGE_WORSE)
        return 0;
    if (figure->old->type == QUANTITY_BOOL)
        return figure->change == CHANGE_WORSE ? weight_of_fit : -weight_of_fit;
    double old = figure->old->value, new = figure->new->value;
    if (old > 0 && new > 0)
        return sign * round(log(new / old) * 1e9) / 1e9; /* so that ties are ties whatever the rounding */
    return sign * (new > old ? weight_from_zero : -weight_from_zero);
}

static enum change judge(const struct diff_figure *figure)
{
    const struct report_quantity *old = figure->old, *new = figure->new;
    enum quantity_better better = figure->row->better;
    bool truth = old->type == QUANTITY_BOOL && new->type == QUANTITY_BOOL;
    if (better == BETTER_NEITHER || (!figure->comparable && !truth))
        return CHANGE_NEUTRAL;
    bool more = truth ? new->boolean : new->value > old->value;
    return more == (better == BETTER_HIGHER) ? CHANGE_BETTER : CHANGE_WORSE;
}

bool diff_same_quantity(const struct report_quantity *old, const struct report_quantity *new)
{
    if (old->type == QUANTITY_NUMBER && new->type == QUANTITY_NUMBER &&
        !dim_equal(report_unit_dim(old->unit), report_unit_dim(new->unit)))
        return false;
    return compare_equal(new, old);
}

struct diff_figure diff_figure_of(const struct quantity_info *row, const struct report_quantity *old,
                                  const struct report_quantity *new)
{
    struct diff_figure figure = {.row = row, .old = old, .new = new};
    figure.dim = report_unit_dim(new->type == QUANTITY_NUMBER ? new->unit : old->unit);
    figure.comparable = old->type == QUANTITY_NUMBER &&
                        new->type == QUANTITY_NUMBER &&dim_equal(report_unit_dim(old->unit), figure.dim);
    if (figure.comparable && old->value != 0) {
        figure.has_relative = true;
        figure.relative = (new->value - old->value) / fabs(old->value);
    }
    figure.change = judge(&figure);
    figure.weight = weight_of(&figure);
    return figure;
}

/* A quantity of a report that an earlier version wrote may not be there. */
static const struct report_quantity unknown = {.type = QUANTITY_ABSENT, .text = "the report does not tell"};

static const struct report_quantity *find(const struct report_index *index, const char *scenario,
                                          const char *path)
{
    const struct report_quantity *found = report_index_find(index, scenario, path);
    return found ? found : &unknown;
}

static void compare_scenario(struct arena *arena, const struct diff *diff, struct diff_scenario *scenario)
{
    size_t count;
    const enum quantity *figures = compare_figures(&count);
    for (size_t i = 0; i < count; i++) {
        const struct quantity_info *row = quantity_info(figures[i]);
        const struct report_quantity *old = find(diff->old_index, scenario->name, row->name);
        const struct report_quantity *new = find(diff->new_index, scenario->name, row->name);
        if (old != &unknown && new != &unknown && !diff_same_quantity(old, new))
            *VEC_PUSH(arena, scenario->figures) = diff_figure_of(row, old, new);
    }
    for (size_t i = 0; i < scenario->figures.count; i++) {
        const struct diff_figure *figure = &scenario->figures.items[i];
        if (!is_judged(figure->row->id))
            continue;
        if (figure->weight > 0 && (!scenario->worst || figure->weight > scenario->worst->weight))
            scenario->worst = figure;
        if (figure->weight < 0 && (!scenario->best || figure->weight < scenario->best->weight))
            scenario->best = figure;
    }
}

/* A new or removed scenario's figures, the side that lacks it standing in as absent. */
static void list_figures(struct arena *arena, const struct diff *diff, struct diff_scenario *scenario)
{
    bool is_new = scenario->state == DIFF_NEW;
    const struct report_index *index = is_new ? diff->new_index : diff->old_index;
    size_t count;
    const enum quantity *figures = compare_figures(&count);
    for (size_t i = 0; i < count; i++) {
        const struct quantity_info *row = quantity_info(figures[i]);
        const struct report_quantity *found = find(index, scenario->name, row->name);
        if (found->type != QUANTITY_ABSENT)
            *VEC_PUSH(arena, scenario->figures) = (struct diff_figure){.row = row,
                                                                       .dim = report_unit_dim(found->unit),
                                                                       .old = is_new ? &unknown : found,
                                                                       .new = is_new ? found : &unknown,
                                                                       .change = CHANGE_NEUTRAL};
    }
}

/* ---- why ------------------------------------------------------------------------------------------ */

struct term {
    const char *label, *path;
    bool of_step; /* of a whole decode step, which may make several tokens */
};

static const struct term token_terms[] = {
    {"reading weights", "decode.time.weights", true},   {"reading the KV cache", "decode.time.kv", true},
    {"computing", "decode.time.compute", true},         {"communication", "decode.time.communication", true},
    {"fixed times", "decode.time.fixed", true},         {"drafts", "speculation.draft_time", true},
    {"prefills of other users", "interference", false}, {NULL, NULL, false},
};
static const struct term first_token_terms[] = {
    {"queueing", "queueing", false},
    {"request handling", "first_token.host", false},
    {"prefill: reading weights", "prefill.time.weights", false},
    {"prefill: reading the KV cache", "prefill.time.kv", false},
    {"prefill: computing", "prefill.time.compute", false},
    {"prefill: communication", "prefill.time.communication", false},
    {"prefill: fixed times", "prefill.time.fixed", false},
    {"prefill: what drafts", "speculation.draft_prefill", false},
    {"stream interval", "first_token.stream", false},
    {"prefills of other users", "first_token.wave", false},
    {NULL, NULL, false},
};
static const struct term memory_terms[] = {
    {"weights", "memory.weights", false},
    {"KV cache", "memory.kv", false},
    {"activations", "memory.activations", false},
    {"overhead", "memory.overhead", false},
    {NULL, NULL, false},
};

static double number(const struct report_index *index, const char *scenario, const char *path)
{
    const struct report_quantity *found = find(index, scenario, path);
    return found->type == QUANTITY_NUMBER ? found->value : 0;
}

/* What differs by rounding is the same. */
static double settled(double old, double new)
{
    return fabs(new - old) <= 1e-9 * fabs(old) ? old : new;
}

/* Tokens that a decode step makes of each sequence. */
static double tokens_of(const struct report_index *index, const char *scenario)
{
    return fmax(number(index, scenario, "speculation.tokens_per_step"), 1);
}

static void add_cause(struct arena *arena, const struct diff *diff, struct diff_scenario *scenario,
                      enum quantity total, const struct term *terms)
{
    const struct quantity_info *row = quantity_info(total);
    const struct report_quantity *old = find(diff->old_index, scenario->name, row->name);
    const struct report_quantity *new = find(diff->new_index, scenario->name, row->name);
    if (old->type != QUANTITY_NUMBER || new->type != QUANTITY_NUMBER || compare_equal(new, old))
        return;
    struct diff_cause *cause = VEC_PUSH(arena, scenario->causes);
    *cause = (struct diff_cause){.row = row, .old = old->value, .new = new->value};
    double rest_old = old->value, rest_new = new->value;
    for (; terms->label; terms++) {
        double old_tokens = terms->of_step ? tokens_of(diff->old_index, scenario->name) : 1;
        double new_tokens = terms->of_step ? tokens_of(diff->new_index, scenario->name) : 1;
        struct diff_term term = {terms->label,
                                 number(diff->old_index, scenario->name, terms->path) / old_tokens,
                                 number(diff->new_index, scenario->name, terms->path) / new_tokens};
        term.new = settled(term.old, term.new);
        rest_old -= term.old;
        rest_new -= term.new;
        if (term.old != 0 || term.new != 0)
            *VEC_PUSH(arena, cause->terms) = term;
    }
    if (fabs(rest_old) > 1e-9 * fabs(old->value) || fabs(rest_new) > 1e-9 * fabs(new->value))
        *VEC_PUSH(arena, cause->terms) = (struct diff_term){"other", rest_old, rest_new};
}

static void find_causes(struct arena *arena, const struct diff *diff, struct diff_scenario *scenario)
{
    add_cause(arena, diff, scenario, Q_TPOT, token_terms);
    add_cause(arena, diff, scenario, Q_TTFT, first_token_terms);
    add_cause(arena, diff, scenario, Q_MEMORY_TOTAL, memory_terms);
}

/* ---- inputs --------------------------------------------------------------------------------------- */

static bool same_value(const struct report_attribute *old, const struct report_attribute *new)
{
    return old == new || (old && new &&diff_same_quantity(&old->value, &new->value));
}

static struct diff_input *find_change(struct diff *diff, const struct diff_input *like)
{
    for (size_t i = 0; i < diff->inputs.count; i++) {
        struct diff_input *input = &diff->inputs.items[i];
        bool same_name = input->of == like->of || (input->of && like->of && strcmp(input->of, like->of) == 0);
        if (same_name && strcmp(input->kind, like->kind) == 0 &&
            strcmp(input->attribute, like->attribute) == 0 && same_value(input->old, like->old) &&
            same_value(input->new, like->new))
            return input;
    }
    return NULL;
}

static void add_change(struct arena *arena, struct diff *diff, struct diff_input change, const char *scenario)
{
    struct diff_input *input = find_change(diff, &change);
    if (!input) {
        input = VEC_PUSH(arena, diff->inputs);
        *input = change;
    }
    *VEC_PUSH(arena, input->scenarios) = scenario;
}

/* Either may be NULL. A scenario's name is among the scenarios of the change already. */
static void compare_declaration(struct arena *arena, struct diff *diff, const struct report_input *old,
                                const struct report_input *new, const char *scenario)
{
    const struct report_input *some = new ? new : old;
    bool same_name = old && new &&strcmp(old->name, new->name) == 0;
    struct diff_input change = {.kind = some->kind};
    change.of = same_name && strcmp(some->kind, "scenario") != 0 ? some->name : NULL;
    for (size_t i = 0; new &&i < new->attributes.count; i++) {
        change.new = &new->attributes.items[i];
        change.attribute = change.new->value.name;
        change.old = old ? report_find_attribute(old, change.attribute) : NULL;
        if (!same_value(change.old, change.new))
            add_change(arena, diff, change, scenario);
    }
    for (size_t i = 0; old && i < old->attributes.count; i++) {
        change.old = &old->attributes.items[i];
        change.new = NULL;
        change.attribute = change.old->value.name;
        if (!new || !report_find_attribute(new, change.attribute))
            add_change(arena, diff, change, scenario);
    }
}

/* The declaration of this kind that a scenario rests on; of formats, which may be several, the one of this
 * name. */
static const struct report_input *used(const struct report *report, const struct report_input *scenario,
                                       const char *kind, const char *name)
{
    for (size_t i = 0; i < scenario->uses.count; i++) {
        const struct report_input *input = &report->inputs.items[scenario->uses.items[i]];
        if (strcmp(input->kind, kind) == 0 && (!name || strcmp(input->name, name) == 0))
            return input;
    }
    return NULL;
}

static void compare_inputs(struct arena *arena, struct diff *diff, const char *name)
{
    static const char *const roles[] = {"system", "gpu", "model", "engine"};
    const struct report_input *old = report_index_input(diff->old_index, "scenario", name);
    const struct report_input *new = report_index_input(diff->new_index, "scenario", name);
    if (!old || !new)
        return;
    compare_declaration(arena, diff, old, new, name);
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
        const struct report_input *left = used(diff->old, old, roles[i], NULL);
        const struct report_input *right = used(diff->new, new, roles[i], NULL);
        if (left || right)
            compare_declaration(arena, diff, left, right, name);
    }
    for (size_t i = 0; i < new->uses.count; i++) {
        const struct report_input *right = &diff->new->inputs.items[new->uses.items[i]];
        const struct report_input *left =
            strcmp(right->kind, "format") == 0 ? used(diff->old, old, "format", right->name) : NULL;
        if (left)
            compare_declaration(arena, diff, left, right, name);
    }
}

/* ---- assertions ------------------------------------------------------------------------------------- */

/* The same condition among `list`; the n-th of several equal ones. */
static const struct report_assertion *find_assertion(const struct report *report, const char *text,
                                                     size_t nth)
{
    for (size_t i = 0; i < report->assertions.count; i++)
        if (strcmp(report->assertions.items[i].text, text) == 0 && nth-- == 0)
            return &report->assertions.items[i];
    return NULL;
}

static size_t equal_before(const struct report *report, size_t index)
{
    size_t count = 0;
    for (size_t i = 0; i < index; i++)
        count += strcmp(report->assertions.items[i].text, report->assertions.items[index].text) == 0;
    return count;
}

static void compare_assertions(struct arena *arena, struct diff *diff)
{
    const struct report *old = diff->old, *new = diff->new;
    for (size_t i = 0; i < new->assertions.count; i++) {
        const struct report_assertion *own = &new->assertions.items[i];
        const struct report_assertion *before = find_assertion(old, own->text, equal_before(new, i));
        if (before && before->holds == own->holds)
            continue;
        *VEC_PUSH(arena, diff->assertions) = (struct diff_assertion){before, own};
        diff->failing += !own->holds;
        diff->mended += before && own->holds;
    }
    for (size_t i = 0; i < old->assertions.count; i++) {
        const struct report_assertion *own = &old->assertions.items[i];
        if (!find_assertion(new, own->text, equal_before(old, i)))
            *VEC_PUSH(arena, diff->assertions) = (struct diff_assertion){own, NULL};
    }
}

/* ---- all of it ---------------------------------------------------------------------------------------- */

/* Every scenario has this quantity, whatever becomes of it. */
static bool has_scenario(const struct report_index *index, const char *name)
{
    return report_index_find(index, name, "fits") != NULL;
}

static int by_weight(const void *left, const void *right)
{
    const struct diff_scenario *a = left, *b = right;
    double first = a->worst ? a->worst->weight : 0, second = b->worst ? b->worst->weight : 0;
    if (first != second)
        return first > second ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void compare_kept(struct arena *arena, struct diff *diff, const char *name)
{
    struct diff_scenario scenario = {.name = name, .state = DIFF_KEPT};
    diff->kept++;
    compare_inputs(arena, diff, name);
    compare_scenario(arena, diff, &scenario);
    if (scenario.figures.count == 0)
        return;
    find_causes(arena, diff, &scenario);
    diff->changed++;
    diff->worse += scenario.worst != NULL;
    diff->better += scenario.best != NULL;
    diff->mixed += scenario.worst && scenario.best;
    *VEC_PUSH(arena, diff->scenarios) = scenario;
}

static void add_lone(struct arena *arena, struct diff *diff, const char *name, enum diff_state state)
{
    struct diff_scenario scenario = {.name = name, .state = state};
    list_figures(arena, diff, &scenario);
    *VEC_PUSH(arena, diff->scenarios) = scenario;
}

struct diff *diff_compare(struct arena *arena, const struct report *old, const struct report *new)
{
    struct diff *diff = ARENA_NEW(arena, struct diff);
    *diff = (struct diff){.old = old, .new = new};
    diff->old_index = report_index_new(arena, old);
    diff->new_index = report_index_new(arena, new);
    diff->inputs_known = (old->inputs.count > 0 || old->scenarios.count == 0) &&
                         (new->inputs.count > 0 || new->scenarios.count == 0);
    for (size_t i = 0; i < new->scenarios.count; i++)
        if (has_scenario(diff->old_index, new->scenarios.items[i]))
            compare_kept(arena, diff, new->scenarios.items[i]);
    if (diff->scenarios.count > 0)
        qsort(diff->scenarios.items, diff->scenarios.count, sizeof *diff->scenarios.items, by_weight);
    for (size_t i = 0; i < new->scenarios.count; i++)
        if (!has_scenario(diff->old_index, new->scenarios.items[i])) {
            diff->added++;
            add_lone(arena, diff, new->scenarios.items[i], DIFF_NEW);
        }
    for (size_t i = 0; i < old->scenarios.count; i++)
        if (!has_scenario(diff->new_index, old->scenarios.items[i])) {
            diff->removed++;
            add_lone(arena, diff, old->scenarios.items[i], DIFF_REMOVED);
        }
    compare_assertions(arena, diff);
    diff_declarations(arena, diff);
    diff_sweeps(arena, diff);
    return diff;
}
