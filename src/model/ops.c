/* ops.c: the operations of a step, one call per row of the table in calibration.md section 2.3. Each costs
 * the greater of its work at the peak's achieved share and its bytes at the bandwidth's, and a fixed time.
 * The table's count of operations is part of the calibration: a kernel more or less is no operation more
 * or less. Sizes are those of one GPU. */
#include "model/internal.h"
#include "model/launch.h"

/* Rates of the formats that were asked for last: neighbouring products share theirs, and whole models have
 * two or three. */
enum { KNOWN_RATES = 2 };

struct known_rates {
    const struct pm_format *format[KNOWN_RATES];
    double rate[KNOWN_RATES];
};

/* What the operations of a step have in common. */
struct step_context {
    const struct pm_case *input;
    const struct pm_view *view;
    const struct pm_layout *layout;
    const struct pm_load *load;
    struct pm_sink *sink;
    double sequences;      /* decoding, on the busiest replica */
    double queries;        /* their tokens */
    double tokens;         /* with the prompt's */
    double all_tokens;     /* over all replicas */
    double attention_rate; /* FLOP/s achieved in attention */
    double dense_factor;   /* of the card's kind of memory */
    struct known_rates *known;
    double count; /* blocks of this kind */
};

static const struct pm_format bf16 = {.bits = 16, .compute = PM_BF16, .expected = PM_BF16};
static const struct pm_format fp8 = {.bits = 8, .compute = PM_FP8, .expected = PM_FP8};

static double share(double efficiency)
{
    return pm_at_most(pm_at_least(efficiency, 1e-6), 1);
}

static double find_dense_rate(const struct step_context *step, const struct pm_format *format)
{
    enum pm_class computed;
    const struct pm_engine *engine = step->input->engine;
    double peak = pm_peak_expected(step->input->gpu, format, &computed);
    double efficiency = engine->efficiency_dense[computed] * step->dense_factor;
    if (format->weight_only && engine->efficiency_weight_only > 0) {
        efficiency *= engine->efficiency_weight_only;
    }
    double rate = peak * share(efficiency), cap = engine->rate_cap;
    return cap > 0 ? rate / sqrt(1 + rate / cap * (rate / cap)) : rate;
}

/* Alike in all that a rate depends on. */
static bool are_computed_alike(const struct pm_format *one, const struct pm_format *other)
{
    return one == other || (one->compute == other->compute && one->expected == other->expected &&
                            one->weight_only == other->weight_only);
}

static double dense_rate(const struct step_context *step, const struct pm_format *format)
{
    struct known_rates *known = step->known;
    for (size_t i = 0; i < KNOWN_RATES && known->format[i] != NULL; i++) {
        if (are_computed_alike(known->format[i], format)) {
            return known->rate[i];
        }
    }
    known->format[1] = known->format[0];
    known->rate[1] = known->rate[0];
    known->format[0] = format;
    known->rate[0] = find_dense_rate(step, format);
    return known->rate[0];
}

/* Bytes of 16-bit activations in and out of a product of `rows` rows. */
static double activation_bytes(double rows, double inner, double outer)
{
    return 2 * rows * (inner + outer);
}

/* A product of `rows` rows with an inner x outer matrix. */
static void gemm(const struct step_context *step, const char *name, double inner, double outer,
                 const struct pm_format *format, double rows)
{
    double weights = inner * outer * step->view->scale;
    if (!(rows > 0) || !(weights > 0)) {
        return;
    }
    struct pm_op op = {
        .name = name,
        .count = step->count,
        .work = 2 * rows * weights,
        .weight_bytes = pm_bytes(weights, format),
        .activation_bytes = activation_bytes(rows, inner, outer),
        .rate = dense_rate(step, format),
    };
    launch(step->sink, &op);
}

static void attend(const struct step_context *step, const char *name, double work, double rate,
                   double kv_bytes, double activations)
{
    struct pm_op op = {
        .name = name,
        .count = step->count,
        .work = work,
        .kv_bytes = kv_bytes,
        .activation_bytes = activations,
        .rate = rate,
    };
    launch(step->sink, &op);
}

/* ---- attention ------------------------------------------------------------------------------ */

/* Tokens that attention reads, after windows and sparse index. */
struct reach {
    double attended; /* by a decoding token, in the mean */
    double pairs;    /* of the prompt */
    double cached;   /* read by the prompt */
};

/* Equal prompts pass side by side: each attends to its own tokens. */
static double prompts_of(const struct pm_load *load)
{
    return load->prompts > 0 ? load->prompts : 1;
}

static double prompt_pairs(const struct pm_load *load, double window, double chunk)
{
    double prompts = prompts_of(load);
    return prompts * pm_attended_pairs(load->prompt / prompts, load->cached, window, chunk);
}

static struct reach reach_of(const struct step_context *step, const struct pm_block *block)
{
    const struct pm_load *load = step->load;
    double window = block->window, top = block->index_heads > 0 ? block->index_top : 0;
    if (top > 0 && (!(window > 0) || top < window)) {
        window = top;
    }
    struct reach reach = {
        .attended = pm_attended_mean(load->contexts, window, block->chunk),
        .pairs = prompt_pairs(load, window, block->chunk),
        .cached = prompts_of(load) * pm_attended_cached(load->cached, window, block->chunk),
    };
    if (step->input->engine->as_calibrated && window > 0) {
        double middle = (load->contexts.first + load->contexts.last) / 2;
        reach.attended = pm_at_most(middle, window);
        reach.pairs = load->prompt * pm_at_most(window, (load->prompt + 1) / 2);
    }
    return reach;
}

/* The indexer of sparse attention scores all tokens to choose those that attention reads. Its projections
 * are whole on every GPU; one operation per phase, at the fp8 peak. */
static void launch_index(const struct step_context *step, const struct pm_block *block)
{
    const struct pm_load *load = step->load;
    const struct pm_format *format = pm_format_attention(step->view, block);
    double hidden = step->view->model->hidden, columns = block->index_heads * block->index_dim;
    enum pm_class computed;
    double rate = pm_peak_expected(step->input->gpu, &fp8, &computed) *
                  share(step->input->engine->efficiency_attention);
    gemm(step, "index query projection", block->q_rank > 0 ? block->q_rank : hidden, columns, format,
         step->tokens);
    gemm(step, "index key projection", hidden, block->index_dim, format, step->tokens);
    gemm(step, "index weights", hidden, block->index_heads, &bf16, step->tokens);
    if (step->sequences > 0) {
        double context = pm_attended_mean(load->contexts, 0, 0);
        attend(step, "index scores", 2 * columns * step->queries * context, rate,
               step->sequences * context * block->index_dim, 0);
    }
    if (load->prompt > 0) {
        attend(step, "index scores (prompt)", 2 * columns * prompt_pairs(load, 0, 0), rate,
               (load->prompt + prompts_of(load) * load->cached) * block->index_dim, 0);
    }
}

static void launch_grouped(const struct step_context *step, const struct pm_block *block)
{
    const struct pm_load *load = step->load;
    const struct pm_format *format = pm_format_attention(step->view, block);
    double tp = step->layout->tp, hidden = step->view->model->hidden;
    double heads = pm_at_least(block->heads / tp, block->heads > 0 ? 1 : 0);
    double both = block->head_dim + pm_v_dim(block), token = pm_kv_token_bytes(step->view, block, tp);
    double kv_columns = pm_kv_heads_per_gpu(block, tp) * (block->shared_kv ? block->head_dim : both);
    double queries = heads * block->head_dim * (block->output_gate ? 2 : 1);
    struct reach reach = reach_of(step, block);
    if (block->attention_params > 0) {
        gemm(step, "attention projections", hidden, block->attention_params / hidden / tp, format,
             step->tokens);
    } else {
        gemm(step, "QKV projection", hidden, queries + kv_columns, format, step->tokens);
    }
    if (step->sequences > 0) {
        attend(step, "decode attention", 2 * heads * both * step->queries * reach.attended,
               step->attention_rate, step->sequences * reach.attended * token,
               2 * step->queries * heads * both);
    }
    if (load->prompt > 0) {
        attend(step, "prompt attention", 2 * heads * both * reach.pairs, step->attention_rate,
               (load->prompt + reach.cached) * token, load->prompt * 2 * heads * both);
    }
    if (!(block->attention_params > 0)) {
        gemm(step, "output projection", heads * pm_v_dim(block), hidden, format, step->tokens);
    }
}

static void launch_latent(const struct step_context *step, const struct pm_block *block)
{
    const struct pm_load *load = step->load;
    const struct pm_format *format = pm_format_attention(step->view, block);
    double hidden = step->view->model->hidden, token = pm_kv_token_bytes(step->view, block, step->layout->tp);
    double heads = pm_at_least(block->heads / step->layout->tp, 1);
    double head = block->nope_dim + block->rope_dim, up = heads * (block->nope_dim + block->v_dim);
    double absorbed = 2 * block->kv_rank + block->rope_dim;
    double plain = head + block->v_dim;
    struct reach reach = reach_of(step, block);
    gemm(step, "down projections", hidden, block->q_rank + block->kv_rank + block->rope_dim, format,
         step->tokens);
    gemm(step, "query projection", block->q_rank > 0 ? block->q_rank : hidden, heads * head, format,
         step->tokens);
    if (step->sequences > 0) {
        gemm(step, "absorbed up projection", block->kv_rank, up, &bf16, step->queries);
        attend(step, "decode attention", 2 * heads * absorbed * step->queries * reach.attended,
               step->attention_rate, step->sequences * reach.attended * token,
               2 * step->queries * heads * absorbed);
    }
    if (load->prompt > 0) {
        gemm(step, "up projection", block->kv_rank, up, format, load->prompt + reach.cached);
        attend(step, "prompt attention", 2 * heads * plain * reach.pairs, step->attention_rate,
               reach.cached * token, 4 * load->prompt * heads * plain);
    }
    gemm(step, "output projection", heads * block->v_dim, hidden, format, step->tokens);
}

/* Projections and the update of a recurrent state of `state` 32-bit values; `columns` pass through it. */
static void launch_recurrent(const struct step_context *step, const struct pm_block *block, double in_columns,
                             double columns, double state, double out_rows)
{
    const struct pm_load *load = step->load;
    const struct pm_format *format = pm_format_attention(step->view, block);
    double hidden = step->view->model->hidden, tp = step->layout->tp;
    bool declared = block->attention_params > 0;
    double bytes = block->state_bytes > 0 ? 2 * block->state_bytes / tp : 8 * state;
    /* A prompt passes the state once per 64 tokens (chunked form), and at least once. */
    double passes =
        step->sequences + (load->prompt > 0 ? pm_at_least(load->prompt / 64, prompts_of(load)) : 0);
    if (step->input->engine->recurrent_factor > 0) {
        /* Convolution, gates and norms of the state are launched besides. */
        step->sink->launches = step->input->engine->recurrent_factor;
    }
    gemm(step, "input projections", hidden, declared ? block->attention_params / hidden / tp : in_columns,
         format, step->tokens);
    if (step->tokens > 0 && bytes > 0) {
        double values = state > 0 ? state : bytes / 8;
        attend(step, "state update", 6 * values * step->tokens, step->attention_rate, bytes * passes,
               4 * step->tokens * columns);
    }
    step->sink->launches = 1;
    if (!declared) {
        gemm(step, "output projection", out_rows, hidden, format, step->tokens);
    }
}

static void launch_linear(const struct step_context *step, const struct pm_block *block)
{
    double tp = step->layout->tp;
    double keys = block->linear_key_heads * block->linear_key_dim / tp;
    double values = block->linear_value_heads * block->linear_value_dim / tp;
    double columns = 2 * keys + 2 * values;
    launch_recurrent(step, block, columns + 2 * block->linear_value_heads / tp, columns,
                     values * block->linear_key_dim, values);
}

static void launch_mamba(const struct step_context *step, const struct pm_block *block)
{
    double tp = step->layout->tp, inner = block->ssm_heads * block->ssm_head_dim / tp;
    double columns = 2 * inner + 2 * block->ssm_groups * block->ssm_state / tp;
    launch_recurrent(step, block, columns + block->ssm_heads / tp, columns, inner * block->ssm_state, inner);
}

static void launch_attention(const struct step_context *step, const struct pm_block *block)
{
    switch (block->attention) {
    case PM_ATTENTION_GROUPED: launch_grouped(step, block); break;
    case PM_ATTENTION_LATENT: launch_latent(step, block); break;
    case PM_ATTENTION_LINEAR: launch_linear(step, block); break;
    case PM_ATTENTION_MAMBA: launch_mamba(step, block); break;
    case PM_ATTENTION_NONE: break;
    }
    if (block->index_heads > 0) {
        launch_index(step, block);
    }
}

/* ---- feed-forwards -------------------------------------------------------------------------- */

static void launch_dense(const struct step_context *step, const char *first, const char *second, double width,
                         bool gated, const struct pm_format *format)
{
    double hidden = step->view->model->hidden, columns = width / step->layout->tp;
    gemm(step, first, hidden, (gated ? 2 : 1) * columns, format, step->tokens);
    gemm(step, second, columns, hidden, format, step->tokens);
}

/* Experts that `tokens` tokens touch when each chooses k of E evenly: E (1 - (1 - k/E)^T). */
static double distinct_experts(double experts, double used, double tokens)
{
    if (!(used < experts)) {
        return tokens > 0 ? experts : 0;
    }
    return -experts * expm1(tokens * log1p(-used / experts));
}

/* FLOP/s achieved in grouped products. The fit's m = T k / E holds on the generations it was made on;
 * elsewhere it would price all experts at batch 1, so rows per touched expert count, and the efficiency is
 * no less than a third of the dense one (calibration.md section 9). */
static double expert_rate(const struct step_context *step, const struct pm_format *format, double rows_all,
                          double rows_touched)
{
    const struct pm_engine *engine = step->input->engine;
    bool calibrated = step->input->gpu->moe_calibrated;
    enum pm_class computed, stored = pm_class_of_bits(format->bits);
    double peak = pm_peak_expected(step->input->gpu, format, &computed);
    double efficiency = engine->efficiency_experts[stored];
    double rows = calibrated ? rows_all : rows_touched;
    if (calibrated && engine->expert_row_mix > 0) {
        rows *= pow(pm_at_least(pm_divide(rows_touched, rows_all), 1), engine->expert_row_mix);
    }
    if (!calibrated) {
        efficiency = pm_at_least(efficiency, engine->efficiency_dense[computed] / 3);
    }
    double half = pm_at_least(engine->expert_half_rows, 0);
    return peak * share(efficiency) * pm_at_least(pm_divide(rows, rows + half), 1e-9);
}

static void grouped_gemm(const struct step_context *step, const char *name, double inner, double outer,
                         const struct pm_format *format, double rows, double experts, double rate)
{
    double weights = inner * outer * step->view->scale;
    struct pm_op op = {
        .name = name,
        .count = step->count,
        .work = 2 * rows * weights,
        .weight_bytes = pm_bytes(experts * weights, format),
        .activation_bytes = activation_bytes(rows, inner, outer),
        .rate = rate,
    };
    launch(step->sink, &op);
}

static void launch_experts(const struct step_context *step, const struct pm_block *block)
{
    double experts = block->experts, used = pm_at_most(block->active_experts, experts);
    double hidden = step->view->model->hidden, tokens = step->all_tokens;
    double input = block->expert_input > 0 ? block->expert_input : hidden;
    double touched = distinct_experts(experts, used, tokens);
    if (!(tokens > 0) || !(used > 0)) {
        return;
    }
    /* The fullest GPU holds ceil(E/ep) experts where ep does not divide E. */
    double ep = step->layout->ep, fullest = ceil(experts / ep) * ep / experts;
    double per_gpu = fullest / step->layout->stage_gpus;
    double rate =
        expert_rate(step, &block->expert_format, tokens * used / experts, pm_divide(tokens * used, touched));
    gemm(step, "router", hidden, experts, &block->router_format, step->tokens);
    if (block->expert_input > 0 && block->expert_input != hidden) {
        gemm(step, "latent input", hidden, input / step->layout->tp, pm_format_ffn(step->view, block),
             step->tokens);
        gemm(step, "latent output", input / step->layout->tp, hidden, pm_format_ffn(step->view, block),
             step->tokens);
    }
    grouped_gemm(step, "expert input", input, (block->ffn_gated ? 2 : 1) * block->expert_ffn,
                 &block->expert_format, tokens * used * per_gpu, touched * per_gpu, rate);
    grouped_gemm(step, "expert output", block->expert_ffn, input, &block->expert_format,
                 tokens * used * per_gpu, touched * per_gpu, rate);
    step->sink->step->distinct_experts = pm_at_least(touched, step->sink->step->distinct_experts);
}

/* ---- the step ------------------------------------------------------------------------------- */

/* Weights that are read and multiplied, of which no more is known: one operation. */
static void launch_weights(const struct step_context *step, const char *name, double weights,
                           const struct pm_format *format)
{
    if (!(weights > 0) || !(step->tokens > 0)) {
        return;
    }
    double scaled = weights * step->view->scale;
    struct pm_op op = {
        .name = name,
        .count = step->count,
        .work = 2 * step->tokens * scaled,
        .weight_bytes = pm_bytes(scaled, format),
        .activation_bytes =
            activation_bytes(step->tokens, step->view->model->hidden, step->view->model->hidden),
        .rate = dense_rate(step, format),
    };
    launch(step->sink, &op);
}

static void launch_block(const struct step_context *step, const struct pm_block *block)
{
    const struct pm_view *view = step->view;
    double tp = step->layout->tp;
    if (view->declared_bare) {
        struct step_context weightless = *step;
        launch_weights(step, "weights", view->declared_block / tp, &view->model->weights_format);
        struct pm_view view_without = *view;
        view_without.scale = 0; /* attention reads its cache, its projections are in the weights */
        weightless.view = &view_without;
        if (pm_kv_token_bytes(view, block, 1) > 0) {
            launch_attention(&weightless, block);
        }
        return;
    }
    launch_attention(step, block);
    if (view->declared) {
        launch_dense(step, "feed-forward input", "feed-forward output",
                     view->declared_block / (3 * view->model->hidden), true, &view->model->weights_format);
        return;
    }
    launch_dense(step, "feed-forward input", "feed-forward output", block->ffn, block->ffn_gated,
                 &block->ffn_format);
    if (block->experts > 0) {
        launch_experts(step, block);
    }
    launch_dense(step, "shared expert input", "shared expert output", block->shared_ffn, block->ffn_gated,
                 &block->shared_format);
    launch_weights(step, "other weights", block->extra_params / tp, &block->ffn_format);
}

static void launch_tower(struct step_context *step)
{
    struct pm_view unscaled = *step->view;
    unscaled.scale = 1;
    struct step_context tower = *step;
    tower.view = &unscaled;
    tower.tokens = step->load->tower_tokens;
    launch_weights(&tower, "tower", unscaled.model->tower_params, &bf16);
}

void pm_launch_all(const struct pm_case *input, const struct pm_view *view, const struct pm_layout *layout,
                   const struct pm_load *load, struct pm_sink *sink)
{
    const struct pm_model *model = view->model;
    double sequences = load->sequences > 0 ? load->sequences / layout->dp : 0;
    if (sequences > 0 && !input->engine->as_calibrated) {
        sequences = pm_at_least(sequences, 1); /* the busiest replica has one */
    }
    struct known_rates known = {{NULL}, {0}};
    struct step_context step = {
        .input = input,
        .view = view,
        .layout = layout,
        .load = load,
        .sink = sink,
        .known = &known,
        .sequences = sequences,
        .queries = sequences * load->queries,
        .tokens = sequences * load->queries + load->prompt,
        .all_tokens = pm_at_least(load->sequences, 0) * load->queries + load->prompt,
        .dense_factor = pm_kind_factor(input->gpu, input->engine->kind_dense),
        .attention_rate = pm_peak_16(input->gpu) * share(input->engine->efficiency_attention),
    };
    for (size_t i = 0; i < model->block_count; i++) {
        step.count = model->blocks[i].count;
        launch_block(&step, &model->blocks[i]);
    }
    step.count = 1;
    if (view->declared && model->block_count == 0) {
        launch_weights(&step, "weights", view->declared_block / layout->tp, &model->weights_format);
    }
    if (!view->declared) {
        gemm(&step, "output head", model->hidden, model->vocab / layout->tp, pm_format_head(view),
             step.queries + (load->prompt > 0 ? load->requests : 0));
    }
    if (load->tower_tokens > 0 && load->prompt > 0) {
        launch_tower(&step);
    }
}
