/* derive_formula.c: formulas and the names in them. Both are taken apart and looked up once for all the
 * scenarios that use them: a plan of many scenarios reads the same forty formulas for each. */
#include <ctype.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/map.h"
#include "base/number.h"
#include "result/derive_internal.h"
#include "sema/unit.h"

/* ---- names ------------------------------------------------------------------------------------------ */

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

/* What the tables say about a name in declarations of one kind. */
static void look_up(struct arena *arena, struct formula_name *name, enum kind kind)
{
    const char *dot = strchr(name->path, '.');
    enum quantity_scope scope;
    *name = (struct formula_name){
        .path = name->path, .known = true, .kind = kind, .attribute = ATTR_COUNT, .reference = ATTR_COUNT};
    name->attribute = attribute_find(kind, name->path);
    if (dot)
        name->reference = attribute_find(kind, arena_strndup(arena, name->path, (size_t)(dot - name->path)));
    if (name->reference != ATTR_COUNT) {
        name->rest = ARENA_NEW(arena, struct formula_name);
        *name->rest = (struct formula_name){.path = dot + 1};
    }
    name->row = quantity_scope_of(kind, &scope) ? quantity_find(scope, name->path) : NULL;
}

bool derive_resolve(struct evaluator *evaluator, struct decl *decl, struct formula_name *name,
                    struct derive_target *target)
{
    struct plan *plan = evaluator_plan(evaluator);
    if (!name->known || name->kind != decl->kind)
        look_up(plan_arena(plan), name, decl->kind);
    const struct setting *setting =
        name->attribute != ATTR_COUNT ? plan_setting(plan, decl, name->attribute) : NULL;
    if (setting) {
        *target = (struct derive_target){decl, setting, name->attribute, NULL};
        return true;
    }
    struct decl *next = name->rest ? follow(evaluator, decl, name->reference) : NULL;
    if (next)
        return derive_resolve(evaluator, next, name->rest, target);
    *target = (struct derive_target){decl, NULL, ATTR_COUNT, name->row};
    return name->row != NULL;
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

bool derive_value(struct evaluator *evaluator, const struct derive_target *target, const char *name,
                  struct report_quantity *value, struct dim *dim)
{
    if (target->setting)
        return from_setting(evaluator, target->setting, name, value, dim);
    *value = evaluate_row(evaluator, target->decl, target->row->id);
    *dim = evaluate_dim(evaluator, target->decl, target->row->id);
    return true;
}

bool derive_lookup(struct evaluator *evaluator, struct decl *decl, const char *path,
                   struct report_quantity *value, struct dim *dim)
{
    struct formula_name name = {.path = path};
    struct derive_target target;
    if (derive_resolve(evaluator, decl, &name, &target))
        return derive_value(evaluator, &target, path, value, dim);
    /* Ends of a band, which formulas do not read. */
    if (!target.decl || !evaluate_quantity(evaluator, decl, path, value))
        return false;
    const char *end = strrchr(path, '.');
    enum quantity_scope scope;
    const struct quantity_info *row = NULL;
    if (end && quantity_scope_of(decl->kind, &scope))
        row = quantity_find(scope,
                            arena_strndup(plan_arena(evaluator_plan(evaluator)), path, (size_t)(end - path)));
    if (row)
        *dim = evaluate_dim(evaluator, decl, row->id);
    return row != NULL;
}

/* ---- formulas --------------------------------------------------------------------------------------- */

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
static size_t piece_length(const char *at, bool *is_name)
{
    size_t length = 1;
    *is_name = false;
    if (isdigit((unsigned char)*at)) {
        while (in_name(at[length]))
            length++;
        if (at[length] == ' ' && isalpha((unsigned char)at[length + 1])) {
            length++;
            while (in_name(at[length]) || at[length] == '/')
                length++;
        }
    } else if (isalpha((unsigned char)*at)) {
        while (in_name(at[length]))
            length++;
        *is_name = at[length] != '(' && !is_word(at, length);
    } else {
        while (at[length] && !isalnum((unsigned char)at[length]) && at[length] != '*')
            length++;
        length = *at == '*' ? 1 : length;
    }
    return length;
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

struct formula *derive_formula(struct evaluator *evaluator, const char *text)
{
    struct arena *arena = plan_arena(evaluator_plan(evaluator));
    struct map *formulas = evaluator_formulas(evaluator);
    struct formula *formula = map_get(formulas, text);
    if (formula)
        return formula;
    formula = ARENA_NEW(arena, struct formula);
    *formula = (struct formula){.text = text, .shown = without_unit_factors(arena, text)};
    for (const char *at = formula->shown; *at;) {
        bool is_name;
        struct formula_piece piece = {.text = at, .length = piece_length(at, &is_name)};
        if (is_name) {
            piece.name = ARENA_NEW(arena, struct formula_name);
            *piece.name = (struct formula_name){.path = arena_strndup(arena, at, piece.length)};
        }
        *VEC_PUSH(arena, formula->pieces) = piece;
        at += piece.length;
    }
    map_put(formulas, text, formula);
    return formula;
}

const char *derive_substitute(struct evaluator *evaluator, struct decl *decl, struct formula *formula)
{
    struct arena *arena = plan_arena(evaluator_plan(evaluator));
    struct buffer out = buffer_in(arena);
    for (size_t i = 0; i < formula->pieces.count; i++) {
        struct formula_piece *piece = &formula->pieces.items[i];
        struct derive_target target;
        struct report_quantity value;
        struct dim dim;
        if (piece->length == 1 && *piece->text == '*')
            buffer_text(&out, "×");
        else if (piece->name && derive_resolve(evaluator, decl, piece->name, &target) &&
                 derive_value(evaluator, &target, piece->name->path, &value, &dim))
            buffer_text(&out, evaluate_value_text(evaluator, &value, dim));
        else
            buffer_add(&out, piece->text, piece->length);
    }
    return buffer_string(&out);
}

const char *derive_exact(struct arena *arena, const struct report_quantity *value)
{
    char text[NUMBER_TEXT_MAX];
    if (value->type != QUANTITY_NUMBER)
        return NULL;
    number_shortest(text, value->value);
    bool bare = !value->unit || strcmp(value->unit, "1") == 0;
    return bare ? arena_strdup(arena, text) : arena_printf(arena, "%s %s", text, value->unit);
}
