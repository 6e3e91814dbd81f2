/* communication.c: all-reduces of tensor parallelism and hand-overs of pipelines (model.md section 6). The
 * rules for more than 8 GPUs, links other than the calibrated ones and several nodes have no serving
 * measurement behind them. */
#include "model/internal.h"

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
    return gpu->pcie > 0 ? gpu->pcie : PM_ASSUMED_PCIE;
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
static struct pm_leg ring(enum pm_route route, double time, double passes, double gpus, double rate)
{
    return (struct pm_leg){route, gpus, time, passes * (gpus - 1) / gpus, pm_at_least(rate, 1), 1};
}

static double leg_time(const struct pm_leg *leg, double bytes)
{
    return leg->fixed + leg->share * bytes / leg->rate;
}

static double fixed_time(const struct pm_engine *engine, double gpus)
{
    return gpus <= 8 ? engine->allreduce_time
                     : pm_at_least(2 * (gpus - 1) * RING_STEP, engine->allreduce_time);
}

/* Small messages: every GPU reads those of all others and adds them up itself. The tables have this shape up
 * to half a megabyte and more (facts/kernels_allreduce.csv; docs/calibration.md section 10). */
static struct pm_leg one_shot(const struct pm_case *input, double gpus)
{
    const struct pm_engine *engine = input->engine;
    double rate = group_link(input->gpu, gpus) * engine->efficiency_oneshot;
    return (struct pm_leg){PM_ROUTE_ONE_SHOT,      gpus,
                           engine->allreduce_time, gpus - 1,
                           pm_at_least(rate, 1),   engine->efficiency_oneshot};
}

static struct pm_leg over_link(const struct pm_case *input, double passes, double gpus, double bytes)
{
    const struct pm_engine *engine = input->engine;
    double efficiency = pm_at_least(engine->efficiency_link, 1e-6);
    double rate = group_link(input->gpu, gpus) * efficiency;
    bool choice = engine->efficiency_oneshot > 0 && passes == 2 && gpus <= 8;
    double time = fixed_time(engine, gpus) + (choice ? pm_at_least(engine->ring_time, 0) : 0);
    struct pm_leg around = ring(PM_ROUTE_RING, time, passes, gpus, rate);
    around.efficiency = efficiency;
    if (choice) {
        struct pm_leg at_once = one_shot(input, gpus);
        return leg_time(&at_once, bytes) < leg_time(&around, bytes) ? at_once : around;
    }
    return around;
}

static struct pm_leg over_host(const struct pm_case *input, double passes, double gpus)
{
    size_t i = 0;
    while (i < OVER_PCIE && gpus > over_pcie[i].gpus) {
        i++;
    }
    double efficiency = over_pcie[i < OVER_PCIE ? i : OVER_PCIE - 1].efficiency;
    double time = i < OVER_PCIE ? over_pcie[i].time : 2 * (gpus - 1) * RING_STEP;
    struct pm_leg leg = ring(PM_ROUTE_HOST, time, passes, gpus, efficiency * pcie_of(input->gpu));
    leg.efficiency = efficiency;
    return leg;
}

static struct pm_leg inside_node(const struct pm_case *input, double passes, double gpus, double bytes)
{
    return gpus <= domain_of(input->gpu) ? over_link(input, passes, gpus, bytes)
                                         : over_host(input, passes, gpus);
}

static void allreduce(const struct pm_case *input, double gpus, double bytes, struct pm_exchange *out)
{
    *out = (struct pm_exchange){.message = bytes};
    double node = node_of(input->gpu);
    if (!(gpus > 1)) {
        return;
    }
    if (gpus <= node || gpus <= domain_of(input->gpu)) {
        out->legs[out->leg_count++] = inside_node(input, 2, gpus, bytes);
    } else {
        /* Reduce-scatter inside the nodes, all-reduce of the shards between them, all-gather inside. */
        double nodes = ceil(gpus / node), local = gpus / nodes;
        double network = input->gpu->network > 0 ? input->gpu->network : pcie_of(input->gpu);
        double efficiency = pm_at_least(input->engine->efficiency_link, 1e-6);
        double time = pm_at_least(2 * (nodes - 1) * RING_STEP, input->engine->allreduce_time);
        if (local > 1) {
            out->legs[0] = out->legs[1] = inside_node(input, 1, local, bytes);
            out->leg_count = 2;
        }
        struct pm_leg between = ring(PM_ROUTE_NETWORK, time, 2, nodes, network * efficiency);
        between.efficiency = efficiency;
        between.share /= local;
        out->legs[out->leg_count++] = between;
    }
    for (size_t i = 0; i < out->leg_count; i++) {
        out->time += leg_time(&out->legs[i], bytes);
    }
}

double pm_allreduce_time(const struct pm_case *input, double gpus, double bytes)
{
    struct pm_exchange exchange;
    allreduce(input, gpus, bytes, &exchange);
    return exchange.time;
}

static void hand_over(const struct pm_case *input, const struct pm_layout *layout, double bytes,
                      struct pm_exchange *out)
{
    const struct pm_gpu *gpu = input->gpu;
    struct pm_leg leg = {PM_ROUTE_NETWORK,
                         2,
                         input->engine->allreduce_time,
                         1,
                         gpu->network > 0 ? gpu->network : pcie_of(gpu),
                         1};
    if (layout->gpus <= domain_of(gpu)) {
        leg.route = PM_ROUTE_RING;
        leg.rate = group_link(gpu, 2);
    } else if (layout->gpus <= node_of(gpu)) {
        leg.route = PM_ROUTE_HOST;
        leg.rate = pcie_of(gpu);
    }
    leg.rate = pm_at_least(leg.rate, 1);
    *out =
        (struct pm_exchange){.message = bytes, .legs = {leg}, .leg_count = 1, .time = leg_time(&leg, bytes)};
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
    bool norms = layout->tp > 1 && block->attention == PM_ATTENTION_GROUPED &&
                 block->qk_norm == PM_QK_NORM_FULL && !view->declared;
    return (struct pm_reductions){
        .count = block->count * each, .norms = norms ? block->count : 0, .spread = spread};
}

void pm_step_exchanges(const struct pm_case *input, const struct pm_view *view,
                       const struct pm_layout *layout, const struct pm_load *load,
                       struct pm_exchange out[PM_EXCHANGE_KINDS])
{
    const struct pm_model *model = view->model;
    double tokens = pm_at_least(load->sequences, 0) * load->queries + load->prompt;
    double replica = load->sequences > 0 ? pm_at_least(load->sequences / layout->dp, 1) : 0;
    double busiest = replica * load->queries + load->prompt;
    double message = 2 * model->hidden;
    for (size_t i = 0; i < PM_EXCHANGE_KINDS; i++) {
        out[i] = (struct pm_exchange){0};
    }
    if (!(tokens > 0)) {
        return;
    }
    if (layout->stage_gpus > 1) {
        if (layout->dp > 1) {
            allreduce(input, layout->stage_gpus, tokens * message, &out[PM_EXCHANGE_EXPERTS]);
            allreduce(input, layout->tp, busiest * message, &out[PM_EXCHANGE_GROUP]);
        } else {
            allreduce(input, layout->stage_gpus, tokens * message, &out[PM_EXCHANGE_GROUP]);
        }
        double norms = 0;
        for (size_t i = 0; i < model->block_count; i++) {
            const struct pm_reductions *reductions = &view->kinds[i].reductions;
            out[reductions->spread ? PM_EXCHANGE_EXPERTS : PM_EXCHANGE_GROUP].count += reductions->count;
            norms += reductions->norms;
        }
        if (norms > 0 && !input->engine->as_calibrated) {
            double in_group = layout->dp > 1 ? busiest : tokens;
            allreduce(input, layout->tp, in_group * PM_NORM_SUMS, &out[PM_EXCHANGE_NORMS]);
            out[PM_EXCHANGE_NORMS].count = norms;
        }
    }
    if (layout->pp > 1) {
        hand_over(input, layout, tokens / layout->dp * message, &out[PM_EXCHANGE_HANDOVER]);
        out[PM_EXCHANGE_HANDOVER].count = layout->pp - 1;
    }
}
