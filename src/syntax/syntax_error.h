/* syntax_error.h: what the parser says when the text does not have the form of a plan. */
#ifndef PERFC_SYNTAX_SYNTAX_ERROR_H
#define PERFC_SYNTAX_SYNTAX_ERROR_H

#include "source/source.h"
#include "syntax/token.h"

struct parser;
struct stmt;

/* The grammar cannot go on with the last token; it could with one of `expected`. */
void syntax_error_report(struct parser *parser, struct token_set expected);

/* An operand is missing after the last token delivered. */
void syntax_error_operand(struct parser *parser);

/* A declaration of a kind nobody knows. Returns the word that was meant, or NULL. */
const char *syntax_error_unknown_kind(struct parser *parser, struct token word);

/* A binary minus without a blank on each side. */
void syntax_error_minus(struct parser *parser, struct span minus, bool blank_before, bool blank_after);

void syntax_error_nesting(struct parser *parser, struct span span);

/* Too many errors: the rest of the file is left alone. */
void syntax_error_give_up(struct parser *parser);

/* The parser itself failed. */
void syntax_error_internal(struct parser *parser, struct span span, const char *message);

#endif
