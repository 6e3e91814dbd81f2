/* tradeoff.c: which points no other beats at both of two things: the Pareto front. */
#include "result/tradeoff.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"

/* The most throughput first, and of as much the least latency. */
static int by_throughput(const void *left, const void *right)
{
    const struct report_tradeoff *a = *(struct report_tradeoff *const *)left;
    const struct report_tradeoff *b = *(struct report_tradeoff *const *)right;
    if (a->throughput != b->throughput)
        return a->throughput > b->throughput ? -1 : 1;
    return a->latency < b->latency ? -1 : a->latency > b->latency;
}

void tradeoff_mark(struct arena *arena, struct report_tradeoff *points, size_t count)
{
    if (count == 0)
        return;
    struct report_tradeoff **sorted = ARENA_ARRAY(arena, struct report_tradeoff *, count);
    for (size_t i = 0; i < count; i++)
        sorted[i] = &points[i];
    qsort(sorted, count, sizeof *sorted, by_throughput);
    double least = INFINITY; /* latency of all that have more throughput */
    for (size_t i = 0; i < count;) {
        double best = sorted[i]->latency, throughput = sorted[i]->throughput;
        for (; i < count && sorted[i]->throughput == throughput; i++)
            sorted[i]->pareto = sorted[i]->latency == best && best < least;
        least = fmin(least, best);
    }
}
