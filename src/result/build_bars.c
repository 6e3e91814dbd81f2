/* build_bars.c: where the time and the memory go: parts that add up, as bars and as a table. */
#include <math.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "result/build_internal.h"

static const struct dim time_dim = {{[DIM_TIME] = 1}};

/* A part of every bar. */
struct part {
    enum series_kind kind;
    const char *label, *quantity;
    double *values; /* one for each scenario */
};

/* Parts of at most DRAWN_MAX scenarios with their totals. */
struct stack {
    const struct evaluation *scenarios[DRAWN_MAX];
    size_t count;
    struct part parts[8];
    size_t part_count;
    double *totals;
    const char *total_quantity;
    struct print_unit unit;
};

static double *add_part(struct builder *builder, struct stack *stack, enum series_kind kind,
                        const char *label, const char *quantity)
{
    struct part *part = &stack->parts[stack->part_count++];
    *part = (struct part){kind, label, quantity, ARENA_ARRAY(builder->arena, double, stack->count)};
    return part->values;
}

static double largest(const double *values, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs(values[i]));
    return most;
}

/* What the parts leave of the total, when it is more than rounding. */
static void add_remainder(struct builder *builder, struct stack *stack)
{
    double *rest = ARENA_ARRAY(builder->arena, double, stack->count);
    bool any = false;
    for (size_t j = 0; j < stack->count; j++) {
        double sum = 0;
        for (size_t i = 0; i < stack->part_count; i++)
            sum += stack->parts[i].values[j];
        rest[j] = stack->totals[j] - sum;
        if (fabs(rest[j]) <= 1e-9 * stack->totals[j])
            rest[j] = 0;
        any = any || rest[j] != 0;
    }
    if (any)
        stack->parts[stack->part_count++] = (struct part){SERIES_OTHER, "other", NULL, rest};
}

static void drop_empty_parts(struct stack *stack)
{
    size_t kept = 0;
    for (size_t i = 0; i < stack->part_count; i++)
        if (largest(stack->parts[i].values, stack->count) > 0)
            stack->parts[kept++] = stack->parts[i];
    stack->part_count = kept;
}

static void fill_bars(struct builder *builder, struct bar_chart *chart, const struct stack *stack,
                      const char *unit)
{
    chart->unit = unit;
    chart->unit_scale = stack->unit.scale;
    for (size_t j = 0; j < stack->count; j++) {
        struct bar *bar = VEC_PUSH(builder->arena, chart->bars);
        bar->label = stack->scenarios[j]->scenario->name;
        bar->total_text = unit_format(builder->arena, stack->totals[j], stack->unit, 3);
        for (size_t i = 0; i < stack->part_count; i++) {
            double value = stack->parts[i].values[j];
            if (value > 0)
                *VEC_PUSH(builder->arena, bar->parts) =
                    (struct bar_part){stack->parts[i].kind, stack->parts[i].label, value,
                                      unit_format(builder->arena, value, stack->unit, 3)};
        }
    }
}

enum { DESCRIBED_MAX = 4 };

/* What the bars show, in words: "today: 30.4 ms, the largest part reading weights with 6.05 ms." */
static const char *describe(struct builder *builder, const struct stack *stack, const char *what)
{
    struct buffer out = buffer_in(builder->arena);
    buffer_text(&out, what);
    for (size_t j = 0; j < stack->count && j < DESCRIBED_MAX && stack->part_count > 0; j++) {
        const struct part *most = &stack->parts[0];
        for (size_t i = 1; i < stack->part_count; i++)
            if (stack->parts[i].values[j] > most->values[j])
                most = &stack->parts[i];
        buffer_printf(&out, " %s: %s, the largest part %s with %s.", stack->scenarios[j]->scenario->name,
                      unit_format(builder->arena, stack->totals[j], stack->unit, 3), most->label,
                      unit_format(builder->arena, most->values[j], stack->unit, 3));
    }
    buffer_text(&out, " All figures are in the table after the chart.");
    return buffer_string(&out);
}

/* The parts, then their total, then rows beside the sum. */
static void add_stack_table(struct builder *builder, struct report_section *section, const char *caption,
                            const struct stack *stack, const struct matrix_row *more, size_t more_count)
{
    struct matrix_row rows[16];
    size_t count = 0;
    for (size_t i = 0; i < stack->part_count; i++)
        rows[count++] = (struct matrix_row){stack->parts[i].label, stack->parts[i].quantity,
                                            stack->parts[i].values, false};
    rows[count++] = (struct matrix_row){"total", stack->total_quantity, stack->totals, true};
    for (size_t i = 0; i < more_count; i++)
        rows[count++] = more[i];
    add_matrix(builder, section, caption, stack->scenarios, stack->count, rows, count, stack->unit);
}

/* ---- time ----------------------------------------------------------------------------------- */

struct term {
    enum pm_bound bound;
    enum series_kind kind;
    const char *label, *decode, *prefill;
};

static const struct term terms[] = {
    {PM_BOUND_WEIGHTS, SERIES_WEIGHTS, "reading weights", "decode.time.weights", "prefill.time.weights"},
    {PM_BOUND_KV, SERIES_KV, "reading the KV cache", "decode.time.kv", "prefill.time.kv"},
    {PM_BOUND_COMPUTE, SERIES_COMPUTE, "computing", "decode.time.compute", "prefill.time.compute"},
    {PM_BOUND_COMMUNICATION, SERIES_COMMUNICATION, "communication", "decode.time.communication",
     "prefill.time.communication"},
    {PM_BOUND_FIXED, SERIES_FIXED, "fixed times", "decode.time.fixed", "prefill.time.fixed"},
};

/* The three times that are shown by their terms. */
enum time_of { TIME_PER_TOKEN, DECODE_STEP, PREFILL };

static const struct {
    const char *id, *title, *description, *quantity, *per;
} times[] = {
    [TIME_PER_TOKEN] = {"time", "Time per token, expected",
                        "One bar per scenario: the expected time per token by what it is spent on.", "tpot",
                        "token"},
    [DECODE_STEP] = {"time", "Decode step, expected",
                     "One bar per scenario: the expected time of a decode step by what it is spent on.",
                     "decode.time", "decode step"},
    [PREFILL] = {"time-prefill", "Prefill, expected",
                 "One bar per scenario: the expected time of a prefill by what it is spent on.",
                 "prefill.time", "prefill"},
};

static const struct pm_step *step_of(const struct evaluation *evaluation, enum time_of time)
{
    return time == PREFILL ? &evaluation->result.prefill : &evaluation->result.decode;
}

static double total_of(const struct evaluation *evaluation, enum time_of time)
{
    return time == TIME_PER_TOKEN ? evaluation->result.expected.tpot : step_of(evaluation, time)->time;
}

/* With speculation a step makes several tokens, and a single token of output has no time per token. */
static bool has_time_per_token(const struct evaluation *evaluation)
{
    return evaluation->result.expected.tpot > 0 && evaluation->result.expected.tokens_per_step <= 1;
}

static void fill_time_stack(struct builder *builder, struct stack *stack, enum time_of time)
{
    size_t all = drawn(builder, stack->scenarios);
    for (size_t j = 0; j < all; j++)
        if (step_of(stack->scenarios[j], time)->time > 0)
            stack->scenarios[stack->count++] = stack->scenarios[j];
    if (stack->count == 0)
        return;
    stack->totals = ARENA_ARRAY(builder->arena, double, stack->count);
    stack->total_quantity = times[time].quantity;
    for (size_t j = 0; j < stack->count; j++)
        stack->totals[j] = total_of(stack->scenarios[j], time);
    for (size_t i = 0; i < sizeof terms / sizeof terms[0]; i++) {
        double *values = add_part(builder, stack, terms[i].kind, terms[i].label,
                                  time == PREFILL ? terms[i].prefill : terms[i].decode);
        for (size_t j = 0; j < stack->count; j++)
            values[j] = step_of(stack->scenarios[j], time)->term[terms[i].bound];
    }
    if (time == TIME_PER_TOKEN) {
        double *waiting = add_part(builder, stack, SERIES_PREFILL, "prefills of other users", "interference");
        for (size_t j = 0; j < stack->count; j++)
            waiting[j] = stack->scenarios[j]->result.expected.interference;
    }
    add_remainder(builder, stack);
    drop_empty_parts(stack);
    struct extent extent = {0, 0};
    for (size_t j = 0; j < stack->count; j++)
        extent_add(&extent, stack->totals[j]);
    stack->unit = unit_for_print(time_dim, extent_middle(&extent), UNIT_STYLE_DECIMAL);
}

static void add_time(struct builder *builder, struct report_section *section, enum time_of time)
{
    struct stack stack = {.count = 0};
    fill_time_stack(builder, &stack, time);
    if (stack.count == 0)
        return;
    struct report_chart *chart = add_chart(builder, section, CHART_BARS, times[time].id, times[time].title);
    chart->description = describe(builder, &stack, times[time].description);
    fill_bars(builder, &chart->bars, &stack,
              arena_printf(builder->arena, "%s per %s", stack.unit.text, times[time].per));
    add_stack_table(builder, section, chart->title, &stack, NULL, 0);
}

void build_time(struct builder *builder)
{
    if (builder->valid == 0)
        return;
    struct report_section *section = add_section(builder, "time", "Where the time goes", false);
    say_what_is_drawn(builder, section);
    const struct evaluation *scenarios[DRAWN_MAX];
    size_t count = drawn(builder, scenarios), with_tokens = 0;
    for (size_t i = 0; i < count; i++)
        with_tokens += has_time_per_token(scenarios[i]);
    add_time(builder, section, with_tokens == count ? TIME_PER_TOKEN : DECODE_STEP);
    add_time(builder, section, PREFILL);
}

/* ---- memory --------------------------------------------------------------------------------- */

static void fill_memory_stack(struct builder *builder, struct stack *stack)
{
    stack->count = drawn(builder, stack->scenarios);
    stack->totals = ARENA_ARRAY(builder->arena, double, stack->count);
    stack->total_quantity = "memory.total";
    double *weights = add_part(builder, stack, SERIES_WEIGHTS, "weights", "memory.weights");
    double *kv = add_part(builder, stack, SERIES_KV, "KV cache", "memory.kv");
    double *activations = add_part(builder, stack, SERIES_ACTIVATIONS, "activations", "memory.activations");
    double *overhead = add_part(builder, stack, SERIES_OVERHEAD, "overhead", "memory.overhead");
    for (size_t j = 0; j < stack->count; j++) {
        const struct pm_memory *memory = &stack->scenarios[j]->result.memory;
        weights[j] = memory->weights;
        kv[j] = memory->kv;
        activations[j] = memory->activations;
        overhead[j] = memory->overhead;
        stack->totals[j] = memory->total;
    }
    add_remainder(builder, stack);
    drop_empty_parts(stack);
}

static void add_limits(struct builder *builder, struct bar_chart *chart, const struct stack *stack,
                       const double *usable)
{
    for (size_t j = 0; j < stack->count; j++) {
        struct bar *bar = &chart->bars.items[j];
        int digits =
            unit_digits_against(stack->totals[j] / stack->unit.scale, usable[j] / stack->unit.scale, 3);
        bar->limit = usable[j];
        bar->limit_text = arena_printf(builder->arena, "usable %s",
                                       unit_format(builder->arena, usable[j], stack->unit, digits));
        bar->total_text = unit_format(builder->arena, stack->totals[j], stack->unit, digits);
    }
}

void build_memory(struct builder *builder)
{
    if (builder->valid == 0)
        return;
    struct report_section *section = add_section(builder, "memory", "Where the memory goes", false);
    say_what_is_drawn(builder, section);
    struct stack stack = {.count = 0};
    fill_memory_stack(builder, &stack);
    double *usable = ARENA_ARRAY(builder->arena, double, stack.count);
    double *left = ARENA_ARRAY(builder->arena, double, stack.count);
    double *capacity = ARENA_ARRAY(builder->arena, double, stack.count);
    for (size_t j = 0; j < stack.count; j++) {
        const struct pm_memory *memory = &stack.scenarios[j]->result.memory;
        usable[j] = memory->usable;
        left[j] = memory->free;
        capacity[j] = memory->capacity;
    }
    stack.unit = memory_unit(fmax(largest(stack.totals, stack.count), largest(usable, stack.count)));
    struct report_chart *chart =
        add_chart(builder, section, CHART_BARS, "memory", "Memory of the fullest GPU");
    chart->description =
        describe(builder, &stack,
                 "One bar per scenario: what occupies the memory of the fullest GPU, against "
                 "what may be used of it.");
    fill_bars(builder, &chart->bars, &stack, arena_printf(builder->arena, "%s per GPU", stack.unit.text));
    add_limits(builder, &chart->bars, &stack, usable);
    const struct matrix_row more[] = {
        {"usable", "memory.usable", usable, false},
        {"free (negative: missing)", "memory.free", left, false},
        {"memory of the card", "memory.capacity", capacity, false},
    };
    add_stack_table(builder, section, chart->title, &stack, more, sizeof more / sizeof more[0]);
}
