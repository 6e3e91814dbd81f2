/* ast.h: what was written, before anyone asked what it means.
 *
 * Names are interned and stay unresolved, numbers and units stay text. Every node has the span of
 * its source. Constructors are the only thing the grammar's actions call. */
#ifndef PERFC_SYNTAX_AST_H
#define PERFC_SYNTAX_AST_H

#include <stdbool.h>
#include <stddef.h>

#include "source/source.h"

struct arena;
struct buffer;

/* ---- names -------------------------------------------------------------------------------- */

struct name {
    const char *text; /* interned */
    struct span span;
    bool quoted;
};

/* A dotted path `lib.llama.params`: one part or more. */
struct path {
    struct name *parts;
    size_t count;
    struct span span;
};

/* ---- expressions -------------------------------------------------------------------------- */

enum expr_kind {
    EXPR_NUMBER, /* 128k tokens */
    EXPR_STRING, /* "text": a name or text, semantics decides */
    EXPR_PATH,   /* chat.tpot */
    EXPR_UNARY,  /* - + not */
    EXPR_BINARY, /* arithmetic, comparison, and, or */
    EXPR_CALL,   /* min(a, b) */
    EXPR_IF,     /* if a then b else c */
};

enum expr_op {
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_LESS,
    OP_LESS_EQUAL,
    OP_GREATER,
    OP_GREATER_EQUAL,
    OP_EQUAL,
    OP_NOT_EQUAL,
    OP_AND,
    OP_OR,
    OP_NOT,
    OP_NEGATE,
    OP_PLUS,
};

struct expr {
    enum expr_kind kind;
    struct span span;
    union {
        struct {
            const char *digits; /* "4_096", "0.5": without the count suffix */
            const char *count;  /* "k" "M" "B" "T" "Ki" "Mi" "Gi" "Ti", or NULL */
            const char *unit;   /* "TB/s", "%", or NULL */
            struct span unit_span;
        } number;
        struct {
            const char *text; /* escapes resolved, interned, valid UTF-8 without NUL */
        } string;
        struct path path;
        struct {
            enum expr_op op;
            struct span op_span;
            struct expr *left; /* NULL for a unary operator */
            struct expr *right;
        } operation; /* EXPR_UNARY and EXPR_BINARY */
        struct {
            struct name function;
            struct expr_list *arguments;
        } call;
        struct {
            struct expr *condition, *then, *otherwise;
        } choice; /* EXPR_IF */
    };
};

struct expr_list {
    struct expr **items;
    size_t count, capacity;
};

/* An item of a list: one value, or a range when `high` is set. */
struct list_item {
    struct expr *value; /* or the low end of the range */
    struct expr *high;  /* NULL for a single value */
    struct expr *step;  /* NULL: steps of 1 */
    bool multiply;      /* step * S rather than step S */
    struct span span;
};

struct item_list {
    struct list_item *items;
    size_t count, capacity;
};

/* ---- statements --------------------------------------------------------------------------- */

enum stmt_kind {
    STMT_ATTRIBUTE,   /* path = item, item */
    STMT_GROUP,       /* path { statements }: the same as dotted attributes */
    STMT_DECLARATION, /* kind name : base { statements } */
    STMT_LET,         /* let name = expr */
    STMT_IMPORT,      /* import "file" as name */
    STMT_COMPARE,     /* compare a, b */
    STMT_ASSERT,      /* assert expr "message" */
    STMT_REQUIRE,     /* require expr "message" */
    STMT_GUARD,       /* guard expr "message" */
    STMT_SHOW,        /* show a, b */
    STMT_MINIMIZE,    /* minimize expr */
    STMT_MAXIMIZE,    /* maximize expr */
};

struct stmt_list {
    struct stmt **items;
    size_t count, capacity;
    bool incomplete; /* something here had a syntax error and was left out */
};

struct stmt {
    enum stmt_kind kind;
    struct span span; /* the whole statement */
    struct span head; /* the keyword, or the path on the left */
    union {
        struct {
            struct path path;
            struct item_list *values;
        } attribute;
        struct {
            struct path path;
            struct stmt_list *body;
        } group;
        struct {
            const char *kind; /* interned: "gpu", "block", ... */
            struct name name; /* text NULL when nameless */
            struct path base; /* count 0 when there is none */
            struct stmt_list *body;
            struct span close; /* the closing brace */
            bool hoisted;      /* a top-level kind found inside a block that lacked its brace */
        } declaration;
        struct {
            struct name name;
            struct expr *value;
        } let;
        struct {
            struct name file; /* the string */
            struct name as;   /* text NULL without `as` */
        } import;
        struct expr_list *list; /* STMT_COMPARE, STMT_SHOW */
        struct {
            struct expr *condition;
            const char *message; /* or NULL */
        } check;                 /* STMT_ASSERT, STMT_REQUIRE, STMT_GUARD, STMT_MINIMIZE, STMT_MAXIMIZE */
    };
};

/* The whole file. */
struct syntax_tree {
    uint32_t file;
    struct stmt_list *statements;
};

/* ---- dump --------------------------------------------------------------------------------- */

/* One node per line, indented, for tests and `--dump=ast`. */
void ast_dump(struct buffer *out, const struct syntax_tree *tree);

/* An expression as the shortest text that parses to the same tree, for reports ("chat.tpot <= 40 ms"). */
void expr_write(struct buffer *out, const struct expr *expr);

#endif
