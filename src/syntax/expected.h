/* expected.h: the tokens a grammar could have gone on with, in words. */
#ifndef PERFC_SYNTAX_EXPECTED_H
#define PERFC_SYNTAX_EXPECTED_H

#include "syntax/token.h"

struct arena;

/* "a value or `)`", "" for an empty set. Lives in the arena. */
const char *expected_text(struct arena *arena, struct token_set expected);

#endif
