/* test_sema.c: names, inheritance, values with dimensions, sweeps. Expected values are worked out by hand
 * in the comments. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/intern.h"
#include "sema/plan.h"
#include "source/diag.h"
#include "source/source.h"

struct loaded {
    struct arena *arena;
    struct plan *plan;
    struct diags *diags;
};

static struct loaded load(const char *text)
{
    struct loaded loaded = {.arena = arena_new()};
    loaded.diags = diags_new(loaded.arena);
    loaded.plan = plan_load_text(loaded.arena, strings_new(loaded.arena), sources_new(loaded.arena),
                                 loaded.diags, "test.perf", text, strlen(text), (struct plan_options){0});
    plan_check(loaded.plan);
    return loaded;
}

static const char *first_message(const struct loaded *loaded)
{
    return diags_count(loaded->diags) ? diags_get(loaded->diags, 0)->message : "no diagnostic";
}

static void expect_clean(const struct loaded *loaded)
{
    cr_assert_eq(diags_count(loaded->diags), 0, "%s", first_message(loaded));
}

static double number(struct loaded *loaded, enum kind kind, const char *name, enum attribute attribute)
{
    struct decl *decl = plan_find(loaded->plan, kind, name);
    cr_assert_not_null(decl, "no %s", name);
    return plan_number(loaded->plan, decl, attribute, -1);
}

Test(sema, literals_are_si_and_exact)
{
    struct loaded loaded =
        load("gpu g { memory = 80 GB  bandwidth = 2.039 TB/s  peak.fp16 = 312 TFLOPS  pcie = 512 Gbit/s }");
    expect_clean(&loaded);
    cr_assert_eq(number(&loaded, KIND_GPU, "g", ATTR_GPU_MEMORY), 80e9);
    cr_assert_eq(number(&loaded, KIND_GPU, "g", ATTR_GPU_BANDWIDTH), 2.039e12);
    cr_assert_eq(number(&loaded, KIND_GPU, "g", ATTR_GPU_PEAK_FP16), 312e12);
    cr_assert_eq(number(&loaded, KIND_GPU, "g", ATTR_GPU_PCIE), 64e9); /* 512e9 bit / 8 */
    arena_free(loaded.arena);
}

Test(sema, inherited_expressions_are_evaluated_where_they_are_inherited)
{
    /* heads / 8: 64 / 8 = 8 in a, 128 / 8 = 16 in b. */
    struct loaded loaded = load("model b : a { heads = 128 }\n"
                                "model a { hidden = 8192  heads = 64  kv_heads = heads / 8  layers = 2 }");
    expect_clean(&loaded);
    cr_assert_eq(number(&loaded, KIND_MODEL, "a", ATTR_KV_HEADS), 8);
    cr_assert_eq(number(&loaded, KIND_MODEL, "b", ATTR_KV_HEADS), 16);
    cr_assert_eq(number(&loaded, KIND_MODEL, "b", ATTR_HEAD_DIM), 64); /* default: 8192 / 128 */
    arena_free(loaded.arena);
}

Test(sema, a_scenario_that_says_not_what_runs_is_a_pattern_for_its_heirs)
{
    struct loaded loaded = load("gpu g { memory = 80 GB  bandwidth = 2 TB/s  peak.fp16 = 300 TFLOPS }\n"
                                "model m { params = 7e9  layers = 32  hidden = 4096  heads = 32 }\n"
                                "scenario users { prompt = 100  output = 10 }\n"
                                "scenario on_g : users { gpu = g }\n"
                                "scenario a : on_g { model = m }\n"
                                "scenario b : a { batch = 2 }\n"
                                "scenario alone { gpu = g }\n");
    expect_clean(&loaded);
    const struct plan_view *view = plan_view(loaded.plan);
    cr_assert_eq(view->scenarios.count, 3); /* `alone` is no pattern: nobody inherits it */
    cr_expect_str_eq(view->scenarios.items[0]->name, "a");
    cr_expect_str_eq(view->scenarios.items[1]->name, "b");
    cr_expect_str_eq(view->scenarios.items[2]->name, "alone");
    arena_free(loaded.arena);
}

Test(sema, blocks_take_from_their_model_and_its_base)
{
    struct loaded loaded = load("model a { hidden = 64  heads = 4  ffn = 100\n"
                                "  block dense { count = 1 }\n  block wide { count = 2  ffn = 200 } }\n"
                                "model b : a { ffn = 300  block wide { heads = 8 } }");
    expect_clean(&loaded);
    struct decl *b = plan_find(loaded.plan, KIND_MODEL, "b");
    cr_assert_eq(b->block_count, 2);
    cr_assert_eq(plan_number(loaded.plan, b->blocks[0], ATTR_FFN, -1), 300);
    cr_assert_eq(plan_number(loaded.plan, b->blocks[0], ATTR_HEADS, -1), 4);
    cr_assert_eq(plan_number(loaded.plan, b->blocks[1], ATTR_FFN, -1), 200);
    cr_assert_eq(plan_number(loaded.plan, b->blocks[1], ATTR_HEADS, -1), 8);
    cr_assert_eq(plan_number(loaded.plan, b->blocks[1], ATTR_BLOCK_COUNT, -1), 2);
    arena_free(loaded.arena);
}

Test(sema, origin_and_source_of_a_setting)
{
    struct loaded loaded = load("gpu g { memory = 80 GB  bandwidth = 2 TB/s\n"
                                "  source = \"sheet\"  source.bandwidth = \"measured\" }\n"
                                "gpu v : g { memory = 40 GB }");
    expect_clean(&loaded);
    struct decl *v = plan_find(loaded.plan, KIND_GPU, "v");
    const struct setting *memory = plan_setting(loaded.plan, v, ATTR_GPU_MEMORY);
    const struct setting *bandwidth = plan_setting(loaded.plan, v, ATTR_GPU_BANDWIDTH);
    cr_assert_eq(memory->origin, ORIGIN_PLAN);
    cr_assert_null(memory->source); /* the base's sheet says nothing about this figure */
    cr_assert_eq(bandwidth->origin, ORIGIN_INHERITED);
    cr_assert_str_eq(bandwidth->source, "measured");
    cr_assert_eq(plan_setting(loaded.plan, v, ATTR_GPU_MEASURED)->origin, ORIGIN_DEFAULT);
    arena_free(loaded.arena);
}

Test(sema, catalogue_is_found_by_name_and_overridden_by_the_plan)
{
    struct loaded loaded = load(
        "gpu h100-sxm { memory = 1 GB }\nscenario s { gpu = h100-sxm }\nscenario t { gpu = a100-sxm-80 }");
    expect_clean(&loaded);
    struct decl *own = plan_ref(loaded.plan, plan_find(loaded.plan, KIND_SCENARIO, "s"), ATTR_GPU);
    struct decl *shared = plan_ref(loaded.plan, plan_find(loaded.plan, KIND_SCENARIO, "t"), ATTR_GPU);
    cr_assert(!own->catalogue);
    cr_assert(shared->catalogue);
    cr_assert_eq(plan_setting(loaded.plan, shared, ATTR_GPU_BANDWIDTH)->origin, ORIGIN_CATALOGUE);
    arena_free(loaded.arena);
}

Test(sema, lets_and_lookup_order)
{
    /* `heads` inside the block is the block's own, not the let. */
    struct loaded loaded = load("let heads = 7  let card = g\n"
                                "gpu g { memory = 2 * 8 GB + 4 GB }\n"
                                "model m { hidden = 64  heads = 4  kv_heads = heads / 2 }\n"
                                "scenario s { gpu = card  model = m  batch = heads }");
    expect_clean(&loaded);
    cr_assert_eq(number(&loaded, KIND_GPU, "g", ATTR_GPU_MEMORY), 20e9);
    cr_assert_eq(number(&loaded, KIND_MODEL, "m", ATTR_KV_HEADS), 2);
    cr_assert_eq(number(&loaded, KIND_SCENARIO, "s", ATTR_BATCH), 7);
    cr_assert_str_eq(plan_ref(loaded.plan, plan_find(loaded.plan, KIND_SCENARIO, "s"), ATTR_GPU)->name, "g");
    arena_free(loaded.arena);
}

Test(sema, quoted_and_plain_names_are_equal)
{
    struct loaded loaded = load("model \"m\" { hidden = 64 }\nmodel \"Org/M-1\" : m { heads = 4 }\n"
                                "scenario s { model = \"Org/M-1\" }");
    expect_clean(&loaded);
    cr_assert_eq(number(&loaded, KIND_MODEL, "Org/M-1", ATTR_MODEL_HIDDEN), 64);
    arena_free(loaded.arena);
}

Test(sema, expressions)
{
    static const struct {
        const char *expression;
        double expected;
    } cases[] = {
        {"1 + 2 * 3", 7},
        {"(1 + 2) * 3", 9},
        {"10 - 2 - 3", 5},
        {"if 2 < 3 and not (1 == 2) then 5 else 6", 5},
        {"min(4, 2, 9) + max(1, 3)", 5},
        {"ceil(7 / 2) + floor(7 / 2) + round(2.5) + abs(0 - 1)", 4 + 3 + 3 + 1},
        {"8 GB / 2 GB", 4},
        {"50% * 128k", 64000},
        {"4Ki", 4096},
        {"2000 tokens + 24", 2024}, /* a bare number beside tokens counts tokens */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[200];
        snprintf(text, sizeof text, "scenario s { context = %s }", cases[i].expression);
        struct loaded loaded = load(text);
        expect_clean(&loaded);
        cr_assert_eq(number(&loaded, KIND_SCENARIO, "s", ATTR_CONTEXT), cases[i].expected, "%s",
                     cases[i].expression);
        arena_free(loaded.arena);
    }
}

Test(sema, a_long_sum_needs_no_deep_stack)
{
    struct arena *arena = arena_new();
    size_t terms = 20000;
    char *text = arena_alloc(arena, terms * 4 + 64);
    char *at = text + sprintf(text, "scenario s { context = 1");
    for (size_t i = 1; i < terms; i++)
        at += sprintf(at, " + 1");
    strcpy(at, " }");
    struct loaded loaded = load(text);
    expect_clean(&loaded);
    cr_assert_eq(number(&loaded, KIND_SCENARIO, "s", ATTR_CONTEXT), 20000);
    arena_free(loaded.arena);
    arena_free(arena);
}

Test(sema, variants_replace_attributes_and_reevaluate_the_rest)
{
    struct loaded loaded = load("scenario s { prompt = 1000  output = prompt / 4  batch = 2 }");
    expect_clean(&loaded);
    struct decl *s = plan_find(loaded.plan, KIND_SCENARIO, "s");
    struct value value = plan_setting(loaded.plan, s, ATTR_PROMPT)->value;
    value.number = 2000;
    enum attribute attribute = ATTR_PROMPT;
    struct decl *variant = plan_variant(loaded.plan, s, "s[1]", &attribute, &value, 1);
    cr_assert_eq(plan_number(loaded.plan, variant, ATTR_OUTPUT, -1), 500);
    cr_assert_eq(plan_number(loaded.plan, s, ATTR_OUTPUT, -1), 250);
    cr_assert_eq(plan_setting(loaded.plan, variant, ATTR_PROMPT)->origin, ORIGIN_SWEEP);
    arena_free(loaded.arena);
}

Test(sema, overrides_from_the_command_line)
{
    const char *text = "scenario a.1 { batch = 2 }";
    const char *overrides[] = {"a.1.batch = 3 * 4"};
    struct arena *arena = arena_new();
    struct diags *diags = diags_new(arena);
    struct plan_options options = {.overrides = overrides, .override_count = 1};
    struct plan *plan = plan_load_text(arena, strings_new(arena), sources_new(arena), diags, "t.perf", text,
                                       strlen(text), options);
    plan_check(plan);
    cr_assert_eq(diags_count(diags), 0);
    struct decl *scenario = plan_find(plan, KIND_SCENARIO, "a.1");
    cr_assert_eq(plan_number(plan, scenario, ATTR_BATCH, -1), 12);
    cr_assert_eq(plan_setting(plan, scenario, ATTR_BATCH)->origin, ORIGIN_COMMAND_LINE);
    arena_free(arena);
}

/* ---- mistakes: one each, with its code ------------------------------------------------------------ */

static void expect_one(const char *text, enum diag_code code)
{
    struct loaded loaded = load(text);
    diags_sort(loaded.diags);
    cr_assert_eq(diags_count(loaded.diags), 1, "%zu diagnostics for: %s (%s)", diags_count(loaded.diags),
                 text, first_message(&loaded));
    cr_assert_eq(diags_get(loaded.diags, 0)->code, code, "%s for: %s",
                 diag_info(diags_get(loaded.diags, 0)->code)->code, text);
    arena_free(loaded.arena);
}

Test(sema, one_mistake_gives_one_error)
{
    expect_one("scenario s { gpu = nonesuch-card }", DIAG_E0201);
    expect_one("gpu g { bandwith = 2 TB/s }", DIAG_E0202);
    expect_one("gpu g { memory = 1 GB }\ngpu g { memory = 2 GB }", DIAG_E0203);
    expect_one("gpu g { peak.fp16 = 1 TFLOPS  peak { fp16 = 2 TFLOPS } }", DIAG_E0204);
    expect_one("gpu g { memory = 80 Gb }", DIAG_E0205);
    expect_one("gpu g { bandwidth = 2 }", DIAG_E0207);
    expect_one("let x = 80 GB + 3 ms", DIAG_E0207);
    expect_one("let x = 80 GB + 3 ms  let y = x * 2", DIAG_E0207);
    expect_one("model m { params = 7 B }", DIAG_E0207);
    expect_one("gpu g { memory = 80B }", DIAG_E0207);
    expect_one("model m { tied_embeddings = 3 }", DIAG_E0208);
    expect_one("model m { attention = mqa }", DIAG_E0208);
    expect_one("guard 1", DIAG_E0208);
    expect_one("guard old.nowhere.tpot < 1 s", DIAG_E0201);
    expect_one("gpu card { memory = 80 GB }\nguard old.card", DIAG_E0208);
    expect_one("gpu card { memory = 80 GB }\nguard card.memory > old.card.bandwith", DIAG_E0218);
    expect_one("gpu card { memory = 80 GB }\nguard card.memory > 1.05 * old.card.memory / 1 s", DIAG_E0207);
    expect_one("gpu card { memory = 80 GB }\nassert old.card.memory > 1 GB", DIAG_E0201);
    expect_one("gpu g { memory = 1 GB  show tpot }", DIAG_E0210);
    expect_one("model a : b { heads = 1 }\nmodel b : a { heads = 2 }", DIAG_E0211);
    expect_one("let a = b  let b = a", DIAG_E0212);
    expect_one("model m { heads = kv_heads  kv_heads = heads }", DIAG_E0212);
    expect_one("scenario s { batch = 1, 2 }", DIAG_E0215);
    expect_one("let x = sqrt(2)", DIAG_E0217);
    expect_one("model m { heads = 0 }", DIAG_E0219);
    expect_one("model m { heads = 0 - 4 }", DIAG_E0219);
    expect_one("model m { heads = 2.5 }", DIAG_E0220);
    expect_one("let x = 1 / 0", DIAG_E0221);
    expect_one("gpu g { memory = 1 GB }\nlet x = g.bandwidth\ngpu h { bandwidth = x }", DIAG_E0222);
    expect_one("report { title = \"a\" }\nreport { title = \"b\" }", DIAG_E0225);
    expect_one("import \"nowhere.perf\"", DIAG_E0401);
    expect_one("import \"model.txt\"", DIAG_E0402);
    expect_one("scenario s { batch = 1 }\ncompare s, s", DIAG_E0224);
    expect_one("sweep s { batch = 1  show tpot }", DIAG_E0201);
}

Test(sema, guards_compare_the_plan_with_itself_outside_of_a_diff)
{
    struct loaded loaded = load("gpu card { memory = 80 GB }\n"
                                "guard card.memory >= 0.9 * old.card.memory \"smaller\"\n"
                                "guard card.memory < old.card.memory");
    const struct plan_view *view = plan_view(loaded.plan);
    cr_assert_eq(diags_errors(loaded.diags), 0);
    cr_assert_eq(view->guards.count, 2);
    cr_assert_eq(view->assertions.count, 0);
    cr_assert_str_eq(view->guards.items[0].text, "card.memory >= 0.9 * old.card.memory");
    cr_assert_str_eq(view->guards.items[0].message, "smaller");
    static const struct old_reader itself = {NULL, NULL};
    plan_set_old(loaded.plan, &itself);
    cr_assert(plan_evaluate(loaded.plan, view->guards.items[0].condition).boolean);
    cr_assert_not(plan_evaluate(loaded.plan, view->guards.items[1].condition).boolean);
    plan_set_old(loaded.plan, NULL);
    arena_free(loaded.arena);
}

Test(sema, independent_errors_are_all_reported)
{
    struct loaded loaded =
        load("gpu g { memory = 80 Gb }\nmodel m { heads = 0  hiden = 3 }\nscenario s { modle = m }");
    cr_assert_eq(diags_errors(loaded.diags), 4);
    arena_free(loaded.arena);
}

Test(sema, a_family_of_cards_is_offered_member_by_member)
{
    struct loaded loaded = load("gpu h100-mine { memory = 80 GB  bandwidth = 3 TB/s }\n"
                                "scenario s { model = llama-3.1-8b  gpu = h100 }");
    cr_assert_str_eq(first_message(&loaded), "there is no gpu `h100`");
    cr_assert_str_eq(diags_get(loaded.diags, 0)->notes->text,
                     "did you mean `h100-mine`, `h100-nvl`, `h100-pcie` or `h100-sxm`?");
    arena_free(loaded.arena);
}

Test(sema, a_number_for_a_card_is_taken_as_a_part_of_its_name)
{
    struct loaded loaded = load("scenario s { model = llama-3.1-8b  gpu = 4090  context = 100 }");
    cr_assert_str_eq(first_message(&loaded), "`gpu` takes the name of a gpu, not a number");
    cr_assert_str_eq(diags_get(loaded.diags, 0)->notes->replacement, "rtx-4090");
    arena_free(loaded.arena);
}

Test(sema, a_scenario_on_a_system_has_the_card_of_the_system)
{
    struct loaded loaded = load("system node { gpu = h100-sxm  gpus_per_node = 8 }\n"
                                "gpu copy { memory = big.gpu.memory  bandwidth = big.gpu.bandwidth }\n"
                                "scenario big { system = node  model = llama-3.1-8b  context = 100 }");
    expect_clean(&loaded);
    cr_assert_eq(number(&loaded, KIND_GPU, "copy", ATTR_GPU_BANDWIDTH), 3.35e12); /* NVIDIA H100 data sheet */
    arena_free(loaded.arena);
}
