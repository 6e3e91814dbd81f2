/* diff_threshold.c: limits to what may change: `--fail-if` and the guards of the new plan. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "result/assertion.h"
#include "result/diff.h"
#include "sema/unit.h"
#include "source/diag.h"
#include "source/phrase.h"

#define MINUS "\xE2\x88\x92"

/* ---- reading --------------------------------------------------------------------------------------- */

static const char *trimmed(struct arena *arena, const char *text, size_t length)
{
    while (length > 0 && *text == ' ') {
        text++;
        length--;
    }
    while (length > 0 && text[length - 1] == ' ')
        length--;
    return arena_strndup(arena, text, length);
}

/* The row of "tpot" and of "tpot.high", which is a bound of the former's band. */
static const struct quantity_info *row_of(struct arena *arena, const char *path)
{
    const struct quantity_info *row = quantity_find(QUANTITY_OF_SCENARIO, path);
    const char *dot = strrchr(path, '.');
    if (row || !dot || (strcmp(dot, ".low") != 0 && strcmp(dot, ".high") != 0))
        return row;
    row = quantity_find(QUANTITY_OF_SCENARIO, arena_strndup(arena, path, (size_t)(dot - path)));
    return row && row->has_band ? row : NULL;
}

/* `"Qwen/Qwen3-32B"` without its quotes. */
static const char *unquoted(struct arena *arena, const char *name)
{
    size_t length = strlen(name), used = 0;
    if (length < 2 || name[0] != '"' || name[length - 1] != '"')
        return name;
    char *out = arena_strndup(arena, name + 1, length - 2);
    for (size_t i = 1; i + 1 < length; i++) {
        i += name[i] == '\\' && i + 2 < length;
        out[used++] = name[i];
    }
    out[used] = '\0';
    return out;
}

/* `tpot` or `chat.tpot`; names may hold dots, so every dot is tried. */
static bool parse_name(struct arena *arena, const char *name, struct threshold *out, const char **why)
{
    const char *path = name;
    do {
        out->row = row_of(arena, path);
        if (out->row) {
            out->path = path;
            out->scenario =
                path == name ? NULL : unquoted(arena, arena_strndup(arena, name, (size_t)(path - name) - 1));
            if (out->row->type == QUANTITY_NUMBER)
                return true;
            *why = arena_printf(arena, "`%s` is no number; an `assert` in the plan can demand it", path);
            return false;
        }
        path = strchr(path, '.');
        path = path ? path + 1 : NULL;
    } while (path);
    const char *dot = strrchr(name, '.');
    const char *near = quantity_suggest(QUANTITY_OF_SCENARIO, name);
    if (!near && dot)
        near = quantity_suggest(QUANTITY_OF_SCENARIO, dot + 1);
    *why = near ? arena_printf(arena, "a scenario has no quantity `%s`; did you mean `%s`?", name, near)
                : arena_printf(arena, "a scenario has no quantity `%s`; `perfc list quantities` prints them",
                               name);
    return false;
}

/* Whether a value of dimension `dim` can be compared with the row's. Prices are in either currency, and a
 * bare number will do for tokens. */
static bool suits(struct arena *arena, const struct quantity_info *row, struct dim *dim)
{
    static const char *const currencies[] = {"usd", "eur"};
    if (strncmp(row->unit, "money", 5) == 0) {
        for (size_t i = 0; i < sizeof currencies / sizeof currencies[0]; i++)
            if (dim_equal(*dim, report_unit_dim(arena_printf(arena, "%s%s", currencies[i], row->unit + 5))))
                return true;
        return false;
    }
    struct dim own = report_unit_dim(row->unit);
    if (dim_is_none(*dim) && dim_equal(own, report_unit_dim("tokens")))
        *dim = own;
    return dim_equal(*dim, own);
}

static size_t number_length(const char *text)
{
    size_t length = strspn(text, "0123456789_.");
    if (length > 0 && (text[length] == 'e' || text[length] == 'E')) {
        size_t sign = text[length + 1] == '+' || text[length + 1] == '-';
        size_t digits = strspn(text + length + 1 + sign, "0123456789");
        if (digits > 0)
            length += 1 + sign + digits;
    }
    return length;
}

static bool parse_value(struct arena *arena, const char *text, struct threshold *out, const char **why)
{
    if (!*text) {
        *why = "the value is missing";
        return false;
    }
    char sign = *text == '+' || *text == '-' ? *text : '\0';
    const char *digits = text + (sign != '\0');
    size_t length = number_length(digits);
    const char *unit = trimmed(arena, digits + length, strlen(digits + length));
    if (length == 0 || !unit_literal(arena_strndup(arena, digits, length), NULL, *unit ? unit : NULL,
                                     &out->value, &out->dim)) {
        *why = arena_printf(arena, "`%s` is no value like `+5%%` or `40 ms`", text);
        return false;
    }
    if (sign == '-')
        out->value = -out->value;
    out->kind = !sign ? THRESHOLD_ABSOLUTE : strcmp(unit, "%") == 0 ? THRESHOLD_RELATIVE : THRESHOLD_CHANGE;
    if (out->kind == THRESHOLD_RELATIVE || suits(arena, out->row, &out->dim))
        return true;
    if (!sign && strcmp(unit, "%") == 0)
        *why =
            arena_printf(arena, "`%s` has a unit; a change in per cent has a sign: `+%s`", out->path, text);
    else
        *why = arena_printf(arena, "`%s` is %s, not %s", out->path,
                            strncmp(out->row->unit, "money", 5) == 0
                                ? "money"
                                : dim_text(arena, report_unit_dim(out->row->unit)),
                            dim_text(arena, out->dim));
    return false;
}

bool threshold_parse(struct arena *arena, const char *text, struct threshold *out, const char **why)
{
    const char *at = text;
    for (bool quoted = false; *at && (quoted || (*at != '<' && *at != '>')); at++)
        quoted = quoted != (*at == '"');
    *out = (struct threshold){.text = text};
    if (!*at) {
        *why = "a threshold is a quantity, `>` or `<`, and a value: `tpot>+5%`";
        return false;
    }
    bool or_equal = at[1] == '=';
    out->relation = *at == '>' ? (or_equal ? MORE_OR_EQUAL : MORE) : (or_equal ? LESS_OR_EQUAL : LESS);
    const char *value = at + 1 + or_equal;
    return parse_name(arena, trimmed(arena, text, (size_t)(at - text)), out, why) &&
           parse_value(arena, trimmed(arena, value, strlen(value)), out, why);
}

/* ---- deciding --------------------------------------------------------------------------------------- */

struct deciding {
    struct arena *arena;
    struct diff *diff;
    const struct threshold *threshold;
    size_t looked_at; /* scenarios it was decided for */
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

/* The threshold as what must hold: `--fail-if tpot>+5%` is `tpot <= +5%`. */
static const char *demand(struct arena *arena, const struct threshold *threshold, const char *scenario)
{
    static const char *const opposite[] = {
        [MORE] = "<=", [MORE_OR_EQUAL] = "<", [LESS] = ">=", [LESS_OR_EQUAL] = ">"};
    const char *less = strrchr(threshold->text, '<'), *more = strrchr(threshold->text, '>');
    const char *value = more && (!less || more > less) ? more : less;
    value += 1 + (value[1] == '=');
    value += strspn(value, " ");
    return arena_printf(arena, "%s%s%s %s %s", scenario ? scenario : "", scenario ? "." : "", threshold->path,
                        opposite[threshold->relation], value);
}

static void add_result(struct deciding *deciding, const char *scenario, bool holds, const char *is,
                       const char *why)
{
    const struct threshold *threshold = deciding->threshold;
    struct arena *arena = deciding->arena;
    *VEC_PUSH(arena, deciding->diff->thresholds) = (struct report_assertion){
        .text = demand(arena, threshold, scenario),
        .message = arena_printf(arena, "--fail-if %s", threshold->text),
        .holds = holds,
        .left = is,
        .right = is ? observed_text(deciding, threshold->value, threshold->dim) : NULL,
        .why = why,
    };
    deciding->diff->exceeded += !holds;
}

/* The quantity of a row or the bound of its band; false when it does not exist, which *why explains. */
static bool read_side(const struct deciding *deciding, const struct report_index *index, const char *scenario,
                      double *value, struct dim *dim, const char **why)
{
    const struct threshold *threshold = deciding->threshold;
    const struct report_quantity *found = report_index_find(index, scenario, threshold->row->name);
    if (!found || found->type != QUANTITY_NUMBER) {
        *why = found ? found->text : "the report does not tell";
        return false;
    }
    size_t length = strlen(threshold->row->name);
    const char *bound = threshold->path[length] ? threshold->path + length + 1 : NULL;
    *value = !bound || !found->has_band ? found->value : *bound == 'l' ? found->low : found->high;
    *dim = report_unit_dim(found->unit);
    return true;
}

static void decide(struct deciding *deciding, const char *scenario)
{
    const struct threshold *threshold = deciding->threshold;
    double old = 0, new = 0;
    struct dim old_dim = dim_none(), new_dim = dim_none();
    const char *why = NULL, *why_old = NULL;
    bool has_old = read_side(deciding, deciding->diff->old_index, scenario, &old, &old_dim, &why_old);
    bool has_new = read_side(deciding, deciding->diff->new_index, scenario, &new, &new_dim, &why);
    bool relative = threshold->kind != THRESHOLD_ABSOLUTE;
    deciding->looked_at++;
    if (!has_new) {
        if (has_old) /* what cannot be told any more is no better than too much */
            add_result(deciding, scenario, false, NULL, why);
        return;
    }
    if (relative && !has_old)
        return; /* new, or there was no such figure: nothing to compare with */
    if (relative && !dim_equal(old_dim, new_dim)) {
        add_result(deciding, scenario, false, NULL, "the two are in different currencies");
        return;
    }
    if (threshold->kind != THRESHOLD_RELATIVE && !dim_equal(threshold->dim, new_dim)) {
        add_result(deciding, scenario, false, NULL, "the figure is in another currency");
        return;
    }
    if (threshold->kind == THRESHOLD_RELATIVE && old == 0 && new != 0) {
        add_result(deciding, scenario, false, NULL, "it was 0, and no percentage tells the change");
        return;
    }
    double observed = threshold->kind == THRESHOLD_ABSOLUTE ? new
                      : threshold->kind == THRESHOLD_CHANGE ? new - old
                      : old == 0                            ? 0
                                                            : (new - old) / fabs(old);
    if (is_past(threshold, observed))
        add_result(deciding, scenario, false, observed_text(deciding, observed, new_dim), NULL);
}

bool diff_threshold(struct arena *arena, struct diff *diff, const struct threshold *threshold,
                    const char **why)
{
    struct deciding deciding = {arena, diff, threshold, 0};
    size_t before = diff->thresholds.count;
    bool known = threshold->scenario == NULL;
    for (size_t i = 0; i < diff->new->scenarios.count; i++) {
        const char *name = diff->new->scenarios.items[i];
        if (!threshold->scenario || strcmp(threshold->scenario, name) == 0) {
            known = true;
            decide(&deciding, name);
        }
    }
    for (size_t i = 0; !known && i < diff->old->scenarios.count; i++)
        if (strcmp(threshold->scenario, diff->old->scenarios.items[i]) == 0) {
            known = true;
            add_result(&deciding, threshold->scenario, false, NULL, "the scenario was removed");
        }
    if (!known) {
        *why = arena_printf(arena, "neither side has a scenario `%s`", threshold->scenario);
        return false;
    }
    if (diff->thresholds.count == before)
        add_result(&deciding, threshold->scenario, true, NULL, NULL);
    return true;
}

/* ---- guards -------------------------------------------------------------------------------------------- */

struct old_side {
    struct arena *arena;
    struct phrases *phrases;
    const struct report *report;
    const struct report_index *index;
    const char *missing; /* why a guard has nothing to compare with, or NULL */
};

static struct value absent(struct old_side *side, const char *why)
{
    side->missing = why;
    return (struct value){.type = VALUE_ABSENT, .text = why};
}

static struct value value_from(struct old_side *side, const struct report_quantity *quantity)
{
    switch (quantity->type) {
    case QUANTITY_NUMBER:
        return (struct value){
            .type = VALUE_NUMBER, .number = quantity->value, .dim = report_unit_dim(quantity->unit)};
    case QUANTITY_BOOL: return (struct value){.type = VALUE_BOOL, .boolean = quantity->boolean};
    case QUANTITY_TEXT: return (struct value){.type = VALUE_TEXT, .text = quantity->text};
    case QUANTITY_ABSENT: break;
    }
    return absent(side, quantity->text);
}

static bool read_band(const struct old_side *side, const char *name, const char *path,
                      struct report_quantity *out)
{
    const char *dot = strrchr(path, '.');
    bool low = dot && strcmp(dot, ".low") == 0, high = dot && strcmp(dot, ".high") == 0;
    if (!low && !high)
        return false;
    const struct report_quantity *whole =
        report_index_find(side->index, name, arena_strndup(side->arena, path, (size_t)(dot - path)));
    if (!whole || whole->type != QUANTITY_NUMBER || !whole->has_band)
        return false;
    *out = *whole;
    out->value = low ? whole->low : whole->high;
    return true;
}

/* `path` of a declaration: a quantity, an attribute in effect, or either of what an attribute refers to. */
static struct value read_old(struct old_side *side, const char *kind, const char *name, const char *path)
{
    struct report_quantity bound;
    const struct report_quantity *quantity = report_index_find(side->index, name, path);
    if (quantity)
        return value_from(side, quantity);
    if (read_band(side, name, path, &bound))
        return value_from(side, &bound);
    const struct report_input *input = report_index_input(side->index, kind, name);
    if (!input)
        return absent(side, phrases_printf(side->phrases, "%s `%s` is not in the old report", kind, name));
    const struct report_attribute *attribute = report_find_attribute(input, path);
    if (attribute)
        return value_from(side, &attribute->value);
    const char *dot = strchr(path, '.');
    attribute =
        dot ? report_find_attribute(input, arena_strndup(side->arena, path, (size_t)(dot - path))) : NULL;
    if (attribute && attribute->value.type == QUANTITY_TEXT)
        return read_old(side, attribute->value.name, attribute->value.text, dot + 1);
    return absent(side, phrases_printf(side->phrases, "the old report has no `%s` of `%s`", path, name));
}

static struct value read_old_figure(void *context, const struct decl *decl, const char *path)
{
    return read_old(context, kind_name(decl->kind), decl->name, path);
}

/* A guard reads names of the plan, which a saved report has not got. */
static void list_guards(struct arena *arena, struct diff *diff)
{
    for (size_t i = 0; i < diff->new->guards.count; i++)
        *VEC_PUSH(arena, diff->thresholds) = (struct report_assertion){
            .text = diff->new->guards.items[i],
            .holds = true,
            .why = "only a plan can decide its guards, and the new side is a saved report",
        };
}

void diff_guards(struct arena *arena, struct diff *diff, struct evaluator *evaluator)
{
    if (!evaluator) {
        list_guards(arena, diff);
        return;
    }
    struct plan *plan = evaluator_plan(evaluator);
    const struct plan_view *view = plan_view(plan);
    struct old_side side = {arena, diags_phrases(plan_diags(plan)), diff->old, diff->old_index, NULL};
    struct old_reader reader = {read_old_figure, &side};
    plan_set_old(plan, &reader);
    for (size_t i = 0; i < view->guards.count; i++) {
        side.missing = NULL;
        struct report_assertion guard = assertion_decide(evaluator, &view->guards.items[i]);
        if (side.missing && guard.why) { /* nothing to compare with, which is no change to the worse */
            guard.holds = true;
            guard.left = guard.right = guard.margin = NULL;
            guard.why = side.missing;
        }
        *VEC_PUSH(arena, diff->thresholds) = guard;
        diff->exceeded += !guard.holds;
    }
    plan_set_old(plan, NULL);
}
