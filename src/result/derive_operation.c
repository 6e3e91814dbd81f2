/* derive_operation.c: the operations of a step: one launch as what it computes and moves, and the times that
 * every operation takes. */
#include <ctype.h>
#include <math.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "result/derive_sheet.h"

bool price_step(struct sheet *sheet, enum pm_step_kind kind, size_t index, struct priced *out)
{
    out->ops = ARENA_ARRAY(sheet->arena, struct pm_op, PM_OPS_MAX);
    return pm_part_step(sheet->input, sheet->result, kind, index, &out->part, out->ops, PM_OPS_MAX,
                        &out->count);
}

const char *operation_name(struct arena *arena, const char *text)
{
    char *name = arena_printf(arena, "op.%s", text);
    for (char *byte = name + 3; *byte; byte++)
        if (!isalnum((unsigned char)*byte))
            *byte = '_';
    return name;
}

double operation_bytes(const struct pm_op *op)
{
    return op->weight_bytes + op->kv_bytes + op->activation_bytes;
}

double operation_kernels(const struct sheet *sheet, const struct pm_op *op)
{
    double factor = sheet->input->gpu->operation_time_factor;
    double fixed = sheet->input->engine->operation_time * (factor > 0 ? factor : 1);
    return fixed > 0 ? (op->seconds - op->busy) / fixed : 1;
}

/* ---- one launch ---------------------------------------------------------------------------------------- */

static double computing_time(const struct pm_op *op)
{
    return op->rate > 0 ? op->work / op->rate : 0;
}

static double moving_time(const struct pm_op *op)
{
    return operation_bytes(op) / op->bandwidth;
}

static enum pm_bound bound_of(const struct pm_op *op)
{
    return computing_time(op) > moving_time(op) ? PM_BOUND_COMPUTE
           : op->weight_bytes > 0               ? PM_BOUND_WEIGHTS
                                                : PM_BOUND_KV;
}

static void add_computing(struct sheet *sheet, struct derive_node *node, const struct pm_op *op)
{
    add_work(sheet, node, op);
    rate_of_matrices(sheet, sheet_part(sheet, node, "rate", op->rate, "FLOP/s", "Peak times efficiency."));
}

static void add_moving(struct sheet *sheet, struct derive_node *node, const struct pm_op *op)
{
    add_bytes(sheet, node, op);
    struct derive_node *bandwidth =
        sheet_part(sheet, node, "bandwidth", op->bandwidth, "B/s", "Bandwidth times efficiency.");
    if (op->narrow)
        bandwidth_of_narrow(sheet, bandwidth, op);
    else
        rate_of_bandwidth(sheet, bandwidth, op);
}

/* Where both sides take about as long, neither hides behind the other: the greater of two numbers, rounded.
 */
static void fill_rounded(struct sheet *sheet, struct derive_node *node, const struct pm_op *op)
{
    double compute = computing_time(op), memory = moving_time(op);
    struct derive_node *computing = sheet_part(sheet, node, "computing", compute, "s", "By itself.");
    add_computing(sheet, computing, op);
    sheet_formula(computing, "work / rate");
    struct derive_node *moving = sheet_part(sheet, node, "moving", memory, "s", "By itself.");
    add_moving(sheet, moving, op);
    sheet_formula(moving, "bytes / bandwidth");
    sheet_formula(node, compute > memory
                            ? "computing * (1 + (moving / computing) ^ engine.corner) ^ (1 / engine.corner)"
                            : "moving * (1 + (computing / moving) ^ engine.corner) ^ (1 / engine.corner)");
}

static void fill_operation(struct sheet *sheet, struct derive_node *node, const struct pm_op *op)
{
    double compute = computing_time(op);
    if (compute > 0 && op->busy > fmax(compute, moving_time(op))) {
        fill_rounded(sheet, node, op);
        return;
    }
    if (op->rate > 0)
        add_computing(sheet, node, op);
    add_moving(sheet, node, op);
    sheet_formula(node, op->rate > 0 ? "max(work / rate, bytes / bandwidth)" : "bytes / bandwidth");
}

void add_operations(struct sheet *sheet, struct derive_node *node, struct buffer *sum,
                    const struct priced *step, enum pm_bound bound)
{
    for (size_t i = 0; i < step->count; i++) {
        const struct pm_op *op = &step->ops[i];
        if (!(op->busy > 0) || bound_of(op) != bound)
            continue;
        struct derive_node *part =
            sheet_part(sheet, node, operation_name(sheet->arena, op->name), op->busy, "s",
                       "One launch, without the time that every operation takes.");
        fill_operation(sheet, part, op);
        sheet_plus(sum, arena_printf(sheet->arena, "%.17g * %s", op->count, part->name));
    }
}

/* ---- what every operation takes ------------------------------------------------------------------------ */

/* Launches: those of projections into recurrent states count by a factor of the engine. */
static void fill_launches(struct sheet *sheet, struct derive_node *part, const struct priced *step)
{
    struct buffer count = buffer_in(sheet->arena);
    for (size_t i = 0; i < step->count; i++) {
        double kernels = operation_kernels(sheet, &step->ops[i]);
        bool several = fabs(kernels - 1) > 1e-9;
        sheet_plus(&count, arena_printf(sheet->arena, "%.17g%s", step->ops[i].count,
                                        several ? " * engine.recurrent_factor" : ""));
    }
    if (count.length > 0)
        sheet_formula(part, buffer_string(&count));
}

void add_fixed(struct sheet *sheet, struct derive_node *node, struct buffer *sum, const struct priced *step)
{
    double factor = sheet->input->gpu->operation_time_factor, host = step->part.step.host_time;
    struct derive_node *part =
        sheet_part(sheet, node, "launches", step->part.step.launches, "1", "Operations of the step.");
    fill_launches(sheet, part, step);
    sheet_plus(sum, arena_printf(sheet->arena, "%s * engine.operation_time%s", part->name,
                                 factor > 0 ? " * gpu.operation_time_factor" : ""));
    if (!(host > 0))
        return;
    struct derive_node *tokens = sheet_part(sheet, node, "tokens", host / sheet->input->engine->sequence_time,
                                            "1", "Of the sequences that decode in the step.");
    sheet_plus(sum, arena_printf(sheet->arena, "%s * engine.sequence_time", tokens->name));
}
