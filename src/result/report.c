/* report.c: composing the text of a report. */
#include "result/report.h"

#include <stdarg.h>

#include "base/arena.h"

void rich_add(struct arena *arena, struct rich_text *text, enum tone tone, const char *run)
{
    if (run != NULL && run[0] != '\0')
        *VEC_PUSH(arena, text->runs) = (struct span_text){run, tone};
}

void rich_addf(struct arena *arena, struct rich_text *text, enum tone tone, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    rich_add(arena, text, tone, arena_vprintf(arena, format, arguments));
    va_end(arguments);
}
