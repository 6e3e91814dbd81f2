/* write.c: an architecture as the text of a declaration, in the manner of the catalogue: what all layers
 * share stands in the model, equal layers form one block. */
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/number.h"
#include "base/utf8.h"
#include "import/architecture.h"
#include "import/layer_groups.h"

enum { LINE_WIDTH = 104 };

struct writer {
    struct buffer *out;
    const struct architecture *model;
    struct layer_groups groups;
    size_t column, margin; /* of the line being filled */
};

static const struct layer_field_info {
    const char *name;
    enum { COUNT, BYTES, FLAG, ATTENTION, QK_NORM, NORM } kind;
    double usual;
} fields[LAYER_FIELD_COUNT] = {
#define FIELD(id, name, kind, usual) [LAYER_##id] = {name, kind, usual},
    LAYER_FIELDS(FIELD)
#undef FIELD
};

/* ---- text ---------------------------------------------------------------------------------- */

static void write_string(struct buffer *out, const char *text)
{
    size_t length = strlen(text);
    buffer_byte(out, '"');
    for (size_t at = 0; at < length;) {
        bool printable;
        size_t size = utf8_next(text + at, length - at, &printable);
        if (!printable)
            buffer_byte(out, '?');
        else if (text[at] == '"' || text[at] == '\\')
            buffer_printf(out, "\\%c", text[at]);
        else
            buffer_add(out, text + at, size);
        at += size;
    }
    buffer_byte(out, '"');
}

static void end_line(struct writer *writer)
{
    if (writer->column > 0)
        buffer_byte(writer->out, '\n');
    writer->column = 0;
}

/* One `name = value`, on the line being filled or on a new one. */
static void put(struct writer *writer, const char *name, const char *value)
{
    size_t width = strlen(name) + 3 + strlen(value);
    if (writer->column > 0 && writer->column + 3 + width > LINE_WIDTH)
        end_line(writer);
    buffer_repeat(writer->out, " ", writer->column > 0 ? 3 : writer->margin);
    writer->column += (writer->column > 0 ? 3 : writer->margin) + width;
    buffer_printf(writer->out, "%s = %s", name, value);
}

static void put_count(struct writer *writer, const char *name, double value)
{
    char text[NUMBER_TEXT_MAX];
    if (value > 0)
        put(writer, name, number_shortest(text, value));
}

static void put_string(struct writer *writer, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    end_line(writer);
    buffer_repeat(writer->out, " ", writer->margin);
    buffer_printf(writer->out, "%s = ", name);
    write_string(writer->out, value);
    buffer_byte(writer->out, '\n');
}

static void put_field(struct writer *writer, size_t field, double value)
{
    static const char *const attention[] = {"gqa", "mla", "linear", "mamba", "none"};
    static const char *const qk_norm[] = {"none", "head", "full"};
    static const char *const norm[] = {"rms", "layer"};
    char text[NUMBER_TEXT_MAX + 2];
    switch (fields[field].kind) {
    case COUNT: number_shortest(text, value); break;
    case BYTES: strcat(strcpy(text, number_shortest((char[NUMBER_TEXT_MAX]){0}, value)), " B"); break;
    case FLAG: strcpy(text, value ? "true" : "false"); break;
    case ATTENTION: strcpy(text, attention[(size_t)value]); break;
    case QK_NORM: strcpy(text, qk_norm[(size_t)value]); break;
    case NORM: strcpy(text, norm[(size_t)value]); break;
    }
    put(writer, fields[field].name, text);
}

static bool has_linear_mix(const struct writer *writer)
{
    for (size_t i = 0; i < writer->groups.count; i++) {
        enum attention_kind kind = (enum attention_kind)writer->groups.items[i].layer.value[LAYER_ATTENTION];
        if (kind != ATTENTION_GROUPED && kind != ATTENTION_NONE)
            return true;
    }
    return false;
}

static void put_fields(struct writer *writer, const struct layer *layer, bool of_model)
{
    for (size_t k = 0; k < LAYER_FIELD_COUNT; k++) {
        bool mixed = k == LAYER_ATTENTION && !of_model && !writer->groups.shared[k] && has_linear_mix(writer);
        if (writer->groups.shared[k] == of_model && (layer->value[k] != fields[k].usual || mixed))
            put_field(writer, k, layer->value[k]);
    }
}

static const char *const class_names[TENSORS_COUNT] = {
    [TENSORS_ATTENTION] = "weights.attention", [TENSORS_FFN] = "weights.ffn",
    [TENSORS_EXPERTS] = "weights.experts",     [TENSORS_SHARED] = "weights.shared",
    [TENSORS_ROUTER] = "weights.router",       [TENSORS_EMBEDDING] = "weights.embedding",
    [TENSORS_HEAD] = "weights.head",           [TENSORS_NORMS] = "weights.norms",
};

/* What a class is stored in when the declaration says nothing: as `weights`, but in 16 bits at least where
 * the language has it so. Formats of GGUF files say it themselves, so a file that has been read says more. */
static double usual_bits(const struct writer *writer, size_t class)
{
    return class < TENSORS_ROUTER || writer->groups.weights->bits >= 16 ? writer->groups.weights->bits : 16;
}

static void put_class(struct writer *writer, size_t class, const struct storage *storage)
{
    bool usual = class < TENSORS_ROUTER
                     ? storage == writer->groups.weights
                     : !writer->groups.weights->gguf && storage->bits == usual_bits(writer, class);
    if (!usual)
        put(writer, class_names[class], storage->name);
}

/* A tied head is the embedding, however that is stored. */
static const struct storage *end_storage(const struct architecture *model, size_t class)
{
    size_t source = class == TENSORS_HEAD && model->tied ? TENSORS_EMBEDDING : class;
    return model->storage[source] ? model->storage[source] : model->weights;
}

static void put_storage(struct writer *writer)
{
    const struct architecture *model = writer->model;
    size_t before = writer->out->length;
    bool plain = strcmp(writer->groups.weights->name, "bf16") == 0;
    if (!plain)
        put(writer, "weights", writer->groups.weights->name);
    for (size_t c = 0; c < TENSORS_COUNT; c++) {
        if (c < TENSORS_OF_LAYERS && writer->groups.present[c] && writer->groups.agreed[c])
            put_class(writer, c, writer->groups.class_storage[c]);
        else if (c >= TENSORS_OF_LAYERS)
            put_class(writer, c, end_storage(model, c));
    }
    if (model->cache)
        put(writer, "kv_cache", model->cache->name);
    if (writer->out->length > before)
        end_line(writer);
}

static void put_layer_storage(struct writer *writer, const struct layer *layer)
{
    bool has[TENSORS_OF_LAYERS];
    double elements[TENSORS_OF_LAYERS];
    layer_classes(writer->model, layer, has, elements);
    for (size_t c = 0; c < TENSORS_OF_LAYERS; c++)
        if (has[c] && !writer->groups.agreed[c])
            put_class(writer, c, layer_stored(writer->model, layer, c));
}

/* ---- blocks -------------------------------------------------------------------------------- */

static void block_body(struct writer *writer, const struct layer_group *group)
{
    put_count(writer, "count", (double)group->count);
    put_fields(writer, &group->layer, false);
    put_layer_storage(writer, &group->whole);
}

static void write_blocks(struct writer *writer)
{
    struct buffer *out = writer->out, lines[GROUPS_MAX];
    size_t widest = 0;
    for (size_t i = 0; i < writer->groups.count; i++) {
        lines[i] = buffer_in(out->arena);
        writer->out = &lines[i];
        writer->margin = 0;
        writer->column = 0;
        block_body(writer, &writer->groups.items[i]);
        size_t width = strlen(writer->groups.items[i].name);
        if (width + lines[i].length + 13 > LINE_WIDTH || strchr(buffer_string(&lines[i]), '\n'))
            lines[i].length = 0; /* does not fit on one line */
        else if (width > widest)
            widest = width;
    }
    writer->out = out;
    for (size_t i = 0; i < writer->groups.count; i++) {
        const struct layer_group *group = &writer->groups.items[i];
        buffer_printf(out, "  block %s ", group->name);
        if (lines[i].length > 0) {
            buffer_repeat(out, " ", widest - strlen(group->name));
            buffer_printf(out, "{ %s }\n", buffer_string(&lines[i]));
            continue;
        }
        buffer_text(out, "{\n");
        writer->margin = 4;
        writer->column = 0;
        block_body(writer, group);
        end_line(writer);
        buffer_text(out, "  }\n");
    }
    writer->margin = 2;
    writer->column = 0;
}

/* ---- the declaration ----------------------------------------------------------------------- */

static void write_format(struct buffer *out, const struct storage *storage)
{
    buffer_printf(out, "format %s {\n  name = ", storage->name);
    write_string(out, storage->title);
    buffer_printf(out, "\n  bits = %s   compute = %s%s\n}\n\n", storage->bits_text, storage->compute,
                  storage->weight_only ? "   weight_only = true" : "");
}

static bool is_plain_name(const char *name)
{
    static const char *const reserved[] = {"and", "or", "not", "if", "then", "else"};
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        if (strcmp(name, reserved[i]) == 0)
            return false;
    for (const char *at = name; *at; at++) {
        bool letter = (*at >= 'a' && *at <= 'z') || *at == '_', digit = *at >= '0' && *at <= '9';
        bool after = (at[1] >= 'a' && at[1] <= 'z') || at[1] == '_' || (at[1] >= '0' && at[1] <= '9');
        if (!letter && (at == name ||
                        (!digit && !(*at == '-' && after) && !(*at == '.' && at[1] >= '0' && at[1] <= '9'))))
            return false;
    }
    return *name != '\0';
}

static void write_ends(struct writer *writer)
{
    const struct architecture *model = writer->model;
    if (model->tied)
        put(writer, "tied_embeddings", "true");
    put_count(writer, "positions", model->positions);
    put_count(writer, "lookup_params", model->lookup_params);
    if (model->head_bias)
        put(writer, "head_bias", "true");
    if (model->embedding_norm)
        put(writer, "embedding_norm", "true");
    if (model->no_final_norm)
        put(writer, "final_norm", "false");
    put_count(writer, "extra_params", model->extra_params);
    put_count(writer, "tower.params", model->tower_params);
    put_count(writer, "mtp_params", model->mtp_params);
    end_line(writer);
}

void architecture_write(struct buffer *out, const struct architecture *model)
{
    struct writer writer = {
        .out = out, .model = model, .groups = layer_groups_of(out->arena, model), .margin = 2};
    for (size_t i = 0; i < model->declared.count; i++)
        write_format(out, model->declared.items[i]);
    buffer_text(out, "model ");
    if (is_plain_name(model->name))
        buffer_text(out, model->name);
    else
        write_string(out, model->name);
    buffer_text(out, " {\n");
    put_string(&writer, "name", model->title);
    put_count(&writer, "params", model->params);
    put_count(&writer, "hidden", model->hidden);
    put_count(&writer, "vocab", model->vocab);
    if (writer.groups.count == 1)
        put_count(&writer, "layers", (double)model->layer_count);
    if (writer.groups.count > 0)
        put_fields(&writer, &writer.groups.items[0].layer, true);
    end_line(&writer);
    write_ends(&writer);
    if (writer.groups.count > 1)
        write_blocks(&writer);
    put_storage(&writer);
    put_count(&writer, "max_context", model->max_context);
    end_line(&writer);
    struct buffer note = buffer_in(out->arena);
    for (size_t i = 0; i < model->notes.count; i++)
        buffer_printf(&note, "%s%s", i ? " " : "", model->notes.items[i]);
    put_string(&writer, "note", buffer_string(&note));
    put_string(&writer, "source", model->source);
    buffer_printf(out, "  confidence = %s\n}\n", model->confidence ? model->confidence : "datasheet");
}
