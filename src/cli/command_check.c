/* command_check.c: `perfc check PLAN`, diagnostics and assertions only. */
#include "base/buffer.h"
#include "cli/cli.h"
#include "result/assertion.h"
#include "result/evaluate.h"
#include "source/diag.h"

static void print_failure(struct buffer *text, const char *path, const struct report_assertion *assertion)
{
    buffer_printf(text, "%s:%u: assertion fails: %s", path, assertion->line, assertion->text);
    if (assertion->why)
        buffer_printf(text, " (%s)", assertion->why);
    else if (assertion->left && assertion->right)
        buffer_printf(text, " (%s against %s%s%s)", assertion->left, assertion->right,
                      assertion->margin ? ", " : "", assertion->margin ? assertion->margin : "");
    if (assertion->message)
        buffer_printf(text, ": %s", assertion->message);
    buffer_byte(text, '\n');
}

enum exit_status command_check(struct cli *cli)
{
    struct session session;
    if (cli->operands.count != 1) {
        cli_complain("`check` takes one plan");
        return EXIT_USAGE;
    }
    const char *path = cli->operands.items[0];
    enum exit_status status = session_open(&session, cli, path);
    if (status != EXIT_FINE)
        return status;
    struct report report = {0};
    if (diags_errors(session.diags) == 0)
        assertions_evaluate(session.evaluator, &report);
    session_fail_assertions(&session, &report);
    status = session_diagnose(&session);
    if (status != EXIT_FINE)
        return status;
    struct buffer text = buffer_in(cli->arena);
    for (size_t i = 0; i < report.assertions.count; i++)
        if (!report.assertions.items[i].holds)
            print_failure(&text, path, &report.assertions.items[i]);
    size_t held = assertions_held(&report), total = report.assertions.count;
    size_t scenarios = plan_view(session.plan)->scenarios.count;
    buffer_printf(&text, "%s: %zu scenario%s, %zu of %zu assertion%s hold%s\n", path, scenarios,
                  scenarios == 1 ? "" : "s", held, total, total == 1 ? "" : "s", held == 1 ? "s" : "");
    status = output_standard(&text);
    return status == EXIT_FINE && held < total ? EXIT_ASSERTION : status;
}
