/* bind_internal.h: what the files that bind declarations share. */
#ifndef PERFC_RESULT_BIND_INTERNAL_H
#define PERFC_RESULT_BIND_INTERNAL_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "result/bind.h"
#include "source/diag.h"

/* A model in the formats that some scenario chose; NULL where it leaves a class as it is. */
struct stored_model {
    const struct bound_model *own, *stored;
    struct decl *weights, *kv_cache, *classes[CLASS_COUNT];
};

struct binder {
    struct plan *plan;
    struct arena *arena;
    struct map *formats, *gpus, *systems, *models, *engines; /* by declaration */
    struct map *told_effects; /* models whose attributes without effect were warned about */
    struct map *told_peaks;   /* by card: formats without a peak that were warned about */
    struct decl *bf16;        /* what stands where nothing is declared */
    VEC(struct stored_model) stored;
};

/* One binding in progress: how its errors are told. */
struct bind_job {
    struct binder *binder;
    struct decl *scenario;      /* for whom; NULL when a declaration is bound on its own */
    struct bind_cursor *cursor; /* or NULL */
    bool quiet;
    bool failed;
    const char *why; /* the first error, when quiet */
};

/* Reports an error at a place of the plan (or keeps it as the reason, when quiet). Returns the diagnostic
 * for notes, NULL when quiet. */
struct diag *bind_error(struct bind_job *job, enum diag_code code, struct span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Reports that `decl` lacks an attribute that the job needs. */
void bind_missing(struct bind_job *job, struct decl *decl, const char *what);

/* A job for a declaration that many scenarios share: its failure is its own, and kept with its result. */
struct bind_job bind_apart(const struct bind_job *job);

/* Whether what came out of such a job is to be kept: what a sweep point, which is quiet, found missing must
 * still be reported by a scenario. */
bool bind_keeps(const struct bind_job *job, const struct bind_job *own);

/* Makes the job fail for the reason for which a shared declaration did. */
void bind_fail(struct bind_job *job, const char *why);

/* Attributes of one declaration, with the cursor kept. */
const struct setting *bind_setting(struct bind_job *job, struct decl *decl, enum attribute attribute);
double bind_number(struct bind_job *job, struct decl *decl, enum attribute attribute, double fallback);
bool bind_bool(struct bind_job *job, struct decl *decl, enum attribute attribute, bool fallback);
struct decl *bind_ref(struct bind_job *job, struct decl *decl, enum attribute attribute);

/* True, and the job failed, when an error was reported inside the declaration. */
bool bind_poisoned(struct bind_job *job, const struct decl *decl);

/* A table keyed by declarations. */
void *decl_map_get(const struct map *map, const struct decl *decl);
void decl_map_put(struct map *map, const struct decl *decl, void *value);

const struct bound_gpu *bind_hardware(struct bind_job *job, struct decl *gpu, struct decl *system);
const struct pm_engine *bind_engine(struct bind_job *job, struct decl *engine);
const struct bound_model *bind_architecture(struct bind_job *job, struct decl *model);

/* Sets the formats that the model and its blocks declare. */
void bind_own_formats(struct bind_job *job, struct bound_model *bound, struct pm_block *blocks);

/* The model in the formats that the scenario chooses; the model itself when it chooses none. */
const struct bound_model *bind_formats(struct bind_job *job, const struct bound_model *model);

#endif
