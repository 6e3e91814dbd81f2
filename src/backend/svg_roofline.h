/* svg_roofline.h: what the two files that draw the roofline share. */
#ifndef PERFC_BACKEND_SVG_ROOFLINE_H
#define PERFC_BACKEND_SVG_ROOFLINE_H

#include "backend/svg.h"

/* Points that fall on the same spot are one mark with several names. */
struct mark {
    enum series_kind phase;
    double x, limit, expected; /* expected == limit where there is none */
    bool has_expected;
    size_t first, count; /* the first point in chart order, and how many are here */
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
    size_t left_out; /* marks beyond those that are drawn */
};

/* The highest peak of the device's roofs; 0 when it has none. */
double roofline_highest(const struct roofline_device *device);

/* Where the slope of a device enters the plot: at its left edge, or at its bottom. */
void roofline_slope_start(const struct roofline *roofline, double bandwidth, double *x, double *y);

/* Names everything that is drawn. */
void roofline_label(struct roofline *roofline);

#endif
