/* threshold.c: where something changes. */
#include "result/threshold.h"

#include <math.h>
#include <string.h>

#include "syntax/ast.h"

/* ---- what changes ----------------------------------------------------------------------------------- */

int threshold_bound(void *unused, const struct evaluation *evaluation)
{
    (void)unused;
    return evaluation->result.expected.tpot > 0 ? (int)evaluation->result.decode.bound : -1;
}

int threshold_ceiling_side(void *unused, const struct evaluation *evaluation)
{
    (void)unused;
    const struct pm_ceiling *ceiling = &evaluation->result.decode_ceiling;
    const double ulp = 1e-15; /* where both are the same time, rounding does not decide */
    return ceiling->time > 0 ? ceiling->compute_time >= ceiling->memory_time * (1 - ulp) : -1;
}

int threshold_fits(void *unused, const struct evaluation *evaluation)
{
    (void)unused;
    const struct pm_result *result = &evaluation->result;
    return result->memory.fits && result->expected.running >= evaluation->binding.input.batch;
}

int threshold_asserted(void *assertion, const struct evaluation *evaluation)
{
    struct threshold_assertion *asked = assertion;
    evaluator_suppose(asked->evaluator, evaluation);
    struct value value = plan_evaluate(evaluator_plan(asked->evaluator), asked->check->condition);
    asked->read = evaluator_suppose_nothing(asked->evaluator) || asked->read;
    return value.type == VALUE_BOOL ? value.boolean : -1;
}

/* `chat.batch` is an attribute, and so is `chat.gpu.bandwidth` of what one refers to; `chat.tpot` is not. */
static bool path_reads_attribute(const struct path *path)
{
    char name[128] = "";
    size_t length = 0;
    for (size_t i = 1; i < path->count; i++) {
        size_t part = strlen(path->parts[i].text);
        if (length + part + 2 > sizeof name)
            return true;
        if (length > 0)
            name[length++] = '.';
        memcpy(name + length, path->parts[i].text, part + 1);
        length += part;
        if (attribute_find(KIND_SCENARIO, name) != ATTR_COUNT)
            return true;
    }
    return false;
}

static bool reads_attribute(const struct expr *expr)
{
    switch (expr->kind) {
    case EXPR_PATH: return path_reads_attribute(&expr->path);
    case EXPR_UNARY: return reads_attribute(expr->operation.right);
    case EXPR_BINARY:
        for (; expr->kind == EXPR_BINARY; expr = expr->operation.left)
            if (reads_attribute(expr->operation.right))
                return true;
        return reads_attribute(expr);
    case EXPR_CALL:
        for (size_t i = 0; i < expr->call.arguments->count; i++)
            if (reads_attribute(expr->call.arguments->items[i]))
                return true;
        return false;
    case EXPR_IF:
        return reads_attribute(expr->choice.condition) || reads_attribute(expr->choice.then) ||
               reads_attribute(expr->choice.otherwise);
    default: return false;
    }
}

bool threshold_can_ask(const struct check *check)
{
    return !reads_attribute(check->condition);
}

/* ---- where ----------------------------------------------------------------------------------------------
 */

struct search {
    struct variation *variation;
    enum vary input;
    threshold_state state;
    void *context;
    int from;
};

/* The state at a value; where nothing can be said, the one before. */
static int state_at(const struct search *search, double value)
{
    int state = search->state(search->context, variation_at(search->variation, search->input, value));
    return state < 0 ? search->from : state;
}

/* The next place to look: growing strides, so that a far limit is reached in a few steps. */
static double stride(const struct vary_info *info, double value, bool above, double limit)
{
    const double factor = 4;
    double next = above ? value * factor : value / factor;
    if (info->whole)
        next = above ? fmax(floor(next), value + 1) : fmin(ceil(next), value - 1);
    return above ? fmin(next, limit) : fmax(next, limit);
}

/* Between `last` (nothing changed) and `first` (changed): until they are neighbours. */
static void bisect(const struct search *search, bool whole, struct threshold *out)
{
    for (;;) {
        double middle = out->last + (out->first - out->last) / 2;
        if (whole)
            middle = floor(middle);
        if (middle == out->last || middle == out->first ||
            (!whole && fabs(out->first - out->last) <= 1e-15 * fabs(out->last)))
            break;
        int state = state_at(search, middle);
        if (state == out->from) {
            out->last = middle;
        } else {
            out->first = middle;
            out->to = state;
        }
    }
}

struct threshold threshold_find(struct variation *variation, enum vary input, bool above,
                                threshold_state state, void *context)
{
    struct vary_info info = vary_info(input);
    enum { FAR = 65536 };
    double value = variation_value(variation, input), reach = info.whole ? 1024 : 16;
    struct threshold out = {.input = input, .above = above, .last = value};
    if (!(value > 0))
        return out;
    struct search search = {variation, input, state, context, 0};
    search.from = out.from = state(context, variation_base(variation));
    if (out.from < 0)
        return out;
    double limit = above ? value * reach : value / reach;
    if (info.whole)
        limit = above ? fmax(limit, FAR) : 1;
    if (info.share && above)
        limit = fmax(value, 1);
    while (out.last != limit) {
        double next = stride(&info, out.last, above, limit);
        if (above ? next <= out.last : next >= out.last)
            break;
        int there = state_at(&search, next);
        if (there != out.from) {
            out.exists = true;
            out.first = next;
            out.to = there;
            bisect(&search, info.whole, &out);
            return out;
        }
        out.last = next;
    }
    return out;
}
