/* run.h: running the built perfc, and looking at files, for the tests of the whole program. */
#ifndef PERFC_TESTS_RUN_H
#define PERFC_TESTS_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/vec.h"

struct run {
    int status; /* exit status; 128 + signal when killed by one; -1 when it took too long */
    const char *out, *err;
    size_t out_length, err_length;
};

struct run_options {
    const char *input; /* for standard input; NULL: empty */
    size_t input_length;
    const char *directory;   /* to run in; NULL: this one */
    const char *stdout_path; /* standard output goes to this file in place of `out`; NULL: captured */
    unsigned timeout;        /* seconds; 0: 60 */
};

/* Runs the program `argv[0]` (found by PATH) and waits for it. The result lives in `arena`. */
struct run run_command(struct arena *arena, const char *const *argv, struct run_options options);

/* Runs perfc with these arguments; the last one is NULL. */
struct run run_perfc(struct arena *arena, struct run_options options, ...);

/* RUN(arena, "check", path): perfc without options. */
#define RUN(arena, ...) run_perfc((arena), (struct run_options){0}, __VA_ARGS__, (const char *)NULL)

/* The binary under test: $PERFC, or the one of this build. */
const char *perfc_path(void);

/* A path below the source tree. */
const char *source_path(struct arena *arena, const char *relative);

/* The whole file, or NULL when it cannot be read. `length` may be NULL. */
char *read_file(struct arena *arena, const char *path, size_t *length);
void write_file(const char *path, const char *text, size_t length);
bool file_exists(const char *path);

struct paths {
    VEC(const char *) list;
};

/* Files below a directory (and its subdirectories) whose names end in `suffix`, sorted. */
struct paths find_files(struct arena *arena, const char *directory, const char *suffix);

/* How many entries a directory has. */
size_t directory_entries(const char *directory);

/* A new empty directory, removed by nobody but the system. */
const char *scratch_directory(struct arena *arena);

/* scratch_directory()/name, with `text` in it. */
const char *scratch_file(struct arena *arena, const char *name, const char *text);

/* The smallest useful plan of the language: one card, one model, one scenario `chat`. */
extern const char smallest_plan[];

/* Asserts that perfc refused: this status, a message that has this part, and nothing on standard output. */
void expect_refused(struct run run, int status, const char *part_of_message);

bool ends_with(const char *text, const char *suffix);

/* Lines of a text, without newlines. */
struct lines {
    VEC(char *) list;
};
struct lines split_lines(struct arena *arena, const char *text);

#endif
