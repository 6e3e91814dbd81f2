/* markdown_block.c: paragraphs, tables, key figures, derivations, listings and charts as Markdown. Charts are
 * drawn in characters. */
#include <string.h>

#include "backend/clean.h"
#include "backend/markdown_escape.h"
#include "backend/markdown_write.h"
#include "backend/text_draw.h"
#include "base/arena.h"

enum {
    CHART_WIDTH = 80, /* fits GitHub's comment column */
    TAB_STOP = 4,
};

/* ---- text */

void md_put(struct markdown_writer *writer, const char *markup)
{
    buffer_text(writer->out, markup);
}

void md_text(struct markdown_writer *writer, const char *text)
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
    md_put(writer, strong ? "**" : "");
    markdown_escape(writer->arena, writer->out, run->text, begins && !strong);
    md_put(writer, strong ? "**" : "");
}

void md_rich(struct markdown_writer *writer, const struct rich_text *text, bool begins, bool strong)
{
    for (size_t i = 0; i < text->runs.count; i++)
        put_run(writer, &text->runs.items[i], begins && i == 0, strong);
}

/* ---- tables */

static void put_divider(struct markdown_writer *writer, const struct report_table *table)
{
    md_put(writer, "|");
    for (size_t c = 0; c < table->columns.count; c++)
        md_put(writer, table->columns.items[c].align == ALIGN_RIGHT ? " ---: |" : " --- |");
    md_put(writer, "\n");
}

/* What is best or a sum stands out, but not what is said about it: "**24.2** (22 % better)". */
static void put_cell(struct markdown_writer *writer, const struct report_cell *cell, bool total)
{
    const struct span_text *first = cell->text.runs.items;
    bool strong = (cell->best || total) && cell->text.runs.count > 0 && first->tone != TONE_NAME &&
                  can_be_strong(first->text);
    md_put(writer, strong ? " **" : " ");
    for (size_t i = 0; i < cell->text.runs.count; i++) {
        put_run(writer, &cell->text.runs.items[i], false, !strong || i > 0);
        md_put(writer, strong && i == 0 ? "**" : "");
    }
    md_put(writer, cell->best ? " ★ |" : " |");
}

static void put_table(struct markdown_writer *writer, const struct report_table *table, bool captioned)
{
    if (table->columns.count == 0)
        return;
    if (table->caption && !captioned) {
        markdown_escape(writer->arena, writer->out, table->caption, true);
        md_put(writer, "\n\n");
    }
    md_put(writer, "|");
    for (size_t c = 0; c < table->columns.count; c++) {
        md_put(writer, " ");
        md_text(writer, clean_middle(writer->arena,
                                     clean_line(writer->arena, table->columns.items[c].heading), 64, "…"));
        md_put(writer, " |");
    }
    md_put(writer, "\n");
    put_divider(writer, table);
    bool best = false;
    for (size_t r = 0; r < table->rows.count; r++) {
        const struct report_row *row = &table->rows.items[r];
        md_put(writer, "|");
        for (size_t c = 0; c < table->columns.count; c++) {
            if (c < row->cells.count)
                put_cell(writer, &row->cells.items[c], row->total);
            else
                md_put(writer, " |");
            best |= c < row->cells.count && row->cells.items[c].best;
        }
        md_put(writer, "\n");
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
    md_put(writer, strong ? "**" : "");
    md_text(writer, figure->value);
    md_put(writer, strong ? "**" : "");
    if (!figure->detail && !figure->limit)
        return;
    md_put(writer, "<br><sub>");
    md_text(writer, figure->detail);
    md_put(writer, figure->detail && figure->limit ? " · " : "");
    md_text(writer, figure->limit);
    md_put(writer, "</sub>");
}

static void put_card_row(struct markdown_writer *writer, const struct key_columns *columns,
                         const struct key_card *card, const struct key_figure **by_column)
{
    memset(by_column, 0, columns->labels.count * sizeof *by_column);
    for (size_t f = 0; f < card->figures.count; f++) {
        const struct key_figure *figure = &card->figures.items[f];
        by_column[find_label(columns, figure->label, f)] = figure;
    }
    md_put(writer, "| ");
    markdown_name(writer->arena, writer->out, card->title);
    if (card->subtitle) {
        md_put(writer, "<br><sub>");
        md_text(writer, card->subtitle);
        md_put(writer, "</sub>");
    }
    for (size_t c = 0; c < columns->labels.count; c++) {
        md_put(writer, " | ");
        if (by_column[c])
            put_figure(writer, by_column[c]);
    }
    md_put(writer, " |\n");
}

static void put_cards(struct markdown_writer *writer, const struct report_block *block)
{
    struct key_columns columns = collect_labels(writer, block);
    size_t count = columns.labels.count, advices = 0;
    const struct key_figure **by_column = ARENA_ARRAY(writer->arena, const struct key_figure *, count + 1);
    buffer_printf(writer->out, "| %s |", md_words(writer, M_SCENARIO));
    for (size_t c = 0; c < count; c++) {
        md_put(writer, " ");
        md_text(writer, columns.labels.items[c]);
        md_put(writer, " |");
    }
    md_put(writer, "\n| --- |");
    for (size_t c = 0; c < count; c++)
        md_put(writer, " ---: |");
    md_put(writer, "\n");
    for (size_t i = 0; i < block->cards.cards.count; i++)
        put_card_row(writer, &columns, &block->cards.cards.items[i], by_column);
    for (size_t i = 0; i < block->cards.cards.count; i++) {
        const struct key_card *card = &block->cards.cards.items[i];
        if (card->advice.runs.count == 0)
            continue;
        md_put(writer, advices++ == 0 ? "\n- " : "- ");
        markdown_name(writer->arena, writer->out, card->title);
        md_put(writer, md_words(writer, M_COLON));
        md_rich(writer, &card->advice, false, true);
        md_put(writer, "\n");
    }
}

/* ---- derivations, listings, charts */

static void put_derivation(struct markdown_writer *writer, const struct derivation *derivation)
{
    markdown_name(writer->arena, writer->out, derivation->title);
    md_put(writer, "\n\n");
    md_put(writer, MD_WORDS(writer, M_MD_DERIVATION_COLUMNS, "|"));
    md_put(writer, "\n| --- | --- | --- | ---: | ---: | --- |\n");
    for (size_t i = 0; i < derivation->steps.count; i++) {
        const struct derivation_step *step = &derivation->steps.items[i];
        const char *const fields[] = {step->formula, step->substituted, step->value, step->exact};
        md_put(writer, "| ");
        markdown_name(writer->arena, writer->out, step->name);
        for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++) {
            md_put(writer, " | ");
            md_text(writer, fields[f]);
        }
        md_put(writer, " | ");
        md_text(writer, step->doc);
        if (step->source) {
            md_put(writer, " <sub>");
            md_text(writer, step->source);
            md_put(writer, "</sub>");
        }
        md_put(writer, " |\n");
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
    md_put(writer, "\n\n");
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
        md_put(writer, "\n\n");
    }
    markdown_fence(writer->out, buffer_string(&drawing));
}

/* ---- any of them */

/* The table under a chart has its title already. */
static bool is_captioned(const struct report_block *block, const struct report_block *above)
{
    return above && above->kind == BLOCK_CHART && above->chart.title && block->table.caption &&
           strcmp(block->table.caption, above->chart.title) == 0;
}

void md_block(struct markdown_writer *writer, const struct report_block *block,
              const struct report_block *above)
{
    switch (block->kind) {
    case BLOCK_PARAGRAPH:
        md_rich(writer, &block->paragraph, true, true);
        md_put(writer, "\n");
        break;
    case BLOCK_LIST:
        for (size_t i = 0; i < block->list.items.count; i++) {
            md_put(writer, "- ");
            md_rich(writer, &block->list.items.items[i], true, true);
            md_put(writer, "\n");
        }
        break;
    case BLOCK_TABLE: put_table(writer, &block->table, is_captioned(block, above)); break;
    case BLOCK_CHART: put_chart(writer, &block->chart); break;
    case BLOCK_CARDS: put_cards(writer, block); break;
    case BLOCK_DERIVATION: put_derivation(writer, &block->derivation); break;
    case BLOCK_LISTING: put_listing(writer, &block->listing); break;
    }
    md_put(writer, "\n");
}
