/* json_text.c: see json_text.h. */
#include "backend/json_text.h"

#include "backend/clean.h"
#include "base/buffer.h"

static int append(const char *bytes, size_t length, void *data)
{
    buffer_add(data, bytes, length);
    return 0;
}

json_t *json_text_node(struct json_writer *writer, const char *text)
{
    return text ? json_string(clean_utf8(writer->arena, text)) : json_null();
}

void json_text_write(struct json_writer *writer, json_t *value)
{
    if (!value || json_dump_callback(value, append, writer->out, JSON_ENCODE_ANY) != 0)
        writer->failed = true;
    json_decref(value);
}
