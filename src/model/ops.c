/* ops.c: the operations of a step, one call per row of the table in calibration.md section 2.3, as far as
 * model and layout decide them: price.c knows what each costs in a step. The table's count of operations is
 * part of the calibration: a kernel more or less is no operation more or less. Sizes are those of one GPU. */
#include "model/internal.h"

/* A list that grows in the room of a preparation. */
struct list {
    const struct pm_view *view;
    const struct pm_layout *layout;
    struct pm_formats *formats;
    struct pm_operation *next;
    double scale;   /* of matrices, from declared counts */
    bool recurrent; /* those that are listed now */
};

static const struct pm_format bf16 = {.bits = 16, .compute = PM_BF16, .expected = PM_BF16};

/* A product of rows with `weights` in one matrix or several. */
static void add_product(struct list *list, const char *name, enum pm_rows rows, double weights, double inner,
                        double columns, const struct pm_format *format)
{
    if (weights > 0) {
        *list->next++ = (struct pm_operation){
            .name = name,
            .kind = PM_PRODUCT,
            .rows = (unsigned char)rows,
            .format = pm_format_place(list->formats, format),
            .memory = format->bits > 0 ? PM_BOUND_WEIGHTS : PM_BOUND_KV,
            .recurrent = list->recurrent,
            .narrow = pm_format_narrow(format),
            .weights = weights,
            .weight_bytes = pm_bytes(weights, format),
            .columns = columns,
            .inner = inner,
        };
    }
}

/* A product with an inner x outer matrix. */
static void gemm(struct list *list, const char *name, enum pm_rows rows, double inner, double outer,
                 const struct pm_format *format)
{
    add_product(list, name, rows, inner * outer * list->scale, inner, inner + outer, format);
}

/* Weights that are read and multiplied, of which no more is known: one operation. */
static void add_weights(struct list *list, const char *name, enum pm_rows rows, double weights,
                        const struct pm_format *format)
{
    double hidden = list->view->model->hidden;
    add_product(list, name, rows, weights, 0, hidden + hidden, format);
}

static void attend(struct list *list, const char *name, enum pm_op_kind kind, double heads, double width,
                   double token_bytes)
{
    *list->next++ = (struct pm_operation){
        .name = name,
        .kind = (unsigned char)kind,
        .memory = PM_BOUND_KV,
        .heads = heads,
        .width = width,
        .token_bytes = token_bytes,
    };
}

/* ---- attention ------------------------------------------------------------------------------ */

/* The indexer of sparse attention scores all tokens to choose those that attention reads. Its projections
 * are whole on every GPU; one operation per phase, at the fp8 peak. */
static void list_index(struct list *list, const struct pm_block *block)
{
    const struct pm_format *format = pm_format_attention(list->view, block);
    double hidden = list->view->model->hidden, heads = block->index_heads, width = block->index_dim;
    double query = block->q_rank > 0 ? block->q_rank : hidden;
    gemm(list, "index query projection", PM_ROWS_TOKENS, query, heads * width, format);
    gemm(list, "index key projection", PM_ROWS_TOKENS, hidden, width, format);
    gemm(list, "index weights", PM_ROWS_TOKENS, hidden, heads, &bf16);
    attend(list, "index scores", PM_DECODE_INDEX, heads, width, width);
    attend(list, "index scores (prompt)", PM_PROMPT_INDEX, heads, width, width);
}

static void list_grouped(struct list *list, const struct pm_block *block)
{
    const struct pm_format *format = pm_format_attention(list->view, block);
    double tp = list->layout->tp, hidden = list->view->model->hidden;
    double heads = pm_at_least(block->heads / tp, block->heads > 0 ? 1 : 0);
    double both = block->head_dim + pm_v_dim(block), token = pm_read_token_bytes(list->view, block, tp);
    double made = block->reuses_kv ? 0 : block->shared_kv ? block->head_dim : both;
    double kv_columns = pm_kv_heads_per_gpu(block, tp) * made;
    double queries = heads * block->head_dim * (block->output_gate ? 2 : 1);
    bool declared = block->attention_params > 0;
    if (declared) {
        gemm(list, "attention projections", PM_ROWS_TOKENS, hidden, block->attention_params / hidden / tp,
             format);
    } else {
        gemm(list, "QKV projection", PM_ROWS_TOKENS, hidden, queries + kv_columns, format);
    }
    attend(list, "decode attention", PM_DECODE_ATTENTION, heads, both, token);
    attend(list, "prompt attention", PM_PROMPT_ATTENTION, heads, both, token);
    if (!declared) {
        gemm(list, "output projection", PM_ROWS_TOKENS, heads * pm_v_dim(block), hidden, format);
    }
}

static void list_latent(struct list *list, const struct pm_block *block)
{
    const struct pm_format *format = pm_format_attention(list->view, block);
    double hidden = list->view->model->hidden, token = pm_kind_of(list->view, block)->kv_token;
    double heads = pm_at_least(block->heads / list->layout->tp, 1), rank = block->kv_rank;
    double head = block->nope_dim + block->rope_dim, up = heads * (block->nope_dim + block->v_dim);
    double absorbed = 2 * rank + block->rope_dim, plain = head + block->v_dim;
    double query = block->q_rank > 0 ? block->q_rank : hidden;
    gemm(list, "down projections", PM_ROWS_TOKENS, hidden, block->q_rank + rank + block->rope_dim, format);
    gemm(list, "query projection", PM_ROWS_TOKENS, query, heads * head, format);
    gemm(list, "absorbed up projection", PM_ROWS_DECODING, rank, up, &bf16);
    attend(list, "decode attention", PM_DECODE_ATTENTION, heads, absorbed, token);
    gemm(list, "up projection", PM_ROWS_KEYS, rank, up, format);
    attend(list, "prompt attention", PM_PROMPT_LATENT, heads, plain, token);
    gemm(list, "output projection", PM_ROWS_TOKENS, heads * block->v_dim, hidden, format);
}

/* Projections and the update of a recurrent state of `state` 32-bit values; `columns` pass through it.
 * Convolution, gates and norms of the state are launched besides. */
static void list_recurrent(struct list *list, const struct pm_block *block, double in_columns, double columns,
                           double state, double out_rows)
{
    const struct pm_format *format = pm_format_attention(list->view, block);
    double hidden = list->view->model->hidden, tp = list->layout->tp;
    bool declared = block->attention_params > 0;
    double bytes = block->state_bytes > 0 ? 2 * block->state_bytes / tp : 8 * state;
    list->recurrent = true;
    gemm(list, "input projections", PM_ROWS_TOKENS, hidden,
         declared ? block->attention_params / hidden / tp : in_columns, format);
    if (bytes > 0) {
        *list->next++ = (struct pm_operation){
            .name = "state update",
            .kind = PM_STATE_UPDATE,
            .memory = PM_BOUND_KV,
            .recurrent = true,
            .values = state > 0 ? state : bytes / 8,
            .passing = columns,
            .state_bytes = bytes,
        };
    }
    list->recurrent = false;
    if (!declared) {
        gemm(list, "output projection", PM_ROWS_TOKENS, out_rows, hidden, format);
    }
}

static void list_linear(struct list *list, const struct pm_block *block)
{
    double tp = list->layout->tp;
    double keys = block->linear_key_heads * block->linear_key_dim / tp;
    double values = block->linear_value_heads * block->linear_value_dim / tp;
    double columns = 2 * keys + 2 * values;
    list_recurrent(list, block, columns + 2 * block->linear_value_heads / tp, columns,
                   values * block->linear_key_dim, values);
}

static void list_mamba(struct list *list, const struct pm_block *block)
{
    double tp = list->layout->tp, inner = block->ssm_heads * block->ssm_head_dim / tp;
    double columns = 2 * inner + 2 * block->ssm_groups * block->ssm_state / tp;
    list_recurrent(list, block, columns + block->ssm_heads / tp, columns, inner * block->ssm_state, inner);
}

static void list_attention(struct list *list, const struct pm_block *block)
{
    switch (block->attention) {
    case PM_ATTENTION_GROUPED: list_grouped(list, block); break;
    case PM_ATTENTION_LATENT: list_latent(list, block); break;
    case PM_ATTENTION_LINEAR: list_linear(list, block); break;
    case PM_ATTENTION_MAMBA: list_mamba(list, block); break;
    case PM_ATTENTION_NONE: break;
    }
    if (block->index_heads > 0) {
        list_index(list, block);
    }
}

/* ---- feed-forwards -------------------------------------------------------------------------- */

static void list_dense(struct list *list, const char *first, const char *second, double width, bool gated,
                       const struct pm_format *format)
{
    double hidden = list->view->model->hidden, columns = width / list->layout->tp;
    gemm(list, first, PM_ROWS_TOKENS, hidden, (gated ? 2 : 1) * columns, format);
    gemm(list, second, PM_ROWS_TOKENS, columns, hidden, format);
}

/* One grouped product over experts of inner x outer weights each. */
static void grouped_gemm(struct list *list, const char *name, double inner, double outer,
                         const struct pm_format *format)
{
    double weights = inner * outer * list->scale;
    *list->next++ = (struct pm_operation){
        .name = name,
        .kind = PM_EXPERTS,
        .format = pm_format_place(list->formats, format),
        .memory = weights * format->bits > 0 ? PM_BOUND_WEIGHTS : PM_BOUND_KV,
        .weights = weights,
        .columns = inner + outer,
        .inner = inner,
    };
}

static void list_experts(struct list *list, const struct pm_block *block)
{
    const struct pm_format *dense = pm_format_ffn(list->view, block), *format = &block->expert_format;
    double hidden = list->view->model->hidden, tp = list->layout->tp;
    double input = block->expert_input > 0 ? block->expert_input : hidden;
    if (!(block->experts > 0) || !(block->active_experts > 0)) {
        return;
    }
    gemm(list, "router", PM_ROWS_TOKENS, hidden, block->experts, &block->router_format);
    if (input != hidden) {
        gemm(list, "latent input", PM_ROWS_TOKENS, hidden, input / tp, dense);
        gemm(list, "latent output", PM_ROWS_TOKENS, input / tp, hidden, dense);
    }
    grouped_gemm(list, "expert input", input, (block->ffn_gated ? 2 : 1) * block->expert_ffn, format);
    grouped_gemm(list, "expert output", block->expert_ffn, input, format);
}

/* ---- blocks and ends ------------------------------------------------------------------------ */

static void list_block(struct list *list, const struct pm_block *block)
{
    const struct pm_view *view = list->view;
    const struct pm_format *declared = &view->model->weights_format;
    double tp = list->layout->tp;
    if (view->declared_bare) {
        /* Attention reads its cache; its projections are in the weights. */
        add_weights(list, "weights", PM_ROWS_TOKENS, view->declared_block / tp * view->scale, declared);
        list->scale = 0;
        if (pm_kv_token_bytes(view, block, 1) > 0) {
            list_attention(list, block);
        }
        list->scale = view->scale;
        return;
    }
    list_attention(list, block);
    if (view->declared) {
        list_dense(list, "feed-forward input", "feed-forward output",
                   view->declared_block / (3 * view->model->hidden), true, declared);
        return;
    }
    list_dense(list, "feed-forward input", "feed-forward output", block->ffn, block->ffn_gated,
               &block->ffn_format);
    list_experts(list, block);
    list_dense(list, "shared expert input", "shared expert output", block->shared_ffn, block->ffn_gated,
               &block->shared_format);
    add_weights(list, "other weights", PM_ROWS_TOKENS, block->extra_params / tp * view->scale,
                &block->ffn_format);
}

static struct list list_in(const struct pm_view *view, const struct pm_layout *layout,
                           struct pm_formats *formats, struct pm_operation *room)
{
    return (struct list){
        .view = view,
        .layout = layout,
        .formats = formats,
        .next = room,
        .scale = view->scale,
    };
}

struct pm_operation *pm_list_block(const struct pm_view *view, const struct pm_layout *layout, size_t index,
                                   struct pm_formats *formats, struct pm_operation *room)
{
    struct list list = list_in(view, layout, formats, room);
    list_block(&list, &view->model->blocks[index]);
    return list.next;
}

struct pm_operation *pm_list_ends(const struct pm_view *view, const struct pm_layout *layout,
                                  struct pm_formats *formats, struct pm_operation *room)
{
    struct list list = list_in(view, layout, formats, room);
    const struct pm_model *model = view->model;
    double tp = layout->tp;
    if (view->declared && model->block_count == 0) {
        add_weights(&list, "weights", PM_ROWS_TOKENS, view->declared_block / tp * view->scale,
                    &model->weights_format);
    }
    if (!view->declared) {
        gemm(&list, "output head", PM_ROWS_LOGITS, model->hidden, model->vocab / tp, pm_format_head(view));
    }
    add_weights(&list, "tower", PM_ROWS_TOWER, model->tower_params, &bf16);
    return list.next;
}
