/* test_catalogue_facts.c: the catalogue against the facts: models against their own configurations, cards
 * against the table of spec sheets. The facts are no part of the tree. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "faults.h"
#include "import_fixture.h"
#include "run.h"

TestSuite(catalogue_facts, .init = set_up, .fini = tear_down);

static const char *facts(const char *name)
{
    const char *path = source_path(arena, arena_printf(arena, "../shared/facts/%s", name));
    return file_exists(path) ? path : NULL;
}

static void need_facts(void)
{
    if (!facts("gpus.csv"))
        cr_skip_test("../shared/facts is not here: the catalogue is NOT compared with it");
}

/* ---- models -------------------------------------------------------------------------------- */

/* The configuration that is called "ORG__NAME.json" for a model that is called "ORG/NAME", or NULL. */
static const char *configuration_of(const char *name)
{
    const char *slash = strchr(name, '/');
    const char *base =
        slash ? arena_printf(arena, "%.*s__%s.json", (int)(slash - name), name, slash + 1) : NULL;
    const char *path = base ? facts(arena_printf(arena, "configs/%s", base)) : NULL;
    return path || !base ? path : facts(arena_printf(arena, "configs/from_python/%s", base));
}

/* Quantities in which entry and configuration really differ. */
static bool is_exception(const char *model, const char *quantity)
{
    static const struct {
        const char *model, *quantity;
    } exceptions[] = {
        /* the configuration that is there says float32, the published checkpoint has bf16 */
        {"qwen2.5-0.5b", "weight_bytes"},
    };
    for (size_t i = 0; i < sizeof exceptions / sizeof exceptions[0]; i++)
        if (strcmp(exceptions[i].model, model) == 0 && strcmp(exceptions[i].quantity, quantity) == 0)
            return true;
    return false;
}

/* Every quantity of a model: parameters and weights by class, cache, state, work. */
static void compare_model(struct result_fixture *catalogue, struct decl *entry, const char *path)
{
    struct import_run run = import_file(path, false);
    cr_assert(run.known, "%s: %s", path, import_error(&run).message);
    struct result_fixture imported = import_evaluate_file(path);
    struct decl *model = plan_find(imported.plan, KIND_MODEL, import_model_of(arena, run.imported.text));
    for (enum quantity q = 0; q < QUANTITY_COUNT; q++) {
        if (quantity_info(q)->scope != QUANTITY_OF_MODEL || is_exception(entry->name, quantity_info(q)->name))
            continue;
        double one = evaluate_number(catalogue->evaluator, entry, q, -1),
               other = evaluate_number(imported.evaluator, model, q, -1);
        if (fabs(one - other) > 1e-12 * fabs(one))
            FAULT("%s: %s is %.17g, by its configuration %.17g", entry->name, quantity_info(q)->name, one,
                  other);
    }
    result_close(&imported);
    import_close(&run);
}

Test(catalogue_facts, models_are_what_their_configurations_say, .timeout = 120)
{
    need_facts();
    struct result_fixture catalogue = import_evaluate_text("let nothing = 0\n");
    size_t count, seen = 0;
    struct decl **models = plan_catalogue(catalogue.plan, KIND_MODEL, &count);
    for (size_t i = 0; i < count; i++) {
        const char *name = plan_text(catalogue.plan, models[i], ATTR_FULL_NAME, "");
        const char *path = configuration_of(name);
        if (!path)
            continue;
        compare_model(&catalogue, models[i], path);
        seen++;
    }
    result_close(&catalogue);
    cr_assert(seen >= 55, "%zu models", seen);
    EXPECT_NO_FAULTS();
}

/* ---- cards --------------------------------------------------------------------------------- */

enum { CARD_COLUMNS = 49 };

/* Fields of a line of CSV; quotes may hold commas. */
static size_t split_row(char *line, const char *fields[CARD_COLUMNS])
{
    size_t count = 0;
    for (bool more = true; more && count < CARD_COLUMNS; count++) {
        bool quoted = *line == '"';
        char *end = line += quoted;
        while (*end && *end != '\r' && !(quoted ? *end == '"' : *end == ','))
            end++;
        fields[count] = line;
        more = quoted ? end[0] && end[1] == ',' : *end == ',';
        line = end + (more ? 1 + quoted : 0);
        *end = '\0';
    }
    return count;
}

struct card_table {
    const char *heads[CARD_COLUMNS], *row[CARD_COLUMNS];
};

static double field(const struct card_table *table, const char *head)
{
    for (size_t i = 0; i < CARD_COLUMNS; i++)
        if (table->heads[i] && strcmp(table->heads[i], head) == 0)
            return strtod(table->row[i], NULL);
    cr_assert(false, "gpus.csv has no column %s", head);
    return 0;
}

/* A figure of the catalogue is the larger of two columns of the table; both may be empty. */
static const struct {
    enum attribute attribute;
    const char *column, *other;
    double unit;
} card_figures[] = {
    {ATTR_GPU_BANDWIDTH, "memory_bw_gb_s", NULL, 1e9},
    {ATTR_GPU_PEAK_FP64, "fp64_tflops", "fp64_matrix_tflops", 1e12},
    {ATTR_GPU_PEAK_FP32, "fp32_tflops", NULL, 1e12},
    {ATTR_GPU_PEAK_TF32, "tf32_tflops", NULL, 1e12},
    {ATTR_GPU_PEAK_FP16, "fp16_tflops", "fp16_fp16acc_tflops", 1e12},
    {ATTR_GPU_PEAK_BF16, "bf16_tflops", NULL, 1e12},
    {ATTR_GPU_PEAK_FP8, "fp8_tflops", "fp8_fp16acc_tflops", 1e12},
    {ATTR_GPU_PEAK_INT8, "int8_tops", NULL, 1e12},
    {ATTR_GPU_PEAK_INT4, "int4_tops", NULL, 1e12},
    {ATTR_GPU_PEAK_FP6, "fp6_tflops", NULL, 1e12},
    {ATTR_GPU_PEAK_FP4, "fp4_tflops", NULL, 1e12},
    {ATTR_GPU_LINK, "scaleup_gb_s_per_dir", NULL, 1e9},
    {ATTR_GPU_LINK_DOMAIN, "scaleup_domain", NULL, 1},
    {ATTR_GPU_TDP, "tdp_w", NULL, 1},
    {ATTR_PRICE, "price_usd_h", NULL, 1 / 3600.0},
    {ATTR_GPU_YEAR, "release_year", NULL, 1},
};

/* Figures that the catalogue has from elsewhere or leaves out. */
static const struct {
    const char *card, *figure;
} card_exceptions[] = {
    {"b300-sxm", "memory"},      /* exposed of the 288 on the board: verda.com, and so its note says */
    {"gb300", "memory"},         /* as above */
    {"h20-96", "memory"},        /* logged, field_cases.md: 95 GiB */
    {"max-1550", "link_domain"}, /* sources disagree about its Xe Link, which is left blank */
    {"cerebras-wse3", "all"},    /* no dense figure was found */
};

static bool is_card_exception(const char *card, const char *figure)
{
    for (size_t i = 0; i < sizeof card_exceptions / sizeof card_exceptions[0]; i++)
        if (strcmp(card_exceptions[i].card, card) == 0 && strcmp(card_exceptions[i].figure, figure) == 0)
            return true;
    return false;
}

static void compare_figure(const char *card, const char *figure, double here, double there)
{
    if (is_card_exception(card, figure) || there == 0)
        return;
    if (!(fabs(here / there - 1) < 1e-9))
        FAULT("%s: %s is %.6g, in gpus.csv %.6g", card, figure, here, there);
}

/* Per direction and before protocol overhead, as gpus.md has them. */
static double slot(double generation, double lanes)
{
    static const double lane[] = {0, 0, 0, 15.75e9 / 16, 31.5e9 / 16, 63e9 / 16, 121e9 / 16};
    cr_assert(generation < sizeof lane / sizeof lane[0], "PCIe %g", generation);
    return lane[(int)generation] * lanes;
}

static void compare_card(struct plan *plan, struct decl *gpu, const struct card_table *table)
{
    /* What software sees, else decimal GB; Apple lets a GPU have three quarters of its GiB. */
    bool apple = strcmp(plan_text(plan, gpu, ATTR_GPU_VENDOR, ""), "Apple") == 0;
    double usable = field(table, "memory_gib_usable") * 1073741824.0, stated = field(table, "memory_gb");
    compare_figure(gpu->name, "memory", plan_number(plan, gpu, ATTR_GPU_MEMORY, 0),
                   apple        ? stated * 1073741824.0 * 3 / 4
                   : usable > 0 ? usable
                                : stated * 1e9);
    compare_figure(gpu->name, "cache", plan_number(plan, gpu, ATTR_GPU_CACHE, 0),
                   (field(table, "l2_cache_mb") + field(table, "llc_mb")) * 1048576.0);
    compare_figure(gpu->name, "pcie", plan_number(plan, gpu, ATTR_GPU_PCIE, 0),
                   slot(field(table, "pcie_gen"), field(table, "pcie_lanes")));
    for (size_t i = 0; i < sizeof card_figures / sizeof card_figures[0]; i++) {
        enum attribute attribute = card_figures[i].attribute;
        /* A fabric of one is the host's link; fp16 with 16-bit accumulation stands for bf16, too. */
        if (((attribute == ATTR_GPU_LINK || attribute == ATTR_GPU_LINK_DOMAIN) &&
             field(table, "scaleup_domain") <= 1) ||
            (attribute == ATTR_GPU_PEAK_BF16 && field(table, "fp16_fp16acc_tflops") > 0))
            continue;
        double there = field(table, card_figures[i].column),
               other = card_figures[i].other ? field(table, card_figures[i].other) : 0;
        compare_figure(gpu->name, attribute_info(attribute)->name, plan_number(plan, gpu, attribute, 0),
                       (there > other ? there : other) * card_figures[i].unit);
    }
}

Test(catalogue_facts, cards_are_what_the_table_says)
{
    need_facts();
    struct result_fixture catalogue = import_evaluate_text("let nothing = 0\n");
    struct lines lines = split_lines(arena, read_file(arena, facts("gpus.csv"), NULL));
    struct card_table table = {0};
    split_row(lines.list.items[0], table.heads);
    for (size_t i = 1; i < lines.list.count; i++) {
        if (!*lines.list.items[i])
            continue;
        size_t columns = split_row(lines.list.items[i], table.row);
        cr_assert(columns == CARD_COLUMNS, "row %zu has %zu columns", i, columns);
        struct decl *gpu = plan_find(catalogue.plan, KIND_GPU, table.row[0]);
        if (gpu)
            compare_card(catalogue.plan, gpu, &table);
        else if (!is_card_exception(table.row[0], "all"))
            FAULT("%s is not in the catalogue", table.row[0]);
    }
    result_close(&catalogue);
    EXPECT_NO_FAULTS();
}
