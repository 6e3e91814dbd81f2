/* evaluate.c: everything about one case, in the order of the computation. */
#include "model/internal.h"

/* Measurements stand behind the coefficients: up to 8 measured cards on their own link, one stage, and no
 * speculation or tower (calibration.md sections 3 and 9, edges.md). */
static bool is_verified(const struct pm_case *input)
{
    const struct pm_gpu *gpu = input->gpu;
    struct pm_layout layout = pm_layout_of(input);
    bool experts = false, index = false;
    for (size_t i = 0; i < input->model->block_count; i++) {
        experts = experts || input->model->blocks[i].experts > 0;
        index = index || input->model->blocks[i].index_heads > 0;
    }
    if (input->engine->ideal) {
        return true; /* a bound rests on no coefficient */
    }
    if (input->engine->single_stream && gpu->memory_kind != PM_MEMORY_UNKNOWN && !experts && !index &&
        input->batch <= 1 && layout.gpus <= 1 && !(input->draft_tokens > 0)) {
        return true;
    }
    return gpu->measured && (!experts || gpu->moe_calibrated) && !index && layout.pp <= 1 &&
           layout.stage_gpus <= 8 && (layout.stage_gpus <= 1 || gpu->link > 0) &&
           !(input->draft_tokens > 0) && !(input->model->tower_tokens > 0);
}

/* Time of the same decode steps (of a prefill where there are none) on one GPU, over that on all, per GPU. */
static double scaling_efficiency(const struct pm_case *input, const struct pm_result *result)
{
    struct pm_layout layout = pm_layout_of(input);
    if (layout.gpus <= 1) {
        return 1;
    }
    struct pm_case single = *input;
    single.tp = single.pp = single.dp = single.ep = 1;
    single.prepared = input->prepared->single;
    struct pm_load load = pm_decode_load(&single, result->expected.decoding, pm_case_contexts(input));
    double several = result->decode.time;
    if (result->expected.tpot < 0) {
        load = (struct pm_load){.queries = 1, .prompt = pm_prompt_tokens(input), .requests = 1};
        several = result->prefill.time;
    }
    struct pm_step step;
    pm_step_of(&single, &load, &step, NULL, 0, NULL);
    return pm_divide(step.time, several * layout.gpus);
}

/* Point-to-point volume of expert parallelism (model.md section 6): of a GPU's T/n tokens, k copies each, the
 * share whose expert is elsewhere. Dispatch alone; time is that of all-reduces, as calibrated. */
static double expert_exchange(const struct pm_case *input, double sequences)
{
    struct pm_layout layout = pm_layout_of(input);
    double bytes = 0, tokens = sequences * pm_queries(input) / layout.stage_gpus;
    for (size_t i = 0; i < input->model->block_count; i++) {
        const struct pm_block *block = &input->model->blocks[i];
        double width = block->expert_input > 0 ? block->expert_input : input->model->hidden;
        bytes += block->count * tokens * pm_at_most(block->active_experts, block->experts) * width * 2;
    }
    return bytes * (layout.ep - 1) / layout.ep;
}

static void evaluate_use(const struct pm_case *input, struct pm_result *out)
{
    const struct pm_gpu *gpu = input->gpu;
    struct pm_layout layout = pm_layout_of(input);
    double replicas = pm_at_least(input->replicas, 1), throughput = out->expected.throughput;
    double gpus = layout.gpus * replicas, prompt = pm_prompt_tokens(input);
    /* A GPU of a pipeline works on its stage of every micro-batch in flight. */
    double duty = pm_micro_batches(&layout, out->expected.decoding) / layout.pp;
    double seconds = pm_at_least(out->decode.time, out->decode_ceiling.time);
    out->mfu = pm_divide(2 * out->params.active * throughput, gpus * pm_peak_16(gpu));
    out->mbu = pm_divide(out->decode.bytes_moved * duty, seconds * pm_at_least(gpu->bandwidth, 1));
    out->cost_per_mtok = out->cost_per_mtok_blended = out->energy_per_token = -1;
    if (gpu->price > 0 && throughput > 0) {
        out->cost_per_mtok = pm_divide(gpu->price * gpus * 1e6, throughput);
        if (!pm_is_static(input)) {
            out->cost_per_mtok_blended = out->cost_per_mtok * input->output / (prompt + input->output);
        }
    }
    if (gpu->tdp > 0 && throughput > 0) {
        out->energy_per_token = pm_divide(gpu->tdp * gpus, throughput);
    }
    out->expert_exchange = expert_exchange(input, out->expected.decoding);
}

static void evaluate_memory(const struct pm_case *input, struct pm_result *out)
{
    out->params = input->prepared->params;
    pm_find_memory(input, &out->memory);
    out->sequence_length =
        pm_is_static(input) ? pm_at_least(input->context, 0) : pm_prompt_tokens(input) + input->output;
    out->sequence_length += out->sequence_length > 0 ? pm_at_least(input->draft_tokens, 0) : 0;
    out->hypothetical = !out->memory.fits;
    out->verified = is_verified(input);
    out->gpus = pm_layout_of(input).gpus;
    pm_serve_start(input, out);
}

static void evaluate_limits(const struct pm_case *input, struct pm_result *out)
{
    out->critical_batch = pm_find_critical_batch(input, out->context);
    out->critical_context = pm_find_critical_context(input);
    out->kv_equals_weights = pm_find_kv_equals_weights(input, out->decode_ceiling.weight_traffic);
    out->scaling_efficiency = scaling_efficiency(input, out);
    pm_find_speculation(input, out);
}

static void evaluate(const struct pm_case *input, unsigned parts, struct pm_result *out)
{
    if (parts & PM_PART_MEMORY) {
        evaluate_memory(input, out);
    }
    if (parts & PM_PART_SERVICE) {
        pm_serve(input, out);
    } else if (parts & PM_PART_DECODE) {
        pm_serve_decode(input, out);
    }
    if (parts & PM_PART_USE) {
        evaluate_use(input, out);
    }
    if (parts & PM_PART_LIMITS) {
        evaluate_limits(input, out);
    }
}

/* ---- of cases that are not prepared --------------------------------------------------------- */

void pm_evaluate(const struct pm_case *input, struct pm_result *out)
{
    pm_evaluate_parts(input, PM_PART_ALL, out);
}

void pm_evaluate_parts(const struct pm_case *input, unsigned parts, struct pm_result *out)
{
    struct pm_workspace workspace;
    evaluate(pm_prepared_case(input, &workspace), parts, out);
}

void pm_memory_of(const struct pm_case *input, struct pm_memory *out)
{
    struct pm_workspace workspace;
    pm_find_memory(pm_prepared_case(input, &workspace), out);
}

void pm_ceiling_decode(const struct pm_case *input, double sequences, double context, struct pm_ceiling *out)
{
    struct pm_workspace workspace;
    pm_bound_decode(pm_prepared_case(input, &workspace), sequences, context, out);
}

void pm_ceiling_prefill(const struct pm_case *input, double prompt, double cached, struct pm_ceiling *out)
{
    struct pm_workspace workspace;
    pm_bound_prefill(pm_prepared_case(input, &workspace), prompt, cached, out);
}

void pm_expected_step(const struct pm_case *input, double decoding, double context, double prompt_tokens,
                      struct pm_step *out, struct pm_op *ops, size_t ops_max, size_t *op_count)
{
    struct pm_workspace workspace;
    pm_price_step(pm_prepared_case(input, &workspace), decoding, context, prompt_tokens, out, ops, ops_max,
                  op_count);
}

double pm_critical_batch(const struct pm_case *input, double context)
{
    struct pm_workspace workspace;
    return pm_find_critical_batch(pm_prepared_case(input, &workspace), context);
}

double pm_critical_context(const struct pm_case *input)
{
    struct pm_workspace workspace;
    return pm_find_critical_context(pm_prepared_case(input, &workspace));
}

double pm_kv_equals_weights(const struct pm_case *input)
{
    struct pm_workspace workspace;
    struct pm_ceiling any;
    const struct pm_case *prepared = pm_prepared_case(input, &workspace);
    pm_bound_decode(prepared, 1, 0, &any);
    return pm_find_kv_equals_weights(prepared, any.weight_traffic);
}
