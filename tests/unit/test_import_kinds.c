/* test_import_kinds.c: members of a configuration that are of the wrong kind: strings for numbers, numbers
 * for lists, words that no list of a family has. */
#include <criterion/criterion.h>
#include <string.h>

#include "faults.h"
#include "import_fixture.h"

TestSuite(import_kinds, .init = set_up, .fini = tear_down);

/* Nothing of the wrong kind is passed over, as if the key were not there. */
Test(import_kinds, no_value_of_the_wrong_kind_is_passed_over)
{
    static const struct {
        const char *family, *member, *words;
    } wrong[] = {
        {"llama", "\"tie_word_embeddings\": \"true\"", "neither true nor false"},
        {"llama", "\"torch_dtype\": 5", "not a string"},
        {"llama", "\"torch_dtype\": \"int3\"", "`int3`"},
        {"llama", "\"layer_types\": \"full_attention\"", "not a list"},
        {"llama", "\"layer_types\": []", "0 entries for 2 layers"},
        {"llama", "\"layer_types\": [\"full_attention\", 5]", "entry 1 of `layer_types`"},
        {"llama", "\"partial_rotary_factor\": \"0.5\"", "not a number"},
        {"llama", "\"partial_rotary_factor\": 1.5", "not a number from 0 to 1"},
        {"llama", "\"rope_scaling\": \"yarn\"", "not an object"},
        {"llama", "\"rope_scaling\": {\"rope_type\": 5}", "not a string"},
        {"llama", "\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": \"4\"}", "not a number"},
        {"llama", "\"vision_config\": 5", "not an object"},
        {"llama", "\"vision_config\": {\"hidden_size\": \"1024\"}", "not a whole number"},
        {"llama", "\"vision_config\": {\"image_size\": [16, \"16\"]}", "not a whole number"},
        {"llama", "\"audio_config\": [1]", "not an object"},
        {"llama", "\"text_config\": 5", "not an object"},
        {"llama", "\"text_config\": {\"model_type\": 5}", "not a string"},
        {"llama", "\"quantization_config\": \"fp8\"", "not an object"},
        {"gemma3_text", "\"sliding_window\": 4, \"sliding_window_pattern\": \"LXG\"", "not a whole number"},
        {"qwen3_moe", "\"mlp_only_layers\": 1", "not a list"},
        {"qwen3_moe", "\"mlp_only_layers\": [\"1\"]", "not the number of a layer"},
        {"qwen3_moe", "\"mlp_only_layers\": [-1]", "not the number of a layer"},
        {"qwen3_moe", "\"moe_layer_freq\": [0, \"1\"]", "neither 0 nor 1"},
        {"qwen3_moe", "\"mlp_layer_types\": [\"dense\", \"thin\"]", "entry 1 of `mlp_layer_types`"},
        {"deepseek_v3", "\"topk_method\": 5", "not a string"},
        {"glm_moe_dsa", "\"indexer_types\": [\"full\", \"none\"]", "entry 1 of `indexer_types`"},
        {"minimax_m1", "\"attn_type_list\": [0, 2]", "neither 0 nor 1"},
        {"mimo_v2_flash", "\"hybrid_layer_pattern\": [0, \"x\"]", "neither 0 nor 1"},
        {"kimi_linear", "\"linear_attn_config\": {\"full_attn_layers\": [0]}", "not the number of a layer"},
        {"kimi_linear", "\"linear_attn_config\": {\"full_attn_layers\": [-9223372036854775808]}",
         "not the number of a layer"},
        {"mpt", "\"expansion_ratio\": \"4\"", "not a number"},
        {"bamba", "\"attn_layer_indices\": [0.5]", "not the number of a layer"},
        {"recurrent_gemma", "\"block_types\": [\"recurrent\", \"other\"]", "entry 1 of `block_types`"},
        {"step3_text", "\"share_q_dim\": 8, \"moe_layers_enum\": \"1,x\"", "more than numbers"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const char *json = arena_printf(
            arena,
            "{\"model_type\": \"%s\", \"hidden_size\": 64, \"num_attention_heads\": 4, \"head_dim\": 16,\n"
            "\"intermediate_size\": 128, \"vocab_size\": 100, \"num_hidden_layers\": 2, \"num_experts\": 4,\n"
            "\"num_experts_per_tok\": 2, \"moe_intermediate_size\": 32,\n%s}",
            wrong[i].family, wrong[i].member);
        struct import_run run = import_bytes("x.json", json, strlen(json));
        struct import_error error = import_error(&run);
        bool code = error.code && (strcmp(error.code, "E0407") == 0 || strcmp(error.code, "E0406") == 0);
        if (run.known || !code || error.line != 4 || !strstr(error.message, wrong[i].words))
            FAULT("%s with %s: %s %u:%u %s", wrong[i].family, wrong[i].member,
                  error.code ? error.code : "known", error.line, error.column,
                  error.message ? error.message : "");
        import_close(&run);
    }
    EXPECT_NO_FAULTS();
}

/* What stands beside the language part is complained of where it stands. */
Test(import_kinds, members_beside_the_language_part_have_their_own_place)
{
    static const char *const members[] = {"\"torch_dtype\": \"int3\"", "\"torch_dtype\": 5",
                                          "\"tie_word_embeddings\": 5", "\"vision_config\": 5",
                                          "\"vision_config\": {\"depth\": \"3\"}"};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        const char *json =
            arena_printf(arena,
                         "{\"model_type\": \"mistral3\",\n\"text_config\": {\"model_type\": \"mistral\", "
                         "\"hidden_size\": 64,\n"
                         "\"num_attention_heads\": 4, \"num_key_value_heads\": 4, \"num_hidden_layers\": 2,\n"
                         "\"vocab_size\": 100, \"intermediate_size\": 128},\n%s}",
                         members[i]);
        struct import_run run = import_bytes("x.json", json, strlen(json));
        struct import_error error = import_error(&run);
        if (run.known || error.line != 5)
            FAULT("%s: %u:%u %s", members[i], error.line, error.column, error.message ? error.message : "");
        import_close(&run);
    }
    EXPECT_NO_FAULTS();
}
