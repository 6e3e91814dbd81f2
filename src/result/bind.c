/* bind.c: a scenario's declarations as the case that libperfmodel computes. */
#include <string.h>

#include "result/bind.h"

#include <stdarg.h>

#include "result/bind_internal.h"
#include "result/check.h"
#include "result/deployment.h"
#include "source/phrase.h"

/* ---- errors ----------------------------------------------------------------------------------- */

struct diag *bind_error(struct bind_job *job, enum diag_code code, struct span span, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *text = phrases_compose(diags_phrases(plan_diags(job->binder->plan)), format, arguments);
    va_end(arguments);
    job->failed = true;
    if (!job->why)
        job->why = text;
    return job->quiet ? NULL : diag_add(plan_diags(job->binder->plan), code, span, "%s", text);
}

struct bind_job bind_apart(const struct bind_job *job)
{
    struct bind_job own = *job;
    own.failed = false;
    own.why = NULL;
    return own;
}

bool bind_keeps(const struct bind_job *job, const struct bind_job *own)
{
    return !own->failed || !job->quiet;
}

void bind_fail(struct bind_job *job, const char *why)
{
    job->failed = true;
    if (!job->why)
        job->why = why;
}

void bind_missing(struct bind_job *job, struct decl *decl, const char *what)
{
    struct diags *diags = plan_diags(job->binder->plan);
    const char *name = decl->name ? decl->name : "";
    struct phrases *phrases = diags_phrases(diags);
    const char *kind = kind_name(decl->kind);
    const char *text = job->scenario && job->scenario != decl
                           ? phrases_of_phrases(phrases, "%s `%s` lacks %s, which scenario `%s` needs", kind,
                                                name, what, job->scenario->name)
                           : phrases_of_phrases(phrases, "%s `%s` lacks %s", kind, name, what);
    struct diag *diag = bind_error(job, DIAG_E0301, decl->name_span, "%s", text);
    if (diag && job->scenario && job->scenario != decl)
        diag_note_at(diags, diag, job->scenario->name_span, "`%s` is used here", name);
}

bool bind_poisoned(struct bind_job *job, const struct decl *decl)
{
    if (!decl->poisoned)
        return false;
    job->failed = true;
    if (!job->why)
        job->why = phrases_printf(diags_phrases(plan_diags(job->binder->plan)), "%s `%s` has an error",
                                  kind_name(decl->kind), decl->name ? decl->name : "");
    return true;
}

/* ---- reading attributes ------------------------------------------------------------------------ */

const struct setting *bind_setting(struct bind_job *job, struct decl *decl, enum attribute attribute)
{
    struct bind_cursor outer = {0};
    if (job->cursor) {
        outer = *job->cursor;
        *job->cursor = (struct bind_cursor){decl, attribute};
    }
    const struct setting *setting = plan_setting(job->binder->plan, decl, attribute);
    if (job->cursor)
        *job->cursor = outer;
    return setting;
}

double bind_number(struct bind_job *job, struct decl *decl, enum attribute attribute, double fallback)
{
    const struct setting *setting = bind_setting(job, decl, attribute);
    return setting && setting->value.type == VALUE_NUMBER ? setting->value.number : fallback;
}

bool bind_bool(struct bind_job *job, struct decl *decl, enum attribute attribute, bool fallback)
{
    const struct setting *setting = bind_setting(job, decl, attribute);
    return setting && setting->value.type == VALUE_BOOL ? setting->value.boolean : fallback;
}

struct decl *bind_ref(struct bind_job *job, struct decl *decl, enum attribute attribute)
{
    const struct setting *setting = bind_setting(job, decl, attribute);
    return setting && setting->value.type == VALUE_DECL ? setting->value.decl : NULL;
}

/* The map compares keys by address and never reads them, so a declaration's address will do. */
void *decl_map_get(const struct map *map, const struct decl *decl)
{
    return map_get(map, (const char *)decl);
}

void decl_map_put(struct map *map, const struct decl *decl, void *value)
{
    map_put(map, (const char *)decl, value);
}

/* ---- scenarios ------------------------------------------------------------------------------------ */

struct binder *binder_new(struct plan *plan)
{
    struct arena *arena = plan_arena(plan);
    struct binder *binder = ARENA_NEW(arena, struct binder);
    *binder = (struct binder){
        .plan = plan,
        .arena = arena,
        .formats = map_new(arena),
        .gpus = map_new(arena),
        .systems = map_new(arena),
        .models = map_new(arena),
        .engines = map_new(arena),
        .told_effects = map_new(arena),
        .told_peaks = map_new(arena),
    };
    return binder;
}

static struct span setting_span(const struct setting *setting, const struct decl *decl)
{
    return setting && setting->span.end > 0 ? setting->span : decl->name_span;
}

/* A price in the scenario stands for that of the card. */
static const struct bound_gpu *with_price(struct bind_job *job, const struct bound_gpu *gpu)
{
    const struct setting *price = bind_setting(job, job->scenario, ATTR_PRICE);
    if (!price || price->value.type != VALUE_NUMBER)
        return gpu;
    struct bound_gpu *priced = ARENA_NEW(job->binder->arena, struct bound_gpu);
    *priced = *gpu;
    priced->gpu.price = price->value.number;
    priced->currency = price->value.dim.power[DIM_EUR] != 0 ? DIM_EUR : DIM_USD;
    return priced;
}

static const struct bound_gpu *scenario_hardware(struct bind_job *job)
{
    struct decl *scenario = job->scenario;
    const struct setting *named = bind_setting(job, scenario, ATTR_GPU);
    struct decl *gpu = bind_ref(job, scenario, ATTR_GPU);
    struct decl *system = bind_ref(job, scenario, ATTR_SCENARIO_SYSTEM);
    if (bind_poisoned(job, scenario))
        return NULL;
    if (system) {
        struct decl *inside = bind_ref(job, system, ATTR_GPU);
        if (bind_poisoned(job, system))
            return NULL;
        if (!inside) {
            bind_missing(job, system, "`gpu`");
            return NULL;
        }
        if (gpu && gpu != inside) {
            struct diag *diag = bind_error(job, DIAG_E0308, setting_span(named, scenario),
                                           "`gpu = %s` contradicts system `%s`, which has %s", gpu->name,
                                           system->name, inside->name);
            if (diag)
                diag_note_at(plan_diags(job->binder->plan), diag, system->name_span,
                             "the system is declared here");
            return NULL;
        }
        gpu = inside;
    }
    if (!gpu) {
        bind_missing(job, scenario, "`gpu` (or `system`)");
        return NULL;
    }
    const struct bound_gpu *bound = bind_hardware(job, gpu, system);
    return bound ? with_price(job, bound) : NULL;
}

static const struct bound_model *scenario_model(struct bind_job *job)
{
    struct decl *model = bind_ref(job, job->scenario, ATTR_SCENARIO_MODEL);
    if (bind_poisoned(job, job->scenario))
        return NULL;
    if (!model) {
        bind_missing(job, job->scenario, "`model`");
        return NULL;
    }
    const struct bound_model *bound = bind_architecture(job, model);
    return bound ? bind_formats(job, bound) : NULL;
}

/* Engines page their cache; a plan that names none gets tokens counted one by one (model.md section 2). */
static void scenario_engine(struct bind_job *job, struct binding *out)
{
    struct decl *scenario = job->scenario;
    const struct setting *named = bind_setting(job, scenario, ATTR_SCENARIO_ENGINE);
    out->engine = bind_ref(job, scenario, ATTR_SCENARIO_ENGINE);
    if (!out->engine) {
        if (!bind_poisoned(job, scenario))
            bind_missing(job, scenario, "`engine`");
        return;
    }
    out->engine_named = named->origin != ORIGIN_DEFAULT;
    const struct pm_engine *engine = bind_engine(job, out->engine);
    if (!engine)
        return;
    out->engine_values = *engine;
    out->own_overhead = plan_is_set(job->binder->plan, scenario, ATTR_OVERHEAD);
    out->engine_values.overhead = bind_number(job, scenario, ATTR_OVERHEAD, engine->overhead);
    out->input.utilization = bind_number(job, scenario, ATTR_UTILIZATION, 0);
    out->input.page = bind_number(job, scenario, ATTR_PAGE, out->engine_named ? 0 : 1);
    out->input.chunk = bind_number(job, scenario, ATTR_CHUNK, 0);
}

/* `context` makes a static decode step, `prompt` and `output` a closed loop. */
static void scenario_load(struct bind_job *job, struct pm_case *input)
{
    struct decl *scenario = job->scenario;
    const struct setting *context = bind_setting(job, scenario, ATTR_CONTEXT);
    const struct setting *output = bind_setting(job, scenario, ATTR_OUTPUT);
    const struct setting *prompt = bind_setting(job, scenario, ATTR_PROMPT);
    if (bind_poisoned(job, scenario))
        return;
    if (context && output) {
        struct diag *diag = bind_error(job, DIAG_E0307, setting_span(context, scenario),
                                       "scenario `%s` has both `context` and `output`", scenario->name);
        if (diag)
            diag_note_at(
                plan_diags(job->binder->plan), diag, setting_span(output, scenario),
                "`context` is one static decode step, `prompt` and `output` a closed loop of requests");
        return;
    }
    if (!context && !output)
        bind_missing(job, scenario,
                     prompt ? "`output` (for a closed loop) or `context` (for a static decode step)"
                            : "a load: `context`, or `prompt` and `output`");
    else if (!context && !prompt)
        bind_missing(job, scenario, "`prompt`, which goes with `output`");
    input->static_step = context != NULL;
    input->context = context ? context->value.number : 0;
    input->prompt = prompt ? prompt->value.number : 0;
    input->output = output ? output->value.number : 0;
    input->batch = bind_number(job, scenario, ATTR_BATCH, 1);
    input->equal_lengths =
        strcmp(plan_text(job->binder->plan, scenario, ATTR_LENGTHS, "spread"), "equal") == 0;
    input->cached_prefix = bind_number(job, scenario, ATTR_CACHED_PREFIX, 0);
    if (input->cached_prefix > input->prompt)
        bind_error(job, DIAG_E0310, setting_span(bind_setting(job, scenario, ATTR_CACHED_PREFIX), scenario),
                   "`cached_prefix` is longer than the prompt of %g tokens", input->prompt);
}

/* What drafts, where the scenario says so; else what there is (pm_predicts()). */
static void scenario_drafts(struct bind_job *job, const struct bound_model *model, struct pm_case *input)
{
    struct decl *scenario = job->scenario;
    const struct setting *method = bind_setting(job, scenario, ATTR_SPECULATION_METHOD);
    if (!method)
        return;
    bool draft = strcmp(method->value.text, "draft") == 0, ngram = strcmp(method->value.text, "ngram") == 0;
    if (!(input->draft_tokens > 0))
        bind_missing(job, scenario, "`speculation.tokens`, which goes with the rest of `speculation`");
    else if (draft && input->draft_model == NULL)
        bind_missing(job, scenario, "`speculation.draft`, which goes with the method `draft`");
    else if (!draft && input->draft_model != NULL)
        bind_missing(job, scenario, "the method `draft`, which goes with `speculation.draft`");
    else if (!draft && !ngram && model && !(model->model.mtp_params > 0))
        bind_missing(job, scenario, "a model with `mtp_params`, which the method `mtp` needs");
    input->free_drafts = ngram;
}

static void scenario_speculation(struct bind_job *job, const struct bound_model *model, struct pm_case *input)
{
    struct decl *scenario = job->scenario;
    const struct setting *acceptance = bind_setting(job, scenario, ATTR_SPECULATION_ACCEPTANCE);
    struct decl *draft = bind_ref(job, scenario, ATTR_SPECULATION_DRAFT);
    input->draft_tokens = bind_number(job, scenario, ATTR_SPECULATION_TOKENS, 0);
    if (bind_poisoned(job, scenario))
        return;
    if (input->draft_tokens > 0 && !acceptance)
        bind_missing(job, scenario, "`speculation.acceptance`, which goes with `speculation.tokens`");
    if (!(input->draft_tokens > 0) && (acceptance || draft))
        bind_missing(job, scenario, "`speculation.tokens`, which goes with the rest of `speculation`");
    input->acceptance = acceptance ? acceptance->value.number : 0;
    const struct bound_model *bound = draft ? bind_architecture(job, draft) : NULL;
    input->draft_model = bound ? &bound->model : NULL;
    scenario_drafts(job, model, input);
}

/* With attention replicas the experts stand on all GPUs, whole where there are enough of them (model.md
 * section 6); else they are cut like every other matrix. */
static double default_ep(const struct binding *binding)
{
    double gpus = binding->input.tp * binding->input.dp;
    bool has_experts = false;
    if (!(binding->input.dp > 1) || !binding->model)
        return 1;
    for (size_t i = 0; i < binding->model->model.block_count; i++) {
        double experts = binding->model->model.blocks[i].experts;
        if (experts > 0 && experts < gpus)
            return 1;
        has_experts = has_experts || experts > 0;
    }
    return has_experts ? gpus : 1;
}

/* What was measured tells how far runs of those deployments scatter. Elsewhere hold the bands of the engine
 * that the fitted one inherits from. */
static void scenario_bands(struct bind_job *job, struct binding *out)
{
    const struct setting *fitted = bind_setting(job, out->engine, ATTR_ENGINE_FITTED_TO);
    if (!fitted || !fitted->owner || !fitted->owner->base ||
        deployment_listed(fitted->value.text, deployment_text(job->binder->arena, out)))
        return;
    const struct pm_engine *base = bind_engine(job, fitted->owner->base);
    if (!base)
        return;
    out->engine_values.tpot_band = base->tpot_band;
    out->engine_values.ttft_band = base->ttft_band;
    out->engine_values.rate_band = base->rate_band;
    out->engine_values.unverified_band = base->unverified_band;
}

bool bind_scenario(struct binder *binder, struct decl *scenario, bool quiet, struct bind_cursor *cursor,
                   struct binding *out, const char **why)
{
    struct bind_job job = {.binder = binder, .scenario = scenario, .cursor = cursor, .quiet = quiet};
    *out = (struct binding){.binder = binder, .scenario = scenario};
    struct pm_case *input = &out->input;
    out->model = scenario_model(&job);
    out->gpu = scenario_hardware(&job);
    scenario_engine(&job, out);
    scenario_load(&job, input);
    scenario_speculation(&job, out->model, input);
    input->tp = bind_number(&job, scenario, ATTR_TP, 1);
    input->pp = bind_number(&job, scenario, ATTR_PP, 1);
    input->dp = bind_number(&job, scenario, ATTR_DP, 1);
    input->ep = bind_number(&job, scenario, ATTR_EP, default_ep(out));
    input->replicas = bind_number(&job, scenario, ATTR_REPLICAS, 1);
    bind_poisoned(&job, scenario);
    if (!job.failed && out->model && out->gpu) {
        check_binding(&job, out);
        scenario_bands(&job, out);
    }
    *why = job.why;
    if (job.failed || !out->model || !out->gpu)
        return false;
    input->model = &out->model->model;
    input->gpu = &out->gpu->gpu;
    input->engine = &out->engine_values; /* points into *out: the caller sets it again when it moves *out */
    return true;
}

const struct bound_model *bind_model(struct binder *binder, struct decl *model, bool quiet, const char **why)
{
    struct bind_job job = {.binder = binder, .quiet = quiet};
    const struct bound_model *bound = bind_architecture(&job, model);
    *why = job.why;
    return bound;
}

const struct bound_gpu *bind_gpu(struct binder *binder, struct decl *gpu, bool quiet, const char **why)
{
    struct bind_job job = {.binder = binder, .quiet = quiet};
    const struct bound_gpu *bound = bind_hardware(&job, gpu, NULL);
    *why = job.why;
    return bound;
}
