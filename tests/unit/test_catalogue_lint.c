/* test_catalogue_lint.c: rules that every entry of the standard library keeps, and entries with one slip each
 * that they must catch: peaks with sparsity, a digit too many, bits for bytes, links of both directions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "faults.h"
#include "result/evaluate.h"
#include "result_fixture.h"
#include "sema/plan.h"

TestSuite(catalogue_lint, .init = set_up, .fini = tear_down);

static struct result_fixture fixture;

static double number(struct decl *decl, enum attribute attribute)
{
    return plan_number(fixture.plan, decl, attribute, 0);
}

/* ---- peaks -------------------------------------------------------------------------------------- */

/* The peak of a narrower format over that of a wider one: the same, or double. */
struct step {
    enum attribute narrow, wide;
};

static const struct step steps[] = {
    {ATTR_GPU_PEAK_FP8, ATTR_GPU_PEAK_FP16},  {ATTR_GPU_PEAK_FP8, ATTR_GPU_PEAK_BF16},
    {ATTR_GPU_PEAK_INT8, ATTR_GPU_PEAK_FP16}, {ATTR_GPU_PEAK_INT8, ATTR_GPU_PEAK_BF16},
    {ATTR_GPU_PEAK_FP4, ATTR_GPU_PEAK_FP8},   {ATTR_GPU_PEAK_INT4, ATTR_GPU_PEAK_INT8},
    {ATTR_GPU_PEAK_BF16, ATTR_GPU_PEAK_FP16},
};

/* Cards whose steps are really another, as their notes and docs/catalogue.md say. */
static bool unusual(const char *gpu, const struct step *step)
{
    static const struct {
        const char *gpu;
        enum attribute narrow;
    } exceptions[] = {
        {"b300-sxm", ATTR_GPU_PEAK_INT8},
        {"gb300", ATTR_GPU_PEAK_INT8},
        {"b300-sxm", ATTR_GPU_PEAK_FP4},
        {"gb300", ATTR_GPU_PEAK_FP4},
        {"rubin", ATTR_GPU_PEAK_FP8},
        {"trainium3", ATTR_GPU_PEAK_FP8},
        {"groq-lpu-v1", ATTR_GPU_PEAK_INT8},
        {"gaudi3", ATTR_GPU_PEAK_FP8},
        {"gaudi3", ATTR_GPU_PEAK_BF16},
        {"mi100", ATTR_GPU_PEAK_BF16},
        {"p40", ATTR_GPU_PEAK_INT8},
        {"p4", ATTR_GPU_PEAK_INT8},
        {"gtx-1080", ATTR_GPU_PEAK_INT8},
        {"gtx-1080ti", ATTR_GPU_PEAK_INT8},
        {"mlu370-x8", ATTR_GPU_PEAK_INT8},
        {"qualcomm-ai100-pro", ATTR_GPU_PEAK_INT8},
        {"qualcomm-ai100-ultra", ATTR_GPU_PEAK_INT8},
    };
    for (size_t i = 0; i < sizeof exceptions / sizeof exceptions[0]; i++)
        if (strcmp(exceptions[i].gpu, gpu) == 0 && exceptions[i].narrow == step->narrow)
            return true;
    return false;
}

static void check_steps(struct decl *gpu)
{
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        double narrow = number(gpu, steps[i].narrow), wide = number(gpu, steps[i].wide);
        if (!(narrow > 0 && wide > 0) || unusual(gpu->name, &steps[i]))
            continue;
        if (!(narrow >= 0.99 * wide && narrow <= 2.1 * wide))
            FAULT("%s: %s is %.3g times %s", gpu->name, attribute_info(steps[i].narrow)->name, narrow / wide,
                  attribute_info(steps[i].wide)->name);
    }
}

/* Cards of one architecture and one kind of memory multiply alike: 16-bit matrices against 32-bit vectors.
 * One whose matrices alone are counted with sparsity, or at half rate, stands out. */
static const char *const unlike_their_kind[] = {
    "l20",
    "h20-96",
    "h20-141", /* for export */
    "rtx-5090d",
    "rtx-5090d-v2", /* the same */
    "rtx-5090-laptop",
    "dgx-spark-gb10",
    "jetson-thor-t5000",
};

static double matrix_ratio(struct decl *gpu)
{
    double wide = number(gpu, ATTR_GPU_PEAK_FP32);
    return wide > 0 ? fmax(number(gpu, ATTR_GPU_PEAK_FP16), number(gpu, ATTR_GPU_PEAK_BF16)) / wide : 0;
}

static bool same_word(struct decl *one, struct decl *other, enum attribute attribute)
{
    return strcmp(plan_text(fixture.plan, one, attribute, ""),
                  plan_text(fixture.plan, other, attribute, "")) == 0;
}

static int by_size(const void *one, const void *other)
{
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

static void check_kin(struct decl *gpu)
{
    size_t count, kin = 0;
    struct decl **gpus = plan_catalogue(fixture.plan, KIND_GPU, &count);
    double *ratios = ARENA_ARRAY(arena, double, count), own = matrix_ratio(gpu);
    for (size_t i = 0; i < sizeof unlike_their_kind / sizeof unlike_their_kind[0]; i++)
        if (strcmp(unlike_their_kind[i], gpu->name) == 0)
            return;
    for (size_t i = 0; i < count; i++)
        if (matrix_ratio(gpus[i]) > 0 && same_word(gpus[i], gpu, ATTR_GPU_ARCHITECTURE) &&
            same_word(gpus[i], gpu, ATTR_GPU_MEMORY_KIND))
            ratios[kin++] = matrix_ratio(gpus[i]);
    if (own == 0 || kin < 2)
        return;
    qsort(ratios, kin, sizeof *ratios, by_size);
    double middle = ratios[kin / 2];
    if (!(own > 0.8 * middle && own < 1.2 * middle))
        FAULT("%s: 16-bit peak over fp32 is %.3g, of its kind %.3g", gpu->name, own, middle);
}

/* ---- ranges ------------------------------------------------------------------------------------- */

static void check_range(struct decl *gpu, const char *what, double value, double low, double high)
{
    if (!(value >= low && value <= high))
        FAULT("%s: %s is %.4g, outside %.3g to %.3g", gpu->name, what, value, low, high);
}

/* What a card costs changes by the month: the source has the year. */
static void check_price(struct decl *gpu)
{
    const struct setting *setting = plan_setting(fixture.plan, gpu, ATTR_PRICE);
    check_range(gpu, "price in usd/h", number(gpu, ATTR_PRICE) * 3600, 0.05, 20);
    if (!setting || !setting->source || !strstr(setting->source, "202"))
        FAULT("%s: of when is the price?", gpu->name);
}

static void check_card(struct decl *gpu)
{
    bool sram = strcmp(gpu->name, "groq-lpu-v1") == 0;
    double memory = number(gpu, ATTR_GPU_MEMORY), bandwidth = number(gpu, ATTR_GPU_BANDWIDTH);
    check_range(gpu, "memory in GB", memory / 1e9, sram ? 0.2 : 5, 450);
    check_range(gpu, "bandwidth in GB/s", bandwidth / 1e9, 60, sram ? 8e4 : 24e3);
    /* Reading all of it once takes 10 ms to 4 s, but for SRAM. */
    check_range(gpu, "memory over bandwidth", memory / bandwidth, sram ? 1e-6 : 0.007, 4);
    check_range(gpu, "balance", evaluate_number(fixture.evaluator, gpu, Q_BALANCE, 0), sram ? 1 : 19, 1000);
    check_range(gpu, "year", number(gpu, ATTR_GPU_YEAR), 2016, 2026);
    if (plan_is_set(fixture.plan, gpu, ATTR_GPU_TDP))
        check_range(gpu, "power in W", number(gpu, ATTR_GPU_TDP), 10, 2000);
    if (plan_is_set(fixture.plan, gpu, ATTR_PRICE))
        check_price(gpu);
    if (plan_is_set(fixture.plan, gpu, ATTR_GPU_LINK))
        check_range(gpu, "link over bandwidth", number(gpu, ATTR_GPU_LINK) / bandwidth, 0.05, 0.6);
    if (number(gpu, ATTR_GPU_LINK) > 0 && plan_is_set(fixture.plan, gpu, ATTR_GPU_LINK_DOMAIN) &&
        !(number(gpu, ATTR_GPU_LINK_DOMAIN) >= 2))
        FAULT("%s: a link that nobody shares", gpu->name);
    check_steps(gpu);
    check_kin(gpu);
}

/* ---- models ------------------------------------------------------------------------------------- */

/* The size that a name tells, in parameters: "32b", "360m"; with an `a` before it those that are active. 0:
 * none, or a mixture of experts by its factors ("8x7b"). */
static double told_size(const char *name, bool active)
{
    for (const char *at = name; at && (at = strchr(at, '-')) != NULL;) {
        at++;
        char *end;
        bool of_active = *at == 'a';
        double size = strtod(at + of_active, &end);
        bool ends = (*end == 'b' || *end == 'm') && (end[1] == '\0' || end[1] == '-');
        if (end > at + of_active && ends && of_active == active)
            return size * (*end == 'b' ? 1e9 : 1e6);
    }
    return 0;
}

/* Names round, and some leave the embedding out: Gemma 7B has 8.5 billion. */
static void check_size(struct decl *model)
{
    /* 2.4 billion without embedding and head */
    bool unlike = strcmp(model->name, "minicpm-2b") == 0;
    double size = told_size(model->name, false), active = told_size(model->name, true);
    double params = evaluate_number(fixture.evaluator, model, Q_PARAMS, 0);
    double used = evaluate_number(fixture.evaluator, model, Q_ACTIVE_PARAMS, 0);
    if (size > 0 && !unlike && !(params > 0.85 * size && params < 1.4 * size))
        FAULT("%s: %.4g parameters, its name says %.4g", model->name, params, size);
    if (active > 0 && !(used > 0.8 * active && used < 1.4 * active))
        FAULT("%s: %.4g active parameters, its name says %.4g", model->name, used, active);
}

/* ---- provenance --------------------------------------------------------------------------------- */

static bool is_figure(const struct attribute_info *info)
{
    return info->type == TYPE_NUMBER || info->type == TYPE_COUNT;
}

static void check_sources(struct decl *decl, bool confidence)
{
    for (enum attribute k = 0; k < ATTR_COUNT; k++) {
        const struct attribute_info *info = attribute_info(k);
        if (!(info->scope & (1u << decl->kind)) || !is_figure(info) || !plan_is_set(fixture.plan, decl, k))
            continue;
        const struct setting *setting = plan_setting(fixture.plan, decl, k);
        if (!setting || !setting->source || !*setting->source)
            FAULT("%s %s: %s has no source", kind_name(decl->kind), decl->name, info->name);
        else if (confidence && !setting->confidence)
            FAULT("%s %s: how sure is %s?", kind_name(decl->kind), decl->name, info->name);
    }
}

/* ---- the catalogue ------------------------------------------------------------------------------ */

static void check_all(enum kind kind)
{
    size_t count;
    struct decl **decls = plan_catalogue(fixture.plan, kind, &count);
    for (size_t i = 0; i < count; i++) {
        check_sources(decls[i], kind == KIND_GPU);
        if (kind == KIND_GPU)
            check_card(decls[i]);
        else if (kind == KIND_MODEL)
            check_size(decls[i]);
    }
}

Test(catalogue_lint, every_entry_keeps_the_rules)
{
    static const enum kind kinds[] = {KIND_FORMAT, KIND_GPU, KIND_MODEL, KIND_ENGINE};
    fixture = result_open("let x = 1\n");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        check_all(kinds[i]);
    EXPECT_NO_FAULTS();
    result_close(&fixture);
}

/* ---- slips -------------------------------------------------------------------------------------- */

/* A card as the catalogue would have it, with one figure or one line exchanged. */
static const char card[] =
    "gpu wrong {\n"
    "  vendor = \"NVIDIA\"\n  architecture = \"Blackwell\"\n  year = 2025\n  memory_kind = gddr\n"
    "  memory = 12 GiB\n  bandwidth = 672 GB/s\n"
    "  peak.fp32 = 30.9 TFLOPS\n  peak.fp16 = 123.6 TFLOPS\n  peak.fp8 = 247.2 TFLOPS\n  peak.fp4 = 494.4 "
    "TFLOPS\n"
    "  source = \"specification page\"\n  confidence = datasheet\n}\n";

static const struct {
    const char *right, *wrong, *fault;
} slips[] = {
    {"", "", ""}, /* as it is, it keeps every rule */
    {"fp8 = 247.2", "fp8 = 494.4", "peak.fp8 is 4 times"},
    {"fp4 = 494.4", "fp4 = 988.8", "peak.fp4 is 4 times"},
    {"fp16 = 123.6 TFLOPS\n  peak.fp8 = 247.2 TFLOPS\n  peak.fp4 = 494.4",
     "fp16 = 247.2 TFLOPS\n  peak.fp8 = 494.4 TFLOPS\n  peak.fp4 = 988.8",
     "16-bit peak over fp32 is 8, of its kind 4"},
    {"fp16 = 123.6", "fp16 = 1236", "times peak.fp16"},
    {"memory = 12 GiB", "memory = 12 TB", "memory in GB"},
    {"memory = 12 GiB", "memory = 1.5 GiB", "memory in GB"},
    {"672 GB/s", "6720 GB/s", "memory over bandwidth"},
    {"672 GB/s", "84 GB/s", "balance"},
    {"672 GB/s", "672 TB/s", "bandwidth in GB/s"},
    {"year = 2025", "year = 2052", "year"},
    {"672 GB/s", "672 GB/s\n  link = 1 TB/s\n  link_domain = 8", "link over bandwidth"},
    {"672 GB/s", "672 GB/s\n  link = 64 GB/s\n  link_domain = 1", "nobody shares"},
    {"672 GB/s", "672 GB/s\n  tdp = 2.5 W", "power in W"},
    {"672 GB/s", "672 GB/s\n  price = 250 usd/h", "price in usd/h"},
    {"672 GB/s", "672 GB/s\n  price = 2.5 usd/h", "of when is the price"},
    {"672 GB/s", "672 GB/s\n  price = 2.5 usd/h\n  source.price = \"a list, 2026-05\"", ""},
    {"  source = \"specification page\"\n", "", "has no source"},
    {"  confidence = datasheet\n", "", "how sure is"},
};

static const char *exchanged(const char *right, const char *wrong)
{
    const char *at = strstr(card, right);
    cr_assert_not_null(at, "%s", right);
    return arena_printf(arena, "%.*s%s%s", (int)(at - card), card, wrong, at + strlen(right));
}

Test(catalogue_lint, a_slip_is_caught)
{
    for (size_t i = 0; i < sizeof slips / sizeof slips[0]; i++) {
        fixture = result_open(exchanged(slips[i].right, slips[i].wrong));
        struct decl *gpu = plan_find(fixture.plan, KIND_GPU, "wrong");
        faults = buffer_in(arena);
        cr_assert_not_null(gpu, "%s", slips[i].wrong);
        check_card(gpu);
        check_sources(gpu, true);
        const char *found = buffer_string(&faults);
        cr_assert(*slips[i].fault ? strstr(found, slips[i].fault) != NULL : *found == '\0', "%s -> %s: %s",
                  slips[i].right, slips[i].wrong, found);
        result_close(&fixture);
    }
}

Test(catalogue_lint, a_model_is_as_large_as_its_name)
{
    static const char *const models[] = {"model some-8b : llama-3.1-8b { }",
                                         "model some-8b : llama-3.1-8b { ffn = 28672 }",
                                         "model some-30b-a3b : qwen3-30b-a3b { }",
                                         "model some-30b-a3b : qwen3-30b-a3b { active_experts = 16 }"};
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        fixture = result_open(arena_printf(arena, "%s\n", models[i]));
        faults = buffer_in(arena);
        check_size(plan_find(fixture.plan, KIND_MODEL, i < 2 ? "some-8b" : "some-30b-a3b"));
        cr_assert((faults.length > 0) == (i % 2 == 1), "%s: %s", models[i], buffer_string(&faults));
        result_close(&fixture);
    }
}
