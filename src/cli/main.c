/* main.c: which command, and its exit status. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "cli/cli.h"

#ifndef PERFC_VERSION
#define PERFC_VERSION "unknown"
#endif

static const struct command {
    const char *name;
    enum command_id id;
    enum exit_status (*run)(struct cli *cli); /* NULL: not in this version */
} commands[] = {
    {"check", COMMAND_CHECK, command_check},
    {"list", COMMAND_LIST, command_list},
    {"explain", COMMAND_EXPLAIN, command_explain},
    {"diff", COMMAND_DIFF, command_diff},
    {"import", COMMAND_IMPORT, command_import},
    {"fmt", COMMAND_ANY, NULL},
    {"lsp", COMMAND_ANY, NULL},
    {"calibrate", COMMAND_CALIBRATE, command_calibrate},
};

static const struct command report = {"", COMMAND_REPORT, command_report};

void cli_complain(const char *format, ...)
{
    struct arena *arena = arena_new();
    va_list arguments;
    va_start(arguments, format);
    output_error(arena, arena_printf(arena, "perfc: %s\n", arena_vprintf(arena, format, arguments)));
    va_end(arguments);
    arena_free(arena);
}

static const struct command *command_find(const char *name)
{
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static enum exit_status print_help(struct cli *cli)
{
    struct buffer text = buffer_in(cli->arena);
    help_write(&text);
    return output_standard(&text);
}

static enum exit_status print_version(struct cli *cli)
{
    struct buffer text = buffer_in(cli->arena);
    buffer_text(&text, "perfc " PERFC_VERSION "\n");
    return output_standard(&text);
}

/* The first operand may be a command; a plan of that name is written `./check`. */
static const struct command *take_command(struct cli *cli)
{
    const struct command *command = cli->operands.count ? command_find(cli->operands.items[0]) : NULL;
    if (!command)
        return &report;
    cli->operands.items++;
    cli->operands.count--;
    cli->operands.capacity--;
    return command;
}

static enum exit_status run(struct cli *cli, int count, char *const *arguments)
{
    /* What is to come says so whatever options it will have. */
    const struct command *first = count > 0 ? command_find(arguments[0]) : NULL;
    if (first && !first->run) {
        cli_complain("`%s` is not supported in this version", first->name);
        return EXIT_USAGE;
    }
    if (!cli_parse(cli, count, arguments))
        return EXIT_USAGE;
    if (cli->help)
        return print_help(cli);
    if (cli->version)
        return print_version(cli);
    const struct command *command = take_command(cli);
    if (!command->run) {
        cli_complain("`%s` is not supported in this version", command->name);
        return EXIT_USAGE;
    }
    return options_belong(cli, command->id) ? command->run(cli) : EXIT_USAGE;
}

int main(int count, char **arguments)
{
    struct arena *arena = arena_new();
    struct cli cli = {.arena = arena, .max_errors = 20};
    enum exit_status status = run(&cli, count > 0 ? count - 1 : 0, arguments + (count > 0));
    arena_free(arena);
    return (int)status;
}
