/* text_look.c: looking ahead in the text itself, where the scanner has to know what follows a word. */
#include <string.h>

#include "syntax/lexeme.h"
#include "syntax/parser.h"

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The text ends with a NUL, so one byte of look-ahead is always there. */
size_t text_skip_space(const struct parser *parser, size_t at)
{
    const char *text = parser->source->text;
    for (;;) {
        at += strspn(text + at, " \t\r\n");
        if (text[at] != '#')
            return at;
        const char *newline = memchr(text + at, '\n', parser->source->length - at);
        at = newline != NULL ? (size_t)(newline - text) : parser->source->length;
    }
}

static size_t skip_string(const struct parser *parser, size_t at)
{
    const char *text = parser->source->text;
    size_t start = at++;
    while (text[at] != '"') {
        if (text[at] == '\n' || at >= parser->source->length)
            return start;
        at += text[at] == '\\' && text[at + 1] != '\n' && at + 1 < parser->source->length ? 2 : 1;
    }
    return at + 1;
}

size_t text_skip_name(const struct parser *parser, size_t at)
{
    const char *text = parser->source->text;
    if (text[at] == '"')
        return skip_string(parser, at);
    if (!is_letter(text[at]))
        return at;
    for (at++;; at++) {
        bool joined = (text[at] == '-' && (is_letter(text[at + 1]) || is_digit(text[at + 1]))) ||
                      (text[at] == '.' && is_digit(text[at + 1]));
        if (!is_letter(text[at]) && !is_digit(text[at]) && !joined)
            return at;
    }
}

bool text_is_left_side(const struct parser *parser, size_t at)
{
    const char *text = parser->source->text;
    for (;;) {
        at = text_skip_space(parser, at);
        if (text[at] == '{')
            return true;
        if (text[at] == '=')
            return text[at + 1] != '=';
        if (text[at] != '.' || text[at + 1] == '.')
            return false;
        size_t part = text_skip_space(parser, at + 1);
        at = text_skip_name(parser, part);
        if (at == part)
            return false;
    }
}
