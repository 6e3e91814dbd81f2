/* impossible.h: why a measurement may seem better than physics allows. */
#ifndef PERFC_RESULT_IMPOSSIBLE_H
#define PERFC_RESULT_IMPOSSIBLE_H

#include "result/evaluate.h"

enum { IMPOSSIBLE_REASONS = 8 };

/* Sentences about what would make it possible, each of them tried, the smallest changes first; at least one.
 * Returns how many; the texts live in `arena`. */
size_t impossible_reasons(struct arena *arena, const struct evaluation *evaluation, enum quantity quantity,
                          double measured, const char *out[IMPOSSIBLE_REASONS]);

#endif
