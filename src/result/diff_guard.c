/* diff_guard.c: the guards of the new plan, which read the old report. */
#include <string.h>

#include "base/arena.h"
#include "result/assertion.h"
#include "result/diff.h"
#include "source/diag.h"
#include "source/phrase.h"

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
