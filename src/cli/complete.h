/* complete.h: what may stand next on a command line. */
#ifndef PERFC_CLI_COMPLETE_H
#define PERFC_CLI_COMPLETE_H

#include <stddef.h>

struct buffer;
struct cli;

/* Appends a line for each word that may stand in place of the last one, which may be empty: the word, a tab
 * and what it means (or the word alone). Lines that begin with `:` are for the shell's script: `:files` and
 * `:directories` also fit, after the others `:nospace` tells that no blank follows. `count` is 1 or more. */
void complete_words(struct cli *cli, const char *const *words, size_t count, struct buffer *out);

#endif
