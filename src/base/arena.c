/* arena.c: a bump allocator. Chunks double from 16 KiB to 1 MiB; what would not fit a chunk gets its own.
 *
 * Under AddressSanitizer the unused part of a chunk and a gap after every allocation are poisoned, so that
 * an overflow inside the arena is caught like one on the heap. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define POISON(address, size)   ASAN_POISON_MEMORY_REGION((address), (size))
#define UNPOISON(address, size) ASAN_UNPOISON_MEMORY_REGION((address), (size))
enum { GAP = 16 };
#else
#define POISON(address, size)   ((void)(address), (void)(size))
#define UNPOISON(address, size) ((void)(address), (void)(size))
enum { GAP = 0 };
#endif

enum { ALIGNMENT = alignof(max_align_t), FIRST_CHUNK = 16 << 10, LARGEST_CHUNK = 1 << 20 };
enum { EXIT_OUT_OF_MEMORY = 70 };

struct chunk {
    struct chunk *next;
    size_t size; /* of `bytes` */
    alignas(max_align_t) unsigned char bytes[];
};

struct arena {
    struct chunk *chunks; /* the first is the one being filled */
    unsigned char *free, *end;
    size_t next_size;
    size_t used;
};

static _Noreturn void out_of_memory(void)
{
    fputs("perfc: out of memory\n", stderr);
    exit(EXIT_OUT_OF_MEMORY);
}

static void *zeroed_or_exit(size_t size)
{
    void *memory = calloc(1, size);
    if (memory == NULL)
        out_of_memory();
    return memory;
}

struct arena *arena_new(void)
{
    struct arena *arena = zeroed_or_exit(sizeof *arena);
    arena->next_size = FIRST_CHUNK;
    return arena;
}

void arena_free(struct arena *arena)
{
    if (arena == NULL)
        return;
    for (struct chunk *chunk = arena->chunks, *next; chunk != NULL; chunk = next) {
        next = chunk->next;
        UNPOISON(chunk->bytes, chunk->size);
        free(chunk);
    }
    free(arena);
}

static struct chunk *chunk_new(size_t size)
{
    if (size > SIZE_MAX - sizeof(struct chunk))
        out_of_memory();
    struct chunk *chunk = zeroed_or_exit(sizeof *chunk + size);
    chunk->size = size;
    POISON(chunk->bytes, size);
    return chunk;
}

static void *alloc_apart(struct arena *arena, size_t padded, size_t size)
{
    struct chunk *chunk = chunk_new(padded);
    if (arena->chunks == NULL) {
        arena->chunks = chunk;
    } else { /* behind the chunk being filled, which keeps its room */
        chunk->next = arena->chunks->next;
        arena->chunks->next = chunk;
    }
    UNPOISON(chunk->bytes, size);
    return chunk->bytes;
}

static void start_chunk(struct arena *arena)
{
    struct chunk *chunk = chunk_new(arena->next_size);
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    arena->free = chunk->bytes;
    arena->end = chunk->bytes + chunk->size;
    if (arena->next_size < LARGEST_CHUNK)
        arena->next_size *= 2;
}

static size_t padded_size(size_t size)
{
    if (size > SIZE_MAX - ALIGNMENT - GAP)
        out_of_memory();
    return ((size == 0 ? 1 : size) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + GAP;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    size_t padded = padded_size(size);
    arena->used += size;
    if (padded > (size_t)(arena->end - arena->free)) {
        if (padded > arena->next_size / 4)
            return alloc_apart(arena, padded, size);
        start_chunk(arena);
    }
    void *memory = arena->free;
    arena->free += padded;
    UNPOISON(memory, size);
    return memory;
}

/* The link to the chunk that holds nothing but `memory`, or NULL. */
static struct chunk **find_apart(struct arena *arena, const void *memory, size_t padded)
{
    struct chunk **link = &arena->chunks;
    while (*link != NULL && (*link)->bytes != memory)
        link = &(*link)->next;
    return *link != NULL && (*link)->size == padded ? link : NULL;
}

/* A chunk of its own is large, so that the system moves its pages rather than their bytes. */
static void *grow_apart(struct chunk **link, size_t padded, size_t size)
{
    UNPOISON((*link)->bytes, (*link)->size);
    if (padded > SIZE_MAX - sizeof(struct chunk))
        out_of_memory();
    struct chunk *chunk = realloc(*link, sizeof *chunk + padded);
    if (chunk == NULL)
        out_of_memory();
    *link = chunk;
    chunk->size = padded;
    POISON(chunk->bytes + size, padded - size);
    return chunk->bytes;
}

void *arena_grow(struct arena *arena, void *memory, size_t size, size_t larger)
{
    enum { WORTH_FINDING = 32 << 10 };
    size_t before = padded_size(size), padded = padded_size(larger);
    unsigned char *bytes = memory;
    if (bytes != NULL && bytes + before == arena->free && padded <= (size_t)(arena->end - bytes)) {
        arena->free = bytes + padded;
        arena->used += larger - size;
        UNPOISON(bytes, larger);
        return memory;
    }
    struct chunk **apart = size >= WORTH_FINDING ? find_apart(arena, memory, before) : NULL;
    if (apart != NULL) {
        arena->used += larger - size;
        return grow_apart(apart, padded, larger);
    }
    void *moved = arena_alloc(arena, larger);
    if (size > 0)
        memcpy(moved, memory, size);
    return moved;
}

void *arena_calloc(struct arena *arena, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size)
        out_of_memory();
    return arena_alloc(arena, count * size);
}

char *arena_strndup(struct arena *arena, const char *text, size_t length)
{
    if (length == SIZE_MAX)
        out_of_memory();
    char *copy = arena_alloc(arena, length + 1);
    if (length > 0)
        memcpy(copy, text, length);
    return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
    return arena_strndup(arena, text, strlen(text));
}

char *arena_vprintf(struct arena *arena, const char *format, va_list arguments)
{
    char small[256];
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(small, sizeof small, format, arguments);
    char *text;
    if (length < 0) {
        text = arena_strdup(arena, "");
    } else if ((size_t)length < sizeof small) {
        text = arena_strndup(arena, small, (size_t)length);
    } else {
        text = arena_alloc(arena, (size_t)length + 1);
        vsnprintf(text, (size_t)length + 1, format, again);
    }
    va_end(again);
    return text;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = arena_vprintf(arena, format, arguments);
    va_end(arguments);
    return text;
}

size_t arena_used(const struct arena *arena)
{
    return arena->used;
}
