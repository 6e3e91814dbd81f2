/* single.c: one sequence on one machine (facts/measurements.csv): decoding and prefill of llama.cpp, ExLlama,
 * AutoAWQ, gpt-fast, MLC LLM and others, and whole batches of FasterTransformer. */
#include "validate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum label { BY_ENGINE, BY_CARD, BY_MODEL, BY_FORMAT, BY_COUNT };

/* Labels of the file and declarations of the catalogue. */
static const struct {
    const char *label, *gpu;
} cards[] = {
    {"RTX 3060 12GB", "rtx-3060-12"},
    {"RTX 3090 24GB", "rtx-3090"},
    {"RTX 4070 12GB", "rtx-4070"},
    {"RTX 4080 16GB", "rtx-4080"},
    {"RTX 4090 24GB", "rtx-4090"},
    {"RTX 5090 32GB", "rtx-5090"},
    {"RTX 6000 Ada 48GB", "rtx-6000-ada"},
    {"RTX A6000 48GB", "rtx-a6000"},
    {"A40 48GB", "a40"},
    {"L40S 48GB", "l40s"},
    {"A10G 24GB", "a10g"},
    {"A100 PCIe 80GB", "a100-pcie-80"},
    {"A100 SXM 80GB", "a100-sxm-80"},
    {"A100 80GB", "a100-sxm-80"},
    {"H100 PCIe 80GB", "h100-pcie"},
    {"H100 SXM 80GB", "h100-sxm"},
    {"H20 96GB", "h20-96"},
    {"H200 SXM 141GB", "h200-sxm"},
    {"RX 7900 XTX 24GB", "rx-7900-xtx"},
    {"Radeon 8060S (Strix Halo) 128GB", "strix-halo-395"},
    {"GB10 (DGX Spark) 128GB", "dgx-spark-gb10"},
    {"Arc B580 12GB", "arc-b580"},
    {"M1 7-Core GPU 8GB", "apple-m1"},
    {"M1 Max 32-Core GPU 64GB", "apple-m1-max"},
    {"M1 Max 24-Core GPU 32GB", "apple-m1-max"},
    {"M1 Max 64GB", "apple-m1-max"},
    {"M1 Ultra 64-Core GPU 128GB", "apple-m1-ultra"},
    {"M1 Ultra 48-Core GPU 64GB", "apple-m1-ultra"},
    {"M2 Ultra 76-Core GPU 192GB", "apple-m2-ultra"},
    {"M3 10-Core GPU 16GB", "apple-m3"},
    {"M3 Max 40-Core GPU 64GB", "apple-m3-max-40"},
    {"M3 Ultra 80-Core GPU 512GB", "apple-m3-ultra-80"},
    {"M4 10-Core GPU 32GB", "apple-m4"},
    {"M4 10-Core GPU 16GB", "apple-m4"},
    {"MI250X (1 GCD)", "mi250x-gcd"},
    {"RTX 3070 8GB", "rtx-3070"},
    {"RTX 3080 10GB", "rtx-3080-10"},
    {"RTX 3080 Ti 12GB", "rtx-3080-ti"},
    {"RTX 3090 Ti 24GB", "rtx-3090-ti"},
    {"RTX 4070 Ti 12GB", "rtx-4070-ti"},
    {"RTX 4070 Ti Super 16GB", "rtx-4070-ti-super"},
    {"RTX 2080 Ti 11GB", "rtx-2080-ti"},
    {"RTX 4000 Ada 20GB", "rtx-4000-ada"},
    {"RTX 5000 Ada 32GB", "rtx-5000-ada"},
    {"RTX A4000 16GB", "rtx-a4000"},
    {"RX 7900 XT 20GB", "rx-7900-xt"},
    {"RX 9070 XT 16GB", "rx-9070-xt"},
    {"Radeon Pro W7700 16GB", "radeon-w7700"},
    {"Radeon AI PRO R9700 32GB", "radeon-r9700"},
    {"RX 6800 XT 16GB", "rx-6800-xt"},
    {"RX 6700 XT 12GB", "rx-6700-xt"},
    {"RX 7600 8GB", "rx-7600"},
    {"Arc Pro B50 16GB", "arc-pro-b50"},
    {"Apple M5", "apple-m5"},
};

/* Cards that are measured but not in the catalogue: bandwidth in GB/s and 16-bit peak in TFLOPS as their
 * makers print them, GeForce at the rate with 16-bit accumulation. */
static const struct {
    const char *name;
    double memory, bandwidth, peak;
    const char *kind;
    double share; /* of the bandwidth that streams reach, as for similar cards of the catalogue */
} other_cards[] = {
    {"mi250x-gcd", 64, 1638, 191.5, "hbm", 0.80},      {"rtx-3070", 8, 448, 81.3, "gddr", 0.95},
    {"rtx-3080-10", 10, 760, 119, "gddr", 0.95},       {"rtx-3080-ti", 12, 912, 136, "gddr", 0.95},
    {"rtx-3090-ti", 24, 1008, 160, "gddr", 0.95},      {"rtx-4070-ti", 12, 504, 160, "gddr", 0.95},
    {"rtx-4070-ti-super", 16, 672, 176, "gddr", 0.95}, {"rtx-2080-ti", 11, 616, 107.6, "gddr", 0.95},
    {"rtx-4000-ada", 20, 360, 107, "gddr", 0.95},      {"rtx-5000-ada", 32, 576, 261, "gddr", 0.95},
    {"rtx-a4000", 16, 448, 76.7, "gddr", 0.95},        {"rx-7900-xt", 20, 800, 103, "gddr", 0.95},
    {"rx-9070-xt", 16, 640, 195, "gddr", 0.95},        {"radeon-w7700", 16, 576, 56.5, "gddr", 0.95},
    {"radeon-r9700", 32, 640, 191, "gddr", 0.95},      {"rx-6800-xt", 16, 512, 41.5, "gddr", 0.95},
    {"rx-6700-xt", 12, 384, 26.4, "gddr", 0.95},       {"rx-7600", 8, 288, 43.5, "gddr", 0.95},
    {"arc-pro-b50", 16, 224, 85, "gddr", 0.95},        {"apple-m5", 32, 153, 8.5, "shared", 0.80},
};

static const struct {
    const char *label, *model;
} models[] = {
    {"Llama-3-8B", "llama-3-8b"},
    {"Llama-3.1-8B", "llama-3.1-8b"},
    {"Llama-3-70B", "llama-3-70b"},
    {"Llama-3.1-70B", "llama-3.1-70b"},
    {"Llama-3.1-405B", "llama-3.1-405b"},
    {"Llama-2-7B", "llama-2-7b"},
    {"Vicuna-7B", "llama-2-7b"},
    {"Llama-7B", "llama-2-7b"},
    {"Llama-2-13B", "llama-2-13b"},
    {"Llama-13B", "llama-2-13b"},
    {"Llama-33B", "llama-33b"},
    {"Llama-2-70B", "llama-2-70b"},
    {"TinyLlama-1.1B", "tinyllama-1.1b"},
    {"Llama-3.2-1B", "llama-3.2-1b"},
    {"Llama-3.2-3B", "llama-3.2-3b"},
    {"DeepSeek-R1-Distill-Qwen-14B", "qwen2.5-14b"},
    {"Qwen2.5-Coder-3B", "qwen2.5-3b"},
    {"Falcon-7B", "falcon-7b"},
    {"MPT-7B", "mpt-7b"},
    {"Mistral-7B", "mistral-7b-v0.1"},
    {"DeepSeek-Coder-33B", "deepseek-coder-33b"},
    {"CodeLlama-34B", "codellama-34b"},
    {"Qwen3-0.6B", "qwen3-0.6b"},
    {"Qwen3-4B", "qwen3-4b"},
    {"Qwen3-14B", "qwen3-14b"},
    {"Qwen3-32B", "qwen3-32b"},
    {"Mixtral-8x7B", "mixtral-8x7b"},
    {"gpt-oss-20b", "gpt-oss-20b"},
    {"GPT-6.7B", "gpt-6.7b"},
    {"GPT-20B", "gpt-20b"},
    {"GPT-89B", "gpt-89b"},
    {"GPT-175B", "gpt-175b"},
};

/* Models that are measured but not in the catalogue. */
static const char other_models[] =
    "model llama-33b { layers = 60  hidden = 6656  heads = 52  kv_heads = 52  ffn = 17920  vocab = 32000 }\n"
    "model deepseek-coder-33b { layers = 62  hidden = 7168  heads = 56  kv_heads = 8  ffn = 19200  vocab = "
    "32256 }\n"
    "model gpt-6.7b { layers = 32  hidden = 4096  heads = 32  ffn = 16384  ffn_gated = false  vocab = 51200 "
    "}\n"
    "model gpt-20b { layers = 44  hidden = 6144  heads = 48  ffn = 24576  ffn_gated = false  vocab = 51200 "
    "}\n"
    "model gpt-89b { layers = 48  hidden = 12288  heads = 96  ffn = 49152  ffn_gated = false  vocab = 51200 "
    "}\n"
    "model gpt-175b { layers = 96  hidden = 12288  heads = 96  ffn = 49152  ffn_gated = false  vocab = 51200 "
    "}\n"
    "format exl2-3 { bits = 3  weight_only = true  compute = fp16 }\n"
    "format exl2-4 { bits = 4  weight_only = true  compute = fp16 }\n"
    "format exl2-5 { bits = 5  weight_only = true  compute = fp16 }\n"
    "format exl2-6 { bits = 6  weight_only = true  compute = fp16 }\n"
    "format gpt-fast-int8 { bits = 8  weight_only = true  compute = fp16 }\n"
    "format gpt-fast-int4 { bits = 5  weight_only = true  compute = fp16 }\n";

/* Formats of matrices and of the output head. */
static const struct {
    const char *label, *weights, *head; /* how the label begins */
} formats[] = {
    {"Q4_K_M", "q4_k_m", "q6_k"},
    {"Q4_0", "q4_0", "q6_k"},
    {"Q6_K", "q6_k", "q6_k"},
    {"F16", "fp16", "fp16"},
    {"FP16", "fp16", "fp16"},
    {"BF16", "bf16", "bf16"},
    {"FP8", "fp8", "bf16"},
    {"GPTQ-Int8", "gpt-fast-int8", "bf16"},
    {"INT8", "gpt-fast-int8", "gpt-fast-int8"},
    {"AWQ", "awq-int4-g128", "fp16"},
    {"GPTQ-INT4 g128", "gptq-int4-g128", "fp16"},
    {"INT4 g32", "gpt-fast-int4", "gpt-fast-int4"},
    {"EXL2 3.0bpw", "exl2-3", "exl2-6"},
    {"EXL2 4.0bpw", "exl2-4", "exl2-6"},
    {"EXL2 5.0bpw", "exl2-5", "exl2-6"},
    {"4-bit", "q4_0", "exl2-6"},
};

static const struct {
    const char *label, *engine; /* how the label begins */
} engines[] = {
    {"llama.cpp", "llama-cpp"}, {"gpt-fast", "gpt-fast"}, {"AutoAWQ 0", "autoawq"},
    {"ExLlama", "exllama"},     {"MLC-LLM", "mlc-llm"},   {"FasterTransformer", "fastertransformer"},
    {"SGLang 0.4", "sglang"},
};

#define COUNT(table) (sizeof(table) / sizeof(table)[0])
#define LOOK_UP(table, text, from, to)                                                                       \
    look_up(text, &(table)[0].from, &(table)[0].to, sizeof(table)[0], COUNT(table))

/* The value beside the key that `text` equals, or begins with; NULL when there is none. */
static const char *look_up(const char *text, const char *const *keys, const char *const *values,
                           size_t stride, size_t count)
{
    const char *best = NULL;
    for (size_t i = 0; i < count; i++) {
        const char *key = *(const char *const *)((const char *)keys + i * stride);
        const char *value = *(const char *const *)((const char *)values + i * stride);
        if (strcmp(text, key) == 0)
            return value;
        if (best == NULL && strncmp(text, key, strlen(key)) == 0)
            best = value;
    }
    return best;
}

/* What is measured, and why a row is no measure of the engine. */
enum metric { DECODE, PREFILL, LATENCY, METRICS };

struct sample {
    const char *id, *scenario;
    enum metric metric;
    const char *engine, *card, *model, *format, *count;
    double measured; /* s: per token, per prompt, per batch */
    double batch, input, output;
};

struct samples {
    VEC(struct sample) list;
    size_t unmapped, set_aside;
};

static const char *remark_of(const struct csv *csv, const struct csv_row *row)
{
    const char *notes = csv_field(csv, row, "notes"), *id = csv_field(csv, row, "id");
    if (strstr(notes, "anomal") != NULL || strstr(notes, "broken") != NULL)
        return "the source's own figures contradict each other";
    if (strstr(notes, "SPECULATIVE") != NULL)
        return "drafts were on";
    if (strcmp(id, "mlc-0023") == 0)
        return "reads 140 GB in less time than the cards' bandwidth allows one after the other";
    if (strncmp(id, "xd2", 3) == 0 && strstr(csv_field(csv, row, "metric"), "prefill") != NULL)
        return "a prompt of a few words";
    return NULL;
}

static bool read_sample(struct arena *arena, const struct csv *csv, const struct csv_row *row,
                        struct buffer *plan, struct samples *out)
{
    const char *metric = csv_field(csv, row, "metric"), *batch = csv_field(csv, row, "batch_or_concurrency");
    double input = csv_number(csv, row, "input_tokens"), output = csv_number(csv, row, "output_tokens");
    double value = csv_number(csv, row, "value");
    struct sample sample = {
        .id = csv_field(csv, row, "id"),
        .engine = LOOK_UP(engines, csv_field(csv, row, "engine"), label, engine),
        .card = LOOK_UP(cards, csv_field(csv, row, "gpu"), label, gpu),
        .format = LOOK_UP(formats, csv_field(csv, row, "weight_format"), label, weights),
        .batch = batch[0] != '\0' ? strtod(batch, NULL) : 1,
        .input = input,
        .output = output,
        .metric = strcmp(metric, "decode_tok_s_per_user") == 0 ? DECODE
                  : strcmp(metric, "prefill_tok_s") == 0       ? PREFILL
                  : strcmp(metric, "e2e_latency_ms") == 0      ? LATENCY
                                                               : METRICS,
    };
    for (size_t i = 0; i < COUNT(models); i++)
        if (strcmp(models[i].label, csv_field(csv, row, "model")) == 0)
            sample.model = models[i].model;
    bool static_batch =
        sample.metric == LATENCY && sample.engine && strcmp(sample.engine, "fastertransformer") == 0;
    if (sample.metric == METRICS || (sample.metric != LATENCY && sample.batch > 1) ||
        (sample.metric == LATENCY && !static_batch) || (sample.metric == PREFILL && input < 64))
        return false;
    double tp = csv_number(csv, row, "tp"), pp = csv_number(csv, row, "pp");
    tp = tp > 1 ? tp : 1;
    pp = pp > 1 ? pp : 1;
    if (!sample.engine || !sample.card || !sample.model || !sample.format || tp > 8) {
        out->unmapped++;
        return false;
    }
    if (remark_of(csv, row) != NULL) {
        out->set_aside++;
        return false;
    }
    sample.count =
        tp * pp > 1 ? (pp > 1 ? "several cards, layers split" : "several cards, tensors split") : "one card";
    sample.scenario = arena_printf(arena, "\"%s\"", sample.id);
    sample.measured = sample.metric == PREFILL   ? input / value
                      : sample.metric == LATENCY ? value / 1e3
                                                 : 1 / value;
    buffer_printf(plan, "scenario %s {\n  gpu = %s   model = %s   engine = %s   tp = %g   pp = %g\n",
                  sample.scenario, sample.card, sample.model, sample.engine, tp, pp);
    buffer_printf(plan, "  weights = %s   weights.head = %s   batch = %g\n", sample.format,
                  LOOK_UP(formats, csv_field(csv, row, "weight_format"), label, head), sample.batch);
    if (sample.metric == PREFILL)
        buffer_printf(plan, "  prompt = %g   output = 1\n", input);
    else if (sample.metric == LATENCY) /* all prompts of the batch in one step */
        buffer_printf(plan, "  context = %g   prompt = %g\n", input + output / 2, input);
    else
        buffer_printf(plan, "  context = %g\n", fmax(input + output / 2, 1));
    buffer_text(plan, "}\n");
    *VEC_PUSH(arena, out->list) = sample;
    return true;
}

static void add_cards(struct buffer *plan)
{
    for (size_t i = 0; i < COUNT(other_cards); i++)
        buffer_printf(
            plan,
            "gpu %s {\n  memory = %g GB   bandwidth = %g GB/s   peak.fp16 = %g TFLOPS\n  memory_kind = %s   "
            "efficiency.bandwidth = %g   pcie = 32 GB/s\n}\n",
            other_cards[i].name, other_cards[i].memory, other_cards[i].bandwidth, other_cards[i].peak,
            other_cards[i].kind, other_cards[i].share);
}

/* All prompts of a static batch in one step: their tokens, each with half a prompt before it. */
static double prefill_of_batch(const struct binding *binding, const struct sample *sample)
{
    struct pm_step step;
    pm_expected_step(&binding->input, sample->batch * sample->input, sample->input / 2, 0, &step, NULL, 0,
                     NULL);
    return step.time - step.host_time + sample->batch * binding->input.engine->sequence_time;
}

static void add_sample(struct arena *arena, const struct sample *sample, const struct evaluation *evaluation,
                       struct points *points)
{
    const struct pm_result *result = &evaluation->result;
    const struct pm_service *expected = &result->expected, *ceiling = &result->ceiling;
    struct point point = {.id = sample->id, .measured = sample->measured, .lower_is_better = true};
    point.labels[BY_ENGINE] = sample->engine;
    point.labels[BY_CARD] = sample->card;
    point.labels[BY_MODEL] = sample->model;
    point.labels[BY_FORMAT] = sample->format;
    point.labels[BY_COUNT] = sample->count;
    if (sample->metric == DECODE) {
        point.predicted = expected->tpot;
        point.ceiling = ceiling->tpot;
        point.low = expected->tpot_band.low;
        point.high = expected->tpot_band.high;
    } else if (sample->metric == PREFILL) {
        point.predicted = expected->ttft;
        point.ceiling = ceiling->ttft;
        point.low = expected->ttft_band.low;
        point.high = expected->ttft_band.high;
    } else {
        double steps = sample->output - 1;
        point.predicted = prefill_of_batch(&evaluation->binding, sample) + steps * expected->tpot;
        point.ceiling = steps * ceiling->tpot;
        point.low = point.predicted * 0.85;
        point.high = point.predicted * 1.15;
    }
    *VEC_PUSH(arena, points->list) = point;
}

static void add_above(struct buffer *out, const struct points *points)
{
    for (size_t i = 0; i < points->list.count; i++) {
        const struct point *point = &points->list.items[i];
        if (point->measured < point->ceiling)
            buffer_printf(out, "| %s | %s, %s, %s, %s | %.4g | %.4g | %.2f |\n", point->id,
                          point->labels[BY_ENGINE], point->labels[BY_CARD], point->labels[BY_MODEL],
                          point->labels[BY_FORMAT], 1e3 * point->measured, 1e3 * point->ceiling,
                          point->measured / point->ceiling);
    }
}

static void add_worst(struct arena *arena, struct buffer *out, const struct points *points)
{
    enum { MOST = 12 };
    const struct point *worst[MOST];
    size_t count = worst_points(arena, points, MOST, worst);
    buffer_text(out, "The farthest off:\n\n| row | what | measured ms | predicted ms | factor "
                     "|\n|---|---|---:|---:|---:|\n");
    for (size_t i = 0; i < count; i++)
        buffer_printf(out, "| %s | %s, %s, %s, %s | %.4g | %.4g | %.2f |\n", worst[i]->id,
                      worst[i]->labels[BY_ENGINE], worst[i]->labels[BY_CARD], worst[i]->labels[BY_MODEL],
                      worst[i]->labels[BY_FORMAT], 1e3 * worst[i]->measured, 1e3 * worst[i]->predicted,
                      worst[i]->measured / worst[i]->predicted);
    buffer_text(out, "\n");
}

void validate_single(struct arena *arena, const struct csv *csv, struct buffer *out, struct buffer *svg)
{
    static const char *const titles[METRICS] = {"Decoding one sequence", "Prefill of one prompt",
                                                "Whole batches of FasterTransformer"};
    struct buffer plan = buffer_in(arena), above = buffer_in(arena);
    struct samples samples = {0};
    struct points points[METRICS] = {0};
    size_t without = 0;
    add_cards(&plan);
    buffer_text(&plan, other_models);
    for (size_t i = 0; i < csv->rows.count; i++)
        read_sample(arena, csv, &csv->rows.items[i], &plan, &samples);
    struct evaluator *evaluator = plan_of(arena, "single.perf", &plan);
    for (size_t i = 0; i < samples.list.count; i++) {
        const char *why;
        const struct sample *sample = &samples.list.items[i];
        const struct evaluation *evaluation = evaluation_of(evaluator, sample->id, &why);
        if (evaluation != NULL) {
            add_sample(arena, sample, evaluation, &points[sample->metric]);
        } else {
            fprintf(stderr, "%s: %s\n", sample->id, why);
            without++;
        }
    }
    buffer_printf(
        out,
        "## One sequence, and static batches\n\n%zu public measurements. %zu more are of engines, cards, "
        "models "
        "or formats without a counterpart\nhere, %zu were set aside because their source is inconsistent, "
        "%zu could not be evaluated.\n\n![predicted against measured time of a decode "
        "step](validation-single.svg)\n\n",
        samples.list.count - without, samples.unmapped, samples.set_aside, without);
    for (enum metric metric = DECODE; metric < METRICS; metric++) {
        struct errors errors = errors_of(arena, &points[metric], 0, NULL);
        buffer_printf(out, "### %s\n\n", titles[metric]);
        errors_header(out, "all");
        errors_row(out, "all", &errors);
        buffer_text(out, "\n");
        errors_by(arena, out, "engine", &points[metric], BY_ENGINE, true);
        errors_by(arena, out, "cards", &points[metric], BY_COUNT, true);
        errors_by(arena, out, "card", &points[metric], BY_CARD, true);
        errors_by(arena, out, "weights", &points[metric], BY_FORMAT, true);
        add_worst(arena, out, &points[metric]);
        add_above(&above, &points[metric]);
    }
    buffer_text(out, "### Better than the ceiling\n\n| row | what | measured ms | ceiling ms | factor "
                     "|\n|---|---|---:|---:|---:|\n");
    buffer_text(out, above.length > 0 ? buffer_string(&above) : "| none | | | | |\n");
    buffer_text(out, "\n");
    for (size_t i = 0; i < points[DECODE].list.count; i++) {
        points[DECODE].list.items[i].measured *= 1e3;
        points[DECODE].list.items[i].predicted *= 1e3;
    }
    chart(arena, svg, "Time of a decode step, one sequence", "ms", &points[DECODE], BY_ENGINE);
}
