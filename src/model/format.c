/* format.c: which peak a storage format is computed at (model.md section 4, "Format to peak"), and which
 * tensor has which format. */
#include "model/internal.h"

/* The 16-bit peak; bf16 and fp16 stand for each other. A card with neither is taken at its next wider
 * unit, then at the slowest one it has: never zero, so that no time is infinite. */
double pm_peak_16(const struct pm_gpu *gpu)
{
    static const enum pm_compute order[] = {PM_BF16, PM_FP16, PM_TF32, PM_FP32, PM_FP64,
                                            PM_FP8,  PM_INT8, PM_FP6,  PM_FP4,  PM_INT4};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        if (gpu->peak[order[i]] > 0) {
            return gpu->peak[order[i]];
        }
    }
    return 1;
}

static bool is_16_bit(enum pm_compute compute)
{
    return compute == PM_BF16 || compute == PM_FP16;
}

/* A unit the card has and the format may use: weight-only formats are widened to 16 bits first. */
static bool native(const struct pm_gpu *gpu, const struct pm_format *format, enum pm_compute compute)
{
    return !format->weight_only && !is_16_bit(compute) && compute >= 0 && compute < PM_COMPUTE_COUNT &&
           gpu->peak[compute] > 0;
}

double pm_peak_ceiling(const struct pm_gpu *gpu, const struct pm_format *format)
{
    return native(gpu, format, format->compute) ? gpu->peak[format->compute] : pm_peak_16(gpu);
}

static double bits_of(enum pm_compute compute)
{
    static const double bits[PM_COMPUTE_COUNT] = {
        [PM_FP64] = 64, [PM_FP32] = 32, [PM_TF32] = 32, [PM_FP16] = 16, [PM_BF16] = 16,
        [PM_FP8] = 8,   [PM_INT8] = 8,  [PM_FP6] = 6,   [PM_FP4] = 4,   [PM_INT4] = 4,
    };
    return bits[compute];
}

enum pm_class pm_class_of_bits(double bits)
{
    return bits >= 12 ? PM_CLASS_16 : bits >= 6 ? PM_CLASS_8 : PM_CLASS_4;
}

bool pm_format_narrow(const struct pm_format *format)
{
    bool units = format->compute >= 0 && format->compute < PM_COMPUTE_COUNT;
    bool below = format->bits > 0 && pm_class_of_bits(format->bits) == PM_CLASS_4;
    return units && !format->weight_only && below && pm_class_of_bits(bits_of(format->compute)) == PM_CLASS_4;
}

/* mxfp4: fp8 where the card has an fp4 unit, 16 bits where it has none (Hopper), as engines do. */
double pm_peak_expected(const struct pm_gpu *gpu, const struct pm_format *format, enum pm_class *computed)
{
    if (native(gpu, format, format->compute) && native(gpu, format, format->expected)) {
        *computed = pm_class_of_bits(bits_of(format->expected));
        return pm_at_most(gpu->peak[format->expected], gpu->peak[format->compute]);
    }
    *computed = PM_CLASS_16;
    return pm_at_most(pm_peak_16(gpu), pm_peak_ceiling(gpu, format));
}

const struct pm_format *pm_format_attention(const struct pm_view *view, const struct pm_block *block)
{
    return view->declared ? &view->model->weights_format : &block->attention_format;
}

const struct pm_format *pm_format_ffn(const struct pm_view *view, const struct pm_block *block)
{
    return view->declared ? &view->model->weights_format : &block->ffn_format;
}

bool pm_head_is_embedding(const struct pm_view *view)
{
    const struct pm_model *model = view->model;
    return model->tied_embeddings && model->head_format.bits == model->embedding_format.bits;
}

const struct pm_format *pm_format_head(const struct pm_view *view)
{
    return pm_head_is_embedding(view) ? &view->model->embedding_format : &view->model->head_format;
}

/* ---- what is computed alike ----------------------------------------------------------------- */

/* The unit that a format asks for; all that no card has are one. */
static size_t unit_of(enum pm_compute compute)
{
    return compute >= 0 && compute < PM_COMPUTE_COUNT ? (size_t)compute : PM_COMPUTE_COUNT;
}

unsigned char pm_format_place(struct pm_formats *formats, const struct pm_format *format)
{
    /* Formats that are widened first are one, whatever they are stored in. */
    size_t key = format->weight_only
                     ? PM_FORMATS_MAX - 1
                     : unit_of(format->compute) * (PM_COMPUTE_COUNT + 1) + unit_of(format->expected);
    if (formats->place[key] == 0) {
        formats->item[formats->count++] = format;
        formats->place[key] = (unsigned char)formats->count;
    }
    return (unsigned char)(formats->place[key] - 1);
}
