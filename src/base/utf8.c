/* utf8.c: validity and width of text, by utf8proc. A byte that is not valid counts as one character. */
#include "base/utf8.h"

#include <stdint.h>
#include <string.h>
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

/* Most of most texts: as far as eight bytes at a time are ASCII. */
static size_t ascii_prefix(const char *text, size_t length)
{
    size_t at = 0;
    for (uint64_t eight; at + sizeof eight <= length; at += sizeof eight) {
        memcpy(&eight, text + at, sizeof eight);
        if (eight & UINT64_C(0x8080808080808080))
            break;
    }
    return at;
}

size_t utf8_valid_prefix(const char *text, size_t length)
{
    size_t at = ascii_prefix(text, length);
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

/* What may not begin a line, and what may not end one (the common part of W3C clreq and UAX #14). */
static const char closing[] =
    ",.;:!?)]}%\"'\u3002\uff0c\u3001\uff1b\uff1a\uff01\uff1f\uff09\u300b\u300d\u300f\u3011"
    "\u201d\u2019\u2026\u00b7\u2009\u202f\u00a0";
static const char opening[] = "([{\uff08\u300a\u300c\u300e\u3010\u201c\u2018\u2009\u202f\u00a0";

static bool is_one_of(const char *characters, const char *text, size_t size)
{
    for (size_t at = 0, own; characters[at]; at += own) {
        utf8proc_int32_t ignored;
        own = step(characters + at, strlen(characters + at), &ignored);
        if (own == size && memcmp(characters + at, text, size) == 0)
            return true;
    }
    return false;
}

bool utf8_may_break(const char *text, size_t length, size_t at)
{
    utf8proc_int32_t left, right;
    size_t before = at;
    if (at == 0 || at >= length)
        return false;
    while (--before > 0 && ((unsigned char)text[before] & 0xc0) == 0x80)
        ;
    size_t left_size = step(text + before, length - before, &left);
    size_t right_size = step(text + at, length - at, &right);
    if (left <= 0x20 || right <= 0x20 || (left < 0x2e80 && right < 0x2e80))
        return false;
    if (utf8proc_charwidth(left) != 2 && utf8proc_charwidth(right) != 2)
        return false;
    return utf8proc_charwidth(right) > 0 && !is_one_of(closing, text + at, right_size) &&
           !is_one_of(opening, text + before, left_size);
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
