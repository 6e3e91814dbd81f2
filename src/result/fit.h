/* fit.h: coefficients of an engine fitted to measurements: least squares on the logarithm of the error, each
 * coefficient pulled to its standard value by what is known of it (coefficient.h). Knows no plan. */
#ifndef PERFC_RESULT_FIT_H
#define PERFC_RESULT_FIT_H

#include "result/fit_cases.h"

/* Of |expected / measured - 1|. */
struct fit_errors {
    size_t count;
    double median, mean;
};

struct fit {
    struct fit_cases cases;           /* of the points, to evaluate them with other engines */
    double change[COEFFICIENT_COUNT]; /* fitted; 0 where the standard value stays */
    double effect[COEFFICIENT_COUNT]; /* largest |d ln figure / d ln coefficient| of the points */
    bool fitted[COEFFICIENT_COUNT];   /* those with an effect worth the name */
    double
        told[COEFFICIENT_COUNT]; /* how much of a fitted one the points tell, 0 to 1; the rest is the pull */
    bool *moved_by; /* for each slot of coefficient_slots(): figures follow it, and it is fitted */
    bool checked;   /* there were runs enough to leave some out */
    bool gains;     /* those left out are better predicted than by standard values */
    struct fit_errors before[FIT_FIGURES], after[FIT_FIGURES], held_out[FIT_FIGURES];
    double spread[FIT_FIGURES]; /* mean square of ln(measured / expected) of points left out */
};

/* Fits `count` points of `runs` runs. Every coefficient with an effect moves, as far as the points pull it
 * farther than what was known of it before holds it back. */
void fit_engine(struct arena *arena, const struct fit_point *points, size_t count, size_t runs,
                struct fit *out);

/* The band of the fitted engine where it was fitted, three digits: how far runs left out scatter, from what
 * is known before of a deployment, or of several, by the band of the standard engine. Both 0 where the figure
 * was not measured. */
struct pm_band fit_band(const struct fit *fit, enum fit_figure figure, struct pm_band standard,
                        bool one_deployment);

/* Errors of all points by figure, with such logarithms of each of their cases. */
void fit_measure(const struct fit_cases *cases, const struct fit_point *points, size_t count,
                 const struct fit_logs *logs, struct fit_errors out[FIT_FIGURES]);

#endif
