/* table.c: comma-separated values (RFC 4180) with the place of every field. */
#include "source/table.h"

#include <string.h>

#include "base/arena.h"
#include "base/utf8.h"
#include "base/vec.h"

struct reader {
    struct arena *arena;
    struct diags *diags;
    const char *text;
    size_t length, at;
    uint32_t file;
    char separator;
    bool failed;
};

static struct span span_of(const struct reader *reader, size_t start, size_t end)
{
    return (struct span){reader->file, (uint32_t)start, (uint32_t)end};
}

static bool at_line_end(const struct reader *reader)
{
    return reader->at >= reader->length || reader->text[reader->at] == '\n' ||
           (reader->text[reader->at] == '\r' &&
            (reader->at + 1 >= reader->length || reader->text[reader->at + 1] == '\n'));
}

static void skip_line_end(struct reader *reader)
{
    if (reader->at < reader->length && reader->text[reader->at] == '\r')
        reader->at++;
    if (reader->at < reader->length && reader->text[reader->at] == '\n')
        reader->at++;
}

static void skip_empty_lines(struct reader *reader)
{
    while (reader->at < reader->length && at_line_end(reader))
        skip_line_end(reader);
}

/* ---- fields ------------------------------------------------------------------------------------- */

/* From the quote at `at` to the one that closes it; doubled quotes stand for one. */
static const char *read_quoted(struct reader *reader)
{
    size_t start = reader->at++, length = 0;
    const char *close = reader->text + reader->at;
    for (;;) {
        close = memchr(close, '"', (size_t)(reader->text + reader->length - close));
        if (!close) {
            diag_add(reader->diags, DIAG_E0408, span_of(reader, start, start + 1),
                     "this quote is not closed");
            reader->failed = true;
            reader->at = reader->length;
            return "";
        }
        if (close + 1 >= reader->text + reader->length || close[1] != '"')
            break;
        close += 2;
    }
    size_t end = (size_t)(close - reader->text);
    char *text = arena_strndup(reader->arena, reader->text + reader->at, end - reader->at);
    for (size_t i = reader->at; i < end; i++) {
        text[length++] = reader->text[i];
        i += reader->text[i] == '"';
    }
    text[length] = '\0';
    reader->at = end + 1;
    return text;
}

static bool is_blank(const struct reader *reader, size_t at)
{
    return reader->text[at] == ' ' || (reader->text[at] == '\t' && reader->separator != '\t');
}

static const char *read_bare(struct reader *reader, size_t *end)
{
    size_t start = reader->at;
    while (!at_line_end(reader) && reader->text[reader->at] != reader->separator)
        reader->at++;
    *end = reader->at;
    while (*end > start && is_blank(reader, *end - 1))
        --*end;
    return arena_strndup(reader->arena, reader->text + start, *end - start);
}

static struct table_field read_field(struct reader *reader)
{
    struct table_field field;
    while (reader->at < reader->length && is_blank(reader, reader->at))
        reader->at++;
    size_t start = reader->at, end;
    if (reader->at < reader->length && reader->text[reader->at] == '"') {
        field.text = read_quoted(reader);
        end = reader->at;
        while (reader->at < reader->length && is_blank(reader, reader->at))
            reader->at++;
        if (!reader->failed && !at_line_end(reader) && reader->text[reader->at] != reader->separator) {
            diag_add(reader->diags, DIAG_E0408, span_of(reader, reader->at, reader->at + 1),
                     "text after the closing quote of a field; a quote inside a field is doubled");
            reader->failed = true;
        }
    } else
        field.text = read_bare(reader, &end);
    field.span = span_of(reader, start, end);
    return field;
}

/* ---- records ------------------------------------------------------------------------------------- */

typedef VEC(struct table_field) field_list;

static void read_record(struct reader *reader, field_list *fields)
{
    fields->count = 0;
    for (;;) {
        if (fields->count == TABLE_COLUMNS_MAX) {
            diag_add(reader->diags, DIAG_E0408, span_of(reader, reader->at, reader->at),
                     "more than %d columns", TABLE_COLUMNS_MAX);
            reader->failed = true;
        }
        if (reader->failed)
            return;
        *VEC_PUSH(reader->arena, *fields) = read_field(reader);
        if (reader->failed || at_line_end(reader))
            break;
        reader->at++; /* the separator */
    }
    skip_line_end(reader);
}

static struct table_row row_of(struct reader *reader, const field_list *fields)
{
    struct table_row row = {.fields = ARENA_ARRAY(reader->arena, struct table_field, fields->count)};
    memcpy(row.fields, fields->items, fields->count * sizeof *fields->items);
    row.span = span_of(reader, fields->items[0].span.start, fields->items[fields->count - 1].span.end);
    return row;
}

/* Counts outside of quotes in the first line that has anything on it. */
static char find_separator(const struct reader *reader)
{
    static const char candidates[] = {',', ';', '\t'};
    size_t counts[3] = {0}, best = 0;
    bool quoted = false;
    for (size_t i = reader->at; i < reader->length && (quoted || reader->text[i] != '\n'); i++) {
        quoted = quoted != (reader->text[i] == '"');
        for (size_t j = 0; j < 3 && !quoted; j++)
            counts[j] += reader->text[i] == candidates[j];
    }
    for (size_t j = 1; j < 3; j++)
        best = counts[j] > counts[best] ? j : best;
    return candidates[best];
}

static bool check_text(struct reader *reader)
{
    size_t valid = utf8_valid_prefix(reader->text, reader->length);
    const char *nul = memchr(reader->text, '\0', valid);
    size_t at = nul ? (size_t)(nul - reader->text) : valid;
    if (at < reader->length)
        diag_add(reader->diags, DIAG_E0408, span_of(reader, at, at + 1),
                 nul ? "a NUL byte; is this a table?" : "not UTF-8; save the table as \"CSV UTF-8\"");
    return at >= reader->length;
}

static bool read_rows(struct reader *reader, struct table *out)
{
    field_list fields = {0};
    VEC(struct table_row) rows = {0};
    for (skip_empty_lines(reader); reader->at < reader->length; skip_empty_lines(reader)) {
        read_record(reader, &fields);
        if (reader->failed)
            return false;
        struct table_row row = row_of(reader, &fields);
        if (fields.count != out->columns) {
            diag_add(reader->diags, DIAG_E0408, row.span,
                     "%zu field%s where the first line names %zu columns", fields.count,
                     fields.count == 1 ? "" : "s", out->columns);
            return false;
        }
        if (rows.count == TABLE_ROWS_MAX) {
            diag_add(reader->diags, DIAG_E0408, row.span, "more than %d rows", TABLE_ROWS_MAX);
            return false;
        }
        *VEC_PUSH(reader->arena, rows) = row;
    }
    out->rows = rows.items;
    out->count = rows.count;
    return true;
}

bool table_read(struct arena *arena, const struct sources *sources, struct diags *diags, uint32_t file,
                struct table *out)
{
    const struct source *source = sources_get(sources, file);
    struct reader reader = {
        .arena = arena, .diags = diags, .text = source->text, .length = source->length, .file = file};
    field_list fields = {0};
    *out = (struct table){0};
    if (!check_text(&reader))
        return false;
    skip_empty_lines(&reader);
    if (reader.at >= reader.length) {
        diag_add(diags, DIAG_E0408, span_of(&reader, 0, 0),
                 "the table is empty; its first line names the columns");
        return false;
    }
    reader.separator = find_separator(&reader);
    read_record(&reader, &fields);
    if (reader.failed)
        return false;
    out->header = row_of(&reader, &fields);
    out->columns = fields.count;
    return read_rows(&reader, out);
}
