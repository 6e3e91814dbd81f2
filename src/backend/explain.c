/* explain.c: a derivation as an indented tree, for a terminal and for a pull request. */
#include "backend/explain.h"

#include <string.h>

#include "backend/clean.h"
#include "backend/markdown_escape.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/utf8.h"
#include "result/derive.h"
#include "result/message.h"
#include "source/phrase.h"

/* ---- inputs ----------------------------------------------------------------------------------------- */

const char *explain_origin(struct arena *arena, enum language language, const struct derive_node *node)
{
    const struct derive_origin *origin = &node->origin;
    const char *place = origin->file ? arena_printf(arena, "%s:%u", origin->file, origin->line)
                                     : message_pattern(language, M_THE_COMMAND_LINE);
    if (origin->source && origin->confidence)
        place = MESSAGE_TEXT(arena, language, M_PLACE_SOURCE_SURE, place, origin->source,
                             phrase_in(NULL, language, origin->confidence));
    else if (origin->source)
        place = MESSAGE_TEXT(arena, language, M_PLACE_SOURCE, place, origin->source);
    else if (origin->confidence)
        place =
            MESSAGE_TEXT(arena, language, M_PLACE_SURE, place, phrase_in(NULL, language, origin->confidence));
    const char *owner = origin->owner ? origin->owner : NULL;
    switch (origin->origin) {
    case ORIGIN_PLAN: return place;
    case ORIGIN_INHERITED:
        return owner ? MESSAGE_TEXT(arena, language, M_INHERITED_FROM, owner, place)
                     : MESSAGE_TEXT(arena, language, M_INHERITED_FROM_A_BASE, place);
    case ORIGIN_CATALOGUE:
        return owner ? MESSAGE_TEXT(arena, language, M_OF_THE_CATALOGUE, owner, place)
                     : MESSAGE_TEXT(arena, language, M_OF_A_BASE_IN_CATALOGUE, place);
    case ORIGIN_DEFAULT: return MESSAGE_TEXT(arena, language, M_DEFAULT_IS, origin->reason);
    case ORIGIN_COMMAND_LINE: return "--set";
    case ORIGIN_SWEEP: return message_pattern(language, M_A_SWEEP);
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

/* What is not broken: up to a blank, or to where Chinese may break without one. */
static size_t piece_length(const char *text)
{
    size_t length = strcspn(text, " ");
    for (size_t at = 1; at < length; at++)
        if (utf8_may_break(text, length, at))
            return at;
    return length;
}

/* Wraps at blanks and between Chinese characters; further lines stand two columns in. */
static void put_wrapped(struct text_tree *tree, const char *lead, const char *text)
{
    size_t margin = utf8_width(lead, strlen(lead)), column = margin, blank = 1;
    put(tree, lead);
    for (const char *at = clean_line(tree->arena, text); *at;) {
        size_t length = piece_length(at), width = utf8_width(at, length);
        if (column > margin && column + blank + width > tree->options.width) {
            buffer_byte(tree->out, '\n');
            put(tree, lead);
            buffer_text(tree->out, "  ");
            column = margin + 2;
        } else if (column > margin && blank > 0) {
            buffer_byte(tree->out, ' ');
            column++;
        }
        put(tree, arena_strndup(tree->arena, at, length));
        column += width;
        blank = at[length] == ' ';
        at += length + blank;
    }
    buffer_byte(tree->out, '\n');
}

static const char *value_text(struct arena *arena, enum language language, const struct derive_node *node)
{
    return node->was ? MESSAGE_TEXT(arena, language, M_WAS, node->text, node->was) : node->text;
}

/* Something below says where it comes from: a part of a step says all in its line otherwise. */
static bool tells_more(const struct derive_node *node)
{
    for (size_t i = 0; i < node->inputs.count; i++) {
        const struct derive_node *input = node->inputs.items[i];
        if (!input->above && (!input->part || tells_more(input)))
            return true;
    }
    return false;
}

enum { DEEP = 24 }; /* columns of guides beyond which the tree goes no further to the right */

static void put_node(struct text_tree *tree, const struct derive_node *node, const char *lead,
                     const char *branch, const char *below)
{
    struct arena *arena = tree->arena;
    enum language language = tree->options.language;
    bool whole = !node->above && (!node->part || tells_more(node));
    const char *tail = node->above ? message_pattern(language, M_SEE_ABOVE) : "";
    const char *body =
        arena_printf(arena, "%s%s%s", lead, below, whole && node->inputs.count > 0 ? "\xE2\x94\x82 " : "  ");
    if (node->is_input && !node->above)
        tail = MESSAGE_TEXT(arena, language, M_NEXT_NOTE, explain_origin(arena, language, node));
    if (!whole && node->part && node->substituted)
        tail = arena_printf(arena, " = %s", node->substituted);
    put(tree, lead);
    put(tree, branch);
    const char *line = arena_printf(arena, "%s = %s%s", node->name, value_text(arena, language, node), tail);
    if (node->value.type == QUANTITY_ABSENT)
        line = MESSAGE_TEXT(arena, language, M_DOES_NOT_EXIST, node->name, node->text);
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
    } else if (node->part) {
        ; /* its name says all */
    } else if (!node->is_input && !node->shown && node->inputs.count > 0) {
        put_wrapped(tree, body, MESSAGE_TEXT(arena, language, M_COMPUTED_BY_FROM, node->source));
    } else if (!node->is_input && !node->shown) {
        put_wrapped(tree, body, MESSAGE_TEXT(arena, language, M_COMPUTED_BY, node->source));
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
    enum language language = options.language;
    put_wrapped(
        &text, "",
        tree->value.type == QUANTITY_ABSENT
            ? MESSAGE_TEXT(arena, language, M_DOES_NOT_EXIST, tree->full, value_text(arena, language, tree))
            : arena_printf(arena, "%s = %s", tree->full, value_text(arena, language, tree)));
    put_wrapped(&text, "  ", tree->doc);
    if (tree->exact)
        put_wrapped(&text, "  ", MESSAGE_TEXT(arena, language, M_EXACTLY, tree->exact));
    put_wrapped(&text, "  ",
                MESSAGE_TEXT(arena, language, tree->formula ? M_FORMULA_FROM : M_HOW_FROM, tree->source));
    if (tree->value.type != QUANTITY_ABSENT) {
        buffer_byte(out, '\n');
        put_node(&text, tree, "", "", "");
    }
    return true;
}

/* ---- Markdown --------------------------------------------------------------------------------------- */

static void markdown_node(struct arena *arena, struct buffer *out, const struct derive_node *node,
                          size_t depth, enum language language)
{
    bool absent = node->value.type == QUANTITY_ABSENT;
    for (size_t i = 0; i < depth; i++)
        buffer_text(out, "  ");
    buffer_text(out, "- ");
    markdown_name(arena, out, node->name);
    buffer_text(out, absent ? message_pattern(language, M_DOES_NOT_EXIST_BECAUSE) : " = ");
    buffer_text(out, "**");
    markdown_escape(arena, out, node->text, false);
    buffer_text(out, "**");
    if (node->was)
        markdown_escape(arena, out, MESSAGE_TEXT(arena, language, M_WAS_BEFORE, node->was), false);
    if (node->above)
        buffer_text(out, message_pattern(language, M_AND_SEE_ABOVE));
    else if (node->is_input)
        markdown_escape(arena, out,
                        MESSAGE_TEXT(arena, language, M_AND_MESSAGE, explain_origin(arena, language, node)),
                        false);
    else if (node->part && node->substituted)
        markdown_escape(arena, out, arena_printf(arena, " = %s", node->substituted), false);
    else if (shows_arithmetic(node))
        markdown_escape(arena, out, arena_printf(arena, " = %s = %s", node->shown, node->substituted), false);
    else if (!node->shown && !absent)
        markdown_escape(arena, out, MESSAGE_TEXT(arena, language, M_AND_COMPUTED_BY, node->source), false);
    buffer_byte(out, '\n');
    for (size_t i = 0; i < node->inputs.count && (!node->part || tells_more(node)); i++)
        markdown_node(arena, out, node->inputs.items[i], depth + 1, language);
}

static bool emit_markdown(struct arena *arena, struct buffer *out, const struct derive_node *tree,
                          struct explain_options options)
{
    buffer_text(out, "### ");
    markdown_name(arena, out, tree->full);
    buffer_text(out, "\n\n");
    markdown_escape(arena, out, tree->doc, true);
    buffer_text(out, "\n\n");
    markdown_node(arena, out, tree, 0, options.language);
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
