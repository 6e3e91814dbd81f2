/* ast_dump.c: the tree as text for tests and for `--dump=ast`: a statement a line, expressions in prefix
 * form. */
#include "base/arena.h"
#include "base/buffer.h"
#include "base/vec.h"
#include "syntax/ast.h"
#include "syntax/ast_text.h"

static void dump_expr(struct buffer *out, const struct expr *expr);

static void dump_operation(struct buffer *out, const struct expr *expr)
{
    VEC(const struct expr *) spine = {0};
    for (; expr->kind == EXPR_BINARY; expr = expr->operation.left) {
        *VEC_PUSH(out->arena, spine) = expr;
        buffer_printf(out, "(%s ", expr_op_text(expr->operation.op));
    }
    dump_expr(out, expr);
    while (spine.count > 0) {
        buffer_byte(out, ' ');
        dump_expr(out, spine.items[--spine.count]->operation.right);
        buffer_byte(out, ')');
    }
}

static void dump_expr(struct buffer *out, const struct expr *expr)
{
    switch (expr->kind) {
    case EXPR_NUMBER: number_write(out, expr); break;
    case EXPR_STRING: string_write(out, expr->string.text); break;
    case EXPR_PATH: path_write(out, &expr->path); break;
    case EXPR_UNARY:
        buffer_printf(out, "(%s ", expr_op_text(expr->operation.op));
        dump_expr(out, expr->operation.right);
        buffer_byte(out, ')');
        break;
    case EXPR_BINARY: dump_operation(out, expr); break;
    case EXPR_CALL:
        buffer_text(out, "(call ");
        name_write(out, &expr->call.function);
        for (size_t i = 0; i < expr->call.arguments->count; i++) {
            buffer_byte(out, ' ');
            dump_expr(out, expr->call.arguments->items[i]);
        }
        buffer_byte(out, ')');
        break;
    case EXPR_IF:
        buffer_text(out, "(if ");
        dump_expr(out, expr->choice.condition);
        buffer_byte(out, ' ');
        dump_expr(out, expr->choice.then);
        buffer_byte(out, ' ');
        dump_expr(out, expr->choice.otherwise);
        buffer_byte(out, ')');
        break;
    }
}

static void dump_items(struct buffer *out, const struct item_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct list_item *item = &list->items[i];
        buffer_text(out, i > 0 ? ", " : " ");
        dump_expr(out, item->value);
        if (item->high != NULL) {
            buffer_text(out, " .. ");
            dump_expr(out, item->high);
        }
        if (item->step != NULL) {
            buffer_text(out, item->multiply ? " step * " : " step ");
            dump_expr(out, item->step);
        }
    }
}

static void dump_references(struct buffer *out, const struct expr_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        buffer_text(out, i > 0 ? ", " : " ");
        dump_expr(out, list->items[i]);
    }
}

static void dump_statements(struct buffer *out, const struct stmt_list *list, size_t depth);

static void dump_declaration(struct buffer *out, const struct stmt *stmt, size_t depth)
{
    buffer_printf(out, " %s", stmt->declaration.kind);
    if (stmt->declaration.name.text != NULL) {
        buffer_byte(out, ' ');
        name_write(out, &stmt->declaration.name);
    }
    if (stmt->declaration.base.count > 0) {
        buffer_text(out, " : ");
        path_write(out, &stmt->declaration.base);
    }
    if (stmt->declaration.hoisted)
        buffer_text(out, " hoisted");
    buffer_byte(out, '\n');
    dump_statements(out, stmt->declaration.body, depth + 1);
}

static const char *const names[] = {
    [STMT_ATTRIBUTE] = "attribute",
    [STMT_GROUP] = "group",
    [STMT_DECLARATION] = "declaration",
    [STMT_LET] = "let",
    [STMT_IMPORT] = "import",
    [STMT_COMPARE] = "compare",
    [STMT_ASSERT] = "assert",
    [STMT_REQUIRE] = "require",
    [STMT_GUARD] = "guard",
    [STMT_SHOW] = "show",
    [STMT_MINIMIZE] = "minimize",
    [STMT_MAXIMIZE] = "maximize",
};

static void dump_statement(struct buffer *out, const struct stmt *stmt, size_t depth)
{
    buffer_repeat(out, "  ", depth);
    buffer_text(out, names[stmt->kind]);
    switch (stmt->kind) {
    case STMT_ATTRIBUTE:
        buffer_byte(out, ' ');
        path_write(out, &stmt->attribute.path);
        buffer_text(out, " =");
        dump_items(out, stmt->attribute.values);
        break;
    case STMT_GROUP:
        buffer_byte(out, ' ');
        path_write(out, &stmt->group.path);
        buffer_byte(out, '\n');
        dump_statements(out, stmt->group.body, depth + 1);
        return;
    case STMT_DECLARATION: dump_declaration(out, stmt, depth); return;
    case STMT_LET:
        buffer_byte(out, ' ');
        name_write(out, &stmt->let.name);
        buffer_text(out, " = ");
        dump_expr(out, stmt->let.value);
        break;
    case STMT_IMPORT:
        buffer_byte(out, ' ');
        string_write(out, stmt->import.file.text);
        if (stmt->import.as.text != NULL) {
            buffer_text(out, " as ");
            name_write(out, &stmt->import.as);
        }
        break;
    case STMT_COMPARE:
    case STMT_SHOW: dump_references(out, stmt->list); break;
    case STMT_ASSERT:
    case STMT_REQUIRE:
    case STMT_GUARD:
    case STMT_MINIMIZE:
    case STMT_MAXIMIZE:
        buffer_byte(out, ' ');
        dump_expr(out, stmt->check.condition);
        if (stmt->check.message != NULL) {
            buffer_byte(out, ' ');
            string_write(out, stmt->check.message);
        }
        break;
    }
    buffer_byte(out, '\n');
}

static void dump_statements(struct buffer *out, const struct stmt_list *list, size_t depth)
{
    for (size_t i = 0; i < list->count; i++)
        dump_statement(out, list->items[i], depth);
}

void ast_dump(struct buffer *out, const struct syntax_tree *tree)
{
    dump_statements(out, tree->statements, 0);
}
