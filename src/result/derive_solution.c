/* derive_solution.c: worksheets of what is solved for: the last whole number at which something holds is told
 * by what it comes to there and one beyond; a point on a line by the line. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "result/derive_sheet.h"

/* ---- the last whole number
 * --------------------------------------------------------------------------------- */

/* `limit` lies between what `last` comes to and what one more does: as an expression that gives `last`. */
static void bracket(struct sheet *sheet, struct derive_node *node, const char *what, const char *unit,
                    const char *limit, double at_last, double beyond)
{
    bool tokens = strcmp(node->value.unit, "1") != 0;
    const char *last = sheet_part(sheet, node, "last", sheet->value, tokens ? "tokens" : "1",
                                  "The last that does; one more does not.")
                           ->name;
    const char *at = sheet_part(sheet, node, arena_printf(sheet->arena, "%s.at_last", what), at_last, unit,
                                "With so many.")
                         ->name;
    const char *one_more =
        sheet_part(sheet, node, arena_printf(sheet->arena, "%s.beyond", what), beyond, unit, "With one more.")
            ->name;
    sheet_printf(sheet, node, "%s + floor((%s - %s) / (%s - %s))%s", last, limit, at, one_more, at,
                 tokens ? " * 1 token" : "");
}

/* All sequences of a load in memory at once, as a static step of the same length. */
static struct pm_case all_at_once(const struct sheet *sheet, double batch)
{
    struct pm_case input = *sheet->input;
    if (!input.static_step) {
        double prompt = input.prompt > 0 ? input.prompt + input.model->tower_tokens : 0;
        input.static_step = true;
        input.context = prompt + input.output;
    }
    input.batch = batch;
    return input;
}

static double memory_with(const struct sheet *sheet, double batch)
{
    struct pm_case input = all_at_once(sheet, batch);
    struct pm_memory memory;
    pm_memory_of(&input, &memory);
    return memory.total;
}

static bool largest_batch(struct sheet *sheet, struct derive_node *node)
{
    /* Replicas of attention share a batch evenly, so that it grows by one on each. */
    double batch = sheet->value;
    if (!(batch > 0)) {
        sheet_part(sheet, node, "memory.of_one", memory_with(sheet, 1), "B", "With one sequence.");
        sheet_formula(node, "if memory.of_one <= memory.usable then 1 else 0");
        return true;
    }
    bracket(sheet, node, "memory", "B", "memory.usable", memory_with(sheet, batch),
            memory_with(sheet, batch + 1));
    return true;
}

static double cache_of(const struct sheet *sheet, double tokens)
{
    struct pm_case input = *sheet->input;
    struct pm_memory memory;
    input.static_step = true;
    input.context = tokens - fmax(input.draft_tokens, 0);
    pm_memory_of(&input, &memory);
    return memory.kv;
}

static bool longest_context(struct sheet *sheet, struct derive_node *node)
{
    if (!(sheet->value > fmax(sheet->input->draft_tokens, 0))) {
        sheet_part(sheet, node, "cache.of_one", cache_of(sheet, 1), "B", "With one token in every sequence.");
        sheet_formula(node, "if cache.of_one <= memory.pool then 1 token else 0 tokens");
        return true;
    }
    bracket(sheet, node, "cache", "B", "memory.pool", cache_of(sheet, sheet->value),
            cache_of(sheet, sheet->value + 1));
    return true;
}

/* ---- drafts
 * --------------------------------------------------------------------------------------------------- */

static double speedup_with(const struct sheet *sheet, double batch)
{
    struct pm_case input = *sheet->input;
    struct pm_gpu gpu = *input.gpu;
    struct pm_result result;
    gpu.memory = gpu.driver_memory = 1e18;
    input.gpu = &gpu;
    input.static_step = true;
    input.context = sheet->result->context;
    input.batch = batch;
    pm_evaluate(&input, &result);
    return result.speculation.speedup;
}

static bool break_even_batch(struct sheet *sheet, struct derive_node *node)
{
    if (!(sheet->value > 0)) {
        sheet_part(sheet, node, "speedup.of_one", speedup_with(sheet, 1), "1", "With one sequence.");
        sheet_formula(node, "if speedup.of_one > 1 then 1 else 0");
        return true;
    }
    bracket(sheet, node, "speedup", "1", "1", speedup_with(sheet, sheet->value),
            speedup_with(sheet, sheet->value + 1));
    return true;
}

/* "1 + a * (1 + a * (1 + a))" */
static const char *horner(struct sheet *sheet, const char *name, double degree)
{
    const char *sum = "1";
    for (double i = 0; i < degree && i < 64; i++)
        sum = strcmp(sum, "1") == 0 ? arena_printf(sheet->arena, "1 + %s", name)
                                    : arena_printf(sheet->arena, "1 + %s * (%s)", name, sum);
    return sum;
}

static bool tokens_per_step(struct sheet *sheet, struct derive_node *node)
{
    sheet_printf(sheet, node, "1 token * (%s)",
                 horner(sheet, "speculation.acceptance", sheet->input->draft_tokens));
    return sheet->input->draft_tokens > 0;
}

/* 1 + a + ... + a^g = needed, with a on the left side alone. */
static bool break_even_acceptance(struct sheet *sheet, struct derive_node *node)
{
    sheet_part(sheet, node, "acceptance", sheet->value, "1",
               "The solution itself, which the equation gives again.");
    sheet_printf(sheet, node, "(decode.step / speculation.plain_step - 1) / (%s)",
                 horner(sheet, "acceptance", sheet->input->draft_tokens - 1));
    return true;
}

/* The least number of sequences whose arithmetic takes as long as what they read: both sides grow by the same
 * with each, so that the last before it and it itself tell. */
static bool critical_batch(struct sheet *sheet, struct derive_node *node)
{
    double unit = fmax(sheet->input->dp, 1) * fmax(sheet->input->pp, 1),
           bandwidth = sheet->input->gpu->bandwidth;
    struct pm_ceiling one;
    pm_ceiling_decode(sheet->input, unit, sheet->result->context, &one);
    if (!(sheet->value > 1)) {
        sheet_part(sheet, node, "compute.of_one", one.compute_time, "s", "With one sequence everywhere.");
        sheet_part(sheet, node, "memory.of_one", one.memory_time, "s", "With one sequence everywhere.");
        sheet_formula(node, "if compute.of_one >= memory.of_one then 1 else 0");
        return true;
    }
    sheet_part(sheet, node, "weights_read", one.weight_traffic, "B", "Whatever the number of sequences.");
    sheet_part(sheet, node, "compute", one.compute_time, "s", "Of one sequence on every replica and stage.");
    sheet_part(sheet, node, "cache_read", one.kv_traffic, "B", "Of the same.");
    double exact = (one.weight_traffic - fmax(sheet->input->gpu->cache, 0)) / bandwidth /
                   (one.compute_time - one.kv_traffic / bandwidth) * unit;
    sheet_printf(sheet, node,
                 "%s((weights_read%s) / gpu.bandwidth / (compute - cache_read / gpu.bandwidth) * dp * pp)",
                 fabs(exact - sheet->value) <= 1e-9 * exact ? "round" : "ceil",
                 sheet->input->gpu->cache > 0 ? " - gpu.cache" : "");
    return true;
}

/* ---- lengths at which two sides are equal
 * ------------------------------------------------------------------------ */

/* Where the line begins on which the solution lies: the last window or reach below it. */
static double line_begins(const struct sheet *sheet, double solution)
{
    double begin = 0;
    for (size_t i = 0; i < sheet->model->model.block_count; i++) {
        const struct pm_block *block = &sheet->model->model.blocks[i];
        const double limits[] = {block->window, block->chunk, block->index_heads > 0 ? block->index_top : 0};
        for (size_t j = 0; j < 3; j++)
            if (limits[j] < solution && limits[j] > begin)
                begin = limits[j];
    }
    return begin;
}

static void add_point(struct sheet *sheet, struct derive_node *node, const char *name, double tokens)
{
    sheet_part(sheet, node, name, tokens, "tokens", "A context on the line.");
}

static bool critical_context(struct sheet *sheet, struct derive_node *node)
{
    double unit = fmax(sheet->input->dp, 1) * fmax(sheet->input->pp, 1);
    double from = line_begins(sheet, sheet->value), to = from + (sheet->value - from) / 2;
    struct pm_ceiling at_from, at_to;
    pm_ceiling_decode(sheet->input, unit, from, &at_from);
    pm_ceiling_decode(sheet->input, unit, to, &at_to);
    double bandwidth = sheet->input->gpu->bandwidth;
    add_point(sheet, node, "from", from);
    add_point(sheet, node, "to", to);
    sheet_part(sheet, node, "margin.from", at_from.compute_time - at_from.kv_traffic / bandwidth, "s",
               "Computing less reading the cache, of one sequence more.");
    sheet_part(sheet, node, "margin.to", at_to.compute_time - at_to.kv_traffic / bandwidth, "s",
               "The same at the other context.");
    sheet_formula(node, "from + (to - from) * margin.from / (margin.from - margin.to)");
    return true;
}

/* The case with windows in place of chunks: a chunk counts as full, since positions in it come and go. */
static struct pm_case with_full_chunks(struct sheet *sheet)
{
    const struct pm_model *model = sheet->input->model;
    struct pm_case input = *sheet->input;
    struct pm_model *full = ARENA_NEW(sheet->arena, struct pm_model);
    struct pm_block *blocks = ARENA_ARRAY(sheet->arena, struct pm_block, model->block_count);
    *full = *model;
    for (size_t i = 0; i < model->block_count; i++) {
        blocks[i] = model->blocks[i];
        if (blocks[i].chunk > 0 && !(blocks[i].window > 0))
            blocks[i].window = blocks[i].chunk;
        blocks[i].chunk = 0;
    }
    full->blocks = blocks;
    input.model = full;
    input.prepared = NULL;
    return input;
}

static bool equal_weights(struct sheet *sheet, struct derive_node *node)
{
    double from = line_begins(sheet, sheet->value), to = from + (sheet->value - from) / 2;
    struct pm_case input = with_full_chunks(sheet);
    struct pm_ceiling at_from, at_to;
    pm_ceiling_decode(&input, fmax(input.batch, 1), from, &at_from);
    pm_ceiling_decode(&input, fmax(input.batch, 1), to, &at_to);
    add_point(sheet, node, "from", from);
    add_point(sheet, node, "to", to);
    sheet_part(sheet, node, "cache.from", at_from.kv_traffic, "B", "Cache that a step reads there.");
    sheet_part(sheet, node, "cache.to", at_to.kv_traffic, "B", "Cache that a step reads there.");
    sheet_formula(node,
                  "from + (to - from) * (decode.weight_traffic - cache.from) / (cache.to - cache.from)");
    return true;
}

bool sheet_of_solution(struct sheet *sheet, enum quantity quantity, struct derive_node *node)
{
    if (!sheet->input)
        return false;
    switch (quantity) {
    case Q_MAX_BATCH: return largest_batch(sheet, node);
    case Q_MAX_CONTEXT: return longest_context(sheet, node);
    case Q_TOKENS_PER_STEP: return tokens_per_step(sheet, node);
    case Q_BREAK_EVEN_ACCEPTANCE: return break_even_acceptance(sheet, node);
    case Q_BREAK_EVEN_BATCH: return break_even_batch(sheet, node);
    case Q_CRITICAL_BATCH: return critical_batch(sheet, node);
    case Q_CRITICAL_CONTEXT: return critical_context(sheet, node);
    case Q_KV_EQUALS_WEIGHTS: return equal_weights(sheet, node);
    default: return false;
    }
}
