/* json_share.h: values that stand many times in a text, made once. A dictionary of modules repeats a few
 * settings thousands of times, and a value of jansson's is two or three allocations. */
#ifndef PERFC_IMPORT_JSON_SHARE_H
#define PERFC_IMPORT_JSON_SHARE_H

#include <jansson.h>

enum {
    SHARED_FLAT_BITS = 10,
    SHARED_FLAT = 1 << SHARED_FLAT_BITS,
    SHARED_FLAT_MAX = 128, /* bytes of text */
    SHARED_NESTED = 8,
    SHARED_NESTED_MAX = 256
};

/* Values by their text. All texts are parts of one, which outlives this; the values are borrowed from the
 * tree read so far, which nobody changes and of which nothing may be released before the last look-up. */
struct json_share {
    struct json_shared {
        const char *text;
        size_t length;
        json_t *value;
    } flat[SHARED_FLAT], nested[SHARED_NESTED];
    size_t next; /* of `nested`, the one to give up */
};

/* A number or a string that was read before from the same text, with a reference of its own; or NULL. */
json_t *json_share_scalar(struct json_share *share, const char *text, size_t length);

/* A list or an object that was read before and that the `left` bytes from `text` on begin with, and its
 * length; or NULL. Those that hold no others are found by their text, others among the last ones. */
json_t *json_share_container(struct json_share *share, const char *text, size_t left, size_t *length);

/* Remembers a value and its text. */
void json_share_scalar_put(struct json_share *share, const char *text, size_t length, json_t *value);
void json_share_container_put(struct json_share *share, const char *text, size_t length, json_t *value);

#endif
