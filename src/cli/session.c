/* session.c: a plan from its path to its numbers, and its diagnostics on standard error. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/intern.h"
#include "cli/cli.h"
#include "result/evaluate.h"
#include "sema/plan.h"
#include "source/diag.h"
#include "source/diag_render.h"

bool session_colour(const struct cli *cli, int descriptor)
{
    const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (cli->colour != COLOUR_AUTO)
        return cli->colour == COLOUR_ALWAYS;
    return !(no_colour && *no_colour) && isatty(descriptor) && !(terminal && strcmp(terminal, "dumb") == 0);
}

enum exit_status session_diagnose(struct session *session)
{
    struct buffer text = buffer_in(session->cli->arena);
    struct diag_render_options options = {
        .limit = session->cli->max_errors,
        .colour = session_colour(session->cli, STDERR_FILENO),
        .warnings_are_errors = session->cli->werror,
    };
    diags_sort(session->diags);
    diags_render_text(&text, session->diags, session->sources, options);
    const char *bytes = buffer_string(&text);
    size_t left = text.length;
    while (left) {
        ssize_t written = write(STDERR_FILENO, bytes, left);
        if (written <= 0)
            break; /* nowhere to complain about it */
        bytes += written;
        left -= (size_t)written;
    }
    bool bad = diags_errors(session->diags) || (session->cli->werror && diags_warnings(session->diags));
    return bad ? EXIT_PLAN : EXIT_FINE;
}

enum exit_status session_open(struct session *session, struct cli *cli, const char *path)
{
    const char *unreadable;
    struct plan_options options = {
        .include_dirs = cli->include_dirs.items,
        .include_count = cli->include_dirs.count,
        .overrides = cli->overrides.items,
        .override_count = cli->overrides.count,
    };
    session->cli = cli;
    session->sources = sources_new(cli->arena);
    session->diags = diags_new(cli->arena);
    session->plan = plan_load(cli->arena, strings_new(cli->arena), session->sources, session->diags, path,
                              options, &unreadable);
    if (unreadable) {
        cli_complain("cannot read %s: %s", path, unreadable);
        return EXIT_FILE;
    }
    session->evaluator = evaluator_new(session->plan);
    plan_check(session->plan);
    evaluate_all(session->evaluator);
    return EXIT_FINE;
}
