/* utf8.h: the few questions perfc asks about text, answered by utf8proc. */
#ifndef PERFC_BASE_UTF8_H
#define PERFC_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Offset of the first byte that is not valid UTF-8, or `length`. */
size_t utf8_valid_prefix(const char *text, size_t length);

/* Columns a terminal needs for the text: wide characters count 2, combining marks 0. */
size_t utf8_width(const char *text, size_t length);

/* Code points in the text; an invalid byte counts as one. */
size_t utf8_count(const char *text, size_t length);

/* Whether a line may end before the character at `at`, though no blank is there: beside a wide character
 * (Chinese, Japanese), unless one sticks to the other, as closing punctuation does to what it closes. */
bool utf8_may_break(const char *text, size_t length, size_t at);

/* Bytes of the character that begins at `text` (length > 0), 1 for an invalid byte. `printable` is false
 * for what must not reach a terminal or a page as it is: invalid bytes, controls, and the invisible
 * formatting characters that reorder text. */
size_t utf8_next(const char *text, size_t length, bool *printable);

#endif
