/* report_output.c: a report to the places and in the formats that the command line names. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "backend/backend.h"
#include "base/buffer.h"
#include "cli/cli.h"
#include "source/source.h"

bool output_utf8(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *value = getenv(variables[i]);
        if (value && *value)
            return strstr(value, "UTF-8") || strstr(value, "utf8") || strstr(value, "UTF8") ||
                   strstr(value, "utf-8");
    }
    return false;
}

/* Files and pipes get the same bytes everywhere; only a terminal is asked what it can show. */
static struct backend_options options_for(const struct cli *cli, bool to_terminal)
{
    struct backend_options options = {
        .width = cli->width,
        .unicode = !to_terminal || output_utf8(),
        .tag = cli->tag,
        .max_bytes = cli->max_bytes,
    };
    struct winsize size;
    options.colour = to_terminal ? session_colour(cli, STDOUT_FILENO) : cli->colour == COLOUR_ALWAYS;
    if (!options.width && to_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        options.width = size.ws_col < 60 ? 60 : size.ws_col > 120 ? 120 : size.ws_col;
    return options;
}

static const struct backend *backend_for(const struct cli *cli, const char *path)
{
    if (cli->format)
        return backend_by_name(cli->format);
    return output_is_standard(path) ? backend_by_name("text") : backend_by_path(path);
}

enum exit_status outputs_check(struct cli *cli, bool comparing)
{
    if (!cli->outputs.count)
        *VEC_PUSH(cli->arena, cli->outputs) = "-";
    bool files = false;
    for (size_t i = 0; i < cli->outputs.count; i++) {
        const char *path = cli->outputs.items[i];
        const struct backend *backend = backend_for(cli, path);
        files = files || !output_is_standard(path);
        if (!backend) {
            cli_complain("no format has the suffix of `%s`; name one with -f", path);
            return EXIT_USAGE;
        }
        if (comparing && !backend->compares) {
            cli_complain("a comparison cannot be written as %s", backend->name);
            return EXIT_USAGE;
        }
        for (size_t j = 0; j < i; j++)
            if (strcmp(cli->outputs.items[j], path) == 0) {
                cli_complain("two reports cannot both be written to %s", path);
                return EXIT_USAGE;
            }
        if (cli->deps && strcmp(cli->deps, path) == 0) {
            cli_complain("a report and --deps cannot both be written to %s", path);
            return EXIT_USAGE;
        }
    }
    if (cli->deps && !files) {
        cli_complain("--deps needs the name of a report: -o FILE");
        return EXIT_USAGE;
    }
    return EXIT_FINE;
}

enum exit_status outputs_protect(const struct cli *cli, const struct sources *sources)
{
    for (size_t i = 0; i < cli->outputs.count + (cli->deps != NULL); i++) {
        const char *output = i < cli->outputs.count ? cli->outputs.items[i] : cli->deps;
        const char *input = output_is_input(sources, output);
        if (input) {
            cli_complain("%s is an input of this plan (%s); it is left as it is", output, input);
            return EXIT_USAGE;
        }
    }
    return EXIT_FINE;
}

bool outputs_need_quantities(const struct cli *cli)
{
    for (size_t i = 0; i < cli->outputs.count; i++)
        if (backend_for(cli, cli->outputs.items[i])->quantities)
            return true;
    return false;
}

static enum exit_status write_output(const struct cli *cli, const struct report *report, const char *path)
{
    const struct backend *backend = backend_for(cli, path);
    bool standard = output_is_standard(path);
    enum { USUAL_PAGE = 200 << 10 };
    struct buffer text = buffer_in(cli->arena);
    buffer_expect(&text, USUAL_PAGE);
    if (!backend->emit(cli->arena, report, options_for(cli, standard && isatty(STDOUT_FILENO)), &text)) {
        cli_complain("the %s report could not be made", backend->name);
        return EXIT_FILE;
    }
    return output_write(cli->arena, path, &text);
}

enum exit_status outputs_write(const struct cli *cli, const struct report *report)
{
    enum exit_status status = EXIT_FINE;
    for (size_t i = 0; i < cli->outputs.count; i++) {
        enum exit_status written = write_output(cli, report, cli->outputs.items[i]);
        if (status == EXIT_FINE)
            status = written;
    }
    return status;
}

/* ---- --deps */

/* A name as make reads it in a rule (GNU make manual, "Rule Syntax"); line ends cannot be written at all. */
static void add_make_name(struct buffer *out, const char *name)
{
    for (; *name; name++) {
        if (*name == ' ' || *name == '#' || *name == ':' || *name == '\\')
            buffer_byte(out, '\\');
        if (*name == '$')
            buffer_byte(out, '$');
        buffer_byte(out, *name);
    }
}

static bool is_dependency(const struct source *source)
{
    return !source->embedded && strcmp(source->path, "--set") != 0 && strcmp(source->path, "<stdin>") != 0 &&
           !strpbrk(source->path, "\r\n");
}

enum exit_status outputs_write_deps(const struct cli *cli, const struct sources *const *sources, size_t count)
{
    struct buffer rule = buffer_in(cli->arena), phony = buffer_in(cli->arena);
    if (!cli->deps)
        return EXIT_FINE;
    for (size_t i = 0; i < cli->outputs.count; i++)
        if (!output_is_standard(cli->outputs.items[i])) {
            buffer_text(&rule, rule.length > 0 ? " " : "");
            add_make_name(&rule, cli->outputs.items[i]);
        }
    buffer_byte(&rule, ':');
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; sources[i] && j < sources_count(sources[i]); j++) {
            const struct source *source = sources_get(sources[i], (uint32_t)j);
            if (!is_dependency(source))
                continue;
            buffer_text(&rule, " \\\n  ");
            add_make_name(&rule, source->path);
            /* A rule of its own, so that make goes on when the file is gone (as gcc -MP). */
            buffer_byte(&phony, '\n');
            add_make_name(&phony, source->path);
            buffer_text(&phony, ":\n");
        }
    buffer_byte(&rule, '\n');
    buffer_text(&rule, buffer_string(&phony));
    return output_write(cli->arena, cli->deps, &rule);
}
