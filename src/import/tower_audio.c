/* tower_audio.c: audio towers beside a language model: Whisper's encoder, with the projection into the model.
 * Others are named in a note and not counted. */
#include <string.h>

#include "import/config.h"

struct audio_tower {
    double width, inner, layers, bands, positions;
};

static double value_of(json_t *object, const char *keys)
{
    double value = json_number_value(config_member(object, keys, NULL));
    return value >= 0 && value <= 1e7 ? value : 0;
}

/* Two convolutions over three frames, learned positions, layers of two norms, four projections (that of keys
 * without a bias) and an ungated feed-forward, and a last norm. 636,968,960 in whisper-large-v3. */
static double whisper(const struct audio_tower *tower)
{
    double w = tower->width, f = tower->inner;
    double layer = 4 * w + 4 * w * w + 3 * w + 2 * w * f + f + w;
    return 3 * w * (tower->bands + w) + 2 * w + tower->positions * w + tower->layers * layer + 2 * w;
}

/* One biased projection. With the language model 8,397,094,912, the Hub's total of Qwen2-Audio-7B. */
static double qwen2_audio(const struct audio_tower *tower, double hidden)
{
    return whisper(tower) + tower->width * hidden + hidden;
}

/* Four frames side by side (the feed-forward's width of them), two projections without biases. 4.68 billion
 * in all, as the Hub shows Voxtral-Mini-3B. */
static double voxtral(const struct audio_tower *tower, double hidden)
{
    return whisper(tower) + tower->inner * hidden + hidden * hidden;
}

static const struct {
    const char *wrapper, *audio; /* model_type of the file and of its audio_config */
    double (*count)(const struct audio_tower *tower, double hidden);
} towers[] = {
    {"qwen2_audio", "qwen2_audio_encoder", qwen2_audio},
    {"voxtral", "voxtral_encoder", voxtral},
};

/* What the file does not say is as in whisper-large-v3, which is the default of both classes. */
static struct audio_tower read_tower(json_t *audio)
{
    static const struct {
        const char *keys;
        double usual;
    } members[] = {{"d_model|hidden_size", 1280},
                   {"encoder_ffn_dim|intermediate_size", 5120},
                   {"encoder_layers|num_hidden_layers", 32},
                   {"num_mel_bins", 128},
                   {"max_source_positions", 1500}};
    double values[sizeof members / sizeof members[0]];
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        values[i] = value_of(audio, members[i].keys);
        values[i] = values[i] > 0 ? values[i] : members[i].usual;
    }
    return (struct audio_tower){values[0], values[1], values[2], values[3], values[4]};
}

static bool is(const char *word, const char *other)
{
    return word && strcmp(word, other) == 0;
}

void config_audio_tower(struct config *config)
{
    const char *wrapper = json_string_value(json_object_get(config->root, "model_type"));
    json_t *audio = config_part(config, "audio_config",
                                "d_model|hidden_size|encoder_ffn_dim|intermediate_size|encoder_layers|"
                                "num_hidden_layers|num_mel_bins|max_source_positions");
    const char *kind = json_string_value(json_object_get(audio, "model_type"));
    struct architecture *model = &config->model;
    struct arena *arena = config->job->arena;
    if (!json_is_object(audio))
        return;
    for (size_t i = 0; i < sizeof towers / sizeof towers[0]; i++) {
        if (!is(wrapper, towers[i].wrapper) || !is(kind, towers[i].audio))
            continue;
        struct audio_tower tower = read_tower(audio);
        model->tower_params += towers[i].count(&tower, model->hidden);
        architecture_note(arena, model, "Audio tower: %s, %.0f layers of width %.0f.", kind, tower.layers,
                          tower.width);
        return;
    }
    architecture_note(arena, model, "The audio tower (%s) is not counted: its formula is not known.",
                      kind && *kind ? kind : "audio_config");
}
