/* operation.h: what the steps of a case are made of, as far as its model and layout decide it: operations
 * with their matrices (ops.c) and, at the ceiling, the matrices alone. They are listed once for a case and
 * priced for every step. */
#ifndef PERFMODEL_OPERATION_H
#define PERFMODEL_OPERATION_H

#include "model/perfmodel.h"

/* ---- formats -------------------------------------------------------------------------------- */

/* No model has more formats that are computed differently: pairs of units, "no unit" among them, and those
 * that are widened first. */
enum { PM_FORMATS_MAX = (PM_COMPUTE_COUNT + 1) * (PM_COMPUTE_COUNT + 1) + 1 };

/* The formats of a model that are computed differently. Operations name theirs by its place. */
struct pm_formats {
    const struct pm_format *item[PM_FORMATS_MAX];
    size_t count;
    unsigned char place[PM_FORMATS_MAX]; /* in `item`, from 1, by what they are computed in */
};

/* The place of a format, added where none is alike. */
unsigned char pm_format_place(struct pm_formats *formats, const struct pm_format *format);

/* ---- operations ----------------------------------------------------------------------------- */

/* What the rows of a product are. */
enum pm_rows {
    PM_ROWS_TOKENS,   /* all tokens of a replica */
    PM_ROWS_DECODING, /* those of its decoding sequences */
    PM_ROWS_KEYS,     /* those of prompts, and the cached ones that they read */
    PM_ROWS_LOGITS,   /* those that the next token is wanted of */
    PM_ROWS_TOWER,    /* those that pass the tower */
    PM_ROWS_ALL,      /* tokens of all replicas */
    PM_ROWS_COUNT
};

/* One row of the table in calibration.md section 2.3, on one GPU. */
struct pm_operation {
    const char *name;
    unsigned char kind, rows; /* pm_op_kind, pm_rows */
    unsigned char format;     /* of a product */
    unsigned char memory;     /* pm_bound of memory time: weights, or KV when it reads none */
    bool recurrent;           /* stands for several kernels */
    bool narrow;              /* a product with weights that are multiplied in 4 bits */
    union {
        struct {
            double weights, weight_bytes, columns, inner;
        }; /* product: of the matrix; columns in and out; those in, 0: matrices of which no more is known */
        struct {
            double heads, width, token_bytes;
        }; /* attention, index: of a cached token */
        struct {
            double values, passing, state_bytes;
        }; /* state: numbers in it, columns through it */
    };
};

/* Of one block: latent attention 7 with an index' 5, router, experts and their latent width 5, dense and
 * shared feed-forwards 4, other weights; and at the ends of a model: weights without blocks, head, tower. */
enum { PM_BLOCK_OPERATIONS = 22, PM_END_OPERATIONS = 3 };

struct pm_operations {
    const struct pm_operation *item;
    size_t count;
};

/* ---- at the ceiling ------------------------------------------------------------------------- */

/* Weights that a step reads once and multiplies with each row, of all blocks of a kind. */
struct pm_matrix {
    double weights, bytes;
    unsigned char format, rows;
};

/* Of a block: attention, dense, experts, router, shared. At the ends: head, tower, weights without blocks. */
enum { PM_BLOCK_MATRICES = 5, PM_END_MATRICES = 3 };

#endif
