/* svg_roofline_label.c: names in the roofline: of roofs, slopes, balance points and scenarios, in this order,
 * each where it covers nothing; what finds no room is a number with its text in a key below the chart. */
#include "backend/svg_roofline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LABELS = 40 };

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

static void lead(struct roofline *roofline, double x, double y, struct chart_box box)
{
    double to_x = fmin(fmax(x, box.x), box.x + box.width), to_y = fmin(fmax(y, box.y), box.y + box.height);
    svg_line(roofline->svg, "lead", x, y, to_x, to_y);
}

/* A number at the place, and the text in the key below the chart. */
static void key_label(struct roofline *roofline, double x, double y, const char *text)
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
        lead(roofline, x, y, box);
    svg_label(svg, NULL, box, number);
    *VEC_PUSH(arena, roofline->key) = (struct keyed){arena_printf(arena, "%s  %s", number, text)};
}

static void label_point(struct roofline *roofline, const struct mark *mark, const char *text)
{
    struct svg *svg = roofline->svg;
    text = chart_fit(svg->page->arena, text, svg->size, svg->narrow ? 110 : 190);
    double width = chart_text_width(text, svg->size) + 4;
    struct chart_box box;
    bool led;
    if (!chart_place(&roofline->space, mark->x, mark->expected, width, svg->size + 2, 50, &box, &led)) {
        key_label(roofline, mark->x, mark->expected, text);
        return;
    }
    if (led)
        lead(roofline, mark->x, mark->expected, box);
    svg_label(svg, NULL, box, text);
}

static void label_points(struct roofline *roofline)
{
    const struct mark *marks = roofline->marks.items;
    bool one_scenario = true;
    for (size_t i = 1; i < roofline->marks.count; i++)
        one_scenario = one_scenario && strcmp(marks[i].names, marks[0].names) == 0;
    for (size_t i = 0; i < roofline->marks.count && i < MAX_LABELS; i++) {
        const char *phase =
            html_words(roofline->svg->page, marks[i].phase == SERIES_PREFILL ? M_PREFILL : M_DECODE);
        label_point(roofline, &marks[i], one_scenario ? phase : marks[i].names);
    }
}

/* At the right end of the roof, the highest above its line and the others below theirs where they can; else
 * farther left; else stacked beyond, with a line back. */
static void label_roof(struct roofline *roofline, const struct roof *roof, double bandwidth, bool highest)
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
            key_label(roofline, roofline->x.to - 12, y, roof->label);
            return;
        }
    }
    if (led)
        lead(roofline, box.x + box.width - 12, y, box);
    svg_text(svg, NULL, box.x + box.width - 2, box.y + height - 4, SVG_END, text);
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
static void label_slope(struct roofline *roofline, const struct roofline_device *device)
{
    struct svg *svg = roofline->svg;
    const char *text = chart_fit(svg->page->arena, device->label, svg->size, svg->narrow ? 140 : 240);
    double width = chart_text_width(text, svg->size) + 4, height = svg->size + 2;
    double low_x, low_y, peak = roofline_highest(device);
    roofline_slope_start(roofline, device->bandwidth, &low_x, &low_y);
    double x1 = chart_at(&roofline->x, low_x), y1 = chart_at(&roofline->y, low_y);
    double x2 = chart_at(&roofline->x, peak / device->bandwidth), y2 = chart_at(&roofline->y, peak);
    for (int side = 0; side < 2; side++) {
        for (int step = 0; step <= 24; step++) {
            double part = 0.8 - 0.03 * step, x = x1 + part * (x2 - x1), y = y1 + part * (y2 - y1);
            struct chart_box box = {side ? x + 8 : x - 6 - width, side ? y + 2 : y - height - 2, width,
                                    height};
            if (!chart_is_free(&roofline->space, box, true))
                continue;
            chart_take(&roofline->space, box);
            svg_label(svg, NULL, box, text);
            return;
        }
    }
    key_label(roofline, (x1 + x2) / 2, (y1 + y2) / 2, device->label);
}

/* Beside the foot of the line that falls from the balance point. */
static void label_balance(struct roofline *roofline, double balance)
{
    struct svg *svg = roofline->svg;
    double decimals = balance < 10 ? 10 : 1;
    const char *number = chart_number(svg->page->arena, round(balance * decimals) / decimals);
    const char *text = svg->narrow ? number : HTML_WORDS(svg->page, M_SVG_BALANCE, number);
    double width = chart_text_width(text, svg->size) + 6, height = svg->size + 2;
    double x = chart_at(&roofline->x, balance), y = roofline->y.from - height - 3;
    struct chart_box box;
    if (slide(roofline, x + 3, y, width, height, 0, -height, 5, &box) ||
        slide(roofline, x - 3 - width, y, width, height, 0, -height, 5, &box))
        svg_label(svg, "muted", box, text);
}

static bool drawable(const struct roofline_device *device)
{
    return device->bandwidth > 0 && roofline_highest(device) > 0;
}

/* Roofs from the top down; devices with the same roof share its label. */
static void label_roofs(struct roofline *roofline)
{
    struct arena *arena = roofline->svg->page->arena;
    VEC(struct named_roof) roofs = {0};
    for (size_t i = 0; i < roofline->chart->devices.count; i++) {
        const struct roofline_device *device = &roofline->chart->devices.items[i];
        for (size_t j = 0; j < device->roofs.count && drawable(device); j++)
            *VEC_PUSH(arena, roofs) =
                (struct named_roof){&device->roofs.items[j], device->bandwidth, roofs.count};
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
            label_roof(roofline, roof, roofs.items[i].bandwidth, i == 0);
    }
}

static void label_devices(struct roofline *roofline)
{
    const struct roofline_chart *chart = roofline->chart;
    label_roofs(roofline);
    for (size_t i = 0; i < chart->devices.count; i++)
        if (drawable(&chart->devices.items[i]))
            label_slope(roofline, &chart->devices.items[i]);
    for (size_t i = 0; i < chart->devices.count; i++) {
        const struct roofline_device *device = &chart->devices.items[i];
        for (size_t j = 0; j < device->roofs.count && drawable(device); j++)
            label_balance(roofline, device->roofs.items[j].peak / device->bandwidth);
    }
}

void roofline_label(struct roofline *roofline)
{
    svg_open(roofline->svg, "labels", NULL);
    label_devices(roofline);
    label_points(roofline);
    svg_close(roofline->svg);
}
