/* kin.h: "which of these": known names that have an unknown one as a part, as `h100-sxm` and `h100-pcie` have
 * `h100`, or that are a part of it, as `llama-3-70b` is of `llama-3-70b-instruct`. */
#ifndef PERFC_SOURCE_KIN_H
#define PERFC_SOURCE_KIN_H

#include "base/arena.h"

#include <stddef.h>

enum { KIN_MAX = 4 };

/* How a name is related, the nearest relation first: `4090` ends `rtx-4090`, and is within `rtx-4090-laptop`.
 */
enum kinship { KIN_END, KIN_WITHIN, KIN_VARIANT, KIN_AROUND, KIN_WITHOUT_MAKER, KIN_NONE };

struct kin {
    const char *word;
    enum kinship kinship;       /* of the names kept: only those of the nearest relation are */
    const char *names[KIN_MAX]; /* the first ones, in the order in which they were considered */
    size_t count;               /* of all of that relation, which may be more than are kept */
};

/* `word` and the names considered must live as long as the result. Case does not matter. */
struct kin kin_of(const char *word);
void kin_consider(struct kin *kin, const char *name);
/* "`a`, `b` or `c`", "`a`, `b`, `c`, `d` and 3 more"; NULL when there is none. */
const char *kin_text(const struct kin *kin, struct arena *arena);

#endif
