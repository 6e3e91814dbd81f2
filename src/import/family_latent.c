/* family_latent.c: families whose attention compresses keys and values. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "import/config.h"

/* GLM-5.2: layers of type "shared" use the tokens an earlier layer's indexer chose and have none themselves.
 */
static void shared_indexers(struct config *config)
{
    static const char *const words[] = {"full", "shared", NULL};
    const size_t *types = config_list_of_words(config, "indexer_types", words);
    for (size_t i = 0; types && i < config->layers; i++)
        if (types[i] == 1)
            config->model.layers[i].value[LAYER_INDEX_HEADS] =
                config->model.layers[i].value[LAYER_INDEX_DIM] = 0;
}

/* DeepSeek-V2, V3, V3.2; Kimi-K2; GLM-5. */
void build_deepseek(struct config *config, unsigned traits)
{
    config_sizes(config, traits);
    struct layer attention = layer_usual();
    if (!config_flag_or(config, "use_mla", true)) /* DeepSeek-VL2-Tiny, DeepSeek-OCR */
        config_attention(config, traits, &attention);
    else
        config_latent(config, &attention);
    if (attention.value[LAYER_KV_RANK] > 0 && config_flag_or(config, "attention_bias", false)) {
        attention.value[LAYER_OUTPUT_BIAS] = 1;
        attention.value[LAYER_EXTRA_PARAMS] =
            attention.value[LAYER_Q_RANK] + attention.value[LAYER_KV_RANK] + attention.value[LAYER_ROPE_DIM];
    }
    struct layer dense = attention, moe = attention;
    config_dense(config, traits, &dense);
    if (config_has_experts(config))
        config_experts(config, traits, &moe);
    config_lay_out(config, &dense, &moe);
    shared_indexers(config);
    double mtp = config_count_or(config, "num_nextn_predict_layers", 0);
    if (mtp > 0)
        config_mtp(config, config_has_experts(config) ? &moe : &dense, mtp);
}

/* LongCat-Flash: each layer is twice attention and a dense feed-forward; the experts stand beside the first
 * of these. Some experts are the identity: their rows of the router are there, their weights not, and tokens
 * that choose them use fewer experts. */
void build_longcat(struct config *config, unsigned traits)
{
    config_sizes(config, traits);
    struct layer first = layer_usual(), second;
    config_latent(config, &first);
    second = first;
    config_dense(config, traits, &second);
    double *v = first.value;
    v[LAYER_EXPERTS] = config_needed(config, "n_routed_experts");
    v[LAYER_EXPERT_FFN] = config_needed(config, "expert_ffn_hidden_size|moe_intermediate_size");
    v[LAYER_PARALLEL_FFN] = second.value[LAYER_FFN];
    v[LAYER_ROUTER_BIAS] = 1;
    double identities = config_count_or(config, "zero_expert_num", 0), all = v[LAYER_EXPERTS] + identities;
    double chosen = config_needed(config, "moe_topk|num_experts_per_tok");
    double real = floor(chosen * v[LAYER_EXPERTS] / all + 0.5);
    v[LAYER_ACTIVE_EXPERTS] = real > 1 ? real : 1;
    v[LAYER_EXTRA_PARAMS] = identities * (config->model.hidden + 1);
    if (identities > 0)
        architecture_note(config->job->arena, &config->model,
                          "%.0f of %.0f experts are the identity: of %.0f that a token chooses, %.0f count.",
                          identities, all, chosen, v[LAYER_ACTIVE_EXPERTS]);
    architecture_layers(config->job->arena, &config->model, 2 * config->layers);
    for (size_t i = 0; i < 2 * config->layers; i++)
        config->model.layers[i] = i % 2 == 0 ? first : second;
}

/* Kimi Linear's delta attention: queries, keys and values with short convolutions, a decay and an output gate
 * of low rank each, a rate per head, one norm. */
static struct layer delta_layer(struct config *config, json_t *linear)
{
    static const char inside[] = "linear_attn_config";
    struct layer layer = layer_usual();
    double *v = layer.value, hidden = config->model.hidden;
    double heads = config_needed_in(config, linear, inside, "num_heads");
    double size = config_needed_in(config, linear, inside, "head_dim");
    double kernel = config_needed_in(config, linear, inside, "short_conv_kernel_size"), width = heads * size;
    v[LAYER_ATTENTION] = ATTENTION_LINEAR;
    v[LAYER_LINEAR_KEY_HEADS] = v[LAYER_LINEAR_VALUE_HEADS] = heads;
    v[LAYER_LINEAR_KEY_DIM] = v[LAYER_LINEAR_VALUE_DIM] = size;
    v[LAYER_CONV_KERNEL] = kernel;
    v[LAYER_ATTENTION_PARAMS] = 4 * hidden * width + 3 * width * kernel + 2 * (hidden + width) * size +
                                hidden * heads + heads + width + size;
    return layer;
}

void build_kimi_linear(struct config *config, unsigned traits)
{
    config_sizes(config, traits);
    const char *key = NULL;
    json_t *linear = config_object(config, "linear_attn_config", &key);
    bool *full = ARENA_ARRAY(config->job->arena, bool, config->layers);
    if (!config_list_of_layers(config, linear, key, "full_attn_layers", 1, full, true)) {
        config_missing(config, "linear_attn_config.full_attn_layers");
        return;
    }
    if (config_member(config->text, "routed_expert_hidden_size", NULL)) {
        config_error(config, NULL, "routed_expert_hidden_size",
                     "`routed_expert_hidden_size`: how such experts are stored is not known well enough");
        return;
    }
    struct layer latent = layer_usual(), delta = delta_layer(config, linear);
    config_latent(config, &latent);
    const bool *sparse = config_sparse_layers(config);
    architecture_layers(config->job->arena, &config->model, config->layers);
    for (size_t i = 0; i < config->layers; i++) {
        config->model.layers[i] = full[i] ? latent : delta;
        config_feed_forward(config, traits, sparse[i], &config->model.layers[i]);
    }
}
