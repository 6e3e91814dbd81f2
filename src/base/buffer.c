/* buffer.c: growth and formatting of byte strings. */
#include "base/buffer.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"

enum { FIRST_CAPACITY = 32 };

struct buffer buffer_in(struct arena *arena)
{
    return (struct buffer){.arena = arena};
}

/* Room for `length` bytes more and the NUL after them. */
static void reserve(struct buffer *buffer, size_t length)
{
    size_t needed = buffer->length + length + 1;
    if (needed <= buffer->capacity)
        return;
    size_t larger = buffer->capacity == 0 ? FIRST_CAPACITY : buffer->capacity;
    while (larger < needed && larger <= SIZE_MAX / 2)
        larger *= 2;
    larger = larger < needed ? needed : larger;
    buffer->data = arena_grow(buffer->arena, buffer->data, buffer->capacity, larger);
    buffer->capacity = larger;
}

void buffer_expect(struct buffer *buffer, size_t length)
{
    reserve(buffer, length);
    buffer->data[buffer->length] = '\0';
}

void buffer_add(struct buffer *buffer, const char *bytes, size_t length)
{
    reserve(buffer, length);
    if (length > 0)
        memcpy(buffer->data + buffer->length, bytes, length);
    buffer->length += length;
    buffer->data[buffer->length] = '\0';
}

void buffer_text(struct buffer *buffer, const char *text)
{
    buffer_add(buffer, text, strlen(text));
}

void buffer_byte(struct buffer *buffer, char byte)
{
    if (buffer->length + 1 >= buffer->capacity)
        reserve(buffer, 1);
    buffer->data[buffer->length++] = byte;
    buffer->data[buffer->length] = '\0';
}

void buffer_repeat(struct buffer *buffer, const char *text, size_t times)
{
    size_t length = strlen(text);
    for (size_t i = 0; i < times; i++)
        buffer_add(buffer, text, length);
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    reserve(buffer, 0);
    size_t room = buffer->capacity - buffer->length;
    int length = vsnprintf(buffer->data + buffer->length, room, format, arguments);
    if (length >= 0 && (size_t)length >= room) {
        reserve(buffer, (size_t)length);
        vsnprintf(buffer->data + buffer->length, (size_t)length + 1, format, again);
    }
    if (length > 0)
        buffer->length += (size_t)length;
    buffer->data[buffer->length] = '\0';
    va_end(again);
    va_end(arguments);
}

const char *buffer_string(const struct buffer *buffer)
{
    return buffer->data == NULL ? "" : buffer->data;
}
