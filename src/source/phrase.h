/* phrase.h: texts that are data, in other languages.
 *
 * A reason ("the scenario has no prompt"), a value in words ("memory") or a warning is English wherever a
 * plan is evaluated: conditions compare such texts, saved reports hold them, terminals print them. A report
 * in another language looks each up where it shows it. phrases.def has the translations, keyed by the English
 * text or, for texts that are composed, by their printf format. */
#ifndef PERFC_SOURCE_PHRASE_H
#define PERFC_SOURCE_PHRASE_H

#include <stdarg.h>
#include <stddef.h>

#include "base/language.h"

struct arena;
struct phrases;

/* Composed texts of one compilation, by what they say in English. */
struct phrases *phrases_new(struct arena *arena);

/* Composes a text in English, and remembers what it says in the other languages if its format has a row. */
const char *phrases_compose(struct phrases *phrases, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
const char *phrases_printf(struct phrases *phrases, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same where all arguments are texts that are looked up in their turn, "%s" in the format. */
const char *phrases_of_phrases(struct phrases *phrases, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The text in a language; itself where nothing else is known. `phrases` may be NULL: then only fixed texts
 * are. */
const char *phrase_in(const struct phrases *phrases, enum language language, const char *english);

#endif
