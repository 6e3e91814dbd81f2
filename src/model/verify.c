/* verify.c: invariants that hold for every result (architecture.md): sums equal their totals, bounds bound,
 * what fits does fit, and the closed loop obeys Little's law. */
#include "model/internal.h"

static bool same(double a, double b, double scale)
{
    return fabs(a - b) <= 1e-9 * (fabs(scale) + 1e-30);
}

static bool finite_all(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!(fabs(values[i]) <= 1e308)) {
            return false;
        }
    }
    return true;
}

/* Every structure checked here is nothing but doubles up to the member named. */
#define FINITE(object, last)                                                                                 \
    finite_all(                                                                                              \
        (const double *)(const void *)(object),                                                              \
        (size_t)((const double *)(const void *)&(object)->last - (const double *)(const void *)(object)) +   \
            1)

static const char *verify_finite(const struct pm_result *result)
{
    const struct pm_memory *memory = &result->memory;
    const double rest[] = {
        memory->max_batch,
        memory->max_context,
        result->context,
        result->sequence_length,
        result->critical_batch,
        result->critical_context,
        result->kv_equals_weights,
        result->gpus,
        result->mfu,
        result->mbu,
        result->cost_per_mtok,
        result->cost_per_mtok_blended,
        result->energy_per_token,
        result->scaling_efficiency,
        result->expert_exchange,
    };
    if (!FINITE(&result->params, weight_bytes) || !FINITE(memory, kv_tokens) ||
        !finite_all(memory->weights_by_class, sizeof memory->weights_by_class / sizeof(double)) ||
        !FINITE(&result->decode_ceiling, balance) || !FINITE(&result->prefill_ceiling, balance) ||
        !FINITE(&result->decode, work) || !FINITE(&result->mixed, work) || !FINITE(&result->prefill, work) ||
        !FINITE(&result->ceiling, throughput_band) || !FINITE(&result->expected, throughput_band) ||
        !finite_all(rest, sizeof rest / sizeof rest[0])) {
        return "a result is not finite";
    }
    return NULL;
}

static const char *verify_params(const struct pm_params *params)
{
    double parts = params->embedding + params->positions + params->attention + params->ffn + params->experts +
                   params->shared + params->router + params->norms + params->head + params->other;
    if (!same(parts, params->total, params->total)) {
        return "the parameters of the parts do not add up to the total";
    }
    if (params->active > params->total * (1 + 1e-12) ||
        params->matmul_active > params->matmul * (1 + 1e-12)) {
        return "more parameters are active than there are";
    }
    return NULL;
}

static const char *verify_memory(const struct pm_memory *memory)
{
    double weights = 0;
    for (size_t i = 0; i < sizeof memory->weights_by_class / sizeof(double); i++) {
        weights += memory->weights_by_class[i];
    }
    if (!same(weights, memory->weights, memory->weights)) {
        return "the weights of the classes do not add up";
    }
    double total = memory->weights + memory->kv + memory->activations + memory->overhead;
    if (!same(total, memory->total, total)) {
        return "the parts of memory do not add up to the total";
    }
    if (memory->fits != (memory->total <= memory->usable) || memory->usable > memory->capacity) {
        return "what fits exceeds the usable memory";
    }
    if (memory->fits ? memory->shortfall != 0 || memory->free < 0 : !(memory->shortfall > 0)) {
        return "the shortfall contradicts whether it fits";
    }
    if (memory->fits && memory->max_batch < 1) {
        return "a case fits that not one sequence of fits";
    }
    return NULL;
}

static const char *verify_step(const struct pm_step *step)
{
    double sum = 0;
    for (int i = 0; i < PM_BOUND_COUNT; i++) {
        if (step->term[i] < 0) {
            return "a part of a step takes less than no time";
        }
        sum += step->term[i];
    }
    return same(sum, step->time, step->time) ? NULL : "the parts of a step do not add up to its time";
}

/* `slack`: a rounding is no violation. */
static bool below(double expected, double ceiling)
{
    return expected >= 0 && ceiling >= 0 && expected < ceiling * (1 - 1e-12);
}

static const char *verify_service(const struct pm_case *input, const struct pm_result *result)
{
    const struct pm_service *expected = &result->expected, *ceiling = &result->ceiling;
    if (below(result->decode.time, result->decode_ceiling.time) || below(expected->tpot, ceiling->tpot) ||
        below(expected->ttft, ceiling->ttft) || below(expected->latency, ceiling->latency) ||
        below(ceiling->throughput, expected->throughput)) {
        return "an expected value beats the ceiling";
    }
    if (below(expected->tpot_band.low, ceiling->tpot) || below(expected->tpot, expected->tpot_band.low) ||
        below(expected->tpot_band.high, expected->tpot) || below(expected->ttft_band.low, ceiling->ttft) ||
        below(expected->throughput, expected->throughput_band.low)) {
        return "a band does not hold its value, or reaches below the ceiling";
    }
    if (result->mbu > 1 + 1e-9) {
        return "more bytes move than the bandwidth allows";
    }
    if (pm_is_static(input)) {
        return NULL;
    }
    double parts = expected->request_time + expected->prefill + expected->stream_time + expected->wave_time +
                   expected->queueing;
    if (expected->ttft >= 0 && !same(parts, expected->ttft, parts)) {
        return "the parts of the time to first token do not add up";
    }
    double batch = pm_at_least(input->batch, 1), replicas = pm_at_least(input->replicas, 1);
    if (!same(expected->requests_per_second * expected->latency, batch * replicas, batch * replicas)) {
        return "throughput breaks Little's law: requests inside are not rate times latency";
    }
    double residence = expected->latency - expected->queueing;
    if (!input->engine->as_calibrated &&
        !same(expected->requests_per_second * residence, expected->running * replicas, batch * replicas)) {
        return "running sequences break Little's law";
    }
    return NULL;
}

const char *pm_verify(const struct pm_case *input, const struct pm_result *result)
{
    const char *violation = verify_finite(result);
    violation = violation != NULL ? violation : verify_params(&result->params);
    violation = violation != NULL ? violation : verify_memory(&result->memory);
    violation = violation != NULL ? violation : verify_step(&result->decode);
    violation = violation != NULL ? violation : verify_step(&result->mixed);
    violation = violation != NULL ? violation : verify_step(&result->prefill);
    return violation != NULL ? violation : verify_service(input, result);
}
