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

/* "31.0 ms per token", with the cost where there is a price. */
static void say_service(struct builder *builder, const struct evaluation *evaluation)
{
    struct decl *scenario = evaluation->scenario;
    const struct pm_case *input = &evaluation->binding.input;
    const char *batch = count_text(builder, input->batch);
    if (input->static_step)
        say(builder, TONE_PLAIN,
            input->batch == 1 ? " decodes one sequence"
                              : arena_printf(builder->arena, " decodes %s sequences at once", batch));
    else
        say(builder, TONE_PLAIN,
            input->batch == 1 ? " serves one user" : arena_printf(builder->arena, " serves %s users", batch));
    if (evaluation->result.expected.tpot >= 0) {
        say(builder, TONE_PLAIN, " at ");
        say(builder, TONE_STRONG, evaluate_text(builder->evaluator, scenario, Q_TPOT));
        say(builder, TONE_PLAIN, " per token");
    } else if (evaluation->result.expected.ttft >= 0) {
        say(builder, TONE_PLAIN, " with the first token after ");
        say(builder, TONE_STRONG, evaluate_text(builder->evaluator, scenario, Q_TTFT));
    }
    struct report_quantity cost = evaluate_row(builder->evaluator, scenario, Q_COST_PER_MTOK);
    if (cost.type == QUANTITY_NUMBER)
        say(builder, TONE_PLAIN,
            arena_printf(builder->arena, " for %s per million tokens",
                         evaluate_text(builder->evaluator, scenario, Q_COST_PER_MTOK)));
}

static void say_scenario(struct builder *builder, const struct evaluation *evaluation)
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
        say_service(builder, evaluation);
    }
}

/* How far `quantity` of one scenario lies from that of another: ", 22 % cheaper than today". */
static bool say_difference(struct builder *builder, struct decl *scenario, struct decl *base,
                           enum quantity quantity, const char *less, const char *more)
{
    double value = evaluate_number(builder->evaluator, scenario, quantity, -1);
    double old = evaluate_number(builder->evaluator, base, quantity, -1);
    struct dim dim = evaluate_dim(builder->evaluator, scenario, quantity);
    if (value < 0 || old <= 0 || !dim_equal(dim, evaluate_dim(builder->evaluator, base, quantity)))
        return false;
    double change = value / old - 1;
    if (fabs(change) < 0.005) {
        say(builder, TONE_PLAIN, ", within 0.5\xE2\x80\x89% of ");
        say(builder, TONE_NAME, base->name);
        return true;
    }
    say(builder, TONE_PLAIN,
        arena_printf(builder->arena, ", %s %s than ", percent_text(builder, change),
                     change < 0 ? less : more));
    say(builder, TONE_NAME, base->name);
    return true;
}

static void say_comparison(struct builder *builder, const struct comparison *comparison)
{
    struct decl *base = comparison->scenarios[0];
    struct decl *last = comparison->scenarios[comparison->count - 1];
    const struct evaluation *evaluation = evaluate_scenario(builder->evaluator, last);
    say_scenario(builder, evaluation);
    const struct evaluation *first = evaluate_scenario(builder->evaluator, base);
    if (!evaluation->valid || !evaluation->result.memory.fits || !first->valid || !first->result.memory.fits)
        return;
    if (!say_difference(builder, last, base, Q_COST_PER_MTOK, "cheaper", "dearer"))
        say_difference(builder, last, base, Q_TPOT, "less time per token", "more time per token");
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
        say_scenario(builder, builder->scenarios[0]);
    else if (builder->count > 1)
        say_all(builder);
    say(builder, TONE_PLAIN, ".");
    builder->report->verdict_tone = verdict_tone(builder);
}
