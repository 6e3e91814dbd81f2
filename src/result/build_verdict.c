/* build_verdict.c: the one sentence a reader takes away. */
#include <math.h>

#include "base/arena.h"
#include "result/assertion.h"
#include "result/build_internal.h"

static void say(struct builder *builder, enum tone tone, const char *text)
{
    rich_add(builder->arena, &builder->report->verdict, tone, text);
}

/* "2 of 3 assertions hold; ". */
static void say_assertions(struct builder *builder)
{
    size_t all = builder->report->assertions.count, held = assertions_held(builder->report);
    if (all == 0)
        return;
    const char *text;
    if (held == all && all == 1)
        text = "The assertion holds";
    else if (all == 1)
        text = "The assertion does not hold";
    else if (held == all)
        text = arena_printf(builder->arena, "All %zu assertions hold", all);
    else if (held == 0)
        text = arena_printf(builder->arena, "None of the %zu assertions holds", all);
    else
        text =
            arena_printf(builder->arena, "%zu of %zu assertions %s", held, all, held == 1 ? "holds" : "hold");
    say(builder, held == all ? TONE_GOOD : TONE_BAD, text);
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
    double change = value / old - 1;
    if (change == 0)
        say(builder, TONE_PLAIN, name_base ? " (as much as " : " (as much");
    else
        say(builder, TONE_PLAIN,
            arena_printf(builder->arena, " (%s %s%s", percent_text(builder, change),
                         change < 0 ? "less" : "more", name_base ? " than " : ""));
    if (name_base)
        say(builder, TONE_NAME, base->name);
    say(builder, TONE_PLAIN, ")");
}

/* How many are served. */
static const char *load_text(struct builder *builder, const struct pm_case *input)
{
    if (input->batch == 1)
        return input->static_step ? " decodes one sequence" : " serves one user";
    return arena_printf(builder->arena,
                        input->static_step ? " decodes %s sequences at once" : " serves %s users",
                        count_text(builder, input->batch));
}

/* Time per token and cost, where they exist; against `base` unless it is NULL. */
static void say_service(struct builder *builder, const struct evaluation *evaluation, struct decl *base)
{
    struct decl *scenario = evaluation->scenario;
    say(builder, TONE_PLAIN, load_text(builder, &evaluation->binding.input));
    if (evaluation->result.expected.tpot >= 0) {
        say(builder, TONE_PLAIN, " at ");
        say(builder, TONE_STRONG, evaluate_text(builder->evaluator, scenario, Q_TPOT));
        say(builder, TONE_PLAIN, " per token");
        if (base != NULL)
            say_difference(builder, scenario, base, Q_TPOT, true);
    } else if (evaluation->result.expected.ttft >= 0) {
        say(builder, TONE_PLAIN, " with the first token after ");
        say(builder, TONE_STRONG, evaluate_text(builder->evaluator, scenario, Q_TTFT));
    }
    if (evaluate_row(builder->evaluator, scenario, Q_COST_PER_MTOK).type != QUANTITY_NUMBER)
        return;
    say(builder, TONE_PLAIN, " for ");
    say(builder, TONE_STRONG, evaluate_text(builder->evaluator, scenario, Q_COST_PER_MTOK));
    say(builder, TONE_PLAIN, " per million tokens");
    if (base != NULL)
        say_difference(builder, scenario, base, Q_COST_PER_MTOK, false);
}

static void say_scenario(struct builder *builder, const struct evaluation *evaluation, struct decl *base)
{
    say(builder, TONE_NAME, evaluation->scenario->name);
    if (!evaluation->valid) {
        say(builder, TONE_BAD, " has no result: ");
        say(builder, TONE_PLAIN, evaluation->why);
    } else if (!evaluation->result.memory.fits) {
        say(builder, TONE_BAD, " does not fit");
        say(builder, TONE_PLAIN, ": short by ");
        say(builder, TONE_STRONG, memory_text(builder, evaluation->result.memory.shortfall));
        say(builder, TONE_PLAIN, evaluation->result.gpus > 1 ? " on the fullest GPU" : "");
    } else {
        say_service(builder, evaluation, base);
    }
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
    const char *all = count_text(builder, (double)count);
    bool begins = builder->report->verdict.runs.count == 0;
    if (fitting == count)
        say(builder, TONE_PLAIN,
            count == 2 ? (begins ? "Both scenarios fit" : "both scenarios fit")
                       : arena_printf(builder->arena, "%s %s scenarios fit", begins ? "All" : "all", all));
    else
        say(builder, fitting == 0 ? TONE_BAD : TONE_PLAIN,
            arena_printf(builder->arena, "%s of %s scenarios %s", count_text(builder, (double)fitting), all,
                         fitting == 1 ? "fits" : "fit"));
    const struct evaluation *fastest = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct evaluation *each = builder->scenarios[i];
        if (each->valid && each->result.memory.fits && each->result.expected.tpot >= 0 &&
            (fastest == NULL || each->result.expected.tpot < fastest->result.expected.tpot))
            fastest = each;
    }
    if (fastest == NULL)
        return;
    say(builder, TONE_PLAIN, ", and the fastest per token is ");
    say(builder, TONE_NAME, fastest->scenario->name);
    say(builder, TONE_PLAIN, " with ");
    say(builder, TONE_STRONG, evaluate_text(builder->evaluator, fastest->scenario, Q_TPOT));
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
    say_assertions(builder);
    if (builder->report->assertions.count > 0 && builder->count > 0)
        say(builder, TONE_PLAIN, "; ");
    if (builder->count == 0 && builder->report->assertions.count == 0)
        say(builder, TONE_PLAIN, "The plan declares no scenario");
    else if (builder->view->comparisons.count > 0)
        say_comparison(builder, &builder->view->comparisons.items[0]);
    else if (builder->count == 1)
        say_scenario(builder, builder->scenarios[0], NULL);
    else if (builder->count > 1)
        say_all(builder);
    say(builder, TONE_PLAIN, ".");
    builder->report->verdict_tone = verdict_tone(builder);
}
