/* derive_candidate.c: formulas that hold in some cases only. The computation itself takes more into account
 * than a line of arithmetic can say (layers of several kinds, formats by class, ranks that share what does
 * not divide); where it comes to the same, the line is told, and that it does is what decides. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "result/derive_internal.h"
#include "sema/unit.h"
#include "source/diag.h"
#include "source/source.h"
#include "syntax/parse.h"

#define SHARDED(quantity, name)                                                                              \
    {quantity, "model.params." name " * weight_value_bytes / (tp * pp)"},                                    \
        {quantity, "model.params." name " * weight_value_bytes / tp"},                                       \
        {quantity, "model.params." name " * weight_value_bytes / pp"},                                       \
        {quantity, "model.params." name " * weight_value_bytes / gpus_per_replica"},                         \
    {                                                                                                        \
        quantity, "model.params." name " * weight_value_bytes"                                               \
    }
#define AT_PEAK(quantity)                                                                                    \
    {quantity, "gpu.peak.bf16 / gpu.bandwidth"}, {quantity, "gpu.peak.fp16 / gpu.bandwidth"},                \
        {quantity, "gpu.peak.fp8 / gpu.bandwidth"}, {quantity, "gpu.peak.int8 / gpu.bandwidth"},             \
    {                                                                                                        \
        quantity, "gpu.peak.fp4 / gpu.bandwidth"                                                             \
    }
#define GROUPED_CACHE "2 * layers * kv_heads * head_dim * kv_cache.bits * 1 B / 8"
#define LATENT_CACHE  "layers * (kv_rank + rope_dim) * kv_cache.bits * 1 B / 8"

/* The first that holds is told. Every line has the dimension of its quantity whatever the case. */
static const struct {
    enum quantity quantity;
    const char *formula;
} candidates[] = {
    {Q_MAX_BATCH, "floor((memory.pool - memory.kv_shared) / memory.kv_per_sequence)"},
    {Q_MAX_BATCH, "floor(memory.pool / memory.kv_per_sequence) * dp * pp"},
    {Q_MAX_CONTEXT, "model.max_context"},
    {Q_MAX_CONTEXT, "floor(memory.pool / (batch * memory.kv_per_token * memory.page)) * memory.page"},
    {Q_KV_TOKENS, "floor(memory.pool / (memory.kv_per_token * memory.page)) * memory.page"},
    {Q_KV_TOKENS, "floor(memory.pool / (memory.kv_per_token * memory.page)) * memory.page * dp * pp"},
    {Q_MEMORY_UTILIZATION, "utilization"},
    {Q_MEMORY_UTILIZATION, "engine.utilization"},
    {Q_MEMORY_UTILIZATION, "1 - engine.graphs / memory.capacity"}, /* graphs that come off a small card */
    {Q_MEMORY_PAGE, "page"},
    {Q_MEMORY_PAGE, "engine.page"},
    {Q_MEMORY_PAGE, "1 token"},
    {Q_MEMORY_WEIGHT_SHARE,
     "(memory.weights.embedding + memory.weights.positions + memory.weights.attention + memory.weights.ffn + "
     "memory.weights.experts + memory.weights.shared + memory.weights.router + memory.weights.norms + "
     "memory.weights.head + memory.weights.other) / weight_bytes"},
    {Q_MEMORY_KV_PER_TOKEN, "model.kv_bytes_per_token"},
    {Q_MEMORY_KV_PER_TOKEN, "model.kv_bytes_per_token / tp"},
    {Q_MEMORY_KV_PER_TOKEN, "model.kv_bytes_per_token / (tp * pp)"},
    {Q_MEMORY_KV_VALUE_BYTES, "kv_cache.bits * 1 B / 8"},
    {Q_MEMORY_KV_VALUE_BYTES, "model.kv_cache.bits * 1 B / 8"},
    {Q_MEMORY_SEQUENCE_TOKENS, "ceil((prompt + output + speculation.tokens) / memory.page) * memory.page"},
    {Q_MEMORY_SEQUENCE_TOKENS, "ceil((context + speculation.tokens) / memory.page) * memory.page"},
    {Q_MEMORY_SEQUENCE_TOKENS, "ceil((prompt + output) / memory.page) * memory.page"},
    {Q_MEMORY_SEQUENCE_TOKENS, "ceil(context / memory.page) * memory.page"},
    {Q_MEMORY_SEQUENCE_TOKENS, "ceil((prompt + model.tower_tokens + output) / memory.page) * memory.page"},
    {Q_MEMORY_SEQUENCE_TOKENS,
     "ceil((prompt + model.tower_tokens + output + speculation.tokens) / memory.page) * memory.page"},
    {Q_MEMORY_SEQUENCE_TOKENS, "ceil(prompt / memory.page) * memory.page"},
    SHARDED(Q_MEMORY_WEIGHTS_EMBEDDING, "embedding"),
    SHARDED(Q_MEMORY_WEIGHTS_POSITIONS, "positions"),
    SHARDED(Q_MEMORY_WEIGHTS_ATTENTION, "attention"),
    SHARDED(Q_MEMORY_WEIGHTS_FFN, "ffn"),
    SHARDED(Q_MEMORY_WEIGHTS_EXPERTS, "experts"),
    SHARDED(Q_MEMORY_WEIGHTS_SHARED, "shared"),
    SHARDED(Q_MEMORY_WEIGHTS_ROUTER, "router"),
    SHARDED(Q_MEMORY_WEIGHTS_NORMS, "norms"),
    SHARDED(Q_MEMORY_WEIGHTS_HEAD, "head"),
    SHARDED(Q_MEMORY_WEIGHTS_OTHER, "other"),
    {Q_WEIGHT_VALUE_BYTES, "weights.bits * 1 B / 8"},
    {Q_WEIGHT_VALUE_BYTES, "model.weights.bits * 1 B / 8"},
    {Q_WEIGHT_VALUE_BYTES, "weight_bytes / model.params"},
    {Q_DECODE_CONTEXT, "context"},
    {Q_DECODE_CONTEXT, "prompt + output / 2"},
    {Q_DECODE_CONTEXT, "prompt + 1 token"},
    {Q_DECODE_CONTEXT, "prompt + model.tower_tokens + output / 2"},
    {Q_DECODE_TIME_WEIGHTS,
     "ceiling.decode.time * decode.weight_traffic / (decode.weight_traffic + decode.kv_traffic)"},
    {Q_DECODE_TIME_KV,
     "ceiling.decode.time * decode.kv_traffic / (decode.weight_traffic + decode.kv_traffic)"},
    {Q_DECODE_TIME_COMPUTE, "ceiling.decode.time"},
    {Q_DECODE_MATRIX_WORK,
     "2 FLOP * model.matmul_params_active * ceiling.running * (1 + speculation.tokens / 1 "
     "token) / gpus_per_replica"},
    {Q_DECODE_MATRIX_WORK, "2 FLOP * model.matmul_params_active * ceiling.running / (tp * dp * pp)"},
    {Q_DECODE_MATRIX_WORK,
     "2 FLOP * model.matmul_params_active * max(1, decoding / max(1, min(pp, decoding)) / dp) / tp"},
    {Q_DECODE_MATRIX_WORK,
     "2 FLOP * model.matmul_params_active * decoding / max(1, min(pp, decoding)) / (tp * dp)"},
    {Q_DECODE_MATRIX_WORK,
     "2 FLOP * model.matmul_params_active * max(1, decoding / max(1, min(pp, decoding)) / dp) * "
     "(1 + speculation.tokens / 1 token) / tp"},
    {Q_DECODE_WEIGHT_TRAFFIC, "weight_bytes / tp"},
    {Q_DECODE_KV_TRAFFIC, "(memory.kv_per_token * decode.context + memory.kv_fixed) * ceiling.running"},
    {Q_DECODE_KV_TRAFFIC, "memory.kv_per_token * decode.context * ceiling.running / dp"},
    {Q_DECODE_PEAK, "gpu.peak.bf16"},
    {Q_DECODE_PEAK, "gpu.peak.fp16"},
    {Q_DECODE_TIME_WEIGHTS, "decode.weight_traffic / gpu.bandwidth"},
    {Q_DECODE_TIME_KV, "decode.kv_traffic / gpu.bandwidth"},
    {Q_DECODE_ALLREDUCES, "2 * model.layers"},
    {Q_DECODE_DISTINCT_EXPERTS, "model.active_experts"},
    {Q_PREFILL_MATRIX_WORK,
     "2 FLOP * model.matmul_params_active * (prompt - cached_prefix) / gpus_per_replica / 1 token"},
    AT_PEAK(Q_PREFILL_BALANCE),
    {Q_PREFILL_TIME_COMPUTE, "prefill.work / (prefill.balance * gpu.bandwidth)"},
    {Q_PREFILL_EXTRA, "prefill.time - decode.time"},
    {Q_CEILING_RUNNING, "max_batch"},
    {Q_CEILING_RUNNING, "running"},
    {Q_CEILING_DECODE_STEP, "ceiling.decode.time"},
    {Q_CEILING_TTFT,
     "ceiling.prefill.time + (batch / ceiling.running - 1) * (ceiling.prefill.time + (output - 1 "
     "token) * ceiling.tpot / 1 token)"},
    {Q_CEILING_TTFT, "ceiling.prefill.time * batch / ceiling.running"},
    {Q_CEILING_LATENCY, "ceiling.ttft"},
    {Q_CEILING_LATENCY, "output * ceiling.tpot / 1 token * batch / ceiling.running"},
    {Q_PREFILL_STEP_SHARE,
     "(running - 1) / output * speculation.tokens_per_step / (dp * pp) * ceil((prompt - "
     "cached_prefix) / engine.chunk)"},
    {Q_PREFILL_STEP_SHARE, "(running - 1) / output * speculation.tokens_per_step / (dp * pp) * ceil(prompt / "
                           "engine.chunk)"},
    {Q_PREFILL_STEP_SHARE, "(running - 1) / output * speculation.tokens_per_step / (dp * pp) * ceil((prompt "
                           "- cached_prefix) / chunk)"},
    {Q_PREFILL_STEP_SHARE,
     "(running - 1) / output * speculation.tokens_per_step / (dp * pp) * ceil(prompt / chunk)"},
    {Q_PREFILL_STEP_SHARE, "(running - 1) / output * speculation.tokens_per_step / (dp * pp)"},
    {Q_RUNNING, "max_batch"},
    {Q_TOKENS_PER_STEP, "1 token + speculation.acceptance * 1 token"},
    {Q_HYPOTHETICAL, "max_batch < 1"},
    {Q_HYPOTHETICAL, "not fits"},
    {Q_CRITICAL_BATCH, "ceil(decode.weight_traffic / gpu.bandwidth * ceiling.running / "
                       "(ceiling.decode.compute_time - decode.kv_traffic / gpu.bandwidth))"},
    {Q_CRITICAL_BATCH, "ceil((decode.weight_traffic - gpu.cache) / gpu.bandwidth * ceiling.running / "
                       "(ceiling.decode.compute_time - decode.kv_traffic / gpu.bandwidth))"},
    {Q_CRITICAL_CONTEXT,
     "decode.context * ceiling.decode.compute_time * decode.matrix_work / decode.work / (decode.kv_traffic / "
     "gpu.bandwidth - ceiling.decode.compute_time * decode.attention_work / decode.work)"},
    {Q_SCALING_EFFICIENCY, "1 / gpus_per_replica"},
    {Q_GPU_PRICE, "price"},
    {Q_GPU_PRICE, "system.price"},
    {Q_GPU_PRICE, "gpu.price"},
    {Q_LAYERS, "layers"},
    {Q_PARAMS_POSITIONS, "positions * hidden"},
    {Q_PARAMS_HEAD, "vocab * hidden + vocab"},
    {Q_DECODING, "running / prefill.step_share"},
    {Q_DECODING, "running * engine.chunk / (prompt - cached_prefix) / prefill.step_share"},
    {Q_DECODING, "running * engine.chunk / prompt / prefill.step_share"},
    {Q_DECODING, "1"},
    {Q_KV_BYTES_PER_TOKEN, GROUPED_CACHE " / 1 token"},
    {Q_KV_BYTES_PER_TOKEN, LATENT_CACHE " / 1 token"},
    {Q_KV_BYTES_WINDOW, GROUPED_CACHE " * window / 1 token"},
    {Q_MODEL_WEIGHT_BYTES, "params * weights.bits * 1 B / 8"},
    {Q_PARAMS, "params"},
    {Q_ACTIVE_PARAMS, "params"},
    {Q_MATMUL_PARAMS, "params - params.embedding - params.norms"},
    {Q_MATMUL_PARAMS, "params"},
    {Q_PARAMS_OTHER, "params"},
    {Q_BALANCE, "peak.fp16 / bandwidth"},
    {Q_BALANCE_BF16, "peak.fp16 / bandwidth"},
    {Q_BALANCE_FP16, "peak.bf16 / bandwidth"},
};

/* All names of the formula are there, and none stands for the quantity itself. */
static bool is_known(struct evaluator *evaluator, struct decl *decl, enum quantity quantity,
                     const struct formula *formula)
{
    for (size_t i = 0; i < formula->pieces.count; i++) {
        struct formula_name *name = formula->pieces.items[i].name;
        struct derive_target target;
        struct report_quantity value;
        struct dim dim;
        if (!name)
            continue;
        if (!derive_resolve(evaluator, decl, name, &target) ||
            !derive_value(evaluator, &target, name->path, &value, &dim) ||
            (value.type != QUANTITY_NUMBER && value.type != QUANTITY_BOOL))
            return false;
        if (!target.setting && target.decl == decl && target.row->id == quantity)
            return false;
    }
    return true;
}

static bool holds(struct evaluator *evaluator, struct decl *decl, const char *text,
                  const struct report_quantity *value)
{
    struct plan *plan = evaluator_plan(evaluator);
    struct sources *sources = plan_sources(plan);
    size_t told = diags_count(plan_diags(plan)); /* what is zero may stand below a line here */
    uint32_t file = sources_add(sources, "formula", text, strlen(text), true);
    struct expr *expr =
        parse_expression(plan_arena(plan), plan_strings(plan), sources, file, plan_diags(plan));
    struct value made = plan_evaluate_in(plan, decl, expr);
    diags_forget_after(plan_diags(plan), told);
    if (value->type == QUANTITY_BOOL)
        return made.type == VALUE_BOOL && made.boolean == value->boolean;
    return made.type == VALUE_NUMBER && isfinite(made.number) &&
           fabs(made.number - value->value) <= 1e-12 * fabs(value->value);
}

const char *derive_candidate(struct evaluator *evaluator, struct decl *decl, enum quantity quantity,
                             const struct report_quantity *value)
{
    if (value->type != QUANTITY_NUMBER && value->type != QUANTITY_BOOL)
        return NULL;
    if (value->type == QUANTITY_NUMBER && value->value == 0) /* what it is made of says why */
        return NULL;
    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0]; i++)
        if (candidates[i].quantity == quantity &&
            is_known(evaluator, decl, quantity, derive_formula(evaluator, candidates[i].formula)) &&
            holds(evaluator, decl, candidates[i].formula, value))
            return candidates[i].formula;
    return NULL;
}
