/* build_verdict.c: the one sentence a reader takes away. */
#include <math.h>

#include "base/arena.h"
#include "result/assertion.h"
#include "result/build_internal.h"

/* "2 of 3 assertions hold". */
static void say_assertions(struct builder *builder)
{
    size_t all = builder->report->assertions.count, held = assertions_held(builder->report);
    if (all == 0)
        return;
    struct rich_text *out = &builder->report->verdict;
    enum tone tone = held == all ? TONE_GOOD : TONE_BAD;
    const char *of = arena_printf(builder->arena, "%zu", all);
    if (all == 1)
        say(builder, out, tone, held == 1 ? M_THE_ASSERTION_HOLDS : M_THE_ASSERTION_FAILS);
    else if (held == all)
        SAY(builder, out, tone, M_ALL_ASSERTIONS_HOLD, of);
    else if (held == 0)
        SAY(builder, out, tone, M_NO_ASSERTION_HOLDS, of);
    else
        SAY(builder, out, tone, held == 1 ? M_ONE_ASSERTION_HOLDS : M_SOME_ASSERTIONS_HOLD,
            arena_printf(builder->arena, "%zu", held), of);
}

/* " (22 % less than today)", naming the base the first time. */
static void say_difference(struct builder *builder, struct decl *scenario, struct decl *base,
                           enum quantity quantity, bool name_base)
{
    double value = evaluate_number(builder->evaluator, scenario, quantity, -1);
    double old = evaluate_number(builder->evaluator, base, quantity, -1);
    struct dim dim = evaluate_dim(builder->evaluator, scenario, quantity);
    if (value < 0 || old <= 0 || !dim_equal(dim, evaluate_dim(builder->evaluator, base, quantity)))
        return;
    struct rich_text *out = &builder->report->verdict;
    double change = value / old - 1;
    const char *percent = percent_text(builder, change);
    if (change == 0 && name_base)
        SAY(builder, out, TONE_PLAIN, M_AS_MUCH_AS_BASE, base->name);
    else if (change == 0)
        say(builder, out, TONE_PLAIN, M_AS_MUCH);
    else if (name_base)
        SAY(builder, out, TONE_PLAIN, change < 0 ? M_LESS_THAN_BASE : M_MORE_THAN_BASE, percent, base->name);
    else
        SAY(builder, out, TONE_PLAIN, change < 0 ? M_LESS_IN_BRACKETS : M_MORE_IN_BRACKETS, percent);
}

/* "chat serves 64 users". */
static void say_load(struct builder *builder, const struct evaluation *evaluation)
{
    const struct pm_case *input = &evaluation->binding.input;
    bool one = input->batch == 1;
    SAY(builder, &builder->report->verdict, TONE_PLAIN,
        input->static_step ? one ? M_DECODES_ONE : M_DECODES_MANY
        : one              ? M_SERVES_ONE
                           : M_SERVES_MANY,
        evaluation->scenario->name, count_text(builder, input->batch));
}

/* Time per token and cost, where they exist; against `base` unless it is NULL. */
static void say_service(struct builder *builder, const struct evaluation *evaluation, struct decl *base)
{
    struct decl *scenario = evaluation->scenario;
    struct rich_text *out = &builder->report->verdict;
    say_load(builder, evaluation);
    if (evaluation->result.expected.tpot >= 0) {
        SAY(builder, out, TONE_PLAIN, M_AT_TPOT, evaluate_text(builder->evaluator, scenario, Q_TPOT));
        if (base != NULL)
            say_difference(builder, scenario, base, Q_TPOT, true);
    } else if (evaluation->result.expected.ttft >= 0) {
        SAY(builder, out, TONE_PLAIN, M_AT_TTFT, evaluate_text(builder->evaluator, scenario, Q_TTFT));
    }
    if (evaluate_row(builder->evaluator, scenario, Q_COST_PER_MTOK).type != QUANTITY_NUMBER)
        return;
    SAY(builder, out, TONE_PLAIN, M_AT_COST, evaluate_text(builder->evaluator, scenario, Q_COST_PER_MTOK));
    if (base != NULL)
        say_difference(builder, scenario, base, Q_COST_PER_MTOK, false);
}

static void say_scenario(struct builder *builder, const struct evaluation *evaluation, struct decl *base)
{
    struct rich_text *out = &builder->report->verdict;
    const char *name = evaluation->scenario->name;
    if (!evaluation->valid)
        SAY(builder, out, TONE_PLAIN, M_HAS_NO_RESULT, name, phrase(builder, evaluation->why));
    else if (!evaluation->result.memory.fits)
        SAY(builder, out, TONE_PLAIN,
            evaluation->result.gpus > 1 ? M_DOES_NOT_FIT_ON_FULLEST : M_DOES_NOT_FIT_SHORT_BY, name,
            memory_text(builder, evaluation->result.memory.shortfall));
    else
        say_service(builder, evaluation, base);
}

/* The last scenario of a comparison against its first, when both run. */
static void say_comparison(struct builder *builder, const struct comparison *comparison)
{
    struct decl *base = comparison->scenarios[0];
    struct decl *last = comparison->scenarios[comparison->count - 1];
    const struct evaluation *first = evaluate_scenario(builder->evaluator, base);
    bool comparable = first->valid && first->result.memory.fits;
    say_scenario(builder, evaluate_scenario(builder->evaluator, last), comparable ? base : NULL);
}

static size_t count_fitting(const struct builder *builder)
{
    size_t count = 0;
    for (size_t i = 0; i < builder->count; i++)
        count += builder->scenarios[i]->valid && builder->scenarios[i]->result.memory.fits;
    return count;
}

static void say_all(struct builder *builder)
{
    size_t fitting = count_fitting(builder), count = builder->count;
    struct rich_text *out = &builder->report->verdict;
    const char *all = count_text(builder, (double)count);
    bool begins = out->runs.count == 0;
    if (fitting == count && count == 2)
        say(builder, out, TONE_PLAIN, begins ? M_BOTH_FIT_BEGINS : M_BOTH_FIT);
    else if (fitting == count)
        SAY(builder, out, TONE_PLAIN, begins ? M_ALL_FIT_BEGINS : M_ALL_FIT, all);
    else
        SAY(builder, out, fitting == 0 ? TONE_BAD : TONE_PLAIN, fitting == 1 ? M_ONE_FITS : M_SOME_FIT,
            count_text(builder, (double)fitting), all);
    const struct evaluation *fastest = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct evaluation *each = builder->scenarios[i];
        if (each->valid && each->result.memory.fits && each->result.expected.tpot >= 0 &&
            (fastest == NULL || each->result.expected.tpot < fastest->result.expected.tpot))
            fastest = each;
    }
    if (fastest != NULL)
        SAY(builder, out, TONE_PLAIN, M_AND_THE_FASTEST, fastest->scenario->name,
            evaluate_text(builder->evaluator, fastest->scenario, Q_TPOT));
}

static enum tone verdict_tone(const struct builder *builder)
{
    size_t all = builder->report->assertions.count;
    if (all > 0)
        return assertions_held(builder->report) == all ? TONE_GOOD : TONE_BAD;
    if (builder->count == 0)
        return TONE_PLAIN;
    return count_fitting(builder) == builder->count ? TONE_PLAIN : TONE_BAD;
}

void build_verdict(struct builder *builder)
{
    struct rich_text *out = &builder->report->verdict;
    say_assertions(builder);
    if (builder->report->assertions.count > 0 && builder->count > 0)
        say(builder, out, TONE_PLAIN, M_NEXT_CLAUSE);
    if (builder->count == 0 && builder->report->assertions.count == 0)
        say(builder, out, TONE_PLAIN, M_NO_SCENARIO);
    else if (builder->view->comparisons.count > 0)
        say_comparison(builder, &builder->view->comparisons.items[0]);
    else if (builder->count == 1)
        say_scenario(builder, builder->scenarios[0], NULL);
    else if (builder->count > 1)
        say_all(builder);
    say(builder, out, TONE_PLAIN, M_FULL_STOP);
    builder->report->verdict_tone = verdict_tone(builder);
}
