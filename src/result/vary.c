/* vary.c: a scenario with one of its inputs changed. */
#include "result/vary.h"

#include <string.h>

#include "base/arena.h"

/* ---- inputs --------------------------------------------------------------------------------------- */

#define RATE_OF_DATA                                                                                         \
    {                                                                                                        \
        {                                                                                                    \
            [DIM_DATA] = 1, [DIM_TIME] = -1                                                                  \
        }                                                                                                    \
    }
#define RATE_OF_WORK                                                                                         \
    {                                                                                                        \
        {                                                                                                    \
            [DIM_WORK] = 1, [DIM_TIME] = -1                                                                  \
        }                                                                                                    \
    }
#define PEAK(format, name)                                                                                   \
    [VARY_PEAK_FIRST + PM_##                                                                                 \
        format] = {"gpu.peak." name, name " arithmetic", RATE_OF_WORK, false, false, false}

static const struct vary_info infos[VARY_COUNT] = {
    [VARY_BANDWIDTH] = {"gpu.bandwidth", "bandwidth", RATE_OF_DATA, false, false, false},
    [VARY_PEAK] = {"gpu.peak", "arithmetic", RATE_OF_WORK, false, false, false},
    PEAK(FP64, "fp64"),
    PEAK(FP32, "fp32"),
    PEAK(TF32, "tf32"),
    PEAK(FP16, "fp16"),
    PEAK(BF16, "bf16"),
    PEAK(FP8, "fp8"),
    PEAK(INT8, "int8"),
    PEAK(FP6, "fp6"),
    PEAK(FP4, "fp4"),
    PEAK(INT4, "int4"),
    [VARY_MEMORY] = {"gpu.memory", "memory", {{[DIM_DATA] = 1}}, false, false, false},
    [VARY_CACHE] = {"gpu.cache", "last-level cache", {{[DIM_DATA] = 1}}, false, false, false},
    [VARY_LINK] = {"gpu.link", "link bandwidth", RATE_OF_DATA, false, false, false},
    [VARY_PCIE] = {"gpu.pcie", "PCIe bandwidth", RATE_OF_DATA, false, false, false},
    [VARY_NETWORK] = {"system.network", "network bandwidth", RATE_OF_DATA, false, false, false},
    [VARY_PRICE] = {"gpu.price", "price", {{0}}, false, false, false},
    [VARY_BATCH] = {"batch", "batch", {{0}}, true, false, false},
    [VARY_CONTEXT] = {"context", "context", {{[DIM_TOKEN] = 1}}, true, false, false},
    [VARY_PROMPT] = {"prompt", "prompt", {{[DIM_TOKEN] = 1}}, true, false, false},
    [VARY_OUTPUT] = {"output", "output", {{[DIM_TOKEN] = 1}}, true, false, false},
    [VARY_CACHED_PREFIX] = {"cached_prefix", "cached prefix", {{[DIM_TOKEN] = 1}}, true, false, false},
    [VARY_ACCEPTANCE] = {"speculation.acceptance", "acceptance of drafts", {{0}}, false, true, false},
    [VARY_WEIGHT_BITS] = {"weights", "bits per weight", {{0}}, false, false, false},
    [VARY_KV_BITS] = {"kv_cache", "bits per cached value", {{0}}, false, false, false},
    [VARY_UTILIZATION] = {"engine.utilization", "usable share of memory", {{0}}, false, true, true},
    [VARY_OVERHEAD] = {"engine.overhead", "memory overhead", {{[DIM_DATA] = 1}}, false, false, true},
    [VARY_EFFICIENCY_BANDWIDTH] =
        {"engine.efficiency.bandwidth", "efficiency of bandwidth", {{0}}, false, true, true},
    [VARY_EFFICIENCY_DENSE] =
        {"engine.efficiency.dense", "efficiency of matrix products", {{0}}, false, true, true},
    [VARY_EFFICIENCY_ATTENTION] =
        {"engine.efficiency.attention", "efficiency of attention", {{0}}, false, true, true},
    [VARY_EFFICIENCY_EXPERTS] =
        {"engine.efficiency.experts", "efficiency of experts", {{0}}, false, true, true},
    [VARY_EFFICIENCY_LINK] = {"engine.efficiency.link", "efficiency of the link", {{0}}, false, true, true},
    [VARY_OPERATION_TIME] =
        {"engine.operation_time", "time per operation", {{[DIM_TIME] = 1}}, false, false, true},
    [VARY_SEQUENCE_TIME] =
        {"engine.sequence_time", "host time per sequence", {{[DIM_TIME] = 1}}, false, false, true},
    [VARY_ALLREDUCE_TIME] =
        {"engine.allreduce_time", "latency of an all-reduce", {{[DIM_TIME] = 1}}, false, false, true},
    [VARY_REQUEST_TIME] =
        {"engine.request_time", "host time per request", {{[DIM_TIME] = 1}}, false, false, true},
    [VARY_STREAM_INTERVAL] =
        {"engine.stream_interval", "steps before a token is sent", {{0}}, false, false, true},
    [VARY_FIRST_WAVE] = {"engine.first_wave", "wait in prefills of others", {{0}}, false, false, true},
};

struct vary_info vary_info(enum vary input)
{
    return infos[input];
}

unsigned vary_parts(enum vary input)
{
    const unsigned times = PM_PART_DECODE | PM_PART_SERVICE | PM_PART_USE | PM_PART_LIMITS;
    switch (input) {
    case VARY_MEMORY:
    case VARY_BATCH:
    case VARY_CONTEXT:
    case VARY_PROMPT:
    case VARY_OUTPUT:
    case VARY_CACHED_PREFIX:
    case VARY_ACCEPTANCE:
    case VARY_WEIGHT_BITS:
    case VARY_KV_BITS:
    case VARY_UTILIZATION:
    case VARY_OVERHEAD: return PM_PART_ALL;
    case VARY_REQUEST_TIME:
    case VARY_STREAM_INTERVAL:
    case VARY_FIRST_WAVE: return PM_PART_SERVICE | PM_PART_USE;
    case VARY_PRICE: return PM_PART_USE;
    default: return times;
    }
}

/* Formats are what a preparation rests on. */
static bool changes_model(enum vary input)
{
    return input == VARY_WEIGHT_BITS || input == VARY_KV_BITS;
}

/* ---- the copies ------------------------------------------------------------------------------------- */

struct variation {
    const struct evaluation *base;
    struct bound_gpu gpu;
    struct bound_model model;
    struct pm_block *blocks;
    struct evaluation changed;
    const struct pm_prepared *prepared;
    /* The numbers that one input stands for, in the copies above, and what they were. */
    double **slots;
    double *before;
    size_t slot_count;
    unsigned stale; /* parts of `changed` that are not those of the base */
};

enum { SLOTS_PER_BLOCK = 4, SLOTS_BESIDES = PM_COMPUTE_COUNT };

struct variation *variation_new(struct arena *arena, const struct evaluation *base)
{
    struct variation *variation = ARENA_NEW(arena, struct variation);
    const struct binding *binding = &base->binding;
    size_t blocks = binding->model->model.block_count, slots = blocks * SLOTS_PER_BLOCK + SLOTS_BESIDES;
    *variation = (struct variation){
        .base = base,
        .gpu = *binding->gpu,
        .model = *binding->model,
        .blocks = ARENA_ARRAY(arena, struct pm_block, blocks + 1),
        .changed = *base,
        .slots = ARENA_ARRAY(arena, double *, slots),
        .before = ARENA_ARRAY(arena, double, slots),
    };
    if (blocks > 0)
        memcpy(variation->blocks, binding->model->model.blocks, blocks * sizeof variation->blocks[0]);
    variation->model.model.blocks = variation->blocks;
    struct binding *changed = &variation->changed.binding;
    changed->gpu = &variation->gpu;
    changed->model = &variation->model;
    changed->engine_values = *binding->input.engine;
    changed->input.gpu = &variation->gpu.gpu;
    changed->input.model = &variation->model.model;
    changed->input.engine = &changed->engine_values;
    variation->prepared = pm_prepare(&changed->input, arena_alloc(arena, pm_prepared_size(&changed->input)));
    return variation;
}

const struct evaluation *variation_base(const struct variation *variation)
{
    return variation->base;
}

/* Takes back what was changed. */
static void restore(struct variation *variation)
{
    for (size_t i = 0; i < variation->slot_count; i++)
        *variation->slots[i] = variation->before[i];
    variation->slot_count = 0;
}

/* ---- the numbers of an input ----------------------------------------------------------------------------
 */

static void add_slot(struct variation *variation, double *slot)
{
    if (*slot != 0) {
        variation->before[variation->slot_count] = *slot;
        variation->slots[variation->slot_count++] = slot;
    }
}

/* Matrices; embedding, head, norms and router keep their own formats, as `weights` leaves them. */
static void add_weight_bits(struct variation *variation)
{
    struct pm_model *model = &variation->model.model;
    if (model->declared_params > 0)
        add_slot(variation, &model->weights_format.bits);
    for (size_t i = 0; i < model->block_count; i++) {
        add_slot(variation, &variation->blocks[i].attention_format.bits);
        add_slot(variation, &variation->blocks[i].ffn_format.bits);
        add_slot(variation, &variation->blocks[i].expert_format.bits);
        add_slot(variation, &variation->blocks[i].shared_format.bits);
    }
}

enum pm_compute variation_compute(const struct variation *variation)
{
    const struct pm_model *model = variation->base->binding.input.model;
    const double *peak = variation->base->binding.input.gpu->peak;
    const struct pm_format *format = model->declared_params > 0 || model->block_count == 0
                                         ? &model->weights_format
                                     : model->blocks[0].expert_ffn > 0 ? &model->blocks[0].expert_format
                                     : model->blocks[0].ffn > 0        ? &model->blocks[0].ffn_format
                                                                       : &model->blocks[0].attention_format;
    if (!format->weight_only && peak[format->compute] > 0)
        return format->compute;
    return peak[PM_BF16] > 0 ? PM_BF16 : PM_FP16;
}

static void add_slots(struct variation *variation, double *slots, size_t count)
{
    for (size_t i = 0; i < count; i++)
        add_slot(variation, &slots[i]);
}

static void add_peaks(struct variation *variation, double *peaks)
{
    enum pm_compute first = variation_compute(variation);
    add_slot(variation, &peaks[first]);
    add_slots(variation, peaks, first);
    add_slots(variation, peaks + first + 1, PM_COMPUTE_COUNT - first - 1);
}

static void find_slots(struct variation *variation, enum vary input)
{
    struct pm_gpu *gpu = &variation->gpu.gpu;
    struct pm_case *load = &variation->changed.binding.input;
    struct pm_engine *engine = &variation->changed.binding.engine_values;
    double *single = NULL;
    restore(variation);
    if (input >= VARY_PEAK_FIRST && input < VARY_PEAK_FIRST + PM_COMPUTE_COUNT) {
        add_slot(variation, &gpu->peak[input - VARY_PEAK_FIRST]);
        return;
    }
    switch (input) {
    case VARY_BANDWIDTH: single = &gpu->bandwidth; break;
    case VARY_PEAK: add_peaks(variation, gpu->peak); break;
    case VARY_MEMORY: single = &gpu->memory; break;
    case VARY_CACHE: single = &gpu->cache; break;
    case VARY_LINK: single = &gpu->link; break;
    case VARY_PCIE: single = &gpu->pcie; break;
    case VARY_NETWORK: single = &gpu->network; break;
    case VARY_PRICE: single = &gpu->price; break;
    case VARY_BATCH: single = &load->batch; break;
    case VARY_CONTEXT: single = load->static_step ? &load->context : NULL; break;
    case VARY_PROMPT: single = &load->prompt; break;
    case VARY_OUTPUT: single = load->static_step ? NULL : &load->output; break;
    case VARY_CACHED_PREFIX: single = &load->cached_prefix; break;
    case VARY_ACCEPTANCE: single = load->draft_tokens > 0 ? &load->acceptance : NULL; break;
    case VARY_WEIGHT_BITS: add_weight_bits(variation); break;
    case VARY_KV_BITS: single = &variation->model.model.kv_format.bits; break;
    case VARY_UTILIZATION: single = load->utilization > 0 ? &load->utilization : &engine->utilization; break;
    case VARY_OVERHEAD: single = &engine->overhead; break;
    case VARY_EFFICIENCY_BANDWIDTH:
        single = gpu->efficiency_bandwidth > 0 ? &gpu->efficiency_bandwidth : &engine->efficiency_bandwidth;
        break;
    case VARY_EFFICIENCY_DENSE: add_slots(variation, engine->efficiency_dense, PM_CLASS_COUNT); break;
    case VARY_EFFICIENCY_ATTENTION: single = &engine->efficiency_attention; break;
    case VARY_EFFICIENCY_EXPERTS: add_slots(variation, engine->efficiency_experts, PM_CLASS_COUNT); break;
    case VARY_EFFICIENCY_LINK:
        add_slot(variation, &engine->efficiency_oneshot);
        single = &engine->efficiency_link;
        break;
    case VARY_OPERATION_TIME: single = &engine->operation_time; break;
    case VARY_SEQUENCE_TIME: single = &engine->sequence_time; break;
    case VARY_ALLREDUCE_TIME:
        add_slot(variation, &engine->allreduce_time);
        single = &engine->ring_time;
        break;
    case VARY_REQUEST_TIME:
        add_slot(variation, &engine->request_time);
        single = &engine->user_time;
        break;
    case VARY_STREAM_INTERVAL: single = &engine->stream_interval; break;
    case VARY_FIRST_WAVE: single = &engine->first_wave; break;
    default: break;
    }
    if (single != NULL)
        add_slot(variation, single);
}

double variation_value(const struct variation *variation, enum vary input)
{
    /* The copies are scratch; what is read is what the scenario has. */
    struct variation *scratch = (struct variation *)variation;
    find_slots(scratch, input);
    return scratch->slot_count > 0 ? *scratch->slots[0] : 0;
}

double variation_step(const struct variation *variation, enum vary input)
{
    const struct pm_case *load = &variation->base->binding.input;
    if (input == VARY_BATCH)
        return load->dp > 1 ? load->dp : 1;
    if (input != VARY_CONTEXT && input != VARY_PROMPT && input != VARY_OUTPUT)
        return 1;
    double page = load->page > 0 ? load->page : load->engine->page;
    return page > 1 ? page : 1;
}

/* A result starts from the base's; parts that the input does not reach are right as they are. */
const struct evaluation *variation_parts_at(struct variation *variation, enum vary input, double value,
                                            unsigned parts)
{
    struct evaluation *changed = &variation->changed;
    find_slots(variation, input);
    double before = variation->slot_count > 0 ? *variation->slots[0] : 1;
    for (size_t i = 0; i < variation->slot_count; i++)
        *variation->slots[i] = i == 0 ? value : *variation->slots[i] * (value / before);
    unsigned reached = vary_parts(input) & parts;
    if (variation->stale & ~reached)
        changed->result = variation->base->result;
    changed->binding.input.prepared = changes_model(input) ? NULL : variation->prepared;
    pm_evaluate_parts(&changed->binding.input, reached, &changed->result);
    variation->stale = reached;
    return changed;
}

const struct evaluation *variation_at(struct variation *variation, enum vary input, double value)
{
    return variation_parts_at(variation, input, value, PM_PART_ALL);
}
