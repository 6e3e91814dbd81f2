/* command_report.c: `perfc PLAN`, the report in one format or several. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "backend/backend.h"
#include "base/buffer.h"
#include "cli/cli.h"
#include "result/build.h"
#include "sema/plan.h"
#include "source/diag.h"

static bool utf8_terminal(void)
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
    struct backend_options options = {.width = cli->width, .unicode = !to_terminal || utf8_terminal()};
    struct winsize size;
    options.colour = to_terminal ? session_colour(cli, STDOUT_FILENO) : cli->colour == COLOUR_ALWAYS;
    if (!options.width && to_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        options.width = size.ws_col < 60 ? 60 : size.ws_col > 120 ? 120 : size.ws_col;
    return options;
}

static bool is_standard_output(const char *path)
{
    return strcmp(path, "-") == 0;
}

static const struct backend *backend_for(const struct cli *cli, const char *path)
{
    if (cli->format)
        return backend_by_name(cli->format);
    return is_standard_output(path) ? backend_by_name("text") : backend_by_path(path);
}

/* Every output has a format and a file of its own; known before anything is computed or written. */
static enum exit_status check_outputs(const struct cli *cli)
{
    for (size_t i = 0; i < cli->outputs.count; i++) {
        const char *path = cli->outputs.items[i];
        if (!backend_for(cli, path)) {
            cli_complain("no format has the suffix of `%s`; name one with -f", path);
            return EXIT_USAGE;
        }
        for (size_t j = 0; j < i; j++)
            if (strcmp(cli->outputs.items[j], path) == 0) {
                cli_complain("two reports cannot both be written to %s", path);
                return EXIT_USAGE;
            }
    }
    return EXIT_FINE;
}

/* A plan must not be overwritten by its own report. */
static enum exit_status protect_inputs(const struct session *session)
{
    const struct cli *cli = session->cli;
    for (size_t i = 0; i < cli->outputs.count; i++) {
        const char *output = cli->outputs.items[i], *input = output_is_input(session->sources, output);
        if (input) {
            cli_complain("%s is an input of this plan (%s); it is left as it is", output, input);
            return EXIT_USAGE;
        }
    }
    return EXIT_FINE;
}

static struct report_options report_options_for(const struct cli *cli)
{
    struct report_options options = {0};
    for (size_t i = 0; i < cli->outputs.count; i++)
        options.quantities = options.quantities || backend_for(cli, cli->outputs.items[i])->quantities;
    return options;
}

static enum exit_status write_output(struct session *session, const struct report *report, const char *path)
{
    struct cli *cli = session->cli;
    const struct backend *backend = backend_for(cli, path);
    bool standard = is_standard_output(path);
    struct buffer text = buffer_in(cli->arena);
    if (!backend->emit(cli->arena, report, options_for(cli, standard && isatty(STDOUT_FILENO)), &text)) {
        cli_complain("the %s report could not be made", backend->name);
        return EXIT_FILE;
    }
    return standard ? output_standard(&text) : output_file(cli->arena, path, &text);
}

static bool assertions_hold(const struct report *report)
{
    for (size_t i = 0; i < report->assertions.count; i++)
        if (!report->assertions.items[i].holds)
            return false;
    return true;
}

static void warn_without_scenario(struct session *session)
{
    struct span start = {0, 0, 0};
    if (!plan_view(session->plan)->scenarios.count && !diags_errors(session->diags))
        diag_add(session->diags, DIAG_W0609, start,
                 "the plan has no `scenario`, so there is nothing to report");
}

enum exit_status command_report(struct cli *cli)
{
    struct session session;
    if (cli->operands.count != 1) {
        if (cli->operands.count)
            cli_complain("one plan at a time: what is `%s`?", cli->operands.items[1]);
        else
            cli_complain("no plan given; `perfc --help` explains");
        return EXIT_USAGE;
    }
    if (!cli->outputs.count)
        *VEC_PUSH(cli->arena, cli->outputs) = "-";
    enum exit_status status = check_outputs(cli);
    if (status == EXIT_FINE)
        status = session_open(&session, cli, cli->operands.items[0]);
    if (status != EXIT_FINE)
        return status;
    status = protect_inputs(&session);
    if (status != EXIT_FINE)
        return status;
    struct report *report = NULL;
    warn_without_scenario(&session);
    if (diags_errors(session.diags) == 0)
        report = report_build(session.evaluator, report_options_for(cli));
    status = session_diagnose(&session);
    if (status != EXIT_FINE || !report)
        return EXIT_PLAN;
    for (size_t i = 0; i < cli->outputs.count; i++) {
        enum exit_status written = write_output(&session, report, cli->outputs.items[i]);
        if (status == EXIT_FINE)
            status = written;
    }
    return status == EXIT_FINE && !assertions_hold(report) ? EXIT_ASSERTION : status;
}
