/* intern.c: an open-addressing hash set of strings. */
#include "base/intern.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"

enum { FIRST_SLOTS = 512 };

struct slot {
    const char *text; /* NULL: free */
    size_t length;
    uint64_t hash;
};

struct strings {
    struct arena *arena;
    struct slot *slots; /* a power of two of them, at most half in use */
    size_t slot_count, used;
};

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ (hash >> 29);
}

/* Eight bytes at a time. The order of slots is never observable, so byte order does not matter. */
static uint64_t hash_bytes(const char *text, size_t length)
{
    uint64_t hash = mix(UINT64_C(0x243F6A8885A308D3), length);
    for (; length >= 8; text += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, text, 8);
        hash = mix(hash, word);
    }
    uint64_t rest = 0;
    if (length > 0)
        memcpy(&rest, text, length);
    hash = mix(hash, rest);
    return hash ^ (hash >> 32);
}

struct strings *strings_new(struct arena *arena)
{
    struct strings *strings = ARENA_NEW(arena, struct strings);
    strings->arena = arena;
    strings->slot_count = FIRST_SLOTS;
    strings->slots = ARENA_ARRAY(arena, struct slot, FIRST_SLOTS);
    return strings;
}

static struct slot *find(const struct strings *strings, const char *text, size_t length, uint64_t hash)
{
    size_t mask = strings->slot_count - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        struct slot *slot = &strings->slots[i];
        if (slot->text == NULL)
            return slot;
        if (slot->hash == hash && slot->length == length && memcmp(slot->text, text, length) == 0)
            return slot;
    }
}

static void grow(struct strings *strings)
{
    struct slot *old = strings->slots;
    size_t old_count = strings->slot_count;
    strings->slot_count *= 2;
    strings->slots = ARENA_ARRAY(strings->arena, struct slot, strings->slot_count);
    for (size_t i = 0; i < old_count; i++)
        if (old[i].text != NULL)
            *find(strings, old[i].text, old[i].length, old[i].hash) = old[i];
}

const char *intern(struct strings *strings, const char *text, size_t length)
{
    if (length == 0)
        text = "";
    uint64_t hash = hash_bytes(text, length);
    struct slot *slot = find(strings, text, length, hash);
    if (slot->text != NULL)
        return slot->text;
    if (2 * (strings->used + 1) > strings->slot_count) {
        grow(strings);
        slot = find(strings, text, length, hash);
    }
    strings->used++;
    *slot = (struct slot){arena_strndup(strings->arena, text, length), length, hash};
    return slot->text;
}

const char *intern_text(struct strings *strings, const char *text)
{
    return intern(strings, text, strlen(text));
}
