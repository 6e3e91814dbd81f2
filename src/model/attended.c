/* attended.c: how many tokens attention reads, in closed form. A token at position i (counted from 1)
 * attends i tokens; with a window w, min(i, w); in chunks of c tokens, ((i - 1) mod c) + 1. */
#include "model/internal.h"

static double in_chunk(double position, double chunk)
{
    return position > 0 ? fmod(position - 1, chunk) + 1 : 0;
}

/* Sum over positions 1 to `last` of tokens attended inside chunks. */
static double chunk_sum(double last, double chunk)
{
    double whole = floor(last / chunk), rest = last - whole * chunk;
    return whole * chunk * (chunk + 1) / 2 + rest * (rest + 1) / 2;
}

double pm_attended_mean(struct pm_contexts contexts, double window, double chunk)
{
    double first = contexts.first, last = contexts.last;
    if (!(last > first)) {
        return window > 0 ? pm_at_most(first, window) : chunk > 0 ? in_chunk(first, chunk) : first;
    }
    if (window > 0) {
        if (first >= window) {
            return window;
        }
        if (last > window) {
            double rising = window - first; /* positions first .. window - 1 */
            double sum = rising * (first + window - 1) / 2 + (last - window + 1) * window;
            return sum / (last - first + 1);
        }
    } else if (chunk > 0) {
        return (chunk_sum(last, chunk) - chunk_sum(first - 1, chunk)) / (last - first + 1);
    }
    return (first + last) / 2;
}

double pm_attended_pairs(double tokens, double cached, double window, double chunk)
{
    if (!(tokens > 0)) {
        return 0;
    }
    struct pm_contexts positions = {cached + 1, cached + tokens};
    return tokens * pm_attended_mean(positions, window, chunk);
}

double pm_attended_cached(double cached, double window, double chunk)
{
    return window > 0 ? pm_at_most(cached, window) : chunk > 0 ? fmod(cached, chunk) : cached;
}
