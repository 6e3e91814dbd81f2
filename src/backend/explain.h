/* explain.h: derivations as trees, drawn for `perfc explain`. */
#ifndef PERFC_BACKEND_EXPLAIN_H
#define PERFC_BACKEND_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/language.h"

struct arena;
struct buffer;
struct derive_node;

struct explain_options {
    size_t width;
    bool unicode;
    enum language language;
};

struct explain_format {
    const char *name; /* "text", "md", "json" */
    /* False: out of memory. */
    bool (*emit)(struct arena *arena, struct buffer *out, const struct derive_node *tree,
                 struct explain_options options);
};

/* NULL: there is no such format. */
const struct explain_format *explain_format_find(const char *name);

/* Where an input was set: "plan.perf:12", "inherited from `base`, plan.perf:3", "the catalogue's `h100-sxm`:
 * data sheet (datasheet)", "default: one user unless declared". From `arena`. */
const char *explain_origin(struct arena *arena, enum language language, const struct derive_node *node);

bool explain_json(struct arena *arena, struct buffer *out, const struct derive_node *tree,
                  struct explain_options options);

#endif
