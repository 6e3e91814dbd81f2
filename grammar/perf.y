/* perf.y: the grammar of `.perf` plans, plain LALR(1) without a conflict.
 *
 * The law of this file: an action makes one constructor call (syntax/ast_build.h). It looks nothing up,
 * converts no unit, opens no file. Statements need no terminator, because no expression can be followed by a
 * name, a string or `(`; that rests on five rules, most of them kept by the scanner and the token stream:
 *
 *  - a word after a number on the same line is its unit, unless it begins a statement (syntax/lexeme.c);
 *  - STEP is returned only where it cannot be the attribute `step`;
 *  - no statement begins with a string;
 *  - kinds and keywords are tokens that are also accepted as names, `and or not if then else` after a dot;
 *  - a string is a name or text as the place demands, which semantics decides.
 *
 * Recovery: `error SYNC` is the only error rule, once per list of statements. The token stream
 * (syntax/token_stream.c) skips to the next place where a statement begins and puts SYNC there, so that one
 * mistake gives one message and the statements around it are kept. It also closes what is open at the end. */

%require "3.8"

%code requires {
#include "syntax/ast_build.h"
struct parser;
}

%code provides {
int perf_lex(PERF_STYPE *value, struct span *location, struct parser *parser);
}

%code {
#include "syntax/parser.h"
#include "syntax/syntax_error.h"

/* Joins byte ranges; an empty rule stands after what came before it. */
#define YYLLOC_DEFAULT(current, rhs, count)                                                          \
    do {                                                                                             \
        if (count) {                                                                                 \
            (current) = YYRHSLOC(rhs, 1);                                                            \
            (current).end = YYRHSLOC(rhs, count).end;                                                \
        } else {                                                                                     \
            (current) = YYRHSLOC(rhs, 0);                                                            \
            (current).start = (current).end;                                                         \
        }                                                                                            \
    } while (0)

/* Nesting is bounded by the token stream, so the stack stays on the stack. */
#define YYINITDEPTH 2000

static void perf_error(struct span *location, struct parser *parser, const char *message);
}

%define api.prefix {perf_}
%define api.pure full
%define api.token.prefix {TOK_}
%define api.value.type union
%define api.location.type {struct span}
%define api.header.include {"parse.h"}
%locations
%define parse.lac full
%define parse.error custom
%param {struct parser *parser}
%expect 0

/* What is parsed: the token stream begins with one of these. */
%token WHOLE_FILE WHOLE_EXPRESSION

%token <const char *> NAME "name" STRING "string" UNIT "unit"
%token <struct number_text> NUMBER "number"

/* A kind of declaration: format, gpu, system, model, engine, ... */
%token <const char *> KIND "kind"

/* Words that are keywords where they begin a statement or continue one, and names elsewhere. */
%token <const char *> COMPARE "compare" ASSERT "assert" GUARD "guard" LET "let" IMPORT "import" AS "as"
%token <const char *> SHOW "show" REQUIRE "require" MINIMIZE "minimize" MAXIMIZE "maximize" STEP "step"

/* Reserved words, names only after a dot. */
%token <const char *> AND "and" OR "or" NOT "not" IF "if" THEN "then" ELSE "else"

%token LESS "<" LESS_EQUAL "<=" GREATER ">" GREATER_EQUAL ">=" EQUAL "==" NOT_EQUAL "!="
%token PLUS "+" MINUS "-" STAR "*" SLASH "/"
%token ASSIGN "=" COMMA "," COLON ":" SEMICOLON ";" DOT "." RANGE ".."
%token OPEN_BRACE "{" CLOSE_BRACE "}" OPEN_PAREN "(" CLOSE_PAREN ")"

/* Where parsing goes on after an error. */
%token SYNC

/* From loose to tight. A comparison does not chain. */
%precedence ELSE
%left OR
%left AND
%precedence NOT
%nonassoc LESS LESS_EQUAL GREATER GREATER_EQUAL EQUAL NOT_EQUAL
%left PLUS MINUS
%left STAR SLASH
%precedence SIGN

%type <struct stmt_list *> file_statements block_statements body
%type <struct stmt *> statement declaration named_declaration attribute group let import compare show check
%type <struct name> file name declared_name word after_dot call_name
%type <struct path> path reference base
%type <struct item_list *> items
%type <struct list_item> item
%type <struct expr *> expr reference_expr
%type <struct expr_list *> references arguments some_arguments
%type <const char *> keyword reserved message
%type <enum stmt_kind> check_keyword

%%

start:
  WHOLE_FILE file_statements     { parser->statements = $file_statements; }
| WHOLE_EXPRESSION expr          { parser->expression = $expr; }
;

/* ---- statements ---- */

file_statements:
  %empty                         { $$ = ast_statements(parser->arena); }
| file_statements ";"
| file_statements statement      { $$ = ast_statements_add(parser->arena, $1, $statement); }
| file_statements declaration    { $$ = ast_statements_add(parser->arena, $1, $declaration); }
| file_statements import         { $$ = ast_statements_add(parser->arena, $1, $import); }
| file_statements error SYNC     { yyerrok; $$ = ast_statements_incomplete($1); }
;

block_statements:
  %empty                         { $$ = ast_statements(parser->arena); }
| block_statements ";"
| block_statements statement     { $$ = ast_statements_add(parser->arena, $1, $statement); }
| block_statements named_declaration
                                 { $$ = ast_statements_add(parser->arena, $1, $named_declaration); }
| block_statements attribute     { $$ = ast_statements_add(parser->arena, $1, $attribute); }
| block_statements group         { $$ = ast_statements_add(parser->arena, $1, $group); }
| block_statements error SYNC    { yyerrok; $$ = ast_statements_incomplete($1); }
;

/* What parses both at the top level and in a block; semantics says where each may stand. */
statement:
  let
| compare
| show
| check
;

declaration:
  named_declaration
| KIND base body                 { $$ = ast_declaration(parser->arena, $KIND, ast_no_name(), $base, $body,
                                                        @$, @KIND); }
;

named_declaration:
  KIND declared_name base body   { $$ = ast_declaration(parser->arena, $KIND, $declared_name, $base, $body,
                                                        @$, @KIND); }
;

base:
  %empty                         { $$ = ast_no_path(); }
| ":" reference                  { $$ = $reference; }
;

body:
  "{" block_statements "}"       { $$ = $block_statements; }
;

attribute:
  path "=" items                 { $$ = ast_attribute(parser->arena, $path, $items, @$, @path); }
;

group:
  path body                      { $$ = ast_group(parser->arena, $path, $body, @$, @path); }
;

let:
  LET name "=" expr              { $$ = ast_let(parser->arena, $name, $expr, @$, @LET); }
;

import:
  IMPORT file                    { $$ = ast_import(parser->arena, $file, ast_no_name(), @$, @IMPORT); }
| IMPORT file AS name            { $$ = ast_import(parser->arena, $file, $name, @$, @IMPORT); }
;

file:
  STRING                         { $$ = ast_quoted($STRING, @STRING); }
;

compare:
  COMPARE references             { $$ = ast_list(parser->arena, STMT_COMPARE, $references, @$, @COMPARE); }
;

show:
  SHOW references                { $$ = ast_list(parser->arena, STMT_SHOW, $references, @$, @SHOW); }
;

check:
  check_keyword expr message     { $$ = ast_check(parser->arena, $check_keyword, $expr, $message, @$, @1); }
| MINIMIZE expr                  { $$ = ast_check(parser->arena, STMT_MINIMIZE, $expr, NULL, @$, @MINIMIZE); }
| MAXIMIZE expr                  { $$ = ast_check(parser->arena, STMT_MAXIMIZE, $expr, NULL, @$, @MAXIMIZE); }
;

check_keyword:
  ASSERT                         { $$ = STMT_ASSERT; }
| REQUIRE                        { $$ = STMT_REQUIRE; }
| GUARD                          { $$ = STMT_GUARD; }
;

message:
  %empty                         { $$ = NULL; }
| STRING
;

/* ---- lists ---- */

items:
  item                           { $$ = ast_items_add(parser->arena, NULL, $item); }
| items "," item                 { $$ = ast_items_add(parser->arena, $1, $item); }
;

item:
  expr                           { $$ = ast_item($expr, @$); }
| expr[low] ".." expr[high]      { $$ = ast_range($low, $high, NULL, false, @$); }
| expr[low] ".." expr[high] STEP expr[by]      { $$ = ast_range($low, $high, $by, false, @$); }
| expr[low] ".." expr[high] STEP "*" expr[by]  { $$ = ast_range($low, $high, $by, true, @$); }
;

references:
  reference_expr                 { $$ = ast_exprs_add(parser->arena, NULL, $reference_expr); }
| references "," reference_expr  { $$ = ast_exprs_add(parser->arena, $1, $reference_expr); }
;

reference_expr:
  reference                      { $$ = ast_reference(parser->arena, $reference, @$); }
;

/* ---- names ---- */

/* The left side of an attribute: it does not begin with a string. */
path:
  word                           { $$ = ast_path(parser->arena, $word); }
| path "." after_dot             { $$ = ast_path_add(parser->arena, $1, $after_dot); }
;

/* A name on the right side: it may. */
reference:
  name                           { $$ = ast_path(parser->arena, $name); }
| STRING                         { $$ = ast_path(parser->arena, ast_quoted($STRING, @STRING)); }
| reference "." after_dot        { $$ = ast_path_add(parser->arena, $1, $after_dot); }
;

after_dot:
  name
| STRING                         { $$ = ast_quoted($STRING, @STRING); }
| reserved                       { $$ = ast_name($reserved, @$); }
;

declared_name:
  name
| STRING                         { $$ = ast_quoted($STRING, @STRING); }
;

name:
  word
| STEP                           { $$ = ast_name($STEP, @$); }
;

word:
  NAME                           { $$ = ast_name($NAME, @$); }
| KIND                           { $$ = ast_name($KIND, @$); }
| keyword                        { $$ = ast_name($keyword, @$); }
;

keyword:
  COMPARE | ASSERT | GUARD | LET | IMPORT | AS | SHOW | REQUIRE | MINIMIZE | MAXIMIZE
;

reserved:
  AND | OR | NOT | IF | THEN | ELSE
;

/* ---- expressions ---- */

expr:
  NUMBER                         { $$ = ast_number(parser->arena, $NUMBER, NULL, @$, @$); }
| NUMBER UNIT                    { $$ = ast_number(parser->arena, $NUMBER, $UNIT, @$, @UNIT); }
| reference_expr
| call_name "(" arguments ")"    { $$ = ast_call(parser->arena, $call_name, $arguments, @$); }
| "(" expr[inner] ")"            { $$ = ast_parenthesised($inner, @$); }
| "-" expr[right] %prec SIGN     { $$ = ast_unary(parser->arena, OP_NEGATE, $right, @$, @1); }
| "+" expr[right] %prec SIGN     { $$ = ast_unary(parser->arena, OP_PLUS, $right, @$, @1); }
| NOT expr[right]                { $$ = ast_unary(parser->arena, OP_NOT, $right, @$, @1); }
| expr[left] "*" expr[right]     { $$ = ast_binary(parser->arena, OP_MULTIPLY, $left, $right, @$, @2); }
| expr[left] "/" expr[right]     { $$ = ast_binary(parser->arena, OP_DIVIDE, $left, $right, @$, @2); }
| expr[left] "+" expr[right]     { $$ = ast_binary(parser->arena, OP_ADD, $left, $right, @$, @2); }
| expr[left] "-" expr[right]     { $$ = ast_binary(parser->arena, OP_SUBTRACT, $left, $right, @$, @2); }
| expr[left] "<" expr[right]     { $$ = ast_binary(parser->arena, OP_LESS, $left, $right, @$, @2); }
| expr[left] "<=" expr[right]    { $$ = ast_binary(parser->arena, OP_LESS_EQUAL, $left, $right, @$, @2); }
| expr[left] ">" expr[right]     { $$ = ast_binary(parser->arena, OP_GREATER, $left, $right, @$, @2); }
| expr[left] ">=" expr[right]    { $$ = ast_binary(parser->arena, OP_GREATER_EQUAL, $left, $right, @$, @2); }
| expr[left] "==" expr[right]    { $$ = ast_binary(parser->arena, OP_EQUAL, $left, $right, @$, @2); }
| expr[left] "!=" expr[right]    { $$ = ast_binary(parser->arena, OP_NOT_EQUAL, $left, $right, @$, @2); }
| expr[left] AND expr[right]     { $$ = ast_binary(parser->arena, OP_AND, $left, $right, @$, @2); }
| expr[left] OR expr[right]      { $$ = ast_binary(parser->arena, OP_OR, $left, $right, @$, @2); }
| IF expr[condition] THEN expr[yes] ELSE expr[no]
                                 { $$ = ast_choice(parser->arena, $condition, $yes, $no, @$); }
;

call_name:
  name
;

arguments:
  %empty                         { $$ = ast_exprs(parser->arena); }
| some_arguments
;

some_arguments:
  expr                           { $$ = ast_exprs_add(parser->arena, NULL, $expr); }
| some_arguments "," expr        { $$ = ast_exprs_add(parser->arena, $1, $expr); }
;

%%

/* Bison calls this only for an exhausted stack, which the token stream's nesting limit prevents. */
static void perf_error(struct span *location, struct parser *parser, const char *message) {
    syntax_error_internal(parser, *location, message);
}

/* Hands the unexpected token and the set of expected ones to the code that words the message. */
static int yyreport_syntax_error(const yypcontext_t *context, struct parser *parser) {
    yysymbol_kind_t symbols[YYNTOKENS];
    int count = yypcontext_expected_tokens(context, symbols, YYNTOKENS);
    bool is_expected[YYNTOKENS] = {false};
    for (int i = 0; i < count; i++)
        is_expected[symbols[i]] = true;

    struct token_set expected = {0};
    for (int token = TOK_WHOLE_FILE; token <= TOK_SYNC; token++)
        if (is_expected[YYTRANSLATE(token)])
            token_set_add(&expected, token);
    if (is_expected[YYSYMBOL_YYEOF])
        token_set_add(&expected, TOK_YYEOF);
    syntax_error_report(parser, expected);
    return 0;
}
