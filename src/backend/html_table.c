/* html_table.c: a table in its own scrolling frame, with its first column as row headings. */
#include "backend/html_page.h"

#include "base/number.h"

/* The value a script sorts by: six digits order a column, and keep a long table small. */
static void sort_value(struct html_page *page, double value)
{
    char text[NUMBER_TEXT_MAX];
    html_set_plain(page, "data-v", number_significant(text, value, 6));
}

/* `n`: a number, in one line at the right; `w`: words among numbers, which may wrap. */
static const char *cell_class(const struct report_column *column, const struct report_cell *cell)
{
    static const char *const classes[2][2][2] = {{{NULL, "best"}, {NULL, "best"}},
                                                 {{"n w", "n w best"}, {"n", "n best"}}};
    bool right = column && column->align == ALIGN_RIGHT;
    return classes[right][!cell || cell->has_value][cell && cell->best];
}

static void heading(struct html_page *page, const struct report_column *column)
{
    html_open(page, "th", cell_class(column, NULL));
    html_set_plain(page, "scope", "col");
    if (column->quantity)
        html_set(page, "data-quantity", column->quantity);
    html_text(page, column->heading);
    html_close(page);
}

/* A number with a remark behind it ("31.0", "22 % better"): the remark goes below, so that the numbers of a
 * column stand under each other. */
static void content(struct html_page *page, const struct rich_text *text, bool right)
{
    if (!right || text->runs.count < 2) {
        html_rich(page, text);
        return;
    }
    struct rich_text head = *text, rest = *text;
    head.runs.count = 1;
    rest.runs.items++;
    rest.runs.count--;
    html_rich(page, &head);
    html_text(page, " ");
    html_open(page, "small", NULL);
    html_rich(page, &rest);
    html_close(page);
}

static void cell(struct html_page *page, const struct report_column *column, const struct report_cell *cell,
                 bool first)
{
    html_open(page, first ? "th" : "td", cell_class(column, cell));
    if (first)
        html_set_plain(page, "scope", "row");
    if (cell->has_value)
        sort_value(page, cell->value);
    content(page, &cell->text, column && column->align == ALIGN_RIGHT);
    if (cell->best)
        html_element(page, "span", "vh", html_words(page, M_HTML_BEST));
    html_close(page);
}

static void head(struct html_page *page, const struct report_table *table)
{
    html_open(page, "thead", NULL);
    html_open(page, "tr", NULL);
    for (size_t i = 0; i < table->columns.count; i++)
        heading(page, &table->columns.items[i]);
    html_close(page);
    html_close(page);
}

static void row(struct html_page *page, const struct report_table *table, const struct report_row *made)
{
    html_open(page, "tr", made->total ? "total" : NULL);
    for (size_t i = 0; i < made->cells.count; i++) {
        const struct report_column *column = i < table->columns.count ? &table->columns.items[i] : NULL;
        cell(page, column, &made->cells.items[i], i == 0);
    }
    html_close(page);
    html_line(page);
}

void html_table(struct html_page *page, const struct report_table *table)
{
    html_open(page, "div", "frame");
    html_set_plain(page, "role", "region");
    html_set_plain(page, "tabindex", "0");
    page->tables++; /* numbered, so that no two regions have one name */
    const char *number = arena_printf(page->arena, "%zu", page->tables);
    html_set(page, "aria-label",
             table->caption ? HTML_WORDS(page, M_HTML_TABLE_OF, number, table->caption)
                            : HTML_WORDS(page, M_HTML_TABLE, number));
    html_open(page, "table", NULL);
    if (table->caption)
        html_element(page, "caption", NULL, table->caption);
    head(page, table);
    html_open(page, "tbody", NULL);
    html_line(page);
    for (size_t i = 0; i < table->rows.count; i++)
        row(page, table, &table->rows.items[i]);
    html_close(page);
    html_close(page);
    html_close(page);
    html_line(page);
}
