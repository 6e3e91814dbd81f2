/* test_tradeoff.c: the Pareto front of latency and throughput, and measurements on the curves of sweeps. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/arena.h"
#include "result/tradeoff.h"
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

TestSuite(tradeoff, .init = setup, .fini = teardown);

/* Throughput, latency, and by hand: e has the most throughput, c as much as d for less time, a the least
 * time; b has less throughput than c for as much time, f less than a for as much, g equals c. */
Test(tradeoff, marks_what_no_other_beats)
{
    struct report_tradeoff points[] = {
        {.name = "a", .throughput = 100, .latency = 5},  {.name = "b", .throughput = 150, .latency = 8},
        {.name = "c", .throughput = 200, .latency = 8},  {.name = "d", .throughput = 200, .latency = 9},
        {.name = "e", .throughput = 400, .latency = 20}, {.name = "f", .throughput = 90, .latency = 5},
        {.name = "g", .throughput = 200, .latency = 8},
    };
    static const char front[] = "aceg";
    tradeoff_mark(arena, points, sizeof points / sizeof *points);
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        cr_assert_eq(points[i].pareto, strchr(front, *points[i].name) != NULL, "%s", points[i].name);
    tradeoff_mark(arena, NULL, 0);
}

/* The definition itself, over points of a generator that repeats both coordinates. */
Test(tradeoff, agrees_with_the_definition)
{
    enum { COUNT = 300 };
    struct report_tradeoff points[COUNT] = {{0}};
    unsigned long seed = 7;
    for (size_t i = 0; i < COUNT; i++) {
        seed = seed * 48271 % 2147483647;
        points[i].throughput = (double)(seed % 40);
        points[i].latency = (double)(seed / 40 % 40);
    }
    tradeoff_mark(arena, points, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        bool beaten = false;
        for (size_t j = 0; j < COUNT; j++)
            beaten =
                beaten ||
                (points[j].throughput >= points[i].throughput && points[j].latency <= points[i].latency &&
                 (points[j].throughput > points[i].throughput || points[j].latency < points[i].latency));
        cr_assert_eq(points[i].pareto, !beaten, "point %zu", i);
    }
}

static const char plan[] =
    "scenario a { model = llama-3.1-8b gpu = h100-sxm batch = 8 context = 2048 engine = ideal }\n"
    "scenario b : a { batch = 16 }\n"
    "scenario slow : a { gpu = l40s }\n"
    "scenario other { model = llama-3.1-8b gpu = h100-sxm batch = 8 context = 1024 engine = ideal }\n"
    "sweep a { batch = 1, 8, 16, 64 show tpot }\n"
    "measured b { tpot = 7 ms }\n"
    "measured slow { tpot = 30 ms }\n"
    "measured other { tpot = 6 ms }\n";

static const char *report(const char *format, const char *sections)
{
    const char *text = arena_printf(arena, "%sreport { sections = %s }\n", plan, sections);
    const char *file = scratch_file(arena, "plan.perf", text);
    struct run run = RUN(arena, "-f", format, file);
    cr_assert_eq(run.status, 0, "%s", run.err);
    return run.out;
}

static size_t occurrences(const char *text, const char *part)
{
    size_t count = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        count++;
    return count;
}

/* The sweep passes through b, which is a at batch 16; not through another card, nor another context. */
Test(tradeoff, a_measurement_stands_on_the_curve_of_its_own_case)
{
    const char *page = report("html", "sweeps");
    cr_assert_eq(occurrences(page, "<title>measured: 7 at 16</title>"), 1, "%s", page);
    cr_assert_eq(occurrences(page, "<title>measured:"), 1);
    cr_assert_not_null(strstr(report("text", "sweeps"), "\xE2\x97\x8B measured"));
}

/* Of the five points (the sweep's 8 and 16 are a and b) every one of the sweep is on the front, as more batch
 * always costs time: 1, 64, a, b; slow has less bandwidth than a, other reads less cache than a. */
Test(tradeoff, is_in_every_format)
{
    const char *json = report("json", "tradeoff");
    cr_assert_eq(occurrences(json, "\"throughput_per_gpu\": "), 6);
    cr_assert_not_null(strstr(json, "{\"name\": \"slow\", \"scenario\": \"slow\""));
    cr_assert_not_null(strstr(json, "{\"name\": \"a, batch = 64\", \"scenario\": \"a\""));
    cr_assert_eq(occurrences(json, "\"pareto\": false"), 2, "slow, and a beside other");
    static const char *const formats[] = {"text", "md", "html"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const char *text = report(formats[i], "tradeoff");
        cr_assert_not_null(strstr(text, "4 of 6 points"), "%s", text);
        cr_assert_geq(occurrences(text, "on the front"), 4);
        cr_assert_eq(occurrences(text, "beaten by another"), 2);
    }
}

/* Two scenarios leave nothing to weigh. */
Test(tradeoff, needs_three_points)
{
    const char *file =
        scratch_file(arena, "two.perf",
                     "scenario a { model = llama-3.1-8b gpu = h100-sxm batch = 8 context = 2048 }\n"
                     "scenario b : a { batch = 16 }\n");
    struct run run = RUN(arena, "-f", "json", file);
    cr_assert_not_null(strstr(run.out, "\"tradeoff\": [],"));
    cr_assert_null(strstr(RUN(arena, file).out, "Latency against throughput"));
}
