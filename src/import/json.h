/* json.h: JSON as jansson's values, with the places of members for diagnostics. */
#ifndef PERFC_IMPORT_JSON_H
#define PERFC_IMPORT_JSON_H

#include <jansson.h>

#include "import/job.h"

struct json_file {
    uint32_t file; /* among the sources */
    const char *text;
    size_t length;
    json_t *root; /* an object; the caller releases it with json_decref() */
};

/* The largest configurations name the storage of each expert of each layer: some 200,000 values. An index has
 * a member for each tensor. */
enum { CONFIG_VALUES_MAX = 500000, INDEX_VALUES_MAX = 2000000 };

/* Reads a text of at most `values_max` values as one JSON object. False after an error that has line and
 * column. Besides JSON it takes what Python's json module writes for numbers that JSON has not: Infinity,
 * -Infinity and NaN. */
bool json_file_read(struct import_job *job, const char *path, const char *text, size_t length,
                    size_t values_max, struct json_file *json);

/* The place of the member with these keys, outermost first (NULL ends them): its key and value. The place of
 * the last key that exists when one is missing. */
struct span json_place(const struct json_file *json, const char *const *keys);

#endif
