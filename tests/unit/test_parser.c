/* test_parser.c: the tree of valid plans, expressions as text, and the limits. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/buffer.h"
#include "base/intern.h"
#include "syntax/ast_build.h"
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

TestSuite(parser, .init = set_up, .fini = tear_down);

static void expect_tree(const char *text, const char *tree)
{
    cr_expect_str_eq(errors_of(arena, text), "", "%s\n%s", text, errors_of(arena, text));
    cr_expect_str_eq(dump_of(arena, text), tree, "%s\n%s", text, dump_of(arena, text));
}

/* The expression in prefix form. */
static const char *prefix(const char *text)
{
    const char *dump = dump_of(arena, arena_printf(arena, "let x = %s", text));
    size_t length = strlen(dump);
    return length > 8 ? arena_strndup(arena, dump + 8, length - 9) : dump;
}

Test(parser, declarations)
{
    expect_tree("gpu a { }", "declaration gpu a\n");
    expect_tree("model b : a { }", "declaration model b : a\n");
    expect_tree("model \"Qwen/x\" : lib.llama-3.1-70b { }",
                "declaration model \"Qwen/x\" : lib.llama-3.1-70b\n");
    expect_tree("model b : \"a b\" { }", "declaration model b : \"a b\"\n");
    expect_tree("report { title = \"t\" }", "declaration report\n  attribute title = \"t\"\n");
    expect_tree(
        "model m { block a { x = 1 } block b : a { } }",
        "declaration model m\n  declaration block a\n    attribute x = 1\n  declaration block b : a\n");
    expect_tree("gpu model { } gpu show { } gpu step { }",
                "declaration gpu model\ndeclaration gpu show\ndeclaration gpu step\n");
}

Test(parser, attributes_and_groups)
{
    expect_tree("gpu a { peak.fp16 = 1 TFLOPS peak { fp8 = 2 } peak.\"fp 4\" = 3 gpu { x = 1 } }",
                "declaration gpu a\n  attribute peak.fp16 = 1 TFLOPS\n  group peak\n    attribute fp8 = 2\n"
                "  attribute peak.\"fp 4\" = 3\n  group gpu\n    attribute x = 1\n");
    expect_tree("sweep a { x = 1, 2, 4 .. 64 step * 2, b, \"c\" }",
                "declaration sweep a\n  attribute x = 1, 2, 4 .. 64 step * 2, b, \"c\"\n");
}

Test(parser, statements_need_no_separator_and_may_have_one)
{
    expect_tree(";; let x = 1; let y = 2 assert x \"m\" assert y ;",
                "let x = 1\nlet y = 2\nassert x \"m\"\nassert y\n");
    expect_tree("gpu a { x = 1; y = 2;; }", "declaration gpu a\n  attribute x = 1\n  attribute y = 2\n");
    expect_tree("gpu a { x = \"t\" y = z w = 1 }",
                "declaration gpu a\n  attribute x = \"t\"\n  attribute y = z\n  attribute w = 1\n");
}

Test(parser, other_statements)
{
    expect_tree("import \"a.perf\" import \"b.perf\" as b", "import \"a.perf\"\nimport \"b.perf\" as b\n");
    expect_tree("compare a, lib.b, \"c d\"", "compare a, lib.b, \"c d\"\n");
    expect_tree("assert m.model == \"Qwen/x\" \"message\"", "assert (== m.model \"Qwen/x\") \"message\"\n");
    expect_tree("guard a.tpot <= 1.05 \"m\"", "guard (<= a.tpot 1.05) \"m\"\n");
    expect_tree("search s { require fits \"m\" minimize cost maximize a.b show x, y gpu = a, b }",
                "declaration search s\n  require fits \"m\"\n  minimize cost\n  maximize a.b\n  show x, y\n"
                "  attribute gpu = a, b\n");
}

Test(parser, precedence)
{
    static const struct {
        const char *text, *tree;
    } cases[] = {
        {"a + b * c", "(+ a (* b c))"},
        {"a * b + c", "(+ (* a b) c)"},
        {"a - b - c", "(- (- a b) c)"},
        {"a / b * c", "(* (/ a b) c)"},
        {"-a * b", "(* (- a) b)"},
        {"a * -b", "(* a (- b))"},
        {"- -a", "(- (- a))"},
        {"+a", "(+ a)"},
        {"(a + b) * c", "(* (+ a b) c)"},
        {"a + 1 < b * 2", "(< (+ a 1) (* b 2))"},
        {"not a == b", "(not (== a b))"},
        {"not a and b", "(and (not a) b)"},
        {"a or b and c", "(or a (and b c))"},
        {"a and b or c", "(or (and a b) c)"},
        {"not not a", "(not (not a))"},
        {"if a then b else c", "(if a b c)"},
        {"if a then b else c or d", "(if a b (or c d))"},
        {"if a then b else if c then d else e", "(if a b (if c d e))"},
        {"1 + if a then b else c", "(+ 1 (if a b c))"},
        {"min(a, b + 1)", "(call min a (+ b 1))"},
        {"min()", "(call min)"},
        {"max(min(3 min, x), -y)", "(call max (call min 3 min x) (- y))"},
        {"\"a b\".c", "\"a b\".c"},
        {"\"a b\"", "\"a b\""},
        {"3 GB/s", "3 GB/s"},
        {"a != b", "(!= a b)"},
        {"a >= b", "(>= a b)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        cr_expect_str_eq(prefix(cases[i].text), cases[i].tree, "%s gave %s", cases[i].text,
                         prefix(cases[i].text));
}

Test(parser, places)
{
    /*                  0         1         2         3
     *                  0123456789012345678901234567890123456789 */
    const char *text = "gpu a : b {\n  peak.x = (1 + 2) GB\n}";
    const char *plan = "gpu a : b {\n  peak.x = (1 + 2), 3\n}";
    cr_assert_str_neq(errors_of(arena, text), ""); /* a unit stands after a number only */
    struct parsed result = parsed_file(arena, plan, strlen(plan));
    cr_assert_str_eq(parsed_errors(&result), "");
    const struct stmt *gpu = result.tree->statements->items[0];
    cr_expect(gpu->span.start == 0 && gpu->span.end == 35);
    cr_expect(gpu->head.start == 0 && gpu->head.end == 3);
    cr_expect(gpu->declaration.name.span.start == 4 && gpu->declaration.name.span.end == 5);
    cr_expect(gpu->declaration.base.span.start == 8 && gpu->declaration.base.span.end == 9);
    cr_expect(gpu->declaration.close.start == 34 && gpu->declaration.close.end == 35);
    const struct stmt *peak = gpu->declaration.body->items[0];
    cr_expect(peak->span.start == 14 && peak->span.end == 33);
    cr_expect(peak->head.start == 14 && peak->head.end == 20);
    const struct list_item *item = &peak->attribute.values->items[0];
    cr_expect(item->span.start == 23 && item->span.end == 30);
    cr_expect(item->value->span.start == 23 && item->value->span.end == 30); /* with its parentheses */
    cr_expect(item->value->operation.op_span.start == 26 && item->value->operation.op_span.end == 27);
    cr_expect(item->value->operation.right->span.start == 28);
}

Test(parser, an_expression_alone)
{
    struct parsed result = parsed_expression(arena, "# why\n a + 1\n", 13);
    cr_assert_str_eq(parsed_errors(&result), "");
    cr_assert_str_eq(written(arena, result.expr), "a + 1");
    static const struct {
        const char *text, *errors;
    } cases[] = {
        {"", "E0101 1:1\n"},     {"a +", "E0119 1:3\n"},       {"a b", "E0101 1:3\n"},
        {"a; b", "E0101 1:2\n"}, {"a = 3", "E0123 1:3\n"},     {"(a", "E0116 1:1\n"},
        {"a)", "E0116 1:2\n"},   {"1, 2", "E0126 1:2\n"},      {"1 .. 2", "E0125 1:3\n"},
        {"$", "E0104 1:1\n"},    {"let x = 1", "E0101 1:5\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct parsed wrong = parsed_expression(arena, cases[i].text, strlen(cases[i].text));
        cr_expect_null(wrong.expr, "%s", cases[i].text);
        cr_expect_str_eq(parsed_errors(&wrong), cases[i].errors, "%s: %s", cases[i].text,
                         parsed_errors(&wrong));
    }
}

/* ---- expr_write ---- */

static bool same(const struct expr *a, const struct expr *b)
{
    struct buffer left = buffer_in(arena), right = buffer_in(arena);
    struct stmt let = {.kind = STMT_LET, .let = {.name = {.text = "x"}}};
    struct stmt *items[] = {&let};
    struct stmt_list list = {.items = items, .count = 1};
    struct syntax_tree tree = {.statements = &list};
    let.let.value = (struct expr *)a;
    ast_dump(&left, &tree);
    let.let.value = (struct expr *)b;
    ast_dump(&right, &tree);
    return strcmp(buffer_string(&left), buffer_string(&right)) == 0;
}

static void expect_round_trip(const struct expr *expr)
{
    const char *text = written(arena, expr);
    struct parsed again = parsed_expression(arena, text, strlen(text));
    cr_assert_str_eq(parsed_errors(&again), "", "%s: %s", text, parsed_errors(&again));
    cr_assert(same(expr, again.expr), "%s became %s", text, written(arena, again.expr));
}

Test(parser, expressions_are_written_with_no_needless_parenthesis)
{
    static const char *const as_written[] = {
        "a + b * c",
        "(a + b) * c",
        "a - (b - c)",
        "a - b - c",
        "-(a + b)",
        "--a",
        "a - -b",
        "not (a and b)",
        "not a and b",
        "a and not b",
        "(a < b) == c",
        "a * (not b)",
        "if a then b else c or d",
        "(if a then b else c) or d",
        "min(a, b + 1)",
        "90%",
        "128k tokens",
        "4_096",
        "\"a\\\"\\n\".b",
        "x == \"t\"",
        "a.\"b c\".and",
        "step - show",
        "2 TB/s / 3",
        "3step",
        "\"a\\u{1}\"",
    };
    for (size_t i = 0; i < sizeof as_written / sizeof as_written[0]; i++) {
        struct parsed result = parsed_expression(arena, as_written[i], strlen(as_written[i]));
        cr_assert_str_eq(parsed_errors(&result), "", "%s: %s", as_written[i], parsed_errors(&result));
        cr_expect_str_eq(written(arena, result.expr), as_written[i]);
        expect_round_trip(result.expr);
    }
}

static unsigned random_state = 2026;

static unsigned random_below(unsigned limit)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % limit;
}

static const struct span nowhere;

static struct expr *random_leaf(void)
{
    static const char *const units[] = {NULL, "%",  "GB",  "TB/s",    "step",
                                        "k",  "e5", "and", "\u00b5s", "gpu/s"};
    static const char *const counts[] = {NULL, "k", "Ki", "B"};
    static const char *const digits[] = {"1", "0.5", "4_096", "7e9", "1e-3"};
    static const char *const names[] = {"a",   "llama-3.1-70b", "step", "model", "b c",
                                        "a.b", "and",           "x-",   "4bit",  ""};
    unsigned kind = random_below(3);
    if (kind == 0) {
        const char *unit = units[random_below(10)];
        bool keyword = unit != NULL && strchr("sag", unit[0]); /* a unit only against its digits */
        const char *count = counts[keyword ? 0 : random_below(4)];
        return ast_number(arena, (struct number_text){digits[random_below(5)], count}, unit, nowhere,
                          nowhere);
    }
    struct name name = ast_name(names[random_below(10)], nowhere);
    name.quoted = kind == 1 || strchr("bxa4", name.text[0]) || random_below(4) == 0;
    struct path path = ast_path(arena, name);
    for (unsigned more = random_below(3); more > 0; more--) {
        name = ast_name(names[random_below(10)], nowhere);
        name.quoted = name.text[0] == '\0' || strchr(" x4", name.text[0]) || strpbrk(name.text, " .") != NULL;
        path = ast_path_add(arena, path, name);
    }
    return ast_reference(arena, path, nowhere);
}

static struct expr *random_expr(unsigned depth)
{
    if (depth == 0 || random_below(5) == 0)
        return random_leaf();
    switch (random_below(8)) {
    case 0: return ast_unary(arena, OP_NOT + random_below(3), random_expr(depth - 1), nowhere, nowhere);
    case 1: {
        struct expr_list *arguments = ast_exprs(arena);
        for (unsigned i = random_below(3); i > 0; i--)
            ast_exprs_add(arena, arguments, random_expr(depth - 1));
        return ast_call(arena, ast_name(random_below(2) ? "min" : "step", nowhere), arguments, nowhere);
    }
    case 2: {
        struct expr *condition = random_expr(depth - 1), *yes = random_expr(depth - 1);
        return ast_choice(arena, condition, yes, random_expr(depth - 1), nowhere);
    }
    default: {
        struct expr *left = random_expr(depth - 1);
        return ast_binary(arena, random_below(OP_OR + 1), left, random_expr(depth - 1), nowhere, nowhere);
    }
    }
}

Test(parser, random_expressions_survive_writing_and_parsing)
{
    for (int i = 0; i < 3000; i++) {
        tear_down();
        set_up();
        expect_round_trip(random_expr(1 + random_below(6)));
    }
}

/* ---- limits ---- */

static const char *nested(const char *open, const char *middle, const char *close, size_t depth)
{
    return arena_printf(arena, "%s%s%s", repeated(arena, open, depth), middle, repeated(arena, close, depth));
}

Test(parser, nesting_is_limited_to_200)
{
    static const struct {
        const char *name, *open, *middle, *close;
    } cases[] = {
        {"", "(", "1", ")"},
        {"", "- ", "1", ""},
        {"", "not ", "a", ""},
        {"f", "f(", "", ")"}, /* the parenthesis is the error */
        {"", "if a then 1 else ", "1", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (size_t depth = 200; depth <= 201; depth++) {
            const char *text = arena_printf(arena, "let x = %s",
                                            nested(cases[i].open, cases[i].middle, cases[i].close, depth));
            size_t column = 9 + 200 * strlen(cases[i].open) + strlen(cases[i].name);
            const char *place = arena_printf(arena, "E0132 1:%zu\n", column);
            cr_expect_str_eq(errors_of(arena, text), depth == 200 ? "" : place, "%s %zu: %s", cases[i].open,
                             depth, errors_of(arena, text));
        }
    }
    cr_expect_str_eq(errors_of(arena, nested("gpu a {", "", "}", 200)), "");
    cr_expect_str_eq(errors_of(arena, nested("gpu a {", "", "}", 201)), "E0132 1:1407\n");
}

Test(parser, what_is_not_nested_has_no_limit)
{
    const char *asserts = repeated(arena, "assert if not a then -1 else (2)\n", 1000);
    cr_expect_str_eq(errors_of(arena, asserts), "");
    cr_expect_str_eq(errors_of(arena, arena_printf(arena, "let x = 1%s", repeated(arena, " - -1", 1000))),
                     "");
    cr_expect_str_eq(
        errors_of(arena, arena_printf(arena, "let x = a%s", repeated(arena, " and not b", 1000))), "");
    cr_expect_str_eq(
        errors_of(arena, arena_printf(arena, "let x = f(1%s)", repeated(arena, ", -f(1)", 1000))), "");
    cr_expect_str_eq(errors_of(arena, repeated(arena, "gpu a { x { y = 1 } }\n", 1000)), "");
}

Test(parser, a_hundred_thousand_blocks_give_one_error)
{
    cr_expect_str_eq(errors_of(arena, repeated(arena, "gpu a {", 100000)), "E0132 1:1407\n");
    cr_expect_str_eq(errors_of(arena, arena_printf(arena, "let x = %s", repeated(arena, "(", 100000))),
                     "E0132 1:209\n");
    cr_expect_str_eq(errors_of(arena, arena_printf(arena, "let x = %s", repeated(arena, "-", 100000))),
                     "E0132 1:209\n");
}

Test(parser, a_sum_of_20000_terms_is_walked_without_recursion)
{
    const char *text = arena_printf(arena, "1%s", repeated(arena, " + 1", 20000));
    struct parsed result = parsed_expression(arena, text, strlen(text));
    cr_assert_str_eq(parsed_errors(&result), "");
    cr_expect_str_eq(written(arena, result.expr), text);
    cr_expect_eq(strlen(dump_of(arena, arena_printf(arena, "let x = %s", text))),
                 strlen("let x = \n") + 1 + 20000 * strlen("(+  1)"));
}

Test(parser, ten_megabytes_on_one_line)
{
    const char *name = arena_printf(arena, "let x = %s", repeated(arena, "abcdefghij", 1000000));
    cr_expect_str_eq(errors_of(arena, name), "");
    const char *list = arena_printf(arena, "gpu a { x = 1%s }", repeated(arena, ", 234567", 1250000));
    struct parsed result = parsed_file(arena, list, strlen(list));
    cr_expect_str_eq(parsed_errors(&result), "");
    cr_expect_eq(result.tree->statements->items[0]->declaration.body->items[0]->attribute.values->count,
                 1250001);
}

Test(parser, ten_thousand_scenarios)
{
    const char *text = repeated(arena, "scenario a : b {\n  batch = 1, 2\n  gpu = h100-sxm\n}\n", 10000);
    struct parsed result = parsed_file(arena, text, strlen(text));
    cr_expect_str_eq(parsed_errors(&result), "");
    cr_expect_eq(result.tree->statements->count, 10000);
}
