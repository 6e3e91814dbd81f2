/* build_roofline.c: where each scenario's decode and prefill stand under the roofs of its card. */
#include <math.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "result/build_internal.h"

static const struct dim rate_dim = {{[DIM_DATA] = 1, [DIM_TIME] = -1}};
static const struct dim work_rate_dim = {{[DIM_WORK] = 1, [DIM_TIME] = -1}};
static const struct dim intensity_dim = {{[DIM_WORK] = 1, [DIM_DATA] = -1}};

/* ---- devices -------------------------------------------------------------------------------- */

/* The 16-bit peak stands in for what the card lacks (model.md section 4). */
static enum pm_compute available(const struct pm_gpu *gpu, const struct pm_format *format)
{
    if (!format->weight_only && gpu->peak[format->compute] > 0)
        return format->compute;
    return gpu->peak[PM_BF16] > 0 ? PM_BF16 : PM_FP16;
}

static void use_format(const struct pm_gpu *gpu, const struct pm_format *format, bool used[PM_COMPUTE_COUNT])
{
    if (format->bits > 0)
        used[available(gpu, format)] = true;
}

static void use_formats(const struct evaluation *evaluation, bool used[PM_COMPUTE_COUNT])
{
    const struct pm_gpu *gpu = &evaluation->binding.gpu->gpu;
    const struct pm_model *model = &evaluation->binding.model->model;
    if (model->declared_params > 0)
        use_format(gpu, &model->weights_format, used);
    for (size_t i = 0; i < model->block_count; i++) {
        const struct pm_block *block = &model->blocks[i];
        if (block->attention != PM_ATTENTION_NONE)
            use_format(gpu, &block->attention_format, used);
        if (block->ffn > 0)
            use_format(gpu, &block->ffn_format, used);
        if (block->experts > 0)
            use_format(gpu, &block->expert_format, used);
    }
    if (model->vocab > 0)
        use_format(gpu, &model->head_format, used);
}

static size_t find_device(struct builder *builder, struct roofline_chart *chart,
                          const struct bound_gpu **devices, const struct bound_gpu *gpu)
{
    for (size_t i = 0; i < chart->devices.count; i++)
        if (devices[i]->decl == gpu->decl)
            return i;
    devices[chart->devices.count] = gpu;
    struct roofline_device *device = VEC_PUSH(builder->arena, chart->devices);
    device->label = arena_printf(builder->arena, "%s %s", gpu->decl->name,
                                 quantity_text(builder->arena, gpu->gpu.bandwidth, rate_dim));
    device->bandwidth = gpu->gpu.bandwidth;
    return chart->devices.count - 1;
}

static void add_roofs(struct builder *builder, struct roofline_device *device, const struct bound_gpu *gpu,
                      const bool used[PM_COMPUTE_COUNT])
{
    for (int i = 0; i < PM_COMPUTE_COUNT; i++) {
        double peak = gpu->gpu.peak[i];
        if (!used[i] || peak <= 0)
            continue;
        const char *label = arena_printf(builder->arena, "%s %s", compute_name((enum pm_compute)i),
                                         quantity_text(builder->arena, peak, work_rate_dim));
        *VEC_PUSH(builder->arena, device->roofs) = (struct roof){label, peak};
    }
}

/* ---- points --------------------------------------------------------------------------------- */

static void add_point(struct builder *builder, struct roofline_chart *chart,
                      const struct evaluation *evaluation, enum series_kind phase,
                      const struct pm_ceiling *ceiling, const struct pm_step *step, size_t device)
{
    if (ceiling->time <= 0 || ceiling->intensity <= 0)
        return;
    double reached = ceiling->work / ceiling->time;
    double expected = step->time > 0 ? step->work / step->time : 0;
    *VEC_PUSH(builder->arena, chart->points) = (struct roofline_point){
        .label = evaluation->scenario->name,
        .phase = phase,
        .intensity = ceiling->intensity,
        .ceiling = reached,
        .expected = fmin(expected, reached),
        .device = device,
    };
}

static void fill_chart(struct builder *builder, struct roofline_chart *chart,
                       const struct evaluation *const *scenarios, size_t count)
{
    const struct bound_gpu *devices[DRAWN_MAX];
    bool used[DRAWN_MAX][PM_COMPUTE_COUNT] = {{false}};
    for (size_t i = 0; i < count; i++) {
        const struct evaluation *each = scenarios[i];
        const struct pm_result *result = &each->result;
        size_t device = find_device(builder, chart, devices, each->binding.gpu);
        use_formats(each, used[device]);
        add_point(builder, chart, each, SERIES_DECODE, &result->decode_ceiling, &result->decode, device);
        add_point(builder, chart, each, SERIES_PREFILL, &result->prefill_ceiling, &result->prefill, device);
    }
    for (size_t i = 0; i < chart->devices.count; i++)
        add_roofs(builder, &chart->devices.items[i], devices[i], used[i]);
}

/* ---- tables --------------------------------------------------------------------------------- */

static struct print_unit rate_unit(const struct roofline_chart *chart)
{
    struct extent extent = {0, 0};
    for (size_t i = 0; i < chart->points.count; i++)
        extent_add(&extent, chart->points.items[i].ceiling);
    return unit_for_print(work_rate_dim, extent_middle(&extent), UNIT_STYLE_DECIMAL);
}

static const struct pm_ceiling *ceiling_of(const struct evaluation *const *scenarios, size_t count,
                                           const struct roofline_point *point)
{
    for (size_t i = 0; i < count; i++)
        if (scenarios[i]->scenario->name == point->label)
            return point->phase == SERIES_DECODE ? &scenarios[i]->result.decode_ceiling
                                                 : &scenarios[i]->result.prefill_ceiling;
    return NULL;
}

static void add_points_table(struct builder *builder, struct report_section *section,
                             const struct roofline_chart *chart, const struct evaluation *const *scenarios,
                             size_t count)
{
    struct report_table *table = add_table(builder, section, words(builder, M_PER_GPU_OVER_STEP));
    struct print_unit rate = rate_unit(chart);
    struct print_unit intensity = unit_for_print(intensity_dim, 1, UNIT_STYLE_DECIMAL);
    add_column(builder, table, words(builder, M_SCENARIO), ALIGN_LEFT, NULL);
    add_column(builder, table, words(builder, M_PHASE), ALIGN_LEFT, NULL);
    add_column(builder, table, with_unit(builder, words(builder, M_INTENSITY), intensity), ALIGN_RIGHT,
               "decode.intensity");
    add_column(builder, table, with_unit(builder, words(builder, M_BALANCE), intensity), ALIGN_RIGHT,
               "decode.balance");
    add_column(builder, table, words(builder, M_SIDE), ALIGN_LEFT, NULL);
    add_column(builder, table, with_unit(builder, words(builder, M_LIMIT_HEADING), rate), ALIGN_RIGHT, NULL);
    add_column(builder, table, with_unit(builder, words(builder, M_EXPECTED_HEADING), rate), ALIGN_RIGHT,
               NULL);
    add_column(builder, table, words(builder, M_OF_THE_LIMIT), ALIGN_RIGHT, NULL);
    for (size_t i = 0; i < chart->points.count; i++) {
        const struct roofline_point *point = &chart->points.items[i];
        const struct pm_ceiling *ceiling = ceiling_of(scenarios, count, point);
        struct report_row *row = add_row(builder, table);
        bool compute = ceiling->compute_time >= ceiling->memory_time;
        add_cell(builder, row, TONE_NAME, point->label);
        add_cell(builder, row, TONE_PLAIN,
                 words(builder, point->phase == SERIES_DECODE ? M_DECODE : M_PREFILL));
        add_number(builder, row, point->intensity, intensity);
        add_number(builder, row, ceiling->balance, intensity);
        add_cell(builder, row, TONE_PLAIN, words(builder, compute ? M_SIDE_COMPUTE : M_SIDE_BANDWIDTH));
        add_number(builder, row, point->ceiling, rate);
        add_number(builder, row, point->expected, rate);
        struct report_cell *cell =
            add_cell(builder, row, TONE_PLAIN, percent_text(builder, point->expected / point->ceiling));
        cell->value = point->expected / point->ceiling;
        cell->has_value = true;
    }
}

/* A threshold, or the word for its absence with the reason noted. */
static void add_threshold(struct builder *builder, struct report_row *row, struct decl *scenario,
                          enum quantity quantity, enum message absent, struct reasons *reasons)
{
    struct report_quantity value = evaluate_row(builder->evaluator, scenario, quantity);
    struct dim dim = evaluate_dim(builder->evaluator, scenario, quantity);
    if (value.type == QUANTITY_NUMBER) {
        add_number(builder, row, value.value, unit_for_print(dim, 1, UNIT_STYLE_DECIMAL));
        return;
    }
    add_cell(builder, row, TONE_MUTED, words(builder, absent));
    add_reason(builder, reasons, words(builder, absent), phrase(builder, value.text));
}

static void add_thresholds(struct builder *builder, struct report_section *section,
                           const struct evaluation *const *scenarios, size_t count)
{
    struct reasons reasons = {0};
    struct report_table *table = add_table(builder, section, words(builder, M_WHERE_SIDES_CHANGE));
    add_column(builder, table, words(builder, M_SCENARIO), ALIGN_LEFT, NULL);
    add_column(builder, table, words(builder, M_COMPUTE_BOUND_FROM_BATCH), ALIGN_RIGHT, "critical_batch");
    add_column(builder, table, words(builder, M_LARGEST_BATCH_IN_MEMORY), ALIGN_RIGHT, "max_batch");
    add_column(builder, table, words(builder, M_CACHE_OUTWEIGHS), ALIGN_RIGHT, "kv_equals_weights");
    for (size_t i = 0; i < count; i++) {
        struct decl *scenario = scenarios[i]->scenario;
        struct report_row *row = add_row(builder, table);
        add_cell(builder, row, TONE_NAME, scenario->name);
        add_threshold(builder, row, scenario, Q_CRITICAL_BATCH, M_NEVER, &reasons);
        add_threshold(builder, row, scenario, Q_MAX_BATCH, M_NO_LIMIT, &reasons);
        add_threshold(builder, row, scenario, Q_KV_EQUALS_WEIGHTS, M_NEVER, &reasons);
    }
    add_reasons(builder, section, &reasons);
}

enum { DESCRIBED_MAX = 4 };

/* What the picture shows, in words, for those who cannot see it. */
static const char *describe(struct builder *builder, const struct roofline_chart *chart)
{
    struct buffer out = buffer_in(builder->arena);
    buffer_text(&out, words(builder, M_DESCRIBE_ROOFLINE));
    for (size_t i = 0; i < chart->points.count && i < DESCRIBED_MAX; i++) {
        const struct roofline_point *point = &chart->points.items[i];
        buffer_text(&out, WORDS(builder, M_DESCRIBE_POINT, point->label,
                                words(builder, point->phase == SERIES_DECODE ? M_DECODE : M_PREFILL),
                                quantity_text(builder->arena, point->intensity, intensity_dim),
                                quantity_text(builder->arena, point->ceiling, work_rate_dim),
                                quantity_text(builder->arena, point->expected, work_rate_dim)));
    }
    buffer_text(&out, words(builder, M_FIGURES_IN_TABLE));
    return buffer_string(&out);
}

void build_roofline(struct builder *builder)
{
    const struct evaluation *scenarios[DRAWN_MAX];
    size_t count = drawn(builder, scenarios);
    if (count == 0)
        return;
    struct report_section *section =
        add_section(builder, "roofline", words(builder, M_WHERE_IT_STANDS), false);
    say_what_is_drawn(builder, section);
    struct roofline_chart chart = {0};
    fill_chart(builder, &chart, scenarios, count);
    struct report_chart *block =
        add_chart(builder, section, CHART_ROOFLINE, "roofline", words(builder, M_ROOFLINE_PER_GPU));
    block->description = describe(builder, &chart);
    block->roofline = chart;
    add_points_table(builder, section, &chart, scenarios, count);
    add_thresholds(builder, section, scenarios, count);
}
