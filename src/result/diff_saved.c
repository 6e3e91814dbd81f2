/* diff_saved.c: a report read back from the JSON that backend/json.c wrote (docs/report.schema.json). Keys
 * that are not known are passed over, as the schema demands of its readers. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/vec.h"
#include "result/diff.h"

struct saved {
    struct arena *arena;
    const json_t *root;
    struct report *out;
};

static const char *copy(struct saved *saved, const json_t *node)
{
    return json_is_string(node) ? arena_strdup(saved->arena, json_string_value(node)) : NULL;
}

static const char *member_text(struct saved *saved, const json_t *object, const char *key)
{
    return copy(saved, json_object_get(object, key));
}

/* No figure of a plan lies outside of these, and between them sums and ratios stay finite. */
static const double largest_figure = 1e100, smallest_figure = 1e-100;

static bool is_figure(const json_t *node)
{
    return json_is_number(node) && fabs(json_number_value(node)) <= largest_figure;
}

static double figure_of(const json_t *node)
{
    double value = json_number_value(node);
    return fabs(value) < smallest_figure ? 0 : value;
}

static struct report_quantity read_quantity(struct saved *saved, const char *name, const json_t *node)
{
    const json_t *value = json_object_get(node, "value"), *low = json_object_get(node, "low");
    const json_t *high = json_object_get(node, "high");
    struct report_quantity out = {.name = arena_strdup(saved->arena, name), .type = QUANTITY_ABSENT};
    out.unit = member_text(saved, node, "unit");
    if (is_figure(value)) {
        out.type = QUANTITY_NUMBER;
        out.value = figure_of(value);
    } else if (json_is_boolean(value)) {
        out.type = QUANTITY_BOOL;
        out.boolean = json_is_true(value);
    } else if (json_is_string(value)) {
        out.type = QUANTITY_TEXT;
        out.text = copy(saved, value);
    } else {
        const char *why = member_text(saved, node, "why");
        out.text = why ? why : "not known";
    }
    if (is_figure(low) && is_figure(high)) {
        out.has_band = true;
        out.low = figure_of(low);
        out.high = figure_of(high);
    }
    return out;
}

static void read_quantities(struct saved *saved)
{
    json_t *quantities = json_object_get(saved->root, "quantities");
    const char *name;
    json_t *node;
    json_object_foreach(quantities, name, node) * VEC_PUSH(saved->arena, saved->out->quantities) =
        read_quantity(saved, name, node);
}

/* The texts of an array, into a vector. */
#define READ_TEXTS(saved, array, vec)                                                                        \
    do {                                                                                                     \
        for (size_t i_ = 0; i_ < json_array_size(array); i_++) {                                             \
            const char *text_ = copy(saved, json_array_get(array, i_));                                      \
            if (text_)                                                                                       \
                *VEC_PUSH((saved)->arena, vec) = text_;                                                      \
        }                                                                                                    \
    } while (0)

static void read_declarations(struct saved *saved)
{
    const json_t *names = json_object_get(saved->root, "declarations");
    READ_TEXTS(saved, json_object_get(names, "models"), saved->out->models);
    READ_TEXTS(saved, json_object_get(names, "gpus"), saved->out->gpus);
    READ_TEXTS(saved, json_object_get(names, "scenarios"), saved->out->scenarios);
    READ_TEXTS(saved, json_object_get(saved->root, "guards"), saved->out->guards);
}

static void read_assertions(struct saved *saved)
{
    const json_t *assertions = json_object_get(saved->root, "assertions");
    for (size_t i = 0; i < json_array_size(assertions); i++) {
        const json_t *node = json_array_get(assertions, i);
        const char *text = member_text(saved, node, "text");
        if (!text)
            continue;
        *VEC_PUSH(saved->arena, saved->out->assertions) = (struct report_assertion){
            .text = text,
            .message = member_text(saved, node, "message"),
            .holds = json_is_true(json_object_get(node, "holds")),
            .left = member_text(saved, node, "left"),
            .right = member_text(saved, node, "right"),
            .margin = member_text(saved, node, "margin"),
            .why = member_text(saved, node, "why"),
            .line = (unsigned)json_integer_value(json_object_get(node, "line")),
        };
    }
}

static void read_attributes(struct saved *saved, struct report_input *input, json_t *attributes)
{
    const char *name;
    json_t *node;
    json_object_foreach(attributes, name, node)
    {
        struct report_attribute *out = VEC_PUSH(saved->arena, input->attributes);
        out->value = read_quantity(saved, name, node);
        out->origin = member_text(saved, node, "origin");
        out->file = member_text(saved, node, "file");
        out->line = (unsigned)json_integer_value(json_object_get(node, "line"));
    }
}

static void read_inputs(struct saved *saved)
{
    const json_t *inputs = json_object_get(saved->root, "inputs");
    size_t count = json_array_size(inputs);
    for (size_t i = 0; i < count; i++) {
        const json_t *node = json_array_get(inputs, i), *uses = json_object_get(node, "uses");
        struct report_input *input = VEC_PUSH(saved->arena, saved->out->inputs);
        const char *kind = member_text(saved, node, "kind"), *name = member_text(saved, node, "name");
        input->kind = kind ? kind : "";
        input->name = name ? name : "";
        for (size_t j = 0; j < json_array_size(uses); j++) {
            json_int_t use = json_integer_value(json_array_get(uses, j));
            if (use >= 0 && (size_t)use < count)
                *VEC_PUSH(saved->arena, input->uses) = (size_t)use;
        }
        read_attributes(saved, input, json_object_get(node, "attributes"));
    }
}

static void read_named(struct saved *saved, json_t *object, struct report_sweep_point *point, bool axes)
{
    const char *name;
    json_t *node;
    json_object_foreach(object, name, node)
    {
        struct report_quantity quantity = read_quantity(saved, name, node);
        if (axes)
            *VEC_PUSH(saved->arena, point->axes) = quantity;
        else
            *VEC_PUSH(saved->arena, point->shown) = quantity;
    }
}

static void read_sweep(struct saved *saved, const json_t *node)
{
    const char *scenario = member_text(saved, node, "scenario");
    const json_t *axes = json_object_get(node, "axes"), *points = json_object_get(node, "points");
    struct report_sweep *sweep = VEC_PUSH(saved->arena, saved->out->sweeps);
    *sweep = (struct report_sweep){.scenario = scenario ? scenario : ""};
    READ_TEXTS(saved, axes, sweep->axes);
    for (size_t i = 0; i < json_array_size(points); i++) {
        const json_t *from = json_array_get(points, i);
        struct report_sweep_point *point = VEC_PUSH(saved->arena, sweep->points);
        *point = (struct report_sweep_point){.fits = json_is_true(json_object_get(from, "fits")),
                                             .why = member_text(saved, from, "why")};
        read_named(saved, json_object_get(from, "at"), point, true);
        read_named(saved, json_object_get(from, "quantities"), point, false);
    }
}

static void read_sweeps(struct saved *saved)
{
    const json_t *sweeps = json_object_get(saved->root, "sweeps");
    for (size_t i = 0; i < json_array_size(sweeps); i++)
        read_sweep(saved, json_array_get(sweeps, i));
}

bool saved_report_read(struct arena *arena, const char *path, const char *text, size_t length,
                       struct report *out, const char **why)
{
    json_error_t error;
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (!root) {
        *why = arena_printf(arena, "line %d is no JSON: %s", error.line, error.text);
        return false;
    }
    const char *schema = json_string_value(json_object_get(root, "schema"));
    if (!schema || strcmp(schema, "perfc-report/1") != 0) {
        *why = schema
                   ? arena_printf(arena, "its schema is `%s`, and this perfc reads `perfc-report/1`", schema)
                   : "it is no report; `perfc PLAN -o report.json` writes one";
        json_decref(root);
        return false;
    }
    struct saved saved = {arena, root, out};
    *out = (struct report){.plan = path, .title = member_text(&saved, root, "title")};
    read_declarations(&saved);
    read_quantities(&saved);
    read_assertions(&saved);
    read_inputs(&saved);
    read_sweeps(&saved);
    json_decref(root);
    return true;
}
