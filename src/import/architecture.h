/* architecture.h: a model as its layers, each with the attributes a `block` can have, before equal layers are
 * grouped and written. */
#ifndef PERFC_IMPORT_ARCHITECTURE_H
#define PERFC_IMPORT_ARCHITECTURE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"

/*    FIELD(id, attribute, kind, value when it is not written) */
#define LAYER_FIELDS(FIELD)                                                                                  \
    FIELD(ATTENTION, "attention", ATTENTION, 0)                                                              \
    FIELD(HEADS, "heads", COUNT, 0)                                                                          \
    FIELD(KV_HEADS, "kv_heads", COUNT, 0)                                                                    \
    FIELD(HEAD_DIM, "head_dim", COUNT, 0)                                                                    \
    FIELD(Q_RANK, "q_rank", COUNT, 0)                                                                        \
    FIELD(KV_RANK, "kv_rank", COUNT, 0)                                                                      \
    FIELD(NOPE_DIM, "nope_dim", COUNT, 0)                                                                    \
    FIELD(ROPE_DIM, "rope_dim", COUNT, 0)                                                                    \
    FIELD(V_DIM, "v_dim", COUNT, 0)                                                                          \
    FIELD(ROTARY_DIM, "rotary_dim", COUNT, -1)                                                               \
    FIELD(INDEX_HEADS, "index_heads", COUNT, 0)                                                              \
    FIELD(INDEX_DIM, "index_dim", COUNT, 0)                                                                  \
    FIELD(INDEX_TOP, "index_top", COUNT, 0)                                                                  \
    FIELD(WINDOW, "window", COUNT, 0)                                                                        \
    FIELD(ATTENTION_CHUNK, "attention_chunk", COUNT, 0)                                                      \
    FIELD(LINEAR_KEY_HEADS, "linear_key_heads", COUNT, 0)                                                    \
    FIELD(LINEAR_VALUE_HEADS, "linear_value_heads", COUNT, 0)                                                \
    FIELD(LINEAR_KEY_DIM, "linear_key_dim", COUNT, 0)                                                        \
    FIELD(LINEAR_VALUE_DIM, "linear_value_dim", COUNT, 0)                                                    \
    FIELD(SSM_HEADS, "ssm_heads", COUNT, 0)                                                                  \
    FIELD(SSM_HEAD_DIM, "ssm_head_dim", COUNT, 0)                                                            \
    FIELD(SSM_GROUPS, "ssm_groups", COUNT, 1)                                                                \
    FIELD(SSM_STATE, "ssm_state", COUNT, 0)                                                                  \
    FIELD(CONV_KERNEL, "conv_kernel", COUNT, 4)                                                              \
    FIELD(ATTENTION_PARAMS, "attention_params", COUNT, 0)                                                    \
    FIELD(STATE, "state", BYTES, 0)                                                                          \
    FIELD(FFN, "ffn", COUNT, 0)                                                                              \
    FIELD(PARALLEL_FFN, "parallel_ffn", COUNT, 0)                                                            \
    FIELD(EXPERTS, "experts", COUNT, 0)                                                                      \
    FIELD(ACTIVE_EXPERTS, "active_experts", COUNT, 0)                                                        \
    FIELD(EXPERT_FFN, "expert_ffn", COUNT, 0)                                                                \
    FIELD(EXPERT_INPUT, "expert_input", COUNT, 0)                                                            \
    FIELD(EXPERT_SPREAD, "expert_spread", COUNT, 1)                                                          \
    FIELD(SHARED_EXPERTS, "shared_experts", COUNT, 0)                                                        \
    FIELD(SHARED_FFN, "shared_ffn", COUNT, 0)                                                                \
    FIELD(QKV_BIAS, "qkv_bias", FLAG, 0)                                                                     \
    FIELD(OUTPUT_BIAS, "output_bias", FLAG, 0)                                                               \
    FIELD(OUTPUT_GATE, "output_gate", FLAG, 0)                                                               \
    FIELD(SINKS, "sinks", FLAG, 0)                                                                           \
    FIELD(SHARED_KV, "shared_kv", FLAG, 0)                                                                   \
    FIELD(REUSES_KV, "reuses_kv", FLAG, 0)                                                                   \
    FIELD(REUSES_WEIGHTS, "reuses_weights", FLAG, 0)                                                         \
    FIELD(QK_NORM, "qk_norm", QK_NORM, 0)                                                                    \
    FIELD(FFN_GATED, "ffn_gated", FLAG, 1)                                                                   \
    FIELD(FFN_BIAS, "ffn_bias", FLAG, 0)                                                                     \
    FIELD(EXPERT_BIAS, "expert_bias", FLAG, 0)                                                               \
    FIELD(ROUTER_BIAS, "router_bias", FLAG, 0)                                                               \
    FIELD(SHARED_GATE, "shared_gate", FLAG, 0)                                                               \
    FIELD(NORM, "norm", NORM, 0)                                                                             \
    FIELD(NORMS, "norms", COUNT, 2)                                                                          \
    FIELD(EXTRA_PARAMS, "block_extra_params", COUNT, 0)

/* Tokens of gpt-oss route alike, which no file says (docs/calibration.md section 10). */
#define GPT_OSS_EXPERT_SPREAD 0.77

enum layer_field {
#define FIELD(id, name, kind, usual) LAYER_##id,
    LAYER_FIELDS(FIELD)
#undef FIELD
        LAYER_FIELD_COUNT
};

enum attention_kind {
    ATTENTION_GROUPED,
    ATTENTION_LATENT,
    ATTENTION_LINEAR,
    ATTENTION_MAMBA,
    ATTENTION_NONE
};
enum qk_norm_kind { QK_NORM_NONE, QK_NORM_HEAD, QK_NORM_FULL };
enum norm_kind { NORM_RMS, NORM_LAYER };

/* Tensor classes that may have a format of their own. Those before TENSORS_EMBEDDING may differ by layer. */
enum tensor_class {
    TENSORS_ATTENTION,
    TENSORS_FFN,
    TENSORS_EXPERTS,
    TENSORS_SHARED,
    TENSORS_ROUTER,
    TENSORS_EMBEDDING,
    TENSORS_HEAD,
    TENSORS_NORMS,
    TENSORS_COUNT,
    TENSORS_OF_LAYERS = TENSORS_EMBEDDING
};

/* A storage format, by the name the standard library or a declaration of the output has for it. */
struct storage {
    const char *name;
    double bits;
    const char *bits_text; /* an expression that comes to `bits` */
    const char *compute;   /* for declared ones */
    const char *title;
    bool weight_only;
    bool gguf;     /* declares what its files store embedding, head, routers and norms in (`stores.X`) */
    bool declared; /* not in the standard library: written before the model */
};

struct layer {
    double value[LAYER_FIELD_COUNT];
    const struct storage *storage[TENSORS_OF_LAYERS]; /* NULL: as the model */
};

/* Layers are bounded so that a hostile file cannot ask for memory. */
enum { LAYERS_MAX = 10000 };

struct architecture {
    const char *name;   /* what plans call it */
    const char *title;  /* "Qwen/Qwen3-32B" */
    const char *source; /* where it comes from, and how sure that is */
    const char *confidence;
    double hidden, vocab, positions, lookup_params, extra_params, max_context, tower_params, mtp_params;
    double params; /* stated count, in place of an architecture */
    bool tied, head_bias, embedding_norm, no_final_norm;
    struct layer *layers;
    size_t layer_count;
    const struct storage *storage[TENSORS_COUNT]; /* of the ends, and of layers where all agree */
    const struct storage *weights, *cache;
    VEC(const struct storage *) declared;
    VEC(const char *) notes;
};

/* A layer with every field as it is when it is not written. */
struct layer layer_usual(void);

/* `count` such layers. */
void architecture_layers(struct arena *arena, struct architecture *model, size_t count);

/* Adds a sentence for the model's `note`. */
void architecture_note(struct arena *arena, struct architecture *model, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Parameters of a layer, by the formulas that perfc's own model has (src/model/params.c): for the parts that
 * a model declaration states as one number, such as an MTP layer. */
double layer_params(const struct layer *layer, double hidden);

/* The text of the declaration. */
struct buffer;
void architecture_write(struct buffer *out, const struct architecture *model);

#endif
