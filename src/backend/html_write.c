/* html_write.c: elements, attributes and text of the HTML page, written in one pass into the buffer of the
 * output, from text that may hold anything at all. */
#include <string.h>

#include "backend/clean.h"
#include "backend/html_page.h"

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

/* ---- tags ---------------------------------------------------------------------------------- */

static void end_tag(struct html_page *page)
{
    if (page->in_tag)
        buffer_byte(page->out, '>');
    page->in_tag = false;
}

void html_open(struct html_page *page, const char *name, const char *class)
{
    end_tag(page);
    buffer_byte(page->out, '<');
    buffer_text(page->out, name);
    page->in_tag = true;
    *VEC_PUSH(page->arena, page->open) = name;
    if (class)
        html_set_plain(page, "class", class);
}

void html_close(struct html_page *page)
{
    end_tag(page);
    buffer_text(page->out, "</");
    buffer_text(page->out, page->open.items[--page->open.count]);
    buffer_byte(page->out, '>');
}

void html_empty(struct html_page *page)
{
    page->open.count--;
    buffer_byte(page->out, '/');
    end_tag(page);
}

void html_line(struct html_page *page)
{
    end_tag(page);
    buffer_byte(page->out, '\n');
}

void html_asset(struct html_page *page, const char *name, const char *text, size_t length)
{
    html_open(page, name, NULL);
    end_tag(page);
    buffer_add(page->out, text, length);
    html_close(page);
}

/* ---- text ---------------------------------------------------------------------------------- */

static bool is_plain(char byte)
{
    return byte >= 0x20 && byte < 0x7f && !clean_entity(byte);
}

/* Reports set thin spaces (U+2009) within numbers and before units. A browser may break a line at them,
 * not at the narrow no-break space (U+202F), which looks the same. */
static struct clean_piece unbroken(struct clean_piece piece)
{
    static const char thin[] = "\xe2\x80\x89", narrow[] = "\xe2\x80\xaf";
    if (piece.length == 3 && memcmp(piece.bytes, thin, 3) == 0)
        piece.bytes = narrow;
    return piece;
}

/* One line of text between tags or quotes: most of it is plain and copied in runs. */
static void put(struct html_page *page, const char *text)
{
    const char *end = text + strlen(text);
    while (text < end) {
        const char *run = text;
        while (is_plain(*text))
            text++;
        buffer_add(page->out, run, (size_t)(text - run));
        for (const char *entity; (entity = clean_entity(*text)) != NULL; text++)
            buffer_text(page->out, entity);
        if (text == end || is_plain(*text))
            continue;
        size_t used = 0;
        struct clean_piece piece = unbroken(clean_piece(text, (size_t)(end - text), &used));
        buffer_add(page->out, piece.bytes, piece.length);
        text += used;
    }
}

void html_text(struct html_page *page, const char *text)
{
    end_tag(page);
    put(page, text ? text : "");
}

void html_textf(struct html_page *page, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    html_text(page, arena_vprintf(page->arena, format, arguments));
    va_end(arguments);
}

void html_element(struct html_page *page, const char *name, const char *class, const char *text)
{
    html_open(page, name, class);
    html_text(page, text);
    html_close(page);
}

/* ---- attributes ---------------------------------------------------------------------------- */

static void begin_attribute(struct html_page *page, const char *name)
{
    buffer_byte(page->out, ' ');
    buffer_text(page->out, name);
    buffer_add(page->out, "=\"", 2);
}

void html_set(struct html_page *page, const char *name, const char *value)
{
    begin_attribute(page, name);
    put(page, value);
    buffer_byte(page->out, '"');
}

void html_set_plain(struct html_page *page, const char *name, const char *value)
{
    begin_attribute(page, name);
    buffer_text(page->out, value);
    buffer_byte(page->out, '"');
}

void html_setf(struct html_page *page, const char *name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    html_set(page, name, arena_vprintf(page->arena, format, arguments));
    va_end(arguments);
}

/* ---- runs of text -------------------------------------------------------------------------- */

void html_summary(struct html_page *page, int level, const char *text)
{
    html_open(page, "summary", NULL);
    html_open(page, "span", NULL);
    html_set_plain(page, "role", "heading");
    html_set_plain(page, "aria-level", level == 2 ? "2" : "3");
    html_text(page, text);
    html_close(page);
    html_close(page);
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

void html_rich(struct html_page *page, const struct rich_text *text)
{
    for (size_t i = 0; i < text->runs.count; i++) {
        const struct span_text *run = &text->runs.items[i];
        if (run->tone == TONE_PLAIN)
            html_text(page, run->text);
        else if (run->tone == TONE_STRONG)
            html_element(page, "strong", NULL, run->text);
        else if (run->tone == TONE_NAME)
            html_element(page, "bdi", NULL, run->text);
        else
            html_element(page, "span", html_tone_class(run->tone), run->text);
    }
}
