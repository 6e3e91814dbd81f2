/* name.h: names as a plan writes them. */
#ifndef PERFC_RESULT_NAME_H
#define PERFC_RESULT_NAME_H

struct arena;

/* The name as it stands in an expression: quoted when it is not of the form of a plain name. */
const char *name_text(struct arena *arena, const char *name);

/* "chat.tpot", `"Qwen/Qwen3-32B".params`. */
const char *quantity_full_name(struct arena *arena, const char *declaration, const char *quantity);

#endif
