/* derive_ideal.c: worksheets of steps of the engine without overhead, which take the ceiling's time. */
#include <math.h>

#include "base/arena.h"
#include "result/derive_sheet.h"

/* The time of a step, by the side that decides it. */
static void fill_whole(struct sheet *sheet, struct derive_node *part, const struct pm_step *step)
{
    if (step->term[PM_BOUND_COMPUTE] > 0) {
        sheet_part(sheet, part, "work", step->work, "FLOP", "Of the whole step, on one GPU.");
        sheet_part(sheet, part, "rate", step->work / step->time, "FLOP/s",
                   "The peaks of the formats, by the work in each.");
        sheet_formula(part, "work / rate");
    } else {
        sheet_part(sheet, part, "moved", step->bytes_moved, "B",
                   "Weights and cache of the whole step, on one GPU.");
        sheet_formula(part, "moved / gpu.bandwidth");
    }
}

static bool scaling(struct sheet *sheet, struct derive_node *node)
{
    struct pm_step_part single;
    bool decodes = sheet->result->expected.tpot >= 0;
    if (!pm_part_step(sheet->input, sheet->result, PM_STEP_SINGLE, 0, &single, NULL, 0, NULL))
        return false;
    struct derive_node *part =
        sheet_part(sheet, node, "one_gpu", single.step.time, "s", "The same step on one GPU.");
    fill_whole(sheet, part, &single.step);
    sheet_printf(sheet, node, "one_gpu / (%s * gpus_per_replica)",
                 decodes ? "decode.time" : "ceiling.prefill.time");
    return true;
}

static bool plain_step(struct sheet *sheet, struct derive_node *node)
{
    struct pm_step_part plain;
    if (!pm_part_step(sheet->input, sheet->result, PM_STEP_PLAIN, 0, &plain, NULL, 0, NULL))
        return false;
    fill_whole(sheet, node, &plain.step);
    return true;
}

static bool draft_time(struct sheet *sheet, struct derive_node *node)
{
    struct pm_step_part draft;
    if (!pm_part_step(sheet->input, sheet->result, PM_STEP_DRAFT, 0, &draft, NULL, 0, NULL))
        return false;
    struct derive_node *part =
        sheet_part(sheet, node, "draft", draft.step.time, "s", "One draft for every sequence.");
    fill_whole(sheet, part, &draft.step);
    sheet_formula(node, "speculation.tokens / 1 token * draft");
    return true;
}

/* What a prompt waits for, in the proportion of what it moves. */
static bool moved_in_prefill(struct sheet *sheet, struct derive_node *node, bool weights)
{
    const struct pm_ceiling *ceiling = &sheet->result->prefill_ceiling;
    if (!(ceiling->weight_traffic + ceiling->kv_traffic > 0))
        return false;
    sheet_part(sheet, node, "weights_read", ceiling->weight_traffic, "B", "Each matrix once.");
    sheet_part(sheet, node, "cache_moved", ceiling->kv_traffic, "B",
               "Cached tokens that are read, and states.");
    sheet_printf(sheet, node, "ceiling.prefill.time * %s / (weights_read + cache_moved)",
                 weights ? "weights_read" : "cache_moved");
    return true;
}

bool sheet_of_ideal_steps(struct sheet *sheet, enum quantity quantity, struct derive_node *node)
{
    if (!sheet->input || !sheet->input->engine->ideal)
        return false;
    switch (quantity) {
    case Q_SCALING_EFFICIENCY: return scaling(sheet, node);
    case Q_PLAIN_STEP: return plain_step(sheet, node);
    case Q_DRAFT_TIME: return draft_time(sheet, node);
    case Q_PREFILL_TIME_WEIGHTS: return moved_in_prefill(sheet, node, true);
    case Q_PREFILL_TIME_KV: return moved_in_prefill(sheet, node, false);
    default: return false;
    }
}
