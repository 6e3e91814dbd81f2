/* suggest.c: optimal string alignment distance between a misspelt word and its candidates, in tenths of an
 * edit so that slips that are hardly errors (case, `-` for `_`) cost less than a letter. */
#include "source/suggest.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

enum { LENGTH_MAX = 64, EDIT = 10, SLIP = 2, SEPARATOR = 5, TOO_FAR = 100000 };

struct suggestion suggestion_for(const char *word)
{
    return (struct suggestion){word, NULL, TOO_FAR};
}

static bool is_separator(char c)
{
    return c == '-' || c == '_' || c == '.' || c == '/' || c == ' ';
}

static unsigned replace_cost(char a, char b)
{
    if (a == b)
        return 0;
    if (tolower((unsigned char)a) == tolower((unsigned char)b) || (is_separator(a) && is_separator(b)))
        return SLIP;
    return EDIT;
}

static unsigned insert_cost(char c)
{
    return is_separator(c) ? SEPARATOR : EDIT;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static unsigned distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    unsigned rows[3][LENGTH_MAX + 1];
    rows[0][0] = 0;
    for (size_t j = 1; j <= b_length; j++)
        rows[0][j] = rows[0][j - 1] + insert_cost(b[j - 1]);
    for (size_t i = 1; i <= a_length; i++) {
        unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = above[0] + insert_cost(a[i - 1]);
        for (size_t j = 1; j <= b_length; j++) {
            unsigned best = above[j - 1] + replace_cost(a[i - 1], b[j - 1]);
            best = least(best, above[j] + insert_cost(a[i - 1]));
            best = least(best, row[j - 1] + insert_cost(b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && a[i - 1] != a[i - 2])
                best = least(best, two_above[j - 2] + EDIT);
            row[j] = best;
        }
    }
    return rows[a_length % 3][b_length];
}

/* What is still worth offering: one edit in three letters, and in a word of two only slips. */
static size_t tolerance(size_t length)
{
    if (length < 3)
        return 2 * SLIP;
    size_t edits = length / 3;
    return (edits > 4 ? 4 : edits) * EDIT;
}

void suggestion_consider(struct suggestion *suggestion, const char *candidate)
{
    size_t word_length = strlen(suggestion->word), length = strlen(candidate);
    size_t shorter = word_length < length ? word_length : length;
    size_t longer = word_length < length ? length : word_length;
    if (longer > LENGTH_MAX || shorter == 0)
        return;
    size_t allowed = tolerance(word_length);
    if ((longer - shorter) * SEPARATOR > allowed)
        return;
    size_t found = distance(suggestion->word, word_length, candidate, length);
    if (found <= allowed && found < suggestion->best_distance) {
        suggestion->best = candidate;
        suggestion->best_distance = found;
    }
}

const char *suggestion_result(const struct suggestion *suggestion)
{
    return suggestion->best;
}

bool suggestion_is_slip(const struct suggestion *suggestion)
{
    return suggestion->best && suggestion->best_distance < EDIT;
}
