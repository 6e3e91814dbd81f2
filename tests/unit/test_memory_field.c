/* test_memory_field.c: memory against what serving engines logged. The deployments are in
 * tests/field/memory.perf, the logged figures and the expressions that give them in tests/field/memory.cases.
 * UPDATE_GOLDENS=1 (`make validate`) writes docs/validation-memory.md: every row with its signed error. Where
 * the collection of reports that the figures come from stands beside the tree, no row of it may be missing
 * here or differ. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/intern.h"
#include "result/evaluate.h"
#include "run.h"
#include "sema/plan.h"
#include "source/diag.h"
#include "source/source.h"
#include "syntax/parse.h"

enum bound { KV, POOL_KV, WEIGHTS, ROUNDED, CAPACITY, ESTIMATE, MISSED, GIVEN, CHECK_COUNT };

static const struct {
    const char *name, *title, *bound;
    double relative; /* error allowed besides half of the last printed digit */
} checks[CHECK_COUNT] = {
    [KV] = {"kv", "Cache", "no error beyond the digits printed", 0},
    [POOL_KV] = {"pool-kv", "Pools of whole blocks", "up to one block", 0},
    [WEIGHTS] = {"weights", "Weights", "0.1 % and the digits printed", 1e-3},
    [ROUNDED] = {"rounded", "Weights, and what an allocator adds to tensors of odd sizes",
                 "0.1 % above, 1.5 % below", 1e-3},
    [CAPACITY] = {"capacity", "Pools and capacities, overheads from the log", "1 % and the digits printed",
                  1e-2},
    [ESTIMATE] = {"estimate", "Estimates by the engine's own rule", "25 %", 0.25},
    [MISSED] = {"missed", "Outside their bound", "none", 0},
    [GIVEN] = {"given", "Inputs, and what is no memory", "none", 0},
};

struct row {
    char *id, *observable, *logged, *unit, *scenario, *expression, *remark;
    enum bound check;
    double predicted; /* in the unit */
};

enum { ROWS_MAX = 256 };

static struct arena *arena;
static struct plan *plan;
static struct diags *diags;
static struct sources *sources;
static struct row rows[ROWS_MAX];
static size_t row_count;

/* ---- reading -------------------------------------------------------------------------------- */

/* Cuts the text at the separator and returns what follows; NULL: no more fields. */
static char *next_field(char **rest, char separator)
{
    char *field = *rest;
    if (field == NULL)
        return NULL;
    char *end = strchr(field, separator);
    *rest = end ? end + 1 : NULL;
    if (end)
        *end = '\0';
    return field;
}

static enum bound check_named(const char *name)
{
    for (enum bound i = 0; i < CHECK_COUNT; i++)
        if (strcmp(checks[i].name, name) == 0)
            return i;
    cr_assert_fail("`%s` is no check", name);
    return GIVEN;
}

static void read_rows(void)
{
    char *text = arena_strdup(arena, read_file(arena, source_path(arena, "tests/field/memory.cases"), NULL));
    for (char *line = next_field(&text, '\n'); line != NULL; line = next_field(&text, '\n')) {
        if (*line == '#' || *line == '\0')
            continue;
        cr_assert(row_count < ROWS_MAX);
        struct row *row = &rows[row_count++];
        row->id = next_field(&line, '|'), row->observable = next_field(&line, '|');
        row->logged = next_field(&line, '|'), row->unit = next_field(&line, '|');
        const char *check = next_field(&line, '|');
        cr_assert(check != NULL, "%s %s: too few fields", row->id, row->observable);
        row->check = check_named(check);
        row->scenario = next_field(&line, '|'), row->expression = next_field(&line, '|');
        row->remark = next_field(&line, '|');
        cr_assert(row->remark != NULL, "%s %s: too few fields", row->id, row->observable);
    }
}

/* ---- predicting ----------------------------------------------------------------------------- */

static double unit_scale(const char *unit)
{
    return strncmp(unit, "GiB", 3) == 0 ? 1073741824.0 : strncmp(unit, "MiB", 3) == 0 ? 1048576.0 : 1;
}

static void predict(struct row *row)
{
    struct decl *scenario = plan_find(plan, KIND_SCENARIO, row->scenario);
    cr_assert(scenario != NULL, "%s: no scenario `%s`", row->id, row->scenario);
    uint32_t file = sources_add(sources, row->observable, row->expression, strlen(row->expression), true);
    struct expr *expr = parse_expression(arena, plan_strings(plan), sources, file, diags);
    cr_assert(expr != NULL, "%s %s: `%s` is no expression", row->id, row->observable, row->expression);
    struct value value = plan_evaluate_in(plan, scenario, expr);
    cr_assert(value.type == VALUE_NUMBER, "%s %s: `%s` is no number", row->id, row->observable,
              row->expression);
    row->predicted = value.number / unit_scale(row->unit);
}

static void set_up(void)
{
    const char *unreadable;
    arena = arena_new();
    sources = sources_new(arena);
    diags = diags_new(arena);
    row_count = 0;
    plan = plan_load(arena, strings_new(arena), sources, diags, source_path(arena, "tests/field/memory.perf"),
                     (struct plan_options){0}, &unreadable);
    cr_assert(unreadable == NULL, "%s", unreadable);
    evaluator_new(plan);
    plan_check(plan);
    cr_assert(diags_errors(diags) == 0, "%s", diags_get(diags, 0)->message);
    read_rows();
    for (size_t i = 0; i < row_count; i++)
        if (rows[i].check != GIVEN)
            predict(&rows[i]);
}

static void tear_down(void)
{
    arena_free(arena);
}

TestSuite(memory_field, .init = set_up, .fini = tear_down);

/* ---- judging -------------------------------------------------------------------------------- */

/* Half of the last digit that was printed: 0.005 for "3.81". */
static double half_digit(const char *logged)
{
    const char *point = strchr(logged, '.');
    return 0.5 * pow(10, point ? -(double)strlen(point + 1) : 0);
}

static double error_of(const struct row *row)
{
    return row->predicted / strtod(row->logged, NULL) - 1;
}

static bool within(const struct row *row, enum bound check)
{
    double logged = strtod(row->logged, NULL), slack = half_digit(row->logged) * (1 + 1e-9);
    double off = row->predicted - logged;
    if (check == POOL_KV) { /* a block of 16 tokens, at most 2 MiB of these models */
        double block = 2097152 / unit_scale(row->unit);
        return off <= slack && off >= -slack - block;
    }
    if (check == ROUNDED && off < 0)
        return off >= -slack - 0.015 * logged;
    return fabs(off) <= slack + checks[check].relative * fabs(logged);
}

Test(memory_field, figures_are_within_their_bounds)
{
    size_t held = 0;
    for (size_t i = 0; i < row_count; i++) {
        const struct row *row = &rows[i];
        if (row->check == MISSED || row->check == GIVEN)
            continue;
        cr_expect(within(row, row->check), "case %s, %s: %.8g %s, logged %s (%+.3f %%)", row->id,
                  row->observable, row->predicted, row->unit, row->logged, 100 * error_of(row));
        held++;
    }
    cr_expect(held > 100, "only %zu figures were compared", held);
}

/* A row that is listed as missed has its reason, and is moved once it is met. */
Test(memory_field, what_is_missed_has_a_reason)
{
    for (size_t i = 0; i < row_count; i++) {
        const struct row *row = &rows[i];
        bool excused = row->check == ROUNDED || row->check == MISSED || row->check == GIVEN;
        cr_expect(!excused || *row->remark != '\0', "case %s, %s: no reason", row->id, row->observable);
        cr_expect(row->check != MISSED || !within(row, WEIGHTS), "case %s, %s is met now: %.8g", row->id,
                  row->observable, row->predicted);
    }
}

/* ---- the collection ------------------------------------------------------------------------- */

/* A field of a CSV line, quotes removed, in place. */
static char *next_csv(char **rest)
{
    char *field = *rest;
    if (field == NULL || *field != '"')
        return next_field(rest, ',');
    char *end = strchr(++field, '"');
    cr_assert(end != NULL);
    *end = '\0';
    *rest = end[1] == ',' ? end + 2 : NULL;
    return field;
}

static const struct row *row_of(const char *id, const char *observable)
{
    for (size_t i = 0; i < row_count; i++)
        if (strcmp(rows[i].id, id) == 0 && strcmp(rows[i].observable, observable) == 0)
            return &rows[i];
    return NULL;
}

Test(memory_field, no_logged_figure_is_left_out)
{
    enum { ID, KIND, SOURCE, OBSERVABLE = 11, VALUE, UNIT, FIELDS };
    const char *path = source_path(arena, "../shared/facts/field_cases.csv");
    char *text = file_exists(path) ? arena_strdup(arena, read_file(arena, path, NULL)) : NULL;
    if (text == NULL)
        cr_skip_test("no %s: whether a logged figure is left out was NOT tested", path);
    size_t exact = 0;
    next_field(&text, '\n');
    for (char *line = next_field(&text, '\n'); line != NULL; line = next_field(&text, '\n')) {
        char *fields[FIELDS] = {NULL};
        for (size_t i = 0; i < FIELDS; i++)
            fields[i] = next_csv(&line);
        if (fields[UNIT] == NULL || strcmp(fields[KIND], "EXACT") != 0)
            continue;
        const struct row *row = row_of(fields[ID], fields[OBSERVABLE]);
        exact++;
        cr_expect(row != NULL, "case %s, %s is left out", fields[ID], fields[OBSERVABLE]);
        cr_expect(row == NULL || strcmp(row->logged, fields[VALUE]) == 0, "case %s, %s: %s here, %s there",
                  fields[ID], fields[OBSERVABLE], row->logged, fields[VALUE]);
    }
    cr_expect(exact > 100, "only %zu rows were read", exact);
}

/* ---- the page ------------------------------------------------------------------------------- */

/* Sections whose rows each say why they are there. */
static bool gives_reasons(enum bound check)
{
    return check == MISSED || check == ROUNDED;
}

static void add_row(struct buffer *page, const struct row *row)
{
    buffer_printf(page, "| %s | %s | %s %s | ", row->id, row->observable, row->logged, row->unit);
    if (row->check == GIVEN) {
        buffer_printf(page, "%s |\n", row->remark);
        return;
    }
    double error = 100 * error_of(row);
    buffer_printf(page, "%.7g | %s%.3f %% | `%s`: `%s` |%s%s%s\n", row->predicted,
                  error < -5e-4  ? "\xE2\x88\x92"
                  : error > 5e-4 ? "+"
                                 : "",
                  fabs(error), row->scenario, row->expression, gives_reasons(row->check) ? " " : "",
                  gives_reasons(row->check) ? row->remark : "", gives_reasons(row->check) ? " |" : "");
}

static void add_section(struct buffer *page, enum bound check)
{
    size_t count = 0;
    double sum = 0, worst = 0;
    for (size_t i = 0; i < row_count; i++) {
        if (rows[i].check != check)
            continue;
        count++;
        sum += check == GIVEN ? 0 : fabs(error_of(&rows[i]));
        worst = check == GIVEN ? 0 : fmax(worst, fabs(error_of(&rows[i])));
    }
    buffer_printf(page, "\n## %s\n\n", checks[check].title);
    if (check == GIVEN)
        buffer_printf(page, "| case | figure | logged | why it is not compared |\n|---|---|---|---|\n");
    else
        buffer_printf(page,
                      "Bound: %s. %zu figures, mean absolute error %.3f %%, worst %.3f %%.\n\n"
                      "| case | figure | logged | here | error | how |%s\n|---|---|---|---|---|---|%s\n",
                      checks[check].bound, count, 100 * sum / (double)count, 100 * worst,
                      gives_reasons(check) ? " reason |" : "", gives_reasons(check) ? "---|" : "");
    for (size_t i = 0; i < row_count; i++)
        if (rows[i].check == check)
            add_row(page, &rows[i]);
}

static const char page_head[] =
    "# Memory against what engines logged\n\n"
    "<!-- Made by `make validate` from tests/field/memory.perf and tests/field/memory.cases. -->\n\n"
    "Every figure was printed by a serving engine, or stands in a public report; `tests/field/memory.cases` "
    "has\n"
    "them all, `tests/field/memory.perf` the deployments. Errors are signed: minus is too little here.\n"
    "A figure that cannot be met is listed with its reason, and a test fails once it is met after all.\n";

Test(memory_field, page)
{
    struct buffer page = buffer_in(arena);
    buffer_printf(&page, "%s", page_head);
    for (enum bound check = 0; check < CHECK_COUNT; check++)
        add_section(&page, check);
    const char *path = source_path(arena, "docs/validation-memory.md");
    const char *text = file_exists(path) ? read_file(arena, path, NULL) : NULL;
    if (text != NULL && strcmp(text, buffer_string(&page)) == 0)
        return;
    if (getenv("UPDATE_GOLDENS") != NULL)
        write_file(path, page.data, page.length);
    else
        cr_assert_fail("docs/validation-memory.md is not what the cases give; run `make validate`");
}
