/* fit_cases.h: the cases of the points that an engine is fitted to, each prepared and evaluated once for all
 * figures and all runs that share it. */
#ifndef PERFC_RESULT_FIT_CASES_H
#define PERFC_RESULT_FIT_CASES_H

#include "result/coefficient.h"

enum fit_figure { FIT_TPOT, FIT_TTFT, FIT_RATE, FIT_FIGURES };

/* One measured figure of one run. Runs count from 0; all figures of a run stand together. The engines of one
 * fit differ in nothing but coefficients and overhead. */
struct fit_point {
    struct pm_case input;    /* its engine is the next member, whatever it points to */
    struct pm_engine engine; /* standard values */
    enum fit_figure figure;
    double measured; /* seconds; tokens per second for FIT_RATE */
    size_t run;
    const char *key; /* interned, or NULL: points of one key have the same case and engine */
};

/* What a figure comes to with the engine so changed; not above 0 when there is none. */
double fit_expected(const struct fit_point *point, const double change[COEFFICIENT_COUNT]);

struct fit_case {
    struct pm_case input;         /* prepared; its engine is the next member, or a changed copy of it */
    struct pm_engine engine;      /* standard values */
    struct pm_result result;      /* of the latest evaluation */
    double measures[FIT_FIGURES]; /* points of each figure */
};

struct fit_cases {
    struct arena *arena;
    struct fit_case *items;
    size_t count;
    size_t *of_point; /* the case of each point */
};

/* Logarithms of the figures of a case as times: a rate counts the other way. NAN: there is none. */
struct fit_logs {
    double of[FIT_FIGURES];
};

void fit_cases_of(struct arena *arena, const struct fit_point *points, size_t count, struct fit_cases *out);

/* With these values of an engine; and with the standard ones so changed. */
struct fit_logs fit_case_with(struct fit_case *it, const struct pm_engine *engine);
struct fit_logs fit_case_logs(struct fit_case *it, const double change[COEFFICIENT_COUNT]);

/* d log / d change of one coefficient, at a change with these logarithms. */
struct fit_logs fit_case_slopes(struct fit_case *it, const double change[COEFFICIENT_COUNT],
                                struct fit_logs logs, enum coefficient coefficient);

/* ln(measured / expected) of times; 0 where nothing is expected. */
double fit_residue(const struct fit_point *point, struct fit_logs logs);

#endif
