/* fuzz_parse.c: a libFuzzer target for the parser. Not part of `make check`.
 *
 *     make grammar/scan.c
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -std=c17 -D_POSIX_C_SOURCE=200809L -Isrc -I. \
 *         -o fuzz tests/fuzz/fuzz_parse.c $(ls grammar/[a-z]*.c src/{base,source,syntax}/[a-z]*.c) \
 *         -lutf8proc -ljansson
 *     ./fuzz -max_len=4096 tests/fuzz/parse
 *
 * Beyond memory errors it holds the parser to its promises: a tree always comes back, diagnostics stay within
 * the text and their number within bounds, they can be rendered, and an expression that parses is written as
 * text that parses to the same text again. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/intern.h"
#include "source/diag.h"
#include "source/diag_render.h"
#include "source/source.h"
#include "syntax/ast.h"
#include "syntax/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static void check_diags(struct arena *arena, struct diags *diags, const struct sources *sources, size_t size)
{
    require(diags_count(diags) <= 1100);
    for (size_t i = 0; i < diags_count(diags); i++) {
        struct span span = diags_get(diags, i)->span;
        require(span.start <= span.end && span.end <= size);
    }
    diags_sort(diags);
    struct buffer text = buffer_in(arena);
    diags_render_text(&text, diags, sources, (struct diag_render_options){.limit = 30});
}

static void check_plan(const char *data, size_t size)
{
    struct arena *arena = arena_new();
    struct sources *sources = sources_new(arena);
    struct diags *diags = diags_new(arena);
    uint32_t file = sources_add(sources, "fuzz.perf", arena_strndup(arena, data, size), size, false);
    struct syntax_tree *tree = parse_file(arena, strings_new(arena), sources, file, diags);
    require(tree != NULL && tree->statements != NULL);
    struct buffer dump = buffer_in(arena);
    ast_dump(&dump, tree);
    check_diags(arena, diags, sources, size);
    arena_free(arena);
}

static const char *rewritten(struct arena *arena, const char *text, size_t size, int valid)
{
    struct sources *sources = sources_new(arena);
    struct diags *diags = diags_new(arena);
    uint32_t file = sources_add(sources, "fuzz.perf", text, size, false);
    struct expr *expr = parse_expression(arena, strings_new(arena), sources, file, diags);
    require((expr == NULL) == (diags_errors(diags) > 0));
    require(expr != NULL || !valid);
    check_diags(arena, diags, sources, size);
    if (expr == NULL)
        return NULL;
    struct buffer out = buffer_in(arena);
    expr_write(&out, expr);
    return buffer_string(&out);
}

static void check_expression(const char *data, size_t size)
{
    struct arena *arena = arena_new();
    const char *first = rewritten(arena, arena_strndup(arena, data, size), size, 0);
    if (first != NULL)
        require(strcmp(first, rewritten(arena, first, strlen(first), 1)) == 0);
    arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_plan((const char *)data, size);
    check_expression((const char *)data, size);
    return 0;
}
