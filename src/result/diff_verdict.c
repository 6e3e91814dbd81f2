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
        say(sentence->builder, sentence->out, TONE_PLAIN, M_NEXT_CLAUSE);
}

static const char *number(const struct sentence *sentence, size_t count)
{
    return arena_printf(sentence->builder->arena, "%zu", count);
}

static void count_clause(struct sentence *sentence, size_t count, enum message one, enum message many)
{
    if (count == 0)
        return;
    begin_clause(sentence);
    SAY(sentence->builder, sentence->out, TONE_PLAIN, count == 1 ? one : many, number(sentence, count));
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

/* How a clause begins: one or many scenarios, of one or of many, or only how many there are besides. */
struct judgement {
    enum message one_of_one, one_of, many_of, one, many;
};

/* Scenarios that are worse, or better; `mixed` ones are better in other figures, which the clause says. */
static const struct judgement judgements[2][2] = {
    {{M_ONE_OF_ONE_IS_WORSE, M_ONE_IS_WORSE_OF, M_MANY_ARE_WORSE_OF, M_ONE_IS_WORSE, M_MANY_ARE_WORSE},
     {M_ONE_OF_ONE_IS_WORSE_IN_PART, M_ONE_IS_WORSE_IN_PART_OF, M_MANY_ARE_WORSE_IN_PART_OF,
      M_ONE_IS_WORSE_IN_PART, M_MANY_ARE_WORSE_IN_PART}},
    {{M_ONE_OF_ONE_IS_BETTER, M_ONE_IS_BETTER_OF, M_MANY_ARE_BETTER_OF, M_ONE_IS_BETTER, M_MANY_ARE_BETTER},
     {M_ONE_OF_ONE_IS_BETTER_IN_PART, M_ONE_IS_BETTER_IN_PART_OF, M_MANY_ARE_BETTER_IN_PART_OF,
      M_ONE_IS_BETTER_IN_PART, M_MANY_ARE_BETTER_IN_PART}},
};

static void judged_clause(struct sentence *sentence, const struct diff *diff, size_t count, bool first,
                          bool better)
{
    const struct judgement *said = &judgements[better][diff->mixed > 0];
    enum message message = !first            ? count == 1 ? said->one : said->many
                           : diff->kept == 1 ? said->one_of_one
                           : count == 1      ? said->one_of
                                             : said->many_of;
    SAY(sentence->builder, sentence->out, TONE_PLAIN, message, number(sentence, count),
        number(sentence, diff->kept));
}

static void say_scenarios(struct sentence *sentence, const struct diff *diff)
{
    struct builder *builder = sentence->builder;
    if (diff->worse > 0) {
        begin_clause(sentence);
        judged_clause(sentence, diff, diff->worse, true, false);
        say_figure(builder, sentence->out, &diff->scenarios.items[0], diff->scenarios.items[0].worst);
    }
    if (diff->better > 0) {
        const struct diff_scenario *best = best_of(diff);
        begin_clause(sentence);
        judged_clause(sentence, diff, diff->better, diff->worse == 0, true);
        say_figure(builder, sentence->out, best, best->best);
    }
    if (diff->worse + diff->better == 0 && diff->changed > 0) {
        begin_clause(sentence);
        SAY(builder, sentence->out, TONE_PLAIN,
            diff->kept == 1 ? M_ONE_CHANGED_NONE_BETTER : M_SOME_CHANGED_NONE_BETTER,
            number(sentence, diff->changed), number(sentence, diff->kept));
    }
}

/* "No figure changed in 3 scenarios", "nothing changed in the other 2 scenarios". */
static void say_no_change(struct sentence *sentence, const struct diff *diff)
{
    /* By whether inputs changed, whether it begins the sentence, and which scenarios are meant. */
    enum { ONE, MANY, THE_OTHER, THE_OTHERS };
    static const enum message said[2][2][4] = {
        {{M_NOTHING_CHANGED_IN_ONE, M_NOTHING_CHANGED_IN, M_NOTHING_CHANGED_IN_OTHER,
          M_NOTHING_CHANGED_IN_OTHERS},
         {M_NOTHING_CHANGED_IN_ONE_BEGINS, M_NOTHING_CHANGED_IN_BEGINS, M_NOTHING_CHANGED_IN_OTHER_BEGINS,
          M_NOTHING_CHANGED_IN_OTHERS_BEGINS}},
        {{M_NO_FIGURE_CHANGED_IN_ONE, M_NO_FIGURE_CHANGED_IN, M_NO_FIGURE_CHANGED_IN_OTHER,
          M_NO_FIGURE_CHANGED_IN_OTHERS},
         {M_NO_FIGURE_CHANGED_IN_ONE_BEGINS, M_NO_FIGURE_CHANGED_IN_BEGINS,
          M_NO_FIGURE_CHANGED_IN_OTHER_BEGINS, M_NO_FIGURE_CHANGED_IN_OTHERS_BEGINS}},
    };
    bool first = sentence->clauses == 0, inputs = diff->inputs.count > 0;
    int which = diff->added > 0 ? diff->kept == 1 ? THE_OTHER : THE_OTHERS : diff->kept == 1 ? ONE : MANY;
    begin_clause(sentence);
    SAY(sentence->builder, sentence->out, TONE_PLAIN, said[inputs][first][which],
        number(sentence, diff->kept));
    if (inputs)
        SAY(sentence->builder, sentence->out, TONE_PLAIN,
            diff->inputs.count == 1 ? M_THOUGH_ONE_INPUT_DID : M_THOUGH_INPUTS_DID,
            number(sentence, diff->inputs.count));
}

static void say_lone(struct sentence *sentence, const struct diff *diff, enum diff_state state, size_t count)
{
    bool is_new = state == DIFF_NEW;
    if (count == 0)
        return;
    begin_clause(sentence);
    if (count > 1) {
        SAY(sentence->builder, sentence->out, TONE_PLAIN, is_new ? M_MANY_ARE_NEW : M_MANY_ARE_REMOVED,
            number(sentence, count));
        return;
    }
    for (size_t i = 0; i < diff->scenarios.count; i++)
        if (diff->scenarios.items[i].state == state)
            SAY(sentence->builder, sentence->out, TONE_PLAIN, is_new ? M_IS_NEW : M_IS_REMOVED,
                diff->scenarios.items[i].name);
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
    count_clause(&sentence, diff->exceeded, M_ONE_THRESHOLD_EXCEEDED, M_THRESHOLDS_EXCEEDED);
    count_clause(&sentence, diff->failing, M_ONE_MORE_FAILS, M_MORE_FAIL);
    count_clause(&sentence, diff->mended, M_ONE_HOLDS_AGAIN, M_SOME_HOLD_AGAIN);
    say_scenarios(&sentence, diff);
    say_lone(&sentence, diff, DIFF_NEW, diff->added);
    say_lone(&sentence, diff, DIFF_REMOVED, diff->removed);
    if (diff->changed == 0 && (diff->kept > 0 || sentence.clauses == 0))
        say_no_change(&sentence, diff);
    if (diff->changed == 0)
        say_points(&sentence, diff);
    report->verdict_tone = diff->exceeded + diff->failing > 0 ? TONE_BAD
                           : diff->worse > 0                  ? TONE_WARN
                                                              : TONE_GOOD;
}
