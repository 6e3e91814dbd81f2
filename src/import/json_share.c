/* json_share.c: values that stand many times in a text, made once */
#include "import/json_share.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The slot of a text: its bytes, eight at a time. */
static struct json_shared *slot_of(struct json_share *share, const char *text, size_t length)
{
    uint64_t mixed = length, word;
    size_t i = 0;
    for (; i + sizeof word <= length; i += sizeof word) {
        memcpy(&word, text + i, sizeof word);
        mixed = (mixed ^ (mixed >> 29) ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    }
    for (; i < length; i++)
        mixed = mixed * 31 + (unsigned char)text[i];
    return &share->flat[mixed * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SHARED_FLAT_BITS)];
}

json_t *json_share_scalar(struct json_share *share, const char *text, size_t length)
{
    if (length > SHARED_FLAT_MAX)
        return NULL;
    const struct json_shared *slot = slot_of(share, text, length);
    bool same = slot->length == length && memcmp(slot->text, text, length) == 0;
    return same ? json_incref(slot->value) : NULL;
}

void json_share_scalar_put(struct json_share *share, const char *text, size_t length, json_t *value)
{
    if (length <= SHARED_FLAT_MAX)
        *slot_of(share, text, length) = (struct json_shared){text, length, value};
}

/* How long a container is when it holds no other; 0 when it does or is long. A bracket within a string gives
 * a length that no remembered text has. */
static size_t flat_length(const char *text, size_t left)
{
    size_t most = left < SHARED_FLAT_MAX ? left : SHARED_FLAT_MAX;
    for (size_t i = 1; i < most && text[i] != '{' && text[i] != '['; i++)
        if (text[i] == '}' || text[i] == ']')
            return i + 1;
    return 0;
}

json_t *json_share_container(struct json_share *share, const char *text, size_t left, size_t *length)
{
    *length = flat_length(text, left);
    json_t *flat = *length > 0 ? json_share_scalar(share, text, *length) : NULL;
    for (size_t i = 0; !flat && i < SHARED_NESTED; i++) {
        const struct json_shared *known = &share->nested[(share->next - 1 - i) % SHARED_NESTED];
        if (known->length == 0 || known->length > left || memcmp(known->text, text, known->length) != 0)
            continue;
        *length = known->length;
        return json_incref(known->value);
    }
    return flat;
}

void json_share_container_put(struct json_share *share, const char *text, size_t length, json_t *value)
{
    if (flat_length(text, length) == length)
        json_share_scalar_put(share, text, length, value);
    else if (length <= SHARED_NESTED_MAX)
        share->nested[share->next++ % SHARED_NESTED] = (struct json_shared){text, length, value};
}
