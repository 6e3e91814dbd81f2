/* ast_build.h: the constructors of the tree, for the grammar's actions. The places of a node come last:
 * first the whole of it, then its head or operator. A list constructor takes NULL for a list without items
 * so far and returns the list. */
#ifndef PERFC_SYNTAX_AST_BUILD_H
#define PERFC_SYNTAX_AST_BUILD_H

#include "syntax/ast.h"

/* What the scanner makes of `128k`: digits "128", count "k" (NULL without a suffix). */
struct number_text {
    const char *digits, *count;
};

struct name ast_name(const char *text, struct span span);
struct name ast_quoted(const char *text, struct span span);
struct name ast_no_name(void);

struct path ast_path(struct arena *arena, struct name first);
struct path ast_path_add(struct arena *arena, struct path path, struct name part);
struct path ast_no_path(void);

/* `unit` may be NULL. */
struct expr *ast_number(struct arena *arena, struct number_text number, const char *unit, struct span span,
                        struct span unit_span);
/* A string when it is a single quoted name, else a path. */
struct expr *ast_reference(struct arena *arena, struct path path, struct span span);
struct expr *ast_call(struct arena *arena, struct name function, struct expr_list *arguments,
                      struct span span);
struct expr *ast_unary(struct arena *arena, enum expr_op op, struct expr *right, struct span span,
                       struct span op_span);
struct expr *ast_binary(struct arena *arena, enum expr_op op, struct expr *left, struct expr *right,
                        struct span span, struct span op_span);
struct expr *ast_choice(struct arena *arena, struct expr *condition, struct expr *then,
                        struct expr *otherwise, struct span span);
/* The same expression, which now reaches over its parentheses. */
struct expr *ast_parenthesised(struct expr *inner, struct span span);

struct expr_list *ast_exprs(struct arena *arena);
struct expr_list *ast_exprs_add(struct arena *arena, struct expr_list *list, struct expr *expr);

struct list_item ast_item(struct expr *value, struct span span);
struct list_item ast_range(struct expr *low, struct expr *high, struct expr *step, bool multiply,
                           struct span span);
struct item_list *ast_items_add(struct arena *arena, struct item_list *list, struct list_item item);

struct stmt_list *ast_statements(struct arena *arena);
struct stmt_list *ast_statements_add(struct arena *arena, struct stmt_list *list, struct stmt *stmt);
/* The same list, from which a statement with an error was left out. */
struct stmt_list *ast_statements_incomplete(struct stmt_list *list);

struct stmt *ast_attribute(struct arena *arena, struct path path, struct item_list *values, struct span span,
                           struct span head);
struct stmt *ast_group(struct arena *arena, struct path path, struct stmt_list *body, struct span span,
                       struct span head);
struct stmt *ast_declaration(struct arena *arena, const char *kind, struct name name, struct path base,
                             struct stmt_list *body, struct span span, struct span head);
struct stmt *ast_let(struct arena *arena, struct name name, struct expr *value, struct span span,
                     struct span head);
struct stmt *ast_import(struct arena *arena, struct name file, struct name as, struct span span,
                        struct span head);
/* STMT_COMPARE, STMT_SHOW */
struct stmt *ast_list(struct arena *arena, enum stmt_kind kind, struct expr_list *list, struct span span,
                      struct span head);
/* STMT_ASSERT, STMT_REQUIRE, STMT_GUARD, STMT_MINIMIZE, STMT_MAXIMIZE; `message` may be NULL. */
struct stmt *ast_check(struct arena *arena, enum stmt_kind kind, struct expr *condition, const char *message,
                       struct span span, struct span head);

#endif
