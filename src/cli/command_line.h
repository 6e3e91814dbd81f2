/* command_line.h: the tables of commands and options. They drive parsing, --help, completion and the test of
 * the manual page. */
#ifndef PERFC_CLI_COMMAND_LINE_H
#define PERFC_CLI_COMMAND_LINE_H

#include "cli/cli.h"

/* What may stand in a place of the command line. */
enum place {
    PLACE_NOTHING,
    PLACE_TEXT, /* a number or a name that nobody knows beforehand */
    PLACE_FILE,
    PLACE_DIRECTORY,
    PLACE_COMMAND,
    PLACE_PLAN_OR_COMMAND,
    PLACE_PLAN_OR_CODE,
    PLACE_FIGURE,
    PLACE_SETTING,
    PLACE_THRESHOLD,
    /* One of a few words: command_line_words(). */
    PLACE_FORMAT,
    PLACE_LANGUAGE,
    PLACE_DIAGNOSTICS,
    PLACE_COLOUR,
    PLACE_LIST,
    PLACE_SHELL
};

/* The words of a place, ended by NULL; NULL for places of other kinds. They live in `arena` or for ever. */
const char *const *command_line_words(struct arena *arena, enum place place);

/* "en or zh", "auto, always or never": the words of a place as a sentence has them. */
const char *command_line_choice(struct arena *arena, enum place place);

/* ---- commands (commands.c) ---- */

struct command_row {
    const char *name; /* "" for `perfc PLAN` */
    enum command_id id;
    enum exit_status (*run)(struct cli *cli); /* NULL: not in this version, and told to nobody */
    struct {
        const char *operands, *summary; /* as --help prints them; NULL past the last */
    } forms[2];
    enum place operands[2]; /* the last goes on for later ones unless it is PLACE_NOTHING */
};

const struct command_row *command_rows(size_t *count);

/* NULL: there is none of that name. The empty name is `perfc PLAN`. */
const struct command_row *command_find(const char *name);

/* ---- options (options.c) ---- */

struct option_row {
    int id;
    char letter; /* 0: none */
    const char *name;
    const char *value; /* what the value is called, or NULL: takes none */
    enum place place;  /* of the value */
    unsigned commands; /* which commands it has an effect on */
    const char *doc;
};

const struct option_row *option_rows(size_t *count);

/* The option of `--name`, `--name=value`, `-x` or `-xvalue`; *value is what follows it, or NULL. NULL when it
 * is none. */
const struct option_row *option_match(const char *argument, const char **value);

/* ---- lists (command_list.c) ---- */

/* What `perfc list` lists, ended by NULL. */
extern const char *const list_names[];

/* ---- shells (command_completion.c) ---- */

/* Shells that have a script, ended by NULL. */
extern const char *const shell_names[];

#endif
