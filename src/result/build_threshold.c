/* build_threshold.c: how far each input of a scenario may go before decode's bound, the fit or an assertion
 * changes, as sentences. */
#include <string.h>

#include "base/arena.h"
#include "result/build_internal.h"
#include "result/threshold.h"

enum { ASSERTIONS_MAX = 8 };

static const struct dim token_dim = {{[DIM_TOKEN] = 1}};

/* "batch 81", "a prompt of 3 412 tokens", "2.97 TB/s of bandwidth", "1.2 PFLOP/s of fp8 arithmetic". */
static const char *place_text(struct builder *builder, const struct variation *variation, enum vary input,
                              double value)
{
    const struct evaluation *evaluation = variation_base(variation);
    const char *label = phrase(builder, vary_info(input).label);
    bool vowel = strchr("aeiou", vary_info(input).label[0]) != NULL;
    double now = variation_value(variation, input);
    if (input == VARY_PEAK)
        label = WORDS(builder, M_FORMAT_ARITHMETIC, compute_name(variation_compute(variation)), label);
    if (input == VARY_PRICE)
        return WORDS(builder, M_A_PRICE_OF, input_text(builder, evaluation, input, value, now));
    if (input == VARY_BATCH)
        return WORDS(builder, M_AT_BATCH, count_text(builder, value));
    if (vary_info(input).whole)
        return WORDS(builder, vowel ? M_AN_INPUT_OF : M_A_INPUT_OF, label,
                     quantity_text(builder->arena, value, token_dim));
    return WORDS(builder, M_VALUE_OF_INPUT, input_text(builder, evaluation, input, value, now), label);
}

/* Inputs that a plan can do something about, in the order of the sentences. */
static const enum vary tried[] = {VARY_BATCH, VARY_CONTEXT, VARY_PROMPT, VARY_OUTPUT, VARY_BANDWIDTH,
                                  VARY_PEAK,  VARY_LINK,    VARY_MEMORY, VARY_PRICE};

enum { TRIED_COUNT = sizeof tried / sizeof tried[0] };

/* What thresholds are about, for machines; `words` are those of the states. */
struct subject {
    const char *about, *text;
    const char *const *words;
};

static void list_threshold(struct builder *builder, const struct variation *variation,
                           const struct threshold *from, struct subject subject)
{
    const struct evaluation *evaluation = variation_base(variation);
    *VEC_PUSH(builder->arena, builder->report->thresholds) = (struct report_threshold){
        .scenario = evaluation->scenario->name,
        .about = subject.about,
        .text = subject.text,
        .input = vary_info(from->input).path,
        .unit = input_unit(builder, evaluation, from->input),
        .above = from->above,
        .last = from->last,
        .first = from->first,
        .from = subject.words[from->from],
        .to = subject.words[from->to],
    };
}

static void list_thresholds(struct builder *builder, const struct variation *variation,
                            const struct threshold *found, size_t count, struct subject subject)
{
    for (size_t i = 0; i < count; i++)
        list_threshold(builder, variation, &found[i], subject);
}

/* What is asked of a scenario: the bound of its step, whether it fits, its assertions. */
struct asked {
    struct threshold_question questions[THRESHOLD_QUESTIONS_MAX];
    const struct check *checks[THRESHOLD_QUESTIONS_MAX]; /* NULL where it is no assertion */
    size_t count;
    struct threshold found[THRESHOLD_QUESTIONS_MAX][2 * TRIED_COUNT];
    size_t found_count[THRESHOLD_QUESTIONS_MAX];
};

static size_t ask(struct asked *asked, threshold_state state, void *context, const struct check *check)
{
    asked->questions[asked->count] = threshold_question(state, context);
    asked->checks[asked->count] = check;
    return asked->count++;
}

/* All thresholds, nearest change in each direction of each input. */
static void find_all(struct variation *variation, struct asked *asked)
{
    struct threshold found[THRESHOLD_QUESTIONS_MAX];
    for (size_t i = 0; i < TRIED_COUNT; i++)
        for (int above = 1; above >= 0; above--) {
            thresholds_find(variation, tried[i], above != 0, asked->questions, asked->count, found);
            for (size_t j = 0; j < asked->count; j++)
                if (found[j].exists)
                    asked->found[j][asked->found_count[j]++] = found[j];
        }
}

/* "up to batch 81", "down to 2.97 TB/s of bandwidth": where it is still as it is. */
static const char *until_text(struct builder *builder, const struct variation *variation,
                              const struct threshold *threshold)
{
    return WORDS(builder, threshold->above ? M_UP_TO : M_DOWN_TO,
                 place_text(builder, variation, threshold->input, threshold->last));
}

/* "from batch 82", "with 2.97 TB/s of bandwidth or less": where it has changed. */
static const char *from_text(struct builder *builder, const struct variation *variation,
                             const struct threshold *threshold)
{
    const char *place = place_text(builder, variation, threshold->input, threshold->first);
    return WORDS(builder, threshold->above ? M_FROM_PLACE : M_WITH_PLACE_OR_LESS, place);
}

static struct rich_text *add_item(struct builder *builder, struct report_block **list,
                                  struct report_section *section)
{
    if (*list == NULL)
        *list = add_block(builder, section, BLOCK_LIST);
    return VEC_PUSH(builder->arena, (*list)->list.items);
}

static const char *bound_label(const struct builder *builder, int bound)
{
    static const enum message labels[PM_BOUND_COUNT] = {
        [PM_BOUND_WEIGHTS] = M_READING_WEIGHTS, [PM_BOUND_KV] = M_READING_CACHE,
        [PM_BOUND_COMPUTE] = M_COMPUTING,       [PM_BOUND_COMMUNICATION] = M_COMMUNICATION,
        [PM_BOUND_FIXED] = M_FIXED_TIMES,
    };
    return words(builder, labels[bound]);
}

/* The batch from which the roofline's other side holds, and what memory makes of it. */
static void say_critical_batch(struct builder *builder, const struct evaluation *evaluation,
                               struct rich_text *out)
{
    const struct pm_result *result = &evaluation->result;
    const char *batch = count_text(builder, result->critical_batch);
    if (!(result->critical_batch > 0))
        say(builder, out, TONE_PLAIN, M_NO_BATCH_COMPUTES);
    else if (result->memory.max_batch_limit == PM_LIMIT_MEMORY &&
             result->memory.max_batch < result->critical_batch)
        SAY(builder, out, TONE_PLAIN, M_COMPUTES_FROM_BATCH_BUT, batch,
            count_text(builder, result->memory.max_batch));
    else
        SAY(builder, out, TONE_PLAIN, M_COMPUTES_FROM_BATCH, batch);
}

static void say_ceiling(struct builder *builder, struct variation *variation, struct report_section *section,
                        struct report_block **list)
{
    static const char *const sides[] = {"memory", "compute"};
    const struct evaluation *evaluation = variation_base(variation);
    if (!(evaluation->result.ceiling.tpot > 0))
        return;
    struct rich_text *out = add_item(builder, list, section);
    say_critical_batch(builder, evaluation, out);
    bool computes = threshold_ceiling_side(NULL, evaluation) == 1;
    struct threshold bandwidth =
        threshold_find(variation, VARY_BANDWIDTH, !computes, threshold_ceiling_side, NULL);
    if (!bandwidth.exists)
        return;
    list_threshold(builder, variation, &bandwidth, (struct subject){"ceiling", NULL, sides});
    SAY(builder, out, TONE_PLAIN, computes ? M_BOUND_BY_COMPUTING_UNTIL : M_BOUND_BY_MEMORY_UNTIL,
        until_text(builder, variation, &bandwidth));
}

static void say_bound_changes(struct builder *builder, const struct variation *variation,
                              const struct threshold *found, size_t count, struct report_section *section,
                              struct report_block **list)
{
    static const char *const bounds[PM_BOUND_COUNT] = {
        [PM_BOUND_WEIGHTS] = "weights", [PM_BOUND_KV] = "kv",
        [PM_BOUND_COMPUTE] = "compute", [PM_BOUND_COMMUNICATION] = "communication",
        [PM_BOUND_FIXED] = "fixed",
    };
    if (count == 0)
        return;
    list_thresholds(builder, variation, found, count, (struct subject){"bound", NULL, bounds});
    struct rich_text *out = add_item(builder, list, section);
    SAY(builder, out, TONE_PLAIN, M_MOST_GOES_TO, bound_label(builder, found[0].from));
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && found[i].to == found[i - 1].to)
            say(builder, out, TONE_PLAIN, M_LIST_COMMA);
        else
            SAY(builder, out, TONE_PLAIN, i == 0 ? M_CHANGES_TO : M_AND_TO,
                bound_label(builder, found[i].to));
        rich_add(builder->arena, out, TONE_STRONG, from_text(builder, variation, &found[i]));
    }
    say(builder, out, TONE_PLAIN, M_FULL_STOP);
}

static void say_places(struct builder *builder, const struct variation *variation,
                       const struct threshold *found, size_t count, bool until, struct rich_text *out)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            say(builder, out, TONE_PLAIN, M_LIST_COMMA);
        rich_add(builder->arena, out, TONE_STRONG,
                 until ? until_text(builder, variation, &found[i])
                       : from_text(builder, variation, &found[i]));
    }
    say(builder, out, TONE_PLAIN, M_FULL_STOP);
}

static void say_fit(struct builder *builder, const struct variation *variation, const struct threshold *found,
                    size_t count, struct report_section *section, struct report_block **list)
{
    const struct evaluation *evaluation = variation_base(variation);
    static const char *const words[] = {"does not fit", "fits"};
    if (count == 0)
        return;
    list_thresholds(builder, variation, found, count, (struct subject){"fits", NULL, words});
    struct rich_text *out = add_item(builder, list, section);
    bool loop = !evaluation->binding.input.static_step, fits = threshold_fits(NULL, evaluation) == 1;
    say(builder, out, TONE_PLAIN,
        loop   ? fits ? M_ALL_RUN : M_ALL_WOULD_RUN
        : fits ? M_IT_FITS
               : M_IT_WOULD_FIT);
    say_places(builder, variation, found, count, fits, out);
}

/* Those that read the scenario and can be decided for a changed one. */
static void ask_assertions(struct builder *builder, const struct evaluation *evaluation, struct asked *asked)
{
    const struct plan_view *view = builder->view;
    size_t most = asked->count + ASSERTIONS_MAX;
    for (size_t i = 0; i < view->assertions.count && asked->count < most; i++) {
        const struct check *check = &view->assertions.items[i];
        if (!threshold_can_ask(check))
            continue;
        struct threshold_assertion *assertion = ARENA_NEW(builder->arena, struct threshold_assertion);
        *assertion = (struct threshold_assertion){builder->evaluator, check, false};
        if (threshold_asserted(assertion, evaluation) >= 0 && assertion->read)
            ask(asked, threshold_asserted, assertion, check);
    }
}

static void say_assertion(struct builder *builder, const struct variation *variation,
                          const struct asked *asked, size_t question, struct report_section *section,
                          struct report_block **list)
{
    static const char *const words[] = {"fails", "holds"};
    const struct threshold_question *assertion = &asked->questions[question];
    int holds = threshold_asserted(assertion->context, variation_base(variation));
    struct rich_text *out = add_item(builder, list, section);
    const char *text = asked->checks[question]->text;
    list_thresholds(builder, variation, asked->found[question], asked->found_count[question],
                    (struct subject){"assertion", text, words});
    if (asked->found_count[question] == 0) {
        SAY(builder, out, TONE_PLAIN, holds == 1 ? M_HOLDS_WHICHEVER : M_FAILS_WHICHEVER, text);
        return;
    }
    SAY(builder, out, TONE_PLAIN, holds == 1 ? M_CONDITION_HOLDS : M_CONDITION_WOULD_HOLD, text);
    say_places(builder, variation, asked->found[question], asked->found_count[question], holds == 1, out);
}

void say_changes(struct builder *builder, struct report_section *section, const struct evaluation *evaluation)
{
    struct variation *variation = variation_new(builder->arena, evaluation);
    struct report_block *list = NULL;
    struct asked asked = {.count = 0};
    size_t bound = ask(&asked, threshold_bound, NULL, NULL), fits = ask(&asked, threshold_fits, NULL, NULL);
    ask_assertions(builder, evaluation, &asked);
    find_all(variation, &asked);
    say_ceiling(builder, variation, section, &list);
    say_bound_changes(builder, variation, asked.found[bound], asked.found_count[bound], section, &list);
    say_fit(builder, variation, asked.found[fits], asked.found_count[fits], section, &list);
    for (size_t i = fits + 1; i < asked.count; i++)
        say_assertion(builder, variation, &asked, i, section, &list);
}
