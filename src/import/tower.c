/* tower.c: vision towers beside a language model. Each formula was checked against the published total of a
 * model that has the tower; others are named in a note and not counted. */
#include <string.h>

#include "import/config.h"

struct tower {
    double width, inner, layers, patch, image, merge, out; /* 0: the file does not say */
    json_t *vision;
};

static double value_of(json_t *object, const char *keys)
{
    double value = json_number_value(config_member(object, keys, NULL));
    return value >= 0 && value <= 1e7 ? value : 0;
}

/* A layer of a vision transformer: two layer norms, four projections and an ungated feed-forward, all biased.
 */
static double vision_layer(const struct tower *tower)
{
    double w = tower->width, f = tower->inner;
    return 4 * w + 4 * (w * w + w) + 2 * w * f + f + w;
}

static double patches(const struct tower *tower)
{
    double side = tower->image / tower->patch;
    return side * side;
}

/* Gemma 3: SigLIP, its last norm, then a norm and a projection. 420,000,000 less or more. */
static double siglip(const struct tower *tower, double hidden)
{
    double w = tower->width;
    return 3 * tower->patch * tower->patch * w + w + patches(tower) * w +
           tower->layers * vision_layer(tower) + 2 * w + w * hidden + w;
}

/* LLaVA-1.5: CLIP with a class token and two norms, then two biased projections. */
static double clip(const struct tower *tower, double hidden)
{
    double w = tower->width;
    return w + 3 * tower->patch * tower->patch * w + (patches(tower) + 1) * w + 4 * w +
           tower->layers * vision_layer(tower) + w * hidden + hidden + hidden * hidden + hidden;
}

/* Mistral 3: Pixtral has RMS norms, a gated feed-forward and no biases; patches are merged four to one. */
static double pixtral(const struct tower *tower, double hidden)
{
    double w = tower->width, merge = tower->merge > 0 ? tower->merge : 2;
    return 3 * tower->patch * tower->patch * w + w +
           tower->layers * (4 * w * w + 3 * w * tower->inner + 2 * w) + w + merge * merge * w * w +
           w * hidden + hidden * hidden;
}

/* Qwen3-VL and Qwen3.5: patches of two frames, learned positions, a merger of four patches, and one more
 * merger for each layer that feeds the language model directly (deepstack). */
static double qwen(const struct tower *tower, double hidden)
{
    double w = tower->width, merge = tower->merge > 0 ? tower->merge : 2, merged = merge * merge * w;
    double out = tower->out > 0 ? tower->out : hidden;
    double frames = value_of(tower->vision, "temporal_patch_size"),
           colours = value_of(tower->vision, "in_channels");
    double merger = merged * merged + merged + merged * out + out;
    double deep = (double)json_array_size(json_object_get(tower->vision, "deepstack_visual_indexes"));
    return colours * frames * tower->patch * tower->patch * w + w +
           value_of(tower->vision, "num_position_embeddings") * w + tower->layers * vision_layer(tower) +
           2 * w + merger + deep * (2 * merged + merger);
}

/* The merger of Qwen2-VL and Qwen2.5-VL: four patches into one, and into the model. */
static double qwen2_merger(const struct tower *tower, double out)
{
    double merge = tower->merge > 0 ? tower->merge : 2, merged = merge * merge * tower->width;
    return merged * merged + merged + merged * out + out;
}

/* Their patches of two frames. */
static double qwen2_patches(const struct tower *tower)
{
    return value_of(tower->vision, "in_channels|in_chans") * value_of(tower->vision, "temporal_patch_size") *
           tower->patch * tower->patch * tower->width;
}

/* Qwen2-VL: layers of four widths. 675,759,104 in the model of 7 billion. */
static double qwen2(const struct tower *tower, double hidden)
{
    return qwen2_patches(tower) + tower->layers * vision_layer(tower) + 2 * tower->width +
           qwen2_merger(tower, hidden);
}

/* Qwen2.5-VL: RMS norms and gated feed-forwards. 676,550,144 in the model of 7 billion. */
static double qwen2_5(const struct tower *tower, double hidden)
{
    double w = tower->width, f = tower->inner;
    double layer = 2 * w + 4 * (w * w + w) + 2 * (w * f + f) + f * w + w;
    return qwen2_patches(tower) + tower->layers * layer + w +
           qwen2_merger(tower, tower->out > 0 ? tower->out : hidden);
}

/* Llama 4: class token, positions, two norms, pixel shuffle with two projections, one more into the model.
 * The published files leave vision_config out, and both models have the tower of the class's published form.
 */
static double llama4(const struct tower *tower, double hidden)
{
    double w = tower->width, out = tower->out;
    return 3 * tower->patch * tower->patch * w + w + (patches(tower) + 1) * w + 4 * w +
           tower->layers * vision_layer(tower) + tower->inner * out + out * out + out * hidden;
}

/* Kimi-K2.5: MoonViT with learned positions, its last norm, then a norm, a merger of four patches and a
 * projection. Published: 400 million in the tower itself. */
static double moonvit(const struct tower *tower, double hidden)
{
    double w = tower->width, out = tower->out > 0 ? tower->out : hidden;
    json_t *merge = json_object_get(tower->vision, "merge_kernel_size");
    double merged =
        w * json_number_value(json_array_get(merge, 0)) * json_number_value(json_array_get(merge, 1));
    double positions =
        value_of(tower->vision, "init_pos_emb_height") * value_of(tower->vision, "init_pos_emb_width");
    return 3 * tower->patch * tower->patch * w + w + positions * w + tower->layers * vision_layer(tower) +
           2 * w + 2 * w + merged * merged + merged + merged * out + out;
}

/* Gemma 4: patches and two tables of positions, layers with four RMS norms, norms of queries and keys and a
 * gated feed-forward, all without biases, a mean and a scale, one projection. Published: some 550 million. */
static double gemma4(const struct tower *tower, double hidden)
{
    double w = tower->width, head = value_of(tower->vision, "head_dim");
    double heads = value_of(tower->vision, "num_attention_heads") * head;
    double keys = value_of(tower->vision, "num_key_value_heads") * head;
    double layer = 2 * w * heads + 2 * w * keys + 2 * head + 3 * w * tower->inner + 4 * w;
    double clips = json_is_true(json_object_get(tower->vision, "use_clipped_linears")) ? 7 * 4 : 0;
    return 3 * tower->patch * tower->patch * w + 2 * value_of(tower->vision, "position_embedding_size") * w +
           tower->layers * (layer + clips) +
           (json_is_true(json_object_get(tower->vision, "standardize")) ? 2 * w : 0) + w * hidden;
}

static const struct {
    const char *wrapper, *vision; /* model_type of the file and of its vision_config; NULL: any */
    double (*count)(const struct tower *tower, double hidden);
    bool square; /* the size of the image decides how many positions there are */
} towers[] = {
    {"gemma3", "siglip_vision_model", siglip, true},
    {"llava", "clip_vision_model", clip, true},
    {"mistral3", "pixtral", pixtral, false},
    {"qwen2_vl", NULL, qwen2, false},
    {"qwen2_5_vl", NULL, qwen2_5, false},
    {"qwen3_vl", NULL, qwen, false},
    {"qwen3_vl_moe", NULL, qwen, false},
    {"qwen3_5", NULL, qwen, false},
    {"qwen3_5_moe", NULL, qwen, false},
    {"llama4", NULL, llama4, true},
    {"kimi_k25", NULL, moonvit, false},
    {"gemma4", "gemma4_vision", gemma4, false},
};

static bool is(const char *word, const char *other)
{
    return word && strcmp(word, other) == 0;
}

static struct tower read_tower(struct config *config, json_t *vision, bool pixels_shuffled)
{
    struct tower tower = {
        .vision = vision,
        .width = value_of(vision, "hidden_size|vt_hidden_size"),
        .inner = value_of(vision, "intermediate_size|vt_intermediate_size"),
        .layers = value_of(vision, "num_hidden_layers|depth|vt_num_hidden_layers"),
        .patch = value_of(vision, "patch_size"),
        .image = value_of(vision, "image_size"),
        .merge = value_of(vision, "spatial_merge_size"),
        .out = value_of(vision, pixels_shuffled ? "projector_output_dim|vision_output_dim"
                                                : "out_hidden_size|text_hidden_size"),
    };
    double wide = value_of(vision, "embed_dim"); /* Qwen2-VL, whose hidden_size is the language model's */
    if (wide > 0) {
        tower.width = wide;
        tower.inner = wide * value_of(vision, "mlp_ratio");
    }
    if (tower.merge == 0)
        tower.merge = value_of(config->root, "spatial_merge_size");
    return tower;
}

void config_tower(struct config *config)
{
    const char *wrapper = json_string_value(json_object_get(config->root, "model_type"));
    json_t *vision = json_object_get(config->root, "vision_config");
    struct architecture *model = &config->model;
    struct arena *arena = config->job->arena;
    if (json_is_object(json_object_get(config->root, "audio_config")))
        architecture_note(arena, model, "The audio tower is not counted.");
    if (!json_is_object(vision) && !is(wrapper, "llama4"))
        return;
    const char *kind = json_string_value(json_object_get(vision, "model_type"));
    struct tower tower = read_tower(config, vision, is(wrapper, "llama4"));
    if (!vision) {
        tower = (struct tower){
            .width = 1408, .inner = 5632, .layers = 34, .patch = 14, .image = 336, .out = 4096};
        kind = "llama4_vision_model, of the published form, as the file does not describe it";
    }
    for (size_t i = 0; i < sizeof towers / sizeof towers[0]; i++) {
        bool known = is(wrapper, towers[i].wrapper) && (!towers[i].vision || is(kind, towers[i].vision));
        bool sized = tower.width > 0 && tower.inner > 0 && tower.layers > 0 && tower.patch > 0 &&
                     (tower.image > 0 || !towers[i].square);
        if (!known || !sized)
            continue;
        model->tower_params = towers[i].count(&tower, model->hidden);
        architecture_note(arena, model, "Vision tower: %s, %.0f layers of width %.0f.", kind ? kind : wrapper,
                          tower.layers, tower.width);
        return;
    }
    architecture_note(arena, model, "The vision tower (%s) is not counted: its formula is not known.",
                      kind && *kind ? kind
                      : wrapper     ? wrapper
                                    : "vision_config");
}
