/* diff_threshold.c: what a `--fail-if` says of a comparison: of scenarios, models and cards, and of the
 * points of sweeps. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "result/diff_internal.h"
#include "sema/unit.h"

struct deciding {
    struct arena *arena;
    struct diff *diff;
    const struct threshold *threshold;
    bool known; /* what it names is on either side */
};

static bool is_past(const struct threshold *threshold, double observed)
{
    double limit = threshold->value, rounding = 1e-9 * fmax(fabs(limit), fabs(observed));
    switch (threshold->relation) {
    case MORE: return observed > limit + rounding;
    case MORE_OR_EQUAL: return observed >= limit - rounding;
    case LESS: return observed < limit - rounding;
    case LESS_OR_EQUAL: return observed <= limit + rounding;
    }
    return false;
}

static const char *signed_text(struct arena *arena, double value, const char *text)
{
    /* The text of a negative number begins with a sign of its own. */
    return value < 0 ? text : arena_printf(arena, "+%s", text);
}

static const char *observed_text(const struct deciding *deciding, double value, struct dim dim)
{
    const struct threshold *threshold = deciding->threshold;
    struct arena *arena = deciding->arena;
    char number[NUMBER_TEXT_MAX];
    switch (threshold->kind) {
    case THRESHOLD_RELATIVE: {
        int digits = unit_digits_against(value, threshold->value, 3);
        return arena_printf(arena, "%s%s\xE2\x80\x89%%", value < 0 ? MINUS : "+",
                            number_significant(number, 100 * fabs(value), digits));
    }
    case THRESHOLD_CHANGE:
        return signed_text(arena, value, quantity_text_against(arena, value, threshold->value, dim));
    case THRESHOLD_ABSOLUTE: return quantity_text_against(arena, value, threshold->value, dim);
    }
    return NULL;
}

/* The threshold as what must hold: `--fail-if tpot>+5%` is `tpot <= +5%`; `of` is "chat.", say. */
static const char *demand(struct arena *arena, const struct threshold *threshold, const char *of)
{
    static const char *const opposite[] = {
        [MORE] = "<=", [MORE_OR_EQUAL] = "<", [LESS] = ">=", [LESS_OR_EQUAL] = ">"};
    const char *less = strrchr(threshold->text, '<'), *more = strrchr(threshold->text, '>');
    const char *value = more && (!less || more > less) ? more : less;
    value += 1 + (value[1] == '=');
    value += strspn(value, " ");
    return arena_printf(arena, "%s%s %s %s", of, threshold->path, opposite[threshold->relation], value);
}

static void add_result(struct deciding *deciding, const char *of, bool holds, const char *is, const char *why)
{
    const struct threshold *threshold = deciding->threshold;
    struct arena *arena = deciding->arena;
    *VEC_PUSH(arena, deciding->diff->thresholds) = (struct report_assertion){
        .text = demand(arena, threshold, of),
        .message = arena_printf(arena, "--fail-if %s", threshold->text),
        .holds = holds,
        .left = is,
        .right = is ? observed_text(deciding, threshold->value, threshold->dim) : NULL,
        .why = why,
    };
    deciding->diff->exceeded += !holds;
}

/* A figure on one side, or why there is none. */
struct side {
    bool exists;
    double value;
    struct dim dim;
    const char *why;
};

/* The figure itself, or the bound of its band that the threshold names. */
static struct side side_of(const struct threshold *threshold, const struct report_quantity *found)
{
    const char *dot = strrchr(threshold->path, '.');
    bool low = dot && strcmp(dot, ".low") == 0, high = dot && strcmp(dot, ".high") == 0;
    if (!found || found->type != QUANTITY_NUMBER)
        return (struct side){.why = found ? found->text : "the report does not tell"};
    double value = !found->has_band ? found->value : low ? found->low : high ? found->high : found->value;
    return (struct side){.exists = true, .value = value, .dim = report_unit_dim(found->unit)};
}

/* Why the two cannot be compared, or NULL. */
static const char *mismatch(const struct threshold *threshold, const struct side *old, const struct side *new)
{
    if (threshold->kind != THRESHOLD_ABSOLUTE && !dim_equal(old->dim, new->dim))
        return "the two are in different currencies";
    if (threshold->kind != THRESHOLD_RELATIVE && !dim_equal(threshold->dim, new->dim))
        return "the figure is in another currency";
    if (threshold->kind == THRESHOLD_RELATIVE && old->value == 0 && new->value != 0)
        return "it was 0, and no percentage tells the change";
    return NULL;
}

static void decide(struct deciding *deciding, const char *of, const struct report_quantity *before,
                   const struct report_quantity *after)
{
    const struct threshold *threshold = deciding->threshold;
    struct side old = side_of(threshold, before), new = side_of(threshold, after);
    if (!new.exists) {
        if (old.exists) /* what cannot be told any more is no better than too much */
            add_result(deciding, of, false, NULL, new.why);
        return;
    }
    if (threshold->kind != THRESHOLD_ABSOLUTE && !old.exists)
        return; /* new, or there was no such figure: nothing to compare with */
    const char *why = mismatch(threshold, &old, &new);
    if (why) {
        add_result(deciding, of, false, NULL, why);
        return;
    }
    double observed = threshold->kind == THRESHOLD_ABSOLUTE ? new.value
                      : threshold->kind == THRESHOLD_CHANGE ? new.value - old.value
                      : old.value == 0                      ? 0
                                                            : (new.value - old.value) / fabs(old.value);
    if (is_past(threshold, observed))
        add_result(deciding, of, false, observed_text(deciding, observed, new.dim), NULL);
}

/* ---- scenarios, models and cards ---------------------------------------------------------------------- */

struct names {
    const char *const *items;
    size_t count;
};

/* The declarations of a kind that a report tells of. */
static struct names names_of(const struct report *report, enum quantity_scope scope)
{
    switch (scope) {
    case QUANTITY_OF_SCENARIO: return (struct names){report->scenarios.items, report->scenarios.count};
    case QUANTITY_OF_MODEL: return (struct names){report->models.items, report->models.count};
    case QUANTITY_OF_GPU: return (struct names){report->gpus.items, report->gpus.count};
    case QUANTITY_SCOPE_COUNT: break;
    }
    return (struct names){NULL, 0};
}

static bool is_among(const char *name, struct names names)
{
    for (size_t i = 0; i < names.count; i++)
        if (strcmp(names.items[i], name) == 0)
            return true;
    return false;
}

/* "chat." */
static const char *of_name(const struct deciding *deciding, const char *name)
{
    return arena_printf(deciding->arena, "%s.", name);
}

static void decide_kind(struct deciding *deciding, enum quantity_scope scope)
{
    const struct threshold *threshold = deciding->threshold;
    const struct diff *diff = deciding->diff;
    const char *row = threshold->rows[scope]->name, *only = threshold->name;
    struct names old = names_of(diff->old, scope), new = names_of(diff->new, scope);
    for (size_t i = 0; i < new.count; i++)
        if (!only || strcmp(only, new.items[i]) == 0)
            decide(deciding, of_name(deciding, new.items[i]),
                   report_index_find(diff->old_index, new.items[i], row),
                   report_index_find(diff->new_index, new.items[i], row));
    deciding->known = deciding->known || !only || is_among(only, new) || is_among(only, old);
    if (only && is_among(only, old) && !is_among(only, new))
        add_result(deciding, of_name(deciding, only), false, NULL,
                   scope == QUANTITY_OF_SCENARIO ? "the scenario was removed" : "nothing uses it any more");
}

/* Without a name the first kind that has such a quantity is meant, else the kind that has that name. */
static void decide_declarations(struct deciding *deciding)
{
    for (int scope = 0; scope < QUANTITY_SCOPE_COUNT && !deciding->known; scope++)
        if (deciding->threshold->rows[scope])
            decide_kind(deciding, (enum quantity_scope)scope);
}

/* ---- sweeps ------------------------------------------------------------------------------------------- */

/* "chat, batch = 32: " */
static const char *of_point(const struct deciding *deciding, const struct report_sweep *sweep,
                            const struct report_sweep_point *point)
{
    struct buffer out = buffer_in(deciding->arena);
    buffer_text(&out, sweep->scenario);
    for (size_t i = 0; i < point->axes.count; i++) {
        const struct report_quantity *axis = &point->axes.items[i];
        struct dim dim = report_unit_dim(axis->unit);
        const char *text = axis->type == QUANTITY_NUMBER
                               ? exact_text(deciding->arena, axis->value,
                                            unit_for_print(dim, axis->value, UNIT_STYLE_DECIMAL))
                               : quantity_value_text(deciding->arena, axis, dim);
        buffer_printf(&out, ", %s = %s", axis->name, text);
    }
    buffer_text(&out, ": ");
    return buffer_string(&out);
}

/* What a point shows of the threshold's quantity; a point that cannot be says why instead. */
static const struct report_quantity *shown_of(const struct deciding *deciding,
                                              const struct report_sweep_point *point)
{
    const struct report_quantity *shown = diff_shown_at(point, deciding->threshold->path);
    if (!shown)
        shown = diff_shown_at(point, deciding->threshold->rows[QUANTITY_OF_SCENARIO]->name);
    if (shown || !point->why)
        return shown;
    struct report_quantity *absent = ARENA_NEW(deciding->arena, struct report_quantity);
    *absent = (struct report_quantity){.type = QUANTITY_ABSENT, .text = point->why};
    return absent;
}

static void decide_point(void *context, const struct report_sweep *sweep,
                         const struct report_sweep_point *old, const struct report_sweep_point *new)
{
    struct deciding *deciding = context;
    const char *only = deciding->threshold->name;
    if (only && strcmp(only, sweep->scenario) != 0)
        return;
    const struct report_quantity *before = old ? shown_of(deciding, old) : NULL,
                                 *after = shown_of(deciding, new);
    if (!before && !after)
        return; /* another sweep shows it */
    deciding->known = true;
    decide(deciding, of_point(deciding, sweep, new), before, after);
}

/* ---- one threshold ------------------------------------------------------------------------------------ */

static const char *nothing_known(struct arena *arena, const struct threshold *threshold)
{
    static const char *const kinds[] = {
        [QUANTITY_OF_SCENARIO] = "scenario", [QUANTITY_OF_MODEL] = "model", [QUANTITY_OF_GPU] = "card"};
    const char *kind = NULL; /* "scenario or model": those that have such a quantity */
    for (int scope = 0; scope < QUANTITY_SCOPE_COUNT; scope++)
        if (threshold->rows[scope])
            kind = kind ? arena_printf(arena, "%s or %s", kind, kinds[scope]) : kinds[scope];
    if (!threshold->sweeps)
        return arena_printf(arena, "neither side has a %s `%s`", kind, threshold->name);
    if (!threshold->name)
        return arena_printf(arena, "no sweep shows `%s`", threshold->path);
    return arena_printf(arena, "no sweep of `%s` shows `%s`", threshold->name, threshold->path);
}

bool diff_threshold(struct arena *arena, struct diff *diff, const struct threshold *threshold,
                    const char **why)
{
    struct deciding deciding = {arena, diff, threshold, false};
    size_t before = diff->thresholds.count;
    if (threshold->sweeps)
        diff_each_point(arena, diff, decide_point, &deciding);
    else
        decide_declarations(&deciding);
    if (!deciding.known) {
        *why = nothing_known(arena, threshold);
        return false;
    }
    if (diff->thresholds.count == before)
        add_result(&deciding,
                   arena_printf(arena, "%s%s%s", threshold->sweeps ? "sweep " : "",
                                threshold->name ? threshold->name : "", threshold->name ? "." : ""),
                   true, NULL, NULL);
    return true;
}
