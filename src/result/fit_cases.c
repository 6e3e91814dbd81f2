/* fit_cases.c: the cases of the points that an engine is fitted to. A fit evaluates each of them hundreds of
 * times with other coefficients, which reach nothing but times: what model and layout decide is prepared
 * once, memory is found once, and limits never. */
#include "result/fit_cases.h"

#include <math.h>

#include "base/arena.h"
#include "base/map.h"

/* ---- preparation -------------------------------------------------------------------------------- */

static bool drafts(const struct pm_case *input)
{
    return input->draft_tokens > 0;
}

/* Whether both are prepared alike. Engines of one fit lay weights out in one way (fit.h). */
static bool same_layout(const struct pm_case *a, const struct pm_case *b)
{
    return a->model == b->model && a->draft_model == b->draft_model && a->tp == b->tp && a->pp == b->pp &&
           a->dp == b->dp && a->ep == b->ep && drafts(a) == drafts(b) && a->free_drafts == b->free_drafts;
}

/* Of the latest cases: tables list deployments one after the other, or few in turn. */
enum { LOOK_BACK = 64 };

static const struct pm_prepared *prepared_of(const struct fit_cases *cases, const struct pm_case *input)
{
    for (size_t i = cases->count; i-- > 0 && cases->count - i <= LOOK_BACK;)
        if (same_layout(&cases->items[i].input, input))
            return cases->items[i].input.prepared;
    return pm_prepare(input, arena_alloc(cases->arena, pm_prepared_size(input)));
}

static size_t add_case(struct fit_cases *cases, const struct fit_point *point)
{
    struct fit_case *it = &cases->items[cases->count];
    *it = (struct fit_case){.input = point->input, .engine = point->engine};
    it->input.engine = &it->engine;
    it->input.prepared = NULL;
    it->input.prepared = prepared_of(cases, &it->input);
    pm_evaluate_parts(&it->input, PM_PART_MEMORY, &it->result);
    return cases->count++;
}

void fit_cases_of(struct arena *arena, const struct fit_point *points, size_t count, struct fit_cases *out)
{
    struct map *known = map_new(arena);
    *out = (struct fit_cases){.arena = arena,
                              .items = ARENA_ARRAY(arena, struct fit_case, count),
                              .of_point = ARENA_ARRAY(arena, size_t, count)};
    for (size_t i = 0; i < count; i++) {
        struct fit_case *same = points[i].key ? map_get(known, points[i].key) : NULL;
        if (same)
            out->of_point[i] = (size_t)(same - out->items);
        else if (i > 0 && points[i].run == points[i - 1].run)
            out->of_point[i] = out->of_point[i - 1];
        else
            out->of_point[i] = add_case(out, &points[i]);
        struct fit_case *it = &out->items[out->of_point[i]];
        it->measures[points[i].figure]++;
        if (points[i].key)
            map_put(known, points[i].key, it);
    }
}

/* ---- evaluation --------------------------------------------------------------------------------- */

static double figure_of(const struct pm_service *expected, enum fit_figure figure)
{
    return figure == FIT_TPOT ? expected->tpot : figure == FIT_TTFT ? expected->ttft : expected->throughput;
}

double fit_expected(const struct fit_point *point, const double change[COEFFICIENT_COUNT])
{
    struct pm_engine engine = point->engine;
    struct pm_case input = point->input;
    struct pm_result result = {0};
    coefficients_change(&engine, change);
    input.engine = &engine;
    pm_evaluate_parts(&input, PM_PART_MEMORY | PM_PART_SERVICE, &result);
    return figure_of(&result.expected, point->figure);
}

static double log_of(const struct fit_case *it, enum fit_figure figure)
{
    double value = figure_of(&it->result.expected, figure);
    if (it->measures[figure] == 0 || !(value > 0))
        return NAN;
    return figure == FIT_RATE ? -log(value) : log(value);
}

struct fit_logs fit_case_with(struct fit_case *it, const struct pm_engine *engine)
{
    struct fit_logs logs;
    it->input.engine = engine;
    pm_evaluate_parts(&it->input, PM_PART_SERVICE, &it->result);
    it->input.engine = &it->engine;
    for (enum fit_figure i = 0; i < FIT_FIGURES; i++)
        logs.of[i] = log_of(it, i);
    return logs;
}

struct fit_logs fit_case_logs(struct fit_case *it, const double change[COEFFICIENT_COUNT])
{
    struct pm_engine engine = it->engine;
    coefficients_change(&engine, change);
    return fit_case_with(it, &engine);
}

struct fit_logs fit_case_slopes(struct fit_case *it, const double change[COEFFICIENT_COUNT],
                                struct fit_logs logs, enum coefficient coefficient)
{
    static const double step = 1e-4;
    double moved[COEFFICIENT_COUNT];
    for (enum coefficient i = 0; i < COEFFICIENT_COUNT; i++)
        moved[i] = change[i] + (i == coefficient ? step : 0);
    struct fit_logs slopes = fit_case_logs(it, moved);
    for (enum fit_figure i = 0; i < FIT_FIGURES; i++)
        slopes.of[i] = isnan(slopes.of[i]) || isnan(logs.of[i]) ? 0 : (slopes.of[i] - logs.of[i]) / step;
    return slopes;
}

double fit_residue(const struct fit_point *point, struct fit_logs logs)
{
    double expected = logs.of[point->figure], measured = log(point->measured);
    if (isnan(expected))
        return 0;
    return (point->figure == FIT_RATE ? -measured : measured) - expected;
}
