/* test_cli_output.c: where reports go. A file is written whole or not at all, an input is never overwritten,
 * and every failure is told with exit status 3 (2 where the command line is at fault). */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

TestSuite(cli_output, .init = set_up, .fini = tear_down);

Test(cli_output, output_directory_is_missing)
{
    const char *plan = scratch_file(arena, "plan.perf", smallest_plan);
    expect_refused(RUN(arena, plan, "-o", "/nonexistent/report.html"), 3, "/nonexistent/report.html");
}

Test(cli_output, output_is_a_directory)
{
    const char *plan = scratch_file(arena, "plan.perf", smallest_plan);
    const char *directory = arena_printf(arena, "%s/report.html", scratch_directory(arena));
    cr_assert_eq(mkdir(directory, 0777), 0);
    expect_refused(RUN(arena, plan, "-o", directory), 3, "report.html");
    cr_assert_eq(directory_entries(directory), 0);
}

Test(cli_output, full_disk)
{
    const char *plan = scratch_file(arena, "plan.perf", smallest_plan);
    struct run_options options = {.stdout_path = "/dev/full"};
    struct run run = run_perfc(arena, options, plan, (const char *)NULL);
    cr_assert_eq(run.status, 3, "exit status %d", run.status);
    cr_assert_not_null(strstr(run.err, "No space left on device"), "%s", run.err);
    expect_refused(RUN(arena, "-f", "html", plan, "-o", "/dev/full"), 3, "/dev/full");
    cr_assert(file_exists("/dev/full"));
}

Test(cli_output, closed_standard_output)
{
    const char *plan = scratch_file(arena, "plan.perf", smallest_plan);
    const char *command = arena_printf(arena, "'%s' '%s' >&-", perfc_path(), plan);
    const char *const argv[] = {"sh", "-c", command, NULL};
    struct run run = run_command(arena, argv, (struct run_options){0});
    cr_assert_eq(run.status, 3, "exit status %d\n%s", run.status, run.err);
}

static void expect_plan_kept(const char *plan, const char *output)
{
    expect_refused(RUN(arena, plan, "-f", "text", "-o", output), 2, "is an input of this plan");
    cr_assert_str_eq(read_file(arena, plan, NULL), smallest_plan, "the plan was overwritten");
}

Test(cli_output, output_over_the_input)
{
    const char *plan = scratch_file(arena, "plan.perf", smallest_plan);
    size_t directory = (size_t)(strrchr(plan, '/') - plan);
    expect_plan_kept(plan, plan);
    expect_plan_kept(plan, arena_printf(arena, "%.*s/./plan.perf", (int)directory, plan));
    const char *alias = arena_printf(arena, "%.*s/alias.txt", (int)directory, plan);
    cr_assert_eq(link(plan, alias), 0);
    expect_plan_kept(plan, alias);
    const char *symbolic = arena_printf(arena, "%.*s/symbolic.txt", (int)directory, plan);
    cr_assert_eq(symlink(plan, symbolic), 0);
    expect_plan_kept(plan, symbolic);
}

Test(cli_output, two_outputs_to_one_file)
{
    const char *plan = scratch_file(arena, "plan.perf", smallest_plan);
    const char *report = arena_printf(arena, "%s/report.txt", scratch_directory(arena));
    expect_refused(RUN(arena, plan, "-o", report, "-o", report), 2, "report.txt");
}

/* A plan with an error leaves the report of yesterday alone, and no temporary file behind. */
Test(cli_output, errors_leave_the_old_report)
{
    const char *plan = scratch_file(arena, "plan.perf", "scenario chat { gpu = nothing }\n");
    const char *directory = scratch_directory(arena);
    const char *report = arena_printf(arena, "%s/report.html", directory);
    write_file(report, "yesterday", 9);
    expect_refused(RUN(arena, plan, "-o", report), 1, "nothing");
    cr_assert_str_eq(read_file(arena, report, NULL), "yesterday");
    cr_assert_eq(directory_entries(directory), 1);
}

Test(cli_output, a_report_is_written_whole_with_ordinary_permissions)
{
    const char *plan = scratch_file(arena, "plan.perf", smallest_plan);
    const char *directory = scratch_directory(arena);
    const char *report = arena_printf(arena, "%s/report.html", directory);
    mode_t mask = umask(022);
    struct run run = RUN(arena, plan, "-o", report);
    umask(mask);
    cr_assert_eq(run.status, 0, "%s", run.err);
    cr_assert_eq(run.out_length, 0);
    cr_assert_eq(directory_entries(directory), 1);
    struct stat status;
    cr_assert_eq(stat(report, &status), 0);
    cr_assert_eq(status.st_mode & 0777, 0644, "mode %o", (unsigned)status.st_mode & 0777);
    size_t length;
    const char *text = read_file(arena, report, &length);
    cr_assert_not_null(text);
    cr_assert(ends_with(text, "</html>\n"), "the end is %s", text + (length > 40 ? length - 40 : 0));
}

/* Every command that takes -o: what it prints without it, it prints with `-o -`, and writes no file `-`. */
Test(cli_output, a_hyphen_is_standard_output_for_every_command)
{
    const char *measured = source_path(arena, "tests/golden/measured/measured.perf");
    const char *config = source_path(arena, "tests/import/falcon-7b.json");
    const char *plan = scratch_file(arena, "plan.perf", smallest_plan);
    const char *const commands[][4] = {
        {plan}, {"diff", plan, plan}, {"import", config}, {"calibrate", measured}};
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        const char *directory = scratch_directory(arena);
        const char *argv[8] = {perfc_path()};
        size_t count = 1;
        for (size_t k = 0; k < 4 && commands[i][k]; k++)
            argv[count++] = commands[i][k];
        struct run_options options = {.directory = directory};
        struct run plain = run_command(arena, argv, options);
        argv[count++] = "-o";
        argv[count++] = "-";
        struct run named = run_command(arena, argv, options);
        cr_assert_eq(plain.status, 0, "%s", plain.err);
        cr_assert_eq(named.status, 0, "%s", named.err);
        cr_assert_gt(plain.out_length, 0);
        cr_assert_str_eq(named.out, plain.out);
        cr_assert_eq(directory_entries(directory), 0, "%s wrote a file", argv[1]);
    }
}

/* As gcc's `-MF -`. */
Test(cli_output, a_hyphen_is_standard_output_for_dependencies)
{
    const char *plan = scratch_file(arena, "plan.perf", smallest_plan);
    const char *directory = scratch_directory(arena);
    struct run run = run_perfc(arena, (struct run_options){.directory = directory}, plan, "-o", "report.txt",
                               "--deps", "-", (const char *)NULL);
    cr_assert_eq(run.status, 0, "%s", run.err);
    cr_assert(strncmp(run.out, "report.txt: ", 12) == 0, "%s", run.out);
    cr_assert_eq(directory_entries(directory), 1, "a file beside the report");
    expect_refused(run_perfc(arena, (struct run_options){.directory = directory}, plan, "-o", "report.txt",
                             "--deps", "report.txt", (const char *)NULL),
                   2, "report.txt");
}

/* NAME_MAX is 255 on every usual file system; the temporary file may not need more than the report does. */
Test(cli_output, the_longest_name_can_be_written)
{
    const char *plan = scratch_file(arena, "plan.perf", smallest_plan);
    const char *directory = scratch_directory(arena);
    const char *path = arena_printf(arena, "%s/%0250d.html", directory, 0);
    struct run run = RUN(arena, plan, "-o", path);
    cr_assert_eq(run.status, 0, "%s", run.err);
    cr_assert_eq(directory_entries(directory), 1);
    expect_refused(RUN(arena, plan, "-o", arena_printf(arena, "%s/%0251d.html", directory, 0)), 3,
                   "File name too long");
}

static struct run run_limited(const char *limit, const char *arguments)
{
    const char *script = arena_printf(arena, "%s; exec '%s' %s", limit, perfc_path(), arguments);
    const char *const argv[] = {"sh", "-c", script, NULL};
    return run_command(arena, argv, (struct run_options){0});
}

/* A page has some 60 kB, more than 8 blocks of 512 bytes. */
Test(cli_output, a_limit_on_files_is_told_and_leaves_none)
{
    const char *plan = scratch_file(arena, "plan.perf", smallest_plan);
    const char *directory = scratch_directory(arena);
    struct run run =
        run_limited("ulimit -f 8", arena_printf(arena, "'%s' -o '%s/report.html'", plan, directory));
    expect_refused(run, 3, "report.html: File too large");
    cr_assert_eq(directory_entries(directory), 0, "half a report is left");
}

/* Every command tells that a full device took nothing. */
Test(cli_output, a_full_device_is_told_by_every_command)
{
    const char *plan = scratch_file(arena, "plan.perf", smallest_plan);
    const char *const commands[] = {
        arena_printf(arena, "check '%s'", plan),
        arena_printf(arena, "diff '%s' '%s'", plan, plan),
        arena_printf(arena, "explain '%s' chat.tpot", plan),
        arena_printf(arena, "import '%s'", source_path(arena, "tests/import/falcon-7b.json")),
        arena_printf(arena, "calibrate '%s'", source_path(arena, "tests/golden/measured/measured.perf")),
        "explain E0207",
        "list gpus",
        "completion bash",
        "help",
        "--version",
    };
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        struct run run = run_limited(":", arena_printf(arena, "%s > /dev/full", commands[i]));
        expect_refused(run, 3, "No space left on device");
    }
}

/* A pipe can be a plan and a report, neither of which has a size or a second reading. */
Test(cli_output, pipes_are_read_and_written)
{
    const char *plan = scratch_file(arena, "plan.perf", smallest_plan);
    const char *directory = scratch_directory(arena);
    const char *script = arena_printf(arena,
                                      "cd '%s' && mkfifo in.perf out.txt && (cat '%s' > in.perf &) &&\n"
                                      "('%s' in.perf -o out.txt &) && cat out.txt",
                                      directory, plan, perfc_path());
    const char *const argv[] = {"sh", "-c", script, NULL};
    struct run run = run_command(arena, argv, (struct run_options){.timeout = 20});
    cr_assert_eq(run.status, 0, "%s", run.err);
    cr_assert_not_null(strstr(run.out, "chat decodes one sequence"), "%s%s", run.out, run.err);
    cr_assert_eq(directory_entries(directory), 2, "a pipe was replaced by a file");
}
