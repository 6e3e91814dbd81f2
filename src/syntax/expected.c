/* expected.c: the tokens a grammar could have gone on with, in words. */
#include "syntax/expected.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "grammar/parse.h"

enum { WORDING_NEEDS = 3, WORDING_COVERS = 12, END = TOK_PERF_error /* for sets, not a zero */ };

struct wording {
    const char *text;
    int needs[WORDING_NEEDS]; /* all of these must be expected; 0 ends the list */
    int without;              /* and this one not */
    int covers[WORDING_COVERS];
};

/* Groups first: what one covers is not named again. */
static const struct wording wordings[] = {
    {"a value",
     {TOK_NUMBER},
     0,
     {TOK_NUMBER, TOK_NAME, TOK_STRING, TOK_KIND, TOK_STEP, TOK_PLUS, TOK_MINUS, TOK_NOT, TOK_IF,
      TOK_OPEN_PAREN}},
    {"an operator",
     {TOK_PLUS, TOK_SLASH},
     0,
     {TOK_PLUS, TOK_MINUS, TOK_STAR, TOK_SLASH, TOK_AND, TOK_OR, TOK_LESS, TOK_LESS_EQUAL, TOK_GREATER,
      TOK_GREATER_EQUAL, TOK_EQUAL, TOK_NOT_EQUAL}},
    {"a declaration", {TOK_KIND, TOK_SEMICOLON}, TOK_NAME, {TOK_KIND, TOK_SEMICOLON, END}},
    {"an attribute", {TOK_NAME, TOK_SEMICOLON}, 0, {TOK_NAME, TOK_KIND, TOK_SEMICOLON}},
    {"a name", {TOK_NAME}, 0, {TOK_NAME, TOK_STRING, TOK_KIND, TOK_STEP}},
    {"a string", {TOK_STRING}, 0, {TOK_STRING}},
    {"`,`", {TOK_COMMA}, 0, {TOK_COMMA}},
    {"`..`", {TOK_RANGE}, 0, {TOK_RANGE}},
    {"`step`", {TOK_STEP}, 0, {TOK_STEP}},
    {"`as`", {TOK_AS}, TOK_NAME, {TOK_AS}},
    {"`then`", {TOK_THEN}, TOK_NAME, {TOK_THEN}},
    {"`else`", {TOK_ELSE}, TOK_NAME, {TOK_ELSE}},
    {"`=`", {TOK_ASSIGN}, 0, {TOK_ASSIGN}},
    {"`:`", {TOK_COLON}, 0, {TOK_COLON}},
    {"`.`", {TOK_DOT}, TOK_STAR, {TOK_DOT}},
    {"`*`", {TOK_STAR}, 0, {TOK_STAR}},
    {"`(`", {TOK_OPEN_PAREN}, 0, {TOK_OPEN_PAREN}},
    {"`)`", {TOK_CLOSE_PAREN}, 0, {TOK_CLOSE_PAREN}},
    {"`{`", {TOK_OPEN_BRACE}, 0, {TOK_OPEN_BRACE}},
    {"`}`", {TOK_CLOSE_BRACE}, 0, {TOK_CLOSE_BRACE}},
    {"the end", {END}, 0, {END}},
};

enum { WORDING_COUNT = sizeof wordings / sizeof wordings[0] };

static bool wording_fits(const struct wording *wording, struct token_set expected, struct token_set left)
{
    if (wording->without != 0 && token_set_has(expected, wording->without))
        return false;
    for (size_t i = 0; i < WORDING_NEEDS && wording->needs[i] != 0; i++)
        if (!token_set_has(expected, wording->needs[i]))
            return false;
    return token_set_has(left, wording->needs[0]);
}

const char *expected_text(struct arena *arena, struct token_set expected)
{
    struct token_set left = expected;
    const char *parts[WORDING_COUNT];
    size_t count = 0;
    for (size_t i = 0; i < WORDING_COUNT; i++) {
        if (!wording_fits(&wordings[i], expected, left))
            continue;
        parts[count++] = wordings[i].text;
        for (size_t j = 0; j < WORDING_COVERS && wordings[i].covers[j] != 0; j++)
            token_set_remove(&left, wordings[i].covers[j]);
    }
    struct buffer text = buffer_in(arena);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buffer_text(&text, i + 1 == count ? " or " : ", ");
        buffer_text(&text, parts[i]);
    }
    return buffer_string(&text);
}
