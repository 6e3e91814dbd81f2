/* html_table.c: a table in its own scrolling frame, with its first column as row headings. */
#include "backend/html_page.h"

#include "base/number.h"

/* The value a script sorts by: six digits order a column, and keep a long table small. */
static void sort_value(struct html_page *page, xmlNodePtr node, double value)
{
    char text[NUMBER_TEXT_MAX];
    html_set(page, node, "data-v", number_significant(text, value, 6));
}

/* `n`: a number, in one line at the right; `w`: words among numbers, which may wrap. */
static const char *cell_class(const struct report_column *column, const struct report_cell *cell)
{
    static const char *const classes[2][2][2] = {{{NULL, "best"}, {NULL, "best"}},
                                                 {{"n w", "n w best"}, {"n", "n best"}}};
    bool right = column && column->align == ALIGN_RIGHT;
    return classes[right][!cell || cell->has_value][cell && cell->best];
}

static void heading(struct html_page *page, xmlNodePtr row, const struct report_column *column)
{
    xmlNodePtr node = html_add_text(page, row, "th", cell_class(column, NULL), NULL);
    html_set(page, node, "scope", "col");
    if (column->quantity)
        html_set(page, node, "data-quantity", column->quantity);
    html_text(page, node, column->heading ? column->heading : "");
}

/* A number with a remark behind it ("31.0", "22 % better"): the remark goes below, so that the numbers of a
 * column stand under each other. */
static void content(struct html_page *page, xmlNodePtr node, const struct rich_text *text, bool right)
{
    if (!right || text->runs.count < 2) {
        html_rich(page, node, text);
        return;
    }
    struct rich_text head = *text, rest = *text;
    head.runs.count = 1;
    rest.runs.items++;
    rest.runs.count--;
    html_rich(page, node, &head);
    html_text(page, node, " ");
    html_rich(page, html_add(page, node, "small"), &rest);
}

static void cell(struct html_page *page, xmlNodePtr row, const struct report_column *column,
                 const struct report_cell *cell, bool first)
{
    xmlNodePtr node = html_add_text(page, row, first ? "th" : "td", cell_class(column, cell), NULL);
    if (first)
        html_set(page, node, "scope", "row");
    if (cell->has_value)
        sort_value(page, node, cell->value);
    content(page, node, &cell->text, column && column->align == ALIGN_RIGHT);
    if (cell->best)
        html_add_text(page, node, "span", "vh", " (best)");
}

void html_table(struct html_page *page, xmlNodePtr parent, const struct report_table *table)
{
    xmlNodePtr frame = html_add_text(page, parent, "div", "frame", NULL);
    html_set(page, frame, "role", "region");
    html_set(page, frame, "tabindex", "0");
    page->tables++; /* numbered, so that no two regions have one name */
    html_setf(page, frame, "aria-label", "Table %zu%s%s", page->tables, table->caption ? ": " : "",
              table->caption ? table->caption : "");
    xmlNodePtr node = html_add(page, frame, "table");
    if (table->caption)
        html_add_text(page, node, "caption", NULL, table->caption);
    xmlNodePtr row = html_add(page, html_add(page, node, "thead"), "tr");
    for (size_t i = 0; i < table->columns.count; i++)
        heading(page, row, &table->columns.items[i]);
    xmlNodePtr body = html_add(page, node, "tbody");
    html_raw(page, body, "\n");
    for (size_t i = 0; i < table->rows.count; i++) {
        const struct report_row *made = &table->rows.items[i];
        row = html_add_text(page, body, "tr", made->total ? "total" : NULL, NULL);
        for (size_t j = 0; j < made->cells.count; j++) {
            const struct report_column *column = j < table->columns.count ? &table->columns.items[j] : NULL;
            cell(page, row, column, &made->cells.items[j], j == 0);
        }
        html_raw(page, body, "\n");
    }
    html_raw(page, parent, "\n");
}
