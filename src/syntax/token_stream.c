/* token_stream.c: between the scanner and the grammar. Bison's yylex.
 *
 * It bounds nesting, closes what is open at the end of the file, and recovers from errors: after a report it
 * skips to a place where a statement begins, delivers SYNC (the one token the grammar's error rules wait for)
 * and goes on from there. The look-ahead that bison holds is never ahead of a token it may still complain
 * about: the effect of a token on nesting is applied when the next one is asked for, so an offending token
 * leaves no trace. */
#include <string.h>

#include "base/intern.h"
#include "grammar/parse.h"
#include "syntax/keyword.h"
#include "syntax/lexeme.h"
#include "syntax/parser.h"
#include "syntax/scan.h"
#include "syntax/syntax_error.h"
#include "syntax/token_stream.h"

/* ---- nesting ---- */

static struct opening *innermost(struct token_stream *stream)
{
    return &stream->open[stream->depth];
}

static void forget(struct token_stream *stream, unsigned *counter)
{
    stream->nesting -= *counter;
    *counter = 0;
}

static void forget_operators(struct token_stream *stream)
{
    struct opening *opening = innermost(stream);
    forget(stream, &opening->signs);
    forget(stream, &opening->nots);
    forget(stream, &opening->ifs);
}

static void push(struct token_stream *stream, struct token token)
{
    stream->nesting++;
    stream->open[++stream->depth] =
        (struct opening){.span = token.span, .brace = token.kind == TOK_OPEN_BRACE};
}

static void pop(struct token_stream *stream)
{
    forget_operators(stream);
    stream->nesting--;
    stream->depth--;
}

/* An unclosed parenthesis ends with its block. */
static void drop_parentheses(struct token_stream *stream)
{
    while (stream->depth > 0 && !innermost(stream)->brace)
        pop(stream);
}

static bool is_prefix_operator(int kind, int previous)
{
    if (kind == TOK_MINUS || kind == TOK_PLUS)
        return !token_ends_expression(previous);
    return kind == TOK_NOT || kind == TOK_IF;
}

/* Keeps count of what is open after the token delivered last, which the grammar has accepted. */
static void apply(struct token_stream *stream)
{
    struct token token = *token_past(stream, 0);
    int previous = token_past(stream, 1)->kind;
    struct opening *opening = innermost(stream);
    switch (token.kind) {
    case TOK_OPEN_BRACE:
        forget_operators(stream);
        push(stream, token);
        return;
    case TOK_OPEN_PAREN: push(stream, token); return;
    case TOK_CLOSE_BRACE:
        drop_parentheses(stream);
        if (stream->depth > 0)
            pop(stream);
        return;
    case TOK_CLOSE_PAREN:
        if (stream->depth > 0 && !opening->brace)
            pop(stream);
        forget(stream, &innermost(stream)->signs);
        return;
    case TOK_PLUS:
    case TOK_MINUS:
        if (is_prefix_operator(token.kind, previous)) {
            opening->signs++;
            stream->nesting++;
        }
        return;
    case TOK_NOT:
        opening->nots++;
        stream->nesting++;
        return;
    case TOK_IF:
        opening->ifs++;
        stream->nesting++;
        return;
    case TOK_AND:
    case TOK_OR:
    case TOK_THEN:
    case TOK_ELSE: forget(stream, &opening->nots); return;
    case TOK_COMMA:
    case TOK_SEMICOLON: forget_operators(stream); return;
    case TOK_DOT: stream->dots++; return;
    default:
        if (previous != TOK_DOT)
            stream->dots = 0;
        if (token_is_word(token.kind) && token_ends_expression(previous))
            forget_operators(stream); /* a statement begins */
        else if (token_ends_expression(token.kind))
            forget(stream, &opening->signs);
    }
}

static bool is_too_deep(const struct token_stream *stream, int kind)
{
    if (kind == TOK_DOT)
        return stream->dots >= NESTING_MAX;
    bool deeper = kind == TOK_OPEN_BRACE || kind == TOK_OPEN_PAREN ||
                  is_prefix_operator(kind, token_past(stream, 0)->kind);
    return deeper && stream->nesting >= NESTING_MAX;
}

bool token_stream_in_block(const struct token_stream *stream)
{
    unsigned depth = stream->depth;
    while (depth > 0 && !stream->open[depth].brace)
        depth--;
    return depth > 0;
}

const struct opening *token_stream_open_parenthesis(const struct token_stream *stream)
{
    const struct opening *opening = &stream->open[stream->depth];
    return stream->depth > 0 && !opening->brace ? opening : NULL;
}

/* ---- scanning ---- */

static struct token next_token(struct parser *parser)
{
    struct token_stream *stream = &parser->stream;
    if (stream->queued > 0) {
        struct token token = stream->queue[0];
        stream->queue[0] = stream->queue[1];
        stream->queued--;
        return token;
    }
    if (!stream->at_end) {
        struct token token = scan_next(parser);
        if (token.kind != TOK_YYEOF)
            return token;
        stream->at_end = true;
    }
    uint32_t end = (uint32_t)parser->source->length;
    return (struct token){.kind = TOK_YYEOF, .span = parser_span(parser, end, end), .first_on_line = true};
}

bool token_stream_retract_separator(struct token_stream *stream)
{
    if (!stream->separating)
        return false;
    stream->separating = false;
    stream->history[stream->latest] = stream->queue[0];
    stream->queue[0] = stream->queue[1];
    stream->queued--;
    return true;
}

void token_stream_put_back(struct token_stream *stream, struct token token)
{
    stream->queue[1] = stream->queue[0];
    stream->queue[0] = token;
    stream->queued++;
}

/* ---- recovery ---- */

/* `word name {` or `word name :`. */
static bool declaration_follows(const struct parser *parser, struct token word)
{
    size_t name = text_skip_space(parser, word.span.end);
    size_t end = text_skip_name(parser, name);
    char after = parser->source->text[text_skip_space(parser, end)];
    return end > name && (after == '{' || after == ':');
}

static bool begins_block_statement(const struct parser *parser, struct token token, struct token previous)
{
    if (!token_is_word(token.kind) || previous.kind == TOK_DOT || previous.kind == TOK_COLON)
        return false;
    if (token.first_on_line && token_ends_expression(previous.kind))
        return true;
    return text_is_left_side(parser, token.span.end) ||
           (token.kind == TOK_KIND && declaration_follows(parser, token));
}

static bool begins_file_statement(const struct parser *parser, struct token token, struct token previous)
{
    if (!token_is_word(token.kind) || previous.kind == TOK_DOT || previous.kind == TOK_COLON)
        return false;
    if (token.kind == TOK_NAME || token.kind == TOK_STEP || token.kind == TOK_AS)
        return token.first_on_line && declaration_follows(parser, token); /* of a kind nobody knows */
    size_t at = text_skip_space(parser, token.span.end);
    return text_skip_name(parser, at) > at || (token.kind == TOK_KIND && parser->source->text[at] == '{') ||
           (token.first_on_line && !text_is_left_side(parser, token.span.end));
}

static bool is_sync_point(const struct parser *parser, struct token token, struct token previous)
{
    if (token.kind == TOK_YYEOF || token.kind == TOK_SEMICOLON)
        return true;
    if (!token_stream_in_block(&parser->stream))
        return begins_file_statement(parser, token, previous);
    return token.kind == TOK_CLOSE_BRACE || begins_block_statement(parser, token, previous);
}

/* From an opening brace to its closing one. */
static void skip_braces(struct parser *parser)
{
    for (unsigned depth = 1; depth > 0;) {
        struct token token = next_token(parser);
        if (token.kind == TOK_OPEN_BRACE)
            depth++;
        else if (token.kind == TOK_CLOSE_BRACE)
            depth--;
        else if (token.kind == TOK_YYEOF) {
            parser->stream.end_excused = true;
            return;
        }
    }
}

/* The rest of a declaration whose first word was delivered. */
static void skip_declaration(struct parser *parser)
{
    parser->quiet = true;
    struct token token = next_token(parser);
    while (token_is_word(token.kind) || token.kind == TOK_STRING || token.kind == TOK_COLON ||
           token.kind == TOK_DOT)
        token = next_token(parser);
    if (token.kind == TOK_OPEN_BRACE)
        skip_braces(parser);
    else
        token_stream_put_back(&parser->stream, token);
    parser->quiet = false;
}

/* A name that begins a statement and is followed by another name and a block would be a declaration if its
 * kind were known. It is taken for the kind that was meant, so that what it declares is not missed; without a
 * likely one its block is skipped. True for a mistake. */
static bool correct_unknown_kind(struct parser *parser, struct token *token)
{
    int previous = token_past(&parser->stream, 0)->kind;
    bool beginning = previous == TOK_OPEN_BRACE || previous == TOK_CLOSE_BRACE || previous == TOK_SEMICOLON ||
                     previous == TOK_SYNC || previous == TOK_WHOLE_FILE ||
                     (token_ends_expression(previous) && (previous == TOK_NAME || !token_is_word(previous)));
    if (token->kind != TOK_NAME || !beginning || parser->expression_only ||
        !declaration_follows(parser, *token))
        return false;
    const char *meant = syntax_error_unknown_kind(parser, *token);
    const struct keyword *kind = meant == NULL ? NULL : keyword_find(meant, strlen(meant));
    if (kind == NULL || kind->class != KEYWORD_KIND) {
        skip_declaration(parser);
        return true;
    }
    token->kind = TOK_KIND;
    token->text = intern_text(parser->strings, meant);
    return false;
}

/* Skips to where a statement begins and leaves that token in the queue. The offending token may itself be the
 * place, unless parsing went on from it already. */
static struct token recover(struct parser *parser)
{
    struct token_stream *stream = &parser->stream;
    drop_parentheses(stream);
    forget_operators(stream);
    parser->quiet = true;
    struct token token = *token_past(stream, 0), previous = *token_past(stream, 1);
    bool skip = stream->resumed;
    if (stream->queued > 0) { /* what to go on with is known */
        token = next_token(parser);
        previous = (struct token){.kind = TOK_SEMICOLON};
        skip = false;
    }
    while (skip || !is_sync_point(parser, token, previous)) {
        if (token.kind == TOK_OPEN_BRACE)
            skip_braces(parser);
        previous = token;
        token = next_token(parser);
        skip = false;
    }
    parser->quiet = false;
    token_stream_put_back(stream, token);
    stream->recovering = false;
    struct token sync = {.kind = TOK_SYNC, .span = token.span};
    sync.span.end = sync.span.start;
    return sync;
}

/* ---- the end ---- */

static struct span after_last_token(const struct token_stream *stream)
{
    struct span span = token_past(stream, 0)->span;
    span.start = span.end;
    return span;
}

/* A `;`, so that an incomplete last statement does not meet the end itself, which bison takes as a reason to
 * give up; then a `}` for each open `{`. */
static struct token end_token(struct parser *parser, struct token end)
{
    struct token_stream *stream = &parser->stream;
    if (parser->expression_only)
        return end;
    if (!stream->ended) {
        stream->ended = true;
        return (struct token){.kind = TOK_SEMICOLON, .span = after_last_token(stream)};
    }
    drop_parentheses(stream);
    if (stream->depth == 0)
        return end;
    if (stream->unclosed_count == 0)
        for (unsigned i = 1; i <= stream->depth; i++)
            if (stream->open[i].brace)
                stream->unclosed[stream->unclosed_count++] = stream->open[i];
    return (struct token){.kind = TOK_CLOSE_BRACE, .span = after_last_token(stream)};
}

/* ---- delivery ---- */

static bool is_blank_byte(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* `a-1` is a name and `a -1` an accident: a minus between values has a blank on each side. */
static void check_minus(struct parser *parser, struct token token)
{
    if (token.kind != TOK_MINUS || !token_ends_expression(token_past(&parser->stream, 0)->kind))
        return;
    const char *text = parser->source->text;
    bool before = token.span.start > 0 && is_blank_byte(text[token.span.start - 1]);
    bool after = is_blank_byte(text[token.span.end]) || text[token.span.end] == '#';
    if (!before || !after)
        syntax_error_minus(parser, token.span, before, after);
}

/* `a =` and on the next line `b = 4`: the value is missing, and the grammar would notice only at the second
 * `=`. Nor is `block` a value in front of `block dense {` on one line. */
static bool operand_is_missing(const struct parser *parser, struct token token)
{
    if (!token.first_on_line || !token_needs_operand(token_past(&parser->stream, 0)->kind) ||
        !token_is_word(token.kind))
        return false;
    size_t next = token.span.end + strspn(parser->source->text + token.span.end, " \t");
    bool declaration = token.kind == TOK_KIND && parser->source->text[next] != '\n';
    return text_is_left_side(parser, token.span.end) || (declaration && declaration_follows(parser, token));
}

static struct token start_token(struct parser *parser)
{
    parser->stream.started = true;
    return (struct token){.kind = parser->expression_only ? TOK_WHOLE_EXPRESSION : TOK_WHOLE_FILE,
                          .span = parser_span(parser, 0, 0)};
}

/* Whether the statement before this token is complete in all likelihood, and this token is no part of it. It
 * would be lost with the error that the token is about to cause. */
static bool ends_statement(const struct parser *parser, struct token token)
{
    const struct token_stream *stream = &parser->stream;
    int previous = token_past(stream, 0)->kind;
    if (parser->expression_only || stream->separating || !token_ends_expression(previous) ||
        (token_is_word(previous) && previous != TOK_NAME))
        return false;
    if (token.kind == TOK_PERF_error)
        return true;
    if (token.kind == TOK_NAME && declaration_follows(parser, token))
        return true;
    if (!token.first_on_line)
        return false;
    bool left_side = text_is_left_side(parser, token.span.end);
    if (token_stream_in_block(stream))
        return token.kind == TOK_NUMBER || (token.kind == TOK_STRING && left_side);
    return token.kind == TOK_NUMBER || token.kind == TOK_CLOSE_BRACE ||
           (left_side && (token.kind == TOK_STRING || token_is_word(token.kind)));
}

/* The next token. Sets `recovering` when it is an error, which then has been reported. */
static struct token checked_token(struct parser *parser)
{
    struct token_stream *stream = &parser->stream;
    struct token token = next_token(parser);
    if (token.kind == TOK_YYEOF)
        token = end_token(parser, token);
    if (ends_statement(parser, token)) {
        token_stream_put_back(stream, token);
        stream->separating = true;
        stream->resumed = false;
        token.kind = TOK_SEMICOLON;
        token.span.end = token.span.start;
        return token;
    }
    stream->separating = false;
    bool unknown = correct_unknown_kind(parser, &token);
    stream->resumed = unknown || token_past(stream, 0)->kind == TOK_SYNC;
    if (token.kind == TOK_PERF_error || unknown) {
        stream->recovering = true;
    } else if (is_too_deep(stream, token.kind)) {
        syntax_error_nesting(parser, token.span);
        stream->recovering = true;
    } else if (operand_is_missing(parser, token)) {
        syntax_error_operand(parser);
        stream->recovering = true;
        token_stream_put_back(stream, token);
    } else {
        check_minus(parser, token);
    }
    return token;
}

int perf_lex(PERF_STYPE *value, struct span *location, struct parser *parser)
{
    struct token_stream *stream = &parser->stream;
    if (!stream->recovering)
        apply(stream);
    if (parser->errors >= SYNTAX_ERRORS_MAX && !stream->at_end)
        syntax_error_give_up(parser);
    struct token token = !stream->started     ? start_token(parser)
                         : stream->recovering ? recover(parser)
                                              : checked_token(parser);
    stream->latest = (stream->latest + 1) % HISTORY;
    stream->history[stream->latest] = token;
    *location = token.span;
    if (token.kind == TOK_NUMBER)
        value->TOK_NUMBER = token.number;
    else
        value->TOK_NAME = token.text;
    return stream->recovering ? TOK_PERF_error : token.kind;
}
