/* test_diff_beside.c: sweeps, models and cards of two plans compared, and what machines read of sweeps,
 * sensitivities and thresholds. As in test_diff.c 7e9 parameters in 16 bits are 14 GB, a token's cache is
 * 2 * 32 * 4096 * 2 B = 524 288 B, so 4096 tokens are 2 147 483 648 B, and the ideal engine adds nothing. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "diff_fixture.h"
#include "run.h"

#define CARD_OF(memory, bandwidth)                                                                           \
    "gpu card { memory = " memory "  bandwidth = " bandwidth "  peak.fp16 = 312 TFLOPS }\n"
#define CARD             CARD_OF("80 GB", "2 TB/s")
#define MODEL_OF(layers) "model tiny { params = 7e9  layers = " layers "  hidden = 4096  heads = 32 }\n"
#define MODEL            MODEL_OF("32")
#define CHAT             "scenario chat { gpu = card  model = tiny  engine = ideal  context = 4096  batch = 1 }\n"
#define SWEEP(values)    "sweep chat { batch = " values "\n  show tpot }\n"

static void expect_near(double actual, double expected)
{
    cr_assert(fabs(actual - expected) <= 1e-9 * fabs(expected), "%.17g, not %.17g", actual, expected);
}

/* ---- sweeps ------------------------------------------------------------------------------------------ */

Test(diff_beside, a_sweep_is_compared_point_by_point)
{
    struct pair pair =
        pair_open(CARD MODEL CHAT SWEEP("1, 2, 4"), CARD_OF("80 GB", "1 TB/s") MODEL CHAT SWEEP("2, 4, 8"));
    cr_assert_eq(pair.diff->sweeps.count, 1);
    const struct diff_sweep *sweep = &pair.diff->sweeps.items[0];
    cr_assert_eq(sweep->state, DIFF_KEPT);
    cr_assert_eq(sweep->kept, 2);
    cr_assert_eq(sweep->changed, 2);
    cr_assert_eq(sweep->worse, 2);
    cr_assert_eq(sweep->better, 0);
    cr_assert_eq(sweep->added, 1);
    cr_assert_eq(sweep->removed, 1);
    cr_assert_eq(sweep->points.count, 4);
    const struct diff_point *two = &sweep->points.items[0];
    cr_assert_eq(two->state, DIFF_KEPT);
    expect_near(two->point->axes.items[0].value, 2);
    cr_assert_eq(two->figures.count, 1);
    expect_near(two->figures.items[0].old->value, (14e9 + 2 * 2147483648.0) / 2e12);
    expect_near(two->figures.items[0].new->value, (14e9 + 2 * 2147483648.0) / 1e12);
    cr_assert_eq(two->figures.items[0].change, CHANGE_WORSE);
    expect_near(sweep->points.items[2].point->axes.items[0].value, 8);
    cr_assert_eq(sweep->points.items[2].state, DIFF_NEW);
    expect_near(sweep->points.items[3].point->axes.items[0].value, 1);
    cr_assert_eq(sweep->points.items[3].state, DIFF_REMOVED);
    pair_close(&pair);
}

Test(diff_beside, a_point_that_does_not_fit_any_more_is_worse)
{
    /* 14 GB and two caches of 2.147 GB fit into 20 GB, four do not. */
    struct pair pair =
        pair_open(CARD MODEL CHAT SWEEP("2, 4"), CARD_OF("20 GB", "2 TB/s") MODEL CHAT SWEEP("2, 4"));
    const struct diff_sweep *sweep = &pair.diff->sweeps.items[0];
    cr_assert_eq(sweep->points.count, 1);
    expect_near(sweep->points.items[0].point->axes.items[0].value, 4);
    cr_assert_eq(sweep->points.items[0].figures.items[0].row->id, Q_FITS);
    cr_assert_eq(sweep->points.items[0].figures.items[0].change, CHANGE_WORSE);
    pair_close(&pair);
}

Test(diff_beside, equal_sweeps_are_not_told)
{
    struct pair pair = pair_open(CARD MODEL CHAT SWEEP("1, 2"), CARD MODEL CHAT SWEEP("1, 2"));
    cr_assert_eq(pair.diff->sweeps.count, 0);
    pair_close(&pair);
    pair = pair_open(CARD MODEL CHAT, CARD MODEL CHAT SWEEP("1, 2"));
    cr_assert_eq(pair.diff->sweeps.items[0].state, DIFF_NEW);
    pair_close(&pair);
    pair = pair_open(CARD MODEL CHAT SWEEP("1, 2"),
                     CARD MODEL CHAT "sweep chat { context = 1000, 2000\n  show tpot }");
    cr_assert_eq(pair.diff->sweeps.count, 2); /* over another attribute it is another sweep */
    cr_assert_eq(pair.diff->sweeps.items[0].state, DIFF_NEW);
    cr_assert_eq(pair.diff->sweeps.items[1].state, DIFF_REMOVED);
    pair_close(&pair);
}

Test(diff_beside, the_second_of_two_like_sweeps_is_compared_with_the_second)
{
    struct pair pair =
        pair_open(CARD MODEL CHAT SWEEP("1, 2") SWEEP("4, 8"), CARD MODEL CHAT SWEEP("1, 2") SWEEP("4, 16"));
    cr_assert_eq(pair.diff->sweeps.count, 1);
    cr_assert_eq(pair.diff->sweeps.items[0].kept, 1);
    cr_assert_eq(pair.diff->sweeps.items[0].added, 1);
    cr_assert_eq(pair.diff->sweeps.items[0].removed, 1);
    pair_close(&pair);
}

/* ---- models and cards -----------------------------------------------------------------------------------
 */

static const struct diff_figure *figure_of(const struct diff *diff, const char *name, enum quantity quantity)
{
    for (size_t i = 0; i < diff->declarations.count; i++)
        for (size_t j = 0; j < diff->declarations.items[i].figures.count; j++)
            if (strcmp(diff->declarations.items[i].name, name) == 0 &&
                diff->declarations.items[i].figures.items[j].row->id == quantity)
                return &diff->declarations.items[i].figures.items[j];
    cr_assert_fail("%s has no such change", name);
    return NULL;
}

Test(diff_beside, quantities_of_models_and_cards_are_compared)
{
    struct pair pair = pair_open(CARD MODEL CHAT, CARD_OF("80 GB", "1 TB/s") MODEL_OF("40") CHAT);
    /* 312 TFLOP/s over 2 TB/s and over 1 TB/s; 2 * 32 and 2 * 40 layers * 4096 * 2 B. */
    const struct diff_figure *balance = figure_of(pair.diff, "card", Q_BALANCE);
    expect_near(balance->old->value, 156);
    expect_near(balance->new->value, 312);
    const struct diff_figure *cache = figure_of(pair.diff, "tiny", Q_KV_BYTES_PER_TOKEN);
    expect_near(cache->old->value, 524288);
    expect_near(cache->new->value, 655360);
    cr_assert_eq(cache->change, CHANGE_WORSE);
    pair_close(&pair);
}

Test(diff_beside, declarations_come_and_go)
{
    struct pair pair = pair_open(CARD MODEL CHAT, CARD "gpu other : card { bandwidth = 3 TB/s }\n" MODEL
                                                       "scenario chat { gpu = other  model = tiny  "
                                                       "engine = ideal  context = 4096  batch = 1 }\n");
    cr_assert_eq(pair.diff->declarations.count, 2);
    cr_assert_str_eq(pair.diff->declarations.items[0].name, "other");
    cr_assert_str_eq(pair.diff->declarations.items[0].kind, "gpu");
    cr_assert_eq(pair.diff->declarations.items[0].state, DIFF_NEW);
    cr_assert_str_eq(pair.diff->declarations.items[1].name, "card");
    cr_assert_eq(pair.diff->declarations.items[1].state, DIFF_REMOVED);
    pair_close(&pair);
}

/* ---- as told ----------------------------------------------------------------------------------------- */

/* ---- thresholds -----------------------------------------------------------------------------------------
 */

/* How many thresholds `text` exceeds; SIZE_MAX: it is none. */
static size_t exceeded(struct pair *pair, const char *text, const char **why)
{
    struct threshold threshold;
    size_t before = pair->diff->exceeded;
    if (!threshold_parse(pair->new.arena, text, &threshold, why) ||
        !diff_threshold(pair->new.arena, pair->diff, &threshold, why))
        return SIZE_MAX;
    return pair->diff->exceeded - before;
}

Test(diff_beside, thresholds_for_models_and_cards)
{
    /* 40 layers keep 5/4 of the cache of 32; half the bandwidth is twice the balance, 312 FLOP/B. */
    struct pair pair = pair_open(CARD MODEL CHAT, CARD_OF("80 GB", "1 TB/s") MODEL_OF("40") CHAT);
    static const struct {
        const char *text;
        size_t exceeded;
    } cases[] = {
        {"kv_bytes_per_token>+24%", 1},
        {"kv_bytes_per_token>+25%", 0},
        {"tiny.kv_bytes_per_token>=+25%", 1},
        {"tiny.kv_bytes_per_token>655360 B", SIZE_MAX}, /* it is bytes per token */
        {"tiny.kv_bytes_per_token>655359 B/token", 1},
        {"tiny.kv_bytes_per_token>655360 B/token", 0},
        {"layers>+8", 0},
        {"layers>=+8", 1},
        {"params>+0%", 0},
        {"balance>+99%", 1},
        {"card.balance>311 FLOP/B", 1},
        {"card.balance>312 FLOP/B", 0},
        {"chat.balance>+1%", SIZE_MAX},
        {"sweep balance>+1%", SIZE_MAX},
        {"tiny.weight_bytes>+0%", 0},
        {"chat.weight_bytes>+0%", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *why = "";
        cr_expect_eq(exceeded(&pair, cases[i].text, &why), cases[i].exceeded, "%s %s", cases[i].text, why);
    }
    cr_assert_str_eq(pair.diff->thresholds.items[0].text, "tiny.kv_bytes_per_token <= +24%");
    pair_close(&pair);
}

Test(diff_beside, thresholds_for_declarations_that_came_and_went)
{
    struct arena *arena = arena_new();
    static const char other[] =
        "model other { params = 8e9  layers = 32  hidden = 4096  heads = 32 }\n"
        "scenario chat { gpu = card  model = other  engine = ideal  context = 4096 }\n";
    struct pair pair = pair_open(CARD MODEL CHAT, arena_printf(arena, "%s%s", CARD, other));
    const char *why = "";
    cr_assert_eq(exceeded(&pair, "params>+1%", &why), 0); /* another model: nothing to compare with */
    cr_assert_eq(exceeded(&pair, "params>7.5e9", &why), 1);
    cr_assert_eq(exceeded(&pair, "tiny.params>+1%", &why), 1); /* who names it wants to know */
    cr_assert_str_eq(pair.diff->thresholds.items[2].why, "nothing uses it any more");
    pair_close(&pair);
    arena_free(arena);
}

Test(diff_beside, thresholds_for_points_of_sweeps)
{
    /* Point by point (14e9 + batch * 2147483648) B at 1 and at 2 TB/s: each takes twice as long; the point of
     * batch 8 is new, 31.18 ms, and that of batch 1 is gone. */
    struct pair pair =
        pair_open(CARD MODEL CHAT SWEEP("1, 2, 4"), CARD_OF("80 GB", "1 TB/s") MODEL CHAT SWEEP("2, 4, 8"));
    static const struct {
        const char *text;
        size_t exceeded;
    } cases[] = {
        {"sweep tpot>+99%", 2},
        {"sweep tpot>+100%", 0},
        {"sweep  chat.tpot>=+100%", 2},
        {"sweep chat.tpot > 31 ms", 1},
        {"sweep chat.tpot > 20 ms", 2},
        {"sweep chat.tpot>+9.5 ms", 1},    /* 9.147 ms for batch 2, 11.295 ms for batch 4 */
        {"sweep chat.ttft>+1%", SIZE_MAX}, /* shown by none */
        {"sweep load.tpot>+1%", SIZE_MAX},
        {"sweep>+1%", SIZE_MAX},
        {"sweep >+1%", SIZE_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *why = "";
        cr_expect_eq(exceeded(&pair, cases[i].text, &why), cases[i].exceeded, "%s %s", cases[i].text, why);
    }
    cr_assert_str_eq(pair.diff->thresholds.items[0].text, "chat, batch = 2: tpot <= +99%");
    pair_close(&pair);
}

Test(diff_beside, a_figure_that_a_point_has_lost_exceeds_its_threshold)
{
    static const char priced[] =
        "gpu card { memory = 80 GB  bandwidth = 2 TB/s  peak.fp16 = 312 TFLOPS  price = 2 usd/h }\n";
    static const char sweep[] = "sweep chat { batch = 1, 2\n  show cost_per_mtok }";
    struct arena *arena = arena_new();
    struct pair pair = pair_open(arena_printf(arena, "%s%s%s%s", priced, MODEL, CHAT, sweep),
                                 arena_printf(arena, "%s%s%s%s", CARD, MODEL, CHAT, sweep));
    const char *why = "";
    cr_assert_eq(exceeded(&pair, "sweep cost_per_mtok>+5%", &why), 2);
    cr_assert_str_eq(pair.diff->thresholds.items[0].why, "no price is declared for the card");
    pair_close(&pair);
    arena_free(arena);
}

/* ---- formats --------------------------------------------------------------------------------------------
 */

Test(diff_beside, every_format_tells_of_sweeps_and_declarations)
{
    struct arena *arena = arena_new();
    static const char *const formats[] = {"text", "md", "html"};
    const char *old = scratch_file(arena, "old.perf", CARD MODEL CHAT SWEEP("1, 2, 4"));
    const char *new = scratch_file(arena, "new.perf", CARD_OF("80 GB", "1 TB/s") MODEL CHAT SWEEP("2, 4, 8"));
    const char *points = scratch_file(arena, "points.perf", CARD MODEL CHAT SWEEP("2, 4, 8"));
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        struct run run = RUN(arena, "diff", "-f", formats[i], old, new);
        cr_assert_eq(run.status, 0);
        cr_assert_not_null(strstr(run.out, "batch = 2"), "%s", formats[i]); /* 18.3 GB at 2 and 1 TB/s */
        cr_assert_not_null(strstr(run.out, "9.15"), "%s", formats[i]);
        cr_assert_not_null(strstr(run.out, "18.3"), "%s", formats[i]);
        cr_assert_not_null(strstr(run.out, "Models and cards"), "%s", formats[i]);
        cr_assert_not_null(strstr(run.out, "156"), "%s", formats[i]);
    }
    struct run run = RUN(arena, "diff", "-f", "md", old, points);
    cr_assert_not_null(strstr(run.out, "**Nothing changed in 1 scenario; 2 points of sweeps changed**"), "%s",
                       run.out);
    /* Saved reports tell of the same. */
    const char *saved = arena_printf(arena, "%s/old.json", scratch_directory(arena));
    cr_assert_eq(RUN(arena, "-o", saved, old).status, 0);
    cr_assert_str_eq(RUN(arena, "diff", saved, new).out, RUN(arena, "diff", old, new).out);
    arena_free(arena);
}

/* ---- for machines -------------------------------------------------------------------------------------- */

static json_t *load(const char *text)
{
    json_error_t error;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    cr_assert_not_null(root, "line %d: %s", error.line, error.text);
    return root;
}

/* The element of an array with these texts in these members. */
static json_t *element(json_t *array, const char *const *members, const char *const *texts, size_t count)
{
    size_t index;
    json_t *node;
    json_array_foreach(array, index, node)
    {
        size_t same = 0;
        for (size_t i = 0; i < count; i++) {
            const char *text = json_string_value(json_object_get(node, members[i]));
            same += text && strcmp(text, texts[i]) == 0;
        }
        if (same == count)
            return node;
    }
    cr_assert_fail("no %s %s", texts[0], texts[1]);
    return NULL;
}

static double number_at(json_t *node, const char *first, const char *second)
{
    json_t *found = json_object_get(node, first);
    found = second ? json_object_get(found, second) : found;
    cr_assert(json_is_number(found), "%s.%s is no number", first, second ? second : "");
    return json_number_value(found);
}

Test(diff_beside, json_tells_sensitivities_and_thresholds)
{
    struct arena *arena = arena_new();
    const char *plan =
        scratch_file(arena, "plan.perf", CARD MODEL CHAT "assert chat.tpot <= 10 ms\n" SWEEP("1, 64"));
    json_t *root = load(RUN(arena, "-f", "json", plan).out);
    /* All of the step is reading at the bandwidth: 1 % more of it takes 1 % less. */
    json_t *bandwidth =
        element(json_object_get(root, "sensitivities"), (const char *const[]){"input", "scenario"},
                (const char *const[]){"gpu.bandwidth", "chat"}, 2);
    expect_near(number_at(bandwidth, "value", NULL), 2e12);
    expect_near(number_at(bandwidth, "more", NULL), 2.2e12);
    json_t *tpot = json_object_get(json_object_get(bandwidth, "results"), "tpot");
    cr_assert_float_eq(number_at(tpot, "elasticity", NULL), -1, 1e-6);
    expect_near(number_at(tpot, "with_more", NULL), 16147483648.0 / 2.2e12);
    expect_near(number_at(tpot, "with_less", NULL), 16147483648.0 / 1.8e12);
    /* 16 147 483 648 B in 10 ms take 1.6147483648 TB/s, so it holds down to there. */
    json_t *thresholds = json_object_get(root, "thresholds");
    json_t *least = element(thresholds, (const char *const[]){"about", "input", "with"},
                            (const char *const[]){"assertion", "gpu.bandwidth", "less"}, 3);
    expect_near(number_at(least, "last", NULL), 1.6147483648e12);
    cr_assert_str_eq(json_string_value(json_object_get(least, "from")), "holds");
    cr_assert_str_eq(json_string_value(json_object_get(least, "to")), "fails");
    cr_assert_str_eq(json_string_value(json_object_get(least, "text")), "chat.tpot <= 10 ms");
    /* 80 GB less 14 GB hold 30 caches of 2 147 483 648 B and not 31. */
    json_t *most = element(thresholds, (const char *const[]){"about", "input", "with"},
                           (const char *const[]){"fits", "batch", "more"}, 3);
    expect_near(number_at(most, "last", NULL), 30);
    expect_near(number_at(most, "first", NULL), 31);
    /* 64 caches are 137 GB. */
    json_t *sweep = json_array_get(json_object_get(root, "sweeps"), 0);
    json_t *point = json_array_get(json_object_get(sweep, "points"), 1);
    expect_near(number_at(json_object_get(point, "at"), "batch", "value"), 64);
    expect_near(number_at(json_object_get(point, "quantities"), "tpot", "value"),
                (14e9 + 64 * 2147483648.0) / 2e12);
    cr_assert(json_is_false(json_object_get(point, "fits")));
    json_decref(root);
    arena_free(arena);
}

Test(diff_beside, csv_has_a_row_for_each_point)
{
    struct arena *arena = arena_new();
    const char *plan = scratch_file(
        arena, "plan.perf", CARD MODEL CHAT "sweep chat { batch = 1, 64\n  engine = ideal\n  show tpot }\n");
    struct lines lines = split_lines(arena, RUN(arena, "-f", "csv", plan).out);
    cr_assert_eq(lines.list.count, 4); /* heading, scenario, two points */
    cr_assert_eq(strncmp(lines.list.items[0], "scenario,sweep.batch,sweep.engine,fits,", 39), 0, "%.60s",
                 lines.list.items[0]);
    cr_assert_eq(strncmp(lines.list.items[1], "chat,,,true,30,", 15), 0, "%.60s", lines.list.items[1]);
    cr_assert_eq(strncmp(lines.list.items[2], "chat,1,ideal,true,,", 19), 0, "%.60s", lines.list.items[2]);
    cr_assert_not_null(strstr(lines.list.items[2], ",0.008073741824,"));
    cr_assert_eq(strncmp(lines.list.items[3], "chat,64,ideal,false,,", 21), 0, "%.60s", lines.list.items[3]);
    arena_free(arena);
}
