/* assertion.c: decides assertions and tells both sides apart. */
#include "result/assertion.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "sema/unit.h"
#include "source/source.h"
#include "syntax/ast.h"

static bool is_comparison(const struct expr *expr)
{
    return expr->kind == EXPR_BINARY && expr->operation.op >= OP_LESS && expr->operation.op <= OP_NOT_EQUAL;
}

/* "22 % below": how far the left side is from the right one. */
static const char *margin_text(struct arena *arena, double left, double right, struct dim dim)
{
    if (left == right)
        return "equal";
    const char *side = left < right ? "below" : "above";
    double share = right != 0 ? fabs(left - right) / fabs(right) * 100 : HUGE_VAL;
    if (share > 1000 || !isfinite(share))
        return arena_printf(arena, "%s %s", quantity_text(arena, fabs(left - right), dim), side);
    return arena_printf(arena, share < 10 ? "%.2g %% %s" : "%.0f %% %s", share, side);
}

static const char *side_text(struct arena *arena, const struct value *value, const struct value *other)
{
    switch (value->type) {
    case VALUE_NUMBER:
        return other->type == VALUE_NUMBER
                   ? quantity_text_against(arena, value->number, other->number, value->dim)
                   : quantity_text(arena, value->number, value->dim);
    case VALUE_BOOL: return value->boolean ? "true" : "false";
    case VALUE_TEXT:
    case VALUE_ABSENT: return value->text;
    case VALUE_DECL: return value->decl->name;
    case VALUE_ERROR: break;
    }
    return NULL;
}

static void tell_sides(struct plan *plan, const struct expr *condition, struct report_assertion *out)
{
    struct arena *arena = plan_arena(plan);
    struct value left = plan_evaluate(plan, condition->operation.left);
    struct value right = plan_evaluate(plan, condition->operation.right);
    out->left = side_text(arena, &left, &right);
    out->right = side_text(arena, &right, &left);
    if (left.type == VALUE_NUMBER && right.type == VALUE_NUMBER)
        out->margin = margin_text(arena, left.number, right.number, left.dim);
}

/* `assert chat.fits` says by how much. */
static void tell_room(struct evaluator *evaluator, const struct expr *condition, struct report_assertion *out)
{
    struct plan *plan = evaluator_plan(evaluator);
    if (condition->kind != EXPR_PATH || condition->path.count < 2)
        return;
    const struct name *parts = condition->path.parts;
    size_t count = condition->path.count;
    struct decl *scenario = strcmp(parts[count - 1].text, "fits") == 0
                                ? plan_find(plan, KIND_SCENARIO, parts[count - 2].text)
                                : NULL;
    if (!scenario || !evaluate_scenario(evaluator, scenario)->valid)
        return;
    enum quantity room = out->holds ? Q_MEMORY_FREE : Q_MEMORY_SHORTFALL;
    out->margin = arena_printf(plan_arena(plan), out->holds ? "%s to spare" : "short by %s",
                               evaluate_text(evaluator, scenario, room));
}

struct report_assertion assertion_decide(struct evaluator *evaluator, const struct check *check)
{
    struct plan *plan = evaluator_plan(evaluator);
    struct report_assertion out = {.text = check->text, .message = check->message};
    unsigned column;
    source_position(sources_get(plan_sources(plan), check->span.file), check->span.start, &out.line, &column);
    struct value value = plan_evaluate(plan, check->condition);
    out.holds = value.type == VALUE_BOOL && value.boolean;
    if (value.type == VALUE_ABSENT)
        out.why = value.text;
    else if (value.type != VALUE_BOOL)
        out.why = "the condition has an error";
    if (is_comparison(check->condition) && value.type != VALUE_ERROR)
        tell_sides(plan, check->condition, &out);
    else if (value.type == VALUE_BOOL)
        tell_room(evaluator, check->condition, &out);
    return out;
}

void assertions_evaluate(struct evaluator *evaluator, struct report *report)
{
    struct plan *plan = evaluator_plan(evaluator);
    const struct plan_view *view = plan_view(plan);
    for (size_t i = 0; i < view->assertions.count; i++)
        *VEC_PUSH(plan_arena(plan), report->assertions) =
            assertion_decide(evaluator, &view->assertions.items[i]);
}

size_t assertions_held(const struct report *report)
{
    size_t held = 0;
    for (size_t i = 0; i < report->assertions.count; i++)
        held += report->assertions.items[i].holds;
    return held;
}
