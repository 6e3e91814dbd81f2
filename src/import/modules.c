/* modules.c: the matrices of a layer, one table row each in spirit: class, name, size. */
#include "import/modules.h"

struct list {
    struct matrix *items;
    size_t count;
};

static void add(struct list *list, enum tensor_class class, const char *name, double count)
{
    if (count > 0 && list->count < MATRICES_MAX)
        list->items[list->count++] = (struct matrix){class, name, count};
}

double layer_v_dim(const struct layer *layer)
{
    return layer->value[LAYER_V_DIM] > 0 ? layer->value[LAYER_V_DIM] : layer->value[LAYER_HEAD_DIM];
}

static void add_grouped(struct list *list, const double *v, double v_dim, double hidden)
{
    add(list, TENSORS_ATTENTION, "q_proj",
        hidden * v[LAYER_HEADS] * v[LAYER_HEAD_DIM] * (v[LAYER_OUTPUT_GATE] ? 2 : 1));
    if (!v[LAYER_REUSES_KV])
        add(list, TENSORS_ATTENTION, "k_proj", hidden * v[LAYER_KV_HEADS] * v[LAYER_HEAD_DIM]);
    if (!v[LAYER_SHARED_KV] && !v[LAYER_REUSES_KV])
        add(list, TENSORS_ATTENTION, "v_proj", hidden * v[LAYER_KV_HEADS] * v_dim);
    add(list, TENSORS_ATTENTION, "o_proj", hidden * v[LAYER_HEADS] * v_dim);
}

static void add_latent(struct list *list, const double *v, double hidden)
{
    double query = v[LAYER_HEADS] * (v[LAYER_NOPE_DIM] + v[LAYER_ROPE_DIM]);
    if (v[LAYER_Q_RANK] > 0) {
        add(list, TENSORS_ATTENTION, "q_a_proj", hidden * v[LAYER_Q_RANK]);
        add(list, TENSORS_ATTENTION, "q_b_proj", v[LAYER_Q_RANK] * query);
    } else {
        add(list, TENSORS_ATTENTION, "q_proj", hidden * query);
    }
    add(list, TENSORS_ATTENTION, "kv_a_proj_with_mqa", hidden * (v[LAYER_KV_RANK] + v[LAYER_ROPE_DIM]));
    add(list, TENSORS_ATTENTION, "kv_b_proj",
        v[LAYER_KV_RANK] * v[LAYER_HEADS] * (v[LAYER_NOPE_DIM] + v[LAYER_V_DIM]));
    add(list, TENSORS_ATTENTION, "o_proj", v[LAYER_HEADS] * v[LAYER_V_DIM] * hidden);
}

static void add_linear(struct list *list, const double *v, double hidden)
{
    double keys = v[LAYER_LINEAR_KEY_HEADS] * v[LAYER_LINEAR_KEY_DIM];
    double values = v[LAYER_LINEAR_VALUE_HEADS] * v[LAYER_LINEAR_VALUE_DIM];
    add(list, TENSORS_ATTENTION, "in_proj_qkv", hidden * (2 * keys + values));
    add(list, TENSORS_ATTENTION, "in_proj_z", hidden * values);
    add(list, TENSORS_ATTENTION, "in_proj_a", hidden * v[LAYER_LINEAR_VALUE_HEADS]);
    add(list, TENSORS_ATTENTION, "in_proj_b", hidden * v[LAYER_LINEAR_VALUE_HEADS]);
    add(list, TENSORS_ATTENTION, "out_proj", values * hidden);
}

static void add_mamba(struct list *list, const double *v, double hidden)
{
    double inner = v[LAYER_SSM_HEADS] * v[LAYER_SSM_HEAD_DIM];
    double convolved = inner + 2 * v[LAYER_SSM_GROUPS] * v[LAYER_SSM_STATE];
    add(list, TENSORS_ATTENTION, "in_proj", hidden * (inner + convolved + v[LAYER_SSM_HEADS]));
    add(list, TENSORS_ATTENTION, "out_proj", inner * hidden);
}

static void add_attention(struct list *list, const struct layer *layer, double hidden)
{
    const double *v = layer->value;
    if (v[LAYER_ATTENTION_PARAMS] > 0) {
        add(list, TENSORS_ATTENTION, "in_proj", v[LAYER_ATTENTION_PARAMS]);
        return;
    }
    switch ((enum attention_kind)v[LAYER_ATTENTION]) {
    case ATTENTION_GROUPED: add_grouped(list, v, layer_v_dim(layer), hidden); break;
    case ATTENTION_LATENT: add_latent(list, v, hidden); break;
    case ATTENTION_LINEAR: add_linear(list, v, hidden); break;
    case ATTENTION_MAMBA: add_mamba(list, v, hidden); break;
    case ATTENTION_NONE: break;
    }
    if (v[LAYER_INDEX_HEADS] > 0) {
        double query = v[LAYER_Q_RANK] > 0 ? v[LAYER_Q_RANK] : hidden;
        add(list, TENSORS_ATTENTION, "indexer.wq_b", query * v[LAYER_INDEX_HEADS] * v[LAYER_INDEX_DIM]);
        add(list, TENSORS_ATTENTION, "indexer.wk", hidden * v[LAYER_INDEX_DIM]);
        add(list, TENSORS_ATTENTION, "indexer.weights_proj", hidden * v[LAYER_INDEX_HEADS]);
    }
}

static void add_feed_forward(struct list *list, enum tensor_class class, bool gated, double size)
{
    if (gated)
        add(list, class, "gate_proj", size);
    add(list, class, "up_proj", size);
    add(list, class, "down_proj", size);
}

size_t layer_matrices(const struct layer *layer, double hidden, struct matrix matrices[MATRICES_MAX])
{
    const double *v = layer->value;
    struct list list = {matrices, 0};
    bool gated = v[LAYER_FFN_GATED] != 0;
    add_attention(&list, layer, hidden);
    add_feed_forward(&list, TENSORS_FFN, gated, hidden * (v[LAYER_FFN] + v[LAYER_PARALLEL_FFN]));
    if (v[LAYER_EXPERTS] > 0) {
        double input = v[LAYER_EXPERT_INPUT] > 0 ? v[LAYER_EXPERT_INPUT] : hidden;
        add_feed_forward(&list, TENSORS_EXPERTS, gated, v[LAYER_EXPERTS] * input * v[LAYER_EXPERT_FFN]);
        double shared_width = v[LAYER_SHARED_FFN] > 0 ? v[LAYER_SHARED_FFN] : v[LAYER_EXPERT_FFN];
        double shared = v[LAYER_SHARED_EXPERTS] > 0 ? v[LAYER_SHARED_EXPERTS] : v[LAYER_SHARED_FFN] > 0;
        add_feed_forward(&list, TENSORS_SHARED, gated, hidden * shared * shared_width);
        if (v[LAYER_SHARED_GATE])
            add(&list, TENSORS_SHARED, "gate", hidden);
        if (input != hidden) {
            add(&list, TENSORS_FFN, "fc1_latent_proj", hidden * input);
            add(&list, TENSORS_FFN, "fc2_latent_proj", hidden * input);
        }
        add(&list, TENSORS_ROUTER, "", hidden * v[LAYER_EXPERTS]);
    }
    return list.count;
}
