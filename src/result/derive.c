/* derive.c: derivations. One text serves as the formula, as what tests evaluate, and, with its names
 * replaced by their values, as the line that shows the arithmetic. */
#include "result/derive.h"

#include <string.h>

#include "base/arena.h"
#include "result/derive_internal.h"
#include "result/message.h"

const char *derive_source(struct evaluator *evaluator, const char *source)
{
    static const char section[] = "docs/model.md, section ";
    size_t length = sizeof section - 1;
    if (!source || strncmp(source, section, length) != 0)
        return evaluator_phrase(evaluator, source);
    return MESSAGE_TEXT(plan_arena(evaluator_plan(evaluator)), evaluator_language(evaluator), M_DOC_SECTION,
                        source + length);
}

struct derivation_step derive_step(struct evaluator *evaluator, struct decl *decl, enum quantity quantity)
{
    struct arena *arena = plan_arena(evaluator_plan(evaluator));
    const struct quantity_info *row = quantity_info(quantity);
    struct report_quantity value = evaluate_row(evaluator, decl, quantity);
    const char *text = evaluate_formula(evaluator, decl, quantity);
    struct derivation_step step = {.name = row->name,
                                   .doc = quantity_doc(row, evaluator_language(evaluator)),
                                   .source = derive_source(evaluator, row->source)};
    step.value = evaluate_value_text(evaluator, &value, evaluate_dim(evaluator, decl, quantity));
    step.exact = derive_exact(arena, &value);
    if (text && value.type != QUANTITY_ABSENT) {
        struct formula *formula = derive_formula(evaluator, text);
        step.formula = formula->shown;
        step.substituted = derive_substitute(evaluator, decl, formula);
    } else if (value.type != QUANTITY_ABSENT) {
        const struct derive_node *tree = derive_line(evaluator, decl, quantity);
        step.formula = tree->shown;
        step.substituted = tree->substituted;
    }
    return step;
}

void derive_main(struct evaluator *evaluator, struct decl *scenario, struct derivation *out)
{
    static const enum quantity figures[] = {
        Q_WEIGHT_BYTES,
        Q_MEMORY_WEIGHTS,
        Q_MEMORY_KV_PER_TOKEN,
        Q_MEMORY_KV_PER_SEQUENCE,
        Q_MEMORY_KV,
        Q_MEMORY_TOTAL,
        Q_MEMORY_USABLE,
        Q_FITS,
        Q_MEMORY_POOL,
        Q_MAX_BATCH,
        Q_DECODE_CONTEXT,
        Q_DECODE_MATRIX_WORK,
        Q_DECODE_ATTENTION_WORK,
        Q_DECODE_WORK,
        Q_DECODE_WEIGHT_TRAFFIC,
        Q_DECODE_KV_TRAFFIC,
        Q_DECODE_TRAFFIC,
        Q_DECODE_INTENSITY,
        Q_DECODE_BALANCE,
        Q_CEILING_DECODE_COMPUTE_TIME,
        Q_CEILING_DECODE_MEMORY_TIME,
        Q_CEILING_DECODE_TIME,
        Q_CEILING_TPOT,
        Q_DECODE_TIME,
        Q_DECODE_STEP,
        Q_INTERFERENCE,
        Q_TPOT,
        Q_SPEED,
        Q_PREFILL_WORK,
        Q_CEILING_PREFILL_TIME,
        Q_PREFILL_TIME,
        Q_QUEUEING,
        Q_TTFT,
        Q_LATENCY,
        Q_THROUGHPUT,
        Q_COST_RATE,
        Q_COST_PER_MTOK,
    };
    struct arena *arena = plan_arena(evaluator_plan(evaluator));
    *out = (struct derivation){.title = scenario->name};
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++)
        if (evaluate_row(evaluator, scenario, figures[i]).type != QUANTITY_ABSENT)
            *VEC_PUSH(arena, out->steps) = derive_step(evaluator, scenario, figures[i]);
}
