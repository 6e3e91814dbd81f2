/* test_model_memory.c: cache and weights against what engines logged (facts/field_cases.md, by number) and
 * against arithmetic by hand. */
#include <criterion/criterion.h>
#include <math.h>

#include "model_fixture.h"

static const double GIB = 1073741824.0, MIB = 1048576.0;

static struct pm_block grouped(double count, double heads, double kv_heads, double head_dim)
{
    return (struct pm_block){.count = count,
                             .attention = PM_ATTENTION_GROUPED,
                             .heads = heads,
                             .kv_heads = kv_heads,
                             .head_dim = head_dim,
                             .v_dim = head_dim};
}

static double kv(const struct pm_block *blocks, size_t count, double bits, double tokens, double tp)
{
    struct fixture_model model = {0};
    for (size_t i = 0; i < count; i++) {
        model.blocks[i] = blocks[i];
    }
    fixture_connect(&model, count);
    model.model.kv_format.bits = bits;
    return pm_kv_bytes(&model.model, tokens, tp);
}

static void near(const char *what, double value, double expected, double tolerance)
{
    cr_expect(fabs(value - expected) <= tolerance, "%s: %.17g, expected %.17g", what, value, expected);
}

/* Grouped, multi-head and multi-query caches. Engines print GiB to two decimals or blocks of 16 tokens. */
Test(model_memory, logged_caches)
{
    struct pm_block llama_8b = grouped(32, 32, 8, 128), mixtral = grouped(32, 32, 8, 128);
    struct pm_block qwen_30b = grouped(48, 32, 4, 128), qwen_14b = grouped(48, 40, 8, 128);
    struct pm_block phi_4 = grouped(40, 40, 10, 128), llama_13b = grouped(40, 40, 40, 128);
    struct pm_block llama_7b = grouped(32, 32, 32, 128), llama_30b = grouped(60, 52, 52, 128);
    struct pm_block qwen_235b = grouped(94, 64, 4, 128), gpt_2 = grouped(12, 12, 12, 64);
    near("1: 1952 blocks", kv(&llama_8b, 1, 16, 1952 * 16, 1), 3.8125 * GIB, 0);
    near("12: 131072 tokens", kv(&llama_8b, 1, 16, 131072, 1), 16 * GIB, 0);
    near("6: per rank", kv(&qwen_14b, 1, 16, 1, 2), 98304, 0);
    near("10: fp8 cache", kv(&qwen_30b, 1, 8, 221000, 1), 10.12 * GIB, 0.005 * GIB);
    near("17: tp 2", kv(&mixtral, 1, 16, 6487 * 16, 2), 6.3350 * GIB, 5e-5 * GIB);
    near("22: 14815 blocks", kv(&phi_4, 1, 16, 14815 * 16, 1), 45.21 * GIB, 0.005 * GIB);
    near("38: 865 blocks", kv(&llama_13b, 1, 16, 13840, 1), 10.5591 * GIB, 5e-5 * GIB);
    near("40: int8 weights, fp16 cache", kv(&llama_7b, 1, 16, 132608, 1), 69524783104.0, 0);
    near("46: keys of GPT-2", kv(&gpt_2, 1, 16, 248479, 1) / 2, 4.27 * GIB, 0.005 * GIB);
    near("65: 4096 tokens", kv(&llama_7b, 1, 16, 4096, 1), 2048 * MIB, 0);
    near("67: 32-bit cache", kv(&llama_30b, 1, 32, 512, 1), 1560 * MIB, 0);
    near("68: q8_0 cache", kv(&qwen_235b, 1, 8.5, 16384, 1), 1598 * MIB, 0);
}

/* MLA keeps rank and rope once, on every GPU of a group. */
Test(model_memory, latent_caches)
{
    struct pm_block deepseek = {.count = 61,
                                .attention = PM_ATTENTION_LATENT,
                                .heads = 128,
                                .q_rank = 1536,
                                .kv_rank = 512,
                                .nope_dim = 128,
                                .rope_dim = 64,
                                .v_dim = 128};
    near("70: f16", kv(&deepseek, 1, 16, 32768, 1), 2196 * MIB, 0);
    near("71: q8_0", kv(&deepseek, 1, 8.5, 32768, 1), 1166.625 * MIB, 0);
    near("72: 8192 tokens", kv(&deepseek, 1, 16, 8192, 1), 549 * MIB, 0);
    near("51: on every rank", kv(&deepseek, 1, 16, 1, 16), 70272, 0);
    near("fp8 with scales: 656 bytes", kv(&deepseek, 1, 8.0 * 656 / 576, 1000, 1), 61 * 656 * 1000.0, 1e-3);
    /* calibration.md section 9: 128 bytes of key and a 4-byte scale besides */
    deepseek.index_heads = 64, deepseek.index_dim = 128, deepseek.index_top = 2048;
    near("sparse index", kv(&deepseek, 1, 16, 10000, 8), 10000 * (70272 + 61 * 132.0), 0);
}

Test(model_memory, windows)
{
    struct pm_block gemma[] = {grouped(50, 32, 16, 256), grouped(10, 32, 4, 512)};
    near("15: all full", kv(gemma, 2, 16, 262144, 1), 220 * GIB, 0);
    gemma[0].window = 1024;
    near("15: window honoured", kv(gemma, 2, 16, 262144, 1), 20.78125 * GIB, 0);
    near("15: shorter than the window", kv(gemma, 2, 16, 1000, 1), 901120.0 * 1000, 0);
    struct pm_block gpt_oss[] = {grouped(12, 64, 8, 64), grouped(12, 64, 8, 64)};
    gpt_oss[1].window = 128;
    near("gpt-oss-20b, fp8", kv(gpt_oss, 2, 8, 131072, 1), 1.5015 * GIB, 5e-5 * GIB);
    gpt_oss[1].window = 0, gpt_oss[1].chunk = 8192;
    near("chunks", kv(gpt_oss, 2, 8, 131072, 1), 12288.0 * (131072 + 8192), 0);
}

/* Heads replicate beyond their number, and round up where tp does not divide them. */
Test(model_memory, heads_per_gpu)
{
    struct pm_block eight = grouped(1, 64, 8, 128), ten = grouped(1, 40, 10, 128);
    near("8 over 4", kv(&eight, 1, 16, 1, 4), 2.0 * 2 * 128 * 2, 0);
    near("8 over 16", kv(&eight, 1, 16, 1, 16), 1.0 * 2 * 128 * 2, 0);
    near("10 over 4", kv(&ten, 1, 16, 1, 4), 3.0 * 2 * 128 * 2, 0);
    eight.shared_kv = true;
    /* normalised in two ways, keys turned as well: a load log of Gemma 4 has 2 x 4 x 512 x 2 B a layer */
    near("keys that are values", kv(&eight, 1, 16, 1, 1), 8.0 * 2 * 128 * 2, 0);
    eight.shared_kv = false, eight.reuses_kv = true;
    near("those of another block", kv(&eight, 1, 16, 1, 1), 0, 0);
    eight.reuses_kv = false, eight.head_dim = 192;
    near("values of another size", kv(&eight, 1, 16, 1, 1), 8.0 * (192 + 128) * 2, 0);
}

/* Qwen3.5-397B: 45 blocks of 64 * 128 * 128 32-bit values and (2 * 2048 + 8192) * 3 of 16 bits. */
Test(model_memory, states)
{
    struct pm_block linear = {.count = 45,
                              .attention = PM_ATTENTION_LINEAR,
                              .linear_key_heads = 16,
                              .linear_value_heads = 64,
                              .linear_key_dim = 128,
                              .linear_value_dim = 128,
                              .conv_kernel = 4};
    near("delta net", kv(&linear, 1, 16, 1e6, 1), 45 * (4194304.0 + 73728), 0);
    near("delta net over 4", kv(&linear, 1, 16, 1e6, 4), 45 * (4194304.0 + 73728) / 4, 0);
    struct pm_block mamba = {.count = 40,
                             .attention = PM_ATTENTION_MAMBA,
                             .ssm_heads = 128,
                             .ssm_head_dim = 64,
                             .ssm_groups = 8,
                             .ssm_state = 128,
                             .conv_kernel = 4};
    /* and the last three inputs of its convolution, over 8192 inputs and 8 groups of 128 for B and for C */
    near("Mamba-2", kv(&mamba, 1, 16, 7, 1), 40 * (128.0 * 64 * 128 * 4 + 10240 * 3 * 2), 0);
    mamba.state_bytes = 1000;
    near("declared", kv(&mamba, 1, 16, 7, 1), 40000, 0);
}

/* ---- a whole GPU ---------------------------------------------------------------------------- */

struct whole {
    struct fixture_model model;
    struct pm_gpu gpu;
    struct pm_engine engine;
    struct pm_case input;
};

/* Llama-3.1-8B on a card of 80 GiB, everything usable, no overhead, static steps. */
static void set_up(struct whole *whole)
{
    *whole = (struct whole){.gpu = {.memory = 80 * 1073741824.0, .bandwidth = 1e12}};
    whole->gpu.peak[PM_BF16] = 1e14;
    whole->model.model = (struct pm_model){.hidden = 4096, .vocab = 128256, .final_norms = 1};
    whole->model.blocks[0] = grouped(32, 32, 8, 128);
    whole->model.blocks[0].ffn = 14336, whole->model.blocks[0].ffn_gated = true,
    whole->model.blocks[0].norms = 2;
    fixture_formats(&whole->model, &fixture_bf16);
    fixture_connect(&whole->model, 1);
    fixture_ideal(&whole->engine);
    whole->input = fixture_case(&whole->model.model, &whole->gpu, &whole->engine);
    whole->input.static_step = true;
}

static struct pm_memory memory_of(const struct whole *whole)
{
    struct pm_memory memory;
    pm_memory_of(&whole->input, &memory);
    return memory;
}

/* Field cases 1, 5 and 7: 2 bytes a parameter; norms are on every rank. */
Test(model_memory, weights_split)
{
    struct whole whole;
    set_up(&whole);
    near("1: all", memory_of(&whole).weights, 8030261248.0 * 2, 0);
    whole.input.tp = 2;
    near("5: per rank", memory_of(&whole).weights, 8030261248.0 + 65 * 4096, 0);
    near("5: in GiB, less the RoPE table", memory_of(&whole).weights / GIB, 7.48, 0.005);
    /* tp 16: two ranks share a key/value head: 32 blocks keep 4096 * 128 * 2 in place of half of it */
    whole.input.tp = 16;
    double norms = 65 * 4096, key_value = 32 * 4096.0 * 1024 * 2;
    near("replicated heads", memory_of(&whole).weights,
         2 * ((8030261248.0 - norms - key_value) / 16 + norms + key_value / 8), 0);
}

/* Field case 3: 8-bit matrices, everything else 16-bit; 0.0563 GiB of scales and RoPE table aside. */
Test(model_memory, classes_keep_their_format)
{
    struct whole whole;
    set_up(&whole);
    whole.model.model.hidden = 8192;
    whole.model.blocks[0] = grouped(80, 64, 8, 128);
    whole.model.blocks[0].ffn = 28672, whole.model.blocks[0].ffn_gated = true,
    whole.model.blocks[0].norms = 2;
    fixture_formats(&whole.model, &fixture_int8);
    struct pm_memory memory = memory_of(&whole);
    near("70B w8a8", memory.weights, 68451041280.0 + 2 * 2102665216.0, 0);
    near("embedding", memory.weights_by_class[0], 2 * 128256.0 * 8192, 0);
    near("head", memory.weights_by_class[8], 2 * 128256.0 * 8192, 0);
}

/* Field case 32: Qwen3-30B-A3B over two, router and norms whole on each. */
Test(model_memory, experts_split)
{
    struct whole whole;
    set_up(&whole);
    whole.model.model = (struct pm_model){.hidden = 2048, .vocab = 151936, .final_norms = 1};
    whole.model.blocks[0] = grouped(48, 32, 4, 128);
    whole.model.blocks[0].qk_norm = PM_QK_NORM_HEAD, whole.model.blocks[0].norms = 2;
    whole.model.blocks[0].ffn_gated = true;
    whole.model.blocks[0].experts = 128, whole.model.blocks[0].active_experts = 8;
    whole.model.blocks[0].expert_ffn = 768;
    fixture_formats(&whole.model, &fixture_bf16);
    fixture_connect(&whole.model, 1);
    whole.input.tp = 2;
    double replicated = 48 * 2048.0 * 128 + 97 * 2048 + 48 * 256;
    near("tp 2", memory_of(&whole).weights, 30532122624.0 + replicated, 0);
    near("logged, without the RoPE table", memory_of(&whole).weights / GIB, 28.4767, 0.03);
    /* Of 128 experts the fullest of 3 GPUs holds 43; one expert is 3 * 2048 * 768. */
    whole.input.tp = 3, whole.input.ep = 3;
    near("ceil(128 / 3)", memory_of(&whole).weights_by_class[4], 48 * 43.0 * 3 * 2048 * 768 * 2, 0);
    /* Replicas of attention keep all of it, and share the experts. */
    whole.input.tp = 1, whole.input.dp = 4, whole.input.ep = 4;
    near("dp 4: experts", memory_of(&whole).weights_by_class[4], 48 * 32.0 * 3 * 2048 * 768 * 2, 0);
    near("dp 4: embedding", memory_of(&whole).weights_by_class[0], 2.0 * 151936 * 2048, 0);
}

/* Stages: ceil(32/3) = 11 blocks, and one end of the model; 218,112,000 parameters a block. */
Test(model_memory, stages)
{
    struct whole whole;
    set_up(&whole);
    whole.input.pp = 3;
    whole.input.context = 1000;
    struct pm_memory memory = memory_of(&whole);
    near("weights", memory.weights, 2 * (11 * (218103808.0 + 8192) + 525336576.0 + 4096), 1);
    near("cache", memory.kv_per_sequence, 1000 * 131072.0 * 11 / 32, 1e-6);
}

Test(model_memory, ends)
{
    struct whole whole;
    set_up(&whole);
    double table = 2.0 * 128256 * 4096, rest = memory_of(&whole).weights - 2 * table;
    whole.model.model.tied_embeddings = true;
    near("tied", memory_of(&whole).weights, rest + table, 0);
    whole.engine.embedding_on_host = true;
    near("tied, on the host: the head stays", memory_of(&whole).weights, rest + table, 0);
    whole.model.model.tied_embeddings = false;
    near("on the host", memory_of(&whole).weights, rest + table, 0);
    whole.engine.embedding_on_host = false, whole.model.model.tied_embeddings = true;
    whole.model.model.head_format = fixture_int8;
    near("a quantised head is a copy", memory_of(&whole).weights, rest + 1.5 * table, 0);
    /* 7 does not divide 128256: padded to a multiple of 64 * 7, 448 * 287 = 128576 */
    whole.model.model.head_format = fixture_bf16, whole.input.tp = 7;
    near("padded", memory_of(&whole).weights_by_class[0], 2.0 * 128576 / 7 * 4096, 1e-6);
}

/* 2 * (3 * 4096 + 3 * 14336) = 108 KiB a token (a log says 107), and 4 bytes a logit. */
Test(model_memory, activations)
{
    struct whole whole;
    set_up(&whole);
    whole.engine.activations_in_overhead = false;
    whole.input.prompt = 20000, whole.input.batch = 3;
    near("whole prompt", memory_of(&whole).activations, 20000 * 110592.0 + 3 * 128256 * 4.0, 0);
    whole.engine.chunk = 8192;
    near("a chunk", memory_of(&whole).activations, 8192 * 110592.0 + 3 * 128256 * 4.0, 0);
    whole.engine.activations_in_overhead = true, whole.engine.overhead = 3e9;
    near("in the overhead", memory_of(&whole).activations, 0, 0);
    near("which is all of it", memory_of(&whole).overhead, 3e9, 0);
}

Test(model_memory, pages)
{
    struct whole whole;
    set_up(&whole);
    whole.engine.page = 16;
    whole.input.context = 1001;
    near("63 pages", memory_of(&whole).kv_per_sequence, 63 * 16 * 131072.0, 0);
    whole.model.blocks[0].window = 5;
    near("a window in one page", memory_of(&whole).kv_per_sequence, 16 * 131072.0, 0);
    whole.model.blocks[0].window = 0;
    /* pool = 80 GiB - 2 * 8030261248 = 69838823424 B = 532828.5 tokens: 33301 pages */
    near("pool", memory_of(&whole).pool, 69838823424.0, 0);
    near("tokens", memory_of(&whole).kv_tokens, 33301 * 16.0, 0);
    near("batch", memory_of(&whole).max_batch, 528, 0); /* 33301 / 63 = 528.6 */
    whole.input.batch = 100;
    near("context", memory_of(&whole).max_context, 333 * 16.0, 0);
    cr_expect_eq(memory_of(&whole).max_context_limit, PM_LIMIT_MEMORY);
    whole.model.model.max_context = 4096;
    near("the model's own", memory_of(&whole).max_context, 4096, 0);
    cr_expect_eq(memory_of(&whole).max_context_limit, PM_LIMIT_MODEL);
}

/* Field case 6: weights of one card from one card. The engine's cap is on the whole card. */
Test(model_memory, utilization_caps_the_card)
{
    struct whole whole;
    set_up(&whole);
    whole.engine.utilization = 0.9, whole.engine.overhead = 1e9;
    near("engine", memory_of(&whole).pool, 0.9 * 80 * GIB - 16060522496.0 - 1e9, 1e-5);
    whole.input.utilization = 0.5;
    near("scenario", memory_of(&whole).pool, 0.5 * 80 * GIB - 16060522496.0 - 1e9, 1e-5);
}

/* A closed loop holds what fits and lets the rest wait; a static step has to hold all. */
Test(model_memory, loop_and_step)
{
    struct whole whole;
    set_up(&whole);
    whole.input.static_step = false;
    whole.input.prompt = 9000, whole.input.output = 1000, whole.input.batch = 100;
    struct pm_memory memory = memory_of(&whole); /* 532828 / 10000 = 53 */
    near("most", memory.max_batch, 53, 0);
    near("held", memory.kv, 53 * 10000 * 131072.0, 0);
    cr_expect(memory.fits);
    whole.input.static_step = true, whole.input.context = 10000;
    memory = memory_of(&whole);
    cr_expect_not(memory.fits);
    near("missing", memory.shortfall, 100 * 10000 * 131072.0 - memory.pool, 0);
    whole.gpu.memory = 16e9;
    whole.input.static_step = false, whole.input.context = 0;
    memory = memory_of(&whole);
    cr_expect_not(memory.fits);
    near("not even the weights", memory.pool, 16e9 - 16060522496.0, 0);
    near("nor one sequence", memory.max_batch, 0, 0);
}

/* Drafts and their cache are resident; prediction layers only when speculation uses them. */
Test(model_memory, speculation)
{
    struct whole whole, draft;
    set_up(&whole);
    set_up(&draft);
    double alone = memory_of(&whole).weights;
    whole.model.model.mtp_params = 1e9;
    near("unused", memory_of(&whole).weights, alone, 0);
    whole.input.draft_tokens = 3;
    near("used", memory_of(&whole).weights, alone + 2e9, 0);
    whole.input.draft_model = &draft.model.model;
    whole.input.context = 1000;
    near("a draft model", memory_of(&whole).weights, 2 * alone, 0);
    near("its cache, and room for the drafts", memory_of(&whole).kv_per_sequence, 2 * 1003 * 131072.0, 0);
}

/* ---- as engines lay it out ------------------------------------------------------------------ */

/* edges.md: the prefix is stored once. 1000 of 2000 tokens, 62 whole pages of 16 in common: 992 tokens. */
Test(model_memory, shared_prefix_is_stored_once)
{
    struct whole whole;
    set_up(&whole);
    whole.engine.page = 16;
    whole.input.context = 2000, whole.input.prompt = 2000, whole.input.batch = 10;
    near("none", memory_of(&whole).kv, 10 * 2000 * 131072.0, 0);
    whole.input.cached_prefix = 1000;
    near("shared", memory_of(&whole).kv_shared, 992 * 131072.0, 0);
    near("stored", memory_of(&whole).kv, (992 + 10 * 1008) * 131072.0, 0);
    /* pool 69838823424 B = 532828.5 tokens: (532828.5 - 992) / 1008 = 527.6 */
    near("batch", memory_of(&whole).max_batch, 527, 0);
    /* 992 + 10 (t - 992) <= 532828.5: t <= 54175.6, in whole pages 54160 */
    near("context", memory_of(&whole).max_context, 54160, 0);
    /* A window forgets the prefix, so nothing of it is shared. */
    whole.model.blocks[0].window = 512;
    near("windowed", memory_of(&whole).kv_shared, 0, 0);
}

/* Field case 34, tensor by tensor: 31.5, 24.5, 259 and 129.5 MiB a block round to 32, 24.5, 260 and 130;
 * 1039.5 MiB twice to 1040. 7,615,616,512 parameters; RoPE table 32768 * 128 * 2 B = 8 MiB. */
Test(model_memory, weights_as_an_allocator_lays_them_out)
{
    struct whole whole;
    set_up(&whole);
    whole.model.model =
        (struct pm_model){.hidden = 3584, .vocab = 152064, .final_norms = 1, .max_context = 32768};
    whole.model.blocks[0] = grouped(28, 28, 4, 128);
    whole.model.blocks[0].qkv_bias = true, whole.model.blocks[0].norms = 2;
    whole.model.blocks[0].ffn = 18944, whole.model.blocks[0].ffn_gated = true;
    whole.model.blocks[0].rotary_dim = 128;
    fixture_formats(&whole.model, &fixture_bf16);
    fixture_connect(&whole.model, 1);
    near("tensors", memory_of(&whole).weights, 7615616512.0 * 2, 0);
    whole.engine.allocator_block = 2 * MIB;
    near("rounding", memory_of(&whole).allocator_slack, (28 * 2 + 1) * MIB, 0);
    whole.engine.rope_table = true;
    near("table", memory_of(&whole).rope_table, 8 * MIB, 0);
    near("34: logged", memory_of(&whole).weights / GIB, 14.2488, 2e-4);
    /* At tp 2, 15.75 and 129.5 MiB round to 16 and 130, 12.25 and 64.75 do not (1.75 and 1.25 over): 0.75 MiB
     * a block. Half of 1039.5 MiB rounds to 520. */
    whole.input.tp = 2;
    near("two ranks", memory_of(&whole).allocator_slack, (28 * 0.75 + 2 * 0.25) * MIB, 0);
}

/* Field case 58: Qwen3.8-27B on two cards, 8-bit cache: a state of 48 * 128 * 128 / 2 32-bit values and
 * (2 * 2048 + 6144) * 3 / 2 of 16 bits is 1,603,584 bytes; 1024 bytes of keys and values a token, so a page
 * has 1568 tokens. 16 blocks to a group: 84 pages of attention for 131,072 tokens and two for each of three
 * groups of states make 90; 4.99 GiB hold 208. */
Test(model_memory, pages_that_states_share)
{
    struct whole whole;
    set_up(&whole);
    struct pm_block full = grouped(16, 24, 4, 256), linear = {.count = 48,
                                                              .attention = PM_ATTENTION_LINEAR,
                                                              .linear_key_heads = 16,
                                                              .linear_value_heads = 48,
                                                              .linear_key_dim = 128,
                                                              .linear_value_dim = 128,
                                                              .conv_kernel = 4};
    whole.model.model = (struct pm_model){.hidden = 64};
    whole.model.blocks[0] = full, whole.model.blocks[1] = linear;
    fixture_formats(&whole.model, &fixture_bf16);
    fixture_connect(&whole.model, 2);
    whole.model.model.kv_format.bits = 8;
    whole.engine.unified_pages = true, whole.engine.state_pages = 2, whole.engine.page = 16;
    whole.input.tp = 2, whole.input.context = 131072;
    whole.gpu.memory = memory_of(&whole).weights + 4.99 * GIB;
    struct pm_memory memory = memory_of(&whole);
    near("page", memory.page_tokens, 1568, 0);
    near("request", memory.kv_per_sequence, 90.0 * 16 * 1568 * 1024, 0);
    near("58: logged", memory.kv_tokens, 302921, 0); /* 208 / 90 * 131072 */
    near("batch", memory.max_batch, 2, 0);
    /* Without sharing, a state is no longer than it is. */
    whole.engine.unified_pages = false;
    near("apart", memory_of(&whole).kv_per_sequence, 16 * 1024.0 * 131072 + 48 * 1603584.0, 0);
}

/* gpt-oss-20b: 12 full and 12 windowed blocks in two groups of pages of 16 tokens. A window of 128 and a step
 * of 2048 tokens touch ceil(2175 / 16) + 1 = 137 pages, the full blocks 8192. */
Test(model_memory, pages_that_windows_share)
{
    struct whole whole;
    set_up(&whole);
    whole.model.blocks[0] = grouped(12, 64, 8, 64), whole.model.blocks[1] = grouped(12, 64, 8, 64);
    whole.model.blocks[1].window = 128;
    fixture_formats(&whole.model, &fixture_bf16);
    fixture_connect(&whole.model, 2);
    whole.engine.unified_pages = true, whole.engine.page = 16, whole.engine.chunk = 2048;
    whole.input.context = 131072;
    near("long", memory_of(&whole).kv_per_sequence, (8192 + 137) * 16.0 * 12 * 2048, 0);
    whole.input.context = 100;
    near("short", memory_of(&whole).kv_per_sequence, (7 + 7) * 16.0 * 12 * 2048, 0);
    /* llama.cpp, field case 75: 128 + 512 tokens in cells of 256 make 768. */
    whole.engine.unified_pages = false, whole.engine.page = 256, whole.engine.window_margin = 512;
    whole.input.context = 131072;
    near("cells", memory_of(&whole).kv_per_sequence, 2048.0 * 12 * (131072 + 768), 0);
}

/* A cap on what the driver reports, graphs inside it or beside it, buffers for exchanges, and a cache that
 * takes nine tenths of the rest. 8030261248 parameters of 16 bits. */
Test(model_memory, budget_of_an_engine)
{
    struct whole whole;
    set_up(&whole);
    whole.gpu.driver_memory = 79 * GIB;
    near("all of it", memory_of(&whole).capacity, 80 * GIB, 0);
    whole.engine.cap_on_driver_memory = true, whole.engine.utilization = 0.9;
    near("as reported", memory_of(&whole).usable, 0.9 * 79 * GIB, 1e-5);
    whole.engine.graphs = GIB, whole.engine.communicator = GIB / 2;
    near("graphs beside the cap", memory_of(&whole).usable, 0.9 * 79 * GIB, 1e-5);
    near("one GPU exchanges nothing", memory_of(&whole).overhead, 0, 0);
    whole.engine.graphs_in_cap = true, whole.input.tp = 2;
    near("graphs inside, two GPUs", memory_of(&whole).overhead, 1.5 * GIB, 0);
    whole.engine.graphs_in_cap = false, whole.engine.graphs = 20 * GIB, whole.input.tp = 1;
    near("graphs leave less than the cap", memory_of(&whole).usable, 59 * GIB, 0);
    whole.engine.graphs = 0, whole.engine.cache_share = 0.75, whole.engine.utilization = 1;
    double left = 79 * GIB - 16060522496.0;
    near("pool", memory_of(&whole).pool, 0.75 * left, 1e-4);
    near("reserve", memory_of(&whole).reserve, 0.25 * left, 1e-4);
}

/* Field cases 5 and 7: 256 rows of 128,256 logits of 40 bytes, or a chunk of 40,000 tokens of
 * 2 * (3 * 4096 + 3 * 14336 / 2) bytes, whichever is more. */
Test(model_memory, profiled_activations)
{
    struct whole whole;
    set_up(&whole);
    whole.engine.activations_in_overhead = false;
    whole.engine.profile_rows = 256, whole.engine.profile_row_bytes = 40;
    whole.engine.chunk = 8192, whole.input.tp = 2;
    near("rows", memory_of(&whole).activations, 256 * 128256 * 40.0, 0);
    whole.input.chunk = 40000;
    near("chunk", memory_of(&whole).activations, 40000 * 67584.0, 0);
    near("7: logged", memory_of(&whole).activations / GIB, 2.53, 0.02);
}

/* An index before grouped attention: 5 + 4 bytes per token and block besides 2 * 8 * 128 * 2. */
Test(model_memory, index_before_grouped_attention)
{
    struct pm_block block = grouped(3, 64, 8, 128);
    block.index_heads = 4, block.index_dim = 5;
    near("index", kv(&block, 1, 16, 1000, 1), 3 * 1000 * (4096.0 + 9), 0);
    near("replicated", kv(&block, 1, 16, 1000, 8), 3 * 1000 * (512.0 + 9), 0);
    block.window = 100; /* keys of the index reach further than the window */
    near("windowed", kv(&block, 1, 16, 1000, 1), 3 * (100 * 4096.0 + 1000 * 9), 0);
}

/* A dense feed-forward beside the experts of a block: 3 * 4096 * 1000 and 8 * 3 * 4096 * 500 and the router.
 */
Test(model_memory, dense_beside_experts)
{
    struct whole whole;
    set_up(&whole);
    double without = memory_of(&whole).weights - 32 * 3 * 4096.0 * 14336 * 2;
    whole.model.blocks[0].ffn = 1000;
    whole.model.blocks[0].experts = 8, whole.model.blocks[0].active_experts = 2;
    whole.model.blocks[0].expert_ffn = 500;
    fixture_formats(&whole.model, &fixture_bf16);
    fixture_connect(&whole.model, 1);
    near("weights", memory_of(&whole).weights,
         without + 32 * 2 * (3 * 4096.0 * 1000 + 8 * 3 * 4096.0 * 500 + 4096 * 8), 0);
}

/* Tiles of 256 by 128: 2880 pads to 3072 and 2880 / 2 to 1536, in the matrices of 4-bit experts alone. */
Test(model_memory, padded_experts)
{
    struct whole whole;
    set_up(&whole);
    whole.model.model = (struct pm_model){.hidden = 2880};
    whole.model.blocks[0] = grouped(1, 64, 8, 64);
    whole.model.blocks[0].ffn_gated = true, whole.model.blocks[0].expert_ffn = 2880;
    whole.model.blocks[0].experts = 32, whole.model.blocks[0].active_experts = 4;
    fixture_formats(&whole.model, &fixture_bf16);
    fixture_connect(&whole.model, 1);
    whole.engine.expert_pad_hidden = 256, whole.engine.expert_pad_width = 128;
    whole.input.tp = 2;
    near("16 bits", memory_of(&whole).weights_by_class[4], 32 * 3 * 2880.0 * 1440 * 2, 1e-6);
    whole.model.blocks[0].expert_format.bits = 4.25;
    near("4 bits", memory_of(&whole).weights_by_class[4], 32 * 3 * 3072.0 * 1536 * 4.25 / 8, 1e-6);
}

/* ---- limits are limits ---------------------------------------------------------------------- */

static bool fits_with(const struct whole *whole, double batch, double context)
{
    struct pm_case input = whole->input;
    struct pm_memory memory;
    input.batch = batch, input.context = context;
    pm_memory_of(&input, &memory);
    return memory.fits;
}

static void set_engine(struct whole *whole, unsigned choice)
{
    struct pm_engine *engine = &whole->engine;
    engine->page = choice & 1 ? 16 : 1;
    engine->unified_pages = choice & 2;
    engine->state_pages = 2;
    engine->activations_in_overhead = choice & 4;
    engine->profile_rows = choice & 8 ? 256 : 0;
    engine->profile_row_bytes = 20;
    engine->graphs = 1e9, engine->graphs_in_cap = choice & 16;
    engine->cache_share = choice & 32 ? 0.9 : 0;
    engine->window_margin = choice & 64 ? 512 : 0;
    engine->allocator_block = engine->page > 1 ? 2 * MIB : 0;
    engine->rope_table = choice & 8;
    whole->input.prompt = whole->input.cached_prefix = choice & 128 ? 100 : 0;
    whole->input.tp = choice & 1 ? 2 : 1;
}

/* The largest batch fits and one more does not, and so with the longest context, whatever the engine does. */
Test(model_memory, limits_are_the_last_that_fit)
{
    struct pm_block linear = {.count = 6,
                              .attention = PM_ATTENTION_LINEAR,
                              .linear_key_heads = 16,
                              .linear_value_heads = 32,
                              .linear_key_dim = 128,
                              .linear_value_dim = 128,
                              .conv_kernel = 4};
    for (unsigned kind = 0; kind < 3; kind++) {
        for (unsigned choice = 0; choice < 256; choice++) {
            struct whole whole;
            set_up(&whole);
            whole.gpu.memory = 20 * GIB;
            whole.model.blocks[1] = whole.model.blocks[0];
            whole.model.blocks[1].count = 2;
            if (kind == 1) {
                whole.model.blocks[0].window = 700;
            } else if (kind == 2) {
                whole.model.blocks[0] = linear;
            }
            fixture_connect(&whole.model, kind == 0 ? 1 : 2);
            fixture_formats(&whole.model, &fixture_bf16);
            set_engine(&whole, choice);
            whole.input.context = 3000, whole.input.batch = 2;
            struct pm_memory memory = memory_of(&whole);
            cr_assert(memory.max_batch >= 1, "%u, %u: nothing fits", kind, choice);
            cr_expect(fits_with(&whole, memory.max_batch, 3000), "%u, %u: batch %g", kind, choice,
                      memory.max_batch);
            cr_expect_not(fits_with(&whole, memory.max_batch + 1, 3000), "%u, %u: batch %g and one more",
                          kind, choice, memory.max_batch);
            cr_expect(fits_with(&whole, 2, memory.max_context), "%u, %u: context %g", kind, choice,
                      memory.max_context);
            cr_expect_not(fits_with(&whole, 2, memory.max_context + 1), "%u, %u: context %g and one more",
                          kind, choice, memory.max_context);
        }
    }
}
