/* fuzz_import.h: what the libFuzzer targets of the import readers share: any bytes give a declaration that
 * parses without a diagnostic, or errors that lie within the text, and never both or neither. */
#ifndef PERFC_TESTS_FUZZ_IMPORT_H
#define PERFC_TESTS_FUZZ_IMPORT_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/intern.h"
#include "import/import.h"
#include "source/diag.h"
#include "source/diag_render.h"
#include "source/source.h"
#include "syntax/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static void check_errors(struct arena *arena, struct diags *diags, const struct sources *sources)
{
    require(diags_errors(diags) > 0);
    for (size_t i = 0; i < diags_count(diags); i++) {
        struct span span = diags_get(diags, i)->span;
        if (span.file == UINT32_MAX)
            continue; /* about a file that is not text */
        require(span.file < sources_count(sources));
        require(span.start <= span.end && span.end <= sources_get(sources, span.file)->length);
    }
    struct buffer text = buffer_in(arena);
    diags_sort(diags);
    diags_render_text(&text, diags, sources, (struct diag_render_options){.limit = 30});
}

static int import_bytes(const char *path, const uint8_t *data, size_t size, bool assume_dense)
{
    struct arena *arena = arena_new();
    struct sources *sources = sources_new(arena);
    struct diags *diags = diags_new(arena);
    struct import_options options = {.assume_dense = assume_dense};
    struct imported imported = {0};
    char *text = arena_strndup(arena, (const char *)data, size);
    if (import_model_bytes(arena, sources, diags, path, text, size, &options, &imported)) {
        require(diags_errors(diags) == 0);
        uint32_t file = sources_add(sources, path, imported.text, imported.length, false);
        parse_file(arena, strings_new(arena), sources, file, diags);
        require(diags_count(diags) == 0);
    } else {
        check_errors(arena, diags, sources);
    }
    require(arena_used(arena) < 256u << 20);
    arena_free(arena);
    return 0;
}

#endif
