/* clean.c: strings from a plan made safe to show: ill-formed UTF-8, control characters and directional
 * overrides replaced, long names cut in the middle. */
#include "backend/clean.h"

#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/utf8.h"
#include "result/message.h"
#include "result/report.h"
#include "source/diag.h"
#include "source/source.h"

static const char REPLACEMENT[] = "\xEF\xBF\xBD";

/* Well-formed sequences by their first byte: the range of the second byte narrows for some (Unicode 15,
 * table 3-7), which excludes overlong forms, surrogates and what lies beyond U+10FFFF. */
struct lead {
    unsigned char first, last;
    unsigned char low, high; /* of the second byte */
    unsigned char extra;     /* bytes that follow the first */
    unsigned char mask;      /* payload of the first byte */
};

static const struct lead leads[] = {
    {0xC2, 0xDF, 0x80, 0xBF, 1, 0x1F}, {0xE0, 0xE0, 0xA0, 0xBF, 2, 0x0F}, {0xE1, 0xEC, 0x80, 0xBF, 2, 0x0F},
    {0xED, 0xED, 0x80, 0x9F, 2, 0x0F}, {0xEE, 0xEF, 0x80, 0xBF, 2, 0x0F}, {0xF0, 0xF0, 0x90, 0xBF, 3, 0x07},
    {0xF1, 0xF3, 0x80, 0xBF, 3, 0x07}, {0xF4, 0xF4, 0x80, 0x8F, 3, 0x07},
};

static const struct lead *find_lead(unsigned char byte)
{
    for (size_t i = 0; i < sizeof leads / sizeof leads[0]; i++)
        if (byte >= leads[i].first && byte <= leads[i].last)
            return &leads[i];
    return NULL;
}

uint32_t clean_next(const char *text, size_t length, size_t *offset)
{
    const unsigned char *bytes = (const unsigned char *)text;
    unsigned char first = bytes[(*offset)++];
    if (first < 0x80)
        return first;
    const struct lead *lead = find_lead(first);
    if (!lead)
        return CLEAN_REPLACEMENT;
    uint32_t code = first & lead->mask;
    for (unsigned i = 0; i < lead->extra; i++) {
        unsigned char low = i == 0 ? lead->low : 0x80, high = i == 0 ? lead->high : 0xBF;
        if (*offset >= length || bytes[*offset] < low || bytes[*offset] > high)
            return CLEAN_REPLACEMENT;
        code = code << 6 | (bytes[(*offset)++] & 0x3F);
    }
    return code;
}

/* U+202A..202E and U+2066..2069 reorder what stands around them, so that a reviewer reads something else than
 * what is written (CVE-2021-42574). U+200E, U+200F and U+061C only mark a direction and stay. */
static bool is_directional(uint32_t code)
{
    return (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

static bool is_line_space(uint32_t code)
{
    return code == '\n' || code == '\t' || code == '\r' || code == 0x2028 || code == 0x2029;
}

static bool is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0);
}

static bool is_plain_ascii(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < 0x20 || (unsigned char)text[i] >= 0x7F)
            return false;
    return true;
}

struct clean_piece clean_piece(const char *text, size_t length, size_t *offset)
{
    size_t start = *offset;
    uint32_t code = clean_next(text, length, offset);
    bool line_end = code == '\r' && *offset < length && text[*offset] == '\n';
    if (line_end)
        return (struct clean_piece){"", 0};
    if (is_line_space(code))
        return (struct clean_piece){" ", 1};
    if (is_control(code) || is_directional(code) || code == CLEAN_REPLACEMENT)
        return (struct clean_piece){REPLACEMENT, sizeof REPLACEMENT - 1};
    return (struct clean_piece){text + start, *offset - start};
}

const char *clean_bytes(struct arena *arena, const char *text, size_t length)
{
    struct buffer out = buffer_in(arena);
    for (size_t at = 0; at < length;) {
        struct clean_piece piece = clean_piece(text, length, &at);
        buffer_add(&out, piece.bytes, piece.length);
    }
    return buffer_string(&out);
}

const char *clean_line(struct arena *arena, const char *text)
{
    if (!text)
        return "";
    size_t length = strlen(text);
    return is_plain_ascii(text, length) ? text : clean_bytes(arena, text, length);
}

const char *clean_utf8(struct arena *arena, const char *text)
{
    size_t length = strlen(text);
    if (utf8_valid_prefix(text, length) == length)
        return text;
    struct buffer out = buffer_in(arena);
    for (size_t at = 0; at < length;) {
        size_t start = at;
        if (clean_next(text, length, &at) == CLEAN_REPLACEMENT)
            buffer_text(&out, REPLACEMENT);
        else
            buffer_add(&out, text + start, at - start);
    }
    return buffer_string(&out);
}

/* How signs that occur in reports are spelled without them. */
static const struct {
    uint32_t code;
    const char *ascii;
} spellings[] = {
    {0x00A0, " "},  {0x00B1, "+-"},  {0x00B2, "^2"}, {0x00B3, "^3"},  {0x00B5, "u"}, {0x00B7, "-"},
    {0x00D7, "x"},  {0x0394, "+/-"}, {0x03BC, "u"},  {0x2009, " "},   {0x200B, ""},  {0x2010, "-"},
    {0x2011, "-"},  {0x2012, "-"},   {0x2013, "-"},  {0x2014, "-"},   {0x2018, "'"}, {0x2019, "'"},
    {0x201C, "\""}, {0x201D, "\""},  {0x2022, "*"},  {0x2026, "..."}, {0x202F, " "}, {0x20AC, "EUR"},
    {0x2190, "<-"}, {0x2192, "->"},  {0x2212, "-"},  {0x221E, "inf"}, {0x2248, "~"}, {0x2260, "!="},
    {0x2264, "<="}, {0x2265, ">="},  {0x22C5, "*"},  {0x2500, "-"},   {0x2502, "|"}, {0x2514, "`"},
    {0x251C, "|"},  {0x25B2, "^"},   {0x25BC, "v"},  {0x2713, "ok"},  {0x2717, "x"},
};

static const char *ascii_of(uint32_t code)
{
    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++)
        if (spellings[i].code == code)
            return spellings[i].ascii;
    return "?";
}

static void add_ascii(struct buffer *out, uint32_t code, size_t width, bool columns)
{
    const char *text = ascii_of(code);
    if (!columns || strlen(text) == width)
        buffer_text(out, text);
    else
        buffer_repeat(out, "?", width);
}

static const char *to_ascii(struct arena *arena, const char *clean, bool columns)
{
    size_t length = strlen(clean);
    if (is_plain_ascii(clean, length))
        return clean;
    struct buffer out = buffer_in(arena);
    for (size_t at = 0; at < length;) {
        size_t start = at;
        uint32_t code = clean_next(clean, length, &at);
        if (code < 0x80)
            buffer_byte(&out, (char)code);
        else
            add_ascii(&out, code, utf8_width(clean + start, at - start), columns);
    }
    return buffer_string(&out);
}

const char *clean_ascii(struct arena *arena, const char *clean)
{
    return to_ascii(arena, clean, false);
}

const char *clean_ascii_columns(struct arena *arena, const char *clean)
{
    return to_ascii(arena, clean, true);
}

/* How many bytes from the front (or the back) of `text` fill at most `width` columns. */
static size_t front_bytes(const char *text, size_t length, size_t width)
{
    size_t used = 0, at = 0;
    while (at < length) {
        size_t start = at;
        (void)clean_next(text, length, &at);
        used += utf8_width(text + start, at - start);
        if (used > width)
            return start;
    }
    return length;
}

static size_t back_bytes(const char *text, size_t length, size_t width)
{
    size_t used = 0, at = length;
    while (at > 0) {
        size_t start = at - 1;
        while (start > 0 && ((unsigned char)text[start] & 0xC0) == 0x80)
            start--;
        used += utf8_width(text + start, at - start);
        if (used > width)
            break;
        at = start;
    }
    return length - at;
}

const char *clean_middle(struct arena *arena, const char *clean, size_t width, const char *ellipsis)
{
    size_t length = strlen(clean);
    if (length <= width || utf8_width(clean, length) <= width)
        return clean;
    size_t mark = utf8_width(ellipsis, strlen(ellipsis));
    if (width <= mark)
        return arena_strndup(arena, clean, front_bytes(clean, length, width));
    size_t back = (width - mark) / 2, front = width - mark - back;
    size_t front_length = front_bytes(clean, length, front), back_length = back_bytes(clean, length, back);
    return arena_printf(arena, "%.*s%s%s", (int)front_length, clean, ellipsis, clean + length - back_length);
}

const char *clean_rich(struct arena *arena, const struct rich_text *text)
{
    if (text->runs.count == 1)
        return clean_line(arena, text->runs.items[0].text);
    struct buffer out = buffer_in(arena);
    for (size_t i = 0; i < text->runs.count; i++)
        buffer_text(&out, clean_line(arena, text->runs.items[i].text));
    return buffer_string(&out);
}

size_t warning_count(const struct report *report)
{
    for (size_t i = 0; i < report->sections.count; i++)
        if (strcmp(report->sections.items[i].id, "warnings") == 0)
            return 0;
    return report->diags ? diags_count(report->diags) : 0;
}

const char *warning_line(struct arena *arena, const struct report *report, size_t index)
{
    const struct diag *diag = diags_get(report->diags, index);
    const struct diag_info *info = diag_info(diag->code);
    const char *place = "";
    enum message severity = info->severity == DIAG_ERROR ? M_ERROR_SAYS : M_WARNING_SAYS;
    if (report->sources && diag->span.file < sources_count(report->sources)) {
        const struct source *source = sources_get(report->sources, diag->span.file);
        unsigned line, column;
        source_position(source, diag->span.start, &line, &column);
        place = arena_printf(arena, "%s:%u:%u: ", clean_line(arena, source->path), line, column);
    }
    return arena_printf(
        arena, "%s%s [%s]", place,
        REPORT_WORDS(arena, report, severity, clean_line(arena, report_phrase(report, diag->message))),
        info->code);
}
