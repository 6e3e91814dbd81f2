/* config_defaults.c: what a key is when the file leaves it out: the defaults of the families' classes in
 * transformers. A nested text_config is written as what differs from its class; whole files have all keys of
 * their class, except those that came after them. */
#include <string.h>

#include "import/config.h"

enum { NESTED, ANYWHERE };

static const struct {
    const char *family, *key;
    double value;
    int where;
} defaults[] = {
    {"llama", "hidden_size", 4096, NESTED},
    {"llama", "num_hidden_layers", 32, NESTED},
    {"llama", "num_attention_heads", 32, NESTED},
    {"llama", "intermediate_size", 11008, NESTED},
    {"llama", "vocab_size", 32000, NESTED},
    {"mistral", "hidden_size", 4096, NESTED},
    {"mistral", "num_hidden_layers", 32, NESTED},
    {"mistral", "num_attention_heads", 32, NESTED},
    {"mistral", "num_key_value_heads", 8, NESTED},
    {"mistral", "intermediate_size", 14336, NESTED},
    {"mistral", "vocab_size", 32000, NESTED},
    {"mistral", "sliding_window", 4096, NESTED},
    {"ministral3", "hidden_size", 4096, NESTED},
    {"ministral3", "num_hidden_layers", 34, NESTED},
    {"ministral3", "num_attention_heads", 32, NESTED},
    {"ministral3", "num_key_value_heads", 8, NESTED},
    {"ministral3", "head_dim", 128, ANYWHERE},
    {"ministral3", "intermediate_size", 14336, NESTED},
    {"ministral3", "vocab_size", 131072, NESTED},
    {"mistral4", "hidden_size", 4096, NESTED},
    {"mistral4", "num_hidden_layers", 36, NESTED},
    {"mistral4", "num_attention_heads", 32, NESTED},
    {"mistral4", "intermediate_size", 12288, NESTED},
    {"mistral4", "moe_intermediate_size", 2048, NESTED},
    {"mistral4", "vocab_size", 131072, NESTED},
    {"mistral4", "n_routed_experts", 128, NESTED},
    {"mistral4", "n_shared_experts", 1, NESTED},
    {"mistral4", "num_experts_per_tok", 4, NESTED},
    {"mistral4", "q_lora_rank", 1024, NESTED},
    {"mistral4", "kv_lora_rank", 256, NESTED},
    {"mistral4", "qk_nope_head_dim", 64, NESTED},
    {"mistral4", "qk_rope_head_dim", 64, NESTED},
    {"mistral4", "v_head_dim", 128, NESTED},
    {"gemma", "hidden_size", 3072, NESTED},
    {"gemma", "num_hidden_layers", 28, NESTED},
    {"gemma", "num_attention_heads", 16, NESTED},
    {"gemma", "num_key_value_heads", 16, NESTED},
    {"gemma", "intermediate_size", 24576, NESTED},
    {"gemma", "vocab_size", 256000, NESTED},
    {"gemma", "head_dim", 256, ANYWHERE},
    {"gemma2", "hidden_size", 2304, NESTED},
    {"gemma2", "num_hidden_layers", 26, NESTED},
    {"gemma2", "num_attention_heads", 8, NESTED},
    {"gemma2", "num_key_value_heads", 4, NESTED},
    {"gemma2", "intermediate_size", 9216, NESTED},
    {"gemma2", "vocab_size", 256000, NESTED},
    {"gemma2", "head_dim", 256, ANYWHERE},
    {"gemma2", "sliding_window", 4096, ANYWHERE},
    {"gemma3_text", "hidden_size", 2304, NESTED},
    {"gemma3_text", "num_hidden_layers", 26, NESTED},
    {"gemma3_text", "num_attention_heads", 8, NESTED},
    {"gemma3_text", "num_key_value_heads", 4, NESTED},
    {"gemma3_text", "intermediate_size", 9216, NESTED},
    {"gemma3_text", "vocab_size", 262208, NESTED},
    {"gemma3_text", "head_dim", 256, ANYWHERE},
    {"gemma3_text", "sliding_window", 4096, ANYWHERE},
    {"gemma3_text", "sliding_window_pattern", 6, ANYWHERE},
    {"gemma3n_text", "hidden_size", 2048, NESTED},
    {"gemma3n_text", "num_hidden_layers", 35, NESTED},
    {"gemma3n_text", "num_attention_heads", 8, NESTED},
    {"gemma3n_text", "num_key_value_heads", 2, NESTED},
    {"gemma3n_text", "intermediate_size", 16384, NESTED},
    {"gemma3n_text", "vocab_size", 262400, NESTED},
    {"gemma3n_text", "head_dim", 256, ANYWHERE},
    {"gemma3n_text", "sliding_window", 512, ANYWHERE},
    {"gemma3n_text", "sliding_window_pattern", 5, ANYWHERE},
    {"gemma3n_text", "num_kv_shared_layers", 15, ANYWHERE},
    {"gemma3n_text", "hidden_size_per_layer_input", 256, ANYWHERE},
    {"gemma4_text", "hidden_size", 2304, NESTED},
    {"gemma4_text", "num_hidden_layers", 30, NESTED},
    {"gemma4_text", "num_attention_heads", 8, NESTED},
    {"gemma4_text", "num_key_value_heads", 4, NESTED},
    {"gemma4_text", "intermediate_size", 9216, NESTED},
    {"gemma4_text", "vocab_size", 262144, NESTED},
    {"gemma4_text", "head_dim", 256, ANYWHERE},
    {"gemma4_text", "global_head_dim", 512, ANYWHERE},
    {"gemma4_text", "sliding_window", 512, ANYWHERE},
    {"gemma4_text", "sliding_window_pattern", 6, ANYWHERE},
    {"gemma4_text", "hidden_size_per_layer_input", 256, NESTED},
    {"cohere2", "sliding_window", 4096, ANYWHERE},
    {"cohere2", "sliding_window_pattern", 4, ANYWHERE},
    {"olmo3", "sliding_window", 4096, ANYWHERE},
    {"olmo3", "sliding_window_pattern", 4, ANYWHERE},
    {"exaone4", "sliding_window_pattern", 4, ANYWHERE},
    {"exaone_moe", "sliding_window_pattern", 4, ANYWHERE},
    {"exaone_moe", "first_k_dense_replace", 1, ANYWHERE},
    {"exaone_moe", "num_shared_experts", 1, ANYWHERE},
    {"afmoe", "sliding_window", 1024, ANYWHERE},
    {"afmoe", "global_attn_every_n_layers", 4, ANYWHERE},
    {"gpt_oss", "sliding_window", 128, ANYWHERE},
    {"ernie4_5_moe", "moe_layer_start_index", 1, ANYWHERE},
    {"qwen2", "hidden_size", 4096, NESTED},
    {"qwen2", "num_hidden_layers", 32, NESTED},
    {"qwen2", "num_attention_heads", 32, NESTED},
    {"qwen2", "intermediate_size", 22016, NESTED},
    {"qwen2", "vocab_size", 151936, NESTED},
    {"qwen2_vl_text", "hidden_size", 8192, NESTED},
    {"qwen2_vl_text", "num_hidden_layers", 80, NESTED},
    {"qwen2_vl_text", "num_attention_heads", 64, NESTED},
    {"qwen2_vl_text", "num_key_value_heads", 8, NESTED},
    {"qwen2_vl_text", "intermediate_size", 29568, NESTED},
    {"qwen2_vl_text", "vocab_size", 152064, NESTED},
    {"qwen2_5_vl_text", "hidden_size", 8192, NESTED},
    {"qwen2_5_vl_text", "num_hidden_layers", 80, NESTED},
    {"qwen2_5_vl_text", "num_attention_heads", 64, NESTED},
    {"qwen2_5_vl_text", "num_key_value_heads", 8, NESTED},
    {"qwen2_5_vl_text", "intermediate_size", 29568, NESTED},
    {"qwen2_5_vl_text", "vocab_size", 152064, NESTED},
    {"qwen3", "head_dim", 128, ANYWHERE},
    {"qwen3_vl_text", "hidden_size", 4096, NESTED},
    {"qwen3_vl_text", "num_hidden_layers", 32, NESTED},
    {"qwen3_vl_text", "num_attention_heads", 32, NESTED},
    {"qwen3_vl_text", "intermediate_size", 22016, NESTED},
    {"qwen3_vl_text", "vocab_size", 151936, NESTED},
    {"qwen3_vl_text", "head_dim", 128, ANYWHERE},
    {"mllama_text_model", "hidden_size", 4096, NESTED},
    {"mllama_text_model", "num_hidden_layers", 40, NESTED},
    {"mllama_text_model", "num_attention_heads", 32, NESTED},
    {"mllama_text_model", "num_key_value_heads", 8, NESTED},
    {"mllama_text_model", "intermediate_size", 14336, NESTED},
    {"mllama_text_model", "vocab_size", 128256, NESTED},
    {"jamba", "attn_layer_offset", 4, ANYWHERE},
    {"jamba", "expert_layer_offset", 1, ANYWHERE},
};

static bool among(const char *keys, const char *key)
{
    size_t length = strlen(key);
    for (const char *at = keys; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
        if (strncmp(at, key, length) == 0 && (at[length] == '|' || at[length] == '\0'))
            return true;
    return false;
}

/* A key that is null says that there is none of it. */
bool config_class_default(struct config *config, const char *keys, double *value)
{
    if (!config->family_name || strcmp(config->family_name, config->family->name) != 0)
        return false; /* the family is assumed: its defaults would be guesses */
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++)
        if ((config->text_key || defaults[i].where == ANYWHERE) &&
            strcmp(defaults[i].family, config->family->name) == 0 && among(keys, defaults[i].key) &&
            !json_object_get(config->text, defaults[i].key)) {
            *value = defaults[i].value;
            return true;
        }
    return false;
}
