/* text_draw.h: what the parts of the text backend share: styled text, wrapping, signs, and the drawing of
 * tables and charts. The Markdown backend draws its charts with these, too. */
#ifndef PERFC_BACKEND_TEXT_DRAW_H
#define PERFC_BACKEND_TEXT_DRAW_H

#include <stdbool.h>
#include <stddef.h>

#include "result/message.h"
#include "result/report.h"

struct buffer;

struct text_writer {
    struct arena *arena;
    struct buffer *out;
    size_t width;
    bool colour, unicode;
    enum language language;
};

/* A text of messages.def in the report's language. */
const char *text_words(const struct text_writer *writer, enum message message);
#define TEXT_WORDS(writer, message, ...)                                                                     \
    MESSAGE_TEXT((writer)->arena, (writer)->language, message, __VA_ARGS__)

/* Signs that have an ASCII form. */
enum glyph {
    GLYPH_RULE,
    GLYPH_VERTICAL,
    GLYPH_DASH_VERTICAL,
    GLYPH_ROOF,
    GLYPH_CORNER,
    GLYPH_TICK_LEFT,
    GLYPH_TICK_BELOW,
    GLYPH_HOLDS,
    GLYPH_FAILS,
    GLYPH_BULLET,
    GLYPH_SEPARATOR, /* with its spaces */
    GLYPH_ELLIPSIS,
    GLYPH_CEILING,
    GLYPH_GAP,
    GLYPH_LINE_LOW,
    GLYPH_LINE_MIDDLE,
    GLYPH_LINE_HIGH,
    GLYPH_COUNT
};
const char *text_glyph(const struct text_writer *writer, enum glyph glyph);

/* Fill and ANSI colour of a series. */
const char *series_fill(const struct text_writer *writer, enum series_kind kind);
const char *series_colour(enum series_kind kind);

/* A clean line with a tone per byte. */
struct styled {
    const char *bytes;
    const unsigned char *tones; /* NULL: all of `tone` */
    enum tone tone;
    size_t length;
};
struct styled styled_text(const struct text_writer *writer, enum tone tone, const char *text);
struct styled styled_rich(const struct text_writer *writer, const struct rich_text *text);
size_t styled_width(const struct styled *text);

/* Columns of the longest word. */
size_t styled_word_width(const struct styled *text);

/* The next line of `text` from *offset that fits `width` columns: [*start, *end), *offset past it. A longer
 * word is broken when `hard`, else it stands alone and overhangs. False when nothing is left. */
bool styled_line(const struct styled *text, size_t width, bool hard, size_t *offset, size_t *start,
                 size_t *end);

/* A string for this terminal: clean, and ASCII where it must be. */
const char *text_clean(const struct text_writer *writer, const char *text);

void text_range(struct text_writer *writer, const struct styled *text, size_t start, size_t end);
void text_tone(struct text_writer *writer, enum tone tone, const char *clean);
void text_colour(struct text_writer *writer, const char *colour, const char *clean);
void text_newline(struct text_writer *writer);
void text_spaces(struct text_writer *writer, size_t count);

/* Wrapped at the width: `first` before the first line, `indent` spaces before the others. */
void text_wrapped(struct text_writer *writer, const struct styled *text, const char *first, size_t indent);

/* Wrapped, all lines beginning at the column where the cursor stands. */
void text_hanging(struct text_writer *writer, const struct styled *text, size_t column);

void text_table(struct text_writer *writer, const struct report_table *table);
void text_chart(struct text_writer *writer, const struct report_chart *chart);
void text_bars(struct text_writer *writer, const struct bar_chart *chart);
void text_lines(struct text_writer *writer, const struct line_chart *chart);
void text_roofline(struct text_writer *writer, const struct roofline_chart *chart);
void text_tornado(struct text_writer *writer, const struct tornado_chart *chart);

/* ---- a grid of characters, for charts ---- */

struct canvas {
    struct text_writer *writer;
    size_t columns, rows;
    const char **cells;   /* one character each, or NULL */
    const char **colours; /* ANSI colour of each, or NULL */
};
struct canvas canvas_new(struct text_writer *writer, size_t columns, size_t rows);

/* Sets one cell; what lies outside is ignored. */
void canvas_set(struct canvas *canvas, double column, double row, const char *sign, const char *colour);

/* Writes clean text from a cell on. With `only_free` it does so only where all cells are free, and tells. */
bool canvas_text(struct canvas *canvas, size_t column, size_t row, const char *clean, bool only_free);

/* One row, without trailing blanks. */
void canvas_row(struct canvas *canvas, size_t row);

/* The line below a drawing, and the labels under it. */
struct text_axis {
    struct canvas canvas;
    size_t next_free; /* where the next label may begin */
};
struct text_axis axis_new(struct text_writer *writer, size_t columns);

/* Writes a label centred under a column; false, and nothing is written, where an earlier one stands in its
 * way. Labels come from left to right. */
bool axis_label(struct text_axis *axis, double column, const char *label);

void axis_tick(struct text_axis *axis, double column);

/* Both lines, their corner below what `margin` columns of labels stand left of. */
void axis_write(struct text_axis *axis, size_t margin);

/* All rows behind a vertical axis; labels[row] (or NULL) stands left of it, in `width` columns, at a tick. */
void canvas_rows_with_labels(struct canvas *canvas, const char *const *labels, int width);

/* "20k", "1.5M", "0.25": a short label for an axis. */
const char *axis_number(struct arena *arena, double value);

/* A key under a chart: items side by side, wrapped as wholes. Each begins with a sign in a colour. */
struct key_item {
    const char *sign, *colour, *label;
};
void text_key(struct text_writer *writer, const struct key_item *items, size_t count, size_t indent);

#endif
