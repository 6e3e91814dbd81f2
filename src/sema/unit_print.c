/* unit_print.c: quantities as a person would write them: the unit of the right size, three significant
 * digits, a thin space between number and unit and between groups of three digits. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "sema/unit.h"
#include "sema/unit_internal.h"

#define THIN_SPACE "\xE2\x80\x89" /* U+2009 */
#define MICRO      "\xC2\xB5"     /* U+00B5 */

enum { DIGITS = 3, DIGITS_MOST = 15 };

/* One rung: the unit serves magnitudes from `from` on. */
struct rung {
    struct print_unit unit;
    double from;
};

struct ladder {
    struct dim dim;
    bool binary;
    struct rung rungs[9]; /* from small to large; ends at the first without a text */
};

/* clang-format off */
/* 999.5 kB would print as 1000 kB, so MB begins a little below 1 MB. */
#define RUNG(text, scale) {{text, scale}, 0.9995 * (scale)}
#define FROM(text, scale, from) {{text, scale}, from}
#define SMALL(text, scale) {{text, scale}, 0}

#define MONEY(name, base) \
    {{{[base] = 1}}, false, {SMALL(name, 1)}}, \
    {{{[base] = 1, [DIM_TIME] = -1}}, false, {SMALL(name "/h", 1.0 / 3600)}}, \
    {{{[base] = 1, [DIM_TOKEN] = -1}}, false, {SMALL(name "/Mtok", 1e-6)}}, \
    {{{[base] = 1, [DIM_REQUEST] = -1}}, false, {SMALL(name "/request", 1)}}

static const struct ladder ladders[] = {
    {DIM_NONE_ONLY, false,
     {SMALL("", 1), RUNG("million", 1e6), RUNG("billion", 1e9), RUNG("trillion", 1e12),
      FROM("", 1, 1e18)}}, /* with an exponent: nobody reads a million trillion */
    {DIM_DATA_ONLY, false,
     {SMALL("B", 1), RUNG("kB", 1e3), RUNG("MB", 1e6), RUNG("GB", 1e9), RUNG("TB", 1e12), RUNG("PB", 1e15)}},
    {DIM_DATA_ONLY, true,
     {SMALL("B", 1), RUNG("KiB", 0x1p10), RUNG("MiB", 0x1p20), RUNG("GiB", 0x1p30), RUNG("TiB", 0x1p40)}},
    {DIM_DATA_RATE_ONLY, false,
     {SMALL("B/s", 1), RUNG("kB/s", 1e3), RUNG("MB/s", 1e6), RUNG("GB/s", 1e9), RUNG("TB/s", 1e12),
      RUNG("PB/s", 1e15)}},
    {DIM_WORK_ONLY, false,
     {SMALL("FLOP", 1), RUNG("kFLOP", 1e3), RUNG("MFLOP", 1e6), RUNG("GFLOP", 1e9), RUNG("TFLOP", 1e12),
      RUNG("PFLOP", 1e15), RUNG("EFLOP", 1e18)}},
    {DIM_WORK_RATE_ONLY, false,
     {SMALL("FLOP/s", 1), RUNG("kFLOP/s", 1e3), RUNG("MFLOP/s", 1e6), RUNG("GFLOP/s", 1e9),
      RUNG("TFLOP/s", 1e12), RUNG("PFLOP/s", 1e15), RUNG("EFLOP/s", 1e18)}},
    {DIM_TIME_ONLY, false,
     {SMALL("ns", 1e-9), RUNG(MICRO "s", 1e-6), RUNG("ms", 1e-3), RUNG("s", 1), FROM("min", 60, 180),
      FROM("h", 3600, 7200), FROM("days", 86400, 172800), FROM("years", 31536000, 63072000)}},
    {DIM_TOKEN_ONLY, false, {SMALL("tokens", 1), RUNG("Mtok", 1e6)}},
    {{{[DIM_TOKEN] = 1, [DIM_TIME] = -1}}, false, {SMALL("tok/s", 1), RUNG("Mtok/s", 1e6)}},
    {DIM_REQUEST_ONLY, false, {SMALL("requests", 1)}},
    {{{[DIM_REQUEST] = 1, [DIM_TIME] = -1}}, false, {SMALL("req/s", 1)}},
    MONEY("usd", DIM_USD),
    MONEY("eur", DIM_EUR),
    {DIM_ENERGY_ONLY, false,
     {SMALL("mJ", 1e-3), RUNG("J", 1), RUNG("kJ", 1e3), FROM("kWh", 3.6e6, 0.9995 * 3.6e6),
      FROM("MWh", 3.6e9, 0.9995 * 3.6e9)}},
    {DIM_POWER_ONLY, false, {SMALL("W", 1), RUNG("kW", 1e3), RUNG("MW", 1e6)}},
    {{{[DIM_ENERGY] = 1, [DIM_TOKEN] = -1}}, false,
     {SMALL("mJ/token", 1e-3), RUNG("J/token", 1), RUNG("kJ/token", 1e3)}},
    {{{[DIM_WORK] = 1, [DIM_DATA] = -1}}, false, {SMALL("FLOP/B", 1)}},
    {{{[DIM_DATA] = 1, [DIM_TOKEN] = -1}}, false,
     {SMALL("B/token", 1), RUNG("kB/token", 1e3), RUNG("MB/token", 1e6), RUNG("GB/token", 1e9)}},
    {{{[DIM_DATA] = 1, [DIM_TOKEN] = -1}}, true,
     {SMALL("B/token", 1), RUNG("KiB/token", 0x1p10), RUNG("MiB/token", 0x1p20), RUNG("GiB/token", 0x1p30)}},
    {{{[DIM_WORK] = 1, [DIM_TOKEN] = -1}}, false,
     {SMALL("FLOP/token", 1), RUNG("kFLOP/token", 1e3), RUNG("MFLOP/token", 1e6), RUNG("GFLOP/token", 1e9),
      RUNG("TFLOP/token", 1e12)}},
    {{{[DIM_TIME] = 1, [DIM_TOKEN] = -1}}, false,
     {SMALL("ns/token", 1e-9), RUNG(MICRO "s/token", 1e-6), RUNG("ms/token", 1e-3), RUNG("s/token", 1)}},
    {{{[DIM_TOKEN] = 1, [DIM_ENERGY] = -1}}, false, {SMALL("tokens/J", 1)}},
    {{{[DIM_TOKEN] = 1, [DIM_REQUEST] = -1}}, false, {SMALL("tokens/request", 1)}},
};
/* clang-format on */

static const struct ladder *find_ladder(struct dim dim, bool binary)
{
    const struct ladder *other = NULL;
    for (size_t i = 0; i < sizeof ladders / sizeof ladders[0]; i++) {
        if (!dim_equal(ladders[i].dim, dim))
            continue;
        if (ladders[i].binary == binary)
            return &ladders[i];
        other = &ladders[i];
    }
    return other;
}

static struct print_unit pick_rung(const struct ladder *ladder, double magnitude)
{
    struct print_unit best = ladder->rungs[0].unit;
    size_t count = sizeof ladder->rungs / sizeof ladder->rungs[0];
    for (size_t i = 1; i < count && ladder->rungs[i].unit.text != NULL; i++)
        if (fabs(magnitude) >= ladder->rungs[i].from)
            best = ladder->rungs[i].unit;
    if (magnitude == 0 && dim_equal(ladder->dim, (struct dim)DIM_TIME_ONLY))
        best = (struct print_unit){"s", 1};
    return best;
}

struct print_unit unit_for_print(struct dim dim, double magnitude, enum unit_style style)
{
    const struct ladder *ladder = find_ladder(dim, style == UNIT_STYLE_BINARY);
    return ladder == NULL ? (struct print_unit){"", 1} : pick_rung(ladder, magnitude);
}

/* Copies digits with a thin space before every third digit left of the point. */
static void add_grouped(struct buffer *out, const char *digits)
{
    if (*digits == '-') {
        buffer_text(out, "\xE2\x88\x92"); /* U+2212, minus sign */
        digits++;
    }
    size_t whole = strcspn(digits, ".e");
    bool scientific = strchr(digits, 'e') != NULL;
    for (size_t i = 0; i < whole; i++) {
        if (i > 0 && (whole - i) % 3 == 0 && !scientific)
            buffer_text(out, THIN_SPACE);
        buffer_byte(out, digits[i]);
    }
    buffer_text(out, digits + whole);
}

/* Units of things that are counted, which lose their plural at one and print whole when they are. */
static const char *const counted[] = {"", "tokens", "requests", "B", "B/token", "days", "years"};

static bool is_counted(const char *unit)
{
    for (size_t i = 0; i < sizeof counted / sizeof counted[0]; i++)
        if (strcmp(counted[i], unit) == 0)
            return true;
    return false;
}

static bool prints_whole(double scaled, struct print_unit unit)
{
    return is_counted(unit.text) && scaled == trunc(scaled) && fabs(scaled) < 1e6;
}

static void add_scaled(struct buffer *out, double scaled, struct print_unit unit, int digits)
{
    char text[NUMBER_TEXT_MAX];
    if (scaled == 0 || prints_whole(scaled, unit))
        number_shortest(text, scaled);
    else
        number_significant(text, scaled, digits);
    add_grouped(out, text);
}

const char *unit_number(struct arena *arena, double value, struct print_unit unit, int digits)
{
    struct buffer out = buffer_in(arena);
    add_scaled(&out, value / unit.scale, unit, digits);
    return buffer_string(&out);
}

const char *unit_format(struct arena *arena, double value, struct print_unit unit, int digits)
{
    struct buffer out = buffer_in(arena);
    double scaled = value / unit.scale;
    add_scaled(&out, scaled, unit, digits);
    size_t length = strlen(unit.text);
    if (length == 0)
        return buffer_string(&out);
    buffer_text(&out, THIN_SPACE);
    bool singular = scaled == 1 && prints_whole(scaled, unit) && unit.text[length - 1] == 's';
    buffer_add(&out, unit.text, singular ? length - 1 : length);
    return buffer_string(&out);
}

static struct print_unit pick(struct arena *arena, double value, struct dim dim)
{
    const struct ladder *ladder = find_ladder(dim, false);
    if (ladder == NULL)
        return (struct print_unit){dim_si_unit(arena, dim), 1};
    return pick_rung(ladder, value);
}

const char *quantity_text(struct arena *arena, double value, struct dim dim)
{
    return unit_format(arena, value, pick(arena, value, dim), DIGITS);
}

static double rounded(double value, int digits)
{
    char text[NUMBER_TEXT_MAX];
    return strtod(number_significant(text, value, digits), NULL);
}

int unit_digits_against(double value, double limit, int digits)
{
    if (value == limit)
        return digits;
    for (; digits < DIGITS_MOST; digits++) {
        double a = rounded(value, digits), b = rounded(limit, digits);
        if (value < limit ? a < b : a > b)
            break;
    }
    return digits;
}

const char *quantity_text_against(struct arena *arena, double value, double limit, struct dim dim)
{
    struct print_unit unit = pick(arena, value, dim);
    int digits = unit_digits_against(value / unit.scale, limit / unit.scale, DIGITS);
    return unit_format(arena, value, unit, digits);
}
