/* serving.c: closed loops of serving engines (facts/serving.csv) against the engines of the catalogue.
 * Formats of weights and cache follow what the measured systems did (docs/calibration.md section 4). */
#include "validate.h"

#include <stdio.h>
#include <string.h>

enum label { BY_ENGINE, BY_CARD, BY_MODEL, BY_CONCURRENCY, BY_GROUP, BY_LENGTHS };

static const struct {
    const char *part, *model, *title; /* of the name in the file; in the catalogue; in tables */
} models[] = {
    {"Llama-3.1-70B", "llama-3.1-70b", "Llama-3.1-70B"},
    {"Llama-3.1-8B", "llama-3.1-8b", "Llama-3.1-8B"},
    {"Qwen3-32B", "qwen3-32b", "Qwen3-32B"},
    {"Qwen3-235B", "qwen3-235b-a22b", "Qwen3-235B"},
    {"MiniMax-M2", "minimax-m2.5", "MiniMax-M2"},
    {"gpt-oss-120b", "gpt-oss-120b", "gpt-oss-120b"},
    {"Qwen3.5-397B", "qwen3.5-397b-a17b", "Qwen3.5-397B"},
    {"DeepSeek", "deepseek-r1", "DeepSeek"},
};

static const struct {
    const char *name, *gpu;
} cards[] = {{"h100_sxm", "h100-sxm"}, {"h200_sxm", "h200-sxm"}, {"b200_sxm", "b200-sxm"}};

static const struct {
    double most;
    const char *title;
} loads[] = {{4, "1 to 4 users"}, {8, "5 to 8"},      {16, "9 to 16"},     {32, "17 to 32"},
             {64, "33 to 64"},    {128, "65 to 128"}, {256, "129 to 256"}, {1e9, "more than 256"}};

/* Why rows were set aside before anything was fitted (docs/calibration.md section 6). */
static const struct {
    const char *flag, *reason;
} flags[] = {
    {"mtp", "multi-token prediction was on"},
    {"slow", "37 to 58 ms whatever the batch: no CUDA graphs, or an untuned kernel"},
    {"cache", "prompts came from a prefix cache"},
    {"odd", "the concurrency is not what the server saw"},
    {"err", "requests failed or were rejected"},
};

/* What is known of whole curves that lie far off; nothing in the columns says so. */
static const struct {
    const char *engine, *version, *model, *gpu, *reason;
} curves[] = {
    {"trtllm", "1.1.0rc2", "DeepSeek", "b200", "kernels of an early release: 1.2.0rc6 is 1.3 times as fast"},
    {"trtllm", "", "DeepSeek", "b200", "unnamed version, as slow as 1.1.0rc2"},
    {"trtllm", "", "gpt-oss", "h200",
     "no mxfp4 kernels for Hopper at 4 and 8 GPUs: overhead grows with GPUs"},
    {"trtllm", "gpt-oss-dev", "gpt-oss", "h200", "no mxfp4 kernels for Hopper at 4 and 8 GPUs"},
    {"trtllm", "1.2.0", "gpt-oss", "b200", "fused experts: 0.8 of the fixed time of other engines"},
    {"sglang", "0.5.1", "Qwen3-32B", "h100",
     "fixed lengths: users stay in step, prefills fall into TTFT, not TPOT"},
    {"sglang", "0.5.8", "Qwen3-32B", "h100", "fixed lengths; queueing on one GPU"},
    {"sglang", "0.5.9", "DeepSeek", "h200", "faster than any other curve at small batch; MTP is likely"},
    {"sglang", "", "DeepSeek", "b200", "an older version than 0.5.9, 1.2 times as slow"},
    {"sglang", "0.5.9", "Qwen3.5", "", "young kernels of gated delta net"},
    {"trtllm", "1.0.0rc3", "Qwen3-235B", "h100",
     "8 requests a GPU and less: expert kernels jump between tile sizes"},
    {"trtllm", "1.0.0rc3", "Llama-3.1-8B", "h100", "small model, 64 users and more: the host cannot keep up"},
    {"trtllm", "1.0.0rc3", "Qwen3-32B", "h100", "8 GPUs, 128 users, short outputs: the host cannot keep up"},
    {"vllm", "nightly", "MiniMax", "b200", "a nightly build before 0.19"},
    {"vllm", "0.15", "gpt-oss", "b200", "native mxfp4 kernels, better than the shared expert efficiency"},
    {"vllm", "0.17", "MiniMax", "", "a young port: 0.19 is 1.15 times as fast"},
    {"vllm", "0.16", "MiniMax", "", "a young port: 0.18 is 1.1 times as fast"},
};

/* Single runs off a curve whose neighbours in concurrency are predicted well. */
static const char *const strays[] = {"e2430", "e3250", "e1836"};

static const char *reason_of_curve(const struct csv *csv, const struct csv_row *row)
{
    for (size_t i = 0; i < sizeof strays / sizeof strays[0]; i++)
        if (strcmp(csv_field(csv, row, "id"), strays[i]) == 0)
            return "one run off its own curve";
    for (size_t i = 0; i < sizeof curves / sizeof curves[0]; i++) {
        const char *version = csv_field(csv, row, "engine_version");
        if (strcmp(csv_field(csv, row, "engine"), curves[i].engine) == 0 &&
            (curves[i].version[0] == '\0'
                 ? version[0] == '\0'
                 : strncmp(version, curves[i].version, strlen(curves[i].version)) == 0) &&
            strstr(csv_field(csv, row, "model"), curves[i].model) != NULL &&
            strncmp(csv_field(csv, row, "gpu"), curves[i].gpu, strlen(curves[i].gpu)) == 0)
            return curves[i].reason;
    }
    return "";
}

static size_t model_of(const char *name)
{
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
        if (strstr(name, models[i].part) != NULL)
            return i;
    return sizeof models / sizeof models[0];
}

static const char *engine_of(const char *name)
{
    return strcmp(name, "trtllm") == 0 ? "tensorrt-llm" : name;
}

/* The catalogue's engine for a row: by release where releases have their own coefficients. */
static const char *release_of(const struct csv *csv, const struct csv_row *row)
{
    const char *engine = csv_field(csv, row, "engine"), *version = csv_field(csv, row, "engine_version");
    bool newer = strncmp(version, "0.18", 4) == 0 || strncmp(version, "0.19", 4) == 0;
    return strcmp(engine, "vllm") == 0 && newer ? "vllm-0.18" : engine_of(engine);
}

static const char *card_of(const char *name)
{
    for (size_t i = 0; i < sizeof cards / sizeof cards[0]; i++)
        if (strcmp(cards[i].name, name) == 0)
            return cards[i].gpu;
    return name;
}

static void add_formats(struct buffer *plan, const char *model, const char *precision, const char *card,
                        const char *engine)
{
    bool blackwell = strncmp(card, "b200", 4) == 0, gpt_oss = strstr(model, "gpt-oss") != NULL;
    bool fp4 = strcmp(precision, "fp4") == 0, bf16 = strcmp(precision, "bf16") == 0;
    bool qwen = strstr(model, "qwen3.5") != NULL;
    if (gpt_oss)
        buffer_text(plan, "  weights = bf16   weights.experts = mxfp4\n");
    else
        buffer_printf(plan, "  weights = %s\n", bf16 ? "bf16" : fp4 ? "nvfp4" : "fp8");
    if (fp4 && (qwen || strstr(model, "minimax") || strstr(model, "deepseek")))
        buffer_printf(plan, "  weights.attention = bf16%s\n", qwen ? "   weights.shared = bf16" : "");
    bool cache_8 = blackwell || strcmp(engine, "trtllm") == 0 ||
                   (strcmp(engine, "vllm") == 0 && strstr(model, "llama-3.1-70b") != NULL);
    if (!bf16 && !(gpt_oss && !blackwell) && cache_8)
        buffer_text(plan, "  kv_cache = fp8\n");
}

/* The name of the engine that a row runs on: its own declaration where its script sets options. */
static const char *add_engine(struct buffer *plan, const struct csv *csv, const struct csv_row *row)
{
    const char *release = release_of(csv, row), *id = csv_field(csv, row, "id");
    struct buffer options = buffer_in(plan->arena);
    recipe_options(csv, row, &options);
    if (options.length == 0)
        return release;
    buffer_printf(plan, "engine \"%s, %s\" : \"%s\" {\n%s}\n", release, id, release, buffer_string(&options));
    return arena_printf(plan->arena, "%s, %s", release, id);
}

static void add_scenario(struct buffer *plan, const struct csv *csv, const struct csv_row *row,
                         const char *engine, bool recipes)
{
    const char *model = models[model_of(csv_field(csv, row, "model"))].model;
    double dp = csv_number(csv, row, "attention_dp"), ep = csv_number(csv, row, "ep");
    dp = dp > 1 ? dp : 1;
    buffer_printf(plan, "scenario %s {\n  gpu = %s   model = %s   engine = \"%s\"\n",
                  csv_field(csv, row, "id"), card_of(csv_field(csv, row, "gpu")), model, engine);
    buffer_printf(plan, "  tp = %g", csv_number(csv, row, "gpus") / dp);
    if (dp > 1)
        buffer_printf(plan, "   dp = %g", dp);
    if (ep > 1)
        buffer_printf(plan, "   ep = %g", ep);
    buffer_printf(plan, "   batch = %s   prompt = %s   output = %s\n", csv_field(csv, row, "concurrency"),
                  csv_field(csv, row, "input_tokens"), csv_field(csv, row, "output_tokens"));
    /* The recipes raise the share of memory: FP8 DeepSeek would not fit on 4 B200 at SGLang's default. */
    if (strcmp(csv_field(csv, row, "engine"), "trtllm") != 0)
        buffer_text(plan, "  utilization = 0.95\n");
    if (recipes && recipe_equal_lengths(csv, row))
        buffer_text(plan, "  lengths = equal\n");
    add_formats(plan, model, csv_field(csv, row, "precision"), csv_field(csv, row, "gpu"),
                csv_field(csv, row, "engine"));
    buffer_text(plan, "}\n");
}

/* Everything one reading of the file gives. */
struct serving {
    struct points tpot, ttft, rate, all;
    size_t without, flagged;
    struct buffer above; /* rows better than the ceiling */
};

static void label_point(struct arena *arena, const struct csv *csv, const struct csv_row *row,
                        struct point *out)
{
    double users = csv_number(csv, row, "concurrency");
    size_t load = 0;
    while (users > loads[load].most)
        load++;
    out->id = csv_field(csv, row, "id");
    out->labels[BY_ENGINE] = engine_of(csv_field(csv, row, "engine"));
    out->labels[BY_CARD] = card_of(csv_field(csv, row, "gpu"));
    out->labels[BY_MODEL] = models[model_of(csv_field(csv, row, "model"))].title;
    out->labels[BY_CONCURRENCY] = arena_printf(arena, "%zu. %s", load + 1, loads[load].title);
    out->labels[BY_GROUP] = arena_printf(arena, "%s, %s, %s", out->labels[BY_MODEL], out->labels[BY_CARD],
                                         out->labels[BY_ENGINE]);
    out->labels[BY_LENGTHS] = arena_printf(arena, "%s + %s", csv_field(csv, row, "input_tokens"),
                                           csv_field(csv, row, "output_tokens"));
}

static void add_row(struct arena *arena, const struct csv *csv, const struct csv_row *row,
                    const struct pm_result *result, struct serving *out)
{
    const struct pm_service *expected = &result->expected, *ceiling = &result->ceiling;
    const char *flag = csv_field(csv, row, "flag");
    double tpot = csv_number(csv, row, "tpot_ms"), ttft = csv_number(csv, row, "ttft_ms");
    double output = csv_number(csv, row, "output_tokens");
    struct point point = {.lower_is_better = true};
    label_point(arena, csv, row, &point);
    struct point of_tpot = point, of_ttft = point, of_rate = point;
    of_tpot.measured = tpot;
    of_tpot.predicted = 1e3 * expected->tpot;
    of_tpot.ceiling = 1e3 * ceiling->tpot;
    of_tpot.low = 1e3 * expected->tpot_band.low;
    of_tpot.high = 1e3 * expected->tpot_band.high;
    of_ttft.measured = ttft;
    of_ttft.predicted = 1e3 * expected->ttft;
    of_ttft.ceiling = 1e3 * ceiling->ttft;
    of_ttft.low = 1e3 * expected->ttft_band.low;
    of_ttft.high = 1e3 * expected->ttft_band.high;
    of_rate.measured = 1e3 * output / (ttft + (output - 1) * tpot);
    of_rate.predicted = expected->request_rate;
    of_rate.ceiling = ceiling->request_rate;
    double factor = expected->request_rate / (expected->throughput > 0 ? expected->throughput : 1);
    of_rate.low = factor * expected->throughput_band.low;
    of_rate.high = factor * expected->throughput_band.high;
    if (tpot < of_tpot.ceiling) {
        const char *reason = "";
        for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
            if (strcmp(flag, flags[i].flag) == 0)
                reason = flags[i].reason;
        buffer_printf(&out->above, "| %s | %s | %s | %s users, %s | %.2f | %.2f | %s |\n", point.id,
                      point.labels[BY_GROUP], csv_field(csv, row, "precision"),
                      csv_field(csv, row, "concurrency"), point.labels[BY_LENGTHS], tpot, of_tpot.ceiling,
                      reason);
    }
    *VEC_PUSH(arena, out->all.list) = of_tpot;
    if (flag[0] != '\0') {
        out->flagged++;
        return;
    }
    *VEC_PUSH(arena, out->tpot.list) = of_tpot;
    *VEC_PUSH(arena, out->ttft.list) = of_ttft;
    *VEC_PUSH(arena, out->rate.list) = of_rate;
}

struct evaluator *serving_evaluator(struct arena *arena, const struct csv *csv, const char *engine,
                                    bool recipes)
{
    struct buffer plan = buffer_in(arena);
    for (size_t i = 0; i < csv->rows.count; i++) {
        const struct csv_row *row = &csv->rows.items[i];
        const char *name = engine != NULL ? engine
                           : recipes      ? add_engine(&plan, csv, row)
                                          : release_of(csv, row);
        add_scenario(&plan, csv, row, name, recipes);
    }
    return plan_of(arena, "serving.perf", &plan);
}

static struct serving read_serving(struct arena *arena, const struct csv *csv, const char *engine,
                                   bool recipes)
{
    struct serving out = {.above = buffer_in(arena)};
    struct evaluator *evaluator = serving_evaluator(arena, csv, engine, recipes);
    for (size_t i = 0; i < csv->rows.count; i++) {
        const char *why, *id = csv_field(csv, &csv->rows.items[i], "id");
        const struct evaluation *evaluation = evaluation_of(evaluator, id, &why);
        if (evaluation != NULL) {
            add_row(arena, csv, &csv->rows.items[i], &evaluation->result, &out);
        } else {
            fprintf(stderr, "%s: %s\n", id, why);
            out.without++;
        }
    }
    return out;
}

static void add_summary(struct arena *arena, struct buffer *out, const struct serving *by_name,
                        const struct serving *unknown, const struct serving *typical,
                        const struct serving *first)
{
    static const char *const names[] = {"time per token", "time to first token", "rate of a request"};
    const struct serving *readings[] = {by_name, unknown, typical, first};
    static const char *const titles[] = {"engines by name", "the same, options not known", "`typical`",
                                         "`calibrated-2026`"};
    errors_header(out, "reading, quantity");
    for (size_t i = 0; i < sizeof readings / sizeof readings[0]; i++) {
        const struct points *points[] = {&readings[i]->tpot, &readings[i]->ttft, &readings[i]->rate};
        for (size_t j = 0; j < 3; j++) {
            struct errors errors = errors_of(arena, points[j], 0, NULL);
            errors_row(out, arena_printf(arena, "%s, %s", titles[i], names[j]), &errors);
        }
    }
    struct errors all = errors_of(arena, &by_name->all, 0, NULL);
    errors_row(out, "all rows, flagged ones included, time per token", &all);
    buffer_printf(
        out,
        "\nA group is one model on one card with one engine. The median of the groups' median errors of time "
        "per token is %.1f %%.\n\n",
        100 * median_of_groups(arena, &by_name->tpot, BY_GROUP));
}

static void add_worst(struct arena *arena, struct buffer *out, const struct csv *csv,
                      const struct points *points)
{
    enum { MOST = 25 };
    const struct point *worst[MOST];
    size_t count = worst_points(arena, points, MOST, worst);
    buffer_text(out, "| row | what | users, lengths | measured ms | predicted ms | factor | likely reason |\n"
                     "|---|---|---|---:|---:|---:|---|\n");
    for (size_t i = 0; i < count; i++) {
        const struct csv_row *row = NULL;
        for (size_t j = 0; j < csv->rows.count && row == NULL; j++)
            if (strcmp(csv_field(csv, &csv->rows.items[j], "id"), worst[i]->id) == 0)
                row = &csv->rows.items[j];
        const char *version = csv_field(csv, row, "engine_version");
        buffer_printf(out, "| %s | %s %s, %s GPUs, %s | %s, %s | %.2f | %.2f | %.2f | %s |\n", worst[i]->id,
                      worst[i]->labels[BY_GROUP], version[0] != '\0' ? version : "(no version)",
                      csv_field(csv, row, "gpus"), csv_field(csv, row, "precision"),
                      csv_field(csv, row, "concurrency"), worst[i]->labels[BY_LENGTHS], worst[i]->measured,
                      worst[i]->predicted, worst[i]->measured / worst[i]->predicted,
                      reason_of_curve(csv, row));
    }
    buffer_text(out, "\n");
}

static void add_tables(struct arena *arena, struct buffer *out, const struct points *points)
{
    errors_by(arena, out, "engine", points, BY_ENGINE, true);
    errors_by(arena, out, "card", points, BY_CARD, true);
    errors_by(arena, out, "model", points, BY_MODEL, true);
    errors_by(arena, out, "concurrency", points, BY_CONCURRENCY, true);
    errors_by(arena, out, "prompt + output", points, BY_LENGTHS, true);
}

void validate_serving(struct arena *arena, const struct csv *csv, struct buffer *out, struct buffer *svg)
{
    struct serving by_name = read_serving(arena, csv, NULL, true);
    struct serving unknown = read_serving(arena, csv, NULL, false);
    struct serving typical = read_serving(arena, csv, "typical", true);
    struct serving first = read_serving(arena, csv, "calibrated-2026", true);
    buffer_printf(
        out,
        "## Serving engines\n\n%zu runs of vLLM, SGLang and TensorRT-LLM; %zu are flagged as outliers and "
        "%zu could not be evaluated. Tables are over the others unless they say so.\n\n",
        csv->rows.count, by_name.flagged, by_name.without);
    add_summary(arena, out, &by_name, &unknown, &typical, &first);
    buffer_text(
        out, "![predicted against measured time per token](validation-tpot.svg)\n\n### Time per token\n\n");
    add_tables(arena, out, &by_name.tpot);
    buffer_text(out, "#### Groups\n\n");
    errors_by(arena, out, "model, card, engine", &by_name.tpot, BY_GROUP, true);
    buffer_text(out, "### Time to first token\n\n");
    add_tables(arena, out, &by_name.ttft);
    buffer_text(out, "### Rate of a request\n\n");
    add_tables(arena, out, &by_name.rate);
    buffer_text(
        out, "### The worst rows\n\nTime per token, clean rows; the factor is measured over predicted.\n\n");
    add_worst(arena, out, csv, &by_name.tpot);
    buffer_text(
        out, "### Better than the ceiling\n\nNo run can beat the ceiling; these do, so their columns are not "
             "what was run.\n\n| row | what | weights | load | measured ms | ceiling ms | reason |\n"
             "|---|---|---|---|---:|---:|---|\n");
    buffer_text(out, by_name.above.length > 0 ? buffer_string(&by_name.above) : "| none | | | | | | |\n");
    buffer_text(out, "\n");
    chart(arena, svg, "Time per output token", "ms", &by_name.tpot, BY_ENGINE);
}
