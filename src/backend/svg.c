/* svg.c: the few shapes that the charts are drawn with. */
#include "backend/svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *svg_number(struct svg *svg, double value)
{
    double tenths = fabs(value) < 1e6 ? round(value * 10) : 0; /* nothing is that far out of a drawing */
    long whole = (long)tenths;
    if (whole % 10 == 0)
        return arena_printf(svg->page->arena, "%ld", whole / 10);
    return arena_printf(svg->page->arena, "%s%ld.%ld", whole < 0 ? "-" : "", labs(whole) / 10,
                        labs(whole) % 10);
}

static void set(struct svg *svg, xmlNodePtr node, const char *name, double value)
{
    html_set(svg->page, node, name, svg_number(svg, value));
}

static xmlNodePtr shape(struct svg *svg, xmlNodePtr parent, const char *name, const char *class)
{
    return html_add_text(svg->page, parent, name, class, NULL);
}

xmlNodePtr svg_group(struct svg *svg, xmlNodePtr parent, const char *class)
{
    return shape(svg, parent, "g", class);
}

xmlNodePtr svg_line(struct svg *svg, xmlNodePtr parent, const char *class, double x1, double y1, double x2,
                    double y2)
{
    xmlNodePtr node = shape(svg, parent, "line", class);
    set(svg, node, "x1", x1);
    set(svg, node, "y1", y1);
    set(svg, node, "x2", x2);
    set(svg, node, "y2", y2);
    return node;
}

xmlNodePtr svg_box(struct svg *svg, xmlNodePtr parent, const char *class, struct chart_box box)
{
    xmlNodePtr node = shape(svg, parent, "rect", class);
    set(svg, node, "x", box.x);
    set(svg, node, "y", box.y);
    set(svg, node, "width", box.width);
    set(svg, node, "height", box.height);
    return node;
}

xmlNodePtr svg_circle(struct svg *svg, xmlNodePtr parent, const char *class, double x, double y,
                      double radius)
{
    xmlNodePtr node = shape(svg, parent, "circle", class);
    set(svg, node, "cx", x);
    set(svg, node, "cy", y);
    set(svg, node, "r", radius);
    return node;
}

xmlNodePtr svg_path(struct svg *svg, xmlNodePtr parent, const char *class, const char *path)
{
    xmlNodePtr node = shape(svg, parent, "path", class);
    html_set(svg->page, node, "d", path);
    return node;
}

xmlNodePtr svg_diamond(struct svg *svg, xmlNodePtr parent, const char *class, double x, double y,
                       double radius)
{
    const char *r = svg_number(svg, radius), *back = svg_number(svg, -radius);
    return svg_path(svg, parent, class,
                    arena_printf(svg->page->arena, "M%s,%sl%s,%s %s,%s %s,%sz", svg_number(svg, x),
                                 svg_number(svg, y - radius), r, r, back, r, back, back));
}

xmlNodePtr svg_text(struct svg *svg, xmlNodePtr parent, const char *class, double x, double baseline,
                    enum svg_anchor anchor, const char *text)
{
    xmlNodePtr node = shape(svg, parent, "text", class);
    set(svg, node, "x", x);
    set(svg, node, "y", baseline);
    if (anchor != SVG_START)
        html_set(svg->page, node, "text-anchor", anchor == SVG_END ? "end" : "middle");
    html_text(svg->page, node, text);
    return node;
}

xmlNodePtr svg_label(struct svg *svg, xmlNodePtr parent, const char *class, struct chart_box box,
                     const char *text)
{
    return svg_text(svg, parent, class, box.x + box.width / 2, box.y + box.height / 2 + svg->size * 0.35,
                    SVG_MIDDLE, text);
}

void svg_hint(struct svg *svg, xmlNodePtr node, const char *text)
{
    html_add_text(svg->page, node, "title", NULL, text);
}

const char *svg_kind_class(enum series_kind kind)
{
    static const char *const classes[SERIES_KIND_COUNT] = {
        [SERIES_WEIGHTS] = "s-weights",     [SERIES_KV] = "s-kv",
        [SERIES_COMPUTE] = "s-compute",     [SERIES_COMMUNICATION] = "s-communication",
        [SERIES_FIXED] = "s-fixed",         [SERIES_ACTIVATIONS] = "s-activations",
        [SERIES_OVERHEAD] = "s-overhead",   [SERIES_FREE] = "s-free",
        [SERIES_SHORTFALL] = "s-shortfall", [SERIES_DECODE] = "s-decode",
        [SERIES_PREFILL] = "s-prefill",     [SERIES_OTHER] = "s-other",
    };
    return (size_t)kind < SERIES_KIND_COUNT ? classes[kind] : "s-other";
}

void svg_axes(struct svg *svg, const struct chart_scale *x, const struct chart_ticks *x_ticks,
              const char *x_title, const struct chart_scale *y, const struct chart_ticks *y_ticks,
              const char *y_title)
{
    xmlNodePtr grid = svg_group(svg, svg->root, "grid");
    xmlNodePtr labels = svg_group(svg, svg->root, "axis");
    double free_from = -1e9; /* x labels of a log axis may stand close to each other */
    for (size_t i = 0; i < x_ticks->items.count; i++) {
        const struct chart_tick *tick = &x_ticks->items.items[i];
        double at = chart_at(x, tick->value);
        if (!tick->label) {
            svg_line(svg, grid, "minor", at, y->from, at, y->from + 4);
            continue;
        }
        double half = chart_text_width(tick->label, svg->size) / 2;
        svg_line(svg, grid, NULL, at, y->from, at, y->to);
        double centre =
            fmin(at, svg->width - half); /* the last one may reach past the plot, not the drawing */
        if (centre - half < free_from)
            continue;
        svg_text(svg, labels, NULL, centre, y->from + svg->size + 6, SVG_MIDDLE, tick->label);
        free_from = centre + half + 6;
    }
    for (size_t i = 0; i < y_ticks->items.count; i++) {
        const struct chart_tick *tick = &y_ticks->items.items[i];
        double at = chart_at(y, tick->value);
        if (!tick->label) {
            svg_line(svg, grid, "minor", x->from - 4, at, x->from, at);
            continue;
        }
        svg_line(svg, grid, NULL, x->from, at, x->to, at);
        svg_text(svg, labels, NULL, x->from - 7, at + svg->size * 0.35, SVG_END, tick->label);
    }
    svg_line(svg, grid, "base", x->from, y->from, x->to, y->from);
    if (y->log)
        svg_line(svg, grid, "base", x->from, y->from, x->from, y->to);
    svg_text(svg, labels, NULL, x->to, y->from + 2 * svg->size + 12, SVG_END, x_title);
    svg_text(svg, labels, NULL, svg->narrow ? 0 : 2, y->to - 12, SVG_START, y_title);
}
