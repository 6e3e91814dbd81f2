/* svg.c: the few shapes that the charts are drawn with. */
#include "backend/svg.h"

#include <math.h>

void svg_number(struct buffer *out, double value)
{
    /* By hand: a page holds thousands of these, and printf would take as long as all the rest of them. */
    double tenths = fabs(value) < 1e6 ? round(value * 10) : 0; /* nothing is that far out of a drawing */
    unsigned long rest = (unsigned long)fabs(tenths);
    char text[16], *at = text + sizeof text;
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
    buffer_add(out, at, (size_t)(text + sizeof text - at));
}

void svg_step(struct buffer *path, char letter, double x, double y)
{
    svg_step_to(path, letter, x);
    buffer_byte(path, ',');
    svg_number(path, y);
}

void svg_step_to(struct buffer *path, char letter, double to)
{
    buffer_byte(path, letter);
    svg_number(path, to);
}

/* ---- shapes -------------------------------------------------------------------------------- */

static void set(struct svg *svg, const char *name, double value)
{
    struct buffer *out = svg->page->out;
    buffer_byte(out, ' ');
    buffer_text(out, name);
    buffer_add(out, "=\"", 2);
    svg_number(out, value);
    buffer_byte(out, '"');
}

static void end_shape(struct svg *svg, const char *hint)
{
    if (!hint || svg->narrow) { /* a telephone has no pointer that rests */
        html_empty(svg->page);
        return;
    }
    html_element(svg->page, "title", NULL, hint);
    html_close(svg->page);
}

void svg_open(struct svg *svg, const char *class, const char *hint)
{
    html_open(svg->page, "g", class);
    if (hint && !svg->narrow)
        html_element(svg->page, "title", NULL, hint);
}

void svg_close(struct svg *svg)
{
    html_close(svg->page);
}

void svg_line(struct svg *svg, const char *class, double x1, double y1, double x2, double y2)
{
    html_open(svg->page, "line", class);
    set(svg, "x1", x1);
    set(svg, "y1", y1);
    set(svg, "x2", x2);
    set(svg, "y2", y2);
    end_shape(svg, NULL);
}

void svg_box(struct svg *svg, const char *class, struct chart_box box, const char *hint)
{
    html_open(svg->page, "rect", class);
    set(svg, "x", box.x);
    set(svg, "y", box.y);
    set(svg, "width", box.width);
    set(svg, "height", box.height);
    end_shape(svg, hint);
}

void svg_circle(struct svg *svg, const char *class, double x, double y, double radius, const char *hint)
{
    html_open(svg->page, "circle", class);
    set(svg, "cx", x);
    set(svg, "cy", y);
    set(svg, "r", radius);
    end_shape(svg, hint);
}

void svg_path(struct svg *svg, const char *class, const char *path)
{
    html_open(svg->page, "path", class);
    html_set_plain(svg->page, "d", path);
    end_shape(svg, NULL);
}

void svg_diamond(struct svg *svg, const char *class, double x, double y, double radius)
{
    struct buffer path = buffer_in(svg->page->arena);
    svg_step(&path, 'M', x, y - radius);
    svg_step(&path, 'l', radius, radius);
    svg_step(&path, ' ', -radius, radius);
    svg_step(&path, ' ', -radius, -radius);
    buffer_byte(&path, 'z');
    svg_path(svg, class, buffer_string(&path));
}

void svg_text(struct svg *svg, const char *class, double x, double baseline, enum svg_anchor anchor,
              const char *text)
{
    html_open(svg->page, "text", class);
    set(svg, "x", x);
    set(svg, "y", baseline);
    if (anchor != SVG_START)
        html_set_plain(svg->page, "text-anchor", anchor == SVG_END ? "end" : "middle");
    html_text(svg->page, text);
    html_close(svg->page);
}

void svg_label(struct svg *svg, const char *class, struct chart_box box, const char *text)
{
    svg_text(svg, class, box.x + box.width / 2, box.y + box.height / 2 + svg->size * 0.35, SVG_MIDDLE, text);
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

/* ---- axes ---------------------------------------------------------------------------------- */

/* The lines of a grid as three paths: through the plot, short ones at its edge, and the axes themselves. */
struct grid {
    struct buffer lines, minor;
};

static void add_line(struct buffer *path, double x, double y, char direction, double to)
{
    svg_step(path, 'M', x, y);
    svg_step_to(path, direction, to);
}

static void draw_grid(struct svg *svg, const struct grid *grid, const struct chart_scale *x,
                      const struct chart_scale *y)
{
    svg_open(svg, "grid", NULL);
    svg_path(svg, NULL, buffer_string(&grid->lines));
    if (grid->minor.length)
        svg_path(svg, "base", buffer_string(&grid->minor));
    struct buffer base = buffer_in(svg->page->arena);
    add_line(&base, x->from, y->from, 'H', x->to);
    if (y->log)
        add_line(&base, x->from, y->from, 'V', y->to);
    svg_path(svg, "base", buffer_string(&base));
    svg_close(svg);
}

/* One text of an axis, anchored by the class of its group. */
static void draw_title(struct svg *svg, const char *class, double x, double baseline, const char *title)
{
    svg_open(svg, class, NULL);
    svg_text(svg, NULL, x, baseline, SVG_START, title);
    svg_close(svg);
}

static void label_x(struct svg *svg, const struct chart_scale *x, const struct chart_ticks *ticks,
                    double baseline, const char *title)
{
    svg_open(svg, "axis middle", NULL);
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
        svg_text(svg, NULL, centre, baseline, SVG_START, tick->label);
        free_from = centre + half + 6;
    }
    svg_close(svg);
    draw_title(svg, "axis end", x->to, baseline + svg->size + 6, title);
}

static void label_y(struct svg *svg, double right, const struct chart_scale *y,
                    const struct chart_ticks *ticks)
{
    svg_open(svg, "axis end", NULL);
    for (size_t i = 0; i < ticks->items.count; i++) {
        const struct chart_tick *tick = &ticks->items.items[i];
        if (tick->label)
            svg_text(svg, NULL, right, chart_at(y, tick->value) + svg->size * 0.35, SVG_START, tick->label);
    }
    svg_close(svg);
}

void svg_axes(struct svg *svg, const struct chart_scale *x, const struct chart_ticks *x_ticks,
              const char *x_title, const struct chart_scale *y, const struct chart_ticks *y_ticks,
              const char *y_title)
{
    struct grid grid = {buffer_in(svg->page->arena), buffer_in(svg->page->arena)};
    for (size_t i = 0; i < x_ticks->items.count; i++) {
        const struct chart_tick *tick = &x_ticks->items.items[i];
        double at = chart_at(x, tick->value);
        add_line(tick->label ? &grid.lines : &grid.minor, at, y->from, 'V',
                 tick->label ? y->to : y->from + 4);
    }
    for (size_t i = 0; i < y_ticks->items.count; i++) {
        const struct chart_tick *tick = &y_ticks->items.items[i];
        double at = chart_at(y, tick->value);
        add_line(tick->label ? &grid.lines : &grid.minor, x->from, at, 'H',
                 tick->label ? x->to : x->from - 4);
    }
    draw_grid(svg, &grid, x, y);
    label_x(svg, x, x_ticks, y->from + svg->size + 6, x_title);
    label_y(svg, x->from - 7, y, y_ticks);
    draw_title(svg, "axis", svg->narrow ? 0 : 2, y->to - 12, y_title);
}
