/* family_old.c: families from before the keys of llama became usual. */
#include "import/config.h"

/* Qwen 1: intermediate_size is the width of gate and up together; biases on q, k and v whatever no_bias says.
 */
void build_qwen1(struct config *config, unsigned traits)
{
    build_decoder(config, traits | QKV_BIAS_ALWAYS | NO_OUTPUT_BIAS);
    for (size_t i = 0; i < config->model.layer_count; i++)
        config->model.layers[i].value[LAYER_FFN] = config->ffn / 2;
}

/* Falcon: with new_decoder_architecture num_kv_heads counts, before it multi_query does. */
void build_falcon(struct config *config, unsigned traits)
{
    config_sizes(config, traits);
    bool modern = config_flag_or(config, "new_decoder_architecture", false);
    bool parallel = config_flag_or(config, "parallel_attn", true);
    struct layer layer = layer_usual();
    double *v = layer.value;
    config_attention(config, traits, &layer);
    if (!modern)
        v[LAYER_KV_HEADS] = config_flag_or(config, "multi_query", true) ? 1 : v[LAYER_HEADS];
    bool bias = config_flag_or(config, "bias", false);
    config_dense(config, traits, &layer);
    v[LAYER_QKV_BIAS] = v[LAYER_OUTPUT_BIAS] = v[LAYER_FFN_BIAS] = bias;
    v[LAYER_NORMS] = modern ? config_count_or(config, "num_ln_in_parallel_attn", 2) : parallel ? 1 : 2;
    architecture_layers(config->job->arena, &config->model, config->layers);
    for (size_t i = 0; i < config->layers; i++)
        config->model.layers[i] = layer;
}

/* MPT: ALiBi takes the place of learned positions even where learned_pos_emb is true. */
void build_mpt(struct config *config, unsigned traits)
{
    config_sizes(config, traits);
    json_t *ratio = config_member(config->text, "expansion_ratio", NULL);
    json_t *attention = json_object_get(config->text, "attn_config");
    config->ffn = (json_is_number(ratio) ? json_number_value(ratio) : 4) * config->model.hidden;
    bool bias = !config_flag_or(config, "no_bias", false);
    build_decoder(config, bias ? traits | BIAS_ALWAYS : traits & ~(unsigned)BIASED_NORMS);
    if (!json_is_true(json_object_get(attention, "alibi")) && config_flag_or(config, "learned_pos_emb", true))
        config->model.positions = config->model.max_context;
}

void build_opt(struct config *config, unsigned traits)
{
    build_decoder(config, traits);
    double width = config_count_or(config, "word_embed_proj_dim", config->model.hidden);
    if (width != config->model.hidden)
        config_error(config, NULL, "word_embed_proj_dim",
                     "embeddings of width %.0f in a model of width %.0f cannot be said by a `model`", width,
                     config->model.hidden);
    config->model.positions = config->model.max_context + 2; /* two positions before the first token */
    config->model.no_final_norm = !config_flag_or(config, "do_layer_norm_before", true);
}
