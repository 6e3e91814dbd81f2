/* derive_service.c: worksheets of the closed loop: sequences that run, and what a step expects of experts. */
#include <math.h>

#include "result/derive_sheet.h"

/* Sequences wait for others to leave: on average three quarters of the output are written. */
static bool running(struct sheet *sheet, struct derive_node *node)
{
    struct pm_case input = *sheet->input;
    struct pm_memory memory;
    double prompt = input.prompt > 0 ? input.prompt + input.model->tower_tokens : 0;
    if (input.static_step || input.engine->as_calibrated)
        return false;
    input.static_step = true;
    input.context = prompt + 0.75 * input.output;
    pm_memory_of(&input, &memory);
    sheet_part(sheet, node, "mean_sequence", memory.kv_per_sequence, "B",
               "Cache of a sequence with three quarters of its output.");
    sheet_part(sheet, node, "shared", memory.kv_shared, "B", "Of it, stored once for all.");
    sheet_formula(node,
                  "min(batch, max(dp * (memory.pool - shared) / (mean_sequence - shared), max_batch, dp))");
    return true;
}

/* The tokens of a step and, where they route alike, how many choose apart. */
static void add_tokens(struct sheet *sheet, struct derive_node *part, size_t which, double tokens)
{
    const struct pm_engine *engine = sheet->input->engine;
    const struct pm_block *block = &sheet->model->model.blocks[which];
    double spread = pm_expert_spread(engine, block), queries = 1 + fmax(sheet->input->draft_tokens, 0);
    bool alike = spread < 1 && tokens > 1, of_model = spread == block->expert_spread;
    struct derive_node *apart = part;
    if (alike)
        apart = sheet_part(sheet, part, "apart", pm_tokens_apart(engine, block, tokens), "1",
                           "Tokens that choose apart from each other.");
    struct derive_node *count =
        sheet_part(sheet, apart, "tokens", tokens, "1", "That choose experts together.");
    sheet_printf(sheet, count, "decoding%s%s",
                 sheet->input->pp > 1 && !engine->ideal ? " / max(1, min(pp, decoding))" : "",
                 queries > 1 ? " * (1 + speculation.tokens)" : "");
    if (alike && of_model)
        sheet_attribute(sheet, apart, sheet->model->block_decls[which], "expert_spread", "expert_spread",
                        spread, "1");
    if (alike)
        sheet_formula(apart, of_model ? "tokens ^ expert_spread" : "tokens ^ engine.expert_spread");
    sheet_formula(part, alike ? "(1 - active_experts / experts) ^ apart"
                              : "(1 - active_experts / experts) ^ tokens");
}

/* Each of T tokens leaves an expert out with probability 1 - k/E. */
static bool distinct_experts(struct sheet *sheet, struct derive_node *node)
{
    const struct pm_model *model = &sheet->model->model;
    size_t which = model->block_count;
    double most = 0, queries = 1 + fmax(sheet->input->draft_tokens, 0);
    double tokens = sheet->result->expected.decoding * queries;
    if (!sheet->input->engine->ideal) { /* of a micro-batch, where there are stages */
        double stages = fmax(sheet->input->pp, 1);
        tokens /= fmax(fmin(stages, sheet->result->expected.decoding), 1);
    }
    for (size_t i = 0; i < model->block_count; i++) {
        double experts = model->blocks[i].experts, used = fmin(model->blocks[i].active_experts, experts);
        double apart = pm_tokens_apart(sheet->input->engine, &model->blocks[i], tokens);
        double touched = experts > 0 ? experts * (1 - pow(1 - used / experts, apart)) : 0;
        if (touched > most) {
            most = touched;
            which = i;
        }
    }
    if (which == model->block_count)
        return false;
    const struct pm_block *block = &model->blocks[which];
    struct decl *decl = sheet->model->block_decls[which];
    sheet_attribute(sheet, node, decl, "experts", "experts", block->experts, "1");
    struct derive_node *part = sheet_part(
        sheet, node, "left_out",
        pow(1 - block->active_experts / block->experts, pm_tokens_apart(sheet->input->engine, block, tokens)),
        "1", "Share of the experts that no token chooses.");
    sheet_attribute(sheet, part, decl, "experts", "experts", block->experts, "1");
    sheet_attribute(sheet, part, decl, "active_experts", "active_experts", block->active_experts, "1");
    add_tokens(sheet, part, which, tokens);
    sheet_formula(node, "experts * (1 - left_out)");
    return true;
}

/* A step with drafts, none of which takes less than the ceiling of what drafts. */
static bool least_step(struct sheet *sheet, struct derive_node *node)
{
    double drafts = sheet->value - sheet->result->decode_ceiling.time;
    if (!(drafts > 0))
        return false;
    sheet_part(sheet, node, "draft", drafts / sheet->input->draft_tokens, "s",
               "The ceiling of one draft for every sequence.");
    sheet_formula(node, "ceiling.decode.time + speculation.tokens * draft");
    return true;
}

/* Where prompts would take more than all steps, every step carries as many as its chunk allows, and users
 * wait for their turn (model/service.c, interfere()). */
static double full_step(const struct sheet *sheet)
{
    const struct pm_service *expected = &sheet->result->expected;
    return sheet->result->decode.time +
           (expected->interference + expected->eased) * expected->tokens_per_step;
}

static bool is_crowded(const struct sheet *sheet)
{
    const struct pm_service *expected = &sheet->result->expected;
    return expected->prefill_step_share > 1 && !expected->in_step && !sheet->input->engine->as_calibrated;
}

/* What is left of it where waits do not count twice (model/service.c, ease_interference()). */
static bool eased_interference(struct sheet *sheet, struct derive_node *node)
{
    const struct pm_service *expected = &sheet->result->expected;
    double streamed = expected->tpot > 0 ? expected->stream_time / expected->tpot : 0;
    bool plain = !(expected->held_steps > 0) && !expected->in_step;
    if (!(expected->eased > 0) || plain || sheet->input->draft_tokens > 0)
        return false;
    struct derive_node *part =
        sheet_part(sheet, node, "streamed", streamed, "1", "Decode steps before the client sees a token.");
    sheet_formula(part, "first_token.stream / tpot");
    sheet_printf(
        sheet, node,
        "max(0 s, ((running - 1) / %s * prefill.extra * 1 token * (output / 1 token * %s - 1) + (running "
        "- 1) / (dp * pp) * (engine.request_time + (output / 1 token - 1 + streamed) * "
        "(decode.time.fixed - engine.sequence_time * decoding / max(1, min(pp, decoding))))) / "
        "(output / 1 token - 1 + streamed))",
        expected->in_step ? "(2 * output)" : "output", expected->in_step ? "1" : "(1 - engine.first_wave)");
    return true;
}

static bool interference(struct sheet *sheet, struct derive_node *node)
{
    if (!is_crowded(sheet))
        return eased_interference(sheet, node);
    sheet_part(sheet, node, "full_step", full_step(sheet), "s",
               "A decode step with as many prompts, or parts of one, as its chunk allows.");
    double eased = sheet->result->expected.eased;
    if (eased > 0)
        sheet_part(sheet, node, "eased", eased, "s", "Waited for before the first token, and not twice.");
    sheet_printf(sheet, node, "(full_step - decode.time) / speculation.tokens_per_step * 1 token%s",
                 eased > 0 ? " - eased" : "");
    return true;
}

/* One way in which a scheduler holds requests back, by what it comes to. */
static void add_held(struct sheet *sheet, struct derive_node *held, const char *name, const char *most,
                     double steps, double rate, const char *doc)
{
    /* steps = (w + rate w^2 / 2) / (1 + rate w), solved for w */
    double from = 1 - rate * steps, window = sqrt(from * from + 2 * rate * steps) - from;
    struct derive_node *part = sheet_part(sheet, held, name, steps, "1", doc);
    sheet_part(sheet, part, "window", rate > 0 ? window / rate : steps, "1", most);
    sheet_part(sheet, part, "rate", rate, "1", "Requests that come in a decode step.");
    sheet_formula(part, "(window + rate * window ^ 2 / 2) / (1 + rate * window)");
}

/* Steps before the scheduler lets a prompt in, besides those until the client sees the first token. */
static bool stream(struct sheet *sheet, struct derive_node *node)
{
    const struct pm_service *expected = &sheet->result->expected;
    const struct pm_engine *engine = sheet->input->engine;
    if (!(expected->held_steps > 0) || !(expected->tpot > 0))
        return false;
    double polled = (fmax(engine->poll_interval, 1) - 1) / 2, dp = fmax(sheet->input->dp, 1);
    double rate = expected->running * expected->tokens_per_step / sheet->input->output;
    double lanes = dp * fmax(sheet->input->pp, 1);
    double balanced = dp > 1 ? pm_held_back(engine->balance_steps, dp - 1, rate) : 0;
    double collected = expected->held_steps - polled - balanced;
    struct derive_node *held =
        sheet_part(sheet, node, "held", expected->held_steps, "1", "Until the scheduler lets a prompt in.");
    if (engine->hold_steps > 0)
        add_held(sheet, held, "collected", "Until a step is full, at most `hold_steps`.", fmax(collected, 0),
                 rate / lanes, "While prompts are collected to run several in one step.");
    if (balanced > 0)
        add_held(sheet, held, "balanced", "Until each replica has a prompt, at most `balance_steps`.",
                 balanced, rate, "While attention replicas wait for each other's prompts.");
    sheet_printf(sheet, held, "(engine.poll_interval - 1) / 2%s%s",
                 engine->hold_steps > 0 ? " + collected" : "", balanced > 0 ? " + balanced" : "");
    sheet_formula(node,
                  engine->stream_share > 0
                      ? "(min(engine.stream_interval, engine.stream_share * output / 1 token) + held) * tpot"
                      : "(engine.stream_interval + held) * tpot");
    return true;
}

static bool first_wave(struct sheet *sheet, struct derive_node *node)
{
    const struct pm_service *expected = &sheet->result->expected;
    const struct pm_engine *engine = sheet->input->engine;
    bool train = sheet->input->equal_lengths && !expected->in_step && engine->train_steps > 0 &&
                 !engine->as_calibrated && expected->tpot >= 0;
    const char *waits = train ? " + engine.train_steps * alone * max(0, 1 - dp * pp / running)" : "";
    if (!is_crowded(sheet) && !train)
        return false;
    if (train)
        sheet_part(sheet, node, "alone", expected->prefill_alone, "s", "The steps of one prompt by itself.");
    if (!is_crowded(sheet)) {
        sheet_printf(sheet, node,
                     "engine.first_wave * (running - 1) * prefill.packed + engine.user_time * running%s",
                     waits);
        return true;
    }
    double steps = sheet->input->output / expected->tokens_per_step;
    double wanted = (expected->running - 1) / (steps * sheet->input->dp * sheet->input->pp);
    sheet_part(sheet, node, "steps", steps, "1", "Decode steps of a request.");
    sheet_part(sheet, node, "wanted", wanted, "1", "Prompts that each step would have to carry.");
    sheet_part(sheet, node, "carried", expected->decoding / expected->running * wanted, "1", "And does.");
    sheet_part(sheet, node, "full_step", full_step(sheet), "s",
               "A decode step with as many prompts, or parts of one, as its chunk allows.");
    sheet_printf(sheet, node,
                 "(wanted / carried - 1) * steps * full_step + running * engine.user_time + "
                 "engine.first_wave * (running - 1) * carried / wanted * prefill.packed%s",
                 waits);
    return true;
}

bool sheet_of_service(struct sheet *sheet, enum quantity quantity, struct derive_node *node)
{
    if (!sheet->input)
        return false;
    switch (quantity) {
    case Q_CEILING_DECODE_STEP: return least_step(sheet, node);
    case Q_INTERFERENCE: return interference(sheet, node);
    case Q_FIRST_TOKEN_STREAM: return stream(sheet, node);
    case Q_FIRST_TOKEN_WAVE: return first_wave(sheet, node);
    case Q_RUNNING: return running(sheet, node);
    case Q_DECODE_DISTINCT_EXPERTS: return distinct_experts(sheet, node);
    default: return false;
    }
}
