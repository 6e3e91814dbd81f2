/* assertion.h: the plan's assertions, decided. */
#ifndef PERFC_RESULT_ASSERTION_H
#define PERFC_RESULT_ASSERTION_H

#include "result/evaluate.h"

/* Decides every assertion of the plan, in order, into report->assertions. A comparison carries both
 * sides and the margin; one that reads a quantity that does not exist does not hold, and says why. */
void assertions_evaluate(struct evaluator *evaluator, struct report *report);

/* Decides one condition. */
struct report_assertion assertion_decide(struct evaluator *evaluator, const struct check *check);

/* How many hold. */
size_t assertions_held(const struct report *report);

#endif
