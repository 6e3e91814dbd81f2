/* buffer.h: a growable byte string, where output is composed before it is written. */
#ifndef PERFC_BASE_BUFFER_H
#define PERFC_BASE_BUFFER_H

#include <stddef.h>

struct arena;

struct buffer {
    struct arena *arena; /* owns `data` */
    char *data;          /* NUL-terminated once anything was added; else NULL */
    size_t length, capacity;
};

/* An empty buffer whose bytes live in `arena`. */
struct buffer buffer_in(struct arena *arena);

/* Room for so many bytes at once: memory that is never written to costs nothing. */
void buffer_expect(struct buffer *buffer, size_t length);

void buffer_add(struct buffer *buffer, const char *bytes, size_t length);
void buffer_text(struct buffer *buffer, const char *text);
void buffer_byte(struct buffer *buffer, char byte);
void buffer_repeat(struct buffer *buffer, const char *text, size_t times);
void buffer_printf(struct buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The contents as a C string ("" when empty). Owned by the arena. */
const char *buffer_string(const struct buffer *buffer);

#endif
