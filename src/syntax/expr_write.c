/* expr_write.c: an expression as text that parses back to the same tree, with no parenthesis that could go.
 */
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/vec.h"
#include "syntax/ast.h"
#include "syntax/ast_text.h"
#include "syntax/keyword.h"

/* How tightly an expression binds, from loose to tight, as the grammar's precedence declarations say. */
enum tightness { CHOICE, DISJUNCTION, CONJUNCTION, NEGATION, COMPARISON, SUM, PRODUCT, SIGN, PRIMARY };

static const struct {
    const char *text;
    enum tightness tightness;
} operators[] = {
    [OP_ADD] = {"+", SUM},
    [OP_SUBTRACT] = {"-", SUM},
    [OP_MULTIPLY] = {"*", PRODUCT},
    [OP_DIVIDE] = {"/", PRODUCT},
    [OP_LESS] = {"<", COMPARISON},
    [OP_LESS_EQUAL] = {"<=", COMPARISON},
    [OP_GREATER] = {">", COMPARISON},
    [OP_GREATER_EQUAL] = {">=", COMPARISON},
    [OP_EQUAL] = {"==", COMPARISON},
    [OP_NOT_EQUAL] = {"!=", COMPARISON},
    [OP_AND] = {"and", CONJUNCTION},
    [OP_OR] = {"or", DISJUNCTION},
    [OP_NOT] = {"not ", NEGATION},
    [OP_NEGATE] = {"-", SIGN},
    [OP_PLUS] = {"+", SIGN},
};

const char *expr_op_text(enum expr_op op)
{
    return op == OP_NOT ? "not" : operators[op].text;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool name_is_plain(const char *text)
{
    if (!is_letter(*text))
        return false;
    for (const char *at = text + 1; *at != '\0'; at++) {
        bool joined =
            (*at == '-' && (is_letter(at[1]) || is_digit(at[1]))) || (*at == '.' && is_digit(at[1]));
        if (!is_letter(*at) && !is_digit(*at) && !joined)
            return false;
    }
    const struct keyword *keyword = keyword_find(text, strlen(text));
    return keyword == NULL || keyword->class != KEYWORD_RESERVED;
}

void string_write(struct buffer *out, const char *text)
{
    buffer_byte(out, '"');
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            buffer_printf(out, "\\%c", c);
        else if (c == '\n')
            buffer_text(out, "\\n");
        else if (c == '\t')
            buffer_text(out, "\\t");
        else if (c < 0x20 || c == 0x7f)
            buffer_printf(out, "\\u{%x}", c);
        else
            buffer_byte(out, *text);
    }
    buffer_byte(out, '"');
}

void name_write(struct buffer *out, const struct name *name)
{
    if (name->quoted || !name_is_plain(name->text))
        string_write(out, name->text);
    else
        buffer_text(out, name->text);
}

void path_write(struct buffer *out, const struct path *path)
{
    for (size_t i = 0; i < path->count; i++) {
        const struct name *part = &path->parts[i];
        if (i > 0)
            buffer_byte(out, '.');
        const struct keyword *keyword = keyword_find(part->text, strlen(part->text));
        if (i > 0 && !part->quoted && keyword != NULL) /* reserved words are names after a dot */
            buffer_text(out, part->text);
        else
            name_write(out, part);
    }
}

void number_write(struct buffer *out, const struct expr *number)
{
    buffer_text(out, number->number.digits);
    if (number->number.count != NULL)
        buffer_text(out, number->number.count);
    const char *unit = number->number.unit;
    if (unit == NULL)
        return;
    /* A keyword is a unit only against its number. */
    if (strcmp(unit, "%") != 0 && keyword_find(unit, strcspn(unit, "/")) == NULL)
        buffer_byte(out, ' ');
    buffer_text(out, unit);
}

static enum tightness tightness(const struct expr *expr)
{
    switch (expr->kind) {
    case EXPR_UNARY:
    case EXPR_BINARY: return operators[expr->operation.op].tightness;
    case EXPR_IF: return CHOICE;
    default: return PRIMARY;
    }
}

static void write_at_least(struct buffer *out, const struct expr *expr, enum tightness least);

static void write_call(struct buffer *out, const struct expr *expr)
{
    name_write(out, &expr->call.function);
    buffer_byte(out, '(');
    for (size_t i = 0; i < expr->call.arguments->count; i++) {
        if (i > 0)
            buffer_text(out, ", ");
        expr_write(out, expr->call.arguments->items[i]);
    }
    buffer_byte(out, ')');
}

/* The left operand may bind as tightly as its operator, except that comparisons do not chain. */
static bool left_needs_parentheses(const struct expr *parent)
{
    enum tightness own = operators[parent->operation.op].tightness;
    enum tightness left = tightness(parent->operation.left);
    return left < own || (left == own && own == COMPARISON);
}

/* A sum of many terms leans to the left, as deep as it is long: walked by loop. */
static void write_binary(struct buffer *out, const struct expr *expr)
{
    VEC(const struct expr *) spine = {0};
    const struct expr *leftmost = expr;
    for (; leftmost->kind == EXPR_BINARY; leftmost = leftmost->operation.left) {
        *VEC_PUSH(out->arena, spine) = leftmost;
        if (left_needs_parentheses(leftmost))
            buffer_byte(out, '(');
    }
    expr_write(out, leftmost);
    while (spine.count > 0) {
        const struct expr *node = spine.items[--spine.count];
        if (left_needs_parentheses(node))
            buffer_byte(out, ')');
        buffer_printf(out, " %s ", operators[node->operation.op].text);
        write_at_least(out, node->operation.right, operators[node->operation.op].tightness + 1);
    }
}

static void write_at_least(struct buffer *out, const struct expr *expr, enum tightness least)
{
    bool parentheses = tightness(expr) < least;
    if (parentheses)
        buffer_byte(out, '(');
    expr_write(out, expr);
    if (parentheses)
        buffer_byte(out, ')');
}

void expr_write(struct buffer *out, const struct expr *expr)
{
    switch (expr->kind) {
    case EXPR_NUMBER: number_write(out, expr); break;
    case EXPR_STRING: string_write(out, expr->string.text); break;
    case EXPR_PATH: path_write(out, &expr->path); break;
    case EXPR_UNARY:
        buffer_text(out, operators[expr->operation.op].text);
        write_at_least(out, expr->operation.right, operators[expr->operation.op].tightness);
        break;
    case EXPR_BINARY: write_binary(out, expr); break;
    case EXPR_CALL: write_call(out, expr); break;
    case EXPR_IF:
        buffer_text(out, "if ");
        expr_write(out, expr->choice.condition);
        buffer_text(out, " then ");
        expr_write(out, expr->choice.then);
        buffer_text(out, " else ");
        expr_write(out, expr->choice.otherwise);
        break;
    }
}
