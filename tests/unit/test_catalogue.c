/* test_catalogue.c: the standard library against what others published: parameter counts, block layouts of
 * formats, plausible figures of cards, and a source for every figure. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/intern.h"
#include "result/evaluate.h"
#include "run.h"
#include "sema/plan.h"
#include "source/diag.h"
#include "source/source.h"

static struct arena *arena;
static struct diags *diags;
static struct plan *plan;
static struct evaluator *evaluator;
static struct buffer faults; /* one line per fault, so that a failure names them all */

static void set_up(void)
{
    arena = arena_new();
    faults = buffer_in(arena);
    diags = diags_new(arena);
    plan = plan_empty(arena, strings_new(arena), sources_new(arena), diags, (struct plan_options){0});
    evaluator = evaluator_new(plan);
}

static void tear_down(void)
{
    arena_free(arena);
}

TestSuite(catalogue, .init = set_up, .fini = tear_down);

#define FAULT(...)         (buffer_printf(&faults, "  " __VA_ARGS__), buffer_text(&faults, "\n"))
#define EXPECT_NO_FAULTS() cr_assert(faults.length == 0, "\n%s", buffer_string(&faults))

static double number(struct decl *decl, enum attribute attribute)
{
    return plan_number(plan, decl, attribute, 0);
}

/* ---- what is there ------------------------------------------------------------------------------ */

/* The head size of latent attention is none of hidden / heads, which need not be whole. */
static bool is_asked_for(struct decl *decl, enum attribute attribute)
{
    return attribute != ATTR_HEAD_DIM || plan_is_set(plan, decl, attribute) ||
           strcmp(plan_text(plan, decl, ATTR_ATTENTION, ""), "mla") != 0;
}

static void expect_declarations(enum kind kind, size_t least)
{
    size_t count;
    struct decl **decls = plan_catalogue(plan, kind, &count);
    if (count < least)
        FAULT("%zu of kind %s", count, kind_name(kind));
    for (size_t i = 0; i < count; i++) {
        for (enum attribute k = 0; k < ATTR_COUNT; k++)
            if ((attribute_info(k)->scope & (1u << kind)) && is_asked_for(decls[i], k))
                plan_setting(plan, decls[i], k);
        if (decls[i]->poisoned)
            FAULT("%s %s has an error", kind_name(kind), decls[i]->name);
    }
}

Test(catalogue, every_declaration_is_sound)
{
    expect_declarations(KIND_FORMAT, 40);
    expect_declarations(KIND_GPU, 60);
    expect_declarations(KIND_MODEL, 60);
    expect_declarations(KIND_ENGINE, 2);
    for (size_t i = 0; i < diags_count(diags); i++)
        FAULT("%s", diags_get(diags, i)->message);
    EXPECT_NO_FAULTS();
}

/* A model can be counted, and a card bound, as soon as a plan names it. */
Test(catalogue, every_entry_can_be_used)
{
    size_t count;
    struct decl **models = plan_catalogue(plan, KIND_MODEL, &count);
    for (size_t i = 0; i < count; i++)
        if (!(evaluate_number(evaluator, models[i], Q_PARAMS, 0) > 0))
            FAULT("model %s: %s", models[i]->name, evaluate_text(evaluator, models[i], Q_PARAMS));
    struct decl **gpus = plan_catalogue(plan, KIND_GPU, &count);
    for (size_t i = 0; i < count; i++)
        if (!(evaluate_number(evaluator, gpus[i], Q_BALANCE, 0) > 0))
            FAULT("gpu %s: %s", gpus[i]->name, evaluate_text(evaluator, gpus[i], Q_BALANCE));
    for (size_t i = 0; i < diags_count(diags); i++)
        FAULT("%s", diags_get(diags, i)->message);
    EXPECT_NO_FAULTS();
}

/* ---- models ------------------------------------------------------------------------------------- */

struct total {
    const char *model;
    double official; /* as published */
    double beside;   /* of these: what `params` does not count; the comment says what */
    double tolerance;
};

/* Grouped by where the total was seen. */
static const struct total totals[] = {
    /* Hugging Face Hub (AlexsJones/llmfit), rotary buffers left out */
    {"llama-2-7b", 6738415616, 0, 0},
    {"llama-2-13b", 13015864320, 0, 0},
    /* as counted from the checkpoint by public tools */
    {"llama-2-70b", 68976648192, 0, 0},
    {"codellama-7b", 6738546688, 0, 0},
    {"codellama-13b", 13016028160, 0, 0},
    {"codellama-34b", 33743970304, 0, 0},
    {"tinyllama-1.1b", 1100048384, 0, 0},
    {"mistral-nemo-12b", 12247782400, 0, 0},
    {"mistral-large-2", 122610069504, 0, 0},
    {"mixtral-8x22b", 140630071296, 0, 0},
    {"qwen2.5-3b", 3085938688, 0, 0},
    {"qwen3-14b", 14768307200, 0, 0},
    {"kimi-k2", 1026408232448, 0, 0},
    {"gemma-2b", 2506172416, 0, 0},
    {"gemma-7b", 8537680896, 0, 0},
    {"gemma-2-2b", 2614341888, 0, 0},
    {"gemma-2-27b", 27227128320, 0, 0},
    /* model cards, rounded and without the towers of 572,794,416 and 575,743,536 */
    {"gemma-4-26b-a4b", 25.2e9 + 572794416, 0, 0.002},
    {"gemma-4-31b", 30.7e9 + 575743536, 0, 0.002},
    {"gemma-4-e4b", 8.0e9, 0, 0.002},
    /* Hugging Face Hub, towers included */
    {"gemma-4-e2b", 5123178979, 0, 0},
    {"phi-1.5", 1418270720, 0, 0},
    {"phi-3-medium", 13960238080, 0, 0},
    {"falcon-7b", 7217189760, 0, 0},
    {"olmo-2-32b", 32234279936, 0, 0},
    /* Hugging Face safetensors total (debaditc/kvfit) */
    {"llama-3-8b", 8030261248, 0, 0},
    {"llama-3-70b", 70553706496, 0, 0},
    {"llama-3.1-70b", 70553706496, 0, 0},
    {"llama-4-scout", 108641793536, 0, 0},
    {"mistral-7b-v0.1", 7241732096, 0, 0},
    {"mistral-7b", 7248023552, 0, 0},
    {"mistral-small-3.2-24b", 24011361280, 0, 0},
    {"qwen3-next-80b-a3b", 81324862720, 1650471424, 0}, /* MTP */
    {"gemma-2-9b", 9241705984, 0, 0},
    {"gemma-3-4b", 4300079472, 0, 0},
    {"gemma-3-12b", 12187325040, 0, 0},
    {"gemma-3-27b", 27432406640, 0, 0},
    {"glm-4.5", 358337791296, 5539962272, 0},     /* MTP and its copies */
    {"glm-4.5-air", 110468824832, 3616573568, 0}, /* MTP and its copies */
    {"nemotron-nano-9b-v2", 8888227328, 0, 0},
    /* Hugging Face Hub API, 2026-09-25 */
    {"llama-3.1-8b", 8030261248, 0, 0},
    {"llama-3.2-1b", 1235814400, 0, 0},
    {"llama-3.2-3b", 3212749824, 0, 0},
    {"qwen2.5-0.5b", 494032768, 0, 0},
    {"qwen2.5-1.5b", 1543714304, 0, 0},
    {"qwen2.5-7b", 7615616512, 0, 0},
    {"qwen3-0.6b", 751632384, 155582464, 0},  /* the tied head, stored twice */
    {"qwen3-1.7b", 2031739904, 311164928, 0}, /* the tied head, stored twice */
    {"qwen3-4b", 4022468096, 0, 0},
    {"qwen3-8b", 8190735360, 0, 0},
    {"qwen3-32b", 32762123264, 0, 0},
    {"gemma-3-1b", 999885952, 0, 0},
    {"phi-3-mini", 3821079552, 0, 0},
    {"phi-3.5-mini", 3821079552, 0, 0},
    {"phi-4", 14659507200, 0, 0},
    {"phi-4-mini", 3836021760, 0, 0},
    {"gpt-oss-20b", 20914757184, 0, 0},
    {"gpt-oss-120b", 116829156672, 0, 0},
    {"smollm2-360m", 361821120, 0, 0},
    {"smollm2-1.7b", 1711376384, 0, 0},
    /* Hugging Face Hub */
    {"llama-3.1-405b", 405853388800, 0, 0},
    {"mixtral-8x7b", 46702792704, 0, 0},
    {"qwen3-30b-a3b", 30532122624, 0, 0},
    {"qwen3-235b-a22b", 235093634560, 0, 0},
    {"qwen3-coder-480b-a35b", 480154875392, 0, 0},
    {"qwen3-coder-next", 79674391296, 0, 0},
    {"deepseek-moe-16b", 16375728128, 0, 0},
    {"deepseek-v2-lite", 15706484224, 0, 0},
    {"deepseek-v2", 235741434880, 0, 0},
    {"deepseek-v3", 684531386000, 13504966800, 0},   /* MTP, its copies of embedding and head, fp8 scales */
    {"deepseek-r1", 684489845504, 13463426304, 0},   /* MTP and its copies */
    {"deepseek-v3.2", 685355329792, 13477385728, 0}, /* MTP and its copies */
    {"glm-4.6", 356785898816, 3988069792, 0},        /* MTP */
    {"glm-5", 753864139008, 9952920576, 0},          /* MTP */
    {"minimax-m1", 456089655296, 0, 0},
    {"minimax-m2", 228689764864, 0, 0},
    {"nemotron-3-nano-30b-a3b", 31577937344, 0, 0},
    {"nemotron-3-super-120b-a12b", 123611012096, 2942324736, 0}, /* MTP */
    {"falcon-180b", 179522565120, 0, 0},
    {"olmo-2-13b", 13716198400, 0, 0},
    /* Hugging Face Hub, as tests/import/families.cases has them, towers included */
    {"ministral-8b", 8019808256, 0, 0},
    {"pixtral-12b", 12682739712, 0, 0},
    {"llama-3.2-11b-vision", 10670220835, 0, 0},
    {"deepseek-coder-33b", 33342991360, 0, 0},
    {"kimi-linear-48b-a3b", 49122681728, 0, 0},
    {"kimi-vl-a3b", 16407656048, 0, 0},
    {"dots-llm1", 142774381696, 0, 0},
    {"command-r-plus", 103810674688, 0, 0},
    {"command-a", 111057580032, 0, 0},
    {"olmo-3-7b", 7298011136, 0, 0},
    {"internlm3-8b", 8804241408, 0, 0},
    {"exaone-4.0-32b", 32003216384, 0, 0},
    {"ernie-4.5-21b-a3b", 21825437888, 0, 0},
    {"hunyuan-a13b", 80393183232, 0, 0},
    {"ling-lite", 16801974272, 0, 0},
    {"ling-mini-2.0", 16255643392, 0, 0},
    {"grok-2", 269515497472, 0, 0},
    {"starcoder2-7b", 7173923840, 0, 0},
    {"pythia-12b", 11846072320, 0, 0},
    {"internvl3-8b", 7944373760, 0, 0},
    {"granite-4.0-h-small", 32207337984, 0, 0},
    {"falcon-h1-34b", 33642516224, 0, 0},
    {"mamba-codestral-7b", 7285403648, 0, 0},
    {"lfm2-1.2b", 1170340608, 0, 0},
    {"qwen2-0.5b", 494032768, 0, 0},
    {"qwen2-1.5b", 1543714304, 0, 0},
    {"qwen2-7b", 7615616512, 0, 0},
    {"qwen3-vl-2b", 2127532032, 0, 0},
    {"qwen3-vl-4b", 4437815808, 0, 0},
    {"qwen3-vl-8b", 8767123696, 0, 0},
    {"codestral-22b", 22247282688, 0, 0},
    {"deepseek-r1-distill-qwen-1.5b", 1777088000, 0, 0},
    /* Fireworks billing docs */
    {"llama-4-maverick", 401583781376, 0, 0},
    /* rounded: model card, or as the Hub shows it */
    {"qwen2.5-14b", 14770000000, 0, 0.0001},
    {"phi-3.5-moe", 41900000000, 0, 0.001},
    {"yi-34b", 34386780160, 0, 0.0001},
    {"command-r-35b", 35000000000, 0, 0.001},
    {"dbrx", 131596523520, 0, 0},
    {"grok-1", 314000000000, 0, 0.006},
    {"mimo-v2-flash", 309000000000, 0, 0.001},
    {"jamba-v0.1", 52000000000, 0, 0.01},
    /* a table of the state-spaces/mamba checkpoints */
    {"mamba-2.8b", 2768345600, 0, 0},
    /* Hugging Face safetensors metadata */
    {"qwen2.5-32b", 32763876352, 0, 0},
    {"qwen2.5-72b", 72706203648, 0, 0},
    {"internlm2.5-7b", 7737708544, 0, 0},
    /* Hugging Face Hub (AlexsJones/llmfit) */
    {"qwen3.5-27b", 27781427952, 424699392, 0},         /* MTP */
    {"qwen3.5-35b-a3b", 35951822704, 844640768, 0},     /* MTP */
    {"qwen3.5-397b-a17b", 403397928944, 6595568128, 0}, /* MTP */
    /* as counted by llama.cpp, text part */
    {"qwen3.5-122b-a10b", 122111526912, 0, 0},
    /* Hugging Face safetensors total */
    {"phi-2", 2779683840, 0, 0},
    /* LoRA training log: 6,245,533,696 less 1,949,696 trainable */
    {"chatglm2-6b", 6243584000, 0, 0},
    /* as commonly printed, not found independently */
    {"llama-3.3-nemotron-super-49b", 49867145216, 0, 0},
    {"falcon-40b", 41303293952, 0, 0},
    {"opt-125m", 125239296, 0, 0},
    {"opt-6.7b", 6658473984, 0, 0},
    {"mpt-7b", 6649286656, 0, 0},
    /* huggingface/safetensors and huggingface.js tests */
    {"gpt2", 137022720, 12582912, 0},        /* causal masks */
    {"gpt2-medium", 379988992, 25165824, 0}, /* causal masks */
    {"bloom-560m", 559214592, 0, 0},
    {"bloom-176b", 176247271424, 0, 0},
    /* tables of sizes published with BLOOM and StarCoder */
    {"bloom-7b1", 7069016064, 0, 0},
    {"starcoder", 15517456384, 0, 0},
    /* model card */
    {"gpt-neox-20b", 20554567680, 0, 0},
    {"gpt-j-6b", 6050882784, 0, 0},
};

Test(catalogue, params_equal_official_totals)
{
    size_t count = sizeof totals / sizeof totals[0];
    for (size_t i = 0; i < count; i++) {
        struct decl *model = plan_find(plan, KIND_MODEL, totals[i].model);
        double expected = totals[i].official - totals[i].beside;
        double params = model ? evaluate_number(evaluator, model, Q_PARAMS, 0) : 0;
        if (!(fabs(params - expected) <= totals[i].tolerance * expected))
            FAULT("%s: %.0f, officially %.0f (%+.4f %%)", totals[i].model, params, expected,
                  100 * (params / expected - 1));
    }
    EXPECT_NO_FAULTS();
}

/* What is left out of `params` is the MTP layer, its copies of embedding and head where the checkpoint has
 * them, and (V3) one fp32 scale per 128 x 128 values; all of it adds up to the Hub's total. */
Test(catalogue, mtp_layers_make_up_the_difference)
{
    static const struct {
        const char *model;
        double official, copies, scales;
    } rows[] = {
        {"qwen3-next-80b-a3b", 81324862720, 0, 0},
        {"deepseek-v3", 684531386000, 2.0 * 129280 * 7168, 41540496},
        {"deepseek-r1", 684489845504, 2.0 * 129280 * 7168, 0},
        {"deepseek-v3.2", 685355329792, 2.0 * 129280 * 7168, 0},
        {"glm-4.5", 358337791296, 2.0 * 151552 * 5120, 0},
        {"glm-4.6", 356785898816, 0, 0},
        {"glm-5", 753864139008, 0, 0},
        {"nemotron-3-super-120b-a12b", 123611012096, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct decl *model = plan_find(plan, KIND_MODEL, rows[i].model);
        cr_assert_not_null(model, "%s", rows[i].model);
        double sum = evaluate_number(evaluator, model, Q_PARAMS, 0) + number(model, ATTR_MODEL_MTP_PARAMS) +
                     rows[i].copies + rows[i].scales;
        if (sum != rows[i].official)
            FAULT("%s: %.0f, officially %.0f", rows[i].model, sum, rows[i].official);
    }
    EXPECT_NO_FAULTS();
}

/* Active parameters as the cards print them, rounded as they round; cards differ in whether the input
 * embedding counts (and MiniMax-M1 leaves out the head as well), so the tolerance is wide. */
Test(catalogue, active_params_are_near_the_cards)
{
    static const struct {
        const char *model;
        double card, tolerance;
    } rows[] = {
        /* clang-format off */
        {"mixtral-8x7b", 12.9e9, 0.01},    {"qwen3-30b-a3b", 3.3e9, 0.02},
        {"qwen3-235b-a22b", 22e9, 0.02},   {"qwen3-coder-480b-a35b", 35e9, 0.02},
        {"deepseek-v2", 21e9, 0.02},       {"deepseek-v3", 37e9, 0.02},
        {"kimi-k2", 32e9, 0.03},           {"gpt-oss-120b", 5.1e9, 0.13},
        {"llama-4-scout", 17e9, 0.02},     {"llama-4-maverick", 17e9, 0.02},
        {"minimax-m1", 45.9e9, 0.06},      {"nemotron-3-super-120b-a12b", 12e9, 0.07},
        {"dbrx", 36e9, 0.02},              {"jamba-v0.1", 12e9, 0.02},
        {"mimo-v2-flash", 15e9, 0.04},
        /* clang-format on */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct decl *model = plan_find(plan, KIND_MODEL, rows[i].model);
        cr_assert_not_null(model, "%s", rows[i].model);
        double active = evaluate_number(evaluator, model, Q_ACTIVE_PARAMS, 0);
        if (!(fabs(active / rows[i].card - 1) <= rows[i].tolerance))
            FAULT("%s: %.4g active, the card says %.4g", rows[i].model, active, rows[i].card);
    }
    EXPECT_NO_FAULTS();
}

/* Bytes of cache per token in 16 bits, by hand: 2 x blocks x kv_heads x head_dim x 2. */
Test(catalogue, cache_per_token)
{
    static const struct {
        const char *model;
        double bytes;
    } rows[] = {
        {"llama-2-7b", 2.0 * 32 * 32 * 128 * 2},        {"llama-3.1-8b", 2.0 * 32 * 8 * 128 * 2},
        {"llama-3.1-70b", 2.0 * 80 * 8 * 128 * 2},      {"qwen3-235b-a22b", 2.0 * 94 * 4 * 128 * 2},
        {"falcon-7b", 2.0 * 32 * 1 * 64 * 2},           {"deepseek-v3", 61.0 * (512 + 64) * 2},
        {"gpt-oss-120b", 2.0 * 18 * 8 * 64 * 2},        {"gemma-3-27b", 2.0 * 10 * 16 * 128 * 2},
        {"qwen3-next-80b-a3b", 2.0 * 12 * 2 * 256 * 2}, {"nemotron-3-super-120b-a12b", 2.0 * 8 * 2 * 128 * 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct decl *model = plan_find(plan, KIND_MODEL, rows[i].model);
        cr_assert_not_null(model, "%s", rows[i].model);
        double bytes = evaluate_number(evaluator, model, Q_KV_BYTES_PER_TOKEN, 0);
        if (bytes != rows[i].bytes)
            FAULT("%s: %.0f bytes per token, %.0f by hand", rows[i].model, bytes, rows[i].bytes);
    }
    EXPECT_NO_FAULTS();
}

/* ---- formats ------------------------------------------------------------------------------------ */

/* Bytes and values of one block, scales and all: ggml-common.h, the OCP MX specification, QLoRA and the
 * usual GPTQ and AWQ layouts. */
Test(catalogue, bits_follow_from_block_layouts)
{
    static const struct {
        const char *format;
        double bytes, values;
    } blocks[] = {
        /* clang-format off */
        {"fp32", 4, 1},        {"bf16", 2, 1},        {"fp16", 2, 1},        {"fp8", 1, 1},
        {"fp8-e4m3", 1, 1},    {"fp8-e5m2", 1, 1},    {"int8", 1, 1},        {"int4", 0.5, 1},
        {"q4_0", 2 + 16, 32},  {"q4_1", 4 + 16, 32},  {"q5_0", 2 + 4 + 16, 32}, {"q5_1", 4 + 4 + 16, 32},
        {"q8_0", 2 + 32, 32},  {"q2_k", 84, 256},     {"q3_k", 110, 256},    {"q4_k", 144, 256},
        {"q5_k", 176, 256},    {"q6_k", 210, 256},    {"iq1_s", 50, 256},    {"iq1_m", 56, 256},
        {"iq2_xxs", 66, 256},  {"iq2_xs", 74, 256},   {"iq2_s", 82, 256},    {"iq3_xxs", 98, 256},
        {"iq3_s", 110, 256},   {"iq4_nl", 18, 32},    {"iq4_xs", 136, 256},  {"mxfp4", 16 + 1, 32},
        {"mxfp6", 24 + 1, 32}, {"mxfp8", 32 + 1, 32}, {"nvfp4", 8 + 1, 16},  {"nf4", 32 + 4, 64},
        {"fp8-block", 16384 + 4, 16384},              {"int4-g32", 16 + 2, 32},
        {"gptq-int4-g128", 64 + 2.5, 128},            {"awq-int4-g128", 64 + 2.5, 128},
        {"gptq-int4-g32", 16 + 2.5, 32},              {"awq-int4-g32", 16 + 2.5, 32},
        /* clang-format on */
    };
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        struct decl *format = plan_find(plan, KIND_FORMAT, blocks[i].format);
        cr_assert_not_null(format, "%s", blocks[i].format);
        double expected = 8 * blocks[i].bytes / blocks[i].values;
        if (number(format, ATTR_FORMAT_BITS) != expected)
            FAULT("%s: %.9g bits, its block has %.9g", blocks[i].format, number(format, ATTR_FORMAT_BITS),
                  expected);
    }
    EXPECT_NO_FAULTS();
}

/* ---- cards -------------------------------------------------------------------------------------- */

/* Figures every reader knows, against slips of the digits. */
Test(catalogue, well_known_cards)
{
    static const struct {
        const char *gpu;
        double memory, bandwidth, peak16, link;
    } rows[] = {
        {"a100-sxm-80", 80 * 1073741824.0, 2039e9, 312e12, 300e9},
        {"h100-sxm", 79.65 * 1073741824.0, 3350e9, 989.4e12, 450e9},
        {"h200-sxm", 140.4 * 1073741824.0, 4800e9, 989.4e12, 450e9},
        {"mi300x", 192 * 1073741824.0, 5300e9, 1307.4e12, 448e9},
        {"l40s", 44.99 * 1073741824.0, 864e9, 362e12, 0},
        {"rtx-4090", 24 * 1073741824.0, 1008e9, 330.3e12, 0},
        {"t4", 15 * 1073741824.0, 320e9, 65e12, 0},
        {"rtx-3080-10", 10 * 1073741824.0, 760e9, 119.2e12, 0},
        {"rtx-a5000", 24 * 1073741824.0, 768e9, 111.1e12, 56.25e9},
        {"v100s-pcie-32", 32 * 1073741824.0, 1134e9, 130e12, 0},
        {"mi100", 32 * 1073741824.0, 1228.8e9, 184.6e12, 138e9},
        {"rx-9070-xt", 16 * 1073741824.0, 640e9, 195e12, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct decl *gpu = plan_find(plan, KIND_GPU, rows[i].gpu);
        cr_assert_not_null(gpu, "%s", rows[i].gpu);
        cr_assert_float_eq(number(gpu, ATTR_GPU_MEMORY), rows[i].memory, 1, "%s", rows[i].gpu);
        cr_assert_eq(number(gpu, ATTR_GPU_BANDWIDTH), rows[i].bandwidth, "%s", rows[i].gpu);
        cr_assert_eq(number(gpu, ATTR_GPU_PEAK_FP16), rows[i].peak16, "%s", rows[i].gpu);
        cr_assert_eq(number(gpu, ATTR_GPU_LINK), rows[i].link, "%s", rows[i].gpu);
    }
}

/* Serving measurements stand behind these cards and no others (docs/catalogue.md). */
Test(catalogue, only_measured_cards_say_so)
{
    static const char *const measured[] = {"b200-sxm", "h100-sxm", "h200-sxm"};
    size_t count, found = 0;
    struct decl **gpus = plan_catalogue(plan, KIND_GPU, &count);
    for (size_t i = 0; i < count; i++) {
        if (!plan_bool(plan, gpus[i], ATTR_GPU_MEASURED, false))
            continue;
        cr_assert(found < 3, "%s", gpus[i]->name);
        cr_assert_str_eq(gpus[i]->name, measured[found]);
        cr_assert(plan_bool(plan, gpus[i], ATTR_GPU_MOE_CALIBRATED, false), "%s", gpus[i]->name);
        found++;
    }
    cr_assert_eq(found, 3);
}
