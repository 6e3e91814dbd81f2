/* text_chart.c: stacked bars and lines drawn in characters. */
#include <math.h>
#include <string.h>

#include "backend/chart.h"
#include "backend/clean.h"
#include "backend/text_draw.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/utf8.h"

enum {
    LABEL_WIDEST = 24,
    PLOT_ROWS = 15,
    Y_LABEL = 8, /* columns left of the axis of a line chart */
    LETTERS = 26,
};

/* ---- bars */

static double bar_sum(const struct bar *bar)
{
    double sum = 0;
    for (size_t i = 0; i < bar->parts.count; i++)
        sum += bar->parts.items[i].value;
    return sum;
}

static const char *bar_label(const struct text_writer *writer, const struct bar *bar)
{
    return clean_middle(writer->arena, text_clean(writer, bar->label), LABEL_WIDEST,
                        text_glyph(writer, GLYPH_ELLIPSIS));
}

/* Each part ends where the sum so far rounds to, so that rounding never adds up. */
static void draw_bar(struct text_writer *writer, const struct bar *bar, size_t room, double full)
{
    struct canvas canvas = canvas_new(writer, room, 1);
    double sum = 0, scale = full > 0 ? (double)(room - 1) / full : 0;
    size_t column = 0;
    for (size_t i = 0; i < bar->parts.count; i++) {
        const struct bar_part *part = &bar->parts.items[i];
        sum += part->value;
        for (; column < room && (double)column + 0.5 <= sum * scale; column++)
            canvas_set(&canvas, (double)column, 0, series_fill(writer, part->kind),
                       series_colour(part->kind));
    }
    if (bar->limit > 0)
        canvas_set(&canvas, bar->limit * scale, 0, text_glyph(writer, GLYPH_VERTICAL), "1");
    canvas_row(&canvas, 0);
    text_newline(writer);
}

static void draw_bar_key(struct text_writer *writer, const struct bar *bar, size_t indent)
{
    struct key_item *items = ARENA_ARRAY(writer->arena, struct key_item, bar->parts.count + 2);
    size_t count = 0;
    if (bar->total_text)
        items[count++] =
            (struct key_item){text_words(writer, M_PART_TOTAL), NULL, text_clean(writer, bar->total_text)};
    for (size_t i = 0; i < bar->parts.count; i++) {
        const struct bar_part *part = &bar->parts.items[i];
        const char *label = text_clean(writer, part->label), *text = text_clean(writer, part->text);
        items[count++] = (struct key_item){series_fill(writer, part->kind), series_colour(part->kind),
                                           arena_printf(writer->arena, "%s %s", label, text)};
    }
    if (bar->limit_text)
        items[count++] =
            (struct key_item){text_glyph(writer, GLYPH_VERTICAL), "1", text_clean(writer, bar->limit_text)};
    if (count > 0)
        text_key(writer, items, count, indent);
}

void text_bars(struct text_writer *writer, const struct bar_chart *chart)
{
    double full = 0;
    size_t label_width = 0;
    for (size_t i = 0; i < chart->bars.count; i++) {
        const struct bar *bar = &chart->bars.items[i];
        const char *label = bar_label(writer, bar);
        size_t width = utf8_width(label, strlen(label));
        label_width = width > label_width ? width : label_width;
        full = fmax(full, fmax(bar_sum(bar), bar->limit));
    }
    size_t indent = label_width + 2;
    size_t room = writer->width > indent + 10 ? writer->width - indent : 10;
    for (size_t i = 0; i < chart->bars.count; i++) {
        const struct bar *bar = &chart->bars.items[i];
        const char *label = bar_label(writer, bar);
        text_tone(writer, TONE_NAME, label);
        text_spaces(writer, bar->parts.count > 0 ? indent - utf8_width(label, strlen(label)) : 0);
        draw_bar(writer, bar, room, full);
        draw_bar_key(writer, bar, indent);
    }
}

/* ---- lines */

struct plot {
    struct text_writer *writer;
    const struct line_chart *chart;
    struct canvas canvas;
    double x_low, x_high; /* logarithms when the axis is logarithmic */
    double y_high, y_step;
};

static double x_value(const struct plot *plot, double x)
{
    return plot->chart->x_log ? log10(x > 0 ? x : 1e-30) : x;
}

static double x_column(const struct plot *plot, double x)
{
    double span = plot->x_high - plot->x_low;
    double share = span > 0 ? (x_value(plot, x) - plot->x_low) / span : 0.5;
    return share * (double)(plot->canvas.columns - 1);
}

/* Never far below the axis, so that a line to a negative value ends. */
static double y_row(const struct plot *plot, double y)
{
    double rows = (double)plot->canvas.rows;
    return fmin((1 - y / plot->y_high) * (rows - 1), rows);
}

/* The next of 1, 2, 5, 10, ... at or above `value`. */
static double round_step(double value)
{
    if (!(value > 0))
        return 1;
    double decade = pow(10, floor(log10(value)));
    static const double steps[] = {1, 2, 5, 10};
    for (size_t i = 0; i < 4; i++)
        if (steps[i] * decade >= value * (1 - 1e-9))
            return steps[i] * decade;
    return 10 * decade;
}

static void measure_plot(struct plot *plot)
{
    bool any = false;
    double top = 0;
    for (size_t s = 0; s < plot->chart->series.count; s++) {
        const struct line_series *series = &plot->chart->series.items[s];
        for (size_t i = 0; i < series->points.count; i++) {
            const struct line_point *point = &series->points.items[i];
            double x = x_value(plot, point->x);
            plot->x_low = any ? fmin(plot->x_low, x) : x;
            plot->x_high = any ? fmax(plot->x_high, x) : x;
            any = true;
            if (point->valid)
                top = fmax(top, point->y);
        }
    }
    if (chart_is_point(plot->x_low, plot->x_high)) { /* in the middle, with room on either side */
        double aside = plot->chart->x_log ? 0.3 : fmax(fabs(plot->x_high) / 2, plot->chart->x_scale);
        plot->x_low -= aside;
        plot->x_high += aside;
    }
    double scale = plot->chart->y_scale > 0 ? plot->chart->y_scale : 1;
    plot->y_step = scale * round_step(top / scale / 5); /* round in the unit that the axis shows */
    plot->y_high = plot->y_step * fmax(1, ceil(top / plot->y_step - 1e-9));
}

/* A point's letter: capital where it fits the memory, small where it does not; measured ones have none. */
static const char *point_letter(const struct plot *plot, size_t series, bool fits)
{
    enum line_style style = plot->chart->series.items[series].style;
    if (style == LINE_MEASURED)
        return plot->writer->unicode ? "\xE2\x97\x8B" : "o";
    if (style == LINE_FRONT)
        return plot->writer->unicode ? "\xC2\xB7" : ".";
    return arena_printf(plot->writer->arena, "%c", (fits ? 'A' : 'a') + (int)(series % LETTERS));
}

static const char *const series_colours[] = {"34", "33", "32", "35", "36", "31"};

static void draw_segment(struct plot *plot, const struct line_point *from, const struct line_point *to)
{
    double x0 = x_column(plot, from->x), x1 = x_column(plot, to->x);
    double y0 = y_row(plot, from->y), y1 = y_row(plot, to->y);
    const char *dot = plot->writer->unicode ? "·" : ".";
    double steps = ceil(fmax(fabs(x1 - x0), fabs(y1 - y0)));
    for (double i = 1; i < steps; i++)
        canvas_set(&plot->canvas, x0 + (x1 - x0) * i / steps, y0 + (y1 - y0) * i / steps, dot, "2");
}

static void draw_series(struct plot *plot, size_t number)
{
    const struct line_series *series = &plot->chart->series.items[number];
    bool joined = series->style == LINE_JOINED || series->style == LINE_FRONT;
    for (size_t i = 1; joined && i < series->points.count; i++)
        if (series->points.items[i - 1].valid && series->points.items[i].valid)
            draw_segment(plot, &series->points.items[i - 1], &series->points.items[i]);
}

static void mark_series(struct plot *plot, size_t number)
{
    const struct line_series *series = &plot->chart->series.items[number];
    const char *colour = series_colours[number % (sizeof series_colours / sizeof series_colours[0])];
    for (size_t i = 0; i < series->points.count && series->style != LINE_FRONT; i++) {
        const struct line_point *point = &series->points.items[i];
        if (point->valid)
            canvas_set(&plot->canvas, x_column(plot, point->x), y_row(plot, point->y),
                       point_letter(plot, number, point->fits), colour);
    }
}

static void draw_vertical(struct plot *plot, double x, enum glyph glyph, const char *colour)
{
    for (size_t row = 0; x > 0 && row < plot->canvas.rows; row++)
        canvas_set(&plot->canvas, x_column(plot, x), (double)row, text_glyph(plot->writer, glyph), colour);
}

static void write_plot(struct plot *plot)
{
    struct text_writer *writer = plot->writer;
    const char **labels = ARENA_ARRAY(writer->arena, const char *, plot->canvas.rows);
    double ticks = floor(plot->y_high / plot->y_step + 0.5);
    for (double i = 0; i <= ticks; i++) {
        double row = floor(y_row(plot, i * plot->y_step) + 0.5);
        labels[(size_t)row] = axis_number(writer->arena, i * plot->y_step / plot->chart->y_scale);
    }
    canvas_rows_with_labels(&plot->canvas, (const char *const *)labels, Y_LABEL);
}

/* Where the axis has labels: at the values of the first series, or at round numbers. */
static struct chart_ticks x_ticks(const struct plot *plot)
{
    struct arena *arena = plot->writer->arena;
    const struct line_chart *chart = plot->chart;
    const struct line_series *series = &chart->series.items[0];
    struct chart_ticks ticks = {0};
    if (chart->x_round && chart->x_log)
        return chart_log_ticks(arena, pow(10, plot->x_low), pow(10, plot->x_high), chart->x_scale, false, 6);
    if (chart->x_round)
        return chart_linear_ticks(arena, plot->x_low, plot->x_high, chart->x_scale, 6);
    for (size_t i = 0; i < series->points.count; i++) {
        double x = series->points.items[i].x;
        *VEC_PUSH(arena, ticks.items) = (struct chart_tick){x, axis_number(arena, x / chart->x_scale)};
    }
    return ticks;
}

/* The ticks stand under the axis, as many as have room. */
static void write_x_axis(struct plot *plot)
{
    struct text_axis axis = axis_new(plot->writer, plot->canvas.columns);
    struct chart_ticks ticks = x_ticks(plot);
    for (size_t i = 0; i < ticks.items.count; i++) {
        double column = x_column(plot, ticks.items.items[i].value);
        const char *label = ticks.items.items[i].label;
        if (label && axis_label(&axis, column, label))
            axis_tick(&axis, column);
    }
    axis_write(&axis, Y_LABEL);
}

static void write_plot_key(struct plot *plot)
{
    const struct line_chart *chart = plot->chart;
    struct text_writer *writer = plot->writer;
    struct key_item *items = ARENA_ARRAY(writer->arena, struct key_item, chart->series.count + 3);
    size_t count = 0;
    bool spills = false;
    for (size_t s = 0; s < chart->series.count; s++) {
        const struct line_series *series = &chart->series.items[s];
        items[count++] =
            (struct key_item){point_letter(plot, s, true),
                              series_colours[s % (sizeof series_colours / sizeof series_colours[0])],
                              text_clean(writer, series->label)};
        for (size_t i = 0; i < series->points.count; i++)
            spills |= series->points.items[i].valid && !series->points.items[i].fits;
    }
    if (spills)
        items[count++] = (struct key_item){"a", NULL, text_words(writer, M_SMALL_LETTER)};
    if (chart->x_limit > 0 && chart->x_limit_text)
        items[count++] = (struct key_item){text_glyph(writer, GLYPH_DASH_VERTICAL), "31",
                                           text_clean(writer, chart->x_limit_text)};
    if (chart->x_knee > 0 && chart->x_knee_text)
        items[count++] = (struct key_item){text_glyph(writer, GLYPH_VERTICAL), "2",
                                           text_clean(writer, chart->x_knee_text)};
    text_key(writer, items, count, Y_LABEL + 2);
}

void text_lines(struct text_writer *writer, const struct line_chart *chart)
{
    if (chart->series.count == 0 || chart->series.items[0].points.count == 0)
        return;
    size_t margin = Y_LABEL + 2;
    struct plot plot = {.writer = writer, .chart = chart};
    plot.canvas = canvas_new(writer, writer->width > margin + 10 ? writer->width - margin : 10, PLOT_ROWS);
    measure_plot(&plot);
    struct styled title = styled_text(writer, TONE_MUTED, chart->y_title);
    text_wrapped(writer, &title, "", 0);
    draw_vertical(&plot, chart->x_knee, GLYPH_VERTICAL, "2");
    draw_vertical(&plot, chart->x_limit, GLYPH_DASH_VERTICAL, "31");
    for (size_t s = 0; s < chart->series.count; s++)
        draw_series(&plot, s);
    for (size_t s = 0; s < chart->series.count; s++)
        mark_series(&plot, s);
    write_plot(&plot);
    write_x_axis(&plot);
    title = styled_text(writer, TONE_MUTED, chart->x_title);
    text_wrapped(writer, &title, arena_printf(writer->arena, "%*s", (int)margin, ""), margin);
    write_plot_key(&plot);
}
