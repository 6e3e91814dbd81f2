/* number.c: conversion between numbers and decimal text. The C library rounds correctly in both
 * directions; what is added here is the form of the text, and a shorter way where the rounding is beyond
 * doubt. The locale is never set, so it is "C". */
#include "base/number.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Powers of ten that a double holds exactly. */
static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* No double needs more than 767 significant digits to be told from its neighbours' midpoint; digits
 * beyond these matter only by being zero or not. */
enum { DIGITS_MAX = 780, EXPONENT_LIMIT = 100000 };

struct decimal {
    char digits[DIGITS_MAX + 32]; /* significant ones, then room for the exponent */
    size_t count;
    long exponent; /* of the unit after the last kept digit */
    bool inexact;  /* a digit that was not kept is not zero */
};

static void take_digit(struct decimal *decimal, char digit, bool fraction)
{
    bool kept = decimal->count < DIGITS_MAX;
    if (decimal->count == 0 && digit == '0') { /* a leading zero only moves the point */
        decimal->exponent -= fraction;
        return;
    }
    if (kept)
        decimal->digits[decimal->count++] = digit;
    else if (digit != '0')
        decimal->inexact = true;
    decimal->exponent += (kept ? 0 : 1) - (fraction ? 1 : 0);
}

/* Reads `[0-9_]+` with one digit at least; returns its end, or NULL. */
static const char *take_digits(struct decimal *decimal, const char *at, const char *end, bool fraction)
{
    bool any = false;
    for (; at < end && (isdigit((unsigned char)*at) || *at == '_'); at++) {
        if (*at == '_')
            continue;
        any = true;
        take_digit(decimal, *at, fraction);
    }
    return any ? at : NULL;
}

static const char *take_exponent(struct decimal *decimal, const char *at, const char *end)
{
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    if (at == end)
        return NULL;
    long exponent = 0;
    for (; at < end; at++) {
        if (!isdigit((unsigned char)*at))
            return NULL;
        if (exponent < EXPONENT_LIMIT)
            exponent = 10 * exponent + (*at - '0');
    }
    decimal->exponent += negative ? -exponent : exponent;
    return at;
}

/* A number below 2^53 and a power of ten that doubles hold exactly: their product or quotient is rounded
 * once, and so correctly (Clinger, PLDI 1990). False where that is not so, or where doubles are computed
 * wider. */
static bool parse_quickly(const struct decimal *decimal, long exponent, double *value)
{
    enum { SAFE_DIGITS = 15, SAFE_EXPONENT = sizeof powers / sizeof powers[0] - 1 };
    if (FLT_EVAL_METHOD != 0 || decimal->count > SAFE_DIGITS || labs(exponent) > SAFE_EXPONENT)
        return false;
    uint64_t whole = 0;
    for (size_t i = 0; i < decimal->count; i++)
        whole = 10 * whole + (uint64_t)(decimal->digits[i] - '0');
    *value = exponent < 0 ? (double)whole / powers[-exponent] : (double)whole * powers[exponent];
    return true;
}

bool number_parse(const char *text, size_t length, int exponent10, double *value)
{
    struct decimal decimal;
    const char *end = text + length;
    decimal.count = 0;
    decimal.exponent = 0;
    decimal.inexact = false;
    const char *at = take_digits(&decimal, text, end, false);
    if (at != NULL && at < end && *at == '.')
        at = take_digits(&decimal, at + 1, end, true);
    if (at != NULL && at < end && (*at == 'e' || *at == 'E'))
        at = take_exponent(&decimal, at + 1, end);
    if (at != end || at == NULL)
        return false;
    if (decimal.count == 0) {
        *value = 0;
        return true;
    }
    if (parse_quickly(&decimal, decimal.exponent + exponent10, value))
        return true;
    if (decimal.inexact) {
        decimal.digits[decimal.count++] = '1';
        decimal.exponent--;
    }
    snprintf(decimal.digits + decimal.count, sizeof decimal.digits - decimal.count, "e%ld",
             decimal.exponent + exponent10);
    double result = strtod(decimal.digits, NULL);
    if (!isfinite(result))
        return false;
    *value = result;
    return true;
}

/* The decimal digits of `value`; returns how many there are. */
static size_t put_digits(char text[NUMBER_TEXT_MAX], uint64_t value)
{
    char reversed[20];
    size_t count = 0;
    do
        reversed[count++] = (char)('0' + value % 10);
    while (value /= 10);
    for (size_t i = 0; i < count; i++)
        text[i] = reversed[count - 1 - i];
    return count;
}

static const char *put_integer(char text[NUMBER_TEXT_MAX], double value)
{
    char *at = text;
    if (value < 0)
        *at++ = '-';
    at[put_digits(at, (uint64_t)fabs(value))] = '\0';
    return text;
}

const char *number_shortest(char text[NUMBER_TEXT_MAX], double value)
{
    if (value == 0) {
        strcpy(text, "0");
        return text;
    }
    if (fabs(value) < 9007199254740992.0 && value == trunc(value))
        return put_integer(text, value);
    /* 15 digits always survive the way to a double and back, 17 always suffice. */
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, NUMBER_TEXT_MAX, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return text;
}

/* A number as digits, the first of which stands for that many times ten to the exponent. */
struct rounded {
    char digits[NUMBER_TEXT_MAX];
    size_t count;
    int exponent;
};

enum { QUICK_DIGITS = 9, QUICK_LEAST = -9, QUICK_MOST = 14 };

/* Rounds to at most nine digits by one multiplication with an exact power of ten, or one division. Its error
 * is at most half a unit in the last place of a number below 1e9, 6e-8; so where what is cut off is farther
 * than 1e-6 from a half, it is known to which side of it the value lies. False where it is not. */
static bool round_quickly(double magnitude, int digits, struct rounded *rounded)
{
    if (digits > QUICK_DIGITS || !(magnitude >= 1e-9 && magnitude < 1e15))
        return false;
    int exponent = QUICK_MOST;
    while (exponent > 0 && magnitude < powers[exponent])
        exponent--;
    if (magnitude < 1)
        for (exponent = -1; exponent > QUICK_LEAST && magnitude * powers[-exponent] < 1;)
            exponent--;
    int shift = digits - 1 - exponent;
    double scaled = shift >= 0 ? magnitude * powers[shift] : magnitude / powers[-shift];
    double whole = floor(scaled), rest = scaled - whole;
    if (fabs(rest - 0.5) < 1e-6)
        return false;
    uint64_t figures = (uint64_t)whole + (rest > 0.5);
    rounded->count = put_digits(rounded->digits, figures);
    rounded->exponent = exponent;
    if (rounded->count > (size_t)digits) { /* 9.99 became 10.0 */
        rounded->count--;
        rounded->exponent++;
    }
    return rounded->count == (size_t)digits;
}

static void round_by_library(double magnitude, int digits, struct rounded *rounded)
{
    char scientific[NUMBER_TEXT_MAX];
    snprintf(scientific, sizeof scientific, "%.*e", digits - 1, magnitude);
    rounded->exponent = atoi(strchr(scientific, 'e') + 1);
    rounded->count = 0;
    for (const char *at = scientific; *at != 'e'; at++)
        if (isdigit((unsigned char)*at))
            rounded->digits[rounded->count++] = *at;
}

/* Without an exponent: 0.00123, 1.23, 12300. */
static void put_rounded(char *out, const struct rounded *rounded)
{
    if (rounded->exponent < 0) {
        *out++ = '0';
        *out++ = '.';
        for (int zero = rounded->exponent + 1; zero < 0; zero++)
            *out++ = '0';
        memcpy(out, rounded->digits, rounded->count);
        out += rounded->count;
    } else {
        size_t whole = (size_t)rounded->exponent + 1;
        for (size_t i = 0; i < (whole > rounded->count ? whole : rounded->count); i++) {
            if (i == whole)
                *out++ = '.';
            *out++ = i < rounded->count ? rounded->digits[i] : '0';
        }
    }
    *out = '\0';
}

const char *number_significant(char text[NUMBER_TEXT_MAX], double value, int digits)
{
    if (digits < 1)
        digits = 1;
    if (digits > 17)
        digits = 17;
    if (value == 0) {
        snprintf(text, NUMBER_TEXT_MAX, "%.*f", digits - 1, 0.0);
        return text;
    }
    struct rounded rounded;
    if (!round_quickly(fabs(value), digits, &rounded))
        round_by_library(fabs(value), digits, &rounded);
    if (rounded.exponent < -9 || rounded.exponent > 15) {
        snprintf(text, NUMBER_TEXT_MAX, "%.*e", digits - 1, value);
        return text;
    }
    if (value < 0)
        *text = '-';
    put_rounded(text + (value < 0), &rounded);
    return text;
}
