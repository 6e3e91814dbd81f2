/* json_read.c: JSON text into jansson's values. Jansson's own reader takes a call per byte, which is a second
 * for 10 MB of short members; this one takes runs of bytes. What it accepts and what it makes of it is
 * jansson's, and the fuzz target of configurations compares the two. */
#include "import/json_read.h"

#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/number.h"
#include "base/utf8.h"
#include "import/json_share.h"

enum { DEPTH_MAX = 256, OUTER_MEMBERS_MAX = 4096 };

/* What making a value costs, in tenths of a microsecond, and what a text may cost: configurations have few
 * values, or long ones. So time and memory are bounded by the size of the text, whatever is in it. */
enum {
    SCALAR_COST = 1,
    ARRAY_COST = 3,
    MEMBER_COST = 7,
    OBJECT_COST = 4,
    FREE_COST = 36000,
    BYTES_PER_COST = 8
};

struct reader {
    struct arena *arena;
    const char *text;
    size_t at, length, depth, values, values_max, cost;
    struct json_share share;
    char *word; /* the string read last, when it had to be copied */
    size_t room;
    const char *wrong;
    size_t wrong_at;
};

static const char too_many[] = "it holds more values than perfc reads";
static const char no_memory[] = "there is not enough memory for its values";

static json_t *read_value(struct reader *reader);

static void *fail(struct reader *reader, size_t at, const char *wrong)
{
    if (!reader->wrong) {
        reader->wrong = wrong;
        reader->wrong_at = at;
    }
    return NULL;
}

static int peek(const struct reader *reader)
{
    return reader->at < reader->length ? (unsigned char)reader->text[reader->at] : -1;
}

static int after_blanks(struct reader *reader)
{
    int byte;
    while ((byte = peek(reader)) == ' ' || byte == '\n' || byte == '\t' || byte == '\r')
        reader->at++;
    return byte;
}

/* A value of `kind` is about to be made. False when the text has had more than its size allows. */
static bool afford(struct reader *reader, size_t cost)
{
    reader->cost += cost;
    return reader->cost <= FREE_COST + reader->length / BYTES_PER_COST ||
           fail(reader, reader->at, too_many) != NULL;
}

/* A scalar that was made before from the text from `start` on, or NULL. */
static json_t *known_scalar(struct reader *reader, size_t start)
{
    return json_share_scalar(&reader->share, reader->text + start, reader->at - start);
}

static json_t *new_scalar(struct reader *reader, size_t start, json_t *value)
{
    if (value)
        json_share_scalar_put(&reader->share, reader->text + start, reader->at - start, value);
    return value;
}

/* ---- strings ------------------------------------------------------------------------------- */

/* The value of four hexadecimal digits, or -1. */
static long hex4(const struct reader *reader, size_t at)
{
    long value = 0;
    if (reader->length - at < 4)
        return -1;
    for (size_t i = at; i < at + 4; i++) {
        char byte = reader->text[i], lower = (char)(byte | 0x20);
        bool digit = byte >= '0' && byte <= '9', letter = lower >= 'a' && lower <= 'f';
        if (!digit && !letter)
            return -1;
        value = 16 * value + (digit ? byte - '0' : lower - 'a' + 10);
    }
    return value;
}

static size_t put_utf8(char *to, long code)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    size_t size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const int lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = size; i-- > 1; code >>= 6)
        to[i] = (char)(0x80 | (code & 0x3f));
    to[0] = (char)(lead[size] | code);
    return size;
}

/* `\uXXXX`, of which two make one character beyond the first 65536. Returns its bytes, 0 after an error. */
static size_t unescape_code(struct reader *reader, char *to)
{
    size_t start = reader->at - 2;
    long code = hex4(reader, reader->at), low;
    if (code < 0)
        return fail(reader, start, "`\\u` is not followed by four hexadecimal digits"), 0;
    reader->at += 4;
    if (code >= 0xd800 && code < 0xdc00 && reader->length - reader->at >= 6 &&
        memcmp(reader->text + reader->at, "\\u", 2) == 0 && (low = hex4(reader, reader->at + 2)) >= 0xdc00 &&
        low < 0xe000) {
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        reader->at += 6;
    }
    if (code == 0 || (code >= 0xd800 && code < 0xe000))
        return fail(reader, start, "an escape stands for no character"), 0;
    return put_utf8(to, code);
}

/* What is behind a backslash; returns the bytes it became, 0 after an error. */
static size_t unescape(struct reader *reader, char *to)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    int byte = peek(reader);
    reader->at++;
    if (byte == 'u')
        return unescape_code(reader, to);
    const char *letter = byte > 0 ? strchr(letters, byte) : NULL;
    if (!letter)
        return fail(reader, reader->at - 2, "an escape is not one of JSON"), 0;
    *to = meanings[letter - letters];
    return 1;
}

#define EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

/* A byte of `eight` is below `bound`, at most 128. A byte above one that is may be taken for another, so
 * false alone is sure. */
static bool some_below(uint64_t eight, uint64_t bound)
{
    return ((eight - EACH_BYTE(bound)) & ~eight & EACH_BYTE(0x80)) != 0;
}

/* True only where all eight bytes stand for themselves. */
static bool all_plain(uint64_t eight)
{
    return !some_below(eight, ' ') && !some_below(eight ^ EACH_BYTE('"'), 1) &&
           !some_below(eight ^ EACH_BYTE('\\'), 1);
}

/* The end of a run of bytes that stand for themselves. */
static size_t plain_run(const struct reader *reader, size_t at)
{
    for (uint64_t eight; at + sizeof eight <= reader->length; at += sizeof eight) {
        memcpy(&eight, reader->text + at, sizeof eight);
        if (!all_plain(eight))
            break;
    }
    while (at < reader->length && (unsigned char)reader->text[at] >= ' ' && reader->text[at] != '"' &&
           reader->text[at] != '\\')
        at++;
    return at;
}

/* The rest of a string that has escapes, whose first `head` bytes have none: copied, never longer than it
 * was. */
static bool read_escaped(struct reader *reader, size_t start, size_t *length)
{
    size_t end = reader->at;
    for (; end < reader->length && reader->text[end] != '"'; end++)
        end += reader->text[end] == '\\';
    if (end > reader->length)
        end = reader->length;
    if (reader->room < end - start + 8) {
        reader->room = 2 * (end - start) + 64;
        reader->word = arena_alloc(reader->arena, reader->room);
    }
    memcpy(reader->word, reader->text + start, reader->at - start);
    *length = reader->at - start;
    for (int byte; (byte = peek(reader)) == '\\';) {
        reader->at++;
        size_t size = unescape(reader, reader->word + *length);
        if (size == 0)
            return false;
        *length += size;
        size_t run = plain_run(reader, reader->at);
        memcpy(reader->word + *length, reader->text + reader->at, run - reader->at);
        *length += run - reader->at;
        reader->at = run;
    }
    return true;
}

/* A string, without its quotes; it lies in the text or, when it has escapes, in `word`. */
static const char *read_string(struct reader *reader, size_t *length)
{
    size_t start = ++reader->at;
    const char *string = reader->text + start;
    reader->at = plain_run(reader, start);
    *length = reader->at - start;
    if (peek(reader) == '\\') {
        if (!read_escaped(reader, start, length))
            return NULL;
        string = reader->word;
    }
    if (peek(reader) != '"')
        return fail(reader, peek(reader) < 0 ? start - 1 : reader->at,
                    peek(reader) < 0 ? "a string is not closed" : "a string holds a control character");
    reader->at++;
    return string;
}

/* ---- numbers and words --------------------------------------------------------------------- */

static size_t digits_from(const struct reader *reader, size_t at)
{
    size_t start = at;
    while (at < reader->length && reader->text[at] >= '0' && reader->text[at] <= '9')
        at++;
    return at - start;
}

static json_t *whole_number(struct reader *reader, size_t start, size_t digits, bool negative)
{
    uint64_t value = 0, limit = (uint64_t)INT64_MAX + negative;
    for (size_t i = reader->at - digits; i < reader->at; i++) {
        unsigned digit = (unsigned)(reader->text[i] - '0');
        if (value > (limit - digit) / 10)
            return fail(reader, start, "a number overflows");
        value = 10 * value + digit;
    }
    return new_scalar(reader, start, json_integer(negative ? (json_int_t)(0 - value) : (json_int_t)value));
}

static json_t *read_number(struct reader *reader)
{
    size_t start = reader->at, first;
    bool negative = peek(reader) == '-', real = false;
    reader->at += negative;
    size_t digits = digits_from(reader, first = reader->at);
    bool good = digits == 1 || (digits > 1 && reader->text[first] != '0');
    reader->at += digits;
    if (good && peek(reader) == '.') {
        size_t fraction = digits_from(reader, reader->at + 1);
        reader->at += 1 + fraction;
        good = fraction > 0;
        real = true;
    }
    if (good && (peek(reader) == 'e' || peek(reader) == 'E')) {
        reader->at++;
        reader->at += peek(reader) == '+' || peek(reader) == '-';
        size_t exponent = digits_from(reader, reader->at);
        reader->at += exponent;
        good = exponent > 0;
        real = true;
    }
    if (!good)
        return fail(reader, start, "a number is not one of JSON");
    json_t *known = known_scalar(reader, start);
    if (known)
        return known;
    if (!afford(reader, SCALAR_COST))
        return NULL;
    if (!real)
        return whole_number(reader, start, digits, negative);
    double value;
    if (!number_parse(reader->text + first, reader->at - first, 0, &value))
        return fail(reader, start, "a number overflows");
    return new_scalar(reader, start, json_real(negative ? -value : value));
}

/* Python's json module writes Infinity and NaN, which RFC 8259 forbids (`time_step_limit: [0.0, Infinity]` in
 * Nemotron-H). */
static json_t *read_word(struct reader *reader)
{
    enum kind { TRUE, FALSE, NOTHING, REAL };
    static const struct {
        const char *word;
        enum kind kind;
        double real;
    } words[] = {{"true", TRUE, 0},  {"false", FALSE, 0},       {"null", NOTHING, 0},
                 {"NaN", REAL, 0.0}, {"Infinity", REAL, 1e308}, {"-Infinity", REAL, -1e308}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t size = strlen(words[i].word);
        if (reader->length - reader->at < size || memcmp(reader->text + reader->at, words[i].word, size) != 0)
            continue;
        reader->at += size;
        switch (words[i].kind) {
        case TRUE: return json_true();
        case FALSE: return json_false();
        case NOTHING: return json_null();
        case REAL: return json_real(words[i].real);
        }
    }
    return fail(reader, reader->at,
                peek(reader) < 0 ? "the text ends within a value" : "a value was expected");
}

/* ---- values -------------------------------------------------------------------------------- */

/* Behind an element: true when another follows. */
static bool another(struct reader *reader, char close, const char *wrong)
{
    int byte = after_blanks(reader);
    if (byte == ',' || byte == close)
        reader->at++;
    else
        fail(reader, reader->at, byte < 0 ? "the text ends within a list or an object" : wrong);
    return byte == ',';
}

static void read_elements(struct reader *reader, json_t *array)
{
    if (after_blanks(reader) == ']') {
        reader->at++;
        return;
    }
    do {
        json_t *value = read_value(reader);
        if (!value || json_array_append_new(array, value) != 0) {
            fail(reader, reader->at, no_memory);
            return;
        }
    } while (another(reader, ']', "`,` or `]` was expected"));
}

static bool read_member(struct reader *reader, json_t *object)
{
    size_t start, length, count = json_object_size(object);
    if (after_blanks(reader) != '"')
        return fail(reader, reader->at, "a key in quotes was expected") != NULL;
    if (reader->depth == 1 && count == OUTER_MEMBERS_MAX)
        return fail(reader, reader->at, "it has more keys than any configuration") != NULL;
    start = reader->at;
    const char *text = read_string(reader, &length);
    if (!text)
        return false;
    char few[128], *key = length < sizeof few ? few : arena_alloc(reader->arena, length + 1);
    memcpy(key, text, length);
    key[length] = '\0';
    if (after_blanks(reader) != ':')
        return fail(reader, reader->at, "`:` was expected") != NULL;
    reader->at++;
    json_t *value = read_value(reader);
    if (!value || !afford(reader, MEMBER_COST)) {
        json_decref(value);
        return false;
    }
    if (json_object_set_new_nocheck(object, key, value) != 0)
        return fail(reader, reader->at, no_memory) != NULL;
    return json_object_size(object) > count ||
           fail(reader, start, "duplicate key: it stands twice in one object") != NULL;
}

static void read_members(struct reader *reader, json_t *object)
{
    if (after_blanks(reader) == '}') {
        reader->at++;
        return;
    }
    do {
        if (!read_member(reader, object))
            return;
    } while (another(reader, '}', "`,` or `}` was expected"));
}

static json_t *new_container(struct reader *reader, size_t start, bool is_object)
{
    if (!afford(reader, is_object ? OBJECT_COST : ARRAY_COST))
        return NULL;
    json_t *container = is_object ? json_object() : json_array();
    if (++reader->depth > DEPTH_MAX)
        fail(reader, start, "values are nested too deeply");
    reader->at++;
    if (!reader->wrong)
        (is_object ? read_members : read_elements)(reader, container);
    reader->depth--;
    if (!reader->wrong) {
        json_share_container_put(&reader->share, reader->text + start, reader->at - start, container);
        return container;
    }
    json_decref(container);
    return NULL;
}

static json_t *read_container(struct reader *reader, bool is_object)
{
    size_t start = reader->at, length;
    json_t *known =
        json_share_container(&reader->share, reader->text + start, reader->length - start, &length);
    if (!known)
        return new_container(reader, start, is_object);
    reader->at += length;
    return known;
}

static json_t *read_text(struct reader *reader)
{
    size_t length, start = reader->at;
    const char *string = read_string(reader, &length);
    json_t *known = string ? known_scalar(reader, start) : NULL;
    if (known || !string || !afford(reader, SCALAR_COST))
        return known;
    return new_scalar(reader, start, json_stringn_nocheck(string, length));
}

static json_t *read_value(struct reader *reader)
{
    int byte = after_blanks(reader);
    if (++reader->values > reader->values_max)
        return fail(reader, reader->at, too_many);
    switch (byte) {
    case '{':
    case '[': return read_container(reader, byte == '{');
    case '"': return read_text(reader);
    default:
        if ((byte >= '0' && byte <= '9') ||
            (byte == '-' && !(reader->at + 1 < reader->length && reader->text[reader->at + 1] == 'I')))
            return read_number(reader);
        return read_word(reader);
    }
}

json_t *json_read(struct arena *arena, const char *text, size_t length, size_t values_max,
                  struct json_wrong *wrong)
{
    struct reader reader = {.arena = arena, .text = text, .length = length, .values_max = values_max};
    size_t valid = utf8_valid_prefix(text, length);
    json_t *root = valid < length ? fail(&reader, valid, "a byte is not part of a UTF-8 character")
                                  : read_value(&reader);
    if (root && after_blanks(&reader) >= 0)
        fail(&reader, reader.at, "something follows the value");
    if (!reader.wrong)
        return root;
    json_decref(root);
    *wrong = (struct json_wrong){reader.wrong, reader.wrong_at};
    return NULL;
}
