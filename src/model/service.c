/* service.c: from steps to what users see (model.md section 5, calibration.md section 2.4): sequences that
 * run, time per token with the interference of other users' prefills, time to the first token, latency and
 * throughput of a closed loop. */
#include "model/internal.h"

struct pm_contexts pm_case_contexts(const struct pm_case *input)
{
    if (pm_is_static(input)) {
        double context = pm_at_least(input->context, 0);
        return (struct pm_contexts){context, context};
    }
    double prompt = pm_prompt_tokens(input), steps = pm_at_least(input->output - 1, 1);
    if (input->engine->as_calibrated) {
        double mean = prompt + input->output / 2;
        return (struct pm_contexts){mean, mean};
    }
    return (struct pm_contexts){prompt + 1, prompt + steps};
}

/* Prompt tokens that a prefix cache holds: at least the last one is computed. */
static double cached_tokens(const struct pm_case *input)
{
    return pm_at_most(pm_at_least(input->cached_prefix, 0), pm_at_least(pm_prompt_tokens(input) - 1, 0));
}

/* Tokens that one verification of `drafts` drafts yields: (1 - a^(g+1)) / (1 - a), Leviathan et al. 2023. */
static double tokens_per_step(const struct pm_case *input)
{
    double drafts = pm_at_least(input->draft_tokens, 0);
    double acceptance = pm_at_most(pm_at_least(input->acceptance, 0), 1);
    if (!(drafts > 0)) {
        return 1;
    }
    return acceptance < 1 ? (1 - pow(acceptance, drafts + 1)) / (1 - acceptance) : drafts + 1;
}

static bool has_decode(const struct pm_case *input)
{
    return pm_is_static(input) || input->output > 1 || !(input->prompt > 0);
}

/* ---- prefill -------------------------------------------------------------------------------- */

/* A prompt passes in chunks, each a step with the decoding sequences; many equal ones are priced at their
 * mean, which is exact while no operation changes sides. */
enum { CHUNKS_ONE_BY_ONE = 64 };

static void add_scaled(struct pm_step *sum, const struct pm_step *step, double times)
{
    struct pm_step scaled = *step;
    for (int i = 0; i < PM_BOUND_COUNT; i++) {
        scaled.term[i] *= times;
    }
    scaled.allreduces *= times;
    scaled.allreduce_time *= times;
    scaled.launches *= times;
    scaled.host_time *= times;
    scaled.bytes_moved *= times;
    scaled.work *= times;
    pm_step_add(sum, &scaled);
}

/* All steps of one prompt, `base` decoding meanwhile. Returns how many. */
static double prefill_steps(const struct pm_case *input, const struct pm_load *base, struct pm_step *sum)
{
    double cached = cached_tokens(input), fresh = pm_prompt_tokens(input) - cached;
    double chunk = input->chunk > 0 ? input->chunk : input->engine->chunk;
    double chunks = chunk > 0 && !input->engine->ideal ? pm_at_least(ceil(fresh / chunk), 1) : 1;
    *sum = (struct pm_step){0};
    if (!(fresh > 0)) {
        return 0;
    }
    struct pm_load load = *base;
    struct pm_step step;
    double done = 0;
    load.tower_tokens = pm_at_most(input->model->tower_tokens, fresh);
    if (chunks > CHUNKS_ONE_BY_ONE) {
        double equal = chunks - 1;
        load.prompt = chunk;
        load.cached = cached + (equal - 1) / 2 * chunk;
        load.requests = 0;
        load.tower_tokens = 0; /* with the last chunk below */
        pm_step_of(input, &load, &step, NULL, 0, NULL);
        add_scaled(sum, &step, equal);
        done = equal * chunk;
        load.tower_tokens = pm_at_most(input->model->tower_tokens, fresh);
    }
    while (done < fresh) {
        double rest = fresh - done;
        load.prompt = chunks > 1 ? pm_at_most(rest, chunk) : rest;
        load.cached = cached + done;
        load.requests = load.prompt >= rest ? 1 : 0;
        pm_step_of(input, &load, &step, NULL, 0, NULL);
        if (chunks > 1) {
            pm_step_add(sum, &step);
        } else {
            *sum = step;
        }
        load.tower_tokens = 0;
        done = load.prompt >= rest ? fresh : done + load.prompt;
    }
    return chunks;
}

/* Chunks follow each other through the stages of a pipeline: n of them take n + s - 1 of the times that one
 * needs for one of s stages. */
static void pipeline(const struct pm_case *input, double chunks, struct pm_step *step)
{
    double stages = pm_layout_of(input).pp;
    if (stages > 1 && chunks > 1) {
        struct pm_step through = {0};
        add_scaled(&through, step, (chunks + stages - 1) / (chunks * stages));
        *step = through;
    }
}

/* ---- drafts --------------------------------------------------------------------------------- */

/* A decode step of the drafts: the draft model's, or a share of the model's own for multi-token prediction
 * (1.5 blocks: one and the projection and head; calibration.md section 6); n-gram drafts are free. */
static const double MTP_BLOCKS = 1.5;

static struct pm_case draft_case(const struct pm_case *input)
{
    struct pm_case draft = *input;
    draft.model = input->draft_model != NULL ? input->draft_model : input->model;
    draft.prepared = input->draft_model != NULL ? input->prepared->draft : input->prepared;
    draft.draft_model = NULL;
    draft.draft_tokens = 0;
    return draft;
}

/* The host schedules a sequence once for drafts and verification, so a draft has no time per sequence. */
static double draft_time(const struct pm_case *input, double sequences, struct pm_contexts contexts)
{
    struct pm_step step;
    struct pm_case draft = draft_case(input);
    bool prediction = input->draft_model == NULL && input->model->mtp_params > 0;
    if (!(input->draft_tokens > 0) || (input->draft_model == NULL && !prediction)) {
        return 0;
    }
    struct pm_load load = pm_decode_load(&draft, sequences, contexts);
    pm_step_of(&draft, &load, &step, NULL, 0, NULL);
    double layers = pm_at_least(input->prepared->view.layers, 1);
    double part = prediction ? pm_at_most(MTP_BLOCKS / layers, 1) : 1;
    return input->draft_tokens * part * (step.time - step.host_time);
}

static double draft_ceiling(const struct pm_case *input, double sequences, struct pm_contexts contexts)
{
    if (!(input->draft_tokens > 0) || input->draft_model == NULL) {
        return 0;
    }
    struct pm_ceiling ceiling;
    struct pm_case draft = draft_case(input);
    struct pm_load load = pm_decode_load(&draft, sequences, contexts);
    pm_ceiling_of(&draft, &load, &ceiling);
    return input->draft_tokens * ceiling.time;
}

/* ---- the closed loop ------------------------------------------------------------------------ */

/* Fills in what follows from step, interference, prefill and the parts of the first token's time. */
static void finish(const struct pm_case *input, struct pm_service *service)
{
    double batch = pm_at_least(input->batch, 1), replicas = pm_at_least(input->replicas, 1);
    double gpus = pm_layout_of(input).gpus * replicas;
    bool decodes = has_decode(input), prompts = input->prompt > 0;
    service->tpot = decodes ? service->decode_step / service->tokens_per_step + service->interference : -1;
    service->speed = pm_divide(1, service->tpot);
    double tpot = pm_at_least(service->tpot, 0);
    service->stream_time *= tpot;
    double own =
        prompts ? service->request_time + service->prefill + service->stream_time + service->wave_time : 0;
    if (pm_is_static(input)) {
        service->ttft = prompts ? own : -1;
        service->latency = service->tpot_inclusive = -1;
        service->throughput = replicas * batch * service->speed;
    } else {
        double output = input->output, rest = prompts ? output - 1 : output;
        double residence = own + (input->engine->as_calibrated ? output : rest) * tpot;
        service->queueing = pm_at_least(batch / service->running - 1, 0) * residence;
        service->ttft = prompts ? own + service->queueing : -1;
        service->latency = own + service->queueing + rest * tpot;
        service->tpot_inclusive = service->latency / output;
        service->request_rate = pm_divide(output, service->latency);
        service->throughput = replicas * batch * service->request_rate;
        service->requests_per_second = service->throughput / output;
    }
    service->throughput_per_gpu = service->throughput / gpus;
}

static void decode_at_ceiling(const struct pm_case *input, struct pm_contexts contexts, struct pm_result *out)
{
    struct pm_service *service = &out->ceiling;
    struct pm_load load = pm_decode_load(input, service->running, contexts);
    pm_ceiling_of(input, &load, &out->decode_ceiling);
    service->decode_step = -1;
    if (has_decode(input)) {
        service->decode_step = out->decode_ceiling.time + draft_ceiling(input, service->running, contexts);
    }
}

static void serve_ceiling(const struct pm_case *input, struct pm_contexts contexts, struct pm_result *out)
{
    struct pm_service *service = &out->ceiling;
    double prompt = pm_prompt_tokens(input), cached = cached_tokens(input);
    decode_at_ceiling(input, contexts, out);
    service->prefill = -1;
    if (prompt > 0) {
        pm_bound_prefill(input, prompt - cached, cached, &out->prefill_ceiling);
        service->prefill = out->prefill_ceiling.time;
    }
    finish(input, service);
}

/* Prompts in every step when there is a prompt for each: as many as come, as far as the chunk allows. The
 * time of such a step. */
static double crowded_step(const struct pm_case *input, const struct pm_load *decoding, double chunks,
                           double prompts)
{
    double cached = cached_tokens(input), fresh = pm_prompt_tokens(input) - cached;
    struct pm_step step;
    if (chunks > 1) {
        return prefill_steps(input, decoding, &step) > 0 ? step.time / chunks : 0;
    }
    struct pm_load load = *decoding;
    load.prompt = prompts * fresh;
    load.prompts = load.requests = prompts;
    load.cached = cached;
    load.tower_tokens = prompts * pm_at_most(input->model->tower_tokens, fresh);
    pm_step_of(input, &load, &step, NULL, 0, NULL);
    return step.time;
}

/* While a request decodes, each other running sequence needs one prefill. Where those take a part of the
 * steps, the mean token pays that part of their extra time. Where they would take more than all steps, every
 * step carries several prompts, as far as its chunk allows, with the fewer sequences that decode meanwhile;
 * and the prompts that are left delay each other's first token. Never faster with a slower card: the former
 * grows with the mixed step and the decode step, the latter with a whole mixed step. */
static void share_steps(const struct pm_case *input, const struct pm_load *load, double chunks,
                        struct pm_result *out)
{
    struct pm_service *service = &out->expected;
    struct pm_layout layout = pm_layout_of(input);
    double others = pm_at_least(service->running - 1, 0), steps = input->output / service->tokens_per_step;
    double wanted = others / (steps * layout.dp * layout.pp), chunk = pm_chunk(input);
    service->interference = others / input->output * service->prefill_share;
    service->prefill_step_share = wanted * chunks;
    if (input->engine->as_calibrated || !(service->prefill_step_share > 1)) {
        return;
    }
    double fresh = pm_prompt_tokens(input) - cached_tokens(input);
    double most = chunks > 1 ? 1 / chunks : pm_at_least(chunk / fresh, 1);
    double carried = chunk > 0 ? pm_at_most(wanted, most) : wanted;
    struct pm_load decoding = *load;
    decoding.sequences *= carried / wanted;
    double step = crowded_step(input, &decoding, chunks, carried);
    service->interference = pm_at_least(step - out->decode.time, 0) / service->tokens_per_step;
    service->wave_time += (wanted / carried - 1) * steps * step;
}

/* Efficiencies above 1 and the like must not break the bound. */
static void raise_to(struct pm_step *step, double ceiling)
{
    if (step->time < ceiling) {
        step->term[PM_BOUND_FIXED] += ceiling - step->time;
        pm_step_close(step);
        step->time = pm_at_least(step->time, ceiling);
    }
}

/* The ideal engine takes the ceiling's time; its parts keep their shares, so that they still add up. */
static void scale_to(struct pm_step *step, double time)
{
    double factor = pm_divide(time, step->time);
    for (size_t i = 0; i < PM_BOUND_COUNT; i++) {
        step->term[i] *= factor;
    }
    pm_step_close(step);
    step->time = time;
}

static void decode_expected(const struct pm_case *input, struct pm_contexts contexts, struct pm_result *out)
{
    struct pm_service *service = &out->expected;
    struct pm_load load = pm_decode_load(input, service->running, contexts);
    pm_step_of(input, &load, &out->decode, NULL, 0, NULL);
    raise_to(&out->decode, out->decode_ceiling.time);
    service->decode_step = -1;
    if (has_decode(input)) {
        service->decode_step = out->decode.time + draft_time(input, service->running, contexts);
        service->decode_step = pm_at_least(service->decode_step, out->ceiling.decode_step);
    }
}

static void serve_expected(const struct pm_case *input, struct pm_contexts contexts, struct pm_result *out)
{
    const struct pm_engine *engine = input->engine;
    struct pm_service *service = &out->expected;
    struct pm_layout layout = pm_layout_of(input);
    struct pm_load load = pm_decode_load(input, service->running, contexts), alone = {.queries = 1};
    bool decodes = has_decode(input), prompts = input->prompt > 0, loop = !pm_is_static(input);
    decode_expected(input, contexts, out);
    service->prefill = -1;
    if (!prompts) {
        finish(input, service);
        return;
    }
    pipeline(input, prefill_steps(input, &alone, &out->prefill), &out->prefill);
    raise_to(&out->prefill, out->prefill_ceiling.time);
    double chunks = prefill_steps(input, decodes ? &load : &alone, &out->mixed);
    raise_to(&out->mixed, out->prefill_ceiling.time);
    double extra = out->mixed.time - (decodes ? chunks * out->decode.time : 0);
    pipeline(input, chunks, &out->mixed);
    raise_to(&out->mixed, out->prefill_ceiling.time);
    service->request_time = engine->request_time;
    service->stream_time = engine->stream_interval; /* steps; finish() turns them into time */
    service->prefill = loop ? out->mixed.time : out->prefill.time;
    if (loop) {
        /* Replicas prefill at the same time; in a pipeline each stage is held up for its own part. */
        service->prefill_share = pm_at_least(extra, 0) / (layout.dp * layout.pp);
        /* Without decoding the loop is nothing but prefills, and each request waits for all others'. */
        service->wave_time = (decodes ? engine->first_wave : 1) * pm_at_least(service->running - 1, 0) *
                                 service->prefill_share +
                             pm_at_least(engine->user_time, 0) * service->running;
        if (decodes) {
            share_steps(input, &load, chunks, out);
        }
    }
    finish(input, service);
}

/* ---- bands ---------------------------------------------------------------------------------- */

static struct pm_band time_band(double value, struct pm_band factors, double ceiling)
{
    if (value < 0) {
        return (struct pm_band){value, value};
    }
    double low = pm_at_least(pm_at_most(value * factors.low, value), ceiling);
    return (struct pm_band){low, pm_at_least(value * factors.high, value)};
}

static void set_bands(const struct pm_case *input, const struct pm_service *ceiling, bool verified,
                      struct pm_service *service)
{
    const struct pm_engine *engine = input->engine;
    struct pm_band one = {1, 1}, tpot = engine->tpot_band, ttft = engine->ttft_band, rate = engine->rate_band;
    if (!verified) {
        tpot = ttft = engine->unverified_band;
        rate.low = pm_at_most(pm_divide(1, tpot.high), 1);
        rate.high = pm_at_least(pm_divide(1, tpot.low), 1);
    }
    if (engine->ideal) {
        tpot = ttft = rate = one;
    }
    service->tpot_band = time_band(service->tpot, tpot, ceiling->tpot);
    service->ttft_band = time_band(service->ttft, ttft, ceiling->ttft);
    service->throughput_band.low = pm_at_most(service->throughput * rate.low, service->throughput);
    double high = pm_at_most(service->throughput * rate.high, ceiling->throughput);
    service->throughput_band.high = pm_at_least(high, service->throughput);
}

void pm_serve_start(const struct pm_case *input, struct pm_result *out)
{
    struct pm_contexts contexts = pm_case_contexts(input);
    out->context = (contexts.first + contexts.last) / 2;
    out->ceiling.running = out->expected.running = pm_running(input, &out->memory);
    out->ceiling.tokens_per_step = out->expected.tokens_per_step = tokens_per_step(input);
}

void pm_serve_decode(const struct pm_case *input, struct pm_result *out)
{
    struct pm_contexts contexts = pm_case_contexts(input);
    decode_at_ceiling(input, contexts, out);
    decode_expected(input, contexts, out);
    if (input->engine->ideal) {
        out->expected.decode_step = out->ceiling.decode_step;
    }
}

void pm_serve(const struct pm_case *input, struct pm_result *out)
{
    struct pm_contexts contexts = pm_case_contexts(input);
    struct pm_band one = {1, 1};
    struct pm_service start = {.running = out->expected.running,
                               .tokens_per_step = out->expected.tokens_per_step};
    out->ceiling = out->expected = start;
    out->prefill_ceiling = (struct pm_ceiling){0};
    out->prefill = out->mixed = (struct pm_step){0};
    serve_ceiling(input, contexts, out);
    serve_expected(input, contexts, out);
    if (input->engine->ideal) {
        out->expected = out->ceiling;
        scale_to(&out->prefill, out->prefill_ceiling.time);
    }
    set_bands(input, &out->ceiling, out->verified, &out->expected);
    out->ceiling.tpot_band = time_band(out->ceiling.tpot, one, out->ceiling.tpot);
    out->ceiling.ttft_band = time_band(out->ceiling.ttft, one, out->ceiling.ttft);
    out->ceiling.throughput_band = (struct pm_band){out->ceiling.throughput, out->ceiling.throughput};
}
