/* svg_tornado.c: a tornado: a bar for each input, to either side of what the result is now. Each input is
 * named above its bar together with what it says, so nothing needs room beside the bars. */
#include "backend/svg.h"

#include <math.h>

static const enum series_kind LESS = SERIES_OTHER, MORE = SERIES_DECODE;

struct tornado {
    struct svg *svg;
    const struct tornado_chart *chart;
    struct chart_scale x;
    double y;
};

static double axis_of(const struct tornado *tornado)
{
    return chart_at(&tornado->x, 0);
}

static void draw_side(struct tornado *tornado, double value, enum series_kind kind, double top, double height,
                      const char *text)
{
    if (value == 0 || text == NULL)
        return;
    double axis = axis_of(tornado), end = chart_at(&tornado->x, value);
    struct chart_box box = {fmin(axis, end), top, fmax(fabs(end - axis), 1), height};
    svg_box(tornado->svg, svg_kind_class(kind), box, text);
}

/* "a tenth less: 8.4 % more · a tenth more: 7.4 % less"; the colours say which is which where there is no
 * room. */
static const char *change_text(const struct tornado *tornado, const struct tornado_bar *bar, bool named)
{
    struct arena *arena = tornado->svg->page->arena;
    const char *more = named ? HTML_WORDS(tornado->svg->page, M_MESSAGE_AND_DETAIL,
                                          tornado->chart->more_label, bar->more_text)
                             : bar->more_text;
    if (bar->less_text == NULL)
        return more;
    return named ? arena_printf(arena, "%s \xC2\xB7 %s",
                                HTML_WORDS(tornado->svg->page, M_MESSAGE_AND_DETAIL,
                                           tornado->chart->less_label, bar->less_text),
                                more)
                 : arena_printf(arena, "%s \xC2\xB7 %s", bar->less_text, more);
}

static void draw_header(struct tornado *tornado, const struct tornado_bar *bar)
{
    struct svg *svg = tornado->svg;
    double size = svg->size, gap = 10;
    const double bold = 1.2;
    const char *label = chart_fit(svg->page->arena, bar->label, size * bold, svg->width);
    const char *change = change_text(tornado, bar, true);
    double width = chart_text_width(label, size * bold) + gap;
    if (width + chart_text_width(change, size) > svg->width)
        change = change_text(tornado, bar, false);
    bool beside = width + chart_text_width(change, size) <= svg->width;
    svg_text(svg, "name", 0, tornado->y + size, SVG_START, label);
    if (!beside)
        tornado->y += size + 5;
    svg_text(svg, "muted", beside ? width : 0, tornado->y + size, SVG_START,
             chart_fit(svg->page->arena, change, size, svg->width));
    tornado->y += size + 8;
}

static void draw_bar(struct tornado *tornado, const struct tornado_bar *bar)
{
    struct svg *svg = tornado->svg;
    svg_open(svg, "bar", NULL);
    draw_header(tornado, bar);
    /* Each in a lane of its own, as both may lie on the same side. */
    const double lane = 9;
    draw_side(tornado, bar->less, LESS, tornado->y, lane, bar->less_text);
    draw_side(tornado, bar->more, MORE, tornado->y + lane, lane, bar->more_text);
    svg_line(svg, "zero", axis_of(tornado), tornado->y - 3, axis_of(tornado), tornado->y + 2 * lane + 3);
    tornado->y += 2 * lane + 12;
    svg_close(svg);
}

static void draw_axis(struct tornado *tornado)
{
    struct svg *svg = tornado->svg;
    struct chart_ticks ticks = chart_linear_ticks(
        svg->page->arena, tornado->x.low, tornado->x.high,
        tornado->chart->unit_scale > 0 ? tornado->chart->unit_scale : 1, svg->narrow ? 4 : 8);
    svg_open(svg, "axis", NULL);
    svg_line(svg, "base", tornado->x.from, tornado->y, tornado->x.to, tornado->y);
    for (size_t i = 0; i < ticks.items.count; i++) {
        const struct chart_tick *tick = &ticks.items.items[i];
        const char *label = tick->label;
        if (label[0] == '-')
            label = arena_printf(svg->page->arena, "\xE2\x88\x92%s", label + 1);
        double at = chart_at(&tornado->x, tick->value), half = chart_text_width(label, svg->size) / 2;
        svg_line(svg, "base", at, tornado->y, at, tornado->y + 4);
        svg_text(svg, NULL, fmax(fmin(at, svg->width - half), half), tornado->y + svg->size + 6, SVG_MIDDLE,
                 label);
    }
    tornado->y += 2 * svg->size + 12;
    svg_text(svg, NULL, tornado->x.to, tornado->y, SVG_END,
             chart_fit(svg->page->arena, tornado->chart->unit, svg->size, svg->width));
    tornado->y += 6;
    svg_close(svg);
}

/* The two lanes by name, above all bars. */
static void draw_legend(struct tornado *tornado)
{
    struct svg *svg = tornado->svg;
    svg_open(svg, "legend", NULL);
    const double mark = 10, gap = 5;
    double x = 0;
    for (int side = 0; side < 2; side++) {
        const char *text = side == 0 ? tornado->chart->less_label : tornado->chart->more_label;
        svg_box(svg, svg_kind_class(side == 0 ? LESS : MORE),
                (struct chart_box){x, tornado->y + 3, mark, mark}, NULL);
        svg_text(svg, NULL, x + mark + gap, tornado->y + svg->size, SVG_START, text);
        x += mark + gap + chart_text_width(text, svg->size) + 16;
    }
    tornado->y += svg->size + 14;
    svg_close(svg);
}

void svg_tornado(struct svg *svg, const struct tornado_chart *chart)
{
    struct tornado tornado = {.svg = svg, .chart = chart, .y = 2};
    tornado.x = (struct chart_scale){.from = 1, .to = svg->width - 2};
    for (size_t i = 0; i < chart->bars.count; i++) {
        const struct tornado_bar *bar = &chart->bars.items[i];
        tornado.x.low = fmin(tornado.x.low, fmin(bar->less, bar->more));
        tornado.x.high = fmax(tornado.x.high, fmax(bar->less, bar->more));
    }
    if (!(tornado.x.high > tornado.x.low))
        tornado.x.high = chart->unit_scale > 0 ? chart->unit_scale : 1;
    draw_legend(&tornado);
    for (size_t i = 0; i < chart->bars.count; i++)
        draw_bar(&tornado, &chart->bars.items[i]);
    draw_axis(&tornado);
    svg->height = tornado.y;
}
