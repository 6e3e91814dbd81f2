/* inputs.c: which attributes a scenario's numbers rest on, and what was assumed where the plan says nothing.
 */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/number.h"
#include "result/bind_internal.h"
#include "result/evaluate.h"
#include "result/message.h"
#include "sema/unit.h"

typedef VEC(struct input) input_list;
typedef VEC(struct assumption) assumption_list;

/* ---- attributes in effect --------------------------------------------------------------------- */

/* The table's defaults say something about a scenario and its engine ("one sequence", "typical"); about
 * models and cards they only say that a rare feature is absent. */
static bool defaults_are_of_interest(const struct decl *decl)
{
    return decl->kind == KIND_SCENARIO || decl->kind == KIND_ENGINE;
}

static bool is_of_interest(const struct decl *decl, const struct setting *setting)
{
    if (setting->origin == ORIGIN_DEFAULT)
        return defaults_are_of_interest(decl);
    return decl->kind != KIND_BLOCK || (setting->owner && setting->owner->kind == KIND_BLOCK);
}

static void add_inputs(struct plan *plan, input_list *list, struct decl *decl)
{
    for (enum attribute attribute = 0; attribute < ATTR_COUNT; attribute++) {
        if (!(attribute_info(attribute)->scope & (1u << decl->kind)))
            continue;
        /* Not asked for in vain: the head size of latent attention is not hidden / heads, nor need that be
         * whole. */
        if (!defaults_are_of_interest(decl) && !plan_is_set(plan, decl, attribute))
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
    enum language language;
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

static const char *say(const struct assume_job *job, enum message message)
{
    return message_pattern(job->language, message);
}

#define SAY(job, message, ...) MESSAGE_TEXT((job)->arena, (job)->language, message, __VA_ARGS__)

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
        assume(job, "engine", binding->engine->name, say(job, M_NO_ENGINE_IS_NAMED));
    if (!plan_is_set(job->plan, job->evaluation->scenario, ATTR_UTILIZATION))
        assume(job, "utilization", shortest(job, engine->utilization),
               SAY(job, M_SHARE_OF_ENGINE, binding->engine->name));
    if (!binding->own_overhead) {
        struct dim data = {{[DIM_DATA] = 1}};
        assume(job, "overhead", quantity_text(job->arena, engine->overhead, data),
               SAY(job, engine->activations_in_overhead ? M_OVERHEAD_OF_ENGINE_ALL : M_OVERHEAD_OF_ENGINE,
                   binding->engine->name));
    }
    if (!plan_is_set(job->plan, job->evaluation->scenario, ATTR_PAGE))
        assume(job, "page", shortest(job, binding->input.page > 0 ? binding->input.page : engine->page),
               say(job, binding->engine_named ? M_PAGE_OF_ENGINE : M_NO_ENGINE_NO_PAGE));
}

static void assume_load(struct assume_job *job)
{
    struct decl *scenario = job->evaluation->scenario;
    if (!plan_is_set(job->plan, scenario, ATTR_BATCH))
        assume(job, "batch", "1",
               say(job, job->binding->input.static_step ? M_ONE_SEQUENCE_UNLESS : M_ONE_USER_UNLESS));
    if (job->binding->input.ep > 1 && !plan_is_set(job->plan, scenario, ATTR_EP))
        assume(job, "ep", shortest(job, job->binding->input.ep), say(job, M_EXPERTS_ON_ALL));
    if (job->binding->input.static_step && !(job->binding->input.prompt > 0))
        assume(job, "prompt", say(job, M_NONE), say(job, M_NO_PREFILL));
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

static bool has_sixteen_bits(const struct assume_job *job, struct decl *format)
{
    return !format || plan_number(job->plan, format, ATTR_FORMAT_BITS, 16) == 16;
}

static void assume_formats(struct assume_job *job)
{
    const struct bound_model *model = job->binding->model;
    struct decl *scenario = job->evaluation->scenario;
    if (!plan_is_set(job->plan, scenario, ATTR_WEIGHTS) && !plan_is_set(job->plan, model->decl, ATTR_WEIGHTS))
        assume(job, "weights", model->weights ? model->weights->name : "bf16",
               say(job, M_SIXTEEN_BITS_UNLESS));
    if (model->model.block_count == 0)
        assume(job, "kv_cache", say(job, M_NONE), say(job, M_NO_LAYERS_NO_CACHE));
    else if (!plan_is_set(job->plan, scenario, ATTR_KV_CACHE) &&
             !plan_is_set(job->plan, model->decl, ATTR_KV_CACHE))
        assume(job, "kv_cache", model->kv_cache ? model->kv_cache->name : "bf16",
               say(job, M_SIXTEEN_BITS_WHATEVER));
    if (model->model.declared_params > 0 || model->model.weights_format.bits >= 16)
        return;
    for (enum weight_class class = CLASS_ROUTER; class < CLASS_COUNT; class ++) {
        struct decl *format = model->formats[class];
        bool said = model->declared[class] || plan_is_set(job->plan, scenario, class_attribute(class));
        if (!said && class_params(&job->evaluation->result.params, class) > 0)
            assume(job, class_words[class], format ? format->name : "bf16",
                   say(job, has_sixteen_bits(job, format) ? M_KEPT_IN_16_BITS : M_AS_FILES_STORE_IT));
    }
}

static void assume_model(struct assume_job *job)
{
    const struct bound_model *model = job->binding->model;
    if (model->model.declared_params > 0)
        assume(job, "params", quantity_text(job->arena, model->model.declared_params, dim_none()),
               model->complete ? SAY(job, M_ARCHITECTURE_SCALED,
                                     quantity_text(job->arena, model->derived_params, dim_none()),
                                     arena_printf(job->arena, "%.3g",
                                                  model->model.declared_params / model->derived_params))
                               : say(job, M_NO_ARCHITECTURE));
    for (size_t i = 0; i < model->model.block_count; i++) {
        struct decl *decl = model->block_decls[i];
        const struct pm_block *block = &model->model.blocks[i];
        if (block->attention != PM_ATTENTION_GROUPED || decl->catalogue)
            continue;
        if (!plan_is_set(job->plan, decl, ATTR_KV_HEADS))
            assume(job, "kv_heads", shortest(job, block->kv_heads), say(job, M_AS_MANY_AS_HEADS));
        if (!plan_is_set(job->plan, decl, ATTR_HEAD_DIM))
            assume(job, "head_dim", shortest(job, block->head_dim), say(job, M_HIDDEN_BY_HEADS));
        break;
    }
}

static void assume_card(struct assume_job *job)
{
    const struct pm_gpu *gpu = &job->binding->gpu->gpu;
    double bf16 = gpu->peak[PM_BF16], fp16 = gpu->peak[PM_FP16];
    if (!(bf16 > 0) || !(fp16 > 0))
        assume(job, bf16 > 0 ? "peak.fp16" : "peak.bf16", SAY(job, M_THAT_OF, bf16 > 0 ? "bf16" : "fp16"),
               say(job, M_PEAKS_STAND_IN));
    if (job->evaluation->result.gpus > 1 && !(gpu->link > 0))
        assume(job, gpu->pcie > 0 ? "link" : "pcie",
               gpu->pcie > 0 ? "pcie" : arena_printf(job->arena, "%g GB/s", PM_ASSUMED_PCIE / 1e9),
               say(job, gpu->pcie > 0 ? M_EXCHANGE_OVER_HOST : M_EXCHANGE_OVER_ASSUMED_HOST));
    if (!job->binding->engine_values.ideal && !job->evaluation->result.verified)
        assume(job, "band", say(job, M_UNVERIFIED), say(job, M_BAND_IS_WIDE));
}

size_t evaluation_assumptions(struct evaluator *evaluator, const struct evaluation *evaluation,
                              struct assumption **assumptions)
{
    struct plan *plan = evaluator_plan(evaluator);
    struct assume_job job = {.language = evaluator_language(evaluator),
                             .plan = plan,
                             .arena = plan_arena(plan),
                             .evaluation = evaluation,
                             .binding = &evaluation->binding};
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
