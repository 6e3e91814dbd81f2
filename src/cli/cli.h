/* cli.h: the command line: options, exit status, and what the commands share. Only this directory
 * prints and exits. */
#ifndef PERFC_CLI_CLI_H
#define PERFC_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"

struct arena;
struct buffer;
struct diags;
struct evaluator;
struct plan;
struct sources;

enum exit_status {
    EXIT_FINE = 0,
    EXIT_PLAN = 1, /* the plan has errors */
    EXIT_USAGE = 2,
    EXIT_FILE = 3,      /* a file could not be read or written */
    EXIT_FORMAT = 4,    /* `fmt --check` found a difference */
    EXIT_ASSERTION = 5, /* an assertion failed */
};

enum colour_choice { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

struct cli {
    struct arena *arena;
    VEC(const char *) operands;
    VEC(const char *) outputs;      /* -o */
    VEC(const char *) include_dirs; /* -I */
    VEC(const char *) overrides;    /* --set */
    const char *format;             /* -f, or NULL */
    enum colour_choice colour;
    unsigned width;    /* 0: of the terminal, else 80 */
    size_t max_errors; /* 0: all */
    bool werror, long_list, assume_dense, help, version;
};

/* Reads the arguments after the command's name. False, after a message, when they are no good. */
bool cli_parse(struct cli *cli, int count, char *const *arguments);

/* "perfc: " and the message and a newline, on standard error. */
void cli_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- session.c ---- */

/* One plan, loaded, checked and evaluated. */
struct session {
    struct cli *cli;
    struct sources *sources;
    struct diags *diags;
    struct plan *plan;
    struct evaluator *evaluator;
};

/* Loads and evaluates the plan and prints its diagnostics. EXIT_FINE when a report can be made. */
enum exit_status session_open(struct session *session, struct cli *cli, const char *path);

/* Prints the diagnostics added since the last call; EXIT_PLAN when there are errors. */
enum exit_status session_diagnose(struct session *session);

/* Whether text written to this descriptor should be coloured. */
bool session_colour(const struct cli *cli, int descriptor);

/* ---- output.c ---- */

/* Writes all of `text` to standard output. EXIT_FILE, after a message, when it cannot. */
enum exit_status output_standard(const struct buffer *text);

/* Writes a file whole or not at all (a temporary file beside it, then rename); devices and pipes
 * directly. EXIT_FILE, after a message, when it cannot. */
enum exit_status output_file(struct arena *arena, const char *path, const struct buffer *text);

/* The file that was read and that `path` names, too; NULL when there is none. */
const char *output_is_input(const struct sources *sources, const char *path);

/* ---- commands ---- */

enum exit_status command_report(struct cli *cli);
enum exit_status command_check(struct cli *cli);
enum exit_status command_list(struct cli *cli);
enum exit_status command_explain(struct cli *cli);
enum exit_status command_import(struct cli *cli);

/* The text of --help, and of what a bad command line is answered with. */
void help_write(struct buffer *out);

#endif
