/* phrase.c: the table of phrases, and the composed ones of a compilation */
#include "source/phrase.h"

#include <string.h>

#include "base/arena.h"
#include "base/intern.h"
#include "base/map.h"

static const char *const rows[][LANGUAGE_COUNT] = {
#define PHRASE(english, chinese) {[LANGUAGE_EN] = english, [LANGUAGE_ZH] = chinese},
#include "source/phrases.def"
#undef PHRASE
};
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

struct phrases {
    struct arena *arena;
    struct strings *strings;
    struct map *composed[LANGUAGE_COUNT]; /* by the English text */
};

struct phrases *phrases_new(struct arena *arena)
{
    struct phrases *phrases = ARENA_NEW(arena, struct phrases);
    phrases->arena = arena;
    phrases->strings = strings_new(arena);
    for (int i = 0; i < LANGUAGE_COUNT; i++)
        phrases->composed[i] = map_new(arena);
    return phrases;
}

static const char *const *row_of(const char *english)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (strcmp(rows[i][LANGUAGE_EN], english) == 0)
            return rows[i];
    return NULL;
}

const char *phrases_compose(struct phrases *phrases, const char *format, va_list arguments)
{
    const char *const *row = row_of(format);
    va_list again;
    va_copy(again, arguments);
    const char *english = arena_vprintf(phrases->arena, format, arguments);
    for (int i = LANGUAGE_EN + 1; row && i < LANGUAGE_COUNT; i++) {
        va_list each;
        va_copy(each, again);
        map_put(phrases->composed[i], intern_text(phrases->strings, english),
                arena_vprintf(phrases->arena, row[i], each));
        va_end(each);
    }
    va_end(again);
    return english;
}

const char *phrases_printf(struct phrases *phrases, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *english = phrases_compose(phrases, format, arguments);
    va_end(arguments);
    return english;
}

enum { TEXTS_MAX = 6 };

/* Arguments beyond those that the format names are ignored, as printf does. */
static const char *with_texts(struct phrases *phrases, const char *format, enum language language,
                              const char *const texts[TEXTS_MAX])
{
    const char *own[TEXTS_MAX];
    for (size_t i = 0; i < TEXTS_MAX; i++)
        own[i] = texts[i] ? phrase_in(phrases, language, texts[i]) : "";
    return arena_printf(phrases->arena, format, own[0], own[1], own[2], own[3], own[4], own[5]);
}

const char *phrases_of_phrases(struct phrases *phrases, const char *format, ...)
{
    const char *texts[TEXTS_MAX] = {NULL};
    va_list arguments;
    va_start(arguments, format);
    size_t count = 0;
    for (const char *at = strchr(format, '%'); at && count < TEXTS_MAX; at = strchr(at + 1, '%'))
        texts[count++] = va_arg(arguments, const char *);
    va_end(arguments);
    const char *const *row = row_of(format);
    const char *english = with_texts(phrases, format, LANGUAGE_EN, texts);
    for (int i = LANGUAGE_EN + 1; row && i < LANGUAGE_COUNT; i++)
        map_put(phrases->composed[i], intern_text(phrases->strings, english),
                (void *)with_texts(phrases, row[i], (enum language)i, texts));
    return english;
}

const char *phrase_in(const struct phrases *phrases, enum language language, const char *english)
{
    if (language == LANGUAGE_EN || !english)
        return english;
    const char *const *row = row_of(english);
    const char *composed =
        row || !phrases ? NULL : map_get(phrases->composed[language], intern_text(phrases->strings, english));
    return row ? row[language] : composed ? composed : english;
}
