/* rows.c: measurements of a scenario as something else than it is: with another batch, or one for each row of
 * a table.
 *
 * `measured chat { batch = 8  tpot = 15 ms }` was seen on a variant of `chat`. With `file = "runs.csv"` there
 * is one such variant for each row, and columns are names that stand before all others. A column that is
 * called like an attribute is its value, unless the block says otherwise. */
#include <string.h>

#include "base/buffer.h"
#include "base/intern.h"
#include "base/number.h"
#include "sema/internal.h"
#include "sema/unit.h"
#include "source/table.h"

/* What a column is worth by its heading. */
struct column {
    const char *name;         /* interned, as expressions call it */
    enum attribute attribute; /* ATTR_COUNT: none by itself */
    const char *unit;         /* of a bare number in it, or NULL */
    bool scenario;            /* names the scenario of each row */
};

struct row_scope {
    struct decl *decl; /* the `measured` block, or what an import stands for */
    const struct table *table;
    struct column *columns;
    const struct table_row *row; /* NULL: the block is about one run */
    const struct frame
        *frame; /* columns are names where expressions of the block stand, and nowhere deeper */
};

static const enum attribute figures[] = {ATTR_MEASURED_TPOT, ATTR_MEASURED_TTFT, ATTR_MEASURED_THROUGHPUT,
                                         ATTR_MEASURED_SPEED, ATTR_MEASURED_KV_TOKENS};

static bool is_figure(enum attribute attribute)
{
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++)
        if (figures[i] == attribute)
            return true;
    return false;
}

static bool of_kind(enum attribute attribute, enum kind kind)
{
    return (attribute_info(attribute)->scope & (1u << kind)) != 0;
}

/* Attributes that say how the table is read. */
static bool is_reading(enum attribute attribute)
{
    return attribute == ATTR_MEASURED_FILE || attribute == ATTR_MEASURED_ROWS ||
           attribute == ATTR_MEASURED_LABEL;
}

static const struct slot *slot_of(const struct decl *decl, enum attribute attribute)
{
    for (size_t i = 0; i < decl->state->slots.count; i++)
        if (decl->state->slots.items[i].attribute == attribute)
            return &decl->state->slots.items[i];
    return NULL;
}

bool rows_expand(const struct decl *decl)
{
    for (size_t i = 0; decl->kind == KIND_MEASURED && i < decl->state->slots.count; i++) {
        enum attribute attribute = decl->state->slots.items[i].attribute;
        if (is_reading(attribute) || !of_kind(attribute, KIND_MEASURED))
            return true;
    }
    return false;
}

/* ---- columns ------------------------------------------------------------------------------------- */

static bool is_word(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
           byte == '_' || (unsigned char)byte >= 0x80;
}

/* The heading with `_` for whatever cannot stand in a name, and none at its ends. */
static const char *column_name(struct plan *plan, const char *heading)
{
    struct buffer name = buffer_in(plan->arena);
    bool gap = false;
    for (; *heading; heading++) {
        if (!is_word(*heading)) {
            gap = name.length > 0;
            continue;
        }
        if (gap || (name.length == 0 && *heading >= '0' && *heading <= '9'))
            buffer_byte(&name, '_');
        gap = false;
        buffer_byte(&name, *heading);
    }
    return intern(plan->strings, buffer_string(&name), name.length);
}

static const char *lower(struct plan *plan, const char *text)
{
    char *out = arena_strdup(plan->arena, text);
    for (char *at = out; *at; at++)
        *at = *at >= 'A' && *at <= 'Z' ? (char)(*at - 'A' + 'a') : *at;
    return out;
}

static enum attribute named_attribute(const char *name)
{
    enum attribute attribute = attribute_find(KIND_MEASURED, name);
    if (attribute == ATTR_COUNT)
        attribute = attribute_find(KIND_SCENARIO, name);
    return attribute != ATTR_COUNT && is_reading(attribute) && attribute != ATTR_MEASURED_LABEL ? ATTR_COUNT
                                                                                                : attribute;
}

/* Whether a number in this unit is what the attribute takes. */
static bool unit_fits(enum attribute attribute, const char *text)
{
    bool money;
    struct unit unit;
    struct dim dim = attribute_dim(attribute_info(attribute), &money);
    return unit_parse(text, &unit) && !money && dim_equal(unit.dim, dim);
}

/* `tpot`, `TPOT (ms)`, `tpot [ms]`, `tpot_ms`. */
static void bind_column(struct plan *plan, const char *heading, struct column *column)
{
    const char *name = lower(plan, column->name);
    size_t length = strcspn(heading, "([");
    column->scenario = strcmp(name, "scenario") == 0;
    column->attribute = named_attribute(name);
    if (column->scenario || column->attribute != ATTR_COUNT)
        return;
    if (heading[length] != '\0') {
        const char *unit =
            arena_strndup(plan->arena, heading + length + 1, strcspn(heading + length + 1, ")]"));
        const char *before = lower(plan, column_name(plan, arena_strndup(plan->arena, heading, length)));
        enum attribute attribute = named_attribute(before);
        if (attribute != ATTR_COUNT && unit_fits(attribute, unit)) {
            column->attribute = attribute;
            column->unit = unit;
            return;
        }
    }
    const char *last = strrchr(column->name, '_');
    if (!last)
        return;
    enum attribute attribute =
        named_attribute(arena_strndup(plan->arena, name, (size_t)(last - column->name)));
    if (attribute != ATTR_COUNT && unit_fits(attribute, last + 1)) {
        column->attribute = attribute;
        column->unit = last + 1;
    }
}

static bool bind_columns(struct plan *plan, struct row_scope *scope)
{
    const struct table *table = scope->table;
    scope->columns = ARENA_ARRAY(plan->arena, struct column, table->columns);
    for (size_t i = 0; i < table->columns; i++) {
        const struct table_field *heading = &table->header.fields[i];
        struct column *column = &scope->columns[i];
        *column = (struct column){.name = column_name(plan, heading->text), .attribute = ATTR_COUNT};
        if (*column->name == '\0')
            continue; /* nobody can ask for it */
        bind_column(plan, heading->text, column);
        for (size_t j = 0; j < i; j++) {
            bool same = scope->columns[j].name == column->name;
            bool twice = column->attribute != ATTR_COUNT &&
                         scope->columns[j].attribute == column->attribute &&
                         !slot_of(scope->decl, column->attribute);
            if (!same && !twice)
                continue;
            struct diag *diag =
                same ? diag_add(plan->diags, DIAG_E0409, heading->span, "two columns are called `%s`",
                                column->name)
                     : diag_add(plan->diags, DIAG_E0409, heading->span, "two columns are the attribute `%s`",
                                attribute_info(column->attribute)->name);
            diag_note_at(plan->diags, diag, table->header.fields[j].span, "the other one is here");
            return false;
        }
    }
    return true;
}

/* ---- cells ---------------------------------------------------------------------------------------- */

/* A number, with its unit or the column's; else text. A number keeps its text, for comparison with texts. */
static struct value cell_value(struct plan *plan, const char *text, const char *unit)
{
    struct value value = {.type = VALUE_TEXT, .text = text};
    bool negative = *text == '-';
    const char *digits = text + (negative || *text == '+');
    size_t length = strspn(digits, "0123456789._eE+-");
    const char *rest = digits + length;
    rest += strspn(rest, " ");
    double number;
    struct dim dim = {{0}};
    if (!number_parse(digits, length, 0, &number))
        return value;
    if (*rest == '\0')
        rest = unit;
    if (rest && !unit_literal(arena_strndup(plan->arena, digits, length), NULL, rest, &number, &dim))
        return value;
    value = value_number(negative ? 0 - number : number, dim);
    value.text = text;
    return value;
}

bool rows_read(struct plan *plan, const char *name, struct value *value)
{
    const struct row_scope *scope = plan->row;
    if (!scope || !scope->row || plan->frame != scope->frame)
        return false;
    for (size_t i = 0; i < scope->table->columns; i++)
        if (scope->columns[i].name == name) {
            *value = cell_value(plan, scope->row->fields[i].text, NULL);
            return true;
        }
    return false;
}

/* ---- one value ------------------------------------------------------------------------------------- */

static struct value as_declaration(struct plan *plan, struct module *module, struct value value,
                                   enum kind kind, struct span span)
{
    struct name *part = ARENA_NEW(plan->arena, struct name);
    *part = (struct name){intern_text(plan->strings, value.text), span, true};
    struct path path = {part, 1, span};
    value.decl = lookup_declaration(plan, (struct scope){module, NULL}, &path, kind, true);
    value.type = value.decl ? VALUE_DECL : VALUE_ERROR;
    return value;
}

/* What the attribute takes from a cell, or from an expression that reads cells; absent where that is empty.
 */
static struct value settle(struct plan *plan, const struct row_scope *scope, enum attribute attribute,
                           struct value value, const struct expr *expr, struct span span)
{
    const struct attribute_info *info = attribute_info(attribute);
    bool written = value.type == VALUE_TEXT || (value.type == VALUE_NUMBER && value.text);
    if (value.type == VALUE_ERROR || value.type == VALUE_ABSENT)
        return value;
    if (value.type == VALUE_TEXT && *value.text == '\0')
        return value_absent("the cell is empty");
    if (written && info->type == TYPE_REF)
        value = as_declaration(plan, scope->decl->state->module, value, kind_from_name(info->detail), span);
    else if (written && (info->type == TYPE_TEXT || info->type == TYPE_WORD))
        value.type = VALUE_TEXT;
    else if (value.type == VALUE_TEXT && info->type == TYPE_BOOL &&
             (strcmp(value.text, "true") == 0 || strcmp(value.text, "false") == 0))
        value = value_bool(*value.text == 't');
    if (value.type == VALUE_ERROR)
        return value;
    return conform(plan, scope->decl, attribute, value, expr, span);
}

static struct value slot_value(struct plan *plan, const struct row_scope *scope, struct decl *scenario,
                               const struct slot *slot)
{
    struct scope where = {scope->decl->state->module, scenario};
    if (!slot->values)
        return slot->value;
    const struct expr *expr = slot->values->items[0].value;
    const struct attribute_info *info = attribute_info(slot->attribute);
    struct value value;
    bool cell =
        expr->kind == EXPR_PATH && expr->path.count == 1 && rows_read(plan, expr->path.parts[0].text, &value);
    if (!cell && info->type == TYPE_REF)
        value = evaluate_reference(plan, where, expr, kind_from_name(info->detail));
    else if (!cell)
        value = evaluate(plan, where, expr);
    return settle(plan, scope, slot->attribute, value, expr, expr->span);
}

/* ---- one row ----------------------------------------------------------------------------------------- */

/* Values of one run, those of its scenario apart from what was seen. */
struct run {
    struct decl *scenario;
    VEC(enum attribute) attributes;
    VEC(struct value) values;
    VEC(struct slot) seen;
    const char *label;
    bool wanted, figure;
};

static void add_value(struct plan *plan, struct run *run, enum attribute attribute, struct value value,
                      struct span span)
{
    if (value.type == VALUE_ERROR || value.type == VALUE_ABSENT)
        return;
    if (attribute == ATTR_MEASURED_ROWS)
        run->wanted = value.boolean;
    else if (attribute == ATTR_MEASURED_LABEL)
        run->label = value.text;
    else if (of_kind(attribute, KIND_SCENARIO)) {
        *VEC_PUSH(plan->arena, run->attributes) = attribute;
        *VEC_PUSH(plan->arena, run->values) = value;
    } else if (attribute != ATTR_MEASURED_FILE) {
        *VEC_PUSH(plan->arena, run->seen) =
            (struct slot){.attribute = attribute, .span = span, .value = value, .origin = ORIGIN_PLAN};
        run->figure = run->figure || is_figure(attribute);
    }
}

/* The scenario that a row is about: its own column's, or the block's. NULL, and a report, when there is none.
 */
static struct decl *scenario_of(struct plan *plan, const struct row_scope *scope)
{
    for (size_t i = 0; scope->row && i < scope->table->columns; i++) {
        const struct table_field *field = &scope->row->fields[i];
        if (!scope->columns[i].scenario || *field->text == '\0')
            continue;
        struct value name = {.type = VALUE_TEXT, .text = field->text};
        return as_declaration(plan, scope->decl->state->module, name, KIND_SCENARIO, field->span).decl;
    }
    if (!scope->decl->name) {
        diag_add(plan->diags, DIAG_E0409, scope->row->span,
                 "this row does not say which scenario it is about; a column `scenario` does, or a block "
                 "`measured SCENARIO { file = ... }`");
        return NULL;
    }
    struct name part = {scope->decl->name, scope->decl->name_span, true};
    struct path path = {&part, 1, part.span};
    return lookup_declaration(plan, (struct scope){scope->decl->state->module, NULL}, &path, KIND_SCENARIO,
                              true);
}

/* What the block says first: a row that is not wanted may have anything in its cells. */
static void read_slots(struct plan *plan, const struct row_scope *scope, struct run *run)
{
    const struct slot *rows = slot_of(scope->decl, ATTR_MEASURED_ROWS);
    if (rows)
        add_value(plan, run, rows->attribute, slot_value(plan, scope, run->scenario, rows), rows->span);
    for (size_t i = 0; run->wanted && i < scope->decl->state->slots.count; i++) {
        const struct slot *slot = &scope->decl->state->slots.items[i];
        struct span span = scope->row     ? scope->row->span
                           : slot->values ? slot->values->items[0].span
                                          : slot->span;
        if (slot != rows && slot->attribute != ATTR_MEASURED_FILE)
            add_value(plan, run, slot->attribute, slot_value(plan, scope, run->scenario, slot), span);
    }
}

static void read_cells(struct plan *plan, const struct row_scope *scope, struct run *run)
{
    for (size_t i = 0; run->wanted && scope->row && i < scope->table->columns; i++) {
        const struct column *column = &scope->columns[i];
        const struct table_field *field = &scope->row->fields[i];
        if (column->attribute == ATTR_COUNT || slot_of(scope->decl, column->attribute))
            continue;
        struct value value = cell_value(plan, field->text, column->unit);
        add_value(plan, run, column->attribute,
                  settle(plan, scope, column->attribute, value, NULL, field->span), field->span);
    }
}

/* "runs.csv:12", or the scenario with what differs: "chat, batch 8". */
static const char *run_name(struct plan *plan, const struct row_scope *scope, const struct run *run)
{
    if (run->label)
        return run->label;
    if (scope->row) {
        const struct source *source = sources_get(plan->sources, scope->row->span.file);
        const char *slash = strrchr(source->path, '/');
        unsigned line, column;
        source_position(source, scope->row->span.start, &line, &column);
        return arena_printf(plan->arena, "%s:%u", slash ? slash + 1 : source->path, line);
    }
    struct buffer name = buffer_in(plan->arena);
    buffer_text(&name, run->scenario->name);
    for (size_t i = 0; i < run->values.count; i++) {
        const struct value *value = &run->values.items[i];
        buffer_printf(&name, ", %s %s", attribute_info(run->attributes.items[i])->name,
                      value->type == VALUE_NUMBER ? quantity_text(plan->arena, value->number, value->dim)
                      : value->type == VALUE_DECL ? value->decl->name
                      : value->type == VALUE_TEXT ? value->text
                      : value->boolean            ? "true"
                                                  : "false");
    }
    return buffer_string(&name);
}

static void add_run(struct plan *plan, const struct row_scope *scope, const struct run *run)
{
    struct decl *seen = decl_new(plan, KIND_MEASURED, scope->decl->state->module);
    seen->span = seen->name_span = scope->row ? scope->row->span : scope->decl->span;
    seen->state->base_state = BASE_BOUND;
    const char *name = run_name(plan, scope, run);
    struct decl *scenario = run->scenario;
    if (run->values.count > 0 || run->label)
        scenario =
            plan_variant(plan, scenario, name, run->attributes.items, run->values.items, run->values.count);
    seen->name = scenario->name;
    for (size_t i = 0; i < run->seen.count; i++) {
        *VEC_PUSH(plan->arena, seen->state->slots) = run->seen.items[i];
        seen->state->slots.items[i].owner = seen;
    }
    if (scope->row && !slot_of(seen, ATTR_SOURCE)) {
        const char *source =
            run->label ? arena_printf(plan->arena, "%s", run_name(plan, scope, &(struct run){0})) : name;
        *VEC_PUSH(plan->arena, seen->state->slots) =
            (struct slot){.attribute = ATTR_SOURCE,
                          .span = seen->span,
                          .origin = ORIGIN_PLAN,
                          .owner = seen,
                          .value = {.type = VALUE_TEXT, .text = source}};
    }
    *VEC_PUSH(plan->arena, plan->view.measurements) =
        (struct measurement){seen, scenario, scenario != run->scenario};
}

/* One run of the block. False: something was wrong, which was reported, with the row that it was wrong for.
 */
static bool read_run(struct plan *plan, struct row_scope *scope)
{
    size_t errors = diags_errors(plan->diags), before = diags_count(plan->diags);
    struct run run = {.scenario = scenario_of(plan, scope), .wanted = true};
    if (!run.scenario)
        return false;
    read_slots(plan, scope, &run);
    read_cells(plan, scope, &run);
    if (diags_errors(plan->diags) > errors) {
        for (size_t i = before; scope->row && i < diags_count(plan->diags); i++) {
            const struct diag *diag = diags_get(plan->diags, i);
            if (diag->span.file != scope->row->span.file) /* the list owns it, and takes notes till the end */
                diag_note_at(plan->diags, (struct diag *)diag, scope->row->span, "for this row");
        }
        return false;
    }
    if (run.wanted && run.figure && !run.scenario->poisoned)
        add_run(plan, scope, &run);
    return true;
}

/* ---- the block ---------------------------------------------------------------------------------------- */

/* Whether anything at all says what was measured. */
static bool has_figures(const struct row_scope *scope)
{
    for (size_t i = 0; i < scope->decl->state->slots.count; i++)
        if (is_figure(scope->decl->state->slots.items[i].attribute))
            return true;
    for (size_t i = 0; i < scope->table->columns; i++)
        if (scope->columns[i].attribute != ATTR_COUNT && is_figure(scope->columns[i].attribute))
            return true;
    return false;
}

static bool read_table(struct plan *plan, struct row_scope *scope, const struct slot *slot)
{
    struct scope where = {scope->decl->state->module, NULL};
    struct table *table = ARENA_NEW(plan->arena, struct table);
    struct span span = slot->values ? slot->values->items[0].span : slot->span;
    struct value file =
        slot->values ? evaluate_item(plan, where, slot->attribute, scope->decl, slot->values->items[0].value)
                     : slot->value;
    uint32_t number;
    if (file.type != VALUE_TEXT ||
        !module_read_table(plan, scope->decl->state->module, file.text, span, &number) ||
        !table_read(plan->arena, plan->sources, plan->diags, number, table))
        return false;
    scope->table = table;
    if (!bind_columns(plan, scope))
        return false;
    if (has_figures(scope))
        return true;
    struct diag *diag =
        diag_add(plan->diags, DIAG_E0409, table->header.span, "no column says what was measured");
    diag_note(plan->diags, diag,
              "figures are `tpot`, `ttft`, `throughput`, `speed` and `kv_tokens`; another column is "
              "assigned in the block: `tpot = p50_ms * 1 ms`");
    return false;
}

void rows_measure(struct plan *plan, struct decl *decl)
{
    struct row_scope scope = {.decl = decl, .frame = plan->frame};
    const struct slot *file = slot_of(decl, ATTR_MEASURED_FILE);
    bool good = !file || read_table(plan, &scope, file);
    plan->row = &scope;
    if (!file)
        good = read_run(plan, &scope);
    for (size_t i = 0; good && file && i < scope.table->count; i++) {
        scope.row = &scope.table->rows[i];
        good = read_run(plan, &scope);
    }
    plan->row = NULL;
    if (!good)
        poison(decl);
}
