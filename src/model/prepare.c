/* prepare.c: what of a case only its models, their formats, the layout and the engine's storage decide,
 * worked out once for all that is asked of it. */
#include <string.h>

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

/* The window of attention, or what a sparse index leaves of it. */
static double window_of(const struct pm_block *block)
{
    double window = block->window, top = block->index_heads > 0 ? block->index_top : 0;
    return top > 0 && (!(window > 0) || top < window) ? top : window;
}

/* The fullest GPU holds ceil(E/ep) experts where ep does not divide E. */
static struct pm_choice choice_of(const struct pm_block *block, const struct pm_layout *layout,
                                  struct pm_formats *formats)
{
    double experts = block->experts, used = pm_at_most(block->active_experts, experts), ep = layout->ep;
    if (!(used > 0)) {
        return (struct pm_choice){.used = 0};
    }
    double fullest = ceil(experts / ep) * ep / experts;
    return (struct pm_choice){
        .experts = experts,
        .used = used,
        .log_idle = log1p(-used / experts),
        .spread = block->expert_spread,
        .per_gpu = fullest / layout->stage_gpus,
        .bits = block->expert_format.bits,
        .stored = pm_class_of_bits(block->expert_format.bits),
        .format = pm_format_place(formats, &block->expert_format),
    };
}

static void fill_kind(const struct pm_view *view, const struct pm_layout *layout, size_t index,
                      struct pm_formats *formats, struct pm_kind *kind)
{
    const struct pm_block *block = &view->model->blocks[index];
    pm_count_block(view, block, &kind->counts);
    kind->blocks = pm_count_stage_blocks(view, layout, index);
    kind->kv_token = pm_count_kv_token_bytes(view, block, layout->tp);
    kind->index_token = pm_index_token_bytes(block);
    kind->state = pm_block_state(block, layout->tp);
    kind->work = pm_attention_work_of(block, layout->tp);
    kind->tail = pm_tail_values(block);
    kind->window = window_of(block);
    kind->chunk = block->chunk;
    kind->same_reach = index > 0 && kind->window == kind[-1].window && kind->chunk == kind[-1].chunk;
    kind->choice = choice_of(block, layout, formats);
    kind->reductions = pm_reductions_of(view, layout, block);
    pm_list_block_matrices(view, layout, index, formats, kind);
}

/* Operations stand behind the kinds of blocks. */
static void list_operations(struct pm_prepared *out, struct pm_formats *formats)
{
    size_t count = out->view.model->block_count;
    struct pm_operation *room = (struct pm_operation *)(void *)&out->kinds[count];
    for (size_t i = 0; i < count; i++) {
        struct pm_operation *end = pm_list_block(&out->view, &out->layout, i, formats, room);
        out->kinds[i].operations = (struct pm_operations){room, (size_t)(end - room)};
        room = end;
    }
    struct pm_operation *end = pm_list_ends(&out->view, &out->layout, formats, room);
    out->ends = (struct pm_operations){room, (size_t)(end - room)};
}

static size_t size_for(const struct pm_model *model)
{
    return PM_PREPARED_BYTES(model->block_count);
}

/* One model of a case. */
static struct pm_prepared *prepare_model(const struct pm_model *model, const struct pm_layout *layout,
                                         struct pm_formats *formats, unsigned char **storage)
{
    struct pm_prepared *out = (struct pm_prepared *)(void *)*storage;
    *storage += size_for(model);
    out->layout = *layout;
    out->view = pm_view_of(model);
    out->single = out->draft = NULL;
    out->formats = formats;
    out->kv_format = pm_format_place(formats, &model->kv_format);
    for (size_t i = 0; i < model->block_count; i++) {
        fill_kind(&out->view, layout, i, formats, &out->kinds[i]);
    }
    out->view.kinds = out->kinds;
    out->view.tp = layout->tp;
    out->end_count = pm_list_end_matrices(&out->view, layout, formats, out->end);
    list_operations(out, formats);
    return out;
}

static bool has_draft_model(const struct pm_case *input)
{
    return input->draft_tokens > 0 && input->draft_model != NULL;
}

size_t pm_prepared_size(const struct pm_case *input)
{
    bool several = layout_of(input).gpus > 1;
    size_t predicting = sizeof(struct pm_prediction) + PM_PREPARED_BYTES(1);
    size_t drafts = has_draft_model(input) ? size_for(input->draft_model)
                    : pm_predicts(input)   ? predicting
                                           : 0;
    return sizeof(struct pm_formats) + (several ? 2 : 1) * size_for(input->model) + drafts;
}

const struct pm_prepared *pm_prepare(const struct pm_case *input, void *storage)
{
    struct pm_formats *formats = storage;
    unsigned char *next = (unsigned char *)storage + sizeof *formats;
    struct pm_layout layout = layout_of(input);
    formats->count = 0;
    memset(formats->place, 0, sizeof formats->place);
    struct pm_prepared *out = prepare_model(input->model, &layout, formats, &next);
    out->single = out;
    if (layout.gpus > 1) {
        struct pm_case single = *input;
        single.tp = single.pp = single.dp = single.ep = 1;
        struct pm_layout one = layout_of(&single);
        out->single = prepare_model(input->model, &one, formats, &next);
    }
    if (has_draft_model(input)) {
        out->draft = prepare_model(input->draft_model, &layout, formats, &next);
    } else if (pm_predicts(input)) {
        struct pm_prediction *prediction = (struct pm_prediction *)(void *)next;
        next += sizeof *prediction;
        pm_prediction_of(input->model, prediction);
        out->draft = prepare_model(&prediction->model, &layout, formats, &next);
    }
    pm_count_params_of(&out->view, &out->params);
    struct pm_case prepared = *input;
    prepared.prepared = out;
    pm_weights_of(&prepared, &out->weights);
    return out;
}

const struct pm_case *pm_prepared_case(const struct pm_case *input, struct pm_workspace *workspace)
{
    workspace->input = *input;
    if (input->prepared == NULL) {
        workspace->input.prepared = pm_prepare(input, workspace->storage);
    }
    pm_find_rates(&workspace->input, &workspace->rates);
    workspace->input.rates = &workspace->rates;
    return &workspace->input;
}

const struct pm_view *pm_view_in(const struct pm_case *input, const struct pm_model *model)
{
    const struct pm_prepared *prepared = input->prepared;
    return model == input->model ? &prepared->view : &prepared->draft->view;
}
