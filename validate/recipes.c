/* recipes.c: options of servers and loads behind facts/serving.csv that its columns do not have, from
 * published scripts (docs/calibration.md section 10): those of SemiAnalysisAI/InferenceX, benchmarks/, for
 * its runs, and aiconfigurator's genai_perf_runner.py for the others. */
#include "validate.h"

#include <string.h>

/* What InferenceX's script for such a run sets; "" and 0: any. Every line that fits counts. */
static const struct {
    const char *engine, *version, *model, *gpu, *precision;
    double least_users, most_users, gpus_below;
    bool short_only; /* 1024 tokens in and out */
    const char *options;
} scripts[] = {
    {"sglang", "", "", "h200", "", 0, 0, 0, false, "poll_interval = 1"},
    {"sglang", "", "", "b200", "", 0, 15, 0, false, "poll_interval = 10"},
    {"sglang", "", "", "b200", "", 16, 0, 0, false, "poll_interval = 30"},
    {"sglang", "", "Qwen3.5", "b200", "fp4", 0, 15, 0, false, "poll_interval = 30"},
    {"trtllm", "", "", "", "", 0, 0, 0, false, "hold_steps = 0"},
    {"trtllm", "", "Llama-3.1-70B", "", "", 0, 0, 8, true, "hold_steps = 20   hold_share = 0.9"},
    {"trtllm", "", "Llama-3.1-70B", "b200", "fp4", 0, 0, 8, true, "chunk = 2248"},
    {"trtllm", "", "Llama-3.1-70B", "h200", "fp8", 0, 0, 8, true, "chunk = 2248"},
    {"trtllm", "", "Llama-3.1-70B", "b200", "fp8", 0, 0, 8, true, "chunk = 16384"},
    {"trtllm", "1.2", "DeepSeek", "b200", "fp8", 64, 255, 0, true, "hold_steps = 40   hold_share = 0.8"},
    {"trtllm", "", "gpt-oss", "", "", 0, 0, 0, false, "balance_steps = 50"},
};

static bool begins(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* InferenceX draws lengths between 0.8 and 1 of the nominal ones; genai-perf gives all requests the same. */
static bool is_inferencex(const struct csv *csv, const struct csv_row *row)
{
    return !begins(csv_field(csv, row, "source"), "gap-analysis/");
}

bool recipe_equal_lengths(const struct csv *csv, const struct csv_row *row)
{
    /* Runs of SGLang 0.5.6 have lengths of whole thousands, and users in odd numbers: some other client. */
    return !is_inferencex(csv, row) && !begins(csv_field(csv, row, "engine_version"), "0.5.6");
}

/* A later line replaces what an earlier one says of the same option, as each is set apart. */
void recipe_options(const struct csv *csv, const struct csv_row *row, struct buffer *out)
{
    double users = csv_number(csv, row, "concurrency"), gpus = csv_number(csv, row, "gpus");
    bool is_short =
        csv_number(csv, row, "input_tokens") == 1024 && csv_number(csv, row, "output_tokens") == 1024;
    const char *engine = csv_field(csv, row, "engine");
    if (!is_inferencex(csv, row)) {
        buffer_text(out, strcmp(engine, "sglang") == 0   ? "  poll_interval = 1\n"
                         : strcmp(engine, "trtllm") == 0 ? "  hold_steps = 0\n"
                                                         : "");
        return;
    }
    for (size_t i = sizeof scripts / sizeof scripts[0]; i-- > 0;) {
        const char *option = scripts[i].options;
        size_t name = strcspn(option, " ");
        bool fits = strcmp(engine, scripts[i].engine) == 0 &&
                    begins(csv_field(csv, row, "engine_version"), scripts[i].version) &&
                    strstr(csv_field(csv, row, "model"), scripts[i].model) != NULL &&
                    begins(csv_field(csv, row, "gpu"), scripts[i].gpu) &&
                    begins(csv_field(csv, row, "precision"), scripts[i].precision) &&
                    users >= scripts[i].least_users &&
                    (scripts[i].most_users == 0 || users <= scripts[i].most_users) &&
                    (scripts[i].gpus_below == 0 || gpus < scripts[i].gpus_below) &&
                    (is_short || !scripts[i].short_only);
        const char *said = buffer_string(out);
        const char *before = strstr(said, arena_printf(out->arena, "  %.*s ", (int)name, option));
        if (fits && before == NULL)
            buffer_printf(out, "  %s\n", option);
    }
}
