/* bind_hardware.c: cards, systems and engines as numbers. */
#include <string.h>

#include "result/bind_internal.h"

/* ---- cards -------------------------------------------------------------------------------------- */

static const struct {
    enum pm_compute compute;
    enum attribute attribute;
} peaks[] = {
    {PM_FP64, ATTR_GPU_PEAK_FP64}, {PM_FP32, ATTR_GPU_PEAK_FP32}, {PM_TF32, ATTR_GPU_PEAK_TF32},
    {PM_FP16, ATTR_GPU_PEAK_FP16}, {PM_BF16, ATTR_GPU_PEAK_BF16}, {PM_FP8, ATTR_GPU_PEAK_FP8},
    {PM_INT8, ATTR_GPU_PEAK_INT8}, {PM_FP6, ATTR_GPU_PEAK_FP6},   {PM_FP4, ATTR_GPU_PEAK_FP4},
    {PM_INT4, ATTR_GPU_PEAK_INT4},
};

/* A reason that was found once is given again to every later reader. */
struct bound_failure {
    struct bound_gpu bound; /* decl NULL */
    const char *why;
};

static void read_price(struct bind_job *job, struct decl *decl, struct bound_gpu *out)
{
    const struct setting *price = bind_setting(job, decl, ATTR_PRICE);
    if (!price || price->value.type != VALUE_NUMBER)
        return;
    out->gpu.price = price->value.number;
    out->currency = price->value.dim.power[DIM_EUR] != 0 ? DIM_EUR : DIM_USD;
}

/* What the driver reports goes with the memory it was seen on: a card that says `memory` for itself does not
 * take it from its base. */
static double driver_memory(struct bind_job *job, struct decl *decl)
{
    const struct setting *memory = bind_setting(job, decl, ATTR_GPU_MEMORY);
    const struct setting *driver = bind_setting(job, decl, ATTR_GPU_DRIVER_MEMORY);
    if (!driver || driver->value.type != VALUE_NUMBER)
        return 0;
    for (const struct decl *each = decl; memory && each; each = each->base) {
        if (each == driver->owner)
            break;
        if (each == memory->owner)
            return 0;
    }
    return driver->value.number;
}

static enum pm_memory_kind read_memory_kind(struct bind_job *job, struct decl *decl)
{
    static const struct {
        const char *word;
        enum pm_memory_kind kind;
    } kinds[] = {{"hbm", PM_MEMORY_HBM}, {"gddr", PM_MEMORY_GDDR}, {"shared", PM_MEMORY_SHARED}};
    const struct setting *said = bind_setting(job, decl, ATTR_GPU_MEMORY_KIND);
    for (size_t i = 0; said && i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(said->value.text, kinds[i].word) == 0)
            return kinds[i].kind;
    return PM_MEMORY_UNKNOWN;
}

static void read_card(struct bind_job *job, struct decl *decl, struct bound_gpu *out)
{
    struct pm_gpu *gpu = &out->gpu;
    out->decl = decl;
    out->currency = DIM_USD;
    gpu->memory = bind_number(job, decl, ATTR_GPU_MEMORY, 0);
    gpu->driver_memory = driver_memory(job, decl);
    gpu->bandwidth = bind_number(job, decl, ATTR_GPU_BANDWIDTH, 0);
    for (size_t i = 0; i < sizeof peaks / sizeof peaks[0]; i++)
        gpu->peak[peaks[i].compute] = bind_number(job, decl, peaks[i].attribute, 0);
    gpu->cache = bind_number(job, decl, ATTR_GPU_CACHE, 0);
    gpu->link = bind_number(job, decl, ATTR_GPU_LINK, 0);
    gpu->link_domain = bind_number(job, decl, ATTR_GPU_LINK_DOMAIN, 1);
    gpu->link_mesh = bind_bool(job, decl, ATTR_GPU_LINK_MESH, false);
    gpu->pcie = bind_number(job, decl, ATTR_GPU_PCIE, 0);
    gpu->tdp = bind_number(job, decl, ATTR_GPU_TDP, 0);
    gpu->efficiency_bandwidth = bind_number(job, decl, ATTR_GPU_EFFICIENCY_BANDWIDTH, 0);
    gpu->operation_time_factor = bind_number(job, decl, ATTR_GPU_OPERATION_TIME_FACTOR, 0);
    gpu->memory_kind = read_memory_kind(job, decl);
    gpu->measured = bind_bool(job, decl, ATTR_GPU_MEASURED, false);
    gpu->moe_calibrated = bind_bool(job, decl, ATTR_GPU_MOE_CALIBRATED, false);
    read_price(job, decl, out);
}

/* Twice the 16-bit peak is usual for 8-bit formats; structured sparsity doubles it again. */
static void check_sparse(struct bind_job *job, struct decl *decl, const struct pm_gpu *gpu)
{
    static const enum attribute eight_bits[] = {ATTR_GPU_PEAK_FP8, ATTR_GPU_PEAK_INT8};
    double sixteen = gpu->peak[PM_BF16] > gpu->peak[PM_FP16] ? gpu->peak[PM_BF16] : gpu->peak[PM_FP16];
    for (size_t i = 0; i < sizeof eight_bits / sizeof eight_bits[0]; i++) {
        const struct setting *peak = bind_setting(job, decl, eight_bits[i]);
        if (peak && peak->owner && !peak->owner->catalogue && peak->value.number > 3 * sixteen)
            diag_add(plan_diags(job->binder->plan), DIAG_W0607, peak->span,
                     "`%s` is %.3g times the 16-bit peak; is it the figure with sparsity?",
                     attribute_info(eight_bits[i])->name, peak->value.number / sixteen);
    }
}

static const struct bound_gpu *bind_card(struct bind_job *job, struct decl *decl)
{
    struct bound_failure *known = decl_map_get(job->binder->gpus, decl);
    if (!known) {
        known = ARENA_NEW(job->binder->arena, struct bound_failure);
        struct bind_job own = bind_apart(job);
        read_card(&own, decl, &known->bound);
        const struct pm_gpu *gpu = &known->bound.gpu;
        if (!bind_poisoned(&own, decl)) {
            if (!(gpu->memory > 0))
                bind_missing(&own, decl, "`memory`");
            if (!(gpu->bandwidth > 0))
                bind_missing(&own, decl, "`bandwidth`");
            if (!(gpu->peak[PM_FP16] > 0) && !(gpu->peak[PM_BF16] > 0))
                bind_missing(&own, decl, "a 16-bit peak (`peak.fp16` or `peak.bf16`)");
        }
        if (!own.failed)
            check_sparse(&own, decl, gpu);
        else {
            known->bound.decl = NULL;
            known->why = own.why;
        }
        if (bind_keeps(job, &own))
            decl_map_put(job->binder->gpus, decl, known);
    }
    if (known->bound.decl)
        return &known->bound;
    bind_fail(job, known->why);
    return NULL;
}

/* A system's links and price stand for those of its card. */
const struct bound_gpu *bind_hardware(struct bind_job *job, struct decl *gpu, struct decl *system)
{
    const struct bound_gpu *card = bind_card(job, gpu);
    if (!card || !system)
        return card;
    struct bound_gpu *known = decl_map_get(job->binder->systems, system);
    if (known)
        return known;
    known = ARENA_NEW(job->binder->arena, struct bound_gpu);
    *known = *card;
    known->system = system;
    known->gpu.link = bind_number(job, system, ATTR_GPU_LINK, card->gpu.link);
    known->gpu.gpus_per_node = bind_number(job, system, ATTR_SYSTEM_GPUS_PER_NODE, 0);
    known->gpu.link_domain = bind_number(job, system, ATTR_GPU_LINK_DOMAIN, card->gpu.link_domain);
    if (plan_is_set(job->binder->plan, system, ATTR_GPU_LINK_MESH))
        known->gpu.link_mesh = bind_bool(job, system, ATTR_GPU_LINK_MESH, false);
    known->gpu.network = bind_number(job, system, ATTR_SYSTEM_NETWORK, 0);
    read_price(job, system, known);
    if (bind_poisoned(job, system))
        return NULL;
    decl_map_put(job->binder->systems, system, known);
    return known;
}

/* ---- engines -------------------------------------------------------------------------------------- */

static struct pm_band read_band(struct bind_job *job, struct decl *decl, enum attribute low,
                                enum attribute high)
{
    return (struct pm_band){bind_number(job, decl, low, 1), bind_number(job, decl, high, 1)};
}

static void read_engine_memory(struct bind_job *job, struct decl *decl, struct pm_engine *out)
{
    out->utilization = bind_number(job, decl, ATTR_UTILIZATION, 1);
    out->overhead = bind_number(job, decl, ATTR_OVERHEAD, 0);
    out->activations_in_overhead = bind_bool(job, decl, ATTR_ENGINE_ACTIVATIONS_IN_OVERHEAD, true);
    out->page = bind_number(job, decl, ATTR_PAGE, out->ideal ? 1 : 16);
    out->chunk = bind_number(job, decl, ATTR_CHUNK, 8192);
    out->embedding_on_host = bind_bool(job, decl, ATTR_ENGINE_EMBEDDING_ON_HOST, false);
    out->cap_on_driver_memory = bind_bool(job, decl, ATTR_ENGINE_CAP_ON_DRIVER_MEMORY, false);
    out->communicator = bind_number(job, decl, ATTR_ENGINE_COMMUNICATOR, 0);
    out->graphs = bind_number(job, decl, ATTR_ENGINE_GRAPHS, 0);
    out->graphs_in_cap = bind_bool(job, decl, ATTR_ENGINE_GRAPHS_IN_CAP, false);
    out->cache_share = bind_number(job, decl, ATTR_ENGINE_CACHE_SHARE, 1);
    out->profile_rows = bind_number(job, decl, ATTR_ENGINE_PROFILE_ROWS, 0);
    out->profile_row_bytes = bind_number(job, decl, ATTR_ENGINE_PROFILE_ROW_BYTES, 4);
    out->rope_table = bind_bool(job, decl, ATTR_ENGINE_ROPE_TABLE, false);
    out->allocator_block = bind_number(job, decl, ATTR_ENGINE_ALLOCATOR_BLOCK, 0);
    out->expert_pad_hidden = bind_number(job, decl, ATTR_ENGINE_EXPERT_PAD_HIDDEN, 0);
    out->expert_pad_width = bind_number(job, decl, ATTR_ENGINE_EXPERT_PAD_WIDTH, 0);
    out->unified_pages = bind_bool(job, decl, ATTR_ENGINE_UNIFIED_PAGES, false);
    out->state_pages = bind_number(job, decl, ATTR_ENGINE_STATE_PAGES, 1);
    out->window_margin = bind_number(job, decl, ATTR_ENGINE_WINDOW_MARGIN, 0);
    out->conv_bytes = bind_number(job, decl, ATTR_ENGINE_CONV_STATE, 2);
}

/* Refinements of the step; absent, the form that was fitted first. */
static void read_engine_refinements(struct bind_job *job, struct decl *decl, struct pm_engine *out)
{
    out->corner = bind_number(job, decl, ATTR_ENGINE_CORNER, 0);
    out->expert_row_mix = bind_number(job, decl, ATTR_ENGINE_EXPERT_ROW_MIX, 0);
    out->recurrent_factor = bind_number(job, decl, ATTR_ENGINE_RECURRENT_FACTOR, 1);
    out->efficiency_oneshot = bind_number(job, decl, ATTR_ENGINE_EFFICIENCY_ONESHOT, 0);
    out->ring_time = bind_number(job, decl, ATTR_ENGINE_RING_TIME, 0);
    out->user_time = bind_number(job, decl, ATTR_ENGINE_USER_TIME, 0);
    out->stream_share = bind_number(job, decl, ATTR_ENGINE_STREAM_SHARE, 0);
    out->poll_interval = bind_number(job, decl, ATTR_ENGINE_POLL_INTERVAL, 1);
    out->hold_steps = bind_number(job, decl, ATTR_ENGINE_HOLD_STEPS, 0);
    out->hold_share = bind_number(job, decl, ATTR_ENGINE_HOLD_SHARE, 1);
    out->balance_steps = bind_number(job, decl, ATTR_ENGINE_BALANCE_STEPS, 0);
    out->prompts_first = bind_bool(job, decl, ATTR_ENGINE_PROMPTS_FIRST, false);
    out->train_steps = bind_number(job, decl, ATTR_ENGINE_TRAIN_STEPS, 0);
    out->rate_cap = bind_number(job, decl, ATTR_ENGINE_RATE_CAP, 0);
    out->efficiency_weight_only = bind_number(job, decl, ATTR_ENGINE_EFFICIENCY_WEIGHT_ONLY, 1);
    out->kind_bandwidth[PM_MEMORY_HBM] = bind_number(job, decl, ATTR_ENGINE_BANDWIDTH_HBM, 1);
    out->kind_bandwidth[PM_MEMORY_GDDR] = bind_number(job, decl, ATTR_ENGINE_BANDWIDTH_GDDR, 1);
    out->kind_bandwidth[PM_MEMORY_SHARED] = bind_number(job, decl, ATTR_ENGINE_BANDWIDTH_SHARED, 1);
    out->kind_dense[PM_MEMORY_HBM] = bind_number(job, decl, ATTR_ENGINE_DENSE_HBM, 1);
    out->kind_dense[PM_MEMORY_GDDR] = bind_number(job, decl, ATTR_ENGINE_DENSE_GDDR, 1);
    out->kind_dense[PM_MEMORY_SHARED] = bind_number(job, decl, ATTR_ENGINE_DENSE_SHARED, 1);
    out->dense_half_rows = bind_number(job, decl, ATTR_ENGINE_DENSE_HALF_ROWS, 0);
    out->row_power = bind_number(job, decl, ATTR_ENGINE_ROW_POWER, 1);
    out->experts_of_dense = bind_number(job, decl, ATTR_ENGINE_EFFICIENCY_EXPERTS_OF_DENSE, 0);
    out->expert_spread = bind_number(job, decl, ATTR_EXPERT_SPREAD, 1);
    out->efficiency_cache = bind_number(job, decl, ATTR_ENGINE_EFFICIENCY_CACHE, 1);
    out->efficiency_weights_4 = bind_number(job, decl, ATTR_ENGINE_EFFICIENCY_WEIGHTS_4, 1);
    out->efficiency_plain = bind_number(job, decl, ATTR_ENGINE_EFFICIENCY_PLAIN, 1);
    out->single_stream = bind_bool(job, decl, ATTR_ENGINE_SINGLE_STREAM, false);
}

static void read_engine(struct bind_job *job, struct decl *decl, struct pm_engine *out)
{
    out->ideal = bind_bool(job, decl, ATTR_ENGINE_IDEAL, false);
    out->efficiency_bandwidth = bind_number(job, decl, ATTR_ENGINE_EFFICIENCY_BANDWIDTH, 1);
    out->efficiency_dense[PM_CLASS_16] = bind_number(job, decl, ATTR_ENGINE_EFFICIENCY_DENSE_16, 1);
    out->efficiency_dense[PM_CLASS_8] = bind_number(job, decl, ATTR_ENGINE_EFFICIENCY_DENSE_8, 1);
    out->efficiency_dense[PM_CLASS_4] = bind_number(job, decl, ATTR_ENGINE_EFFICIENCY_DENSE_4, 1);
    out->efficiency_attention = bind_number(job, decl, ATTR_ENGINE_EFFICIENCY_ATTENTION, 1);
    out->efficiency_experts[PM_CLASS_16] = bind_number(job, decl, ATTR_ENGINE_EFFICIENCY_EXPERTS_16, 1);
    out->efficiency_experts[PM_CLASS_8] = bind_number(job, decl, ATTR_ENGINE_EFFICIENCY_EXPERTS_8, 1);
    out->efficiency_experts[PM_CLASS_4] = bind_number(job, decl, ATTR_ENGINE_EFFICIENCY_EXPERTS_4, 1);
    out->expert_half_rows = bind_number(job, decl, ATTR_ENGINE_EXPERT_HALF_ROWS, 0);
    out->operation_time = bind_number(job, decl, ATTR_ENGINE_OPERATION_TIME, 0);
    out->sequence_time = bind_number(job, decl, ATTR_ENGINE_SEQUENCE_TIME, 0);
    out->allreduce_time = bind_number(job, decl, ATTR_ENGINE_ALLREDUCE_TIME, 0);
    out->efficiency_link = bind_number(job, decl, ATTR_ENGINE_EFFICIENCY_LINK, 1);
    read_engine_memory(job, decl, out);
    read_engine_refinements(job, decl, out);
    out->request_time = bind_number(job, decl, ATTR_ENGINE_REQUEST_TIME, 0);
    out->stream_interval = bind_number(job, decl, ATTR_ENGINE_STREAM_INTERVAL, 0);
    out->first_wave = bind_number(job, decl, ATTR_ENGINE_FIRST_WAVE, 0);
    out->tpot_band = read_band(job, decl, ATTR_ENGINE_TPOT_LOW, ATTR_ENGINE_TPOT_HIGH);
    out->ttft_band = read_band(job, decl, ATTR_ENGINE_TTFT_LOW, ATTR_ENGINE_TTFT_HIGH);
    out->rate_band = read_band(job, decl, ATTR_ENGINE_RATE_LOW, ATTR_ENGINE_RATE_HIGH);
    out->unverified_band = read_band(job, decl, ATTR_ENGINE_UNVERIFIED_LOW, ATTR_ENGINE_UNVERIFIED_HIGH);
}

const struct pm_engine *bind_engine(struct bind_job *job, struct decl *engine)
{
    struct pm_engine *known = decl_map_get(job->binder->engines, engine);
    if (known)
        return known;
    known = ARENA_NEW(job->binder->arena, struct pm_engine);
    read_engine(job, engine, known);
    if (bind_poisoned(job, engine))
        return NULL;
    decl_map_put(job->binder->engines, engine, known);
    return known;
}
