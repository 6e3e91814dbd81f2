/* derive.h: how a figure was made, step by step, from the formulas of the table of quantities. */
#ifndef PERFC_RESULT_DERIVE_H
#define PERFC_RESULT_DERIVE_H

#include "result/evaluate.h"
#include "result/report.h"

/* One step for a quantity of `decl`: formula, formula with values in place of names, value. */
struct derivation_step derive_step(struct evaluator *evaluator, struct decl *decl, enum quantity quantity);

/* The derivation of a scenario's main figures (weights, cache, fit, work, traffic, ceiling, expected time
 * per token, time to first token, throughput, largest batch, cost), those that exist. */
void derive_main(struct evaluator *evaluator, struct decl *scenario, struct derivation *out);

/* The derivation of one quantity: what its formula reads comes first, down to the inputs; each
 * step once. */
void derive_quantity(struct evaluator *evaluator, struct decl *decl, enum quantity quantity,
                     struct derivation *out);

/* What a name in a formula of `decl` means, for substitution and tests: a quantity, an attribute, or an
 * attribute or quantity of what it refers to ("gpu.bandwidth", "model.params"). False when it is no name
 * of this declaration. */
bool derive_lookup(struct evaluator *evaluator, struct decl *decl, const char *path,
                   struct report_quantity *value, struct dim *dim);

#endif
