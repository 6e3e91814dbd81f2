/* derive_weights.c: worksheets of the weights on the fullest GPU, and of all weights in their formats: each
 * class as a sum over the kinds of blocks, and what stands at the ends of the model. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "result/derive_sheet.h"

enum { EMBEDDING, POSITIONS, ATTENTION, FFN, EXPERTS, SHARED, ROUTER, NORMS, HEAD, OTHER };

/* The weights of a case, or of a model as it is stored: on one GPU of an engine without habits. */
struct layout {
    const struct pm_case *input;
    struct pm_memory memory;
    bool stored; /* as it is stored */
};

/* ---- one block ------------------------------------------------------------------------------------------
 */

static void weights_alone(const struct sheet *sheet, const struct layout *layout, size_t index,
                          struct pm_memory *out)
{
    struct pm_block block;
    struct pm_model alone = block_alone(&sheet->model->model, index, &block);
    struct pm_case input = *layout->input;
    input.model = &alone;
    input.prepared = NULL;
    input.pp = 1;
    input.draft_tokens = 0;
    input.draft_model = NULL;
    pm_memory_of(&input, out);
}

static const struct pm_format *format_of(const struct pm_model *model, const struct pm_block *block,
                                         size_t weight_class)
{
    switch (weight_class) {
    case ATTENTION: return &block->attention_format;
    case FFN:
    case OTHER: return &block->ffn_format;
    case EXPERTS: return &block->expert_format;
    case SHARED: return &block->shared_format;
    case ROUTER: return &block->router_format;
    default: return &model->norm_format;
    }
}

/* "hidden * q_rank + (q_rank * heads * head_dim) / tp": matrices on one GPU, or all of them. */
static const char *matrices(struct sheet *sheet, const struct layout *layout, const struct block_terms *terms)
{
    struct buffer sum = buffer_in(sheet->arena);
    bool split = !layout->stored && layout->input->tp > 1;
    const char *parted = terms->by_share[SHARE_SPLIT], *keys = terms->by_share[SHARE_BY_HEADS];
    if (terms->by_share[SHARE_WHOLE])
        sheet_plus(&sum, terms->by_share[SHARE_WHOLE]);
    if (parted)
        sheet_plus(&sum, split ? arena_printf(sheet->arena, "(%s) / tp", parted) : parted);
    if (keys)
        sheet_plus(&sum,
                   split ? arena_printf(sheet->arena, "(%s) / kv_heads * max(1, ceil(kv_heads / tp))", keys)
                         : keys);
    return sum.length > 0 ? buffer_string(&sum) : NULL;
}

/* Bytes of one block's class on one GPU, and the numbers that it names besides sizes. */
static const char *block_bytes(struct sheet *sheet, const struct layout *layout, size_t index,
                               size_t weight_class, struct derive_node *part)
{
    const struct pm_model *model = &sheet->model->model;
    const struct pm_block *block = &model->blocks[index];
    struct block_terms terms = block_terms(sheet->arena, block, weight_class);
    const char *counted = matrices(sheet, layout, &terms), *vectors = terms.by_share[SHARE_VECTOR];
    struct buffer sum = buffer_in(sheet->arena);
    if (weight_class == EXPERTS && counted)
        counted = terms.by_share[SHARE_SPLIT]; /* of one expert */
    if (counted) {
        sheet_part(sheet, part, "bits", format_of(model, block, weight_class)->bits, "1",
                   "Of one value, scales included.");
        sheet_plus(&sum, arena_printf(sheet->arena, "(%s) * bits", counted));
    }
    if (vectors) {
        sheet_part(sheet, part, "vector_bits", model->norm_format.bits, "1",
                   "Of one value of a norm or bias.");
        sheet_plus(&sum, arena_printf(sheet->arena, "(%s) * vector_bits", vectors));
    }
    if (sum.length == 0)
        return NULL;
    const char *bytes = arena_printf(sheet->arena, "(%s) * 1 B / 8", buffer_string(&sum));
    if (weight_class != EXPERTS)
        return bytes;
    if (layout->stored)
        return arena_printf(sheet->arena, "experts * %s", bytes);
    /* What the plan does not say is one, or all GPUs, by the engine. */
    sheet_attribute(sheet, part, sheet->decl, "ep", "ep", layout->input->ep, "1");
    return arena_printf(sheet->arena, "ceil(experts / ep) * ep / (tp * dp) * %s", bytes);
}

/* Kernels for 4-bit experts want whole tiles: what padding adds to a block is a part of its own. */
static void pad_experts(struct sheet *sheet, const struct layout *layout, size_t index,
                        struct derive_node *part, double bytes)
{
    const struct pm_block *block = &sheet->model->model.blocks[index];
    double share = layout->input->tp * layout->input->dp / layout->input->ep;
    double input = block->expert_input > 0 ? block->expert_input : sheet->model->model.hidden;
    double plain = ceil(block->experts / layout->input->ep) / share * (block->ffn_gated ? 3 : 2) * input *
                   block->expert_ffn * block->expert_format.bits / 8;
    double vectors = 0;
    if (block->expert_bias)
        vectors = ceil(block->experts / layout->input->ep) / share *
                  ((block->ffn_gated ? 2 : 1) * block->expert_ffn + input) *
                  sheet->model->model.norm_format.bits / 8;
    double padding = (bytes - vectors) / plain;
    if (layout->stored || fabs(padding - 1) < 1e-12 || !part->formula)
        return;
    sheet_part(sheet, part, "padded", padding, "1", "By what whole tiles of kernels enlarge an expert.");
    const char *at = strstr(part->formula, ") * bits");
    if (at)
        sheet_printf(sheet, part, "%.*s) * padded%s", (int)(at - part->formula), part->formula, at + 1);
}

/* Blocks of a kind on the GPU. */
static const char *blocks_here(struct sheet *sheet, const struct layout *layout, struct derive_node *node,
                               size_t index)
{
    if (layout->stored || !(layout->input->pp > 1))
        return block_count(sheet, node, index);
    const char *name = arena_printf(sheet->arena, "%s.on_stage", block_name(sheet, index));
    return sheet_part(sheet, node, name, pm_blocks_on_gpu(layout->input, index), "1",
                      "Blocks of this kind on the largest stage of the pipeline.")
        ->name;
}

/* ---- a class --------------------------------------------------------------------------------------------
 */

static void add_blocks(struct sheet *sheet, const struct layout *layout, size_t weight_class,
                       struct derive_node *node, struct buffer *sum)
{
    for (size_t i = 0; i < sheet->model->model.block_count; i++) {
        struct pm_memory one;
        weights_alone(sheet, layout, i, &one);
        double bytes = one.weights_by_class[weight_class];
        bytes -= weight_class == OTHER ? one.allocator_slack + one.rope_table : 0;
        if (!(bytes > 0))
            continue;
        const char *count = blocks_here(sheet, layout, node, i);
        struct derive_node *part = sheet_part(
            sheet, node,
            arena_printf(sheet->arena, "%s.%s", block_name(sheet, i), weight_class_names[weight_class]),
            bytes, "B", "Of one block, on one GPU.");
        const char *formula = block_bytes(sheet, layout, i, weight_class, part);
        if (formula) {
            sheet_formula(part, formula);
            if (weight_class == EXPERTS)
                pad_experts(sheet, layout, i, part, bytes);
            block_sizes(sheet, part, i);
        }
        sheet_plus(sum, arena_printf(sheet->arena, "%s * %s", count, part->name));
    }
}

/* Kernels want equal parts: a vocabulary that the GPUs do not divide is padded. */
static double padded_vocab(const struct pm_model *model, double tp)
{
    return fmod(model->vocab, tp) > 0 ? ceil(model->vocab / (64 * tp)) * 64 * tp : model->vocab;
}

static const char *padded_vocab_text(const struct pm_model *model, double tp)
{
    return padded_vocab(model, tp) == model->vocab ? "vocab" : "ceil(vocab / (64 * tp)) * 64 * tp";
}

/* A table of the vocabulary on one GPU, padded where the GPUs do not divide it. */
static void add_table(struct sheet *sheet, const struct layout *layout, const char *name, double bits,
                      double bytes, struct derive_node *node, struct buffer *sum)
{
    const struct pm_model *model = &sheet->model->model;
    double tp = layout->stored ? 1 : layout->input->tp;
    struct derive_node *part = sheet_part(sheet, node, name, bytes, "B", "On one GPU.");
    sheet_attribute(sheet, part, sheet->model->decl, "vocab", "vocab", model->vocab, "1");
    sheet_attribute(sheet, part, sheet->model->decl, "hidden", "hidden", model->hidden, "1");
    sheet_part(sheet, part, "bits", bits, "1", "Of one value, scales included.");
    sheet_printf(sheet, part, "%s * hidden%s * bits * 1 B / 8", padded_vocab_text(model, tp),
                 tp > 1 ? " / tp" : "");
    sheet_plus(sum, part->name);
}

/* A bias for every token of the vocabulary, split as the table is; returns its bytes. */
static double head_bias(struct sheet *sheet, const struct layout *layout, struct derive_node *node,
                        struct buffer *sum)
{
    const struct pm_model *model = &sheet->model->model;
    double tp = layout->stored ? 1 : layout->input->tp;
    double bytes = padded_vocab(model, tp) / tp * model->norm_format.bits / 8;
    struct derive_node *part = sheet_part(sheet, node, "head_bias", bytes, "B", "On one GPU.");
    sheet_attribute(sheet, part, sheet->model->decl, "vocab", "vocab", model->vocab, "1");
    sheet_part(sheet, part, "vector_bits", model->norm_format.bits, "1", "Of one value of a norm or bias.");
    sheet_printf(sheet, part, "%s%s * vector_bits * 1 B / 8", padded_vocab_text(model, tp),
                 tp > 1 ? " / tp" : "");
    sheet_plus(sum, part->name);
    return bytes;
}

static void add_ends(struct sheet *sheet, const struct layout *layout, size_t weight_class,
                     struct derive_node *node, struct buffer *sum)
{
    const struct pm_model *model = &sheet->model->model;
    const struct pm_memory *memory = &layout->memory;
    double bytes = memory->weights_by_class[weight_class];
    double ends = model->final_norms + (model->embedding_norm ? 2 : 0);
    bool tied = model->tied_embeddings;
    if (weight_class == EMBEDDING && bytes > 0)
        add_table(sheet, layout, "table", model->embedding_format.bits, bytes, node, sum);
    if (weight_class == HEAD && bytes > 0) {
        double biases = model->head_bias ? head_bias(sheet, layout, node, sum) : 0;
        if (bytes > biases)
            add_table(sheet, layout, "table", tied ? model->embedding_format.bits : model->head_format.bits,
                      bytes - biases, node, sum);
    }
    if (weight_class == POSITIONS && bytes > 0) {
        sheet_attribute(sheet, node, sheet->model->decl, "positions", "positions", model->positions, "1");
        sheet_attribute(sheet, node, sheet->model->decl, "hidden", "hidden", model->hidden, "1");
        sheet_part(sheet, node, "bits", model->embedding_format.bits, "1", NULL);
        if (model->lookup_params > 0)
            sheet_attribute(sheet, node, sheet->model->decl, "lookup_params", "lookup_params",
                            model->lookup_params, "1");
        sheet_plus(sum, model->lookup_params > 0
                            ? "(positions * hidden + lookup_params / tp) * bits * 1 B / 8"
                            : "positions * hidden * bits * 1 B / 8");
    }
    if (weight_class == NORMS && ends > 0) {
        sheet_part(sheet, node, "end_norms", ends, "1", "Vectors before the first block and after the last.");
        sheet_attribute(sheet, node, sheet->model->decl, "hidden", "hidden", model->hidden, "1");
        sheet_part(sheet, node, "vector_bits", model->norm_format.bits, "1", NULL);
        sheet_plus(sum, "end_norms * hidden * vector_bits * 1 B / 8");
    }
}

static double other_rest(const struct sheet *sheet, const struct layout *layout)
{
    double rest =
        layout->memory.weights_by_class[OTHER] - layout->memory.rope_table - layout->memory.allocator_slack;
    for (size_t i = 0; i < sheet->model->model.block_count; i++) {
        struct pm_memory one;
        weights_alone(sheet, layout, i, &one);
        rest -= pm_blocks_on_gpu(layout->input, i) *
                (one.weights_by_class[OTHER] - one.allocator_slack - one.rope_table);
    }
    return rest;
}

/* What no class accounts for, and what an engine adds. */
static void add_others(struct sheet *sheet, const struct layout *layout, struct derive_node *node,
                       struct buffer *sum)
{
    double rest = other_rest(sheet, layout);
    if (!layout->stored && layout->memory.rope_table > 0)
        sheet_plus(sum, "memory.rope_table");
    if (!layout->stored && layout->memory.allocator_slack > 0)
        sheet_plus(sum, "memory.allocator_slack");
    if (rest > 1e-9 * layout->memory.weights_by_class[OTHER]) {
        bool drafts = sheet->input && sheet->input->draft_tokens > 0;
        sheet_plus(sum, sheet_part(sheet, node, drafts ? "draft_weights" : "beside_blocks", rest, "B",
                                   drafts ? "Of what drafts." : "Of a tower, or in no block.")
                            ->name);
    }
}

static bool weights_of_class(struct sheet *sheet, const struct layout *layout, size_t weight_class,
                             struct derive_node *node)
{
    struct buffer sum = buffer_in(sheet->arena);
    add_blocks(sheet, layout, weight_class, node, &sum);
    add_ends(sheet, layout, weight_class, node, &sum);
    if (weight_class == OTHER)
        add_others(sheet, layout, node, &sum);
    if (sum.length == 0)
        return false;
    sheet_scaled_formula(sheet, node, buffer_string(&sum));
    return true;
}

/* ---- all of it -------------------------------------------------------------------------------------------
 */

/* Every weight once: on a single GPU. */
static bool stored_weights(struct sheet *sheet, struct derive_node *node)
{
    static const struct pm_engine plain = {.utilization = 1};
    static const struct pm_gpu any = {.memory = 1e15, .bandwidth = 1e12};
    struct pm_case alone = {.model = &sheet->model->model,
                            .gpu = &any,
                            .engine = &plain,
                            .tp = 1,
                            .pp = 1,
                            .dp = 1,
                            .ep = 1,
                            .replicas = 1,
                            .batch = 1,
                            .static_step = true,
                            .context = 1};
    struct layout layout = {.input = &alone, .stored = true};
    struct buffer sum = buffer_in(sheet->arena);
    pm_memory_of(&alone, &layout.memory);
    for (size_t i = 0; i < PM_CLASSES_OF_WEIGHTS; i++) {
        double bytes = layout.memory.weights_by_class[i];
        if (!(bytes > 0))
            continue;
        struct derive_node *part = sheet_part(
            sheet, node, arena_printf(sheet->arena, "bytes.%s", weight_class_names[i]), bytes, "B", NULL);
        if (!weights_of_class(sheet, &layout, i, part))
            part->inputs.count = 0;
        sheet_plus(&sum, part->name);
    }
    sheet_formula(node, buffer_string(&sum));
    return sum.length > 0;
}

static bool rope_table(struct sheet *sheet, struct derive_node *node)
{
    const struct pm_model *model = &sheet->model->model;
    struct buffer sum = buffer_in(sheet->arena);
    for (size_t i = 0; i < model->block_count; i++) {
        bool seen = false;
        for (size_t j = 0; j < i; j++)
            seen = seen || model->blocks[j].rotary_dim == model->blocks[i].rotary_dim;
        if (seen || !(model->blocks[i].rotary_dim > 0))
            continue;
        const char *name = arena_printf(sheet->arena, "%s.rotary_dim", block_name(sheet, i));
        sheet_attribute(sheet, node, sheet->model->block_decls[i], "rotary_dim", name,
                        model->blocks[i].rotary_dim, "1");
        sheet_plus(&sum, name);
    }
    sheet_printf(sheet, node, "model.max_context / 1 token * 2 B * (%s)", buffer_string(&sum));
    return sum.length > 0;
}

static bool allocator_slack(struct sheet *sheet, struct derive_node *node)
{
    struct layout layout = {.input = sheet->input, .memory = sheet->result->memory};
    struct buffer sum = buffer_in(sheet->arena);
    double rest = sheet->value;
    for (size_t i = 0; i < sheet->model->model.block_count; i++) {
        struct pm_memory one;
        weights_alone(sheet, &layout, i, &one);
        if (!(one.allocator_slack > 0))
            continue;
        const char *count = blocks_here(sheet, &layout, node, i);
        const char *name = arena_printf(sheet->arena, "%s.left_over", block_name(sheet, i));
        struct derive_node *part = sheet_part(sheet, node, name, one.allocator_slack, "B",
                                              "What whole blocks of memory leave over in its large tensors.");
        rest -= pm_blocks_on_gpu(sheet->input, i) * one.allocator_slack;
        sheet_plus(&sum, arena_printf(sheet->arena, "%s * %s", count, part->name));
    }
    if (rest > 1e-9 * sheet->value)
        sheet_plus(&sum,
                   sheet_part(sheet, node, "ends.left_over", rest, "B", "In embedding and head.")->name);
    sheet_formula(node, buffer_string(&sum));
    return sum.length > 0;
}

bool sheet_of_weights(struct sheet *sheet, enum quantity quantity, struct derive_node *node)
{
    if (quantity == Q_MODEL_WEIGHT_BYTES || quantity == Q_WEIGHT_BYTES)
        return sheet->model && stored_weights(sheet, node);
    if (!sheet->input)
        return false;
    if (quantity >= Q_MEMORY_WEIGHTS_EMBEDDING && quantity <= Q_MEMORY_WEIGHTS_OTHER) {
        struct layout layout = {.input = sheet->input, .memory = sheet->result->memory};
        return weights_of_class(sheet, &layout, (size_t)(quantity - Q_MEMORY_WEIGHTS_EMBEDDING), node);
    }
    return quantity == Q_MEMORY_ROPE_TABLE        ? rope_table(sheet, node)
           : quantity == Q_MEMORY_ALLOCATOR_SLACK ? allocator_slack(sheet, node)
                                                  : false;
}
