/* svg.h: drawing into an inline SVG element of the HTML page. Private to svg*.c and html_chart.c.
 *
 * Every chart is laid out twice, wide and narrow, so that its text stays readable on a telephone; the style
 * sheet shows one of them. */
#ifndef PERFC_BACKEND_SVG_H
#define PERFC_BACKEND_SVG_H

#include "backend/chart.h"
#include "backend/html_page.h"

struct svg {
    struct html_page *page;
    bool narrow;
    double width;  /* of the drawing */
    double height; /* set by who draws */
    double size;   /* of ordinary text */
};

enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END };

/* A group, until svg_close(). A `hint` is what a pointer that rests on a shape is told (NULL: nothing);
 * only wide drawings have them. */
void svg_open(struct svg *svg, const char *class, const char *hint);
void svg_close(struct svg *svg);

void svg_line(struct svg *svg, const char *class, double x1, double y1, double x2, double y2);
void svg_box(struct svg *svg, const char *class, struct chart_box box, const char *hint);
void svg_circle(struct svg *svg, const char *class, double x, double y, double radius, const char *hint);
/* A square standing on its corner. */
void svg_diamond(struct svg *svg, const char *class, double x, double y, double radius);
void svg_path(struct svg *svg, const char *class, const char *path);

/* Text whose baseline begins, is centred or ends at x. */
void svg_text(struct svg *svg, const char *class, double x, double baseline, enum svg_anchor anchor,
              const char *text);

/* Text in the middle of a box that chart_place() found. */
void svg_label(struct svg *svg, const char *class, struct chart_box box, const char *text);

/* A coordinate, to a tenth. */
void svg_number(struct buffer *out, double value);

/* One step of a path: its letter, and the numbers that follow it. */
void svg_step(struct buffer *path, char letter, double x, double y);
void svg_step_to(struct buffer *path, char letter, double to);

/* The class of a kind: "s-weights". */
const char *svg_kind_class(enum series_kind kind);

/* Axes with a grid: ticks of both scales, titles; the plot's frame is the scales' own range. */
void svg_axes(struct svg *svg, const struct chart_scale *x, const struct chart_ticks *x_ticks,
              const char *x_title, const struct chart_scale *y, const struct chart_ticks *y_ticks,
              const char *y_title);

void svg_roofline(struct svg *svg, const struct roofline_chart *chart);
void svg_bars(struct svg *svg, const struct bar_chart *chart);
void svg_lines(struct svg *svg, const struct line_chart *chart);
void svg_tornado(struct svg *svg, const struct tornado_chart *chart);

#endif
