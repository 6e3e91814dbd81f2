/* gap.c: the time between what physics allows and what was measured, term by term.
 *
 * Communication, launches and the host's time are terms of the step already. What is left, moving and
 * computing, is told apart by evaluating the step with its efficiencies put in one after the other (model.md
 * section 7). */
#include "result/gap.h"

#include <math.h>

#include "result/fit.h"

const char *gap_word(enum gap_term term)
{
    static const char *const words[GAP_TERMS] = {
        [GAP_LIMIT] = "limit",         [GAP_ORDER] = "order",
        [GAP_BANDWIDTH] = "bandwidth", [GAP_KERNELS] = "kernels",
        [GAP_ATTENTION] = "attention", [GAP_COMMUNICATION] = "communication",
        [GAP_LAUNCH] = "launch",       [GAP_HOST] = "host",
        [GAP_DRAFTS] = "drafts",       [GAP_INTERFERENCE] = "interference",
        [GAP_PREFILL] = "prefill",     [GAP_REQUEST] = "request",
        [GAP_STREAM] = "stream",       [GAP_WAVE] = "wave",
        [GAP_QUEUE] = "queue",         [GAP_REST] = "rest",
    };
    return words[term];
}

/* ---- a time per token ---------------------------------------------------------------------------- */

/* Seconds of one decode step in which something is moved or computed. */
static double busy(const struct evaluation *evaluation, const struct pm_engine *engine, bool own_bandwidth)
{
    struct pm_case input = evaluation->binding.input;
    struct pm_gpu gpu = *input.gpu;
    struct pm_result result;
    if (!own_bandwidth)
        gpu.efficiency_bandwidth = 0;
    input.engine = engine;
    input.gpu = &gpu;
    pm_evaluate(&input, &result);
    const double *term = result.decode.term;
    return term[PM_BOUND_WEIGHTS] + term[PM_BOUND_KV] + term[PM_BOUND_COMPUTE];
}

/* The engine with every efficiency 1. */
static struct pm_engine perfect(const struct pm_engine *engine)
{
    struct pm_engine out = *engine;
    out.efficiency_bandwidth = out.efficiency_attention = 1;
    for (size_t i = 0; i < PM_CLASS_COUNT; i++)
        out.efficiency_dense[i] = out.efficiency_experts[i] = 1;
    for (size_t i = 0; i < PM_MEMORY_KINDS; i++)
        out.kind_bandwidth[i] = out.kind_dense[i] = 1;
    out.expert_half_rows = out.dense_half_rows = out.corner = out.rate_cap = 0;
    out.efficiency_weight_only = out.efficiency_plain = out.efficiency_cache = out.efficiency_weights_4 = 1;
    out.experts_of_dense = 0;
    return out;
}

/* Terms of one token, `times` over. */
static void add_token(const struct evaluation *evaluation, double times, struct gap *out)
{
    const struct pm_result *result = &evaluation->result;
    const struct pm_engine *engine = &evaluation->binding.engine_values;
    const struct pm_service *expected = &result->expected, *ceiling = &result->ceiling;
    struct pm_engine kernels = perfect(engine), moving = kernels, own = *engine;
    double tokens = expected->tokens_per_step, *seconds = out->seconds;
    for (size_t i = 0; i < PM_MEMORY_KINDS; i++)
        moving.kind_bandwidth[i] = engine->kind_bandwidth[i];
    moving.efficiency_bandwidth = engine->efficiency_bandwidth;
    moving.efficiency_cache = engine->efficiency_cache;
    moving.efficiency_weights_4 = engine->efficiency_weights_4;
    own.efficiency_attention = 1;
    double ideal = busy(evaluation, &kernels, false), moved = busy(evaluation, &moving, true);
    double computed = busy(evaluation, &own, true), all = busy(evaluation, engine, true);
    double drafts = expected->decode_step - result->decode.time;
    double ceiling_drafts = ceiling->decode_step - result->decode_ceiling.time;
    double per = times / tokens, host = result->decode.host_time;
    seconds[GAP_LIMIT] += times * ceiling->tpot;
    seconds[GAP_BANDWIDTH] += per * (moved - ideal);
    seconds[GAP_KERNELS] += per * (computed - moved);
    seconds[GAP_ATTENTION] += per * (all - computed);
    seconds[GAP_COMMUNICATION] += per * result->decode.term[PM_BOUND_COMMUNICATION];
    seconds[GAP_LAUNCH] += per * (result->decode.term[PM_BOUND_FIXED] - host);
    seconds[GAP_HOST] += per * host;
    seconds[GAP_DRAFTS] += per * (drafts - ceiling_drafts);
    seconds[GAP_INTERFERENCE] += times * expected->tpot - per * expected->decode_step;
    seconds[GAP_ORDER] += per * ideal - times * (ceiling->tpot - ceiling_drafts / tokens);
}

static void add_first_token(const struct evaluation *evaluation, struct gap *out)
{
    const struct pm_service *expected = &evaluation->result.expected, *ceiling = &evaluation->result.ceiling;
    out->seconds[GAP_LIMIT] += ceiling->ttft;
    out->seconds[GAP_PREFILL] += expected->prefill - ceiling->prefill;
    out->seconds[GAP_REQUEST] += expected->request_time - ceiling->request_time;
    out->seconds[GAP_STREAM] += expected->stream_time - ceiling->stream_time;
    out->seconds[GAP_WAVE] += expected->wave_time - ceiling->wave_time;
    out->seconds[GAP_QUEUE] += expected->queueing - ceiling->queueing;
}

/* ---- figures ---------------------------------------------------------------------------------------- */

/* A throughput as the time of a request, or of a token where there are no requests. */
static void find_request(const struct evaluation *evaluation, const struct measured_row *row, struct gap *out)
{
    const struct pm_case *input = &evaluation->binding.input;
    const struct pm_service *expected = &evaluation->result.expected;
    double users = input->batch * input->replicas;
    if (input->static_step) {
        out->time = GAP_OF_TOKEN;
        add_token(evaluation, 1, out);
        out->expected = expected->tpot;
        out->measured = users / row->measured;
        return;
    }
    bool first = expected->ttft > 0;
    double tokens = first ? input->output - 1 : input->output;
    out->time = GAP_OF_REQUEST;
    if (first)
        add_first_token(evaluation, out);
    if (tokens > 0)
        add_token(evaluation, tokens, out);
    out->expected = expected->latency;
    out->measured = users * input->output / row->measured;
    if (!first)
        out->seconds[GAP_QUEUE] = out->expected - tokens * expected->tpot;
}

bool gap_find(const struct evaluation *evaluation, const struct measured_row *row, struct gap *out)
{
    *out = (struct gap){.time = GAP_OF_TOKEN, .measured = row->measured};
    if (!evaluation->valid || evaluation->binding.engine_values.ideal || !row->has_expected ||
        !row->has_ceiling)
        return false;
    switch (row->row->id) {
    case Q_SPEED: out->measured = 1 / row->measured; /* fall through */
    case Q_TPOT:
        add_token(evaluation, 1, out);
        out->expected = evaluation->result.expected.tpot;
        break;
    case Q_TTFT:
        out->time = GAP_OF_FIRST_TOKEN;
        add_first_token(evaluation, out);
        out->expected = row->expected;
        break;
    case Q_THROUGHPUT: find_request(evaluation, row, out); break;
    default: return false;
    }
    out->seconds[GAP_REST] = out->measured - out->expected;
    return true;
}

/* ---- reasons ------------------------------------------------------------------------------------------ */

enum { BISECTIONS = 40 };

static double expected_with(const struct fit_point *point, enum coefficient coefficient, double change)
{
    double changes[COEFFICIENT_COUNT] = {0};
    changes[coefficient] = change;
    double expected = fit_expected(point, changes);
    return point->figure == FIT_RATE && expected > 0 ? 1 / expected : expected;
}

/* The change of one coefficient that gives `wanted`; NAN when none does, or only one beyond reason. */
static double solve(const struct fit_point *point, enum coefficient coefficient, double wanted)
{
    static const double farthest = 3;
    double reach = farthest * coefficient_info(coefficient).spread, low = -reach, high = reach;
    if (expected_with(point, coefficient, low) > wanted || expected_with(point, coefficient, high) < wanted)
        return NAN;
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = (low + high) / 2;
        if (expected_with(point, coefficient, middle) < wanted)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

size_t gap_reasons(const struct evaluation *evaluation, const struct measured_row *row,
                   struct gap_reason *out, size_t most)
{
    struct fit_point point = {
        .input = evaluation->binding.input,
        .engine = evaluation->binding.engine_values,
        .figure = row->row->id == Q_TTFT         ? FIT_TTFT
                  : row->row->id == Q_THROUGHPUT ? FIT_RATE
                                                 : FIT_TPOT,
    };
    bool inverse = row->row->id == Q_SPEED || row->row->id == Q_THROUGHPUT;
    size_t count = 0;
    bool bandwidth = false;
    for (enum coefficient i = 0; i < COEFFICIENT_COUNT; i++) {
        double change = solve(&point, i, inverse ? 1 / row->measured : row->measured);
        bool told = i == COEFFICIENT_MEMORY && bandwidth; /* one thing by two names */
        bandwidth = bandwidth || (i == COEFFICIENT_BANDWIDTH && !isnan(change));
        if (isnan(change) || told)
            continue;
        struct gap_reason reason = {i, exp(change), fabs(change) / coefficient_info(i).spread};
        size_t at = count < most ? count++ : most;
        for (; at > 0 && out[at - 1].far > reason.far; at--)
            if (at < most)
                out[at] = out[at - 1];
        if (at < most)
            out[at] = reason;
    }
    return count;
}
