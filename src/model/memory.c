/* memory.c: what stands on the fullest GPU (model.md section 2, edges.md): weights (weights.c), the cache
 * (cache.c), activations and overhead; and what still fits. */
#include <string.h>

#include "model/internal.h"

/* ---- activations ---------------------------------------------------------------------------- */

/* The widest a block gets: dense, or with all experts of a token. */
static double widest_block(const struct pm_view *view)
{
    const struct pm_model *model = view->model;
    double width = view->declared && !view->declared_bare ? view->declared_block / (3 * model->hidden) : 0;
    for (size_t i = 0; i < model->block_count; i++) {
        const struct pm_block *block = &model->blocks[i];
        width = pm_at_least(block->ffn, width);
        width = pm_at_least(block->active_experts * block->expert_ffn, width);
    }
    return width;
}

/* 2 * tokens * (3 d + 3 f/tp) bytes for the largest block kind, and 32-bit logits. An engine that sizes them
 * at start takes a full chunk, or the sampling of as many sequences as it admits, whichever needs more. */
static double activations_of(const struct pm_case *input, double batch)
{
    const struct pm_model *model = input->model;
    const struct pm_engine *engine = input->engine;
    const struct pm_view *view = pm_view_in(input, model);
    struct pm_layout layout = pm_layout_of(input);
    double rows = ceil(batch / layout.dp) * pm_queries(input);
    double chunk = pm_chunk(input), prompt = pm_prompt_tokens(input);
    double tokens = prompt > 0 ? (chunk > 0 ? pm_at_most(chunk, prompt) : prompt) : rows;
    double token_bytes = 2 * (3 * model->hidden + 3 * widest_block(view) / layout.tp);
    if (engine->profile_rows > 0) {
        return pm_at_least((chunk > 0 ? chunk : tokens) * token_bytes,
                           engine->profile_rows * model->vocab * engine->profile_row_bytes);
    }
    return tokens * token_bytes + rows * model->vocab / layout.tp * 4;
}

/* ---- overhead ------------------------------------------------------------------------------- */

/* A cache that takes only a share of what is left keeps the rest in reserve. */
static double reserve_of(const struct pm_engine *engine, double left)
{
    bool shares = engine->cache_share > 0 && engine->cache_share < 1;
    return shares ? (1 - engine->cache_share) * pm_at_least(left, 0) : 0;
}

/* What stands beside weights, activations and cache. */
static void add_overhead(const struct pm_case *input, struct pm_memory *out)
{
    const struct pm_engine *engine = input->engine;
    out->communicator = pm_layout_of(input).gpus > 1 ? pm_at_least(engine->communicator, 0) : 0;
    out->graphs = pm_at_least(engine->graphs, 0);
    out->overhead = pm_at_least(engine->overhead, 0) + out->communicator;
    if (engine->graphs_in_cap) {
        out->overhead += out->graphs;
    } else {
        out->usable = pm_at_most(out->usable, pm_at_least(out->capacity - out->graphs, 0));
    }
    out->reserve = reserve_of(engine, out->usable - out->weights - out->activations - out->overhead);
    out->overhead += out->reserve;
}

/* ---- what fits ------------------------------------------------------------------------------ */

/* The cache of one sequence on the fullest GPU, and what of it all sequences share. */
struct sequence {
    double bytes, shared;
};

static double shared_bytes(const struct pm_case *input, const struct pm_model *model, double tokens)
{
    struct pm_layout layout = pm_layout_of(input);
    const struct pm_view *view = pm_view_in(input, model);
    double prefix = pm_at_most(pm_at_least(input->cached_prefix, 0), tokens);
    return pm_kv_shared_bytes(input, view, &layout, prefix);
}

static double own_bytes(const struct pm_case *input, const struct pm_model *model, double tokens)
{
    struct pm_layout layout = pm_layout_of(input);
    const struct pm_view *view = pm_view_in(input, model);
    return pm_kv_stage_bytes(input, view, &layout, tokens, pm_page(input));
}

/* The draft model's cache included. */
static struct sequence sequence_of(const struct pm_case *input, double tokens)
{
    struct sequence out = {own_bytes(input, input->model, tokens), shared_bytes(input, input->model, tokens)};
    const struct pm_prepared *draft = input->prepared->draft;
    if (draft != NULL) {
        out.bytes += own_bytes(input, draft->view.model, tokens);
        out.shared += shared_bytes(input, draft->view.model, tokens);
    }
    return out;
}

/* A shared prefix is stored once in the pool (edges.md). */
static double cache_of(const struct sequence *sequence, double sequences)
{
    return sequence->shared + sequences * (sequence->bytes - sequence->shared);
}

/* Greatest integer in [0, most] that fits, where fits() is true below and false above; `guess` saves the
 * search when it is right. */
static double greatest(double most, double guess, const struct pm_case *input, const struct pm_memory *memory,
                       bool (*fits)(const struct pm_case *, const struct pm_memory *, double))
{
    double low = 0, high = most;
    if (guess < most && fits(input, memory, guess) && !fits(input, memory, guess + 1)) {
        return guess;
    }
    if (fits(input, memory, most)) {
        return most;
    }
    while (high - low > 1) {
        double middle = floor(low + (high - low) / 2);
        if (fits(input, memory, middle)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static double activations_counted(const struct pm_case *input, double batch)
{
    return input->engine->activations_in_overhead ? 0 : activations_of(input, batch);
}

static bool batch_fits(const struct pm_case *input, const struct pm_memory *memory, double batch)
{
    double sequences = ceil(batch / pm_layout_of(input).dp);
    double used = memory->weights + memory->overhead - memory->reserve + activations_counted(input, batch);
    return used + reserve_of(input->engine, memory->usable - used) + memory->kv_shared +
               sequences * (memory->kv_per_sequence - memory->kv_shared) <=
           memory->usable;
}

static bool context_fits(const struct pm_case *input, const struct pm_memory *memory, double tokens)
{
    double sequences = ceil(pm_at_least(input->batch, 1) / pm_layout_of(input).dp);
    struct sequence sequence = sequence_of(input, tokens);
    return cache_of(&sequence, sequences) <= memory->pool;
}

/* Beyond every real batch and length, and exact as a double. */
static const double MOST_SEQUENCES = 1e12, MOST_TOKENS = 1e12;

/* Tokens reserved for one sequence. */
static double reserved_tokens(const struct pm_case *input)
{
    double drafts = pm_at_least(input->draft_tokens, 0);
    if (pm_is_static(input)) {
        return input->context > 0 ? input->context + drafts : 0;
    }
    return pm_prompt_tokens(input) + input->output + drafts;
}

/* Tokens in whole pages that each of `sharers` finds in the pool, besides the states and full windows of
 * `sequences`; a model that has only windows counts in those. */
static double pool_tokens(const struct pm_case *input, double pool, double sequences, double sharers)
{
    struct pm_layout layout = pm_layout_of(input);
    const struct pm_view *view = &input->prepared->view;
    double slope = pm_kv_slope(view, 0), page = pm_page(input);
    bool windows = slope > 0;
    for (size_t i = 0; i < view->model->block_count && !windows; i++) {
        slope += view->kinds[i].blocks * view->kinds[i].kv_token;
    }
    double room = pool - sequences * pm_kv_constant(input, view, &layout, windows);
    return room > 0 ? floor(pm_divide(room, slope * sharers) / page) * page : 0;
}

/* What an engine logs at start. With pages that all kinds of blocks share, those are tokens of requests as
 * long as the one reserved: pages of the pool over pages of a request. */
static double logged_tokens(const struct pm_case *input, double pool, double sequences)
{
    struct pm_layout layout = pm_layout_of(input);
    const struct pm_view *view = &input->prepared->view;
    struct pm_pages pages;
    double tokens = reserved_tokens(input);
    if (!pm_unify_pages(input, view, &layout, &pages) || !(tokens > 0)) {
        return pool_tokens(input, pool, sequences, 1);
    }
    double request = pm_unified_pages(input, view, &layout, &pages, tokens);
    return pool > 0 ? floor(pm_divide(floor(pool / pages.bytes) * tokens, request)) : 0;
}

/* Tokens of a page, in the blocks that store most per token. */
static double page_tokens(const struct pm_case *input)
{
    struct pm_layout layout = pm_layout_of(input);
    const struct pm_view *view = &input->prepared->view;
    struct pm_pages pages;
    return pm_unify_pages(input, view, &layout, &pages) ? pages.tokens : pm_page(input);
}

static void limit_context(const struct pm_case *input, struct pm_memory *out)
{
    double model_limit = input->model->max_context;
    double sequences = ceil(pm_at_least(input->batch, 1) / pm_layout_of(input).dp);
    double guess = pool_tokens(input, out->pool, sequences, sequences);
    out->max_context = greatest(MOST_TOKENS, guess, input, out, context_fits);
    out->max_context_limit = PM_LIMIT_MEMORY;
    if (model_limit > 0 && model_limit <= out->max_context) {
        out->max_context = model_limit;
        out->max_context_limit = PM_LIMIT_MODEL;
    } else if (out->max_context >= MOST_TOKENS) {
        out->max_context_limit = PM_LIMIT_NONE;
    }
}

/* Sequences that fit when only their cache counts, on all replicas of attention. */
static double limit_batch(const struct pm_case *input, const struct pm_memory *out)
{
    double own = out->kv_per_sequence - out->kv_shared;
    if (!input->engine->activations_in_overhead || !(own > 0)) {
        return greatest(MOST_SEQUENCES, MOST_SEQUENCES, input, out, batch_fits);
    }
    double most = floor(pm_divide(out->pool - out->kv_shared, own));
    if (!(most > 0)) {
        return 0;
    }
    return pm_layout_of(input).dp * (out->kv_shared + most * own <= out->pool ? most : most - 1);
}

/* What of the card may be used: a share of the memory, or of what the driver reports of it. */
static void set_capacity(const struct pm_case *input, struct pm_memory *out)
{
    const struct pm_gpu *gpu = input->gpu;
    double utilization = input->utilization > 0 ? input->utilization : input->engine->utilization;
    out->capacity = pm_at_least(gpu->memory, 0);
    if (input->engine->cap_on_driver_memory && gpu->driver_memory > 0) {
        out->capacity = pm_at_most(gpu->driver_memory, out->capacity);
    }
    out->usable = out->capacity * (utilization > 0 ? pm_at_most(utilization, 1) : 1);
}

static void take_weights(const struct pm_stored *weights, struct pm_memory *out)
{
    out->weights = weights->total;
    out->rope_table = weights->rope_table;
    out->allocator_slack = weights->allocator_slack;
    memcpy(out->weights_by_class, weights->by_class, sizeof out->weights_by_class);
}

void pm_find_memory(const struct pm_case *input, struct pm_memory *out)
{
    struct pm_layout layout = pm_layout_of(input);
    const struct pm_view *view = &input->prepared->view;
    double batch = pm_at_least(input->batch, 1), tokens = reserved_tokens(input);
    *out = (struct pm_memory){0};
    take_weights(&input->prepared->weights, out);
    set_capacity(input, out);
    out->activations = activations_counted(input, batch);
    add_overhead(input, out);
    out->pool = out->usable - out->weights - out->activations - out->overhead;
    struct sequence sequence = sequence_of(input, tokens);
    out->kv_per_sequence = sequence.bytes;
    out->kv_shared = sequence.shared;
    out->kv_per_token = pm_kv_slope(view, pm_at_least(pm_whole_pages(tokens, pm_page(input)), 1));
    out->page_tokens = page_tokens(input);

    out->max_batch = limit_batch(input, out);
    out->max_batch_limit =
        out->kv_per_sequence > 0 || out->max_batch < MOST_SEQUENCES ? PM_LIMIT_MEMORY : PM_LIMIT_NONE;
    /* A closed loop holds the sequences that fit and lets the rest wait; a static step needs them all. */
    out->kv_sequences = ceil(batch / layout.dp);
    if (!pm_is_static(input)) {
        out->kv_sequences = pm_at_most(out->kv_sequences, pm_at_least(floor(out->max_batch / layout.dp), 1));
    }
    out->kv = cache_of(&sequence, out->kv_sequences);
    out->total = out->weights + out->kv + out->activations + out->overhead;
    out->free = out->usable - out->total;
    out->fits = out->total <= out->usable;
    out->shortfall = out->fits ? 0 : out->total - out->usable;
    out->kv_tokens = logged_tokens(input, out->pool, out->kv_sequences);
    limit_context(input, out);
}

double pm_running(const struct pm_case *input, const struct pm_memory *memory)
{
    double batch = pm_at_least(input->batch, 1);
    if (pm_is_static(input)) {
        return batch;
    }
    struct pm_layout layout = pm_layout_of(input);
    const struct pm_view *view = &input->prepared->view;
    double prompt = pm_prompt_tokens(input), mean = prompt + 0.75 * input->output;
    if (input->engine->as_calibrated) {
        /* The prototype's capacity: blocks without a window alone, never less than one request. */
        double slope = pm_kv_slope(view, 0);
        double tokens = slope > 0 ? pm_at_least(memory->pool / slope, prompt + input->output) : PM_HUGE;
        return pm_at_most(batch, layout.dp * tokens / mean);
    }
    struct sequence sequence = sequence_of(input, mean + pm_at_least(input->draft_tokens, 0));
    double own = sequence.bytes - sequence.shared;
    double room = own > 0 ? layout.dp * pm_divide(memory->pool - sequence.shared, own) : batch;
    return pm_at_most(batch, pm_at_least(pm_at_least(room, memory->max_batch), layout.dp));
}
