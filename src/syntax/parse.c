/* parse.c: one file to one tree. Looks at the text as a whole, then runs the grammar over it. */
#include "syntax/parse.h"

#include <stdarg.h>
#include <string.h>

#include "base/arena.h"
#include "base/utf8.h"
#include "grammar/parse.h"
#include "source/diag.h"
#include "syntax/ast_build.h"
#include "syntax/parser.h"
#include "syntax/scan.h"
#include "syntax/unclosed.h"

struct diag *parser_error(struct parser *parser, enum diag_code code, struct span span, const char *format,
                          ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *message = arena_vprintf(parser->arena, format, arguments);
    va_end(arguments);
    parser->errors++;
    return diag_add(parser->diags, code, span, "%s", message);
}

/* ---- the text as a whole ---- */

static bool is_ascii(const char *text, size_t length)
{
    uint64_t seen = 0;
    size_t at = 0;
    for (; at + 8 <= length; at += 8) {
        uint64_t word;
        memcpy(&word, text + at, 8);
        seen |= word;
    }
    for (; at < length; at++)
        seen |= (unsigned char)text[at];
    return (seen & UINT64_C(0x8080808080808080)) == 0;
}

static size_t count_nul(const char *text, size_t length, size_t *first)
{
    size_t count = 0;
    for (const char *at = text, *end = text + length; (at = memchr(at, '\0', (size_t)(end - at))) != NULL;
         at++) {
        if (count++ == 0)
            *first = (size_t)(at - text);
        if (at + 1 == end)
            break;
    }
    return count;
}

static size_t count_invalid(const char *text, size_t length, size_t *first)
{
    size_t count = 0;
    for (size_t at = 0; (at += utf8_valid_prefix(text + at, length - at)) < length; at++)
        if (count++ == 0)
            *first = at;
    return count;
}

static bool has_utf16_mark(const char *text, size_t length)
{
    return length >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0);
}

/* False when this is no text at all and parsing it would only make noise. */
static bool check_text(struct parser *parser)
{
    const char *text = parser->source->text;
    size_t length = parser->source->length, nul = 0, invalid = 0;
    size_t nul_count = count_nul(text, length, &nul);
    size_t invalid_count = is_ascii(text, length) ? 0 : count_invalid(text, length, &invalid);
    size_t bad = nul_count + invalid_count;
    parser->clean = bad == 0;
    if (parser->clean)
        return true;
    if (has_utf16_mark(text, length) || (bad > 16 && bad > length / 32)) {
        size_t first = nul_count == 0 || (invalid_count > 0 && invalid < nul) ? invalid : nul;
        struct diag *diag = parser_error(parser, DIAG_E0135, parser_span(parser, first, first + 1),
                                         "this is not a text file in UTF-8");
        if (has_utf16_mark(text, length))
            diag_note(parser->diags, diag, "it looks like UTF-16; save it as UTF-8");
        return false;
    }
    if (nul_count > 0) {
        struct diag *diag = parser_error(parser, DIAG_E0134, parser_span(parser, nul, nul + 1),
                                         "a NUL byte stands in the text");
        if (nul_count > 1)
            diag_note(parser->diags, diag, "there are %zu of them in the file", nul_count);
    }
    if (invalid_count > 0) {
        struct diag *diag = parser_error(parser, DIAG_E0106, parser_span(parser, invalid, invalid + 1),
                                         "the byte 0x%02x is not valid UTF-8", (unsigned char)text[invalid]);
        if (invalid_count > 1)
            diag_note(parser->diags, diag, "there are %zu such bytes in the file", invalid_count);
    }
    return true;
}

/* ---- entry points ---- */

/* The state is no part of the tree: ten kilobytes that are gone when the file is read. */
static void begin(struct parser *parser, struct arena *arena, struct strings *strings,
                  const struct sources *sources, uint32_t file, struct diags *diags)
{
    memset(parser, 0, sizeof *parser);
    parser->arena = arena;
    parser->strings = strings;
    parser->diags = diags;
    parser->source = sources_get(sources, file);
    parser->file = file;
}

static void run(struct parser *parser)
{
    if (parser->source->length > SOURCE_MAX_BYTES) {
        parser_error(parser, DIAG_E0136, parser_span(parser, 0, 0), "the file is larger than %d MiB",
                     SOURCE_MAX_BYTES >> 20);
        return;
    }
    if (!check_text(parser))
        return;
    if (setjmp(parser->scan_failed) != 0) {
        parser_error(parser, DIAG_E0132, parser_span(parser, 0, 0), "the scanner gave up");
        return;
    }
    scan_open(parser);
    perf_parse(parser);
}

struct syntax_tree *parse_file(struct arena *arena, struct strings *strings, const struct sources *sources,
                               uint32_t file, struct diags *diags)
{
    struct parser parser;
    begin(&parser, arena, strings, sources, file, diags);
    run(&parser);
    if (parser.statements == NULL)
        parser.statements = ast_statements(arena);
    unclosed_repair(&parser);
    struct syntax_tree *tree = ARENA_NEW(arena, struct syntax_tree);
    tree->file = file;
    tree->statements = parser.statements;
    return tree;
}

struct expr *parse_expression(struct arena *arena, struct strings *strings, const struct sources *sources,
                              uint32_t file, struct diags *diags)
{
    struct parser parser;
    begin(&parser, arena, strings, sources, file, diags);
    parser.expression_only = true;
    run(&parser);
    return parser.errors == 0 ? parser.expression : NULL;
}
