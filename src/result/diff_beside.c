/* diff_beside.c: what is compared beside scenarios: models and cards, quantity by quantity, and sweeps, point
 * by point. */
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/intern.h"
#include "base/map.h"
#include "result/diff_internal.h"

/* ---- models and cards --------------------------------------------------------------------------- */

static void compare_quantities(struct arena *arena, const struct diff *diff, enum quantity_scope scope,
                               struct diff_declaration *declaration)
{
    for (size_t i = 0; i < QUANTITY_COUNT; i++) {
        const struct quantity_info *row = quantity_info((enum quantity)i);
        if (row->scope != scope)
            continue;
        const struct report_quantity *old = report_index_find(diff->old_index, declaration->name, row->name);
        const struct report_quantity *new = report_index_find(diff->new_index, declaration->name, row->name);
        if (old && new && !diff_same_quantity(old, new))
            *VEC_PUSH(arena, declaration->figures) = diff_figure_of(row, old, new);
    }
}

static bool is_among(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static void compare_kind(struct arena *arena, struct diff *diff, enum quantity_scope scope,
                         const char *const *old, size_t old_count, const char *const *new, size_t new_count)
{
    const char *kind = scope == QUANTITY_OF_MODEL ? "model" : "gpu";
    for (size_t i = 0; i < new_count; i++) {
        struct diff_declaration declaration = {.kind = kind, .name = new[i], .state = DIFF_KEPT};
        if (!is_among(new[i], old, old_count))
            declaration.state = DIFF_NEW;
        else
            compare_quantities(arena, diff, scope, &declaration);
        if (declaration.state == DIFF_NEW || declaration.figures.count > 0)
            *VEC_PUSH(arena, diff->declarations) = declaration;
    }
    for (size_t i = 0; i < old_count; i++)
        if (!is_among(old[i], new, new_count))
            *VEC_PUSH(arena, diff->declarations) =
                (struct diff_declaration){.kind = kind, .name = old[i], .state = DIFF_REMOVED};
}

void diff_declarations(struct arena *arena, struct diff *diff)
{
    const struct report *old = diff->old, *new = diff->new;
    compare_kind(arena, diff, QUANTITY_OF_MODEL, old->models.items, old->models.count, new->models.items,
                 new->models.count);
    compare_kind(arena, diff, QUANTITY_OF_GPU, old->gpus.items, old->gpus.count, new->gpus.items,
                 new->gpus.count);
}

/* ---- sweeps --------------------------------------------------------------------------------------- */

static bool same_axes(const struct report_sweep *a, const struct report_sweep *b)
{
    if (strcmp(a->scenario, b->scenario) != 0 || a->axes.count != b->axes.count)
        return false;
    for (size_t i = 0; i < a->axes.count; i++)
        if (strcmp(a->axes.items[i], b->axes.items[i]) != 0)
            return false;
    return true;
}

/* The sweep of the same scenario over the same attributes; the n-th of several. */
static const struct report_sweep *find_sweep(const struct report *report, const struct report_sweep *like,
                                             size_t nth)
{
    for (size_t i = 0; i < report->sweeps.count; i++)
        if (same_axes(&report->sweeps.items[i], like) && nth-- == 0)
            return &report->sweeps.items[i];
    return NULL;
}

static size_t alike_before(const struct report *report, size_t index)
{
    size_t count = 0;
    for (size_t i = 0; i < index; i++)
        count += same_axes(&report->sweeps.items[i], &report->sweeps.items[index]);
    return count;
}

/* What stands on the axes, as a key: equal points have equal texts. */
static const char *key_of(struct arena *arena, struct strings *strings,
                          const struct report_sweep_point *point)
{
    struct buffer key = buffer_in(arena);
    for (size_t i = 0; i < point->axes.count; i++) {
        const struct report_quantity *axis = &point->axes.items[i];
        char number[NUMBER_TEXT_MAX];
        buffer_printf(&key, "%d %s\n", (int)axis->type,
                      axis->type == QUANTITY_NUMBER ? number_shortest(number, axis->value)
                      : axis->type == QUANTITY_BOOL ? (axis->boolean ? "true" : "false")
                                                    : axis->text);
    }
    return intern_text(strings, buffer_string(&key));
}

const struct report_quantity *diff_shown_at(const struct report_sweep_point *point, const char *name)
{
    for (size_t i = 0; i < point->shown.count; i++)
        if (strcmp(point->shown.items[i].name, name) == 0)
            return &point->shown.items[i];
    return NULL;
}

/* The row that judges a shown name: of "tpot.high" that of "tpot". NULL for attributes, which are inputs. */
static const struct quantity_info *row_of(struct arena *arena, const char *name, const char **label)
{
    const struct quantity_info *row = quantity_find(QUANTITY_OF_SCENARIO, name);
    const char *dot = strrchr(name, '.');
    *label = NULL;
    if (row || !dot || (strcmp(dot, ".low") != 0 && strcmp(dot, ".high") != 0))
        return row;
    *label = name;
    return quantity_find(QUANTITY_OF_SCENARIO, arena_strndup(arena, name, (size_t)(dot - name)));
}

static void compare_shown(struct arena *arena, struct diff_point *out, const struct report_quantity *old,
                          const struct report_quantity *new)
{
    const char *label;
    const struct quantity_info *row = row_of(arena, new->name, &label);
    if (!row || row->id == Q_FITS || diff_same_quantity(old, new))
        return;
    struct diff_figure *figure = VEC_PUSH(arena, out->figures);
    *figure = diff_figure_of(row, old, new);
    figure->label = label;
}

static const struct report_quantity *fits_of(struct arena *arena, const struct report_sweep_point *point)
{
    struct report_quantity *fits = ARENA_NEW(arena, struct report_quantity);
    *fits = (struct report_quantity){.name = "fits", .type = QUANTITY_BOOL, .boolean = point->fits};
    if (point->why)
        *fits = (struct report_quantity){.name = "fits", .type = QUANTITY_ABSENT, .text = point->why};
    return fits;
}

static void judge_point(struct diff_sweep *sweep, const struct diff_point *point)
{
    bool worse = false, better = false;
    for (size_t i = 0; i < point->figures.count; i++) {
        worse = worse || point->figures.items[i].change == CHANGE_WORSE;
        better = better || point->figures.items[i].change == CHANGE_BETTER;
    }
    sweep->worse += worse;
    sweep->better += better;
}

static void compare_point(struct arena *arena, struct diff_sweep *sweep, const struct report_sweep_point *old,
                          const struct report_sweep_point *new)
{
    struct diff_point point = {.state = DIFF_KEPT, .point = new};
    const struct report_quantity *old_fits = fits_of(arena, old), *new_fits = fits_of(arena, new);
    sweep->kept++;
    if (!diff_same_quantity(old_fits, new_fits))
        *VEC_PUSH(arena, point.figures) = diff_figure_of(quantity_info(Q_FITS), old_fits, new_fits);
    for (size_t i = 0; i < new->shown.count; i++) {
        const struct report_quantity *before = diff_shown_at(old, new->shown.items[i].name);
        if (before)
            compare_shown(arena, &point, before, &new->shown.items[i]);
    }
    if (point.figures.count == 0)
        return;
    sweep->changed++;
    judge_point(sweep, &point);
    *VEC_PUSH(arena, sweep->points) = point;
}

static struct map *index_points(struct arena *arena, struct strings *strings,
                                const struct report_sweep *sweep)
{
    struct map *index = map_new(arena);
    for (size_t i = 0; i < sweep->points.count; i++)
        map_put(index, key_of(arena, strings, &sweep->points.items[i]), &sweep->points.items[i]);
    return index;
}

static void compare_points(struct arena *arena, struct diff_sweep *out, const struct report_sweep *old,
                           const struct report_sweep *new)
{
    struct strings *strings = strings_new(arena);
    struct map *before = index_points(arena, strings, old), *after = index_points(arena, strings, new);
    for (size_t i = 0; i < new->points.count; i++) {
        const struct report_sweep_point *point = &new->points.items[i];
        const struct report_sweep_point *same = map_get(before, key_of(arena, strings, point));
        if (same)
            compare_point(arena, out, same, point);
        else
            *VEC_PUSH(arena, out->points) = (struct diff_point){.state = DIFF_NEW, .point = point};
        out->added += same == NULL;
    }
    for (size_t i = 0; i < old->points.count; i++) {
        const struct report_sweep_point *point = &old->points.items[i];
        if (map_get(after, key_of(arena, strings, point)))
            continue;
        *VEC_PUSH(arena, out->points) = (struct diff_point){.state = DIFF_REMOVED, .point = point};
        out->removed++;
    }
}

void diff_each_point(struct arena *arena, const struct diff *diff, diff_point_visitor *visit, void *context)
{
    const struct report *new = diff->new;
    for (size_t i = 0; i < new->sweeps.count; i++) {
        const struct report_sweep *sweep = &new->sweeps.items[i];
        const struct report_sweep *old = find_sweep(diff->old, sweep, alike_before(new, i));
        struct strings *strings = strings_new(arena);
        struct map *before = old ? index_points(arena, strings, old) : NULL;
        for (size_t j = 0; j < sweep->points.count; j++) {
            const struct report_sweep_point *point = &sweep->points.items[j];
            visit(context, sweep, before ? map_get(before, key_of(arena, strings, point)) : NULL, point);
        }
    }
}

static void add_lone_sweep(struct arena *arena, struct diff *diff, const struct report_sweep *sweep,
                           enum diff_state state)
{
    *VEC_PUSH(arena, diff->sweeps) = (struct diff_sweep){.sweep = sweep, .state = state};
}

void diff_sweeps(struct arena *arena, struct diff *diff)
{
    const struct report *old = diff->old, *new = diff->new;
    for (size_t i = 0; i < new->sweeps.count; i++) {
        const struct report_sweep *sweep = &new->sweeps.items[i];
        const struct report_sweep *before = find_sweep(old, sweep, alike_before(new, i));
        struct diff_sweep out = {.sweep = sweep, .state = DIFF_KEPT};
        if (!before) {
            add_lone_sweep(arena, diff, sweep, DIFF_NEW);
            continue;
        }
        compare_points(arena, &out, before, sweep);
        if (out.points.count > 0)
            *VEC_PUSH(arena, diff->sweeps) = out;
    }
    for (size_t i = 0; i < old->sweeps.count; i++)
        if (!find_sweep(new, &old->sweeps.items[i], alike_before(old, i)))
            add_lone_sweep(arena, diff, &old->sweeps.items[i], DIFF_REMOVED);
}
