/* json.c: a JSON file as jansson's values. These forget where they were, so a second, small scanner finds the
 * place of a member when a diagnostic needs it. */
#include "import/json.h"

#include <string.h>

#include "import/json_read.h"

/* ---- reading ------------------------------------------------------------------------------- */

static struct span span_of(uint32_t file, size_t start, size_t end)
{
    return (struct span){file, (uint32_t)start, (uint32_t)end};
}

bool json_file_read(struct import_job *job, const char *path, const char *text, size_t length,
                    size_t values_max, struct json_file *json)
{
    *json = (struct json_file){.text = text, .length = length};
    json->file = sources_add(job->sources, path, text, length, true);
    struct json_wrong wrong;
    json->root = json_read(job->arena, text, length, values_max, &wrong);
    if (!json->root) {
        job_error_at(job, DIAG_E0405, span_of(json->file, wrong.at, wrong.at + (wrong.at < length)),
                     "`%s` is not JSON: %s", path, wrong.what);
        return false;
    }
    if (!json_is_object(json->root)) {
        json_decref(json->root);
        json->root = NULL;
        job_error_at(job, DIAG_E0405, span_of(json->file, 0, length > 0), "`%s` is not a JSON object", path);
        return false;
    }
    return true;
}

/* ---- places -------------------------------------------------------------------------------- */

struct cursor {
    const char *text;
    size_t at, length;
};

static char peek(const struct cursor *cursor)
{
    return cursor->at < cursor->length ? cursor->text[cursor->at] : '\0';
}

static void skip_blank(struct cursor *cursor)
{
    while (cursor->at < cursor->length && strchr(" \t\r\n,:", cursor->text[cursor->at]) != NULL)
        cursor->at++;
}

static void skip_string(struct cursor *cursor)
{
    cursor->at++;
    while (cursor->at < cursor->length && cursor->text[cursor->at] != '"')
        cursor->at += cursor->text[cursor->at] == '\\' ? 2 : 1;
    cursor->at = cursor->at < cursor->length ? cursor->at + 1 : cursor->length;
}

/* Past one value; nested ones by counting, as the text is known to be well formed. */
static void skip_value(struct cursor *cursor)
{
    size_t depth = 0;
    do {
        skip_blank(cursor);
        char byte = peek(cursor);
        if (byte == '"') {
            skip_string(cursor);
        } else if (byte == '{' || byte == '[') {
            depth++;
            cursor->at++;
        } else if (byte == '}' || byte == ']') {
            depth -= depth > 0;
            cursor->at++;
        } else {
            while (cursor->at < cursor->length && strchr(" \t\r\n,:{}[]", peek(cursor)) == NULL)
                cursor->at++;
        }
    } while (depth > 0 && cursor->at < cursor->length);
}

/* Stands at an object; goes to the key, and returns whether the object has it. */
static bool find_key(struct cursor *cursor, const char *key)
{
    size_t size = strlen(key);
    skip_blank(cursor);
    if (peek(cursor) != '{')
        return false;
    cursor->at++;
    for (;;) {
        skip_blank(cursor);
        if (peek(cursor) != '"')
            return false;
        size_t start = cursor->at;
        skip_string(cursor);
        if (cursor->at - start == size + 2 && memcmp(cursor->text + start + 1, key, size) == 0) {
            cursor->at = start;
            return true;
        }
        skip_value(cursor);
    }
}

struct span json_place(const struct json_file *json, const char *const *keys)
{
    struct cursor cursor = {json->text, 0, json->length};
    struct span place = span_of(json->file, 0, json->length > 0);
    for (; *keys != NULL; keys++) {
        if (!find_key(&cursor, *keys))
            break;
        size_t start = cursor.at;
        skip_string(&cursor);
        size_t value = cursor.at;
        skip_blank(&cursor);
        char kind = peek(&cursor);
        if (kind != '{' && kind != '[') {
            struct cursor end = cursor;
            skip_value(&end);
            value = end.at;
        }
        place = span_of(json->file, start, value > json->length ? json->length : value);
    }
    return place;
}
