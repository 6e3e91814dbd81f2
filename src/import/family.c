/* family.c: the table of families, by model_type, and the decoder that most of them are. */
#include <string.h>

#include "import/config.h"
#include "source/suggest.h"

static const struct module_names usual = {"self_attn",   "linear_attn",       "mixer",   "mlp",
                                          "mlp.experts", "mlp.shared_expert", "mlp.gate"};
static const struct module_names deepseek = {"self_attn",   "linear_attn",        "mixer",   "mlp",
                                             "mlp.experts", "mlp.shared_experts", "mlp.gate"};
static const struct module_names mixtral = {"self_attn",
                                            "linear_attn",
                                            "mixer",
                                            "mlp",
                                            "block_sparse_moe.experts",
                                            "block_sparse_moe.shared_experts",
                                            "block_sparse_moe.gate"};
static const struct module_names llama4 = {
    "self_attn",          "linear_attn",          "mixer",
    "feed_forward",       "feed_forward.experts", "feed_forward.shared_expert",
    "feed_forward.router"};
static const struct module_names gpt_oss = {"self_attn",   "linear_attn",       "mixer",     "mlp",
                                            "mlp.experts", "mlp.shared_expert", "mlp.router"};
static const struct module_names gemma4 = {"self_attn", "linear_attn",   "mixer", "mlp",
                                           "experts",   "shared_expert", "router"};
static const struct module_names nemotron_h = {
    "mixer", "mixer", "mixer", "mixer", "mixer.experts", "mixer.shared_experts", "mixer.gate"};

static const struct module_names granite = {"self_attn",
                                            "linear_attn",
                                            "mamba",
                                            "shared_mlp",
                                            "block_sparse_moe",
                                            "shared_mlp",
                                            "block_sparse_moe.router"};
static const struct module_names feed_forward = {
    "self_attn",          "conv", "mamba", "feed_forward", "feed_forward.experts", "feed_forward.shared",
    "feed_forward.router"};
static const struct module_names kimi_linear = {"self_attn",
                                                "self_attn",
                                                "mixer",
                                                "mlp",
                                                "block_sparse_moe.experts",
                                                "block_sparse_moe.shared_experts",
                                                "block_sparse_moe.gate"};
static const struct module_names longcat = {"self_attn.0", "linear_attn",        "mixer",     "mlps.0",
                                            "mlp.experts", "mlp.shared_experts", "mlp.router"};
static const struct module_names bailing = {"attention",   "linear_attn",        "mixer",   "mlp",
                                            "mlp.experts", "mlp.shared_experts", "mlp.gate"};
static const struct module_names hunyuan = {"self_attn",   "linear_attn",    "mixer",   "mlp",
                                            "mlp.experts", "mlp.shared_mlp", "mlp.gate"};

enum {
    GPT2 = TIED_WHEN_ABSENT | BIAS_ALWAYS | UNGATED | BIASED_NORMS | WIDE_WHEN_ABSENT | LEARNED_POSITIONS,
    CTRL = TIED_WHEN_ABSENT | BIAS_ALWAYS | UNGATED | BIASED_NORMS | HEAD_BIAS,
    PHI = BIAS_ALWAYS | UNGATED | BIASED_NORMS | ONE_NORM | HEAD_BIAS | WIDE_WHEN_ABSENT,
    QWEN2 = QKV_BIAS_ALWAYS | NO_OUTPUT_BIAS | WINDOWS_OFF_WHEN_ABSENT,
    QWEN3 = HEAD_QK_NORM | WINDOWS_OFF_WHEN_ABSENT,
    GLM4_MOE = NO_OUTPUT_BIAS | ROUTER_BIAS | HEAD_QK_NORM | QK_NORM_BY_KEY,
    GPT_NEO =
        TIED_WHEN_ABSENT | UNGATED | BIASED_NORMS | FFN_BIAS_ALWAYS | WIDE_WHEN_ABSENT | LEARNED_POSITIONS,
    FALCON = TIED_WHEN_ABSENT | UNGATED | BIASED_NORMS | WIDE_WHEN_ABSENT,
    GPTJ = UNGATED | BIASED_NORMS | ONE_NORM | HEAD_BIAS | FFN_BIAS_ALWAYS | WIDE_WHEN_ABSENT,
};

static const struct family families[] = {
    /* llama and what is like it */
    {"llama", 0, build_decoder, &usual},
    {"mistral", 0, build_decoder, &usual},
    {"ministral", 0, build_decoder, &usual},
    {"ministral3", 0, build_decoder, &usual},
    {"devstral", 0, build_decoder, &usual},
    {"yi", 0, build_decoder, &usual},
    {"Yi", 0, build_decoder, &usual},
    {"code_llama", 0, build_decoder, &usual},
    {"cwm", 0, build_decoder, &usual},
    {"xverse", 0, build_decoder, &usual},
    {"aquila", 0, build_decoder, &usual},
    {"helium", 0, build_decoder, &usual},
    {"orion", BIASED_NORMS, build_decoder, &usual},
    {"bitnet", TIED_WHEN_ABSENT, build_bitnet, &usual},
    {"phi3", 0, build_decoder, &usual},
    {"phi3_v", 0, build_decoder, &usual},
    {"phi4mm", TIED_WHEN_ABSENT, build_decoder, &usual},
    {"internlm", 0, build_decoder, &usual},
    {"internlm2", 0, build_decoder, &usual},
    {"internlm3", 0, build_decoder, &usual},
    {"baichuan", 0, build_decoder, &usual},
    {"minicpm", TIED_WHEN_ABSENT | EXPERTS_OF_FFN_WIDTH, build_decoder, &usual},
    {"mimo", QWEN2, build_decoder, &usual},
    {"smollm3", TIED_WHEN_ABSENT | WINDOWS_OFF_WHEN_ABSENT, build_decoder, &usual},
    {"granite", 0, build_decoder, &usual},
    {"exaone", TIED_WHEN_ABSENT, build_decoder, &usual},
    {"ernie4_5", TIED_WHEN_ABSENT, build_decoder, &usual},
    {"seed_oss", NO_OUTPUT_BIAS | BIAS_WHEN_ABSENT, build_decoder, &usual},
    {"glm", NO_OUTPUT_BIAS, build_decoder, &usual},
    {"glm4", NO_OUTPUT_BIAS | FOUR_NORMS, build_decoder, &usual},
    {"glm4v_text", NO_OUTPUT_BIAS | FOUR_NORMS, build_decoder, &usual},
    {"arcee", UNGATED, build_decoder, &usual},
    {"apertus", UNGATED | HEAD_QK_NORM, build_apertus, &usual},
    {"stablelm_epoch", BIASED_NORMS | FULL_QK_NORM | QK_NORM_BY_KEY, build_stablelm, &usual},
    {"stablelm", BIASED_NORMS | FULL_QK_NORM | QK_NORM_BY_KEY, build_stablelm, &usual},
    {"hunyuan_v1_dense", HEAD_QK_NORM, build_decoder, &usual},
    {"nemotron", UNGATED | BIASED_NORMS, build_decoder, &usual},
    {"qwen2", QWEN2, build_decoder, &usual},
    {"qwen2_vl", QWEN2, build_decoder, &usual},
    {"qwen2_vl_text", QWEN2, build_decoder, &usual},
    {"qwen2_5_vl", QWEN2, build_decoder, &usual},
    {"qwen2_5_vl_text", QWEN2, build_decoder, &usual},
    {"qwen2_5_omni_text", QWEN2, build_decoder, &usual},
    {"qwen3", QWEN3, build_decoder, &usual},
    {"qwen3_vl_text", QWEN3, build_decoder, &usual},
    {"exaone4", HEAD_QK_NORM, build_decoder, &usual},
    {"exaone4_5_text", HEAD_QK_NORM, build_decoder, &usual},
    {"olmo", NORMS_WITHOUT_WEIGHTS, build_decoder, &usual},
    {"olmo2", FULL_QK_NORM, build_decoder, &usual},
    {"olmo3", FULL_QK_NORM, build_decoder, &usual},
    {"chatglm", 0, build_decoder, &usual},
    {"cohere", TIED_WHEN_ABSENT | ONE_NORM | FULL_QK_NORM | QK_NORM_BY_KEY, build_decoder, &usual},
    {"cohere2", TIED_WHEN_ABSENT | ONE_NORM, build_decoder, &usual},
    {"gemma", TIED_WHEN_ABSENT, build_decoder, &usual},
    {"gemma2", TIED_WHEN_ABSENT | FOUR_NORMS | ALTERNATE_WINDOWS, build_decoder, &usual},
    {"vaultgemma", TIED_WHEN_ABSENT, build_decoder, &usual},
    {"gemma3_text", TIED_WHEN_ABSENT | FOUR_NORMS | HEAD_QK_NORM, build_decoder, &usual},
    {"gemma3n_text", TIED_WHEN_ABSENT | FOUR_NORMS | HEAD_QK_NORM, build_gemma3n, &usual},
    {"gemma4_text", TIED_WHEN_ABSENT | FOUR_NORMS | HEAD_QK_NORM, build_gemma4, &gemma4},
    {"qwen", 0, build_qwen1, &usual},
    {"solar", 0, build_decoder, &usual},
    {"skywork", 0, build_decoder, &usual},
    {"iquestcoder", 0, build_decoder, &usual},
    {"emu3_text_model", 0, build_decoder, &usual},
    {"PanguEmbedded", BIAS_WHEN_ABSENT, build_decoder, &usual},
    {"nanochat", UNGATED | NORMS_WITHOUT_WEIGHTS, build_decoder, &usual},
    {"hyperclovax", 0, build_hyperclovax, &usual},
    {"diffllama", 0, build_diffllama, &usual},
    {"telechat", 0, build_telechat, &usual},
    {"telechat2", 0, build_telechat, &usual},
    {"baichuan_m1", 0, build_baichuan_m1, &usual},
    {"llava_llama", 0, build_decoder, &usual},
    {"llava_mistral", 0, build_decoder, &usual},
    {"llava_qwen", QWEN2, build_decoder, &usual},
    {"llava_qwen2", QWEN2, build_decoder, &usual},
    {"dots_ocr", QWEN2, build_decoder, &usual},
    {"paddleocr_vl", TIED_WHEN_ABSENT, build_decoder, &usual},
    /* mixtures of experts */
    {"mixtral", EXPERTS_OF_FFN_WIDTH, build_decoder, &mixtral},
    {"phimoe", EXPERTS_OF_FFN_WIDTH | BIASED_NORMS, build_decoder, &mixtral},
    {"qwen2_moe", QWEN2 | SHARED_GATE, build_decoder, &usual},
    {"qwen3_moe", QWEN3, build_decoder, &usual},
    {"qwen3_vl_moe_text", QWEN3, build_decoder, &usual},
    {"qwen3_omni_moe_text", QWEN3, build_decoder, &usual},
    {"olmoe", EXPERTS_OF_FFN_WIDTH | FULL_QK_NORM, build_decoder, &usual},
    {"flex_olmo", EXPERTS_OF_FFN_WIDTH | FULL_QK_NORM, build_decoder, &usual},
    {"granitemoe", EXPERTS_OF_FFN_WIDTH, build_decoder, &mixtral},
    {"granitemoeshared", EXPERTS_OF_FFN_WIDTH, build_decoder, &mixtral},
    {"dots1", HEAD_QK_NORM | ROUTER_BIAS | WINDOWS_OFF_WHEN_ABSENT, build_decoder, &deepseek},
    {"ernie4_5_moe", TIED_WHEN_ABSENT | ROUTER_BIAS, build_decoder, &deepseek},
    {"exaone_moe", HEAD_QK_NORM | ROUTER_BIAS, build_decoder, &deepseek},
    {"bailing_moe", HEAD_QK_NORM | QK_NORM_BY_KEY, build_decoder, &bailing},
    {"bailing_moe_v2", HEAD_QK_NORM | QK_NORM_BY_KEY, build_decoder, &bailing},
    {"afmoe", HEAD_QK_NORM | FOUR_NORMS | ROUTER_BIAS | OUTPUT_GATE, build_decoder, &deepseek},
    {"hunyuan", HEAD_QK_NORM | QK_NORM_BY_KEY | ONE_EXPERT_IS_DENSE, build_hunyuan, &hunyuan},
    {"hunyuan_v1_moe", HEAD_QK_NORM | ONE_EXPERT_IS_DENSE, build_hunyuan, &hunyuan},
    {"hy_v3", HEAD_QK_NORM | ROUTER_BIAS, build_decoder, &hunyuan},
    {"Klear", HEAD_QK_NORM | ROUTER_BIAS, build_klear, &deepseek},
    {"aria_text", 0, build_aria, &deepseek},
    {"cohere2_moe", TIED_WHEN_ABSENT | ONE_NORM | EXPERTS_OF_FFN_WIDTH, build_cohere2_moe, &deepseek},
    {"step3p5", HEAD_QK_NORM | ROUTER_BIAS, build_step3p5, &usual},
    {"ernie4_5_moe_vl", TIED_WHEN_ABSENT, build_ernie_vl, &deepseek},
    {"ernie4_5_vl_moe_text", TIED_WHEN_ABSENT, build_ernie_vl, &deepseek},
    {"arctic", EXPERTS_OF_FFN_WIDTH, build_arctic, &mixtral},
    {"step3_text", 0, build_step3, &usual},
    {"glm4_moe", GLM4_MOE, build_decoder, &deepseek},
    {"glm4v_moe_text", GLM4_MOE, build_decoder, &deepseek},
    {"solar_open", NO_OUTPUT_BIAS | ROUTER_BIAS, build_decoder, &deepseek},
    {"minimax_m2", EXPERTS_OF_FFN_WIDTH | FULL_QK_NORM | QK_NORM_BY_KEY, build_decoder, &mixtral},
    {"minimax_text_01", EXPERTS_OF_FFN_WIDTH, build_minimax_lightning, &mixtral},
    {"minimax", EXPERTS_OF_FFN_WIDTH, build_minimax_lightning, &mixtral},
    {"minimax_m1", EXPERTS_OF_FFN_WIDTH, build_minimax_lightning, &mixtral},
    {"grok-1", TIED_WHEN_ABSENT | FOUR_NORMS, build_grok, &mixtral},
    {"git", FOUR_NORMS, build_grok, &mixtral},
    {"llama4_text", 0, build_llama4, &llama4},
    {"dbrx", 0, build_dbrx, &usual},
    {"gpt_oss", EXPERTS_OF_FFN_WIDTH | ALTERNATE_WINDOWS, build_gpt_oss, &gpt_oss},
    {"mimo_v2_flash", 0, build_mimo_flash, &usual},
    {"mimo_v2", 0, build_mimo_flash, &usual},
    /* latent attention */
    {"deepseek", 0, build_decoder, &deepseek},
    {"deepseek_v2", 0, build_deepseek, &deepseek},
    {"deepseek_v3", ROUTER_BIAS, build_deepseek, &deepseek},
    {"deepseek_v32", ROUTER_BIAS, build_deepseek, &deepseek},
    {"kimi_k2", ROUTER_BIAS, build_deepseek, &deepseek},
    {"glm4_moe_lite", ROUTER_BIAS, build_deepseek, &deepseek},
    {"mistral4", 0, build_deepseek, &deepseek},
    {"youtu_llm", TIED_WHEN_ABSENT, build_deepseek, &deepseek},
    {"minicpm3", TIED_WHEN_ABSENT, build_deepseek, &deepseek},
    {"longcat_flash", 0, build_longcat, &longcat},
    {"kimi_linear", ROUTER_BIAS, build_kimi_linear, &kimi_linear},
    {"glm_moe_dsa", ROUTER_BIAS, build_deepseek, &deepseek},
    /* linear attention and state spaces */
    {"qwen3_next", OUTPUT_GATE | HEAD_QK_NORM | SHARED_GATE | MTP_UNANNOUNCED, build_qwen_hybrid, &usual},
    {"qwen3_5_text", OUTPUT_GATE | HEAD_QK_NORM, build_qwen_hybrid, &usual},
    {"qwen3_5_moe_text", OUTPUT_GATE | HEAD_QK_NORM | SHARED_GATE, build_qwen_hybrid, &usual},
    {"olmo_hybrid", FULL_QK_NORM, build_qwen_hybrid, &usual},
    {"nemotron_h", UNGATED, build_nemotron_h, &nemotron_h},
    {"mamba", TIED_WHEN_ABSENT, build_mamba, &nemotron_h},
    {"falcon_mamba", TIED_WHEN_ABSENT, build_mamba, &nemotron_h},
    {"mamba2", 0, build_mamba2, &nemotron_h},
    {"jamba", EXPERTS_OF_FFN_WIDTH | ONE_EXPERT_IS_DENSE, build_jamba, &feed_forward},
    {"bamba", 0, build_bamba, &feed_forward},
    {"granitemoehybrid", EXPERTS_OF_FFN_WIDTH, build_bamba, &granite},
    {"falcon_h1", 0, build_falcon_h1, &feed_forward},
    {"lfm2", TIED_WHEN_ABSENT | HEAD_QK_NORM, build_lfm2, &feed_forward},
    {"lfm2_moe", TIED_WHEN_ABSENT | HEAD_QK_NORM, build_lfm2, &feed_forward},
    {"rwkv", 0, build_rwkv, &usual},
    {"rwkv5", 0, build_rwkv, &usual},
    {"rwkv6", 0, build_rwkv, &usual},
    {"rwkv7", 0, build_rwkv, &usual},
    {"bailing_moe_linear", HEAD_QK_NORM | QK_NORM_BY_KEY, build_bailing_linear, &bailing},
    {"bailing_moe_linear_v2", HEAD_QK_NORM | QK_NORM_BY_KEY, build_bailing_linear, &bailing},
    {"bailing_hybrid", HEAD_QK_NORM | ROUTER_BIAS, build_bailing_linear, &bailing},
    {"phi4flash", TIED_WHEN_ABSENT | BIASED_NORMS, build_phi4flash, &usual},
    {"plamo2", TIED_WHEN_ABSENT | FULL_QK_NORM | FOUR_NORMS, build_plamo2, &usual},
    {"zamba", TIED_WHEN_ABSENT, build_zamba, &feed_forward},
    {"zamba2", TIED_WHEN_ABSENT, build_zamba2, &feed_forward},
    {"ouro", FOUR_NORMS, build_ouro, &usual},
    {"iquestloopcoder", 0, build_iquest_loop, &usual},
    {"recurrent_gemma", TIED_WHEN_ABSENT | FFN_BIAS_ALWAYS, build_recurrent_gemma, &usual},
    /* before llama */
    {"gpt2", GPT2, build_decoder, &usual},
    {"gpt-sw3", GPT2, build_decoder, &usual},
    {"openai-gpt", GPT2, build_openai_gpt, &usual},
    {"ctrl", CTRL, build_decoder, &usual},
    {"jais", GPT2, build_jais, &usual},
    {"xglm", TIED_WHEN_ABSENT | BIAS_ALWAYS | UNGATED | BIASED_NORMS, build_decoder, &usual},
    {"biogpt", TIED_WHEN_ABSENT | BIAS_ALWAYS | UNGATED | BIASED_NORMS, build_opt, &usual},
    {"persimmon", BIAS_ALWAYS | UNGATED | BIASED_NORMS, build_persimmon, &usual},
    {"gpt_neox_japanese", TIED_WHEN_ABSENT | UNGATED | BIASED_NORMS | WIDE_WHEN_ABSENT,
     build_gpt_neox_japanese, &usual},
    {"gpt_bigcode", GPT2 | ONE_KV_HEAD_WHEN_ABSENT, build_decoder, &usual},
    {"gpt_neo", GPT_NEO, build_gpt_neo, &usual},
    {"gptj", GPTJ, build_decoder, &usual},
    {"codegen", GPTJ, build_decoder, &usual},
    {"gpt_neox", BIAS_ALWAYS | UNGATED | BIASED_NORMS, build_decoder, &usual},
    {"bloom", TIED_WHEN_ABSENT | BIAS_ALWAYS | UNGATED | BIASED_NORMS | WIDE_WHEN_ABSENT | EMBEDDING_NORM,
     build_decoder, &usual},
    {"starcoder2", TIED_WHEN_ABSENT | BIAS_WHEN_ABSENT | UNGATED | BIASED_NORMS, build_decoder, &usual},
    {"phi", PHI, build_decoder, &usual},
    {"phi-msft", PHI, build_decoder, &usual},
    {"phi3small", TIED_WHEN_ABSENT | BIAS_ALWAYS | BIASED_NORMS, build_decoder, &usual},
    {"falcon", FALCON, build_falcon, &usual},
    {"RefinedWeb", FALCON, build_falcon, &usual},
    {"RefinedWebModel", FALCON, build_falcon, &usual},
    {"mpt", TIED_WHEN_ABSENT | UNGATED | BIASED_NORMS, build_mpt, &usual},
    {"opt", TIED_WHEN_ABSENT | BIAS_ALWAYS | UNGATED | BIASED_NORMS, build_opt, &usual},
    {"mllama_text_model", 0, build_mllama, &usual},
    {"openelm", HEAD_QK_NORM | QK_NORM_BY_KEY, build_openelm, &usual},
    /* searched by layer */
    {"nemotron-nas", 0, build_nemotron_nas, &usual},
};
enum { FAMILY_COUNT = sizeof families / sizeof families[0] };

const struct family *family_find(const char *name)
{
    for (size_t i = 0; i < FAMILY_COUNT; i++)
        if (strcmp(families[i].name, name) == 0)
            return &families[i];
    return NULL;
}

const char *family_suggest(const char *name)
{
    struct suggestion suggestion = suggestion_for(name);
    for (size_t i = 0; i < FAMILY_COUNT; i++)
        suggestion_consider(&suggestion, families[i].name);
    return suggestion_result(&suggestion);
}

/* Equal layers of attention and a feed-forward; some with experts, some windowed. */
void build_decoder(struct config *config, unsigned traits)
{
    config_sizes(config, traits);
    const bool *sparse = config_sparse_layers(config);
    struct layer attention = layer_usual();
    config_attention(config, traits, &attention);
    struct layer dense = attention, moe = attention;
    bool any_dense = false, any_sparse = false;
    for (size_t i = 0; i < config->layers; i++) {
        any_sparse = any_sparse || sparse[i];
        any_dense = any_dense || !sparse[i];
    }
    if (any_dense)
        config_dense(config, traits, &dense);
    if (any_sparse)
        config_experts(config, traits, &moe);
    architecture_layers(config->job->arena, &config->model, config->layers);
    for (size_t i = 0; i < config->layers; i++)
        config->model.layers[i] = sparse[i] ? moe : dense;
    config_windows(config, traits);
    double mtp = config_count_or(config, "num_nextn_predict_layers", 0);
    if (mtp > 0)
        config_mtp(config, any_sparse ? &moe : &dense, mtp);
}
