/* pattern.h: lists of module names with wildcards, as quantisations exclude or include them. */
#ifndef PERFC_IMPORT_PATTERN_H
#define PERFC_IMPORT_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct patterns;

/* No patterns yet, for modules of `layers` layers; owned by the arena. patterns_free() must follow, as
 * regular expressions hold memory of their own. */
struct patterns *patterns_new(struct arena *arena, size_t layers);
void patterns_free(struct patterns *patterns);

/* Adds `text`: a name, a glob, or a regular expression after "re:". `value` is what a match gives. False when
 * the expression is of a kind that is not understood, or when there are too many that name no layer. */
bool patterns_add(struct patterns *patterns, const char *text, const void *value);

/* The value of the first pattern that names the module `name` ("layers.3.self_attn.q_proj", "lm_head") or a
 * module it is part of; NULL when none does. `layer` is its layer, or one past the last. */
const void *patterns_match(const struct patterns *patterns, size_t layer, const char *name);

/* The first layer, at `from` or behind, that says of some expert what it does not say of the first one;
 * SIZE_MAX when there is none. A module that nothing is said of has the value `usual`. */
size_t patterns_unlike_experts(const struct patterns *patterns, size_t from, const void *usual);

#endif
