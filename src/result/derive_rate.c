/* derive_rate.c: the rates that operations run at, as products of what cards and engines declare: a peak or a
 * bandwidth and the shares of it that engines reach. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "result/derive_sheet.h"

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-11 * fabs(b);
}

static const char *const kinds[PM_MEMORY_KINDS] = {
    [PM_MEMORY_HBM] = "hbm", [PM_MEMORY_GDDR] = "gddr", [PM_MEMORY_SHARED] = "shared"};

/* " * engine.by_memory.dense_hbm" where the engine has such a factor for the card's kind of memory. */
static const char *by_memory(struct sheet *sheet, const char *what, const double factors[PM_MEMORY_KINDS],
                             double *factor)
{
    enum pm_memory_kind kind = sheet->input->gpu->memory_kind;
    *factor = factors[kind] > 0 ? factors[kind] : 1;
    return *factor != 1 && kinds[kind]
               ? arena_printf(sheet->arena, " * engine.by_memory.%s_%s", what, kinds[kind])
               : "";
}

/* The cache may be read more slowly than the rest: then the bandwidth is the mean over all bytes. */
void rate_of_bandwidth(struct sheet *sheet, struct derive_node *part, const struct pm_op *op)
{
    double factor, cache = sheet->input->engine->efficiency_cache;
    bool slower = cache > 0 && cache != 1 && op->kv_bytes > 0;
    const char *kind = by_memory(sheet, "bandwidth", sheet->input->engine->kind_bandwidth, &factor);
    if (slower) {
        sheet_part(sheet, part, "bytes", operation_bytes(op), "B", "All that one launch moves.");
        sheet_part(sheet, part, "cache", op->kv_bytes, "B", "Of it, read at the cache's rate.");
    }
    sheet_printf(sheet, part, "gpu.bandwidth * %s%s%s",
                 sheet->input->gpu->efficiency_bandwidth > 0 ? "gpu.efficiency.bandwidth"
                                                             : "engine.efficiency.bandwidth",
                 kind, slower ? " * bytes / (bytes + cache * (1 / engine.efficiency.cache - 1))" : "");
}

void bandwidth_of_narrow(struct sheet *sheet, struct derive_node *part, const struct pm_op *op)
{
    double share = sheet->input->engine->efficiency_weights_4;
    double bytes = operation_bytes(op);
    double slowed = bytes + op->weight_bytes * (1 / share - 1);
    rate_of_bandwidth(sheet,
                      sheet_part(sheet, part, "streamed", op->bandwidth * slowed / bytes, "B/s",
                                 "Bandwidth times efficiency."),
                      &(struct pm_op){.weight_bytes = bytes});
    sheet_part(sheet, part, "weights", op->weight_bytes, "B", "Multiplied in 4 bits.");
    sheet_part(sheet, part, "others", bytes - op->weight_bytes, "B", "Activations.");
    sheet_formula(part, "streamed * (weights + others) / (weights / engine.efficiency.weights_4 + others)");
}

/* Finds a peak whose product with `share` is the rate, also where the engine caps what kernels reach. */
static const char *peak_for(struct sheet *sheet, double rate, double share, bool *capped)
{
    const struct pm_gpu *gpu = sheet->input->gpu;
    double cap = sheet->input->engine->rate_cap;
    for (int i = 0; i < PM_COMPUTE_COUNT; i++) {
        double plain = gpu->peak[i] * share;
        *capped = cap > 0 && is_near(plain / sqrt(1 + plain / cap * (plain / cap)), rate);
        if (gpu->peak[i] > 0 && (*capped || is_near(plain, rate)))
            return arena_printf(sheet->arena, "gpu.peak.%s", compute_name((enum pm_compute)i));
    }
    return NULL;
}

void rate_of_matrices(struct sheet *sheet, struct derive_node *part)
{
    static const struct {
        const char *name;
        size_t offset;
        bool dense;
    } shares[] = {
        {"engine.efficiency.dense_16", offsetof(struct pm_engine, efficiency_dense[PM_CLASS_16]), true},
        {"engine.efficiency.dense_8", offsetof(struct pm_engine, efficiency_dense[PM_CLASS_8]), true},
        {"engine.efficiency.dense_4", offsetof(struct pm_engine, efficiency_dense[PM_CLASS_4]), true},
        {"engine.efficiency.attention", offsetof(struct pm_engine, efficiency_attention), false},
    };
    const struct pm_engine *engine = sheet->input->engine;
    double factor, widened = engine->efficiency_weight_only > 0 ? engine->efficiency_weight_only : 1;
    const char *kind = by_memory(sheet, "dense", engine->kind_dense, &factor);
    for (size_t i = 0; i < 2 * sizeof shares / sizeof shares[0]; i++) {
        bool weight_only = i % 2 == 1, capped;
        double share = *(const double *)((const char *)engine + shares[i / 2].offset);
        share *= shares[i / 2].dense ? factor * (weight_only ? widened : 1) : 1;
        const char *peak = peak_for(sheet, part->value.value, fmin(share, 1), &capped);
        if (!peak || (!shares[i / 2].dense && (capped || weight_only)))
            continue;
        const char *plain = arena_printf(
            sheet->arena, "%s * %s%s%s", peak, shares[i / 2].name, shares[i / 2].dense ? kind : "",
            weight_only && widened != 1 ? " * engine.efficiency.weight_only" : "");
        if (capped)
            sheet_printf(sheet, part, "%s / (1 + (%s / engine.rate_cap) ^ 2) ^ 0.5", plain, plain);
        else
            sheet_formula(part, plain);
        return;
    }
}
