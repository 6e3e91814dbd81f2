/* derive_sheet.h: worksheets, the derivations of what no line of the table says: a figure as parts that have
 * names, values and formulas of their own. A formula stays only if its arithmetic gives the value. */
#ifndef PERFC_RESULT_DERIVE_SHEET_H
#define PERFC_RESULT_DERIVE_SHEET_H

#include "result/derive_internal.h"

struct buffer;
struct tree_job;

/* What a figure is computed from. */
struct sheet {
    struct tree_job *job;
    struct evaluator *evaluator;
    struct arena *arena;
    struct decl *decl;                   /* whose figure it is */
    const struct evaluation *evaluation; /* of a scenario, or NULL */
    const struct pm_case *input;         /* of a scenario, or NULL */
    const struct pm_result *result;
    const struct bound_model *model; /* of a scenario or a model, or NULL */
    const struct pm_params *params;
    double value; /* the figure itself */
    bool binary;  /* about memory, which is told in GiB */
};

/* A new part of `parent`, under that name or one like it that is free. */
struct derive_node *sheet_part(struct sheet *sheet, struct derive_node *parent, const char *name,
                               double value, const char *unit, const char *doc);

/* Gives a node its formula. Names in it are parts of the node, else what they are in the declaration. */
void sheet_formula(struct derive_node *node, const char *text);
void sheet_printf(struct sheet *sheet, struct derive_node *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether the formula has the name, whole. */
bool sheet_names(const char *formula, const char *name);

/* Gives a node a formula that counts parameters: in sheet_scale() where there is one. */
void sheet_scaled_formula(struct sheet *sheet, struct derive_node *node, const char *text);

/* Adds a term to a formula that is a sum; one without terms is empty. */
void sheet_plus(struct buffer *sum, const char *term);

/* Whether the plan declares a total of parameters besides an architecture that gives another count, so that
 * all counts are in that proportion; and whether it declares a total and no more of the blocks than
 * attention, so that all else is other. */
bool sheet_is_scaled(const struct sheet *sheet);
bool sheet_is_total(const struct sheet *sheet);

/* That proportion; 1 where there is none. */
double sheet_scale(const struct sheet *sheet);

/* " * declared_params / counted_params" for a formula, with both as parts of `node`; "" where there is none.
 */
const char *sheet_scale_parts(struct sheet *sheet, struct derive_node *node);

/* An attribute of a declaration as part of a node, if it says this number: with the place where it was set.
 * Else a part without one. */
void sheet_attribute(struct sheet *sheet, struct derive_node *parent, struct decl *decl, const char *path,
                     const char *name, double value, const char *unit);

/* The worksheet of a quantity: fills in the node's formula and parts. False: there is none for this case. */
bool sheet_fill(struct sheet *sheet, enum quantity quantity, struct derive_node *node);

/* One after the other: those of models, weights, ceilings, steps, memory and service; false: not theirs. */
bool sheet_of_model(struct sheet *sheet, enum quantity quantity, struct derive_node *node);
bool sheet_of_weights(struct sheet *sheet, enum quantity quantity, struct derive_node *node);
bool sheet_of_cache(struct sheet *sheet, enum quantity quantity, struct derive_node *node);
bool sheet_of_ceiling(struct sheet *sheet, enum quantity quantity, struct derive_node *node);
bool sheet_of_products(struct sheet *sheet, enum quantity quantity, struct derive_node *node);
bool sheet_of_steps(struct sheet *sheet, enum quantity quantity, struct derive_node *node);
bool sheet_of_ideal_steps(struct sheet *sheet, enum quantity quantity, struct derive_node *node);
bool sheet_of_service(struct sheet *sheet, enum quantity quantity, struct derive_node *node);
bool sheet_of_solution(struct sheet *sheet, enum quantity quantity, struct derive_node *node);
bool sheet_of_words(struct sheet *sheet, enum quantity quantity, struct derive_node *node);

/* ---- blocks of a model (derive_block.c) ------------------------------------------------------------- */

/* How GPUs of a tensor-parallel group share matrices; vectors are on each of them, in a format of their own.
 */
enum matrix_share { SHARE_SPLIT, SHARE_WHOLE, SHARE_BY_HEADS, SHARE_VECTOR, SHARE_COUNT };

/* The terms of one block's parameters of a class, by how they are shared: sums over the names of
 * block_names(), or NULL where there are none. Of experts: those of one expert. */
struct block_terms {
    const char *by_share[SHARE_COUNT];
};
struct block_terms block_terms(struct arena *arena, const struct pm_block *block, size_t weight_class);

/* "local", "block": what parts of the i-th kind of blocks are called by. */
const char *block_name(struct sheet *sheet, size_t index);

/* The name of the number of blocks of a kind, which becomes a part of `node`. */
const char *block_count(struct sheet *sheet, struct derive_node *node, size_t index);

/* Makes parts of `node` of the sizes of a block that its formula names. */
void block_sizes(struct sheet *sheet, struct derive_node *node, size_t index);

/* The model with nothing but one block of this kind. */
struct pm_model block_alone(const struct pm_model *model, size_t index, struct pm_block *block);

extern const char *const weight_class_names[PM_CLASSES_OF_WEIGHTS]; /* "attention" */

/* The case with this block in place of the model, on a card that holds all that runs (derive_ceiling.c). */
void block_evaluate(const struct sheet *sheet, const struct pm_block *block, struct pm_result *out);

/* ---- operations of a step (derive_operation.c) ------------------------------------------------------- */

/* One step and its operations. */
struct priced {
    struct pm_step_part part;
    struct pm_op *ops;
    size_t count;
};

/* The `index`-th step of a kind; false: there is none. */
bool price_step(struct sheet *sheet, enum pm_step_kind kind, size_t index, struct priced *out);

/* "QKV projection" as a name in a formula. */
const char *operation_name(struct arena *arena, const char *text);

/* Bytes of one launch. */
double operation_bytes(const struct pm_op *op);

/* Kernels that one launch stands for, by the time that every one of them takes. */
double operation_kernels(const struct sheet *sheet, const struct pm_op *op);

/* Make parts of `node` of what a step waits for: operations that are bound by this, or what launches take.
 * Their times are added to the sum that is its formula. */
void add_operations(struct sheet *sheet, struct derive_node *node, struct buffer *sum,
                    const struct priced *step, enum pm_bound bound);
void add_fixed(struct sheet *sheet, struct derive_node *node, struct buffer *sum, const struct priced *step);

/* ---- rates of operations (derive_rate.c) ------------------------------------------------------------- */

/* Give a part that is the bandwidth of an operation, or a rate of matrix products or of attention, its
 * formula, where declared figures make it. */
void rate_of_bandwidth(struct sheet *sheet, struct derive_node *part, const struct pm_op *op);
/* The same of a product whose weights are read more slowly, being multiplied in 4 bits. */
void bandwidth_of_narrow(struct sheet *sheet, struct derive_node *part, const struct pm_op *op);
void rate_of_matrices(struct sheet *sheet, struct derive_node *part);

/* ---- one launch (derive_launch.c) ------------------------------------------------------------------- */

/* What a launch computes, and the bytes it moves, as parts `work` and `bytes` of a node: products of its
 * sizes. */
void add_work(struct sheet *sheet, struct derive_node *node, const struct pm_op *op);
void add_bytes(struct sheet *sheet, struct derive_node *node, const struct pm_op *op);

/* The bytes of a launch as a part that has the operation's name: its `weights`, its `cache`, or (NULL) all.
 * NULL: it moves none. */
struct derive_node *add_moved(struct sheet *sheet, struct derive_node *node, const struct pm_op *op,
                              const char *kind);

/* ---- exchanges between GPUs (derive_exchange.c) ------------------------------------------------------ */

/* Makes parts of `node` of the exchanges of a step, and adds their times to the sum that is its formula. */
void add_exchanges(struct sheet *sheet, struct derive_node *node, struct buffer *sum,
                   const struct pm_step_part *step);

/* ---- arithmetic (derive_arithmetic.c) --------------------------------------------------------------- */

/* Whether the formula of a node gives its value from its inputs, to 1e-9: units are those of SI, so numbers
 * alone decide. Words and truths are given by a condition. */
bool derive_reproduces(const struct derive_node *node);

#endif
