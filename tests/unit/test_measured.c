/* test_measured.c: measurements of variants and tables of runs. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "result/measured.h"
#include "result_fixture.h"
#include "run.h"
#include "source/table.h"

static struct arena *arena;

static void set_up(void)
{
    arena = arena_new();
}

static void tear_down(void)
{
    arena_free(arena);
}

TestSuite(table, .init = set_up, .fini = tear_down);
TestSuite(measured, .init = set_up, .fini = tear_down);

/* ---- tables -------------------------------------------------------------------------------------- */

struct read {
    bool good;
    struct table table;
    struct diags *diags;
    const struct source *source;
};

static struct read read_text(const char *text, size_t length)
{
    struct sources *sources = sources_new(arena);
    struct read out = {.diags = diags_new(arena)};
    uint32_t file = sources_add_data(sources, "runs.csv", arena_strndup(arena, text, length), length);
    out.good = table_read(arena, sources, out.diags, file, &out.table);
    out.source = sources_get(sources, file);
    return out;
}

/* The message of a table that cannot be read, with its place in front: "2:4 this quote is not closed". */
static const char *fault_of(const char *text, size_t length)
{
    struct read read = read_text(text, length);
    unsigned line, column;
    cr_assert(!read.good && diags_count(read.diags) == 1, "%s", text);
    const struct diag *diag = diags_get(read.diags, 0);
    cr_assert_eq(diag->code, DIAG_E0408);
    source_position(read.source, diag->span.start, &line, &column);
    return arena_printf(arena, "%u:%u %s", line, column, diag->message);
}

#define FAULT(text) fault_of(text, sizeof text - 1)

/* RFC 4180: quotes, doubled quotes, separators and line breaks inside of quotes, CRLF, no last line end. */
Test(table, reads_quoted_fields)
{
    static const char text[] =
        "name,\"a, b\",c\r\n\"say \"\"hi\"\"\", plain , \"two\r\nlines\"\r\n\r\n,,\"\"";
    struct read read = read_text(text, sizeof text - 1);
    cr_assert(read.good && read.table.columns == 3 && read.table.count == 2);
    cr_assert_str_eq(read.table.header.fields[1].text, "a, b");
    cr_assert_str_eq(read.table.rows[0].fields[0].text, "say \"hi\"");
    cr_assert_str_eq(read.table.rows[0].fields[1].text, "plain");
    cr_assert_str_eq(read.table.rows[0].fields[2].text, "two\r\nlines");
    for (int i = 0; i < 3; i++)
        cr_assert_str_eq(read.table.rows[1].fields[i].text, "");
    unsigned line, column;
    source_position(read.source, read.table.rows[0].fields[1].span.start, &line, &column);
    cr_assert(line == 2 && column == 15, "%u:%u", line, column);
}

Test(table, takes_the_separator_of_its_first_line)
{
    struct read semicolons = read_text("a;b,c;d\n1;2;3\n", 14), tabs = read_text("a\tb\n1\t2\n", 8);
    cr_assert(semicolons.good && semicolons.table.columns == 3);
    cr_assert_str_eq(semicolons.table.header.fields[1].text, "b,c");
    cr_assert(tabs.good && tabs.table.columns == 2);
    cr_assert_str_eq(tabs.table.rows[0].fields[1].text, "2");
}

Test(table, names_the_place_of_what_is_wrong)
{
    cr_assert_str_eq(FAULT("a,b\n1,\"x\n"), "2:3 this quote is not closed");
    cr_assert_str_eq(FAULT("a,b\n1,2,3\n"), "2:1 3 fields where the first line names 2 columns");
    cr_assert_str_eq(FAULT("a,b\n\"1\"2,3\n"),
                     "2:4 text after the closing quote of a field; a quote inside a field is doubled");
    cr_assert_str_eq(FAULT(""), "1:1 the table is empty; its first line names the columns");
    cr_assert_str_eq(FAULT("a,b\n1,\0\n"), "2:3 a NUL byte; is this a table?");
    cr_assert_str_eq(FAULT("a,b\n1,\xFF\n"), "2:3 not UTF-8; save the table as \"CSV UTF-8\"");
}

/* One column more than there may be, and one row. */
Test(table, is_bounded)
{
    struct buffer text = buffer_in(arena);
    buffer_repeat(&text, "a,", TABLE_COLUMNS_MAX);
    cr_assert_not_null(strstr(fault_of(buffer_string(&text), text.length), "more than 256 columns"));
    text = buffer_in(arena);
    buffer_repeat(&text, "a\n", TABLE_ROWS_MAX + 2);
    cr_assert_str_eq(fault_of(buffer_string(&text), text.length), "10002:1 more than 10000 rows");
}

/* Every prefix and every single wrong byte of a table is read or refused, and nothing else happens. */
Test(table, survives_what_it_is_given)
{
    static const char text[] = "id,\"t \"\"p\"\"\",b\r\ne1, \"31\" ,8\r\n\"e\n2\",18,16\r\n";
    static const char wrong[] = {'"', ',', '\r', '\n', '\0', '\xC3', ' '};
    for (size_t length = 0; length < sizeof text; length++)
        read_text(text, length);
    for (size_t i = 0; i < sizeof text - 1; i++)
        for (size_t j = 0; j < sizeof wrong; j++) {
            char *changed = arena_strndup(arena, text, sizeof text - 1);
            changed[i] = wrong[j];
            struct read read = read_text(changed, sizeof text - 1);
            cr_assert(read.good || diags_count(read.diags) == 1);
        }
}

/* ---- plans ---------------------------------------------------------------------------------------- */

#define PLAN                                                                                                 \
    "gpu card { memory = 80 GB   bandwidth = 2 TB/s   peak.fp16 = 312 TFLOPS }\n"                            \
    "gpu fast_card : card { bandwidth = 4 TB/s }\n"                                                          \
    "model m { params = 7e9   layers = 32   hidden = 4096   heads = 32 }\n"                                  \
    "scenario chat { gpu = card   model = m   context = 1000   batch = 1 }\n"                                \
    "scenario other : chat { context = 4000 }\n"

/* A plan beside a table, loaded. */
static struct result_fixture open_with(const char *table, const char *rest)
{
    const char *path = scratch_file(arena, "runs.csv", table);
    return result_open(arena_printf(arena, PLAN "%s", arena_printf(arena, rest, path)));
}

static struct measured_result result_of(struct result_fixture *fixture, size_t index)
{
    struct measured_result out;
    const struct plan_view *view = plan_view(fixture->plan);
    cr_assert(index < view->measurements.count, "%zu", view->measurements.count);
    measured_evaluate(fixture->evaluator, &view->measurements.items[index], &out);
    return out;
}

static const struct pm_case *case_of(struct result_fixture *fixture, size_t index)
{
    const struct plan_view *view = plan_view(fixture->plan);
    cr_assert(index < view->measurements.count, "%zu", view->measurements.count);
    const struct evaluation *evaluation =
        evaluate_measured(fixture->evaluator, &view->measurements.items[index]);
    cr_assert(evaluation->valid, "%s", evaluation->why);
    return &evaluation->binding.input;
}

/* Figures with the unit in the heading, in brackets or after a `_`; the load in columns of their own names;
 * an empty cell leaves the scenario as it is. */
Test(measured, a_table_is_mapped_by_its_headings)
{
    struct result_fixture fixture = open_with("TPOT (ms),concurrency,ttft_s,speed [tokens/s],remark\n"
                                              "31,8,0.25,,\"a, b\"\n18.5 us,,,54,\n",
                                              "measured chat { file = \"%s\" }\n");
    cr_assert_eq(diags_errors(fixture.diags), 0);
    struct measured_result first = result_of(&fixture, 0), second = result_of(&fixture, 1);
    cr_assert(first.count == 2 && first.rows[0].measured == 31e-3 && first.rows[1].measured == 0.25);
    cr_assert(second.count == 2 && second.rows[0].measured == 18.5e-6 && second.rows[1].measured == 54);
    cr_assert(case_of(&fixture, 0)->batch == 8 && case_of(&fixture, 1)->batch == 1);
    cr_assert_str_eq(first.measurement->scenario->name, "runs.csv:2");
    cr_assert_str_eq(first.source, "runs.csv:2");
    cr_assert_eq(plan_view(fixture.plan)->scenarios.count, 2, "rows are no scenarios of the report");
    result_close(&fixture);
}

/* Columns are names in the block; texts stand for declarations; rows are chosen by a condition. */
Test(measured, columns_are_names_in_the_block)
{
    struct result_fixture fixture =
        open_with("id,card,users,p50,flag\nr1,fast_card,4,20,\nr2,nothing,4,,broken\nr3,card,,40,\n",
                  "measured chat { file = \"%s\"  rows = flag == \"\"  label = id  gpu = card  batch = 2 * "
                  "users_or_one\n"
                  "  tpot = p50 * 1 ms }\nlet users_or_one = 3\n");
    cr_assert_eq(diags_errors(fixture.diags), 0);
    cr_assert_eq(plan_view(fixture.plan)->measurements.count, 2);
    struct measured_result first = result_of(&fixture, 0), third = result_of(&fixture, 1);
    cr_assert_str_eq(first.measurement->scenario->name, "r1");
    cr_assert_eq(first.rows[0].measured, 20e-3);
    cr_assert_str_eq(third.measurement->scenario->name, "r3");
    cr_assert_str_eq(third.source, "runs.csv:4");
    cr_assert_eq(case_of(&fixture, 0)->gpu->bandwidth, 4e12);
    cr_assert_eq(case_of(&fixture, 1)->gpu->bandwidth, 2e12);
    cr_assert_eq(case_of(&fixture, 0)->batch, 6);
    result_close(&fixture);
}

/* A choice may be made by what stands in a cell, number or not. */
Test(measured, cells_compare_as_they_are_written)
{
    struct result_fixture fixture = open_with("version,copies,tpot_ms\n1.0,,20\n1.2.0rc1,2,20\n1.0,4,20\n",
                                              "measured chat { file = \"%s\"  rows = version == \"1.0\"\n"
                                              "  batch = if copies == \"\" then 7 else copies * 2 }\n");
    cr_assert_eq(diags_errors(fixture.diags), 0);
    cr_assert_eq(plan_view(fixture.plan)->measurements.count, 2);
    cr_assert(case_of(&fixture, 0)->batch == 7 && case_of(&fixture, 1)->batch == 8);
    result_close(&fixture);
}

/* `import "runs.csv"`: each row names its scenario. */
Test(measured, an_imported_table_names_its_scenarios)
{
    struct result_fixture fixture = open_with("scenario,tpot_ms\nchat,9\nother,12\n", "import \"%s\"\n");
    cr_assert_eq(diags_errors(fixture.diags), 0);
    cr_assert_str_eq(result_of(&fixture, 0).measurement->scenario->name, "chat");
    cr_assert_str_eq(result_of(&fixture, 1).measurement->scenario->name, "other");
    cr_assert(case_of(&fixture, 0)->context == 1000 && case_of(&fixture, 1)->context == 4000);
    result_close(&fixture);
    fixture = open_with("tpot_ms\n9\n", "import \"%s\"\n");
    cr_assert(result_count(&fixture, DIAG_E0409) == 1 && diags_errors(fixture.diags) == 1);
    result_close(&fixture);
}

/* Without a table: a run with another load than the scenario's. */
Test(measured, a_block_may_be_about_a_variant)
{
    struct result_fixture fixture =
        result_open(PLAN "measured chat { batch = 8   tpot = 20 ms }\n"
                         "measured chat { context = 2 * context   tpot = 11 ms }\n");
    cr_assert_eq(diags_errors(fixture.diags), 0);
    cr_assert_eq(case_of(&fixture, 0)->batch, 8);
    cr_assert_eq(case_of(&fixture, 1)->context, 2000);
    cr_assert_str_eq(result_of(&fixture, 0).measurement->scenario->name, "chat, batch 8");
    result_close(&fixture);
}

/* Line and column of the cell, or of the expression with the row beside it; the first row at fault is enough.
 */
Test(measured, faults_are_told_where_they_are)
{
    static const struct {
        const char *table, *block, *place, *message;
    } cases[] = {
        {"batch,tpot_ms\n8,31\nx,32\ny,33\n", "measured chat { file = \"runs.csv\" }\n",
         "runs.csv:3:1: error", "`batch` takes a whole number, not a text"},
        {"tpot\n31\n", "measured chat { file = \"runs.csv\" }\n", "runs.csv:2:1: error",
         "`tpot` needs a unit"},
        {"gpu,tpot_ms\nh100,31\n", "measured chat { file = \"runs.csv\" }\n", "runs.csv:2:1: error",
         "there is no gpu `h100`"},
        {"a,a\n1,2\n", "measured chat { file = \"runs.csv\" }\n", "runs.csv:1:3: error",
         "two columns are called `a`"},
        {"tpot_ms,TPOT (us)\n1,2\n", "measured chat { file = \"runs.csv\" }\n", "runs.csv:1:9: error",
         "two columns are the attribute `tpot`"},
        {"users\n8\n", "measured chat { file = \"runs.csv\" }\n", "runs.csv:1:1: error",
         "no column says what was measured"},
        {"p\nx\n", "measured chat { file = \"runs.csv\" tpot = p * 1 ms }\n", "plan.perf:6:42: error",
         "`*` needs a number, not a text"},
        {"p\nx\n", "measured chat { file = \"runs.csv\" tpot = p * 1 ms }\n", "runs.csv:2:1: note",
         "for this row"},
        {"p\n1\n", "measured chat { file = \"runs.csv\" tpot = q * 1 ms }\n", "plan.perf:6:42: error",
         "nothing is called `q`"},
        {"p\n1\n", "measured chat { file = \"gone.csv\" tpot = p * 1 ms }\n", "plan.perf:6:24: error",
         "cannot read"},
        {"p\n1\n", "import \"runs.csv\" as runs\n", "plan.perf:6:22: error", "takes no `as`"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *path = scratch_file(arena, "runs.csv", cases[i].table);
        const char *plan = arena_printf(arena, "%.*splan.perf", (int)(strrchr(path, '/') + 1 - path), path);
        const char *text = arena_printf(arena, PLAN "%s", cases[i].block);
        write_file(plan, text, strlen(text));
        struct run run = RUN(arena, "check", plan);
        cr_assert(run.status == 1 && strstr(run.err, cases[i].place) && strstr(run.err, cases[i].message),
                  "%zu: %s", i, run.err);
        const char *first = strstr(run.err, ": error:");
        cr_assert(first && !strstr(first + 1, ": error:"), "one mistake, one error: %s", run.err);
    }
}
