/* family_shared.c: families that use the weights of some blocks more than once. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "import/mixers.h"

/* ---- Zamba --------------------------------------------------------------------------------- */

/* The keys of transformers, and those of Zyphra's own files before them. */
static const char state_keys[] = "mamba_d_state|state_size", kernel_keys[] = "mamba_d_conv|conv_dimension",
                  expand_keys[] = "mamba_expand|expansion_factor", rank_keys[] = "adapter_rank|lora_rank",
                  attention_adapter_keys[] = "use_shared_attention_adapter|use_shared_attention_lora",
                  ffn_keys[] = "intermediate_size|ffn_hidden_size";

/* A transformer of its own width: attention over the embedding beside the state, 2 hidden wide, a
 * feed-forward, three norms' worth of vectors. Its output goes through a matrix that each place has. */
static struct layer shared_block(struct config *config)
{
    struct layer layer = layer_usual();
    double *v = layer.value, hidden = config->model.hidden, both = 2 * hidden;
    v[LAYER_HEADS] = config_needed(config, "num_attention_heads");
    v[LAYER_KV_HEADS] = config_size_or(config, "num_key_value_heads", v[LAYER_HEADS]);
    v[LAYER_HEAD_DIM] = config_size_or(config, "attention_head_dim", floor(both / v[LAYER_HEADS]));
    double queries = v[LAYER_HEADS] * v[LAYER_HEAD_DIM], keys = v[LAYER_KV_HEADS] * v[LAYER_HEAD_DIM];
    if (queries != both)
        config_error(config, NULL, "num_attention_heads", "heads of %.0f in all for a width of %.0f", queries,
                     both);
    v[LAYER_ATTENTION_PARAMS] = both * (queries + 2 * keys) + queries * hidden;
    v[LAYER_ROTARY_DIM] = config_flag_or(config, "use_mem_rope", false) ? -1 : 0;
    v[LAYER_FFN] = config_size_or(config, ffn_keys, 4 * hidden);
    v[LAYER_NORMS] = 3;
    v[LAYER_EXTRA_PARAMS] = hidden * hidden;
    return layer;
}

/* Each place of a shared block has adapters of its own. */
static double adapters(struct config *config, const struct layer *shared)
{
    double hidden = config->model.hidden, rank = config_size_or(config, rank_keys, 128);
    double sum = rank * (hidden + 2 * shared->value[LAYER_FFN]);
    if (config_flag_or(config, attention_adapter_keys, false))
        sum += 3 * rank * 4 * hidden;
    return sum;
}

/* Places of the shared blocks: "hybrid" in the list; without one as the class has them. */
static const bool *hybrid_layers(struct config *config)
{
    static const char *const words[] = {"mamba", "m", "hybrid", "g", NULL};
    const size_t *types = config_list_of_words(config, "layers_block_type", words);
    bool *hybrid = ARENA_ARRAY(config->job->arena, bool, config->layers);
    if (!types)
        config_missing(config, "layers_block_type");
    for (size_t i = 0; types && i < config->layers; i++)
        hybrid[i] = types[i] >= 2;
    return hybrid;
}

/* Mixers, and before some of them one of `blocks` transformers in turn. */
static void lay_out_shared(struct config *config, const bool *hybrid, const struct layer *mixer,
                           const struct layer *shared, size_t blocks)
{
    struct architecture *model = &config->model;
    size_t places = 0, at = 0;
    for (size_t i = 0; i < config->layers; i++)
        places += hybrid[i];
    architecture_layers(config->job->arena, model, config->layers + places);
    places = 0;
    for (size_t i = 0; i < config->layers; i++) {
        if (hybrid[i]) {
            model->layers[at] = *shared;
            model->layers[at++].value[LAYER_REUSES_WEIGHTS] = places++ >= blocks;
        }
        model->layers[at++] = *mixer;
    }
    if (places > blocks)
        architecture_note(config->job->arena, model,
                          "%zu places share the weights of %zu transformer block%s.", places, blocks,
                          blocks == 1 ? "" : "s");
}

void build_zamba2(struct config *config, unsigned traits)
{
    static const struct mamba2_keys keys = {
        "n_mamba_heads", "mamba_headdim",  "mamba_ngroups", state_keys, kernel_keys, expand_keys, NULL,
        "use_conv_bias", "add_bias_linear"};
    config_sizes(config, traits);
    struct layer mixer = layer_usual();
    if (config_member(config->text, "n_mamba_heads", NULL)) {
        mixer = mixer_mamba2(config, &keys);
    } else { /* the first files say the size of a head, not how many there are */
        double *v = mixer.value, size = config_needed(config, "mamba_headdim");
        double inner = config_size_or(config, expand_keys, 2) * config->model.hidden;
        v[LAYER_ATTENTION] = ATTENTION_MAMBA;
        v[LAYER_SSM_HEADS] = floor(inner / size);
        if (v[LAYER_SSM_HEADS] * size != inner)
            config_error(config, NULL, "mamba_headdim", "heads of %.0f do not divide %.0f channels", size,
                         inner);
        v[LAYER_SSM_HEAD_DIM] = size;
        v[LAYER_SSM_GROUPS] = config_size_or(config, "mamba_ngroups", 1);
        v[LAYER_SSM_STATE] = config_needed(config, state_keys);
        v[LAYER_CONV_KERNEL] = config_needed(config, kernel_keys);
    }
    mixer.value[LAYER_NORMS] = 1;
    struct layer shared = shared_block(config);
    shared.value[LAYER_EXTRA_PARAMS] += adapters(config, &shared);
    double blocks = config_size_or(config, "num_mem_blocks", 1);
    lay_out_shared(config, hybrid_layers(config), &mixer, &shared, (size_t)blocks);
}

/* The first Zamba: Mamba-1 with its matrices cut into heads, one shared transformer, no adapters. */
void build_zamba(struct config *config, unsigned traits)
{
    config_sizes(config, traits);
    double hidden = config->model.hidden;
    struct mamba mamba = {
        .inner = config_size_or(config, "mamba_expand", 2) * hidden,
        .state = config_needed(config, "mamba_d_state"),
        .kernel = config_needed(config, "mamba_d_conv"),
        .rank = mixer_rank(config, "mamba_dt_rank", hidden),
    };
    struct layer mixer = mixer_mamba(&mamba, hidden, false), shared = shared_block(config);
    mixer.value[LAYER_NORMS] = 1;
    lay_out_shared(config, hybrid_layers(config), &mixer, &shared, 1);
}

/* ---- loops --------------------------------------------------------------------------------- */

/* All layers so many times over, stored once. */
static void repeat_layers(struct config *config, size_t rounds)
{
    struct architecture *model = &config->model;
    size_t layers = model->layer_count;
    const struct layer *once = model->layers;
    architecture_layers(config->job->arena, model, rounds * layers);
    for (size_t i = 0; i < model->layer_count; i++) {
        model->layers[i] = once[i % layers];
        model->layers[i].value[LAYER_REUSES_WEIGHTS] = i >= layers;
    }
}

/* Ouro: all layers several times over, each time with a cache of its own; a gate may end the loop early. */
void build_ouro(struct config *config, unsigned traits)
{
    build_decoder(config, traits);
    struct architecture *model = &config->model;
    double rounds = config_size_or(config, "total_ut_steps", 4);
    size_t layers = model->layer_count;
    if (rounds < 1 || rounds * (double)layers > LAYERS_MAX) {
        config_error(config, NULL, "total_ut_steps", "%.0f rounds of %zu layers", rounds, layers);
        return;
    }
    repeat_layers(config, (size_t)rounds);
    model->extra_params += model->hidden + 1;
    architecture_note(config->job->arena, model, "Its %zu layers are used %.0f times for each token.", layers,
                      rounds);
}

/* IQuest Coder with a loop: the layers once more, whose queries see what the first round cached and a short
 * window of their own keys; a gate for each head mixes the two. */
void build_iquest_loop(struct config *config, unsigned traits)
{
    build_decoder(config, traits);
    struct architecture *model = &config->model;
    double rounds = config_count_or(config, "loop_num", 2);
    size_t layers = model->layer_count;
    if (rounds != 2) {
        config_error(config, NULL, "loop_num", "%.0f rounds: how they share a cache is known of 2", rounds);
        return;
    }
    repeat_layers(config, 2);
    for (size_t i = layers; i < model->layer_count; i++) {
        double *v = model->layers[i].value;
        v[LAYER_WINDOW] = config_count_or(config, "loop_window_size", 64);
        v[LAYER_EXTRA_PARAMS] = v[LAYER_HEADS] * (v[LAYER_HEAD_DIM] + 1);
    }
    architecture_note(
        config->job->arena, model,
        "Its %zu layers are used twice; that the second round reads the cache of the first is not "
        "in any time.",
        layers);
}
