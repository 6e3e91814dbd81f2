/* test_recovery.c: one mistake gives one error at its exact place, and what stands around it is kept. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
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

TestSuite(recovery, .init = set_up, .fini = tear_down);

struct mistake {
    const char *text, *errors, *tree; /* tree NULL: not of interest */
};

static void expect_mistakes(const struct mistake *mistakes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct mistake *mistake = &mistakes[i];
        const char *errors = errors_of(arena, mistake->text);
        cr_expect_str_eq(errors, mistake->errors, "%s\ngave\n%s", mistake->text, errors);
        if (mistake->tree != NULL)
            cr_expect_str_eq(dump_of(arena, mistake->text), mistake->tree, "%s\ngave\n%s", mistake->text,
                             dump_of(arena, mistake->text));
    }
}

#define EXPECT_MISTAKES(mistakes) expect_mistakes(mistakes, sizeof mistakes / sizeof mistakes[0])

Test(recovery, in_a_block)
{
    static const struct mistake mistakes[] = {
        {"gpu a { x = }", "E0119 1:9\n", "declaration gpu a\n"},
        {"gpu a {\n x =\n y = 1\n}", "E0119 2:2\n", "declaration gpu a\n  attribute y = 1\n"},
        {"gpu a {\n x =\n y.z = 1\n}", "E0119 2:2\n", "declaration gpu a\n  attribute y.z = 1\n"},
        {"gpu a {\n x = 1 +\n y { z = 1 }\n}", "E0119 2:8\n",
         "declaration gpu a\n  group y\n    attribute z = 1\n"},
        {"gpu a {\n x = 1,\n y = 1\n}", "E0120 2:7\n", "declaration gpu a\n  attribute y = 1\n"},
        {"gpu a { x = 1, }", "E0120 1:14\n", "declaration gpu a\n"},
        {"gpu a { x = 1,,2 y = 3 }", "E0119 1:14\n", "declaration gpu a\n  attribute y = 3\n"},
        {"model a {\n x =\n block b { y = 1 }\n}", "E0119 2:2\n",
         "declaration model a\n  declaration block b\n    attribute y = 1\n"},
        {"gpu a {\n x 80 GB\n y 2\n z = 3 }", "E0130 2:4\nE0130 3:4\n",
         "declaration gpu a\n  attribute z = 3\n"},
        {"gpu a {\n memory\n y = 2\n}", "E0130 2:2\n", "declaration gpu a\n  attribute y = 2\n"},
        {"scenario a {\n gpu h100\n model m\n y = 2 }", "E0130 2:6\nE0130 3:8\n",
         "declaration scenario a\n  attribute y = 2\n"},
        {"gpu a {\n x: 1\n y: 2\n z = 3 }", "E0124 2:3\nE0124 3:3\n",
         "declaration gpu a\n  attribute z = 3\n"},
        {"gpu a {\n x = 1 2 4\n y = 2 }", "E0137 2:8\n", "declaration gpu a\n  attribute y = 2\n"},
        {"gpu a {\n x = (1 + 2\n y = 2 }", "E0116 2:6\n", "declaration gpu a\n  attribute y = 2\n"},
        {"gpu a { x = (1 + 2 y = 2 }", "E0116 1:13\n", "declaration gpu a\n  attribute y = 2\n"},
        {"gpu a { x = 1 + 2) y = 2 }", "E0116 1:18\n", "declaration gpu a\n  attribute y = 2\n"},
        {"gpu a { x = b[1] y = 2 }", "E0104 1:14\n",
         "declaration gpu a\n  attribute x = b\n  attribute y = 2\n"},
        {"gpu a { x = 3 $ y = 2 }", "E0104 1:15\n",
         "declaration gpu a\n  attribute x = 3\n  attribute y = 2\n"},
        {"gpu a {\n x = 1\n \"y\" = 2\n z = 3\n}", "E0129 3:2\n",
         "declaration gpu a\n  attribute x = 1\n  attribute z = 3\n"},
        {"gpu a { and = 3 x = and y = 2 }", "E0118 1:9\nE0118 1:21\n",
         "declaration gpu a\n  attribute y = 2\n"},
        {"gpu a { x = y = 3 z = 2 }", "E0123 1:15\n", "declaration gpu a\n  attribute z = 2\n"},
        {"gpu a { blok b { x = 1 } y = 2 }", "E0127 1:9\n",
         "declaration gpu a\n  declaration block b\n    attribute x = 1\n  attribute y = 2\n"},
        {"gpu a { x = c\n qqqqq b { x = 1 } y = d e { } }", "E0127 2:2\n",
         "declaration gpu a\n  attribute x = c\n  attribute y = d\n  group e\n"},
        {"sweep a { show x, y z\n show w\n b = 1 .. 8 step\n}", "E0137 1:21\nE0101 4:1\n",
         "declaration sweep a\n  show x, y\n  show w\n"},
        {"gpu a { x = if b then c y = 2 }", "E0121 1:25\n", "declaration gpu a\n  attribute y = 2\n"},
        {"gpu a { x == 1; y = 2 }", "E0101 1:11\n", "declaration gpu a\n  attribute y = 2\n"},
        {"gpu a { x = ..; y = 2 }", "E0119 1:9\n", "declaration gpu a\n  attribute y = 2\n"},
    };
    EXPECT_MISTAKES(mistakes);
}

Test(recovery, at_the_top_level)
{
    static const struct mistake mistakes[] = {
        {"modle x { a = 1 }\nenigne y { b = 1 }\ngpu z { }", "E0127 1:1\nE0127 2:1\n",
         "declaration model x\n  attribute a = 1\ndeclaration engine y\n  attribute b = 1\ndeclaration gpu "
         "z\n"},
        {"let x = 1\nqqqqq y : z { a = 1 }\ngpu b { }", "E0127 2:1\n", "let x = 1\ndeclaration gpu b\n"},
        {"let a = 1\nb = 2\nc = 3\nlet d = 4", "E0128 2:1\n", "let a = 1\nlet d = 4\n"},
        {"gpu H100 SXM { x = 1 }\ngpu b { }", "E0131 1:10\n", "declaration gpu b\n"},
        {"gpu a\ngpu b { }", "E0131 1:1\n", "declaration gpu b\n"},
        {"gpu 3 { x = 1 }\ngpu : { }\nlet x = 1", "E0131 1:5\nE0101 2:7\n", "let x = 1\n"},
        {"}\ngpu a { }\n}\nlet x = 1", "E0115 1:1\nE0115 3:1\n", "declaration gpu a\nlet x = 1\n"},
        {"let x =\nlet y = 1", "E0119 1:5\n", "let y = 1\n"},
        {"let x = 1 +\nassert y", "E0119 1:11\n", "assert y\n"},
        {"let x =\nscenario a { }", "E0119 1:5\n", "declaration scenario a\n"},
        {"assert a < b < c\nassert d", "E0122 1:14\n", "assert d\n"},
        {"assert a = b\nassert d", "E0123 1:10\n", "assert d\n"},
        {"let x = 1 .. 3\nlet y = 1, 2\nlet z = 3", "E0125 1:11\nE0126 2:10\n", "let z = 3\n"},
        {"compare a b c\nassert d", "E0137 1:11\n", "assert d\n"},
        {"assert a \"m\" \"n\"\nassert b", "E0129 1:14\n", "assert a \"m\"\nassert b\n"},
        {"import a\nimport \"b\" as\nlet x = 1", "E0101 1:8\nE0101 3:5\n", NULL},
        {"let x 3\nlet 3 = x\nlet z = 1", "E0130 1:7\nE0101 2:5\n", "let z = 1\n"},
        {"let x = (1 + 2\nlet y = 3", "E0116 1:9\n", "let y = 3\n"},
    };
    EXPECT_MISTAKES(mistakes);
}

Test(recovery, at_the_end_of_the_file)
{
    static const struct mistake mistakes[] = {
        {"let x = if a then b", "E0121 1:20\n", ""},
        {"let x =", "E0119 1:5\n", ""},
        {"gpu a", "E0131 1:1\n", ""},
        {"gpu a {\n x =", "E0119 2:2\n", "declaration gpu a\n"},
        {"gpu a {\n x = 1", "E0117 1:7\n", "declaration gpu a\n  attribute x = 1\n"},
        {"gpu a { x = = 2\n y = 1", "E0117 1:7\nE0119 1:9\n", "declaration gpu a\n  attribute y = 1\n"},
        {"", "", ""},
        {"# nothing", "", ""},
    };
    EXPECT_MISTAKES(mistakes);
}

Test(recovery, a_missing_brace_is_one_mistake)
{
    static const struct mistake mistakes[] = {
        {"gpu a {\n x = 1\nscenario b { y = 1 }\nlet c = 1\n", "E0117 1:1\n",
         "declaration gpu a\n  attribute x = 1\ndeclaration scenario b hoisted\n  attribute y = 1\nlet c = "
         "1\n"},
        {"gpu a { x = 1 }\nmodel m {\n block b { y = 1\n block c { z = 1 }\n w = 2\n}\nscenario s { }\n"
         "assert s\nreport { t = 1 }",
         "E0117 3:2\n",
         "declaration gpu a\n  attribute x = 1\ndeclaration model m\n  declaration block b\n    attribute y "
         "= 1\n"
         "  declaration block c hoisted\n    attribute z = 1\n  attribute w = 2\n"
         "declaration scenario s hoisted\nassert s\ndeclaration report hoisted\n  attribute t = 1\n"},
    };
    EXPECT_MISTAKES(mistakes);
}

Test(recovery, what_was_left_out_is_marked)
{
    const char *text = "gpu a { x = 1 }\ngpu b { x = }\ngpu c { y { x = } }\n";
    struct parsed result = parsed_file(arena, text, strlen(text));
    const struct stmt_list *statements = result.tree->statements;
    cr_assert_eq(statements->count, 3);
    cr_expect_not(statements->incomplete);
    cr_expect_not(statements->items[0]->declaration.body->incomplete);
    cr_expect(statements->items[1]->declaration.body->incomplete);
    cr_expect_not(statements->items[2]->declaration.body->incomplete);
    cr_expect(statements->items[2]->declaration.body->items[0]->group.body->incomplete);
    struct parsed file = parsed_file(arena, "x\n", 2);
    cr_expect(file.tree->statements->incomplete);
}

/* The message names what was found and what could stand there; the fix is the edit itself. */
Test(recovery, messages)
{
    static const struct {
        const char *text, *message, *fix;
    } cases[] = {
        {"gpu a { x = 1 ) }", "this `)` closes nothing", NULL},
        {"gpu a { x == 1 }", "expected `=`, `.` or `{`, found `==`", NULL},
        {"let x = a b", "expected an operator, a declaration or `(`, found the name `b`", NULL},
        {"modle x { }", "`modle` declares nothing", "model"},
        {"gpu a { memory 80 GB }", "`=` is missing after `memory`", " ="},
        {"gpu a { memory: 80 GB }", "an attribute is set with `=`", " ="},
        {"let x = .5", "`.5` is not a number: a digit stands on both sides of a decimal point", "0.5"},
        {"let x = 7B/s", "`7B/s` could be read in two ways", "7 B/s"},
        {"let x = a -b", "a minus between two values has a blank on each side", "- "},
        {"let x = 1 && 2", "`&&` is not an operator here", "and"},
        {"let x = \"a", "the string is not closed on its line", "\""},
        {"gpu H100 SXM { }", "expected `{`, found the name `SXM`", NULL},
        {"let x = if a b", "expected `then`, found the name `b`", NULL},
        {"x = 3", "the attribute `x` stands outside of a declaration", "let "},
        {"gpu a {", "this `{` is never closed", "}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct parsed result = parsed_file(arena, cases[i].text, strlen(cases[i].text));
        cr_assert_neq(diags_count(result.diags), 0, "%s", cases[i].text);
        const struct diag *diag = diags_get(result.diags, 0);
        cr_expect_str_eq(diag->message, cases[i].message, "%s: %s", cases[i].text, diag->message);
        const char *fix = diag->notes != NULL ? diag->notes->replacement : NULL;
        cr_expect(cases[i].fix == NULL ? fix == NULL : fix != NULL && strcmp(fix, cases[i].fix) == 0,
                  "%s: %s", cases[i].text, fix == NULL ? "no fix" : fix);
    }
}

Test(recovery, after_a_thousand_errors_it_gives_up)
{
    const char *text = arena_printf(arena, "gpu a {%s}", repeated(arena, " x = ;", 5000));
    struct parsed result = parsed_file(arena, text, strlen(text));
    size_t count = diags_count(result.diags);
    cr_assert_eq(count, 1001);
    cr_expect_eq(diags_get(result.diags, count - 1)->code, DIAG_E0133);
}

Test(recovery, a_file_of_more_than_64_mebibytes_is_not_read)
{
    size_t length = ((size_t)64 << 20) + 1;
    char *text = malloc(length);
    cr_assert_not_null(text);
    memset(text, ' ', length);
    struct parsed result = parsed_file(arena, text, length);
    free(text);
    cr_expect_str_eq(parsed_errors(&result), "E0136 1:1\n");
}

/* Errors are independent: of four bad lines in a row none hides another. */
Test(recovery, each_line_has_its_error)
{
    const char *text = "gpu a {\n a = ;\n b 2\n c = 1 +\n d = 2 3\n e = 5\n}";
    cr_expect_str_eq(errors_of(arena, text), "E0119 2:2\nE0130 3:4\nE0119 4:8\nE0137 5:8\n");
    cr_expect_str_eq(dump_of(arena, text), "declaration gpu a\n  attribute e = 5\n");
}
