/* markdown_escape.h: text that GitHub and GitLab show as it is written. */
#ifndef PERFC_BACKEND_MARKDOWN_ESCAPE_H
#define PERFC_BACKEND_MARKDOWN_ESCAPE_H

#include <stdbool.h>

struct arena;
struct buffer;

/* Appends text that no Markdown rule applies to, on one line and safe inside a table cell. `begins` tells
 * that it begins a block, where "- ", "1. ", "=" and the like would mean something. */
void markdown_escape(struct arena *arena, struct buffer *out, const char *text, bool begins);

/* Appends text for the inside of an HTML element, as <summary>, where Markdown is not read. */
void markdown_escape_html(struct arena *arena, struct buffer *out, const char *text);

/* Appends a name: in a code span when it holds nothing that could end one, else as text; its middle gives way
 * when it is longer than 64 columns. */
void markdown_name(struct arena *arena, struct buffer *out, const char *name);

/* Appends a fenced block; the fence is longer than any row of backticks inside. `lines` is clean text with
 * line ends. */
void markdown_fence(struct buffer *out, const char *lines);

#endif
