/* calibration.c: what a few measured runs of a deployment tell about its others, by the fit of `perfc
 * calibrate`.
 *
 * Every clean row of facts/serving.csv is a run. Runs that agree in some columns are one group; a fit to some
 * of them predicts all others of the group, and each run serves in turn as the first of those measured. */
#include "validate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "result/deployment.h"
#include "result/fit.h"

/* What makes a group, most alike first. */
static const struct {
    const char *title;
    const char *columns[11];
} kinds[] = {
    {"same deployment and lengths",
     {"engine", "engine_version", "model", "gpu", "precision", "gpus", "attention_dp", "ep", "input_tokens",
      "output_tokens"}},
    {"same deployment",
     {"engine", "engine_version", "model", "gpu", "precision", "gpus", "attention_dp", "ep"}},
    {"same model, card and engine", {"engine", "model", "gpu"}},
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

struct run {
    struct fit_point tpot, ttft;
    const char *deployment;
    const char *keys[KINDS];
};

typedef VEC(struct run) run_list;

static const char *key_of(struct arena *arena, const struct csv *csv, const struct csv_row *row, size_t kind)
{
    struct buffer key = buffer_in(arena);
    for (size_t i = 0; kinds[kind].columns[i] != NULL; i++)
        buffer_printf(&key, "%s|", csv_field(csv, row, kinds[kind].columns[i]));
    return buffer_string(&key);
}

static run_list read_runs(struct arena *arena, const struct csv *csv)
{
    struct evaluator *evaluator = serving_evaluator(arena, csv, NULL, true);
    run_list runs = {0};
    for (size_t i = 0; i < csv->rows.count; i++) {
        const struct csv_row *row = &csv->rows.items[i];
        const char *why;
        const struct evaluation *evaluation = evaluation_of(evaluator, csv_field(csv, row, "id"), &why);
        if (evaluation == NULL || csv_field(csv, row, "flag")[0] != '\0')
            continue;
        struct run *run = VEC_PUSH(arena, runs);
        run->tpot = (struct fit_point){.input = evaluation->binding.input,
                                       .engine = evaluation->binding.engine_values,
                                       .figure = FIT_TPOT,
                                       .measured = csv_number(csv, row, "tpot_ms") / 1e3};
        run->ttft = run->tpot;
        run->ttft.figure = FIT_TTFT;
        run->ttft.measured = csv_number(csv, row, "ttft_ms") / 1e3;
        run->deployment = deployment_text(arena, &evaluation->binding);
        for (size_t j = 0; j < KINDS; j++)
            run->keys[j] = key_of(arena, csv, row, j);
    }
    return runs;
}

/* ---- errors ------------------------------------------------------------------------------------- */

typedef VEC(double) number_list;

struct outcome {
    number_list tpot_before, tpot_after, ttft_before, ttft_after;
    size_t groups, tpot_inside, ttft_inside; /* of their bands */
};

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median_of(const number_list *numbers)
{
    if (numbers->count == 0)
        return 0;
    qsort(numbers->items, numbers->count, sizeof *numbers->items, by_value);
    return (numbers->items[(numbers->count - 1) / 2] + numbers->items[numbers->count / 2]) / 2;
}

static double mean_of(const number_list *numbers)
{
    double sum = 0;
    for (size_t i = 0; i < numbers->count; i++)
        sum += numbers->items[i];
    return numbers->count > 0 ? sum / (double)numbers->count : 0;
}

static double error_of(const struct fit_point *point, const double change[COEFFICIENT_COUNT])
{
    return fabs(fit_expected(point, change) / point->measured - 1);
}

static bool inside(const struct fit_point *point, const struct fit *fit, struct pm_band band)
{
    double ratio = point->measured / fit_expected(point, fit->change);
    return ratio >= band.low && ratio <= band.high;
}

/* ---- groups -------------------------------------------------------------------------------------- */

/* Fits `measured` runs, the middles of as many equal parts of the group, and predicts the others. */
static void fit_some(struct arena *arena, const struct run *const *group, size_t count, size_t measured,
                     struct outcome *out)
{
    static const double standard[COEFFICIENT_COUNT] = {0};
    struct fit_point *points = ARENA_ARRAY(arena, struct fit_point, 2 * measured);
    bool *used = ARENA_ARRAY(arena, bool, count);
    struct fit fit;
    for (size_t i = 0; i < measured; i++) {
        size_t index = (2 * i + 1) * count / (2 * measured);
        points[2 * i] = group[index]->tpot;
        points[2 * i + 1] = group[index]->ttft;
        points[2 * i].run = points[2 * i + 1].run = i;
        used[index] = true;
    }
    fit_engine(arena, points, 2 * measured, measured, &fit);
    bool one = true;
    for (size_t i = 0; i < count; i++)
        one =
            one && (!used[i] || strcmp(group[i]->deployment, group[count / (2 * measured)]->deployment) == 0);
    struct pm_band tpot = fit_band(&fit, FIT_TPOT, points[0].engine.tpot_band, one);
    struct pm_band ttft = fit_band(&fit, FIT_TTFT, points[0].engine.ttft_band, one);
    for (size_t i = 0; i < count; i++)
        if (!used[i]) {
            bool there = false;
            for (size_t j = 0; j < count; j++)
                there = there || (used[j] && strcmp(group[i]->deployment, group[j]->deployment) == 0);
            out->tpot_inside += inside(&group[i]->tpot, &fit, there ? tpot : group[i]->tpot.engine.tpot_band);
            out->ttft_inside += inside(&group[i]->ttft, &fit, there ? ttft : group[i]->ttft.engine.ttft_band);
            *VEC_PUSH(arena, out->tpot_before) = error_of(&group[i]->tpot, standard);
            *VEC_PUSH(arena, out->tpot_after) = error_of(&group[i]->tpot, fit.change);
            *VEC_PUSH(arena, out->ttft_before) = error_of(&group[i]->ttft, standard);
            *VEC_PUSH(arena, out->ttft_after) = error_of(&group[i]->ttft, fit.change);
        }
}

/* By users, those of equal number as they stand in the file. */
static void sort_runs(const struct run **group, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const struct run *run = group[i];
        size_t at = i;
        for (; at > 0 && group[at - 1]->tpot.input.batch > run->tpot.input.batch; at--)
            group[at] = group[at - 1];
        group[at] = run;
    }
}

/* Groups of more than `measured` runs. */
static struct outcome fit_groups(struct arena *arena, const run_list *runs, size_t kind, size_t measured)
{
    struct outcome out = {0};
    bool *done = ARENA_ARRAY(arena, bool, runs->count);
    const struct run **group = ARENA_ARRAY(arena, const struct run *, runs->count);
    for (size_t i = 0; i < runs->count; i++) {
        size_t count = 0;
        for (size_t j = i; j < runs->count && !done[i]; j++)
            if (strcmp(runs->items[j].keys[kind], runs->items[i].keys[kind]) == 0)
                group[count++] = &runs->items[j];
        for (size_t j = 0; j < count; j++)
            done[group[j] - runs->items] = true;
        if (count <= measured)
            continue;
        out.groups++;
        sort_runs(group, count);
        fit_some(arena, group, count, measured, &out);
    }
    return out;
}

static void add_errors(struct buffer *out, number_list *errors)
{
    double median = median_of(errors);
    buffer_printf(out, " %.1f / %.1f |", 100 * median, 100 * mean_of(errors));
}

static void add_row(struct arena *arena, struct buffer *out, const run_list *runs, size_t kind,
                    size_t measured)
{
    struct outcome outcome = fit_groups(arena, runs, kind, measured);
    buffer_printf(out, "| %s | %zu | %zu | %zu |", kinds[kind].title, measured, outcome.groups,
                  outcome.tpot_after.count);
    add_errors(out, &outcome.tpot_before);
    add_errors(out, &outcome.tpot_after);
    buffer_printf(out, " %.0f |", 100 * (double)outcome.tpot_inside / (double)outcome.tpot_after.count);
    add_errors(out, &outcome.ttft_before);
    add_errors(out, &outcome.ttft_after);
    buffer_printf(out, " %.0f |\n", 100 * (double)outcome.ttft_inside / (double)outcome.ttft_after.count);
}

void validate_calibration(struct arena *arena, const struct csv *csv, struct buffer *out)
{
    static const size_t counts[] = {1, 2, 4, 8};
    run_list runs = read_runs(arena, csv);
    buffer_text(
        out,
        "### What a few measured runs gain\n\n`perfc calibrate` fitted to time per token and time to first "
        "token "
        "of some runs of a group, and the others of the group predicted. Runs stand in the order of users; "
        "those fitted are spread evenly, a single one is that in the middle. Errors in %, median / mean, of "
        "runs that the fit had not seen.\n\n"
        "| group | runs fitted | groups | predictions | time per token | calibrated | in its band | time to "
        "first token | "
        "calibrated | in its band |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
    for (size_t kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
            add_row(arena, out, &runs, kind, counts[i]);
    buffer_text(out, "\n");
}
