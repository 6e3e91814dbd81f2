/* svg.c: the few shapes that the charts are drawn with. */
#include "backend/svg.h"

#include <math.h>

#include "base/buffer.h"

const char *svg_number(struct svg *svg, double value)
{
    /* By hand: a page holds thousands of these, and printf would take as long as all the rest of them. */
    double tenths = fabs(value) < 1e6 ? round(value * 10) : 0; /* nothing is that far out of a drawing */
    unsigned long rest = (unsigned long)fabs(tenths);
    char text[16], *at = text + sizeof text;
    *--at = '\0';
    if (rest % 10) {
        *--at = (char)('0' + rest % 10);
        *--at = '.';
    }
    rest /= 10;
    do
        *--at = (char)('0' + rest % 10);
    while (rest /= 10);
    if (tenths < 0)
        *--at = '-';
    return arena_strdup(svg->page->arena, at);
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
    if (!svg->narrow) /* a telephone has no pointer that rests */
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

static void add_move(struct svg *svg, struct buffer *path, double x, double y, const char *direction,
                     double to)
{
    buffer_printf(path, "M%s,%s%s%s", svg_number(svg, x), svg_number(svg, y), direction, svg_number(svg, to));
}

/* The lines of a grid as three paths: through the plot, short ones at its edge, and the axes themselves. */
struct grid {
    struct buffer lines, minor;
};

static void draw_grid(struct svg *svg, const struct grid *grid, const struct chart_scale *x,
                      const struct chart_scale *y)
{
    xmlNodePtr group = svg_group(svg, svg->root, "grid");
    svg_path(svg, group, NULL, buffer_string(&grid->lines));
    if (grid->minor.length)
        svg_path(svg, group, "base", buffer_string(&grid->minor));
    struct buffer base = buffer_in(svg->page->arena);
    add_move(svg, &base, x->from, y->from, "H", x->to);
    if (y->log)
        add_move(svg, &base, x->from, y->from, "V", y->to);
    svg_path(svg, group, "base", buffer_string(&base));
}

static void label_x(struct svg *svg, const struct chart_scale *x, const struct chart_ticks *ticks,
                    double baseline, const char *title)
{
    xmlNodePtr group = svg_group(svg, svg->root, "axis middle");
    double free_from = -1e9; /* labels of a log axis may stand close to each other */
    for (size_t i = 0; i < ticks->items.count; i++) {
        const struct chart_tick *tick = &ticks->items.items[i];
        if (!tick->label)
            continue;
        double half = chart_text_width(tick->label, svg->size) / 2;
        /* The last one may reach past the plot, not the drawing. */
        double centre = fmin(chart_at(x, tick->value), svg->width - half);
        if (centre - half < free_from)
            continue;
        svg_text(svg, group, NULL, centre, baseline, SVG_START, tick->label);
        free_from = centre + half + 6;
    }
    svg_text(svg, svg_group(svg, svg->root, "axis end"), NULL, x->to, baseline + svg->size + 6, SVG_START,
             title);
}

void svg_axes(struct svg *svg, const struct chart_scale *x, const struct chart_ticks *x_ticks,
              const char *x_title, const struct chart_scale *y, const struct chart_ticks *y_ticks,
              const char *y_title)
{
    struct grid grid = {buffer_in(svg->page->arena), buffer_in(svg->page->arena)};
    for (size_t i = 0; i < x_ticks->items.count; i++) {
        const struct chart_tick *tick = &x_ticks->items.items[i];
        double at = chart_at(x, tick->value);
        add_move(svg, tick->label ? &grid.lines : &grid.minor, at, y->from, "V",
                 tick->label ? y->to : y->from + 4);
    }
    for (size_t i = 0; i < y_ticks->items.count; i++) {
        const struct chart_tick *tick = &y_ticks->items.items[i];
        double at = chart_at(y, tick->value);
        add_move(svg, tick->label ? &grid.lines : &grid.minor, x->from, at, "H",
                 tick->label ? x->to : x->from - 4);
    }
    draw_grid(svg, &grid, x, y);
    label_x(svg, x, x_ticks, y->from + svg->size + 6, x_title);
    xmlNodePtr labels = svg_group(svg, svg->root, "axis end");
    for (size_t i = 0; i < y_ticks->items.count; i++) {
        const struct chart_tick *tick = &y_ticks->items.items[i];
        if (tick->label)
            svg_text(svg, labels, NULL, x->from - 7, chart_at(y, tick->value) + svg->size * 0.35, SVG_START,
                     tick->label);
    }
    svg_text(svg, svg_group(svg, svg->root, "axis"), NULL, svg->narrow ? 0 : 2, y->to - 12, SVG_START,
             y_title);
}
