/* command_diff.c: `perfc diff OLD NEW`, each a plan or a saved JSON report. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "cli/cli.h"
#include "result/diff.h"
#include "sema/plan.h"
#include "source/diag.h"
#include "source/source.h"

/* One of the two: a plan with its session, or a saved report without. */
struct side {
    const char *path;
    bool saved;
    struct session session;
    struct report *report;
};

static bool is_saved(const char *path)
{
    size_t length = strlen(path);
    return length >= 5 && strcmp(path + length - 5, ".json") == 0;
}

static enum exit_status read_saved(struct cli *cli, struct side *side)
{
    struct buffer text = buffer_in(cli->arena);
    char bytes[1 << 14];
    size_t count;
    const char *why;
    errno = 0;
    FILE *file = fopen(side->path, "rb");
    while (file && (count = fread(bytes, 1, sizeof bytes, file)) > 0)
        buffer_add(&text, bytes, count);
    bool failed = !file || ferror(file);
    int reason = errno;
    if (file)
        fclose(file);
    if (failed) {
        cli_complain("cannot read %s: %s", side->path, strerror(reason ? reason : EIO));
        return EXIT_FILE;
    }
    side->report = ARENA_NEW(cli->arena, struct report);
    if (saved_report_read(cli->arena, side->path, buffer_string(&text), text.length, side->report, &why))
        return EXIT_FINE;
    cli_complain("cannot compare %s: %s", side->path, why);
    return EXIT_FILE;
}

static enum exit_status open_plan(struct cli *cli, struct side *side)
{
    enum exit_status status = session_open(&side->session, cli, side->path);
    if (status != EXIT_FINE)
        return status;
    if (diags_errors(side->session.diags) == 0)
        side->report = diff_side(side->session.evaluator);
    if (diags_errors(side->session.diags) > 0) {
        side->report = ARENA_NEW(cli->arena, struct report);
        *side->report = (struct report){.plan = plan_view(side->session.plan)->path,
                                        .diags = side->session.diags,
                                        .sources = side->session.sources};
    }
    return outputs_protect(cli, side->session.sources);
}

static enum exit_status open_side(struct cli *cli, struct side *side, const char *path)
{
    side->path = path;
    side->saved = is_saved(path);
    return side->saved ? read_saved(cli, side) : open_plan(cli, side);
}

static bool is_broken(const struct side *side)
{
    return !side->saved && diags_errors(side->session.diags) > 0;
}

/* What `--set` changes is the new side: the old one is what there was. */
static enum exit_status open_sides(struct cli *cli, struct side *old, struct side *new)
{
    size_t overrides = cli->overrides.count;
    cli->overrides.count = 0;
    enum exit_status status = open_side(cli, old, cli->operands.items[0]);
    cli->overrides.count = overrides;
    return status == EXIT_FINE ? open_side(cli, new, cli->operands.items[1]) : status;
}

static enum exit_status decide_thresholds(struct cli *cli, struct diff *diff)
{
    for (size_t i = 0; i < cli->fail_if.count; i++) {
        struct threshold threshold;
        const char *why;
        if (!threshold_parse(cli->arena, cli->fail_if.items[i], &threshold, &why) ||
            !diff_threshold(cli->arena, diff, &threshold, &why)) {
            cli_complain("--fail-if %s: %s", cli->fail_if.items[i], why);
            return EXIT_USAGE;
        }
    }
    return EXIT_FINE;
}

static enum exit_status diagnose(struct side *side)
{
    return side->saved ? EXIT_FINE : session_diagnose(&side->session);
}

static enum exit_status compare(struct cli *cli, struct side *old, struct side *new)
{
    struct report *report;
    struct diff *diff = NULL;
    if (is_broken(old) || is_broken(new)) {
        report = diff_broken_report(cli->arena, old->report, new->report);
    } else {
        diff = diff_compare(cli->arena, old->report, new->report);
        enum exit_status status = decide_thresholds(cli, diff);
        if (status != EXIT_FINE)
            return status;
        if (!new->saved)
            diff_guards(diff, new->session.evaluator);
        report = diff_report(cli->arena, diff);
    }
    enum exit_status old_status = diagnose(old), new_status = diagnose(new);
    enum exit_status written = outputs_write(cli, report);
    if (old_status != EXIT_FINE || new_status != EXIT_FINE)
        return EXIT_PLAN;
    return written == EXIT_FINE && diff && diff->exceeded > 0 ? EXIT_ASSERTION : written;
}

enum exit_status command_diff(struct cli *cli)
{
    struct side old = {0}, new = {0};
    if (cli->operands.count != 2) {
        cli_complain("`diff` takes two plans or saved reports: perfc diff OLD NEW");
        return EXIT_USAGE;
    }
    if (strcmp(cli->operands.items[0], "-") == 0 && strcmp(cli->operands.items[1], "-") == 0) {
        cli_complain("standard input cannot be both OLD and NEW");
        return EXIT_USAGE;
    }
    enum exit_status status = outputs_check(cli, true);
    if (status == EXIT_FINE)
        status = open_sides(cli, &old, &new);
    return status == EXIT_FINE ? compare(cli, &old, &new) : status;
}
