/* diag_render.h: diagnostics as text with carets, and as JSON, SARIF, and what GitHub and GitLab show. */
#ifndef PERFC_SOURCE_DIAG_RENDER_H
#define PERFC_SOURCE_DIAG_RENDER_H

#include <stdbool.h>
#include <stddef.h>

#include "source/source.h"

struct buffer;
struct diags;

/* Something that does not hold, at its place in the plan: the forms for machines tell it with the rest. */
struct diag_failure {
    const char *rule; /* "assertion", "threshold" */
    struct span span; /* a file that does not exist: no place */
    const char *message;
};
enum { SPAN_NOWHERE = 0x7FFFFFFF }; /* the file of a span that has no place */

struct diag_render_options {
    size_t limit; /* how many diagnostics of the text at most; 0 for all */
    bool colour;  /* ANSI colours */
    bool warnings_are_errors;
    const struct diag_failure *failures;
    size_t failure_count;
    const char *version; /* of the program, for SARIF; or NULL */
};

/* Appends each diagnostic as
 *     plan.perf:7:14: error: message [E0207]
 *         7 |   bandwidth = 3.35 TB
 *           |               ^~~~~~~ label
 * with notes and fixes under it, then a count when some were left out. Long lines are shown as a
 * window around the place; control characters and invalid UTF-8 are shown as U+FFFD. */
void diags_render_text(struct buffer *out, const struct diags *diags, const struct sources *sources,
                       struct diag_render_options options);

/* One JSON object, one SARIF 2.1.0 log, one workflow command per diagnostic, or one Code Quality report; all
 * of them, and all failures, and a valid document when there are none. */
void diags_render_json(struct buffer *out, const struct diags *diags, const struct sources *sources,
                       struct diag_render_options options);
void diags_render_sarif(struct buffer *out, const struct diags *diags, const struct sources *sources,
                        struct diag_render_options options);
void diags_render_github(struct buffer *out, const struct diags *diags, const struct sources *sources,
                         struct diag_render_options options);
void diags_render_gitlab(struct buffer *out, const struct diags *diags, const struct sources *sources,
                         struct diag_render_options options);

#endif
