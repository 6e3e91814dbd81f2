/* header_scan.c: a pull parser for one shape of JSON. A header may have 100 MB, so its tensors are handed on
 * as they come and nothing is kept; jansson would build a tree ten times that size. */
#include "import/header_scan.h"

#include <string.h>

enum { DEPTH_MAX = 64 };

struct scanner {
    struct stream *stream;
    uint64_t length, taken; /* of the header */
    const char *wrong;
};

static int peek(struct scanner *scanner)
{
    struct stream *stream = scanner->stream;
    if (scanner->taken == scanner->length)
        return -1;
    if (stream->at < stream->length)
        return (unsigned char)stream->bytes[stream->at];
    if (stream_byte(stream) < 0) {
        scanner->wrong = scanner->wrong ? scanner->wrong : "the file ends within the header";
        return -1;
    }
    return (unsigned char)stream->bytes[--stream->at];
}

static int take(struct scanner *scanner)
{
    int byte = peek(scanner);
    if (byte >= 0) {
        scanner->stream->at++;
        scanner->taken++;
    }
    return byte;
}

static bool fail(struct scanner *scanner, const char *wrong)
{
    if (!scanner->wrong)
        scanner->wrong = wrong;
    return false;
}

static int after_blanks(struct scanner *scanner)
{
    int byte;
    while ((byte = peek(scanner)) == ' ' || byte == '\t' || byte == '\n' || byte == '\r')
        take(scanner);
    return byte;
}

static bool expect(struct scanner *scanner, char wanted, const char *wrong)
{
    if (after_blanks(scanner) != wanted)
        return fail(scanner, wrong);
    take(scanner);
    return true;
}

/* A string into `text`, or nowhere. Escapes other than of quote, slash and backslash become `?`: no tensor
 * that perfc knows has any. */
static bool read_string(struct scanner *scanner, char *text, size_t size)
{
    size_t length = 0;
    if (!expect(scanner, '"', "a string was expected"))
        return false;
    for (;;) {
        int byte = take(scanner);
        if (byte < 0)
            return fail(scanner, "a string is not closed");
        if (byte == '"')
            break;
        if (byte < ' ')
            return fail(scanner, "a string holds a control character");
        if (byte == '\\') {
            byte = take(scanner);
            if (byte != '"' && byte != '\\' && byte != '/')
                byte = '?';
        }
        if (size == 0)
            continue;
        if (length + 1 >= size)
            return fail(scanner, "a name is too long");
        text[length++] = (char)byte;
    }
    if (size > 0)
        text[length] = '\0';
    return true;
}

/* A whole number up to 2^53. */
static bool read_whole(struct scanner *scanner, double *value)
{
    uint64_t number = 0;
    unsigned digits = 0;
    int byte = after_blanks(scanner);
    for (; byte >= '0' && byte <= '9'; byte = peek(scanner), digits++) {
        number = 10 * number + (uint64_t)(byte - '0');
        if (number > 9007199254740992)
            return fail(scanner, "a number is too large");
        take(scanner);
    }
    *value = (double)number;
    return digits > 0 || fail(scanner, "a whole number was expected");
}

/* `[1, 2, 3]` of at most `most` numbers. */
static bool read_list(struct scanner *scanner, double *values, unsigned most, unsigned *count)
{
    *count = 0;
    if (!expect(scanner, '[', "a list was expected"))
        return false;
    if (after_blanks(scanner) == ']') {
        take(scanner);
        return true;
    }
    for (;;) {
        if (*count == most)
            return fail(scanner, "a list is too long");
        if (!read_whole(scanner, &values[(*count)++]))
            return false;
        int byte = after_blanks(scanner);
        take(scanner);
        if (byte == ']')
            return true;
        if (byte != ',')
            return fail(scanner, "`,` or `]` was expected");
    }
}

/* Past any value, by counting brackets. */
static bool skip_value(struct scanner *scanner)
{
    unsigned depth = 0;
    do {
        int byte = after_blanks(scanner);
        if (byte < 0)
            return fail(scanner, "the header ends within a value");
        if (byte == '"') {
            if (!read_string(scanner, NULL, 0))
                return false;
            continue;
        }
        take(scanner);
        if (byte == '{' || byte == '[') {
            if (++depth > DEPTH_MAX)
                return fail(scanner, "values are nested too deeply");
        } else if (byte == '}' || byte == ']') {
            if (depth == 0)
                return fail(scanner, "a value was expected");
            depth--;
        } else if (depth == 0) {
            while ((byte = peek(scanner)) >= 0 && strchr(",}] \t\r\n", byte) == NULL)
                take(scanner);
        }
    } while (depth > 0);
    return true;
}

static bool read_member(struct scanner *scanner, struct header_tensor *tensor)
{
    char key[64];
    if (!read_string(scanner, key, sizeof key) || !expect(scanner, ':', "`:` was expected"))
        return false;
    if (strcmp(key, "dtype") == 0)
        return tensor->has_dtype = read_string(scanner, tensor->dtype, sizeof tensor->dtype);
    if (strcmp(key, "shape") == 0)
        return tensor->has_shape = read_list(scanner, tensor->dims, TENSOR_RANK_MAX, &tensor->rank);
    if (strcmp(key, "data_offsets") == 0) {
        double offsets[2] = {0};
        unsigned count;
        if (!read_list(scanner, offsets, 2, &count) || count != 2)
            return fail(scanner, "`data_offsets` is not two numbers");
        tensor->begin = offsets[0];
        tensor->end = offsets[1];
        return tensor->has_offsets = true;
    }
    return skip_value(scanner);
}

static bool read_tensor(struct scanner *scanner, struct header_tensor *tensor)
{
    if (!expect(scanner, '{', "a tensor was expected"))
        return false;
    if (after_blanks(scanner) == '}') {
        take(scanner);
        return fail(scanner, "a tensor has no `shape`");
    }
    for (;;) {
        if (!read_member(scanner, tensor))
            return false;
        int byte = after_blanks(scanner);
        take(scanner);
        if (byte == '}')
            break;
        if (byte != ',')
            return fail(scanner, "`,` or `}` was expected");
    }
    if (!tensor->has_dtype || !tensor->has_shape || !tensor->has_offsets)
        return fail(scanner, "a tensor lacks `dtype`, `shape` or `data_offsets`");
    return tensor->begin <= tensor->end || fail(scanner, "`data_offsets` run backwards");
}

static bool scan(struct scanner *scanner, const char *(*found)(void *, const struct header_tensor *),
                 void *context)
{
    struct header_tensor tensor;
    if (!expect(scanner, '{', "the header is not a JSON object"))
        return false;
    if (after_blanks(scanner) == '}') {
        take(scanner);
        return true;
    }
    for (;;) {
        memset(&tensor, 0, sizeof tensor);
        if (!(after_blanks(scanner), read_string(scanner, tensor.name, sizeof tensor.name)) ||
            !expect(scanner, ':', "`:` was expected"))
            return false;
        if (strcmp(tensor.name, "__metadata__") == 0) {
            if (!skip_value(scanner))
                return false;
        } else {
            if (!read_tensor(scanner, &tensor))
                return false;
            const char *wrong = found(context, &tensor);
            if (wrong)
                return fail(scanner, wrong);
        }
        int byte = after_blanks(scanner);
        take(scanner);
        if (byte == '}')
            return true;
        if (byte != ',')
            return fail(scanner, "`,` or `}` was expected");
    }
}

const char *header_scan(struct stream *stream, uint64_t length,
                        const char *(*found)(void *context, const struct header_tensor *tensor),
                        void *context, uint64_t *at)
{
    struct scanner scanner = {.stream = stream, .length = length};
    if (scan(&scanner, found, context) && after_blanks(&scanner) >= 0)
        fail(&scanner, "something follows the header's object");
    *at = scanner.taken;
    return scanner.wrong;
}
