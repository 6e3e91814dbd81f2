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
    enum exit_status (*run)(struct cli *cli); /* NULL: not in this version */
} commands[] = {
    {"check", command_check},
    {"list", command_list},
    {"explain", command_explain},
    {"diff", command_diff},
    {"fmt", NULL},
    {"import", command_import},
    {"lsp", NULL},
    {"calibrate", NULL},
};

void cli_complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("perfc: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
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

/* An option that does nothing would promise what nobody does. */
static bool options_apply(const struct cli *cli, const struct command *command)
{
    bool comparing = command && command->run == command_diff;
    if (cli->fail_if.count && !comparing) {
        cli_complain("--fail-if belongs to `perfc diff OLD NEW`; a limit of one plan is an `assert` in it");
        return false;
    }
    if (cli->deps && command && !comparing) {
        cli_complain("--deps belongs to commands that write reports");
        return false;
    }
    return true;
}

static enum exit_status run(struct cli *cli, int count, char *const *arguments)
{
    const struct command *command = count > 0 ? command_find(arguments[0]) : NULL;
    if (command && !command->run) {
        cli_complain("`%s` is not supported in this version", command->name);
        return EXIT_USAGE;
    }
    int skip = command != NULL;
    if (!cli_parse(cli, count - skip, arguments + skip))
        return EXIT_USAGE;
    if (cli->help)
        return print_help(cli);
    if (cli->version)
        return print_version(cli);
    if (!options_apply(cli, command))
        return EXIT_USAGE;
    return command ? command->run(cli) : command_report(cli);
}

int main(int count, char **arguments)
{
    struct arena *arena = arena_new();
    struct cli cli = {.arena = arena, .max_errors = 20};
    enum exit_status status = run(&cli, count > 0 ? count - 1 : 0, arguments + (count > 0));
    arena_free(arena);
    return (int)status;
}
