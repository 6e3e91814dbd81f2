/* test_import_safetensors.c: headers of safetensors files, built byte by byte, sound and hostile. */
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "import_fixture.h"
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

TestSuite(import_safetensors, .init = set_up, .fini = tear_down);

struct shelf {
    struct buffer json;
    uint64_t bytes;
};

static struct shelf shelf_new(void)
{
    struct shelf shelf = {.json = buffer_in(arena)};
    buffer_text(&shelf.json, "{\"__metadata__\": {\"format\": \"pt\"}");
    return shelf;
}

/* A tensor of `rows` x `columns`; rows 0: a vector. */
static void put(struct shelf *shelf, const char *name, const char *type, unsigned size, uint64_t rows,
                uint64_t columns)
{
    uint64_t bytes = (rows ? rows : 1) * columns * size;
    buffer_printf(&shelf->json, ",\n\"%s\": {\"dtype\": \"%s\", \"shape\": [", name, type);
    if (rows)
        buffer_printf(&shelf->json, "%llu, ", (unsigned long long)rows);
    buffer_printf(&shelf->json, "%llu], \"data_offsets\": [%llu, %llu]}", (unsigned long long)columns,
                  (unsigned long long)shelf->bytes, (unsigned long long)(shelf->bytes + bytes));
    shelf->bytes += bytes;
}

static struct buffer file_of(struct shelf *shelf)
{
    struct buffer file = buffer_in(arena);
    buffer_text(&shelf->json, "}  ");
    import_add_whole(&file, shelf->json.length, 8);
    buffer_add(&file, shelf->json.data, shelf->json.length);
    return file;
}

/* Two layers of hidden 256, 4 heads of 64, 2 of keys, feed-forward 512. */
static struct shelf llama(const char *type, unsigned size)
{
    static const struct {
        const char *name;
        uint64_t rows, columns;
    } matrices[] = {{"self_attn.q_proj", 256, 256}, {"self_attn.k_proj", 128, 256},
                    {"self_attn.v_proj", 128, 256}, {"self_attn.o_proj", 256, 256},
                    {"mlp.gate_proj", 512, 256},    {"mlp.up_proj", 512, 256},
                    {"mlp.down_proj", 256, 512}};
    struct shelf shelf = shelf_new();
    put(&shelf, "model.embed_tokens.weight", "BF16", 2, 1000, 256);
    put(&shelf, "model.norm.weight", "BF16", 2, 0, 256);
    for (int i = 0; i < 2; i++) {
        for (size_t k = 0; k < sizeof matrices / sizeof matrices[0]; k++) {
            const char *name = arena_printf(arena, "model.layers.%d.%s.weight", i, matrices[k].name);
            put(&shelf, name, type, size, matrices[k].rows, matrices[k].columns);
            if (size == 1)
                put(&shelf, arena_printf(arena, "%s_scale_inv", name), "F32", 4, matrices[k].rows / 128,
                    matrices[k].columns / 128);
        }
        put(&shelf, arena_printf(arena, "model.layers.%d.input_layernorm.weight", i), "BF16", 2, 0, 256);
        put(&shelf, arena_printf(arena, "model.layers.%d.post_attention_layernorm.weight", i), "BF16", 2, 0,
            256);
    }
    return shelf;
}

/* 2 x (3 x 256^2 + 3 x 256 x 512 + 2 x 256) + 1000 x 256 + 256; the embedding is tied. */
enum { LLAMA_PARAMS = 2 * (3 * 256 * 256 + 3 * 256 * 512 + 512) + 256000 + 256 };

Test(import_safetensors, shapes_give_a_llama)
{
    struct shelf shelf = llama("BF16", 2);
    struct buffer file = file_of(&shelf);
    struct import_run run = import_bytes("tiny.safetensors", file.data, file.length);
    cr_assert(run.known, "%s", import_error(&run).message);
    struct result_fixture fixture = import_evaluate_text(run.imported.text);
    cr_assert(result_number(&fixture, KIND_MODEL, "tiny", "params") == LLAMA_PARAMS);
    cr_assert(result_number(&fixture, KIND_MODEL, "tiny", "weight_bytes") == 2.0 * LLAMA_PARAMS);
    /* keys and values of 128 each, 2 layers, 2 bytes */
    cr_assert(result_number(&fixture, KIND_MODEL, "tiny", "kv_bytes_per_token") == 2 * 2 * 128 * 2);
    result_close(&fixture);
    import_close(&run);
}

/* Latent attention, a dense layer and one with experts, as DeepSeek-V3 has them: hidden 256, 4 heads of 32 +
 * 16 and values of 24, ranks 96 and 64; feed-forward 512, 8 experts of 64, one shared of 128. */
static struct shelf mixture(void)
{
    struct shelf shelf = shelf_new();
    put(&shelf, "model.embed_tokens.weight", "BF16", 2, 1000, 256);
    put(&shelf, "lm_head.weight", "BF16", 2, 1000, 256);
    put(&shelf, "model.norm.weight", "BF16", 2, 0, 256);
    for (int i = 0; i < 2; i++) {
        static const struct {
            const char *name;
            uint64_t rows, columns;
        } tensors[] = {{"self_attn.q_a_proj", 96, 256},     {"self_attn.q_a_layernorm", 0, 96},
                       {"self_attn.q_b_proj", 4 * 48, 96},  {"self_attn.kv_a_proj_with_mqa", 64 + 16, 256},
                       {"self_attn.kv_a_layernorm", 0, 64}, {"self_attn.kv_b_proj", 4 * (32 + 24), 64},
                       {"self_attn.o_proj", 256, 4 * 24},   {"input_layernorm", 0, 256},
                       {"post_attention_layernorm", 0, 256}};
        for (size_t k = 0; k < sizeof tensors / sizeof tensors[0]; k++)
            put(&shelf, arena_printf(arena, "model.layers.%d.%s.weight", i, tensors[k].name), "BF16", 2,
                tensors[k].rows, tensors[k].columns);
        for (int k = 0; k < (i == 0 ? 1 : 9); k++) {
            const char *module = i == 0   ? "mlp"
                                 : k == 8 ? "mlp.shared_experts"
                                          : arena_printf(arena, "mlp.experts.%d", k);
            unsigned width = i == 0 ? 512 : k == 8 ? 128 : 64;
            put(&shelf, arena_printf(arena, "model.layers.%d.%s.gate_proj.weight", i, module), "BF16", 2,
                width, 256);
            put(&shelf, arena_printf(arena, "model.layers.%d.%s.up_proj.weight", i, module), "BF16", 2, width,
                256);
            put(&shelf, arena_printf(arena, "model.layers.%d.%s.down_proj.weight", i, module), "BF16", 2, 256,
                width);
        }
    }
    put(&shelf, "model.layers.1.mlp.gate.weight", "BF16", 2, 8, 256);
    put(&shelf, "model.layers.1.mlp.gate.e_score_correction_bias", "BF16", 2, 0, 8);
    return shelf;
}

/* Shapes give everything but how many experts a token uses, which the plan has to say. */
Test(import_safetensors, shapes_give_experts_and_latent_attention)
{
    struct shelf shelf = mixture();
    struct buffer file = file_of(&shelf);
    struct import_run run = import_bytes("tiny.safetensors", file.data, file.length);
    cr_assert(run.known, "%s", import_error(&run).message);
    cr_assert_not_null(strstr(run.imported.text, "say it as `active_experts`"));
    const char *use = "scenario s { model = %s   gpu = h100-sxm   context = 4k   batch = 1 }";
    struct result_fixture lacking = import_evaluate_text(
        arena_printf(arena, "%s%s", run.imported.text, arena_printf(arena, use, "tiny")));
    cr_assert(diags_errors(lacking.diags) == 1 &&
              strstr(diags_get(lacking.diags, 0)->message, "lacks `active_experts`"));
    result_close(&lacking);
    struct result_fixture fixture =
        import_evaluate_text(arena_printf(arena, "%s\nmodel mine : tiny { active_experts = 2 }\n%s",
                                          run.imported.text, arena_printf(arena, use, "mine")));
    cr_assert(diags_count(fixture.diags) == 0);
    double attention = 256 * 96 + 96 + 96 * 192 + 256 * 80 + 64 + 64 * 224 + 96 * 256;
    double expert = 3 * 256 * 64, shared = 3 * 256 * 128, ends = 2 * 256000 + 256;
    double params = 2 * (attention + 512) + 3 * 256 * 512 + 8 * expert + shared + 8 * 256 + 8 + ends;
    cr_assert(result_number(&fixture, KIND_MODEL, "mine", "params") == params);
    cr_assert(result_number(&fixture, KIND_MODEL, "mine", "weight_bytes") == 2 * params);
    cr_assert(result_number(&fixture, KIND_MODEL, "mine", "params") -
                  result_number(&fixture, KIND_MODEL, "mine", "active_params") ==
              6 * expert);
    cr_assert(result_number(&fixture, KIND_MODEL, "mine", "kv_bytes_per_token") == 2 * (64 + 16) * 2);
    result_close(&fixture);
    import_close(&run);
}

/* A tensor of three dimensions. */
static void put_cube(struct shelf *shelf, const char *name, uint64_t count, uint64_t rows, uint64_t columns)
{
    uint64_t bytes = 2 * count * rows * columns;
    buffer_printf(
        &shelf->json,
        ",\n\"%s\": {\"dtype\": \"BF16\", \"shape\": [%llu, %llu, %llu], \"data_offsets\": [%llu, %llu]}",
        name, (unsigned long long)count, (unsigned long long)rows, (unsigned long long)columns,
        (unsigned long long)shelf->bytes, (unsigned long long)(shelf->bytes + bytes));
    shelf->bytes += bytes;
}

/* All experts of a layer in one tensor, as GPT-OSS has them, and a vision tower beside the language model. */
Test(import_safetensors, shapes_give_fused_experts_beside_a_tower)
{
    struct shelf shelf = shelf_new();
    put(&shelf, "language_model.model.embed_tokens.weight", "BF16", 2, 1000, 256);
    put(&shelf, "language_model.model.norm.weight", "BF16", 2, 0, 256);
    put(&shelf, "vision_tower.blocks.0.qkv.weight", "BF16", 2, 300, 100);
    static const struct {
        const char *name;
        uint64_t rows, columns;
    } tensors[] = {{"self_attn.q_proj.weight", 512, 256},
                   {"self_attn.k_proj.weight", 128, 256},
                   {"self_attn.v_proj.weight", 128, 256},
                   {"self_attn.o_proj.weight", 256, 512},
                   {"self_attn.sinks", 0, 8},
                   {"mlp.router.weight", 4, 256},
                   {"mlp.router.bias", 0, 4},
                   {"mlp.experts.gate_up_proj_bias", 4, 192},
                   {"mlp.experts.down_proj_bias", 4, 256},
                   {"input_layernorm.weight", 0, 256},
                   {"post_attention_layernorm.weight", 0, 256}};
    for (size_t k = 0; k < sizeof tensors / sizeof tensors[0]; k++)
        put(&shelf, arena_printf(arena, "language_model.model.layers.0.%s", tensors[k].name), "BF16", 2,
            tensors[k].rows, tensors[k].columns);
    put_cube(&shelf, "language_model.model.layers.0.mlp.experts.gate_up_proj", 4, 256, 192);
    put_cube(&shelf, "language_model.model.layers.0.mlp.experts.down_proj", 4, 96, 256);
    struct buffer file = file_of(&shelf);
    struct import_run run = import_bytes("tiny.safetensors", file.data, file.length);
    cr_assert(run.known, "%s", import_error(&run).message);
    struct result_fixture fixture = import_evaluate_text(
        arena_printf(arena, "%smodel mine : tiny { active_experts = 1 }\n", run.imported.text));
    cr_assert_not_null(strstr(run.imported.text, "heads = 8   kv_heads = 2   head_dim = 64"), "%s",
                       run.imported.text);
    /* every tensor is a parameter, those of the tower too; of the 4 experts of 3 * 256 * 96 + 192 + 256 one
     * works */
    cr_assert(result_number(&fixture, KIND_MODEL, "mine", "params") == (double)shelf.bytes / 2, "%s",
              run.imported.text);
    cr_assert(result_number(&fixture, KIND_MODEL, "mine", "weight_bytes") == (double)shelf.bytes);
    cr_assert(result_number(&fixture, KIND_MODEL, "mine", "params.experts") ==
              4 * (3 * 256 * 96 + 192 + 256));
    cr_assert(result_number(&fixture, KIND_MODEL, "mine", "kv_bytes_per_token") == 2 * 128 * 2);
    result_close(&fixture);
    import_close(&run);
}

static const char config[] =
    "{\"model_type\": \"llama\", \"hidden_size\": 256, \"num_hidden_layers\": 2, \"head_dim\": 64,\n"
    "\"num_attention_heads\": 4, \"num_key_value_heads\": 2, \"intermediate_size\": 512,\n"
    "\"vocab_size\": 1000, \"tie_word_embeddings\": true}";

/* The config's own claim (bf16) is beside the point: the header has every byte, scales included. */
Test(import_safetensors, a_header_beside_its_config_gives_exact_bytes)
{
    struct shelf shelf = llama("F8_E4M3", 1);
    struct buffer file = file_of(&shelf);
    const char *path = scratch_file(arena, "config.json", config);
    const char *directory = arena_strndup(arena, path, strlen(path) - strlen("config.json"));
    const char *tensors = arena_printf(arena, "%stiny.safetensors", directory);
    write_file(tensors, file.data, file.length);
    struct import_run run = import_file(tensors, false);
    cr_assert(run.known, "%s", import_error(&run).message);
    struct result_fixture fixture = import_evaluate_text(run.imported.text);
    cr_assert(diags_count(fixture.diags) == 0);
    cr_assert(result_number(&fixture, KIND_MODEL, "tiny", "params") == LLAMA_PARAMS);
    double bytes = result_number(&fixture, KIND_MODEL, "tiny", "weight_bytes");
    cr_assert(bytes == (double)shelf.bytes, "%.17g, not %llu:\n%s", bytes, (unsigned long long)shelf.bytes,
              run.imported.text);
    result_close(&fixture);
    import_close(&run);
}

/* A Gemma 4 of four layers, the last two of which reuse the caches of the others; with `dead` the file holds
 * keys and values for them all the same. */
static struct shelf shared_caches(bool dead)
{
    static const char *const names[] = {"q", "k", "v", "o"};
    struct shelf shelf = shelf_new();
    put(&shelf, "model.language_model.embed_tokens.weight", "BF16", 2, 1000, 256);
    put(&shelf, "model.language_model.norm.weight", "BF16", 2, 0, 256);
    for (unsigned i = 0; i < 4; i++) {
        uint64_t size = i % 2 == 0 ? 64 : 128;
        const char *layer = arena_printf(arena, "model.language_model.layers.%u.", i);
        for (unsigned k = 0; k < 4; k++)
            if (i < 2 || dead || k % 3 == 0)
                put(&shelf, arena_printf(arena, "%sself_attn.%s_proj.weight", layer, names[k]), "BF16", 2,
                    k == 3 ? 256 : (k == 0 ? 4 : 1) * size, k == 3 ? 4 * size : 256);
        put(&shelf, arena_printf(arena, "%smlp.gate_proj.weight", layer), "BF16", 2, 512, 256);
        put(&shelf, arena_printf(arena, "%smlp.up_proj.weight", layer), "BF16", 2, 512, 256);
        put(&shelf, arena_printf(arena, "%smlp.down_proj.weight", layer), "BF16", 2, 256, 512);
        put(&shelf, arena_printf(arena, "%sinput_layernorm.weight", layer), "BF16", 2, 0, 4 * 256);
        put(&shelf, arena_printf(arena, "%sself_attn.q_norm.weight", layer), "BF16", 2, 0,
            (i < 2 || dead ? 2 : 1) * size);
        put(&shelf, arena_printf(arena, "%slayer_scalar", layer), "BF16", 2, 0, 1);
    }
    return shelf;
}

Test(import_safetensors, layers_that_share_caches_have_every_byte_of_the_file)
{
    const char *config_text =
        "{\"model_type\": \"gemma4_text\", \"hidden_size\": 256, \"num_hidden_layers\": 4, "
        "\"num_attention_heads\": 4,\n"
        "\"num_key_value_heads\": 1, \"head_dim\": 64, \"global_head_dim\": 128, \"intermediate_size\": 512, "
        "\"vocab_size\": "
        "1000,\n\"sliding_window\": 32, \"hidden_size_per_layer_input\": 0, \"num_kv_shared_layers\": 2, "
        "\"tie_word_embeddings\": true,\n\"layer_types\": [\"sliding_attention\", \"full_attention\", "
        "\"sliding_attention\", \"full_attention\"]}";
    for (int dead = 0; dead < 2; dead++) {
        struct shelf shelf = shared_caches(dead != 0);
        struct buffer file = file_of(&shelf);
        const char *path = scratch_file(arena, "config.json", config_text);
        const char *directory = arena_strndup(arena, path, strlen(path) - strlen("config.json"));
        const char *tensors = arena_printf(arena, "%stiny.safetensors", directory);
        write_file(tensors, file.data, file.length);
        struct import_run run = import_file(tensors, false);
        cr_assert(run.known, "%s", import_error(&run).message);
        struct result_fixture fixture = import_evaluate_text(run.imported.text);
        double bytes = result_number(&fixture, KIND_MODEL, "tiny", "weight_bytes");
        cr_assert(bytes == (double)shelf.bytes, "%.17g, not %llu:\n%s", bytes,
                  (unsigned long long)shelf.bytes, run.imported.text);
        cr_assert(result_number(&fixture, KIND_MODEL, "tiny", "kv_bytes_per_token") == 2 * 128 * 2);
        result_close(&fixture);
        import_close(&run);
    }
}

/* Methods whose bits no configuration tells: the headers have them, and the matrices are multiplied in 16
 * bits. */
Test(import_safetensors, headers_give_what_a_configuration_does_not_say)
{
    struct shelf shelf = llama("U8", 1);
    struct buffer file = file_of(&shelf);
    const char *exl2 = arena_printf(arena, "%.*s, \"quantization_config\": {\"quant_method\": \"exl2\"}}",
                                    (int)sizeof config - 2, config);
    const char *path = scratch_file(arena, "config.json", exl2);
    const char *directory = arena_strndup(arena, path, strlen(path) - strlen("config.json"));
    const char *tensors = arena_printf(arena, "%stiny.safetensors", directory);
    write_file(tensors, file.data, file.length);
    struct import_run run = import_file(tensors, false);
    cr_assert(run.known, "%s", import_error(&run).message);
    struct result_fixture fixture = import_evaluate_text(run.imported.text);
    double bytes = result_number(&fixture, KIND_MODEL, "tiny", "weight_bytes");
    cr_assert(bytes == (double)shelf.bytes, "%.17g, not %llu:\n%s", bytes, (unsigned long long)shelf.bytes,
              run.imported.text);
    cr_assert_not_null(strstr(run.imported.text, "compute = fp16   weight_only = true"), "%s",
                       run.imported.text);
    result_close(&fixture);
    import_close(&run);
}

/* An index whose two files are there, then with one gone. */
Test(import_safetensors, an_index_reads_its_files)
{
    struct shelf whole = llama("BF16", 2), first = shelf_new(), second = shelf_new();
    const char *middle = strstr(buffer_string(&whole.json), ",\n\"model.layers.1.");
    buffer_add(&second.json, middle, whole.json.length - (size_t)(middle - whole.json.data));
    first.json.length = 0;
    buffer_add(&first.json, whole.json.data, (size_t)(middle - whole.json.data));
    struct buffer one = file_of(&first), two = file_of(&second);
    const char *path = scratch_file(
        arena, "model.safetensors.index.json",
        "{\"metadata\": {\"total_size\": 1}, \"weight_map\": {\"a\": \"m-00001-of-00002.safetensors\",\n"
        "\"b\": \"m-00002-of-00002.safetensors\", \"c\": \"m-00001-of-00002.safetensors\"}}");
    const char *directory = arena_strndup(arena, path, strlen(path) - strlen("model.safetensors.index.json"));
    write_file(arena_printf(arena, "%sm-00001-of-00002.safetensors", directory), one.data, one.length);
    struct import_run lacking = import_file(path, false);
    cr_assert(!lacking.known && strcmp(import_error(&lacking).code, "E0407") == 0);
    cr_assert_not_null(strstr(import_error(&lacking).message, "m-00002-of-00002"), "%s",
                       import_error(&lacking).message);
    import_close(&lacking);
    write_file(arena_printf(arena, "%sm-00002-of-00002.safetensors", directory), two.data, two.length);
    const char *either[] = {path, arena_printf(arena, "%sm-00002-of-00002.safetensors", directory)};
    for (size_t i = 0; i < 2; i++) {
        struct import_run run = import_file(either[i], false);
        cr_assert(run.known, "%s", import_error(&run).message);
        const char *name = import_model_of(arena, run.imported.text);
        struct result_fixture fixture = import_evaluate_text(run.imported.text);
        cr_assert(result_number(&fixture, KIND_MODEL, name, "params") == LLAMA_PARAMS);
        result_close(&fixture);
        import_close(&run);
    }
}

Test(import_safetensors, other_names_give_the_size_alone)
{
    struct shelf shelf = shelf_new();
    put(&shelf, "encoder.block.0.weight", "F16", 2, 100, 50);
    put(&shelf, "encoder.bias", "F32", 4, 0, 50);
    struct buffer file = file_of(&shelf);
    struct import_run run = import_bytes("odd.safetensors", file.data, file.length);
    cr_assert(run.known, "%s", import_error(&run).message);
    struct result_fixture fixture = import_evaluate_text(run.imported.text);
    cr_assert(result_number(&fixture, KIND_MODEL, "odd", "params") == 5050);
    cr_assert(result_number(&fixture, KIND_MODEL, "odd", "weight_bytes") == 10200);
    result_close(&fixture);
    import_close(&run);
}

static void expect_bad_header(const char *json, const char *words)
{
    struct buffer file = buffer_in(arena);
    import_add_whole(&file, strlen(json), 8);
    buffer_text(&file, json);
    import_expect_malformed("x.safetensors", &file, words);
}

Test(import_safetensors, bad_safetensors_are_refused)
{
    struct buffer file = buffer_in(arena);
    buffer_text(&file, "abc");
    import_expect_malformed("x.safetensors", &file, "too short");
    file = buffer_in(arena);
    import_add_whole(&file, UINT64_MAX, 8);
    buffer_text(&file, "{}");
    import_expect_malformed("x.safetensors", &file, "more than the format allows");
    file = buffer_in(arena);
    import_add_whole(&file, 1000, 8);
    buffer_text(&file, "{}");
    import_expect_malformed("x.safetensors", &file, "more than the file holds");
    expect_bad_header("[]", "not a JSON object");
    expect_bad_header("{\"a\": {\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [0, 4]}}",
                      "do not match");
    expect_bad_header("{\"a\": {\"dtype\": \"F32\", \"shape\": [1], \"data_offsets\": [4, 0]}}", "backwards");
    expect_bad_header("{\"a\": {\"dtype\": \"F32\", \"shape\": [-1], \"data_offsets\": [0, 4]}}",
                      "whole number");
    expect_bad_header("{\"a\": {\"dtype\": \"F32\", \"data_offsets\": [0, 4]}}", "lacks");
    expect_bad_header("{\"a\": {\"dtype\": \"Q\", \"shape\": [9007199254740992, 9007199254740992], "
                      "\"data_offsets\": [0, 4]}}",
                      "larger than any memory");
    expect_bad_header(
        "{\"a\": {\"dtype\": \"F32\", \"shape\": [99999999999999999999], \"data_offsets\": [0, 4]}}",
        "too large");
    expect_bad_header("{} x", "follows");
    expect_bad_header("{\"a\": ", "expected");
    struct buffer deep = buffer_in(arena);
    buffer_text(&deep, "{\"__metadata__\": ");
    buffer_repeat(&deep, "[", 100000);
    expect_bad_header(buffer_string(&deep), "nested");
}

/* A tenth of the largest header there may be, against the limit of 0.2 s per 10 MB; sanitizers need longer.
 */
Test(import_safetensors, a_large_header_is_read_quickly_in_little_memory)
{
    struct shelf shelf = shelf_new();
    for (uint64_t i = 0; shelf.json.length < 10000000; i++)
        put(&shelf,
            arena_printf(arena, "model.layers.%llu.mlp.experts.%llu.up_proj.weight",
                         (unsigned long long)(i % 60), (unsigned long long)(i / 60)),
            "BF16", 2, 2048, 7168);
    struct buffer file = file_of(&shelf);
    clock_t start = clock();
    struct import_run run = import_bytes("x.safetensors", file.data, file.length);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    cr_assert(run.known && strstr(run.imported.text, "only the size is known"), "%s", run.imported.text);
    cr_assert(arena_used(run.arena) < 1 << 20, "%zu bytes", arena_used(run.arena));
    cr_assert(seconds < 2, "%g s", seconds);
    import_close(&run);
}
