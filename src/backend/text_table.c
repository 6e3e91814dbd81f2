/* text_table.c: tables for a terminal. A table that is wider than the page first wraps its texts; when that
 * is not enough, it is split into several, each of which repeats the first column. */
#include <string.h>

#include "backend/clean.h"
#include "backend/text_draw.h"
#include "base/arena.h"
#include "base/buffer.h"

enum {
    GUTTER = 2,        /* columns between two columns */
    NARROWEST = 24,    /* a text column may be squeezed to this, or its longest word if that is shorter */
    NAME_LONGEST = 64, /* longer names lose their middle */
};

struct layout {
    struct text_writer *writer;
    const struct report_table *table;
    size_t columns;
    struct styled *headings;
    struct styled *cells; /* rows × columns */
    size_t *natural;      /* width that wraps nothing */
    size_t *least;        /* width below which the table is split instead */
    size_t *width;        /* of the part being drawn */
    bool best;            /* a cell is marked */
};

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static struct styled cell_text(struct layout *layout, const struct report_cell *cell)
{
    struct text_writer *writer = layout->writer;
    struct styled text = styled_rich(writer, &cell->text);
    if (cell->text.runs.count == 1 && text.tone == TONE_NAME) {
        text.bytes =
            clean_middle(writer->arena, text.bytes, NAME_LONGEST, text_glyph(writer, GLYPH_ELLIPSIS));
        text.length = strlen(text.bytes);
    }
    if (!cell->best)
        return text;
    layout->best = true;
    struct rich_text marked = {0};
    struct span_text *run = VEC_PUSH(writer->arena, marked.runs);
    *run = (struct span_text){"* ", TONE_GOOD};
    for (size_t i = 0; i < cell->text.runs.count; i++) {
        run = VEC_PUSH(writer->arena, marked.runs);
        *run = cell->text.runs.items[i];
        if (run->tone == TONE_PLAIN)
            run->tone = TONE_STRONG;
    }
    return styled_rich(writer, &marked);
}

/* With `whole`, a figure is not torn from what follows it in its cell. */
static void measure_column(struct layout *layout, size_t column, bool whole)
{
    const struct report_column *heading = &layout->table->columns.items[column];
    struct styled *text = &layout->headings[column];
    *text = styled_text(layout->writer, TONE_STRONG, heading->heading);
    size_t natural = styled_width(text), least = styled_word_width(text);
    for (size_t r = 0; r < layout->table->rows.count; r++) {
        const struct report_row *row = &layout->table->rows.items[r];
        text = &layout->cells[r * layout->columns + column];
        *text = column < row->cells.count ? cell_text(layout, &row->cells.items[column])
                                          : (struct styled){.bytes = ""};
        size_t width = styled_width(text);
        natural = larger(natural, width);
        bool kept = whole && heading->align == ALIGN_RIGHT && width <= NARROWEST;
        least = larger(least, kept ? width : styled_word_width(text));
    }
    layout->natural[column] = natural;
    layout->least[column] = smaller(least, NARROWEST);
}

static size_t capped(const struct layout *layout, size_t column, size_t cap)
{
    return larger(smaller(layout->natural[column], cap), layout->least[column]);
}

/* Which columns stand in a part: the first, then `from` up to but not including `to`. */
static size_t part_width(const struct layout *layout, size_t from, size_t to, size_t cap)
{
    size_t sum = capped(layout, 0, cap);
    for (size_t c = from; c < to; c++)
        sum += GUTTER + capped(layout, c, cap);
    return sum;
}

/* The widest columns give way first: all are cut at the largest width with which the part fits. */
static void fit_part(struct layout *layout, size_t from, size_t to)
{
    size_t page = layout->writer->width, low = 0, high = page;
    while (low < high) {
        size_t middle = (low + high + 1) / 2;
        if (part_width(layout, from, to, middle) <= page)
            low = middle;
        else
            high = middle - 1;
    }
    layout->width[0] = capped(layout, 0, low);
    for (size_t c = from; c < to; c++)
        layout->width[c] = capped(layout, c, low);
    size_t total = part_width(layout, from, to, low);
    if (total <= page)
        return;
    /* Two columns that do not fit side by side: both are broken inside words. */
    for (size_t c = from; c < to; c++)
        layout->width[c] = larger(1, layout->width[c] * (page - smaller(page, GUTTER)) / total);
    layout->width[0] = larger(1, layout->width[0] * (page - smaller(page, GUTTER)) / total);
}

/* One line of a cell; spaces fill it up unless it ends the line. */
static void draw_cell(struct layout *layout, const struct styled *text, size_t column, size_t *offset,
                      bool last)
{
    struct text_writer *writer = layout->writer;
    size_t start = 0, end = 0, width = layout->width[column];
    bool right = layout->table->columns.items[column].align == ALIGN_RIGHT;
    if (!styled_line(text, width, true, offset, &start, &end))
        start = end = 0;
    struct styled piece = {.bytes = text->bytes + start, .length = end - start};
    size_t used = smaller(styled_width(&piece), width);
    if (right && used > 0)
        text_spaces(writer, width - used);
    text_range(writer, text, start, end);
    if ((!right || used == 0) && !last)
        text_spaces(writer, width - used);
}

static bool row_is_done(const struct layout *layout, const struct styled *cells, const size_t *offsets,
                        size_t from, size_t to)
{
    if (offsets[0] < cells[0].length)
        return false;
    for (size_t c = from; c < to; c++)
        if (offsets[c] < cells[c].length)
            return false;
    (void)layout;
    return true;
}

static void draw_row(struct layout *layout, const struct styled *cells, size_t *offsets, size_t from,
                     size_t to)
{
    memset(offsets, 0, layout->columns * sizeof *offsets);
    do {
        size_t begin = layout->writer->out->length;
        draw_cell(layout, &cells[0], 0, &offsets[0], from == to);
        for (size_t c = from; c < to; c++) {
            text_spaces(layout->writer, GUTTER);
            draw_cell(layout, &cells[c], c, &offsets[c], c + 1 == to);
        }
        struct buffer *out = layout->writer->out;
        while (out->length > begin && out->data[out->length - 1] == ' ')
            out->length--;
        text_newline(layout->writer);
    } while (!row_is_done(layout, cells, offsets, from, to));
}

static void draw_rule(struct layout *layout, size_t from, size_t to)
{
    size_t width = layout->width[0];
    for (size_t c = from; c < to; c++)
        width += GUTTER + layout->width[c];
    buffer_repeat(layout->writer->out, text_glyph(layout->writer, GLYPH_RULE), width);
    text_newline(layout->writer);
}

static void draw_part(struct layout *layout, size_t from, size_t to)
{
    size_t *offsets = ARENA_ARRAY(layout->writer->arena, size_t, layout->columns);
    fit_part(layout, from, to);
    draw_row(layout, layout->headings, offsets, from, to);
    draw_rule(layout, from, to);
    for (size_t r = 0; r < layout->table->rows.count; r++) {
        if (layout->table->rows.items[r].total)
            draw_rule(layout, from, to);
        draw_row(layout, layout->cells + r * layout->columns, offsets, from, to);
    }
}

/* The column after the last that fits beside the first and those from `from` on; one always does. */
static size_t part_end(const struct layout *layout, size_t from)
{
    size_t to = from < layout->columns ? from + 1 : from;
    while (to < layout->columns && part_width(layout, from, to + 1, 0) <= layout->writer->width)
        to++;
    return to;
}

static void measure_all(struct layout *layout, bool whole)
{
    for (size_t c = 0; c < layout->columns; c++)
        measure_column(layout, c, whole);
}

/* A single column that would be left over is worth tearing figures for, if that helps. */
static void measure(struct layout *layout)
{
    measure_all(layout, true);
    if (part_end(layout, 1) + 1 != layout->columns)
        return;
    measure_all(layout, false);
    if (part_end(layout, 1) < layout->columns)
        measure_all(layout, true);
}

void text_table(struct text_writer *writer, const struct report_table *table)
{
    size_t columns = table->columns.count, rows = table->rows.count;
    if (table->caption) {
        struct styled caption = styled_text(writer, TONE_MUTED, table->caption);
        text_wrapped(writer, &caption, "", 0);
    }
    if (columns == 0)
        return;
    struct layout layout = {.writer = writer, .table = table, .columns = columns};
    layout.headings = ARENA_ARRAY(writer->arena, struct styled, columns);
    layout.cells = ARENA_ARRAY(writer->arena, struct styled, columns * rows);
    layout.natural = ARENA_ARRAY(writer->arena, size_t, columns);
    layout.least = ARENA_ARRAY(writer->arena, size_t, columns);
    layout.width = ARENA_ARRAY(writer->arena, size_t, columns);
    measure(&layout);
    for (size_t from = 1, to; from < columns || from == 1; from = to) {
        to = part_end(&layout, from);
        if (from > 1)
            text_newline(writer);
        draw_part(&layout, from, to);
        if (to >= columns)
            break;
    }
    if (layout.best)
        text_tone(writer, TONE_MUTED, TEXT_WORDS(writer, M_MARKS_BEST, "*")), text_newline(writer);
}
