/* fit_normal.c: ridge regression over the coefficients of an engine. */
#include "result/fit_normal.h"

#include <math.h>

double normal_prior(enum coefficient coefficient)
{
    double spread = coefficient_info(coefficient).spread;
    return 1 / (spread * spread);
}

struct normal normal_of(const bool chosen[COEFFICIENT_COUNT])
{
    struct normal normal = {0};
    for (enum coefficient i = 0; i < COEFFICIENT_COUNT; i++)
        if (chosen[i])
            normal.of[normal.size++] = i;
    for (size_t i = 0; i < normal.size; i++)
        normal.matrix[i][i] = normal_prior(normal.of[i]);
    return normal;
}

void normal_add(struct normal *normal, const double slopes[COEFFICIENT_COUNT], double target, double weight)
{
    for (size_t i = 0; i < normal->size; i++) {
        double scaled = weight * slopes[normal->of[i]];
        for (size_t j = 0; j < normal->size; j++)
            normal->matrix[i][j] += scaled * slopes[normal->of[j]];
        normal->right[i] += scaled * target;
    }
}

/* By Cholesky's decomposition; the pull makes the matrix positive definite. */
static void solve(const struct normal *normal, double out[COEFFICIENT_COUNT])
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
    for (size_t i = size; i-- > 0;) {
        double sum = middle[i];
        for (size_t k = i + 1; k < size; k++)
            sum -= lower[k][i] * out[normal->of[k]];
        out[normal->of[i]] = sum / lower[i][i];
    }
}

/* Without the coefficient at this place, which is `value`. */
static void fix(struct normal *normal, size_t place, double value)
{
    normal->size--;
    for (size_t i = 0; i <= normal->size; i++)
        normal->right[i] -= normal->matrix[i][place] * value;
    for (size_t i = place; i < normal->size; i++) {
        normal->of[i] = normal->of[i + 1];
        normal->right[i] = normal->right[i + 1];
        for (size_t j = 0; j <= normal->size; j++)
            normal->matrix[i][j] = normal->matrix[i + 1][j];
    }
    for (size_t j = place; j < normal->size; j++)
        for (size_t i = 0; i < normal->size; i++)
            normal->matrix[i][j] = normal->matrix[i][j + 1];
}

/* The place of the coefficient that is farthest outside; `size` when all are inside. */
static size_t farthest(const struct normal *normal, const struct normal_bounds *bounds, const double *values)
{
    size_t found = normal->size;
    double most = 0;
    for (size_t i = 0; i < normal->size; i++) {
        enum coefficient it = normal->of[i];
        double outside = fmax(bounds->low[it] - values[it], values[it] - bounds->high[it]);
        if (outside > most) {
            most = outside;
            found = i;
        }
    }
    return found;
}

void normal_solve(const struct normal *normal, const struct normal_bounds *bounds,
                  double out[COEFFICIENT_COUNT])
{
    struct normal rest = *normal;
    for (enum coefficient i = 0; i < COEFFICIENT_COUNT; i++)
        out[i] = 0;
    for (;;) {
        solve(&rest, out);
        size_t place = farthest(&rest, bounds, out);
        if (place == rest.size)
            return;
        enum coefficient it = rest.of[place];
        out[it] = fmax(fmin(out[it], bounds->high[it]), bounds->low[it]);
        fix(&rest, place, out[it]);
    }
}

void normal_told(const struct normal *normal, double out[COEFFICIENT_COUNT])
{
    struct normal unit = *normal;
    for (size_t j = 0; j < unit.size; j++) {
        double column[COEFFICIENT_COUNT];
        for (size_t k = 0; k < unit.size; k++)
            unit.right[k] = k == j;
        solve(&unit, column);
        out[unit.of[j]] = 1 - column[unit.of[j]] * normal_prior(unit.of[j]);
    }
}
