/* header_scan.h: the JSON of a safetensors header, tensor by tensor, without holding it in memory. */
#ifndef PERFC_IMPORT_HEADER_SCAN_H
#define PERFC_IMPORT_HEADER_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "import/stream.h"

enum { TENSOR_NAME_MAX = 512, TENSOR_RANK_MAX = 32 };

struct header_tensor {
    char name[TENSOR_NAME_MAX];
    char dtype[32];
    double dims[TENSOR_RANK_MAX];
    unsigned rank;
    double begin, end; /* data_offsets */
    bool has_dtype, has_shape, has_offsets;
};

/* Reads an object of `length` bytes from the stream and calls `found` for each member but __metadata__. What
 * is wrong with it, or NULL; `*at` is the offset, in the object, where it went wrong. `found` returns a
 * complaint of its own to stop. */
const char *header_scan(struct stream *stream, uint64_t length,
                        const char *(*found)(void *context, const struct header_tensor *tensor),
                        void *context, uint64_t *at);

#endif
