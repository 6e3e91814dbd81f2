/* derive_block.c: the parameters of one block as sums of the sizes of its matrices, in the names of the
 * attributes. Each term is that of model/params.c; trees keep a formula only where it comes to what that file
 * counted. */
#include <ctype.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "result/derive_sheet.h"

enum { EMBEDDING, POSITIONS, ATTENTION, FFN, EXPERTS, SHARED, ROUTER, NORMS, HEAD, OTHER };

const char *const weight_class_names[PM_CLASSES_OF_WEIGHTS] = {
    "embedding", "positions", "attention", "ffn", "experts", "shared", "router", "norms", "head", "other"};

/* ---- terms ------------------------------------------------------------------------------------------- */

struct term_list {
    struct buffer by_share[SHARE_COUNT];
};

static void add(struct term_list *list, enum matrix_share share, bool present, const char *term)
{
    struct buffer *out = &list->by_share[share];
    if (present)
        buffer_printf(out, "%s%s", out->length > 0 ? " + " : "", term);
}

static void add_grouped(struct term_list *list, const struct pm_block *block)
{
    bool same = !(block->v_dim > 0) || block->v_dim == block->head_dim;
    bool shared = block->shared_kv, gate = block->output_gate, own = !block->reuses_kv;
    add(list, SHARE_SPLIT, !gate, "hidden * heads * head_dim");
    add(list, SHARE_SPLIT, gate, "2 * hidden * heads * head_dim");
    add(list, SHARE_SPLIT, same, "heads * head_dim * hidden");
    add(list, SHARE_SPLIT, !same, "heads * v_dim * hidden");
    add(list, SHARE_BY_HEADS, own && shared, "hidden * kv_heads * head_dim");
    add(list, SHARE_BY_HEADS, own && !shared && same, "hidden * kv_heads * 2 * head_dim");
    add(list, SHARE_BY_HEADS, own && !shared && !same, "hidden * kv_heads * (head_dim + v_dim)");
    add(list, SHARE_VECTOR, block->qkv_bias,
        own ? "heads * head_dim + kv_heads * head_dim" : "heads * head_dim");
    add(list, SHARE_VECTOR, block->qkv_bias && own && !shared,
        same ? "kv_heads * head_dim" : "kv_heads * v_dim");
    add(list, SHARE_VECTOR, block->output_bias, "hidden");
    add(list, SHARE_VECTOR, block->sinks, "heads");
    add(list, SHARE_VECTOR, block->qk_norm == PM_QK_NORM_HEAD, own ? "2 * head_dim" : "head_dim");
    add(list, SHARE_VECTOR, block->qk_norm == PM_QK_NORM_FULL,
        own ? "(heads + kv_heads) * head_dim" : "heads * head_dim");
}

static void add_latent(struct term_list *list, const struct pm_block *block)
{
    bool low = block->q_rank > 0;
    add(list, SHARE_WHOLE, low, "hidden * q_rank");
    add(list, SHARE_SPLIT, low, "q_rank * heads * (nope_dim + rope_dim)");
    add(list, SHARE_SPLIT, !low, "hidden * heads * (nope_dim + rope_dim)");
    add(list, SHARE_WHOLE, true, "hidden * (kv_rank + rope_dim)");
    add(list, SHARE_SPLIT, true, "kv_rank * heads * (nope_dim + v_dim)");
    add(list, SHARE_SPLIT, true, "heads * v_dim * hidden");
    add(list, SHARE_VECTOR, low, "q_rank");
    add(list, SHARE_VECTOR, true, "kv_rank");
    add(list, SHARE_VECTOR, block->output_bias, "hidden");
}

static void add_linear(struct term_list *list)
{
    add(list, SHARE_SPLIT, true,
        "hidden * (2 * linear_key_heads * linear_key_dim + 2 * linear_value_heads * linear_value_dim + "
        "2 * linear_value_heads)");
    add(list, SHARE_SPLIT, true, "linear_value_heads * linear_value_dim * hidden");
    add(list, SHARE_VECTOR, true,
        "(2 * linear_key_heads * linear_key_dim + linear_value_heads * linear_value_dim) * conv_kernel");
    add(list, SHARE_VECTOR, true, "2 * linear_value_heads + linear_value_dim");
}

static void add_mamba(struct term_list *list)
{
    add(list, SHARE_SPLIT, true,
        "hidden * (2 * ssm_heads * ssm_head_dim + 2 * ssm_groups * ssm_state + ssm_heads)");
    add(list, SHARE_SPLIT, true, "ssm_heads * ssm_head_dim * hidden");
    add(list, SHARE_VECTOR, true, "(ssm_heads * ssm_head_dim + 2 * ssm_groups * ssm_state) * conv_kernel");
    add(list, SHARE_VECTOR, true,
        "2 * ssm_heads * ssm_head_dim + 2 * ssm_groups * ssm_state + 3 * ssm_heads");
}

static void add_attention(struct term_list *list, const struct pm_block *block)
{
    bool declared = block->attention_params > 0;
    add(list, SHARE_SPLIT, declared, "attention_params");
    if (!declared && block->attention == PM_ATTENTION_GROUPED)
        add_grouped(list, block);
    if (!declared && block->attention == PM_ATTENTION_LATENT)
        add_latent(list, block);
    if (!declared && block->attention == PM_ATTENTION_LINEAR)
        add_linear(list);
    if (!declared && block->attention == PM_ATTENTION_MAMBA)
        add_mamba(list);
    bool index = !declared && block->index_heads > 0;
    add(list, SHARE_WHOLE, index && block->q_rank > 0, "q_rank * index_heads * index_dim");
    add(list, SHARE_WHOLE, index && !(block->q_rank > 0), "hidden * index_heads * index_dim");
    add(list, SHARE_WHOLE, index, "hidden * index_dim + hidden * index_heads");
    add(list, SHARE_VECTOR, index, "2 * index_dim");
}

static void add_ffn(struct term_list *list, const struct pm_block *block)
{
    bool some = block->ffn > 0, gated = block->ffn_gated;
    add(list, SHARE_SPLIT, some, gated ? "3 * hidden * ffn" : "2 * hidden * ffn");
    add(list, SHARE_VECTOR, some && block->ffn_bias, gated ? "2 * ffn + hidden" : "ffn + hidden");
    add(list, SHARE_SPLIT, block->experts > 0 && block->expert_input > 0, "2 * hidden * expert_input");
}

static void add_expert(struct term_list *list, const struct pm_block *block)
{
    bool some = block->experts > 0, gated = block->ffn_gated, latent = block->expert_input > 0;
    const char *matrices[] = {"2 * hidden * expert_ffn", "3 * hidden * expert_ffn",
                              "2 * expert_input * expert_ffn", "3 * expert_input * expert_ffn"};
    const char *vectors[] = {"expert_ffn + hidden", "2 * expert_ffn + hidden", "expert_ffn + expert_input",
                             "2 * expert_ffn + expert_input"};
    add(list, SHARE_SPLIT, some, matrices[2 * latent + gated]);
    add(list, SHARE_VECTOR, some && block->expert_bias, vectors[2 * latent + gated]);
}

struct block_terms block_terms(struct arena *arena, const struct pm_block *block, size_t weight_class)
{
    struct term_list list;
    struct block_terms terms;
    for (size_t i = 0; i < SHARE_COUNT; i++)
        list.by_share[i] = buffer_in(arena);
    switch (weight_class) {
    case ATTENTION: add_attention(&list, block); break;
    case FFN: add_ffn(&list, block); break;
    case EXPERTS: add_expert(&list, block); break;
    case SHARED:
        add(&list, SHARE_SPLIT, block->shared_ffn > 0,
            block->ffn_gated ? "3 * hidden * shared_width" : "2 * hidden * shared_width");
        add(&list, SHARE_SPLIT, block->shared_ffn > 0 && block->shared_gate, "hidden");
        break;
    case ROUTER:
        add(&list, SHARE_WHOLE, block->experts > 0, "hidden * experts");
        add(&list, SHARE_VECTOR, block->experts > 0 && block->router_bias, "experts");
        break;
    case NORMS:
        add(&list, SHARE_VECTOR, block->norms > 0,
            block->norm == PM_NORM_LAYER ? "2 * norms * hidden" : "norms * hidden");
        break;
    case OTHER: add(&list, SHARE_SPLIT, block->extra_params != 0, "block_extra_params"); break;
    default: break;
    }
    for (size_t i = 0; i < SHARE_COUNT; i++)
        terms.by_share[i] = list.by_share[i].length > 0 ? buffer_string(&list.by_share[i]) : NULL;
    return terms;
}

/* ---- sizes -------------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *attribute;
    size_t offset;
} sizes[] = {
#define SIZE(field)                                                                                          \
    {                                                                                                        \
#field, #field, offsetof(struct pm_block, field)                                                     \
    }
    SIZE(heads),
    SIZE(kv_heads),
    SIZE(head_dim),
    SIZE(v_dim),
    SIZE(rotary_dim),
    SIZE(window),
    SIZE(q_rank),
    SIZE(kv_rank),
    SIZE(nope_dim),
    SIZE(rope_dim),
    SIZE(index_heads),
    SIZE(index_dim),
    SIZE(index_top),
    SIZE(linear_key_heads),
    SIZE(linear_value_heads),
    SIZE(linear_key_dim),
    SIZE(linear_value_dim),
    SIZE(conv_kernel),
    SIZE(ssm_heads),
    SIZE(ssm_head_dim),
    SIZE(ssm_groups),
    SIZE(ssm_state),
    SIZE(attention_params),
    SIZE(ffn),
    SIZE(experts),
    SIZE(active_experts),
    SIZE(expert_ffn),
    SIZE(expert_input),
    SIZE(norms),
#undef SIZE
    {"attention_chunk", "attention_chunk", offsetof(struct pm_block, chunk)},
    {"state", "state", offsetof(struct pm_block, state_bytes)},
    {"shared_width", "shared_ffn", offsetof(struct pm_block, shared_ffn)},
    {"block_extra_params", "block_extra_params", offsetof(struct pm_block, extra_params)},
};

/* The declaration that a kind of blocks is written in. */
static struct decl *declared_in(const struct sheet *sheet, size_t index)
{
    return sheet->model->block_decls[index];
}

void block_sizes(struct sheet *sheet, struct derive_node *node, size_t index)
{
    const struct pm_model *model = &sheet->model->model;
    struct decl *decl = declared_in(sheet, index);
    if (sheet_names(node->formula, "hidden"))
        sheet_attribute(sheet, node, sheet->model->decl, "hidden", "hidden", model->hidden, "1");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        double value = *(const double *)((const char *)&model->blocks[index] + sizes[i].offset);
        const char *unit = strcmp(sizes[i].name, "window") == 0 || strcmp(sizes[i].name, "index_top") == 0 ||
                                   strcmp(sizes[i].name, "attention_chunk") == 0
                               ? "tokens"
                           : strcmp(sizes[i].name, "state") == 0 ? "B"
                                                                 : "1";
        bool beside = strcmp(sizes[i].name, "ffn") == 0 && model->blocks[index].experts > 0;
        if (sheet_names(node->formula, sizes[i].name))
            sheet_attribute(sheet, node, decl, beside ? "parallel_ffn" : sizes[i].attribute, sizes[i].name,
                            value, unit);
    }
}

/* ---- kinds of blocks ---------------------------------------------------------------------------------- */

const char *block_name(struct sheet *sheet, size_t index)
{
    struct decl *decl = declared_in(sheet, index);
    if (decl == sheet->model->decl || !decl->name)
        return "block";
    char *name = arena_strdup(sheet->arena, decl->name);
    for (char *byte = name; *byte; byte++)
        if (!isalnum((unsigned char)*byte))
            *byte = '_';
    return isalpha((unsigned char)*name) ? name : arena_printf(sheet->arena, "block_%s", name);
}

const char *block_count(struct sheet *sheet, struct derive_node *node, size_t index)
{
    struct decl *decl = declared_in(sheet, index);
    double count = sheet->model->model.blocks[index].count;
    bool own = decl != sheet->model->decl;
    const char *name = own ? arena_printf(sheet->arena, "%s.count", block_name(sheet, index)) : "layers";
    sheet_attribute(sheet, node, decl, own ? "count" : "layers", name, count, "1");
    return name;
}

struct pm_model block_alone(const struct pm_model *model, size_t index, struct pm_block *block)
{
    *block = model->blocks[index];
    block->count = 1;
    return (struct pm_model){.hidden = model->hidden,
                             .weights_format = model->weights_format,
                             .embedding_format = model->embedding_format,
                             .head_format = model->head_format,
                             .norm_format = model->norm_format,
                             .kv_format = model->kv_format,
                             .blocks = block,
                             .block_count = 1};
}
