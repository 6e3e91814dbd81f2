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

/* Style, script and the policy that holds their digests are files of their own and no part of a report. */
static const char *without_assets(struct arena *arena, const char *text)
{
    static const char *const parts[][2] = {{"<style", "</style>"},
                                           {"<script", "</script>"},
                                           {"<meta http-equiv=\"Content-Security-Policy\"", ">"}};
    struct buffer result = buffer_in(arena);
    while (*text != '\0') {
        const char *end = NULL;
        for (size_t i = 0; i < sizeof parts / sizeof parts[0] && end == NULL; i++) {
            if (strncmp(text, parts[i][0], strlen(parts[i][0])) == 0)
                end = strstr(text, parts[i][1]) + strlen(parts[i][1]);
        }
        if (end == NULL)
            buffer_byte(&result, *text++);
        else
            text = end;
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
    bool html = strcmp(format, "html") == 0;
    if (html)
        actual = without_assets(arena, actual);
    if (run.status != golden->status)
        buffer_printf(faults, "  %s: exit status %d, not %d\n%.2000s", path, run.status, golden->status,
                      run.err);
    if (strcmp(expected, actual) == 0)
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

static size_t occurrences(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part))
        count++;
    return count;
}

/* Markdown without its fenced blocks, which are shown as they are. */
static const char *outside_fences(struct arena *arena, const char *text)
{
    struct lines lines = split_lines(arena, text);
    struct buffer result = buffer_in(arena);
    bool fenced = false;
    for (size_t i = 0; i < lines.list.count; i++) {
        if (strncmp(lines.list.items[i], "```", 3) == 0)
            fenced = !fenced;
        else if (!fenced)
            buffer_printf(&result, "%s\n", lines.list.items[i]);
    }
    cr_assert(!fenced, "a fence is not closed");
    return buffer_string(&result);
}

/* The comparison above leaves the page's own script out, so an injected one is looked for here. */
Test(cli_golden, strings_never_become_markup)
{
    struct arena *arena = arena_new();
    const char *nasty = source_path(arena, "tests/golden/strings/strings.perf");
    const char *plain = source_path(arena, "tests/golden/smallest/smallest.perf");
    struct run page = RUN(arena, "-f", "html", nasty), innocent = RUN(arena, "-f", "html", plain);
    cr_assert_eq(page.status, 0);
    cr_assert_eq(occurrences(page.out, "<script"), occurrences(innocent.out, "<script"));
    cr_assert_eq(occurrences(page.out, "<img"), 0);
    cr_assert_eq(occurrences(page.out, "<b>g"), 0);
    cr_assert(occurrences(page.out, "&lt;script&gt;") > 0);
    struct run markdown = RUN(arena, "-f", "md", nasty);
    cr_assert_eq(occurrences(outside_fences(arena, markdown.out), "<script"), 0);
    struct run text = RUN(arena, "-f", "text", nasty);
    for (const char *at = text.out; *at != '\0'; at++)
        cr_assert((unsigned char)*at >= ' ' || *at == '\n', "control byte %d", *at);
    cr_assert_eq(occurrences(text.out, "\xE2\x80\xAE"), 0, "an override of the reading direction");
    arena_free(arena);
}
