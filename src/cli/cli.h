/* cli.h: the command line: options, exit status, and what the commands share. Only this directory
 * prints and exits. */
#ifndef PERFC_CLI_CLI_H
#define PERFC_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "base/language.h"
#include "base/vec.h"
#include "source/diag_render.h"

struct arena;
struct buffer;
struct check;
struct command_row;
struct diags;
struct evaluator;
struct plan;
struct report;
struct report_assertion;
struct sources;

enum exit_status {
    EXIT_FINE = 0,
    EXIT_PLAN = 1, /* the plan has errors */
    EXIT_USAGE = 2,
    EXIT_FILE = 3,      /* a file could not be read or written */
    EXIT_FORMAT = 4,    /* `fmt --check` found a difference */
    EXIT_ASSERTION = 5, /* an assertion failed, or a threshold of a diff was exceeded */
};

enum diagnostics_form {
    DIAGNOSTICS_TEXT,
    DIAGNOSTICS_JSON,
    DIAGNOSTICS_SARIF,
    DIAGNOSTICS_GITHUB,
    DIAGNOSTICS_GITLAB
};

enum colour_choice { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

struct cli {
    struct arena *arena;
    VEC(const char *) operands;
    VEC(const char *) outputs;      /* -o */
    VEC(const char *) include_dirs; /* -I */
    VEC(const char *) overrides;    /* --set */
    VEC(const char *) fail_if;      /* --fail-if */
    const char *tag;                /* --tag, or NULL */
    size_t max_bytes;               /* --max-bytes; 0: as the format has it */
    const char *format;             /* -f, or NULL */
    enum colour_choice colour;
    enum diagnostics_form diagnostics;
    bool language_given; /* --lang; else the plan says */
    enum language language;
    const char *deps;   /* --deps, or NULL */
    unsigned width;     /* 0: of the terminal, else 80 */
    size_t max_errors;  /* 0: all */
    unsigned long used; /* a bit for each option that was given, for options_belong() */
    bool werror, long_list, assume_dense, help, version;
};

/* What is to be done; options say which of these they have an effect on. */
enum command_id {
    COMMAND_REPORT = 1 << 0, /* `perfc PLAN` */
    COMMAND_CHECK = 1 << 1,
    COMMAND_LIST = 1 << 2,
    COMMAND_EXPLAIN = 1 << 3,
    COMMAND_DIFF = 1 << 4,
    COMMAND_IMPORT = 1 << 5,
    COMMAND_CALIBRATE = 1 << 6,
    COMMAND_COMPLETION = 1 << 7,
    COMMAND_HELP = 1 << 8,
    COMMAND_ANY = ~0u >> 1,
};

/* Reads the arguments. False, after a message, when they are no good. */
bool cli_parse(struct cli *cli, int count, char *const *arguments);

/* Whether every option that was given has an effect on `command`. False, after a message, when one has
 * none: an option that does nothing would promise what nobody does. */
bool options_belong(const struct cli *cli, enum command_id command);

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
    VEC(struct diag_failure) failures; /* what does not hold, for the forms of diagnostics that tell it */
};

/* Loads the plan. EXIT_FILE, after a message, when it cannot be read. */
enum exit_status session_load(struct session *session, struct cli *cli, const char *path);

/* Loads, checks and evaluates the plan; its diagnostics wait for session_diagnose(). EXIT_FILE, after a
 * message, when it cannot be read. */
enum exit_status session_open(struct session *session, struct cli *cli, const char *path);

/* Prints the diagnostics added since the last call; EXIT_PLAN when there are errors. */
enum exit_status session_diagnose(struct session *session);

/* Remembers what does not hold, for session_diagnose(); `check` is its statement, or NULL. */
void session_fail(struct session *session, const char *rule, const struct check *check,
                  const struct report_assertion *assertion);

/* Remembers the plan's assertions that do not hold. */
void session_fail_assertions(struct session *session, const struct report *report);

/* Whether text written to this descriptor should be coloured. */
bool session_colour(const struct cli *cli, int descriptor);

/* ---- output.c ---- */

/* Whether the name of an output means standard output: `-`. */
bool output_is_standard(const char *path);

/* Writes all of `text` to standard output. EXIT_FILE, after a message, when it cannot. */
enum exit_status output_standard(const struct buffer *text);

/* To standard error; in ASCII on a terminal that knows no UTF-8. */
void output_error(struct arena *arena, const char *text);

/* Writes to standard output when `path` is `-`; else a file, whole or not at all (a temporary file beside it,
 * then rename), but devices and pipes directly. EXIT_FILE, after a message, when it cannot. */
enum exit_status output_write(struct arena *arena, const char *path, const struct buffer *text);

/* The file that was read and that `path` names, too; NULL when there is none. */
const char *output_is_input(const struct sources *sources, const char *path);

/* ---- report_output.c ---- */

/* Every output has a format (of those that can show a comparison, when it is one) and a file of its own;
 * known before anything is computed or written. Without -o there is standard output. */
enum exit_status outputs_check(struct cli *cli, bool comparing);

/* A plan must not be overwritten by its own report. */
enum exit_status outputs_protect(const struct cli *cli, const struct sources *sources);

/* Whether the environment says that the terminal shows UTF-8. */
bool output_utf8(void);

/* Whether some output lists all quantities. */
bool outputs_need_quantities(const struct cli *cli);

/* Writes the rule for make of --deps: the outputs depend on every file that was read. */
enum exit_status outputs_write_deps(const struct cli *cli, const struct sources *const *sources,
                                    size_t count);

/* Writes the report to every output. */
enum exit_status outputs_write(const struct cli *cli, const struct report *report);

/* ---- commands ---- */

enum exit_status command_report(struct cli *cli);
enum exit_status command_check(struct cli *cli);
enum exit_status command_diff(struct cli *cli);
enum exit_status command_list(struct cli *cli);
enum exit_status command_explain(struct cli *cli);
enum exit_status command_import(struct cli *cli);
enum exit_status command_calibrate(struct cli *cli);
enum exit_status command_completion(struct cli *cli);
enum exit_status command_help(struct cli *cli);

/* ---- help.c ---- */

/* Prints what --help prints: of one command, or of all for NULL and for `perfc PLAN`. */
enum exit_status help_print(struct cli *cli, const struct command_row *row);

/* Whether `name` is nearly that of a command; then a message asks whether that was meant. */
bool help_suggest(struct cli *cli, const char *name);

#endif
