/* shapes.c: an architecture from the names and shapes of its tensors, for checkpoints of llama's form (which
 * most families of decoders have, those of latent attention and of experts among them) without a config.json.
 * Only shapes are used, and they are exact; what they leave open (how many experts a token uses) is left for
 * the plan to say. */
#include "import/shapes.h"

#include <stddef.h>
#include <string.h>

#include "base/arena.h"

struct shape_layer {
    double queries, keys, values, output, hidden, ffn, head_norm, norms;
    double query_rank, latent_queries, latent, latent_keys, latent_norm;               /* latent attention */
    double experts, expert_ffn, router_experts, shared_ffn, fused_rows, fused_columns; /* a mixture */
    double gated, qkv_bias, output_bias, ffn_bias, router_bias, shared_gate, expert_bias,
        sinks; /* there when not 0 */
};

struct shapes {
    struct arena *arena;
    VEC(struct shape_layer) layers;
    double vocab, hidden, head;
    bool strange, final_norm, head_bias, norm_bias;
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

/* ---- tensors ------------------------------------------------------------------------------- */

/* A tensor of a layer, and the dimension of it that is kept; -1: whether it is there. */
#define FIELD(name) offsetof(struct shape_layer, name)
static const struct {
    const char *name;
    size_t field;
    int dimension;
} layer_tensors[] = {
    {"self_attn.q_proj.weight", FIELD(queries), 0},
    {"self_attn.q_proj.weight", FIELD(hidden), 1},
    {"self_attn.k_proj.weight", FIELD(keys), 0},
    {"self_attn.v_proj.weight", FIELD(values), 0},
    {"self_attn.o_proj.weight", FIELD(output), 1},
    {"self_attn.q_proj.bias", FIELD(qkv_bias), -1},
    {"self_attn.k_proj.bias", FIELD(qkv_bias), -1},
    {"self_attn.v_proj.bias", FIELD(qkv_bias), -1},
    {"self_attn.o_proj.bias", FIELD(output_bias), -1},
    {"self_attn.q_norm.weight", FIELD(head_norm), 0},
    {"self_attn.k_norm.weight", FIELD(head_norm), 0},
    {"self_attn.q_a_proj.weight", FIELD(query_rank), 0},
    {"self_attn.q_a_proj.weight", FIELD(hidden), 1},
    {"self_attn.q_a_layernorm.weight", FIELD(query_rank), 0},
    {"self_attn.q_b_proj.weight", FIELD(latent_queries), 0},
    {"self_attn.kv_a_proj_with_mqa.weight", FIELD(latent), 0},
    {"self_attn.kv_a_layernorm.weight", FIELD(latent_norm), 0},
    {"self_attn.kv_b_proj.weight", FIELD(latent_keys), 0},
    {"mlp.up_proj.weight", FIELD(ffn), 0},
    {"mlp.gate_proj.weight", FIELD(gated), -1},
    {"mlp.down_proj.weight", FIELD(ffn), 1},
    {"mlp.up_proj.bias", FIELD(ffn_bias), -1},
    {"mlp.gate_proj.bias", FIELD(ffn_bias), -1},
    {"mlp.down_proj.bias", FIELD(ffn_bias), -1},
    {"self_attn.sinks", FIELD(sinks), 0},
    {"mlp.gate.weight", FIELD(router_experts), 0},
    {"mlp.router.weight", FIELD(router_experts), 0},
    {"mlp.router.bias", FIELD(router_bias), -1},
    {"block_sparse_moe.gate.weight", FIELD(router_experts), 0},
    {"mlp.gate.e_score_correction_bias", FIELD(router_bias), -1},
    {"block_sparse_moe.e_score_correction_bias", FIELD(router_bias), -1},
    {"mlp.shared_expert.up_proj.weight", FIELD(shared_ffn), 0},
    {"mlp.shared_expert.gate_proj.weight", FIELD(gated), -1},
    {"mlp.shared_expert.down_proj.weight", FIELD(shared_ffn), 1},
    {"mlp.shared_experts.up_proj.weight", FIELD(shared_ffn), 0},
    {"mlp.shared_experts.gate_proj.weight", FIELD(gated), -1},
    {"mlp.shared_experts.down_proj.weight", FIELD(shared_ffn), 1},
    {"mlp.shared_expert_gate.weight", FIELD(shared_gate), -1},
    /* of all experts at once: GPT-OSS, Qwen3.5 */
    {"mlp.experts.gate_up_proj", FIELD(experts), 0},
    {"mlp.experts.gate_up_proj", FIELD(gated), -1},
    {"mlp.experts.gate_up_proj_bias", FIELD(expert_bias), -1},
    {"mlp.experts.down_proj", FIELD(fused_rows), 1},
    {"mlp.experts.down_proj", FIELD(fused_columns), 2},
    {"mlp.experts.down_proj_bias", FIELD(expert_bias), -1},
    /* of one expert, its number left out */
    {"experts.up_proj.weight", FIELD(expert_ffn), 0},
    {"experts.gate_proj.weight", FIELD(gated), -1},
    {"experts.down_proj.weight", FIELD(expert_ffn), 1},
    {"experts.w3.weight", FIELD(expert_ffn), 0},
    {"experts.w1.weight", FIELD(gated), -1},
    {"experts.w2.weight", FIELD(expert_ffn), 1},
};
#undef FIELD

/* The scales of a quantised matrix, and what is computed again when a model is loaded. */
static bool says_nothing(const char *rest)
{
    return ends_with(rest, "rotary_emb.inv_freq") || ends_with(rest, ".weight_scale_inv") ||
           ends_with(rest, ".weight_scale") || ends_with(rest, ".input_scale");
}

/* "mlp.experts.17.up_proj.weight": counts the expert, and returns its name without the number. */
static const char *expert_name(struct shape_layer *layer, const char *rest, char *plain, size_t size)
{
    static const char *const modules[] = {"mlp.", "block_sparse_moe."};
    for (size_t i = 0; i < sizeof modules / sizeof modules[0]; i++) {
        size_t length = strlen(modules[i]), digits;
        const char *at = rest + length + strlen("experts.");
        if (strncmp(rest, modules[i], length) != 0 || strncmp(rest + length, "experts.", 8) != 0)
            continue;
        double number = 0;
        digits = strspn(at, "0123456789");
        if (digits == 0 || digits > 6 || at[digits] != '.' || strlen(at) + 10 > size)
            return rest;
        for (size_t k = 0; k < digits; k++)
            number = 10 * number + (at[k] - '0');
        if (number + 1 > layer->experts)
            layer->experts = number + 1;
        return strcat(strcpy(plain, "experts"), at + digits);
    }
    return rest;
}

static void add_to_layer(struct shapes *shapes, struct shape_layer *layer, const char *rest,
                         const struct tensor *tensor)
{
    char plain[96];
    bool known = says_nothing(rest);
    if (!known)
        rest = expert_name(layer, rest, plain, sizeof plain);
    for (size_t i = 0; i < sizeof layer_tensors / sizeof layer_tensors[0]; i++) {
        if (!is(rest, layer_tensors[i].name))
            continue;
        double *field = (double *)((char *)layer + layer_tensors[i].field);
        double value = layer_tensors[i].dimension < 0 ? 1 : tensor->dims[layer_tensors[i].dimension];
        shapes->strange = shapes->strange || (*field > 0 && *field != value);
        *field = value;
        known = true;
    }
    if (known)
        return;
    if (ends_with(rest, "norm.weight") && tensor->rank == 1 && strchr(rest, '.') == strrchr(rest, '.'))
        layer->norms++;
    else if (ends_with(rest, "norm.bias"))
        shapes->norm_bias = true;
    else
        shapes->strange = true;
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

/* ---- layers -------------------------------------------------------------------------------- */

static bool is_whole_number(double value)
{
    return value >= 1 && value < 1e9 && value == (double)(size_t)value;
}

/* The head size, where only products with the number of heads are seen: norms of one head have it, there is a
 * sink for each head, else 128 or, where that divides none, 64. Parameters, cache and work are the same for
 * any. */
static double head_size(const struct shape_layer *layer)
{
    if (layer->sinks > 0)
        return layer->queries / layer->sinks;
    if (layer->head_norm > 0 && layer->head_norm < layer->queries)
        return layer->head_norm;
    static const double sizes[] = {128, 64, 32};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (is_whole_number(layer->queries / sizes[i]) && is_whole_number(layer->keys / sizes[i]))
            return sizes[i];
    return 1;
}

/* Whether a head size had to be assumed. */
static bool grouped(const struct shape_layer *layer, double *v)
{
    bool full = layer->head_norm == layer->queries;
    double size = head_size(layer);
    v[LAYER_HEADS] = layer->queries / size;
    v[LAYER_KV_HEADS] = layer->keys / size;
    v[LAYER_HEAD_DIM] = size;
    v[LAYER_QK_NORM] = layer->head_norm == 0 ? QK_NORM_NONE : full ? QK_NORM_FULL : QK_NORM_HEAD;
    return layer->sinks == 0 && (full || layer->head_norm == 0);
}

/* Three products of the number of heads H with sizes of a head are seen, H (n + r), H (n + v) and H v, and r
 * itself: what the latent projection has beyond the rank that its norm shows. */
static bool latent(const struct shape_layer *layer, double *v)
{
    double queries = layer->query_rank > 0 ? layer->latent_queries : layer->queries;
    double rope = layer->latent - layer->latent_norm, plain = layer->latent_keys - layer->output;
    double heads = rope > 0 ? (queries - plain) / rope : 0;
    v[LAYER_ATTENTION] = ATTENTION_LATENT;
    v[LAYER_HEADS] = heads;
    v[LAYER_Q_RANK] = layer->query_rank;
    v[LAYER_KV_RANK] = layer->latent_norm;
    v[LAYER_ROPE_DIM] = rope;
    v[LAYER_NOPE_DIM] = heads > 0 ? plain / heads : 0;
    v[LAYER_V_DIM] = heads > 0 ? layer->output / heads : 0;
    return layer->latent_norm > 0 && is_whole_number(heads) && is_whole_number(v[LAYER_NOPE_DIM]) &&
           is_whole_number(v[LAYER_V_DIM]);
}

static bool feed_forward(const struct shape_layer *layer, double *v)
{
    v[LAYER_FFN] = layer->ffn;
    v[LAYER_FFN_GATED] = layer->gated;
    v[LAYER_FFN_BIAS] = layer->ffn_bias;
    if (layer->experts == 0)
        return layer->ffn > 0 && layer->router_experts == 0 && layer->shared_ffn == 0;
    /* The last matrix of all experts is stored either way round. */
    double fused = layer->fused_rows == layer->hidden ? layer->fused_columns : layer->fused_rows;
    v[LAYER_EXPERTS] = layer->experts;
    v[LAYER_EXPERT_FFN] = layer->expert_ffn > 0 ? layer->expert_ffn : fused;
    v[LAYER_EXPERT_BIAS] = layer->expert_bias;
    v[LAYER_SHARED_FFN] = layer->shared_ffn;
    v[LAYER_ROUTER_BIAS] = layer->router_bias;
    v[LAYER_SHARED_GATE] = layer->shared_gate;
    return layer->ffn == 0 && v[LAYER_EXPERT_FFN] > 0 && layer->router_experts == layer->experts;
}

/* False when the layer is none of llama's form. */
static bool fill_layer(const struct shapes *shapes, const struct shape_layer *layer, double *v, bool *assumed)
{
    bool is_latent = layer->latent > 0;
    v[LAYER_SINKS] = layer->sinks > 0;
    v[LAYER_QKV_BIAS] = layer->qkv_bias;
    v[LAYER_OUTPUT_BIAS] = layer->output_bias;
    v[LAYER_NORMS] = layer->norms;
    v[LAYER_NORM] = shapes->norm_bias ? NORM_LAYER : NORM_RMS;
    if (layer->hidden != shapes->hidden || !feed_forward(layer, v))
        return false;
    if (is_latent)
        return latent(layer, v);
    *assumed = grouped(layer, v) || *assumed;
    return is_whole_number(v[LAYER_HEADS]) && is_whole_number(v[LAYER_KV_HEADS]) &&
           is_whole_number(v[LAYER_HEAD_DIM]) && layer->values == layer->keys &&
           layer->output == layer->queries;
}

static void add_notes(struct shapes *shapes, struct architecture *model, bool assumed)
{
    bool experts = false;
    for (size_t i = 0; i < model->layer_count; i++)
        experts = experts || model->layers[i].value[LAYER_EXPERTS] > 0;
    architecture_note(shapes->arena, model,
                      "From names and shapes of tensors: windows and the longest context are not known.");
    if (experts)
        architecture_note(shapes->arena, model,
                          "Nor is the number of experts a token uses: say it as `active_experts`.");
    if (assumed)
        architecture_note(shapes->arena, model,
                          "Shapes show heads times head size only; the head size is assumed. Parameters and "
                          "cache are the same for any.");
}

void shapes_model(struct shapes *shapes, struct architecture *model)
{
    size_t count = shapes->layers.count;
    bool assumed = false;
    if (shapes->strange || count == 0 || shapes->vocab == 0 || shapes->hidden == 0)
        return;
    architecture_layers(shapes->arena, model, count);
    for (size_t i = 0; i < count; i++)
        if (!fill_layer(shapes, &shapes->layers.items[i], model->layers[i].value, &assumed)) {
            model->layer_count = 0;
            return;
        }
    model->hidden = shapes->hidden;
    model->vocab = shapes->vocab;
    model->tied = shapes->head == 0;
    model->head_bias = shapes->head_bias;
    model->no_final_norm = !shapes->final_norm;
    model->confidence = "derived";
    add_notes(shapes, model, assumed);
}
