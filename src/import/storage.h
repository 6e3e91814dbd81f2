/* storage.h: storage formats by what a configuration says about them. */
#ifndef PERFC_IMPORT_STORAGE_H
#define PERFC_IMPORT_STORAGE_H

#include "import/architecture.h"

/* A format of the standard library, by its name there; NULL when it has none of this name that imports use.
 */
const struct storage *storage_standard(const char *name);

/* A format that the output declares, once per name in a model. */
const struct storage *storage_declare(struct arena *arena, struct architecture *model,
                                      struct storage storage);

/* A mixture: `bytes` in all for `elements`, named after the class. `like` says how it is computed. */
const struct storage *storage_mix(struct arena *arena, struct architecture *model, const char *class_word,
                                  double bytes, double elements, const struct storage *like);

#endif
