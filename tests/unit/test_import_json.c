/* test_import_json.c: the reader of JSON against jansson's own. `make fuzz` compares them on any bytes. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/arena.h"
#include "import/json_read.h"

/* What the reader makes of a text is what jansson's own reader does. */
Test(import_json, values_are_those_of_jansson)
{
    static const char *const texts[] = {
        "{\"a\\u0062\\n\": \"\\ud83d\\ude00\\u20ac\\u00e9/\\/\\\"\", \"\": [[], {}, true, false, null]}",
        "[0, -0, 9223372036854775807, -9223372036854775808, 1.5e-3, -2E+10, 0.1, 1e-400, 123456789012.75]",
        " \"caf\xc3\xa9 \xf0\x9f\x98\x80\" ",
        "{\"a\": {\"b\": [{\"c\": 1}, {\"c\": 2}]}}",
    };
    static const char *const wrong[] = {
        "[9223372036854775808]", "[1.]", "[-]",         "[1e]", "{\"a\"}", "[1,]",
        "[\"\\u12\"]",           "nul",  "\"\\u0000\"", "",     "[+1]",    "{1: 2}"};
    struct arena *arena = arena_new();
    struct json_wrong why;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        json_t *own = json_read(arena, texts[i], strlen(texts[i]), 100, &why);
        json_t *other = json_loads(texts[i], JSON_DECODE_ANY, NULL);
        cr_assert(own && other && json_equal(own, other), "%s", texts[i]);
        json_decref(own);
        json_decref(other);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        cr_assert(json_read(arena, wrong[i], strlen(wrong[i]), 100, &why) == NULL &&
                      json_loads(wrong[i], JSON_DECODE_ANY, NULL) == NULL,
                  "%s", wrong[i]);
    cr_assert(json_read(arena, "[1, 2, 3]", 9, 3, &why) == NULL && strstr(why.what, "more values"));
    arena_free(arena);
}
