/* test_catalogue_cards.c: cards of the catalogue against figures that others print of the same cards
 * (tests/field/cards.csv), and against what the units of their generation do in a cycle. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "faults.h"
#include "result_fixture.h"
#include "run.h"
#include "sema/plan.h"

TestSuite(catalogue_cards, .init = set_up, .fini = tear_down);

/* ---- tables of others ----------------------------------------------------------------------- */

/* Columns of cards.csv: marketing GB, GB/s, TFLOPS, W, GB/s per direction of the slot; then who prints them:
 *   techpowerup     reox007/RightNow-GPU-Database@dfb3c9a
 *   gpumap          lamonoai/gpumap@8d5e174, nvidia/GPU.md
 *   huggingface.js  huggingface/huggingface.js@2ad47a3, hardware-gpu-nvidia.ts
 *   epoch           Epoch AI's table of machine learning hardware, joshyou/clod@2af7774
 *   cputronic       cputronic.com/pt/gpu/nvidia-a2 */
enum column { CARD, MEMORY, BANDWIDTH, FP32, TDP, PCIE, SOURCE, COLUMNS };

static bool split_row(char *line, char *field[COLUMNS])
{
    size_t count = 0;
    for (bool more = true; more && count < COLUMNS; count++) {
        field[count] = line;
        line += strcspn(line, ",\r");
        more = *line == ',';
        *line++ = '\0';
    }
    return count == COLUMNS;
}

/* Tables print what the memory chips hold; software may see up to 7 % less of it with ECC, never more. */
static void compare_memory(struct plan *plan, struct decl *gpu, char *const field[COLUMNS])
{
    double stated = strtod(field[MEMORY], NULL), here = plan_number(plan, gpu, ATTR_GPU_MEMORY, 0);
    bool shared = strcmp(plan_text(plan, gpu, ATTR_GPU_MEMORY_KIND, ""), "shared") == 0;
    if (!(here <= stated * 1073741824.0 && here >= stated * (shared ? 1e9 : 0.93 * 1073741824.0)))
        FAULT("%s: memory is %.4g GB, %s has %s", gpu->name, here / 1e9, field[SOURCE], field[MEMORY]);
}

static void compare(struct plan *plan, struct decl *gpu, char *const field[COLUMNS], enum column column,
                    enum attribute attribute, double unit, double tolerance)
{
    double there = strtod(field[column], NULL) * unit, here = plan_number(plan, gpu, attribute, 0);
    if (there > 0 && !(fabs(here / there - 1) <= tolerance))
        FAULT("%s: %s is %.5g, %s has %.5g", gpu->name, attribute_info(attribute)->name, here, field[SOURCE],
              there);
}

Test(catalogue_cards, others_print_the_same_figures)
{
    struct result_fixture fixture = result_open("let nothing = 0\n");
    struct lines lines =
        split_lines(arena, read_file(arena, source_path(arena, "tests/field/cards.csv"), NULL));
    for (size_t i = 1; i < lines.list.count; i++) {
        char *field[COLUMNS];
        if (!*lines.list.items[i])
            continue;
        cr_assert(split_row(lines.list.items[i], field), "row %zu", i);
        struct decl *gpu = plan_find(fixture.plan, KIND_GPU, field[CARD]);
        if (!gpu) {
            FAULT("%s is not in the catalogue", field[CARD]);
            continue;
        }
        compare_memory(fixture.plan, gpu, field);
        /* Tables round to three digits, and count bits times clock where vendors round. */
        compare(fixture.plan, gpu, field, BANDWIDTH, ATTR_GPU_BANDWIDTH, 1e9, 0.02);
        compare(fixture.plan, gpu, field, FP32, ATTR_GPU_PEAK_FP32, 1e12, 0.02);
        compare(fixture.plan, gpu, field, TDP, ATTR_GPU_TDP, 1, 0);
        compare(fixture.plan, gpu, field, PCIE, ATTR_GPU_PCIE, 1e9, 0);
    }
    result_close(&fixture);
    EXPECT_NO_FAULTS();
}

/* ---- drivers -------------------------------------------------------------------------------- */

/* GiB that start-up logs of engines show as the device's total (shared/facts/field_cases.md, and the logs of
 * tests/field/memory.cases). */
Test(catalogue_cards, memory_is_what_drivers_report)
{
    static const struct {
        const char *card;
        double logged;
    } rows[] = {
        /* clang-format off */
        {"t4", 14.56},          {"rtx-4070-laptop", 7.65}, {"v100-sxm2-16", 15.77}, {"a10g", 22.06},
        {"l4", 22.06},          {"rtx-3090", 23.58},       {"rtx-5090", 31.37},     {"rtx-5090-laptop", 22.36},
        {"a100-sxm-40", 39.39}, {"l20", 44.52},            {"rtx-a6000", 47.5},     {"rtx-6000-ada", 47.4},
        {"a100-sxm-80", 79.25}, {"h100-sxm", 79.2},        {"h20-96", 95},
        /* clang-format on */
    };
    struct result_fixture fixture = result_open("let nothing = 0\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct decl *gpu = plan_find(fixture.plan, KIND_GPU, rows[i].card);
        cr_assert_not_null(gpu, "%s", rows[i].card);
        double memory = plan_number(fixture.plan, gpu, ATTR_GPU_MEMORY, 0),
               reported = plan_number(fixture.plan, gpu, ATTR_GPU_DRIVER_MEMORY, memory) / 1073741824.0;
        if (!(fabs(reported / rows[i].logged - 1) <= 0.001))
            FAULT("%s: drivers report %.4g GiB, logs have %.4g", rows[i].card, reported, rows[i].logged);
    }
    result_close(&fixture);
    EXPECT_NO_FAULTS();
}

/* ---- units ---------------------------------------------------------------------------------- */

/* Operations of a multiprocessor in a cycle, over its 128 lanes of fp32 (64 for Turing): whitepapers of
 * GA102, AD102 and GB202, and the RDNA instruction set guides. GeForce with 16-bit accumulation. */
static const struct generation {
    const char *architecture, *name; /* the full name begins so */
    double tf32, fp16, fp8, int8, fp4;
} generations[] = {
    /* clang-format off */
    {"Turing", "NVIDIA", 0, 8, 0, 16, 0},         {"Ampere", "NVIDIA GeForce", 1, 4, 0, 8, 0},
    {"Ampere", "NVIDIA RTX", 2, 4, 0, 8, 0},      {"Ada", "NVIDIA GeForce", 1, 4, 8, 8, 0},
    {"Ada", "NVIDIA RTX", 2, 4, 8, 8, 0},         {"Blackwell", "NVIDIA GeForce", 1, 4, 8, 8, 16},
    {"Blackwell", "NVIDIA RTX", 2, 4, 8, 8, 16},  {"RDNA2", "AMD Radeon", 0, 2, 0, 4, 0},
    {"RDNA3", "AMD Radeon", 0, 2, 0, 2, 0},       {"RDNA4", "AMD Radeon", 0, 4, 8, 8, 0},
    /* clang-format on */
};

/* Cards whose matrix units are held back, or rated at another clock than their lanes, as their notes say. */
static bool is_rated_apart(const char *name)
{
    return strcmp(name, "rtx-5090d") == 0 || strcmp(name, "rtx-5090d-v2") == 0 ||
           strcmp(name, "rtx-5090-laptop") == 0;
}

static void expect_multiple(struct plan *plan, struct decl *gpu, enum attribute attribute, double multiple)
{
    double fp32 = plan_number(plan, gpu, ATTR_GPU_PEAK_FP32, 0), peak = plan_number(plan, gpu, attribute, 0);
    if (!(fabs(peak - multiple * fp32) <= 0.015 * multiple * fp32))
        FAULT("%s: %s is %.4g times fp32, its units do %g", gpu->name, attribute_info(attribute)->name,
              peak / fp32, multiple);
}

Test(catalogue_cards, matrix_units_do_what_those_of_their_generation_do)
{
    struct result_fixture fixture = result_open("let nothing = 0\n");
    size_t count, seen = 0;
    struct decl **gpus = plan_catalogue(fixture.plan, KIND_GPU, &count);
    for (size_t i = 0; i < count; i++)
        for (const struct generation *at = generations;
             at < generations + sizeof generations / sizeof generations[0]; at++) {
            const char *architecture = plan_text(fixture.plan, gpus[i], ATTR_GPU_ARCHITECTURE, ""),
                       *name = plan_text(fixture.plan, gpus[i], ATTR_FULL_NAME, "");
            if (strcmp(at->architecture, architecture) != 0 || is_rated_apart(gpus[i]->name) ||
                strncmp(at->name, name, strlen(at->name)) != 0)
                continue;
            expect_multiple(fixture.plan, gpus[i], ATTR_GPU_PEAK_TF32, at->tf32);
            expect_multiple(fixture.plan, gpus[i], ATTR_GPU_PEAK_FP16, at->fp16);
            expect_multiple(fixture.plan, gpus[i], ATTR_GPU_PEAK_FP8, at->fp8);
            expect_multiple(fixture.plan, gpus[i], ATTR_GPU_PEAK_INT8, at->int8);
            expect_multiple(fixture.plan, gpus[i], ATTR_GPU_PEAK_FP4, at->fp4);
            seen++;
        }
    cr_assert(seen >= 60, "%zu cards", seen);
    result_close(&fixture);
    EXPECT_NO_FAULTS();
}
