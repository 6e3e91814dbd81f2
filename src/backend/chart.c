/* chart.c: scales, ticks, text widths and label placement, the same for every chart and free of any output
 * format. Everything is in fixed order and plain arithmetic, so that a chart is the same to the byte. */
#include "backend/chart.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "backend/clean.h"
#include "base/buffer.h"
#include "base/number.h"
#include "base/utf8.h"

#define THIN_SPACE "\xe2\x80\x89"
#define ELLIPSIS   "\xe2\x80\xa6"

/* ---- scales and ticks ---------------------------------------------------------------------- */

double chart_at(const struct chart_scale *scale, double value)
{
    double part = scale->log ? (log(value) - log(scale->low)) / (log(scale->high) - log(scale->low))
                             : (value - scale->low) / (scale->high - scale->low);
    return scale->from + part * (scale->to - scale->from);
}

/* `digits` with a thin space before every third digit from the point. */
static const char *grouped(struct arena *arena, const char *text)
{
    const char *digits = text + (*text == '-');
    size_t whole = strspn(digits, "0123456789");
    if (whole < 5)
        return arena_strdup(arena, text);
    struct buffer out = buffer_in(arena);
    buffer_add(&out, text, (size_t)(digits - text));
    for (size_t i = 0; i < whole; i++) {
        if (i && (whole - i) % 3 == 0)
            buffer_text(&out, THIN_SPACE);
        buffer_byte(&out, digits[i]);
    }
    buffer_text(&out, digits + whole);
    return buffer_string(&out);
}

const char *chart_number(struct arena *arena, double value)
{
    /* Ticks are exact multiples of a step, but for the rounding of the multiplication. */
    char text[NUMBER_TEXT_MAX];
    double magnitude = fabs(value) > 0 ? floor(log10(fabs(value))) : 0;
    double unit = pow(10, magnitude - 5);
    double rounded = magnitude > 5 ? round(value) : round(value / unit) / pow(10, 5 - magnitude);
    number_shortest(text, rounded == 0 ? 0 : rounded);
    return grouped(arena, text);
}

static void add_tick(struct arena *arena, struct chart_ticks *ticks, double value, const char *label)
{
    *VEC_PUSH(arena, ticks->items) = (struct chart_tick){value, label};
}

bool chart_is_point(double low, double high)
{
    return !(high - low > 1e-9 * fmax(fabs(low), fabs(high)));
}

struct chart_ticks chart_linear_ticks(struct arena *arena, double low, double high, double unit, int count)
{
    struct chart_ticks ticks = {0};
    double span = (high - low) / unit;
    if (!(span > 0) || count < 1 || chart_is_point(low, high))
        return ticks;
    double decade = pow(10, floor(log10(span / count)));
    static const double factors[] = {1, 2, 5, 10};
    double step = 10 * decade;
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        if (span / (factors[i] * decade) <= count) {
            step = factors[i] * decade;
            break;
        }
    }
    double first = ceil(low / unit / step - 1e-9), last = floor(high / unit / step + 1e-9);
    for (double i = first; i <= last; i++)
        add_tick(arena, &ticks, i * step * unit, chart_number(arena, i * step));
    return ticks;
}

/* "200 G" for 2e11: what stands before a unit. */
static const char *prefixed(struct arena *arena, double value)
{
    static const char *const prefixes[] = {"", " k", " M", " G", " T", " P", " E"};
    size_t index = 0;
    while (value >= 999.5 && index + 1 < sizeof prefixes / sizeof *prefixes) {
        value /= 1000;
        index++;
    }
    return arena_printf(arena, "%s%s", chart_number(arena, value), prefixes[index]);
}

struct chart_ticks chart_log_ticks(struct arena *arena, double low, double high, double unit, bool prefix,
                                   int count)
{
    struct chart_ticks ticks = {0};
    low /= unit;
    high /= unit;
    if (!(low > 0) || !(high > low) || count < 1)
        return ticks;
    double first = floor(log10(low) + 1e-9), last = ceil(log10(high) - 1e-9);
    double decades = log10(high / low);
    double skip = ceil(decades / count);
    for (double exponent = first; exponent <= last; exponent++) {
        for (int digit = 1; digit <= 5; digit++) {
            double value = digit * pow(10, exponent);
            bool inside = value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9);
            bool decade = digit == 1;
            if (!inside || (!decade && decades > 8))
                continue;
            bool labelled = decade ? fmod(exponent - first, skip) == 0
                                   : decades < 2 && (digit == 2 || digit == 5) && count >= 4;
            const char *label = !labelled ? NULL
                                : prefix  ? prefixed(arena, value)
                                          : chart_number(arena, value);
            add_tick(arena, &ticks, value * unit, label);
        }
    }
    return ticks;
}

/* ---- text ---------------------------------------------------------------------------------- */

/* Advance widths of printable ASCII in thousandths of the size: those of DejaVu Sans, the widest of the fonts
 * that `system-ui` and its fallbacks name. */
static const unsigned short ascii_widths[95] = {
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361,  318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635,  611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352,  635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592,  525, 636, 337, 636, 838,
};

static double code_width(const char *text, size_t length, uint32_t code)
{
    if (code >= 0x20 && code < 0x7f)
        return ascii_widths[code - 0x20] / 1000.0;
    if ((code >= 0x2000 && code <= 0x200a) || code == 0x202f)
        return 0.5;
    return utf8_width(text, length) == 2 ? 1.1 : utf8_width(text, length) == 0 ? 0 : 0.85;
}

double chart_text_width(const char *text, double size)
{
    size_t length = strlen(text);
    double width = 0;
    for (size_t at = 0; at < length;) {
        size_t start = at;
        uint32_t code = clean_next(text, length, &at);
        width += code_width(text + start, at - start, code);
    }
    return width * size;
}

const char *chart_fit(struct arena *arena, const char *text, double size, double width)
{
    text = clean_line(arena, text);
    if (chart_text_width(text, size) <= width)
        return text;
    size_t columns = utf8_width(text, strlen(text));
    size_t guess = (size_t)(width / size / 0.5);
    if (guess < columns)
        columns = guess;
    for (; columns > 1; columns--) {
        const char *cut = clean_middle(arena, text, columns, ELLIPSIS);
        if (chart_text_width(cut, size) <= width)
            return cut;
    }
    return ELLIPSIS;
}

/* ---- placement ----------------------------------------------------------------------------- */

void chart_take(struct chart_space *space, struct chart_box box)
{
    *VEC_PUSH(space->arena, space->boxes) = box;
}

void chart_cross(struct chart_space *space, double x1, double y1, double x2, double y2)
{
    *VEC_PUSH(space->arena, space->segments) = (struct chart_segment){x1, y1, x2, y2};
}

static bool boxes_meet(struct chart_box a, struct chart_box b)
{
    return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

/* Liang and Barsky's clipping: whether any part of the segment lies within the box. */
static bool segment_meets(struct chart_segment s, struct chart_box box)
{
    double dx = s.x2 - s.x1, dy = s.y2 - s.y1;
    double p[4] = {-dx, dx, -dy, dy};
    double q[4] = {s.x1 - box.x, box.x + box.width - s.x1, s.y1 - box.y, box.y + box.height - s.y1};
    double enter = 0, leave = 1;
    for (int i = 0; i < 4; i++) {
        if (p[i] == 0) {
            if (q[i] < 0)
                return false;
            continue;
        }
        double t = q[i] / p[i];
        if (p[i] < 0 && t > enter)
            enter = t;
        if (p[i] > 0 && t < leave)
            leave = t;
    }
    return enter <= leave;
}

bool chart_is_free(const struct chart_space *space, struct chart_box box, bool strict)
{
    struct chart_box bounds = space->bounds;
    if (box.x < bounds.x || box.y < bounds.y || box.x + box.width > bounds.x + bounds.width ||
        box.y + box.height > bounds.y + bounds.height)
        return false;
    for (size_t i = 0; i < space->boxes.count; i++)
        if (boxes_meet(space->boxes.items[i], box))
            return false;
    for (size_t i = 0; strict && i < space->segments.count; i++)
        if (segment_meets(space->segments.items[i], box))
            return false;
    return true;
}

/* Where the label's box stands around its point, in the order of preference: the side (-1, 0, 1) of the point
 * that its near edge is on, across and down. */
static const struct {
    double across, down;
} sides[] = {{1, 0}, {-1, 0}, {1, 1}, {1, -1}, {0, 1}, {0, -1}, {-1, 1}, {-1, -1}};

static bool try_sides(struct chart_space *space, double x, double y, double width, double height,
                      double distance, bool strict, struct chart_box *box)
{
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        double slant = sides[i].across != 0 && sides[i].down != 0 ? 0.75 : 1;
        box->x = x + sides[i].across * (distance * slant + width / 2) - width / 2;
        box->y = y + sides[i].down * (distance * slant + height / 2) - height / 2;
        box->width = width;
        box->height = height;
        if (chart_is_free(space, *box, strict)) {
            chart_take(space, *box);
            return true;
        }
    }
    return false;
}

bool chart_place(struct chart_space *space, double x, double y, double width, double height, double reach,
                 struct chart_box *box, bool *led)
{
    for (int pass = 0; pass < 2; pass++) {
        for (double distance = 8; distance <= reach; distance += 6) {
            *led = distance > 15;
            if (try_sides(space, x, y, width, height, distance, pass == 0, box))
                return true;
        }
    }
    return false;
}
