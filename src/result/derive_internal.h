/* derive_internal.h: what the files of derivations share. */
#ifndef PERFC_RESULT_DERIVE_INTERNAL_H
#define PERFC_RESULT_DERIVE_INTERNAL_H

#include "result/derive.h"

/* A formula's source in the reader's language; titles of papers stay as they are. */
const char *derive_source(struct evaluator *evaluator, const char *source);

/* ---- names ------------------------------------------------------------------------------------------ */

/* A name as formulas write it, with what it could mean looked up in the tables once: "gpu.bandwidth". */
struct formula_name {
    const char *path;
    bool known; /* the rest is filled in, for declarations of `kind` */
    enum kind kind;
    enum attribute attribute;        /* all of it; ATTR_COUNT: none */
    enum attribute reference;        /* what stands before the first dot; ATTR_COUNT: no attribute */
    struct formula_name *rest;       /* what stands behind it, of what the reference leads to */
    const struct quantity_info *row; /* or NULL */
};

/* Where a name ends up: an attribute of a declaration, or a quantity of one. */
struct derive_target {
    struct decl *decl;
    const struct setting *setting; /* NULL: a quantity */
    enum attribute attribute;
    const struct quantity_info *row;
};

/* The same order as in expressions: attributes first, the longest name first, then quantities. */
bool derive_resolve(struct evaluator *evaluator, struct decl *decl, struct formula_name *name,
                    struct derive_target *target);

/* A target's value; false: it has none. `name` is the value's own. */
bool derive_value(struct evaluator *evaluator, const struct derive_target *target, const char *name,
                  struct report_quantity *value, struct dim *dim);

/* ---- formulas --------------------------------------------------------------------------------------- */

struct formula_piece {
    const char *text;
    size_t length;
    struct formula_name *name; /* NULL: anything but a name */
};

struct formula {
    const char *text;                 /* as in the table, and as an expression of the language */
    const char *shown;                /* without factors that only keep dimensions right */
    VEC(struct formula_piece) pieces; /* of `shown` */
};

/* The formula of this text, taken apart on first use and remembered; `text` lives as long as the plan. */
struct formula *derive_formula(struct evaluator *evaluator, const char *text);

/* The formula with values in place of names. */
const char *derive_substitute(struct evaluator *evaluator, struct decl *decl, struct formula *formula);

/* "0.0127 s", the number as it is; NULL when it is none. */
const char *derive_exact(struct arena *arena, const struct report_quantity *value);

/* ---- what formulas do not say ----------------------------------------------------------------------- */

/* The names of quantities and attributes that a quantity without a formula is computed from, separated by
 * blanks, or NULL. */
const char *derive_reads(enum quantity quantity);

/* A formula that holds in this case though not in every one, or NULL; it was evaluated and compared. */
const char *derive_candidate(struct evaluator *evaluator, struct decl *decl, enum quantity quantity,
                             const struct report_quantity *value);

/* Puts values in place of the names of a node's inputs. */
const char *derive_substitute_inputs(struct arena *arena, const struct derive_node *node);

struct tree_job;

/* An attribute as part of a tree, under that name. */
struct derive_node *derive_input(struct tree_job *job, const struct derive_target *target, const char *name);

#endif
