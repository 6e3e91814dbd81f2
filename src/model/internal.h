/* internal.h: what the files of libperfmodel share. Not installed; nobody outside src/model includes it. */
#ifndef PERFMODEL_INTERNAL_H
#define PERFMODEL_INTERNAL_H

#include <math.h>

#include "model/operation.h"
#include "model/perfmodel.h"

/* Greatest value a result may take: far beyond every real quantity, far from overflow. */
#define PM_HUGE 1e300

static inline double pm_divide(double dividend, double divisor)
{
    if (!(divisor > 0)) {
        return 0;
    }
    double quotient = dividend / divisor;
    return quotient < PM_HUGE ? quotient : PM_HUGE;
}

static inline double pm_at_least(double value, double least)
{
    return value > least ? value : least; /* also for NaN */
}

static inline double pm_at_most(double value, double most)
{
    return value < most ? value : most;
}

/* ---- how the GPUs are used ------------------------------------------------------------------ */

/* Parallelism with every degree at least 1. */
struct pm_layout {
    double tp, pp, dp, ep;
    double stage_gpus; /* tp * dp: the GPUs of one pipeline stage; experts spread over them */
    double gpus;       /* of one replica */
};

/* ---- what the model is ---------------------------------------------------------------------- */

/* A model as it is computed with: `params` in place of an architecture are spread over its blocks. */
struct pm_view {
    const struct pm_model *model;
    double layers;
    bool declared;               /* `params` stand in place of an architecture */
    bool declared_bare;          /* and width or heads are unknown: the weights are one operation a layer */
    double declared_block;       /* parameters of one block besides its attention; all of it when bare */
    double scale;                /* declared over derived count where a plan gives both, else 1 */
    const struct pm_kind *kinds; /* its blocks on the GPUs of a case; NULL outside of one */
    double tp;                   /* that those are of */
};

/* Of a model alone, without kinds. */
struct pm_view pm_view_of(const struct pm_model *model);
void pm_count_params_of(const struct pm_view *view, struct pm_params *out);

/* Parameters of one block. `split` parts divide by tp, `whole` parts are on every GPU. */
struct pm_block_counts {
    double attention_split, attention_whole; /* matrices */
    double key_value;                        /* matrices that divide by key/value heads */
    double attention_vectors;                /* biases, norms of queries and keys, sinks, convolutions */
    double ffn, ffn_vectors;
    double expert, expert_vectors; /* one expert */
    double latent;                 /* into and out of the width that experts work in */
    double shared;
    double router, router_vectors;
    double norms;
    double other;
};

void pm_count_block(const struct pm_view *view, const struct pm_block *block, struct pm_block_counts *out);

/* FLOP of a query token for each token it attends, at the ceiling, per GPU of a tp group. */
struct pm_attention_work {
    double decode; /* latent attention absorbed */
    double prompt; /* in prefill, the cheaper form */
    double index;  /* for each token in reach of a sparse index */
};

struct pm_attention_work pm_attention_work_of(const struct pm_block *block, double tp);

/* Experts that every token chooses, evenly. */
struct pm_choice {
    double experts, used;
    double log_idle; /* ln(1 - used/experts): of the chance that a token leaves an expert idle */
    double spread;   /* power of the tokens that choose apart, by the model; 0: all do */
    double per_gpu;  /* share of all experts on the GPU with most of them */
    double bits;     /* of a weight */
    enum pm_class stored;
    unsigned char format;
};

/* All-reduces of a step, over the GPUs of a replica or, `spread`, over all of a stage; and those of norms
 * over all heads, over the GPUs that share them. */
struct pm_reductions {
    double count, norms;
    bool spread;
};

/* What steps and memory need of one kind of blocks, as far as model and layout decide it. */
struct pm_kind {
    struct pm_block_counts counts;
    double blocks;      /* on the largest stage */
    double kv_token;    /* pm_kv_token_bytes() */
    double index_token; /* pm_index_token_bytes() */
    double state;       /* pm_block_state() */
    struct pm_attention_work work;
    double tail;        /* values that all GPUs keep of a convolution's input */
    double window, chunk; /* of attention, that of a sparse index included; 0: none */
    bool same_reach;    /* as the kind before */
    struct pm_choice choice;
    struct pm_reductions reductions;
    struct pm_operations operations;
    struct pm_matrix matrix[PM_BLOCK_MATRICES];
    size_t matrix_count;
};

static inline const struct pm_kind *pm_kind_of(const struct pm_view *view, const struct pm_block *block)
{
    return &view->kinds[block - view->model->blocks];
}

/* ---- a case prepared ------------------------------------------------------------------------ */

/* The weights on the fullest GPU, as pm_memory has them. */
struct pm_stored {
    double by_class[PM_CLASSES_OF_WEIGHTS];
    double total, rope_table, allocator_slack;
};

struct pm_prepared {
    struct pm_layout layout;
    struct pm_view view;
    struct pm_params params;
    struct pm_stored weights;
    const struct pm_prepared *single; /* the model on one GPU */
    const struct pm_prepared *draft;  /* the model that drafts, or NULL */
    const struct pm_formats *formats; /* of all these models */
    unsigned char kv_format;
    struct pm_operations ends;
    struct pm_matrix end[PM_END_MATRICES];
    size_t end_count;
    struct pm_kind kinds[];
};

/* Bytes of a preparation of a model with so many kinds of blocks. */
#define PM_PREPARED_BYTES(blocks)                                                                            \
    (sizeof(struct pm_prepared) + (blocks) * sizeof(struct pm_kind) +                                        \
     ((blocks) * PM_BLOCK_OPERATIONS + PM_END_OPERATIONS) * sizeof(struct pm_operation))

/* The block of a model that predicts further tokens, as a model that drafts. It shares embedding and head. */
struct pm_prediction {
    struct pm_model model;
    struct pm_block block;
};

/* What a card gives and an engine achieves of it. */
struct pm_rates {
    double peak_16, peak_index; /* at the ceiling */
    double attention, index;    /* FLOP/s achieved */
    double bandwidth;           /* achieved */
    double cache_slowness;      /* s that a byte of cache or state takes longer than others */
    double narrow_slowness;     /* the same of weights that are multiplied in 4 bits */
    /* By pm_operation.recurrent: launches that an operation counts for, and their fixed time. */
    double launches[2], fixed_time[2];
    /* By format: the card's peak at the ceiling and in the expected reading, FLOP/s achieved in products, and
     * the class of efficiency. */
    double peak_ceiling[PM_FORMATS_MAX], peak[PM_FORMATS_MAX], product[PM_FORMATS_MAX];
    enum pm_class computed[PM_FORMATS_MAX];
};

void pm_find_rates(const struct pm_case *input, struct pm_rates *out);
/* An efficiency between nothing and all. */
double pm_share(double efficiency);

/* Room to prepare a case of the largest models in. */
struct pm_workspace {
    struct pm_case input;
    struct pm_rates rates;
    _Alignas(max_align_t) unsigned char storage[3 * PM_PREPARED_BYTES(PM_BLOCKS_MAX) +
                                                sizeof(struct pm_formats) +
                                                sizeof(struct pm_prediction)];
};

/* A copy of the case in `workspace`, prepared and with its rates. All functions below this line that take a
 * case take one like it. */
const struct pm_case *pm_prepared_case(const struct pm_case *input, struct pm_workspace *workspace);

/* The view of the case's model, or of its draft model. */
const struct pm_view *pm_view_in(const struct pm_case *input, const struct pm_model *model);

static inline struct pm_layout pm_layout_of(const struct pm_case *input)
{
    return input->prepared->layout;
}

/* ---- what a case says of its load ----------------------------------------------------------- */

/* One static decode step rather than a closed loop. */
static inline bool pm_is_static(const struct pm_case *input)
{
    return input->static_step || input->context > 0 || !(input->output > 0);
}

/* Query tokens of a sequence in a decode step: 1, or those of a verification. */
static inline double pm_queries(const struct pm_case *input)
{
    return 1 + pm_at_least(input->draft_tokens, 0);
}

/* Tokens that a request takes in all. */
static inline double pm_prompt_tokens(const struct pm_case *input)
{
    double prompt = pm_at_least(input->prompt, 0);
    return prompt > 0 ? prompt + pm_at_least(input->model->tower_tokens, 0) : 0;
}

/* Prompt tokens that a prefix cache holds: at least the last one is computed. */
static inline double pm_cached_tokens(const struct pm_case *input)
{
    return pm_at_most(pm_at_least(input->cached_prefix, 0), pm_at_least(pm_prompt_tokens(input) - 1, 0));
}

static inline double pm_page(const struct pm_case *input)
{
    return pm_at_least(input->page > 0 ? input->page : input->engine->page, 1);
}

/* Most prompt tokens of a step; 0: all of them. */
static inline double pm_chunk(const struct pm_case *input)
{
    return input->chunk > 0 ? input->chunk : input->engine->chunk;
}

/* ---- blocks --------------------------------------------------------------------------------- */

/* Key/value heads on one GPU. */
double pm_kv_heads_per_gpu(const struct pm_block *block, double tp);

/* Head size of values: that of keys unless declared. */
static inline double pm_v_dim(const struct pm_block *block)
{
    return block->v_dim > 0 ? block->v_dim : block->head_dim;
}

/* Bytes that attention reads for one token, and those that the block itself caches of it. */
double pm_read_token_bytes(const struct pm_view *view, const struct pm_block *block, double tp);
double pm_count_kv_token_bytes(const struct pm_view *view, const struct pm_block *block, double tp);

/* Bytes that one cached token adds to one block on one GPU, windows and sparse index aside. */
static inline double pm_kv_token_bytes(const struct pm_view *view, const struct pm_block *block, double tp)
{
    return view->kinds != NULL && view->tp == tp ? pm_kind_of(view, block)->kv_token
                                                 : pm_count_kv_token_bytes(view, block, tp);
}

/* Bytes that a sparse index caches per token and block, on every GPU. */
double pm_index_token_bytes(const struct pm_block *block);

/* State of one sequence in one block on one GPU. */
double pm_block_state(const struct pm_block *block, double tp);
/* Values of the convolution's input that a linear block keeps between steps, on all GPUs. */
double pm_tail_values(const struct pm_block *block);

/* The longest reach of a block's cache: window or chunk; 0 when unlimited. */
static inline double pm_reach(const struct pm_block *block)
{
    return block->window > 0 ? block->window : block->chunk;
}

/* An engine's factor for the card's kind of memory. */
static inline double pm_kind_factor(const struct pm_gpu *gpu, const double factors[PM_MEMORY_KINDS])
{
    double factor = factors[gpu->memory_kind];
    return factor > 0 ? factor : 1;
}

static inline double pm_bytes(double count, const struct pm_format *format)
{
    return count * format->bits / 8;
}

/* ---- formats -------------------------------------------------------------------------------- */

double pm_peak_16(const struct pm_gpu *gpu);
double pm_peak_ceiling(const struct pm_gpu *gpu, const struct pm_format *format);
/* Peak and efficiency class of the expected reading. */
double pm_peak_expected(const struct pm_gpu *gpu, const struct pm_format *format, enum pm_class *computed);
enum pm_class pm_class_of_bits(double bits);
/* Weights that are multiplied in less than 6 bits, on cards that can. */
bool pm_format_narrow(const struct pm_format *format);

/* Formats by tensor class; those of `params` without an architecture are all one. */
const struct pm_format *pm_format_attention(const struct pm_view *view, const struct pm_block *block);
const struct pm_format *pm_format_ffn(const struct pm_view *view, const struct pm_block *block);
/* The head multiplies in the embedding's format while they are one tensor. */
const struct pm_format *pm_format_head(const struct pm_view *view);
/* Tied to the embedding, and stored once. */
bool pm_head_is_embedding(const struct pm_view *view);

/* ---- attended tokens ------------------------------------------------------------------------ */

/* Decode steps that read from `first` to `last` tokens; equal for one step. */
struct pm_contexts {
    double first, last;
};

/* Mean tokens attended by a token at the contexts. `reach` 0: unlimited. */
double pm_attended_mean(struct pm_contexts contexts, double window, double chunk);

/* Attended pairs of `tokens` prompt tokens after `cached` cached ones. */
double pm_attended_pairs(double tokens, double cached, double window, double chunk);

/* Cached tokens that a prefill reads in a block with this reach. */
double pm_attended_cached(double cached, double window, double chunk);

/* ---- a step --------------------------------------------------------------------------------- */

/* What one step processes, over all replicas of attention; one micro-batch where there are stages. */
struct pm_load {
    double sequences;            /* decoding */
    double queries;              /* new tokens of each: 1, or those of a verification */
    struct pm_contexts contexts; /* tokens they read */
    double prompt, cached;       /* prompt tokens in this step, on one replica, after cached ones */
    double prompts;              /* equal prompts that they are of; 0: one */
    double tower_tokens;         /* tokens that pass the tower first */
    double requests;             /* requests that the prompts belong to: 1 */
};

void pm_ceiling_of(const struct pm_case *input, const struct pm_load *load, struct pm_ceiling *out);
void pm_step_of(const struct pm_case *input, const struct pm_load *load, struct pm_step *out,
                struct pm_op *ops, size_t ops_max, size_t *op_count);

/* What the functions of perfmodel.h of these names answer. */
void pm_bound_decode(const struct pm_case *input, double sequences, double context, struct pm_ceiling *out);
void pm_bound_prefill(const struct pm_case *input, double prompt, double cached, struct pm_ceiling *out);
void pm_price_step(const struct pm_case *input, double decoding, double context, double prompt_tokens,
                   struct pm_step *out, struct pm_op *ops, size_t ops_max, size_t *op_count);
double pm_find_critical_batch(const struct pm_case *input, double context);
double pm_find_critical_context(const struct pm_case *input);
/* `weight_traffic`: of a decode step at the ceiling, whatever its batch. */
double pm_find_kv_equals_weights(const struct pm_case *input, double weight_traffic);
void pm_find_memory(const struct pm_case *input, struct pm_memory *out);

/* Peaks of attention at the ceiling. */
struct pm_attention_peaks {
    double attention; /* 16 bits, or that of the cache's format */
    double index;     /* of a sparse index: 8 bits */
};

struct pm_attention_peaks pm_attention_peaks_of(const struct pm_case *input);

/* Adds another step's time and totals. */
void pm_step_add(struct pm_step *sum, const struct pm_step *step);
/* Recomputes time and bound from the terms. */
void pm_step_close(struct pm_step *step);

/* Micro-batches in flight: as many as stages, at most the sequences. */
double pm_micro_batches(const struct pm_layout *layout, double sequences);

/* Where priced operations go: into a step, and into a table when one is wanted. */
struct pm_sink {
    struct pm_step *step;
    struct pm_op *ops;
    size_t max, count;
};

/* Lists the operations of a kind of blocks, or of the ends of the model, into `room`; returns their end. */
struct pm_operation *pm_list_block(const struct pm_view *view, const struct pm_layout *layout, size_t index,
                                   struct pm_formats *formats, struct pm_operation *room);
struct pm_operation *pm_list_ends(const struct pm_view *view, const struct pm_layout *layout,
                                  struct pm_formats *formats, struct pm_operation *room);

/* Lists the matrices that the ceiling counts, of a kind whose parameters are known, and of the ends. */
void pm_list_block_matrices(const struct pm_view *view, const struct pm_layout *layout, size_t index,
                            struct pm_formats *formats, struct pm_kind *kind);
size_t pm_list_end_matrices(const struct pm_view *view, const struct pm_layout *layout,
                            struct pm_formats *formats, struct pm_matrix list[PM_END_MATRICES]);

/* Prices all operations of a step (calibration.md section 2.3). */
void pm_launch_all(const struct pm_case *input, const struct pm_load *load, struct pm_sink *sink);

/* ---- communication -------------------------------------------------------------------------- */

/* Seconds of one all-reduce of `bytes` (the message) among `gpus` GPUs. */
double pm_allreduce_time(const struct pm_case *input, double gpus, double bytes);
/* All-reduces of a kind of blocks. */
struct pm_reductions pm_reductions_of(const struct pm_view *view, const struct pm_layout *layout,
                                      const struct pm_block *block);
/* The exchanges of a step by kind. */
void pm_step_exchanges(const struct pm_case *input, const struct pm_view *view,
                       const struct pm_layout *layout, const struct pm_load *load,
                       struct pm_exchange out[PM_EXCHANGE_KINDS]);

/* ---- memory --------------------------------------------------------------------------------- */

/* The weights of a case by class, their sum, and what of it no tensor holds; its views are ready. */
void pm_weights_of(const struct pm_case *input, struct pm_stored *out);
/* Blocks of a kind on the largest stage. */
double pm_count_stage_blocks(const struct pm_view *view, const struct pm_layout *layout, size_t index);
static inline double pm_whole_pages(double tokens, double page)
{
    return page > 1 ? ceil(tokens / page) * page : tokens;
}

/* Bytes that one more token adds at `tokens` tokens; 0 tokens: that blocks without a reach add. */
double pm_kv_slope(const struct pm_view *view, double tokens);
/* States of one sequence, and its full windows if wanted. */
double pm_kv_constant(const struct pm_case *input, const struct pm_view *view, const struct pm_layout *layout,
                      bool windows);

/* Bytes of the whole pages of a prefix that all sequences share: of blocks that keep every token. */
double pm_kv_shared_bytes(const struct pm_case *input, const struct pm_view *view,
                          const struct pm_layout *layout, double tokens);

/* Pages of equal bytes that all kinds of blocks share. */
struct pm_pages {
    size_t kinds;       /* of blocks that do not keep every token */
    double tokens;      /* of a page, in the blocks that store most per token */
    double group;       /* blocks that a page spans */
    double block_bytes; /* of a page in one of them */
    double bytes;       /* of a page */
};

bool pm_unify_pages(const struct pm_case *input, const struct pm_view *view, const struct pm_layout *layout,
                    struct pm_pages *out);
/* Pages that a sequence of `tokens` tokens takes. */
double pm_unified_pages(const struct pm_case *input, const struct pm_view *view,
                        const struct pm_layout *layout, const struct pm_pages *pages, double tokens);

/* Bytes of one sequence on the fullest GPU, in whole pages of `page` tokens (1: exact). */
double pm_kv_stage_bytes(const struct pm_case *input, const struct pm_view *view,
                         const struct pm_layout *layout, double tokens, double page);
/* Sequences that run at once. */
double pm_running(const struct pm_case *input, const struct pm_memory *memory);

/* ---- prefill -------------------------------------------------------------------------------- */

/* Chunks that a prompt passes in. */
double pm_prompt_chunks(const struct pm_case *input);
/* Chunk `index` of a prompt, put into a step of `load`, and for how many such steps it stands; false: the
 * prompt has no more. */
bool pm_prompt_chunk(const struct pm_case *input, size_t index, struct pm_load *load, double *times);
/* All steps of one prompt, `base` decoding meanwhile. Returns how many. */
double pm_prefill_steps(const struct pm_case *input, const struct pm_load *base, struct pm_step *sum);
/* What the stages of a pipeline make of the steps of `chunks` chunks. */
void pm_pipeline(const struct pm_case *input, double chunks, struct pm_step *step);
/* Prompts in one step: as many as are wanted, as far as the chunk allows. */
double pm_prompts_at_most(const struct pm_case *input, double wanted);
/* A step with as many, where a prompt takes one. */
void pm_crowd(const struct pm_case *input, double prompts, struct pm_load *load);
/* Its time; of the mean step where prompts take several. */
double pm_crowded_step(const struct pm_case *input, const struct pm_load *decoding, double prompts);

/* ---- speculation ---------------------------------------------------------------------------- */

double pm_tokens_per_step(const struct pm_case *input);
/* A step of what drafts, as a case of its own. */
struct pm_case pm_draft_case(const struct pm_case *input);
/* Whether the model's own prediction block drafts. */
bool pm_predicts(const struct pm_case *input);
void pm_prediction_of(const struct pm_model *model, struct pm_prediction *out);
void pm_find_speculation(const struct pm_case *input, struct pm_result *out);
/* Seconds of the drafts of one step, expected and at the ceiling. */
double pm_draft_time(const struct pm_case *input, double sequences, struct pm_contexts contexts);
double pm_draft_ceiling(const struct pm_case *input, double sequences, struct pm_contexts contexts);
/* Seconds in which what drafts reads a prompt. */
double pm_draft_prefill(const struct pm_case *input);

/* ---- service -------------------------------------------------------------------------------- */

/* What the rest starts from: sequences that run and tokens that they read, once memory is known. */
void pm_serve_start(const struct pm_case *input, struct pm_result *out);
/* The decode steps alone. */
void pm_serve_decode(const struct pm_case *input, struct pm_result *out);
void pm_serve(const struct pm_case *input, struct pm_result *out);

/* Decode load of `sequences` sequences at the contexts of a case, one micro-batch of them. */
struct pm_load pm_decode_load(const struct pm_case *input, double sequences, struct pm_contexts contexts);

/* Contexts that the decode steps of a case read. */
struct pm_contexts pm_case_contexts(const struct pm_case *input);

#endif
