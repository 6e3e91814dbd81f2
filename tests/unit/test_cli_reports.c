/* test_cli_reports.c: one evaluation, every format: the same figures in each; text inside its width; parts
 * that add up; and invariants of the model over plans made at random (always the same ones). */
#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/utf8.h"
#include "run.h"

static struct arena *arena;

static void set_up(void)
{
    arena = arena_new();
}

static void tear_down(void)
{
    arena_free(arena);
}

TestSuite(cli_reports, .init = set_up, .fini = tear_down, .timeout = 300);

/* ---- values that coincide ------------------------------------------------------------------------------ */

/* Scenarios and points that are equal, but for rounding: replicas divide a throughput that they multiplied.
 */
Test(cli_reports, equal_values_have_charts_too)
{
    const char *plan = scratch_file(
        arena, "equal.perf",
        "scenario s0 { gpu = h100-sxm  model = llama-3.1-8b  prompt = 1000  output = 300  batch = 16 }\n"
        "scenario s1 : s0 { }\nscenario s2 : s0 { }\nscenario s3 : s0 { }\n"
        "scenario s4 : s0 { }\nscenario s5 : s0 { }\nscenario s6 : s0 { }\nscenario s7 : s0 { }\n"
        "sweep s0 { replicas = 1, 2, 3\n  show tpot, speed, throughput_per_gpu }\n"
        "sweep s1 { batch = 16\n  show tpot }\n");
    static const char *const formats[] = {"text", "md", "html", "json"};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        struct run run = RUN(arena, "-f", formats[i], plan);
        cr_expect_eq(run.status, 0, "%s: %s", formats[i], run.err);
        cr_expect(run.out_length > 5000 && run.out_length < 1000000, "%s: %zu", formats[i], run.out_length);
    }
}

/* 3, 5 and 64 GPUs do not divide the heads: their points are not drawn, and neither is a tick far to the
 * right. */
Test(cli_reports, impossible_points_do_not_stretch_an_axis)
{
    const char *plan = scratch_file(
        arena, "impossible.perf",
        "scenario chat { gpu = h100-sxm  model = llama-3.1-8b  prompt = 1000  output = 300  batch = 8 }\n"
        "sweep chat { tp = 1, 2, 3, 5, 64\n  show tpot }\n");
    const char *page = RUN(arena, "-f", "html", plan).out;
    const char *chart = strstr(page, "<section id=\"sweeps\"");
    cr_assert_not_null(chart);
    const char *end = strstr(chart, "</svg>");
    cr_assert_not_null(end);
    const char *drawing = arena_strndup(arena, chart, (size_t)(end - chart));
    cr_expect_not_null(strstr(drawing, ">2</text>"));
    cr_expect_null(strstr(drawing, ">64</text>"));
}

/* ---- the same figures in every format ------------------------------------------------------------------ */

static json_t *quantities_of(const char *json)
{
    json_error_t error;
    json_t *report = json_loads(json, 0, &error);
    cr_assert_not_null(report, "%s", error.text);
    json_t *quantities = json_incref(json_object_get(report, "quantities"));
    json_decref(report);
    cr_assert(json_is_object(quantities));
    return quantities;
}

/* A number of scenario `s`; NAN when it is absent or null. */
static double figure(json_t *quantities, const char *scenario, const char *path, const char *member)
{
    json_t *quantity = json_object_get(quantities, arena_printf(arena, "%s.%s", scenario, path));
    json_t *value = json_object_get(quantity, member);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Text without its narrow blanks and the entities of HTML, so that "8.39 ms" is found in every format. */
static const char *plain(const char *text)
{
    static const char *const blanks[] = {"\xE2\x80\x89", "\xE2\x80\xAF", "\xC2\xA0", "&nbsp;", "&thinsp;"};
    struct buffer out = buffer_in(arena);
    while (*text != '\0') {
        size_t length = 0;
        for (size_t i = 0; i < sizeof blanks / sizeof blanks[0]; i++)
            if (strncmp(text, blanks[i], strlen(blanks[i])) == 0)
                length = strlen(blanks[i]);
        buffer_byte(&out, length > 0 ? ' ' : *text);
        text += length > 0 ? length : 1;
    }
    return buffer_string(&out);
}

/* The field under `heading` in the second line; no field of this plan is quoted. */
static const char *csv_field(const char *csv, const char *heading)
{
    struct lines lines = split_lines(arena, csv);
    const char *titles = lines.list.items[0], *fields = lines.list.items[1];
    while (titles != NULL && fields != NULL) {
        size_t length = strcspn(titles, ",\r");
        if (length == strlen(heading) && strncmp(titles, heading, length) == 0)
            return fields;
        titles = strchr(titles, ',') ? strchr(titles, ',') + 1 : NULL;
        fields = strchr(fields, ',') ? strchr(fields, ',') + 1 : NULL;
    }
    return "";
}

Test(cli_reports, every_format_has_the_same_figures)
{
    static const struct {
        const char *path, *unit;
        double scale;
    } rows[] = {{"tpot", "ms", 1e3},   {"ceiling.tpot", "ms", 1e3}, {"memory.free", "GiB", 1.0 / (1 << 30)},
                {"speed", "tok/s", 1}, {"ttft", "ms", 1e3},         {"cost_per_mtok", "usd", 1}};
    const char *plan =
        scratch_file(arena, "plan.perf",
                     "scenario s { model = llama-3.1-8b  gpu = h100-sxm  prompt = 1000  output = 300\n"
                     "batch = 16  price = 2.95 usd/h }\n");
    json_t *quantities = quantities_of(RUN(arena, "-f", "json", plan).out);
    const char *csv = RUN(arena, "-f", "csv", plan).out;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double value = figure(quantities, "s", rows[i].path, "value");
        /* Three significant digits, zeros included: "8.40 ms". */
        const char *shown = arena_printf(arena, "%#.3g", value * rows[i].scale);
        size_t length = strlen(shown);
        if (shown[length - 1] == '.')
            length--;
        const char *words = arena_printf(arena, "%.*s %s", (int)length, shown, rows[i].unit);
        for (size_t k = 0; k < 3; k++) {
            static const char *const formats[] = {"text", "md", "html"};
            const char *report = plain(RUN(arena, "-f", formats[k], plan).out);
            cr_expect_not_null(strstr(report, words), "%s: no `%s` in %s", rows[i].path, words, formats[k]);
        }
    }
    double tpot = figure(quantities, "s", "tpot", "value");
    cr_expect_eq(strtod(csv_field(csv, "tpot (s)"), NULL), tpot, "CSV and JSON differ");
    json_decref(quantities);
}

/* ---- width ------------------------------------------------------------------------------------------------
 */

Test(cli_reports, text_fits_its_width_whatever_the_names)
{
    const char *plan = scratch_file(
        arena, "plan.perf",
        "# "
        "----------------------------------------------------------------------------------------------------"
        "\n"
        "gpu \"a card with a name that is longer than any line of a terminal has room for, and then some "
        "more\""
        " { memory = 80 GB  bandwidth = 2 TB/s  peak.fp16 = 312 TFLOPS }\n"
        "model "
        "\"\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E\xE3\x83\xA2\xE3\x83\x87\xE3\x83\xAB\xE6\x97\xA5\xE6\x9C\xAC"
        "\xE8\xAA\x9E\xE3\x83\xA2\xE3\x83\x87\xE3\x83\xAB\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E\xE3\x83\xA2\xE3"
        "\x83"
        "\x87\xE3\x83\xAB\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E\" { params = 7e9  layers = 32  hidden = 4096  "
        "heads = 32 }\n"
        "scenario "
        "Unabgekuerzte_Bezeichnung_eines_Szenarios_die_in_keine_Zeile_passt_auch_nicht_bei_120_Zeichen_"
        "weil_sie_so_lang_ist { batch = 2  context = 100\n"
        "  model = "
        "\"\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E\xE3\x83\xA2\xE3\x83\x87\xE3\x83\xAB\xE6\x97\xA5\xE6\x9C\xAC"
        "\xE8\xAA\x9E\xE3\x83\xA2\xE3\x83\x87\xE3\x83\xAB\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E\xE3\x83\xA2\xE3"
        "\x83"
        "\x87\xE3\x83\xAB\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E\"\n"
        "  gpu = \"a card with a name that is longer than any line of a terminal has room for, and then some "
        "more\" }\n");
    static const size_t widths[] = {60, 80, 120};
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        struct run run = RUN(arena, "--width", arena_printf(arena, "%zu", widths[i]), plan);
        cr_assert_eq(run.status, 0, "%s", run.err);
        struct lines lines = split_lines(arena, run.out);
        for (size_t k = 0; k < lines.list.count; k++) {
            const char *line = lines.list.items[k];
            cr_expect(utf8_width(line, strlen(line)) <= widths[i], "%zu columns: %s", widths[i], line);
        }
    }
}

/* ---- invariants over random plans
 * -------------------------------------------------------------------------- */

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u; /* Knuth's constants, as in Numerical Recipes */
    return *state >> 8;
}

static const char *one_of(uint32_t *state, const char *const *words, size_t count)
{
    return words[next_random(state) % count];
}

#define ONE_OF(state, ...)                                                                                   \
    one_of((state), (const char *const[]){__VA_ARGS__}, sizeof(const char *[]){__VA_ARGS__} / sizeof(char *))

/* Models with heads that every tp below divides, on a card whose figures span four decades. */
static const char *random_scenario(uint32_t *state)
{
    static const char *const models[] = {
        "params = 7e9  layers = 32  hidden = 4096  heads = 32",
        "hidden = 2048  heads = 16  kv_heads = 4  ffn = 8192  vocab = 32000  layers = 9  tied_embeddings = "
        "true",
        "hidden = 1024  heads = 16  ffn = 2048  vocab = 32000  layers = 5  attention = mla  kv_rank = 64  "
        "nope_dim = 32  rope_dim = 16  v_dim = 32",
        "hidden = 1024  heads = 16  kv_heads = 2  ffn = 4096  vocab = 1000\n"
        "block near { count = 5  window = 100 }  block far { count = 2 }  block parts { count = 3  "
        "attention_chunk = 64 }",
        "hidden = 1024  heads = 16  ffn = 2048  vocab = 32000\n"
        "block state { count = 6  attention = linear  linear_key_heads = 16  linear_value_heads = 16  "
        "linear_key_dim = 64  linear_value_dim = 64 }  block full { count = 2 }",
        "hidden = 1024  heads = 16  kv_heads = 8  vocab = 32000  layers = 6\n"
        "experts = 16  active_experts = 2  expert_ffn = 512  shared_experts = 1",
    };
    struct buffer text = buffer_in(arena);
    buffer_printf(&text, "gpu g { memory = %s GB  bandwidth = %s GB/s  peak.fp16 = %s TFLOPS  %s  %s }\n",
                  ONE_OF(state, "4", "24", "80", "288"), ONE_OF(state, "50", "900", "3350", "8000"),
                  ONE_OF(state, "3", "120", "990"), ONE_OF(state, "", "peak.fp8 = 1979 TFLOPS"),
                  ONE_OF(state, "", "link = 450 GB/s  link_domain = 8", "pcie = 32 GB/s"));
    buffer_printf(&text, "model m { %s }\n", one_of(state, models, sizeof models / sizeof models[0]));
    buffer_printf(&text,
                  "scenario s { model = m  gpu = g  tp = %s  pp = %s  batch = %s  weights = %s  kv_cache = "
                  "%s\n%s  %s }\n",
                  ONE_OF(state, "1", "1", "2", "8"), ONE_OF(state, "1", "1", "2", "3"),
                  ONE_OF(state, "1", "7", "64", "5000"), ONE_OF(state, "bf16", "fp8", "int4"),
                  ONE_OF(state, "bf16", "fp8"),
                  ONE_OF(state, "context = 0", "context = 1", "context = 40000", "prompt = 0  output = 3",
                         "prompt = 1  output = 1", "prompt = 3000  output = 300",
                         "prompt = 200  output = 5000  cached_prefix = 100"),
                  ONE_OF(state, "", "engine = ideal", "engine = typical",
                         "speculation.tokens = 3  speculation.acceptance = 0",
                         "speculation.tokens = 3  speculation.acceptance = 1"));
    return buffer_string(&text);
}

static void expect_not_below(json_t *q, const char *path, const char *ceiling, const char *plan)
{
    double value = figure(q, "s", path, "value"), low = figure(q, "s", path, "low");
    double high = figure(q, "s", path, "high"), bound = figure(q, "s", ceiling, "value") * (1 - 1e-9);
    cr_expect(isnan(value) || isnan(bound) || value >= bound, "%s below its ceiling:\n%s", path, plan);
    cr_expect(isnan(low) || isnan(bound) || low >= bound, "band of %s below its ceiling:\n%s", path, plan);
    cr_expect(isnan(low) || (low <= value * (1 + 1e-9) && high >= value * (1 - 1e-9)), "band of %s:\n%s",
              path, plan);
}

static double sum_of(json_t *q, const char *prefix, const char *const *parts, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += figure(q, "s", arena_printf(arena, "%s.%s", prefix, parts[i]), "value");
    return sum;
}

static void expect_parts(json_t *q, const char *total, const char *prefix, const char *const *parts,
                         size_t count, const char *plan)
{
    double whole = figure(q, "s", total, "value"), sum = sum_of(q, prefix, parts, count);
    cr_expect(isnan(whole) || fabs(sum - whole) <= 1e-9 * whole, "%s is %g, its parts %g:\n%s", total, whole,
              sum, plan);
}

static void expect_invariants(json_t *q, const char *plan)
{
    static const char *const memory[] = {"weights", "kv", "activations", "overhead"};
    static const char *const times[] = {"weights", "kv", "compute", "communication", "fixed"};
    expect_not_below(q, "tpot", "ceiling.tpot", plan);
    expect_not_below(q, "ttft", "ceiling.ttft", plan);
    expect_not_below(q, "latency", "ceiling.latency", plan);
    expect_not_below(q, "decode.step", "ceiling.decode.step", plan);
    expect_not_below(q, "prefill.time", "ceiling.prefill.time", plan);
    double rate = figure(q, "s", "throughput", "value"), most = figure(q, "s", "ceiling.throughput", "value");
    cr_expect(isnan(rate) || isnan(most) || rate <= most * (1 + 1e-9), "throughput above its ceiling:\n%s",
              plan);
    expect_parts(q, "memory.total", "memory", memory, 4, plan);
    expect_parts(q, "decode.time", "decode.time", times, 5, plan);
    expect_parts(q, "prefill.time", "prefill.time", times, 5, plan);
    bool fits = json_is_true(json_object_get(json_object_get(q, "s.fits"), "value"));
    bool room = figure(q, "s", "memory.total", "value") <= figure(q, "s", "memory.usable", "value");
    cr_expect_eq(fits, room, "fits, and memory says otherwise:\n%s", plan);
}

/* A card with twice the bandwidth is never slower in any bound. */
static void expect_monotone(json_t *q, json_t *faster, const char *plan)
{
    static const char *const times[] = {"ceiling.tpot",        "ceiling.ttft", "ceiling.latency",
                                        "ceiling.decode.step", "decode.step",  "ceiling.prefill.time"};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        double before = figure(q, "s", times[i], "value"), after = figure(faster, "s", times[i], "value");
        cr_expect(isnan(before) || after <= before * (1 + 1e-9), "more bandwidth makes %s %g of %g:\n%s",
                  times[i], after, before, plan);
    }
}

static json_t *evaluate(const char *text)
{
    struct run run = run_perfc(arena, (struct run_options){.input = text, .input_length = strlen(text)}, "-f",
                               "json", "--set", "g.tdp=400 W", "-", (const char *)NULL);
    cr_assert_eq(run.status, 0, "exit status %d:\n%s%s", run.status, text, run.err);
    return quantities_of(run.out);
}

Test(cli_reports, invariants_hold_for_random_plans)
{
    enum { PLANS = 60 };
    uint32_t state = 20261202;
    for (int i = 0; i < PLANS; i++) {
        const char *plan = random_scenario(&state);
        json_t *quantities = evaluate(plan);
        expect_invariants(quantities, plan);
        char *faster = arena_strdup(arena, plan), *bandwidth = strstr(faster, "bandwidth = ");
        cr_assert_not_null(bandwidth);
        memcpy(bandwidth, "bandwidth =9", 12); /* a 9 in front of the figure: more than twice of it */
        json_t *other = evaluate(faster);
        expect_monotone(quantities, other, faster);
        json_decref(other);
        json_decref(quantities);
    }
}
