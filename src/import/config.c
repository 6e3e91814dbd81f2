/* config.c: from a config.json to an architecture: finding the language part and its family, and composing
 * it. */
#include "import/config.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "source/suggest.h"

/* Where wrappers keep the language model, beside towers: Hugging Face's own classes, InternVL, DeepSeek-VL2.
 */
static const char *const text_keys[] = {"text_config", "llm_config", "language_config"};

/* Wrappers of a language model. Their own model_type says nothing about the
 * language part when that has one. */
static const struct {
    const char *wrapper, *text;
} wrappers[] = {
    {"llama4", "llama4_text"},
    {"gemma3", "gemma3_text"},
    {"gemma4", "gemma4_text"},
    {"mistral3", "mistral"},
    {"qwen3_vl", "qwen3_vl_text"},
    {"qwen3_vl_moe", "qwen3_vl_moe_text"},
    {"qwen3_5", "qwen3_5_text"},
    {"qwen3_5_moe", "qwen3_5_moe_text"},
    {"llava", "llama"},
    {"qwen2_vl", "qwen2_vl"},
    {"qwen2_5_vl", "qwen2_5_vl"},
    {"deepseek_vl_v2", "deepseek_v2"},
    {"glm4v", "glm4v_text"},
    {"glm46v", "glm4v_text"},
    {"glm4v_moe", "glm4v_moe_text"},
    {"llava_onevision", "qwen2"},
    {"internvl", "qwen2"},
    {"qwen2_5_omni_thinker", "qwen2_5_omni_text"},
    {"qwen3_omni_moe_thinker", "qwen3_omni_moe_text"},
    {"mllama", "mllama_text_model"},
    {"llava_next", "llama"},
    {"idefics2", "mistral"},
    {"idefics3", "llama"},
    {"smolvlm", "llama"},
    {"paligemma", "gemma"},
    {"gemma3n", "gemma3n_text"},
    {"exaone4_5", "exaone4_5_text"},
    {"aya_vision", "cohere2"},
    {"step3_vl", "step3_text"},
    {"fuyu", "persimmon"},
    {"aria", "aria_text"},
    {"cohere2_vision", "cohere2"},
    {"lfm2_vl", "lfm2"},
    {"lfm2-vl", "lfm2"},
    {"emu3", "emu3_text_model"},
    {"granite_speech", "granite"},
    {"llava_next_video", "llama"},
    {"video_llava", "llama"},
    {"vipllava", "llama"},
    {"perception_lm", "llama"},
    {"janus", "llama"},
    {"deepseek_vl", "llama"},
    {"got_ocr2", "qwen2"},
    {"minimax_vl_01", "minimax_text_01"},
    {"ernie4_5_vl_moe", "ernie4_5_vl_moe_text"},
    {"step3p7", "step3p5"},
};

static const char *text_family(const char *wrapper)
{
    for (size_t i = 0; wrapper && i < sizeof wrappers / sizeof wrappers[0]; i++)
        if (strcmp(wrappers[i].wrapper, wrapper) == 0)
            return wrappers[i].text;
    return NULL;
}

/* Flat files of models whose language part is another family by version. */
static const struct {
    const char *wrapper, *version, *text;
} versions[] = {
    {"minicpmv", "2.0", "minicpm"}, {"minicpmv", "2.5", "llama"}, {"minicpmv", "2.6", "qwen2"},
    {"minicpmv", "4.0", "llama"},   {"minicpmv", "4.5", "qwen3"}, {"minicpmo", "2.6", "qwen2"},
    {"minicpmo", "4.5", "qwen3"},
};

static const char *family_of_version(struct config *config, const char *wrapper)
{
    json_t *member = json_object_get(config->root, "version");
    const char *word = json_string_value(member);
    char digits[32] = "";
    if (json_is_number(member))
        snprintf(digits, sizeof digits, "%.1f", json_number_value(member));
    for (size_t i = 0; wrapper && i < sizeof versions / sizeof versions[0]; i++)
        if (strcmp(versions[i].wrapper, wrapper) == 0 &&
            strcmp(versions[i].version, word ? word : digits) == 0)
            return versions[i].text;
    return wrapper;
}

/* The language part, and the name of its family. */
static void find_text(struct config *config)
{
    const char *key;
    json_t *nested = NULL, *thinker = json_object_get(config->root, "thinker_config");
    if (json_is_object(thinker)) { /* Qwen's Omni: a model that thinks, beside others that speak */
        config->root = thinker;
        config->outer_key = "thinker_config";
        architecture_note(config->job->arena, &config->model, "The parts that speak are not counted.");
    }
    config->text = config->root;
    const char *outer = config_word(config, "model_type");
    config->family_name = family_of_version(config, outer);
    for (size_t i = 0; !nested && i < sizeof text_keys / sizeof text_keys[0]; i++) {
        nested = config_object(config, text_keys[i], &key);
    }
    if (!nested)
        return;
    config->text_key = key;
    config->text = nested;
    const char *inner = config_word(config, "model_type");
    config->family_name = inner && *inner ? inner : text_family(outer);
}

static void unknown_family(struct config *config)
{
    struct import_job *job = config->job;
    const char *keys[4] = {0};
    size_t count = 0;
    if (config->outer_key)
        keys[count++] = config->outer_key;
    if (config->text_key)
        keys[count++] = config->text_key;
    keys[count] = "model_type";
    struct span place = json_place(config->json, keys);
    struct diag *diag;
    if (config->family_name)
        diag = job_error_at(job, DIAG_E0406, place,
                            "`model_type` is `%s`, an architecture perfc does not know", config->family_name);
    else
        diag = job_error_at(job, DIAG_E0406, place, "no `model_type` says which architecture this is");
    const char *near = config->family_name ? family_suggest(config->family_name) : NULL;
    if (near)
        diag_note(job->diags, diag, "it knows `%s`", near);
    if (json_is_true(json_object_get(config->root, "is_encoder_decoder")) ||
        json_is_object(json_object_get(config->root, "encoder")))
        diag_note(job->diags, diag, "it has an encoder and a decoder: a `model` is a decoder alone");
    else
        diag_note(job->diags, diag,
                  "`perfc import --assume-dense` reads it as a plain decoder; or write the `model` by hand");
}

static void report_missing(struct config *config)
{
    if (config->missing.count == 0)
        return;
    struct buffer names = buffer_in(config->job->arena);
    for (size_t i = 0; i < config->missing.count; i++)
        buffer_printf(&names, "%s`%s`",
                      i == 0                           ? ""
                      : i + 1 == config->missing.count ? " and "
                                                       : ", ",
                      config->missing.items[i]);
    const char *where =
        config->text_key ? arena_printf(config->job->arena, "`%s`", config->text_key) : "the configuration";
    config_error(config, NULL, config->text_key ? NULL : "model_type", "%s lacks %s, which family `%s` needs",
                 where, buffer_string(&names), config->family->name);
}

bool config_architecture(struct import_job *job, const struct json_file *json, struct architecture *model)
{
    struct config config = {.job = job, .json = json, .root = json->root};
    find_text(&config);
    config.family = config.family_name ? family_find(config.family_name) : NULL;
    if (!config.family && job->options.assume_dense)
        config.family = family_find("llama");
    if (!config.family) {
        unknown_family(&config);
        return false;
    }
    bool assumed = !config.family_name || strcmp(config.family->name, config.family_name) != 0;
    config.model.confidence = "datasheet";
    if (assumed) {
        architecture_note(job->arena, &config.model,
                          "The architecture %s is not known; a plain decoder is assumed.",
                          config.family_name ? config.family_name : "");
        config.model.confidence = "derived";
    }
    config.family->build(&config, config.family->traits);
    report_missing(&config);
    if (job->failed)
        return false;
    config_quantization(&config);
    config_tower(&config);
    config_audio_tower(&config);
    const char *stated = json_string_value(json_object_get(config.root, "_name_or_path"));
    config.model.title = job_model_title(job, stated);
    config.model.name = job_model_name(job, config.model.title);
    config.model.source =
        arena_printf(job->arena, "imported from %s, model_type %s", job_base_name(job->path),
                     config.family_name ? config.family_name : "not stated");
    *model = config.model;
    return !job->failed;
}
