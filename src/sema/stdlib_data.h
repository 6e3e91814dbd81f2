/* stdlib_data.h: the standard library inside the binary. The .c file is made by scripts/embed from
 * stdlib/; all strings are static. */
#ifndef PERFC_SEMA_STDLIB_DATA_H
#define PERFC_SEMA_STDLIB_DATA_H

#include <stddef.h>

struct stdlib_file {
    const char *path; /* below stdlib/: "gpus/nvidia-hopper.perf" */
    const char *text; /* `length` bytes, then a NUL */
    size_t length;
};

/* What a file declares at the beginning of a line; quoted names without their quotes. */
struct stdlib_entry {
    const char *kind; /* "gpu" */
    const char *name; /* "h100-sxm" */
    size_t file;      /* index into stdlib_files() */
};

/* Every file, sorted by path. */
const struct stdlib_file *stdlib_files(size_t *count);

/* Every top-level declaration, sorted by kind, then name, then file, in byte order: only the files that
 * declare what a plan names need to be parsed. */
const struct stdlib_entry *stdlib_index(size_t *count);

#endif
