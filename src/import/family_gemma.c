/* family_gemma.c: Gemma 3n and 4: full layers with heads of their own, layers that reuse the keys and values
 * of earlier ones, and embeddings for each layer */
#include "import/config.h"

/* The last `num_kv_shared_layers` read what the last layer of their kind before them caches. Google's files
 * hold keys and values for them all the same, which no layer uses and which files saved by transformers leave
 * out (vllm-project/vllm#54917). */
static void share_caches(struct config *config)
{
    double shared = config_count_or(config, "num_kv_shared_layers", 0), unused = 0;
    bool wide = config_flag_or(config, "use_double_wide_mlp", false);
    struct architecture *model = &config->model;
    if (!(shared < (double)model->layer_count)) {
        config_error(config, NULL, "num_kv_shared_layers",
                     "no layer is left that keys and values could be of");
        return;
    }
    for (size_t i = model->layer_count - (size_t)shared; i < model->layer_count; i++) {
        struct layer own = model->layers[i], *layer = &model->layers[i];
        layer->value[LAYER_REUSES_KV] = 1;
        layer->value[LAYER_SHARED_KV] = 0;
        unused += layer_params(&own, model->hidden) - layer_params(layer, model->hidden);
        layer->value[LAYER_FFN] *= wide ? 2 : 1;
    }
    model->extra_params += unused;
    if (shared > 0)
        architecture_note(
            config->job->arena, model,
            "The last %.0f layers reuse the cache of earlier ones. Extra parameters: %.0f keys and values "
            "that the published files hold for them, and no layer uses.",
            shared, unused);
}

/* A row of a table for each layer and token, let in through a gate and a projection, with a norm; a
 * projection and a norm of the model makes what is added to the rows. */
static void embed_each_layer(struct config *config)
{
    double width = config_count_or(config, "hidden_size_per_layer_input", 0);
    struct architecture *model = &config->model;
    if (width == 0)
        return;
    double rows = config_count_or(config, "vocab_size_per_layer_input", 262144);
    model->lookup_params = rows * (double)model->layer_count * width;
    model->extra_params += width;
    for (size_t i = 0; i < model->layer_count; i++) {
        model->layers[i].value[LAYER_NORMS]++;
        model->layers[i].value[LAYER_EXTRA_PARAMS] += 3 * model->hidden * width;
    }
}

/* Gemma 4, as in transformers' modeling_gemma4.py: full layers have heads of their own size and number, whose
 * values may be their keys; a dense feed-forward stands beside the experts. */
void build_gemma4(struct config *config, unsigned traits)
{
    build_decoder(config, traits);
    bool experts = config_flag_or(config, "enable_moe_block", false);
    json_t *types = config_list(config, "layer_types");
    if (!types && config->model.layer_count > 0) /* the class makes the last one full, whatever the pattern */
        config->model.layers[config->model.layer_count - 1].value[LAYER_WINDOW] = 0;
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
        v[LAYER_SHARED_KV] = config_flag_or(config, "attention_k_eq_v", false);
        if (v[LAYER_SHARED_KV])
            v[LAYER_KV_HEADS] = config_count_or(config, "num_global_key_value_heads", v[LAYER_KV_HEADS]);
    }
    share_caches(config);
    embed_each_layer(config);
}

/* Gemma 3n: several streams that a router predicts from one and corrects (AltUp), a bypass of low rank beside
 * attention (LAuReL), each with a norm; matrices make the streams at the beginning and one of them at the
 * end. Caches and embeddings by layer are as in Gemma 4, which has neither of the two. */
void build_gemma3n(struct config *config, unsigned traits)
{
    build_decoder(config, traits);
    struct architecture *model = &config->model;
    double hidden = model->hidden, streams = config_count_or(config, "altup_num_inputs", 4);
    double rank = config_count_or(config, "laurel_rank", 64), squared = streams * streams;
    for (size_t i = 0; i < model->layer_count; i++) {
        double *v = model->layers[i].value;
        v[LAYER_EXTRA_PARAMS] = hidden + squared + squared * streams + hidden * streams + 2 * hidden * rank;
        v[LAYER_NORMS] += 2;
    }
    model->extra_params = 2 * (streams - 1) * hidden * hidden;
    share_caches(config);
    embed_each_layer(config);
}
