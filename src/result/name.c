/* name.c: names as a plan writes them (language.md, "Lexical rules"). */
#include "result/name.h"

#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"

static bool is_letter(char byte)
{
    return (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') || byte == '_';
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* `[A-Za-z_][A-Za-z0-9_]*` with `-` before a letter or digit and `.` before a digit inside; none of the
 * words that are reserved in expressions. */
static bool is_plain(const char *name)
{
    static const char *const reserved[] = {"and", "or", "not", "if", "then", "else"};
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        if (strcmp(name, reserved[i]) == 0)
            return false;
    if (!is_letter(name[0]))
        return false;
    for (const char *at = name + 1; *at; at++) {
        bool joins = (*at == '-' && (is_letter(at[1]) || is_digit(at[1]))) || (*at == '.' && is_digit(at[1]));
        if (!is_letter(*at) && !is_digit(*at) && !joins)
            return false;
    }
    return true;
}

static void write_name(struct buffer *out, const char *name)
{
    if (is_plain(name)) {
        buffer_text(out, name);
        return;
    }
    buffer_byte(out, '"');
    for (const char *at = name; *at; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7f) {
            buffer_printf(out, "\\u{%x}", (unsigned)*at);
            continue;
        }
        if (*at == '"' || *at == '\\')
            buffer_byte(out, '\\');
        buffer_byte(out, *at);
    }
    buffer_byte(out, '"');
}

const char *name_text(struct arena *arena, const char *name)
{
    if (is_plain(name))
        return name;
    struct buffer out = buffer_in(arena);
    write_name(&out, name);
    return buffer_string(&out);
}

const char *quantity_full_name(struct arena *arena, const char *declaration, const char *quantity)
{
    if (is_plain(declaration))
        return arena_printf(arena, "%s.%s", declaration, quantity);
    struct buffer out = buffer_in(arena);
    write_name(&out, declaration);
    buffer_byte(&out, '.');
    buffer_text(&out, quantity);
    return buffer_string(&out);
}
