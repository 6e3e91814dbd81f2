/* test_described.c: what reports show of a plan besides its figures: words of its declarations, bands. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/arena.h"
#include "run.h"

static struct arena *arena;

static void setup(void)
{
    arena = arena_new();
}

static void teardown(void)
{
    arena_free(arena);
}

TestSuite(described, .init = setup, .fini = teardown);

static const char *report(const char *format, const char *plan)
{
    struct run run = RUN(arena, "-f", format, scratch_file(arena, "plan.perf", plan));
    cr_assert_eq(run.status, 0, "%s", run.err);
    return run.out;
}

static const char own_card[] =
    "gpu mine : h100-sxm { name = \"The card in the lab\"  year = 2031  note = \"lent until May\" }\n"
    "model same : llama-3.1-8b { }\n"
    "scenario chat { model = same gpu = mine batch = 8 context = 2048 }\n"
    "report { sections = sources }\n";

/* What is inherited stands beside what the plan says itself; who says nothing has no row. */
Test(described, words_of_declarations_are_shown)
{
    static const char *const formats[] = {"text", "md", "html"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const char *text = report(formats[i], own_card);
        cr_assert_not_null(strstr(text, "What the plan declares itself"), "%s", formats[i]);
        cr_assert_not_null(strstr(text, "The card in the lab"));
        cr_assert_not_null(strstr(text, "lent until May"));
        cr_assert_not_null(strstr(text, "2031"));
        cr_assert_null(strstr(strstr(text, "What the plan declares itself"), "model same"));
    }
    cr_assert_not_null(strstr(report("html", own_card), "<td>2031</td><td>lent until May</td>"));
}

Test(described, nothing_is_said_of_a_plan_that_says_nothing)
{
    const char *plan = "scenario chat { model = llama-3.1-8b gpu = h100-sxm batch = 8 context = 2048 }\n";
    cr_assert_null(strstr(report("text", plan), "What the plan declares itself"));
}

/* The default engine's expected time per token has a band, the ideal engine's has none. */
Test(described, bars_of_the_time_per_token_have_a_band)
{
    const char *plan = "scenario a { model = llama-3.1-8b gpu = h100-sxm batch = 8 context = 2048 }\n"
                       "scenario b : a { engine = ideal }\n";
    const char *page = report("html", plan);
    const char *time = strstr(page, "id=\"chart-time\"");
    cr_assert_not_null(time);
    const char *band = strstr(time, "<g class=\"band\"><title>");
    cr_assert_not_null(band);
    cr_assert_lt(band, strstr(time, "</svg>"), "in the wide drawing");
    cr_assert_null(strstr(strstr(page, "id=\"chart-memory\""), "class=\"band\""));
}
