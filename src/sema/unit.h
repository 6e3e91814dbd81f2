/* unit.h: units, dimensions, and quantities as a person would print them.
 * Knows nothing of files, trees or plans. All strings returned are static unless said otherwise. */
#ifndef PERFC_SEMA_UNIT_H
#define PERFC_SEMA_UNIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/number.h"
#include "sema/value.h"

struct arena;

/* What a unit text means: value = number * 10^exponent10 * factor, in SI. The decimal exponent is kept
 * apart so that a literal can be converted with one rounding (2.039 TB is exactly 2.039e12). */
struct unit {
    int exponent10;
    double factor;  /* 1 for powers of ten; 1024^n, 60, 3600, ... else */
    double divisor; /* the rest is divided by this: `Gbit/s` is 10^9 / 8 */
    struct dim dim;
};

/* Reads "TB/s", "tokens", "TFLOPS", "Gbps", "µs", "%", "usd/h". False when it is not a unit. */
bool unit_parse(const char *text, struct unit *unit);

/* Reads a literal: digits ("4_096"), count suffix or NULL, unit or NULL, into an SI value. */
bool unit_literal(const char *digits, const char *count, const char *unit, double *value, struct dim *dim);

/* For an unknown unit: the known unit it was probably meant to be (arena), or NULL. When the text has
 * two readings that differ in case only ("Gb": Gbit or GB), *other is the second one, else NULL. */
const char *unit_suggest(struct arena *arena, const char *text, const char **other);

struct dim dim_none(void);
bool dim_equal(struct dim a, struct dim b);
bool dim_is_none(struct dim dim);
/* Sums or differences of exponents. False when an exponent leaves -9..9. */
bool dim_multiply(struct dim a, struct dim b, struct dim *product);
bool dim_divide(struct dim a, struct dim b, struct dim *quotient);

/* "data/time", "a number", "tokens/time", "money (usd)/time": for messages. From `arena`. */
const char *dim_text(struct arena *arena, struct dim dim);

/* Units that would do: "`GB/s`, `TB/s`". From `arena`. */
const char *dim_unit_examples(struct arena *arena, struct dim dim);

/* The coherent SI unit for JSON: "B/s", "s", "FLOP", "tokens/s", "1", "usd". From `arena` when composed. */
const char *dim_si_unit(struct arena *arena, struct dim dim);

/* ---- printing ----------------------------------------------------------------------------- */

enum unit_style {
    UNIT_STYLE_DECIMAL, /* GB, TB/s */
    UNIT_STYLE_BINARY,  /* GiB: memory as a driver reports it */
};

/* A unit a column of numbers is printed in. */
struct print_unit {
    const char *text; /* "ms", "GB/s", "tok/s", "" for a bare number */
    double scale;     /* SI value of one */
};

/* The unit a person would pick for a value of this magnitude; a bare number for a dimension that has no
 * customary unit (quantity_text spells those out). */
struct print_unit unit_for_print(struct dim dim, double magnitude, enum unit_style style);

/* Formats value/unit.scale with `digits` significant digits and the unit ("7.00 ms"; a U+2009 thin
 * space stands between). Integers that are counts (no dimension, magnitude below 1e6) print whole.
 * From `arena`. */
const char *unit_format(struct arena *arena, double value, struct print_unit unit, int digits);

/* The number alone, as it would stand before the unit: for a column whose heading names the unit. */
const char *unit_number(struct arena *arena, double value, struct print_unit unit, int digits);

/* The above in one: the unit a person would pick, three digits. */
const char *quantity_text(struct arena *arena, double value, struct dim dim);

/* Likewise, with more digits when three would round `value` onto or across `limit`, so that 39.96 ms
 * against 40 ms does not print as 40.0. */
const char *quantity_text_against(struct arena *arena, double value, double limit, struct dim dim);

/* How many significant digits, `digits` at least, show on which side of `limit` the value lies. */
int unit_digits_against(double value, double limit, int digits);

/* Each unit once, for `perfc list units`: name, dimension, SI value. */
struct unit_row {
    const char *name;
    const char *dimension;
    double value;
};
size_t unit_table(const struct unit_row **rows);

#endif
