/* expression.h: the regular expressions of Python that lists of modules hold, as POSIX ones. */
#ifndef PERFC_IMPORT_EXPRESSION_H
#define PERFC_IMPORT_EXPRESSION_H

#include "base/arena.h"

/* A POSIX extended expression that matches at the beginning of a name what re.match() does with `text`, owned
 * by `arena`. NULL when `text` uses more than POSIX has, is no expression, or would be large once compiled.
 */
const char *expression_posix(struct arena *arena, const char *text);

#endif
