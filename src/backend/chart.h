/* chart.h: the geometry that charts share and no output format knows: scales, ticks, the width of text, and
 * labels placed so that none covers another. Lengths are in the chart's own units (one is about a pixel). */
#ifndef PERFC_BACKEND_CHART_H
#define PERFC_BACKEND_CHART_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"

/* ---- scales and ticks ---------------------------------------------------------------------- */

/* Maps values from `low` to `high` onto `from` to `to`; low < high, and 0 < low when `log`. */
struct chart_scale {
    double low, high;
    double from, to;
    bool log;
};

double chart_at(const struct chart_scale *scale, double value);

struct chart_tick {
    double value;
    const char *label; /* NULL: a minor tick */
};

struct chart_ticks {
    VEC(struct chart_tick) items;
};

/* Linear ticks at 1, 2 or 5 times a power of ten, at most about `count` of them; labels are of
 * value / unit, with thin spaces between thousands. */
struct chart_ticks chart_linear_ticks(struct arena *arena, double low, double high, double unit, int count);

/* Both ends are the same value, or differ by the rounding of a computation alone: no axis can show that. */
bool chart_is_point(double low, double high);

/* Decades with labels, and 2 to 5 between them: labelled where fewer than two decades are in range,
 * unlabelled over up to eight, left out beyond. Decade labels skip so that at most about `count` remain. With
 * `prefix`, labels are like "10 T"; without, like "1 000". */
struct chart_ticks chart_log_ticks(struct arena *arena, double low, double high, double unit, bool prefix,
                                   int count);

/* A plain number for an axis: "0", "0.25", "1 500". */
const char *chart_number(struct arena *arena, double value);

/* ---- text ---------------------------------------------------------------------------------- */

/* About the widest that common system fonts draw the text at `size`. */
double chart_text_width(const char *text, double size);

/* The clean text itself, or with its middle replaced by an ellipsis so that it is at most `width` wide. */
const char *chart_fit(struct arena *arena, const char *text, double size, double width);

/* ---- placement ----------------------------------------------------------------------------- */

struct chart_box {
    double x, y, width, height; /* x, y: left top */
};

struct chart_segment {
    double x1, y1, x2, y2;
};

/* What is already drawn: labels keep off boxes, and off segments where they can. */
struct chart_space {
    struct arena *arena;
    struct chart_box bounds;
    VEC(struct chart_box) boxes;
    VEC(struct chart_segment) segments;
};

void chart_take(struct chart_space *space, struct chart_box box);
void chart_cross(struct chart_space *space, double x1, double y1, double x2, double y2);

/* Whether the box lies within the bounds and covers nothing (with `strict`, not even a segment). */
bool chart_is_free(const struct chart_space *space, struct chart_box box, bool strict);

/* Finds room for a label of the given size around the point (x, y): beside, above and below it first, then
 * farther out. Takes the room, sets `*box`, and `*led` when it is so far that a leader line should be drawn.
 * Returns false when there is no room within `reach`. */
bool chart_place(struct chart_space *space, double x, double y, double width, double height, double reach,
                 struct chart_box *box, bool *led);

#endif
