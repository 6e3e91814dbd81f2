/* layer_groups.h: the layers of an architecture as groups of equal ones, and what all of them share. */
#ifndef PERFC_IMPORT_LAYER_GROUPS_H
#define PERFC_IMPORT_LAYER_GROUPS_H

#include "import/architecture.h"

enum { GROUPS_MAX = 128 };

struct layer_group {
    struct layer layer; /* without what follows from the rest */
    struct layer whole;
    size_t count;
    const char *name; /* of its block */
};

struct layer_groups {
    const struct architecture *model;
    struct layer_group *items;
    size_t count;
    bool shared[LAYER_FIELD_COUNT]; /* the same in every group */
    bool agreed[TENSORS_OF_LAYERS]; /* every group that has the class stores it the same way */
    const struct storage *class_storage[TENSORS_OF_LAYERS];
    bool present[TENSORS_OF_LAYERS];
    const struct storage *weights; /* what `weights` says */
};

/* Groups in the order of their first layers. Past GROUPS_MAX there is one more, and the compiler says that
 * there are too many. */
struct layer_groups layer_groups_of(struct arena *arena, const struct architecture *model);

/* Which classes a layer has, and how many elements. */
void layer_classes(const struct architecture *model, const struct layer *layer, bool has[TENSORS_OF_LAYERS],
                   double elements[TENSORS_OF_LAYERS]);

/* The storage of a class, the model's own where the layer says nothing. */
const struct storage *layer_stored(const struct architecture *model, const struct layer *layer, size_t class);

#endif
