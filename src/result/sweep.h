/* sweep.h: a scenario over one or two attributes. */
#ifndef PERFC_RESULT_SWEEP_H
#define PERFC_RESULT_SWEEP_H

#include "result/evaluate.h"

/* One point: the values of the axes and the shown quantities there. */
struct sweep_point {
    size_t index[2]; /* into the axes' values */
    struct decl *variant;
    const struct evaluation *evaluation; /* not valid: `why` says what is impossible at this point */
    struct report_quantity *shown;       /* one for each `show`; their names are relative: "tpot" */
    bool fits;
};

/* A sweep, evaluated: points in order, the second axis fastest. */
struct sweep_result {
    const struct sweep *sweep;
    const struct quantity_info **rows; /* of each `show`; NULL for a name that is an attribute */
    struct dim *dims;                  /* of each `show` */
    struct sweep_point *points;
    size_t count;
    double max_fitting; /* greatest value of a numeric first axis that fits; -1: none, or not a number */
};

void sweep_evaluate(struct evaluator *evaluator, const struct sweep *sweep, struct sweep_result *out);

/* The value of an axis as the plan would write it: "32", "h100-sxm", "fp8", "2 048 tokens". */
const char *sweep_value_text(struct evaluator *evaluator, const struct sweep_axis *axis, size_t index);

/* The sweep for machines. */
void sweep_list(struct evaluator *evaluator, const struct sweep_result *result, struct report *report);

/* All sweeps of the plan, evaluated and listed. */
void report_sweeps(struct evaluator *evaluator, struct report *report);

#endif
