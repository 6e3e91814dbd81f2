/* test_cli_diff.c: `perfc diff` from outside: exit status, outputs, and whole comments.
 *
 * tests/golden/diff-NAME/parts/ holds old.perf and new.perf, tests/golden/diff-NAME/comment.md the comment
 * for a pull request and, where they exist, report.txt and report.json the other forms. UPDATE_GOLDENS=1
 * rewrites what differs: read the difference before committing it. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "run.h"

static struct arena *arena;

static void set_up(void)
{
    arena = arena_new();
}

static void tear_down(void)
{
    arena_free(arena);
}

TestSuite(cli_diff, .init = set_up, .fini = tear_down);

/* ---- golden comments ------------------------------------------------------------------------------ */

static const struct golden {
    const char *name;
    int status;
    const char *max_bytes;
} goldens[] = {
    {"unchanged", 0, "60000"},    {"regression", 5, "60000"},       {"gpu-swap", 0, "60000"},
    {"new-scenario", 0, "60000"}, {"removed-scenario", 0, "60000"}, {"broken", 1, "60000"},
    {"too-long", 0, "8000"},
};

static void check(const struct golden *golden, const char *format, const char *file, struct buffer *faults)
{
    const char *directory = source_path(arena, arena_printf(arena, "tests/golden/diff-%s", golden->name));
    const char *path = arena_printf(arena, "%s/%s", directory, file);
    const char *expected = read_file(arena, path, NULL);
    if (!expected && strcmp(format, "md") != 0)
        return;
    struct run_options options = {.directory = arena_printf(arena, "%s/parts", directory)};
    struct run run = run_perfc(arena, options, "diff", "-f", format, "--tag", "sizing", "--max-bytes",
                               golden->max_bytes, "old.perf", "new.perf", (const char *)NULL);
    if (run.status != golden->status)
        buffer_printf(faults, "  %s: exit status %d, not %d\n%.1000s", path, run.status, golden->status,
                      run.err);
    if (expected && strcmp(expected, run.out) == 0)
        return;
    if (getenv("UPDATE_GOLDENS"))
        write_file(path, run.out, run.out_length);
    else
        buffer_printf(faults, "  %s differs\n", path);
}

Test(cli_diff, comments_are_as_expected)
{
    struct buffer faults = buffer_in(arena);
    for (size_t i = 0; i < sizeof goldens / sizeof goldens[0]; i++) {
        check(&goldens[i], "md", "comment.md", &faults);
        check(&goldens[i], "text", "report.txt", &faults);
        check(&goldens[i], "json", "report.json", &faults);
    }
    cr_assert_eq(faults.length, 0, "\n%s", buffer_string(&faults));
}

/* ---- plans at hand -------------------------------------------------------------------------------- */

#define CARD "gpu card { memory = 80 GB  bandwidth = 2 TB/s  peak.fp16 = 312 TFLOPS  price = 2 usd/h }\n"
#define REST                                                                                                 \
    "model tiny { params = 7e9  layers = 32  hidden = 4096  heads = 32 }\n"                                  \
    "scenario chat { gpu = card  model = tiny  engine = ideal  context = 4096  batch = 1 }\n"

static const char old_plan[] = CARD REST;
static const char slow_plan[] =
    "let rate = 1 TB/s\n"
    "gpu card { memory = 80 GB  bandwidth = rate  peak.fp16 = 312 TFLOPS  price = 2 usd/h }\n" REST;

static const char *old_path(void)
{
    return scratch_file(arena, "old.perf", old_plan);
}

static const char *slow_path(void)
{
    return scratch_file(arena, "new.perf", slow_plan);
}

static void expect(struct run run, int status, const char *part)
{
    cr_assert_eq(run.status, status, "exit status %d, not %d\n%.2000s%.2000s", run.status, status, run.err,
                 run.out);
    cr_assert_not_null(strstr(arena_printf(arena, "%s%s", run.out, run.err), part),
                       "no `%s` in:\n%.2000s%.2000s", part, run.out, run.err);
}

Test(cli_diff, unchanged_is_one_line)
{
    struct run run = RUN(arena, "diff", old_path(), old_path());
    cr_assert_eq(run.status, 0);
    cr_assert_str_eq(run.out, "Nothing changed in 1 scenario\n");
    run = RUN(arena, "diff", "-f", "md", old_path(), old_path());
    cr_assert_str_eq(run.out, "**Nothing changed in 1 scenario**\n");
    run = RUN(arena, "diff", "--fail-if", "tpot>+5%", old_path(), old_path());
    cr_assert_eq(run.status, 0);
    cr_assert_str_eq(run.out, "Nothing changed in 1 scenario\n");
}

Test(cli_diff, thresholds_give_status_5)
{
    expect(RUN(arena, "diff", old_path(), slow_path()), 0, "chat time per token");
    expect(RUN(arena, "diff", "--fail-if", "tpot>+5%", old_path(), slow_path()), 5,
           "1 threshold is exceeded");
    expect(RUN(arena, "diff", "--fail-if", "chat.tpot > 16 ms", old_path(), slow_path()), 5, "exceeded");
    expect(RUN(arena, "diff", "--fail-if=tpot>+101%", old_path(), slow_path()), 0, "holds");
    const char *guarded = scratch_file(
        arena, "new.perf",
        arena_printf(arena, "%sguard chat.tpot <= 1.05 * old.chat.tpot \"slower\"\n", slow_plan));
    expect(RUN(arena, "diff", old_path(), guarded), 5, "slower");
    expect(RUN(arena, "check", guarded), 0, "0 of 0 assertions hold");
    expect(RUN(arena, "diff", guarded, old_path()), 0, "better"); /* guards of the old plan are history */
}

Test(cli_diff, bad_usage)
{
    expect(RUN(arena, "diff", old_path()), 2, "perfc diff OLD NEW");
    expect(RUN(arena, "diff"), 2, "perfc diff OLD NEW");
    expect(RUN(arena, "diff", "-", "-"), 2, "both OLD and NEW");
    expect(RUN(arena, "diff", "-f", "csv", old_path(), old_path()), 2, "cannot be written as csv");
    expect(RUN(arena, "diff", "--fail-if", "tpt>+5%", old_path(), old_path()), 2, "did you mean `tpot`?");
    expect(RUN(arena, "diff", "--fail-if", "chatt.tpot>+5%", old_path(), old_path()), 2, "neither side");
    expect(RUN(arena, "diff", "--fail-if", "tpot>5%", "nowhere.perf", old_path()), 2, "has a sign");
    expect(RUN(arena, "--fail-if", "tpot>+5%", old_path()), 2, "--fail-if belongs to");
    expect(RUN(arena, "check", "--fail-if", "tpot>+5%", old_path()), 2, "--fail-if belongs to");
    expect(RUN(arena, "check", "--deps", "x.d", old_path()), 2, "--deps belongs to");
    expect(RUN(arena, "diff", "--tag", "a-->b", old_path(), old_path()), 2, "--tag takes");
    expect(RUN(arena, "diff", "--max-bytes", "10", old_path(), old_path()), 2, "--max-bytes takes");
    expect(RUN(arena, "diff", "--diagnostics=xml", old_path(), old_path()), 2, "--diagnostics takes");
    expect(RUN(arena, "diff", "--deps", "x.d", old_path(), old_path()), 2, "--deps needs");
}

Test(cli_diff, files_that_cannot_be_compared)
{
    expect(RUN(arena, "diff", "nowhere.perf", old_path()), 3, "cannot read nowhere.perf");
    expect(RUN(arena, "diff", old_path(), "nowhere.json"), 3, "cannot read nowhere.json");
    expect(RUN(arena, "diff", old_path(), scratch_directory(arena)), 3, "cannot read");
    expect(RUN(arena, "diff", old_path(), scratch_file(arena, "x.json", "{}")), 3, "it is no report");
}

Test(cli_diff, a_broken_side_is_told_and_nothing_else)
{
    const char *bad = scratch_file(arena, "bad.perf", "scenario chat { gpu = nonesuch }\n");
    expect(RUN(arena, "diff", "-f", "md", old_path(), bad), 1,
           "**The new plan has 1 error, so nothing was compared**");
    expect(RUN(arena, "diff", "-f", "md", bad, old_path()), 1,
           "**The old plan has 1 error, so nothing was compared**");
    expect(RUN(arena, "diff", "-f", "md", bad, bad), 1,
           "**The new plan has 1 error and the old plan has 1 error");
    expect(RUN(arena, "diff", "--fail-if", "tpot>+5%", old_path(), bad), 1, "E0201");
    expect(RUN(arena, "diff", "-f", "html", bad, bad), 1, "nothing was compared");
}

Test(cli_diff, set_changes_the_new_side)
{
    struct run run = RUN(arena, "diff", "--set", "chat.batch=2", old_path(), old_path());
    expect(run, 0, "124 → 219"); /* as in test_diff.c */
    cr_assert_not_null(strstr(run.out, "--set"));
}

Test(cli_diff, standard_input_is_a_side)
{
    struct run_options options = {.input = slow_plan, .input_length = strlen(slow_plan)};
    expect(run_perfc(arena, options, "diff", old_path(), "-", (const char *)NULL), 0, "8.07 → 16.1");
    expect(run_perfc(arena, options, "diff", "-", old_path(), (const char *)NULL), 0, "16.1 → 8.07");
}

Test(cli_diff, saved_reports_give_what_plans_give)
{
    static const char asserted[] = "assert chat.tpot <= 10 ms \"slow\"\nassert chat.fits\n";
    const char *old = scratch_file(arena, "old.perf", arena_printf(arena, "%s%s", old_plan, asserted));
    const char *new = scratch_file(arena, "new.perf", arena_printf(arena, "%s%s", slow_plan, asserted));
    const char *saved_old = arena_printf(arena, "%s/old.json", scratch_directory(arena));
    const char *saved_new = arena_printf(arena, "%s/new.json", scratch_directory(arena));
    cr_assert_eq(RUN(arena, "-o", saved_old, old).status, 0);
    cr_assert_eq(RUN(arena, "-o", saved_new, new).status, 5);
    static const char *const formats[] = {"text", "md"};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        struct run plans = RUN(arena, "diff", "-f", formats[i], old, new);
        struct run both = RUN(arena, "diff", "-f", formats[i], saved_old, saved_new);
        struct run one = RUN(arena, "diff", "-f", formats[i], saved_old, new);
        cr_assert_eq(plans.status, 0);
        cr_assert_str_eq(both.out, plans.out);
        cr_assert_str_eq(one.out, plans.out);
    }
}

Test(cli_diff, guards_of_a_saved_report_are_not_decided_in_silence)
{
    const char *guarded = scratch_file(
        arena, "new.perf", arena_printf(arena, "%sguard chat.tpot <= 1.05 * old.chat.tpot\n", slow_plan));
    const char *saved = arena_printf(arena, "%s/new.json", scratch_directory(arena));
    cr_assert_eq(RUN(arena, "-o", saved, guarded).status, 0);
    struct run run = RUN(arena, "diff", old_path(), saved);
    expect(run, 0, "its 1 guard is not decided");
    cr_assert_not_null(strstr(run.out, "not decided"));
}

/* ---- size ------------------------------------------------------------------------------------------- */

static size_t occurrences(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
        count++;
    return count;
}

static const char *many_scenarios(const char *name, unsigned batch)
{
    struct buffer plan = buffer_in(arena);
    buffer_text(&plan, old_plan);
    for (unsigned i = 0; i < 300; i++)
        buffer_printf(&plan,
                      "scenario \"a case | with a `rather` long name, number %u\" : chat { context = %u  "
                      "batch = %u }\n",
                      i, 1024 + 16 * i, batch);
    return scratch_file(arena, name, buffer_string(&plan));
}

Test(cli_diff, markdown_never_exceeds_its_size)
{
    static const char *const limits[] = {"1000", "2000", "5000", "20000", "30000", "1000000"};
    const char *old = many_scenarios("old.perf", 1), *new = many_scenarios("new.perf", 2);
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        struct run run = RUN(arena, "diff", "-f", "md", "--max-bytes", limits[i], "--tag", "t", old, new);
        cr_assert_eq(run.status, 0);
        cr_assert_leq(run.out_length, (size_t)atoi(limits[i]), "%zu bytes for %s", run.out_length, limits[i]);
        cr_assert_eq(strncmp(run.out, "<!-- perfc-comment t -->\n**", 27), 0, "%.100s", run.out);
        cr_assert_eq(occurrences(run.out, "<details>"), occurrences(run.out, "</details>"));
        cr_assert((i == 5) != (strstr(run.out, "left out to keep this short") != NULL));
    }
    struct run run = RUN(arena, "diff", "-f", "md", old, new);
    cr_assert_leq(run.out_length, 60000);
    run = RUN(arena, "-f", "md", old);
    cr_assert_eq(run.status, 0);
    cr_assert_leq(run.out_length, 60000, "a report is no longer than a comment may be either");
}

Test(cli_diff, names_of_many_bytes_do_not_break_the_limit)
{
    struct buffer plan = buffer_in(arena);
    buffer_text(&plan, old_plan);
    buffer_text(&plan, "scenario \"a");
    buffer_repeat(&plan, "\xCC\x81", 40000); /* a combining accent: no column, two bytes */
    buffer_text(&plan, "\" : chat { batch = 3 }\n");
    const char *new = scratch_file(arena, "new.perf", buffer_string(&plan));
    struct run run = RUN(arena, "diff", "-f", "md", "--tag", "t", old_path(), new);
    cr_assert_eq(run.status, 0, "%.500s", run.err);
    cr_assert_str_eq(run.out, "<!-- perfc-comment t -->\n**This report does not fit into 60000 bytes.**\n");
}

/* ---- other forms --------------------------------------------------------------------------------------- */

Test(cli_diff, several_outputs_and_their_dependencies)
{
    const char *directory = scratch_directory(arena), *old = old_path(), *new = slow_path();
    const char *page = arena_printf(arena, "%s/a b.html", directory),
               *json = arena_printf(arena, "%s/d.json", directory);
    const char *junit = arena_printf(arena, "%s/d.xml", directory),
               *deps = arena_printf(arena, "%s/d.d", directory);
    struct run run = RUN(arena, "diff", "-o", page, "-o", json, "-o", junit, "--deps", deps, "--fail-if",
                         "tpot>+5%", old, new);
    cr_assert_eq(run.status, 5, "%s", run.err);
    cr_assert_not_null(strstr(read_file(arena, page, NULL), "<!DOCTYPE html>"));
    json_t *root = json_loads(read_file(arena, json, NULL), 0, NULL);
    cr_assert_not_null(root);
    cr_assert_str_eq(json_string_value(json_object_get(root, "schema")), "perfc-diff/1");
    json_t *summary = json_object_get(root, "summary");
    cr_assert_eq(json_integer_value(json_object_get(summary, "worse")), 1);
    cr_assert_eq(json_integer_value(json_object_get(summary, "exceeded")), 1);
    json_decref(root);
    cr_assert_not_null(
        strstr(read_file(arena, junit, NULL), "<testsuites name=\"perfc\" tests=\"1\" failures=\"1\""));
    const char *expected = arena_printf(arena, "%s/a\\ b.html %s %s: \\\n  %s \\\n  %s\n\n%s:\n\n%s:\n",
                                        directory, json, junit, old, new, old, new);
    cr_assert_str_eq(read_file(arena, deps, NULL), expected);
}

Test(cli_diff, an_input_is_never_overwritten)
{
    const char *old = old_path(), *new = slow_path();
    expect(RUN(arena, "diff", "-f", "md", "-o", old, old, new), 2, "left as it is");
    expect(RUN(arena, "diff", "-o", "x.md", "--deps", new, old, new), 2, "left as it is");
    cr_assert_str_eq(read_file(arena, old, NULL), old_plan);
    cr_assert_str_eq(read_file(arena, new, NULL), slow_plan);
}
