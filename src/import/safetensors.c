/* safetensors.c: what the headers of a checkpoint say. Its config.json, when it lies beside, is the better
 * source for the architecture; the headers then give the exact bytes of each tensor class. Without it the
 * architecture of a llama-like checkpoint follows from names and shapes; any other becomes its size alone. */
#include "import/safetensors.h"

#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/intern.h"
#include "base/map.h"
#include "import/config.h"
#include "import/header_scan.h"
#include "import/inventory.h"
#include "import/shapes.h"
#include "import/storage.h"

/* The format's own limit is 100 MB (safetensors, tensor.rs, MAX_HEADER_SIZE). */
enum { HEADER_MAX = 1 << 27, FILES_MAX = 2048 };

/* Classes of names seen lately, with their digits left out: experts come by the thousand. */
enum { MEMO_SIZE = 128, MEMO_NAME = 96 };

struct memo {
    char name[MEMO_NAME];
    bool vector;
    size_t class;
};

struct checkpoint {
    struct import_job *job;
    struct memo memo[MEMO_SIZE];
    size_t layers; /* that the configuration has; SIZE_MAX without one */
    struct inventory inventory;
    struct shapes *shapes; /* NULL when a configuration says what the model is */
    bool packed;           /* some matrices are integers that hold several values */
};

/* ---- tensors ------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    double bits;
    const char *format; /* NULL: says nothing about what is in it */
} types[] = {
    {"F64", 64, "fp64"},  {"F32", 32, "fp32"},   {"F16", 16, "fp16"},
    {"BF16", 16, "bf16"}, {"F8_E4M3", 8, "fp8"}, {"F8_E5M2", 8, "fp8-e5m2"},
    {"I64", 64, NULL},    {"U64", 64, NULL},     {"I32", 32, NULL},
    {"U32", 32, NULL},    {"I16", 16, NULL},     {"U16", 16, NULL},
    {"I8", 8, "int8"},    {"U8", 8, NULL},       {"BOOL", 8, NULL},
    {"F8_E8M0", 8, NULL}, {"F4", 4, NULL},       {"C64", 64, NULL},
};

static size_t class_of(struct checkpoint *checkpoint, const struct tensor *tensor)
{
    const char *rest;
    char plain[MEMO_NAME];
    size_t layer = inventory_layer(tensor->name, &rest), length = 0, hash = tensor->rank < 2;
    bool regular = layer < checkpoint->layers && layer != SIZE_MAX;
    for (const char *at = tensor->name; regular && *at; at++) {
        if (*at >= '0' && *at <= '9')
            continue;
        regular = length + 1 < sizeof plain;
        plain[length++] = *at;
        hash = hash * 31 + (unsigned char)*at;
    }
    if (!regular)
        return inventory_class_of(tensor, checkpoint->layers, &layer);
    plain[length] = '\0';
    struct memo *memo = &checkpoint->memo[hash % MEMO_SIZE];
    if (memo->vector != (tensor->rank < 2) || memcmp(memo->name, plain, length + 1) != 0) {
        memcpy(memo->name, plain, length + 1);
        memo->vector = tensor->rank < 2;
        memo->class = inventory_class_of(tensor, checkpoint->layers, &layer);
    }
    return memo->class;
}

static const char *take_tensor(void *context, const struct header_tensor *header)
{
    struct checkpoint *checkpoint = context;
    struct tensor tensor = {
        .name = header->name, .rank = header->rank, .elements = 1, .bytes = header->end - header->begin};
    for (unsigned i = 0; i < 4; i++)
        tensor.dims[i] = i < header->rank ? header->dims[i] : 1;
    for (unsigned i = 0; i < header->rank; i++)
        tensor.elements *= header->dims[i];
    if (!(tensor.elements < 9e15))
        return "a tensor is larger than any memory";
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(types[i].name, header->dtype) != 0)
            continue;
        if (tensor.bytes != tensor.elements * types[i].bits / 8)
            return "the `data_offsets` of a tensor do not match its `shape` and `dtype`";
        tensor.storage = types[i].format ? storage_standard(types[i].format) : NULL;
    }
    size_t class = class_of(checkpoint, &tensor);
    if (!tensor.storage && class < TENSORS_NORMS && tensor.rank >= 2)
        checkpoint->packed = true;
    inventory_add(&checkpoint->inventory, class, &tensor);
    if (checkpoint->shapes && class != TENSORS_TOWER)
        shapes_add(checkpoint->shapes, &tensor);
    return NULL;
}

static bool read_header(struct checkpoint *checkpoint, const char *path, struct stream *stream)
{
    struct import_job *job = checkpoint->job;
    uint64_t at = 0, length = stream_u64(stream);
    if (stream->short_of) {
        job_error(job, DIAG_E0405, "`%s` is too short for a safetensors file", path);
        return false;
    }
    if (length > HEADER_MAX || (stream->size != UINT64_MAX && length > stream_left(stream))) {
        job_error(job, DIAG_E0405, "`%s` says that its header has %llu bytes, more than %s", path,
                  (unsigned long long)length, length > HEADER_MAX ? "the format allows" : "the file holds");
        return false;
    }
    const char *wrong = header_scan(stream, length, take_tensor, checkpoint, &at);
    if (wrong)
        job_error(job, DIAG_E0405, "the header of `%s` is not one of safetensors: %s (byte %llu)", path,
                  wrong, (unsigned long long)(at + 8));
    return !wrong;
}

static bool read_shard(struct checkpoint *checkpoint, const char *path)
{
    struct stream stream;
    const char *why = stream_open(checkpoint->job->arena, path, &stream);
    if (why) {
        job_error(checkpoint->job, DIAG_E0401, "cannot read `%s`: %s", path, why);
        return false;
    }
    job_was_read(checkpoint->job, path);
    bool good = read_header(checkpoint, path, &stream);
    stream_close(&stream);
    return good;
}

/* ---- the configuration beside it ------------------------------------------------------------ */

/* Whether a config.json lies beside; fills the model from it. */
static bool config_beside(struct import_job *job, struct architecture *model, bool *found)
{
    struct buffer text = buffer_in(job->arena);
    const char *path = job_beside(job, job->path, "config.json");
    struct json_file json;
    *found = !job->alone && job_read(job, path, SOURCE_MAX_BYTES, &text) == NULL;
    if (!*found)
        return true;
    job_was_read(job, path);
    if (!json_file_read(job, path, buffer_string(&text), text.length, CONFIG_VALUES_MAX, &json))
        return false;
    bool good = config_architecture(job, &json, model);
    json_decref(json.root);
    return good;
}

static void name_model(struct import_job *job, struct architecture *model)
{
    model->title = job_model_title(job, model->title);
    model->name = job_model_name(job, model->title);
}

static void size_alone(struct checkpoint *checkpoint, struct architecture *model)
{
    struct import_job *job = checkpoint->job;
    const struct inventory *inventory = &checkpoint->inventory;
    *model = (struct architecture){.params = inventory->elements, .weights = storage_standard("bf16")};
    model->weights =
        storage_mix(job->arena, model, "weights", inventory->bytes, inventory->elements, model->weights);
    architecture_note(
        job->arena, model,
        "The names of the tensors are not those of a llama-like model: only the size is known, no cache.");
}

/* From names and shapes; an error where they cannot tell. */
static bool from_shapes(struct checkpoint *checkpoint, struct architecture *model)
{
    struct import_job *job = checkpoint->job;
    if (checkpoint->inventory.elements == 0) {
        job_error(job, DIAG_E0407, "`%s` holds no tensors", job->path);
        return false;
    }
    if (checkpoint->packed) {
        struct diag *diag = job_error(
            job, DIAG_E0407, "`%s` does not say enough about the model: its weights are packed", job->path);
        diag_note(job->diags, diag, "put the model's config.json beside it");
        return false;
    }
    shapes_model(checkpoint->shapes, model);
    if (model->layer_count == 0) {
        size_alone(checkpoint, model);
        return true;
    }
    model->weights = storage_standard("bf16");
    inventory_apply(job, &checkpoint->inventory, model);
    return true;
}

static bool finish(struct checkpoint *checkpoint, struct architecture *model, bool configured)
{
    struct import_job *job = checkpoint->job;
    if (configured)
        inventory_apply(job, &checkpoint->inventory, model);
    else if (!from_shapes(checkpoint, model))
        return false;
    name_model(job, model);
    model->source = arena_printf(job->arena, "imported from %s%s", job_base_name(job->path),
                                 configured ? " and its config.json" : "");
    return !job->failed;
}

static struct checkpoint checkpoint_of(struct import_job *job, const struct architecture *model,
                                       bool configured)
{
    return (struct checkpoint){.job = job,
                               .layers = configured ? model->layer_count : SIZE_MAX,
                               .shapes = configured ? NULL : shapes_new(job->arena)};
}

/* ---- one file, or all shards ------------------------------------------------------------------ */

/* "model-00001-of-00004.safetensors": how many there are, or 0. */
static unsigned shard_count(const char *base, const char **tail)
{
    const char *of = strstr(base, "-of-");
    unsigned count = 0;
    if (!of || of - base < 6)
        return 0;
    for (const char *at = of + 4; *at >= '0' && *at <= '9' && count < 100000; at++)
        count = 10 * count + (unsigned)(*at - '0');
    *tail = of;
    return count <= FILES_MAX ? count : 0;
}

static bool read_all_shards(struct checkpoint *checkpoint, unsigned count, const char *tail)
{
    struct import_job *job = checkpoint->job;
    for (unsigned i = 1; i <= count; i++)
        if (!read_shard(checkpoint, arena_printf(job->arena, "%.*s%05u%s", (int)(tail - 5 - job->path),
                                                 job->path, i, tail)))
            return false;
    return true;
}

bool safetensors_read_file(struct import_job *job, struct architecture *model)
{
    bool configured;
    job->headers = true;
    if (!config_beside(job, model, &configured))
        return false;
    struct checkpoint checkpoint = checkpoint_of(job, model, configured);
    const char *tail = NULL;
    unsigned shards = shard_count(job_base_name(job->path), &tail);
    bool good = shards > 1 ? read_all_shards(&checkpoint, shards, tail) : read_shard(&checkpoint, job->path);
    return good && finish(&checkpoint, model, configured);
}

bool safetensors_read_bytes(struct import_job *job, const char *bytes, size_t length,
                            struct architecture *model)
{
    struct checkpoint checkpoint = checkpoint_of(job, model, false);
    struct stream stream = stream_of_bytes(bytes, length);
    return read_header(&checkpoint, job->path, &stream) && finish(&checkpoint, model, false);
}

/* ---- an index ---------------------------------------------------------------------------------- */

struct shard_list {
    VEC(const char *) names;
};

/* The files of the weight map, in the order they come. */
static bool list_shards(struct import_job *job, const struct json_file *json, struct shard_list *list)
{
    json_t *map = json_object_get(json->root, "weight_map"), *file;
    const char *key;
    const char *const place[] = {"weight_map", NULL};
    struct strings *strings = strings_new(job->arena);
    struct map *listed = map_new(job->arena);
    if (!json_is_object(map) || json_object_size(map) == 0) {
        job_error_at(job, DIAG_E0407, json_place(json, place), "the index has no `weight_map`");
        return false;
    }
    json_object_foreach(map, key, file)
    {
        const char *name = json_string_value(file);
        if (!name || strchr(name, '/')) {
            job_error_at(job, DIAG_E0407, json_place(json, place),
                         "`weight_map` names no file of this directory for `%.80s`", key);
            return false;
        }
        name = intern_text(strings, name);
        if (map_get(listed, name))
            continue;
        if (list->names.count == FILES_MAX) {
            job_error_at(job, DIAG_E0407, json_place(json, place), "the index names more than %d files",
                         FILES_MAX);
            return false;
        }
        map_put(listed, name, list);
        *VEC_PUSH(job->arena, list->names) = name;
    }
    return true;
}

static bool readable(const char *path, struct arena *arena)
{
    struct stream stream;
    if (stream_open(arena, path, &stream) != NULL)
        return false;
    stream_close(&stream);
    return true;
}

/* Without the shards an index knows the bytes in all, which only a configuration can give a meaning. */
static bool without_shards(struct import_job *job, const struct json_file *json, struct architecture *model,
                           const char *missing, bool configured)
{
    double total = json_number_value(json_object_get(json_object_get(json->root, "metadata"), "total_size"));
    if (!configured) {
        const char *const place[] = {"weight_map", NULL};
        struct diag *diag = job_error_at(job, DIAG_E0407, json_place(json, place),
                                         "an index has no sizes of tensors, and `%s` is not here", missing);
        diag_note(job->diags, diag, "put the files it names, or the model's config.json, beside it");
        return false;
    }
    if (total > 0 && total < 9e15)
        architecture_note(job->arena, model,
                          "The index says %.0f bytes in all; the files themselves were not here.", total);
    return true;
}

bool safetensors_read_index(struct import_job *job, const char *text, size_t length,
                            struct architecture *model)
{
    struct json_file json;
    struct shard_list list = {0};
    bool configured, here = !job->alone;
    if (!json_file_read(job, job->path, text, length, INDEX_VALUES_MAX, &json))
        return false;
    bool good = list_shards(job, &json, &list);
    const char *missing = good && list.names.count > 0 ? list.names.items[0] : "";
    for (size_t i = 0; good && here && i < list.names.count; i++) {
        missing = list.names.items[i];
        here = readable(job_beside(job, job->path, missing), job->arena);
    }
    job->headers = here;
    good = good && config_beside(job, model, &configured);
    if (good && !here) {
        good = without_shards(job, &json, model, missing, configured);
        if (good) {
            name_model(job, model);
            model->source =
                arena_printf(job->arena, "imported from the config.json beside %s", job_base_name(job->path));
        }
    } else if (good) {
        struct checkpoint checkpoint = checkpoint_of(job, model, configured);
        for (size_t i = 0; good && i < list.names.count; i++)
            good = read_shard(&checkpoint, job_beside(job, job->path, list.names.items[i]));
        good = good && finish(&checkpoint, model, configured);
    }
    json_decref(json.root);
    return good;
}
