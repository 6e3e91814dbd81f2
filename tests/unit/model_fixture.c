/* model_fixture.c: see model_fixture.h. */
#include "model_fixture.h"

#include <string.h>

const struct pm_format fixture_fp16 = {.bits = 16, .compute = PM_FP16, .expected = PM_FP16};
const struct pm_format fixture_bf16 = {.bits = 16, .compute = PM_BF16, .expected = PM_BF16};
const struct pm_format fixture_fp8 = {.bits = 8, .compute = PM_FP8, .expected = PM_FP8};
const struct pm_format fixture_int8 = {.bits = 8, .compute = PM_INT8, .expected = PM_INT8};
const struct pm_format fixture_int4 = {
    .bits = 4, .compute = PM_FP16, .expected = PM_FP16, .weight_only = true};
const struct pm_format fixture_nvfp4 = {.bits = 4.5, .compute = PM_FP4, .expected = PM_FP4};
const struct pm_format fixture_mxfp4 = {.bits = 4.25, .compute = PM_FP4, .expected = PM_FP8};

/* Figures of calibration.md section 3, which are not those of the catalogue: aiconfigurator systems. */
bool fixture_gpu(struct pm_gpu *out, const char *name)
{
    *out = (struct pm_gpu){.link_domain = 8, .gpus_per_node = 8, .measured = true, .moe_calibrated = true};
    bool hopper = strncmp(name, "h", 1) == 0;
    out->peak[PM_BF16] = hopper ? 989e12 : 2250e12;
    out->peak[PM_FP8] = hopper ? 1978e12 : 4500e12;
    out->peak[PM_FP4] = hopper ? 0 : 9000e12;
    out->link = hopper ? 450e9 : 900e9;
    if (strcmp(name, "h100_sxm") == 0) {
        out->bandwidth = 3.35e12;
        out->memory = 85899345920.0;
    } else if (strcmp(name, "h200_sxm") == 0) {
        out->bandwidth = 4.8e12;
        out->memory = 151.4e9;
    } else if (strcmp(name, "b200_sxm") == 0) {
        out->bandwidth = 7.7e12;
        out->memory = 193273528320.0;
    } else {
        return false;
    }
    return true;
}

/* calibration.md section 3. */
void fixture_engine(struct pm_engine *out, const char *name)
{
    *out = (struct pm_engine){
        .efficiency_bandwidth = 0.90,
        .efficiency_dense = {0.70, 0.50, 0.45},
        .efficiency_attention = 0.60,
        .efficiency_experts = {0.12, 0.06, 0.20},
        .expert_half_rows = 5,
        .operation_time = 10e-6,
        .sequence_time = 20e-6,
        .allreduce_time = 8e-6,
        .efficiency_link = 0.65,
        .utilization = 0.95,
        .overhead = 3e9,
        .activations_in_overhead = true,
        .page = 16,
        .chunk = 8192,
        .request_time = 0.020,
        .stream_interval = strcmp(name, "vllm") == 0     ? 4
                           : strcmp(name, "sglang") == 0 ? 33
                                                         : 9,
        .first_wave = 0.06,
        .tpot_band = {0.84, 1.21},
        .ttft_band = {0.63, 1.74},
        .rate_band = {0.82, 1.18},
        .unverified_band = {0.5, 2},
    };
}

void fixture_refine(struct pm_engine *engine, struct fixture_model *model, const char *name)
{
    bool vllm = strcmp(name, "vllm") == 0, sglang = strcmp(name, "sglang") == 0;
    engine->corner = 4;
    engine->expert_row_mix = 0.3;
    engine->expert_half_rows = 8;
    engine->recurrent_factor = 1.6;
    engine->efficiency_oneshot = 0.60;
    engine->ring_time = 8e-6;
    engine->operation_time = 10.3e-6;
    engine->sequence_time = 19.5e-6;
    engine->allreduce_time = vllm ? 9.7e-6 : sglang ? 5.9e-6 : 5.8e-6;
    engine->efficiency_bandwidth = vllm ? 0.87 : sglang ? 0.97 : 1.0;
    engine->tpot_band = vllm     ? (struct pm_band){0.85, 1.16}
                        : sglang ? (struct pm_band){0.72, 1.18}
                                 : (struct pm_band){0.83, 1.20};
    for (size_t i = 0; i < model->model.block_count; i++) {
        struct pm_format *format = &model->blocks[i].expert_format;
        if (format->bits == fixture_mxfp4.bits) {
            format->expected = PM_FP4;
        }
    }
}

void fixture_ideal(struct pm_engine *out)
{
    *out = (struct pm_engine){
        .ideal = true,
        .utilization = 1,
        .activations_in_overhead = true,
        .page = 1,
        .tpot_band = {1, 1},
        .ttft_band = {1, 1},
        .rate_band = {1, 1},
        .unverified_band = {1, 1},
    };
}

void fixture_connect(struct fixture_model *model, size_t blocks)
{
    model->model.blocks = model->blocks;
    model->model.block_count = blocks;
}

void fixture_formats(struct fixture_model *model, const struct pm_format *weights)
{
    struct pm_model *whole = &model->model;
    whole->weights_format = *weights;
    whole->embedding_format = whole->head_format = whole->norm_format = whole->kv_format = fixture_bf16;
    for (size_t i = 0; i < FIXTURE_BLOCKS; i++) {
        struct pm_block *block = &model->blocks[i];
        block->attention_format = block->ffn_format = block->expert_format = block->shared_format = *weights;
        block->router_format = fixture_bf16;
    }
}

struct pm_case fixture_case(const struct pm_model *model, const struct pm_gpu *gpu,
                            const struct pm_engine *engine)
{
    return (struct pm_case){.model = model,
                            .gpu = gpu,
                            .engine = engine,
                            .tp = 1,
                            .pp = 1,
                            .dp = 1,
                            .ep = 1,
                            .replicas = 1,
                            .batch = 1};
}

/* ---- the models of the serving measurements --------------------------------------------------- */

static struct pm_block grouped(double count, double heads, double kv_heads, double head_dim, double ffn)
{
    return (struct pm_block){.count = count,
                             .attention = PM_ATTENTION_GROUPED,
                             .heads = heads,
                             .kv_heads = kv_heads,
                             .head_dim = head_dim,
                             .v_dim = head_dim,
                             .ffn = ffn,
                             .ffn_gated = true};
}

static void add_experts(struct pm_block *block, double experts, double active, double width)
{
    block->experts = experts;
    block->active_experts = active;
    block->expert_ffn = width;
}

/* Geometry from facts/configs; norms, biases, sinks and gates are left out, as where the vectors were
 * made (calibration.md section 4). Returns the number of blocks, 0 when unknown. */
static size_t geometry(struct fixture_model *out, const char *name)
{
    struct pm_block *blocks = out->blocks;
    if (strstr(name, "Llama-3.1-70B") != NULL) { /* meta-llama__Meta-Llama-3.1-70B.json */
        out->model = (struct pm_model){.hidden = 8192, .vocab = 128256};
        blocks[0] = grouped(80, 64, 8, 128, 28672);
        return 1;
    }
    if (strstr(name, "Llama-3.1-8B") != NULL) { /* meta-llama__Llama-3.1-8B-Instruct.json */
        out->model = (struct pm_model){.hidden = 4096, .vocab = 128256};
        blocks[0] = grouped(32, 32, 8, 128, 14336);
        return 1;
    }
    if (strstr(name, "Qwen3-32B") != NULL) { /* Qwen__Qwen3-32B.json */
        out->model = (struct pm_model){.hidden = 5120, .vocab = 151936};
        blocks[0] = grouped(64, 64, 8, 128, 25600);
        return 1;
    }
    if (strstr(name, "gpt-oss-120b") != NULL) { /* openai__gpt-oss-120b.json: every other block a window */
        out->model = (struct pm_model){.hidden = 2880, .vocab = 201088};
        blocks[0] = grouped(18, 64, 8, 64, 0);
        add_experts(&blocks[0], 128, 4, 2880);
        blocks[1] = blocks[0];
        blocks[1].window = 128;
        return 2;
    }
    if (strstr(name, "MiniMax-M2.5") != NULL) { /* MiniMaxAI__MiniMax-M2.5.json */
        out->model = (struct pm_model){.hidden = 3072, .vocab = 200064};
        blocks[0] = grouped(62, 48, 8, 128, 0);
        add_experts(&blocks[0], 256, 8, 1536);
        return 1;
    }
    if (strstr(name, "Qwen3-235B") != NULL) { /* Qwen__Qwen3-235B-A22B.json */
        out->model = (struct pm_model){.hidden = 4096, .vocab = 151936};
        blocks[0] = grouped(94, 64, 4, 128, 0);
        add_experts(&blocks[0], 128, 8, 1536);
        return 1;
    }
    if (strstr(name, "Qwen3.5-397B") != NULL) { /* Qwen__Qwen3.5-397B-A17B.json: 15 full, 45 linear */
        out->model = (struct pm_model){.hidden = 4096, .vocab = 248320};
        blocks[0] = grouped(15, 32, 2, 256, 0);
        blocks[0].output_gate = true;
        blocks[1] = (struct pm_block){.count = 45,
                                      .attention = PM_ATTENTION_LINEAR,
                                      .linear_key_heads = 16,
                                      .linear_value_heads = 64,
                                      .linear_key_dim = 128,
                                      .linear_value_dim = 128,
                                      .ffn_gated = true};
        for (int i = 0; i < 2; i++) {
            add_experts(&blocks[i], 512, 10, 1024);
            blocks[i].shared_ffn = 1024;
        }
        return 2;
    }
    if (strstr(name, "DeepSeek") != NULL) { /* deepseek-ai__DeepSeek-R1.json */
        out->model = (struct pm_model){.hidden = 7168, .vocab = 129280};
        blocks[0] = (struct pm_block){.count = 3,
                                      .attention = PM_ATTENTION_LATENT,
                                      .heads = 128,
                                      .q_rank = 1536,
                                      .kv_rank = 512,
                                      .nope_dim = 128,
                                      .rope_dim = 64,
                                      .v_dim = 128,
                                      .ffn = 18432,
                                      .ffn_gated = true};
        blocks[1] = blocks[0];
        blocks[1].count = 58;
        blocks[1].ffn = 0;
        add_experts(&blocks[1], 256, 8, 2048);
        blocks[1].shared_ffn = 2048;
        return 2;
    }
    return 0;
}

/* Formats of calibration.md section 4. */
bool fixture_serving_model(struct fixture_model *out, const char *name, const char *precision,
                           const char *gpu, const char *engine)
{
    bool fp4 = strcmp(precision, "fp4") == 0, bf16 = strcmp(precision, "bf16") == 0;
    bool blackwell = strcmp(gpu, "b200_sxm") == 0, gpt_oss = strstr(name, "gpt-oss") != NULL;
    *out = (struct fixture_model){0};
    size_t count = geometry(out, name);
    if (count == 0) {
        return false;
    }
    fixture_formats(out, bf16 ? &fixture_bf16 : fp4 ? &fixture_nvfp4 : &fixture_fp8);
    bool qwen = strstr(name, "Qwen3.5") != NULL;
    bool attention_16 =
        gpt_oss || (fp4 && (qwen || strstr(name, "MiniMax") != NULL || strstr(name, "DeepSeek") != NULL));
    for (size_t i = 0; i < count; i++) {
        if (attention_16) {
            out->blocks[i].attention_format = fixture_bf16;
        }
        if (gpt_oss) {
            out->blocks[i].expert_format = fixture_mxfp4;
        }
        if (fp4 && qwen) {
            out->blocks[i].shared_format = fixture_bf16;
        }
    }
    out->model.norm_format.bits = 0; /* norms of latent and linear attention weigh nothing there */
    bool kv_8 = blackwell || strcmp(engine, "trtllm") == 0 ||
                (strcmp(engine, "vllm") == 0 && strstr(name, "Llama-3.1-70B") != NULL);
    if (!bf16 && !(gpt_oss && !blackwell) && kv_8) {
        out->model.kv_format = fixture_fp8;
    }
    fixture_connect(out, count);
    return true;
}
