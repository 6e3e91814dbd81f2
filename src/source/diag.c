/* diag.c: the list of diagnostics of one compilation, and the table of their codes. */
#include "source/diag.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/vec.h"
#include "source/phrase.h"

static const struct diag_info table[] = {
#define DIAG(code, slug, severity, title, paragraph) {#code, slug, DIAG_##severity, title, paragraph},
#include "source/diag.def"
#undef DIAG
};

/* The order keeps equal places as they were reported. */
struct entry {
    struct diag *diag;
    size_t order;
};

struct diags {
    struct arena *arena;
    struct phrases *phrases;
    VEC(struct entry) list;
    size_t errors, warnings;
};

struct diags *diags_new(struct arena *arena)
{
    struct diags *diags = ARENA_NEW(arena, struct diags);
    diags->arena = arena;
    diags->phrases = phrases_new(arena);
    return diags;
}

static void count(struct diags *diags, const struct diag *diag)
{
    if (table[diag->code].severity == DIAG_ERROR)
        diags->errors++;
    else
        diags->warnings++;
}

struct diag *diag_add(struct diags *diags, enum diag_code code, struct span span, const char *format, ...)
{
    struct diag *diag = ARENA_NEW(diags->arena, struct diag);
    va_list arguments;
    va_start(arguments, format);
    diag->message = phrases_compose(diags->phrases, format, arguments);
    va_end(arguments);
    diag->code = code;
    diag->span = span;
    *VEC_PUSH(diags->arena, diags->list) = (struct entry){diag, diags->list.count};
    count(diags, diag);
    return diag;
}

struct diag *diag_label(struct diags *diags, struct diag *diag, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    diag->label = arena_vprintf(diags->arena, format, arguments);
    va_end(arguments);
    return diag;
}

static struct diag *add_note(struct diags *diags, struct diag *diag, struct span span,
                             const char *replacement, const char *format, va_list arguments)
{
    struct diag_note *note = ARENA_NEW(diags->arena, struct diag_note);
    note->span = span;
    note->text = phrases_compose(diags->phrases, format, arguments);
    if (replacement != NULL)
        note->replacement = arena_strdup(diags->arena, replacement);
    if (diag->last_note == NULL)
        diag->notes = note;
    else
        diag->last_note->next = note;
    diag->last_note = note;
    return diag;
}

struct diag *diag_note_at(struct diags *diags, struct diag *diag, struct span span, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_note(diags, diag, span, NULL, format, arguments);
    va_end(arguments);
    return diag;
}

struct diag *diag_note(struct diags *diags, struct diag *diag, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_note(diags, diag, (struct span){0, 0, 0}, NULL, format, arguments);
    va_end(arguments);
    return diag;
}

struct diag *diag_fix(struct diags *diags, struct diag *diag, struct span span, const char *replacement,
                      const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_note(diags, diag, span, replacement, format, arguments);
    va_end(arguments);
    return diag;
}

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static int by_place(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    int order = COMPARE(a->diag->span.file, b->diag->span.file);
    if (order == 0)
        order = COMPARE(a->diag->span.start, b->diag->span.start);
    return order != 0 ? order : COMPARE(a->order, b->order);
}

static bool same(const struct diag *a, const struct diag *b)
{
    return a->code == b->code && a->span.file == b->span.file && a->span.start == b->span.start &&
           a->span.end == b->span.end && strcmp(a->message, b->message) == 0;
}

/* Whether one of the kept diagnostics of the same place says the same. */
static bool repeated(const struct diags *diags, size_t kept, const struct diag *diag)
{
    for (size_t i = kept; i-- > 0;) {
        const struct diag *other = diags->list.items[i].diag;
        if (other->span.file != diag->span.file || other->span.start != diag->span.start)
            return false;
        if (same(other, diag))
            return true;
    }
    return false;
}

void diags_sort(struct diags *diags)
{
    if (diags->list.count == 0)
        return;
    qsort(diags->list.items, diags->list.count, sizeof *diags->list.items, by_place);
    size_t kept = 0;
    diags->errors = diags->warnings = 0;
    for (size_t i = 0; i < diags->list.count; i++) {
        struct diag *diag = diags->list.items[i].diag;
        if (repeated(diags, kept, diag))
            continue;
        count(diags, diag);
        diags->list.items[kept] = (struct entry){diag, kept};
        kept++;
    }
    diags->list.count = kept;
}

struct phrases *diags_phrases(const struct diags *diags)
{
    return diags->phrases;
}

size_t diags_count(const struct diags *diags)
{
    return diags->list.count;
}

const struct diag *diags_get(const struct diags *diags, size_t index)
{
    return diags->list.items[index].diag;
}

void diags_forget_after(struct diags *diags, size_t count)
{
    while (diags->list.count > count) {
        const struct diag *diag = diags->list.items[--diags->list.count].diag;
        if (diag_info(diag->code)->severity == DIAG_ERROR)
            diags->errors--;
        else
            diags->warnings--;
    }
}

size_t diags_errors(const struct diags *diags)
{
    return diags->errors;
}

size_t diags_warnings(const struct diags *diags)
{
    return diags->warnings;
}

const struct diag_info *diag_info(enum diag_code code)
{
    return &table[code];
}

const struct diag_info *diag_info_find(const char *code_or_slug)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcasecmp(table[i].code, code_or_slug) == 0 || strcmp(table[i].slug, code_or_slug) == 0)
            return &table[i];
    return NULL;
}
