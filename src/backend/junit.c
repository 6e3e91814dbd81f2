/* junit.c: assertions, and thresholds of a comparison, as test cases in the JUnit XML that CI systems read
 * (Jenkins' junit-10.xsd; GitLab and GitHub actions read the same). A condition that could not be decided is
 * a failure, except where a threshold had nothing to be compared with, which is a skipped test. */
#include <string.h>

#include "backend/clean.h"
#include "backend/emitters.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "result/diff.h"

/* Text for an attribute. clean_line() has taken out control characters; of what is left XML 1.0 (section 2.2)
 * does not allow U+FFFE and U+FFFF, which become U+FFFD: all three differ in their last byte. */
static void put_text(struct arena *arena, struct buffer *out, const char *text)
{
    for (const char *at = clean_line(arena, text); *at; at++) {
        const char *entity = clean_entity(*at);
        if (entity != NULL) {
            buffer_text(out, entity);
        } else if (strncmp(at, "\xEF\xBF\xBE", 3) == 0 || strncmp(at, "\xEF\xBF\xBF", 3) == 0) {
            buffer_text(out, "\xEF\xBF\xBD");
            at += 2;
        } else {
            buffer_byte(out, *at);
        }
    }
}

static void put_attribute(struct arena *arena, struct buffer *out, const char *name, const char *value)
{
    buffer_printf(out, " %s=\"", name);
    put_text(arena, out, value);
    buffer_byte(out, '"');
}

struct suite {
    const char *name;
    const struct report_assertion *tests;
    size_t count;
};

static bool is_skipped(const struct report_assertion *test)
{
    return test->holds && test->why;
}

static size_t failures(const struct suite *suite)
{
    size_t count = 0;
    for (size_t i = 0; i < suite->count; i++)
        count += !suite->tests[i].holds;
    return count;
}

static size_t skipped(const struct suite *suite)
{
    size_t count = 0;
    for (size_t i = 0; i < suite->count; i++)
        count += is_skipped(&suite->tests[i]);
    return count;
}

/* "chat must feel instant: 48.3 ms against 40.0 ms, 21 % above". */
static const char *reason(struct arena *arena, const struct report_assertion *test)
{
    const char *detail = test->why ? test->why : test->margin ? test->margin : "";
    if (!test->why && test->left && test->right)
        detail =
            arena_printf(arena, "%s against %s%s%s", test->left, test->right, *detail ? ", " : "", detail);
    if (!test->message)
        return *detail ? detail : "it does not hold";
    return *detail ? arena_printf(arena, "%s: %s", test->message, detail) : test->message;
}

static void put_test(struct arena *arena, struct buffer *out, const struct report *report,
                     const struct report_assertion *test)
{
    buffer_text(out, "    <testcase");
    put_attribute(arena, out, "classname", report->plan);
    put_attribute(arena, out, "name", test->text);
    if (test->holds && !test->why) {
        buffer_text(out, "/>\n");
        return;
    }
    buffer_text(out, ">\n      ");
    buffer_text(out, is_skipped(test) ? "<skipped" : "<failure");
    put_attribute(arena, out, "message", reason(arena, test));
    if (!is_skipped(test))
        put_attribute(arena, out, "type", test->why ? "undecided" : "assertion");
    if (test->line > 0) { /* the schema has no attribute for it */
        buffer_byte(out, '>');
        put_text(arena, out, arena_printf(arena, "%s:%u", report->plan, test->line));
        buffer_text(out, is_skipped(test) ? "</skipped>" : "</failure>");
    } else {
        buffer_text(out, "/>");
    }
    buffer_text(out, "\n    </testcase>\n");
}

static void put_suite(struct arena *arena, struct buffer *out, const struct report *report,
                      const struct suite *suite)
{
    buffer_text(out, "  <testsuite");
    put_attribute(arena, out, "name", suite->name);
    buffer_printf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n", suite->count,
                  failures(suite), skipped(suite));
    for (size_t i = 0; i < suite->count; i++)
        put_test(arena, out, report, &suite->tests[i]);
    buffer_text(out, "  </testsuite>\n");
}

bool junit_emit(struct arena *arena, const struct report *report, struct backend_options options,
                struct buffer *out)
{
    const struct report *tested = report->diff ? report->diff->new : report;
    struct suite suites[2] = {{"assertions", tested->assertions.items, tested->assertions.count}};
    size_t count = 1;
    (void)options;
    if (report->diff)
        suites[count++] =
            (struct suite){"thresholds", report->diff->thresholds.items, report->diff->thresholds.count};
    size_t tests = 0, failed = 0;
    for (size_t i = 0; i < count; i++) {
        tests += suites[i].count;
        failed += failures(&suites[i]);
    }
    buffer_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"perfc\"");
    buffer_printf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"0\">\n", tests, failed);
    for (size_t i = 0; i < count; i++)
        put_suite(arena, out, tested, &suites[i]);
    buffer_text(out, "</testsuites>\n");
    return true;
}
