/* chart.c: predicted against measured as SVG. */
#include "validate.h"

#include <math.h>
#include <string.h>

static const double SIZE = 560, LEFT = 60, TOP = 34, BOTTOM = 44;

/* Okabe and Ito's palette, told apart by colour-blind readers too. */
static const char *const colours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                      "#E69F00", "#56B4E9", "#000000"};
enum { COLOURS = sizeof colours / sizeof colours[0] };

static void line(struct buffer *out, double x1, double y1, double x2, double y2, const char *style)
{
    buffer_printf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1, x2, y2, style);
}

static void label(struct buffer *out, double x, double y, const char *anchor, const char *text)
{
    buffer_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, text);
}

static size_t colour_of(const char **known, size_t *count, const char *name)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp(known[i], name) == 0)
            return i;
    if (*count == COLOURS)
        return COLOURS - 1;
    known[*count] = name;
    return (*count)++;
}

void chart(struct arena *arena, struct buffer *out, const char *title, const char *unit,
           const struct points *points, int index)
{
    double least = 1e300, most = 0;
    for (size_t i = 0; i < points->list.count; i++) {
        least = fmin(least, points->list.items[i].measured);
        most = fmax(most, points->list.items[i].measured);
    }
    double low = floor(log10(least)), high = ceil(log10(most)), scale = SIZE / (high - low);
    const char *known[COLOURS];
    size_t count = 0;
    buffer_printf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" "
        "font-size=\"12\">\n<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
        LEFT + SIZE + 20, TOP + SIZE + BOTTOM, title);
    for (double decade = low; decade <= high; decade++) {
        double x = LEFT + (decade - low) * scale, y = TOP + SIZE - (decade - low) * scale;
        const char *text = arena_printf(arena, "%g", pow(10, decade));
        line(out, x, TOP, x, TOP + SIZE, "stroke=\"#ddd\"");
        line(out, LEFT, y, LEFT + SIZE, y, "stroke=\"#ddd\"");
        label(out, x, TOP + SIZE + 16, "middle", text);
        label(out, LEFT - 6, y + 4, "end", text);
    }
    double fifth = log10(1.2) * scale;
    line(out, LEFT, TOP + SIZE, LEFT + SIZE, TOP, "stroke=\"#555\"");
    line(out, LEFT + fifth, TOP + SIZE, LEFT + SIZE, TOP + fifth, "stroke=\"#999\" stroke-dasharray=\"4 3\"");
    line(out, LEFT, TOP + SIZE - fifth, LEFT + SIZE - fifth, TOP, "stroke=\"#999\" stroke-dasharray=\"4 3\"");
    for (size_t i = 0; i < points->list.count; i++) {
        const struct point *point = &points->list.items[i];
        double x = LEFT + (log10(point->measured) - low) * scale;
        double y = TOP + SIZE - (log10(point->predicted) - low) * scale;
        if (y < TOP || y > TOP + SIZE)
            continue;
        buffer_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2\" fill=\"%s\" fill-opacity=\"0.45\"/>\n", x,
                      y, colours[colour_of(known, &count, point->labels[index])]);
    }
    for (size_t i = 0; i < count; i++) {
        double y = TOP + 18 + 16 * (double)i;
        buffer_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>\n", LEFT + 14, y - 4,
                      colours[i]);
        label(out, LEFT + 24, y, "start", known[i]);
    }
    label(out, LEFT + SIZE / 2, TOP - 12, "middle", title);
    label(out, LEFT + SIZE / 2, TOP + SIZE + 34, "middle", arena_printf(arena, "measured, %s", unit));
    buffer_printf(
        out,
        "<text transform=\"translate(14 %.0f) rotate(-90)\" text-anchor=\"middle\">predicted, %s</text>\n",
        TOP + SIZE / 2, unit);
    buffer_text(out, "</svg>\n");
}
