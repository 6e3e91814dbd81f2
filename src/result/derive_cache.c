/* derive_cache.c: worksheets of what stands in memory besides weights: the cache as a sum over the kinds of
 * blocks, and activations. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "result/derive_sheet.h"

/* Memory of the case with one block of this kind in place of the model. */
static void memory_alone(const struct sheet *sheet, size_t index, struct pm_memory *out)
{
    struct pm_block block;
    struct pm_model alone = block_alone(&sheet->model->model, index, &block);
    struct pm_case input = *sheet->input;
    alone.tower_tokens = sheet->model->model.tower_tokens;
    input.model = &alone;
    input.prepared = NULL;
    input.pp = 1;
    input.draft_model = NULL;
    input.free_drafts = true;
    pm_memory_of(&input, out);
}

static const char *blocks_here(struct sheet *sheet, struct derive_node *node, size_t index)
{
    if (!(sheet->input->pp > 1))
        return block_count(sheet, node, index);
    const char *name = arena_printf(sheet->arena, "%s.on_stage", block_name(sheet, index));
    return sheet_part(sheet, node, name, pm_blocks_on_gpu(sheet->input, index), "1",
                      "Blocks of this kind on the largest stage of the pipeline.")
        ->name;
}

/* ---- a token, a sequence ----------------------------------------------------------------------------------
 */

static void fill_token(struct sheet *sheet, struct derive_node *part, size_t index)
{
    const struct pm_block *block = &sheet->model->model.blocks[index];
    bool same = !(block->v_dim > 0) || block->v_dim == block->head_dim;
    const char *values = block->attention == PM_ATTENTION_LATENT ? "(kv_rank + rope_dim)"
                         : same ? "2 * max(1, ceil(kv_heads / tp)) * head_dim"
                                : "max(1, ceil(kv_heads / tp)) * (head_dim + v_dim)";
    sheet_attribute(sheet, part, sheet->model->kv_cache, "bits", "bits", sheet->model->model.kv_format.bits,
                    "1");
    sheet_printf(sheet, part, "(%s * bits / 8%s) * 1 B/token", values,
                 block->index_heads > 0 ? " + index_dim + 4" : "");
    block_sizes(sheet, part, index);
}

static bool per_token(struct sheet *sheet, struct derive_node *node)
{
    struct buffer sum = buffer_in(sheet->arena);
    for (size_t i = 0; i < sheet->model->model.block_count; i++) {
        struct pm_memory one;
        memory_alone(sheet, i, &one);
        if (!(one.kv_per_token > 0))
            continue;
        struct derive_node *part =
            sheet_part(sheet, node, arena_printf(sheet->arena, "%s.kv_per_token", block_name(sheet, i)),
                       one.kv_per_token, "B/token", "Of one block, on one GPU.");
        fill_token(sheet, part, i);
        sheet_plus(&sum, arena_printf(sheet->arena, "%s * %s", blocks_here(sheet, node, i), part->name));
    }
    sheet_formula(node, buffer_string(&sum));
    return sum.length > 0;
}

static double sequence_tokens(const struct sheet *sheet)
{
    return evaluate_number(sheet->evaluator, sheet->decl, Q_MEMORY_SEQUENCE_TOKENS, 0);
}

/* Windows and states: what a block keeps of a sequence whatever its length. */
static bool fixed_of_blocks(struct sheet *sheet, struct derive_node *node)
{
    struct buffer sum = buffer_in(sheet->arena);
    double rest = sheet->value;
    for (size_t i = 0; i < sheet->model->model.block_count; i++) {
        struct pm_memory one;
        memory_alone(sheet, i, &one);
        double bytes = one.kv_per_sequence - one.kv_per_token * sequence_tokens(sheet);
        if (!(bytes > 1e-9 * sheet->value))
            continue;
        const char *name = arena_printf(sheet->arena, "%s.kv_fixed", block_name(sheet, i));
        struct derive_node *part =
            sheet_part(sheet, node, name, bytes, "B", "Of one block and sequence, on one GPU.");
        sheet_plus(&sum, arena_printf(sheet->arena, "%s * %s", blocks_here(sheet, node, i), part->name));
        rest -= pm_blocks_on_gpu(sheet->input, i) * bytes;
    }
    if (rest > 1e-9 * sheet->value)
        sheet_plus(&sum,
                   sheet_part(sheet, node, "draft.cache", rest, "B", "Of the model that drafts.")->name);
    sheet_formula(node, buffer_string(&sum));
    return sum.length > 0 && rest > -1e-9 * sheet->value;
}

static bool fixed(struct sheet *sheet, struct derive_node *node)
{
    double bytes, pages, tokens = sheet->result->sequence_length;
    if (!pm_shared_pages(sheet->input, tokens, &bytes, &pages))
        return fixed_of_blocks(sheet, node);
    double draft = sheet->result->memory.kv_per_sequence - pages * bytes;
    sheet_part(sheet, node, "pages", pages, "1", "Pages that a sequence takes, of all kinds of blocks.");
    sheet_part(sheet, node, "page_bytes", bytes, "B", "Of a page, which all kinds of blocks share.");
    if (draft > 0)
        sheet_part(sheet, node, "draft.cache", draft, "B", "Of the model that drafts.");
    sheet_printf(sheet, node, "pages * page_bytes%s - memory.kv_per_token * memory.sequence_tokens",
                 draft > 0 ? " + draft.cache" : "");
    return true;
}

/* ---- a shared prefix
 * ----------------------------------------------------------------------------------------- */

static bool shared(struct sheet *sheet, struct derive_node *node)
{
    struct buffer sum = buffer_in(sheet->arena);
    double rest = sheet->value;
    for (size_t i = 0; i < sheet->model->model.block_count; i++) {
        struct pm_memory one;
        memory_alone(sheet, i, &one);
        if (!(one.kv_shared > 0))
            continue;
        const char *name = arena_printf(sheet->arena, "%s.prefix", block_name(sheet, i));
        sheet_plus(&sum,
                   arena_printf(
                       sheet->arena, "%s * %s", blocks_here(sheet, node, i),
                       sheet_part(sheet, node, name, one.kv_shared, "B", "Of one block, on one GPU.")->name));
        rest -= pm_blocks_on_gpu(sheet->input, i) * one.kv_shared;
    }
    if (fabs(rest) <= 1e-9 * sheet->value) {
        sheet_formula(node, buffer_string(&sum));
        return true;
    }
    double bytes, pages;
    node->inputs.count = 0;
    if (!pm_shared_pages(sheet->input, sheet->result->sequence_length, &bytes, &pages))
        return false;
    sheet_part(sheet, node, "pages", round(sheet->value / bytes), "1", "Whole pages of the prefix.");
    sheet_part(sheet, node, "page_bytes", bytes, "B", "Of a page, which all kinds of blocks share.");
    sheet_formula(node, "pages * page_bytes");
    return true;
}

/* ---- what the pool holds
 * --------------------------------------------------------------------------------------- */

/* A static step of sequences so long, which memory has to hold. */
static struct pm_case long_case(const struct sheet *sheet, double tokens)
{
    struct pm_case input = *sheet->input;
    input.static_step = true;
    input.context = tokens;
    input.draft_tokens = 0;
    input.draft_model = NULL;
    return input;
}

/* The cache of one sequence of many tokens, as a line over their number. */
struct line {
    double start, slope;
};

static struct line cache_line(const struct sheet *sheet, double tokens)
{
    struct pm_case first = long_case(sheet, tokens), second = long_case(sheet, 2 * tokens);
    struct pm_memory at_first, at_second;
    pm_memory_of(&first, &at_first);
    pm_memory_of(&second, &at_second);
    double slope = (at_second.kv_per_sequence - at_first.kv_per_sequence) / tokens;
    return (struct line){round(at_first.kv_per_sequence - slope * tokens), slope};
}

static bool pool_tokens(struct sheet *sheet, struct derive_node *node)
{
    static const double very_long = 1e9;
    double bytes, pages, tokens = sheet->result->sequence_length;
    if (pm_shared_pages(sheet->input, tokens, &bytes, &pages)) {
        sheet_part(sheet, node, "length", tokens, "tokens", "Of the sequences that are reserved for.");
        sheet_part(sheet, node, "pages", pages, "1", "Pages that a sequence takes, of all kinds of blocks.");
        sheet_part(sheet, node, "page_bytes", bytes, "B", "Of a page, which all kinds of blocks share.");
        sheet_formula(node, "floor(floor(memory.pool / page_bytes) * length / 1 token / pages) * 1 token");
        return true;
    }
    struct line line = cache_line(sheet, very_long);
    bool windows = line.slope > 0;
    if (!windows) /* a model that has only windows counts in those */
        line = cache_line(sheet, evaluate_number(sheet->evaluator, sheet->decl, Q_MEMORY_PAGE, 1));
    double slope = line.slope;
    sheet_part(sheet, node, "per_token", slope, "B/token",
               windows ? "Of blocks that keep every token, on one GPU."
                       : "Until windows are full, on one GPU.");
    sheet_part(sheet, node, "per_sequence", line.start, "B",
               windows ? "States and full windows of one sequence." : "States of one sequence.");
    sheet_formula(node,
                  "floor((memory.pool - memory.kv_sequences * per_sequence) / (per_token * memory.page)) "
                  "* memory.page");
    return slope > 0;
}

/* ---- activations
 * ------------------------------------------------------------------------------------------------- */

/* Where a plan declares a total and no feed-forward, the rest of a block counts as one. */
static double widest_block(const struct sheet *sheet)
{
    double width = 0;
    const struct pm_model *model = &sheet->model->model;
    const struct pm_params *params = sheet->params;
    if (params && sheet_is_total(sheet) && params->attention > 0)
        width = params->other / params->layers / (3 * model->hidden);
    for (size_t i = 0; i < model->block_count; i++) {
        width = fmax(width, model->blocks[i].ffn);
        width = fmax(width, model->blocks[i].active_experts * model->blocks[i].expert_ffn);
    }
    return width;
}

static bool activations(struct sheet *sheet, struct derive_node *node)
{
    const struct pm_case *input = sheet->input;
    const struct pm_engine *engine = input->engine;
    double rows = ceil(input->batch / fmax(input->dp, 1)) * (1 + fmax(input->draft_tokens, 0));
    double prompt = input->prompt > 0 ? input->prompt + input->model->tower_tokens : 0;
    double chunk = input->chunk > 0 ? input->chunk : engine->chunk;
    double tokens = prompt > 0 ? chunk > 0 ? fmin(chunk, prompt) : prompt : rows;
    bool profiled = engine->profile_rows > 0;
    sheet_part(sheet, node, "tokens", profiled && chunk > 0 ? chunk : tokens, "1",
               "Tokens of the largest step: a chunk of a prompt.");
    sheet_part(sheet, node, "width", widest_block(sheet), "1",
               "The widest feed-forward, of all experts of a token.");
    sheet_part(sheet, node, "rows", profiled ? engine->profile_rows : rows, "1", "Tokens that need logits.");
    if (profiled)
        sheet_part(sheet, node, "logit", engine->profile_row_bytes, "B", "Of one logit, with its copies.");
    sheet_formula(node,
                  profiled ? "max(tokens * 2 B * (3 * model.hidden + 3 * width / tp), rows * model.vocab * "
                             "logit)"
                           : "tokens * 2 B * (3 * model.hidden + 3 * width / tp) + rows * model.vocab / tp * "
                             "4 B");
    return true;
}

bool sheet_of_cache(struct sheet *sheet, enum quantity quantity, struct derive_node *node)
{
    if (!sheet->input)
        return false;
    switch (quantity) {
    case Q_MEMORY_KV_PER_TOKEN: return per_token(sheet, node);
    case Q_MEMORY_KV_FIXED: return fixed(sheet, node);
    case Q_MEMORY_KV_SHARED: return shared(sheet, node);
    case Q_KV_TOKENS: return pool_tokens(sheet, node);
    case Q_MEMORY_ACTIVATIONS: return activations(sheet, node);
    default: return false;
    }
}
