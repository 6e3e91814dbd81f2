/* parser.h: the state of one parse, shared by the grammar, the scanner and the code between them. Private to
 * src/syntax and grammar. */
#ifndef PERFC_SYNTAX_PARSER_H
#define PERFC_SYNTAX_PARSER_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

#include "source/diag.h"
#include "source/source.h"
#include "syntax/ast.h"
#include "syntax/token.h"

struct strings;

enum { NESTING_MAX = 200, SYNTAX_ERRORS_MAX = 1000, HISTORY = 4 };

/* An open `{` or `(`, and the prefix operators that wait for their operand inside it. */
struct opening {
    struct span span;
    bool brace;
    unsigned signs, nots, ifs;
};

/* Between the scanner and the grammar: see token_stream.c. */
struct token_stream {
    struct token history[HISTORY]; /* a ring; see token_past() */
    unsigned latest;               /* index of the token delivered last, whose effect is still to come */
    struct token queue[2];         /* to be delivered before the scanner is asked again */
    unsigned queued;
    struct opening open[NESTING_MAX + 1]; /* [0] is the file itself */
    unsigned depth;                       /* of the innermost opening in `open` */
    unsigned nesting;                     /* depth and all prefix operators waiting */
    unsigned dots;    /* in the path that is being read */
    bool started;
    bool recovering;                          /* an error was reported: go to where a statement begins */
    bool resumed;                             /* the token delivered last is the first after SYNC */
    bool separating;                          /* the token delivered last is a `;` put in by guess */
    bool at_end;                              /* the scanner has nothing more */
    bool ended;                               /* the virtual `;` of the end was delivered */
    bool end_excused;                         /* what is open at the end follows from another mistake */
    struct opening unclosed[NESTING_MAX + 1]; /* braces open at the end, outermost first */
    unsigned unclosed_count;
};

struct parser {
    struct arena *arena;
    struct strings *strings;
    struct diags *diags;
    const struct source *source;
    uint32_t file;
    bool expression_only;
    bool clean; /* the text is valid UTF-8 without NUL */
    bool quiet; /* the scanner is skipping to recover: report nothing */
    unsigned errors;

    void *scanner;         /* flex's */
    const char *scan_base; /* flex's copy of the text */
    struct token scanned;  /* what the scanner's actions fill in */
    bool new_line;         /* since the last token */
    unsigned brackets;     /* `[` that were reported and dropped */
    jmp_buf scan_failed;   /* flex met a state it cannot be in */

    struct token_stream stream;

    struct stmt_list *statements;
    struct expr *expression;
};

/* A syntax error. After SYNTAX_ERRORS_MAX of them the rest of the file is not parsed. Never NULL. */
struct diag *parser_error(struct parser *parser, enum diag_code code, struct span span, const char *format,
                          ...) __attribute__((format(printf, 4, 5)));

/* Bytes start to end of the file being parsed. */
static inline struct span parser_span(const struct parser *parser, size_t start, size_t end)
{
    return (struct span){parser->file, (uint32_t)start, (uint32_t)end};
}

/* The token delivered last (0), the one before it (1), up to HISTORY - 1. */
static inline const struct token *token_past(const struct token_stream *stream, unsigned back)
{
    return &stream->history[(stream->latest - back) % HISTORY];
}

#endif
