/* html_node.c: elements, attributes and text of the HTML page, made with libxml2 from text that may hold
 * anything at all. */
#include "backend/html_page.h"

#include <string.h>

#include "backend/clean.h"
#include "base/buffer.h"

const char *html_slug(struct arena *arena, const char *text)
{
    char *slug = arena_strdup(arena, text);
    for (char *at = slug; *at; at++) {
        bool kept = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9');
        if (!kept && *at != '.')
            *at = '-';
    }
    return slug;
}

xmlNodePtr html_add(struct html_page *page, xmlNodePtr parent, const char *name)
{
    if (!parent)
        return NULL;
    xmlNodePtr node = xmlNewDocNode(page->doc, NULL, BAD_CAST name, NULL);
    if (!node || !xmlAddChild(parent, node))
        page->failed = true;
    return node;
}

xmlNodePtr html_add_text(struct html_page *page, xmlNodePtr parent, const char *name, const char *class,
                         const char *text)
{
    xmlNodePtr node = html_add(page, parent, name);
    if (class)
        html_set(page, node, "class", class);
    if (text)
        html_text(page, node, text);
    return node;
}

void html_raw(struct html_page *page, xmlNodePtr parent, const char *text)
{
    if (!parent || !*text)
        return;
    xmlNodePtr node = xmlNewDocText(page->doc, BAD_CAST text);
    if (!node || !xmlAddChild(parent, node))
        page->failed = true;
}

/* Reports set thin spaces (U+2009) within numbers and before units. A browser may break a line at them, not
 * at the narrow no-break space (U+202F), which looks the same; both have three bytes. */
static const char *unbroken(struct arena *arena, const char *text)
{
    if (!strstr(text, "\xe2\x80\x89"))
        return text;
    char *copy = arena_strdup(arena, text);
    for (char *at = copy; (at = strstr(at, "\xe2\x80\x89"));)
        memcpy(at, "\xe2\x80\xaf", 3);
    return copy;
}

void html_text(struct html_page *page, xmlNodePtr parent, const char *text)
{
    html_raw(page, parent, unbroken(page->arena, clean_line(page->arena, text)));
}

void html_textf(struct html_page *page, xmlNodePtr parent, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    html_text(page, parent, arena_vprintf(page->arena, format, arguments));
    va_end(arguments);
}

/* libxml2's HTML writer copies `<!-- … -->` and `&{ … }` inside attributes as they are, quotes included
 * (HTMLtree.c and entities.c: server-side includes of HTML 4), so that a value could end its attribute.
 * A word joiner inside the opening breaks the spell and shows nothing. */
static const char *without_includes(struct arena *arena, const char *value)
{
    if (!strstr(value, "<!--") && !strstr(value, "&{"))
        return value;
    struct buffer out = buffer_in(arena);
    for (; *value; value++) {
        buffer_byte(&out, *value);
        if (*value == '<' || *value == '&')
            buffer_text(&out, "\xe2\x81\xa0");
    }
    return buffer_string(&out);
}

void html_set(struct html_page *page, xmlNodePtr node, const char *name, const char *value)
{
    if (!node)
        return;
    if (value)
        value = without_includes(page->arena, clean_line(page->arena, value));
    if (!xmlNewProp(node, BAD_CAST name, BAD_CAST value))
        page->failed = true;
}

void html_setf(struct html_page *page, xmlNodePtr node, const char *name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    html_set(page, node, name, arena_vprintf(page->arena, format, arguments));
    va_end(arguments);
}

void html_summary(struct html_page *page, xmlNodePtr details, int level, const char *text)
{
    xmlNodePtr heading = html_add_text(page, html_add(page, details, "summary"), "span", NULL, text);
    html_set(page, heading, "role", "heading");
    html_setf(page, heading, "aria-level", "%d", level);
}

const char *html_tone_class(enum tone tone)
{
    static const char *const classes[] = {
        [TONE_GOOD] = "good",
        [TONE_BAD] = "bad",
        [TONE_WARN] = "warn",
        [TONE_MUTED] = "muted",
    };
    return (size_t)tone < sizeof classes / sizeof *classes ? classes[tone] : NULL;
}

void html_rich(struct html_page *page, xmlNodePtr parent, const struct rich_text *text)
{
    for (size_t i = 0; i < text->runs.count; i++) {
        const struct span_text *run = &text->runs.items[i];
        if (run->tone == TONE_PLAIN)
            html_text(page, parent, run->text);
        else if (run->tone == TONE_STRONG)
            html_add_text(page, parent, "strong", NULL, run->text);
        else if (run->tone == TONE_NAME)
            html_add_text(page, parent, "bdi", NULL, run->text);
        else
            html_add_text(page, parent, "span", html_tone_class(run->tone), run->text);
    }
}
