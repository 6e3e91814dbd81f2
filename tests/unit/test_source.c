/* test_source.c: places in files, diagnostics and their rendering, suggestions. */
#include <criterion/criterion.h>

#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "source/diag.h"
#include "source/diag_render.h"
#include "source/kin.h"
#include "source/source.h"
#include "source/suggest.h"

static struct arena *arena;
static struct sources *sources;
static struct diags *diags;

static void setup(void)
{
    arena = arena_new();
    sources = sources_new(arena);
    diags = diags_new(arena);
}

static void teardown(void)
{
    arena_free(arena);
}

TestSuite(source, .init = setup, .fini = teardown);

static uint32_t add(const char *text)
{
    return sources_add(sources, "plan.perf", text, strlen(text), false);
}

static void expect_position(const char *text, uint32_t offset, unsigned line, unsigned column)
{
    unsigned got_line, got_column;
    source_position(sources_get(sources, add(text)), offset, &got_line, &got_column);
    cr_assert_eq(got_line, line, "offset %u: line %u", offset, got_line);
    cr_assert_eq(got_column, column, "offset %u: column %u", offset, got_column);
}

Test(source, positions_count_lines_and_code_points)
{
    expect_position("ab\ncd\n", 0, 1, 1);
    expect_position("ab\ncd\n", 2, 1, 3);
    expect_position("ab\ncd\n", 3, 2, 1);
    expect_position("ab\ncd\n", 6, 3, 1);
    expect_position("ab\ncd\n", 60, 3, 1);
    expect_position("", 0, 1, 1);
    expect_position("\xC2\xB5\xE6\xBC\xA2x", 5, 1, 3);
    expect_position("\xFF\xFEx", 2, 1, 3);
}

Test(source, lines_come_without_their_end)
{
    const struct source *source = sources_get(sources, add("one\r\n\ntwo"));
    size_t length;
    cr_assert_eq(source->line_count, 3);
    cr_assert_eq(strncmp(source_line(source, 1, &length), "one", 3), 0);
    cr_assert_eq(length, 3);
    source_line(source, 2, &length);
    cr_assert_eq(length, 0);
    cr_assert_eq(strncmp(source_line(source, 3, &length), "two", 3), 0);
    cr_assert_eq(length, 3);
    source_line(source, 4, &length);
    cr_assert_eq(length, 0);
}

Test(source, spans_join)
{
    struct span both = span_join((struct span){1, 10, 12}, (struct span){1, 4, 11});
    cr_assert_eq(both.start, 4);
    cr_assert_eq(both.end, 12);
}

static const char *render(struct diag_render_options options)
{
    struct buffer out = buffer_in(arena);
    diags_sort(diags);
    diags_render_text(&out, diags, sources, options);
    return buffer_string(&out);
}

Test(source, carets_stand_under_the_exact_range)
{
    uint32_t file = add("gpu x {\n  bandwidth = 3.35 TB\n}\n");
    struct diag *diag =
        diag_add(diags, DIAG_E0207, (struct span){file, 22, 29}, "%s has no time", "bandwidth");
    diag_label(diags, diag, "data");
    diag_note(diags, diag, "expected data/time");
    diag_note_at(diags, diag, (struct span){file, 4, 5}, "declared here");
    diag_fix(diags, diag, (struct span){file, 27, 29}, "TB/s", "did you mean `TB/s`?");
    cr_assert_str_eq(render((struct diag_render_options){0}),
                     "plan.perf:2:15: error: bandwidth has no time [E0207]\n"
                     "    2 |   bandwidth = 3.35 TB\n"
                     "      |               ^~~~~~~ data\n"
                     "      = note: expected data/time\n"
                     "plan.perf:1:5: note: declared here\n"
                     "    1 | gpu x {\n"
                     "      |     -\n"
                     "      = help: did you mean `TB/s`?\n");
}

Test(source, tabs_and_wide_characters_keep_the_caret_in_place)
{
    uint32_t file = add("\t\xE6\xBC\xA2 = x");
    diag_add(diags, DIAG_E0101, (struct span){file, 7, 8}, "no");
    cr_assert_str_eq(render((struct diag_render_options){0}), "plan.perf:1:6: error: no [E0101]\n"
                                                              "    1 |     \xE6\xBC\xA2 = x\n"
                                                              "      |          ^\n");
}

Test(source, nothing_reaches_the_terminal_that_it_might_obey)
{
    uint32_t file = add("a \x1b[31m \xFF b");
    diag_add(diags, DIAG_E0101, (struct span){file, 9, 10}, "bad \x1b]0;title\x07");
    const char *text = render((struct diag_render_options){0});
    cr_assert_null(strchr(text, '\x1b'));
    cr_assert_null(strchr(text, '\x07'));
    cr_assert_null(strchr(text, '\xFF'));
    cr_assert_not_null(strstr(text, "\xEF\xBF\xBD[31m"));
    cr_assert_not_null(strstr(text, "      |          ^\n"));
}

Test(source, a_long_line_is_shown_as_a_window)
{
    enum { LENGTH = 100000 };
    char *line = arena_alloc(arena, LENGTH + 1);
    memset(line, 'a', LENGTH);
    line[50000] = 'X';
    uint32_t file = add(line);
    diag_add(diags, DIAG_E0101, (struct span){file, 50000, 50001}, "here");
    const char *text = render((struct diag_render_options){0});
    cr_assert_lt(strlen(text), 400);
    const char *mark = strchr(text, 'X'), *caret = strchr(text, '^');
    const char *line_start = strstr(text, "    1 |"), *caret_start = strstr(text, "      | ");
    cr_assert_eq(mark - line_start, caret - caret_start);
    cr_assert_not_null(strstr(text, "| ...a"));
    cr_assert_not_null(strstr(text, "a...\n"));
}

Test(source, a_span_at_the_end_of_the_file_is_shown)
{
    uint32_t file = add("gpu x {");
    diag_add(diags, DIAG_E0101, (struct span){file, 7, 7}, "missing `}`");
    cr_assert_str_eq(render((struct diag_render_options){0}), "plan.perf:1:8: error: missing `}` [E0101]\n"
                                                              "    1 | gpu x {\n"
                                                              "      |        ^\n");
}

Test(source, a_span_over_lines_is_underlined_to_the_end_of_the_first)
{
    uint32_t file = add("gpu x {\n}\n");
    diag_add(diags, DIAG_E0101, (struct span){file, 4, 9}, "m");
    cr_assert_not_null(strstr(render((struct diag_render_options){0}), "|     ^~~\n"));
}

Test(source, diagnostics_come_in_source_order_without_repeats)
{
    uint32_t file = add("abcdef");
    diag_add(diags, DIAG_E0202, (struct span){file, 4, 5}, "third");
    diag_add(diags, DIAG_E0201, (struct span){file, 1, 2}, "first");
    diag_add(diags, DIAG_E0202, (struct span){file, 1, 2}, "second");
    diag_add(diags, DIAG_E0201, (struct span){file, 1, 2}, "first");
    diag_add(diags, DIAG_E0202, (struct span){file, 4, 6}, "fourth");
    diags_sort(diags);
    cr_assert_eq(diags_count(diags), 4);
    cr_assert_eq(diags_errors(diags), 4);
    static const char *const order[] = {"first", "second", "third", "fourth"};
    for (size_t i = 0; i < 4; i++)
        cr_assert_str_eq(diags_get(diags, i)->message, order[i]);
}

Test(source, a_limit_says_what_it_leaves_out)
{
    uint32_t file = add("abcdef");
    for (uint32_t i = 0; i < 5; i++)
        diag_add(diags, DIAG_E0201, (struct span){file, i, i + 1}, "error %u", i);
    const char *text = render((struct diag_render_options){.limit = 2});
    cr_assert_not_null(strstr(text, "error 1"));
    cr_assert_null(strstr(text, "error 2"));
    cr_assert_not_null(strstr(text, "3 more not shown\n"));
}

Test(source, a_diagnostic_of_no_file_names_the_program)
{
    diag_add(diags, DIAG_E0101, (struct span){0, 0, 0}, "no such thing");
    cr_assert_str_eq(render((struct diag_render_options){0}), "perfc: error: no such thing [E0101]\n");
}

Test(source, the_table_of_codes_is_sorted_and_whole)
{
    for (int code = 0; code < DIAG_CODE_COUNT; code++) {
        const struct diag_info *info = diag_info((enum diag_code)code);
        cr_assert_eq(strlen(info->code), 5);
        cr_assert_eq(info->code[0] == 'W', info->severity == DIAG_WARNING, "%s", info->code);
        cr_assert_gt(strlen(info->paragraph), 30, "%s", info->code);
        cr_assert_eq(diag_info_find(info->code), info);
        cr_assert_eq(diag_info_find(info->slug), info, "slug %s is taken twice", info->slug);
        if (code > 0)
            cr_assert_lt(strcmp(diag_info((enum diag_code)(code - 1))->code, info->code), 0, "%s",
                         info->code);
    }
    cr_assert_null(diag_info_find("E9999"));
    cr_assert_not_null(diag_info_find("e0101"));
}

static const char *suggest(const char *word)
{
    static const char *const candidates[] = {"kv_heads", "heads", "hidden", "head_dim", "h100-sxm",
                                             "h200-sxm", "bf16",  "tp",     "pp"};
    struct suggestion suggestion = suggestion_for(word);
    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0]; i++)
        suggestion_consider(&suggestion, candidates[i]);
    return suggestion_result(&suggestion);
}

Test(source, suggestions_are_near)
{
    cr_assert_str_eq(suggest("kvheads"), "kv_heads");
    cr_assert_str_eq(suggest("kv-heads"), "kv_heads");
    cr_assert_str_eq(suggest("KV_HEADS"), "kv_heads");
    cr_assert_str_eq(suggest("heasd"), "heads");
    cr_assert_str_eq(suggest("hiden"), "hidden");
    cr_assert_str_eq(suggest("h100_sxm"), "h100-sxm");
    cr_assert_str_eq(suggest("h300-sxm"), "h100-sxm", "the first of equals");
    cr_assert_str_eq(suggest("BF16"), "bf16");
    cr_assert_str_eq(suggest("TP"), "tp");
    cr_assert_null(suggest("zzz"));
    cr_assert_null(suggest("xp"));
    cr_assert_null(suggest(""));
    cr_assert_null(suggest("something_else_entirely"));
}

static void expect_kin(const char *word, const char *expected)
{
    static const char *const names[] = {
        "a10",         "a100-pcie-80",  "a100-sxm-80",  "h100-nvl", "h100-pcie",       "h100-sxm",
        "apple-m1",    "apple-m1-max",  "apple-m2",     "apple-m3", "mi300a",          "mi300x",
        "llama-3-70b", "llama-3-70b-x", "mixtral-8x7b", "rtx-4090", "rtx-4090-laptop", "rtx-4090d"};
    struct kin kin = kin_of(word);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        kin_consider(&kin, names[i]);
    const char *text = kin_text(&kin, arena);
    cr_expect_str_eq(text ? text : "none", expected, "%s: %s", word, text);
}

Test(source, kin_share_whole_parts)
{
    expect_kin("a100", "`a100-pcie-80` or `a100-sxm-80`"); /* and not a10, which is one letter away */
    expect_kin("H100", "`h100-nvl`, `h100-pcie` or `h100-sxm`");
    expect_kin("m1-max", "`apple-m1-max`");
    expect_kin("apple", "`apple-m1`, `apple-m1-max`, `apple-m2` or `apple-m3`");
    expect_kin("mi300", "`mi300a` or `mi300x`");
    expect_kin("llama-3-70b-instruct", "`llama-3-70b`");
    expect_kin("llama-3-70b-x-instruct", "`llama-3-70b-x`");
    expect_kin("nvidia-h100", "`h100-nvl`, `h100-pcie` or `h100-sxm`");
    expect_kin("mixtral", "`mixtral-8x7b`");
    expect_kin("4090", "`rtx-4090`"); /* and not its variants */
    expect_kin("RTX-4090-laptop-16", "`rtx-4090-laptop`");
    expect_kin("h10", "none");
    expect_kin("h", "none");
    expect_kin("", "none");
    expect_kin("-", "none");
}

Test(source, kin_that_are_many_are_counted)
{
    struct kin kin = kin_of("l");
    static const char *const names[] = {"l-1", "l-2", "l-2", "l-3", "l-4", "l-5", "l-6"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        kin_consider(&kin, names[i]);
    cr_expect_str_eq(kin_text(&kin, arena), "`l-1`, `l-2`, `l-3`, `l-4` and 2 more");
}

Test(source, a_transposition_is_one_edit)
{
    struct suggestion suggestion = suggestion_for("heasd");
    suggestion_consider(&suggestion, "heads");
    cr_assert_eq(suggestion.best_distance, 10);
}
