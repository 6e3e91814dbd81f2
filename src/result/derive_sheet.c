/* derive_sheet.c: worksheets: parts with names, values and formulas, and which figure has which. */
#include "result/derive_sheet.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "sema/unit.h"

bool sheet_is_scaled(const struct sheet *sheet)
{
    return sheet->model->model.declared_params > 0 && sheet->model->derived_params > 0;
}

bool sheet_is_total(const struct sheet *sheet)
{
    return sheet->model->model.declared_params > 0 && !(sheet->model->derived_params > 0);
}

/* ---- parts ------------------------------------------------------------------------------------------ */

static bool has_input(const struct derive_node *node, const char *name)
{
    for (size_t i = 0; i < node->inputs.count; i++)
        if (strcmp(node->inputs.items[i]->name, name) == 0)
            return true;
    return false;
}

static struct dim dim_of(const char *unit)
{
    struct unit known;
    return strcmp(unit, "1") != 0 && unit_parse(unit, &known) ? known.dim : dim_none();
}

struct derive_node *sheet_part(struct sheet *sheet, struct derive_node *parent, const char *name,
                               double value, const char *unit, const char *doc)
{
    struct arena *arena = sheet->arena;
    struct dim dim = dim_of(unit);
    const char *free = name;
    for (size_t i = 2; has_input(parent, free); i++)
        free = arena_printf(arena, "%s.%zu", name, i);
    struct derive_node *part = ARENA_NEW(arena, struct derive_node);
    *part = (struct derive_node){.name = free, .doc = doc, .part = true, .source = parent->source};
    part->value = (struct report_quantity){
        .name = free, .type = QUANTITY_NUMBER, .unit = dim_si_unit(arena, dim), .value = value};
    part->text = sheet->binary && strcmp(unit, "B") == 0
                     ? unit_format(arena, value, unit_for_print(dim, value, UNIT_STYLE_BINARY), 3)
                     : quantity_value_text(arena, &part->value, dim);
    part->exact = derive_exact(arena, &part->value);
    *VEC_PUSH(arena, parent->inputs) = part;
    return part;
}

void sheet_formula(struct derive_node *node, const char *text)
{
    node->formula = text;
}

bool sheet_names(const char *formula, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = strstr(formula, name); at; at = strstr(at + 1, name)) {
        char before = at > formula ? at[-1] : ' ', after = at[length];
        if (!isalnum((unsigned char)before) && before != '_' && before != '.' &&
            !isalnum((unsigned char)after) && after != '_' && after != '.')
            return true;
    }
    return false;
}

double sheet_scale(const struct sheet *sheet)
{
    return sheet_is_scaled(sheet) ? sheet->model->model.declared_params / sheet->model->derived_params : 1;
}

const char *sheet_scale_parts(struct sheet *sheet, struct derive_node *node)
{
    if (!sheet_is_scaled(sheet))
        return "";
    sheet_part(sheet, node, "declared_params", sheet->model->model.declared_params, "1", NULL);
    sheet_part(sheet, node, "counted_params", sheet->model->derived_params, "1", NULL);
    return " * declared_params / counted_params";
}

void sheet_scaled_formula(struct sheet *sheet, struct derive_node *node, const char *text)
{
    if (sheet_is_scaled(sheet))
        sheet_printf(sheet, node, "(%s)%s", text, sheet_scale_parts(sheet, node));
    else
        sheet_formula(node, text);
}

void sheet_plus(struct buffer *sum, const char *term)
{
    buffer_printf(sum, "%s%s", sum->length > 0 ? " + " : "", term);
}

void sheet_printf(struct sheet *sheet, struct derive_node *node, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    node->formula = arena_vprintf(sheet->arena, format, arguments);
    va_end(arguments);
}

void sheet_attribute(struct sheet *sheet, struct derive_node *parent, struct decl *decl, const char *path,
                     const char *name, double value, const char *unit)
{
    if (has_input(parent, name))
        return;
    struct formula_name looked = {.path = path};
    struct derive_target target;
    struct report_quantity own;
    struct dim dim;
    if (decl && derive_resolve(sheet->evaluator, decl, &looked, &target) && target.setting &&
        derive_value(sheet->evaluator, &target, path, &own, &dim) && own.type == QUANTITY_NUMBER &&
        own.value == value) {
        struct derive_node *node = derive_input(sheet->job, &target, name);
        if (node)
            *VEC_PUSH(sheet->arena, parent->inputs) = node;
        return;
    }
    sheet_part(sheet, parent, name, value, unit, NULL);
}

/* ---- the line with values -------------------------------------------------------------------------------
 */

const char *derive_substitute_inputs(struct arena *arena, const struct derive_node *node)
{
    struct buffer out = buffer_in(arena);
    for (const char *at = node->shown; *at;) {
        size_t length = 0;
        while (isalnum((unsigned char)at[length]) || at[length] == '_' || at[length] == '.')
            length++;
        const struct derive_node *input = NULL;
        for (size_t i = 0; i < node->inputs.count && length > 0; i++)
            if (strlen(node->inputs.items[i]->name) == length &&
                strncmp(node->inputs.items[i]->name, at, length) == 0)
                input = node->inputs.items[i];
        if (input)
            buffer_text(&out, input->text);
        else if (*at == '*')
            buffer_text(&out, "×");
        else
            buffer_add(&out, at, length > 0 ? length : 1);
        at += *at == '*' || length == 0 ? 1 : length;
    }
    return buffer_string(&out);
}

/* ---- which --------------------------------------------------------------------------------------------- */

bool sheet_fill(struct sheet *sheet, enum quantity quantity, struct derive_node *node)
{
    static bool (*const all[])(struct sheet *, enum quantity, struct derive_node *) = {
        sheet_of_model,       sheet_of_weights, sheet_of_cache,    sheet_of_ceiling, sheet_of_steps,
        sheet_of_ideal_steps, sheet_of_service, sheet_of_solution, sheet_of_words,
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (all[i](sheet, quantity, node))
            return true;
        node->inputs.count = 0;
        node->formula = NULL;
    }
    return false;
}
