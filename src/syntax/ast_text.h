/* ast_text.h: pieces of the tree as source text, shared by expr_write.c and ast_dump.c. */
#ifndef PERFC_SYNTAX_AST_TEXT_H
#define PERFC_SYNTAX_AST_TEXT_H

#include <stdbool.h>

#include "syntax/ast.h"

/* Whether a name can stand anywhere without quotes. */
bool name_is_plain(const char *text);

void name_write(struct buffer *out, const struct name *name);
void path_write(struct buffer *out, const struct path *path);

/* In quotes, with escapes. */
void string_write(struct buffer *out, const char *text);

void number_write(struct buffer *out, const struct expr *number);

/* "<=", "and", "not" */
const char *expr_op_text(enum expr_op op);

#endif
