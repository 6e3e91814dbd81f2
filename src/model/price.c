/* price.c: what the operations of ops.c cost in a step. Each costs the greater of its work at the peak's
 * achieved share and its bytes at the bandwidth's, rounded where both meet, and a fixed time (calibration.md
 * section 2.3). */
#include "model/internal.h"

/* What the operations of a step have in common. */
struct step_context {
    const struct pm_case *input;
    const struct pm_load *load;
    const struct pm_rates *rates;
    struct pm_sink *sink;
    double sequences;  /* decoding, on the busiest replica */
    double queries;    /* their tokens */
    double prompts;    /* side by side: each attends to its own tokens */
    double all_tokens; /* over all replicas */
    double rows[PM_ROWS_COUNT], row_share[PM_ROWS_COUNT];
    double count; /* blocks of this kind */
    /* Tokens that their attention reads, after windows and sparse index. */
    struct reach {
        double attended; /* by a decoding token, in the mean */
        double pairs;    /* of the prompt */
        double cached;   /* read by the prompt */
    } reach;
    /* Their experts on one GPU. */
    struct experts {
        double rows, held; /* of all experts; experts that are read */
        double bits, rate;
    } experts;
};

/* ---- what an operation does ----------------------------------------------------------------- */

/* One launch; a step in which an operation has nothing to do launches none. */
struct launch {
    double work, weight_bytes, kv_bytes, activation_bytes;
    double rate; /* FLOP/s; 0: no launch */
};

static const struct launch NO_LAUNCH = {0, 0, 0, 0, 0};

/* Bytes of 16-bit activations in and out of a product. */
static double activation_bytes(double rows, double columns)
{
    return 2 * rows * columns;
}

static struct launch product(const struct step_context *step, const struct pm_operation *op)
{
    double rows = step->rows[op->rows];
    return (struct launch){
        .work = 2 * rows * op->weights,
        .weight_bytes = op->weight_bytes,
        .activation_bytes = activation_bytes(rows, op->columns),
        .rate = rows > 0 ? step->rates->product[op->format] * step->row_share[op->rows] : 0,
    };
}

static struct launch grouped_product(const struct step_context *step, const struct pm_operation *op)
{
    const struct experts *experts = &step->experts;
    return (struct launch){
        .work = 2 * experts->rows * op->weights,
        .weight_bytes = experts->held * op->weights * experts->bits / 8,
        .activation_bytes = activation_bytes(experts->rows, op->columns),
        .rate = experts->rate,
    };
}

static struct launch decode_attention(const struct step_context *step, const struct pm_operation *op)
{
    double attended = step->reach.attended;
    return (struct launch){
        .work = 2 * op->heads * op->width * step->queries * attended,
        .kv_bytes = step->sequences * attended * op->token_bytes,
        .activation_bytes = 2 * step->queries * op->heads * op->width,
        .rate = step->sequences > 0 ? step->rates->attention : 0,
    };
}

/* A latent prompt reads its own keys and values as activations, after their up projection. */
static struct launch prompt_attention(const struct step_context *step, const struct pm_operation *op)
{
    double prompt = step->load->prompt, cached = step->reach.cached;
    bool latent = op->kind == PM_PROMPT_LATENT;
    return (struct launch){
        .work = 2 * op->heads * op->width * step->reach.pairs,
        .kv_bytes = (latent ? cached : prompt + cached) * op->token_bytes,
        .activation_bytes = (latent ? 4 : 2) * prompt * op->heads * op->width,
        .rate = prompt > 0 ? step->rates->attention : 0,
    };
}

static struct launch decode_index(const struct step_context *step, const struct pm_operation *op)
{
    double context = pm_attended_mean(step->load->contexts, 0, 0);
    return (struct launch){
        .work = 2 * op->heads * op->width * step->queries * context,
        .kv_bytes = step->sequences * context * op->token_bytes,
        .rate = step->sequences > 0 ? step->rates->index : 0,
    };
}

/* Attended pairs of equal prompts. */
static double prompt_pairs(const struct step_context *step, double window, double chunk)
{
    const struct pm_load *load = step->load;
    return step->prompts * pm_attended_pairs(load->prompt / step->prompts, load->cached, window, chunk);
}

static struct launch prompt_index(const struct step_context *step, const struct pm_operation *op)
{
    const struct pm_load *load = step->load;
    return (struct launch){
        .work = 2 * op->heads * op->width * prompt_pairs(step, 0, 0),
        .kv_bytes = (load->prompt + step->prompts * load->cached) * op->token_bytes,
        .rate = load->prompt > 0 ? step->rates->index : 0,
    };
}

/* A prompt passes the state once per 64 tokens (chunked form), and at least once. */
static struct launch state_update(const struct step_context *step, const struct pm_operation *op)
{
    double prompt = step->load->prompt, tokens = step->rows[PM_ROWS_TOKENS];
    double passes = step->sequences + (prompt > 0 ? pm_at_least(prompt / 64, step->prompts) : 0);
    return (struct launch){
        .work = 6 * op->values * tokens,
        .kv_bytes = op->state_bytes * passes,
        .activation_bytes = 4 * tokens * op->passing,
        .rate = tokens > 0 ? step->rates->attention : 0,
    };
}

static inline __attribute__((always_inline)) struct launch launch_of(const struct step_context *step,
                                                                     const struct pm_operation *op)
{
    switch ((enum pm_op_kind)op->kind) {
    case PM_PRODUCT: return product(step, op);
    case PM_EXPERTS: return grouped_product(step, op);
    case PM_DECODE_ATTENTION: return decode_attention(step, op);
    case PM_PROMPT_ATTENTION:
    case PM_PROMPT_LATENT: return prompt_attention(step, op);
    case PM_DECODE_INDEX: return decode_index(step, op);
    case PM_PROMPT_INDEX: return prompt_index(step, op);
    case PM_STATE_UPDATE: return state_update(step, op);
    case PM_OP_KINDS: break;
    }
    return NO_LAUNCH;
}

/* ---- what it is a product of ---------------------------------------------------------------- */

static void size_product(const struct step_context *step, const struct pm_operation *op,
                         struct pm_op_sizes *out)
{
    bool experts = op->kind == PM_EXPERTS;
    out->rows = experts ? step->experts.rows : step->rows[op->rows];
    out->experts = experts ? step->experts.held : 0;
    out->bits = experts ? step->experts.bits : pm_divide(op->weight_bytes * 8, op->weights);
    out->matrix = op->weights;
    out->inner = op->inner;
    out->columns = op->columns;
}

static void size_attention(const struct step_context *step, const struct pm_operation *op,
                           struct pm_op_sizes *out)
{
    const struct pm_load *load = step->load;
    bool index = op->kind == PM_DECODE_INDEX || op->kind == PM_PROMPT_INDEX;
    out->heads = op->heads;
    out->width = op->width;
    out->token_bytes = op->token_bytes;
    if (op->kind == PM_DECODE_ATTENTION || op->kind == PM_DECODE_INDEX) {
        out->tokens = step->queries;
        out->sequences = step->sequences;
        out->attended = index ? pm_attended_mean(load->contexts, 0, 0) : step->reach.attended;
    } else {
        out->prompt = load->prompt;
        out->pairs = index ? prompt_pairs(step, 0, 0) : step->reach.pairs;
        out->cached = index ? step->prompts * load->cached : step->reach.cached;
    }
}

static void size_update(const struct step_context *step, const struct pm_operation *op,
                        const struct launch *launch, struct pm_op_sizes *out)
{
    out->tokens = step->rows[PM_ROWS_TOKENS];
    out->values = op->values;
    out->passing = op->passing;
    out->state_bytes = op->state_bytes;
    out->passes = pm_divide(launch->kv_bytes, op->state_bytes);
}

static struct pm_op_sizes sizes_of(const struct step_context *step, const struct pm_operation *op,
                                   const struct launch *launch)
{
    struct pm_op_sizes sizes = {.kind = (enum pm_op_kind)op->kind};
    if (sizes.kind == PM_PRODUCT || sizes.kind == PM_EXPERTS) {
        size_product(step, op, &sizes);
    } else if (sizes.kind == PM_STATE_UPDATE) {
        size_update(step, op, launch, &sizes);
    } else {
        size_attention(step, op, &sizes);
    }
    return sizes;
}

/* ---- what it costs -------------------------------------------------------------------------- */

/* Close to the roofline's corner neither side hides behind the other: (compute^p + memory^p)^(1/p). The usual
 * power has no need of pow(): a series far from the corner, roots close to it. */
static inline double rounded_corner(double compute, double memory, double power)
{
    double greater = pm_at_least(compute, memory), less = pm_at_most(compute, memory);
    if (!(power > 0) || !(less > 0)) {
        return greater;
    }
    double ratio = less / greater;
    if (power != 4) {
        return greater * pow(1 + pow(ratio, power), 1 / power);
    }
    double square = ratio * ratio, x = square * square;
    return greater * (ratio < 0.25 ? 1 + x * (0.25 - x * (3 / 32.0 - x * (7 / 128.0 - x * (77 / 2048.0))))
                                   : sqrt(sqrt(1 + x)));
}

static void write_row(const struct step_context *step, const struct pm_operation *op,
                      const struct launch *launch, double bytes, double memory, double busy)
{
    struct pm_sink *sink = step->sink;
    bool narrow = op->narrow && step->rates->narrow_slowness != 0;
    if (sink->count < sink->max) {
        sink->ops[sink->count++] = (struct pm_op){
            .name = op->name,
            .count = step->count,
            .work = launch->work,
            .weight_bytes = launch->weight_bytes,
            .kv_bytes = launch->kv_bytes,
            .activation_bytes = launch->activation_bytes,
            .rate = launch->rate,
            .bandwidth = step->rates->cache_slowness == 0 && !narrow ? step->rates->bandwidth
                                                                     : pm_divide(bytes, memory),
            .narrow = narrow,
            .busy = busy,
            .seconds = busy + step->rates->fixed_time[op->recurrent],
            .sizes = sizes_of(step, op, launch),
        };
    }
}

/* Adds what operations cost to the step, by what each waits for. */
static void price(const struct step_context *step, const struct pm_operations *operations)
{
    const struct pm_operation *end = operations->item + operations->count;
    const struct pm_rates *rates = step->rates;
    const double count = step->count, power = step->input->engine->corner;
    struct pm_step *out = step->sink->step;
    for (const struct pm_operation *op = operations->item; op < end; op++) {
        const struct launch launch = launch_of(step, op);
        if (!(launch.rate > 0)) {
            continue;
        }
        double bytes = launch.weight_bytes + launch.kv_bytes + launch.activation_bytes;
        double compute = pm_at_most(launch.work / launch.rate, PM_HUGE), memory = bytes / rates->bandwidth;
        memory += launch.kv_bytes * rates->cache_slowness;
        memory += op->narrow ? launch.weight_bytes * rates->narrow_slowness : 0;
        double busy = rounded_corner(compute, memory, power);
        int bound = compute > memory ? PM_BOUND_COMPUTE : op->memory;
        out->term[bound] += count * busy;
        out->term[PM_BOUND_FIXED] += count * rates->fixed_time[op->recurrent];
        out->launches += count * rates->launches[op->recurrent];
        out->bytes_moved += count * bytes;
        out->weights_moved += count * launch.weight_bytes;
        out->kv_moved += count * launch.kv_bytes;
        out->work += count * launch.work;
        if (step->sink->ops != NULL) {
            write_row(step, op, &launch, bytes, memory, busy);
        }
    }
}

/* ---- blocks --------------------------------------------------------------------------------- */

/* What tiles of `rows` rows reach of the efficiency of large ones. One row alone has kernels of its own,
 * which multiply as they read. */
static double row_share(const struct pm_engine *engine, double rows, double half)
{
    if (!(half > 0) || rows <= 1) {
        return 1;
    }
    double power = engine->row_power, of_tile = rows / (rows + half);
    return power > 0 && power != 1 ? pow(of_tile, power) : of_tile;
}

/* FLOP/s achieved in grouped products. The fit's m = T k / E holds on the generations it was made on;
 * elsewhere it would price all experts at batch 1, so rows per touched expert count, and the efficiency is
 * no less than a third of the dense one (calibration.md section 9). Nothing is padded for one token. */
static double expert_rate(const struct step_context *step, const struct pm_choice *choice, double rows_all,
                          double rows_touched)
{
    const struct pm_engine *engine = step->input->engine;
    enum pm_class computed = step->rates->computed[choice->format];
    double half = pm_at_least(engine->expert_half_rows, 0), dense = step->rates->product[choice->format];
    bool calibrated = step->input->gpu->moe_calibrated && !(engine->experts_of_dense > 0);
    if (!calibrated && step->all_tokens <= 1) {
        return dense;
    }
    if (engine->experts_of_dense > 0) {
        return dense * pm_share(engine->experts_of_dense) * row_share(engine, rows_touched, half);
    }
    double efficiency = engine->efficiency_experts[choice->stored];
    double rows = calibrated ? rows_all : rows_touched;
    if (calibrated && engine->expert_row_mix > 0) {
        rows *= pow(pm_at_least(pm_divide(rows_touched, rows_all), 1), engine->expert_row_mix);
    }
    if (!calibrated) {
        efficiency = pm_at_least(efficiency, engine->efficiency_dense[computed] / 3);
    }
    return step->rates->peak[choice->format] * pm_share(efficiency) *
           pm_at_least(pm_divide(rows, rows + half), 1e-9);
}

static struct reach reach_of(const struct step_context *step, const struct pm_kind *kind)
{
    const struct pm_load *load = step->load;
    double window = kind->window, chunk = kind->chunk;
    struct reach reach = {
        .attended = pm_attended_mean(load->contexts, window, chunk),
        .pairs = prompt_pairs(step, window, chunk),
        .cached = step->prompts * pm_attended_cached(load->cached, window, chunk),
    };
    if (step->input->engine->as_calibrated && window > 0) {
        double middle = (load->contexts.first + load->contexts.last) / 2;
        reach.attended = pm_at_most(middle, window);
        reach.pairs = load->prompt * pm_at_most(window, (load->prompt + 1) / 2);
    }
    return reach;
}

/* Experts that `tokens` tokens touch when each chooses k of E evenly: E (1 - (1 - k/E)^T). */
static double distinct_experts(const struct pm_choice *choice, double tokens)
{
    if (!(choice->used < choice->experts)) {
        return tokens > 0 ? choice->experts : 0;
    }
    return -choice->experts * expm1(tokens * choice->log_idle);
}

static double power_of(double spread)
{
    return spread > 0 && spread < 1 ? spread : 1;
}

/* Engines were fitted on models of their own, so the two do not multiply. */
static double lesser_spread(const struct pm_engine *engine, double of_model)
{
    double own = engine->as_calibrated ? 1 : power_of(of_model);
    return pm_at_most(power_of(engine->expert_spread), own);
}

double pm_expert_spread(const struct pm_engine *engine, const struct pm_block *block)
{
    return lesser_spread(engine, block->expert_spread);
}

static double tokens_apart(double tokens, double spread)
{
    return spread < 1 && tokens > 1 ? pow(tokens, spread) : tokens;
}

double pm_tokens_apart(const struct pm_engine *engine, const struct pm_block *block, double tokens)
{
    return tokens_apart(tokens, pm_expert_spread(engine, block));
}

static void choose_experts(struct step_context *step, const struct pm_choice *choice)
{
    double tokens = step->all_tokens;
    double apart = tokens_apart(tokens, lesser_spread(step->input->engine, choice->spread));
    double chosen = tokens * choice->used, touched = distinct_experts(choice, apart);
    if (!(chosen > 0)) {
        step->experts = (struct experts){0, 0, 0, 0};
        return;
    }
    step->experts = (struct experts){
        .rows = chosen * choice->per_gpu,
        .held = touched * choice->per_gpu,
        .bits = choice->bits,
        .rate = expert_rate(step, choice, chosen / choice->experts, pm_divide(chosen, touched)),
    };
    step->sink->step->distinct_experts = pm_at_least(touched, step->sink->step->distinct_experts);
}

static void set_rows(struct step_context *step, enum pm_rows kind, double rows)
{
    step->rows[kind] = rows;
    step->row_share[kind] = row_share(step->input->engine, rows, step->input->engine->dense_half_rows);
}

static void price_block(struct step_context *step, const struct pm_block *block, const struct pm_kind *kind)
{
    step->count = block->count;
    if (!kind->same_reach) {
        step->reach = reach_of(step, kind);
        set_rows(step, PM_ROWS_KEYS, step->load->prompt > 0 ? step->load->prompt + step->reach.cached : 0);
    }
    if (kind->choice.used > 0) {
        choose_experts(step, &kind->choice);
    }
    price(step, &kind->operations);
}

void pm_launch_all(const struct pm_case *input, const struct pm_load *load, struct pm_sink *sink)
{
    const struct pm_prepared *prepared = input->prepared;
    const struct pm_model *model = prepared->view.model;
    double sequences = load->sequences > 0 ? load->sequences / prepared->layout.dp : 0;
    if (sequences > 0 && !input->engine->as_calibrated) {
        sequences = pm_at_least(sequences, 1); /* the busiest replica has one */
    }
    struct step_context step;
    step.input = input;
    step.load = load;
    step.rates = input->rates;
    step.sink = sink;
    step.sequences = sequences;
    step.queries = sequences * load->queries;
    step.prompts = load->prompts > 0 ? load->prompts : 1;
    step.all_tokens = pm_at_least(load->sequences, 0) * load->queries + load->prompt;
    set_rows(&step, PM_ROWS_TOKENS, step.queries + load->prompt);
    set_rows(&step, PM_ROWS_DECODING, step.queries);
    set_rows(&step, PM_ROWS_LOGITS, step.queries + (load->prompt > 0 ? load->requests : 0));
    set_rows(&step, PM_ROWS_TOWER, load->prompt > 0 ? load->tower_tokens : 0);
    for (size_t i = 0; i < model->block_count; i++) {
        price_block(&step, &model->blocks[i], &prepared->kinds[i]);
    }
    step.count = 1;
    price(&step, &prepared->ends);
}
