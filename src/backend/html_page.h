/* html_page.h: what the files of the HTML backend share: the page being written, its elements, attributes
 * and text, and the drawing of each kind of block. Private to html*.c and svg*.c. */
#ifndef PERFC_BACKEND_HTML_PAGE_H
#define PERFC_BACKEND_HTML_PAGE_H

#include <stdbool.h>

#include "base/buffer.h"
#include "result/message.h"
#include "result/report.h"

/* Beyond these counts a page stops being read and starts being scrolled, and a browser stops keeping up;
 * the tables always hold every row. What was left out is said where it was left out. */
enum {
    HTML_MAX_CARDS = 60,
    HTML_MAX_DERIVATIONS = 60,
};

struct html_page {
    struct arena *arena;
    const struct report *report;
    struct buffer *out;
    VEC(const char *) open;                           /* elements that are open, outermost first */
    bool in_tag;                                      /* the innermost one still takes attributes */
    bool lines_linked;                                /* some listing holds line anchors of the plan itself */
    size_t tables;                                    /* tables drawn so far */
    size_t listings;                                  /* listings drawn so far */
    size_t derivations;                               /* derivations met so far */
    VEC(const struct derivation *) shown_derivations; /* those the page will hold, in order */
};

/* A text of messages.def in the report's language. */
#define html_words(page, message)      report_words((page)->report, message)
#define HTML_WORDS(page, message, ...) REPORT_WORDS((page)->arena, (page)->report, message, __VA_ARGS__)

/* ---- markup (html_write.c) ---------------------------------------------------------------- */

/* Letters, digits, dots and dashes of `text`, the rest as dashes: safe within an id. */
const char *html_slug(struct arena *arena, const char *text);

/* Opens an element, with a class (NULL: none). It takes attributes until anything is written into it. */
void html_open(struct html_page *page, const char *name, const char *class);

/* Closes the innermost element: html_close() with an end tag, html_empty() without one, for `meta` and for
 * shapes of SVG. With its style and script taken out, a page is well-formed XML. */
void html_close(struct html_page *page);
void html_empty(struct html_page *page);

/* An element with nothing but text. */
void html_element(struct html_page *page, const char *name, const char *class, const char *text);

/* An attribute of the element that was just opened. html_set() takes any value and cleans it to one line
 * (clean.h); html_set_plain() is for values of our own that need no escaping. */
void html_set(struct html_page *page, const char *name, const char *value);
void html_set_plain(struct html_page *page, const char *name, const char *value);
void html_setf(struct html_page *page, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Text, never markup: html_text() takes anything and cleans it to one line. */
void html_text(struct html_page *page, const char *text);
void html_textf(struct html_page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A line end between elements, for who reads the source. */
void html_line(struct html_page *page);

/* The style and the script: written as they are. */
void html_asset(struct html_page *page, const char *name, const char *text, size_t length);

/* Runs of text in their tones. */
void html_rich(struct html_page *page, const struct rich_text *text);

/* The summary of a `details`, a heading of the given level (tidy 5 knows no `h2` within a summary). */
void html_summary(struct html_page *page, int level, const char *text);

/* The class of a tone, or NULL where it needs none. */
const char *html_tone_class(enum tone tone);

/* ---- blocks (html_block.c, html_table.c, html_chart.c) ------------------------------------- */

void html_paragraph(struct html_page *page, const struct rich_text *text);
void html_list(struct html_page *page, const struct report_block *block);
void html_cards(struct html_page *page, const struct report_block *block);
void html_derivation(struct html_page *page, const struct derivation *derivation);
void html_listing(struct html_page *page, const struct report_listing *listing);
void html_table(struct html_page *page, const struct report_table *table);
/* `half`: drawn for half the width of the page. */
void html_chart(struct html_page *page, const struct report_chart *chart, bool half);

/* The id of a quantity's step on this page ("why-1-tpot"), or NULL when the page does not hold it. */
const char *html_step_id(struct html_page *page, const char *quantity);

#endif
