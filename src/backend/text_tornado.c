/* text_tornado.c: a tornado drawn in characters: a line for each input, its bars to either side of an axis,
 * and what they say behind them. */
#include <math.h>
#include <string.h>

#include "backend/clean.h"
#include "backend/text_draw.h"
#include "base/arena.h"
#include "base/utf8.h"

enum { LABEL_WIDEST = 24, ROOM_LEAST = 12 };

static size_t columns_of(const char *text)
{
    return utf8_width(text, strlen(text));
}

static const char *bar_label(const struct text_writer *writer, const struct tornado_bar *bar)
{
    return clean_middle(writer->arena, text_clean(writer, bar->label), LABEL_WIDEST,
                        text_glyph(writer, GLYPH_ELLIPSIS));
}

/* "8.4 % more / 7.4 % less": with less of the input, then with more. */
static const char *change_text(const struct text_writer *writer, const struct tornado_bar *bar)
{
    const char *less = text_clean(writer, bar->less_text ? bar->less_text : "-");
    return arena_printf(writer->arena, "%s / %s", less, text_clean(writer, bar->more_text));
}

static void extend(double value, double *low, double *high)
{
    *low = fmin(*low, value);
    *high = fmax(*high, value);
}

/* From the axis to where the value rounds to; a bar that is not nothing is seen. */
static void draw_side(struct canvas *canvas, const struct text_writer *writer, double axis, double scale,
                      double value, enum series_kind kind)
{
    double cells = floor(fabs(value) * scale + 0.5);
    if (value != 0 && cells < 1)
        cells = 1;
    for (double i = 1; i <= cells; i++)
        canvas_set(canvas, value < 0 ? axis - i : axis + i, 0, series_fill(writer, kind),
                   series_colour(kind));
}

static void draw_bar(struct text_writer *writer, const struct tornado_bar *bar, size_t room, double low,
                     double high)
{
    struct canvas canvas = canvas_new(writer, room, 1);
    double scale = high > low ? ((double)room - 3) / (high - low) : 0, axis = 1 + floor(-low * scale + 0.5);
    /* The longer of two bars on one side first, so that the other stands in front of it. */
    bool more_first = fabs(bar->more) > fabs(bar->less);
    draw_side(&canvas, writer, axis, scale, more_first ? bar->more : bar->less,
              more_first ? SERIES_DECODE : SERIES_OTHER);
    draw_side(&canvas, writer, axis, scale, more_first ? bar->less : bar->more,
              more_first ? SERIES_OTHER : SERIES_DECODE);
    canvas_set(&canvas, axis, 0, text_glyph(writer, GLYPH_VERTICAL), NULL);
    /* Blanks up to the text behind it. */
    for (size_t i = 0; i < room; i++)
        if (canvas.cells[i] == NULL)
            canvas.cells[i] = " ";
    canvas_row(&canvas, 0);
}

void text_tornado(struct text_writer *writer, const struct tornado_chart *chart)
{
    double low = 0, high = 0;
    size_t label_width = 0, text_width = 0;
    for (size_t i = 0; i < chart->bars.count; i++) {
        const struct tornado_bar *bar = &chart->bars.items[i];
        size_t label = columns_of(bar_label(writer, bar)), text = columns_of(change_text(writer, bar));
        label_width = label > label_width ? label : label_width;
        text_width = text > text_width ? text : text_width;
        extend(bar->less, &low, &high);
        extend(bar->more, &low, &high);
    }
    size_t taken = label_width + text_width + 4;
    bool below = writer->width < taken + ROOM_LEAST; /* no room beside each other */
    size_t room =
        below ? writer->width > label_width + 2 + ROOM_LEAST ? writer->width - label_width - 2 : ROOM_LEAST
              : writer->width - taken;
    for (size_t i = 0; i < chart->bars.count; i++) {
        const struct tornado_bar *bar = &chart->bars.items[i];
        const char *label = bar_label(writer, bar);
        text_tone(writer, TONE_NAME, label);
        text_spaces(writer, label_width + 2 - columns_of(label));
        draw_bar(writer, bar, room, low, high);
        if (below)
            text_newline(writer);
        text_spaces(writer, 2);
        text_tone(writer, TONE_PLAIN, change_text(writer, bar));
        text_newline(writer);
    }
    const struct key_item key[] = {{series_fill(writer, SERIES_OTHER), series_colour(SERIES_OTHER),
                                    text_clean(writer, chart->less_label)},
                                   {series_fill(writer, SERIES_DECODE), series_colour(SERIES_DECODE),
                                    text_clean(writer, chart->more_label)}};
    if (chart->bars.count > 0)
        text_key(writer, key, sizeof key / sizeof key[0], label_width + 2);
}
