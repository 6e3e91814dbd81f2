/* json_text.h: texts of JSON that is otherwise composed by hand, escaped by jansson. */
#ifndef PERFC_BACKEND_JSON_TEXT_H
#define PERFC_BACKEND_JSON_TEXT_H

#include <jansson.h>
#include <stdbool.h>

struct arena;
struct buffer;

struct json_writer {
    struct arena *arena;
    struct buffer *out;
    bool failed; /* Jansson ran out of memory */
};

/* A string, or null for NULL; ill-formed bytes become U+FFFD, since JSON is UTF-8. NULL: out of memory. The
 * caller owns the reference. */
json_t *json_text_node(struct json_writer *writer, const char *text);

/* Writes a value and gives up the caller's reference to it; NULL makes the writer fail. */
void json_text_write(struct json_writer *writer, json_t *value);

#endif
