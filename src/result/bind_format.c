/* bind_format.c: storage formats, and which one each tensor class gets.
 *
 * From strong to weak:
 *   attention, ffn, experts, shared   scenario `weights.X`, scenario `weights`, block or model `weights.X`,
 *                                     model `weights`
 *   router, embedding, head, norms    scenario `weights.X`, block or model `weights.X`, then what files in
 *                                     the `weights` in force store there (`stores.X` of the format), then
 *                                     `weights` itself when it has 16 bits or more, else bf16: quantised
 *                                     checkpoints keep these in 16 bits (model.md section 1) */
#include <string.h>

#include "result/bind_internal.h"

/* ---- one format ---------------------------------------------------------------------------------- */

static const char *const compute_names[PM_COMPUTE_COUNT] = {
    [PM_FP64] = "fp64", [PM_FP32] = "fp32", [PM_TF32] = "tf32", [PM_FP16] = "fp16", [PM_BF16] = "bf16",
    [PM_FP8] = "fp8",   [PM_INT8] = "int8", [PM_FP6] = "fp6",   [PM_FP4] = "fp4",   [PM_INT4] = "int4",
};

const char *compute_name(enum pm_compute compute)
{
    return compute_names[compute];
}

enum pm_compute compute_from_name(const char *name)
{
    for (enum pm_compute i = 0; i < PM_COMPUTE_COUNT; i++)
        if (strcmp(compute_names[i], name) == 0)
            return i;
    return PM_COMPUTE_COUNT;
}

static enum pm_compute compute_of(struct plan *plan, struct decl *format, enum attribute attribute,
                                  enum pm_compute fallback)
{
    const char *word = plan_text(plan, format, attribute, NULL);
    enum pm_compute compute = word ? compute_from_name(word) : PM_COMPUTE_COUNT;
    return compute == PM_COMPUTE_COUNT ? fallback : compute;
}

/* `activations` decides the peak where it is declared (W4A8), also for formats that are weight-only
 * otherwise. A format that names no compute format is computed in 16 bits. */
struct pm_format bind_format(struct binder *binder, struct decl *format)
{
    struct pm_format bound = {16, PM_BF16, PM_BF16, false};
    if (!format)
        return bound;
    const struct pm_format *known = decl_map_get(binder->formats, format);
    if (known)
        return *known;
    struct plan *plan = binder->plan;
    bound.bits = plan_number(plan, format, ATTR_FORMAT_BITS, 16);
    bound.compute = compute_of(plan, format, ATTR_FORMAT_COMPUTE, PM_BF16);
    bound.expected = compute_of(plan, format, ATTR_FORMAT_EXPECTED_COMPUTE, bound.compute);
    bound.weight_only = plan_bool(plan, format, ATTR_FORMAT_WEIGHT_ONLY, false);
    if (plan_is_set(plan, format, ATTR_FORMAT_ACTIVATIONS)) {
        bound.compute = compute_of(plan, format, ATTR_FORMAT_ACTIVATIONS, bound.compute);
        if (!plan_is_set(plan, format, ATTR_FORMAT_EXPECTED_COMPUTE))
            bound.expected = bound.compute;
        bound.weight_only = false;
    }
    struct pm_format *kept = ARENA_NEW(binder->arena, struct pm_format);
    *kept = bound;
    decl_map_put(binder->formats, format, kept);
    return bound;
}

/* ---- classes --------------------------------------------------------------------------------------- */

static const enum attribute class_attributes[CLASS_COUNT] = {
    [CLASS_ATTENTION] = ATTR_WEIGHTS_ATTENTION, [CLASS_FFN] = ATTR_WEIGHTS_FFN,
    [CLASS_EXPERTS] = ATTR_WEIGHTS_EXPERTS,     [CLASS_SHARED] = ATTR_WEIGHTS_SHARED,
    [CLASS_ROUTER] = ATTR_WEIGHTS_ROUTER,       [CLASS_EMBEDDING] = ATTR_WEIGHTS_EMBEDDING,
    [CLASS_HEAD] = ATTR_WEIGHTS_HEAD,           [CLASS_NORMS] = ATTR_WEIGHTS_NORMS,
};

enum attribute class_attribute(enum weight_class class)
{
    return class_attributes[class];
}

/* 16 bits or more: what embedding, head, router and norms follow `weights` down to. */
static struct decl *sixteen_bits(struct binder *binder, struct decl *weights)
{
    if (weights && bind_format(binder, weights).bits >= 16)
        return weights;
    if (!binder->bf16)
        binder->bf16 = plan_find(binder->plan, KIND_FORMAT, "bf16");
    return binder->bf16;
}

static const enum attribute stored_attributes[CLASS_COUNT] = {
    [CLASS_ROUTER] = ATTR_FORMAT_STORES_ROUTER,
    [CLASS_EMBEDDING] = ATTR_FORMAT_STORES_EMBEDDING,
    [CLASS_HEAD] = ATTR_FORMAT_STORES_HEAD,
    [CLASS_NORMS] = ATTR_FORMAT_STORES_NORMS,
};

/* A table that is both embedding and head is stored once, as a head. */
static struct decl *class_default(struct bind_job *job, const struct bound_model *model,
                                  enum weight_class class, struct decl *weights)
{
    if (class < CLASS_ROUTER)
        return weights;
    if (class == CLASS_EMBEDDING && model->model.tied_embeddings)
        class = CLASS_HEAD;
    struct decl *stored = weights ? bind_ref(job, weights, stored_attributes[class]) : NULL;
    return stored ? stored : sixteen_bits(job->binder, weights);
}

static struct pm_format *block_format(struct pm_block *block, enum weight_class class)
{
    switch (class) {
    case CLASS_ATTENTION: return &block->attention_format;
    case CLASS_FFN: return &block->ffn_format;
    case CLASS_EXPERTS: return &block->expert_format;
    case CLASS_SHARED: return &block->shared_format;
    case CLASS_ROUTER: return &block->router_format;
    default: return NULL;
    }
}

static struct pm_format *model_format(struct pm_model *model, enum weight_class class)
{
    switch (class) {
    case CLASS_EMBEDDING: return &model->embedding_format;
    case CLASS_HEAD: return &model->head_format;
    case CLASS_NORMS: return &model->norm_format;
    default: return NULL;
    }
}

/* The model's own formats. */
void bind_own_formats(struct bind_job *job, struct bound_model *bound, struct pm_block *blocks)
{
    struct binder *binder = job->binder;
    bound->weights = bind_ref(job, bound->decl, ATTR_WEIGHTS);
    bound->kv_cache = bind_ref(job, bound->decl, ATTR_KV_CACHE);
    bound->model.weights_format = bind_format(binder, bound->weights);
    bound->model.kv_format = bind_format(binder, bound->kv_cache);
    for (enum weight_class class = 0; class < CLASS_COUNT; class ++) {
        struct decl *declared = bind_ref(job, bound->decl, class_attributes[class]);
        bound->declared[class] = declared != NULL;
        struct decl *usual = declared ? declared : class_default(job, bound, class, bound->weights);
        bound->formats[class] = usual;
        struct pm_format *of_model = model_format(&bound->model, class);
        if (of_model)
            *of_model = bind_format(binder, bound->formats[class]);
        for (size_t i = 0; !of_model && i < bound->model.block_count; i++) {
            struct decl *own = bind_ref(job, bound->block_decls[i], class_attributes[class]);
            bound->declared[class] = bound->declared[class] || own;
            if (own && i == 0)
                bound->formats[class] = own;
            *block_format(&blocks[i], class) = bind_format(binder, own ? own : usual);
        }
    }
}

/* What the scenario chooses for a class; NULL: it leaves the class as it is. */
static struct decl *chosen(struct bind_job *job, const struct bound_model *model, enum weight_class class,
                           struct decl *weights)
{
    struct decl *own = bind_ref(job, job->scenario, class_attributes[class]);
    if (own || !weights)
        return own;
    bool stays = class >= CLASS_ROUTER && model->declared[class];
    return stays ? NULL : class_default(job, model, class, weights);
}

static struct decl *set_ref(struct bind_job *job, enum attribute attribute)
{
    bool set = plan_is_set(job->binder->plan, job->scenario, attribute);
    return set ? bind_ref(job, job->scenario, attribute) : NULL;
}

static bool chooses_formats(struct bind_job *job)
{
    bool chooses = plan_is_set(job->binder->plan, job->scenario, ATTR_WEIGHTS) ||
                   plan_is_set(job->binder->plan, job->scenario, ATTR_KV_CACHE);
    for (enum weight_class class = 0; class < CLASS_COUNT && !chooses; class ++)
        chooses = plan_is_set(job->binder->plan, job->scenario, class_attributes[class]);
    return chooses;
}

/* Of the latest: the rows of a table choose few formats, in turn. */
enum { LOOK_BACK = 64 };

static const struct bound_model *known_copy(const struct binder *binder, const struct stored_model *wanted)
{
    for (size_t i = binder->stored.count; i-- > 0 && binder->stored.count - i <= LOOK_BACK;) {
        const struct stored_model *known = &binder->stored.items[i];
        if (known->own == wanted->own && known->weights == wanted->weights &&
            known->kv_cache == wanted->kv_cache &&
            memcmp(known->classes, wanted->classes, sizeof known->classes) == 0)
            return known->stored;
    }
    return NULL;
}

static const struct bound_model *copy_with(struct binder *binder, const struct stored_model *wanted)
{
    struct bound_model *copy = ARENA_NEW(binder->arena, struct bound_model);
    size_t count = wanted->own->model.block_count;
    struct pm_block *blocks = ARENA_ARRAY(binder->arena, struct pm_block, count ? count : 1);
    *copy = *wanted->own;
    memcpy(blocks, copy->model.blocks, count * sizeof *blocks);
    copy->model.blocks = blocks;
    if (wanted->weights) {
        copy->weights = wanted->weights;
        copy->model.weights_format = bind_format(binder, wanted->weights);
    }
    if (wanted->kv_cache) {
        copy->kv_cache = wanted->kv_cache;
        copy->model.kv_format = bind_format(binder, wanted->kv_cache);
    }
    for (enum weight_class class = 0; class < CLASS_COUNT; class ++) {
        struct decl *format = wanted->classes[class];
        if (!format)
            continue;
        copy->formats[class] = format;
        struct pm_format *of_model = model_format(&copy->model, class);
        if (of_model)
            *of_model = bind_format(binder, format);
        for (size_t i = 0; !of_model && i < count; i++)
            *block_format(&blocks[i], class) = bind_format(binder, format);
    }
    return copy;
}

/* Scenarios that choose alike share the copy, and whatever is prepared for it. */
const struct bound_model *bind_formats(struct bind_job *job, const struct bound_model *model)
{
    if (!chooses_formats(job))
        return model;
    struct stored_model wanted = {
        .own = model, .weights = set_ref(job, ATTR_WEIGHTS), .kv_cache = set_ref(job, ATTR_KV_CACHE)};
    for (enum weight_class class = 0; class < CLASS_COUNT; class ++)
        wanted.classes[class] = chosen(job, model, class, wanted.weights);
    wanted.stored = known_copy(job->binder, &wanted);
    if (!wanted.stored) {
        wanted.stored = copy_with(job->binder, &wanted);
        *VEC_PUSH(job->binder->arena, job->binder->stored) = wanted;
    }
    return wanted.stored;
}
