/* intern.h: one copy of each distinct string, so that names compare by pointer. */
#ifndef PERFC_BASE_INTERN_H
#define PERFC_BASE_INTERN_H

#include <stddef.h>

struct arena;
struct strings;

/* An empty table, owned by `arena`. */
struct strings *strings_new(struct arena *arena);

/* The canonical NUL-terminated copy of `length` bytes at `text` (which hold no NUL).
 * Equal contents give the same pointer. */
const char *intern(struct strings *strings, const char *text, size_t length);

/* The same for a C string. */
const char *intern_text(struct strings *strings, const char *text);

#endif
