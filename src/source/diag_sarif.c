/* diag_sarif.c: diagnostics as a SARIF 2.1.0 log (OASIS), which code scanning of GitHub and GitLab, and
 * editors, read. Only rules that occur are listed; columns count code points, and ends are exclusive. */
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "source/diag_machine.h"
#include "source/source.h"

struct log {
    struct arena *arena;
    const struct sources *sources;
    struct diag_render_options options;
    json_t *rules, *results;
};

/* A path as a relative reference (RFC 3986): bytes that are not of its alphabet are escaped. */
static const char *uri_of(struct arena *arena, const char *path)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
    struct buffer out = buffer_in(arena);
    for (; *path; path++) {
        if (strchr(plain, *path))
            buffer_byte(&out, *path);
        else
            buffer_printf(&out, "%%%02X", (unsigned)(unsigned char)*path);
    }
    return buffer_string(&out);
}

static json_t *region_of(struct diag_place place)
{
    return json_pack("{s:i, s:i, s:i, s:i}", "startLine", (int)place.line, "startColumn", (int)place.column,
                     "endLine", (int)place.end_line, "endColumn", (int)place.end_column);
}

static json_t *physical_of(struct log *log, struct diag_place place)
{
    return json_pack("{s:{s:s}, s:o}", "artifactLocation", "uri", uri_of(log->arena, place.path), "region",
                     region_of(place));
}

static json_t *message_of(struct log *log, const char *text)
{
    return json_pack("{s:o}", "text", diag_json_text(log->arena, text));
}

/* The index of a rule, which is listed when it occurs first. */
static size_t rule_index(struct log *log, const char *id, const char *name, const char *title,
                         const char *paragraph)
{
    size_t count = json_array_size(log->rules);
    for (size_t i = 0; i < count; i++)
        if (strcmp(json_string_value(json_object_get(json_array_get(log->rules, i), "id")), id) == 0)
            return i;
    json_array_append_new(log->rules,
                          json_pack("{s:s, s:s, s:{s:s}, s:{s:s}}", "id", id, "name", name,
                                    "shortDescription", "text", title, "fullDescription", "text", paragraph));
    return count;
}

static json_t *result_of(struct log *log, const char *rule, size_t index, const char *level,
                         struct diag_place place, const char *message)
{
    json_t *result = json_pack("{s:s, s:i, s:s}", "ruleId", rule, "ruleIndex", (int)index, "level", level);
    if (place.path && place.embedded)
        message = arena_printf(log->arena, "%s:%u: %s", place.path, place.line, message);
    json_object_set_new(result, "message", message_of(log, message));
    json_t *locations = json_array();
    if (place.path && !place.embedded)
        json_array_append_new(locations, json_pack("{s:o}", "physicalLocation", physical_of(log, place)));
    json_object_set_new(result, "locations", locations);
    json_array_append_new(log->results, result);
    return result;
}

static void add_fix(struct log *log, json_t *fixes, const struct diag_note *note, struct diag_place place)
{
    json_t *replacement = json_pack("{s:o, s:o}", "deletedRegion", region_of(place), "insertedContent",
                                    message_of(log, note->replacement));
    json_t *change = json_pack("{s:{s:s}, s:[o]}", "artifactLocation", "uri", uri_of(log->arena, place.path),
                               "replacements", replacement);
    json_array_append_new(fixes, json_pack("{s:o, s:[o]}", "description", message_of(log, note->text),
                                           "artifactChanges", change));
}

static void add_notes(struct log *log, json_t *result, const struct diag *diag)
{
    json_t *related = json_array(), *fixes = json_array();
    for (const struct diag_note *note = diag->notes; note; note = note->next) {
        struct diag_place place = {0};
        if (note->span.end != 0)
            place = diag_place_of(log->sources, note->span);
        if (note->replacement && place.path && !place.embedded) {
            add_fix(log, fixes, note, place);
            continue;
        }
        json_t *location = json_pack("{s:o}", "message", message_of(log, note->text));
        if (place.path && !place.embedded)
            json_object_set_new(location, "physicalLocation", physical_of(log, place));
        json_array_append_new(related, location);
    }
    if (json_array_size(related) > 0)
        json_object_set(result, "relatedLocations", related);
    if (json_array_size(fixes) > 0)
        json_object_set(result, "fixes", fixes);
    json_decref(related);
    json_decref(fixes);
}

static void add_diag(struct log *log, const struct diag *diag)
{
    const struct diag_info *info = diag_info(diag->code);
    size_t index = rule_index(log, info->code, info->slug, info->title, info->paragraph);
    json_t *result = result_of(log, info->code, index, diag_severity_word(diag, log->options),
                               diag_place_of(log->sources, diag->span), diag->message);
    add_notes(log, result, diag);
}

static void add_failure(struct log *log, const struct diag_failure *failure)
{
    size_t index =
        strcmp(failure->rule, "assertion") == 0
            ? rule_index(log, failure->rule, "assertion", "assertion that does not hold",
                         "A condition that the plan demands with `assert` does not hold.")
            : rule_index(log, failure->rule, "threshold", "threshold that is exceeded",
                         "What changed exceeds a `guard` of the plan or a `--fail-if` of the command line.");
    result_of(log, failure->rule, index, "error", diag_place_of(log->sources, failure->span),
              failure->message);
}

void diags_render_sarif(struct buffer *out, const struct diags *diags, const struct sources *sources,
                        struct diag_render_options options)
{
    struct log log = {out->arena, sources, options, json_array(), json_array()};
    for (size_t i = 0; i < diags_count(diags); i++)
        add_diag(&log, diags_get(diags, i));
    for (size_t i = 0; i < options.failure_count; i++)
        add_failure(&log, &options.failures[i]);
    json_t *driver = json_pack("{s:s}", "name", "perfc");
    if (options.version)
        json_object_set_new(driver, "version", diag_json_text(out->arena, options.version));
    json_object_set_new(driver, "rules", log.rules);
    json_t *run = json_pack("{s:{s:o}, s:s, s:o}", "tool", "driver", driver, "columnKind",
                            "unicodeCodePoints", "results", log.results);
    if (sources_count(sources) > 0) {
        /* Code scanning takes a run of each category at once, and what stands before the last `/` is one. */
        const char *id = arena_printf(out->arena, "perfc/%s/", sources_get(sources, 0)->path);
        json_object_set_new(run, "automationDetails",
                            json_pack("{s:o}", "id", diag_json_text(out->arena, id)));
    }
    diag_json_dump(out,
                   json_pack("{s:s, s:s, s:[o]}", "$schema", "https://json.schemastore.org/sarif-2.1.0.json",
                             "version", "2.1.0", "runs", run));
}
