/* explain.c: a derivation as an indented tree, for a terminal and for a pull request. */
#include "backend/explain.h"

#include <string.h>

#include "backend/clean.h"
#include "backend/markdown_escape.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/utf8.h"
#include "result/derive.h"

/* ---- inputs ----------------------------------------------------------------------------------------- */

const char *explain_origin(struct arena *arena, const struct derive_node *node)
{
    const struct derive_origin *origin = &node->origin;
    const char *place =
        origin->file ? arena_printf(arena, "%s:%u", origin->file, origin->line) : "the command line";
    const char *source = origin->source       ? arena_printf(arena, ": %s", origin->source)
                         : origin->confidence ? ":"
                                              : "";
    const char *sure = origin->confidence ? arena_printf(arena, " (%s)", origin->confidence) : "";
    const char *owner = origin->owner ? origin->owner : "a base";
    switch (origin->origin) {
    case ORIGIN_PLAN: return arena_printf(arena, "%s%s%s", place, source, sure);
    case ORIGIN_INHERITED:
        return arena_printf(arena, "inherited from `%s`, %s%s%s", owner, place, source, sure);
    case ORIGIN_CATALOGUE:
        return arena_printf(arena, "the catalogue's `%s`, %s%s%s", owner, place, source, sure);
    case ORIGIN_DEFAULT: return arena_printf(arena, "default: %s", origin->reason);
    case ORIGIN_COMMAND_LINE: return "--set";
    case ORIGIN_SWEEP: return "a sweep";
    }
    return "";
}

/* A formula that is nothing but another name says no more than the name below it. */
static bool shows_arithmetic(const struct derive_node *node)
{
    return node->shown && strcmp(node->shown, node->text) != 0 &&
           !(node->inputs.count == 1 && strcmp(node->shown, node->inputs.items[0]->name) == 0);
}

/* ---- text ------------------------------------------------------------------------------------------- */

struct text_tree {
    struct arena *arena;
    struct buffer *out;
    struct explain_options options;
};

static void put(struct text_tree *tree, const char *text)
{
    const char *clean = clean_line(tree->arena, text);
    buffer_text(tree->out, tree->options.unicode ? clean : clean_ascii(tree->arena, clean));
}

/* Wraps at blanks; further lines stand two columns in. */
static void put_wrapped(struct text_tree *tree, const char *lead, const char *text)
{
    size_t margin = utf8_width(lead, strlen(lead)), column = margin;
    put(tree, lead);
    for (const char *at = clean_line(tree->arena, text); *at;) {
        size_t length = strcspn(at, " "), width = utf8_width(at, length);
        if (column > margin && column + 1 + width > tree->options.width) {
            buffer_byte(tree->out, '\n');
            put(tree, lead);
            buffer_text(tree->out, "  ");
            column = margin + 2;
        } else if (column > margin) {
            buffer_byte(tree->out, ' ');
            column++;
        }
        put(tree, arena_strndup(tree->arena, at, length));
        column += width;
        at += length + (at[length] == ' ');
    }
    buffer_byte(tree->out, '\n');
}

static const char *value_text(struct arena *arena, const struct derive_node *node)
{
    return node->was ? arena_printf(arena, "%s (was %s)", node->text, node->was) : node->text;
}

enum { DEEP = 24 }; /* columns of guides beyond which the tree goes no further to the right */

static void put_node(struct text_tree *tree, const struct derive_node *node, const char *lead,
                     const char *branch, const char *below)
{
    struct arena *arena = tree->arena;
    bool whole = !node->above && !node->part;
    const char *tail = node->above ? "; see above" : "";
    const char *body =
        arena_printf(arena, "%s%s%s", lead, below, whole && node->inputs.count > 0 ? "\xE2\x94\x82 " : "  ");
    if (node->is_input && !node->above)
        tail = arena_printf(arena, "; %s", explain_origin(arena, node));
    if (node->part && node->substituted)
        tail = arena_printf(arena, " = %s", node->substituted);
    put(tree, lead);
    put(tree, branch);
    const char *line = arena_printf(arena, "%s = %s%s", node->name, value_text(arena, node), tail);
    if (node->value.type == QUANTITY_ABSENT)
        line = arena_printf(arena, "%s does not exist: %s", node->name, node->text);
    size_t used = utf8_width(lead, strlen(lead)) + utf8_width(branch, strlen(branch));
    struct buffer wrapped = buffer_in(arena);
    struct text_tree inner = {arena, &wrapped, tree->options};
    inner.options.width = tree->options.width > used + 20 ? tree->options.width - used : 20;
    put_wrapped(&inner, "", line);
    /* The first line goes on where the branch ends; the others stand under it. */
    const char *text = buffer_string(&wrapped);
    for (bool first = true; *text; first = false) {
        size_t length = strcspn(text, "\n");
        if (!first)
            put(tree, body);
        buffer_add(tree->out, text, length);
        buffer_byte(tree->out, '\n');
        text += length + 1;
    }
    if (!whole)
        return;
    if (shows_arithmetic(node)) {
        put_wrapped(tree, body, arena_printf(arena, "= %s", node->shown));
        if (strcmp(node->shown, node->substituted) != 0)
            put_wrapped(tree, body, arena_printf(arena, "= %s", node->substituted));
    } else if (!node->is_input && !node->shown && node->inputs.count > 0) {
        put_wrapped(tree, body, arena_printf(arena, "computed by %s, from", node->source));
    } else if (!node->is_input && !node->shown) {
        put_wrapped(tree, body, arena_printf(arena, "computed by %s", node->source));
    }
    const char *next = arena_printf(arena, "%s%s", lead, below);
    if (utf8_width(next, strlen(next)) > DEEP)
        next = lead;
    for (size_t i = 0; i < node->inputs.count; i++) {
        bool last = i + 1 == node->inputs.count;
        put_node(tree, node->inputs.items[i], next,
                 last ? "\xE2\x94\x94\xE2\x94\x80 " : "\xE2\x94\x9C\xE2\x94\x80 ",
                 last ? "   " : "\xE2\x94\x82  ");
    }
}

static bool emit_text(struct arena *arena, struct buffer *out, const struct derive_node *tree,
                      struct explain_options options)
{
    struct text_tree text = {arena, out, options};
    put_wrapped(&text, "",
                arena_printf(arena, "%s%s%s", tree->full,
                             tree->value.type == QUANTITY_ABSENT ? " does not exist: " : " = ",
                             value_text(arena, tree)));
    put_wrapped(&text, "  ", tree->doc);
    if (tree->exact)
        put_wrapped(&text, "  ", arena_printf(arena, "exactly %s", tree->exact));
    put_wrapped(&text, "  ", arena_printf(arena, "%s: %s", tree->formula ? "formula" : "how", tree->source));
    if (tree->value.type != QUANTITY_ABSENT) {
        buffer_byte(out, '\n');
        put_node(&text, tree, "", "", "");
    }
    return true;
}

/* ---- Markdown --------------------------------------------------------------------------------------- */

static void markdown_node(struct arena *arena, struct buffer *out, const struct derive_node *node,
                          size_t depth)
{
    for (size_t i = 0; i < depth; i++)
        buffer_text(out, "  ");
    buffer_text(out, "- ");
    markdown_name(arena, out, node->name);
    buffer_text(out, node->value.type == QUANTITY_ABSENT ? " does not exist: " : " = ");
    buffer_text(out, "**");
    markdown_escape(arena, out, node->text, false);
    buffer_text(out, "**");
    if (node->was) {
        buffer_text(out, " (was ");
        markdown_escape(arena, out, node->was, false);
        buffer_byte(out, ')');
    }
    if (node->above) {
        buffer_text(out, ", see above");
    } else if (node->is_input) {
        buffer_text(out, ", ");
        markdown_escape(arena, out, explain_origin(arena, node), false);
    } else if (node->part && node->substituted) {
        markdown_escape(arena, out, arena_printf(arena, " = %s", node->substituted), false);
    } else if (shows_arithmetic(node)) {
        markdown_escape(arena, out, arena_printf(arena, " = %s = %s", node->shown, node->substituted), false);
    } else if (!node->shown && node->value.type != QUANTITY_ABSENT) {
        markdown_escape(arena, out, arena_printf(arena, ", computed by %s", node->source), false);
    }
    buffer_byte(out, '\n');
    for (size_t i = 0; i < node->inputs.count && !node->part; i++)
        markdown_node(arena, out, node->inputs.items[i], depth + 1);
}

static bool emit_markdown(struct arena *arena, struct buffer *out, const struct derive_node *tree,
                          struct explain_options options)
{
    (void)options;
    buffer_text(out, "### ");
    markdown_name(arena, out, tree->full);
    buffer_text(out, "\n\n");
    markdown_escape(arena, out, tree->doc, true);
    buffer_text(out, "\n\n");
    markdown_node(arena, out, tree, 0);
    return true;
}

/* ---- formats ---------------------------------------------------------------------------------------- */

const struct explain_format *explain_format_find(const char *name)
{
    static const struct explain_format formats[] = {
        {"text", emit_text}, {"md", emit_markdown}, {"json", explain_json}};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}
