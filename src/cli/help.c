/* help.c: what --help prints, of everything and of one command. */
#include <string.h>

#include "backend/backend.h"
#include "base/buffer.h"
#include "cli/command_line.h"
#include "source/suggest.h"

static void write_forms(struct buffer *out, const struct command_row *row)
{
    enum { FORMS = sizeof row->forms / sizeof row->forms[0] };
    for (size_t i = 0; i < FORMS && row->forms[i].operands; i++) {
        struct buffer form = buffer_in(out->arena);
        buffer_printf(&form, "perfc %s%s%s", row->name, *row->name ? " " : "", row->forms[i].operands);
        buffer_printf(out, "  %-26s  %s\n", buffer_string(&form), row->forms[i].summary);
    }
}

static void write_options(struct buffer *out, unsigned commands)
{
    size_t count;
    const struct option_row *rows = option_rows(&count);
    for (size_t i = 0; i < count; i++) {
        struct buffer name = buffer_in(out->arena);
        if (!(rows[i].commands & commands))
            continue;
        if (rows[i].letter)
            buffer_printf(&name, "-%c, ", rows[i].letter);
        else
            buffer_text(&name, "    ");
        buffer_printf(&name, "--%s%s%s", rows[i].name, rows[i].value ? " " : "",
                      rows[i].value ? rows[i].value : "");
        buffer_printf(out, "  %-28s  %s\n", buffer_string(&name), rows[i].doc);
    }
}

static void write_formats(struct buffer *out)
{
    size_t count;
    const struct backend *all = backends(&count);
    buffer_text(out, "\nFormats:\n");
    for (size_t i = 0; i < count; i++)
        buffer_printf(out, "  %-10s %-7s %s\n", all[i].name, all[i].suffix, all[i].doc);
}

static const char statuses[] =
    "\n"
    "Exit status: 0 all is well, 1 the plan has errors, 2 bad usage, 3 a file could not be read or\n"
    "written, 5 an assertion failed or a threshold of a diff was exceeded.\n";

static void write_all(struct buffer *out)
{
    size_t count;
    const struct command_row *rows = command_rows(&count);
    buffer_text(out, "perfc: what hardware will do with a language model, worked out from a plan\n\n");
    for (size_t i = 0; i < count; i++)
        write_forms(out, &rows[i]);
    buffer_text(out, "\n`-` as PLAN reads standard input. `perfc help COMMAND` tells of one command.\n\n");
    write_options(out, COMMAND_ANY);
    write_formats(out);
    buffer_text(out, statuses);
}

static void write_command(struct buffer *out, const struct command_row *row)
{
    write_forms(out, row);
    buffer_byte(out, '\n');
    write_options(out, (unsigned)row->id);
    buffer_text(out, statuses);
}

enum exit_status help_print(struct cli *cli, const struct command_row *row)
{
    struct buffer text = buffer_in(cli->arena);
    if (row && *row->name)
        write_command(&text, row);
    else
        write_all(&text);
    return output_standard(&text);
}

bool help_suggest(struct cli *cli, const char *name)
{
    struct suggestion suggestion = suggestion_for(name);
    const char *const *words = command_line_words(cli->arena, PLACE_COMMAND);
    for (size_t i = 0; words[i]; i++)
        suggestion_consider(&suggestion, words[i]);
    const char *near = suggestion_result(&suggestion);
    if (near)
        cli_complain("there is no command `%s`; did you mean `%s`?", name, near);
    return near != NULL;
}

enum exit_status command_help(struct cli *cli)
{
    if (cli->operands.count > 1) {
        cli_complain("`help` takes one command");
        return EXIT_USAGE;
    }
    if (cli->operands.count == 0)
        return help_print(cli, NULL);
    const char *name = cli->operands.items[0];
    const struct command_row *row = command_find(name);
    if (row && row->run)
        return help_print(cli, row);
    if (!help_suggest(cli, name))
        cli_complain("there is no command `%s`; there are %s", name,
                     command_line_choice(cli->arena, PLACE_COMMAND));
    return EXIT_USAGE;
}
