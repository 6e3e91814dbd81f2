/* diag_machine.h: what the files that render diagnostics for machines share. */
#ifndef PERFC_SOURCE_DIAG_MACHINE_H
#define PERFC_SOURCE_DIAG_MACHINE_H

#include <jansson.h>

#include "source/diag.h"
#include "source/diag_render.h"

/* A place as editors and CI systems count: lines and columns from one, the end exclusive. */
struct diag_place {
    const char *path; /* NULL: none, and nothing else is set */
    bool embedded;    /* a file of the standard library, which nobody can open */
    unsigned line, column, end_line, end_column;
};

struct diag_place diag_place_of(const struct sources *sources, struct span span);

/* "error" or "warning". */
const char *diag_severity_word(const struct diag *diag, struct diag_render_options options);

/* A string node of ill-formed text too: what is not UTF-8 becomes U+FFFD. */
json_t *diag_json_text(struct arena *arena, const char *text);

/* Appends a node, indented by two, and a line end; gives up the reference. */
void diag_json_dump(struct buffer *out, json_t *node);

#endif
