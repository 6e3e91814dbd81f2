/* gguf_model.c: an architecture from the metadata and the tensors of a GGUF file. What a layer is made of is
 * read off its tensors; the metadata says what shapes cannot (head sizes, experts per token, windows). A
 * layer's tensors must then hold at least what perfc's formulas count, to the last element: else the
 * architecture is another. */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "import/gguf.h"
#include "import/modules.h"
#include "import/storage.h"
#include "source/suggest.h"

/* Architectures by llama.cpp's names. Where windows alternate, llama.cpp has the pattern in its code: of each
 * `period` layers the last is global, or the first is local when the period is 2. */
static const struct gguf_architecture {
    const char *name;
    unsigned period; /* 0: no windows; 1: all layers */
    bool chunks;     /* windows are chunks that do not overlap */
} architectures[] = {
    {"llama", 0, false},          {"llama4", 4, true},
    {"mistral3", 0, false},       {"qwen", 0, false},
    {"qwen2", 0, false},          {"qwen2moe", 0, false},
    {"qwen3", 0, false},          {"qwen3moe", 0, false},
    {"qwen3vl", 0, false},        {"qwen3vlmoe", 0, false},
    {"qwen3next", 0, false},      {"qwen35", 0, false},
    {"qwen35moe", 0, false},      {"gemma", 0, false},
    {"gemma2", 2, false},         {"gemma3", 6, false},
    {"phi2", 0, false},           {"phi3", 0, false},
    {"phimoe", 0, false},         {"deepseek", 0, false},
    {"deepseek2", 0, false},      {"gpt-oss", 2, false},
    {"command-r", 0, false},      {"cohere2", 4, false},
    {"falcon", 0, false},         {"mpt", 0, false},
    {"starcoder", 0, false},      {"starcoder2", 0, false},
    {"gpt2", 0, false},           {"gptneox", 0, false},
    {"bloom", 0, false},          {"olmo2", 4, false},
    {"internlm2", 0, false},      {"minicpm", 0, false},
    {"baichuan", 0, false},       {"chatglm", 0, false},
    {"glm4moe", 0, false},        {"exaone4", 4, false},
    {"minimax-m2", 0, false},     {"nemotron_h", 0, false},
    {"nemotron_h_moe", 0, false}, {"grok", 0, false},
    {"dbrx", 0, false},           {"jamba", 0, false},
    {"mamba", 0, false},          {"mamba2", 0, false},
    {"deci", 0, false},           {"qwen2vl", 0, false},
    {"granite", 0, false},        {"granitemoe", 0, false},
    {"glm4", 0, false},           {"seed_oss", 0, false},
    {"smollm3", 0, false},        {"ernie4_5", 0, false},
    {"stablelm", 0, false},       {"nemotron", 0, false},
    {"olmoe", 0, false},          {"dots1", 0, false},
    {"exaone", 0, false},         {"arcee", 0, false},
};
enum { ARCHITECTURE_COUNT = sizeof architectures / sizeof architectures[0] };

static const struct gguf_architecture assumed = {"llama", 0, false};

/* ---- metadata ------------------------------------------------------------------------------ */

static const struct gguf_value *find(const struct gguf *gguf, const char *prefix, const char *key)
{
    size_t length = strlen(prefix);
    for (size_t i = 0; i < gguf->values.count; i++) {
        const char *other = gguf->values.items[i].key;
        if (strncmp(other, prefix, length) == 0 && other[length] == '.' &&
            strcmp(other + length + 1, key) == 0)
            return &gguf->values.items[i];
    }
    return NULL;
}

struct reader {
    struct gguf *gguf;
    const struct gguf_architecture *architecture;
    const char *prefix; /* of its keys */
    double hidden;
    size_t layers, mtp;
};

/* A number of the architecture, or one entry of a list by layer; `usual` when it is absent or no size. */
static double value_at(const struct reader *reader, const char *key, size_t layer, double usual)
{
    const struct gguf_value *value = find(reader->gguf, reader->prefix, key);
    double number = !value                 ? usual
                    : value->count == 0    ? value->number
                    : layer < value->count ? value->list[layer]
                                           : usual;
    return number >= 0 && number < 1e9 && number == (double)(uint64_t)number ? number : usual;
}

static double value_of(const struct reader *reader, const char *key, double usual)
{
    return value_at(reader, key, 0, usual);
}

static const struct tensor *tensor_of(const struct gguf *gguf, size_t layer, const char *name)
{
    const struct gguf_tensor *list = layer == SIZE_MAX ? gguf->ends : gguf->layers[layer];
    for (; list; list = list->next)
        if (strcmp(list->rest, name) == 0)
            return &list->tensor;
    return NULL;
}

static bool has(const struct reader *reader, size_t layer, const char *name)
{
    return tensor_of(reader->gguf, layer, name) != NULL;
}

/* Outputs of a matrix: its second dimension. */
static double width(const struct reader *reader, size_t layer, const char *name)
{
    const struct tensor *tensor = tensor_of(reader->gguf, layer, name);
    return tensor ? tensor->dims[1] : 0;
}

/* ---- layers -------------------------------------------------------------------------------- */

static void read_grouped(const struct reader *reader, size_t i, double *v)
{
    v[LAYER_HEADS] = value_at(reader, "attention.head_count", i, 0);
    v[LAYER_KV_HEADS] = value_at(reader, "attention.head_count_kv", i, v[LAYER_HEADS]);
    double size = v[LAYER_HEADS] > 0 ? reader->hidden / v[LAYER_HEADS] : 0;
    v[LAYER_HEAD_DIM] = value_of(reader, "attention.key_length", size);
    v[LAYER_V_DIM] = value_of(reader, "attention.value_length", v[LAYER_HEAD_DIM]);
    v[LAYER_OUTPUT_GATE] = width(reader, i, "attn_q.weight") == 2 * v[LAYER_HEADS] * v[LAYER_HEAD_DIM];
    v[LAYER_QKV_BIAS] = has(reader, i, "attn_q.bias") || has(reader, i, "attn_qkv.bias");
    v[LAYER_OUTPUT_BIAS] = has(reader, i, "attn_output.bias") || has(reader, i, "attn_out.bias");
    v[LAYER_SINKS] = has(reader, i, "attn_sinks.weight");
    v[LAYER_SHARED_KV] = has(reader, i, "attn_k.weight") && !has(reader, i, "attn_v.weight");
    const struct tensor *norm = tensor_of(reader->gguf, i, "attn_q_norm.weight");
    if (norm)
        v[LAYER_QK_NORM] = norm->elements == v[LAYER_HEAD_DIM] ? QK_NORM_HEAD : QK_NORM_FULL;
}

static void read_latent(const struct reader *reader, size_t i, double *v)
{
    v[LAYER_ATTENTION] = ATTENTION_LATENT;
    v[LAYER_HEADS] = value_at(reader, "attention.head_count", i, 0);
    v[LAYER_Q_RANK] = has(reader, i, "attn_q_a.weight") ? value_of(reader, "attention.q_lora_rank", 0) : 0;
    v[LAYER_KV_RANK] = value_of(reader, "attention.kv_lora_rank", 0);
    v[LAYER_ROPE_DIM] = value_of(reader, "rope.dimension_count", 0);
    /* Newer files state the sizes of the compressed form, and the real ones under _mla. */
    double key = value_of(reader, "attention.key_length_mla", value_of(reader, "attention.key_length", 0));
    v[LAYER_NOPE_DIM] = key > v[LAYER_ROPE_DIM] ? key - v[LAYER_ROPE_DIM] : 0;
    v[LAYER_V_DIM] =
        value_of(reader, "attention.value_length_mla", value_of(reader, "attention.value_length", 0));
    if (has(reader, i, "indexer.attn_k.weight") || has(reader, i, "indexer.attn_q_b.weight")) {
        v[LAYER_INDEX_HEADS] = value_of(reader, "attention.indexer.head_count", 0);
        v[LAYER_INDEX_DIM] = value_of(reader, "attention.indexer.key_length", 0);
        v[LAYER_INDEX_TOP] = value_of(reader, "attention.indexer.top_k", 0);
    }
}

/* Elements of the mixer of a Mamba 1 layer, stated as one number. */
static double mixer_elements(const struct reader *reader, size_t i)
{
    double sum = 0;
    for (const struct gguf_tensor *at = reader->gguf->layers[i]; at; at = at->next)
        sum += strncmp(at->rest, "ssm_", 4) == 0 ? at->tensor.elements : 0;
    return sum;
}

static void read_state_space(const struct reader *reader, size_t i, double *v)
{
    double inner = value_of(reader, "ssm.inner_size", 0), heads = value_of(reader, "ssm.time_step_rank", 0);
    v[LAYER_CONV_KERNEL] = value_of(reader, "ssm.conv_kernel", 4);
    if (!has(reader, i, "ssm_in.weight")) { /* gated delta net, as llama.cpp names its sizes */
        v[LAYER_ATTENTION] = ATTENTION_LINEAR;
        v[LAYER_LINEAR_KEY_HEADS] = value_of(reader, "ssm.group_count", 0);
        v[LAYER_LINEAR_KEY_DIM] = value_of(reader, "ssm.state_size", 0);
        v[LAYER_LINEAR_VALUE_HEADS] = heads;
        v[LAYER_LINEAR_VALUE_DIM] = heads > 0 ? inner / heads : 0;
        return;
    }
    v[LAYER_ATTENTION] = ATTENTION_MAMBA;
    v[LAYER_SSM_STATE] = value_of(reader, "ssm.state_size", 0);
    if (has(reader, i, "ssm_x.weight")) { /* Mamba 1 has no heads: its channels stand for them */
        bool whole = inner / 64 == (double)(uint64_t)(inner / 64);
        v[LAYER_SSM_HEADS] = whole ? inner / 64 : inner;
        v[LAYER_SSM_HEAD_DIM] = whole ? 64 : 1;
        v[LAYER_ATTENTION_PARAMS] = mixer_elements(reader, i);
        double tail = v[LAYER_CONV_KERNEL] > 1 ? v[LAYER_CONV_KERNEL] - 1 : 0;
        v[LAYER_STATE] = inner * (v[LAYER_SSM_STATE] * 4 + tail * 2);
        return;
    }
    v[LAYER_SSM_HEADS] = heads;
    v[LAYER_SSM_HEAD_DIM] = heads > 0 ? inner / heads : 0;
    v[LAYER_SSM_GROUPS] = value_of(reader, "ssm.group_count", 1);
}

static void read_feed_forward(const struct reader *reader, size_t i, double *v)
{
    double up = width(reader, i, "ffn_up.weight"), stated = value_at(reader, "feed_forward_length", i, up);
    bool fused = up > 0 && !has(reader, i, "ffn_gate.weight") && up == 2 * stated;
    double plain = fused ? stated : up;
    v[LAYER_FFN_GATED] = fused || has(reader, i, "ffn_gate.weight") ||
                         has(reader, i, "ffn_gate_exps.weight") || has(reader, i, "ffn_gate_up_exps.weight");
    v[LAYER_FFN_BIAS] = has(reader, i, "ffn_up.bias") || has(reader, i, "ffn_down.bias");
    const struct tensor *down = tensor_of(reader->gguf, i, "ffn_down_exps.weight");
    if (!down) {
        v[LAYER_FFN] = plain;
        return;
    }
    v[LAYER_PARALLEL_FFN] = plain;
    v[LAYER_EXPERTS] = down->dims[2];
    v[LAYER_EXPERT_FFN] = down->dims[0];
    v[LAYER_EXPERT_INPUT] = down->dims[1] == reader->hidden ? 0 : down->dims[1];
    v[LAYER_ACTIVE_EXPERTS] = value_at(reader, "expert_used_count", i, 0);
    if (strcmp(reader->prefix, "gpt-oss") == 0)
        v[LAYER_EXPERT_SPREAD] = GPT_OSS_EXPERT_SPREAD;
    v[LAYER_EXPERT_BIAS] = has(reader, i, "ffn_up_exps.bias") || has(reader, i, "ffn_down_exps.bias");
    v[LAYER_ROUTER_BIAS] = has(reader, i, "exp_probs_b.bias") || has(reader, i, "ffn_gate_inp.bias");
    v[LAYER_SHARED_FFN] = width(reader, i, "ffn_up_shexp.weight");
    v[LAYER_SHARED_GATE] = has(reader, i, "ffn_gate_inp_shexp.weight");
}

/* Norms over the hidden width: not those of heads, ranks and state spaces. */
static void read_norms(const struct reader *reader, size_t i, double *v)
{
    static const char *const inner[] = {"attn_q", "attn_k", "attn_kv", "ssm_", "indexer.", "attn_sub"};
    v[LAYER_NORMS] = 0;
    for (const struct gguf_tensor *at = reader->gguf->layers[i]; at; at = at->next) {
        size_t length = strlen(at->rest);
        bool norm = strstr(at->rest, "norm") && length > 7 && strcmp(at->rest + length - 7, ".weight") == 0 &&
                    at->tensor.elements == reader->hidden;
        for (size_t k = 0; k < sizeof inner / sizeof inner[0]; k++)
            norm = norm && strncmp(at->rest, inner[k], strlen(inner[k])) != 0;
        v[LAYER_NORMS] += norm;
    }
    v[LAYER_NORM] = has(reader, i, "attn_norm.bias") ? NORM_LAYER : NORM_RMS;
}

static struct layer read_layer(const struct reader *reader, size_t i)
{
    struct layer layer = layer_usual();
    double *v = layer.value;
    if (has(reader, i, "attn_kv_a_mqa.weight"))
        read_latent(reader, i, v);
    else if (has(reader, i, "ssm_in.weight") || has(reader, i, "ssm_conv1d.weight"))
        read_state_space(reader, i, v);
    else if (has(reader, i, "attn_q.weight") || has(reader, i, "attn_qkv.weight"))
        read_grouped(reader, i, v);
    else
        v[LAYER_ATTENTION] = ATTENTION_NONE;
    read_feed_forward(reader, i, v);
    read_norms(reader, i, v);
    return layer;
}

/* ---- windows ------------------------------------------------------------------------------- */

static void read_windows(const struct reader *reader)
{
    struct architecture *model = reader->gguf->model;
    double window = value_of(reader, "attention.sliding_window", 0);
    const struct gguf_value *list = find(reader->gguf, reader->prefix, "attention.sliding_window_pattern");
    double period = list && list->count == 0 && list->number >= 1 && list->number < 1000
                        ? list->number
                        : reader->architecture->period;
    if (reader->architecture->chunks)
        window = value_of(reader, "attention.chunk_size", window > 0 ? window : 8192);
    if (window == 0)
        return;
    if (period == 0 && !(list && list->count > 0)) {
        architecture_note(
            reader->gguf->job->arena, model,
            "The file states a window of %.0f tokens, which llama.cpp does not use for this architecture.",
            window);
        return;
    }
    for (size_t i = 0; i < reader->layers; i++) {
        bool local = list && list->count > 0 ? i < list->count && list->list[i] != 0
                     : period == 2           ? i % 2 == 0
                                             : period == 1 || (i + 1) % (size_t)period != 0;
        enum attention_kind kind = (enum attention_kind)model->layers[i].value[LAYER_ATTENTION];
        if (local && (kind == ATTENTION_GROUPED || kind == ATTENTION_LATENT))
            model->layers[i].value[reader->architecture->chunks ? LAYER_ATTENTION_CHUNK : LAYER_WINDOW] =
                window;
    }
}

/* ---- classes ------------------------------------------------------------------------------- */

static size_t class_of(const struct gguf_tensor *at, size_t layers)
{
    const char *rest = at->rest;
    if (at->layer == SIZE_MAX)
        return strcmp(rest, "token_embd.weight") == 0 || strcmp(rest, "position_embd.weight") == 0
                   ? TENSORS_EMBEDDING
               : strcmp(rest, "output.weight") == 0 ? TENSORS_HEAD
                                                    : TENSORS_NORMS;
    if (at->layer >= layers)
        return TENSORS_MTP;
    if (strncmp(rest, "ffn_gate_inp_shexp", 18) == 0 || strstr(rest, "_shexp.weight"))
        return TENSORS_SHARED;
    bool vector = at->tensor.rank < 2 || strstr(rest, "norm") || strstr(rest, ".bias") ||
                  strstr(rest, "conv1d") || strcmp(rest, "ssm_a") == 0 || strcmp(rest, "ssm_d") == 0;
    if (vector)
        return TENSORS_NORMS;
    if (strstr(rest, "_exps.weight"))
        return TENSORS_EXPERTS;
    if (strncmp(rest, "ffn_gate_inp", 12) == 0)
        return TENSORS_ROUTER;
    return strncmp(rest, "ffn_", 4) == 0 ? TENSORS_FFN : TENSORS_ATTENTION;
}

/* Elements that count: rotary tables and calibration scales are no parameters. */
static bool is_buffer(const char *rest)
{
    return strncmp(rest, "rope_f", 6) == 0 || strstr(rest, "act_scale") || strstr(rest, ".scale");
}

enum { EXTRA_VECTORS = 16 };

static bool check_layer(const struct reader *reader, size_t i)
{
    struct gguf *gguf = reader->gguf;
    struct layer *layer = &gguf->model->layers[i];
    double stored = 0, counted = layer_params(layer, reader->hidden);
    for (const struct gguf_tensor *at = gguf->layers[i]; at; at = at->next)
        stored += is_buffer(at->rest) ? 0 : at->tensor.elements;
    if (layer->value[LAYER_ATTENTION] == ATTENTION_MAMBA && layer->value[LAYER_ATTENTION_PARAMS] > 0 &&
        stored < counted)
        counted = stored;
    /* Vectors may be left over, matrices not. */
    if (counted > stored || !(counted > 0) || stored - counted > EXTRA_VECTORS * reader->hidden) {
        struct diag *diag = job_error(gguf->job, DIAG_E0406,
                                      "block %zu of `%s` holds %.0f parameters where `%s` would have %.0f", i,
                                      gguf->job->path, stored, reader->prefix, counted);
        diag_note(gguf->job->diags, diag, "`general.architecture` says `%s`; this file is of another form",
                  reader->prefix);
        return false;
    }
    layer->value[LAYER_EXTRA_PARAMS] = stored - counted;
    return true;
}

/* ---- the model ----------------------------------------------------------------------------- */

static const struct gguf_architecture *find_architecture(struct gguf *gguf, const char **prefix)
{
    struct import_job *job = gguf->job;
    const struct gguf_value *value = find(gguf, "general", "architecture");
    struct suggestion suggestion = suggestion_for(value && value->text ? value->text : "");
    if (!value || !value->text || !*value->text) {
        job_error(job, DIAG_E0407, "the metadata of `%s` lack `general.architecture`", job->path);
        return NULL;
    }
    *prefix = value->text;
    for (size_t i = 0; i < ARCHITECTURE_COUNT; i++) {
        if (strcmp(architectures[i].name, value->text) == 0)
            return &architectures[i];
        suggestion_consider(&suggestion, architectures[i].name);
    }
    if (job->options.assume_dense)
        return &assumed;
    struct diag *diag =
        job_error(job, DIAG_E0406, "`general.architecture` is `%.60s`, an architecture perfc does not know",
                  value->text);
    if (suggestion_result(&suggestion))
        diag_note(job->diags, diag, "it knows `%s`", suggestion_result(&suggestion));
    diag_note(job->diags, diag, "`perfc import --assume-dense` reads it as a plain decoder");
    return NULL;
}

static bool read_sizes(struct reader *reader)
{
    struct gguf *gguf = reader->gguf;
    struct architecture *model = gguf->model;
    const struct tensor *embedding = tensor_of(gguf, SIZE_MAX, "token_embd.weight");
    const struct tensor *positions = tensor_of(gguf, SIZE_MAX, "position_embd.weight");
    double layers = value_of(reader, "block_count", 0);
    reader->hidden = model->hidden = value_of(reader, "embedding_length", 0);
    const char *lacking = layers < 1               ? "block_count"
                          : reader->hidden < 1     ? "embedding_length"
                          : gguf->layer_count == 0 ? "its tensors"
                                                   : NULL;
    if (lacking) {
        job_error(gguf->job, DIAG_E0407, "`%s` lacks `%s.%s`", gguf->job->path, reader->prefix, lacking);
        return false;
    }
    if (!embedding || embedding->dims[0] != reader->hidden || layers != (double)gguf->layer_count) {
        job_error(gguf->job, DIAG_E0407,
                  !embedding ? "`%s` has no token_embd.weight: it is no language model"
                  : layers != (double)gguf->layer_count
                      ? "`%s` has another number of blocks than `block_count` says"
                      : "token_embd.weight of `%s` has not the width that `embedding_length` says",
                  gguf->job->path);
        return false;
    }
    reader->mtp = (size_t)value_of(reader, "nextn_predict_layers", 0);
    reader->layers = gguf->layer_count > reader->mtp ? gguf->layer_count - reader->mtp : gguf->layer_count;
    model->vocab = embedding->dims[1];
    model->positions = positions ? positions->dims[1] : 0;
    model->max_context = value_of(reader, "context_length", 0);
    model->tied = !tensor_of(gguf, SIZE_MAX, "output.weight");
    model->head_bias = tensor_of(gguf, SIZE_MAX, "output.bias") != NULL;
    model->embedding_norm = tensor_of(gguf, SIZE_MAX, "token_embd_norm.weight") != NULL;
    model->no_final_norm = !tensor_of(gguf, SIZE_MAX, "output_norm.weight");
    return true;
}

static bool read_layers(struct reader *reader)
{
    struct gguf *gguf = reader->gguf;
    architecture_layers(gguf->job->arena, gguf->model, reader->layers);
    for (size_t i = 0; i < reader->layers; i++) {
        struct layer *layer = &gguf->model->layers[i];
        *layer = read_layer(reader, i);
        if (layer->value[LAYER_EXPERTS] > 0 && layer->value[LAYER_ACTIVE_EXPERTS] < 1) {
            job_error(gguf->job, DIAG_E0407, "`%s` lacks `%s.expert_used_count`", gguf->job->path,
                      reader->prefix);
            return false;
        }
        if (!check_layer(reader, i))
            return false;
    }
    return true;
}

static void take_inventory(const struct reader *reader, struct inventory *inventory)
{
    const struct gguf *gguf = reader->gguf;
    for (const struct gguf_tensor *at = gguf->ends; at; at = at->next)
        inventory_add(inventory, class_of(at, reader->layers), &at->tensor);
    for (size_t i = 0; i < gguf->layer_count; i++)
        for (const struct gguf_tensor *at = gguf->layers[i]; at; at = at->next)
            inventory_add(inventory, class_of(at, reader->layers), &at->tensor);
}

bool gguf_model(struct gguf *gguf)
{
    struct import_job *job = gguf->job;
    struct architecture *model = gguf->model;
    struct reader reader = {.gguf = gguf};
    struct inventory inventory = {0};
    reader.architecture = find_architecture(gguf, &reader.prefix);
    if (!reader.architecture || !read_sizes(&reader) || !read_layers(&reader))
        return false;
    read_windows(&reader);
    take_inventory(&reader, &inventory);
    model->weights = storage_standard("fp16");
    inventory_apply(job, &inventory, model);
    bool feeds = false;
    for (size_t i = 0; i < model->layer_count; i++)
        feeds = feeds || model->layers[i].value[LAYER_FFN] > 0 || model->layers[i].value[LAYER_EXPERTS] > 0;
    if (!feeds) { /* state spaces alone: a model without any feed-forward states its size */
        model->params = inventory.elements;
        model->weights =
            storage_mix(job->arena, model, "weights", inventory.bytes, inventory.elements, model->weights);
    }
    if (reader.mtp > 0)
        model->mtp_params = inventory.classes[TENSORS_MTP].elements;
    const struct gguf_value *name = find(gguf, "general", "name");
    model->title = job_model_title(job, name ? name->text : NULL);
    model->name = job_model_name(job, model->title);
    model->source = arena_printf(job->arena, "imported from the header of %s, %s, %.0f bytes of tensors",
                                 job_base_name(job->path), reader.prefix, inventory.bytes);
    return !job->failed;
}
