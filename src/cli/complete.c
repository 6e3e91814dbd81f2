/* complete.c: what may stand next on a command line, from the tables of commands, options and quantities, and
 * from the plan that it names. */
#include "cli/complete.h"

#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "cli/command_line.h"
#include "result/quantity.h"
#include "sema/plan.h"
#include "source/diag.h"

/* A command line up to the word that is being written. */
struct line {
    struct cli *cli;
    struct buffer *out;
    const struct command_row *command;
    const char *plan; /* the first operand of the command, or NULL */
    size_t operands;  /* of the command, before the current word */
    const char *current;
    const char *lead; /* what stands before it in its word: "--format=" */
};

/* Whether the word may become this one. */
static bool offer(struct line *line, const char *word, const char *meaning)
{
    if (strncmp(word, line->current, strlen(line->current)) != 0)
        return false;
    buffer_printf(line->out, "%s%s%s%s\n", line->lead, word, meaning ? "\t" : "", meaning ? meaning : "");
    return true;
}

static void offer_words(struct line *line, enum place place)
{
    const char *const *words = command_line_words(line->cli->arena, place);
    for (size_t i = 0; words && words[i]; i++)
        offer(line, words[i], NULL);
}

static void offer_commands(struct line *line)
{
    size_t count;
    const struct command_row *rows = command_rows(&count);
    for (size_t i = 0; i < count; i++)
        if (rows[i].run && *rows[i].name)
            offer(line, rows[i].name, rows[i].forms[0].summary);
}

static void offer_options(struct line *line)
{
    size_t count;
    const struct option_row *rows = option_rows(&count);
    for (size_t i = 0; i < count; i++)
        if (rows[i].commands & (unsigned)line->command->id)
            offer(line, arena_printf(line->cli->arena, "--%s", rows[i].name), rows[i].doc);
}

static void offer_codes(struct line *line)
{
    for (int i = 0; i < DIAG_CODE_COUNT; i++) {
        const struct diag_info *info = diag_info((enum diag_code)i);
        offer(line, info->code, info->title);
    }
}

/* ---- what a plan declares --------------------------------------------------------------------------- */

static void offer_quantities(struct line *line, const struct decl *decl, const char *prefix)
{
    enum quantity_scope scope;
    for (int i = 0; quantity_scope_of(decl->kind, &scope) && i < QUANTITY_COUNT; i++) {
        const struct quantity_info *info = quantity_info((enum quantity)i);
        if (info->scope == scope)
            offer(line, arena_printf(line->cli->arena, "%s%s", prefix, info->name), info->doc);
    }
}

static void offer_attributes(struct line *line, const struct decl *decl, const char *prefix)
{
    for (int i = 0; i < ATTR_COUNT; i++) {
        const struct attribute_info *info = attribute_info((enum attribute)i);
        if (info->scope & (1u << decl->kind))
            offer(line, arena_printf(line->cli->arena, "%s%s=", prefix, info->name), info->doc);
    }
}

/* First the names of declarations, each with its dot, then the members of the one that stands there. */
static void offer_members(struct line *line, bool quantities)
{
    struct session session;
    enum quantity_scope scope;
    bool names = false;
    if (!line->plan || session_load(&session, line->cli, line->plan) != EXIT_FINE)
        return;
    const struct plan_view *view = plan_view(session.plan);
    for (size_t i = 0; i < view->declarations.count; i++) {
        const struct decl *decl = view->declarations.items[i];
        if (!decl->name || (quantities && !quantity_scope_of(decl->kind, &scope)))
            continue;
        const char *prefix = arena_printf(line->cli->arena, "%s.", decl->name);
        if (strncmp(line->current, prefix, strlen(prefix)) != 0) {
            names = offer(line, prefix, kind_name(decl->kind)) || names;
        } else if (quantities) {
            offer_quantities(line, decl, prefix);
        } else {
            offer_attributes(line, decl, prefix);
        }
    }
    if (names || !quantities)
        buffer_text(line->out, ":nospace\n");
}

/* Of any declaration: both sides of a comparison have them. */
static void offer_thresholds(struct line *line)
{
    for (int i = 0; i < QUANTITY_COUNT; i++)
        offer(line, quantity_info((enum quantity)i)->name, quantity_info((enum quantity)i)->doc);
    buffer_text(line->out, ":nospace\n");
}

/* ---- places ----------------------------------------------------------------------------------------- */

static void offer_place(struct line *line, enum place place)
{
    switch (place) {
    case PLACE_NOTHING:
    case PLACE_TEXT: return;
    case PLACE_FILE: buffer_text(line->out, ":files\n"); return;
    case PLACE_DIRECTORY: buffer_text(line->out, ":directories\n"); return;
    case PLACE_COMMAND: offer_commands(line); return;
    case PLACE_PLAN_OR_COMMAND:
        offer_commands(line);
        buffer_text(line->out, ":files\n");
        return;
    case PLACE_PLAN_OR_CODE:
        if (*line->current)
            offer_codes(line);
        buffer_text(line->out, ":files\n");
        return;
    case PLACE_FIGURE: offer_members(line, true); return;
    case PLACE_SETTING: offer_members(line, false); return;
    case PLACE_THRESHOLD: offer_thresholds(line); return;
    default: offer_words(line, place); return;
    }
}

static void read_operand(struct line *line, const char *word)
{
    const struct command_row *command =
        line->operands == 0 && !*line->command->name ? command_find(word) : NULL;
    if (command && command->run && *command->name) {
        line->command = command;
        return;
    }
    if (line->operands++ == 0)
        line->plan = strcmp(word, "-") == 0 ? NULL : word;
}

/* Reads all words but the last. Returns the option whose value the last one is, or NULL. */
static const struct option_row *read_words(struct line *line, const char *const *words, size_t count,
                                           bool *operands_only)
{
    for (size_t i = 0; i + 1 < count; i++) {
        const char *value;
        if (*operands_only || words[i][0] != '-' || words[i][1] == '\0') {
            read_operand(line, words[i]);
            continue;
        }
        *operands_only = strcmp(words[i], "--") == 0;
        const struct option_row *option = option_match(words[i], &value);
        if (!option || !option->value || value)
            continue;
        if (++i + 1 == count)
            return option;
    }
    return NULL;
}

void complete_words(struct cli *cli, const char *const *words, size_t count, struct buffer *out)
{
    struct line line = {
        .cli = cli, .out = out, .command = command_find(""), .current = words[count - 1], .lead = ""};
    bool operands_only = false;
    const struct option_row *option = read_words(&line, words, count, &operands_only);
    const char *value = NULL;
    if (!option && !operands_only && strncmp(line.current, "--", 2) == 0 && strchr(line.current, '=')) {
        option = option_match(line.current, &value);
        if (!option || !option->value)
            return;
        line.lead = arena_strndup(cli->arena, line.current, (size_t)(value - line.current));
        line.current = value;
    }
    if (option)
        offer_place(&line, option->place);
    else if (!operands_only && line.current[0] == '-')
        offer_options(&line);
    else if (line.operands < sizeof line.command->operands / sizeof line.command->operands[0])
        offer_place(&line, line.command->operands[line.operands]);
}
