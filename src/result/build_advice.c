/* build_advice.c: what bounds a scenario, and what would make it fit. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "result/build_internal.h"

/* ---- what bounds it ------------------------------------------------------------------------- */

/* The tokens of a step: of a micro-batch, where a pipeline has several in flight, with their drafts. */
static const char *moved_per(struct builder *builder, const struct evaluation *evaluation)
{
    const struct pm_case *input = &evaluation->binding.input;
    double decoding = evaluation->result.expected.decoding;
    double tokens = decoding / fmax(1, fmin(input->pp, decoding)) * (1 + fmax(0, input->draft_tokens));
    if (tokens <= 1)
        return words(builder, M_PER_TOKEN);
    return WORDS(builder, M_PER_STEP_OF_TOKENS, count_text(builder, tokens));
}

static void say_traffic(struct builder *builder, const struct evaluation *evaluation, bool weights,
                        struct rich_text *out)
{
    const struct pm_step *step = &evaluation->result.decode;
    /* At the ceiling the last-level cache may spare some of it. */
    double all = fmax(step->bytes_moved, step->weights_moved + step->kv_moved);
    static const enum message said[2][2] = {{M_BOUND_BY_CACHE, M_BOUND_BY_CACHE_EACH},
                                            {M_BOUND_BY_WEIGHTS, M_BOUND_BY_WEIGHTS_EACH}};
    SAY(builder, out, TONE_PLAIN, said[weights][evaluation->result.gpus > 1],
        data_text(builder, weights ? step->weights_moved : step->kv_moved), data_text(builder, all),
        moved_per(builder, evaluation));
}

/* The time of a bound, and of the step it is part of. */
static const char *term_text(struct builder *builder, const struct evaluation *evaluation,
                             enum pm_bound bound)
{
    return time_text(builder, evaluation->result.decode.term[bound]);
}

static const char *step_text(struct builder *builder, const struct evaluation *evaluation)
{
    return time_text(builder, evaluation->result.decode.time);
}

static void say_compute(struct builder *builder, const struct evaluation *evaluation, struct rich_text *out)
{
    const struct pm_ceiling *ceiling = &evaluation->result.decode_ceiling;
    const struct dim dim = {{[DIM_WORK] = 1, [DIM_DATA] = -1}};
    const char *term = term_text(builder, evaluation, PM_BOUND_COMPUTE),
               *step = step_text(builder, evaluation);
    if (ceiling->intensity >= ceiling->balance && ceiling->balance > 0)
        SAY(builder, out, TONE_PLAIN, M_BOUND_BY_ARITHMETIC_AT, term, step,
            quantity_text_against(builder->arena, ceiling->intensity, ceiling->balance, dim),
            quantity_text_against(builder->arena, ceiling->balance, ceiling->intensity, dim));
    else
        SAY(builder, out, TONE_PLAIN, M_BOUND_BY_ARITHMETIC, term, step);
}

/* A closed loop spends part of each token's time on prompts that other users bring. */
static void say_interference(struct builder *builder, const struct evaluation *evaluation,
                             struct rich_text *out)
{
    const struct pm_service *expected = &evaluation->result.expected;
    const double worth_saying = 0.1;
    if (expected->tpot <= 0 || expected->interference < worth_saying * expected->tpot)
        return;
    SAY(builder, out, TONE_PLAIN, M_PROMPTS_OF_OTHERS, time_text(builder, expected->tpot),
        time_text(builder, expected->interference));
}

/* What drafts bring, and how far they do. */
static void say_speculation(struct builder *builder, const struct evaluation *evaluation,
                            struct rich_text *out)
{
    const struct pm_result *result = &evaluation->result;
    const struct pm_speculation *drafts = &result->speculation;
    if (!(drafts->plain_step > 0) || result->expected.decode_step < 0)
        return;
    const char *factor = count_text(builder, drafts->speedup);
    const char *tokens = count_text(builder, result->expected.tokens_per_step);
    const char *step = time_text(builder, result->expected.decode_step);
    const char *plain = time_text(builder, drafts->plain_step);
    if (drafts->speedup < 1 || drafts->break_even_acceptance < 0) {
        SAY(builder, out, TONE_PLAIN, M_DRAFTS_COST, factor, tokens, step, plain);
        return;
    }
    SAY(builder, out, TONE_PLAIN, M_DRAFTS_GAIN, factor, tokens, step, plain,
        count_text(builder, drafts->break_even_acceptance));
    if (drafts->break_even_batch > 0)
        SAY(builder, out, TONE_PLAIN, M_DRAFTS_UP_TO, count_text(builder, drafts->break_even_batch));
}

static void say_reservations(struct builder *builder, const struct evaluation *evaluation,
                             struct rich_text *out)
{
    const struct pm_result *result = &evaluation->result;
    const struct pm_case *input = &evaluation->binding.input;
    if (result->hypothetical)
        say(builder, out, TONE_WARN,
            result->memory.max_batch < 1 ? M_TIMES_IF_ONE_FITTED : M_TIMES_IF_IT_FITTED);
    else if (result->expected.running < input->batch)
        SAY(builder, out, TONE_WARN, M_SOME_RUN_THE_REST_WAITS, count_text(builder, result->expected.running),
            count_text(builder, input->batch));
    if (!result->verified && !evaluation->binding.engine_values.ideal)
        say(builder, out, TONE_MUTED, M_NOT_MEASURED);
}

void say_bound(struct builder *builder, const struct evaluation *evaluation, struct rich_text *out)
{
    const struct pm_result *result = &evaluation->result;
    const char *step = step_text(builder, evaluation);
    switch (result->decode.bound) {
    case PM_BOUND_WEIGHTS: say_traffic(builder, evaluation, true, out); break;
    case PM_BOUND_KV: say_traffic(builder, evaluation, false, out); break;
    case PM_BOUND_COMPUTE: say_compute(builder, evaluation, out); break;
    case PM_BOUND_COMMUNICATION:
        SAY(builder, out, TONE_PLAIN, M_BOUND_BY_COMMUNICATION,
            term_text(builder, evaluation, PM_BOUND_COMMUNICATION), step,
            count_text(builder, result->decode.allreduces));
        break;
    case PM_BOUND_FIXED:
    case PM_BOUND_COUNT:
        SAY(builder, out, TONE_PLAIN, M_BOUND_BY_FIXED_TIMES, term_text(builder, evaluation, PM_BOUND_FIXED),
            step, count_text(builder, result->decode.launches));
        break;
    }
    say_speculation(builder, evaluation, out);
    say_interference(builder, evaluation, out);
    say_reservations(builder, evaluation, out);
}

/* ---- what would make it fit ----------------------------------------------------------------- */

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
    return alone->valid && memory->max_context_limit == PM_LIMIT_MEMORY ? memory->max_context : 0;
}

static void offer_smaller_load(struct builder *builder, const struct evaluation *evaluation,
                               struct offers *offers)
{
    const struct pm_memory *memory = &evaluation->result.memory;
    const struct pm_case *input = &evaluation->binding.input;
    if (memory->max_batch >= 1 && memory->max_batch < input->batch)
        offer(builder, offers, input->batch / memory->max_batch,
              WORDS(builder, M_OFFER_BATCH, count_text(builder, memory->max_batch)));
    double length = evaluation->result.sequence_length, context = longest(builder, evaluation);
    if (context >= 1 && context < length)
        offer(builder, offers, length / context,
              WORDS(builder, input->static_step ? M_OFFER_CONTEXT : M_OFFER_LENGTH,
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
                         enum attribute attribute, struct decl *in_use, const char *name, enum message text)
{
    struct value value = {.type = VALUE_DECL, .decl = narrower(builder, in_use, name)};
    if (value.decl == NULL || !variant_fits(builder, evaluation, &attribute, &value, 1))
        return false;
    offer(builder, offers, bits_of(builder, in_use) / bits_of(builder, value.decl), words(builder, text));
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

/* How more GPUs are worded: more in a group, more groups in a row, or both. */
struct more_gpus {
    enum message tp, pp, both;
};

/* The fewest GPUs: a doubling of tp, or where a node has not enough of them, stages of such groups. */
static bool offer_more_gpus(struct builder *builder, const struct evaluation *evaluation,
                            struct offers *offers, struct decl *format, const struct more_gpus *said)
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
    const char *tp = arena_printf(builder->arena, "%.0f", best_tp);
    const char *pp = arena_printf(builder->arena, "%.0f", best_pp);
    const char *text = best_pp == input->pp   ? WORDS(builder, said->tp, tp)
                       : best_tp == input->tp ? WORDS(builder, said->pp, pp)
                                              : WORDS(builder, said->both, tp, pp);
    offer(builder, offers, best_tp * best_pp / (input->tp * input->pp), text);
    return true;
}

/* Two changes at once, when no single one is enough. */
static void offer_pairs(struct builder *builder, const struct evaluation *evaluation, struct offers *offers)
{
    static const struct {
        const char *format;
        struct more_gpus said;
    } pairs[] = {{"fp8", {M_OFFER_TP_8_BIT, M_OFFER_PP_8_BIT, M_OFFER_TP_PP_8_BIT}},
                 {"int4", {M_OFFER_TP_4_BIT, M_OFFER_PP_4_BIT, M_OFFER_TP_PP_4_BIT}}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        struct decl *format = narrower(builder, evaluation->binding.model->weights, pairs[i].format);
        if (format != NULL && offer_more_gpus(builder, evaluation, offers, format, &pairs[i].said))
            return;
    }
}

void say_how_to_fit(struct builder *builder, const struct evaluation *evaluation, struct rich_text *out)
{
    const struct pm_memory *memory = &evaluation->result.memory;
    const struct bound_model *model = evaluation->binding.model;
    static const struct more_gpus more_gpus = {M_OFFER_TP, M_OFFER_PP, M_OFFER_TP_PP};
    struct offers offers = {0};
    offer_smaller_load(builder, evaluation, &offers);
    offer_format(builder, evaluation, &offers, ATTR_KV_CACHE, model->kv_cache, "fp8", M_OFFER_KV_8_BIT);
    if (!offer_format(builder, evaluation, &offers, ATTR_WEIGHTS, model->weights, "fp8", M_OFFER_8_BIT))
        offer_format(builder, evaluation, &offers, ATTR_WEIGHTS, model->weights, "int4", M_OFFER_4_BIT);
    offer_more_gpus(builder, evaluation, &offers, NULL, &more_gpus);
    if (offers.list.count == 0)
        offer_pairs(builder, evaluation, &offers);

    SAY(builder, out, TONE_BAD, evaluation->result.gpus > 1 ? M_SHORT_ON_FULLEST_SENTENCE : M_SHORT_SENTENCE,
        memory_text(builder, memory->shortfall));
    if (offers.list.count == 0) {
        say(builder, out, TONE_PLAIN, M_NOTHING_MAKES_IT_FIT);
        return;
    }
    say(builder, out, TONE_PLAIN, M_IT_FITS_WITH);
    for (size_t i = 0; i < offers.list.count; i++) {
        if (i > 0)
            say(builder, out, TONE_PLAIN, M_OR);
        rich_add(builder->arena, out, TONE_STRONG, offers.list.items[i].text);
        if (i == 0 && offers.list.count > 1 && offers.list.items[1].factor > offers.list.items[0].factor)
            say(builder, out, TONE_PLAIN, M_THE_SMALLEST_CHANGE);
    }
    say(builder, out, TONE_PLAIN, M_FULL_STOP);
}
