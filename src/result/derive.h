/* derive.h: how a figure was made, step by step, from the formulas of the table of quantities. */
#ifndef PERFC_RESULT_DERIVE_H
#define PERFC_RESULT_DERIVE_H

#include "result/evaluate.h"
#include "result/report.h"

/* One step for a quantity of `decl`: formula, formula with values in place of names, value. */
struct derivation_step derive_step(struct evaluator *evaluator, struct decl *decl, enum quantity quantity);

/* The derivation of a scenario's main figures (weights, cache, fit, work, traffic, ceiling, expected time
 * per token, time to first token, throughput, largest batch, cost), those that exist. */
void derive_main(struct evaluator *evaluator, struct decl *scenario, struct derivation *out);

/* What a name in a formula of `decl` means, for substitution and tests: a quantity, an attribute, or an
 * attribute or quantity of what it refers to ("gpu.bandwidth", "model.params"). False when it is no name
 * of this declaration. */
bool derive_lookup(struct evaluator *evaluator, struct decl *decl, const char *path,
                   struct report_quantity *value, struct dim *dim);

/* ---- as a tree ------------------------------------------------------------------------------------- */

/* Where an input comes from. */
struct derive_origin {
    enum origin origin;
    const char *file; /* where it was written; NULL for defaults and the command line */
    unsigned line;
    const char *owner;               /* the declaration in which it was written, or NULL */
    const char *source, *confidence; /* or NULL */
    const char *reason;              /* of a default, or NULL */
};

/* A value and what it was made from. */
struct derive_node {
    const char *name;             /* as the formula above it reads it: "gpu.bandwidth" */
    const char *full;             /* the same from anywhere: "h100-sxm.bandwidth"; NULL for parts of a step */
    const char *label;            /* "Time per token"; NULL for inputs */
    const char *doc;              /* one sentence, or NULL */
    struct report_quantity value; /* in SI; its unit is that of `exact` */
    const char *text;             /* for people: "8.57 ms"; the reason when it does not exist */
    const char *exact;            /* "0.00857 s", or NULL when it is no number */
    const char *was;              /* `text` of the tree it was compared with, where that differs; else NULL */
    const char *formula;          /* an expression of the language over the names of `inputs`, or NULL */
    const char *shown;            /* the formula for people */
    const char *substituted;      /* and with values in place of names */
    const char *source;           /* of the formula, or of how it is computed without one; NULL for inputs */
    bool is_input;                /* an attribute; `origin` says whence */
    struct derive_origin origin;
    bool above;                       /* it stands earlier in the tree, with its inputs */
    bool part;                        /* an operation of a step or a number of one: fits a line */
    VEC(struct derive_node *) inputs; /* in the order in which the formula reads them, each once */
};

/* The derivation of one quantity down to attributes: a formula for all that exists, whose arithmetic over the
 * values that stand below it gives the value. */
struct derive_node *derive_tree(struct evaluator *evaluator, struct decl *decl, enum quantity quantity);

/* The same with the other quantities that its formula reads as they are, not taken apart in their turn. */
struct derive_node *derive_line(struct evaluator *evaluator, struct decl *decl, enum quantity quantity);

/* Marks in `tree` what differs from the same derivation under other settings. */
void derive_compare(struct arena *arena, struct derive_node *tree, const struct derive_node *other);

#endif
