/* measured.c: measurements against the expected value and the ceiling. */
#include "result/measured.h"

#include "base/arena.h"
#include "result/impossible.h"
#include "sema/unit.h"
#include "source/diag.h"

static const struct {
    enum attribute attribute;
    enum quantity expected;
    enum quantity ceiling; /* QUANTITY_COUNT: physics sets none */
} figures[] = {
    {ATTR_MEASURED_TPOT, Q_TPOT, Q_CEILING_TPOT},
    {ATTR_MEASURED_SPEED, Q_SPEED, Q_CEILING_SPEED},
    {ATTR_MEASURED_TTFT, Q_TTFT, Q_CEILING_TTFT},
    {ATTR_MEASURED_THROUGHPUT, Q_THROUGHPUT, Q_CEILING_THROUGHPUT},
    {ATTR_MEASURED_KV_TOKENS, Q_KV_TOKENS, QUANTITY_COUNT},
};

enum { FIGURE_COUNT = sizeof figures / sizeof figures[0] };

/* Rounding of a published figure is no violation of physics. */
static const double tolerance = 1e-6;

static void read_expected(struct evaluator *evaluator, struct decl *scenario, size_t index,
                          struct measured_row *row)
{
    struct report_quantity expected = evaluate_row(evaluator, scenario, figures[index].expected);
    if (expected.type == QUANTITY_NUMBER && expected.value > 0) {
        row->has_expected = true;
        row->expected = expected.value;
        row->low = expected.has_band ? expected.low : expected.value;
        row->high = expected.has_band ? expected.high : expected.value;
        row->ratio = row->measured / expected.value;
        row->inside_band = expected.has_band && row->measured >= row->low && row->measured <= row->high;
    }
    /* The speed has the band of the time per token, turned round. */
    struct report_quantity tpot = evaluate_row(evaluator, scenario, Q_TPOT);
    if (row->has_expected && figures[index].expected == Q_SPEED && tpot.has_band && tpot.low > 0) {
        row->low = 1 / tpot.high;
        row->high = 1 / tpot.low;
        row->inside_band = row->measured >= row->low && row->measured <= row->high;
    }
}

static void read_ceiling(struct evaluator *evaluator, struct decl *scenario, size_t index,
                         struct measured_row *row)
{
    if (figures[index].ceiling == QUANTITY_COUNT)
        return;
    double ceiling = evaluate_number(evaluator, scenario, figures[index].ceiling, 0);
    if (!(ceiling > 0))
        return;
    row->has_ceiling = true;
    row->ceiling = ceiling;
    row->ceiling_ratio = row->measured / ceiling;
    row->beyond_ceiling = row->row->better == BETTER_LOWER ? row->ceiling_ratio < 1 - tolerance
                                                           : row->ceiling_ratio > 1 + tolerance;
}

static void report_beyond(struct plan *plan, const struct evaluation *evaluation,
                          const struct setting *setting, const struct measured_row *row)
{
    struct arena *arena = plan_arena(plan);
    struct diags *diags = plan_diags(plan);
    struct diag *diag =
        diag_add(diags, DIAG_W0608, setting->span, "measured %s of %s is better than the limit of %s",
                 row->row->name, quantity_text_against(arena, row->measured, row->ceiling, row->dim),
                 quantity_text_against(arena, row->ceiling, row->measured, row->dim));
    const char *reasons[IMPOSSIBLE_REASONS];
    size_t count = impossible_reasons(arena, evaluation, row->row->id, row->measured, reasons);
    for (size_t i = 0; i < count; i++)
        diag_note(diags, diag, "%s", reasons[i]);
}

/* Whatever the schedule, while one request is served its users' prefills and its own decode steps must be
 * computed, and the steps' bytes moved (model.md section 7). Made for one stage and one replica of attention.
 */
static void check_residence(struct plan *plan, const struct evaluation *evaluation, struct decl *measured)
{
    const struct pm_case *input = &evaluation->binding.input;
    const struct pm_result *result = &evaluation->result;
    const struct setting *ttft = plan_setting(plan, measured, ATTR_MEASURED_TTFT);
    const struct setting *tpot = plan_setting(plan, measured, ATTR_MEASURED_TPOT);
    if (!ttft || !tpot || input->static_step || input->pp > 1 || input->dp > 1)
        return;
    double seen = ttft->value.number + input->output * tpot->value.number;
    double steps = input->output / result->ceiling.tokens_per_step;
    double computing = result->ceiling.running * result->prefill_ceiling.compute_time +
                       steps * result->decode_ceiling.compute_time;
    double moving = steps * result->decode_ceiling.memory_time;
    double least = computing > moving ? computing : moving;
    if (least <= seen * (1 + tolerance))
        return;
    struct dim time = {{[DIM_TIME] = 1}};
    struct arena *arena = plan_arena(plan);
    struct diag *diag = diag_add(plan_diags(plan), DIAG_W0608, tpot->span,
                                 "a request measured at %s in all cannot be served in less than %s",
                                 quantity_text_against(arena, seen, least, time),
                                 quantity_text_against(arena, least, seen, time));
    diag_note(plan_diags(plan), diag,
              "with %g requests at once, each waits for the prefills of the others; fewer may "
              "really have run, or prompts were found in a prefix cache",
              result->ceiling.running);
}

const struct evaluation *evaluate_measured(struct evaluator *evaluator, const struct measurement *measurement)
{
    return measurement->variant ? evaluate_variant(evaluator, measurement->scenario)
                                : evaluate_scenario(evaluator, measurement->scenario);
}

void measured_evaluate(struct evaluator *evaluator, const struct measurement *measurement,
                       struct measured_result *out)
{
    struct plan *plan = evaluator_plan(evaluator);
    struct decl *scenario = measurement->scenario;
    const struct evaluation *evaluation = evaluate_measured(evaluator, measurement);
    *out = (struct measured_result){
        .measurement = measurement,
        .rows = ARENA_ARRAY(plan_arena(plan), struct measured_row, FIGURE_COUNT),
        .source = plan_text(plan, measurement->decl, ATTR_SOURCE, NULL),
    };
    bool tell = evaluator_first_time(evaluator, measurement->decl), beyond = false;
    for (size_t i = 0; i < FIGURE_COUNT; i++) {
        const struct setting *setting = plan_setting(plan, measurement->decl, figures[i].attribute);
        if (!setting || setting->value.type != VALUE_NUMBER)
            continue;
        struct measured_row *row = &out->rows[out->count++];
        row->row = quantity_info(figures[i].expected);
        row->measured = setting->value.number;
        row->dim = evaluate_dim(evaluator, scenario, figures[i].expected);
        if (!evaluation->valid)
            continue;
        read_expected(evaluator, scenario, i, row);
        read_ceiling(evaluator, scenario, i, row);
        beyond = beyond || row->beyond_ceiling;
        if (row->beyond_ceiling && tell)
            report_beyond(plan, evaluation, setting, row);
    }
    if (evaluation->valid && tell && !beyond)
        check_residence(plan, evaluation, measurement->decl);
}
