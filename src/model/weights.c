/* weights.c: the weights on the fullest GPU, as the parallelism divides them and as an engine lays them out
 * (model.md section 2, edges.md). */
#include "model/internal.h"

enum { EMBEDDING, POSITIONS, ATTENTION, FFN, EXPERTS, SHARED, ROUTER, NORMS, HEAD, OTHER };
enum { CLASSES = PM_CLASSES_OF_WEIGHTS };

static double padding(double size, double unit)
{
    return unit > 0 && size > 0 ? ceil(size / unit) * unit / size : 1;
}

/* Kernels for 4-bit experts want multiples of their tiles: by what factor the matrices of one expert grow. */
static double expert_padding(const struct pm_engine *engine, const struct pm_view *view,
                             const struct pm_block *block, double share)
{
    double input = block->expert_input > 0 ? block->expert_input : view->model->hidden;
    if (pm_class_of_bits(block->expert_format.bits) != PM_CLASS_4) {
        return 1;
    }
    return padding(input, engine->expert_pad_hidden) *
           padding(block->expert_ffn / share, engine->expert_pad_width);
}

static void add_block_weights(const struct pm_engine *engine, const struct pm_view *view,
                              const struct pm_layout *layout, size_t index, double by_class[CLASSES])
{
    const struct pm_block *block = &view->model->blocks[index];
    const struct pm_format *dense = pm_format_ffn(view, block), *vectors = &view->model->norm_format;
    const struct pm_block_counts one = view->kinds[index].counts;
    double blocks = view->kinds[index].blocks, tp = layout->tp;
    double key_value = pm_divide(one.key_value * pm_kv_heads_per_gpu(block, tp), block->kv_heads);
    /* ceil(E/ep) experts, each as wide as the GPUs that share it leave it. */
    double share = layout->stage_gpus / layout->ep;
    double experts = pm_divide(ceil(block->experts / layout->ep), share);
    double padded = one.expert * expert_padding(engine, view, block, share);
    by_class[OTHER] += blocks * pm_bytes(one.other / tp, dense);
    if (block->reuses_weights) {
        return;
    }
    by_class[ATTENTION] += blocks * (pm_bytes(one.attention_split / tp + one.attention_whole + key_value,
                                              pm_format_attention(view, block)) +
                                     pm_bytes(one.attention_vectors, vectors));
    by_class[FFN] +=
        blocks * (pm_bytes((one.ffn + one.latent) / tp, dense) + pm_bytes(one.ffn_vectors, vectors));
    by_class[EXPERTS] +=
        blocks * experts * (pm_bytes(padded, &block->expert_format) + pm_bytes(one.expert_vectors, vectors));
    by_class[SHARED] += blocks * pm_bytes(one.shared / tp, &block->shared_format);
    by_class[ROUTER] +=
        blocks * (pm_bytes(one.router, &block->router_format) + pm_bytes(one.router_vectors, vectors));
    by_class[NORMS] += blocks * pm_bytes(one.norms, vectors);
}

/* The vocabulary pads to a multiple of 64 tp where tp does not divide it. */
static double padded_vocabulary(const struct pm_model *model, const struct pm_layout *layout)
{
    double unit = 64 * layout->tp;
    return fmod(model->vocab, layout->tp) > 0 ? ceil(model->vocab / unit) * unit : model->vocab;
}

/* Embedding on the first stage, head on the last; of the two only the heavier end counts when they are
 * apart. */
static void add_end_weights(const struct pm_case *input, const struct pm_view *view,
                            const struct pm_layout *layout, double by_class[CLASSES])
{
    const struct pm_model *model = view->model;
    const struct pm_format *vectors = &model->norm_format;
    double vocab = padded_vocabulary(model, layout);
    double table = vocab * model->hidden / layout->tp;
    double embedding = pm_bytes(table, &model->embedding_format);
    double positions = pm_bytes(model->positions * model->hidden + model->lookup_params / layout->tp,
                                &model->embedding_format);
    bool one_copy = pm_head_is_embedding(view) && !(layout->pp > 1) && !input->engine->embedding_on_host;
    double head = one_copy ? 0 : pm_bytes(table, pm_format_head(view));
    head += pm_bytes(model->head_bias ? vocab / layout->tp : 0, vectors);
    if (input->engine->embedding_on_host) {
        embedding = positions = 0;
    }
    if (layout->pp > 1 && embedding + positions > head) {
        head = 0;
    } else if (layout->pp > 1) {
        embedding = positions = 0;
    }
    by_class[EMBEDDING] += embedding;
    by_class[POSITIONS] += positions;
    by_class[HEAD] += head;
    by_class[NORMS] +=
        pm_bytes(model->hidden * (model->final_norms + (model->embedding_norm ? 2 : 0)), vectors);
    by_class[OTHER] += pm_bytes(model->extra_params, &model->weights_format) / layout->tp;
    by_class[OTHER] += 2 * model->tower_params; /* whole on every GPU, in 16 bits */
}

static void weights_of(const struct pm_case *input, const struct pm_model *model, double by_class[CLASSES])
{
    const struct pm_view *view = pm_view_in(input, model);
    struct pm_layout layout = pm_layout_of(input);
    double classes[CLASSES] = {0};
    for (size_t i = 0; i < model->block_count; i++) {
        add_block_weights(input->engine, view, &layout, i, classes);
    }
    if (!view->declared) {
        if (model == input->model || model == input->draft_model) { /* a prediction block has no ends */
            add_end_weights(input, view, &layout, classes);
        }
    } else if (model->block_count == 0) {
        classes[OTHER] += pm_bytes(model->declared_params, &model->weights_format) / (layout.tp * layout.pp);
    }
    for (size_t i = 0; i < CLASSES; i++) {
        by_class[i] += classes[i] * view->scale;
    }
}

/* ---- as an allocator lays them out ---------------------------------------------------------- */

/* PyTorch's caching allocator: a tensor of five blocks and more (10 MiB of blocks of 2 MiB) gets whole
 * blocks, unless more than half a block would be left over, which is split off. */
static double slack(double count, const struct pm_format *format, double block)
{
    double bytes = pm_bytes(count, format);
    if (!(block > 0) || bytes < 5 * block || format->weight_only) {
        return 0;
    }
    double left = ceil(bytes / block) * block - bytes;
    return left <= block / 2 ? left : 0;
}

/* The large tensors of one block as engines fuse them: queries, keys and values; output; gate and up; down;
 * and all experts of a layer in two. */
static double block_slack(const struct pm_case *input, const struct pm_view *view,
                          const struct pm_layout *layout, const struct pm_block *block)
{
    double hidden = view->model->hidden, tp = layout->tp, unit = input->engine->allocator_block, sum = 0;
    double up = block->ffn_gated ? 2 : 1;
    const struct pm_format *attention = pm_format_attention(view, block), *ffn = pm_format_ffn(view, block);
    if (block->attention == PM_ATTENTION_GROUPED && !(block->attention_params > 0)) {
        double queries = block->heads * block->head_dim * (block->output_gate ? 2 : 1) / tp;
        double made = block->reuses_kv ? 0 : block->head_dim + (block->shared_kv ? 0 : pm_v_dim(block));
        double keys = pm_kv_heads_per_gpu(block, tp) * made;
        sum += slack(hidden * (queries + keys), attention, unit);
        sum += slack(hidden * block->heads * pm_v_dim(block) / tp, attention, unit);
    }
    sum += slack(up * hidden * block->ffn / tp, ffn, unit);
    sum += slack(hidden * block->ffn / tp, ffn, unit);
    double experts = pm_divide(ceil(block->experts / layout->ep), layout->stage_gpus / layout->ep);
    double width = block->expert_input > 0 ? block->expert_input : hidden;
    sum += slack(experts * up * width * block->expert_ffn, &block->expert_format, unit);
    sum += slack(experts * width * block->expert_ffn, &block->expert_format, unit);
    sum += slack(up * hidden * block->shared_ffn / tp, &block->shared_format, unit);
    return sum + slack(hidden * block->shared_ffn / tp, &block->shared_format, unit);
}

static double allocator_slack(const struct pm_case *input, const struct pm_view *view)
{
    const struct pm_model *model = view->model;
    struct pm_layout layout = pm_layout_of(input);
    double unit = input->engine->allocator_block, sum = 0;
    if (!(unit > 0) || view->declared || view->scale != 1) {
        return 0;
    }
    for (size_t i = 0; i < model->block_count; i++) {
        if (!model->blocks[i].reuses_weights) {
            sum += view->kinds[i].blocks * block_slack(input, view, &layout, &model->blocks[i]);
        }
    }
    double table = padded_vocabulary(model, &layout) * model->hidden / layout.tp;
    bool one = pm_head_is_embedding(view) || layout.pp > 1 || input->engine->embedding_on_host;
    return sum + slack(table, &model->embedding_format, unit) +
           (one ? 0 : slack(table, pm_format_head(view), unit));
}

/* Cosines and sines of every position, half a vector each, in 16 bits: one table for each size of head. */
static double rope_table(const struct pm_case *input, const struct pm_model *model)
{
    double sum = 0;
    if (!input->engine->rope_table) {
        return 0;
    }
    for (size_t i = 0; i < model->block_count; i++) {
        double size = model->blocks[i].rotary_dim;
        bool seen = false;
        for (size_t j = 0; j < i; j++) {
            seen = seen || model->blocks[j].rotary_dim == size;
        }
        sum += seen ? 0 : model->max_context * size * 2;
    }
    return sum;
}

/* The model's weights, and those that speculation adds. */
void pm_weights_of(const struct pm_case *input, struct pm_stored *out)
{
    *out = (struct pm_stored){0};
    weights_of(input, input->model, out->by_class);
    if (input->prepared->draft != NULL) {
        double draft[CLASSES] = {0};
        weights_of(input, input->prepared->draft->view.model, draft);
        for (size_t i = 0; i < CLASSES; i++) {
            out->by_class[OTHER] += draft[i];
        }
    }
    out->rope_table = rope_table(input, input->model);
    out->allocator_slack = allocator_slack(input, pm_view_in(input, input->model));
    out->by_class[OTHER] += out->rope_table + out->allocator_slack;
    for (size_t i = 0; i < CLASSES; i++) {
        out->total += out->by_class[i];
    }
}
