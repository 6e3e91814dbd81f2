/* check.c: checks that need several declarations bound together, one function each, listed in two tables:
 * errors before the evaluation, warnings after it. */
#include "result/check.h"

#include <math.h>

#include "sema/unit.h"

/* ---- where to point ------------------------------------------------------------------------------ */

/* The value of the attribute where it was written in the plan; the scenario's name where it was not. */
static struct span span_of(struct plan *plan, struct decl *scenario, enum attribute attribute)
{
    const struct setting *setting = plan_setting(plan, scenario, attribute);
    bool written = setting && setting->span.end > 0 && setting->owner && !setting->owner->catalogue;
    return written ? setting->span : scenario->name_span;
}

static double tokens_per_sequence(const struct pm_case *input)
{
    return input->static_step ? input->context : input->prompt + input->output;
}

/* ---- errors ---------------------------------------------------------------------------------------- */

static void check_heads(struct bind_job *job, const struct binding *binding)
{
    double tp = binding->input.tp;
    const struct pm_model *model = &binding->model->model;
    for (size_t i = 0; i < model->block_count; i++) {
        const struct pm_block *block = &model->blocks[i];
        double heads = block->attention == PM_ATTENTION_LINEAR  ? block->linear_value_heads
                       : block->attention == PM_ATTENTION_MAMBA ? block->ssm_heads
                                                                : block->heads;
        if (!(heads > 0) || fmod(heads, tp) == 0)
            continue;
        struct diag *diag = bind_error(job, DIAG_E0302, span_of(job->binder->plan, job->scenario, ATTR_TP),
                                       "`tp = %g` does not divide the %g heads of `%s`", tp, heads,
                                       binding->model->decl->name);
        double below = tp;
        while (below > 1 && fmod(heads, below) != 0)
            below -= 1;
        if (diag)
            diag_note(plan_diags(job->binder->plan), diag, "%g is the next smaller value that does", below);
        return;
    }
}

static void check_stages(struct bind_job *job, const struct binding *binding)
{
    double layers = 0;
    for (size_t i = 0; i < binding->model->model.block_count; i++)
        layers += binding->model->model.blocks[i].count;
    if (binding->input.pp > 1 && binding->input.pp > layers)
        bind_error(job, DIAG_E0302, span_of(job->binder->plan, job->scenario, ATTR_PP),
                   "`pp = %g` makes more stages than the %g blocks of `%s`", binding->input.pp, layers,
                   binding->model->decl->name);
}

/* Experts in the block that has fewest; 0: a dense model. */
static double fewest_experts(const struct pm_model *model)
{
    double fewest = 0;
    for (size_t i = 0; i < model->block_count; i++)
        if (model->blocks[i].experts > 0 && (fewest == 0 || model->blocks[i].experts < fewest))
            fewest = model->blocks[i].experts;
    return fewest;
}

static void check_data_parallel(struct bind_job *job, const struct binding *binding)
{
    if (!(binding->input.dp > 1) || fewest_experts(&binding->model->model) > 0)
        return;
    struct diag *diag =
        bind_error(job, DIAG_E0303, span_of(job->binder->plan, job->scenario, ATTR_DP),
                   "`%s` has no experts, so `dp` would only copy it", binding->model->decl->name);
    if (diag)
        diag_note(plan_diags(job->binder->plan), diag,
                  "write `replicas = %g` for %g copies of the deployment", binding->input.dp,
                  binding->input.dp);
}

static void check_expert_parallel(struct bind_job *job, const struct binding *binding)
{
    const struct pm_case *input = &binding->input;
    struct span span = span_of(job->binder->plan, job->scenario, ATTR_EP);
    double gpus = input->tp * input->dp;
    double experts = fewest_experts(&binding->model->model);
    if (!(input->ep > 1))
        return;
    if (!(experts > 0))
        bind_error(job, DIAG_E0305, span, "`%s` has no experts to spread over GPUs",
                   binding->model->decl->name);
    else if (fmod(gpus, input->ep) != 0)
        bind_error(job, DIAG_E0305, span,
                   "`ep = %g` does not divide the %g GPUs that hold each block (tp × dp)", input->ep, gpus);
    else if (input->ep > experts)
        bind_error(job, DIAG_E0305, span, "`ep = %g` is more than the %g experts of a block", input->ep,
                   experts);
}

/* Without a system, a node is the scale-up domain, or the eight cards of a usual server. */
static double node_size(const struct pm_gpu *gpu)
{
    return gpu->gpus_per_node > 0 ? fmax(gpu->gpus_per_node, gpu->link_domain) : fmax(gpu->link_domain, 8);
}

static void check_nodes(struct bind_job *job, const struct binding *binding)
{
    const struct pm_gpu *gpu = &binding->gpu->gpu;
    double tp = binding->input.tp;
    if (tp <= node_size(gpu) || gpu->network > 0)
        return;
    struct diag *diag = bind_error(
        job, DIAG_E0306, span_of(job->binder->plan, job->scenario, ATTR_TP),
        "`tp = %g` needs more GPUs than the %g of one node, and no `network` is given", tp, node_size(gpu));
    if (diag)
        diag_note(plan_diags(job->binder->plan), diag,
                  "declare a `system` with `network`, or split the rest by `pp` or `replicas`");
}

static void check_system_size(struct bind_job *job, const struct binding *binding)
{
    struct decl *system = binding->gpu->system;
    if (!system)
        return;
    struct plan *plan = job->binder->plan;
    double per_node = plan_number(plan, system, ATTR_SYSTEM_GPUS_PER_NODE, 0);
    double have = per_node * plan_number(plan, system, ATTR_SYSTEM_NODES, 1);
    const struct pm_case *input = &binding->input;
    double need = input->tp * input->pp * input->dp * input->replicas;
    if (per_node > 0 && need > have)
        bind_error(job, DIAG_E0308, span_of(plan, job->scenario, ATTR_SCENARIO_SYSTEM),
                   "the scenario needs %g GPUs, system `%s` has %g", need, system->name, have);
}

void check_binding(struct bind_job *job, const struct binding *binding)
{
    static void (*const checks[])(struct bind_job *, const struct binding *) = {
        check_heads, check_stages, check_data_parallel, check_expert_parallel, check_nodes, check_system_size,
    };
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
        checks[i](job, binding);
}

/* ---- warnings ----------------------------------------------------------------------------------------- */

static void check_fits(struct plan *plan, const struct evaluation *evaluation)
{
    const struct pm_memory *memory = &evaluation->result.memory;
    struct decl *scenario = evaluation->scenario;
    struct arena *arena = plan_arena(plan);
    if (memory->fits)
        return;
    struct dim data = {{[DIM_DATA] = 1}};
    struct print_unit unit = unit_for_print(data, memory->usable, UNIT_STYLE_BINARY);
    const char *card = evaluation->binding.gpu->decl->name;
    const char *usable = unit_format(arena, memory->usable, unit, 3);
    const char *weights = unit_format(arena, memory->weights, unit, 3);
    const char *model = evaluation->binding.model->decl->name;
    if (memory->pool <= 0) {
        if (memory->weights > memory->usable)
            diag_add(plan_diags(plan), DIAG_W0602, scenario->name_span,
                     "the weights of `%s` take %s, more than the %s that may be used of one `%s`", model,
                     weights, usable, card);
        else
            diag_add(
                plan_diags(plan), DIAG_W0602, scenario->name_span,
                "the weights of `%s` take %s, and with %s of overhead leave nothing of the %s that may be "
                "used of one `%s`",
                model, weights, unit_format(arena, memory->overhead + memory->activations, unit, 3), usable,
                card);
        return;
    }
    struct diag *diag = diag_add(plan_diags(plan), DIAG_W0602, scenario->name_span,
                                 "weights and cache need %s, and %s of one `%s` may be used",
                                 unit_format(arena, memory->total, unit, 3), usable, card);
    diag_note(plan_diags(plan), diag, "%g sequences of this length fit", memory->max_batch);
}

static void check_model_context(struct plan *plan, const struct evaluation *evaluation)
{
    const struct pm_case *input = &evaluation->binding.input;
    double maximum = evaluation->binding.model->model.max_context;
    double tokens = tokens_per_sequence(input);
    if (!(maximum > 0) || tokens <= maximum)
        return;
    enum attribute cause = input->static_step ? ATTR_CONTEXT : ATTR_PROMPT;
    diag_add(plan_diags(plan), DIAG_W0604, span_of(plan, evaluation->scenario, cause),
             "a sequence of %g tokens is longer than the %g that `%s` was made for", tokens, maximum,
             evaluation->binding.model->decl->name);
}

static void check_kv_heads(struct plan *plan, const struct evaluation *evaluation)
{
    double tp = evaluation->binding.input.tp;
    const struct pm_model *model = &evaluation->binding.model->model;
    for (size_t i = 0; i < model->block_count; i++) {
        const struct pm_block *block = &model->blocks[i];
        double heads = block->attention == PM_ATTENTION_GROUPED ? block->kv_heads : 0;
        bool even = tp <= heads ? fmod(heads, tp) == 0 : fmod(tp, heads) == 0;
        if (!(heads > 0) || even)
            continue;
        diag_add(plan_diags(plan), DIAG_W0605, span_of(plan, evaluation->scenario, ATTR_TP),
                 "the %g key/value heads of `%s` cannot be split over %g GPUs evenly; engines refuse this",
                 heads, evaluation->binding.model->decl->name, tp);
        return;
    }
}

/* A card of the catalogue without a link has none; one of the plan's own has probably lost it. */
static void check_link(struct plan *plan, const struct evaluation *evaluation)
{
    const struct pm_case *input = &evaluation->binding.input;
    const struct decl *card = evaluation->binding.gpu->decl;
    if (card->catalogue || input->gpu->link > 0 || input->gpu->pcie > 0 ||
        input->tp * input->dp * input->pp <= 1)
        return;
    diag_add(plan_diags(plan), DIAG_W0612, card->name_span,
             "`%s` has no `link`, so its GPUs exchange over PCIe without peer access", card->name);
}

/* Quantised widths must be whole blocks: 128 values for fp8, 32 for 4-bit formats at most. */
static void check_shards(struct plan *plan, const struct evaluation *evaluation)
{
    const struct pm_case *input = &evaluation->binding.input;
    double split = input->tp * input->dp / input->ep;
    const struct pm_model *model = &evaluation->binding.model->model;
    for (size_t i = 0; i < model->block_count && split > 1; i++) {
        const struct pm_block *block = &model->blocks[i];
        double width = block->expert_ffn / split;
        double unit = block->expert_format.bits >= 12 ? 1 : block->expert_format.bits >= 6 ? 128 : 32;
        if (!(block->experts > 0) || (width >= 128 && fmod(width, unit) == 0))
            continue;
        diag_add(plan_diags(plan), DIAG_W0606, span_of(plan, evaluation->scenario, ATTR_TP),
                 "each expert of `%s` would be cut to a width of %g; `ep` keeps experts whole",
                 evaluation->binding.model->decl->name, width);
        return;
    }
}

static bool has_peak(const struct pm_gpu *gpu, enum pm_compute compute)
{
    return compute == PM_BF16 || compute == PM_FP16 || gpu->peak[compute] > 0;
}

/* Whether the model has weights of this class that are multiplied. */
static bool class_in_use(const struct pm_params *params, enum weight_class class)
{
    switch (class) {
    case CLASS_ATTENTION: return params->attention > 0;
    case CLASS_FFN: return params->ffn > 0;
    case CLASS_EXPERTS: return params->experts > 0;
    case CLASS_SHARED: return params->shared > 0;
    case CLASS_HEAD: return params->head > 0;
    default: return false;
    }
}

static void warn_peak(struct plan *plan, const struct evaluation *evaluation, struct decl *format,
                      enum pm_compute compute)
{
    struct decl *scenario = evaluation->scenario;
    enum attribute cause = plan_is_set(plan, scenario, ATTR_WEIGHTS)           ? ATTR_WEIGHTS
                           : plan_is_set(plan, scenario, ATTR_SCENARIO_SYSTEM) ? ATTR_SCENARIO_SYSTEM
                                                                               : ATTR_GPU;
    diag_add(plan_diags(plan), DIAG_W0601, span_of(plan, scenario, cause),
             "`%s` has no %s peak, so products with %s weights are computed at its 16-bit peak",
             evaluation->binding.gpu->decl->name, compute_name(compute), format->name);
}

/* A format on a card is told once, however many scenarios store a model in it. */
static bool told_already(struct binder *binder, const struct bound_gpu *gpu, struct decl *format)
{
    struct map *formats = decl_map_get(binder->told_peaks, gpu->decl);
    if (!formats) {
        formats = map_new(binder->arena);
        decl_map_put(binder->told_peaks, gpu->decl, formats);
    }
    bool told = decl_map_get(formats, format) != NULL;
    decl_map_put(formats, format, format);
    return told;
}

static void check_peaks(struct plan *plan, const struct evaluation *evaluation)
{
    const struct bound_model *model = evaluation->binding.model;
    const struct pm_gpu *gpu = &evaluation->binding.gpu->gpu;
    struct binder *binder = evaluation->binding.binder;
    struct decl *warned = NULL;
    bool declared = model->model.declared_params > 0;
    for (enum weight_class class = 0; class < CLASS_COUNT; class ++) {
        struct decl *format = declared ? model->weights : model->formats[class];
        if (!format || format == warned || (!declared && !class_in_use(&evaluation->result.params, class)))
            continue;
        struct pm_format bound = bind_format(binder, format);
        if (bound.weight_only || has_peak(gpu, bound.compute))
            continue;
        warned = format;
        if (!told_already(binder, evaluation->binding.gpu, format))
            warn_peak(plan, evaluation, format, bound.compute);
    }
}

/* A bare parameter count is the textbook case with an empty context; with one, the cache is missing. */
static void check_cache(struct plan *plan, const struct evaluation *evaluation)
{
    const struct bound_model *model = evaluation->binding.model;
    if (model->model.block_count == 0 && tokens_per_sequence(&evaluation->binding.input) > 0)
        diag_add(plan_diags(plan), DIAG_W0611, model->decl->name_span,
                 "`%s` declares no `layers`, so its key/value cache is not counted", model->decl->name);
}

void check_result(struct plan *plan, const struct evaluation *evaluation)
{
    static void (*const checks[])(struct plan *, const struct evaluation *) = {
        check_fits,   check_model_context, check_kv_heads, check_link,
        check_shards, check_peaks,         check_cache,    check_effects,
    };
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
        checks[i](plan, evaluation);
}
