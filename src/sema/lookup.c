/* lookup.c: what a dotted name means where it stands. Inside a declaration its own attributes come
 * first, then `let`s, then declarations; the rest of the path reads attributes, then quantities. */
#include <string.h>

#include "base/intern.h"
#include "sema/internal.h"
#include "source/jargon.h"

/* The order in which kinds are tried where a name may be any of them. */
static const enum kind lookup_order[] = {KIND_SCENARIO, KIND_MODEL,  KIND_GPU,
                                         KIND_SYSTEM,   KIND_ENGINE, KIND_FORMAT};
enum { LOOKUP_KINDS = sizeof lookup_order / sizeof lookup_order[0] };

static struct span part_span(const struct path *path, size_t first)
{
    return span_join(path->parts[first].span, path->parts[path->count - 1].span);
}

/* Skips `lib.` in `lib.h100-sxm.memory`: the module the rest is looked up in, and where it begins. */
static struct module *skip_aliases(struct plan *plan, struct scope scope, const struct path *path,
                                   size_t *first)
{
    struct module *module = scope.module;
    for (*first = 0; *first + 1 < path->count; ++*first) {
        struct module *imported = module_find_alias(plan, module, path->parts[*first].text);
        if (!imported)
            break;
        module = imported;
    }
    return module;
}

/* ---- references ------------------------------------------------------------------------------ */

/* A name may have been declared where a syntax error stands, which is one mistake and not two. */
static bool may_be_lost(const struct module *module, const struct decl *decl)
{
    if (module->tree && module->tree->statements->incomplete)
        return true;
    return decl && decl->state->stmt && decl->state->stmt->declaration.body->incomplete;
}

bool lookup_offer(struct plan *plan, struct module *from, enum kind kind, const char *name, struct diag *diag,
                  struct span span)
{
    const char *owner_end = strrchr(name, '/');
    if (owner_end && owner_end[1])
        name = owner_end + 1;
    size_t row = 0;
    for (const char *meant; (meant = jargon_meaning(name, &row)) != NULL;)
        if (module_find(plan, from, kind, intern_text(plan->strings, meant))) {
            diag_fix(plan->diags, diag, span, meant, "did you mean `%s`?", meant);
            return true;
        }
    struct kin kin;
    struct suggestion nearest = module_suggest(plan, from, kind, name, &kin);
    bool slip = suggestion_is_slip(&nearest);
    const char *near = kin.count == 1 && !slip ? kin.names[0] : suggestion_result(&nearest);
    if (kin.count > 1 && !slip)
        diag_note(plan->diags, diag, "did you mean %s?", kin_text(&kin, plan->arena));
    else if (near)
        diag_fix(plan->diags, diag, span, near, "did you mean `%s`?", near);
    return kin.count > 1 || near;
}

static void report_unknown(struct plan *plan, struct module *module, const struct path *path, size_t first,
                           enum kind kind)
{
    if (may_be_lost(module, NULL))
        return;
    const char *name = path->parts[first].text;
    struct span span = part_span(path, first);
    struct diag *diag = diag_add(plan->diags, DIAG_E0201, span, "there is no %s `%s`", kind_name(kind),
                                 path_text(plan, path, first, path->count - first));
    if (lookup_offer(plan, module, kind, name, diag, span))
        return;
    for (size_t i = 0; i < LOOKUP_KINDS; i++)
        if (module_find(plan, module, lookup_order[i], name)) {
            diag_note(plan->diags, diag, "`%s` is a %s", name, kind_name(lookup_order[i]));
            return;
        }
    diag_note(plan->diags, diag, "`perfc list %ss` prints those of the standard library", kind_name(kind));
}

struct decl *lookup_declaration(struct plan *plan, struct scope scope, const struct path *path,
                                enum kind kind, bool report)
{
    size_t first;
    struct module *module = skip_aliases(plan, scope, path, &first);
    struct decl *decl =
        path->count - first == 1 ? module_find(plan, module, kind, path->parts[first].text) : NULL;
    if (!decl && report)
        report_unknown(plan, module, path, first, kind);
    return decl;
}

/* ---- reading ---------------------------------------------------------------------------------- */

/* What is set on a declaration; a scenario's card may come from its system. */
static const struct setting *member_setting(struct plan *plan, struct decl *decl, enum attribute attribute)
{
    const struct setting *setting = plan_setting(plan, decl, attribute);
    if (setting || decl->kind != KIND_SCENARIO || attribute != ATTR_GPU)
        return setting;
    struct decl *system = plan_ref(plan, decl, ATTR_SCENARIO_SYSTEM);
    return system ? plan_setting(plan, system, ATTR_GPU) : NULL;
}

/* Reads `parts[first..]` of a declaration: an attribute, an attribute of a declaration that an attribute
 * refers to (`chat.gpu.memory`), or a quantity. *found is false when it has nothing of that name. */
static struct value read_member(struct plan *plan, struct decl *decl, const struct path *path, size_t first,
                                bool *found)
{
    size_t rest = path->count - first;
    *found = true;
    for (size_t length = rest; length >= 1; length--) {
        enum attribute attribute =
            attribute_lookup(plan->attributes, decl->kind, path_text(plan, path, first, length));
        if (attribute == ATTR_COUNT)
            continue;
        const struct setting *setting = member_setting(plan, decl, attribute);
        if (setting && length == rest)
            return setting->value;
        if (setting && setting->value.type == VALUE_DECL)
            return read_member(plan, setting->value.decl, path, first + length, found);
    }
    const char *name = path_text(plan, path, first, rest);
    struct value value;
    if (decl->poisoned)
        return value_error();
    if (plan->reader.read && plan->reader.read(plan->reader.context, decl, name, &value))
        return value;
    if (attribute_lookup(plan->attributes, decl->kind, name) != ATTR_COUNT) {
        if (decl->poisoned)
            return value_error();
        return value_absent(arena_printf(plan->arena, "`%s` is not set on %s `%s`", name,
                                         kind_name(decl->kind), decl->name ? decl->name : ""));
    }
    *found = false;
    return value_error();
}

static struct value read_declaration(struct plan *plan, struct decl *decl, const struct path *path,
                                     size_t first)
{
    if (first == path->count)
        return (struct value){.type = VALUE_DECL, .decl = decl};
    bool found;
    struct value value = read_member(plan, decl, path, first, &found);
    if (found)
        return value;
    const char *name = path_text(plan, path, first, path->count - first);
    struct span span = part_span(path, first);
    struct diag *diag = diag_add(plan->diags, DIAG_E0218, span, "%s `%s` has no attribute or quantity `%s`",
                                 kind_name(decl->kind), decl->name, name);
    const char *near =
        plan->reader.suggest ? plan->reader.suggest(plan->reader.context, decl->kind, name) : NULL;
    if (!near)
        near = attribute_suggest(decl->kind, name);
    if (near)
        diag_fix(plan->diags, diag, span, near, "did you mean `%s`?", near);
    return value;
}

/* ---- lets -------------------------------------------------------------------------------------- */

struct value let_value(struct plan *plan, struct let *let)
{
    if (let->evaluating) {
        report_cycle(plan, NULL, let->name.text, let->name.span);
        return value_error();
    }
    if (!let->evaluated) {
        struct frame frame;
        struct scope scope = {let->module, NULL};
        let->evaluating = true;
        let->value = value_error();
        if (frame_push(plan, &frame, NULL, let->name.text, let->name.span)) {
            let->value = evaluate(plan, scope, let->expr);
            frame_pop(plan);
        }
        let->evaluating = false;
        let->evaluated = true;
    }
    return let->value;
}

static struct value read_let(struct plan *plan, struct let *let, const struct path *path)
{
    struct value value = let_value(plan, let);
    if (path->count == 1 || value.type == VALUE_ERROR)
        return value;
    if (value.type == VALUE_DECL)
        return read_declaration(plan, value.decl, path, 1);
    diag_add(plan->diags, DIAG_E0208, path->span, "`%s` is %s and has no `%s`", let->name.text,
             value_describe(plan, &value), path->parts[1].text);
    return value_error();
}

/* ---- any name ---------------------------------------------------------------------------------- */

static void report_unknown_name(struct plan *plan, struct scope scope, struct module *module,
                                const struct path *path, size_t first)
{
    if (may_be_lost(module, scope.decl))
        return;
    const char *name = path->parts[first].text;
    struct span span = path->parts[first].span;
    struct diag *diag = diag_add(plan->diags, DIAG_E0201, span, "nothing is called `%s`", name);
    const char *minus = strrchr(name, '-');
    if (minus) {
        const char *left = intern(plan->strings, name, (size_t)(minus - name));
        bool attribute =
            scope.decl && attribute_lookup(plan->attributes, scope.decl->kind, left) != ATTR_COUNT;
        if (attribute || module_find_let(plan, module, left)) {
            const char *spaced = arena_printf(plan->arena, "%s - %s", left, minus + 1);
            diag_fix(plan->diags, diag, span, spaced, "a name may hold `-`; a difference is written `%s`",
                     spaced);
            return;
        }
    }
    struct suggestion suggestion = suggestion_for(name);
    if (scope.decl) {
        const char *near = attribute_suggest(scope.decl->kind, name);
        if (near)
            suggestion_consider(&suggestion, near);
    }
    for (size_t i = 0; i < module->let_order.count; i++)
        suggestion_consider(&suggestion, module->let_order.items[i]->name.text);
    for (size_t i = 0; i < LOOKUP_KINDS; i++) {
        struct kin kin;
        struct suggestion nearest = module_suggest(plan, module, lookup_order[i], name, &kin);
        if (nearest.best)
            suggestion_consider(&suggestion, nearest.best);
    }
    const char *near = suggestion_result(&suggestion);
    if (near)
        diag_fix(plan->diags, diag, span, near, "did you mean `%s`?", near);
}

/* The declaration that `parts[first]` names, whatever its kind. */
static struct decl *find_any(struct plan *plan, struct module *module, const struct path *path, size_t first)
{
    struct decl *decl = NULL;
    for (size_t i = 0; i < LOOKUP_KINDS && !decl; i++)
        decl = module_find(plan, module, lookup_order[i], path->parts[first].text);
    return decl;
}

/* `old.chat.tpot` in a guard: `chat` is a declaration of this plan, its figures are the old report's. */
static struct value read_old(struct plan *plan, struct scope scope, const struct path *path)
{
    struct path rest = {path->parts + 1, path->count - 1, part_span(path, 1)};
    size_t first;
    struct module *module = skip_aliases(plan, scope, &rest, &first);
    struct decl *decl = find_any(plan, module, &rest, first);
    if (!decl) {
        report_unknown_name(plan, scope, module, &rest, first);
        return value_error();
    }
    if (first + 1 == rest.count) {
        diag_add(plan->diags, DIAG_E0208, path->span, "`old.` reads a figure: `old.%s.tpot`",
                 path_text(plan, &rest, 0, rest.count));
        return value_error();
    }
    if (!plan->old->read)
        return read_declaration(plan, decl, &rest, first + 1);
    return plan->old->read(plan->old->context, decl,
                           path_text(plan, &rest, first + 1, rest.count - first - 1));
}

static bool is_old(const struct plan *plan, struct scope scope, const struct path *path)
{
    return plan->old && !scope.decl && path->count > 1 && !path->parts[0].quoted &&
           strcmp(path->parts[0].text, "old") == 0;
}

struct value lookup_path(struct plan *plan, struct scope scope, const struct path *path)
{
    struct value cell;
    if (is_old(plan, scope, path))
        return read_old(plan, scope, path);
    if (path->count == 1 && rows_read(plan, path->parts[0].text, &cell))
        return cell;
    for (struct decl *decl = scope.decl; decl; decl = decl->parent) { /* a block, then its model */
        bool found;
        struct value value = read_member(plan, decl, path, 0, &found);
        if (found)
            return value;
    }
    struct let *let = module_find_let(plan, scope.module, path->parts[0].text);
    if (let)
        return read_let(plan, let, path);
    size_t first;
    struct module *module = skip_aliases(plan, scope, path, &first);
    const char *name = path->parts[first].text;
    struct decl *declared = find_any(plan, module, path, first);
    if (declared)
        return read_declaration(plan, declared, path, first + 1);
    let = first > 0 ? module_find_let(plan, module, name) : NULL;
    if (let && first + 1 == path->count)
        return let_value(plan, let);
    if (path->count == 1 && !path->parts[0].quoted &&
        (strcmp(name, "true") == 0 || strcmp(name, "false") == 0))
        return value_bool(name[0] == 't');
    report_unknown_name(plan, scope, module, path, first);
    return value_error();
}
