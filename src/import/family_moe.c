/* family_moe.c: families with experts of their own kind. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "import/config.h"

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
    config_lay_out(config, &dense, &moe);
    double chunk = config_count_or(config, "attention_chunk_size", 0);
    const bool *rotary = config_list_of_flags(config, "no_rope_layers");
    double every = config_count_or(config, "no_rope_layer_interval", 4);
    if (config_list(config, "layer_types")) {
        config_windows(config, traits);
        return;
    }
    for (size_t i = 0; i < config->layers; i++) {
        bool local = rotary ? rotary[i] : every < 1 || (i + 1) % (size_t)every != 0;
        config->model.layers[i].value[LAYER_ATTENTION_CHUNK] = local ? chunk : 0;
    }
}

void build_dbrx(struct config *config, unsigned traits)
{
    const char *key;
    json_t *inner = config_object(config, "ffn_config", &key);
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
        v[LAYER_EXPERT_SPREAD] = GPT_OSS_EXPERT_SPREAD;
    }
}

/* MiMo-V2-Flash: windowed layers have head counts and sizes of their own (swa_ keys) and sinks. */
void build_mimo_flash(struct config *config, unsigned traits)
{
    config_sizes(config, traits);
    const bool *pattern = config_list_of_flags(config, "hybrid_layer_pattern");
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
        *layer = pattern && pattern[i] ? local : global;
        config_feed_forward(config, traits, sparse[i], layer);
    }
}

/* MiniMax-M1 and Text-01: lightning attention (queries, keys, values, output gate, output, one norm) with a
 * state of head_dim x head_dim per head in fp32; some layers of ordinary attention. */
void build_minimax_lightning(struct config *config, unsigned traits)
{
    config_sizes(config, traits);
    /* Files of transformers have words in place of numbers. */
    static const char *const words[] = {"linear_attention", "full_attention", NULL};
    const bool *flags = config_list_of_flags(config, "attn_type_list");
    const size_t *types = flags ? NULL : config_list_of_words(config, "layer_types", words);
    if (!types && !flags)
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
    v[LAYER_ROTARY_DIM] = -1;
    architecture_layers(config->job->arena, &config->model, config->layers);
    for (size_t i = 0; i < config->layers; i++) {
        bool full = (flags && flags[i]) || (types && types[i] == 1);
        config->model.layers[i] = full ? softmax : lightning;
    }
}

/* Apertus: an activation with two learned scalars. */
void build_apertus(struct config *config, unsigned traits)
{
    build_decoder(config, traits);
    for (size_t i = 0; i < config->model.layer_count; i++)
        config->model.layers[i].value[LAYER_EXTRA_PARAMS] = 2;
}

/* Hunyuan: in each group of cla_share_factor layers the others read what the first one caches; a dense
 * feed-forward of intermediate_size beside the experts is its shared one. */
void build_hunyuan(struct config *config, unsigned traits)
{
    double width, sharing = 1;
    if (config_flag_or(config, "use_cla", false))
        sharing = config_needed(config, "cla_share_factor");
    bool own_width = config_count(config, "moe_intermediate_size", &width);
    build_decoder(config, own_width ? traits : traits | EXPERTS_OF_FFN_WIDTH);
    for (size_t i = 0; i < config->model.layer_count; i++) {
        double *v = config->model.layers[i].value;
        if (v[LAYER_EXPERTS] > 0 && !config_flag_or(config, "use_mixed_mlp_moe", false))
            v[LAYER_SHARED_EXPERTS] = 0;
        if (v[LAYER_SHARED_EXPERTS] > 0)
            v[LAYER_SHARED_FFN] = config->ffn;
        v[LAYER_REUSES_KV] = i % (size_t)sharing != 0;
    }
}

/* Grok: four norms; Grok-2 has a dense feed-forward beside the experts (residual_moe). Its model_type, `git`,
 * is also that of a model of images, which has no experts. */
void build_grok(struct config *config, unsigned traits)
{
    double width;
    if (!config_has_experts(config)) {
        config_missing(config, "num_local_experts");
        return;
    }
    bool own_width = config_count(config, "moe_intermediate_size", &width);
    build_decoder(config, own_width ? traits : traits | EXPERTS_OF_FFN_WIDTH);
    bool beside = config_flag_or(config, "residual_moe", false);
    for (size_t i = 0; i < config->model.layer_count; i++)
        config->model.layers[i].value[LAYER_PARALLEL_FFN] = beside ? config->ffn : 0;
}

/* Arctic: a dense feed-forward of the model's own width, with a norm of its own, beside the experts. */
void build_arctic(struct config *config, unsigned traits)
{
    build_decoder(config, traits);
    for (size_t i = 0; i < config->model.layer_count; i++) {
        double *v = config->model.layers[i].value;
        if (v[LAYER_EXPERTS] > 0 && config_flag_or(config, "use_residual", false)) {
            v[LAYER_PARALLEL_FFN] = config->model.hidden;
            v[LAYER_NORMS] += 1;
        }
    }
}

/* Layers with experts, from a list of numbers or a string of them. */
static const bool *enumerated_layers(struct config *config)
{
    bool *sparse = ARENA_ARRAY(config->job->arena, bool, config->layers);
    const char *at = config_word_if(config, "moe_layers_enum");
    if (at && at[strspn(at, "0123456789, ")] != '\0')
        config_error(config, NULL, "moe_layers_enum", "`moe_layers_enum` holds more than numbers");
    else if (!at && !config_list_of_layers(config, config->text, NULL, "moe_layers_enum", 0, sparse, true))
        config_missing(config, "moe_layers_enum");
    for (; at && *at; at += strcspn(at, ","), at += *at == ',') {
        size_t layer = (size_t)strtoul(at, NULL, 10);
        if (layer < config->layers)
            sparse[layer] = true;
    }
    return sparse;
}

/* Step-3: queries by way of share_q_dim and a norm, one key and value head, experts in the layers that
 * moe_layers_enum lists. */
void build_step3(struct config *config, unsigned traits)
{
    config_sizes(config, traits);
    struct layer attention = layer_usual();
    config_attention(config, traits, &attention);
    double *v = attention.value, hidden = config->model.hidden;
    double queries = v[LAYER_HEADS] * v[LAYER_HEAD_DIM], rank = config_needed(config, "share_q_dim");
    v[LAYER_ATTENTION_PARAMS] = hidden * rank + rank + rank * queries +
                                2 * hidden * v[LAYER_KV_HEADS] * v[LAYER_HEAD_DIM] + queries * hidden;
    struct layer dense = attention, moe = attention;
    config_dense(config, traits, &dense);
    config_experts(config, traits, &moe);
    const bool *sparse = enumerated_layers(config);
    architecture_layers(config->job->arena, &config->model, config->layers);
    for (size_t i = 0; i < config->layers; i++)
        config->model.layers[i] = sparse[i] ? moe : dense;
}

/* Step-3.5 and 3.7: windowed layers have head counts of their own, and each head a gate. */
void build_step3p5(struct config *config, unsigned traits)
{
    static const char *const words[] = {"full_attention", "sliding_attention", NULL};
    config_sizes(config, traits);
    struct layer full = layer_usual(), local;
    config_attention(config, traits, &full);
    const char *key = NULL;
    json_t *other = config_object(config, "attention_other_setting", &key);
    const size_t *types = config_list_of_words(config, "layer_types", words);
    local = full;
    if (!other)
        config_missing(config, "attention_other_setting");
    if (!types)
        config_missing(config, "layer_types");
    local.value[LAYER_HEADS] = config_needed_in(config, other, key, "num_attention_heads");
    local.value[LAYER_KV_HEADS] = config_needed_in(config, other, key, "num_attention_groups");
    local.value[LAYER_WINDOW] = config_needed(config, "sliding_window");
    bool gates = config_flag_or(config, "use_head_wise_attn_gate", true);
    full.value[LAYER_EXTRA_PARAMS] = gates ? config->model.hidden * full.value[LAYER_HEADS] : 0;
    local.value[LAYER_EXTRA_PARAMS] = gates ? config->model.hidden * local.value[LAYER_HEADS] : 0;
    const bool *sparse = enumerated_layers(config);
    architecture_layers(config->job->arena, &config->model, config->layers);
    for (size_t i = 0; i < config->layers; i++) {
        struct layer *layer = &config->model.layers[i];
        *layer = types && types[i] == 1 ? local : full;
        config_feed_forward(config, traits, sparse[i], layer);
    }
}

/* Klear: experts and shared ones are weighed by a small biased matrix. */
void build_klear(struct config *config, unsigned traits)
{
    build_decoder(config, traits);
    for (size_t i = 0; i < config->model.layer_count; i++) {
        double *v = config->model.layers[i].value;
        v[LAYER_EXTRA_PARAMS] = v[LAYER_EXPERTS] > 0 ? 2 * config->model.hidden + 2 : 0;
    }
}

/* Aria: experts of the feed-forward's width, unless they have one of their own. */
void build_aria(struct config *config, unsigned traits)
{
    double width;
    bool own_width = config_count(config, "moe_intermediate_size", &width);
    build_decoder(config, own_width ? traits : traits | EXPERTS_OF_FFN_WIDTH);
}

/* Command A with experts: dense layers come first, full and of their own width. */
void build_cohere2_moe(struct config *config, unsigned traits)
{
    config_sizes(config, traits);
    double experts_width = config->ffn, first = config_count_or(config, "first_k_dense_replace", 0);
    config->ffn = config_count_or(config, "prefix_dense_intermediate_size", config->ffn);
    struct layer attention = layer_usual(), dense, moe;
    config_attention(config, traits, &attention);
    dense = moe = attention;
    config_dense(config, traits, &dense);
    config_experts(config, traits, &moe);
    moe.value[LAYER_EXPERT_FFN] = experts_width;
    if (moe.value[LAYER_SHARED_EXPERTS] == 0)
        moe.value[LAYER_SHARED_EXPERTS] = config_count_or(config, "moe_num_shared_experts", 0);
    config_lay_out(config, &dense, &moe);
    config_windows(config, traits);
    for (size_t i = 0; i < config->layers && (double)i < first; i++)
        config->model.layers[i].value[LAYER_WINDOW] = 0;
}

/* One of two numbers, of text and of images, or one for both. */
static double of_text(struct config *config, const char *key, size_t index)
{
    json_t *member = json_object_get(config->text, key);
    json_t *entry = json_is_array(member) ? json_array_get(member, index) : member;
    double value = json_number_value(entry);
    if (json_is_number(entry) && value >= 1 && value < 1e9 && value == (double)(long)value)
        return value;
    config_missing(config, key);
    return 1;
}

/* ERNIE 4.5 VL: tokens of images have experts and routers of their own, which text leaves alone. */
void build_ernie_vl(struct config *config, unsigned traits)
{
    config_sizes(config, traits);
    struct layer attention = layer_usual(), dense, moe;
    config_attention(config, traits, &attention);
    dense = moe = attention;
    config_dense(config, traits, &dense);
    double *v = moe.value, hidden = config->model.hidden, first = 1, last = (double)config->layers,
           unused = 0;
    v[LAYER_EXPERTS] = of_text(config, "moe_num_experts", 0);
    v[LAYER_ACTIVE_EXPERTS] = config_needed(config, "moe_k|num_experts_per_tok");
    v[LAYER_EXPERT_FFN] = of_text(config, "moe_intermediate_size", 0);
    v[LAYER_SHARED_EXPERTS] = config_count_or(config, "moe_num_shared_experts", 0);
    v[LAYER_ROUTER_BIAS] = 1;
    config_check_experts(config, &moe);
    double images =
        of_text(config, "moe_num_experts", json_is_array(json_object_get(config->text, "moe_num_experts")));
    double width = of_text(config, "moe_intermediate_size", 1);
    static const char *const words[] = {"dense", "sparse", NULL};
    const size_t *types = config_list_of_words(config, "mlp_layer_types", words);
    if (!types && json_object_get(config->text, "moe_layer_start_index"))
        first = of_text(config, "moe_layer_start_index", 0);
    if (!types && json_object_get(config->text, "moe_layer_end_index"))
        last = of_text(config, "moe_layer_end_index", 0);
    architecture_layers(config->job->arena, &config->model, config->layers);
    for (size_t i = 0; i < config->layers; i++) {
        bool sparse = types ? types[i] == 1 : (double)i >= first && (double)i <= last;
        config->model.layers[i] = sparse ? moe : dense;
        unused += sparse ? images * (3 * hidden * width + hidden + 1) : 0;
    }
    config->model.extra_params = unused;
    architecture_note(config->job->arena, &config->model,
                      "Extra parameters: the experts of images, which tokens of text do not use.");
}
