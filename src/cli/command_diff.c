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

/* One of the two. The session of a saved report holds no plan, only the file as what was read. */
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
    side->session =
        (struct session){.cli = cli, .sources = sources_new(cli->arena), .diags = diags_new(cli->arena)};
    sources_add(side->session.sources, side->path, buffer_string(&text), text.length, false);
    side->report = ARENA_NEW(cli->arena, struct report);
    if (saved_report_read(cli->arena, side->path, buffer_string(&text), text.length, side->report, &why))
        return outputs_protect(cli, side->session.sources);
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
    return diags_errors(side->session.diags) > 0;
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

/* EXIT_USAGE for a threshold that is none. Before there is a comparison only the form of each is looked at.
 */
static enum exit_status decide_thresholds(struct cli *cli, struct diff *diff)
{
    for (size_t i = 0; i < cli->fail_if.count; i++) {
        struct threshold threshold;
        const char *why;
        if (!threshold_parse(cli->arena, cli->fail_if.items[i], &threshold, &why) ||
            (diff && !diff_threshold(cli->arena, diff, &threshold, &why))) {
            cli_complain("--fail-if %s: %s", cli->fail_if.items[i], why);
            return EXIT_USAGE;
        }
    }
    return EXIT_FINE;
}

/* What fails in the new plan and what exceeds a threshold, at its guard, is told with its diagnostics. */
static void remember_failures(struct side *new, const struct diff *diff, size_t first_guard)
{
    if (!new->saved)
        session_fail_assertions(&new->session, new->report);
    for (size_t i = 0; i < diff->thresholds.count; i++) {
        const struct report_assertion *made = &diff->thresholds.items[i];
        bool guard = !new->saved &&i >= first_guard;
        if (!made->holds)
            session_fail(&new->session, "threshold",
                         guard ? &plan_view(new->session.plan)->guards.items[i - first_guard] : NULL, made);
    }
}

static enum exit_status compare_sides(struct cli *cli, struct side *old, struct side *new, struct diff **out)
{
    struct diff *diff = diff_compare(cli->arena, old->report, new->report);
    enum exit_status status = decide_thresholds(cli, diff);
    if (status != EXIT_FINE)
        return status;
    size_t first_guard = diff->thresholds.count;
    diff_guards(cli->arena, diff, new->saved ? NULL : new->session.evaluator);
    if (new->saved &&new->report->guards.count > 0)
        cli_complain("warning: %s is a saved report, so its %zu guard%s not decided", new->path,
                     new->report->guards.count, new->report->guards.count == 1 ? " is" : "s are");
    remember_failures(new, diff, first_guard);
    *out = diff;
    return EXIT_FINE;
}

/* Diagnostics for machines are one document, which tells of the new side: the old one is history. */
static enum exit_status diagnose(struct cli *cli, struct side *old, struct side *new)
{
    enum exit_status status = cli->diagnostics == DIAGNOSTICS_TEXT ? session_diagnose(&old->session)
                              : is_broken(old)                     ? EXIT_PLAN
                                                                   : EXIT_FINE;
    enum exit_status new_status = session_diagnose(&new->session);
    return status == EXIT_FINE ? new_status : status;
}

/* --lang, else what the new plan says, else the old one; a saved report says nothing. */
static enum language language_of(const struct cli *cli, const struct side *old, const struct side *new)
{
    const struct side *plan = new->saved ? old : new;
    return cli->language_given       ? cli->language
           : plan->session.evaluator ? evaluator_language(plan->session.evaluator)
                                     : LANGUAGE_EN;
}

static enum exit_status compare(struct cli *cli, struct side *old, struct side *new)
{
    new->report->language = language_of(cli, old, new);
    struct report *report;
    struct diff *diff = NULL;
    if (is_broken(old) || is_broken(new)) {
        report = diff_broken_report(cli->arena, old->report, new->report);
    } else {
        enum exit_status status = compare_sides(cli, old, new, &diff);
        if (status != EXIT_FINE)
            return status;
        report = diff_report(cli->arena, diff);
    }
    enum exit_status status = diagnose(cli, old, new), written = outputs_write(cli, report);
    if (written == EXIT_FINE)
        written = outputs_write_deps(
            cli, (const struct sources *const[]){old->session.sources, new->session.sources}, 2);
    if (status != EXIT_FINE)
        return status;
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
        status = decide_thresholds(cli, NULL);
    if (status == EXIT_FINE)
        status = open_sides(cli, &old, &new);
    return status == EXIT_FINE ? compare(cli, &old, &new) : status;
}
