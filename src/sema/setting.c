/* setting.c: the attributes of a declaration, evaluated on first use and remembered. Written values come
 * from the declaration, its bases, and for a block its model, in this order; then the table's default. */
#include <string.h>

#include "base/intern.h"
#include "sema/internal.h"
#include "syntax/parse.h"

struct found_slot {
    const struct slot *slot;
    struct decl *owner;
};

static const struct slot *own_slot(const struct decl *decl, enum attribute attribute)
{
    const struct decl_state *state = decl->state;
    for (size_t i = state->slots.count; i-- > 0;) /* the latest wins: --set comes after what is written */
        if (state->slots.items[i].attribute == attribute)
            return &state->slots.items[i];
    return NULL;
}

static bool in_scope(enum kind kind, enum attribute attribute)
{
    return (attribute_info(attribute)->scope & (1u << kind)) != 0;
}

static struct found_slot find_slot(struct plan *plan, struct decl *decl, enum attribute attribute)
{
    for (struct decl *at = decl; at; at = at->base) {
        decl_bind_base(plan, at);
        const struct slot *slot = own_slot(at, attribute);
        if (slot)
            return (struct found_slot){slot, at};
    }
    if (decl->parent && in_scope(decl->parent->kind, attribute))
        return find_slot(plan, decl->parent, attribute);
    return (struct found_slot){NULL, NULL};
}

/* ---- provenance ----------------------------------------------------------------------------- */

static bool covers(const char *about, const char *attribute)
{
    size_t length = strlen(about);
    return strncmp(about, attribute, length) == 0 && (attribute[length] == '\0' || attribute[length] == '.');
}

/* `source.X` (or `source.GROUP`) of the declaration that wrote the figure, else its `source`. */
static const char *provenance_of(struct plan *plan, struct decl *owner, enum attribute kind,
                                 const char *attribute)
{
    for (size_t i = 0; i < owner->state->provenance.count; i++) {
        const struct provenance *entry = &owner->state->provenance.items[i];
        if (entry->kind == kind && covers(entry->name, attribute))
            return entry->text;
    }
    const struct slot *slot = own_slot(owner, kind);
    if (!slot && owner->parent)
        return provenance_of(plan, owner->parent, kind, attribute);
    if (!slot && owner->catalogue && owner->base) /* one source covers a family of the catalogue */
        return provenance_of(plan, owner->base, kind, attribute);
    if (!slot || !slot->values)
        return NULL;
    const struct expr *expr = slot->values->items[0].value;
    return expr->kind == EXPR_STRING ? expr->string.text
           : expr->kind == EXPR_PATH ? path_text(plan, &expr->path, 0, expr->path.count)
                                     : NULL;
}

static enum origin origin_of(const struct decl *decl, const struct slot *slot, const struct decl *owner)
{
    if (slot->origin != ORIGIN_PLAN)
        return slot->origin;
    if (owner->catalogue)
        return ORIGIN_CATALOGUE;
    return owner == decl ? ORIGIN_PLAN : ORIGIN_INHERITED;
}

/* ---- evaluation ----------------------------------------------------------------------------- */

static void evaluate_slot(struct plan *plan, struct decl *decl, enum attribute attribute,
                          struct found_slot found, struct setting *setting)
{
    const struct slot *slot = found.slot;
    const char *name = attribute_info(attribute)->name;
    setting->origin = origin_of(decl, slot, found.owner);
    setting->owner = found.owner;
    setting->source = provenance_of(plan, found.owner, ATTR_SOURCE, name);
    setting->confidence = provenance_of(plan, found.owner, ATTR_CONFIDENCE, name);
    if (!slot->values) {
        setting->span = slot->span;
        setting->value = slot->value;
        return;
    }
    const struct expr *expr = slot->values->items[0].value;
    struct scope scope = {found.owner->state->module, decl};
    setting->span = expr->span;
    setting->unit = expr->kind == EXPR_NUMBER ? expr->number.unit : NULL;
    setting->value = attribute_info(attribute)->type == TYPE_WORDS
                         ? (struct value){.type = VALUE_TEXT, .text = name}
                         : evaluate_item(plan, scope, attribute, decl, expr);
    if (setting->value.type == VALUE_ABSENT) {
        diag_add(plan->diags, DIAG_E0222, expr->span, "`%s` has no value: %s", name, setting->value.text);
        setting->value = value_error();
    }
}

/* A default may need other attributes (`hidden / heads`); where one of them is not set, the value is absent
 * and so is the default. The text is parsed in a file of its own, so that a fault in the table has a place.
 */
static void evaluate_default(struct plan *plan, struct decl *decl, enum attribute attribute,
                             struct setting *setting)
{
    const struct attribute_info *info = attribute_info(attribute);
    struct expr *expr = plan->defaults[attribute];
    if (!expr) {
        const char *path = arena_printf(plan->arena, "default of %s", info->name);
        uint32_t file = sources_add(plan->sources, path, info->fallback, strlen(info->fallback), true);
        expr = parse_expression(plan->arena, plan->strings, plan->sources, file, plan->diags);
        plan->defaults[attribute] = expr;
    }
    struct scope scope = {decl->state->module, decl};
    setting->origin = ORIGIN_DEFAULT;
    setting->unit = expr && expr->kind == EXPR_NUMBER ? expr->number.unit : NULL;
    setting->value = expr ? evaluate_item(plan, scope, attribute, decl, expr) : value_error();
}

static struct cached_setting *cached(struct plan *plan, struct decl *decl, enum attribute attribute)
{
    struct decl_state *state = decl->state;
    if (!state->cache)
        state->cache =
            ARENA_ARRAY(plan->arena, struct cached_setting *, attribute_total(plan->attributes, decl->kind));
    struct cached_setting **entry =
        &state->cache[attribute_position(plan->attributes, decl->kind, attribute)];
    if (!*entry)
        *entry = ARENA_NEW(plan->arena, struct cached_setting);
    return *entry;
}

static void evaluate_setting(struct plan *plan, struct decl *decl, enum attribute attribute,
                             struct found_slot found, struct cached_setting *entry)
{
    bool has_default = attribute_info(attribute)->fallback != NULL;
    if (found.slot)
        evaluate_slot(plan, decl, attribute, found, &entry->setting);
    else if (has_default)
        evaluate_default(plan, decl, attribute, &entry->setting);
    enum value_type type = entry->setting.value.type;
    bool present = (found.slot || has_default) && type != VALUE_ABSENT && type != VALUE_ERROR;
    entry->state = present ? SETTING_PRESENT : SETTING_MISSING;
    if ((found.slot || has_default) && type == VALUE_ERROR)
        poison(decl);
}

const struct setting *plan_setting(struct plan *plan, struct decl *decl, enum attribute attribute)
{
    if (!in_scope(decl->kind, attribute))
        return NULL;
    struct cached_setting *entry = cached(plan, decl, attribute);
    if (entry->state == SETTING_UNKNOWN) {
        struct found_slot found = find_slot(plan, decl, attribute);
        const char *name = attribute_info(attribute)->name;
        struct span span = found.slot ? found.slot->span : decl->span;
        struct frame frame;
        entry->state = SETTING_EVALUATING;
        if (frame_push(plan, &frame, decl, name, span)) {
            evaluate_setting(plan, decl, attribute, found, entry);
            frame_pop(plan);
        } else {
            entry->state = SETTING_MISSING;
            poison(decl);
        }
    } else if (entry->state == SETTING_EVALUATING) {
        const struct slot *slot = find_slot(plan, decl, attribute).slot;
        report_cycle(plan, decl, attribute_info(attribute)->name, slot ? slot->span : decl->span);
        poison(decl);
        return NULL;
    }
    return entry->state == SETTING_PRESENT ? &entry->setting : NULL;
}

/* ---- frames --------------------------------------------------------------------------------- */

static const char *frame_text(struct plan *plan, const struct decl *decl, const char *name)
{
    return decl && decl->name ? arena_printf(plan->arena, "%s.%s", decl->name, name) : name;
}

bool frame_push(struct plan *plan, struct frame *frame, const struct decl *decl, const char *name,
                struct span span)
{
    if (plan->depth >= EVALUATION_MAX) {
        diag_add(plan->diags, DIAG_E0206, span,
                 "`%s` stands at the end of more than %d values that need each other",
                 frame_text(plan, decl, name), EVALUATION_MAX);
        return false;
    }
    *frame = (struct frame){decl, name, plan->frame};
    plan->frame = frame;
    plan->depth++;
    return true;
}

void frame_pop(struct plan *plan)
{
    plan->frame = plan->frame->outer;
    plan->depth--;
}

void report_cycle(struct plan *plan, const struct decl *decl, const char *name, struct span span)
{
    const char *text = frame_text(plan, decl, name);
    const char *chain = text;
    for (const struct frame *at = plan->frame; at && !(at->decl == decl && strcmp(at->name, name) == 0);
         at = at->outer)
        chain = arena_printf(plan->arena, "%s → %s", frame_text(plan, at->decl, at->name), chain);
    struct diag *diag = diag_add(plan->diags, DIAG_E0212, span, "`%s` depends on itself", text);
    diag_note(plan->diags, diag, "the circle is %s → %s", text, chain);
}

/* ---- shorthands ------------------------------------------------------------------------------ */

double plan_number(struct plan *plan, struct decl *decl, enum attribute attribute, double fallback)
{
    const struct setting *setting = plan_setting(plan, decl, attribute);
    return setting && setting->value.type == VALUE_NUMBER ? setting->value.number : fallback;
}

bool plan_bool(struct plan *plan, struct decl *decl, enum attribute attribute, bool fallback)
{
    const struct setting *setting = plan_setting(plan, decl, attribute);
    return setting && setting->value.type == VALUE_BOOL ? setting->value.boolean : fallback;
}

const char *plan_text(struct plan *plan, struct decl *decl, enum attribute attribute, const char *fallback)
{
    const struct setting *setting = plan_setting(plan, decl, attribute);
    return setting && setting->value.type == VALUE_TEXT ? setting->value.text : fallback;
}

struct decl *plan_ref(struct plan *plan, struct decl *decl, enum attribute attribute)
{
    const struct setting *setting = plan_setting(plan, decl, attribute);
    return setting && setting->value.type == VALUE_DECL ? setting->value.decl : NULL;
}

bool plan_is_set(struct plan *plan, struct decl *decl, enum attribute attribute)
{
    return in_scope(decl->kind, attribute) && find_slot(plan, decl, attribute).slot != NULL;
}

const char *const *plan_words(struct plan *plan, struct decl *decl, enum attribute attribute, size_t *count)
{
    VEC(const char *) words = {0};
    *count = 0;
    if (!in_scope(decl->kind, attribute))
        return NULL;
    const struct slot *slot = find_slot(plan, decl, attribute).slot;
    for (size_t i = 0; slot && slot->values && i < slot->values->count; i++) {
        const struct expr *expr = slot->values->items[i].value;
        const char *word = expr->kind == EXPR_PATH ? path_text(plan, &expr->path, 0, expr->path.count) : "";
        if (slot->values->items[i].high || !word_in(attribute_info(attribute)->detail, word)) {
            diag_add(plan->diags, DIAG_E0208, slot->values->items[i].span, "`%s` takes %s",
                     attribute_info(attribute)->name,
                     words_text(plan->arena, attribute_info(attribute)->detail));
            poison(decl);
            continue;
        }
        *VEC_PUSH(plan->arena, words) = word;
    }
    *count = words.count;
    return words.items;
}

/* ---- variants -------------------------------------------------------------------------------- */

struct decl *plan_variant(struct plan *plan, struct decl *scenario, const char *name,
                          const enum attribute *attributes, const struct value *values, size_t count)
{
    struct decl *variant = decl_new(plan, scenario->kind, scenario->state->module);
    variant->name = intern_text(plan->strings, name);
    variant->span = scenario->span;
    variant->name_span = scenario->name_span;
    variant->base = scenario;
    variant->poisoned = scenario->poisoned;
    variant->state->base_state = BASE_BOUND;
    for (size_t i = 0; i < count; i++)
        *VEC_PUSH(plan->arena, variant->state->slots) = (struct slot){.attribute = attributes[i],
                                                                      .span = scenario->span,
                                                                      .value = values[i],
                                                                      .origin = ORIGIN_SWEEP,
                                                                      .owner = variant};
    return variant;
}
