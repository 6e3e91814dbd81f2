/* family_linear.c: families with recurrences of their own: RWKV, lightning attention of Ling and Ring,
 * Phi-4-mini-flash and PLaMo 2. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "import/mixers.h"

/* ---- RWKV ---------------------------------------------------------------------------------- */

/* Values of the mixer besides its matrices of width x width, and bytes of its state. Formulas are those of
 * "Eagle and Finch" (arXiv 2404.05892) and of RWKV-7's published files. */
struct time_mix {
    double width, head, params, state;
};

static double low_rank(struct config *config, const char *key, double factor)
{
    double rank = round(factor * sqrt(config->model.hidden) / 32) * 32;
    return config_count_or(config, key, rank > 32 ? rank : 32);
}

/* Mixing of two tokens for each input, decay and bonus of each channel; from version 5 on states of head x
 * head, a gate, a norm of the heads; from version 6 on mixing and decay depend on the token. */
static struct time_mix time_mix(struct config *config, int version)
{
    double hidden = config->model.hidden, width = config_size_or(config, "attention_hidden_size", hidden);
    struct time_mix mix = {.width = width, .head = config_size_or(config, "head_size|head_dim", 64)};
    double extra = hidden == 4096 ? 64 : 32, decay = hidden == 4096 ? 128 : 64;
    mix.state = width * mix.head * 4 + 2 * hidden * 2;
    switch (version) {
    case 4:
        mix.params = 4 * hidden * width + 3 * hidden + 2 * width;
        mix.state = 3 * width * 4 + 2 * hidden * 2;
        break;
    case 5: mix.params = 5 * hidden * width + 4 * hidden + 4 * width; break;
    case 6:
        mix.params =
            5 * hidden * width + 6 * hidden + 4 * width + 2 * 5 * extra * hidden + decay * (hidden + width);
        break;
    default:
        /* decay, rate and gate by low ranks; the values of the first layer return in later ones */
        mix.params = 4 * hidden * width + 6 * hidden + 3 * width + 2 * width;
        mix.params += 2 * hidden * low_rank(config, "decay_low_rank_dim", 2.5 * mix.head / 64) + hidden;
        mix.params += 2 * hidden * low_rank(config, "a_low_rank_dim", 2.5 * mix.head / 64) + hidden;
        mix.params += 2 * hidden * low_rank(config, "gate_low_rank_dim", 5);
        break;
    }
    return mix;
}

/* A feed-forward of squared rectifiers; before version 7 it has a gate of hidden x hidden. */
void build_rwkv(struct config *config, unsigned traits)
{
    char last = config->family->name[strlen(config->family->name) - 1];
    int version = last >= '5' && last <= '7' ? last - '0' : 4;
    config_sizes(config, traits);
    double hidden = config->model.hidden;
    if (config->ffn == 0)
        config->ffn = version == 5 || version == 6 ? floor(3.5 * hidden / 32) * 32 : 4 * hidden;
    if (config->ffn == 0)
        config_missing(config, "intermediate_size");
    struct time_mix mix = time_mix(config, version);
    struct layer layer = mixer_recurrent(mix.width, mix.head, 1, mix.params, mix.state);
    layer.value[LAYER_FFN] = config->ffn;
    layer.value[LAYER_FFN_GATED] = 0;
    layer.value[LAYER_NORM] = NORM_LAYER;
    layer.value[LAYER_EXTRA_PARAMS] = version == 7 ? hidden : hidden * hidden + 2 * hidden;
    architecture_layers(config->job->arena, &config->model, config->layers);
    for (size_t i = 0; i < config->layers; i++) {
        config->model.layers[i] = layer;
        if (version == 7 && i > 0)
            config->model.layers[i].value[LAYER_ATTENTION_PARAMS] +=
                2 * hidden * low_rank(config, "v_low_rank_dim", 1.7 * mix.head / 64) + hidden;
    }
    config->model.embedding_norm = true;
}

/* ---- Ling and Ring ------------------------------------------------------------------------- */

/* Linear attention whose queries, keys and values have as many heads, of one size. */
static struct layer equal_heads(struct config *config)
{
    struct layer layer = layer_usual();
    double *v = layer.value, heads = config_needed(config, "num_attention_heads");
    v[LAYER_ATTENTION] = ATTENTION_LINEAR;
    v[LAYER_LINEAR_KEY_HEADS] = v[LAYER_LINEAR_VALUE_HEADS] = heads;
    v[LAYER_LINEAR_KEY_DIM] = v[LAYER_LINEAR_VALUE_DIM] =
        config_size_or(config, "head_dim", floor(config->model.hidden / heads));
    return layer;
}

/* Lightning attention: queries, keys, values and a gate of all heads, output, a norm; a state of head x head
 * for each head in 32 bits. */
static struct layer lightning_layer(struct config *config)
{
    struct layer layer = equal_heads(config);
    double *v = layer.value, hidden = config->model.hidden;
    double heads = v[LAYER_LINEAR_KEY_HEADS], size = v[LAYER_LINEAR_KEY_DIM], width = heads * size;
    v[LAYER_ATTENTION_PARAMS] = 5 * hidden * width + width;
    v[LAYER_ATTENTION_PARAMS] += config_flag_or(config, "use_qk_norm", true) ? 2 * size : 0;
    v[LAYER_ATTENTION_PARAMS] += config_flag_or(config, "use_qkv_bias", false) ? 3 * width : 0;
    v[LAYER_ATTENTION_PARAMS] += config_flag_or(config, "use_bias", false) ? hidden : 0;
    v[LAYER_STATE] = heads * size * size * 4;
    return layer;
}

/* Ling 3: delta attention as in Kimi Linear, with whole matrices for decay and gate. */
static struct layer delta_layer(struct config *config)
{
    struct layer layer = equal_heads(config);
    double *v = layer.value, hidden = config->model.hidden;
    double heads = v[LAYER_LINEAR_KEY_HEADS], size = v[LAYER_LINEAR_KEY_DIM], width = heads * size;
    double kernel = config_needed(config, "short_conv_kernel_size");
    if (!config_flag_or(config, "no_kda_lora", false))
        config_error(config, NULL, "no_kda_lora", "decay and gate of low rank are not known well enough");
    v[LAYER_CONV_KERNEL] = kernel;
    v[LAYER_ATTENTION_PARAMS] =
        6 * hidden * width + 3 * width * kernel + hidden * heads + heads + width + size;
    return layer;
}

/* The last layer of each group has full attention, latent where there is a rank, and so have layers that fill
 * no group. */
void build_bailing_linear(struct config *config, unsigned traits)
{
    config_sizes(config, traits);
    bool delta = config_member(config->text, "short_conv_kernel_size", NULL) != NULL;
    struct layer linear = delta ? delta_layer(config) : lightning_layer(config);
    struct layer full = layer_usual(), last = full;
    if (config_count_or(config, "kv_lora_rank", 0) > 0)
        config_latent(config, &full);
    else
        config_attention(config, traits, &full);
    if (delta) /* a gate for each head of the full layers */
        full.value[LAYER_EXTRA_PARAMS] = config->model.hidden * full.value[LAYER_HEADS];
    double group = config_needed(config, "layer_group_size");
    double grouped = floor((double)config->layers / group) * group;
    const bool *sparse = config_sparse_layers(config);
    architecture_layers(config->job->arena, &config->model, config->layers);
    for (size_t i = 0; i < config->layers; i++) {
        struct layer *layer = &config->model.layers[i];
        bool whole = fmod((double)i + 1, group) == 0 || (double)i >= grouped;
        *layer = whole ? full : linear;
        config_feed_forward(config, traits, sparse[i], layer);
        last = whole ? *layer : last;
    }
    double mtp = config_count_or(config, "num_nextn_predict_layers", 0);
    if (mtp > 0)
        config_mtp(config, &last, mtp);
}

/* ---- Phi-4-mini-flash ---------------------------------------------------------------------- */

/* SambaY: Mamba and differential attention in turn. In the second half attention reads what one full layer
 * cached, and in place of Mamba stands a gate over what the last Mamba put out. */
void build_phi4flash(struct config *config, unsigned traits)
{
    config_sizes(config, traits);
    double hidden = config->model.hidden, half = floor((double)config->layers / 2);
    double every = config_count_or(config, "mb_per_layer", 2), window;
    struct mamba mamba = {
        .inner = config_size_or(config, "mamba_expand", 2) * hidden,
        .state = config_size_or(config, "mamba_d_state", 16),
        .kernel = config_size_or(config, "mamba_d_conv", 4),
        .rank = mixer_rank(config, "mamba_dt_rank", hidden),
    };
    struct layer full = layer_usual(), mixer = mixer_mamba(&mamba, hidden, false), gate = layer_usual();
    config_attention(config, traits, &full);
    double *v = full.value;
    v[LAYER_QKV_BIAS] = v[LAYER_OUTPUT_BIAS] = 1;
    v[LAYER_ROTARY_DIM] = 0;
    v[LAYER_EXTRA_PARAMS] = 4 * v[LAYER_HEAD_DIM] + 2 * v[LAYER_HEAD_DIM]; /* lambdas, a norm of two heads */
    gate.value[LAYER_ATTENTION] = ATTENTION_NONE;
    gate.value[LAYER_EXTRA_PARAMS] = 2 * hidden * mamba.inner;
    gate.value[LAYER_NORM] = mixer.value[LAYER_NORM] = full.value[LAYER_NORM];
    window = config_count_or(config, "sliding_window", 512);
    architecture_layers(config->job->arena, &config->model, config->layers);
    for (size_t i = 0; i < config->layers; i++) {
        struct layer *layer = &config->model.layers[i];
        bool mixes = every > 0 && fmod((double)i, every) == 0, second = (double)i >= half + 2;
        *layer = !mixes ? full : second ? gate : mixer;
        layer->value[LAYER_REUSES_KV] = !mixes && second;
        layer->value[LAYER_WINDOW] = !mixes && (double)i < half ? window : 0;
        config_dense(config, traits, layer);
    }
}

/* ---- PLaMo 2 ------------------------------------------------------------------------------- */

/* Mamba with few heads whose step, B and C are made by one matrix and have norms. */
static struct layer plamo_mixer(struct config *config)
{
    double hidden = config->model.hidden, heads = config_needed(config, "mamba_num_heads");
    double inner = heads * config_size_or(config, "hidden_size_per_head", 128);
    double state = config_size_or(config, "mamba_d_state", 64),
           kernel = config_size_or(config, "mamba_d_conv", 4);
    double rank = floor(hidden / 16) > 64 ? floor(hidden / 16) : 64;
    double params = 3 * hidden * inner + inner * kernel + inner * (rank + 2 * state) + rank * heads +
                    3 * heads + rank + 2 * state;
    return mixer_recurrent(inner, state, kernel, params,
                           inner * (state * 4 + (kernel > 1 ? kernel - 1 : 0) * 2));
}

/* Norms of queries and keys have a weight for each head; attention is windowed but where a list says that it
 * is not. */
void build_plamo2(struct config *config, unsigned traits)
{
    config_sizes(config, traits);
    struct layer attention = layer_usual(), mixer = plamo_mixer(config);
    config_attention(config, traits, &attention);
    mixer.value[LAYER_NORMS] = attention.value[LAYER_NORMS];
    double step = config_size_or(config, "mamba_step", 2), half = floor(step / 2);
    double window = config_count_or(config, "attention_window_size", 2048);
    bool *full = ARENA_ARRAY(config->job->arena, bool, config->layers);
    bool enabled = config_flag_or(config, "mamba_enabled", true);
    config_list_of_layers(config, config->text, NULL, "full_attention_idx", 0, full, true);
    architecture_layers(config->job->arena, &config->model, config->layers);
    for (size_t i = 0; i < config->layers; i++) {
        struct layer *layer = &config->model.layers[i];
        bool last = i + 1 == config->layers, few = (double)config->layers <= half;
        bool mixes = enabled && step > 0 && (few ? !last : fmod((double)i, step) != half);
        *layer = mixes ? mixer : attention;
        layer->value[LAYER_WINDOW] = mixes || full[i] ? 0 : window;
        config_dense(config, traits, layer);
    }
}
