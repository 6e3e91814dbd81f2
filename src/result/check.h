/* check.h: what a scenario's numbers must satisfy beyond the range of each attribute. */
#ifndef PERFC_RESULT_CHECK_H
#define PERFC_RESULT_CHECK_H

#include "result/bind_internal.h"
#include "result/evaluate.h"

/* The layout and the architecture against each other; errors make the job fail. */
void check_binding(struct bind_job *job, const struct binding *binding);

/* The evaluated scenario against memory, model and card: warnings. */
void check_result(struct plan *plan, const struct evaluation *evaluation);

/* Warns of what a model of the plan says and no block of it reads. */
void check_effects(struct plan *plan, const struct evaluation *evaluation);

#endif
