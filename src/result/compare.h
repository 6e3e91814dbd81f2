/* compare.h: scenarios against the first. */
#ifndef PERFC_RESULT_COMPARE_H
#define PERFC_RESULT_COMPARE_H

#include "result/evaluate.h"

enum change { CHANGE_NONE, CHANGE_SAME, CHANGE_BETTER, CHANGE_WORSE, CHANGE_NEUTRAL };

/* One figure of one scenario. */
struct compared_cell {
    struct report_quantity quantity;
    double difference; /* relative to the first: 0.22 is 22 % more; valid when has_difference */
    bool has_difference;
    enum change change; /* NONE: the first itself, or not comparable */
    bool best;          /* strictly best of its row, or shared by not all; never in a neutral row */
};

struct compared_row {
    const struct quantity_info *row;
    struct dim dim;
    struct compared_cell *cells; /* one for each scenario */
};

struct compared {
    const struct comparison *comparison;
    struct compared_row *rows; /* figures that exist for at least one scenario */
    size_t row_count;
};

/* The figures that people decide by, in the order they are read. */
const enum quantity *compare_figures(size_t *count);

/* Whether two values are the same but for rounding. */
bool compare_equal(const struct report_quantity *a, const struct report_quantity *b);

/* The comparison over the figures that people decide by. */
void compare_evaluate(struct evaluator *evaluator, const struct comparison *comparison, struct compared *out);

#endif
