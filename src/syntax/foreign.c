/* foreign.c: what people write who come from other languages. Each is reported with the spelling perfc knows,
 * and then taken for what was meant, so that it costs one message and no more. */
#include <string.h>

#include "base/arena.h"
#include "base/intern.h"
#include "base/utf8.h"
#include "grammar/parse.h"
#include "syntax/lexeme.h"
#include "syntax/parser.h"

static const struct {
    const char *spelling, *own;
    int token;
} operators[] = {
    {"&&", "and", TOK_AND},
    {"||", "or", TOK_OR},
    {"!", "not ", TOK_NOT},
    {"<>", "!=", TOK_NOT_EQUAL},
    {"=>", ">=", TOK_GREATER_EQUAL},
    {"=<", "<=", TOK_LESS_EQUAL},
    {"===", "==", TOK_EQUAL},
    {"**", NULL, TOK_STAR},
    {"...", "..", TOK_RANGE},
    {"≤", "<=", TOK_LESS_EQUAL},
    {"≥", ">=", TOK_GREATER_EQUAL},
    {"≠", "!=", TOK_NOT_EQUAL},
    {"×", "*", TOK_STAR},
    {"÷", "/", TOK_SLASH},
    {"·", "*", TOK_STAR},
    {"−", "-", TOK_MINUS},
    {"–", "-", TOK_MINUS},
    {"…", "..", TOK_RANGE},
};

enum { OPERATOR_COUNT = sizeof operators / sizeof operators[0] };

/* Blanks that are not blanks to a compiler: no-break spaces, the typographic spaces, a byte order mark. */
static const char *const spaces[] = {"\u00a0", "\u2002", "\u2003", "\u2007", "\u2009", "\u200a",
                                     "\u200b", "\u202f", "\u2060", "\u3000", "\ufeff"};

enum { SPACE_COUNT = sizeof spaces / sizeof spaces[0] };

static const char *scanned_text(const struct parser *parser)
{
    return parser->source->text + parser->scanned.span.start;
}

static size_t scanned_length(const struct parser *parser)
{
    return parser->scanned.span.end - parser->scanned.span.start;
}

int lexeme_foreign_operator(struct parser *parser)
{
    size_t length = scanned_length(parser), i = 0;
    while (strncmp(operators[i].spelling, scanned_text(parser), length) != 0 ||
           operators[i].spelling[length] != '\0')
        i++;
    parser->scanned.text = intern_text(parser->strings, operators[i].own != NULL ? operators[i].own : "*");
    if (parser->quiet)
        return operators[i].token;
    struct diag *diag = parser_error(parser, DIAG_E0110, parser->scanned.span, "`%s` is not an operator here",
                                     operators[i].spelling);
    if (operators[i].own != NULL)
        diag_fix(parser->diags, diag, parser->scanned.span, operators[i].own, "it is written `%s`",
                 operators[i].own);
    else
        diag_note(parser->diags, diag, "there is no operator for powers; write the product");
    return operators[i].token;
}

int lexeme_foreign_string(struct parser *parser, size_t quote)
{
    const char *inner = scanned_text(parser) + quote;
    size_t length = scanned_length(parser) - 2 * quote;
    if (parser->clean && memchr(inner, '\0', length) == NULL)
        parser->scanned.text = intern(parser->strings, inner, length);
    else
        parser->scanned.text = intern_text(parser->strings, "");
    if (parser->quiet)
        return TOK_STRING;
    struct diag *diag =
        parser_error(parser, DIAG_E0111, parser->scanned.span, "a string stands in double quotes");
    if (parser->clean && memchr(inner, '"', length) == NULL && memchr(inner, '\\', length) == NULL)
        diag_fix(parser->diags, diag, parser->scanned.span,
                 arena_printf(parser->arena, "\"%.*s\"", (int)length, inner), "write `\"` on both sides");
    return TOK_STRING;
}

void lexeme_foreign_comment(struct parser *parser)
{
    if (parser->quiet)
        return;
    struct span mark = parser->scanned.span;
    mark.end = mark.start + 2;
    struct diag *diag =
        parser_error(parser, DIAG_E0112, mark, "`%.2s` does not begin a comment", scanned_text(parser));
    if (scanned_text(parser)[1] == '/')
        diag_fix(parser->diags, diag, mark, "#", "a comment begins with `#` and runs to the end of the line");
    else
        diag_note(parser->diags, diag, "a comment begins with `#` and runs to the end of the line");
}

bool lexeme_bracket_is_stray(struct parser *parser, bool open)
{
    if (!open && parser->brackets > 0) {
        parser->brackets--;
        return false;
    }
    int before = token_past(&parser->stream, 0)->kind;
    if (!open || (before != TOK_ASSIGN && before != TOK_COMMA))
        return true;
    parser->brackets++;
    if (!parser->quiet) {
        struct diag *diag =
            parser_error(parser, DIAG_E0113, parser->scanned.span, "a list is written without brackets");
        diag_note(parser->diags, diag, "write the values with commas between them: `1, 8, 32`");
    }
    return false;
}

static size_t foreign_space(const char *text, size_t length)
{
    for (size_t i = 0; i < SPACE_COUNT; i++) {
        size_t size = strlen(spaces[i]);
        if (size <= length && memcmp(text, spaces[i], size) == 0)
            return size;
    }
    return 0;
}

static size_t foreign_symbol(const char *text, size_t length)
{
    for (size_t i = 0; i < OPERATOR_COUNT; i++) {
        size_t size = strlen(operators[i].spelling);
        if (size <= length && memcmp(text, operators[i].spelling, size) == 0)
            return size;
    }
    return 0;
}

static bool begins_string(const char *text, size_t length)
{
    return length >= 3 && memcmp(text, "“", 3) == 0;
}

/* Passes over a blank that is none. A byte order mark at the start is how some editors save text. */
static int take_space(struct parser *parser, size_t size)
{
    parser->scanned.span.end = parser->scanned.span.start + (uint32_t)size;
    bool mark = parser->scanned.span.start == 0 && memcmp(scanned_text(parser), "\ufeff", size) == 0;
    if (!mark && !parser->quiet) {
        struct diag *diag =
            parser_error(parser, DIAG_E0104, parser->scanned.span, "a special blank stands between words");
        diag_fix(
            parser->diags, diag, parser->scanned.span, " ",
            "it looks like a blank but is another character, often from a copied text; write a plain one");
    }
    return TOK_YYEOF;
}

static int take_name(struct parser *parser)
{
    const char *text = scanned_text(parser);
    size_t length = scanned_length(parser);
    if (!parser->clean && utf8_valid_prefix(text, length) < length)
        return TOK_PERF_error; /* reported once for the file */
    parser->scanned.text = intern(parser->strings, text, length);
    if (!parser->quiet) {
        size_t shown = length;
        if (shown > 60)
            for (shown = 60; ((unsigned char)text[shown] & 0xc0) == 0x80;)
                shown--;
        struct diag *diag = parser_error(parser, DIAG_E0105, parser->scanned.span,
                                         "`%.*s` is not a plain name", (int)shown, text);
        diag_fix(parser->diags, diag, parser->scanned.span,
                 arena_printf(parser->arena, "\"%s\"", parser->scanned.text),
                 "a name with letters or signs beyond a-z stands in quotes");
    }
    return TOK_NAME;
}

size_t lexeme_foreign_word(struct parser *parser, int *kind)
{
    const char *text = scanned_text(parser);
    size_t length = scanned_length(parser), first = 0;
    while ((unsigned char)text[first] < 0x80)
        first++;
    const char *beyond = text + first;
    size_t rest = length - first;
    size_t space = foreign_space(beyond, rest), symbol = foreign_symbol(beyond, rest);
    if (first > 0 && (space > 0 || symbol > 0 || begins_string(beyond, rest))) {
        parser->scanned.span.end = parser->scanned.span.start + (uint32_t)first;
        *kind = lexeme_word(parser); /* what stands before it is a word of its own */
        return first;
    }
    if (space > 0) {
        *kind = take_space(parser, space);
        return space;
    }
    if (symbol > 0) {
        parser->scanned.span.end = parser->scanned.span.start + (uint32_t)symbol;
        *kind = lexeme_foreign_operator(parser);
        return symbol;
    }
    *kind = take_name(parser);
    return length;
}

int lexeme_stray(struct parser *parser)
{
    unsigned char byte = (unsigned char)*scanned_text(parser);
    if (parser->quiet || byte == '\0')
        return TOK_PERF_error;
    if (byte < 0x20 || byte == 0x7f) {
        parser_error(parser, DIAG_E0104, parser->scanned.span,
                     "a control character (U+%04X) stands in the text", (unsigned)byte);
        return TOK_PERF_error;
    }
    struct diag *diag =
        parser_error(parser, DIAG_E0104, parser->scanned.span, "`%c` means nothing in this language", byte);
    switch (byte) {
    case '%':
        diag_note(parser->diags, diag, "`%%` is a unit that stands after a number, as in `90 %%`");
        break;
    case '[':
    case ']':
        diag_note(parser->diags, diag, "lists are written without brackets, and there are no indices");
        break;
    case '^': diag_note(parser->diags, diag, "there is no operator for powers; write the product"); break;
    case '\'': diag_note(parser->diags, diag, "strings stand in double quotes"); break;
    default: break;
    }
    return TOK_PERF_error;
}
