/* fit.c: coefficients of an engine fitted to measurements, and how far that holds for runs that were left
 * out.
 *
 * With r = ln(measured / expected), s the scatter of a figure and t the spread of a coefficient, the changes
 * x minimise sum (r / s)^2 + sum (x / t)^2: ridge regression, iterated, as the model is not linear. */
#include "result/fit.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"

enum { STEPS_MAX = 30, HALVINGS_MAX = 8, FOLDS_MAX = 24 };

/* Scatter of runs of one deployment about a fit (docs/calibration.md section 11); the time to the first
 * token depends on settings nobody records. */
static const double scatter[FIT_FIGURES] = {[FIT_TPOT] = 0.04, [FIT_TTFT] = 0.3, [FIT_RATE] = 0.06};

/* A coefficient that no figure follows by more than so much of its own change has no effect. */
static const double negligible = 0.005;
/* A change of less than so much is not worth writing down. */
static const double least_change = 0.01;
static const double change_most = 2.3; /* a factor of ten */

typedef double changes[COEFFICIENT_COUNT];

struct problem {
    struct arena *arena;
    const struct fit_point *points;
    size_t count, folds;
    size_t without; /* the fold that is left out; `folds`: none */
    double weights[FIT_FIGURES];
};

/* ---- the model -------------------------------------------------------------------------------- */

double fit_expected(const struct fit_point *point, const double change[COEFFICIENT_COUNT])
{
    struct pm_engine engine = point->engine;
    struct pm_case input = point->input;
    struct pm_result result;
    coefficients_change(&engine, change);
    input.engine = &engine;
    pm_evaluate(&input, &result);
    return point->figure == FIT_TPOT   ? result.expected.tpot
           : point->figure == FIT_TTFT ? result.expected.ttft
                                       : result.expected.throughput;
}

/* ln(measured / expected), of times: a rate counts the other way. */
static double residue_of(const struct fit_point *point, const double change[COEFFICIENT_COUNT])
{
    double expected = fit_expected(point, change);
    if (!(expected > 0))
        return 0;
    double residue = log(point->measured / expected);
    return point->figure == FIT_RATE ? -residue : residue;
}

static bool left_out(const struct problem *problem, const struct fit_point *point)
{
    return point->run % problem->folds == problem->without;
}

static double weight_of(const struct problem *problem, const struct fit_point *point)
{
    return problem->weights[point->figure];
}

static double prior_of(enum coefficient coefficient)
{
    double spread = coefficient_info(coefficient).spread;
    return 1 / (spread * spread);
}

/* ---- linear algebra ---------------------------------------------------------------------------- */

/* Normal equations over the chosen coefficients. */
struct normal {
    size_t size;
    enum coefficient of[COEFFICIENT_COUNT];
    double matrix[COEFFICIENT_COUNT][COEFFICIENT_COUNT], right[COEFFICIENT_COUNT];
};

static struct normal normal_of(const bool chosen[COEFFICIENT_COUNT])
{
    struct normal normal = {0};
    for (enum coefficient i = 0; i < COEFFICIENT_COUNT; i++)
        if (chosen[i])
            normal.of[normal.size++] = i;
    for (size_t i = 0; i < normal.size; i++)
        normal.matrix[i][i] = prior_of(normal.of[i]);
    return normal;
}

static void normal_add(struct normal *normal, const double *slopes, double residue, double weight)
{
    for (size_t i = 0; i < normal->size; i++) {
        double scaled = weight * slopes[normal->of[i]];
        for (size_t j = 0; j < normal->size; j++)
            normal->matrix[i][j] += scaled * slopes[normal->of[j]];
        normal->right[i] += scaled * residue;
    }
}

/* By Cholesky's decomposition; the pull makes the matrix positive definite. */
static void normal_solve(const struct normal *normal, changes out)
{
    double lower[COEFFICIENT_COUNT][COEFFICIENT_COUNT] = {{0}}, middle[COEFFICIENT_COUNT] = {0};
    size_t size = normal->size;
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = normal->matrix[i][j];
            for (size_t k = 0; k < j; k++)
                sum -= lower[i][k] * lower[j][k];
            lower[i][j] = i == j ? sqrt(fmax(sum, 1e-12)) : sum / lower[j][j];
        }
    for (size_t i = 0; i < size; i++) {
        middle[i] = normal->right[i];
        for (size_t k = 0; k < i; k++)
            middle[i] -= lower[i][k] * middle[k];
        middle[i] /= lower[i][i];
    }
    for (enum coefficient i = 0; i < COEFFICIENT_COUNT; i++)
        out[i] = 0;
    for (size_t i = size; i-- > 0;) {
        double sum = middle[i];
        for (size_t k = i + 1; k < size; k++)
            sum -= lower[k][i] * out[normal->of[k]];
        out[normal->of[i]] = sum / lower[i][i];
    }
}

/* ---- the fit of chosen coefficients -------------------------------------------------------------- */

static double objective(const struct problem *problem, const double change[COEFFICIENT_COUNT])
{
    double sum = 0;
    for (enum coefficient i = 0; i < COEFFICIENT_COUNT; i++)
        sum += change[i] * change[i] * prior_of(i);
    for (size_t i = 0; i < problem->count; i++) {
        const struct fit_point *point = &problem->points[i];
        double residue = left_out(problem, point) ? 0 : residue_of(point, change);
        sum += weight_of(problem, point) * residue * residue;
    }
    return sum;
}

static double slope_of(const struct fit_point *point, const double change[COEFFICIENT_COUNT], double residue,
                       enum coefficient coefficient)
{
    static const double step = 1e-4;
    changes moved;
    for (enum coefficient i = 0; i < COEFFICIENT_COUNT; i++)
        moved[i] = change[i] + (i == coefficient ? step : 0);
    return (residue - residue_of(point, moved)) / step;
}

/* One step of Gauss and Newton, halved until it is a gain. False: it was none, or hardly any. */
static bool improve(const struct problem *problem, const bool chosen[COEFFICIENT_COUNT], double *best,
                    changes change)
{
    struct normal normal = normal_of(chosen);
    for (size_t i = 0; i < problem->count; i++) {
        const struct fit_point *point = &problem->points[i];
        if (left_out(problem, point))
            continue;
        double slopes[COEFFICIENT_COUNT] = {0}, residue = residue_of(point, change), target = residue;
        for (size_t j = 0; j < normal.size; j++) {
            slopes[normal.of[j]] = slope_of(point, change, residue, normal.of[j]);
            target += slopes[normal.of[j]] * change[normal.of[j]];
        }
        normal_add(&normal, slopes, target, weight_of(problem, point));
    }
    changes goal;
    normal_solve(&normal, goal);
    double part = 1;
    for (int i = 0; i < HALVINGS_MAX; i++, part /= 2) {
        changes tried;
        for (enum coefficient j = 0; j < COEFFICIENT_COUNT; j++)
            tried[j] = fmax(fmin(change[j] + part * (goal[j] - change[j]), change_most), -change_most);
        double value = objective(problem, tried);
        if (!(value < *best))
            continue;
        bool more = value < *best * (1 - 1e-6);
        for (enum coefficient j = 0; j < COEFFICIENT_COUNT; j++)
            change[j] = tried[j];
        *best = value;
        return more;
    }
    return false;
}

static void refine(const struct problem *problem, const bool chosen[COEFFICIENT_COUNT], changes change)
{
    for (enum coefficient i = 0; i < COEFFICIENT_COUNT; i++)
        change[i] = 0;
    double best = objective(problem, change);
    for (int i = 0; i < STEPS_MAX && improve(problem, chosen, &best, change); i++)
        continue;
}

/* ---- which coefficients --------------------------------------------------------------------------- */

/* Choosing coefficients one by one by what they gain for runs left out was tried and predicts worse than
 * moving all of them a little (docs/calibration.md section 11); those without effect stay, so that nobody
 * reads anything into them. */
static void find_effects(const struct problem *problem, struct fit *out)
{
    static const changes standard = {0};
    for (size_t i = 0; i < problem->count; i++) {
        double residue = residue_of(&problem->points[i], standard);
        for (enum coefficient j = 0; j < COEFFICIENT_COUNT; j++)
            out->effect[j] = fmax(out->effect[j], fabs(slope_of(&problem->points[i], standard, residue, j)));
    }
    for (enum coefficient j = 0; j < COEFFICIENT_COUNT; j++)
        out->fitted[j] = out->effect[j] > negligible;
}

/* ---- errors ---------------------------------------------------------------------------------------- */

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* A residue of times as |expected / measured - 1|. */
static double error_of(const struct fit_point *point, double residue)
{
    return fabs(exp(point->figure == FIT_RATE ? residue : -residue) - 1);
}

static void errors_from(struct arena *arena, const struct fit_point *points, const double *residues,
                        size_t count, struct fit_errors out[FIT_FIGURES])
{
    double *errors = ARENA_ARRAY(arena, double, count);
    for (enum fit_figure figure = 0; figure < FIT_FIGURES; figure++) {
        size_t of_figure = 0;
        double sum = 0;
        for (size_t i = 0; i < count; i++)
            if (points[i].figure == figure) {
                errors[of_figure] = error_of(&points[i], residues[i]);
                sum += errors[of_figure++];
            }
        out[figure] = (struct fit_errors){.count = of_figure};
        if (of_figure == 0)
            continue;
        qsort(errors, of_figure, sizeof *errors, by_value);
        out[figure].median = (errors[(of_figure - 1) / 2] + errors[of_figure / 2]) / 2;
        out[figure].mean = sum / (double)of_figure;
    }
}

void fit_measure(struct arena *arena, const struct fit_point *points, size_t count,
                 const double change[COEFFICIENT_COUNT], struct fit_errors out[FIT_FIGURES])
{
    double *residues = ARENA_ARRAY(arena, double, count);
    for (size_t i = 0; i < count; i++)
        residues[i] = residue_of(&points[i], change);
    errors_from(arena, points, residues, count, out);
}

/* Leaves out one fold after the other; with few runs, each run is a fold. */
static void hold_out(struct problem *problem, struct fit *out)
{
    double *residues = ARENA_ARRAY(problem->arena, double, problem->count);
    static const changes standard = {0};
    double squares[FIT_FIGURES] = {0}, gain = 0;
    for (problem->without = 0; problem->without < problem->folds; problem->without++) {
        changes change;
        refine(problem, out->fitted, change);
        for (size_t i = 0; i < problem->count; i++)
            if (left_out(problem, &problem->points[i])) {
                residues[i] = residue_of(&problem->points[i], change);
                double before = residue_of(&problem->points[i], standard);
                squares[problem->points[i].figure] += residues[i] * residues[i];
                gain +=
                    weight_of(problem, &problem->points[i]) * (before * before - residues[i] * residues[i]);
            }
    }
    out->gains = gain > 0;
    errors_from(problem->arena, problem->points, residues, problem->count, out->held_out);
    for (enum fit_figure i = 0; i < FIT_FIGURES; i++)
        out->spread[i] = out->held_out[i].count > 0 ? squares[i] / (double)out->held_out[i].count : 0;
}

/* Runs that differ in what the plan does not say scatter by more than those of one deployment, and must then
 * count for less: what is left after a first fit tells. */
static void weigh(struct problem *problem, const double change[COEFFICIENT_COUNT], bool fitted)
{
    double squares[FIT_FIGURES] = {0}, counts[FIT_FIGURES] = {0};
    for (size_t i = 0; fitted && i < problem->count; i++) {
        double residue = residue_of(&problem->points[i], change);
        squares[problem->points[i].figure] += residue * residue;
        counts[problem->points[i].figure]++;
    }
    for (enum fit_figure i = 0; i < FIT_FIGURES; i++) {
        double left = counts[i] > 0 ? squares[i] / counts[i] : 0;
        problem->weights[i] = 1 / fmax(scatter[i] * scatter[i], left);
    }
}

/* What the points leave of what was not known of each coefficient: the diagonal of the inverse, by columns.
 */
static void find_told(const struct problem *problem, struct fit *out)
{
    struct normal normal = normal_of(out->fitted);
    for (size_t i = 0; i < problem->count; i++) {
        const struct fit_point *point = &problem->points[i];
        double slopes[COEFFICIENT_COUNT] = {0}, residue = residue_of(point, out->change);
        for (size_t j = 0; j < normal.size; j++)
            slopes[normal.of[j]] = slope_of(point, out->change, residue, normal.of[j]);
        normal_add(&normal, slopes, 0, weight_of(problem, point));
    }
    for (size_t j = 0; j < normal.size; j++) {
        changes column;
        for (size_t k = 0; k < normal.size; k++)
            normal.right[k] = k == j;
        normal_solve(&normal, column);
        out->told[normal.of[j]] = 1 - column[normal.of[j]] * prior_of(normal.of[j]);
    }
}

void fit_engine(struct arena *arena, const struct fit_point *points, size_t count, size_t runs,
                struct fit *out)
{
    static const changes standard = {0};
    size_t folds = runs < FOLDS_MAX ? runs : FOLDS_MAX;
    struct problem problem = {arena, points, count, folds, folds, {0}};
    *out = (struct fit){.checked = runs > 1};
    find_effects(&problem, out);
    weigh(&problem, standard, false);
    refine(&problem, out->fitted, out->change);
    weigh(&problem, out->change, true);
    refine(&problem, out->fitted, out->change);
    find_told(&problem, out);
    for (enum coefficient i = 0; i < COEFFICIENT_COUNT; i++)
        if (fabs(out->change[i]) < least_change)
            out->change[i] = 0;
    fit_measure(arena, points, count, standard, out->before);
    fit_measure(arena, points, count, out->change, out->after);
    if (out->checked)
        hold_out(&problem, out);
}

/* Bands hold eight of ten: 1.2816 standard deviations to either side. */
struct pm_band fit_band(const struct fit *fit, enum fit_figure figure, struct pm_band standard)
{
    static const double tenth = 1.2815515655446004, standard_runs = 4;
    double runs = (double)fit->held_out[figure].count,
           before = log(standard.high / standard.low) / (2 * tenth);
    if (!fit->checked || runs < 2 || !(before > 0))
        return (struct pm_band){0, 0};
    double square = (standard_runs * before * before + runs * fit->spread[figure]) / (standard_runs + runs);
    double high = round(1000 * exp(tenth * sqrt(square))) / 1000;
    double low = round(1000 * exp(-tenth * sqrt(square))) / 1000;
    return (struct pm_band){fmax(low, 0.01), fmin(high, 100)};
}
