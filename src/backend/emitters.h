/* emitters.h: the emit functions that backend.c lists, one per file. Nothing else includes this but those
 * files. */
#ifndef PERFC_BACKEND_EMITTERS_H
#define PERFC_BACKEND_EMITTERS_H

#include <stdbool.h>

#include "backend/backend.h"

bool text_emit(struct arena *arena, const struct report *report, struct backend_options options,
               struct buffer *out);
bool markdown_emit(struct arena *arena, const struct report *report, struct backend_options options,
                   struct buffer *out);
bool html_emit(struct arena *arena, const struct report *report, struct backend_options options,
               struct buffer *out);
bool json_emit(struct arena *arena, const struct report *report, struct backend_options options,
               struct buffer *out);
/* A comparison as JSON; json_emit() calls it. */
bool json_diff_emit(struct arena *arena, const struct report *report, struct backend_options options,
                    struct buffer *out);
bool junit_emit(struct arena *arena, const struct report *report, struct backend_options options,
                struct buffer *out);
bool csv_emit(struct arena *arena, const struct report *report, struct backend_options options,
              struct buffer *out);

#endif
