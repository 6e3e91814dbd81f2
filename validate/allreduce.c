/* allreduce.c: the time of one all-reduce, against kernel tables and published measurements. */
#include "validate.h"

#include <stdlib.h>
#include <string.h>

#include "model/internal.h"

enum label { BY_LIBRARY, BY_CARD, BY_SIZE };

static const struct {
    double most;
    const char *title;
} sizes[] = {{16384, "1. to 16 KB"},
             {262144, "2. to 256 KB"},
             {4194304, "3. to 4 MB"},
             {67108864, "4. to 64 MB"},
             {1e18, "5. more"}};

static const struct {
    const char *name, *gpu;
} cards[] = {{"h100_sxm", "h100-sxm"},
             {"h200_sxm", "h200-sxm"},
             {"b200_sxm", "b200-sxm"},
             {"l40s", "l40s"},
             {"H100 SXM 80GB", "h100-sxm"}};

static const struct {
    const char *name, *engine; /* how the name begins */
} libraries[] = {{"vllm", "vllm"}, {"trtllm", "tensorrt-llm"}, {"vLLM", "vllm"}, {"SGLang", "sglang"}};

static const char *size_of(double bytes)
{
    size_t i = 0;
    while (bytes > sizes[i].most)
        i++;
    return sizes[i].title;
}

/* A case with this card and engine, from a plan of one scenario each. */
static const struct pm_case *case_of(struct evaluator *evaluator, const char *engine, const char *gpu,
                                     struct arena *arena)
{
    const char *name = arena_printf(arena, "%s %s", engine, gpu);
    struct decl *scenario = plan_find(evaluator_plan(evaluator), KIND_SCENARIO, name);
    const struct evaluation *evaluation = scenario ? evaluate_scenario(evaluator, scenario) : NULL;
    return evaluation && evaluation->valid ? &evaluation->binding.input : NULL;
}

static struct evaluator *pairs(struct arena *arena)
{
    static const char *const engines[] = {"vllm", "sglang", "tensorrt-llm"};
    static const char *const gpus[] = {"h100-sxm", "h200-sxm", "b200-sxm", "l40s"};
    struct buffer plan = buffer_in(arena);
    for (size_t i = 0; i < sizeof engines / sizeof engines[0]; i++)
        for (size_t j = 0; j < sizeof gpus / sizeof gpus[0]; j++)
            buffer_printf(&plan,
                          "scenario \"%s %s\" { gpu = %s  model = llama-3.1-8b  engine = %s  context = 1  "
                          "batch = 1 }\n",
                          engines[i], gpus[j], gpus[j], engines[i]);
    return plan_of(arena, "allreduce.perf", &plan);
}

static void add_point(struct arena *arena, struct evaluator *evaluator, const char *library, const char *card,
                      double gpus, double bytes, double microseconds, const char *id, struct points *points)
{
    const char *engine = NULL, *gpu = NULL;
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++)
        if (strncmp(library, libraries[i].name, strlen(libraries[i].name)) == 0)
            engine = libraries[i].engine;
    for (size_t i = 0; i < sizeof cards / sizeof cards[0]; i++)
        if (strcmp(card, cards[i].name) == 0)
            gpu = cards[i].gpu;
    const struct pm_case *input = engine && gpu ? case_of(evaluator, engine, gpu, arena) : NULL;
    if (input == NULL)
        return;
    struct point point = {.id = id, .measured = microseconds};
    point.labels[BY_LIBRARY] = engine;
    point.labels[BY_CARD] = gpu;
    point.labels[BY_SIZE] = size_of(bytes);
    point.predicted = 1e6 * pm_allreduce_time(input, gpus, bytes);
    point.low = 0.8 * point.predicted;
    point.high = 1.2 * point.predicted;
    *VEC_PUSH(arena, points->list) = point;
}

static void add_table(struct arena *arena, struct buffer *out, const char *title, const struct points *points)
{
    struct errors errors = errors_of(arena, points, 0, NULL);
    buffer_printf(out, "%s\n\n", title);
    errors_header(out, "all");
    errors_row(out, "all", &errors);
    buffer_text(out, "\n");
    errors_by(arena, out, "engine", points, BY_LIBRARY, true);
    errors_by(arena, out, "card", points, BY_CARD, true);
    errors_by(arena, out, "message", points, BY_SIZE, true);
}

void validate_allreduce(struct arena *arena, const struct csv *measurements, const struct csv *kernels,
                        struct buffer *out)
{
    struct evaluator *evaluator = pairs(arena);
    struct points published = {0}, tables = {0};
    for (size_t i = 0; i < measurements->rows.count; i++) {
        const struct csv_row *row = &measurements->rows.items[i];
        const char *notes = csv_field(measurements, row, "notes"), *size = strstr(notes, "msg_size=");
        if (strcmp(csv_field(measurements, row, "metric"), "allreduce_us") != 0 || size == NULL)
            continue;
        /* Sizes of sglang's pull request 2904 are elements of 4 bytes: as bytes they would exceed the link.
         */
        double bytes = strtod(size + strlen("msg_size="), NULL) * (strstr(notes, "PR does not say") ? 4 : 1);
        add_point(arena, evaluator, csv_field(measurements, row, "engine"),
                  csv_field(measurements, row, "gpu"), csv_number(measurements, row, "gpu_count"), bytes,
                  csv_number(measurements, row, "value"), csv_field(measurements, row, "id"), &published);
    }
    for (size_t i = 0; i < kernels->rows.count; i++) {
        const struct csv_row *row = &kernels->rows.items[i];
        add_point(arena, evaluator, csv_field(kernels, row, "library"), csv_field(kernels, row, "gpu"),
                  csv_number(kernels, row, "n_gpu"), csv_number(kernels, row, "bytes"),
                  csv_number(kernels, row, "latency_us"), "", &tables);
    }
    buffer_text(
        out,
        "## All-reduces\n\nThe fixed time in an engine holds the norm that is fused with the exchange, "
        "which kernel tables leave out;\nso small messages come out slower than the tables, on purpose.\n\n");
    add_table(arena, out, "### Published measurements", &published);
    add_table(arena, out, "### Kernel tables", &tables);
}
