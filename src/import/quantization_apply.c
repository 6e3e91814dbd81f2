/* quantization_apply.c: the storage of each matrix, by the name its checkpoint gives it, and of each class:
 * the format of its matrices, or their exact mixture. */
#include "import/quantization.h"

#include <stdio.h>
#include <string.h>

#include "import/storage.h"

static const char *module_name(struct config *config, const struct layer *layer, const struct matrix *matrix,
                               char *text, size_t size, size_t index)
{
    const struct module_names *names = config->family->modules;
    enum attention_kind kind = (enum attention_kind)layer->value[LAYER_ATTENTION];
    const char *module = "", *leaf = matrix->name;
    switch (matrix->class) {
    case TENSORS_ATTENTION:
        module = kind == ATTENTION_LINEAR  ? names->linear
                 : kind == ATTENTION_MAMBA ? names->mamba
                                           : names->attention;
        break;
    case TENSORS_EXPERTS:
        snprintf(text, size, "layers.%zu.%s.0.%s", index, names->experts, leaf);
        return text;
    case TENSORS_SHARED:
        if (strcmp(leaf, "gate") == 0) {
            snprintf(text, size, "layers.%zu.%s_gate", index, names->shared);
            return text;
        }
        module = names->shared;
        break;
    case TENSORS_ROUTER: snprintf(text, size, "layers.%zu.%s", index, names->router); return text;
    default: module = names->ffn; break;
    }
    snprintf(text, size, "layers.%zu.%s.%s", index, module, leaf);
    return text;
}

/* Small matrices that methods leave alone unless a list names them. */
static bool is_small(const struct matrix *matrix)
{
    static const char *const names[] = {"in_proj_a", "in_proj_b", "gate", "indexer.weights_proj"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(matrix->name, names[i]) == 0)
            return true;
    return matrix->class == TENSORS_ROUTER;
}

static const struct storage *matrix_storage(const struct quantization *quantization,
                                            const struct layer *layer, const struct matrix *matrix,
                                            size_t index)
{
    char text[160];
    struct config *config = quantization->config;
    const char *name = module_name(config, layer, matrix, text, sizeof text, index);
    const struct storage *chosen = patterns_match(quantization->chosen, index, name);
    if (patterns_match(quantization->kept, index, name))
        return config->model.weights;
    if (chosen)
        return chosen;
    bool untouched = is_small(matrix) || (quantization->experts_only && matrix->class != TENSORS_EXPERTS);
    return quantization->usual && !untouched ? quantization->usual : config->model.weights;
}

static bool store_layer(struct quantization *quantization, struct layer *layer, size_t index)
{
    static const char *const words[TENSORS_OF_LAYERS] = {"attention", "ffn", "experts", "shared", "router"};
    struct config *config = quantization->config;
    struct matrix matrices[MATRICES_MAX];
    size_t count = layer_matrices(layer, config->model.hidden, matrices);
    double bytes[TENSORS_OF_LAYERS] = {0}, elements[TENSORS_OF_LAYERS] = {0},
           largest[TENSORS_OF_LAYERS] = {0};
    const struct storage *first[TENSORS_OF_LAYERS] = {0}, *most[TENSORS_OF_LAYERS] = {0};
    bool mixed[TENSORS_OF_LAYERS] = {false};
    for (size_t i = 0; i < count; i++) {
        size_t class = matrices[i].class;
        const struct storage *storage = matrix_storage(quantization, layer, &matrices[i], index);
        mixed[class] = mixed[class] || (first[class] && first[class] != storage);
        first[class] = storage;
        bytes[class] += matrices[i].count * storage->bits / 8;
        elements[class] += matrices[i].count;
        if (matrices[i].count > largest[class]) {
            largest[class] = matrices[i].count;
            most[class] = storage;
        }
    }
    for (size_t class = 0; class < TENSORS_OF_LAYERS; class ++) {
        layer->storage[class] = first[class];
        if (mixed[class])
            layer->storage[class] = storage_mix(config->job->arena, &config->model, words[class],
                                                bytes[class], elements[class], most[class]);
        if (mixed[class] && !layer->storage[class]) {
            quantization_error(quantization, "quant_method",
                               "it stores its layers in more ways than perfc tells apart (%d)", DECLARED_MAX);
            return false;
        }
    }
    return true;
}

void quantization_apply(struct quantization *quantization)
{
    struct config *config = quantization->config;
    size_t layers = config->model.layer_count;
    for (size_t i = 0; i < layers; i++)
        if (!store_layer(quantization, &config->model.layers[i], i))
            return;
    const struct storage *head = patterns_match(quantization->chosen, layers, "lm_head");
    if (!head && quantization->head_too)
        head = quantization->usual;
    if (patterns_match(quantization->kept, layers, "lm_head"))
        head = NULL;
    if (!config->model.tied)
        config->model.storage[TENSORS_HEAD] = head;
}
