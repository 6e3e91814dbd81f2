/* coefficient.c: the coefficients of an engine that measurements can tell something about. */
#include "result/coefficient.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/number.h"
#include "sema/unit.h"

/* What kernel tables and fits by engine and generation show (docs/calibration.md sections 3 and 10):
 * bandwidth 0.72 to 1.0, dense products 0.31 to 0.77, attention 0.32 to 0.63, experts 0.04 to 0.19, time of
 * an operation 3 to 18 us, of a sequence 16 to 27 us, of an all-reduce 4.2 to 10.5 us, link 0.53 to 1.0,
 * stream intervals 3 to 28. */
static const struct coefficient_info infos[COEFFICIENT_COUNT] = {
    [COEFFICIENT_BANDWIDTH] = {"bandwidth reached", 0.12},
    [COEFFICIENT_MEMORY] = {"bandwidth reached", 0.12},
    [COEFFICIENT_DENSE] = {"matrix kernels", 0.25},
    [COEFFICIENT_ATTENTION] = {"attention kernels", 0.3},
    [COEFFICIENT_EXPERTS] = {"expert kernels", 0.4},
    [COEFFICIENT_OPERATION] = {"fixed time per operation", 0.25},
    [COEFFICIENT_SEQUENCE] = {"host time per sequence", 0.4},
    [COEFFICIENT_ALLREDUCE] = {"latency of all-reduces", 0.4},
    [COEFFICIENT_LINK] = {"bandwidth of all-reduces", 0.25},
    [COEFFICIENT_REQUEST] = {"host time per request", 0.5},
    [COEFFICIENT_STREAM] = {"steps before a token is sent", 1},
    [COEFFICIENT_WAVE] = {"wait for prefills of others", 0.5},
};

struct coefficient_info coefficient_info(enum coefficient coefficient)
{
    return infos[coefficient];
}

#define OF(member) offsetof(struct pm_engine, member)

static const struct coefficient_slot all[] = {
    {COEFFICIENT_BANDWIDTH, ATTR_ENGINE_EFFICIENCY_BANDWIDTH, OF(efficiency_bandwidth), true, NULL},
    {COEFFICIENT_MEMORY, ATTR_ENGINE_BANDWIDTH_HBM, OF(kind_bandwidth[PM_MEMORY_HBM]), true, NULL},
    {COEFFICIENT_MEMORY, ATTR_ENGINE_BANDWIDTH_GDDR, OF(kind_bandwidth[PM_MEMORY_GDDR]), true, NULL},
    {COEFFICIENT_MEMORY, ATTR_ENGINE_BANDWIDTH_SHARED, OF(kind_bandwidth[PM_MEMORY_SHARED]), true, NULL},
    {COEFFICIENT_DENSE, ATTR_ENGINE_EFFICIENCY_DENSE_16, OF(efficiency_dense[PM_CLASS_16]), true, NULL},
    {COEFFICIENT_DENSE, ATTR_ENGINE_EFFICIENCY_DENSE_8, OF(efficiency_dense[PM_CLASS_8]), true, NULL},
    {COEFFICIENT_DENSE, ATTR_ENGINE_EFFICIENCY_DENSE_4, OF(efficiency_dense[PM_CLASS_4]), true, NULL},
    {COEFFICIENT_ATTENTION, ATTR_ENGINE_EFFICIENCY_ATTENTION, OF(efficiency_attention), true, NULL},
    {COEFFICIENT_EXPERTS, ATTR_ENGINE_EFFICIENCY_EXPERTS_16, OF(efficiency_experts[PM_CLASS_16]), true, NULL},
    {COEFFICIENT_EXPERTS, ATTR_ENGINE_EFFICIENCY_EXPERTS_8, OF(efficiency_experts[PM_CLASS_8]), true, NULL},
    {COEFFICIENT_EXPERTS, ATTR_ENGINE_EFFICIENCY_EXPERTS_4, OF(efficiency_experts[PM_CLASS_4]), true, NULL},
    {COEFFICIENT_LINK, ATTR_ENGINE_EFFICIENCY_LINK, OF(efficiency_link), true, NULL},
    {COEFFICIENT_LINK, ATTR_ENGINE_EFFICIENCY_ONESHOT, OF(efficiency_oneshot), true, NULL},
    {COEFFICIENT_OPERATION, ATTR_ENGINE_OPERATION_TIME, OF(operation_time), false, "us"},
    {COEFFICIENT_SEQUENCE, ATTR_ENGINE_SEQUENCE_TIME, OF(sequence_time), false, "us"},
    {COEFFICIENT_ALLREDUCE, ATTR_ENGINE_ALLREDUCE_TIME, OF(allreduce_time), false, "us"},
    {COEFFICIENT_ALLREDUCE, ATTR_ENGINE_RING_TIME, OF(ring_time), false, "us"},
    {COEFFICIENT_REQUEST, ATTR_ENGINE_REQUEST_TIME, OF(request_time), false, "ms"},
    {COEFFICIENT_REQUEST, ATTR_ENGINE_USER_TIME, OF(user_time), false, "ms"},
    {COEFFICIENT_STREAM, ATTR_ENGINE_STREAM_INTERVAL, OF(stream_interval), false, NULL},
    {COEFFICIENT_WAVE, ATTR_ENGINE_FIRST_WAVE, OF(first_wave), false, NULL},
};

size_t coefficient_slots(const struct coefficient_slot **slots)
{
    *slots = all;
    return sizeof all / sizeof all[0];
}

double *coefficient_value(struct pm_engine *engine, const struct coefficient_slot *slot)
{
    return (double *)((char *)engine + slot->offset);
}

/* Shares of a peak end at 1, or where they were above it; factors on shares where they are written. */
static double most_of(const struct coefficient_slot *slot, double value)
{
    bool share = slot->rate && slot->coefficient != COEFFICIENT_MEMORY;
    return share ? fmax(value, 1) : attribute_info(slot->attribute)->maximum;
}

void coefficients_change(struct pm_engine *engine, const double change[COEFFICIENT_COUNT])
{
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        double *value = coefficient_value(engine, &all[i]);
        double times = change[all[i].coefficient];
        if (times == 0)
            continue;
        *value = fmin(*value * exp(all[i].rate ? -times : times), most_of(&all[i], *value));
    }
}

double coefficient_least(const struct coefficient_slot *slot, const struct pm_engine *engine,
                         const struct pm_gpu *gpu)
{
    bool memory = slot->coefficient == COEFFICIENT_MEMORY;
    double value = *(const double *)((const char *)engine + slot->offset), most = most_of(slot, value);
    if (memory || slot->coefficient == COEFFICIENT_BANDWIDTH) {
        /* What the card reaches is their product, and that is a share. */
        double own = gpu->efficiency_bandwidth, kind = engine->kind_bandwidth[gpu->memory_kind];
        double reached = (own > 0 ? own : engine->efficiency_bandwidth) * (kind > 0 ? kind : 1);
        most = fmin(most, fmax(value / reached, value));
    }
    return slot->rate && value > 0 ? log(value / most) : -HUGE_VAL;
}

const char *coefficient_text(struct arena *arena, const struct coefficient_slot *slot, double value)
{
    char text[NUMBER_TEXT_MAX];
    double scale = 1;
    struct dim dim;
    if (slot->unit)
        unit_literal("1", NULL, slot->unit, &scale, &dim);
    double shown = value / scale;
    number_significant(text, shown, 4);
    number_parse(text, strlen(text), 0, &shown);
    number_shortest(text, shown);
    return slot->unit ? arena_printf(arena, "%s %s", text, slot->unit) : arena_strdup(arena, text);
}

double coefficient_rounded(struct arena *arena, const struct coefficient_slot *slot, double value)
{
    struct dim dim;
    const char *text = coefficient_text(arena, slot, value);
    const char *digits = arena_strndup(arena, text, strcspn(text, " "));
    unit_literal(digits, NULL, slot->unit, &value, &dim);
    return value;
}
