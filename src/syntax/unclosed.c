/* unclosed.c: a missing `}` is noticed at the end of the file, far from its place. What stands inside a block
 * and cannot stand there tells the place: a `scenario` inside a `model` begins where the model should have
 * ended. Inserting the brace there in thought gives back the declarations that were swallowed. */
#include "syntax/unclosed.h"

#include <string.h>

#include "base/arena.h"
#include "syntax/ast_build.h"
#include "syntax/parser.h"

/* A plan nests a few levels; what is deeper or more is no plan, and moving it about would take for ever. */
enum { REPAIR_DEPTH = 8, REPAIRS_MAX = 200 };

/* The first statement that gave a missing brace away, and what it stood in. */
struct clue {
    const struct stmt *container, *misfit;
    unsigned repairs;
};

static struct stmt_list *body_of(const struct stmt *stmt)
{
    if (stmt->kind == STMT_DECLARATION)
        return stmt->declaration.body;
    return stmt->kind == STMT_GROUP ? stmt->group.body : NULL;
}

static bool is_block(const struct stmt *stmt)
{
    return stmt->kind == STMT_DECLARATION && strcmp(stmt->declaration.kind, "block") == 0;
}

static bool is_bare_report(const struct stmt *stmt)
{
    return stmt->kind == STMT_GROUP && stmt->group.path.count == 1 && !stmt->group.path.parts[0].quoted &&
           strcmp(stmt->group.path.parts[0].text, "report") == 0;
}

static bool is_misfit(const struct stmt *stmt, const struct stmt *container)
{
    switch (stmt->kind) {
    case STMT_DECLARATION: return !is_block(stmt) || is_block(container) || container->kind == STMT_GROUP;
    case STMT_GROUP: return is_bare_report(stmt);
    case STMT_LET:
    case STMT_COMPARE:
    case STMT_ASSERT:
    case STMT_GUARD: return true;
    default: return false;
    }
}

/* Inside a block `report { }` read as a group of attributes. */
static struct stmt *as_declaration(struct parser *parser, struct stmt *stmt)
{
    if (is_bare_report(stmt))
        stmt = ast_declaration(parser->arena, stmt->group.path.parts[0].text, ast_no_name(), ast_no_path(),
                               stmt->group.body, stmt->span, stmt->head);
    if (stmt->kind == STMT_DECLARATION)
        stmt->declaration.hoisted = true;
    return stmt;
}

/* Moves the statements of `body` from `first` on into `list`, after position `at`. */
static void move_out(struct parser *parser, struct stmt_list *list, size_t at, struct stmt_list *body,
                     size_t first)
{
    size_t moved = body->count - first, old = list->count;
    for (size_t i = 0; i < moved; i++)
        ast_statements_add(parser->arena, list, NULL);
    memmove(list->items + at + 1 + moved, list->items + at + 1, (old - at - 1) * sizeof *list->items);
    for (size_t i = 0; i < moved; i++)
        list->items[at + 1 + i] = as_declaration(parser, body->items[first + i]);
    body->count = first;
}

/* Ends the statement at `at` before its first misfit, innermost blocks first. */
static void repair(struct parser *parser, struct stmt_list *list, size_t at, unsigned depth,
                   struct clue *clue)
{
    struct stmt *container = list->items[at];
    struct stmt_list *body = body_of(container);
    if (body == NULL || depth == REPAIR_DEPTH)
        return;
    for (size_t i = 0; i < body->count; i++)
        repair(parser, body, i, depth + 1, clue);
    for (size_t i = 0; i < body->count; i++) {
        const struct stmt *stmt = body->items[i];
        if (!is_misfit(stmt, container))
            continue;
        if (clue->repairs++ >= REPAIRS_MAX)
            return;
        if (clue->misfit == NULL || stmt->span.start < clue->misfit->span.start)
            clue->container = container, clue->misfit = stmt;
        move_out(parser, list, at, body, i);
        return;
    }
}

/* Closed by the end of the file. */
static bool is_open(const struct stmt *stmt, uint32_t brace)
{
    return stmt->span.start <= brace && brace < stmt->span.end && body_of(stmt) != NULL;
}

static struct span heading(const struct stmt *stmt)
{
    struct span span = stmt->head;
    if (stmt->kind == STMT_DECLARATION && stmt->declaration.name.text != NULL)
        span.end = stmt->declaration.name.span.end;
    return span;
}

static const char *text_at(const struct parser *parser, struct span span)
{
    return arena_strndup(parser->arena, parser->source->text + span.start, span.end - span.start);
}

void unclosed_repair(struct parser *parser)
{
    struct token_stream *stream = &parser->stream;
    if (stream->unclosed_count == 0)
        return;
    struct clue clue = {0};
    struct stmt_list *statements = parser->statements;
    for (size_t i = 0; i < statements->count; i++)
        if (is_open(statements->items[i], stream->unclosed[0].span.start)) {
            repair(parser, statements, i, 0, &clue);
            break;
        }
    if (stream->end_excused)
        return;
    if (clue.misfit == NULL) {
        struct diag *diag =
            parser_error(parser, DIAG_E0117, stream->unclosed[stream->unclosed_count - 1].span,
                         "this `{` is never closed");
        uint32_t end = (uint32_t)parser->source->length;
        diag_fix(parser->diags, diag, parser_span(parser, end, end), "}", "a `}` is missing");
        return;
    }
    struct span place = heading(clue.container), next = heading(clue.misfit);
    struct diag *diag =
        parser_error(parser, DIAG_E0117, place, "the block of `%s` is never closed", text_at(parser, place));
    next.end = next.start;
    diag_fix(parser->diags, diag, next, "}", "a `}` is missing before `%s`",
             text_at(parser, heading(clue.misfit)));
}
