/* derive_model.c: worksheets of models: counts, bytes and caches as sums over the kinds of blocks. */
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "result/derive_sheet.h"

enum { EMBEDDING, POSITIONS, ATTENTION, FFN, EXPERTS, SHARED, ROUTER, NORMS, HEAD, OTHER };

/* Ends the formula of a sum over blocks. Where a plan declares another total than its architecture gives, all
 * counts are in that proportion. */
static bool finish(struct sheet *sheet, struct derive_node *node, struct buffer *sum)
{
    if (sum->length == 0)
        return false;
    sheet_scaled_formula(sheet, node, buffer_string(sum));
    return true;
}

/* ---- parameters ---------------------------------------------------------------------------------------- */

static double of_class(const struct pm_params *params, size_t weight_class)
{
    const double all[] = {params->embedding, params->positions, params->attention, params->ffn,
                          params->experts,   params->shared,    params->router,    params->norms,
                          params->head,      params->other};
    return all[weight_class];
}

static void count_alone(const struct sheet *sheet, size_t index, struct pm_params *out)
{
    struct pm_block block;
    struct pm_model alone = block_alone(&sheet->model->model, index, &block);
    pm_count_params(&alone, out);
}

static double matrices_of_attention(const struct sheet *sheet, size_t index)
{
    struct pm_block block;
    struct pm_model alone = block_alone(&sheet->model->model, index, &block);
    struct pm_params counted;
    alone.declared_params = 1e18; /* more than attention, whatever it is */
    pm_count_params(&alone, &counted);
    return counted.attention;
}

/* "hidden * heads * head_dim + ...", with the matrices alone or with all that stands beside them. */
static const char *one_of_class(struct sheet *sheet, size_t index, size_t weight_class, bool vectors,
                                const char *times)
{
    const struct pm_block *block = &sheet->model->model.blocks[index];
    struct block_terms terms = block_terms(sheet->arena, block, weight_class);
    struct buffer sum = buffer_in(sheet->arena);
    for (size_t i = 0; i < SHARE_COUNT; i++)
        if (terms.by_share[i] && (vectors || i != SHARE_VECTOR))
            sheet_plus(&sum, terms.by_share[i]);
    if (sum.length == 0 || !times)
        return sum.length > 0 ? buffer_string(&sum) : NULL;
    return arena_printf(sheet->arena, "%s * (%s)", times, buffer_string(&sum));
}

static struct derive_node *block_part(struct sheet *sheet, struct derive_node *node, size_t index,
                                      const char *what, double value, const char *unit)
{
    return sheet_part(sheet, node, arena_printf(sheet->arena, "%s.%s", block_name(sheet, index), what), value,
                      unit, "Of one block.");
}

static void add_block_term(struct sheet *sheet, struct derive_node *node, struct buffer *sum, size_t index,
                           struct derive_node *part, const char *formula)
{
    const char *count = block_count(sheet, node, index);
    if (formula) {
        sheet_formula(part, formula);
        block_sizes(sheet, part, index);
    }
    sheet_plus(sum, arena_printf(sheet->arena, "%s * %s", count, part->name));
}

/* What a class has besides its blocks. */
static void add_ends(struct sheet *sheet, struct derive_node *node, struct buffer *sum, size_t weight_class)
{
    const struct pm_model *model = &sheet->model->model;
    struct decl *decl = sheet->model->decl;
    if (weight_class == NORMS && model->final_norms + model->embedding_norm > 0) {
        sheet_attribute(sheet, node, decl, "hidden", "hidden", model->hidden, "1");
        sheet_part(sheet, node, "end_norms", model->final_norms + (model->embedding_norm ? 2 : 0), "1",
                   "Vectors of the norms before the first block and after the last.");
        sheet_plus(sum, "end_norms * hidden");
    }
    if (weight_class == OTHER && model->extra_params > 0) {
        sheet_attribute(sheet, node, decl, "extra_params", "extra_params", model->extra_params, "1");
        sheet_plus(sum, "extra_params");
    }
    if (weight_class == OTHER && model->tower_params > 0) {
        sheet_attribute(sheet, node, decl, "tower_params", "tower_params", model->tower_params, "1");
        sheet_plus(sum, "tower_params");
    }
}

static bool params_of_class(struct sheet *sheet, struct derive_node *node, size_t weight_class)
{
    const struct pm_model *model = &sheet->model->model;
    struct buffer sum = buffer_in(sheet->arena);
    for (size_t i = 0; i < model->block_count; i++) {
        struct pm_params one;
        count_alone(sheet, i, &one);
        bool bare = sheet_is_total(sheet);
        double value = bare && weight_class == ATTENTION ? matrices_of_attention(sheet, i)
                                                         : of_class(&one, weight_class);
        if (value == 0)
            continue;
        const char *times = weight_class == EXPERTS ? "experts" : NULL;
        add_block_term(sheet, node, &sum, i,
                       block_part(sheet, node, i, weight_class_names[weight_class], value, "1"),
                       one_of_class(sheet, i, weight_class, !bare, times));
    }
    add_ends(sheet, node, &sum, weight_class);
    return finish(sheet, node, &sum);
}

/* Where a plan declares nothing but a total, the classes that are known leave the rest. */
static bool others(struct sheet *sheet, struct derive_node *node)
{
    if (!sheet_is_total(sheet))
        return params_of_class(sheet, node, OTHER);
    sheet_formula(node, "params - params.embedding - params.positions - params.attention - params.ffn - "
                        "params.experts - params.shared - params.router - params.norms - params.head");
    return true;
}

/* Matrices that are multiplied: of one block, with all experts or those of a token. */
static const char *one_multiplied(struct sheet *sheet, size_t index, const char *experts)
{
    static const size_t classes[] = {ATTENTION, FFN, EXPERTS, SHARED, ROUTER, OTHER};
    struct buffer sum = buffer_in(sheet->arena);
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        const char *term =
            one_of_class(sheet, index, classes[i], false, classes[i] == EXPERTS ? experts : NULL);
        if (term)
            sheet_plus(&sum, term);
    }
    return sum.length > 0 ? buffer_string(&sum) : NULL;
}

static bool multiplied(struct sheet *sheet, struct derive_node *node, bool active)
{
    const struct pm_model *model = &sheet->model->model;
    struct buffer sum = buffer_in(sheet->arena);
    for (size_t i = 0; i < model->block_count; i++) {
        struct pm_params one;
        count_alone(sheet, i, &one);
        add_block_term(sheet, node, &sum, i,
                       block_part(sheet, node, i, "matrices", active ? one.matmul_active : one.matmul, "1"),
                       one_multiplied(sheet, i, active ? "active_experts" : "experts"));
    }
    sheet_plus(&sum, "vocab * hidden");
    sheet_attribute(sheet, node, sheet->model->decl, "vocab", "vocab", model->vocab, "1");
    sheet_attribute(sheet, node, sheet->model->decl, "hidden", "hidden", model->hidden, "1");
    return finish(sheet, node, &sum);
}

/* All parameters but experts that a token leaves out, and what is in no step. */
static bool active(struct sheet *sheet, struct derive_node *node)
{
    const struct pm_model *model = &sheet->model->model;
    struct buffer sum = buffer_in(sheet->arena), ends = buffer_in(sheet->arena);
    for (size_t i = 0; i < model->block_count; i++) {
        struct pm_params one;
        count_alone(sheet, i, &one);
        if (!(model->blocks[i].experts > 0))
            continue;
        struct derive_node *part = block_part(sheet, node, i, "left_out", one.total - one.active, "1");
        add_block_term(sheet, node, &sum, i, part,
                       one_of_class(sheet, i, EXPERTS, true, "(experts - active_experts)"));
    }
    add_ends(sheet, node, &ends, OTHER);
    if (model->lookup_params > 0) {
        sheet_attribute(sheet, node, sheet->model->decl, "lookup_params", "lookup_params",
                        model->lookup_params, "1");
        sheet_plus(&ends, "lookup_params");
    }
    if (ends.length > 0)
        sheet_plus(&sum, buffer_string(&ends));
    if (!finish(sheet, node, &sum))
        return false;
    sheet_printf(sheet, node, "params - (%s)", node->formula);
    return true;
}

/* ---- sums of what a block has -------------------------------------------------------------------------- */

struct per_block {
    const char *what, *unit, *formula;
    double value;
};

static bool sum_of(struct sheet *sheet, struct derive_node *node,
                   struct per_block (*of)(struct sheet *, size_t))
{
    struct buffer sum = buffer_in(sheet->arena);
    for (size_t i = 0; i < sheet->model->model.block_count; i++) {
        struct per_block one = of(sheet, i);
        if (one.value == 0)
            continue;
        struct derive_node *part = block_part(sheet, node, i, one.what, one.value, one.unit);
        if (one.formula && strstr(one.formula, "bits"))
            sheet_attribute(sheet, part, sheet->model->kv_cache, "bits", "bits",
                            sheet->model->model.kv_format.bits, "1");
        add_block_term(sheet, node, &sum, i, part, one.formula);
    }
    if (sum.length == 0)
        return false;
    sheet_formula(node, buffer_string(&sum));
    return true;
}

static const char *cached_token(const struct pm_block *block)
{
    bool same = !(block->v_dim > 0) || block->v_dim == block->head_dim;
    return block->attention == PM_ATTENTION_LATENT ? "(kv_rank + rope_dim) * bits * 1 B / 8"
           : same                                  ? "2 * kv_heads * head_dim * bits * 1 B / 8"
                                                   : "kv_heads * (head_dim + v_dim) * bits * 1 B / 8";
}

static struct per_block token_of(struct sheet *sheet, size_t index)
{
    struct pm_params one;
    const struct pm_block *block = &sheet->model->model.blocks[index];
    count_alone(sheet, index, &one);
    const char *formula = one.kv_bytes_window > 0 ? NULL : cached_token(block);
    if (formula && block->index_heads > 0)
        formula = arena_printf(sheet->arena, "%s + (index_dim + 4) * 1 B", formula);
    formula = formula ? arena_printf(sheet->arena, "(%s) / 1 token", formula) : NULL;
    return (struct per_block){"kv_per_token", "B/token", formula, one.kv_bytes_per_token};
}

static struct per_block window_of(struct sheet *sheet, size_t index)
{
    struct pm_params one;
    const struct pm_block *block = &sheet->model->model.blocks[index];
    count_alone(sheet, index, &one);
    const char *formula = arena_printf(sheet->arena, "%s * %s / 1 token", cached_token(block),
                                       block->window > 0 ? "window" : "attention_chunk");
    return (struct per_block){"kv_window", "B", formula, one.kv_bytes_window};
}

static const char *state_formula(const struct pm_block *block)
{
    if (block->state_bytes > 0)
        return "state";
    if (block->attention == PM_ATTENTION_LINEAR)
        return "4 B * linear_value_heads * linear_value_dim * linear_key_dim + 2 B * (2 * linear_key_heads * "
               "linear_key_dim + linear_value_heads * linear_value_dim) * (conv_kernel - 1)";
    return "4 B * ssm_heads * ssm_head_dim * ssm_state + 2 B * (ssm_heads * ssm_head_dim + 2 * ssm_groups * "
           "ssm_state) * (conv_kernel - 1)";
}

static struct per_block state_of(struct sheet *sheet, size_t index)
{
    struct pm_params one;
    count_alone(sheet, index, &one);
    return (struct per_block){"state", "B", state_formula(&sheet->model->model.blocks[index]),
                              one.state_bytes};
}

static bool layers(struct sheet *sheet, struct derive_node *node)
{
    struct buffer sum = buffer_in(sheet->arena);
    for (size_t i = 0; i < sheet->model->model.block_count; i++)
        sheet_plus(&sum, block_count(sheet, node, i));
    sheet_formula(node, buffer_string(&sum));
    return sum.length > 0;
}

bool sheet_of_model(struct sheet *sheet, enum quantity quantity, struct derive_node *node)
{
    if (quantity_info(quantity)->scope != QUANTITY_OF_MODEL || !sheet->model)
        return false;
    switch (quantity) {
    case Q_PARAMS_ATTENTION: return params_of_class(sheet, node, ATTENTION);
    case Q_PARAMS_FFN: return params_of_class(sheet, node, FFN);
    case Q_PARAMS_EXPERTS: return params_of_class(sheet, node, EXPERTS);
    case Q_PARAMS_SHARED: return params_of_class(sheet, node, SHARED);
    case Q_PARAMS_ROUTER: return params_of_class(sheet, node, ROUTER);
    case Q_PARAMS_NORMS: return params_of_class(sheet, node, NORMS);
    case Q_PARAMS_OTHER: return others(sheet, node);
    case Q_MATMUL_PARAMS: return multiplied(sheet, node, false);
    case Q_MATMUL_PARAMS_ACTIVE: return multiplied(sheet, node, true);
    case Q_ACTIVE_PARAMS: return active(sheet, node);
    case Q_KV_BYTES_PER_TOKEN: return sum_of(sheet, node, token_of);
    case Q_KV_BYTES_WINDOW: return sum_of(sheet, node, window_of);
    case Q_STATE_BYTES: return sum_of(sheet, node, state_of);
    case Q_LAYERS: return layers(sheet, node);
    default: return false;
    }
}
