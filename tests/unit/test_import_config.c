/* test_import_config.c: configurations of Hugging Face models, against totals that others published. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faults.h"
#include "import_fixture.h"
#include "run.h"

TestSuite(import_config, .init = set_up, .fini = tear_down);

/* ---- families ------------------------------------------------------------------------------ */

/* Configurations of tests/import, written by hand from published geometry with the keys of each family. */
static const struct total {
    const char *file;
    double params, mtp;
} totals[] = {
    /* Hugging Face safetensors totals (debaditc/kvfit): text and vision tower */
    {"gemma-3-4b", 4300079472, 0},
    {"mistral-small-3.2", 24011361280, 0},
    {"nemotron-nano-9b-v2", 8888227328, 0},
    /* the same, less the MTP layer and its copies of embedding and head */
    {"glm-4.5", 352797829024, 3988069792},
    {"glm-4.5-air", 106852251264, 2375059584},
    /* huggingface/safetensors, huggingface.js: sizes of files */
    {"bloom-560m", 559214592, 0},
    /* as commonly printed */
    {"opt-125m", 125239296, 0},
    {"starcoder2-3b", 3030371328, 0},
    {"baichuan2-7b", 7505973248, 0},
    {"phi-3.5-moe", 41873153344, 0},
    /* model cards and tables of sizes */
    {"gpt-neox-20b", 20554567680, 0},
    {"starcoder", 15517456384, 0},
    {"gpt-j-6b", 6050882784, 0},
    {"mamba-2.8b", 2768345600, 0},
    /* 51.57e9 where the card says 52B; by hand: 4 attention, 28 Mamba blocks, half of all with 16 experts */
    {"jamba", 51570323328, 0},
    /* Hugging Face Hub totals */
    {"minimax-m1", 456089655296, 0},
    {"deepseek-v2", 235741434880, 0},
    {"deepseek-v2-lite", 15706484224, 0},
    {"qwen1.5-moe", 14315784192, 0},
    {"gpt-oss-20b", 20914757184, 0},
    /* 7,217,189,760 in the file, which stores the tied head of 65,024 x 4,544 again */
    {"falcon-7b", 7217189760 - 65024.0 * 4544, 0},
    /* card: 35B */
    {"command-r", 34980831232, 0},
};

/* The catalogue's gpt-oss and an imported one touch as many experts. */
Test(import_config, tokens_of_gpt_oss_route_alike)
{
    struct import_run run = import_file(source_path(arena, "tests/import/gpt-oss-20b.json"), false);
    cr_assert(run.known && strstr(run.imported.text, "expert_spread = 0.77"), "%s", run.imported.text);
    import_close(&run);
}

Test(import_config, families_have_their_published_totals)
{
    for (size_t i = 0; i < sizeof totals / sizeof totals[0]; i++) {
        const char *path = source_path(arena, arena_printf(arena, "tests/import/%s.json", totals[i].file));
        struct result_fixture fixture = import_evaluate_file(path);
        struct decl *model = plan_find(fixture.plan, KIND_MODEL, totals[i].file);
        if (diags_count(fixture.diags) > 0 || !model || model->catalogue) {
            FAULT("%s: %s", totals[i].file,
                  diags_count(fixture.diags) ? diags_get(fixture.diags, 0)->message
                                             : "no model of this name");
        } else {
            double params = result_number(&fixture, KIND_MODEL, totals[i].file, "params");
            double mtp = plan_number(fixture.plan, model, ATTR_MODEL_MTP_PARAMS, 0);
            if (params != totals[i].params || mtp != totals[i].mtp)
                FAULT("%s: %.0f and %.0f of MTP, not %.0f and %.0f", totals[i].file, params, mtp,
                      totals[i].params, totals[i].mtp);
        }
        result_close(&fixture);
    }
    EXPECT_NO_FAULTS();
}

/* ---- the text ------------------------------------------------------------------------------ */

static void expect_text(const char *name, const char *json, const char *expected)
{
    struct import_run run = import_bytes(name, json, strlen(json));
    cr_assert(run.known, "%s", import_error(&run).message);
    cr_assert(strcmp(run.imported.text, expected) == 0, "got\n%s", run.imported.text);
    import_close(&run);
}

Test(import_config, a_model_is_written_as_the_catalogue_would)
{
    expect_text(
        "models/Org__Small-1.5B/config.json",
        "{\"model_type\": \"qwen2\", \"hidden_size\": 896, \"num_hidden_layers\": 24,\n"
        " \"num_attention_heads\": 14, \"num_key_value_heads\": 2, \"intermediate_size\": 4864,\n"
        " \"vocab_size\": 151936, \"tie_word_embeddings\": true, \"max_position_embeddings\": 32768,\n"
        " \"sliding_window\": 4096, \"use_sliding_window\": false, \"torch_dtype\": \"float16\"}",
        "model small-1.5b {\n"
        "  name = \"Org/Small-1.5B\"\n"
        "  hidden = 896   vocab = 151936   layers = 24   heads = 14   kv_heads = 2   ffn = 4864   "
        "qkv_bias = true\n"
        "  tied_embeddings = true\n"
        "  weights = fp16\n"
        "  max_context = 32768\n"
        "  source = \"imported from config.json, model_type qwen2\"\n"
        "  confidence = datasheet\n"
        "}\n");
}

static void expect_name(const char *path, const char *name, const char *title)
{
    static const char json[] =
        "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_hidden_layers\": 2,\n"
        "\"num_attention_heads\": 4, \"intermediate_size\": 128, \"vocab_size\": 100,\n"
        "\"_name_or_path\": \"Some/Where-1B\"}";
    struct import_run run = import_bytes(path, json, sizeof json - 1);
    cr_assert(run.known);
    const char *expected = arena_printf(arena, "model %s {\n  name = \"%s\"\n", name, title);
    cr_assert(strncmp(run.imported.text, expected, strlen(expected)) == 0, "%s:\n%s", path,
              run.imported.text);
    import_close(&run);
}

Test(import_config, models_are_called_after_their_files)
{
    expect_name("Qwen3-32B.json", "qwen3-32b", "Qwen3-32B");
    expect_name("a/Qwen__Qwen3-32B.json", "qwen3-32b", "Qwen/Qwen3-32B");
    expect_name("a/Qwen3-32B/config.json", "qwen3-32b", "Qwen3-32B");
    expect_name("config.json", "where-1b", "Some/Where-1B");
    expect_name("../config.json", "where-1b", "Some/Where-1B");
    expect_name("hub/models--Qwen--Qwen3-32B/snapshots/0123456789abcdef0123456789abcdef01234567/config.json",
                "qwen3-32b", "Qwen/Qwen3-32B");
    expect_name("7b (mine).json", "\"7b--mine-\"", "7b (mine)");
    expect_name("not.json", "\"not\"", "not");
}

Test(import_config, equal_layers_are_one_block)
{
    struct import_run run = import_file(source_path(arena, "tests/import/exaone4.json"), false);
    cr_assert(run.known);
    cr_assert_not_null(strstr(run.imported.text, "block local  { count = 6   window = 4096 }\n"
                                                 "  block global { count = 2 }\n"),
                       "%s", run.imported.text);
    import_close(&run);
}

/* A window stated by a family that does not use it unless told to, and by one whose pattern is a default. */
Test(import_config, windows_follow_the_family)
{
    static const char frame[] =
        "{\"model_type\": \"%s\", \"hidden_size\": 64, \"num_hidden_layers\": 12,\n"
        "\"num_attention_heads\": 4, \"intermediate_size\": 128, \"vocab_size\": 100,\n"
        "\"head_dim\": 16, \"sliding_window\": 32, \"max_position_embeddings\": 4096%s}";
    static const struct {
        const char *family, *more, *expected;
    } cases[] = {
        {"mistral", "", "window = 32"},
        {"qwen3", "", "!"},
        {"qwen3", ", \"use_sliding_window\": true, \"max_window_layers\": 9", "{ count = 3   window = 32 }"},
        {"gemma2", "", "{ count = 6   window = 32 }"},
        {"gemma3_text", "", "{ count = 10   window = 32 }"},
        {"gemma3_text", ", \"sliding_window_pattern\": 3", "{ count = 8   window = 32 }"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *json = arena_printf(arena, frame, cases[i].family, cases[i].more);
        struct import_run run = import_bytes("w.json", json, strlen(json));
        cr_assert(run.known, "%s", import_error(&run).message);
        bool found =
            strstr(run.imported.text, *cases[i].expected == '!' ? "window" : cases[i].expected) != NULL;
        cr_assert(found == (*cases[i].expected != '!'), "%s%s:\n%s", cases[i].family, cases[i].more,
                  run.imported.text);
        import_close(&run);
    }
}

Test(import_config, a_plan_imports_it_and_can_inherit_from_it)
{
    const char *path = source_path(arena, "tests/import/falcon-7b.json");
    const char *plan =
        arena_printf(arena, "import \"%s\" as m\nmodel mine : m.falcon-7b { vocab = 65025 }\n", path);
    struct result_fixture fixture = result_open(plan);
    cr_assert(diags_count(fixture.diags) == 0, "%s",
              diags_count(fixture.diags) ? diags_get(fixture.diags, 0)->message : "");
    double params = result_number(&fixture, KIND_MODEL, "mine", "params");
    cr_assert(params == 7217189760 - 65024.0 * 4544 + 4544, "%.0f", params);
    result_close(&fixture);
}

/* ---- places of errors ---------------------------------------------------------------------- */

static void expect_error(const char *json, const char *code, unsigned line, unsigned column,
                         const char *words)
{
    struct import_run run = import_bytes("x.json", json, strlen(json));
    struct import_error error = import_error(&run);
    cr_assert(!run.known, "imported:\n%s", run.imported.text);
    cr_assert(strcmp(error.code, code) == 0 && error.line == line && error.column == column, "%s %u:%u %s",
              error.code, error.line, error.column, error.message);
    cr_assert(strstr(error.message, words) != NULL, "%s", error.message);
    import_close(&run);
}

Test(import_config, an_unknown_family_is_named_at_its_key)
{
    expect_error("{\n  \"vision_config\": {\"model_type\": \"llama\"},\n  \"model_type\": \"deepseek_v4\"\n}",
                 "E0406", 3, 3, "`deepseek_v4`");
    expect_error("{\"model_type\": \"wrapper\",\n \"text_config\": {\"hidden_size\": 8,\n  \"model_type\": "
                 "\"retnet\"}}",
                 "E0406", 3, 3, "`retnet`");
    expect_error("{\"hidden_size\": 8}", "E0406", 1, 1, "model_type");
    /* which language part MiniCPM-V has, its version decides */
    expect_error("{\"model_type\": \"minicpmv\", \"version\": 9.9}", "E0406", 1, 2, "`minicpmv`");
    /* windowed layers have head counts of their own, and this file does not say them */
    expect_error("{\"model_type\": \"step3p7\", \"hidden_size\": 4096}", "E0406", 1, 2, "`step3p7`");
}

Test(import_config, bits_of_chatglm_are_not_taken_for_16)
{
    const char *json =
        "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_hidden_layers\": 2, \"vocab_size\": 10,"
        "\"num_attention_heads\": 2, \"intermediate_size\": 8,\n \"quantization_bit\": 4}";
    expect_error(json, "E0407", 2, 2, "`quantization_bit`");
}

Test(import_config, lists_may_go_on_with_prediction_layers)
{
    const char *json =
        "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_hidden_layers\": 2, \"vocab_size\": 10,"
        "\"num_attention_heads\": 2, \"intermediate_size\": 8, \"num_nextn_predict_layers\": 1,"
        "\"layer_types\": [\"full_attention\", \"full_attention\", \"full_attention\"%s]}";
    char text[512];
    snprintf(text, sizeof text, json, "");
    struct import_run run = import_bytes("x.json", text, strlen(text));
    cr_expect(run.known);
    import_close(&run);
    snprintf(text, sizeof text, json, ", \"full_attention\"");
    expect_error(text, "E0407", 1, 165, "4 entries for 2 layers");
}

Test(import_config, missing_keys_are_named_together)
{
    const char *json = "{\n \"model_type\": \"qwen3_moe\", \"num_experts\": 8, \"vocab_size\": 10,\n"
                       " \"num_hidden_layers\": 2, \"num_attention_heads\": 2, \"head_dim\": 8}";
    expect_error(json, "E0407", 2, 2, "`hidden_size`, `num_experts_per_tok` and `moe_intermediate_size`");
}

Test(import_config, sizes_of_nothing_are_refused_in_families_that_mix)
{
    static const char frame[] =
        "{\"hidden_size\": 64, \"num_attention_heads\": 4, \"intermediate_size\": 128, \"vocab_size\": 100,\n"
        "\"num_hidden_layers\": 2, \"num_key_value_heads\": 4, \"model_type\": %s,\n"
        "\"%s\": 0}";
    static const char *const zeros[][2] = {
        {"\"falcon_mamba\", \"state_size\": 16, \"time_step_rank\": 4", "conv_kernel"},
        {"\"lfm2\", \"layer_types\": [\"conv\", \"full_attention\"]", "conv_L_cache"},
        {"\"recurrent_gemma\"", "conv1d_width"},
        {"\"baichuan_m1\", \"sliding_window\": 8, \"sliding_window_layers\": [1]", "conv_window"},
        {"\"baichuan_m1\", \"sliding_window\": 8, \"sliding_window_layers\": [1]", "num_swa_attention_heads"},
    };
    for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++)
        expect_error(arena_printf(arena, frame, zeros[i][0], zeros[i][1]), "E0407", 3, 1, "is 0");
}

Test(import_config, wrong_values_are_refused_where_they_stand)
{
    static const char frame[] =
        "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 4,\n"
        "\"intermediate_size\": 128, \"vocab_size\": 100, \"num_hidden_layers\": %s,\n"
        "\"num_key_value_heads\": %s}";
    expect_error(arena_printf(arena, frame, "\"two\"", "4"), "E0407", 2, 46, "whole number");
    expect_error(arena_printf(arena, frame, "2.5", "4"), "E0407", 2, 46, "whole number");
    expect_error(arena_printf(arena, frame, "-3", "4"), "E0407", 2, 46, "whole number");
    expect_error(arena_printf(arena, frame, "0", "4"), "E0407", 2, 46, "is 0");
    expect_error(arena_printf(arena, frame, "99999", "4"), "E0407", 2, 46, "at most 10000");
    expect_error(arena_printf(arena, frame, "2", "8"), "E0407", 3, 1, "8 key/value heads for 4 query heads");
    expect_error(arena_printf(arena, frame, "1e400", "4"), "E0405", 2, 67, "overflow");
}

Test(import_config, json_errors_have_line_and_column)
{
    expect_error("{\"a\": 1,\n \"b\" 2}", "E0405", 2, 6, "not JSON");
    expect_error("{\"a\": 1,\n \"a\": 2}", "E0405", 2, 2, "duplicate");
    expect_error("{\"a\": \"b\n\"}", "E0405", 1, 9, "control character");
    expect_error("{\"a\": \"\xc0\xaf\"}", "E0405", 1, 8, "UTF-8");
    expect_error("{\"a\": \"\\ud800\"}", "E0405", 1, 8, "no character");
    expect_error("{\"a\": \"b\\q\"}", "E0405", 1, 9, "escape");
    expect_error("{\"a\": 01}", "E0405", 1, 7, "number");
    expect_error("{\"a\": [1, 2}", "E0405", 1, 12, "`]` was expected");
    expect_error("{\"a\": \"b", "E0405", 1, 7, "not closed");
    expect_error("{} x", "E0405", 1, 4, "follows");
    expect_error("[1, 2]", "E0405", 1, 1, "not a JSON object");
    expect_error("", "E0405", 1, 1, "not JSON");
    struct buffer deep = buffer_in(arena);
    buffer_text(&deep, "{\"a\": ");
    buffer_repeat(&deep, "[", 100000);
    struct import_run run = import_bytes("x.json", buffer_string(&deep), deep.length);
    cr_assert(!run.known && strcmp(import_error(&run).code, "E0405") == 0);
    import_close(&run);
}

/* Python writes Infinity where JSON has no number for it; inside strings it stays what it is. */
Test(import_config, infinity_is_a_number)
{
    expect_text("a.json",
                "{\"model_type\": \"llama\", \"limit\": [0.0, Infinity, -Infinity, NaN], \"note\": "
                "\"\\\"Infinity\",\n"
                " \"hidden_size\": 64, \"num_hidden_layers\": 2, \"num_attention_heads\": 4,\n"
                " \"intermediate_size\": 128, \"vocab_size\": 100}",
                "model a {\n"
                "  name = \"a\"\n"
                "  hidden = 64   vocab = 100   layers = 2   heads = 4   ffn = 128\n"
                "  source = \"imported from a.json, model_type llama\"\n"
                "  confidence = datasheet\n"
                "}\n");
}

Test(import_config, assume_dense_reads_an_unknown_family)
{
    const char *path =
        scratch_file(arena, "odd.json",
                     "{\"model_type\": \"odd\", \"hidden_size\": 64, \"num_hidden_layers\": 2,\n"
                     " \"num_attention_heads\": 4, \"intermediate_size\": 128, \"vocab_size\": 100}");
    struct import_run refused = import_file(path, false), assumed = import_file(path, true);
    cr_assert(!refused.known && strcmp(import_error(&refused).code, "E0406") == 0);
    cr_assert(assumed.known);
    cr_assert_not_null(strstr(assumed.imported.text, "assum"), "the assumption must be noted:\n%s",
                       assumed.imported.text);
    import_close(&refused);
    import_close(&assumed);
}

/* ---- the facts ----------------------------------------------------------------------------- */

/* Real configurations and official totals are not part of the tree. */
static const char *facts(const char *name)
{
    const char *path = source_path(arena, arena_printf(arena, "../shared/facts/%s", name));
    return file_exists(path) ? path : NULL;
}

static void need_facts(void)
{
    if (!facts("params.csv"))
        cr_skip_test("../shared/facts is not here: real configurations are NOT tested");
}

/* Families that configs.md has no formula for, by what their file's name begins with after "ORG__". */
static bool is_expected_unknown(const char *path)
{
    static const char *const names[] = {"DeepSeek-V4", "MiniMax-M3", "Step-3.7", "Kimi-K3", "RWKV"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strstr(path, arena_printf(arena, "__%s", names[i])))
            return true;
    return false;
}

/* Every quantity of a model, and every number and count that it declares. */
static const char *quantities(struct result_fixture *fixture, const char *name)
{
    struct buffer text = buffer_in(arena);
    struct decl *model = plan_find(fixture->plan, KIND_MODEL, name);
    cr_assert_not_null(model, "%s", name);
    for (enum quantity q = 0; q < QUANTITY_COUNT; q++)
        if (quantity_info(q)->scope == QUANTITY_OF_MODEL)
            buffer_printf(&text, "%s %.17g\n", quantity_info(q)->name,
                          evaluate_number(fixture->evaluator, model, q, -1));
    for (enum attribute k = 0; k < ATTR_COUNT; k++)
        if (attribute_info(k)->scope & (1u << KIND_MODEL) && plan_is_set(fixture->plan, model, k))
            buffer_printf(&text, "%s = %.17g\n", attribute_info(k)->name,
                          plan_number(fixture->plan, model, k, -1));
    for (size_t i = 0; i < diags_count(fixture->diags); i++)
        buffer_printf(&text, "%s\n", diags_get(fixture->diags, i)->message);
    return buffer_string(&text);
}

static void check_real(const char *path)
{
    struct import_run run = import_file(path, false);
    if (is_expected_unknown(path) || !run.known) {
        const char *code = import_error(&run).code;
        if (!is_expected_unknown(path) || run.known || strcmp(code, "E0406") != 0)
            FAULT("%s: %s %s", path, code, import_error(&run).message);
        import_close(&run);
        return;
    }
    struct result_fixture direct = import_evaluate_file(path),
                          printed = import_evaluate_text(run.imported.text);
    const char *name = import_model_of(arena, run.imported.text);
    const char *one = quantities(&direct, name), *other = quantities(&printed, name);
    if (strcmp(one, other) != 0)
        FAULT("%s: imported\n%sprinted and compiled\n%s", path, one, other);
    if (diags_count(direct.diags) > 0)
        FAULT("%s: %s", path, diags_get(direct.diags, 0)->message);
    result_close(&direct);
    result_close(&printed);
    import_close(&run);
}

Test(import_config, real_configurations_import_and_come_back_the_same, .timeout = 120)
{
    need_facts();
    struct paths files = find_files(arena, facts("configs"), ".json");
    size_t seen = 0;
    for (size_t i = 0; i < files.list.count; i++) {
        if (strstr(files.list.items[i], "/hf_quant/"))
            continue;
        check_real(files.list.items[i]);
        seen++;
    }
    cr_assert(seen >= 100, "%zu files", seen);
    EXPECT_NO_FAULTS();
}

enum {
    COLUMN_TOTAL = 1,
    COLUMN_COMPUTED = 4,
    COLUMN_COMPOSITION = 7,
    COLUMN_TEXT,
    COLUMN_ACTIVE_BARE,
    COLUMN_ACTIVE,
    COLUMN_MTP,
    COLUMN_FILE,
    COLUMNS
};

/* Fields of a line of CSV; quotes may hold commas. */
static void split_row(char *line, const char *fields[COLUMNS])
{
    for (size_t i = 0; i < COLUMNS; i++) {
        bool quoted = *line == '"';
        char *end = line += quoted;
        while (*end && *end != '\r' && !(quoted ? *end == '"' : *end == ','))
            end++;
        fields[i] = line;
        line = end + (*end != '\0') + (quoted && end[0] && end[1] == ',');
        *end = '\0';
    }
}

/* What of an official total is in `params`: not the MTP layer, nor anything stored twice. */
static double expected_params(const char *const fields[COLUMNS])
{
    double text = strtod(fields[COLUMN_TEXT], NULL), total = strtod(fields[COLUMN_COMPUTED], NULL);
    double mtp = strstr(fields[COLUMN_COMPOSITION], "+ MTP") ? strtod(fields[COLUMN_MTP], NULL) : 0;
    return strstr(fields[COLUMN_COMPOSITION], "vision") ? total - mtp : text;
}

static void check_row(const char *const fields[COLUMNS])
{
    const char *path = facts(arena_printf(arena, "configs/%s", fields[COLUMN_FILE]));
    struct import_run run = import_file(path, false);
    if (!run.known) {
        FAULT("%s: %s", fields[0], import_error(&run).message);
        import_close(&run);
        return;
    }
    struct result_fixture fixture = import_evaluate_file(path);
    const char *name = import_model_of(arena, run.imported.text);
    double params = result_number(&fixture, KIND_MODEL, name, "params");
    double active = result_number(&fixture, KIND_MODEL, name, "active_params");
    double mtp =
        plan_number(fixture.plan, plan_find(fixture.plan, KIND_MODEL, name), ATTR_MODEL_MTP_PARAMS, 0);
    double stated = strtod(fields[COLUMN_ACTIVE], NULL);
    if (params != expected_params(fields))
        FAULT("%s: %.0f parameters, not %.0f", fields[0], params, expected_params(fields));
    if (mtp != strtod(fields[COLUMN_MTP], NULL))
        FAULT("%s: %.0f of MTP, not %s", fields[0], mtp, fields[COLUMN_MTP]);
    if (stated > 0 && fabs(active / stated - 1) > 0.01)
        FAULT("%s: %.0f active, not %.0f", fields[0], active, stated);
    double official = strtod(fields[COLUMN_TOTAL], NULL);
    if (official > 0 && fabs(strtod(fields[COLUMN_COMPUTED], NULL) / official - 1) > 0.001)
        FAULT("%s: the official total is %.0f", fields[0], official);
    result_close(&fixture);
    import_close(&run);
}

Test(import_config, real_configurations_have_their_official_totals, .timeout = 120)
{
    need_facts();
    struct lines lines = split_lines(arena, read_file(arena, facts("params.csv"), NULL));
    size_t seen = 0;
    for (size_t i = 1; i < lines.list.count; i++) {
        const char *fields[COLUMNS];
        split_row(lines.list.items[i], fields);
        if (!ends_with(fields[COLUMN_FILE], ".json"))
            continue;
        check_row(fields);
        seen++;
    }
    cr_assert(seen >= 50, "%zu rows", seen);
    EXPECT_NO_FAULTS();
}
