/* fuzz_table.c: tables of measurements. */
#include <stdint.h>

#include "base/arena.h"
#include "source/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new();
    struct sources *sources = sources_new(arena);
    struct diags *diags = diags_new(arena);
    struct table table;
    const char *text = arena_strndup(arena, (const char *)data, size);
    uint32_t file = sources_add_data(sources, "fuzz.csv", text, size);
    bool good = table_read(arena, sources, diags, file, &table);
    if (good != (diags_count(diags) == 0) || (good && table.columns == 0))
        __builtin_trap();
    for (size_t i = 0; good && i < table.count; i++)
        for (size_t j = 0; j < table.columns; j++)
            if (table.rows[i].fields[j].span.end > size)
                __builtin_trap();
    arena_free(arena);
    return 0;
}
