/* json.c: the report for scripts, in the form that docs/report.schema.json describes.
 *
 * Jansson builds and escapes everything whose size the plan's author controls by hand: names, texts,
 * assertions, diagnostics. The members of "quantities" are composed here, one line each, for two reasons.
 * Jansson 2.14 writes a real with 17 digits (0.1 becomes 0.10000000000000001) and later versions
 * otherwise, while a report must be the same everywhere; json_number() gives the shortest text that reads
 * back as the same double. And a tree of a million nodes would cost more than the whole evaluation. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "backend/emitters.h"
#include "backend/json_number.h"
#include "backend/json_text.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "result/report.h"
#include "source/diag.h"
#include "source/source.h"

static bool needs_escape(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || (unsigned char)*text >= 0x7F || *text == '"' || *text == '\\')
            return true;
    return false;
}

/* Most names are plain, and there may be a million of them. */
static void write_string(struct json_writer *writer, const char *text)
{
    if (needs_escape(text)) {
        json_text_write(writer, json_text_node(writer, text));
        return;
    }
    buffer_byte(writer->out, '"');
    buffer_text(writer->out, text);
    buffer_byte(writer->out, '"');
}

static void write_member(struct json_writer *writer, const char *key, const char *text)
{
    buffer_text(writer->out, key);
    write_string(writer, text);
}

static void write_number(struct json_writer *writer, const char *key, double value)
{
    char text[NUMBER_TEXT_MAX];
    buffer_text(writer->out, key);
    buffer_text(writer->out, json_number(text, value));
}

/* ---- quantities */

static void write_absent(struct json_writer *writer, const char *why)
{
    write_member(writer, "{\"value\": null, \"why\": ", why ? why : "not known");
}

static void write_real(struct json_writer *writer, const struct report_quantity *quantity)
{
    if (!isfinite(quantity->value)) { /* the evaluator's checks exclude this; JSON could not hold it */
        write_absent(writer, "not a finite number");
        return;
    }
    write_number(writer, "{\"value\": ", quantity->value);
    write_member(writer, ", \"unit\": ", quantity->unit ? quantity->unit : "1");
    if (quantity->has_band && isfinite(quantity->low) && isfinite(quantity->high)) {
        write_number(writer, ", \"low\": ", quantity->low);
        write_number(writer, ", \"high\": ", quantity->high);
    }
}

/* Without the closing brace. */
static void write_quantity(struct json_writer *writer, const struct report_quantity *quantity)
{
    switch (quantity->type) {
    case QUANTITY_NUMBER: write_real(writer, quantity); break;
    case QUANTITY_BOOL:
        buffer_text(writer->out, quantity->boolean ? "{\"value\": true" : "{\"value\": false");
        break;
    case QUANTITY_TEXT: write_member(writer, "{\"value\": ", quantity->text); break;
    case QUANTITY_ABSENT: write_absent(writer, quantity->text); break;
    }
}

static void write_quantities(struct json_writer *writer, const struct report *report)
{
    buffer_text(writer->out, "  \"quantities\": {");
    for (size_t i = 0; i < report->quantities.count; i++) {
        const struct report_quantity *quantity = &report->quantities.items[i];
        write_member(writer, i == 0 ? "\n    " : ",\n    ", quantity->name);
        buffer_text(writer->out, ": ");
        write_quantity(writer, quantity);
        buffer_byte(writer->out, '}');
    }
    buffer_text(writer->out, report->quantities.count > 0 ? "\n  },\n" : "},\n");
}

/* ---- inputs */

static void write_attribute(struct json_writer *writer, const struct report_attribute *attribute)
{
    write_string(writer, attribute->value.name);
    buffer_text(writer->out, ": ");
    write_quantity(writer, &attribute->value);
    if (attribute->origin)
        write_member(writer, ", \"origin\": ", attribute->origin);
    if (attribute->file) {
        write_member(writer, ", \"file\": ", attribute->file);
        if (attribute->line > 0)
            buffer_printf(writer->out, ", \"line\": %u", attribute->line);
    }
    buffer_byte(writer->out, '}');
}

static void write_input(struct json_writer *writer, const struct report_input *input)
{
    struct buffer *out = writer->out;
    write_member(writer, "{\"kind\": ", input->kind);
    write_member(writer, ", \"name\": ", input->name ? input->name : "");
    buffer_text(out, ", \"uses\": [");
    for (size_t i = 0; i < input->uses.count; i++)
        buffer_printf(out, "%s%zu", i == 0 ? "" : ", ", input->uses.items[i]);
    buffer_text(out, "], \"attributes\": {");
    for (size_t i = 0; i < input->attributes.count; i++) {
        buffer_text(out, i == 0 ? "\n      " : ",\n      ");
        write_attribute(writer, &input->attributes.items[i]);
    }
    buffer_text(out, input->attributes.count > 0 ? "\n    }}" : "}}");
}

static void write_inputs(struct json_writer *writer, const struct report *report)
{
    buffer_text(writer->out, "  \"inputs\": [");
    for (size_t i = 0; i < report->inputs.count; i++) {
        buffer_text(writer->out, i == 0 ? "\n    " : ",\n    ");
        write_input(writer, &report->inputs.items[i]);
    }
    buffer_text(writer->out, report->inputs.count > 0 ? "\n  ],\n" : "],\n");
}

/* ---- sweeps, latency against throughput, sensitivities and thresholds */

static void write_names(struct json_writer *writer, const char *key, const char *const *names, size_t count)
{
    buffer_text(writer->out, key);
    for (size_t i = 0; i < count; i++)
        write_member(writer, i == 0 ? "" : ", ", names[i]);
    buffer_byte(writer->out, ']');
}

static void write_named(struct json_writer *writer, const struct report_quantity *quantities, size_t count)
{
    buffer_byte(writer->out, '{');
    for (size_t i = 0; i < count; i++) {
        write_member(writer, i == 0 ? "" : ", ", quantities[i].name);
        buffer_text(writer->out, ": ");
        write_quantity(writer, &quantities[i]);
        buffer_byte(writer->out, '}');
    }
    buffer_byte(writer->out, '}');
}

static void write_point(struct json_writer *writer, const struct report_sweep_point *point)
{
    buffer_text(writer->out, "{\"at\": ");
    write_named(writer, point->axes.items, point->axes.count);
    buffer_text(writer->out, point->fits ? ", \"fits\": true" : ", \"fits\": false");
    if (point->why)
        write_member(writer, ", \"why\": ", point->why);
    buffer_text(writer->out, ", \"quantities\": ");
    write_named(writer, point->shown.items, point->shown.count);
    buffer_byte(writer->out, '}');
}

static void write_sweep(struct json_writer *writer, const struct report_sweep *sweep)
{
    write_member(writer, "{\"scenario\": ", sweep->scenario);
    write_names(writer, ", \"axes\": [", sweep->axes.items, sweep->axes.count);
    buffer_text(writer->out, ", \"points\": [");
    for (size_t i = 0; i < sweep->points.count; i++) {
        buffer_text(writer->out, i == 0 ? "\n      " : ",\n      ");
        write_point(writer, &sweep->points.items[i]);
    }
    buffer_text(writer->out, "]}");
}

static void write_elasticity(struct json_writer *writer, const struct report_elasticity *elasticity)
{
    write_string(writer, elasticity->quantity);
    write_number(writer, ": {\"elasticity\": ", elasticity->value);
    if (elasticity->corner) {
        write_number(writer, ", \"left\": ", elasticity->left);
        write_number(writer, ", \"right\": ", elasticity->right);
    }
    if (elasticity->with_less >= 0) /* negative: it does not exist there */
        write_number(writer, ", \"with_less\": ", elasticity->with_less);
    if (elasticity->with_more >= 0)
        write_number(writer, ", \"with_more\": ", elasticity->with_more);
    buffer_byte(writer->out, '}');
}

static void write_sensitivity(struct json_writer *writer, const struct report_sensitivity *sensitivity)
{
    write_member(writer, "{\"scenario\": ", sensitivity->scenario);
    write_member(writer, ", \"input\": ", sensitivity->input);
    write_number(writer, ", \"value\": ", sensitivity->value);
    write_member(writer, ", \"unit\": ", sensitivity->unit);
    write_number(writer, ", \"less\": ", sensitivity->less);
    write_number(writer, ", \"more\": ", sensitivity->more);
    buffer_text(writer->out, ", \"results\": {");
    for (size_t i = 0; i < sensitivity->results.count; i++) {
        buffer_text(writer->out, i == 0 ? "" : ", ");
        write_elasticity(writer, &sensitivity->results.items[i]);
    }
    buffer_text(writer->out, "}}");
}

static void write_measurement(struct json_writer *writer, const struct report_measurement *measurement)
{
    write_member(writer, "{\"scenario\": ", measurement->scenario);
    write_member(writer, ", \"quantity\": ", measurement->quantity);
    if (measurement->source)
        write_member(writer, ", \"source\": ", measurement->source);
    write_member(writer, ", \"unit\": ", measurement->unit);
    write_number(writer, ", \"measured\": ", measurement->measured);
    if (measurement->has_expected) {
        write_number(writer, ", \"expected\": ", measurement->expected);
        write_number(writer, ", \"low\": ", measurement->low);
        write_number(writer, ", \"high\": ", measurement->high);
        buffer_text(writer->out, measurement->inside ? ", \"inside\": true" : ", \"inside\": false");
    }
    if (measurement->has_ceiling) {
        write_number(writer, ", \"ceiling\": ", measurement->ceiling);
        buffer_text(writer->out, measurement->possible ? ", \"possible\": true" : ", \"possible\": false");
    }
    buffer_text(writer->out, ", \"gap\": {");
    for (size_t i = 0; i < measurement->parts.count; i++) {
        buffer_printf(writer->out, "%s\"%s\"", i == 0 ? "" : ", ", measurement->parts.items[i].term);
        write_number(writer, ": ", measurement->parts.items[i].seconds);
    }
    buffer_text(writer->out, "}}");
}

static void write_threshold(struct json_writer *writer, const struct report_threshold *threshold)
{
    write_member(writer, "{\"scenario\": ", threshold->scenario);
    write_member(writer, ", \"about\": ", threshold->about);
    if (threshold->text)
        write_member(writer, ", \"text\": ", threshold->text);
    write_member(writer, ", \"input\": ", threshold->input);
    write_member(writer, ", \"unit\": ", threshold->unit);
    buffer_text(writer->out, threshold->above ? ", \"with\": \"more\"" : ", \"with\": \"less\"");
    write_number(writer, ", \"last\": ", threshold->last);
    write_number(writer, ", \"first\": ", threshold->first);
    write_member(writer, ", \"from\": ", threshold->from);
    write_member(writer, ", \"to\": ", threshold->to);
    buffer_byte(writer->out, '}');
}

static void write_tradeoff(struct json_writer *writer, const struct report_tradeoff *point)
{
    write_member(writer, "{\"name\": ", point->name);
    write_member(writer, ", \"scenario\": ", point->scenario);
    write_number(writer, ", \"throughput_per_gpu\": ", point->throughput);
    write_number(writer, ", \"tpot\": ", point->latency);
    write_number(writer, ", \"low\": ", point->low);
    write_number(writer, ", \"high\": ", point->high);
    buffer_text(writer->out, point->pareto ? ", \"pareto\": true}" : ", \"pareto\": false}");
}

/* The elements of an array, one per line. */
#define WRITE_ALL(writer, key, vec, write_element)                                                           \
    do {                                                                                                     \
        buffer_text((writer)->out, "  \"" key "\": [");                                                      \
        for (size_t i = 0; i < (vec).count; i++) {                                                           \
            buffer_text((writer)->out, i == 0 ? "\n    " : ",\n    ");                                       \
            write_element(writer, &(vec).items[i]);                                                          \
        }                                                                                                    \
        buffer_text((writer)->out, (vec).count > 0 ? "\n  ],\n" : "],\n");                                   \
    } while (0)

/* ---- the rest */

static void write_declarations(struct json_writer *writer, const struct report *report)
{
    buffer_text(writer->out, "  \"declarations\": {\n");
    write_names(writer, "    \"models\": [", report->models.items, report->models.count);
    write_names(writer, ",\n    \"gpus\": [", report->gpus.items, report->gpus.count);
    write_names(writer, ",\n    \"scenarios\": [", report->scenarios.items, report->scenarios.count);
    buffer_text(writer->out, "\n  },\n");
}

static void set_text(struct json_writer *writer, json_t *node, const char *key, const char *text)
{
    if (node && text)
        json_object_set_new(node, key, json_text_node(writer, text));
}

/* "why" is there only when the assertion could not be decided, the sides only of a comparison. */
static json_t *assertion_node(struct json_writer *writer, const struct report_assertion *assertion)
{
    json_t *node = json_pack("{s:o, s:b, s:o, s:I}", "text", json_text_node(writer, assertion->text), "holds",
                             (int)assertion->holds, "message", json_text_node(writer, assertion->message),
                             "line", (json_int_t)assertion->line);
    set_text(writer, node, "left", assertion->left);
    set_text(writer, node, "right", assertion->right);
    set_text(writer, node, "margin", assertion->margin);
    set_text(writer, node, "why", assertion->why);
    return node;
}

static void set_place(struct json_writer *writer, json_t *node, const struct report *report, struct span span,
                      bool known)
{
    if (!known || !report->sources || span.file >= sources_count(report->sources)) {
        json_object_set_new(node, "file", json_null());
        json_object_set_new(node, "line", json_null());
        json_object_set_new(node, "column", json_null());
        return;
    }
    const struct source *source = sources_get(report->sources, span.file);
    unsigned line, column;
    source_position(source, span.start, &line, &column);
    json_object_set_new(node, "file", json_text_node(writer, source->path));
    json_object_set_new(node, "line", json_integer(line));
    json_object_set_new(node, "column", json_integer(column));
}

static json_t *note_node(struct json_writer *writer, const struct report *report,
                         const struct diag_note *note)
{
    json_t *node = json_object();
    set_place(writer, node, report, note->span, note->span.end != 0);
    json_object_set_new(node, "message", json_text_node(writer, note->text));
    if (note->replacement)
        json_object_set_new(node, "replacement", json_text_node(writer, note->replacement));
    return node;
}

static json_t *diagnostic_node(struct json_writer *writer, const struct report *report,
                               const struct diag *diag)
{
    const struct diag_info *info = diag_info(diag->code);
    json_t *node = json_pack("{s:s, s:s}", "code", info->code, "severity",
                             info->severity == DIAG_ERROR ? "error" : "warning");
    set_place(writer, node, report, diag->span, true);
    json_object_set_new(node, "message", json_text_node(writer, diag->message));
    json_t *notes = json_array();
    for (const struct diag_note *note = diag->notes; note; note = note->next)
        json_array_append_new(notes, note_node(writer, report, note));
    json_object_set_new(node, "notes", notes);
    return node;
}

static void write_assertions(struct json_writer *writer, const struct report *report)
{
    buffer_text(writer->out, "  \"assertions\": [");
    for (size_t i = 0; i < report->assertions.count; i++) {
        buffer_text(writer->out, i == 0 ? "\n    " : ",\n    ");
        json_text_write(writer, assertion_node(writer, &report->assertions.items[i]));
    }
    buffer_text(writer->out, report->assertions.count > 0 ? "\n  ],\n" : "],\n");
}

static void write_diagnostics(struct json_writer *writer, const struct report *report)
{
    size_t count = report->diags ? diags_count(report->diags) : 0;
    buffer_text(writer->out, "  \"diagnostics\": [");
    for (size_t i = 0; i < count; i++) {
        buffer_text(writer->out, i == 0 ? "\n    " : ",\n    ");
        json_text_write(writer, diagnostic_node(writer, report, diags_get(report->diags, i)));
    }
    buffer_text(writer->out, count > 0 ? "\n  ]\n" : "]\n");
}

bool json_emit(struct arena *arena, const struct report *report, struct backend_options options,
               struct buffer *out)
{
    if (report->diff)
        return json_diff_emit(arena, report, options, out);
    struct json_writer writer = {.arena = arena, .out = out};
    buffer_text(out, "{\n  \"schema\": \"perfc-report/1\",\n  \"plan\": ");
    json_text_write(&writer, json_text_node(&writer, report->plan));
    buffer_text(out, ",\n  \"title\": ");
    json_text_write(&writer, json_text_node(&writer, report->title));
    buffer_text(out, ",\n");
    write_declarations(&writer, report);
    write_quantities(&writer, report);
    write_inputs(&writer, report);
    WRITE_ALL(&writer, "sweeps", report->sweeps, write_sweep);
    WRITE_ALL(&writer, "tradeoff", report->tradeoff, write_tradeoff);
    WRITE_ALL(&writer, "sensitivities", report->sensitivities, write_sensitivity);
    WRITE_ALL(&writer, "thresholds", report->thresholds, write_threshold);
    WRITE_ALL(&writer, "measurements", report->measurements, write_measurement);
    write_assertions(&writer, report);
    write_names(&writer, "  \"guards\": [", report->guards.items, report->guards.count);
    buffer_text(out, ",\n");
    write_diagnostics(&writer, report);
    buffer_text(out, "}\n");
    return !writer.failed;
}
