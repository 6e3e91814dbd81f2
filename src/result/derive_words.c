/* derive_words.c: worksheets of words and truths: the comparison that decides. */
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "result/derive_sheet.h"

static const char *const terms[PM_BOUND_COUNT] = {
    [PM_BOUND_WEIGHTS] = "weights", [PM_BOUND_KV] = "kv",
    [PM_BOUND_COMPUTE] = "compute", [PM_BOUND_COMMUNICATION] = "communication",
    [PM_BOUND_FIXED] = "fixed",
};

/* The greatest term of a step: "decode.time.weights >= max(decode.time.kv, ...)". */
static bool greatest(struct sheet *sheet, struct derive_node *node, const char *step, enum pm_bound bound)
{
    struct buffer others = buffer_in(sheet->arena);
    for (int i = 0; i < PM_BOUND_COUNT; i++)
        if (i != (int)bound)
            buffer_printf(&others, "%s%s.time.%s", others.length > 0 ? ", " : "", step, terms[i]);
    sheet_printf(sheet, node, "%s.time.%s >= max(%s)", step, terms[bound], buffer_string(&others));
    return true;
}

static bool of_ceiling(struct sheet *sheet, struct derive_node *node, const char *step, enum pm_bound bound)
{
    if (bound == PM_BOUND_COMPUTE) {
        sheet_printf(sheet, node, "ceiling.%s.compute_time >= ceiling.%s.memory_time", step, step);
        return true;
    }
    const char *more = strcmp(step, "decode") != 0 ? ""
                       : bound == PM_BOUND_WEIGHTS ? " and decode.weight_traffic >= decode.kv_traffic"
                                                   : " and decode.kv_traffic > decode.weight_traffic";
    sheet_printf(sheet, node, "ceiling.%s.memory_time > ceiling.%s.compute_time%s", step, step, more);
    return true;
}

static bool batch_limit(struct sheet *sheet, struct derive_node *node)
{
    const struct pm_memory *memory = &sheet->result->memory;
    sheet_formula(node, memory->kv_per_sequence > 0                ? "memory.kv_per_sequence > 0 B"
                        : memory->max_batch_limit == PM_LIMIT_NONE ? "memory.kv_per_sequence <= 0 B"
                                                                   : "max_batch >= 0");
    return true;
}

static bool context_limit(struct sheet *sheet, struct derive_node *node)
{
    const struct pm_memory *memory = &sheet->result->memory;
    bool known = sheet->model->model.max_context > 0;
    sheet_formula(node, memory->max_context_limit == PM_LIMIT_MODEL  ? "max_context >= model.max_context"
                        : memory->max_context_limit == PM_LIMIT_NONE ? "memory.kv_per_token <= 0 B/token"
                        : known                                      ? "max_context < model.max_context"
                                                                     : "max_context >= 0 tokens");
    return true;
}

/* A question that is answered with 1 or 0. */
static void ask(struct sheet *sheet, struct derive_node *node, struct buffer *all, const char *name,
                bool answer, const char *condition)
{
    sheet_part(sheet, node, name, answer, "1", "1: yes, 0: no.");
    buffer_printf(all, "%s%s", all->length > 0 ? " and " : "", condition);
}

/* The conditions of model/evaluate.c, is_verified(). */
static bool verified(struct sheet *sheet, struct derive_node *node)
{
    const struct pm_case *input = sheet->input;
    struct buffer all = buffer_in(sheet->arena);
    bool experts = false, index = false;
    for (size_t i = 0; i < input->model->block_count; i++) {
        experts = experts || input->model->blocks[i].experts > 0;
        index = index || input->model->blocks[i].index_heads > 0;
    }
    bool one =
        input->engine->single_stream && input->gpu->memory_kind != PM_MEMORY_UNKNOWN && !experts && !index;
    one = one && input->batch <= 1 && input->tp * input->dp * input->pp <= 1 && !(input->draft_tokens > 0);
    if (input->engine->ideal) {
        ask(sheet, node, &all, "bound_alone", true, "bound_alone == 1");
    } else if (one) {
        ask(sheet, node, &all, "single_stream_engine", one, "single_stream_engine == 1");
        buffer_text(&all, " and batch <= 1 and gpus_per_replica <= 1");
    } else {
        ask(sheet, node, &all, "card_measured", input->gpu->measured, "card_measured == 1");
        if (experts)
            ask(sheet, node, &all, "card_measured_with_experts", input->gpu->moe_calibrated,
                "card_measured_with_experts == 1");
        ask(sheet, node, &all, "sparse_index", index, "sparse_index == 0");
        ask(sheet, node, &all, "drafts", input->draft_tokens > 0, "drafts == 0");
        ask(sheet, node, &all, "tower", input->model->tower_tokens > 0, "tower == 0");
        if (input->tp * input->dp > 1)
            ask(sheet, node, &all, "link_of_its_own", input->gpu->link > 0, "link_of_its_own == 1");
        buffer_text(&all, " and pp <= 1 and tp * dp <= 8");
    }
    sheet_formula(node, buffer_string(&all));
    return true;
}

bool sheet_of_words(struct sheet *sheet, enum quantity quantity, struct derive_node *node)
{
    const struct pm_result *result = sheet->result;
    if (!sheet->input)
        return false;
    const struct pm_step *prefill =
        sheet->input->static_step || sheet->input->engine->ideal ? &result->prefill : &result->mixed;
    switch (quantity) {
    case Q_DECODE_BOUND: return greatest(sheet, node, "decode", result->decode.bound);
    case Q_PREFILL_BOUND: return greatest(sheet, node, "prefill", prefill->bound);
    case Q_CEILING_DECODE_BOUND: return of_ceiling(sheet, node, "decode", result->decode_ceiling.bound);
    case Q_CEILING_PREFILL_BOUND: return of_ceiling(sheet, node, "prefill", result->prefill_ceiling.bound);
    case Q_MAX_BATCH_LIMIT: return batch_limit(sheet, node);
    case Q_MAX_CONTEXT_LIMIT: return context_limit(sheet, node);
    case Q_VERIFIED: return verified(sheet, node);
    default: return false;
    }
}
