/* syntax_error.c: the wording of syntax errors. An ordered list of explanations, each of which knows one
 * mistake by the tokens before it and by what the grammar expected; the last fits always. */
#include "syntax/syntax_error.h"

#include <string.h>

#include "base/arena.h"
#include "grammar/parse.h"
#include "source/suggest.h"
#include "syntax/expected.h"
#include "syntax/keyword.h"
#include "syntax/lexeme.h"
#include "syntax/parser.h"
#include "syntax/token_stream.h"

/* What an explanation looks at. */
struct surprise {
    struct parser *parser;
    struct diags *diags;
    const struct token *found, *before, *before_that;
    struct token_set expected;
    bool in_block, at_end;
};

static const char *source_text(const struct parser *parser, struct span span)
{
    const char *text = parser->source->text + span.start;
    size_t length = span.end - span.start;
    if (length <= 40)
        return arena_strndup(parser->arena, text, length);
    for (length = 37; length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80;)
        length--;
    return arena_printf(parser->arena, "%.*s...", (int)length, text);
}

static bool is_expected(const struct surprise *surprise, int kind)
{
    return token_set_has(surprise->expected, kind);
}

static bool expects_statement(const struct surprise *surprise)
{
    return is_expected(surprise, TOK_SEMICOLON);
}

static bool expects_operand(const struct surprise *surprise)
{
    return is_expected(surprise, TOK_NUMBER);
}

/* An expression just ended, or could have. */
static bool expects_operator(const struct surprise *surprise)
{
    return is_expected(surprise, TOK_STAR) && is_expected(surprise, TOK_AND);
}

static struct span just_after(struct span span)
{
    span.start = span.end;
    return span;
}

/* "number `4`", "`}`", "the end of the file" */
static const char *found_text(const struct surprise *surprise)
{
    struct parser *parser = surprise->parser;
    const struct token *found = surprise->found;
    if (surprise->at_end)
        return parser->expression_only ? "the end" : "the end of the file";
    const char *text = source_text(parser, found->span);
    switch (found->kind) {
    case TOK_NAME: return arena_printf(parser->arena, "the name `%s`", text);
    case TOK_NUMBER: return arena_printf(parser->arena, "the number `%s`", text);
    case TOK_STRING: return arena_printf(parser->arena, "the string %s", text);
    case TOK_UNIT: return arena_printf(parser->arena, "the unit `%s`", text);
    default: return arena_printf(parser->arena, "`%s`", text);
    }
}

static bool explain_close_brace(struct surprise *surprise)
{
    if (surprise->found->kind != TOK_CLOSE_BRACE || surprise->in_block || surprise->parser->expression_only)
        return false;
    parser_error(surprise->parser, DIAG_E0115, surprise->found->span, "this `}` closes nothing");
    return true;
}

static bool explain_close_paren(struct surprise *surprise)
{
    if (surprise->found->kind != TOK_CLOSE_PAREN ||
        token_stream_open_parenthesis(&surprise->parser->stream) != NULL)
        return false;
    parser_error(surprise->parser, DIAG_E0116, surprise->found->span, "this `)` closes nothing");
    return true;
}

/* `x = and`, `and = 3`, but not `a + and b`. */
static bool explain_reserved(struct surprise *surprise)
{
    const struct token *found = surprise->found;
    if (!token_is_reserved(found->kind) || !is_expected(surprise, TOK_NAME) ||
        (token_needs_operand(surprise->before->kind) && surprise->before->kind != TOK_ASSIGN))
        return false;
    struct diag *diag = parser_error(surprise->parser, DIAG_E0118, found->span,
                                     "`%s` is a reserved word and no name", found->text);
    if (expects_operand(surprise))
        diag_note(surprise->diags, diag, "in quotes, `\"%s\"`, it is a name", found->text);
    return true;
}

static void explain_after(struct surprise *surprise)
{
    struct parser *parser = surprise->parser;
    const struct token *before = surprise->before, *name = surprise->before_that;
    bool named = token_is_word(name->kind) || name->kind == TOK_STRING;
    const char *text = source_text(parser, before->span);
    struct span span = before->span;
    if (before->kind == TOK_COMMA) {
        if (surprise->found->kind == TOK_COMMA) {
            parser_error(parser, DIAG_E0119, span_join(before->span, surprise->found->span),
                         "a value is missing between two commas");
            return;
        }
        struct diag *diag = parser_error(parser, DIAG_E0120, span, "a list does not end with a comma");
        diag_fix(surprise->diags, diag, span, "", "remove the comma, or write another value after it");
        return;
    }
    if (before->kind == TOK_ASSIGN && named)
        parser_error(parser, DIAG_E0119, span_join(name->span, span), "a value is missing after `%s =`",
                     source_text(parser, name->span));
    else
        parser_error(parser, DIAG_E0119, span, "a value is missing after `%s`", text);
}

static bool explain_operand(struct surprise *surprise)
{
    if (!token_needs_operand(surprise->before->kind) || !expects_operand(surprise) ||
        (surprise->before->kind == TOK_OPEN_PAREN && surprise->found->kind == TOK_CLOSE_PAREN))
        return false;
    explain_after(surprise);
    return true;
}

/* `x =` and on the next line `let y = 3`, where `let` could have been the value. */
static bool explain_swallowed_keyword(struct surprise *surprise)
{
    struct token_stream *stream = &surprise->parser->stream;
    struct token found = *surprise->found, keyword = *surprise->before;
    bool name = token_is_word(found.kind) || found.kind == TOK_STRING;
    if (!name || found.first_on_line || !keyword.first_on_line || !token_is_word(keyword.kind) ||
        keyword.kind == TOK_NAME || !token_needs_operand(surprise->before_that->kind))
        return false;
    surprise->found = &keyword;
    surprise->before = token_past(stream, 2);
    surprise->before_that = token_past(stream, 3);
    explain_after(surprise);
    token_stream_put_back(stream, found);
    token_stream_put_back(stream, keyword);
    return true;
}

static bool explain_parenthesis(struct surprise *surprise)
{
    const struct opening *open = token_stream_open_parenthesis(&surprise->parser->stream);
    const struct token *found = surprise->found;
    bool statement = token_is_word(found->kind) && text_is_left_side(surprise->parser, found->span.end);
    if (open == NULL || !is_expected(surprise, TOK_CLOSE_PAREN) ||
        !(statement || found->first_on_line || found->kind == TOK_CLOSE_BRACE ||
          found->kind == TOK_SEMICOLON || found->kind == TOK_OPEN_BRACE || found->kind == TOK_ASSIGN ||
          found->kind == TOK_YYEOF))
        return false;
    struct diag *diag = parser_error(surprise->parser, DIAG_E0116, open->span, "this `(` is never closed");
    diag_fix(surprise->diags, diag, just_after(surprise->before->span), ")", "a `)` is missing before %s",
             found_text(surprise));
    return true;
}

static bool explain_choice(struct surprise *surprise)
{
    bool then = is_expected(surprise, TOK_THEN);
    if ((!then && !is_expected(surprise, TOK_ELSE)) || is_expected(surprise, TOK_NAME) ||
        token_is_comparison(surprise->found->kind))
        return false;
    struct diag *diag = parser_error(surprise->parser, DIAG_E0121, surprise->found->span,
                                     "expected `%s`, found %s", then ? "then" : "else", found_text(surprise));
    diag_note(surprise->diags, diag, "a choice has three parts: `if condition then value else value`");
    return true;
}

static bool explain_comparison(struct surprise *surprise)
{
    if (!token_is_comparison(surprise->found->kind) || !is_expected(surprise, TOK_AND) ||
        is_expected(surprise, TOK_EQUAL))
        return false;
    struct diag *diag =
        parser_error(surprise->parser, DIAG_E0122, surprise->found->span, "comparisons do not chain");
    diag_note(surprise->diags, diag, "write `a < b and b < c`");
    return true;
}

static bool explain_assign(struct surprise *surprise)
{
    if (surprise->found->kind != TOK_ASSIGN || !is_expected(surprise, TOK_EQUAL))
        return false;
    struct diag *diag = parser_error(surprise->parser, DIAG_E0123, surprise->found->span,
                                     "`=` sets an attribute and does not compare");
    diag_fix(surprise->diags, diag, surprise->found->span, "==", "a comparison is written `==`");
    return true;
}

static bool explain_colon(struct surprise *surprise)
{
    if (surprise->found->kind != TOK_COLON || !is_expected(surprise, TOK_ASSIGN))
        return false;
    struct diag *diag =
        parser_error(surprise->parser, DIAG_E0124, surprise->found->span, "an attribute is set with `=`");
    diag_fix(surprise->diags, diag, surprise->found->span, " =", "write `%s =`",
             source_text(surprise->parser, surprise->before->span));
    return true;
}

static bool explain_range(struct surprise *surprise)
{
    const struct token *found = surprise->found;
    if (!expects_operator(surprise) || (found->kind != TOK_RANGE && found->kind != TOK_STEP))
        return false;
    struct diag *diag = parser_error(surprise->parser, DIAG_E0125, found->span,
                                     found->kind == TOK_STEP ? "`step` follows a range `low .. high`"
                                                             : "a range cannot stand here");
    if (found->kind == TOK_RANGE)
        diag_note(surprise->diags, diag, "a range `low .. high` is an item of an attribute's list of values");
    return true;
}

static bool explain_list(struct surprise *surprise)
{
    if (surprise->found->kind != TOK_COMMA || !expects_operator(surprise))
        return false;
    struct diag *diag =
        parser_error(surprise->parser, DIAG_E0126, surprise->found->span, "a list cannot stand here");
    diag_note(surprise->diags, diag, "only an attribute takes several values");
    return true;
}

static void report_missing_comma(struct surprise *surprise, const struct token *left,
                                 const struct token *right)
{
    struct parser *parser = surprise->parser;
    struct diag *diag = parser_error(parser, DIAG_E0137, right->span, "a comma is missing before `%s`",
                                     source_text(parser, right->span));
    diag_fix(surprise->diags, diag, just_after(left->span), ",", "values are separated by `,`");
}

/* `1 2 4`, `"a" "b"`, `compare a b` */
static bool explain_comma(struct surprise *surprise)
{
    const struct token *found = surprise->found;
    bool value = found->kind == TOK_NUMBER || found->kind == TOK_STRING ||
                 (token_is_word(found->kind) && !expects_operator(surprise) && !surprise->in_block);
    if (!value || found->first_on_line || !is_expected(surprise, TOK_COMMA) ||
        !token_ends_expression(surprise->before->kind) ||
        text_is_left_side(surprise->parser, found->span.end))
        return false;
    report_missing_comma(surprise, surprise->before, found);
    return true;
}

/* The word at the top level that is no keyword. */
static const char *nearest_beginning(const char *word)
{
    struct suggestion suggestion = suggestion_for(word);
    size_t count;
    const struct keyword *keywords = keyword_all(&count);
    for (size_t i = 0; i < count; i++)
        if (keywords[i].class == KEYWORD_KIND || keywords[i].class == KEYWORD_STATEMENT)
            suggestion_consider(&suggestion, keywords[i].text);
    return suggestion_result(&suggestion);
}

const char *syntax_error_unknown_kind(struct parser *parser, struct token word)
{
    const char *nearest = nearest_beginning(word.text);
    struct diag *diag =
        parser_error(parser, DIAG_E0127, word.span, "`%s` declares nothing", source_text(parser, word.span));
    if (nearest != NULL)
        diag_fix(parser->diags, diag, word.span, nearest, "did you mean `%s`?", nearest);
    else if (!token_stream_in_block(&parser->stream))
        diag_note(
            parser->diags, diag,
            "a declaration begins with one of: format, gpu, system, model, engine, scenario, sweep, search, "
            "fleet, measured, report, compare, assert, guard, let, import");
    return nearest;
}

static bool explain_top_level(struct surprise *surprise)
{
    const struct token *found = surprise->found;
    struct parser *parser = surprise->parser;
    if (surprise->in_block || !expects_statement(surprise) || !token_is_word(found->kind) ||
        (token_ends_expression(surprise->before->kind) && !found->first_on_line))
        return false;
    if (!text_is_left_side(parser, found->span.end)) {
        syntax_error_unknown_kind(parser, *found);
        return true;
    }
    size_t next = text_skip_space(parser, found->span.end);
    if (parser->source->text[next] == '{') {
        syntax_error_unknown_kind(parser, *found);
        return true;
    }
    struct diag *diag = parser_error(parser, DIAG_E0128, found->span,
                                     "the attribute `%s` stands outside of a declaration", found->text);
    if (parser->source->text[next] == '=')
        diag_fix(surprise->diags, diag, parser_span(parser, found->span.start, found->span.start), "let ",
                 "write `let %s = ...` to give a value a name", found->text);
    return true;
}

static bool explain_string_statement(struct surprise *surprise)
{
    if (surprise->found->kind != TOK_STRING || !expects_statement(surprise))
        return false;
    struct diag *diag = parser_error(surprise->parser, DIAG_E0129, surprise->found->span,
                                     "no statement begins with a string");
    if (text_is_left_side(surprise->parser, surprise->found->span.end))
        diag_note(surprise->diags, diag, "a name on the left of `=` stands without quotes");
    return true;
}

/* `memory 80 GB`: a name at the beginning of a statement, and no `=`. */
static bool explain_equals(struct surprise *surprise)
{
    const struct token *found = surprise->found, *before = surprise->before;
    struct parser *parser = surprise->parser;
    if (!is_expected(surprise, TOK_ASSIGN) || !token_ends_expression(before->kind))
        return false;
    bool value = token_is_word(found->kind) || found->kind == TOK_STRING || found->kind == TOK_NUMBER ||
                 found->kind == TOK_OPEN_PAREN || found->kind == TOK_MINUS;
    if (value && !found->first_on_line) {
        struct diag *diag = parser_error(parser, DIAG_E0130, found->span, "`=` is missing after `%s`",
                                         source_text(parser, before->span));
        diag_fix(surprise->diags, diag, just_after(before->span), " =", "write `%s = %s`",
                 source_text(parser, before->span), source_text(parser, found->span));
        return true;
    }
    if (found->first_on_line || found->kind == TOK_SEMICOLON || found->kind == TOK_CLOSE_BRACE ||
        found->kind == TOK_COMMA) {
        if (!before->first_on_line && token_ends_expression(surprise->before_that->kind))
            report_missing_comma(surprise, surprise->before_that, before);
        else
            parser_error(parser, DIAG_E0130, before->span, "`%s` has neither a value nor a block",
                         source_text(parser, before->span));
        return true;
    }
    return false;
}

/* `gpu h100` in a scenario, `gpu H100 SXM {` at the top level. */
static bool explain_block(struct surprise *surprise)
{
    const struct token *found = surprise->found, *name = surprise->before, *kind = surprise->before_that;
    struct parser *parser = surprise->parser;
    if (!is_expected(surprise, TOK_OPEN_BRACE) || is_expected(surprise, TOK_ASSIGN))
        return false;
    bool header = kind->kind == TOK_KIND && (token_is_word(name->kind) || name->kind == TOK_STRING);
    if (header && surprise->in_block && strcmp(kind->text, "block") != 0) {
        struct diag *diag =
            parser_error(parser, DIAG_E0130, name->span, "`=` is missing after `%s`", kind->text);
        diag_fix(surprise->diags, diag, just_after(kind->span), " =", "write `%s = %s`", kind->text,
                 source_text(parser, name->span));
        return true;
    }
    if (surprise->in_block && !found->first_on_line)
        parser->stream.resumed = true; /* what follows belongs to this declaration */
    struct diag *diag;
    if (header && (found->first_on_line || surprise->at_end)) {
        struct span heading = span_join(kind->span, name->span);
        diag = parser_error(parser, DIAG_E0131, heading, "`%s` has no block", source_text(parser, heading));
    } else {
        diag = parser_error(parser, DIAG_E0131, found->span, "expected `{`, found %s", found_text(surprise));
    }
    if (header && (found->kind == TOK_NAME || found->kind == TOK_NUMBER) && !found->first_on_line)
        diag_note(surprise->diags, diag, "a name with blanks stands in quotes: `%s \"%s %s\"`", kind->text,
                  name->text, source_text(parser, found->span));
    else
        diag_note(surprise->diags, diag, "a declaration is written `kind name { ... }`");
    return true;
}

static bool explain_generally(struct surprise *surprise)
{
    const char *expected = expected_text(surprise->parser->arena, surprise->expected);
    const char *found = found_text(surprise);
    if (*expected == '\0')
        parser_error(surprise->parser, DIAG_E0101, surprise->found->span, "%s cannot stand here", found);
    else
        parser_error(surprise->parser, DIAG_E0101, surprise->found->span, "expected %s, found %s", expected,
                     found);
    return true;
}

static bool (*const explanations[])(struct surprise *) = {
    explain_close_brace,
    explain_close_paren,
    explain_reserved,
    explain_operand,
    explain_swallowed_keyword,
    explain_parenthesis,
    explain_choice,
    explain_comparison,
    explain_assign,
    explain_colon,
    explain_range,
    explain_list,
    explain_comma,
    explain_top_level,
    explain_string_statement,
    explain_equals,
    explain_block,
    explain_generally,
};

void syntax_error_report(struct parser *parser, struct token_set expected)
{
    struct token_stream *stream = &parser->stream;
    stream->recovering = true;
    if (token_stream_retract_separator(stream) && token_past(stream, 0)->kind == TOK_PERF_error)
        return; /* reported by the scanner */
    struct surprise surprise = {
        .parser = parser,
        .diags = parser->diags,
        .found = token_past(stream, 0),
        .before = token_past(stream, 1),
        .before_that = token_past(stream, 2),
        .expected = expected,
        .in_block = token_stream_in_block(stream),
        .at_end = stream->at_end && stream->queued == 0 &&
                  token_past(stream, 0)->span.end == token_past(stream, 0)->span.start,
    };
    if (surprise.at_end)
        stream->end_excused = true;
    for (size_t i = 0; !explanations[i](&surprise);)
        i++;
}

void syntax_error_operand(struct parser *parser)
{
    struct token_stream *stream = &parser->stream;
    static const struct token nothing;
    struct surprise surprise = {.parser = parser,
                                .diags = parser->diags,
                                .found = &nothing,
                                .before = token_past(stream, 0),
                                .before_that = token_past(stream, 1)};
    explain_after(&surprise);
}

void syntax_error_minus(struct parser *parser, struct span minus, bool blank_before, bool blank_after)
{
    struct diag *diag =
        parser_error(parser, DIAG_E0114, minus, "a minus between two values has a blank on each side");
    const char *fixed = blank_before ? "- " : blank_after ? " -" : " - ";
    diag_fix(parser->diags, diag, minus, fixed, "write `a - b`, since `a-b` is a name and `-b` a sign");
}

void syntax_error_nesting(struct parser *parser, struct span span)
{
    parser_error(parser, DIAG_E0132, span, "nested more than %d levels deep", NESTING_MAX);
}

void syntax_error_give_up(struct parser *parser)
{
    struct token_stream *stream = &parser->stream;
    diag_add(parser->diags, DIAG_E0133, token_past(stream, 0)->span,
             "more than %d syntax errors, so the rest of the file was not read", SYNTAX_ERRORS_MAX);
    stream->at_end = true;
    stream->queued = 0;
    stream->end_excused = true;
}

void syntax_error_internal(struct parser *parser, struct span span, const char *message)
{
    parser_error(parser, DIAG_E0132, span, "the parser gave up: %s", message);
}
