/* memory.c: what stands on the fullest GPU (model.md section 2, edges.md): weights as the parallelism
 * divides them, the cache in whole pages, activations and overhead; and what still fits. */
#include "model/internal.h"

struct pm_layout pm_layout_of(const struct pm_case *input)
{
    struct pm_layout layout = {
        .tp = pm_at_least(input->tp, 1),
        .pp = pm_at_least(input->pp, 1),
        .dp = pm_at_least(input->dp, 1),
        .ep = pm_at_least(input->ep, 1),
    };
    layout.stage_gpus = layout.tp * layout.dp;
    layout.ep = pm_at_most(layout.ep, layout.stage_gpus);
    layout.gpus = layout.stage_gpus * layout.pp;
    return layout;
}

bool pm_is_static(const struct pm_case *input)
{
    return input->static_step || input->context > 0 || !(input->output > 0);
}

double pm_queries(const struct pm_case *input)
{
    return 1 + pm_at_least(input->draft_tokens, 0);
}

double pm_prompt_tokens(const struct pm_case *input)
{
    double prompt = pm_at_least(input->prompt, 0);
    return prompt > 0 ? prompt + pm_at_least(input->model->tower_tokens, 0) : 0;
}

double pm_page(const struct pm_case *input)
{
    return pm_at_least(input->page > 0 ? input->page : input->engine->page, 1);
}

/* ---- the cache ------------------------------------------------------------------------------ */

/* Heads replicate once tp exceeds their number, and round up where tp does not divide them. */
double pm_kv_heads_per_gpu(const struct pm_block *block, double tp)
{
    return pm_at_least(ceil(block->kv_heads / tp), block->kv_heads > 0 ? 1 : 0);
}

double pm_kv_token_bytes(const struct pm_view *view, const struct pm_block *block, double tp)
{
    double values = 0;
    if (block->attention == PM_ATTENTION_GROUPED) {
        values =
            pm_kv_heads_per_gpu(block, tp) * (block->head_dim + (block->shared_kv ? 0 : pm_v_dim(block)));
    } else if (block->attention == PM_ATTENTION_LATENT) {
        values = block->kv_rank + block->rope_dim;
    }
    return pm_bytes(values, &view->model->kv_format);
}

/* 8-bit keys with a 4-byte scale, as DeepSeek-V3.2 keeps them. */
double pm_index_token_bytes(const struct pm_block *block)
{
    return block->index_heads > 0 ? block->index_dim + 4 : 0;
}

double pm_reach(const struct pm_block *block)
{
    return block->window > 0 ? block->window : block->chunk;
}

/* 32-bit recurrent state and a 16-bit tail of the convolution's input; Mamba: 32-bit state. */
double pm_block_state(const struct pm_block *block, double tp)
{
    if (block->state_bytes > 0) {
        return block->state_bytes / tp;
    }
    if (block->attention == PM_ATTENTION_LINEAR) {
        double keys = block->linear_key_heads * block->linear_key_dim;
        double values = block->linear_value_heads * block->linear_value_dim;
        double tail = (2 * keys + values) * pm_at_least(block->conv_kernel - 1, 0) * 2;
        return (values * block->linear_key_dim * 4 + tail) / tp;
    }
    if (block->attention == PM_ATTENTION_MAMBA) {
        return block->ssm_heads * block->ssm_head_dim * block->ssm_state * 4 / tp;
    }
    return 0;
}

static double whole_pages(double tokens, double page)
{
    return page > 1 ? ceil(tokens / page) * page : tokens;
}

/* Blocks of one kind on the largest stage. Kinds are taken as mixed evenly, except a few leading dense
 * blocks of a mixture of experts, which all stand on the first stage and leave the others heavier. */
static double stage_blocks(const struct pm_view *view, const struct pm_layout *layout, size_t index)
{
    const struct pm_model *model = view->model;
    double count = model->blocks[index].count;
    if (!(layout->pp > 1)) {
        return count;
    }
    double stage = ceil(view->layers / layout->pp);
    double leading = 0;
    if (model->block_count > 1 && model->blocks[0].experts <= 0 && model->blocks[1].experts > 0 &&
        model->blocks[0].count * 8 <= view->layers) {
        leading = model->blocks[0].count;
    }
    if (leading > 0 && index == 0) {
        return 0;
    }
    return pm_at_most(count, count * pm_divide(stage, view->layers - leading));
}

double pm_kv_stage_bytes(const struct pm_case *input, const struct pm_view *view,
                         const struct pm_layout *layout, double tokens, double page)
{
    (void)input;
    double bytes = 0, pages = whole_pages(tokens, page);
    for (size_t i = 0; i < view->model->block_count; i++) {
        const struct pm_block *block = &view->model->blocks[i];
        double reach = pm_reach(block);
        double kept = reach > 0 ? whole_pages(pm_at_most(tokens, reach), page) : pages;
        bytes += stage_blocks(view, layout, i) *
                 (pm_kv_token_bytes(view, block, layout->tp) * kept + pm_index_token_bytes(block) * pages +
                  pm_block_state(block, layout->tp));
    }
    return bytes;
}

double pm_kv_bytes(const struct pm_model *model, double tokens, double tp)
{
    struct pm_view view = pm_view_of(model);
    struct pm_layout layout = {
        .tp = pm_at_least(tp, 1), .pp = 1, .dp = 1, .ep = 1, .stage_gpus = 1, .gpus = 1};
    return pm_kv_stage_bytes(NULL, &view, &layout, pm_at_least(tokens, 0), 1);
}

/* Bytes that one more token adds at `tokens` tokens; 0 tokens: that blocks without a reach add. */
static double kv_slope(const struct pm_view *view, const struct pm_layout *layout, double tokens)
{
    double slope = 0;
    for (size_t i = 0; i < view->model->block_count; i++) {
        const struct pm_block *block = &view->model->blocks[i];
        bool grows = !(pm_reach(block) > 0) || (tokens > 0 && tokens < pm_reach(block));
        slope += stage_blocks(view, layout, i) *
                 ((grows ? pm_kv_token_bytes(view, block, layout->tp) : 0) + pm_index_token_bytes(block));
    }
    return slope;
}

/* ---- weights -------------------------------------------------------------------------------- */

enum { EMBEDDING, POSITIONS, ATTENTION, FFN, EXPERTS, SHARED, ROUTER, NORMS, HEAD, OTHER, CLASSES };

static void add_block_weights(const struct pm_view *view, const struct pm_layout *layout, size_t index,
                              double by_class[CLASSES])
{
    const struct pm_block *block = &view->model->blocks[index];
    const struct pm_format *dense = pm_format_ffn(view, block), *vectors = &view->model->norm_format;
    struct pm_block_counts one;
    pm_count_block(view, block, &one);
    double blocks = stage_blocks(view, layout, index), tp = layout->tp;
    double key_value = pm_divide(one.key_value * pm_kv_heads_per_gpu(block, tp), block->kv_heads);
    /* ceil(E/ep) experts, each as wide as the GPUs that share it leave it. */
    double experts = pm_divide(ceil(block->experts / layout->ep), layout->stage_gpus / layout->ep);
    by_class[ATTENTION] += blocks * (pm_bytes(one.attention_split / tp + one.attention_whole + key_value,
                                              pm_format_attention(view, block)) +
                                     pm_bytes(one.attention_vectors, vectors));
    by_class[FFN] +=
        blocks * (pm_bytes((one.ffn + one.latent) / tp, dense) + pm_bytes(one.ffn_vectors, vectors));
    by_class[EXPERTS] +=
        blocks * experts *
        (pm_bytes(one.expert, &block->expert_format) + pm_bytes(one.expert_vectors, vectors));
    by_class[SHARED] += blocks * pm_bytes(one.shared / tp, &block->shared_format);
    by_class[ROUTER] +=
        blocks * (pm_bytes(one.router, &block->router_format) + pm_bytes(one.router_vectors, vectors));
    by_class[NORMS] += blocks * pm_bytes(one.norms, vectors);
    by_class[OTHER] += blocks * pm_bytes(one.other / tp, dense);
}

/* Embedding on the first stage, head on the last; of the two only the heavier end counts when they are
 * apart. The vocabulary pads to a multiple of 64 tp where tp does not divide it. */
static void add_end_weights(const struct pm_case *input, const struct pm_view *view,
                            const struct pm_layout *layout, double by_class[CLASSES])
{
    const struct pm_model *model = view->model;
    const struct pm_format *vectors = &model->norm_format;
    double vocab = model->vocab, unit = 64 * layout->tp;
    if (fmod(vocab, layout->tp) > 0) {
        vocab = ceil(vocab / unit) * unit;
    }
    double table = vocab * model->hidden / layout->tp;
    double embedding = pm_bytes(table, &model->embedding_format);
    double positions = pm_bytes(model->positions * model->hidden, &model->embedding_format);
    bool one_copy = pm_head_is_embedding(view) && !(layout->pp > 1) && !input->engine->embedding_on_host;
    double head = one_copy ? 0 : pm_bytes(table, pm_format_head(view));
    head += pm_bytes(model->head_bias ? vocab / layout->tp : 0, vectors);
    if (input->engine->embedding_on_host) {
        embedding = positions = 0;
    }
    if (layout->pp > 1 && embedding + positions > head) {
        head = 0;
    } else if (layout->pp > 1) {
        embedding = positions = 0;
    }
    by_class[EMBEDDING] += embedding;
    by_class[POSITIONS] += positions;
    by_class[HEAD] += head;
    by_class[NORMS] +=
        pm_bytes(model->hidden * (model->final_norms + (model->embedding_norm ? 2 : 0)), vectors);
    by_class[OTHER] += pm_bytes(model->extra_params, &model->weights_format) / layout->tp;
    by_class[OTHER] += 2 * model->tower_params; /* whole on every GPU, in 16 bits */
}

static void weights_of(const struct pm_case *input, const struct pm_model *model, double by_class[CLASSES])
{
    struct pm_view view = pm_view_of(model);
    struct pm_layout layout = pm_layout_of(input);
    double classes[CLASSES] = {0};
    for (size_t i = 0; i < model->block_count; i++) {
        add_block_weights(&view, &layout, i, classes);
    }
    if (!view.declared) {
        add_end_weights(input, &view, &layout, classes);
    } else if (model->block_count == 0) {
        classes[OTHER] += pm_bytes(model->declared_params, &model->weights_format) / (layout.tp * layout.pp);
    }
    for (size_t i = 0; i < CLASSES; i++) {
        by_class[i] += classes[i] * view.scale;
    }
}

/* The model's weights, and those that speculation adds. */
static void all_weights(const struct pm_case *input, struct pm_memory *out)
{
    weights_of(input, input->model, out->weights_by_class);
    if (input->draft_tokens > 0 && input->draft_model != NULL) {
        double draft[CLASSES] = {0};
        weights_of(input, input->draft_model, draft);
        for (size_t i = 0; i < CLASSES; i++) {
            out->weights_by_class[OTHER] += draft[i];
        }
    } else if (input->draft_tokens > 0) {
        const struct pm_model *model = input->model;
        const struct pm_format *format = model->block_count > 0
                                             ? &model->blocks[model->block_count - 1].ffn_format
                                             : &model->weights_format;
        out->weights_by_class[OTHER] += pm_bytes(model->mtp_params, format) / pm_layout_of(input).stage_gpus;
    }
    for (size_t i = 0; i < CLASSES; i++) {
        out->weights += out->weights_by_class[i];
    }
}

/* ---- activations ---------------------------------------------------------------------------- */

/* 2 * tokens * (3 d + 3 f/tp) bytes for the largest block kind, and 32-bit logits. */
static double activations_of(const struct pm_case *input, double batch)
{
    const struct pm_model *model = input->model;
    struct pm_view view = pm_view_of(model);
    struct pm_layout layout = pm_layout_of(input);
    double rows = ceil(batch / layout.dp) * pm_queries(input);
    double chunk = input->chunk > 0 ? input->chunk : input->engine->chunk;
    double prompt = pm_prompt_tokens(input);
    double tokens = prompt > 0 ? (chunk > 0 ? pm_at_most(chunk, prompt) : prompt) : rows;
    double width = view.declared && !view.declared_bare ? view.declared_block / (3 * model->hidden) : 0;
    for (size_t i = 0; i < model->block_count; i++) {
        const struct pm_block *block = &model->blocks[i];
        width = pm_at_least(block->ffn, width);
        width = pm_at_least(block->active_experts * block->expert_ffn, width);
    }
    return 2 * tokens * (3 * model->hidden + 3 * width / layout.tp) + rows * model->vocab / layout.tp * 4;
}

/* ---- what fits ------------------------------------------------------------------------------ */

/* One sequence on the fullest GPU, the draft model's cache included. */
static double sequence_bytes(const struct pm_case *input, double tokens, double page)
{
    struct pm_layout layout = pm_layout_of(input);
    struct pm_view view = pm_view_of(input->model);
    double bytes = pm_kv_stage_bytes(input, &view, &layout, tokens, page);
    if (input->draft_tokens > 0 && input->draft_model != NULL) {
        struct pm_view draft = pm_view_of(input->draft_model);
        bytes += pm_kv_stage_bytes(input, &draft, &layout, tokens, page);
    }
    return bytes;
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
    struct pm_layout layout = pm_layout_of(input);
    double sequences = ceil(batch / layout.dp);
    return memory->weights + memory->overhead + activations_counted(input, batch) +
               sequences * memory->kv_per_sequence <=
           memory->usable;
}

static bool context_fits(const struct pm_case *input, const struct pm_memory *memory, double tokens)
{
    double sequences = ceil(pm_at_least(input->batch, 1) / pm_layout_of(input).dp);
    return sequences * sequence_bytes(input, tokens, pm_page(input)) <= memory->pool;
}

/* Beyond every real batch and length, and exact as a double. */
static const double MOST_SEQUENCES = 1e12, MOST_TOKENS = 1e12;

/* Tokens in whole pages that each of `sharers` finds in the pool, besides the states and full windows of
 * `sequences`; a model that has only windows counts in those. */
static double pool_tokens(const struct pm_case *input, double pool, double sequences, double sharers)
{
    struct pm_layout layout = pm_layout_of(input);
    struct pm_view view = pm_view_of(input->model);
    double slope = kv_slope(&view, &layout, 0), fixed = 0;
    double page = pm_page(input);
    bool windows = slope > 0;
    for (size_t i = 0; i < view.model->block_count; i++) {
        const struct pm_block *block = &view.model->blocks[i];
        double blocks = stage_blocks(&view, &layout, i);
        double token = blocks * pm_kv_token_bytes(&view, block, layout.tp);
        fixed += blocks * pm_block_state(block, layout.tp);
        fixed += windows ? token * whole_pages(pm_reach(block), page) : 0;
        slope += windows ? 0 : token;
    }
    double room = pool - sequences * fixed;
    return room > 0 ? floor(pm_divide(room, slope * sharers) / page) * page : 0;
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

/* Tokens reserved for one sequence. */
static double reserved_tokens(const struct pm_case *input)
{
    double drafts = pm_at_least(input->draft_tokens, 0);
    if (pm_is_static(input)) {
        return input->context > 0 ? input->context + drafts : 0;
    }
    return pm_prompt_tokens(input) + input->output + drafts;
}

void pm_memory_of(const struct pm_case *input, struct pm_memory *out)
{
    struct pm_layout layout = pm_layout_of(input);
    struct pm_view view = pm_view_of(input->model);
    double batch = pm_at_least(input->batch, 1), page = pm_page(input);
    double utilization = input->utilization > 0 ? input->utilization : input->engine->utilization;
    *out = (struct pm_memory){0};
    all_weights(input, out);
    out->capacity = pm_at_least(input->gpu->memory, 0);
    out->usable = out->capacity * (utilization > 0 ? pm_at_most(utilization, 1) : 1);
    out->overhead = pm_at_least(input->engine->overhead, 0);
    out->activations = activations_counted(input, batch);
    out->pool = out->usable - out->weights - out->activations - out->overhead;
    out->kv_per_sequence = sequence_bytes(input, reserved_tokens(input), page);
    out->kv_per_token = kv_slope(&view, &layout, pm_at_least(whole_pages(reserved_tokens(input), page), 1));

    double most = floor(pm_divide(out->pool, out->kv_per_sequence));
    if (!input->engine->activations_in_overhead || !(out->kv_per_sequence > 0)) {
        out->max_batch = greatest(MOST_SEQUENCES, MOST_SEQUENCES, input, out, batch_fits);
    } else if (most > 0) {
        out->max_batch = layout.dp * (most * out->kv_per_sequence <= out->pool ? most : most - 1);
    }
    out->max_batch_limit =
        out->kv_per_sequence > 0 || out->max_batch < MOST_SEQUENCES ? PM_LIMIT_MEMORY : PM_LIMIT_NONE;
    /* A closed loop holds the sequences that fit and lets the rest wait; a static step needs them all. */
    double sequences = ceil(batch / layout.dp);
    if (!pm_is_static(input)) {
        sequences = pm_at_most(sequences, pm_at_least(floor(out->max_batch / layout.dp), 1));
    }
    out->kv = sequences * out->kv_per_sequence;
    out->total = out->weights + out->kv + out->activations + out->overhead;
    out->free = out->usable - out->total;
    out->fits = out->total <= out->usable;
    out->shortfall = out->fits ? 0 : out->total - out->usable;
    out->kv_tokens = pool_tokens(input, out->pool, sequences, 1);
    limit_context(input, out);
}

double pm_running(const struct pm_case *input, const struct pm_memory *memory)
{
    double batch = pm_at_least(input->batch, 1);
    if (pm_is_static(input)) {
        return batch;
    }
    struct pm_layout layout = pm_layout_of(input);
    struct pm_view view = pm_view_of(input->model);
    double prompt = pm_prompt_tokens(input), mean = prompt + 0.75 * input->output;
    if (input->engine->as_calibrated) {
        /* The prototype's capacity: blocks without a window alone, never less than one request. */
        double slope = kv_slope(&view, &layout, 0);
        double tokens = slope > 0 ? pm_at_least(memory->pool / slope, prompt + input->output) : PM_HUGE;
        return pm_at_most(batch, layout.dp * tokens / mean);
    }
    double bytes = sequence_bytes(input, mean + pm_at_least(input->draft_tokens, 0), pm_page(input));
    double room = bytes > 0 ? layout.dp * pm_divide(memory->pool, bytes) : batch;
    return pm_at_most(batch, pm_at_least(pm_at_least(room, memory->max_batch), layout.dp));
}
