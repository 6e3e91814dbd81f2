/* markdown.c: the report as a pull request comment shows it on GitHub or GitLab: the verdict in bold first,
 * then the key figures in one table, then the rest, folded where the report says so, and never too long. */
#include <string.h>

#include "backend/clean.h"
#include "backend/emitters.h"
#include "backend/markdown_escape.h"
#include "backend/markdown_write.h"
#include "base/arena.h"

enum { COMMENT_BYTES = 60000 };

/* ---- verdict */

static void put_verdict(struct markdown_writer *writer, const struct report *report)
{
    if (report->verdict.runs.count > 0) {
        md_put(writer, "**");
        md_rich(writer, &report->verdict, true, false);
        md_put(writer, "**\n\n");
    }
    if (report->diff) /* the names of two files on a build machine tell nobody anything */
        return;
    if (report->title) {
        markdown_escape(writer->arena, writer->out, report->title, true);
        md_put(writer, report->plan ? md_words(writer, M_TITLE_FROM) : "");
    }
    if (report->plan) {
        markdown_name(writer->arena, writer->out, report->plan);
        md_put(writer, "\n\n");
    }
}

static void put_assertion_note(struct markdown_writer *writer, const struct report_assertion *assertion)
{
    const char *detail = assertion->why ? assertion->why : assertion->margin;
    if (assertion->message)
        md_text(writer, assertion->message);
    if (assertion->message && detail)
        md_put(writer, md_words(writer, M_COLON));
    if (detail)
        md_text(writer, detail);
}

static void put_assertions(struct markdown_writer *writer, const struct report *report)
{
    if (report->assertions.count == 0)
        return;
    md_put(writer, MD_WORDS(writer, M_MD_ASSERTION_COLUMNS, "|"));
    md_put(writer, "\n| --- | --- | ---: | ---: | --- |\n");
    for (size_t i = 0; i < report->assertions.count; i++) {
        const struct report_assertion *assertion = &report->assertions.items[i];
        md_put(writer, assertion->holds ? "| ✅ | " : "| ❌ | ");
        md_text(writer, assertion->text);
        md_put(writer, " | ");
        md_text(writer, assertion->left);
        md_put(writer, " | ");
        md_text(writer, assertion->right);
        md_put(writer, " | ");
        put_assertion_note(writer, assertion);
        md_put(writer, " |\n");
    }
    md_put(writer, "\n");
}

/* ---- sections */

/* A pull request shows the verdict and the key figures; all else is one click away. Warnings stay in sight.
 */
static bool is_folded(const struct report *report, const struct report_section *section)
{
    if (report->diff)
        return section->folded;
    return section->folded || (strcmp(section->id, "key") != 0 && strcmp(section->id, "warnings") != 0);
}

/* Blank lines around the inside of <details> let Markdown begin and end there. */
static void put_section(struct markdown_writer *writer, const struct report_section *section, bool folded)
{
    if (folded) {
        md_put(writer, "<details><summary>");
        markdown_escape_html(writer->arena, writer->out, section->title);
        md_put(writer, "</summary>\n\n");
    } else {
        md_put(writer, "### ");
        md_text(writer, section->title);
        md_put(writer, "\n\n");
    }
    for (size_t i = 0; i < section->blocks.count; i++)
        md_block(writer, &section->blocks.items[i], i > 0 ? &section->blocks.items[i - 1] : NULL);
    if (folded)
        md_put(writer, "</details>\n\n");
}

static void put_warnings(struct markdown_writer *writer, const struct report *report)
{
    size_t count = warning_count(report);
    if (count == 0)
        return;
    buffer_printf(writer->out, "### %s\n\n", md_words(writer, M_WARNINGS));
    for (size_t i = 0; i < count; i++) {
        md_put(writer, "- ");
        md_text(writer, warning_line(writer->arena, report, i));
        md_put(writer, "\n");
    }
    md_put(writer, "\n");
}

/* ---- size: GitHub refuses a comment of more than 65 536 characters */

/* A piece that is shown whole or not at all. */
struct part {
    const char *title;
    bool folded, dropped;
    struct buffer text;
};

struct parts {
    VEC(struct part) list;
    size_t bytes; /* of those that are not dropped */
};

/* Where the writer goes on until end_part(). */
static void begin_part(struct markdown_writer *writer, struct parts *parts, const char *title, bool folded)
{
    struct part *part = VEC_PUSH(writer->arena, parts->list);
    *part = (struct part){.title = title, .folded = folded, .text = buffer_in(writer->arena)};
    writer->out = &part->text;
}

static void end_part(struct parts *parts)
{
    parts->bytes += parts->list.items[parts->list.count - 1].text.length;
}

/* What is folded goes first, the last of it before the others. */
static bool drop_last(struct parts *parts, bool folded)
{
    for (size_t i = parts->list.count; i-- > 0;) {
        struct part *part = &parts->list.items[i];
        if (part->dropped || part->folded != folded || part->text.length == 0)
            continue;
        part->dropped = true;
        parts->bytes -= part->text.length;
        return true;
    }
    return false;
}

enum { NAMED_PARTS = 8, NOTE_BYTES = 900 }; /* what the note below needs at most */

static void put_dropped(struct markdown_writer *writer, const struct parts *parts)
{
    size_t count = 0, named = 0;
    for (size_t i = 0; i < parts->list.count; i++)
        count += parts->list.items[i].dropped;
    struct buffer names = buffer_in(writer->arena);
    struct markdown_writer list = {.arena = writer->arena, .out = &names, .language = writer->language};
    for (size_t i = 0; i < parts->list.count && named < NAMED_PARTS; i++) {
        if (!parts->list.items[i].dropped)
            continue;
        md_put(&list, named++ > 0 ? md_words(writer, M_LIST_COMMA) : "");
        const char *title = clean_line(writer->arena, parts->list.items[i].title);
        md_text(&list, clean_middle(writer->arena, title, 40, "…"));
    }
    enum message said = count > named ? M_SECTIONS_LEFT_OUT_AND
                        : count == 1  ? M_SECTION_LEFT_OUT
                                      : M_SECTIONS_LEFT_OUT;
    buffer_printf(writer->out, "<sub>%s</sub>\n",
                  MD_WORDS(writer, said, arena_printf(writer->arena, "%zu", count), buffer_string(&names)));
}

static void put_parts(struct markdown_writer *writer, const struct report *report, size_t max_bytes)
{
    struct buffer *out = writer->out;
    struct parts parts = {{0}, 0};
    begin_part(writer, &parts, md_words(writer, M_ASSERTIONS), false);
    put_assertions(writer, report);
    end_part(&parts);
    for (size_t i = 0; i < report->sections.count; i++) {
        const struct report_section *section = &report->sections.items[i];
        begin_part(writer, &parts, section->title, is_folded(report, section));
        put_section(writer, section, is_folded(report, section));
        end_part(&parts);
    }
    begin_part(writer, &parts, md_words(writer, M_WARNINGS), false);
    put_warnings(writer, report);
    end_part(&parts);
    bool dropped = false;
    while (out->length + parts.bytes + (dropped ? NOTE_BYTES : 0) > max_bytes) {
        if (!drop_last(&parts, true) && !drop_last(&parts, false))
            break;
        dropped = true;
    }
    writer->out = out;
    for (size_t i = 0; i < parts.list.count; i++)
        if (!parts.list.items[i].dropped && parts.list.items[i].text.length > 0)
            buffer_add(out, parts.list.items[i].text.data, parts.list.items[i].text.length);
    if (dropped)
        put_dropped(writer, &parts);
}

bool markdown_emit(struct arena *arena, const struct report *report, struct backend_options options,
                   struct buffer *out)
{
    struct markdown_writer writer = {.arena = arena, .out = out, .language = report->language};
    if (options.tag)
        buffer_printf(out, "<!-- perfc-comment %s -->\n", options.tag);
    size_t begin = out->length, max_bytes = options.max_bytes ? options.max_bytes : COMMENT_BYTES;
    put_verdict(&writer, report);
    put_parts(&writer, report, max_bytes);
    if (out->length > max_bytes) { /* names of thousands of combining marks are wide in nothing but bytes */
        out->length = begin;
        buffer_printf(out, "**%s**\n",
                      MD_WORDS(&writer, M_REPORT_TOO_LONG, arena_printf(arena, "%zu", max_bytes)));
    }
    while (out->length > 1 && out->data[out->length - 1] == '\n' && out->data[out->length - 2] == '\n')
        out->data[--out->length] = '\0';
    return true;
}
