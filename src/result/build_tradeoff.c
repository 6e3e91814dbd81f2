/* build_tradeoff.c: scenarios and points of sweeps between latency and throughput, and the best of them. */
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "result/build_internal.h"
#include "result/sweep.h"
#include "result/tradeoff.h"

/* With fewer points there is nothing to weigh; more than these make a cloud, or lines that nobody tells
 * apart. */
enum { FEWEST_POINTS = 3, CLOUD_MAX = 200, CURVES_MAX = 8 };

/* ---- collecting ------------------------------------------------------------------------------ */

/* Whether a point is there already: a sweep passes through its own scenario. */
static bool is_known(const struct report *report, double throughput, double latency)
{
    for (size_t i = 0; i < report->tradeoff.count; i++)
        if (report->tradeoff.items[i].throughput == throughput &&
            report->tradeoff.items[i].latency == latency)
            return true;
    return false;
}

/* Per GPU, so that a larger deployment is not better for being larger. */
static void add_point(struct builder *builder, const struct evaluation *evaluation, const char *name,
                      const char *scenario)
{
    if (!evaluation->valid || !evaluation->result.memory.fits)
        return;
    const struct pm_service *service = &evaluation->result.expected;
    if (!(service->tpot > 0) || !(service->throughput_per_gpu > 0))
        return;
    if (name != scenario && is_known(builder->report, service->throughput_per_gpu, service->tpot))
        return;
    *VEC_PUSH(builder->arena, builder->report->tradeoff) = (struct report_tradeoff){
        .name = name,
        .scenario = scenario,
        .throughput = service->throughput_per_gpu,
        .latency = service->tpot,
        .low = service->tpot_band.low,
        .high = service->tpot_band.high,
    };
}

void collect_tradeoff(struct builder *builder)
{
    struct report *report = builder->report;
    size_t count = builder->view->sweeps.count;
    for (size_t i = 0; i < builder->count; i++)
        add_point(builder, builder->scenarios[i], builder->scenarios[i]->scenario->name,
                  builder->scenarios[i]->scenario->name);
    for (size_t i = 0; i < count; i++) {
        const struct sweep *sweep = &builder->view->sweeps.items[i];
        for (size_t j = 0; j < builder->sweeps[i].count; j++)
            add_point(builder, builder->sweeps[i].points[j].evaluation,
                      builder->sweeps[i].points[j].variant->name, sweep->scenario->name);
    }
    if (report->tradeoff.count < FEWEST_POINTS)
        report->tradeoff.count = 0;
    tradeoff_mark(builder->arena, report->tradeoff.items, report->tradeoff.count);
}

/* ---- chart ----------------------------------------------------------------------------------- */

static bool is_scenario(const struct report_tradeoff *point)
{
    return point->name == point->scenario;
}

static void add_line_point(struct builder *builder, struct line_series *series,
                           const struct report_tradeoff *point, bool named)
{
    *VEC_PUSH(builder->arena, series->points) = (struct line_point){
        .x = point->throughput,
        .y = point->latency,
        .low = point->low,
        .high = point->high,
        .valid = true,
        .fits = true,
        .label = named ? point->name : NULL,
    };
}

/* Those on the front, and of the others as many as a cloud may have. */
static size_t add_scenarios(struct builder *builder, struct line_chart *chart)
{
    struct report *report = builder->report;
    struct line_series *series = VEC_PUSH(builder->arena, chart->series);
    series->label = words(builder, M_SCENARIOS_SERIES);
    series->style = LINE_POINTS;
    size_t left_out = 0;
    for (size_t i = 0; i < report->tradeoff.count; i++) {
        const struct report_tradeoff *point = &report->tradeoff.items[i];
        if (!is_scenario(point))
            continue;
        if (point->pareto || series->points.count < CLOUD_MAX)
            add_line_point(builder, series, point, true);
        else
            left_out++;
    }
    if (series->points.count == 0)
        chart->series.count--;
    return left_out;
}

/* A sweep as a curve; one over two attributes as a curve for each value of the second. */
static void add_curves(struct builder *builder, struct line_chart *chart, const struct sweep_result *result)
{
    const struct sweep *sweep = result->sweep;
    size_t curves = sweep->axis_count > 1 ? sweep->axes[1].count : 1;
    for (size_t c = 0; c < curves && chart->series.count < CURVES_MAX; c++) {
        struct line_series *series = VEC_PUSH(builder->arena, chart->series);
        const char *along = attribute_info(sweep->axes[0].attribute)->name;
        bool joined = sweep->axes[0].values[0].type == VALUE_NUMBER;
        series->style = joined ? LINE_JOINED : LINE_POINTS;
        series->label = sweep->axis_count == 1
                            ? WORDS(builder, M_CURVE, sweep->scenario->name, along)
                            : WORDS(builder, M_CURVE_AT, sweep->scenario->name, along,
                                    attribute_info(sweep->axes[1].attribute)->name,
                                    sweep_value_text(builder->evaluator, &sweep->axes[1], c));
        for (size_t i = 0; i < result->count; i++) {
            const struct sweep_point *each = &result->points[i];
            const struct pm_service *service = &each->evaluation->result.expected;
            if (each->index[1] != c || !each->fits || !(service->tpot > 0))
                continue;
            struct report_tradeoff point = {.name = each->variant->name,
                                            .throughput = service->throughput_per_gpu,
                                            .latency = service->tpot,
                                            .low = service->tpot_band.low,
                                            .high = service->tpot_band.high};
            add_line_point(builder, series, &point, !joined);
        }
        if (series->points.count == 0)
            chart->series.count--;
    }
}

static int from_left(const void *left, const void *right)
{
    const struct line_point *a = left, *b = right;
    return a->x < b->x ? -1 : a->x > b->x;
}

static void add_front(struct builder *builder, struct line_chart *chart)
{
    struct report *report = builder->report;
    struct line_series *series = VEC_PUSH(builder->arena, chart->series);
    series->label = words(builder, M_PARETO_FRONT);
    series->style = LINE_FRONT;
    for (size_t i = 0; i < report->tradeoff.count; i++)
        if (report->tradeoff.items[i].pareto)
            add_line_point(builder, series, &report->tradeoff.items[i], false);
    qsort(series->points.items, series->points.count, sizeof *series->points.items, from_left);
    if (series->points.count < 2)
        chart->series.count--;
}

/* Least and most of what is drawn, for units and the kind of axis. */
struct range {
    struct extent throughput, latency;
};

static struct range range_of(const struct report *report)
{
    struct range range = {0};
    for (size_t i = 0; i < report->tradeoff.count; i++) {
        extent_add(&range.throughput, report->tradeoff.items[i].throughput);
        extent_add(&range.latency, report->tradeoff.items[i].latency);
    }
    return range;
}

static struct print_unit unit_of(struct builder *builder, enum quantity quantity, struct extent extent)
{
    const struct evaluation *any = NULL;
    for (size_t i = 0; i < builder->count && any == NULL; i++)
        if (builder->scenarios[i]->valid)
            any = builder->scenarios[i];
    struct dim dim = any ? evaluate_dim(builder->evaluator, any->scenario, quantity) : dim_none();
    return column_unit(quantity_info(quantity), dim, extent_middle(&extent));
}

static size_t add_tradeoff_chart(struct builder *builder, struct report_section *section,
                                 struct print_unit throughput, struct print_unit latency)
{
    struct range range = range_of(builder->report);
    struct report_chart *block =
        add_chart(builder, section, CHART_LINES, "tradeoff", words(builder, M_TRADEOFF));
    block->description = words(builder, M_DESCRIBE_TRADEOFF);
    struct line_chart *chart = &block->lines;
    chart->x_title = with_unit(builder, label_of(builder, quantity_info(Q_THROUGHPUT_PER_GPU)), throughput);
    chart->y_title = with_unit(builder, label_of(builder, quantity_info(Q_TPOT)), latency);
    chart->x_scale = throughput.scale;
    chart->y_scale = latency.scale;
    chart->x_log = range.throughput.high >= 16 * range.throughput.low;
    chart->x_round = true;
    size_t left_out = add_scenarios(builder, chart);
    for (size_t i = 0; i < builder->view->sweeps.count; i++)
        add_curves(builder, chart, &builder->sweeps[i]);
    add_front(builder, chart);
    return left_out;
}

/* ---- table ----------------------------------------------------------------------------------- */

static void add_tradeoff_row(struct builder *builder, struct report_table *table,
                             const struct report_tradeoff *point, struct print_unit throughput,
                             struct print_unit latency)
{
    struct report_row *row = add_row(builder, table);
    add_cell(builder, row, TONE_NAME, point->name);
    add_number(builder, row, point->throughput, throughput);
    add_number(builder, row, point->latency, latency);
    if (point->low < point->high)
        add_cell(builder, row, TONE_MUTED,
                 WORDS(builder, M_FROM_TO, unit_number(builder->arena, point->low, latency, 3),
                       unit_number(builder->arena, point->high, latency, 3)));
    else
        add_cell(builder, row, TONE_MUTED, EN_DASH);
    if (point->pareto)
        add_cell(builder, row, TONE_GOOD, words(builder, M_ON_THE_FRONT));
    else
        add_cell(builder, row, TONE_MUTED, words(builder, M_BEATEN));
}

/* All scenarios while they are few, and whatever is on the front. */
static void add_tradeoff_table(struct builder *builder, struct report_section *section,
                               struct print_unit throughput, struct print_unit latency)
{
    struct report_table *table = add_table(builder, section, words(builder, M_TRADEOFF));
    bool all = builder->count <= DRAWN_MAX;
    add_column(builder, table, words(builder, M_SCENARIO), ALIGN_LEFT, NULL);
    add_column(builder, table,
               with_unit(builder, label_of(builder, quantity_info(Q_THROUGHPUT_PER_GPU)), throughput),
               ALIGN_RIGHT, quantity_info(Q_THROUGHPUT_PER_GPU)->name);
    add_column(builder, table, with_unit(builder, label_of(builder, quantity_info(Q_TPOT)), latency),
               ALIGN_RIGHT, quantity_info(Q_TPOT)->name);
    add_column(builder, table, words(builder, M_BAND_HEADING), ALIGN_RIGHT, NULL);
    add_column(builder, table, words(builder, M_JUDGEMENT), ALIGN_LEFT, NULL);
    for (size_t i = 0; i < builder->report->tradeoff.count; i++) {
        const struct report_tradeoff *point = &builder->report->tradeoff.items[i];
        if (point->pareto || (all && is_scenario(point)))
            add_tradeoff_row(builder, table, point, throughput, latency);
    }
}

void build_tradeoff(struct builder *builder)
{
    struct report *report = builder->report;
    size_t front = 0;
    for (size_t i = 0; i < report->tradeoff.count; i++)
        front += report->tradeoff.items[i].pareto;
    if (front == 0)
        return;
    struct range range = range_of(report);
    struct print_unit throughput = unit_of(builder, Q_THROUGHPUT_PER_GPU, range.throughput);
    struct print_unit latency = unit_of(builder, Q_TPOT, range.latency);
    struct report_section *section = add_section(builder, "tradeoff", words(builder, M_TRADEOFF), false);
    SAY(builder, add_paragraph(builder, section), TONE_PLAIN,
        front == 1 ? M_ONE_ON_THE_FRONT : M_ARE_ON_THE_FRONT, count_text(builder, (double)front),
        count_text(builder, (double)report->tradeoff.count));
    size_t left_out = add_tradeoff_chart(builder, section, throughput, latency);
    if (left_out > 0)
        SAY(builder, add_paragraph(builder, section), TONE_MUTED, M_POINTS_LEFT_OUT,
            count_text(builder, (double)left_out));
    add_tradeoff_table(builder, section, throughput, latency);
}
