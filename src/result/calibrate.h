/* calibrate.h: the engines of a plan fitted to its measurements. */
#ifndef PERFC_RESULT_CALIBRATE_H
#define PERFC_RESULT_CALIBRATE_H

#include "result/evaluate.h"
#include "result/fit.h"

struct buffer;

/* A measurement that says nothing about the engine, and why. */
struct calibration_skip {
    const struct measurement *measurement;
    const char *why;
};

/* One engine that measured scenarios use. */
struct calibration {
    struct decl *engine;
    const char *name; /* of the fitted engine: no other is called so */
    struct fit_point *points;
    size_t count, runs;
    struct pm_engine standard, fitted; /* fitted: as it is written, rounded */
    bool *written;                     /* one for each slot of coefficient_slots(): it is changed */
    const char **deployments; /* that were measured, each once */
    size_t deployment_count;
    bool unverified;                   /* some runs are on cards that nobody had measured */
    struct fit fit;                    /* its errors afterwards are those of `fitted` */
    struct pm_band bands[FIT_FIGURES]; /* factors; 0: as they were */
    struct calibration_skip *skips;
    size_t skip_count;
};

/* Fits every engine that some measurement tells about. Returns how many; *out is in the plan's arena.
 * Measurements that belong to none are in *rest. */
size_t calibrate_plan(struct evaluator *evaluator, struct calibration **out, struct calibration_skip **rest,
                      size_t *rest_count);

/* The engine as a declaration, errors and all in comments before it. */
void calibration_write(struct evaluator *evaluator, const struct calibration *calibration,
                       struct buffer *out);

/* The comments alone, without their marks: for a terminal. */
void calibration_summary(struct evaluator *evaluator, const struct calibration *calibration, const char *mark,
                         struct buffer *out);

#endif
