/* options.c: the options, one row each, and how they are read. */
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "cli/cli.h"
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

/* Commands that write a report, and those that load a plan. */
enum {
    WRITES = COMMAND_REPORT | COMMAND_DIFF,
    READS_PLANS = WRITES | COMMAND_CHECK | COMMAND_EXPLAIN | COMMAND_CALIBRATE,
};

static const struct option_row {
    enum option_id id;
    char letter; /* 0: none */
    const char *name;
    const char *value; /* what the value is called, or NULL: takes none */
    unsigned commands; /* which commands it has an effect on */
    const char *doc;
} options[] = {
    {OPTION_OUTPUT, 'o', "output", "FILE", WRITES | COMMAND_IMPORT | COMMAND_CALIBRATE,
     "write the report to FILE, in the format of its suffix; may be repeated"},
    {OPTION_FORMAT, 'f', "format", "NAME", WRITES | COMMAND_EXPLAIN, "write the report in this format"},
    {OPTION_LANGUAGE, 0, "lang", "NAME", WRITES | COMMAND_EXPLAIN,
     "en or zh: the language of the report, whatever the plan says"},
    {OPTION_INCLUDE, 'I', "include", "DIR", COMMAND_ANY & ~COMMAND_IMPORT,
     "look for imports and for replacements of the standard library here"},
    {OPTION_SET, 0, "set", "NAME.ATTR=VALUE", READS_PLANS,
     "override an attribute of a declaration of the plan"},
    {OPTION_FAIL_IF, 0, "fail-if", "THRESHOLD", COMMAND_DIFF,
     "with diff: exit status 5 when it is exceeded: 'tpot>+5%', 'sweep chat.tpot>40ms'"},
    {OPTION_TAG, 0, "tag", "NAME", WRITES, "begin Markdown with a hidden line that a script can find it by"},
    {OPTION_MAX_BYTES, 0, "max-bytes", "N", WRITES, "leave out whole sections of longer Markdown (60000)"},
    {OPTION_DEPS, 0, "deps", "FILE", WRITES,
     "write a rule for make: the reports depend on every file that was read"},
    {OPTION_DIAGNOSTICS, 0, "diagnostics", "FORM", COMMAND_ANY,
     "text, json, sarif, github or gitlab: how errors, warnings and failures stand on standard error"},
    {OPTION_WERROR, 0, "werror", NULL, COMMAND_ANY, "treat warnings as errors"},
    {OPTION_COLOUR, 0, "color", "WHEN", COMMAND_ANY, "auto, always or never"},
    {OPTION_WIDTH, 0, "width", "COLUMNS", WRITES | COMMAND_EXPLAIN, "columns of the text report (60 to 400)"},
    {OPTION_MAX_ERRORS, 0, "max-errors", "N", COMMAND_ANY, "print at most N diagnostics; 0 prints all (20)"},
    {OPTION_LONG, 'l', "long", NULL, COMMAND_LIST, "with list: figures and sources too"},
    {OPTION_ASSUME_DENSE, 0, "assume-dense", NULL, COMMAND_IMPORT,
     "with import: read an unknown architecture as a plain decoder"},
    {OPTION_HELP, 'h', "help", NULL, COMMAND_ANY, "print this and exit"},
    {OPTION_VERSION, 0, "version", NULL, COMMAND_ANY, "print the version and exit"},
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

static bool set_colour(struct cli *cli, const char *value)
{
    static const char *const words[] = {
        [COLOUR_AUTO] = "auto", [COLOUR_ALWAYS] = "always", [COLOUR_NEVER] = "never"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i], value) == 0) {
            cli->colour = (enum colour_choice)i;
            return true;
        }
    cli_complain("--color takes auto, always or never, not `%s`", value);
    return false;
}

static bool set_diagnostics(struct cli *cli, const char *value)
{
    static const char *const words[] = {[DIAGNOSTICS_TEXT] = "text",
                                        [DIAGNOSTICS_JSON] = "json",
                                        [DIAGNOSTICS_SARIF] = "sarif",
                                        [DIAGNOSTICS_GITHUB] = "github",
                                        [DIAGNOSTICS_GITLAB] = "gitlab"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i], value) == 0) {
            cli->diagnostics = (enum diagnostics_form)i;
            return true;
        }
    cli_complain("--diagnostics takes text, json, sarif, github or gitlab, not `%s`", value);
    return false;
}

static bool set_language(struct cli *cli, const char *value)
{
    cli->language_given = language_find(value, &cli->language);
    if (!cli->language_given)
        cli_complain("--lang takes en or zh, not `%s`", value);
    return cli->language_given;
}

static bool set_format(struct cli *cli, const char *value)
{
    cli->format = value;
    if (backend_by_name(value))
        return true;
    size_t count;
    const struct backend *all = backends(&count);
    struct buffer names = buffer_in(cli->arena);
    for (size_t i = 0; i < count; i++)
        buffer_printf(&names, "%s%s", i ? ", " : "", all[i].name);
    cli_complain("there is no format `%s`; there are %s", value, buffer_string(&names));
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

/* Finds the option of `--name`, `--name=value`, `-x` or `-xvalue`; *value is what follows it, or NULL. */
static const struct option_row *match(const char *argument, const char **value)
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
        const struct option_row *option = match(argument, &value);
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
        if (!apply(cli, option->id, value))
            return false;
    }
    return true;
}

/* "`perfc PLAN` and `perfc diff`": the commands an option belongs to. */
static const char *command_names(struct arena *arena, unsigned commands)
{
    static const char *const names[] = {"`perfc PLAN`",     "`perfc check`", "`perfc list`",
                                        "`perfc explain`",  "`perfc diff`",  "`perfc import`",
                                        "`perfc calibrate`"};
    struct buffer text = buffer_in(arena);
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!(commands & (1u << i)))
            continue;
        bool last = !(commands >> (i + 1)) || i + 1 == sizeof names / sizeof names[0];
        buffer_printf(&text, "%s%s", !text.length ? "" : last ? " and " : ", ", names[i]);
    }
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

void help_write(struct buffer *out)
{
    buffer_text(
        out, "perfc: what hardware will do with a language model, worked out from a plan\n"
             "\n"
             "  perfc PLAN                  print the report as text\n"
             "  perfc PLAN -o report.html   write it, in the format of the suffix\n"
             "  perfc check PLAN            diagnostics and assertions only\n"
             "  perfc diff OLD NEW          what changed; each a plan or a saved .json report\n"
             "  perfc list WHAT [--long]    gpus, models, formats, engines, units, quantities, attributes\n"
             "  perfc explain CODE          what a diagnostic means: perfc explain E0207\n"
             "  perfc explain PLAN NAME     how a figure is made: perfc explain plan.perf chat.tpot\n"
             "  perfc import FILE           a model declaration from a config.json, .safetensors or .gguf\n"
             "  perfc calibrate PLAN        engines fitted to the plan's measurements, as declarations\n"
             "\n"
             "`-` as PLAN reads standard input.\n"
             "\n");
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        struct buffer name = buffer_in(out->arena);
        if (options[i].letter)
            buffer_printf(&name, "-%c, ", options[i].letter);
        else
            buffer_text(&name, "    ");
        buffer_printf(&name, "--%s%s%s", options[i].name, options[i].value ? " " : "",
                      options[i].value ? options[i].value : "");
        buffer_printf(out, "  %-28s  %s\n", buffer_string(&name), options[i].doc);
    }
    buffer_text(out, "\nFormats:\n");
    size_t count;
    const struct backend *all = backends(&count);
    for (size_t i = 0; i < count; i++)
        buffer_printf(out, "  %-10s %-7s %s\n", all[i].name, all[i].suffix, all[i].doc);
    buffer_text(
        out, "\n"
             "Exit status: 0 all is well, 1 the plan has errors, 2 bad usage, 3 a file could not be read or\n"
             "written, 5 an assertion failed or a threshold of a diff was exceeded.\n");
}
