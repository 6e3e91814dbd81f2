/* sensitivity.c: elasticities of the main results.
 *
 * Results are sums and maxima of products of powers, so in ln x and ln y they are smooth but for corners and,
 * in whole inputs, steps. Derivatives of continuous inputs are one-sided differences extrapolated once
 * (Richardson 1911), good to nine digits; whole inputs are differences of neighbours, which is exact. */
#include "result/sensitivity.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"

enum quantity sensitivity_quantity(enum sensitivity_result result)
{
    static const enum quantity quantities[RESULT_COUNT] = {
        [RESULT_TPOT] = Q_TPOT,
        [RESULT_TTFT] = Q_TTFT,
        [RESULT_THROUGHPUT] = Q_THROUGHPUT,
        [RESULT_CEILING_TPOT] = Q_CEILING_TPOT,
        [RESULT_COST] = Q_COST_PER_MTOK,
        [RESULT_MEMORY] = Q_MEMORY_TOTAL,
    };
    return quantities[result];
}

double sensitivity_value(const struct pm_result *evaluated, enum sensitivity_result result)
{
    switch (result) {
    case RESULT_TPOT: return evaluated->expected.tpot;
    case RESULT_TTFT: return evaluated->expected.ttft;
    case RESULT_THROUGHPUT: return evaluated->expected.throughput > 0 ? evaluated->expected.throughput : -1;
    case RESULT_CEILING_TPOT: return evaluated->ceiling.tpot;
    case RESULT_COST: return evaluated->cost_per_mtok;
    case RESULT_MEMORY: return evaluated->memory.total;
    case RESULT_COUNT: break;
    }
    return -1;
}

/* ---- results at a place ----------------------------------------------------------------------- */

static void results_at(struct variation *variation, enum vary input, double value, double *out)
{
    const unsigned parts = PM_PART_MEMORY | PM_PART_SERVICE | PM_PART_USE;
    const struct evaluation *evaluation = variation_parts_at(variation, input, value, parts);
    for (int i = 0; i < RESULT_COUNT; i++)
        out[i] = sensitivity_value(&evaluation->result, (enum sensitivity_result)i);
}

static void results_now(const struct variation *variation, double *out)
{
    for (int i = 0; i < RESULT_COUNT; i++)
        out[i] = sensitivity_value(&variation_base(variation)->result, (enum sensitivity_result)i);
}

/* ln(to / from), exact where they are near. */
static double log_ratio(double to, double from)
{
    return log1p((to - from) / from);
}

/* ---- continuous inputs --------------------------------------------------------------------------- */

/* Least difference in ln x that leaves nine digits of a difference of doubles. */
static const double STEP = 2e-5;

/* One side: the slope over a step and over half of it, extrapolated to none. */
static void slopes_beside(struct variation *variation, enum vary input, double side, const double *now,
                          double *slopes)
{
    double value = variation_value(variation, input), whole[RESULT_COUNT], half[RESULT_COUNT];
    results_at(variation, input, value * exp(side * STEP), whole);
    if (memcmp(whole, now, sizeof whole) == 0)
        return; /* an input that reaches no result */
    results_at(variation, input, value * exp(side * STEP / 2), half);
    for (int i = 0; i < RESULT_COUNT; i++) {
        if (!(now[i] > 0))
            continue;
        double over_whole = log_ratio(whole[i], now[i]) / (side * STEP);
        double over_half = log_ratio(half[i], now[i]) / (side * STEP / 2);
        slopes[i] = 2 * over_half - over_whole;
    }
}

/* Nine digits of a slope, so that less is rounding. */
static double or_nothing(double slope)
{
    return fabs(slope) < 1e-9 ? 0 : slope;
}

static void continuous(struct variation *variation, enum vary input, struct elasticity *out)
{
    double now[RESULT_COUNT], left[RESULT_COUNT] = {0}, right[RESULT_COUNT] = {0};
    results_now(variation, now);
    slopes_beside(variation, input, -1, now, left);
    slopes_beside(variation, input, 1, now, right);
    const double same = 1e-6;
    for (int i = 0; i < RESULT_COUNT; i++) {
        bool corner = fabs(left[i] - right[i]) > same * (1 + fabs(left[i]) + fabs(right[i]));
        double value = (left[i] + right[i]) / 2;
        if (corner)
            value = fabs(left[i]) > fabs(right[i]) ? left[i] : right[i];
        out[i] = (struct elasticity){now[i] > 0, corner, or_nothing(value), or_nothing(left[i]),
                                     or_nothing(right[i])};
    }
}

/* ---- whole inputs ------------------------------------------------------------------------------------ */

static void whole(struct variation *variation, enum vary input, struct elasticity *out)
{
    double now[RESULT_COUNT], below[RESULT_COUNT], above[RESULT_COUNT];
    double value = variation_value(variation, input), step = variation_step(variation, input);
    results_now(variation, now);
    results_at(variation, input, value + step, above);
    bool has_below = value - step >= 1;
    if (has_below)
        results_at(variation, input, value - step, below);
    for (int i = 0; i < RESULT_COUNT; i++) {
        bool to_right = now[i] > 0 && above[i] > 0, to_left = has_below && now[i] > 0 && below[i] > 0;
        out[i] = (struct elasticity){.exists = to_right || to_left};
        if (to_right)
            out[i].right = log_ratio(above[i], now[i]) / log_ratio(value + step, value);
        if (to_left)
            out[i].left = log_ratio(now[i], below[i]) / log_ratio(value, value - step);
        if (!to_right)
            out[i].right = out[i].left;
        if (!to_left)
            out[i].left = out[i].right;
        out[i].value = to_right && to_left
                           ? log_ratio(above[i], below[i]) / log_ratio(value + step, value - step)
                           : out[i].right;
    }
}

void sensitivity_of(struct variation *variation, enum vary input, struct elasticity all[RESULT_COUNT])
{
    memset(all, 0, RESULT_COUNT * sizeof *all);
    if (!(variation_value(variation, input) > 0))
        return;
    if (vary_info(input).whole)
        whole(variation, input, all);
    else
        continuous(variation, input, all);
}

/* ---- all of a scenario --------------------------------------------------------------------------------- */

static const double TENTH = 0.1;

/* A tenth more (side 1) or less (side -1); the value itself where there is no such step. */
static double moved(const struct variation *variation, enum vary input, double side)
{
    struct vary_info info = vary_info(input);
    double value = variation_value(variation, input), to = value * (1 + side * TENTH);
    if (info.whole) {
        double step = fmax(floor(TENTH * value + 0.5), 1);
        to = value + side * step;
        return to >= 1 ? to : value;
    }
    return info.share ? fmin(to, 1) : to;
}

/* By what a reader would see: half a thousandth of a per cent for a per cent. */
static bool moves_anything(const struct sensitivity *sensitivity)
{
    const double seen = 0.0005;
    for (int i = 0; i < RESULT_COUNT; i++) {
        const struct elasticity *slope = &sensitivity->elasticity[i];
        if (slope->exists && (fabs(slope->left) >= seen || fabs(slope->right) >= seen))
            return true;
    }
    return false;
}

size_t sensitivities(struct arena *arena, const struct evaluation *evaluation, struct sensitivity **out)
{
    struct variation *variation = variation_new(arena, evaluation);
    *out = ARENA_ARRAY(arena, struct sensitivity, VARY_COUNT);
    size_t count = 0;
    for (int i = 0; i < VARY_COUNT; i++) {
        enum vary input = (enum vary)i;
        struct sensitivity *sensitivity = &(*out)[count];
        *sensitivity = (struct sensitivity){.input = input, .value = variation_value(variation, input)};
        if (!(sensitivity->value > 0) || input == VARY_PEAK)
            continue;
        sensitivity_of(variation, input, sensitivity->elasticity);
        if (!moves_anything(sensitivity))
            continue;
        sensitivity->more = moved(variation, input, 1);
        sensitivity->less = moved(variation, input, -1);
        results_at(variation, input, sensitivity->more, sensitivity->with_more);
        results_at(variation, input, sensitivity->less, sensitivity->with_less);
        count++;
    }
    return count;
}
