/* test_cli_diagnostics.c: every diagnostic code, at its exact line and column.
 *
 * Each tests/diagnostics/CODE-SLUG[-VARIANT].perf begins with what `perfc check` must say about it, one
 * line per diagnostic in order, and nothing else:
 *
 *     # expect: E0207 7:14
 *     # args: --set chat.batch=no
 *
 * `# command: report` makes the report in place of `perfc check`. The place of a diagnostic that has none in
 * the file is `-`. A place in an imported file is `NAME:LINE:COLUMN`. Files in `parts` are only imported. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "run.h"
#include "source/diag.h"

/* Codes whose input is made by a test because a file in the tree could not hold it. */
static const char *const made_by_tests[] = {"E0106", "E0133", "E0134", "E0135", "E0136", "E0403"};

static struct arena *arena;

static void set_up(void)
{
    arena = arena_new();
}

static void tear_down(void)
{
    arena_free(arena);
}

TestSuite(cli_diagnostics, .init = set_up, .fini = tear_down);

/* "LINE:COLUMN", or "PART.perf:LINE:COLUMN" for another file than `name`; "-" without a place. */
static const char *place_of(const char *line, const char *head, const char *name)
{
    const char *path_end = strstr(line, ".perf:");
    if (path_end == NULL || path_end > head)
        return "-";
    path_end += strlen(".perf");
    const char *base = path_end;
    while (base > line && base[-1] != '/')
        base--;
    const char *end = strstr(path_end + 1, ": ");
    const char *from =
        (size_t)(path_end - base) == strlen(name) && !strncmp(base, name, strlen(name)) ? path_end + 1 : base;
    return end == NULL ? "-" : arena_strndup(arena, from, (size_t)(end - from));
}

/* The diagnostics of a standard error as lines "CODE PLACE". */
static const char *actual_diagnostics(const char *text, const char *name)
{
    struct buffer result = buffer_in(arena);
    struct lines lines = split_lines(arena, text);
    for (size_t i = 0; i < lines.list.count; i++) {
        const char *line = lines.list.items[i];
        if (line[0] == ' ')
            continue; /* quoted source */
        const char *head = strstr(line, "error: ");
        if (head == NULL)
            head = strstr(line, "warning: ");
        const char *code = strrchr(line, '[');
        if (head == NULL || code == NULL || !ends_with(line, "]"))
            continue;
        buffer_printf(&result, "%.5s %s\n", code + 1, place_of(line, head, name));
    }
    return buffer_string(&result);
}

struct expectation {
    const char *diagnostics;
    VEC(const char *) arguments;
    bool whole_report;
};

static struct expectation expectation_of(const char *text)
{
    struct expectation expectation = {0};
    struct buffer diagnostics = buffer_in(arena);
    struct lines lines = split_lines(arena, text);
    for (size_t i = 0; i < lines.list.count && lines.list.items[i][0] == '#'; i++) {
        char *line = lines.list.items[i];
        if (strncmp(line, "# expect: ", 10) == 0)
            buffer_printf(&diagnostics, "%s\n", line + 10);
        if (strcmp(line, "# command: report") == 0)
            expectation.whole_report = true;
        if (strncmp(line, "# args: ", 8) != 0)
            continue;
        for (char *word = line + 8; *word != '\0'; word += *word == ' ') {
            size_t length = strcspn(word, " ");
            *VEC_PUSH(arena, expectation.arguments) = arena_strndup(arena, word, length);
            word += length;
        }
    }
    expectation.diagnostics = buffer_string(&diagnostics);
    return expectation;
}

static void check_file(const char *path, struct buffer *faults)
{
    const char *name = strrchr(path, '/') + 1;
    struct expectation expectation = expectation_of(read_file(arena, path, NULL));
    VEC(const char *) argv = {0};
    *VEC_PUSH(arena, argv) = perfc_path();
    if (!expectation.whole_report)
        *VEC_PUSH(arena, argv) = "check";
    for (size_t i = 0; i < expectation.arguments.count; i++)
        *VEC_PUSH(arena, argv) = expectation.arguments.items[i];
    *VEC_PUSH(arena, argv) = path;
    *VEC_PUSH(arena, argv) = NULL;
    struct run run = run_command(arena, argv.items, (struct run_options){0});
    const char *actual = actual_diagnostics(run.err, name);
    bool errors = strstr(expectation.diagnostics, "E0") != NULL;
    int status = errors ? 1 : 0;
    if (expectation.diagnostics[0] == '\0')
        buffer_printf(faults, "%s: no `# expect:` line\n", name);
    if (run.status != status)
        buffer_printf(faults, "%s: exit status %d, not %d\n", name, run.status, status);
    if (strcmp(actual, expectation.diagnostics) != 0)
        buffer_printf(faults, "%s: expected\n%sgot\n%s%.3000s\n", name, expectation.diagnostics, actual,
                      run.err);
}

Test(cli_diagnostics, codes_stand_at_their_exact_place)
{
    struct buffer faults = buffer_in(arena);
    struct paths files = find_files(arena, source_path(arena, "tests/diagnostics"), ".perf");
    cr_assert(files.list.count > 0, "no files");
    for (size_t i = 0; i < files.list.count; i++) {
        if (strstr(files.list.items[i], "/parts/") == NULL)
            check_file(files.list.items[i], &faults);
    }
    cr_assert(faults.length == 0, "\n%s", buffer_string(&faults));
}

static bool has_file(const struct paths *files, const struct diag_info *info)
{
    const char *prefix = arena_printf(arena, "/%s-%s", info->code, info->slug);
    for (size_t i = 0; i < files->list.count; i++) {
        const char *path = files->list.items[i];
        if (strstr(path, prefix) != NULL &&
            strstr(expectation_of(read_file(arena, path, NULL)).diagnostics, info->code) != NULL)
            return true;
    }
    for (size_t i = 0; i < sizeof made_by_tests / sizeof made_by_tests[0]; i++) {
        if (strcmp(made_by_tests[i], info->code) == 0)
            return true;
    }
    return false;
}

Test(cli_diagnostics, every_code_has_a_test)
{
    struct buffer faults = buffer_in(arena);
    struct paths files = find_files(arena, source_path(arena, "tests/diagnostics"), ".perf");
    for (int code = 0; code < DIAG_CODE_COUNT; code++) {
        const struct diag_info *info = diag_info((enum diag_code)code);
        if (!has_file(&files, info))
            buffer_printf(&faults, "  %s %s\n", info->code, info->slug);
    }
    cr_assert(faults.length == 0, "codes without a file in tests/diagnostics:\n%s", buffer_string(&faults));
}

static void expect_at(const char *text, size_t length, const char *expected)
{
    const char *path = arena_printf(arena, "%s/plan.perf", scratch_directory(arena));
    write_file(path, text, length);
    struct run run = RUN(arena, "check", "--max-errors", "0", path);
    cr_assert_eq(run.status, 1, "exit status %d", run.status);
    const char *actual = actual_diagnostics(run.err, "plan.perf");
    cr_assert(ends_with(actual, expected), "expected %s, got %s%s", expected, actual, run.err);
}

/* Bytes that have no place in a file of this tree. */
Test(cli_diagnostics, bytes_that_are_not_text)
{
    static const char latin1[] = "gpu a { memory = 1 GB }\n# caf\xe9\n", nul[] = "let x = 1\nlet \0y = 2\n",
                      utf16[] = "\xff\xfel\0e\0t\0";
    expect_at(latin1, sizeof latin1 - 1, "E0106 2:6\n");
    expect_at(nul, sizeof nul - 1, "E0134 2:5\n");
    expect_at(utf16, sizeof utf16 - 1, "E0135 1:1\n");
}

/* E0133 after a thousand. */
Test(cli_diagnostics, too_many_errors)
{
    struct buffer text = buffer_in(arena);
    buffer_repeat(&text, "let x = .5\n", 1100);
    expect_at(text.data, text.length, "E0133 1000:9\n");
}

/* E0136: one byte more than 64 MiB, in a file that takes no room on the disk. */
Test(cli_diagnostics, file_too_large)
{
    const char *directory = scratch_directory(arena);
    const char *large = arena_printf(arena, "%s/large.perf", directory);
    write_file(large, "", 0);
    cr_assert_eq(truncate(large, (64 << 20) + 1), 0);
    struct run run = RUN(arena, "check", large);
    cr_assert(run.status == 1 || run.status == 3, "exit status %d", run.status);
    cr_assert_not_null(strstr(run.err, "64 MiB"), "%s", run.err);
}

/* E0403: 257 files, each importing the next. */
Test(cli_diagnostics, too_many_imports)
{
    const char *directory = scratch_directory(arena);
    for (int i = 0; i <= 260; i++) {
        const char *text = arena_printf(arena, "import \"p%d.perf\"\n", i + 1);
        write_file(arena_printf(arena, "%s/p%d.perf", directory, i), text, strlen(text));
    }
    write_file(arena_printf(arena, "%s/p261.perf", directory), "", 0);
    struct run run = RUN(arena, "check", arena_printf(arena, "%s/p0.perf", directory));
    cr_assert_eq(run.status, 1, "exit status %d", run.status);
    cr_assert_not_null(strstr(run.err, "[E0403"), "%s", run.err);
}
