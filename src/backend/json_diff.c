/* json_diff.c: a comparison for scripts, in the form that docs/diff.schema.json describes. Text is escaped by
 * jansson, numbers are written by json_number() as in json.c. */
#include <math.h>

#include "backend/clean.h"
#include "backend/emitters.h"
#include "backend/json_number.h"
#include "backend/json_text.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "result/diff.h"

static void put(struct json_writer *writer, const char *text)
{
    buffer_text(writer->out, text);
}

/* `lead` as it is, then the text as a string, or null. */
static void put_text(struct json_writer *writer, const char *lead, const char *text)
{
    put(writer, lead);
    json_text_write(writer, json_text_node(writer, text));
}

static void put_number(struct json_writer *writer, const char *lead, double value)
{
    char text[NUMBER_TEXT_MAX];
    put(writer, lead);
    put(writer, isfinite(value) ? json_number(text, value) : "null");
}

static void put_count(struct json_writer *writer, const char *lead, size_t count)
{
    buffer_printf(writer->out, "%s%zu", lead, count);
}

/* Without the closing brace, as what is said of a value may go on. */
static void put_value(struct json_writer *writer, const char *lead, const struct report_quantity *quantity)
{
    put(writer, lead);
    switch (quantity->type) {
    case QUANTITY_NUMBER:
        put_number(writer, "{\"value\": ", quantity->value);
        put_text(writer, ", \"unit\": ", quantity->unit ? quantity->unit : "1");
        break;
    case QUANTITY_BOOL: put(writer, quantity->boolean ? "{\"value\": true" : "{\"value\": false"); break;
    case QUANTITY_TEXT: put_text(writer, "{\"value\": ", quantity->text); break;
    case QUANTITY_ABSENT: put_text(writer, "{\"value\": null, \"why\": ", quantity->text); break;
    }
}

/* ---- scenarios */

static const char *const change_words[] = {
    [CHANGE_NONE] = "none",   [CHANGE_SAME] = "same",       [CHANGE_BETTER] = "better",
    [CHANGE_WORSE] = "worse", [CHANGE_NEUTRAL] = "neutral",
};

static void put_figure(struct json_writer *writer, const struct diff_figure *figure, enum diff_state state)
{
    put_text(writer, "{\"quantity\": ", figure->label ? figure->label : figure->row->name);
    if (state != DIFF_NEW) {
        put_value(writer, ", \"old\": ", figure->old);
        put(writer, "}");
    }
    if (state != DIFF_REMOVED) {
        put_value(writer, ", \"new\": ", figure->new);
        put(writer, "}");
    }
    if (figure->has_relative)
        put_number(writer, ", \"relative\": ", figure->relative);
    if (state == DIFF_KEPT)
        put_text(writer, ", \"change\": ", change_words[figure->change]);
    put(writer, "}");
}

static void put_cause(struct json_writer *writer, const struct diff_cause *cause)
{
    put_text(writer, "{\"quantity\": ", cause->row->name);
    put_text(writer, ", \"unit\": ", cause->row->unit);
    put_number(writer, ", \"old\": ", cause->old);
    put_number(writer, ", \"new\": ", cause->new);
    put(writer, ", \"terms\": [");
    for (size_t i = 0; i < cause->terms.count; i++) {
        put_text(writer, i == 0 ? "\n          {\"term\": " : ",\n          {\"term\": ",
                 cause->terms.items[i].label);
        put_number(writer, ", \"old\": ", cause->terms.items[i].old);
        put_number(writer, ", \"new\": ", cause->terms.items[i].new);
        put(writer, "}");
    }
    put(writer, "]}");
}

static void put_scenario(struct json_writer *writer, const struct diff_scenario *scenario)
{
    static const char *const states[] = {
        [DIFF_KEPT] = "changed", [DIFF_NEW] = "new", [DIFF_REMOVED] = "removed"};
    put_text(writer, "{\"name\": ", scenario->name);
    put_text(writer, ", \"state\": ", states[scenario->state]);
    put(writer, ",\n      \"figures\": [");
    for (size_t i = 0; i < scenario->figures.count; i++) {
        put(writer, i == 0 ? "\n        " : ",\n        ");
        put_figure(writer, &scenario->figures.items[i], scenario->state);
    }
    put(writer, "],\n      \"causes\": [");
    for (size_t i = 0; i < scenario->causes.count; i++) {
        put(writer, i == 0 ? "\n        " : ",\n        ");
        put_cause(writer, &scenario->causes.items[i]);
    }
    put(writer, "]}");
}

/* ---- sweeps, models and cards */

static const char *const state_words[] = {
    [DIFF_KEPT] = "changed", [DIFF_NEW] = "new", [DIFF_REMOVED] = "removed"};

static void put_figures(struct json_writer *writer, const char *lead, const struct diff_figure *figures,
                        size_t count, enum diff_state state)
{
    put(writer, lead);
    for (size_t i = 0; i < count; i++) {
        put(writer, i == 0 ? "\n        " : ",\n        ");
        put_figure(writer, &figures[i], state);
    }
    put(writer, "]");
}

static void put_point(struct json_writer *writer, const struct diff_point *point)
{
    put_text(writer, "{\"state\": ", state_words[point->state]);
    put(writer, ", \"at\": {");
    for (size_t i = 0; i < point->point->axes.count; i++) {
        const struct report_quantity *axis = &point->point->axes.items[i];
        put_text(writer, i == 0 ? "" : ", ", axis->name);
        put_value(writer, ": ", axis);
        put(writer, "}");
    }
    put_figures(writer, "}, \"figures\": [", point->figures.items, point->figures.count, point->state);
    put(writer, "}");
}

static void put_sweep(struct json_writer *writer, const struct diff_sweep *sweep)
{
    put_text(writer, "{\"scenario\": ", sweep->sweep->scenario);
    put(writer, ", \"axes\": [");
    for (size_t i = 0; i < sweep->sweep->axes.count; i++)
        put_text(writer, i == 0 ? "" : ", ", sweep->sweep->axes.items[i]);
    put_text(writer, "], \"state\": ", state_words[sweep->state]);
    put_count(writer, ", \"compared\": ", sweep->kept);
    put_count(writer, ", \"worse\": ", sweep->worse);
    put_count(writer, ", \"better\": ", sweep->better);
    put(writer, ", \"points\": [");
    for (size_t i = 0; i < sweep->points.count; i++) {
        put(writer, i == 0 ? "\n      " : ",\n      ");
        put_point(writer, &sweep->points.items[i]);
    }
    put(writer, "]}");
}

static void put_declaration(struct json_writer *writer, const struct diff_declaration *declaration)
{
    put_text(writer, "{\"kind\": ", declaration->kind);
    put_text(writer, ", \"name\": ", declaration->name);
    put_text(writer, ", \"state\": ", state_words[declaration->state]);
    put_figures(writer, ", \"figures\": [", declaration->figures.items, declaration->figures.count,
                declaration->state);
    put(writer, "}");
}

/* ---- inputs, assertions, thresholds */

static void put_attribute(struct json_writer *writer, const char *lead,
                          const struct report_attribute *attribute)
{
    if (!attribute) {
        put(writer, lead);
        put(writer, "null");
        return;
    }
    put_value(writer, lead, &attribute->value);
    put_text(writer, ", \"origin\": ", attribute->origin);
    if (attribute->file) {
        put_text(writer, ", \"file\": ", attribute->file);
        if (attribute->line > 0)
            put_count(writer, ", \"line\": ", attribute->line);
    }
    put(writer, "}");
}

static void put_input(struct json_writer *writer, const struct diff_input *input)
{
    put_text(writer, "{\"kind\": ", input->kind);
    put_text(writer, ", \"name\": ", input->of);
    put_text(writer, ", \"attribute\": ", input->attribute);
    put_attribute(writer, ", \"old\": ", input->old);
    put_attribute(writer, ", \"new\": ", input->new);
    put(writer, ", \"scenarios\": [");
    for (size_t i = 0; i < input->scenarios.count; i++)
        put_text(writer, i == 0 ? "" : ", ", input->scenarios.items[i]);
    put(writer, "]}");
}

static void put_holds(struct json_writer *writer, const char *lead, const struct report_assertion *assertion)
{
    put(writer, lead);
    put(writer, !assertion ? "null" : assertion->holds ? "true" : "false");
}

static void put_assertion(struct json_writer *writer, const struct diff_assertion *assertion)
{
    const struct report_assertion *some = assertion->new ? assertion->new : assertion->old;
    put_text(writer, "{\"text\": ", some->text);
    put_text(writer, ", \"message\": ", some->message);
    put_holds(writer, ", \"old\": ", assertion->old);
    put_holds(writer, ", \"new\": ", assertion->new);
    put(writer, "}");
}

static void put_threshold(struct json_writer *writer, const struct report_assertion *threshold)
{
    put_text(writer, "{\"text\": ", threshold->text);
    put_holds(writer, ", \"holds\": ", threshold);
    put_text(writer, ", \"message\": ", threshold->message);
    if (threshold->why)
        put_text(writer, ", \"why\": ", threshold->why);
    put(writer, "}");
}

/* ---- all of it */

static void put_summary(struct json_writer *writer, const struct diff *diff)
{
    put_count(writer, "{\"compared\": ", diff->kept);
    put_count(writer, ", \"changed\": ", diff->changed);
    put_count(writer, ", \"worse\": ", diff->worse);
    put_count(writer, ", \"better\": ", diff->better);
    put_count(writer, ", \"new\": ", diff->added);
    put_count(writer, ", \"removed\": ", diff->removed);
    put_count(writer, ", \"failing\": ", diff->failing);
    put_count(writer, ", \"mended\": ", diff->mended);
    put_count(writer, ", \"exceeded\": ", diff->exceeded);
    put(writer, "}");
}

/* The elements of an array, one per line. */
#define PUT_ALL(writer, key, vec, put_element)                                                               \
    do {                                                                                                     \
        put(writer, ",\n  \"" key "\": [");                                                                  \
        for (size_t i = 0; i < (vec).count; i++) {                                                           \
            put(writer, i == 0 ? "\n    " : ",\n    ");                                                      \
            put_element(writer, &(vec).items[i]);                                                            \
        }                                                                                                    \
        put(writer, (vec).count > 0 ? "\n  ]" : "]");                                                        \
    } while (0)

bool json_diff_emit(struct arena *arena, const struct report *report, struct backend_options options,
                    struct buffer *out)
{
    struct json_writer writer = {.arena = arena, .out = out};
    const struct diff *diff = report->diff;
    (void)options;
    put(&writer, "{\n  \"schema\": \"perfc-diff/1\"");
    put_text(&writer, ",\n  \"old\": ", diff->old->plan);
    put_text(&writer, ",\n  \"new\": ", diff->new->plan);
    put_text(&writer, ",\n  \"verdict\": ", clean_rich(arena, &report->verdict));
    put(&writer, diff->broken ? ",\n  \"compared\": false" : ",\n  \"compared\": true");
    put(&writer, ",\n  \"summary\": ");
    put_summary(&writer, diff);
    PUT_ALL(&writer, "scenarios", diff->scenarios, put_scenario);
    PUT_ALL(&writer, "sweeps", diff->sweeps, put_sweep);
    PUT_ALL(&writer, "declarations", diff->declarations, put_declaration);
    PUT_ALL(&writer, "inputs", diff->inputs, put_input);
    PUT_ALL(&writer, "assertions", diff->assertions, put_assertion);
    PUT_ALL(&writer, "thresholds", diff->thresholds, put_threshold);
    put(&writer, "\n}\n");
    return !writer.failed;
}
