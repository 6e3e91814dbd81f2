/* diag.h: diagnostics as values. Nothing here prints; diag_render.h does. */
#ifndef PERFC_SOURCE_DIAG_H
#define PERFC_SOURCE_DIAG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "source/source.h"

enum diag_severity { DIAG_ERROR, DIAG_WARNING };

/* Every code is a row of diag.def: code, slug, severity, title, paragraph for the manual. */
enum diag_code {
#define DIAG(code, slug, severity, title, paragraph) DIAG_##code,
#include "source/diag.def"
#undef DIAG
    DIAG_CODE_COUNT
};

struct diag_info {
    const char *code; /* "E0207" */
    const char *slug; /* "dimension-mismatch" */
    enum diag_severity severity;
    const char *title;
    const char *paragraph;
};

/* A second place, or a remark without a place (`span.end == 0`). */
struct diag_note {
    struct span span;
    const char *text;
    const char *replacement; /* for a fix: the text that should stand at `span`; else NULL */
    struct diag_note *next;
};

struct diag {
    enum diag_code code;
    struct span span;
    const char *message;
    const char *label;       /* short text beside the underline, or NULL */
    struct diag_note *notes; /* in the order they were added */
    struct diag_note *last_note;
};

struct diags;
struct phrases;

/* An empty list, owned by `arena`. */
struct diags *diags_new(struct arena *arena);

/* Adds a diagnostic; the message is a plain clause without a full stop. The result lives in the
 * arena and takes notes until the list is rendered. */
struct diag *diag_add(struct diags *diags, enum diag_code code, struct span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Sets the text beside the underline. Returns `diag`. */
struct diag *diag_label(struct diags *diags, struct diag *diag, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds a note at a place. Returns `diag`. */
struct diag *diag_note_at(struct diags *diags, struct diag *diag, struct span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Adds a note without a place. Returns `diag`. */
struct diag *diag_note(struct diags *diags, struct diag *diag, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds the one edit that would mend it: `replacement` in place of `span`. Returns `diag`. */
struct diag *diag_fix(struct diags *diags, struct diag *diag, struct span span, const char *replacement,
                      const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Sorts by file and place (stable), so that rendering is in source order; drops exact repeats. */
void diags_sort(struct diags *diags);

/* Takes back what was added since there were `count` of them: of something that was only tried. */
void diags_forget_after(struct diags *diags, size_t count);

/* Messages and notes in other languages (phrase.h), by what they say in English. */
struct phrases *diags_phrases(const struct diags *diags);

size_t diags_count(const struct diags *diags);
const struct diag *diags_get(const struct diags *diags, size_t index);
size_t diags_errors(const struct diags *diags);
size_t diags_warnings(const struct diags *diags);

/* The table row of a code, and of its text form ("E0207" or the slug; NULL when unknown). */
const struct diag_info *diag_info(enum diag_code code);
const struct diag_info *diag_info_find(const char *code_or_slug);

#endif
