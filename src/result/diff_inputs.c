/* diff_inputs.c: what a plan is compared by: its quantities, its assertions, and the attributes in effect. */
#include <string.h>

#include "base/arena.h"
#include "base/intern.h"
#include "base/map.h"
#include "result/assertion.h"
#include "result/bind_internal.h"
#include "result/diff.h"
#include "result/name.h"
#include "result/sweep.h"
#include "sema/unit.h"

/* ---- inputs ----------------------------------------------------------------------------------- */

struct lister {
    struct arena *arena;
    struct evaluator *evaluator;
    struct report *report;
    struct map *listed; /* declaration to its number + 1, as a pointer into `numbers` */
};

static const char *const origin_words[] = {
    [ORIGIN_PLAN] = "plan",       [ORIGIN_INHERITED] = "inherited",       [ORIGIN_CATALOGUE] = "catalogue",
    [ORIGIN_DEFAULT] = "default", [ORIGIN_COMMAND_LINE] = "command line", [ORIGIN_SWEEP] = "sweep",
};

static void set_place(struct lister *lister, const struct setting *setting, struct report_attribute *out)
{
    const struct sources *sources = plan_sources(evaluator_plan(lister->evaluator));
    unsigned column;
    if (setting->span.end == 0 || setting->span.file >= sources_count(sources))
        return;
    const struct source *source = sources_get(sources, setting->span.file);
    out->file = source->path;
    if (source->embedded) /* a line of the standard library moves with every version of it */
        return;
    source_position(source, setting->span.start, &out->line, &column);
}

static void add_attribute(struct lister *lister, struct report_input *input, const struct input *from)
{
    const char *name = attribute_info(from->attribute)->name;
    struct report_attribute *out = VEC_PUSH(lister->arena, input->attributes);
    out->value = quantity_of_value(lister->arena, &from->setting->value);
    out->value.name =
        from->decl->kind != KIND_BLOCK
            ? name
            : quantity_full_name(lister->arena, from->decl->name ? from->decl->name : "block", name);
    out->origin = origin_words[from->setting->origin];
    set_place(lister, from->setting, out);
}

/* Texts and dates are remarks, from which nothing is computed, and the defaults of an engine say that a rare
 * feature is absent. */
static bool is_listed(const struct input *input)
{
    bool remark = attribute_info(input->attribute)->type == TYPE_TEXT ||
                  input->attribute == ATTR_CONFIDENCE || input->attribute == ATTR_GPU_YEAR;
    return !remark && !(input->decl->kind == KIND_ENGINE && input->setting->origin == ORIGIN_DEFAULT);
}

/* The number of the input that `decl` is listed as; *first tells that it was not listed before. */
static size_t number_of(struct lister *lister, struct decl *decl, bool *first)
{
    size_t *number = decl_map_get(lister->listed, decl);
    *first = number == NULL;
    if (number == NULL) {
        number = ARENA_NEW(lister->arena, size_t);
        *number = lister->report->inputs.count;
        decl_map_put(lister->listed, decl, number);
        *VEC_PUSH(lister->arena, lister->report->inputs) =
            (struct report_input){.kind = kind_name(decl->kind), .name = decl->name};
    }
    return *number;
}

static void list_scenario(struct lister *lister, const struct evaluation *evaluation)
{
    bool first;
    struct input *inputs;
    size_t count = evaluation_inputs(lister->evaluator, evaluation, &inputs);
    size_t scenario = number_of(lister, evaluation->scenario, &first);
    struct decl *current = NULL;
    size_t number = scenario;
    bool filling = false;
    for (size_t i = 0; i < count; i++) {
        struct decl *decl =
            inputs[i].decl->kind == KIND_BLOCK ? evaluation->binding.model->decl : inputs[i].decl;
        if (decl != current) {
            number = number_of(lister, decl, &filling);
            filling = filling || decl == evaluation->scenario;
            current = decl;
            if (number != scenario)
                *VEC_PUSH(lister->arena, lister->report->inputs.items[scenario].uses) = number;
        }
        if (filling && is_listed(&inputs[i]))
            add_attribute(lister, &lister->report->inputs.items[number], &inputs[i]);
    }
}

void report_inputs(struct evaluator *evaluator, struct report *report)
{
    struct plan *plan = evaluator_plan(evaluator);
    const struct plan_view *view = plan_view(plan);
    struct lister lister = {plan_arena(plan), evaluator, report, map_new(plan_arena(plan))};
    for (size_t i = 0; i < view->scenarios.count; i++)
        list_scenario(&lister, evaluate_scenario(evaluator, view->scenarios.items[i]));
    for (size_t i = 0; i < view->guards.count; i++)
        *VEC_PUSH(plan_arena(plan), report->guards) = view->guards.items[i].text;
}

const struct report_attribute *report_find_attribute(const struct report_input *input, const char *name)
{
    for (size_t i = 0; i < input->attributes.count; i++)
        if (strcmp(input->attributes.items[i].value.name, name) == 0)
            return &input->attributes.items[i];
    return NULL;
}

/* ---- by name ------------------------------------------------------------------------- */

struct report_index {
    struct arena *arena;
    struct strings *strings;
    struct map *quantities, *inputs;
};

static const char *input_key(const struct report_index *index, const char *kind, const char *name)
{
    return intern_text(index->strings, arena_printf(index->arena, "%s %s", kind, name ? name : ""));
}

struct report_index *report_index_new(struct arena *arena, const struct report *report)
{
    struct report_index *index = ARENA_NEW(arena, struct report_index);
    *index = (struct report_index){arena, strings_new(arena), map_new(arena), map_new(arena)};
    for (size_t i = 0; i < report->quantities.count; i++)
        map_put(index->quantities, intern_text(index->strings, report->quantities.items[i].name),
                &report->quantities.items[i]);
    for (size_t i = 0; i < report->inputs.count; i++)
        map_put(index->inputs, input_key(index, report->inputs.items[i].kind, report->inputs.items[i].name),
                &report->inputs.items[i]);
    return index;
}

const struct report_input *report_index_input(const struct report_index *index, const char *kind,
                                              const char *name)
{
    return map_get(index->inputs, input_key(index, kind, name));
}

const struct report_quantity *report_index_find(const struct report_index *index, const char *declaration,
                                                const char *path)
{
    const char *name = quantity_full_name(index->arena, declaration, path);
    return map_get(index->quantities, intern_text(index->strings, name));
}

struct dim report_unit_dim(const char *unit)
{
    struct unit known;
    return unit && unit_parse(unit, &known) ? known.dim : dim_none();
}

/* ---- a side ------------------------------------------------------------------------------------- */

struct report *diff_side(struct evaluator *evaluator)
{
    struct plan *plan = evaluator_plan(evaluator);
    struct report *side = ARENA_NEW(plan_arena(plan), struct report);
    side->language = evaluator_language(evaluator);
    side->plan = plan_view(plan)->path;
    side->sources = plan_sources(plan);
    side->diags = plan_diags(plan);
    evaluate_report_quantities(evaluator, side);
    assertions_evaluate(evaluator, side);
    report_inputs(evaluator, side);
    report_sweeps(evaluator, side);
    return side;
}
