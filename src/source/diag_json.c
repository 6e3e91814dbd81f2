/* diag_json.c: diagnostics for editors and scripts, as one JSON object:
 *     { "schema": "perfc-diagnostics/1", "diagnostics": [ { "code", "severity", "file", "line", "column",
 *       "end_line", "end_column", "message", "notes": [ ... ] } ] }
 * Lines and columns (in code points) count from one and the end is exclusive; places are null where there is
 * none. What fails has the code "assertion" or "threshold". */
#include <string.h>

#include "base/buffer.h"
#include "base/utf8.h"
#include "source/diag_machine.h"
#include "source/source.h"

struct diag_place diag_place_of(const struct sources *sources, struct span span)
{
    struct diag_place place = {0};
    if (span.file >= sources_count(sources))
        return place;
    const struct source *source = sources_get(sources, span.file);
    uint32_t last = span.end > source->length ? (uint32_t)source->length : span.end;
    place.path = source->path;
    place.embedded = source->embedded;
    source_position(source, span.start, &place.line, &place.column);
    source_position(source, last > span.start ? last : span.start, &place.end_line, &place.end_column);
    return place;
}

const char *diag_severity_word(const struct diag *diag, struct diag_render_options options)
{
    bool error = diag_info(diag->code)->severity == DIAG_ERROR || options.warnings_are_errors;
    return error ? "error" : "warning";
}

json_t *diag_json_text(struct arena *arena, const char *text)
{
    size_t length = strlen(text), valid = utf8_valid_prefix(text, length);
    if (valid == length)
        return json_string(text);
    struct buffer clean = buffer_in(arena);
    for (size_t at = 0; at < length;) {
        size_t good = utf8_valid_prefix(text + at, length - at);
        buffer_add(&clean, text + at, good);
        at += good;
        if (at < length) {
            buffer_text(&clean, "\xEF\xBF\xBD");
            at++;
        }
    }
    return json_string(buffer_string(&clean));
}

static int append(const char *bytes, size_t length, void *data)
{
    buffer_add(data, bytes, length);
    return 0;
}

void diag_json_dump(struct buffer *out, json_t *node)
{
    json_dump_callback(node, append, out, JSON_INDENT(2));
    json_decref(node);
    buffer_byte(out, '\n');
}

/* ---- the form of its own ------------------------------------------------------------------------------ */

static void set_place(struct arena *arena, json_t *node, struct diag_place place)
{
    bool known = place.path != NULL;
    json_object_set_new(node, "file", known ? diag_json_text(arena, place.path) : json_null());
    json_object_set_new(node, "line", known ? json_integer(place.line) : json_null());
    json_object_set_new(node, "column", known ? json_integer(place.column) : json_null());
    json_object_set_new(node, "end_line", known ? json_integer(place.end_line) : json_null());
    json_object_set_new(node, "end_column", known ? json_integer(place.end_column) : json_null());
}

static json_t *node_of(struct arena *arena, const char *code, const char *severity, struct diag_place place,
                       const char *message)
{
    json_t *node = json_pack("{s:s, s:s}", "code", code, "severity", severity);
    set_place(arena, node, place);
    json_object_set_new(node, "message", diag_json_text(arena, message));
    return node;
}

static json_t *notes_of(struct arena *arena, const struct diag *diag, const struct sources *sources)
{
    json_t *notes = json_array();
    for (const struct diag_note *note = diag->notes; note; note = note->next) {
        struct diag_place place = {0};
        json_t *node = json_object();
        if (note->span.end != 0)
            place = diag_place_of(sources, note->span);
        set_place(arena, node, place);
        json_object_set_new(node, "message", diag_json_text(arena, note->text));
        if (note->replacement)
            json_object_set_new(node, "replacement", diag_json_text(arena, note->replacement));
        json_array_append_new(notes, node);
    }
    return notes;
}

void diags_render_json(struct buffer *out, const struct diags *diags, const struct sources *sources,
                       struct diag_render_options options)
{
    json_t *list = json_array();
    for (size_t i = 0; i < diags_count(diags); i++) {
        const struct diag *diag = diags_get(diags, i);
        json_t *node = node_of(out->arena, diag_info(diag->code)->code, diag_severity_word(diag, options),
                               diag_place_of(sources, diag->span), diag->message);
        json_object_set_new(node, "notes", notes_of(out->arena, diag, sources));
        json_array_append_new(list, node);
    }
    for (size_t i = 0; i < options.failure_count; i++) {
        const struct diag_failure *failure = &options.failures[i];
        json_t *node = node_of(out->arena, failure->rule, "error", diag_place_of(sources, failure->span),
                               failure->message);
        json_object_set_new(node, "notes", json_array());
        json_array_append_new(list, node);
    }
    json_t *root = json_pack("{s:s}", "schema", "perfc-diagnostics/1");
    json_object_set_new(root, "diagnostics", list);
    diag_json_dump(out, root);
}
