/* quantization.c: how the weights of a configuration are stored: finding quantization_config, or
 * hf_quant_config.json beside it, what its forms share, and the method that reads it. What it says is applied
 * to each matrix, and each tensor class gets the format of its matrices, or their exact mixture. */
#include "import/quantization.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "import/storage.h"

/* ---- complaints ---------------------------------------------------------------------------- */

struct diag *quantization_error(struct quantization *quantization, const char *key, const char *format, ...)
{
    const char *keys[5] = {0};
    size_t count = 0;
    while (count < 3 && quantization->place[count]) {
        keys[count] = quantization->place[count];
        count++;
    }
    keys[count] = key;
    va_list arguments;
    va_start(arguments, format);
    const char *text = arena_vprintf(quantization->config->job->arena, format, arguments);
    va_end(arguments);
    return job_error_at(quantization->config->job, DIAG_E0407, json_place(quantization->json, keys), "%s",
                        text);
}

/* The member if it is of a `known` kind; else NULL, after an error where there is one. */
static json_t *only_known(struct quantization *quantization, json_t *member, const char *keys, bool known,
                          const char *kind)
{
    if (!member || known)
        return member;
    const char *key = arena_strndup(quantization->config->job->arena, keys, strcspn(keys, "|"));
    quantization_error(quantization, key, "`%s` is not %s", key, kind);
    return NULL;
}

const char *quantization_word(struct quantization *quantization, json_t *object, const char *keys)
{
    json_t *member = config_member(object, keys, &keys);
    member = only_known(quantization, member, keys, json_is_string(member), "a string");
    return member ? json_string_value(member) : "";
}

bool quantization_flag(struct quantization *quantization, json_t *object, const char *keys, bool usual)
{
    json_t *member = config_member(object, keys, &keys);
    member = only_known(quantization, member, keys, json_is_boolean(member), "true or false");
    return member ? json_is_true(member) : usual;
}

json_t *quantization_members(struct quantization *quantization, json_t *object, const char *key)
{
    json_t *member = config_member(object, key, NULL);
    return only_known(quantization, member, key, json_is_object(member), "an object");
}

json_t *quantization_list(struct quantization *quantization, json_t *object, const char *key)
{
    json_t *member = config_member(object, key, NULL);
    return only_known(quantization, member, key, json_is_array(member), "a list");
}

bool quantization_same(const char *word, const char *other)
{
    size_t i = 0;
    for (; word[i] && other[i]; i++) {
        char lower = word[i] >= 'a' && word[i] <= 'z' ? (char)(word[i] - 'a' + 'A') : word[i];
        if (lower != other[i])
            return false;
    }
    return word[i] == other[i];
}

double quantization_number(struct quantization *quantization, json_t *object, const char *keys)
{
    json_t *member = config_member(object, keys, &keys);
    return json_number_value(only_known(quantization, member, keys, json_is_number(member), "a number"));
}

/* ---- lists of modules ---------------------------------------------------------------------- */

bool quantization_of_text(const char *name)
{
    static const char *const others[] = {"mtp",         "visual",       "vision", "audio",    "mm_projector",
                                         "multi_modal", "embed_vision", "talker", "code2wav", "token2wav"};
    if (strncmp(name, "model.layers", 12) == 0 || strncmp(name, "model\\.layers", 13) == 0)
        return true;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strstr(name, others[i]))
            return false;
    return true;
}

bool quantization_add(struct quantization *quantization, struct patterns *patterns, const char *key,
                      json_t *list, const void *value)
{
    size_t i;
    json_t *entry;
    if (list && !json_is_array(list) && !json_is_null(list)) {
        quantization_error(quantization, key, "`%s` is not a list", key);
        return false;
    }
    json_array_foreach(list, i, entry)
    {
        const char *text = json_string_value(entry);
        if (!text) {
            quantization_error(quantization, key, "entry %zu of `%s` is not a string", i, key);
            return false;
        }
        if (!quantization_of_text(text))
            continue;
        if (!patterns_add(patterns, text, value)) {
            quantization_error(
                quantization, key,
                "entry %zu of `%s`, `%.60s`, is a pattern perfc does not understand, or one too many", i, key,
                text);
            return false;
        }
    }
    return true;
}

/* ---- methods ------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*read)(struct quantization *quantization);
} methods[] = {
    {"FP8", quantization_read_fp8},
    {"FBGEMM_FP8", quantization_read_fp8},
    {"W8A8_FP8", quantization_read_fp8},
    {"PTPC_FP8", quantization_read_fp8},
    {"W8A8_INT8", quantization_read_w8a8},
    {"MXFP8", quantization_read_mxfp8},
    {"MXFP4", quantization_read_mxfp4},
    {"GPTQ", quantization_read_gptq},
    {"GPTQ_MARLIN", quantization_read_gptq},
    {"MARLIN", quantization_read_marlin},
    {"AUTO-ROUND", quantization_read_auto_round},
    {"INTEL/AUTO-ROUND", quantization_read_auto_round},
    {"AWQ", quantization_read_awq},
    {"AWQ_MARLIN", quantization_read_awq},
    {"EETQ", quantization_read_eetq},
    {"BITSANDBYTES", quantization_read_bitsandbytes},
    {"HQQ", quantization_read_hqq},
    {"BITNET", quantization_read_bitnet},
    {"COMPRESSED-TENSORS", quantization_read_compressed},
    {"COMPRESSED_TENSORS", quantization_read_compressed},
    {"MODELOPT", quantization_read_modelopt},
    {"MODELOPT_FP4", quantization_read_modelopt},
    {"MODELOPT_MIXED", quantization_read_modelopt},
    {"QUARK", quantization_read_quark},
    {"TORCHAO", quantization_read_torchao},
    {"EXL2", quantization_read_by_headers},
    {"EXL3", quantization_read_by_headers},
    {"AQLM", quantization_read_by_headers},
    {"VPTQ", quantization_read_by_headers},
    {"QUIP", quantization_read_by_headers},
    {"SPQR", quantization_read_by_headers},
    {"HIGGS", quantization_read_by_headers},
    {"FP_QUANT", quantization_read_by_headers},
};

static void read_method(struct quantization *quantization)
{
    static const char *const lists[] = {"modules_to_not_convert", "ignore",       "exclude_modules",
                                        "llm_int8_skip_modules",  "skip_modules", "exclude",
                                        "ignored_layers"};
    json_t *object = quantization->object;
    const char *method = quantization_word(quantization, object, "quant_method");
    void (*read)(struct quantization *) = NULL;
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        if (quantization_same(method, methods[i].name))
            read = methods[i].read;
    if (!*method && (json_object_get(object, "quant_algo") || json_object_get(object, "quantized_layers")))
        read = quantization_read_modelopt; /* early exports leave the method out */
    if (quantization_is_mlx(object))
        read = quantization_read_mlx;
    if (!read) {
        quantization_error(quantization, "quant_method",
                           *method ? "`quant_method` is `%.40s`, a storage perfc does not know"
                                   : "no `quant_method` says how the weights are stored%.0s",
                           method);
        return;
    }
    read(quantization);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        quantization_add(quantization, quantization->kept, lists[i], json_object_get(object, lists[i]),
                         object);
}

static const struct storage *cache_storage(struct quantization *quantization)
{
    json_t *scheme = json_object_get(quantization->object, "kv_cache_scheme");
    const char *key = "kv_cache_scheme", *word = json_string_value(scheme);
    if (!scheme || json_is_null(scheme)) {
        key = "kv_cache_quant_algo";
        word = quantization_word(quantization, quantization->object, key);
        word = *word ? word : NULL;
    }
    double bits = quantization_number(quantization, scheme, "num_bits");
    bool floating = strcmp(quantization_word(quantization, scheme, "type"), "float") == 0;
    bool strange = scheme && !json_is_object(scheme) && !json_is_null(scheme);
    word = word || !strange ? word : "?";
    if (json_is_object(scheme))
        word = bits == 8 ? floating ? "FP8" : "INT8" : bits == 4 && floating ? "NVFP4" : "?";
    if (!word || quantization_same(word, "NONE"))
        return NULL;
    if (quantization_same(word, "FP8") || quantization_same(word, "INT8") || quantization_same(word, "NVFP4"))
        return storage_standard(quantization_same(word, "FP8")    ? "fp8"
                                : quantization_same(word, "INT8") ? "int8"
                                                                  : "nvfp4");
    quantization_error(quantization, key, "`%s` is a cache format perfc does not know", key);
    return NULL;
}

/* ---- finding it ---------------------------------------------------------------------------- */

static const struct storage *stated_type(struct config *config)
{
    static const struct {
        const char *word, *format;
    } types[] = {{"bfloat16", "bf16"},     {"float16", "fp16"}, {"float32", "fp32"}, {"float", "fp32"},
                 {"half", "fp16"},         {"bf16", "bf16"},    {"fp16", "fp16"},    {"fp32", "fp32"},
                 {"float8_e4m3fn", "fp8"}, {"auto", "bf16"}};
    bool inner = config_member(config->text, "dtype|torch_dtype", NULL) != NULL;
    const char *word = config_word_in(config, inner ? config->text : config->root, NULL, "dtype|torch_dtype");
    if (!word)
        return storage_standard("bf16");
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(word + (strncmp(word, "torch.", 6) == 0 ? 6 : 0), types[i].word) == 0)
            return storage_standard(types[i].format);
    config_error(config, NULL, json_object_get(config->text, "dtype") ? "dtype" : "torch_dtype",
                 "weights of type `%.40s` are not known to perfc", word);
    return storage_standard("bf16");
}

/* The first layer with experts that has some unlike the first; SIZE_MAX when all are alike. */
static size_t unlike_experts(const struct quantization *quantization, const struct patterns *patterns,
                             const void *usual)
{
    const struct architecture *model = &quantization->config->model;
    size_t layer = patterns_unlike_experts(patterns, 0, usual);
    while (layer < model->layer_count && !(model->layers[layer].value[LAYER_EXPERTS] > 0))
        layer = patterns_unlike_experts(patterns, layer + 1, usual);
    return layer;
}

/* The model has one storage for the experts of a layer; the headers of a checkpoint tell their sum. */
static void check_experts(struct quantization *quantization)
{
    struct import_job *job = quantization->config->job;
    size_t kept = unlike_experts(quantization, quantization->kept, NULL);
    size_t chosen = unlike_experts(quantization, quantization->chosen, quantization->usual);
    size_t layer = kept < chosen ? kept : chosen;
    if (layer == SIZE_MAX || job->headers)
        return;
    struct diag *diag = quantization_error(quantization, "quant_method",
                                           "the experts of layer %zu are stored in different ways", layer);
    diag_note(job->diags, diag,
              "import the checkpoint's .safetensors file, or its index beside all of its files");
}

static void read_object(struct quantization *quantization)
{
    struct config *config = quantization->config;
    json_t *inner = json_object_get(quantization->object, "quantization");
    if (json_is_object(inner)) { /* the form of hf_quant_config.json, inside */
        size_t depth = 0;
        while (depth < 2 && quantization->place[depth])
            depth++;
        quantization->place[depth] = "quantization";
        quantization->object = inner;
    }
    quantization->kept = patterns_new(config->job->arena, config->model.layer_count);
    quantization->chosen = patterns_new(config->job->arena, config->model.layer_count);
    read_method(quantization);
    const struct storage *cache = cache_storage(quantization);
    config->model.cache = cache ? cache : config->model.cache; /* which some methods know themselves */
    if (!config->job->failed)
        check_experts(quantization);
    if (!config->job->failed)
        quantization_apply(quantization);
    patterns_free(quantization->kept);
    patterns_free(quantization->chosen);
}

/* The second file of modelopt's exports. Its absence is no error. */
static void read_beside(struct config *config)
{
    struct import_job *job = config->job;
    struct buffer text = buffer_in(job->arena);
    const char *path = job_beside(job, job->path, "hf_quant_config.json");
    struct json_file json;
    if (job->alone || job_read(job, path, SOURCE_MAX_BYTES, &text) != NULL)
        return;
    job_was_read(job, path);
    if (!json_file_read(job, path, buffer_string(&text), text.length, CONFIG_VALUES_MAX, &json))
        return;
    struct quantization quantization = {.config = config,
                                        .json = &json,
                                        .place = {"quantization"},
                                        .object = json_object_get(json.root, "quantization")};
    if (json_is_object(quantization.object))
        read_object(&quantization);
    json_decref(json.root);
}

void config_quantization(struct config *config)
{
    config->model.weights = stated_type(config);
    json_t *own = config_member(config->text, "quantization_config", NULL);
    json_t *object = config_either(config, "quantization_config");
    struct quantization quantization = {.config = config, .json = config->json, .object = object};
    const char *key = "quantization_config";
    if (!object) { /* as mlx-lm wrote it first */
        key = "quantization";
        own = config_member(config->text, key, NULL);
        quantization.object = object = config_either(config, key);
    }
    double bits;
    if (!object && config_count(config, "quantization_bit", &bits) && bits > 0) {
        config_error(config, NULL, "quantization_bit",
                     "`quantization_bit`: what ChatGLM's own quantisation takes is not known to perfc");
        return;
    }
    if (!object) {
        read_beside(config);
        return;
    }
    bool nested = own && config->text_key;
    quantization.place[0] = nested ? config->text_key : key;
    quantization.place[1] = nested ? key : NULL;
    if (!json_is_object(object)) {
        quantization_error(&quantization, NULL, "`%s` is not an object", key);
        return;
    }
    read_object(&quantization);
}
