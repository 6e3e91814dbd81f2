/* import_fixture.c: model files imported and evaluated. */
#include "import_fixture.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"

static struct import_run run_new(void)
{
    struct import_run run = {.arena = arena_new()};
    run.sources = sources_new(run.arena);
    run.diags = diags_new(run.arena);
    run.imported.text = "";
    return run;
}

struct import_run import_file(const char *path, bool assume_dense)
{
    struct import_run run = run_new();
    struct import_options options = {.assume_dense = assume_dense};
    run.known = import_model(run.arena, run.sources, run.diags, path, &options, &run.imported);
    return run;
}

struct import_run import_bytes(const char *path, const char *bytes, size_t length)
{
    struct import_run run = run_new();
    struct import_options options = {0};
    run.known =
        import_model_bytes(run.arena, run.sources, run.diags, path, bytes, length, &options, &run.imported);
    return run;
}

void import_close(struct import_run *run)
{
    arena_free(run->arena);
}

struct import_error import_error(const struct import_run *run)
{
    struct import_error error = {.code = "", .message = ""};
    if (diags_count(run->diags) == 0)
        return error;
    const struct diag *diag = diags_get(run->diags, 0);
    error.code = diag_info(diag->code)->code;
    error.message = diag->message;
    if (diag->span.file < sources_count(run->sources))
        source_position(sources_get(run->sources, diag->span.file), diag->span.start, &error.line,
                        &error.column);
    return error;
}

const char *import_model_of(struct arena *arena, const char *text)
{
    const char *at = strncmp(text, "model ", 6) == 0 ? text : strstr(text, "\nmodel ");
    cr_assert(at != NULL, "no model in\n%s", text);
    at += *at == '\n' ? 7 : 6;
    bool quoted = *at == '"';
    return arena_strndup(arena, at + quoted, strcspn(at + quoted, quoted ? "\"" : " "));
}

struct result_fixture import_evaluate_file(const char *path)
{
    struct arena *arena = arena_new();
    const char *plan = arena_printf(arena, "import \"%s\"\n", path);
    struct result_fixture fixture = result_open(plan);
    arena_free(arena);
    return fixture;
}

struct result_fixture import_evaluate_text(const char *text)
{
    return result_open(text);
}

void import_add_whole(struct buffer *out, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        buffer_byte(out, (char)(value >> 8 * i & 0xff));
}

void import_expect_malformed(const char *name, const struct buffer *file, const char *words)
{
    struct import_run run = import_bytes(name, buffer_string(file), file->length);
    struct import_error error = import_error(&run);
    cr_assert(!run.known && strcmp(error.code, "E0405") == 0, "%s %s", error.code, error.message);
    cr_assert_not_null(strstr(error.message, words), "%s", error.message);
    import_close(&run);
}
