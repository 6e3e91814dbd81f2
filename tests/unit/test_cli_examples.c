/* test_cli_examples.c: every example compiles in every format, twice to the same bytes, and its page is
 * valid HTML. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
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

TestSuite(cli_examples, .init = set_up, .fini = tear_down, .timeout = 300);

static struct paths examples(void)
{
    struct paths plans = find_files(arena, source_path(arena, "examples"), ".perf");
    cr_assert(plans.list.count >= 8, "%zu examples", plans.list.count);
    return plans;
}

static bool succeeded(struct run run, const char *plan, struct buffer *faults)
{
    /* An example may show an assertion that fails; it says so in its name. */
    int expected = strstr(plan, "fails") != NULL ? 5 : 0;
    if (run.status != expected)
        buffer_printf(faults, "%s: exit status %d\n%.2000s\n", plan, run.status, run.err);
    return run.status == expected;
}

Test(cli_examples, compile_in_every_format)
{
    static const char *const formats[] = {"text", "md", "html", "json"};
    struct buffer faults = buffer_in(arena);
    struct paths plans = examples();
    for (size_t i = 0; i < plans.list.count; i++) {
        const char *plan = plans.list.items[i];
        for (size_t k = 0; k < sizeof formats / sizeof formats[0]; k++) {
            struct run first = RUN(arena, "-f", formats[k], plan);
            struct run second = RUN(arena, "-f", formats[k], plan);
            if (!succeeded(first, plan, &faults))
                continue;
            if (strcmp(first.out, second.out) != 0)
                buffer_printf(&faults, "%s: two runs differ in %s\n", plan, formats[k]);
            if (strstr(first.out, "nan") != NULL && strstr(first.out, " nan ") != NULL)
                buffer_printf(&faults, "%s: not a number in %s\n", plan, formats[k]);
        }
    }
    cr_assert(faults.length == 0, "\n%s", buffer_string(&faults));
}

/* JSON is valid, every quantity is a finite number, a text, a truth value, or null with a reason. */
static void check_quantities(const char *plan, json_t *report, struct buffer *faults)
{
    const char *name;
    json_t *quantity;
    json_t *quantities = json_object_get(report, "quantities");
    if (json_object_size(quantities) == 0)
        buffer_printf(faults, "%s: no quantities\n", plan);
    json_object_foreach(quantities, name, quantity)
    {
        json_t *value = json_object_get(quantity, "value");
        if (value == NULL || (json_is_null(value) && !json_is_string(json_object_get(quantity, "why"))))
            buffer_printf(faults, "%s: %s has neither a value nor a reason\n", plan, name);
        if (json_is_number(value) && !json_is_string(json_object_get(quantity, "unit")))
            buffer_printf(faults, "%s: %s has no unit\n", plan, name);
    }
}

Test(cli_examples, json_is_a_contract)
{
    struct buffer faults = buffer_in(arena);
    struct paths plans = examples();
    for (size_t i = 0; i < plans.list.count; i++) {
        const char *plan = plans.list.items[i];
        struct run run = RUN(arena, "-f", "json", plan);
        json_error_t error;
        json_t *report = json_loads(run.out, JSON_REJECT_DUPLICATES, &error);
        if (report == NULL) {
            buffer_printf(&faults, "%s: %s\n", plan, error.text);
            continue;
        }
        json_t *schema = json_object_get(report, "schema");
        if (!json_is_string(schema) || strcmp(json_string_value(schema), "perfc-report/1") != 0)
            buffer_printf(&faults, "%s: no schema\n", plan);
        check_quantities(plan, report, &faults);
        json_decref(report);
    }
    cr_assert(faults.length == 0, "\n%s", buffer_string(&faults));
}

static bool has_command(const char *name)
{
    const char *const argv[] = {"sh", "-c", arena_printf(arena, "command -v %s", name), NULL};
    return run_command(arena, argv, (struct run_options){0}).status == 0;
}

Test(cli_examples, pages_are_valid_html)
{
    if (!has_command("tidy"))
        cr_skip_test("NOT CHECKED: tidy is missing; apt-get install tidy");
    struct buffer faults = buffer_in(arena);
    struct paths plans = examples();
    const char *directory = scratch_directory(arena);
    for (size_t i = 0; i < plans.list.count; i++) {
        const char *page = arena_printf(arena, "%s/%zu.html", directory, i);
        if (!succeeded(RUN(arena, plans.list.items[i], "-o", page), plans.list.items[i], &faults))
            continue;
        const char *const argv[] = {"tidy", "-e", "-q", "--show-warnings", "no", "-utf8", page, NULL};
        struct run tidy = run_command(arena, argv, (struct run_options){0});
        if (tidy.status > 1 || tidy.err_length > 0)
            buffer_printf(&faults, "%s: %.2000s\n", plans.list.items[i], tidy.err);
    }
    cr_assert(faults.length == 0, "\n%s", buffer_string(&faults));
}

/* tests/browser/check.sh PAGE DIRECTORY opens a page in headless Chromium; 77 means that there is none. */
Test(cli_examples, the_page_in_a_browser)
{
    const char *script = source_path(arena, "tests/browser/check.sh");
    cr_assert(file_exists(script));
    const char *directory = scratch_directory(arena);
    const char *page = arena_printf(arena, "%s/quickstart.html", directory);
    struct run run = RUN(arena, source_path(arena, "examples/quickstart.perf"), "-o", page);
    cr_assert(run.status == 0, "%s", run.err);
    const char *const argv[] = {"sh", script, page, directory, NULL};
    run = run_command(arena, argv, (struct run_options){.timeout = 280});
    if (run.status == 77)
        cr_skip_test("NOT CHECKED: Chromium or Node.js is missing; apt-get install chromium nodejs");
    cr_assert_eq(run.status, 0, "%s\n%s", run.out, run.err);
}

/* A single copied file works anywhere: nothing is read from the source tree. */
Test(cli_examples, the_binary_stands_alone)
{
    const char *directory = scratch_directory(arena);
    size_t length;
    const char *bytes = read_file(arena, perfc_path(), &length);
    cr_assert_not_null(bytes);
    const char *copy = arena_printf(arena, "%s/perfc", directory);
    write_file(copy, bytes, length);
    const char *plan = read_file(arena, source_path(arena, "examples/quickstart.perf"), NULL);
    write_file(arena_printf(arena, "%s/plan.perf", directory), plan, strlen(plan));
    const char *command = "chmod +x perfc && ./perfc plan.perf -o report.html && test -s report.html";
    const char *const argv[] = {"sh", "-c", command, NULL};
    struct run run = run_command(arena, argv, (struct run_options){.directory = directory});
    cr_assert_eq(run.status, 0, "%s", run.err);
}

/* Every ```perf block of the documentation is a plan that compiles. */
static size_t check_blocks(const char *path, struct buffer *faults)
{
    size_t count = 0;
    const char *text = read_file(arena, path, NULL);
    cr_assert_not_null(text, "%s", path);
    for (const char *at = strstr(text, "```perf\n"); at != NULL; at = strstr(at, "```perf\n")) {
        at += strlen("```perf\n");
        const char *end = strstr(at, "```");
        cr_assert_not_null(end, "%s: a block does not end", path);
        struct run_options options = {.input = at, .input_length = (size_t)(end - at)};
        struct run run = run_perfc(arena, options, "check", "-", (const char *)NULL);
        if (run.status != 0 && run.status != 5) /* a failed assertion is a plan, too */
            buffer_printf(faults, "%s, block %zu: exit status %d\n%.2000s\n", path, count + 1, run.status,
                          run.err);
        count++;
        at = end;
    }
    return count;
}

Test(cli_examples, plans_in_the_documentation)
{
    struct buffer faults = buffer_in(arena);
    size_t count = check_blocks(source_path(arena, "README.md"), &faults);
    struct paths pages = find_files(arena, source_path(arena, "docs"), ".md");
    for (size_t i = 0; i < pages.list.count; i++)
        count += check_blocks(pages.list.items[i], &faults);
    cr_assert(faults.length == 0, "\n%s", buffer_string(&faults));
    cr_assert(count >= 3, "%zu blocks", count);
}
