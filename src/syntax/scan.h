/* scan.h: what grammar/perf.l provides. */
#ifndef PERFC_SYNTAX_SCAN_H
#define PERFC_SYNTAX_SCAN_H

struct parser;
struct token;

/* Prepares scanning of the parser's source. All memory is the arena's. */
void scan_open(struct parser *parser);

/* The next token; TOK_YYEOF once, at the end; TOK_PERF_error for bytes that are no token, which are reported.
 */
struct token scan_next(struct parser *parser);

#endif
