/* gguf.c: the header of a GGUF file (docs/gguf.md of ggml): magic, version, metadata, tensor infos. Nothing
 * in it is trusted: counts and lengths are held against what is left of the file and against limits. */
#include "import/gguf.h"

#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "import/storage.h"
#include "import/stream.h"

enum {
    TEXT_MAX = 1 << 24, /* of a metadata text: chat templates have kilobytes */
    KEY_MAX = 1 << 12,
    KEPT_TEXT_MAX = 256,
    VALUES_MAX = 1 << 16,
    LIST_VALUES_MAX = 1 << 20,
    TENSORS_MAX = 1 << 18,
    NESTING_MAX = 4,
    SHARDS_MAX = 1000
};

enum value_type {
    VALUE_U8,
    VALUE_I8,
    VALUE_U16,
    VALUE_I16,
    VALUE_U32,
    VALUE_I32,
    VALUE_F32,
    VALUE_BOOL,
    VALUE_TEXT,
    VALUE_LIST,
    VALUE_U64,
    VALUE_I64,
    VALUE_F64,
    VALUE_TYPE_COUNT
};

static const unsigned char value_sizes[VALUE_TYPE_COUNT] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

/* ggml.h, enum ggml_type; block sizes from ggml-common.h. */
static const struct {
    unsigned id, values, bytes;
    const char *format; /* of the standard library, or the name under which it is declared */
} types[] = {
    {0, 1, 4, "fp32"},        {1, 1, 2, "fp16"},        {2, 32, 18, "q4_0"},      {3, 32, 20, "q4_1"},
    {6, 32, 22, "q5_0"},      {7, 32, 24, "q5_1"},      {8, 32, 34, "q8_0"},      {9, 32, 36, "q8_1"},
    {10, 256, 84, "q2_k"},    {11, 256, 110, "q3_k"},   {12, 256, 144, "q4_k"},   {13, 256, 176, "q5_k"},
    {14, 256, 210, "q6_k"},   {15, 256, 292, "q8_k"},   {16, 256, 66, "iq2_xxs"}, {17, 256, 74, "iq2_xs"},
    {18, 256, 98, "iq3_xxs"}, {19, 256, 50, "iq1_s"},   {20, 32, 18, "iq4_nl"},   {21, 256, 110, "iq3_s"},
    {22, 256, 82, "iq2_s"},   {23, 256, 136, "iq4_xs"}, {24, 1, 1, "int8"},       {28, 1, 8, "fp64"},
    {29, 256, 56, "iq1_m"},   {30, 1, 2, "bf16"},       {34, 256, 54, "tq1_0"},   {35, 256, 66, "tq2_0"},
    {39, 32, 17, "mxfp4"},
};

/* ---- metadata ------------------------------------------------------------------------------ */

static bool malformed(struct gguf *gguf, const char *path, const char *what)
{
    job_error(gguf->job, DIAG_E0405, "the header of `%s` is not one of GGUF: %s", path, what);
    return false;
}

/* A text of at most `most` bytes; kept when it is short and someone wants it, else passed over and "". */
static bool read_text(struct gguf *gguf, struct stream *stream, uint64_t most, const char **text)
{
    uint64_t length = stream_u64(stream);
    if (text)
        *text = "";
    if (stream->short_of || length > most || length > stream_left(stream))
        return false;
    if (length > KEPT_TEXT_MAX || !text)
        return stream_skip(stream, length);
    char bytes[KEPT_TEXT_MAX];
    if (!stream_read(stream, bytes, (size_t)length))
        return false;
    *text = arena_strndup(gguf->job->arena, bytes, strnlen(bytes, (size_t)length));
    return true;
}

static double number_of(const unsigned char bytes[8], enum value_type type)
{
    uint64_t bits = 0;
    for (unsigned i = value_sizes[type]; i > 0; i--)
        bits = bits << 8 | bytes[i - 1];
    union {
        uint32_t bits;
        float value;
    } single = {.bits = (uint32_t)bits};
    union {
        uint64_t bits;
        double value;
    } wide = {.bits = bits};
    switch (type) {
    case VALUE_I8: return (double)(int8_t)bits;
    case VALUE_I16: return (double)(int16_t)bits;
    case VALUE_I32: return (double)(int32_t)bits;
    case VALUE_I64: return (double)(int64_t)bits;
    case VALUE_F32: return single.value == single.value ? (double)single.value : 0;
    case VALUE_F64: return wide.value == wide.value ? wide.value : 0;
    default: return (double)bits;
    }
}

static bool read_list(struct gguf *gguf, struct stream *stream, struct gguf_value *value, unsigned depth)
{
    uint32_t type = stream_u32(stream);
    uint64_t count = stream_u64(stream);
    if (stream->short_of || type >= VALUE_TYPE_COUNT || count > stream_left(stream) || depth > NESTING_MAX)
        return false;
    if (type == VALUE_TEXT || type == VALUE_LIST) {
        for (uint64_t i = 0; i < count; i++) {
            struct gguf_value inner = {0};
            if (type == VALUE_LIST ? !read_list(gguf, stream, &inner, depth + 1)
                                   : !read_text(gguf, stream, TEXT_MAX, NULL))
                return false;
        }
        return true;
    }
    gguf->list_values += count <= LAYERS_MAX ? count : 0;
    if (count > LAYERS_MAX || depth > 0 || gguf->list_values > LIST_VALUES_MAX)
        return count <= stream_left(stream) / value_sizes[type] &&
               stream_skip(stream, count * value_sizes[type]);
    double *list = ARENA_ARRAY(gguf->job->arena, double, (size_t)count + 1);
    for (uint64_t i = 0; i < count; i++) {
        unsigned char bytes[8] = {0};
        if (!stream_read(stream, bytes, value_sizes[type]))
            return false;
        list[i] = number_of(bytes, (enum value_type)type);
    }
    value->list = list;
    value->count = (size_t)count;
    return true;
}

static bool read_value(struct gguf *gguf, struct stream *stream, struct gguf_value *value)
{
    unsigned char bytes[8] = {0};
    if (!read_text(gguf, stream, KEY_MAX, &value->key))
        return false;
    uint32_t type = stream_u32(stream);
    if (stream->short_of || type >= VALUE_TYPE_COUNT)
        return false;
    if (type == VALUE_TEXT)
        return read_text(gguf, stream, TEXT_MAX, &value->text);
    if (type == VALUE_LIST)
        return read_list(gguf, stream, value, 0);
    if (!stream_read(stream, bytes, value_sizes[type]))
        return false;
    value->number = number_of(bytes, (enum value_type)type);
    return true;
}

/* ---- tensors ------------------------------------------------------------------------------- */

static const struct storage *storage_of(struct gguf *gguf, size_t row)
{
    const struct storage *known = storage_standard(types[row].format);
    if (known)
        return known;
    struct arena *arena = gguf->job->arena;
    return storage_declare(
        arena, gguf->model,
        (struct storage){.name = types[row].format,
                         .bits = 8.0 * types[row].bytes / types[row].values,
                         .bits_text = arena_printf(arena, "8 * %u / %u", types[row].bytes, types[row].values),
                         .compute = "fp16",
                         .weight_only = true,
                         .title = arena_printf(arena, "GGUF %s", types[row].format)});
}

/* One tensor info; what is wrong with it, or NULL. */
static const char *read_tensor(struct gguf *gguf, struct stream *stream)
{
    struct gguf_tensor *entry = ARENA_NEW(gguf->job->arena, struct gguf_tensor);
    struct tensor *tensor = &entry->tensor;
    if (!read_text(gguf, stream, KEPT_TEXT_MAX, &tensor->name))
        return "the name of a tensor is too long or cut off";
    tensor->rank = stream_u32(stream);
    if (stream->short_of || tensor->rank > 4)
        return "a tensor has more than four dimensions";
    tensor->elements = 1;
    for (unsigned i = 0; i < 4; i++) {
        tensor->dims[i] = i < tensor->rank ? (double)stream_u64(stream) : 1;
        tensor->elements *= tensor->dims[i];
    }
    uint32_t type = stream_u32(stream);
    stream_u64(stream); /* where its data are */
    if (stream->short_of)
        return "it ends within the tensor infos";
    size_t row = 0, count = sizeof types / sizeof types[0];
    while (row < count && types[row].id != type)
        row++;
    if (!(tensor->elements < 9e15))
        return "a tensor is larger than any memory";
    entry->layer = inventory_layer(tensor->name, &entry->rest);
    if (row == count) {
        if (type > 200 || entry->layer != SIZE_MAX)
            return "a tensor has a type perfc does not know";
        row = 0; /* integer tables beside the model */
    }
    if (tensor->dims[0] / types[row].values != (double)(uint64_t)(tensor->dims[0] / types[row].values))
        return "the rows of a tensor are no whole number of blocks of its type";
    tensor->bytes = tensor->elements / types[row].values * types[row].bytes;
    tensor->storage = storage_of(gguf, row);
    if (entry->layer != SIZE_MAX && entry->layer >= LAYERS_MAX)
        return "a tensor is of a layer beyond any";
    struct gguf_tensor **list = entry->layer == SIZE_MAX ? &gguf->ends : &gguf->layers[entry->layer];
    if (entry->layer != SIZE_MAX && entry->layer + 1 > gguf->layer_count)
        gguf->layer_count = entry->layer + 1;
    entry->next = *list;
    *list = entry;
    return NULL;
}

/* ---- the file ------------------------------------------------------------------------------ */

static bool read_header(struct gguf *gguf, struct stream *stream, const char *path, bool first)
{
    char magic[4] = {0};
    stream_read(stream, magic, 4);
    uint32_t version = stream_u32(stream);
    if (stream->short_of || memcmp(magic, "GGUF", 4) != 0)
        return malformed(gguf, path, "it does not begin with GGUF");
    if (version != 2 && version != 3)
        return malformed(gguf, path,
                         (version & 0xffff) == 0 ? "it is big-endian" : "only versions 2 and 3 are known");
    uint64_t tensors = stream_u64(stream), values = stream_u64(stream), left = stream_left(stream);
    /* A tensor info has 24 bytes at least, a value 13. */
    if (stream->short_of || tensors > TENSORS_MAX || values > VALUES_MAX || tensors > left / 24 ||
        values > left / 13)
        return malformed(gguf, path, "it counts more tensors or values than it can hold");
    for (uint64_t i = 0; i < values; i++) {
        struct gguf_value value = {0};
        if (!read_value(gguf, stream, &value))
            return malformed(gguf, path,
                             arena_printf(gguf->job->arena,
                                          "value %llu of the metadata is cut off or of no known type",
                                          (unsigned long long)i));
        if (first && *value.key)
            *VEC_PUSH(gguf->job->arena, gguf->values) = value;
    }
    for (uint64_t i = 0; i < tensors; i++) {
        const char *wrong = read_tensor(gguf, stream);
        if (wrong)
            return malformed(gguf, path, wrong);
    }
    return true;
}

static bool read_file(struct gguf *gguf, const char *path, bool first)
{
    struct stream stream;
    const char *why = stream_open(gguf->job->arena, path, &stream);
    if (why) {
        job_error(gguf->job, DIAG_E0401, "cannot read `%s`: %s", path, why);
        return false;
    }
    job_was_read(gguf->job, path);
    bool good = read_header(gguf, &stream, path, first);
    stream_close(&stream);
    return good;
}

static struct gguf gguf_new(struct import_job *job, struct architecture *model)
{
    return (struct gguf){
        .job = job, .model = model, .layers = ARENA_ARRAY(job->arena, struct gguf_tensor *, LAYERS_MAX)};
}

/* "name-00001-of-00003.gguf": how many files there are; 1 for any other name. */
static unsigned shard_count(const char *path, const char **tail)
{
    const char *of = strstr(job_base_name(path), "-of-");
    unsigned count = 0;
    if (!of || of - job_base_name(path) < 6)
        return 1;
    for (const char *at = of + 4; *at >= '0' && *at <= '9' && count <= SHARDS_MAX; at++)
        count = 10 * count + (unsigned)(*at - '0');
    *tail = of;
    return count > 0 && count <= SHARDS_MAX ? count : 1;
}

bool gguf_read_file(struct import_job *job, struct architecture *model)
{
    struct gguf gguf = gguf_new(job, model);
    const char *tail = NULL;
    unsigned shards = shard_count(job->path, &tail);
    if (shards == 1)
        return read_file(&gguf, job->path, true) && gguf_model(&gguf);
    for (unsigned i = 1; i <= shards; i++)
        if (!read_file(
                &gguf,
                arena_printf(job->arena, "%.*s%05u%s", (int)(tail - 5 - job->path), job->path, i, tail),
                i == 1))
            return false;
    return gguf_model(&gguf);
}

bool gguf_read_bytes(struct import_job *job, const char *bytes, size_t length, struct architecture *model)
{
    struct gguf gguf = gguf_new(job, model);
    struct stream stream = stream_of_bytes(bytes, length);
    return read_header(&gguf, &stream, job->path, true) && gguf_model(&gguf);
}
