/* fit_normal.h: ridge regression over the coefficients of an engine, by its normal equations. */
#ifndef PERFC_RESULT_FIT_NORMAL_H
#define PERFC_RESULT_FIT_NORMAL_H

#include "result/coefficient.h"

struct normal {
    size_t size;
    enum coefficient of[COEFFICIENT_COUNT]; /* the chosen ones */
    double matrix[COEFFICIENT_COUNT][COEFFICIENT_COUNT], right[COEFFICIENT_COUNT];
};

/* What is known of a coefficient before: 1 / t^2. */
double normal_prior(enum coefficient coefficient);

/* Nothing but the pull of the chosen coefficients to 0. */
struct normal normal_of(const bool chosen[COEFFICIENT_COUNT]);

/* One more figure that should move by `target` and moves by slopes . change; a negative weight takes it out
 * again. */
void normal_add(struct normal *normal, const double slopes[COEFFICIENT_COUNT], double target, double weight);

/* How far each coefficient may change. */
struct normal_bounds {
    double low[COEFFICIENT_COUNT], high[COEFFICIENT_COUNT];
};

/* The changes that fit best; 0 for all that were not chosen. Where one would leave its bounds it stands
 * there, and the others fit best to that. */
void normal_solve(const struct normal *normal, const struct normal_bounds *bounds,
                  double out[COEFFICIENT_COUNT]);

/* How much of each chosen coefficient the figures tell, 0 to 1: the diagonal of the inverse against what was
 * known before. */
void normal_told(const struct normal *normal, double out[COEFFICIENT_COUNT]);

#endif
