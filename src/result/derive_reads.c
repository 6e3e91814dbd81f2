/* derive_reads.c: what a quantity that is zero was computed from: its inputs say why. */
#include "result/derive_internal.h"

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
    {Q_DECODE_TIME_FIXED,
     "decode.launches engine.operation_time decoding engine.sequence_time speculation.tokens"},
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
    {Q_INTERFERENCE, "prefill.time decode.time running output engine.chunk chunk engine.request_time "
                     "engine.first_wave engine.stream_interval " SHARDS},
    {Q_FIRST_TOKEN_HOST, "engine.request_time"},
    {Q_FIRST_TOKEN_STREAM, "engine.stream_interval engine.stream_share output"},
    {Q_FIRST_TOKEN_WAVE, "prefill.time running output engine.chunk chunk " SHARDS},
    {Q_RUNNING, "batch max_batch"},
    {Q_DECODING, "running prefill.step_share engine.chunk chunk"},
    {Q_TOKENS_PER_STEP, "speculation.tokens speculation.acceptance"},
    {Q_DRAFT_TIME, "speculation.tokens speculation.draft model.mtp_params decoding decode.context "
                   "gpu.bandwidth"},
    {Q_DRAFT_PREFILL,
     "speculation.draft model.mtp_params prompt cached_prefix engine.chunk chunk gpu.bandwidth"},
    {Q_PLAIN_STEP, "decoding decode.context weight_bytes gpu.bandwidth"},
    {Q_BREAK_EVEN_ACCEPTANCE, "decode.step speculation.plain_step speculation.tokens"},
    {Q_BREAK_EVEN_BATCH, "speculation.tokens_per_step speculation.plain_step decode.step decode.context"},
    {Q_HYPOTHETICAL, "fits max_batch"},
    {Q_VERIFIED, "gpu.measured engine model.experts pp speculation.tokens"},
    {Q_CRITICAL_BATCH, "decode.weight_traffic memory.kv_per_token decode.context decode.peak gpu.bandwidth"},
    {Q_CRITICAL_CONTEXT, "memory.kv_per_token model.matmul_params_active decode.peak gpu.bandwidth"},
    {Q_KV_EQUALS_WEIGHTS, "decode.weight_traffic memory.kv_per_token batch"},
    {Q_DECODE_MOVED, "decode.moved.weights decode.moved.kv"},
    {Q_DECODE_MOVED_WEIGHTS, "decode.weight_traffic decode.distinct_experts"},
    {Q_DECODE_MOVED_KV, "decode.kv_traffic decoding decode.context"},
    {Q_MBU, "decode.time decode.moved gpu.bandwidth"},
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
    {Q_PARAMS_POSITIONS, "positions hidden lookup_params"},
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
