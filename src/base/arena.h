/* arena.h: memory with one owner.
 *
 * One arena owns everything a compilation allocates; arena_free() releases it
 * all at once, so no error path can leak. Allocation never returns NULL: when
 * the machine is out of memory the process prints one line and exits with
 * status 70, because a batch compiler has nothing better to do. */
#ifndef PERFC_BASE_ARENA_H
#define PERFC_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct arena;

/* A new, empty arena. The caller releases it with arena_free(). */
struct arena *arena_new(void);

/* Releases the arena and everything allocated from it. NULL is allowed. */
void arena_free(struct arena *arena);

/* `size` zeroed bytes, aligned for any type. Valid until arena_free(). */
void *arena_alloc(struct arena *arena, size_t size);

/* `memory`, an allocation of `size` bytes, as one of `larger` bytes: where it is when it was the last one or
 * is large, else a copy. What is new is not zeroed. */
void *arena_grow(struct arena *arena, void *memory, size_t size, size_t larger);

/* `count` zeroed elements of `size` bytes; an overflow of the product counts as out of memory. */
void *arena_calloc(struct arena *arena, size_t count, size_t size);

/* A NUL-terminated copy of the `length` bytes at `text`. */
char *arena_strndup(struct arena *arena, const char *text, size_t length);

/* A NUL-terminated copy of `text`. */
char *arena_strdup(struct arena *arena, const char *text);

/* A formatted string. */
char *arena_printf(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *arena, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

/* Bytes handed out so far, for tests and benchmarks. */
size_t arena_used(const struct arena *arena);

#define ARENA_NEW(arena, type)          ((type *)arena_alloc((arena), sizeof(type)))
#define ARENA_ARRAY(arena, type, count) ((type *)arena_calloc((arena), (count), sizeof(type)))

#endif
