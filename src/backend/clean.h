/* clean.h: strings from a plan made safe to show. Every backend passes every string through here (or through
 * its own equal) before it escapes it for its format. */
#ifndef PERFC_BACKEND_CLEAN_H
#define PERFC_BACKEND_CLEAN_H

#include <stddef.h>
#include <stdint.h>

struct arena;
struct report;
struct rich_text;

enum { CLEAN_REPLACEMENT = 0xFFFD };

/* The code point at text[*offset] (with *offset < length), past which *offset is moved. An ill-formed
 * sequence (the longest that could begin a character, Unicode 15 table 3-7) gives U+FFFD once. */
uint32_t clean_next(const char *text, size_t length, size_t *offset);

/* What is shown of the character at text[*offset] (with *offset < length), past which *offset is moved:
 * the character itself, or what clean_line() puts in its place. */
struct clean_piece {
    const char *bytes;
    size_t length; /* 0: the first half of a line end */
};
struct clean_piece clean_piece(const char *text, size_t length, size_t *offset);

/* What stands in HTML and XML for a byte that would be markup between tags or in quotes; NULL: the byte
 * itself. Inline, since a page asks it of every byte. */
static inline const char *clean_entity(char byte)
{
    switch (byte) {
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '&': return "&amp;";
    case '"': return "&quot;";
    default: return NULL;
    }
}

/* Valid UTF-8 on one line that cannot steer a terminal: line ends and tabs become a space, other control
 * characters, directional overrides and ill-formed bytes become U+FFFD. Returns `text` itself when there is
 * nothing to do. NULL gives "". */
const char *clean_line(struct arena *arena, const char *text);

/* The same of `length` bytes. */
const char *clean_bytes(struct arena *arena, const char *text, size_t length);

/* Valid UTF-8, otherwise unchanged: for formats that escape control characters themselves. */
const char *clean_utf8(struct arena *arena, const char *text);

/* Pure ASCII from clean text: signs that reports use are spelled out ("<=", "x", "us"), others become '?'. */
const char *clean_ascii(struct arena *arena, const char *clean);

/* The same with every character as wide as it was, for lines that others point into. */
const char *clean_ascii_columns(struct arena *arena, const char *clean);

/* At most `width` columns of clean text: the middle gives way to `ellipsis`. */
const char *clean_middle(struct arena *arena, const char *clean, size_t width, const char *ellipsis);

/* The runs of a text as one clean line. */
const char *clean_rich(struct arena *arena, const struct rich_text *text);

/* What the compiler warned of, for the end of a report that has no section "warnings" of its own: the number
 * of diagnostics (0 when there is such a section), and each as "plan.perf:7:3: warning: message [W0601]". */
size_t warning_count(const struct report *report);
const char *warning_line(struct arena *arena, const struct report *report, size_t index);

#endif
