/* lexeme.c: words, numbers with their counts and units, and strings. */
#include "syntax/lexeme.h"

#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/intern.h"
#include "base/utf8.h"
#include "grammar/parse.h"
#include "syntax/keyword.h"
#include "syntax/parser.h"

static const char *scanned_text(const struct parser *parser)
{
    return parser->source->text + parser->scanned.span.start;
}

static size_t scanned_length(const struct parser *parser)
{
    return parser->scanned.span.end - parser->scanned.span.start;
}

/* ---- words ---- */

/* `1 .. 8 step 2`, but `step = 3` sets the attribute of that name. */
static bool step_is_name(const struct parser *parser)
{
    const char *text = parser->source->text;
    size_t at = text_skip_space(parser, parser->scanned.span.end);
    return text[at] == '{' || text[at] == ':' || (text[at] == '=' && text[at + 1] != '=') ||
           (text[at] == '.' && text[at + 1] != '.');
}

int lexeme_word(struct parser *parser)
{
    const char *text = scanned_text(parser);
    size_t length = scanned_length(parser);
    parser->scanned.text = intern(parser->strings, text, length);
    const struct keyword *keyword = keyword_find(text, length);
    if (keyword == NULL || (keyword->token == TOK_STEP && step_is_name(parser)))
        return TOK_NAME;
    return keyword->token;
}

/* ---- numbers ---- */

static bool is_word_byte(char c)
{
    unsigned char byte = (unsigned char)c;
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
           byte == '_' || byte >= 0x80;
}

/* How a count is written, and how people write it who mean it. */
static const struct {
    const char *spelling, *count;
} counts[] = {
    {"k", "k"},   {"M", "M"},   {"B", "B"}, {"T", "T"}, {"Ki", "Ki"}, {"Mi", "Mi"},
    {"Gi", "Gi"}, {"Ti", "Ti"}, {"K", "k"}, {"G", "B"}, {"bn", "B"},  {"ki", "Ki"},
};

static void report_count_and_unit(struct parser *parser, const char *digits, const char *count, size_t slash)
{
    size_t end = slash + 1;
    while (is_word_byte(parser->source->text[end]))
        end++;
    const char *word = arena_strndup(parser->arena, parser->source->text + slash + 1, end - slash - 1);
    struct span span = parser_span(parser, parser->scanned.span.start, end);
    struct diag *diag =
        parser_error(parser, DIAG_E0109, span, "`%s%s/%s` could be read in two ways", digits, count, word);
    if (strcmp(count, "B") == 0)
        diag_fix(parser->diags, diag, span, arena_printf(parser->arena, "%s B/%s", digits, word),
                 "write `%s B/%s` for bytes per %s", digits, word, word);
    diag_note(parser->diags, diag, "write `%s%s / %s` to divide a count by `%s`", digits, count, word, word);
}

size_t lexeme_number(struct parser *parser, size_t digits)
{
    const char *text = scanned_text(parser);
    parser->scanned.number = (struct number_text){arena_strndup(parser->arena, text, digits), NULL};
    if (!is_word_byte(text[digits]))
        return digits;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        size_t end = digits + strlen(counts[i].spelling);
        if (strncmp(text + digits, counts[i].spelling, end - digits) != 0 || is_word_byte(text[end]))
            continue;
        const char *spelling = counts[i].spelling, *count = counts[i].count;
        if (strcmp(spelling, count) != 0 && !parser->quiet) {
            struct span span =
                parser_span(parser, parser->scanned.span.start + digits, parser->scanned.span.start + end);
            struct diag *diag = parser_error(parser, DIAG_E0108, span, "`%s` is not a count", spelling);
            diag_fix(parser->diags, diag, span, count, "did you mean `%s%s`?", parser->scanned.number.digits,
                     count);
        }
        if (text[end] == '/' && is_word_byte(text[end + 1]) && (text[end + 1] < '0' || text[end + 1] > '9')) {
            if (!parser->quiet)
                report_count_and_unit(parser, parser->scanned.number.digits, count,
                                      parser->scanned.span.start + end);
            if (strcmp(count, "B") == 0)
                return digits; /* go on with the unit `B/s` */
        }
        parser->scanned.number.count = count;
        return end;
    }
    return digits;
}

void lexeme_malformed_number(struct parser *parser, const char *digits, const char *why)
{
    parser->scanned.number = (struct number_text){digits, NULL};
    if (parser->quiet)
        return;
    size_t length = scanned_length(parser) < 40 ? scanned_length(parser) : 40;
    struct diag *diag = parser_error(parser, DIAG_E0107, parser->scanned.span, "`%.*s` is not a number: %s",
                                     (int)length, scanned_text(parser), why);
    diag_fix(parser->diags, diag, parser->scanned.span, digits, "did you mean `%.40s`?", digits);
}

/* ---- units ---- */

static size_t micro_sign(const char *text)
{
    return strncmp(text, "\xc2\xb5", 2) == 0 || strncmp(text, "\xce\xbc", 2) == 0 ? 2 : 0;
}

bool lexeme_unit_follows(const struct parser *parser, size_t offset)
{
    const char *text = parser->source->text;
    size_t at = offset + strspn(text + offset, " \t");
    if (text[at] == '%')
        return true;
    size_t end = text_skip_name(parser, at);
    if (text[at] == '"' || (end == at && micro_sign(text + at) == 0))
        return false;
    if (at == offset)
        return true;
    return keyword_find(text + at, end - at) == NULL && !text_is_left_side(parser, end);
}

int lexeme_unit(struct parser *parser)
{
    parser->scanned.text = intern(parser->strings, scanned_text(parser), scanned_length(parser));
    return TOK_UNIT;
}

/* ---- strings ---- */

static bool is_control(unsigned char byte)
{
    return (byte < 0x20 && byte != '\t') || byte == 0x7f;
}

static bool is_simple(const struct parser *parser, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (byte == '\\' || is_control(byte) || (byte >= 0x80 && !parser->clean))
            return false;
    }
    return true;
}

static void add_character(struct buffer *out, unsigned long character)
{
    if (character < 0x80) {
        buffer_byte(out, (char)character);
        return;
    }
    static const struct {
        unsigned long limit;
        unsigned lead;
        int tail;
    } forms[] = {{0x800, 0xc0, 1}, {0x10000, 0xe0, 2}, {0x110000, 0xf0, 3}};
    size_t form = 0;
    while (character >= forms[form].limit)
        form++;
    buffer_byte(out, (char)(forms[form].lead | (character >> (6 * forms[form].tail))));
    for (int i = forms[form].tail - 1; i >= 0; i--)
        buffer_byte(out, (char)(0x80 | ((character >> (6 * i)) & 0x3f)));
}

static void report_escape(struct parser *parser, const char *text, size_t start, size_t end, const char *why)
{
    if (parser->quiet)
        return;
    size_t offset = (size_t)(text - parser->source->text);
    parser_error(parser, DIAG_E0103, parser_span(parser, offset + start, offset + end), "%s", why);
}

/* `\u{1F600}`: `at` is the offset of the backslash. Returns the offset after it. */
static size_t unicode_escape(struct parser *parser, struct buffer *out, const char *text, size_t length,
                             size_t at)
{
    size_t start = at, digits = 0;
    unsigned long character = 0;
    at += 2;
    if (at < length && text[at] == '{') {
        for (at++; at < length && strchr("0123456789abcdefABCDEF", text[at]) && text[at] != '\0'; at++) {
            int digit = text[at] <= '9' ? text[at] - '0' : (text[at] | 0x20) - 'a' + 10;
            if (digits++ < 6)
                character = character * 16 + (unsigned long)digit;
        }
        if (at < length && text[at] == '}' && digits > 0) {
            at++;
            bool surrogate = character >= 0xd800 && character <= 0xdfff;
            if (digits <= 6 && character <= 0x10ffff && character != 0 && !surrogate)
                add_character(out, character);
            else
                report_escape(parser, text, start, at,
                              character == 0 && digits <= 6
                                  ? "a string cannot hold the character U+0000"
                                  : "there is no such character: \\u{...} takes 1 to 10FFFF, without the "
                                    "surrogates D800 to DFFF");
            return at;
        }
    }
    report_escape(parser, text, start, at,
                  "a character by number is written \\u{...} with hexadecimal digits");
    return at;
}

static size_t escape(struct parser *parser, struct buffer *out, const char *text, size_t length, size_t at)
{
    char c = at + 1 < length ? text[at + 1] : '\\';
    if (c == 'u')
        return unicode_escape(parser, out, text, length, at);
    size_t next = at + 2 < length ? at + 2 : length;
    switch (c) {
    case 'n': buffer_byte(out, '\n'); break;
    case 't': buffer_byte(out, '\t'); break;
    case '"':
    case '\\': buffer_byte(out, c); break;
    default:
        while (next < length && ((unsigned char)text[next] & 0xc0) == 0x80)
            next++; /* the whole of a character beyond ASCII */
        report_escape(
            parser, text, at, next,
            "unknown escape; the language has \\\" \\\\ \\n \\t and \\u{...}, and a backslash itself "
            "is written \\\\");
        buffer_add(out, text + at + 1, next - at - 1);
    }
    return next;
}

static void report_control(struct parser *parser, const char *text, size_t at)
{
    if (parser->quiet || text[at] == '\0') /* NUL is reported once for the file */
        return;
    size_t offset = (size_t)(text - parser->source->text) + at;
    struct span span = parser_span(parser, offset, offset + 1);
    const char *escaped = arena_printf(parser->arena, "\\u{%x}", (unsigned)(unsigned char)text[at]);
    struct diag *diag = parser_error(parser, DIAG_E0104, span, "a string holds a control character");
    diag_fix(parser->diags, diag, span, escaped, "write it as `%s`", escaped);
}

/* Resolves escapes, and replaces what is not text by U+FFFD. */
static const char *resolve(struct parser *parser, const char *text, size_t length)
{
    struct buffer out = buffer_in(parser->arena);
    for (size_t at = 0; at < length;) {
        unsigned char byte = (unsigned char)text[at];
        if (byte == '\\') {
            at = escape(parser, &out, text, length, at);
            continue;
        }
        if (is_control(byte)) {
            report_control(parser, text, at);
            if (byte == '\0')
                add_character(&out, 0xfffd);
            else
                buffer_byte(&out, text[at]);
            at++;
            continue;
        }
        size_t size = 1;
        while (at + size < length && ((unsigned char)text[at + size] & 0xc0) == 0x80)
            size++;
        if (utf8_valid_prefix(text + at, size) == size)
            buffer_add(&out, text + at, size);
        else
            add_character(&out, 0xfffd);
        at += size;
    }
    return intern(parser->strings, buffer_string(&out), out.length);
}

int lexeme_string(struct parser *parser, size_t close)
{
    const char *text = scanned_text(parser) + 1;
    size_t length = scanned_length(parser) - 1 - close;
    if (close == 0) {
        while (length > 0 && strchr(" \t\r", text[length - 1]) && text[length - 1] != '\0')
            length--;
        if (!parser->quiet) {
            struct span span =
                parser_span(parser, parser->scanned.span.start, parser->scanned.span.start + 1 + length);
            struct diag *diag =
                parser_error(parser, DIAG_E0102, span, "the string is not closed on its line");
            diag_fix(parser->diags, diag, parser_span(parser, span.end, span.end), "\"",
                     "a string ends with `\"` on the line it begins on; a new line in it is written \\n");
        }
    }
    parser->scanned.text = is_simple(parser, text, length) ? intern(parser->strings, text, length)
                                                           : resolve(parser, text, length);
    return TOK_STRING;
}
