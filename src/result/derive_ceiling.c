/* derive_ceiling.c: worksheets of work and traffic at the ceiling, as sums over the kinds of blocks. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "result/derive_sheet.h"

enum { EMBEDDING, POSITIONS, ATTENTION, FFN, EXPERTS, SHARED, ROUTER, NORMS, HEAD, OTHER };

/* ---- one block ------------------------------------------------------------------------------------------
 */

void block_evaluate(const struct sheet *sheet, const struct pm_block *block, struct pm_result *out)
{
    struct pm_model alone = *sheet->input->model;
    struct pm_engine engine = *sheet->input->engine;
    struct pm_gpu gpu = *sheet->input->gpu;
    struct pm_case input = *sheet->input;
    alone.declared_params = alone.vocab = alone.positions = alone.tower_params = alone.mtp_params = 0;
    alone.lookup_params = 0;
    alone.blocks = block;
    alone.block_count = 1;
    engine.ideal = true;
    gpu.memory = 1e18;
    gpu.driver_memory = gpu.cache = 0;
    input.model = &alone;
    input.engine = &engine;
    input.gpu = &gpu;
    input.prepared = NULL;
    input.draft_model = NULL;
    input.free_drafts = true;
    input.batch = sheet->result->ceiling.decoding;
    pm_evaluate(&input, out);
}

static void block_result(const struct sheet *sheet, size_t index, struct pm_result *out)
{
    struct pm_block block = sheet->model->model.blocks[index];
    block.count = 1;
    block_evaluate(sheet, &block, out);
}

static struct derive_node *block_part(struct sheet *sheet, struct derive_node *node, size_t index,
                                      const char *what, double value, const char *unit)
{
    const char *name = arena_printf(sheet->arena, "%s.%s", block_name(sheet, index), what);
    return sheet_part(sheet, node, name, value, unit, "Of one block, on one GPU.");
}

static double double_of(const struct pm_result *result, bool prefill, size_t offset)
{
    const struct pm_ceiling *ceiling = prefill ? &result->prefill_ceiling : &result->decode_ceiling;
    return *(const double *)((const char *)ceiling + offset);
}

/* ---- what attention reads -------------------------------------------------------------------------------
 */

/* Tokens that attention reaches: a window, or those that a sparse index chooses; 0: all. */
static double reach_of(const struct pm_block *block, const char **name)
{
    double top = block->index_heads > 0 ? block->index_top : 0;
    *name = "window";
    if (top > 0 && (!(block->window > 0) || top < block->window)) {
        *name = "index_top";
        return top;
    }
    return block->window;
}

/* Tokens attended on average at the positions `first` to `last`, as an expression. */
static const char *attended(struct sheet *sheet, const struct pm_block *block, double first, double last,
                            const char *mean)
{
    const char *name;
    double reach = reach_of(block, &name);
    if (block->chunk > 0 && !(reach > 0))
        return NULL; /* positions within chunks: the part is its value */
    if (!(reach > 0) || last <= reach)
        return mean;
    if (first >= reach || !(last > first))
        return arena_printf(sheet->arena, "min(%s, %s)", name, mean);
    return arena_printf(sheet->arena,
                        "((%s - first) * (first + %s - 1 token) / 2 + (last - %s + 1 token) * %s) / "
                        "(last - first + 1 token)",
                        name, name, name, name);
}

static void set_attended(struct sheet *sheet, struct derive_node *part, size_t index, double first,
                         double last, const char *mean)
{
    const char *formula = attended(sheet, &sheet->model->model.blocks[index], first, last, mean);
    if (!formula)
        return;
    sheet_formula(part, formula);
    if (strstr(formula, "first")) {
        sheet_part(sheet, part, "first", first, "tokens", "The first position.");
        sheet_part(sheet, part, "last", last, "tokens", "The last position.");
    }
    block_sizes(sheet, part, index);
}

static const char *pair_work(const struct pm_block *block, bool prompt)
{
    bool same = !(block->v_dim > 0) || block->v_dim == block->head_dim;
    if (block->attention == PM_ATTENTION_LATENT)
        return prompt ? "2 FLOP * heads * min(nope_dim + rope_dim + v_dim, 2 * kv_rank + rope_dim) / tp"
                      : "2 FLOP * heads * (2 * kv_rank + rope_dim) / tp";
    return same ? "4 FLOP * heads * head_dim / tp" : "2 FLOP * heads * (head_dim + v_dim) / tp";
}

static double pair_value(const struct sheet *sheet, const struct pm_block *block, bool prompt)
{
    double v_dim = block->v_dim > 0 ? block->v_dim : block->head_dim, heads = block->heads / sheet->input->tp;
    if (block->attention == PM_ATTENTION_GROUPED)
        return 2 * heads * (block->head_dim + v_dim);
    if (block->attention != PM_ATTENTION_LATENT)
        return 0;
    double absorbed = 2 * heads * (2 * block->kv_rank + block->rope_dim);
    return prompt ? fmin(2 * heads * (block->nope_dim + block->rope_dim + block->v_dim), absorbed) : absorbed;
}

/* Sequences of one micro-batch on one replica. */
static double sequences_of(const struct sheet *sheet)
{
    double decoding = sheet->result->ceiling.decoding;
    double micro = fmax(fmin(fmax(sheet->input->pp, 1), decoding), 1);
    return fmax(decoding / micro / fmax(sheet->input->dp, 1), 1);
}

static void add_sequences(struct sheet *sheet, struct derive_node *node, bool queries)
{
    double drafts = fmax(sheet->input->draft_tokens, 0);
    struct derive_node *part = sheet_part(sheet, node, queries ? "queries" : "sequences",
                                          sequences_of(sheet) * (queries ? 1 + drafts : 1), "1",
                                          "Of one micro-batch, on one replica.");
    sheet_printf(sheet, part, "max(1, decoding / max(1, min(pp, decoding)) / dp)%s",
                 queries && drafts > 0 ? " * (1 + speculation.tokens)" : "");
}

/* The first and the last number of tokens that decode steps read. */
static double first_of(const struct sheet *sheet)
{
    const struct pm_case *input = sheet->input;
    double prompt = input->prompt > 0 ? input->prompt + input->model->tower_tokens : 0;
    bool one = input->static_step || input->engine->as_calibrated;
    return one ? sheet->result->context : prompt + 1;
}

static double last_of(const struct sheet *sheet)
{
    return 2 * sheet->result->context - first_of(sheet);
}

static double indexed(const struct sheet *sheet, const struct pm_block *block)
{
    return 2 * block->index_heads * block->index_dim / sheet->input->tp;
}

/* ---- attention work ---------------------------------------------------------------------------------------
 */

static void decode_attention(struct sheet *sheet, struct derive_node *part, size_t index)
{
    const struct pm_block *block = &sheet->model->model.blocks[index];
    double queries = sequences_of(sheet) * (1 + fmax(sheet->input->draft_tokens, 0));
    double pair = pair_value(sheet, block, false), context = sheet->result->context;
    double scores = indexed(sheet, block) * queries * context;
    add_sequences(sheet, part, true);
    struct derive_node *tokens =
        sheet_part(sheet, part, "attended", (part->value.value - scores) / queries / pair, "tokens",
                   "Tokens that a query attends.");
    set_attended(sheet, tokens, index, first_of(sheet), last_of(sheet), "decode.context");
    sheet_printf(sheet, part, "queries * attended / 1 token * %s%s", pair_work(block, false),
                 block->index_heads > 0
                     ? " + queries * decode.context / 1 token * 2 FLOP * index_heads * index_dim / tp"
                     : "");
    block_sizes(sheet, part, index);
}

static double fresh_of(const struct sheet *sheet, double *cached)
{
    double prompt = sheet->input->prompt + sheet->input->model->tower_tokens;
    *cached = fmin(fmax(sheet->input->cached_prefix, 0), prompt - 1);
    return prompt - *cached;
}

/* "fresh" and "cached" as parts of a node. */
static void add_prompt(struct sheet *sheet, struct derive_node *node)
{
    double cached, fresh = fresh_of(sheet, &cached);
    struct derive_node *part = sheet_part(sheet, node, "fresh", fresh, "tokens", "Tokens that are computed.");
    bool tower = sheet->input->model->tower_tokens > 0;
    if (!tower)
        sheet_formula(part, cached > 0 ? "prompt - cached" : "prompt");
    if (cached > 0) {
        sheet_part(sheet, node, "cached", cached, "tokens", "Tokens that are found in the cache.");
        if (!tower)
            sheet_part(sheet, part, "cached", cached, "tokens", NULL);
    }
}

static void prompt_attention(struct sheet *sheet, struct derive_node *part, size_t index)
{
    const struct pm_block *block = &sheet->model->model.blocks[index];
    double cached, fresh = fresh_of(sheet, &cached), pair = pair_value(sheet, block, true);
    double stages = fmax(sheet->input->pp, 1), scored = fresh * (2 * cached + fresh + 1) / 2;
    double scores = indexed(sheet, block) * scored;
    const char *mean = cached > 0 ? "(2 * cached + fresh + 1 token) / 2" : "(fresh + 1 token) / 2";
    add_prompt(sheet, part);
    struct derive_node *tokens =
        sheet_part(sheet, part, "attended", (part->value.value * stages - scores) / fresh / pair, "tokens",
                   "Tokens that a token of the prompt attends on average.");
    set_attended(sheet, tokens, index, cached + 1, cached + fresh, mean);
    if (tokens->formula)
        add_prompt(sheet, tokens);
    sheet_printf(
        sheet, part, "(fresh / 1 token * attended / 1 token * %s%s) / pp", pair_work(block, true),
        block->index_heads > 0
            ? arena_printf(sheet->arena,
                           " + fresh / 1 token * %s / 1 token * 2 FLOP * index_heads * index_dim / tp", mean)
            : "");
    block_sizes(sheet, part, index);
}

static bool attention_work(struct sheet *sheet, struct derive_node *node, bool prefill)
{
    struct buffer sum = buffer_in(sheet->arena);
    for (size_t i = 0; i < sheet->model->model.block_count; i++) {
        struct pm_result one;
        block_result(sheet, i, &one);
        double work = double_of(&one, prefill, offsetof(struct pm_ceiling, attention_work));
        if (!(work > 0))
            continue;
        struct derive_node *part = block_part(sheet, node, i, "attention_work", work, "FLOP");
        if (prefill)
            prompt_attention(sheet, part, i);
        else
            decode_attention(sheet, part, i);
        sheet_plus(&sum, arena_printf(sheet->arena, "%s * %s", block_count(sheet, node, i), part->name));
    }
    sheet_formula(node, buffer_string(&sum));
    return sum.length > 0;
}

/* ---- cache traffic
 * ----------------------------------------------------------------------------------------- */

static const char *token_bytes(const struct pm_block *block)
{
    bool same = !(block->v_dim > 0) || block->v_dim == block->head_dim;
    return block->attention == PM_ATTENTION_LATENT ? "(kv_rank + rope_dim)"
           : same                                  ? "2 * max(1, ceil(kv_heads / tp)) * head_dim"
                                                   : "max(1, ceil(kv_heads / tp)) * (head_dim + v_dim)";
}

static bool keeps_tokens(const struct pm_block *block)
{
    return block->attention == PM_ATTENTION_GROUPED || block->attention == PM_ATTENTION_LATENT;
}

static double state_bytes(const struct sheet *sheet, size_t index)
{
    struct pm_block block;
    struct pm_model alone = block_alone(&sheet->model->model, index, &block);
    struct pm_params params;
    pm_count_params(&alone, &params);
    return params.state_bytes / sheet->input->tp;
}

static double cached_token_bytes(const struct sheet *sheet, const struct pm_block *block)
{
    double v_dim = block->v_dim > 0 ? block->v_dim : block->head_dim;
    double heads = fmax(ceil(block->kv_heads / sheet->input->tp), block->kv_heads > 0);
    double values = block->attention == PM_ATTENTION_LATENT ? block->kv_rank + block->rope_dim
                                                            : heads * (block->head_dim + v_dim);
    return keeps_tokens(block) && !block->reuses_kv ? values * sheet->model->model.kv_format.bits / 8 : 0;
}

/* Tokens, index and state that a decode step reads of one block. */
static void decode_cache(struct sheet *sheet, struct derive_node *part, size_t index)
{
    const struct pm_block *block = &sheet->model->model.blocks[index];
    double token = cached_token_bytes(sheet, block), sequences = sequences_of(sheet);
    double state = state_bytes(sheet, index), context = sheet->result->context;
    struct buffer sum = buffer_in(sheet->arena);
    add_sequences(sheet, part, false);
    if (token > 0) {
        double rest = block->index_heads > 0 ? block->index_dim * sequences * context : 0;
        struct derive_node *tokens = sheet_part(
            sheet, part, "attended", (part->value.value - rest - 2 * sequences * state) / sequences / token,
            "tokens", "Tokens that a sequence reads.");
        set_attended(sheet, tokens, index, first_of(sheet), last_of(sheet), "decode.context");
        sheet_attribute(sheet, part, sheet->model->kv_cache, "bits", "bits",
                        sheet->model->model.kv_format.bits, "1");
        sheet_plus(&sum, arena_printf(sheet->arena, "sequences * attended / 1 token * %s * bits * 1 B / 8",
                                      token_bytes(block)));
    }
    if (block->index_heads > 0)
        sheet_plus(&sum, "sequences * decode.context / 1 token * index_dim * 1 B");
    if (state > 0) {
        sheet_part(sheet, part, "state", state, "B", "Of one sequence, on one GPU.");
        sheet_plus(&sum, "2 * sequences * state");
    }
    sheet_formula(part, buffer_string(&sum));
    block_sizes(sheet, part, index);
}

static bool cache_traffic(struct sheet *sheet, struct derive_node *node)
{
    struct buffer sum = buffer_in(sheet->arena);
    for (size_t i = 0; i < sheet->model->model.block_count; i++) {
        struct pm_result one;
        block_result(sheet, i, &one);
        if (!(one.decode_ceiling.kv_traffic > 0))
            continue;
        struct derive_node *part =
            block_part(sheet, node, i, "cache_read", one.decode_ceiling.kv_traffic, "B");
        decode_cache(sheet, part, i);
        sheet_plus(&sum, arena_printf(sheet->arena, "%s * %s", block_count(sheet, node, i), part->name));
    }
    sheet_formula(node, buffer_string(&sum));
    return sum.length > 0;
}

/* A prompt reads every weight once, as a decode step does, and what of it is cached already. */
static bool prefill_traffic(struct sheet *sheet, struct derive_node *node)
{
    const struct pm_ceiling *ceiling = &sheet->result->prefill_ceiling;
    struct buffer sum = buffer_in(sheet->arena), cached = buffer_in(sheet->arena);
    double spared = ceiling->weight_traffic + ceiling->kv_traffic - ceiling->traffic;
    sheet_plus(&sum, sheet->input->pp > 1 ? "decode.weight_traffic / pp" : "decode.weight_traffic");
    if (sheet->input->model->tower_tokens > 0) {
        sheet_part(sheet, node, "tower_weights",
                   2 * sheet->input->model->tower_params / sheet->input->tp / sheet->input->pp, "B",
                   "Of the tower, in 16 bits.");
        sheet_plus(&sum, "tower_weights");
    }
    if (ceiling->kv_traffic > 0) {
        struct derive_node *part = sheet_part(sheet, node, "cache_moved", ceiling->kv_traffic, "B",
                                              "Cached tokens that are read, and states.");
        for (size_t i = 0; i < sheet->model->model.block_count; i++) {
            struct pm_result one;
            block_result(sheet, i, &one);
            if (!(one.prefill_ceiling.kv_traffic > 0))
                continue;
            const char *name =
                block_part(sheet, part, i, "cache_moved", one.prefill_ceiling.kv_traffic, "B")->name;
            sheet_plus(&cached, arena_printf(sheet->arena, "%s * %s", block_count(sheet, part, i), name));
        }
        sheet_formula(part, buffer_string(&cached));
        sheet_plus(&sum, "cache_moved");
    }
    if (spared > 0)
        sheet_part(sheet, node, "spared", spared, "B", "What the card's last-level cache may hold.");
    sheet_printf(sheet, node, "%s%s", buffer_string(&sum), spared > 0 ? " - spared" : "");
    return true;
}

bool sheet_of_ceiling(struct sheet *sheet, enum quantity quantity, struct derive_node *node)
{
    if (!sheet->input)
        return false;
    switch (quantity) {
    case Q_DECODE_ATTENTION_WORK: return attention_work(sheet, node, false);
    case Q_PREFILL_ATTENTION_WORK: return attention_work(sheet, node, true);
    case Q_DECODE_KV_TRAFFIC: return cache_traffic(sheet, node);
    case Q_PREFILL_TRAFFIC: return prefill_traffic(sheet, node);
    default: return sheet_of_products(sheet, quantity, node);
    }
}
