/* json_read.h: JSON text into jansson's values, in runs of bytes rather than one by one. */
#ifndef PERFC_IMPORT_JSON_READ_H
#define PERFC_IMPORT_JSON_READ_H

#include <jansson.h>
#include <stdbool.h>

struct arena;

struct json_wrong {
    const char *what;
    size_t at; /* the byte */
};

/* The value that the text is, for the caller to release with json_decref(); NULL when it is none, and what
 * is wrong. A key that stands twice in one object is wrong. Besides JSON it takes what Python's json module
 * writes for numbers that JSON has not: Infinity, -Infinity and NaN, as 1e308, -1e308 and 0. A value takes 40
 * to 200 bytes of memory, so that `values_max` bounds it. */
json_t *json_read(struct arena *arena, const char *text, size_t length, size_t values_max,
                  struct json_wrong *wrong);

#endif
