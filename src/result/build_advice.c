/* build_advice.c: what bounds a scenario, and what would make it fit. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "result/build_internal.h"

/* ---- what bounds it ------------------------------------------------------------------------- */

static const char *moved_per(struct builder *builder, const struct evaluation *evaluation)
{
    double running = evaluation->result.ceiling.running;
    if (running <= 1)
        return "token";
    return arena_printf(builder->arena, "step of %s tokens", count_text(builder, running));
}

static void say_traffic(struct builder *builder, const struct evaluation *evaluation, const char *what,
                        double part, struct rich_text *out)
{
    const struct pm_ceiling *ceiling = &evaluation->result.decode_ceiling;
    double all = ceiling->weight_traffic + ceiling->kv_traffic;
    rich_addf(builder->arena, out, TONE_PLAIN, "Decode is bound by reading %s: ", what);
    rich_addf(builder->arena, out, TONE_STRONG, "%s of the %s", data_text(builder, part),
              data_text(builder, all));
    rich_addf(builder->arena, out, TONE_PLAIN, " moved per %s%s.", moved_per(builder, evaluation),
              evaluation->result.gpus > 1 ? " on each GPU" : "");
}

static void say_share(struct builder *builder, const struct evaluation *evaluation, enum pm_bound bound,
                      const char *what, struct rich_text *out)
{
    const struct pm_step *step = &evaluation->result.decode;
    rich_addf(builder->arena, out, TONE_PLAIN, "Decode is bound by %s: ", what);
    rich_addf(builder->arena, out, TONE_STRONG, "%s of the %s step", time_text(builder, step->term[bound]),
              time_text(builder, step->time));
}

static void say_compute(struct builder *builder, const struct evaluation *evaluation, struct rich_text *out)
{
    const struct pm_ceiling *ceiling = &evaluation->result.decode_ceiling;
    const struct dim dim = {{[DIM_WORK] = 1, [DIM_DATA] = -1}};
    say_share(builder, evaluation, PM_BOUND_COMPUTE, "arithmetic", out);
    if (ceiling->intensity >= ceiling->balance && ceiling->balance > 0)
        rich_addf(builder->arena, out, TONE_PLAIN, ", at an intensity of %s against a balance of %s.",
                  quantity_text_against(builder->arena, ceiling->intensity, ceiling->balance, dim),
                  quantity_text_against(builder->arena, ceiling->balance, ceiling->intensity, dim));
    else
        rich_add(builder->arena, out, TONE_PLAIN, ".");
}

/* A closed loop spends part of each token's time on prompts that other users bring. */
static void say_interference(struct builder *builder, const struct evaluation *evaluation,
                             struct rich_text *out)
{
    const struct pm_service *expected = &evaluation->result.expected;
    const double worth_saying = 0.1;
    if (expected->tpot <= 0 || expected->interference < worth_saying * expected->tpot)
        return;
    rich_addf(builder->arena, out, TONE_PLAIN, " Of the %s per token, ", time_text(builder, expected->tpot));
    rich_add(builder->arena, out, TONE_STRONG, time_text(builder, expected->interference));
    rich_add(builder->arena, out, TONE_PLAIN, " pass while prompts of other users are read.");
}

static void say_reservations(struct builder *builder, const struct evaluation *evaluation,
                             struct rich_text *out)
{
    const struct pm_result *result = &evaluation->result;
    const struct pm_case *input = &evaluation->binding.input;
    if (result->hypothetical)
        rich_add(builder->arena, out, TONE_WARN,
                 result->memory.max_batch < 1
                     ? " Not one sequence fits: all times are what they would be if it did."
                     : " All times are what they would be if it fitted.");
    else if (result->expected.running < input->batch)
        rich_addf(builder->arena, out, TONE_WARN,
                  " Memory lets %s of %s sequences run at once; the rest wait.",
                  count_text(builder, result->expected.running), count_text(builder, input->batch));
    if (!result->verified && !evaluation->binding.engine_values.ideal)
        rich_add(builder->arena, out, TONE_MUTED,
                 " No serving measurement stands behind this case, so the band is wide.");
}

void say_bound(struct builder *builder, const struct evaluation *evaluation, struct rich_text *out)
{
    const struct pm_result *result = &evaluation->result;
    switch (result->decode.bound) {
    case PM_BOUND_WEIGHTS:
        say_traffic(builder, evaluation, "weights", result->decode_ceiling.weight_traffic, out);
        break;
    case PM_BOUND_KV:
        say_traffic(builder, evaluation, "the KV cache", result->decode_ceiling.kv_traffic, out);
        break;
    case PM_BOUND_COMPUTE: say_compute(builder, evaluation, out); break;
    case PM_BOUND_COMMUNICATION:
        say_share(builder, evaluation, PM_BOUND_COMMUNICATION, "communication between GPUs", out);
        rich_addf(builder->arena, out, TONE_PLAIN, ", for %s all-reduces.",
                  count_text(builder, result->decode.allreduces));
        break;
    case PM_BOUND_FIXED:
    case PM_BOUND_COUNT:
        say_share(builder, evaluation, PM_BOUND_FIXED, "fixed times", out);
        rich_addf(builder->arena, out, TONE_PLAIN, ", for launching %s operations and for the host.",
                  count_text(builder, result->decode.launches));
        break;
    }
    say_interference(builder, evaluation, out);
    say_reservations(builder, evaluation, out);
}

/* ---- what would make it fit ----------------------------------------------------------------- */

/* Rounded down to two digits, so that what is offered still fits: 3417 gives 3400. */
static double round_down(double value)
{
    double unit = 1;
    while (value / unit >= 100)
        unit *= 10;
    return floor(value / unit) * unit;
}

static bool variant_fits(struct builder *builder, const struct evaluation *evaluation,
                         const enum attribute *attributes, const struct value *values, size_t count)
{
    struct decl *variant = plan_variant(builder->plan, evaluation->scenario, evaluation->scenario->name,
                                        attributes, values, count);
    const struct evaluation *result = evaluate_variant(builder->evaluator, variant);
    return result->valid && result->result.memory.fits;
}

/* Changes that make it fit, and the factor by which each changes the plan: half the sequences, half the
 * length, half the bits and twice the GPUs are all 2. */
struct offer {
    const char *text;
    double factor;
};

struct offers {
    VEC(struct offer) list;
};

/* Smaller changes stand first, equal ones in the order in which they were found. */
static void offer(struct builder *builder, struct offers *offers, double factor, const char *text)
{
    VEC_PUSH(builder->arena, offers->list);
    size_t place = offers->list.count - 1;
    for (; place > 0 && offers->list.items[place - 1].factor > factor; place--)
        offers->list.items[place] = offers->list.items[place - 1];
    offers->list.items[place] = (struct offer){text, factor};
}

/* Longest sequence that fits: all of a static step at once, one of a closed loop, where the rest waits. */
static double longest(struct builder *builder, const struct evaluation *evaluation)
{
    const enum attribute attribute = ATTR_BATCH;
    const struct value one = {.type = VALUE_NUMBER, .number = 1};
    const struct evaluation *alone = evaluation;
    if (!evaluation->binding.input.static_step)
        alone = evaluate_variant(builder->evaluator,
                                 plan_variant(builder->plan, evaluation->scenario, evaluation->scenario->name,
                                              &attribute, &one, 1));
    const struct pm_memory *memory = &alone->result.memory;
    return alone->valid && memory->max_context_limit == PM_LIMIT_MEMORY ? round_down(memory->max_context) : 0;
}

static void offer_smaller_load(struct builder *builder, const struct evaluation *evaluation,
                               struct offers *offers)
{
    const struct pm_memory *memory = &evaluation->result.memory;
    const struct pm_case *input = &evaluation->binding.input;
    if (memory->max_batch >= 1 && memory->max_batch < input->batch)
        offer(builder, offers, input->batch / memory->max_batch,
              arena_printf(builder->arena, "batch \xE2\x89\xA4 %s", count_text(builder, memory->max_batch)));
    double length = evaluation->result.sequence_length, context = longest(builder, evaluation);
    if (context >= 1 && context < length)
        offer(builder, offers, length / context,
              arena_printf(builder->arena, "%s \xE2\x89\xA4 %s",
                           input->static_step ? "context" : "prompt + output",
                           quantity_text(builder->arena, context, (struct dim){{[DIM_TOKEN] = 1}})));
}

static double bits_of(struct builder *builder, struct decl *format)
{
    return plan_number(builder->plan, format, ATTR_FORMAT_BITS, 0);
}

/* The format of this name when it has fewer bits than the one in use; else NULL. */
static struct decl *narrower(struct builder *builder, struct decl *in_use, const char *name)
{
    struct decl *format = plan_find(builder->plan, KIND_FORMAT, name);
    if (format == NULL || in_use == NULL || bits_of(builder, format) >= bits_of(builder, in_use))
        return NULL;
    return format;
}

static bool offer_format(struct builder *builder, const struct evaluation *evaluation, struct offers *offers,
                         enum attribute attribute, struct decl *in_use, const char *name, const char *text)
{
    struct value value = {.type = VALUE_DECL, .decl = narrower(builder, in_use, name)};
    if (value.decl == NULL || !variant_fits(builder, evaluation, &attribute, &value, 1))
        return false;
    offer(builder, offers, bits_of(builder, in_use) / bits_of(builder, value.decl), text);
    return true;
}

enum { WAYS_MAX = 64, STAGES_MAX = 8 };

/* Whether it fits over tp * pp GPUs, together with a weight format unless that is NULL. */
static bool fits_over(struct builder *builder, const struct evaluation *evaluation, double tp, double pp,
                      struct decl *format)
{
    const enum attribute attributes[] = {ATTR_TP, ATTR_PP, ATTR_WEIGHTS};
    const struct value values[] = {{.type = VALUE_NUMBER, .number = tp},
                                   {.type = VALUE_NUMBER, .number = pp},
                                   {.type = VALUE_DECL, .decl = format}};
    return variant_fits(builder, evaluation, attributes, values, format == NULL ? 2 : 3);
}

/* The fewest GPUs: a doubling of tp, or where a node has not enough of them, stages of such groups. */
static bool offer_more_gpus(struct builder *builder, const struct evaluation *evaluation,
                            struct offers *offers, struct decl *format, const char *with)
{
    const struct pm_case *input = &evaluation->binding.input;
    double best_tp = 0, best_pp = 0;
    for (double tp = 2 * input->tp; tp <= WAYS_MAX && best_tp == 0; tp *= 2)
        if (fits_over(builder, evaluation, tp, input->pp, format))
            best_tp = tp, best_pp = input->pp;
    for (double pp = input->pp + 1; pp <= STAGES_MAX && best_pp != input->pp; pp++)
        for (double tp = input->tp; tp <= WAYS_MAX; tp *= 2)
            if ((best_tp == 0 || tp * pp < best_tp * best_pp) &&
                fits_over(builder, evaluation, tp, pp, format))
                best_tp = tp, best_pp = pp;
    if (best_tp == 0)
        return false;
    const char *text = best_pp == input->pp   ? arena_printf(builder->arena, "tp = %.0f%s", best_tp, with)
                       : best_tp == input->tp ? arena_printf(builder->arena, "pp = %.0f%s", best_pp, with)
                                              : arena_printf(builder->arena, "tp = %.0f and pp = %.0f%s",
                                                             best_tp, best_pp, with);
    offer(builder, offers, best_tp * best_pp / (input->tp * input->pp), text);
    return true;
}

/* Two changes at once, when no single one is enough. */
static void offer_pairs(struct builder *builder, const struct evaluation *evaluation, struct offers *offers)
{
    static const struct {
        const char *format, *with;
    } pairs[] = {{"fp8", " and 8-bit weights"}, {"int4", " and 4-bit weights"}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        struct decl *format = narrower(builder, evaluation->binding.model->weights, pairs[i].format);
        if (format != NULL && offer_more_gpus(builder, evaluation, offers, format, pairs[i].with))
            return;
    }
}

void say_how_to_fit(struct builder *builder, const struct evaluation *evaluation, struct rich_text *out)
{
    const struct pm_memory *memory = &evaluation->result.memory;
    const struct bound_model *model = evaluation->binding.model;
    struct offers offers = {0};
    offer_smaller_load(builder, evaluation, &offers);
    offer_format(builder, evaluation, &offers, ATTR_KV_CACHE, model->kv_cache, "fp8", "an 8-bit KV cache");
    if (!offer_format(builder, evaluation, &offers, ATTR_WEIGHTS, model->weights, "fp8", "8-bit weights"))
        offer_format(builder, evaluation, &offers, ATTR_WEIGHTS, model->weights, "int4", "4-bit weights");
    offer_more_gpus(builder, evaluation, &offers, NULL, "");
    if (offers.list.count == 0)
        offer_pairs(builder, evaluation, &offers);

    rich_addf(builder->arena, out, TONE_BAD, "Short by %s%s.", memory_text(builder, memory->shortfall),
              evaluation->result.gpus > 1 ? " on the fullest GPU" : "");
    if (offers.list.count == 0) {
        rich_add(builder->arena, out, TONE_PLAIN,
                 " No change of batch, length, formats or parallelism makes it fit.");
        return;
    }
    rich_add(builder->arena, out, TONE_PLAIN, " It fits with ");
    for (size_t i = 0; i < offers.list.count; i++) {
        rich_add(builder->arena, out, TONE_PLAIN, i == 0 ? "" : ", or ");
        rich_add(builder->arena, out, TONE_STRONG, offers.list.items[i].text);
        if (i == 0 && offers.list.count > 1 && offers.list.items[1].factor > offers.list.items[0].factor)
            rich_add(builder->arena, out, TONE_PLAIN, ", the smallest change");
    }
    rich_add(builder->arena, out, TONE_PLAIN, ".");
}
