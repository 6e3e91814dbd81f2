/* collect.c: from statements to declarations. Says what stands where it cannot, what is declared or set
 * twice, and which attributes do not exist; evaluates nothing. */
#include <string.h>

#include "base/buffer.h"
#include "base/intern.h"
#include "sema/internal.h"

/* Kinds the grammar knows and later versions fill in. */
static const char *const unsupported_kinds[] = {"search", "fleet"};

const char *path_text(struct plan *plan, const struct path *path, size_t first, size_t count)
{
    if (count == 1)
        return path->parts[first].text;
    struct buffer text = buffer_in(plan->arena);
    for (size_t i = 0; i < count; i++) {
        if (i)
            buffer_byte(&text, '.');
        buffer_text(&text, path->parts[first + i].text);
    }
    return intern(plan->strings, buffer_string(&text), text.length);
}

struct decl *decl_new(struct plan *plan, enum kind kind, struct module *module)
{
    struct decl *decl = ARENA_NEW(plan->arena, struct decl);
    decl->kind = kind;
    decl->catalogue = module->catalogue;
    decl->state = ARENA_NEW(plan->arena, struct decl_state);
    decl->state->module = module;
    return decl;
}

void poison(struct decl *decl)
{
    for (; decl && !decl->poisoned; decl = decl->parent)
        decl->poisoned = true;
}

/* ---- attributes --------------------------------------------------------------------------- */

/* `source.bandwidth = "..."`: true when the attribute is of that form, which is then stored or reported. */
static bool collect_provenance(struct plan *plan, struct decl *decl, const char *name,
                               const struct stmt *stmt)
{
    static const struct {
        const char *prefix;
        enum attribute attribute;
    } forms[] = {{"source.", ATTR_SOURCE}, {"confidence.", ATTR_CONFIDENCE}};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        size_t length = strlen(forms[i].prefix);
        if (strncmp(name, forms[i].prefix, length) != 0)
            continue;
        const char *about = name + length;
        if (attribute_find(decl->kind, about) == ATTR_COUNT && !attribute_is_group(decl->kind, about))
            return false;
        const struct expr *value = stmt->attribute.values->items[0].value;
        const char *text = value->kind == EXPR_STRING ? value->string.text
                           : value->kind == EXPR_PATH ? path_text(plan, &value->path, 0, value->path.count)
                                                      : NULL;
        if (!text || (forms[i].attribute == ATTR_CONFIDENCE &&
                      !word_in(attribute_info(ATTR_CONFIDENCE)->detail, text))) {
            diag_add(plan->diags, DIAG_E0208, value->span, "`%s` takes %s", name,
                     forms[i].attribute == ATTR_SOURCE
                         ? "a text in quotes"
                         : words_text(plan->arena, attribute_info(ATTR_CONFIDENCE)->detail));
            poison(decl);
            return true;
        }
        *VEC_PUSH(plan->arena, decl->state->provenance) =
            (struct provenance){forms[i].attribute, intern_text(plan->strings, about), text};
        return true;
    }
    return false;
}

static void report_unknown_attribute(struct plan *plan, const struct decl *decl, const char *name,
                                     struct span span)
{
    enum kind kind = decl->kind == KIND_SWEEP ? KIND_SCENARIO : decl->kind;
    struct diag *diag =
        diag_add(plan->diags, DIAG_E0202, span, "a `%s` has no attribute `%s`", kind_name(kind), name);
    const char *advice = attribute_advice(kind, name);
    if (advice) {
        diag_note(plan->diags, diag, "%s", advice);
        return;
    }
    const char *near = attribute_suggest(kind, name);
    if (near) {
        diag_fix(plan->diags, diag, span, near, "did you mean `%s`?", near);
        return;
    }
    for (enum kind other = 0; other < KIND_COUNT; other++)
        if (other != kind && other != KIND_SWEEP && attribute_find(other, name) != ATTR_COUNT) {
            diag_note(plan->diags, diag, "`%s` is an attribute of a `%s`", name, kind_name(other));
            return;
        }
}

static const struct slot *slot_find(const struct decl *decl, enum attribute attribute)
{
    const struct decl_state *state = decl->state;
    for (size_t i = 0; i < state->slots.count; i++)
        if (state->slots.items[i].attribute == attribute)
            return &state->slots.items[i];
    return NULL;
}

static void collect_attribute(struct plan *plan, struct decl *decl, const char *name, struct span span,
                              const struct stmt *stmt)
{
    if (collect_provenance(plan, decl, name, stmt))
        return;
    enum attribute attribute = attribute_lookup(plan->attributes, decl->kind, name);
    if (attribute == ATTR_COUNT && decl->kind == KIND_MEASURED) /* of a variant of its scenario */
        attribute = attribute_lookup(plan->attributes, KIND_SCENARIO, name);
    if (attribute == ATTR_COUNT) {
        report_unknown_attribute(plan, decl, name, span);
        poison(decl);
        return;
    }
    const struct slot *first = slot_find(decl, attribute);
    if (first) {
        struct diag *diag = diag_add(plan->diags, DIAG_E0204, span, "`%s` is set twice", name);
        diag_note_at(plan->diags, diag, first->span, "it was first set here");
        poison(decl);
        return;
    }
    const struct item_list *values = stmt->attribute.values;
    bool list = decl->kind == KIND_SWEEP || attribute_info(attribute)->type == TYPE_WORDS;
    if (!list && (values->count != 1 || values->items[0].high)) {
        struct span rest = span_join(values->items[0].span, values->items[values->count - 1].span);
        struct diag *diag = diag_add(plan->diags, DIAG_E0215, rest, "`%s` takes one value", name);
        if (decl->kind == KIND_SCENARIO)
            diag_note(plan->diags, diag, "to try several, write `sweep %s { %s = ... }`", decl->name, name);
        poison(decl);
        return;
    }
    *VEC_PUSH(plan->arena, decl->state->slots) = (struct slot){
        .attribute = attribute, .span = span, .values = values, .origin = ORIGIN_PLAN, .owner = decl};
}

/* ---- bodies --------------------------------------------------------------------------------- */

static void collect_body(struct plan *plan, struct decl *decl, const struct stmt_list *body,
                         const char *prefix);

static void collect_declaration(struct plan *plan, struct module *module, struct decl *outer,
                                const struct stmt *stmt);

static const char *prefixed(struct plan *plan, const char *prefix, const struct path *path)
{
    const char *name = path_text(plan, path, 0, path->count);
    if (!prefix)
        return name;
    return intern_text(plan->strings, arena_printf(plan->arena, "%s.%s", prefix, name));
}

static void report_misplaced(struct plan *plan, const struct stmt *stmt, const char *what, const char *where)
{
    diag_add(plan->diags, DIAG_E0210, stmt->head, "%s cannot stand %s", what, where);
}

/* A word for a statement that is not an attribute. */
static const char *stmt_word(const struct stmt *stmt)
{
    static const char *const words[] = {
        [STMT_LET] = "`let`",       [STMT_IMPORT] = "`import`",     [STMT_COMPARE] = "`compare`",
        [STMT_ASSERT] = "`assert`", [STMT_REQUIRE] = "`require`",   [STMT_GUARD] = "`guard`",
        [STMT_SHOW] = "`show`",     [STMT_MINIMIZE] = "`minimize`", [STMT_MAXIMIZE] = "`maximize`",
    };
    return words[stmt->kind];
}

static void collect_body_statement(struct plan *plan, struct decl *decl, const struct stmt *stmt,
                                   const char *prefix)
{
    const char *where = arena_printf(plan->arena, "inside a `%s`", kind_name(decl->kind));
    switch (stmt->kind) {
    case STMT_ATTRIBUTE:
        collect_attribute(plan, decl, prefixed(plan, prefix, &stmt->attribute.path), stmt->head, stmt);
        return;
    case STMT_GROUP:
        collect_body(plan, decl, stmt->group.body, prefixed(plan, prefix, &stmt->group.path));
        return;
    case STMT_DECLARATION:
        if (decl->kind == KIND_MODEL && strcmp(stmt->declaration.kind, "block") == 0)
            collect_declaration(plan, decl->state->module, decl, stmt);
        else if (stmt->declaration.hoisted)
            collect_declaration(plan, decl->state->module, NULL, stmt);
        else {
            report_misplaced(plan, stmt, arena_printf(plan->arena, "a `%s`", stmt->declaration.kind), where);
            poison(decl);
        }
        return;
    case STMT_SHOW:
        if (decl->kind == KIND_SWEEP)
            return; /* read by view.c */
        break;
    case STMT_REQUIRE:
    case STMT_MINIMIZE:
    case STMT_MAXIMIZE:
        if (decl->kind != KIND_SWEEP)
            break;
        diag_add(plan->diags, DIAG_E0209, stmt->head, "%s in a `sweep` is not supported in this version",
                 stmt_word(stmt));
        poison(decl);
        return;
    default: break;
    }
    report_misplaced(plan, stmt, stmt_word(stmt), where);
    poison(decl);
}

static void collect_body(struct plan *plan, struct decl *decl, const struct stmt_list *body,
                         const char *prefix)
{
    if (body->incomplete) /* a syntax error took something away, which must not be missed again */
        poison(decl);
    for (size_t i = 0; i < body->count; i++)
        collect_body_statement(plan, decl, body->items[i], prefix);
}

/* ---- declarations --------------------------------------------------------------------------- */

/* What a declaration of this kind is called after: itself, or the scenario it is about. */
static bool names_itself(enum kind kind)
{
    return kind != KIND_SWEEP && kind != KIND_MEASURED && kind != KIND_REPORT;
}

static struct decl *declared_before(const struct module *module, const struct decl *outer, enum kind kind,
                                    const char *name)
{
    if (!outer)
        return map_get(module->declarations[kind], name);
    for (size_t i = 0; i < outer->state->own_blocks.count; i++)
        if (outer->state->own_blocks.items[i]->name == name)
            return outer->state->own_blocks.items[i];
    return NULL;
}

static void remember(struct plan *plan, struct module *module, struct decl *outer, struct decl *decl)
{
    if (decl->name && names_itself(decl->kind)) {
        struct decl *first = declared_before(module, outer, decl->kind, decl->name);
        if (first) {
            struct diag *diag = diag_add(plan->diags, DIAG_E0203, decl->name_span,
                                         "%s `%s` is declared twice", kind_name(decl->kind), decl->name);
            diag_note_at(plan->diags, diag, first->name_span, "it was first declared here");
            return;
        }
    }
    if (outer) {
        *VEC_PUSH(plan->arena, outer->state->own_blocks) = decl;
        return;
    }
    if (decl->name && names_itself(decl->kind))
        map_put(module->declarations[decl->kind], decl->name, decl);
    *VEC_PUSH(plan->arena, module->order) = decl;
}

static bool supported_kind(struct plan *plan, const struct stmt *stmt)
{
    for (size_t i = 0; i < sizeof unsupported_kinds / sizeof unsupported_kinds[0]; i++)
        if (strcmp(stmt->declaration.kind, unsupported_kinds[i]) == 0) {
            diag_add(plan->diags, DIAG_E0209, stmt->head, "`%s` is not supported in this version",
                     stmt->declaration.kind);
            return false;
        }
    return true;
}

static void collect_declaration(struct plan *plan, struct module *module, struct decl *outer,
                                const struct stmt *stmt)
{
    if (!supported_kind(plan, stmt))
        return;
    enum kind kind = kind_from_name(stmt->declaration.kind);
    if (kind == KIND_COUNT || (kind == KIND_BLOCK && !outer)) {
        report_misplaced(plan, stmt, arena_printf(plan->arena, "a `%s`", stmt->declaration.kind),
                         "at the top level; it belongs into a `model`");
        return;
    }
    struct decl *decl = decl_new(plan, kind, module);
    decl->name = stmt->declaration.name.text;
    decl->span = stmt->head;
    decl->name_span = decl->name ? stmt->declaration.name.span : stmt->head;
    decl->parent = outer;
    decl->state->stmt = stmt;
    decl->state->base_path = stmt->declaration.base;
    if (!decl->name && kind != KIND_REPORT) {
        diag_add(plan->diags, DIAG_E0214, stmt->head, "this `%s` has no name", kind_name(kind));
        decl->poisoned = true;
    }
    remember(plan, module, outer, decl);
    collect_body(plan, decl, stmt->declaration.body, NULL);
}

static void collect_let(struct plan *plan, struct module *module, const struct stmt *stmt)
{
    struct let *first = map_get(module->lets, stmt->let.name.text);
    if (first) {
        struct diag *diag = diag_add(plan->diags, DIAG_E0203, stmt->let.name.span,
                                     "`let %s` is declared twice", stmt->let.name.text);
        diag_note_at(plan->diags, diag, first->name.span, "it was first declared here");
        return;
    }
    struct let *let = ARENA_NEW(plan->arena, struct let);
    let->name = stmt->let.name;
    let->expr = stmt->let.value;
    let->module = module;
    map_put(module->lets, let->name.text, let);
    *VEC_PUSH(plan->arena, module->let_order) = let;
}

static bool is_table(const char *file)
{
    size_t length = strlen(file);
    return length >= 4 && strcmp(file + length - 4, ".csv") == 0;
}

/* `import "runs.csv"`: measurements whose rows name their scenarios. */
static void collect_table(struct plan *plan, struct module *module, const struct stmt *stmt)
{
    if (stmt->import.as.text) {
        diag_add(plan->diags, DIAG_E0210, stmt->import.as.span,
                 "a table of measurements declares no names, so it takes no `as`");
        return;
    }
    struct decl *decl = decl_new(plan, KIND_MEASURED, module);
    decl->span = decl->name_span = stmt->import.file.span;
    struct value file = {.type = VALUE_TEXT, .text = stmt->import.file.text};
    *VEC_PUSH(plan->arena, decl->state->slots) = (struct slot){.attribute = ATTR_MEASURED_FILE,
                                                               .span = stmt->import.file.span,
                                                               .value = file,
                                                               .origin = ORIGIN_PLAN,
                                                               .owner = decl};
    *VEC_PUSH(plan->arena, module->order) = decl;
}

static void collect_import(struct plan *plan, struct module *module, const struct stmt *stmt)
{
    if (is_table(stmt->import.file.text)) {
        collect_table(plan, module, stmt);
        return;
    }
    struct module *imported = module_import(plan, module, stmt);
    if (!imported)
        return;
    if (!stmt->import.as.text)
        *VEC_PUSH(plan->arena, module->imports) = imported;
    else if (map_put(module->aliases, stmt->import.as.text, imported))
        diag_add(plan->diags, DIAG_E0203, stmt->import.as.span, "two imports are called `%s`",
                 stmt->import.as.text);
}

void collect_module(struct plan *plan, struct module *module)
{
    const struct stmt_list *statements = module->tree->statements;
    for (size_t i = 0; i < statements->count; i++) {
        const struct stmt *stmt = statements->items[i];
        switch (stmt->kind) {
        case STMT_DECLARATION: collect_declaration(plan, module, NULL, stmt); break;
        case STMT_LET: collect_let(plan, module, stmt); break;
        case STMT_IMPORT: collect_import(plan, module, stmt); break;
        case STMT_COMPARE:
        case STMT_ASSERT:
        case STMT_GUARD: break; /* read by view.c */
        case STMT_ATTRIBUTE:
        case STMT_GROUP:
            report_misplaced(plan, stmt, "an attribute", "at the top level; a named value is written `let`");
            break;
        default: report_misplaced(plan, stmt, stmt_word(stmt), "at the top level"); break;
        }
    }
}
