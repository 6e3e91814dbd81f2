/* test_unit.c: units, literals, dimensions, and quantities as text. */
#include <criterion/criterion.h>

#include <string.h>

#include "base/arena.h"
#include "sema/unit.h"

#define THIN "\xE2\x80\x89"

static struct arena *arena;

static void setup(void)
{
    arena = arena_new();
}

static void teardown(void)
{
    arena_free(arena);
}

TestSuite(unit, .init = setup, .fini = teardown);

static struct dim dim_of(const char *text)
{
    struct unit unit;
    cr_assert(unit_parse(text, &unit), "%s", text);
    return unit.dim;
}

static void expect_literal(const char *digits, const char *count, const char *unit, double expected,
                           const char *dimension)
{
    double value;
    struct dim dim;
    cr_assert(unit_literal(digits, count, unit, &value, &dim), "%s %s", digits, unit);
    cr_assert_eq(value, expected, "%s %s gives %.17g", digits, unit == NULL ? "" : unit, value);
    cr_assert_str_eq(dim_text(arena, dim), dimension, "%s", unit);
}

Test(unit, literals_are_exact)
{
    expect_literal("2.039", NULL, "TB", 2.039e12, "data");
    expect_literal("3.35", NULL, "TB/s", 3.35e12, "data/time");
    expect_literal("989.4", NULL, "TFLOPS", 989.4e12, "work/time");
    expect_literal("989.4", NULL, "TFLOP/s", 989.4e12, "work/time");
    expect_literal("1.979", NULL, "POPS", 1.979e15, "work/time");
    expect_literal("0.1", NULL, "EFLOP", 0.1e18, "work");
    expect_literal("400", NULL, "Gbit/s", 50e9, "data/time");
    expect_literal("400", NULL, "Gbps", 50e9, "data/time");
    expect_literal("80", NULL, "GiB", 85899345920.0, "data");
    expect_literal("1", NULL, "TiB", 1099511627776.0, "data");
    expect_literal("12", NULL, "bit", 1.5, "data");
    expect_literal("10", NULL, "us", 10e-6, "time");
    expect_literal("10", NULL, "\xC2\xB5s", 10e-6, "time");
    expect_literal("10", NULL, "\xCE\xBCs", 10e-6, "time");
    expect_literal("1.5", NULL, "min", 90, "time");
    expect_literal("2", NULL, "day", 172800, "time");
    expect_literal("1", NULL, "year", 31536000, "time");
    expect_literal("1", NULL, "month", 2628000, "time"); /* 365 * 86400 / 12 */
    expect_literal("7.2", NULL, "usd/h", 7.2 / 3600, "money (usd)/time");
    expect_literal("0.84", NULL, "usd/Mtok", 0.84e-6, "money (usd)/token");
    expect_literal("3", NULL, "eur", 3, "money (eur)");
    expect_literal("700", NULL, "W", 700, "power");
    expect_literal("2", NULL, "kWh", 7.2e6, "energy");
    expect_literal("0.5", NULL, "MJ", 5e5, "energy");
    expect_literal("90", NULL, "%", 0.9, "a number");
    expect_literal("2000", NULL, "tokens", 2000, "tokens");
    expect_literal("3", NULL, "requests/s", 3, "requests/time");
    expect_literal("7", NULL, NULL, 7, "a number");
}

Test(unit, count_suffixes)
{
    expect_literal("128", "k", "tokens", 128000, "tokens");
    expect_literal("128", "Ki", NULL, 131072, "a number");
    expect_literal("7", "B", NULL, 7e9, "a number");
    expect_literal("6.7", "B", NULL, 6.7e9, "a number");
    expect_literal("1.8", "T", NULL, 1.8e12, "a number");
    expect_literal("3", "Mi", NULL, 3145728, "a number");
    expect_literal("1", "Ti", NULL, 1099511627776.0, "a number");
}

Test(unit, what_is_no_unit_is_refused)
{
    static const char *const texts[] = {"",    "Gb", "gb",     "KB",   "GB/",  "/s", "GB//s", "GBps",
                                        "sec", "S",  "Tflops", "GB s", "s/1x", "%%", "B/s "};
    struct unit unit;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        cr_assert_not(unit_parse(texts[i], &unit), "'%s'", texts[i]);
    double value;
    struct dim dim;
    cr_assert_not(unit_literal("1", "X", NULL, &value, &dim));
    cr_assert_not(unit_literal("1e308", NULL, "TB", &value, &dim), "not finite");
    cr_assert_not(unit_literal("1e308", "Ki", NULL, &value, &dim), "not finite");
}

Test(unit, dimensions_overflow_cleanly)
{
    struct unit unit;
    cr_assert(unit_parse("B/s/s/s/s/s/s/s/s/s", &unit));
    cr_assert_not(unit_parse("B/s/s/s/s/s/s/s/s/s/s", &unit), "ten seconds below");
    struct dim nine = dim_none(), out;
    nine.power[DIM_TIME] = 9;
    cr_assert_not(dim_multiply(nine, dim_of("s"), &out));
    cr_assert(dim_divide(nine, dim_of("s"), &out));
    cr_assert_eq(out.power[DIM_TIME], 8);
}

Test(unit, watts_are_joules_per_second)
{
    struct dim energy;
    cr_assert(dim_multiply(dim_of("W"), dim_of("s"), &energy));
    cr_assert(dim_equal(energy, dim_of("J")));
    cr_assert(dim_equal(dim_of("W/W"), dim_none()));
    cr_assert(dim_is_none(dim_of("1")));
}

Test(unit, dimensions_have_words_and_si_units)
{
    cr_assert_str_eq(dim_text(arena, dim_of("GB/s")), "data/time");
    cr_assert_str_eq(dim_text(arena, dim_of("1/s")), "1/time");
    cr_assert_str_eq(dim_text(arena, dim_of("FLOP/B/s")), "work/data/time");
    struct dim square;
    dim_multiply(dim_of("s"), dim_of("s"), &square);
    cr_assert_str_eq(dim_text(arena, square), "time^2");
    cr_assert_str_eq(dim_si_unit(arena, dim_of("TB/s")), "B/s");
    cr_assert_str_eq(dim_si_unit(arena, dim_of("ms")), "s");
    cr_assert_str_eq(dim_si_unit(arena, dim_none()), "1");
    cr_assert_str_eq(dim_si_unit(arena, dim_of("usd/token")), "usd/token");
    cr_assert_str_eq(dim_si_unit(arena, dim_of("tok/s")), "tokens/s");
    cr_assert_str_eq(dim_si_unit(arena, dim_of("kW")), "W");
    cr_assert_str_eq(dim_si_unit(arena, dim_of("requests/token")), "requests/token");
    cr_assert_str_eq(dim_unit_examples(arena, dim_of("B/s")), "`GB/s`, `TB/s`");
    cr_assert_str_eq(dim_unit_examples(arena, dim_of("token/usd")), "`tokens/usd`");
}

Test(unit, every_row_of_the_table_reads_as_itself)
{
    const struct unit_row *rows;
    size_t count = unit_table(&rows);
    cr_assert_gt(count, 60);
    for (size_t i = 0; i < count; i++) {
        double value;
        struct dim dim;
        cr_assert(unit_literal("1", NULL, rows[i].name, &value, &dim), "%s", rows[i].name);
        cr_assert_float_eq(value / rows[i].value, 1, 1e-15, "%s", rows[i].name);
        cr_assert_str_eq(dim_text(arena, dim), rows[i].dimension, "%s", rows[i].name);
        for (size_t j = 0; j < i; j++)
            cr_assert_str_neq(rows[i].name, rows[j].name);
    }
}

static void expect_suggestion(const char *text, const char *best, const char *second)
{
    const char *other = "unset";
    const char *got = unit_suggest(arena, text, &other);
    if (best == NULL) {
        cr_assert_null(got, "%s: %s", text, got);
    } else {
        cr_assert_not_null(got, "%s", text);
        cr_assert_str_eq(got, best, "%s: %s", text, got);
    }
    if (second == NULL) {
        cr_assert_null(other, "%s: %s", text, other);
    } else {
        cr_assert_not_null(other, "%s", text);
        cr_assert_str_eq(other, second, "%s: %s", text, other);
    }
}

Test(unit, suggestions)
{
    expect_suggestion("gb", "GB", NULL);
    expect_suggestion("Gb", "GB", "Gbit");
    expect_suggestion("Gb/s", "GB/s", "Gbit/s");
    expect_suggestion("gb/S", "GB/s", NULL);
    expect_suggestion("KB", "kB", NULL);
    expect_suggestion("GBps", "GB/s", NULL);
    expect_suggestion("TBps", "TB/s", NULL);
    expect_suggestion("tflops", "TFLOPS", "TFLOP");
    expect_suggestion("TFLOPs", "TFLOPS", "TFLOP");
    expect_suggestion("Tflop/s", "TFLOP/s", NULL);
    expect_suggestion("TFlops/s", "TFLOP/s", NULL);
    expect_suggestion("MS", "ms", NULL);
    expect_suggestion("gib", "GiB", NULL);
    expect_suggestion("USD/hour", "usd/h", NULL);
    expect_suggestion("$/h", "usd/h", NULL);
    expect_suggestion("seconds", "s", NULL);
    expect_suggestion("tokns", "tokens", NULL);
    expect_suggestion("tokens/sec", "tokens/s", NULL);
    expect_suggestion("tps", "tokens/s", NULL);
    expect_suggestion("parsecs", NULL, NULL);
    expect_suggestion("", NULL, NULL);
}

static void expect_text(double value, const char *unit, const char *expected)
{
    const char *got = quantity_text(arena, value, dim_of(unit));
    cr_assert_str_eq(got, expected, "%.17g %s prints as %s", value, unit, got);
}

Test(unit, quantities_as_a_person_writes_them)
{
    expect_text(7.0e-3, "s", "7.00" THIN "ms");
    expect_text(123.858, "tokens/s", "124" THIN "tok/s");
    expect_text(16.147e9, "B", "16.1" THIN "GB");
    expect_text(312e12, "FLOP/s", "312" THIN "TFLOP/s");
    expect_text(156, "FLOP/B", "156" THIN "FLOP/B");
    expect_text(0.867, "FLOP/B", "0.867" THIN "FLOP/B");
    expect_text(3.35e12, "B/s", "3.35" THIN "TB/s");
    expect_text(0.84e-6, "usd/token", "0.840" THIN "usd/Mtok");
    expect_text(2.5 / 3600, "usd/s", "2.50" THIN "usd/h");
    expect_text(0.453, "J/token", "453" THIN "mJ/token");
    expect_text(2.1, "J/token", "2.10" THIN "J/token");
    expect_text(524288, "B/token", "524" THIN "kB/token");
    expect_text(2048, "tokens", "2" THIN "048" THIN "tokens");
    expect_text(1, "token", "1" THIN "token");
    expect_text(2200.5, "tokens", "2" THIN "200" THIN "tokens");
    expect_text(12345.6, "tokens/s", "12" THIN "300" THIN "tok/s");
    expect_text(6738415616.0, "1", "6.74" THIN "billion");
    expect_text(64, "1", "64");
    expect_text(0.4321, "1", "0.432");
    expect_text(0, "s", "0" THIN "s");
    expect_text(44.9e-6, "s", "44.9" THIN "\xC2\xB5s");
    expect_text(95, "s", "95.0" THIN "s");
    expect_text(5400, "s", "90.0" THIN "min");
    expect_text(-3.2e9, "B",
                "\xE2\x88\x92"
                "3.20" THIN "GB");
    expect_text(999.96e6, "B", "1.00" THIN "GB");
    expect_text(999.4e6, "B", "999" THIN "MB");
    expect_text(700, "W", "700" THIN "W");
    expect_text(3, "FLOP/s/s", "3.00" THIN "FLOP/s^2");
}

Test(unit, memory_as_a_driver_reports_it)
{
    /* 80 GiB = 85899345920 bytes */
    struct print_unit unit = unit_for_print(dim_of("B"), 85899345920.0, UNIT_STYLE_BINARY);
    cr_assert_str_eq(unit.text, "GiB");
    cr_assert_str_eq(unit_format(arena, 85899345920.0, unit, 3), "80.0" THIN "GiB");
    cr_assert_str_eq(unit_format(arena, 0, unit, 3), "0" THIN "GiB");
    unit = unit_for_print(dim_of("B/token"), 524288, UNIT_STYLE_BINARY);
    cr_assert_str_eq(unit_format(arena, 524288, unit, 3), "512" THIN "KiB/token");
    unit = unit_for_print(dim_of("s"), 0.02, UNIT_STYLE_BINARY);
    cr_assert_str_eq(unit.text, "ms");
}

Test(unit, a_value_is_never_rounded_across_its_limit)
{
    struct dim time = dim_of("s");
    cr_assert_str_eq(quantity_text_against(arena, 39.96e-3, 40e-3, time), "39.96" THIN "ms");
    cr_assert_str_eq(quantity_text_against(arena, 40.04e-3, 40e-3, time), "40.04" THIN "ms");
    cr_assert_str_eq(quantity_text_against(arena, 39.9996e-3, 40e-3, time), "39.9996" THIN "ms");
    cr_assert_str_eq(quantity_text_against(arena, 31e-3, 40e-3, time), "31.0" THIN "ms");
    cr_assert_str_eq(quantity_text_against(arena, 40e-3, 40e-3, time), "40.0" THIN "ms");
    cr_assert_str_eq(quantity_text_against(arena, 40e-3, 39.96e-3, time), "40.00" THIN "ms");
}
