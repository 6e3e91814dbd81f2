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

static bool has_decode(const struct pm_case *input)
{
    return pm_is_static(input) || input->output > 1 || !(input->prompt > 0);
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
    struct pm_load load = pm_decode_load(input, service->decoding, contexts);
    pm_ceiling_of(input, &load, &out->decode_ceiling);
    service->decode_step = -1;
    if (has_decode(input)) {
        service->decode_step =
            out->decode_ceiling.time + pm_draft_ceiling(input, service->decoding, contexts);
    }
}

static void serve_ceiling(const struct pm_case *input, struct pm_contexts contexts, struct pm_result *out)
{
    struct pm_service *service = &out->ceiling;
    double prompt = pm_prompt_tokens(input), cached = pm_cached_tokens(input);
    decode_at_ceiling(input, contexts, out);
    service->prefill = -1;
    if (prompt > 0) {
        pm_bound_prefill(input, prompt - cached, cached, &out->prefill_ceiling);
        service->prefill = out->prefill_ceiling.time;
    }
    finish(input, service);
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

/* ---- prompts among decode steps ------------------------------------------------------------- */

/* Decode steps of different users go on side by side: replicas of attention, and stages of a pipeline. */
static double lanes_of(const struct pm_case *input)
{
    struct pm_layout layout = pm_layout_of(input);
    return layout.dp * layout.pp;
}

/* Decode steps of one request. */
static double steps_of(const struct pm_case *input, const struct pm_service *service)
{
    return input->output / service->tokens_per_step;
}

/* Prompts would take more than all steps, and share them. Users in step prefill apart from them. */
static bool is_crowded(const struct pm_case *input, const struct pm_service *service)
{
    return service->prefill_step_share > 1 && !input->engine->as_calibrated && !service->in_step;
}

/* While a request decodes, each other running sequence needs one prefill. Where those take less than all
 * steps, the mean token pays its share of their extra time. Where they would take more, every step carries
 * several prompts, as far as its chunk allows; fewer sequences then decode at once, and the others wait. */
static void share_steps(const struct pm_case *input, struct pm_service *service)
{
    service->decoding = service->running;
    if (pm_is_static(input) || !has_decode(input) || !(input->prompt > 0)) {
        return;
    }
    double others = pm_at_least(service->running - 1, 0);
    double wanted = others / (steps_of(input, service) * lanes_of(input));
    service->in_step = input->equal_lengths && input->engine->prompts_first && !input->engine->as_calibrated;
    service->prefill_step_share = wanted * pm_prompt_chunks(input);
    if (is_crowded(input, service) && !input->engine->ideal) {
        double decoding = service->running * pm_prompts_at_most(input, wanted) / wanted;
        service->decoding = pm_at_most(pm_at_least(decoding, 1), service->running);
    }
}

/* The time that one prompt takes where many wait, in steps as full as the chunk allows and with nothing to
 * decode: the first wave of a closed loop. The form that was fitted first took the extra time of one. */
static double packed_prefill(const struct pm_case *input, const struct pm_result *out, double alone)
{
    const struct pm_load nothing = {.queries = 1};
    double waiting = out->expected.running / lanes_of(input), prompts = pm_prompts_at_most(input, waiting);
    if (input->engine->as_calibrated) {
        return out->expected.prefill_share;
    }
    double seconds = prompts > 1 ? pm_crowded_step(input, &nothing, prompts) / prompts : alone;
    return (seconds + out->expected.draft_prefill) / lanes_of(input);
}

/* The first request waits for all of the steps, those that come meanwhile for half. */
double pm_held_back(double most, double more, double rate)
{
    double steps = rate * most > more ? pm_divide(pm_at_least(more, 0), rate) : pm_at_least(most, 0);
    return (steps + rate * steps * steps / 2) / (1 + rate * steps);
}

/* Decode steps before the scheduler lets a prompt in: half of those between two looks for requests, those in
 * which it collects prompts to fill a step, and those until each attention replica has one. */
static double held_steps(const struct pm_case *input, const struct pm_service *service)
{
    const struct pm_engine *engine = input->engine;
    double replicas = pm_layout_of(input).dp, lanes = lanes_of(input);
    double rate = service->running / steps_of(input, service);
    double prompt = pm_prompt_tokens(input) - pm_cached_tokens(input);
    double space = engine->hold_share * pm_at_least(pm_chunk(input), 0) - service->running / lanes;
    double more = pm_chunk(input) > 0 ? pm_divide(space, prompt) - 1 : PM_HUGE;
    double held =
        pm_at_least(engine->poll_interval - 1, 0) / 2 + pm_held_back(engine->hold_steps, more, rate / lanes);
    return replicas > 1 ? held + pm_held_back(engine->balance_steps, replicas - 1, rate) : held;
}

/* Where all lengths are equal, users whose first tokens came in one step end in one, and prefill one after
 * the other again. Prompts among decode steps set them a step apart, so that each waits for a few prompts
 * only; prompts before decode steps keep all of them together, and of the others' prefills half come before
 * the first token, half among the tokens. */
static double train_time(const struct pm_case *input, const struct pm_service *service, double alone)
{
    if (!input->equal_lengths || input->engine->prompts_first || input->engine->as_calibrated) {
        return 0;
    }
    return input->engine->train_steps * alone * pm_at_least(1 - lanes_of(input) / service->running, 0);
}

/* What users who prefill cost those who decode, and each other. `alone`: seconds of the steps of one prompt
 * by itself. Never less with a slower card: the interference puts mixed steps in place of decode steps, and
 * waits are whole steps. */
static void interfere(const struct pm_case *input, const struct pm_load *load, double alone,
                      struct pm_result *out)
{
    struct pm_service *service = &out->expected;
    const struct pm_engine *engine = input->engine;
    double others = pm_at_least(service->running - 1, 0);
    double host = pm_at_least(engine->user_time, 0) * service->running;
    if (!has_decode(input)) {
        /* The loop is nothing but prefills, and each request waits for all others'. */
        service->wave_time = others * service->prefill_share + host;
        return;
    }
    double waited = service->in_step ? 0.5 : engine->first_wave;
    host += train_time(input, service, alone);
    service->interference = others / input->output * service->prefill_share;
    service->interference *= service->in_step ? 1 - waited : 1;
    service->prefill_alone = alone;
    service->prefill_packed = packed_prefill(input, out, alone);
    service->wave_time = waited * others * service->prefill_packed + host;
    if (is_crowded(input, service)) {
        double steps = steps_of(input, service), wanted = others / (steps * lanes_of(input));
        double carried = pm_prompts_at_most(input, wanted);
        double step = pm_crowded_step(input, load, carried) + carried * service->draft_prefill;
        service->interference = pm_at_least(step - out->decode.time, 0) / service->tokens_per_step;
        service->wave_time = (wanted / carried - 1) * steps * step + host +
                             engine->first_wave * others * carried / wanted * service->prefill_packed;
    }
}

/* The prefills of others that a request waits for before its first token do not hold up its decode steps as
 * well. The coefficients were fitted with all of them in both places, where batching gains much more; but a
 * server that gains little would seem to idle, and more sequences at once to cost throughput. So what is
 * counted twice costs no more than every other sequence is sure to gain on running alone: the host's time for
 * a request, and the launches of its steps (docs/calibration.md section 10). */
static void ease_interference(const struct pm_case *input, const struct pm_step *decode,
                              struct pm_service *service)
{
    const struct pm_engine *engine = input->engine;
    double steps = input->output - 1 + service->stream_time;
    double wave = service->in_step ? 0 : engine->first_wave * input->output;
    double twice = service->interference * (wave + service->stream_time);
    double launches = pm_at_least(decode->term[PM_BOUND_FIXED] - decode->host_time, 0);
    double gain = service->request_time + steps / service->tokens_per_step * launches;
    double others = pm_at_least(service->decoding - 1, 0), more = twice - others * gain / lanes_of(input);
    if (!engine->as_calibrated && more > 0) {
        service->eased = pm_at_most(more / steps, service->interference);
        service->interference -= service->eased;
    }
}

static void decode_expected(const struct pm_case *input, struct pm_contexts contexts, struct pm_result *out)
{
    struct pm_service *service = &out->expected;
    struct pm_load load = pm_decode_load(input, service->decoding, contexts);
    pm_step_of(input, &load, &out->decode, NULL, 0, NULL);
    raise_to(&out->decode, out->decode_ceiling.time);
    service->decode_step = -1;
    if (has_decode(input)) {
        service->decode_step = out->decode.time + pm_draft_time(input, service->decoding, contexts);
        service->decode_step = pm_at_least(service->decode_step, out->ceiling.decode_step);
    }
}

static void serve_expected(const struct pm_case *input, struct pm_contexts contexts, struct pm_result *out)
{
    struct pm_service *service = &out->expected;
    struct pm_load load = pm_decode_load(input, service->decoding, contexts), alone = {.queries = 1};
    bool decodes = has_decode(input), prompts = input->prompt > 0, loop = !pm_is_static(input);
    decode_expected(input, contexts, out);
    service->prefill = -1;
    if (!prompts) {
        finish(input, service);
        return;
    }
    double chunks = pm_prefill_steps(input, &alone, &out->prefill), alone_time = out->prefill.time;
    pm_pipeline(input, chunks, &out->prefill);
    raise_to(&out->prefill, out->prefill_ceiling.time);
    pm_prefill_steps(input, decodes ? &load : &alone, &out->mixed);
    raise_to(&out->mixed, out->prefill_ceiling.time);
    service->draft_prefill = pm_draft_prefill(input);
    double extra = service->draft_prefill + out->mixed.time - (decodes ? chunks * out->decode.time : 0);
    pm_pipeline(input, chunks, &out->mixed);
    raise_to(&out->mixed, out->prefill_ceiling.time);
    service->request_time = input->engine->request_time;
    service->stream_time = input->engine->stream_interval; /* steps; finish() turns them into time */
    if (loop && input->engine->stream_share > 0) {
        service->stream_time = pm_at_most(service->stream_time, input->engine->stream_share * input->output);
    }
    if (loop && decodes && !input->engine->as_calibrated) {
        service->held_steps = held_steps(input, service);
        service->stream_time += service->held_steps;
    }
    service->prefill = service->draft_prefill + (loop ? out->mixed.time : out->prefill.time);
    if (loop) {
        /* Replicas prefill at the same time; in a pipeline each stage is held up for its own part. */
        service->prefill_share = pm_at_least(extra, 0) / lanes_of(input);
        interfere(input, &load, alone_time, out);
        if (decodes) {
            ease_interference(input, &out->decode, service);
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
    struct pm_service start = {.running = pm_running(input, &out->memory),
                               .tokens_per_step = pm_tokens_per_step(input)};
    share_steps(input, &start);
    out->context = (contexts.first + contexts.last) / 2;
    out->ceiling.running = out->expected.running = start.running;
    out->ceiling.decoding = out->expected.decoding = start.decoding;
    out->ceiling.tokens_per_step = out->expected.tokens_per_step = start.tokens_per_step;
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
    share_steps(input, &start);
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
