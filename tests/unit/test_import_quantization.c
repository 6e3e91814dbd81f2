/* test_import_quantization.c: how quantised configurations are stored, worked by hand for one small model,
 * and the formats that imports name against those of the standard library. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "import/storage.h"
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

TestSuite(import_quantization, .init = set_up, .fini = tear_down);

Test(import_quantization, formats_are_those_of_the_standard_library)
{
    static const char *const names[] = {
        "fp64",          "fp32",        "bf16",   "fp16",     "fp8",        "fp8-e5m2",       "fp8-block",
        "int8",          "mxfp8",       "mxfp4",  "nvfp4",    "nf4",        "q4_0",           "q4_1",
        "q5_0",          "q5_1",        "q8_0",   "q2_k",     "q3_k",       "q4_k",           "q5_k",
        "q6_k",          "iq1_s",       "iq1_m",  "iq2_xxs",  "iq2_xs",     "iq2_s",          "iq3_xxs",
        "iq3_s",         "iq4_nl",      "iq4_xs", "int4-g32", "nf4-double", "gptq-int4-g128", "awq-int4-g128",
        "gptq-int4-g32", "awq-int4-g32"};
    struct result_fixture fixture = result_open("let x = 1\n");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct storage *storage = storage_standard(names[i]);
        struct decl *decl = plan_find(fixture.plan, KIND_FORMAT, names[i]);
        cr_assert(storage && decl, "%s", names[i]);
        cr_assert(storage->bits == plan_number(fixture.plan, decl, ATTR_FORMAT_BITS, 0), "%s", names[i]);
        cr_assert_str_eq(storage->compute, plan_text(fixture.plan, decl, ATTR_FORMAT_COMPUTE, ""));
        cr_assert(storage->weight_only == plan_bool(fixture.plan, decl, ATTR_FORMAT_WEIGHT_ONLY, false));
    }
    result_close(&fixture);
}

/* Two layers of hidden 256: attention 4 x 256 x 256, feed-forward 3 x 256 x 512; 1000 words, untied. */
enum {
    ATTENTION = 2 * 4 * 256 * 256, /* 524,288 */
    FFN = 2 * 3 * 256 * 512,       /* 786,432 */
    TABLES = 2 * 1000 * 256,       /* 512,000: embedding and head */
    HEAD = TABLES / 2,
    NORMS = 2 * 2 * 256 + 256 /* 1,280 */
};

static const char *dense(const char *quantization)
{
    return arena_printf(arena,
                        "{\"model_type\": \"llama\", \"hidden_size\": 256, \"num_hidden_layers\": 2,\n"
                        "\"num_attention_heads\": 4, \"intermediate_size\": 512, \"vocab_size\": 1000,\n"
                        "\"quantization_config\": %s}",
                        quantization);
}

static double weight_bytes(const char *json)
{
    struct import_run run = import_bytes("tiny.json", json, strlen(json));
    cr_assert(run.known, "%s\n%s", import_error(&run).message, json);
    struct result_fixture fixture = import_evaluate_text(run.imported.text);
    cr_assert(diags_count(fixture.diags) == 0, "%s\n%s",
              diags_count(fixture.diags) ? diags_get(fixture.diags, 0)->message : "", run.imported.text);
    double bytes = result_number(&fixture, KIND_MODEL, "tiny", "weight_bytes");
    result_close(&fixture);
    import_close(&run);
    return bytes;
}

/* Each form, and the bits of matrices in layers; the ends stay in 16 bits. */
static const struct form {
    const char *json;
    double bits;
} forms[] = {
    {"{\"quant_method\": \"fp8\", \"weight_block_size\": [128, 128], \"fmt\": \"e4m3\"}", 8 + 32.0 / 16384},
    {"{\"quant_method\": \"fp8\", \"weight_block_size\": [64, 32]}", 8 + 32.0 / 2048},
    {"{\"quant_method\": \"fp8\", \"weight_block_size\": null, \"activation_scheme\": \"static\"}", 8},
    {"{\"quant_method\": \"gptq\", \"bits\": 4, \"group_size\": 128, \"desc_act\": false}", 4 + 20.0 / 128},
    {"{\"quant_method\": \"gptq\", \"bits\": 8, \"group_size\": 64}", 8 + 24.0 / 64},
    {"{\"quant_method\": \"awq\", \"w_bit\": 4, \"q_group_size\": 64, \"version\": \"gemm\"}", 4 + 20.0 / 64},
    {"{\"quant_method\": \"bitsandbytes\", \"load_in_4bit\": true, \"bnb_4bit_quant_type\": \"nf4\"}", 4.5},
    {"{\"quant_method\": \"bitsandbytes\", \"load_in_8bit\": true}", 8},
    {"{\"quant_method\": \"modelopt\", \"quant_algo\": \"NVFP4\", \"ignore\": [\"lm_head\"]}", 4.5},
    {"{\"quant_algo\": \"FP8\", \"ignore\": [\"lm_head\"]}", 8},
    {"{\"quant_method\": \"compressed-tensors\", \"format\": \"pack-quantized\", \"ignore\": [\"lm_head\"],\n"
     " \"config_groups\": {\"group_0\": {\"targets\": [\"Linear\"], \"weights\": {\"num_bits\": 4, \"type\": "
     "\"int\",\n"
     " \"group_size\": 128, \"symmetric\": true}}}}",
     4 + 16.0 / 128},
    {"{\"quant_method\": \"compressed-tensors\", \"format\": \"float-quantized\", \"ignore\": "
     "[\"re:.*lm_head\"],\n"
     " \"config_groups\": {\"g\": {\"targets\": [\"Linear\"], \"input_activations\": {\"num_bits\": 8},\n"
     " \"weights\": {\"num_bits\": 8, \"type\": \"float\", \"strategy\": \"channel\"}}}}",
     8},
    {"{\"quant_method\": \"compressed-tensors\", \"format\": \"mxfp4-pack-quantized\", \"ignore\": "
     "[\"lm_head\"],\n"
     " \"config_groups\": {\"g\": {\"targets\": [\"Linear\"], \"weights\": {\"num_bits\": 4, \"type\": "
     "\"float\",\n"
     " \"group_size\": 32}}}}",
     4.25},
    {"{\"quant_method\": \"gptq\", \"bits\": 4, \"group_size\": 128, \"checkpoint_format\": \"marlin\"}",
     4 + 16.0 / 128},
    {"{\"quant_method\": \"marlin\", \"group_size\": 64}", 4 + 16.0 / 64},
    /* a list of the modules within a layer that are quantised: here all of them */
    {"{\"quant_method\": \"gptq\", \"bits\": 4, \"group_size\": 128, \"modules_in_block_to_quantize\": "
     "[[\"self_attn.q_proj\", \"self_attn.k_proj\", \"self_attn.v_proj\"], [\"self_attn.o_proj\"], "
     "[\"mlp\"]]}",
     4 + 20.0 / 128},
    {"{\"quant_method\": \"auto-round\", \"bits\": 4, \"group_size\": 32, \"data_type\": \"mx_fp\", "
     "\"act_bits\": 4}",
     4.25},
    {"{\"quant_method\": \"auto-round\", \"bits\": 4, \"group_size\": 16, \"data_type\": \"nv_fp\"}", 4.5},
    {"{\"quant_method\": \"auto-round\", \"bits\": 4, \"group_size\": 32, \"data_type\": \"int\"}",
     4 + 20.0 / 32},
    {"{\"quant_method\": \"fp8\", \"weight_block_size\": [1, 32], \"scale_fmt\": \"ue8m0\"}", 8.25},
    {"{\"quant_method\": \"fp8\", \"weight_block_size\": [128, 128], \"scale_fmt\": \"ue8m0\"}",
     8 + 32.0 / 16384},
    {"{\"quant_method\": \"fbgemm_fp8\", \"activation_scale_ub\": 1200.0, \"modules_to_not_convert\": "
     "[\"lm_head\"]}",
     8},
    {"{\"quant_method\": \"bitsandbytes\", \"_load_in_4bit\": true, \"bnb_4bit_quant_type\": \"fp4\", "
     "\"bnb_4bit_use_double_quant\": true}",
     4 + 8.0 / 64 + 32.0 / 16384},
    {"{\"quant_method\": \"eetq\"}", 8},
    {"{\"quant_method\": \"w8a8_fp8\"}", 8},
    {"{\"quant_method\": \"w8a8_int8\"}", 8},
    {"{\"quant_method\": \"mxfp8\"}", 8.25},
    {"{\"quant_method\": \"gptq_marlin\", \"bits\": 4, \"group_size\": 128}", 4 + 20.0 / 128},
    {"{\"quant_method\": \"awq_marlin\", \"bits\": 4, \"group_size\": 128}", 4 + 20.0 / 128},
    {"{\"quant_method\": \"modelopt\", \"quantization\": {\"quant_algo\": \"NVFP4\", \"group_size\": 16, "
     "\"exclude_modules\": [\"lm_head\"]}}",
     4.5},
    {"{\"producer\": {\"name\": \"modelopt\"}, \"quantization\": {\"quant_algo\": \"FP8\"}}", 8},
    {"{\"quant_method\": \"modelopt\", \"quant_algo\": \"W4A8_MXFP4_FP8\"}", 4.25},
    /* scale and zero point of 16 bits each; 3-bit values ten to a word of 32 */
    {"{\"quant_method\": \"hqq\", \"skip_modules\": [\"lm_head\"], \"quant_config\": "
     "{\"weight_quant_params\": "
     "{\"nbits\": 4, \"group_size\": 64, \"axis\": 1}, \"scale_quant_params\": null, \"zero_quant_params\": "
     "null}}",
     4 + 32.0 / 64},
    {"{\"quant_method\": \"hqq\", \"quant_config\": {\"weight_quant_params\": {\"nbits\": 3, \"group_size\": "
     "128}}}",
     3.2 + 32.0 / 128},
    {"{\"quant_method\": \"hqq\", \"quant_config\": {\"self_attn.q_proj\": {\"weight_quant_params\": "
     "{\"nbits\": 4, "
     "\"group_size\": 64}}, \"k_proj\": {\"weight_quant_params\": {\"nbits\": 4, \"group_size\": 64}},\n"
     "\"v_proj\": {\"weight_quant_params\": {\"nbits\": 4, \"group_size\": 64}}, \"o_proj\": "
     "{\"weight_quant_params\": "
     "{\"nbits\": 4, \"group_size\": 64}}, \"mlp\": {\"weight_quant_params\": {\"nbits\": 4, \"group_size\": "
     "64}}}}",
     4.5},
    {"{\"quant_method\": \"bitnet\", \"linear_class\": \"bitlinear\", \"quantization_mode\": \"offline\"}",
     2},
    /* Quark: amd/Llama-3.1-8B-Instruct-FP8-KV, and its MXFP4 form */
    {"{\"quant_method\": \"quark\", \"exclude\": [\"lm_head\"], \"layer_quant_config\": {}, "
     "\"global_quant_config\": "
     "{\"weight\": {\"dtype\": \"fp8_e4m3\", \"qscheme\": \"per_tensor\", \"group_size\": null},\n"
     "\"input_tensors\": {\"dtype\": \"fp8_e4m3\", \"qscheme\": \"per_tensor\"}}}",
     8},
    {"{\"quant_method\": \"quark\", \"exclude\": [\"lm_head\"], \"global_quant_config\": {\"weight\": "
     "{\"dtype\": \"fp4\", "
     "\"qscheme\": \"per_group\", \"group_size\": 32, \"scale_format\": \"e8m0\"}, \"input_tensors\": null}}",
     4.25},
    {"{\"quant_method\": \"quark\", \"exclude\": [\"lm_head\"], \"global_quant_config\": {\"weight\": "
     "[{\"dtype\": "
     "\"fp8_e4m3\", \"qscheme\": \"per_tensor\"}, {\"dtype\": \"int4\", \"qscheme\": \"per_channel\"}]}}",
     4},
    {"{\"quant_method\": \"torchao\", \"quant_type\": \"int8_weight_only\", \"quant_type_kwargs\": {}}", 8},
    {"{\"quant_method\": \"torchao\", \"quant_type\": {\"default\": {\"_type\": "
     "\"Float8DynamicActivationFloat8WeightConfig\", \"_data\": {\"granularity\": []}}}}",
     8},
    {"{\"quant_method\": \"torchao\", \"quant_type\": {\"default\": {\"_type\": \"Int4WeightOnlyConfig\", "
     "\"_version\": 2, \"_data\": {\"group_size\": 128, \"int4_packing_format\": \"plain\"}}}}",
     4 + 32.0 / 128},
};

Test(import_quantization, every_form_has_its_bytes)
{
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        double expected = (ATTENTION + FFN) * forms[i].bits / 8 + 2 * (TABLES + NORMS);
        double bytes = weight_bytes(dense(forms[i].json));
        cr_assert(bytes == expected, "%.17g, not %.17g: %s", bytes, expected, forms[i].json);
    }
}

/* mlx-lm: embedding and head, too, 4 bits with 32 for each group of 64; one projection of each layer has 8,
 * one feed-forward is left alone. By hand: o_proj is a quarter of the attention. */
Test(import_quantization, mlx_quantises_the_ends_too)
{
    double four = (4 + 32.0 / 64) / 8, eight = (8 + 32.0 / 32) / 8;
    double all = (ATTENTION + FFN + TABLES) * four + 2 * NORMS;
    const char *plain = "{\"group_size\": 64, \"bits\": 4}", *json = dense(plain);
    cr_assert(weight_bytes(json) == all, "%.17g, not %.17g", weight_bytes(json), all);
    const char *older = strstr(json, "\"quantization_config\"");
    json = arena_printf(arena, "%.*s\"quantization\": %s}", (int)(older - json), json, plain);
    cr_assert(weight_bytes(json) == all, "%.17g, not %.17g", weight_bytes(json), all);
    json = dense("{\"group_size\": 64, \"bits\": 4, \"mode\": \"affine\", \"lm_head\": {\"bits\": 8, "
                 "\"group_size\": 32},\n"
                 "\"model.layers.0.self_attn.o_proj\": {\"bits\": 8, \"group_size\": 32}, "
                 "\"model.layers.1.mlp.up_proj\": false}");
    double own = ATTENTION / 8.0, kept = FFN / 6.0;
    double expected = all + (HEAD + own) * (eight - four) + kept * (2 - four);
    cr_assert(weight_bytes(json) == expected, "%.17g, not %.17g", weight_bytes(json), expected);
}

/* One layer's feed-forward kept, one of four projections kept everywhere, and the head quantised. */
Test(import_quantization, exceptions_are_applied_to_each_matrix)
{
    const char *json = dense(
        "{\"quant_method\": \"compressed-tensors\", \"ignore\": [\"model.layers.1.mlp\", "
        "\"re:.*self_attn\\\\.(q|k)_proj\"],\n \"config_groups\": {\"g\": {\"targets\": [\"Linear\"], "
        "\"input_activations\": {\"num_bits\": 8}, \"weights\": {\"num_bits\": 8, \"type\": \"float\"}}}}");
    double expected = ATTENTION / 2 * 2 + ATTENTION / 2 * 1 + FFN / 2 * 2 + FFN / 2 * 1 + HEAD * 1 +
                      (TABLES - HEAD) * 2 + NORMS * 2;
    cr_assert(weight_bytes(json) == expected, "%.17g, not %.17g", weight_bytes(json), expected);
}

/* A glob that ends in a digit and a star means layers 1 and 10 to 19, as fnmatch has it. */
Test(import_quantization, globs_are_globs)
{
    const char *one =
        dense("{\"quant_method\": \"modelopt\", \"quant_algo\": \"FP8\", \"ignore\": [\"model.layers.1*\"]}");
    const char *none =
        dense("{\"quant_method\": \"modelopt\", \"quant_algo\": \"FP8\", \"ignore\": [\"mtp.layers.1*\"]}");
    double all = ATTENTION + FFN;
    cr_assert(weight_bytes(one) == all / 2 + all / 2 * 2 + 2 * (TABLES + NORMS));
    cr_assert(weight_bytes(none) == all + 2 * (TABLES + NORMS));
}

/* Keys of `dynamic` are expressions that match from the beginning, as Python's re.match has it: `mlp.gate` is
 * also gate_proj. Those that spell a name out come by the thousand. */
Test(import_quantization, expressions_that_spell_names_are_many)
{
    struct buffer many = buffer_in(arena);
    buffer_text(&many, "{\"quant_method\": \"gptq\", \"bits\": 4, \"group_size\": 128, \"dynamic\": {");
    for (size_t i = 0; i < 5000; i++)
        buffer_printf(&many, "\"-:model\\\\.layers\\\\.%zu\\\\.mlp\\\\.experts\\\\.7\": {},\n", i);
    buffer_text(&many,
                "\"-:model\\\\.layers\\\\.0\\\\.mlp\\\\.gate\": {}, \"+:^model.layers.1.self_attn.q_proj\": "
                "{\"bits\": 8}}}");
    double gptq = 4 + 20.0 / 128, gate = 256 * 512, query = 256 * 256;
    double expected = (ATTENTION + FFN - gate - query) * gptq / 8 + gate * 2 + query * (8 + 24.0 / 128) / 8 +
                      2 * (TABLES + NORMS);
    double bytes = weight_bytes(dense(buffer_string(&many)));
    cr_assert(bytes == expected, "%.17g, not %.17g", bytes, expected);
}

/* Names of a wrapper's language part are its own; those of its other parts are not. */
Test(import_quantization, prefixes_of_wrappers_are_known)
{
    double all = ATTENTION + FFN, query = 256 * 256;
    const char *json =
        dense("{\"quant_method\": \"gptq\", \"bits\": 4, \"group_size\": 128, \"modules_to_not_convert\": "
              "[\"thinker.model.layers.0.self_attn.q_proj\", \"talker.model.layers.1.mlp\"]}");
    cr_assert(weight_bytes(json) == (all - query) * (4 + 20.0 / 128) / 8 + 2 * (query + TABLES + NORMS));
}

Test(import_quantization, named_layers_have_their_own_formats)
{
    const char *json = dense(
        "{\"quant_method\": \"modelopt\", \"quant_algo\": \"MIXED_PRECISION\", \"quantized_layers\": {\n"
        "\"model.layers.0.mlp.up_proj\": {\"quant_algo\": \"NVFP4\", \"group_size\": 16},\n"
        "\"model.layers.1.self_attn.o_proj\": {\"quant_algo\": \"FP8\"},\n"
        "\"lm_head\": {\"quant_algo\": \"FP8\"}}}");
    double expected = (256 * 512) * 4.5 / 8 + (256 * 256) * 1 + HEAD +
                      2 * (ATTENTION + FFN - 256 * 512 - 256 * 256) + 2 * (TABLES - HEAD + NORMS);
    cr_assert(weight_bytes(json) == expected, "%.17g, not %.17g", weight_bytes(json), expected);
}

/* mxfp4 without a list still means the experts only; here 4 experts of 3 x 256 x 256, and a router. */
Test(import_quantization, mxfp4_is_for_experts)
{
    const char *json = "{\"model_type\": \"mixtral\", \"hidden_size\": 256, \"num_hidden_layers\": 1,\n"
                       "\"num_attention_heads\": 4, \"intermediate_size\": 256, \"vocab_size\": 1000,\n"
                       "\"num_local_experts\": 4, \"num_experts_per_tok\": 2, \"quantization_config\": "
                       "{\"quant_method\": \"mxfp4\"}}";
    double expected = 4 * 3 * 256 * 256 * 4.25 / 8 + 2 * (4 * 256 * 256 + 4 * 256 + TABLES + 3 * 256);
    cr_assert(weight_bytes(json) == expected, "%.17g, not %.17g", weight_bytes(json), expected);
}

/* Two experts of one layer: alike in whatever way they are named, or refused. */
Test(import_quantization, experts_of_a_layer_are_stored_alike)
{
    static const struct {
        const char *named;
        bool alike;
    } cases[] = {
        {"\"model.layers.0.block_sparse_moe.experts.0.w1\", \"model.layers.0.block_sparse_moe.experts.1.w1\"",
         true},
        {"\"model.layers.0.block_sparse_moe.experts.1.w1\"", false},
        {"\"model.layers.0.block_sparse_moe.experts.1.w1\", \"model.layers.0.block_sparse_moe.experts.0.w2\"",
         false},
        {"\"model.layers.0.block_sparse_moe.experts.1.w1\", \"model.layers.0.block_sparse_moe\"", true},
        {"\"model.layers.7.block_sparse_moe.experts.1.w1\"", true}, /* of no layer there is */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *json =
            arena_printf(arena,
                         "{\"model_type\": \"mixtral\", \"hidden_size\": 256, \"num_hidden_layers\": 1,\n"
                         "\"num_attention_heads\": 4, \"intermediate_size\": 256, \"vocab_size\": 1000,\n"
                         "\"num_local_experts\": 4, \"num_experts_per_tok\": 2, \"quantization_config\": "
                         "{\"quant_method\": \"modelopt\", \"quant_algo\": \"FP8\", \"ignore\": [%s]}}",
                         cases[i].named);
        struct import_run run = import_bytes("tiny.json", json, strlen(json));
        cr_assert(run.known == cases[i].alike, "%s: %s", cases[i].named, import_error(&run).message);
        cr_assert(run.known || strstr(import_error(&run).message, "experts of layer 0"), "%s",
                  import_error(&run).message);
        import_close(&run);
    }
}

static void expect_cache(const char *member, const char *expected)
{
    const char *json =
        dense(arena_printf(arena, "{%s\"quant_algo\": \"FP8\", %s}",
                           strstr(member, "quant_method") ? "" : "\"quant_method\": \"modelopt\", ", member));
    struct import_run run = import_bytes("tiny.json", json, strlen(json));
    cr_assert(run.known, "%s", import_error(&run).message);
    bool found = strstr(run.imported.text, expected) != NULL;
    cr_assert(found == (*expected != '!'), "%s:\n%s", member, run.imported.text);
    import_close(&run);
}

Test(import_quantization, the_cache_has_a_format_of_its_own)
{
    expect_cache("\"kv_cache_scheme\": {\"num_bits\": 8, \"type\": \"float\"}", "kv_cache = fp8\n");
    expect_cache("\"kv_cache_scheme\": \"FP8\"", "kv_cache = fp8\n");
    expect_cache("\"kv_cache_quant_algo\": \"NVFP4\"", "kv_cache = nvfp4\n");
    expect_cache("\"kv_cache_scheme\": null", "!");
    expect_cache("\"quant_method\": \"quark\", \"layer_quant_config\": {\"*k_proj\": {\"weight\": "
                 "{\"dtype\": \"fp8_e4m3\", "
                 "\"qscheme\": \"per_tensor\"}, \"output_tensors\": {\"dtype\": \"fp8_e4m3\"}}}",
                 "kv_cache = fp8\n");
}

Test(import_quantization, a_second_file_decides_when_the_first_is_silent)
{
    const char *config =
        scratch_file(arena, "config.json",
                     "{\"model_type\": \"llama\", \"hidden_size\": 256, \"num_hidden_layers\": 2,\n"
                     "\"num_attention_heads\": 4, \"intermediate_size\": 512, \"vocab_size\": 1000}");
    size_t directory = strlen(config) - strlen("config.json");
    const char *second = arena_printf(arena, "%.*shf_quant_config.json", (int)directory, config);
    static const char text[] =
        "{\"producer\": {\"name\": \"modelopt\"}, \"quantization\": {\"quant_algo\": \"NVFP4\",\n"
        "\"kv_cache_quant_algo\": \"FP8\", \"exclude_modules\": [\"lm_head\"]}}";
    write_file(second, text, sizeof text - 1);
    struct import_run run = import_file(config, false);
    cr_assert(run.known);
    cr_assert_not_null(strstr(run.imported.text, "weights = nvfp4   kv_cache = fp8\n"), "%s",
                       run.imported.text);
    import_close(&run);
}

static void expect_refusal(const char *quantization, unsigned line, unsigned column, const char *words)
{
    const char *json = dense(quantization);
    struct import_run run = import_bytes("tiny.json", json, strlen(json));
    struct import_error error = import_error(&run);
    cr_assert(!run.known && strcmp(error.code, "E0407") == 0, "%s", run.imported.text);
    cr_assert(error.line == line && error.column == column && strstr(error.message, words), "%u:%u %s",
              error.line, error.column, error.message);
    import_close(&run);
}

Test(import_quantization, unknown_storage_is_refused_where_it_is_named)
{
    expect_refusal("{\"quant_method\": \"quanto\"}", 3, 25, "`quanto`");
    expect_refusal("{\n \"quant_method\": 5}", 4, 2, "not a string");
    expect_refusal("{\"quant_method\": \"gptq\", \"bits\": 4,\n \"group_size\": \"128\"}", 4, 2,
                   "not a number");
    expect_refusal("{\"quant_method\": \"gptq\", \"bits\": 4,\n \"group_size\": 0}", 4, 2, "not a size");
    expect_refusal("{\"quant_method\": \"gptq\", \"bits\": 4,\n \"lm_head\": \"yes\"}", 4, 2,
                   "true or false");
    expect_refusal("{\"quant_method\": \"gptq\", \"bits\": 4,\n \"dynamic\": []}", 4, 2, "not an object");
    expect_refusal("{\"quant_method\": \"fp8\",\n \"ignore\": \"lm_head\"}", 4, 2, "not a list");
    expect_refusal("{\"quant_method\": \"fp8\",\n \"ignore\": [5]}", 4, 2, "not a string");
    expect_refusal("{\"quant_method\": \"fp8\",\n \"kv_cache_scheme\": 8}", 4, 2, "a cache format");
    expect_refusal("{\"quant_method\": \"compressed-tensors\",\n \"config_groups\": {\"g\": {\"weights\": "
                   "{\"num_bits\": 4, \"type\": \"int\", \"strategy\": \"group\"}}}}",
                   4, 2, "in a way perfc does not know");
    expect_refusal("{\"quant_method\": \"modelopt\",\n \"quant_algo\": \"W4A16_AWQ\"}", 4, 2, "`W4A16_AWQ`");
    /* a repetition of repetitions, which took gigabytes to compile */
    expect_refusal("{\"quant_method\": \"fp8\",\n \"ignore\": [\"re:.*x++++++++++++++++++++++++++++++++\"]}",
                   4, 2, "pattern");
    expect_refusal(
        "{\"quant_method\": \"fp8\",\n \"ignore\": [\"re:((((((((((((((x+)+)+)+)+)+)+)+)+)+)+)+)+)+)+\"]}", 4,
        2, "pattern");
    expect_refusal("{\"quant_method\": \"fp8\",\n \"ignore\": [\"re:.*[a\"]}", 4, 2, "pattern");
    expect_refusal("{\n \"quant_algo\": \"W3A5\"}", 4, 2, "`W3A5`");
    expect_refusal("{\"quant_method\": \"gptq\",\n \"bits\": 40}", 4, 2, "`bits`");
    expect_refusal("{\"quant_method\": \"fp8\",\n \"ignore\": [\"re:(?!x)\"]}", 4, 2, "pattern");
    expect_refusal("{\"quant_method\": \"exl2\", \"bits\": 4.65, \"head_bits\": 6}", 3, 25,
                   "how many bits `exl2` takes");
    expect_refusal(
        "{\"quant_method\": \"auto-round\", \"bits\": 4, \"group_size\": 128,\n \"data_type\": \"mx_fp\"}", 4,
        2, "`mx_fp`");
    expect_refusal("{\"quant_method\": \"hqq\",\n \"quant_config\": {\"weight_quant_params\": {\"nbits\": 4, "
                   "\"group_size\": 64},"
                   "\"scale_quant_params\": {\"nbits\": 8}}}",
                   4, 2, "HQQ");
    expect_refusal(
        "{\"quant_method\": \"quark\",\n \"global_quant_config\": {\"weight\": {\"dtype\": \"uint4\", "
        "\"qscheme\": \"per_group\", \"group_size\": 128}}}",
        4, 2, "`uint4`");
    expect_refusal("{\"quant_method\": \"torchao\",\n \"quant_type\": \"autoquant\"}", 4, 2, "`autoquant`");
    expect_refusal("{\"quant_method\": \"bitsandbytes\"}", 3, 25, "`load_in_8bit`");
    expect_refusal("{\"quant_method\": \"compressed-tensors\",\n \"sparsity_config\": {\"format\": "
                   "\"sparse-24-bitmask\"}}",
                   4, 2, "sparse");
    expect_refusal("{\"quant_method\": \"compressed-tensors\",\n \"config_groups\": {\"g\": {\"targets\": "
                   "[\"FusedMoE\"], "
                   "\"weights\": {\"num_bits\": 4, \"type\": \"int\", \"group_size\": 32}}}}",
                   4, 2, "`FusedMoE`");
}

/* tinygemm's tiles pad inner sizes that are no multiple of 1024; of those that are, int4 with 16-bit scale
 * and zero point for each group: here 4 x 1024 x 1024 + 3 x 1024 x 2048 values in one layer. */
Test(import_quantization, tiles_of_torchao_fill_or_are_refused)
{
    static const char quantization[] =
        "\"quantization_config\": {\"quant_method\": \"torchao\", \"quant_type\": \"int4_weight_only\", "
        "\"quant_type_kwargs\": {\"group_size\": 64}}}";
    const char *json =
        arena_printf(arena,
                     "{\"model_type\": \"llama\", \"hidden_size\": 1024, \"num_hidden_layers\": 1,\n"
                     "\"num_attention_heads\": 8, \"intermediate_size\": 2048, \"vocab_size\": 1000,\n%s",
                     quantization);
    double values = 4 * 1024 * 1024 + 3 * 1024 * 2048, rest = 2 * (2 * 1000 * 1024 + 3 * 1024);
    cr_assert(weight_bytes(json) == values * (4 + 32.0 / 64) / 8 + rest);
    expect_refusal("{\"quant_method\": \"torchao\",\n \"quant_type\": \"int4_weight_only\"}", 4, 2,
                   "of these sizes");
}

/* Modules by name: one in fp8, one left alone, the others in 8-bit integers. */
Test(import_quantization, torchao_and_quark_choose_by_module)
{
    const char *modules = dense("{\"quant_method\": \"torchao\", \"quant_type\": {\"default\": {\"_type\": "
                                "\"ModuleFqnToConfig\", \"_data\": "
                                "{\"module_fqn_to_config\":\n{\"_default\": {\"_type\": "
                                "\"Int8WeightOnlyConfig\", \"_data\": {\"group_size\": null}},"
                                "\"model.layers.0.self_attn.q_proj\": null, \"lm_head\": {\"_type\": "
                                "\"Float8WeightOnlyConfig\", \"_data\": {}}}}}}}");
    double expected = ATTENTION + FFN + 256 * 256 + HEAD + 2 * (TABLES - HEAD + NORMS);
    cr_assert(weight_bytes(modules) == expected, "%.17g, not %.17g", weight_bytes(modules), expected);
    const char *layers =
        dense("{\"quant_method\": \"quark\", \"exclude\": [\"lm_head\", \"*self_attn*\"], "
              "\"layer_quant_config\": {\"*down_proj\": "
              "{\"weight\": null}},\n\"global_quant_config\": {\"weight\": {\"dtype\": \"fp4\", \"qscheme\": "
              "\"per_group\", "
              "\"group_size\": 32, \"scale_format\": \"e8m0\"}, \"input_tensors\": {\"dtype\": \"fp4\"}}}");
    expected = FFN / 3 * 2 * 4.25 / 8 + 2 * (ATTENTION + FFN / 3 + TABLES + NORMS);
    cr_assert(weight_bytes(layers) == expected, "%.17g, not %.17g", weight_bytes(layers), expected);
}
