/* bind.h: from declarations to the numbers that libperfmodel computes with.
 *
 * Cards, engines and formats are bound once per declaration; a model once, and again for every
 * scenario that overrides its formats. Everything lives in the plan's arena. */
#ifndef PERFC_RESULT_BIND_H
#define PERFC_RESULT_BIND_H

#include <stdbool.h>

#include "model/perfmodel.h"
#include "sema/plan.h"

/* Tensor classes whose storage format can be chosen (model.md section 1). */
enum weight_class {
    CLASS_ATTENTION,
    CLASS_FFN,
    CLASS_EXPERTS,
    CLASS_SHARED, /* follow `weights` */
    CLASS_ROUTER,
    CLASS_EMBEDDING,
    CLASS_HEAD,
    CLASS_NORMS, /* at least 16 bits unless declared */
    CLASS_COUNT
};

/* A model with the formats one scenario stores it in. */
struct bound_model {
    struct decl *decl;
    struct pm_model model;
    struct decl *formats[CLASS_COUNT]; /* of the first block; a block may declare others */
    bool declared[CLASS_COUNT];        /* written for that class, not taken from `weights` */
    struct decl *weights;              /* what `weights` came to */
    struct decl *kv_cache;
    struct pm_params params;   /* in the model's own formats */
    double derived_params;     /* from the architecture; 0 when it is not complete */
    double declared_params;    /* what `params` says, whatever the architecture says; 0: nothing */
    bool complete;             /* the architecture gives a parameter count */
    struct decl **block_decls; /* of model.blocks; the model itself for the short form */
};

struct bound_gpu {
    struct decl *decl, *system; /* system: NULL unless the scenario names one */
    struct pm_gpu gpu;
    enum dim_base currency; /* of the price; usd when there is none */
};

/* Bound cards, models, engines and formats, by declaration. */
struct binder;

/* One scenario, resolved. */
struct binding {
    struct binder *binder;
    struct decl *scenario;
    const struct bound_model *model;
    const struct bound_gpu *gpu;
    struct decl *engine; /* its declaration; `typical` when none is named */
    bool engine_named;
    struct pm_engine engine_values; /* with the scenario's own overhead */
    bool own_overhead;              /* the scenario says `overhead` itself */
    struct pm_case input;
};

/* Which attribute is being read, so that a cycle through a quantity can be reported at the attribute that
 * closes it. */
struct bind_cursor {
    struct decl *decl;
    enum attribute attribute;
};

struct binder *binder_new(struct plan *plan);

/* Binds a scenario into *out. False: some input is missing or in error, which was reported; when `quiet`,
 * nothing is reported and *why says what is wrong. *why is NULL where only the report was made. */
bool bind_scenario(struct binder *binder, struct decl *scenario, bool quiet, struct bind_cursor *cursor,
                   struct binding *out, const char **why);

/* A model on its own, in its own formats; NULL when something is missing. */
const struct bound_model *bind_model(struct binder *binder, struct decl *model, bool quiet, const char **why);

/* A card on its own; NULL when something is missing. */
const struct bound_gpu *bind_gpu(struct binder *binder, struct decl *gpu, bool quiet, const char **why);

/* A format; sixteen bits of bf16 for NULL. */
struct pm_format bind_format(struct binder *binder, struct decl *format);

/* "fp8", the words of pm_compute, and back (PM_COMPUTE_COUNT when it is none). */
const char *compute_name(enum pm_compute compute);
enum pm_compute compute_from_name(const char *name);

/* The attribute that declares the format of a class. */
enum attribute class_attribute(enum weight_class class);

#endif
