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
                        enum message label, const char *quantity)
{
    struct part *part = &stack->parts[stack->part_count++];
    *part = (struct part){kind, words(builder, label), quantity,
                          ARENA_ARRAY(builder->arena, double, stack->count)};
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
        stack->parts[stack->part_count++] =
            (struct part){SERIES_OTHER, words(builder, M_PART_OTHER), NULL, rest};
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
static const char *describe(struct builder *builder, const struct stack *stack, enum message what)
{
    struct buffer out = buffer_in(builder->arena);
    buffer_text(&out, words(builder, what));
    for (size_t j = 0; j < stack->count && j < DESCRIBED_MAX && stack->part_count > 0; j++) {
        const struct part *most = &stack->parts[0];
        for (size_t i = 1; i < stack->part_count; i++)
            if (stack->parts[i].values[j] > most->values[j])
                most = &stack->parts[i];
        buffer_text(&out, WORDS(builder, M_DESCRIBE_BAR, stack->scenarios[j]->scenario->name,
                                unit_format(builder->arena, stack->totals[j], stack->unit, 3), most->label,
                                unit_format(builder->arena, most->values[j], stack->unit, 3)));
    }
    buffer_text(&out, words(builder, M_FIGURES_IN_TABLE));
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
    rows[count++] =
        (struct matrix_row){words(builder, M_PART_TOTAL), stack->total_quantity, stack->totals, true};
    for (size_t i = 0; i < more_count; i++)
        rows[count++] = more[i];
    add_matrix(builder, section, caption, stack->scenarios, stack->count, rows, count, stack->unit);
}

/* ---- time ----------------------------------------------------------------------------------- */

struct term {
    enum pm_bound bound;
    enum series_kind kind;
    enum message label;
    const char *decode, *prefill;
};

static const struct term terms[] = {
    {PM_BOUND_WEIGHTS, SERIES_WEIGHTS, M_READING_WEIGHTS, "decode.time.weights", "prefill.time.weights"},
    {PM_BOUND_KV, SERIES_KV, M_READING_CACHE, "decode.time.kv", "prefill.time.kv"},
    {PM_BOUND_COMPUTE, SERIES_COMPUTE, M_COMPUTING, "decode.time.compute", "prefill.time.compute"},
    {PM_BOUND_COMMUNICATION, SERIES_COMMUNICATION, M_COMMUNICATION, "decode.time.communication",
     "prefill.time.communication"},
    {PM_BOUND_FIXED, SERIES_FIXED, M_FIXED_TIMES, "decode.time.fixed", "prefill.time.fixed"},
};

/* The three times that are shown by their terms. */
enum time_of { TIME_PER_TOKEN, DECODE_STEP, PREFILL };

static const struct {
    const char *id, *quantity;
    enum message title, description, axis;
} times[] = {
    [TIME_PER_TOKEN] = {"time", "tpot", M_TIME_PER_TOKEN_EXPECTED, M_DESCRIBE_TIME_PER_TOKEN,
                        M_AXIS_PER_TOKEN},
    [DECODE_STEP] = {"time", "decode.time", M_DECODE_STEP_EXPECTED, M_DESCRIBE_DECODE_STEP, M_AXIS_PER_STEP},
    [PREFILL] = {"time-prefill", "prefill.time", M_PREFILL_EXPECTED, M_DESCRIBE_PREFILL, M_AXIS_PER_PREFILL},
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

/* The scenarios that are drawn and have such a time. */
static void choose_scenarios(struct builder *builder, struct stack *stack, enum time_of time)
{
    size_t all = drawn(builder, stack->scenarios);
    for (size_t j = 0; j < all; j++)
        if (step_of(stack->scenarios[j], time)->time > 0)
            stack->scenarios[stack->count++] = stack->scenarios[j];
}

static void add_term(struct builder *builder, struct stack *stack, const struct term *term, enum time_of time)
{
    double *values =
        add_part(builder, stack, term->kind, term->label, time == PREFILL ? term->prefill : term->decode);
    for (size_t j = 0; j < stack->count; j++)
        values[j] = step_of(stack->scenarios[j], time)->term[term->bound];
}

static void add_interference(struct builder *builder, struct stack *stack)
{
    double *waiting = add_part(builder, stack, SERIES_PREFILL, M_PREFILLS_OF_OTHERS, "interference");
    for (size_t j = 0; j < stack->count; j++)
        waiting[j] = stack->scenarios[j]->result.expected.interference;
}

static void fill_time_stack(struct builder *builder, struct stack *stack, enum time_of time)
{
    choose_scenarios(builder, stack, time);
    if (stack->count == 0)
        return;
    struct extent extent = {0, 0};
    stack->totals = ARENA_ARRAY(builder->arena, double, stack->count);
    stack->total_quantity = times[time].quantity;
    for (size_t j = 0; j < stack->count; j++) {
        stack->totals[j] = total_of(stack->scenarios[j], time);
        extent_add(&extent, stack->totals[j]);
    }
    for (size_t i = 0; i < sizeof terms / sizeof terms[0]; i++)
        add_term(builder, stack, &terms[i], time);
    if (time == TIME_PER_TOKEN)
        add_interference(builder, stack);
    add_remainder(builder, stack);
    drop_empty_parts(stack);
    stack->unit = unit_for_print(time_dim, extent_middle(&extent), UNIT_STYLE_DECIMAL);
}

/* A decode step and a prefill have no band of their own. */
static void add_bands(struct builder *builder, struct bar_chart *chart, const struct stack *stack)
{
    for (size_t j = 0; j < stack->count; j++) {
        const struct pm_band *band = &stack->scenarios[j]->result.expected.tpot_band;
        if (!(band->high > band->low))
            continue;
        chart->bars.items[j].low = band->low;
        chart->bars.items[j].high = band->high;
        chart->bars.items[j].band_text =
            WORDS(builder, M_FROM_TO, unit_number(builder->arena, band->low, stack->unit, 3),
                  unit_format(builder->arena, band->high, stack->unit, 3));
    }
}

static void add_time(struct builder *builder, struct report_section *section, enum time_of time)
{
    struct stack stack = {.count = 0};
    fill_time_stack(builder, &stack, time);
    if (stack.count == 0)
        return;
    struct report_chart *chart =
        add_chart(builder, section, CHART_BARS, times[time].id, words(builder, times[time].title));
    chart->description = describe(builder, &stack, times[time].description);
    fill_bars(builder, &chart->bars, &stack, WORDS(builder, times[time].axis, stack.unit.text));
    if (time == TIME_PER_TOKEN)
        add_bands(builder, &chart->bars, &stack);
    add_stack_table(builder, section, chart->title, &stack, NULL, 0);
}

void build_time(struct builder *builder)
{
    if (builder->valid == 0)
        return;
    struct report_section *section = add_section(builder, "time", words(builder, M_WHERE_TIME_GOES), false);
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
    double *weights = add_part(builder, stack, SERIES_WEIGHTS, M_PART_WEIGHTS, "memory.weights");
    double *kv = add_part(builder, stack, SERIES_KV, M_PART_KV_CACHE, "memory.kv");
    double *activations =
        add_part(builder, stack, SERIES_ACTIVATIONS, M_PART_ACTIVATIONS, "memory.activations");
    double *overhead = add_part(builder, stack, SERIES_OVERHEAD, M_PART_OVERHEAD, "memory.overhead");
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
        bar->limit_text =
            WORDS(builder, M_USABLE_VALUE, unit_format(builder->arena, usable[j], stack->unit, digits));
        bar->total_text = unit_format(builder->arena, stack->totals[j], stack->unit, digits);
    }
}

void build_memory(struct builder *builder)
{
    if (builder->valid == 0)
        return;
    struct report_section *section =
        add_section(builder, "memory", words(builder, M_WHERE_MEMORY_GOES), false);
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
        add_chart(builder, section, CHART_BARS, "memory", words(builder, M_MEMORY_OF_FULLEST));
    chart->description = describe(builder, &stack, M_DESCRIBE_MEMORY);
    fill_bars(builder, &chart->bars, &stack, WORDS(builder, M_AXIS_PER_GPU, stack.unit.text));
    add_limits(builder, &chart->bars, &stack, usable);
    const struct matrix_row more[] = {
        {words(builder, M_PART_USABLE), "memory.usable", usable, false},
        {words(builder, M_PART_FREE), "memory.free", left, false},
        {words(builder, M_PART_CAPACITY), "memory.capacity", capacity, false},
    };
    add_stack_table(builder, section, chart->title, &stack, more, sizeof more / sizeof more[0]);
}
