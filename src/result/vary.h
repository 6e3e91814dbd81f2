/* vary.h: a scenario with one of its inputs changed, and everything else as it is.
 *
 * A variation works on its own copies of the numbers that a scenario was bound to, so it reads no plan and
 * reports nothing. Inputs are those that a result moves with: of the card, of the load, of the formats, of
 * the engine. */
#ifndef PERFC_RESULT_VARY_H
#define PERFC_RESULT_VARY_H

#include "result/evaluate.h"
#include "sema/value.h"

enum vary {
    /* the card and the system */
    VARY_BANDWIDTH,
    VARY_PEAK, /* of every format, told by that of the weights; the next ones are one format each */
    VARY_PEAK_FIRST,
    VARY_MEMORY = VARY_PEAK_FIRST + PM_COMPUTE_COUNT,
    VARY_CACHE,
    VARY_LINK,
    VARY_PCIE,
    VARY_NETWORK,
    VARY_PRICE,
    /* the load */
    VARY_BATCH,
    VARY_CONTEXT,
    VARY_PROMPT,
    VARY_OUTPUT,
    VARY_CACHED_PREFIX,
    VARY_ACCEPTANCE,
    /* formats */
    VARY_WEIGHT_BITS,
    VARY_KV_BITS,
    /* the engine */
    VARY_UTILIZATION,
    VARY_OVERHEAD,
    VARY_EFFICIENCY_BANDWIDTH,
    VARY_EFFICIENCY_DENSE,
    VARY_EFFICIENCY_ATTENTION,
    VARY_EFFICIENCY_EXPERTS,
    VARY_EFFICIENCY_LINK,
    VARY_OPERATION_TIME,
    VARY_SEQUENCE_TIME,
    VARY_ALLREDUCE_TIME,
    VARY_REQUEST_TIME,
    VARY_STREAM_INTERVAL,
    VARY_FIRST_WAVE,
    VARY_COUNT
};

struct vary_info {
    const char *path;  /* as a plan writes it, from the scenario: "gpu.bandwidth" */
    const char *label; /* inside a sentence: "bandwidth" */
    struct dim dim;
    bool whole;  /* sequences and tokens: whole numbers, at least 1 */
    bool share;  /* at most 1 */
    bool engine; /* a coefficient of the engine rather than something one buys or serves */
};

struct vary_info vary_info(enum vary input);

/* The parts of a result (enum pm_part) that an input reaches; the others are the same whatever its value. */
unsigned vary_parts(enum vary input);

struct variation;

/* Of a valid evaluation, which must outlive it. */
struct variation *variation_new(struct arena *arena, const struct evaluation *base);

const struct evaluation *variation_base(const struct variation *variation);

/* The input as it is; 0: the scenario has no such input, or it is zero. Where an input stands for several
 * numbers (all peaks, bits of tensors), that of the first. */
double variation_value(const struct variation *variation, enum vary input);

/* The format that matrices of weights are computed in: which peak stands for all. */
enum pm_compute variation_compute(const struct variation *variation);

/* Least change of a whole input after which memory has taken a whole step: pages of tokens, replicas of
 * sequences. 1 for the others. */
double variation_step(const struct variation *variation, enum vary input);

/* The scenario with this one input at `value`; valid until the next call. Where an input stands for several
 * numbers, all change by the same factor. */
const struct evaluation *variation_at(struct variation *variation, enum vary input, double value);

/* The same where only these parts of the result are looked at; the others are nobody's. */
const struct evaluation *variation_parts_at(struct variation *variation, enum vary input, double value,
                                            unsigned parts);

#endif
