/* token.h: what the scanner returns, and sets of token kinds. */
#ifndef PERFC_SYNTAX_TOKEN_H
#define PERFC_SYNTAX_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

#include "source/source.h"
#include "syntax/ast_build.h"

struct token {
    int kind; /* TOK_... of the grammar */
    struct span span;
    const char *text;          /* names, keywords, strings (escapes resolved) and units, interned */
    struct number_text number; /* TOK_NUMBER */
    bool first_on_line;
};

/* All kinds fit one word: bit 0 is the end of the file, the others count from the grammar's first token. */
struct token_set {
    uint64_t bits;
};

void token_set_add(struct token_set *set, int kind);
void token_set_remove(struct token_set *set, int kind);
bool token_set_has(struct token_set set, int kind);

/* A name or a word that may be one: NAME, KIND and all keywords that are not reserved. */
bool token_is_word(int kind);
bool token_is_reserved(int kind);
bool token_is_comparison(int kind);

/* Whether an expression may end with this token, or cannot be complete after it. */
bool token_ends_expression(int kind);
bool token_needs_operand(int kind);

#endif
