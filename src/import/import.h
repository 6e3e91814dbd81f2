/* import.h: model files that others wrote (a Hugging Face config.json, the header of a safetensors or GGUF
 * file) as a `model` declaration in the language itself, so that what was imported can be read, kept and
 * edited like anything else. */
#ifndef PERFC_IMPORT_IMPORT_H
#define PERFC_IMPORT_IMPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "source/source.h"

struct arena;
struct diags;

struct import_options {
    bool assume_dense; /* read an unknown family as a plain decoder with the usual keys */
    struct span cause; /* the import statement, for diagnostics; `end` 0: the command line */
};

struct imported {
    const char *path; /* of the file it came from */
    const char *text; /* one model, after the formats it needs */
    size_t length;
};

/* Whether an import of this file name is one of a model file. */
bool import_is_model_file(const char *path);

/* Reads the file at `path` and fills `imported`. False after at least one error in `diags`; files that a
 * diagnostic shows are added to `sources`. Of binary files only the header is read. */
bool import_model(struct arena *arena, struct sources *sources, struct diags *diags, const char *path,
                  const struct import_options *options, struct imported *imported);

/* The same for bytes that are in memory already, as fuzzers have them; the kind follows from `path`. Nothing
 * beside the file is looked at. */
bool import_model_bytes(struct arena *arena, struct sources *sources, struct diags *diags, const char *path,
                        const char *bytes, size_t length, const struct import_options *options,
                        struct imported *imported);

#endif
