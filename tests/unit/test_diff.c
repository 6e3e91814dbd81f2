/* test_diff.c: two plans compared. The card and the model are so simple that every figure is worked out by
 * hand: 7e9 parameters in 16 bits are 14 GB, 7 ms at 2 TB/s; a token's cache is 2 * 32 * 4096 * 2 B = 524 288
 * B, so 4096 tokens are 2 147 483 648 B, 1.073741824 ms; the ideal engine adds nothing to the two. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "backend/backend.h"
#include "backend/clean.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "diff_fixture.h"
#include "result/build.h"

#define CARD_AT(bandwidth) "gpu card { memory = 80 GB  bandwidth = " bandwidth "  peak.fp16 = 312 TFLOPS }\n"
#define CARD               CARD_AT("2 TB/s")
#define MODEL              "model tiny { params = 7e9  layers = 32  hidden = 4096  heads = 32 }\n"
#define CHAT               "scenario chat { gpu = card  model = tiny  engine = ideal  context = 4096  batch = 1 }\n"

static const struct diff_figure *figure(const struct diff_scenario *scenario, enum quantity quantity)
{
    for (size_t i = 0; i < scenario->figures.count; i++)
        if (scenario->figures.items[i].row->id == quantity)
            return &scenario->figures.items[i];
    return NULL;
}

static const struct diff_cause *cause(const struct diff_scenario *scenario, enum quantity quantity)
{
    for (size_t i = 0; i < scenario->causes.count; i++)
        if (scenario->causes.items[i].row->id == quantity)
            return &scenario->causes.items[i];
    return NULL;
}

/* The sentence, with plain blanks for thin ones. */
static const char *verdict(struct pair *pair)
{
    struct buffer out = buffer_in(pair->new.arena);
    const char *at = clean_rich(pair->new.arena, &diff_report(pair->new.arena, pair->diff)->verdict);
    for (; *at != '\0'; at++) {
        bool thin = strncmp(at, "\xE2\x80\x89", 3) == 0;
        buffer_byte(&out, thin ? ' ' : *at);
        at += thin ? 2 : 0;
    }
    return buffer_string(&out);
}

static void expect_near(double actual, double expected)
{
    cr_assert(fabs(actual - expected) <= 1e-9 * fabs(expected), "%.17g, not %.17g", actual, expected);
}

/* ---- figures ---------------------------------------------------------------------------------- */

Test(diff, the_same_plan_has_no_differences)
{
    struct pair pair =
        pair_open(CARD MODEL CHAT "assert chat.fits", "# moved down\n" CARD MODEL CHAT "assert chat.fits");
    cr_assert_eq(pair.diff->kept, 1);
    cr_assert_eq(pair.diff->scenarios.count, 0);
    cr_assert_eq(pair.diff->inputs.count, 0);
    cr_assert_eq(pair.diff->assertions.count, 0);
    cr_assert_str_eq(verdict(&pair), "Nothing changed in 1 scenario");
    cr_assert_eq(diff_report(pair.new.arena, pair.diff)->sections.count, 0);
    pair_close(&pair);
}

Test(diff, half_the_bandwidth_doubles_the_time)
{
    struct pair pair = pair_open(CARD MODEL CHAT, CARD_AT("1 TB/s") MODEL CHAT);
    cr_assert_eq(pair.diff->changed, 1);
    cr_assert_eq(pair.diff->worse, 1);
    cr_assert_eq(pair.diff->better, 0);
    const struct diff_scenario *chat = &pair.diff->scenarios.items[0];
    const struct diff_figure *tpot = figure(chat, Q_TPOT), *throughput = figure(chat, Q_THROUGHPUT);
    expect_near(tpot->old->value, 0.008073741824);
    expect_near(tpot->new->value, 0.016147483648);
    expect_near(tpot->relative, 1);
    cr_assert_eq(tpot->change, CHANGE_WORSE);
    expect_near(tpot->weight, log(2));
    expect_near(throughput->relative, -0.5);
    cr_assert_eq(throughput->change, CHANGE_WORSE);
    expect_near(throughput->weight, log(2)); /* twice as slow is half as much: both weigh the same */
    cr_assert_null(figure(chat, Q_MEMORY_TOTAL));
    cr_assert_null(figure(chat, Q_FITS));
    pair_close(&pair);
}

Test(diff, more_of_what_should_be_low_is_worse_and_of_what_should_be_high_better)
{
    /* Two sequences: 14 GB + 2 * 2.147 GB in 9.147483648 ms make 2 tokens, so 218.6 tokens/s for 123.9. */
    struct pair pair =
        pair_open(CARD MODEL CHAT, CARD MODEL "scenario chat { gpu = card  model = tiny  engine = ideal"
                                              "  context = 4096  batch = 2 }");
    const struct diff_scenario *chat = &pair.diff->scenarios.items[0];
    expect_near(figure(chat, Q_TPOT)->new->value, 0.009147483648);
    cr_assert_eq(figure(chat, Q_TPOT)->change, CHANGE_WORSE);
    expect_near(figure(chat, Q_THROUGHPUT)->new->value, 2 / 0.009147483648);
    cr_assert_eq(figure(chat, Q_THROUGHPUT)->change, CHANGE_BETTER);
    cr_assert_eq(figure(chat, Q_DECODE_INTENSITY)->change, CHANGE_NEUTRAL);
    cr_assert_eq(pair.diff->mixed, 1);
    cr_assert_str_eq(verdict(&pair),
                     "1 of 1 scenario is worse in part: chat time per token 8.07 → 9.15 ms (+13 %); "
                     "1 is better in part: chat throughput 124 → 219 tok/s (+77 %)");
    pair_close(&pair);
}

Test(diff, what_does_not_fit_any_more_is_worst)
{
    /* 14 GB of weights do not fit into 10 GB, however fast it is. */
    struct pair pair =
        pair_open(CARD MODEL CHAT,
                  "gpu card { memory = 10 GB  bandwidth = 20 TB/s  peak.fp16 = 312 TFLOPS }\n" MODEL CHAT);
    const struct diff_scenario *chat = &pair.diff->scenarios.items[0];
    cr_assert_eq(chat->worst->row->id, Q_FITS);
    cr_assert_not_null(strstr(verdict(&pair), "chat does not fit into memory any more"), "%s",
                       verdict(&pair));
    pair_close(&pair);
}

#define LOAD(name, context)                                                                                  \
    "scenario " name " { gpu = card  model = tiny  engine = ideal  batch = 1  context = " context " }\n"

Test(diff, the_worst_comes_first_and_ties_go_by_name)
{
    /* From 4096 tokens, 8.07 ms: 8192 tokens are 9.15 ms, 16384 tokens 11.3 ms. */
    struct pair pair =
        pair_open(CARD MODEL LOAD("d", "4096") LOAD("c", "4096") LOAD("b", "4096") LOAD("a", "4096"),
                  CARD MODEL LOAD("d", "16384") LOAD("c", "8192") LOAD("b", "8192") LOAD("a", "2048"));
    cr_assert_eq(pair.diff->scenarios.count, 4);
    static const char *const order[] = {"d", "b", "c", "a"};
    for (size_t i = 0; i < 4; i++)
        cr_assert_str_eq(pair.diff->scenarios.items[i].name, order[i]);
    cr_assert_str_eq(verdict(&pair), "3 of 4 scenarios are worse: d time per token 8.07 → 11.3 ms (+40 %); "
                                     "1 is better: a time per token 8.07 → 7.54 ms (−6.6 %)");
    pair_close(&pair);
}

Test(diff, scenarios_come_and_go)
{
    struct pair pair =
        pair_open(CARD MODEL CHAT LOAD("gone", "1024"), CARD MODEL CHAT LOAD("\"Qwen/Qwen3\"", "1024"));
    cr_assert_eq(pair.diff->kept, 1);
    cr_assert_eq(pair.diff->added, 1);
    cr_assert_eq(pair.diff->removed, 1);
    cr_assert_eq(pair.diff->scenarios.items[0].state, DIFF_NEW);
    cr_assert_str_eq(pair.diff->scenarios.items[0].name, "Qwen/Qwen3");
    cr_assert_eq(pair.diff->scenarios.items[1].state, DIFF_REMOVED);
    cr_assert_str_eq(verdict(&pair),
                     "Qwen/Qwen3 is new; gone is removed; nothing changed in the other scenario");
    pair_close(&pair);
}

/* ---- why -------------------------------------------------------------------------------------- */

Test(diff, terms_of_a_step_by_hand)
{
    struct pair pair = pair_open(CARD MODEL CHAT, CARD_AT("1 TB/s") MODEL CHAT);
    const struct diff_cause *tpot = cause(&pair.diff->scenarios.items[0], Q_TPOT);
    cr_assert_eq(tpot->terms.count, 2);
    cr_assert_str_eq(tpot->terms.items[0].label, "reading weights");
    expect_near(tpot->terms.items[0].old, 0.007);
    expect_near(tpot->terms.items[0].new, 0.014);
    cr_assert_str_eq(tpot->terms.items[1].label, "reading the KV cache");
    expect_near(tpot->terms.items[1].old, 0.001073741824);
    expect_near(tpot->terms.items[1].new, 0.002147483648);
    pair_close(&pair);
}

static void expect_sums(const struct diff_cause *cause)
{
    double old = 0, new = 0;
    for (size_t i = 0; i < cause->terms.count; i++) {
        old += cause->terms.items[i].old;
        new += cause->terms.items[i].new;
    }
    expect_near(old, cause->old);
    expect_near(new, cause->new);
}

Test(diff, terms_add_up_to_the_whole)
{
    static const char old[] =
        "scenario s { model = llama-3.1-70b  weights = fp8  gpu = h100-sxm  tp = 4  prompt = 2000  "
        "output = 400  batch = 64 }\n"
        "scenario t : s { speculation.tokens = 3  speculation.acceptance = 0.7  speculation.draft = "
        "llama-3.1-8b }\n"
        "scenario u : s { batch = 2000 }\n";
    static const char new[] =
        "scenario s { model = llama-3.1-70b  weights = fp8  gpu = h200-sxm  tp = 2  prompt = 3000  "
        "output = 400  batch = 90 }\n"
        "scenario t : s { speculation.tokens = 3  speculation.acceptance = 0.7  speculation.draft = "
        "llama-3.1-8b }\n"
        "scenario u : s { batch = 2000 }\n";
    struct pair pair = pair_open(old, new);
    cr_assert_eq(pair.diff->changed, 3);
    for (size_t i = 0; i < pair.diff->changed; i++) {
        const struct diff_scenario *scenario = &pair.diff->scenarios.items[i];
        cr_assert_eq(scenario->causes.count, 3, "%s", scenario->name);
        for (size_t j = 0; j < scenario->causes.count; j++)
            expect_sums(&scenario->causes.items[j]);
    }
    pair_close(&pair);
}

/* Another card, engine, format, batch, layout, model, and speculation on and off: each against each. What the
 * terms leave would be called "other", and they leave nothing. */
Test(diff, terms_explain_all_of_every_change)
{
    static const char *const changes[] = {
        "",
        "gpu = l40s",
        "engine = sglang",
        "engine = ideal",
        "weights = fp8  kv_cache = fp8",
        "batch = 5000",
        "tp = 4",
        "pp = 2",
        "model = qwen3-30b-a3b",
        "speculation.tokens = 3  speculation.acceptance = 0.7  speculation.draft = llama-3.2-1b",
        "prompt = 30000",
        "cached_prefix = 900",
    };
    enum { COUNT = sizeof changes / sizeof changes[0] };
    struct arena *arena = arena_new();
    const char *plans[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        plans[i] =
            arena_printf(arena,
                         "scenario base { gpu = h100-sxm  model = llama-3.1-8b  prompt = 1000  output = 300  "
                         "batch = 16 }\nscenario chat : base { %s }\n",
                         changes[i]);
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j < COUNT; j++) {
            struct pair pair = pair_open(plans[i], plans[j]);
            cr_assert_eq(pair.diff->changed, i != j);
            for (size_t k = 0; i != j && k < pair.diff->scenarios.items[0].causes.count; k++) {
                const struct diff_cause *made = &pair.diff->scenarios.items[0].causes.items[k];
                expect_sums(made);
                for (size_t t = 0; t < made->terms.count; t++)
                    cr_expect_str_neq(made->terms.items[t].label, "other", "%s to %s: %s", changes[i],
                                      changes[j], made->row->name);
            }
            pair_close(&pair);
        }
    arena_free(arena);
}

/* ---- inputs ------------------------------------------------------------------------------------- */

static const struct diff_input *input(const struct diff *diff, const char *kind, const char *attribute)
{
    for (size_t i = 0; i < diff->inputs.count; i++)
        if (strcmp(diff->inputs.items[i].kind, kind) == 0 &&
            strcmp(diff->inputs.items[i].attribute, attribute) == 0)
            return &diff->inputs.items[i];
    return NULL;
}

Test(diff, an_input_of_several_scenarios_is_told_once)
{
    struct pair pair =
        pair_open(CARD MODEL CHAT LOAD("long", "8192"), CARD_AT("1 TB/s") MODEL CHAT LOAD("long", "8192"));
    cr_assert_eq(pair.diff->inputs.count, 1);
    const struct diff_input *bandwidth = input(pair.diff, "gpu", "bandwidth");
    cr_assert_not_null(bandwidth);
    cr_assert_str_eq(bandwidth->of, "card");
    cr_assert_eq(bandwidth->old->value.value, 2e12);
    cr_assert_eq(bandwidth->new->value.value, 1e12);
    cr_assert_eq(bandwidth->new->line, 1);
    cr_assert_str_eq(bandwidth->new->origin, "plan");
    cr_assert_eq(bandwidth->scenarios.count, 2);
    pair_close(&pair);
}

Test(diff, another_card_differs_by_its_name_and_its_figures)
{
    struct pair pair =
        pair_open(CARD MODEL CHAT, "gpu other : card { memory = 90 GB }\n" CARD MODEL
                                   "scenario chat { gpu = other  model = tiny  engine = ideal  "
                                   "context = 4096  batch = 1  utilization = 0.9 }");
    cr_assert_eq(pair.diff->inputs.count, 3);
    cr_assert_str_eq(input(pair.diff, "scenario", "gpu")->old->value.text, "card");
    cr_assert_str_eq(input(pair.diff, "scenario", "gpu")->new->value.text, "other");
    cr_assert_null(input(pair.diff, "gpu", "memory")->of);
    cr_assert_eq(input(pair.diff, "gpu", "memory")->new->value.value, 90e9);
    cr_assert_null(input(pair.diff, "scenario", "utilization")->old);
    pair_close(&pair);
}

Test(diff, remarks_are_no_inputs)
{
    struct pair pair =
        pair_open(CARD MODEL CHAT, "gpu card { memory = 80 GB  bandwidth = 2 TB/s  peak.fp16 = 312 TFLOPS"
                                   "  note = \"a remark\"  source = \"a page\"  year = 2020 }\n" MODEL CHAT);
    cr_assert_eq(pair.diff->inputs.count, 0);
    pair_close(&pair);
}

/* ---- assertions ----------------------------------------------------------------------------------- */

Test(diff, assertions_flip_come_and_go)
{
    struct pair pair =
        pair_open(CARD MODEL CHAT "assert chat.tpot <= 10 ms\nassert chat.fits\nassert chat.tpot > 10 ms\n"
                                  "assert chat.gpus == 1",
                  CARD_AT("1 TB/s") MODEL CHAT "assert chat.tpot <= 10 ms\nassert chat.fits\n"
                                               "assert chat.tpot > 10 ms\nassert chat.gpus == 2");
    const struct diff *diff = pair.diff;
    cr_assert_eq(diff->assertions.count, 4); /* `chat.fits` holds on both sides */
    cr_assert(diff->assertions.items[0].old->holds && !diff->assertions.items[0].new->holds);
    cr_assert(!diff->assertions.items[1].old->holds && diff->assertions.items[1].new->holds);
    cr_assert_null(diff->assertions.items[2].old);
    cr_assert_str_eq(diff->assertions.items[2].new->text, "chat.gpus == 2");
    cr_assert_null(diff->assertions.items[3].new);
    cr_assert_str_eq(diff->assertions.items[3].old->text, "chat.gpus == 1");
    cr_assert_eq(diff->failing, 2);
    cr_assert_eq(diff->mended, 1);
    pair_close(&pair);
}

/* ---- thresholds ----------------------------------------------------------------------------------- */

/* How many thresholds are exceeded; SIZE_MAX when the text is none. */
static size_t exceeded(struct pair *pair, const char *text)
{
    struct threshold threshold;
    const char *why;
    size_t before = pair->diff->exceeded;
    if (!threshold_parse(pair->new.arena, text, &threshold, &why) ||
        !diff_threshold(pair->new.arena, pair->diff, &threshold, &why))
        return SIZE_MAX;
    return pair->diff->exceeded - before;
}

Test(diff, thresholds_on_both_sides_of_their_limits)
{
    /* tpot 8.073741824 to 16.147483648 ms, exactly twice; throughput to exactly half. */
    struct pair pair = pair_open(CARD MODEL CHAT, CARD_AT("1 TB/s") MODEL CHAT);
    static const struct {
        const char *text;
        size_t exceeded;
    } cases[] = {
        {"tpot>+5%", 1},
        {"tpot>+99.9%", 1},
        {"tpot>+100%", 0},
        {"tpot>=+100%", 1},
        {"tpot > +100.1 %", 0},
        {"tpot<+5%", 0},
        {"chat.tpot>+5%", 1},
        {"\"chat\".tpot>+5%", 1},
        {"throughput<-5%", 1},
        {"throughput<-50%", 0},
        {"throughput<=-50%", 1},
        {"throughput<+10%", 1},
        {"tpot>16 ms", 1},
        {"tpot>16.147483648ms", 0},
        {"tpot>=16.147483648ms", 1},
        {"tpot>0.017 s", 0},
        {"tpot>+8 ms", 1},
        {"tpot>+8.1ms", 0},
        {"throughput<60 tokens/s", 0},
        {"throughput<62 tokens/s", 1},
        {"decode.time.weights>+1%", 1},
        {"memory.total>+0%", 0},
        {"mfu<1%", 1},
        {"tpot>1e-3s", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        cr_assert_eq(exceeded(&pair, cases[i].text), cases[i].exceeded, "%s", cases[i].text);
    cr_assert_str_eq(pair.diff->thresholds.items[0].text, "chat.tpot <= +5%");
    cr_assert_str_eq(pair.diff->thresholds.items[0].message, "--fail-if tpot>+5%");
    pair_close(&pair);
}

Test(diff, thresholds_that_are_none)
{
    struct pair pair = pair_open(CARD MODEL CHAT, CARD MODEL CHAT);
    static const char *const texts[] = {"",
                                        "tpot",
                                        "tpot>",
                                        "tpot>5%",
                                        "tpot>5 GB",
                                        "tpt>+5%",
                                        "fits>+1",
                                        "decode.bound>1",
                                        "tpot>+5 GB",
                                        "x.tpot>+5%",
                                        ">+5%",
                                        "tpot>ms",
                                        "tpot>5 parsec",
                                        "tpot>+-5%",
                                        "tpot=5 ms",
                                        "mfu.high>+5%"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        cr_assert_eq(exceeded(&pair, texts[i]), SIZE_MAX, "%s", texts[i]);
    pair_close(&pair);
}

Test(diff, thresholds_for_scenarios_of_one_side)
{
    struct pair pair = pair_open(CARD MODEL CHAT LOAD("gone", "1024"), CARD MODEL CHAT LOAD("fresh", "1024"));
    cr_assert_eq(exceeded(&pair, "fresh.tpot>+5%"), 0);  /* nothing to compare with */
    cr_assert_eq(exceeded(&pair, "fresh.tpot>1 ms"), 1); /* but a limit is a limit */
    cr_assert_eq(exceeded(&pair, "tpot>+5%"), 0);
    cr_assert_eq(exceeded(&pair, "gone.tpot>+5%"), 1); /* who names it wants to know */
    cr_assert_str_eq(pair.diff->thresholds.items[3].why, "the scenario was removed");
    pair_close(&pair);
}

Test(diff, a_figure_that_is_lost_exceeds_its_threshold)
{
    struct pair pair = pair_open(
        "gpu card { memory = 80 GB  bandwidth = 2 TB/s  peak.fp16 = 312 TFLOPS  price = 2 usd/h }\n" MODEL
            CHAT,
        CARD MODEL CHAT);
    cr_assert_eq(exceeded(&pair, "cost_per_mtok>+5%"), 1);
    cr_assert_not_null(pair.diff->thresholds.items[0].why);
    pair_close(&pair);
}

Test(diff, guards_read_the_old_report)
{
    struct pair pair = pair_open(
        CARD MODEL CHAT,
        CARD_AT("1 TB/s")
            MODEL CHAT LOAD("fresh", "1024") "guard chat.tpot <= 1.05 * old.chat.tpot \"slower\"\n"
                                             "guard chat.tpot <= 2 * old.chat.tpot\n"
                                             "guard card.bandwidth >= 0.4 * old.card.bandwidth\n"
                                             "guard chat.gpu.bandwidth >= 0.6 * old.chat.gpu.bandwidth\n"
                                             "guard old.chat.batch == 1 and old.chat.fits\n"
                                             "guard fresh.tpot <= 1.05 * old.fresh.tpot\n"
                                             "guard tiny.params == old.tiny.params\n");
    static const bool holds[] = {false, true, true, false, true, true, true};
    diff_guards(pair.new.arena, pair.diff, pair.new.evaluator);
    cr_assert_eq(diags_errors(pair.new.diags), 0);
    cr_assert_eq(pair.diff->thresholds.count, 7);
    for (size_t i = 0; i < 7; i++)
        cr_assert_eq(pair.diff->thresholds.items[i].holds, holds[i], "guard %zu: %s", i,
                     pair.diff->thresholds.items[i].text);
    cr_assert_eq(pair.diff->exceeded, 2);
    cr_assert_str_eq(pair.diff->thresholds.items[0].message, "slower");
    cr_assert_str_eq(pair.diff->thresholds.items[5].why, "scenario `fresh` is not in the old report");
    for (size_t i = 0; i < 5; i++)
        cr_assert_null(pair.diff->thresholds.items[i].why);
    pair_close(&pair);
}

/* ---- saved reports ---------------------------------------------------------------------------------- */

static const char *saved_text(struct result_fixture *fixture, size_t *length)
{
    struct buffer out = buffer_in(fixture->arena);
    struct report *report = report_build(fixture->evaluator, (struct report_options){.quantities = true});
    cr_assert(backend_by_name("json")->emit(fixture->arena, report, (struct backend_options){0}, &out));
    *length = out.length;
    return buffer_string(&out);
}

Test(diff, a_saved_report_is_as_good_as_its_plan)
{
    static const char plan[] =
        "scenario s { model = llama-3.1-70b  weights = fp8  gpu = h100-sxm  tp = 4  prompt = 2000  "
        "output = 400  batch = 64 }\n"
        "scenario \"a b.c\" : s { batch = 1 }\n"
        "assert s.fits\nassert s.tpot < 1 ms \"no\"\nguard s.tpot <= old.s.tpot\n";
    struct result_fixture fixture = result_open(plan);
    struct report saved;
    const char *why = NULL;
    size_t length;
    const char *text = saved_text(&fixture, &length);
    cr_assert(saved_report_read(fixture.arena, "r.json", text, length, &saved, &why), "%s", why);
    struct report *side = diff_side(fixture.evaluator);
    cr_assert_eq(saved.quantities.count, side->quantities.count);
    for (size_t i = 0; i < side->quantities.count; i++)
        cr_assert(side->quantities.items[i].type != QUANTITY_NUMBER ||
                      side->quantities.items[i].value == saved.quantities.items[i].value,
                  "%s", side->quantities.items[i].name);
    cr_assert_eq(saved.inputs.count, side->inputs.count);
    cr_assert_eq(saved.guards.count, 1);
    struct diff *diff = diff_compare(fixture.arena, &saved, side);
    cr_assert_eq(diff->kept, 2);
    cr_assert(diff->inputs_known);
    cr_assert_eq(diff->scenarios.count + diff->inputs.count + diff->assertions.count, 0);
    result_close(&fixture);
}

Test(diff, what_is_no_report_is_refused)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "line 1 is no JSON"},
        {"[1, 2", "line 1 is no JSON"},
        {"{}", "it is no report"},
        {"[]", "it is no report"},
        {"{\"schema\": 3}", "it is no report"},
        {"{\"schema\": \"perfc-report/2\"}", "its schema is `perfc-report/2`"},
        {"{\"schema\": \"perfc-diff/1\"}", "its schema is `perfc-diff/1`"},
        {"{\"schema\": \"perfc-report/1\", \"schema\": 1}", "line 1 is no JSON"},
    };
    struct arena *arena = arena_new();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct report report;
        const char *why = NULL;
        cr_assert_not(
            saved_report_read(arena, "r.json", cases[i].text, strlen(cases[i].text), &report, &why));
        cr_assert_eq(strncmp(why, cases[i].why, strlen(cases[i].why)), 0, "%s: %s", cases[i].text, why);
    }
    arena_free(arena);
}

Test(diff, a_report_with_parts_missing_or_of_other_types_is_read_as_far_as_it_goes)
{
    static const char text[] =
        "{\"schema\": \"perfc-report/1\", \"declarations\": {\"scenarios\": [\"a\", 3]}, \"quantities\": "
        "{\"a.fits\": "
        "{\"value\": true}, \"a.tpot\": {\"value\": \"x\"}, \"b\": 3}, \"assertions\": [{\"text\": 3}, 4, "
        "{\"text\": "
        "\"a.fits\"}], \"inputs\": [{\"kind\": \"scenario\", \"name\": \"a\", \"uses\": [0, 7, -1, \"x\"], "
        "\"attributes\": {\"batch\": 3}}, 5], \"guards\": 3}";
    struct arena *arena = arena_new();
    struct report report;
    const char *why = NULL;
    cr_assert(saved_report_read(arena, "r.json", text, strlen(text), &report, &why), "%s", why);
    cr_assert_eq(report.scenarios.count, 1);
    cr_assert_eq(report.assertions.count, 1);
    struct diff *diff = diff_compare(arena, &report, &report);
    cr_assert_eq(diff->kept, 1);
    cr_assert_eq(diff->changed, 0);
    arena_free(arena);
}
