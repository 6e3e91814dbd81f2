/* token_stream.h: questions to the token stream while an error is being worded. */
#ifndef PERFC_SYNTAX_TOKEN_STREAM_H
#define PERFC_SYNTAX_TOKEN_STREAM_H

#include <stdbool.h>

#include "syntax/parser.h"

/* Whether the token delivered last stands inside a `{`. */
bool token_stream_in_block(const struct token_stream *stream);

/* The innermost `(` that is open in this block, or NULL. */
const struct opening *token_stream_open_parenthesis(const struct token_stream *stream);

/* Takes back a `;` that was put in by guess, so that the token after it counts as delivered last. False when
 * there was none. */
bool token_stream_retract_separator(struct token_stream *stream);

/* Delivers the token before anything else; with several, the last put back comes first. */
void token_stream_put_back(struct token_stream *stream, struct token token);

#endif
