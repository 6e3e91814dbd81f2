/* test_backend_csv.c: rows, columns, quoting and formulas of the CSV backend. */
#include <criterion/criterion.h>
#include <string.h>

#include "backend/backend.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "report_fixture.h"
#include "result/report.h"

static struct arena *arena;

static void setup(void)
{
    arena = arena_new();
}

static void teardown(void)
{
    arena_free(arena);
}

TestSuite(backend_csv, .init = setup, .fini = teardown);

static const char *emit(const struct report *report)
{
    struct buffer out = buffer_in(arena);
    cr_assert(backend_by_name("csv")->emit(arena, report, (struct backend_options){0}, &out));
    return buffer_string(&out);
}

static void add_number(struct report *report, const char *name, double value, const char *unit)
{
    *VEC_PUSH(arena, report->quantities) =
        (struct report_quantity){.name = name, .type = QUANTITY_NUMBER, .value = value, .unit = unit};
}

static void add_text(struct report *report, const char *name, const char *text)
{
    *VEC_PUSH(arena, report->quantities) =
        (struct report_quantity){.name = name, .type = QUANTITY_TEXT, .text = text};
}

Test(backend_csv, has_a_row_per_scenario_and_a_column_per_quantity)
{
    struct report *report = report_fixture_empty(arena);
    *VEC_PUSH(arena, report->scenarios) = "llama-3.1"; /* the dot belongs to the name */
    *VEC_PUSH(arena, report->scenarios) = "b";
    add_number(report, "llama-3.1.tpot", 0.0104, "s");
    add_number(report, "llama-3.1.decode.intensity", 2.5, "1");
    add_number(report, "h100.balance", 295, "1"); /* of a GPU, so in no row */
    add_number(report, "b.tpot", 0.5, "s");
    add_number(report, "b.cost", 3, "usd");
    cr_assert_str_eq(emit(report), "scenario,tpot (s),decode.intensity,cost (usd)\r\n"
                                   "llama-3.1,0.0104,2.5,\r\n"
                                   "b,0.5,,3\r\n");
}

Test(backend_csv, finds_quoted_names)
{
    struct report *report = report_fixture_empty(arena);
    *VEC_PUSH(arena, report->scenarios) = "my plan. v2";
    add_number(report, "\"my plan. v2\".tpot", 0.5, "s");
    cr_assert_str_eq(emit(report), "scenario,tpot (s)\r\nmy plan. v2,0.5\r\n");
    cr_assert_not_null(
        strstr(emit(report_fixture(arena)), "\"<script>alert(\"\"x\"\" & 'y')</script>\",,,,,,,,bell"));
}

Test(backend_csv, quotes_and_disarms)
{
    static const struct {
        const char *text, *field;
    } cases[] = {
        {"plain", "plain"},
        {"a,b", "\"a,b\""},
        {"say \"hi\"", "\"say \"\"hi\"\"\""},
        {"two\r\nlines", "two lines"},
        {"=1+1", "\"'=1+1\""},
        {"+1", "\"'+1\""},
        {"-1", "\"'-1\""},
        {"@SUM(A1)", "\"'@SUM(A1)\""},
        {"\t=1", "\"' =1\""},
        {NASTY_INVALID, NASTY_INVALID_SHOWN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct report *report = report_fixture_empty(arena);
        *VEC_PUSH(arena, report->scenarios) = "s";
        add_text(report, "s.note", cases[i].text);
        cr_assert_str_eq(emit(report), arena_printf(arena, "scenario,note\r\ns,%s\r\n", cases[i].field));
    }
}

Test(backend_csv, of_an_empty_report_is_its_heading)
{
    cr_assert_str_eq(emit(report_fixture_empty(arena)), "scenario\r\n");
}
