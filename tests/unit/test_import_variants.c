/* test_import_variants.c: spellings and arrangements that the stored configurations do not show, each against
 * arithmetic by hand over one small model, and more families against their published totals. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/arena.h"
#include "import_fixture.h"

static struct arena *arena;

static void set_up(void)
{
    arena = arena_new();
}

static void tear_down(void)
{
    arena_free(arena);
}

TestSuite(import_variants, .init = set_up, .fini = tear_down);

static double quantity(const char *json, const char *name)
{
    struct import_run run = import_bytes("m.json", json, strlen(json));
    cr_assert(run.known, "%s: %s", json, import_error(&run).message);
    struct result_fixture fixture = import_evaluate_text(run.imported.text);
    cr_assert(diags_count(fixture.diags) == 0, "%s", run.imported.text);
    double value = result_number(&fixture, KIND_MODEL, "m", name);
    result_close(&fixture);
    import_close(&run);
    return value;
}

static void expect(const char *json, const char *name, double value)
{
    double found = quantity(json, name);
    cr_assert(found == value, "%s is %.17g, not %.17g, of\n%s", name, found, value, json);
}

/* ---- families ------------------------------------------------------------------------------ */

/* Totals of the Hugging Face Hub, of towers too. */
Test(import_variants, families_have_their_published_totals)
{
    static const struct {
        double total;
        const char *json;
    } models[] = {
        /* Qwen2-VL-7B, keys of the language model at the top; Qwen2.5-VL-7B under text_config */
        {8291375616,
         "{\"model_type\": \"qwen2_vl\", \"hidden_size\": 3584, \"num_hidden_layers\": 28,"
         "\"num_attention_heads\": 28, \"num_key_value_heads\": 4, \"intermediate_size\": 18944,"
         "\"vocab_size\": 152064, \"tie_word_embeddings\": false, \"vision_config\": {\"depth\": 32,"
         "\"embed_dim\": 1280, \"mlp_ratio\": 4, \"in_chans\": 3, \"hidden_size\": 3584,"
         "\"patch_size\": 14, \"spatial_merge_size\": 2, \"temporal_patch_size\": 2}}"},
        {8292166656, "{\"model_type\": \"qwen2_5_vl\", \"tie_word_embeddings\": false, \"text_config\": {"
                     "\"model_type\": \"qwen2_5_vl_text\", \"hidden_size\": 3584, \"num_hidden_layers\": 28,"
                     "\"num_attention_heads\": 28, \"num_key_value_heads\": 4, \"intermediate_size\": 18944,"
                     "\"vocab_size\": 152064}, \"vision_config\": {\"depth\": 32, \"hidden_size\": 1280,"
                     "\"intermediate_size\": 3420, \"in_chans\": 3, \"out_hidden_size\": 3584,"
                     "\"patch_size\": 14, \"spatial_merge_size\": 2, \"temporal_patch_size\": 2}}"},
        /* OLMoE-1B-7B, Command-R7B, GLM-4-9B-0414, Granite-3.1-8B, StableLM-2-1.6B, SmolLM3-3B, Seed-OSS-36B
         */
        {6919161856, "{\"model_type\": \"olmoe\", \"hidden_size\": 2048, \"num_hidden_layers\": 16,"
                     "\"num_attention_heads\": 16, \"num_key_value_heads\": 16, \"intermediate_size\": 1024,"
                     "\"vocab_size\": 50304, \"num_experts\": 64, \"num_experts_per_tok\": 8}"},
        {8028033024, "{\"model_type\": \"cohere2\", \"hidden_size\": 4096, \"num_hidden_layers\": 32,"
                     "\"num_attention_heads\": 32, \"num_key_value_heads\": 8, \"intermediate_size\": 14336,"
                     "\"vocab_size\": 256000, \"sliding_window\": 4096, \"sliding_window_pattern\": 4}"},
        {9400279040, "{\"model_type\": \"glm4\", \"hidden_size\": 4096, \"num_hidden_layers\": 40,"
                     "\"num_attention_heads\": 32, \"num_key_value_heads\": 2, \"head_dim\": 128,"
                     "\"intermediate_size\": 13696, \"vocab_size\": 151552, \"attention_bias\": true}"},
        {8170848256, "{\"model_type\": \"granite\", \"hidden_size\": 4096, \"num_hidden_layers\": 40,"
                     "\"num_attention_heads\": 32, \"num_key_value_heads\": 8, \"intermediate_size\": 12800,"
                     "\"vocab_size\": 49155, \"tie_word_embeddings\": true}"},
        {1644515328, "{\"model_type\": \"stablelm\", \"hidden_size\": 2048, \"num_hidden_layers\": 24,"
                     "\"num_attention_heads\": 32, \"num_key_value_heads\": 32, \"intermediate_size\": 5632,"
                     "\"vocab_size\": 100352, \"use_qkv_bias\": true}"},
        {3075098624, "{\"model_type\": \"smollm3\", \"hidden_size\": 2048, \"num_hidden_layers\": 36,"
                     "\"num_attention_heads\": 16, \"num_key_value_heads\": 4, \"intermediate_size\": 11008,"
                     "\"vocab_size\": 128256, \"sliding_window\": null}"},
        {36151104512, "{\"model_type\": \"seed_oss\", \"hidden_size\": 5120, \"num_hidden_layers\": 64,"
                      "\"num_attention_heads\": 80, \"num_key_value_heads\": 8, \"head_dim\": 128,"
                      "\"intermediate_size\": 27648, \"vocab_size\": 155136, \"attention_bias\": true,"
                      "\"attention_out_bias\": false}"},
    };
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
        expect(models[i].json, "params", models[i].total);
}

/* ---- arrangements -------------------------------------------------------------------------- */

/* Eight layers of hidden 1024, 16 heads of 64 over 4, feed-forward 2816, vocabulary 32000. */
enum {
    LAYERS = 8,
    HIDDEN = 1024,
    QUERY = HIDDEN * 16 * 64,
    KEYS = HIDDEN * 4 * 64,
    ATTENTION = 2 * QUERY + 2 * KEYS,
    FFN = 3 * HIDDEN * 2816,
    LINEAR = LAYERS * (ATTENTION + FFN),
    REST = LAYERS * 2 * HIDDEN + 2 * 32000 * HIDDEN + HIDDEN,
    PARAMS = LINEAR + REST,
    KV = 2 * 4 * 64 * 2, /* bytes per token and layer */
    EXPERT = 3 * HIDDEN * 256,
};

static const char *model(const char *family, const char *more)
{
    return arena_printf(arena,
                        "{\"model_type\": \"%s\", \"hidden_size\": 1024, \"num_hidden_layers\": 8,"
                        "\"num_attention_heads\": 16, \"num_key_value_heads\": 4, \"vocab_size\": 32000,"
                        "\"intermediate_size\": 2816, \"tie_word_embeddings\": false, \"head_dim\": 64%s}",
                        family, more);
}

static void expect_cache(const char *family, const char *more, double per_token, double windows)
{
    expect(model(family, more), "kv_bytes_per_token", per_token * KV);
    expect(model(family, more), "kv_bytes_window", windows * KV);
}

Test(import_variants, windows_are_found_in_each_arrangement)
{
    expect(model("llama", ""), "params", PARAMS);
    expect_cache("llama", "", 8, 0);
    expect_cache("mistral", ", \"sliding_window\": 512", 0, 8 * 512);
    expect_cache("mistral",
                 ", \"sliding_window\": 512, \"layer_types\": [\"sliding_attention\", \"sliding_attention\","
                 "\"sliding_attention\", \"full_attention\", \"sliding_attention\", \"sliding_attention\","
                 "\"sliding_attention\", \"full_attention\"]",
                 2, 6 * 512);
    expect_cache("gemma3_text", ", \"sliding_window\": 512, \"sliding_window_pattern\": 4", 2, 6 * 512);
    expect_cache("exaone4", ", \"sliding_window\": 512, \"sliding_window_pattern\": \"LLLG\"", 2, 6 * 512);
    expect_cache("qwen2", ", \"sliding_window\": 512, \"use_sliding_window\": true, \"max_window_layers\": 6",
                 6, 2 * 512);
    expect_cache("qwen2", ", \"sliding_window\": 512, \"use_sliding_window\": false", 8, 0);
}

/* `sparse` layers with 16 experts of width 256, `shared` experts of the same width, and `more` each. */
static double mixture(double sparse, double shared, double more)
{
    return PARAMS + sparse * ((16 + shared) * EXPERT + 16 * HIDDEN - FFN + more);
}

Test(import_variants, sparse_layers_are_found_in_each_arrangement)
{
    static const char qwen[] =
        ", \"num_experts\": 16, \"num_experts_per_tok\": 2, \"moe_intermediate_size\": 256%s";
    static const char deepseek[] =
        ", \"n_routed_experts\": 16, \"num_experts_per_tok\": 2, \"n_shared_experts\": 2,"
        "\"moe_intermediate_size\": 256%s";
    const double norms = LAYERS * 2 * 64;
    const char *lists = model("qwen3_moe", arena_printf(arena, qwen, ", \"mlp_only_layers\": [0, 3]"));
    expect(lists, "params", mixture(6, 0, 0) + norms);
    expect(lists, "active_params", mixture(6, 0, 0) + norms - 6 * 14 * (double)EXPERT);
    expect(model("qwen3_moe", arena_printf(arena, qwen, ", \"decoder_sparse_step\": 2")), "params",
           mixture(4, 0, 0) + norms);
    expect(model("deepseek",
                 arena_printf(arena, deepseek, ", \"first_k_dense_replace\": 2, \"moe_layer_freq\": 1")),
           "params", mixture(6, 2, 0));
    /* layers 2, 4 and 6 */
    expect(model("deepseek",
                 arena_printf(arena, deepseek, ", \"first_k_dense_replace\": 1, \"moe_layer_freq\": 2")),
           "params", mixture(3, 2, 0));
    expect(model("deepseek", arena_printf(arena, deepseek, ", \"moe_layer_freq\": [0, 0, 1, 1, 1, 0, 1, 1]")),
           "params", mixture(5, 2, 0));
    expect(model("deepseek", arena_printf(arena, deepseek, ", \"topk_method\": \"noaux_tc\"")), "params",
           mixture(8, 2, 16));
    /* an MTP layer is no part of it */
    expect(model("deepseek", arena_printf(arena, deepseek, ", \"num_nextn_predict_layers\": 1")), "params",
           mixture(8, 2, 0));
}

Test(import_variants, the_language_model_is_found_in_each_wrapper)
{
    static const char *const keys[] = {"text_config", "llm_config", "language_config"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const char *json =
            arena_printf(arena, "{\"model_type\": \"some_wrapper\", \"hidden_size\": 8, \"%s\": %s}", keys[i],
                         model("llama", ""));
        expect(json, "params", PARAMS);
    }
    /* ChatGLM's own spelling, two groups */
    expect(
        "{\"model_type\": \"chatglm\", \"hidden_size\": 1024, \"num_layers\": 8, \"num_attention_heads\": 16,"
        "\"multi_query_attention\": true, \"multi_query_group_num\": 2, \"ffn_hidden_size\": 2816,"
        "\"kv_channels\": 64, \"padded_vocab_size\": 32000, \"add_qkv_bias\": true}",
        "params", PARAMS - LAYERS * KEYS + LAYERS * (16 + 2 * 2) * 64);
}

/* ---- towers -------------------------------------------------------------------------------- */

/* The same model with the tower of another: what is beside it is the tower. */
static void expect_tower(const char *wrapper, const char *text, const char *vision, double params)
{
    const char *json = arena_printf(
        arena, "{\"model_type\": \"%s\", \"text_config\": %s, \"vision_config\": %s}", wrapper, text, vision);
    expect(json, "params", quantity(text, "params") + params);
}

Test(import_variants, towers_are_counted)
{
    /* MoonViT: a layer of width w = 1152 and f = 4304 has 4 w^2 + 4 w + 2 w f + f + w and two norms of 2 w;
     * patches 3 * 14^2 w + w, positions 64^2 w, two more norms, a merger 4608^2 + 4608 and 4608 * 7168 +
     * 7168. */
    double w = 1152, f = 4304, layer = 4 * w * w + 4 * w + 2 * w * f + f + w + 4 * w;
    expect_tower(
        "kimi_k25", model("llama", ""),
        "{\"init_pos_emb_height\": 64, \"init_pos_emb_width\": 64, \"merge_kernel_size\": [2, 2],"
        "\"mm_hidden_size\": 1152, \"patch_size\": 14, \"text_hidden_size\": 7168, \"vt_hidden_size\": 1152,"
        "\"vt_intermediate_size\": 4304, \"vt_num_attention_heads\": 16, \"vt_num_hidden_layers\": 27}",
        27 * layer + 3 * 196 * w + w + 4096 * w + 4 * w + 4608 * 4608 + 4608 + 4608 * 7168 + 7168);
    /* Gemma 4: 4 w^2, norms of 72 for queries and keys, 3 w f, four norms; two tables of 10,240 positions. */
    layer = 4 * w * w + 2 * 72 + 3 * w * f + 4 * w;
    expect_tower("gemma4", model("gemma3_text", ""),
                 "{\"model_type\": \"gemma4_vision\", \"head_dim\": 72, \"hidden_size\": 1152, "
                 "\"intermediate_size\": 4304,"
                 "\"num_attention_heads\": 16, \"num_hidden_layers\": 27, \"num_key_value_heads\": 16, "
                 "\"patch_size\": 16,"
                 "\"position_embedding_size\": 10240, \"standardize\": true}",
                 27 * layer + 3 * 256 * w + 2 * 10240 * w + 2 * w + w * 1024);
}

/* ---- storage ------------------------------------------------------------------------------- */

static void expect_bytes(const char *quantization, double bytes)
{
    expect(model("llama", arena_printf(arena, ", \"quantization_config\": {%s}", quantization)),
           "weight_bytes", bytes);
}

/* Bytes when `bits` are the size of all linear layers' values, but `kept` of them in 16 bits. */
static double linear_in(double bits, double kept)
{
    return (LINEAR - kept) * bits / 8 + 2 * (REST + kept);
}

Test(import_variants, storage_is_read_in_each_form)
{
    static const char group[] =
        "\"quant_method\": \"compressed-tensors\", \"ignore\": [\"lm_head\"%s], \"config_groups\":"
        "{\"group_0\": {\"targets\": [\"Linear\"], \"weights\": {%s}%s}}";
    static const char activations[] = ", \"input_activations\": {\"num_bits\": 8}";
    double attention = LAYERS * (double)ATTENTION;
    expect_bytes("\"quant_method\": \"fp8\", \"weight_block_size\": [128, 128], \"modules_to_not_convert\": "
                 "[\"lm_head\","
                 "\"model.layers.0.mlp\", \"model.layers.1.self_attn.q_proj\"]",
                 linear_in(8 + 32 / 16384.0, FFN + QUERY));
    expect_bytes(arena_printf(arena, group, ", \"re:.*self_attn.*\"",
                              "\"num_bits\": 4, \"type\": \"int\", \"group_size\": 128", ""),
                 linear_in(4 + 16 / 128.0, attention));
    expect_bytes(arena_printf(arena, group, "",
                              "\"num_bits\": 4, \"type\": \"int\", \"group_size\": 128, \"symmetric\": false",
                              ""),
                 linear_in(4 + 20 / 128.0, 0));
    expect_bytes(arena_printf(arena, group, "",
                              "\"num_bits\": 8, \"type\": \"int\", \"strategy\": \"channel\"", activations),
                 linear_in(8, 0));
    expect_bytes(arena_printf(arena, group, "", "\"num_bits\": 4, \"type\": \"float\", \"group_size\": 16",
                              activations),
                 linear_in(4.5, 0));
    expect_bytes(
        arena_printf(
            arena, group, "",
            "\"num_bits\": 8, \"type\": \"float\", \"strategy\": \"block\", \"block_structure\": \"128x128\"",
            activations),
        linear_in(8 + 32 / 16384.0, 0));
    expect_bytes(
        "\"quant_method\": \"gptq\", \"bits\": 4, \"group_size\": 128, \"dynamic\": {\"-:.*self_attn.*\": {},"
        "\"+:.*down_proj.*\": {\"bits\": 8}}",
        linear_in(4 + 20 / 128.0, attention) + LAYERS * FFN / 3.0 * (4 + 4 / 128.0) / 8);
    expect_bytes("\"quant_method\": \"auto-round\", \"bits\": 4, \"group_size\": 128, \"extra_config\":"
                 "{\"model.layers.0.self_attn.q_proj\": {\"bits\": 16}}",
                 linear_in(4 + 20 / 128.0, QUERY));
    expect_bytes("\"quant_method\": \"awq\", \"bits\": 4, \"group_size\": 64, \"modules_to_not_convert\": "
                 "[\"self_attn\"]",
                 linear_in(4 + 20 / 64.0, attention));
    expect_bytes(
        "\"quant_method\": \"modelopt\", \"quant_algo\": \"NVFP4\", \"exclude_modules\": [\"lm_head\","
        "\"model.layers.0.self_attn*\"]",
        linear_in(4.5, ATTENTION));
}

/* A scheme for the cache halves it. */
Test(import_variants, the_cache_has_its_own_scheme)
{
    expect(
        model("llama",
              ", \"quantization_config\": {\"quant_method\": \"fp8\", \"kv_cache_scheme\": {\"num_bits\": 8,"
              "\"type\": \"float\"}}"),
        "kv_bytes_per_token", 8 * KV / 2);
    expect(
        model("llama", ", \"quantization_config\": {\"quant_method\": \"fp8\", \"kv_cache_scheme\": null}"),
        "kv_bytes_per_token", 8 * KV);
}

/* 32 bits for each value of the recurrence, 16 for each of the last inputs of the convolution. */
Test(import_variants, states_have_the_tail_of_their_convolution)
{
    /* Mamba 1: 2 * 1024 channels of 16, the last 3 inputs of the same channels */
    expect(
        "{\"model_type\": \"mamba\", \"hidden_size\": 1024, \"num_hidden_layers\": 8, \"vocab_size\": 1000,"
        "\"expand\": 2, \"state_size\": 16, \"conv_kernel\": 4, \"time_step_rank\": 64}",
        "state_bytes", 8 * 2048 * (16 * 4 + 3 * 2));
    /* Mamba-2: 16 heads of 64 by 128; the convolution runs over these and over B and C of 2 groups */
    expect(model("nemotron_h",
                 ", \"hybrid_override_pattern\": \"M-M*M-M-\", \"mamba_num_heads\": 16,"
                 "\"mamba_head_dim\": 64, \"n_groups\": 2, \"ssm_state_size\": 128, \"conv_kernel\": 4"),
           "state_bytes", 4 * (16 * 64 * 128 * 4 + (16 * 64 + 2 * 2 * 128) * 3 * 2));
    /* a gated delta net: 8 value heads of 64 by 64; queries and keys of 4 heads, values of 8 */
    expect(model("qwen3_5_text", ", \"full_attention_interval\": 4, \"linear_num_key_heads\": 4,"
                                 "\"linear_num_value_heads\": 8, \"linear_key_head_dim\": 64,"
                                 "\"linear_value_head_dim\": 64, \"linear_conv_kernel_dim\": 4"),
           "state_bytes", 6 * (8 * 64 * 64 * 4 + (2 * 4 * 64 + 8 * 64) * 3 * 2));
}

/* Qwen's way to 131,072 tokens; a file that has the product already is left as it is. */
Test(import_variants, yarn_stretches_the_context)
{
    static const struct {
        const char *more;
        const char *context;
    } files[] = {
        {", \"max_position_embeddings\": 40960, \"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 4.0,"
         "\"original_max_position_embeddings\": 32768}",
         "max_context = 131072\n"},
        {", \"max_position_embeddings\": 163840, \"rope_scaling\": {\"type\": \"yarn\", \"factor\": 40,"
         "\"original_max_position_embeddings\": 4096}",
         "max_context = 163840\n"},
        {", \"max_position_embeddings\": 131072, \"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": "
         "32.0,"
         "\"original_max_position_embeddings\": 8192}",
         "max_context = 131072\n"},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        const char *json = model("llama", files[i].more);
        struct import_run run = import_bytes("m.json", json, strlen(json));
        cr_assert(run.known && strstr(run.imported.text, files[i].context), "%s", run.imported.text);
        import_close(&run);
    }
}

/* One projection makes keys and values of Gemma 4's global layers, and both are cached: 50 windows of 2 x 16
 * x 256 x 2 B and 10 layers of 2 x 4 x 512 x 2 B are 20.7812 GiB for 262,144 tokens. */
Test(import_variants, gemma_4_caches_keys_and_values)
{
    struct buffer types = buffer_in(arena);
    for (int i = 0; i < 60; i++)
        buffer_printf(&types, "%s\"%s_attention\"", i ? ", " : "", i % 6 == 5 ? "full" : "sliding");
    const char *json = arena_printf(
        arena,
        "{\"model_type\": \"gemma4_text\", \"hidden_size\": 5376, \"num_hidden_layers\": 60,"
        "\"num_attention_heads\": 32, \"num_key_value_heads\": 16, \"head_dim\": 256,"
        "\"global_head_dim\": 512, \"num_global_key_value_heads\": 4, \"attention_k_eq_v\": true,"
        "\"intermediate_size\": 21504, \"vocab_size\": 262144, \"sliding_window\": 1024,"
        "\"tie_word_embeddings\": true, \"layer_types\": [%s]}",
        buffer_string(&types));
    expect(json, "kv_bytes_per_token", 10 * 2 * 4 * 512 * 2);
    expect(json, "kv_bytes_window", 50 * 2 * 16 * 256 * 2 * 1024.0);
    /* 30.7 billion by the model card */
    double params = quantity(json, "params");
    cr_assert(params > 30.65e9 && params < 30.75e9, "%.0f", params);
}

/* Granite 4 calls its mixers mamba: 16 bits for them, for the embedding, the norms and the routers; the rest
 * has 8 bits and 32 for each 128 x 128. Two mixers of 16 heads of 64 by 128 with one group, six layers of
 * attention. */
Test(import_variants, modules_of_hybrids_have_their_own_names)
{
    double mixer = 1024 * (2 * 1024.0 + 2 * 128 + 16) + 1024 * 1024.0;
    double vectors = (1024 + 2 * 128) * 5 + 3 * 16 + 1024, feed_forward = 3 * 1024.0 * 2816;
    double linear = 6 * (double)ATTENTION + 8 * feed_forward;
    double rest = 2 * (mixer + vectors) + LAYERS * 2 * 1024 + 2 * 32000 * 1024.0 + 1024;
    expect(model("granitemoehybrid",
                 ", \"shared_intermediate_size\": 2816, \"num_local_experts\": 0, \"mamba_n_heads\": 16,"
                 "\"mamba_d_head\": 64, \"mamba_d_state\": 128, \"mamba_n_groups\": 1, \"mamba_d_conv\": 4,"
                 "\"mamba_expand\": 1, \"layer_types\": [\"mamba\", \"attention\", \"attention\", \"mamba\","
                 "\"attention\", \"attention\", \"attention\", \"attention\"], \"quantization_config\": {"
                 "\"quant_method\": \"fp8\", \"weight_block_size\": [128, 128], \"modules_to_not_convert\":"
                 "[\"lm_head\", \"model.layers.0.mamba\", \"model.layers.3.mamba\"]}"),
           "weight_bytes", linear * (8 + 32 / 16384.0) / 8 + 2 * rest);
}

/* A key that is null is not one that is left out: the window of Mistral's class is 4096. */
Test(import_variants, defaults_of_classes_stand_in_for_what_a_part_leaves_out)
{
    static const char wrapper[] =
        "{\"model_type\": \"llava_next\", \"text_config\": {\"model_type\": \"mistral\","
        "\"vocab_size\": 32064%s}}";
    const char *untold = arena_printf(arena, wrapper, "");
    const char *unwindowed = arena_printf(arena, wrapper, ", \"sliding_window\": null");
    expect(untold, "params", 7241732096 + 64 * 2 * 4096.0); /* Mistral 7B with 64 tokens more */
    expect(untold, "kv_bytes_window", 32 * 2 * 8 * 128 * 2 * 4096.0);
    expect(unwindowed, "kv_bytes_per_token", 32 * 2 * 8 * 128 * 2);
    /* nothing stands in for a whole file */
    const char *whole = "{\"model_type\": \"mistral\", \"vocab_size\": 32064}";
    struct import_run run = import_bytes("m.json", whole, strlen(whole));
    cr_assert(!run.known && strstr(import_error(&run).message, "lacks `hidden_size`"), "%s",
              import_error(&run).message);
    import_close(&run);
}

/* A part inside a part is told of at its place. */
Test(import_variants, faults_of_a_part_are_found_where_they_stand)
{
    const char *json = "{\"model_type\": \"qwen3_omni_moe\",\n\"thinker_config\": {\n\"text_config\": {\n"
                       "\"model_type\": \"qwen3_omni_moe_text\", \"hidden_size\": -1}}}";
    struct import_run run = import_bytes("m.json", json, strlen(json));
    struct import_error error = import_error(&run);
    cr_assert(!run.known);
    cr_assert(error.line == 4, "line %u: %s", error.line, error.message);
    import_close(&run);
}

/* How much of a head turns, by key, by class, or not at all: the tables of engines depend on it. */
Test(import_variants, heads_turn_in_whole_or_in_part)
{
    static const struct {
        const char *family, *more, *text; /* "!" before it: not in the declaration */
    } files[] = {
        {"llama", "", "!rotary_dim"},
        {"llama", ", \"partial_rotary_factor\": 1.0", "!rotary_dim"},
        {"llama", ", \"partial_rotary_factor\": 0.5", "rotary_dim = 32 "},
        {"llama", ", \"rope_parameters\": {\"partial_rotary_factor\": 0.25}", "rotary_dim = 16 "},
        {"minimax_m2", ", \"rotary_dim\": 24, \"num_local_experts\": 8, \"num_experts_per_tok\": 2",
         "rotary_dim = 24 "},
        {"glm", "", "rotary_dim = 32 "},
        {"gpt_neox", ", \"rotary_pct\": 1.0", "!rotary_dim"},
        {"gpt_neox", "", "rotary_dim = 16 "},
        {"stablelm", ", \"rope_pct\": 0.25", "rotary_dim = 16 "},
        {"bloom", "", "rotary_dim = 0 "},
        {"falcon", ", \"alibi\": true", "rotary_dim = 0 "},
        {"baichuan", "", "rotary_dim = 0 "},
        {"granitemoehybrid",
         ", \"shared_intermediate_size\": 2816, \"layer_types\": [\"attention\", \"attention\", "
         "\"attention\","
         "\"attention\", \"attention\", \"attention\", \"attention\", \"attention\"]",
         "rotary_dim = 0 "},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        const char *json = model(files[i].family, files[i].more);
        struct import_run run = import_bytes("m.json", json, strlen(json));
        bool absent = *files[i].text == '!';
        cr_assert(run.known, "%s: %s", json, import_error(&run).message);
        bool found = strstr(run.imported.text, files[i].text + absent) != NULL;
        cr_assert(found != absent, "%s of\n%s\n%s", files[i].text, json, run.imported.text);
        import_close(&run);
    }
}
