/* fit.c: coefficients of an engine fitted to measurements, and how far that holds for runs that were left
 * out.
 *
 * With r = ln(measured / expected), s the scatter of a figure and t the spread of a coefficient, the changes
 * x minimise sum (r / s)^2 + sum (x / t)^2: ridge regression, iterated, as the model is not linear. */
#include "result/fit.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "result/fit_normal.h"

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
    struct fit_cases cases;
    const struct fit_point *points;
    size_t count, folds;
    size_t without; /* the fold that is left out; `folds`: none */
    double weights[FIT_FIGURES];
    struct normal_bounds bounds;
};

/* Where a fit stands. */
struct place {
    changes change;
    double objective;
    struct fit_logs *logs; /* of each case */
};

static bool left_out(const struct problem *problem, const struct fit_point *point)
{
    return point->run % problem->folds == problem->without;
}

static double weight_of(const struct problem *problem, const struct fit_point *point)
{
    return problem->weights[point->figure];
}

static double residue_of(const struct problem *problem, const struct place *place, size_t point)
{
    return fit_residue(&problem->points[point], place->logs[problem->cases.of_point[point]]);
}

static struct place place_new(const struct problem *problem)
{
    return (struct place){.logs = ARENA_ARRAY(problem->cases.arena, struct fit_logs, problem->cases.count)};
}

/* ---- the fit of chosen coefficients -------------------------------------------------------------- */

static void weigh_place(const struct problem *problem, struct place *place)
{
    place->objective = 0;
    for (enum coefficient i = 0; i < COEFFICIENT_COUNT; i++)
        place->objective += place->change[i] * place->change[i] * normal_prior(i);
    for (size_t i = 0; i < problem->count; i++) {
        double residue = left_out(problem, &problem->points[i]) ? 0 : residue_of(problem, place, i);
        place->objective += weight_of(problem, &problem->points[i]) * residue * residue;
    }
}

/* Evaluates every case at the changes of the place. */
static void stand_at(const struct problem *problem, struct place *place)
{
    for (size_t i = 0; i < problem->cases.count; i++)
        place->logs[i] = fit_case_logs(&problem->cases.items[i], place->change);
    weigh_place(problem, place);
}

static void move_to(const struct problem *problem, const struct place *from, struct place *to)
{
    for (enum coefficient i = 0; i < COEFFICIENT_COUNT; i++)
        to->change[i] = from->change[i];
    for (size_t i = 0; i < problem->cases.count; i++)
        to->logs[i] = from->logs[i];
    to->objective = from->objective;
}

/* How the figures of each case follow each coefficient, where they stand now. */
typedef struct fit_logs case_slopes[COEFFICIENT_COUNT];

static case_slopes *slopes_at(const struct problem *problem, const struct place *place,
                              const bool chosen[COEFFICIENT_COUNT], case_slopes *out)
{
    for (size_t i = 0; i < problem->cases.count; i++)
        for (enum coefficient j = 0; j < COEFFICIENT_COUNT; j++)
            out[i][j] = chosen[j]
                            ? fit_case_slopes(&problem->cases.items[i], place->change, place->logs[i], j)
                            : (struct fit_logs){{0}};
    return out;
}

/* The normal equations of what is not left out, for the changes themselves. */
static struct normal normal_at(const struct problem *problem, const struct place *place, case_slopes *slopes,
                               const bool chosen[COEFFICIENT_COUNT])
{
    struct normal normal = normal_of(chosen);
    for (size_t i = 0; i < problem->count; i++) {
        const struct fit_point *point = &problem->points[i];
        if (left_out(problem, point))
            continue;
        changes slope;
        double target = residue_of(problem, place, i);
        for (enum coefficient j = 0; j < COEFFICIENT_COUNT; j++) {
            slope[j] = slopes[problem->cases.of_point[i]][j].of[point->figure];
            target += slope[j] * place->change[j];
        }
        normal_add(&normal, slope, target, weight_of(problem, point));
    }
    return normal;
}

static void go_towards(const struct place *from, const changes goal, double part, changes out)
{
    for (enum coefficient j = 0; j < COEFFICIENT_COUNT; j++)
        out[j] = from->change[j] + part * (goal[j] - from->change[j]);
}

/* One step of Gauss and Newton from where `slopes` are, halved until it is a gain. False: it was none, or
 * hardly any. */
static bool improve(const struct problem *problem, const bool chosen[COEFFICIENT_COUNT], case_slopes *slopes,
                    struct place *place, struct place *tried)
{
    changes goal;
    struct normal normal = normal_at(problem, place, slopes, chosen);
    normal_solve(&normal, &problem->bounds, goal);
    double part = 1;
    for (int i = 0; i < HALVINGS_MAX; i++, part /= 2) {
        go_towards(place, goal, part, tried->change);
        stand_at(problem, tried);
        if (!(tried->objective < place->objective))
            continue;
        bool more = tried->objective < place->objective * (1 - 1e-6);
        move_to(problem, tried, place);
        return more;
    }
    return false;
}

/* From where the place stands. */
static void refine(const struct problem *problem, const bool chosen[COEFFICIENT_COUNT], case_slopes *slopes,
                   struct place *place, struct place *tried)
{
    weigh_place(problem, place);
    for (int i = 0; i < STEPS_MAX; i++)
        if (!improve(problem, chosen, slopes_at(problem, place, chosen, slopes), place, tried))
            break;
}

/* ---- which coefficients --------------------------------------------------------------------------- */

/* A card that says what streams reach on it leaves the engine no say but by its kind of memory. That factor
 * counts for other cards too, so one of both is fitted: where it is enough the engine's own. */
static void choose_bandwidth(const struct problem *problem, case_slopes *slopes, struct fit *out)
{
    bool enough = true;
    for (size_t i = 0; i < problem->cases.count; i++)
        for (enum fit_figure k = 0; k < FIT_FIGURES; k++)
            enough = enough && fabs(slopes[i][COEFFICIENT_BANDWIDTH].of[k]) >=
                                   0.5 * fabs(slopes[i][COEFFICIENT_MEMORY].of[k]);
    out->fitted[enough ? COEFFICIENT_MEMORY : COEFFICIENT_BANDWIDTH] = false;
}

/* Choosing coefficients one by one by what they gain for runs left out was tried and predicts worse than
 * moving all of them a little (docs/calibration.md section 11); those without effect stay, so that nobody
 * reads anything into them. */
static void find_effects(const struct problem *problem, const struct place *standard, case_slopes *slopes,
                         struct fit *out)
{
    bool all[COEFFICIENT_COUNT];
    for (enum coefficient j = 0; j < COEFFICIENT_COUNT; j++)
        all[j] = true;
    slopes_at(problem, standard, all, slopes);
    for (size_t i = 0; i < problem->cases.count; i++)
        for (enum coefficient j = 0; j < COEFFICIENT_COUNT; j++)
            for (enum fit_figure k = 0; k < FIT_FIGURES; k++)
                out->effect[j] = fmax(out->effect[j], fabs(slopes[i][j].of[k]));
    for (enum coefficient j = 0; j < COEFFICIENT_COUNT; j++)
        out->fitted[j] = out->effect[j] > negligible;
    choose_bandwidth(problem, slopes, out);
}

/* Whether figures of a case move with one number of its engine. */
static bool slot_moves(struct fit_case *it, const struct fit_logs *before,
                       const struct coefficient_slot *slot)
{
    struct pm_engine changed = it->engine;
    *coefficient_value(&changed, slot) *= 0.9;
    struct fit_logs after = fit_case_with(it, &changed);
    for (enum fit_figure i = 0; i < FIT_FIGURES; i++)
        if (fabs(after.of[i] - before->of[i]) > 1e-9)
            return true;
    return false;
}

/* Beyond its bound no figure follows a coefficient any more. */
static void find_bounds(struct problem *problem, const struct place *standard, struct fit *out)
{
    const struct coefficient_slot *slots;
    size_t count = coefficient_slots(&slots);
    out->moved_by = ARENA_ARRAY(problem->cases.arena, bool, count);
    for (enum coefficient i = 0; i < COEFFICIENT_COUNT; i++) {
        problem->bounds.low[i] = 0;
        problem->bounds.high[i] = change_most;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; out->fitted[slots[i].coefficient] && j < problem->cases.count; j++) {
            struct fit_case *it = &problem->cases.items[j];
            double least = coefficient_least(&slots[i], &it->engine, it->input.gpu);
            double *low = &problem->bounds.low[slots[i].coefficient];
            out->moved_by[i] = out->moved_by[i] || slot_moves(it, &standard->logs[j], &slots[i]);
            if (out->moved_by[i])
                *low = fmin(*low, fmax(least, -change_most));
        }
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

void fit_measure(const struct fit_cases *cases, const struct fit_point *points, size_t count,
                 const struct fit_logs *logs, struct fit_errors out[FIT_FIGURES])
{
    double *residues = ARENA_ARRAY(cases->arena, double, count);
    for (size_t i = 0; i < count; i++)
        residues[i] = fit_residue(&points[i], logs[cases->of_point[i]]);
    errors_from(cases->arena, points, residues, count, out);
}

/* ---- runs left out ---------------------------------------------------------------------------------- */

/* The fit to all others of a fold, where `place` is that to all runs and `all` its slopes. With few runs each
 * is a fold and the fit is made again. With many a fold is a small part of them, and one step is enough (of a
 * linear model it is the fit without the fold, by the hat matrix). */
static void fit_others(const struct problem *problem, const struct place *place, const bool *chosen,
                       case_slopes *all, case_slopes *scratch, struct place *out, struct place *tried)
{
    move_to(problem, place, out);
    weigh_place(problem, out);
    if (problem->folds < FOLDS_MAX)
        refine(problem, chosen, scratch, out, tried);
    else
        improve(problem, chosen, all, out, tried);
}

/* Leaves out one fold after the other. */
static void hold_out(struct problem *problem, const struct place *standard, const struct place *fitted,
                     case_slopes *all, struct fit *out)
{
    struct place place = place_new(problem), tried = place_new(problem);
    case_slopes *scratch = ARENA_ARRAY(problem->cases.arena, case_slopes, problem->cases.count);
    double *residues = ARENA_ARRAY(problem->cases.arena, double, problem->count);
    double squares[FIT_FIGURES] = {0}, gain = 0;
    for (problem->without = 0; problem->without < problem->folds; problem->without++) {
        fit_others(problem, fitted, out->fitted, all, scratch, &place, &tried);
        for (size_t i = 0; i < problem->count; i++)
            if (left_out(problem, &problem->points[i])) {
                double before = residue_of(problem, standard, i);
                residues[i] = residue_of(problem, &place, i);
                squares[problem->points[i].figure] += residues[i] * residues[i];
                gain +=
                    weight_of(problem, &problem->points[i]) * (before * before - residues[i] * residues[i]);
            }
    }
    out->gains = gain > 0;
    errors_from(problem->cases.arena, problem->points, residues, problem->count, out->held_out);
    for (enum fit_figure i = 0; i < FIT_FIGURES; i++)
        out->spread[i] = out->held_out[i].count > 0 ? squares[i] / (double)out->held_out[i].count : 0;
}

/* ---- all of it -------------------------------------------------------------------------------------- */

/* Runs that differ in what the plan does not say scatter by more than those of one deployment, and must then
 * count for less: what is left after a first fit tells. */
static void weigh(struct problem *problem, const struct place *fitted)
{
    double squares[FIT_FIGURES] = {0}, counts[FIT_FIGURES] = {0};
    for (size_t i = 0; fitted && i < problem->count; i++) {
        double residue = residue_of(problem, fitted, i);
        squares[problem->points[i].figure] += residue * residue;
        counts[problem->points[i].figure]++;
    }
    for (enum fit_figure i = 0; i < FIT_FIGURES; i++) {
        double left = counts[i] > 0 ? squares[i] / counts[i] : 0;
        problem->weights[i] = 1 / fmax(scatter[i] * scatter[i], left);
    }
}

void fit_engine(struct arena *arena, const struct fit_point *points, size_t count, size_t runs,
                struct fit *out)
{
    size_t folds = runs < FOLDS_MAX ? runs : FOLDS_MAX;
    struct problem problem = {.points = points, .count = count, .folds = folds, .without = folds};
    fit_cases_of(arena, points, count, &problem.cases);
    struct place standard = place_new(&problem), fitted = place_new(&problem), tried = place_new(&problem);
    case_slopes *slopes = ARENA_ARRAY(arena, case_slopes, problem.cases.count);
    *out = (struct fit){.checked = runs > 1};
    weigh(&problem, NULL);
    stand_at(&problem, &standard);
    find_effects(&problem, &standard, slopes, out);
    find_bounds(&problem, &standard, out);
    move_to(&problem, &standard, &fitted);
    refine(&problem, out->fitted, slopes, &fitted, &tried);
    weigh(&problem, &fitted);
    refine(&problem, out->fitted, slopes, &fitted, &tried);
    struct normal normal =
        normal_at(&problem, &fitted, slopes_at(&problem, &fitted, out->fitted, slopes), out->fitted);
    normal_told(&normal, out->told);
    fit_measure(&problem.cases, points, count, standard.logs, out->before);
    fit_measure(&problem.cases, points, count, fitted.logs, out->after);
    for (enum coefficient i = 0; i < COEFFICIENT_COUNT; i++)
        out->change[i] = fabs(fitted.change[i]) < least_change ? 0 : fitted.change[i];
    if (out->checked)
        hold_out(&problem, &standard, &fitted, slopes, out);
    out->cases = problem.cases;
}

/* How much narrower the band of one deployment is than that of the standard engine before any run is left
 * out, and the squares of runs left out that eight of ten are within: tails are heavy, so it is one root mean
 * square, not 1.28 (docs/calibration.md section 11). */
static const struct {
    double narrower, squares;
} bands[FIT_FIGURES] = {[FIT_TPOT] = {0.62, 1}, [FIT_TTFT] = {0.85, 1.1}, [FIT_RATE] = {0.62, 1}};

struct pm_band fit_band(const struct fit *fit, enum fit_figure figure, struct pm_band standard,
                        bool one_deployment)
{
    static const double guess_runs = 0.3;
    double runs = fit->checked ? (double)fit->held_out[figure].count : 0;
    double guess = log(standard.high / standard.low) / 2 * (one_deployment ? bands[figure].narrower : 1);
    if (fit->before[figure].count == 0 || !(guess > 0))
        return (struct pm_band){0, 0};
    double left = runs * bands[figure].squares * fit->spread[figure];
    double width = sqrt((guess_runs * guess * guess + left) / (guess_runs + runs));
    double high = round(1000 * exp(width)) / 1000, low = round(1000 * exp(-width)) / 1000;
    return (struct pm_band){fmax(low, 0.01), fmin(high, 100)};
}
