/* cache.c: what one sequence keeps on the fullest GPU (model.md section 2, edges.md): keys and values in
 * whole pages, latent caches, windows, the keys of a sparse index, and states; and the one size of page that
 * some engines cut all of it into. */
#include "model/internal.h"

/* Heads replicate once tp exceeds their number, and round up where tp does not divide them. */
double pm_kv_heads_per_gpu(const struct pm_block *block, double tp)
{
    return pm_at_least(ceil(block->kv_heads / tp), block->kv_heads > 0 ? 1 : 0);
}

double pm_read_token_bytes(const struct pm_view *view, const struct pm_block *block, double tp)
{
    double values = 0;
    if (block->attention == PM_ATTENTION_GROUPED) {
        values = pm_kv_heads_per_gpu(block, tp) * (block->head_dim + pm_v_dim(block));
    } else if (block->attention == PM_ATTENTION_LATENT) {
        values = block->kv_rank + block->rope_dim;
    }
    return pm_bytes(values, &view->model->kv_format);
}

double pm_count_kv_token_bytes(const struct pm_view *view, const struct pm_block *block, double tp)
{
    return block->reuses_kv ? 0 : pm_read_token_bytes(view, block, tp);
}

/* 8-bit keys with a 4-byte scale, as DeepSeek-V3.2 keeps them. */
double pm_index_token_bytes(const struct pm_block *block)
{
    return block->index_heads > 0 ? block->index_dim + 4 : 0;
}

/* The convolution runs over queries, keys and values, in Mamba-2 over its inputs, B and C (vLLM,
 * mamba_utils.py, gated_delta_net_state_shape and mamba2_state_shape). */
double pm_tail_values(const struct pm_block *block)
{
    double channels = 0;
    if (block->state_bytes > 0) {
        return 0;
    }
    if (block->attention == PM_ATTENTION_LINEAR) {
        channels = 2 * block->linear_key_heads * block->linear_key_dim +
                   block->linear_value_heads * block->linear_value_dim;
    } else if (block->attention == PM_ATTENTION_MAMBA) {
        channels = block->ssm_heads * block->ssm_head_dim + 2 * block->ssm_groups * block->ssm_state;
    }
    return channels * pm_at_least(block->conv_kernel - 1, 0);
}

/* 32-bit recurrent state and a 16-bit tail of the convolution's input. */
double pm_block_state(const struct pm_block *block, double tp)
{
    double state = 0;
    if (block->state_bytes > 0) {
        return block->state_bytes / tp;
    }
    if (block->attention == PM_ATTENTION_LINEAR) {
        state = block->linear_value_heads * block->linear_value_dim * block->linear_key_dim;
    } else if (block->attention == PM_ATTENTION_MAMBA) {
        state = block->ssm_heads * block->ssm_head_dim * block->ssm_state;
    }
    return (state * 4 + pm_tail_values(block) * 2) / tp;
}

/* The same as the engine of a case stores it. */
static double stored_state(const struct pm_case *input, const struct pm_kind *kind, double tp)
{
    double tail = input->engine->conv_bytes > 0 ? input->engine->conv_bytes - 2 : 0;
    return kind->state + kind->tail * tail / tp;
}

/* Tokens that a block keeps of a sequence of `tokens`. */
static double kept_tokens(const struct pm_case *input, const struct pm_block *block, double tokens)
{
    double reach = pm_reach(block);
    return reach > 0 ? pm_at_most(tokens, reach + input->engine->window_margin) : tokens;
}

/* Blocks of one kind on the largest stage. Kinds are taken as mixed evenly, except a few leading dense
 * blocks of a mixture of experts, which all stand on the first stage and leave the others heavier. */
double pm_count_stage_blocks(const struct pm_view *view, const struct pm_layout *layout, size_t index)
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

/* Bytes that one more token adds at `tokens` tokens; 0 tokens: that blocks without a reach add. */
double pm_kv_slope(const struct pm_view *view, double tokens)
{
    double slope = 0;
    for (size_t i = 0; i < view->model->block_count; i++) {
        const struct pm_block *block = &view->model->blocks[i];
        const struct pm_kind *kind = &view->kinds[i];
        bool grows = !(pm_reach(block) > 0) || (tokens > 0 && tokens < pm_reach(block));
        slope += kind->blocks * ((grows ? kind->kv_token : 0) + kind->index_token);
    }
    return slope;
}

/* States, and full windows in whole pages, of one sequence. */
double pm_kv_constant(const struct pm_case *input, const struct pm_view *view, const struct pm_layout *layout,
                      bool windows)
{
    double bytes = 0;
    for (size_t i = 0; i < view->model->block_count; i++) {
        const struct pm_block *block = &view->model->blocks[i];
        const struct pm_kind *kind = &view->kinds[i];
        double kept = 0;
        if (windows && pm_reach(block) > 0) {
            kept = pm_whole_pages(kept_tokens(input, block, PM_HUGE), pm_page(input));
        }
        bytes += kind->blocks * (stored_state(input, kind, layout->tp) + kind->kv_token * kept);
    }
    return bytes;
}

double pm_kv_stage_bytes(const struct pm_case *input, const struct pm_view *view,
                         const struct pm_layout *layout, double tokens, double page)
{
    struct pm_pages unified;
    if (pm_unify_pages(input, view, layout, &unified)) {
        return pm_unified_pages(input, view, layout, &unified, tokens) * unified.bytes;
    }
    double bytes = 0, pages = pm_whole_pages(tokens, page);
    for (size_t i = 0; i < view->model->block_count; i++) {
        const struct pm_block *block = &view->model->blocks[i];
        double kept = pm_reach(block) > 0 ? pm_whole_pages(kept_tokens(input, block, tokens), page) : pages;
        const struct pm_kind *kind = &view->kinds[i];
        bytes += kind->blocks *
                 (kind->kv_token * kept + kind->index_token * pages + stored_state(input, kind, layout->tp));
    }
    return bytes;
}

double pm_kv_bytes(const struct pm_model *model, double tokens, double tp)
{
    static const struct pm_engine plain;
    struct pm_workspace workspace;
    struct pm_case alone = {.model = model, .engine = &plain, .tp = tp};
    alone.prepared = pm_prepare(&alone, workspace.storage);
    struct pm_layout layout = pm_layout_of(&alone);
    return pm_kv_stage_bytes(&alone, pm_view_in(&alone, model), &layout, pm_at_least(tokens, 0), 1);
}

/* ---- pages of one size ---------------------------------------------------------------------- */

/* Bytes that a block adds per token where it keeps tokens at all. */
static double token_bytes(const struct pm_kind *kind)
{
    return kind->kv_token + kind->index_token;
}

/* vLLM's hybrid cache manager: kinds of blocks form groups of equally many, a page holds one piece of every
 * block of a group, and all pages have the same bytes. A state that is larger than a page of `page` tokens
 * makes the page as long as it takes. The group is as large as the rarest kind, or the commonest when that is
 * hardly larger. False where all blocks keep all tokens alike, and pages need no such care. */
bool pm_unify_pages(const struct pm_case *input, const struct pm_view *view, const struct pm_layout *layout,
                    struct pm_pages *out)
{
    double page = pm_page(input), widest = 0, state = 0, least = 0, most = 0;
    if (!input->engine->unified_pages) {
        return false;
    }
    *out = (struct pm_pages){0};
    for (size_t i = 0; i < view->model->block_count; i++) {
        const struct pm_block *block = &view->model->blocks[i];
        const struct pm_kind *kind = &view->kinds[i];
        double blocks = kind->blocks, own_state = stored_state(input, kind, layout->tp);
        double token = token_bytes(kind);
        if (!(token > 0) && !(own_state > 0)) {
            continue;
        }
        out->kinds += pm_reach(block) > 0 || own_state > 0;
        widest = pm_at_least(token, widest);
        state = pm_at_least(own_state, state);
        least = least > 0 ? pm_at_most(blocks, least) : blocks;
        most = pm_at_least(blocks, most);
    }
    if (out->kinds == 0 || !(widest > 0)) {
        return false;
    }
    out->group = most < 1.25 * least ? most : least;
    out->tokens = pm_at_least(pm_whole_pages(ceil(state / widest), page), page);
    out->block_bytes = out->tokens * widest;
    out->bytes = out->block_bytes * out->group;
    return true;
}

/* Pages of one sequence: of a window as many as the window and the tokens of a step may touch. */
double pm_unified_pages(const struct pm_case *input, const struct pm_view *view,
                        const struct pm_layout *layout, const struct pm_pages *pages, double tokens)
{
    double sum = 0;
    for (size_t i = 0; i < view->model->block_count; i++) {
        const struct pm_block *block = &view->model->blocks[i];
        const struct pm_kind *kind = &view->kinds[i];
        double token = token_bytes(kind), reach = pm_reach(block);
        double groups = ceil(kind->blocks / pages->group);
        if (stored_state(input, kind, layout->tp) > 0) {
            sum += groups * pm_at_least(input->engine->state_pages, 1);
        }
        if (!(token > 0)) {
            continue;
        }
        double length = floor(pages->block_bytes / token), all = ceil(tokens / length);
        double touched = pm_at_most(reach - 1 + pm_chunk(input), tokens);
        sum += groups * (reach > 0 ? pm_at_most(all, ceil(touched / length) + 1) : all);
    }
    return sum;
}

double pm_kv_shared_bytes(const struct pm_case *input, const struct pm_view *view,
                          const struct pm_layout *layout, double tokens)
{
    struct pm_pages pages;
    if (!(tokens > 0)) {
        return 0;
    }
    if (!pm_unify_pages(input, view, layout, &pages)) {
        return pm_kv_slope(view, 0) * floor(tokens / pm_page(input)) * pm_page(input);
    }
    double sum = 0;
    for (size_t i = 0; i < view->model->block_count; i++) {
        const struct pm_block *block = &view->model->blocks[i];
        double token = token_bytes(&view->kinds[i]);
        if (token > 0 && !(pm_reach(block) > 0)) {
            double groups = ceil(view->kinds[i].blocks / pages.group);
            sum += groups * floor(tokens / floor(pages.block_bytes / token)) * pages.bytes;
        }
    }
    return sum;
}
