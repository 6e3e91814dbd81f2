/* test_cli_commands.c: the table of commands and options as users meet it: help, the manual page, and what
 * shells complete. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "faults.h"
#include "run.h"

TestSuite(cli_commands, .init = set_up, .fini = tear_down);

static const char *const commands[] = {"check",  "diff",      "list",       "explain",
                                       "import", "calibrate", "completion", "help"};

/* ---- help ------------------------------------------------------------------------------------------- */

Test(cli_commands, every_command_has_help_of_its_own)
{
    struct run all = RUN(arena, "--help");
    cr_assert_eq(all.status, 0, "%s", all.err);
    cr_expect_str_eq(RUN(arena, "help").out, all.out);
    cr_expect_str_eq(RUN(arena, "plan.perf", "--help").out, all.out, "a plan has no help of its own");
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        const char *form = arena_printf(arena, "  perfc %s ", commands[i]);
        struct run help = RUN(arena, "help", commands[i]), option = RUN(arena, commands[i], "--help");
        cr_expect_eq(help.status, 0, "%s: %s", commands[i], help.err);
        cr_expect_str_eq(option.out, help.out, "%s", commands[i]);
        cr_expect(strncmp(help.out, form, strlen(form)) == 0, "%s", help.out);
        cr_expect_not_null(strstr(all.out, form), "%s", commands[i]);
    }
}

/* An option stands in the help of a command just when the command takes it. */
Test(cli_commands, help_has_the_options_that_are_taken)
{
    static const char *const options[][2] = {
        {"--fail-if", "diff"}, {"--long", "list"}, {"--assume-dense", "import"}, {NULL, NULL}};
    for (size_t k = 0; options[k][0]; k++)
        for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
            bool listed = strstr(RUN(arena, "help", commands[i]).out, options[k][0]) != NULL;
            cr_expect_eq(listed, strcmp(commands[i], options[k][1]) == 0, "%s of %s", options[k][0],
                         commands[i]);
        }
}

Test(cli_commands, a_misspelt_command_is_recognised)
{
    expect_refused(RUN(arena, "chekc", "plan.perf"), 2, "there is no command `chekc`; did you mean `check`?");
    expect_refused(RUN(arena, "help", "chekc"), 2, "did you mean `check`?");
    expect_refused(RUN(arena, "help", "zebra"), 2, "check, diff, list, explain");
    expect_refused(RUN(arena, "help", "check", "diff"), 2, "one command");
    expect_refused(RUN(arena, "completion", "tcsh"), 2, "bash, zsh or fish");
}

/* ---- the manual page --------------------------------------------------------------------------------- */

/* Text without the requests and escapes of man(7): "perfc [options] plan.perf". */
static const char *plain_roff(const char *text)
{
    struct buffer out = buffer_in(arena);
    struct lines lines = split_lines(arena, text);
    for (size_t i = 0; i < lines.list.count; i++) {
        const char *line = lines.list.items[i];
        if (strcmp(line, ".br") == 0 || strncmp(line, ".TP", 3) == 0 || strncmp(line, ".SH", 3) == 0) {
            buffer_text(&out, "\n");
            continue;
        }
        if (line[0] == '.')
            line += strcspn(line, " ");
        for (; *line; line++)
            if (*line != '\\' && *line != '"')
                buffer_byte(&out, *line);
        buffer_byte(&out, ' ');
    }
    return buffer_string(&out);
}

/* The words that begin with `--` in a text, each once, in order. */
static struct lines long_options(const char *text)
{
    struct lines found = {{0}};
    for (const char *at = strstr(text, "--"); at; at = strstr(at + 2, "--")) {
        size_t length = 2 + strspn(at + 2, "abcdefghijklmnopqrstuvwxyz-");
        bool known = length <= 2 || (at > text && at[-1] != ' ' && at[-1] != '`' && at[-1] != '\n');
        for (size_t i = 0; !known && i < found.list.count; i++)
            known = strlen(found.list.items[i]) == length && strncmp(found.list.items[i], at, length) == 0;
        if (!known)
            *VEC_PUSH(arena, found.list) = arena_strndup(arena, at, length);
    }
    return found;
}

Test(cli_commands, the_manual_page_has_every_command_and_option)
{
    const char *help = RUN(arena, "--help").out;
    const char *page = plain_roff(read_file(arena, source_path(arena, "docs/perfc.1"), NULL));
    const char *synopsis = strstr(page, "perfc"), *description = strstr(page, "A plan says which");
    cr_assert(synopsis && description);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        const char *form = strstr(synopsis, arena_printf(arena, "\n perfc %s ", commands[i]));
        if (!form || form > description)
            FAULT("`%s` is not in the synopsis of docs/perfc.1", commands[i]);
    }
    struct lines options = long_options(help), documented = long_options(page);
    cr_assert(options.list.count > 15);
    for (size_t i = 0; i < options.list.count; i++)
        if (!strstr(page, arena_printf(arena, "%s ", options.list.items[i])) &&
            !strstr(page, arena_printf(arena, "%s\n", options.list.items[i])))
            FAULT("%s is not in docs/perfc.1", options.list.items[i]);
    for (size_t i = 0; i < documented.list.count; i++)
        if (!strstr(help, documented.list.items[i]))
            FAULT("%s of docs/perfc.1 is no option", documented.list.items[i]);
    EXPECT_NO_FAULTS();
}

/* ---- completion -------------------------------------------------------------------------------------- */

static const char plan_text[] =
    "gpu my-card    { memory = 80 GB   bandwidth = 2 TB/s   peak.fp16 = 312 TFLOPS }\n"
    "model my-model { params = 7e9     layers = 32   hidden = 4096   heads = 32 }\n"
    "scenario chat  { gpu = my-card    model = my-model   context = 4096   batch = 1 }\n"
    "scenario chat-long : chat { context = 8192 }\n";

/* What bash offers for the last of these words, which Readline broke as it does: one a line. */
static struct run bash_offers(const char *words, const char *directory)
{
    const char *script = arena_printf(arena,
                                      "source <('%s' completion bash)\n"
                                      "COMP_WORDS=('%s' %s)\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_perfc\n"
                                      "printf '%%s\\n' \"${COMPREPLY[@]}\"",
                                      perfc_path(), perfc_path(), words);
    const char *const argv[] = {"bash", "-c", script, NULL};
    struct run run = run_command(arena, argv, (struct run_options){.directory = directory});
    cr_assert_eq(run.status, 0, "%s\n%s", words, run.err);
    return run;
}

static bool has_shell(const char *name)
{
    const char *const argv[] = {name, "-c", "exit 0", NULL};
    return run_command(arena, argv, (struct run_options){0}).status == 0;
}

Test(cli_commands, bash_completes)
{
    static const struct {
        const char *words, *offered;
    } rows[] = {
        {"che", "check\n"},
        {"c", "check\ncalibrate\ncompletion\n"},
        {"pl", "plan.perf\n"},
        {"check pl", "plan.perf\n"},
        {"check --max-e", "--max-errors\n"},
        {"check --tag", "\n"}, /* belongs to reports */
        {"plan.perf -f h", "html\n"},
        {"plan.perf --format j", "json\njunit\n"},
        {"plan.perf --format = ht", "html\n"},
        {"plan.perf --lang ''", "en\nzh\n"},
        {"plan.perf --color a", "auto\nalways\n"},
        {"plan.perf --diagnostics git", "github\ngitlab\n"},
        {"plan.perf --width ''", "\n"},
        {"plan.perf -I d", "directory\n"},
        {"plan.perf -o repo", "report.html\n"},
        {"list q", "quantities\n"},
        {"list gpus ''", "\n"},
        {"help ex", "explain\n"},
        {"completion z", "zsh\n"},
        {"explain E020", "E0201\nE0202\nE0203\nE0204\nE0205\nE0206\nE0207\nE0208\nE0209\n"},
        {"explain plan.perf cha", "chat.\nchat-long.\n"},
        {"explain plan.perf chat.tpot_in", "chat.tpot_inclusive\n"},
        {"explain plan.perf my-card.balance.bf", "my-card.balance.bf16\n"},
        {"plan.perf --set chat.bat", "chat.batch=\n"},
        {"plan.perf --set my-card.bandw", "my-card.bandwidth=\n"},
        {"diff --fail-if \"'tpot_in\"", "tpot_inclusive\n"},
        {"diff plan.perf pla", "plan.perf\n"},
        {"-- che", "check\n"}, /* a plan of that name is written `./check` */
        {"check -- --lan", "\n"},
        {"fm", "\n"}, /* is to come */
    };
    const char *plan = scratch_file(arena, "plan.perf", plan_text);
    const char *directory = arena_strndup(arena, plan, (size_t)(strrchr(plan, '/') - plan));
    write_file(arena_printf(arena, "%s/report.html", directory), "", 0);
    cr_assert_eq(mkdir(arena_printf(arena, "%s/directory", directory), 0777), 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct run run = bash_offers(rows[i].words, directory);
        if (strcmp(run.out, rows[i].offered) != 0)
            FAULT("`perfc %s`: %.200s in place of %s%s", rows[i].words, run.out, rows[i].offered, run.err);
    }
    EXPECT_NO_FAULTS();
}

/* Nothing is said on a terminal in the middle of a line. */
Test(cli_commands, what_cannot_be_completed_is_silent)
{
    const char *const rows[] = {"explain missing.perf ''", "plan.perf --set ''", "--nonsense ''",
                                "'a b' c ''"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct run run = bash_offers(rows[i], "/");
        cr_expect_eq(run.err_length, 0, "%s: %s", rows[i], run.err);
    }
}

Test(cli_commands, fish_completes)
{
    if (!has_shell("fish"))
        cr_skip_test("fish is not installed");
    const char *plan = scratch_file(arena, "plan.perf", plan_text);
    const char *directory = arena_strndup(arena, plan, (size_t)(strrchr(plan, '/') - plan));
    const char *script = arena_printf(arena,
                                      "'%s' completion fish | source\n"
                                      "complete -C '%s explain plan.perf chat.tpot_in'\n"
                                      "complete -C '%s plan.perf --format=ht'\n",
                                      perfc_path(), perfc_path(), perfc_path());
    const char *const argv[] = {"fish", "-c", script, NULL};
    struct run run = run_command(arena, argv, (struct run_options){.directory = directory});
    cr_assert_not_null(strstr(run.out, "chat.tpot_inclusive\t"), "%s%s", run.out, run.err);
    cr_assert_not_null(strstr(run.out, "--format=html"), "%s%s", run.out, run.err);
}

/* With compadd() and _files() of ours in place of those that only a line editor has. */
Test(cli_commands, zsh_completes)
{
    if (!has_shell("zsh"))
        cr_skip_test("zsh is not installed");
    const char *plan = scratch_file(arena, "plan.perf", plan_text);
    const char *script = arena_printf(arena,
                                      "compdef() { }; _files() { print files $@ }\n"
                                      "compadd() { print -l -- $words_found }\n"
                                      "source <('%s' completion zsh)\n"
                                      "words=('%s' explain '%s' chat.tpot_in) CURRENT=4; _perfc\n"
                                      "words=('%s' check pl) CURRENT=3; _perfc\n"
                                      "words=('%s' --format=ht) CURRENT=2; _perfc\n",
                                      perfc_path(), perfc_path(), plan, perfc_path(), perfc_path());
    const char *const argv[] = {"zsh", "-f", "-c", script, NULL};
    struct run run = run_command(arena, argv, (struct run_options){0});
    cr_assert_str_eq(run.out, "chat.tpot_inclusive\nfiles\n--format=html\n", "%s%s", run.out, run.err);
}
