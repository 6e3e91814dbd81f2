/* page.c: the Markdown that this program writes as one HTML page with its charts inside. Only what is written
 * here is read: headings, paragraphs, tables, images, code and links. */
#include "validate.h"

#include <string.h>

static void add_escaped(struct buffer *out, const char *from, const char *to)
{
    for (; from < to; from++) {
        switch (*from) {
        case '&': buffer_text(out, "&amp;"); break;
        case '<': buffer_text(out, "&lt;"); break;
        case '>': buffer_text(out, "&gt;"); break;
        default: buffer_byte(out, *from);
        }
    }
}

static const char *find(const char *from, const char *to, char byte)
{
    const char *at = memchr(from, byte, (size_t)(to - from));
    return at != NULL ? at : to;
}

/* Code between backquotes and links; the rest is text. */
static void add_inline(struct buffer *out, const char *from, const char *to)
{
    while (from < to) {
        const char *end = find(from + 1, to, *from == '[' ? ']' : '`');
        if (*from == '`' && end < to) {
            buffer_text(out, "<code>");
            add_escaped(out, from + 1, end);
            buffer_text(out, "</code>");
            from = end + 1;
        } else if (*from == '[' && end + 1 < to && end[1] == '(') {
            const char *close = find(end, to, ')');
            buffer_text(out, "<a href=\"");
            add_escaped(out, end + 2, close);
            buffer_text(out, "\">");
            add_escaped(out, from + 1, end);
            buffer_text(out, "</a>");
            from = close < to ? close + 1 : to;
        } else {
            add_escaped(out, from, from + 1);
            from++;
        }
    }
}

static void add_cells(struct buffer *out, const char *from, const char *to, bool header)
{
    buffer_text(out, "<tr>");
    from++; /* past the first bar */
    while (from < to) {
        const char *end = find(from, to, '|');
        const char *first = from, *last = end;
        while (first < last && *first == ' ')
            first++;
        while (last > first && last[-1] == ' ')
            last--;
        buffer_text(out, header ? "<th scope=\"col\">" : "<td>");
        add_inline(out, first, last);
        buffer_text(out, header ? "</th>" : "</td>");
        from = end + 1;
    }
    buffer_text(out, "</tr>\n");
}

static size_t level_of(const char *line)
{
    return strspn(line, "#");
}

enum state { OUTSIDE, PARAGRAPH, TABLE };

static void leave(struct buffer *out, enum state *state)
{
    if (*state == PARAGRAPH)
        buffer_text(out, "</p>\n");
    if (*state == TABLE)
        buffer_text(out, "</table>\n");
    *state = OUTSIDE;
}

static void add_line(struct buffer *out, const char *line, const char *end, enum state *state,
                     const struct chart_file *charts, size_t count)
{
    size_t level = level_of(line);
    if (line == end || level > 0 || line[0] == '!' || (*state == TABLE) != (line[0] == '|'))
        leave(out, state);
    if (line == end)
        return;
    if (level > 0) {
        buffer_printf(out, "<h%zu>", level);
        add_inline(out, line + level + 1, end);
        buffer_printf(out, "</h%zu>\n", level);
    } else if (line[0] == '!') {
        const char *name = find(line, end, '(') + 1;
        for (size_t i = 0; i < count; i++)
            if (strncmp(name, charts[i].name, strlen(charts[i].name)) == 0)
                buffer_text(out, buffer_string(charts[i].svg));
    } else if (line[0] == '|') {
        if (*state == OUTSIDE)
            buffer_text(out, "<table>\n");
        if (strncmp(line, "|---", 4) != 0)
            add_cells(out, line, end, *state == OUTSIDE);
        *state = TABLE;
    } else {
        buffer_text(out, *state == OUTSIDE ? "<p>" : "\n");
        add_inline(out, line, end);
        *state = PARAGRAPH;
    }
}

void page(struct buffer *out, const struct buffer *text, const struct chart_file *charts, size_t count)
{
    enum state state = OUTSIDE;
    buffer_text(
        out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
             "<title>Validation of perfc</title>\n<style>\n"
             "body { font: 15px/1.5 sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem }\n"
             "table { border-collapse: collapse; margin: 0 0 1.5rem; font-variant-numeric: tabular-nums }\n"
             "th, td { padding: .15rem .6rem; border-bottom: 1px solid #ddd; text-align: left }\n"
             "svg { max-width: 40rem; width: 100%; height: auto }\n"
             "</style>\n</head>\n<body>\n");
    const char *line = buffer_string(text), *last = line + text->length;
    while (line < last) {
        const char *end = find(line, last, '\n');
        add_line(out, line, end, &state, charts, count);
        line = end + 1;
    }
    leave(out, &state);
    buffer_text(out, "</body>\n</html>\n");
}
