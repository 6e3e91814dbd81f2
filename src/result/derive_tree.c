/* derive_tree.c: a figure as a tree of the values it was made from, down to attributes and where they were
 * written. What was taken apart already is named again, not repeated. */
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/intern.h"
#include "base/map.h"
#include "result/derive_sheet.h"
#include "result/message.h"
#include "result/name.h"
#include "source/source.h"

/* A value that stands in the tree. */
struct standing {
    struct decl *decl;
    const void *what; /* the row, or the setting */
};

struct tree_job {
    struct evaluator *evaluator;
    struct plan *plan;
    struct arena *arena;
    VEC(struct standing) standing;
    bool one_level; /* other quantities are named, not taken apart */
    size_t depth;   /* quantities met so far, where that matters */
};

static bool stands(struct tree_job *job, struct decl *decl, const void *what)
{
    for (size_t i = 0; i < job->standing.count; i++)
        if (job->standing.items[i].decl == decl && job->standing.items[i].what == what)
            return true;
    *VEC_PUSH(job->arena, job->standing) = (struct standing){decl, what};
    return false;
}

static void set_value(struct tree_job *job, struct derive_node *node, struct report_quantity value,
                      struct dim dim)
{
    node->value = value;
    node->text = evaluate_value_text(job->evaluator, &value, dim);
    node->exact = derive_exact(job->arena, &value);
}

/* ---- inputs ----------------------------------------------------------------------------------------- */

/* Why a default is what it is: the assumption that the report lists, if there is one. */
static const char *reason_of(struct tree_job *job, struct decl *decl, enum attribute attribute)
{
    const char *name = attribute_info(attribute)->name;
    if (decl->kind == KIND_SCENARIO) {
        struct assumption *assumptions;
        const struct evaluation *evaluation = evaluate_scenario(job->evaluator, decl);
        size_t count = evaluation_assumptions(job->evaluator, evaluation, &assumptions);
        for (size_t i = 0; i < count; i++)
            if (strcmp(assumptions[i].what, name) == 0)
                return assumptions[i].reason;
    }
    const char *fallback = attribute_info(attribute)->fallback;
    if (!fallback)
        return message_pattern(evaluator_language(job->evaluator), M_UNLESS_DECLARED);
    return MESSAGE_TEXT(job->arena, evaluator_language(job->evaluator), M_VALUE_UNLESS_DECLARED, fallback);
}

static struct derive_origin origin_of(struct tree_job *job, const struct derive_target *target)
{
    const struct setting *setting = target->setting;
    struct derive_origin origin = {.origin = setting->origin, .confidence = setting->confidence};
    origin.source = setting->source;
    if (setting->origin == ORIGIN_DEFAULT) {
        origin.reason = reason_of(job, target->decl, target->attribute);
        return origin;
    }
    origin.owner = setting->owner ? setting->owner->name : NULL;
    const struct sources *sources = plan_sources(job->plan);
    if (setting->origin != ORIGIN_COMMAND_LINE && setting->origin != ORIGIN_SWEEP &&
        setting->span.file < sources_count(sources) && setting->span.end > 0) {
        unsigned column;
        const struct source *source = sources_get(sources, setting->span.file);
        origin.file = source->path;
        source_position(source, setting->span.start, &origin.line, &column);
    }
    return origin;
}

static struct derive_node *input_node(struct tree_job *job, const struct derive_target *target,
                                      const char *name)
{
    struct report_quantity value;
    struct dim dim;
    if (!derive_value(job->evaluator, target, name, &value, &dim))
        return NULL;
    struct derive_node *node = ARENA_NEW(job->arena, struct derive_node);
    const struct attribute_info *info = attribute_info(target->attribute);
    *node = (struct derive_node){.name = name, .is_input = true, .doc = info->doc};
    node->full =
        quantity_full_name(job->arena, target->decl->name ? target->decl->name : "report", info->name);
    set_value(job, node, value, dim);
    node->origin = origin_of(job, target);
    node->above = stands(job, target->decl, target->setting);
    return node;
}

struct derive_node *derive_input(struct tree_job *job, const struct derive_target *target, const char *name)
{
    return input_node(job, target, name);
}

/* ---- quantities ------------------------------------------------------------------------------------- */

static struct derive_node *quantity_node(struct tree_job *job, struct decl *decl,
                                         const struct quantity_info *row, const char *name);

/* Adds what a name of `decl` stands for, unless it is there. `name` stays as the formula writes it. */
static void add_input(struct tree_job *job, struct derive_node *node, struct decl *decl,
                      struct formula_name *name)
{
    struct derive_target target;
    for (size_t i = 0; i < node->inputs.count; i++)
        if (strcmp(node->inputs.items[i]->name, name->path) == 0)
            return;
    if (!derive_resolve(job->evaluator, decl, name, &target))
        return;
    struct derive_node *input = target.setting ? input_node(job, &target, name->path)
                                               : quantity_node(job, target.decl, target.row, name->path);
    if (input)
        *VEC_PUSH(job->arena, node->inputs) = input;
}

static void add_formula(struct tree_job *job, struct derive_node *node, struct decl *decl, const char *text)
{
    struct formula *formula = derive_formula(job->evaluator, text);
    node->formula = formula->text;
    node->shown = formula->shown;
    node->substituted = derive_substitute(job->evaluator, decl, formula);
    for (size_t i = 0; i < formula->pieces.count; i++)
        if (formula->pieces.items[i].name)
            add_input(job, node, decl, formula->pieces.items[i].name);
}

/* What the value was computed from; inputs that the declaration does not have are left out. */
static void add_reads(struct tree_job *job, struct derive_node *node, struct decl *decl, const char *names)
{
    while (names && *names) {
        size_t length = strcspn(names, " ");
        struct formula_name name = {.path = arena_strndup(job->arena, names, length)};
        struct derive_target target;
        /* Its own attribute of the same name is no input of a quantity, but `params` of a model is. */
        if (derive_resolve(job->evaluator, decl, &name, &target) &&
            (target.setting || strcmp(name.path, node->name) != 0))
            add_input(job, node, decl, &name);
        names += length + (names[length] == ' ');
    }
}

/* Blocks of a model say what the model itself does not. */
static void add_blocks(struct tree_job *job, struct derive_node *node, struct decl *decl, const char *names)
{
    for (size_t i = 0; decl->kind == KIND_MODEL && i < decl->block_count; i++) {
        struct decl *block = decl->blocks[i];
        for (const char *at = names; at && *at;) {
            size_t length = strcspn(at, " ");
            const char *path = arena_strndup(job->arena, at, length);
            enum attribute attribute = attribute_find(KIND_BLOCK, path);
            const struct setting *setting =
                attribute != ATTR_COUNT ? plan_setting(job->plan, block, attribute) : NULL;
            at += length + (at[length] == ' ');
            if (!setting || !setting->owner || setting->owner->kind != KIND_BLOCK)
                continue;
            struct derive_target target = {block, setting, attribute, NULL};
            struct derive_node *input =
                input_node(job, &target, quantity_full_name(job->arena, block->name, path));
            if (input)
                *VEC_PUSH(job->arena, node->inputs) = input;
        }
    }
}

/* Completes what a worksheet left: names that are no parts are what they are in the declaration. A part whose
 * arithmetic does not give its value goes without a formula; false: so does the node itself. */
static bool complete(struct tree_job *job, struct derive_node *node, struct decl *decl)
{
    for (size_t i = 0; i < node->inputs.count; i++)
        if (node->inputs.items[i]->part && node->inputs.items[i]->formula &&
            !complete(job, node->inputs.items[i], decl)) {
            struct derive_node *part = node->inputs.items[i];
            part->formula = part->shown = part->substituted = NULL;
            part->inputs.count = 0;
        }
    struct formula *formula = derive_formula(job->evaluator, node->formula);
    for (size_t i = 0; i < formula->pieces.count; i++)
        if (formula->pieces.items[i].name)
            add_input(job, node, decl, formula->pieces.items[i].name);
    node->shown = formula->shown;
    node->substituted = derive_substitute_inputs(job->arena, node);
    return derive_reproduces(node);
}

/* Figures about memory tell bytes as a driver reports them. */
static bool is_memory(const char *name)
{
    static const char *const names[] = {"memory.", "running", "max_batch", "max_context", "kv_tokens"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* The worksheet of a quantity, where no line of a table says how it is computed. */
static bool add_sheet(struct tree_job *job, struct derive_node *node, struct decl *decl,
                      enum quantity quantity)
{
    struct quantity_input gathered;
    if (!evaluate_gather(job->evaluator, decl, &gathered))
        return false;
    struct sheet sheet = {.job = job,
                          .evaluator = job->evaluator,
                          .arena = job->arena,
                          .decl = decl,
                          .model = gathered.model,
                          .params = gathered.params,
                          .value = node->value.value,
                          .binary = is_memory(quantity_info(quantity)->name)};
    if (decl->kind == KIND_SCENARIO) {
        sheet.evaluation = evaluate_scenario(job->evaluator, decl);
        sheet.input = &sheet.evaluation->binding.input;
        sheet.result = &sheet.evaluation->result;
    }
    size_t standing = job->standing.count;
    if (sheet_fill(&sheet, quantity, node) && complete(job, node, decl))
        return true;
    node->formula = node->shown = node->substituted = NULL;
    node->inputs.count = 0;
    job->standing.count = standing; /* what was tried does not stand in the tree */
    return false;
}

/* "0 B": none of it, for reasons that the inputs are. */
static const char *zero_text(struct arena *arena, const char *unit)
{
    return strcmp(unit, "1") == 0 ? "0" : arena_printf(arena, "0 %s", unit);
}

static struct derive_node *quantity_node(struct tree_job *job, struct decl *decl,
                                         const struct quantity_info *row, const char *name)
{
    bool named = job->one_level && job->depth++ > 0;
    struct derive_node *node = ARENA_NEW(job->arena, struct derive_node);
    *node = (struct derive_node){.name = name,
                                 .label = quantity_label(row, evaluator_language(job->evaluator)),
                                 .doc = quantity_doc(row, evaluator_language(job->evaluator)),
                                 .source = derive_source(job->evaluator, row->source)};
    struct report_quantity value = evaluate_row(job->evaluator, decl, row->id);
    node->full = value.name;
    set_value(job, node, value, evaluate_dim(job->evaluator, decl, row->id));
    node->above = stands(job, decl, row);
    if (value.type == QUANTITY_ABSENT)
        return node;
    const char *formula = evaluate_formula(job->evaluator, decl, row->id);
    if (node->above || named)
        return node;
    if (formula) {
        add_formula(job, node, decl, formula);
        return node;
    }
    const char *names = derive_reads(row->id);
    formula = derive_candidate(job->evaluator, decl, row->id, &value);
    if (formula) {
        add_formula(job, node, decl, formula);
        return node;
    }
    bool none = value.type == QUANTITY_NUMBER && value.value == 0;
    if (!none && add_sheet(job, node, decl, row->id))
        return node;
    add_reads(job, node, decl, names);
    add_blocks(job, node, decl, names);
    if (none)
        node->formula = node->shown = node->substituted = zero_text(job->arena, value.unit);
    return node;
}

static struct derive_node *derive(struct evaluator *evaluator, struct decl *decl, enum quantity quantity,
                                  bool one_level)
{
    struct plan *plan = evaluator_plan(evaluator);
    struct tree_job job = {
        .evaluator = evaluator, .plan = plan, .arena = plan_arena(plan), .one_level = one_level};
    const struct quantity_info *row = quantity_info(quantity);
    return quantity_node(&job, decl, row, row->name);
}

struct derive_node *derive_tree(struct evaluator *evaluator, struct decl *decl, enum quantity quantity)
{
    return derive(evaluator, decl, quantity, false);
}

struct derive_node *derive_line(struct evaluator *evaluator, struct decl *decl, enum quantity quantity)
{
    return derive(evaluator, decl, quantity, true);
}

/* ---- what-if ---------------------------------------------------------------------------------------- */

static void collect(struct map *found, struct strings *names, const struct derive_node *node)
{
    const char *key = intern_text(names, node->name);
    if (!node->part && !map_get(found, key))
        map_put(found, key, (void *)node);
    for (size_t i = 0; i < node->inputs.count; i++)
        collect(found, names, node->inputs.items[i]);
}

static void mark(struct map *found, struct strings *names, struct derive_node *node)
{
    const struct derive_node *other = node->part ? NULL : map_get(found, intern_text(names, node->name));
    if (other) {
        bool numbers = node->exact && other->exact;
        if (strcmp(numbers ? node->exact : node->text, numbers ? other->exact : other->text) != 0)
            node->was = strcmp(node->text, other->text) != 0 || !numbers ? other->text : other->exact;
    }
    for (size_t i = 0; i < node->inputs.count; i++)
        mark(found, names, node->inputs.items[i]);
}

void derive_compare(struct arena *arena, struct derive_node *tree, const struct derive_node *other)
{
    struct map *found = map_new(arena);
    struct strings *names = strings_new(arena);
    collect(found, names, other);
    mark(found, names, tree);
}
