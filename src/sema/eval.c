/* eval.c: what an expression comes to, and whether it is what an attribute takes. Faults are reported
 * where they are; whatever depends on one is VALUE_ERROR and stays silent. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/intern.h"
#include "sema/internal.h"
#include "sema/unit.h"

struct value value_error(void)
{
    return (struct value){.type = VALUE_ERROR};
}

struct value value_number(double number, struct dim dim)
{
    return (struct value){.type = VALUE_NUMBER, .number = number, .dim = dim};
}

struct value value_bool(bool boolean)
{
    return (struct value){.type = VALUE_BOOL, .boolean = boolean};
}

struct value value_absent(const char *why)
{
    return (struct value){.type = VALUE_ABSENT, .text = why};
}

const char *value_describe(struct plan *plan, const struct value *value)
{
    switch (value->type) {
    case VALUE_NUMBER: return dim_text(plan->arena, value->dim);
    case VALUE_BOOL: return "true or false";
    case VALUE_TEXT: return "a text";
    case VALUE_DECL: return arena_printf(plan->arena, "a %s", kind_name(value->decl->kind));
    case VALUE_ABSENT: return "nothing";
    case VALUE_ERROR: break;
    }
    return "an error";
}

/* ---- leaves ----------------------------------------------------------------------------------- */

static struct value evaluate_literal(struct plan *plan, const struct expr *expr)
{
    struct value value = value_number(0, dim_none());
    if (unit_literal(expr->number.digits, expr->number.count, expr->number.unit, &value.number, &value.dim))
        return value;
    struct unit unit;
    if (!expr->number.unit || unit_parse(expr->number.unit, &unit)) {
        diag_add(plan->diags, DIAG_E0221, expr->span, "the number is out of range");
        return value_error();
    }
    const char *other = NULL;
    const char *near = unit_suggest(plan->arena, expr->number.unit, &other);
    struct diag *diag =
        diag_add(plan->diags, DIAG_E0205, expr->number.unit_span, "`%s` is not a unit", expr->number.unit);
    if (near && other)
        diag_note(plan->diags, diag, "it could be read as `%s` or as `%s`; case matters", near, other);
    else if (near)
        diag_fix(plan->diags, diag, expr->number.unit_span, near, "did you mean `%s`?", near);
    else
        diag_note(plan->diags, diag, "`perfc list units` prints all units");
    return value_error();
}

/* A string before anything else is known: text. */
static struct value evaluate_string(const struct expr *expr)
{
    return (struct value){.type = VALUE_TEXT, .text = expr->string.text};
}

/* ---- operators -------------------------------------------------------------------------------- */

static struct value evaluate_choice(struct plan *plan, struct scope scope, const struct expr *expr)
{
    struct value condition = evaluate(plan, scope, expr->choice.condition);
    if (condition.type == VALUE_ERROR || condition.type == VALUE_ABSENT)
        return condition;
    if (condition.type != VALUE_BOOL) {
        diag_add(plan->diags, DIAG_E0208, expr->choice.condition->span,
                 "a condition is true or false, not %s", value_describe(plan, &condition));
        return value_error();
    }
    return evaluate(plan, scope, condition.boolean ? expr->choice.then : expr->choice.otherwise);
}

/* `a + b + c + ...` leans to the left as deep as it is long, so the spine is walked by a loop. */
static struct value evaluate_spine(struct plan *plan, struct scope scope, const struct expr *expr)
{
    VEC(const struct expr *) spine = {0};
    const struct expr *at = expr;
    for (; at->kind == EXPR_BINARY; at = at->operation.left)
        *VEC_PUSH(plan->arena, spine) = at;
    struct value left = evaluate(plan, scope, at);
    for (size_t i = spine.count; i-- > 0;) {
        const struct expr *node = spine.items[i];
        bool decided = left.type == VALUE_BOOL && ((node->operation.op == OP_AND && !left.boolean) ||
                                                   (node->operation.op == OP_OR && left.boolean));
        if (!decided)
            left = arithmetic_binary(plan, node, left, evaluate(plan, scope, node->operation.right));
    }
    return left;
}

struct value evaluate(struct plan *plan, struct scope scope, const struct expr *expr)
{
    switch (expr->kind) {
    case EXPR_NUMBER: return evaluate_literal(plan, expr);
    case EXPR_STRING: return evaluate_string(expr);
    case EXPR_PATH: return lookup_path(plan, scope, &expr->path);
    case EXPR_UNARY: return arithmetic_unary(plan, expr, evaluate(plan, scope, expr->operation.right));
    case EXPR_BINARY: return evaluate_spine(plan, scope, expr);
    case EXPR_CALL: return arithmetic_call(plan, scope, expr);
    case EXPR_IF: return evaluate_choice(plan, scope, expr);
    }
    return value_error();
}

/* ---- what attributes take ---------------------------------------------------------------------- */

static struct path path_of_text(struct plan *plan, const char *text, struct span span)
{
    struct name *name = ARENA_NEW(plan->arena, struct name);
    *name = (struct name){text, span, true};
    return (struct path){name, 1, span};
}

/* `meta-llama/Llama-3.1-8B` is meant for a name, and nobody divides declarations. NULL when it is neither. */
static const char *name_with_owner(struct plan *plan, const struct expr *expr)
{
    if (expr->kind == EXPR_PATH)
        return path_text(plan, &expr->path, 0, expr->path.count);
    if (expr->kind != EXPR_BINARY || expr->operation.op != OP_DIVIDE)
        return NULL;
    const char *owner = name_with_owner(plan, expr->operation.left);
    const char *name = name_with_owner(plan, expr->operation.right);
    return owner && name ? intern_text(plan->strings, arena_printf(plan->arena, "%s/%s", owner, name)) : NULL;
}

/* A `let` may stand for a declaration: `let card = h100-sxm`. */
static bool reads_let(struct plan *plan, struct scope scope, const struct path *path)
{
    return module_find_let(plan, scope.module, path->parts[0].text) != NULL;
}

struct value evaluate_reference(struct plan *plan, struct scope scope, const struct expr *expr,
                                enum kind kind)
{
    struct path path;
    const char *text = NULL;
    if (expr->kind == EXPR_PATH)
        path = expr->path;
    else if ((text = expr->kind == EXPR_STRING ? expr->string.text : name_with_owner(plan, expr)) != NULL)
        path = path_of_text(plan, text, expr->span);
    else
        return evaluate(plan, scope, expr);
    struct decl *decl = NULL;
    if (!reads_let(plan, scope, &path))
        decl = lookup_declaration(plan, scope, &path, kind, path.count == 1);
    else
        return lookup_path(plan, scope, &path);
    if (decl)
        return (struct value){.type = VALUE_DECL, .decl = decl};
    /* `other.gpu` reads another declaration's reference. */
    return path.count == 1 ? value_error() : lookup_path(plan, (struct scope){scope.module, NULL}, &path);
}

static struct value evaluate_word(struct plan *plan, struct scope scope, const struct attribute_info *info,
                                  const struct expr *expr)
{
    if (expr->kind == EXPR_STRING)
        return evaluate_string(expr);
    if (expr->kind != EXPR_PATH || expr->path.count != 1)
        return evaluate(plan, scope, expr);
    const char *word = expr->path.parts[0].text;
    bool known = (scope.decl && attribute_lookup(plan->attributes, scope.decl->kind, word) != ATTR_COUNT) ||
                 module_find_let(plan, scope.module, word);
    if (known && !word_in(info->detail, word))
        return evaluate(plan, scope, expr);
    return (struct value){.type = VALUE_TEXT, .text = word};
}

struct value evaluate_item(struct plan *plan, struct scope scope, enum attribute attribute,
                           const struct decl *decl, const struct expr *expr)
{
    const struct attribute_info *info = attribute_info(attribute);
    struct value value = info->type == TYPE_REF
                             ? evaluate_reference(plan, scope, expr, kind_from_name(info->detail))
                         : info->type == TYPE_WORD ? evaluate_word(plan, scope, info, expr)
                                                   : evaluate(plan, scope, expr);
    if (value.type == VALUE_ERROR || value.type == VALUE_ABSENT)
        return value;
    return conform(plan, decl, attribute, value, expr, expr->span);
}
