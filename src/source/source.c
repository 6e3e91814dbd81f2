/* source.c: the files of one compilation and their line tables. */
#include "source/source.h"

#include <string.h>

#include "base/utf8.h"
#include "base/vec.h"

struct sources {
    struct arena *arena;
    VEC(struct source *) files;
};

struct sources *sources_new(struct arena *arena)
{
    struct sources *sources = ARENA_NEW(arena, struct sources);
    sources->arena = arena;
    return sources;
}

static const char *next_line(const char *at, const char *end)
{
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    return newline == NULL ? NULL : newline + 1;
}

static void find_lines(struct arena *arena, struct source *source)
{
    const char *end = source->text + source->length;
    source->line_count = 1;
    for (const char *at = source->text; (at = next_line(at, end)) != NULL;)
        source->line_count++;
    source->lines = ARENA_ARRAY(arena, uint32_t, source->line_count);
    size_t line = 1;
    for (const char *at = source->text; (at = next_line(at, end)) != NULL; line++)
        source->lines[line] = (uint32_t)(at - source->text);
}

uint32_t sources_add(struct sources *sources, const char *path, const char *text, size_t length,
                     bool embedded)
{
    struct source *source = ARENA_NEW(sources->arena, struct source);
    *source = (struct source){.path = path, .text = text, .length = length, .embedded = embedded};
    find_lines(sources->arena, source);
    *VEC_PUSH(sources->arena, sources->files) = source;
    return (uint32_t)(sources->files.count - 1);
}

uint32_t sources_add_data(struct sources *sources, const char *path, const char *text, size_t length)
{
    uint32_t file = sources_add(sources, path, text, length, false);
    sources->files.items[file]->data = true;
    return file;
}

const struct source *sources_get(const struct sources *sources, uint32_t file)
{
    return sources->files.items[file];
}

size_t sources_count(const struct sources *sources)
{
    return sources->files.count;
}

/* Index of the last line that begins at or before the offset. */
static size_t line_index(const struct source *source, uint32_t offset)
{
    size_t low = 0, high = source->line_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (source->lines[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void source_position(const struct source *source, uint32_t offset, unsigned *line, unsigned *column)
{
    if (offset > source->length)
        offset = (uint32_t)source->length;
    size_t index = line_index(source, offset);
    uint32_t start = source->lines[index];
    *line = (unsigned)index + 1;
    *column = (unsigned)utf8_count(source->text + start, offset - start) + 1;
}

const char *source_line(const struct source *source, unsigned line, size_t *length)
{
    if (line < 1 || line > source->line_count) {
        *length = 0;
        return "";
    }
    size_t start = source->lines[line - 1];
    size_t end = line < source->line_count ? source->lines[line] - 1 : source->length;
    if (end > start && source->text[end - 1] == '\r')
        end--;
    *length = end - start;
    return source->text + start;
}

struct span span_join(struct span first, struct span last)
{
    return (struct span){
        .file = first.file,
        .start = first.start < last.start ? first.start : last.start,
        .end = first.end > last.end ? first.end : last.end,
    };
}
