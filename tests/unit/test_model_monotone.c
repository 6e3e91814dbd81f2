/* test_model_monotone.c: a better card is never slower. Every model of the catalogue on every card, each pair
 * under a load of its own that follows from the two names, so that a longer catalogue adds pairs and changes
 * none: with twice the bandwidth, peaks or links no time grows and no rate falls, and with twice the memory
 * no work is lost. (With more memory more sequences run at once, so that each of their tokens may take
 * longer; the wait that others are spared is worth more.) */
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

/* Tokens per second, but for the waits for prefills of others before the first token: more sequences wait
 * longer, and only their work is sure to become cheaper. */
static double work_rate(const struct pm_case *input, const struct pm_service *service)
{
    double waits = service->wave_time;
    if (service->tpot > 0)
        waits += service->stream_time * service->interference / service->tpot;
    return service->running * input->output / (service->latency - service->queueing - waits);
}

static const char *slower(const struct pm_case *input, const struct pm_service *old,
                          const struct pm_service *new, enum part part)
{
    if (part == MEMORY) {
        double part_of_steps =
            old->prefill_step_share > 1 || new->prefill_step_share > 1 ? 1 / input->output : 0;
        return no_less(work_rate(input, new), work_rate(input, old) * (1 - part_of_steps))
                   ? NULL
                   : "throughput falls";
    }
    if (!no_less(new->throughput, old->throughput))
        return "throughput falls";
    if (!no_less(old->latency, new->latency))
        return "a request takes longer";
    return !no_less(old->tpot, new->tpot)   ? "a token takes longer"
           : !no_less(old->ttft, new->ttft) ? "the first token takes longer"
                                            : NULL;
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
            struct pm_gpu gpu = *evaluation->binding.input.gpu;
            struct pm_case input = evaluation->binding.input;
            struct pm_result result;
            input.gpu = &gpu;
            better(&gpu, part, 2);
            pm_evaluate(&input, &result);
            const char *ceiling = slower(&input, &evaluation->result.ceiling, &result.ceiling, part);
            const char *expected = slower(&input, &evaluation->result.expected, &result.expected, part);
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
