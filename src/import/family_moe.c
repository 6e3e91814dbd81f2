/* family_moe.c: families with latent attention or experts of their own kind. */
#include <string.h>

#include "import/config.h"

/* Lays out `dense` and `moe` as the file says which layers have experts. */
static void lay_out(struct config *config, const struct layer *dense, const struct layer *moe)
{
    const bool *sparse = config_sparse_layers(config);
    architecture_layers(config->job->arena, &config->model, config->layers);
    for (size_t i = 0; i < config->layers; i++)
        config->model.layers[i] = sparse[i] ? *moe : *dense;
}

/* GLM-5.2: layers of type "shared" use the tokens an earlier layer's indexer chose and have none themselves.
 */
static void shared_indexers(struct config *config)
{
    json_t *types = config_list(config, "indexer_types"), *entry;
    size_t i;
    json_array_foreach(types, i, entry)
    {
        const char *word = json_string_value(entry);
        if (word && strcmp(word, "shared") == 0)
            config->model.layers[i].value[LAYER_INDEX_HEADS] =
                config->model.layers[i].value[LAYER_INDEX_DIM] = 0;
    }
}

/* DeepSeek-V2, V3, V3.2; Kimi-K2; GLM-5. */
void build_deepseek(struct config *config, unsigned traits)
{
    config_sizes(config, traits);
    struct layer attention = layer_usual();
    config_latent(config, &attention);
    if (config_flag_or(config, "attention_bias", false)) {
        attention.value[LAYER_OUTPUT_BIAS] = 1;
        attention.value[LAYER_EXTRA_PARAMS] =
            attention.value[LAYER_Q_RANK] + attention.value[LAYER_KV_RANK] + attention.value[LAYER_ROPE_DIM];
    }
    struct layer dense = attention, moe = attention;
    config_dense(config, traits, &dense);
    if (config_has_experts(config))
        config_experts(config, traits, &moe);
    lay_out(config, &dense, &moe);
    shared_indexers(config);
    double mtp = config_count_or(config, "num_nextn_predict_layers", 0);
    if (mtp > 0)
        config_mtp(config, config_has_experts(config) ? &moe : &dense, mtp);
}

/* Llama 4: expert and shared expert have intermediate_size, dense layers intermediate_size_mlp; three layers
 * in four attend within chunks, the others (without rotary positions) to everything. */
void build_llama4(struct config *config, unsigned traits)
{
    config_sizes(config, traits);
    struct layer attention = layer_usual();
    config_attention(config, traits, &attention);
    struct layer dense = attention, moe = attention;
    dense.value[LAYER_FFN] = config_needed(config, "intermediate_size_mlp");
    config_experts(config, traits | EXPERTS_OF_FFN_WIDTH, &moe);
    moe.value[LAYER_SHARED_EXPERTS] = 1;
    lay_out(config, &dense, &moe);
    double chunk = config_count_or(config, "attention_chunk_size", 0);
    json_t *rotary = config_list(config, "no_rope_layers");
    double every = config_count_or(config, "no_rope_layer_interval", 4);
    if (config_list(config, "layer_types")) {
        config_windows(config, traits);
        return;
    }
    for (size_t i = 0; i < config->layers; i++) {
        bool local = rotary ? json_integer_value(json_array_get(rotary, i)) != 0
                            : every < 1 || (i + 1) % (size_t)every != 0;
        config->model.layers[i].value[LAYER_ATTENTION_CHUNK] = local ? chunk : 0;
    }
}

void build_dbrx(struct config *config, unsigned traits)
{
    json_t *inner = json_object_get(config->text, "ffn_config");
    config_sizes(config, traits);
    struct layer layer = layer_usual();
    config_attention(config, traits, &layer);
    layer.value[LAYER_EXPERTS] = config_needed_in(config, inner, "ffn_config", "moe_num_experts");
    layer.value[LAYER_ACTIVE_EXPERTS] = config_needed_in(config, inner, "ffn_config", "moe_top_k");
    layer.value[LAYER_EXPERT_FFN] = config_needed_in(config, inner, "ffn_config", "ffn_hidden_size");
    architecture_layers(config->job->arena, &config->model, config->layers);
    for (size_t i = 0; i < config->layers; i++)
        config->model.layers[i] = layer;
}

/* Biases everywhere, one learned sink per head. */
void build_gpt_oss(struct config *config, unsigned traits)
{
    build_decoder(config, traits);
    for (size_t i = 0; i < config->model.layer_count; i++) {
        double *v = config->model.layers[i].value;
        v[LAYER_QKV_BIAS] = v[LAYER_OUTPUT_BIAS] = config_flag_or(config, "attention_bias", true);
        v[LAYER_SINKS] = v[LAYER_EXPERT_BIAS] = v[LAYER_ROUTER_BIAS] = 1;
    }
}

/* MiMo-V2-Flash: windowed layers have head counts and sizes of their own (swa_ keys) and sinks. */
void build_mimo_flash(struct config *config, unsigned traits)
{
    config_sizes(config, traits);
    json_t *pattern = config_list(config, "hybrid_layer_pattern");
    if (!pattern)
        config_missing(config, "hybrid_layer_pattern");
    struct layer global = layer_usual(), local;
    config_attention(config, traits, &global);
    global.value[LAYER_V_DIM] = config_count_or(config, "v_head_dim", global.value[LAYER_HEAD_DIM]);
    local = global;
    double *v = local.value;
    v[LAYER_HEADS] = config_count_or(config, "swa_num_attention_heads", v[LAYER_HEADS]);
    v[LAYER_KV_HEADS] = config_count_or(config, "swa_num_key_value_heads", v[LAYER_KV_HEADS]);
    v[LAYER_HEAD_DIM] = config_count_or(config, "swa_head_dim", v[LAYER_HEAD_DIM]);
    v[LAYER_V_DIM] = config_count_or(config, "swa_v_head_dim", v[LAYER_V_DIM]);
    v[LAYER_WINDOW] = config_needed(config, "sliding_window|sliding_window_size");
    v[LAYER_SINKS] = config_flag_or(config, "add_swa_attention_sink_bias", false);
    global.value[LAYER_SINKS] = config_flag_or(config, "add_full_attention_sink_bias", false);
    const bool *sparse = config_sparse_layers(config);
    architecture_layers(config->job->arena, &config->model, config->layers);
    for (size_t i = 0; i < config->layers; i++) {
        struct layer *layer = &config->model.layers[i];
        *layer = json_integer_value(json_array_get(pattern, i)) ? local : global;
        if (sparse[i])
            config_experts(config, traits, layer);
        else
            config_dense(config, traits, layer);
    }
}

/* Gemma 4, as in transformers' modeling_gemma4.py: full layers have heads of their own size and number, whose
 * values may be their keys; a dense feed-forward stands beside the experts. */
void build_gemma4(struct config *config, unsigned traits)
{
    static const char *const unsure[] = {"num_kv_shared_layers", "hidden_size_per_layer_input"};
    for (size_t i = 0; i < sizeof unsure / sizeof unsure[0]; i++)
        if (config_count_or(config, unsure[i], 0) > 0)
            config_error(config, NULL, unsure[i],
                         "`%s` is not 0: how such layers are stored is not known well enough to count them",
                         unsure[i]);
    build_decoder(config, traits & ~0u);
    bool experts = config_flag_or(config, "enable_moe_block", false);
    json_t *types = config_list(config, "layer_types");
    if (!types)
        config_missing(config, "layer_types");
    for (size_t i = 0; i < config->model.layer_count; i++) {
        double *v = config->model.layers[i].value;
        v[LAYER_EXTRA_PARAMS] = 1; /* the scale of the layer's output */
        if (experts) {
            v[LAYER_PARALLEL_FFN] = config->ffn;
            v[LAYER_NORMS] = 7;
            v[LAYER_EXTRA_PARAMS] += config->model.hidden + v[LAYER_EXPERTS]; /* scales of the router */
        }
        if (v[LAYER_WINDOW] > 0)
            continue;
        v[LAYER_HEAD_DIM] = config_count_or(config, "global_head_dim", v[LAYER_HEAD_DIM]);
        v[LAYER_KV_HEADS] = config_count_or(config, "num_global_key_value_heads", v[LAYER_KV_HEADS]);
        v[LAYER_SHARED_KV] = config_flag_or(config, "attention_k_eq_v", false);
    }
}

/* MiniMax-M1 and Text-01: lightning attention (queries, keys, values, output gate, output, one norm) with a
 * state of head_dim x head_dim per head in fp32; some layers of ordinary attention. */
void build_minimax_lightning(struct config *config, unsigned traits)
{
    config_sizes(config, traits);
    json_t *types = config_list(config, "attn_type_list");
    if (!types)
        config_missing(config, "attn_type_list");
    struct layer softmax = layer_usual(), lightning = layer_usual();
    config_attention(config, traits, &softmax);
    config_experts(config, traits, &softmax);
    lightning = softmax;
    double *v = lightning.value, width = v[LAYER_HEADS] * v[LAYER_HEAD_DIM];
    v[LAYER_ATTENTION] = ATTENTION_LINEAR;
    v[LAYER_LINEAR_KEY_HEADS] = v[LAYER_LINEAR_VALUE_HEADS] = v[LAYER_HEADS];
    v[LAYER_LINEAR_KEY_DIM] = v[LAYER_LINEAR_VALUE_DIM] = v[LAYER_HEAD_DIM];
    v[LAYER_ATTENTION_PARAMS] = 5 * config->model.hidden * width + width;
    v[LAYER_STATE] = v[LAYER_HEADS] * v[LAYER_HEAD_DIM] * v[LAYER_HEAD_DIM] * 4;
    v[LAYER_HEADS] = v[LAYER_KV_HEADS] = v[LAYER_HEAD_DIM] = 0;
    architecture_layers(config->job->arena, &config->model, config->layers);
    for (size_t i = 0; i < config->layers; i++)
        config->model.layers[i] = json_integer_value(json_array_get(types, i)) ? softmax : lightning;
}
