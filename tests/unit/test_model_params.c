/* test_model_params.c: parameter counts against the official totals of published models, to the last unit
 * (facts/params.csv names where each total was seen; geometry from facts/configs, see configs.md). */
#include <criterion/criterion.h>

#include "model_fixture.h"

#define GQA(H, G, h)                                                                                         \
    .attention = PM_ATTENTION_GROUPED, .heads = (H), .kv_heads = (G), .head_dim = (h), .v_dim = (h)
#define GATED(f)     .ffn = (f), .ffn_gated = true
#define PLAIN(f)     .ffn = (f), .ffn_bias = true
#define MOE(E, k, f) .experts = (E), .active_experts = (k), .expert_ffn = (f), .ffn_gated = true
#define MLA(H, q, kv, n, r, v)                                                                               \
    .attention = PM_ATTENTION_LATENT, .heads = (H), .q_rank = (q), .kv_rank = (kv), .nope_dim = (n),         \
    .rope_dim = (r), .v_dim = (v)
#define DELTA(nk, nv, dk, dv)                                                                                \
    .attention = PM_ATTENTION_LINEAR, .linear_key_heads = (nk), .linear_value_heads = (nv),                  \
    .linear_key_dim = (dk), .linear_value_dim = (dv), .conv_kernel = 4
#define BIASES              .qkv_bias = true, .output_bias = true
#define RMS                 .norms = 2, .norm = PM_NORM_RMS
#define LAYER_NORM          .norms = 2, .norm = PM_NORM_LAYER
#define HEAD_NORM           .qk_norm = PM_QK_NORM_HEAD
#define ENDS(d, V, tied)    .hidden = (d), .vocab = (V), .tied_embeddings = (tied), .final_norms = 1
#define LN_ENDS(d, V, tied) .hidden = (d), .vocab = (V), .tied_embeddings = (tied), .final_norms = 2

struct published {
    const char *name;
    double official;
    double active; /* of the text model, input embedding included; 0: all of it */
    double extra;  /* in the official total besides the text model: towers, prediction layers, copies */
    struct pm_model model;
    struct pm_block blocks[FIXTURE_BLOCKS];
};

static const struct published models[] = {
    {"Llama-2-7B",
     6738415616.0,
     0,
     0,
     {ENDS(4096, 32000, false)},
     {{.count = 32, GQA(32, 32, 128), GATED(11008), RMS}}},
    {"Llama-2-13B",
     13015864320.0,
     0,
     0,
     {ENDS(5120, 32000, false)},
     {{.count = 40, GQA(40, 40, 128), GATED(13824), RMS}}},
    {"Llama-2-70B",
     68976648192.0,
     0,
     0,
     {ENDS(8192, 32000, false)},
     {{.count = 80, GQA(64, 8, 128), GATED(28672), RMS}}},
    {"Llama-3.1-8B",
     8030261248.0,
     0,
     0,
     {ENDS(4096, 128256, false)},
     {{.count = 32, GQA(32, 8, 128), GATED(14336), RMS}}},
    {"Llama-3.1-70B",
     70553706496.0,
     0,
     0,
     {ENDS(8192, 128256, false)},
     {{.count = 80, GQA(64, 8, 128), GATED(28672), RMS}}},
    {"Llama-3.2-3B",
     3212749824.0,
     0,
     0,
     {ENDS(3072, 128256, true)},
     {{.count = 28, GQA(24, 8, 128), GATED(8192), RMS}}},
    /* one routed and one shared expert per token; 871,932,416 of vision */
    {"Llama-4-Scout",
     108641793536.0,
     17172894720.0,
     871932416.0,
     {ENDS(5120, 202048, false)},
     {{.count = 48, GQA(40, 8, 128), MOE(16, 1, 8192), .shared_ffn = 8192, RMS}}},
    {"Llama-4-Maverick",
     401583781376.0,
     17184691200.0,
     871932416.0,
     {ENDS(5120, 202048, false)},
     {{.count = 24, GQA(40, 8, 128), GATED(16384), RMS},
      {.count = 24, GQA(40, 8, 128), MOE(128, 1, 8192), .shared_ffn = 8192, RMS}}},
    {"Mistral-7B-v0.3",
     7248023552.0,
     0,
     0,
     {ENDS(4096, 32768, false)},
     {{.count = 32, GQA(32, 8, 128), GATED(14336), RMS}}},
    {"Mixtral-8x7B",
     46702792704.0,
     12879925248.0,
     0,
     {ENDS(4096, 32000, false)},
     {{.count = 32, GQA(32, 8, 128), MOE(8, 2, 14336), RMS}}},
    {"Qwen2.5-0.5B",
     494032768.0,
     0,
     0,
     {ENDS(896, 151936, true)},
     {{.count = 24, GQA(14, 2, 64), .qkv_bias = true, GATED(4864), RMS}}},
    {"Qwen2.5-7B",
     7615616512.0,
     0,
     0,
     {ENDS(3584, 152064, false)},
     {{.count = 28, GQA(28, 4, 128), .qkv_bias = true, GATED(18944), RMS}}},
    {"Qwen2.5-32B",
     32763876352.0,
     0,
     0,
     {ENDS(5120, 152064, false)},
     {{.count = 64, GQA(40, 8, 128), .qkv_bias = true, GATED(27648), RMS}}},
    /* tied, yet the file stores the head a second time: 151936 * 1024 */
    {"Qwen3-0.6B",
     751632384.0,
     0,
     155582464.0,
     {ENDS(1024, 151936, true)},
     {{.count = 28, GQA(16, 8, 128), HEAD_NORM, GATED(3072), RMS}}},
    {"Qwen3-4B",
     4022468096.0,
     0,
     0,
     {ENDS(2560, 151936, true)},
     {{.count = 36, GQA(32, 8, 128), HEAD_NORM, GATED(9728), RMS}}},
    {"Qwen3-8B",
     8190735360.0,
     0,
     0,
     {ENDS(4096, 151936, false)},
     {{.count = 36, GQA(32, 8, 128), HEAD_NORM, GATED(12288), RMS}}},
    {"Qwen3-32B",
     32762123264.0,
     0,
     0,
     {ENDS(5120, 151936, false)},
     {{.count = 64, GQA(64, 8, 128), HEAD_NORM, GATED(25600), RMS}}},
    {"Qwen3-30B-A3B",
     30532122624.0,
     3353032704.0,
     0,
     {ENDS(2048, 151936, false)},
     {{.count = 48, GQA(32, 4, 128), HEAD_NORM, MOE(128, 8, 768), RMS}}},
    {"Qwen3-235B-A22B",
     235093634560.0,
     22190763520.0,
     0,
     {ENDS(4096, 151936, false)},
     {{.count = 94, GQA(64, 4, 128), HEAD_NORM, MOE(128, 8, 1536), RMS}}},
    {"Qwen3-Coder-480B-A35B",
     480154875392.0,
     35474765312.0,
     0,
     {ENDS(6144, 151936, false)},
     {{.count = 62, GQA(96, 8, 128), HEAD_NORM, MOE(160, 8, 2560), RMS}}},
    {"Qwen3-Coder-Next",
     79674391296.0,
     3874929408.0,
     0,
     {ENDS(2048, 151936, false)},
     {{.count = 12,
       GQA(16, 2, 256),
       .output_gate = true,
       HEAD_NORM,
       MOE(512, 10, 512),
       .shared_ffn = 512,
       .shared_gate = true,
       RMS},
      {.count = 36,
       DELTA(16, 32, 128, 128),
       MOE(512, 10, 512),
       .shared_ffn = 512,
       .shared_gate = true,
       RMS}}},
    /* 424,699,392 of prediction layers, 460,730,096 of vision */
    {"Qwen3.5-27B",
     27781427952.0,
     0,
     885429488.0,
     {ENDS(5120, 248320, false)},
     {{.count = 16, GQA(24, 4, 256), .output_gate = true, HEAD_NORM, GATED(17408), RMS},
      {.count = 48, DELTA(16, 48, 128, 128), GATED(17408), RMS}}},
    /* 6,595,568,128 of prediction layers, 456,010,480 of vision */
    {"Qwen3.5-397B-A17B",
     403397928944.0,
     17349040896.0,
     7051578608.0,
     {ENDS(4096, 248320, false)},
     {{.count = 15,
       GQA(32, 2, 256),
       .output_gate = true,
       HEAD_NORM,
       MOE(512, 10, 1024),
       .shared_ffn = 1024,
       .shared_gate = true,
       RMS},
      {.count = 45,
       DELTA(16, 64, 128, 128),
       MOE(512, 10, 1024),
       .shared_ffn = 1024,
       .shared_gate = true,
       RMS}}},
    {"deepseek-moe-16b",
     16375728128.0,
     2828650496.0,
     0,
     {ENDS(2048, 102400, false)},
     {{.count = 1, GQA(16, 16, 128), GATED(10944), RMS},
      {.count = 27, GQA(16, 16, 128), MOE(64, 6, 1408), .shared_ffn = 2816, RMS}}},
    {"DeepSeek-V2",
     235741434880.0,
     21375800320.0,
     0,
     {ENDS(5120, 102400, false)},
     {{.count = 1, MLA(128, 1536, 512, 128, 64, 128), GATED(12288), RMS},
      {.count = 59, MLA(128, 1536, 512, 128, 64, 128), MOE(160, 6, 1536), .shared_ffn = 3072, RMS}}},
    {"DeepSeek-V3",
     671026419200.0,
     37552297472.0,
     0,
     {ENDS(7168, 129280, false)},
     {{.count = 3, MLA(128, 1536, 512, 128, 64, 128), GATED(18432), RMS},
      {.count = 58,
       MLA(128, 1536, 512, 128, 64, 128),
       MOE(256, 8, 2048),
       .router_bias = true,
       .shared_ffn = 2048,
       RMS}}},
    /* 11,624,027,648 of prediction layers and their copies of embedding and head, 1,853,358,080 */
    {"DeepSeek-V3.2",
     685355329792.0,
     38403822336.0,
     13477385728.0,
     {ENDS(7168, 129280, false)},
     {{.count = 3,
       MLA(128, 1536, 512, 128, 64, 128),
       .index_heads = 64,
       .index_dim = 128,
       .index_top = 2048,
       GATED(18432),
       RMS},
      {.count = 58,
       MLA(128, 1536, 512, 128, 64, 128),
       .index_heads = 64,
       .index_dim = 128,
       .index_top = 2048,
       MOE(256, 8, 2048),
       .router_bias = true,
       .shared_ffn = 2048,
       RMS}}},
    /* 9,952,920,576 of prediction layers */
    {"GLM-5",
     753864139008.0,
     41784728832.0,
     9952920576.0,
     {ENDS(6144, 154880, false)},
     {{.count = 3,
       MLA(64, 2048, 512, 192, 64, 256),
       .index_heads = 32,
       .index_dim = 128,
       .index_top = 2048,
       GATED(12288),
       RMS},
      {.count = 75,
       MLA(64, 2048, 512, 192, 64, 256),
       .index_heads = 32,
       .index_dim = 128,
       .index_top = 2048,
       MOE(256, 8, 2048),
       .router_bias = true,
       .shared_ffn = 2048,
       RMS}}},
    {"gpt-oss-120b",
     116829156672.0,
     5711982912.0,
     0,
     {ENDS(2880, 201088, false)},
     {{.count = 36,
       GQA(64, 8, 64),
       BIASES,
       .sinks = true,
       MOE(128, 4, 2880),
       .expert_bias = true,
       .router_bias = true,
       RMS}}},
    {"Gemma-2B",
     2506172416.0,
     0,
     0,
     {ENDS(2048, 256000, true)},
     {{.count = 18, GQA(8, 1, 256), GATED(16384), RMS}}},
    {"Gemma-2-9B",
     9241705984.0,
     0,
     0,
     {ENDS(3584, 256000, true)},
     {{.count = 42, GQA(16, 8, 256), GATED(14336), .norms = 4}}},
    {"Gemma-3-1B",
     999885952.0,
     0,
     0,
     {ENDS(1152, 262144, true)},
     {{.count = 26, GQA(4, 1, 256), HEAD_NORM, GATED(6912), .norms = 4}}},
    {"Phi-2",
     2779683840.0,
     0,
     0,
     {LN_ENDS(2560, 51200, false), .head_bias = true},
     {{.count = 32, GQA(32, 32, 80), BIASES, PLAIN(10240), .norms = 1, .norm = PM_NORM_LAYER}}},
    {"Phi-3.5-mini",
     3821079552.0,
     0,
     0,
     {ENDS(3072, 32064, false)},
     {{.count = 32, GQA(32, 32, 96), GATED(8192), RMS}}},
    {"Phi-4",
     14659507200.0,
     0,
     0,
     {ENDS(5120, 100352, false)},
     {{.count = 40, GQA(40, 10, 128), GATED(17920), RMS}}},
    {"Falcon-7B",
     7217189760.0,
     0,
     0,
     {LN_ENDS(4544, 65024, false)},
     {{.count = 32, GQA(71, 1, 64), .ffn = 18176, .norms = 1, .norm = PM_NORM_LAYER}}},
    {"Falcon-40B",
     41303293952.0,
     0,
     0,
     {LN_ENDS(8192, 65024, true)},
     {{.count = 60, GQA(128, 8, 64), .ffn = 32768, LAYER_NORM}}},
    {"DBRX",
     131596523520.0,
     36469708800.0,
     0,
     {ENDS(6144, 100352, false)},
     {{.count = 40, GQA(48, 8, 128), MOE(16, 4, 10752), RMS}}},
    {"BLOOM-560m",
     559214592.0,
     0,
     0,
     {LN_ENDS(1024, 250880, true), .embedding_norm = true},
     {{.count = 24, GQA(16, 16, 64), BIASES, PLAIN(4096), LAYER_NORM}}},
    {"GPT-2",
     124439808.0,
     0,
     0,
     {LN_ENDS(768, 50257, true), .positions = 1024},
     {{.count = 12, GQA(12, 12, 64), BIASES, PLAIN(3072), LAYER_NORM}}},
    {"GPT-NeoX-20B",
     20554567680.0,
     0,
     0,
     {LN_ENDS(6144, 50432, false)},
     {{.count = 44, GQA(64, 64, 96), BIASES, PLAIN(24576), LAYER_NORM}}},
    {"StarCoder",
     15517456384.0,
     0,
     0,
     {LN_ENDS(6144, 49152, true), .positions = 8192},
     {{.count = 40, GQA(48, 1, 128), BIASES, PLAIN(24576), LAYER_NORM}}},
    {"ChatGLM2-6B",
     6243584000.0,
     0,
     0,
     {ENDS(4096, 65024, false)},
     {{.count = 28, GQA(32, 2, 128), .qkv_bias = true, GATED(13696), RMS}}},
    {"InternLM2.5-7B",
     7737708544.0,
     0,
     0,
     {ENDS(4096, 92544, false)},
     {{.count = 32, GQA(32, 8, 128), GATED(14336), RMS}}},
    {"Yi-34B",
     34388917248.0,
     0,
     0,
     {ENDS(7168, 64000, false)},
     {{.count = 60, GQA(56, 8, 128), GATED(20480), RMS}}},
    {"SmolLM2-360M",
     361821120.0,
     0,
     0,
     {ENDS(960, 49152, true)},
     {{.count = 32, GQA(15, 5, 64), GATED(2560), RMS}}},
    /* 70 lightning blocks: q, k, v, gate and output of 64 heads of 128, and a norm over them */
    {"MiniMax-M1",
     456089655296.0,
     0,
     0,
     {ENDS(6144, 200064, false)},
     {{.count = 70,
       .attention = PM_ATTENTION_LINEAR,
       .attention_params = 5.0 * 6144 * 8192 + 8192,
       MOE(32, 2, 9216),
       RMS},
      {.count = 10, GQA(64, 8, 128), MOE(32, 2, 9216), RMS}}},
    /* one part per block: 40 Mamba-2, 8 attention, 40 ungated experts in a latent width of 1024;
     * 2,942,324,736 of prediction layers */
    {"Nemotron-3-Super-120B-A12B",
     123611012096.0,
     12770216960.0,
     2942324736.0,
     {ENDS(4096, 131072, false)},
     {{.count = 40,
       .attention = PM_ATTENTION_MAMBA,
       .ssm_heads = 128,
       .ssm_head_dim = 64,
       .ssm_groups = 8,
       .ssm_state = 128,
       .conv_kernel = 4,
       .norms = 1},
      {.count = 8, GQA(32, 2, 128), .norms = 1},
      {.count = 40,
       .attention = PM_ATTENTION_NONE,
       .experts = 512,
       .active_experts = 22,
       .expert_ffn = 2688,
       .expert_input = 1024,
       .shared_ffn = 5376,
       .norms = 1}}},
    /* 12 + 3 blocks with keys and values of their own, 16 + 4 without; per-layer embeddings of 256 for each
     * of 35 layers, with a gate, a projection and a share of the model's; 18,880,512 keys and values in the
     * files that no layer uses, a norm of 256, and towers of 475,729,088 */
    {"Gemma-4-E2B",
     5123178979.0,
     2279758883.0,
     475729088.0 + 18880512.0 + 256,
     {ENDS(1536, 262144, true), .lookup_params = 262144.0 * 35 * 256},
     {{.count = 12, GQA(8, 1, 256), GATED(6144), HEAD_NORM, .norms = 5, .extra_params = 3.0 * 1536 * 256 + 1},
      {.count = 3, GQA(8, 1, 512), GATED(6144), HEAD_NORM, .norms = 5, .extra_params = 3.0 * 1536 * 256 + 1},
      {.count = 16,
       GQA(8, 1, 256),
       GATED(12288),
       HEAD_NORM,
       .reuses_kv = true,
       .norms = 5,
       .extra_params = 3.0 * 1536 * 256 + 1},
      {.count = 4,
       GQA(8, 1, 512),
       GATED(12288),
       HEAD_NORM,
       .reuses_kv = true,
       .norms = 5,
       .extra_params = 3.0 * 1536 * 256 + 1}}},
};

enum { MODELS = sizeof models / sizeof models[0] };

static struct pm_params count(const struct published *published, double extra)
{
    struct fixture_model model = {.model = published->model};
    struct pm_params params;
    size_t blocks = 0;
    while (blocks < FIXTURE_BLOCKS && published->blocks[blocks].count > 0) {
        model.blocks[blocks] = published->blocks[blocks];
        blocks++;
    }
    fixture_formats(&model, &fixture_bf16);
    fixture_connect(&model, blocks);
    model.model.extra_params = extra;
    pm_count_params(&model.model, &params);
    return params;
}

Test(model_params, official_totals)
{
    for (size_t i = 0; i < MODELS; i++) {
        const struct published *published = &models[i];
        struct pm_params params = count(published, published->extra);
        cr_expect_eq(params.total, published->official, "%s: %.0f, official %.0f", published->name,
                     params.total, published->official);
        cr_expect_eq(params.weight_bytes, 2 * params.total, "%s: 16-bit weights are not 2 bytes each: %.0f",
                     published->name, params.weight_bytes);
    }
}

Test(model_params, active)
{
    for (size_t i = 0; i < MODELS; i++) {
        const struct published *published = &models[i];
        struct pm_params params = count(published, published->extra);
        double active = published->active > 0 ? published->active : params.total - published->extra;
        if (published->active > 0 || published->blocks[0].experts <= 0) {
            cr_expect_eq(params.active, active, "%s: %.0f active, official %.0f", published->name,
                         params.active, active);
        }
    }
}

/* Llama-3.1-8B by hand: per block q and o 2 * 4096^2, k and v 2 * 4096 * 1024, and 3 * 4096 * 14336. */
Test(model_params, parts)
{
    struct pm_params params = count(&models[3], 0);
    cr_expect_eq(params.embedding, 525336576.0);
    cr_expect_eq(params.head, 525336576.0);
    cr_expect_eq(params.attention, 32.0 * 41943040.0);
    cr_expect_eq(params.ffn, 32.0 * 176160768.0);
    cr_expect_eq(params.norms, 65.0 * 4096.0);
    cr_expect_eq(params.matmul, 8030261248.0 - 525336576.0 - 65.0 * 4096.0);
    cr_expect_eq(params.matmul_active, params.matmul);
    cr_expect_eq(params.estimate, 12.0 * 32 * 4096 * 4096);
    cr_expect_eq(params.layers, 32);
    cr_expect_eq(params.kv_bytes_per_token, 2.0 * 32 * 8 * 128 * 2);
}

/* Declared beside an architecture, the count wins and every part follows in proportion. */
Test(model_params, declared_over_derived)
{
    struct published declared = models[3];
    declared.model.declared_params = 8e9;
    struct pm_params params = count(&declared, 0);
    cr_expect_eq(params.total, 8e9);
    cr_expect_float_eq(params.weight_bytes, 16e9, 1);
    cr_expect_float_eq(params.ffn, 32.0 * 176160768.0 * 8e9 / 8030261248.0, 1);
}

/* Alone, it stands for everything (the textbook 2N). */
Test(model_params, declared_alone)
{
    struct fixture_model model = {.model = {.declared_params = 7e9}};
    struct pm_params params;
    fixture_formats(&model, &fixture_int8);
    fixture_connect(&model, 0);
    pm_count_params(&model.model, &params);
    cr_expect_eq(params.total, 7e9);
    cr_expect_eq(params.active, 7e9);
    cr_expect_eq(params.matmul_active, 7e9);
    cr_expect_eq(params.weight_bytes, 7e9);
    cr_expect_eq(params.estimate, 0);
}

/* Two blocks, one of them used again with an adapter of 10: stored once, multiplied twice. By hand, d = 8:
 * attention 4 * 64, feed-forward 3 * 8 * 16, two norms; 5 rows of an embedding that is the head, one norm. */
Test(model_params, weights_used_again)
{
    struct published loop = {
        .model = {ENDS(8, 5, true)},
        .blocks =
            {{.count = 2, GQA(2, 2, 4), GATED(16), .norms = 2},
             {.count = 3, GQA(2, 2, 4), GATED(16), .norms = 2, .reuses_weights = true, .extra_params = 10}},
    };
    struct pm_params params = count(&loop, 0);
    double block = 4 * 64 + 3 * 8 * 16;
    cr_expect_eq(params.total, 2 * (block + 16) + 3 * 10 + 40 + 8, "%.0f", params.total);
    cr_expect_eq(params.matmul, 5 * block + 3 * 10 + 40, "%.0f", params.matmul);
    cr_expect_eq(params.weight_bytes, 2 * params.total);
    cr_expect_eq(params.kv_bytes_per_token, 5 * 2 * 2 * 4 * 2.0);
    cr_expect_eq(params.active, params.total);
}
