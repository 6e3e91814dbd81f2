/* test_model_service.c: the closed loop, static steps, speculation, bands, cost and scaling, from steps that
 * are priced on their own: the formulas of calibration.md section 2.4 and model.md section 5. */
#include <criterion/criterion.h>
#include <math.h>

#include "model_fixture.h"

struct served {
    struct fixture_model model;
    struct pm_gpu gpu;
    struct pm_engine engine;
    struct pm_case input;
    struct pm_result result;
};

/* Llama-3.1-8B in 16 bits on an H100, 1000 tokens in and 200 out. */
static void set_up(struct served *served)
{
    cr_assert(fixture_serving_model(&served->model, "Llama-3.1-8B", "bf16", "h100_sxm", "vllm"));
    cr_assert(fixture_gpu(&served->gpu, "h100_sxm"));
    fixture_engine(&served->engine, "vllm");
    served->input = fixture_case(&served->model.model, &served->gpu, &served->engine);
    served->input.prompt = 1000;
    served->input.output = 200;
    served->input.batch = 16;
}

static const struct pm_service *serve(struct served *served)
{
    pm_evaluate(&served->input, &served->result);
    const char *violation = pm_verify(&served->input, &served->result);
    cr_assert_null(violation, "%s", violation);
    return &served->result.expected;
}

static double step(const struct served *served, double decoding, double context, double prompt)
{
    struct pm_step out;
    pm_expected_step(&served->input, decoding, context, prompt, &out, NULL, 0, NULL);
    return out.time;
}

static void near(const char *what, double value, double expected)
{
    cr_expect(fabs(value - expected) <= 1e-9 * fabs(expected), "%s: %.17g, expected %.17g", what, value,
              expected);
}

Test(model_service, closed_loop)
{
    struct served served;
    set_up(&served);
    served.input.chunk = 1000; /* no step of the first wave holds two prompts */
    const struct pm_service *service = serve(&served);
    double decode = step(&served, 16, 1100, 0), mixed = step(&served, 16, 1100, 1000), share = mixed - decode;
    double wave = 0.06 * 15 * step(&served, 0, 0, 1000);
    double tpot = decode + 15.0 / 200 * share, ttft = 0.020 + mixed + 4 * tpot + wave;
    near("decode step", service->decode_step, decode);
    near("interference", service->interference, 15.0 / 200 * share);
    near("tpot", service->tpot, tpot);
    near("ttft", service->ttft, ttft);
    near("latency", service->latency, ttft + 199 * tpot);
    near("throughput", service->throughput, 16 * 200 / (ttft + 199 * tpot));
    near("requests", service->requests_per_second, 16 / (ttft + 199 * tpot));
    near("speed", service->speed, 1 / tpot);
    near("inclusive", service->tpot_inclusive, (ttft + 199 * tpot) / 200);
    near("context", served.result.context, 1100);
    cr_expect_eq(service->running, 16);
    cr_expect_eq(service->queueing, 0);
    served.input.replicas = 3;
    near("replicas", serve(&served)->throughput, 3 * 16 * 200 / (ttft + 199 * tpot));
    near("latency stays", served.result.expected.latency, ttft + 199 * tpot);
}

/* A model of weights alone: n prompts side by side are one of n times the length. */
static void set_up_bare(struct served *served)
{
    set_up(served);
    served->model.model = (struct pm_model){.declared_params = 8e9, .weights_format = fixture_bf16};
    served->input.chunk = 8000;
}

/* 31 others with a prompt each for 10 steps: 3.1 prompts in every step, and in the first wave as many as
 * 8000 tokens hold. With 201 others a step holds 8 prompts of the 20.1 that come; 8 / 20.1 of all
 * sequences decode, and the prompts that are left, 12.1 / 8 of as many as all steps carry, wait. */
Test(model_service, crowded_steps)
{
    struct served served;
    set_up_bare(&served);
    served.input.output = 10;
    served.input.batch = 32;
    const struct pm_service *service = serve(&served);
    double decode = step(&served, 32, 1005, 0), crowded = step(&served, 32, 1005, 3100);
    double packed = step(&served, 0, 0, 8000) / 8;
    near("share of steps", service->prefill_step_share, 3.1);
    near("all decode", service->decoding, 32);
    near("interference", service->interference, crowded - decode);
    near("packed", service->prefill_packed, packed);
    near("first wave", service->wave_time, 0.06 * 31 * packed);
    served.input.batch = 202;
    service = serve(&served);
    double decoding = 202 * 8 / 20.1;
    decode = step(&served, decoding, 1005, 0), crowded = step(&served, decoding, 1005, 8000);
    near("some decode", service->decoding, decoding);
    near("full steps", service->interference, crowded - decode);
    near("the rest waits", service->wave_time,
         (20.1 / 8 - 1) * 10 * crowded + 0.06 * 201 * 8 / 20.1 * packed);
    /* The form that was fitted first charges a mixed step for each. */
    served.engine.as_calibrated = true;
    served.input.batch = 32;
    service = serve(&served);
    near("as calibrated", service->interference,
         3.1 * (step(&served, 32, 1005, 1000) - step(&served, 32, 1005, 0)));
}

/* A stream interval takes no more than its share of the output. */
Test(model_service, stream_share)
{
    struct served served;
    set_up(&served);
    const struct pm_service *service = serve(&served);
    near("steps", service->stream_time, 4 * service->tpot);
    served.engine.stream_share = 0.01;
    service = serve(&served);
    near("a hundredth of 200", service->stream_time, 2 * service->tpot);
}

/* Schedulers that look for requests every 30 steps keep one for 14.5 on average. 16 users with 200 tokens end
 * 0.08 times a step: a step of 0.9 * 2248 tokens, 16 of them decoding, takes 2.0072 prompts of 1000, so that
 * one waits for 1.0072 more, 12.59 steps, and those wait for half of them. Four replicas wait for 3
 * more, 37.5 steps, if they may. */
Test(model_service, held_back)
{
    struct served served;
    set_up(&served);
    served.engine.poll_interval = 30;
    const struct pm_service *service = serve(&served);
    near("polling", service->held_steps, 14.5);
    near("and four steps of the stream", service->stream_time, 18.5 * service->tpot);
    served.engine.poll_interval = 0;
    served.engine.hold_steps = 20, served.engine.hold_share = 0.9, served.input.chunk = 2248;
    service = serve(&served);
    near("until a step is full", service->held_steps, 12.59 * (1 + 1.0072 / 2) / (1 + 1.0072));
    served.engine.hold_steps = 5;
    near("five steps, and 0.4 prompts", serve(&served)->held_steps, (5 + 0.4 * 2.5) / 1.4);
    served.input.chunk = 1000;
    near("one prompt fills a step", serve(&served)->held_steps, 0);
    served.engine.hold_steps = 0, served.engine.balance_steps = 60;
    near("one replica", serve(&served)->held_steps, 0);
    served.input.dp = 4;
    near("four", serve(&served)->held_steps, 37.5 * 2.5 / 4);
    served.engine.balance_steps = 10;
    near("not so long", serve(&served)->held_steps, (10 + 0.8 * 5) / 1.8);
    served.input.output = 1;
    near("no steps to wait for", serve(&served)->held_steps, 0);
}

/* Users whose lengths are all equal. Among decode steps a prompt meets two others, one user none. Before
 * decode steps all prefill at once: the mean of 16 waits for half of the 15 others, and half of their
 * prefills come among its 200 tokens. */
Test(model_service, equal_lengths)
{
    struct served served;
    set_up(&served);
    served.input.chunk = 1000;
    double wave = serve(&served)->wave_time, interference = served.result.expected.interference;
    double alone = step(&served, 0, 0, 1000);
    served.input.equal_lengths = true;
    near("no engine says what that does", serve(&served)->wave_time, wave);
    served.engine.train_steps = 2;
    near("two more prompts", serve(&served)->wave_time, wave + 2 * alone * 15 / 16);
    near("tokens as before", served.result.expected.interference, interference);
    served.input.batch = 1;
    near("one user", serve(&served)->wave_time, 0);
    served.input.batch = 16;
    served.engine.prompts_first = true;
    near("half of all", serve(&served)->wave_time, 7.5 * alone);
    near("the other half", served.result.expected.interference, interference / 2);
    served.input.equal_lengths = false;
    near("lengths that differ", serve(&served)->wave_time, wave);
    served.input.equal_lengths = true, served.engine.as_calibrated = true;
    near("as calibrated", serve(&served)->interference, interference);
}

/* 1000 tokens in chunks of 400: 400, 400 and 200, each with a decode step, over what is cached before. */
Test(model_service, chunks)
{
    struct served served, whole;
    set_up(&served);
    set_up(&whole);
    served.input.chunk = 400;
    double decode = step(&served, 16, 1100, 0);
    const struct pm_service *service = serve(&served);
    double last = step(&served, 16, 1100, 200);
    cr_expect(service->prefill > serve(&whole)->prefill, "three steps take longer than one");
    cr_expect(service->prefill > 2 * step(&served, 16, 1100, 400) + last,
              "later chunks attend to earlier ones");
    near("share", service->prefill_share, service->prefill - 3 * decode);
    /* per block: QKV, both attentions, output, two of the feed-forward; and the head: 6 * 32 + 1 */
    near("operations", served.result.mixed.launches, 3 * 193);
    /* Many chunks are priced at their mean; it must agree with one by one where costs are linear. */
    served.input.prompt = 65 * 400, served.input.batch = 1;
    double many = serve(&served)->prefill;
    served.input.prompt = 64 * 400;
    double fewer = serve(&served)->prefill;
    served.input.prompt = 63 * 400;
    double fewest = serve(&served)->prefill;
    cr_expect(many > fewer && fewer > fewest);
    cr_expect(fabs((many - fewer) - (fewer - fewest)) < 0.05 * (fewer - fewest),
              "no jump where the sum changes: %g, %g", many - fewer, fewer - fewest);
}

/* A cached prefix leaves the rest of the prompt, never nothing. */
Test(model_service, cached_prefix)
{
    struct served served;
    set_up(&served);
    served.input.batch = 1;
    double full = serve(&served)->prefill;
    served.input.cached_prefix = 900;
    double rest = serve(&served)->prefill;
    cr_expect(rest < full);
    near("matrix work of 100 tokens", served.result.prefill_ceiling.matrix_work,
         2 * 32 * 218103808.0 * 100 + 2 * 128256.0 * 4096);
    served.input.cached_prefix = 1000;
    cr_expect(serve(&served)->prefill > 0);
    near("one token at least", served.result.prefill_ceiling.matrix_work,
         2 * 32 * 218103808.0 + 2 * 128256.0 * 4096);
}

/* More users than memory holds: the rest wait as Little's law says. */
Test(model_service, queueing)
{
    struct served served;
    set_up(&served);
    served.input.batch = 1000;
    const struct pm_service *service = serve(&served);
    /* 0.95 * 85899345920 - 16059990016 - 3e9 bytes over 72 pages of 16 tokens (1000 + 150) of 131072 bytes */
    double running = (0.95 * 85899345920.0 - 16059990016.0 - 3e9) / (72 * 16 * 131072.0);
    near("running", service->running, running);
    double own = service->ttft - service->queueing;
    near("queueing", service->queueing, (1000 / running - 1) * (own + 199 * service->tpot));
    near("ceiling runs as many", served.result.ceiling.running, running);
    cr_expect(served.result.memory.fits);
    cr_expect_not(served.result.hypothetical);
    served.gpu.memory = 19e9; /* 0.95 of it, less 3e9, is less than the weights */
    service = serve(&served);
    cr_expect(served.result.hypothetical);
    near("as if one ran", service->running, 1);
}

/* One output token: no time per token; each waits for the prefills of all. */
Test(model_service, one_token_out)
{
    struct served served;
    set_up(&served);
    served.input.output = 1;
    const struct pm_service *service = serve(&served);
    double prefill = step(&served, 0, 0, 1000);
    cr_expect(service->tpot < 0 && service->decode_step < 0);
    near("ttft", service->ttft, 0.020 + prefill + 15 * prefill);
    near("latency", service->latency, service->ttft);
}

/* No prompt: every token by decoding, no first-token time. */
Test(model_service, no_prompt)
{
    struct served served;
    set_up(&served);
    served.input.prompt = 0;
    const struct pm_service *service = serve(&served);
    cr_expect(service->ttft < 0 && service->prefill < 0);
    near("tpot", service->tpot, step(&served, 16, 100, 0));
    near("latency", service->latency, 200 * service->tpot);
}

Test(model_service, static_step)
{
    struct served served;
    set_up(&served);
    served.input.static_step = true;
    served.input.context = 3000;
    const struct pm_service *service = serve(&served);
    double decode = step(&served, 16, 3000, 0);
    near("tpot", service->tpot, decode);
    near("throughput", service->throughput, 16 / decode);
    near("ttft", service->ttft, 0.020 + step(&served, 0, 0, 1000) + 4 * decode);
    cr_expect(service->latency < 0 && service->interference == 0);
    served.input.prompt = 0;
    cr_expect(serve(&served)->ttft < 0);
}

/* Verification of 5 tokens a sequence and 4 drafts give (1 - 0.8^5) / 0.2 = 3.3616 tokens. */
Test(model_service, speculation)
{
    struct served served, draft;
    set_up(&served);
    served.input.static_step = true;
    served.input.context = 1000, served.input.prompt = 0;
    double plain = serve(&served)->tpot;
    served.input.draft_tokens = 4, served.input.acceptance = 0.8;
    const struct pm_service *service = serve(&served);
    double verify = served.result.decode.time;
    cr_expect(verify > plain, "a verification costs more than a step");
    near("free drafts", service->tpot, verify / 3.3616);
    near("speed", service->speed, 3.3616 / verify);
    set_up(&draft);
    draft.model.blocks[0].count = 4;
    draft.input.static_step = true;
    draft.input.context = 1000, draft.input.prompt = 0;
    served.input.draft_model = &draft.model.model;
    serve(&draft);
    double each = draft.result.decode.time;
    near("a draft model", serve(&served)->tpot, (verify + 4 * each) / 3.3616);
    served.input.acceptance = 1;
    near("all accepted", serve(&served)->tokens_per_step, 5);
    served.input.acceptance = 0;
    near("none", serve(&served)->tokens_per_step, 1);
    /* A prediction block: 218,103,808 parameters as every block has, and 2 * 4096^2 that join state and
     * token. */
    served.input.draft_model = NULL, served.input.acceptance = 0.8;
    served.model.model.mtp_params = 218103808.0 + 33554432;
    served.model.blocks[0].norms = 0;
    draft.model.blocks[0].count = 1, draft.model.blocks[0].extra_params = 33554432;
    serve(&draft);
    each = draft.result.decode.time;
    near("a prediction block", serve(&served)->tpot, (verify + 4 * each) / 3.3616);
}

Test(model_service, bands)
{
    struct served served;
    set_up(&served);
    const struct pm_service *service = serve(&served);
    cr_expect(served.result.verified);
    near("tpot low", service->tpot_band.low, 0.84 * service->tpot);
    near("tpot high", service->tpot_band.high, 1.21 * service->tpot);
    near("ttft high", service->ttft_band.high, 1.74 * service->ttft);
    near("throughput low", service->throughput_band.low, 0.82 * service->throughput);
    served.gpu.measured = false;
    service = serve(&served);
    cr_expect_not(served.result.verified);
    near("unverified high", service->tpot_band.high, 2 * service->tpot);
    near("unverified low", service->tpot_band.low, fmax(0.5 * service->tpot, served.result.ceiling.tpot));
    near("unverified throughput", service->throughput_band.low, 0.5 * service->throughput);
    served.engine.tpot_band.low = served.engine.unverified_band.low = 0.01;
    service = serve(&served);
    near("never below the ceiling", service->tpot_band.low, served.result.ceiling.tpot);
    served.gpu.measured = true, served.input.pp = 2;
    serve(&served);
    cr_expect_not(served.result.verified, "nobody measured a pipeline");
}

Test(model_service, money_and_energy)
{
    struct served served;
    set_up(&served);
    served.input.replicas = 2, served.input.tp = 4;
    const struct pm_service *service = serve(&served);
    cr_expect(served.result.cost_per_mtok < 0 && served.result.energy_per_token < 0,
              "no price, no power: no figure");
    served.gpu.price = 3.6 / 3600, served.gpu.tdp = 700;
    service = serve(&served);
    near("cost", served.result.cost_per_mtok, 8 * 1e-3 / service->throughput * 1e6);
    near("blended", served.result.cost_per_mtok_blended, served.result.cost_per_mtok * 200 / 1200);
    near("energy", served.result.energy_per_token, 8 * 700 / service->throughput);
    near("per GPU", service->throughput_per_gpu, service->throughput / 8);
    near("gpus of a replica", served.result.gpus, 4);
    /* 2 N FLOP a token over the 16-bit peak; the norms were left out of N */
    near("mfu", served.result.mfu, 2 * 8029995008.0 * service->throughput / (8 * 989e12));
}

/* Speed gained over GPUs used; one GPU is the base. */
Test(model_service, scaling)
{
    struct served served;
    set_up(&served);
    serve(&served);
    near("one", served.result.scaling_efficiency, 1);
    double alone = served.result.decode.time;
    served.input.tp = 4;
    serve(&served);
    near("four", served.result.scaling_efficiency, alone / (4 * served.result.decode.time));
    cr_expect(served.result.scaling_efficiency < 1);
}

/* 64 sequences over 8 GPUs, 8 copies of 4096 16-bit values each, 7 of 8 for another GPU, in 94 blocks. */
Test(model_service, expert_exchange)
{
    struct served served;
    set_up(&served);
    serve(&served);
    cr_expect_eq(served.result.expert_exchange, 0);
    cr_assert(fixture_serving_model(&served.model, "Qwen3-235B", "fp8", "h200_sxm", "vllm"));
    served.input.tp = served.input.ep = 8, served.input.batch = 64;
    serve(&served);
    near("dispatch", served.result.expert_exchange, 94 * 8.0 * 8 * 4096 * 2 * 7 / 8);
}

/* The exact mean over a window that fills while decoding: contexts 101 to 299 of a window of 200. */
Test(model_service, window_fills)
{
    struct served served;
    set_up(&served);
    served.engine.ideal = true;
    served.input.prompt = 100;
    served.model.blocks[0].window = 200;
    serve(&served);
    double sum = 0;
    for (int context = 101; context <= 299; context++) {
        sum += context < 200 ? context : 200;
    }
    near("cache read", served.result.decode_ceiling.kv_traffic, 16 * 131072.0 * sum / 199);
}
