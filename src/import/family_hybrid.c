/* family_hybrid.c: families with linear attention, state spaces or layers that differ one by one. */
#include <math.h>
#include <string.h>

#include "import/config.h"

/* Qwen3-Next and Qwen3.5: gated delta nets, and full attention with an output gate every few layers. */
void build_qwen_hybrid(struct config *config, unsigned traits)
{
    config_sizes(config, traits);
    struct layer full = layer_usual(), linear = layer_usual();
    config_attention(config, traits, &full);
    full.value[LAYER_OUTPUT_GATE] = config_flag_or(config, "attn_output_gate", (traits & OUTPUT_GATE) != 0);
    config_linear(config, &linear);
    const bool *sparse = config_sparse_layers(config);
    static const char *const words[] = {"full_attention", "linear_attention", NULL};
    const size_t *types = config_list_of_words(config, "layer_types", words);
    double every = types ? 1 : config_needed(config, "full_attention_interval");
    architecture_layers(config->job->arena, &config->model, config->layers);
    struct layer last = full;
    for (size_t i = 0; i < config->layers; i++) {
        bool is_linear = types ? types[i] == 1 : (i + 1) % (size_t)every != 0;
        struct layer *layer = &config->model.layers[i];
        *layer = is_linear ? linear : full;
        config_feed_forward(config, traits, sparse[i], layer);
        if (!is_linear)
            last = *layer;
    }
    double mtp = config_count_or(config, "mtp_num_hidden_layers", traits & MTP_UNANNOUNCED ? 1 : 0);
    if (mtp > 0)
        config_mtp(config, &last, mtp);
}

/* Baichuan-M1: windowed layers have head counts of their own; a short convolution over keys and values, one
 * for each of their heads, whose last inputs are kept. */
void build_baichuan_m1(struct config *config, unsigned traits)
{
    config_sizes(config, traits);
    struct layer full = layer_usual(), local;
    config_attention(config, traits, &full);
    double taps = config_size_or(config, "conv_window", 2), hidden = config->model.hidden;
    bool *windowed = ARENA_ARRAY(config->job->arena, bool, config->layers);
    local = full;
    double *v = local.value;
    v[LAYER_HEADS] = config_size_or(config, "num_swa_attention_heads", v[LAYER_HEADS]);
    v[LAYER_KV_HEADS] = config_size_or(config, "num_swa_key_value_heads", v[LAYER_KV_HEADS]);
    v[LAYER_HEAD_DIM] = floor(hidden / v[LAYER_HEADS]);
    v[LAYER_WINDOW] = config_count_or(config, "sliding_window", 0);
    config_list_of_layers(config, config->text, NULL, "sliding_window_layers", 0, windowed, true);
    architecture_layers(config->job->arena, &config->model, config->layers);
    for (size_t i = 0; i < config->layers; i++) {
        struct layer *layer = &config->model.layers[i];
        *layer = windowed[i] ? local : full;
        double heads = layer->value[LAYER_KV_HEADS], size = layer->value[LAYER_HEAD_DIM];
        layer->value[LAYER_EXTRA_PARAMS] = 2 * heads * taps;
        layer->value[LAYER_STATE] = 2 * heads * size * (taps - 1) * 2;
        config_dense(config, traits, layer);
    }
}

/* ---- Nemotron ------------------------------------------------------------------------------ */

static struct layer nemotron_layer(struct config *config, char kind)
{
    struct layer layer = layer_usual();
    double *v = layer.value;
    v[LAYER_ATTENTION] = ATTENTION_NONE;
    if (kind == '*') {
        v[LAYER_ATTENTION] = ATTENTION_GROUPED;
        config_attention(config, 0, &layer);
    } else if (kind == 'M') {
        v[LAYER_ATTENTION] = ATTENTION_MAMBA;
        v[LAYER_SSM_HEADS] = config_needed(config, "mamba_num_heads");
        v[LAYER_SSM_HEAD_DIM] = config_needed(config, "mamba_head_dim");
        v[LAYER_SSM_GROUPS] = config_needed(config, "n_groups");
        v[LAYER_SSM_STATE] = config_needed(config, "ssm_state_size");
        v[LAYER_CONV_KERNEL] = config_needed(config, "conv_kernel");
    } else if (kind == 'E') {
        v[LAYER_EXPERT_INPUT] = config_count_or(config, "moe_latent_size", 0);
        config_experts(config, UNGATED, &layer);
    } else {
        config_dense(config, UNGATED, &layer);
    }
    v[LAYER_FFN_GATED] = 0;
    v[LAYER_NORMS] = 1;
    return layer;
}

/* The letters of a pattern, from the string or from the list of words that Ultra has in its place. */
static const char *nemotron_pattern(struct config *config)
{
    const char *pattern = config_word(config, "hybrid_override_pattern");
    if (pattern)
        return pattern;
    json_t *words = config_list_any(config, "layers_block_type"), *entry;
    size_t i;
    if (!words || json_array_size(words) == 0 || json_array_size(words) > LAYERS_MAX) {
        config_missing(config, "hybrid_override_pattern");
        return "-";
    }
    char *letters = ARENA_ARRAY(config->job->arena, char, json_array_size(words) + 1);
    json_array_foreach(words, i, entry)
    {
        const char *word = json_string_value(entry);
        letters[i] = !word                            ? '?'
                     : strcmp(word, "mamba") == 0     ? 'M'
                     : strcmp(word, "attention") == 0 ? '*'
                     : strcmp(word, "moe") == 0       ? 'E'
                     : strcmp(word, "mlp") == 0       ? '-'
                                                      : '?';
    }
    return letters;
}

/* Every mixer and every feed-forward is a layer with its own norm. */
void build_nemotron_h(struct config *config, unsigned traits)
{
    const char *pattern = nemotron_pattern(config);
    size_t length = strlen(pattern);
    const char *key =
        config_word(config, "hybrid_override_pattern") ? "hybrid_override_pattern" : "layers_block_type";
    double stated;
    if (strspn(pattern, "M*E-") != length || length == 0) {
        config_error(config, NULL, key, "`%s` holds other kinds of layer than M, E, * and -", key);
        return;
    }
    if (config_count(config, "num_hidden_layers", &stated) && stated != (double)length) {
        config_error(config, NULL, key, "`%s` has %zu entries for %.0f layers", key, length, stated);
        return;
    }
    if (length > LAYERS_MAX) {
        config_error(config, NULL, key, "%zu layers; at most %d can be imported", length, LAYERS_MAX);
        return;
    }
    config->layers = length;
    config_sizes(config, traits);
    architecture_layers(config->job->arena, &config->model, length);
    struct layer kinds[128] = {0};
    bool known[128] = {false};
    for (size_t i = 0; i < length; i++) {
        size_t kind = (unsigned char)pattern[i];
        if (!known[kind])
            kinds[kind] = nemotron_layer(config, pattern[i]);
        known[kind] = true;
        config->model.layers[i] = kinds[kind];
    }
    /* One MTP module: the layers of its own pattern, a projection of two states, and norms. */
    const char *mtp = config_word(config, "mtp_hybrid_override_pattern");
    double modules = config_count_or(config, "num_nextn_predict_layers", 0), hidden = config->model.hidden;
    if (mtp && modules > 0 && strspn(mtp, "M*E-") == strlen(mtp) && strlen(mtp) < 100) {
        double one = 2 * hidden * hidden + 3 * hidden;
        for (; *mtp; mtp++) {
            struct layer layer = nemotron_layer(config, *mtp);
            one += layer_params(&layer, hidden);
        }
        config->model.mtp_params = modules * one;
    }
}

/* Llama after an architecture search: each layer says what is left of its attention and feed-forward. */
void build_nemotron_nas(struct config *config, unsigned traits)
{
    config_sizes(config, traits);
    json_t *blocks = config_list(config, "block_configs"), *block;
    size_t i;
    if (!blocks) {
        config_missing(config, "block_configs");
        return;
    }
    struct layer usual = layer_usual();
    config_attention(config, traits, &usual);
    architecture_layers(config->job->arena, &config->model, config->layers);
    json_array_foreach(blocks, i, block)
    {
        json_t *attention = json_object_get(block, "attention"), *ffn = json_object_get(block, "ffn");
        struct layer *layer = &config->model.layers[i];
        double *v = layer->value, group, hidden = config->model.hidden;
        *layer = usual;
        v[LAYER_NORMS] = 2;
        if (json_is_true(json_object_get(attention, "replace_with_linear")) ||
            json_is_true(json_object_get(ffn, "replace_with_linear"))) {
            config_error(
                config, NULL, "block_configs",
                "layer %zu has a linear map in place of attention or feed-forward, which a block cannot have",
                i);
            return;
        }
        if (json_is_true(json_object_get(attention, "no_op"))) {
            *layer = layer_usual();
            v[LAYER_ATTENTION] = ATTENTION_NONE;
            v[LAYER_NORMS] = 1;
        } else if (config_count_in(config, attention, "block_configs", "n_heads_in_group", &group) &&
                   group > 0) {
            v[LAYER_KV_HEADS] = v[LAYER_HEADS] / group;
        } else {
            config_missing(config, "block_configs[].attention.n_heads_in_group");
        }
        json_t *ratio = json_object_get(ffn, "ffn_mult");
        if (json_is_true(json_object_get(ffn, "no_op"))) {
            v[LAYER_NORMS] -= 1;
        } else if (json_is_number(ratio) && json_number_value(ratio) > 0 && json_number_value(ratio) < 1000) {
            double width = floor(2 * json_number_value(ratio) * hidden / 3);
            v[LAYER_FFN] = ceil(width / 256) * 256;
        } else {
            config_missing(config, "block_configs[].ffn.ffn_mult");
        }
    }
}
