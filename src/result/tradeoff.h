/* tradeoff.h: which points no other beats at both of two things, more of one and less of the other. */
#ifndef PERFC_RESULT_TRADEOFF_H
#define PERFC_RESULT_TRADEOFF_H

#include "result/report.h"

/* Marks the points that are on the Pareto front: no other has as much throughput with less latency, or more
 * throughput with as little. Points that are equal share their mark. */
void tradeoff_mark(struct arena *arena, struct report_tradeoff *points, size_t count);

#endif
