/* completion_scripts.h: completion.bash, completion.zsh and completion.fish, embedded by scripts/embed. */
#ifndef PERFC_CLI_COMPLETION_SCRIPTS_H
#define PERFC_CLI_COMPLETION_SCRIPTS_H

#include <stddef.h>

extern const char completion_bash[];
extern const size_t completion_bash_length;
extern const char completion_zsh[];
extern const size_t completion_zsh_length;
extern const char completion_fish[];
extern const size_t completion_fish_length;

#endif
