/* modules.h: the matrices of a layer with their sizes and the names that checkpoints give them, so that
 * exceptions of a quantisation ("everything but lm_head and self_attn") can be applied exactly. */
#ifndef PERFC_IMPORT_MODULES_H
#define PERFC_IMPORT_MODULES_H

#include "import/architecture.h"

struct matrix {
    enum tensor_class class;
    const char *name; /* below the class's module: "q_proj" */
    double count;     /* elements, of all experts together */
};

enum { MATRICES_MAX = 24 };

/* The matrices of one layer; returns how many. */
size_t layer_matrices(const struct layer *layer, double hidden, struct matrix matrices[MATRICES_MAX]);

/* Head size of values. */
double layer_v_dim(const struct layer *layer);

/* What a family calls the modules of a layer, below "layers.N.". */
struct module_names {
    const char *attention, *linear, *mamba, *ffn, *experts, *shared, *router;
};

#endif
