/* family_old.c: families from before the keys of llama became usual. */
#include <math.h>
#include <string.h>

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
    /* As first published: RefinedWebModel is the small one, RefinedWeb the large one. */
    bool large = strcmp(config->family->name, "RefinedWeb") == 0;
    bool modern = config_flag_or(config, "new_decoder_architecture", large);
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
    const char *key;
    json_t *attention = config_object(config, "attn_config", &key);
    config->ffn =
        config_real_in(config, config->text, NULL, "expansion_ratio", 4, 1000) * config->model.hidden;
    bool bias = !config_flag_or(config, "no_bias", false);
    build_decoder(config, bias ? traits | BIAS_ALWAYS : traits & ~(unsigned)BIASED_NORMS);
    if (!json_is_true(json_object_get(attention, "alibi")) && config_flag_or(config, "learned_pos_emb", true))
        config->model.positions = config->model.max_context;
}

/* Tables narrower than the model, which a `model` cannot say: all is stated as one number, and the layers
 * keep the heads that their cache is made of. */
static void state_narrow_tables(struct config *config, double width)
{
    struct architecture *model = &config->model;
    double hidden = model->hidden, sum = model->vocab * width * (model->tied ? 1 : 2) + 2 * width * hidden;
    sum += model->positions * hidden + (model->no_final_norm ? 0 : 2 * hidden);
    for (size_t i = 0; i < model->layer_count; i++) {
        double *v = model->layers[i].value;
        sum += layer_params(&model->layers[i], hidden);
        v[LAYER_FFN] = v[LAYER_FFN_BIAS] = 0;
        v[LAYER_FFN_GATED] = 1;
    }
    model->params = sum;
    model->positions = 0;
    architecture_note(
        config->job->arena, model,
        "Embeddings of width %.0f, with a matrix into the model and one out of it: stated as a total.",
        width);
}

void build_opt(struct config *config, unsigned traits)
{
    build_decoder(config, traits);
    double width = config_count_or(config, "word_embed_proj_dim", config->model.hidden);
    config->model.positions = config->model.max_context + 2; /* two positions before the first token */
    config->model.no_final_norm = !config_flag_or(config, "do_layer_norm_before", true);
    if (width > 0 && width != config->model.hidden)
        state_narrow_tables(config, width);
}

/* GPT-Neo: the output projection has a bias, queries, keys and values have none; every other layer is local.
 */
void build_gpt_neo(struct config *config, unsigned traits)
{
    build_decoder(config, traits);
    static const char *const words[] = {"global", "local", NULL};
    const size_t *types = config_list_of_words(config, "attention_layers", words);
    double window = config_count_or(config, "window_size", 256);
    for (size_t i = 0; i < config->model.layer_count; i++) {
        double *v = config->model.layers[i].value;
        v[LAYER_OUTPUT_BIAS] = 1;
        v[LAYER_WINDOW] = (types ? types[i] : i % 2) == 1 ? window : 0;
    }
}

/* StableLM 2 12B: with a parallel residual there is one norm; query and key norms are one vector per head. */
void build_stablelm(struct config *config, unsigned traits)
{
    build_decoder(config,
                  config_flag_or(config, "use_parallel_residual", false) ? traits | ONE_NORM : traits);
}

/* BitNet: norms before the output projection and before the last one of the feed-forward. */
void build_bitnet(struct config *config, unsigned traits)
{
    build_decoder(config, traits);
    for (size_t i = 0; i < config->model.layer_count; i++) {
        double *v = config->model.layers[i].value;
        v[LAYER_EXTRA_PARAMS] = v[LAYER_HEADS] * v[LAYER_HEAD_DIM] + v[LAYER_FFN];
    }
}

/* Llama 3.2 Vision: some layers attend to the image instead: queries and output, keys and values of what the
 * tower made, two norms, two gates. They cache nothing of the text. The embedding has eight rows for the
 * image. */
void build_mllama(struct config *config, unsigned traits)
{
    build_decoder(config, traits);
    bool *crossed = ARENA_ARRAY(config->job->arena, bool, config->layers);
    bool told = config_list_of_layers(config, config->text, NULL, "cross_attention_layers", 0, crossed, true);
    for (size_t i = 0; i < config->model.layer_count; i++) {
        if (told ? !crossed[i] : i % 5 != 3) /* as the class has it for forty layers */
            continue;
        struct layer *layer = &config->model.layers[i];
        struct layer cross = *layer;
        double *v = cross.value, size = v[LAYER_HEAD_DIM], hidden = config->model.hidden;
        v[LAYER_EXTRA_PARAMS] = 2 * hidden * (v[LAYER_HEADS] + v[LAYER_KV_HEADS]) * size + 2 * size + 2;
        v[LAYER_ATTENTION] = ATTENTION_NONE;
        v[LAYER_HEADS] = v[LAYER_KV_HEADS] = v[LAYER_HEAD_DIM] = 0;
        v[LAYER_ROTARY_DIM] = -1;
        *layer = cross;
    }
    config->model.extra_params = 8 * config->model.hidden;
    architecture_note(
        config->job->arena, &config->model,
        "Layers that attend to the image cache nothing of the text; what they cache of an image is not "
        "counted.");
}

/* The number of entry `layer` of a list with one for each layer. */
static double of_layer(struct config *config, const char *key, size_t layer)
{
    json_t *entry = json_array_get(config_list(config, key), layer);
    if (json_is_number(entry) && json_number_value(entry) > 0 && json_number_value(entry) < 1e6)
        return json_number_value(entry);
    config_missing(config, key);
    return 1;
}

/* OpenELM: layers with heads and widths of their own; widths are whole multiples of ffn_dim_divisor, rounded
 * to the nearest but never by more than a tenth down. */
void build_openelm(struct config *config, unsigned traits)
{
    config_sizes(config, traits);
    double divisor = config_size_or(config, "ffn_dim_divisor", 256), hidden = config->model.hidden;
    bool norms = config_flag_or(config, "normalize_qk_projections", false);
    architecture_layers(config->job->arena, &config->model, config->layers);
    for (size_t i = 0; i < config->layers; i++) {
        double *v = config->model.layers[i].value, width = of_layer(config, "ffn_multipliers", i) * hidden;
        double rounded = divisor * floor((width + divisor / 2) / divisor);
        rounded = rounded > divisor ? rounded : divisor;
        v[LAYER_HEADS] = of_layer(config, "num_query_heads", i);
        v[LAYER_KV_HEADS] = of_layer(config, "num_kv_heads", i);
        v[LAYER_HEAD_DIM] = config_needed(config, "head_dim");
        v[LAYER_QK_NORM] = norms ? QK_NORM_HEAD : QK_NORM_NONE;
        v[LAYER_FFN] = rounded < 0.9 * width ? rounded + divisor : rounded;
        v[LAYER_FFN_GATED] = config_flag_or(config, "ffn_with_glu", true);
    }
}

/* The first GPT: norms after what they belong to, so none is left for the end. */
void build_openai_gpt(struct config *config, unsigned traits)
{
    build_decoder(config, traits);
    config->model.no_final_norm = true;
}

/* GPT-NeoX-Japanese: no biases but that of the last output projection. */
void build_gpt_neox_japanese(struct config *config, unsigned traits)
{
    build_decoder(config, traits);
    if (config->model.layer_count > 0)
        config->model.layers[config->model.layer_count - 1].value[LAYER_OUTPUT_BIAS] = 1;
}

/* Persimmon: norms of queries and keys have biases, too. Fuyu puts one biased projection of a patch before
 * it. */
void build_persimmon(struct config *config, unsigned traits)
{
    bool norms = config_flag_or(config, "qk_layernorm", true);
    build_decoder(config, norms ? traits | HEAD_QK_NORM : traits);
    for (size_t i = 0; norms && i < config->model.layer_count; i++) {
        double *v = config->model.layers[i].value;
        v[LAYER_EXTRA_PARAMS] = 2 * v[LAYER_HEAD_DIM];
    }
    double patch = json_number_value(config_member(config->root, "patch_size", NULL));
    double colours = json_number_value(config_member(config->root, "num_channels", NULL));
    if (!config->text_key || !(patch >= 1 && patch <= 1000 && colours >= 1 && colours <= 16))
        return;
    config->model.tower_params = (patch * patch * colours + 1) * config->model.hidden;
    architecture_note(config->job->arena, &config->model, "Vision tower: one projection of a patch.");
}

/* TeleChat: biases of the output projection and of the last one of the feed-forward. */
void build_telechat(struct config *config, unsigned traits)
{
    build_decoder(config, traits);
    for (size_t i = 0; i < config->model.layer_count; i++) {
        double *v = config->model.layers[i].value;
        v[LAYER_OUTPUT_BIAS] = 1;
        v[LAYER_EXTRA_PARAMS] = config->model.hidden;
    }
}

/* Jais: GPT-2 with ALiBi and a gate. */
void build_jais(struct config *config, unsigned traits)
{
    const char *positions = config_word(config, "position_embedding_type");
    const char *activation = config_word(config, "activation_function");
    bool gated = activation && strcmp(activation, "swiglu") == 0;
    build_decoder(config, gated ? traits & ~(unsigned)UNGATED : traits);
    config->model.positions = positions && strcmp(positions, "alibi") == 0 ? 0 : config->model.max_context;
}

/* Differential llama: four vectors of a head's size make the share that is taken off. */
void build_diffllama(struct config *config, unsigned traits)
{
    build_decoder(config, traits);
    for (size_t i = 0; i < config->model.layer_count; i++) {
        double *v = config->model.layers[i].value;
        v[LAYER_EXTRA_PARAMS] = 4 * v[LAYER_HEAD_DIM];
    }
}

/* HyperCLOVA X: four norms where a key says so. */
void build_hyperclovax(struct config *config, unsigned traits)
{
    build_decoder(config, config_flag_or(config, "use_post_norm", false) ? traits | FOUR_NORMS : traits);
}
