/* vec.c: growth of the arrays of vec.h. */
#include "base/vec.h"

#include <string.h>

enum { FIRST_CAPACITY = 4 };

void *vec_reserve(struct arena *arena, void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    size_t larger = *capacity == 0 ? FIRST_CAPACITY : *capacity * 2;
    void *moved = arena_calloc(arena, larger, size);
    if (count > 0)
        memcpy(moved, items, count * size);
    *capacity = larger;
    return moved;
}
