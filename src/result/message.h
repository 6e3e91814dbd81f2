/* message.h: what reports say, in every language they speak.
 *
 * messages.def has one row for each text, a column for each language, so that no text can exist in one
 * language only. A row is a whole sentence (or a heading, or a label), never a piece that another is glued
 * to: languages order their words differently. What varies stands in braces, and a part in a tone of its own
 * between <b> (strong), <n> (a name of the plan), <g> (good), <r> (bad), <w> (a warning) or <m> (muted) and
 * </>:
 *
 *     MESSAGE(ALL_FIT, "All {count} scenarios fit", "{count} 个场景全部放得下")
 *
 * Arguments are texts, in the order in which the English column names them first. */
#ifndef PERFC_RESULT_MESSAGE_H
#define PERFC_RESULT_MESSAGE_H

#include <stddef.h>

#include "base/language.h"
#include "result/report.h"

enum message {
#define MESSAGE(id, english, chinese) M_##id,
#include "result/messages.def"
#undef MESSAGE
    MESSAGE_COUNT
};

/* The row's text as it stands in the table; complete when it has no placeholders. */
const char *message_pattern(enum language language, enum message message);

/* The text with its arguments in place, tones dropped. A placeholder without an argument stays visible. */
const char *message_text(struct arena *arena, enum language language, enum message message,
                         const char *const *arguments, size_t count);

/* Adds the text to `out`, in `tone` where the row sets no other. */
void message_rich(struct arena *arena, struct rich_text *out, enum tone tone, enum language language,
                  enum message message, const char *const *arguments, size_t count);

/* A text without placeholders in a report's language, and one that is data. */
const char *report_words(const struct report *report, enum message message);
const char *report_phrase(const struct report *report, const char *english);

/* Texts as the last two parameters of these. */
#define MESSAGE_ARGUMENTS(...)                                                                               \
    (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *)

#define MESSAGE_TEXT(arena, language, message, ...)                                                          \
    message_text(arena, language, message, MESSAGE_ARGUMENTS(__VA_ARGS__))
#define MESSAGE_RICH(arena, out, tone, language, message, ...)                                               \
    message_rich(arena, out, tone, language, message, MESSAGE_ARGUMENTS(__VA_ARGS__))
#define REPORT_WORDS(arena, report, message, ...)                                                            \
    MESSAGE_TEXT(arena, (report)->language, message, __VA_ARGS__)

#endif
