/* table.h: comma-separated values (RFC 4180) with the place of every field, none of it trusted.
 *
 * The first record names the columns. The separator is a comma, a semicolon or a tab, whichever the first
 * record has most of. Empty lines are read over. */
#ifndef PERFC_SOURCE_TABLE_H
#define PERFC_SOURCE_TABLE_H

#include "source/diag.h"

enum { TABLE_COLUMNS_MAX = 256, TABLE_ROWS_MAX = 10000 };

struct table_field {
    struct span span; /* quotes included */
    const char *text; /* without quotes, blanks around it and doubled quotes; NUL-terminated UTF-8 */
};

struct table_row {
    struct span span;
    struct table_field *fields; /* as many as there are columns */
};

struct table {
    struct table_row header;
    size_t columns;
    struct table_row *rows;
    size_t count;
};

/* Reads file number `file`. False, and E0408 at the place, when it is no such table. */
bool table_read(struct arena *arena, const struct sources *sources, struct diags *diags, uint32_t file,
                struct table *out);

#endif
