/* test_model_monotone.c: a better card is never slower. Every model of the catalogue on every card, each pair
 * under a load of its own that follows from the two names, so that a longer catalogue adds pairs and changes
 * none: with twice the bandwidth, peaks or links no time grows and no rate falls, and with twice the memory
 * no throughput. (With more memory more sequences run at once, so that each of their tokens may take longer;
 * the wait that others are spared is worth more.) */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/intern.h"
#include "result_fixture.h"
#include "source/source.h"

/* A generator of its own, so that the cases are the same everywhere (Knuth, TAOCP 2, 3.3.4). */
struct dice {
    unsigned long long state;
};

static double roll(struct dice *dice)
{
    dice->state = dice->state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(dice->state >> 11) / 9007199254740992.0;
}

static const char *one_of(struct dice *dice, const char *const *words, size_t count)
{
    return words[(size_t)(roll(dice) * (double)count)];
}

/* Even on the scale of logarithms, whole. */
static double size(struct dice *dice, double most)
{
    return floor(exp(roll(dice) * log(most)));
}

#define ONE_OF(dice, ...)                                                                                    \
    one_of(dice, (const char *const[]){__VA_ARGS__},                                                         \
           sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* FNV-1a over names: the load of a pair is a property of the pair, whatever else the catalogue holds. */
static struct dice dice_of(const char *const *names, size_t count)
{
    unsigned long long hash = 14695981039346656037ULL;
    for (size_t i = 0; i < count; i++)
        for (const char *at = names[i];; at++) {
            hash = (hash ^ (unsigned char)*at) * 1099511628211ULL;
            if (*at == '\0')
                break;
        }
    return (struct dice){hash};
}

static void add_pair(struct buffer *text, const char *model, const char *gpu)
{
    struct dice dice = dice_of((const char *const[]){model, gpu}, 2);
    roll(&dice);
    buffer_printf(text, "scenario \"%s on %s\" { model = \"%s\" gpu = \"%s\" engine = %s\n", model, gpu,
                  model, gpu,
                  ONE_OF(&dice, "typical", "vllm", "sglang", "tensorrt-llm", "llama-cpp", "gpt-fast"));
    buffer_printf(text, "  tp = %s pp = %s batch = %.0f prompt = %.0f output = %.0f\n",
                  ONE_OF(&dice, "1", "1", "2", "4", "8"), ONE_OF(&dice, "1", "1", "1", "2"),
                  size(&dice, 2000), size(&dice, 60000), size(&dice, 3000));
    if (roll(&dice) < 0.3)
        buffer_printf(text, "  weights = %s\n", ONE_OF(&dice, "fp8", "q4_k_m", "nvfp4"));
    if (roll(&dice) < 0.2)
        buffer_printf(text, "  speculation { tokens = %s acceptance = %.2f }\n", ONE_OF(&dice, "1", "3", "7"),
                      roll(&dice));
    if (roll(&dice) < 0.2)
        buffer_printf(text, "  cached_prefix = %.0f\n", size(&dice, 20000));
    buffer_text(text, "}\n");
}

/* Every model on every card. */
static const char *all_pairs(struct arena *arena)
{
    struct plan *catalogue =
        plan_empty(arena, strings_new(arena), sources_new(arena), diags_new(arena), (struct plan_options){0});
    size_t gpus, models;
    struct decl **gpu = plan_catalogue(catalogue, KIND_GPU, &gpus);
    struct decl **model = plan_catalogue(catalogue, KIND_MODEL, &models);
    struct buffer text = buffer_in(arena);
    for (size_t i = 0; i < models; i++)
        for (size_t j = 0; j < gpus; j++)
            add_pair(&text, model[i]->name, gpu[j]->name);
    return buffer_string(&text);
}

enum part { BANDWIDTH, PEAKS, LINKS, MEMORY, PARTS };

static const char *const part_names[] = {"bandwidth", "peaks", "links", "memory"};

static void better(struct pm_gpu *gpu, enum part part, double factor)
{
    switch (part) {
    case BANDWIDTH: gpu->bandwidth *= factor; break;
    case PEAKS:
        for (size_t i = 0; i < PM_COMPUTE_COUNT; i++)
            gpu->peak[i] *= factor;
        break;
    case LINKS:
        gpu->link *= factor;
        gpu->pcie *= factor;
        gpu->network *= factor;
        break;
    case MEMORY:
        gpu->memory *= factor;
        gpu->driver_memory *= factor;
        break;
    case PARTS: break;
    }
}

/* The larger is no worse, but for rounding. */
static bool no_less(double larger, double smaller)
{
    return larger >= smaller - 1e-9 * fabs(smaller);
}

static const char *slower(const struct pm_case *input, const struct pm_service *old,
                          const struct pm_service *new, enum part part)
{
    if (part == MEMORY) {
        double part_of_steps =
            old->prefill_step_share > 1 || new->prefill_step_share > 1 ? 1 / input->output : 0;
        return no_less(new->throughput, old->throughput * (1 - part_of_steps)) ? NULL : "throughput falls";
    }
    if (!no_less(new->throughput, old->throughput))
        return "throughput falls";
    if (!no_less(old->latency, new->latency))
        return "a request takes longer";
    return !no_less(old->tpot, new->tpot)   ? "a token takes longer"
           : !no_less(old->ttft, new->ttft) ? "the first token takes longer"
                                            : NULL;
}

/* On a card that does nothing but read prompts, each of the others' prefills is met once in a request: before
 * its first token (a share of first_wave, and in the steps until it is streamed) or in its later steps. With
 * no host time and launches that sequences could share, (steps after the first) * interference and the waits
 * come to (output - 1) / output of their prefills. */
Test(model_monotone, prefills_of_others_are_met_once)
{
    struct result_fixture fixture = result_open(
        "engine bare : vllm { operation_time = 0 s  request_time = 0 s  first_wave = 0.1  stream_interval = "
        "3 }\n"
        "scenario chat { model = llama-3.1-8b  gpu = apple-m3-max-40  engine = bare  prompt = 40000  output = 50\n"
        "  batch = 2 }\n");
    const struct evaluation *evaluation =
        evaluate_scenario(fixture.evaluator, plan_find(fixture.plan, KIND_SCENARIO, "chat"));
    const struct pm_service *expected = &evaluation->result.expected;
    cr_assert(evaluation->valid && expected->running == 2 && expected->prefill_step_share < 1);
    double waits = (0.1 + 3 / 50.0) * expected->prefill_share;
    double steps = 49 * expected->interference - 3 * (expected->prefill_share / 50 - expected->interference);
    cr_expect_float_eq(waits + steps, expected->prefill_share * 49 / 50, 1e-9 * waits, "%g + %g of %g", waits,
                       steps, expected->prefill_share);
    result_close(&fixture);
}

/* Few sequences whose weights and cache the last-level cache holds may be faster than many: at the ceiling
 * they read nothing from memory. So with more memory cards are compared without one. */
static struct pm_result result_of(const struct pm_case *input, enum part part, double factor)
{
    struct pm_gpu gpu = *input->gpu;
    struct pm_case changed = *input;
    struct pm_result result;
    changed.gpu = &gpu;
    gpu.cache = part == MEMORY ? 0 : gpu.cache;
    better(&gpu, part, factor);
    pm_evaluate(&changed, &result);
    return result;
}

Test(model_monotone, better_cards_are_never_slower)
{
    struct arena *arena = arena_new();
    struct result_fixture fixture = result_open(all_pairs(arena));
    size_t valid = 0, slow = 0;
    const struct plan_view *view = plan_view(fixture.plan);
    for (size_t i = 0; i < view->scenarios.count; i++) {
        struct decl *scenario = view->scenarios.items[i];
        const struct evaluation *evaluation = evaluate_scenario(fixture.evaluator, scenario);
        if (!evaluation->valid || evaluation->result.hypothetical)
            continue;
        valid++;
        for (enum part part = 0; part < PARTS; part++) {
            const struct pm_case *input = &evaluation->binding.input;
            struct pm_result old = part == MEMORY ? result_of(input, part, 1) : evaluation->result;
            struct pm_result new = result_of(input, part, 2);
            const char *ceiling = slower(input, &old.ceiling, &new.ceiling, part);
            const char *expected = slower(input, &old.expected, &new.expected, part);
            if (!ceiling && !expected)
                continue;
            slow++;
            cr_log_error("%s of %s, %s, %s: twice the %s: %s", ceiling ? "ceiling" : "expected reading",
                         scenario->name, evaluation->binding.model->decl->name,
                         evaluation->binding.gpu->decl->name, part_names[part], ceiling ? ceiling : expected);
        }
    }
    cr_expect(valid > view->scenarios.count / 8, "only %zu cases are valid", valid);
    cr_expect_eq(slow, 0, "%zu of %zu", slow, valid * PARTS);
    result_close(&fixture);
    arena_free(arena);
}
