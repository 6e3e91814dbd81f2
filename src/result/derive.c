/* derive.c: derivations. One text serves as the formula, as what tests evaluate, and, with its names
 * replaced by their values, as the line that shows the arithmetic. */
#include "result/derive.h"

#include <ctype.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/number.h"
#include "sema/unit.h"

/* ---- names in formulas ---------------------------------------------------------------------------- */

/* The declaration behind a reference; a scenario's card may come from its system. */
static struct decl *follow(struct evaluator *evaluator, struct decl *decl, enum attribute attribute)
{
    struct decl *target = plan_ref(evaluator_plan(evaluator), decl, attribute);
    if (!target && decl->kind == KIND_SCENARIO && attribute == ATTR_GPU) {
        const struct evaluation *evaluation = evaluate_scenario(evaluator, decl);
        target = evaluation->valid ? evaluation->binding.gpu->decl : NULL;
    }
    return target;
}

static bool from_setting(struct evaluator *evaluator, const struct setting *setting, const char *path,
                         struct report_quantity *value, struct dim *dim)
{
    *value = (struct report_quantity){.name = path, .type = QUANTITY_ABSENT};
    *dim = setting->value.dim;
    switch (setting->value.type) {
    case VALUE_NUMBER:
        value->type = QUANTITY_NUMBER;
        value->value = setting->value.number;
        value->unit = dim_si_unit(plan_arena(evaluator_plan(evaluator)), *dim);
        return true;
    case VALUE_BOOL:
        value->type = QUANTITY_BOOL;
        value->boolean = setting->value.boolean;
        return true;
    case VALUE_TEXT:
        value->type = QUANTITY_TEXT;
        value->text = setting->value.text;
        return true;
    case VALUE_DECL:
        value->type = QUANTITY_TEXT;
        value->text = setting->value.decl->name;
        return true;
    case VALUE_ERROR:
    case VALUE_ABSENT: break;
    }
    return false;
}

/* Where a name ends up: an attribute of a declaration, or a quantity of one. */
struct target {
    struct decl *decl;
    const struct setting *setting; /* NULL: a quantity */
    enum attribute attribute;
    const char *path; /* of the quantity */
};

/* The same order as in expressions: attributes first, the longest name first, then quantities. */
static bool resolve(struct evaluator *evaluator, struct decl *decl, const char *path, struct target *target)
{
    struct plan *plan = evaluator_plan(evaluator);
    enum attribute attribute = attribute_find(decl->kind, path);
    const struct setting *setting = attribute != ATTR_COUNT ? plan_setting(plan, decl, attribute) : NULL;
    if (setting) {
        *target = (struct target){decl, setting, attribute, path};
        return true;
    }
    const char *dot = strchr(path, '.');
    if (dot) {
        attribute = attribute_find(decl->kind, arena_strndup(plan_arena(plan), path, (size_t)(dot - path)));
        struct decl *next = attribute != ATTR_COUNT ? follow(evaluator, decl, attribute) : NULL;
        if (next)
            return resolve(evaluator, next, dot + 1, target);
    }
    *target = (struct target){decl, NULL, ATTR_COUNT, path};
    struct report_quantity value;
    return evaluate_quantity(evaluator, decl, path, &value);
}

static const struct quantity_info *row_of(const struct target *target)
{
    enum quantity_scope scope;
    return quantity_scope_of(target->decl->kind, &scope) ? quantity_find(scope, target->path) : NULL;
}

bool derive_lookup(struct evaluator *evaluator, struct decl *decl, const char *path,
                   struct report_quantity *value, struct dim *dim)
{
    struct target target;
    if (!resolve(evaluator, decl, path, &target))
        return false;
    if (target.setting)
        return from_setting(evaluator, target.setting, path, value, dim);
    const struct quantity_info *row = row_of(&target);
    if (!row || !evaluate_quantity(evaluator, target.decl, target.path, value))
        return false;
    *dim = evaluate_dim(evaluator, target.decl, row->id);
    return true;
}

/* ---- formulas as text ------------------------------------------------------------------------------- */

/* The next piece of a formula: a dotted name that stands for a value, or anything else. */
struct piece {
    const char *text;
    size_t length;
    bool is_name;
};

static bool in_name(char byte)
{
    return isalnum((unsigned char)byte) || byte == '_' || byte == '.';
}

static bool is_word(const char *text, size_t length)
{
    static const char *const words[] = {"if", "then", "else", "and", "or", "not"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strlen(words[i]) == length && strncmp(words[i], text, length) == 0)
            return true;
    return false;
}

/* A number takes its unit with it; a name before `(` is a function. */
static struct piece next_piece(const char *at)
{
    struct piece piece = {at, 1, false};
    if (isdigit((unsigned char)*at)) {
        while (in_name(at[piece.length]))
            piece.length++;
        if (at[piece.length] == ' ' && isalpha((unsigned char)at[piece.length + 1])) {
            piece.length++;
            while (in_name(at[piece.length]) || at[piece.length] == '/')
                piece.length++;
        }
    } else if (isalpha((unsigned char)*at)) {
        while (in_name(at[piece.length]))
            piece.length++;
        piece.is_name = at[piece.length] != '(' && !is_word(at, piece.length);
    }
    return piece;
}

/* Factors that only keep the dimensions right say nothing to a reader. */
static const char *without_unit_factors(struct arena *arena, const char *formula)
{
    static const char *const silent[] = {" / 1 token", " * 1 token", " * 1 request"};
    struct buffer out = buffer_in(arena);
    while (*formula) {
        size_t skip = 0;
        for (size_t i = 0; i < sizeof silent / sizeof silent[0]; i++)
            if (strncmp(formula, silent[i], strlen(silent[i])) == 0)
                skip = strlen(silent[i]);
        if (skip > 0) {
            formula += skip;
            continue;
        }
        if (strncmp(formula, " FLOP *", 7) == 0 && out.length > 0 &&
            isdigit((unsigned char)out.data[out.length - 1])) {
            formula += 5;
            continue;
        }
        buffer_byte(&out, *formula++);
    }
    return buffer_string(&out);
}

static const char *substitute(struct evaluator *evaluator, struct decl *decl, const char *formula)
{
    struct arena *arena = plan_arena(evaluator_plan(evaluator));
    struct buffer out = buffer_in(arena);
    while (*formula) {
        struct piece piece = next_piece(formula);
        struct report_quantity value;
        struct dim dim;
        formula += piece.length;
        if (piece.length == 1 && *piece.text == '*') {
            buffer_text(&out, "×");
            continue;
        }
        const char *path = piece.is_name ? arena_strndup(arena, piece.text, piece.length) : NULL;
        if (path && derive_lookup(evaluator, decl, path, &value, &dim))
            buffer_text(&out, quantity_value_text(arena, &value, dim));
        else
            buffer_add(&out, piece.text, piece.length);
    }
    return buffer_string(&out);
}

/* ---- steps -------------------------------------------------------------------------------------------- */

static const char *exact_text(struct arena *arena, const struct report_quantity *value)
{
    char text[NUMBER_TEXT_MAX];
    if (value->type != QUANTITY_NUMBER)
        return NULL;
    number_shortest(text, value->value);
    bool bare = !value->unit || strcmp(value->unit, "1") == 0;
    return bare ? arena_strdup(arena, text) : arena_printf(arena, "%s %s", text, value->unit);
}

struct derivation_step derive_step(struct evaluator *evaluator, struct decl *decl, enum quantity quantity)
{
    struct arena *arena = plan_arena(evaluator_plan(evaluator));
    const struct quantity_info *row = quantity_info(quantity);
    struct report_quantity value = evaluate_row(evaluator, decl, quantity);
    const char *formula = evaluate_formula(evaluator, decl, quantity);
    struct derivation_step step = {.name = row->name, .doc = row->doc, .source = row->source};
    step.value = quantity_value_text(arena, &value, evaluate_dim(evaluator, decl, quantity));
    step.exact = exact_text(arena, &value);
    if (formula && value.type != QUANTITY_ABSENT) {
        step.formula = without_unit_factors(arena, formula);
        step.substituted = substitute(evaluator, decl, step.formula);
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

/* ---- down to the inputs ---------------------------------------------------------------------------------
 */

struct explain_job {
    struct evaluator *evaluator;
    struct arena *arena;
    struct derivation *out;
};

static bool is_derived(const struct explain_job *job, const char *name)
{
    for (size_t i = 0; i < job->out->steps.count; i++)
        if (strcmp(job->out->steps.items[i].name, name) == 0)
            return true;
    return false;
}

static void explain_input(struct explain_job *job, const struct target *target, const char *name)
{
    struct report_quantity value;
    struct dim dim;
    if (!from_setting(job->evaluator, target->setting, name, &value, &dim))
        return;
    const char *source = target->setting->source;
    if (!source)
        source = target->setting->origin == ORIGIN_DEFAULT ? "default" : "the plan";
    *VEC_PUSH(job->arena, job->out->steps) = (struct derivation_step){
        .name = name,
        .doc = attribute_info(target->attribute)->doc,
        .value = quantity_value_text(job->arena, &value, dim),
        .exact = exact_text(job->arena, &value),
        .source = source,
    };
}

enum { EXPLAIN_DEPTH_MAX = 24 };

static void explain(struct explain_job *job, struct decl *decl, enum quantity quantity, const char *prefix,
                    unsigned depth)
{
    const char *formula = evaluate_formula(job->evaluator, decl, quantity);
    for (const char *at = formula; at && *at && depth < EXPLAIN_DEPTH_MAX;) {
        struct piece piece = next_piece(at);
        struct target target;
        at += piece.length;
        if (!piece.is_name)
            continue;
        const char *path = arena_strndup(job->arena, piece.text, piece.length);
        const char *name = arena_printf(job->arena, "%s%s", prefix, path);
        if (is_derived(job, name) || !resolve(job->evaluator, decl, path, &target))
            continue;
        if (target.setting) {
            explain_input(job, &target, name);
            continue;
        }
        const struct quantity_info *row = row_of(&target);
        size_t own = strlen(path) - strlen(target.path); /* "gpu." of "gpu.balance" */
        if (row)
            explain(job, target.decl, row->id, arena_printf(job->arena, "%s%.*s", prefix, (int)own, path),
                    depth + 1);
    }
    struct derivation_step step = derive_step(job->evaluator, decl, quantity);
    step.name = arena_printf(job->arena, "%s%s", prefix, step.name);
    if (!is_derived(job, step.name))
        *VEC_PUSH(job->arena, job->out->steps) = step;
}

void derive_quantity(struct evaluator *evaluator, struct decl *decl, enum quantity quantity,
                     struct derivation *out)
{
    struct explain_job job = {evaluator, plan_arena(evaluator_plan(evaluator)), out};
    *out = (struct derivation){.title = quantity_info(quantity)->name};
    explain(&job, decl, quantity, "", 0);
}
