/* html.c: the report as one self-contained HTML page, written from its first byte to its last. */
#include "backend/emitters.h"

#include <string.h>

#include "backend/html_digest.h"
#include "backend/html_page.h"
#include "backend/report_assets.h"
#include "source/diag.h"

/* ---- head ---------------------------------------------------------------------------------- */

static const char *plain(struct html_page *page, const struct rich_text *text)
{
    struct buffer out = buffer_in(page->arena);
    for (size_t i = 0; i < text->runs.count; i++)
        buffer_text(&out, text->runs.items[i].text);
    return buffer_string(&out);
}

static void meta(struct html_page *page, const char *kind, const char *name, const char *content)
{
    html_open(page, "meta", NULL);
    html_set_plain(page, kind, name);
    html_set(page, "content", content);
    html_empty(page);
    html_line(page);
}

static void policy(struct html_page *page)
{
    char style[HTML_DIGEST_TEXT], script[HTML_DIGEST_TEXT];
    meta(page, "http-equiv", "Content-Security-Policy",
         arena_printf(page->arena,
                      "default-src 'none'; style-src 'sha256-%s'; script-src 'sha256-%s'; base-uri 'none'; "
                      "form-action 'none'",
                      html_digest(style, report_css, report_css_length),
                      html_digest(script, report_js, report_js_length)));
}

static const char *page_title(const struct html_page *page)
{
    if (page->report->title)
        return page->report->title;
    const char *slash = strrchr(page->report->plan, '/');
    return slash && slash[1] ? slash + 1 : page->report->plan;
}

static void head(struct html_page *page)
{
    html_open(page, "head", NULL);
    html_line(page);
    html_open(page, "meta", NULL);
    html_set_plain(page, "charset", "utf-8");
    html_empty(page);
    html_line(page);
    policy(page);
    meta(page, "name", "viewport", "width=device-width, initial-scale=1");
    meta(page, "name", "color-scheme", "light dark");
    meta(page, "name", "generator", "perfc");
    const char *verdict = plain(page, &page->report->verdict);
    meta(page, "name", "description", *verdict ? verdict : html_words(page, M_HTML_DESCRIPTION));
    html_element(page, "title", NULL, page_title(page));
    html_line(page);
    html_asset(page, "style", report_css, report_css_length);
    html_line(page);
    html_close(page);
    html_line(page);
}

/* ---- verdict ------------------------------------------------------------------------------- */

static void optional(struct html_page *page, const char *class, const char *text)
{
    if (text)
        html_element(page, "span", class, text);
}

static void place(struct html_page *page, unsigned line)
{
    html_open(page, page->lines_linked ? "a" : "span", "place");
    if (page->lines_linked)
        html_setf(page, "href", "#L%u", line);
    html_text(page, HTML_WORDS(page, M_HTML_LINE, arena_printf(page->arena, "%u", line)));
    html_close(page);
}

static void assertion(struct html_page *page, const struct report_assertion *made)
{
    html_open(page, "li", made->holds ? "good" : made->why ? "warn" : "bad");
    html_open(page, "span", "mark");
    html_set_plain(page, "aria-hidden", "true");
    html_text(page, made->holds ? "✓" : made->why ? "?" : "✗");
    html_close(page);
    html_element(page, "span", "vh",
                 html_words(page, made->holds ? M_HTML_HOLDS
                                  : made->why ? M_HTML_UNDECIDED
                                              : M_HTML_FAILS));
    html_open(page, "div", NULL);
    html_element(page, "code", NULL, made->text);
    if (made->left && made->right)
        optional(page, "sides", HTML_WORDS(page, M_SIDE_AGAINST_SIDE, made->left, made->right));
    optional(page, "margin", made->margin);
    optional(page, "why", made->why);
    optional(page, "message", made->message);
    if (made->line)
        place(page, made->line);
    html_close(page);
    html_close(page);
    html_line(page);
}

enum which_assertions { ASSERTIONS_ALL, ASSERTIONS_FAILING, ASSERTIONS_HOLDING };

/* More than these, and those that hold are folded: the first screen is for what fails and the key figures. */
enum { OPEN_ASSERTIONS = 7 };

static void assertions(struct html_page *page, enum which_assertions which)
{
    html_open(page, "ul", "assertions");
    html_line(page);
    for (size_t i = 0; i < page->report->assertions.count; i++) {
        const struct report_assertion *made = &page->report->assertions.items[i];
        if (which == ASSERTIONS_ALL || made->holds == (which == ASSERTIONS_HOLDING))
            assertion(page, made);
    }
    html_close(page);
    html_line(page);
}

/* Those that hold, folded behind their number. */
static void holding_assertions(struct html_page *page, size_t count)
{
    html_open(page, "details", "holding");
    html_open(page, "summary", NULL);
    html_element(page, "span", "good", "✓");
    html_text(page, HTML_WORDS(page, count == 1 ? M_HTML_ONE_HOLDS : M_HTML_HOLD,
                               arena_printf(page->arena, "%zu", count)));
    html_close(page);
    assertions(page, ASSERTIONS_HOLDING);
    html_close(page);
    html_line(page);
}

static void verdict(struct html_page *page)
{
    const struct report *report = page->report;
    if (report->verdict.runs.count) {
        const char *tone = html_tone_class(report->verdict_tone);
        html_open(page, "p", tone ? arena_printf(page->arena, "verdict %s", tone) : "verdict");
        html_rich(page, &report->verdict);
        html_close(page);
        html_line(page);
    }
    if (!report->assertions.count)
        return;
    html_element(page, "h2", "vh", html_words(page, M_ASSERTIONS));
    size_t holding = 0;
    for (size_t i = 0; i < report->assertions.count; i++)
        holding += report->assertions.items[i].holds;
    if (report->assertions.count <= OPEN_ASSERTIONS) {
        assertions(page, ASSERTIONS_ALL);
        return;
    }
    if (holding < report->assertions.count)
        assertions(page, ASSERTIONS_FAILING);
    if (holding)
        holding_assertions(page, holding);
}

/* ---- sections ------------------------------------------------------------------------------ */

static void block(struct html_page *page, const struct report_block *block)
{
    switch (block->kind) {
    case BLOCK_PARAGRAPH: html_paragraph(page, &block->paragraph); break;
    case BLOCK_LIST: html_list(page, block); break;
    case BLOCK_TABLE: html_table(page, &block->table); break;
    case BLOCK_CHART: html_chart(page, &block->chart, false); break;
    case BLOCK_CARDS: html_cards(page, block); break;
    case BLOCK_DERIVATION: html_derivation(page, &block->derivation); break;
    case BLOCK_LISTING: html_listing(page, &block->listing); break;
    }
}

/* A section with its heading; a folded one is a `details` whose summary is the heading. */
static void open_section(struct html_page *page, const char *id, const char *class, const char *title,
                         bool folded)
{
    html_open(page, "section", class);
    html_set_plain(page, "id", html_slug(page->arena, id));
    html_line(page);
    if (folded) {
        html_open(page, "details", NULL);
        html_summary(page, 2, title);
    } else {
        html_element(page, "h2", NULL, title);
    }
    html_line(page);
}

static void close_section(struct html_page *page, bool folded)
{
    if (folded)
        html_close(page);
    html_close(page);
    html_line(page);
}

/* One line; what was measured beside it does not count. */
static bool is_small(const struct report_block *block)
{
    if (block->kind != BLOCK_CHART || block->chart.kind != CHART_LINES || block->chart.lines.x_round)
        return false;
    size_t lines = 0;
    for (size_t i = 0; i < block->chart.lines.series.count; i++)
        lines += block->chart.lines.series.items[i].style != LINE_MEASURED;
    return lines <= 1;
}

/* How many such charts follow each other from `first`: they stand side by side. */
static size_t small_charts(const struct report_section *made, size_t first)
{
    size_t count = 0;
    while (first + count < made->blocks.count && is_small(&made->blocks.items[first + count]))
        count++;
    return count;
}

/* Whether the section has so many rows that a browser should lay it out only once it is scrolled to. */
static bool is_long(const struct report_section *made)
{
    size_t rows = 0;
    for (size_t i = 0; i < made->blocks.count; i++) {
        const struct report_block *block = &made->blocks.items[i];
        if (block->kind == BLOCK_TABLE)
            rows += block->table.rows.count;
        else if (block->kind == BLOCK_LIST)
            rows += block->list.items.count;
        else if (block->kind == BLOCK_LISTING)
            rows += block->listing.length / 64;
    }
    return rows > 400;
}

static void section(struct html_page *page, const struct report_section *made)
{
    const char *class = is_long(made)  ? made->folded ? "folded long" : "long"
                        : made->folded ? "folded"
                                       : NULL;
    open_section(page, made->id, class, made->title, made->folded);
    for (size_t i = 0; i < made->blocks.count;) {
        size_t multiples = small_charts(made, i);
        if (multiples < 2) {
            block(page, &made->blocks.items[i++]);
            continue;
        }
        html_open(page, "div", "multiples");
        for (size_t end = i + multiples; i < end; i++)
            html_chart(page, &made->blocks.items[i].chart, true);
        html_close(page);
        html_line(page);
    }
    close_section(page, made->folded);
}

static void warning(struct html_page *page, const struct diag *diag)
{
    const struct report *report = page->report;
    const struct diag_info *info = diag_info(diag->code);
    html_open(page, "li", NULL);
    html_element(page, "span", info->severity == DIAG_WARNING ? "warn" : "bad", info->code);
    html_textf(page, " %s", report_phrase(report, diag->message));
    if (report->sources && diag->span.end && diag->span.file < sources_count(report->sources)) {
        const struct source *source = sources_get(report->sources, diag->span.file);
        unsigned line, column;
        source_position(source, diag->span.start, &line, &column);
        html_element(page, "span", "place",
                     arena_printf(page->arena, "%s:%u:%u", source->path, line, column));
    }
    html_close(page);
    html_line(page);
}

/* Warnings of the compiler, where the report itself has no section for them. */
static void warnings(struct html_page *page)
{
    const struct diags *diags = page->report->diags;
    open_section(page, "warnings", NULL, html_words(page, M_WARNINGS), false);
    html_open(page, "ul", NULL);
    for (size_t i = 0; i < diags_count(diags); i++)
        warning(page, diags_get(diags, i));
    html_close(page);
    html_line(page);
    close_section(page, false);
}

static bool has_section(const struct report *report, const char *id)
{
    for (size_t i = 0; i < report->sections.count; i++)
        if (strcmp(report->sections.items[i].id, id) == 0)
            return true;
    return false;
}

static bool draws_warnings(const struct report *report)
{
    return report->diags && diags_count(report->diags) > 0 && !has_section(report, "warnings");
}

/* ---- frame --------------------------------------------------------------------------------- */

static void contents_entry(struct html_page *page, const char *id, const char *title)
{
    html_open(page, "li", NULL);
    html_open(page, "a", NULL);
    html_setf(page, "href", "#%s", html_slug(page->arena, id));
    html_text(page, title);
    html_close(page);
    html_close(page);
    html_line(page);
}

static void contents(struct html_page *page)
{
    const struct report *report = page->report;
    if (report->sections.count < 2)
        return;
    html_open(page, "nav", NULL);
    html_set_plain(page, "aria-label", html_words(page, M_HTML_CONTENTS));
    html_open(page, "ul", NULL);
    html_line(page);
    for (size_t i = 0; i < report->sections.count; i++)
        contents_entry(page, report->sections.items[i].id, report->sections.items[i].title);
    if (draws_warnings(report))
        contents_entry(page, "warnings", html_words(page, M_WARNINGS));
    html_close(page);
    html_close(page);
    html_line(page);
}

static void header(struct html_page *page)
{
    html_open(page, "a", "skip");
    html_set_plain(page, "href", "#report");
    html_text(page, html_words(page, M_HTML_SKIP));
    html_close(page);
    html_line(page);
    html_open(page, "header", NULL);
    html_open(page, "p", "origin");
    html_element(page, "b", NULL, "perfc");
    html_element(page, "span", NULL, page->report->plan);
    html_close(page);
    html_line(page);
    contents(page);
    html_close(page);
    html_line(page);
}

static void content(struct html_page *page)
{
    const struct report *report = page->report;
    html_open(page, "main", NULL);
    html_set_plain(page, "id", "report");
    html_line(page);
    html_element(page, "h1", NULL, page_title(page));
    html_line(page);
    verdict(page);
    for (size_t i = 0; i < report->sections.count; i++)
        section(page, &report->sections.items[i]);
    if (draws_warnings(report))
        warnings(page);
    html_close(page);
    html_line(page);
}

static void footer(struct html_page *page)
{
    html_open(page, "footer", NULL);
    html_text(page, html_words(page, M_HTML_MADE_FROM));
    html_element(page, "span", NULL, page->report->plan);
    html_text(page, html_words(page, M_HTML_SELF_CONTAINED));
    html_close(page);
    html_line(page);
}

static void document(struct html_page *page)
{
    buffer_text(page->out, "<!DOCTYPE html>\n");
    html_open(page, "html", NULL);
    html_set_plain(page, "lang", language_tag(page->report->language));
    if (page->report->language != LANGUAGE_EN)
        html_set_plain(page, "data-find", html_words(page, M_HTML_SHOW_ONLY));
    html_line(page);
    head(page);
    html_open(page, "body", NULL);
    html_line(page);
    header(page);
    content(page);
    footer(page);
    html_asset(page, "script", report_js, report_js_length);
    html_line(page);
    html_close(page);
    html_line(page);
    html_close(page);
    html_line(page);
}

/* What later parts of the page point at must be known before they are drawn. */
static void survey(struct html_page *page)
{
    for (size_t i = 0; i < page->report->sections.count; i++) {
        const struct report_section *made = &page->report->sections.items[i];
        for (size_t j = 0; j < made->blocks.count; j++) {
            const struct report_block *block = &made->blocks.items[j];
            if (block->kind == BLOCK_LISTING)
                page->lines_linked = true;
            if (block->kind == BLOCK_DERIVATION && page->shown_derivations.count < HTML_MAX_DERIVATIONS)
                *VEC_PUSH(page->arena, page->shown_derivations) = &block->derivation;
        }
    }
}

bool html_emit(struct arena *arena, const struct report *report, struct backend_options options,
               struct buffer *out)
{
    (void)options;
    struct html_page page = {.arena = arena, .report = report, .out = out};
    survey(&page);
    document(&page);
    return true;
}
