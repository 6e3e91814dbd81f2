/* family_ssm.c: families with state spaces, short convolutions or gated recurrences in place of attention. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "import/mixers.h"

/* ---- Mamba 1 ------------------------------------------------------------------------------- */

/* The same mixer in every layer, with one norm. Without a feed-forward the parameters have to be stated. */
static void mixers_alone(struct config *config, struct layer layer)
{
    struct architecture *model = &config->model;
    layer.value[LAYER_NORMS] = 1;
    architecture_layers(config->job->arena, model, config->layers);
    for (size_t i = 0; i < config->layers; i++)
        model->layers[i] = layer;
    model->params = (double)config->layers * layer_params(&layer, model->hidden) + model->hidden +
                    model->vocab * model->hidden * (model->tied ? 1 : 2);
}

/* Falcon Mamba says its inner width; its norms on dt, B and C have no weights. */
void build_mamba(struct config *config, unsigned traits)
{
    config_sizes(config, traits);
    double hidden = config->model.hidden, inner = config_size_or(config, "expand", 2) * hidden;
    struct mamba mamba = {
        .inner = config_size_or(config, "intermediate_size", inner),
        .state = config_needed(config, "state_size"),
        .kernel = config_size_or(config, "conv_kernel", 4),
        .rank = mixer_rank(config, "time_step_rank", hidden),
    };
    mixers_alone(config, mixer_mamba(&mamba, hidden, false));
}

void build_jamba(struct config *config, unsigned traits)
{
    config_sizes(config, traits);
    double hidden = config->model.hidden;
    struct mamba mamba = {
        .inner = config_needed(config, "mamba_expand") * hidden,
        .state = config_needed(config, "mamba_d_state"),
        .kernel = config_needed(config, "mamba_d_conv"),
        .rank = mixer_rank(config, "mamba_dt_rank", hidden),
    };
    double attention_period = config_needed(config, "attn_layer_period");
    double attention_offset = config_count_or(config, "attn_layer_offset", 0);
    double expert_period = config_needed(config, "expert_layer_period");
    double expert_offset = config_count_or(config, "expert_layer_offset", 0);
    bool experts = config_has_experts(config);
    struct layer attention = layer_usual();
    config_attention(config, traits, &attention);
    architecture_layers(config->job->arena, &config->model, config->layers);
    for (size_t i = 0; i < config->layers; i++) {
        struct layer *layer = &config->model.layers[i];
        *layer = fmod((double)i, attention_period) == attention_offset ? attention
                                                                       : mixer_mamba(&mamba, hidden, true);
        bool sparse = experts && fmod((double)i, expert_period) == expert_offset;
        config_feed_forward(config, traits, sparse, layer);
    }
}

/* ---- Mamba-2 ------------------------------------------------------------------------------- */

static const struct mamba2_keys plain_keys = {"num_heads",  "head_dim",      "n_groups",
                                              "state_size", "conv_kernel",   "expand",
                                              NULL,         "use_conv_bias", "use_bias"};
static const struct mamba2_keys hybrid_keys = {"mamba_n_heads", "mamba_d_head",    "mamba_n_groups",
                                               "mamba_d_state", "mamba_d_conv",    "mamba_expand",
                                               "mamba_d_ssm",   "mamba_conv_bias", "mamba_proj_bias"};

void build_mamba2(struct config *config, unsigned traits)
{
    config_sizes(config, traits);
    mixers_alone(config, mixer_mamba2(config, &plain_keys));
}

/* Which layers of Bamba and Granite 4 have attention: words, or a list of their numbers. */
static bool *attention_layers(struct config *config)
{
    bool *attends = ARENA_ARRAY(config->job->arena, bool, config->layers);
    static const char *const words[] = {"mamba", "conv", "attention", "full_attention", NULL};
    const size_t *types = config_list_of_words(config, "layer_types", words);
    types = types ? types : config_list_of_words(config, "layers_block_type", words);
    if (!types && !config_list_of_layers(config, config->text, NULL, "attn_layer_indices|full_attn_idxs", 0,
                                         attends, true))
        config_missing(config, "layer_types");
    for (size_t i = 0; types && i < config->layers; i++)
        attends[i] = types[i] >= 2;
    return attends;
}

/* Bamba; Granite 4, whose feed-forward beside the experts stands alone where there are none. */
void build_bamba(struct config *config, unsigned traits)
{
    config_sizes(config, traits);
    bool experts = config_has_experts(config), mixed = false;
    const bool *attends = attention_layers(config);
    for (size_t i = 0; i < config->layers; i++)
        mixed = mixed || !attends[i];
    struct layer attention = layer_usual(), mixer = layer_usual();
    config_attention(config, traits, &attention);
    if (mixed)
        mixer = mixer_mamba2(config, &hybrid_keys);
    config->ffn = config_count_or(config, "shared_intermediate_size", config->ffn);
    architecture_layers(config->job->arena, &config->model, config->layers);
    for (size_t i = 0; i < config->layers; i++) {
        struct layer *layer = &config->model.layers[i];
        *layer = attends[i] ? attention : mixer;
        config_feed_forward(config, traits, experts, layer);
    }
}

/* Falcon H1: attention and Mamba-2 side by side in each layer, which the block has as attention with the
 * parameters and the state of the other beside it. The mixer's norm is there only if the file says so. */
void build_falcon_h1(struct config *config, unsigned traits)
{
    build_decoder(config, traits);
    struct layer mixer = mixer_mamba2(config, &hybrid_keys);
    double *m = mixer.value, inner = m[LAYER_SSM_HEADS] * m[LAYER_SSM_HEAD_DIM];
    m[LAYER_NORMS] = 0;
    double params = layer_params(&mixer, config->model.hidden);
    params -= config_flag_or(config, "mamba_rms_norm", false) ? 0 : inner;
    double channels = inner + 2 * m[LAYER_SSM_GROUPS] * m[LAYER_SSM_STATE];
    for (size_t i = 0; i < config->model.layer_count; i++) {
        double *v = config->model.layers[i].value;
        v[LAYER_EXTRA_PARAMS] = params;
        v[LAYER_STATE] = inner * m[LAYER_SSM_STATE] * 4 + channels * (m[LAYER_CONV_KERNEL] - 1) * 2;
    }
}

/* ---- short convolutions and gated recurrences ----------------------------------------------- */

/* LFM2's width of a feed-forward: two thirds of what is stated, times a factor, in whole multiples. */
static double adjusted_width(struct config *config)
{
    double width = config_needed(config, "block_ff_dim|intermediate_size");
    double whole = config_count_or(config, "block_multiple_of", 256);
    if (!config_flag_or(config, "block_auto_adjust_ff_dim", true))
        return width;
    width = floor(config_real_in(config, config->text, NULL, "block_ffn_dim_multiplier", 1, 1000) *
                  floor(2 * width / 3));
    return whole * ceil(width / whole);
}

/* LFM2: three inputs, a convolution of few taps over one gated by another, one output. The mixture states its
 * width as it is. */
void build_lfm2(struct config *config, unsigned traits)
{
    config_sizes(config, traits);
    double hidden = config->model.hidden, kernel = config_size_or(config, "conv_L_cache", 3);
    double params = 4 * hidden * hidden + hidden * kernel;
    if (config_flag_or(config, "conv_bias", false))
        params += 5 * hidden;
    bool experts = config_has_experts(config);
    if (!experts)
        config->ffn = adjusted_width(config);
    struct layer attention = layer_usual();
    struct layer mixer = mixer_recurrent(hidden, 1, kernel, params, hidden * (kernel - 1) * 2);
    config_attention(config, traits, &attention);
    const bool *attends = attention_layers(config), *sparse = config_sparse_layers(config);
    architecture_layers(config->job->arena, &config->model, config->layers);
    for (size_t i = 0; i < config->layers; i++) {
        struct layer *layer = &config->model.layers[i];
        *layer = attends[i] ? attention : mixer;
        config_feed_forward(config, traits, sparse[i], layer);
    }
}

/* RecurrentGemma: two inputs and an output with biases, a convolution, two gates of one block per head, a
 * decay. Its intermediate_size is the width of gate and up together; output and feed-forward have biases. */
void build_recurrent_gemma(struct config *config, unsigned traits)
{
    static const char *const usual[] = {"recurrent", "recurrent", "attention"};
    config_sizes(config, traits);
    double hidden = config->model.hidden, width = config_size_or(config, "lru_width", hidden);
    double kernel = config_size_or(config, "conv1d_width", 4);
    struct layer attention = layer_usual();
    config_attention(config, traits, &attention);
    attention.value[LAYER_OUTPUT_BIAS] = 1;
    attention.value[LAYER_WINDOW] = config_count_or(config, "attention_window_size", 2048);
    if (fmod(width, attention.value[LAYER_HEADS]) != 0) {
        config_error(config, NULL, "num_attention_heads",
                     "%.0f heads do not divide a recurrence of width %.0f", attention.value[LAYER_HEADS],
                     width);
        return;
    }
    double gates = 2 * (width * width / attention.value[LAYER_HEADS] + width);
    double params = 3 * hidden * width + 2 * width + hidden + width * (kernel + 1) + width + gates;
    struct layer recurrent = mixer_recurrent(width, 1, kernel, params, width * (4 + (kernel - 1) * 2));
    json_t *types = config_list_any(config, "block_types|_block_types");
    size_t period = json_array_size(types) > 0 ? json_array_size(types) : 3;
    config->ffn = floor(config->ffn / 2);
    architecture_layers(config->job->arena, &config->model, config->layers);
    for (size_t i = 0; i < config->layers; i++) {
        const char *word = json_array_size(types) > 0 ? json_string_value(json_array_get(types, i % period))
                                                      : usual[i % period];
        bool attends = word && strcmp(word, "attention") == 0;
        struct layer *layer = &config->model.layers[i];
        if (!attends && !(word && strcmp(word, "recurrent") == 0)) {
            config_error(config, NULL, "block_types", "entry %zu of `block_types` is not known", i % period);
            return;
        }
        *layer = attends ? attention : recurrent;
        config_dense(config, traits, layer);
    }
}
