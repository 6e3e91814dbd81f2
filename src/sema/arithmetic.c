/* arithmetic.c: operators and functions on values with dimensions. An absent operand makes the result
 * absent for the same reason; an erroneous one makes it erroneous. */
#include <math.h>
#include <string.h>

#include "sema/internal.h"
#include "sema/unit.h"

static const char *op_text(enum expr_op op)
{
    static const char *const texts[] = {
        [OP_ADD] = "+",    [OP_SUBTRACT] = "-",    [OP_MULTIPLY] = "*", [OP_DIVIDE] = "/",
        [OP_LESS] = "<",   [OP_LESS_EQUAL] = "<=", [OP_GREATER] = ">",  [OP_GREATER_EQUAL] = ">=",
        [OP_EQUAL] = "==", [OP_NOT_EQUAL] = "!=",  [OP_AND] = "and",    [OP_OR] = "or",
        [OP_NOT] = "not",  [OP_NEGATE] = "-",      [OP_PLUS] = "+",
    };
    return texts[op];
}

static bool settle(struct value *result, struct value left, struct value right)
{
    const struct value *first = left.type == VALUE_ERROR || right.type == VALUE_ERROR
                                    ? (left.type == VALUE_ERROR ? &left : &right)
                                : left.type == VALUE_ABSENT  ? &left
                                : right.type == VALUE_ABSENT ? &right
                                                             : NULL;
    if (first)
        *result = *first;
    return first != NULL;
}

static struct value wrong_operand(struct plan *plan, const struct expr *operand, enum expr_op op,
                                  const char *expected, struct value value)
{
    diag_add(plan->diags, DIAG_E0208, operand->span, "`%s` needs %s, not %s", op_text(op), expected,
             value_describe(plan, &value));
    return value_error();
}

static struct value finite(struct plan *plan, const struct expr *expr, double number, struct dim dim)
{
    if (isfinite(number))
        return value_number(number, dim);
    diag_add(plan->diags, DIAG_E0221, expr->span, "the result is beyond the range of numbers");
    return value_error();
}

/* Dimensions of a sum or comparison: equal, or a bare number beside tokens or requests. */
static bool common_dim(struct value left, struct value right, struct dim *dim)
{
    *dim = left.dim;
    if (dim_equal(left.dim, right.dim))
        return true;
    struct dim other = dim_is_none(left.dim) ? right.dim : left.dim;
    struct dim rest = other;
    rest.power[DIM_TOKEN] = rest.power[DIM_REQUEST] = 0;
    *dim = other;
    return (dim_is_none(left.dim) || dim_is_none(right.dim)) && dim_is_none(rest);
}

static struct value mismatch(struct plan *plan, const struct expr *expr, struct value left,
                             struct value right)
{
    const char *left_text = value_describe(plan, &left), *right_text = value_describe(plan, &right);
    struct diag *diag = diag_add(plan->diags, DIAG_E0207, expr->operation.op_span, "`%s` between %s and %s",
                                 op_text(expr->operation.op), left_text, right_text);
    diag_note_at(plan->diags, diag, expr->operation.left->span, "this is %s", left_text);
    diag_note_at(plan->diags, diag, expr->operation.right->span, "this is %s", right_text);
    return value_error();
}

static struct value product(struct plan *plan, const struct expr *expr, struct value left, struct value right)
{
    bool divide = expr->operation.op == OP_DIVIDE;
    struct dim dim;
    if (divide ? !dim_divide(left.dim, right.dim, &dim) : !dim_multiply(left.dim, right.dim, &dim)) {
        diag_add(plan->diags, DIAG_E0221, expr->span, "the dimension of the result is out of range");
        return value_error();
    }
    if (divide && right.number == 0) {
        diag_add(plan->diags, DIAG_E0221, expr->operation.right->span, "division by zero");
        return value_error();
    }
    return finite(plan, expr, divide ? left.number / right.number : left.number * right.number, dim);
}

static struct value sum(struct plan *plan, const struct expr *expr, struct value left, struct value right)
{
    struct dim dim;
    if (!common_dim(left, right, &dim))
        return mismatch(plan, expr, left, right);
    bool add = expr->operation.op == OP_ADD;
    return finite(plan, expr, add ? left.number + right.number : left.number - right.number, dim);
}

static bool compare_numbers(enum expr_op op, double left, double right)
{
    switch (op) {
    case OP_LESS: return left < right;
    case OP_LESS_EQUAL: return left <= right;
    case OP_GREATER: return left > right;
    case OP_GREATER_EQUAL: return left >= right;
    case OP_EQUAL: return left == right;
    default: return left != right;
    }
}

/* A text compares with a declaration by the declaration's name, and with a number that was read from a table
 * by what stands there; an empty cell is an empty text. */
static const char *comparable_text(struct value value)
{
    return value.type == VALUE_TEXT || value.type == VALUE_NUMBER ? value.text
           : value.type == VALUE_DECL                             ? value.decl->name
                                                                  : NULL;
}

static struct value comparison(struct plan *plan, const struct expr *expr, struct value left,
                               struct value right)
{
    enum expr_op op = expr->operation.op;
    struct dim dim;
    if (left.type == VALUE_NUMBER && right.type == VALUE_NUMBER) {
        if (!common_dim(left, right, &dim))
            return mismatch(plan, expr, left, right);
        return value_bool(compare_numbers(op, left.number, right.number));
    }
    if (op == OP_EQUAL || op == OP_NOT_EQUAL) {
        const char *left_text = comparable_text(left), *right_text = comparable_text(right);
        if (left.type == VALUE_BOOL && right.type == VALUE_BOOL)
            return value_bool((left.boolean == right.boolean) == (op == OP_EQUAL));
        if (left.type == VALUE_DECL && right.type == VALUE_DECL)
            return value_bool((left.decl == right.decl) == (op == OP_EQUAL));
        if (left_text && right_text)
            return value_bool((strcmp(left_text, right_text) == 0) == (op == OP_EQUAL));
    }
    return mismatch(plan, expr, left, right);
}

static struct value logic(struct plan *plan, const struct expr *expr, struct value left, struct value right)
{
    if (left.type != VALUE_BOOL)
        return wrong_operand(plan, expr->operation.left, expr->operation.op, "true or false", left);
    if (right.type != VALUE_BOOL)
        return wrong_operand(plan, expr->operation.right, expr->operation.op, "true or false", right);
    return value_bool(expr->operation.op == OP_AND ? left.boolean && right.boolean
                                                   : left.boolean || right.boolean);
}

struct value arithmetic_binary(struct plan *plan, const struct expr *expr, struct value left,
                               struct value right)
{
    struct value settled;
    if (settle(&settled, left, right))
        return settled;
    enum expr_op op = expr->operation.op;
    if (op == OP_AND || op == OP_OR)
        return logic(plan, expr, left, right);
    if (op >= OP_LESS && op <= OP_NOT_EQUAL)
        return comparison(plan, expr, left, right);
    if (left.type != VALUE_NUMBER)
        return wrong_operand(plan, expr->operation.left, op, "a number", left);
    if (right.type != VALUE_NUMBER)
        return wrong_operand(plan, expr->operation.right, op, "a number", right);
    return op == OP_MULTIPLY || op == OP_DIVIDE ? product(plan, expr, left, right)
                                                : sum(plan, expr, left, right);
}

struct value arithmetic_unary(struct plan *plan, const struct expr *expr, struct value operand)
{
    enum expr_op op = expr->operation.op;
    if (operand.type == VALUE_ERROR || operand.type == VALUE_ABSENT)
        return operand;
    if (op == OP_NOT)
        return operand.type == VALUE_BOOL
                   ? value_bool(!operand.boolean)
                   : wrong_operand(plan, expr->operation.right, op, "true or false", operand);
    if (operand.type != VALUE_NUMBER)
        return wrong_operand(plan, expr->operation.right, op, "a number", operand);
    if (op == OP_NEGATE)
        operand.number = 0 - operand.number;
    return operand;
}

/* ---- functions --------------------------------------------------------------------------------- */

static double take_min(double left, double right)
{
    return right < left ? right : left;
}

static double take_max(double left, double right)
{
    return right > left ? right : left;
}

static const struct function {
    const char *name;
    double (*one)(double);
    double (*fold)(double, double);
} functions[] = {
    {"min", NULL, take_min}, {"max", NULL, take_max}, {"abs", fabs, NULL},
    {"floor", floor, NULL},  {"ceil", ceil, NULL},    {"round", round, NULL},
};

static const struct function *function_find(const char *name)
{
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (strcmp(functions[i].name, name) == 0)
            return &functions[i];
    return NULL;
}

static struct value fold_arguments(struct plan *plan, const struct function *function,
                                   const struct expr *expr, const struct value *values, size_t count)
{
    struct value result = values[0];
    for (size_t i = 1; i < count; i++) {
        struct dim dim;
        if (!common_dim(result, values[i], &dim)) {
            struct span span = expr->call.arguments->items[i]->span;
            struct diag *diag = diag_add(plan->diags, DIAG_E0207, span, "`%s` of %s and %s", function->name,
                                         value_describe(plan, &result), value_describe(plan, &values[i]));
            diag_note_at(plan->diags, diag, expr->call.arguments->items[0]->span, "this is %s",
                         value_describe(plan, &result));
            return value_error();
        }
        result = value_number(function->fold(result.number, values[i].number), dim);
    }
    return result;
}

struct value arithmetic_call(struct plan *plan, struct scope scope, const struct expr *expr)
{
    const struct function *function = function_find(expr->call.function.text);
    size_t count = expr->call.arguments->count;
    if (!function) {
        diag_add(plan->diags, DIAG_E0217, expr->call.function.span, "there is no function `%s`",
                 expr->call.function.text);
        return value_error();
    }
    if (function->one ? count != 1 : count < 2) {
        diag_add(plan->diags, DIAG_E0217, expr->span, "`%s` takes %s", function->name,
                 function->one ? "one value" : "two values or more");
        return value_error();
    }
    struct value *values = ARENA_ARRAY(plan->arena, struct value, count);
    struct value settled = value_bool(true);
    bool stop = false;
    for (size_t i = 0; i < count; i++) {
        const struct expr *argument = expr->call.arguments->items[i];
        values[i] = evaluate(plan, scope, argument);
        struct value previous = settled;
        if (settle(&settled, previous, values[i]))
            stop = true;
        else if (values[i].type != VALUE_NUMBER) {
            diag_add(plan->diags, DIAG_E0208, argument->span, "`%s` needs numbers, not %s", function->name,
                     value_describe(plan, &values[i]));
            settled = value_error();
            stop = true;
        }
    }
    if (stop)
        return settled;
    if (function->one)
        return value_number(function->one(values[0].number), values[0].dim);
    return fold_arguments(plan, function, expr, values, count);
}
