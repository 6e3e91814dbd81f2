/* gguf.h: model files of llama.cpp. Only the header is read. */
#ifndef PERFC_IMPORT_GGUF_H
#define PERFC_IMPORT_GGUF_H

#include "import/inventory.h"

bool gguf_read_file(struct import_job *job, struct architecture *model);
bool gguf_read_bytes(struct import_job *job, const char *bytes, size_t length, struct architecture *model);

/* ---- between gguf.c, which reads, and gguf_model.c, which understands ---- */

/* A value of the metadata: a number, a short text, or a list of numbers that is not longer than there can be
 * layers. Other values are passed over. */
struct gguf_value {
    const char *key;
    const char *text;
    double number;
    const double *list;
    size_t count; /* of the list; 0: none */
};

struct gguf_tensor {
    struct tensor tensor;     /* dims as the file has them: fastest first */
    size_t layer;             /* SIZE_MAX: of none */
    const char *rest;         /* the name below its layer */
    struct gguf_tensor *next; /* of the same layer */
};

struct gguf {
    struct import_job *job;
    struct architecture *model;
    VEC(struct gguf_value) values;
    uint64_t list_values;        /* numbers kept of all lists */
    struct gguf_tensor *ends;    /* tensors of no layer */
    struct gguf_tensor **layers; /* LAYERS_MAX lists */
    size_t layer_count;          /* one past the last layer that has a tensor */
};

/* Fills the model. False after an error. */
bool gguf_model(struct gguf *gguf);

#endif
