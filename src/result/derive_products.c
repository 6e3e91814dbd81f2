/* derive_products.c: worksheets of what matrices need at the ceiling: the weights that a step reads, the work
 * of a prompt, and the time at the peaks of several formats. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "result/derive_sheet.h"

enum { EMBEDDING, POSITIONS, ATTENTION, FFN, EXPERTS, SHARED, ROUTER, NORMS, HEAD, OTHER };

static struct derive_node *block_part(struct sheet *sheet, struct derive_node *node, size_t index,
                                      const char *what, double value, const char *unit)
{
    const char *name = arena_printf(sheet->arena, "%s.%s", block_name(sheet, index), what);
    return sheet_part(sheet, node, name, value, unit, "Of one block, on one GPU.");
}

/* All matrices of a class in one block, without biases. */
static const char *matrices(struct sheet *sheet, size_t index, size_t weight_class)
{
    struct block_terms terms = block_terms(sheet->arena, &sheet->model->model.blocks[index], weight_class);
    struct buffer sum = buffer_in(sheet->arena);
    for (size_t i = 0; i < SHARE_VECTOR; i++)
        if (terms.by_share[i])
            sheet_plus(&sum, terms.by_share[i]);
    return sum.length > 0 ? buffer_string(&sum) : NULL;
}

static const struct {
    size_t weight_class;
    size_t format; /* in pm_block */
    const char *bits;
} classes[] = {
    {ATTENTION, offsetof(struct pm_block, attention_format), "attention.bits"},
    {FFN, offsetof(struct pm_block, ffn_format), "ffn.bits"},
    {OTHER, offsetof(struct pm_block, ffn_format), "other.bits"},
    {EXPERTS, offsetof(struct pm_block, expert_format), "experts.bits"},
    {ROUTER, offsetof(struct pm_block, router_format), "router.bits"},
    {SHARED, offsetof(struct pm_block, shared_format), "shared.bits"},
};
enum { CLASS_ROWS = sizeof classes / sizeof classes[0] };

static const struct pm_format *format_of(const struct pm_block *block, size_t row)
{
    return (const struct pm_format *)((const char *)block + classes[row].format);
}

/* ---- weights read ------------------------------------------------------------------------------------- */

static void weights_read(struct sheet *sheet, struct derive_node *part, size_t index)
{
    const struct pm_block *block = &sheet->model->model.blocks[index];
    struct buffer sum = buffer_in(sheet->arena);
    for (size_t i = 0; i < CLASS_ROWS; i++) {
        const char *counted = matrices(sheet, index, classes[i].weight_class);
        if (!counted)
            continue;
        sheet_part(sheet, part, classes[i].bits, format_of(block, i)->bits, "1", "Of one value.");
        sheet_plus(&sum,
                   classes[i].weight_class == EXPERTS
                       ? arena_printf(sheet->arena, "active_experts * (%s) / dp * experts.bits", counted)
                       : arena_printf(sheet->arena, "(%s) * %s", counted, classes[i].bits));
    }
    sheet_printf(sheet, part, "(%s) / tp%s * 1 B / 8", buffer_string(&sum), sheet_scale_parts(sheet, part));
    block_sizes(sheet, part, index);
}

static void head_read(struct sheet *sheet, struct derive_node *node, struct buffer *sum)
{
    const struct pm_model *model = &sheet->model->model;
    double bits = model->tied_embeddings ? model->embedding_format.bits : model->head_format.bits;
    double counted = sheet_scale(sheet);
    struct derive_node *part =
        sheet_part(sheet, node, "head", model->vocab * model->hidden * bits / 8 / sheet->input->tp * counted,
                   "B", "The output head, on one GPU.");
    sheet_attribute(sheet, part, sheet->model->decl, "vocab", "vocab", model->vocab, "1");
    sheet_attribute(sheet, part, sheet->model->decl, "hidden", "hidden", model->hidden, "1");
    sheet_part(sheet, part, "bits", bits, "1", "Of one value.");
    sheet_printf(sheet, part, "vocab * hidden * bits / tp%s * 1 B / 8", sheet_scale_parts(sheet, part));
    sheet_plus(sum, "head");
}

/* The scenario with one block of a kind, and nothing besides. */
static struct pm_result of_one_block(struct sheet *sheet, size_t index)
{
    struct pm_result result;
    struct pm_block block = sheet->model->model.blocks[index];
    block.count = 1;
    block_evaluate(sheet, &block, &result);
    return result;
}

static const struct pm_ceiling *ceiling_of(const struct pm_result *result, bool prefill)
{
    return prefill ? &result->prefill_ceiling : &result->decode_ceiling;
}

static bool weight_traffic(struct sheet *sheet, struct derive_node *node)
{
    struct buffer sum = buffer_in(sheet->arena);
    for (size_t i = 0; i < sheet->model->model.block_count; i++) {
        struct pm_result one = of_one_block(sheet, i);
        double read = one.decode_ceiling.weight_traffic * sheet_scale(sheet);
        struct derive_node *part = block_part(sheet, node, i, "weights_read", read, "B");
        weights_read(sheet, part, i);
        sheet_plus(&sum, arena_printf(sheet->arena, "%s * %s", block_count(sheet, node, i), part->name));
    }
    head_read(sheet, node, &sum);
    sheet_formula(node, buffer_string(&sum));
    return true;
}

/* ---- work of a prompt -----------------------------------------------------------------------------------
 */

static void prompt_work(struct sheet *sheet, struct derive_node *part, size_t index)
{
    struct buffer sum = buffer_in(sheet->arena);
    for (size_t i = 0; i < CLASS_ROWS; i++) {
        const char *counted = matrices(sheet, index, classes[i].weight_class);
        if (counted)
            sheet_plus(&sum, classes[i].weight_class == EXPERTS
                                 ? arena_printf(sheet->arena, "active_experts * (%s) / dp", counted)
                                 : counted);
    }
    sheet_printf(sheet, part, "2 FLOP * fresh / 1 token * (%s) / tp / pp%s", buffer_string(&sum),
                 sheet_scale_parts(sheet, part));
    double prompt = sheet->input->prompt + sheet->input->model->tower_tokens;
    double cached = fmin(fmax(sheet->input->cached_prefix, 0), prompt - 1);
    struct derive_node *fresh =
        sheet_part(sheet, part, "fresh", prompt - cached, "tokens", "Tokens that are computed.");
    if (!(sheet->input->model->tower_tokens > 0))
        sheet_formula(fresh, cached > 0 ? "prompt - cached_prefix" : "prompt");
    block_sizes(sheet, part, index);
}

static const char *prompt_ends(struct sheet *sheet, struct derive_node *node, double work)
{
    struct derive_node *ends =
        sheet_part(sheet, node, "ends", work, "FLOP", "The head for one token, and a tower.");
    sheet_formula(ends, "2 FLOP * model.vocab * model.hidden / tp / pp");
    return ends->name;
}

/* ---- work of a decode step ------------------------------------------------------------------------------
 */

/* Tokens of a step: on the busiest replica, which has a sequence where there are fewer than replicas, and on
 * all of them, whose experts share their work. */
static void decoding_rows(struct sheet *sheet, struct derive_node *part, const char *name, bool busiest)
{
    double queries = 1 + fmax(sheet->input->draft_tokens, 0), dp = fmax(sheet->input->dp, 1);
    double decoding = sheet->result->expected.decoding, in_flight = fmax(fmin(sheet->input->pp, decoding), 1);
    double sequences = busiest ? fmax(decoding / in_flight / dp, 1) : decoding / in_flight;
    struct derive_node *rows =
        sheet_part(sheet, part, name, sequences * queries, "1",
                   busiest ? "Tokens of the step, on the busiest replica." : "Tokens of the step.");
    sheet_printf(sheet, rows,
                 busiest ? "max(1, decoding / max(1, min(pp, decoding)) / dp)%s"
                         : "decoding / max(1, min(pp, decoding))%s",
                 queries > 1 ? " * (1 + speculation.tokens / 1 token)" : "");
}

static void step_work(struct sheet *sheet, struct derive_node *part, size_t index)
{
    struct buffer sum = buffer_in(sheet->arena);
    const char *experts = NULL;
    for (size_t i = 0; i < CLASS_ROWS; i++) {
        const char *counted = matrices(sheet, index, classes[i].weight_class);
        if (counted && classes[i].weight_class == EXPERTS)
            experts = counted;
        else if (counted)
            sheet_plus(&sum, counted);
    }
    bool beside = sum.length > 0; /* matrices beside the experts' */
    struct buffer all = buffer_in(sheet->arena);
    if (beside)
        sheet_plus(&all, arena_printf(sheet->arena, "tokens * (%s)", buffer_string(&sum)));
    if (experts)
        sheet_plus(&all, arena_printf(sheet->arena, "all_tokens * active_experts * (%s) / dp", experts));
    sheet_printf(sheet, part, "2 FLOP * (%s) / tp%s", buffer_string(&all), sheet_scale_parts(sheet, part));
    if (beside)
        decoding_rows(sheet, part, "tokens", true);
    if (experts)
        decoding_rows(sheet, part, "all_tokens", false);
    block_sizes(sheet, part, index);
}

static const char *step_head(struct sheet *sheet, struct derive_node *node, double work)
{
    struct derive_node *head = sheet_part(sheet, node, "head", work, "FLOP", "Of every token.");
    sheet_formula(head, "2 FLOP * tokens * model.vocab * model.hidden / tp");
    decoding_rows(sheet, head, "tokens", true);
    return head->name;
}

/* ---- of all blocks ---------------------------------------------------------------------------------------
 */

/* The matrices of each kind of block, and of what stands at the ends of the model. */
static bool matrix_work(struct sheet *sheet, struct derive_node *node, bool prefill)
{
    struct buffer sum = buffer_in(sheet->arena);
    double rest = sheet->value;
    for (size_t i = 0; i < sheet->model->model.block_count; i++) {
        struct pm_result one = of_one_block(sheet, i);
        double work = ceiling_of(&one, prefill)->matrix_work * sheet_scale(sheet);
        struct derive_node *part = block_part(sheet, node, i, "matrix_work", work, "FLOP");
        if (prefill)
            prompt_work(sheet, part, i);
        else
            step_work(sheet, part, i);
        rest -= sheet->model->model.blocks[i].count * work;
        sheet_plus(&sum, arena_printf(sheet->arena, "%s * %s", block_count(sheet, node, i), part->name));
    }
    if (rest > 1e-9 * sheet->value)
        sheet_plus(&sum, prefill ? prompt_ends(sheet, node, rest) : step_head(sheet, node, rest));
    sheet_formula(node, buffer_string(&sum));
    return sum.length > 0;
}

/* ---- several peaks ---------------------------------------------------------------------------------------
 */

/* The block with nothing but the matrices of one class, or (CLASS_ROWS) with attention's own work. */
static struct pm_block only(const struct pm_block *from, size_t row)
{
    static const double nothing = 1e-9; /* as many: 0 would mean those of the formula, or no such part */
    size_t weight_class = row < CLASS_ROWS ? classes[row].weight_class : HEAD;
    struct pm_block block = *from;
    block.count = 1;
    if (weight_class == HEAD)
        block.attention_params = nothing;
    if (weight_class != ATTENTION && weight_class != HEAD) {
        block.attention = PM_ATTENTION_NONE;
        block.attention_params = 0;
        block.index_heads = block.index_dim = block.index_top = 0;
    }
    if (weight_class != FFN)
        block.ffn = 0;
    if (weight_class == FFN) { /* with the matrices around experts, but without these and their router */
        block.experts = block.experts > 0 && block.expert_input > 0 ? nothing : 0;
        block.expert_ffn = 0;
    } else if (weight_class == ROUTER) {
        block.expert_ffn = block.expert_input = 0;
    } else if (weight_class != EXPERTS) {
        block.experts = block.active_experts = 0;
    }
    if (weight_class != SHARED)
        block.shared_ffn = 0;
    if (weight_class != OTHER)
        block.extra_params = 0;
    return block;
}

static const char *peak_named(const struct sheet *sheet, double peak)
{
    const struct pm_gpu *gpu = sheet->input->gpu;
    for (int i = 0; i < PM_COMPUTE_COUNT; i++)
        if (gpu->peak[i] > 0 && fabs(gpu->peak[i] / peak - 1) < 1e-9)
            return arena_printf(sheet->arena, "gpu.peak.%s", compute_name((enum pm_compute)i));
    return NULL;
}

/* Work over its peak, as a term of the sum. */
static void add_time(struct sheet *sheet, struct derive_node *node, struct buffer *sum, const char *count,
                     const char *name, double work, double seconds)
{
    if (!(work > 1) || !(seconds > 0)) /* nothing, but for what stands for it */
        return;
    const char *peak = peak_named(sheet, work / seconds);
    struct derive_node *part = sheet_part(sheet, node, name, seconds, "s", "Of one block, on one GPU.");
    sheet_part(sheet, part, "work", work, "FLOP", NULL);
    if (!peak)
        sheet_part(sheet, part, "peak", work / seconds, "FLOP/s", "Of its format.");
    sheet_printf(sheet, part, "work / %s", peak ? peak : "peak");
    sheet_plus(sum, count ? arena_printf(sheet->arena, "%s * %s", count, part->name) : part->name);
}

/* The times of one class after the other. Attention's own work comes first, as it is in what the projections'
 * variant gives, too; so are, of experts, latent matrices and routers. */
static void add_block_times(struct sheet *sheet, struct derive_node *node, struct buffer *sum, size_t index,
                            bool prefill, double *rest, double *rest_work)
{
    static const size_t order[] = {CLASS_ROWS, 0, 1, 2, 4, 3, 5}; /* rows of `classes` */
    const struct pm_block *own = &sheet->model->model.blocks[index];
    const char *count = block_count(sheet, node, index);
    double attention = 0, router = 0, router_work = 0, latent = 0, latent_work = 0;
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        size_t row = order[i], weight_class = row < CLASS_ROWS ? classes[row].weight_class : HEAD;
        struct pm_block block = only(own, row);
        struct pm_result one;
        block_evaluate(sheet, &block, &one);
        const struct pm_ceiling *ceiling = ceiling_of(&one, prefill);
        double seconds = ceiling->compute_time;
        double work = weight_class == HEAD ? ceiling->attention_work : ceiling->matrix_work;
        if (weight_class == HEAD) {
            attention = seconds;
        } else if (weight_class == ATTENTION) {
            seconds -= attention;
        } else if (weight_class == ROUTER) {
            router = seconds, router_work = work;
        } else if (weight_class == EXPERTS) {
            seconds -= router + latent, work -= router_work + latent_work;
        }
        const char *what = weight_class == HEAD        ? "attention"
                           : weight_class == ATTENTION ? "projections"
                                                       : weight_class_names[weight_class];
        if (weight_class == FFN && own->expert_input > 0) {
            struct pm_block dense = block;
            struct pm_result without;
            dense.experts = 0;
            block_evaluate(sheet, &dense, &without);
            latent = seconds - ceiling_of(&without, prefill)->compute_time;
            latent_work = work - ceiling_of(&without, prefill)->matrix_work;
        }
        add_time(sheet, node, sum, count, arena_printf(sheet->arena, "%s.%s", block_name(sheet, index), what),
                 work, seconds);
        if (work > 1) {
            *rest -= own->count * seconds;
            *rest_work -= own->count * work;
        }
    }
}

/* The time of all work at the peak of its own format. */
static bool compute_time(struct sheet *sheet, struct derive_node *node, bool prefill)
{
    const struct pm_ceiling *whole = ceiling_of(sheet->result, prefill);
    struct buffer sum = buffer_in(sheet->arena);
    double rest = whole->compute_time, rest_work = whole->work;
    if (sheet_is_scaled(sheet))
        return false;
    for (size_t i = 0; i < sheet->model->model.block_count; i++)
        add_block_times(sheet, node, &sum, i, prefill, &rest, &rest_work);
    if (rest > 1e-9 * whole->compute_time)
        add_time(sheet, node, &sum, NULL, "ends", rest_work, rest);
    sheet_formula(node, buffer_string(&sum));
    return sum.length > 0;
}

bool sheet_of_products(struct sheet *sheet, enum quantity quantity, struct derive_node *node)
{
    switch (quantity) {
    case Q_DECODE_WEIGHT_TRAFFIC: return weight_traffic(sheet, node);
    case Q_DECODE_MATRIX_WORK: return matrix_work(sheet, node, false);
    case Q_PREFILL_MATRIX_WORK: return matrix_work(sheet, node, true);
    case Q_CEILING_DECODE_COMPUTE_TIME: return compute_time(sheet, node, false);
    case Q_CEILING_PREFILL_COMPUTE_TIME: return compute_time(sheet, node, true);
    default: return false;
    }
}
