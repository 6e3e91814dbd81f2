/* explain_json.c: a derivation for scripts. Every node has a name, a value with its unit, and either a
 * formula over the names of its inputs or the place where it was set; docs/explain.md describes it. */
#include <math.h>

#include "backend/explain.h"
#include "backend/json_number.h"
#include "backend/json_text.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "result/derive.h"

/* `, "key": "text"`, unless there is none. */
static void put_text(struct json_writer *writer, const char *key, const char *text)
{
    if (!text)
        return;
    buffer_printf(writer->out, ", \"%s\": ", key);
    json_text_write(writer, json_text_node(writer, text));
}

static void put_value(struct json_writer *writer, const struct derive_node *node)
{
    char text[NUMBER_TEXT_MAX];
    switch (node->value.type) {
    case QUANTITY_NUMBER:
        buffer_printf(writer->out, ", \"value\": %s",
                      isfinite(node->value.value) ? json_number(text, node->value.value) : "null");
        put_text(writer, "unit", node->value.unit ? node->value.unit : "1");
        break;
    case QUANTITY_BOOL:
        buffer_printf(writer->out, ", \"value\": %s", node->value.boolean ? "true" : "false");
        break;
    case QUANTITY_TEXT: put_text(writer, "value", node->value.text); return;
    case QUANTITY_ABSENT:
        buffer_text(writer->out, ", \"value\": null");
        put_text(writer, "why", node->text);
        return;
    }
    put_text(writer, "text", node->text);
}

static void put_origin(struct json_writer *writer, const struct derive_node *node)
{
    static const char *const words[] = {
        [ORIGIN_PLAN] = "plan",
        [ORIGIN_INHERITED] = "inherited",
        [ORIGIN_CATALOGUE] = "catalogue",
        [ORIGIN_DEFAULT] = "default",
        [ORIGIN_COMMAND_LINE] = "command line",
        [ORIGIN_SWEEP] = "sweep",
    };
    const struct derive_origin *origin = &node->origin;
    buffer_printf(writer->out, ", \"set\": {\"by\": \"%s\"", words[origin->origin]);
    put_text(writer, "file", origin->file);
    if (origin->file)
        buffer_printf(writer->out, ", \"line\": %u", origin->line);
    put_text(writer, "declaration", origin->owner);
    put_text(writer, "source", origin->source);
    put_text(writer, "confidence", origin->confidence);
    put_text(writer, "reason", origin->reason);
    buffer_byte(writer->out, '}');
}

static void put_node(struct json_writer *writer, const struct derive_node *node, unsigned depth)
{
    for (unsigned i = 0; i < depth; i++)
        buffer_text(writer->out, "  ");
    buffer_text(writer->out, "{\"kind\": ");
    buffer_text(writer->out, node->is_input ? "\"input\"" : node->part ? "\"part\"" : "\"quantity\"");
    put_text(writer, "name", node->name);
    put_text(writer, "full_name", node->full);
    put_value(writer, node);
    put_text(writer, "was", node->was);
    put_text(writer, "doc", node->doc);
    if (node->is_input)
        put_origin(writer, node);
    put_text(writer, "formula", node->formula);
    put_text(writer, "with_values", node->substituted);
    put_text(writer, "source", node->source);
    if (node->above)
        buffer_text(writer->out, ", \"above\": true");
    if (node->inputs.count > 0) {
        buffer_text(writer->out, ", \"inputs\": [\n");
        for (size_t i = 0; i < node->inputs.count; i++) {
            put_node(writer, node->inputs.items[i], depth + 1);
            buffer_text(writer->out, i + 1 < node->inputs.count ? ",\n" : "\n");
        }
        for (unsigned i = 0; i < depth; i++)
            buffer_text(writer->out, "  ");
        buffer_byte(writer->out, ']');
    }
    buffer_byte(writer->out, '}');
}

bool explain_json(struct arena *arena, struct buffer *out, const struct derive_node *tree,
                  struct explain_options options)
{
    (void)options;
    struct json_writer writer = {.arena = arena, .out = out};
    buffer_text(out, "{\"schema\": \"perfc-explain/1\", \"derivation\":\n");
    put_node(&writer, tree, 1);
    buffer_text(out, "\n}\n");
    return !writer.failed;
}
