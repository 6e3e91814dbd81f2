/* test_cli_input.c: bad files and bad places. Each gives a clear message, the documented exit status
 * (1 the plan has errors, 2 bad usage, 3 a file could not be read or written) and damages nothing. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

TestSuite(cli_input, .init = set_up, .fini = tear_down);

Test(cli_input, the_smallest_plan_is_right)
{
    struct run run = RUN(arena, scratch_file(arena, "plan.perf", smallest_plan));
    cr_assert_eq(run.status, 0, "%s", run.err);
    cr_assert_eq(run.err_length, 0, "%s", run.err);
    cr_assert(run.out_length > 100);
}

Test(cli_input, standard_input)
{
    struct run_options options = {.input = smallest_plan, .input_length = strlen(smallest_plan)};
    struct run run = run_perfc(arena, options, "-f", "json", "-", (const char *)NULL);
    cr_assert_eq(run.status, 0, "%s", run.err);
    cr_assert_not_null(strstr(run.out, "\"chat.fits\""));
}

Test(cli_input, standard_input_that_cannot_be_read)
{
    const char *const argv[] = {"sh", "-c", arena_printf(arena, "'%s' - <&-", perfc_path()), NULL};
    expect_refused(run_command(arena, argv, (struct run_options){0}), 3,
                   "perfc: cannot read standard input: Bad file descriptor\n");
}

/* The same bytes whatever the environment says of language, numbers and time. */
Test(cli_input, the_locale_changes_no_byte)
{
    const char *plan = scratch_file(arena, "plan.perf", smallest_plan);
    const char *reference = RUN(arena, plan, "-f", "html").out;
    const char *const locales[] = {"C", "POSIX", "C.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8", "nonsense"};
    for (size_t i = 0; i < sizeof locales / sizeof locales[0]; i++) {
        const char *locale = arena_printf(arena, "LC_ALL=%s", locales[i]);
        const char *const argv[] = {"env",  locale, "TZ=Asia/Kathmandu", perfc_path(), plan, "-f",
                                    "html", NULL};
        struct run run = run_command(arena, argv, (struct run_options){0});
        cr_assert_eq(run.status, 0, "%s", run.err);
        cr_assert_str_eq(run.out, reference, "%s", locale);
    }
}

/* What is beyond the range of an attribute is told as that, however large it is. */
Test(cli_input, numbers_of_any_size_are_told_as_what_they_are)
{
    static const struct {
        const char *batch, *message;
    } rows[] = {
        {"0", "is 0, but the least is 1 [E0219]"},
        {"-1", "is \xE2\x88\x92"
               "1, but the least is 1 [E0219]"},
        {"0.5", "takes a whole number, not 0.500 [E0220]"},
        {"2e9", "billion, but the most is 1.00"},
        {"9007199254740993", "but the most is 1.00"},
        {"1e18", "is 1.00e+18, but the most is 1.00"},
        {"1e308", "is 1.00e+308, but the most is 1.00"},
        {"1e999", "the number is out of range [E0221]"},
        {"1e-300", "takes a whole number, not 1.00e-300 [E0220]"},
        {"4 GB", "takes a number, not data [E0207]"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *text =
            arena_printf(arena, "%sscenario other : chat { batch = %s }\n", smallest_plan, rows[i].batch);
        expect_refused(RUN(arena, scratch_file(arena, "plan.perf", text)), 1, rows[i].message);
    }
}

Test(cli_input, empty_file)
{
    struct run run = RUN(arena, scratch_file(arena, "empty.perf", ""));
    expect_refused(run, 1, "empty.perf:1:1: error: the plan is empty [E0226]");
    struct run comment = RUN(arena, scratch_file(arena, "comment.perf", "# nothing yet\n"));
    expect_refused(comment, 1, "comment.perf:1:1: error: the plan is empty [E0226]");
}

Test(cli_input, binary_junk)
{
    char junk[4096];
    unsigned state = 1; /* a fixed linear congruential sequence */
    for (size_t i = 0; i < sizeof junk; i++) {
        state = state * 1103515245u + 12345u;
        junk[i] = (char)(state >> 16);
    }
    struct run_options options = {.input = junk, .input_length = sizeof junk};
    expect_refused(run_perfc(arena, options, "-", (const char *)NULL), 1, "error: ");
}

/* Control bytes of a plan must not reach a terminal through a diagnostic. */
Test(cli_input, control_bytes_are_not_echoed)
{
    struct run run = RUN(arena, scratch_file(arena, "plan.perf", "gpu x { \x1b[31m = \x07\x9b \x7f }\n"));
    expect_refused(run, 1, "error: ");
    for (const char *at = run.err; *at != '\0'; at++)
        cr_assert((unsigned char)*at >= ' ' || *at == '\n', "byte %d", *at);
    cr_assert_null(strchr(run.err, '\x7f'));
}

Test(cli_input, nul_bytes)
{
    static const char text[] = "gpu a { memory = 1 GB }\0gpu b { memory = }";
    struct run_options options = {.input = text, .input_length = sizeof text - 1};
    expect_refused(run_perfc(arena, options, "-", (const char *)NULL), 1, ":1:24: ");
}

Test(cli_input, a_line_of_ten_megabytes)
{
    struct buffer text = buffer_in(arena);
    buffer_text(&text, "let x = 1");
    while (text.length < 10000000)
        buffer_text(&text, " + 1111111111111111111111111111111111111111111111111111111111111111111111111111");
    buffer_text(&text, " }\n");
    struct run_options options = {.input = text.data, .input_length = text.length, .timeout = 120};
    struct run run = run_perfc(arena, options, "-", (const char *)NULL);
    expect_refused(run, 1, "error: ");
}

Test(cli_input, a_comment_of_ten_megabytes_is_fine)
{
    struct buffer text = buffer_in(arena);
    buffer_text(&text, smallest_plan);
    buffer_byte(&text, '#');
    buffer_repeat(&text, "x", 10000000);
    struct run_options options = {.input = text.data, .input_length = text.length, .timeout = 120};
    struct run run = run_perfc(arena, options, "check", "-", (const char *)NULL);
    cr_assert_eq(run.status, 0, "%.1000s", run.err);
}

static void expect_too_deep(const char *open, size_t depth)
{
    struct buffer text = buffer_in(arena);
    buffer_text(&text, "let x = 1\n");
    buffer_repeat(&text, open, depth);
    struct run_options options = {.input = text.data, .input_length = text.length, .timeout = 120};
    expect_refused(run_perfc(arena, options, "-", (const char *)NULL), 1, "error: ");
}

Test(cli_input, nested_blocks_by_the_hundred_thousand)
{
    expect_too_deep("gpu a { ", 100000);
    expect_too_deep("a { ", 100000);
}

Test(cli_input, nested_expressions_by_the_hundred_thousand)
{
    struct buffer text = buffer_in(arena);
    static const char *const prefixes[] = {"(", "- ", "not ", "min(1, ", "if true then 1 else "};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        text.length = 0;
        buffer_text(&text, "let x = ");
        buffer_repeat(&text, prefixes[i], 100000);
        struct run_options options = {.input = text.data, .input_length = text.length, .timeout = 120};
        expect_refused(run_perfc(arena, options, "-", (const char *)NULL), 1, "error: ");
    }
}

/* Left spines are walked by a loop: a long sum is not deep. */
Test(cli_input, a_sum_of_twenty_thousand_terms)
{
    struct buffer text = buffer_in(arena);
    buffer_text(&text, smallest_plan);
    buffer_text(&text, "let x = 0");
    buffer_repeat(&text, " + 1", 20000);
    buffer_text(&text, "\nassert x == 20000\n");
    struct run_options options = {.input = text.data, .input_length = text.length};
    struct run run = run_perfc(arena, options, "check", "-", (const char *)NULL);
    cr_assert_eq(run.status, 0, "%.1000s", run.err);
}

Test(cli_input, missing_file)
{
    expect_refused(RUN(arena, "/nonexistent/plan.perf"), 3, "/nonexistent/plan.perf");
}

Test(cli_input, directory_as_file)
{
    expect_refused(RUN(arena, "/"), 3, "directory");
}

Test(cli_input, unreadable_file)
{
    if (geteuid() == 0)
        cr_skip_test("root reads everything");
    const char *path = scratch_file(arena, "plan.perf", smallest_plan);
    chmod(path, 0);
    expect_refused(RUN(arena, path), 3, "plan.perf");
}

Test(cli_input, failed_assertion)
{
    const char *text =
        arena_printf(arena, "%sassert chat.ceiling.tpot <= 1 us \"too slow\"\n", smallest_plan);
    struct run run = RUN(arena, scratch_file(arena, "plan.perf", text));
    cr_assert_eq(run.status, 5, "exit status %d\n%s", run.status, run.err);
    cr_assert_not_null(strstr(run.out, "too slow"), "%s", run.out);
}

Test(cli_input, bad_usage)
{
    const char *plan = scratch_file(arena, "plan.perf", smallest_plan);
    struct run run = RUN(arena, NULL);
    expect_refused(run, 2, "perfc");
    expect_refused(RUN(arena, "--nonsense", plan), 2, "--nonsense");
    expect_refused(RUN(arena, "-f", "pdf", plan), 2, "pdf");
    expect_refused(RUN(arena, plan, "-o", "report.pdf"), 2, "report.pdf");
    expect_refused(RUN(arena, plan, "-o"), 2, "-o");
    expect_refused(RUN(arena, plan, plan), 2, "one plan at a time");
    expect_refused(RUN(arena, "list", "bananas"), 2, "bananas");
}

/* No option is read and then ignored. */
Test(cli_input, options_that_would_do_nothing)
{
    const char *plan = scratch_file(arena, "plan.perf", smallest_plan);
    expect_refused(RUN(arena, "check", plan, "-o", "x.html"), 2, "--output belongs to `perfc PLAN`");
    expect_refused(RUN(arena, "check", "--tag", "x", plan), 2, "--tag belongs to");
    expect_refused(RUN(arena, plan, "--long"), 2, "--long belongs to `perfc list`");
    expect_refused(RUN(arena, "list", "gpus", "--set", "a.b=1"), 2, "--set belongs to");
    expect_refused(RUN(arena, plan, "--assume-dense"), 2, "--assume-dense belongs to `perfc import`");
}

Test(cli_input, options_may_stand_before_the_command)
{
    const char *plan = scratch_file(arena, "plan.perf", smallest_plan);
    struct run run = RUN(arena, "--werror", "check", plan);
    cr_assert_eq(run.status, 0, "%s", run.err);
    cr_assert_not_null(strstr(run.out, "1 scenario"), "%s", run.out);
}

Test(cli_input, help_and_version)
{
    struct run help = RUN(arena, "--help");
    cr_assert_eq(help.status, 0);
    cr_assert_not_null(strstr(help.out, "-o"), "%s", help.out);
    struct run version = RUN(arena, "--version");
    cr_assert_eq(version.status, 0);
    cr_assert_not_null(strstr(version.out, PERFC_VERSION), "%s", version.out);
}

/* Inputs that must fail cleanly: a message, status 1, no signal, no endless loop. */
Test(cli_input, bogus_plans)
{
    struct buffer faults = buffer_in(arena);
    struct paths plans = find_files(arena, source_path(arena, "tests/bogus"), ".perf");
    cr_assert(plans.list.count > 10);
    for (size_t i = 0; i < plans.list.count; i++) {
        struct run_options options = {.timeout = 20};
        struct run run = run_perfc(arena, options, plans.list.items[i], (const char *)NULL);
        if (run.status != 1 || strstr(run.err, "error: ") == NULL || run.out_length != 0)
            buffer_printf(&faults, "%s: exit status %d\n%.2000s\n", plans.list.items[i], run.status, run.err);
    }
    cr_assert(faults.length == 0, "\n%s", buffer_string(&faults));
}
