/* test_cli_golden.c: whole reports against expected files.
 *
 * Every tests/golden/FEATURE/NAME.perf is compiled, in its own directory, once for each file beside it
 * that has its name and another suffix: NAME.txt, .md, .html, .json or .csv is the report in that format,
 * NAME.err what standard error holds. NAME.args adds arguments, one per line; NAME.status is the exit
 * status (else 0). Files in a directory called `parts` are only imported. UPDATE_GOLDENS=1 rewrites what
 * differs: read the difference before committing it. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "run.h"

static const char *const formats[] = {"txt", "md", "html", "json", "csv", "err"};

struct golden {
    struct arena *arena;
    const char *directory, *stem; /* "…/tests/golden/sweep", "batch" */
    struct lines arguments;
    int status;
};

static const char *sibling(const struct golden *golden, const char *suffix)
{
    return arena_printf(golden->arena, "%s/%s.%s", golden->directory, golden->stem, suffix);
}

/* Where libxml2 puts line ends between elements differs by version; what they say does not. */
static const char *normalised(struct arena *arena, const char *format, const char *text)
{
    if (strcmp(format, "html") != 0)
        return text;
    struct buffer result = buffer_in(arena);
    for (; *text != '\0'; text++) {
        if (*text == '\n' && (text[1] == '<' || (result.length > 0 && result.data[result.length - 1] == '>')))
            continue;
        buffer_byte(&result, *text);
    }
    return buffer_string(&result);
}

static struct run compile(const struct golden *golden, const char *format)
{
    struct arena *arena = golden->arena;
    VEC(const char *) argv = {0};
    *VEC_PUSH(arena, argv) = perfc_path();
    if (strcmp(format, "err") != 0) {
        *VEC_PUSH(arena, argv) = "-f";
        *VEC_PUSH(arena, argv) = strcmp(format, "txt") == 0 ? "text" : format;
    }
    for (size_t i = 0; i < golden->arguments.list.count; i++)
        *VEC_PUSH(arena, argv) = golden->arguments.list.items[i];
    *VEC_PUSH(arena, argv) = arena_printf(arena, "%s.perf", golden->stem);
    *VEC_PUSH(arena, argv) = NULL;
    return run_command(arena, argv.items, (struct run_options){.directory = golden->directory});
}

/* The first line that differs, for the message. */
static const char *difference(struct arena *arena, const char *expected, const char *actual)
{
    struct lines left = split_lines(arena, expected), right = split_lines(arena, actual);
    size_t i = 0;
    while (i < left.list.count && i < right.list.count && !strcmp(left.list.items[i], right.list.items[i]))
        i++;
    return arena_printf(arena, "line %zu\n    expected: %.300s\n    actual:   %.300s", i + 1,
                        i < left.list.count ? left.list.items[i] : "(end)",
                        i < right.list.count ? right.list.items[i] : "(end)");
}

/* Compares one format; returns whether it is expected at all. */
static bool check(const struct golden *golden, const char *format, struct buffer *faults)
{
    struct arena *arena = golden->arena;
    const char *path = sibling(golden, format);
    const char *expected = read_file(arena, path, NULL);
    if (expected == NULL)
        return false;
    struct run run = compile(golden, format);
    const char *actual = strcmp(format, "err") == 0 ? run.err : run.out;
    if (run.status != golden->status)
        buffer_printf(faults, "  %s: exit status %d, not %d\n%.2000s", path, run.status, golden->status,
                      run.err);
    if (strcmp(normalised(arena, format, expected), normalised(arena, format, actual)) == 0)
        return true;
    if (getenv("UPDATE_GOLDENS") != NULL)
        write_file(path, actual, strlen(actual));
    else
        buffer_printf(faults, "  %s: %s\n", path, difference(arena, expected, actual));
    return true;
}

static void check_plan(struct arena *arena, const char *path, struct buffer *faults)
{
    const char *slash = strrchr(path, '/');
    struct golden golden = {
        .arena = arena,
        .directory = arena_strndup(arena, path, (size_t)(slash - path)),
        .stem = arena_strndup(arena, slash + 1, strlen(slash + 1) - strlen(".perf")),
    };
    const char *arguments = read_file(arena, sibling(&golden, "args"), NULL);
    if (arguments != NULL)
        golden.arguments = split_lines(arena, arguments);
    const char *status = read_file(arena, sibling(&golden, "status"), NULL);
    if (status != NULL)
        golden.status = atoi(status);
    size_t expected = 0;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        expected += check(&golden, formats[i], faults);
    if (expected == 0)
        buffer_printf(faults, "  %s: no expected file beside it\n", path);
}

Test(cli_golden, reports_are_as_expected)
{
    struct arena *arena = arena_new();
    struct buffer faults = buffer_in(arena);
    struct paths plans = find_files(arena, source_path(arena, "tests/golden"), ".perf");
    cr_assert(plans.list.count > 0, "no golden plans found");
    for (size_t i = 0; i < plans.list.count; i++) {
        if (strstr(plans.list.items[i], "/parts/") == NULL)
            check_plan(arena, plans.list.items[i], &faults);
    }
    cr_assert(faults.length == 0, "\n%s", buffer_string(&faults));
    arena_free(arena);
}
