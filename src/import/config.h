/* config.h: reading a config.json: the readers that all families share, and the table of families. Keys are
 * looked up in one object, never searched for: a vision part has a hidden_size, too. */
#ifndef PERFC_IMPORT_CONFIG_H
#define PERFC_IMPORT_CONFIG_H

#include "import/architecture.h"
#include "import/json.h"
#include "import/modules.h"

struct config {
    struct import_job *job;
    const struct json_file *json;
    json_t *root;            /* the whole file, or what `outer_key` holds */
    json_t *text;            /* the language model: the file itself, or its text_config */
    const char *text_key;    /* "text_config", or NULL */
    const char *outer_key;   /* "thinker_config", where the root is not the whole file, or NULL */
    const char *family_name; /* the deciding model_type */
    const struct family *family;
    struct architecture model;
    size_t layers, heads, kv_heads;
    double head_dim, ffn;
    VEC(const char *) missing; /* keys that were needed and are not there */
};

/* What is so in a family without any key saying it. */
enum family_trait {
    TIED_WHEN_ABSENT = 1 << 0,
    QKV_BIAS_ALWAYS = 1 << 1,
    BIAS_ALWAYS = 1 << 2,    /* all projections of attention and feed-forward */
    NO_OUTPUT_BIAS = 1 << 3, /* attention_bias means q, k and v only */
    HEAD_QK_NORM = 1 << 4,
    FULL_QK_NORM = 1 << 5,
    FOUR_NORMS = 1 << 6,
    ONE_NORM = 1 << 7,
    BIASED_NORMS = 1 << 8, /* norms have biases */
    UNGATED = 1 << 9,
    HEAD_BIAS = 1 << 10,
    EXPERTS_OF_FFN_WIDTH = 1 << 11, /* intermediate_size is the width of an expert */
    ROUTER_BIAS = 1 << 12,
    WIDE_WHEN_ABSENT = 1 << 13, /* feed-forward of 4 hidden when no key says another */
    LEARNED_POSITIONS = 1 << 14,
    ALTERNATE_WINDOWS = 1 << 15, /* every other layer is windowed, and no key says so */
    MTP_UNANNOUNCED = 1 << 16,
    FFN_BIAS_ALWAYS = 1 << 17,  /* and attention has none */
    QK_NORM_BY_KEY = 1 << 18,   /* only when use_qk_norm is true */
    BIAS_WHEN_ABSENT = 1 << 19, /* the key of the attention bias defaults to true */
    EMBEDDING_NORM = 1 << 20,
    WINDOWS_OFF_WHEN_ABSENT = 1 << 23, /* use_sliding_window defaults to false */
    SHARED_GATE = 1 << 22,
    ONE_KV_HEAD_WHEN_ABSENT = 1 << 21, /* multi_query defaults to true */
    NORMS_WITHOUT_WEIGHTS = 1 << 24,
    OUTPUT_GATE = 1 << 25,
    ONE_EXPERT_IS_DENSE = 1 << 26, /* a single expert is an ordinary feed-forward */
};

struct family {
    const char *name; /* model_type */
    unsigned traits;
    void (*build)(struct config *config, unsigned traits);
    const struct module_names *modules;
};

const struct family *family_find(const char *name);

/* A known family whose name is near, or NULL. */
const char *family_suggest(const char *name);

/* ---- config_read.c. A list of keys, separated by |, means: the first that is there and not null. ---- */

/* The member itself, or NULL. `object` may be NULL. */
json_t *config_member(json_t *object, const char *keys, const char **found);

/* Whole numbers from 1; those of an object inside `text` are read by the _in functions, whose `inside` is
 * that object's key for diagnostics. 0 and false when absent; an error when it is anything else. */
bool config_count(struct config *config, const char *keys, double *value);
double config_count_or(struct config *config, const char *keys, double usual);
double config_needed(struct config *config, const char *keys);
/* The same for sizes that cannot be 0, with what the class has where the file is silent. */
double config_size_or(struct config *config, const char *keys, double usual);
bool config_count_in(struct config *config, json_t *object, const char *inside, const char *keys,
                     double *value);
double config_needed_in(struct config *config, json_t *object, const char *inside, const char *keys);
bool config_flag_or(struct config *config, const char *keys, bool usual);
/* In the language part first, then in the whole file. */
bool config_flag_either(struct config *config, const char *keys, bool usual);

/* A number from 0 to `most`, not only a whole one. */
double config_real_in(struct config *config, json_t *object, const char *inside, const char *keys,
                      double usual, double most);

/* A string, or NULL; an error when it is anything else. config_word_if() leaves that to its caller, who reads
 * the key as something else, too. */
const char *config_word(struct config *config, const char *keys);
const char *config_word_in(struct config *config, json_t *object, const char *inside, const char *keys);
const char *config_word_if(struct config *config, const char *keys);

/* An object and its key, or NULL; an error when it is anything else. */
json_t *config_object(struct config *config, const char *keys, const char **key);

/* config_defaults.c: what the family's class has for the first of `keys` that it knows. */
bool config_class_default(struct config *config, const char *keys, double *value);

/* A list with one entry per layer, or NULL; an error when it is no list or has another length. */
json_t *config_list(struct config *config, const char *key);

/* The same with what it holds checked: where each entry stands in `words`, which end with NULL; each entry as
 * a 0 or 1, true or false. */
const size_t *config_list_of_words(struct config *config, const char *key, const char *const *words);
const bool *config_list_of_flags(struct config *config, const char *key);

/* A list of the numbers of layers, counted from `first`: each such entry of `layers` becomes `value`. Numbers
 * beyond the last layer mean none. False when there is no such list. */
bool config_list_of_layers(struct config *config, json_t *object, const char *inside, const char *keys,
                           size_t first, bool *layers, bool value);

/* An object beside the language model, or NULL; an error when it is anything else, or when one of `keys` in
 * it is neither a whole number nor a list of such. */
json_t *config_part(struct config *config, const char *name, const char *keys);

/* A list of any length, or NULL; an error when it is no list. */
json_t *config_list_any(struct config *config, const char *keys);

/* In the language part first, then in the whole file. */
json_t *config_either(struct config *config, const char *key);

/* Errors at a key of the language part (or of the object `inside` it). */
struct diag *config_error(struct config *config, const char *inside, const char *key, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void config_missing(struct config *config, const char *key);

/* ---- config_parts.c: parts that families are composed of ---- */

void config_sizes(struct config *config, unsigned traits);
void config_attention(struct config *config, unsigned traits, struct layer *layer);
void config_latent(struct config *config, struct layer *layer);
void config_linear(struct config *config, struct layer *layer);
void config_experts(struct config *config, unsigned traits, struct layer *layer);
void config_check_experts(struct config *config, const struct layer *layer);
void config_dense(struct config *config, unsigned traits, struct layer *layer);
void config_windows(struct config *config, unsigned traits);
bool config_has_experts(struct config *config);
/* Which layers have experts: an array of config->layers. */
const bool *config_sparse_layers(struct config *config);
/* Experts in a sparse layer, else the ordinary feed-forward. */
void config_feed_forward(struct config *config, unsigned traits, bool sparse, struct layer *layer);
/* All layers: `dense` ones, and `moe` where the file says that layers have experts. */
void config_lay_out(struct config *config, const struct layer *dense, const struct layer *moe);
/* An MTP layer like `layer`, with its projection of two states and its norms. */
void config_mtp(struct config *config, const struct layer *layer, double count);

/* ---- families ---- */

void build_decoder(struct config *config, unsigned traits);
void build_deepseek(struct config *config, unsigned traits);
void build_qwen_hybrid(struct config *config, unsigned traits);
void build_qwen1(struct config *config, unsigned traits);
void build_llama4(struct config *config, unsigned traits);
void build_dbrx(struct config *config, unsigned traits);
void build_gpt_oss(struct config *config, unsigned traits);
void build_gemma3n(struct config *config, unsigned traits);
void build_gemma4(struct config *config, unsigned traits);
void build_falcon(struct config *config, unsigned traits);
void build_mpt(struct config *config, unsigned traits);
void build_opt(struct config *config, unsigned traits);
void build_nemotron_nas(struct config *config, unsigned traits);
void build_nemotron_h(struct config *config, unsigned traits);
void build_mimo_flash(struct config *config, unsigned traits);
void build_minimax_lightning(struct config *config, unsigned traits);
void build_apertus(struct config *config, unsigned traits);
void build_hunyuan(struct config *config, unsigned traits);
void build_grok(struct config *config, unsigned traits);
void build_arctic(struct config *config, unsigned traits);
void build_step3(struct config *config, unsigned traits);
void build_longcat(struct config *config, unsigned traits);
void build_kimi_linear(struct config *config, unsigned traits);
void build_mllama(struct config *config, unsigned traits);
void build_gpt_neo(struct config *config, unsigned traits);
void build_openelm(struct config *config, unsigned traits);
void build_stablelm(struct config *config, unsigned traits);
void build_bitnet(struct config *config, unsigned traits);
void build_mamba(struct config *config, unsigned traits);
void build_mamba2(struct config *config, unsigned traits);
void build_jamba(struct config *config, unsigned traits);
void build_bamba(struct config *config, unsigned traits);
void build_falcon_h1(struct config *config, unsigned traits);
void build_lfm2(struct config *config, unsigned traits);
void build_recurrent_gemma(struct config *config, unsigned traits);
void build_rwkv(struct config *config, unsigned traits);
void build_bailing_linear(struct config *config, unsigned traits);
void build_phi4flash(struct config *config, unsigned traits);
void build_plamo2(struct config *config, unsigned traits);
void build_zamba(struct config *config, unsigned traits);
void build_zamba2(struct config *config, unsigned traits);
void build_ouro(struct config *config, unsigned traits);
void build_iquest_loop(struct config *config, unsigned traits);
void build_openai_gpt(struct config *config, unsigned traits);
void build_gpt_neox_japanese(struct config *config, unsigned traits);
void build_persimmon(struct config *config, unsigned traits);
void build_telechat(struct config *config, unsigned traits);
void build_jais(struct config *config, unsigned traits);
void build_diffllama(struct config *config, unsigned traits);
void build_hyperclovax(struct config *config, unsigned traits);
void build_step3p5(struct config *config, unsigned traits);
void build_klear(struct config *config, unsigned traits);
void build_aria(struct config *config, unsigned traits);
void build_cohere2_moe(struct config *config, unsigned traits);
void build_ernie_vl(struct config *config, unsigned traits);
void build_baichuan_m1(struct config *config, unsigned traits);

/* ---- config.c ---- */

/* The architecture that the file describes. False after an error. */
bool config_architecture(struct import_job *job, const struct json_file *json, struct architecture *model);

/* ---- tower.c, tower_audio.c, quantization.c ---- */

void config_tower(struct config *config);
void config_audio_tower(struct config *config);
void config_quantization(struct config *config);

#endif
