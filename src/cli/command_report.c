/* command_report.c: `perfc PLAN`, the report in one format or several. */
#include "cli/cli.h"
#include "result/build.h"
#include "sema/plan.h"
#include "source/diag.h"

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
        if (cli->operands.count == 0)
            cli_complain("no plan given; `perfc --help` explains");
        else if (!help_suggest(cli, cli->operands.items[0]))
            cli_complain("one plan at a time: what is `%s`?", cli->operands.items[1]);
        return EXIT_USAGE;
    }
    enum exit_status status = outputs_check(cli, false);
    if (status == EXIT_FINE)
        status = session_open(&session, cli, cli->operands.items[0]);
    if (status != EXIT_FINE)
        return status;
    status = outputs_protect(cli, session.sources);
    if (status != EXIT_FINE)
        return status;
    struct report *report = NULL;
    warn_without_scenario(&session);
    if (diags_errors(session.diags) == 0)
        report = report_build(session.evaluator,
                              (struct report_options){.quantities = outputs_need_quantities(cli)});
    if (report)
        session_fail_assertions(&session, report);
    status = session_diagnose(&session);
    if (status != EXIT_FINE || !report)
        return EXIT_PLAN;
    status = outputs_write(cli, report);
    if (status == EXIT_FINE)
        status = outputs_write_deps(cli, (const struct sources *const[]){session.sources}, 1);
    return status == EXIT_FINE && !assertions_hold(report) ? EXIT_ASSERTION : status;
}
