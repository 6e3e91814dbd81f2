/* fit.h: coefficients of an engine fitted to measurements: least squares on the logarithm of the error, each
 * coefficient pulled to its standard value by what is known of it (coefficient.h). Knows no plan. */
#ifndef PERFC_RESULT_FIT_H
#define PERFC_RESULT_FIT_H

#include "result/coefficient.h"

enum fit_figure { FIT_TPOT, FIT_TTFT, FIT_RATE, FIT_FIGURES };

/* One measured figure of one run. Runs count from 0; all figures of a run stand together. */
struct fit_point {
    struct pm_case input;    /* its engine is the next member, whatever it points to */
    struct pm_engine engine; /* standard values */
    enum fit_figure figure;
    double measured; /* seconds; tokens per second for FIT_RATE */
    size_t run;
};

/* Of |expected / measured - 1|. */
struct fit_errors {
    size_t count;
    double median, mean;
};

struct fit {
    double change[COEFFICIENT_COUNT]; /* fitted; 0 where the standard value stays */
    double effect[COEFFICIENT_COUNT]; /* largest |d ln figure / d ln coefficient| of the points */
    bool fitted[COEFFICIENT_COUNT];   /* those with an effect worth the name */
    double
        told[COEFFICIENT_COUNT]; /* how much of a fitted one the points tell, 0 to 1; the rest is the pull */
    bool checked;                /* there were runs enough to leave some out */
    bool gains;                  /* those left out are better predicted than by standard values */
    struct fit_errors before[FIT_FIGURES], after[FIT_FIGURES], held_out[FIT_FIGURES];
    double spread[FIT_FIGURES]; /* mean square of ln(measured / expected) of points left out */
};

/* What a figure comes to with the engine so changed; not above 0 when there is none. */
double fit_expected(const struct fit_point *point, const double change[COEFFICIENT_COUNT]);

/* Fits `count` points of `runs` runs. Every coefficient with an effect moves, as far as the points pull it
 * farther than what was known of it before holds it back. */
void fit_engine(struct arena *arena, const struct fit_point *points, size_t count, size_t runs,
                struct fit *out);

/* The band of the fitted engine, three digits: what was left out tells the spread, with the band of the
 * standard engine counting as much as four runs, because few runs tell little. Both 0 where nothing was left
 * out. */
struct pm_band fit_band(const struct fit *fit, enum fit_figure figure, struct pm_band standard);

/* Errors of all points by figure. */
void fit_measure(struct arena *arena, const struct fit_point *points, size_t count,
                 const double change[COEFFICIENT_COUNT], struct fit_errors out[FIT_FIGURES]);

#endif
