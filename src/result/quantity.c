/* quantity.c: the table of quantities, read from quantities.def. */
#include "result/quantity.h"

#include <math.h>
#include <string.h>

#include "model/perfmodel.h"
#include "result/bind.h"
#include "sema/unit.h"
#include "source/jargon.h"
#include "source/suggest.h"

/* ---- what the rows' expressions call ------------------------------------------------------------ */

static double ratio(double numerator, double denominator)
{
    return denominator > 0 ? numerator / denominator : 0;
}

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fabs(b);
}

static const char *bound_text(enum pm_bound bound)
{
    static const char *const texts[PM_BOUND_COUNT] = {
        [PM_BOUND_WEIGHTS] = "bandwidth (weights)",
        [PM_BOUND_KV] = "bandwidth (KV)",
        [PM_BOUND_COMPUTE] = "compute",
        [PM_BOUND_COMMUNICATION] = "communication",
        [PM_BOUND_FIXED] = "fixed time",
    };
    return texts[bound];
}

static const char *limit_text(enum pm_limit limit)
{
    return limit == PM_LIMIT_MODEL ? "the model" : limit == PM_LIMIT_MEMORY ? "memory" : "nothing";
}

static double case_page(const struct pm_case *input)
{
    double page = input->page > 0 ? input->page : input->engine->page;
    return page > 0 ? page : 1;
}

static double whole_pages(const struct pm_case *input, double tokens)
{
    double page = case_page(input);
    return page > 1 ? ceil(tokens / page) * page : tokens;
}

/* What of a sequence's cache does not grow with its length, at the length reserved. */
static double kv_fixed(const struct pm_result *result, const struct pm_case *input)
{
    const struct pm_memory *memory = &result->memory;
    double fixed =
        memory->kv_per_sequence - memory->kv_per_token * whole_pages(input, result->sequence_length);
    return fabs(fixed) <= 1e-9 * memory->kv_per_sequence ? 0 : fixed;
}

/* The short form of a model with grouped attention and nothing that bends the textbook formulas, split
 * evenly. */
static bool plain_attention(const struct binding *binding)
{
    const struct pm_model *model = &binding->model->model;
    if (model->block_count != 1 || binding->model->block_decls[0] != binding->model->decl)
        return false;
    const struct pm_block *block = &model->blocks[0];
    return block->attention == PM_ATTENTION_GROUPED && block->window == 0 && block->chunk == 0 &&
           !block->shared_kv && !block->reuses_kv && block->v_dim == block->head_dim &&
           block->state_bytes == 0 && fmod(block->kv_heads, binding->input.tp) == 0;
}

/* Lengths follow from the load alone: no draft tokens and no tower add to them. */
static bool sequence_is_plain(const struct binding *binding, const struct pm_result *result)
{
    const struct pm_case *input = &binding->input;
    double length = input->static_step ? input->context : input->prompt + input->output;
    double mean = input->static_step ? input->context : input->prompt + input->output / 2;
    return result->sequence_length == length && result->context == mean;
}

/* Activations are the engine's own affair, or sized once at start: they do not grow with the batch. */
static bool activations_follow_batch(const struct binding *binding)
{
    const struct pm_engine *engine = &binding->engine_values;
    return !engine->activations_in_overhead && !(engine->profile_rows > 0);
}

/* Nothing stands beside what the engine or the scenario declares. */
static bool plain_overhead(const struct binding *binding, const struct pm_result *result)
{
    const struct pm_memory *memory = &result->memory;
    return memory->communicator == 0 && memory->reserve == 0 &&
           (memory->graphs == 0 || !binding->engine_values.graphs_in_cap);
}

/* A model besides the scenario's own keeps tokens, too. */
static bool has_draft(const struct pm_case *input)
{
    return input->draft_tokens > 0 &&
           (input->draft_model != NULL || (!input->free_drafts && input->model->mtp_params > 0));
}

/* A shared prefix in pages of tokens, of blocks that keep every token. */
static bool prefix_is_plain(const struct binding *binding, const struct pm_result *result)
{
    const struct pm_case *input = &binding->input;
    double prefix = input->cached_prefix, page = case_page(input);
    return !has_draft(input) && result->memory.page_tokens == page &&
           is_near(result->memory.kv_shared, result->memory.kv_per_token * floor(prefix / page) * page);
}

/* In a closed loop a prompt shares its steps with the decoding sequences. */
static const struct pm_step *prefill_step(const struct binding *binding, const struct pm_result *result)
{
    bool alone = binding->input.static_step || binding->engine_values.ideal;
    return alone ? &result->prefill : &result->mixed;
}

/* Expected under any engine, also where the ideal one is granted the fewest; exactly k for a single token. */
static double distinct_experts(const struct binding *binding, const struct pm_result *result)
{
    const struct pm_model *model = &binding->model->model;
    double tokens = result->expected.decoding * (1 + binding->input.draft_tokens);
    for (size_t i = 0; i < model->block_count; i++) {
        double experts = model->blocks[i].experts, active = model->blocks[i].active_experts;
        if (!(experts > 0))
            continue;
        if (tokens <= 1)
            return active;
        tokens = pm_tokens_apart(&binding->engine_values, &model->blocks[i], tokens);
        return binding->engine_values.ideal ? experts * (1 - pow(1 - active / experts, tokens))
                                            : result->decode.distinct_experts;
    }
    return 0;
}

/* The architecture alone gives the count. */
static bool counted(const struct bound_model *model)
{
    return model->model.declared_params == 0 && model->declared_params == 0;
}

/* The short form of a model: attributes of its own say what every block is. */
static bool same_blocks(const struct bound_model *model)
{
    return counted(model) && model->model.block_count == 1 && model->block_decls[0] == model->decl;
}

static bool same_experts(const struct bound_model *model)
{
    return same_blocks(model) && model->model.blocks[0].experts > 0;
}

/* Parameters of experts that a token leaves out. */
static double unused_experts(const struct bound_model *model, const struct pm_params *params)
{
    const struct pm_block *block = &model->model.blocks[0];
    return params->experts * (1 - block->active_experts / block->experts);
}

static double head_params(const struct bound_model *model)
{
    return model->model.vocab * model->model.hidden;
}

/* Launches and the host, with the card's factor on the engine's time of an operation. */
static double fixed_time(const struct binding *binding, const struct pm_result *result, double factor)
{
    const struct pm_engine *engine = &binding->engine_values;
    return result->decode.launches * engine->operation_time * factor +
           result->expected.decoding * (1 + binding->input.draft_tokens) * engine->sequence_time;
}

/* All work of a step runs at one peak of the card. */
static bool at_one_peak(const struct bound_gpu *gpu, const struct pm_ceiling *ceiling)
{
    double peak = ratio(ceiling->work, ceiling->compute_time);
    for (int i = 0; i < PM_COMPUTE_COUNT; i++)
        if (gpu->gpu.peak[i] > 0 && is_near(peak, gpu->gpu.peak[i]))
            return true;
    return false;
}

/* Every weight is stored in the format that the scenario or the model calls its own. */
static bool of_one_format(const struct bound_model *model, const struct pm_params *params)
{
    const struct pm_model *own = &model->model;
    double bits = own->block_count > 0 ? own->blocks[0].attention_format.bits : own->weights_format.bits;
    return is_near(ratio(params->weight_bytes, params->total), bits / 8);
}

static bool gpu_has_own(const struct bound_gpu *gpu, enum pm_compute format)
{
    return gpu->gpu.peak[format] > 0;
}

/* bf16 and fp16 stand for each other (model.md section 4). */
static double gpu_balance(const struct bound_gpu *gpu, enum pm_compute format)
{
    double peak = gpu->gpu.peak[format];
    if (!(peak > 0) && format == PM_BF16)
        peak = gpu->gpu.peak[PM_FP16];
    if (!(peak > 0) && format == PM_FP16)
        peak = gpu->gpu.peak[PM_BF16];
    return ratio(peak, gpu->gpu.bandwidth);
}

/* ---- rows ------------------------------------------------------------------------------------------ */

static const struct quantity_info rows[QUANTITY_COUNT] = {
#define QUANTITY(scope_, id_, name_, type_, unit_, better_, label_, value_, band_, exists_, why_, formula_,  \
                 static_formula_, source_, doc_, chinese_label_, chinese_doc_)                               \
    {                                                                                                        \
        .id = Q_##id_,                                                                                       \
        .scope = QUANTITY_OF_##scope_,                                                                       \
        .name = name_,                                                                                       \
        .type = QUANTITY_##type_,                                                                            \
        .unit = unit_,                                                                                       \
        .better = BETTER_##better_,                                                                          \
        .has_band = sizeof(#band_) != sizeof("NULL"),                                                        \
        .label = label_,                                                                                     \
        .formula = formula_,                                                                                 \
        .static_formula = static_formula_,                                                                   \
        .source = source_,                                                                                   \
        .doc = doc_,                                                                                         \
        .chinese_label = chinese_label_,                                                                     \
        .chinese_doc = chinese_doc_,                                                                         \
    },
#include "result/quantities.def"
#undef QUANTITY
};

const struct quantity_info *quantity_info(enum quantity quantity)
{
    return &rows[quantity];
}

const char *quantity_label(const struct quantity_info *info, enum language language)
{
    return language == LANGUAGE_ZH ? info->chinese_label : info->label;
}

const char *quantity_doc(const struct quantity_info *info, enum language language)
{
    return language == LANGUAGE_ZH ? info->chinese_doc : info->doc;
}

const struct quantity_info *quantity_find(enum quantity_scope scope, const char *name)
{
    for (size_t i = 0; i < QUANTITY_COUNT; i++)
        if (rows[i].scope == scope && rows[i].name[0] == name[0] && strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

bool quantity_scope_of(enum kind kind, enum quantity_scope *scope)
{
    switch (kind) {
    case KIND_SCENARIO: *scope = QUANTITY_OF_SCENARIO; return true;
    case KIND_MODEL: *scope = QUANTITY_OF_MODEL; return true;
    case KIND_GPU: *scope = QUANTITY_OF_GPU; return true;
    default: return false;
    }
}

/* The ends of bands are names, too. */
static const char *const band_names[] = {
#define QUANTITY(scope, id, name, type, unit, better, label, value, band, ...)                               \
    (sizeof(#band) != sizeof("NULL")) ? name ".low" : NULL,                                                  \
        (sizeof(#band) != sizeof("NULL")) ? name ".high" : NULL,
#include "result/quantities.def"
#undef QUANTITY
};

const char *quantity_suggest(enum quantity_scope scope, const char *path)
{
    size_t row = 0;
    for (const char *meant; (meant = jargon_meaning(path, &row)) != NULL;)
        if (quantity_find(scope, meant))
            return meant;
    struct suggestion suggestion = suggestion_for(path);
    for (size_t i = 0; i < QUANTITY_COUNT; i++) {
        if (rows[i].scope != scope)
            continue;
        suggestion_consider(&suggestion, rows[i].name);
        for (size_t j = 2 * i; j < 2 * i + 2; j++)
            if (band_names[j])
                suggestion_consider(&suggestion, band_names[j]);
    }
    return suggestion_result(&suggestion);
}

/* ---- values ------------------------------------------------------------------------------------------ */

static void set_NUMBER(struct report_quantity *out, double value)
{
    out->type = QUANTITY_NUMBER;
    out->value = value;
}

static void set_BOOL(struct report_quantity *out, bool value)
{
    out->type = QUANTITY_BOOL;
    out->boolean = value;
}

static void set_TEXT(struct report_quantity *out, const char *value)
{
    out->type = QUANTITY_TEXT;
    out->text = value;
}

static void set_band(struct report_quantity *out, const struct pm_band *band)
{
    if (!band)
        return;
    out->has_band = true;
    out->low = band->low;
    out->high = band->high;
}

/* The short names that the rows' expressions use; not every row needs every one. */
#define ROW_NAMES(input)                                                                                     \
    const struct binding *b = (input)->binding;                                                              \
    const struct pm_case *c = b ? &b->input : NULL;                                                          \
    const struct pm_result *r = (input)->result;                                                             \
    const struct bound_model *m = (input)->model;                                                            \
    const struct pm_params *p = (input)->params;                                                             \
    const struct bound_gpu *g = (input)->gpu;                                                                \
    (void)b, (void)c, (void)r, (void)m, (void)p, (void)g

static void fill(struct report_quantity *out, enum quantity quantity, const struct quantity_input *input)
{
    ROW_NAMES(input);
    switch (quantity) {
#define QUANTITY(scope, id, name, type, unit, better, label, value, band, exists, why, ...)                  \
    case Q_##id:                                                                                             \
        if (exists) {                                                                                        \
            set_##type(out, value);                                                                          \
            set_band(out, band);                                                                             \
        } else                                                                                               \
            out->text = why;                                                                                 \
        break;
#include "result/quantities.def"
#undef QUANTITY
    case QUANTITY_COUNT: break;
    }
}

struct report_quantity quantity_get(enum quantity quantity, const struct quantity_input *input)
{
    struct report_quantity out = {.name = rows[quantity].name, .type = QUANTITY_ABSENT};
    fill(&out, quantity, input);
    if (out.type == QUANTITY_NUMBER && !isfinite(out.value))
        out = (struct report_quantity){
            .name = out.name, .type = QUANTITY_ABSENT, .text = "the result is beyond the range of numbers"};
    return out;
}

const char *quantity_formula(enum quantity quantity, const struct quantity_input *input)
{
    ROW_NAMES(input);
#define QUANTITY(...)
#define FORMULA(id, condition, formula)                                                                      \
    if (quantity == Q_##id && (condition))                                                                   \
        return formula;
#include "result/quantities.def"
#undef QUANTITY
    const struct quantity_info *row = &rows[quantity];
    return b && c->static_step && row->static_formula ? row->static_formula : row->formula;
}

struct dim quantity_dim(enum quantity quantity, const struct quantity_input *input)
{
    const char *text = rows[quantity].unit;
    struct unit unit;
    if (strcmp(text, "1") == 0)
        return dim_none();
    if (strncmp(text, "money", 5) != 0)
        return unit_parse(text, &unit) ? unit.dim : dim_none();
    struct dim dim = dim_none();
    dim.power[input->gpu ? input->gpu->currency : DIM_USD] = 1;
    if (text[5] == '/')
        dim.power[DIM_TIME] = -1;
    return dim;
}

struct report_quantity quantity_of_value(struct arena *arena, const struct value *value)
{
    switch (value->type) {
    case VALUE_NUMBER:
        return (struct report_quantity){
            .type = QUANTITY_NUMBER, .value = value->number, .unit = dim_si_unit(arena, value->dim)};
    case VALUE_BOOL: return (struct report_quantity){.type = QUANTITY_BOOL, .boolean = value->boolean};
    case VALUE_TEXT: return (struct report_quantity){.type = QUANTITY_TEXT, .text = value->text};
    case VALUE_DECL: return (struct report_quantity){.type = QUANTITY_TEXT, .text = value->decl->name};
    case VALUE_ABSENT: return (struct report_quantity){.type = QUANTITY_ABSENT, .text = value->text};
    case VALUE_ERROR: break;
    }
    return (struct report_quantity){.type = QUANTITY_ABSENT, .text = "the declaration has an error"};
}
