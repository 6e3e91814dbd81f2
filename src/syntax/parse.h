/* parse.h: text to tree. */
#ifndef PERFC_SYNTAX_PARSE_H
#define PERFC_SYNTAX_PARSE_H

#include <stdint.h>

struct arena;
struct diags;
struct expr;
struct sources;
struct strings;
struct syntax_tree;

/* Parses file number `file`. Errors go to `diags`; the tree holds what could be understood and is
 * never NULL. Nesting beyond 200 is an error, never a crash. All memory is from `arena`. */
struct syntax_tree *parse_file(struct arena *arena, struct strings *strings, const struct sources *sources,
                               uint32_t file, struct diags *diags);

/* Parses file number `file` as one expression (for command line overrides and formula texts).
 * NULL when it is not one; the reason is in `diags`. */
struct expr *parse_expression(struct arena *arena, struct strings *strings, const struct sources *sources,
                              uint32_t file, struct diags *diags);

#endif
