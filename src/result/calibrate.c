/* calibrate.c: the measurements of a plan by engine, and each engine fitted to its own. */
#include "result/calibrate.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/intern.h"
#include "result/deployment.h"
#include "result/measured.h"

/* ---- points ------------------------------------------------------------------------------------- */

static const struct {
    enum quantity quantity;
    enum fit_figure figure;
    bool inverse; /* tokens per second and user are a time per token */
} figures[] = {
    {Q_TPOT, FIT_TPOT, false},
    {Q_SPEED, FIT_TPOT, true},
    {Q_TTFT, FIT_TTFT, false},
    {Q_THROUGHPUT, FIT_RATE, false},
};

enum { FIGURES = sizeof figures / sizeof figures[0] };

static const struct measured_row *row_of(const struct measured_result *measured, enum quantity quantity)
{
    for (size_t i = 0; i < measured->count; i++)
        if (measured->rows[i].row->id == quantity)
            return &measured->rows[i];
    return NULL;
}

/* What decides the expected value, as text: runs of one key are evaluated once. Scenarios of one engine
 * differ in its overhead alone. */
static const char *key_of(struct plan *plan, const struct evaluation *evaluation)
{
    const struct pm_case *input = &evaluation->binding.input;
    const double numbers[] = {
        input->tp,
        input->pp,
        input->dp,
        input->ep,
        input->replicas,
        input->batch,
        input->static_step,
        input->context,
        input->prompt,
        input->output,
        input->cached_prefix,
        input->equal_lengths,
        input->utilization,
        input->page,
        input->chunk,
        input->draft_tokens,
        input->acceptance,
        input->free_drafts,
        evaluation->binding.engine_values.overhead,
    };
    struct buffer key = buffer_in(plan_arena(plan));
    buffer_printf(&key, "%p %p %p", (const void *)input->model, (const void *)input->gpu,
                  (const void *)input->draft_model);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        buffer_printf(&key, " %a", numbers[i]);
    return intern(plan_strings(plan), buffer_string(&key), key.length);
}

/* A run's figures that have an expected value and are possible. Returns how many. */
static size_t points_of(struct plan *plan, const struct measured_result *measured,
                        const struct evaluation *evaluation, struct fit_point out[FIGURES])
{
    const char *key = key_of(plan, evaluation);
    size_t count = 0;
    for (size_t i = 0; i < FIGURES; i++) {
        const struct measured_row *row = row_of(measured, figures[i].quantity);
        bool twice = count > 0 && out[count - 1].figure == figures[i].figure;
        if (!row || !row->has_expected || row->beyond_ceiling || twice)
            continue;
        out[count++] = (struct fit_point){
            .input = evaluation->binding.input,
            .engine = evaluation->binding.engine_values,
            .figure = figures[i].figure,
            .measured = figures[i].inverse ? 1 / row->measured : row->measured,
            .key = key,
        };
    }
    return count;
}

/* Why a measurement tells nothing of an engine; NULL when it does. */
static const char *why_useless(const struct measured_result *measured, const struct evaluation *evaluation,
                               size_t points)
{
    if (!evaluation->valid)
        return evaluation->why;
    if (evaluation->binding.engine_values.ideal)
        return "its engine is ideal and has nothing to fit";
    for (size_t i = 0; i < measured->count; i++)
        if (measured->rows[i].beyond_ceiling)
            return "it is better than the physical limit";
    if (evaluation->result.hypothetical)
        return "by the plan its model does not fit";
    return points > 0 ? NULL : "it has no figure that an engine's times decide";
}

/* ---- by engine ------------------------------------------------------------------------------------- */

struct group {
    struct decl *engine;
    VEC(struct fit_point) points;
    VEC(struct calibration_skip) skips;
    VEC(const char *) deployments; /* interned */
    size_t runs;
    bool unverified;
};

typedef VEC(struct group) group_list;

static struct group *group_of(struct arena *arena, group_list *groups, struct decl *engine)
{
    for (size_t i = 0; i < groups->count; i++)
        if (groups->items[i].engine == engine)
            return &groups->items[i];
    struct group *group = VEC_PUSH(arena, *groups);
    group->engine = engine;
    return group;
}

static void add_deployment(struct plan *plan, struct group *group, const struct evaluation *evaluation)
{
    const char *text =
        intern_text(plan_strings(plan), deployment_text(plan_arena(plan), &evaluation->binding));
    for (size_t i = 0; i < group->deployments.count; i++)
        if (group->deployments.items[i] == text)
            return;
    *VEC_PUSH(plan_arena(plan), group->deployments) = text;
}

static void add_measurement(struct evaluator *evaluator, const struct measurement *measurement,
                            group_list *groups, struct group *rest)
{
    struct arena *arena = plan_arena(evaluator_plan(evaluator));
    const struct evaluation *evaluation = evaluate_measured(evaluator, measurement);
    struct measured_result measured;
    struct fit_point points[FIGURES];
    measured_evaluate(evaluator, measurement, &measured);
    size_t count =
        evaluation->valid ? points_of(evaluator_plan(evaluator), &measured, evaluation, points) : 0;
    const char *why = why_useless(&measured, evaluation, count);
    bool hopeless = !evaluation->valid || evaluation->binding.engine_values.ideal;
    struct group *group = hopeless ? rest : group_of(arena, groups, evaluation->binding.engine);
    if (why) {
        *VEC_PUSH(arena, group->skips) = (struct calibration_skip){measurement, why};
        return;
    }
    add_deployment(evaluator_plan(evaluator), group, evaluation);
    group->unverified = group->unverified || !evaluation->result.verified;
    for (size_t i = 0; i < count; i++) {
        points[i].run = group->runs;
        *VEC_PUSH(arena, group->points) = points[i];
    }
    group->runs++;
}

/* ---- one engine ------------------------------------------------------------------------------------- */

/* "vllm-calibrated"; what the plan calls otherwise already gets a number. */
static const char *free_name(struct plan *plan, const char *engine)
{
    const char *name = arena_printf(plan_arena(plan), "%s-calibrated", engine);
    const char *tried = name;
    for (int i = 2; plan_find(plan, KIND_ENGINE, tried); i++)
        tried = arena_printf(plan_arena(plan), "%s-%d", name, i);
    return tried;
}

/* The fitted numbers as they are written, where they matter and differ. */
static void round_coefficients(struct arena *arena, struct calibration *calibration)
{
    const struct coefficient_slot *slots;
    size_t count = coefficient_slots(&slots);
    struct pm_engine changed = calibration->standard;
    coefficients_change(&changed, calibration->fit.change);
    calibration->fitted = calibration->standard;
    calibration->written = ARENA_ARRAY(arena, bool, count);
    for (size_t i = 0; i < count; i++) {
        double standard = *coefficient_value(&calibration->standard, &slots[i]);
        double value = *coefficient_value(&changed, &slots[i]);
        if (value == standard || !calibration->fit.moved_by[i])
            continue;
        value = coefficient_rounded(arena, &slots[i], value);
        if (value == coefficient_rounded(arena, &slots[i], standard))
            continue;
        *coefficient_value(&calibration->fitted, &slots[i]) = value;
        calibration->written[i] = true;
    }
}

/* Errors with the numbers that are written. */
static void measure_rounded(struct arena *arena, struct calibration *calibration)
{
    const struct coefficient_slot *slots;
    size_t count = coefficient_slots(&slots);
    const struct fit_cases *cases = &calibration->fit.cases;
    struct fit_logs *logs = ARENA_ARRAY(arena, struct fit_logs, cases->count);
    for (size_t i = 0; i < cases->count; i++) {
        struct pm_engine engine = cases->items[i].engine;
        for (size_t j = 0; j < count; j++)
            *coefficient_value(&engine, &slots[j]) = *coefficient_value(&calibration->fitted, &slots[j]);
        logs[i] = fit_case_with(&cases->items[i], &engine);
    }
    fit_measure(cases, calibration->points, calibration->count, logs, calibration->fit.after);
}

static void find_bands(struct calibration *calibration)
{
    const struct pm_engine *engine = &calibration->standard;
    struct pm_band standard[FIT_FIGURES] = {
        [FIT_TPOT] = calibration->unverified ? engine->unverified_band : engine->tpot_band,
        [FIT_TTFT] = calibration->unverified ? engine->unverified_band : engine->ttft_band,
        [FIT_RATE] = calibration->unverified ? engine->unverified_band : engine->rate_band,
    };
    for (enum fit_figure i = 0; i < FIT_FIGURES; i++)
        calibration->bands[i] =
            fit_band(&calibration->fit, i, standard[i], calibration->deployment_count == 1);
}

static void fit_group(struct evaluator *evaluator, const struct group *group, struct calibration *out)
{
    struct plan *plan = evaluator_plan(evaluator);
    struct arena *arena = plan_arena(plan);
    *out = (struct calibration){
        .engine = group->engine,
        .name = free_name(plan, group->engine->name),
        .points = group->points.items,
        .count = group->points.count,
        .runs = group->runs,
        .standard = group->points.items[0].engine,
        .deployments = group->deployments.items,
        .deployment_count = group->deployments.count,
        .unverified = group->unverified,
        .skips = group->skips.items,
        .skip_count = group->skips.count,
    };
    fit_engine(arena, out->points, out->count, out->runs, &out->fit);
    round_coefficients(arena, out);
    measure_rounded(arena, out);
    find_bands(out);
}

size_t calibrate_plan(struct evaluator *evaluator, struct calibration **out, struct calibration_skip **rest,
                      size_t *rest_count)
{
    struct plan *plan = evaluator_plan(evaluator);
    struct arena *arena = plan_arena(plan);
    const struct plan_view *view = plan_view(plan);
    group_list groups = {0};
    struct group others = {0};
    VEC(struct calibration) fitted = {0};
    for (size_t i = 0; i < view->measurements.count; i++)
        add_measurement(evaluator, &view->measurements.items[i], &groups, &others);
    for (size_t i = 0; i < groups.count; i++) {
        const struct group *group = &groups.items[i];
        if (group->points.count > 0)
            fit_group(evaluator, group, VEC_PUSH(arena, fitted));
        for (size_t j = 0; group->points.count == 0 && j < group->skips.count; j++)
            *VEC_PUSH(arena, others.skips) = group->skips.items[j];
    }
    *out = fitted.items;
    *rest = others.skips.items;
    *rest_count = others.skips.count;
    return fitted.count;
}
