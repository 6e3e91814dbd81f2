/* prepare.c: what of a case only its models, their formats, the layout and the engine's storage decide,
 * worked out once for all that is asked of it. */
#include "model/internal.h"

static struct pm_layout layout_of(const struct pm_case *input)
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

static void fill_kind(const struct pm_view *view, const struct pm_layout *layout, size_t index,
                      struct pm_kind *kind)
{
    const struct pm_block *block = &view->model->blocks[index];
    pm_count_block(view, block, &kind->counts);
    kind->blocks = pm_count_stage_blocks(view, layout, index);
    kind->kv_token = pm_count_kv_token_bytes(view, block, layout->tp);
    kind->index_token = pm_index_token_bytes(block);
    kind->state = pm_block_state(block, layout->tp);
    kind->work = pm_attention_work_of(block, layout->tp);
    kind->tail = pm_tail_values(block);
}

static size_t size_for(const struct pm_model *model)
{
    return sizeof(struct pm_prepared) + model->block_count * sizeof(struct pm_kind);
}

/* One model of a case. */
static struct pm_prepared *prepare_model(const struct pm_model *model, const struct pm_layout *layout,
                                         unsigned char **storage)
{
    struct pm_prepared *out = (struct pm_prepared *)(void *)*storage;
    *storage += size_for(model);
    out->layout = *layout;
    out->view = pm_view_of(model);
    out->single = out->draft = NULL;
    for (size_t i = 0; i < model->block_count; i++) {
        fill_kind(&out->view, layout, i, &out->kinds[i]);
    }
    out->view.kinds = out->kinds;
    out->view.tp = layout->tp;
    return out;
}

static bool has_draft_model(const struct pm_case *input)
{
    return input->draft_tokens > 0 && input->draft_model != NULL;
}

size_t pm_prepared_size(const struct pm_case *input)
{
    bool several = layout_of(input).gpus > 1;
    size_t predicting = sizeof(struct pm_prediction) + sizeof(struct pm_prepared) + sizeof(struct pm_kind);
    return (several ? 2 : 1) * size_for(input->model) + (has_draft_model(input) ? size_for(input->draft_model)
                                                         : pm_predicts(input)   ? predicting
                                                                                : 0);
}

const struct pm_prepared *pm_prepare(const struct pm_case *input, void *storage)
{
    unsigned char *next = storage;
    struct pm_layout layout = layout_of(input);
    struct pm_prepared *out = prepare_model(input->model, &layout, &next);
    out->single = out;
    if (layout.gpus > 1) {
        struct pm_case single = *input;
        single.tp = single.pp = single.dp = single.ep = 1;
        struct pm_layout one = layout_of(&single);
        out->single = prepare_model(input->model, &one, &next);
    }
    if (has_draft_model(input)) {
        out->draft = prepare_model(input->draft_model, &layout, &next);
    } else if (pm_predicts(input)) {
        struct pm_prediction *prediction = (struct pm_prediction *)(void *)next;
        next += sizeof *prediction;
        pm_prediction_of(input->model, prediction);
        out->draft = prepare_model(&prediction->model, &layout, &next);
    }
    pm_count_params_of(&out->view, &out->params);
    struct pm_case prepared = *input;
    prepared.prepared = out;
    pm_weights_of(&prepared, &out->weights);
    return out;
}

const struct pm_case *pm_prepared_case(const struct pm_case *input, struct pm_workspace *workspace)
{
    if (input->prepared != NULL) {
        return input;
    }
    workspace->input = *input;
    workspace->input.prepared = pm_prepare(input, workspace->storage);
    return &workspace->input;
}

const struct pm_view *pm_view_in(const struct pm_case *input, const struct pm_model *model)
{
    const struct pm_prepared *prepared = input->prepared;
    return model == input->model ? &prepared->view : &prepared->draft->view;
}
