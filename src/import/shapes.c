/* shapes.c: an architecture from the names and shapes of its tensors, for checkpoints of llama's form (which
 * most families of dense decoders have) without a config.json. Only shapes are used, and they are exact;
 * where they leave a choice open that matters (how many experts a token uses) the answer is an error. */
#include "import/shapes.h"

#include <string.h>

#include "base/arena.h"

struct shape_layer {
    double queries, keys, values, output, hidden, ffn, head_norm, full_norm, norms;
    bool gated, qkv_bias, output_bias, ffn_bias, other;
};

struct shapes {
    struct arena *arena;
    VEC(struct shape_layer) layers;
    double vocab, hidden, head;
    bool experts, strange, final_norm, head_bias, norm_bias;
};

struct shapes *shapes_new(struct arena *arena)
{
    struct shapes *shapes = ARENA_NEW(arena, struct shapes);
    shapes->arena = arena;
    return shapes;
}

static bool is(const char *rest, const char *name)
{
    return strcmp(rest, name) == 0;
}

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), size = strlen(end);
    return length >= size && strcmp(name + length - size, end) == 0;
}

static void add_to_layer(struct shapes *shapes, struct shape_layer *layer, const char *rest,
                         const struct tensor *tensor)
{
    const double *dims = tensor->dims;
    if (is(rest, "self_attn.q_proj.weight")) {
        layer->queries = dims[0];
        layer->hidden = dims[1];
    } else if (is(rest, "self_attn.k_proj.weight")) {
        layer->keys = dims[0];
    } else if (is(rest, "self_attn.v_proj.weight")) {
        layer->values = dims[0];
    } else if (is(rest, "self_attn.o_proj.weight")) {
        layer->output = dims[1];
    } else if (is(rest, "mlp.up_proj.weight")) {
        layer->ffn = dims[0];
    } else if (is(rest, "mlp.gate_proj.weight")) {
        layer->gated = true;
    } else if (is(rest, "self_attn.q_proj.bias")) {
        layer->qkv_bias = true;
    } else if (is(rest, "self_attn.o_proj.bias")) {
        layer->output_bias = true;
    } else if (is(rest, "mlp.down_proj.bias")) {
        layer->ffn_bias = true;
    } else if (is(rest, "self_attn.q_norm.weight")) {
        layer->head_norm = dims[0];
    } else if (ends_with(rest, "norm.weight") && tensor->rank == 1 &&
               strchr(rest, '.') == strrchr(rest, '.')) {
        layer->norms++;
    } else if (ends_with(rest, "norm.bias")) {
        shapes->norm_bias = true;
    } else if (strstr(rest, "experts") || strstr(rest, "block_sparse_moe")) {
        shapes->experts = true;
    } else if (!ends_with(rest, "rotary_emb.inv_freq") && !is(rest, "mlp.down_proj.weight") &&
               !is(rest, "self_attn.k_norm.weight") && !ends_with(rest, "_proj.bias")) {
        shapes->strange = true;
    }
}

void shapes_add(struct shapes *shapes, const struct tensor *tensor)
{
    const char *rest, *name = tensor->name;
    size_t layer = inventory_layer(name, &rest);
    if (layer == SIZE_MAX) {
        if (ends_with(name, "embed_tokens.weight")) {
            shapes->vocab = tensor->dims[0];
            shapes->hidden = tensor->dims[1];
        } else if (ends_with(name, "lm_head.weight")) {
            shapes->head = tensor->elements;
        } else if (ends_with(name, "lm_head.bias")) {
            shapes->head_bias = true;
        } else if (ends_with(name, "norm.weight")) {
            shapes->final_norm = true;
        } else {
            shapes->strange = true;
        }
        return;
    }
    if (layer >= LAYERS_MAX) {
        shapes->strange = true;
        return;
    }
    while (shapes->layers.count <= layer)
        *VEC_PUSH(shapes->arena, shapes->layers) = (struct shape_layer){0};
    add_to_layer(shapes, &shapes->layers.items[layer], rest, tensor);
}

/* The head size, where only products with the number of heads are seen: norms of one head have it, else 128
 * or, where that divides none, 64. Parameters, cache and work are the same for any. */
static double head_size(const struct shape_layer *layer)
{
    if (layer->head_norm > 0 && layer->head_norm < layer->queries)
        return layer->head_norm;
    static const double sizes[] = {128, 64, 32};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (layer->keys >= sizes[i] &&
            layer->queries / sizes[i] == (double)(size_t)(layer->queries / sizes[i]) &&
            layer->keys / sizes[i] == (double)(size_t)(layer->keys / sizes[i]))
            return sizes[i];
    return 1;
}

static bool is_whole(const struct shapes *shapes, const struct shape_layer *layer)
{
    return layer->queries > 0 && layer->keys > 0 && layer->values == layer->keys &&
           layer->output == layer->queries && layer->hidden == shapes->hidden && layer->ffn > 0;
}

const char *shapes_model(struct shapes *shapes, struct architecture *model)
{
    size_t count = shapes->layers.count;
    if (shapes->experts)
        return "the experts per token are in its config.json only";
    for (size_t i = 0; i < count && !shapes->strange; i++)
        shapes->strange = !is_whole(shapes, &shapes->layers.items[i]);
    if (shapes->strange || count == 0 || shapes->vocab == 0 || shapes->hidden == 0)
        return NULL;
    architecture_layers(shapes->arena, model, count);
    model->hidden = shapes->hidden;
    model->vocab = shapes->vocab;
    model->tied = shapes->head == 0;
    model->head_bias = shapes->head_bias;
    model->no_final_norm = !shapes->final_norm;
    bool assumed = false;
    model->confidence = "derived";
    for (size_t i = 0; i < count; i++) {
        const struct shape_layer *layer = &shapes->layers.items[i];
        double *v = model->layers[i].value, size = head_size(layer);
        bool full = layer->head_norm == layer->queries;
        assumed = assumed || full || layer->head_norm == 0;
        v[LAYER_HEADS] = layer->queries / size;
        v[LAYER_KV_HEADS] = layer->keys / size;
        v[LAYER_HEAD_DIM] = size;
        v[LAYER_QK_NORM] = layer->head_norm == 0 ? QK_NORM_NONE : full ? QK_NORM_FULL : QK_NORM_HEAD;
        v[LAYER_QKV_BIAS] = layer->qkv_bias;
        v[LAYER_OUTPUT_BIAS] = layer->output_bias;
        v[LAYER_FFN] = layer->ffn;
        v[LAYER_FFN_GATED] = layer->gated;
        v[LAYER_FFN_BIAS] = layer->ffn_bias;
        v[LAYER_NORMS] = layer->norms;
        v[LAYER_NORM] = shapes->norm_bias ? NORM_LAYER : NORM_RMS;
    }
    architecture_note(shapes->arena, model,
                      "From names and shapes of tensors: windows and the longest context are not known.");
    if (assumed)
        architecture_note(shapes->arena, model,
                          "Shapes show heads times head size only; the head size is assumed. Parameters and "
                          "cache are the same for any.");
    return NULL;
}
