/* html_block.c: paragraphs, lists, key figures, derivations and listings as HTML. */
#include "backend/html_page.h"

#include <string.h>

void html_paragraph(struct html_page *page, const struct rich_text *text)
{
    html_open(page, "p", NULL);
    html_rich(page, text);
    html_close(page);
    html_line(page);
}

void html_list(struct html_page *page, const struct report_block *block)
{
    html_open(page, "ul", NULL);
    for (size_t i = 0; i < block->list.items.count; i++) {
        html_open(page, "li", NULL);
        html_rich(page, &block->list.items.items[i]);
        html_close(page);
        html_line(page);
    }
    html_close(page);
    html_line(page);
}

/* ---- key figures --------------------------------------------------------------------------- */

static const char *join(struct html_page *page, const char *first, const char *second)
{
    return second ? arena_printf(page->arena, "%s %s", first, second) : first;
}

static void label(struct html_page *page, const struct key_figure *key)
{
    const char *step = key->quantity ? html_step_id(page, key->quantity) : NULL;
    html_open(page, "span", "label");
    if (step) {
        html_open(page, "a", NULL);
        html_setf(page, "href", "#%s", step);
    }
    html_text(page, key->label);
    if (step)
        html_close(page);
    html_close(page);
}

static void figure(struct html_page *page, const struct key_figure *key)
{
    html_open(page, "li", NULL);
    label(page, key);
    html_element(page, "b", join(page, "value", html_tone_class(key->tone)), key->value);
    if (key->detail || key->limit) {
        html_open(page, "small", NULL);
        if (key->detail)
            html_element(page, "span", NULL, key->detail);
        if (key->limit)
            html_element(page, "span", NULL, key->limit);
        html_close(page);
    }
    html_close(page);
}

static void card(struct html_page *page, const struct key_card *key)
{
    html_open(page, "article", join(page, "card", html_tone_class(key->tone)));
    html_open(page, "header", NULL);
    html_element(page, "h3", NULL, key->title);
    if (key->subtitle)
        html_element(page, "p", "muted", key->subtitle);
    html_close(page);
    html_open(page, "ul", "figures");
    for (size_t i = 0; i < key->figures.count; i++)
        figure(page, &key->figures.items[i]);
    html_close(page);
    if (key->advice.runs.count) {
        html_open(page, "p", "advice");
        html_rich(page, &key->advice);
        html_close(page);
    }
    html_close(page);
    html_line(page);
}

/* What was left out, where it was left out. */
static void muted_note(struct html_page *page, const char *text)
{
    html_element(page, "p", "muted", text);
    html_line(page);
}

void html_cards(struct html_page *page, const struct report_block *block)
{
    size_t count = block->cards.cards.count;
    size_t shown = count < HTML_MAX_CARDS ? count : HTML_MAX_CARDS;
    html_open(page, "div", count == 1 ? "cards single" : "cards");
    html_line(page);
    for (size_t i = 0; i < shown; i++)
        card(page, &block->cards.cards.items[i]);
    html_close(page);
    html_line(page);
    if (shown < count)
        muted_note(page, HTML_WORDS(page, M_HTML_FIRST_OTHERS_BELOW, arena_printf(page->arena, "%zu", shown),
                                    arena_printf(page->arena, "%zu", count - shown)));
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
static void equation(struct html_page *page, const char *class, const char *text)
{
    if (text && *text)
        html_element(page, "code", class, text);
}

static void step(struct html_page *page, size_t derivation, const struct derivation_step *made)
{
    html_open(page, "li", NULL);
    html_set_plain(page, "id", step_id(page, derivation, made->name));
    html_open(page, "div", NULL);
    html_element(page, "code", NULL, made->name);
    if (made->value)
        html_element(page, "b", NULL, made->value);
    html_close(page);
    html_open(page, "div", NULL);
    if (made->doc)
        html_element(page, "p", NULL, made->doc);
    equation(page, "eq", made->formula);
    if (!made->formula || !made->substituted || strcmp(made->formula, made->substituted) != 0)
        equation(page, "eq", made->substituted);
    equation(page, "eq exact", made->exact);
    if (made->source)
        html_element(page, "cite", NULL, made->source);
    html_close(page);
    html_close(page);
    html_line(page);
}

void html_derivation(struct html_page *page, const struct derivation *derivation)
{
    size_t index = page->derivations++;
    if (index >= page->shown_derivations.count) {
        if (index == page->shown_derivations.count)
            muted_note(page, HTML_WORDS(page, M_HTML_FIRST_DERIVED, arena_printf(page->arena, "%zu", index)));
        return;
    }
    html_open(page, "details", "derivation");
    html_summary(page, 3, derivation->title);
    html_line(page);
    html_open(page, "ul", "steps");
    html_line(page);
    for (size_t i = 0; i < derivation->steps.count; i++)
        step(page, index, &derivation->steps.items[i]);
    html_close(page);
    html_close(page);
    html_line(page);
}

/* ---- the plan ------------------------------------------------------------------------------ */

/* One line of a listing, as an element with its number in the id so that an assertion can point at it. */
static void line(struct html_page *page, unsigned number, const char *text, size_t length)
{
    html_open(page, "span", NULL);
    if (page->listings == 0)
        html_setf(page, "id", "L%u", number);
    else
        html_setf(page, "id", "F%zu-L%u", page->listings + 1, number);
    if (length && text[length - 1] == '\r')
        length--;
    struct buffer spaced = buffer_in(page->arena);
    for (size_t i = 0; i < length; i++)
        if (text[i] == '\t')
            buffer_text(&spaced, "    ");
        else /* a NUL would hide the rest of the line */
            buffer_byte(&spaced, text[i] ? text[i] : '\x01');
    html_text(page, buffer_string(&spaced));
    html_line(page);
    html_close(page);
}

void html_listing(struct html_page *page, const struct report_listing *listing)
{
    html_open(page, "figure", "frame listing");
    html_set_plain(page, "tabindex", "0");
    html_element(page, "figcaption", NULL, listing->path);
    html_open(page, "pre", NULL);
    html_open(page, "code", NULL);
    const char *at = listing->text, *end = listing->text + listing->length;
    for (unsigned number = 1; at < end; number++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        line(page, number, at, (size_t)((stop ? stop : end) - at));
        at = stop ? stop + 1 : end;
    }
    html_close(page);
    html_close(page);
    html_close(page);
    html_line(page);
    page->listings++;
}
