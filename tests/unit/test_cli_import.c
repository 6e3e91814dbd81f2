/* test_cli_import.c: `perfc import`, and plans that import model files, as users run them. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "run.h"

static struct arena *arena;

static void set_up(void)
{
    arena = arena_new();
}

static void tear_down(void)
{
    arena_free(arena);
}

TestSuite(cli_import, .init = set_up, .fini = tear_down);

static const char config[] =
    "{\n  \"model_type\": \"llama\",\n  \"hidden_size\": 64,\n  \"num_hidden_layers\": 2,\n"
    "  \"num_attention_heads\": 4,\n  \"intermediate_size\": 128,\n  \"vocab_size\": 100\n}\n";

/* `name` beside `path`. */
static const char *beside(const char *path, const char *name)
{
    return arena_printf(arena, "%.*s%s", (int)(strrchr(path, '/') + 1 - path), path, name);
}

Test(cli_import, prints_or_writes_the_declaration)
{
    const char *path = scratch_file(arena, "Small.json", config);
    struct run printed = RUN(arena, "import", path);
    cr_assert(printed.status == 0 && printed.err_length == 0, "%d %s", printed.status, printed.err);
    cr_assert(strncmp(printed.out, "model small {\n", 14) == 0, "%s", printed.out);
    const char *target = beside(path, "small.perf");
    struct run written = RUN(arena, "import", path, "-o", target);
    cr_assert(written.status == 0 && written.out_length == 0, "%d %s", written.status, written.err);
    cr_assert_str_eq(read_file(arena, target, NULL), printed.out);
}

/* The report of a plan that imports the file, and of one that imports what was printed, but for the paths. */
Test(cli_import, a_plan_may_import_the_file_or_what_was_printed)
{
    static const char scenario[] = "scenario s { model = small   gpu = l40s   context = 100   batch = 2 }\n";
    const char *path = scratch_file(arena, "Small.json", config);
    RUN(arena, "import", path, "-o", beside(path, "small.perf"));
    const char *direct = arena_printf(arena, "import \"Small.json\"\n%s", scenario);
    const char *printed = arena_printf(arena, "import \"small.perf\"\n%s", scenario);
    write_file(beside(path, "direct.perf"), direct, strlen(direct));
    write_file(beside(path, "printed.perf"), printed, strlen(printed));
    struct run one = RUN(arena, beside(path, "direct.perf"), "-f", "csv");
    struct run other = RUN(arena, beside(path, "printed.perf"), "-f", "csv");
    cr_assert(one.status == 0 && other.status == 0, "%s%s", one.err, other.err);
    cr_assert_str_eq(one.out, other.out);
    cr_assert(one.out_length > 100);
}

Test(cli_import, errors_show_the_line_and_where_it_was_imported)
{
    const char *path = scratch_file(arena, "odd.json", "{\n  \"model_type\": \"retnet\"\n}\n");
    struct run alone = RUN(arena, "import", path);
    cr_assert(alone.status == 1 && alone.out_length == 0, "%d %s", alone.status, alone.out);
    cr_assert_not_null(strstr(alone.err, "odd.json:2:3: error: `model_type` is `retnet`"), "%s", alone.err);
    cr_assert_not_null(strstr(alone.err, "--assume-dense"), "%s", alone.err);
    static const char plan[] = "import \"odd.json\"\n";
    write_file(beside(path, "plan.perf"), plan, sizeof plan - 1);
    struct run imported = RUN(arena, "check", beside(path, "plan.perf"));
    cr_assert(imported.status == 1);
    cr_assert_not_null(strstr(imported.err, "odd.json:2:3: error:"), "%s", imported.err);
    cr_assert_not_null(strstr(imported.err, "imported here"), "%s", imported.err);
}

Test(cli_import, has_the_usual_exit_statuses)
{
    const char *path = scratch_file(arena, "Small.json", config);
    cr_assert(RUN(arena, "import").status == 2);
    cr_assert(RUN(arena, "import", path, path).status == 2);
    cr_assert(RUN(arena, "import", path, "-o", path).status == 2, "the file must not be overwritten");
    cr_assert_str_eq(read_file(arena, path, NULL), config);
    cr_assert(RUN(arena, "import", beside(path, "none.json")).status == 3);
    cr_assert(RUN(arena, "import", beside(path, "none.gguf")).status == 3);
    cr_assert(RUN(arena, "import", beside(path, "none.safetensors")).status == 3);
}

Test(cli_import, assume_dense_is_an_option_of_import)
{
    const char *path =
        scratch_file(arena, "odd.json",
                     "{\"model_type\": \"odd\", \"hidden_size\": 64, \"num_hidden_layers\": 2,\n"
                     " \"num_attention_heads\": 4, \"intermediate_size\": 128, \"vocab_size\": 100}");
    struct run run = RUN(arena, "import", "--assume-dense", path);
    cr_assert(run.status == 0, "%s", run.err);
    cr_assert_not_null(strstr(run.out, "model odd {"), "%s", run.out);
}

/* A configuration of 2 MB with a format for each of 24,000 matrices, against the promise of 0.2 s per 10 MB
 * with room for sanitizers and busy machines. */
Test(cli_import, a_large_configuration_is_read_quickly, .timeout = 20)
{
    struct buffer text = buffer_in(arena);
    buffer_text(
        &text,
        "{\"model_type\": \"qwen3_moe\", \"hidden_size\": 64, \"num_hidden_layers\": 60, \"head_dim\": 16,\n"
        "\"num_attention_heads\": 4, \"num_experts\": 128, \"num_experts_per_tok\": 8, \"vocab_size\": 100,\n"
        "\"moe_intermediate_size\": 32, \"quantization_config\": {\"quant_method\": \"modelopt\",\n"
        "\"quant_algo\": \"MIXED_PRECISION\", \"quantized_layers\": {\"lm_head\": {\"quant_algo\": \"FP8\"}");
    for (int i = 0; text.length < 2000000; i++)
        buffer_printf(&text, ",\n\"model.layers.%d.mlp.experts.%d.up_proj\": {\"quant_algo\": \"NVFP4\"}",
                      i % 60, i / 60);
    buffer_text(&text, "}}}");
    const char *path = scratch_file(arena, "large.json", buffer_string(&text));
    struct run run = RUN(arena, "import", path);
    cr_assert(run.status == 0, "%d %s", run.status, run.err);
    cr_assert_not_null(strstr(run.out, "weights.head = fp8"), "%s", run.out);
}
