/* svg_roofline.c: the roofline. FLOP/s over FLOP per byte, both logarithmic: what each device allows as
 * lines, what each scenario reaches as points, each expected point hanging below its limit by a visible gap.
 */
#include "backend/svg_roofline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "result/message.h"

/* More marks than these make a cloud whose single points nobody reads. */
enum { MAX_MARKS = 400, MAX_NAMES = 3 };

/* ---- the range ----------------------------------------------------------------------------- */

static void widen(struct chart_scale *scale, double value)
{
    if (!(value > 0) || !isfinite(value))
        return;
    if (scale->low == 0 || value < scale->low)
        scale->low = value;
    if (value > scale->high)
        scale->high = value;
}

double roofline_highest(const struct roofline_device *device)
{
    double peak = 0;
    for (size_t i = 0; i < device->roofs.count; i++)
        peak = fmax(peak, device->roofs.items[i].peak);
    return peak;
}

/* Room for every point and balance, and on either side for the lines to show their slope. */
static void find_range(struct roofline *roofline)
{
    const struct roofline_chart *chart = roofline->chart;
    for (size_t i = 0; i < chart->points.count; i++) {
        const struct roofline_point *point = &chart->points.items[i];
        widen(&roofline->x, point->intensity);
        widen(&roofline->y, point->ceiling);
        widen(&roofline->y, point->expected);
    }
    for (size_t i = 0; i < chart->devices.count; i++) {
        const struct roofline_device *device = &chart->devices.items[i];
        for (size_t j = 0; j < device->roofs.count; j++) {
            double peak = device->roofs.items[j].peak;
            if (device->bandwidth > 0)
                widen(&roofline->x, peak / device->bandwidth);
            widen(&roofline->y, peak);
        }
    }
    if (roofline->x.low == 0)
        roofline->x.low = roofline->x.high = 1;
    if (roofline->y.low == 0)
        roofline->y.low = roofline->y.high = 1;
    roofline->x.low /= roofline->svg->narrow ? 8 : 4; /* the slopes are labelled on their left */
    roofline->x.high *= 4;
    roofline->y.low /= 2;
    roofline->y.high *= 3;
    for (size_t i = 0; i < chart->devices.count; i++) /* at least a decade of slope below the lowest roof */
        roofline->y.low = fmin(roofline->y.low, roofline_highest(&chart->devices.items[i]) / 20);
}

/* ---- lines --------------------------------------------------------------------------------- */

void roofline_slope_start(const struct roofline *roofline, double bandwidth, double *x, double *y)
{
    *x = roofline->x.low;
    *y = bandwidth * *x;
    if (*y < roofline->y.low) {
        *y = roofline->y.low;
        *x = *y / bandwidth;
    }
}

static void draw_line(struct roofline *roofline, const char *class, double x1, double y1, double x2,
                      double y2)
{
    double px1 = chart_at(&roofline->x, x1), py1 = chart_at(&roofline->y, y1);
    double px2 = chart_at(&roofline->x, x2), py2 = chart_at(&roofline->y, y2);
    svg_line(roofline->svg, class, px1, py1, px2, py2);
    chart_cross(&roofline->space, px1, py1, px2, py2);
}

static void draw_device(struct roofline *roofline, const struct roofline_device *device, size_t index)
{
    struct svg *svg = roofline->svg;
    static const char *const classes[] = {"roof d0", "roof d1", "roof d2", "roof d3"};
    double peak = roofline_highest(device), x, y;
    if (!(device->bandwidth > 0) || !(peak > 0))
        return;
    roofline_slope_start(roofline, device->bandwidth, &x, &y);
    svg_open(svg, classes[index % 4], NULL);
    draw_line(roofline, NULL, x, y, peak / device->bandwidth, peak);
    for (size_t i = 0; i < device->roofs.count; i++) {
        double roof = device->roofs.items[i].peak, balance = roof / device->bandwidth;
        draw_line(roofline, NULL, balance, roof, roofline->x.high, roof);
        double x_balance = chart_at(&roofline->x, balance); /* labels may cross this faint line */
        svg_line(svg, "balance", x_balance, chart_at(&roofline->y, roof), x_balance, roofline->y.from);
        svg_circle(svg, "ridge", x_balance, chart_at(&roofline->y, roof), 2.5, NULL);
    }
    svg_close(svg);
}

/* ---- marks --------------------------------------------------------------------------------- */

static int by_place(const void *left, const void *right)
{
    const struct mark *a = left, *b = right;
    double differences[] = {(double)a->phase - (double)b->phase, a->x - b->x, a->limit - b->limit,
                            a->expected - b->expected, (double)a->first - (double)b->first};
    for (size_t i = 0; i < sizeof differences / sizeof *differences; i++)
        if (differences[i] != 0)
            return differences[i] < 0 ? -1 : 1;
    return 0;
}

static int by_order(const void *left, const void *right)
{
    const struct mark *a = left, *b = right;
    return a->first < b->first ? -1 : a->first > b->first;
}

static bool same_place(const struct mark *a, const struct mark *b)
{
    return a->phase == b->phase && a->x == b->x && a->limit == b->limit && a->expected == b->expected;
}

static void collect_marks(struct roofline *roofline)
{
    struct arena *arena = roofline->svg->page->arena;
    size_t count = roofline->chart->points.count;
    struct mark *marks = ARENA_ARRAY(arena, struct mark, count ? count : 1);
    size_t valid = 0;
    for (size_t i = 0; i < count; i++) {
        const struct roofline_point *point = &roofline->chart->points.items[i];
        if (!(point->intensity > 0) || !(point->ceiling > 0))
            continue;
        struct mark *mark = &marks[valid++];
        mark->phase = point->phase;
        mark->x = round(chart_at(&roofline->x, point->intensity));
        mark->limit = round(chart_at(&roofline->y, point->ceiling));
        mark->has_expected = point->expected > 0;
        mark->expected = mark->has_expected ? round(chart_at(&roofline->y, point->expected)) : mark->limit;
        mark->first = i;
        mark->count = 1;
        mark->names = point->label;
    }
    if (valid)
        qsort(marks, valid, sizeof *marks, by_place);
    size_t kept = 0;
    for (size_t i = 0; i < valid; i++) {
        struct mark *last = kept ? &marks[kept - 1] : NULL;
        if (!last || !same_place(last, &marks[i])) {
            marks[kept++] = marks[i];
            continue;
        }
        if (last->count < MAX_NAMES)
            last->names = arena_printf(arena, "%s, %s", last->names, marks[i].names);
        last->count++;
    }
    if (kept)
        qsort(marks, kept, sizeof *marks, by_order);
    roofline->left_out = kept > MAX_MARKS ? kept - MAX_MARKS : 0;
    for (size_t i = 0; i < kept && i < MAX_MARKS; i++) {
        if (marks[i].count > MAX_NAMES)
            marks[i].names = HTML_WORDS(roofline->svg->page, M_AND_MORE, marks[i].names,
                                        arena_printf(arena, "%zu", marks[i].count - MAX_NAMES));
        *VEC_PUSH(arena, roofline->marks) = marks[i];
    }
}

static const char *phase_class(enum series_kind phase)
{
    return phase == SERIES_PREFILL ? "point s-prefill" : "point s-decode";
}

static void draw_shape(struct svg *svg, enum series_kind phase, const char *class, double x, double y)
{
    if (phase == SERIES_PREFILL)
        svg_diamond(svg, class, x, y, 6);
    else
        svg_circle(svg, class, x, y, 5, NULL);
}

static void draw_mark(struct roofline *roofline, const struct mark *mark)
{
    struct svg *svg = roofline->svg;
    const char *phase = html_words(svg->page, mark->phase == SERIES_PREFILL ? M_PREFILL : M_DECODE);
    svg_open(svg, phase_class(mark->phase),
             svg->narrow ? NULL : HTML_WORDS(svg->page, M_SVG_NAME_AND_PHASE, mark->names, phase));
    if (mark->has_expected && mark->expected > mark->limit + 11)
        svg_line(svg, "gap", mark->x, mark->limit + 5, mark->x, mark->expected - 5);
    draw_shape(svg, mark->phase, "limit", mark->x, mark->limit);
    if (mark->has_expected)
        draw_shape(svg, mark->phase, NULL, mark->x, mark->expected);
    svg_close(svg);
    struct chart_box box = {mark->x - 6, mark->limit - 6, 12, mark->expected - mark->limit + 12};
    chart_take(&roofline->space, box);
}

/* ---- legend and key ------------------------------------------------------------------------ */

static bool has_phase(const struct roofline *roofline, enum series_kind phase)
{
    for (size_t i = 0; i < roofline->marks.count; i++)
        if (roofline->marks.items[i].phase == phase)
            return true;
    return false;
}

/* What the shapes mean, right-aligned above the plot. */
static void draw_legend(struct roofline *roofline)
{
    static const struct {
        enum series_kind phase;
        const char *class;
        enum message text;
    } entries[] = {{SERIES_DECODE, "limit", M_SVG_LIMIT},
                   {SERIES_PREFILL, NULL, M_PREFILL},
                   {SERIES_DECODE, NULL, M_DECODE}};
    struct svg *svg = roofline->svg;
    svg_open(svg, "legend", NULL);
    double x = roofline->x.to, y = roofline->y.to - 12;
    for (size_t i = 0; i < sizeof entries / sizeof *entries && roofline->marks.count; i++) {
        if (!entries[i].class && !has_phase(roofline, entries[i].phase))
            continue;
        const char *text = html_words(svg->page, entries[i].text);
        x -= chart_text_width(text, svg->size);
        svg_text(svg, NULL, x, y, SVG_START, text);
        svg_open(svg, entries[i].class ? "point neutral" : phase_class(entries[i].phase), NULL);
        draw_shape(svg, entries[i].phase, entries[i].class, x - 11, y - svg->size * 0.35);
        svg_close(svg);
        x -= 30;
    }
    svg_close(svg);
}

static void draw_key(struct roofline *roofline)
{
    struct svg *svg = roofline->svg;
    if (!roofline->key.count)
        return;
    svg_open(svg, "key", NULL);
    size_t columns = svg->narrow ? 1 : 3, rows = (roofline->key.count + columns - 1) / columns;
    double step = svg->width / (double)columns;
    for (size_t i = 0; i < roofline->key.count; i++) {
        const char *text = chart_fit(svg->page->arena, roofline->key.items[i].text, svg->size, step - 12);
        svg_text(svg, NULL, (double)(i / rows) * step + 4,
                 svg->height + (double)(i % rows + 1) * (svg->size + 5), SVG_START, text);
    }
    svg_close(svg);
    svg->height += (double)rows * (svg->size + 5) + 8;
}

void svg_roofline(struct svg *svg, const struct roofline_chart *chart)
{
    struct roofline roofline = {.svg = svg, .chart = chart};
    find_range(&roofline);
    double top = 34, bottom = svg->narrow ? 320 : 410;
    roofline.x.from = svg->narrow ? 50 : 58;
    roofline.x.to = svg->width - 4;
    roofline.y.from = bottom;
    roofline.y.to = top;
    roofline.x.log = roofline.y.log = true;
    roofline.space = (struct chart_space){
        .arena = svg->page->arena,
        .bounds = {roofline.x.from + 2, top - 4, roofline.x.to - roofline.x.from, bottom - top + 4}};
    svg->height = bottom + 2 * svg->size + 18;
    struct chart_ticks x_ticks =
        chart_log_ticks(svg->page->arena, roofline.x.low, roofline.x.high, 1, false, svg->narrow ? 5 : 9);
    struct chart_ticks y_ticks =
        chart_log_ticks(svg->page->arena, roofline.y.low, roofline.y.high, 1, true, 8);
    svg_axes(svg, &roofline.x, &x_ticks, html_words(svg->page, M_SVG_INTENSITY_AXIS), &roofline.y, &y_ticks,
             "FLOP/s");
    for (size_t i = 0; i < chart->devices.count; i++)
        draw_device(&roofline, &chart->devices.items[i], i);
    collect_marks(&roofline);
    for (size_t i = 0; i < roofline.marks.count; i++)
        draw_mark(&roofline, &roofline.marks.items[i]);
    roofline_label(&roofline);
    draw_legend(&roofline);
    draw_key(&roofline);
    if (roofline.left_out > 0) {
        const char *note =
            MESSAGE_TEXT(svg->page->arena, svg->page->report->language, M_FIRST_OF,
                         chart_number(svg->page->arena, MAX_MARKS),
                         chart_number(svg->page->arena, MAX_MARKS + (double)roofline.left_out));
        svg_text(svg, "muted", 0, svg->height + svg->size - 4, SVG_START, note);
        svg->height += svg->size + 6;
    }
}
