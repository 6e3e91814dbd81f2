/* launch.h: the price of one operation of a step, in the header because ops.c asks for it a hundred times in
 * every evaluation. */
#ifndef PERFMODEL_LAUNCH_H
#define PERFMODEL_LAUNCH_H

#include "model/internal.h"

/* Close to the roofline's corner neither side hides behind the other. */
static inline double rounded_corner(double compute, double memory, double power)
{
    double greater = pm_at_least(compute, memory), less = pm_at_most(compute, memory);
    if (!(power > 0) || !(less > 0)) {
        return greater;
    }
    double ratio = less / greater;
    if (power == 4) { /* the usual one, a hundred times in every evaluation: roots cost more than a series */
        double square = ratio * ratio, x = square * square;
        return greater * (ratio < 0.25 ? 1 + x * (0.25 - x * (3 / 32.0 - x * (7 / 128.0 - x * (77 / 2048.0))))
                                       : sqrt(sqrt(1 + x)));
    }
    return greater * pow(1 + pow(ratio, power), 1 / power);
}

static inline void write_row(struct pm_sink *sink, const struct pm_op *op, double busy, double seconds)
{
    if (sink->count < sink->max) {
        struct pm_op *row = &sink->ops[sink->count++];
        *row = *op;
        row->bandwidth = sink->bandwidth;
        row->busy = busy;
        row->seconds = seconds;
    }
}

/* Prices one kind of operation: the memory time is KV time when it reads KV or state, else weight time. */
__attribute__((always_inline)) static inline void launch(struct pm_sink *sink, const struct pm_op *op)
{
    double bytes = op->weight_bytes + op->kv_bytes + op->activation_bytes;
    double compute = pm_divide(op->work, op->rate), memory = bytes / sink->bandwidth;
    double busy = rounded_corner(compute, memory, sink->corner);
    enum pm_bound bound = compute > memory       ? PM_BOUND_COMPUTE
                          : op->weight_bytes > 0 ? PM_BOUND_WEIGHTS
                                                 : PM_BOUND_KV;
    struct pm_step *step = sink->step;
    step->term[bound] += op->count * busy;
    double fixed = sink->launches * sink->operation_time;
    step->term[PM_BOUND_FIXED] += op->count * fixed;
    step->launches += op->count * sink->launches;
    step->bytes_moved += op->count * bytes;
    step->work += op->count * op->work;
    if (sink->ops != NULL) {
        write_row(sink, op, busy, busy + fixed);
    }
}

#endif
