/* check_effect.c: attributes of a model that were written and change nothing, because no block they reach is
 * of the kind that reads them. A misspelt kind of attention must not pass as a faster model. */
#include "result/check.h"

/* What a block must be for an attribute to mean something. */
enum effect_needs {
    NEEDS_SOFTMAX,
    NEEDS_LATENT,
    NEEDS_INDEX,
    NEEDS_LINEAR,
    NEEDS_MAMBA,
    NEEDS_CONVOLUTION,
    NEEDS_EXPERTS,
    NEEDS_SHARED,
};

/* What is wrong with an attribute and its model. */
static const char *const needs_texts[] = {
    [NEEDS_SOFTMAX] = "`%s` changes nothing in `%s`: it is for grouped and latent attention",
    [NEEDS_LATENT] = "`%s` changes nothing in `%s`: it is for latent attention (`attention = mla`)",
    [NEEDS_INDEX] = "`%s` changes nothing in `%s`: it goes with `index_heads`",
    [NEEDS_LINEAR] = "`%s` changes nothing in `%s`: it is for linear attention (`attention = linear`)",
    [NEEDS_MAMBA] = "`%s` changes nothing in `%s`: it is for state spaces (`attention = mamba`)",
    [NEEDS_CONVOLUTION] = "`%s` changes nothing in `%s`: it is for linear attention and state spaces",
    [NEEDS_EXPERTS] = "`%s` changes nothing in `%s`: it goes with `experts`",
    [NEEDS_SHARED] = "`%s` changes nothing in `%s`: it goes with `shared_experts`",
};

static const struct {
    enum attribute attribute;
    enum effect_needs needs;
} rows[] = {
    {ATTR_WINDOW, NEEDS_SOFTMAX},          {ATTR_ATTENTION_CHUNK, NEEDS_SOFTMAX},
    {ATTR_Q_RANK, NEEDS_LATENT},           {ATTR_KV_RANK, NEEDS_LATENT},
    {ATTR_NOPE_DIM, NEEDS_LATENT},         {ATTR_ROPE_DIM, NEEDS_LATENT},
    {ATTR_INDEX_DIM, NEEDS_INDEX},         {ATTR_INDEX_TOP, NEEDS_INDEX},
    {ATTR_LINEAR_KEY_HEADS, NEEDS_LINEAR}, {ATTR_LINEAR_VALUE_HEADS, NEEDS_LINEAR},
    {ATTR_LINEAR_KEY_DIM, NEEDS_LINEAR},   {ATTR_LINEAR_VALUE_DIM, NEEDS_LINEAR},
    {ATTR_SSM_HEADS, NEEDS_MAMBA},         {ATTR_SSM_HEAD_DIM, NEEDS_MAMBA},
    {ATTR_SSM_GROUPS, NEEDS_MAMBA},        {ATTR_SSM_STATE, NEEDS_MAMBA},
    {ATTR_CONV_KERNEL, NEEDS_CONVOLUTION}, {ATTR_PARALLEL_FFN, NEEDS_EXPERTS},
    {ATTR_ACTIVE_EXPERTS, NEEDS_EXPERTS},  {ATTR_EXPERT_FFN, NEEDS_EXPERTS},
    {ATTR_EXPERT_INPUT, NEEDS_EXPERTS},    {ATTR_EXPERT_SPREAD, NEEDS_EXPERTS},
    {ATTR_EXPERT_BIAS, NEEDS_EXPERTS},     {ATTR_ROUTER_BIAS, NEEDS_EXPERTS},
    {ATTR_SHARED_EXPERTS, NEEDS_EXPERTS},  {ATTR_SHARED_FFN, NEEDS_EXPERTS},
    {ATTR_SHARED_GATE, NEEDS_SHARED},      {ATTR_WEIGHTS_EXPERTS, NEEDS_EXPERTS},
    {ATTR_WEIGHTS_ROUTER, NEEDS_EXPERTS},  {ATTR_WEIGHTS_SHARED, NEEDS_SHARED},
};

static bool meets(const struct pm_block *block, enum effect_needs needs)
{
    bool linear = block->attention == PM_ATTENTION_LINEAR, mamba = block->attention == PM_ATTENTION_MAMBA;
    bool latent = block->attention == PM_ATTENTION_LATENT;
    switch (needs) {
    case NEEDS_SOFTMAX: return latent || block->attention == PM_ATTENTION_GROUPED;
    case NEEDS_LATENT: return latent;
    case NEEDS_INDEX: return block->index_heads > 0;
    case NEEDS_LINEAR: return linear;
    case NEEDS_MAMBA: return mamba;
    case NEEDS_CONVOLUTION: return linear || mamba;
    case NEEDS_EXPERTS: return block->experts > 0;
    case NEEDS_SHARED: return block->shared_ffn > 0;
    }
    return true;
}

/* The attribute as the plan itself sets it for a block; NULL when it does not, or sets it to nothing. */
static const struct setting *written(struct plan *plan, struct decl *block, enum attribute attribute)
{
    if (!(attribute_info(attribute)->scope & (1u << block->kind)))
        return NULL;
    const struct setting *setting = plan_setting(plan, block, attribute);
    if (!setting || !setting->owner || setting->owner->catalogue || setting->span.end == 0)
        return NULL;
    const struct value *value = &setting->value;
    bool nothing =
        (value->type == VALUE_NUMBER && value->number == 0) || (value->type == VALUE_BOOL && !value->boolean);
    return nothing ? NULL : setting;
}

static void check_row(struct plan *plan, const struct bound_model *model, enum attribute attribute,
                      enum effect_needs needs)
{
    const struct setting *idle = NULL;
    for (size_t i = 0; i < model->model.block_count; i++) {
        const struct setting *setting = written(plan, model->block_decls[i], attribute);
        if (!setting)
            continue;
        bool read = false;
        for (size_t j = 0; j < model->model.block_count && !read; j++) {
            const struct setting *other = written(plan, model->block_decls[j], attribute);
            read = other && other->owner == setting->owner && meets(&model->model.blocks[j], needs);
        }
        if (!read && !idle)
            idle = setting;
    }
    if (idle)
        diag_add(plan_diags(plan), DIAG_W0610, idle->span, needs_texts[needs],
                 attribute_info(attribute)->name, model->decl->name);
}

void check_effects(struct plan *plan, const struct evaluation *evaluation)
{
    struct binder *binder = evaluation->binding.binder;
    const struct bound_model *model = evaluation->binding.model;
    struct decl *decl = model->decl;
    if (decl->catalogue || decl_map_get(binder->told_effects, decl))
        return;
    decl_map_put(binder->told_effects, decl, decl);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_row(plan, model, rows[i].attribute, rows[i].needs);
}
