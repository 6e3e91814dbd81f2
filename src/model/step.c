/* step.c: the expected time of one step, t_step of calibration.md section 2.3, with its terms. Whatever an
 * operation waits for most is what its time is spent on; its fixed time, and the host's time per sequence,
 * are fixed time. The terms add up to the time exactly, because the time is their sum. */
#include "model/internal.h"

void pm_step_close(struct pm_step *step)
{
    step->time = 0;
    step->bound = PM_BOUND_WEIGHTS;
    for (int i = 0; i < PM_BOUND_COUNT; i++) {
        step->time += step->term[i];
        if (step->term[i] > step->term[step->bound]) {
            step->bound = (enum pm_bound)i;
        }
    }
}

void pm_step_add(struct pm_step *sum, const struct pm_step *step)
{
    for (int i = 0; i < PM_BOUND_COUNT; i++) {
        sum->term[i] += step->term[i];
    }
    sum->allreduces += step->allreduces;
    sum->allreduce_time += step->allreduce_time;
    sum->launches += step->launches;
    sum->host_time += step->host_time;
    sum->bytes_moved += step->bytes_moved;
    sum->weights_moved += step->weights_moved;
    sum->kv_moved += step->kv_moved;
    sum->work += step->work;
    sum->distinct_experts = pm_at_least(step->distinct_experts, sum->distinct_experts);
    pm_step_close(sum);
}

/* The pure roofline: the ceiling's time, on the side that decides it. */
static void step_at_ceiling(const struct pm_case *input, const struct pm_load *load, struct pm_step *out)
{
    struct pm_ceiling ceiling;
    pm_ceiling_of(input, load, &ceiling);
    out->work = ceiling.work;
    out->bytes_moved = ceiling.traffic;
    out->weights_moved = ceiling.weight_traffic;
    out->kv_moved = ceiling.kv_traffic;
    if (ceiling.bound == PM_BOUND_COMPUTE) {
        out->term[PM_BOUND_COMPUTE] = ceiling.time;
    } else {
        double traffic = ceiling.weight_traffic + ceiling.kv_traffic;
        out->term[PM_BOUND_KV] = ceiling.time * pm_divide(ceiling.kv_traffic, traffic);
        out->term[PM_BOUND_WEIGHTS] = ceiling.time - out->term[PM_BOUND_KV];
    }
    for (size_t i = 0; i < input->model->block_count; i++) {
        const struct pm_block *block = &input->model->blocks[i];
        out->distinct_experts =
            pm_at_least(pm_at_most(block->active_experts, block->experts), out->distinct_experts);
    }
    pm_step_close(out);
    out->time = ceiling.time; /* not a rounding apart from it */
}

static void add_exchanges(const struct pm_case *input, const struct pm_load *load, struct pm_step *out)
{
    struct pm_layout layout = pm_layout_of(input);
    if (layout.gpus <= 1) {
        return;
    }
    struct pm_exchange exchanges[PM_EXCHANGE_KINDS];
    pm_step_exchanges(input, &input->prepared->view, &layout, load, exchanges);
    for (size_t i = 0; i < PM_EXCHANGE_KINDS; i++) {
        double time = exchanges[i].count * exchanges[i].time;
        if (i != PM_EXCHANGE_HANDOVER) {
            out->allreduces += exchanges[i].count;
            out->allreduce_time += time;
        }
        out->term[PM_BOUND_COMMUNICATION] += time;
    }
}

void pm_step_of(const struct pm_case *input, const struct pm_load *load, struct pm_step *out,
                struct pm_op *ops, size_t ops_max, size_t *op_count)
{
    const struct pm_engine *engine = input->engine;
    *out = (struct pm_step){0};
    if (op_count != NULL) {
        *op_count = 0;
    }
    if (engine->ideal) {
        step_at_ceiling(input, load, out);
        return;
    }
    struct pm_sink sink = {.step = out, .ops = ops, .max = ops_max};
    pm_launch_all(input, load, &sink);
    add_exchanges(input, load, out);
    /* Of one micro-batch: the host schedules the others while they wait for their stages. */
    out->host_time = pm_at_least(engine->sequence_time, 0) * pm_at_least(load->sequences, 0) * load->queries;
    out->term[PM_BOUND_FIXED] += out->host_time;
    pm_step_close(out);
    if (op_count != NULL) {
        *op_count = sink.count;
    }
}

void pm_price_step(const struct pm_case *input, double decoding, double context, double prompt_tokens,
                   struct pm_step *out, struct pm_op *ops, size_t ops_max, size_t *op_count)
{
    struct pm_contexts contexts = {pm_at_least(context, 0), pm_at_least(context, 0)};
    struct pm_load load = pm_decode_load(input, pm_at_least(decoding, 0), contexts);
    load.prompt = pm_at_least(prompt_tokens, 0);
    load.requests = 1;
    load.tower_tokens = load.prompt > 0 ? input->model->tower_tokens : 0;
    pm_step_of(input, &load, out, ops, ops_max, op_count);
}
