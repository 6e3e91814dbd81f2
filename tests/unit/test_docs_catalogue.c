/* test_docs_catalogue.c: docs/catalogue-entries.md is what the standard library says. UPDATE_GOLDENS=1 (or
 * `make docs`) writes it. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/intern.h"
#include "base/number.h"
#include "result/evaluate.h"
#include "run.h"
#include "sema/plan.h"
#include "sema/unit.h"
#include "source/diag.h"
#include "source/source.h"

static struct arena *arena;
static struct plan *plan;
static struct evaluator *evaluator;
static struct buffer page;

static void set_up(void)
{
    arena = arena_new();
    page = buffer_in(arena);
    plan =
        plan_empty(arena, strings_new(arena), sources_new(arena), diags_new(arena), (struct plan_options){0});
    evaluator = evaluator_new(plan);
}

static void tear_down(void)
{
    arena_free(arena);
}

/* One cell; a bar would end it. */
static void cell(const char *text)
{
    buffer_text(&page, "| ");
    for (; *text; text++)
        buffer_printf(&page, *text == '|' ? "\\%c" : "%c", *text);
    buffer_byte(&page, ' ');
}

static void figure(struct decl *decl, enum attribute attribute)
{
    double value = plan_number(plan, decl, attribute, 0);
    const struct setting *setting = value > 0 ? plan_setting(plan, decl, attribute) : NULL;
    cell(setting ? quantity_text(arena, value, setting->value.dim) : "");
}

/* Tera-operations a second, so that the columns of peaks can be compared. */
static void peak(struct decl *gpu, enum attribute attribute)
{
    char text[NUMBER_TEXT_MAX];
    double value = plan_number(plan, gpu, attribute, 0);
    cell(value > 0 ? number_shortest(text, value / 1e12) : "");
}

static void end_of_entry(struct decl *decl)
{
    cell(plan_text(plan, decl, ATTR_CONFIDENCE, ""));
    cell(plan_text(plan, decl, ATTR_SOURCE, ""));
    buffer_text(&page, "|\n");
}

static void add_card(struct decl *gpu)
{
    double domain = plan_number(plan, gpu, ATTR_GPU_LINK_DOMAIN, 0);
    double link = plan_number(plan, gpu, ATTR_GPU_LINK, 0);
    cell(arena_printf(arena, "`%s`", gpu->name));
    figure(gpu, ATTR_GPU_MEMORY);
    figure(gpu, ATTR_GPU_BANDWIDTH);
    peak(gpu, ATTR_GPU_PEAK_FP16);
    peak(gpu, ATTR_GPU_PEAK_BF16);
    peak(gpu, ATTR_GPU_PEAK_FP8);
    peak(gpu, ATTR_GPU_PEAK_INT8);
    peak(gpu, ATTR_GPU_PEAK_FP4);
    cell(link > 0 && domain > 0
             ? arena_printf(arena, "%s, %.0f GPUs",
                            quantity_text(arena, link, plan_setting(plan, gpu, ATTR_GPU_LINK)->value.dim),
                            domain)
         : link > 0 ? quantity_text(arena, link, plan_setting(plan, gpu, ATTR_GPU_LINK)->value.dim)
                    : "");
    figure(gpu, ATTR_GPU_TDP);
    end_of_entry(gpu);
}

static void add_model(struct decl *model)
{
    static const enum quantity columns[] = {Q_PARAMS, Q_ACTIVE_PARAMS, Q_LAYERS, Q_MODEL_WEIGHT_BYTES,
                                            Q_KV_BYTES_PER_TOKEN};
    cell(arena_printf(arena, "`%s`", model->name));
    cell(plan_text(plan, model, ATTR_FULL_NAME, ""));
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        cell(evaluate_text(evaluator, model, columns[i]));
    end_of_entry(model);
}

static void add_format(struct decl *format)
{
    char bits[NUMBER_TEXT_MAX];
    cell(arena_printf(arena, "`%s`", format->name));
    cell(plan_text(plan, format, ATTR_FULL_NAME, ""));
    cell(number_shortest(bits, plan_number(plan, format, ATTR_FORMAT_BITS, 0)));
    cell(plan_text(plan, format, ATTR_FORMAT_COMPUTE, ""));
    end_of_entry(format);
}

static void add_table(const char *title, const char *heads, enum kind kind, void (*add)(struct decl *))
{
    size_t count;
    struct decl **entries = plan_catalogue(plan, kind, &count);
    buffer_printf(&page, "\n## %s (%zu)\n\n%s\n", title, count, heads);
    for (const char *at = heads; *at; at++)
        if (*at == '|')
            buffer_text(&page, at[1] ? "|---" : "|\n");
    for (size_t i = 0; i < count; i++)
        add(entries[i]);
}

Test(docs, catalogue, .init = set_up, .fini = tear_down)
{
    buffer_text(
        &page, "# What the catalogue has\n\n<!-- Made by `make docs` from stdlib/. -->\n\n"
               "[The catalogue](catalogue.md) says what the figures mean. Peaks are dense, in TFLOP/s; links "
               "are per GPU and\ndirection. `perfc list gpus --long` and the like print the same.\n");
    add_table(
        "Accelerators",
        "| name | memory | bandwidth | fp16 | bf16 | fp8 | int8 | fp4 | link | power | confidence | source |",
        KIND_GPU, add_card);
    add_table("Models",
              "| name | full name | parameters | active | layers | weights | cache | confidence | source |",
              KIND_MODEL, add_model);
    add_table("Formats", "| name | full name | bits | computes in | confidence | source |", KIND_FORMAT,
              add_format);
    const char *path = source_path(arena, "docs/catalogue-entries.md");
    const char *text = read_file(arena, path, NULL);
    if (text && strcmp(text, buffer_string(&page)) == 0)
        return;
    if (getenv("UPDATE_GOLDENS"))
        write_file(path, page.data, page.length);
    else
        cr_assert_fail("docs/catalogue-entries.md is not what stdlib/ says; run `make docs`");
}
