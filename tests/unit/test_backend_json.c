/* test_backend_json.c: the JSON contract of language.md, docs/report.schema.json, and numbers that read back.
 */
#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "backend/json_number.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "report_fixture.h"
#include "result/report.h"
#include "run.h"

#ifndef SOURCE_DIR
#define SOURCE_DIR "."
#endif

static struct arena *arena;

static void setup(void)
{
    arena = arena_new();
}

static void teardown(void)
{
    arena_free(arena);
}

TestSuite(backend_json, .init = setup, .fini = teardown);

static const char *emit(const struct report *report)
{
    struct buffer out = buffer_in(arena);
    cr_assert(backend_by_name("json")->emit(arena, report, (struct backend_options){0}, &out));
    return buffer_string(&out);
}

static json_t *parse(const char *text)
{
    json_error_t error;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    cr_assert_not_null(root, "line %d: %s", error.line, error.text);
    return root;
}

static void add_quantity(struct report *report, struct report_quantity quantity)
{
    *VEC_PUSH(arena, report->quantities) = quantity;
}

/* The example of language.md, section JSON, word for word but for its line breaks. */
Test(backend_json, is_the_contract)
{
    struct report *report = report_fixture_empty(arena);
    report->plan = "plan.perf";
    *VEC_PUSH(arena, report->models) = "llama-3.1-70b";
    *VEC_PUSH(arena, report->gpus) = "h100-sxm";
    *VEC_PUSH(arena, report->scenarios) = "chat";
    add_quantity(report, (struct report_quantity){.name = "chat.tpot",
                                                  .type = QUANTITY_NUMBER,
                                                  .value = 0.0104,
                                                  .unit = "s",
                                                  .has_band = true,
                                                  .low = 0.0087,
                                                  .high = 0.0126});
    add_quantity(report, (struct report_quantity){.name = "chat.ceiling.tpot",
                                                  .type = QUANTITY_NUMBER,
                                                  .value = 0.008073741824,
                                                  .unit = "s"});
    add_quantity(report,
                 (struct report_quantity){.name = "chat.fits", .type = QUANTITY_BOOL, .boolean = true});
    add_quantity(report, (struct report_quantity){.name = "chat.decode.bound",
                                                  .type = QUANTITY_TEXT,
                                                  .text = "bandwidth (weights)"});
    add_quantity(report, (struct report_quantity){.name = "chat.critical_batch",
                                                  .type = QUANTITY_ABSENT,
                                                  .text = "no batch is compute-bound at this context"});
    *VEC_PUSH(arena, report->assertions) =
        (struct report_assertion){.text = "chat.tpot <= 40 ms", .holds = true, .line = 27};
    cr_assert_str_eq(
        emit(report),
        "{\n"
        "  \"schema\": \"perfc-report/1\",\n"
        "  \"plan\": \"plan.perf\",\n"
        "  \"title\": null,\n"
        "  \"declarations\": {\n"
        "    \"models\": [\"llama-3.1-70b\"],\n"
        "    \"gpus\": [\"h100-sxm\"],\n"
        "    \"scenarios\": [\"chat\"]\n"
        "  },\n"
        "  \"quantities\": {\n"
        "    \"chat.tpot\": {\"value\": 0.0104, \"unit\": \"s\", \"low\": 0.0087, \"high\": 0.0126},\n"
        "    \"chat.ceiling.tpot\": {\"value\": 0.008073741824, \"unit\": \"s\"},\n"
        "    \"chat.fits\": {\"value\": true},\n"
        "    \"chat.decode.bound\": {\"value\": \"bandwidth (weights)\"},\n"
        "    \"chat.critical_batch\": {\"value\": null, \"why\": \"no batch is compute-bound at this "
        "context\"}\n"
        "  },\n"
        "  \"inputs\": [],\n"
        "  \"sweeps\": [],\n"
        "  \"tradeoff\": [],\n"
        "  \"sensitivities\": [],\n"
        "  \"thresholds\": [],\n"
        "  \"measurements\": [],\n"
        "  \"assertions\": [\n"
        "    {\"text\": \"chat.tpot <= 40 ms\", \"holds\": true, \"message\": null, \"line\": 27}\n"
        "  ],\n"
        "  \"guards\": [],\n"
        "  \"diagnostics\": []\n"
        "}\n");
}

Test(backend_json, of_an_empty_report_is_complete)
{
    json_t *root = parse(emit(report_fixture_empty(arena)));
    cr_assert_eq(json_object_size(root), 14);
    cr_assert_eq(json_object_size(json_object_get(root, "quantities")), 0);
    cr_assert_eq(json_array_size(json_object_get(root, "assertions")), 0);
    json_decref(root);
}

Test(backend_json, keeps_hostile_strings_and_mends_ill_formed_ones)
{
    json_t *root = parse(emit(report_fixture(arena)));
    json_t *quantities = json_object_get(root, "quantities");
    json_t *name = json_object_get(quantities, "\"<script>alert(\\\"x\\\" & 'y')</script>\".name");
    cr_assert_str_eq(json_string_value(json_object_get(name, "value")), NASTY_CONTROL);
    json_t *quoted = json_object_get(quantities, "\"q \\ uote\".tpot");
    cr_assert(json_is_null(json_object_get(quoted, "value")));
    cr_assert_str_eq(json_string_value(json_object_get(quoted, "why")), NASTY_INVALID_SHOWN);
    json_decref(root);
}

Test(backend_json, gives_diagnostics_their_place)
{
    json_t *root = parse(emit(report_fixture(arena)));
    json_t *diagnostic = json_array_get(json_object_get(root, "diagnostics"), 0);
    const char *code = NULL, *severity = NULL, *file = NULL, *message = NULL, *fix = NULL;
    int line = 0, column = 0, fix_column = 0;
    json_t *notes = NULL, *remark_file = NULL;
    cr_assert_eq(json_unpack(diagnostic, "{s:s, s:s, s:s, s:i, s:i, s:s, s:o}", "code", &code, "severity",
                             &severity, "file", &file, "line", &line, "column", &column, "message", &message,
                             "notes", &notes),
                 0);
    cr_assert_str_eq(code, "E0101");
    cr_assert_str_eq(severity, "error");
    cr_assert_str_eq(file, "plan.perf");
    cr_assert_eq(line, 2); /* "scenario today {": the name begins in column 10 */
    cr_assert_eq(column, 10);
    cr_assert_str_eq(message, "something about " NASTY_SCRIPT);
    cr_assert_eq(json_array_size(notes), 2);
    cr_assert_eq(json_unpack(json_array_get(notes, 0), "{s:o}", "file", &remark_file), 0);
    cr_assert(json_is_null(remark_file));
    cr_assert_eq(
        json_unpack(json_array_get(notes, 1), "{s:i, s:s}", "column", &fix_column, "replacement", &fix), 0);
    cr_assert_eq(fix_column, 10);
    cr_assert_str_eq(fix, "tomorrow");
    json_decref(root);
}

Test(backend_json, never_writes_what_is_not_a_number)
{
    struct report *report = report_fixture_empty(arena);
    add_quantity(report, (struct report_quantity){
                             .name = "a", .type = QUANTITY_NUMBER, .value = (double)NAN, .unit = "s"});
    add_quantity(report, (struct report_quantity){
                             .name = "b", .type = QUANTITY_NUMBER, .value = (double)INFINITY, .unit = "s"});
    json_t *root = parse(emit(report)), *entry;
    const char *name;
    json_object_foreach(json_object_get(root, "quantities"), name, entry)
    {
        cr_assert(json_is_null(json_object_get(entry, "value")), "%s", name);
        cr_assert(json_is_string(json_object_get(entry, "why")), "%s", name);
    }
    json_decref(root);
}

Test(backend_json, numbers_read_back)
{
    static const double values[] = {
        0.1,  1.0 / 3.0,  14e9, 9007199254740992.0, 1.7976931348623157e308, 5e-324, 2.2250738585072014e-308,
        1e-6, 123456.789, -0.25};
    struct report *report = report_fixture_empty(arena);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        add_quantity(report, (struct report_quantity){.name = arena_printf(arena, "q%zu", i),
                                                      .type = QUANTITY_NUMBER,
                                                      .value = values[i],
                                                      .unit = "1"});
    json_t *root = parse(emit(report));
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        json_t *entry = json_object_get(json_object_get(root, "quantities"), arena_printf(arena, "q%zu", i));
        cr_assert_eq(json_number_value(json_object_get(entry, "value")), values[i], "%zu", i);
    }
    json_decref(root);
}

/* ---- json_number() */

Test(backend_json, shortest_text_of_known_numbers)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0.0104, "0.0104"},
        {0.1, "0.1"},
        {0.5, "0.5"},
        {1.5, "1.5"},
        {-2.25, "-2.25"},
        {0.1 + 0.2, "0.30000000000000004"}, /* IEEE 754 folklore */
        {0.001, "0.001"},
        {0.0001, "0.0001"},
        {0.00001, "1e-05"},
        {0.0000125, "1.25e-05"},
        {123456.789, "123456.789"},
        {5e-324, "4.94065645841247e-324"},
        {14e9, "14000000000"},
        {0, "0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[NUMBER_TEXT_MAX];
        cr_assert_str_eq(json_number(text, cases[i].value), cases[i].text);
    }
}

/* A pseudo-random double of one of several kinds (xorshift, Marsaglia 2003). */
static double any_double(uint64_t *state, int kind)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    uint64_t bits = *state;
    double value;
    switch (kind) {
    case 0: /* any bits at all */ memcpy(&value, &bits, sizeof value); return isfinite(value) ? value : 1.25;
    case 1: /* few digits */ return (double)(bits % 1000000) / 1000.0;
    case 2: /* magnitudes of reports */ return ldexp((double)(bits >> 11), -(int)(bits % 80));
    case 3: /* powers of two, whose neighbours are unevenly far */ return ldexp(1, (int)(bits % 100) - 50);
    default: return (double)(bits % 1000000) / 7.0;
    }
}

Test(backend_json, fast_numbers_equal_slow_ones)
{
    uint64_t state = 88172645463325252u;
    for (int i = 0; i < 100000; i++) {
        char fast[NUMBER_TEXT_MAX], slow[NUMBER_TEXT_MAX];
        double value = any_double(&state, i % 5) * (i % 2 ? 1 : -1);
        cr_assert_str_eq(json_number(fast, value), number_shortest(slow, value));
        cr_assert_eq(strtod(fast, NULL), value, "%s", fast);
    }
}

/* ---- the schemas: as much of JSON Schema 2020-12 as docs/report.schema.json and docs/diff.schema.json use
 */

static bool is_valid(json_t *root, json_t *schema, json_t *value);

static bool has_type(json_t *value, const char *type)
{
    static const struct {
        const char *name;
        unsigned kinds; /* a bit per json_type */
    } types[] = {
        {"object", 1u << JSON_OBJECT},
        {"array", 1u << JSON_ARRAY},
        {"string", 1u << JSON_STRING},
        {"integer", 1u << JSON_INTEGER},
        {"number", 1u << JSON_INTEGER | 1u << JSON_REAL},
        {"boolean", 1u << JSON_TRUE | 1u << JSON_FALSE},
        {"null", 1u << JSON_NULL},
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i].name, type) == 0)
            return types[i].kinds >> json_typeof(value) & 1;
    cr_assert_fail("the schema names the unknown type %s", type);
    return false;
}

static bool has_types(json_t *value, json_t *types)
{
    if (json_is_string(types))
        return has_type(value, json_string_value(types));
    for (size_t i = 0; i < json_array_size(types); i++)
        if (has_type(value, json_string_value(json_array_get(types, i))))
            return true;
    return false;
}

static size_t count_valid(json_t *root, json_t *schemas, json_t *value)
{
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(schemas); i++)
        count += is_valid(root, json_array_get(schemas, i), value);
    return count;
}

static bool has_members(json_t *value, json_t *names)
{
    for (size_t i = 0; i < json_array_size(names); i++)
        if (!json_object_get(value, json_string_value(json_array_get(names, i))))
            return false;
    return true;
}

static bool are_members_valid(json_t *root, json_t *schema, json_t *value)
{
    json_t *properties = json_object_get(schema, "properties"), *others, *member;
    const char *key;
    others = json_object_get(schema, "additionalProperties");
    json_object_foreach(value, key, member)
    {
        json_t *property = json_object_get(properties, key);
        property = property ? property : others;
        if (property && !is_valid(root, property, member))
            return false;
    }
    json_t *dependent = json_object_get(schema, "dependentRequired"), *needed;
    json_object_foreach(dependent, key, needed)
    {
        if (json_object_get(value, key) && !has_members(value, needed))
            return false;
    }
    return has_members(value, json_object_get(schema, "required"));
}

static json_t *referenced(json_t *root, json_t *schema)
{
    const char *reference = json_string_value(json_object_get(schema, "$ref"));
    if (!reference)
        return NULL;
    cr_assert_eq(strncmp(reference, "#/$defs/", 8), 0);
    json_t *target = json_object_get(json_object_get(root, "$defs"), reference + 8);
    cr_assert_not_null(target, "%s", reference);
    return target;
}

static bool is_one_of(json_t *values, json_t *value)
{
    for (size_t i = 0; i < json_array_size(values); i++)
        if (json_equal(json_array_get(values, i), value))
            return true;
    return false;
}

static bool is_valid(json_t *root, json_t *schema, json_t *value)
{
    json_t *target = referenced(root, schema), *rule;
    if (target && !is_valid(root, target, value))
        return false;
    if ((rule = json_object_get(schema, "type")) && !has_types(value, rule))
        return false;
    if ((rule = json_object_get(schema, "const")) && !json_equal(rule, value))
        return false;
    if ((rule = json_object_get(schema, "enum")) && !is_one_of(rule, value))
        return false;
    if ((rule = json_object_get(schema, "oneOf")) && count_valid(root, rule, value) != 1)
        return false;
    if ((rule = json_object_get(schema, "allOf")) && count_valid(root, rule, value) != json_array_size(rule))
        return false;
    if ((rule = json_object_get(schema, "minimum")) && json_is_integer(value) &&
        json_integer_value(value) < json_integer_value(rule))
        return false;
    if (json_is_object(value) && !are_members_valid(root, schema, value))
        return false;
    json_t *items = json_object_get(schema, "items");
    for (size_t i = 0; items && i < json_array_size(value); i++)
        if (!is_valid(root, items, json_array_get(value, i)))
            return false;
    return true;
}

Test(backend_json, matches_its_schema)
{
    json_error_t error;
    json_t *schema = json_load_file(SOURCE_DIR "/docs/report.schema.json", JSON_REJECT_DUPLICATES, &error);
    cr_assert_not_null(schema, "%s", error.text);
    const struct report *reports[] = {report_fixture(arena), report_fixture_empty(arena)};
    for (size_t i = 0; i < 2; i++) {
        json_t *root = parse(emit(reports[i]));
        cr_assert(is_valid(schema, schema, root), "report %zu", i);
        /* and the schema is not so wide that anything passes */
        json_object_set_new(json_object_get(root, "quantities"), "x", json_pack("{s:f}", "value", 1.5));
        cr_assert_not(is_valid(schema, schema, root), "a number without a unit");
        json_object_del(json_object_get(root, "quantities"), "x");
        json_object_set_new(root, "schema", json_string("perfc-report/2"));
        cr_assert_not(is_valid(schema, schema, root), "another version");
        json_decref(root);
    }
    json_decref(schema);
}

static json_t *load_schema(const char *name)
{
    json_error_t error;
    json_t *schema = json_load_file(source_path(arena, name), JSON_REJECT_DUPLICATES, &error);
    cr_assert_not_null(schema, "%s: %s", name, error.text);
    return schema;
}

Test(backend_json, what_the_program_writes_matches_its_schema)
{
    json_t *schema = load_schema("docs/report.schema.json");
    struct paths plans = find_files(arena, source_path(arena, "examples"), ".perf");
    cr_assert_gt(plans.list.count, 3);
    for (size_t i = 0; i < plans.list.count; i++) {
        json_t *root = parse(RUN(arena, "-f", "json", plans.list.items[i]).out);
        cr_assert(is_valid(schema, schema, root), "%s", plans.list.items[i]);
        cr_assert_gt(json_array_size(json_object_get(root, "inputs")), 3);
        json_t *sensitivities = json_object_get(root, "sensitivities");
        cr_assert_gt(json_array_size(sensitivities), 10);
        cr_assert_gt(json_array_size(json_object_get(root, "thresholds")), 3);
        json_object_set_new(json_array_get(sensitivities, 0), "less", json_null());
        cr_assert_not(is_valid(schema, schema, root), "an input without a value");
        json_object_set_new(json_array_get(sensitivities, 0), "less", json_integer(1));
        cr_assert(is_valid(schema, schema, root));
        json_object_set_new(json_array_get(json_object_get(root, "inputs"), 0), "kind", json_string("let"));
        cr_assert_not(is_valid(schema, schema, root), "an input of no kind");
        json_decref(root);
    }
    json_decref(schema);
}

Test(backend_json, comparisons_match_their_schema)
{
    static const char *const names[] = {"unchanged",        "regression", "gpu-swap", "new-scenario",
                                        "removed-scenario", "broken",     "too-long"};
    json_t *schema = load_schema("docs/diff.schema.json");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *parts = source_path(arena, arena_printf(arena, "tests/golden/diff-%s/parts", names[i]));
        struct run run =
            RUN(arena, "diff", "-f", "json", "--fail-if", "tpot>+5%",
                arena_printf(arena, "%s/old.perf", parts), arena_printf(arena, "%s/new.perf", parts));
        json_t *root = parse(run.out);
        cr_assert(is_valid(schema, schema, root), "%s", names[i]);
        json_object_set_new(json_object_get(root, "summary"), "worse", json_integer(-1));
        cr_assert_not(is_valid(schema, schema, root), "a negative count");
        json_decref(root);
    }
    json_decref(schema);
}
