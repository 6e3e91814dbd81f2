/* syntax_fixture.h: parsing a text in a test, and its tree and diagnostics as short texts. */
#ifndef PERFC_TESTS_SYNTAX_FIXTURE_H
#define PERFC_TESTS_SYNTAX_FIXTURE_H

#include <stddef.h>

#include "base/arena.h"
#include "source/diag.h"
#include "source/source.h"
#include "syntax/ast.h"

struct parsed {
    struct arena *arena;
    struct sources *sources;
    struct diags *diags;      /* sorted */
    struct syntax_tree *tree; /* of parsed_file() */
    struct expr *expr;        /* of parsed_expression() */
};

struct parsed parsed_file(struct arena *arena, const char *text, size_t length);
struct parsed parsed_expression(struct arena *arena, const char *text, size_t length);

/* The diagnostics as "E0101 2:7" lines, and the tree as ast_dump() writes it. */
const char *parsed_errors(const struct parsed *parsed);
const char *parsed_dump(const struct parsed *parsed);

/* expr_write() */
const char *written(struct arena *arena, const struct expr *expr);

/* A text of `count` copies. */
const char *repeated(struct arena *arena, const char *text, size_t count);

/* Both of a C string in one call. */
const char *errors_of(struct arena *arena, const char *text);
const char *dump_of(struct arena *arena, const char *text);

#endif
