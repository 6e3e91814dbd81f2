/* ceiling.c: the physical bound of a step (model.md sections 3 and 4). Work and traffic are the least that
 * any system needs: every weight once, the fewest experts, the cache once, nothing else. The time is the
 * greater of all work at the peaks and all traffic at the bandwidth, over the whole step: a sum of maxima
 * by operation would be larger, and could be beaten by overlap.
 *
 * Totals are those of one GPU of a tp group on a micro-batch's way through all pipeline stages. */
#include "model/internal.h"

struct totals {
    const struct pm_gpu *gpu;
    const struct pm_format *format; /* asked for last, and its peak: neighbouring products share it */
    double peak;
    struct pm_attention_peaks attention_peaks;
    double matrix_work, attention_work, compute_time;
    double weight_traffic, kv_traffic;
};

/* `read` weights are read once; `touched` are multiplied, per token. */
static void multiply(struct totals *totals, double read, double touched, double tokens,
                     const struct pm_format *format)
{
    double work = 2 * touched * tokens;
    if (totals->format != format) {
        totals->peak = pm_peak_ceiling(totals->gpu, format);
        totals->format = format;
    }
    totals->matrix_work += work;
    totals->compute_time += work / totals->peak;
    totals->weight_traffic += pm_bytes(read, format);
}

struct pm_attention_peaks pm_attention_peaks_of(const struct pm_case *input)
{
    static const struct pm_format fp8 = {.bits = 8, .compute = PM_FP8, .expected = PM_FP8};
    const struct pm_gpu *gpu = input->gpu;
    return (struct pm_attention_peaks){
        .attention = pm_at_least(pm_peak_16(gpu), pm_peak_ceiling(gpu, &input->model->kv_format)),
        .index = pm_peak_ceiling(gpu, &fp8),
    };
}

struct pm_attention_work pm_attention_work_of(const struct pm_block *block, double tp)
{
    struct pm_attention_work work = {0, 0, 0};
    if (block->attention == PM_ATTENTION_GROUPED) {
        work.decode = work.prompt = 2 * block->heads * (block->head_dim + pm_v_dim(block)) / tp;
    } else if (block->attention == PM_ATTENTION_LATENT) {
        work.decode = 2 * block->heads * (2 * block->kv_rank + block->rope_dim) / tp;
        work.prompt = 2 * block->heads * (block->nope_dim + block->rope_dim + block->v_dim) / tp;
        work.prompt = pm_at_most(work.prompt, work.decode);
    }
    work.index = 2 * block->index_heads * block->index_dim / tp;
    return work;
}

static void add_attention(const struct pm_view *view, const struct pm_block *block, double sequences,
                          const struct pm_load *load, struct totals *totals)
{
    const struct pm_kind *kind = pm_kind_of(view, block);
    const struct pm_attention_peaks *peaks = &totals->attention_peaks;
    struct pm_attention_work per_token = kind->work;
    double count = block->count, queries = sequences * load->queries;
    double window = block->window, index_top = block->index_heads > 0 ? block->index_top : 0;
    if (index_top > 0 && (!(window > 0) || index_top < window)) {
        window = index_top;
    }
    double attended = pm_attended_mean(load->contexts, window, block->chunk);
    double pairs = pm_attended_pairs(load->prompt, load->cached, window, block->chunk);
    double work = count * (queries * attended * per_token.decode + pairs * per_token.prompt);
    totals->attention_work += work;
    totals->compute_time += work / peaks->attention;
    totals->kv_traffic += count * kind->kv_token *
                          (sequences * attended + pm_attended_cached(load->cached, window, block->chunk));
    if (per_token.index > 0) {
        double reach = pm_attended_mean(load->contexts, 0, 0);
        double scored = queries * reach + pm_attended_pairs(load->prompt, load->cached, 0, 0);
        totals->attention_work += count * scored * per_token.index;
        totals->compute_time += count * scored * per_token.index / peaks->index;
        totals->kv_traffic += count * block->index_dim * (sequences * reach + load->cached);
    }
    /* A state is read and written by every decode step; a fresh prompt only writes it. */
    double passes = 2 * sequences + (load->prompt > 0 ? (load->cached > 0 ? 2 : 1) : 0);
    totals->kv_traffic += count * passes * kind->state;
}

static void add_block(const struct pm_view *view, const struct pm_layout *layout,
                      const struct pm_block *block, double sequences, const struct pm_load *load,
                      struct totals *totals)
{
    const struct pm_kind *kind = pm_kind_of(view, block);
    const struct pm_block_counts *one = &kind->counts;
    double blocks = block->count * view->scale, share = blocks / layout->tp;
    double tokens = sequences * load->queries + load->prompt;
    double attention = one->attention_split + one->attention_whole + one->key_value;
    double common = one->ffn + one->latent + one->other;
    double used = pm_at_most(block->active_experts, block->experts);
    double all_tokens = pm_at_least(load->sequences, 0) * load->queries + load->prompt;
    multiply(totals, share * attention, share * attention, tokens, pm_format_attention(view, block));
    multiply(totals, share * common, share * common, tokens, pm_format_ffn(view, block));
    if (block->experts > 0) {
        double experts = blocks * used * one->expert / layout->stage_gpus;
        multiply(totals, experts, experts, all_tokens, &block->expert_format);
        multiply(totals, share * one->router, share * one->router, tokens, &block->router_format);
    }
    multiply(totals, share * one->shared, share * one->shared, tokens, &block->shared_format);
    add_attention(view, block, sequences, load, totals);
}

/* The head gives logits for the decoding tokens and for a prompt's last. */
static void add_ends(const struct pm_view *view, const struct pm_layout *layout, double sequences,
                     const struct pm_load *load, struct totals *totals)
{
    static const struct pm_format tower = {.bits = 16, .compute = PM_BF16, .expected = PM_BF16};
    const struct pm_model *model = view->model;
    double rows = sequences * load->queries + (load->prompt > 0 ? load->requests : 0);
    double head = view->declared ? 0 : model->vocab * model->hidden * view->scale / layout->tp;
    multiply(totals, head, head, rows, pm_format_head(view));
    if (load->tower_tokens > 0) {
        double weights = model->tower_params / layout->tp;
        multiply(totals, weights, weights, load->tower_tokens, &tower);
    }
    if (view->declared && model->block_count == 0) {
        double weights = model->declared_params / layout->tp;
        multiply(totals, weights, weights, sequences * load->queries + load->prompt, &model->weights_format);
    }
}

void pm_ceiling_of(const struct pm_case *input, const struct pm_load *load, struct pm_ceiling *out)
{
    const struct pm_view *view = &input->prepared->view;
    struct pm_layout layout = pm_layout_of(input);
    struct totals totals = {.gpu = input->gpu, .attention_peaks = pm_attention_peaks_of(input)};
    double bandwidth = pm_at_least(input->gpu->bandwidth, 1);
    /* The busiest replica has one sequence where there are fewer than replicas. */
    double sequences = load->sequences > 0 ? pm_at_least(load->sequences / layout.dp, 1) : 0;
    *out = (struct pm_ceiling){0};
    if (sequences > 0 || load->prompt > 0) {
        for (size_t i = 0; i < input->model->block_count; i++) {
            add_block(view, &layout, &input->model->blocks[i], sequences, load, &totals);
        }
        add_ends(view, &layout, sequences, load, &totals);
    }
    out->matrix_work = totals.matrix_work;
    out->attention_work = totals.attention_work;
    out->work = totals.matrix_work + totals.attention_work;
    out->weight_traffic = totals.weight_traffic;
    out->kv_traffic = totals.kv_traffic;
    double traffic = totals.weight_traffic + totals.kv_traffic;
    out->traffic = traffic - pm_at_most(traffic, pm_at_least(input->gpu->cache, 0));
    out->compute_time = totals.compute_time;
    out->memory_time = out->traffic / bandwidth;
    out->time = pm_at_least(out->compute_time, out->memory_time);
    out->intensity = pm_divide(out->work, out->traffic);
    double peak = out->compute_time > 0 ? out->work / out->compute_time : pm_peak_16(input->gpu);
    out->balance = peak / bandwidth;
    out->bound = out->compute_time >= out->memory_time    ? PM_BOUND_COMPUTE
                 : out->weight_traffic >= out->kv_traffic ? PM_BOUND_WEIGHTS
                                                          : PM_BOUND_KV;
}

double pm_micro_batches(const struct pm_layout *layout, double sequences)
{
    return pm_at_least(pm_at_most(layout->pp, sequences), 1);
}

struct pm_load pm_decode_load(const struct pm_case *input, double sequences, struct pm_contexts contexts)
{
    struct pm_layout layout = pm_layout_of(input);
    return (struct pm_load){
        .sequences = sequences / pm_micro_batches(&layout, sequences),
        .queries = pm_queries(input),
        .contexts = contexts,
    };
}

void pm_bound_decode(const struct pm_case *input, double sequences, double context, struct pm_ceiling *out)
{
    struct pm_contexts contexts = {pm_at_least(context, 0), pm_at_least(context, 0)};
    struct pm_load load = pm_decode_load(input, pm_at_least(sequences, 0), contexts);
    pm_ceiling_of(input, &load, out);
}

/* Each stage of a pipeline must do its own part; at best all work at once, on chunks of the prompt. */
static void share_among_stages(struct pm_ceiling *out, double stages)
{
    double *const totals[] = {&out->matrix_work,  &out->attention_work, &out->work,
                              &out->weight_traffic, &out->kv_traffic,   &out->traffic,
                              &out->compute_time, &out->memory_time,    &out->time};
    for (size_t i = 0; i < sizeof totals / sizeof totals[0]; i++) {
        *totals[i] /= stages;
    }
}

/* The whole prompt in one step: chunks would only read weights again. */
void pm_bound_prefill(const struct pm_case *input, double prompt, double cached, struct pm_ceiling *out)
{
    struct pm_load load = {
        .queries = 1,
        .prompt = pm_at_least(prompt, 0),
        .cached = pm_at_least(cached, 0),
        .tower_tokens = prompt > 0 ? input->model->tower_tokens : 0,
        .requests = 1,
    };
    pm_ceiling_of(input, &load, out);
    share_among_stages(out, pm_layout_of(input).pp);
}
