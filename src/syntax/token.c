/* token.c: classes of tokens, from one table. */
#include "syntax/token.h"

#include "grammar/parse.h"

enum {
    WORD = 1,     /* may be a name */
    RESERVED = 2, /* a name only after a dot */
    COMPARISON = 4,
    ENDS_EXPRESSION = 8,
    NEEDS_OPERAND = 16,
    FIRST = TOK_WHOLE_FILE,
    NAME_LIKE = WORD | ENDS_EXPRESSION,
};

_Static_assert(TOK_SYNC - FIRST + 1 < 64, "a token set is one word");

static const unsigned char classes[TOK_SYNC - FIRST + 1] = {
    [TOK_NAME - FIRST] = NAME_LIKE,
    [TOK_KIND - FIRST] = NAME_LIKE,
    [TOK_COMPARE - FIRST] = NAME_LIKE,
    [TOK_ASSERT - FIRST] = NAME_LIKE,
    [TOK_GUARD - FIRST] = NAME_LIKE,
    [TOK_LET - FIRST] = NAME_LIKE,
    [TOK_IMPORT - FIRST] = NAME_LIKE,
    [TOK_AS - FIRST] = NAME_LIKE,
    [TOK_SHOW - FIRST] = NAME_LIKE,
    [TOK_REQUIRE - FIRST] = NAME_LIKE,
    [TOK_MINIMIZE - FIRST] = NAME_LIKE,
    [TOK_MAXIMIZE - FIRST] = NAME_LIKE,
    [TOK_STEP - FIRST] = NAME_LIKE,
    [TOK_STRING - FIRST] = ENDS_EXPRESSION,
    [TOK_NUMBER - FIRST] = ENDS_EXPRESSION,
    [TOK_UNIT - FIRST] = ENDS_EXPRESSION,
    [TOK_CLOSE_PAREN - FIRST] = ENDS_EXPRESSION,
    [TOK_AND - FIRST] = RESERVED | NEEDS_OPERAND,
    [TOK_OR - FIRST] = RESERVED | NEEDS_OPERAND,
    [TOK_NOT - FIRST] = RESERVED | NEEDS_OPERAND,
    [TOK_IF - FIRST] = RESERVED | NEEDS_OPERAND,
    [TOK_THEN - FIRST] = RESERVED | NEEDS_OPERAND,
    [TOK_ELSE - FIRST] = RESERVED | NEEDS_OPERAND,
    [TOK_LESS - FIRST] = COMPARISON | NEEDS_OPERAND,
    [TOK_LESS_EQUAL - FIRST] = COMPARISON | NEEDS_OPERAND,
    [TOK_GREATER - FIRST] = COMPARISON | NEEDS_OPERAND,
    [TOK_GREATER_EQUAL - FIRST] = COMPARISON | NEEDS_OPERAND,
    [TOK_EQUAL - FIRST] = COMPARISON | NEEDS_OPERAND,
    [TOK_NOT_EQUAL - FIRST] = COMPARISON | NEEDS_OPERAND,
    [TOK_PLUS - FIRST] = NEEDS_OPERAND,
    [TOK_MINUS - FIRST] = NEEDS_OPERAND,
    [TOK_STAR - FIRST] = NEEDS_OPERAND,
    [TOK_SLASH - FIRST] = NEEDS_OPERAND,
    [TOK_ASSIGN - FIRST] = NEEDS_OPERAND,
    [TOK_COMMA - FIRST] = NEEDS_OPERAND,
    [TOK_RANGE - FIRST] = NEEDS_OPERAND,
    [TOK_OPEN_PAREN - FIRST] = NEEDS_OPERAND,
};

static bool has_class(int kind, unsigned class)
{
    return kind >= FIRST && kind <= TOK_SYNC && (classes[kind - FIRST] & class) != 0;
}

static uint64_t bit(int kind)
{
    return kind < FIRST ? 1 : UINT64_C(1) << (kind - FIRST + 1);
}

void token_set_add(struct token_set *set, int kind)
{
    set->bits |= bit(kind);
}

void token_set_remove(struct token_set *set, int kind)
{
    set->bits &= ~bit(kind);
}

bool token_set_has(struct token_set set, int kind)
{
    return (set.bits & bit(kind)) != 0;
}

bool token_is_word(int kind)
{
    return has_class(kind, WORD);
}

bool token_is_reserved(int kind)
{
    return has_class(kind, RESERVED);
}

bool token_is_comparison(int kind)
{
    return has_class(kind, COMPARISON);
}

bool token_ends_expression(int kind)
{
    return has_class(kind, ENDS_EXPRESSION);
}

bool token_needs_operand(int kind)
{
    return has_class(kind, NEEDS_OPERAND);
}
