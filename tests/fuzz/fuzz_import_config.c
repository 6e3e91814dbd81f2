/* fuzz_import_config.c: a libFuzzer target for the import of config.json files. `make fuzz` builds and runs
 * it. The reader of JSON must make of any text what jansson's own makes of it. */
#include <string.h>

#include "fuzz_import.h"
#include "import/json_read.h"

static bool holds(const uint8_t *data, size_t size, const char *word)
{
    size_t length = strlen(word);
    for (size_t i = 0; i + length <= size; i++)
        if (memcmp(data + i, word, length) == 0)
            return true;
    return false;
}

static void compare_readers(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new();
    struct json_wrong wrong = {0};
    json_error_t error;
    json_t *own = json_read(arena, (const char *)data, size, 500000, &wrong);
    json_t *other = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    require((own == NULL) == (wrong.what != NULL) && wrong.at <= size);
    if (own && other)
        require(json_equal(own, other));
    else if (own) /* what Python writes for numbers that JSON has not */
        require(holds(data, size, "NaN") || holds(data, size, "Infinity"));
    else if (other && memchr(data, 0, size) == NULL) /* jansson loses a NUL behind a number */
        require(strcmp(wrong.what, "values are nested too deeply") == 0 ||
                strcmp(wrong.what, "it holds more values than perfc reads") == 0 ||
                strcmp(wrong.what, "it has more keys than any configuration") == 0);
    json_decref(own);
    json_decref(other);
    arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    compare_readers(data, size);
    return import_bytes(size % 3 == 0 ? "config.json" : "org__model.json", data, size, size % 2 == 1);
}
