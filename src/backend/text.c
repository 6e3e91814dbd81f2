/* text.c: the report for a terminal, 80 columns wide or as wide as the terminal is, up to 120. */
#include <string.h>

#include "backend/clean.h"
#include "backend/emitters.h"
#include "backend/text_draw.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/utf8.h"
#include "source/diag.h"
#include "source/source.h"

enum {
    WIDTH_DEFAULT = 80,
    WIDTH_LEAST = 40,
    WIDTH_MOST = 120, /* longer lines are hard to read */
    TAB_STOP = 4,
    DETAIL_LEAST = 20, /* room for the detail of a figure beside its value */
};

static void heading(struct text_writer *writer, const char *title, enum tone tone)
{
    struct styled text = styled_text(writer, tone, title);
    size_t width = styled_width(&text);
    text_newline(writer);
    text_wrapped(writer, &text, "", 0);
    buffer_repeat(writer->out, text_glyph(writer, GLYPH_RULE), width < writer->width ? width : writer->width);
    text_newline(writer);
}

/* ---- verdict */

static const char *sides(struct text_writer *writer, const struct report_assertion *assertion)
{
    if (assertion->why)
        return assertion->why;
    if (!assertion->left || !assertion->right)
        return assertion->margin ? assertion->margin : "";
    if (!assertion->margin || !*assertion->margin)
        return TEXT_WORDS(writer, M_SIDE_AGAINST_SIDE, assertion->left, assertion->right);
    return TEXT_WORDS(writer, M_SIDES_AND_MARGIN, assertion->left, assertion->right, assertion->margin);
}

static void write_assertion(struct text_writer *writer, const struct report_assertion *assertion)
{
    const char *sign = text_glyph(writer, assertion->holds ? GLYPH_HOLDS : GLYPH_FAILS);
    size_t indent = utf8_width(sign, strlen(sign)) + 1;
    struct styled text = styled_text(writer, TONE_PLAIN, assertion->text);
    text_tone(writer, assertion->holds ? TONE_GOOD : TONE_BAD, sign);
    text_spaces(writer, 1);
    text_hanging(writer, &text, indent);
    const char *lead = arena_printf(writer->arena, "%*s", (int)indent + 2, "");
    const char *detail = sides(writer, assertion);
    struct rich_text rest = {0};
    if (assertion->message)
        *VEC_PUSH(writer->arena, rest.runs) = (struct span_text){assertion->message, TONE_PLAIN};
    if (assertion->message && *detail)
        *VEC_PUSH(writer->arena, rest.runs) = (struct span_text){text_words(writer, M_COLON), TONE_PLAIN};
    if (*detail)
        *VEC_PUSH(writer->arena, rest.runs) = (struct span_text){detail, TONE_MUTED};
    if (rest.runs.count > 0) {
        struct styled line = styled_rich(writer, &rest);
        text_wrapped(writer, &line, lead, indent + 2);
    }
}

static void write_verdict(struct text_writer *writer, const struct report *report)
{
    const char *title = report->title ? report->title : report->plan;
    if (title && !report->diff) { /* who compares two files knows their names */
        struct styled text = styled_text(writer, TONE_STRONG, title);
        text_wrapped(writer, &text, "", 0);
    }
    if (report->verdict.runs.count > 0) {
        struct rich_text verdict = {0};
        for (size_t i = 0; i < report->verdict.runs.count; i++) {
            struct span_text *run = VEC_PUSH(writer->arena, verdict.runs);
            *run = report->verdict.runs.items[i];
            if (run->tone == TONE_PLAIN)
                run->tone = report->verdict_tone;
        }
        struct styled text = styled_rich(writer, &verdict);
        text_wrapped(writer, &text, "", 0);
    }
    if (report->assertions.count == 0)
        return;
    heading(writer, text_words(writer, M_ASSERTIONS), TONE_STRONG);
    for (size_t i = 0; i < report->assertions.count; i++)
        write_assertion(writer, &report->assertions.items[i]);
}

/* ---- key figures: one small table for all cards, so that their columns line up */

/* Band and limit on one line when there is room for both, else one under the other. */
static void write_detail(struct text_writer *writer, const struct key_figure *figure, size_t column)
{
    struct styled detail = styled_text(writer, TONE_MUTED, figure->detail);
    struct styled limit = styled_text(writer, TONE_MUTED, figure->limit);
    if (detail.length > 0 && limit.length > 0) {
        const char *joined = arena_printf(writer->arena, "%s%s%s", detail.bytes,
                                          text_glyph(writer, GLYPH_SEPARATOR), limit.bytes);
        struct styled both = styled_text(writer, TONE_MUTED, joined);
        if (column + styled_width(&both) <= writer->width) {
            text_hanging(writer, &both, column);
            return;
        }
        text_hanging(writer, &detail, column);
        text_spaces(writer, column);
        text_hanging(writer, &limit, column);
        return;
    }
    text_hanging(writer, detail.length > 0 ? &detail : &limit, column);
}

static size_t column_width(struct text_writer *writer, const char *text, size_t so_far)
{
    const char *clean = text_clean(writer, text);
    size_t width = utf8_width(clean, strlen(clean));
    size_t most = writer->width / 3;
    width = width < most ? width : most;
    return width > so_far ? width : so_far;
}

static void write_padded(struct text_writer *writer, enum tone tone, const char *text, size_t width)
{
    const char *clean =
        clean_middle(writer->arena, text_clean(writer, text), width, text_glyph(writer, GLYPH_ELLIPSIS));
    text_tone(writer, tone, clean);
    text_spaces(writer, width - utf8_width(clean, strlen(clean)));
}

static void write_figure(struct text_writer *writer, const struct key_figure *figure, size_t label,
                         size_t value)
{
    size_t column = 2 + label + 2, beside = column + value + 2;
    struct styled text =
        styled_text(writer, figure->tone == TONE_PLAIN ? TONE_STRONG : figure->tone, figure->value);
    bool detail = (figure->detail && *figure->detail) || (figure->limit && *figure->limit);
    text_spaces(writer, 2);
    write_padded(writer, TONE_PLAIN, figure->label, label);
    text_spaces(writer, 2);
    size_t width = styled_width(&text);
    if (detail && width <= value && beside + DETAIL_LEAST <= writer->width) {
        text_range(writer, &text, 0, text.length);
        text_spaces(writer, beside - column - width);
        write_detail(writer, figure, beside);
        return;
    }
    text_hanging(writer, &text, column);
    if (detail) {
        text_spaces(writer, column);
        write_detail(writer, figure, column);
    }
}

static void write_card(struct text_writer *writer, const struct key_card *card, size_t label, size_t value)
{
    struct styled title = styled_text(writer, card->tone == TONE_PLAIN ? TONE_NAME : card->tone, card->title);
    text_wrapped(writer, &title, "", 0);
    if (card->subtitle) {
        struct styled subtitle = styled_text(writer, TONE_MUTED, card->subtitle);
        text_wrapped(writer, &subtitle, "  ", 2);
    }
    for (size_t i = 0; i < card->figures.count; i++)
        write_figure(writer, &card->figures.items[i], label, value);
    if (card->advice.runs.count > 0) {
        struct styled advice = styled_rich(writer, &card->advice);
        text_wrapped(writer, &advice, "  ", 2);
    }
}

static void write_cards(struct text_writer *writer, const struct report_block *block)
{
    size_t label = 0, value = 0;
    for (size_t i = 0; i < block->cards.cards.count; i++) {
        const struct key_card *card = &block->cards.cards.items[i];
        for (size_t f = 0; f < card->figures.count; f++) {
            label = column_width(writer, card->figures.items[f].label, label);
            value = column_width(writer, card->figures.items[f].value, value);
        }
    }
    for (size_t i = 0; i < block->cards.cards.count; i++) {
        if (i > 0)
            text_newline(writer);
        write_card(writer, &block->cards.cards.items[i], label, value);
    }
}

/* ---- derivations and listings */

static void write_step_line(struct text_writer *writer, const char *lead, enum tone tone, const char *text)
{
    if (!text || !*text)
        return;
    struct styled line = styled_text(writer, tone, text);
    text_wrapped(writer, &line, lead, 6);
}

static void write_derivation(struct text_writer *writer, const struct derivation *derivation)
{
    struct styled title = styled_text(writer, TONE_NAME, derivation->title);
    text_wrapped(writer, &title, "", 0);
    for (size_t i = 0; i < derivation->steps.count; i++) {
        const struct derivation_step *step = &derivation->steps.items[i];
        struct rich_text head = {0};
        *VEC_PUSH(writer->arena, head.runs) = (struct span_text){step->name, TONE_STRONG};
        *VEC_PUSH(writer->arena, head.runs) = (struct span_text){" = ", TONE_PLAIN};
        *VEC_PUSH(writer->arena, head.runs) =
            (struct span_text){step->value ? step->value : "?", TONE_STRONG};
        if (step->exact && (!step->value || strcmp(step->exact, step->value) != 0)) {
            *VEC_PUSH(writer->arena, head.runs) = (struct span_text){"  (", TONE_MUTED};
            *VEC_PUSH(writer->arena, head.runs) = (struct span_text){step->exact, TONE_MUTED};
            *VEC_PUSH(writer->arena, head.runs) = (struct span_text){")", TONE_MUTED};
        }
        struct styled line = styled_rich(writer, &head);
        text_wrapped(writer, &line, "  ", 6);
        write_step_line(writer, "    = ", TONE_PLAIN, step->formula);
        write_step_line(writer, "    = ", TONE_PLAIN, step->substituted);
        write_step_line(writer, "      ", TONE_MUTED, step->doc);
        if (step->source)
            write_step_line(writer, "      ", TONE_MUTED, TEXT_WORDS(writer, M_SOURCE_IS, step->source));
    }
}

/* Tabs are spelled as blanks to the next stop, all else that is not printable as U+FFFD. */
static const char *listing_line(struct text_writer *writer, const char *line, size_t length)
{
    struct buffer expanded = buffer_in(writer->arena);
    if (memchr(line, '\t', length) == NULL) {
        const char *clean = clean_bytes(writer->arena, line, length);
        return writer->unicode ? clean : clean_ascii(writer->arena, clean);
    }
    for (size_t i = 0; i < length; i++) {
        if (line[i] == '\t')
            buffer_repeat(&expanded, " ", TAB_STOP - expanded.length % TAB_STOP);
        else
            buffer_byte(&expanded, line[i]);
    }
    const char *clean = clean_bytes(writer->arena, buffer_string(&expanded), expanded.length);
    return writer->unicode ? clean : clean_ascii(writer->arena, clean);
}

static void write_listing(struct text_writer *writer, const struct report_listing *listing)
{
    const char *at = listing->text, *end = at + listing->length;
    struct styled path = styled_text(writer, TONE_NAME, listing->path);
    text_wrapped(writer, &path, "", 0);
    for (unsigned number = 1; at < end; number++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((newline ? newline : end) - at);
        if (length > 0 && at[length - 1] == '\r')
            length--;
        const char *lead = arena_printf(writer->arena, "%5u  ", number);
        struct styled line = {.bytes = listing_line(writer, at, length), .tone = TONE_PLAIN};
        line.length = strlen(line.bytes);
        text_tone(writer, TONE_MUTED, line.length > 0 ? lead : arena_printf(writer->arena, "%5u", number));
        size_t offset = 0, start = 0, stop = 0, room = writer->width > 15 ? writer->width - 7 : 8;
        for (bool first = true; styled_line(&line, room, true, &offset, &start, &stop); first = false) {
            if (!first)
                buffer_text(writer->out, "\n       ");
            text_range(writer, &line, start, stop);
        }
        text_newline(writer);
        at = newline ? newline + 1 : end;
    }
}

/* ---- sections */

static void write_list(struct text_writer *writer, const struct report_block *block)
{
    const char *bullet = arena_printf(writer->arena, "%s ", text_glyph(writer, GLYPH_BULLET));
    for (size_t i = 0; i < block->list.items.count; i++) {
        struct styled item = styled_rich(writer, &block->list.items.items[i]);
        text_wrapped(writer, &item, bullet, 2);
    }
}

static void write_chart(struct text_writer *writer, const struct report_chart *chart)
{
    if (chart->title) {
        struct styled title = styled_text(writer, TONE_STRONG, chart->title);
        text_wrapped(writer, &title, "", 0);
    }
    text_chart(writer, chart);
}

/* The table under a chart has its title already. */
static void write_table(struct text_writer *writer, const struct report_block *block,
                        const struct report_block *above)
{
    struct report_table table = block->table;
    if (table.caption && above && above->kind == BLOCK_CHART && above->chart.title &&
        strcmp(table.caption, above->chart.title) == 0)
        table.caption = NULL;
    text_table(writer, &table);
}

static void write_block(struct text_writer *writer, const struct report_block *block,
                        const struct report_block *above)
{
    struct styled text;
    switch (block->kind) {
    case BLOCK_PARAGRAPH:
        text = styled_rich(writer, &block->paragraph);
        text_wrapped(writer, &text, "", 0);
        break;
    case BLOCK_LIST: write_list(writer, block); break;
    case BLOCK_TABLE: write_table(writer, block, above); break;
    case BLOCK_CHART: write_chart(writer, &block->chart); break;
    case BLOCK_CARDS: write_cards(writer, block); break;
    case BLOCK_DERIVATION: write_derivation(writer, &block->derivation); break;
    case BLOCK_LISTING: write_listing(writer, &block->listing); break;
    }
}

static void write_section(struct text_writer *writer, const struct report_section *section)
{
    heading(writer, section->title, TONE_STRONG);
    for (size_t i = 0; i < section->blocks.count; i++) {
        if (i > 0)
            text_newline(writer);
        write_block(writer, &section->blocks.items[i], i > 0 ? &section->blocks.items[i - 1] : NULL);
    }
}

static void write_warnings(struct text_writer *writer, const struct report *report)
{
    size_t count = warning_count(report);
    if (count == 0)
        return;
    const char *bullet = arena_printf(writer->arena, "%s ", text_glyph(writer, GLYPH_BULLET));
    heading(writer, text_words(writer, M_WARNINGS), TONE_STRONG);
    for (size_t i = 0; i < count; i++) {
        struct styled line = styled_text(writer, TONE_WARN, warning_line(writer->arena, report, i));
        text_wrapped(writer, &line, bullet, 2);
    }
}

bool text_emit(struct arena *arena, const struct report *report, struct backend_options options,
               struct buffer *out)
{
    size_t width = options.width == 0 ? WIDTH_DEFAULT : options.width;
    width = width < WIDTH_LEAST ? WIDTH_LEAST : width > WIDTH_MOST ? WIDTH_MOST : width;
    struct text_writer writer = {
        .arena = arena, .out = out, .width = width, .colour = options.colour, .language = report->language};
    /* There is no ASCII for Chinese: who asks for it has a terminal that shows it. */
    writer.unicode = options.unicode || report->language != LANGUAGE_EN;
    write_verdict(&writer, report);
    for (size_t i = 0; i < report->sections.count; i++)
        write_section(&writer, &report->sections.items[i]);
    write_warnings(&writer, report);
    return true;
}
