/* jargon.h: names that things have elsewhere. */
#ifndef PERFC_SOURCE_JARGON_H
#define PERFC_SOURCE_JARGON_H

#include <stdbool.h>
#include <stddef.h>

/* What `said` means in the language (jargon.def): its first meaning when `*row` is 0, the next one with what
 * the last call left there, and NULL after the last. Whether such a name exists where the word stands is the
 * caller's to see. */
const char *jargon_meaning(const char *said, size_t *row);

/* Whether two words differ in case and separators (`-`, `_`, `.`) at most. */
bool jargon_same(const char *a, const char *b);

#endif
