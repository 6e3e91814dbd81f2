/* config_parts.c: the parts that families are composed of: sizes, attention, feed-forwards, experts, windows.
 * Which keys mean what was found in the configurations of some ninety published models. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "import/config.h"

#define KEYS_HIDDEN "hidden_size|d_model|n_embd|n_embed|model_dim"
#define KEYS_LAYERS "num_hidden_layers|n_layer|n_layers|num_layers|num_transformer_layers"
#define KEYS_HEADS  "num_attention_heads|n_head|n_heads|num_heads|attention_heads"
#define KEYS_VOCAB  "vocab_size|padded_vocab_size"
#define KEYS_FFN    "intermediate_size|ffn_hidden_size|n_inner|ffn_dim|ff_intermediate_size|dff"
#define KEYS_CONTEXT                                                                                         \
    "max_position_embeddings|seq_length|n_positions|max_seq_len|max_sequence_length|model_max_length|max_"   \
    "context_length|context_length"
#define KEYS_EXPERTS "n_routed_experts|num_local_experts|num_experts|moe_num_experts"
#define KEYS_ACTIVE                                                                                          \
    "num_experts_per_tok|num_experts_per_token|experts_per_token|top_k_experts|moe_top_k|moe_topk|moe_k"

/* ---- sizes --------------------------------------------------------------------------------- */

static void read_tied(struct config *config, unsigned traits)
{
    static const char *const keys[] = {"share_input_output_layers" /* OpenELM */, "tie_embedding" /* LFM2 */,
                                       "tie_word_embeddings"};
    config->model.tied = (traits & TIED_WHEN_ABSENT) != 0;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        config->model.tied = config_flag_either(config, keys[i], config->model.tied);
}

/* The longest context: YaRN stretches the length that a model was first trained for, and files that were
 * edited by hand to use it (Qwen's) keep that in max_position_embeddings, as engines know. */
static double longest_context(struct config *config)
{
    double stated = config_count_or(config, KEYS_CONTEXT, 0);
    const char *key = NULL;
    json_t *rope = config_object(config, "rope_scaling|rope_parameters", &key);
    const char *type = config_word_in(config, rope, key, "rope_type|type");
    double stretched = config_real_in(config, rope, key, "original_max_position_embeddings", 0, 1e9) *
                       config_real_in(config, rope, key, "factor", 0, 1e9);
    bool longer = type && strcmp(type, "yarn") == 0 && stretched > stated && stretched <= 1e9;
    return longer && stated > 0 ? (double)(size_t)stretched : stated;
}

void config_sizes(struct config *config, unsigned traits)
{
    struct architecture *model = &config->model;
    model->hidden = config_needed(config, KEYS_HIDDEN);
    model->vocab = config_needed(config, KEYS_VOCAB);
    double layers = config->layers > 0 ? (double)config->layers : config_needed(config, KEYS_LAYERS);
    if (layers > LAYERS_MAX) {
        config_error(config, NULL, config->text_key ? NULL : "num_hidden_layers",
                     "%.0f layers; at most %d can be imported", layers, LAYERS_MAX);
        layers = 1;
    }
    config->layers = (size_t)layers;
    model->max_context = longest_context(config);
    model->positions = traits & LEARNED_POSITIONS ? model->max_context : 0;
    model->embedding_norm = (traits & EMBEDDING_NORM) != 0;
    model->no_final_norm = (traits & NORMS_WITHOUT_WEIGHTS) != 0;
    model->head_bias = (traits & HEAD_BIAS) != 0 || config_flag_or(config, "lm_head_bias", false);
    read_tied(config, traits);
    double ffn;
    if (config_count(config, KEYS_FFN, &ffn) && ffn > 0)
        config->ffn = ffn;
    else if (traits & WIDE_WHEN_ABSENT)
        config->ffn = 4 * model->hidden;
}

/* ---- attention ----------------------------------------------------------------------------- */

/* Every spelling of the number of key/value heads; absent or null, as many as query heads. */
static double kv_heads(struct config *config, unsigned traits, double heads)
{
    double value;
    if (config_count(config, "num_key_value_heads|num_kv_heads|n_head_kv|num_attention_groups", &value) &&
        value > 0)
        return value;
    if (config_flag_or(config, "multi_query_attention", false))
        return config_needed(config, "multi_query_group_num");
    json_t *nested = json_object_get(config->text, "attn_config");
    if (config_count_in(config, nested, "attn_config", "kv_n_heads", &value) && value > 0)
        return value;
    return config_flag_or(config, "multi_query", (traits & ONE_KV_HEAD_WHEN_ABSENT) != 0) ? 1 : heads;
}

static double head_dim(struct config *config, double heads)
{
    double value;
    if (config_count(config, "head_dim|kv_channels|attention_head_dim|hidden_size_per_head", &value) &&
        value > 0)
        return value;
    value = config->model.hidden / heads;
    if (value != (double)(size_t)value) {
        config_missing(config, "head_dim");
        return 1;
    }
    return value;
}

/* Families that turn a part of each head when no key says how much of it; 0: none has rotary positions. */
static const struct {
    const char *family;
    double part;
} rotary_parts[] = {
    {"phi", 0.5},
    {"glm", 0.5},
    {"glm4", 0.5},
    {"glm4v_text", 0.5},
    {"glm4_moe", 0.5},
    {"glm4v_moe_text", 0.5},
    {"chatglm", 0.5},
    {"nemotron", 0.5},
    {"stablelm", 0.25},
    {"gpt_neox", 0.25},
    {"qwen3_next", 0.25},
    {"qwen3_5_text", 0.25},
    {"qwen3_5_moe_text", 0.25},
    {"recurrent_gemma", 0.5},
    {"persimmon", 0.5},
    {"xglm", 0},
    {"ctrl", 0},
    {"openai-gpt", 0},
    {"biogpt", 0},
    {"gpt-sw3", 0},
    {"jais", 0},
    {"bloom", 0},
    {"mpt", 0},
    {"jamba", 0},
    {"nemotron_h", 0},
};

/* Models whose file says, in the family's own way, that positions are not rotary. */
static bool not_rotary(struct config *config)
{
    const char *family = config->family->name, *kind = config_word(config, "position_embedding_type");
    if (strcmp(family, "granitemoehybrid") == 0)
        return !kind || strcmp(kind, "rope") != 0;
    if (strcmp(family, "baichuan") == 0)
        return config->model.hidden != 4096; /* the 13B has ALiBi */
    return config_flag_or(config, "alibi", false);
}

/* How much of a head turns with the position. */
static double rotary_dim(struct config *config, double size)
{
    static const char keys[] = "partial_rotary_factor|rotary_pct|rope_pct";
    double dim, part = 1;
    if (not_rotary(config))
        return 0;
    if (config_count(config, "rotary_dim", &dim) && dim > 0)
        return dim;
    for (size_t i = 0; i < sizeof rotary_parts / sizeof rotary_parts[0]; i++)
        part = strcmp(rotary_parts[i].family, config->family->name) == 0 ? rotary_parts[i].part : part;
    const char *key = NULL;
    json_t *rope = config_object(config, "rope_parameters|rope_scaling", &key);
    double said = config_real_in(config, rope, key, keys, part, 1);
    said = config_real_in(config, config->text, NULL, keys, said, 1);
    return part > 0 ? floor(size * said) : 0; /* Nemotron-H has the key, and no rotary positions */
}

static void read_biases(struct config *config, unsigned traits, struct layer *layer)
{
    bool bias = config_flag_or(config, "attention_bias|bias|use_bias|add_bias_linear",
                               (traits & (BIAS_ALWAYS | BIAS_WHEN_ABSENT)) != 0);
    layer->value[LAYER_QKV_BIAS] = bias || (traits & (QKV_BIAS_ALWAYS | BIAS_ALWAYS)) != 0 ||
                                   config_flag_or(config, "add_qkv_bias|use_qkv_bias|qkv_bias", false);
    layer->value[LAYER_OUTPUT_BIAS] = (bias || (traits & BIAS_ALWAYS)) && !(traits & NO_OUTPUT_BIAS);
}

static enum qk_norm_kind qk_norm(struct config *config, unsigned traits)
{
    if ((traits & QK_NORM_BY_KEY) &&
        !config_flag_or(config, "use_qk_norm|qk_layernorm|normalize_qk_projections", false))
        return QK_NORM_NONE;
    return traits & HEAD_QK_NORM ? QK_NORM_HEAD : traits & FULL_QK_NORM ? QK_NORM_FULL : QK_NORM_NONE;
}

static void read_norms(unsigned traits, struct layer *layer)
{
    layer->value[LAYER_NORMS] = traits & NORMS_WITHOUT_WEIGHTS ? 0
                                : traits & FOUR_NORMS          ? 4
                                : traits & ONE_NORM            ? 1
                                                               : 2;
    layer->value[LAYER_NORM] = traits & BIASED_NORMS ? NORM_LAYER : NORM_RMS;
}

void config_attention(struct config *config, unsigned traits, struct layer *layer)
{
    double *v = layer->value;
    v[LAYER_HEADS] = config_needed(config, KEYS_HEADS);
    v[LAYER_KV_HEADS] = kv_heads(config, traits, v[LAYER_HEADS]);
    v[LAYER_HEAD_DIM] = head_dim(config, v[LAYER_HEADS]);
    double turning = rotary_dim(config, v[LAYER_HEAD_DIM]);
    v[LAYER_ROTARY_DIM] = turning < v[LAYER_HEAD_DIM] ? turning : -1; /* all of it need not be said */
    v[LAYER_QK_NORM] = qk_norm(config, traits);
    v[LAYER_OUTPUT_GATE] = (traits & OUTPUT_GATE) != 0;
    if (v[LAYER_KV_HEADS] > v[LAYER_HEADS])
        config_error(config, NULL, "num_key_value_heads", "%.0f key/value heads for %.0f query heads",
                     v[LAYER_KV_HEADS], v[LAYER_HEADS]);
    read_biases(config, traits, layer);
    read_norms(traits, layer);
}

/* Latent attention (DeepSeek-V2 and on). num_key_value_heads says nothing about its cache, and head_dim has
 * several meanings: neither is read. */
void config_latent(struct config *config, struct layer *layer)
{
    double *v = layer->value;
    v[LAYER_ATTENTION] = ATTENTION_LATENT;
    v[LAYER_HEADS] = config_needed(config, KEYS_HEADS);
    v[LAYER_Q_RANK] = config_count_or(config, "q_lora_rank", 0);
    v[LAYER_KV_RANK] = config_needed(config, "kv_lora_rank");
    v[LAYER_NOPE_DIM] = config_needed(config, "qk_nope_head_dim");
    v[LAYER_ROPE_DIM] = config_needed(config, "qk_rope_head_dim");
    if (config_flag_or(config, "mla_use_nope", false))
        v[LAYER_ROTARY_DIM] = 0;
    /* MiniCPM3's class makes it of the width and the heads. */
    double derived = config->model.hidden / v[LAYER_HEADS];
    bool untold = strcmp(config->family->name, "minicpm3") == 0 && derived == floor(derived) &&
                  !json_object_get(config->text, "v_head_dim");
    v[LAYER_V_DIM] = untold ? derived : config_needed(config, "v_head_dim");
    if (config_count_or(config, "index_topk", 0) > 0) {
        v[LAYER_INDEX_HEADS] = config_needed(config, "index_n_heads");
        v[LAYER_INDEX_DIM] = config_needed(config, "index_head_dim");
        v[LAYER_INDEX_TOP] = config_needed(config, "index_topk");
    }
}

/* Gated delta nets (Qwen3-Next). */
void config_linear(struct config *config, struct layer *layer)
{
    double *v = layer->value;
    v[LAYER_ATTENTION] = ATTENTION_LINEAR;
    v[LAYER_LINEAR_KEY_HEADS] = config_needed(config, "linear_num_key_heads");
    v[LAYER_LINEAR_VALUE_HEADS] = config_needed(config, "linear_num_value_heads");
    v[LAYER_LINEAR_KEY_DIM] = config_needed(config, "linear_key_head_dim");
    v[LAYER_LINEAR_VALUE_DIM] = config_needed(config, "linear_value_head_dim");
    v[LAYER_CONV_KERNEL] = config_needed(config, "linear_conv_kernel_dim");
}

/* ---- feed-forwards ------------------------------------------------------------------------- */

void config_dense(struct config *config, unsigned traits, struct layer *layer)
{
    layer->value[LAYER_FFN] = config->ffn > 0 ? config->ffn : config_needed(config, KEYS_FFN);
    layer->value[LAYER_FFN_GATED] = !(traits & UNGATED);
    layer->value[LAYER_FFN_BIAS] = (traits & (BIAS_ALWAYS | FFN_BIAS_ALWAYS)) != 0 ||
                                   config_flag_or(config, "mlp_bias|use_bias|add_bias_linear",
                                                  (traits & BIAS_WHEN_ABSENT) && (traits & UNGATED));
}

bool config_has_experts(struct config *config)
{
    double single = config->family->traits & ONE_EXPERT_IS_DENSE ? 1 : 0;
    return config_count_or(config, KEYS_EXPERTS, 0) > single;
}

/* Shared experts, under each of their names. */
static void read_shared(struct config *config, struct layer *layer)
{
    double *v = layer->value, width;
    v[LAYER_SHARED_EXPERTS] = config_count_or(
        config, "n_shared_experts|num_shared_experts|moe_num_shared_experts|num_shared_expert", 0);
    if (config_count(config, "moe_shared_expert_intermediate_size", &width) && v[LAYER_SHARED_EXPERTS] > 0)
        v[LAYER_SHARED_FFN] = width;
    else if (config_count(config, "shared_expert_intermediate_size|shared_intermediate_size|share_expert_dim",
                          &width))
        v[LAYER_SHARED_FFN] = width;
}

void config_check_experts(struct config *config, const struct layer *layer)
{
    const double *v = layer->value;
    if (v[LAYER_ACTIVE_EXPERTS] > v[LAYER_EXPERTS])
        config_error(config, NULL, "num_experts_per_tok", "%.0f of %.0f experts per token",
                     v[LAYER_ACTIVE_EXPERTS], v[LAYER_EXPERTS]);
}

void config_experts(struct config *config, unsigned traits, struct layer *layer)
{
    double *v = layer->value;
    v[LAYER_EXPERTS] = config_needed(config, KEYS_EXPERTS);
    v[LAYER_ACTIVE_EXPERTS] = config_needed(config, KEYS_ACTIVE);
    v[LAYER_EXPERT_FFN] = traits & EXPERTS_OF_FFN_WIDTH
                              ? config_needed(config, KEYS_FFN)
                              : config_needed(config, "moe_intermediate_size|expert_hidden_dim");
    v[LAYER_FFN_GATED] = !(traits & UNGATED);
    const char *method = config_word(config, "topk_method");
    v[LAYER_ROUTER_BIAS] =
        (method ? strcmp(method, "noaux_tc") == 0 : (traits & ROUTER_BIAS) != 0) ||
        config_flag_or(config, "use_routing_bias|moe_router_enable_expert_bias|use_expert_bias", false);
    read_shared(config, layer);
    v[LAYER_SHARED_GATE] = (traits & SHARED_GATE) != 0 && v[LAYER_SHARED_FFN] > 0;
    config_check_experts(config, layer);
}

static void sparse_by_lists(struct config *config, bool *sparse)
{
    static const char *const words[] = {"dense", "sparse", NULL};
    const size_t *types = config_list_of_words(config, "mlp_layer_types", words);
    bool listed = json_is_array(json_object_get(config->text, "moe_layer_freq"));
    const bool *flags = listed ? config_list_of_flags(config, "moe_layer_freq") : NULL;
    for (size_t i = 0; i < config->layers; i++) {
        sparse[i] = types ? types[i] == 1 : sparse[i];
        sparse[i] = sparse[i] && (!flags || flags[i]);
    }
    config_list_of_layers(config, config->text, NULL, "mlp_only_layers", 0, sparse, false);
}

const bool *config_sparse_layers(struct config *config)
{
    bool *sparse = ARENA_ARRAY(config->job->arena, bool, config->layers);
    if (!config_has_experts(config))
        return sparse;
    double dense_first = config_count_or(
        config, "first_k_dense_replace|num_dense_layers|moe_layer_start_index|moe_layer_num_skipped", 0);
    double every = 1, last = (double)config->layers;
    json_t *end = json_object_get(config->text, "moe_layer_end_index");
    if (!(json_is_integer(end) && json_integer_value(end) == -1)) /* the last */
        last = config_count_or(config, "moe_layer_end_index", last);
    if (!json_is_array(json_object_get(config->text, "moe_layer_freq")))
        every = config_count_or(config, "moe_layer_freq", 1);
    double step = config_count_or(
        config, "decoder_sparse_step|interleave_moe_layer_step|moe_layer_interval|moe_layer_frequency", 1);
    every = every > 1 ? every : 1;
    step = step > 1 ? step : 1;
    /* Layer i of a frequency counts from 0 (DeepSeek), of a step from 1 (Qwen, Llama 4). */
    for (size_t i = 0; i < config->layers; i++)
        sparse[i] = (double)i >= dense_first && (double)i <= last && i % (size_t)every == 0 &&
                    (i + 1) % (size_t)step == 0;
    sparse_by_lists(config, sparse);
    return sparse;
}

void config_feed_forward(struct config *config, unsigned traits, bool sparse, struct layer *layer)
{
    if (sparse)
        config_experts(config, traits, layer);
    else
        config_dense(config, traits, layer);
}

void config_lay_out(struct config *config, const struct layer *dense, const struct layer *moe)
{
    const bool *sparse = config_sparse_layers(config);
    architecture_layers(config->job->arena, &config->model, config->layers);
    for (size_t i = 0; i < config->layers; i++)
        config->model.layers[i] = sparse[i] ? *moe : *dense;
}

/* ---- windows ------------------------------------------------------------------------------- */

enum reach { REACH_ALL, REACH_WINDOW, REACH_CHUNK };

/* `layer_types`: one word a layer. False when there are none. */
static bool reach_by_types(struct config *config, enum reach *reach)
{
    static const char *const words[] = {"full_attention", "linear_attention", "sliding_attention",
                                        "chunked_attention", NULL};
    static const enum reach reaches[] = {REACH_ALL, REACH_ALL, REACH_WINDOW, REACH_CHUNK};
    const size_t *types = config_list_of_words(config, "layer_types", words);
    for (size_t i = 0; types && i < config->layers; i++)
        reach[i] = reaches[types[i]];
    return types != NULL;
}

/* `sliding_window_pattern`: every n-th layer is global, or a string of L (local) and G. */
static bool reach_by_pattern(struct config *config, unsigned traits, enum reach *reach)
{
    const char *word = config_word_if(config, "sliding_window_pattern");
    double every = 0;
    if (word && *word && word[strspn(word, "LG")] == '\0') {
        for (size_t i = 0; i < config->layers; i++)
            reach[i] = word[i % strlen(word)] == 'L' ? REACH_WINDOW : REACH_ALL;
        reach[config->layers - 1] = REACH_ALL; /* so in EXAONE 4 whatever its pattern */
        return true;
    }
    if (traits & ALTERNATE_WINDOWS) {
        for (size_t i = 0; i < config->layers; i++)
            reach[i] = i % 2 == 0 ? REACH_WINDOW : REACH_ALL;
        return true;
    }
    config_count(config, "sliding_window_pattern|_sliding_window_pattern|global_attn_every_n_layers", &every);
    for (size_t i = 0; every > 0 && i < config->layers; i++)
        reach[i] = (i + 1) % (size_t)every == 0 ? REACH_ALL : REACH_WINDOW;
    return every > 0;
}

/* Without a pattern, a window holds for every layer; Qwen2 begins with full layers. */
static void reach_of_all(struct config *config, enum reach *reach)
{
    double first = 0;
    if (config_flag_or(config, "use_sliding_window", false))
        first = config_count_or(config, "max_window_layers", 0);
    for (size_t i = 0; i < config->layers; i++)
        reach[i] = (double)i >= first ? REACH_WINDOW : REACH_ALL;
}

void config_windows(struct config *config, unsigned traits)
{
    double window = config_count_or(config, "sliding_window|sliding_window_size", 0);
    double chunk = config_count_or(config, "attention_chunk_size", 0);
    enum reach *reach = ARENA_ARRAY(config->job->arena, enum reach, config->layers);
    if (!config_flag_or(config, "use_sliding_window", !(traits & WINDOWS_OFF_WHEN_ABSENT)))
        window = 0;
    if (config->model.max_context > 0 && window >= config->model.max_context)
        window = 0; /* reaches everything (Phi-4-mini) */
    bool typed = reach_by_types(config, reach);
    if (!typed && window > 0 && !reach_by_pattern(config, traits, reach))
        reach_of_all(config, reach);
    for (size_t i = 0; i < config->layers && i < config->model.layer_count; i++) {
        config->model.layers[i].value[LAYER_WINDOW] = reach[i] == REACH_WINDOW ? window : 0;
        config->model.layers[i].value[LAYER_ATTENTION_CHUNK] = reach[i] == REACH_CHUNK ? chunk : 0;
    }
}

/* ---- multi-token prediction ---------------------------------------------------------------- */

void config_mtp(struct config *config, const struct layer *layer, double count)
{
    double hidden = config->model.hidden;
    config->model.mtp_params += count * (layer_params(layer, hidden) + 2 * hidden * hidden + 3 * hidden);
}
