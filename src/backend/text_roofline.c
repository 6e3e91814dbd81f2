/* text_roofline.c: the roofline drawn in characters: FLOP/s over FLOP/B on log-log axes, the bandwidth slope
 * and compute roofs of each device, and the numbered points of each scenario with a key below. */
#include <math.h>
#include <string.h>

#include "backend/clean.h"
#include "backend/text_draw.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/utf8.h"

enum {
    PLOT_ROWS = 18,
    Y_LABEL = 6,      /* columns left of the axis */
    POINTS_MOST = 99, /* more would only cover each other */
    LETTERS = 26,
    FEW_DECADES = 3, /* an axis shorter than this has ticks at 2 and 5 */
};

/* Decades left free at each side. */
static const double MARGIN = 0.3;

struct roofline_plot {
    struct text_writer *writer;
    const struct roofline_chart *chart;
    struct canvas canvas;
    double x_low, x_high, y_low, y_high; /* decimal logarithms */
    size_t points;                       /* drawn */
};

static const char *const device_colours[] = {"34", "33", "32", "35", "36", "31"};

static const char *device_colour(size_t device)
{
    return device_colours[device % (sizeof device_colours / sizeof device_colours[0])];
}

static const char *device_letter(const struct roofline_plot *plot, size_t device)
{
    return arena_printf(plot->writer->arena, "%c", 'A' + (int)(device % LETTERS));
}

static double highest_roof(const struct roofline_device *device)
{
    double peak = 0;
    for (size_t i = 0; i < device->roofs.count; i++)
        peak = fmax(peak, device->roofs.items[i].peak);
    return peak;
}

/* ---- scale: everything that is drawn, with a factor of two around it */

static void widen(double *low, double *high, double value)
{
    if (!(value > 1e-290 && value < 1e290)) /* beyond these the powers of ten end */
        return;
    *low = fmin(*low, value);
    *high = fmax(*high, value);
}

static void measure(struct roofline_plot *plot)
{
    double x_low = HUGE_VAL, x_high = 0, y_low = HUGE_VAL, y_high = 0;
    for (size_t d = 0; d < plot->chart->devices.count; d++) {
        const struct roofline_device *device = &plot->chart->devices.items[d];
        for (size_t r = 0; r < device->roofs.count; r++) {
            double peak = device->roofs.items[r].peak;
            if (device->bandwidth > 0)
                widen(&x_low, &x_high, peak / device->bandwidth);
            widen(&y_low, &y_high, peak);
        }
    }
    for (size_t i = 0; i < plot->points; i++) {
        const struct roofline_point *point = &plot->chart->points.items[i];
        widen(&x_low, &x_high, point->intensity);
        widen(&y_low, &y_high, point->ceiling);
        widen(&y_low, &y_high, point->expected);
    }
    if (!(x_high > 0 && y_high > 0))
        x_low = x_high = y_low = y_high = 1;
    plot->x_low = log10(x_low) - MARGIN;
    plot->x_high = log10(x_high) + MARGIN;
    plot->y_low = log10(y_low) - MARGIN;
    plot->y_high = log10(y_high) + MARGIN;
}

static double column_of(const struct roofline_plot *plot, double x)
{
    return (log10(x) - plot->x_low) / (plot->x_high - plot->x_low) * (double)(plot->canvas.columns - 1);
}

static double row_of(const struct roofline_plot *plot, double y)
{
    return (plot->y_high - log10(y)) / (plot->y_high - plot->y_low) * (double)(plot->canvas.rows - 1);
}

static double x_at(const struct roofline_plot *plot, size_t column)
{
    double share = (double)column / (double)(plot->canvas.columns - 1);
    return pow(10, plot->x_low + share * (plot->x_high - plot->x_low));
}

/* ---- drawing */

/* A row has room for three heights, so that a flat slope shows as .-'.-' and not as steps. */
static void draw_slope(struct roofline_plot *plot, size_t number)
{
    const struct roofline_device *device = &plot->chart->devices.items[number];
    double roof = highest_roof(device);
    for (size_t column = 0; column < plot->canvas.columns; column++) {
        double y = x_at(plot, column) * device->bandwidth;
        if (!(y > 0) || y > roof)
            continue;
        double row = row_of(plot, y), rest = row - floor(row + 0.5); /* -0.5 (high) to 0.5 (low) */
        enum glyph glyph = rest < -1.0 / 6  ? GLYPH_LINE_HIGH
                           : rest > 1.0 / 6 ? GLYPH_LINE_LOW
                                            : GLYPH_LINE_MIDDLE;
        canvas_set(&plot->canvas, (double)column, row, text_glyph(plot->writer, glyph),
                   device_colour(number));
    }
}

static void draw_roofs(struct roofline_plot *plot, size_t number)
{
    const struct roofline_device *device = &plot->chart->devices.items[number];
    for (size_t r = 0; r < device->roofs.count; r++) {
        double peak = device->roofs.items[r].peak;
        if (!(peak > 0 && device->bandwidth > 0))
            continue;
        double from = fmax(0, column_of(plot, peak / device->bandwidth));
        for (double column = from; column < (double)plot->canvas.columns; column++)
            canvas_set(&plot->canvas, column, row_of(plot, peak), text_glyph(plot->writer, GLYPH_ROOF),
                       device_colour(number));
    }
}

/* The letter of a device stands where its slope enters the picture. */
static void name_slope(struct roofline_plot *plot, size_t number)
{
    const struct roofline_device *device = &plot->chart->devices.items[number];
    double lowest = pow(10, plot->y_low);
    double x = fmax(x_at(plot, 0), lowest / device->bandwidth);
    canvas_set(&plot->canvas, column_of(plot, x), row_of(plot, fmax(lowest, x * device->bandwidth)),
               device_letter(plot, number), device_colour(number));
}

/* The gap between what is expected and the ceiling above it. */
static void draw_gap(struct roofline_plot *plot, const struct roofline_point *point)
{
    if (!(point->intensity > 0 && point->ceiling > 0))
        return;
    double column = column_of(plot, point->intensity), top = row_of(plot, point->ceiling);
    if (point->expected > 0)
        for (double row = top + 1; row < row_of(plot, point->expected); row++)
            canvas_set(&plot->canvas, column, row, text_glyph(plot->writer, GLYPH_GAP), "2");
    canvas_set(&plot->canvas, column, top, text_glyph(plot->writer, GLYPH_CEILING),
               series_colour(point->phase));
}

/* The number of a point, at its expected height; moved aside while another number is there. */
static void number_point(struct roofline_plot *plot, size_t index)
{
    const struct roofline_point *point = &plot->chart->points.items[index];
    double y = point->expected > 0 ? point->expected : point->ceiling;
    if (!(point->intensity > 0 && y > 0))
        return;
    double column = floor(column_of(plot, point->intensity) + 0.5), row = floor(row_of(plot, y) + 0.5);
    if (!(column >= 0 && row >= 0 && row < (double)plot->canvas.rows))
        return;
    const char *number = arena_printf(plot->writer->arena, "%zu", index + 1);
    struct canvas *canvas = &plot->canvas;
    size_t length = strlen(number), at = (size_t)column;
    for (; at + length <= canvas->columns; at++) {
        const char **cells = canvas->cells + (size_t)row * canvas->columns;
        bool taken = false;
        for (size_t i = at > 0 ? at - 1 : 0; i < at + length + 1 && i < canvas->columns; i++)
            taken |= cells[i] && *cells[i] >= '0' && *cells[i] <= '9';
        if (!taken)
            break;
    }
    canvas_text(canvas, at, (size_t)row, number, false);
    for (size_t i = 0; i < length && at + i < canvas->columns; i++)
        canvas->colours[(size_t)row * canvas->columns + at + i] = series_colour(point->phase);
}

/* A roof's name stands over its right end, or under it; false when neither is free. */
static bool name_roof(struct roofline_plot *plot, const char *label, double peak)
{
    size_t width = utf8_width(label, strlen(label));
    double row = floor(row_of(plot, peak) + 0.5);
    if (width >= plot->canvas.columns / 2 || !(row >= 0 && row < (double)plot->canvas.rows))
        return false;
    size_t column = plot->canvas.columns - width;
    return (row >= 1 && canvas_text(&plot->canvas, column, (size_t)row - 1, label, true)) ||
           canvas_text(&plot->canvas, column, (size_t)row + 1, label, true);
}

/* ---- axes and key */

/* The next tick above `value`: decades, and 2 and 5 of each where the axis is short. */
static double next_tick(double value, double low, double high)
{
    static const double steps[] = {1, 2, 5, 10};
    double decade = pow(10, floor(log10(value) + 1e-9));
    for (size_t i = 0; i < 4; i++)
        if (steps[i] * decade > value * (1 + 1e-9) && (high - low < FEW_DECADES || i == 3))
            return steps[i] * decade;
    return 10 * decade;
}

static void write_rows(struct roofline_plot *plot)
{
    struct text_writer *writer = plot->writer;
    const char **labels = ARENA_ARRAY(writer->arena, const char *, plot->canvas.rows);
    for (double tick = pow(10, floor(plot->y_low)); log10(tick) <= plot->y_high;
         tick = next_tick(tick, plot->y_low, plot->y_high)) {
        double row = floor(row_of(plot, tick) + 0.5);
        if (row >= 0 && row < (double)plot->canvas.rows)
            labels[(size_t)row] = axis_number(writer->arena, tick);
    }
    canvas_rows_with_labels(&plot->canvas, (const char *const *)labels, Y_LABEL);
}

static void write_x_axis(struct roofline_plot *plot)
{
    struct text_axis axis = axis_new(plot->writer, plot->canvas.columns);
    for (double tick = pow(10, floor(plot->x_low)); log10(tick) <= plot->x_high;
         tick = next_tick(tick, plot->x_low, plot->x_high)) {
        double column = column_of(plot, tick);
        if (column < 0)
            continue;
        axis_tick(&axis, column);
        axis_label(&axis, column, axis_number(plot->writer->arena, tick));
    }
    axis_write(&axis, Y_LABEL);
}

static const char *point_label(struct text_writer *writer, const struct roofline_point *point)
{
    const char *phase = text_words(writer, point->phase == SERIES_PREFILL ? M_PREFILL : M_DECODE);
    return arena_printf(writer->arena, "%s %s", text_clean(writer, point->label), phase);
}

static void write_key(struct roofline_plot *plot, const struct key_item *roofs, size_t roof_count)
{
    struct text_writer *writer = plot->writer;
    size_t devices = plot->chart->devices.count, count = 0;
    struct key_item *items = ARENA_ARRAY(writer->arena, struct key_item, devices + plot->points + 1);
    for (size_t d = 0; d < devices; d++)
        items[count++] = (struct key_item){device_letter(plot, d), device_colour(d),
                                           text_clean(writer, plot->chart->devices.items[d].label)};
    text_key(writer, items, count, Y_LABEL + 2);
    if (roof_count > 0)
        text_key(writer, roofs, roof_count, Y_LABEL + 2);
    count = 0;
    for (size_t i = 0; i < plot->points; i++) {
        const struct roofline_point *point = &plot->chart->points.items[i];
        items[count++] = (struct key_item){arena_printf(writer->arena, "%zu", i + 1),
                                           series_colour(point->phase), point_label(writer, point)};
    }
    if (plot->points > 0)
        items[count++] =
            (struct key_item){text_glyph(writer, GLYPH_CEILING), NULL, text_words(writer, M_ITS_CEILING)};
    if (count > 0)
        text_key(writer, items, count, Y_LABEL + 2);
    if (plot->chart->points.count > plot->points) {
        size_t more = plot->chart->points.count - plot->points;
        struct styled rest =
            styled_text(writer, TONE_MUTED,
                        TEXT_WORDS(writer, M_POINTS_NOT_DRAWN, arena_printf(writer->arena, "%zu", more)));
        text_wrapped(writer, &rest, "        ", Y_LABEL + 2);
    }
}

void text_roofline(struct text_writer *writer, const struct roofline_chart *chart)
{
    size_t margin = Y_LABEL + 2, devices = chart->devices.count, roof_count = 0, unnamed = 0;
    struct roofline_plot plot = {.writer = writer, .chart = chart};
    plot.points = chart->points.count < POINTS_MOST ? chart->points.count : POINTS_MOST;
    plot.canvas = canvas_new(writer, writer->width > margin + 10 ? writer->width - margin : 10, PLOT_ROWS);
    measure(&plot);
    for (size_t d = 0; d < devices; d++) {
        draw_slope(&plot, d);
        draw_roofs(&plot, d);
        roof_count += chart->devices.items[d].roofs.count;
    }
    for (size_t i = 0; i < plot.points; i++)
        draw_gap(&plot, &chart->points.items[i]);
    for (size_t i = 0; i < plot.points; i++)
        number_point(&plot, i);

    struct key_item *roofs = ARENA_ARRAY(writer->arena, struct key_item, roof_count + 1);
    for (size_t d = 0; d < devices; d++) {
        name_slope(&plot, d);
        for (size_t r = 0; r < chart->devices.items[d].roofs.count; r++) {
            const struct roof *roof = &chart->devices.items[d].roofs.items[r];
            const char *label = text_clean(writer, roof->label);
            if (devices > 1)
                label = arena_printf(writer->arena, "%s %s", device_letter(&plot, d), label);
            if (!name_roof(&plot, label, roof->peak))
                roofs[unnamed++] = (struct key_item){text_glyph(writer, GLYPH_ROOF), device_colour(d), label};
        }
    }
    text_tone(writer, TONE_MUTED, text_words(writer, M_ROOFLINE_AXES));
    text_newline(writer);
    write_rows(&plot);
    write_x_axis(&plot);
    write_key(&plot, roofs, unnamed);
}
