/* quantization_formats.c: what the words and numbers of a quantization_config come to in bits, scales and
 * zero points included. */
#include "import/quantization.h"

#include <string.h>

#include "base/arena.h"
#include "import/storage.h"

const struct storage *quantization_declare(struct quantization *quantization, struct storage storage)
{
    struct config *config = quantization->config;
    const struct storage *declared = storage_declare(config->job->arena, &config->model, storage);
    if (!declared)
        quantization_error(quantization, "quant_method",
                           "it stores its weights in more ways than perfc tells apart");
    return declared;
}

/* ---- integers ------------------------------------------------------------------------------ */

static const struct storage *new_integers(struct quantization *quantization, const char *prefix, double bits,
                                          double group, bool zero)
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
    struct storage storage = {.name = name, .bits = bits, .compute = "fp16", .weight_only = true};
    if (group > 0) {
        storage.bits = bits + shared / group;
        storage.bits_text = arena_printf(arena, "%.0f + %.0f / %.0f", bits, shared, group);
        storage.title = arena_printf(arena, "%.0f-bit integers, groups of %.0f", bits, group);
    } else {
        storage.bits_text = arena_printf(arena, "%.0f", bits);
        storage.title = arena_printf(arena, "%.0f-bit integers, one scale per channel", bits);
    }
    return quantization_declare(quantization, storage);
}

const struct storage *quantization_integers(struct quantization *quantization, const char *prefix,
                                            double bits, double group, bool zero)
{
    for (size_t i = 0; i < RECENT_INTEGERS; i++) {
        const struct recent_integers *recent = &quantization->recent[i];
        if (recent->storage && recent->bits == bits && recent->group == group && recent->zero == zero &&
            strcmp(recent->prefix, prefix) == 0)
            return recent->storage;
    }
    const struct storage *storage = new_integers(quantization, prefix, bits, group, zero);
    quantization->recent[quantization->recent_count++ % RECENT_INTEGERS] =
        (struct recent_integers){prefix, bits, group, zero, storage};
    return storage;
}

/* ---- floats -------------------------------------------------------------------------------- */

const struct storage *quantization_fp8(struct quantization *quantization, json_t *size)
{
    double rows = json_number_value(json_array_get(size, 0)),
           columns = json_number_value(json_array_get(size, 1));
    const char *word = json_string_value(size); /* "128x128" in some files */
    if (word && strcmp(word, "128x128") == 0)
        return storage_standard("fp8-block");
    if (!size || json_is_null(size))
        return storage_standard("fp8");
    if (json_array_size(size) != 2 || !(rows >= 1 && rows <= 65536 && columns >= 1 && columns <= 65536)) {
        quantization_error(quantization, "weight_block_size", "`weight_block_size` is not two sizes");
        return storage_standard("fp8");
    }
    if (rows == 128 && columns == 128)
        return storage_standard("fp8-block");
    struct arena *arena = quantization->config->job->arena;
    struct storage storage = {
        .name = arena_printf(arena, "fp8-block-%.0fx%.0f", rows, columns),
        .bits = 8 + 32 / (rows * columns),
        .bits_text = arena_printf(arena, "8 + 32 / (%.0f * %.0f)", rows, columns),
        .compute = "fp8",
        .title = arena_printf(arena, "fp8 with a scale per %.0f x %.0f values", rows, columns)};
    return quantization_declare(quantization, storage);
}

static const struct storage floats[] = {
    {.name = "fp8-weights",
     .bits = 8,
     .bits_text = "8",
     .compute = "fp16",
     .weight_only = true,
     .title = "fp8, weights only"},
    {.name = "mxfp4-weights",
     .bits = 4.25,
     .bits_text = "4.25",
     .compute = "fp16",
     .weight_only = true,
     .title = "OCP fp4 in blocks of 32, weights only"},
    {.name = "nvfp4-weights",
     .bits = 4.5,
     .bits_text = "4.5",
     .compute = "fp16",
     .weight_only = true,
     .title = "NVIDIA fp4, weights only"},
    {.name = "mxfp4-fp8",
     .bits = 4.25,
     .bits_text = "4.25",
     .compute = "fp8",
     .title = "OCP fp4 in blocks of 32, activations of fp8"},
    {.name = "nvfp4-fp8",
     .bits = 4.5,
     .bits_text = "4.5",
     .compute = "fp8",
     .title = "NVIDIA fp4, activations of fp8"},
    {.name = "int4-channel-fp8",
     .bits = 4,
     .bits_text = "4",
     .compute = "fp8",
     .title = "4-bit integers with a scale per channel, activations of fp8"},
};

static const struct storage *narrow(struct quantization *quantization, const char *name)
{
    for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++)
        if (strcmp(floats[i].name, name) == 0)
            return quantization_declare(quantization, floats[i]);
    return storage_standard(name);
}

const struct storage *quantization_float_weights(struct quantization *quantization, const char *name)
{
    return narrow(quantization, arena_printf(quantization->config->job->arena, "%s-weights", name));
}

/* ---- by the words of each tool --------------------------------------------------------------- */

const struct storage *quantization_algorithm(struct quantization *quantization, const char *word,
                                             json_t *object)
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
        {"W4A16_NVFP4", "nvfp4-weights"},
        {"W4A16_NVFP4_AWQ", "nvfp4-weights"},
        {"W4A8_NVFP4_FP8", "nvfp4-fp8"},
        {"W4A16_MXFP4", "mxfp4-weights"},
        {"W4A8_MXFP4_FP8", "mxfp4-fp8"},
    };
    for (size_t i = 0; i < sizeof algorithms / sizeof algorithms[0]; i++)
        if (quantization_same(word, algorithms[i].word))
            return narrow(quantization, algorithms[i].format);
    double size = quantization_number(quantization, object, "group_size");
    if (quantization_same(word, "W4A16_AWQ") || quantization_same(word, "W4A8_AWQ"))
        return size >= 1 ? quantization_integers(quantization, "", 4, size, false) : NULL;
    if (quantization_same(word, "W8A16"))
        return quantization_integers(quantization, "", 8, 0, false);
    return NULL;
}

const struct storage *quantization_weights(struct quantization *quantization, json_t *group)
{
    json_t *weights = json_object_get(group, "weights");
    double bits = quantization_number(quantization, weights, "num_bits"),
           size = quantization_number(quantization, weights, "group_size");
    bool floating = strcmp(quantization_word(quantization, weights, "type"), "float") == 0;
    bool activations = json_is_object(json_object_get(group, "input_activations"));
    json_t *structure = json_object_get(weights, "block_structure");
    const char *strategy = quantization_word(quantization, weights, "strategy");
    bool block = json_is_array(structure) || strcmp(strategy, "block") == 0;
    bool symmetric = quantization_flag(quantization, weights, "symmetric", true);
    if (size < 1 && (strcmp(strategy, "group") == 0 || strcmp(strategy, "tensor_group") == 0))
        return NULL;
    if (floating && bits == 8)
        return block        ? quantization_fp8(quantization, structure)
               : size == 32 ? storage_standard("mxfp8")
                            : storage_standard("fp8");
    if (floating && bits == 4 && size == 32)
        return storage_standard("mxfp4");
    if (floating && bits == 4 && size == 16)
        return activations ? storage_standard("nvfp4") : narrow(quantization, "nvfp4-weights");
    if (!floating && bits == 8 && activations)
        return storage_standard("int8");
    if (!floating && bits >= 2 && bits <= 8 && bits == (double)(int)bits)
        return quantization_integers(quantization, "", bits, size > 0 && size <= 65536 ? size : 0,
                                     !symmetric);
    return NULL;
}

/* Of a list of two stages, the last one is what is stored: int4 with scales per channel, which fp8 tensor
 * cores multiply. */
static const struct storage *two_stages(struct quantization *quantization, json_t *stages)
{
    json_t *first = json_array_get(stages, 0), *last = json_array_get(stages, 1);
    bool known = json_array_size(stages) == 2 &&
                 strcmp(quantization_word(quantization, first, "dtype"), "fp8_e4m3") == 0 &&
                 strcmp(quantization_word(quantization, last, "dtype"), "int4") == 0 &&
                 strcmp(quantization_word(quantization, last, "qscheme"), "per_channel") == 0;
    return known ? narrow(quantization, "int4-channel-fp8") : NULL;
}

const struct storage *quantization_quark(struct quantization *quantization, json_t *layer)
{
    json_t *weight = json_object_get(layer, "weight"), *inputs = json_object_get(layer, "input_tensors");
    if (json_is_array(weight))
        return two_stages(quantization, weight);
    const char *type = quantization_word(quantization, weight, "dtype"),
               *scheme = quantization_word(quantization, weight, "qscheme");
    const char *scale = quantization_word(quantization, weight, "scale_format"),
               *input = quantization_word(quantization, inputs, "dtype");
    double group = quantization_number(quantization, weight, "group_size");
    bool whole = strcmp(scheme, "per_tensor") == 0 || strcmp(scheme, "per_channel") == 0;
    bool grouped = strcmp(scheme, "per_group") == 0, activations = json_is_object(inputs);
    if ((strcmp(type, "fp8_e4m3") == 0 || strcmp(type, "fp8_e5m2") == 0) && whole)
        return narrow(quantization, !activations                       ? "fp8-weights"
                                    : type[4] == 'e' && type[5] == '5' ? "fp8-e5m2"
                                                                       : "fp8");
    if (strcmp(type, "fp8_e4m3") == 0 && grouped && group == 32 && strcmp(scale, "e8m0") == 0)
        return storage_standard("mxfp8");
    if (strcmp(type, "fp4") == 0 && grouped && group == 32 && strcmp(scale, "e8m0") == 0)
        return narrow(quantization, !activations                    ? "mxfp4-weights"
                                    : strncmp(input, "fp8", 3) == 0 ? "mxfp4-fp8"
                                                                    : "mxfp4");
    if (strcmp(type, "int8") == 0 && whole)
        return activations ? storage_standard("int8") : quantization_integers(quantization, "", 8, 0, false);
    return NULL;
}

/* tinygemm's layout of int4 pads the inner dimension to a multiple of 1024, which sizes that are no such
 * multiple would have to be counted with. */
static bool tiles_pad(const struct architecture *model)
{
    for (size_t i = 0; i < model->layer_count; i++) {
        const double *v = model->layers[i].value;
        const double inner[] = {model->hidden, v[LAYER_FFN], v[LAYER_EXPERT_FFN], v[LAYER_SHARED_FFN],
                                v[LAYER_HEADS] * v[LAYER_HEAD_DIM]};
        for (size_t k = 0; k < sizeof inner / sizeof inner[0]; k++)
            if (inner[k] != 1024 * (double)(long)(inner[k] / 1024))
                return true;
    }
    return false;
}

/* 4-bit integers with a 16-bit scale and a 16-bit zero point for each group. */
static const struct storage *torchao_int4(struct quantization *quantization, json_t *members)
{
    struct arena *arena = quantization->config->job->arena;
    double group = quantization_number(quantization, members, "group_size");
    group = json_object_get(members, "group_size") ? group : 128;
    const char *packing = quantization_word(quantization, members, "int4_packing_format");
    const char *layout = quantization_word(quantization, json_object_get(members, "layout"), "_type");
    bool plain = strcmp(packing, "plain") == 0 || strcmp(packing, "preshuffled") == 0;
    if (strstr(layout, "parse") || strstr(packing, "sparse") || !(group >= 16 && group <= 65536) ||
        (!plain && tiles_pad(&quantization->config->model)))
        return NULL;
    struct storage storage = {
        .name = arena_printf(arena, "torchao-int4-g%.0f", group),
        .bits = 4 + 32 / group,
        .bits_text = arena_printf(arena, "4 + 32 / %.0f", group),
        .compute = "fp16",
        .weight_only = true,
        .title = arena_printf(arena, "4-bit integers, groups of %.0f, 16-bit zero points", group)};
    return quantization_declare(quantization, storage);
}

const struct storage *quantization_torchao(struct quantization *quantization, const char *class,
                                           json_t *members)
{
    static const struct {
        const char *class, *old, *format; /* NULL: 8-bit integers, of which the activations know nothing */
    } classes[] = {
        {"Int8WeightOnlyConfig", "int8_weight_only", NULL},
        {"Int8DynamicActivationInt8WeightConfig", "int8_dynamic_activation_int8_weight", "int8"},
        {"Float8WeightOnlyConfig", "float8_weight_only", "fp8-weights"},
        {"Float8DynamicActivationFloat8WeightConfig", "float8_dynamic_activation_float8_weight", "fp8"},
        {"Float8StaticActivationFloat8WeightConfig", "float8_static_activation_float8_weight", "fp8"},
    };
    if (strcmp(class, "Int4WeightOnlyConfig") == 0 || strcmp(class, "int4_weight_only") == 0)
        return torchao_int4(quantization, members);
    if (json_is_number(json_object_get(members, "group_size")))
        return NULL; /* what is stored for a group is not said */
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        if (strcmp(class, classes[i].class) == 0 || strcmp(class, classes[i].old) == 0)
            return classes[i].format ? narrow(quantization, classes[i].format)
                                     : quantization_integers(quantization, "", 8, 0, false);
    return NULL;
}
