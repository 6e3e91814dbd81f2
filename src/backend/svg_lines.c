/* svg_lines.c: lines over one axis, for sweeps: bands as areas, points that do not fit hollow, the limit as a
 * dashed line with its name. */
#include "backend/svg.h"

#include <math.h>
#include <string.h>

enum { MAX_SERIES = 12, COLOURS = 7, DOTTED_POINTS = 60 };

struct lines {
    struct svg *svg;
    const struct line_chart *chart;
    struct chart_scale x, y;
    struct chart_space space;
    size_t shown; /* series */
};

static double scale_of(double scale)
{
    return scale > 0 ? scale : 1;
}

static bool usable(const struct lines *lines, const struct line_point *point)
{
    return point->valid && isfinite(point->y) && (!lines->x.log || point->x > 0) &&
           (!lines->y.log || point->y > 0);
}

/* ---- the range ----------------------------------------------------------------------------- */

static void find_range(struct lines *lines)
{
    double low_x = 0, high_x = 0, low_y = 0, high_y = 0;
    bool any = false;
    for (size_t s = 0; s < lines->shown; s++) {
        for (size_t i = 0; i < lines->chart->series.items[s].points.count; i++) {
            const struct line_point *point = &lines->chart->series.items[s].points.items[i];
            if (!usable(lines, point))
                continue;
            low_x = any ? fmin(low_x, point->x) : point->x;
            high_x = any ? fmax(high_x, point->x) : point->x;
            low_y = any ? fmin(low_y, fmin(point->y, point->low)) : fmin(point->y, point->low);
            high_y = any ? fmax(high_y, fmax(point->y, point->high)) : fmax(point->y, point->high);
            any = true;
        }
    }
    lines->x.low = low_x;
    lines->x.high = high_x;
    if (lines->chart->x_limit > 0 && any) {
        lines->x.low = fmin(low_x, lines->chart->x_limit);
        lines->x.high = fmax(high_x, lines->chart->x_limit);
    }
    lines->y.low = low_y > 0.75 * high_y ? low_y : fmin(low_y, 0); /* near zero, zero is the better floor */
    lines->y.high = high_y;
    if (!(lines->x.high > lines->x.low)) {
        lines->x.low = lines->x.log ? lines->x.low / 2 : lines->x.low - 1;
        lines->x.high = lines->x.log ? lines->x.high * 2 : lines->x.high + 1;
    }
    if (!(lines->y.high > lines->y.low)) {
        lines->y.low = fmin(lines->y.low, 0);
        lines->y.high = lines->y.high > 0 ? lines->y.high * 2 : scale_of(lines->chart->y_scale);
    }
    lines->y.high += 0.06 * (lines->y.high - lines->y.low);
    if (lines->y.low > 0)
        lines->y.low -= 0.06 * (lines->y.high - lines->y.low);
}

/* ---- ticks --------------------------------------------------------------------------------- */

/* The swept values themselves where they are few: a reader looks for "batch 32", not for "batch 30". */
static struct chart_ticks x_ticks(const struct lines *lines)
{
    struct arena *arena = lines->svg->page->arena;
    const struct line_chart *chart = lines->chart;
    struct chart_ticks ticks = {0};
    double unit = scale_of(chart->x_scale);
    const struct line_series *first = lines->shown ? &chart->series.items[0] : NULL;
    if (first && first->points.count && first->points.count <= 16) {
        for (size_t i = 0; i < first->points.count; i++)
            *VEC_PUSH(arena, ticks.items) = (struct chart_tick){
                first->points.items[i].x, chart_number(arena, first->points.items[i].x / unit)};
        return ticks;
    }
    int count = lines->svg->narrow ? 4 : 9;
    return lines->x.log ? chart_log_ticks(arena, lines->x.low, lines->x.high, unit, false, count)
                        : chart_linear_ticks(arena, lines->x.low, lines->x.high, unit, count);
}

/* ---- one series ---------------------------------------------------------------------------- */

static void append_point(struct lines *lines, struct buffer *path, char command, double x, double y)
{
    svg_step(path, command, chart_at(&lines->x, x), chart_at(&lines->y, y));
}

/* The end of the run of usable points that begins at `from`. */
static size_t run_end(const struct lines *lines, const struct line_series *series, size_t from)
{
    while (from < series->points.count && usable(lines, &series->points.items[from]))
        from++;
    return from;
}

static void draw_band(struct lines *lines, const struct line_series *series, size_t from, size_t end)
{
    const struct line_point *points = series->points.items;
    bool any = false;
    for (size_t i = from; i < end; i++)
        any = any || points[i].high > points[i].low;
    if (!any || end - from < 2)
        return;
    struct buffer path = buffer_in(lines->svg->page->arena);
    for (size_t i = from; i < end; i++)
        append_point(lines, &path, i == from ? 'M' : 'L', points[i].x, points[i].high);
    for (size_t i = end; i > from; i--)
        append_point(lines, &path, 'L', points[i - 1].x, points[i - 1].low);
    buffer_byte(&path, 'z');
    svg_path(lines->svg, "band", buffer_string(&path));
}

static const char *point_hint(const struct lines *lines, const struct line_series *series,
                              const struct line_point *point)
{
    struct arena *arena = lines->svg->page->arena;
    if (lines->svg->narrow)
        return NULL;
    return arena_printf(arena, "%s: %s at %s%s", series->label,
                        chart_number(arena, point->y / scale_of(lines->chart->y_scale)),
                        chart_number(arena, point->x / scale_of(lines->chart->x_scale)),
                        point->fits ? "" : ", does not fit");
}

static void draw_run(struct lines *lines, const struct line_series *series, size_t from, size_t end)
{
    const struct line_point *points = series->points.items;
    draw_band(lines, series, from, end);
    struct buffer path = buffer_in(lines->svg->page->arena);
    for (size_t i = from; i < end; i++) {
        append_point(lines, &path, i == from ? 'M' : 'L', points[i].x, points[i].y);
        if (i > from)
            chart_cross(&lines->space, chart_at(&lines->x, points[i - 1].x),
                        chart_at(&lines->y, points[i - 1].y), chart_at(&lines->x, points[i].x),
                        chart_at(&lines->y, points[i].y));
    }
    svg_path(lines->svg, "line", buffer_string(&path));
    for (size_t i = from; i < end && series->points.count <= DOTTED_POINTS; i++) {
        struct svg *svg = lines->svg;
        double x = chart_at(&lines->x, points[i].x), y = chart_at(&lines->y, points[i].y);
        svg_circle(svg, points[i].fits ? "dot" : "dot hollow", x, y, 3.5,
                   point_hint(lines, series, &points[i]));
        chart_take(&lines->space, (struct chart_box){x - 4, y - 4, 8, 8});
    }
}

/* Opens the group of a series, in its colour. */
static void open_series(struct svg *svg, size_t index)
{
    static const char *const classes[COLOURS] = {"series c0", "series c1", "series c2", "series c3",
                                                 "series c4", "series c5", "series c6"};
    svg_open(svg, classes[index % COLOURS], NULL);
}

static void draw_series(struct lines *lines, size_t index)
{
    const struct line_series *series = &lines->chart->series.items[index];
    open_series(lines->svg, index);
    for (size_t from = 0; from < series->points.count; from++) {
        size_t end = run_end(lines, series, from);
        if (end > from)
            draw_run(lines, series, from, end);
        from = end;
    }
    svg_close(lines->svg);
}

/* ---- labels -------------------------------------------------------------------------------- */

/* The name of the limit, as high beside its line as there is room. */
static void label_limit(struct lines *lines, double x)
{
    struct svg *svg = lines->svg;
    double room = lines->x.to - lines->x.from;
    const char *text = chart_fit(svg->page->arena, lines->chart->x_limit_text, svg->size, room * 0.7);
    double width = chart_text_width(text, svg->size) + 4, height = svg->size + 2;
    for (double y = lines->y.to + 2; y + height < lines->y.from; y += 8) {
        for (int side = 0; side < 2; side++) {
            struct chart_box box = {side ? x + 5 : x - 5 - width, y, width, height};
            if (!chart_is_free(&lines->space, box, true))
                continue;
            chart_take(&lines->space, box);
            svg_label(svg, NULL, box, text);
            return;
        }
    }
}

static void draw_limit(struct lines *lines)
{
    struct svg *svg = lines->svg;
    double x = chart_at(&lines->x, lines->chart->x_limit);
    svg_open(svg, "labels", NULL);
    svg_line(svg, "limit", x, lines->y.from, x, lines->y.to);
    chart_cross(&lines->space, x, lines->y.from, x, lines->y.to);
    if (lines->chart->x_limit_text)
        label_limit(lines, x);
    svg_close(svg);
}

/* Names of series are bold: wider than chart_text_width() has it. */
static const double BOLD = 1.12;

/* Names of several series stand in a row above the plot in narrow charts, and at the ends of their lines in
 * wide ones. */
static double legend_height(const struct lines *lines)
{
    return lines->svg->narrow && lines->shown > 1 ? (double)lines->shown * (lines->svg->size + 6) + 6 : 0;
}

static void draw_legend(struct lines *lines)
{
    struct svg *svg = lines->svg;
    for (size_t i = 0; i < lines->shown; i++) {
        double y = (double)i * (svg->size + 6) + svg->size;
        open_series(svg, i);
        svg_line(svg, "line", 0, y - 4.5, 22, y - 4.5);
        svg_circle(svg, "dot", 11, y - 4.5, 3.5, NULL);
        svg_text(svg, NULL, 30, y, SVG_START,
                 chart_fit(svg->page->arena, lines->chart->series.items[i].label, svg->size * BOLD,
                           svg->width - 34));
        svg_close(svg);
    }
}

/* The labels at the right ends, pushed apart from the top down, with a thin line back to their curve. */
static void label_ends(struct lines *lines)
{
    struct svg *svg = lines->svg;
    double height = svg->size + 4, used[MAX_SERIES];
    for (size_t i = 0; i < lines->shown; i++) {
        const struct line_series *series = &lines->chart->series.items[i];
        size_t last = series->points.count;
        while (last && !usable(lines, &series->points.items[last - 1]))
            last--;
        used[i] = -1;
        if (!last)
            continue;
        double x = chart_at(&lines->x, series->points.items[last - 1].x);
        double end = chart_at(&lines->y, series->points.items[last - 1].y), y = end;
        for (int step = 0; step < 4 * MAX_SERIES; step++) {
            y = end + (step % 2 ? -1 : 1) * (step + 1) / 2 * height / 2;
            bool free = y >= lines->y.to && y <= lines->y.from;
            for (size_t j = 0; j < i; j++)
                free = free && (used[j] < 0 || fabs(used[j] - y) >= height);
            if (free)
                break;
        }
        used[i] = y;
        open_series(svg, i);
        svg_line(svg, "lead", x + 5, end, lines->x.to + 8, y);
        svg_text(svg, NULL, lines->x.to + 12, y + svg->size * 0.35, SVG_START,
                 chart_fit(svg->page->arena, series->label, svg->size * BOLD, svg->width - lines->x.to - 12));
        svg_close(svg);
    }
}

static double label_margin(const struct lines *lines)
{
    double widest = 0;
    if (lines->svg->narrow || lines->shown < 2)
        return 8;
    double size = lines->svg->size * BOLD;
    for (size_t i = 0; i < lines->shown; i++) {
        const char *label = lines->chart->series.items[i].label;
        widest = fmax(widest, chart_text_width(chart_fit(lines->svg->page->arena, label, size, 200), size));
    }
    return widest + 16;
}

static double widest_label(const struct chart_ticks *ticks, double size)
{
    double widest = 0;
    for (size_t i = 0; i < ticks->items.count; i++)
        if (ticks->items.items[i].label)
            widest = fmax(widest, chart_text_width(ticks->items.items[i].label, size));
    return widest;
}

void svg_lines(struct svg *svg, const struct line_chart *chart)
{
    struct lines lines = {.svg = svg, .chart = chart};
    lines.shown = chart->series.count < MAX_SERIES ? chart->series.count : MAX_SERIES;
    lines.x.log = chart->x_log;
    find_range(&lines);
    lines.x.log = chart->x_log && lines.x.low > 0;
    double top = 32 + legend_height(&lines), bottom = top + (svg->narrow ? 220 : 280);
    struct chart_ticks y_ticks =
        chart_linear_ticks(svg->page->arena, lines.y.low, lines.y.high, scale_of(chart->y_scale), 6);
    lines.x.from = widest_label(&y_ticks, svg->size) + 10;
    lines.x.to = svg->width - label_margin(&lines);
    lines.y.from = bottom;
    lines.y.to = top;
    lines.space = (struct chart_space){
        .arena = svg->page->arena, .bounds = {lines.x.from, top, lines.x.to - lines.x.from, bottom - top}};
    svg->height = bottom + 2 * svg->size + 18;
    struct chart_ticks ticks = x_ticks(&lines);
    svg_axes(svg, &lines.x, &ticks, chart->x_title ? chart->x_title : "", &lines.y, &y_ticks,
             chart->y_title ? chart->y_title : "");
    for (size_t i = 0; i < lines.shown; i++)
        draw_series(&lines, i);
    if (chart->x_limit > 0)
        draw_limit(&lines);
    if (lines.shown > 1 && svg->narrow)
        draw_legend(&lines);
    else if (lines.shown > 1)
        label_ends(&lines);
}
