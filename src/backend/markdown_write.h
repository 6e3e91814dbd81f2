/* markdown_write.h: what the files of the Markdown backend share: text, and the drawing of each kind of
 * block. */
#ifndef PERFC_BACKEND_MARKDOWN_WRITE_H
#define PERFC_BACKEND_MARKDOWN_WRITE_H

#include "base/buffer.h"
#include "result/message.h"
#include "result/report.h"

struct markdown_writer {
    struct arena *arena;
    struct buffer *out;
    enum language language;
};

/* A text of messages.def in the report's language. */
static inline const char *md_words(const struct markdown_writer *writer, enum message message)
{
    return message_pattern(writer->language, message);
}

#define MD_WORDS(writer, message, ...) MESSAGE_TEXT((writer)->arena, (writer)->language, message, __VA_ARGS__)

/* Markup as it is, and text escaped. */
void md_put(struct markdown_writer *writer, const char *markup);
void md_text(struct markdown_writer *writer, const char *text);

/* `begins` as in markdown_escape(); `strong` allows emphasis. */
void md_rich(struct markdown_writer *writer, const struct rich_text *text, bool begins, bool strong);

/* A block, and the one above it or NULL. */
void md_block(struct markdown_writer *writer, const struct report_block *block,
              const struct report_block *above);

#endif
