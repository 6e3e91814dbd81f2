/* value.h: dimensions, and what an expression comes to. */
#ifndef PERFC_SEMA_VALUE_H
#define PERFC_SEMA_VALUE_H

#include <stdbool.h>
#include <stdint.h>

struct decl;

/* Exponents of the base dimensions. Power is energy/time. */
enum dim_base {
    DIM_DATA,
    DIM_WORK,
    DIM_TIME,
    DIM_TOKEN,
    DIM_REQUEST,
    DIM_ENERGY,
    DIM_USD,
    DIM_EUR,
    DIM_BASE_COUNT
};

struct dim {
    int8_t power[DIM_BASE_COUNT];
};

enum value_type {
    VALUE_ERROR,  /* already reported; whatever depends on it stays silent */
    VALUE_ABSENT, /* a quantity that does not exist for the case; `text` says why */
    VALUE_NUMBER,
    VALUE_BOOL,
    VALUE_TEXT,
    VALUE_DECL, /* a declaration */
};

struct value {
    enum value_type type;
    double number; /* SI: bytes, FLOP, seconds, tokens, requests, joules, usd, eur */
    struct dim dim;
    bool boolean;
    const char *text;
    struct decl *decl;
};

#endif
