/* bind_model.c: a model declaration as an architecture: its blocks, what they lack, and which of the declared
 * and the derived parameter count holds. */
#include <math.h>
#include <string.h>

#include "result/bind_internal.h"

/* ---- blocks --------------------------------------------------------------------------------------- */

/* A kind of attention that a block says itself wins over one that it takes from its model. */
static bool more_own(const struct setting *mine, const struct setting *other)
{
    bool mine_in_block = mine && mine->owner && mine->owner->kind == KIND_BLOCK;
    bool other_in_block = other && other->owner && other->owner->kind == KIND_BLOCK;
    return mine && (!other || (mine_in_block && !other_in_block));
}

static enum pm_attention attention_of(struct bind_job *job, struct decl *decl)
{
    static const struct {
        const char *word;
        enum pm_attention kind;
    } words[] = {
        {"gqa", PM_ATTENTION_GROUPED}, {"mla", PM_ATTENTION_LATENT}, {"linear", PM_ATTENTION_LINEAR},
        {"mamba", PM_ATTENTION_MAMBA}, {"none", PM_ATTENTION_NONE},
    };
    const struct setting *said = bind_setting(job, decl, ATTR_ATTENTION);
    for (size_t i = 0; said && i < sizeof words / sizeof words[0]; i++)
        if (strcmp(said->value.text, words[i].word) == 0)
            return words[i].kind;
    const struct setting *best = NULL;
    enum pm_attention kind = PM_ATTENTION_GROUPED;
    static const struct {
        enum attribute mark;
        enum pm_attention kind;
    } marks[] = {
        {ATTR_KV_RANK, PM_ATTENTION_LATENT},
        {ATTR_LINEAR_VALUE_HEADS, PM_ATTENTION_LINEAR},
        {ATTR_SSM_HEADS, PM_ATTENTION_MAMBA},
    };
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        const struct setting *mark = bind_setting(job, decl, marks[i].mark);
        if (more_own(mark, best)) {
            best = mark;
            kind = marks[i].kind;
        }
    }
    return kind;
}

static void read_attention(struct bind_job *job, struct decl *decl, struct pm_block *block)
{
    block->attention = attention_of(job, decl);
    block->attention_params = bind_number(job, decl, ATTR_ATTENTION_PARAMS, 0);
    block->state_bytes = bind_number(job, decl, ATTR_STATE, 0);
    block->output_gate = bind_bool(job, decl, ATTR_OUTPUT_GATE, false);
    block->output_bias = bind_bool(job, decl, ATTR_OUTPUT_BIAS, false);
    block->qkv_bias = bind_bool(job, decl, ATTR_QKV_BIAS, false);
    switch (block->attention) {
    case PM_ATTENTION_GROUPED:
    case PM_ATTENTION_LATENT:
        block->heads = bind_number(job, decl, ATTR_HEADS, 0);
        block->kv_heads = bind_number(job, decl, ATTR_KV_HEADS, block->heads);
        /* Latent attention has sizes of its own: hidden / heads need not be a whole number. */
        if (block->attention == PM_ATTENTION_GROUPED)
            block->head_dim = bind_number(job, decl, ATTR_HEAD_DIM, 0);
        block->window = bind_number(job, decl, ATTR_WINDOW, 0);
        block->chunk = bind_number(job, decl, ATTR_ATTENTION_CHUNK, 0);
        block->sinks = bind_bool(job, decl, ATTR_SINKS, false);
        block->shared_kv = bind_bool(job, decl, ATTR_SHARED_KV, false);
        block->reuses_kv = bind_bool(job, decl, ATTR_REUSES_KV, false);
        block->reuses_weights = bind_bool(job, decl, ATTR_REUSES_WEIGHTS, false);
        break;
    case PM_ATTENTION_LINEAR:
        block->linear_key_heads = bind_number(job, decl, ATTR_LINEAR_KEY_HEADS, 0);
        block->linear_value_heads = bind_number(job, decl, ATTR_LINEAR_VALUE_HEADS, 0);
        block->linear_key_dim = bind_number(job, decl, ATTR_LINEAR_KEY_DIM, 0);
        block->linear_value_dim = bind_number(job, decl, ATTR_LINEAR_VALUE_DIM, 0);
        block->conv_kernel = bind_number(job, decl, ATTR_CONV_KERNEL, 4);
        break;
    case PM_ATTENTION_MAMBA:
        block->ssm_heads = bind_number(job, decl, ATTR_SSM_HEADS, 0);
        block->ssm_head_dim = bind_number(job, decl, ATTR_SSM_HEAD_DIM, 0);
        block->ssm_groups = bind_number(job, decl, ATTR_SSM_GROUPS, 1);
        block->ssm_state = bind_number(job, decl, ATTR_SSM_STATE, 0);
        block->conv_kernel = bind_number(job, decl, ATTR_CONV_KERNEL, 4);
        break;
    case PM_ATTENTION_NONE: break;
    }
    const char *norm = plan_text(job->binder->plan, decl, ATTR_QK_NORM, "none");
    block->qk_norm = strcmp(norm, "head") == 0   ? PM_QK_NORM_HEAD
                     : strcmp(norm, "full") == 0 ? PM_QK_NORM_FULL
                                                 : PM_QK_NORM_NONE;
    block->v_dim = bind_number(job, decl, ATTR_V_DIM, block->head_dim);
}

static void read_latent(struct bind_job *job, struct decl *decl, struct pm_block *block)
{
    if (block->attention != PM_ATTENTION_LATENT)
        return;
    block->q_rank = bind_number(job, decl, ATTR_Q_RANK, 0);
    block->kv_rank = bind_number(job, decl, ATTR_KV_RANK, 0);
    block->nope_dim = bind_number(job, decl, ATTR_NOPE_DIM, 0);
    block->rope_dim = bind_number(job, decl, ATTR_ROPE_DIM, 0);
    block->v_dim = bind_number(job, decl, ATTR_V_DIM, block->nope_dim);
}

/* A sparse index stands before latent or grouped attention alike. */
static void read_index(struct bind_job *job, struct decl *decl, struct pm_block *block)
{
    if (block->attention != PM_ATTENTION_LATENT && block->attention != PM_ATTENTION_GROUPED)
        return;
    block->index_heads = bind_number(job, decl, ATTR_INDEX_HEADS, 0);
    block->index_dim = bind_number(job, decl, ATTR_INDEX_DIM, 0);
    block->index_top = bind_number(job, decl, ATTR_INDEX_TOP, 0);
}

/* The part of a head that turns: all of it (of latent attention, its rotary part) unless declared, and none
 * where positions are learned. */
static void read_rotary(struct bind_job *job, struct decl *decl, double positions, struct pm_block *block)
{
    double size = block->attention == PM_ATTENTION_GROUPED  ? block->head_dim
                  : block->attention == PM_ATTENTION_LATENT ? block->rope_dim
                                                            : 0;
    if (size > 0)
        block->rotary_dim = bind_number(job, decl, ATTR_ROTARY_DIM, positions > 0 ? 0 : size);
}

/* A block with its own `ffn` inside a model with experts is a dense one. */
static bool is_dense(const struct setting *ffn, const struct setting *experts)
{
    return !experts || (ffn && more_own(ffn, experts));
}

static void read_feed_forward(struct bind_job *job, struct decl *decl, struct pm_block *block)
{
    const struct setting *ffn = bind_setting(job, decl, ATTR_FFN);
    double width = ffn ? ffn->value.number : 0;
    block->ffn_gated = bind_bool(job, decl, ATTR_FFN_GATED, true);
    block->ffn_bias = bind_bool(job, decl, ATTR_FFN_BIAS, false);
    if (is_dense(ffn, bind_setting(job, decl, ATTR_EXPERTS))) {
        block->ffn = width;
        return;
    }
    block->ffn = bind_number(job, decl, ATTR_PARALLEL_FFN, 0);
    block->experts = bind_number(job, decl, ATTR_EXPERTS, 0);
    block->active_experts = bind_number(job, decl, ATTR_ACTIVE_EXPERTS, 0);
    block->expert_ffn = bind_number(job, decl, ATTR_EXPERT_FFN, width);
    block->expert_input = bind_number(job, decl, ATTR_EXPERT_INPUT, 0);
    block->expert_spread = bind_number(job, decl, ATTR_EXPERT_SPREAD, 1);
    block->expert_bias = bind_bool(job, decl, ATTR_EXPERT_BIAS, false);
    block->router_bias = bind_bool(job, decl, ATTR_ROUTER_BIAS, false);
    const struct setting *shared_width = bind_setting(job, decl, ATTR_SHARED_FFN);
    double shared = bind_number(job, decl, ATTR_SHARED_EXPERTS, shared_width ? 1 : 0);
    block->shared_ffn = shared * (shared_width ? shared_width->value.number : block->expert_ffn);
    block->shared_gate = shared > 0 && bind_bool(job, decl, ATTR_SHARED_GATE, false);
}

static enum pm_norm norm_of(struct bind_job *job, struct decl *decl)
{
    return strcmp(plan_text(job->binder->plan, decl, ATTR_NORM, "rms"), "layer") == 0 ? PM_NORM_LAYER
                                                                                      : PM_NORM_RMS;
}

static struct pm_block read_block(struct bind_job *job, struct decl *decl, double positions)
{
    struct pm_block block = {0};
    read_attention(job, decl, &block);
    read_latent(job, decl, &block);
    read_index(job, decl, &block);
    read_rotary(job, decl, positions, &block);
    read_feed_forward(job, decl, &block);
    block.norms = bind_number(job, decl, ATTR_NORMS, 2);
    block.norm = norm_of(job, decl);
    block.extra_params = bind_number(job, decl, ATTR_BLOCK_EXTRA_PARAMS, 0);
    return block;
}

/* ---- what a block lacks ------------------------------------------------------------------------------ */

/* An attribute that a kind of attention cannot do without. */
static const struct {
    enum pm_attention attention;
    size_t offset;
    const char *name;
} needed[] = {
    {PM_ATTENTION_GROUPED, offsetof(struct pm_block, heads), "`heads`"},
    {PM_ATTENTION_GROUPED, offsetof(struct pm_block, head_dim), "`head_dim` (or `hidden`)"},
    {PM_ATTENTION_LATENT, offsetof(struct pm_block, heads), "`heads`"},
    {PM_ATTENTION_LATENT, offsetof(struct pm_block, kv_rank), "`kv_rank`"},
    {PM_ATTENTION_LATENT, offsetof(struct pm_block, nope_dim), "`nope_dim`"},
    {PM_ATTENTION_LINEAR, offsetof(struct pm_block, linear_key_heads), "`linear_key_heads`"},
    {PM_ATTENTION_LINEAR, offsetof(struct pm_block, linear_value_heads), "`linear_value_heads`"},
    {PM_ATTENTION_LINEAR, offsetof(struct pm_block, linear_key_dim), "`linear_key_dim`"},
    {PM_ATTENTION_LINEAR, offsetof(struct pm_block, linear_value_dim), "`linear_value_dim`"},
    {PM_ATTENTION_MAMBA, offsetof(struct pm_block, ssm_head_dim), "`ssm_head_dim`"},
    {PM_ATTENTION_MAMBA, offsetof(struct pm_block, ssm_state), "`ssm_state`"},
};

static void check_block(struct bind_job *job, struct decl *decl, const struct pm_block *block)
{
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        double value;
        memcpy(&value, (const char *)block + needed[i].offset, sizeof value);
        if (needed[i].attention == block->attention && !(value > 0)) {
            bind_missing(job, decl, needed[i].name);
            break; /* the rest often follows from it */
        }
    }
    if (block->experts > 0 && !(block->active_experts > 0))
        bind_missing(job, decl, "`active_experts`, which goes with `experts`");
    if (block->experts > 0 && !(block->expert_ffn > 0))
        bind_missing(job, decl, "`expert_ffn`, which goes with `experts`");
    if (block->active_experts > block->experts) {
        const struct setting *active = bind_setting(job, decl, ATTR_ACTIVE_EXPERTS);
        struct diag *diag = bind_error(job, DIAG_E0304, active->span, "a token cannot use %g of %g experts",
                                       block->active_experts, block->experts);
        if (diag)
            diag_label(plan_diags(job->binder->plan), diag, "more than `experts`");
    }
}

/* ---- models ---------------------------------------------------------------------------------------------
 */

static void check_layers(struct bind_job *job, struct decl *decl, double total)
{
    const struct setting *layers = bind_setting(job, decl, ATTR_MODEL_LAYERS);
    if (layers && layers->span.end > 0 && layers->value.number != total)
        bind_error(job, DIAG_E0311, layers->span, "`layers` says %g, but the blocks of `%s` add up to %g",
                   layers->value.number, decl->name, total);
}

/* The blocks, or the short form: `layers` identical ones. */
static struct pm_block *read_blocks(struct bind_job *job, struct decl *decl, struct bound_model *bound)
{
    struct arena *arena = job->binder->arena;
    size_t count = decl->block_count;
    double layers = bind_number(job, decl, ATTR_MODEL_LAYERS, 0);
    bool short_form = count == 0 && layers > 0;
    if (count > PM_BLOCKS_MAX) {
        bind_error(job, DIAG_E0312, decl->name_span,
                   "model `%s` has %zu kinds of block, %d at most can be sized", decl->name, count,
                   PM_BLOCKS_MAX);
        count = 0;
    }
    struct pm_block *blocks = ARENA_ARRAY(arena, struct pm_block, count + 1);
    bound->block_decls = ARENA_ARRAY(arena, struct decl *, count + 1);
    double total = 0;
    for (size_t i = 0; i < count; i++) {
        bound->block_decls[i] = decl->blocks[i];
        blocks[i] = read_block(job, decl->blocks[i], bound->model.positions);
        blocks[i].count = bind_number(job, decl->blocks[i], ATTR_BLOCK_COUNT, 0);
        if (bind_poisoned(job, decl->blocks[i]))
            continue;
        if (!(blocks[i].count > 0))
            bind_missing(job, decl->blocks[i], "`count`");
        total += blocks[i].count;
    }
    if (count > 0)
        check_layers(job, decl, total);
    if (short_form) {
        bound->block_decls[0] = decl;
        blocks[0] = read_block(job, decl, bound->model.positions);
        blocks[0].count = layers;
        count = 1;
    }
    bound->model.blocks = blocks;
    bound->model.block_count = count;
    return blocks;
}

static void read_model(struct bind_job *job, struct decl *decl, struct pm_model *model)
{
    model->hidden = bind_number(job, decl, ATTR_MODEL_HIDDEN, 0);
    model->vocab = bind_number(job, decl, ATTR_MODEL_VOCAB, 0);
    model->tied_embeddings = bind_bool(job, decl, ATTR_MODEL_TIED, false);
    model->positions = bind_number(job, decl, ATTR_MODEL_POSITIONS, 0);
    model->lookup_params = bind_number(job, decl, ATTR_MODEL_LOOKUP_PARAMS, 0);
    model->head_bias = bind_bool(job, decl, ATTR_MODEL_HEAD_BIAS, false);
    model->embedding_norm = bind_bool(job, decl, ATTR_MODEL_EMBEDDING_NORM, false);
    bool final_norm = bind_bool(job, decl, ATTR_MODEL_FINAL_NORM, true);
    model->final_norms = !final_norm ? 0 : norm_of(job, decl) == PM_NORM_LAYER ? 2 : 1;
    model->extra_params = bind_number(job, decl, ATTR_MODEL_EXTRA_PARAMS, 0);
    model->max_context = bind_number(job, decl, ATTR_MODEL_MAX_CONTEXT, 0);
    model->tower_params = bind_number(job, decl, ATTR_MODEL_TOWER_PARAMS, 0);
    model->tower_tokens = bind_number(job, decl, ATTR_MODEL_TOWER_TOKENS, 0);
    model->mtp_params = bind_number(job, decl, ATTR_MODEL_MTP_PARAMS, 0);
}

/* A parameter count needs a vocabulary and a feed-forward somewhere. */
static bool is_complete(struct bind_job *job, struct decl *decl, const struct pm_model *model)
{
    bool feed_forward = plan_is_set(job->binder->plan, decl, ATTR_FFN); /* `ffn = 0`: none, on purpose */
    for (size_t i = 0; i < model->block_count; i++)
        feed_forward = feed_forward || model->blocks[i].ffn > 0 || model->blocks[i].experts > 0;
    return model->vocab > 0 && model->hidden > 0 && model->block_count > 0 && feed_forward;
}

/* A rule of thumb for "one of the two is wrong" (docs/language.md). Checkpoints in the standard library are
 * tested against their published totals instead. */
enum { PARAMS_TOLERANCE_PERCENT = 2 };

static bool differ(double declared, double derived)
{
    return fabs(declared - derived) * 100 > PARAMS_TOLERANCE_PERCENT * declared;
}

static void check_params(struct bind_job *job, struct decl *decl, double declared, double derived)
{
    const struct setting *setting = plan_setting(job->binder->plan, decl, ATTR_MODEL_PARAMS);
    if (decl->catalogue || !differ(declared, derived))
        return;
    diag_add(plan_diags(job->binder->plan), DIAG_W0603, setting->span,
             "`params` says %.4g, the architecture of `%s` comes to %.4g", declared, decl->name, derived);
}

/* The declared count overrides the derived one (model.md section 1). What the formulas miss of a checkpoint
 * is a small rest that no step reads; a larger difference scales every matrix of the architecture, so that
 * no part is ever less than nothing. Without an architecture the declared count is all there is. */
static void settle_params(struct bind_job *job, struct decl *decl, struct bound_model *bound)
{
    struct pm_model *model = &bound->model;
    bound->declared_params = bind_number(job, decl, ATTR_MODEL_PARAMS, 0);
    bound->complete = is_complete(job, decl, model);
    if (bound->complete) {
        struct pm_params params;
        pm_count_params(model, &params);
        bound->derived_params = params.total;
        if (bound->declared_params > 0) {
            check_params(job, decl, bound->declared_params, params.total);
            if (differ(bound->declared_params, params.total))
                model->declared_params = bound->declared_params;
            else
                model->extra_params += bound->declared_params - params.total;
        }
        return;
    }
    model->declared_params = bound->declared_params;
    if (bound->declared_params > 0)
        return;
    if (model->block_count == 0)
        bind_missing(job, decl, "its size: `params`, or an architecture with `layers`");
    else if (!(model->vocab > 0))
        bind_missing(job, decl, "`vocab` (or `params`)");
    else if (!(model->hidden > 0))
        bind_missing(job, decl, "`hidden` (or `params`)");
    else
        bind_missing(job, decl, "`ffn` or `experts` (or `params`)");
}

struct bound_failure {
    struct bound_model bound; /* decl NULL */
    const char *why;
};

static void bind_all(struct bind_job *job, struct decl *decl, struct bound_model *bound)
{
    bound->decl = decl;
    read_model(job, decl, &bound->model);
    struct pm_block *blocks = read_blocks(job, decl, bound);
    if (bind_poisoned(job, decl))
        return;
    for (size_t i = 0; i < bound->model.block_count; i++)
        if (!bind_poisoned(job, bound->block_decls[i]))
            check_block(job, bound->block_decls[i], &blocks[i]);
    if (job->failed)
        return;
    bind_own_formats(job, bound, blocks);
    settle_params(job, decl, bound);
    pm_count_params(&bound->model, &bound->params);
    bind_poisoned(job, decl);
}

const struct bound_model *bind_architecture(struct bind_job *job, struct decl *model)
{
    struct bound_failure *known = decl_map_get(job->binder->models, model);
    if (!known) {
        known = ARENA_NEW(job->binder->arena, struct bound_failure);
        struct bind_job own = bind_apart(job);
        bind_all(&own, model, &known->bound);
        if (own.failed) {
            known->bound.decl = NULL;
            known->why = own.why;
        }
        if (bind_keeps(job, &own))
            decl_map_put(job->binder->models, model, known);
    }
    if (known->bound.decl)
        return &known->bound;
    bind_fail(job, known->why);
    return NULL;
}
