/* language.c: the languages that reports speak, and their names */
#include "base/language.h"

#include <string.h>

static const struct {
    const char *name, *tag;
} languages[LANGUAGE_COUNT] = {
    [LANGUAGE_EN] = {"en", "en"},
    [LANGUAGE_ZH] = {"zh", "zh-Hans"},
};

const char *language_name(enum language language)
{
    return languages[language].name;
}

const char *language_tag(enum language language)
{
    return languages[language].tag;
}

bool language_find(const char *name, enum language *language)
{
    for (int i = 0; i < LANGUAGE_COUNT; i++)
        if (strcmp(name, languages[i].name) == 0) {
            *language = (enum language)i;
            return true;
        }
    return false;
}
