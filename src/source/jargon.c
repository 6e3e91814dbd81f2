/* jargon.c: the table of names that things have elsewhere. `tensor_parallel_size` is no slip of the keyboard
 * for `tp`, so no edit distance finds it. */
#include "source/jargon.h"

#include <ctype.h>

static const struct {
    const char *said, *meant;
} rows[] = {
#define JARGON(said, meant) {said, meant},
#include "source/jargon.def"
#undef JARGON
};

static const char *skip_separators(const char *text)
{
    while (*text == '-' || *text == '_' || *text == '.')
        text++;
    return text;
}

bool jargon_same(const char *a, const char *b)
{
    for (;;) {
        a = skip_separators(a);
        b = skip_separators(b);
        if (*a == '\0' || *b == '\0')
            return *a == *b;
        if (tolower((unsigned char)*a++) != tolower((unsigned char)*b++))
            return false;
    }
}

const char *jargon_meaning(const char *said, size_t *row)
{
    while (*row < sizeof rows / sizeof rows[0]) {
        size_t at = (*row)++;
        if (jargon_same(rows[at].said, said))
            return rows[at].meant;
    }
    return NULL;
}
