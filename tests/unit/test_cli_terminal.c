/* test_cli_terminal.c: what a terminal is shown that knows no UTF-8 or wants no colour, and reports of which
 * a plan chooses the sections. A terminal is made by script(1), which Debian always has; without it the tests
 * are skipped. */
#include <criterion/criterion.h>
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

TestSuite(cli_terminal, .init = set_up, .fini = tear_down, .timeout = 120);

/* ---- terminals -------------------------------------------------------------------------------------- */

/* perfc on a terminal, with nothing in its environment but these settings. */
static const char *on_terminal(const char *environment, const char *arguments)
{
    const char *command =
        arena_printf(arena, "env -i PATH=\"$PATH\" TERM=xterm %s script -qec '%s %s' /dev/null", environment,
                     perfc_path(), arguments);
    const char *argv[] = {"sh", "-c", command, NULL};
    if (run_command(arena, (const char *const[]){"script", "--version", NULL}, (struct run_options){0})
            .status)
        cr_skip_test("there is no script(1): terminals are NOT tested");
    struct run run = run_command(arena, argv, (struct run_options){0});
    cr_assert_gt(run.out_length, 20, "%s: %s", arguments, run.err);
    return run.out;
}

static size_t beyond_ascii(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += (unsigned char)*text >= 0x80;
    return count;
}

static const char *a_plan(void)
{
    return scratch_file(
        arena, "plan.perf",
        "gpu card { memory = 80 GB  bandwidth = 2 TB/s  peak.fp16 = 312 TFLOPS  price = 2 usd/h }\n"
        "model tiny { params = 7e9  layers = 32  hidden = 4096  heads = 32 }\n"
        "scenario \"caf\xC3\xA9\" { gpu = card  model = tiny  prompt = 900  output = 90  batch = 4 }\n"
        "assert \"caf\xC3\xA9\".tpot <= 1 us \"na\xC3\xAFve\"\n"
        "sweep \"caf\xC3\xA9\" { batch = 1, 4, 16\n  show tpot }\n");
}

Test(cli_terminal, all_is_ascii_where_utf8_is_not_known)
{
    const char *plan = a_plan(), *other = scratch_file(arena, "other.perf", "let nothing = 0\n");
    const char *const commands[] = {
        plan,
        arena_printf(arena, "-f md %s", plan),
        arena_printf(arena, "diff %s %s", other, plan),
        arena_printf(arena, "check %s", plan),
        arena_printf(arena, "explain %s caf\xC3\xA9.tpot", plan),
        "list gpus --long",
        "list quantities",
        "explain E0207",
        "--help",
    };
    static const char *const settings[] = {"LANG=C", "LANG=C.UTF-8 LC_ALL=POSIX", "LC_CTYPE=en_US.ISO-8859-1",
                                           ""};
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        const char *shown = on_terminal(settings[i % 4], commands[i]);
        cr_expect_eq(beyond_ascii(shown), 0, "%s: %.3000s", commands[i], shown);
    }
    const char *tree = on_terminal("LANG=C", arena_printf(arena, "explain %s caf\xC3\xA9.tpot", plan));
    cr_expect_not_null(strstr(tree, "`- "), "%s", tree);
    cr_expect_not_null(strstr(tree, "|- "), "%s", tree);
    cr_expect_gt(beyond_ascii(on_terminal("LANG=C.UTF-8", plan)), 100);
}

/* Errors, the lines of the plan below them and their messages; what is underlined stays underlined: the marks
 * stand under `Ms`, behind a comment-like text of wide characters. */
Test(cli_terminal, diagnostics_are_ascii_where_utf8_is_not_known)
{
    const char *plan = scratch_file(arena, "bad.perf",
                                    "let \"\xE7\x9B\xAE\xE6\xA0\x87\xC3\xA9\" = 1 ms   let x = 10 Ms\n"
                                    "scenario chat { gpu = caf\xC3\xA9 }\n");
    const char *const commands[] = {
        plan,
        arena_printf(arena, "check %s", plan),
        arena_printf(arena, "--diagnostics=json %s", plan),
        arena_printf(arena, "explain %s caf\xC3\xA9.tpot", a_plan()),
        "caf\xC3\xA9.perf",
        "--lang caf\xC3\xA9",
    };
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        const char *shown = on_terminal("LANG=C", commands[i]);
        cr_expect_eq(beyond_ascii(shown), 0, "%s: %.3000s", commands[i], shown);
    }
    const char *narrow = on_terminal("LANG=C", commands[0]), *wide = on_terminal("LANG=C.UTF-8", commands[0]);
    cr_expect_not_null(strstr(narrow, "let \"?????\" = 1 ms"), "%s", narrow);
    cr_expect_gt(beyond_ascii(wide), 5, "%s", wide);
}

Test(cli_terminal, colour_is_for_those_who_want_it)
{
    const char *plan = a_plan();
    static const struct {
        const char *environment, *option;
        bool colour;
    } cases[] = {
        {"LANG=C.UTF-8", "", true},
        {"LANG=C.UTF-8 NO_COLOR=1", "", false},
        {"LANG=C.UTF-8 NO_COLOR=", "", true}, /* no-color.org: only when it is not empty */
        {"TERM=dumb", "", false},
        {"NO_COLOR=1", "--color always ", true},
        {"LANG=C", "--color never ", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *shown =
            on_terminal(cases[i].environment, arena_printf(arena, "%s%s", cases[i].option, plan));
        cr_expect_eq(strchr(shown, '\x1B') != NULL, cases[i].colour, "%s %s", cases[i].environment,
                     cases[i].option);
    }
    cr_expect_null(strchr(RUN(arena, plan).out, '\x1B'), "a pipe has no colours");
}

/* ---- sections ---------------------------------------------------------------------------------------------
 */

static const struct {
    const char *id, *title;
} sections[] = {
    {"key", "Key figures"},
    {"compare", "Comparison"},
    {"roofline", "Where it stands"},
    {"time", "Where the time goes"},
    {"memory", "Where the memory goes"},
    {"sweeps", "Sweep"},
    {"sensitivity", "What would change it"},
    {"derivations", "How each figure was made"},
    {"assumptions", "Assumptions"},
    {"sources", "Sources"},
    {"plan", "The plan"},
};
enum { SECTION_COUNT = sizeof sections / sizeof sections[0] };

/* The title as a heading: a line of text, of Markdown or of its folded parts, an element of HTML. */
static bool has_heading(const char *report, const char *title)
{
    const char *const forms[] = {
        arena_printf(arena, "\n%s\n", title),       arena_printf(arena, "# %s\n", title),
        arena_printf(arena, "<summary>%s<", title), arena_printf(arena, ">%s</span></summary>", title),
        arena_printf(arena, ">%s</h2>", title),
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (strstr(report, forms[i]))
            return true;
    return false;
}

Test(cli_terminal, a_plan_may_choose_its_sections)
{
    static const char *const formats[] = {"text", "md", "html"};
    const char *base = read_file(arena, source_path(arena, "examples/quickstart.perf"), NULL);
    cr_assert_not_null(base);
    for (size_t i = 0; i < SECTION_COUNT; i++) {
        const char *plan = scratch_file(
            arena, "plan.perf", arena_printf(arena, "%s\nreport { sections = %s }\n", base, sections[i].id));
        for (size_t k = 0; k < sizeof formats / sizeof formats[0]; k++) {
            struct run run = RUN(arena, "-f", formats[k], plan);
            cr_assert(run.status == 0 && run.err_length == 0, "%s as %s: %s", sections[i].id, formats[k],
                      run.err);
            for (size_t j = 0; j < SECTION_COUNT; j++)
                cr_expect_eq(has_heading(run.out, sections[j].title), i == j, "%s in %s of %s",
                             sections[j].title, formats[k], sections[i].id);
        }
        /* Figures for machines are all there, whatever people read. */
        cr_expect_not_null(strstr(RUN(arena, "-f", "json", plan).out, "\"h100.tpot\": {\"value\": "));
        cr_expect_not_null(strstr(RUN(arena, "-f", "csv", plan).out, "\r\nh100,"));
    }
}
