/* quantization.h: what a configuration says about the storage of its weights, between quantization.c, which
 * reads it, and quantization_apply.c, which applies it to each matrix. */
#ifndef PERFC_IMPORT_QUANTIZATION_H
#define PERFC_IMPORT_QUANTIZATION_H

#include "import/config.h"
#include "import/pattern.h"

struct quantization {
    struct config *config;
    const struct json_file *json;
    const char *place[3]; /* keys down to the object */
    json_t *object;
    const struct storage *usual; /* of a linear layer that no list names; NULL: not quantised */
    bool experts_only, head_too;
    struct patterns *kept;   /* not quantised */
    struct patterns *chosen; /* formats of named modules */
};

/* Gives each class of each layer, and the head, the storage of its matrices. */
void quantization_apply(const struct quantization *quantization);

#endif
