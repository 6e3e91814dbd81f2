/* map.h: a hash table from interned strings (compared by pointer) to pointers.
 * Iteration order is never observable: there is no iteration. */
#ifndef PERFC_BASE_MAP_H
#define PERFC_BASE_MAP_H

struct arena;
struct map;

/* An empty map, owned by `arena`. */
struct map *map_new(struct arena *arena);

/* The value under `key`, or NULL. */
void *map_get(const struct map *map, const char *key);

/* Sets the value under `key` (an interned string); returns the value it replaces, or NULL. */
void *map_put(struct map *map, const char *key, void *value);

#endif
