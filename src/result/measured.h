/* measured.h: what was seen beside what was computed. */
#ifndef PERFC_RESULT_MEASURED_H
#define PERFC_RESULT_MEASURED_H

#include "result/evaluate.h"

/* One measured figure. */
struct measured_row {
    const struct quantity_info *row; /* tpot, ttft, throughput, speed, kv_tokens */
    struct dim dim;
    double measured;
    double expected, low, high; /* valid when has_expected */
    double ceiling;             /* valid when has_ceiling */
    bool has_expected, has_ceiling;
    double ratio;         /* measured / expected; valid when has_expected */
    double ceiling_ratio; /* measured / ceiling; valid when has_ceiling */
    bool beyond_ceiling;  /* better than physics allows: a warning was reported */
    bool inside_band;
};

struct measured_result {
    const struct measurement *measurement;
    struct measured_row *rows;
    size_t count;
    const char *source; /* of the measurement, or NULL */
};

/* The evaluation of what was measured. */
const struct evaluation *evaluate_measured(struct evaluator *evaluator,
                                           const struct measurement *measurement);

/* Compares; a measurement beyond the ceiling is reported as a warning with likely reasons. */
void measured_evaluate(struct evaluator *evaluator, const struct measurement *measurement,
                       struct measured_result *out);

#endif
