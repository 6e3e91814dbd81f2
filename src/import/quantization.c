/* quantization.c: how the weights of a configuration are stored: quantization_config in its many forms, or
 * hf_quant_config.json beside it. What it says is applied to each matrix, and each tensor class gets the
 * format of its matrices, or their exact mixture. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/number.h"
#include "import/config.h"
#include "import/pattern.h"
#include "import/quantization.h"
#include "import/storage.h"

/* ---- complaints ---------------------------------------------------------------------------- */

static struct diag *complain(struct quantization *quantization, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static struct diag *complain(struct quantization *quantization, const char *key, const char *format, ...)
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

static const char *word_of(json_t *object, const char *key)
{
    const char *word = json_string_value(json_object_get(object, key));
    return word ? word : "";
}

static bool same_word(const char *word, const char *other)
{
    size_t i = 0;
    for (; word[i] && other[i]; i++) {
        char lower = word[i] >= 'a' && word[i] <= 'z' ? (char)(word[i] - 'a' + 'A') : word[i];
        if (lower != other[i])
            return false;
    }
    return word[i] == other[i];
}

static double number_of(json_t *object, const char *keys)
{
    return json_number_value(config_member(object, keys, NULL));
}

/* ---- formats ------------------------------------------------------------------------------- */

static const struct storage *declare(struct quantization *quantization, const char *name, double bits,
                                     const char *bits_text, const char *compute, bool weight_only,
                                     const char *title)
{
    struct storage storage = {.name = name,
                              .bits = bits,
                              .bits_text = bits_text,
                              .compute = compute,
                              .weight_only = weight_only,
                              .title = title};
    return storage_declare(quantization->config->job->arena, &quantization->config->model, storage);
}

/* Integers of `bits` in groups that share a 16-bit scale and, when `zero` says so, a zero point of `bits`. */
static const struct storage *grouped_integers(struct quantization *quantization, const char *prefix,
                                              double bits, double group, bool zero)
{
    struct arena *arena = quantization->config->job->arena;
    const char *name = group > 0 ? arena_printf(arena, "%sint%.0f-g%.0f", prefix, bits, group)
                                 : arena_printf(arena, "%sint%.0f-channel", prefix, bits);
    if (zero && !*prefix)
        name = arena_printf(arena, "%s-zero", name);
    const struct storage *known = storage_standard(name);
    if (known)
        return known;
    double shared = 16 + (zero ? bits : 0);
    return declare(quantization, name, group > 0 ? bits + shared / group : bits,
                   group > 0 ? arena_printf(arena, "%.0f + %.0f / %.0f", bits, shared, group)
                             : arena_printf(arena, "%.0f", bits),
                   "fp16", true,
                   group > 0 ? arena_printf(arena, "%.0f-bit integers, groups of %.0f", bits, group)
                             : arena_printf(arena, "%.0f-bit integers, one scale per channel", bits));
}

static const struct storage *fp8_block(struct quantization *quantization, json_t *size)
{
    double rows = json_number_value(json_array_get(size, 0)),
           columns = json_number_value(json_array_get(size, 1));
    const char *word = json_string_value(size); /* "128x128" in some files */
    if (word && strcmp(word, "128x128") == 0)
        return storage_standard("fp8-block");
    if (!size || json_is_null(size))
        return storage_standard("fp8");
    if (json_array_size(size) != 2 || !(rows >= 1 && rows <= 65536 && columns >= 1 && columns <= 65536)) {
        complain(quantization, "weight_block_size", "`weight_block_size` is not two sizes");
        return storage_standard("fp8");
    }
    if (rows == 128 && columns == 128)
        return storage_standard("fp8-block");
    struct arena *arena = quantization->config->job->arena;
    return declare(quantization, arena_printf(arena, "fp8-block-%.0fx%.0f", rows, columns),
                   8 + 32 / (rows * columns), arena_printf(arena, "8 + 32 / (%.0f * %.0f)", rows, columns),
                   "fp8", false,
                   arena_printf(arena, "fp8 with a scale per %.0f x %.0f values", rows, columns));
}

/* The algorithms of NVIDIA's modelopt. */
static const struct storage *by_algorithm(struct quantization *quantization, const char *word, json_t *object)
{
    static const struct {
        const char *word, *format;
    } algorithms[] = {
        {"FP8", "fp8"},
        {"FP8_PER_CHANNEL_PER_TOKEN", "fp8"},
        {"FP8_PB_WO", "fp8-block"},
        {"FP8_PB_REAL", "fp8-block"},
        {"NVFP4", "nvfp4"},
        {"NVFP4_AWQ", "nvfp4"},
        {"MXFP4", "mxfp4"},
        {"MXFP8", "mxfp8"},
        {"INT8_SQ", "int8"},
        {"W8A8_SQ_PER_CHANNEL", "int8"},
    };
    for (size_t i = 0; i < sizeof algorithms / sizeof algorithms[0]; i++)
        if (same_word(word, algorithms[i].word))
            return storage_standard(algorithms[i].format);
    if (same_word(word, "W4A16_NVFP4") || same_word(word, "W4A16_NVFP4_AWQ"))
        return declare(quantization, "nvfp4-weights", 4.5, "4.5", "fp16", true, "NVIDIA fp4, weights only");
    if (same_word(word, "W4A16_AWQ") || same_word(word, "W4A8_AWQ"))
        return grouped_integers(quantization, "", 4, number_of(object, "group_size"), false);
    if (same_word(word, "W8A16"))
        return grouped_integers(quantization, "", 8, 0, false);
    return NULL;
}

/* `weights` of a group of compressed-tensors. */
static const struct storage *by_weights(struct quantization *quantization, json_t *group)
{
    json_t *weights = json_object_get(group, "weights");
    double bits = number_of(weights, "num_bits"), size = number_of(weights, "group_size");
    bool floating = strcmp(word_of(weights, "type"), "float") == 0;
    bool activations = json_is_object(json_object_get(group, "input_activations"));
    json_t *structure = json_object_get(weights, "block_structure");
    bool block = json_is_array(structure) || strcmp(word_of(weights, "strategy"), "block") == 0;
    bool symmetric = !json_is_false(json_object_get(weights, "symmetric"));
    if (floating && bits == 8)
        return block        ? fp8_block(quantization, structure)
               : size == 32 ? storage_standard("mxfp8")
                            : storage_standard("fp8");
    if (floating && bits == 4 && (size == 16 || size == 32)) {
        if (size == 32)
            return storage_standard("mxfp4");
        return activations ? storage_standard("nvfp4")
                           : declare(quantization, "nvfp4-weights", 4.5, "4.5", "fp16", true,
                                     "NVIDIA fp4, weights only");
    }
    if (!floating && bits == 8 && activations)
        return storage_standard("int8");
    if (!floating && bits >= 2 && bits <= 8 && bits == (double)(int)bits)
        return grouped_integers(quantization, "", bits, size > 0 && size <= 65536 ? size : 0, !symmetric);
    return NULL;
}

/* ---- lists of modules ---------------------------------------------------------------------- */

static bool of_language_model(const char *name)
{
    static const char *const others[] = {"mtp",          "visual",      "vision",      "audio",
                                         "mm_projector", "multi_modal", "embed_vision"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strstr(name, others[i]))
            return false;
    return true;
}

static void add_list(struct quantization *quantization, struct patterns *patterns, const char *key,
                     json_t *list, const void *value)
{
    size_t i;
    json_t *entry;
    json_array_foreach(list, i, entry)
    {
        const char *text = json_string_value(entry);
        if (!text || !of_language_model(text))
            continue;
        if (!patterns_add(patterns, text, value)) {
            complain(quantization, key,
                     "entry %zu of `%s`, `%.60s`, is a pattern perfc does not understand, or one too many", i,
                     key, text);
            return;
        }
    }
}

static void read_groups(struct quantization *quantization)
{
    json_t *groups = json_object_get(quantization->object, "config_groups"), *group;
    const char *name;
    json_object_foreach(groups, name, group)
    {
        const struct storage *storage = by_weights(quantization, group);
        json_t *targets = json_object_get(group, "targets"), *target;
        size_t i;
        bool every = !json_is_array(targets);
        if (!storage) {
            complain(quantization, "config_groups",
                     "the weights of `%.40s` are stored in a way perfc does not know", name);
            return;
        }
        json_array_foreach(targets, i, target) every =
            every || strcmp(json_string_value(target) ? json_string_value(target) : "", "Linear") == 0;
        if (every)
            quantization->usual = storage;
        else
            add_list(quantization, quantization->chosen, "config_groups", targets, storage);
    }
}

static void read_named_layers(struct quantization *quantization)
{
    json_t *layers = json_object_get(quantization->object, "quantized_layers"), *layer;
    const char *name;
    json_object_foreach(layers, name, layer)
    {
        const struct storage *storage = by_algorithm(quantization, word_of(layer, "quant_algo"), layer);
        if (!storage) {
            complain(quantization, "quantized_layers",
                     "`%.60s` has `quant_algo` `%.40s`, which perfc does not know", name,
                     word_of(layer, "quant_algo"));
            return;
        }
        if (of_language_model(name))
            patterns_add(quantization->chosen, name, storage);
    }
}

/* ---- methods ------------------------------------------------------------------------------- */

static void read_fp8(struct quantization *quantization)
{
    quantization->usual = fp8_block(quantization, json_object_get(quantization->object, "weight_block_size"));
}

static void read_mxfp4(struct quantization *quantization)
{
    quantization->usual = storage_standard("mxfp4");
    quantization->experts_only = true;
}

/* Bits and group size of `object`, or those of `usual` where it does not say; NULL when they are none. */
static const struct storage *integers_of(struct quantization *quantization, const char *prefix,
                                         json_t *object, json_t *usual)
{
    json_t *bits = config_member(object, "bits|w_bit", NULL), *group;
    group = config_member(object, "group_size|q_group_size", NULL);
    double width = json_number_value(bits ? bits : config_member(usual, "bits|w_bit", NULL));
    double size = json_number_value(group ? group : config_member(usual, "group_size|q_group_size", NULL));
    if (!(width >= 2 && width <= 8 && width == (double)(int)width)) {
        complain(quantization, "bits", "`bits` is not a whole number from 2 to 8");
        return NULL;
    }
    if (!(size >= -1 && size <= 65536 && size == (double)(long)size)) {
        complain(quantization, "group_size", "`group_size` is not a size");
        return NULL;
    }
    return grouped_integers(quantization, prefix, width, size > 0 ? size : 0, true);
}

/* What single modules have in place of the usual: `dynamic` of GPTQModel, whose keys are expressions, with -:
 * before those that are left alone, and `extra_config` of AutoRound, whose keys are names. */
static void read_overrides(struct quantization *quantization, const char *prefix, const char *key)
{
    json_t *overrides = json_object_get(quantization->object, key), *override;
    struct arena *arena = quantization->config->job->arena;
    bool expressions = strcmp(key, "dynamic") == 0;
    const char *name;
    json_object_foreach(overrides, name, override)
    {
        bool left_alone = strncmp(name, "-:", 2) == 0 || number_of(override, "bits") >= 16;
        const char *text = name + (expressions && name[0] && name[1] == ':' ? 2 : 0);
        text = expressions ? arena_printf(arena, "re:%s", text) : arena_strdup(arena, text);
        const struct storage *storage =
            left_alone ? NULL : integers_of(quantization, prefix, override, quantization->object);
        if (!of_language_model(text) || (!left_alone && !storage))
            continue;
        if (!patterns_add(left_alone ? quantization->kept : quantization->chosen, text,
                          left_alone ? (const void *)quantization : storage)) {
            complain(quantization, key, "`%.60s` is a pattern perfc does not understand, or one too many",
                     name);
            return;
        }
    }
}

static void read_integers(struct quantization *quantization, const char *prefix)
{
    json_t *object = quantization->object;
    quantization->usual = integers_of(quantization, prefix, object, object);
    if (!quantization->usual)
        return;
    read_overrides(quantization, prefix, "dynamic");
    read_overrides(quantization, prefix, "extra_config");
    quantization->head_too = json_is_true(json_object_get(object, "lm_head"));
}

static void read_gptq(struct quantization *quantization)
{
    read_integers(quantization, "gptq-");
}

static void read_awq(struct quantization *quantization)
{
    read_integers(quantization, "awq-");
}

static void read_bitsandbytes(struct quantization *quantization)
{
    json_t *object = quantization->object;
    if (json_is_true(json_object_get(object, "load_in_8bit")))
        quantization->usual = storage_standard("int8");
    else if (strcmp(word_of(object, "bnb_4bit_quant_type"), "fp4") == 0)
        quantization->usual = declare(quantization, "fp4-blocks-of-64", 4.5, "4 + 32 / 64", "fp16", true,
                                      "4-bit floating point, blocks of 64");
    else
        quantization->usual = storage_standard(
            json_is_true(json_object_get(object, "bnb_4bit_use_double_quant")) ? "nf4-double" : "nf4");
}

static void read_eetq(struct quantization *quantization)
{
    quantization->usual = storage_standard("int8");
}

static void read_compressed(struct quantization *quantization)
{
    quantization->head_too = true;
    read_groups(quantization);
}

static void read_modelopt(struct quantization *quantization)
{
    const char *word = word_of(quantization->object, "quant_algo");
    read_named_layers(quantization);
    if (same_word(word, "MIXED_PRECISION"))
        return;
    if (!*word) {
        if (json_is_string(json_object_get(quantization->object, "quant_algo")) ||
            json_is_object(json_object_get(quantization->object, "config_groups")))
            read_groups(quantization);
        return;
    }
    quantization->usual = by_algorithm(quantization, word, quantization->object);
    if (!quantization->usual)
        complain(quantization, "quant_algo", "`quant_algo` is `%.40s`, a storage perfc does not know", word);
}

static const struct {
    const char *name;
    void (*read)(struct quantization *quantization);
} methods[] = {
    {"FP8", read_fp8},
    {"FBGEMM_FP8", read_fp8},
    {"MXFP4", read_mxfp4},
    {"GPTQ", read_gptq},
    {"AUTO-ROUND", read_gptq},
    {"INTEL/AUTO-ROUND", read_gptq},
    {"AWQ", read_awq},
    {"EETQ", read_eetq},
    {"BITSANDBYTES", read_bitsandbytes},
    {"COMPRESSED-TENSORS", read_compressed},
    {"COMPRESSED_TENSORS", read_compressed},
    {"MODELOPT", read_modelopt},
    {"MODELOPT_FP4", read_modelopt},
    {"MODELOPT_MIXED", read_modelopt},
};

static void read_method(struct quantization *quantization)
{
    static const char *const lists[] = {"modules_to_not_convert", "ignore", "exclude_modules",
                                        "llm_int8_skip_modules"};
    json_t *object = quantization->object;
    const char *method = word_of(object, "quant_method");
    void (*read)(struct quantization *) = NULL;
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        if (same_word(method, methods[i].name))
            read = methods[i].read;
    if (!*method && (json_object_get(object, "quant_algo") || json_object_get(object, "quantized_layers")))
        read = read_modelopt; /* early exports leave the method out */
    if (!read) {
        complain(quantization, "quant_method",
                 *method ? "`quant_method` is `%.40s`, a storage perfc does not know"
                         : "no `quant_method` says how the weights are stored%.0s",
                 method);
        return;
    }
    read(quantization);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        add_list(quantization, quantization->kept, lists[i], json_object_get(object, lists[i]), object);
}

static const struct storage *cache_storage(struct quantization *quantization)
{
    json_t *scheme = json_object_get(quantization->object, "kv_cache_scheme");
    const char *key = "kv_cache_scheme", *word = json_string_value(scheme);
    if (!scheme || json_is_null(scheme)) {
        key = "kv_cache_quant_algo";
        word = json_string_value(json_object_get(quantization->object, key));
    }
    double bits = number_of(scheme, "num_bits");
    bool floating = strcmp(word_of(scheme, "type"), "float") == 0;
    if (json_is_object(scheme))
        word = bits == 8 ? floating ? "FP8" : "INT8" : bits == 4 && floating ? "NVFP4" : "?";
    if (!word || same_word(word, "NONE"))
        return NULL;
    if (same_word(word, "FP8") || same_word(word, "INT8") || same_word(word, "NVFP4"))
        return storage_standard(same_word(word, "FP8") ? "fp8" : same_word(word, "INT8") ? "int8" : "nvfp4");
    complain(quantization, key, "`%s` is a cache format perfc does not know", key);
    return NULL;
}

/* ---- finding it ---------------------------------------------------------------------------- */

static const struct storage *stated_type(struct config *config)
{
    static const struct {
        const char *word, *format;
    } types[] = {
        {"bfloat16", "bf16"}, {"float16", "fp16"}, {"float32", "fp32"}, {"float", "fp32"}, {"half", "fp16"}};
    json_t *member = config_either(config, "dtype");
    if (!member)
        member = config_either(config, "torch_dtype");
    const char *word = json_string_value(member);
    for (size_t i = 0; word && i < sizeof types / sizeof types[0]; i++)
        if (strcmp(word + (strncmp(word, "torch.", 6) == 0 ? 6 : 0), types[i].word) == 0)
            return storage_standard(types[i].format);
    return storage_standard("bf16");
}

static void read_object(struct quantization *quantization)
{
    struct config *config = quantization->config;
    quantization->kept = patterns_new(config->job->arena, config->model.layer_count);
    quantization->chosen = patterns_new(config->job->arena, config->model.layer_count);
    read_method(quantization);
    config->model.cache = cache_storage(quantization);
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
    json_t *own = json_object_get(config->text, "quantization_config");
    json_t *object = json_is_object(own) ? own : json_object_get(config->root, "quantization_config");
    struct quantization quantization = {.config = config, .json = config->json, .object = object};
    if (!json_is_object(object)) {
        read_beside(config);
        return;
    }
    bool nested = json_is_object(own) && config->text_key;
    quantization.place[0] = nested ? config->text_key : "quantization_config";
    quantization.place[1] = nested ? "quantization_config" : NULL;
    read_object(&quantization);
}
