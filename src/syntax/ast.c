/* ast.c: the constructors of the tree. They copy what they are given into the arena and decide nothing. */
#include <string.h>

#include "base/arena.h"
#include "syntax/ast_build.h"

/* Room for one element more. Most lists in a plan hold one item, so growth starts at one. */
static void *grown(struct arena *arena, void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    *capacity = *capacity == 0 ? 1 : *capacity < 4 ? 4 : *capacity * 2;
    void *moved = arena_calloc(arena, *capacity, size);
    if (count > 0)
        memcpy(moved, items, count * size);
    return moved;
}

/* ---- names ---- */

struct name ast_name(const char *text, struct span span)
{
    return (struct name){text, span, false};
}

struct name ast_quoted(const char *text, struct span span)
{
    return (struct name){text, span, true};
}

struct name ast_no_name(void)
{
    return (struct name){0};
}

struct path ast_path(struct arena *arena, struct name first)
{
    struct name *parts = ARENA_NEW(arena, struct name);
    *parts = first;
    return (struct path){parts, 1, first.span};
}

/* A path keeps no capacity: it is full when its count is a power of two. */
struct path ast_path_add(struct arena *arena, struct path path, struct name part)
{
    if ((path.count & (path.count - 1)) == 0) {
        struct name *parts = ARENA_ARRAY(arena, struct name, path.count * 2);
        memcpy(parts, path.parts, path.count * sizeof *parts);
        path.parts = parts;
    }
    path.parts[path.count++] = part;
    path.span.end = part.span.end;
    return path;
}

struct path ast_no_path(void)
{
    return (struct path){0};
}

/* ---- expressions ---- */

static struct expr *expr_new(struct arena *arena, enum expr_kind kind, struct span span)
{
    struct expr *expr = ARENA_NEW(arena, struct expr);
    expr->kind = kind;
    expr->span = span;
    return expr;
}

struct expr *ast_number(struct arena *arena, struct number_text number, const char *unit, struct span span,
                        struct span unit_span)
{
    struct expr *expr = expr_new(arena, EXPR_NUMBER, span);
    expr->number.digits = number.digits;
    expr->number.count = number.count;
    expr->number.unit = unit;
    if (unit != NULL)
        expr->number.unit_span = unit_span;
    return expr;
}

struct expr *ast_reference(struct arena *arena, struct path path, struct span span)
{
    if (path.count == 1 && path.parts[0].quoted) {
        struct expr *expr = expr_new(arena, EXPR_STRING, span);
        expr->string.text = path.parts[0].text;
        return expr;
    }
    struct expr *expr = expr_new(arena, EXPR_PATH, span);
    expr->path = path;
    return expr;
}

struct expr *ast_call(struct arena *arena, struct name function, struct expr_list *arguments,
                      struct span span)
{
    struct expr *expr = expr_new(arena, EXPR_CALL, span);
    expr->call.function = function;
    expr->call.arguments = arguments;
    return expr;
}

struct expr *ast_unary(struct arena *arena, enum expr_op op, struct expr *right, struct span span,
                       struct span op_span)
{
    struct expr *expr = expr_new(arena, EXPR_UNARY, span);
    expr->operation.op = op;
    expr->operation.op_span = op_span;
    expr->operation.right = right;
    return expr;
}

struct expr *ast_binary(struct arena *arena, enum expr_op op, struct expr *left, struct expr *right,
                        struct span span, struct span op_span)
{
    struct expr *expr = expr_new(arena, EXPR_BINARY, span);
    expr->operation.op = op;
    expr->operation.op_span = op_span;
    expr->operation.left = left;
    expr->operation.right = right;
    return expr;
}

struct expr *ast_choice(struct arena *arena, struct expr *condition, struct expr *then,
                        struct expr *otherwise, struct span span)
{
    struct expr *expr = expr_new(arena, EXPR_IF, span);
    expr->choice.condition = condition;
    expr->choice.then = then;
    expr->choice.otherwise = otherwise;
    return expr;
}

struct expr *ast_parenthesised(struct expr *inner, struct span span)
{
    inner->span = span;
    return inner;
}

struct expr_list *ast_exprs(struct arena *arena)
{
    return ARENA_NEW(arena, struct expr_list);
}

struct expr_list *ast_exprs_add(struct arena *arena, struct expr_list *list, struct expr *expr)
{
    if (list == NULL)
        list = ast_exprs(arena);
    list->items = grown(arena, list->items, list->count, &list->capacity, sizeof *list->items);
    list->items[list->count++] = expr;
    return list;
}

struct list_item ast_item(struct expr *value, struct span span)
{
    return (struct list_item){.value = value, .span = span};
}

struct list_item ast_range(struct expr *low, struct expr *high, struct expr *step, bool multiply,
                           struct span span)
{
    return (struct list_item){low, high, step, multiply, span};
}

struct item_list *ast_items_add(struct arena *arena, struct item_list *list, struct list_item item)
{
    if (list == NULL)
        list = ARENA_NEW(arena, struct item_list);
    list->items = grown(arena, list->items, list->count, &list->capacity, sizeof *list->items);
    list->items[list->count++] = item;
    return list;
}

/* ---- statements ---- */

struct stmt_list *ast_statements(struct arena *arena)
{
    return ARENA_NEW(arena, struct stmt_list);
}

struct stmt_list *ast_statements_add(struct arena *arena, struct stmt_list *list, struct stmt *stmt)
{
    list->items = grown(arena, list->items, list->count, &list->capacity, sizeof(struct stmt *));
    list->items[list->count++] = stmt;
    return list;
}

struct stmt_list *ast_statements_incomplete(struct stmt_list *list)
{
    list->incomplete = true;
    return list;
}

static struct stmt *stmt_new(struct arena *arena, enum stmt_kind kind, struct span span, struct span head)
{
    struct stmt *stmt = ARENA_NEW(arena, struct stmt);
    stmt->kind = kind;
    stmt->span = span;
    stmt->head = head;
    return stmt;
}

struct stmt *ast_attribute(struct arena *arena, struct path path, struct item_list *values, struct span span,
                           struct span head)
{
    struct stmt *stmt = stmt_new(arena, STMT_ATTRIBUTE, span, head);
    stmt->attribute.path = path;
    stmt->attribute.values = values;
    return stmt;
}

struct stmt *ast_group(struct arena *arena, struct path path, struct stmt_list *body, struct span span,
                       struct span head)
{
    struct stmt *stmt = stmt_new(arena, STMT_GROUP, span, head);
    stmt->group.path = path;
    stmt->group.body = body;
    return stmt;
}

struct stmt *ast_declaration(struct arena *arena, const char *kind, struct name name, struct path base,
                             struct stmt_list *body, struct span span, struct span head)
{
    struct stmt *stmt = stmt_new(arena, STMT_DECLARATION, span, head);
    stmt->declaration.kind = kind;
    stmt->declaration.name = name;
    stmt->declaration.base = base;
    stmt->declaration.body = body;
    stmt->declaration.close = span;
    if (span.end > span.start) /* the brace is the last byte */
        stmt->declaration.close.start = span.end - 1;
    return stmt;
}

struct stmt *ast_let(struct arena *arena, struct name name, struct expr *value, struct span span,
                     struct span head)
{
    struct stmt *stmt = stmt_new(arena, STMT_LET, span, head);
    stmt->let.name = name;
    stmt->let.value = value;
    return stmt;
}

struct stmt *ast_import(struct arena *arena, struct name file, struct name as, struct span span,
                        struct span head)
{
    struct stmt *stmt = stmt_new(arena, STMT_IMPORT, span, head);
    stmt->import.file = file;
    stmt->import.as = as;
    return stmt;
}

struct stmt *ast_list(struct arena *arena, enum stmt_kind kind, struct expr_list *list, struct span span,
                      struct span head)
{
    struct stmt *stmt = stmt_new(arena, kind, span, head);
    stmt->list = list;
    return stmt;
}

struct stmt *ast_check(struct arena *arena, enum stmt_kind kind, struct expr *condition, const char *message,
                       struct span span, struct span head)
{
    struct stmt *stmt = stmt_new(arena, kind, span, head);
    stmt->check.condition = condition;
    stmt->check.message = message;
    return stmt;
}
