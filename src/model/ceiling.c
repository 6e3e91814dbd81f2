/* ceiling.c: the physical bound of a step (model.md sections 3 and 4). Work and traffic are the least that
 * any system needs: every weight once, the fewest experts, the cache once, nothing else. The time is the
 * greater of all work at the peaks and all traffic at the bandwidth, over the whole step: a sum of maxima
 * by operation would be larger, and could be beaten by overlap.
 *
 * Totals are those of one GPU of a tp group on a micro-batch's way through all pipeline stages. */
#include "model/internal.h"

/* ---- matrices ------------------------------------------------------------------------------- */

static void add_matrix(struct pm_formats *formats, double weights, const struct pm_format *format,
                       enum pm_rows rows, struct pm_matrix *list, size_t *count)
{
    if (weights > 0) {
        list[(*count)++] = (struct pm_matrix){
            .weights = weights,
            .bytes = pm_bytes(weights, format),
            .format = pm_format_place(formats, format),
            .rows = (unsigned char)rows,
        };
    }
}

void pm_list_block_matrices(const struct pm_view *view, const struct pm_layout *layout, size_t index,
                            struct pm_formats *formats, struct pm_kind *kind)
{
    const struct pm_block *block = &view->model->blocks[index];
    const struct pm_block_counts *one = &kind->counts;
    double blocks = block->count * view->scale, share = blocks / layout->tp;
    double attention = one->attention_split + one->attention_whole + one->key_value;
    double common = one->ffn + one->latent + one->other;
    size_t *count = &kind->matrix_count;
    *count = 0;
    add_matrix(formats, share * attention, pm_format_attention(view, block), PM_ROWS_TOKENS, kind->matrix,
               count);
    add_matrix(formats, share * common, pm_format_ffn(view, block), PM_ROWS_TOKENS, kind->matrix, count);
    if (block->experts > 0) {
        double used = pm_at_most(block->active_experts, block->experts);
        add_matrix(formats, blocks * used * one->expert / layout->stage_gpus, &block->expert_format,
                   PM_ROWS_ALL, kind->matrix, count);
        add_matrix(formats, share * one->router, &block->router_format, PM_ROWS_TOKENS, kind->matrix, count);
    }
    add_matrix(formats, share * one->shared, &block->shared_format, PM_ROWS_TOKENS, kind->matrix, count);
}

/* The head gives logits for the decoding tokens and for a prompt's last. */
size_t pm_list_end_matrices(const struct pm_view *view, const struct pm_layout *layout,
                            struct pm_formats *formats, struct pm_matrix list[PM_END_MATRICES])
{
    static const struct pm_format tower = {.bits = 16, .compute = PM_BF16, .expected = PM_BF16};
    const struct pm_model *model = view->model;
    double head = view->declared ? 0 : model->vocab * model->hidden * view->scale / layout->tp;
    size_t count = 0;
    add_matrix(formats, head, pm_format_head(view), PM_ROWS_LOGITS, list, &count);
    add_matrix(formats, model->tower_params / layout->tp, &tower, PM_ROWS_TOWER, list, &count);
    if (view->declared && model->block_count == 0) {
        add_matrix(formats, model->declared_params / layout->tp, &model->weights_format, PM_ROWS_TOKENS, list,
                   &count);
    }
    return count;
}

/* ---- attention ------------------------------------------------------------------------------ */

struct pm_attention_peaks pm_attention_peaks_of(const struct pm_case *input)
{
    const struct pm_rates *rates = input->rates;
    return (struct pm_attention_peaks){
        .attention = pm_at_least(rates->peak_16, rates->peak_ceiling[input->prepared->kv_format]),
        .index = rates->peak_index,
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

/* ---- the step ------------------------------------------------------------------------------- */

struct totals {
    const struct pm_load *load;
    const struct pm_rates *rates;
    struct pm_attention_peaks peaks;
    double sequences, queries; /* on the busiest replica, and their tokens */
    double rows[PM_ROWS_COUNT];
    double attended, pairs, cached; /* by a decoding token, of the prompt, and read by it */
    double matrix_work, attention_work, compute_time;
    double weight_traffic, kv_traffic;
};

static void add_matrices(struct totals *totals, const struct pm_matrix *matrix, size_t count)
{
    for (const struct pm_matrix *end = matrix + count; matrix < end; matrix++) {
        double work = 2 * matrix->weights * totals->rows[matrix->rows];
        if (matrix->rows != PM_ROWS_TOWER || work > 0) {
            totals->matrix_work += work;
            totals->compute_time += work / totals->rates->peak_ceiling[matrix->format];
            totals->weight_traffic += matrix->bytes;
        }
    }
}

/* The scores of a sparse index, over all tokens. */
static void add_index(const struct pm_block *block, const struct pm_kind *kind, struct totals *totals)
{
    const struct pm_load *load = totals->load;
    double reach = pm_attended_mean(load->contexts, 0, 0), count = block->count;
    double scored = totals->queries * reach + pm_attended_pairs(load->prompt, load->cached, 0, 0);
    totals->attention_work += count * scored * kind->work.index;
    totals->compute_time += count * scored * kind->work.index / totals->peaks.index;
    totals->kv_traffic += count * block->index_dim * (totals->sequences * reach + load->cached);
}

static void add_attention(const struct pm_block *block, const struct pm_kind *kind, struct totals *totals)
{
    const struct pm_load *load = totals->load;
    double count = block->count;
    if (!kind->same_reach) {
        totals->attended = pm_attended_mean(load->contexts, kind->window, kind->chunk);
        totals->pairs = pm_attended_pairs(load->prompt, load->cached, kind->window, kind->chunk);
        totals->cached = pm_attended_cached(load->cached, kind->window, kind->chunk);
    }
    double work =
        count * (totals->queries * totals->attended * kind->work.decode + totals->pairs * kind->work.prompt);
    totals->attention_work += work;
    totals->compute_time += work / totals->peaks.attention;
    totals->kv_traffic += count * kind->kv_token * (totals->sequences * totals->attended + totals->cached);
    if (kind->work.index > 0) {
        add_index(block, kind, totals);
    }
    /* A state is read and written by every decode step; a fresh prompt only writes it. */
    double passes = 2 * totals->sequences + (load->prompt > 0 ? (load->cached > 0 ? 2 : 1) : 0);
    totals->kv_traffic += count * passes * kind->state;
}

static void add_all(const struct pm_case *input, const struct pm_load *load, struct totals *totals)
{
    const struct pm_prepared *prepared = input->prepared;
    double *rows = totals->rows, decoding = totals->queries;
    rows[PM_ROWS_TOKENS] = decoding + load->prompt;
    rows[PM_ROWS_LOGITS] = decoding + (load->prompt > 0 ? load->requests : 0);
    rows[PM_ROWS_TOWER] = load->tower_tokens;
    rows[PM_ROWS_ALL] = pm_at_least(load->sequences, 0) * load->queries + load->prompt;
    for (size_t i = 0; i < prepared->view.model->block_count; i++) {
        const struct pm_kind *kind = &prepared->kinds[i];
        add_matrices(totals, kind->matrix, kind->matrix_count);
        add_attention(&prepared->view.model->blocks[i], kind, totals);
    }
    add_matrices(totals, prepared->end, prepared->end_count);
}

void pm_ceiling_of(const struct pm_case *input, const struct pm_load *load, struct pm_ceiling *out)
{
    /* The busiest replica has one sequence where there are fewer than replicas. */
    double sequences = load->sequences > 0 ? pm_at_least(load->sequences / input->prepared->layout.dp, 1) : 0;
    double bandwidth = pm_at_least(input->gpu->bandwidth, 1);
    struct totals totals = {
        .load = load,
        .rates = input->rates,
        .peaks = pm_attention_peaks_of(input),
        .sequences = sequences,
        .queries = sequences * load->queries,
    };
    if (sequences > 0 || load->prompt > 0) {
        add_all(input, load, &totals);
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
    double peak = out->compute_time > 0 ? out->work / out->compute_time : input->rates->peak_16;
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
    double *const totals[] = {&out->matrix_work,    &out->attention_work, &out->work,
                              &out->weight_traffic, &out->kv_traffic,     &out->traffic,
                              &out->compute_time,   &out->memory_time,    &out->time};
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
