/* diag_render.h: diagnostics as text with carets. (JSON, SARIF and GitHub forms go here too.) */
#ifndef PERFC_SOURCE_DIAG_RENDER_H
#define PERFC_SOURCE_DIAG_RENDER_H

#include <stdbool.h>
#include <stddef.h>

struct buffer;
struct diags;
struct sources;

struct diag_render_options {
    size_t limit; /* how many diagnostics at most; 0 for all */
    bool colour;  /* ANSI colours */
    bool warnings_are_errors;
};

/* Appends each diagnostic as
 *     plan.perf:7:14: error: message [E0207]
 *         7 |   bandwidth = 3.35 TB
 *           |               ^~~~~~~ label
 * with notes and fixes under it, then a count when some were left out. Long lines are shown as a
 * window around the place; control characters and invalid UTF-8 are shown as U+FFFD. */
void diags_render_text(struct buffer *out, const struct diags *diags, const struct sources *sources,
                       struct diag_render_options options);

#endif
