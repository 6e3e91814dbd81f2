/* plan.c: from a path to a checked plan, and the questions others ask of it. */
#include "sema/plan.h"

#include <string.h>

#include "base/intern.h"
#include "sema/internal.h"
#include "sema/stdlib_data.h"
#include "syntax/parse.h"

/* ---- --set ---------------------------------------------------------------------------------------- */

/* The declaration whose name begins `text` and is followed by a dot; the longest name wins, since names may
 * hold dots themselves. */
static struct decl *override_target(struct plan *plan, const char *text, size_t length, size_t *name_length)
{
    struct decl *found = NULL;
    *name_length = 0;
    for (size_t i = 0; i < plan->plan_modules.count; i++) {
        const struct module *module = plan->plan_modules.items[i];
        for (size_t j = 0; j < module->order.count; j++) {
            struct decl *decl = module->order.items[j];
            size_t size = decl->name ? strlen(decl->name) : 0;
            bool own_name = decl->kind != KIND_SWEEP && decl->kind != KIND_MEASURED;
            if (own_name && size > *name_length && size < length && text[size] == '.' &&
                memcmp(text, decl->name, size) == 0) {
                found = decl;
                *name_length = size;
            }
        }
    }
    return found;
}

static void apply_override(struct plan *plan, const char *text)
{
    uint32_t file = sources_add(plan->sources, "--set", text, strlen(text), false);
    const char *equals = strchr(text, '=');
    struct span whole = {file, 0, (uint32_t)strlen(text)};
    if (!equals) {
        diag_add(plan->diags, DIAG_E0404, whole, "`--set` takes `name.attribute=value`");
        return;
    }
    size_t left = (size_t)(equals - text), name_length;
    while (left && text[left - 1] == ' ')
        left--;
    struct decl *decl = override_target(plan, text, left, &name_length);
    struct span left_span = {file, 0, (uint32_t)left};
    if (!decl) {
        diag_add(plan->diags, DIAG_E0404, left_span, "the plan declares nothing that `%.*s` could belong to",
                 (int)left, text);
        return;
    }
    const char *name = intern(plan->strings, text + name_length + 1, left - name_length - 1);
    enum attribute attribute = attribute_lookup(plan->attributes, decl->kind, name);
    if (attribute == ATTR_COUNT) {
        struct diag *diag = diag_add(plan->diags, DIAG_E0404, left_span, "a `%s` has no attribute `%s`",
                                     kind_name(decl->kind), name);
        const char *near = attribute_suggest(decl->kind, name);
        if (near)
            diag_note(plan->diags, diag, "did you mean `%s`?", near);
        return;
    }
    /* The value is parsed in a file of its own, padded so that columns stay those of the argument. */
    char *padded = arena_strdup(plan->arena, text);
    memset(padded, ' ', (size_t)(equals - text) + 1);
    uint32_t value_file = sources_add(plan->sources, "--set", padded, strlen(padded), false);
    struct expr *expr = parse_expression(plan->arena, plan->strings, plan->sources, value_file, plan->diags);
    if (!expr)
        return;
    struct item_list *list = ARENA_NEW(plan->arena, struct item_list);
    list->items = ARENA_NEW(plan->arena, struct list_item);
    list->items[0] = (struct list_item){.value = expr, .span = expr->span};
    list->count = list->capacity = 1;
    *VEC_PUSH(plan->arena, decl->state->slots) = (struct slot){.attribute = attribute,
                                                               .span = left_span,
                                                               .values = list,
                                                               .origin = ORIGIN_COMMAND_LINE,
                                                               .owner = decl};
}

/* ---- loading -------------------------------------------------------------------------------------- */

static struct plan *plan_new(struct arena *arena, struct strings *strings, struct sources *sources,
                             struct diags *diags, struct plan_options options)
{
    struct plan *plan = ARENA_NEW(arena, struct plan);
    plan->arena = arena;
    plan->strings = strings;
    plan->sources = sources;
    plan->diags = diags;
    plan->options = options;
    plan->attributes = attribute_index_new(arena, strings);
    plan->modules = map_new(arena);
    size_t stdlib_count;
    stdlib_files(&stdlib_count);
    plan->stdlib_modules = ARENA_ARRAY(arena, struct module *, stdlib_count);
    return plan;
}

struct plan *plan_empty(struct arena *arena, struct strings *strings, struct sources *sources,
                        struct diags *diags, struct plan_options options)
{
    struct plan *plan = plan_new(arena, strings, sources, diags, options);
    module_empty_root(plan);
    return plan;
}

static void finish_loading(struct plan *plan)
{
    if (!plan->root->tree->statements->count && !diags_errors(plan->diags))
        diag_add(plan->diags, DIAG_E0226, (struct span){plan->root->tree->file, 0, 0}, "the plan is empty");
    for (size_t i = 0; i < plan->options.override_count; i++)
        apply_override(plan, plan->options.overrides[i]);
    view_collect(plan);
}

struct plan *plan_load(struct arena *arena, struct strings *strings, struct sources *sources,
                       struct diags *diags, const char *path, struct plan_options options,
                       const char **unreadable)
{
    struct plan *plan = plan_new(arena, strings, sources, diags, options);
    plan->view.path = strcmp(path, "-") == 0 ? "<stdin>" : path;
    module_load_root(plan, path, unreadable);
    if (!*unreadable)
        finish_loading(plan);
    return plan;
}

struct plan *plan_load_text(struct arena *arena, struct strings *strings, struct sources *sources,
                            struct diags *diags, const char *path, const char *text, size_t length,
                            struct plan_options options)
{
    struct plan *plan = plan_new(arena, strings, sources, diags, options);
    plan->view.path = path;
    module_load_text(plan, path, text, length);
    finish_loading(plan);
    return plan;
}

void plan_set_reader(struct plan *plan, struct quantity_reader reader)
{
    plan->reader = reader;
}

void plan_set_old(struct plan *plan, const struct old_reader *reader)
{
    plan->old = reader;
}

/* ---- checking --------------------------------------------------------------------------------------- */

static void check_decl(struct plan *plan, struct decl *decl)
{
    size_t count;
    decl_bind_base(plan, decl);
    if (decl->kind == KIND_SWEEP || rows_expand(decl))
        return; /* view.c and rows.c evaluate their values in the scenario */
    for (size_t i = 0; i < decl->state->slots.count; i++) {
        enum attribute attribute = decl->state->slots.items[i].attribute;
        if (attribute_info(attribute)->type == TYPE_WORDS)
            plan_words(plan, decl, attribute, &count);
        else
            plan_setting(plan, decl, attribute);
    }
    if (decl->kind != KIND_MODEL)
        return;
    decl_bind_blocks(plan, decl);
    for (size_t i = 0; i < decl->block_count; i++)
        if (decl->blocks[i]->state->stmt)
            check_decl(plan, decl->blocks[i]);
}

static void inherit_poison(struct decl *decl)
{
    for (const struct decl *base = decl->base; base; base = base->base)
        if (base->poisoned)
            poison(decl);
    for (size_t i = 0; i < decl->block_count; i++)
        inherit_poison(decl->blocks[i]);
}

void plan_check(struct plan *plan)
{
    for (size_t i = 0; i < plan->plan_modules.count; i++) {
        struct module *module = plan->plan_modules.items[i];
        for (size_t j = 0; j < module->let_order.count; j++)
            let_value(plan, module->let_order.items[j]);
        for (size_t j = 0; j < module->order.count; j++)
            check_decl(plan, module->order.items[j]);
    }
    for (size_t i = 0; i < plan->plan_modules.count; i++)
        for (size_t j = 0; j < plan->plan_modules.items[i]->order.count; j++)
            inherit_poison(plan->plan_modules.items[i]->order.items[j]);
    view_check(plan);
}

/* ---- questions -------------------------------------------------------------------------------------- */

struct decl *plan_find(struct plan *plan, enum kind kind, const char *name)
{
    return module_find(plan, NULL, kind, intern_text(plan->strings, name));
}

struct value plan_evaluate(struct plan *plan, const struct expr *expr)
{
    return evaluate(plan, (struct scope){plan->root, NULL}, expr);
}

struct value plan_evaluate_in(struct plan *plan, struct decl *decl, const struct expr *expr)
{
    return evaluate(plan, (struct scope){decl->state->module, decl}, expr);
}

const struct plan_view *plan_view(const struct plan *plan)
{
    return &plan->view;
}

struct arena *plan_arena(struct plan *plan)
{
    return plan->arena;
}

struct diags *plan_diags(struct plan *plan)
{
    return plan->diags;
}

struct sources *plan_sources(struct plan *plan)
{
    return plan->sources;
}

struct strings *plan_strings(struct plan *plan)
{
    return plan->strings;
}
