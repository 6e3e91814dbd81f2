/* kin.c: names that share whole parts, the parts being what `-`, `_`, `/` or a blank separates. An edit
 * distance cannot see that `h100` means `h100-sxm`: it finds `h200` nearer. */
#include "source/kin.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

static bool is_separator(char c)
{
    return c == '-' || c == '_' || c == '/' || c == ' ';
}

/* Whether `part` begins `text` and ends there with a part, or, if `loose`, before letters that a digit
 * precedes: `mi300` begins `mi300x`, and not `mi3000`. */
static bool begins(const char *text, const char *part, size_t length, bool loose)
{
    if (length == 0 || strlen(text) < length || strncasecmp(text, part, length) != 0)
        return false;
    const char *rest = text + length;
    if (*rest == '\0' || is_separator(*rest))
        return true;
    if (!loose || !isdigit((unsigned char)part[length - 1]))
        return false;
    size_t letters = 0;
    while (isalpha((unsigned char)rest[letters]))
        letters++;
    return letters > 0 && (rest[letters] == '\0' || is_separator(rest[letters]));
}

/* Whether `word` stands in `name` between separators, or, if `loose`, begins there as a variant does. */
static bool stands_within(const char *name, const char *word, bool loose)
{
    size_t length = strlen(word);
    for (const char *at = name; *at; at++)
        if ((at == name || is_separator(at[-1])) && begins(at, word, length, loose))
            return true;
    return false;
}

static bool ends(const char *name, const char *word)
{
    size_t length = strlen(word), whole = strlen(name);
    return whole > length && is_separator(name[whole - length - 1]) &&
           strcasecmp(name + whole - length, word) == 0;
}

static enum kinship kinship_of(const char *word, const char *name)
{
    if (ends(name, word))
        return KIN_END;
    if (stands_within(name, word, false))
        return KIN_WITHIN;
    if (stands_within(name, word, true))
        return KIN_VARIANT;
    if (begins(word, name, strlen(name), false))
        return KIN_AROUND;
    const char *rest = word + strcspn(word, "-_/ ");
    return *rest && stands_within(name, rest + 1, true) ? KIN_WITHOUT_MAKER : KIN_NONE;
}

struct kin kin_of(const char *word)
{
    return (struct kin){.word = word, .kinship = KIN_NONE};
}

void kin_consider(struct kin *kin, const char *name)
{
    enum kinship kinship = *kin->word ? kinship_of(kin->word, name) : KIN_NONE;
    if (kinship == KIN_NONE || kinship > kin->kinship)
        return;
    /* Of names that a word begins with, the longest says most. */
    bool longer = kinship == KIN_AROUND && kin->count > 0 && strlen(name) > strlen(kin->names[0]);
    if (kinship < kin->kinship || longer)
        kin->count = 0;
    else if (kinship == KIN_AROUND)
        return;
    kin->kinship = kinship;
    for (size_t i = 0; i < kin->count && i < KIN_MAX; i++)
        if (strcmp(kin->names[i], name) == 0)
            return;
    if (kin->count < KIN_MAX)
        kin->names[kin->count] = name;
    kin->count++;
}

const char *kin_text(const struct kin *kin, struct arena *arena)
{
    size_t shown = kin->count < KIN_MAX ? kin->count : KIN_MAX;
    const char *text = NULL;
    for (size_t i = 0; i < shown; i++) {
        const char *before = i == 0 ? "" : i + 1 < kin->count ? ", " : " or ";
        text = arena_printf(arena, "%s%s`%s`", text ? text : "", before, kin->names[i]);
    }
    return kin->count > shown ? arena_printf(arena, "%s and %zu more", text, kin->count - shown) : text;
}
