/* shapes.h: an architecture from the names and shapes of its tensors. */
#ifndef PERFC_IMPORT_SHAPES_H
#define PERFC_IMPORT_SHAPES_H

#include "import/inventory.h"

struct shapes;

struct shapes *shapes_new(struct arena *arena);
void shapes_add(struct shapes *shapes, const struct tensor *tensor);

/* Fills the model's layers and ends; no layers at all when the names are not those of a llama-like model. How
 * many experts a token uses no shape tells: it is left out. */
void shapes_model(struct shapes *shapes, struct architecture *model);

#endif
