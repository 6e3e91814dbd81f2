/* attribute.c: the attribute table (attributes.def) and the questions asked of it. */
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/intern.h"
#include "sema/internal.h"
#include "source/jargon.h"
#include "source/suggest.h"

#define IN_FORMAT   (1u << KIND_FORMAT)
#define IN_GPU      (1u << KIND_GPU)
#define IN_SYSTEM   (1u << KIND_SYSTEM)
#define IN_MODEL    (1u << KIND_MODEL)
#define IN_BLOCK    (1u << KIND_BLOCK)
#define IN_ENGINE   (1u << KIND_ENGINE)
#define IN_SCENARIO (1u << KIND_SCENARIO)
#define IN_MEASURED (1u << KIND_MEASURED)
#define IN_REPORT   (1u << KIND_REPORT)

static const struct attribute_info table[ATTR_COUNT] = {
#define ATTRIBUTE(scope, id, name, type, unit, minimum, maximum, fallback, detail, doc)                      \
    [ATTR_##id] = {scope, name, TYPE_##type, unit, minimum, maximum, fallback, detail, doc},
#include "sema/attributes.def"
#undef ATTRIBUTE
};

/* Other spellings; the first name is the one shown. */
static const struct {
    const char *alias;
    enum attribute attribute;
} aliases[] = {
    {"concurrency", ATTR_BATCH},
};

/* What people look for that no attribute says, and what does. */
static const struct {
    unsigned scope;
    const char *said, *advice;
} advised[] = {
#define LAYOUT                                                                                               \
    "the layout says how many: `tp` cards share every matrix, `pp` stages follow each other, `replicas` "    \
    "copies serve side by side"
#define LOOP                                                                                                 \
    "the load is a closed loop: `batch` users, each of whom asks again once answered; "                      \
    "`requests_per_second` is what that comes to"
#define PEAKS "peaks are declared by format and dense, as in `peak.bf16 = 989 TFLOPS`"
    {IN_SCENARIO, "gpus", LAYOUT},
    {IN_SCENARIO, "num_gpus", LAYOUT},
    {IN_SCENARIO, "n_gpus", LAYOUT},
    {IN_SCENARIO, "gpu_count", LAYOUT},
    {IN_SCENARIO, "cards", LAYOUT},
    {IN_SCENARIO, "devices", LAYOUT},
    {IN_SCENARIO, "count", LAYOUT},
    {IN_SCENARIO, "nodes", LAYOUT},
    {IN_SCENARIO, "world_size", LAYOUT},
    {IN_SCENARIO, "rps", LOOP},
    {IN_SCENARIO, "qps", LOOP},
    {IN_SCENARIO, "request_rate", LOOP},
    {IN_SCENARIO, "arrival_rate", LOOP},
    {IN_SCENARIO, "requests_per_second", LOOP},
    {IN_GPU, "peak", PEAKS},
    {IN_GPU, "flops", PEAKS},
    {IN_GPU, "tflops", PEAKS},
    {IN_GPU, "tops", PEAKS},
    {IN_GPU, "compute", PEAKS},
    {IN_GPU, "fp16_tflops", PEAKS},
    {IN_GPU, "bf16_tflops", PEAKS},
#undef LAYOUT
#undef LOOP
#undef PEAKS
};

static const char *const kind_names[KIND_COUNT] = {
    [KIND_FORMAT] = "format",     [KIND_GPU] = "gpu",     [KIND_SYSTEM] = "system",
    [KIND_MODEL] = "model",       [KIND_BLOCK] = "block", [KIND_ENGINE] = "engine",
    [KIND_SCENARIO] = "scenario", [KIND_SWEEP] = "sweep", [KIND_MEASURED] = "measured",
    [KIND_REPORT] = "report",
};

struct attribute_index {
    struct map *by_name[KIND_COUNT]; /* to a row of `table` */
    size_t position[KIND_COUNT][ATTR_COUNT];
    size_t total[KIND_COUNT];
};

const char *kind_name(enum kind kind)
{
    return kind_names[kind];
}

enum kind kind_from_name(const char *name)
{
    enum kind kind = 0;
    while (kind < KIND_COUNT && strcmp(kind_names[kind], name) != 0)
        kind++;
    return kind;
}

const struct attribute_info *attribute_info(enum attribute attribute)
{
    return &table[attribute];
}

/* A sweep varies what a scenario takes. */
static enum kind attribute_kind(enum kind kind)
{
    return kind == KIND_SWEEP ? KIND_SCENARIO : kind;
}

static bool takes(enum kind kind, enum attribute attribute)
{
    return (table[attribute].scope & (1u << attribute_kind(kind))) != 0;
}

enum attribute attribute_find(enum kind kind, const char *name)
{
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++)
        if (takes(kind, aliases[i].attribute) && strcmp(aliases[i].alias, name) == 0)
            return aliases[i].attribute;
    for (enum attribute attribute = 0; attribute < ATTR_COUNT; attribute++)
        if (takes(kind, attribute) && table[attribute].name[0] == name[0] &&
            strcmp(table[attribute].name, name) == 0)
            return attribute;
    return ATTR_COUNT;
}

struct attribute_index *attribute_index_new(struct arena *arena, struct strings *strings)
{
    struct attribute_index *index = ARENA_NEW(arena, struct attribute_index);
    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
        index->by_name[kind] = map_new(arena);
        for (enum attribute attribute = 0; attribute < ATTR_COUNT; attribute++) {
            if (!takes(kind, attribute))
                continue;
            index->position[kind][attribute] = index->total[kind]++;
            /* The map only hands the row back, so dropping const is safe. */
            map_put(index->by_name[kind], intern_text(strings, table[attribute].name),
                    (void *)&table[attribute]);
        }
        for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++)
            if (takes(kind, aliases[i].attribute))
                map_put(index->by_name[kind], intern_text(strings, aliases[i].alias),
                        (void *)&table[aliases[i].attribute]);
    }
    return index;
}

enum attribute attribute_lookup(const struct attribute_index *index, enum kind kind, const char *name)
{
    const struct attribute_info *info = map_get(index->by_name[kind], name);
    return info ? (enum attribute)(info - table) : ATTR_COUNT;
}

size_t attribute_position(const struct attribute_index *index, enum kind kind, enum attribute attribute)
{
    return index->position[kind][attribute];
}

size_t attribute_total(const struct attribute_index *index, enum kind kind)
{
    return index->total[kind];
}

const char *attribute_suggest(enum kind kind, const char *name)
{
    size_t row = 0;
    for (const char *meant; (meant = jargon_meaning(name, &row)) != NULL;)
        if (attribute_find(kind, meant) != ATTR_COUNT)
            return meant;
    struct suggestion suggestion = suggestion_for(name);
    for (enum attribute attribute = 0; attribute < ATTR_COUNT; attribute++)
        if (takes(kind, attribute))
            suggestion_consider(&suggestion, table[attribute].name);
    return suggestion_result(&suggestion);
}

const char *attribute_advice(enum kind kind, const char *name)
{
    for (size_t i = 0; i < sizeof advised / sizeof advised[0]; i++)
        if ((advised[i].scope & (1u << attribute_kind(kind))) != 0 && jargon_same(advised[i].said, name))
            return advised[i].advice;
    return NULL;
}

bool attribute_is_group(enum kind kind, const char *prefix)
{
    size_t length = strlen(prefix);
    for (enum attribute attribute = 0; attribute < ATTR_COUNT; attribute++)
        if (takes(kind, attribute) && strncmp(table[attribute].name, prefix, length) == 0 &&
            table[attribute].name[length] == '.')
            return true;
    return false;
}

/* The next alternative of "a|b|c" at *at, its length in *length; NULL at the end. */
static const char *next_word(const char **at, size_t *length)
{
    const char *word = *at;
    if (!*word)
        return NULL;
    *length = strcspn(word, "|");
    *at = word + *length + (word[*length] == '|');
    return word;
}

bool word_in(const char *words, const char *word)
{
    size_t length;
    for (const char *at = words, *next; (next = next_word(&at, &length));)
        if (strlen(word) == length && memcmp(next, word, length) == 0)
            return true;
    return false;
}

const char *word_suggest(struct arena *arena, const char *words, const char *word)
{
    size_t length;
    struct suggestion suggestion = suggestion_for(word);
    for (const char *at = words, *next; (next = next_word(&at, &length));)
        suggestion_consider(&suggestion, arena_strndup(arena, next, length));
    return suggestion_result(&suggestion);
}

const char *words_text(struct arena *arena, const char *words)
{
    size_t length;
    struct buffer text = buffer_in(arena);
    for (const char *at = words, *next; (next = next_word(&at, &length));)
        buffer_printf(&text, "%s`%.*s`", text.length ? ", " : "", (int)length, next);
    return buffer_string(&text);
}
