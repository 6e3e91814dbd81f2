/* test_scanner.c: what the text of a plan is cut into, seen in the tree. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/buffer.h"
#include "syntax/keyword.h"
#include "syntax_fixture.h"

static struct arena *arena;

static void set_up(void)
{
    arena = arena_new();
}

static void tear_down(void)
{
    arena_free(arena);
}

TestSuite(scanner, .init = set_up, .fini = tear_down);

/* The attributes of one block, one to a line, without the word `attribute`. */
static const char *attributes(const char *text)
{
    struct parsed result = parsed_file(arena, arena_printf(arena, "gpu a {%s\n}\n", text), strlen(text) + 10);
    cr_assert_str_eq(parsed_errors(&result), "", "%s: %s", text, parsed_errors(&result));
    const char *rest = parsed_dump(&result);
    struct buffer out = buffer_in(arena);
    rest = strchr(rest, '\n') + 1; /* declaration gpu a */
    while (*rest != '\0') {
        size_t length = strcspn(rest, "\n");
        size_t skip = strncmp(rest, "  attribute ", 12) == 0 ? 12 : 2;
        buffer_add(&out, rest + skip, length - skip + 1);
        rest += length + 1;
    }
    return buffer_string(&out);
}

#define EXPECT_ATTRIBUTES(text, expected) cr_expect_str_eq(attributes(text), expected, "%s", attributes(text))

Test(scanner, a_word_after_a_number_is_its_unit)
{
    EXPECT_ATTRIBUTES("x = 2 TB/s  y = 80GB z = 90% w = 90 %", "x = 2 TB/s\ny = 80 GB\nz = 90%\nw = 90%\n");
    EXPECT_ATTRIBUTES("h = 4 h", "h = 4 h\n");
    EXPECT_ATTRIBUTES("x = 2000 tokens\npeak { }", "x = 2000 tokens\ngroup peak\n");
    EXPECT_ATTRIBUTES("x = 3\ty = 4", "x = 3\ny = 4\n");
}

Test(scanner, a_word_that_begins_a_statement_is_no_unit)
{
    EXPECT_ATTRIBUTES("x = 3  s = 4", "x = 3\ns = 4\n");
    EXPECT_ATTRIBUTES("x = 3  min.y = 2", "x = 3\nmin.y = 2\n");
    EXPECT_ATTRIBUTES("x = 3  min . y = 2", "x = 3\nmin.y = 2\n");
    EXPECT_ATTRIBUTES("x = 3  a-b.c = 2", "x = 3\na-b.c = 2\n");
    EXPECT_ATTRIBUTES("x = 3  s { }", "x = 3\ngroup s\n");
    EXPECT_ATTRIBUTES("x = 3  block dense { }", "x = 3\ndeclaration block dense\n");
    EXPECT_ATTRIBUTES("x = 3 show y", "x = 3\nshow y\n");
    EXPECT_ATTRIBUTES("x = 3 s == 4 ms", "x = (== 3 s 4 ms)\n");
}

Test(scanner, a_unit_stands_on_the_line_of_its_number)
{
    EXPECT_ATTRIBUTES("x = 3\ns = 4", "x = 3\ns = 4\n");
    EXPECT_ATTRIBUTES("x = 3 # ms\ns = 4", "x = 3\ns = 4\n");
    EXPECT_ATTRIBUTES("x = 2 TBps\nb = 3", "x = 2 TBps\nb = 3\n");
}

Test(scanner, both_micro_signs_begin_a_unit)
{
    EXPECT_ATTRIBUTES("x = 3 \u00b5s y = 4\u03bcs", "x = 3 \u00b5s\ny = 4 \u03bcs\n");
}

Test(scanner, a_letter_against_a_number_is_a_count)
{
    struct parsed result = parsed_expression(arena, "128Ki", 5);
    cr_assert_str_eq(result.expr->number.digits, "128");
    cr_assert_str_eq(result.expr->number.count, "Ki");
    cr_assert_null(result.expr->number.unit);
    EXPECT_ATTRIBUTES("x = 7B y = 128k tokens z = 4_096 w = 7e9 v = 1.5M",
                      "x = 7B\ny = 128k tokens\nz = 4_096\nw = 7e9\nv = 1.5M\n");
    /* not a count when the word goes on */
    EXPECT_ATTRIBUTES("x = 80KiB y = 3MWh z = 3Mi w = 4 B", "x = 80 KiB\ny = 3 MWh\nz = 3Mi\nw = 4 B\n");
}

Test(scanner, a_unit_has_its_own_place)
{
    struct parsed result = parsed_expression(arena, "128k tokens", 11);
    cr_assert_str_eq(result.expr->number.unit, "tokens");
    cr_assert_eq(result.expr->number.unit_span.start, 5);
    cr_assert_eq(result.expr->number.unit_span.end, 11);
    cr_assert_eq(result.expr->span.end, 11);
}

Test(scanner, names_hold_minus_and_dot_before_digit)
{
    EXPECT_ATTRIBUTES("x = llama-3.1-70b.params", "x = llama-3.1-70b.params\n");
    struct parsed result = parsed_expression(arena, "llama-3.1-70b.params", 20);
    cr_assert_eq(result.expr->path.count, 2);
    cr_assert_str_eq(result.expr->path.parts[0].text, "llama-3.1-70b");
    cr_assert_str_eq(result.expr->path.parts[1].text, "params");
    EXPECT_ATTRIBUTES("x = lib.h100-sxm.memory y = a-1 z = a - 1",
                      "x = lib.h100-sxm.memory\ny = a-1\nz = (- a 1)\n");
}

Test(scanner, ranges_need_no_blanks)
{
    EXPECT_ATTRIBUTES("x = 1..512 y = 1.5..2.5 z = 1 GB..8 GB w = a..b",
                      "x = 1 .. 512\ny = 1.5 .. 2.5\nz = 1 GB .. 8 GB\nw = a .. b\n");
}

Test(scanner, step_is_a_keyword_only_in_a_range)
{
    EXPECT_ATTRIBUTES("x = 1 .. 8 step 2 y = 1..64 step *2 z = 1..2 step 0.1",
                      "x = 1 .. 8 step 2\ny = 1 .. 64 step * 2\nz = 1 .. 2 step 0.1\n");
    EXPECT_ATTRIBUTES("x = 1 .. 8 step = 3", "x = 1 .. 8\nstep = 3\n");
    EXPECT_ATTRIBUTES("x = 1 .. 8\nstep # why\n = 3", "x = 1 .. 8\nstep = 3\n");
    EXPECT_ATTRIBUTES("x = 1 .. 8 step { }", "x = 1 .. 8\ngroup step\n");
    EXPECT_ATTRIBUTES("x = step y = step + 1 z = 1 .. 9 step step",
                      "x = step\ny = (+ step 1)\nz = 1 .. 9 step step\n");
}

Test(scanner, keywords_are_names_where_nothing_else_is_expected)
{
    EXPECT_ATTRIBUTES("model = x show = y let = 3 assert = 4 gpu.as = as",
                      "model = x\nshow = y\nlet = 3\nassert = 4\ngpu.as = as\n");
    EXPECT_ATTRIBUTES("x = show show a", "x = show\nshow a\n");
    EXPECT_ATTRIBUTES("x = a.and.if.step", "x = a.and.if.step\n");
}

Test(scanner, strings_resolve_escapes)
{
    struct parsed result = parsed_expression(arena, "\"a\\\"b\\\\c\\n\\t\\u{e9}\\u{1F600}\"", 28);
    cr_assert_not_null(result.expr);
    cr_assert_eq(result.expr->kind, EXPR_STRING);
    cr_assert_str_eq(result.expr->string.text, "a\"b\\c\n\t\u00e9\U0001F600");
}

Test(scanner, a_byte_order_mark_and_crlf_mean_nothing)
{
    cr_expect_str_eq(dump_of(arena, "\ufeffgpu a {\r\n  x = \"y\"\r\n}\r\n"),
                     "declaration gpu a\n  attribute x = \"y\"\n");
    cr_expect_str_eq(errors_of(arena, "\ufeffgpu a {\r\n  x = \"y\"\r\n}\r\n"), "");
}

Test(scanner, comments_reach_to_the_end_of_the_line)
{
    cr_expect_str_eq(dump_of(arena, "# a { }\nlet x = 1 # ; let y = 2\n#"), "let x = 1\n");
}

Test(scanner, every_keyword_is_found)
{
    size_t count;
    const struct keyword *keywords = keyword_all(&count);
    cr_assert_gt(count, 20);
    for (size_t i = 0; i < count; i++) {
        cr_expect_eq(keyword_find(keywords[i].text, keywords[i].length), &keywords[i], "%s",
                     keywords[i].text);
        if (i > 0)
            cr_expect_lt(strcmp(keywords[i - 1].text, keywords[i].text), 0, "%s", keywords[i].text);
    }
    cr_expect_null(keyword_find("gpus", 4));
    cr_expect_null(keyword_find("Gpu", 3));
    cr_expect_null(keyword_find("hidden", 6));
}

/* One text, one error, at its exact place. */
Test(scanner, malformed_tokens)
{
    static const struct {
        const char *text, *errors;
    } cases[] = {
        {"let x = \"abc\nlet y = 1", "E0102 1:9\n"},
        {"let x = \"a\\", "E0102 1:9\n"},
        {"let x = \"a\\qb\"", "E0103 1:11\n"},
        {"let x = \"\\u{0}\"", "E0103 1:10\n"},
        {"let x = \"\\u{d800}\"", "E0103 1:10\n"},
        {"let x = \"\\u{110000}\"", "E0103 1:10\n"},
        {"let x = \"\\u{}\"", "E0103 1:10\n"},
        {"let x = \"\\u{12\"", "E0103 1:10\n"},
        {"let x = \"a\x01\"", "E0104 1:11\n"},
        {"let x = 1 $ 2", "E0104 1:11\n"},
        {"let x\u00a0= 1", "E0104 1:6\n"},
        {"model mod\u00e8le { }", "E0105 1:7\n"},
        {"let x = \"\xff\xfe\"", "E0106 1:10\n"},
        {"let x = 1.", "E0107 1:9\n"},
        {"let x = .5 GB", "E0107 1:9\n"},
        {"let x = 1.e5", "E0107 1:9\n"},
        {"let x = 1.2.3", "E0107 1:9\n"},
        {"let x = 128K", "E0108 1:12\n"},
        {"let x = 7B/s", "E0109 1:9\n"},
        {"let x = 7B/2", ""},
        {"assert a && b", "E0110 1:10\n"},
        {"assert !a", "E0110 1:8\n"},
        {"let x = a\u00d7b", "E0110 1:10\n"},
        {"let x = 1...5", "E0110 1:10\nE0125 1:10\n"},
        {"let x = 'a b'", "E0111 1:9\n"},
        {"let x = \u201ca b\u201d", "E0111 1:9\n"},
        {"let x = 1 // one", "E0112 1:11\n"},
        {"let x = /* one\n * two */ 1", "E0112 1:9\n"},
        {"gpu a { x = [1, 2] y = 3 }", "E0113 1:13\n"},
        {"let x = 5-3", "E0114 1:10\n"},
        {"let x = a -b", "E0114 1:11\n"},
        {"let x = a- b", "E0114 1:10\n"},
        {"let x = (a)\n- b", ""},
        {"let x = -a", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        cr_expect_str_eq(errors_of(arena, cases[i].text), cases[i].errors, "%s\n%s", cases[i].text,
                         errors_of(arena, cases[i].text));
}

Test(scanner, a_nul_is_an_error_and_not_the_end)
{
    struct parsed result = parsed_file(arena, "let x = 1\n\0\nlet y = 2\n", 22);
    cr_expect_str_eq(parsed_errors(&result), "E0134 2:1\n");
    cr_expect_str_eq(parsed_dump(&result), "let x = 1\nlet y = 2\n");
}

Test(scanner, what_is_no_text_is_not_parsed)
{
    struct parsed utf16 = parsed_file(arena, "\xff\xfel\0e\0t\0", 8);
    cr_expect_str_eq(parsed_errors(&utf16), "E0135 1:1\n");
    char junk[4096];
    unsigned state = 1;
    for (size_t i = 0; i < sizeof junk; i++)
        junk[i] = (char)((state = state * 1103515245u + 12345u) >> 16);
    struct parsed binary = parsed_file(arena, junk, sizeof junk);
    cr_expect_eq(diags_count(binary.diags), 1);
    cr_expect_eq(diags_get(binary.diags, 0)->code, DIAG_E0135);
}
