/* suggest.h: "did you mean". */
#ifndef PERFC_SOURCE_SUGGEST_H
#define PERFC_SOURCE_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

/* The candidate nearest to `word` by optimal string alignment distance (case differences count
 * little), or NULL when none is near enough to be worth offering. The first of equals wins. */
struct suggestion {
    const char *word;
    const char *best;
    size_t best_distance; /* in tenths of an edit */
};

struct suggestion suggestion_for(const char *word);
void suggestion_consider(struct suggestion *suggestion, const char *candidate);
const char *suggestion_result(const struct suggestion *suggestion);
/* Whether the best differs in case and separators only. */
bool suggestion_is_slip(const struct suggestion *suggestion);

#endif
