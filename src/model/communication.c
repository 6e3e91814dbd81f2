/* communication.c: all-reduces of tensor parallelism and hand-overs of pipelines (model.md section 6). The
 * rules for more than 8 GPUs, links other than the calibrated ones and several nodes have no serving
 * measurement behind them. */
#include "model/internal.h"

/* PCIe 4.0 x16, where a plan needs a host link and says nothing of it. */
static const double ASSUMED_PCIE = 32e9;

/* Fixed time of one step of a ring without peer access or beyond 8 GPUs. */
static const double RING_STEP = 4e-6;

/* All-reduce over PCIe, from the L40S tables (facts/kernels_allreduce.csv; calibration.md section 3): up to
 * `gpus` GPUs, fixed time and share of the link. Beyond two there is no peer access. */
static const struct {
    double gpus, time, efficiency;
} over_pcie[] = {{2, 5e-6, 0.6}, {4, 13e-6, 0.12}, {8, 25e-6, 0.06}};

enum { OVER_PCIE = sizeof over_pcie / sizeof over_pcie[0] };

static double pcie_of(const struct pm_gpu *gpu)
{
    return gpu->pcie > 0 ? gpu->pcie : ASSUMED_PCIE;
}

/* GPUs that share the scale-up link; none without a link. A link that nobody shares says nothing of its
 * domain: then it is the node, or 8. */
static double domain_of(const struct pm_gpu *gpu)
{
    if (!(gpu->link > 0)) {
        return 1;
    }
    return gpu->link_domain > 1 ? gpu->link_domain : gpu->gpus_per_node > 1 ? gpu->gpus_per_node : 8;
}

static double node_of(const struct pm_gpu *gpu)
{
    return gpu->gpus_per_node > 0 ? gpu->gpus_per_node : pm_at_least(domain_of(gpu), 8);
}

/* Bandwidth of the link to a group: in a mesh a GPU has one pair link to each other member. */
static double group_link(const struct pm_gpu *gpu, double gpus)
{
    double domain = domain_of(gpu);
    return gpu->link_mesh && domain > 1 ? gpu->link * pm_at_most((gpus - 1) / (domain - 1), 1) : gpu->link;
}

/* A ring pass that moves `passes` times (n-1)/n of the bytes: 2 for an all-reduce, 1 for one half of it. */
static double ring_time(double time, double passes, double gpus, double bytes, double rate)
{
    return time + passes * bytes * (gpus - 1) / gpus / pm_at_least(rate, 1);
}

static double fixed_time(const struct pm_engine *engine, double gpus)
{
    return gpus <= 8 ? engine->allreduce_time
                     : pm_at_least(2 * (gpus - 1) * RING_STEP, engine->allreduce_time);
}

/* Small messages: every GPU reads those of all others and adds them up itself. The tables have this shape up
 * to half a megabyte and more (facts/kernels_allreduce.csv; docs/calibration.md section 10). */
static double one_shot(const struct pm_case *input, double gpus, double bytes)
{
    const struct pm_engine *engine = input->engine;
    double rate = group_link(input->gpu, gpus) * engine->efficiency_oneshot;
    return engine->allreduce_time + bytes * (gpus - 1) / pm_at_least(rate, 1);
}

static double inside_node(const struct pm_case *input, double passes, double gpus, double bytes)
{
    const struct pm_gpu *gpu = input->gpu;
    const struct pm_engine *engine = input->engine;
    if (gpus <= domain_of(gpu)) {
        double rate = group_link(gpu, gpus) * pm_at_least(engine->efficiency_link, 1e-6);
        double ring = ring_time(fixed_time(engine, gpus), passes, gpus, bytes, rate);
        return engine->efficiency_oneshot > 0 && passes == 2 && gpus <= 8
                   ? pm_at_most(one_shot(input, gpus, bytes), ring + pm_at_least(engine->ring_time, 0))
                   : ring;
    }
    for (size_t i = 0; i < OVER_PCIE; i++) {
        if (gpus <= over_pcie[i].gpus) {
            return ring_time(over_pcie[i].time, passes, gpus, bytes, over_pcie[i].efficiency * pcie_of(gpu));
        }
    }
    return ring_time(2 * (gpus - 1) * RING_STEP, passes, gpus, bytes,
                     over_pcie[OVER_PCIE - 1].efficiency * pcie_of(gpu));
}

double pm_allreduce_time(const struct pm_case *input, double gpus, double bytes)
{
    if (!(gpus > 1)) {
        return 0;
    }
    double node = node_of(input->gpu);
    if (gpus <= node || gpus <= domain_of(input->gpu)) {
        return inside_node(input, 2, gpus, bytes);
    }
    /* Reduce-scatter inside the nodes, all-reduce of the shards between them, all-gather inside. */
    double nodes = ceil(gpus / node), local = gpus / nodes;
    double network = input->gpu->network > 0 ? input->gpu->network : pcie_of(input->gpu);
    double rate = network * pm_at_least(input->engine->efficiency_link, 1e-6);
    double between = ring_time(pm_at_least(2 * (nodes - 1) * RING_STEP, input->engine->allreduce_time), 2,
                               nodes, bytes / local, rate);
    return (local > 1 ? 2 * inside_node(input, 1, local, bytes) : 0) + between;
}

double pm_handover_time(const struct pm_case *input, const struct pm_layout *layout, double bytes)
{
    const struct pm_gpu *gpu = input->gpu;
    double rate = gpu->network > 0 ? gpu->network : pcie_of(gpu);
    if (layout->gpus <= domain_of(gpu)) {
        rate = group_link(gpu, 2);
    } else if (layout->gpus <= node_of(gpu)) {
        rate = pcie_of(gpu);
    }
    return input->engine->allreduce_time + bytes / pm_at_least(rate, 1);
}

static double parts_of(const struct pm_block *block)
{
    bool forward = block->ffn > 0 || block->experts > 0 || block->shared_ffn > 0;
    return (block->attention != PM_ATTENTION_NONE ? 1 : 0) + (forward ? 1 : 0);
}

/* One after attention and one after the feed-forward. With replicas of attention, dispatch and combine of
 * a mixture of experts together cost what one all-reduce over all its GPUs costs (calibration.md 2.3). */
struct pm_reductions pm_reductions_of(const struct pm_view *view, const struct pm_layout *layout,
                                      const struct pm_block *block)
{
    bool spread = layout->dp > 1 && block->experts > 0;
    double each = spread ? 1 : layout->tp > 1 ? (view->declared ? 2 : parts_of(block)) : 0;
    return (struct pm_reductions){.count = block->count * each, .spread = spread};
}

void pm_allreduces(const struct pm_case *input, const struct pm_view *view, const struct pm_layout *layout,
                   const struct pm_load *load, struct pm_step *step)
{
    const struct pm_model *model = view->model;
    double tokens = pm_at_least(load->sequences, 0) * load->queries + load->prompt;
    double replica = load->sequences > 0 ? pm_at_least(load->sequences / layout->dp, 1) : 0;
    double busiest = replica * load->queries + load->prompt;
    double message = 2 * model->hidden;
    if (layout->stage_gpus <= 1 || !(tokens > 0)) {
        return;
    }
    double all = pm_allreduce_time(input, layout->stage_gpus, tokens * message);
    double own = layout->dp > 1 ? pm_allreduce_time(input, layout->tp, busiest * message) : all;
    for (size_t i = 0; i < model->block_count; i++) {
        const struct pm_reductions *reductions = &view->kinds[i].reductions;
        step->allreduces += reductions->count;
        step->allreduce_time += reductions->count * (reductions->spread ? all : own);
    }
}
