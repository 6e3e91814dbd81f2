/* session.c: a plan from its path to its numbers, and its diagnostics on standard error. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/intern.h"
#include "cli/cli.h"
#include "result/evaluate.h"
#include "sema/plan.h"
#include "source/diag.h"
#include "source/diag_render.h"

#ifndef PERFC_VERSION
#define PERFC_VERSION "unknown"
#endif

bool session_colour(const struct cli *cli, int descriptor)
{
    const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (cli->colour != COLOUR_AUTO)
        return cli->colour == COLOUR_ALWAYS;
    return !(no_colour && *no_colour) && isatty(descriptor) && !(terminal && strcmp(terminal, "dumb") == 0);
}

/* "proposal.tpot <= 40 ms (48.3 ms against 40.0 ms, 21 % above): chat must feel instant". */
static const char *failure_text(struct arena *arena, const struct report_assertion *assertion)
{
    const char *detail = assertion->why ? assertion->why : assertion->margin;
    if (!assertion->why && assertion->left && assertion->right)
        detail = arena_printf(arena, "%s against %s%s%s", assertion->left, assertion->right,
                              detail ? ", " : "", detail ? detail : "");
    return arena_printf(arena, "%s%s%s%s%s%s", assertion->text, detail ? " (" : "", detail ? detail : "",
                        detail ? ")" : "", assertion->message ? ": " : "",
                        assertion->message ? assertion->message : "");
}

void session_fail(struct session *session, const char *rule, const struct check *check,
                  const struct report_assertion *assertion)
{
    struct span nowhere = {SPAN_NOWHERE, 0, 0};
    *VEC_PUSH(session->cli->arena, session->failures) = (struct diag_failure){
        rule, check ? check->span : nowhere, failure_text(session->cli->arena, assertion)};
}

void session_fail_assertions(struct session *session, const struct report *report)
{
    const struct plan_view *view = plan_view(session->plan);
    for (size_t i = 0; i < report->assertions.count && i < view->assertions.count; i++)
        if (!report->assertions.items[i].holds)
            session_fail(session, "assertion", &view->assertions.items[i], &report->assertions.items[i]);
}

static void (*const renderers[])(struct buffer *out, const struct diags *diags, const struct sources *sources,
                                 struct diag_render_options options) = {
    [DIAGNOSTICS_TEXT] = diags_render_text,     [DIAGNOSTICS_JSON] = diags_render_json,
    [DIAGNOSTICS_SARIF] = diags_render_sarif,   [DIAGNOSTICS_GITHUB] = diags_render_github,
    [DIAGNOSTICS_GITLAB] = diags_render_gitlab,
};

enum exit_status session_diagnose(struct session *session)
{
    struct buffer text = buffer_in(session->cli->arena);
    struct diag_render_options options = {
        .limit = session->cli->max_errors,
        .colour = session_colour(session->cli, STDERR_FILENO),
        .warnings_are_errors = session->cli->werror,
        .failures = session->failures.items,
        .failure_count = session->failures.count,
        .version = PERFC_VERSION,
    };
    diags_sort(session->diags);
    renderers[session->cli->diagnostics](&text, session->diags, session->sources, options);
    output_error(session->cli->arena, buffer_string(&text));
    bool bad = diags_errors(session->diags) || (session->cli->werror && diags_warnings(session->diags));
    return bad ? EXIT_PLAN : EXIT_FINE;
}

enum exit_status session_load(struct session *session, struct cli *cli, const char *path)
{
    const char *unreadable;
    struct plan_options options = {
        .include_dirs = cli->include_dirs.items,
        .include_count = cli->include_dirs.count,
        .overrides = cli->overrides.items,
        .override_count = cli->overrides.count,
    };
    *session = (struct session){.cli = cli};
    session->sources = sources_new(cli->arena);
    session->diags = diags_new(cli->arena);
    session->plan = plan_load(cli->arena, strings_new(cli->arena), session->sources, session->diags, path,
                              options, &unreadable);
    if (unreadable) {
        cli_complain("cannot read %s: %s", strcmp(path, "-") == 0 ? "standard input" : path, unreadable);
        return EXIT_FILE;
    }
    return EXIT_FINE;
}

enum exit_status session_open(struct session *session, struct cli *cli, const char *path)
{
    enum exit_status status = session_load(session, cli, path);
    if (status != EXIT_FINE)
        return status;
    session->evaluator = evaluator_new(session->plan);
    if (cli->language_given)
        evaluator_set_language(session->evaluator, cli->language);
    plan_check(session->plan);
    evaluate_all(session->evaluator);
    return EXIT_FINE;
}
