/* parameters.c: parameters of models against official totals, from their own configurations, and what the
 * page of logged memory comes to. */
#include "validate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "import/import.h"
#include "sema/plan.h"
#include "source/diag.h"
#include "source/source.h"

/* ---- parameters ------------------------------------------------------------------------------ */

struct counted {
    double params, besides; /* by the configuration; what the total holds that `params` does not count */
    const char *what;
};

/* The name behind "model " in an imported declaration, which ends at the next blank. */
static const char *model_name(struct arena *arena, const char *text)
{
    const char *at = strncmp(text, "model ", 6) == 0 ? text : strstr(text, "\nmodel ");
    at += *at == '\n' ? 7 : 6;
    bool quoted = *at == '"';
    at += quoted;
    return arena_strndup(arena, at, strcspn(at, quoted ? "\"" : " "));
}

/* What a file's total has besides, by the words that the table describes it with. */
static void count_besides(struct plan *plan, struct decl *model, const char *composition, struct counted *out)
{
    double table =
        plan_number(plan, model, ATTR_MODEL_VOCAB, 0) * plan_number(plan, model, ATTR_MODEL_HIDDEN, 0);
    bool copies = strstr(composition, "copies") != NULL, twice = strstr(composition, "stored twice") != NULL;
    bool mtp = strstr(composition, "+ MTP") != NULL;
    out->besides = (mtp ? plan_number(plan, model, ATTR_MODEL_MTP_PARAMS, 0) : 0) + (copies ? 2 * table : 0) +
                   (twice ? table : 0);
    out->what = copies  ? "prediction layer, its copies of embedding and head"
                : mtp   ? "prediction layer"
                : twice ? "the tied head, stored twice"
                        : "";
}

static bool count_model(struct arena *arena, const char *path, const char *composition, struct counted *out)
{
    struct sources *sources = sources_new(arena);
    struct diags *diags = diags_new(arena);
    struct imported imported;
    if (!import_model(arena, sources, diags, path, &(struct import_options){0}, &imported))
        return false;
    struct buffer text = buffer_in(arena);
    buffer_add(&text, imported.text, imported.length);
    struct evaluator *evaluator = plan_of(arena, path, &text);
    struct plan *plan = evaluator_plan(evaluator);
    struct decl *model = plan_find(plan, KIND_MODEL, model_name(arena, imported.text));
    out->params = evaluate_number(evaluator, model, Q_PARAMS, 0);
    count_besides(plan, model, composition, out);
    return true;
}

static const char *signed_percent(struct arena *arena, double error)
{
    return fabs(error) < 5e-8 ? "0" : arena_printf(arena, "%+.5f", 100 * error);
}

static void validate_totals(struct arena *arena, const char *facts, const struct csv *csv, struct buffer *out)
{
    size_t exact = 0, all = 0;
    double worst = 0;
    struct buffer rows = buffer_in(arena);
    for (size_t i = 0; i < csv->rows.count; i++) {
        const struct csv_row *row = &csv->rows.items[i];
        const char *file = csv_field(csv, row, "config_file"), *end = strstr(file, ".json");
        double official = csv_number(csv, row, "total_params");
        struct counted counted;
        if (!end || end[5] != '\0' || !(official > 0) ||
            !count_model(arena, arena_printf(arena, "%s/configs/%s", facts, file),
                         csv_field(csv, row, "composition"), &counted))
            continue;
        double here = counted.params + counted.besides, error = here / official - 1;
        exact += here == official;
        all++;
        worst = fmax(worst, fabs(error));
        buffer_printf(&rows, "| %s | %.0f | %.0f | %s | %s |\n", csv_field(csv, row, "model"), official, here,
                      signed_percent(arena, error), counted.what);
    }
    buffer_printf(
        out,
        "## Parameters\n\nTotals of %zu models from their own `config.json`, against official ones: %zu are "
        "equal to "
        "the last unit, the\nothers within %.4f %%.\n\n"
        "| model | official | here | error %% | besides `params`, in both |\n|---|---:|---:|---:|---|\n%s\n",
        all, exact, 100 * worst, buffer_string(&rows));
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* A line that was cut at its commas. */
static const char *whole_line(struct arena *arena, const struct csv_row *row)
{
    struct buffer line = buffer_in(arena);
    size_t last = CSV_COLUMNS;
    while (last > 0 && *row->field[last - 1] == '\0')
        last--;
    for (size_t i = 0; i < last; i++)
        buffer_printf(&line, "%s%s", i > 0 ? "," : "", row->field[i]);
    return buffer_string(&line);
}

/* Headings of the page, each with the line about its bound. */
static void validate_memory(struct arena *arena, const char *path, struct buffer *out)
{
    struct csv lines;
    const char *heading = "";
    buffer_text(
        out, "## Memory\n\nEvery figure that engines logged, with its signed error, is on a page of its own: "
             "[memory](validation-memory.md).\n\n| figures | bound, and what came of it |\n|---|---|\n");
    if (!csv_read(arena, path, &lines))
        return;
    for (size_t i = 0; i < lines.rows.count; i++) {
        const char *line = whole_line(arena, &lines.rows.items[i]);
        if (strncmp(line, "## ", 3) == 0)
            heading = line + 3;
        else if (strncmp(line, "Bound: ", 7) == 0)
            buffer_printf(out, "| %s | %s |\n", heading, line + strlen("Bound: "));
    }
    buffer_text(out, "\n");
}

void validate_parameters(struct arena *arena, const char *facts, const char *docs, struct buffer *out)
{
    struct csv totals;
    if (csv_read(arena, arena_printf(arena, "%s/params.csv", facts), &totals))
        validate_totals(arena, facts, &totals, out);
    validate_memory(arena, arena_printf(arena, "%s/validation-memory.md", docs), out);
}
