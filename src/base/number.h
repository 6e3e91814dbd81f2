/* number.h: numbers to text and back, the same in every locale. */
#ifndef PERFC_BASE_NUMBER_H
#define PERFC_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

enum { NUMBER_TEXT_MAX = 40 }; /* bytes any of the writers below needs, NUL included */

/* Reads decimal digits `[0-9_]+(.[0-9_]+)?([eE][+-]?[0-9]+)?` of `length` bytes, times 10^exponent10,
 * with one correct rounding: the exponent is appended to the digits before conversion, so
 * 2.039 with exponent 12 is exactly 2.039e12. Returns false (and leaves *value) when the text is
 * not of that form or the result is not finite. */
bool number_parse(const char *text, size_t length, int exponent10, double *value);

/* The shortest decimal text that reads back as `value` (finite): "0.008073741824", "14000000000",
 * "1.5e-09". Integers below 2^53 have no exponent and no point. Returns `text`. */
const char *number_shortest(char text[NUMBER_TEXT_MAX], double value);

/* `value` with `digits` significant digits, never with an exponent: "16.1", "0.00123", "12 300" is
 * written "12300". Trailing zeros are kept ("7.00"). Returns `text`. Magnitudes outside
 * 1e-9 .. 1e15 fall back to an exponent. */
const char *number_significant(char text[NUMBER_TEXT_MAX], double value, int digits);

#endif
