/* import_fixture.h: a model file imported and evaluated, for the tests of src/import. */
#ifndef PERFC_TESTS_IMPORT_FIXTURE_H
#define PERFC_TESTS_IMPORT_FIXTURE_H

#include <stdint.h>

#include "base/buffer.h"
#include "import/import.h"
#include "result_fixture.h"

struct import_run {
    struct arena *arena;
    struct sources *sources;
    struct diags *diags;
    bool known;
    struct imported imported; /* its text is "" when nothing was known */
};

/* Imports the file, or bytes under a name; import_close() frees it. */
struct import_run import_file(const char *path, bool assume_dense);
struct import_run import_bytes(const char *path, const char *bytes, size_t length);
void import_close(struct import_run *run);

/* The first error: its code, message and one-based place; zeros when there is none. */
struct import_error {
    const char *code, *message;
    unsigned line, column;
};
struct import_error import_error(const struct import_run *run);

/* The name of the model in an imported text, owned by `arena`. */
const char *import_model_of(struct arena *arena, const char *text);

/* Appends a little-endian integer. */
void import_add_whole(struct buffer *out, uint64_t value, unsigned bytes);

/* The file must be refused as malformed (E0405) with these words. */
void import_expect_malformed(const char *name, const struct buffer *file, const char *words);

/* A plan that imports the file, and a plan that holds the text. */
struct result_fixture import_evaluate_file(const char *path);
struct result_fixture import_evaluate_text(const char *text);

#endif
