/* parts.c: what a result was made of: its steps one by one, with their operations, and the blocks on one GPU.
 * For those who want to show how a figure came about; nothing is computed with it. */
#include "model/internal.h"

double pm_blocks_on_gpu(const struct pm_case *input, size_t block)
{
    struct pm_workspace workspace;
    const struct pm_case *prepared = pm_prepared_case(input, &workspace);
    return block < input->model->block_count ? prepared->prepared->kinds[block].blocks : 0;
}

double pm_norm_exchanges(const struct pm_case *input, size_t block)
{
    struct pm_workspace workspace;
    const struct pm_case *prepared = pm_prepared_case(input, &workspace);
    bool any = block < input->model->block_count && !input->engine->as_calibrated;
    return any && prepared->prepared->kinds[block].reductions.norms > 0 ? 1 : 0;
}

bool pm_shared_pages(const struct pm_case *unprepared, double tokens, double *page_bytes, double *pages)
{
    struct pm_workspace workspace;
    const struct pm_case *input = pm_prepared_case(unprepared, &workspace);
    const struct pm_view *view = &input->prepared->view;
    struct pm_layout layout = pm_layout_of(input);
    struct pm_pages shared;
    if (!pm_unify_pages(input, view, &layout, &shared)) {
        return false;
    }
    *page_bytes = shared.bytes;
    *pages = pm_unified_pages(input, view, &layout, &shared, tokens);
    return true;
}

/* The case that a step is of, where it is another: without drafts, on one GPU, of the model that drafts. */
static struct pm_case case_of(const struct pm_case *input, enum pm_step_kind kind)
{
    struct pm_case other = *input;
    if (kind == PM_STEP_DRAFT || kind == PM_STEP_DRAFT_PREFILL) {
        return pm_draft_case(input);
    }
    if (kind == PM_STEP_PLAIN) {
        other.draft_tokens = 0;
        other.draft_model = NULL;
    } else if (kind == PM_STEP_SINGLE) {
        other.tp = other.pp = other.dp = other.ep = 1;
        other.prepared = input->prepared->single;
    }
    return other;
}

/* False: the prompts that wait do not fill a step. */
static bool pack(const struct pm_case *input, const struct pm_result *result, struct pm_load *load)
{
    struct pm_layout layout = pm_layout_of(input);
    double prompts = pm_prompts_at_most(input, result->expected.running / (layout.dp * layout.pp));
    if (!(prompts > 1) || !(input->prompt > 0)) {
        return false;
    }
    pm_crowd(input, prompts, load);
    return true;
}

static bool is_prefill(enum pm_step_kind kind)
{
    return kind == PM_STEP_PREFILL || kind == PM_STEP_MIXED || kind == PM_STEP_DRAFT_PREFILL;
}

bool pm_part_step(const struct pm_case *unprepared, const struct pm_result *result, enum pm_step_kind kind,
                  size_t index, struct pm_step_part *out, struct pm_op *ops, size_t ops_max, size_t *op_count)
{
    struct pm_workspace workspace;
    const struct pm_case *input = pm_prepared_case(unprepared, &workspace);
    bool drafts = input->draft_tokens > 0 && input->prepared->draft != NULL;
    bool decodes = result->expected.tpot >= 0;
    bool of_draft = kind == PM_STEP_DRAFT || kind == PM_STEP_DRAFT_PREFILL;
    if ((of_draft && !drafts) || (!is_prefill(kind) && index > 0)) {
        return false;
    }
    struct pm_case own = case_of(input, kind);
    struct pm_load load = {.queries = 1};
    if (kind == PM_STEP_PACKED) {
        if (!pack(input, result, &load)) {
            return false;
        }
    } else if (kind == PM_STEP_DECODE ||
               (kind != PM_STEP_PREFILL && kind != PM_STEP_DRAFT_PREFILL && decodes)) {
        load = pm_decode_load(&own, result->expected.decoding, pm_case_contexts(input));
    } else if (kind == PM_STEP_SINGLE) {
        load.prompt = pm_prompt_tokens(input);
        load.requests = 1;
    }
    out->times = 1;
    if (is_prefill(kind) && !pm_prompt_chunk(&own, index, &load, &out->times)) {
        return false;
    }
    out->sequences = load.sequences;
    out->prompt = load.prompt;
    out->cached = load.cached;
    out->prompts = load.prompts;
    pm_step_of(&own, &load, &out->step, ops, ops_max, op_count);
    struct pm_layout layout = pm_layout_of(&own);
    pm_step_exchanges(&own, &own.prepared->view, &layout, &load, out->exchanges);
    return true;
}
