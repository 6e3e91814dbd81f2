/* test_import_gguf.c: headers of GGUF files, built byte by byte, sound and hostile. */
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

TestSuite(import_gguf, .init = set_up, .fini = tear_down);

struct gguf_file {
    struct buffer values, tensors;
    uint64_t value_count, tensor_count, bytes;
};

static void put_text(struct buffer *out, const char *text)
{
    import_add_whole(out, strlen(text), 8);
    buffer_text(out, text);
}

static void put_number(struct gguf_file *file, const char *key, uint32_t value)
{
    put_text(&file->values, key);
    import_add_whole(&file->values, 4, 4);
    import_add_whole(&file->values, value, 4);
    file->value_count++;
}

static void put_word(struct gguf_file *file, const char *key, const char *value)
{
    put_text(&file->values, key);
    import_add_whole(&file->values, 8, 4);
    put_text(&file->values, value);
    file->value_count++;
}

enum { F32 = 0, Q8_0 = 8, Q4_K = 12, Q6_K = 14, MXFP4 = 39 };

static void put_tensor(struct gguf_file *file, const char *name, unsigned type, uint64_t columns,
                       uint64_t rows)
{
    put_text(&file->tensors, name);
    import_add_whole(&file->tensors, rows ? 2 : 1, 4);
    import_add_whole(&file->tensors, columns, 8);
    if (rows)
        import_add_whole(&file->tensors, rows, 8);
    import_add_whole(&file->tensors, type, 4);
    import_add_whole(&file->tensors, file->bytes, 8);
    uint64_t elements = columns * (rows ? rows : 1);
    /* llama.cpp, ggml-common.h: 144 and 210 bytes for 256 values */
    file->bytes += type == F32 ? 4 * elements : type == Q4_K ? elements / 256 * 144 : elements / 256 * 210;
    file->tensor_count++;
}

static struct buffer gguf_bytes(const struct gguf_file *file)
{
    struct buffer out = buffer_in(arena);
    buffer_text(&out, "GGUF");
    import_add_whole(&out, 3, 4);
    import_add_whole(&out, file->tensor_count, 8);
    import_add_whole(&out, file->value_count, 8);
    buffer_add(&out, buffer_string(&file->values), file->values.length);
    buffer_add(&out, buffer_string(&file->tensors), file->tensors.length);
    return out;
}

/* A q4_k_m of two layers: hidden 256, 4 heads of 64, 2 of keys, feed-forward 512, 1000 words. */
static struct gguf_file gguf_llama(const char *architecture)
{
    struct gguf_file file = {.values = buffer_in(arena), .tensors = buffer_in(arena)};
    put_word(&file, "general.architecture", architecture);
    put_number(&file, arena_printf(arena, "%s.block_count", architecture), 2);
    put_number(&file, arena_printf(arena, "%s.embedding_length", architecture), 256);
    put_number(&file, arena_printf(arena, "%s.attention.head_count", architecture), 4);
    put_number(&file, arena_printf(arena, "%s.attention.head_count_kv", architecture), 2);
    put_number(&file, arena_printf(arena, "%s.context_length", architecture), 4096);
    put_number(&file, arena_printf(arena, "%s.attention.sliding_window", architecture), 512);
    put_tensor(&file, "token_embd.weight", Q4_K, 256, 1000);
    put_tensor(&file, "output.weight", Q6_K, 256, 1000);
    put_tensor(&file, "output_norm.weight", F32, 256, 0);
    put_tensor(&file, "rope_freqs.weight", F32, 32, 0);
    for (int i = 0; i < 2; i++) {
        static const struct {
            const char *name;
            unsigned type;
            uint64_t columns, rows;
        } tensors[] = {
            {"attn_norm", F32, 256, 0},   {"ffn_norm", F32, 256, 0},  {"attn_q", Q4_K, 256, 256},
            {"attn_k", Q4_K, 256, 128},   {"attn_v", Q6_K, 256, 128}, {"attn_output", Q4_K, 256, 256},
            {"ffn_gate", Q4_K, 256, 512}, {"ffn_up", Q4_K, 256, 512}, {"ffn_down", Q6_K, 512, 256}};
        for (size_t k = 0; k < sizeof tensors / sizeof tensors[0]; k++)
            put_tensor(&file, arena_printf(arena, "blk.%d.%s.weight", i, tensors[k].name), tensors[k].type,
                       tensors[k].columns, tensors[k].rows);
    }
    return file;
}

/* 2 x (3 x 256^2 + 3 x 256 x 512 + 2 x 256) + 2 x 1000 x 256 + 256 */
enum { LLAMA_PARAMS = 2 * (3 * 256 * 256 + 3 * 256 * 512 + 512) + 512000 + 256 };

Test(import_gguf, a_gguf_is_exact_to_the_byte)
{
    struct gguf_file file = gguf_llama("llama");
    struct buffer bytes = gguf_bytes(&file);
    struct import_run run = import_bytes("Tiny-Q4_K_M.gguf", bytes.data, bytes.length);
    cr_assert(run.known, "%s", import_error(&run).message);
    struct result_fixture fixture = import_evaluate_text(run.imported.text);
    cr_assert(diags_count(fixture.diags) == 0, "%s", run.imported.text);
    double params = result_number(&fixture, KIND_MODEL, "tiny-q4_k_m", "params");
    cr_assert(params == LLAMA_PARAMS, "%.0f", params);
    double weights = result_number(&fixture, KIND_MODEL, "tiny-q4_k_m", "weight_bytes");
    cr_assert(weights == (double)file.bytes, "%.17g, not %llu:\n%s", weights, (unsigned long long)file.bytes,
              run.imported.text);
    cr_assert(result_number(&fixture, KIND_MODEL, "tiny-q4_k_m", "kv_bytes_per_token") == 2 * 2 * 128 * 2);
    result_close(&fixture);
    import_close(&run);
}

/* A tensor of experts: one more dimension. */
static void put_experts(struct gguf_file *file, const char *name, unsigned type, uint64_t columns,
                        uint64_t rows, uint64_t experts)
{
    put_text(&file->tensors, name);
    import_add_whole(&file->tensors, 3, 4);
    import_add_whole(&file->tensors, columns, 8);
    import_add_whole(&file->tensors, rows, 8);
    import_add_whole(&file->tensors, experts, 8);
    import_add_whole(&file->tensors, type, 4);
    import_add_whole(&file->tensors, file->bytes, 8);
    /* 17 bytes for 32 values of mxfp4, 34 of q8_0 */
    file->bytes += columns * rows * experts / 32 * (type == MXFP4 ? 17 : 34);
    file->tensor_count++;
}

static const char *key(const char *architecture, const char *name)
{
    return arena_printf(arena, "%s.%s", architecture, name);
}

static void expect_gguf(const struct gguf_file *file, double params, double cache)
{
    struct buffer bytes = gguf_bytes(file);
    struct import_run run = import_bytes("whole.gguf", bytes.data, bytes.length);
    cr_assert(run.known, "%s", import_error(&run).message);
    struct result_fixture fixture = import_evaluate_text(run.imported.text);
    cr_assert(diags_count(fixture.diags) == 0, "%s", run.imported.text);
    double counted = result_number(&fixture, KIND_MODEL, "whole", "params");
    double weights = result_number(&fixture, KIND_MODEL, "whole", "weight_bytes");
    cr_assert(counted == params, "%.0f, not %.0f", counted, params);
    cr_assert(weights == (double)file->bytes, "%.17g, not %llu", weights, (unsigned long long)file->bytes);
    cr_assert(result_number(&fixture, KIND_MODEL, "whole", "kv_bytes_per_token") == cache);
    result_close(&fixture);
    import_close(&run);
}

/* gpt-oss-20b: 20,914,757,184 parameters (Hugging Face Hub); 12 of 24 layers keep all keys and values. */
Test(import_gguf, a_gguf_with_experts_and_biases_has_its_published_total)
{
    struct gguf_file file = {.values = buffer_in(arena), .tensors = buffer_in(arena)};
    static const struct {
        const char *name;
        uint32_t value;
    } values[] = {{"block_count", 24},
                  {"embedding_length", 2880},
                  {"attention.head_count", 64},
                  {"attention.head_count_kv", 8},
                  {"attention.key_length", 64},
                  {"attention.value_length", 64},
                  {"attention.sliding_window", 128},
                  {"expert_used_count", 4}};
    static const struct {
        const char *name;
        unsigned type;
        uint64_t columns, rows, experts;
    } tensors[] = {{"attn_norm.weight", F32, 2880, 0, 0},    {"post_attention_norm.weight", F32, 2880, 0, 0},
                   {"attn_sinks.weight", F32, 64, 0, 0},     {"attn_q.weight", Q8_0, 2880, 4096, 1},
                   {"attn_q.bias", F32, 4096, 0, 0},         {"attn_k.weight", Q8_0, 2880, 512, 1},
                   {"attn_k.bias", F32, 512, 0, 0},          {"attn_v.weight", Q8_0, 2880, 512, 1},
                   {"attn_v.bias", F32, 512, 0, 0},          {"attn_output.weight", Q8_0, 4096, 2880, 1},
                   {"attn_output.bias", F32, 2880, 0, 0},    {"ffn_gate_inp.weight", F32, 2880, 32, 0},
                   {"ffn_gate_inp.bias", F32, 32, 0, 0},     {"ffn_gate_exps.weight", MXFP4, 2880, 2880, 32},
                   {"ffn_gate_exps.bias", F32, 2880, 32, 0}, {"ffn_up_exps.weight", MXFP4, 2880, 2880, 32},
                   {"ffn_up_exps.bias", F32, 2880, 32, 0},   {"ffn_down_exps.weight", MXFP4, 2880, 2880, 32},
                   {"ffn_down_exps.bias", F32, 2880, 32, 0}};
    put_word(&file, "general.architecture", "gpt-oss");
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        put_number(&file, key("gpt-oss", values[i].name), values[i].value);
    put_experts(&file, "token_embd.weight", Q8_0, 2880, 201088, 1);
    put_experts(&file, "output.weight", Q8_0, 2880, 201088, 1);
    put_tensor(&file, "output_norm.weight", F32, 2880, 0);
    for (int i = 0; i < 24; i++)
        for (size_t k = 0; k < sizeof tensors / sizeof tensors[0]; k++) {
            const char *name = arena_printf(arena, "blk.%d.%s", i, tensors[k].name);
            if (tensors[k].experts)
                put_experts(&file, name, tensors[k].type, tensors[k].columns, tensors[k].rows,
                            tensors[k].experts);
            else
                put_tensor(&file, name, tensors[k].type, tensors[k].columns, tensors[k].rows);
        }
    expect_gguf(&file, 20914757184, 12 * 2 * 8 * 64 * 2);
    struct buffer bytes = gguf_bytes(&file);
    struct import_run run = import_bytes("whole.gguf", bytes.data, bytes.length);
    cr_assert(run.known && strstr(run.imported.text, "expert_spread = 0.77"), "%s", run.imported.text);
    import_close(&run);
}

/* DeepSeek-V2-Lite: 15,706,484,224 parameters (Hugging Face Hub), 576 values of cache in each of 27 layers.
 * Files of 2025 on store the compressed keys and values apart and state sizes twice. */
static struct gguf_file gguf_latent(bool apart)
{
    struct gguf_file file = {.values = buffer_in(arena), .tensors = buffer_in(arena)};
    put_word(&file, "general.architecture", "deepseek2");
    put_number(&file, "deepseek2.block_count", 27);
    put_number(&file, "deepseek2.embedding_length", 2048);
    put_number(&file, "deepseek2.attention.head_count", 16);
    put_number(&file, "deepseek2.attention.head_count_kv", apart ? 1 : 16);
    put_number(&file, "deepseek2.attention.kv_lora_rank", 512);
    put_number(&file, "deepseek2.rope.dimension_count", 64);
    put_number(&file, "deepseek2.attention.key_length", apart ? 576 : 192);
    put_number(&file, "deepseek2.attention.value_length", apart ? 512 : 128);
    if (apart) {
        put_number(&file, "deepseek2.attention.key_length_mla", 192);
        put_number(&file, "deepseek2.attention.value_length_mla", 128);
    }
    put_number(&file, "deepseek2.expert_used_count", 6);
    put_experts(&file, "token_embd.weight", Q8_0, 2048, 102400, 1);
    put_experts(&file, "output.weight", Q8_0, 2048, 102400, 1);
    put_tensor(&file, "output_norm.weight", F32, 2048, 0);
    for (int i = 0; i < 27; i++) {
        const char *block = arena_printf(arena, "blk.%d", i);
        put_tensor(&file, key(block, "attn_norm.weight"), F32, 2048, 0);
        put_tensor(&file, key(block, "ffn_norm.weight"), F32, 2048, 0);
        put_tensor(&file, key(block, "attn_kv_a_norm.weight"), F32, 512, 0);
        put_experts(&file, key(block, "attn_q.weight"), Q8_0, 2048, 16 * 192, 1);
        put_experts(&file, key(block, "attn_kv_a_mqa.weight"), Q8_0, 2048, 576, 1);
        put_experts(&file, key(block, "attn_output.weight"), Q8_0, 2048, 2048, 1);
        if (apart) {
            put_experts(&file, key(block, "attn_k_b.weight"), Q8_0, 128, 512, 16);
            put_experts(&file, key(block, "attn_v_b.weight"), Q8_0, 512, 128, 16);
        } else {
            put_experts(&file, key(block, "attn_kv_b.weight"), Q8_0, 512, 16 * 256, 1);
        }
        if (i > 0)
            put_tensor(&file, key(block, "ffn_gate_inp.weight"), F32, 2048, 64);
        static const char *const parts[] = {"gate", "up", "down"};
        for (size_t k = 0; k < 3; k++) {
            uint64_t dense = 10944, expert = 1408, shared = 2816;
            bool down = k == 2;
            if (i == 0) {
                put_experts(&file, arena_printf(arena, "%s.ffn_%s.weight", block, parts[k]), Q8_0,
                            down ? dense : 2048, down ? 2048 : dense, 1);
                continue;
            }
            put_experts(&file, arena_printf(arena, "%s.ffn_%s_exps.weight", block, parts[k]), Q8_0,
                        down ? expert : 2048, down ? 2048 : expert, 64);
            put_experts(&file, arena_printf(arena, "%s.ffn_%s_shexp.weight", block, parts[k]), Q8_0,
                        down ? shared : 2048, down ? 2048 : shared, 1);
        }
    }
    return file;
}

Test(import_gguf, a_gguf_with_latent_attention_has_its_published_total)
{
    struct gguf_file old = gguf_latent(false), apart = gguf_latent(true);
    expect_gguf(&old, 15706484224, 27 * 576 * 2);
    expect_gguf(&apart, 15706484224, 27 * 576 * 2);
}

/* llama.cpp ignores a window in a llama; in a gemma2 it holds for every other layer. */
Test(import_gguf, windows_are_those_of_llama_cpp)
{
    struct gguf_file file = gguf_llama("gemma2");
    struct buffer bytes = gguf_bytes(&file);
    struct import_run run = import_bytes("g.gguf", bytes.data, bytes.length);
    cr_assert(run.known, "%s", import_error(&run).message);
    cr_assert_not_null(strstr(run.imported.text, "block local  { count = 1   window = 512 }"), "%s",
                       run.imported.text);
    import_close(&run);
    file = gguf_llama("llama");
    bytes = gguf_bytes(&file);
    run = import_bytes("g.gguf", bytes.data, bytes.length);
    cr_assert_null(strstr(run.imported.text, "window ="), "%s", run.imported.text);
    import_close(&run);
}

Test(import_gguf, an_unknown_gguf_architecture_is_named)
{
    struct gguf_file file = gguf_llama("rwkv7");
    struct buffer bytes = gguf_bytes(&file);
    struct import_run run = import_bytes("g.gguf", bytes.data, bytes.length);
    cr_assert(!run.known && strcmp(import_error(&run).code, "E0406") == 0);
    cr_assert_not_null(strstr(import_error(&run).message, "`general.architecture` is `rwkv7`"));
    import_close(&run);
}

/* Every prefix of a good header is refused, and none reads beyond its end. */
Test(import_gguf, a_truncated_gguf_is_refused_wherever_it_ends)
{
    struct gguf_file file = gguf_llama("llama");
    struct buffer bytes = gguf_bytes(&file);
    for (size_t length = 0; length < bytes.length; length++) {
        struct import_run run = import_bytes("g.gguf", arena_strndup(arena, bytes.data, length), length);
        cr_assert(!run.known && strcmp(import_error(&run).code, "E0405") == 0, "%zu bytes: %s", length,
                  import_error(&run).message);
        import_close(&run);
    }
}

static void expect_hostile(void (*spoil)(struct buffer *bytes), const char *words)
{
    struct gguf_file file = gguf_llama("llama");
    struct buffer bytes = gguf_bytes(&file);
    spoil(&bytes);
    import_expect_malformed("g.gguf", &bytes, words);
}

static void spoil_version(struct buffer *bytes)
{
    bytes->data[4] = 1;
}

static void spoil_order(struct buffer *bytes)
{
    memcpy(bytes->data + 4, "\0\0\0\3", 4);
}

static void spoil_tensor_count(struct buffer *bytes)
{
    memset(bytes->data + 8, 0xff, 8);
}

static void spoil_value_count(struct buffer *bytes)
{
    memcpy(bytes->data + 16, "\xff\xff\0\0", 4);
}

static void spoil_key_length(struct buffer *bytes)
{
    memset(bytes->data + 24, 0x7f, 8);
}

/* The first value becomes a list of a list of ... */
static void spoil_nesting(struct buffer *bytes)
{
    bytes->length = 24;
    put_text(bytes, "k");
    import_add_whole(bytes, 9, 4);
    for (int i = 0; i < 1000; i++) {
        import_add_whole(bytes, 9, 4);
        import_add_whole(bytes, 1, 8);
    }
}

static void spoil_list_length(struct buffer *bytes)
{
    bytes->length = 24;
    put_text(bytes, "k");
    import_add_whole(bytes, 9, 4);
    import_add_whole(bytes, 10, 4);
    import_add_whole(bytes, UINT64_MAX / 8, 8);
    buffer_repeat(bytes, "        ", 200);
}

Test(import_gguf, hostile_ggufs_are_refused)
{
    expect_hostile(spoil_version, "versions 2 and 3");
    expect_hostile(spoil_order, "big-endian");
    expect_hostile(spoil_tensor_count, "more tensors");
    expect_hostile(spoil_value_count, "more tensors or values");
    expect_hostile(spoil_key_length, "value 0");
    expect_hostile(spoil_nesting, "value 0");
    expect_hostile(spoil_list_length, "value 0");
}
