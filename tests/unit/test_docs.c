/* test_docs.c: the reference pages in docs/ are what the tables of the compiler say. UPDATE_GOLDENS=1
 * (or `make docs`) writes them. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "result/quantity.h"
#include "run.h"
#include "sema/plan.h"
#include "source/diag.h"

static struct arena *arena;

static void set_up(void)
{
    arena = arena_new();
}

static void tear_down(void)
{
    arena_free(arena);
}

TestSuite(docs, .init = set_up, .fini = tear_down);

static void expect_page(const char *relative, const struct buffer *page)
{
    const char *path = source_path(arena, relative);
    const char *text = read_file(arena, path, NULL);
    if (text != NULL && strcmp(text, buffer_string(page)) == 0)
        return;
    if (getenv("UPDATE_GOLDENS") != NULL)
        write_file(path, page->data, page->length);
    else
        cr_assert_fail("%s is not what the tables say; run `make docs`", relative);
}

/* Text of a table cell: a bar would end it. */
static void add_cell(struct buffer *page, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '|')
            buffer_byte(page, '\\');
        buffer_byte(page, *text);
    }
}

static const char generated[] = "<!-- Made by `make docs` from the compiler's own table. -->\n\n";

/* ---- attributes ---- */

static void add_words(struct buffer *page, const char *words)
{
    for (const char *word = words; *word != '\0'; word += *word == '|') {
        size_t length = strcspn(word, "|");
        buffer_printf(page, "%s`%.*s`", word == words ? "" : ", ", (int)length, word);
        word += length;
    }
}

static void add_range(struct buffer *page, const struct attribute_info *info)
{
    bool plain = strcmp(info->unit, "1") == 0;
    if (plain)
        buffer_printf(page, ", %g to %g", info->minimum, info->maximum);
    else if (strcmp(info->unit, "money/s") == 0)
        buffer_text(page, " like `2.5 usd/h`");
    else
        buffer_printf(page, " in `%s`, %g to %g", info->unit, info->minimum, info->maximum);
}

static void add_value(struct buffer *page, const struct attribute_info *info)
{
    switch (info->type) {
    case TYPE_NUMBER:
        buffer_text(page, strcmp(info->unit, "1") == 0 ? "number" : "quantity");
        add_range(page, info);
        break;
    case TYPE_COUNT:
        buffer_text(page, "whole number");
        add_range(page, info);
        break;
    case TYPE_BOOL: buffer_text(page, "`true` or `false`"); break;
    case TYPE_TEXT: buffer_text(page, "text"); break;
    case TYPE_WORD: add_words(page, info->detail); break;
    case TYPE_REF: buffer_printf(page, "name of a `%s`", info->detail); break;
    case TYPE_WORDS:
        buffer_text(page, "list of ");
        add_words(page, info->detail);
        break;
    }
}

static void add_attributes_of(struct buffer *page, enum kind kind)
{
    buffer_printf(page, "## %s\n\n", kind_name(kind));
    size_t rows = 0;
    for (int i = 0; i < ATTR_COUNT; i++) {
        const struct attribute_info *info = attribute_info((enum attribute)i);
        if (!(info->scope & (1u << kind)))
            continue;
        if (rows++ == 0)
            buffer_text(page, "| attribute | value | default | |\n|---|---|---|---|\n");
        buffer_printf(page, "| `%s` | ", info->name);
        add_value(page, info);
        buffer_text(page, " | ");
        if (info->fallback != NULL)
            buffer_printf(page, "`%s`", info->fallback);
        buffer_text(page, " | ");
        add_cell(page, info->doc);
        buffer_text(page, " |\n");
    }
    if (rows == 0)
        buffer_text(page, "No attributes of its own; see [language.md](language.md).\n");
    buffer_byte(page, '\n');
}

Test(docs, attributes)
{
    struct buffer page = buffer_in(arena);
    buffer_text(&page, "# Attributes\n\n");
    buffer_text(&page, generated);
    buffer_text(&page,
                "Everything a plan can say, by kind of declaration. A default is an expression of the\n"
                "language, evaluated in the declaration; reports list every default they used.\n\n");
    for (int kind = 0; kind < KIND_COUNT; kind++)
        add_attributes_of(&page, (enum kind)kind);
    page.data[--page.length] = '\0'; /* one newline at the end of the file */
    expect_page("docs/attributes.md", &page);
}

/* ---- quantities ---- */

static const char *const scope_titles[QUANTITY_SCOPE_COUNT] = {
    [QUANTITY_OF_SCENARIO] = "scenario", [QUANTITY_OF_MODEL] = "model", [QUANTITY_OF_GPU] = "gpu"};

static void add_quantity(struct buffer *page, const struct quantity_info *info)
{
    static const char *const better[] = {
        [BETTER_NEITHER] = "", [BETTER_LOWER] = "less is better", [BETTER_HIGHER] = "more is better"};
    buffer_printf(page, "### `%s`\n\n", info->name);
    buffer_printf(page, "%s", info->doc);
    if (info->type == QUANTITY_NUMBER && strcmp(info->unit, "1") != 0)
        buffer_printf(page, " In `%s`", info->unit);
    else if (info->type == QUANTITY_NUMBER)
        buffer_text(page, " A number");
    else
        buffer_text(page, info->type == QUANTITY_BOOL ? " True or false" : " A text");
    if (better[info->better][0] != '\0')
        buffer_printf(page, "; %s", better[info->better]);
    buffer_text(page, info->has_band ? "; `.low` and `.high` are its band.\n" : ".\n");
    if (info->formula != NULL)
        buffer_printf(page, "\n    %s = %s\n", info->name, info->formula);
    if (info->static_formula != NULL)
        buffer_printf(page, "\nIn a static step:\n\n    %s = %s\n", info->name, info->static_formula);
    if (info->source != NULL)
        buffer_printf(page, "\nSource: %s.\n", info->source);
    buffer_byte(page, '\n');
}

Test(docs, quantities)
{
    struct buffer page = buffer_in(arena);
    buffer_text(&page, "# Quantities\n\n");
    buffer_text(&page, generated);
    buffer_text(&page, "Everything a report can tell, and an expression may read: `chat.tpot`,\n"
                       "`llama-3.1-8b.params`, `h100-sxm.balance`.\n\n");
    for (int scope = 0; scope < QUANTITY_SCOPE_COUNT; scope++) {
        buffer_printf(&page, "## Of a %s\n\n", scope_titles[scope]);
        for (int i = 0; i < QUANTITY_COUNT; i++) {
            const struct quantity_info *info = quantity_info((enum quantity)i);
            if ((int)info->scope == scope)
                add_quantity(&page, info);
        }
    }
    page.data[--page.length] = '\0';
    expect_page("docs/quantities.md", &page);
}

/* ---- diagnostics ---- */

Test(docs, diagnostics)
{
    struct buffer page = buffer_in(arena);
    buffer_text(&page, "# Diagnostics\n\n");
    buffer_text(&page, generated);
    buffer_text(&page, "`perfc explain CODE` prints the same. Codes never change meaning.\n\n");
    for (int i = 0; i < DIAG_CODE_COUNT; i++) {
        const struct diag_info *info = diag_info((enum diag_code)i);
        buffer_printf(&page, "## %s %s\n\n%s: %s.\n\n%s\n\n", info->code, info->slug,
                      info->severity == DIAG_ERROR ? "Error" : "Warning", info->title, info->paragraph);
    }
    page.data[--page.length] = '\0';
    expect_page("docs/diagnostics.md", &page);
}
