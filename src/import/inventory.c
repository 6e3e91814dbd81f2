/* inventory.c: tensors by class, and classes stored to the byte. */
#include "import/inventory.h"

#include <string.h>

#include "base/arena.h"
#include "import/modules.h"
#include "import/storage.h"

void inventory_add(struct inventory *inventory, size_t class, const struct tensor *tensor)
{
    struct inventory_class *sum = &inventory->classes[class];
    sum->mixed = sum->mixed || (sum->bytes > 0 && sum->storage != tensor->storage);
    if (tensor->bytes > sum->largest) {
        sum->largest = tensor->bytes;
        sum->storage = tensor->storage;
    }
    sum->elements += tensor->elements;
    sum->bytes += tensor->bytes;
    inventory->elements += tensor->elements;
    inventory->bytes += tensor->bytes;
    inventory->tensors++;
}

size_t inventory_layer(const char *name, const char **rest)
{
    static const char *const words[] = {"layers.", "blk.", "h.", "blocks."};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t length = strlen(words[i]);
        for (const char *at = strstr(name, words[i]); at; at = strstr(at + 1, words[i])) {
            size_t digits = strspn(at + length, "0123456789"), layer = 0;
            if ((at > name && at[-1] != '.') || digits == 0 || digits > 6 || at[length + digits] != '.')
                continue;
            for (size_t k = 0; k < digits; k++)
                layer = 10 * layer + (size_t)(at[length + k] - '0');
            *rest = at + length + digits + 1;
            return layer;
        }
    }
    *rest = name;
    return SIZE_MAX;
}

static bool contains_any(const char *name, const char *const *words)
{
    for (; *words; words++)
        if (strstr(name, *words))
            return true;
    return false;
}

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), size = strlen(end);
    return length >= size && strcmp(name + length - size, end) == 0;
}

/* What belongs to a quantised matrix beside its values. */
static bool is_scale(const char *name)
{
    static const char *const words[] = {"scale",  "qzeros",    "g_idx",       "zero_point", "weight_shape",
                                        "absmax", "quant_map", "quant_state", NULL};
    return contains_any(name, words);
}

/* Norms, biases, sinks, convolutions and gates of one value per head: what is kept in 16 bits at least. */
static bool is_vector(const struct tensor *tensor, const char *rest)
{
    static const char *const words[] = {"norm", "ln_", "bias", "sinks", "conv1d", "A_log", "inv_freq", NULL};
    return tensor->rank < 2 || contains_any(rest, words);
}

size_t inventory_class_of(const struct tensor *tensor, size_t layers, size_t *layer)
{
    static const char *const towers[] = {"vision",      "visual",        "audio", "mm_projector",
                                         "multi_modal", "image_newline", NULL};
    static const char *const embeddings[] = {
        "embed_tokens", "wte.", "word_embeddings", "tok_embeddings", "embeddings.", "embed_in", NULL};
    static const char *const heads[] = {"lm_head", "embed_out", "output.weight", NULL};
    static const char *const attention[] = {"attn",   "attention", "mixer", "indexer",
                                            "q_proj", "o_proj",    NULL};
    const char *name = tensor->name, *rest;
    *layer = inventory_layer(name, &rest);
    if (contains_any(name, towers))
        return TENSORS_TOWER;
    if (strncmp(name, "mtp", 3) == 0 || strstr(name, ".mtp") || (*layer != SIZE_MAX && *layer >= layers)) {
        *layer = layers;
        return TENSORS_MTP;
    }
    if (*layer == SIZE_MAX) {
        *layer = layers;
        return contains_any(name, embeddings)                          ? TENSORS_EMBEDDING
               : contains_any(name, heads) && !ends_with(name, "bias") ? TENSORS_HEAD
                                                                       : TENSORS_NORMS;
    }
    bool scale = is_scale(rest);
    if (!scale && is_vector(tensor, rest) && !strstr(rest, "shared_expert_gate"))
        return TENSORS_NORMS;
    if (strstr(rest, "shared_expert"))
        return TENSORS_SHARED;
    if (strstr(rest, "experts"))
        return TENSORS_EXPERTS;
    if (strstr(rest, "router") || strstr(rest, ".gate.") || strncmp(rest, "gate.", 5) == 0)
        return TENSORS_ROUTER;
    return contains_any(rest, attention) ? TENSORS_ATTENTION : TENSORS_FFN;
}

/* ---- storage to the byte ------------------------------------------------------------------- */

/* Elements that the model counts in each class. */
static void model_elements(const struct architecture *model, double elements[TENSORS_COUNT])
{
    memset(elements, 0, TENSORS_COUNT * sizeof *elements);
    for (size_t i = 0; i < model->layer_count; i++) {
        struct matrix matrices[MATRICES_MAX];
        size_t count = layer_matrices(&model->layers[i], model->hidden, matrices);
        double all = layer_params(&model->layers[i], model->hidden),
               extra = model->layers[i].value[LAYER_EXTRA_PARAMS];
        for (size_t k = 0; k < count; k++) {
            elements[matrices[k].class] += matrices[k].count;
            all -= matrices[k].count;
        }
        elements[TENSORS_FFN] += extra;
        elements[TENSORS_NORMS] += all - extra;
    }
    bool layer_norm = model->layer_count > 0 && model->layers[0].value[LAYER_NORM] == NORM_LAYER;
    elements[TENSORS_EMBEDDING] = (model->vocab + model->positions) * model->hidden + model->lookup_params;
    elements[TENSORS_HEAD] = model->tied ? 0 : model->vocab * model->hidden;
    elements[TENSORS_NORMS] += (model->no_final_norm ? 0
                                : layer_norm         ? 2
                                                     : 1) *
                                   model->hidden +
                               (model->embedding_norm ? 2 * model->hidden : 0) +
                               (model->head_bias ? model->vocab : 0);
}

static const char *const class_words[TENSORS_COUNT] = {
    [TENSORS_ATTENTION] = "attention", [TENSORS_FFN] = "ffn",       [TENSORS_EXPERTS] = "experts",
    [TENSORS_SHARED] = "shared",       [TENSORS_ROUTER] = "router", [TENSORS_EMBEDDING] = "embedding",
    [TENSORS_HEAD] = "head",           [TENSORS_NORMS] = "norms",
};

/* How a class is multiplied: as the model says already, else as its tensors' own format. */
static const struct storage *likeness(const struct architecture *model, const struct inventory_class *sum,
                                      size_t class)
{
    if (class < TENSORS_OF_LAYERS && model->layer_count > 0)
        for (size_t i = 0; i < model->layer_count; i++)
            if (model->layers[i].storage[class] && model->layers[i].storage[class] != model->weights)
                return model->layers[i].storage[class];
    return sum->storage ? sum->storage : model->weights;
}

/* Every byte belongs to some class. What a configuration counts besides stays apart as far as the attention
 * has more than its matrices take: keys and values that no layer uses (Gemma 4 E2B), where the files have
 * them. */
static void keep_unused(const struct inventory *inventory, struct architecture *model, double elements,
                        double *bytes)
{
    const struct storage *storage =
        likeness(model, &inventory->classes[TENSORS_ATTENTION], TENSORS_ATTENTION);
    double each = model->weights->bits / 8, excess = *bytes - elements * storage->bits / 8;
    double unused = excess > 0 && excess < each * model->extra_params ? excess / each : model->extra_params;
    model->extra_params = excess > 0 ? unused : 0;
    *bytes -= each * model->extra_params;
}

void inventory_apply(struct import_job *job, const struct inventory *inventory, struct architecture *model)
{
    double elements[TENSORS_COUNT], bytes[TENSORS_COUNT], moved = 0;
    model_elements(model, elements);
    for (size_t c = 0; c < TENSORS_COUNT; c++) {
        bytes[c] = inventory->classes[c].bytes;
        if (elements[c] == 0) {
            moved += c == TENSORS_HEAD && model->tied ? 0 : bytes[c];
            bytes[c] = 0;
        }
    }
    keep_unused(inventory, model, elements[TENSORS_ATTENTION], &bytes[TENSORS_ATTENTION]);
    bytes[TENSORS_NORMS] += moved; /* no class of the model has them, yet they are in memory */
    for (size_t c = 0; c < TENSORS_COUNT; c++) {
        const struct inventory_class *sum = &inventory->classes[c];
        const struct storage *storage = NULL;
        if (bytes[c] == 0 || elements[c] == 0)
            continue;
        if (!sum->mixed && sum->storage && bytes[c] * 8 == elements[c] * sum->storage->bits)
            storage = sum->storage;
        else if (bytes[c] * 8 == elements[c] * likeness(model, sum, c)->bits)
            storage = likeness(model, sum, c);
        else
            storage = storage_mix(job->arena, model, class_words[c], bytes[c], elements[c],
                                  likeness(model, sum, c));
        if (c >= TENSORS_OF_LAYERS)
            model->storage[c] = storage;
        for (size_t i = 0; c < TENSORS_OF_LAYERS && i < model->layer_count; i++)
            model->layers[i].storage[c] = storage;
    }
    if (inventory->classes[TENSORS_TOWER].bytes > 0)
        model->tower_params = inventory->classes[TENSORS_TOWER].bytes / 2; /* counted as 16-bit values */
    if (model->mtp_params == 0 && inventory->classes[TENSORS_MTP].elements > 0)
        model->mtp_params = inventory->classes[TENSORS_MTP].elements;
    if (model->tied && inventory->classes[TENSORS_HEAD].bytes > 0)
        architecture_note(job->arena, model,
                          "The file stores the tied output head a second time; it is not counted.");
}
