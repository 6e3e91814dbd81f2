/* statistics.c: errors of predictions, whole and by group. */
#include "validate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return left < right ? -1 : left > right;
}

static double quantile(double *values, size_t count, double share)
{
    if (count == 0)
        return 0;
    qsort(values, count, sizeof *values, ascending);
    double at = share * (double)(count - 1);
    size_t below = (size_t)at;
    double above = below + 1 < count ? values[below + 1] : values[below];
    return values[below] + (at - (double)below) * (above - values[below]);
}

static bool has_label(const struct point *point, int index, const char *label)
{
    return label == NULL || (point->labels[index] != NULL && strcmp(point->labels[index], label) == 0);
}

struct errors errors_of(struct arena *arena, const struct points *points, int index, const char *label)
{
    double *size = ARENA_ARRAY(arena, double, points->list.count + 1);
    double *sign = ARENA_ARRAY(arena, double, points->list.count + 1);
    struct errors out = {0};
    for (size_t i = 0; i < points->list.count; i++) {
        const struct point *point = &points->list.items[i];
        if (!has_label(point, index, label))
            continue;
        double error = point->predicted / point->measured - 1;
        sign[out.count] = error;
        size[out.count++] = fabs(error);
        out.mean += fabs(error);
        out.within_20 += fabs(error) <= 0.2;
        out.inside += point->measured >= point->low && point->measured <= point->high;
    }
    if (out.count == 0)
        return out;
    double count = (double)out.count;
    out.mean /= count;
    out.within_20 /= count;
    out.inside /= count;
    out.median = quantile(size, out.count, 0.5);
    out.p90 = quantile(size, out.count, 0.9);
    out.bias = quantile(sign, out.count, 0.5);
    return out;
}

void errors_header(struct buffer *out, const char *first)
{
    buffer_printf(
        out,
        "| %s | rows | median error %% | mean %% | P90 %% | within 20 %% | bias %% | inside band %% |\n"
        "|---|---:|---:|---:|---:|---:|---:|---:|\n",
        first);
}

void errors_row(struct buffer *out, const char *name, const struct errors *errors)
{
    buffer_printf(out, "| %s | %zu | %.1f | %.1f | %.0f | %.0f | %+.1f | %.0f |\n", name, errors->count,
                  100 * errors->median, 100 * errors->mean, 100 * errors->p90, 100 * errors->within_20,
                  100 * errors->bias, 100 * errors->inside);
}

struct names {
    VEC(const char *) list;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static struct names labels_of(struct arena *arena, const struct points *points, int index, bool sorted)
{
    struct names names = {0};
    for (size_t i = 0; i < points->list.count; i++) {
        const char *label = points->list.items[i].labels[index];
        bool known = label == NULL;
        for (size_t j = 0; j < names.list.count && !known; j++)
            known = strcmp(names.list.items[j], label) == 0;
        if (!known)
            *VEC_PUSH(arena, names.list) = label;
    }
    if (sorted && names.list.count > 1)
        qsort(names.list.items, names.list.count, sizeof names.list.items[0], by_name);
    return names;
}

void errors_by(struct arena *arena, struct buffer *out, const char *what, const struct points *points,
               int index, bool sorted)
{
    struct names names = labels_of(arena, points, index, sorted);
    errors_header(out, what);
    for (size_t i = 0; i < names.list.count; i++) {
        struct errors errors = errors_of(arena, points, index, names.list.items[i]);
        errors_row(out, names.list.items[i], &errors);
    }
    buffer_text(out, "\n");
}

double median_of_groups(struct arena *arena, const struct points *points, int index)
{
    struct names names = labels_of(arena, points, index, true);
    double *medians = ARENA_ARRAY(arena, double, names.list.count + 1);
    for (size_t i = 0; i < names.list.count; i++)
        medians[i] = errors_of(arena, points, index, names.list.items[i]).median;
    return quantile(medians, names.list.count, 0.5);
}

static double distance(const struct point *point)
{
    return fabs(log(point->predicted / point->measured));
}

static int farthest(const void *a, const void *b)
{
    double left = distance(*(const struct point *const *)a),
           right = distance(*(const struct point *const *)b);
    return left > right ? -1 : left < right;
}

size_t worst_points(struct arena *arena, const struct points *points, size_t most, const struct point **worst)
{
    const struct point **all = ARENA_ARRAY(arena, const struct point *, points->list.count + 1);
    for (size_t i = 0; i < points->list.count; i++)
        all[i] = &points->list.items[i];
    if (points->list.count > 1)
        qsort(all, points->list.count, sizeof *all, farthest);
    size_t count = points->list.count < most ? points->list.count : most;
    memcpy(worst, all, count * sizeof *all);
    return count;
}
