/* test_cli_figures.c: every backend draws the same numbers. Of every example the numbers are taken from the
 * text, Markdown, HTML, JSON and CSV reports and compared: all of CSV with JSON, to the last digit; the exact
 * value of every derived figure in all five; and the numbers of all tables in Markdown, HTML and text. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
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

TestSuite(cli_figures, .init = set_up, .fini = tear_down, .timeout = 300);

static const char *report(const char *plan, const char *format)
{
    struct run run = RUN(arena, "-f", format, "--max-bytes", "9000000", "--width", "400", plan);
    cr_assert(run.status == 0 || run.status == 5, "%s as %s: %s", plan, format, run.err);
    return run.out;
}

static struct paths examples(void)
{
    struct paths plans = find_files(arena, source_path(arena, "examples"), ".perf");
    cr_assert_gt(plans.list.count, 5);
    return plans;
}

static json_t *load(const char *text)
{
    json_error_t error;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    cr_assert_not_null(root, "%s", error.text);
    return root;
}

static bool has_letter_first(const char *name)
{
    return (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z');
}

/* As a plan writes it: "l40s", `"70b"`. */
static json_t *quantity_of(json_t *root, const char *scenario, const char *path)
{
    const char *name = has_letter_first(scenario) ? arena_printf(arena, "%s.%s", scenario, path)
                                                  : arena_printf(arena, "\"%s\".%s", scenario, path);
    return json_object_get(json_object_get(root, "quantities"), name);
}

/* ---- CSV and JSON ------------------------------------------------------------------------------------ */

/* The next field; quotes are taken off. *at ends behind the comma, or at the end of the line. */
static const char *next_field(const char **at)
{
    struct buffer out = buffer_in(arena);
    bool quoted = **at == '"';
    *at += quoted;
    for (; **at && (quoted || !strchr(",\r\n", **at)); ++*at) {
        if (quoted && **at == '"' && *++*at != '"')
            break;
        buffer_byte(&out, **at);
    }
    *at += **at == ',';
    return buffer_string(&out);
}

static void check_field(json_t *root, const char *scenario, const char *heading, const char *field)
{
    const char *unit = strstr(heading, " (");
    const char *path = unit ? arena_strndup(arena, heading, (size_t)(unit - heading)) : heading;
    json_t *quantity = quantity_of(root, scenario, path), *value = json_object_get(quantity, "value");
    cr_assert_not_null(value, "JSON has no %s.%s", scenario, path);
    if (json_is_number(value))
        cr_expect_eq(strtod(field, NULL), json_number_value(value), "%s.%s is %s in CSV", scenario, path,
                     field);
    else if (json_is_null(value))
        cr_expect_str_eq(field, "", "%s.%s does not exist", scenario, path);
    else
        cr_expect_str_eq(field, json_is_string(value) ? json_string_value(value)
                                : json_is_true(value) ? "true"
                                                      : "false");
}

Test(cli_figures, csv_is_json_to_the_last_digit)
{
    struct paths plans = examples();
    size_t fields = 0;
    for (size_t i = 0; i < plans.list.count; i++) {
        json_t *root = load(report(plans.list.items[i], "json"));
        struct lines lines = split_lines(arena, report(plans.list.items[i], "csv"));
        size_t scenarios =
            json_array_size(json_object_get(json_object_get(root, "declarations"), "scenarios"));
        cr_assert_gt(lines.list.count, scenarios);
        for (size_t row = 1; row <= scenarios; row++) {
            const char *heading_at = lines.list.items[0], *at = lines.list.items[row];
            next_field(&heading_at);
            const char *scenario = next_field(&at);
            while (*heading_at && *heading_at != '\r') {
                const char *heading = next_field(&heading_at), *field = next_field(&at);
                if (strncmp(heading, "sweep.", 6) == 0)
                    continue;
                check_field(root, scenario, heading, field);
                fields++;
            }
        }
        json_decref(root);
    }
    cr_assert_gt(fields, 2000);
}

/* A scenario may be called like a card or a model of the catalogue; keys of JSON stay single. */
Test(cli_figures, a_scenario_called_like_its_model)
{
    const char *plan = scratch_file(arena, "plan.perf",
                                    "scenario \"llama-2-7b\" { gpu = l4  model = llama-2-7b  weights = fp8\n"
                                    "context = 100  batch = 1 }\n");
    json_t *root = load(report(plan, "json")), *bytes = quantity_of(root, "llama-2-7b", "weight_bytes");
    double value = json_number_value(json_object_get(bytes, "value"));
    cr_assert(value > 6.7e9 && value < 7.1e9, "%g is not the scenario's", value); /* about 1 byte each */
    json_decref(root);
    cr_assert_null(strstr(report(plan, "csv"), ",kv_bytes_per_token"));
}

/* ---- derived figures in all formats ---------------------------------------------------------------------
 */

/* Cells of "| a | b |", without the blanks around them. */
static const char *cell(const char *line, size_t index)
{
    const char *at = line;
    for (size_t i = 0; i <= index && at; i++) {
        at = strstr(at, "| ");
        at = at ? at + 2 : NULL;
    }
    cr_assert_not_null(at, "`%s` has no cell %zu", line, index);
    const char *end = strstr(at, " |");
    return arena_strndup(arena, at, end ? (size_t)(end - at) : strlen(at));
}

static void check_derivation(const char *line, const char *scenario, json_t *root, const char *text,
                             const char *html)
{
    const char *name = cell(line, 0), *value = cell(line, 3), *exact = cell(line, 4);
    name = arena_strndup(arena, name + 1, strlen(name) - 2); /* `name` */
    json_t *quantity = quantity_of(root, scenario, name);
    cr_assert_not_null(quantity, "JSON has no %s.%s", scenario, name);
    if (*exact == '\0')
        return;
    cr_expect_eq(strtod(exact, NULL), json_number_value(json_object_get(quantity, "value")),
                 "%s.%s is exactly %s in Markdown", scenario, name, exact);
    const char *words = strcmp(value, exact) == 0
                            ? arena_printf(arena, "  %s = %s\n", name, value)
                            : arena_printf(arena, "  %s = %s  (%s)\n", name, value, exact);
    cr_expect_not_null(strstr(text, words), "no `%s` in the text", words);
    cr_expect_not_null(strstr(html, exact), "%s.%s: no `%s` in HTML", scenario, name, exact);
}

Test(cli_figures, derived_figures_are_the_same_everywhere)
{
    struct paths plans = examples();
    size_t figures = 0;
    for (size_t i = 0; i < plans.list.count; i++) {
        const char *plan = plans.list.items[i], *text = report(plan, "text"), *html = report(plan, "html");
        json_t *root = load(report(plan, "json"));
        struct lines lines = split_lines(arena, report(plan, "md"));
        const char *scenario = NULL;
        bool inside = false;
        for (size_t k = 0; k < lines.list.count; k++) {
            const char *line = lines.list.items[k];
            inside = inside || strncmp(line, "| Quantity | Formula |", 22) == 0;
            if (line[0] == '`' && ends_with(line, "`"))
                scenario = arena_strndup(arena, line + 1, strlen(line) - 2);
            if (inside && scenario && strncmp(line, "| `", 3) == 0) {
                check_derivation(line, scenario, root, text, html);
                figures++;
            }
            inside = inside && line[0] == '|';
        }
        json_decref(root);
    }
    cr_assert_gt(figures, 300);
}

/* ---- numbers of tables --------------------------------------------------------------------------------- */

struct tokens {
    VEC(const char *) list;
};

static bool in_number(char byte)
{
    return (byte >= '0' && byte <= '9') || byte == '.';
}

/* Numbers of a text as they stand; of markup those outside of tags and entities. */
static void add_numbers(struct tokens *out, const char *text, const char *end, bool markup)
{
    while (text < end) {
        if (markup && *text == '<') {
            const char *close = memchr(text, '>', (size_t)(end - text));
            text = close ? close + 1 : text + 1;
        } else if (markup && *text == '&' && memchr(text, ';', (size_t)(end - text))) {
            const char *close = memchr(text, ';', (size_t)(end - text));
            text = close - text < 8 ? close + 1 : text + 1;
        } else if (*text >= '0' && *text <= '9') {
            const char *from = text;
            while (text < end && in_number(*text))
                text++;
            *VEC_PUSH(arena, out->list) = arena_strndup(arena, from, (size_t)(text - from));
        } else {
            text++;
        }
    }
}

static int by_text(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static void sort(struct tokens *tokens)
{
    cr_assert_gt(tokens->list.count, 20, "only %zu numbers", tokens->list.count);
    qsort(tokens->list.items, tokens->list.count, sizeof *tokens->list.items, by_text);
}

/* Everything between these marks, each time they occur. */
static struct tokens between(const char *text, const char *open, const char *close)
{
    struct tokens out = {{0}};
    for (const char *at = strstr(text, open); at; at = strstr(at + 1, open)) {
        const char *end = strstr(at, close);
        cr_assert_not_null(end, "`%s` is not closed", open);
        add_numbers(&out, at, end, true);
    }
    sort(&out);
    return out;
}

/* Every number of `some` is among `all`, as often when `counted`. Both are sorted. */
static void expect_among(const struct tokens *some, const struct tokens *all, bool counted, const char *what)
{
    size_t k = 0;
    for (size_t i = 0; i < some->list.count; i++) {
        while (k < all->list.count && strcmp(all->list.items[k], some->list.items[i]) < 0)
            k++;
        bool found = k < all->list.count && strcmp(all->list.items[k], some->list.items[i]) == 0;
        cr_assert(found, "%s: %s is missing (again)", what, some->list.items[i]);
        k += counted;
    }
}

static struct tokens markdown_numbers(const char *markdown)
{
    struct tokens out = {{0}};
    struct lines lines = split_lines(arena, markdown);
    for (size_t i = 0; i < lines.list.count; i++)
        if (lines.list.items[i][0] == '|' && strncmp(lines.list.items[i], "| ---", 5) != 0)
            add_numbers(&out, lines.list.items[i], lines.list.items[i] + strlen(lines.list.items[i]), true);
    sort(&out);
    return out;
}

Test(cli_figures, numbers_of_tables_are_the_same)
{
    struct paths plans = examples();
    for (size_t i = 0; i < plans.list.count; i++) {
        const char *plan = plans.list.items[i], *text = report(plan, "text"), *html = report(plan, "html");
        struct tokens markdown = markdown_numbers(report(plan, "md"));
        struct tokens page = between(html, "<body", "</body>"), cells = between(html, "<td", "</td>");
        struct tokens words = {{0}};
        add_numbers(&words, text, text + strlen(text), false);
        sort(&words);
        expect_among(&markdown, &page, true, arena_printf(arena, "%s: Markdown in HTML", plan));
        expect_among(&cells, &markdown, true, arena_printf(arena, "%s: HTML in Markdown", plan));
        expect_among(&markdown, &words, false, arena_printf(arena, "%s: Markdown in text", plan));
    }
}
