/* text_draw.c: styled text, wrapping, signs and the character grid that the text backend is made of. */
#include "backend/text_draw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backend/clean.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/utf8.h"

enum { NARROWEST = 8 }; /* room that wrapped text takes at least */

static const char *const glyphs[GLYPH_COUNT][2] = {
    [GLYPH_RULE] = {"-", "─"},        [GLYPH_VERTICAL] = {"|", "│"},      [GLYPH_DASH_VERTICAL] = {":", "┊"},
    [GLYPH_ROOF] = {"-", "─"},        [GLYPH_CORNER] = {"+", "└"},        [GLYPH_TICK_LEFT] = {"+", "┤"},
    [GLYPH_TICK_BELOW] = {"+", "┴"},  [GLYPH_HOLDS] = {"ok  ", "✓"},      [GLYPH_FAILS] = {"FAIL", "✗"},
    [GLYPH_BULLET] = {"*", "•"},      [GLYPH_SEPARATOR] = {" - ", " · "}, [GLYPH_ELLIPSIS] = {"...", "…"},
    [GLYPH_CEILING] = {"o", "○"},     [GLYPH_GAP] = {":", "┊"},           [GLYPH_LINE_LOW] = {".", "."},
    [GLYPH_LINE_MIDDLE] = {"-", "-"}, [GLYPH_LINE_HIGH] = {"'", "'"},
};

const char *text_words(const struct text_writer *writer, enum message message)
{
    return message_pattern(writer->language, message);
}

const char *text_glyph(const struct text_writer *writer, enum glyph glyph)
{
    return glyphs[glyph][writer->unicode];
}

static const struct {
    const char *ascii, *unicode, *colour;
} series[SERIES_KIND_COUNT] = {
    [SERIES_WEIGHTS] = {"#", "█", "34"},   [SERIES_KV] = {"=", "▓", "33"},
    [SERIES_COMPUTE] = {"%", "▚", "31"},   [SERIES_COMMUNICATION] = {"~", "▞", "35"},
    [SERIES_FIXED] = {"-", "░", "90"},     [SERIES_ACTIVATIONS] = {"+", "▒", "32"},
    [SERIES_OVERHEAD] = {"-", "░", "90"},  [SERIES_FREE] = {".", "·", "90"},
    [SERIES_SHORTFALL] = {"!", "╳", "91"}, [SERIES_DECODE] = {"d", "▐", "36"},
    [SERIES_PREFILL] = {"p", "▌", "35"},   [SERIES_OTHER] = {"?", "▄", "37"},
};

const char *series_fill(const struct text_writer *writer, enum series_kind kind)
{
    return writer->unicode ? series[kind].unicode : series[kind].ascii;
}

const char *series_colour(enum series_kind kind)
{
    return series[kind].colour;
}

static const char *const tone_colours[] = {
    [TONE_PLAIN] = NULL, [TONE_GOOD] = "32",  [TONE_BAD] = "31",  [TONE_WARN] = "33",
    [TONE_MUTED] = "2",  [TONE_STRONG] = "1", [TONE_NAME] = "36",
};

/* ---- styled text */

const char *text_clean(const struct text_writer *writer, const char *text)
{
    const char *clean = clean_line(writer->arena, text);
    return writer->unicode ? clean : clean_ascii(writer->arena, clean);
}

struct styled styled_text(const struct text_writer *writer, enum tone tone, const char *text)
{
    const char *clean = text_clean(writer, text);
    return (struct styled){.bytes = clean, .tone = tone, .length = strlen(clean)};
}

struct styled styled_rich(const struct text_writer *writer, const struct rich_text *text)
{
    if (text->runs.count == 0)
        return (struct styled){.bytes = ""};
    if (text->runs.count == 1)
        return styled_text(writer, text->runs.items[0].tone, text->runs.items[0].text);
    struct buffer bytes = buffer_in(writer->arena), tones = buffer_in(writer->arena);
    for (size_t i = 0; i < text->runs.count; i++) {
        const char *clean = text_clean(writer, text->runs.items[i].text);
        char tone = (char)text->runs.items[i].tone;
        buffer_text(&bytes, clean);
        for (size_t k = strlen(clean); k > 0; k--)
            buffer_byte(&tones, tone);
    }
    return (struct styled){.bytes = buffer_string(&bytes),
                           .tones = (const unsigned char *)buffer_string(&tones),
                           .length = bytes.length};
}

size_t styled_width(const struct styled *text)
{
    return utf8_width(text->bytes, text->length);
}

/* A text that may break anywhere still takes this much of a line, lest it stand in a column of its own
 * height. */
enum { BREAKABLE_LEAST = 10 };

size_t styled_word_width(const struct styled *text)
{
    size_t widest = 0;
    bool breakable = false;
    for (size_t start = 0; start < text->length;) {
        size_t end = start + 1;
        while (end < text->length && text->bytes[end] != ' ' &&
               !utf8_may_break(text->bytes, text->length, end))
            end++;
        breakable = breakable || (end < text->length && text->bytes[end] != ' ');
        size_t width = utf8_width(text->bytes + start, end - start);
        widest = width > widest ? width : widest;
        start = end + (end < text->length && text->bytes[end] == ' ');
    }
    if (!breakable || widest >= BREAKABLE_LEAST)
        return widest;
    size_t whole = styled_width(text);
    return whole < BREAKABLE_LEAST ? whole : BREAKABLE_LEAST;
}

bool styled_line(const struct styled *text, size_t width, bool hard, size_t *offset, size_t *start,
                 size_t *end)
{
    size_t at = *offset;
    if (at > 0) /* blanks at a break are dropped; those that begin the text are its own */
        while (at < text->length && text->bytes[at] == ' ')
            at++;
    if (at >= text->length)
        return false;
    *start = at;
    size_t used = 0, last_break = 0; /* end of the last word that fits */
    while (at < text->length) {
        size_t character = at;
        if (text->bytes[at] == ' ' && at > *start && text->bytes[at - 1] != ' ' && text->bytes[at + 1] != '%')
            last_break = at; /* "22 %" stays together */
        else if (at > *start && utf8_may_break(text->bytes, text->length, at))
            last_break = at;
        (void)clean_next(text->bytes, text->length, &at);
        used += utf8_width(text->bytes + character, at - character);
        bool overflows = used > width && text->bytes[character] != ' ';
        if (!overflows || character == *start)
            continue;
        if (last_break > 0) {
            *end = *offset = last_break;
            return true;
        }
        if (hard) {
            *end = *offset = character;
            return true;
        }
    }
    *offset = text->length;
    *end = text->length;
    while (*end > *start && text->bytes[*end - 1] == ' ')
        --*end;
    return true;
}

/* ---- writing */

void text_colour(struct text_writer *writer, const char *colour, const char *clean)
{
    if (!writer->colour || !colour) {
        buffer_text(writer->out, clean);
        return;
    }
    buffer_text(writer->out, "\033[");
    buffer_text(writer->out, colour);
    buffer_byte(writer->out, 'm');
    buffer_text(writer->out, clean);
    buffer_text(writer->out, "\033[0m");
}

void text_tone(struct text_writer *writer, enum tone tone, const char *clean)
{
    text_colour(writer, tone_colours[tone], clean);
}

void text_range(struct text_writer *writer, const struct styled *text, size_t start, size_t end)
{
    if (!writer->colour) {
        buffer_add(writer->out, text->bytes + start, end - start);
        return;
    }
    while (start < end) {
        size_t stop = text->tones ? start : end;
        enum tone tone = text->tones ? (enum tone)text->tones[start] : text->tone;
        while (stop < end && text->tones[stop] == tone)
            stop++;
        text_tone(writer, tone, arena_strndup(writer->arena, text->bytes + start, stop - start));
        start = stop;
    }
}

void text_newline(struct text_writer *writer)
{
    buffer_byte(writer->out, '\n');
}

void text_spaces(struct text_writer *writer, size_t count)
{
    buffer_repeat(writer->out, " ", count);
}

/* The cursor stands at column `lead`; the lines after the first begin at column `indent`. */
static void write_lines(struct text_writer *writer, const struct styled *text, size_t lead, size_t indent)
{
    size_t offset = 0, start = 0, end = 0, column = lead;
    for (bool first = true; first || offset < text->length; first = false) {
        size_t room = writer->width > column + NARROWEST ? writer->width - column : NARROWEST;
        if (!styled_line(text, room, true, &offset, &start, &end))
            start = end = offset = text->length;
        if (!first && end > start)
            text_spaces(writer, indent);
        text_range(writer, text, start, end);
        text_newline(writer);
        column = indent;
    }
}

void text_wrapped(struct text_writer *writer, const struct styled *text, const char *first, size_t indent)
{
    buffer_text(writer->out, first);
    write_lines(writer, text, utf8_width(first, strlen(first)), indent);
}

void text_hanging(struct text_writer *writer, const struct styled *text, size_t column)
{
    write_lines(writer, text, column, column);
}

void text_key(struct text_writer *writer, const struct key_item *items, size_t count, size_t indent)
{
    size_t used = indent;
    text_spaces(writer, indent);
    for (size_t i = 0; i < count; i++) {
        const char *sign = items[i].sign;
        size_t sign_width = utf8_width(sign, strlen(sign));
        size_t room = writer->width > indent + sign_width + 9 ? writer->width - indent - sign_width - 1 : 8;
        const char *label =
            clean_middle(writer->arena, items[i].label, room, text_glyph(writer, GLYPH_ELLIPSIS));
        size_t width = sign_width + 1 + utf8_width(label, strlen(label));
        if (used > indent && used + 2 + width > writer->width) {
            text_newline(writer);
            text_spaces(writer, indent);
            used = indent;
        } else if (used > indent) {
            text_spaces(writer, 2);
            used += 2;
        }
        text_colour(writer, items[i].colour, sign);
        buffer_byte(writer->out, ' ');
        buffer_text(writer->out, label);
        used += width;
    }
    text_newline(writer);
}

/* ---- the grid */

struct canvas canvas_new(struct text_writer *writer, size_t columns, size_t rows)
{
    return (struct canvas){.writer = writer,
                           .columns = columns,
                           .rows = rows,
                           .cells = ARENA_ARRAY(writer->arena, const char *, columns *rows),
                           .colours = ARENA_ARRAY(writer->arena, const char *, columns *rows)};
}

void canvas_set(struct canvas *canvas, double column, double row, const char *sign, const char *colour)
{
    column = floor(column + 0.5);
    row = floor(row + 0.5);
    if (!(column >= 0 && column < (double)canvas->columns && row >= 0 && row < (double)canvas->rows))
        return;
    size_t index = (size_t)row * canvas->columns + (size_t)column;
    canvas->cells[index] = sign;
    canvas->colours[index] = colour;
}

bool canvas_text(struct canvas *canvas, size_t column, size_t row, const char *clean, bool only_free)
{
    size_t length = strlen(clean), width = utf8_width(clean, length);
    if (row >= canvas->rows || column + width > canvas->columns)
        return false;
    const char **cells = canvas->cells + row * canvas->columns + column;
    for (size_t i = 0; only_free && i < width; i++)
        if (cells[i])
            return false;
    for (size_t at = 0; at < length;) {
        size_t start = at;
        (void)clean_next(clean, length, &at);
        size_t columns = utf8_width(clean + start, at - start);
        if (columns == 0)
            continue; /* combining marks are left out of charts */
        *cells++ = arena_strndup(canvas->writer->arena, clean + start, at - start);
        for (; columns > 1; columns--)
            *cells++ = "";
    }
    return true;
}

void canvas_row(struct canvas *canvas, size_t row)
{
    const char **cells = canvas->cells + row * canvas->columns;
    const char **colours = canvas->colours + row * canvas->columns;
    size_t end = canvas->columns;
    while (end > 0 && !cells[end - 1])
        end--;
    for (size_t i = 0; i < end; i++)
        text_colour(canvas->writer, cells[i] ? colours[i] : NULL, cells[i] ? cells[i] : " ");
}

struct text_axis axis_new(struct text_writer *writer, size_t columns)
{
    struct text_axis axis = {canvas_new(writer, columns, 2), 0};
    for (size_t column = 0; column < columns; column++)
        canvas_set(&axis.canvas, (double)column, 0, text_glyph(writer, GLYPH_RULE), NULL);
    return axis;
}

bool axis_label(struct text_axis *axis, double column, const char *label)
{
    size_t length = strlen(label);
    double last = (double)(axis->canvas.columns - length);
    double begin = floor(fmin(fmax(column - (double)length / 2 + 0.5, 0), last));
    if (begin < (double)axis->next_free)
        return false;
    canvas_text(&axis->canvas, (size_t)begin, 1, label, false);
    axis->next_free = (size_t)begin + length + 1;
    return true;
}

void axis_tick(struct text_axis *axis, double column)
{
    canvas_set(&axis->canvas, column, 0, text_glyph(axis->canvas.writer, GLYPH_TICK_BELOW), NULL);
}

void axis_write(struct text_axis *axis, size_t margin)
{
    struct text_writer *writer = axis->canvas.writer;
    text_spaces(writer, margin + 1);
    buffer_text(writer->out, text_glyph(writer, GLYPH_CORNER));
    canvas_row(&axis->canvas, 0);
    text_newline(writer);
    text_spaces(writer, margin + 2);
    canvas_row(&axis->canvas, 1);
    text_newline(writer);
}

void canvas_rows_with_labels(struct canvas *canvas, const char *const *labels, int width)
{
    struct text_writer *writer = canvas->writer;
    for (size_t row = 0; row < canvas->rows; row++) {
        buffer_printf(writer->out, "%*s ", width, labels[row] ? labels[row] : "");
        buffer_text(writer->out, text_glyph(writer, labels[row] ? GLYPH_TICK_LEFT : GLYPH_VERTICAL));
        canvas_row(canvas, row);
        text_newline(writer);
    }
}

const char *axis_number(struct arena *arena, double value)
{
    static const struct {
        double scale;
        const char *suffix;
    } steps[] = {{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
    double magnitude = fabs(value);
    if (magnitude >= 1e18 || (magnitude > 0 && magnitude < 1e-3))
        return arena_printf(arena, "%.0e", value);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && magnitude >= 1e4; i++)
        if (magnitude >= steps[i].scale)
            return arena_printf(arena, "%.4g%s", value / steps[i].scale, steps[i].suffix);
    return arena_printf(arena, "%.4g", value);
}

void text_chart(struct text_writer *writer, const struct report_chart *chart)
{
    switch (chart->kind) {
    case CHART_ROOFLINE: text_roofline(writer, &chart->roofline); break;
    case CHART_BARS: text_bars(writer, &chart->bars); break;
    case CHART_LINES: text_lines(writer, &chart->lines); break;
    case CHART_TORNADO: text_tornado(writer, &chart->tornado); break;
    }
}
