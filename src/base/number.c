/* number.c: conversion between numbers and decimal text. The C library rounds correctly in both
 * directions; what is added here is the form of the text. The locale is never set, so it is "C". */
#include "base/number.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

bool number_parse(const char *text, size_t length, int exponent10, double *value)
{
    struct decimal decimal = {.count = 0};
    const char *end = text + length;
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

const char *number_shortest(char text[NUMBER_TEXT_MAX], double value)
{
    if (value == 0) {
        strcpy(text, "0");
        return text;
    }
    if (fabs(value) < 9007199254740992.0 && value == trunc(value)) {
        snprintf(text, NUMBER_TEXT_MAX, "%.0f", value);
        return text;
    }
    /* 15 digits always survive the way to a double and back, 17 always suffice. */
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, NUMBER_TEXT_MAX, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return text;
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
    char scientific[NUMBER_TEXT_MAX];
    snprintf(scientific, sizeof scientific, "%.*e", digits - 1, value);
    int exponent = atoi(strchr(scientific, 'e') + 1);
    if (exponent < -9 || exponent > 15) {
        strcpy(text, scientific);
        return text;
    }
    char figures[20];
    size_t count = 0;
    for (const char *at = scientific; *at != 'e'; at++)
        if (isdigit((unsigned char)*at))
            figures[count++] = *at;
    char *out = text;
    if (value < 0)
        *out++ = '-';
    if (exponent < 0) { /* 0.00123 */
        *out++ = '0';
        *out++ = '.';
        for (int zero = exponent + 1; zero < 0; zero++)
            *out++ = '0';
        memcpy(out, figures, count);
        out += count;
    } else {
        size_t whole = (size_t)exponent + 1;
        for (size_t i = 0; i < (whole > count ? whole : count); i++) {
            if (i == whole)
                *out++ = '.';
            *out++ = i < count ? figures[i] : '0';
        }
    }
    *out = '\0';
    return text;
}
