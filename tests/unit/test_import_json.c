/* test_import_json.c: the reader of JSON against jansson's own. `make fuzz` compares them on any bytes. */
#include <criterion/criterion.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "import/json_read.h"

/* What the reader makes of a text is what jansson's own reader does. */
Test(import_json, values_are_those_of_jansson)
{
    static const char *const texts[] = {
        "{\"a\\u0062\\n\": \"\\ud83d\\ude00\\u20ac\\u00e9/\\/\\\"\", \"\": [[], {}, true, false, null]}",
        "[0, -0, 9223372036854775807, -9223372036854775808, 1.5e-3, -2E+10, 0.1, 1e-400, 123456789012.75]",
        " \"caf\xc3\xa9 \xf0\x9f\x98\x80\" ",
        "{\"a\": {\"b\": [{\"c\": 1}, {\"c\": 2}]}}",
        /* what repeats: with blanks, with brackets in strings, nested, and alike but for a character */
        "[{\"a\": \"]\"}, {\"a\": \"]\"}, {\"a\": \"}\"}, [], [ ], [], [[1], [1]], [[1], [1]], [[1], [2]]]",
        "{\"a\": {\"bits\": 4, \"size\": 64}, \"b\": {\"bits\": 8, \"size\": 64}, \"c\": {\"bits\": 4, "
        "\"size\": 64}}",
        "[1, 1.0, \"1\", 1, 1.0, \"1\", \"1.0\", -1, 1e0, true, \"true\", \"\", \"\", \"\\u0031\", "
        "\"\\u0031\"]",
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

/* Strings are read eight bytes at a time: what ends or breaks one is seen wherever it stands among them.
 * Bytes that are no UTF-8, and controls, are errors of both readers. */
Test(import_json, strings_end_at_any_place)
{
    static const char *const middles[] = {"",         "!",        "#",    "[",    "]",    "\x7f",
                                          "\\n",      "\\\"",     "\x1f", "\x80", "\xc3", "\xff",
                                          "\xc3\xa9", "\xe2\x82", "\n",   "\\"};
    struct arena *arena = arena_new();
    struct json_wrong why;
    for (size_t m = 0; m < sizeof middles / sizeof middles[0]; m++)
        for (int before = 0; before < 18; before++)
            for (int after = 0; after < 10; after++) {
                struct buffer text = buffer_in(arena);
                buffer_printf(&text, "[\"%.*s%s%.*s\"]", before, "aaaaaaaaaaaaaaaaaaaa", middles[m], after,
                              "bbbbbbbbbb");
                const char *string = buffer_string(&text);
                json_t *own = json_read(arena, string, strlen(string), 100, &why);
                json_t *other = json_loads(string, 0, NULL);
                cr_assert(own ? other && json_equal(own, other) : !other, "%s", string);
                json_decref(own);
                json_decref(other);
            }
    arena_free(arena);
}

/* Texts of 2 MB, each of one kind of value, whose reading jansson's allocations could make slow. */
enum shape { NUMBERS, EMPTY_LISTS, MEMBERS, OBJECTS, LISTS_OF_NUMBERS, MODULES, STRINGS, DEEP_LISTS, SHAPES };

static void put_value(struct buffer *text, enum shape shape, size_t i)
{
    switch (shape) {
    case NUMBERS: buffer_printf(text, "%zu", i % 10); break;
    case EMPTY_LISTS: buffer_text(text, "[]"); break;
    case MEMBERS: buffer_printf(text, "\"k%zu\":%zu", i, i); break;
    case OBJECTS: buffer_printf(text, "\"k%zu\":{\"a\":%zu}", i, i); break;
    case LISTS_OF_NUMBERS: buffer_printf(text, "[%zu]", i); break;
    case MODULES:
        buffer_printf(text, "\"model.layers.%zu.mlp.experts.%zu.up_proj\":{\"bits\":%zu,\"group_size\":128}",
                      i / 128, i % 128, 2 + i % 7);
        break;
    case STRINGS: buffer_printf(text, "\"%zu\"", i); break;
    default:
        buffer_repeat(text, "[", 200);
        buffer_printf(text, "%zu", i);
        buffer_repeat(text, "]", 200);
    }
}

/* A few hundredths of a second each, some 0.1 s for 10 MB; the bound leaves room for sanitizers. */
Test(import_json, no_shape_of_values_is_slow)
{
    struct arena *arena = arena_new();
    for (enum shape shape = 0; shape < SHAPES; shape++) {
        bool members = shape == MEMBERS || shape == OBJECTS || shape == MODULES;
        struct buffer text = buffer_in(arena);
        struct json_wrong why = {0};
        buffer_text(&text, members ? "{\"x\":{" : "{\"x\":[");
        for (size_t i = 0; text.length < 2000000; i++) {
            buffer_text(&text, i > 0 ? "," : "");
            put_value(&text, shape, i);
        }
        buffer_text(&text, members ? "}}" : "]}");
        clock_t start = clock();
        json_t *value = json_read(arena, text.data, text.length, 2000000, &why);
        bool known = value != NULL;
        json_decref(value);
        double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        cr_assert(seconds < 0.5, "shape %d: %g s", (int)shape, seconds);
        cr_assert(known || strstr(why.what, "more values"), "shape %d: %s", (int)shape, why.what);
        bool useful = shape == NUMBERS || shape == EMPTY_LISTS || shape == MODULES;
        cr_assert(known || !useful, "shape %d: %s", (int)shape, why.what);
    }
    arena_free(arena);
}
