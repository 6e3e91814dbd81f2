/* critical.c: where the bound of a decode step changes: the batch and the context at which it turns
 * compute-bound, and the context at which the cache weighs as much as the weights. All are solved on the
 * ceiling, whose totals are linear in the batch and piecewise linear in the context. */
#include "model/internal.h"

/* One sequence on every replica and stage: the unit in which totals are linear. */
static double unit_batch(const struct pm_layout *layout)
{
    return layout->dp * layout->pp;
}

double pm_find_critical_batch(const struct pm_case *input, double context)
{
    struct pm_layout layout = pm_layout_of(input);
    struct pm_ceiling one;
    pm_bound_decode(input, unit_batch(&layout), context, &one);
    if (!(one.work > 0)) {
        return 0;
    }
    double bandwidth = pm_at_least(input->gpu->bandwidth, 1);
    double fixed = (one.weight_traffic - pm_at_least(input->gpu->cache, 0)) / bandwidth;
    double margin = one.compute_time - one.kv_traffic / bandwidth;
    if (one.compute_time >= one.memory_time) {
        return 1;
    }
    double batch = margin > 0 ? pm_divide(fixed, margin) * unit_batch(&layout) : 0;
    double nearest = floor(batch + 0.5);
    /* A whole number that arithmetic missed by an ulp is not the next one. */
    return fabs(batch - nearest) <= 1e-9 * batch ? nearest : ceil(batch);
}

/* Where a block's attention stops growing; 0: nowhere. */
static double block_limit(const struct pm_block *block)
{
    double limit = pm_reach(block), top = block->index_heads > 0 ? block->index_top : 0;
    return top > 0 && (!(limit > 0) || top < limit) ? top : limit;
}

/* The next length beyond `context` at which some block's attention stops growing; 0 when none. */
static double next_limit(const struct pm_model *model, double context)
{
    double next = 0;
    for (size_t i = 0; i < model->block_count; i++) {
        double limit = block_limit(&model->blocks[i]);
        if (limit > context && (!(next > 0) || limit < next)) {
            next = limit;
        }
    }
    return next;
}

/* Growth per token of context of one sequence, between limits. */
struct growth {
    double traffic; /* bytes */
    double compute; /* seconds */
};

static struct growth growth_at(const struct pm_case *input, double context)
{
    const struct pm_view *view = &input->prepared->view;
    struct pm_attention_peaks peaks = pm_attention_peaks_of(input);
    struct growth growth = {0, 0};
    for (size_t i = 0; i < input->model->block_count; i++) {
        const struct pm_block *block = &input->model->blocks[i];
        const struct pm_kind *kind = &view->kinds[i];
        double limit = block_limit(block), queries = pm_queries(input);
        if (!(limit > 0) || context < limit) {
            growth.traffic += block->count * kind->kv_token;
            growth.compute += block->count * queries * kind->work.decode / peaks.attention;
        }
        if (kind->work.index > 0) {
            growth.traffic += block->count * block->index_dim;
            growth.compute += block->count * queries * kind->work.index / peaks.index;
        }
    }
    return growth;
}

double pm_find_critical_context(const struct pm_case *input)
{
    struct pm_layout layout = pm_layout_of(input);
    double bandwidth = pm_at_least(input->gpu->bandwidth, 1);
    struct pm_ceiling empty;
    pm_bound_decode(input, unit_batch(&layout), 0, &empty);
    double margin = empty.compute_time - empty.kv_traffic / bandwidth;
    double context = 0, longest = 0;
    for (;;) {
        struct growth growth = growth_at(input, context);
        double slope = growth.compute - growth.traffic / bandwidth;
        double next = next_limit(input->model, context);
        if (margin > 0 && slope < 0) {
            double root = context + margin / -slope;
            longest = next > 0 && root > next ? next : root;
        }
        if (!(next > 0)) {
            bool forever = margin + (slope > 0 ? PM_HUGE : 0) > 0 && slope >= 0;
            return forever ? -1 : pm_at_most(longest, PM_HUGE);
        }
        margin += slope * (next - context);
        context = next;
        longest = margin > 0 ? context : longest;
    }
}

/* Traffic of states, which a step without any context has. */
static double state_traffic(const struct pm_case *input, double sequences)
{
    double traffic = 0;
    for (size_t i = 0; i < input->model->block_count; i++) {
        traffic += input->model->blocks[i].count * (2 * sequences) * input->prepared->kinds[i].state;
    }
    return traffic;
}

double pm_find_kv_equals_weights(const struct pm_case *input, double weight_traffic)
{
    struct pm_layout layout = pm_layout_of(input);
    double batch = pm_at_least(input->batch, 1);
    double sequences = pm_at_least(batch / pm_micro_batches(&layout, batch) / layout.dp, 1);
    double missing = weight_traffic - state_traffic(input, sequences), context = 0;
    if (!(missing > 0)) {
        return 0;
    }
    for (;;) {
        double slope = sequences * growth_at(input, context).traffic;
        double next = next_limit(input->model, context);
        double needed = slope > 0 ? context + missing / slope : 0;
        if (slope > 0 && (!(next > 0) || needed <= next)) {
            return pm_at_most(needed, PM_HUGE);
        }
        if (!(next > 0)) {
            return 0;
        }
        missing -= slope * (next - context);
        context = next;
    }
}
