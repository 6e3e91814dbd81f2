/* keyword.c: the table of keywords. */
#include "syntax/keyword.h"

#include <string.h>

#include "grammar/parse.h"

#define WORD(text, class, token)                                                                             \
    {                                                                                                        \
        text, sizeof text - 1, class, token                                                                  \
    }

static const struct keyword keywords[] = {
    WORD("and", KEYWORD_RESERVED, TOK_AND),
    WORD("as", KEYWORD_INFIX, TOK_AS),
    WORD("assert", KEYWORD_STATEMENT, TOK_ASSERT),
    WORD("block", KEYWORD_KIND, TOK_KIND),
    WORD("compare", KEYWORD_STATEMENT, TOK_COMPARE),
    WORD("else", KEYWORD_RESERVED, TOK_ELSE),
    WORD("engine", KEYWORD_KIND, TOK_KIND),
    WORD("fleet", KEYWORD_KIND, TOK_KIND),
    WORD("format", KEYWORD_KIND, TOK_KIND),
    WORD("gpu", KEYWORD_KIND, TOK_KIND),
    WORD("guard", KEYWORD_STATEMENT, TOK_GUARD),
    WORD("if", KEYWORD_RESERVED, TOK_IF),
    WORD("import", KEYWORD_STATEMENT, TOK_IMPORT),
    WORD("let", KEYWORD_STATEMENT, TOK_LET),
    WORD("maximize", KEYWORD_STATEMENT, TOK_MAXIMIZE),
    WORD("measured", KEYWORD_KIND, TOK_KIND),
    WORD("minimize", KEYWORD_STATEMENT, TOK_MINIMIZE),
    WORD("model", KEYWORD_KIND, TOK_KIND),
    WORD("not", KEYWORD_RESERVED, TOK_NOT),
    WORD("or", KEYWORD_RESERVED, TOK_OR),
    WORD("report", KEYWORD_KIND, TOK_KIND),
    WORD("require", KEYWORD_STATEMENT, TOK_REQUIRE),
    WORD("scenario", KEYWORD_KIND, TOK_KIND),
    WORD("search", KEYWORD_KIND, TOK_KIND),
    WORD("show", KEYWORD_STATEMENT, TOK_SHOW),
    WORD("step", KEYWORD_INFIX, TOK_STEP),
    WORD("sweep", KEYWORD_KIND, TOK_KIND),
    WORD("system", KEYWORD_KIND, TOK_KIND),
    WORD("then", KEYWORD_RESERVED, TOK_THEN),
};

enum { KEYWORD_COUNT = sizeof keywords / sizeof keywords[0], SHORTEST = 2, LONGEST = 8 };

/* Where the words with a first letter begin in the table; KEYWORD_COUNT or another letter's word for none. */
static const unsigned char first_with[26] = {0,  3,  4,  29, 5,  7,  9,  29, 11, 29, 29, 13, 14,
                                             18, 19, 29, 29, 20, 22, 28, 29, 29, 29, 29, 29, 29};

const struct keyword *keyword_find(const char *text, size_t length)
{
    if (length < SHORTEST || length > LONGEST || text[0] < 'a' || text[0] > 'z')
        return NULL;
    for (size_t i = first_with[text[0] - 'a']; i < KEYWORD_COUNT && keywords[i].text[0] == text[0]; i++)
        if (keywords[i].length == length && memcmp(keywords[i].text, text, length) == 0)
            return &keywords[i];
    return NULL;
}

const struct keyword *keyword_all(size_t *count)
{
    *count = KEYWORD_COUNT;
    return keywords;
}
