/* build_sweep.c: a scenario over one or two attributes, as lines and as a table. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "result/build_internal.h"
#include "result/sweep.h"

struct drawing {
    struct builder *builder;
    struct report_section *section;
    const struct sweep_result *result;
    size_t number; /* of the sweep, from 1 */
    size_t x_axis; /* the axis that lines run along; axis_count when none is numeric */
    struct reasons *reasons;
};

static const struct sweep_axis *axis(const struct drawing *drawing, size_t index)
{
    return &drawing->result->sweep->axes[index];
}

static const char *axis_name(const struct drawing *drawing, size_t index)
{
    return attribute_info(axis(drawing, index)->attribute)->name;
}

static bool is_numeric(const struct sweep_axis *axis)
{
    for (size_t i = 0; i < axis->count; i++)
        if (axis->values[i].type != VALUE_NUMBER)
            return false;
    return axis->count > 1;
}

static size_t choose_x_axis(const struct sweep *sweep)
{
    for (size_t i = 0; i < sweep->axis_count; i++)
        if (is_numeric(&sweep->axes[i]))
            return i;
    return sweep->axis_count;
}

static double largest_value(const struct sweep_axis *axis)
{
    double largest = 0;
    for (size_t i = 0; i < axis->count; i++)
        largest = fmax(largest, fabs(axis->values[i].number));
    return largest;
}

static double smallest_value(const struct sweep_axis *axis)
{
    double smallest = axis->values[0].number;
    for (size_t i = 1; i < axis->count; i++)
        smallest = fmin(smallest, axis->values[i].number);
    return smallest;
}

/* Counts keep their own unit; anything else takes one that suits its largest value, or its smallest where
 * they are so far apart that this would be a small fraction. */
static struct print_unit axis_unit(const struct sweep_axis *axis)
{
    double smallest = smallest_value(axis), largest = largest_value(axis);
    bool far_apart = smallest > 0 && largest / smallest >= 1000;
    return unit_for_print(axis->values[0].dim, far_apart ? smallest : largest, UNIT_STYLE_DECIMAL);
}

static struct print_unit shown_unit(const struct sweep_result *result, size_t show)
{
    struct extent extent = {0, 0};
    for (size_t i = 0; i < result->count; i++) {
        const struct sweep_point *point = &result->points[i];
        if (point->evaluation->valid && point->shown[show].type == QUANTITY_NUMBER)
            extent_add(&extent, point->shown[show].value);
    }
    return column_unit(result->rows[show], result->dims[show], extent_middle(&extent));
}

static const char *shown_label(const struct drawing *drawing, size_t show)
{
    const struct quantity_info *row = drawing->result->rows[show];
    return row != NULL ? label_of(drawing->builder, row) : drawing->result->sweep->show[show];
}

/* ---- chart ---------------------------------------------------------------------------------- */

static struct line_point line_point(const struct sweep_point *point, size_t show, double x)
{
    struct line_point out = {.x = x, .fits = point->fits};
    const struct report_quantity *shown = &point->shown[show];
    out.valid = point->evaluation->valid && shown->type == QUANTITY_NUMBER;
    if (!out.valid)
        return out;
    out.y = shown->value;
    out.low = shown->has_band ? shown->low : shown->value;
    out.high = shown->has_band ? shown->high : shown->value;
    return out;
}

static void add_series(const struct drawing *drawing, struct line_chart *chart, size_t show, size_t other,
                       size_t other_index)
{
    struct builder *builder = drawing->builder;
    const struct sweep_axis *along = axis(drawing, drawing->x_axis);
    struct line_series *series = VEC_PUSH(builder->arena, chart->series);
    series->label =
        drawing->result->sweep->axis_count == 1
            ? drawing->result->sweep->scenario->name
            : arena_printf(builder->arena, "%s = %s", axis_name(drawing, other),
                           sweep_value_text(builder->evaluator, axis(drawing, other), other_index));
    for (size_t i = 0; i < drawing->result->count; i++) {
        const struct sweep_point *point = &drawing->result->points[i];
        if (drawing->result->sweep->axis_count > 1 && point->index[other] != other_index)
            continue;
        double x = along->values[point->index[drawing->x_axis]].number;
        *VEC_PUSH(builder->arena, series->points) = line_point(point, show, x);
    }
}

static bool any_does_not_fit(const struct sweep_result *result)
{
    for (size_t i = 0; i < result->count; i++)
        if (result->points[i].evaluation->valid && !result->points[i].fits)
            return true;
    return false;
}

/* Where memory is full: the largest batch when the batch is swept, else the last value that fits. */
static void add_memory_limit(const struct drawing *drawing, struct line_chart *chart)
{
    const struct sweep_result *result = drawing->result;
    if (result->sweep->axis_count > 1 || !any_does_not_fit(result))
        return;
    chart->x_limit_text = words(drawing->builder, M_MEMORY_IS_FULL);
    chart->x_limit = fmax(result->max_fitting, 0);
    if (axis(drawing, 0)->attribute != ATTR_BATCH)
        return;
    for (size_t i = 0; i < result->count; i++)
        if (result->points[i].evaluation->valid)
            chart->x_limit = fmax(chart->x_limit, result->points[i].evaluation->result.memory.max_batch);
}

/* A knee, if it lies among the values that are swept. */
static void set_knee(const struct drawing *drawing, struct line_chart *chart, double x, enum message message,
                     const char *at)
{
    const struct sweep_axis *along = axis(drawing, drawing->x_axis);
    if (!(x > smallest_value(along)) || !(x < largest_value(along)))
        return;
    chart->x_knee = x;
    chart->x_knee_text = WORDS(drawing->builder, message, at);
}

/* Where something else becomes the limit: the batch from which decode computes longer than it reads, and the
 * length from which it reads more cache than weights. Both are solved, whatever the points of the sweep. */
static void add_knee(const struct drawing *drawing, struct line_chart *chart)
{
    struct builder *builder = drawing->builder;
    const struct sweep *sweep = drawing->result->sweep;
    const struct evaluation *evaluation = evaluate_scenario(builder->evaluator, sweep->scenario);
    enum attribute swept = axis(drawing, 0)->attribute;
    if (sweep->axis_count > 1 || !evaluation->valid)
        return;
    double batch = evaluation->result.critical_batch, length = evaluation->result.kv_equals_weights;
    if (swept == ATTR_BATCH)
        set_knee(drawing, chart, batch, M_COMPUTE_BOUND_FROM, count_text(builder, batch));
    if (swept == ATTR_PROMPT && !evaluation->binding.input.static_step)
        length -= evaluation->binding.input.output / 2;
    if (swept == ATTR_PROMPT || swept == ATTR_CONTEXT)
        set_knee(drawing, chart, length, M_CACHE_OUTWEIGHS_FROM, count_text(builder, round(length)));
}

static bool spans_decades(const struct sweep_axis *axis)
{
    double low = smallest_value(axis);
    return low > 0 && largest_value(axis) / low >= 16;
}

static void add_line_chart(const struct drawing *drawing, size_t show)
{
    struct builder *builder = drawing->builder;
    const struct sweep *sweep = drawing->result->sweep;
    const struct sweep_axis *along = axis(drawing, drawing->x_axis);
    struct print_unit x_unit = axis_unit(along), y_unit = shown_unit(drawing->result, show);
    const char *title =
        WORDS(builder, M_SHOWN_OVER, shown_label(drawing, show), axis_name(drawing, drawing->x_axis));
    struct report_chart *block =
        add_chart(builder, drawing->section, CHART_LINES,
                  arena_printf(builder->arena, "sweep-%zu-%zu", drawing->number, show + 1), title);
    block->description = WORDS(builder, M_DESCRIBE_SWEEP, title);
    struct line_chart *chart = &block->lines;
    chart->x_title = with_unit(builder, axis_name(drawing, drawing->x_axis), x_unit);
    chart->y_title = with_unit(builder, shown_label(drawing, show), y_unit);
    chart->x_scale = x_unit.scale;
    chart->y_scale = y_unit.scale;
    chart->x_log = spans_decades(along);
    size_t other = 1 - drawing->x_axis;
    size_t series = sweep->axis_count == 1 ? 1 : axis(drawing, other)->count;
    for (size_t i = 0; i < series && i < COLUMNS_MAX; i++)
        add_series(drawing, chart, show, other, i);
    add_seen(builder, sweep, drawing->x_axis, drawing->result->rows[show], chart);
    add_memory_limit(drawing, chart);
    add_knee(drawing, chart);
}

static bool has_number(const struct sweep_result *result, size_t show)
{
    for (size_t i = 0; i < result->count; i++)
        if (result->points[i].evaluation->valid && result->points[i].shown[show].type == QUANTITY_NUMBER)
            return true;
    return false;
}

/* ---- table ---------------------------------------------------------------------------------- */

static void add_shown(const struct drawing *drawing, struct report_row *row, const struct sweep_point *point,
                      size_t show, struct print_unit unit)
{
    struct builder *builder = drawing->builder;
    const struct report_quantity *shown = &point->shown[show];
    if (!point->evaluation->valid)
        add_cell(builder, row, TONE_MUTED, EN_DASH);
    else if (shown->type == QUANTITY_NUMBER)
        add_number(builder, row, shown->value, unit);
    else if (shown->type == QUANTITY_BOOL)
        add_cell(builder, row, TONE_PLAIN, words(builder, shown->boolean ? M_YES : M_NO));
    else if (shown->type == QUANTITY_TEXT)
        add_cell(builder, row, TONE_PLAIN, phrase(builder, shown->text));
    else {
        add_cell(builder, row, TONE_MUTED, EN_DASH);
        add_reason(builder, drawing->reasons, shown_label(drawing, show), phrase(builder, shown->text));
    }
}

/* Unless the plan shows it itself; but what is impossible at a point needs a place for its reason. */
static bool has_fits_column(const struct sweep_result *result)
{
    for (size_t i = 0; i < result->count; i++)
        if (!result->points[i].evaluation->valid)
            return true;
    for (size_t i = 0; i < result->sweep->show_count; i++)
        if (strcmp(result->sweep->show[i], quantity_info(Q_FITS)->name) == 0)
            return false;
    return true;
}

static void add_point_row(const struct drawing *drawing, struct report_table *table,
                          const struct sweep_point *point, const struct print_unit *units)
{
    struct builder *builder = drawing->builder;
    const struct sweep *sweep = drawing->result->sweep;
    struct report_row *row = add_row(builder, table);
    for (size_t i = 0; i < sweep->axis_count; i++) {
        const struct sweep_axis *each = axis(drawing, i);
        struct report_cell *cell =
            add_cell(builder, row, TONE_PLAIN, sweep_value_text(builder->evaluator, each, point->index[i]));
        const struct value *value = &each->values[point->index[i]];
        cell->has_value = value->type == VALUE_NUMBER;
        cell->value = cell->has_value ? value->number : 0;
    }
    for (size_t i = 0; i < sweep->show_count; i++)
        add_shown(drawing, row, point, i, units[i]);
    if (!has_fits_column(drawing->result))
        return;
    if (!point->evaluation->valid)
        add_cell(builder, row, TONE_MUTED, phrase(builder, point->evaluation->why));
    else
        add_cell(builder, row, point->fits ? TONE_GOOD : TONE_BAD,
                 words(builder, point->fits ? M_YES : M_DOES_NOT_FIT));
}

static void add_sweep_table(const struct drawing *drawing)
{
    struct builder *builder = drawing->builder;
    const struct sweep_result *result = drawing->result;
    const struct sweep *sweep = result->sweep;
    struct report_table *table = add_table(builder, drawing->section, NULL);
    struct print_unit *units = ARENA_ARRAY(builder->arena, struct print_unit, sweep->show_count);
    for (size_t i = 0; i < sweep->axis_count; i++)
        add_column(builder, table, axis_name(drawing, i),
                   is_numeric(axis(drawing, i)) ? ALIGN_RIGHT : ALIGN_LEFT, NULL);
    for (size_t i = 0; i < sweep->show_count; i++) {
        units[i] = shown_unit(result, i);
        add_column(builder, table, with_unit(builder, shown_label(drawing, i), units[i]),
                   has_number(result, i) ? ALIGN_RIGHT : ALIGN_LEFT, sweep->show[i]);
    }
    if (has_fits_column(result))
        add_column(builder, table, label_of(builder, quantity_info(Q_FITS)), ALIGN_LEFT, "fits");
    for (size_t i = 0; i < result->count; i++)
        add_point_row(drawing, table, &result->points[i], units);
}

/* ---- section -------------------------------------------------------------------------------- */

static void say_sweep(const struct drawing *drawing)
{
    struct builder *builder = drawing->builder;
    const struct sweep *sweep = drawing->result->sweep;
    struct rich_text *text = add_paragraph(builder, drawing->section);
    if (sweep->axis_count == 1)
        SAY(builder, text, TONE_PLAIN, M_SCENARIO_OVER, sweep->scenario->name, axis_name(drawing, 0));
    else
        SAY(builder, text, TONE_PLAIN, M_SCENARIO_OVER_TWO, sweep->scenario->name, axis_name(drawing, 0),
            axis_name(drawing, 1));
    if (sweep->axis_count > 1 || !any_does_not_fit(drawing->result))
        return;
    if (drawing->result->max_fitting >= 0)
        SAY(builder, text, TONE_PLAIN, M_LARGEST_THAT_FITS,
            unit_format(builder->arena, drawing->result->max_fitting, axis_unit(axis(drawing, 0)), 3));
    else
        say(builder, text, TONE_BAD, M_SOME_DO_NOT_FIT);
}

static void add_sweep(struct builder *builder, struct report_section *section, size_t number,
                      const struct sweep_result *result)
{
    const struct sweep *sweep = result->sweep;
    struct reasons reasons = {0};
    struct drawing drawing = {builder, section, result, number, choose_x_axis(sweep), &reasons};
    say_sweep(&drawing);
    if (drawing.x_axis < sweep->axis_count) {
        for (size_t i = 0; i < sweep->show_count; i++)
            if (has_number(result, i))
                add_line_chart(&drawing, i);
        size_t other = 1 - drawing.x_axis;
        if (sweep->axis_count > 1 && axis(&drawing, other)->count > COLUMNS_MAX)
            SAY(builder, add_paragraph(builder, section), TONE_MUTED, M_CHARTS_SHOW_FIRST,
                count_text(builder, COLUMNS_MAX), axis_name(&drawing, other));
    }
    add_sweep_table(&drawing);
    add_reasons(builder, section, &reasons);
}

void build_sweeps(struct builder *builder)
{
    size_t count = builder->view->sweeps.count;
    if (count == 0)
        return;
    struct report_section *section =
        add_section(builder, "sweeps", words(builder, count == 1 ? M_SWEEP : M_SWEEPS), false);
    for (size_t i = 0; i < count; i++)
        add_sweep(builder, section, i + 1, &builder->sweeps[i]);
}
