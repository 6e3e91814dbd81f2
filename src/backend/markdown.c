/* markdown.c: the report as a pull request comment shows it on GitHub or GitLab: the verdict in bold first,
 * then the key figures in one table, then the rest, folded where the report says so. Charts are drawn in
 * characters. */
#include <string.h>

#include "backend/clean.h"
#include "backend/emitters.h"
#include "backend/markdown_escape.h"
#include "backend/text_draw.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "result/message.h"
#include "result/report.h"

enum {
    CHART_WIDTH = 80, /* fits GitHub's comment column */
    COMMENT_BYTES = 60000,
    TAB_STOP = 4,
};

struct markdown_writer {
    struct arena *arena;
    struct buffer *out;
    enum language language;
};

static const char *md_words(const struct markdown_writer *writer, enum message message)
{
    return message_pattern(writer->language, message);
}

#define MD_WORDS(writer, message, ...) MESSAGE_TEXT((writer)->arena, (writer)->language, message, __VA_ARGS__)

static void put(struct markdown_writer *writer, const char *markup)
{
    buffer_text(writer->out, markup);
}

static void put_text(struct markdown_writer *writer, const char *text)
{
    markdown_escape(writer->arena, writer->out, text, false);
}

/* Emphasis marks work wherever a letter or digit stands on their inner side; elsewhere they are left out
 * rather than shown as stars. */
static bool can_be_strong(const char *text)
{
    static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    size_t length = strlen(text);
    return length > 0 && strchr(word, text[0]) && strchr(word, text[length - 1]);
}

static void put_run(struct markdown_writer *writer, const struct span_text *run, bool begins, bool strong)
{
    if (run->tone == TONE_NAME) {
        markdown_name(writer->arena, writer->out, run->text);
        return;
    }
    strong = strong && run->tone == TONE_STRONG && can_be_strong(run->text);
    put(writer, strong ? "**" : "");
    markdown_escape(writer->arena, writer->out, run->text, begins && !strong);
    put(writer, strong ? "**" : "");
}

/* `begins` as in markdown_escape(); `strong` allows emphasis. */
static void put_rich(struct markdown_writer *writer, const struct rich_text *text, bool begins, bool strong)
{
    for (size_t i = 0; i < text->runs.count; i++)
        put_run(writer, &text->runs.items[i], begins && i == 0, strong);
}

/* ---- verdict */

static void put_verdict(struct markdown_writer *writer, const struct report *report)
{
    if (report->verdict.runs.count > 0) {
        put(writer, "**");
        put_rich(writer, &report->verdict, true, false);
        put(writer, "**\n\n");
    }
    if (report->diff) /* the names of two files on a build machine tell nobody anything */
        return;
    if (report->title) {
        markdown_escape(writer->arena, writer->out, report->title, true);
        put(writer, report->plan ? md_words(writer, M_TITLE_FROM) : "");
    }
    if (report->plan) {
        markdown_name(writer->arena, writer->out, report->plan);
        put(writer, "\n\n");
    }
}

static void put_assertion_note(struct markdown_writer *writer, const struct report_assertion *assertion)
{
    const char *detail = assertion->why ? assertion->why : assertion->margin;
    if (assertion->message)
        put_text(writer, assertion->message);
    if (assertion->message && detail)
        put(writer, md_words(writer, M_COLON));
    if (detail)
        put_text(writer, detail);
}

static void put_assertions(struct markdown_writer *writer, const struct report *report)
{
    if (report->assertions.count == 0)
        return;
    put(writer, MD_WORDS(writer, M_MD_ASSERTION_COLUMNS, "|"));
    put(writer, "\n| --- | --- | ---: | ---: | --- |\n");
    for (size_t i = 0; i < report->assertions.count; i++) {
        const struct report_assertion *assertion = &report->assertions.items[i];
        put(writer, assertion->holds ? "| ✅ | " : "| ❌ | ");
        put_text(writer, assertion->text);
        put(writer, " | ");
        put_text(writer, assertion->left);
        put(writer, " | ");
        put_text(writer, assertion->right);
        put(writer, " | ");
        put_assertion_note(writer, assertion);
        put(writer, " |\n");
    }
    put(writer, "\n");
}

/* ---- tables */

static void put_divider(struct markdown_writer *writer, const struct report_table *table)
{
    put(writer, "|");
    for (size_t c = 0; c < table->columns.count; c++)
        put(writer, table->columns.items[c].align == ALIGN_RIGHT ? " ---: |" : " --- |");
    put(writer, "\n");
}

/* What is best or a sum stands out, but not what is said about it: "**24.2** (22 % better)". */
static void put_cell(struct markdown_writer *writer, const struct report_cell *cell, bool total)
{
    const struct span_text *first = cell->text.runs.items;
    bool strong = (cell->best || total) && cell->text.runs.count > 0 && first->tone != TONE_NAME &&
                  can_be_strong(first->text);
    put(writer, strong ? " **" : " ");
    for (size_t i = 0; i < cell->text.runs.count; i++) {
        put_run(writer, &cell->text.runs.items[i], false, !strong || i > 0);
        put(writer, strong && i == 0 ? "**" : "");
    }
    put(writer, cell->best ? " ★ |" : " |");
}

static void put_table(struct markdown_writer *writer, const struct report_table *table, bool captioned)
{
    if (table->columns.count == 0)
        return;
    if (table->caption && !captioned) {
        markdown_escape(writer->arena, writer->out, table->caption, true);
        put(writer, "\n\n");
    }
    put(writer, "|");
    for (size_t c = 0; c < table->columns.count; c++) {
        put(writer, " ");
        put_text(writer, clean_middle(writer->arena,
                                      clean_line(writer->arena, table->columns.items[c].heading), 64, "…"));
        put(writer, " |");
    }
    put(writer, "\n");
    put_divider(writer, table);
    bool best = false;
    for (size_t r = 0; r < table->rows.count; r++) {
        const struct report_row *row = &table->rows.items[r];
        put(writer, "|");
        for (size_t c = 0; c < table->columns.count; c++) {
            if (c < row->cells.count)
                put_cell(writer, &row->cells.items[c], row->total);
            else
                put(writer, " |");
            best |= c < row->cells.count && row->cells.items[c].best;
        }
        put(writer, "\n");
    }
    if (best)
        buffer_printf(writer->out, "\n<sub>%s</sub>\n", MD_WORDS(writer, M_MARKS_BEST, "★"));
}

/* ---- key figures: one table, a row per scenario, a column per label */

struct key_columns {
    VEC(const char *) labels;
};

static size_t find_label(const struct key_columns *columns, const char *label, size_t guess)
{
    if (guess < columns->labels.count && strcmp(columns->labels.items[guess], label) == 0)
        return guess;
    for (size_t i = 0; i < columns->labels.count; i++)
        if (strcmp(columns->labels.items[i], label) == 0)
            return i;
    return columns->labels.count;
}

static struct key_columns collect_labels(struct markdown_writer *writer, const struct report_block *block)
{
    struct key_columns columns = {0};
    for (size_t i = 0; i < block->cards.cards.count; i++) {
        const struct key_card *card = &block->cards.cards.items[i];
        for (size_t f = 0; f < card->figures.count; f++)
            if (find_label(&columns, card->figures.items[f].label, f) == columns.labels.count)
                *VEC_PUSH(writer->arena, columns.labels) = card->figures.items[f].label;
    }
    return columns;
}

static void put_figure(struct markdown_writer *writer, const struct key_figure *figure)
{
    bool strong = can_be_strong(figure->value);
    put(writer, strong ? "**" : "");
    put_text(writer, figure->value);
    put(writer, strong ? "**" : "");
    if (!figure->detail && !figure->limit)
        return;
    put(writer, "<br><sub>");
    put_text(writer, figure->detail);
    put(writer, figure->detail && figure->limit ? " · " : "");
    put_text(writer, figure->limit);
    put(writer, "</sub>");
}

static void put_card_row(struct markdown_writer *writer, const struct key_columns *columns,
                         const struct key_card *card, const struct key_figure **by_column)
{
    memset(by_column, 0, columns->labels.count * sizeof *by_column);
    for (size_t f = 0; f < card->figures.count; f++) {
        const struct key_figure *figure = &card->figures.items[f];
        by_column[find_label(columns, figure->label, f)] = figure;
    }
    put(writer, "| ");
    markdown_name(writer->arena, writer->out, card->title);
    if (card->subtitle) {
        put(writer, "<br><sub>");
        put_text(writer, card->subtitle);
        put(writer, "</sub>");
    }
    for (size_t c = 0; c < columns->labels.count; c++) {
        put(writer, " | ");
        if (by_column[c])
            put_figure(writer, by_column[c]);
    }
    put(writer, " |\n");
}

static void put_cards(struct markdown_writer *writer, const struct report_block *block)
{
    struct key_columns columns = collect_labels(writer, block);
    size_t count = columns.labels.count, advices = 0;
    const struct key_figure **by_column = ARENA_ARRAY(writer->arena, const struct key_figure *, count + 1);
    buffer_printf(writer->out, "| %s |", md_words(writer, M_SCENARIO));
    for (size_t c = 0; c < count; c++) {
        put(writer, " ");
        put_text(writer, columns.labels.items[c]);
        put(writer, " |");
    }
    put(writer, "\n| --- |");
    for (size_t c = 0; c < count; c++)
        put(writer, " ---: |");
    put(writer, "\n");
    for (size_t i = 0; i < block->cards.cards.count; i++)
        put_card_row(writer, &columns, &block->cards.cards.items[i], by_column);
    for (size_t i = 0; i < block->cards.cards.count; i++) {
        const struct key_card *card = &block->cards.cards.items[i];
        if (card->advice.runs.count == 0)
            continue;
        put(writer, advices++ == 0 ? "\n- " : "- ");
        markdown_name(writer->arena, writer->out, card->title);
        put(writer, md_words(writer, M_COLON));
        put_rich(writer, &card->advice, false, true);
        put(writer, "\n");
    }
}

/* ---- derivations, listings, charts */

static void put_derivation(struct markdown_writer *writer, const struct derivation *derivation)
{
    markdown_name(writer->arena, writer->out, derivation->title);
    put(writer, "\n\n");
    put(writer, MD_WORDS(writer, M_MD_DERIVATION_COLUMNS, "|"));
    put(writer, "\n| --- | --- | --- | ---: | ---: | --- |\n");
    for (size_t i = 0; i < derivation->steps.count; i++) {
        const struct derivation_step *step = &derivation->steps.items[i];
        const char *const fields[] = {step->formula, step->substituted, step->value, step->exact};
        put(writer, "| ");
        markdown_name(writer->arena, writer->out, step->name);
        for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++) {
            put(writer, " | ");
            put_text(writer, fields[f]);
        }
        put(writer, " | ");
        put_text(writer, step->doc);
        if (step->source) {
            put(writer, " <sub>");
            put_text(writer, step->source);
            put(writer, "</sub>");
        }
        put(writer, " |\n");
    }
}

static void put_listing(struct markdown_writer *writer, const struct report_listing *listing)
{
    struct buffer lines = buffer_in(writer->arena);
    const char *at = listing->text, *end = at + listing->length;
    for (unsigned number = 1; at < end; number++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline ? newline : end;
        size_t start = lines.length;
        buffer_printf(&lines, "%5u  ", number);
        for (const char *piece = at; piece < stop;) { /* a tab goes to the next stop */
            const char *tab = memchr(piece, '\t', (size_t)(stop - piece));
            size_t length = (size_t)((tab ? tab : stop) - piece);
            if (!tab && length > 0 && piece[length - 1] == '\r')
                length--;
            buffer_text(&lines, clean_bytes(writer->arena, piece, length));
            if (!tab)
                break;
            buffer_repeat(&lines, " ", TAB_STOP - (lines.length - start + 1) % TAB_STOP);
            piece = tab + 1;
        }
        while (lines.data[lines.length - 1] == ' ')
            lines.data[--lines.length] = '\0';
        buffer_byte(&lines, '\n');
        at = newline ? newline + 1 : end;
    }
    markdown_name(writer->arena, writer->out, listing->path);
    put(writer, "\n\n");
    markdown_fence(writer->out, buffer_string(&lines));
}

static void put_chart(struct markdown_writer *writer, const struct report_chart *chart)
{
    struct buffer drawing = buffer_in(writer->arena);
    struct text_writer text = {.arena = writer->arena,
                               .out = &drawing,
                               .width = CHART_WIDTH,
                               .unicode = true,
                               .language = writer->language};
    text_chart(&text, chart);
    if (chart->title) {
        markdown_escape(writer->arena, writer->out, chart->title, true);
        put(writer, "\n\n");
    }
    markdown_fence(writer->out, buffer_string(&drawing));
}

/* ---- sections */

/* The table under a chart has its title already. */
static bool is_captioned(const struct report_block *block, const struct report_block *above)
{
    return above && above->kind == BLOCK_CHART && above->chart.title && block->table.caption &&
           strcmp(block->table.caption, above->chart.title) == 0;
}

static void put_block(struct markdown_writer *writer, const struct report_block *block,
                      const struct report_block *above)
{
    switch (block->kind) {
    case BLOCK_PARAGRAPH:
        put_rich(writer, &block->paragraph, true, true);
        put(writer, "\n");
        break;
    case BLOCK_LIST:
        for (size_t i = 0; i < block->list.items.count; i++) {
            put(writer, "- ");
            put_rich(writer, &block->list.items.items[i], true, true);
            put(writer, "\n");
        }
        break;
    case BLOCK_TABLE: put_table(writer, &block->table, is_captioned(block, above)); break;
    case BLOCK_CHART: put_chart(writer, &block->chart); break;
    case BLOCK_CARDS: put_cards(writer, block); break;
    case BLOCK_DERIVATION: put_derivation(writer, &block->derivation); break;
    case BLOCK_LISTING: put_listing(writer, &block->listing); break;
    }
    put(writer, "\n");
}

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
        put(writer, "<details><summary>");
        markdown_escape_html(writer->arena, writer->out, section->title);
        put(writer, "</summary>\n\n");
    } else {
        put(writer, "### ");
        put_text(writer, section->title);
        put(writer, "\n\n");
    }
    for (size_t i = 0; i < section->blocks.count; i++)
        put_block(writer, &section->blocks.items[i], i > 0 ? &section->blocks.items[i - 1] : NULL);
    if (folded)
        put(writer, "</details>\n\n");
}

static void put_warnings(struct markdown_writer *writer, const struct report *report)
{
    size_t count = warning_count(report);
    if (count == 0)
        return;
    buffer_printf(writer->out, "### %s\n\n", md_words(writer, M_WARNINGS));
    for (size_t i = 0; i < count; i++) {
        put(writer, "- ");
        put_text(writer, warning_line(writer->arena, report, i));
        put(writer, "\n");
    }
    put(writer, "\n");
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
        put(&list, named++ > 0 ? md_words(writer, M_LIST_COMMA) : "");
        const char *title = clean_line(writer->arena, parts->list.items[i].title);
        put_text(&list, clean_middle(writer->arena, title, 40, "…"));
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
