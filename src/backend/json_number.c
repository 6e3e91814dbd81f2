/* json_number.c: the shortest decimal text that reads back as the same double, without the C library.
 *
 * number_shortest() asks printf and strtod up to three times, 2 us per number. Here value = m * 2^-s is
 * scaled to N = m * 10^k, an exact integer of at most 127 bits, with k such that N / 2^s has 17 digits.
 * Rounding to 15, 16 or 17 digits and the question whether a rounded value lies within half a unit in the
 * last place are then exact integer arithmetic. What does not fit goes to number_shortest(). */
#include "backend/json_number.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __SIZEOF_INT128__

__extension__ typedef unsigned __int128 wide;

enum {
    FEWEST_DIGITS = 15, /* always survive the way to a double and back */
    MOST_DIGITS = 17,   /* always suffice */
    POWER_MOST = 22,    /* 2^53 * 10^22 < 2^127 */
    FIXED_LEAST = -4,   /* below this exponent %g writes one */
};

struct scaled {
    wide n;         /* m * 10^k */
    wide power;     /* 10^k */
    unsigned shift; /* s */
    int k;
    bool even; /* m is even: values half way to a neighbour read back as this one */
};

static wide power_of_ten(int exponent)
{
    wide power = 1;
    for (; exponent > 0; exponent--)
        power *= 10;
    return power;
}

/* False when the value is outside of what the scheme covers. */
static bool scale(double value, struct scaled *scaled)
{
    int exponent;
    double fraction = frexp(value, &exponent);
    uint64_t m = (uint64_t)ldexp(fraction, 53);
    if (exponent >= 53 || fraction == 0.5) /* at a power of two the neighbour below is nearer */
        return false;
    scaled->shift = (unsigned)(53 - exponent);
    scaled->even = m % 2 == 0;
    /* log10(2) = 0.30103; the estimate is at most one too high or low. */
    scaled->k = MOST_DIGITS - 1 - (int)floor((exponent - 1) * 0.30103);
    for (int attempt = 0; attempt < 3; attempt++) {
        if (scaled->k < 0 || scaled->k > POWER_MOST || scaled->shift > 100)
            return false;
        scaled->power = power_of_ten(scaled->k);
        scaled->n = m * scaled->power;
        wide whole = scaled->n >> scaled->shift;
        if (whole >= power_of_ten(MOST_DIGITS))
            scaled->k--;
        else if (whole < power_of_ten(MOST_DIGITS - 1))
            scaled->k++;
        else
            return true;
    }
    return false;
}

/* The value in units of 10^(dropped - k), rounded half to even; false when it reads back as another. */
static bool round_to(const struct scaled *scaled, int dropped, uint64_t *rounded)
{
    wide unit = power_of_ten(dropped) << scaled->shift;
    wide quotient = scaled->n / unit, rest = scaled->n - quotient * unit;
    if (2 * rest > unit || (2 * rest == unit && quotient % 2 == 1))
        quotient++;
    wide back = quotient * unit;
    wide distance = back > scaled->n ? back - scaled->n : scaled->n - back;
    *rounded = (uint64_t)quotient;
    return 2 * distance < scaled->power || (2 * distance == scaled->power && scaled->even);
}

/* Digits that stand for digits * 10^exponent, in the form of %g. */
static const char *write_digits(char *text, bool negative, uint64_t digits, int exponent)
{
    char figures[24];
    int count = 0, at = (int)sizeof figures;
    while (digits % 10 == 0) {
        digits /= 10;
        exponent++;
    }
    for (; digits > 0; digits /= 10, count++)
        figures[--at] = (char)('0' + digits % 10);
    int first = exponent + count - 1; /* exponent of the first figure */
    char *out = text;
    if (negative)
        *out++ = '-';
    if (first < FIXED_LEAST) {
        *out++ = figures[at];
        if (count > 1)
            *out++ = '.';
        memcpy(out, figures + at + 1, (size_t)count - 1);
        out += count - 1;
        *out++ = 'e';
        *out++ = '-';
        *out++ = (char)('0' + -first / 10);
        *out++ = (char)('0' + -first % 10);
    } else if (first < 0) {
        *out++ = '0';
        *out++ = '.';
        memset(out, '0', (size_t)(-first - 1));
        out += -first - 1;
        memcpy(out, figures + at, (size_t)count);
        out += count;
    } else { /* a fraction follows, for whole numbers do not come here */
        memcpy(out, figures + at, (size_t)first + 1);
        out += first + 1;
        *out++ = '.';
        memcpy(out, figures + at + first + 1, (size_t)(count - first - 1));
        out += count - first - 1;
    }
    *out = '\0';
    return text;
}

const char *json_number(char text[NUMBER_TEXT_MAX], double value)
{
    struct scaled scaled;
    double magnitude = fabs(value);
    if (!(magnitude >= 1e-6) || magnitude == trunc(magnitude) || !scale(magnitude, &scaled))
        return number_shortest(text, value);
    uint64_t digits = 0;
    for (int count = FEWEST_DIGITS; count <= MOST_DIGITS; count++)
        if (round_to(&scaled, MOST_DIGITS - count, &digits))
            return write_digits(text, value < 0, digits, MOST_DIGITS - count - scaled.k);
    return number_shortest(text, value);
}

#else

const char *json_number(char text[NUMBER_TEXT_MAX], double value)
{
    return number_shortest(text, value);
}

#endif
