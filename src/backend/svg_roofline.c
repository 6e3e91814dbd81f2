/* svg_roofline.c: the roofline. FLOP/s over FLOP per byte, both logarithmic: what each device allows as lines,
 * what each scenario reaches as points, each expected point hanging below its limit by a visible gap. */
#include "backend/svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More marks than these make a cloud whose single points nobody reads. */
enum { MAX_MARKS = 400, MAX_LABELS = 40, MAX_NAMES = 3 };

/* Points that fall on the same spot are one mark with several names. */
struct mark {
    enum series_kind phase;
    double x, limit, expected; /* expected == limit where there is none */
    bool has_expected;
    size_t first, count;       /* the first point in chart order, and how many are here */
    const char *names;
};

/* A label for which there was no room: a number in the chart, its text below. */
struct keyed {
    const char *text;
};

struct roofline {
    struct svg *svg;
    const struct roofline_chart *chart;
    struct chart_scale x, y;
    struct chart_space space;
    VEC(struct mark) marks;
    VEC(struct keyed) key;
};

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

static double highest_roof(const struct roofline_device *device)
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
        roofline->y.low = fmin(roofline->y.low, highest_roof(&chart->devices.items[i]) / 20);
}

/* ---- lines --------------------------------------------------------------------------------- */

/* Where the slope of a device enters the plot: at its left edge, or at its bottom. */
static void slope_start(const struct roofline *roofline, double bandwidth, double *x, double *y)
{
    *x = roofline->x.low;
    *y = bandwidth * *x;
    if (*y < roofline->y.low) {
        *y = roofline->y.low;
        *x = *y / bandwidth;
    }
}

static void draw_line(struct roofline *roofline, xmlNodePtr group, const char *class, double x1, double y1,
                      double x2, double y2)
{
    double px1 = chart_at(&roofline->x, x1), py1 = chart_at(&roofline->y, y1);
    double px2 = chart_at(&roofline->x, x2), py2 = chart_at(&roofline->y, y2);
    svg_line(roofline->svg, group, class, px1, py1, px2, py2);
    chart_cross(&roofline->space, px1, py1, px2, py2);
}

static void draw_device(struct roofline *roofline, const struct roofline_device *device, size_t index)
{
    struct svg *svg = roofline->svg;
    xmlNodePtr group = svg_group(svg, svg->root, arena_printf(svg->page->arena, "roof d%zu", index % 4));
    double peak = highest_roof(device), x, y;
    if (!(device->bandwidth > 0) || !(peak > 0))
        return;
    slope_start(roofline, device->bandwidth, &x, &y);
    draw_line(roofline, group, NULL, x, y, peak / device->bandwidth, peak);
    for (size_t i = 0; i < device->roofs.count; i++) {
        double roof = device->roofs.items[i].peak, balance = roof / device->bandwidth;
        draw_line(roofline, group, NULL, balance, roof, roofline->x.high, roof);
        double x_balance = chart_at(&roofline->x, balance); /* labels may cross this faint line */
        svg_line(svg, group, "balance", x_balance, chart_at(&roofline->y, roof), x_balance,
                 roofline->y.from);
        svg_circle(svg, group, "ridge", chart_at(&roofline->x, balance), chart_at(&roofline->y, roof), 2.5);
    }
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
    for (size_t i = 0; i < kept && i < MAX_MARKS; i++) {
        if (marks[i].count > MAX_NAMES)
            marks[i].names = arena_printf(arena, "%s and %zu more", marks[i].names, marks[i].count - MAX_NAMES);
        *VEC_PUSH(arena, roofline->marks) = marks[i];
    }
}

static void draw_shape(struct svg *svg, xmlNodePtr group, enum series_kind phase, const char *class, double x,
                       double y)
{
    if (phase == SERIES_PREFILL)
        svg_diamond(svg, group, class, x, y, 6);
    else
        svg_circle(svg, group, class, x, y, 5);
}

static void draw_mark(struct roofline *roofline, const struct mark *mark)
{
    struct svg *svg = roofline->svg;
    const char *phase = mark->phase == SERIES_PREFILL ? "prefill" : "decode";
    xmlNodePtr group = svg_group(svg, svg->root, arena_printf(svg->page->arena, "point %s",
                                                              svg_kind_class(mark->phase)));
    svg_hint(svg, group, arena_printf(svg->page->arena, "%s, %s", mark->names, phase));
    if (mark->has_expected && mark->expected > mark->limit + 11)
        svg_line(svg, group, "gap", mark->x, mark->limit + 5, mark->x, mark->expected - 5);
    draw_shape(svg, group, mark->phase, "limit", mark->x, mark->limit);
    if (mark->has_expected)
        draw_shape(svg, group, mark->phase, NULL, mark->x, mark->expected);
    struct chart_box box = {mark->x - 6, mark->limit - 6, 12, mark->expected - mark->limit + 12};
    chart_take(&roofline->space, box);
}

/* ---- labels -------------------------------------------------------------------------------- */

/* Takes the first free place out of a row of candidates that starts at (x, y) and moves by (dx, dy). */
static bool slide(struct roofline *roofline, double x, double y, double width, double height, double dx,
                  double dy, int steps, struct chart_box *box)
{
    for (int i = 0; i < steps; i++) {
        *box = (struct chart_box){x + dx * i, y + dy * i, width, height};
        if (chart_is_free(&roofline->space, *box, true)) {
            chart_take(&roofline->space, *box);
            return true;
        }
    }
    return false;
}

static void lead(struct roofline *roofline, xmlNodePtr group, double x, double y, struct chart_box box)
{
    double to_x = fmin(fmax(x, box.x), box.x + box.width), to_y = fmin(fmax(y, box.y), box.y + box.height);
    svg_line(roofline->svg, group, "lead", x, y, to_x, to_y);
}

/* A number at the place, and the text in the key below the chart. */
static void key_label(struct roofline *roofline, xmlNodePtr group, double x, double y, const char *text)
{
    struct svg *svg = roofline->svg;
    struct arena *arena = svg->page->arena;
    const char *number = arena_printf(arena, "%zu", roofline->key.count + 1);
    struct chart_box box;
    bool led;
    double width = chart_text_width(number, svg->size) + 4;
    if (!chart_place(&roofline->space, x, y, width, svg->size + 2, 90, &box, &led))
        return;
    if (led)
        lead(roofline, group, x, y, box);
    svg_label(svg, group, NULL, box, number);
    *VEC_PUSH(arena, roofline->key) = (struct keyed){arena_printf(arena, "%s  %s", number, text)};
}

static void label_point(struct roofline *roofline, xmlNodePtr group, const struct mark *mark, const char *text)
{
    struct svg *svg = roofline->svg;
    text = chart_fit(svg->page->arena, text, svg->size, svg->narrow ? 110 : 190);
    double width = chart_text_width(text, svg->size) + 4;
    struct chart_box box;
    bool led;
    if (!chart_place(&roofline->space, mark->x, mark->expected, width, svg->size + 2, 50, &box, &led)) {
        key_label(roofline, group, mark->x, mark->expected, text);
        return;
    }
    if (led)
        lead(roofline, group, mark->x, mark->expected, box);
    svg_label(svg, group, NULL, box, text);
}

static void label_points(struct roofline *roofline, xmlNodePtr group)
{
    const struct mark *marks = roofline->marks.items;
    bool one_scenario = true;
    for (size_t i = 1; i < roofline->marks.count; i++)
        one_scenario = one_scenario && strcmp(marks[i].names, marks[0].names) == 0;
    for (size_t i = 0; i < roofline->marks.count && i < MAX_LABELS; i++) {
        const char *phase = marks[i].phase == SERIES_PREFILL ? "prefill" : "decode";
        label_point(roofline, group, &marks[i], one_scenario ? phase : marks[i].names);
    }
}

/* At the right end of the roof, the highest above its line and the others below theirs where they can; else
 * farther left; else stacked beyond, with a line back. */
static void label_roof(struct roofline *roofline, xmlNodePtr group, const struct roof *roof, double bandwidth,
                       bool highest)
{
    struct svg *svg = roofline->svg;
    const char *text = chart_fit(svg->page->arena, roof->label, svg->size, svg->narrow ? 170 : 320);
    double width = chart_text_width(text, svg->size) + 4, height = svg->size + 2;
    double y = chart_at(&roofline->y, roof->peak), right = roofline->x.to - width;
    double above = y - height - 2, below = y + 3;
    double room = right - chart_at(&roofline->x, roof->peak / bandwidth);
    int steps = room > 0 ? (int)(room / 12) + 1 : 1;
    struct chart_box box;
    bool led = false;
    if (!slide(roofline, right, highest ? above : below, width, height, -12, 0, steps, &box) &&
        !slide(roofline, right, highest ? below : above, width, height, -12, 0, steps, &box)) {
        led = true;
        double step = highest ? -height / 2 : height / 2;
        if (!slide(roofline, right, (highest ? above : below) + step, width, height, 0, step, 12, &box)) {
            key_label(roofline, group, roofline->x.to - 12, y, roof->label);
            return;
        }
    }
    if (led)
        lead(roofline, group, box.x + box.width - 12, y, box);
    svg_text(svg, group, NULL, box.x + box.width - 2, box.y + height - 4, SVG_END, text);
}

/* A roof with the bandwidth of its device, to be labelled from the top down. */
struct named_roof {
    const struct roof *roof;
    double bandwidth;
    size_t order;
};

static int from_top(const void *left, const void *right)
{
    const struct named_roof *a = left, *b = right;
    if (a->roof->peak != b->roof->peak)
        return a->roof->peak > b->roof->peak ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Left of the slope, where nothing can be; where several slopes are close, to the right of it. */
static void label_slope(struct roofline *roofline, xmlNodePtr group, const struct roofline_device *device)
{
    struct svg *svg = roofline->svg;
    const char *text = chart_fit(svg->page->arena, device->label, svg->size, svg->narrow ? 140 : 240);
    double width = chart_text_width(text, svg->size) + 4, height = svg->size + 2;
    double low_x, low_y, peak = highest_roof(device);
    slope_start(roofline, device->bandwidth, &low_x, &low_y);
    double x1 = chart_at(&roofline->x, low_x), y1 = chart_at(&roofline->y, low_y);
    double x2 = chart_at(&roofline->x, peak / device->bandwidth), y2 = chart_at(&roofline->y, peak);
    for (int side = 0; side < 2; side++) {
        for (int step = 0; step <= 24; step++) {
            double part = 0.8 - 0.03 * step, x = x1 + part * (x2 - x1), y = y1 + part * (y2 - y1);
            struct chart_box box = {side ? x + 8 : x - 6 - width, side ? y + 2 : y - height - 2, width, height};
            if (!chart_is_free(&roofline->space, box, true))
                continue;
            chart_take(&roofline->space, box);
            svg_label(svg, group, NULL, box, text);
            return;
        }
    }
    key_label(roofline, group, (x1 + x2) / 2, (y1 + y2) / 2, device->label);
}

/* Beside the foot of the line that falls from the balance point. */
static void label_balance(struct roofline *roofline, xmlNodePtr group, double balance)
{
    struct svg *svg = roofline->svg;
    double decimals = balance < 10 ? 10 : 1;
    const char *number = chart_number(svg->page->arena, round(balance * decimals) / decimals);
    const char *text = svg->narrow ? number : arena_printf(svg->page->arena, "balance %s", number);
    double width = chart_text_width(text, svg->size) + 6, height = svg->size + 2;
    double x = chart_at(&roofline->x, balance), y = roofline->y.from - height - 3;
    struct chart_box box;
    if (slide(roofline, x + 3, y, width, height, 0, -height, 5, &box) ||
        slide(roofline, x - 3 - width, y, width, height, 0, -height, 5, &box))
        svg_label(svg, group, "muted", box, text);
}

static bool drawable(const struct roofline_device *device)
{
    return device->bandwidth > 0 && highest_roof(device) > 0;
}

/* Roofs from the top down; devices with the same roof share its label. */
static void label_roofs(struct roofline *roofline, xmlNodePtr group)
{
    struct arena *arena = roofline->svg->page->arena;
    VEC(struct named_roof) roofs = {0};
    for (size_t i = 0; i < roofline->chart->devices.count; i++) {
        const struct roofline_device *device = &roofline->chart->devices.items[i];
        for (size_t j = 0; j < device->roofs.count && drawable(device); j++)
            *VEC_PUSH(arena, roofs) = (struct named_roof){&device->roofs.items[j], device->bandwidth, roofs.count};
    }
    if (roofs.count)
        qsort(roofs.items, roofs.count, sizeof *roofs.items, from_top);
    for (size_t i = 0; i < roofs.count; i++) {
        const struct roof *roof = roofs.items[i].roof;
        bool repeated = false;
        for (size_t j = 0; j < i; j++)
            repeated = repeated || (roofs.items[j].roof->peak == roof->peak &&
                                    strcmp(roofs.items[j].roof->label, roof->label) == 0);
        if (!repeated)
            label_roof(roofline, group, roof, roofs.items[i].bandwidth, i == 0);
    }
}

static void label_devices(struct roofline *roofline, xmlNodePtr group)
{
    const struct roofline_chart *chart = roofline->chart;
    label_roofs(roofline, group);
    for (size_t i = 0; i < chart->devices.count; i++)
        if (drawable(&chart->devices.items[i]))
            label_slope(roofline, group, &chart->devices.items[i]);
    for (size_t i = 0; i < chart->devices.count; i++) {
        const struct roofline_device *device = &chart->devices.items[i];
        for (size_t j = 0; j < device->roofs.count && drawable(device); j++)
            label_balance(roofline, group, device->roofs.items[j].peak / device->bandwidth);
    }
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
        const char *class, *text;
    } entries[] = {{SERIES_DECODE, "limit", "limit"}, {SERIES_PREFILL, NULL, "prefill"}, {SERIES_DECODE, NULL, "decode"}};
    struct svg *svg = roofline->svg;
    xmlNodePtr legend = svg_group(svg, svg->root, "legend");
    double x = roofline->x.to, y = roofline->y.to - 12;
    for (size_t i = 0; i < sizeof entries / sizeof *entries && roofline->marks.count; i++) {
        if (!entries[i].class && !has_phase(roofline, entries[i].phase))
            continue;
        x -= chart_text_width(entries[i].text, svg->size);
        svg_text(svg, legend, NULL, x, y, SVG_START, entries[i].text);
        const char *class = entries[i].class ? "point neutral" : arena_printf(svg->page->arena, "point %s",
                                                                              svg_kind_class(entries[i].phase));
        draw_shape(svg, svg_group(svg, legend, class), entries[i].phase, entries[i].class, x - 11,
                   y - svg->size * 0.35);
        x -= 30;
    }
}

static void draw_key(struct roofline *roofline)
{
    struct svg *svg = roofline->svg;
    if (!roofline->key.count)
        return;
    xmlNodePtr group = svg_group(svg, svg->root, "key");
    size_t columns = svg->narrow ? 1 : 3, rows = (roofline->key.count + columns - 1) / columns;
    double step = svg->width / (double)columns;
    for (size_t i = 0; i < roofline->key.count; i++) {
        const char *text = chart_fit(svg->page->arena, roofline->key.items[i].text, svg->size, step - 12);
        svg_text(svg, group, NULL, (double)(i / rows) * step + 4,
                 svg->height + (double)(i % rows + 1) * (svg->size + 5), SVG_START, text);
    }
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
    roofline.space = (struct chart_space){.arena = svg->page->arena,
                                          .bounds = {roofline.x.from + 2, top - 4, roofline.x.to - roofline.x.from,
                                                     bottom - top + 4}};
    svg->height = bottom + 2 * svg->size + 18;
    struct chart_ticks x_ticks = chart_log_ticks(svg->page->arena, roofline.x.low, roofline.x.high, 1, false,
                                                 svg->narrow ? 5 : 9);
    struct chart_ticks y_ticks = chart_log_ticks(svg->page->arena, roofline.y.low, roofline.y.high, 1, true, 8);
    svg_axes(svg, &roofline.x, &x_ticks, "FLOP per byte moved", &roofline.y, &y_ticks, "FLOP/s");
    for (size_t i = 0; i < chart->devices.count; i++)
        draw_device(&roofline, &chart->devices.items[i], i);
    collect_marks(&roofline);
    for (size_t i = 0; i < roofline.marks.count; i++)
        draw_mark(&roofline, &roofline.marks.items[i]);
    xmlNodePtr labels = svg_group(svg, svg->root, "labels");
    label_devices(&roofline, labels);
    label_points(&roofline, labels);
    draw_legend(&roofline);
    draw_key(&roofline);
}
