/* language.h: the languages that reports speak. Diagnostics on a terminal, keys for machines and this
 * program's own help are English whatever the report's language is. */
#ifndef PERFC_BASE_LANGUAGE_H
#define PERFC_BASE_LANGUAGE_H

#include <stdbool.h>

enum language { LANGUAGE_EN, LANGUAGE_ZH, LANGUAGE_COUNT };

/* "en", "zh": as plans and `--lang` name it. */
const char *language_name(enum language language);

/* "en", "zh-Hans": as HTML names it (BCP 47). */
const char *language_tag(enum language language);

/* The language of this name; false when there is none. */
bool language_find(const char *name, enum language *language);

#endif
