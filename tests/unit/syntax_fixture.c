/* syntax_fixture.c: see syntax_fixture.h. */
#include "syntax_fixture.h"

#include <string.h>

#include "base/buffer.h"
#include "base/intern.h"
#include "syntax/parse.h"

static struct parsed parsed(struct arena *arena, const char *text, size_t length, bool expression)
{
    struct parsed parsed = {.arena = arena, .sources = sources_new(arena), .diags = diags_new(arena)};
    struct strings *strings = strings_new(arena);
    uint32_t file =
        sources_add(parsed.sources, "plan.perf", arena_strndup(arena, text, length), length, false);
    if (expression)
        parsed.expr = parse_expression(arena, strings, parsed.sources, file, parsed.diags);
    else
        parsed.tree = parse_file(arena, strings, parsed.sources, file, parsed.diags);
    diags_sort(parsed.diags);
    return parsed;
}

struct parsed parsed_file(struct arena *arena, const char *text, size_t length)
{
    return parsed(arena, text, length, false);
}

struct parsed parsed_expression(struct arena *arena, const char *text, size_t length)
{
    return parsed(arena, text, length, true);
}

const char *parsed_errors(const struct parsed *parsed)
{
    struct buffer out = buffer_in(parsed->arena);
    for (size_t i = 0; i < diags_count(parsed->diags); i++) {
        const struct diag *diag = diags_get(parsed->diags, i);
        unsigned line, column;
        source_position(sources_get(parsed->sources, diag->span.file), diag->span.start, &line, &column);
        buffer_printf(&out, "%s %u:%u\n", diag_info(diag->code)->code, line, column);
    }
    return buffer_string(&out);
}

const char *parsed_dump(const struct parsed *parsed)
{
    struct buffer out = buffer_in(parsed->arena);
    ast_dump(&out, parsed->tree);
    return buffer_string(&out);
}

const char *written(struct arena *arena, const struct expr *expr)
{
    struct buffer out = buffer_in(arena);
    expr_write(&out, expr);
    return buffer_string(&out);
}

const char *repeated(struct arena *arena, const char *text, size_t count)
{
    struct buffer out = buffer_in(arena);
    buffer_repeat(&out, text, count);
    return buffer_string(&out);
}

const char *errors_of(struct arena *arena, const char *text)
{
    struct parsed result = parsed_file(arena, text, strlen(text));
    return parsed_errors(&result);
}

const char *dump_of(struct arena *arena, const char *text)
{
    struct parsed result = parsed_file(arena, text, strlen(text));
    return parsed_dump(&result);
}
