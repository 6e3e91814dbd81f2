/* view.c: what the plan wants to know: its scenarios, comparisons, sweeps, assertions, guards, measurements.
 * A file imported without `as` counts as part of the plan; one imported with `as` is a library, from
 * which only what is named is used. */
#include <math.h>

#include "base/buffer.h"
#include "base/intern.h"
#include "sema/internal.h"
#include "sema/unit.h"

/* ---- collecting --------------------------------------------------------------------------------- */

static struct decl *scenario_named(struct plan *plan, struct module *module, const char *name,
                                   struct span span)
{
    struct name *part = ARENA_NEW(plan->arena, struct name);
    *part = (struct name){name, span, true};
    struct path path = {part, 1, span};
    return lookup_declaration(plan, (struct scope){module, NULL}, &path, KIND_SCENARIO, true);
}

static void collect_report(struct plan *plan, struct decl *decl)
{
    if (!plan->view.report) {
        plan->view.report = decl;
        return;
    }
    struct diag *diag = diag_add(plan->diags, DIAG_E0225, decl->span, "a second `report`");
    diag_note_at(plan->diags, diag, plan->view.report->span, "the first is here");
}

static void collect_decl(struct plan *plan, struct decl *decl)
{
    struct plan_view *view = &plan->view;
    struct decl *scenario;
    *VEC_PUSH(plan->arena, view->declarations) = decl;
    switch (decl->kind) {
    case KIND_SCENARIO: *VEC_PUSH(plan->arena, view->scenarios) = decl; break;
    case KIND_REPORT: collect_report(plan, decl); break;
    case KIND_SWEEP:
    case KIND_MEASURED:
        if (!decl->name || rows_expand(decl))
            break; /* rows.c finds scenarios when values can be worked out */
        scenario = scenario_named(plan, decl->state->module, decl->name, decl->name_span);
        if (!scenario)
            poison(decl);
        else if (decl->kind == KIND_SWEEP)
            *VEC_PUSH(plan->arena, view->sweeps) = (struct sweep){.decl = decl, .scenario = scenario};
        else
            *VEC_PUSH(plan->arena, view->measurements) = (struct measurement){decl, scenario, false};
        break;
    default: break;
    }
}

static void collect_check(struct plan *plan, const struct stmt *stmt)
{
    struct buffer text = buffer_in(plan->arena);
    expr_write(&text, stmt->check.condition);
    struct check check = {stmt->check.condition, stmt->check.message, stmt->span, buffer_string(&text)};
    if (stmt->kind == STMT_GUARD)
        *VEC_PUSH(plan->arena, plan->view.guards) = check;
    else
        *VEC_PUSH(plan->arena, plan->view.assertions) = check;
}

static struct decl *compared(struct plan *plan, struct module *module, const struct expr *expr)
{
    if (expr->kind == EXPR_STRING)
        return scenario_named(plan, module, expr->string.text, expr->span);
    if (expr->kind == EXPR_PATH)
        return lookup_declaration(plan, (struct scope){module, NULL}, &expr->path, KIND_SCENARIO, true);
    diag_add(plan->diags, DIAG_E0208, expr->span, "`compare` takes names of scenarios");
    return NULL;
}

static void collect_comparison(struct plan *plan, struct module *module, const struct stmt *stmt)
{
    VEC(struct decl *) scenarios = {0};
    bool complete = true;
    for (size_t i = 0; i < stmt->list->count; i++) {
        struct decl *scenario = compared(plan, module, stmt->list->items[i]);
        bool repeated = false;
        for (size_t j = 0; j < scenarios.count; j++)
            repeated = repeated || scenarios.items[j] == scenario;
        if (scenario && !repeated)
            *VEC_PUSH(plan->arena, scenarios) = scenario;
        complete = complete && scenario;
    }
    if (complete && scenarios.count < 2)
        diag_add(plan->diags, DIAG_E0224, stmt->span, "`compare` needs two different scenarios or more");
    else if (complete)
        *VEC_PUSH(plan->arena, plan->view.comparisons) =
            (struct comparison){scenarios.items, scenarios.count, stmt->span};
}

static void collect_view(struct plan *plan, struct module *module)
{
    if (module->catalogue || module->visit == plan->visit)
        return;
    module->visit = plan->visit;
    for (size_t i = 0; i < module->imports.count; i++)
        collect_view(plan, module->imports.items[i]);
    *VEC_PUSH(plan->arena, plan->reported_modules) = module;
}

void view_collect(struct plan *plan)
{
    plan->visit++;
    collect_view(plan, plan->root);
    for (size_t i = 0; i < plan->reported_modules.count; i++) {
        struct module *module = plan->reported_modules.items[i];
        for (size_t j = 0; j < module->order.count; j++)
            collect_decl(plan, module->order.items[j]);
        for (size_t j = 0; module->tree && j < module->tree->statements->count; j++) {
            const struct stmt *stmt = module->tree->statements->items[j];
            if (stmt->kind == STMT_ASSERT || stmt->kind == STMT_GUARD)
                collect_check(plan, stmt);
            else if (stmt->kind == STMT_COMPARE)
                collect_comparison(plan, module, stmt);
        }
    }
}

/* ---- sweeps --------------------------------------------------------------------------------------- */

static bool bad_range(struct plan *plan, struct span span, const char *why)
{
    diag_add(plan->diags, DIAG_E0216, span, "%s", why);
    return false;
}

typedef VEC(struct value) value_list;

/* Value number `index` of a range, computed from its ends so that errors do not add up. */
static double range_value(double low, double step, bool multiply, size_t index)
{
    return multiply ? low * pow(step, (double)index) : low + step * (double)index;
}

static bool expand_range(struct plan *plan, struct scope scope, enum attribute attribute,
                         const struct list_item *item, value_list *values)
{
    struct value low = evaluate_item(plan, scope, attribute, scope.decl, item->value);
    struct value high = evaluate_item(plan, scope, attribute, scope.decl, item->high);
    struct value step = item->step ? evaluate(plan, scope, item->step) : value_number(1, dim_none());
    if (low.type == VALUE_ERROR || high.type == VALUE_ERROR || step.type == VALUE_ERROR)
        return false;
    if (low.type != VALUE_NUMBER || high.type != VALUE_NUMBER || step.type != VALUE_NUMBER)
        return bad_range(plan, item->span, "a range needs numbers");
    if (!dim_is_none(step.dim) && (item->multiply || !dim_equal(step.dim, low.dim)))
        return bad_range(plan, item->step->span,
                         item->multiply ? "a factor has no unit"
                                        : "the step measures something else than the range");
    if (!item->step && !dim_is_none(low.dim) && attribute_info(attribute)->type != TYPE_COUNT)
        if (low.dim.power[DIM_TOKEN] != 1)
            return bad_range(plan, item->span, "a range of quantities needs a `step`");
    if (low.number > high.number)
        return bad_range(plan, item->span, "the low end of the range lies above the high end");
    if (item->multiply ? step.number <= 1 || low.number <= 0 : step.number <= 0)
        return bad_range(plan, item->span,
                         item->multiply ? "`step *` needs a factor above 1 and a low end above 0"
                                        : "`step` must be above 0");
    double end = high.number + fabs(high.number) * 1e-12;
    for (size_t i = 0;; i++) {
        double number = range_value(low.number, step.number, item->multiply, i);
        if (number > end)
            return true;
        if (values->count >= RANGE_MAX)
            return bad_range(plan, item->span, "the range has more than 10 000 values");
        struct value value =
            conform(plan, scope.decl, attribute, value_number(number, low.dim), NULL, item->span);
        if (value.type == VALUE_ERROR)
            return false;
        *VEC_PUSH(plan->arena, *values) = value;
    }
}

static bool expand_axis(struct plan *plan, struct sweep *sweep, const struct slot *slot,
                        struct sweep_axis *axis)
{
    struct scope scope = {sweep->decl->state->module, sweep->scenario};
    value_list values = {0};
    axis->attribute = slot->attribute;
    for (size_t i = 0; i < slot->values->count; i++) {
        const struct list_item *item = &slot->values->items[i];
        if (!axis->unit && item->value->kind == EXPR_NUMBER)
            axis->unit = item->value->number.unit;
        if (item->high) {
            if (!expand_range(plan, scope, slot->attribute, item, &values))
                return false;
            continue;
        }
        struct value value = evaluate_item(plan, scope, slot->attribute, scope.decl, item->value);
        if (value.type == VALUE_ABSENT)
            diag_add(plan->diags, DIAG_E0222, item->span, "this has no value: %s", value.text);
        if (value.type == VALUE_ERROR || value.type == VALUE_ABSENT)
            return false;
        *VEC_PUSH(plan->arena, values) = value;
    }
    axis->values = values.items;
    axis->count = values.count;
    return true;
}

static const char *shown_name(struct plan *plan, struct sweep *sweep, const struct expr *expr)
{
    if (expr->kind != EXPR_PATH) {
        diag_add(plan->diags, DIAG_E0208, expr->span, "`show` takes names of quantities");
        return NULL;
    }
    const char *name = path_text(plan, &expr->path, 0, expr->path.count);
    struct value value;
    if (sweep->scenario->poisoned || !plan->reader.read ||
        plan->reader.read(plan->reader.context, sweep->scenario, name, &value))
        return name;
    struct diag *diag =
        diag_add(plan->diags, DIAG_E0218, expr->span, "a scenario has no quantity `%s`", name);
    const char *near = plan->reader.suggest(plan->reader.context, KIND_SCENARIO, name);
    if (near)
        diag_fix(plan->diags, diag, expr->span, near, "did you mean `%s`?", near);
    return NULL;
}

static bool check_shown(struct plan *plan, struct sweep *sweep)
{
    const struct stmt *stmt = sweep->decl->state->stmt;
    VEC(const char *) shown = {0};
    bool good = true;
    for (size_t i = 0; i < stmt->declaration.body->count; i++) {
        const struct stmt *inner = stmt->declaration.body->items[i];
        for (size_t j = 0; inner->kind == STMT_SHOW && j < inner->list->count; j++) {
            const char *name = shown_name(plan, sweep, inner->list->items[j]);
            if (name)
                *VEC_PUSH(plan->arena, shown) = name;
            good = good && name;
        }
    }
    sweep->show = shown.items;
    sweep->show_count = shown.count;
    if (good && !shown.count) {
        diag_add(plan->diags, DIAG_E0223, sweep->decl->span,
                 "this sweep shows nothing; add `show tpot, throughput`");
        return false;
    }
    return good;
}

static void check_sweep(struct plan *plan, struct sweep *sweep)
{
    struct decl *decl = sweep->decl;
    size_t count = decl->state->slots.count;
    if (count < 1 || count > 2) {
        diag_add(plan->diags, DIAG_E0223, decl->span, "a sweep varies one or two attributes, not %zu", count);
        poison(decl);
        return;
    }
    sweep->axes = ARENA_ARRAY(plan->arena, struct sweep_axis, count);
    sweep->axis_count = count;
    bool good = check_shown(plan, sweep);
    for (size_t i = 0; i < count; i++)
        good = expand_axis(plan, sweep, &decl->state->slots.items[i], &sweep->axes[i]) && good;
    if (good && count == 2 && sweep->axes[0].count * sweep->axes[1].count > RANGE_MAX)
        good = bad_range(plan, decl->span, "the two ranges together have more than 10 000 points");
    if (!good)
        poison(decl);
}

static void check_condition(struct plan *plan, const struct check *check, const char *what)
{
    struct value value = plan_evaluate(plan, check->condition);
    if (value.type != VALUE_BOOL && value.type != VALUE_ERROR && value.type != VALUE_ABSENT)
        diag_add(plan->diags, DIAG_E0208, check->condition->span, "%s is true or false, not %s", what,
                 value_describe(plan, &value));
}

/* A guard belongs to a diff; on its own it compares the plan with itself, which tells whether it could be
 * decided. */
static void check_guards(struct plan *plan)
{
    static const struct old_reader itself = {NULL, NULL};
    plan_set_old(plan, &itself);
    for (size_t i = 0; i < plan->view.guards.count; i++)
        check_condition(plan, &plan->view.guards.items[i], "a guard");
    plan_set_old(plan, NULL);
}

static bool runs_something(struct plan *plan, struct decl *scenario)
{
    return plan_setting(plan, scenario, ATTR_SCENARIO_MODEL) &&
           (plan_setting(plan, scenario, ATTR_GPU) || plan_setting(plan, scenario, ATTR_SCENARIO_SYSTEM));
}

/* What others inherit, and what does not say itself what runs on what, is a pattern of theirs and no scenario
 * to report. Where something asks for its figures all the same, it lacks what it lacks. */
static void set_patterns_apart(struct plan *plan)
{
    struct plan_view *view = &plan->view;
    size_t kept = 0;
    for (size_t i = 0; i < view->scenarios.count; i++)
        if (view->scenarios.items[i]->base)
            view->scenarios.items[i]->base->state->is_inherited = true;
    for (size_t i = 0; i < view->scenarios.count; i++) {
        struct decl *scenario = view->scenarios.items[i];
        if (scenario->poisoned || !scenario->state->is_inherited || runs_something(plan, scenario))
            view->scenarios.items[kept++] = scenario;
    }
    view->scenarios.count = kept;
}

void view_check(struct plan *plan)
{
    set_patterns_apart(plan);
    for (size_t i = 0; i < plan->view.sweeps.count; i++)
        if (!plan->view.sweeps.items[i].decl->poisoned)
            check_sweep(plan, &plan->view.sweeps.items[i]);
    for (size_t i = 0; i < plan->view.declarations.count; i++)
        if (rows_expand(plan->view.declarations.items[i]) && !plan->view.declarations.items[i]->poisoned)
            rows_measure(plan, plan->view.declarations.items[i]);
    for (size_t i = 0; i < plan->view.assertions.count; i++)
        check_condition(plan, &plan->view.assertions.items[i], "an assertion");
    check_guards(plan);
}
