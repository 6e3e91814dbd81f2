/* plan.h: the resolved plan: names bound, inheritance flattened with who set what, SI values.
 *
 * Attributes are evaluated on first use and remembered, so a value may depend on another
 * declaration's, on a `let`, or on a quantity that the result layer computes (`batch =
 * other.max_batch`); a cycle is a diagnostic. An inherited expression is evaluated in the
 * declaration that inherits it. */
#ifndef PERFC_SEMA_PLAN_H
#define PERFC_SEMA_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"
#include "sema/value.h"
#include "source/source.h"

struct arena;
struct diags;
struct expr;
struct sources;
struct stmt;
struct strings;
struct plan;

/* ---- kinds and attributes ----------------------------------------------------------------- */

enum kind {
    KIND_FORMAT,
    KIND_GPU,
    KIND_SYSTEM,
    KIND_MODEL,
    KIND_BLOCK,
    KIND_ENGINE,
    KIND_SCENARIO,
    KIND_SWEEP,
    KIND_MEASURED,
    KIND_REPORT,
    KIND_COUNT
};

/* "gpu", "model", ... */
const char *kind_name(enum kind kind);

/* The kind of this name; KIND_COUNT when there is none. */
enum kind kind_from_name(const char *name);

enum attribute {
#define ATTRIBUTE(scope, id, name, type, unit, minimum, maximum, fallback, detail, doc) ATTR_##id,
#include "sema/attributes.def"
#undef ATTRIBUTE
    ATTR_COUNT
};

enum attribute_type { TYPE_NUMBER, TYPE_COUNT, TYPE_BOOL, TYPE_TEXT, TYPE_WORD, TYPE_REF, TYPE_WORDS };

/* A row of the attribute table. */
struct attribute_info {
    unsigned scope; /* bit (1 << kind) for each kind that takes it */
    const char *name;
    enum attribute_type type;
    const char *unit; /* the dimension, by one of its units */
    double minimum, maximum;
    const char *fallback; /* default, as an expression of the language, or NULL */
    const char *detail;   /* words of a WORD, kind of a REF */
    const char *doc;
};

const struct attribute_info *attribute_info(enum attribute attribute);

/* The attribute of a kind by its dotted name or alias (`concurrency`); ATTR_COUNT when there is none. */
enum attribute attribute_find(enum kind kind, const char *name);

/* ---- declarations ------------------------------------------------------------------------- */

enum origin {
    ORIGIN_PLAN,         /* written in the declaration itself */
    ORIGIN_INHERITED,    /* written in a base, or a block's model */
    ORIGIN_CATALOGUE,    /* written in the standard library */
    ORIGIN_DEFAULT,      /* the attribute table's default */
    ORIGIN_COMMAND_LINE, /* --set */
    ORIGIN_SWEEP,        /* set by a sweep point */
};

/* One attribute of one declaration, evaluated. */
struct setting {
    struct value value; /* the first item */
    enum origin origin;
    struct span span;       /* of the value where it was written; end 0 for defaults */
    struct decl *owner;     /* the declaration in which it was written; NULL for defaults */
    const char *unit;       /* as written ("TFLOPS"), or NULL */
    const char *source;     /* the `source` that covers it, or NULL */
    const char *confidence; /* likewise */
};

struct decl {
    enum kind kind;
    const char *name; /* interned; NULL for a nameless report */
    struct span span; /* of the head, `gpu h100 : base` */
    struct span name_span;
    bool catalogue;       /* from the embedded standard library */
    struct decl *base;    /* or NULL */
    struct decl *parent;  /* of a block: its model */
    struct decl **blocks; /* of a model, own or inherited, in order */
    size_t block_count;
    bool poisoned;            /* an error was reported inside it or a base; nothing may depend on it */
    struct decl_state *state; /* private to semantics */
};

/* The evaluated attribute, or NULL when it is neither set nor has a default (or was in error, which
 * poisons the declaration). Blocks fall back to their model. */
const struct setting *plan_setting(struct plan *plan, struct decl *decl, enum attribute attribute);

/* Shorthands. `fallback` is returned where plan_setting() gives NULL or an error. */
double plan_number(struct plan *plan, struct decl *decl, enum attribute attribute, double fallback);
bool plan_bool(struct plan *plan, struct decl *decl, enum attribute attribute, bool fallback);
const char *plan_text(struct plan *plan, struct decl *decl, enum attribute attribute, const char *fallback);
struct decl *plan_ref(struct plan *plan, struct decl *decl, enum attribute attribute);

/* The names of a WORDS attribute; NULL and *count 0 when it is not set. */
const char *const *plan_words(struct plan *plan, struct decl *decl, enum attribute attribute, size_t *count);

/* Whether it was written anywhere (not a default). */
bool plan_is_set(struct plan *plan, struct decl *decl, enum attribute attribute);

/* A declaration by name, from the plan, its imports or the standard library (loaded on demand);
 * NULL when there is none. No diagnostic. */
struct decl *plan_find(struct plan *plan, enum kind kind, const char *name);

/* A copy of `scenario` with some attributes replaced, for sweep points. */
struct decl *plan_variant(struct plan *plan, struct decl *scenario, const char *name,
                          const enum attribute *attributes, const struct value *values, size_t count);

/* ---- the plan ----------------------------------------------------------------------------- */

/* One swept attribute and its values, in order. */
struct sweep_axis {
    enum attribute attribute;
    struct value *values;
    size_t count;
    const char *unit; /* as written with the first value, or NULL */
};

struct sweep {
    struct decl *decl; /* the sweep itself */
    struct decl *scenario;
    struct sweep_axis *axes; /* one or two */
    size_t axis_count;
    const char **show; /* quantity names relative to the scenario, checked */
    size_t show_count;
};

struct check {
    struct expr *condition;
    const char *message; /* or NULL */
    struct span span;    /* the whole statement */
    const char *text;    /* the condition as written, on one line */
};

struct comparison {
    struct decl **scenarios;
    size_t count;
    struct span span;
};

struct measurement {
    struct decl *decl;
    struct decl *scenario;
    bool variant; /* of the scenario that the plan declares: other load, other formats, a row of a table */
};

struct plan_view {
    const char *path;                /* as named on the command line */
    VEC(struct decl *) scenarios;    /* of the plan and its imports, in source order */
    VEC(struct decl *) declarations; /* everything declared in the plan and its imports */
    VEC(struct sweep) sweeps;
    VEC(struct check) assertions;
    VEC(struct check) guards; /* thresholds for `perfc diff` */
    VEC(struct comparison) comparisons;
    VEC(struct measurement) measurements;
    struct decl *report; /* or NULL */
};

const struct plan_view *plan_view(const struct plan *plan);

/* Everything the standard library declares of a kind, sorted by name: for `perfc list`. */
struct decl **plan_catalogue(struct plan *plan, enum kind kind, size_t *count);

/* How expressions read quantities (`chat.tpot`): the result layer provides this. Returns false when
 * there is no such quantity; else fills *value (VALUE_ABSENT with a reason, or VALUE_ERROR for a
 * poisoned declaration, are answers). `path` is the dotted rest of the name, "decode.intensity". */
struct quantity_reader {
    bool (*read)(void *context, struct decl *decl, const char *path, struct value *value);
    /* The candidate nearest to `path` among the quantities of this kind, or NULL. */
    const char *(*suggest)(void *context, enum kind kind, const char *path);
    void *context;
};

/* How a guard reads `old.chat.tpot`: the quantity or attribute `path` of the old report's declaration of the
 * same kind and name. Always answers; VALUE_ABSENT with a reason where the old report has nothing. */
struct old_reader {
    struct value (*read)(void *context, const struct decl *decl, const char *path);
    void *context;
};

struct plan_options {
    const char *const *include_dirs; /* -I */
    size_t include_count;
    const char *const *overrides; /* --set scenario.attr=value */
    size_t override_count;
};

/* Reads the plan file at `path` ("-": standard input) with everything it imports, and binds names. Always
 * returns a plan; errors are in `diags`. When the file itself could not be read, *unreadable is the
 * reason as a clause ("No such file or directory"); else NULL. */
struct plan *plan_load(struct arena *arena, struct strings *strings, struct sources *sources,
                       struct diags *diags, const char *path, struct plan_options options,
                       const char **unreadable);

/* The same for text at hand; `path` names it in messages, and imports start from its directory. */
struct plan *plan_load_text(struct arena *arena, struct strings *strings, struct sources *sources,
                            struct diags *diags, const char *path, const char *text, size_t length,
                            struct plan_options options);

/* A plan that declares nothing: the standard library on its own, for `perfc list` and tests. */
struct plan *plan_empty(struct arena *arena, struct strings *strings, struct sources *sources,
                        struct diags *diags, struct plan_options options);

/* Sets how quantities are read; call before plan_check() and before evaluating any attribute. */
void plan_set_reader(struct plan *plan, struct quantity_reader reader);

/* From here on plan_evaluate() takes `old.` for the old report; without a `read` (outside of a diff) for the
 * plan itself, so that a guard can be checked on its own. NULL ends it. */
void plan_set_old(struct plan *plan, const struct old_reader *reader);

/* Evaluates and checks everything the plan declares, reporting all independent errors. */
void plan_check(struct plan *plan);

/* Evaluates an expression at top level (an assertion, say). Errors go to the diagnostics. */
struct value plan_evaluate(struct plan *plan, const struct expr *expr);

/* The same as if `expr` stood inside `decl`: its attributes come first. Used to check formula texts. */
struct value plan_evaluate_in(struct plan *plan, struct decl *decl, const struct expr *expr);

struct arena *plan_arena(struct plan *plan);
struct diags *plan_diags(struct plan *plan);
struct sources *plan_sources(struct plan *plan);
struct strings *plan_strings(struct plan *plan);

#endif
