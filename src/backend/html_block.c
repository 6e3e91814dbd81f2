/* html_block.c: paragraphs, lists, key figures, derivations and listings as HTML. */
#include "backend/html_page.h"

#include <string.h>

#include "base/buffer.h"

void html_paragraph(struct html_page *page, xmlNodePtr parent, const struct rich_text *text)
{
    html_rich(page, html_add(page, parent, "p"), text);
    html_raw(page, parent, "\n");
}

void html_list(struct html_page *page, xmlNodePtr parent, const struct report_block *block)
{
    xmlNodePtr list = html_add(page, parent, "ul");
    for (size_t i = 0; i < block->list.items.count; i++) {
        html_rich(page, html_add(page, list, "li"), &block->list.items.items[i]);
        html_raw(page, list, "\n");
    }
    html_raw(page, parent, "\n");
}

/* ---- key figures --------------------------------------------------------------------------- */

static const char *join(struct html_page *page, const char *first, const char *second)
{
    return second ? arena_printf(page->arena, "%s %s", first, second) : first;
}

static void figure(struct html_page *page, xmlNodePtr list, const struct key_figure *key)
{
    xmlNodePtr row = html_add(page, list, "li");
    xmlNodePtr term = html_add_text(page, row, "span", "label", NULL);
    const char *step = key->quantity ? html_step_id(page, key->quantity) : NULL;
    xmlNodePtr label = step ? html_add(page, term, "a") : term;
    if (step)
        html_setf(page, label, "href", "#%s", step);
    html_text(page, label, key->label);
    html_add_text(page, row, "b", join(page, "value", html_tone_class(key->tone)), key->value);
    xmlNodePtr small = key->detail || key->limit ? html_add(page, row, "small") : NULL;
    if (key->detail)
        html_add_text(page, small, "span", NULL, key->detail);
    if (key->limit)
        html_add_text(page, small, "span", NULL, key->limit);
}

static void card(struct html_page *page, xmlNodePtr parent, const struct key_card *key)
{
    xmlNodePtr article = html_add(page, parent, "article");
    html_set(page, article, "class", join(page, "card", html_tone_class(key->tone)));
    xmlNodePtr head = html_add(page, article, "header");
    html_add_text(page, head, "h3", NULL, key->title);
    if (key->subtitle)
        html_add_text(page, head, "p", "muted", key->subtitle);
    xmlNodePtr list = html_add_text(page, article, "ul", "figures", NULL);
    for (size_t i = 0; i < key->figures.count; i++)
        figure(page, list, &key->figures.items[i]);
    if (key->advice.runs.count) {
        xmlNodePtr advice = html_add_text(page, article, "p", "advice", NULL);
        html_rich(page, advice, &key->advice);
    }
    html_raw(page, parent, "\n");
}

void html_cards(struct html_page *page, xmlNodePtr parent, const struct report_block *block)
{
    size_t count = block->cards.cards.count;
    size_t shown = count < HTML_MAX_CARDS ? count : HTML_MAX_CARDS;
    xmlNodePtr cards = html_add_text(page, parent, "div", count == 1 ? "cards single" : "cards", NULL);
    html_raw(page, cards, "\n");
    for (size_t i = 0; i < shown; i++)
        card(page, cards, &block->cards.cards.items[i]);
    html_raw(page, parent, "\n");
    if (shown < count) {
        xmlNodePtr note = html_add_text(page, parent, "p", "muted", NULL);
        html_textf(page, note, "The first %zu scenarios; the other %zu are in the tables below.", shown,
                   count - shown);
        html_raw(page, parent, "\n");
    }
}

/* ---- derivations --------------------------------------------------------------------------- */

static const char *step_id(struct html_page *page, size_t derivation, const char *step)
{
    return arena_printf(page->arena, "why-%zu-%s", derivation + 1, html_slug(page->arena, step));
}

const char *html_step_id(struct html_page *page, const char *quantity)
{
    for (size_t i = 0; i < page->shown_derivations.count; i++) {
        const struct derivation *derivation = page->shown_derivations.items[i];
        size_t length = strlen(derivation->title);
        if (strncmp(quantity, derivation->title, length) != 0 || quantity[length] != '.')
            continue;
        for (size_t j = 0; j < derivation->steps.count; j++)
            if (strcmp(derivation->steps.items[j].name, quantity + length + 1) == 0)
                return step_id(page, i, derivation->steps.items[j].name);
    }
    return NULL;
}

/* `= text`, where the equals sign is not part of what a reader copies. */
static void equation(struct html_page *page, xmlNodePtr body, const char *class, const char *text)
{
    if (!text || !*text)
        return;
    html_add_text(page, body, "code", class, text);
}

static void step(struct html_page *page, xmlNodePtr list, size_t derivation,
                 const struct derivation_step *made)
{
    xmlNodePtr row = html_add(page, list, "li");
    html_set(page, row, "id", step_id(page, derivation, made->name));
    xmlNodePtr term = html_add(page, row, "div");
    html_add_text(page, term, "code", NULL, made->name);
    if (made->value)
        html_add_text(page, term, "b", NULL, made->value);
    xmlNodePtr body = html_add(page, row, "div");
    if (made->doc)
        html_add_text(page, body, "p", NULL, made->doc);
    equation(page, body, "eq", made->formula);
    if (!made->formula || !made->substituted || strcmp(made->formula, made->substituted) != 0)
        equation(page, body, "eq", made->substituted);
    equation(page, body, "eq exact", made->exact);
    if (made->source)
        html_add_text(page, body, "cite", NULL, made->source);
    html_raw(page, list, "\n");
}

void html_derivation(struct html_page *page, xmlNodePtr parent, const struct derivation *derivation)
{
    size_t index = page->derivations++;
    if (index >= page->shown_derivations.count) {
        if (index == page->shown_derivations.count) {
            xmlNodePtr note = html_add_text(page, parent, "p", "muted", NULL);
            html_textf(page, note,
                       "The first %zu scenarios. The JSON report holds every figure of the others.", index);
        }
        return;
    }
    xmlNodePtr details = html_add_text(page, parent, "details", "derivation", NULL);
    html_summary(page, details, 3, derivation->title);
    html_raw(page, details, "\n");
    xmlNodePtr list = html_add_text(page, details, "ul", "steps", NULL);
    html_raw(page, list, "\n");
    for (size_t i = 0; i < derivation->steps.count; i++)
        step(page, list, index, &derivation->steps.items[i]);
    html_raw(page, parent, "\n");
}

/* ---- the plan ------------------------------------------------------------------------------ */

/* One line of a listing, as an element with its number in the id so that an assertion can point at it. */
static void line(struct html_page *page, xmlNodePtr code, unsigned number, const char *text, size_t length)
{
    xmlNodePtr node = html_add(page, code, "span");
    if (page->listings == 0)
        html_setf(page, node, "id", "L%u", number);
    else
        html_setf(page, node, "id", "F%zu-L%u", page->listings + 1, number);
    if (length && text[length - 1] == '\r')
        length--;
    struct buffer spaced = buffer_in(page->arena);
    for (size_t i = 0; i < length; i++)
        if (text[i] == '\t')
            buffer_text(&spaced, "    ");
        else /* a NUL would hide the rest of the line */
            buffer_byte(&spaced, text[i] ? text[i] : '\x01');
    html_text(page, node, buffer_string(&spaced));
    html_raw(page, node, "\n");
}

void html_listing(struct html_page *page, xmlNodePtr parent, const struct report_listing *listing)
{
    xmlNodePtr figure = html_add_text(page, parent, "figure", "frame listing", NULL);
    html_add_text(page, figure, "figcaption", NULL, listing->path);
    html_set(page, figure, "tabindex", "0");
    xmlNodePtr code = html_add(page, html_add(page, figure, "pre"), "code");
    const char *at = listing->text, *end = listing->text + listing->length;
    for (unsigned number = 1; at < end; number++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        line(page, code, number, at, (size_t)((stop ? stop : end) - at));
        at = stop ? stop + 1 : end;
    }
    html_raw(page, parent, "\n");
    page->listings++;
}
