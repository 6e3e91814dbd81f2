/* perfmodel.h: what hardware will do with a language model. Numbers in, numbers out.
 *
 * libperfmodel knows nothing of files, formats of text, or reports. Everything is SI: bytes, FLOP,
 * seconds, tokens. All functions are pure: they read their arguments, write their result, allocate
 * nothing and keep no state, so they may run in parallel.
 *
 * There are two readings of every time. The *ceiling* is a physical bound that no real system may
 * beat. The *expected* value is what an engine usually reaches, with a band.
 *
 * The order of this file is the order of the computation: formats and cards, models, engines, the
 * case (a model on cards under a load), then parameters, memory, steps, service. */
#ifndef PERFMODEL_H
#define PERFMODEL_H

#include <stdbool.h>
#include <stddef.h>

/* ---- formats ------------------------------------------------------------------------------ */

/* Number formats that matrix units compute in; a card has a peak for some of them. */
enum pm_compute {
    PM_FP64, PM_FP32, PM_TF32, PM_FP16, PM_BF16, PM_FP8, PM_INT8, PM_FP6, PM_FP4, PM_INT4,
    PM_COMPUTE_COUNT
};

/* A storage format. */
struct pm_format {
    double bits;                 /* per value, scales included: 4.5 for nvfp4 */
    enum pm_compute compute;     /* what the products are computed in, where the card can */
    enum pm_compute expected;    /* the same for the expected reading (mxfp4: fp4 and fp8) */
    bool weight_only;            /* int4, nf4, GGUF: dequantised, computed at the 16-bit peak */
};

/* ---- hardware ----------------------------------------------------------------------------- */

/* Kinds of memory, as far as engines reach different shares of their bandwidth. */
enum pm_memory_kind { PM_MEMORY_UNKNOWN, PM_MEMORY_HBM, PM_MEMORY_GDDR, PM_MEMORY_SHARED, PM_MEMORY_KINDS };

struct pm_gpu {
    double memory;                     /* bytes that software sees */
    double driver_memory;              /* bytes a program is told of by the driver; 0: `memory` */
    double bandwidth;                  /* bytes/s */
    double peak[PM_COMPUTE_COUNT];     /* dense FLOP/s; 0 where the card has no such unit */
    double cache;                      /* last-level cache, bytes; 0 when unknown */
    double link;                       /* scale-up bandwidth, bytes/s per direction per GPU; 0: none */
    double link_domain;                /* GPUs that share the scale-up link; 1: unstated */
    bool link_mesh;                    /* a pair gets link/(domain-1), not all of it (xGMI) */
    double pcie;                       /* bytes/s per direction; 0 when unknown */
    double network;                    /* bytes/s per direction per GPU between nodes; 0: none */
    double gpus_per_node;              /* 0 when no system says so: the link domain */
    double tdp;                        /* W; 0 when unknown */
    double price;                      /* per GPU and second, in the plan's money; 0 when unknown */
    /* Coefficients of the expected reading that this card overrides; 0 where it does not. */
    double efficiency_bandwidth;       /* eta_m */
    double operation_time_factor;      /* scales t0 */
    enum pm_memory_kind memory_kind;   /* which of the engine's factors by kind apply */
    bool measured;                     /* serving measurements stand behind the coefficients */
    bool moe_calibrated;               /* eta_moe was fitted on this generation (H100, H200, B200) */
};

/* ---- models ------------------------------------------------------------------------------- */

enum pm_attention {
    PM_ATTENTION_GROUPED,   /* GQA; MHA with kv_heads = heads, MQA with kv_heads = 1 */
    PM_ATTENTION_LATENT,    /* MLA */
    PM_ATTENTION_LINEAR,    /* gated delta net: a state per sequence instead of a cache */
    PM_ATTENTION_MAMBA,     /* Mamba-2: likewise */
    PM_ATTENTION_NONE,      /* a feed-forward only block */
};

enum pm_qk_norm {
    PM_QK_NORM_NONE,
    PM_QK_NORM_HEAD,        /* 2 vectors of head_dim */
    PM_QK_NORM_FULL,        /* vectors over the whole q and k widths */
};

enum pm_norm {
    PM_NORM_RMS,            /* d weights */
    PM_NORM_LAYER,          /* weight and bias: 2d */
};

/* `count` identical transformer blocks. Every size is 0 where the block has no such part. */
struct pm_block {
    double count;

    enum pm_attention attention;
    double heads, kv_heads, head_dim;
    double v_dim;                       /* head size of values; equal to head_dim unless declared */
    double rotary_dim;                  /* part of a head that turns with the position; 0: none */
    double window;                      /* tokens; 0: unlimited */
    double chunk;                       /* tokens of chunked attention (Llama-4); 0: none */
    bool qkv_bias, output_bias, output_gate, sinks;
    bool shared_kv;                     /* one projection for K and V (Gemma 4), cached apart */
    bool reuses_kv;                     /* reads what an earlier block caches; no K and V of its own */
    bool reuses_weights;                /* of an earlier block: stored once; extra_params are its own */
    enum pm_qk_norm qk_norm;
    double q_rank, kv_rank, nope_dim, rope_dim;            /* latent; q_rank 0: full query */
    double index_heads, index_dim, index_top;              /* sparse index; 0: none */
    double linear_key_heads, linear_value_heads;           /* linear */
    double linear_key_dim, linear_value_dim;
    double conv_kernel;                                    /* linear and Mamba */
    double ssm_heads, ssm_head_dim, ssm_groups, ssm_state; /* Mamba */
    double attention_params;            /* declared count, in place of the formula; 0: formula */
    double state_bytes;                 /* declared state per sequence; 0: formula */

    double ffn;                         /* width of the dense feed-forward; 0: none */
    bool ffn_gated, ffn_bias;
    double experts, active_experts, expert_ffn;
    double expert_spread;               /* tokens^x of a step choose experts apart from each other; 0: all */
    bool expert_bias, router_bias;
    double expert_input;                /* latent width experts work in (Nemotron-H); 0: hidden */
    double shared_ffn;                  /* width of all shared experts together; 0: none */
    bool shared_gate;

    double norms;                       /* norm vectors over hidden: usually 2 */
    enum pm_norm norm;
    double extra_params;                /* anything a family has besides, read every step */

    struct pm_format attention_format, ffn_format, expert_format, shared_format, router_format;
};

enum { PM_BLOCKS_MAX = 128 };

struct pm_model {
    double declared_params;             /* 0, or: `params` of a plan without an architecture */
    double hidden, vocab;
    bool tied_embeddings;
    double positions;                   /* learned position vectors; 0: none */
    double lookup_params;               /* tables beside the embedding that tokens take rows of; 0: none */
    bool head_bias;
    bool embedding_norm;
    double final_norms;                 /* vectors: 1 for RMS, 2 for a layer norm; 0: none */
    double extra_params;                /* model-wide; resident and split like the rest, in no step */
    double max_context;                 /* tokens the model was made for; 0: unknown */
    struct pm_format weights_format;    /* for declared_params */
    struct pm_format embedding_format, head_format, norm_format, kv_format;
    double tower_params, tower_tokens;  /* vision or audio tower; 0: none */
    double mtp_params;                  /* counted only when speculation uses them */
    const struct pm_block *blocks;
    size_t block_count;
};

/* ---- engines ------------------------------------------------------------------------------ */

/* Classes of matrix efficiency, by the bits computed or stored (calibration.md section 2.3). */
enum pm_class { PM_CLASS_16, PM_CLASS_8, PM_CLASS_4, PM_CLASS_COUNT };

struct pm_band {
    double low, high;                   /* factors on the expected value */
};

struct pm_engine {
    bool ideal;                         /* the pure roofline: expected = ceiling */
    double efficiency_bandwidth;        /* eta_m */
    double efficiency_dense[PM_CLASS_COUNT];   /* eta_c */
    double efficiency_attention;        /* eta_att */
    double efficiency_experts[PM_CLASS_COUNT]; /* eta_moe */
    double expert_half_rows;            /* m0 */
    double operation_time;              /* t0, s */
    double sequence_time;               /* t_seq, s per token of a sequence */
    double allreduce_time;              /* alpha, s */
    double efficiency_link;             /* eta_link */
    double utilization;                 /* cap on the card's memory, 0..1 */
    double overhead;                    /* bytes per GPU besides weights and KV */
    bool activations_in_overhead;       /* `overhead` holds the activations already */
    double page;                        /* tokens per KV page */
    double chunk;                       /* tokens of a prefill chunk */
    double request_time;                /* h, s: HTTP, tokeniser, first scheduling */
    double stream_interval;             /* s: decode steps before the client sees the first token */
    double first_wave;                  /* w: mean wait in prefills of the others */
    bool embedding_on_host;
    /* Refinements (docs/calibration.md section 10); 0 leaves the form that was fitted first. */
    double corner;                      /* p: time = (compute^p + memory^p)^(1/p); 0: the greater of them */
    double expert_row_mix;              /* rows per expert = all^(1-x) * touched^x; 0: over all experts */
    double recurrent_factor;            /* on t0 of projections into, and updates of, states; 0: 1 */
    double efficiency_oneshot;          /* share of the link when every GPU reads all others; 0: rings only */
    double ring_time;                   /* s that a ring takes longer than that, besides */
    double stream_share;                /* of the output that a stream interval takes at most; 0: all of it */
    double user_time;                   /* s until the first token for every running user: tokeniser, HTTP */
    /* Decode steps that schedulers hold a request back for (docs/calibration.md section 10); 0: none. */
    double poll_interval;               /* between two looks for new requests; up to 1: in every step */
    double hold_steps;                  /* that prompts are held back at most, to be batched, */
    double hold_share;                  /* unless the tokens of a step reach this share of a chunk */
    double balance_steps;               /* that attention replicas wait at most until each has a prompt */
    bool prompts_first;                 /* prompts run by themselves, before the sequences that decode */
    double train_steps;                 /* others' prompts that one waits for where all lengths are equal */
    double rate_cap;                    /* FLOP/s that matrix kernels reach on any card; 0: none */
    double efficiency_weight_only;      /* factor on dense efficiency of widened formats; 0: 1 */
    double kind_bandwidth[PM_MEMORY_KINDS]; /* factors on achieved bandwidth by kind of memory; 0: 1 */
    double kind_dense[PM_MEMORY_KINDS];     /* the same on dense efficiency */
    double dense_half_rows;             /* where dense products reach half their efficiency; 0: none */
    double row_power;                   /* of rows/(rows + half rows), there and in the next line; 0: 1 */
    double experts_of_dense;            /* efficiency of experts over dense; 0: efficiency_experts */
    double expert_spread;               /* tokens^x of a step choose experts apart from each other; 0: all */
    double efficiency_cache;            /* factor on achieved bandwidth of cache and states; 0: 1 */
    double efficiency_weights_4;        /* the same of dense weights multiplied in 4 bits; 0: 1 */
    double efficiency_plain;            /* factor on dense efficiency on cards without matrix units; 0: 1 */
    bool single_stream;                 /* measured with one sequence, on cards with every kind of memory */
    /* Memory as engines lay it out (docs/model.md section 2); 0 or false: the plain rules. */
    bool cap_on_driver_memory;          /* `utilization` is a share of what the driver reports */
    double communicator;                /* bytes per GPU of exchange buffers, with more than one GPU */
    double graphs;                      /* bytes of captured CUDA graphs */
    bool graphs_in_cap;                 /* they are taken out of the cap, and not of the rest of the card */
    double cache_share;                 /* share of what is left that the cache takes; 0: all */
    double profile_rows;                /* activations are sized at start, for a full chunk or for so many */
    double profile_row_bytes;           /* rows of logits of so many bytes an entry; 0 rows: for the load */
    bool rope_table;                    /* cosines and sines of every position, in 16 bits, on every GPU */
    double allocator_block;             /* bytes that large tensors round up to; 0: none */
    bool unified_pages;                 /* kinds of blocks share pages of one size in bytes */
    double state_pages;                 /* pages that a state takes then; 0: 1 */
    double expert_pad_hidden;           /* 4-bit experts round their inputs up to a multiple of so many, */
    double expert_pad_width;            /* and their width on one GPU; 0: no padding */
    double window_margin;               /* tokens that a windowed cache keeps besides its window */
    double conv_bytes;                  /* of one value in the tail of a convolution; 0: 2 */
    /* The exact form that was fitted, where the product computes more exactly (docs/calibration.md):
     * capacity from unwindowed blocks alone, window pairs np * min(w, (np+1)/2), less than one sequence
     * per replica, O in place of O-1 in the residence of Little's law, tokens that route independently and
     * no exchange for norms. For vectors and fits only. */
    bool as_calibrated;
    struct pm_band tpot_band, ttft_band, rate_band;
    struct pm_band unverified_band;     /* for cards without serving measurements */
};

/* ---- the case ----------------------------------------------------------------------------- */

/* A model on GPUs under a load: what a scenario resolves to. `context` > 0 or `static_step` is one
 * static decode step; else `prompt` and `output` are a closed loop of `batch` users. */
struct pm_case {
    const struct pm_model *model;
    const struct pm_gpu *gpu;
    const struct pm_engine *engine;
    double tp, pp, dp, ep, replicas;    /* each at least 1 */
    double batch;                       /* sequences, or users of the closed loop */
    bool static_step;
    double context;                     /* tokens read by a static decode step, the new one included */
    double prompt, output;              /* tokens; prompt 0: no prefill */
    double cached_prefix;               /* prompt tokens found in a prefix cache */
    bool equal_lengths;                 /* of all requests: users who start together stay in step */
    double utilization;                 /* of the scenario, 0: the engine's */
    double page, chunk;                 /* of the scenario, 0: the engine's */
    double draft_tokens, acceptance;    /* speculation; draft_tokens 0: off */
    const struct pm_model *draft_model; /* NULL: the model's own prediction block, if any, else free */
    bool free_drafts;                   /* found in the text (n-gram), also where it has one */
    const struct pm_prepared *prepared; /* from pm_prepare(), or NULL */
    const struct pm_rates *rates;       /* inside the library; whatever a caller sets is ignored */
};

/* ---- preparation -------------------------------------------------------------------------- */

/* What depends on nothing but a case's models, their formats, the layout (tp, pp, dp, ep) and the way its
 * engine lays weights out: parameter counts, weights on the fullest GPU, bytes of a cached token, the
 * operations of a step. Functions below work it out themselves, or take it from `prepared` where many cases
 * share it. It stays valid while load, card and coefficients change, and no longer when one of those named
 * first does. Without it they need room on the stack for the largest of models, half a megabyte. */
struct pm_prepared;

/* Bytes that the preparation of a case takes. */
size_t pm_prepared_size(const struct pm_case *input);

/* Prepares a case into `storage`, as aligned as malloc's: `input.prepared = pm_prepare(&input, storage)`. */
const struct pm_prepared *pm_prepare(const struct pm_case *input, void *storage);

/* ---- parameters --------------------------------------------------------------------------- */

struct pm_params {
    double embedding, positions, attention, ffn, experts; /* with the next line, they add up to total */
    double shared, router, norms, head, other;
    double total;
    double active;              /* total less unused experts, input embedding included */
    double matmul;              /* matrices that are multiplied, head once even when tied */
    double matmul_active;       /* the same with k of E experts */
    double estimate;            /* 12 L d^2 */
    double layers;
    double kv_bytes_per_token;  /* slope: bytes one more token adds to all blocks without a window */
    double kv_bytes_window;     /* most that windowed blocks hold per sequence */
    double state_bytes;         /* fixed state per sequence */
    double weight_bytes;        /* all of it as stored, no replication */
};

/* Counts of a model; `out` is fully written. */
void pm_count_params(const struct pm_model *model, struct pm_params *out);

/* KV bytes of one sequence of `tokens` tokens on one GPU of a tp group (tp = 1: the whole model),
 * blocks of all pipeline stages, state per sequence included. */
double pm_kv_bytes(const struct pm_model *model, double tokens, double tp);

/* ---- memory ------------------------------------------------------------------------------- */

enum pm_limit { PM_LIMIT_NONE, PM_LIMIT_MEMORY, PM_LIMIT_MODEL };

enum { PM_CLASSES_OF_WEIGHTS = 10 };

/* Bytes on the fullest GPU. `kv` is that of all sequences of a static step, and in a closed loop of those
 * that fit, as the others wait; `fits` then asks for one of them. */
struct pm_memory {
    double weights, kv, activations, overhead, total;
    double rope_table, allocator_slack; /* inside weights, in their last class */
    double communicator, graphs, reserve; /* inside overhead, besides the engine's own */
    double usable;              /* capacity * utilization, and what graphs outside the cap leave */
    double capacity;            /* memory, or what the driver reports of it */
    double pool;                /* what is left for KV; negative: the weights do not fit */
    double free;                /* usable - total; negative: shortfall */
    double shortfall;           /* 0 when it fits */
    double kv_per_sequence;     /* of the sequence length that is reserved, shared prefix included */
    double kv_shared;           /* of it, stored once for all sequences: whole pages of a cached prefix */
    double kv_sequences;        /* whose cache the fullest GPU holds */
    double page_tokens;         /* tokens of a page of the blocks that keep everything */
    double kv_per_token;        /* slope per GPU */
    double kv_tokens;           /* tokens the pool holds, floored to pages */
    bool fits;
    double max_batch;           /* at this length; floor; 0 when not even one fits */
    enum pm_limit max_batch_limit; /* PM_LIMIT_NONE: sequences take no memory, max_batch means nothing */
    double max_context;         /* at this batch */
    enum pm_limit max_context_limit;
    double weights_by_class[PM_CLASSES_OF_WEIGHTS]; /* in the order of pm_params: embedding to other */
};

void pm_memory_of(const struct pm_case *input, struct pm_memory *out);

/* ---- steps -------------------------------------------------------------------------------- */

enum pm_bound {
    PM_BOUND_WEIGHTS, PM_BOUND_KV, PM_BOUND_COMPUTE, PM_BOUND_COMMUNICATION, PM_BOUND_FIXED,
    PM_BOUND_COUNT
};

/* A ceiling step, totals per GPU on the busiest one; with pipeline stages, of one micro-batch on its way
 * through all of them. */
struct pm_ceiling {
    double work;                /* FLOP, matrix and attention */
    double matrix_work, attention_work;
    double traffic;             /* bytes: weights + kv, less what the cache may hold */
    double weight_traffic, kv_traffic;
    double compute_time, memory_time;
    double time;                /* max of the two */
    double intensity;           /* work / traffic; 0 without traffic */
    double balance;             /* FLOP/B at which they meet, for the formats in use */
    enum pm_bound bound;
};

/* How a step decides the size of an operation. */
enum pm_op_kind {
    PM_PRODUCT,          /* rows with a matrix */
    PM_EXPERTS,          /* rows with the matrices of those experts that they choose */
    PM_DECODE_ATTENTION, /* of decoding tokens to the cache */
    PM_PROMPT_ATTENTION, /* of a prompt's tokens to each other and to the cache */
    PM_PROMPT_LATENT,    /* the same where the prompt's keys and values come from an up projection */
    PM_DECODE_INDEX,     /* scores of a sparse index, over all tokens */
    PM_PROMPT_INDEX,
    PM_STATE_UPDATE,     /* of a recurrent state */
    PM_OP_KINDS
};

/* The numbers of one launch that its work and bytes are products of, on one GPU; 0 where its kind has none.
 *   product, experts:  work 2 rows matrix; weights (experts) matrix bits / 8; activations 2 rows columns
 *   attention, index:  work 2 tokens attended heads width, of prompts 2 pairs heads width;
 *                      cache sequences attended token_bytes, of prompts (prompt + cached) token_bytes
 *   state update:      work 6 values tokens; cache state_bytes passes; activations 4 tokens passing */
struct pm_op_sizes {
    enum pm_op_kind kind;
    double rows, matrix, inner, columns, bits; /* inner 0: matrices of which no more is known */
    double experts;                            /* whose weights are read */
    double heads, width, token_bytes;          /* width: of a key and a value; bytes of a cached token */
    double tokens, sequences, attended;        /* attended: tokens that a decoding one reads */
    double prompt, cached, pairs;              /* pairs of tokens of which one attends to the other */
    double values, passing, state_bytes, passes;
};

/* One launch of an operation of a step, one row of ops.c each. */
struct pm_op {
    const char *name;           /* static: "qkv projection", "expert GEMM 1", ... */
    double count;               /* launches per step */
    double work, weight_bytes, kv_bytes, activation_bytes;   /* one launch, per GPU */
    double rate;                /* peak * efficiency, FLOP/s */
    double bandwidth;           /* bandwidth * efficiency, bytes/s */
    double busy;                /* one launch, s, of computing and moving */
    double seconds;             /* the same with its fixed time */
    bool narrow;                /* its weights are read more slowly, being multiplied in 4 bits */
    struct pm_op_sizes sizes;
};

enum { PM_OPS_MAX = 64 * 16, PM_LEGS_MAX = 3 };

/* Bytes that norms of queries and keys over all heads exchange for each token: the squares of those on other
 * GPUs as one sum of queries and one of keys, in 32 bits (vllm-project/vllm pull request 31493). */
enum { PM_NORM_SUMS = 8 };

/* PCIe 4.0 x16, bytes/s: what GPUs exchange over where nothing is said of link, host or network. */
#define PM_ASSUMED_PCIE 32e9

/* What bytes between GPUs go through. */
enum pm_route {
    PM_ROUTE_ONE_SHOT,          /* the link, every GPU reading from all others at once */
    PM_ROUTE_RING,              /* the link, around a ring */
    PM_ROUTE_HOST,              /* PCIe: there is no link, or it does not reach that far */
    PM_ROUTE_NETWORK            /* between nodes */
};

/* One leg of an exchange takes fixed + share * message / rate. */
struct pm_leg {
    enum pm_route route;
    double gpus;                /* that take part; between nodes: nodes */
    double fixed;
    double share;               /* of the message that passes a GPU's port: 2 (n-1)/n around a ring */
    double rate;                /* bytes/s, efficiency included */
    double efficiency;
};

/* Exchanges of a step, all of one kind alike. */
enum pm_exchange_kind {
    PM_EXCHANGE_GROUP,          /* all-reduces of a tensor-parallel group */
    PM_EXCHANGE_EXPERTS,        /* dispatch and combine of experts behind replicas of attention, as one */
    PM_EXCHANGE_NORMS,          /* sums of squares, where queries and keys are normed over all heads */
    PM_EXCHANGE_HANDOVER,       /* from one stage of a pipeline to the next */
    PM_EXCHANGE_KINDS
};

struct pm_exchange {
    double count;               /* in the step */
    double message;             /* bytes */
    double time;                /* of one, s: the sum of its legs */
    struct pm_leg legs[PM_LEGS_MAX];
    size_t leg_count;
};

/* An expected step. The terms add up to time. */
struct pm_step {
    double time;
    double term[PM_BOUND_COUNT];/* seconds by what they are spent on; launch and host time are FIXED */
    double allreduces, allreduce_time;
    double launches;            /* operations, each costing t0 */
    double host_time;           /* t_seq * tokens of the sequences that decode */
    double distinct_experts;    /* expected per MoE block; 0 without experts */
    double bytes_moved, work;
    double weights_moved, kv_moved; /* of the bytes; the rest are activations */
    enum pm_bound bound;
};

/* A ceiling step of `sequences` sequences with `new_tokens` tokens each (1: decode) that read `context`
 * tokens of KV; with prefill, `new_tokens` prompt tokens after `cached` cached ones. */
void pm_ceiling_decode(const struct pm_case *input, double sequences, double context, struct pm_ceiling *out);
void pm_ceiling_prefill(const struct pm_case *input, double prompt, double cached, struct pm_ceiling *out);

/* t_step(nd, c, np) of calibration.md section 2.3. `ops` may be NULL; else at most `ops_max` rows are
 * written and *op_count says how many there are. */
void pm_expected_step(const struct pm_case *input, double decoding, double context, double prompt_tokens,
                      struct pm_step *out, struct pm_op *ops, size_t ops_max, size_t *op_count);

/* Least batch at which decode is compute-bound at `context`; 0 when no batch is. */
double pm_critical_batch(const struct pm_case *input, double context);

/* Longest context at which some batch is compute-bound; 0 when none is, HUGE is never returned:
 * when every context is, the result is negative. */
double pm_critical_context(const struct pm_case *input);

/* Context at which KV traffic equals weight traffic at this batch; 0 when there is no KV. */
double pm_kv_equals_weights(const struct pm_case *input);

/* ---- speculation -------------------------------------------------------------------------- */

/* Decode steps with drafts against those without, of the sequences that decode; zero without drafts. */
struct pm_speculation {
    double plain_step;          /* s without drafts */
    double draft_time;          /* s inside a step: all its drafts */
    double speedup;             /* tokens per second over those without */
    double break_even_acceptance; /* at which both are as fast; negative: at none */
    double break_even_batch;    /* most sequences that drafts speed up; 0: none, negative: any number */
};

/* ---- service ------------------------------------------------------------------------------ */

/* One reading (ceiling or expected). A time that does not exist for the case is negative. */
struct pm_service {
    double running;             /* sequences that run at once, at most the batch */
    double decoding;            /* of them; fewer where prompts fill the steps */
    double decode_step;         /* s, mean */
    double interference;        /* s per token */
    double eased;               /* taken off it: prefills of others that are waited for, and not twice */
    double tpot;                /* s per token and user */
    double prefill;             /* s of one prompt, decode steps that share its own included */
    double draft_prefill;       /* s of it in what drafts; the ceiling's first token does not wait for that */
    double prefill_share;       /* s that one prefill costs everybody else: P of calibration.md */
    double prefill_alone;       /* s of the steps of one prompt by itself */
    double prefill_packed;      /* s per prompt among others in full steps with nothing to decode */
    double prefill_step_share;  /* of decode steps that carry (a part of) a prompt; above 1: several */
    double request_time;        /* s, inside ttft: HTTP, tokeniser, first scheduling */
    double stream_time;         /* s, inside ttft: decode steps before the client sees a token */
    double held_steps;          /* of them, before the scheduler lets a prompt in */
    bool in_step;               /* all users prefill, then all decode: equal lengths, prompts first */
    double wave_time;           /* s, inside ttft: prefills of the others */
    double queueing;            /* s, inside ttft; ttft is the sum of these four and prefill */
    double ttft;                /* s */
    double latency;             /* s per request */
    double tpot_inclusive;      /* latency / output */
    double speed;               /* tokens/s per user */
    double request_rate;        /* output tokens/s of one request: output / latency */
    double throughput;          /* output tokens/s of the deployment, all replicas */
    double throughput_per_gpu;
    double requests_per_second;
    double tokens_per_step;     /* 1 without speculation */
    struct pm_band tpot_band, ttft_band, throughput_band; /* absolute values, low never below the ceiling */
};

struct pm_result {
    struct pm_params params;
    struct pm_memory memory;
    struct pm_ceiling decode_ceiling, prefill_ceiling;     /* prefill: zero without a prompt */
    struct pm_step decode, mixed, prefill;                 /* expected */
    double context;             /* mean tokens a decode step reads */
    double sequence_length;     /* tokens reserved per sequence */
    struct pm_service ceiling, expected;
    struct pm_speculation speculation;
    bool hypothetical;          /* not even one sequence fits: times are as if it did */
    double critical_batch, critical_context, kv_equals_weights;
    double gpus;                /* of one replica */
    double mfu, mbu;            /* expected */
    double cost_per_mtok, cost_per_mtok_blended;           /* negative without a price */
    double energy_per_token;    /* J; negative without tdp */
    double scaling_efficiency;  /* against one GPU (tp = pp = dp = ep = 1); 1 for one GPU */
    double expert_exchange;     /* bytes a GPU sends to dispatch a decode step's tokens to experts elsewhere;
                                 * as many again to combine them; 0 without ep */
    bool verified;              /* measurements stand behind the coefficients used */
};

/* ---- what a result was made of ---------------------------------------------------------------- */

/* The steps behind a result. */
enum pm_step_kind {
    PM_STEP_DECODE,             /* of the sequences that decode */
    PM_STEP_PREFILL,            /* of one prompt by itself, one for each of its chunks */
    PM_STEP_MIXED,              /* the same, among the sequences that decode */
    PM_STEP_PACKED,             /* of prompts alone, as many as the chunk allows of those that wait */
    PM_STEP_DRAFT,              /* of what drafts, one draft for each sequence */
    PM_STEP_DRAFT_PREFILL,      /* of what drafts, one for each chunk of a prompt */
    PM_STEP_PLAIN,              /* a decode step of the same sequences without drafts */
    PM_STEP_SINGLE              /* the same step on one GPU */
};

struct pm_step_part {
    struct pm_step step;
    double times;               /* steps like this one: many equal chunks are priced at their mean */
    double sequences;           /* that decode in it: those of one micro-batch */
    double prompt, cached;      /* tokens of the prompts, and before each */
    double prompts;             /* 0: a part of one, or none */
    struct pm_exchange exchanges[PM_EXCHANGE_KINDS];
};

/* Step `index` of a kind, with its operations (at most `ops_max` are written, *op_count says how many there
 * are). False: the result has no such step. */
bool pm_part_step(const struct pm_case *input, const struct pm_result *result, enum pm_step_kind kind,
                  size_t index, struct pm_step_part *out, struct pm_op *ops, size_t ops_max,
                  size_t *op_count);

/* Pages of one size that all kinds of blocks share: their bytes, and how many a sequence of so many tokens
 * takes. False: the engine of this case has no such pages. */
bool pm_shared_pages(const struct pm_case *input, double tokens, double *page_bytes, double *pages);

/* All-reduces of each block of this kind for norms of queries and keys over all heads: 1 where GPUs share
 * them. */
double pm_norm_exchanges(const struct pm_case *input, size_t block);

/* Power of a step's tokens that choose experts apart from each other: the lesser of the engine's and of the
 * block's. */
double pm_expert_spread(const struct pm_engine *engine, const struct pm_block *block);

/* How many of a step's tokens choose the experts of such a block apart from each other. */
double pm_tokens_apart(const struct pm_engine *engine, const struct pm_block *block, double tokens);

/* Decode steps that a request waits on average where prompts are held back until `more` of them have come, at
 * `rate` a step (per step, 0 or more), but for `most` steps at most. */
double pm_held_back(double most, double more, double rate);

/* How many of the blocks of this kind the fullest GPU has a share of. */
double pm_blocks_on_gpu(const struct pm_case *input, size_t block);

/* The first invariant that a result breaks, as a sentence, or NULL: sums equal their totals, expected
 * times are not below the ceiling, what fits does fit, throughput obeys Little's law, all is finite. */
const char *pm_verify(const struct pm_case *input, const struct pm_result *result);

/* Everything about one case; `out` is fully written, and every double in it is finite. */
void pm_evaluate(const struct pm_case *input, struct pm_result *out);

/* A result in parts, each resting on those before it. */
enum pm_part {
    PM_PART_MEMORY = 1,         /* params, memory, running, and what the case alone decides */
    PM_PART_DECODE = 2,         /* decode_ceiling, decode, and decode_step of both readings */
    PM_PART_SERVICE = 4,        /* all steps, both readings */
    PM_PART_USE = 8,            /* mfu, mbu, cost, energy, expert_exchange */
    PM_PART_LIMITS = 16,        /* critical_batch, critical_context, kv_equals_weights, scaling_efficiency,
                                 * speculation */
    PM_PART_ALL = 31
};

/* Brings these parts of a result up to date with a case that differs from the one it is of; the rest of `out`
 * stays as it is, right as long as the difference does not reach it. */
void pm_evaluate_parts(const struct pm_case *input, unsigned parts, struct pm_result *out);

#endif
