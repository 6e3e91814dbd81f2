/* map.c: an open-addressing hash table keyed by the addresses of interned strings. */
#include "base/map.h"

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

enum { FIRST_SLOTS = 8 };

struct slot {
    const char *key; /* NULL: free */
    void *value;
};

struct map {
    struct arena *arena;
    struct slot *slots; /* a power of two of them, at most half in use; none at first */
    size_t slot_count, used;
};

struct map *map_new(struct arena *arena)
{
    struct map *map = ARENA_NEW(arena, struct map);
    map->arena = arena;
    return map;
}

static size_t hash_pointer(const char *key)
{
    uint64_t hash = (uint64_t)(uintptr_t)key * UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)(hash ^ (hash >> 32));
}

static struct slot *find(const struct map *map, const char *key)
{
    size_t mask = map->slot_count - 1;
    size_t i = hash_pointer(key) & mask;
    while (map->slots[i].key != NULL && map->slots[i].key != key)
        i = (i + 1) & mask;
    return &map->slots[i];
}

void *map_get(const struct map *map, const char *key)
{
    return map->used == 0 ? NULL : find(map, key)->value;
}

static void grow(struct map *map)
{
    struct slot *old = map->slots;
    size_t old_count = map->slot_count;
    map->slot_count = old_count == 0 ? FIRST_SLOTS : old_count * 2;
    map->slots = ARENA_ARRAY(map->arena, struct slot, map->slot_count);
    for (size_t i = 0; i < old_count; i++)
        if (old[i].key != NULL)
            *find(map, old[i].key) = old[i];
}

void *map_put(struct map *map, const char *key, void *value)
{
    if (2 * (map->used + 1) > map->slot_count)
        grow(map);
    struct slot *slot = find(map, key);
    if (slot->key == NULL) {
        slot->key = key;
        map->used++;
    }
    void *replaced = slot->value;
    slot->value = value;
    return replaced;
}
