/* command_explain.c: what a diagnostic means, and how a figure is made. */
#include <string.h>
#include <unistd.h>

#include "backend/explain.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/utf8.h"
#include "cli/cli.h"
#include "result/derive.h"
#include "result/evaluate.h"
#include "source/diag.h"

static enum exit_status explain_code(struct cli *cli, const struct diag_info *info)
{
    struct buffer text = buffer_in(cli->arena);
    buffer_printf(&text, "%s %s: %s\n\n", info->code, info->slug, info->title);
    size_t column = 0;
    for (const char *word = info->paragraph; *word;) {
        size_t length = strcspn(word, " ");
        size_t width = utf8_width(word, length);
        if (column && column + 1 + width > 79) {
            buffer_byte(&text, '\n');
            column = 0;
        }
        if (column++)
            buffer_byte(&text, ' ');
        else
            column = 0;
        buffer_add(&text, word, length);
        column += width;
        word += length + (word[length] == ' ');
    }
    buffer_byte(&text, '\n');
    return output_standard(&text);
}

/* The longest part of `text` before a dot that names a model or card of the standard library. */
static struct decl *catalogue_declaration(struct session *session, const char *text, size_t *length)
{
    static const enum kind kinds[] = {KIND_MODEL, KIND_GPU};
    struct decl *found = NULL;
    for (const char *dot = strchr(text, '.'); dot; dot = strchr(dot + 1, '.'))
        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
            struct decl *decl = plan_find(session->plan, kinds[i],
                                          arena_strndup(session->cli->arena, text, (size_t)(dot - text)));
            if (decl) {
                found = decl;
                *length = (size_t)(dot - text);
            }
        }
    return found;
}

/* The declaration whose name begins `text` and is followed by a dot; *rest is what follows. */
static struct decl *named_declaration(struct session *session, const char *text, const char **rest)
{
    const struct plan_view *view = plan_view(session->plan);
    struct decl *found = NULL;
    size_t longest = 0;
    for (size_t i = 0; i < view->declarations.count; i++) {
        struct decl *decl = view->declarations.items[i];
        size_t length = decl->name ? strlen(decl->name) : 0;
        enum quantity_scope scope;
        if (length > longest && quantity_scope_of(decl->kind, &scope) &&
            strncmp(text, decl->name, length) == 0 && text[length] == '.') {
            found = decl;
            longest = length;
        }
    }
    if (!found)
        found = catalogue_declaration(session, text, &longest);
    *rest = text + longest + (found != NULL);
    return found;
}

/* The figure that a name means in a session; a message when there is none. */
static bool find_figure(struct session *session, const char *name, struct decl **decl,
                        enum quantity *quantity)
{
    const char *rest;
    enum quantity_scope scope = QUANTITY_OF_SCENARIO;
    *decl = named_declaration(session, name, &rest);
    if (!*decl || !quantity_scope_of((*decl)->kind, &scope)) {
        cli_complain("the plan has no scenario, model or gpu that `%s` could belong to", name);
        return false;
    }
    const struct quantity_info *info = quantity_find(scope, rest);
    if (!info) {
        const char *near = quantity_suggest(scope, rest);
        cli_complain("a %s has no quantity `%s`%s%s%s", kind_name((*decl)->kind), rest,
                     near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
        return false;
    }
    *quantity = info->id;
    return true;
}

/* The same figure without what --set says; NULL when the plan does not stand without it. */
static struct derive_node *without_overrides(struct cli *cli, const char *path, const struct decl *decl,
                                             enum quantity quantity)
{
    struct session session;
    size_t overrides = cli->overrides.count;
    cli->overrides.count = 0;
    enum exit_status status = session_open(&session, cli, path);
    cli->overrides.count = overrides;
    if (status != EXIT_FINE || diags_errors(session.diags) > 0)
        return NULL;
    struct decl *same = plan_find(session.plan, decl->kind, decl->name);
    return same ? derive_tree(session.evaluator, same, quantity) : NULL;
}

static enum exit_status explain_quantity(struct cli *cli, const char *path, const char *name)
{
    const struct explain_format *format = explain_format_find(cli->format ? cli->format : "text");
    if (!format) {
        cli_complain("`explain` writes text, md or json, not `%s`", cli->format);
        return EXIT_USAGE;
    }
    struct session session;
    enum exit_status status = session_open(&session, cli, path);
    if (status != EXIT_FINE)
        return status;
    status = session_diagnose(&session);
    if (status != EXIT_FINE)
        return status;
    struct decl *decl;
    enum quantity quantity;
    if (!find_figure(&session, name, &decl, &quantity))
        return EXIT_USAGE;
    struct derive_node *tree = derive_tree(session.evaluator, decl, quantity);
    if (cli->overrides.count > 0) {
        struct derive_node *before = without_overrides(cli, path, decl, quantity);
        if (before)
            derive_compare(cli->arena, tree, before);
    }
    struct buffer text = buffer_in(cli->arena);
    struct explain_options options = {
        .width = cli->width ? cli->width : 100,
        .language = evaluator_language(session.evaluator),
        .unicode =
            !isatty(STDOUT_FILENO) || output_utf8() || evaluator_language(session.evaluator) != LANGUAGE_EN,
    };
    if (!format->emit(cli->arena, &text, tree, options)) {
        cli_complain("out of memory");
        return EXIT_FILE;
    }
    return output_standard(&text);
}

enum exit_status command_explain(struct cli *cli)
{
    size_t count = cli->operands.count;
    if (count == 2)
        return explain_quantity(cli, cli->operands.items[0], cli->operands.items[1]);
    const struct diag_info *info = count == 1 ? diag_info_find(cli->operands.items[0]) : NULL;
    if (info)
        return explain_code(cli, info);
    if (count == 1)
        cli_complain("there is no diagnostic `%s`; a figure is explained with `perfc explain PLAN NAME`",
                     cli->operands.items[0]);
    else
        cli_complain("`explain` takes the code of a diagnostic, or a plan and the name of a figure");
    return EXIT_USAGE;
}
