/* unit.c: the table of units, reading of unit texts and literals, and arithmetic of dimensions. */
#include "sema/unit.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "sema/unit_internal.h"

/* ---- units -------------------------------------------------------------------------------- */

struct unit_definition {
    const char *name;
    struct unit unit;
};

static const struct unit_definition definitions[] = {
#define UNIT(name, exponent10, factor, divisor, dimension)                                                   \
    {name, {exponent10, factor, divisor, DIM_##dimension##_ONLY}},
#include "sema/units.def"
#undef UNIT
};

enum { UNIT_COUNT = sizeof definitions / sizeof definitions[0] };

bool unit_simple(const char *text, size_t length, struct unit *unit)
{
    if (length == 0)
        return false;
    for (size_t i = 0; i < UNIT_COUNT; i++) {
        const char *name = definitions[i].name;
        if (name[0] == text[0] && strncmp(name, text, length) == 0 && name[length] == '\0') {
            *unit = definitions[i].unit;
            return true;
        }
    }
    return false;
}

/* "1" stands for a bare number, alone or before the first slash. */
static bool unit_part(const char *text, size_t length, struct unit *unit)
{
    if (length == 1 && text[0] == '1') {
        *unit = (struct unit){0, 1, 1, dim_none()};
        return true;
    }
    return unit_simple(text, length, unit);
}

bool unit_parse(const char *text, struct unit *unit)
{
    size_t length = strcspn(text, "/");
    if (!unit_part(text, length, unit))
        return false;
    while (text[length] == '/') {
        text += length + 1;
        length = strcspn(text, "/");
        struct unit below;
        if (!unit_simple(text, length, &below) || !dim_divide(unit->dim, below.dim, &unit->dim))
            return false;
        unit->exponent10 -= below.exponent10;
        unit->factor *= below.divisor;
        unit->divisor *= below.factor;
    }
    return true;
}

struct count_suffix {
    const char *text;
    int exponent10;
    double factor;
};

static const struct count_suffix count_suffixes[] = {
    {"k", 3, 1},     {"M", 6, 1},        {"B", 9, 1},           {"T", 12, 1},
    {"Ki", 0, 1024}, {"Mi", 0, 1048576}, {"Gi", 0, 1073741824}, {"Ti", 0, 1099511627776},
};

static const struct count_suffix *find_count_suffix(const char *text)
{
    for (size_t i = 0; i < sizeof count_suffixes / sizeof count_suffixes[0]; i++)
        if (strcmp(count_suffixes[i].text, text) == 0)
            return &count_suffixes[i];
    return NULL;
}

bool unit_literal(const char *digits, const char *count, const char *unit, double *value, struct dim *dim)
{
    struct unit meaning = {0, 1, 1, dim_none()};
    if (unit != NULL && !unit_parse(unit, &meaning))
        return false;
    if (count != NULL) {
        const struct count_suffix *suffix = find_count_suffix(count);
        if (suffix == NULL)
            return false;
        meaning.exponent10 += suffix->exponent10;
        meaning.factor *= suffix->factor;
    }
    double number;
    if (!number_parse(digits, strlen(digits), meaning.exponent10, &number))
        return false;
    /* Factors are whole and small: one multiplication or one division, each rounded once. */
    number = number * meaning.factor / meaning.divisor;
    if (!isfinite(number))
        return false;
    *value = number;
    *dim = meaning.dim;
    return true;
}

/* ---- the table for `perfc list units` ------------------------------------------------------ */

/* A power of ten as a constant expression. */
#define POWER10(e)          ((e) < 0 ? NEGATIVE_POWER10(e) : (e) < 9 ? SMALL_POWER10(e) : LARGE_POWER10(e))
#define NEGATIVE_POWER10(e) ((e) == -2 ? 1e-2 : (e) == -3 ? 1e-3 : (e) == -6 ? 1e-6 : 1e-9)
#define SMALL_POWER10(e)    ((e) == 0 ? 1.0 : (e) == 3 ? 1e3 : 1e6)
#define LARGE_POWER10(e)    ((e) == 9 ? 1e9 : (e) == 12 ? 1e12 : (e) == 15 ? 1e15 : 1e18)

#define WORD_DATA      "data"
#define WORD_DATA_RATE "data/time"
#define WORD_WORK      "work"
#define WORD_WORK_RATE "work/time"
#define WORD_TIME      "time"
#define WORD_TOKEN     "tokens"
#define WORD_REQUEST   "requests"
#define WORD_USD       "money (usd)"
#define WORD_EUR       "money (eur)"
#define WORD_POWER     "power"
#define WORD_ENERGY    "energy"
#define WORD_NONE      "a number"

size_t unit_table(const struct unit_row **rows)
{
    static const struct unit_row table[] = {
#define UNIT(name, exponent10, factor, divisor, dimension)                                                   \
    {name, WORD_##dimension, POWER10(exponent10) * (factor) / (divisor)},
#include "sema/units.def"
#undef UNIT
    };
    *rows = table;
    return UNIT_COUNT;
}

/* ---- dimensions --------------------------------------------------------------------------- */

struct dim dim_none(void)
{
    return (struct dim){{0}};
}

bool dim_equal(struct dim a, struct dim b)
{
    return memcmp(a.power, b.power, sizeof a.power) == 0;
}

bool dim_is_none(struct dim dim)
{
    return dim_equal(dim, dim_none());
}

enum { POWER_LIMIT = 9 };

static bool combine(struct dim a, struct dim b, int sign, struct dim *result)
{
    for (int i = 0; i < DIM_BASE_COUNT; i++) {
        int power = a.power[i] + sign * b.power[i];
        if (power < -POWER_LIMIT || power > POWER_LIMIT)
            return false;
        result->power[i] = (int8_t)power;
    }
    return true;
}

bool dim_multiply(struct dim a, struct dim b, struct dim *product)
{
    return combine(a, b, 1, product);
}

bool dim_divide(struct dim a, struct dim b, struct dim *quotient)
{
    return combine(a, b, -1, quotient);
}

/* How the base dimensions are spelt: above and below a slash. */
struct spelling {
    const char *above[DIM_BASE_COUNT], *below[DIM_BASE_COUNT];
};

static const struct spelling words = {
    .above = {"data", "work", "time", "tokens", "requests", "energy", "money (usd)", "money (eur)"},
    .below = {"data", "work", "time", "token", "request", "energy", "money (usd)", "money (eur)"},
};

static const struct spelling si_units = {
    .above = {"B", "FLOP", "s", "tokens", "requests", "J", "usd", "eur"},
    .below = {"B", "FLOP", "s", "token", "request", "J", "usd", "eur"},
};

/* "data/time", "work·time/token^2", "1/time". */
static const char *spell(struct arena *arena, struct dim dim, const struct spelling *spelling)
{
    struct buffer out = buffer_in(arena);
    for (int i = 0; i < DIM_BASE_COUNT; i++) {
        if (dim.power[i] <= 0)
            continue;
        buffer_printf(&out, "%s%s", out.length > 0 ? "\xC2\xB7" : "", spelling->above[i]);
        if (dim.power[i] > 1)
            buffer_printf(&out, "^%d", dim.power[i]);
    }
    if (out.length == 0)
        buffer_text(&out, "1");
    for (int i = 0; i < DIM_BASE_COUNT; i++) {
        if (dim.power[i] >= 0)
            continue;
        buffer_printf(&out, "/%s", spelling->below[i]);
        if (dim.power[i] < -1)
            buffer_printf(&out, "^%d", -dim.power[i]);
    }
    return buffer_string(&out);
}

/* What the common dimensions are called, their SI unit, and units a plan would use. */
struct dim_row {
    struct dim dim;
    const char *text, *si, *examples;
};

static const struct dim_row dim_rows[] = {
    {{{0}}, "a number", "1", "none, or `%`"},
    {DIM_DATA_ONLY, "data", "B", "`GB`, `GiB`"},
    {DIM_DATA_RATE_ONLY, "data/time", "B/s", "`GB/s`, `TB/s`"},
    {DIM_WORK_ONLY, "work", "FLOP", "`GFLOP`, `TFLOP`"},
    {DIM_WORK_RATE_ONLY, "work/time", "FLOP/s", "`TFLOPS`, `PFLOPS`"},
    {DIM_TIME_ONLY, "time", "s", "`ms`, `s`"},
    {DIM_TOKEN_ONLY, "tokens", "tokens", "`tokens`"},
    {{{[DIM_TOKEN] = 1, [DIM_TIME] = -1}}, "tokens/time", "tokens/s", "`tokens/s`"},
    {DIM_REQUEST_ONLY, "requests", "requests", "`requests`"},
    {{{[DIM_REQUEST] = 1, [DIM_TIME] = -1}}, "requests/time", "requests/s", "`requests/s`"},
    {DIM_USD_ONLY, "money (usd)", "usd", "`usd`"},
    {DIM_EUR_ONLY, "money (eur)", "eur", "`eur`"},
    {{{[DIM_USD] = 1, [DIM_TIME] = -1}}, "money (usd)/time", "usd/s", "`usd/h`"},
    {{{[DIM_EUR] = 1, [DIM_TIME] = -1}}, "money (eur)/time", "eur/s", "`eur/h`"},
    {{{[DIM_USD] = 1, [DIM_TOKEN] = -1}}, "money (usd)/token", "usd/token", "`usd/Mtok`"},
    {{{[DIM_EUR] = 1, [DIM_TOKEN] = -1}}, "money (eur)/token", "eur/token", "`eur/Mtok`"},
    {DIM_ENERGY_ONLY, "energy", "J", "`J`, `kWh`"},
    {DIM_POWER_ONLY, "power", "W", "`W`, `kW`"},
    {{{[DIM_WORK] = 1, [DIM_DATA] = -1}}, "work/data", "FLOP/B", "`FLOP/B`"},
    {{{[DIM_DATA] = 1, [DIM_TOKEN] = -1}}, "data/token", "B/token", "`kB/token`, `KiB/token`"},
    {{{[DIM_ENERGY] = 1, [DIM_TOKEN] = -1}}, "energy/token", "J/token", "`J/token`"},
};

static const struct dim_row *find_dim(struct dim dim)
{
    for (size_t i = 0; i < sizeof dim_rows / sizeof dim_rows[0]; i++)
        if (dim_equal(dim_rows[i].dim, dim))
            return &dim_rows[i];
    return NULL;
}

const char *dim_text(struct arena *arena, struct dim dim)
{
    const struct dim_row *row = find_dim(dim);
    return row != NULL ? row->text : spell(arena, dim, &words);
}

const char *dim_unit_examples(struct arena *arena, struct dim dim)
{
    const struct dim_row *row = find_dim(dim);
    return row != NULL ? row->examples : arena_printf(arena, "`%s`", spell(arena, dim, &si_units));
}

const char *dim_si_unit(struct arena *arena, struct dim dim)
{
    const struct dim_row *row = find_dim(dim);
    return row != NULL ? row->si : spell(arena, dim, &si_units);
}
