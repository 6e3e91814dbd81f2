/* source.h: files that were read, and places in them. Text is kept for the whole compilation,
 * so a diagnostic can always show the line it is about. */
#ifndef PERFC_SOURCE_SOURCE_H
#define PERFC_SOURCE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* Bytes `start` (included) to `end` (excluded) of file number `file`. */
struct span {
    uint32_t file;
    uint32_t start, end;
};

struct source {
    const char *path; /* as the user named it; "stdlib:gpus/nvidia-hopper.perf" for embedded files */
    const char *text; /* `length` bytes, then a NUL */
    size_t length;
    bool data;       /* a table that the plan reads: shown in messages, no part of its text */
    bool embedded;   /* part of the standard library inside the binary */
    uint32_t *lines; /* offset of each line's first byte */
    size_t line_count;
};

struct sources;

enum { SOURCE_MAX_BYTES = 64 << 20 };

/* No files yet; owned by `arena`. */
struct sources *sources_new(struct arena *arena);

/* Adds a file whose text the caller keeps alive (normally in the same arena). Returns its number. */
uint32_t sources_add(struct sources *sources, const char *path, const char *text, size_t length,
                     bool embedded);

/* The same for a table of data. */
uint32_t sources_add_data(struct sources *sources, const char *path, const char *text, size_t length);

/* The file with this number. */
const struct source *sources_get(const struct sources *sources, uint32_t file);

size_t sources_count(const struct sources *sources);

/* One-based line, and one-based column counted in code points, of a byte offset. */
void source_position(const struct source *source, uint32_t offset, unsigned *line, unsigned *column);

/* The text of a one-based line without its newline. */
const char *source_line(const struct source *source, unsigned line, size_t *length);

/* The smallest span that holds both (which must be of one file). */
struct span span_join(struct span first, struct span last);

#endif
