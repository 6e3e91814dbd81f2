/* vec.h: a growable array in an arena.
 *
 *     VEC(struct span) spans = {0};
 *     *VEC_PUSH(arena, spans) = span;
 *     for (size_t i = 0; i < spans.count; i++) use(spans.items[i]);
 *
 * Growth doubles the array and leaves the old one to the arena. */
#ifndef PERFC_BASE_VEC_H
#define PERFC_BASE_VEC_H

#include "base/arena.h"

#define VEC(type)                                                                                            \
    struct {                                                                                                 \
        type *items;                                                                                         \
        size_t count, capacity;                                                                              \
    }

/* A pointer to a new zeroed element at the end of `vec`; valid until the next push. */
#define VEC_PUSH(arena, vec)                                                                                 \
    ((vec).items = vec_reserve((arena), (vec).items, (vec).count, &(vec).capacity, sizeof *(vec).items),     \
     &(vec).items[(vec).count++])

/* Room for one element more; used by VEC_PUSH only. Returns the (possibly moved) array. */
void *vec_reserve(struct arena *arena, void *items, size_t count, size_t *capacity, size_t size);

#endif
