/* sensitivity.h: how much the main results of a scenario move with each of its inputs. */
#ifndef PERFC_RESULT_SENSITIVITY_H
#define PERFC_RESULT_SENSITIVITY_H

#include "result/vary.h"

/* The main results. */
enum sensitivity_result {
    RESULT_TPOT,
    RESULT_TTFT,
    RESULT_THROUGHPUT,
    RESULT_CEILING_TPOT,
    RESULT_COST,
    RESULT_MEMORY,
    RESULT_COUNT
};

/* Its row in the table of quantities. */
enum quantity sensitivity_quantity(enum sensitivity_result result);

/* Its value; negative: it does not exist for the case. */
double sensitivity_value(const struct pm_result *evaluated, enum sensitivity_result result);

/* d ln y / d ln x, from both sides. A whole input moves by whole steps, so that its two sides are the slopes
 * to its neighbours in ln x and ln y, and `value` is the slope between them. Where the two sides of a
 * continuous input differ, the result has a corner there (something else becomes the bound), and `value` is
 * the side with more. */
struct elasticity {
    bool exists;
    bool corner;
    double value, left, right;
};

/* How every result moves with one input; none exists where the input has no value. */
void sensitivity_of(struct variation *variation, enum vary input, struct elasticity all[RESULT_COUNT]);

/* One input that moves at least one of the results. */
struct sensitivity {
    enum vary input;
    double value; /* as it is */
    struct elasticity elasticity[RESULT_COUNT];
    /* What comes out at a tenth more and a tenth less (whole numbers for whole inputs, at least one step; at
     * most 1 for shares). Equal to `value`, with the results as they are, where there is no such step. */
    double more, less;
    double with_more[RESULT_COUNT], with_less[RESULT_COUNT];
};

/* Those of a scenario, in the order of enum vary. Returns how many; *out is in the arena. */
size_t sensitivities(struct arena *arena, const struct evaluation *evaluation, struct sensitivity **out);

#endif
