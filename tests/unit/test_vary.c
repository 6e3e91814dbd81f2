/* test_vary.c: short cuts against the long way: parts of a result against all of it, prepared cases against
 * cases that are not, and thresholds of rates against plain bisection, over models of every kind in the
 * catalogue. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/arena.h"
#include "result/threshold.h"
#include "result_fixture.h"

/* Grouped, windowed, latent, sparse, hybrid, state-space, mixtures; loops and steps, groups of cards, drafts,
 * prefixes, more users than fit; engines with every way to lay memory out. */
static const char plan[] =
    "scenario one { model = llama-3.1-8b  gpu = l40s  prompt = 1000  output = 300  batch = 16\n"
    "  price = 0.9 usd/h }\n"
    "scenario full : one { batch = 900  engine = vllm }\n"
    "scenario step { model = llama-3.1-8b  gpu = l40s  context = 5000  batch = 9  prompt = 900 }\n"
    "scenario shared : one { cached_prefix = 600  engine = sglang }\n"
    "scenario drafts : one { model = llama-3.1-70b  gpu = h100-sxm  tp = 4\n"
    "  speculation { draft = llama-3.2-1b  tokens = 4  acceptance = 0.7 } }\n"
    "scenario window : one { model = gemma-2-27b  gpu = h100-sxm  engine = tensorrt-llm }\n"
    "scenario mixture : one { model = deepseek-v3  gpu = h200-sxm  tp = 8  ep = 8 }\n"
    "scenario sparse : one { model = deepseek-v3.2  gpu = b200-sxm  tp = 8 }\n"
    "scenario hybrid : one { model = qwen3.5-27b  gpu = h100-sxm  engine = vllm-0.21 }\n"
    "scenario states : one { model = nemotron-nano-9b-v2  engine = vllm-0.17 }\n"
    "scenario stages : one { model = llama-3.1-70b  gpu = a100-sxm-80  tp = 2  pp = 2 }\n"
    "scenario limit : one { engine = ideal }\n"
    "assert one.tpot <= 25 ms\n"
    "assert one.fits and one.memory.kv < 3 GB\n"
    "assert not (one.ttft > 1 s)\n";

static const char *const names[] = {"one",    "full",   "shared", "drafts", "window", "mixture",
                                    "sparse", "hybrid", "states", "stages", "limit"};
enum { NAMES = sizeof names / sizeof names[0] };

static struct variation *variation_of(struct result_fixture *fixture, const char *name)
{
    struct decl *scenario = plan_find(fixture->plan, KIND_SCENARIO, name);
    cr_assert(scenario != NULL, "no scenario %s", name);
    const struct evaluation *evaluation = evaluate_scenario(fixture->evaluator, scenario);
    cr_assert(evaluation->valid, "%s: %s", name, evaluation->why);
    return variation_new(fixture->arena, evaluation);
}

/* The figures that reports show first, of every part. */
static void expect_same(const struct pm_result *got, const struct pm_result *expected, const char *what,
                        const char *path)
{
    const double pairs[][2] = {
        {got->params.total, expected->params.total},
        {got->memory.weights, expected->memory.weights},
        {got->memory.total, expected->memory.total},
        {got->memory.usable, expected->memory.usable},
        {got->memory.max_batch, expected->memory.max_batch},
        {got->memory.max_context, expected->memory.max_context},
        {got->memory.kv_tokens, expected->memory.kv_tokens},
        {got->expected.running, expected->expected.running},
        {got->decode_ceiling.time, expected->decode_ceiling.time},
        {got->decode.time, expected->decode.time},
        {got->mixed.time, expected->mixed.time},
        {got->prefill.time, expected->prefill.time},
        {got->ceiling.tpot, expected->ceiling.tpot},
        {got->expected.tpot, expected->expected.tpot},
        {got->expected.ttft, expected->expected.ttft},
        {got->expected.throughput, expected->expected.throughput},
        {got->expected.tpot_band.low, expected->expected.tpot_band.low},
        {got->mfu, expected->mfu},
        {got->mbu, expected->mbu},
        {got->cost_per_mtok, expected->cost_per_mtok},
        {got->critical_batch, expected->critical_batch},
        {got->critical_context, expected->critical_context},
        {got->kv_equals_weights, expected->kv_equals_weights},
        {got->scaling_efficiency, expected->scaling_efficiency},
        {got->expert_exchange, expected->expert_exchange},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        cr_assert(pairs[i][0] == pairs[i][1], "%s, %s, value %zu: %.17g instead of %.17g", what, path, i,
                  pairs[i][0], pairs[i][1]);
}

/* A case of its own, not prepared and evaluated from nothing, is what the parts that an input reaches come to
 * in a result that began as another's. */
Test(vary, parts_are_the_whole)
{
    struct result_fixture fixture = result_open(plan);
    size_t compared = 0;
    for (size_t n = 0; n < NAMES; n++) {
        struct variation *variation = variation_of(&fixture, names[n]);
        for (int i = 0; i < VARY_COUNT; i++) {
            enum vary input = (enum vary)i;
            double value = variation_value(variation, input);
            if (!(value > 0))
                continue;
            double other = vary_info(input).whole ? ceil(value * 1.3) : value * 0.83;
            const struct evaluation *changed = variation_at(variation, input, other);
            struct pm_case input_alone = changed->binding.input;
            struct pm_result alone;
            input_alone.prepared = NULL;
            pm_evaluate(&input_alone, &alone);
            expect_same(&changed->result, &alone, names[n], vary_info(input).path);
            cr_assert(pm_verify(&input_alone, &changed->result) == NULL);
            compared++;
        }
    }
    cr_assert(compared > 250, "%zu", compared);
    result_close(&fixture);
}

/* What another input changed before is gone, whichever parts were asked for. */
Test(vary, nothing_remains)
{
    struct result_fixture fixture = result_open(plan);
    struct variation *variation = variation_of(&fixture, "one");
    struct pm_result batch = variation_at(variation, VARY_BATCH, 32)->result;
    variation_at(variation, VARY_KV_BITS, 8);
    variation_parts_at(variation, VARY_OUTPUT, 1, PM_PART_MEMORY | PM_PART_DECODE);
    variation_parts_at(variation, VARY_PRICE, 3, PM_PART_ALL);
    expect_same(&variation_at(variation, VARY_BATCH, 32)->result, &batch, "one", "batch");
    double price = variation_value(variation, VARY_PRICE);
    const struct evaluation *same = variation_at(variation, VARY_PRICE, price);
    expect_same(&same->result, &variation_base(variation)->result, "one", "gpu.price");
    result_close(&fixture);
}

/* ---- thresholds ------------------------------------------------------------------------------------- */

static int state_at(struct variation *variation, enum vary input, double value,
                    const struct threshold_question *question, int from)
{
    int state = question->state(question->context, variation_at(variation, input, value));
    return state < 0 ? from : state;
}

/* By strides of four and halves, looking everywhere: slow, and nothing to get wrong. */
static struct threshold by_halves(struct variation *variation, enum vary input, bool above,
                                  const struct threshold_question *question)
{
    double value = variation_value(variation, input), limit = above ? value * 16 : value / 16;
    struct threshold out = {.input = input, .above = above, .last = value};
    if (vary_info(input).share && above)
        limit = fmax(value, 1);
    out.from = question->state(question->context, variation_base(variation));
    while (out.from >= 0 && !out.exists && out.last != limit) {
        double next = above ? fmin(out.last * 4, limit) : fmax(out.last / 4, limit);
        out.to = state_at(variation, input, next, question, out.from);
        out.exists = out.to != out.from;
        *(out.exists ? &out.first : &out.last) = next;
    }
    while (out.exists && fabs(out.first - out.last) > 1e-15 * out.last) {
        double middle = out.last + (out.first - out.last) / 2;
        if (middle == out.last || middle == out.first)
            break;
        int state = state_at(variation, input, middle, question, out.from);
        *(state == out.from ? &out.last : &out.first) = middle;
        out.to = state == out.from ? out.to : state;
    }
    return out;
}

Test(threshold, rates_as_by_halves)
{
    struct result_fixture fixture = result_open(plan);
    const struct plan_view *view = plan_view(fixture.plan);
    struct threshold_assertion assertions[3];
    struct threshold_question questions[6] = {threshold_question(threshold_bound, NULL),
                                              threshold_question(threshold_ceiling_side, NULL),
                                              threshold_question(threshold_fits, NULL)};
    for (size_t i = 0; i < 3; i++) {
        assertions[i] = (struct threshold_assertion){fixture.evaluator, &view->assertions.items[i], false};
        questions[3 + i] = threshold_question(threshold_asserted, &assertions[i]);
    }
    size_t found = 0;
    for (size_t n = 0; n < NAMES; n++) {
        struct variation *variation = variation_of(&fixture, names[n]);
        for (int i = 0; i < 2 * VARY_COUNT; i++) {
            enum vary input = (enum vary)(i / 2);
            struct threshold all[6];
            if (vary_info(input).whole || !(variation_value(variation, input) > 0))
                continue;
            thresholds_find(variation, input, i % 2 == 0, questions, 6, all);
            for (size_t q = 0; q < 6; q++) {
                struct threshold expected = by_halves(variation, input, i % 2 == 0, &questions[q]);
                cr_assert(all[q].exists == expected.exists, "%s, %s, question %zu", names[n],
                          vary_info(input).path, q);
                if (!expected.exists)
                    continue;
                cr_assert(all[q].last == expected.last && all[q].first == expected.first,
                          "%s, %s, question %zu: %.17g to %.17g instead of %.17g to %.17g", names[n],
                          vary_info(input).path, q, all[q].last, all[q].first, expected.last, expected.first);
                cr_assert(all[q].from == expected.from && all[q].to == expected.to);
                found++;
            }
        }
    }
    cr_assert(found > 60, "%zu", found);
    result_close(&fixture);
}
