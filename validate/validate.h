/* validate.h: what the parts of the validation program share. It compiles published measurements into plans,
 * evaluates them through the same layers as perfc, and writes what the predictions are worth. */
#ifndef PERFC_VALIDATE_H
#define PERFC_VALIDATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/vec.h"
#include "result/evaluate.h"

/* ---- csv.c ---------------------------------------------------------------------------------- */

enum { CSV_COLUMNS = 32 };

struct csv_row {
    const char *field[CSV_COLUMNS]; /* "" where the line is shorter */
};

/* A table with a header line; fields may be quoted. */
struct csv {
    struct csv_row header;
    VEC(struct csv_row) rows;
};

/* False when the file cannot be read. */
bool csv_read(struct arena *arena, const char *path, struct csv *out);
/* The field of a column by its name; "" when there is no such column. */
const char *csv_field(const struct csv *csv, const struct csv_row *row, const char *column);
double csv_number(const struct csv *csv, const struct csv_row *row, const char *column);

/* ---- plan.c --------------------------------------------------------------------------------- */

/* Loads, checks and evaluates a plan; errors go to standard error and end the program. */
struct evaluator *plan_of(struct arena *arena, const char *name, const struct buffer *text);
/* One of its scenarios; NULL, with the reason in *why, when it has no result. */
const struct evaluation *evaluation_of(struct evaluator *evaluator, const char *scenario, const char **why);

/* ---- statistics.c --------------------------------------------------------------------------- */

/* One measured value and what was predicted for it. */
struct point {
    const char *id;                      /* of the measurement */
    const char *labels[8];               /* what it can be grouped by; NULL: not */
    double measured, predicted, ceiling; /* in one unit; the ceiling is the best value physics allows */
    double low, high;                    /* the band */
    bool lower_is_better;
};

struct points {
    VEC(struct point) list;
};

struct errors {
    size_t count;
    double median, mean, p90; /* of |predicted / measured - 1| */
    double within_20;         /* shares */
    double bias;              /* median of predicted / measured - 1 */
    double inside;            /* share inside the band */
};

/* Errors of the points whose label at `index` is `label`; of all for NULL. */
struct errors errors_of(struct arena *arena, const struct points *points, int index, const char *label);
void errors_header(struct buffer *out, const char *first);
void errors_row(struct buffer *out, const char *name, const struct errors *errors);
/* A table by the label at `index`, in alphabetical order, or in that of first use. */
void errors_by(struct arena *arena, struct buffer *out, const char *what, const struct points *points,
               int index, bool sorted);
/* The points that are farthest off, at most `most`, worst first. Returns how many. */
size_t worst_points(struct arena *arena, const struct points *points, size_t most,
                    const struct point **worst);
/* Median over groups (labels at `index`) of their median error. */
double median_of_groups(struct arena *arena, const struct points *points, int index);

/* ---- chart.c -------------------------------------------------------------------------------- */

/* Predicted over measured, both logarithmic, as an SVG document; one colour for each label at `index`. */
void chart(struct arena *arena, struct buffer *out, const char *title, const char *unit,
           const struct points *points, int index);

/* ---- page.c --------------------------------------------------------------------------------- */

struct chart_file {
    const char *name; /* as the text calls it */
    const struct buffer *svg;
};

/* The text as one HTML page, with the charts in it. */
void page(struct buffer *out, const struct buffer *text, const struct chart_file *charts, size_t count);

/* ---- recipes.c ------------------------------------------------------------------------------ */

/* Adds the attributes of an engine that a row's published script sets; nothing where it sets none. `out` is
 * empty. */
void recipe_options(const struct csv *csv, const struct csv_row *row, struct buffer *out);
/* All requests of the row had the same lengths. */
bool recipe_equal_lengths(const struct csv *csv, const struct csv_row *row);

/* ---- the chapters --------------------------------------------------------------------------- */

void validate_serving(struct arena *arena, const struct csv *csv, struct buffer *out, struct buffer *svg);
/* Each row as a scenario called after its id, on the engine of this name; NULL: on that of the row. `recipes`:
 * with what published scripts say of its options and lengths. */
struct evaluator *serving_evaluator(struct arena *arena, const struct csv *csv, const char *engine,
                                    bool recipes);
/* What a few measured runs of a deployment tell about its others. */
void validate_calibration(struct arena *arena, const struct csv *csv, struct buffer *out);
void validate_single(struct arena *arena, const struct csv *csv, struct buffer *out, struct buffer *svg);
void validate_allreduce(struct arena *arena, const struct csv *measurements, const struct csv *kernels,
                        struct buffer *out);
/* Parameters against official totals, and a summary of the memory page in `docs`. */
void validate_parameters(struct arena *arena, const char *facts, const char *docs, struct buffer *out);

#endif
