/* expression.c: from Python's regular expressions to POSIX ones. A repetition with + has what it repeats
 * compiled twice, so that a nest of them would double with every level: the size is kept track of. */
#include "import/expression.h"

#include <stdbool.h>
#include <string.h>

#include "base/buffer.h"

enum { EXPRESSION_MAX = 200, DEPTH_MAX = 16, SIZE_MAX_COMPILED = 2000 };

struct translation {
    struct buffer out;
    const char *at;
    size_t sizes[DEPTH_MAX + 1], depth; /* of each open group so far */
    size_t atom;                        /* what a repetition would repeat; 0: nothing */
};

static void add_atom(struct translation *translation, size_t size)
{
    translation->atom = size;
    translation->sizes[translation->depth] += size;
}

/* A set in brackets. Escapes mean themselves there in Python, and a backslash in POSIX. */
static bool translate_set(struct translation *translation)
{
    const char *at = translation->at + 1;
    buffer_byte(&translation->out, '[');
    if (*at == '^')
        buffer_byte(&translation->out, *at++);
    if (*at == ']' || *at == '\0')
        return false;
    for (; *at && *at != ']'; at++) {
        if (*at == '[')
            return false;
        if (*at != '\\') {
            buffer_byte(&translation->out, *at);
        } else if (*++at == 'd') {
            buffer_text(&translation->out, "0-9");
        } else if (*at == 'w') {
            buffer_text(&translation->out, "A-Za-z0-9_");
        } else if (*at && strchr("._/*+?()|$", *at)) {
            buffer_byte(&translation->out, *at);
        } else {
            return false;
        }
    }
    translation->at = at;
    buffer_byte(&translation->out, ']');
    add_atom(translation, 1);
    return *at == ']';
}

static bool translate_escape(struct translation *translation)
{
    char escaped = *++translation->at;
    if (escaped == 'd') {
        buffer_text(&translation->out, "[0-9]");
    } else if (escaped == 'w') {
        buffer_text(&translation->out, "[A-Za-z0-9_]");
    } else if (escaped && strchr(".*+?()[]|^$\\-/_", escaped)) {
        if (!strchr("-/_", escaped))
            buffer_byte(&translation->out, '\\');
        buffer_byte(&translation->out, escaped);
    } else {
        return false;
    }
    add_atom(translation, 1);
    return true;
}

static bool translate_group(struct translation *translation)
{
    if (translation->at[1] == '?') { /* a group that captures nothing, as none does here */
        if (translation->at[2] != ':')
            return false;
        translation->at += 2;
    }
    if (++translation->depth > DEPTH_MAX)
        return false;
    translation->sizes[translation->depth] = 0;
    translation->atom = 0;
    buffer_byte(&translation->out, '(');
    return true;
}

static bool end_group(struct translation *translation)
{
    if (translation->depth == 0)
        return false;
    size_t inner = translation->sizes[translation->depth--];
    buffer_byte(&translation->out, ')');
    add_atom(translation, inner + 1);
    return true;
}

/* A repetition takes the same text whether it is lazy or not. Two of them in a row are an error in Python. */
static bool translate_repetition(struct translation *translation)
{
    if (translation->atom == 0)
        return false;
    if (*translation->at == '+')
        translation->sizes[translation->depth] += translation->atom;
    buffer_byte(&translation->out, *translation->at);
    translation->at += translation->at[1] == '?';
    translation->atom = 0;
    return translation->sizes[translation->depth] <= SIZE_MAX_COMPILED;
}

static bool translate_one(struct translation *translation)
{
    switch (*translation->at) {
    case '\\': return translate_escape(translation);
    case '[': return translate_set(translation);
    case '(': return translate_group(translation);
    case ')': return end_group(translation);
    case '*':
    case '+':
    case '?': return translate_repetition(translation);
    case '{':
    case '}': return false;
    case '|':
    case '^':
    case '$': translation->atom = 0; break;
    default: add_atom(translation, 1);
    }
    buffer_byte(&translation->out, *translation->at);
    return true;
}

const char *expression_posix(struct arena *arena, const char *text)
{
    struct translation translation = {.out = buffer_in(arena), .at = text};
    if (strlen(text) > EXPRESSION_MAX)
        return NULL;
    buffer_text(&translation.out, "^(");
    for (; *translation.at; translation.at++)
        if (!translate_one(&translation))
            return NULL;
    buffer_byte(&translation.out, ')');
    return translation.depth == 0 ? buffer_string(&translation.out) : NULL;
}
