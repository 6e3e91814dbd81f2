/* unit_suggest.c: what a misspelt unit was probably meant to be. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "sema/unit.h"
#include "sema/unit_internal.h"
#include "source/suggest.h"

/* Spellings that people use and no unit has; compared without regard to case. */
struct alias {
    const char *spelling, *unit;
};

static const struct alias aliases[] = {
    {"$", "usd"},           {"dollar", "usd"},     {"dollars", "usd"},     {"\xE2\x82\xAC", "eur"},
    {"euro", "eur"},        {"euros", "eur"},      {"sec", "s"},           {"secs", "s"},
    {"second", "s"},        {"seconds", "s"},      {"msec", "ms"},         {"millisecond", "ms"},
    {"milliseconds", "ms"}, {"usec", "us"},        {"microseconds", "us"}, {"nanoseconds", "ns"},
    {"mins", "min"},        {"minute", "min"},     {"minutes", "min"},     {"hr", "h"},
    {"hrs", "h"},           {"hour", "h"},         {"hours", "h"},         {"d", "day"},
    {"days", "day"},        {"mo", "month"},       {"months", "month"},    {"yr", "year"},
    {"years", "year"},      {"byte", "B"},         {"bytes", "B"},         {"bits", "bit"},
    {"gigabyte", "GB"},     {"gigabytes", "GB"},   {"gig", "GB"},          {"watt", "W"},
    {"watts", "W"},         {"joule", "J"},        {"joules", "J"},        {"percent", "%"},
    {"toks", "tok"},        {"t", "token"},        {"tps", "tokens/s"},    {"reqs", "requests"},
    {"rps", "requests/s"},  {"qps", "requests/s"}, {"ki", "KiB"},          {"mi", "MiB"},
    {"gi", "GiB"},          {"ti", "TiB"},         {"mtokens", "Mtok"},    {"mtoken", "Mtok"},
};

static const char *find_alias(const char *text)
{
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++)
        if (strcasecmp(aliases[i].spelling, text) == 0)
            return aliases[i].unit;
    return NULL;
}

static bool known(const char *text)
{
    struct unit unit;
    return unit_simple(text, strlen(text), &unit);
}

/* "Gb": the prefix says gigabit or gigabyte alike. A wrong prefix as well ("gb") says only that case was
 * not thought of, and sizes are in bytes. */
static bool bit_or_byte(struct arena *arena, const char *text, const char **best, const char **other)
{
    size_t length = strlen(text);
    if (length != 2 || tolower((unsigned char)text[1]) != 'b' || strchr("kKmMgGtT", text[0]) == NULL)
        return false;
    char prefix = (char)(text[0] == 'k' || text[0] == 'K' ? 'k' : toupper((unsigned char)text[0]));
    *best = arena_printf(arena, "%cB", prefix);
    if (text[0] == prefix && text[1] == 'b')
        *other = arena_printf(arena, "%cbit", prefix);
    return true;
}

/* "GBps" is GB/s: bytes per second have no spelling without a slash. */
static bool bytes_per_second(struct arena *arena, const char *text, const char **best)
{
    size_t length = strlen(text);
    if (length < 3 || strcasecmp(text + length - 2, "ps") != 0 || text[length - 3] != 'B')
        return false;
    const char *before = arena_strndup(arena, text, length - 2), *unused = NULL;
    if (!known(before) && !bit_or_byte(arena, before, &before, &unused))
        return false;
    *best = arena_printf(arena, "%s/s", before);
    return true;
}

/* "TFLOPs": a rate, or a plural. */
static bool work_or_rate(struct arena *arena, const char *text, const char **best, const char **other)
{
    size_t length = strlen(text);
    if (length < 3 || text[length - 1] != 's' || toupper((unsigned char)text[length - 2]) != 'P')
        return false;
    const struct unit_row *rows;
    size_t count = unit_table(&rows);
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(rows[i].name, text) == 0 && strcmp(rows[i].dimension, "work/time") == 0) {
            *best = rows[i].name;
            *other = arena_strndup(arena, rows[i].name, length - 1);
            return true;
        }
    }
    return false;
}

static bool is_rate(const char *name)
{
    struct unit unit;
    return unit_simple(name, strlen(name), &unit) && unit.dim.power[DIM_TIME] == -1;
}

static const char *same_but_case(const char *text, const char **other)
{
    const struct unit_row *rows;
    size_t count = unit_table(&rows);
    const char *best = NULL;
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(rows[i].name, text) != 0)
            continue;
        if (best == NULL)
            best = rows[i].name;
        else if (*other == NULL)
            *other = rows[i].name;
    }
    return best;
}

static const char *nearest(const char *text)
{
    struct suggestion suggestion = suggestion_for(text);
    const struct unit_row *rows;
    size_t count = unit_table(&rows);
    for (size_t i = 0; i < count; i++)
        suggestion_consider(&suggestion, rows[i].name);
    return suggestion_result(&suggestion);
}

static const char *suggest_part(struct arena *arena, const char *text, const char **other)
{
    const char *best = NULL;
    if (known(text))
        return text;
    if (bit_or_byte(arena, text, &best, other) || bytes_per_second(arena, text, &best) ||
        work_or_rate(arena, text, &best, other))
        return best;
    if ((best = same_but_case(text, other)) != NULL || (best = find_alias(text)) != NULL)
        return best;
    return nearest(text);
}

const char *unit_suggest(struct arena *arena, const char *text, const char **other)
{
    struct buffer first = buffer_in(arena), second = buffer_in(arena);
    bool ambiguous = false;
    *other = NULL;
    for (;;) {
        size_t length = strcspn(text, "/");
        const char *part_other = NULL;
        const char *part = suggest_part(arena, arena_strndup(arena, text, length), &part_other);
        if (part == NULL)
            return NULL;
        if (part_other != NULL && is_rate(part) && strncmp(text + length, "/s", 2) == 0) {
            part = part_other; /* "TFLOPs/s" has its seconds already */
            part_other = NULL;
        }
        ambiguous = ambiguous || part_other != NULL;
        buffer_text(&first, part);
        buffer_text(&second, part_other != NULL ? part_other : part);
        text += length;
        if (*text == '\0')
            break;
        buffer_byte(&first, *text);
        buffer_byte(&second, *text);
        text++;
    }
    struct unit unit;
    if (!unit_parse(buffer_string(&first), &unit))
        return NULL;
    if (ambiguous && unit_parse(buffer_string(&second), &unit))
        *other = buffer_string(&second);
    return buffer_string(&first);
}
