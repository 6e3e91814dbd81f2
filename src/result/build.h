/* build.h: from evaluated scenarios to the report tree that every backend draws. */
#ifndef PERFC_RESULT_BUILD_H
#define PERFC_RESULT_BUILD_H

#include "result/evaluate.h"
#include "result/report.h"

struct report_options {
    bool quantities; /* list every quantity for machines; JSON and CSV need it */
};

/* Builds the report: verdict, then the sections that `report { sections = ... }` names, or all that
 * have something to say. Call after plan_check() and evaluate_all(), when there are no errors. Comparing
 * with measurements may add warnings to the plan's diagnostics. Lives in the plan's arena. */
struct report *report_build(struct evaluator *evaluator, struct report_options options);

#endif
