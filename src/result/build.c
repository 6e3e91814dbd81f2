/* build.c: the order of the report; each section is built in a file of its own, build_*.c. */
#include "result/build_internal.h"

#include <string.h>

#include "base/arena.h"
#include "result/assertion.h"
#include "result/diff.h"
#include "result/measured.h"
#include "result/sweep.h"
#include "source/diag.h"

struct section_builder {
    const char *id;
    void (*build)(struct builder *builder);
};

/* The order of a report that does not choose its own. */
static const struct section_builder sections[] = {
    {"key", build_key},
    {"compare", build_compare},
    {"roofline", build_roofline},
    {"time", build_time},
    {"memory", build_memory},
    {"sweeps", build_sweeps},
    {"tradeoff", build_tradeoff},
    {"measured", build_measured},
    {"sensitivity", build_sensitivity},
    {"derivations", build_derivations},
    {"assumptions", build_assumptions},
    {"sources", build_sources},
    {"plan", build_plan},
    {"warnings", build_warnings},
};

enum { SECTION_COUNT = sizeof sections / sizeof sections[0] };

static void build_section(struct builder *builder, const char *id)
{
    for (size_t i = 0; i < SECTION_COUNT; i++)
        if (strcmp(sections[i].id, id) == 0)
            sections[i].build(builder);
}

static bool chosen_before(const char *const *ids, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(ids[i], ids[index]) == 0)
            return true;
    return false;
}

static void build_sections(struct builder *builder)
{
    struct decl *report = builder->view->report;
    size_t count = 0;
    const char *const *ids = NULL;
    if (report != NULL)
        ids = plan_words(builder->plan, report, ATTR_REPORT_SECTIONS, &count);
    if (count == 0) {
        for (size_t i = 0; i < SECTION_COUNT; i++)
            sections[i].build(builder);
        return;
    }
    for (size_t i = 0; i < count; i++)
        if (!chosen_before(ids, i))
            build_section(builder, ids[i]);
}

static void collect_scenarios(struct builder *builder)
{
    size_t count = builder->view->scenarios.count;
    builder->scenarios = ARENA_ARRAY(builder->arena, const struct evaluation *, count);
    for (size_t i = 0; i < count; i++) {
        const struct evaluation *evaluation =
            evaluate_scenario(builder->evaluator, builder->view->scenarios.items[i]);
        builder->scenarios[builder->count++] = evaluation;
        builder->valid += evaluation->valid;
    }
}

/* Before any section, because a measurement beyond the ceiling adds a warning. */
static void collect_measurements(struct builder *builder)
{
    size_t count = builder->view->measurements.count;
    builder->measured = ARENA_ARRAY(builder->arena, struct measured_result, count);
    for (size_t i = 0; i < count; i++)
        measured_evaluate(builder->evaluator, &builder->view->measurements.items[i], &builder->measured[i]);
}

static void collect_sweeps(struct builder *builder)
{
    size_t count = builder->view->sweeps.count;
    builder->sweeps = ARENA_ARRAY(builder->arena, struct sweep_result, count);
    for (size_t i = 0; i < count; i++)
        sweep_evaluate(builder->evaluator, &builder->view->sweeps.items[i], &builder->sweeps[i]);
}

/* What machines read beside the sections. */
static void list_quantities(struct builder *builder)
{
    evaluate_report_quantities(builder->evaluator, builder->report);
    report_inputs(builder->evaluator, builder->report);
    for (size_t i = 0; i < builder->view->sweeps.count; i++)
        sweep_list(builder->evaluator, &builder->sweeps[i], builder->report);
    list_measurements(builder);
}

struct report *report_build(struct evaluator *evaluator, struct report_options options)
{
    struct plan *plan = evaluator_plan(evaluator);
    struct arena *arena = plan_arena(plan);
    struct report *report = ARENA_NEW(arena, struct report);
    struct builder builder = {
        .arena = arena,
        .evaluator = evaluator,
        .plan = plan,
        .view = plan_view(plan),
        .report = report,
        .language = evaluator_language(evaluator),
        .phrases = diags_phrases(plan_diags(plan)),
    };
    report->language = builder.language;
    report->plan = builder.view->path;
    report->sources = plan_sources(plan);
    if (builder.view->report != NULL)
        report->title = plan_text(plan, builder.view->report, ATTR_REPORT_TITLE, NULL);
    collect_scenarios(&builder);
    collect_measurements(&builder);
    collect_sweeps(&builder);
    collect_tradeoff(&builder);
    assertions_evaluate(evaluator, report);
    diags_sort(plan_diags(plan));
    report->diags = plan_diags(plan);
    if (options.quantities)
        list_quantities(&builder);
    build_verdict(&builder);
    build_sections(&builder);
    return report;
}
