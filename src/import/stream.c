/* stream.c: reading in pieces of 64 KiB, with seeks over what nobody wants. */
#include "import/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"

enum { PIECE = 1 << 16 };

struct stream stream_of_bytes(const char *bytes, size_t length)
{
    return (struct stream){.bytes = bytes, .length = length, .size = length, .descriptor = -1};
}

const char *stream_open(struct arena *arena, const char *path, struct stream *stream)
{
    struct stat status;
    *stream = (struct stream){.descriptor = open(path, O_RDONLY | O_CLOEXEC), .size = UINT64_MAX};
    if (stream->descriptor < 0)
        return strerror(errno);
    if (fstat(stream->descriptor, &status) == 0 && S_ISDIR(status.st_mode)) {
        stream_close(stream);
        return strerror(EISDIR);
    }
    if (S_ISREG(status.st_mode))
        stream->size = (uint64_t)status.st_size;
    stream->piece = arena_alloc(arena, PIECE);
    stream->bytes = stream->piece;
    return NULL;
}

void stream_close(struct stream *stream)
{
    if (stream->descriptor >= 0)
        close(stream->descriptor);
    stream->descriptor = -1;
}

uint64_t stream_position(const struct stream *stream)
{
    return stream->before + stream->at;
}

uint64_t stream_left(const struct stream *stream)
{
    uint64_t position = stream_position(stream);
    return stream->size > position ? stream->size - position : 0;
}

/* The next piece of the file; false at its end. */
static bool refill(struct stream *stream)
{
    if (stream->descriptor < 0)
        return false;
    stream->before += stream->length;
    stream->at = stream->length = 0;
    for (;;) {
        ssize_t got = read(stream->descriptor, stream->piece, PIECE);
        if (got < 0 && errno == EINTR)
            continue;
        stream->length = got > 0 ? (size_t)got : 0;
        return got > 0;
    }
}

int stream_byte(struct stream *stream)
{
    if (stream->at == stream->length && !refill(stream))
        return -1;
    return (unsigned char)stream->bytes[stream->at++];
}

bool stream_read(struct stream *stream, void *bytes, size_t count)
{
    char *to = bytes;
    while (count > 0) {
        if (stream->at == stream->length && !refill(stream)) {
            stream->short_of = true;
            memset(to, 0, count);
            return false;
        }
        size_t some = stream->length - stream->at;
        if (some > count)
            some = count;
        memcpy(to, stream->bytes + stream->at, some);
        stream->at += some;
        to += some;
        count -= some;
    }
    return true;
}

bool stream_skip(struct stream *stream, uint64_t count)
{
    size_t here = stream->length - stream->at;
    if (count <= here) {
        stream->at += (size_t)count;
        return true;
    }
    if (count > stream_left(stream)) {
        stream->at = stream->length;
        stream->short_of = true;
        return false;
    }
    count -= here;
    stream->at = stream->length;
    if (stream->descriptor >= 0 && count > PIECE && stream->size != UINT64_MAX &&
        lseek(stream->descriptor, (off_t)count, SEEK_CUR) >= 0) {
        stream->before += stream->length + count;
        stream->at = stream->length = 0;
        return true;
    }
    while (count > 0) {
        if (stream->at == stream->length && !refill(stream)) {
            stream->short_of = true;
            return false;
        }
        size_t some = stream->length - stream->at;
        some = some > count ? (size_t)count : some;
        stream->at += some;
        count -= some;
    }
    return true;
}

uint32_t stream_u32(struct stream *stream)
{
    unsigned char bytes[4];
    stream_read(stream, bytes, sizeof bytes);
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

uint64_t stream_u64(struct stream *stream)
{
    uint64_t low = stream_u32(stream);
    return low | (uint64_t)stream_u32(stream) << 32;
}
