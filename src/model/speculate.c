/* speculate.c: drafts and their verification (model.md section 5). A step drafts g tokens for every sequence
 * and verifies g + 1 at once: the cache is read once for all of them, experts for each. */
#include "model/internal.h"

/* Tokens that one verification of `drafts` drafts yields: (1 - a^(g+1)) / (1 - a), Leviathan et al. 2023. */
double pm_tokens_per_step(const struct pm_case *input)
{
    double drafts = pm_at_least(input->draft_tokens, 0);
    double acceptance = pm_at_most(pm_at_least(input->acceptance, 0), 1);
    if (!(drafts > 0)) {
        return 1;
    }
    return acceptance < 1 ? (1 - pow(acceptance, drafts + 1)) / (1 - acceptance) : drafts + 1;
}

/* A decode step of the drafts: the draft model's, or a share of the model's own for multi-token prediction
 * (1.5 blocks: one and the projection and head; calibration.md section 6); n-gram drafts are free. */
static const double MTP_BLOCKS = 1.5;

static struct pm_case draft_case(const struct pm_case *input)
{
    struct pm_case draft = *input;
    draft.model = input->draft_model != NULL ? input->draft_model : input->model;
    draft.prepared = input->draft_model != NULL ? input->prepared->draft : input->prepared;
    draft.draft_model = NULL;
    draft.draft_tokens = 0;
    return draft;
}

/* The host schedules a sequence once for drafts and verification, so a draft has no time per sequence. */
double pm_draft_time(const struct pm_case *input, double sequences, struct pm_contexts contexts)
{
    struct pm_step step;
    struct pm_case draft = draft_case(input);
    bool prediction = input->draft_model == NULL && input->model->mtp_params > 0;
    if (!(input->draft_tokens > 0) || (input->draft_model == NULL && !prediction)) {
        return 0;
    }
    struct pm_load load = pm_decode_load(&draft, sequences, contexts);
    pm_step_of(&draft, &load, &step, NULL, 0, NULL);
    double layers = pm_at_least(input->prepared->view.layers, 1);
    double part = prediction ? pm_at_most(MTP_BLOCKS / layers, 1) : 1;
    return input->draft_tokens * part * (step.time - step.host_time);
}

double pm_draft_ceiling(const struct pm_case *input, double sequences, struct pm_contexts contexts)
{
    if (!(input->draft_tokens > 0) || input->draft_model == NULL) {
        return 0;
    }
    struct pm_ceiling ceiling;
    struct pm_case draft = draft_case(input);
    struct pm_load load = pm_decode_load(&draft, sequences, contexts);
    pm_ceiling_of(&draft, &load, &ceiling);
    return input->draft_tokens * ceiling.time;
}
