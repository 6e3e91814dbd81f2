/* evaluate.c: scenarios evaluated on demand and remembered; what expressions read as quantities. */
#include "result/evaluate.h"

#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "result/bind_internal.h"
#include "result/check.h"
#include "result/measured.h"
#include "result/message.h"
#include "result/name.h"
#include "sema/unit.h"
#include "source/phrase.h"

struct record {
    struct evaluation evaluation;
    struct bind_cursor cursor;
    enum { RECORD_RUNNING, RECORD_DONE } state;
};

struct evaluator {
    struct plan *plan;
    struct arena *arena;
    struct binder *binder;
    struct map *records;               /* by scenario */
    struct map *told;                  /* declarations whose warnings were reported */
    struct map *formulas;              /* by text */
    const struct evaluation *supposed; /* stands in for its scenario's own; or NULL */
    bool supposed_read;
    bool language_set;
    enum language language;
    const char *units[QUANTITY_COUNT][DIM_BASE_COUNT]; /* SI unit texts, by currency */
};

/* ---- scenarios ------------------------------------------------------------------------------------ */

static void run(struct evaluator *evaluator, struct record *record, bool quiet)
{
    struct evaluation *evaluation = &record->evaluation;
    if (evaluation->scenario->poisoned) {
        evaluation->why = "the scenario has an error";
        return;
    }
    evaluation->valid = bind_scenario(evaluator->binder, evaluation->scenario, quiet, &record->cursor,
                                      &evaluation->binding, &evaluation->why);
    if (!evaluation->valid) {
        if (!evaluation->why)
            evaluation->why = "the scenario has an error";
        return;
    }
    evaluation->why = NULL;
    evaluation->binding.input.engine = &evaluation->binding.engine_values;
    pm_evaluate(&evaluation->binding.input, &evaluation->result);
    if (!quiet)
        check_result(evaluator->plan, evaluation);
}

static struct record *find_record(struct evaluator *evaluator, struct decl *scenario, bool quiet)
{
    struct record *record = decl_map_get(evaluator->records, scenario);
    if (record)
        return record;
    record = ARENA_NEW(evaluator->arena, struct record);
    record->evaluation.scenario = scenario;
    decl_map_put(evaluator->records, scenario, record);
    run(evaluator, record, quiet);
    record->state = RECORD_DONE;
    return record;
}

const struct evaluation *evaluate_scenario(struct evaluator *evaluator, struct decl *scenario)
{
    if (evaluator->supposed && evaluator->supposed->scenario == scenario) {
        evaluator->supposed_read = true;
        return evaluator->supposed;
    }
    return &find_record(evaluator, scenario, false)->evaluation;
}

const struct evaluation *evaluate_variant(struct evaluator *evaluator, struct decl *variant)
{
    return &find_record(evaluator, variant, true)->evaluation;
}

void evaluator_suppose(struct evaluator *evaluator, const struct evaluation *evaluation)
{
    evaluator->supposed = evaluation;
    evaluator->supposed_read = false;
}

bool evaluator_suppose_nothing(struct evaluator *evaluator)
{
    evaluator->supposed = NULL;
    return evaluator->supposed_read;
}

void evaluate_all(struct evaluator *evaluator)
{
    const struct plan_view *view = plan_view(evaluator->plan);
    for (size_t i = 0; i < view->scenarios.count; i++)
        evaluate_scenario(evaluator, view->scenarios.items[i]);
    struct measured_result measured;
    for (size_t i = 0; i < view->measurements.count; i++)
        measured_evaluate(evaluator, &view->measurements.items[i], &measured);
}

bool evaluator_first_time(struct evaluator *evaluator, struct decl *decl)
{
    if (decl_map_get(evaluator->told, decl))
        return false;
    decl_map_put(evaluator->told, decl, decl);
    return true;
}

/* ---- quantities ------------------------------------------------------------------------------------- */

/* Gathers what quantities of `decl` are computed from. False: it has none; `why` says why. */
static bool gather(struct evaluator *evaluator, struct decl *decl, struct quantity_input *input,
                   const char **why)
{
    *input = (struct quantity_input){0};
    *why = NULL;
    if (decl->kind == KIND_SCENARIO) {
        const struct evaluation *evaluation = evaluate_scenario(evaluator, decl);
        input->binding = &evaluation->binding;
        input->result = &evaluation->result;
        input->model = evaluation->binding.model;
        input->params = &evaluation->result.params;
        input->gpu = evaluation->binding.gpu;
        *why = evaluation->why;
        return evaluation->valid;
    }
    if (decl->kind == KIND_MODEL) {
        input->model = bind_model(evaluator->binder, decl, false, why);
        input->params = input->model ? &input->model->params : NULL;
        return input->model != NULL;
    }
    input->gpu = decl->kind == KIND_GPU ? bind_gpu(evaluator->binder, decl, false, why) : NULL;
    return input->gpu != NULL;
}

bool evaluate_gather(struct evaluator *evaluator, struct decl *decl, struct quantity_input *input)
{
    const char *why;
    return gather(evaluator, decl, input, &why);
}

static const char *unit_of(struct evaluator *evaluator, enum quantity quantity,
                           const struct quantity_input *input)
{
    enum dim_base currency = input->gpu ? input->gpu->currency : DIM_USD;
    const char **unit = &evaluator->units[quantity][currency];
    if (!*unit)
        *unit = dim_si_unit(evaluator->arena, quantity_dim(quantity, input));
    return *unit;
}

static struct report_quantity read_row(struct evaluator *evaluator, struct decl *decl, enum quantity quantity,
                                       bool *in_error)
{
    struct quantity_input input;
    const char *why;
    struct report_quantity out = {.name = quantity_info(quantity)->name, .type = QUANTITY_ABSENT};
    *in_error = !gather(evaluator, decl, &input, &why);
    if (*in_error)
        out.text = why ? why : "the declaration has an error";
    else
        out = quantity_get(quantity, &input);
    if (quantity_info(quantity)->type == QUANTITY_NUMBER)
        out.unit = unit_of(evaluator, quantity, &input);
    return out;
}

struct report_quantity evaluate_row(struct evaluator *evaluator, struct decl *decl, enum quantity quantity)
{
    bool in_error;
    struct report_quantity out = read_row(evaluator, decl, quantity, &in_error);
    out.name = quantity_full_name(evaluator->arena, decl->name, out.name);
    return out;
}

/* The row of a path, and which end of its band: 0 for the value itself, 'l' or 'h'. */
static const struct quantity_info *find_row(struct evaluator *evaluator, enum quantity_scope scope,
                                            const char *path, char *end)
{
    const struct quantity_info *row = quantity_find(scope, path);
    *end = 0;
    if (row)
        return row;
    static const struct {
        const char *suffix;
        char end;
    } ends[] = {{".low", 'l'}, {".high", 'h'}};
    size_t length = strlen(path);
    for (size_t i = 0; i < 2; i++) {
        size_t suffix = strlen(ends[i].suffix);
        if (length <= suffix || strcmp(path + length - suffix, ends[i].suffix) != 0)
            continue;
        row = quantity_find(scope, arena_strndup(evaluator->arena, path, length - suffix));
        *end = ends[i].end;
        return row && row->has_band ? row : NULL;
    }
    return NULL;
}

static bool read_path(struct evaluator *evaluator, struct decl *decl, const char *path,
                      struct report_quantity *out, const struct quantity_info **row, bool *in_error)
{
    enum quantity_scope scope;
    char end;
    if (!quantity_scope_of(decl->kind, &scope))
        return false;
    *row = find_row(evaluator, scope, path, &end);
    if (!*row)
        return false;
    *out = read_row(evaluator, decl, (*row)->id, in_error);
    if (end && out->type == QUANTITY_NUMBER) {
        out->value = end == 'l' ? out->low : out->high;
        out->has_band = false;
    }
    return true;
}

bool evaluate_quantity(struct evaluator *evaluator, struct decl *decl, const char *path,
                       struct report_quantity *out)
{
    const struct quantity_info *row;
    bool in_error;
    if (!read_path(evaluator, decl, path, out, &row, &in_error))
        return false;
    out->name = quantity_full_name(evaluator->arena, decl->name, path);
    return true;
}

double evaluate_number(struct evaluator *evaluator, struct decl *decl, enum quantity quantity,
                       double fallback)
{
    bool in_error;
    struct report_quantity value = read_row(evaluator, decl, quantity, &in_error);
    return value.type == QUANTITY_NUMBER ? value.value : fallback;
}

struct dim evaluate_dim(struct evaluator *evaluator, struct decl *decl, enum quantity quantity)
{
    struct quantity_input input;
    const char *why;
    gather(evaluator, decl, &input, &why);
    return quantity_dim(quantity, &input);
}

const char *evaluate_formula(struct evaluator *evaluator, struct decl *decl, enum quantity quantity)
{
    struct quantity_input input;
    const char *why;
    return gather(evaluator, decl, &input, &why) ? quantity_formula(quantity, &input)
                                                 : quantity_info(quantity)->formula;
}

/* ---- for people ------------------------------------------------------------------------------------------
 */

/* Memory is printed as a driver reports it; traffic, which is compared with a bandwidth, is not. */
static enum unit_style style_of(const char *name, struct dim dim)
{
    struct dim data = {{[DIM_DATA] = 1}};
    bool memory = strncmp(name, "memory.", 7) == 0 || strstr(name, ".memory.");
    return memory && dim_equal(dim, data) ? UNIT_STYLE_BINARY : UNIT_STYLE_DECIMAL;
}

const char *quantity_value_text(struct arena *arena, const struct report_quantity *quantity, struct dim dim)
{
    switch (quantity->type) {
    case QUANTITY_BOOL: return quantity->boolean ? "yes" : "no";
    case QUANTITY_NUMBER:
        return unit_format(arena, quantity->value,
                           unit_for_print(dim, quantity->value, style_of(quantity->name, dim)), 3);
    case QUANTITY_TEXT:
    case QUANTITY_ABSENT: break;
    }
    return quantity->text;
}

const char *evaluate_value_text(struct evaluator *evaluator, const struct report_quantity *quantity,
                                struct dim dim)
{
    switch (quantity->type) {
    case QUANTITY_BOOL:
        return message_pattern(evaluator_language(evaluator), quantity->boolean ? M_YES : M_NO);
    case QUANTITY_NUMBER: return quantity_value_text(evaluator->arena, quantity, dim);
    case QUANTITY_TEXT:
    case QUANTITY_ABSENT: break;
    }
    return evaluator_phrase(evaluator, quantity->text);
}

const char *evaluate_text(struct evaluator *evaluator, struct decl *decl, enum quantity quantity)
{
    bool in_error;
    struct report_quantity value = read_row(evaluator, decl, quantity, &in_error);
    return evaluate_value_text(evaluator, &value, evaluate_dim(evaluator, decl, quantity));
}

/* ---- for expressions
 * --------------------------------------------------------------------------------------- */

/* The scenario is being bound because its own quantity is read by one of its attributes. Reading that
 * attribute again makes the semantic pass report the circle with all its places. */
static void report_own_cycle(struct evaluator *evaluator, struct record *record)
{
    if (record->cursor.decl)
        plan_setting(evaluator->plan, record->cursor.decl, record->cursor.attribute);
    else
        diag_add(plan_diags(evaluator->plan), DIAG_E0212, record->evaluation.scenario->name_span,
                 "scenario `%s` needs its own result", record->evaluation.scenario->name);
}

static struct value value_of(const struct report_quantity *quantity, struct dim dim)
{
    switch (quantity->type) {
    case QUANTITY_NUMBER: return (struct value){.type = VALUE_NUMBER, .number = quantity->value, .dim = dim};
    case QUANTITY_BOOL: return (struct value){.type = VALUE_BOOL, .boolean = quantity->boolean};
    case QUANTITY_TEXT: return (struct value){.type = VALUE_TEXT, .text = quantity->text};
    case QUANTITY_ABSENT: break;
    }
    return (struct value){.type = VALUE_ABSENT, .text = quantity->text};
}

static bool read_quantity(void *context, struct decl *decl, const char *path, struct value *value)
{
    struct evaluator *evaluator = context;
    enum quantity_scope scope;
    char end;
    if (!quantity_scope_of(decl->kind, &scope) || !find_row(evaluator, scope, path, &end))
        return false;
    *value = (struct value){.type = VALUE_ERROR};
    struct record *record = decl_map_get(evaluator->records, decl);
    if (record && record->state == RECORD_RUNNING) {
        report_own_cycle(evaluator, record);
        return true;
    }
    struct report_quantity quantity;
    const struct quantity_info *row;
    bool in_error;
    if (!read_path(evaluator, decl, path, &quantity, &row, &in_error))
        return false;
    if (in_error) /* reported already, unless it is a sweep point */
        return true;
    *value = value_of(&quantity, evaluate_dim(evaluator, decl, row->id));
    return true;
}

static const char *suggest_quantity(void *context, enum kind kind, const char *path)
{
    enum quantity_scope scope;
    (void)context;
    return quantity_scope_of(kind, &scope) ? quantity_suggest(scope, path) : NULL;
}

struct evaluator *evaluator_new(struct plan *plan)
{
    struct arena *arena = plan_arena(plan);
    struct evaluator *evaluator = ARENA_NEW(arena, struct evaluator);
    *evaluator = (struct evaluator){
        .plan = plan,
        .arena = arena,
        .binder = binder_new(plan),
        .records = map_new(arena),
        .told = map_new(arena),
        .formulas = map_new(arena),
    };
    plan_set_reader(plan, (struct quantity_reader){read_quantity, suggest_quantity, evaluator});
    return evaluator;
}

struct plan *evaluator_plan(const struct evaluator *evaluator)
{
    return evaluator->plan;
}

void evaluator_set_language(struct evaluator *evaluator, enum language language)
{
    evaluator->language = language;
    evaluator->language_set = true;
}

enum language evaluator_language(const struct evaluator *evaluator)
{
    struct decl *report = plan_view(evaluator->plan)->report;
    enum language language = LANGUAGE_EN;
    if (evaluator->language_set)
        return evaluator->language;
    const char *name = report ? plan_text(evaluator->plan, report, ATTR_REPORT_LANGUAGE, NULL) : NULL;
    return name && language_find(name, &language) ? language : LANGUAGE_EN;
}

const char *evaluator_phrase(const struct evaluator *evaluator, const char *english)
{
    return phrase_in(diags_phrases(plan_diags(evaluator->plan)), evaluator_language(evaluator), english);
}

struct map *evaluator_formulas(const struct evaluator *evaluator)
{
    return evaluator->formulas;
}

/* ---- for the report
 * ------------------------------------------------------------------------------------------ */

static bool is_among(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* A scenario may be called like its card or model, and a name means what is listed first. */
static bool is_taken(const struct report *report, const char *name, const struct quantity_info *row)
{
    const struct quantity_info *scenario = quantity_find(QUANTITY_OF_SCENARIO, row->name);
    const struct quantity_info *model = quantity_find(QUANTITY_OF_MODEL, row->name);
    return (scenario && row->scope != QUANTITY_OF_SCENARIO &&
            is_among(name, report->scenarios.items, report->scenarios.count)) ||
           (model && row->scope == QUANTITY_OF_GPU &&
            is_among(name, report->models.items, report->models.count));
}

static void add_all(struct evaluator *evaluator, struct report *report, struct decl *decl)
{
    enum quantity_scope scope;
    if (!quantity_scope_of(decl->kind, &scope))
        return;
    for (size_t i = 0; i < QUANTITY_COUNT; i++) {
        const struct quantity_info *row = quantity_info((enum quantity)i);
        if (row->scope == scope && !is_taken(report, decl->name, row))
            *VEC_PUSH(evaluator->arena, report->quantities) = evaluate_row(evaluator, decl, row->id);
    }
}

/* Pushes a declaration that was not there yet. */
#define PUSH_ONCE(evaluator, vec, seen, decl)                                                                \
    do {                                                                                                     \
        if ((decl) && !decl_map_get(seen, decl)) {                                                           \
            decl_map_put(seen, decl, decl);                                                                  \
            *VEC_PUSH((evaluator)->arena, vec) = (decl);                                                     \
        }                                                                                                    \
    } while (0)

void evaluate_report_quantities(struct evaluator *evaluator, struct report *report)
{
    const struct plan_view *view = plan_view(evaluator->plan);
    struct arena *arena = evaluator->arena;
    struct map *seen = map_new(arena);
    VEC(struct decl *) models = {0};
    VEC(struct decl *) gpus = {0};
    for (size_t i = 0; i < view->scenarios.count; i++) {
        struct decl *scenario = view->scenarios.items[i];
        const struct evaluation *evaluation = evaluate_scenario(evaluator, scenario);
        *VEC_PUSH(arena, report->scenarios) = scenario->name;
        add_all(evaluator, report, scenario);
        if (!evaluation->valid)
            continue;
        PUSH_ONCE(evaluator, models, seen, evaluation->binding.model->decl);
        PUSH_ONCE(evaluator, gpus, seen, evaluation->binding.gpu->decl);
    }
    for (size_t i = 0; i < models.count; i++) {
        *VEC_PUSH(arena, report->models) = models.items[i]->name;
        add_all(evaluator, report, models.items[i]);
    }
    for (size_t i = 0; i < gpus.count; i++) {
        *VEC_PUSH(arena, report->gpus) = gpus.items[i]->name;
        add_all(evaluator, report, gpus.items[i]);
    }
}
