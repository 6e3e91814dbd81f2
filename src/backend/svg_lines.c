/* svg_lines.c: lines over one axis, for sweeps, and points over two: bands as areas or as whiskers, points
 * that do not fit hollow, measured ones as open circles, the limit as a dashed line with its name. */
#include "backend/svg.h"

#include <math.h>
#include <string.h>

#include "result/message.h"

enum { MAX_SERIES = 12, COLOURS = 7, DOTTED_POINTS = 60, MAX_LABELS = 40 };

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
    if (chart_is_point(lines->x.low, lines->x.high)) {
        double aside = fmax(fabs(lines->x.high) / 2, scale_of(lines->chart->x_scale));
        lines->x.low = lines->x.log ? lines->x.low / 2 : lines->x.low - aside;
        lines->x.high = lines->x.log ? lines->x.high * 2 : lines->x.high + aside;
    }
    if (chart_is_point(lines->y.low, lines->y.high)) {
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
    if (first && !chart->x_round && first->points.count && first->points.count <= 16) {
        for (size_t i = 0; i < first->points.count; i++) {
            double x = first->points.items[i].x; /* beyond the range when it and what follows is impossible */
            if (x >= lines->x.low && x <= lines->x.high)
                *VEC_PUSH(arena, ticks.items) = (struct chart_tick){x, chart_number(arena, x / unit)};
        }
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
    return HTML_WORDS(lines->svg->page, point->fits ? M_SVG_POINT : M_SVG_POINT_DOES_NOT_FIT,
                      point->label ? point->label : series->label,
                      chart_number(arena, point->y / scale_of(lines->chart->y_scale)),
                      chart_number(arena, point->x / scale_of(lines->chart->x_scale)));
}

static void draw_dot(struct lines *lines, const struct line_series *series, const struct line_point *point)
{
    double x = chart_at(&lines->x, point->x), y = chart_at(&lines->y, point->y);
    if (series->style == LINE_MEASURED)
        svg_circle(lines->svg, "hollow", x, y, 5, point_hint(lines, series, point));
    else
        svg_circle(lines->svg, point->fits ? "dot" : "dot hollow", x, y, 3.5,
                   point_hint(lines, series, point));
    chart_take(&lines->space, (struct chart_box){x - 4, y - 4, 8, 8});
}

/* The band of a point that stands alone. */
static void draw_whisker(struct lines *lines, const struct line_point *point)
{
    if (!(point->high > point->low))
        return;
    double x = chart_at(&lines->x, point->x);
    double low = chart_at(&lines->y, point->low), high = chart_at(&lines->y, point->high);
    svg_line(lines->svg, "whisker", x, low, x, high);
    chart_cross(&lines->space, x, low, x, high);
}

static void draw_path(struct lines *lines, const struct line_series *series, size_t from, size_t end)
{
    const struct line_point *points = series->points.items;
    struct buffer path = buffer_in(lines->svg->page->arena);
    for (size_t i = from; i < end; i++) {
        append_point(lines, &path, i == from ? 'M' : 'L', points[i].x, points[i].y);
        if (i > from)
            chart_cross(&lines->space, chart_at(&lines->x, points[i - 1].x),
                        chart_at(&lines->y, points[i - 1].y), chart_at(&lines->x, points[i].x),
                        chart_at(&lines->y, points[i].y));
    }
    svg_path(lines->svg, "line", buffer_string(&path));
}

static void draw_run(struct lines *lines, const struct line_series *series, size_t from, size_t end)
{
    const struct line_point *points = series->points.items;
    bool joined = series->style == LINE_JOINED, front = series->style == LINE_FRONT;
    if (joined)
        draw_band(lines, series, from, end);
    if (joined || front)
        draw_path(lines, series, from, end);
    for (size_t i = from; i < end && !joined && !front; i++)
        draw_whisker(lines, &points[i]);
    for (size_t i = from; i < end && !front && (!joined || series->points.count <= DOTTED_POINTS); i++)
        draw_dot(lines, series, &points[i]);
}

/* Opens the group of a series, in its colour; what was measured and the best there is have one of their own.
 */
static void open_series(struct lines *lines, size_t index)
{
    static const char *const classes[COLOURS] = {"series c0", "series c1", "series c2", "series c3",
                                                 "series c4", "series c5", "series c6"};
    enum line_style style = lines->chart->series.items[index].style;
    svg_open(lines->svg,
             style == LINE_MEASURED ? "series seen"
             : style == LINE_FRONT  ? "series front"
                                    : classes[index % COLOURS],
             NULL);
}

static void draw_series(struct lines *lines, size_t index)
{
    const struct line_series *series = &lines->chart->series.items[index];
    open_series(lines, index);
    for (size_t from = 0; from < series->points.count; from++) {
        size_t end = run_end(lines, series, from);
        if (end > from)
            draw_run(lines, series, from, end);
        from = end;
    }
    svg_close(lines->svg);
}

/* ---- labels -------------------------------------------------------------------------------- */

/* The names of single points, each where it covers nothing; without room a pointer that rests tells it. */
static void label_points(struct lines *lines)
{
    struct svg *svg = lines->svg;
    size_t labelled = 0;
    svg_open(svg, "labels", NULL);
    for (size_t s = 0; s < lines->shown; s++) {
        const struct line_series *series = &lines->chart->series.items[s];
        for (size_t i = 0; i < series->points.count && labelled < MAX_LABELS; i++) {
            const struct line_point *point = &series->points.items[i];
            if (!point->label || !usable(lines, point))
                continue;
            const char *text = chart_fit(svg->page->arena, point->label, svg->size, svg->narrow ? 110 : 190);
            struct chart_box box;
            bool led;
            if (!chart_place(&lines->space, chart_at(&lines->x, point->x), chart_at(&lines->y, point->y),
                             chart_text_width(text, svg->size) + 4, svg->size + 2, 14, &box, &led))
                continue;
            svg_label(svg, NULL, box, text);
            labelled++;
        }
    }
    svg_close(svg);
}

/* The name of a vertical line, as high beside it as there is room; false: there is none. */
static bool label_vertical(struct lines *lines, double x, const char *name)
{
    struct svg *svg = lines->svg;
    double room = lines->x.to - lines->x.from;
    const char *text = chart_fit(svg->page->arena, name, svg->size, room * 0.7);
    double width = chart_text_width(text, svg->size) + 4, height = svg->size + 2;
    for (double y = lines->y.to + 2; y + height < lines->y.from; y += 8) {
        for (int side = 0; side < 2; side++) {
            struct chart_box box = {side ? x + 5 : x - 5 - width, y, width, height};
            if (!chart_is_free(&lines->space, box, true))
                continue;
            chart_take(&lines->space, box);
            svg_label(svg, NULL, box, text);
            return true;
        }
    }
    return false;
}

struct vertical {
    const char *class, *name;
    double at;
    bool named;
};

/* Names that found no room beside their lines stand below the chart, each behind a piece of its line. */
static void name_below(struct lines *lines, const struct vertical *vertical)
{
    struct svg *svg = lines->svg;
    double y = svg->height + svg->size - 4;
    const char *text = chart_fit(svg->page->arena, vertical->name, svg->size, svg->width - 20);
    svg_line(svg, vertical->class, 6, y - svg->size + 2, 6, y + 2);
    svg_text(svg, NULL, 14, y, SVG_START, text);
    svg->height += svg->size + 6;
}

/* All lines come first, so that no name stands across one. */
static void draw_verticals(struct lines *lines)
{
    struct svg *svg = lines->svg;
    const struct line_chart *chart = lines->chart;
    struct vertical verticals[] = {{"limit", chart->x_limit_text, chart->x_limit, false},
                                   {"knee", chart->x_knee_text, chart->x_knee, false}};
    enum { COUNT = sizeof verticals / sizeof verticals[0] };
    if (!(chart->x_limit > 0) && !(chart->x_knee > 0))
        return;
    svg_open(svg, "labels", NULL);
    for (size_t i = 0; i < COUNT; i++) {
        double x = verticals[i].at > 0 ? chart_at(&lines->x, verticals[i].at) : 0;
        verticals[i].named = !(verticals[i].at > 0) || !verticals[i].name;
        if (!(verticals[i].at > 0))
            continue;
        svg_line(svg, verticals[i].class, x, lines->y.from, x, lines->y.to);
        chart_cross(&lines->space, x, lines->y.from, x, lines->y.to);
    }
    for (size_t i = 0; i < COUNT; i++)
        if (!verticals[i].named &&
            !label_vertical(lines, chart_at(&lines->x, verticals[i].at), verticals[i].name))
            name_below(lines, &verticals[i]);
    svg_close(svg);
}

/* Names of series are bold: wider than chart_text_width() has it. */
static const double BOLD = 1.12;

/* Whether the series is named in the legend above the plot: all of them in narrow charts, those without a
 * line of points in wide ones, which name the others at the ends of their lines. */
static bool in_legend(const struct lines *lines, size_t index)
{
    bool joined = lines->chart->series.items[index].style == LINE_JOINED;
    return lines->shown > 1 && (lines->svg->narrow || !joined);
}

static void draw_key(struct lines *lines, size_t index, double x, double y, const char *text)
{
    struct svg *svg = lines->svg;
    enum line_style style = lines->chart->series.items[index].style;
    open_series(lines, index);
    if (style == LINE_JOINED || style == LINE_FRONT)
        svg_line(svg, "line", x, y - 4.5, x + 22, y - 4.5);
    if (style == LINE_MEASURED)
        svg_circle(svg, "hollow", x + 11, y - 4.5, 5, NULL);
    else if (style != LINE_FRONT)
        svg_circle(svg, "dot", x + 11, y - 4.5, 3.5, NULL);
    svg_text(svg, NULL, x + 30, y, SVG_START, text);
    svg_close(svg);
}

/* Entries beside each other while they fit; returns how high the legend is, and draws it when asked to. */
static double legend(struct lines *lines, bool drawn)
{
    struct svg *svg = lines->svg;
    double x = 0, y = 0, height = svg->size + 6;
    for (size_t i = 0; i < lines->shown; i++) {
        if (!in_legend(lines, i))
            continue;
        const char *text = chart_fit(svg->page->arena, lines->chart->series.items[i].label, svg->size * BOLD,
                                     svg->width - 34);
        double width = 30 + chart_text_width(text, svg->size * BOLD) + 18;
        if (x > 0 && x + width > svg->width) {
            x = 0;
            y += height;
        }
        if (drawn)
            draw_key(lines, i, x, y + svg->size, text);
        x += width;
    }
    return x > 0 ? y + height + 6 : 0;
}

/* The labels at the right ends, pushed apart from the top down, with a thin line back to their curve. */
static void label_ends(struct lines *lines)
{
    struct svg *svg = lines->svg;
    double height = svg->size + 4, used[MAX_SERIES];
    for (size_t i = 0; i < lines->shown; i++) {
        const struct line_series *series = &lines->chart->series.items[i];
        size_t last = in_legend(lines, i) ? 0 : series->points.count;
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
        open_series(lines, i);
        svg_line(svg, "lead", x + 5, end, lines->x.to + 8, y);
        svg_text(svg, NULL, lines->x.to + 12, y + svg->size * 0.35, SVG_START,
                 chart_fit(svg->page->arena, series->label, svg->size * BOLD, svg->width - lines->x.to - 12));
        svg_close(svg);
    }
}

/* Whether lines are named at their ends: one that is alone is named by the title. */
static bool names_ends(const struct lines *lines)
{
    size_t joined = 0;
    for (size_t i = 0; i < lines->shown; i++)
        joined += !in_legend(lines, i);
    bool alone = joined == 1 && !lines->chart->x_round;
    return !lines->svg->narrow && lines->shown > 1 && joined > 0 && !alone;
}

static double label_margin(const struct lines *lines)
{
    if (!names_ends(lines))
        return 8;
    double widest = 0, size = lines->svg->size * BOLD;
    for (size_t i = 0; i < lines->shown; i++) {
        const char *label = lines->chart->series.items[i].label;
        if (!in_legend(lines, i))
            widest =
                fmax(widest, chart_text_width(chart_fit(lines->svg->page->arena, label, size, 200), size));
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
    double top = 32 + legend(&lines, false), bottom = top + (svg->narrow ? 220 : 280);
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
    draw_verticals(&lines);
    label_points(&lines);
    legend(&lines, true);
    if (names_ends(&lines))
        label_ends(&lines);
    if (lines.shown < chart->series.count) {
        const char *note = MESSAGE_TEXT(svg->page->arena, svg->page->report->language, M_FIRST_OF,
                                        chart_number(svg->page->arena, (double)lines.shown),
                                        chart_number(svg->page->arena, (double)chart->series.count));
        svg_text(svg, "muted", 0, svg->height + svg->size - 4, SVG_START, note);
        svg->height += svg->size + 6;
    }
}
