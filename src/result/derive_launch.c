/* derive_launch.c: what one launch of an operation computes and moves, as products of its sizes. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "result/derive_sheet.h"

/* docs/calibration.md section 2.3; activations are in 16 bits. */
static const struct {
    const char *work, *weights, *cache, *activations;
} products[PM_OP_KINDS] = {
    [PM_PRODUCT] = {"2 FLOP * rows * matrix", "matrix * bits * 1 B / 8", NULL, "2 B * rows * columns"},
    [PM_EXPERTS] = {"2 FLOP * rows * matrix", "experts_read * matrix * bits * 1 B / 8", NULL,
                    "2 B * rows * columns"},
    [PM_DECODE_ATTENTION] = {"2 FLOP * tokens * attended * heads * width", NULL,
                             "sequences * attended * token_bytes", "2 B * tokens * heads * width"},
    [PM_PROMPT_ATTENTION] = {"2 FLOP * pairs * heads * width", NULL, "(prompt_tokens + cached) * token_bytes",
                             "2 B * prompt_tokens * heads * width"},
    [PM_PROMPT_LATENT] = {"2 FLOP * pairs * heads * width", NULL, "cached * token_bytes",
                          "4 B * prompt_tokens * heads * width"},
    [PM_DECODE_INDEX] = {"2 FLOP * tokens * attended * heads * width", NULL,
                         "sequences * attended * token_bytes", NULL},
    [PM_PROMPT_INDEX] = {"2 FLOP * pairs * heads * width", NULL, "(prompt_tokens + cached) * token_bytes",
                         NULL},
    [PM_STATE_UPDATE] = {"6 FLOP * values * tokens", NULL, "state_bytes * passes", "4 B * tokens * passing"},
};

#define SIZE(name) offsetof(struct pm_op_sizes, name)
static const struct {
    const char *name;
    size_t offset;
    const char *unit, *doc;
} sizes[] = {
    {"rows", SIZE(rows), "1", "Tokens that pass the matrix; of experts, one for each that a token chooses."},
    {"matrix", SIZE(matrix), "1", "Values of the matrix on this GPU; of experts, of one."},
    {"columns", SIZE(columns), "1", "Of the activations, in and out."},
    {"bits", SIZE(bits), "1", "Of one value, scales included."},
    {"experts_read", SIZE(experts), "1", "On this GPU, that some token chooses."},
    {"heads", SIZE(heads), "1", "On this GPU."},
    {"width", SIZE(width), "1", "Of a key and a value."},
    {"tokens", SIZE(tokens), "1", "Of the sequences that decode."},
    {"sequences", SIZE(sequences), "1", "That decode."},
    {"attended", SIZE(attended), "1", "Tokens that each of them reads, after windows, in the mean."},
    {"prompt_tokens", SIZE(prompt), "1", "Of the prompts in the step."},
    {"cached", SIZE(cached), "1", "Tokens before them that they read."},
    {"pairs", SIZE(pairs), "1", "Of tokens, one of which attends to the other."},
    {"token_bytes", SIZE(token_bytes), "B", "Of a cached token of a block, on this GPU."},
    {"values", SIZE(values), "1", "Of the state, on this GPU."},
    {"passing", SIZE(passing), "1", "Columns that pass it."},
    {"state_bytes", SIZE(state_bytes), "B", "To read and write it."},
    {"passes", SIZE(passes), "1", "One a sequence, and one for 64 tokens of a prompt."},
};

/* The sides of a matrix, where it has two. */
static void add_sides(struct sheet *sheet, struct derive_node *part, const struct pm_op_sizes *launch,
                      bool of_matrix)
{
    double outer = launch->columns - launch->inner;
    if (!(launch->inner > 0) || fabs(launch->inner * outer - launch->matrix) > 1e-9 * launch->matrix)
        return;
    sheet_part(sheet, part, "inner", launch->inner, "1", "Columns in, on this GPU.");
    sheet_part(sheet, part, "outer", outer, "1", "Columns out, on this GPU.");
    sheet_formula(part, of_matrix ? "inner * outer" : "inner + outer");
}

static void fill(struct sheet *sheet, struct derive_node *node, const struct pm_op_sizes *launch,
                 const char *formula)
{
    if (!formula)
        return;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (!sheet_names(formula, sizes[i].name))
            continue;
        double value = *(const double *)((const char *)launch + sizes[i].offset);
        struct derive_node *part = sheet_part(sheet, node, sizes[i].name, value, sizes[i].unit, sizes[i].doc);
        if (sizes[i].offset == SIZE(matrix) || sizes[i].offset == SIZE(columns))
            add_sides(sheet, part, launch, sizes[i].offset == SIZE(matrix));
    }
    sheet_formula(node, formula);
}

void add_work(struct sheet *sheet, struct derive_node *node, const struct pm_op *op)
{
    fill(sheet, sheet_part(sheet, node, "work", op->work, "FLOP", "Work of one launch."), &op->sizes,
         products[op->sizes.kind].work);
}

/* What a launch moves, by kind. */
struct moved {
    const char *name;
    double bytes;
    const char *formula;
};
enum { MOVED_KINDS = 3 };

static void moved_by(const struct pm_op *op, struct moved kinds[MOVED_KINDS])
{
    enum pm_op_kind kind = op->sizes.kind;
    kinds[0] = (struct moved){"weights", op->weight_bytes, products[kind].weights};
    kinds[1] = (struct moved){"cache", op->kv_bytes, products[kind].cache};
    kinds[2] = (struct moved){"activations", op->activation_bytes, products[kind].activations};
}

static void fill_bytes(struct sheet *sheet, struct derive_node *node, const struct pm_op *op)
{
    struct moved kinds[MOVED_KINDS];
    struct buffer sum = buffer_in(sheet->arena);
    moved_by(op, kinds);
    for (size_t i = 0; i < MOVED_KINDS; i++) {
        if (!(kinds[i].bytes > 0))
            continue;
        struct derive_node *part = sheet_part(sheet, node, kinds[i].name, kinds[i].bytes, "B", NULL);
        fill(sheet, part, &op->sizes, kinds[i].formula);
        sheet_plus(&sum, part->name);
    }
    if (sum.length > 0)
        sheet_formula(node, buffer_string(&sum));
}

void add_bytes(struct sheet *sheet, struct derive_node *node, const struct pm_op *op)
{
    fill_bytes(sheet,
               sheet_part(sheet, node, "bytes", operation_bytes(op), "B",
                          "Weights, cache and activations of one launch."),
               op);
}

struct derive_node *add_moved(struct sheet *sheet, struct derive_node *node, const struct pm_op *op,
                              const char *kind)
{
    struct moved kinds[MOVED_KINDS], of = {.bytes = operation_bytes(op)};
    moved_by(op, kinds);
    for (size_t i = 0; kind && i < MOVED_KINDS; i++)
        if (strcmp(kinds[i].name, kind) == 0)
            of = kinds[i];
    if (!(of.bytes > 0))
        return NULL;
    struct derive_node *part =
        sheet_part(sheet, node, operation_name(sheet->arena, op->name), of.bytes, "B", "One launch.");
    if (kind)
        fill(sheet, part, &op->sizes, of.formula);
    else
        fill_bytes(sheet, part, op);
    return part;
}
