/* main.c: which command, and its exit status. */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "cli/command_line.h"

#ifndef PERFC_VERSION
#define PERFC_VERSION "unknown"
#endif

void cli_complain(const char *format, ...)
{
    struct arena *arena = arena_new();
    va_list arguments;
    va_start(arguments, format);
    output_error(arena, arena_printf(arena, "perfc: %s\n", arena_vprintf(arena, format, arguments)));
    va_end(arguments);
    arena_free(arena);
}

static enum exit_status print_version(struct cli *cli)
{
    struct buffer text = buffer_in(cli->arena);
    buffer_text(&text, "perfc " PERFC_VERSION "\n");
    return output_standard(&text);
}

/* The first operand may be a command; a plan of that name is written `./check`. */
static const struct command_row *take_command(struct cli *cli)
{
    const char *name = cli->operands.count ? cli->operands.items[0] : "";
    const struct command_row *command = command_find(name);
    if (!command || !*name)
        return command_find("");
    cli->operands.items++;
    cli->operands.count--;
    cli->operands.capacity--;
    return command;
}

static enum exit_status refuse(const struct command_row *command)
{
    cli_complain("`%s` is not supported in this version", command->name);
    return EXIT_USAGE;
}

static enum exit_status run(struct cli *cli, int count, char *const *arguments)
{
    /* What is to come says so whatever options it will have. */
    const struct command_row *first = count > 0 ? command_find(arguments[0]) : NULL;
    if (first && !first->run)
        return refuse(first);
    if (!cli_parse(cli, count, arguments))
        return EXIT_USAGE;
    if (cli->version)
        return print_version(cli);
    const struct command_row *command = take_command(cli);
    if (!command->run)
        return refuse(command);
    if (cli->help)
        return help_print(cli, command);
    return options_belong(cli, command->id) ? command->run(cli) : EXIT_USAGE;
}

int main(int count, char **arguments)
{
    /* A limit on the size of files (ulimit -f) is an error of write(), with a message, and not the end. */
    signal(SIGXFSZ, SIG_IGN);
    struct arena *arena = arena_new();
    struct cli cli = {.arena = arena, .max_errors = 20};
    enum exit_status status = run(&cli, count > 0 ? count - 1 : 0, arguments + (count > 0));
    arena_free(arena);
    return (int)status;
}
