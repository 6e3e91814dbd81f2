/* diff_verdict.c: the one sentence a reader of a diff takes away. What fails comes first, then what is worse,
 * the worst of it named, then what is better, then what came and went. */
#include "base/arena.h"
#include "result/diff_internal.h"

struct sentence {
    struct builder *builder;
    struct rich_text *out;
    size_t clauses;
};

static void begin_clause(struct sentence *sentence)
{
    if (sentence->clauses++ > 0)
        rich_add(sentence->builder->arena, sentence->out, TONE_PLAIN, "; ");
}

static void count_clause(struct sentence *sentence, size_t count, const char *one, const char *many)
{
    if (count == 0)
        return;
    begin_clause(sentence);
    rich_addf(sentence->builder->arena, sentence->out, TONE_PLAIN, "%zu %s", count, count == 1 ? one : many);
}

/* The best of all: scenarios stand in the order of what is worst about them. */
static const struct diff_scenario *best_of(const struct diff *diff)
{
    const struct diff_scenario *best = NULL;
    for (size_t i = 0; i < diff->scenarios.count; i++) {
        const struct diff_scenario *own = &diff->scenarios.items[i];
        if (own->best && (!best || own->best->weight < best->best->weight))
            best = own;
    }
    return best;
}

/* "1 of 6 scenarios is worse in part, worst ": `mixed` ones are better in other figures. */
static void judged_clause(struct sentence *sentence, const struct diff *diff, size_t count, bool first,
                          const char *word)
{
    struct arena *arena = sentence->builder->arena;
    if (first)
        rich_addf(arena, sentence->out, TONE_PLAIN, "%zu of %zu scenario%s %s %s", count, diff->kept,
                  diff->kept == 1 ? "" : "s", count == 1 ? "is" : "are", word);
    else
        rich_addf(arena, sentence->out, TONE_PLAIN, "%zu %s %s", count, count == 1 ? "is" : "are", word);
    rich_add(arena, sentence->out, TONE_PLAIN, diff->mixed > 0 ? " in part: " : ": ");
}

static void say_scenarios(struct sentence *sentence, const struct diff *diff)
{
    struct builder *builder = sentence->builder;
    if (diff->worse > 0) {
        begin_clause(sentence);
        judged_clause(sentence, diff, diff->worse, true, "worse");
        say_figure(builder, sentence->out, &diff->scenarios.items[0], diff->scenarios.items[0].worst);
    }
    if (diff->better > 0) {
        const struct diff_scenario *best = best_of(diff);
        begin_clause(sentence);
        judged_clause(sentence, diff, diff->better, diff->worse == 0, "better");
        say_figure(builder, sentence->out, best, best->best);
    }
    if (diff->worse + diff->better == 0 && diff->changed > 0) {
        begin_clause(sentence);
        rich_addf(builder->arena, sentence->out, TONE_PLAIN,
                  "%zu of %zu scenario%s changed, and none is better or worse", diff->changed, diff->kept,
                  diff->kept == 1 ? "" : "s");
    }
}

/* "No figure changed in 3 scenarios", "nothing changed in the other 2 scenarios". */
static void say_no_change(struct sentence *sentence, const struct diff *diff)
{
    struct arena *arena = sentence->builder->arena;
    bool first = sentence->clauses == 0;
    begin_clause(sentence);
    if (diff->inputs.count > 0)
        rich_add(arena, sentence->out, TONE_PLAIN, first ? "No figure changed in " : "no figure changed in ");
    else
        rich_add(arena, sentence->out, TONE_PLAIN, first ? "Nothing changed in " : "nothing changed in ");
    if (diff->added > 0 && diff->kept == 1)
        rich_add(arena, sentence->out, TONE_PLAIN, "the other scenario");
    else
        rich_addf(arena, sentence->out, TONE_PLAIN, "%s%zu scenario%s", diff->added > 0 ? "the other " : "",
                  diff->kept, diff->kept == 1 ? "" : "s");
    if (diff->inputs.count > 0)
        rich_addf(arena, sentence->out, TONE_PLAIN, ", though %zu input%s did", diff->inputs.count,
                  diff->inputs.count == 1 ? "" : "s");
}

static void say_lone(struct sentence *sentence, const struct diff *diff, enum diff_state state, size_t count,
                     const char *word)
{
    struct arena *arena = sentence->builder->arena;
    if (count == 0)
        return;
    begin_clause(sentence);
    if (count > 1) {
        rich_addf(arena, sentence->out, TONE_PLAIN, "%zu scenarios are %s", count, word);
        return;
    }
    for (size_t i = 0; i < diff->scenarios.count; i++)
        if (diff->scenarios.items[i].state == state)
            rich_add(arena, sentence->out, TONE_NAME, diff->scenarios.items[i].name);
    rich_addf(arena, sentence->out, TONE_PLAIN, " is %s", word);
}

/* Points of sweeps, which are told where no scenario tells of the same. */
static void say_points(struct sentence *sentence, const struct diff *diff)
{
    struct builder *builder = sentence->builder;
    size_t count = 0;
    for (size_t i = 0; i < diff->sweeps.count; i++)
        count += diff->sweeps.items[i].points.count;
    if (count == 0)
        return;
    begin_clause(sentence);
    if (count == 1)
        say(builder, sentence->out, TONE_PLAIN, M_DIFF_POINT_CHANGED);
    else
        SAY(builder, sentence->out, TONE_PLAIN, M_DIFF_POINTS_CHANGED, count_text(builder, (double)count));
}

void diff_verdict(struct builder *builder, const struct diff *diff)
{
    struct report *report = builder->report;
    struct sentence sentence = {builder, &report->verdict, 0};
    count_clause(&sentence, diff->exceeded, "threshold is exceeded", "thresholds are exceeded");
    count_clause(&sentence, diff->failing, "more assertion fails", "more assertions fail");
    count_clause(&sentence, diff->mended, "assertion holds again", "assertions hold again");
    say_scenarios(&sentence, diff);
    say_lone(&sentence, diff, DIFF_NEW, diff->added, "new");
    say_lone(&sentence, diff, DIFF_REMOVED, diff->removed, "removed");
    if (diff->changed == 0 && (diff->kept > 0 || sentence.clauses == 0))
        say_no_change(&sentence, diff);
    if (diff->changed == 0)
        say_points(&sentence, diff);
    report->verdict_tone = diff->exceeded + diff->failing > 0 ? TONE_BAD
                           : diff->worse > 0                  ? TONE_WARN
                                                              : TONE_GOOD;
}
