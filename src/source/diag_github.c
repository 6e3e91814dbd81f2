/* diag_github.c: diagnostics as workflow commands of GitHub Actions, which shows them beside the lines of a
 * pull request: `::error file=F,line=L,col=C,endColumn=E,title=T::message`. Escaping is that of
 * actions/toolkit, packages/core/src/command.ts: `%`, CR and LF everywhere, `:` and `,` in properties too. */
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "source/diag_machine.h"
#include "source/source.h"

static void add_escaped(struct buffer *out, const char *text, bool property)
{
    for (; *text; text++) {
        bool special = strchr("%\r\n", *text) || (property && strchr(":,", *text));
        if (special)
            buffer_printf(out, "%%%02X", (unsigned)(unsigned char)*text);
        else
            buffer_byte(out, *text);
    }
}

static void add_command(struct buffer *out, const char *severity, struct diag_place place, const char *title)
{
    buffer_printf(out, "::%s ", severity);
    if (place.path && !place.embedded) {
        buffer_text(out, "file=");
        add_escaped(out, place.path, true);
        buffer_printf(out, ",line=%u", place.line);
        if (place.end_line == place.line) /* GitHub takes columns on one line only */
            buffer_printf(out, ",col=%u,endColumn=%u", place.column, place.end_column);
        else
            buffer_printf(out, ",endLine=%u", place.end_line);
        buffer_byte(out, ',');
    }
    buffer_text(out, "title=");
    add_escaped(out, title, true);
    buffer_text(out, "::");
}

/* Notes follow as lines of their own. */
static void add_note(struct buffer *out, const struct sources *sources, const struct diag_note *note)
{
    struct buffer line = buffer_in(out->arena);
    if (note->span.end != 0 && !note->replacement) {
        struct diag_place place = diag_place_of(sources, note->span);
        if (place.path)
            buffer_printf(&line, "%s:%u:%u: ", place.path, place.line, place.column);
    }
    buffer_text(&line, note->text);
    buffer_text(out, "%0A");
    add_escaped(out, buffer_string(&line), false);
}

void diags_render_github(struct buffer *out, const struct diags *diags, const struct sources *sources,
                         struct diag_render_options options)
{
    for (size_t i = 0; i < diags_count(diags); i++) {
        const struct diag *diag = diags_get(diags, i);
        const struct diag_info *info = diag_info(diag->code);
        struct diag_place place = diag_place_of(sources, diag->span);
        add_command(out, diag_severity_word(diag, options), place,
                    arena_printf(out->arena, "%s %s", info->code, info->slug));
        if (place.embedded) /* a line of the standard library cannot be shown */
            add_escaped(out, arena_printf(out->arena, "%s:%u: ", place.path, place.line), false);
        add_escaped(out, diag->message, false);
        for (const struct diag_note *note = diag->notes; note; note = note->next)
            add_note(out, sources, note);
        buffer_byte(out, '\n');
    }
    for (size_t i = 0; i < options.failure_count; i++) {
        const struct diag_failure *failure = &options.failures[i];
        add_command(out, "error", diag_place_of(sources, failure->span), failure->rule);
        add_escaped(out, failure->message, false);
        buffer_byte(out, '\n');
    }
}
