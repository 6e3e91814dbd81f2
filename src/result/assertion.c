/* assertion.c: decides assertions and tells both sides apart. */
#include "result/assertion.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "result/message.h"
#include "sema/unit.h"
#include "source/source.h"
#include "syntax/ast.h"

static bool is_comparison(const struct expr *expr)
{
    return expr->kind == EXPR_BINARY && expr->operation.op >= OP_LESS && expr->operation.op <= OP_NOT_EQUAL;
}

/* "22 % below": how far the left side is from the right one. */
static const char *margin_text(struct arena *arena, enum language language, double left, double right,
                               struct dim dim)
{
    if (left == right)
        return message_pattern(language, M_MARGIN_EQUAL);
    enum message side = left < right ? M_MARGIN_BELOW : M_MARGIN_ABOVE;
    double share = right != 0 ? fabs(left - right) / fabs(right) * 100 : HUGE_VAL;
    if (share > 1000 || !isfinite(share))
        return MESSAGE_TEXT(arena, language, side, quantity_text(arena, fabs(left - right), dim));
    return MESSAGE_TEXT(arena, language, side,
                        arena_printf(arena, share < 10 ? "%.2g %%" : "%.0f %%", share));
}

static const char *side_text(struct evaluator *evaluator, const struct value *value,
                             const struct value *other)
{
    struct arena *arena = plan_arena(evaluator_plan(evaluator));
    switch (value->type) {
    case VALUE_NUMBER:
        return other->type == VALUE_NUMBER
                   ? quantity_text_against(arena, value->number, other->number, value->dim)
                   : quantity_text(arena, value->number, value->dim);
    case VALUE_BOOL: return value->boolean ? "true" : "false";
    case VALUE_TEXT:
    case VALUE_ABSENT: return evaluator_phrase(evaluator, value->text);
    case VALUE_DECL: return value->decl->name;
    case VALUE_ERROR: break;
    }
    return NULL;
}

static void tell_sides(struct evaluator *evaluator, const struct expr *condition,
                       struct report_assertion *out)
{
    struct plan *plan = evaluator_plan(evaluator);
    struct value left = plan_evaluate(plan, condition->operation.left);
    struct value right = plan_evaluate(plan, condition->operation.right);
    out->left = side_text(evaluator, &left, &right);
    out->right = side_text(evaluator, &right, &left);
    if (left.type == VALUE_NUMBER && right.type == VALUE_NUMBER)
        out->margin =
            margin_text(plan_arena(plan), evaluator_language(evaluator), left.number, right.number, left.dim);
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
    out->margin = MESSAGE_TEXT(plan_arena(plan), evaluator_language(evaluator),
                               out->holds ? M_TO_SPARE : M_SHORT, evaluate_text(evaluator, scenario, room));
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
        out.why = evaluator_phrase(evaluator, value.text);
    else if (value.type != VALUE_BOOL)
        out.why = message_pattern(evaluator_language(evaluator), M_CONDITION_HAS_ERROR);
    if (is_comparison(check->condition) && value.type != VALUE_ERROR)
        tell_sides(evaluator, check->condition, &out);
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
