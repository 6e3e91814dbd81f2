/* html.c: the report as one self-contained HTML page. The head, verdict and contents are built as one small
 * document; sections are built, written and released one at a time, so that memory follows the largest
 * section and not the page. */
#include "backend/emitters.h"

#include <libxml/HTMLtree.h>
#include <string.h>

#include "backend/html_digest.h"
#include "backend/html_page.h"
#include "backend/report_assets.h"
#include "base/buffer.h"
#include "source/diag.h"

/* Stands in the frame where the sections go. Text of a plan cannot look like it: `<` is escaped in text, and
 * html_set() breaks comments up in attributes. */
static const char sections_marker[] = "sections";

/* ---- writing ------------------------------------------------------------------------------- */

static int append(void *context, const char *bytes, int length)
{
    buffer_add(context, bytes, (size_t)length);
    return length;
}

static int finish(void *context)
{
    (void)context;
    return 0;
}

/* Appends the node, or the whole document when it is NULL, as UTF-8 without added whitespace (libxml2's own
 * line breaks differ between its versions). */
static void dump(struct html_page *page, xmlNodePtr node, struct buffer *out)
{
    xmlOutputBufferPtr output = xmlOutputBufferCreateIO(append, finish, out, NULL);
    if (!output) {
        page->failed = true;
        return;
    }
    if (node)
        htmlNodeDumpFormatOutput(output, page->doc, node, "UTF-8", 0);
    else
        htmlDocContentDumpFormatOutput(output, page->doc, "UTF-8", 0);
    if (output->error)
        page->failed = true;
    if (xmlOutputBufferClose(output) < 0)
        page->failed = true;
}

/* ---- head ---------------------------------------------------------------------------------- */

static const char *plain(struct html_page *page, const struct rich_text *text)
{
    struct buffer out = buffer_in(page->arena);
    for (size_t i = 0; i < text->runs.count; i++)
        buffer_text(&out, text->runs.items[i].text);
    return buffer_string(&out);
}

static void meta(struct html_page *page, xmlNodePtr head, const char *name, const char *content)
{
    xmlNodePtr node = html_add(page, head, "meta");
    html_set(page, node, "name", name);
    html_set(page, node, "content", content);
    html_raw(page, head, "\n");
}

static void policy(struct html_page *page, xmlNodePtr head)
{
    char style[HTML_DIGEST_TEXT], script[HTML_DIGEST_TEXT];
    xmlNodePtr node = html_add(page, head, "meta");
    html_set(page, node, "http-equiv", "Content-Security-Policy");
    html_setf(page, node, "content",
              "default-src 'none'; style-src 'sha256-%s'; script-src 'sha256-%s'; base-uri 'none'; "
              "form-action 'none'",
              html_digest(style, report_css, report_css_length),
              html_digest(script, report_js, report_js_length));
    html_raw(page, head, "\n");
}

static const char *page_title(const struct html_page *page)
{
    if (page->report->title)
        return page->report->title;
    const char *slash = strrchr(page->report->plan, '/');
    return slash && slash[1] ? slash + 1 : page->report->plan;
}

static void head(struct html_page *page, xmlNodePtr root)
{
    xmlNodePtr node = html_add(page, root, "head");
    html_raw(page, node, "\n");
    html_set(page, html_add(page, node, "meta"), "charset", "utf-8");
    html_raw(page, node, "\n");
    policy(page, node);
    meta(page, node, "viewport", "width=device-width, initial-scale=1");
    meta(page, node, "color-scheme", "light dark");
    meta(page, node, "generator", "perfc");
    const char *verdict = plain(page, &page->report->verdict);
    meta(page, node, "description", *verdict ? verdict : "Sizing report made by perfc");
    html_add_text(page, node, "title", NULL, page_title(page));
    html_raw(page, node, "\n");
    html_raw(page, html_add(page, node, "style"), report_css);
    html_raw(page, node, "\n");
    html_raw(page, root, "\n");
}

/* ---- verdict ------------------------------------------------------------------------------- */

static void assertion(struct html_page *page, xmlNodePtr list, const struct report_assertion *made)
{
    const char *class = made->holds ? "good" : made->why ? "warn" : "bad";
    xmlNodePtr item = html_add_text(page, list, "li", class, NULL);
    const char *sign = made->holds ? "✓" : made->why ? "?" : "✗";
    xmlNodePtr mark = html_add_text(page, item, "span", "mark", sign);
    html_set(page, mark, "aria-hidden", "true");
    html_add_text(page, item, "span", "vh", made->holds ? "Holds: " : made->why ? "Undecided: " : "Fails: ");
    xmlNodePtr body = html_add(page, item, "div");
    html_add_text(page, body, "code", NULL, made->text);
    if (made->left && made->right)
        html_add_text(page, body, "span", "sides",
                      arena_printf(page->arena, "%s against %s", made->left, made->right));
    if (made->margin)
        html_add_text(page, body, "span", "margin", made->margin);
    if (made->why)
        html_add_text(page, body, "span", "why", made->why);
    if (made->message)
        html_add_text(page, body, "span", "message", made->message);
    if (made->line) {
        xmlNodePtr place = html_add_text(page, body, page->lines_linked ? "a" : "span", "place", NULL);
        if (page->lines_linked)
            html_setf(page, place, "href", "#L%u", made->line);
        html_textf(page, place, "line %u", made->line);
    }
    html_raw(page, list, "\n");
}

enum which_assertions { ASSERTIONS_ALL, ASSERTIONS_FAILING, ASSERTIONS_HOLDING };

/* More than these, and those that hold are folded: the first screen is for what fails and the key figures. */
enum { OPEN_ASSERTIONS = 7 };

static void assertions(struct html_page *page, xmlNodePtr parent, enum which_assertions which)
{
    xmlNodePtr list = html_add_text(page, parent, "ul", "assertions", NULL);
    html_raw(page, list, "\n");
    for (size_t i = 0; i < page->report->assertions.count; i++) {
        const struct report_assertion *made = &page->report->assertions.items[i];
        if (which == ASSERTIONS_ALL || made->holds == (which == ASSERTIONS_HOLDING))
            assertion(page, list, made);
    }
    html_raw(page, parent, "\n");
}

static void verdict(struct html_page *page, xmlNodePtr parent)
{
    const struct report *report = page->report;
    if (report->verdict.runs.count) {
        const char *tone = html_tone_class(report->verdict_tone);
        xmlNodePtr node = html_add_text(page, parent, "p", NULL, NULL);
        html_setf(page, node, "class", tone ? "verdict %s" : "verdict", tone);
        html_rich(page, node, &report->verdict);
        html_raw(page, parent, "\n");
    }
    if (!report->assertions.count)
        return;
    html_add_text(page, parent, "h2", "vh", "Assertions");
    size_t holding = 0;
    for (size_t i = 0; i < report->assertions.count; i++)
        holding += report->assertions.items[i].holds;
    if (report->assertions.count <= OPEN_ASSERTIONS) {
        assertions(page, parent, ASSERTIONS_ALL);
        return;
    }
    if (holding < report->assertions.count)
        assertions(page, parent, ASSERTIONS_FAILING);
    if (holding) {
        xmlNodePtr details = html_add_text(page, parent, "details", "holding", NULL);
        xmlNodePtr summary = html_add(page, details, "summary");
        html_add_text(page, summary, "span", "good", "✓");
        html_textf(page, summary, " %zu assertion%s", holding, holding == 1 ? " holds" : "s hold");
        assertions(page, details, ASSERTIONS_HOLDING);
        html_raw(page, parent, "\n");
    }
}

/* ---- sections ------------------------------------------------------------------------------ */

static void block(struct html_page *page, xmlNodePtr parent, const struct report_block *block)
{
    switch (block->kind) {
    case BLOCK_PARAGRAPH: html_paragraph(page, parent, &block->paragraph); break;
    case BLOCK_LIST: html_list(page, parent, block); break;
    case BLOCK_TABLE: html_table(page, parent, &block->table); break;
    case BLOCK_CHART: html_chart(page, parent, &block->chart, false); break;
    case BLOCK_CARDS: html_cards(page, parent, block); break;
    case BLOCK_DERIVATION: html_derivation(page, parent, &block->derivation); break;
    case BLOCK_LISTING: html_listing(page, parent, &block->listing); break;
    }
}

/* An empty section with its heading; a folded one is a `details` whose summary is the heading. Sets `*body`
 * to where the blocks go. */
static xmlNodePtr section_frame(struct html_page *page, const char *id, const char *title, bool folded,
                                xmlNodePtr *body)
{
    xmlNodePtr node = xmlNewDocNode(page->doc, NULL, BAD_CAST "section", NULL);
    if (!node)
        page->failed = true;
    html_set(page, node, "id", html_slug(page->arena, id));
    html_raw(page, node, "\n");
    *body = node;
    if (folded) {
        *body = html_add(page, node, "details");
        html_summary(page, *body, 2, title);
    } else {
        html_add_text(page, node, "h2", NULL, title);
    }
    html_text(page, *body, "\n");
    return node;
}

static void write_section(struct html_page *page, xmlNodePtr node, struct buffer *out)
{
    if (node && !page->failed)
        dump(page, node, out);
    buffer_text(out, "\n");
    xmlFreeNode(node);
}

/* How many charts of one line follow each other from `first`: they stand side by side. */
static size_t small_charts(const struct report_section *made, size_t first)
{
    size_t count = 0;
    while (first + count < made->blocks.count) {
        const struct report_block *block = &made->blocks.items[first + count];
        if (block->kind != BLOCK_CHART || block->chart.kind != CHART_LINES ||
            block->chart.lines.series.count > 1)
            break;
        count++;
    }
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

static void section(struct html_page *page, const struct report_section *made, struct buffer *out)
{
    xmlNodePtr body;
    xmlNodePtr node = section_frame(page, made->id, made->title, made->folded, &body);
    const char *class = is_long(made)  ? made->folded ? "folded long" : "long"
                        : made->folded ? "folded"
                                       : NULL;
    if (class)
        html_set(page, node, "class", class);
    for (size_t i = 0; i < made->blocks.count;) {
        size_t multiples = small_charts(made, i);
        if (multiples < 2) {
            block(page, body, &made->blocks.items[i++]);
            continue;
        }
        xmlNodePtr grid = html_add_text(page, body, "div", "multiples", NULL);
        for (size_t end = i + multiples; i < end; i++)
            html_chart(page, grid, &made->blocks.items[i].chart, true);
        html_raw(page, body, "\n");
    }
    write_section(page, node, out);
}

/* Warnings of the compiler, where the report itself has no section for them. */
static void warnings(struct html_page *page, struct buffer *out)
{
    const struct report *report = page->report;
    xmlNodePtr body;
    xmlNodePtr node = section_frame(page, "warnings", "Warnings", false, &body);
    xmlNodePtr list = html_add(page, body, "ul");
    for (size_t i = 0; i < diags_count(report->diags); i++) {
        const struct diag *diag = diags_get(report->diags, i);
        const struct diag_info *info = diag_info(diag->code);
        xmlNodePtr item = html_add(page, list, "li");
        html_add_text(page, item, "span", info->severity == DIAG_WARNING ? "warn" : "bad", info->code);
        html_textf(page, item, " %s", diag->message);
        if (report->sources && diag->span.end && diag->span.file < sources_count(report->sources)) {
            const struct source *source = sources_get(report->sources, diag->span.file);
            unsigned line, column;
            source_position(source, diag->span.start, &line, &column);
            html_add_text(page, item, "span", "place",
                          arena_printf(page->arena, "%s:%u:%u", source->path, line, column));
        }
        html_raw(page, list, "\n");
    }
    html_raw(page, body, "\n");
    write_section(page, node, out);
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

static void contents_entry(struct html_page *page, xmlNodePtr list, const char *id, const char *title)
{
    xmlNodePtr link = html_add_text(page, html_add(page, list, "li"), "a", NULL, title);
    html_setf(page, link, "href", "#%s", html_slug(page->arena, id));
    html_raw(page, list, "\n");
}

static void contents(struct html_page *page, xmlNodePtr parent)
{
    const struct report *report = page->report;
    if (report->sections.count < 2)
        return;
    xmlNodePtr nav = html_add_text(page, parent, "nav", NULL, NULL);
    html_set(page, nav, "aria-label", "Contents");
    xmlNodePtr list = html_add(page, nav, "ul");
    html_raw(page, list, "\n");
    for (size_t i = 0; i < report->sections.count; i++)
        contents_entry(page, list, report->sections.items[i].id, report->sections.items[i].title);
    if (draws_warnings(report))
        contents_entry(page, list, "warnings", "Warnings");
    html_raw(page, parent, "\n");
}

static void body(struct html_page *page, xmlNodePtr root)
{
    xmlNodePtr node = html_add(page, root, "body");
    html_raw(page, node, "\n");
    xmlNodePtr skip = html_add_text(page, node, "a", "skip", "Skip to the report");
    html_set(page, skip, "href", "#report");
    html_raw(page, node, "\n");
    xmlNodePtr header = html_add(page, node, "header");
    xmlNodePtr origin = html_add_text(page, header, "p", "origin", NULL);
    html_add_text(page, origin, "b", NULL, "perfc");
    html_add_text(page, origin, "span", NULL, page->report->plan);
    html_raw(page, header, "\n");
    contents(page, header);
    html_raw(page, node, "\n");
    xmlNodePtr main = html_add(page, node, "main");
    html_set(page, main, "id", "report");
    html_raw(page, main, "\n");
    html_add_text(page, main, "h1", NULL, page_title(page));
    html_raw(page, main, "\n");
    verdict(page, main);
    xmlNodePtr marker = xmlNewDocComment(page->doc, BAD_CAST sections_marker);
    if (!marker || !main || !xmlAddChild(main, marker))
        page->failed = true;
    html_raw(page, node, "\n");
    xmlNodePtr footer = html_add(page, node, "footer");
    html_text(page, footer, "Made by perfc from ");
    html_add_text(page, footer, "span", NULL, page->report->plan);
    html_text(page, footer, ". The page holds everything it shows and loads nothing.");
    html_raw(page, node, "\n");
    html_raw(page, html_add(page, node, "script"), report_js);
    html_raw(page, node, "\n");
}

static void frame(struct html_page *page)
{
    if (!xmlCreateIntSubset(page->doc, BAD_CAST "html", NULL, NULL))
        page->failed = true;
    xmlNodePtr root = xmlNewDocNode(page->doc, NULL, BAD_CAST "html", NULL);
    if (!root) {
        page->failed = true;
        return;
    }
    xmlDocSetRootElement(page->doc, root);
    html_set(page, root, "lang", "en");
    html_raw(page, root, "\n");
    head(page, root);
    body(page, root);
    html_raw(page, root, "\n");
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
    struct html_page page = {.arena = arena, .report = report};
    page.doc = htmlNewDocNoDtD(NULL, NULL);
    if (!page.doc)
        return false;
    page.doc->dict = xmlDictCreate(); /* one copy of each element's name; freed with the document */
    survey(&page);
    frame(&page);
    struct buffer text = buffer_in(arena);
    if (!page.failed)
        dump(&page, NULL, &text);
    const char *split = strstr(buffer_string(&text), "<!--sections-->");
    if (split) {
        buffer_add(out, text.data, (size_t)(split - text.data));
        for (size_t i = 0; i < report->sections.count && !page.failed; i++)
            section(&page, &report->sections.items[i], out);
        if (draws_warnings(report))
            warnings(&page, out);
        buffer_text(out, split + strlen("<!--sections-->"));
    }
    xmlFreeDoc(page.doc);
    return split && !page.failed;
}
