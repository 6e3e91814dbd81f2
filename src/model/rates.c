/* rates.c: what a card gives and what an engine achieves of it, worked out once for all steps of an
 * evaluation. */
#include "model/internal.h"

double pm_share(double efficiency)
{
    return pm_at_most(pm_at_least(efficiency, 1e-6), 1);
}

/* Without matrix units 16-bit products run at the 32-bit rate, which is easier to reach. */
static double unit_factor(const struct pm_gpu *gpu, const struct pm_engine *engine)
{
    bool plain = gpu->peak[PM_FP32] > 0 && pm_peak_16(gpu) <= gpu->peak[PM_FP32];
    return plain && engine->efficiency_plain > 0 ? engine->efficiency_plain : 1;
}

static double product_rate(const struct pm_case *input, const struct pm_format *format, double peak,
                           enum pm_class computed)
{
    const struct pm_engine *engine = input->engine;
    double efficiency = engine->efficiency_dense[computed] * pm_kind_factor(input->gpu, engine->kind_dense) *
                        unit_factor(input->gpu, engine);
    if (format->weight_only && engine->efficiency_weight_only > 0) {
        efficiency *= engine->efficiency_weight_only;
    }
    double rate = peak * pm_share(efficiency), cap = engine->rate_cap;
    return cap > 0 ? rate / sqrt(1 + rate / cap * (rate / cap)) : rate;
}

static void find_format_rate(const struct pm_case *input, const struct pm_format *format, size_t place,
                             struct pm_rates *out)
{
    out->peak_ceiling[place] = pm_peak_ceiling(input->gpu, format);
    out->peak[place] = pm_peak_expected(input->gpu, format, &out->computed[place]);
    out->product[place] = product_rate(input, format, out->peak[place], out->computed[place]);
}

static double bandwidth_of(const struct pm_gpu *gpu, const struct pm_engine *engine)
{
    double efficiency =
        gpu->efficiency_bandwidth > 0 ? gpu->efficiency_bandwidth : engine->efficiency_bandwidth;
    efficiency *= pm_kind_factor(gpu, engine->kind_bandwidth);
    return pm_at_least(gpu->bandwidth, 1) * pm_share(efficiency);
}

void pm_find_rates(const struct pm_case *input, struct pm_rates *out)
{
    static const struct pm_format fp8 = {.bits = 8, .compute = PM_FP8, .expected = PM_FP8};
    const struct pm_gpu *gpu = input->gpu;
    const struct pm_engine *engine = input->engine;
    const struct pm_formats *formats = input->prepared->formats;
    double attention = pm_share(engine->efficiency_attention);
    enum pm_class computed;
    for (size_t i = 0; i < formats->count; i++) {
        find_format_rate(input, formats->item[i], i, out);
    }
    out->peak_16 = pm_peak_16(gpu);
    out->peak_index = pm_peak_ceiling(gpu, &fp8);
    out->attention = out->peak_16 * attention;
    out->index = pm_peak_expected(gpu, &fp8, &computed) * attention;
    out->bandwidth = bandwidth_of(gpu, engine);
    double cache = engine->efficiency_cache > 0 ? engine->efficiency_cache : 1;
    out->cache_slowness = (1 / cache - 1) / out->bandwidth;
    double narrow = engine->efficiency_weights_4 > 0 ? engine->efficiency_weights_4 : 1;
    out->narrow_slowness = (1 / narrow - 1) / out->bandwidth;
    double factor = gpu->operation_time_factor > 0 ? gpu->operation_time_factor : 1;
    out->launches[false] = 1;
    out->launches[true] = engine->recurrent_factor > 0 ? engine->recurrent_factor : 1;
    for (int i = 0; i < 2; i++) {
        out->fixed_time[i] = out->launches[i] * (pm_at_least(engine->operation_time, 0) * factor);
    }
}
