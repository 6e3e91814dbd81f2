/* keyword.h: the words that the language itself uses. One table serves the scanner, the writer of
 * expressions, suggestions and, later, completion. */
#ifndef PERFC_SYNTAX_KEYWORD_H
#define PERFC_SYNTAX_KEYWORD_H

#include <stddef.h>

enum keyword_class {
    KEYWORD_KIND,      /* begins a declaration: gpu, model, ... */
    KEYWORD_STATEMENT, /* begins another statement: let, assert, ... */
    KEYWORD_INFIX,     /* continues one: as, step */
    KEYWORD_RESERVED,  /* and, or, not, if, then, else */
};

struct keyword {
    const char *text;
    size_t length;
    enum keyword_class class;
    int token; /* TOK_... of the grammar */
};

/* The keyword spelt by these bytes, or NULL. */
const struct keyword *keyword_find(const char *text, size_t length);

/* All of them in alphabetical order. */
const struct keyword *keyword_all(size_t *count);

#endif
