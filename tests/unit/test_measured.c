/* test_measured.c: measurements of variants and tables of runs. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "result/gap.h"
#include "result/impossible.h"
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

/* ---- the gap ---------------------------------------------------------------------------------------- */

/* 8e9 values of 16 bits at 2 TB/s are 8 ms; at 0.8 of it 10 ms; each launch takes 10 us and each sequence 30
 * us more. Nothing is communicated, and there is no cache. */
#define READING                                                                                              \
    "gpu card { memory = 80 GB   bandwidth = 2 TB/s   peak.fp16 = 312 TFLOPS }\n"                            \
    "engine plain : typical {\n"                                                                             \
    "  efficiency.bandwidth = 0.8   corner = 0   operation_time = 10 us   sequence_time = 30 us\n}\n"        \
    "model m { params = 8e9 }\n"                                                                             \
    "scenario s { gpu = card   model = m   engine = plain   context = 0   batch = 1 }\n"

static struct gap gap_of(struct result_fixture *fixture, size_t index, size_t row)
{
    struct gap gap;
    struct measured_result result = result_of(fixture, index);
    cr_assert(row < result.count);
    cr_assert(gap_find(evaluate_measured(fixture->evaluator, result.measurement), &result.rows[row], &gap));
    return gap;
}

Test(measured, the_gap_is_told_term_by_term)
{
    struct result_fixture fixture =
        result_open(READING "measured s { tpot = 13 ms   speed = 80 tokens/s }\n");
    struct gap gap = gap_of(&fixture, 0, 0);
    double launches = result_number(&fixture, KIND_SCENARIO, "s", "decode.launches");
    cr_assert(launches >= 1 && launches < 100);
    cr_assert_float_eq(gap.seconds[GAP_LIMIT], 8e-3, 1e-9);
    cr_assert_float_eq(gap.seconds[GAP_BANDWIDTH], 2e-3, 1e-6, "%g", gap.seconds[GAP_BANDWIDTH]);
    cr_assert_float_eq(gap.seconds[GAP_LAUNCH], launches * 10e-6, 1e-12);
    cr_assert_float_eq(gap.seconds[GAP_HOST], 30e-6, 1e-12);
    cr_assert_float_eq(gap.seconds[GAP_REST], 13e-3 - gap.expected, 1e-12);
    cr_assert(fabs(gap.seconds[GAP_ORDER]) < 1e-5 && gap.seconds[GAP_COMMUNICATION] == 0);
    /* 80 tokens/s are 12.5 ms a token. */
    gap = gap_of(&fixture, 0, 1);
    cr_assert_float_eq(gap.measured, 12.5e-3, 1e-15);
    result_close(&fixture);
}

/* Whatever the case, the parts add up to what was measured. */
Test(measured, the_parts_of_a_gap_add_up)
{
    struct result_fixture fixture = result_open(
        "scenario a { gpu = h100-sxm  tp = 4  model = llama-3.1-70b  engine = vllm  prompt = 2000  output = "
        "400  batch = 64 }\n"
        "scenario b : a { gpu = b200-sxm  tp = 8  model = deepseek-r1  weights = fp8  kv_cache = fp8 }\n"
        "scenario c : a { speculation { tokens = 3  acceptance = 0.7 } }\n"
        "scenario d { gpu = rtx-4090  model = llama-3.1-8b  engine = llama-cpp  weights = q4_0  context = "
        "4096 }\n"
        "scenario e : a { output = 1 }\n"
        "measured a { tpot = 40 ms  ttft = 2 s  throughput = 1300 tokens/s }\n"
        "measured b { tpot = 40 ms  ttft = 2 s  throughput = 1300 tokens/s }\n"
        "measured c { tpot = 40 ms  ttft = 2 s  throughput = 1300 tokens/s }\n"
        "measured d { speed = 80 tokens/s  throughput = 80 tokens/s }\n"
        "measured e { ttft = 2 s  throughput = 20 tokens/s }\n");
    cr_assert_eq(diags_errors(fixture.diags), 0);
    size_t gaps = 0;
    for (size_t i = 0; i < plan_view(fixture.plan)->measurements.count; i++) {
        struct measured_result result = result_of(&fixture, i);
        for (size_t j = 0; j < result.count; j++) {
            struct gap gap = gap_of(&fixture, i, j);
            double sum = 0;
            for (enum gap_term term = 0; term < GAP_TERMS; term++)
                sum += gap.seconds[term];
            cr_assert_float_eq(sum, gap.measured, 1e-9 * gap.measured, "%zu %zu: %g of %g", i, j, sum,
                               gap.measured);
            gaps++;
        }
    }
    cr_assert_eq(gaps, 13);
    result_close(&fixture);
}

/* 10 ms of reading at 0.8 of the bandwidth, and few launches: 12 ms are best explained by less bandwidth.
 * Without the fixed times, 12 / 10. */
Test(measured, the_likeliest_reason_is_the_nearest_to_what_is_usual)
{
    struct result_fixture fixture = result_open(READING "measured s { tpot = 12 ms }\n");
    struct measured_result result = result_of(&fixture, 0);
    struct gap_reason reasons[2];
    size_t count =
        gap_reasons(evaluate_measured(fixture.evaluator, result.measurement), &result.rows[0], reasons, 2);
    cr_assert(count >= 1 && reasons[0].coefficient == COEFFICIENT_BANDWIDTH);
    struct gap gap = gap_of(&fixture, 0, 0);
    double fixed = gap.seconds[GAP_LAUNCH] + gap.seconds[GAP_HOST];
    cr_assert_float_eq(reasons[0].factor, (12e-3 - fixed) / (gap.expected - fixed), 1e-3, "%g",
                       reasons[0].factor);
    result_close(&fixture);
}

/* ---- what cannot be ----------------------------------------------------------------------------------- */

/* All reasons for the first figure of a measurement, one a line. */
static const char *reasons_of(struct result_fixture *fixture, size_t index)
{
    const char *reasons[IMPOSSIBLE_REASONS];
    struct buffer text = buffer_in(arena);
    struct measured_result result = result_of(fixture, index);
    cr_assert(result.rows[0].beyond_ceiling);
    size_t count = impossible_reasons(arena, evaluate_measured(fixture->evaluator, result.measurement),
                                      result.rows[0].row->id, result.rows[0].measured, reasons);
    for (size_t i = 0; i < count; i++)
        buffer_printf(&text, "%s\n", reasons[i]);
    return buffer_string(&text);
}

/* 16 GB in 4 ms: twice the bandwidth, half the bits, or two tokens from one step. */
Test(measured, an_impossible_time_is_explained_by_what_makes_it_possible)
{
    struct result_fixture fixture = result_open(READING "measured s { tpot = 4 ms }\n");
    const char *reasons = reasons_of(&fixture, 0);
    cr_assert_not_null(strstr(reasons, "with 2.00 times the declared bandwidth"), "%s", reasons);
    cr_assert_not_null(strstr(reasons, "weights take 8.0 bits a value, not 16"), "%s", reasons);
    cr_assert_not_null(strstr(reasons, "a step gave 2.0 tokens or more"), "%s", reasons);
    cr_assert(!strstr(reasons, "prefix cache") && !strstr(reasons, "peak") && !strstr(reasons, "sequences"),
              "%s", reasons);
    cr_assert_eq(result_count(&fixture, DIAG_W0608), 1);
    result_close(&fixture);
}

/* 64 sequences of 8000 tokens: 131,072 bytes a token and sequence are 67 GB of cache beside 16 GB of weights,
 * 41 ms on 2 TB/s. 20 ms are 40 GB, so 24 GB of cache: 22 sequences with theirs (22 * 1.0486 GB = 23.07 GB;
 * 23: 24.12). */
Test(measured, fewer_sequences_may_have_run)
{
    struct result_fixture fixture = result_open(
        "gpu card { memory = 160 GB   bandwidth = 2 TB/s   peak.fp16 = 312 TFLOPS }\n"
        "model m { params = 8e9   layers = 32   hidden = 4096   heads = 32   kv_heads = 8 }\n"
        "scenario s { gpu = card   model = m   context = 8000   batch = 64 }\nmeasured s { tpot = 20 ms }\n");
    const char *reasons = reasons_of(&fixture, 0);
    cr_assert_not_null(strstr(reasons, "no more than 22 of the 64 sequences"), "%s", reasons);
    result_close(&fixture);
}

/* A prompt of 2000 tokens through 8e9 parameters is 3.2e13 FLOP, 103 ms at 312 TFLOP/s; in 50 ms half of it
 * at most was computed. No step reads weights in less than 8 ms. */
Test(measured, prompts_may_have_been_cached)
{
    struct result_fixture fixture =
        result_open("gpu card { memory = 80 GB   bandwidth = 2 TB/s   peak.fp16 = 312 TFLOPS }\nmodel m { "
                    "params = 8e9 }\n"
                    "scenario s { gpu = card   model = m   prompt = 2000   output = 100   batch = 1 }\n"
                    "measured s { ttft = 50 ms }\n");
    const char *reasons = reasons_of(&fixture, 0), *at = strstr(reasons, "it is possible if ");
    cr_assert(at && strstr(at, "of the 2000 tokens of a prompt or more were found in a prefix cache"), "%s",
              reasons);
    /* 50 of 102.6 ms: 975 tokens computed, 1025 found. */
    double cached = strtod(at + strlen("it is possible if "), NULL);
    cr_assert(cached > 1015 && cached < 1035, "%g", cached);
    cr_assert_not_null(strstr(reasons, "structured sparsity") ? reasons : strstr(reasons, "peak"), "%s",
                       reasons);
    result_close(&fixture);
}
