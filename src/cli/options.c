/* options.c: the options, one row each, and how they are read. */
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "cli/command_line.h"
#include "source/suggest.h"

enum option_id {
    OPTION_OUTPUT,
    OPTION_FORMAT,
    OPTION_LANGUAGE,
    OPTION_INCLUDE,
    OPTION_SET,
    OPTION_FAIL_IF,
    OPTION_TAG,
    OPTION_MAX_BYTES,
    OPTION_DEPS,
    OPTION_DIAGNOSTICS,
    OPTION_WERROR,
    OPTION_COLOUR,
    OPTION_WIDTH,
    OPTION_MAX_ERRORS,
    OPTION_LONG,
    OPTION_ASSUME_DENSE,
    OPTION_HELP,
    OPTION_VERSION
};

/* Commands that write a report, those that load a plan, and those that can find something wrong with it or
 * with another file. */
enum {
    WRITES = COMMAND_REPORT | COMMAND_DIFF,
    READS_PLANS = WRITES | COMMAND_CHECK | COMMAND_EXPLAIN | COMMAND_CALIBRATE,
    DIAGNOSES = READS_PLANS | COMMAND_LIST | COMMAND_IMPORT,
};

static const struct option_row options[] = {
    {OPTION_OUTPUT, 'o', "output", "FILE", PLACE_FILE, WRITES | COMMAND_IMPORT | COMMAND_CALIBRATE,
     "write the report to FILE, in the format of its suffix; may be repeated"},
    {OPTION_FORMAT, 'f', "format", "NAME", PLACE_FORMAT, WRITES | COMMAND_EXPLAIN,
     "write the report in this format"},
    {OPTION_LANGUAGE, 0, "lang", "NAME", PLACE_LANGUAGE, WRITES | COMMAND_EXPLAIN,
     "en or zh: the language of the report, whatever the plan says"},
    {OPTION_INCLUDE, 'I', "include", "DIR", PLACE_DIRECTORY, DIAGNOSES & ~COMMAND_IMPORT,
     "look for imports and for replacements of the standard library here"},
    {OPTION_SET, 0, "set", "NAME.ATTR=VALUE", PLACE_SETTING, READS_PLANS,
     "override an attribute of a declaration of the plan"},
    {OPTION_FAIL_IF, 0, "fail-if", "THRESHOLD", PLACE_THRESHOLD, COMMAND_DIFF,
     "with diff: exit status 5 when it is exceeded: 'tpot>+5%', 'sweep chat.tpot>40ms'"},
    {OPTION_TAG, 0, "tag", "NAME", PLACE_TEXT, WRITES,
     "begin Markdown with a hidden line that a script can find it by"},
    {OPTION_MAX_BYTES, 0, "max-bytes", "N", PLACE_TEXT, WRITES,
     "leave out whole sections of longer Markdown (60000)"},
    {OPTION_DEPS, 0, "deps", "FILE", PLACE_FILE, WRITES,
     "write a rule for make: the reports depend on every file that was read"},
    {OPTION_DIAGNOSTICS, 0, "diagnostics", "FORM", PLACE_DIAGNOSTICS, DIAGNOSES,
     "text, json, sarif, github or gitlab: how errors, warnings and failures stand on standard error"},
    {OPTION_WERROR, 0, "werror", NULL, PLACE_NOTHING, DIAGNOSES, "treat warnings as errors"},
    {OPTION_COLOUR, 0, "color", "WHEN", PLACE_COLOUR, DIAGNOSES, "auto, always or never"},
    {OPTION_WIDTH, 0, "width", "COLUMNS", PLACE_TEXT, WRITES | COMMAND_EXPLAIN,
     "columns of the text report (60 to 400)"},
    {OPTION_MAX_ERRORS, 0, "max-errors", "N", PLACE_TEXT, DIAGNOSES,
     "print at most N diagnostics; 0 prints all (20)"},
    {OPTION_LONG, 'l', "long", NULL, PLACE_NOTHING, COMMAND_LIST, "with list: figures and sources too"},
    {OPTION_ASSUME_DENSE, 0, "assume-dense", NULL, PLACE_NOTHING, COMMAND_IMPORT,
     "with import: read an unknown architecture as a plain decoder"},
    {OPTION_HELP, 'h', "help", NULL, PLACE_NOTHING, COMMAND_ANY, "print this and exit"},
    {OPTION_VERSION, 0, "version", NULL, PLACE_NOTHING, COMMAND_ANY, "print the version and exit"},
};
enum { OPTION_COUNT = sizeof options / sizeof options[0] };

static bool parse_unsigned(const char *text, unsigned long least, unsigned long most, unsigned long *value)
{
    char *end;
    if (*text < '0' || *text > '9' || strlen(text) > 9)
        return false;
    *value = strtoul(text, &end, 10);
    return *end == '\0' && *value >= least && *value <= most;
}

/* Which of a place's words the value is; -1, after a message, for none. */
static int choose(struct cli *cli, const char *option, enum place place, const char *value)
{
    const char *const *words = command_line_words(cli->arena, place);
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], value) == 0)
            return i;
    cli_complain("--%s takes %s, not `%s`", option, command_line_choice(cli->arena, place), value);
    return -1;
}

static bool set_colour(struct cli *cli, const char *value)
{
    int choice = choose(cli, "color", PLACE_COLOUR, value);
    cli->colour = choice < 0 ? COLOUR_AUTO : (enum colour_choice)choice;
    return choice >= 0;
}

static bool set_diagnostics(struct cli *cli, const char *value)
{
    int choice = choose(cli, "diagnostics", PLACE_DIAGNOSTICS, value);
    cli->diagnostics = choice < 0 ? DIAGNOSTICS_TEXT : (enum diagnostics_form)choice;
    return choice >= 0;
}

static bool set_language(struct cli *cli, const char *value)
{
    int choice = choose(cli, "lang", PLACE_LANGUAGE, value);
    cli->language_given = choice >= 0;
    cli->language = choice < 0 ? LANGUAGE_EN : (enum language)choice;
    return choice >= 0;
}

static bool set_format(struct cli *cli, const char *value)
{
    cli->format = value;
    if (backend_by_name(value))
        return true;
    cli_complain("--format takes %s, not `%s`", command_line_choice(cli->arena, PLACE_FORMAT), value);
    return false;
}

/* It stands in an HTML comment, which `--` would end. */
static bool set_tag(struct cli *cli, const char *value)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/";
    size_t length = strlen(value);
    if (length == 0 || length > 64 || value[strspn(value, allowed)] || strstr(value, "--")) {
        cli_complain("--tag takes up to 64 letters, digits and `. _ - /` without `--`, not `%s`", value);
        return false;
    }
    cli->tag = value;
    return true;
}

static bool apply(struct cli *cli, enum option_id id, const char *value)
{
    unsigned long number = 0;
    switch (id) {
    case OPTION_OUTPUT: *VEC_PUSH(cli->arena, cli->outputs) = value; return true;
    case OPTION_FORMAT: return set_format(cli, value);
    case OPTION_LANGUAGE: return set_language(cli, value);
    case OPTION_INCLUDE: *VEC_PUSH(cli->arena, cli->include_dirs) = value; return true;
    case OPTION_SET: *VEC_PUSH(cli->arena, cli->overrides) = value; return true;
    case OPTION_FAIL_IF: *VEC_PUSH(cli->arena, cli->fail_if) = value; return true;
    case OPTION_DEPS: cli->deps = value; return true;
    case OPTION_DIAGNOSTICS: return set_diagnostics(cli, value);
    case OPTION_TAG: return set_tag(cli, value);
    case OPTION_MAX_BYTES:
        if (!parse_unsigned(value, 1000, 999999999, &number)) {
            cli_complain("--max-bytes takes a number of 1000 or more, not `%s`", value);
            return false;
        }
        cli->max_bytes = number;
        return true;
    case OPTION_WERROR: return cli->werror = true;
    case OPTION_COLOUR: return set_colour(cli, value);
    case OPTION_WIDTH:
        if (!parse_unsigned(value, 60, 400, &number)) {
            cli_complain("--width takes a number from 60 to 400, not `%s`", value);
            return false;
        }
        cli->width = (unsigned)number;
        return true;
    case OPTION_MAX_ERRORS:
        if (!parse_unsigned(value, 0, 999999999, &number)) {
            cli_complain("--max-errors takes a number, not `%s`", value);
            return false;
        }
        cli->max_errors = number;
        return true;
    case OPTION_LONG: return cli->long_list = true;
    case OPTION_ASSUME_DENSE: return cli->assume_dense = true;
    case OPTION_HELP: return cli->help = true;
    case OPTION_VERSION: return cli->version = true;
    }
    return false;
}

static bool unknown_option(const char *argument)
{
    struct suggestion suggestion = suggestion_for(argument + strspn(argument, "-"));
    for (size_t i = 0; i < OPTION_COUNT; i++)
        suggestion_consider(&suggestion, options[i].name);
    const char *near = suggestion_result(&suggestion);
    if (near)
        cli_complain("there is no option `%s`; did you mean `--%s`?", argument, near);
    else
        cli_complain("there is no option `%s`; `perfc --help` prints them", argument);
    return false;
}

const struct option_row *option_rows(size_t *count)
{
    *count = OPTION_COUNT;
    return options;
}

const struct option_row *option_match(const char *argument, const char **value)
{
    *value = NULL;
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        size_t length = strlen(options[i].name);
        if (argument[1] == '-' && strncmp(argument + 2, options[i].name, length) == 0 &&
            (argument[2 + length] == '\0' || argument[2 + length] == '=')) {
            if (argument[2 + length])
                *value = argument + 3 + length;
            return &options[i];
        }
        if (argument[1] != '-' && options[i].letter && argument[1] == options[i].letter) {
            if (argument[2])
                *value = argument + 2;
            return &options[i];
        }
    }
    return NULL;
}

bool cli_parse(struct cli *cli, int count, char *const *arguments)
{
    for (int i = 0; i < count; i++) {
        const char *argument = arguments[i], *value;
        if (argument[0] != '-' || argument[1] == '\0') {
            *VEC_PUSH(cli->arena, cli->operands) = argument;
            continue;
        }
        if (strcmp(argument, "--") == 0) {
            while (++i < count)
                *VEC_PUSH(cli->arena, cli->operands) = arguments[i];
            break;
        }
        const struct option_row *option = option_match(argument, &value);
        if (!option)
            return unknown_option(argument);
        if (value && !option->value) {
            cli_complain("`--%s` takes no value", option->name);
            return false;
        }
        if (!value && option->value) {
            if (++i == count) {
                cli_complain("`%s` needs a value: %s", argument, option->value);
                return false;
            }
            value = arguments[i];
        }
        cli->used |= 1ul << option->id;
        if (!apply(cli, (enum option_id)option->id, value))
            return false;
    }
    return true;
}

/* "`perfc PLAN` and `perfc diff`": the commands an option belongs to. */
static const char *command_names(struct arena *arena, unsigned commands)
{
    size_t count, last = 0;
    const struct command_row *rows = command_rows(&count);
    struct buffer text = buffer_in(arena);
    for (size_t i = 0; i < count; i++)
        if (rows[i].run && (commands & (unsigned)rows[i].id))
            last = i;
    for (size_t i = 0; i <= last; i++)
        if (rows[i].run && (commands & (unsigned)rows[i].id))
            buffer_printf(&text, "%s`perfc %s`",
                          !text.length ? ""
                          : i == last  ? " and "
                                       : ", ",
                          *rows[i].name ? rows[i].name : "PLAN");
    return buffer_string(&text);
}

bool options_belong(const struct cli *cli, enum command_id command)
{
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if ((cli->used & (1ul << options[i].id)) && !(options[i].commands & (unsigned)command)) {
            cli_complain("--%s belongs to %s", options[i].name,
                         command_names(cli->arena, options[i].commands));
            return false;
        }
    return true;
}
