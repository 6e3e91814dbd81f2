/* pattern.c: matching of module names. Most patterns of a large list name one layer, so they are kept by
 * layer; a file with thousands of them costs no more than one with few. */
#include "import/pattern.h"

#include <regex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/vec.h"
#include "import/expression.h"

enum { NAME_MAX_BYTES = 160, EXPRESSIONS_MAX = 64 };

/* What patterns of no certain layer may cost: each is held against every matrix of every layer. */
enum { PLAIN_COST = 1, GLOB_COST = 2, EXPRESSION_COST = 8, COST_MAX = 150000 };

struct pattern {
    const char *text; /* without the prefixes of wrappers */
    const void *value;
    bool glob, of_layer, prefix; /* what begins with the text, wherever the text ends */
    regex_t *compiled;           /* of a regular expression; else NULL */
    struct pattern *next;        /* of the same layer */
};

/* What is said of an expert that is not the first, once for each matrix and value of a layer. */
struct other_expert {
    const char *text, *matrix; /* the matrix: what stands behind the number */
    const void *value;
    struct other_expert *next;
};

enum { OTHER_EXPERTS_MAX = 12 };

struct patterns {
    struct arena *arena;
    size_t layers, expressions, cost;
    struct pattern **first, **last; /* by layer; those of no certain layer come after all layers */
    struct other_expert **others;   /* by layer */
};

struct patterns *patterns_new(struct arena *arena, size_t layers)
{
    struct patterns *patterns = ARENA_NEW(arena, struct patterns);
    patterns->arena = arena;
    patterns->layers = layers;
    patterns->first = ARENA_ARRAY(arena, struct pattern *, layers + 1);
    patterns->last = ARENA_ARRAY(arena, struct pattern *, layers + 1);
    patterns->others = ARENA_ARRAY(arena, struct other_expert *, layers + 1);
    return patterns;
}

void patterns_free(struct patterns *patterns)
{
    for (struct pattern *pattern = patterns->first[patterns->layers]; pattern; pattern = pattern->next)
        if (pattern->compiled)
            regfree(pattern->compiled);
}

/* Checkpoints of wrappers put their own names before those of the language model. */
static const char *without_prefix(const char *text)
{
    static const char *const prefixes[] = {"model.",   "language_model.", "backbone.", "transformer.",
                                           "thinker.", "language.",       "llm."};
    for (bool found = true; found;) {
        found = false;
        for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
            if (*text == *prefixes[i] && strncmp(text, prefixes[i], strlen(prefixes[i])) == 0) {
                text += strlen(prefixes[i]);
                found = true;
            }
    }
    return text;
}

/* The layer that a pattern names beyond doubt ("layers.7" or "layers.7.x", not "layers.7*"); else `none`. */
static size_t layer_of(const char *text, size_t none)
{
    if (strncmp(text, "layers.", 7) != 0)
        return none;
    size_t digits = strspn(text + 7, "0123456789");
    char after = text[7 + digits];
    if (digits == 0 || digits > 6 || (after != '.' && after != '\0'))
        return none;
    return (size_t)strtoul(text + 7, NULL, 10);
}

/* Modules are named for the first expert, which stands for all of them where the others are stored alike. */
static bool of_other_expert(const char *text)
{
    const char *at = strstr(text, ".experts.");
    return at && at[9] >= '1' && at[9] <= '9';
}

static void note_other(struct patterns *patterns, size_t layer, const char *text, const void *value)
{
    const char *matrix = strstr(text, ".experts.") + 9;
    size_t count = 0;
    matrix += strspn(matrix, "0123456789");
    for (const struct other_expert *other = patterns->others[layer]; other; other = other->next) {
        if (other->value == value && strcmp(other->matrix, matrix) == 0)
            return;
        if (++count == OTHER_EXPERTS_MAX)
            return; /* they differ already */
    }
    struct other_expert *other = ARENA_NEW(patterns->arena, struct other_expert);
    *other = (struct other_expert){text, matrix, value, patterns->others[layer]};
    patterns->others[layer] = other;
}

/* Expressions that spell out the beginning of a module's name, down into a layer: "model\\.layers\\.7\\.mlp".
 * They come by the thousand, and need no compiling. NULL for others. */
static const char *literal_prefix(struct arena *arena, const char *text)
{
    char *out = arena_alloc(arena, strlen(text) + 1), *end = out;
    for (const char *at = text + (*text == '^'); *at; at++) {
        at += at[0] == '\\' && at[1] == '.';
        bool letter = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || *at == '_';
        if (!letter && !(*at >= '0' && *at <= '9') && *at != '.')
            return NULL;
        *end++ = *at;
    }
    const char *plain = without_prefix(out);
    size_t digits = strncmp(plain, "layers.", 7) == 0 ? strspn(plain + 7, "0123456789") : 0;
    return digits > 0 && digits <= 6 && plain[7 + digits] == '.' ? plain : NULL;
}

static bool afford(struct patterns *patterns, size_t cost)
{
    patterns->cost += cost * (patterns->layers + 5);
    return patterns->cost <= COST_MAX;
}

bool patterns_add(struct patterns *patterns, const char *text, const void *value)
{
    struct pattern *pattern = ARENA_NEW(patterns->arena, struct pattern);
    size_t layer = patterns->layers;
    pattern->value = value;
    const char *literal = strncmp(text, "re:", 3) == 0 ? literal_prefix(patterns->arena, text + 3) : NULL;
    if (literal) {
        pattern->text = literal;
        pattern->prefix = pattern->of_layer = true;
        layer = layer_of(literal, patterns->layers);
        if (layer < patterns->layers && of_other_expert(literal))
            note_other(patterns, layer, literal, value);
        if (layer >= patterns->layers || of_other_expert(literal))
            return true;
    } else if (strncmp(text, "re:", 3) == 0) {
        const char *expression = expression_posix(patterns->arena, text + 3);
        regex_t *compiled = ARENA_NEW(patterns->arena, regex_t);
        if (!expression || ++patterns->expressions > EXPRESSIONS_MAX || !afford(patterns, EXPRESSION_COST) ||
            regcomp(compiled, expression, REG_EXTENDED | REG_NOSUB) != 0)
            return false;
        pattern->compiled = compiled;
        pattern->text = text;
    } else {
        pattern->text = arena_strdup(patterns->arena, without_prefix(text));
        pattern->glob = strchr(pattern->text, '*') != NULL;
        layer = layer_of(pattern->text, patterns->layers);
        if (layer == patterns->layers && !afford(patterns, pattern->glob ? GLOB_COST : PLAIN_COST))
            return false;
        pattern->of_layer = layer < patterns->layers;
        bool of_other = pattern->of_layer && of_other_expert(pattern->text);
        if (of_other)
            note_other(patterns, layer, pattern->text, value);
        if (layer > patterns->layers || of_other)
            return true; /* of an MTP layer, or of none; or of no module that is asked for */
    }
    if (patterns->last[layer])
        patterns->last[layer]->next = pattern;
    else
        patterns->first[layer] = pattern;
    patterns->last[layer] = pattern;
    return true;
}

/* `*` stands for anything. Goes back to the last star only, so that it is quadratic at worst. */
static bool glob_matches(const char *glob, const char *name, size_t length)
{
    const char *star = NULL, *end = name + length, *mark = name;
    while (name < end) {
        if (*glob == '*') {
            star = glob++;
            mark = name;
        } else if (*glob == *name) {
            glob++;
            name++;
        } else if (star) {
            glob = star + 1;
            name = ++mark;
        } else {
            return false;
        }
    }
    while (*glob == '*')
        glob++;
    return *glob == '\0';
}

/* The module or one that holds it. */
static bool glob_names(const char *glob, const char *name)
{
    size_t length = strlen(name);
    while (length > 0) {
        if (glob_matches(glob, name, length))
            return true;
        while (length > 0 && name[length - 1] != '.')
            length--;
        length -= length > 0;
    }
    return false;
}

/* The name, what begins with it, or, where the pattern names no layer, one of its components ("gate"). */
static bool plain_names(const char *plain, const char *name, bool of_layer)
{
    size_t length = strlen(plain);
    if (of_layer)
        return strncmp(name, plain, length) == 0 && (name[length] == '\0' || name[length] == '.');
    if (length == 0)
        return false;
    for (const char *at = strstr(name, plain); at; at = strstr(at + 1, plain)) {
        bool begins = at == name || at[-1] == '.', ends = at[length] == '\0' || at[length] == '.';
        if (begins && ends)
            return true;
    }
    return false;
}

static bool matches(const struct pattern *pattern, const char *name)
{
    if (pattern->prefix)
        return strncmp(name, pattern->text, strlen(pattern->text)) == 0;
    static const char *const prefixes[] = {"", "model.", "language_model.model.", "model.language_model."};
    /* What begins with .* matches with any prefix if it matches with none. */
    size_t count = strncmp(pattern->text, "re:.*", 5) == 0 ? 1 : sizeof prefixes / sizeof prefixes[0];
    if (!pattern->compiled)
        return pattern->glob ? glob_names(pattern->text, name)
                             : plain_names(pattern->text, name, pattern->of_layer);
    for (size_t i = 0; i < count; i++) {
        char whole[NAME_MAX_BYTES + 32] = "";
        if (strlen(name) >= NAME_MAX_BYTES)
            return false;
        strcat(strcpy(whole, prefixes[i]), name);
        if (regexec(pattern->compiled, whole, 0, NULL, 0) == 0)
            return true;
    }
    return false;
}

const void *patterns_match(const struct patterns *patterns, size_t layer, const char *name)
{
    for (size_t pass = 0; pass < 2; pass++) {
        size_t list = pass == 0 && layer < patterns->layers ? layer : patterns->layers;
        for (const struct pattern *pattern = patterns->first[list]; pattern; pattern = pattern->next)
            if (matches(pattern, name))
                return pattern->value;
        if (list == patterns->layers)
            break;
    }
    return NULL;
}

size_t patterns_unlike_experts(const struct patterns *patterns, size_t from, const void *usual)
{
    for (size_t layer = from; layer < patterns->layers; layer++)
        for (const struct other_expert *other = patterns->others[layer]; other; other = other->next) {
            const char *number = strstr(other->text, ".experts.") + 9;
            char first[NAME_MAX_BYTES];
            int length = snprintf(first, sizeof first, "%.*s0%s", (int)(number - other->text), other->text,
                                  other->matrix);
            if (length < 0 || (size_t)length >= sizeof first)
                continue; /* of no module that is asked for */
            const void *value = patterns_match(patterns, layer, first);
            if ((value ? value : usual) != other->value)
                return layer;
        }
    return SIZE_MAX;
}
