/* test_cli_worked.c: every row of the worked numbers (tests/worked/worked.csv, hand-checked arithmetic)
 * reproduced by perfc to 1e-9 from a plan. tests/worked/worked.perf has a `let` named after each row. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "run.h"

/* A row as the test needs it: id, value, unit. */
struct row {
    char *id, *value, *unit;
};

/* Splits a CSV line in place; quotes guard commas. */
static struct lines fields_of(struct arena *arena, const char *line)
{
    struct lines fields = {{0}};
    for (;;) {
        struct buffer field = buffer_in(arena);
        bool quoted = false;
        for (; *line != '\0' && (quoted || *line != ','); line++) {
            if (*line == '"')
                quoted = !quoted;
            else
                buffer_byte(&field, *line);
        }
        *VEC_PUSH(arena, fields.list) = arena_strdup(arena, buffer_string(&field));
        if (*line++ == '\0')
            return fields;
    }
}

/* "none" in the table: the quantity does not exist, and perfc must say so rather than invent a number. */
static const char *const absent_row = "critical_batch_4096";
static const char *const absent_quantity = "s4096.critical_batch";

static struct run run_plan(struct arena *arena, const char *text)
{
    const char *path = scratch_file(arena, "worked.perf", text);
    return RUN(arena, "-f", "json", path);
}

Test(cli_worked, every_row_to_nine_digits)
{
    struct arena *arena = arena_new();
    const char *csv = read_file(arena, source_path(arena, "tests/worked/worked.csv"), NULL);
    cr_assert_not_null(csv);
    const char *plan = read_file(arena, source_path(arena, "tests/worked/worked.perf"), NULL);
    cr_assert_not_null(plan);
    struct buffer text = buffer_in(arena);
    buffer_text(&text, plan);
    buffer_byte(&text, '\n');
    struct lines lines = split_lines(arena, csv);
    size_t rows = 0;
    for (size_t i = 1; i < lines.list.count; i++) {
        struct lines fields = fields_of(arena, lines.list.items[i]);
        if (fields.list.count < 5)
            continue;
        struct row row = {fields.list.items[0], fields.list.items[3], fields.list.items[4]};
        rows++;
        cr_assert_not_null(strstr(plan, arena_printf(arena, "\nlet %s ", row.id)), "no `let %s`", row.id);
        if (strcmp(row.id, absent_row) != 0) {
            const char *unit = strcmp(row.unit, "1") == 0 ? "" : row.unit;
            buffer_printf(&text, "assert abs(%s / %s %s - 1) <= 1e-9 \"%s\"\n", row.id, row.value, unit,
                          row.id);
        }
    }
    cr_assert(rows >= 61, "%zu rows", rows);
    struct run run = run_plan(arena, buffer_string(&text));
    cr_assert_eq(run.status, 0, "%s\n%.20000s", run.err, run.status == 5 ? run.out : "");

    json_error_t error;
    json_t *report = json_loads(run.out, 0, &error);
    cr_assert_not_null(report, "%s", error.text);
    json_t *assertions = json_object_get(report, "assertions");
    cr_assert_eq(json_array_size(assertions), rows - 1);
    for (size_t i = 0; i < json_array_size(assertions); i++) {
        json_t *assertion = json_array_get(assertions, i);
        cr_assert(json_is_true(json_object_get(assertion, "holds")), "%s",
                  json_string_value(json_object_get(assertion, "message")));
    }
    json_t *absent = json_object_get(json_object_get(report, "quantities"), absent_quantity);
    cr_assert_not_null(absent);
    cr_assert(json_is_null(json_object_get(absent, "value")));
    cr_assert(json_is_string(json_object_get(absent, "why")));
    json_decref(report);
    arena_free(arena);
}

/* A row that is wrong in the tenth digit must fail, or the test above says nothing. */
Test(cli_worked, the_comparison_can_fail)
{
    struct arena *arena = arena_new();
    const char *plan = read_file(arena, source_path(arena, "tests/worked/worked.perf"), NULL);
    struct run run = run_plan(
        arena, arena_printf(arena, "%s\nassert abs(t_memory_4096 / 0.00807374184 s - 1) <= 1e-10\n", plan));
    cr_assert_eq(run.status, 5);
    arena_free(arena);
}
