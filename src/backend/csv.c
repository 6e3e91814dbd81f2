/* csv.c: one row per scenario and sweep point, one column per quantity, for spreadsheets (RFC 4180, CRLF line
 * ends). What a sweep changes stands in columns of its own, "sweep.batch", right after the scenario.
 *
 * Numbers are in SI units, which the heading names: "tpot (s)". A quantity that does not exist is an empty
 * field. A text that a spreadsheet would take for a formula gets an apostrophe before it (OWASP, CSV
 * injection). */
#include <math.h>
#include <string.h>

#include "backend/clean.h"
#include "backend/emitters.h"
#include "backend/json_number.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"
#include "result/name.h"
#include "result/quantity.h"
#include "result/report.h"

struct csv_column {
    const char *name; /* interned; without the scenario */
    const char *unit; /* NULL for words and truths */
    size_t index;
};

struct csv_row {
    const char *scenario;
    VEC(const struct report_quantity *) cells; /* by column index, NULL where there is none */
};

struct csv_grid {
    struct arena *arena;
    struct strings *strings;
    struct map *columns_by_name, *rows_by_name;
    VEC(const struct csv_column *) columns; /* in order of first appearance */
    VEC(struct csv_row *) rows;             /* in order of declaration */
};

static void write_field(struct arena *arena, struct buffer *out, const char *text)
{
    const char *clean = clean_line(arena, text);
    const char *first = clean + strspn(clean, " ");
    bool formula = *first != '\0' && strchr("=+-@", *first) != NULL;
    if (!formula && strpbrk(clean, "\",") == NULL) {
        buffer_text(out, clean);
        return;
    }
    buffer_text(out, formula ? "\"'" : "\"");
    for (const char *at = clean; *at; at++) {
        if (*at == '"')
            buffer_byte(out, '"');
        buffer_byte(out, *at);
    }
    buffer_byte(out, '"');
}

static struct csv_row *find_row(struct csv_grid *grid, const char *name, const char **rest)
{
    /* A scenario's name may hold dots ("llama-3.1", `"a.b c"`), so the longest that is one wins. */
    for (const char *dot = name + strlen(name); dot > name; dot--) {
        if (*dot != '.')
            continue;
        struct csv_row *row = map_get(grid->rows_by_name, intern(grid->strings, name, (size_t)(dot - name)));
        if (row) {
            *rest = dot + 1;
            return row;
        }
    }
    return NULL;
}

static const struct csv_column *find_column(struct csv_grid *grid, const char *name, const char *unit)
{
    const char *key = intern_text(grid->strings, name);
    struct csv_column *column = map_get(grid->columns_by_name, key);
    if (!column) {
        column = ARENA_NEW(grid->arena, struct csv_column);
        column->name = key;
        column->index = grid->columns.count;
        map_put(grid->columns_by_name, key, column);
        *VEC_PUSH(grid->arena, grid->columns) = column;
    }
    if (!column->unit)
        column->unit = unit;
    return column;
}

static void put_cell(struct csv_grid *grid, struct csv_row *row, const char *column,
                     const struct report_quantity *quantity)
{
    const char *unit = quantity->type == QUANTITY_NUMBER ? quantity->unit : NULL;
    size_t index = find_column(grid, column, unit)->index;
    while (row->cells.count <= index)
        *VEC_PUSH(grid->arena, row->cells) = NULL;
    row->cells.items[index] = quantity;
}

/* Of a card or a model that is called like a scenario, and so has no row. */
static bool is_of_others(const struct csv_grid *grid, const char *path)
{
    if (map_get(grid->columns_by_name, intern_text(grid->strings, path)) ||
        quantity_find(QUANTITY_OF_SCENARIO, path))
        return false;
    return quantity_find(QUANTITY_OF_GPU, path) || quantity_find(QUANTITY_OF_MODEL, path);
}

static void place(struct csv_grid *grid, const struct report_quantity *quantity)
{
    const char *path;
    struct csv_row *row = find_row(grid, quantity->name, &path);
    if (row && !is_of_others(grid, path))
        put_cell(grid, row, path, quantity);
}

/* ---- sweeps */

static const char *axis_column(struct csv_grid *grid, const char *axis)
{
    return arena_printf(grid->arena, "sweep.%s", axis);
}

/* Before all other columns. */
static void add_axis_columns(struct csv_grid *grid, const struct report *report)
{
    for (size_t i = 0; i < report->sweeps.count; i++)
        for (size_t j = 0; j < report->sweeps.items[i].axes.count; j++)
            find_column(grid, axis_column(grid, report->sweeps.items[i].axes.items[j]), NULL);
}

static void add_point(struct csv_grid *grid, const struct report_sweep *sweep,
                      const struct report_sweep_point *point)
{
    struct csv_row *row = ARENA_NEW(grid->arena, struct csv_row);
    row->scenario = sweep->scenario;
    *VEC_PUSH(grid->arena, grid->rows) = row;
    for (size_t i = 0; i < point->axes.count; i++)
        put_cell(grid, row, axis_column(grid, point->axes.items[i].name), &point->axes.items[i]);
    for (size_t i = 0; i < point->shown.count; i++)
        put_cell(grid, row, point->shown.items[i].name, &point->shown.items[i]);
    if (point->why)
        return;
    struct report_quantity *fits = ARENA_NEW(grid->arena, struct report_quantity);
    *fits = (struct report_quantity){.name = "fits", .type = QUANTITY_BOOL, .boolean = point->fits};
    put_cell(grid, row, fits->name, fits);
}

static void add_points(struct csv_grid *grid, const struct report *report)
{
    for (size_t i = 0; i < report->sweeps.count; i++)
        for (size_t j = 0; j < report->sweeps.items[i].points.count; j++)
            add_point(grid, &report->sweeps.items[i], &report->sweeps.items[i].points.items[j]);
}

/* ---- writing */

static void write_heading(struct csv_grid *grid, struct buffer *out)
{
    buffer_text(out, "scenario");
    for (size_t i = 0; i < grid->columns.count; i++) {
        const struct csv_column *column = grid->columns.items[i];
        bool unit = column->unit && strcmp(column->unit, "1") != 0;
        buffer_byte(out, ',');
        write_field(grid->arena, out,
                    unit ? arena_printf(grid->arena, "%s (%s)", column->name, column->unit) : column->name);
    }
    buffer_text(out, "\r\n");
}

static void write_cell(struct csv_grid *grid, struct buffer *out, const struct report_quantity *quantity)
{
    char text[NUMBER_TEXT_MAX];
    switch (quantity->type) {
    case QUANTITY_NUMBER:
        if (isfinite(quantity->value))
            buffer_text(out, json_number(text, quantity->value));
        break;
    case QUANTITY_BOOL: buffer_text(out, quantity->boolean ? "true" : "false"); break;
    case QUANTITY_TEXT: write_field(grid->arena, out, quantity->text); break;
    case QUANTITY_ABSENT: break;
    }
}

static void write_row(struct csv_grid *grid, struct buffer *out, const struct csv_row *row)
{
    write_field(grid->arena, out, row->scenario);
    for (size_t i = 0; i < grid->columns.count; i++) {
        buffer_byte(out, ',');
        if (i < row->cells.count && row->cells.items[i])
            write_cell(grid, out, row->cells.items[i]);
    }
    buffer_text(out, "\r\n");
}

bool csv_emit(struct arena *arena, const struct report *report, struct backend_options options,
              struct buffer *out)
{
    (void)options;
    struct csv_grid grid = {.arena = arena,
                            .strings = strings_new(arena),
                            .columns_by_name = map_new(arena),
                            .rows_by_name = map_new(arena)};
    for (size_t i = 0; i < report->scenarios.count; i++) {
        struct csv_row *row = ARENA_NEW(arena, struct csv_row);
        row->scenario = report->scenarios.items[i];
        *VEC_PUSH(arena, grid.rows) = row;
        map_put(grid.rows_by_name, intern_text(grid.strings, name_text(arena, row->scenario)), row);
    }
    add_axis_columns(&grid, report);
    for (size_t i = 0; i < report->quantities.count; i++)
        place(&grid, &report->quantities.items[i]);
    add_points(&grid, report);
    write_heading(&grid, out);
    for (size_t i = 0; i < grid.rows.count; i++)
        write_row(&grid, out, grid.rows.items[i]);
    return true;
}
