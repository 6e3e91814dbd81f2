/* quantization_groups.c: methods that tell the storage of groups of modules: compressed-tensors, modelopt,
 * Quark and torchao. */
#include <string.h>

#include "base/arena.h"
#include "import/quantization.h"
#include "import/storage.h"

/* The storage of a module by its name or a pattern; NULL leaves it as it is. */
static bool choose(struct quantization *quantization, const char *key, const char *name,
                   const struct storage *storage)
{
    struct patterns *patterns = storage ? quantization->chosen : quantization->kept;
    if (!quantization_of_text(name) ||
        patterns_add(patterns, name, storage ? (const void *)storage : quantization))
        return true;
    quantization_error(quantization, key, "`%.60s` is a pattern perfc does not understand, or one too many",
                       name);
    return false;
}

/* ---- compressed-tensors -------------------------------------------------------------------- */

/* Whether a group is for all linear layers. Any other class of modules is an error: its members are not
 * known.
 */
static bool targets_all(struct quantization *quantization, json_t *targets)
{
    size_t i;
    json_t *target;
    bool all = !json_is_array(targets);
    json_array_foreach(targets, i, target)
    {
        const char *word = json_string_value(target);
        if (word && strcmp(word, "Linear") == 0)
            all = true;
        else if (word && word[0] >= 'A' && word[0] <= 'Z')
            quantization_error(quantization, "config_groups",
                               "`%.60s` in `targets` is a class of modules perfc does not know", word);
    }
    return all;
}

static void read_groups(struct quantization *quantization)
{
    json_t *groups = quantization_members(quantization, quantization->object, "config_groups"), *group;
    const char *name;
    json_object_foreach(groups, name, group)
    {
        const struct storage *storage = quantization_weights(quantization, group);
        json_t *targets = json_object_get(group, "targets");
        if (!storage) {
            quantization_error(quantization, "config_groups",
                               "the weights of `%.40s` are stored in a way perfc does not know", name);
            return;
        }
        if (targets_all(quantization, targets))
            quantization->usual = storage;
        else if (!quantization_add(quantization, quantization->chosen, "config_groups", targets, storage))
            return;
    }
}

void quantization_read_compressed(struct quantization *quantization)
{
    json_t *sparsity = json_object_get(quantization->object, "sparsity_config");
    const char *form = quantization_word(quantization, sparsity, "format");
    const char *packing = quantization_word(quantization, quantization->object, "format");
    quantization->head_too = true;
    if ((*form && strcmp(form, "dense") != 0) || strcmp(packing, "marlin-24") == 0) {
        quantization_error(quantization, *form ? "sparsity_config" : "format",
                           "sparse weights are stored in a way perfc does not know (`%.40s`)",
                           *form ? form : packing);
        return;
    }
    read_groups(quantization);
}

/* ---- modelopt ------------------------------------------------------------------------------ */

static void read_named_layers(struct quantization *quantization)
{
    json_t *layers = quantization_members(quantization, quantization->object, "quantized_layers"), *layer;
    const char *name;
    json_object_foreach(layers, name, layer)
    {
        const char *word = quantization_word(quantization, layer, "quant_algo");
        const struct storage *storage = quantization_algorithm(quantization, word, layer);
        if (!storage) {
            quantization_error(quantization, "quantized_layers",
                               "`%.60s` has `quant_algo` `%.40s`, which perfc does not know", name, word);
            return;
        }
        if (!choose(quantization, "quantized_layers", name, storage))
            return;
    }
}

void quantization_read_modelopt(struct quantization *quantization)
{
    const char *word = quantization_word(quantization, quantization->object, "quant_algo");
    read_named_layers(quantization);
    if (quantization_same(word, "MIXED_PRECISION"))
        return;
    if (!*word) {
        if (json_is_string(json_object_get(quantization->object, "quant_algo")) ||
            json_is_object(json_object_get(quantization->object, "config_groups")))
            read_groups(quantization);
        return;
    }
    quantization->usual = quantization_algorithm(quantization, word, quantization->object);
    if (!quantization->usual)
        quantization_error(quantization, "quant_algo",
                           "`quant_algo` is `%.40s`, a storage perfc does not know", word);
}

/* ---- Quark --------------------------------------------------------------------------------- */

/* A layer that stores what it puts out, as k_proj and v_proj do, has the cache in that type. */
static void quark_cache(struct quantization *quantization, json_t *layers)
{
    const char *name;
    json_t *layer;
    json_object_foreach(layers, name, layer)
    {
        json_t *outputs = json_object_get(layer, "output_tensors");
        const char *type = quantization_word(quantization, outputs, "dtype");
        size_t length = strlen(name);
        bool cached = length >= 6 &&
                      (strcmp(name + length - 6, "k_proj") == 0 || strcmp(name + length - 6, "v_proj") == 0);
        if (cached && strcmp(type, "fp8_e4m3") == 0)
            quantization->config->model.cache = storage_standard("fp8");
        else if (cached && *type)
            quantization_error(quantization, "kv_cache_quant_config",
                               "the cache is stored as `%.40s`, which perfc does not know", type);
    }
}

static void quark_layers(struct quantization *quantization, json_t *layers)
{
    const char *name;
    json_t *layer;
    json_object_foreach(layers, name, layer)
    {
        json_t *weight = json_object_get(layer, "weight");
        const struct storage *storage = quantization_quark(quantization, layer);
        if (!storage && weight && !json_is_null(weight)) {
            quantization_error(quantization, "layer_quant_config",
                               "the weights of `%.60s` are stored in a way perfc does not know", name);
            return;
        }
        if (!choose(quantization, "layer_quant_config", name, storage))
            return;
    }
}

void quantization_read_quark(struct quantization *quantization)
{
    json_t *object = quantization->object, *all = json_object_get(object, "global_quant_config");
    json_t *weight = json_object_get(all, "weight");
    quantization->head_too = true;
    if (json_object_size(json_object_get(object, "layer_type_quant_config")) > 0) {
        quantization_error(quantization, "layer_type_quant_config",
                           "storage by classes of modules is not known to perfc");
        return;
    }
    if (weight && !json_is_null(weight)) {
        quantization->usual = quantization_quark(quantization, all);
        if (!quantization->usual)
            quantization_error(quantization, "global_quant_config",
                               "the weights are stored in a way perfc does not know (`%.40s`)",
                               quantization_word(quantization, weight, "dtype"));
    }
    json_t *layers = quantization_members(quantization, object, "layer_quant_config");
    quark_layers(quantization, layers);
    quark_cache(quantization, layers);
    quark_cache(quantization, quantization_members(quantization, object, "kv_cache_quant_config"));
}

/* ---- torchao ------------------------------------------------------------------------------- */

/* A configuration as torchao writes it: its class and its members. NULL after an error, and for null. */
static const struct storage *torchao_config(struct quantization *quantization, json_t *config)
{
    const char *class =
        json_is_string(config) ? json_string_value(config) : quantization_word(quantization, config, "_type");
    json_t *members = json_is_string(config) ? json_object_get(quantization->object, "quant_type_kwargs")
                                             : json_object_get(config, "_data");
    if (!config || json_is_null(config))
        return NULL;
    const struct storage *storage = quantization_torchao(quantization, class, members);
    if (!storage)
        quantization_error(quantization, "quant_type",
                           "what `%.60s` of these sizes takes is not known to perfc", class);
    return storage;
}

/* One for each module by its name, and "_default" for the others. */
static void torchao_modules(struct quantization *quantization, json_t *modules)
{
    const char *name;
    json_t *config;
    json_object_foreach(modules, name, config)
    {
        bool null = json_is_null(config);
        const struct storage *storage = torchao_config(quantization, config);
        if (!null && !storage)
            return;
        if (strcmp(name, "_default") == 0)
            quantization->usual = storage;
        else if (!null && strstr(name, "embed_tokens"))
            quantization_error(quantization, "quant_type", "`%.60s` is stored in a way perfc does not know",
                               name);
        else if (!choose(quantization, "quant_type", name, storage))
            return;
    }
}

void quantization_read_torchao(struct quantization *quantization)
{
    json_t *type = json_object_get(quantization->object, "quant_type");
    json_t *config = json_is_object(type) ? json_object_get(type, "default") : type;
    json_t *members = json_object_get(config, "_data");
    json_t *modules = config_member(members, "module_fqn_to_config|fqn_to_config", NULL);
    if (quantization_flag(quantization, quantization->object, "include_input_output_embeddings", false)) {
        quantization_error(quantization, "include_input_output_embeddings",
                           "how embeddings are stored is not known to perfc");
        return;
    }
    if (json_is_object(modules)) {
        torchao_modules(quantization, modules);
        return;
    }
    quantization->usual = torchao_config(quantization, config);
    if (!config)
        quantization_error(quantization, "quant_type", "no `quant_type` says how the weights are stored");
}
