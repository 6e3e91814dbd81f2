/* message.c: the texts of reports, from the table to runs of text with their arguments in place */
#include "result/message.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "source/diag.h"
#include "source/phrase.h"

static const char *const patterns[MESSAGE_COUNT][LANGUAGE_COUNT] = {
#define MESSAGE(id, english, chinese) [M_##id] = {[LANGUAGE_EN] = english, [LANGUAGE_ZH] = chinese},
#include "result/messages.def"
#undef MESSAGE
};

const char *message_pattern(enum language language, enum message message)
{
    return patterns[message][language];
}

const char *report_words(const struct report *report, enum message message)
{
    return message_pattern(report->language, message);
}

const char *report_phrase(const struct report *report, const char *english)
{
    return phrase_in(report->diags ? diags_phrases(report->diags) : NULL, report->language, english);
}

/* Bytes of the placeholder that begins at `text`, braces included; 0: none does. */
static size_t placeholder(const char *text)
{
    const char *end = *text == '{' ? strchr(text, '}') : NULL;
    return end ? (size_t)(end - text) + 1 : 0;
}

/* How many other placeholders the pattern names before this one first; SIZE_MAX: it does not name it. */
static size_t place_of(const char *pattern, const char *name, size_t length)
{
    const char *seen[16];
    size_t lengths[16], count = 0;
    for (const char *at = strchr(pattern, '{'); at && count < 16; at = strchr(at + 1, '{')) {
        size_t own = placeholder(at);
        bool known = own == 0;
        if (own == length && strncmp(at, name, length) == 0)
            return count;
        for (size_t i = 0; i < count && !known; i++)
            known = lengths[i] == own && strncmp(seen[i], at, own) == 0;
        if (known)
            continue;
        seen[count] = at;
        lengths[count++] = own;
    }
    return SIZE_MAX;
}

/* The tone that begins at `text`, as many bytes as its mark has; 0: none does. */
static size_t tone_mark(const char *text, enum tone outside, enum tone *tone)
{
    static const struct {
        const char *mark;
        enum tone tone;
    } marks[] = {{"<b>", TONE_STRONG}, {"<n>", TONE_NAME}, {"<g>", TONE_GOOD},
                 {"<r>", TONE_BAD},    {"<w>", TONE_WARN}, {"<m>", TONE_MUTED}};
    if (*text != '<')
        return 0;
    if (strncmp(text, "</>", 3) == 0) {
        *tone = outside;
        return 3;
    }
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (strncmp(text, marks[i].mark, 3) == 0) {
            *tone = marks[i].tone;
            return 3;
        }
    return 0;
}

/* ---- composing ------------------------------------------------------------------------------------ */

struct composition {
    struct arena *arena;
    struct rich_text *out; /* NULL: tones do not matter */
    struct buffer run;
    enum tone tone;
};

static void end_run(struct composition *composition)
{
    if (composition->run.length > 0)
        rich_add(composition->arena, composition->out, composition->tone, buffer_string(&composition->run));
    composition->run = buffer_in(composition->arena);
}

static void compose(struct composition *composition, enum language language, enum message message,
                    const char *const *arguments, size_t count)
{
    enum tone outside = composition->tone, tone = outside;
    for (const char *at = patterns[message][language]; *at;) {
        size_t mark = tone_mark(at, outside, &tone), named = placeholder(at);
        size_t index = named > 0 ? place_of(patterns[message][LANGUAGE_EN], at, named) : SIZE_MAX;
        if (mark > 0 && composition->out && tone != composition->tone) {
            end_run(composition);
            composition->tone = tone;
        }
        if (index < count)
            buffer_text(&composition->run, arguments[index]);
        else if (mark == 0)
            buffer_byte(&composition->run, *at);
        at += mark > 0 ? mark : index < count ? named : 1;
    }
}

const char *message_text(struct arena *arena, enum language language, enum message message,
                         const char *const *arguments, size_t count)
{
    struct composition composition = {.arena = arena, .run = buffer_in(arena)};
    compose(&composition, language, message, arguments, count);
    return buffer_string(&composition.run);
}

void message_rich(struct arena *arena, struct rich_text *out, enum tone tone, enum language language,
                  enum message message, const char *const *arguments, size_t count)
{
    struct composition composition = {.arena = arena, .out = out, .run = buffer_in(arena), .tone = tone};
    compose(&composition, language, message, arguments, count);
    end_run(&composition);
}
