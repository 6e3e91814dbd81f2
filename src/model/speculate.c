/* speculate.c: drafts and their verification (model.md section 5). A step drafts g tokens for every sequence
 * and verifies g + 1 at once: the cache is read once for all of them, experts for each. */
#include "model/internal.h"

/* ---- tokens --------------------------------------------------------------------------------- */

/* 1 + a + ... + a^g: each draft counts when all before it did. (1 - a^(g+1)) / (1 - a), Leviathan et al.
 * 2023. */
static double accepted(double acceptance, double drafts)
{
    return acceptance < 1 ? (1 - pow(acceptance, drafts + 1)) / (1 - acceptance) : drafts + 1;
}

double pm_tokens_per_step(const struct pm_case *input)
{
    double drafts = pm_at_least(input->draft_tokens, 0);
    return drafts > 0 ? accepted(pm_at_most(pm_at_least(input->acceptance, 0), 1), drafts) : 1;
}

/* ---- what drafts ---------------------------------------------------------------------------- */

bool pm_predicts(const struct pm_case *input)
{
    return input->draft_tokens > 0 && input->draft_model == NULL && !input->free_drafts &&
           input->model->mtp_params > 0;
}

/* A prediction block is one of the model's own that keeps tokens, the largest that the declared parameters
 * hold. What they hold besides projects the last hidden state and the new token onto its input (two widths to
 * one). */
void pm_prediction_of(const struct pm_model *model, struct pm_prediction *out)
{
    double best = 0;
    *out = (struct pm_prediction){.model = *model};
    out->block = (struct pm_block){.count = 1, .attention = PM_ATTENTION_NONE};
    if (model->block_count > 0) {
        out->block.ffn_format = model->blocks[model->block_count - 1].ffn_format;
    } else {
        out->block.ffn_format = model->weights_format;
    }
    for (size_t i = 0; i < model->block_count; i++) {
        struct pm_block block = model->blocks[i];
        struct pm_model alone = {.hidden = model->hidden, .blocks = &block, .block_count = 1};
        struct pm_params params;
        block.count = 1;
        pm_count_params(&alone, &params);
        bool keeps = block.attention == PM_ATTENTION_GROUPED || block.attention == PM_ATTENTION_LATENT;
        if (keeps && params.total > best && params.total <= model->mtp_params) {
            best = params.total;
            out->block = block;
        }
    }
    out->block.extra_params += model->mtp_params - best;
    out->model.declared_params = out->model.extra_params = 0;
    out->model.positions = out->model.lookup_params = 0;
    out->model.tower_params = out->model.tower_tokens = out->model.mtp_params = 0;
    out->model.blocks = &out->block;
    out->model.block_count = 1;
}

struct pm_case pm_draft_case(const struct pm_case *input)
{
    struct pm_case draft = *input;
    draft.model = input->prepared->draft->view.model;
    draft.prepared = input->prepared->draft;
    draft.draft_model = NULL;
    draft.draft_tokens = 0;
    return draft;
}

/* The host has its time for each draft of a sequence, and for each token of the verification: published runs
 * lose with many users what they gain with few (docs/calibration.md section 6). */
double pm_draft_time(const struct pm_case *input, double sequences, struct pm_contexts contexts)
{
    struct pm_step step;
    if (input->prepared->draft == NULL || !(input->draft_tokens > 0)) {
        return 0;
    }
    struct pm_case draft = pm_draft_case(input);
    struct pm_load load = pm_decode_load(&draft, sequences, contexts);
    pm_step_of(&draft, &load, &step, NULL, 0, NULL);
    return input->draft_tokens * step.time;
}

/* Seconds in which what drafts reads a prompt, so that it has a cache of its own. */
double pm_draft_prefill(const struct pm_case *input)
{
    const struct pm_load alone = {.queries = 1};
    struct pm_step step;
    if (input->prepared->draft == NULL || !(input->draft_tokens > 0)) {
        return 0;
    }
    struct pm_case draft = pm_draft_case(input);
    double chunks = pm_prefill_steps(&draft, &alone, &step);
    pm_pipeline(&draft, chunks, &step);
    return step.time;
}

double pm_draft_ceiling(const struct pm_case *input, double sequences, struct pm_contexts contexts)
{
    struct pm_ceiling ceiling;
    if (input->prepared->draft == NULL || !(input->draft_tokens > 0)) {
        return 0;
    }
    struct pm_case draft = pm_draft_case(input);
    struct pm_load load = pm_decode_load(&draft, sequences, contexts);
    pm_ceiling_of(&draft, &load, &ceiling);
    return input->draft_tokens * ceiling.time;
}

/* ---- whether it pays ------------------------------------------------------------------------ */

/* No deployment runs more sequences. */
static const double MOST_SEQUENCES = 1 << 20;

/* Seconds of a decode step of so many sequences, drafts included. */
static double step_time(const struct pm_case *input, double sequences)
{
    struct pm_contexts contexts = pm_case_contexts(input);
    struct pm_load load = pm_decode_load(input, sequences, contexts);
    struct pm_ceiling ceiling;
    struct pm_step step;
    pm_step_of(input, &load, &step, NULL, 0, NULL);
    pm_ceiling_of(input, &load, &ceiling);
    double least = ceiling.time + pm_draft_ceiling(input, sequences, contexts);
    double seconds = pm_at_least(step.time, ceiling.time) + pm_draft_time(input, sequences, contexts);
    return pm_at_least(seconds, least);
}

static struct pm_case without_drafts(const struct pm_case *input)
{
    struct pm_case plain = *input;
    plain.draft_tokens = 0;
    plain.draft_model = NULL;
    return plain;
}

/* Time of a step with drafts over one without: the tokens it must yield. */
static double tokens_needed(const struct pm_case *input, double sequences)
{
    struct pm_case plain = without_drafts(input);
    return pm_divide(step_time(input, sequences), step_time(&plain, sequences));
}

/* The a with 1 + a + ... + a^g = `tokens`, by Newton's method from 1: the sum is convex and grows. */
static double acceptance_for(double tokens, double drafts)
{
    enum { STEPS = 200 };
    if (tokens > drafts + 1) {
        return -1;
    }
    double acceptance = 1;
    for (int i = 0; tokens > 1 && i < STEPS; i++) {
        double sum = 0, slope = 0;
        for (double k = drafts; k >= 0; k--) { /* Horner, with the derivative */
            slope = slope * acceptance + sum;
            sum = sum * acceptance + 1;
        }
        double next = acceptance - pm_divide(sum - tokens, slope);
        if (!(next < acceptance)) {
            break;
        }
        acceptance = next;
    }
    return tokens > 1 ? pm_at_least(acceptance, 0) : 0;
}

/* The most sequences that drafts speed up: beyond, verification costs more than it yields. Experts make a few
 * sequences lose where more gain, so the last gain is looked for, first in powers of two, then exactly. */
static double batch_up_to(const struct pm_case *input, double tokens)
{
    double gains = 0, loses = 0;
    for (double batch = 1; batch <= MOST_SEQUENCES; batch *= 2) {
        if (tokens > tokens_needed(input, batch)) {
            gains = batch, loses = 2 * batch;
        }
    }
    if (gains >= MOST_SEQUENCES) {
        return -1;
    }
    while (loses - gains > 1) {
        double middle = floor((gains + loses) / 2);
        if (tokens > tokens_needed(input, middle)) {
            gains = middle;
        } else {
            loses = middle;
        }
    }
    return gains;
}

void pm_find_speculation(const struct pm_case *input, struct pm_result *out)
{
    struct pm_speculation *speculation = &out->speculation;
    double sequences = out->expected.decoding;
    *speculation = (struct pm_speculation){0};
    if (!(input->draft_tokens > 0)) {
        return;
    }
    struct pm_case plain = without_drafts(input);
    double step = step_time(input, sequences), tokens = pm_tokens_per_step(input);
    speculation->plain_step = step_time(&plain, sequences);
    speculation->draft_time = pm_draft_time(input, sequences, pm_case_contexts(input));
    if (input->engine->ideal) {
        speculation->draft_time = pm_draft_ceiling(input, sequences, pm_case_contexts(input));
    }
    speculation->speedup = pm_divide(tokens * speculation->plain_step, step);
    speculation->break_even_acceptance =
        acceptance_for(pm_divide(step, speculation->plain_step), input->draft_tokens);
    speculation->break_even_batch = batch_up_to(input, tokens);
}
