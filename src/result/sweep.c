/* sweep.c: evaluates the points of a sweep, each a variant of its scenario. */
#include "result/sweep.h"

#include <math.h>

#include "base/arena.h"
#include "base/number.h"
#include "result/derive.h"
#include "sema/unit.h"

/* An axis value in the unit it was written in. */
static const char *number_text(struct arena *arena, double value, const char *unit_text)
{
    char text[NUMBER_TEXT_MAX];
    struct unit unit;
    if (!unit_text || !unit_parse(unit_text, &unit))
        return arena_strdup(arena, number_shortest(text, value));
    double scale = pow(10, unit.exponent10) * unit.factor / unit.divisor;
    number_shortest(text, value / scale);
    return arena_printf(arena, "%s %s", text, unit_text);
}

const char *sweep_value_text(struct evaluator *evaluator, const struct sweep_axis *axis, size_t index)
{
    struct arena *arena = plan_arena(evaluator_plan(evaluator));
    const struct value *value = &axis->values[index];
    switch (value->type) {
    case VALUE_NUMBER: return number_text(arena, value->number, axis->unit);
    case VALUE_BOOL: return value->boolean ? "true" : "false";
    case VALUE_TEXT: return value->text;
    case VALUE_DECL: return value->decl->name;
    case VALUE_ERROR:
    case VALUE_ABSENT: break;
    }
    return "";
}

static struct decl *point_variant(struct evaluator *evaluator, const struct sweep *sweep,
                                  const size_t index[2])
{
    struct plan *plan = evaluator_plan(evaluator);
    enum attribute attributes[2];
    struct value values[2];
    const char *name = sweep->scenario->name;
    for (size_t i = 0; i < sweep->axis_count; i++) {
        attributes[i] = sweep->axes[i].attribute;
        values[i] = sweep->axes[i].values[index[i]];
        name = arena_printf(plan_arena(plan), "%s, %s = %s", name, attribute_info(attributes[i])->name,
                            sweep_value_text(evaluator, &sweep->axes[i], index[i]));
    }
    return plan_variant(plan, sweep->scenario, name, attributes, values, sweep->axis_count);
}

static void evaluate_point(struct evaluator *evaluator, const struct sweep *sweep, struct sweep_result *out,
                           struct sweep_point *point)
{
    struct arena *arena = plan_arena(evaluator_plan(evaluator));
    point->variant = point_variant(evaluator, sweep, point->index);
    point->evaluation = evaluate_variant(evaluator, point->variant);
    point->fits = point->evaluation->valid && point->evaluation->result.memory.fits;
    point->shown = ARENA_ARRAY(arena, struct report_quantity, sweep->show_count);
    for (size_t i = 0; i < sweep->show_count; i++) {
        struct dim dim;
        if (point->evaluation->valid &&
            derive_lookup(evaluator, point->variant, sweep->show[i], &point->shown[i], &dim))
            out->dims[i] = dim;
        else
            point->shown[i] = (struct report_quantity){
                .type = QUANTITY_ABSENT, .text = point->evaluation->why ? point->evaluation->why : "not set"};
        point->shown[i].name = sweep->show[i];
    }
}

void sweep_evaluate(struct evaluator *evaluator, const struct sweep *sweep, struct sweep_result *out)
{
    struct arena *arena = plan_arena(evaluator_plan(evaluator));
    size_t inner = sweep->axis_count > 1 ? sweep->axes[1].count : 1;
    *out = (struct sweep_result){
        .sweep = sweep,
        .rows = ARENA_ARRAY(arena, const struct quantity_info *, sweep->show_count),
        .dims = ARENA_ARRAY(arena, struct dim, sweep->show_count),
        .points = ARENA_ARRAY(arena, struct sweep_point, sweep->axes[0].count * inner),
        .count = sweep->axes[0].count * inner,
        .max_fitting = -1,
    };
    for (size_t i = 0; i < sweep->show_count; i++)
        out->rows[i] = quantity_find(QUANTITY_OF_SCENARIO, sweep->show[i]);
    for (size_t i = 0; i < out->count; i++) {
        struct sweep_point *point = &out->points[i];
        point->index[0] = i / inner;
        point->index[1] = i % inner;
        evaluate_point(evaluator, sweep, out, point);
        const struct value *x = &sweep->axes[0].values[point->index[0]];
        if (point->fits && x->type == VALUE_NUMBER && x->number > out->max_fitting)
            out->max_fitting = x->number;
    }
}

static void list_point(struct evaluator *evaluator, const struct sweep *sweep, const struct sweep_point *from,
                       struct report_sweep_point *out)
{
    struct arena *arena = plan_arena(evaluator_plan(evaluator));
    for (size_t i = 0; i < sweep->axis_count; i++) {
        struct report_quantity *axis = VEC_PUSH(arena, out->axes);
        *axis = quantity_of_value(arena, &sweep->axes[i].values[from->index[i]]);
        axis->name = attribute_info(sweep->axes[i].attribute)->name;
    }
    out->fits = from->fits;
    out->why = from->evaluation->valid ? NULL : from->evaluation->why ? from->evaluation->why : "not set";
    for (size_t i = 0; from->evaluation->valid && i < sweep->show_count; i++)
        *VEC_PUSH(arena, out->shown) = from->shown[i];
}

void sweep_list(struct evaluator *evaluator, const struct sweep_result *result, struct report *report)
{
    struct arena *arena = plan_arena(evaluator_plan(evaluator));
    const struct sweep *sweep = result->sweep;
    struct report_sweep *out = VEC_PUSH(arena, report->sweeps);
    *out = (struct report_sweep){.scenario = sweep->scenario->name};
    for (size_t i = 0; i < sweep->axis_count; i++)
        *VEC_PUSH(arena, out->axes) = attribute_info(sweep->axes[i].attribute)->name;
    for (size_t i = 0; i < result->count; i++) {
        struct report_sweep_point *point = VEC_PUSH(arena, out->points);
        *point = (struct report_sweep_point){0};
        list_point(evaluator, sweep, &result->points[i], point);
    }
}

void report_sweeps(struct evaluator *evaluator, struct report *report)
{
    const struct plan_view *view = plan_view(evaluator_plan(evaluator));
    for (size_t i = 0; i < view->sweeps.count; i++) {
        struct sweep_result result;
        sweep_evaluate(evaluator, &view->sweeps.items[i], &result);
        sweep_list(evaluator, &result, report);
    }
}
