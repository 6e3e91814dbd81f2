/* utf8.c: validity and width of text, by utf8proc. A byte that is not valid counts as one character. */
#include "base/utf8.h"

#include <utf8proc.h>

/* Bytes of the character at `text`, and the character, or -1 for an invalid byte. */
static size_t step(const char *text, size_t length, utf8proc_int32_t *character)
{
    unsigned char first = (unsigned char)*text;
    if (first < 0x80) {
        *character = first;
        return 1;
    }
    utf8proc_ssize_t size =
        utf8proc_iterate((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)length, character);
    if (size <= 0) {
        *character = -1;
        return 1;
    }
    return (size_t)size;
}

size_t utf8_valid_prefix(const char *text, size_t length)
{
    size_t at = 0;
    while (at < length) {
        utf8proc_int32_t character;
        size_t size = step(text + at, length - at, &character);
        if (character < 0)
            break;
        at += size;
    }
    return at;
}

size_t utf8_width(const char *text, size_t length)
{
    size_t width = 0;
    for (size_t at = 0; at < length;) {
        utf8proc_int32_t character;
        at += step(text + at, length - at, &character);
        if (character < 0x7f)
            width += character >= 0x20 || character < 0;
        else
            width += (size_t)utf8proc_charwidth(character);
    }
    return width;
}

size_t utf8_count(const char *text, size_t length)
{
    size_t count = 0;
    for (size_t at = 0; at < length; count++) {
        utf8proc_int32_t character;
        at += step(text + at, length - at, &character);
    }
    return count;
}

size_t utf8_next(const char *text, size_t length, bool *printable)
{
    utf8proc_int32_t character;
    size_t size = step(text, length, &character);
    if (character >= 0x20 && character < 0x7f) {
        *printable = true;
        return size;
    }
    utf8proc_category_t category = character < 0 ? UTF8PROC_CATEGORY_CC : utf8proc_category(character);
    *printable = category != UTF8PROC_CATEGORY_CC && category != UTF8PROC_CATEGORY_CF &&
                 category != UTF8PROC_CATEGORY_CS && category != UTF8PROC_CATEGORY_ZL &&
                 category != UTF8PROC_CATEGORY_ZP;
    return size;
}
