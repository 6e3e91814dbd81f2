/* build_seen.c: measurements beside the curves of a sweep. */
#include "base/arena.h"
#include "result/build_internal.h"
#include "result/measured.h"

/* Two evaluations of one case: of the same declarations, with the same results. */
static bool same_case(const struct evaluation *a, const struct evaluation *b)
{
    const struct pm_service *left = &a->result.expected, *right = &b->result.expected;
    return a->binding.gpu->decl == b->binding.gpu->decl && a->binding.model->decl == b->binding.model->decl &&
           a->binding.engine == b->binding.engine && left->tpot == right->tpot && left->ttft == right->ttft &&
           left->throughput == right->throughput && a->result.memory.total == b->result.memory.total;
}

/* Whether the sweep passes through what the scenario is: its own scenario with the swept attributes of this
 * one is this one, however it is declared. Sets `*x` to where. */
static bool passes_through(struct builder *builder, const struct sweep *sweep, size_t x_axis,
                           const struct evaluation *seen, double *x)
{
    enum attribute attributes[2];
    struct value values[2];
    for (size_t i = 0; i < sweep->axis_count; i++) {
        attributes[i] = sweep->axes[i].attribute;
        const struct setting *setting = plan_setting(builder->plan, seen->scenario, attributes[i]);
        if (setting == NULL)
            return false;
        values[i] = setting->value;
    }
    if (values[x_axis].type != VALUE_NUMBER)
        return false;
    *x = values[x_axis].number;
    struct decl *variant = plan_variant(builder->plan, sweep->scenario, sweep->scenario->name, attributes,
                                        values, sweep->axis_count);
    const struct evaluation *there = evaluate_variant(builder->evaluator, variant);
    return there->valid && same_case(there, seen);
}

void add_seen(struct builder *builder, const struct sweep *sweep, size_t x_axis,
              const struct quantity_info *shown, struct line_chart *chart)
{
    struct line_series seen = {.label = words(builder, M_MEASURED_SERIES), .style = LINE_MEASURED};
    for (size_t i = 0; i < builder->view->measurements.count && shown != NULL; i++) {
        const struct measured_result *result = &builder->measured[i];
        const struct evaluation *evaluation = evaluate_measured(builder->evaluator, result->measurement);
        double x;
        for (size_t j = 0; j < result->count; j++)
            if (result->rows[j].row == shown && evaluation->valid &&
                passes_through(builder, sweep, x_axis, evaluation, &x))
                *VEC_PUSH(builder->arena, seen.points) = (struct line_point){
                    .x = x,
                    .y = result->rows[j].measured,
                    .low = result->rows[j].measured,
                    .high = result->rows[j].measured,
                    .valid = true,
                    .fits = true,
                };
    }
    if (seen.points.count > 0)
        *VEC_PUSH(builder->arena, chart->series) = seen;
}
