/* tower.c: vision towers beside a language model. Each formula was checked against the published total of a
 * model that has the tower; others are named in a note and not counted. */
#include <math.h>
#include <string.h>

#include "import/config.h"

struct tower {
    double width, inner, layers, patch, image, merge, out; /* 0: the file does not say */
    json_t *vision, *root;
};

static double value_of(json_t *object, const char *keys)
{
    json_t *member = config_member(object, keys, NULL);
    double value = json_number_value(json_is_array(member) ? json_array_get(member, 0) : member);
    return value >= 0 && value <= 1e7 ? value : 0;
}

/* The classes' own values where a file says only what differs from them. */
static double value_or(json_t *object, const char *keys, double usual)
{
    return config_member(object, keys, NULL) ? value_of(object, keys) : usual;
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
    double side = floor(tower->image / tower->patch);
    return side * side;
}

/* SigLIP and its last norm. */
static double siglip_alone(const struct tower *tower)
{
    double w = tower->width;
    return 3 * tower->patch * tower->patch * w + w + patches(tower) * w +
           tower->layers * vision_layer(tower) + 2 * w;
}

/* Gemma 3: SigLIP, then a norm and a projection. 420,000,000 less or more. */
static double siglip(const struct tower *tower, double hidden)
{
    return siglip_alone(tower) + tower->width * hidden + tower->width;
}

/* PaliGemma: SigLIP and a biased projection. 2,923,466,480 in the model of 3 billion. */
static double paligemma(const struct tower *tower, double hidden)
{
    return siglip_alone(tower) + tower->width * hidden + hidden;
}

/* Idefics3 and SmolVLM: SigLIP, and one projection of several patches. 2,246,272,880 in SmolVLM. */
static double idefics3(const struct tower *tower, double hidden)
{
    double scale = value_of(tower->root, "scale_factor");
    return siglip_alone(tower) + scale * scale * tower->width * hidden;
}

/* MiniCPM-V: SigLIP, with or without its last layer, and a resampler: 64 queries that attend to what it put
 * out, three norms and one more projection. 8,099,175,152 with the language model in MiniCPM-V 2.6. */
static double minicpmv(const struct tower *tower, double hidden)
{
    double queries = value_of(tower->root, "query_num"), d = hidden;
    double dropped = json_is_true(json_object_get(tower->root, "drop_vision_last_layer")) ? 1 : 0;
    return siglip_alone(tower) - dropped * vision_layer(tower) + (queries > 0 ? queries : 64) * d +
           tower->width * d + 4 * (d * d + d) + 6 * d + d * d;
}

/* ERNIE 4.5 VL: patches without a bias, the last norm, and two steps of two projections and a norm each, over
 * four patches and over two frames of them, before one into the model. 29.4 billion with the language model.
 */
static double ernie(const struct tower *tower, double hidden)
{
    double w = tower->width, four = 4 * w, eight = 2 * four;
    double step = four * four + four + 2 * four;
    return 3 * tower->patch * tower->patch * w + tower->layers * vision_layer(tower) + 2 * w +
           (four * four + four + step) + (eight * four + four + step) + four * hidden + hidden + hidden;
}

/* LLaVA-1.5: CLIP with a class token and two norms, then two biased projections. */
static double clip(const struct tower *tower, double hidden)
{
    double w = tower->width;
    return w + 3 * tower->patch * tower->patch * w + (patches(tower) + 1) * w + 4 * w +
           tower->layers * vision_layer(tower) + w * hidden + hidden + hidden * hidden + hidden;
}

/* LLaVA-NeXT: the same, and a vector for the end of a row. 7,566,747,648 in the model of Mistral 7B. */
static double clip_rows(const struct tower *tower, double hidden)
{
    return clip(tower, hidden) + hidden;
}

/* Phi-3 Vision: CLIP, two vectors that separate views, two biased projections of four patches. 4,146,621,440
 * in Phi-3-vision-128k. */
static double phi3(const struct tower *tower, double hidden)
{
    double merged = 4 * tower->width;
    return clip(tower, hidden) - tower->width * hidden + 2 * merged + merged * hidden;
}

/* Pixtral has RMS norms, a gated feed-forward and no biases. */
static double pixtral_alone(const struct tower *tower)
{
    double w = tower->width;
    return 3 * tower->patch * tower->patch * w + w +
           tower->layers * (4 * w * w + 3 * w * tower->inner + 2 * w);
}

/* Mistral 3: patches are merged four to one. */
static double pixtral(const struct tower *tower, double hidden)
{
    double w = tower->width, merge = tower->merge > 0 ? tower->merge : 2;
    return pixtral_alone(tower) + w + merge * merge * w * w + w * hidden + hidden * hidden;
}

/* Pixtral-12B as a LLaVA: two biased projections. 12,682,739,712 with its language model. */
static double pixtral_llava(const struct tower *tower, double hidden)
{
    return pixtral_alone(tower) + tower->width * hidden + hidden + hidden * hidden + hidden;
}

/* InternVL: a class token, positions, layers with two scales, then a norm and two biased projections of four
 * patches. 304,012,288 in the small tower; 7,944,373,760 in InternVL3-8B. */
static double internvit(const struct tower *tower, double hidden)
{
    double w = tower->width, merged = 4 * w;
    return w + 3 * tower->patch * tower->patch * w + w + (patches(tower) + 1) * w +
           tower->layers * (vision_layer(tower) + 2 * w) + 2 * merged + merged * hidden + hidden +
           hidden * hidden + hidden;
}

/* Llama 3.2 Vision: positions and tiles by aspect ratio, each with a gate; layers without attention biases,
 * the global ones with two gates; one projection. 10,670,220,835 in the model of 11 billion. */
static double mllama(const struct tower *tower, double hidden)
{
    double w = tower->width, positions = patches(tower) + 1, tiles = value_of(tower->vision, "max_num_tiles");
    double global = value_of(tower->vision, "num_global_layers");
    double ratios = (double)json_array_size(json_object_get(tower->vision, "supported_aspect_ratios")) + 1;
    return 3 * tower->patch * tower->patch * w + w + 1 + positions * w + ratios * tiles * positions * w +
           2 * (ratios * tiles * w + 1) + 4 * w + (tower->layers + global) * (vision_layer(tower) - 4 * w) +
           2 * global + tower->out * hidden + hidden;
}

/* Qwen3-VL and Qwen3.5: patches of two frames, learned positions, a merger of four patches, and one more
 * merger for each layer that feeds the language model directly (deepstack). */
static double qwen(const struct tower *tower, double hidden)
{
    double w = tower->width, merge = tower->merge > 0 ? tower->merge : 2, merged = merge * merge * w;
    double out = tower->out > 0 ? tower->out : hidden;
    double frames = value_or(tower->vision, "temporal_patch_size", 2);
    double colours = value_or(tower->vision, "in_channels", 3);
    double merger = merged * merged + merged + merged * out + out;
    double deep = (double)json_array_size(json_object_get(tower->vision, "deepstack_visual_indexes"));
    return colours * frames * tower->patch * tower->patch * w + w +
           value_or(tower->vision, "num_position_embeddings", 2304) * w +
           tower->layers * vision_layer(tower) + 2 * w + merger + deep * (2 * merged + merger);
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
    return value_or(tower->vision, "in_channels|in_chans", 3) *
           value_or(tower->vision, "temporal_patch_size", 2) * tower->patch * tower->patch * tower->width;
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
    {"llava", "pixtral", pixtral_llava, false},
    {"llava_next", "clip_vision_model", clip_rows, true},
    {"phi3_v", NULL, phi3, true},
    {"paligemma", "siglip_vision_model", paligemma, true},
    {"minicpmv", NULL, minicpmv, true},
    {"minicpmo", NULL, minicpmv, true},
    {"ernie4_5_moe_vl", NULL, ernie, false},
    {"ernie4_5_vl_moe", NULL, ernie, false},
    {"idefics3", NULL, idefics3, true},
    {"smolvlm", NULL, idefics3, true},
    {"internvl_chat", "intern_vit_6b", internvit, true},
    {"internvl", "internvl_vision", internvit, true},
    {"mllama", NULL, mllama, true},
    {"kimi_vl", "moonvit", moonvit, false},
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
    return word && other && strcmp(word, other) == 0;
}

static struct tower read_tower(struct config *config, json_t *vision, bool pixels_shuffled)
{
    struct tower tower = {
        .vision = vision,
        .root = config->root,
        .width = value_of(vision, "hidden_size|vt_hidden_size"),
        .inner = value_of(vision, "intermediate_size|vt_intermediate_size"),
        .layers = value_of(vision, "num_hidden_layers|depth|vt_num_hidden_layers"),
        .patch = value_of(vision, "patch_size"),
        .image = value_of(vision, "image_size"),
        .merge = value_of(vision, "spatial_merge_size"),
        .out = value_of(vision, pixels_shuffled ? "projector_output_dim|vision_output_dim"
                                                : "out_hidden_size|text_hidden_size|vision_output_dim"),
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

/* Towers that files leave out in whole or in part, as published or as their classes have them. */
static const struct {
    const char *wrapper, *vision; /* model_type of the file, of its vision_config; NULL: any, none */
    struct tower tower;
    const char *name;
} untold[] = {
    {"llama4",
     NULL,
     {1408, 5632, 34, 14, 336, 0, 4096, NULL, NULL},
     "llama4_vision_model, of the published form, as the file does not describe it"},
    {"phi3_v",
     NULL,
     {1024, 4096, 24, 14, 336, 0, 0, NULL, NULL},
     "clip_vision_model, of the published form, as the file does not describe it"},
    {NULL, "pixtral", {1024, 4096, 24, 16, 1024, 0, 0, NULL, NULL}, "pixtral"},
};

/* The tower of the file, and its name. False when there is none. */
static bool find_tower(struct config *config, const char *wrapper, struct tower *tower, const char **name)
{
    static const char keys[] =
        "hidden_size|vt_hidden_size|intermediate_size|vt_intermediate_size|num_hidden_layers|depth|"
        "vt_num_hidden_layers|patch_size|image_size|spatial_merge_size|projector_output_dim|embed_dim|"
        "vision_output_dim|out_hidden_size|text_hidden_size|max_num_tiles|num_global_layers|in_channels|"
        "temporal_patch_size|num_position_embeddings|init_pos_emb_height|init_pos_emb_width|head_dim|"
        "num_attention_heads|num_key_value_heads|position_embedding_size";
    json_t *vision = config_part(config, "vision_config", keys);
    bool described = json_is_object(vision);
    const char *kind = json_string_value(json_object_get(vision, "model_type"));
    *tower = read_tower(config, vision, is(wrapper, "llama4"));
    *name = kind && *kind ? kind : wrapper ? wrapper : "vision_config";
    for (size_t i = 0; i < sizeof untold / sizeof untold[0]; i++) {
        const struct tower *usual = &untold[i].tower;
        if (described ? !is(kind, untold[i].vision) : !is(wrapper, untold[i].wrapper))
            continue;
        double *values[] = {&tower->width, &tower->inner, &tower->layers,
                            &tower->patch, &tower->image, &tower->out};
        const double usuals[] = {usual->width, usual->inner, usual->layers,
                                 usual->patch, usual->image, usual->out};
        for (size_t k = 0; k < sizeof usuals / sizeof usuals[0]; k++)
            *values[k] = *values[k] > 0 ? *values[k] : usuals[k];
        *name = untold[i].name;
        return true;
    }
    return described;
}

void config_tower(struct config *config)
{
    const char *wrapper = json_string_value(json_object_get(config->root, "model_type")), *name;
    struct architecture *model = &config->model;
    struct arena *arena = config->job->arena;
    struct tower tower;
    if (!find_tower(config, wrapper, &tower, &name)) {
        static const char others[] = "mm_vision_tower|visual|vision_tower|img_processor|vision";
        if (config_member(config->root, others, &name))
            architecture_note(arena, model, "The vision tower (%.*s) is not counted.",
                              (int)strcspn(name, "|"), name);
        return;
    }
    for (size_t i = 0; i < sizeof towers / sizeof towers[0]; i++) {
        const char *kind = json_string_value(json_object_get(tower.vision, "model_type"));
        bool known = is(wrapper, towers[i].wrapper) && (!towers[i].vision || is(kind, towers[i].vision));
        bool sized = tower.width > 0 && tower.inner > 0 && tower.layers > 0 && tower.patch > 0 &&
                     (tower.image > 0 || !towers[i].square);
        if (!known || !sized)
            continue;
        model->tower_params = towers[i].count(&tower, model->hidden);
        architecture_note(arena, model, "Vision tower: %s, %.0f layers of width %.0f.", name, tower.layers,
                          tower.width);
        return;
    }
    architecture_note(arena, model, "The vision tower (%s) is not counted: its formula is not known.", name);
}
