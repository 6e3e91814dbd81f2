/* quantization.h: what a configuration says about the storage of its weights, between quantization.c, which
 * finds it, quantization_methods.c and quantization_groups.c, which read its forms, quantization_formats.c,
 * which knows what they come to in bits, and quantization_apply.c, which applies it to each matrix. */
#ifndef PERFC_IMPORT_QUANTIZATION_H
#define PERFC_IMPORT_QUANTIZATION_H

#include "import/config.h"
#include "import/pattern.h"

/* Formats of integers that were asked for lately: a dictionary of modules asks for few, thousands of times.
 */
enum { RECENT_INTEGERS = 8 };

struct recent_integers {
    const char *prefix;
    double bits, group;
    bool zero;
    const struct storage *storage;
};

struct quantization {
    struct config *config;
    const struct json_file *json;
    const char *place[3]; /* keys down to the object */
    json_t *object;
    const struct storage *usual; /* of a linear layer that no list names; NULL: not quantised */
    bool experts_only, head_too;
    struct patterns *kept;   /* not quantised */
    struct patterns *chosen; /* formats of named modules */
    struct recent_integers recent[RECENT_INTEGERS];
    size_t recent_count;
};

/* ---- quantization.c: members, and complaints at a key of the object ---- */

struct diag *quantization_error(struct quantization *quantization, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "", 0 and `usual` where there is none or null, an error where it is something else; keys separated by |
 * mean the first that is there. */
const char *quantization_word(struct quantization *quantization, json_t *object, const char *keys);
double quantization_number(struct quantization *quantization, json_t *object, const char *keys);
bool quantization_flag(struct quantization *quantization, json_t *object, const char *keys, bool usual);

/* A dictionary or a list, or NULL; an error where it is something else. */
json_t *quantization_list(struct quantization *quantization, json_t *object, const char *key);
json_t *quantization_members(struct quantization *quantization, json_t *object, const char *key);

/* Whether the words are the same but for the case of letters; `other` is in upper case. */
bool quantization_same(const char *word, const char *other);

/* Whether a module belongs to the language model, not to a tower or an MTP layer. */
bool quantization_of_text(const char *name);

/* Adds the names and patterns of `list`, an array or nothing, that stands at `key`. False after an error. */
bool quantization_add(struct quantization *quantization, struct patterns *patterns, const char *key,
                      json_t *list, const void *value);

/* ---- quantization_formats.c. NULL: perfc does not know it, and says nothing, unless a comment says else.
 * ---- */

/* A format that the output declares; NULL after an error when there are too many. */
const struct storage *quantization_declare(struct quantization *quantization, struct storage storage);

/* Integers of `bits` in groups that share a 16-bit scale and, when `zero` says so, a zero point of `bits`; a
 * group of 0 is a whole channel. */
const struct storage *quantization_integers(struct quantization *quantization, const char *prefix,
                                            double bits, double group, bool zero);

/* fp8 with a 32-bit scale for each block of this size, which is a list of two or null. Complains. */
const struct storage *quantization_fp8(struct quantization *quantization, json_t *size);

/* Narrow floats whose activations stay in 16 bits: "fp8", "mxfp4" or "nvfp4". */
const struct storage *quantization_float_weights(struct quantization *quantization, const char *name);

/* The algorithms of NVIDIA's modelopt. */
const struct storage *quantization_algorithm(struct quantization *quantization, const char *word,
                                             json_t *object);

/* A group of compressed-tensors, and a layer of AMD's Quark. */
const struct storage *quantization_weights(struct quantization *quantization, json_t *group);
const struct storage *quantization_quark(struct quantization *quantization, json_t *layer);

/* One of torchao's configurations, by its class, with its members. */
const struct storage *quantization_torchao(struct quantization *quantization, const char *class,
                                           json_t *members);

/* ---- readers of whole methods: quantization_methods.c, and those that name groups of modules ---- */

void quantization_read_fp8(struct quantization *quantization);
void quantization_read_mxfp4(struct quantization *quantization);
void quantization_read_gptq(struct quantization *quantization);
void quantization_read_marlin(struct quantization *quantization);
void quantization_read_auto_round(struct quantization *quantization);
void quantization_read_awq(struct quantization *quantization);
void quantization_read_eetq(struct quantization *quantization);
void quantization_read_bitsandbytes(struct quantization *quantization);
void quantization_read_hqq(struct quantization *quantization);
void quantization_read_bitnet(struct quantization *quantization);
void quantization_read_by_headers(struct quantization *quantization);

/* quantization_mlx.c: whether the object is of mlx-lm's form, and its reader. */
bool quantization_is_mlx(json_t *object);
void quantization_read_mlx(struct quantization *quantization);

void quantization_read_w8a8(struct quantization *quantization);
void quantization_read_mxfp8(struct quantization *quantization);

void quantization_read_compressed(struct quantization *quantization);
void quantization_read_modelopt(struct quantization *quantization);
void quantization_read_quark(struct quantization *quantization);
void quantization_read_torchao(struct quantization *quantization);

/* Gives each class of each layer, and the head, the storage of its matrices. */
void quantization_apply(struct quantization *quantization);

#endif
