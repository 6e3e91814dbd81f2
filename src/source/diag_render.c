/* diag_render.c: diagnostics as a person reads them: place, message, the line with its exact range
 * underlined, then notes and the edit that would mend it. */
#include "source/diag_render.h"

#include <string.h>

#include "base/buffer.h"
#include "base/utf8.h"
#include "source/diag.h"
#include "source/source.h"

enum { TAB_WIDTH = 4, WINDOW_WIDTH = 100, WINDOW_BEFORE = 40 };

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */
#define ELLIPSIS    "..."

enum style { STYLE_NONE, STYLE_BOLD, STYLE_ERROR, STYLE_WARNING, STYLE_NOTE, STYLE_MARK };

static const char *const style_codes[] = {
    [STYLE_NONE] = "",
    [STYLE_BOLD] = "\x1b[1m",
    [STYLE_ERROR] = "\x1b[1;31m",
    [STYLE_WARNING] = "\x1b[1;35m",
    [STYLE_NOTE] = "\x1b[1;36m",
    [STYLE_MARK] = "\x1b[1;32m",
};

struct renderer {
    struct buffer *out;
    const struct sources *sources;
    struct diag_render_options options;
};

/* Text from outside, with whatever a terminal might obey taken out. Returns the columns it takes. */
static size_t add_clean(struct buffer *out, const char *text, size_t length)
{
    size_t columns = 0;
    for (size_t at = 0; at < length;) {
        bool printable;
        size_t size = utf8_next(text + at, length - at, &printable);
        if (text[at] == '\t') {
            size_t blanks = TAB_WIDTH - columns % TAB_WIDTH;
            buffer_repeat(out, " ", blanks);
            columns += blanks;
        } else if (printable) {
            buffer_add(out, text + at, size);
            columns += utf8_width(text + at, size);
        } else {
            buffer_text(out, REPLACEMENT);
            columns++;
        }
        at += size;
    }
    return columns;
}

static void styled(const struct renderer *renderer, enum style style, const char *text)
{
    if (renderer->options.colour)
        buffer_text(renderer->out, style_codes[style]);
    add_clean(renderer->out, text, strlen(text));
    if (renderer->options.colour)
        buffer_text(renderer->out, "\x1b[0m");
}

static void start_style(const struct renderer *renderer, enum style style)
{
    if (renderer->options.colour)
        buffer_text(renderer->out, style_codes[style]);
}

static void end_style(const struct renderer *renderer)
{
    if (renderer->options.colour)
        buffer_text(renderer->out, "\x1b[0m");
}

static void place(const struct renderer *renderer, const struct source *source, struct span span)
{
    unsigned line, column;
    source_position(source, span.start, &line, &column);
    start_style(renderer, STYLE_BOLD);
    add_clean(renderer->out, source->path, strlen(source->path));
    buffer_printf(renderer->out, ":%u:%u: ", line, column);
    end_style(renderer);
}

/* Up to `count` characters back from `at`, not before `start`. */
static const char *step_back(const char *start, const char *at, size_t count)
{
    while (at > start && count > 0) {
        at--;
        if (((unsigned char)*at & 0xC0) != 0x80)
            count--;
    }
    return at;
}

/* The end of at most WINDOW_WIDTH columns from `at`. */
static const char *window_end(const char *at, const char *end)
{
    size_t columns = 0;
    while (at < end) {
        bool printable;
        size_t size = utf8_next(at, (size_t)(end - at), &printable);
        columns += *at == '\t' ? TAB_WIDTH : printable ? utf8_width(at, size) : 1;
        if (columns > WINDOW_WIDTH)
            break;
        at += size;
    }
    return at;
}

/* The line the span begins on, and the underline below it. */
static void snippet(const struct renderer *renderer, const struct source *source, struct span span, char mark,
                    const char *label)
{
    struct buffer *out = renderer->out;
    unsigned line, column;
    source_position(source, span.start, &line, &column);
    size_t length;
    const char *start = source_line(source, line, &length);
    const char *end = start + length;
    const char *from = source->text + (span.start < source->length ? span.start : source->length);
    const char *to = source->text + (span.end < source->length ? span.end : source->length);
    if (from > end)
        from = end;
    to = to > end ? end : to < from ? from : to;

    const char *first = start;
    if (window_end(start, end) < end && from - start > WINDOW_BEFORE)
        first = step_back(start, from, WINDOW_BEFORE);
    const char *last = window_end(first, end);
    if (to > last)
        to = last;

    buffer_printf(out, "%5u | ", line);
    if (first > start)
        buffer_text(out, ELLIPSIS);
    add_clean(out, first, (size_t)(last - first));
    buffer_text(out, last < end ? ELLIPSIS "\n" : "\n");

    /* Columns are measured with the same function that printed the line. */
    size_t before_text = out->length;
    size_t indent = add_clean(out, first, (size_t)(from - first));
    size_t upto = add_clean(out, first, (size_t)(to - first));
    out->length = before_text;
    out->data[before_text] = '\0';

    buffer_text(out, "      | ");
    buffer_repeat(out, " ", indent + (first > start ? strlen(ELLIPSIS) : 0));
    start_style(renderer, STYLE_MARK);
    buffer_byte(out, mark);
    if (upto > indent + 1)
        buffer_repeat(out, mark == '^' ? "~" : "-", upto - indent - 1);
    if (label != NULL) {
        buffer_byte(out, ' ');
        add_clean(out, label, strlen(label));
    }
    end_style(renderer);
    buffer_byte(out, '\n');
}

static void note(const struct renderer *renderer, const struct diag *diag, const struct diag_note *note)
{
    struct buffer *out = renderer->out;
    bool fix = note->replacement != NULL;
    bool elsewhere = note->span.end != 0 && !fix;
    if (elsewhere) {
        const struct source *source = sources_get(renderer->sources, note->span.file);
        place(renderer, source, note->span);
    } else {
        buffer_text(out, "      = ");
    }
    styled(renderer, STYLE_NOTE, fix ? "help: " : "note: ");
    add_clean(out, note->text, strlen(note->text));
    if (fix && note->replacement[0] != '\0' && strstr(note->text, note->replacement) == NULL) {
        buffer_text(out, ": `");
        add_clean(out, note->replacement, strlen(note->replacement));
        buffer_byte(out, '`');
    }
    buffer_byte(out, '\n');
    if (elsewhere && (note->span.start != diag->span.start || note->span.file != diag->span.file))
        snippet(renderer, sources_get(renderer->sources, note->span.file), note->span, '-', NULL);
}

static void render(const struct renderer *renderer, const struct diag *diag)
{
    struct buffer *out = renderer->out;
    const struct diag_info *info = diag_info(diag->code);
    bool is_error = info->severity == DIAG_ERROR || renderer->options.warnings_are_errors;
    bool has_file = diag->span.file < sources_count(renderer->sources);
    const struct source *source = has_file ? sources_get(renderer->sources, diag->span.file) : NULL;
    if (has_file)
        place(renderer, source, diag->span);
    else
        styled(renderer, STYLE_BOLD, "perfc: ");
    styled(renderer, is_error ? STYLE_ERROR : STYLE_WARNING, is_error ? "error: " : "warning: ");
    styled(renderer, STYLE_BOLD, diag->message);
    buffer_printf(out, " [%s]\n", info->code);
    if (has_file)
        snippet(renderer, source, diag->span, '^', diag->label);
    for (const struct diag_note *each = diag->notes; each != NULL; each = each->next)
        note(renderer, diag, each);
}

void diags_render_text(struct buffer *out, const struct diags *diags, const struct sources *sources,
                       struct diag_render_options options)
{
    struct renderer renderer = {out, sources, options};
    size_t count = diags_count(diags);
    size_t shown = options.limit != 0 && options.limit < count ? options.limit : count;
    for (size_t i = 0; i < shown; i++)
        render(&renderer, diags_get(diags, i));
    if (shown < count)
        buffer_printf(out, "%zu more not shown\n", count - shown);
}
