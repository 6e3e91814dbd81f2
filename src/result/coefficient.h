/* coefficient.h: the coefficients of an engine that measurements can tell something about, and what is known
 * of each before there are any. A change is the logarithm of a factor on times: 0 leaves the standard value.
 */
#ifndef PERFC_RESULT_COEFFICIENT_H
#define PERFC_RESULT_COEFFICIENT_H

#include <stdbool.h>
#include <stddef.h>

#include "model/perfmodel.h"
#include "sema/plan.h"

struct arena;

enum coefficient {
    COEFFICIENT_BANDWIDTH, /* on cards that do not say themselves what streams reach */
    COEFFICIENT_MEMORY,    /* the same on any card, by its kind of memory; one of the two is fitted */
    COEFFICIENT_DENSE,
    COEFFICIENT_ATTENTION,
    COEFFICIENT_EXPERTS,
    COEFFICIENT_OPERATION,
    COEFFICIENT_SEQUENCE,
    COEFFICIENT_ALLREDUCE,
    COEFFICIENT_LINK,
    COEFFICIENT_REQUEST, /* from here on: the first token, outside of steps */
    COEFFICIENT_STREAM,
    COEFFICIENT_WAVE,
    COEFFICIENT_COUNT
};

struct coefficient_info {
    const char *label; /* inside a sentence: "bandwidth reached" */
    double spread;     /* standard deviation of its logarithm between deployments */
};

struct coefficient_info coefficient_info(enum coefficient coefficient);

/* One attribute of an engine. */
struct coefficient_slot {
    enum coefficient coefficient;
    enum attribute attribute;
    size_t offset;    /* of its double in struct pm_engine */
    bool rate;        /* more of it takes less time */
    const char *unit; /* it is written in, or NULL */
};

size_t coefficient_slots(const struct coefficient_slot **slots);

double *coefficient_value(struct pm_engine *engine, const struct coefficient_slot *slot);

/* The least change that a slot of this engine follows in this case: shares of a peak end at 1. */
double coefficient_least(const struct coefficient_slot *slot, const struct pm_engine *engine,
                         const struct pm_gpu *gpu);

/* Changes every coefficient of `engine`; efficiencies stay at 1 or where they were above it. */
void coefficients_change(struct pm_engine *engine, const double change[COEFFICIENT_COUNT]);

/* The value as a plan writes it: four significant digits, with its unit. */
const char *coefficient_text(struct arena *arena, const struct coefficient_slot *slot, double value);

/* The value that this text is read back as. */
double coefficient_rounded(struct arena *arena, const struct coefficient_slot *slot, double value);

#endif
