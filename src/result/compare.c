/* compare.c: scenarios side by side, each figure against that of the first. */
#include "result/compare.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "sema/unit.h"

/* The figures people decide by, in the order they are read. */
static const enum quantity figures[] = {
    Q_FITS,
    Q_GPUS,
    Q_TPOT,
    Q_SPEED,
    Q_TTFT,
    Q_LATENCY,
    Q_THROUGHPUT,
    Q_THROUGHPUT_PER_GPU,
    Q_COST_RATE,
    Q_COST_PER_MTOK,
    Q_ENERGY_PER_TOKEN,
    Q_MEMORY_TOTAL,
    Q_MEMORY_FREE,
    Q_MAX_BATCH,
    Q_KV_TOKENS,
    Q_RUNNING,
    Q_DECODE_BOUND,
    Q_DECODE_INTENSITY,
    Q_CEILING_TPOT,
    Q_MFU,
    Q_MBU,
};

enum { FIGURE_COUNT = sizeof figures / sizeof figures[0] };

const enum quantity *compare_figures(size_t *count)
{
    *count = FIGURE_COUNT;
    return figures;
}

/* Differences below this are rounding. */
static const double same = 1e-9;

bool compare_equal(const struct report_quantity *a, const struct report_quantity *b)
{
    if (a->type != b->type)
        return false;
    return a->type == QUANTITY_NUMBER ? fabs(a->value - b->value) <= same * fabs(b->value)
           : a->type == QUANTITY_BOOL ? a->boolean == b->boolean
           : a->type == QUANTITY_TEXT ? strcmp(a->text, b->text) == 0
                                      : true;
}

/* Whether a is better than b: -1 worse, 0 neither, 1 better. */
static int judge(enum quantity_better better, const struct report_quantity *a,
                 const struct report_quantity *b)
{
    if (better == BETTER_NEITHER || a->type != b->type || compare_equal(a, b))
        return 0;
    double left = a->type == QUANTITY_BOOL ? a->boolean : a->value;
    double right = b->type == QUANTITY_BOOL ? b->boolean : b->value;
    if (a->type == QUANTITY_TEXT || a->type == QUANTITY_ABSENT)
        return 0;
    return (left > right) == (better == BETTER_HIGHER) ? 1 : -1;
}

static void against_first(const struct quantity_info *row, const struct report_quantity *first,
                          struct compared_cell *cell)
{
    const struct report_quantity *own = &cell->quantity;
    if (own->type == QUANTITY_ABSENT || first->type == QUANTITY_ABSENT)
        return;
    if (own->type == QUANTITY_NUMBER && first->value != 0) {
        cell->has_difference = true;
        cell->difference = compare_equal(own, first) ? 0 : (own->value - first->value) / fabs(first->value);
    }
    int verdict = judge(row->better, own, first);
    cell->change = compare_equal(own, first) ? CHANGE_SAME
                   : verdict > 0             ? CHANGE_BETTER
                   : verdict < 0             ? CHANGE_WORSE
                                             : CHANGE_NEUTRAL;
}

/* Marks the best cells, unless all that exist are equally good. */
static void mark_best(const struct quantity_info *row, struct compared_cell *cells, size_t count)
{
    size_t best = count;
    bool differ = false;
    for (size_t i = 0; i < count; i++) {
        if (cells[i].quantity.type == QUANTITY_ABSENT)
            continue;
        int verdict = best == count ? 1 : judge(row->better, &cells[i].quantity, &cells[best].quantity);
        differ = differ || (best != count && verdict != 0);
        if (verdict > 0)
            best = i;
    }
    for (size_t i = 0; differ && i < count; i++)
        cells[i].best = compare_equal(&cells[i].quantity, &cells[best].quantity);
}

static bool compare_row(struct evaluator *evaluator, const struct comparison *comparison,
                        enum quantity quantity, struct compared_row *out)
{
    size_t count = comparison->count;
    bool exists = false;
    out->row = quantity_info(quantity);
    out->dim = evaluate_dim(evaluator, comparison->scenarios[0], quantity);
    out->cells = ARENA_ARRAY(plan_arena(evaluator_plan(evaluator)), struct compared_cell, count);
    for (size_t i = 0; i < count; i++) {
        out->cells[i].quantity = evaluate_row(evaluator, comparison->scenarios[i], quantity);
        if (!dim_equal(evaluate_dim(evaluator, comparison->scenarios[i], quantity), out->dim))
            out->cells[i].quantity = (struct report_quantity){.name = out->cells[i].quantity.name,
                                                              .type = QUANTITY_ABSENT,
                                                              .text = "priced in another currency"};
        exists = exists || out->cells[i].quantity.type != QUANTITY_ABSENT;
        if (i > 0)
            against_first(out->row, &out->cells[0].quantity, &out->cells[i]);
    }
    mark_best(out->row, out->cells, count);
    return exists;
}

void compare_evaluate(struct evaluator *evaluator, const struct comparison *comparison, struct compared *out)
{
    *out = (struct compared){
        .comparison = comparison,
        .rows = ARENA_ARRAY(plan_arena(evaluator_plan(evaluator)), struct compared_row, FIGURE_COUNT),
    };
    for (size_t i = 0; i < FIGURE_COUNT; i++)
        if (compare_row(evaluator, comparison, figures[i], &out->rows[out->row_count]))
            out->row_count++;
}
