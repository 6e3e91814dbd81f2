/* inventory.h: the tensors of a checkpoint, by class: how many elements and how many bytes. */
#ifndef PERFC_IMPORT_INVENTORY_H
#define PERFC_IMPORT_INVENTORY_H

#include <stdint.h>

#include "import/architecture.h"
#include "import/job.h"

/* Beside the classes of architecture.h. */
enum { TENSORS_TOWER = TENSORS_COUNT, TENSORS_MTP, INVENTORY_CLASSES };

struct tensor {
    const char *name;
    double dims[4]; /* 1 beyond `rank`; slowest first */
    unsigned rank;
    double elements; /* as stored: packed integers count as what they are packed in */
    double bytes;
    const struct storage *storage; /* NULL: packed, or of a type that says nothing */
};

struct inventory_class {
    double elements, bytes, largest;
    const struct storage *storage; /* of the largest tensor */
    bool mixed;                    /* not all are stored like it */
};

struct inventory {
    struct inventory_class classes[INVENTORY_CLASSES];
    size_t tensors;
    double elements, bytes;
};

/* Adds a tensor of a class. */
void inventory_add(struct inventory *inventory, size_t class, const struct tensor *tensor);

/* The class of a tensor by the names of Hugging Face checkpoints; layers from `layers` on are MTP layers.
 * *layer is its layer, or one past the last. */
size_t inventory_class_of(const struct tensor *tensor, size_t layers, size_t *layer);

/* The number after "layers." (or "blk.", "h."), or SIZE_MAX; *rest is what follows it. */
size_t inventory_layer(const char *name, const char **rest);

/* Gives each class of the model the storage that makes its bytes exactly those of the inventory. */
void inventory_apply(struct import_job *job, const struct inventory *inventory, struct architecture *model);

#endif
