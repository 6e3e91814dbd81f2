/* storage.h: storage formats by what a configuration says about them. */
#ifndef PERFC_IMPORT_STORAGE_H
#define PERFC_IMPORT_STORAGE_H

#include "import/architecture.h"

/* A format of the standard library, by its name there; NULL when it has none of this name that imports use.
 */
const struct storage *storage_standard(const char *name);

/* Formats a model may declare: some mixtures of each class in each of some hundred layers. */
enum { DECLARED_MAX = 512 };

/* A format that the output declares, once per name in a model. NULL when there are DECLARED_MAX already. */
const struct storage *storage_declare(struct arena *arena, struct architecture *model,
                                      struct storage storage);

/* A mixture: `bytes` in all for `elements`, named after the class. `like` says how it is computed. NULL as
 * above. */
const struct storage *storage_mix(struct arena *arena, struct architecture *model, const char *class_word,
                                  double bytes, double elements, const struct storage *like);

#endif
