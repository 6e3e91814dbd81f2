/* quantization_mlx.c: what mlx-lm writes: no method, but bits and a group size, and modules of their own
 * beside them. Embedding and head are quantised like any matrix. */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "import/quantization.h"
#include "import/storage.h"

bool quantization_is_mlx(json_t *object)
{
    return json_is_number(json_object_get(object, "bits")) &&
           json_is_number(json_object_get(object, "group_size")) && !json_object_get(object, "quant_method");
}

/* Integers with a 16-bit scale and a 16-bit bias for each group, or the narrow floats of others. */
static const struct storage *storage_of(struct quantization *quantization, json_t *object, json_t *usual)
{
    json_t *sized = json_object_get(object, "bits") ? object : usual;
    double bits = quantization_number(quantization, sized, "bits");
    double group = quantization_number(quantization, json_object_get(object, "group_size") ? object : usual,
                                       "group_size");
    const char *mode =
        quantization_word(quantization, json_object_get(object, "mode") ? object : usual, "mode");
    struct arena *arena = quantization->config->job->arena;
    if (strcmp(mode, "mxfp4") == 0 && bits == 4 && group == 32)
        return quantization_float_weights(quantization, "mxfp4");
    if (strcmp(mode, "nvfp4") == 0 && bits == 4 && group == 16)
        return quantization_float_weights(quantization, "nvfp4");
    if ((*mode && strcmp(mode, "affine") != 0) || !(bits >= 2 && bits <= 8 && bits == (double)(int)bits) ||
        !(group >= 16 && group <= 65536 && group == (double)(long)group))
        return NULL;
    struct storage storage = {.name = arena_printf(arena, "mlx-int%.0f-g%.0f", bits, group),
                              .bits = bits + 32 / group,
                              .bits_text = arena_printf(arena, "%.0f + 32 / %.0f", bits, group),
                              .compute = "fp16",
                              .weight_only = true,
                              .title =
                                  arena_printf(arena, "MLX, %.0f-bit integers, groups of %.0f", bits, group)};
    return quantization_declare(quantization, storage);
}

/* "switch_mlp.gate_proj" holds all experts of a layer. */
static const char *module_of(struct quantization *quantization, const char *name)
{
    static const char stacked[] = "switch_mlp.";
    const char *at = strstr(name, stacked);
    if (!at)
        return name;
    return arena_printf(quantization->config->job->arena, "%.*sexperts.*.%s", (int)(at - name), name,
                        at + sizeof stacked - 1);
}

static bool read_module(struct quantization *quantization, const char *name, json_t *own)
{
    const struct storage *storage =
        json_is_object(own) ? storage_of(quantization, own, quantization->object) : quantization->usual;
    bool kept = json_is_false(own), table = strstr(name, "embed_tokens") || strstr(name, "word_embeddings");
    if (!kept && !storage) {
        quantization_error(quantization, name, "what `%.60s` takes is not known to perfc", name);
        return false;
    }
    if (table) {
        quantization->config->model.storage[TENSORS_EMBEDDING] = kept ? NULL : storage;
        return true;
    }
    if (!quantization_of_text(name) ||
        patterns_add(kept ? quantization->kept : quantization->chosen, module_of(quantization, name),
                     kept ? (const void *)quantization : storage))
        return true;
    quantization_error(quantization, name, "`%.60s` is a pattern perfc does not understand, or one too many",
                       name);
    return false;
}

void quantization_read_mlx(struct quantization *quantization)
{
    const char *name;
    json_t *own;
    quantization->usual = storage_of(quantization, quantization->object, NULL);
    if (!quantization->usual) {
        quantization_error(quantization, "bits",
                           "these `bits`, `group_size` and `mode` are not known to perfc");
        return;
    }
    quantization->head_too = true;
    quantization->config->model.storage[TENSORS_EMBEDDING] = quantization->usual;
    json_object_foreach(quantization->object, name, own)
    {
        bool module = json_is_object(own) || (json_is_boolean(own) && strchr(name, '.'));
        if (module && !read_module(quantization, name, own))
            return;
    }
}
