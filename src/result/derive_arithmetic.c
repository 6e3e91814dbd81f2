/* derive_arithmetic.c: the value of a formula from the inputs that stand below it. All are in SI units, so
 * numbers are enough; whether dimensions agree is the business of the tests. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "result/derive_sheet.h"

struct reading {
    const char *at;
    const struct derive_node *node;
    bool failed;
    int depth;
};

enum { DEEPEST = 200 };

static double read_choice(struct reading *reading);

static void skip_blanks(struct reading *reading)
{
    while (*reading->at == ' ')
        reading->at++;
}

static bool take(struct reading *reading, const char *text)
{
    size_t length = strlen(text);
    skip_blanks(reading);
    if (strncmp(reading->at, text, length) != 0)
        return false;
    if (isalpha((unsigned char)text[length - 1]) &&
        (isalnum((unsigned char)reading->at[length]) || reading->at[length] == '_' ||
         reading->at[length] == '.'))
        return false;
    reading->at += length;
    return true;
}

static size_t name_length(const char *at)
{
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_' || at[length] == '.')
        length++;
    return length;
}

static double fail(struct reading *reading)
{
    reading->failed = true;
    return 0;
}

static double value_of(struct reading *reading, size_t length)
{
    for (size_t i = 0; i < reading->node->inputs.count; i++) {
        const struct derive_node *input = reading->node->inputs.items[i];
        if (strlen(input->name) != length || strncmp(input->name, reading->at, length) != 0)
            continue;
        reading->at += length;
        if (input->value.type == QUANTITY_NUMBER)
            return input->value.value;
        return input->value.type == QUANTITY_BOOL ? input->value.boolean : fail(reading);
    }
    return fail(reading);
}

/* `f(a, b, ...)` of the language's functions. */
static double call(struct reading *reading)
{
    static const char *const names[] = {"min(", "max(", "floor(", "ceil(", "round(", "abs("};
    size_t which = 0;
    while (which < sizeof names / sizeof names[0] && !take(reading, names[which]))
        which++;
    double value = read_choice(reading);
    while (take(reading, ",")) {
        double other = read_choice(reading);
        value = which == 0 ? fmin(value, other) : which == 1 ? fmax(value, other) : fail(reading);
    }
    if (!take(reading, ")"))
        return fail(reading);
    switch (which) {
    case 2: return floor(value);
    case 3: return ceil(value);
    case 4: return round(value);
    case 5: return fabs(value);
    default: return which < 2 ? value : fail(reading);
    }
}

/* A number and its unit: those that formulas use are units of SI, or one token, request or operation. */
static double read_number(struct reading *reading)
{
    static const char *const units[] = {" B/token", " tokens", " token", " FLOP", " request", " s", " B"};
    size_t length = strspn(reading->at, "0123456789.");
    if (reading->at[length] == 'e') {
        size_t sign = reading->at[length + 1] == '-' || reading->at[length + 1] == '+';
        length += 1 + sign + strspn(reading->at + length + 1 + sign, "0123456789");
    }
    double value;
    if (!number_parse(reading->at, length, 0, &value))
        return fail(reading);
    reading->at += length;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        size_t unit = strlen(units[i]);
        if (strncmp(reading->at, units[i], unit) == 0 && name_length(reading->at + unit) == 0) {
            reading->at += unit;
            break;
        }
    }
    return value;
}

static double read_atom(struct reading *reading)
{
    skip_blanks(reading);
    if (reading->failed || reading->depth > DEEPEST)
        return fail(reading);
    if (take(reading, "(")) {
        double value = read_choice(reading);
        return take(reading, ")") ? value : fail(reading);
    }
    if (isdigit((unsigned char)*reading->at))
        return read_number(reading);
    size_t length = name_length(reading->at);
    if (length == 0)
        return fail(reading);
    return reading->at[length] == '(' ? call(reading) : value_of(reading, length);
}

static double read_power(struct reading *reading)
{
    double value = read_atom(reading);
    return take(reading, "^") ? pow(value, read_atom(reading)) : value;
}

static double read_product(struct reading *reading)
{
    double value = read_power(reading);
    for (;;) {
        if (take(reading, "*"))
            value *= read_power(reading);
        else if (take(reading, "/"))
            value /= read_power(reading);
        else
            return value;
    }
}

static double read_sum(struct reading *reading)
{
    double value = read_product(reading);
    for (;;) {
        if (take(reading, "+"))
            value += read_product(reading);
        else if (take(reading, "-"))
            value -= read_product(reading);
        else
            return value;
    }
}

static double read_comparison(struct reading *reading)
{
    bool negated = take(reading, "not");
    double value = read_sum(reading);
    if (take(reading, "<="))
        value = value <= read_sum(reading);
    else if (take(reading, ">="))
        value = value >= read_sum(reading);
    else if (take(reading, "=="))
        value = value == read_sum(reading);
    else if (take(reading, "<"))
        value = value < read_sum(reading);
    else if (take(reading, ">"))
        value = value > read_sum(reading);
    return negated ? value == 0 : value;
}

static double read_truth(struct reading *reading)
{
    double value = read_comparison(reading);
    for (;;) {
        if (take(reading, "and")) {
            double other = read_comparison(reading);
            value = value != 0 && other != 0;
        } else if (take(reading, "or")) {
            double other = read_comparison(reading);
            value = value != 0 || other != 0;
        } else {
            return value;
        }
    }
}

static double read_choice(struct reading *reading)
{
    reading->depth++;
    double value = 0;
    if (take(reading, "if")) {
        double condition = read_truth(reading);
        double chosen = take(reading, "then") ? read_choice(reading) : fail(reading);
        double other = take(reading, "else") ? read_choice(reading) : fail(reading);
        value = condition != 0 ? chosen : other;
    } else {
        value = read_truth(reading);
    }
    reading->depth--;
    return value;
}

bool derive_reproduces(const struct derive_node *node)
{
    struct reading reading = {.at = node->formula, .node = node};
    double value = read_choice(&reading);
    skip_blanks(&reading);
    if (reading.failed || *reading.at || !isfinite(value))
        return false;
    switch (node->value.type) {
    case QUANTITY_NUMBER: return fabs(value - node->value.value) <= 1e-9 * fabs(node->value.value);
    case QUANTITY_BOOL: return (value != 0) == node->value.boolean;
    case QUANTITY_TEXT: return value != 0; /* the condition that decides for this word */
    case QUANTITY_ABSENT: break;
    }
    return false;
}
