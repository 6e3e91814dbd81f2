/* command_calibrate.c: `perfc calibrate PLAN`: engines fitted to the plan's measurements, as declarations on
 * standard output, or in the file of `-o`. */
#include "base/arena.h"
#include "base/buffer.h"
#include "cli/cli.h"
#include "result/calibrate.h"
#include "source/diag.h"

static const char *const advice =
    "`measured SCENARIO { tpot = 31 ms }` says what was seen; `ttft`, `speed` and `throughput` count too";

/* Why there is nothing to fit an engine to. */
static enum exit_status refuse(const char *path, size_t measurements, const struct calibration_skip *skips,
                               size_t count)
{
    if (measurements == 0) {
        cli_complain("%s has no measurements to fit an engine to; %s", path, advice);
        return EXIT_PLAN;
    }
    cli_complain("no measurement of %s tells about an engine", path);
    for (size_t i = 0; i < count && i < 8; i++)
        cli_complain("  %s: %s", skips[i].measurement->scenario->name, skips[i].why);
    return EXIT_PLAN;
}

static enum exit_status usage(const struct cli *cli)
{
    if (cli->operands.count != 1)
        cli_complain("`calibrate` takes one plan");
    else if (cli->outputs.count > 1)
        cli_complain("`calibrate` writes one file");
    else
        return EXIT_FINE;
    return EXIT_USAGE;
}

enum exit_status command_calibrate(struct cli *cli)
{
    struct session session;
    enum exit_status status = usage(cli);
    if (status != EXIT_FINE)
        return status;
    const char *path = cli->operands.items[0];
    status = session_open(&session, cli, path);
    if (status == EXIT_FINE)
        status = session_diagnose(&session);
    if (status != EXIT_FINE)
        return status;
    const char *output = cli->outputs.count > 0 ? cli->outputs.items[0] : "-";
    if (output_is_input(session.sources, output)) {
        cli_complain("%s is part of the plan", output);
        return EXIT_USAGE;
    }
    struct calibration *fitted;
    struct calibration_skip *skips;
    size_t skip_count, count = calibrate_plan(session.evaluator, &fitted, &skips, &skip_count);
    if (count == 0)
        return refuse(path, plan_view(session.plan)->measurements.count, skips, skip_count);
    struct buffer text = buffer_in(cli->arena), summary = buffer_in(cli->arena);
    for (size_t i = 0; i < count; i++) {
        buffer_text(&text, i > 0 ? "\n" : "");
        calibration_write(session.evaluator, &fitted[i], &text);
        calibration_summary(session.evaluator, &fitted[i], "", &summary);
    }
    status = output_write(cli->arena, output, &text);
    return status == EXIT_FINE && !output_is_standard(output) ? output_standard(&summary) : status;
}
