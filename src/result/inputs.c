/* inputs.c: which attributes a scenario's numbers rest on, and what was assumed where the plan says nothing.
 */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/number.h"
#include "result/bind_internal.h"
#include "result/evaluate.h"
#include "sema/unit.h"

typedef VEC(struct input) input_list;
typedef VEC(struct assumption) assumption_list;

/* ---- attributes in effect --------------------------------------------------------------------- */

/* The table's defaults say something about a scenario and its engine ("one sequence", "typical"); about
 * models and cards they only say that a rare feature is absent. */
static bool is_of_interest(const struct decl *decl, const struct setting *setting)
{
    if (setting->origin == ORIGIN_DEFAULT)
        return decl->kind == KIND_SCENARIO || decl->kind == KIND_ENGINE;
    return decl->kind != KIND_BLOCK || (setting->owner && setting->owner->kind == KIND_BLOCK);
}

static void add_inputs(struct plan *plan, input_list *list, struct decl *decl)
{
    for (enum attribute attribute = 0; attribute < ATTR_COUNT; attribute++) {
        if (!(attribute_info(attribute)->scope & (1u << decl->kind)))
            continue;
        const struct setting *setting = plan_setting(plan, decl, attribute);
        if (setting && is_of_interest(decl, setting))
            *VEC_PUSH(plan_arena(plan), *list) = (struct input){decl, attribute, setting};
    }
}

size_t evaluation_inputs(struct evaluator *evaluator, const struct evaluation *evaluation,
                         struct input **inputs)
{
    struct plan *plan = evaluator_plan(evaluator);
    const struct binding *binding = &evaluation->binding;
    input_list list = {0};
    add_inputs(plan, &list, evaluation->scenario);
    if (binding->gpu && binding->gpu->system)
        add_inputs(plan, &list, binding->gpu->system);
    if (binding->gpu)
        add_inputs(plan, &list, binding->gpu->decl);
    if (binding->model) {
        add_inputs(plan, &list, binding->model->decl);
        for (size_t i = 0; i < binding->model->decl->block_count; i++)
            add_inputs(plan, &list, binding->model->decl->blocks[i]);
    }
    if (binding->engine)
        add_inputs(plan, &list, binding->engine);
    struct decl *seen[CLASS_COUNT + 2];
    size_t seen_count = 0;
    for (size_t i = 0; binding->model && i < CLASS_COUNT + 2; i++) {
        struct decl *format = i < CLASS_COUNT    ? binding->model->formats[i]
                              : i == CLASS_COUNT ? binding->model->weights
                                                 : binding->model->kv_cache;
        bool known = format == NULL;
        for (size_t j = 0; j < seen_count; j++)
            known = known || seen[j] == format;
        if (known)
            continue;
        seen[seen_count++] = format;
        add_inputs(plan, &list, format);
    }
    *inputs = list.items;
    return list.count;
}

/* ---- assumptions -------------------------------------------------------------------------------- */

struct assume_job {
    struct plan *plan;
    struct arena *arena;
    const struct evaluation *evaluation;
    const struct binding *binding;
    assumption_list list;
};

static void assume(struct assume_job *job, const char *what, const char *value, const char *reason)
{
    *VEC_PUSH(job->arena, job->list) = (struct assumption){what, value, reason};
}

static const char *shortest(struct assume_job *job, double value)
{
    char text[NUMBER_TEXT_MAX];
    return arena_strdup(job->arena, number_shortest(text, value));
}

static void assume_engine(struct assume_job *job)
{
    const struct binding *binding = job->binding;
    const struct pm_engine *engine = &binding->engine_values;
    if (!binding->engine_named)
        assume(job, "engine", binding->engine->name,
               "no engine is named: one set of measured coefficients for vLLM, SGLang and TensorRT-LLM");
    if (!plan_is_set(job->plan, job->evaluation->scenario, ATTR_UTILIZATION))
        assume(job, "utilization", shortest(job, engine->utilization),
               arena_printf(job->arena, "engine `%s`: share of the card's memory in use",
                            binding->engine->name));
    if (!binding->own_overhead) {
        struct dim data = {{[DIM_DATA] = 1}};
        assume(job, "overhead", quantity_text(job->arena, engine->overhead, data),
               arena_printf(job->arena, "engine `%s`: memory besides weights and cache%s",
                            binding->engine->name,
                            engine->activations_in_overhead ? ", activations included" : ""));
    }
    if (!plan_is_set(job->plan, job->evaluation->scenario, ATTR_PAGE))
        assume(job, "page", shortest(job, binding->input.page > 0 ? binding->input.page : engine->page),
               binding->engine_named ? "the engine's page, in tokens"
                                     : "no engine is named: tokens are counted one by one");
}

static void assume_load(struct assume_job *job)
{
    struct decl *scenario = job->evaluation->scenario;
    if (!plan_is_set(job->plan, scenario, ATTR_BATCH))
        assume(job, "batch", "1",
               job->binding->input.static_step ? "one sequence unless declared" : "one user unless declared");
    if (job->binding->input.ep > 1 && !plan_is_set(job->plan, scenario, ATTR_EP))
        assume(job, "ep", shortest(job, job->binding->input.ep), "with `dp`, experts stand on all GPUs");
    if (job->binding->input.static_step && !(job->binding->input.prompt > 0))
        assume(job, "prompt", "none", "a static decode step: no prefill, so no time to first token");
}

static const char *const class_words[CLASS_COUNT] = {
    [CLASS_ROUTER] = "weights.router",
    [CLASS_EMBEDDING] = "weights.embedding",
    [CLASS_HEAD] = "weights.head",
    [CLASS_NORMS] = "weights.norms",
};

static double class_params(const struct pm_params *params, enum weight_class class)
{
    return class == CLASS_ROUTER      ? params->router
           : class == CLASS_EMBEDDING ? params->embedding
           : class == CLASS_HEAD      ? params->head
                                      : params->norms;
}

static void assume_formats(struct assume_job *job)
{
    const struct bound_model *model = job->binding->model;
    struct decl *scenario = job->evaluation->scenario;
    if (!plan_is_set(job->plan, scenario, ATTR_WEIGHTS) && !plan_is_set(job->plan, model->decl, ATTR_WEIGHTS))
        assume(job, "weights", model->weights ? model->weights->name : "bf16", "16 bits unless declared");
    if (model->model.block_count == 0)
        assume(job, "kv_cache", "none", "no `layers` are declared, so no cache is counted");
    else if (!plan_is_set(job->plan, scenario, ATTR_KV_CACHE) &&
             !plan_is_set(job->plan, model->decl, ATTR_KV_CACHE))
        assume(job, "kv_cache", model->kv_cache ? model->kv_cache->name : "bf16",
               "16 bits whatever the weights, unless declared");
    if (model->model.declared_params > 0 || model->model.weights_format.bits >= 16)
        return;
    for (enum weight_class class = CLASS_ROUTER; class < CLASS_COUNT; class ++) {
        struct decl *format = model->formats[class];
        bool said = model->declared[class] || plan_is_set(job->plan, scenario, class_attribute(class));
        if (!said && class_params(&job->evaluation->result.params, class) > 0)
            assume(job, class_words[class], format ? format->name : "bf16",
                   "quantised checkpoints keep this part in 16 bits");
    }
}

static void assume_model(struct assume_job *job)
{
    const struct bound_model *model = job->binding->model;
    if (model->model.declared_params > 0)
        assume(job, "params", quantity_text(job->arena, model->model.declared_params, dim_none()),
               model->complete
                   ? arena_printf(job->arena, "the architecture comes to %s; every matrix is scaled by %.3g",
                                  quantity_text(job->arena, model->derived_params, dim_none()),
                                  model->model.declared_params / model->derived_params)
                   : "no complete architecture is declared: every parameter is multiplied, and read once "
                     "per step");
    for (size_t i = 0; i < model->model.block_count; i++) {
        struct decl *decl = model->block_decls[i];
        const struct pm_block *block = &model->model.blocks[i];
        if (block->attention != PM_ATTENTION_GROUPED || decl->catalogue)
            continue;
        if (!plan_is_set(job->plan, decl, ATTR_KV_HEADS))
            assume(job, "kv_heads", shortest(job, block->kv_heads),
                   "as many as heads (multi-head) unless declared");
        if (!plan_is_set(job->plan, decl, ATTR_HEAD_DIM))
            assume(job, "head_dim", shortest(job, block->head_dim), "hidden / heads unless declared");
        break;
    }
}

static void assume_card(struct assume_job *job)
{
    const struct pm_gpu *gpu = &job->binding->gpu->gpu;
    double bf16 = gpu->peak[PM_BF16], fp16 = gpu->peak[PM_FP16];
    if (!(bf16 > 0) || !(fp16 > 0))
        assume(job, bf16 > 0 ? "peak.fp16" : "peak.bf16", bf16 > 0 ? "that of bf16" : "that of fp16",
               "either 16-bit peak stands for the other");
    if (job->evaluation->result.gpus > 1 && !(gpu->link > 0))
        assume(job, "link", gpu->pcie > 0 ? "pcie" : "none",
               gpu->pcie > 0 ? "no scale-up link is declared: GPUs exchange over the host link"
                             : "no link is declared: exchanges between GPUs cost their fixed time only");
    if (!job->binding->engine_values.ideal && !job->evaluation->result.verified)
        assume(job, "band", "unverified",
               "no serving measurements stand behind this card or layout, so the band is wide");
}

size_t evaluation_assumptions(struct evaluator *evaluator, const struct evaluation *evaluation,
                              struct assumption **assumptions)
{
    struct plan *plan = evaluator_plan(evaluator);
    struct assume_job job = {
        .plan = plan, .arena = plan_arena(plan), .evaluation = evaluation, .binding = &evaluation->binding};
    if (evaluation->valid) {
        assume_engine(&job);
        assume_load(&job);
        assume_formats(&job);
        assume_model(&job);
        assume_card(&job);
    }
    *assumptions = job.list.items;
    return job.list.count;
}
