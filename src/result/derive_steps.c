/* derive_steps.c: worksheets of steps: terms as the operations they are the sum of (derive_operation.c), and
 * what is made of whole steps. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "result/derive_sheet.h"

/* One term of one step. */
static const char *term_of(struct sheet *sheet, struct derive_node *node, const struct priced *step,
                           enum pm_bound bound)
{
    struct buffer sum = buffer_in(sheet->arena);
    if (bound == PM_BOUND_COMMUNICATION)
        add_exchanges(sheet, node, &sum, &step->part);
    else if (bound == PM_BOUND_FIXED)
        add_fixed(sheet, node, &sum, step);
    else
        add_operations(sheet, node, &sum, step, bound);
    return sum.length > 0 ? buffer_string(&sum) : NULL;
}

/* ---- whole steps
 * --------------------------------------------------------------------------------------------- */

static const char *const term_names[] = {
    [PM_BOUND_WEIGHTS] = "weights", [PM_BOUND_KV] = "kv",
    [PM_BOUND_COMPUTE] = "compute", [PM_BOUND_COMMUNICATION] = "communication",
    [PM_BOUND_FIXED] = "fixed",
};

/* A step as the sum of its terms. */
static void fill_step(struct sheet *sheet, struct derive_node *node, const struct priced *step)
{
    struct buffer sum = buffer_in(sheet->arena);
    for (int i = 0; i < PM_BOUND_COUNT; i++) {
        double seconds = step->part.step.term[i];
        if (!(seconds > 0))
            continue;
        struct derive_node *part =
            sheet_part(sheet, node, term_names[i], seconds, "s", "Of the step, by what it waits for.");
        const char *formula = term_of(sheet, part, step, (enum pm_bound)i);
        if (formula)
            sheet_formula(part, formula);
        sheet_plus(&sum, part->name);
    }
    sheet_formula(node, buffer_string(&sum));
}

/* The steps of a prompt, one after the other, without what a pipeline makes of them. */
static const char *steps_of(struct sheet *sheet, struct derive_node *node, enum pm_step_kind kind,
                            double *seconds, double *chunks)
{
    struct buffer sum = buffer_in(sheet->arena);
    struct priced step;
    *seconds = *chunks = 0;
    for (size_t i = 0; price_step(sheet, kind, i, &step); i++) {
        struct derive_node *part = sheet_part(sheet, node, arena_printf(sheet->arena, "step.%zu", i + 1),
                                              step.part.step.time, "s", "A chunk of the prompt.");
        fill_step(sheet, part, &step);
        sheet_plus(&sum, step.part.times > 1
                             ? arena_printf(sheet->arena, "%.17g * %s", step.part.times, part->name)
                             : part->name);
        *seconds += step.part.times * step.part.step.time;
        *chunks += step.part.times;
    }
    return buffer_string(&sum);
}

/* ---- terms of a decode step and of a prompt
 * ------------------------------------------------------------------- */

static enum pm_step_kind prefill_kind(const struct sheet *sheet)
{
    return sheet->input->static_step ? PM_STEP_PREFILL : PM_STEP_MIXED;
}

/* What stands beside the terms, where the step would take less than the ceiling. */
static void add_raised(struct sheet *sheet, struct derive_node *node, struct buffer *sum, double missing)
{
    if (missing > 1e-12 * sheet->value)
        sheet_plus(sum,
                   sheet_part(sheet, node, "raised", missing, "s", "What is missing to the ceiling.")->name);
}

static bool decode_term(struct sheet *sheet, struct derive_node *node, enum pm_bound bound)
{
    struct priced step;
    struct buffer sum = buffer_in(sheet->arena);
    if (!price_step(sheet, PM_STEP_DECODE, 0, &step))
        return false;
    const char *formula = term_of(sheet, node, &step, bound);
    if (formula)
        sheet_plus(&sum, formula);
    if (bound == PM_BOUND_FIXED)
        add_raised(sheet, node, &sum, sheet->value - step.part.step.term[bound]);
    sheet_formula(node, buffer_string(&sum));
    return sum.length > 0;
}

/* " * (chunks + pp - 1) / (chunks * pp)": chunks follow each other through the stages. */
static const char *through_stages(struct sheet *sheet, struct derive_node *node, double chunks,
                                  double *factor)
{
    double stages = fmax(sheet->input->pp, 1);
    *factor = 1;
    if (!(stages > 1) || !(chunks > 1))
        return "";
    *factor = (chunks + stages - 1) / (chunks * stages);
    sheet_part(sheet, node, "chunks", chunks, "1", "Steps that the prompt takes.");
    return " * (chunks + pp - 1) / (chunks * pp)";
}

static bool prefill_term(struct sheet *sheet, struct derive_node *node, enum pm_bound bound)
{
    struct buffer sum = buffer_in(sheet->arena);
    struct priced step;
    double chunks = 0, seconds = 0, factor;
    for (size_t i = 0; price_step(sheet, prefill_kind(sheet), i, &step); i++) {
        bool only = i == 0 && !price_step(sheet, prefill_kind(sheet), 1, &(struct priced){0});
        double own = step.part.step.term[bound];
        chunks += step.part.times;
        seconds += step.part.times * own;
        if (!(own > 0))
            continue;
        struct derive_node *part =
            only ? node
                 : sheet_part(sheet, node, arena_printf(sheet->arena, "step.%zu", i + 1), own, "s",
                              "This term of a chunk's step.");
        const char *formula = term_of(sheet, part, &step, bound);
        if (!only && formula)
            sheet_formula(part, formula);
        sheet_plus(&sum, only ? formula ? formula : "0 s"
                         : step.part.times > 1
                             ? arena_printf(sheet->arena, "%.17g * %s", step.part.times, part->name)
                             : part->name);
    }
    const char *stages = through_stages(sheet, node, chunks, &factor);
    if (*stages) {
        const char *all = arena_printf(sheet->arena, "(%s)%s", buffer_string(&sum), stages);
        sum = buffer_in(sheet->arena);
        sheet_plus(&sum, all);
    }
    if (bound == PM_BOUND_FIXED)
        add_raised(sheet, node, &sum, sheet->value - seconds * factor);
    sheet_formula(node, buffer_string(&sum));
    return sum.length > 0;
}

/* ---- counts of a decode step
 * ------------------------------------------------------------------------------------ */

static bool launches(struct sheet *sheet, struct derive_node *node)
{
    struct priced step;
    struct buffer sum = buffer_in(sheet->arena);
    if (!price_step(sheet, PM_STEP_DECODE, 0, &step))
        return false;
    for (size_t i = 0; i < step.count; i++) {
        const char *name =
            sheet_part(sheet, node, operation_name(sheet->arena, step.ops[i].name),
                       step.ops[i].count * operation_kernels(sheet, &step.ops[i]), "1", "Launches.")
                ->name;
        sheet_plus(&sum, name);
    }
    sheet_formula(node, buffer_string(&sum));
    return sum.length > 0;
}

static bool allreduces(struct sheet *sheet, struct derive_node *node)
{
    struct buffer sum = buffer_in(sheet->arena);
    const struct pm_model *model = &sheet->model->model;
    for (size_t i = 0; i < model->block_count; i++) {
        const struct pm_block *block = &model->blocks[i];
        bool forward = block->ffn > 0 || block->experts > 0 || block->shared_ffn > 0;
        double parts = (block->attention != PM_ATTENTION_NONE) + forward;
        if (sheet->input->dp > 1 && block->experts > 0)
            parts = 1; /* dispatch and combine of experts together */
        else if (!(sheet->input->tp > 1))
            parts = 0;
        parts += pm_norm_exchanges(sheet->input, i);
        if (parts > 0)
            sheet_plus(&sum, arena_printf(sheet->arena, "%.17g * %s", parts, block_count(sheet, node, i)));
    }
    sheet_formula(node, buffer_string(&sum));
    return sum.length > 0;
}

/* ---- made of whole steps
 * ------------------------------------------------------------------------------------------ */

/* Bytes of one launch of each operation, all or of one kind, times the launches. */
static bool moved(struct sheet *sheet, struct derive_node *node, const char *kind)
{
    struct priced step;
    struct buffer sum = buffer_in(sheet->arena);
    if (!price_step(sheet, PM_STEP_DECODE, 0, &step))
        return false;
    for (size_t i = 0; i < step.count; i++) {
        struct derive_node *part = add_moved(sheet, node, &step.ops[i], kind);
        if (part)
            sheet_plus(&sum, arena_printf(sheet->arena, "%.17g * %s", step.ops[i].count, part->name));
    }
    sheet_formula(node, buffer_string(&sum));
    return sum.length > 0;
}

static bool all_moved(struct sheet *sheet, struct derive_node *node)
{
    return moved(sheet, node, NULL);
}

static bool weights_moved(struct sheet *sheet, struct derive_node *node)
{
    return moved(sheet, node, "weights");
}

static bool cache_moved(struct sheet *sheet, struct derive_node *node)
{
    return moved(sheet, node, "cache");
}

static bool draft_time(struct sheet *sheet, struct derive_node *node)
{
    struct priced step;
    if (!price_step(sheet, PM_STEP_DRAFT, 0, &step))
        return false;
    struct derive_node *part =
        sheet_part(sheet, node, "draft", step.part.step.time, "s", "One draft for every sequence.");
    fill_step(sheet, part, &step);
    sheet_formula(node, "speculation.tokens * draft");
    return true;
}

static bool draft_prefill(struct sheet *sheet, struct derive_node *node)
{
    double seconds, chunks, factor;
    const char *sum = steps_of(sheet, node, PM_STEP_DRAFT_PREFILL, &seconds, &chunks);
    const char *stages = through_stages(sheet, node, chunks, &factor);
    sheet_printf(sheet, node, "(%s)%s", sum, stages);
    return chunks > 0;
}

/* " + speculation.draft_prefill": what drafts reads prompts too. */
static const char *and_drafts(const struct sheet *sheet)
{
    return sheet->result->expected.draft_prefill > 0 ? " + speculation.draft_prefill" : "";
}

static bool plain_step(struct sheet *sheet, struct derive_node *node)
{
    struct priced step;
    if (!price_step(sheet, PM_STEP_PLAIN, 0, &step))
        return false;
    fill_step(sheet, node, &step);
    return true;
}

static bool scaling(struct sheet *sheet, struct derive_node *node)
{
    struct priced step;
    bool decodes = sheet->result->expected.tpot >= 0;
    if (!price_step(sheet, PM_STEP_SINGLE, 0, &step))
        return false;
    struct derive_node *part =
        sheet_part(sheet, node, "one_gpu", step.part.step.time, "s", "The same step on one GPU.");
    fill_step(sheet, part, &step);
    if (!decodes)
        sheet_part(sheet, node, "all_gpus", sheet->result->prefill.time, "s", "A prompt by itself.");
    sheet_printf(sheet, node, "one_gpu / (%s * gpus_per_replica)", decodes ? "decode.time" : "all_gpus");
    return true;
}

static bool extra_time(struct sheet *sheet, struct derive_node *node)
{
    double seconds, chunks;
    bool decodes = sheet->result->expected.tpot >= 0;
    struct derive_node *part = sheet_part(sheet, node, "mixed", 0, "s", "The steps of one prompt.");
    const char *sum = steps_of(sheet, part, PM_STEP_MIXED, &seconds, &chunks);
    if (!(chunks > 0))
        return false;
    double whole = sheet->value * fmax(sheet->input->dp, 1) * fmax(sheet->input->pp, 1) +
                   (decodes ? chunks * sheet->result->decode.time : 0) -
                   sheet->result->expected.draft_prefill;
    if (whole > seconds * (1 + 1e-9))
        sum = arena_printf(sheet->arena, "%s + %s", sum,
                           sheet_part(sheet, part, "raised", whole - seconds, "s", "To the ceiling.")->name);
    node->inputs.count = 0;
    struct derive_node *again = sheet_part(sheet, node, "mixed", whole, "s", "The steps of one prompt.");
    again->inputs = part->inputs;
    sheet_formula(again, sum);
    sheet_printf(sheet, node,
                 decodes ? "max(0 s, mixed - %.17g * decode.time%s) / (dp * pp)"
                         : "(mixed + 0 * %.17g * mixed%s) / (dp * pp)",
                 chunks, and_drafts(sheet));
    return true;
}

static bool packed(struct sheet *sheet, struct derive_node *node)
{
    struct priced step;
    if (price_step(sheet, PM_STEP_PACKED, 0, &step)) {
        struct derive_node *part = sheet_part(sheet, node, "full_step", step.part.step.time, "s",
                                              "As many prompts as the chunk allows, with nothing to decode.");
        fill_step(sheet, part, &step);
        sheet_part(sheet, node, "prompts", step.part.prompts, "1", "Of those that wait.");
        sheet_printf(sheet, node, "(full_step / prompts%s) / (dp * pp)", and_drafts(sheet));
        return true;
    }
    double seconds, chunks;
    const char *sum = steps_of(sheet, node, PM_STEP_PREFILL, &seconds, &chunks);
    sheet_printf(sheet, node, "(%s%s) / (dp * pp)", sum, and_drafts(sheet));
    return chunks > 0;
}

/* ---- which
 * ----------------------------------------------------------------------------------------------------------
 */

static const struct {
    enum quantity quantity;
    bool prefill;
    enum pm_bound bound;
} terms[] = {
    {Q_DECODE_TIME_WEIGHTS, false, PM_BOUND_WEIGHTS},
    {Q_DECODE_TIME_KV, false, PM_BOUND_KV},
    {Q_DECODE_TIME_COMPUTE, false, PM_BOUND_COMPUTE},
    {Q_DECODE_TIME_COMMUNICATION, false, PM_BOUND_COMMUNICATION},
    {Q_DECODE_TIME_FIXED, false, PM_BOUND_FIXED},
    {Q_PREFILL_TIME_WEIGHTS, true, PM_BOUND_WEIGHTS},
    {Q_PREFILL_TIME_KV, true, PM_BOUND_KV},
    {Q_PREFILL_TIME_COMPUTE, true, PM_BOUND_COMPUTE},
    {Q_PREFILL_TIME_COMMUNICATION, true, PM_BOUND_COMMUNICATION},
    {Q_PREFILL_TIME_FIXED, true, PM_BOUND_FIXED},
};

static const struct {
    enum quantity quantity;
    bool (*fill)(struct sheet *, struct derive_node *);
} others[] = {
    {Q_DECODE_LAUNCHES, launches},    {Q_DECODE_ALLREDUCES, allreduces},
    {Q_DECODE_MOVED, all_moved},      {Q_DECODE_MOVED_WEIGHTS, weights_moved},
    {Q_DECODE_MOVED_KV, cache_moved}, {Q_DRAFT_TIME, draft_time},
    {Q_PLAIN_STEP, plain_step},       {Q_SCALING_EFFICIENCY, scaling},
    {Q_PREFILL_EXTRA, extra_time},    {Q_PREFILL_PACKED, packed},
    {Q_DRAFT_PREFILL, draft_prefill},
};

bool sheet_of_steps(struct sheet *sheet, enum quantity quantity, struct derive_node *node)
{
    if (!sheet->input || sheet->input->engine->ideal)
        return false;
    for (size_t i = 0; i < sizeof terms / sizeof terms[0]; i++)
        if (terms[i].quantity == quantity)
            return terms[i].prefill ? prefill_term(sheet, node, terms[i].bound)
                                    : decode_term(sheet, node, terms[i].bound);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (others[i].quantity == quantity)
            return others[i].fill(sheet, node);
    return false;
}
