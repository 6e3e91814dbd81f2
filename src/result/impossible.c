/* impossible.c: why a measurement may seem better than physics allows. Each reason is tried: the limit is
 * worked out as if it were so, and only what makes the measurement possible is named. */
#include "result/impossible.h"

#include <math.h>

#include "base/arena.h"
#include "result/bind_internal.h"
#include "result/vary.h"
#include "source/phrase.h"

struct trial {
    struct phrases *phrases;
    const struct evaluation *evaluation;
    struct variation *variation;
    enum quantity quantity;
    double measured;
    const char **out;
    size_t count;
};

/* ---- limits ------------------------------------------------------------------------------------- */

static double limit_of(const struct pm_result *result, enum quantity quantity)
{
    const struct pm_service *ceiling = &result->ceiling;
    return quantity == Q_TTFT         ? ceiling->ttft
           : quantity == Q_SPEED      ? ceiling->speed
           : quantity == Q_THROUGHPUT ? ceiling->throughput
                                      : ceiling->tpot;
}

static bool possible(const struct trial *trial, const struct pm_result *result)
{
    double limit = limit_of(result, trial->quantity);
    bool more = quantity_info(trial->quantity)->better != BETTER_LOWER;
    return limit > 0 && (more ? trial->measured <= limit : trial->measured >= limit);
}

static bool possible_at(const struct trial *trial, enum vary input, double value)
{
    return possible(trial, &variation_at(trial->variation, input, value)->result);
}

/* The value nearest to what is, between it and `far`, at which the measurement is possible; NAN: none is. */
static double least_change(const struct trial *trial, enum vary input, double now, double far)
{
    enum { STEPS = 40 };
    if (!(now > 0) || !possible_at(trial, input, far))
        return NAN;
    for (int i = 0; i < STEPS; i++) {
        double middle = (now + far) / 2;
        if (possible_at(trial, input, middle))
            far = middle;
        else
            now = middle;
    }
    return far;
}

static void add_reason(struct trial *trial, const char *text)
{
    if (trial->count < IMPOSSIBLE_REASONS)
        trial->out[trial->count++] = text;
}

/* ---- reasons ------------------------------------------------------------------------------------- */

/* Verification gives up to one token more than there are drafts, which cost nothing here. */
static void try_speculation(struct trial *trial)
{
    enum { DRAFTS_MAX = 8 };
    struct pm_case input = trial->evaluation->binding.input;
    struct pm_result result;
    if (input.draft_tokens > 0 || trial->quantity == Q_TTFT)
        return;
    input.acceptance = 1;
    for (int drafts = 1; drafts <= DRAFTS_MAX; drafts++) {
        input.draft_tokens = drafts;
        pm_evaluate(&input, &result);
        if (!possible(trial, &result))
            continue;
        double ratio = trial->measured / limit_of(&trial->evaluation->result, trial->quantity);
        add_reason(trial,
                   phrases_printf(trial->phrases,
                                  "it is possible if speculation was on and a step gave %.1f tokens or more "
                                  "(`speculation.tokens`)",
                                  fmax(ratio, 1 / ratio)));
        return;
    }
}

static bool possible_cached(const struct trial *trial, double cached)
{
    struct pm_case input = trial->evaluation->binding.input;
    struct pm_result result;
    input.cached_prefix = cached;
    pm_evaluate(&input, &result);
    return possible(trial, &result);
}

static void try_prefix(struct trial *trial)
{
    const struct pm_case *input = &trial->evaluation->binding.input;
    double low = input->cached_prefix, high = input->prompt - 1;
    if (!(high > low) || !possible_cached(trial, high))
        return;
    while (high - low > 1) {
        double middle = floor((low + high) / 2);
        if (possible_cached(trial, middle))
            high = middle;
        else
            low = middle;
    }
    add_reason(
        trial,
        phrases_printf(trial->phrases,
                       "it is possible if %.0f of the %.0f tokens of a prompt or more were found in a prefix "
                       "cache (`cached_prefix`)",
                       high, input->prompt));
}

static void try_concurrency(struct trial *trial)
{
    const struct pm_case *input = &trial->evaluation->binding.input;
    double batch = input->batch, least = 1, most = batch;
    if (trial->quantity == Q_THROUGHPUT || !(batch > 1) || !possible_at(trial, VARY_BATCH, 1))
        return;
    while (most - least > 1) {
        double middle = floor((least + most) / 2);
        if (possible_at(trial, VARY_BATCH, middle))
            least = middle;
        else
            most = middle;
    }
    add_reason(trial, phrases_printf(trial->phrases,
                                     "it is possible if no more than %g of the %g sequences ran at once",
                                     least, batch));
}

static void try_replicas(struct trial *trial)
{
    const struct pm_case *input = &trial->evaluation->binding.input;
    double ratio = trial->measured / limit_of(&trial->evaluation->result, trial->quantity);
    if (trial->quantity == Q_THROUGHPUT && ratio <= 64)
        add_reason(trial,
                   phrases_printf(trial->phrases,
                                  "it is possible for %.0f such deployments together, and the plan has %g "
                                  "(`replicas`)",
                                  ceil(ratio * input->replicas), input->replicas));
}

static void try_bits(struct trial *trial, enum vary input)
{
    double now = variation_value(trial->variation, input);
    double bits = least_change(trial, input, now, 2);
    if (isnan(bits) || !(now > 2))
        return;
    if (input == VARY_WEIGHT_BITS)
        add_reason(trial,
                   phrases_printf(trial->phrases,
                                  "it is possible if weights take %.1f bits a value, not %g (`weights`)",
                                  bits, now));
    else
        add_reason(trial,
                   phrases_printf(trial->phrases,
                                  "it is possible if the cache takes %.1f bits a value, not %g (`kv_cache`)",
                                  bits, now));
}

static void try_card(struct trial *trial)
{
    static const double most = 4;
    double bandwidth = variation_value(trial->variation, VARY_BANDWIDTH);
    double peak = variation_value(trial->variation, VARY_PEAK);
    double wider = least_change(trial, VARY_BANDWIDTH, bandwidth, most * bandwidth);
    double faster = least_change(trial, VARY_PEAK, peak, most * peak);
    if (!isnan(wider))
        add_reason(trial, phrases_printf(
                              trial->phrases,
                              "it is possible on a card with %.2f times the declared bandwidth (`bandwidth`)",
                              wider / bandwidth));
    if (!isnan(faster) && faster / peak <= 2)
        add_reason(trial,
                   phrases_printf(trial->phrases,
                                  "it is possible on a card with %.2f times the declared peak, as with "
                                  "structured sparsity or narrower sums (`peak`)",
                                  faster / peak));
    else if (!isnan(faster))
        add_reason(trial,
                   phrases_printf(trial->phrases,
                                  "it is possible on a card with %.2f times the declared peak (`peak`)",
                                  faster / peak));
}

size_t impossible_reasons(struct arena *arena, const struct evaluation *evaluation, enum quantity quantity,
                          double measured, const char *out[IMPOSSIBLE_REASONS])
{
    struct phrases *phrases = diags_phrases(plan_diags(evaluation->binding.binder->plan));
    struct trial trial = {phrases, evaluation, variation_new(arena, evaluation), quantity, measured, out, 0};
    try_prefix(&trial);
    try_speculation(&trial);
    try_concurrency(&trial);
    try_replicas(&trial);
    try_bits(&trial, VARY_WEIGHT_BITS);
    try_bits(&trial, VARY_KV_BITS);
    try_card(&trial);
    if (trial.count == 0)
        add_reason(&trial,
                   "no single one of the usual reasons makes it possible: prefix cache, speculation, fewer "
                   "sequences, smaller formats, a faster card; it may belong to another run");
    return trial.count;
}
