/* evaluate.h: scenarios evaluated, once each and on demand.
 *
 * The evaluator answers when an expression reads a quantity (`chat.tpot`), so it must exist before
 * plan_check() is called:
 *
 *     struct evaluator *evaluator = evaluator_new(plan);   registers itself as the plan's reader
 *     plan_check(plan);
 *     evaluate_all(evaluator);                             the rest, and the checks that need numbers
 *     if (diags_errors(diags) == 0) ... build the report
 */
#ifndef PERFC_RESULT_EVALUATE_H
#define PERFC_RESULT_EVALUATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/language.h"
#include "model/perfmodel.h"
#include "result/bind.h"
#include "result/quantity.h"
#include "result/report.h"
#include "sema/plan.h"

struct evaluator;

struct map;

/* A scenario with its results. */
struct evaluation {
    struct decl *scenario;
    bool valid;              /* false: an error was reported, or `why` says why it has no results */
    const char *why;         /* NULL when valid */
    struct binding binding;  /* declarations and numbers that went in */
    struct pm_result result; /* everything that came out */
};

/* An evaluator for a loaded plan; registers itself with plan_set_reader(). */
struct evaluator *evaluator_new(struct plan *plan);

struct plan *evaluator_plan(const struct evaluator *evaluator);

/* The language in which people read what is evaluated: what was set, else what the plan's `report` says. */
void evaluator_set_language(struct evaluator *evaluator, enum language language);
enum language evaluator_language(const struct evaluator *evaluator);

/* A text that is data (a reason, a value in words) in that language. */
const char *evaluator_phrase(const struct evaluator *evaluator, const char *english);

/* Where derivations remember the formulas they took apart (derive_internal.h), by their texts. */
struct map *evaluator_formulas(const struct evaluator *evaluator);

/* The scenario's evaluation; never NULL. Computed on first use and remembered. Reports errors and
 * warnings the first time. */
const struct evaluation *evaluate_scenario(struct evaluator *evaluator, struct decl *scenario);

/* The same for a sweep point (plan_variant): an error becomes `why`, and no warning is reported. */
const struct evaluation *evaluate_variant(struct evaluator *evaluator, struct decl *variant);

/* Until evaluator_suppose_nothing(), whoever reads the scenario gets this evaluation instead of its own: what
 * an expression would come to if it were so. */
void evaluator_suppose(struct evaluator *evaluator, const struct evaluation *evaluation);

/* Back to what is; true when the supposed evaluation was read. */
bool evaluator_suppose_nothing(struct evaluator *evaluator);

/* Evaluates every scenario and every measurement of the plan view, in order, so that all checks are made. */
void evaluate_all(struct evaluator *evaluator);

/* True once for each declaration: for whoever reports something about it, so that it is said once. */
bool evaluator_first_time(struct evaluator *evaluator, struct decl *decl);

/* ---- quantities --------------------------------------------------------------------------- */

/* A quantity of a scenario, model or card by its name ("tpot", "decode.intensity", "tpot.low"). The
 * result's name is "chat.tpot" (quoted where the name needs it). False: no such quantity. */
bool evaluate_quantity(struct evaluator *evaluator, struct decl *decl, const char *path,
                       struct report_quantity *out);

/* The same by table row. */
struct report_quantity evaluate_row(struct evaluator *evaluator, struct decl *decl, enum quantity quantity);

/* Just the number, `fallback` when it does not exist. */
double evaluate_number(struct evaluator *evaluator, struct decl *decl, enum quantity quantity,
                       double fallback);

/* What the quantities of `decl` are computed from. False: it has none. */
bool evaluate_gather(struct evaluator *evaluator, struct decl *decl, struct quantity_input *input);

/* The dimension of a quantity of `decl` (money: the currency of its price), for unit.h's printing. */
struct dim evaluate_dim(struct evaluator *evaluator, struct decl *decl, enum quantity quantity);

/* The formula that tells most about this declaration's case, or NULL. */
const char *evaluate_formula(struct evaluator *evaluator, struct decl *decl, enum quantity quantity);

/* A number for people: three digits in the unit a person would pick, memory in GiB; the reason when it
 * does not exist; "yes" or "no"; the text. */
const char *evaluate_text(struct evaluator *evaluator, struct decl *decl, enum quantity quantity);

/* The same for a quantity that is at hand already. */
const char *evaluate_value_text(struct evaluator *evaluator, const struct report_quantity *quantity,
                                struct dim dim);

/* A number as it stands there, for those who have no evaluator; words are English. */
const char *quantity_value_text(struct arena *arena, const struct report_quantity *quantity, struct dim dim);

/* Every quantity of the plan's scenarios, then of the models and cards they use, each declaration once
 * and in order of first use: the content of the JSON report. Fills report->quantities, scenarios,
 * models and gpus. */
void evaluate_report_quantities(struct evaluator *evaluator, struct report *report);

/* ---- what went in ------------------------------------------------------------------------- */

/* One attribute that a scenario's numbers rest on. */
struct input {
    struct decl *decl; /* scenario, system, gpu, model, block, engine or format */
    enum attribute attribute;
    const struct setting *setting; /* value, origin, where, source, confidence */
};

/* The attributes in effect, declaration by declaration (scenario, system, gpu, model, blocks, engine,
 * formats). Returns how many; *inputs is in the arena. The origin tells defaults (assumptions) from
 * catalogue figures (sources). */
size_t evaluation_inputs(struct evaluator *evaluator, const struct evaluation *evaluation,
                         struct input **inputs);

/* Something the plan did not say and the compiler decided. */
struct assumption {
    const char *what;   /* "kv_cache" */
    const char *value;  /* "bf16" */
    const char *reason; /* "16 bits whatever the weights, unless declared" */
};

/* Every default a scenario's result rests on, with its reason. Returns how many. */
size_t evaluation_assumptions(struct evaluator *evaluator, const struct evaluation *evaluation,
                              struct assumption **assumptions);

#endif
