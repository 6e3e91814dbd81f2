/* threshold.c: where something changes. */
#include "result/threshold.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "syntax/ast.h"

/* ---- what changes ----------------------------------------------------------------------------------- */

int threshold_bound(void *unused, const struct evaluation *evaluation)
{
    (void)unused;
    return evaluation->result.expected.decode_step > 0 ? (int)evaluation->result.decode.bound : -1;
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

/* ---- what decides it ------------------------------------------------------------------------------------
 */

/* Parts of a result that a quantity is read from. */
static unsigned parts_of_quantity(const char *name)
{
    const struct quantity_info *info = quantity_find(QUANTITY_OF_SCENARIO, name);
    if (info == NULL)
        return PM_PART_ALL;
    switch (info->id) {
    case Q_FITS:
    case Q_MAX_BATCH:
    case Q_MAX_CONTEXT:
    case Q_KV_TOKENS: return PM_PART_MEMORY;
    case Q_TPOT:
    case Q_TTFT:
    case Q_SPEED:
    case Q_LATENCY:
    case Q_THROUGHPUT:
    case Q_CEILING_TPOT: return PM_PART_MEMORY | PM_PART_SERVICE;
    default: return strncmp(name, "memory.", strlen("memory.")) == 0 ? PM_PART_MEMORY : PM_PART_ALL;
    }
}

static unsigned parts_of_path(const struct path *path)
{
    char name[64];
    size_t length = 0;
    for (size_t i = 1; i < path->count; i++) {
        int more =
            snprintf(name + length, sizeof name - length, "%s%s", i > 1 ? "." : "", path->parts[i].text);
        length += more > 0 ? (size_t)more : 0;
        if (length >= sizeof name)
            return PM_PART_ALL;
    }
    return length > 0 ? parts_of_quantity(name) : PM_PART_ALL;
}

static unsigned parts_of_expr(const struct expr *expr)
{
    switch (expr->kind) {
    case EXPR_NUMBER:
    case EXPR_STRING: return 0;
    case EXPR_PATH: return parts_of_path(&expr->path);
    case EXPR_UNARY: return parts_of_expr(expr->operation.right);
    case EXPR_BINARY: {
        unsigned parts = 0;
        for (; expr->kind == EXPR_BINARY; expr = expr->operation.left)
            parts |= parts_of_expr(expr->operation.right);
        return parts | parts_of_expr(expr);
    }
    default: return PM_PART_ALL;
    }
}

static unsigned parts_of(threshold_state state, const struct threshold_assertion *asked)
{
    if (state == threshold_bound || state == threshold_ceiling_side)
        return PM_PART_MEMORY | PM_PART_DECODE;
    if (state == threshold_fits)
        return PM_PART_MEMORY;
    return state == threshold_asserted ? parts_of_expr(asked->check->condition) : PM_PART_ALL;
}

struct threshold_question threshold_question(threshold_state state, void *context)
{
    return (struct threshold_question){state, context, parts_of(state, context)};
}

/* How far the largest term of a step is above the others. */
static double bound_margin(const struct pm_step *step, int bound)
{
    double other = 0;
    for (int i = 0; i < PM_BOUND_COUNT; i++)
        if (i != bound && step->term[i] > other)
            other = step->term[i];
    return step->term[bound] - other;
}

/* How far a condition is from changing: positive where it holds, negative where it fails. NAN: it has no
 * such number. */
static double condition_margin(struct plan *plan, const struct expr *expr)
{
    if (expr->kind == EXPR_UNARY && expr->operation.op == OP_NOT)
        return -condition_margin(plan, expr->operation.right);
    if (expr->kind != EXPR_BINARY)
        return NAN;
    const struct expr *left = expr->operation.left, *right = expr->operation.right;
    double sign = 1;
    switch (expr->operation.op) {
    case OP_LESS:
    case OP_LESS_EQUAL: sign = -1; break;
    case OP_GREATER:
    case OP_GREATER_EQUAL: break;
    default: return NAN;
    }
    struct value one = plan_evaluate(plan, left), other = plan_evaluate(plan, right);
    bool numbers = one.type == VALUE_NUMBER && other.type == VALUE_NUMBER;
    return numbers ? sign * (one.number - other.number) : NAN;
}

/* A number that changes its sign where the state changes; NAN: there is none. */
static double margin_of(const struct threshold_question *question, int from,
                        const struct evaluation *evaluation)
{
    const struct pm_result *result = &evaluation->result;
    if (question->state == threshold_bound)
        return bound_margin(&result->decode, from);
    if (question->state == threshold_ceiling_side)
        return result->decode_ceiling.compute_time - result->decode_ceiling.memory_time;
    if (question->state != threshold_asserted)
        return NAN;
    struct threshold_assertion *asked = question->context;
    evaluator_suppose(asked->evaluator, evaluation);
    double margin = condition_margin(evaluator_plan(asked->evaluator), asked->check->condition);
    evaluator_suppose_nothing(asked->evaluator);
    return margin;
}

/* ---- where ----------------------------------------------------------------------------------------------
 */

struct search {
    struct variation *variation;
    enum vary input;
    struct vary_info info;
    const struct threshold_question *question;
    int from;
};

/* Neighbours among rates: the last digits of a double. */
static const double LEAST = 1e-15;

/* A place that was looked at. */
struct place {
    double value, margin;
    int state;
};

static int state_of(const struct threshold_question *question, int from, const struct evaluation *evaluation)
{
    int state = question->state(question->context, evaluation);
    return state < 0 ? from : state; /* where nothing can be said, the one before */
}

static struct place look_at(const struct search *search, double value, bool margin)
{
    const struct threshold_question *question = search->question;
    bool as_it_is = value == variation_value(search->variation, search->input);
    const struct evaluation *evaluation =
        as_it_is ? variation_base(search->variation)
                 : variation_parts_at(search->variation, search->input, value, question->parts);
    return (struct place){value, margin ? margin_of(question, search->from, evaluation) : NAN,
                          state_of(question, search->from, evaluation)};
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

/* Times are sums of terms in 1 over a rate, so there a chord of them is nearly the curve. */
static double scaled(const struct vary_info *info, double value)
{
    return info->dim.power[DIM_TIME] < 0 ? 1 / value : value;
}

/* Where the chord between two places crosses zero, but not at either of them. */
static double crossing(const struct vary_info *info, const struct place *one, const struct place *other)
{
    double from = scaled(info, one->value), to = scaled(info, other->value), least = LEAST * one->value;
    double at = scaled(info, from - one->margin * (to - from) / (other->margin - one->margin));
    double low = fmin(one->value, other->value), high = fmax(one->value, other->value);
    return fmin(fmax(at, low + least), high - least);
}

/* Draws the places on both sides of a change of a rate together by false position, as Anderson and Bjorck
 * (BIT 13, 1973) weight it, so that both ends move; until little is left between them, or a margin says
 * nothing. What is between whole numbers may change and change back, which this would step over. */
static void narrow(const struct search *search, struct place *last, struct place *first)
{
    enum { TRIES = 24 };
    *last = look_at(search, last->value, true);
    if (isnan(last->margin))
        return;
    *first = look_at(search, first->value, true);
    for (int i = 0; i < TRIES && last->margin * first->margin < 0; i++) {
        if (!(fabs(first->value - last->value) > 2 * LEAST * last->value))
            return;
        struct place middle = look_at(search, crossing(&search->info, last, first), true);
        struct place *near = middle.state == search->from ? last : first;
        struct place *far = near == last ? first : last;
        if (middle.margin * near->margin < 0)
            middle.margin = 0; /* rounding put it on the other side */
        double weight = 1 - middle.margin / near->margin;
        far->margin *= weight > 0 ? weight : 0.5;
        *near = middle;
    }
}

/* Between `last` (nothing changed) and `first` (changed): until they are neighbours. Where narrow() has been,
 * it is known without looking. */
static void bisect(const struct search *search, struct threshold *out)
{
    struct place last = {.value = out->last}, first = {.value = out->first, .state = out->to};
    if (!search->info.whole)
        narrow(search, &last, &first);
    for (;;) {
        double middle = out->last + (out->first - out->last) / 2;
        if (search->info.whole)
            middle = floor(middle);
        if (middle == out->last || middle == out->first ||
            (!search->info.whole && fabs(out->first - out->last) <= LEAST * fabs(out->last)))
            break;
        struct place there = {.value = middle, .state = search->from};
        if (out->above ? middle >= first.value : middle <= first.value)
            there.state = first.state;
        else if (out->above ? middle > last.value : middle < last.value)
            there = look_at(search, middle, false);
        if (there.state == out->from) {
            out->last = middle;
        } else {
            out->first = middle;
            out->to = there.state;
        }
    }
}

static double limit_of(const struct vary_info *info, double value, bool above)
{
    enum { FAR = 65536 };
    double reach = info->whole ? 1024 : 16, limit = above ? value * reach : value / reach;
    if (info->whole)
        return above ? fmax(limit, FAR) : 1;
    return info->share && above ? fmax(value, 1) : limit;
}

/* Looks at the next places for all questions at once, until each has changed or the limit is reached. */
static void march(struct variation *variation, enum vary input, const struct threshold_question *questions,
                  size_t count, bool *open, struct threshold *out)
{
    struct vary_info info = vary_info(input);
    bool above = out[0].above;
    double value = variation_value(variation, input), limit = limit_of(&info, value, above);
    while (value != limit) {
        double next = stride(&info, value, above, limit);
        unsigned parts = 0;
        for (size_t i = 0; i < count; i++)
            parts |= open[i] ? questions[i].parts : 0;
        if (parts == 0 || (above ? next <= value : next >= value))
            return;
        const struct evaluation *there = variation_parts_at(variation, input, next, parts);
        for (size_t i = 0; i < count; i++) {
            if (!open[i])
                continue;
            out[i].to = state_of(&questions[i], out[i].from, there);
            out[i].exists = out[i].to != out[i].from;
            *(out[i].exists ? &out[i].first : &out[i].last) = next;
            open[i] = !out[i].exists;
        }
        value = next;
    }
}

void thresholds_find(struct variation *variation, enum vary input, bool above,
                     const struct threshold_question *questions, size_t count, struct threshold *out)
{
    bool open[THRESHOLD_QUESTIONS_MAX];
    double value = variation_value(variation, input);
    for (size_t i = 0; i < count; i++) {
        out[i] = (struct threshold){.input = input, .above = above, .last = value};
        if (value > 0)
            out[i].from = questions[i].state(questions[i].context, variation_base(variation));
        open[i] = value > 0 && out[i].from >= 0 && (questions[i].parts & vary_parts(input)) != 0;
    }
    march(variation, input, questions, count, open, out);
    for (size_t i = 0; i < count; i++)
        if (out[i].exists)
            bisect(&(struct search){variation, input, vary_info(input), &questions[i], out[i].from}, &out[i]);
}

struct threshold threshold_find(struct variation *variation, enum vary input, bool above,
                                threshold_state state, void *context)
{
    struct threshold out;
    struct threshold_question question = threshold_question(state, context);
    thresholds_find(variation, input, above, &question, 1, &out);
    return out;
}
