/* params.c: from an architecture to parameter counts. The formulas by family were checked against the
 * official totals of some eighty models (tests/unit/test_model_params.c holds them to the last unit). */
#include "model/internal.h"

/* Matrices of a feed-forward of width f over inputs of size d. */
static double feed_forward(const struct pm_block *block, double input, double width)
{
    return (block->ffn_gated ? 3 : 2) * input * width;
}

/* Its biases: one per column of the first products, and one per output. */
static double feed_forward_bias(const struct pm_block *block, double input, double width)
{
    return (block->ffn_gated ? 2 : 1) * width + input;
}

/* Latent attention, as in DeepSeek-V2: low-rank queries (unless q_rank is 0) and a low-rank cache. */
static void count_latent(const struct pm_block *block, double hidden, struct pm_block_counts *out)
{
    double query = block->heads * (block->nope_dim + block->rope_dim);
    if (block->q_rank > 0) {
        out->attention_whole += hidden * block->q_rank;
        out->attention_split += block->q_rank * query;
        out->attention_vectors += block->q_rank;
    } else {
        out->attention_split += hidden * query;
    }
    out->attention_whole += hidden * (block->kv_rank + block->rope_dim);
    out->attention_split += block->kv_rank * block->heads * (block->nope_dim + block->v_dim);
    out->attention_split += block->heads * block->v_dim * hidden;
    out->attention_vectors += block->kv_rank;
    out->attention_vectors += block->output_bias ? hidden : 0;
}

/* Gated delta net, as in Qwen3-Next: q, k, v, output gate z, and the gates a and b per value head. */
static void count_linear(const struct pm_block *block, double hidden, struct pm_block_counts *out)
{
    double keys = block->linear_key_heads * block->linear_key_dim;
    double values = block->linear_value_heads * block->linear_value_dim;
    out->attention_split +=
        hidden * (2 * keys + 2 * values + 2 * block->linear_value_heads) + values * hidden;
    out->attention_vectors +=
        (2 * keys + values) * block->conv_kernel + 2 * block->linear_value_heads + block->linear_value_dim;
}

/* Mamba-2: x, z, B, C and dt in; convolution over x, B and C; A, D, dt bias and a gated norm. */
static void count_mamba(const struct pm_block *block, double hidden, struct pm_block_counts *out)
{
    double inner = block->ssm_heads * block->ssm_head_dim;
    double convolved = inner + 2 * block->ssm_groups * block->ssm_state;
    out->attention_split += hidden * (inner + convolved + block->ssm_heads) + inner * hidden;
    out->attention_vectors += convolved * block->conv_kernel + convolved + 3 * block->ssm_heads + inner;
}

static void count_grouped(const struct pm_block *block, double hidden, struct pm_block_counts *out)
{
    double queries = block->heads * block->head_dim;
    double keys = block->reuses_kv ? 0 : block->kv_heads * block->head_dim;
    double values = block->shared_kv || block->reuses_kv ? 0 : block->kv_heads * pm_v_dim(block);
    out->attention_split += hidden * queries * (block->output_gate ? 2 : 1);
    out->attention_split += block->heads * pm_v_dim(block) * hidden;
    out->key_value += hidden * (keys + values);
    out->attention_vectors += block->qkv_bias ? queries + keys + values : 0;
    out->attention_vectors += block->output_bias ? hidden : 0;
    out->attention_vectors += block->sinks ? block->heads : 0;
    if (block->qk_norm == PM_QK_NORM_HEAD) {
        out->attention_vectors += (block->reuses_kv ? 1 : 2) * block->head_dim;
    } else if (block->qk_norm == PM_QK_NORM_FULL) {
        out->attention_vectors += queries + keys;
    }
}

static void count_attention(const struct pm_block *block, double hidden, struct pm_block_counts *out)
{
    if (block->attention_params > 0) {
        out->attention_split += block->attention_params;
        return;
    }
    switch (block->attention) {
    case PM_ATTENTION_GROUPED: count_grouped(block, hidden, out); break;
    case PM_ATTENTION_LATENT: count_latent(block, hidden, out); break;
    case PM_ATTENTION_LINEAR: count_linear(block, hidden, out); break;
    case PM_ATTENTION_MAMBA: count_mamba(block, hidden, out); break;
    case PM_ATTENTION_NONE: break;
    }
    if (block->index_heads > 0) {
        double query = block->q_rank > 0 ? block->q_rank : hidden;
        out->attention_whole += query * block->index_heads * block->index_dim;
        out->attention_whole += hidden * block->index_dim + hidden * block->index_heads;
        out->attention_vectors += 2 * block->index_dim;
    }
}

void pm_count_block(const struct pm_view *view, const struct pm_block *block, struct pm_block_counts *out)
{
    double hidden = view->model->hidden;
    *out = (struct pm_block_counts){0};
    count_attention(block, hidden, out);
    if (view->declared) {
        *out = (struct pm_block_counts){.attention_split = out->attention_split,
                                        .attention_whole = out->attention_whole,
                                        .key_value = out->key_value,
                                        .other = view->declared_block};
        if (view->declared_bare) {
            out->attention_split = out->attention_whole = out->key_value = 0;
        }
        return;
    }
    if (block->ffn > 0) {
        out->ffn = feed_forward(block, hidden, block->ffn);
        out->ffn_vectors = block->ffn_bias ? feed_forward_bias(block, hidden, block->ffn) : 0;
    }
    if (block->experts > 0) {
        double input = block->expert_input > 0 ? block->expert_input : hidden;
        out->expert = feed_forward(block, input, block->expert_ffn);
        out->expert_vectors = block->expert_bias ? feed_forward_bias(block, input, block->expert_ffn) : 0;
        out->latent = block->expert_input > 0 && block->expert_input != hidden ? 2 * hidden * input : 0;
        out->router = hidden * block->experts;
        out->router_vectors = block->router_bias ? block->experts : 0;
    }
    if (block->shared_ffn > 0) {
        out->shared = feed_forward(block, hidden, block->shared_ffn) + (block->shared_gate ? hidden : 0);
    }
    out->norms = block->norms * hidden * (block->norm == PM_NORM_LAYER ? 2 : 1);
    out->other = block->extra_params;
}

static double sum_attention(const struct pm_block_counts *counts)
{
    return counts->attention_split + counts->attention_whole + counts->key_value;
}

static struct pm_block_counts counts_of(const struct pm_view *view, const struct pm_block *block)
{
    struct pm_block_counts counts;
    if (view->kinds != NULL) {
        return pm_kind_of(view, block)->counts;
    }
    pm_count_block(view, block, &counts);
    return counts;
}

/* Bytes of the weights of one block that are its own. */
static double block_bytes(const struct pm_view *view, const struct pm_block *block,
                          const struct pm_block_counts *one)
{
    double vectors = one->attention_vectors + one->ffn_vectors + one->norms +
                     block->experts * one->expert_vectors + one->router_vectors;
    double own = pm_bytes(one->other, pm_format_ffn(view, block));
    if (block->reuses_weights) {
        return own;
    }
    return own + pm_bytes(sum_attention(one), pm_format_attention(view, block)) +
           pm_bytes(one->ffn + one->latent, pm_format_ffn(view, block)) +
           pm_bytes(block->experts * one->expert, &block->expert_format) +
           pm_bytes(one->shared, &block->shared_format) + pm_bytes(one->router, &block->router_format) +
           pm_bytes(vectors, &view->model->norm_format);
}

/* Adds the layers of a block to the sums, and to *unused the experts that a token does not choose. */
static void add_block(const struct pm_view *view, const struct pm_block *block, struct pm_params *out,
                      double *unused)
{
    const struct pm_block_counts one = counts_of(view, block);
    double count = block->count, used = pm_at_most(block->active_experts, block->experts);
    double common = sum_attention(&one) + one.ffn + one.latent + one.shared + one.router + one.other;
    double stored = block->reuses_weights ? 0 : count;
    out->attention += stored * (sum_attention(&one) + one.attention_vectors);
    out->ffn += stored * (one.ffn + one.ffn_vectors + one.latent);
    out->experts += stored * block->experts * (one.expert + one.expert_vectors);
    out->shared += stored * one.shared;
    out->router += stored * (one.router + one.router_vectors);
    out->norms += stored * one.norms;
    out->other += count * one.other;
    out->matmul += count * (common + block->experts * one.expert);
    out->matmul_active += count * (common + used * one.expert);
    *unused += stored * (block->experts - used) * (one.expert + one.expert_vectors);
    out->weight_bytes += count * block_bytes(view, block, &one);
    out->kv_bytes_per_token += count * pm_index_token_bytes(block);
    out->kv_bytes_per_token += pm_reach(block) > 0 ? 0 : count * pm_kv_token_bytes(view, block, 1);
    out->kv_bytes_window += count * pm_reach(block) * pm_kv_token_bytes(view, block, 1);
    out->state_bytes += count * pm_block_state(block, 1);
}

/* Adds what stands before and after the blocks: tables, head, last norms, and what is in no block. */
static void add_ends(const struct pm_view *view, struct pm_params *out)
{
    const struct pm_model *model = view->model;
    double table = model->vocab * model->hidden;
    double head_bias = model->head_bias ? model->vocab : 0;
    double end_norms = model->hidden * (model->final_norms + (model->embedding_norm ? 2 : 0));
    out->embedding = table;
    out->positions = model->positions * model->hidden + model->lookup_params;
    out->head = (model->tied_embeddings ? 0 : table) + head_bias;
    out->norms += end_norms;
    out->other += model->extra_params + model->tower_params;
    out->matmul += table;
    out->matmul_active += table;
    out->weight_bytes += pm_bytes(table + out->positions, &model->embedding_format) +
                         pm_bytes(pm_head_is_embedding(view) ? 0 : table, &model->head_format) +
                         pm_bytes(head_bias + end_norms, &model->norm_format) +
                         pm_bytes(model->extra_params, &model->weights_format) + 2 * model->tower_params;
}

/* Sums over all blocks and the ends of the model, without scale. `out` begins as zeros. */
static void count_architecture(const struct pm_view *view, struct pm_params *out)
{
    const struct pm_model *model = view->model;
    double unused = 0;
    for (size_t i = 0; i < model->block_count; i++) {
        add_block(view, &model->blocks[i], out, &unused);
    }
    if (view->declared && model->block_count == 0) {
        out->other = out->matmul = out->matmul_active = model->declared_params;
        out->weight_bytes = pm_bytes(out->other, &model->weights_format);
    }
    if (!view->declared) {
        add_ends(view, out);
    }
    out->total = out->embedding + out->positions + out->attention + out->ffn + out->experts + out->shared +
                 out->router + out->norms + out->head + out->other;
    /* Nothing touches a tower or parameters that are in no step, and of tables one row at a time. */
    double apart = model->tower_params + model->lookup_params + pm_at_least(model->extra_params, 0);
    double idle = unused + (view->declared ? 0 : apart);
    out->active = pm_at_least(out->total - idle, 0);
}

/* Spreads `params` over blocks (calibration.md section 9): attention from heads and width, the rest a
 * gated feed-forward. Where that leaves nothing, or the width is unknown, blocks are one operation each. */
static void spread_declared(struct pm_view *view)
{
    const struct pm_model *model = view->model;
    double attention = 0;
    bool known = model->hidden > 0 && view->layers > 0;
    for (size_t i = 0; i < model->block_count; i++) {
        struct pm_block_counts counts = {0};
        count_attention(&model->blocks[i], model->hidden, &counts);
        attention += model->blocks[i].count * sum_attention(&counts);
        known = known && sum_attention(&counts) > 0;
    }
    double rest = model->declared_params - attention;
    view->declared_bare = !known || !(rest > 0);
    view->declared_block =
        pm_divide(view->declared_bare ? model->declared_params : rest, pm_at_least(view->layers, 1));
}

struct pm_view pm_view_of(const struct pm_model *model)
{
    struct pm_view view = {.model = model, .scale = 1};
    bool architecture = false;
    for (size_t i = 0; i < model->block_count; i++) {
        const struct pm_block *block = &model->blocks[i];
        view.layers += block->count;
        architecture = architecture || block->ffn > 0 || block->experts > 0 || block->shared_ffn > 0;
    }
    if (model->declared_params > 0) {
        view.declared = !architecture;
        if (view.declared) {
            spread_declared(&view);
        } else {
            struct pm_params derived = {0};
            count_architecture(&view, &derived);
            view.scale = derived.total > 0 ? model->declared_params / derived.total : 1;
        }
    }
    return view;
}

void pm_count_params(const struct pm_model *model, struct pm_params *out)
{
    struct pm_view view = pm_view_of(model);
    pm_count_params_of(&view, out);
}

void pm_count_params_of(const struct pm_view *view, struct pm_params *out)
{
    const struct pm_model *model = view->model;
    *out = (struct pm_params){0};
    count_architecture(view, out);
    out->layers = view->layers;
    out->estimate = 12 * view->layers * model->hidden * model->hidden;
    if (view->scale != 1) {
        double *counts[] = {&out->embedding,     &out->positions,   &out->attention, &out->ffn,
                            &out->experts,       &out->shared,      &out->router,    &out->norms,
                            &out->head,          &out->other,       &out->active,    &out->matmul,
                            &out->matmul_active, &out->weight_bytes};
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            *counts[i] *= view->scale;
        }
        out->total = model->declared_params;
    } else if (view->declared) {
        out->total = out->active = out->matmul = out->matmul_active = model->declared_params;
        out->other = out->total - out->attention;
        out->weight_bytes = pm_bytes(out->total, &model->weights_format);
    }
}
