/* backend.h: one report tree, many ways to draw it.
 *
 * A backend walks the tree and appends to a buffer; it computes nothing. Adding one is a file with an
 * `emit` function and a row in backend.c. */
#ifndef PERFC_BACKEND_BACKEND_H
#define PERFC_BACKEND_BACKEND_H

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct buffer;
struct report;

struct backend_options {
    unsigned width;     /* columns of text output; 0: 80 */
    bool colour;        /* ANSI colours in text output */
    bool unicode;       /* box drawing and block characters in text output */
    const char *tag;    /* hidden first line of Markdown, or NULL */
    size_t max_bytes;   /* of Markdown; 0: what GitHub takes */
};

struct backend {
    const char *name;       /* "html", as in -f */
    const char *suffix;     /* ".html" */
    const char *doc;        /* one line for --help */
    bool quantities;        /* reads report->quantities, which are listed only for those that do */
    bool compares;          /* can show a comparison (report->diff) */
    /* Appends the report. Scratch memory comes from `arena`. Returns false only when a library failed. */
    bool (*emit)(struct arena *arena, const struct report *report, struct backend_options options,
                 struct buffer *out);
};

/* All backends; `count` is set. */
const struct backend *backends(size_t *count);

/* By name or by the suffix of a path; NULL when there is none. */
const struct backend *backend_by_name(const char *name);
const struct backend *backend_by_path(const char *path);

#endif
