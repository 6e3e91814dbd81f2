/* test_ci.c: the CI recipes, in scratch git repositories with two commits and the variables of a runner:
 * ci/perfc-ci itself, and action.yml, ci/gitlab.yml and .pre-commit-hooks.yaml as tests/ci/recipes.py runs
 * them. Without git, or without Python and its yaml, the tests that need them are skipped, and say so. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
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

TestSuite(ci, .init = set_up, .fini = tear_down, .timeout = 120);

/* 7e9 parameters in 16 bits are 14 GB, 7 ms at 2 TB/s, and the cache of 4096 tokens is 1.07 ms: 8.07 ms, and
 * 16.1 ms at half the bandwidth. */
#define CARD(bandwidth)                                                                                      \
    "gpu card { memory = 80 GB  bandwidth = " bandwidth "  peak.fp16 = 312 TFLOPS  price = 2 usd/h }\n"
#define MODEL "model tiny { params = 7e9  layers = 32  hidden = 4096  heads = 32 }\n"
#define CHAT  "scenario chat { gpu = card  model = tiny  engine = ideal  context = 4096  batch = 1 }\n"
#define ASKED "assert chat.tpot <= 10 ms \"chat must feel instant\"\n"

/* Runs a shell script in `directory`, with perfc-ci in PATH and the perfc under test. */
static struct run shell(const char *directory, const char *script)
{
    const char *setup = arena_printf(
        arena,
        "PERFC='%s' && PATH='%s':\"${PERFC%%/*}:$PATH\" && HOME='%s'\n"
        "export PERFC PATH HOME GIT_CONFIG_GLOBAL=/dev/null\n"
        "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b\n"
        "unset GITHUB_ACTIONS GITHUB_OUTPUT GITHUB_STEP_SUMMARY GIT_DIR GIT_INDEX_FILE\n%s",
        perfc_path(), source_path(arena, "ci"), directory, script);
    const char *argv[] = {"sh", "-c", setup, NULL};
    return run_command(arena, argv, (struct run_options){.directory = directory});
}

static void need_git(void)
{
    if (shell("/", "git --version").status != 0)
        cr_skip_test("there is no git: the CI recipes are NOT tested");
}

static void put(const char *directory, const char *name, const char *text)
{
    write_file(arena_printf(arena, "%s/%s", directory, name), text, strlen(text));
}

static void commit(const char *directory)
{
    struct run run = shell(directory, "git add -A && git commit -q -m plans");
    cr_assert_eq(run.status, 0, "%s", run.err);
}

static const char *repository(void)
{
    const char *directory = scratch_directory(arena);
    struct run run = shell(directory, "git init -q . && mkdir 'sub dir' && echo perfc-reports >.gitignore");
    cr_assert_eq(run.status, 0, "%s", run.err);
    return directory;
}

/* The base has a plan in a directory and one that goes; the head a slower card, and a plan that comes. */
static const char *changed_repository(void)
{
    const char *directory = repository();
    put(directory, "card.perf", CARD("2 TB/s"));
    put(directory, "sub dir/a plan.perf",
        "import \"../card.perf\"\n" MODEL CHAT ASKED "guard chat.tpot <= 1.05 * old.chat.tpot\n");
    put(directory, "gone.perf", CARD("2 TB/s") MODEL CHAT);
    put(directory, "same.perf", CARD("2 TB/s") MODEL CHAT);
    commit(directory);
    put(directory, "card.perf", CARD("1 TB/s"));
    put(directory, "come.perf", CARD("2 TB/s") MODEL CHAT ASKED);
    shell(directory, "git rm -q gone.perf");
    commit(directory);
    return directory;
}

static const char *result(const char *directory, const char *name)
{
    const char *text = read_file(arena, arena_printf(arena, "%s/perfc-reports/%s", directory, name), NULL);
    cr_assert_not_null(text, "perfc-reports/%s was not written", name);
    return text;
}

static void expect(struct run run, int status)
{
    cr_assert_eq(run.status, status, "exit status %d, not %d\n%.2000s%.2000s", run.status, status, run.out,
                 run.err);
}

static void expect_part(const char *text, const char *part)
{
    cr_assert_not_null(strstr(text, part), "no `%s` in:\n%.3000s", part, text);
}

Test(ci, a_pull_request_on_github)
{
    need_git();
    const char *directory = changed_repository();
    struct run run = shell(directory, "export GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=$PWD/../summary.$$ "
                                      "GITHUB_OUTPUT=$PWD/outputs.txt\nperfc-ci compare; status=$?\n"
                                      "mv \"$GITHUB_STEP_SUMMARY\" summary.txt; exit $status");
    expect(run, 5);
    /* Thresholds and assertions stand at their lines: the guard is the fifth, the assertion the fourth. */
    expect_part(run.out, "::error file=sub dir/a plan.perf,line=5,col=1,endColumn=40,title=threshold::");
    expect_part(run.out, "::error file=sub dir/a plan.perf,line=4,col=1,endColumn=51,title=assertion::");
    const char *comment = result(directory, "comment.md");
    cr_assert_eq(strncmp(comment, "<!-- perfc-comment perfc -->\n**3 of 4 plans changed**\n", 54), 0,
                 "%.200s", comment);
    expect_part(comment, "## `come.perf`\n\n**`chat` is new**");
    expect_part(comment, "## `gone.perf`\n\n**`chat` is removed**");
    expect_part(comment, "## `sub dir/a plan.perf`\n\n**1 threshold is exceeded; 1 more assertion fails;");
    expect_part(comment, "\nNothing changed in `same.perf`.\n");
    cr_assert_null(strstr(comment, "## `card.perf`"), "a file without scenarios is no plan");
    expect_part(comment, "| card.perf:1 |"); /* not "sub dir/../card.perf" */
    cr_assert_str_eq(result(directory, "outputs"), "comment=perfc-reports/comment.md\n"
                                                   "summary=perfc-reports/summary.md\n"
                                                   "reports=perfc-reports/reports\n"
                                                   "sarif=perfc-reports/sarif\n"
                                                   "status=5\nplans=4\nchanged=3\n"
                                                   "worse=1\nfailing=1\nexceeded=1\n");
    cr_assert_str_eq(read_file(arena, arena_printf(arena, "%s/outputs.txt", directory), NULL),
                     result(directory, "outputs"));
    cr_assert_str_eq(read_file(arena, arena_printf(arena, "%s/summary.txt", directory), NULL),
                     result(directory, "summary.md"));
    cr_assert(!file_exists(arena_printf(arena, "%s/perfc-reports/base", directory)));
}

Test(ci, files_for_other_tools)
{
    need_git();
    const char *directory = changed_repository();
    expect(shell(directory, "perfc-ci compare"), 5);
    json_t *quality = json_loads(result(directory, "codequality.json"), 0, NULL);
    cr_assert_eq(json_array_size(quality), 2);
    const char *severity, *path, *fingerprint;
    int line;
    cr_assert_eq(json_unpack(json_array_get(quality, 1), "{s:s, s:s, s:{s:s, s:{s:i}}}", "severity",
                             &severity, "fingerprint", &fingerprint, "location", "path", &path, "lines",
                             "begin", &line),
                 0);
    cr_assert_str_eq(path, "sub dir/a plan.perf");
    cr_assert_str_eq(severity, "major");
    cr_assert_eq(line, 5);
    json_decref(quality);
    json_t *sarif = json_loads(result(directory, "sarif/sub dir/a plan.perf.sarif"), 0, NULL);
    json_t *run = json_array_get(json_object_get(sarif, "runs"), 0);
    cr_assert_eq(json_array_size(json_object_get(run, "results")), 2);
    cr_assert_str_eq(json_string_value(json_object_get(json_object_get(run, "automationDetails"), "id")),
                     "perfc/sub dir/a plan.perf/");
    json_decref(sarif);
    expect_part(result(directory, "reports/sub dir/a plan.perf.xml"), "tests=\"2\" failures=\"2\"");
    expect_part(result(directory, "reports/same.perf.diff.json"), "\"changed\": 0");
    expect_part(result(directory, "reports/come.perf.html"), "<!DOCTYPE html>");
}

Test(ci, thresholds_and_assertions_decide_the_status)
{
    need_git();
    const char *directory = changed_repository();
    expect(shell(directory, "perfc-ci compare come.perf same.perf"), 0);
    expect(shell(directory, "PERFC_FAIL_IF='tpot>8ms' perfc-ci compare same.perf"), 5);
    expect(shell(directory, "PERFC_FAIL_IF='tpot>9ms' perfc-ci compare same.perf"), 0);
    struct run run =
        shell(directory, "PERFC_PLANS='same.perf\nsub dir' PERFC_FAIL_IF='tpt>9ms' perfc-ci compare");
    expect(run, 2);
    expect_part(result(directory, "comment.md"), "did you mean `tpot`?");
    put(directory, "come.perf", CARD("1 TB/s") MODEL CHAT ASKED);
    expect(shell(directory, "perfc-ci compare come.perf"), 5);
    expect(shell(directory, "PERFC_ASSERTIONS=report perfc-ci compare come.perf"), 0);
    expect(shell(directory, "PERFC_ASSERTIONS=maybe perfc-ci compare come.perf"), 2);
}

Test(ci, one_plan_is_told_without_headings)
{
    need_git();
    const char *directory = repository();
    put(directory, "plan.perf", CARD("2 TB/s") MODEL CHAT);
    commit(directory);
    struct run head = shell(directory, "git rev-parse --short HEAD");
    expect(shell(directory, "PERFC_BASE=HEAD PERFC_TAG=sizing perfc-ci compare"), 0);
    cr_assert_str_eq(result(directory, "comment.md"),
                     arena_printf(arena,
                                  "<!-- perfc-comment sizing -->\n**Nothing changed in 1 scenario**\n"
                                  "\n<sub>Compared with %.*s.</sub>\n",
                                  (int)strcspn(head.out, "\n"), head.out));
    /* The first commit has nothing before it, and GitHub names it by zeros. */
    expect(shell(directory, "PERFC_BASE=0000000000000000000000000000000000000000 perfc-ci compare"), 0);
    expect_part(result(directory, "comment.md"), "\n**`chat` is new**\n");
    expect(shell(directory, "perfc-ci compare 'no*.perf'"), 0);
    expect_part(result(directory, "comment.md"), "**There are no plans**");
}

Test(ci, what_is_broken)
{
    need_git();
    const char *directory = repository();
    put(directory, "plan.perf", "scenario chat { gpu = nonesuch }\n");
    commit(directory);
    put(directory, "plan.perf", CARD("2 TB/s") MODEL CHAT);
    expect(shell(directory, "PERFC_BASE=HEAD perfc-ci compare"), 0); /* that mends it */
    expect_part(result(directory, "comment.md"), "**The old plan has 1 error, so nothing was compared**");
    commit(directory);
    put(directory, "plan.perf", "scenario chat { gpu = nonesuch }\n# ::error::injected\n");
    struct run run = shell(directory, "GITHUB_ACTIONS=true PERFC_BASE=HEAD perfc-ci compare");
    expect(run, 1);
    expect_part(run.out, "::error file=plan.perf,line=1,col=23,");
    expect_part(run.out, "::stop-commands::");
    expect_part(result(directory, "comment.md"), "**The new plan has 1 error, so nothing was compared**");
    run = shell(directory, "PERFC_BASE=0123456789 perfc-ci compare");
    expect(run, 2);
    expect_part(run.err, "there is no commit 0123456789 to compare with");
    run = shell(directory, "PERFC=/no/perfc perfc-ci compare");
    expect(run, 2);
    expect_part(run.err, "which is no program");
    expect(shell(directory, "perfc-ci"), 2);
}

Test(ci, a_comment_is_never_too_long)
{
    need_git();
    const char *directory = repository();
    for (int i = 0; i < 60; i++)
        put(directory, arena_printf(arena, "plan-%d.perf", i), CARD("2 TB/s") MODEL CHAT);
    commit(directory);
    for (int i = 0; i < 50; i++)
        put(directory, arena_printf(arena, "plan-%d.perf", i), CARD("1 TB/s") MODEL CHAT);
    expect(shell(directory, "PERFC_BASE=HEAD perfc-ci compare"), 0);
    const char *comment = result(directory, "comment.md");
    cr_assert_leq(strlen(comment), 60000);
    expect_part(comment, "**50 of 60 plans changed**");
    expect_part(comment, "\n10 more plans changed; the reports have them all.\n");
}

Test(ci, the_hook_checks_plans)
{
    const char *good = scratch_file(arena, "good plan.perf", CARD("2 TB/s") MODEL CHAT ASKED);
    const char *slow = scratch_file(arena, "slow.perf", CARD("1 TB/s") MODEL CHAT ASKED);
    const char *bad = scratch_file(arena, "bad.perf", "scenario chat { gpu = nonesuch }\n");
    struct run run = shell("/", arena_printf(arena, "perfc-ci check '%s'", good));
    expect(run, 0);
    cr_assert_str_eq(run.out, "");
    run = shell("/", arena_printf(arena, "perfc-ci check '%s' '%s'", slow, good));
    expect(run, 5);
    expect_part(run.out, "chat must feel instant");
    expect(shell("/", arena_printf(arena, "perfc-ci check '%s' '%s' '%s'", slow, bad, good)), 1);
}

/* ---- the recipes ------------------------------------------------------------------------------------ */

/* Runs a recipe as its runner would. */
static struct run recipe(const char *directory, const char *arguments)
{
    const char *script = source_path(arena, "tests/ci/recipes.py");
    return shell(directory, arena_printf(arena, "python3 '%s' %s", script, arguments));
}

static void need_yaml(void)
{
    need_git();
    if (shell("/", "python3 -c 'import yaml'").status != 0)
        cr_skip_test("there is no python3 with yaml: the CI recipes are NOT run");
}

Test(ci, the_action_runs)
{
    need_yaml();
    const char *directory = changed_repository();
    const char *action = source_path(arena, "action.yml");
    struct run base = shell(directory, "git rev-parse HEAD^");
    put(directory, "event.json",
        arena_printf(arena, "{\"pull_request\": {\"base\": {\"sha\": \"%.*s\"}}}",
                     (int)strcspn(base.out, "\n"), base.out));
    struct run run = recipe(directory, arena_printf(arena, "action '%s' event.json", action));
    expect(run, 5);
    expect_part(run.out, "comment=perfc-reports/comment.md\nreports=perfc-reports/reports\n"
                         "sarif=perfc-reports/sarif\nstatus=5\nplans=4\nchanged=3\n"
                         "worse=1\nfailing=1\nexceeded=1\n");
    run = recipe(directory, arena_printf(arena,
                                         "action '%s' event.json plans=same.perf 'fail-if=tpot>8ms' "
                                         "tag=mine directory=out/there",
                                         action));
    expect(run, 5);
    expect_part(run.out, "comment=out/there/comment.md");
    expect_part(run.out, "exceeded=1");
    const char *comment = read_file(arena, arena_printf(arena, "%s/out/there/comment.md", directory), NULL);
    expect_part(comment, "<!-- perfc-comment mine -->\n**1 threshold is exceeded");
    run = recipe(directory, arena_printf(arena, "action '%s' event.json perfc=/no/perfc", action));
    cr_assert_neq(run.status, 0);
}

Test(ci, the_gitlab_job_runs)
{
    need_yaml();
    const char *directory = changed_repository();
    struct run run = recipe(directory, arena_printf(arena,
                                                    "gitlab '%s' .perfc CI_BUILDS_DIR=\"$PWD\" "
                                                    "CI_MERGE_REQUEST_DIFF_BASE_SHA=$(git rev-parse HEAD^)",
                                                    source_path(arena, "ci/gitlab.yml")));
    expect(run, 5);
    expect_part(run.out,
                "junit=perfc-reports/reports/**/*.xml\ncodequality=perfc-reports/codequality.json\n");
    expect_part(result(directory, "comment.md"), "**3 of 4 plans changed**");
    expect_part(result(directory, "codequality.json"), "\"check_name\": \"threshold\"");
    expect_part(result(directory, "reports/same.perf.xml"), "<testsuites");
}

Test(ci, the_hooks_run)
{
    need_yaml();
    static const char *const hooks[] = {"perfc", "perfc-system"};
    const char *directory = scratch_directory(arena), *file = source_path(arena, ".pre-commit-hooks.yaml");
    put(directory, "good.perf", CARD("2 TB/s") MODEL CHAT ASKED);
    put(directory, "slow.perf", CARD("1 TB/s") MODEL CHAT ASKED);
    for (size_t i = 0; i < sizeof hooks / sizeof hooks[0]; i++) {
        const char *run = arena_printf(arena, "hook '%s' %s", file, hooks[i]);
        expect(recipe(directory, arena_printf(arena, "%s README.md good.perf", run)), 0);
        expect(recipe(directory, arena_printf(arena, "%s good.perf slow.perf", run)), 5);
        expect(recipe(directory, arena_printf(arena, "%s README.md", run)), 0);
    }
}
