/* layer_groups.c: equal layers as one group with a name, what all groups share, and the storage that most of
 * them have */
#include "import/layer_groups.h"

#include <string.h>

#include "base/arena.h"
#include "import/modules.h"

/* ---- groups -------------------------------------------------------------------------------- */

/* Leaves out what follows from the rest. */
static struct layer without_defaults(const struct layer *layer, double hidden)
{
    struct layer out = *layer;
    double *v = out.value;
    bool grouped = v[LAYER_ATTENTION] == ATTENTION_GROUPED;
    if (v[LAYER_V_DIM] == v[LAYER_HEAD_DIM] && grouped)
        v[LAYER_V_DIM] = 0;
    if (v[LAYER_HEADS] > 0 && v[LAYER_HEAD_DIM] * v[LAYER_HEADS] == hidden)
        v[LAYER_HEAD_DIM] = 0;
    if (v[LAYER_KV_HEADS] == v[LAYER_HEADS])
        v[LAYER_KV_HEADS] = 0;
    if (v[LAYER_SHARED_EXPERTS] == 1 && v[LAYER_SHARED_FFN] > 0)
        v[LAYER_SHARED_EXPERTS] = 0;
    return out;
}

static bool same_layer(const struct layer *one, const struct layer *other)
{
    for (size_t i = 0; i < LAYER_FIELD_COUNT; i++)
        if (one->value[i] != other->value[i])
            return false;
    return memcmp(one->storage, other->storage, sizeof one->storage) == 0;
}

void layer_classes(const struct architecture *model, const struct layer *layer, bool has[TENSORS_OF_LAYERS],
                   double elements[TENSORS_OF_LAYERS])
{
    struct matrix matrices[MATRICES_MAX];
    size_t count = layer_matrices(layer, model->hidden, matrices);
    memset(has, 0, TENSORS_OF_LAYERS * sizeof *has);
    memset(elements, 0, TENSORS_OF_LAYERS * sizeof *elements);
    for (size_t i = 0; i < count; i++) {
        has[matrices[i].class] = true;
        elements[matrices[i].class] += matrices[i].count;
    }
}

static void group_layers(struct arena *arena, struct layer_groups *groups)
{
    const struct architecture *model = groups->model;
    groups->items = ARENA_ARRAY(arena, struct layer_group, GROUPS_MAX + 1);
    size_t last = 0;
    for (size_t i = 0; i < model->layer_count; i++) {
        struct layer layer = without_defaults(&model->layers[i], model->hidden);
        if (groups->count == 0 || !same_layer(&layer, &groups->items[last].layer)) {
            for (last = 0; last < groups->count; last++)
                if (same_layer(&layer, &groups->items[last].layer))
                    break;
        }
        if (last == groups->count) {
            if (groups->count < GROUPS_MAX)
                groups->count++; /* past the limit the compiler says that there are too many */
            groups->items[last].layer = layer;
            groups->items[last].whole = model->layers[i];
        }
        groups->items[last].count++;
    }
    for (size_t k = 0; k < LAYER_FIELD_COUNT; k++) {
        groups->shared[k] = true;
        for (size_t i = 1; i < groups->count; i++)
            groups->shared[k] =
                groups->shared[k] && groups->items[i].layer.value[k] == groups->items[0].layer.value[k];
    }
}

/* ---- storage ------------------------------------------------------------------------------- */

const struct storage *layer_stored(const struct architecture *model, const struct layer *layer, size_t class)
{
    return layer->storage[class] ? layer->storage[class] : model->weights;
}

/* What `weights` says is the format that most classes have; when there is a draw the unquantised one, or that
 * of most elements. */
static void choose_weights(struct layer_groups *groups)
{
    const struct architecture *model = groups->model;
    double elements[TENSORS_OF_LAYERS] = {0};
    for (size_t i = 0; i < groups->count; i++) {
        bool has[TENSORS_OF_LAYERS];
        double some[TENSORS_OF_LAYERS];
        layer_classes(model, &groups->items[i].whole, has, some);
        for (size_t c = 0; c < TENSORS_OF_LAYERS; c++) {
            if (!has[c])
                continue;
            const struct storage *storage = layer_stored(model, &groups->items[i].layer, c);
            if (!groups->present[c]) {
                groups->class_storage[c] = storage;
                groups->agreed[c] = true;
            } else if (storage != groups->class_storage[c]) {
                groups->agreed[c] = false;
            }
            groups->present[c] = true;
            elements[c] += some[c] * (double)groups->items[i].count;
        }
    }
    groups->weights = model->weights;
    size_t best = 0;
    double most = 0;
    for (size_t c = 0; c < TENSORS_ROUTER; c++) {
        size_t classes = 0;
        double sum = 0;
        for (size_t k = 0; k < TENSORS_ROUTER; k++)
            if (groups->present[k] && groups->agreed[k] &&
                groups->class_storage[k] == groups->class_storage[c]) {
                classes++;
                sum += elements[k];
            }
        bool wins = classes > best || (classes == best && groups->weights != model->weights &&
                                       (sum > most || groups->class_storage[c] == model->weights));
        if (!groups->present[c] || !groups->agreed[c] || !wins)
            continue;
        best = classes;
        most = sum;
        groups->weights = groups->class_storage[c];
    }
}

/* ---- names ---------------------------------------------------------------------------------- */

static const char *attention_word(const struct layer_groups *groups, const struct layer *layer)
{
    bool local = false, constant = false, missing = false;
    for (size_t i = 0; i < groups->count; i++) {
        const double *v = groups->items[i].layer.value;
        local = local || v[LAYER_WINDOW] > 0 || v[LAYER_ATTENTION_CHUNK] > 0;
        constant =
            constant || v[LAYER_ATTENTION] == ATTENTION_LINEAR || v[LAYER_ATTENTION] == ATTENTION_MAMBA;
        missing = missing || v[LAYER_ATTENTION] == ATTENTION_NONE;
    }
    switch ((enum attention_kind)layer->value[LAYER_ATTENTION]) {
    case ATTENTION_NONE: return "";
    case ATTENTION_LINEAR: return "linear";
    case ATTENTION_MAMBA: return "mamba";
    case ATTENTION_GROUPED:
    case ATTENTION_LATENT: break;
    }
    if (layer->value[LAYER_WINDOW] > 0 || layer->value[LAYER_ATTENTION_CHUNK] > 0)
        return "local";
    return missing ? "attention" : constant ? "full" : local ? "global" : "full";
}

static const char *feed_forward_word(const struct layer *layer)
{
    return layer->value[LAYER_EXPERTS] > 0 ? "sparse" : layer->value[LAYER_FFN] > 0 ? "dense" : "";
}

static const char *plain_block_name(struct arena *arena, const struct layer_groups *groups,
                                    const struct layer *layer)
{
    const struct layer *first = &groups->items[0].layer;
    const char *attention = attention_word(groups, layer), *feed_forward = feed_forward_word(layer);
    bool attention_varies = false, feed_forward_varies = false;
    for (size_t i = 1; i < groups->count; i++) {
        const struct layer *other = &groups->items[i].layer;
        attention_varies =
            attention_varies || strcmp(attention_word(groups, first), attention_word(groups, other)) != 0;
        feed_forward_varies =
            feed_forward_varies || strcmp(feed_forward_word(first), feed_forward_word(other)) != 0;
    }
    if (!attention_varies)
        return feed_forward_varies && *feed_forward ? feed_forward : *attention ? attention : "block";
    if (!*attention)
        return *feed_forward ? strcmp(feed_forward, "dense") == 0 ? "feedforward" : feed_forward : "empty";
    if (!feed_forward_varies || !*feed_forward)
        return attention;
    return arena_printf(arena, "%s_%s", attention, feed_forward);
}

static void name_groups(struct arena *arena, struct layer_groups *groups)
{
    for (size_t i = 0; i < groups->count; i++) {
        const char *plain = plain_block_name(arena, groups, &groups->items[i].layer);
        groups->items[i].name = plain;
        size_t same = 0;
        for (size_t k = 0; k < i; k++)
            same += strcmp(plain_block_name(arena, groups, &groups->items[k].layer), plain) == 0;
        if (same > 0)
            groups->items[i].name = arena_printf(arena, "%s_%zu", plain, same + 1);
    }
}

struct layer_groups layer_groups_of(struct arena *arena, const struct architecture *model)
{
    struct layer_groups groups = {.model = model};
    group_layers(arena, &groups);
    choose_weights(&groups);
    name_groups(arena, &groups);
    return groups;
}
