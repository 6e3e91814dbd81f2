/* html_page.h: what the files of the HTML backend share: the page under construction, nodes made with
 * libxml2, and the drawing of each kind of block. Private to html*.c and svg*.c. */
#ifndef PERFC_BACKEND_HTML_PAGE_H
#define PERFC_BACKEND_HTML_PAGE_H

#include <libxml/tree.h>
#include <stdbool.h>

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
    xmlDocPtr doc;
    bool failed;                                      /* libxml2 ran out of memory */
    bool lines_linked;                                /* some listing holds line anchors of the plan itself */
    size_t tables;                                    /* tables drawn so far */
    size_t listings;                                  /* listings drawn so far */
    size_t derivations;                               /* derivations met so far */
    VEC(const struct derivation *) shown_derivations; /* those the page will hold, in order */
};

/* ---- nodes (html_node.c) ------------------------------------------------------------------ */

/* Letters, digits, dots and dashes of `text`, the rest as dashes: safe within an id. */
const char *html_slug(struct arena *arena, const char *text);

/* A new element at the end of `parent`. NULL once memory ran out, which every function here accepts. */
xmlNodePtr html_add(struct html_page *page, xmlNodePtr parent, const char *name);

/* The same with a class (NULL: none) and text (NULL: none). */
xmlNodePtr html_add_text(struct html_page *page, xmlNodePtr parent, const char *name, const char *class,
                         const char *text);

/* Text at the end of `parent`; never markup. html_text() takes anything and cleans it to one line (clean.h);
 * html_raw() is for text of our own, line ends included. */
void html_raw(struct html_page *page, xmlNodePtr parent, const char *text);
void html_text(struct html_page *page, xmlNodePtr parent, const char *text);
void html_textf(struct html_page *page, xmlNodePtr parent, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* An attribute; a NULL value gives a boolean one. */
void html_set(struct html_page *page, xmlNodePtr node, const char *name, const char *value);
void html_setf(struct html_page *page, xmlNodePtr node, const char *name, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Runs of text in their tones. */
void html_rich(struct html_page *page, xmlNodePtr parent, const struct rich_text *text);

/* The summary of a `details`, a heading of the given level (tidy 5 knows no `h2` within a summary). */
void html_summary(struct html_page *page, xmlNodePtr details, int level, const char *text);

/* The class of a tone, or NULL where it needs none. */
const char *html_tone_class(enum tone tone);

/* ---- blocks (html_block.c, html_table.c, html_figure.c) ------------------------------------ */

void html_paragraph(struct html_page *page, xmlNodePtr parent, const struct rich_text *text);
void html_list(struct html_page *page, xmlNodePtr parent, const struct report_block *block);
void html_cards(struct html_page *page, xmlNodePtr parent, const struct report_block *block);
void html_derivation(struct html_page *page, xmlNodePtr parent, const struct derivation *derivation);
void html_listing(struct html_page *page, xmlNodePtr parent, const struct report_listing *listing);
void html_table(struct html_page *page, xmlNodePtr parent, const struct report_table *table);
/* `half`: drawn for half the width of the page. */
void html_chart(struct html_page *page, xmlNodePtr parent, const struct report_chart *chart, bool half);

/* The id of a quantity's step on this page ("why-1-tpot"), or NULL when the page does not hold it. */
const char *html_step_id(struct html_page *page, const char *quantity);

#endif
