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
    xmlNodePtr root;
    bool narrow;
    double width;  /* of the drawing */
    double height; /* set by who draws */
    double size;   /* of ordinary text */
};

enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END };

xmlNodePtr svg_group(struct svg *svg, xmlNodePtr parent, const char *class);
xmlNodePtr svg_line(struct svg *svg, xmlNodePtr parent, const char *class, double x1, double y1, double x2,
                    double y2);
xmlNodePtr svg_box(struct svg *svg, xmlNodePtr parent, const char *class, struct chart_box box);
xmlNodePtr svg_circle(struct svg *svg, xmlNodePtr parent, const char *class, double x, double y,
                      double radius);
/* A square standing on its corner. */
xmlNodePtr svg_diamond(struct svg *svg, xmlNodePtr parent, const char *class, double x, double y,
                       double radius);
xmlNodePtr svg_path(struct svg *svg, xmlNodePtr parent, const char *class, const char *path);

/* Text whose baseline begins, is centred or ends at x. */
xmlNodePtr svg_text(struct svg *svg, xmlNodePtr parent, const char *class, double x, double baseline,
                    enum svg_anchor anchor, const char *text);

/* Text in the middle of a box that chart_place() found. */
xmlNodePtr svg_label(struct svg *svg, xmlNodePtr parent, const char *class, struct chart_box box,
                     const char *text);

/* What a pointer that rests on the node is told; wide drawings only. */
void svg_hint(struct svg *svg, xmlNodePtr node, const char *text);

/* A coordinate, to a tenth, for use within a path. */
const char *svg_number(struct svg *svg, double value);

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
