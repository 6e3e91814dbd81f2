/* test_backend_markdown.c: what Markdown shows is what was written. Expectations follow from CommonMark 0.30
 * and the GFM specification; they were also rendered with cmark-gfm. */
#include <criterion/criterion.h>
#include <string.h>

#include "backend/backend.h"
#include "backend/markdown_escape.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/utf8.h"
#include "report_fixture.h"
#include "result/report.h"

static struct arena *arena;

static void setup(void)
{
    arena = arena_new();
}

static void teardown(void)
{
    arena_free(arena);
}

TestSuite(backend_markdown, .init = setup, .fini = teardown);

static const char *emit(const struct report *report)
{
    struct buffer out = buffer_in(arena);
    cr_assert(backend_by_name("md")->emit(arena, report, (struct backend_options){0}, &out));
    return buffer_string(&out);
}

/* The lines of a text, copied. */
struct lines {
    VEC(const char *) items;
};

static struct lines split(const char *text)
{
    struct lines lines = {0};
    while (*text) {
        size_t length = strcspn(text, "\n");
        *VEC_PUSH(arena, lines.items) = arena_strndup(arena, text, length);
        text += length + (text[length] == '\n');
    }
    return lines;
}

/* ---- escaping */

struct escape_case {
    const char *text, *escaped;
};

static void check_escapes(const struct escape_case *cases, size_t count, bool begins)
{
    for (size_t i = 0; i < count; i++) {
        struct buffer out = buffer_in(arena);
        markdown_escape(arena, &out, cases[i].text, begins);
        cr_assert_str_eq(buffer_string(&out), cases[i].escaped);
    }
}

Test(backend_markdown, escapes_everything_that_means_something)
{
    static const struct escape_case cases[] = {
        {"plain text, 12.5 % (of 3) - fine!", "plain text, 12.5 % (of 3) - fine!"},
        {"<b>&amp;", "&lt;b&gt;&amp;amp;"},
        {"a|b", "a\\|b"},
        {"`x`", "\\`x\\`"},
        {"*x* **y**", "\\*x\\* \\*\\*y\\*\\*"},
        {"_x_ kv_cache _", "\\_x\\_ kv_cache \\_"},
        {"[a](b) ![c](d)", "\\[a\\](b) !\\[c\\](d)"},
        {"C:\\dir", "C:\\\\dir"},
        {"~~gone~~", "\\~\\~&#8203;gone\\~\\~"},
        {"$x$", "\\$&#8203;x\\$"},
        {":tada: at 10:30:00 :100:", ":&#8203;tada: at 10:30:00 :&#8203;100:"},
        {"a:b", "a:b"},
        {"# a #1", "\\# a \\#&#8203;1"},
        {"@someone, a@b.c, @ 3", "@&#8203;someone, a@&#8203;b.c, @ 3"},
        {"see http://a.b/c", "see http&#58;//a.b/c"},
        {"see www.a.b", "see www&#46;a.b"},
        {"two\nlines\tand tab", "two lines and tab"},
        {"bell\a", "bell\xEF\xBF\xBD"},
        {NASTY_INVALID, NASTY_INVALID_SHOWN},
        {NULL, ""},
    };
    check_escapes(cases, sizeof cases / sizeof cases[0], false);
}

Test(backend_markdown, escapes_what_would_begin_a_block)
{
    static const struct escape_case cases[] = {
        {"- item", "\\- item"}, {"+ item", "\\+ item"}, {"1. item", "1\\. item"}, {"12) item", "12\\) item"},
        {"===", "\\==="},       {"---", "\\---"},       {"1.5 ms", "1\\.5 ms"},   {"> quote", "&gt; quote"},
        {"    code", "code"},   {"7 items", "7 items"}, {": term", "\\: term"},   {"#hash", "\\#&#8203;hash"},
        {"```", "\\`\\`\\`"},
    };
    check_escapes(cases, sizeof cases / sizeof cases[0], true);
}

Test(backend_markdown, names_are_code_where_that_is_safe)
{
    static const struct escape_case cases[] = {
        {"h100-sxm", "`h100-sxm`"},
        {"Qwen/Qwen3-32B", "`Qwen/Qwen3-32B`"},
        {NASTY_WIDE, "`" NASTY_WIDE "`"},
        {NASTY_PIPE, "a\\|b\\|\\|c"},
        {"a`b", "a\\`b"},
        {"@team", "@&#8203;team"},
        {" padded", " padded"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buffer out = buffer_in(arena);
        markdown_name(arena, &out, cases[i].text);
        cr_assert_str_eq(buffer_string(&out), cases[i].escaped);
    }
}

Test(backend_markdown, long_names_lose_their_middle)
{
    struct buffer out = buffer_in(arena);
    markdown_name(arena, &out, nasty_long_name(arena));
    const char *text = buffer_string(&out);
    cr_assert_eq(utf8_width(text, out.length), 64 + 2); /* and two backticks */
    cr_assert_eq(strncmp(text, "`very-long-name-0", 17), 0);
    cr_assert_not_null(strstr(text, "…"));
    cr_assert_str_eq(text + out.length - 5,
                     "1234`"); /* as the name ends: the 185th digit counted from 0 is 4 */
}

Test(backend_markdown, a_fence_is_longer_than_what_it_holds)
{
    struct buffer out = buffer_in(arena);
    markdown_fence(&out, "a ````` b\n```\n");
    cr_assert_str_eq(buffer_string(&out), "``````text\na ````` b\n```\n``````\n");
    out = buffer_in(arena);
    markdown_fence(&out, "plain\n");
    cr_assert_str_eq(buffer_string(&out), "```text\nplain\n```\n");
}

/* ---- the report */

Test(backend_markdown, begins_with_the_verdict_in_bold)
{
    cr_assert_eq(
        strncmp(emit(report_fixture(arena)),
                "**1 of 3 assertions holds; `proposal` serves 64 users at "
                "31 ms per token.**\n\n",
                sizeof "**1 of 3 assertions holds; `proposal` serves 64 users at 31 ms per token.**\n\n" - 1),
        0);
}

Test(backend_markdown, of_an_empty_report)
{
    cr_assert_str_eq(emit(report_fixture_empty(arena)), "`empty.perf`\n");
}

Test(backend_markdown, table_word_for_word)
{
    struct report *report = report_fixture_empty(arena);
    struct report_section *section = VEC_PUSH(arena, report->sections);
    section->id = "compare";
    section->title = "A & B";
    section->folded = true;
    struct report_block *block = VEC_PUSH(arena, section->blocks);
    block->kind = BLOCK_TABLE;
    *VEC_PUSH(arena, block->table.columns) = (struct report_column){.heading = "Name"};
    *VEC_PUSH(arena, block->table.columns) = (struct report_column){.heading = "ms", .align = ALIGN_RIGHT};
    struct report_row *row = VEC_PUSH(arena, block->table.rows);
    rich_add(arena, &VEC_PUSH(arena, row->cells)->text, TONE_NAME, "a-b");
    struct report_cell *cell = VEC_PUSH(arena, row->cells);
    rich_add(arena, &cell->text, TONE_PLAIN, "7.00");
    cell->best = true;
    row = VEC_PUSH(arena, block->table.rows); /* one cell is missing */
    rich_add(arena, &VEC_PUSH(arena, row->cells)->text, TONE_PLAIN, "x|y");
    cr_assert_str_eq(emit(report), "`empty.perf`\n"
                                   "\n"
                                   "<details><summary>A &amp; B</summary>\n"
                                   "\n"
                                   "| Name | ms |\n"
                                   "| --- | ---: |\n"
                                   "| `a-b` | **7.00** ★ |\n"
                                   "| x\\|y | |\n"
                                   "\n"
                                   "<sub>★ best</sub>\n"
                                   "\n"
                                   "</details>\n");
}

static bool is_fence(const char *line)
{
    return strncmp(line, "```", 3) == 0;
}

/* Bars that are not escaped; a cell more than its row would have says so. */
static size_t count_bars(const char *line)
{
    size_t count = 0;
    for (const char *at = line; *at; at++) {
        if (*at == '\\' && at[1])
            at++;
        else
            count += *at == '|';
    }
    return count;
}

Test(backend_markdown, every_row_has_the_cells_of_its_heading)
{
    struct lines lines = split(emit(report_fixture(arena)));
    size_t tables = 0;
    bool fenced = false;
    for (size_t i = 0; i + 1 < lines.items.count; i++) {
        const char *line = lines.items.items[i];
        fenced ^= is_fence(line);
        if (fenced || *line != '|')
            continue;
        bool heading = lines.items.items[i - 1][0] != '|';
        tables += heading;
        if (!heading)
            cr_assert_eq(count_bars(line), count_bars(lines.items.items[i - 1]), "%s", line);
    }
    cr_assert_eq(tables, 5); /* assertions, key figures, comparison, sweep, derivation */
}

/* Outside of fences only these tags may stand, and none of a plan's. */
static const char *without_tags(const char *line)
{
    static const char *const tags[] = {
        "<details><summary>", "</summary>", "</details>", "<br>", "<sub>", "</sub>"};
    struct buffer rest = buffer_in(arena);
    while (*line) {
        size_t skip = 0;
        for (size_t i = 0; i < sizeof tags / sizeof tags[0] && skip == 0; i++)
            if (strncmp(line, tags[i], strlen(tags[i])) == 0)
                skip = strlen(tags[i]);
        if (skip == 0)
            buffer_byte(&rest, *line++);
        line += skip;
    }
    return buffer_string(&rest);
}

Test(backend_markdown, nothing_of_a_plan_is_markup)
{
    const char *text = emit(report_fixture(arena));
    struct lines lines = split(text);
    bool fenced = false;
    int open = 0;
    for (size_t i = 0; i < lines.items.count; i++) {
        const char *line = lines.items.items[i];
        fenced ^= is_fence(line);
        if (fenced)
            continue;
        open += strncmp(line, "<details>", 9) == 0;
        open -= strncmp(line, "</details>", 10) == 0;
        const char *rest = without_tags(line);
        cr_assert_null(strpbrk(rest, "<>"), "%s", line);
        cr_assert_null(strstr(rest, "://"), "%s", line);
        cr_assert_null(strstr(rest, "@someone"), "%s", line);
    }
    cr_assert_not(fenced);
    cr_assert_eq(open, 0);
    cr_assert_eq(utf8_valid_prefix(text, strlen(text)), strlen(text));
    for (const char *at = text; *at; at++)
        cr_assert((unsigned char)*at >= 0x20 ? *at != 0x7f : *at == '\n', "byte %02x", *at);
}

Test(backend_markdown, shows_the_same_twice)
{
    cr_assert_str_eq(emit(report_fixture(arena)), emit(report_fixture(arena)));
}
