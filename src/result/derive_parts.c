/* derive_parts.c: derivations of what has no formula in the table: terms of a step as the operations they are
 * the sum of, and what everything else is computed from. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/vec.h"
#include "result/derive_internal.h"
#include "sema/unit.h"

/* ---- what is computed from what --------------------------------------------------------------------- */

#define ARCHITECTURE                                                                                         \
    "hidden layers heads kv_heads head_dim ffn vocab experts active_experts expert_ffn shared_ffn "          \
    "tied_embeddings window q_rank kv_rank nope_dim rope_dim v_dim params"
#define DECODE_TERMS                                                                                         \
    "decode.time.weights decode.time.kv decode.time.compute decode.time.communication decode.time.fixed"
#define PREFILL_TERMS                                                                                        \
    "prefill.time.weights prefill.time.kv prefill.time.compute prefill.time.communication "                  \
    "prefill.time.fixed"
#define SHARDS "tp pp dp ep"

static const struct {
    enum quantity quantity;
    const char *names;
} reads[] = {
    {Q_MAX_BATCH, "memory.pool memory.kv_per_sequence memory.kv_shared memory.activations " SHARDS},
    {Q_MAX_BATCH_LIMIT, "memory.pool memory.kv_per_sequence"},
    {Q_MAX_CONTEXT, "memory.pool memory.kv_per_token memory.kv_fixed memory.page batch dp model.max_context"},
    {Q_MAX_CONTEXT_LIMIT, "max_context model.max_context"},
    {Q_KV_TOKENS, "memory.pool memory.kv_per_token memory.kv_fixed memory.page"},
    {Q_MEMORY_WEIGHT_SHARE, "memory.weights weight_bytes " SHARDS},
    {Q_MEMORY_KV_SHARED, "cached_prefix memory.kv_per_token memory.page"},
    {Q_MEMORY_ACTIVATIONS, "model.hidden model.ffn model.vocab prompt batch chunk engine.chunk "
                           "engine.activations_in_overhead " SHARDS},
    {Q_MEMORY_KV_PER_TOKEN, "model.kv_bytes_per_token memory.kv_value_bytes " SHARDS},
    {Q_MEMORY_KV_VALUE_BYTES, "kv_cache model.kv_cache"},
    {Q_MEMORY_KV_FIXED,
     "memory.kv_per_sequence memory.kv_per_token memory.sequence_tokens model.state_bytes"},
    {Q_MEMORY_SEQUENCE_TOKENS, "prompt output context speculation.tokens memory.page"},
    {Q_MEMORY_WEIGHTS_EMBEDDING, "model.params.embedding model.weights.embedding " SHARDS},
    {Q_MEMORY_WEIGHTS_POSITIONS, "model.params.positions " SHARDS},
    {Q_MEMORY_WEIGHTS_ATTENTION, "model.params.attention weights model.weights weights.attention " SHARDS},
    {Q_MEMORY_WEIGHTS_FFN, "model.params.ffn weights model.weights weights.ffn " SHARDS},
    {Q_MEMORY_WEIGHTS_EXPERTS, "model.params.experts weights model.weights weights.experts " SHARDS},
    {Q_MEMORY_WEIGHTS_SHARED, "model.params.shared weights model.weights weights.shared " SHARDS},
    {Q_MEMORY_WEIGHTS_ROUTER, "model.params.router weights.router " SHARDS},
    {Q_MEMORY_WEIGHTS_NORMS, "model.params.norms weights.norms " SHARDS},
    {Q_MEMORY_WEIGHTS_HEAD, "model.params.head weights.head " SHARDS},
    {Q_MEMORY_WEIGHTS_OTHER, "model.params.other weights model.weights " SHARDS},
    {Q_WEIGHT_VALUE_BYTES, "weights model.weights model.params"},
    {Q_DECODE_CONTEXT, "prompt output context"},
    {Q_DECODE_MATRIX_WORK, "model.matmul_params_active decoding speculation.tokens " SHARDS},
    {Q_DECODE_ATTENTION_WORK, "model.layers decode.context decoding speculation.tokens " SHARDS},
    {Q_DECODE_WEIGHT_TRAFFIC, "weight_bytes model.matmul_params_active " SHARDS},
    {Q_DECODE_KV_TRAFFIC, "memory.kv_per_token memory.kv_fixed decode.context decoding " SHARDS},
    {Q_DECODE_PEAK, "decode.work weights model.weights kv_cache gpu.peak.bf16 gpu.peak.fp16 gpu.peak.fp8 "
                    "gpu.peak.int8 gpu.peak.fp4"},
    {Q_DECODE_BALANCE, "gpu.bandwidth"},
    {Q_DECODE_BOUND, DECODE_TERMS},
    {Q_DECODE_DISTINCT_EXPERTS, "model.experts model.active_experts decoding"},
    {Q_DECODE_TIME_WEIGHTS, "decode.weight_traffic gpu.bandwidth"},
    {Q_DECODE_TIME_KV, "decode.kv_traffic gpu.bandwidth"},
    {Q_DECODE_TIME_COMPUTE, "decode.work decode.peak"},
    {Q_DECODE_TIME_COMMUNICATION, "decode.allreduces gpu.link decoding model.hidden " SHARDS},
    {Q_DECODE_TIME_FIXED, "decode.launches engine.operation_time decoding engine.sequence_time"},
    {Q_DECODE_STEP, "decode.time prompt output"},
    {Q_DECODE_LAUNCHES, "model.layers"},
    {Q_DECODE_ALLREDUCES, "model.layers " SHARDS},
    {Q_PREFILL_MATRIX_WORK, "model.matmul_params_active prompt cached_prefix " SHARDS},
    {Q_PREFILL_ATTENTION_WORK, "model.layers prompt cached_prefix " SHARDS},
    {Q_PREFILL_TRAFFIC, "decode.weight_traffic prompt cached_prefix"},
    {Q_PREFILL_BALANCE, "prefill.work gpu.bandwidth weights model.weights gpu.peak.bf16 gpu.peak.fp16 "
                        "gpu.peak.fp8 gpu.peak.int8 gpu.peak.fp4"},
    {Q_PREFILL_BOUND, PREFILL_TERMS},
    {Q_PREFILL_TIME, PREFILL_TERMS},
    {Q_PREFILL_PACKED, "prefill.time.compute engine.chunk chunk prompt running dp pp"},
    {Q_PREFILL_STEP_SHARE, "running output speculation.tokens_per_step prompt engine.chunk chunk dp pp"},
    {Q_PREFILL_EXTRA, "prefill.time decode.time dp pp"},
    {Q_PREFILL_TIME_WEIGHTS, "prefill.traffic prompt decoding gpu.bandwidth"},
    {Q_PREFILL_TIME_KV, "prompt decoding gpu.bandwidth"},
    {Q_PREFILL_TIME_COMPUTE, "prefill.work prompt decoding"},
    {Q_PREFILL_TIME_COMMUNICATION, "prompt decoding gpu.link model.hidden " SHARDS},
    {Q_PREFILL_TIME_FIXED, "prompt decoding engine.operation_time engine.sequence_time"},
    {Q_CEILING_DECODE_COMPUTE_TIME, "decode.work"},
    {Q_CEILING_DECODE_BOUND, "ceiling.decode.compute_time ceiling.decode.memory_time"},
    {Q_CEILING_DECODE_STEP, "ceiling.decode.time prompt output"},
    {Q_CEILING_PREFILL_COMPUTE_TIME, "prefill.work"},
    {Q_CEILING_PREFILL_BOUND, "ceiling.prefill.compute_time ceiling.prefill.memory_time"},
    {Q_CEILING_RUNNING, "batch max_batch"},
    {Q_CEILING_INTERFERENCE, "ceiling.running"},
    {Q_CEILING_TTFT, "ceiling.prefill.time ceiling.running batch ceiling.tpot output"},
    {Q_CEILING_LATENCY, "ceiling.ttft ceiling.tpot output"},
    {Q_INTERFERENCE, "prefill.time decode.time running output engine.chunk chunk " SHARDS},
    {Q_FIRST_TOKEN_HOST, "engine.request_time"},
    {Q_FIRST_TOKEN_STREAM, "engine.stream_interval engine.stream_share output"},
    {Q_FIRST_TOKEN_WAVE, "prefill.time running output engine.chunk chunk " SHARDS},
    {Q_RUNNING, "batch max_batch"},
    {Q_DECODING, "running prefill.step_share engine.chunk chunk"},
    {Q_TOKENS_PER_STEP, "speculation.tokens speculation.acceptance"},
    {Q_DRAFT_TIME, "speculation.tokens speculation.draft model.mtp_params decoding decode.context "
                   "gpu.bandwidth"},
    {Q_PLAIN_STEP, "decoding decode.context weight_bytes gpu.bandwidth"},
    {Q_BREAK_EVEN_ACCEPTANCE, "decode.step speculation.plain_step speculation.tokens"},
    {Q_BREAK_EVEN_BATCH, "speculation.tokens_per_step speculation.plain_step decode.step decode.context"},
    {Q_HYPOTHETICAL, "fits max_batch"},
    {Q_VERIFIED, "gpu.measured engine model.experts pp speculation.tokens"},
    {Q_CRITICAL_BATCH, "decode.weight_traffic memory.kv_per_token decode.context decode.peak gpu.bandwidth"},
    {Q_CRITICAL_CONTEXT, "memory.kv_per_token model.matmul_params_active decode.peak gpu.bandwidth"},
    {Q_KV_EQUALS_WEIGHTS, "decode.weight_traffic memory.kv_per_token batch"},
    {Q_MBU, "decode.time decode.traffic gpu.bandwidth"},
    {Q_SCALING_EFFICIENCY, "decode.time gpus_per_replica " SHARDS},
    {Q_GPU_PRICE, "price system.price gpu.price"},
    {Q_MEMORY_UTILIZATION, "utilization engine.utilization"},
    {Q_MEMORY_COMMUNICATOR, "engine.communicator gpus_per_replica"},
    {Q_MEMORY_GRAPHS, "engine.graphs engine.graphs_in_cap"},
    {Q_MEMORY_ROPE_TABLE, "engine.rope_table model.rotary_dim model.max_context"},
    {Q_MEMORY_ALLOCATOR_SLACK, "memory.weights engine"},
    {Q_MEMORY_PAGE, "page engine.page"},
    {Q_ENERGY_PER_TOKEN, "gpu.tdp gpus throughput"},
    {Q_COST_PER_MTOK_BLENDED, "cost_per_mtok prompt output"},
    {Q_PARAMS, ARCHITECTURE},
    {Q_ACTIVE_PARAMS, "params params.experts experts active_experts"},
    {Q_MATMUL_PARAMS, "params params.embedding params.norms tied_embeddings"},
    {Q_MATMUL_PARAMS_ACTIVE, "matmul_params params.experts experts active_experts"},
    {Q_LAYERS, "layers count"},
    {Q_KV_BYTES_PER_TOKEN, "layers kv_heads head_dim kv_rank rope_dim kv_cache"},
    {Q_KV_BYTES_WINDOW, "layers kv_heads head_dim window kv_cache"},
    {Q_STATE_BYTES, "layers count"},
    {Q_MODEL_WEIGHT_BYTES, "params weights"},
    {Q_PARAMS_EMBEDDING, "vocab hidden params"},
    {Q_PARAMS_POSITIONS, "positions hidden"},
    {Q_PARAMS_ATTENTION, "layers hidden heads kv_heads head_dim q_rank kv_rank nope_dim rope_dim v_dim"},
    {Q_PARAMS_FFN, "layers hidden ffn"},
    {Q_PARAMS_EXPERTS, "layers hidden experts expert_ffn"},
    {Q_PARAMS_SHARED, "layers hidden shared_ffn"},
    {Q_PARAMS_ROUTER, "layers hidden experts"},
    {Q_PARAMS_NORMS, "layers hidden"},
    {Q_PARAMS_HEAD, "vocab hidden tied_embeddings"},
    {Q_PARAMS_OTHER, "params"},
    {Q_BALANCE, "peak.bf16 peak.fp16 bandwidth"},
    {Q_BALANCE_BF16, "peak.fp16 bandwidth"},
    {Q_BALANCE_FP16, "peak.bf16 bandwidth"},
};

const char *derive_reads(enum quantity quantity)
{
    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++)
        if (reads[i].quantity == quantity)
            return reads[i].names;
    return NULL;
}

/* ---- operations of a step --------------------------------------------------------------------------- */

static const struct {
    enum quantity quantity;
    enum pm_bound bound;
    bool prefill;
} terms[] = {
    {Q_DECODE_TIME_WEIGHTS, PM_BOUND_WEIGHTS, false},
    {Q_DECODE_TIME_KV, PM_BOUND_KV, false},
    {Q_DECODE_TIME_COMPUTE, PM_BOUND_COMPUTE, false},
    {Q_DECODE_TIME_COMMUNICATION, PM_BOUND_COMMUNICATION, false},
    {Q_PREFILL_TIME_WEIGHTS, PM_BOUND_WEIGHTS, true},
    {Q_PREFILL_TIME_KV, PM_BOUND_KV, true},
    {Q_PREFILL_TIME_COMPUTE, PM_BOUND_COMPUTE, true},
    {Q_PREFILL_TIME_COMMUNICATION, PM_BOUND_COMMUNICATION, true},
};

/* What an operation's rate may be besides a peak. */
static const struct {
    size_t offset;
    const char *name;
} efficiencies[] = {
    {offsetof(struct pm_engine, efficiency_dense[PM_CLASS_16]), "engine.efficiency.dense_16"},
    {offsetof(struct pm_engine, efficiency_dense[PM_CLASS_8]), "engine.efficiency.dense_8"},
    {offsetof(struct pm_engine, efficiency_dense[PM_CLASS_4]), "engine.efficiency.dense_4"},
    {offsetof(struct pm_engine, efficiency_attention), "engine.efficiency.attention"},
    {offsetof(struct pm_engine, efficiency_experts[PM_CLASS_16]), "engine.efficiency.experts_16"},
    {offsetof(struct pm_engine, efficiency_experts[PM_CLASS_8]), "engine.efficiency.experts_8"},
    {offsetof(struct pm_engine, efficiency_experts[PM_CLASS_4]), "engine.efficiency.experts_4"},
};
enum { EFFICIENCY_COUNT = sizeof efficiencies / sizeof efficiencies[0] };

static const struct dim dim_time = {{[DIM_TIME] = 1}};

static struct derive_node *new_part(struct arena *arena, const char *name, double value, struct dim dim,
                                    const char *doc)
{
    struct derive_node *node = ARENA_NEW(arena, struct derive_node);
    *node =
        (struct derive_node){.name = name, .doc = doc, .part = true, .source = "docs/model.md, section 4"};
    node->value = (struct report_quantity){
        .name = name, .type = QUANTITY_NUMBER, .unit = dim_si_unit(arena, dim), .value = value};
    node->text = quantity_value_text(arena, &node->value, dim);
    node->exact = derive_exact(arena, &node->value);
    return node;
}

const char *derive_substitute_inputs(struct arena *arena, const struct derive_node *node)
{
    struct buffer out = buffer_in(arena);
    for (const char *at = node->shown; *at;) {
        size_t length = 0;
        while (isalnum((unsigned char)at[length]) || at[length] == '_' || at[length] == '.')
            length++;
        const struct derive_node *input = NULL;
        for (size_t i = 0; i < node->inputs.count && length > 0; i++)
            if (strlen(node->inputs.items[i]->name) == length &&
                strncmp(node->inputs.items[i]->name, at, length) == 0)
                input = node->inputs.items[i];
        if (input)
            buffer_text(&out, input->text);
        else if (*at == '*')
            buffer_text(&out, "×");
        else
            buffer_add(&out, at, length > 0 ? length : 1);
        at += *at == '*' || length == 0 ? 1 : length;
    }
    return buffer_string(&out);
}

/* "qkv projection" as a name in a formula. */
static const char *operation_name(struct arena *arena, const char *text)
{
    char *name = arena_printf(arena, "op.%s", text);
    for (char *byte = name + 3; *byte; byte++)
        if (!isalnum((unsigned char)*byte))
            *byte = '_';
    return name;
}

/* One launch without its fixed time: the longer of computing and moving, and a little more where both take
 * about as long. */
static struct derive_node *operation_node(struct arena *arena, const struct pm_op *op)
{
    static const struct dim work = {{[DIM_WORK] = 1}}, data = {{[DIM_DATA] = 1}},
                            rate = {{[DIM_WORK] = 1, [DIM_TIME] = -1}},
                            bandwidth = {{[DIM_DATA] = 1, [DIM_TIME] = -1}};
    struct derive_node *node = new_part(arena, operation_name(arena, op->name), op->busy, dim_time,
                                        "One launch, without the time that every operation takes.");
    double bytes = op->weight_bytes + op->kv_bytes + op->activation_bytes;
    double compute = op->rate > 0 ? op->work / op->rate : 0, longer = fmax(compute, bytes / op->bandwidth);
    bool rounded = op->busy > longer;
    if (op->rate > 0) {
        *VEC_PUSH(arena, node->inputs) = new_part(arena, "work", op->work, work, "Work of one launch.");
        *VEC_PUSH(arena, node->inputs) = new_part(arena, "rate", op->rate, rate, "Peak times efficiency.");
    }
    *VEC_PUSH(arena, node->inputs) =
        new_part(arena, "bytes", bytes, data, "Weights, cache and activations of one launch.");
    *VEC_PUSH(arena, node->inputs) =
        new_part(arena, "bandwidth", op->bandwidth, bandwidth, "Bandwidth times efficiency.");
    if (rounded)
        *VEC_PUSH(arena, node->inputs) =
            new_part(arena, "corner", op->busy / longer, dim_none(),
                     "Neither side hides behind the other where both take about as long.");
    node->formula = op->rate > 0 ? rounded ? "max(work / rate, bytes / bandwidth) * corner"
                                           : "max(work / rate, bytes / bandwidth)"
                    : rounded    ? "bytes / bandwidth * corner"
                                 : "bytes / bandwidth";
    node->shown = node->formula;
    node->substituted = derive_substitute_inputs(arena, node);
    return node;
}

/* The step that a term is of, if one step makes it up, with its operations. */
static bool step_of(const struct binding *binding, const struct pm_result *result, bool prefill,
                    struct pm_step *step, struct pm_op *ops, size_t *count)
{
    const struct pm_case *input = &binding->input;
    if (!prefill) {
        pm_expected_step(input, result->expected.decoding, result->context, 0, step, ops, PM_OPS_MAX, count);
        return true;
    }
    if (input->cached_prefix > 0 || input->model->tower_tokens > 0)
        return false;
    bool alone = input->static_step || !(result->expected.tpot > 0);
    pm_expected_step(input, alone ? 0 : result->expected.decoding, alone ? 0 : result->context, input->prompt,
                     step, ops, PM_OPS_MAX, count);
    return true;
}

static enum pm_bound bound_of(const struct pm_op *op, double compute, double memory)
{
    return compute > memory ? PM_BOUND_COMPUTE : op->weight_bytes > 0 ? PM_BOUND_WEIGHTS : PM_BOUND_KV;
}

static void add_term(struct arena *arena, struct buffer *formula, struct derive_node *node, double count,
                     struct derive_node *part)
{
    /* Operations of the same name in blocks of several kinds are told apart. */
    size_t same = 0;
    for (size_t i = 0; i < node->inputs.count; i++)
        same += strncmp(node->inputs.items[i]->name, part->name, strlen(part->name)) == 0;
    if (same > 0)
        part->name = arena_printf(arena, "%s.%zu", part->name, same + 1);
    part->value.name = part->name;
    buffer_printf(formula, "%s%.17g * %s", formula->length > 0 ? " + " : "", count, part->name);
    *VEC_PUSH(arena, node->inputs) = part;
}

static void add_operations(struct arena *arena, struct buffer *formula, struct derive_node *node,
                           const struct pm_op *ops, size_t count, enum pm_bound bound)
{
    for (size_t i = 0; i < count; i++) {
        double bytes = ops[i].weight_bytes + ops[i].kv_bytes + ops[i].activation_bytes;
        double memory = bytes / ops[i].bandwidth, compute = ops[i].rate > 0 ? ops[i].work / ops[i].rate : 0;
        if (ops[i].busy > 0 && bound_of(&ops[i], compute, memory) == bound)
            add_term(arena, formula, node, ops[i].count, operation_node(arena, &ops[i]));
    }
}

/* Adds the efficiency that makes this peak the rate of a compute-bound operation; false: none does. */
static bool add_efficiency(struct buffer *names, const struct pm_engine *engine, const struct pm_op *op,
                           double peak)
{
    double bytes = op->weight_bytes + op->kv_bytes + op->activation_bytes;
    if (!(op->rate > 0) || !(op->work / op->rate > bytes / op->bandwidth))
        return false;
    bool used = false;
    for (size_t i = 0; i < EFFICIENCY_COUNT; i++) {
        double efficiency = *(const double *)((const char *)engine + efficiencies[i].offset);
        if (fabs(op->rate / (peak * efficiency) - 1) > 1e-12)
            continue;
        if (!strstr(buffer_string(names), efficiencies[i].name))
            buffer_printf(names, "%s ", efficiencies[i].name);
        used = true;
    }
    return used;
}

/* The names of the rates that operations run at: what is multiplied to give them. */
static const char *rates_of(struct arena *arena, const struct pm_case *input, const struct pm_op *ops,
                            size_t count, enum pm_bound bound)
{
    const struct pm_gpu *gpu = input->gpu;
    if (bound == PM_BOUND_COMMUNICATION)
        return "engine.allreduce_time engine.efficiency.link gpu.link gpu.pcie decoding model.hidden tp";
    struct buffer names = buffer_in(arena);
    if (bound != PM_BOUND_COMPUTE)
        return gpu->efficiency_bandwidth > 0 ? "gpu.bandwidth gpu.efficiency.bandwidth"
                                             : "gpu.bandwidth engine.efficiency.bandwidth";
    for (int i = 0; i < PM_COMPUTE_COUNT; i++) {
        /* Formats of equal peaks are one unit under several names; bf16 stands for fp16. */
        bool used = false, same = i == PM_FP16 && gpu->peak[PM_BF16] == gpu->peak[PM_FP16];
        for (int k = 0; k < i; k++)
            same = same || (k != PM_FP16 && gpu->peak[k] == gpu->peak[i]);
        for (size_t j = 0; j < count && !same && gpu->peak[i] > 0; j++)
            used = add_efficiency(&names, input->engine, &ops[j], gpu->peak[i]) || used;
        if (used)
            buffer_printf(&names, "gpu.peak.%s ", compute_name((enum pm_compute)i));
    }
    return names.length > 0 ? buffer_string(&names)
                            : "engine.efficiency.experts_16 engine.expert_half_rows gpu.peak.bf16";
}

void derive_operations(struct evaluator *evaluator, struct decl *decl, enum quantity quantity,
                       struct derive_node *node, const char **names)
{
    struct arena *arena = plan_arena(evaluator_plan(evaluator));
    size_t term = 0, count = 0;
    while (term < sizeof terms / sizeof terms[0] && terms[term].quantity != quantity)
        term++;
    const struct evaluation *evaluation =
        term < sizeof terms / sizeof terms[0] ? evaluate_scenario(evaluator, decl) : NULL;
    if (!evaluation || node->value.type != QUANTITY_NUMBER)
        return;
    if (node->value.value == 0) {
        node->formula = node->shown = node->substituted = "0 s";
        *names = NULL;
        return;
    }
    struct pm_op *ops = ARENA_ARRAY(arena, struct pm_op, PM_OPS_MAX);
    struct pm_step step;
    if (evaluation->binding.engine_values.ideal ||
        !step_of(&evaluation->binding, &evaluation->result, terms[term].prefill, &step, ops, &count) ||
        fabs(step.term[terms[term].bound] / node->value.value - 1) > 1e-9)
        return;
    struct buffer formula = buffer_in(arena);
    if (terms[term].bound != PM_BOUND_COMMUNICATION)
        add_operations(arena, &formula, node, ops, count, terms[term].bound);
    else if (step.allreduces > 0 && step.allreduce_time == step.term[PM_BOUND_COMMUNICATION])
        add_term(arena, &formula, node, step.allreduces,
                 new_part(arena, "op.allreduce", step.allreduce_time / step.allreduces, dim_time,
                          "One exchange between the GPUs: its latency and the bytes over the link."));
    if (node->inputs.count == 0)
        return;
    node->formula = node->shown = buffer_string(&formula);
    node->substituted = derive_substitute_inputs(arena, node);
    *names = rates_of(arena, &evaluation->binding.input, ops, count, terms[term].bound);
}
