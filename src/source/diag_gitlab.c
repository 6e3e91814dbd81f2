/* diag_gitlab.c: diagnostics as a Code Quality report, which GitLab shows in merge requests (a subset of the
 * Code Climate specification: docs.gitlab.com/ci/testing/code_quality, "Code Quality report format"). Every
 * element needs a path and a line, so what has no place of its own stands at the beginning of the plan. */
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/vec.h"
#include "source/diag_machine.h"
#include "source/source.h"

struct quality {
    struct arena *arena;
    const struct sources *sources;
    json_t *list;
    VEC(uint64_t) seen;
};

/* FNV-1a (draft-eastlake-fnv, 64 bits); the zero between texts keeps them apart. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (size_t i = 0; i <= strlen(text); i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001B3);
    return hash;
}

/* Tells findings apart, and finds one again when lines before it come and go; so no line is in it, and equal
 * findings are counted. */
static const char *fingerprint_of(struct quality *quality, const char *name, const char *path,
                                  const char *message)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    hash = hash_text(hash_text(hash_text(hash, name), path), message);
    size_t equal = 0;
    for (size_t i = 0; i < quality->seen.count; i++)
        equal += quality->seen.items[i] == hash;
    *VEC_PUSH(quality->arena, quality->seen) = hash;
    return arena_printf(quality->arena, "%016" PRIx64 "-%zu", hash, equal);
}

static void add_finding(struct quality *quality, const char *name, const char *severity,
                        struct diag_place place, const char *message)
{
    if (!place.path || place.embedded) {
        if (place.embedded)
            message = arena_printf(quality->arena, "%s:%u: %s", place.path, place.line, message);
        place = (struct diag_place){.path = "", .line = 1};
        if (sources_count(quality->sources) > 0)
            place.path = sources_get(quality->sources, 0)->path;
    }
    const char *fingerprint = fingerprint_of(quality, name, place.path, message);
    json_array_append_new(quality->list,
                          json_pack("{s:o, s:s, s:s, s:s, s:{s:o, s:{s:i}}}", "description",
                                    diag_json_text(quality->arena, message), "check_name", name,
                                    "fingerprint", fingerprint, "severity", severity, "location", "path",
                                    diag_json_text(quality->arena, place.path), "lines", "begin",
                                    (int)place.line));
}

void diags_render_gitlab(struct buffer *out, const struct diags *diags, const struct sources *sources,
                         struct diag_render_options options)
{
    struct quality quality = {.arena = out->arena, .sources = sources, .list = json_array()};
    for (size_t i = 0; i < diags_count(diags); i++) {
        const struct diag *diag = diags_get(diags, i);
        bool error = strcmp(diag_severity_word(diag, options), "error") == 0;
        add_finding(&quality, diag_info(diag->code)->code, error ? "blocker" : "minor",
                    diag_place_of(sources, diag->span), diag->message);
    }
    for (size_t i = 0; i < options.failure_count; i++)
        add_finding(&quality, options.failures[i].rule, "major",
                    diag_place_of(sources, options.failures[i].span), options.failures[i].message);
    diag_json_dump(out, quality.list);
}
