/* quantization_methods.c: methods that store all linear layers alike, but for exceptions by name. */
#include <string.h>

#include "base/arena.h"
#include "import/quantization.h"
#include "import/storage.h"

/* ---- floats -------------------------------------------------------------------------------- */

/* Blocks of 32 whose scale is a power of two are those of MXFP8; other scales are 32-bit floats, also where
 * their values are powers of two (DeepSeek-V3.1). */
void quantization_read_fp8(struct quantization *quantization)
{
    json_t *size = json_object_get(quantization->object, "weight_block_size");
    double values = json_number_value(json_array_get(size, 0)) * json_number_value(json_array_get(size, 1));
    bool powers = strcmp(quantization_word(quantization, quantization->object, "scale_fmt"), "ue8m0") == 0;
    quantization->usual =
        powers && values == 32 ? storage_standard("mxfp8") : quantization_fp8(quantization, size);
}

void quantization_read_mxfp8(struct quantization *quantization)
{
    quantization->usual = storage_standard("mxfp8");
}

/* SGLang's name for 8-bit integers of weights and activations, with a scale per channel. */
void quantization_read_w8a8(struct quantization *quantization)
{
    quantization->usual = storage_standard("int8");
}

void quantization_read_mxfp4(struct quantization *quantization)
{
    quantization->usual = storage_standard("mxfp4");
    quantization->experts_only = true;
}

/* ---- integers in groups -------------------------------------------------------------------- */

/* Bits and group size of `object`, or those of `usual` where it does not say; NULL when they are none. Groups
 * have 128 values unless anything is said, and -1 is a whole channel. */
static const struct storage *integers_of(struct quantization *quantization, const char *prefix,
                                         json_t *object, json_t *usual, bool zero)
{
    static const char bits[] = "bits|w_bit", group[] = "group_size|q_group_size";
    json_t *told = config_member(object, group, NULL) ? object : usual;
    double width =
        quantization_number(quantization, config_member(object, bits, NULL) ? object : usual, bits);
    double size = config_member(told, group, NULL) ? quantization_number(quantization, told, group) : 128;
    if (!(width >= 2 && width <= 8 && width == (double)(int)width)) {
        quantization_error(quantization, "bits", "`bits` is not a whole number from 2 to 8");
        return NULL;
    }
    if (!(size >= -1 && size != 0 && size <= 65536 && size == (double)(long)size)) {
        quantization_error(quantization, "group_size", "`group_size` is not a size");
        return NULL;
    }
    return quantization_integers(quantization, prefix, width, size > 0 ? size : 0, zero);
}

/* What single modules have in place of the usual: `dynamic` of GPTQModel, whose keys are expressions, with -:
 * before those that are left alone, and `extra_config` of AutoRound, whose keys are names. */
static void read_overrides(struct quantization *quantization, const char *prefix, const char *key)
{
    json_t *overrides = quantization_members(quantization, quantization->object, key), *override;
    struct arena *arena = quantization->config->job->arena;
    bool expressions = strcmp(key, "dynamic") == 0;
    const char *name;
    json_object_foreach(overrides, name, override)
    {
        bool left_alone =
            strncmp(name, "-:", 2) == 0 || quantization_number(quantization, override, "bits") >= 16;
        const char *text = name + (expressions && name[0] && name[1] == ':' ? 2 : 0);
        const struct storage *storage =
            left_alone ? NULL : integers_of(quantization, prefix, override, quantization->object, true);
        if (!quantization_of_text(text) || (!left_alone && !storage))
            continue;
        if (expressions)
            text = strcat(strcpy(arena_alloc(arena, strlen(text) + 4), "re:"), text);
        if (!patterns_add(left_alone ? quantization->kept : quantization->chosen, text,
                          left_alone ? (const void *)quantization : storage)) {
            quantization_error(quantization, key,
                               "`%.60s` is a pattern perfc does not understand, or one too many", name);
            return;
        }
    }
}

/* `modules_in_block_to_quantize`: lists of the names within a layer that are quantised, and no others are. */
static void only_named(struct quantization *quantization, const char *key)
{
    json_t *lists = quantization_list(quantization, quantization->object, key), *list;
    const struct storage *usual = quantization->usual;
    size_t i;
    if (json_array_size(lists) == 0)
        return;
    quantization->usual = NULL;
    if (json_is_string(json_array_get(lists, 0)))
        quantization_add(quantization, quantization->chosen, key, lists, usual);
    else
        json_array_foreach(lists, i, list) if (!quantization_add(quantization, quantization->chosen, key,
                                                                 list, usual)) return;
}

static void read_integers(struct quantization *quantization, const char *prefix, bool zero)
{
    json_t *object = quantization->object;
    quantization->usual = integers_of(quantization, prefix, object, object, zero);
    if (!quantization->usual)
        return;
    read_overrides(quantization, prefix, "dynamic");
    read_overrides(quantization, prefix, "extra_config");
    only_named(quantization, "modules_in_block_to_quantize");
    quantization->head_too = quantization_flag(quantization, object, "lm_head", false);
}

/* Zero points are stored also where they are all the same; Marlin's own files leave them out. */
void quantization_read_gptq(struct quantization *quantization)
{
    bool marlin =
        strcmp(quantization_word(quantization, quantization->object, "checkpoint_format"), "marlin") == 0 ||
        quantization_flag(quantization, quantization->object, "is_marlin_format", false);
    read_integers(quantization, marlin ? "" : "gptq-", !marlin);
}

void quantization_read_marlin(struct quantization *quantization)
{
    double bits = quantization_number(quantization, quantization->object, "bits");
    double group = quantization_number(quantization, quantization->object, "group_size");
    if (json_object_get(quantization->object, "bits") && bits != 4)
        quantization_error(quantization, "bits", "weights in Marlin's form have 4 bits");
    quantization->usual = quantization_integers(quantization, "", 4, group > 0 ? group : 0, false);
}

/* AutoRound stores floats, too, by `data_type`. */
void quantization_read_auto_round(struct quantization *quantization)
{
    json_t *object = quantization->object;
    const char *type = quantization_word(quantization, object, "data_type");
    double bits = quantization_number(quantization, object, "bits"),
           group = quantization_number(quantization, object, "group_size"),
           inputs = quantization_number(quantization, object, "act_bits");
    bool weights_only = !(inputs > 0 && inputs < 16);
    const char *name = strncmp(type, "mx_fp", 5) == 0 && bits == 4 && group == 32   ? "mxfp4"
                       : strncmp(type, "mx_fp", 5) == 0 && bits == 8 && group == 32 ? "mxfp8"
                       : strncmp(type, "nv_fp", 5) == 0 && bits == 4 && group == 16 ? "nvfp4"
                                                                                    : NULL;
    if (!*type || strcmp(type, "int") == 0) {
        read_integers(quantization, "gptq-", true);
        return;
    }
    if (!name || (weights_only && bits == 8)) {
        quantization_error(quantization, "data_type",
                           "what `data_type` `%.40s` takes with these sizes is not known to perfc", type);
        return;
    }
    quantization->usual =
        weights_only ? quantization_float_weights(quantization, name) : storage_standard(name);
    if (json_object_size(json_object_get(object, "extra_config")) > 0)
        quantization_error(quantization, "extra_config",
                           "modules of their own beside `data_type` `%.40s` are not known to perfc", type);
}

void quantization_read_awq(struct quantization *quantization)
{
    read_integers(quantization, "awq-", true);
}

void quantization_read_eetq(struct quantization *quantization)
{
    quantization->usual = quantization_integers(quantization, "", 8, 0, false);
}

/* ---- bitsandbytes -------------------------------------------------------------------------- */

void quantization_read_bitsandbytes(struct quantization *quantization)
{
    json_t *object = quantization->object;
    bool twice = quantization_flag(quantization, object, "bnb_4bit_use_double_quant", false);
    const char *type = quantization_word(quantization, object, "bnb_4bit_quant_type");
    if (quantization_flag(quantization, object, "load_in_8bit|_load_in_8bit", false)) {
        quantization->usual = storage_standard("int8");
        return;
    }
    if (!quantization_flag(quantization, object, "load_in_4bit|_load_in_4bit", false)) {
        quantization_error(quantization, "quant_method",
                           "neither `load_in_8bit` nor `load_in_4bit` says how the weights are stored");
        return;
    }
    if (strcmp(type, "nf4") == 0) {
        quantization->usual = storage_standard(twice ? "nf4-double" : "nf4");
        return;
    }
    /* fp4, which is the default, has the same blocks of 64 */
    struct storage storage = {.name = twice ? "fp4-double" : "fp4-blocks-of-64",
                              .bits = twice ? 4 + 8.0 / 64 + 32.0 / 16384 : 4.5,
                              .bits_text = twice ? "4 + 8 / 64 + 32 / (64 * 256)" : "4 + 32 / 64",
                              .compute = "fp16",
                              .weight_only = true,
                              .title = "4-bit floating point, blocks of 64"};
    quantization->usual = quantization_declare(quantization, storage);
}

/* ---- HQQ and BitNet ------------------------------------------------------------------------- */

/* Values of up to 8 bits are packed into bytes, those of 3 bits ten to a word, and each group has a scale and
 * a zero point of 16 bits (hqq, core/quantize.py). NULL when scales are quantised themselves, and for sizes
 * that it has not. */
static const struct storage *hqq_storage(struct quantization *quantization, json_t *layer)
{
    static const struct {
        const char *text;
        double bits;
    } packed[] = {{"", 0},  {"1", 1}, {"2", 2}, {"32 / 10", 3.2}, {"4", 4},
                  {"8", 8}, {"8", 8}, {"8", 8}, {"8", 8}};
    static const char *const others[] = {"scale_quant_params", "zero_quant_params"};
    json_t *params = json_object_get(layer, "weight_quant_params");
    double bits = quantization_number(quantization, params, "nbits"),
           group = quantization_number(quantization, params, "group_size");
    struct arena *arena = quantization->config->job->arena;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (json_is_object(json_object_get(layer, others[i])))
            return NULL;
    if (!(bits >= 1 && bits <= 8 && bits == (double)(int)bits && group >= 8 && group <= 65536))
        return NULL;
    struct storage storage = {.name = arena_printf(arena, "hqq-int%.0f-g%.0f", bits, group),
                              .bits = packed[(int)bits].bits + 32 / group,
                              .bits_text =
                                  arena_printf(arena, "%s + 32 / %.0f", packed[(int)bits].text, group),
                              .compute = "fp16",
                              .weight_only = true,
                              .title = arena_printf(arena, "HQQ, %.0f bits in groups of %.0f", bits, group)};
    return quantization_declare(quantization, storage);
}

void quantization_read_hqq(struct quantization *quantization)
{
    json_t *config = quantization_members(quantization, quantization->object, "quant_config"), *layer;
    const char *name;
    if (json_object_get(config, "weight_quant_params")) {
        quantization->usual = hqq_storage(quantization, config);
        if (!quantization->usual)
            quantization_error(quantization, "quant_config", "HQQ of these sizes is not known to perfc");
        return;
    }
    if (json_object_size(config) == 0)
        quantization_error(quantization, "quant_config", "no `quant_config` says how the weights are stored");
    json_object_foreach(config, name, layer)
    {
        const struct storage *storage = hqq_storage(quantization, layer);
        if (!storage || !patterns_add(quantization->chosen, name, storage)) {
            quantization_error(quantization, "quant_config", "HQQ of `%.60s` is not known to perfc", name);
            return;
        }
    }
}

/* Values of -1, 0 and 1, four to a byte, and one scale for each matrix. */
void quantization_read_bitnet(struct quantization *quantization)
{
    struct storage storage = {.name = "ternary",
                              .bits = 2,
                              .bits_text = "2",
                              .compute = "fp16",
                              .weight_only = true,
                              .title = "values of -1, 0 and 1, four to a byte"};
    if (strcmp(quantization_word(quantization, quantization->object, "quantization_mode"), "online") == 0)
        return; /* the checkpoint itself has 16 bits */
    quantization->usual = quantization_declare(quantization, storage);
}

/* ---- what only the tensors tell -------------------------------------------------------------- */

/* Codebooks, and bits that differ from tensor to tensor. The headers of the checkpoint have every byte. */
void quantization_read_by_headers(struct quantization *quantization)
{
    static const struct storage packed = {.name = "fp16", .bits = 16, .compute = "fp16", .weight_only = true};
    quantization->usual = &packed;
    if (quantization->config->job->headers)
        return;
    struct diag *diag = quantization_error(
        quantization, "quant_method", "how many bits `%.40s` takes does not follow from its configuration",
        quantization_word(quantization, quantization->object, "quant_method"));
    diag_note(quantization->config->job->diags, diag,
              "import the checkpoint's .safetensors file, or its index beside all of its files");
}
