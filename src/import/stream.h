/* stream.h: the beginning of a file that may be very large, read in pieces. */
#ifndef PERFC_IMPORT_STREAM_H
#define PERFC_IMPORT_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

struct stream {
    const char *bytes; /* what is in memory: all of it, or a piece of the file */
    size_t at, length;
    uint64_t before; /* bytes of the file before those */
    uint64_t size;   /* of the file; UINT64_MAX for pipes */
    char *piece;
    int descriptor; /* -1: everything is in memory */
    bool short_of;  /* something was asked for beyond the end */
};

/* A stream over bytes in memory, or over a file; why it cannot be opened, or NULL. stream_close() must
 * follow. */
struct stream stream_of_bytes(const char *bytes, size_t length);
const char *stream_open(struct arena *arena, const char *path, struct stream *stream);
void stream_close(struct stream *stream);

/* Bytes read so far, and those that are left. */
uint64_t stream_position(const struct stream *stream);
uint64_t stream_left(const struct stream *stream);

/* The next byte, or -1 at the end. */
int stream_byte(struct stream *stream);

/* Copies `count` bytes, or skips them; false, with `short_of` set, when the file ends before. */
bool stream_read(struct stream *stream, void *bytes, size_t count);
bool stream_skip(struct stream *stream, uint64_t count);

/* Little-endian integers; 0 beyond the end. */
uint32_t stream_u32(struct stream *stream);
uint64_t stream_u64(struct stream *stream);

#endif
