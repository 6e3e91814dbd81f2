/* csv.c: comma-separated values (RFC 4180), read whole. */
#include "validate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_file(struct arena *arena, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    struct buffer text = buffer_in(arena);
    char block[65536];
    for (size_t got; (got = fread(block, 1, sizeof block, file)) > 0;)
        buffer_add(&text, block, got);
    fclose(file);
    return arena_strndup(arena, buffer_string(&text), text.length);
}

/* Cuts one record in place and returns where the next begins. */
static char *read_row(char *at, struct csv_row *row)
{
    for (size_t i = 0; i < CSV_COLUMNS; i++)
        row->field[i] = "";
    for (size_t column = 0;; column++) {
        bool quoted = *at == '"';
        char *from = quoted ? ++at : at, *to = from;
        while (*at != '\0' && (quoted || (*at != ',' && *at != '\n'))) {
            if (quoted && *at == '"' && *++at != '"')
                break;
            *to++ = *at++;
        }
        while (*at != '\0' && *at != ',' && *at != '\n')
            at++;
        char end = *at;
        if (to > from && to[-1] == '\r')
            to--;
        if (*at != '\0')
            at++;
        *to = '\0';
        if (column < CSV_COLUMNS)
            row->field[column] = from;
        if (end != ',')
            return at;
    }
}

bool csv_read(struct arena *arena, const char *path, struct csv *out)
{
    *out = (struct csv){0};
    char *text = read_file(arena, path);
    if (text == NULL || *text == '\0')
        return false;
    text = read_row(text, &out->header);
    while (*text != '\0') {
        struct csv_row row;
        text = read_row(text, &row);
        *VEC_PUSH(arena, out->rows) = row;
    }
    return true;
}

const char *csv_field(const struct csv *csv, const struct csv_row *row, const char *column)
{
    for (size_t i = 0; i < CSV_COLUMNS; i++)
        if (strcmp(csv->header.field[i], column) == 0)
            return row->field[i];
    return "";
}

double csv_number(const struct csv *csv, const struct csv_row *row, const char *column)
{
    return strtod(csv_field(csv, row, column), NULL);
}
