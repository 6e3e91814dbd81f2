/* commands.c: the commands, one row each. */
#include <string.h>

#include "backend/backend.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "cli/command_line.h"

static const struct command_row rows[] = {
    {"",
     COMMAND_REPORT,
     command_report,
     {{"PLAN", "print the report as text"}, {"PLAN -o report.html", "write it, in the format of the suffix"}},
     {PLACE_PLAN_OR_COMMAND}},
    {"check", COMMAND_CHECK, command_check, {{"PLAN", "diagnostics and assertions only"}}, {PLACE_FILE}},
    {"diff",
     COMMAND_DIFF,
     command_diff,
     {{"OLD NEW", "what changed; each a plan or a saved .json report"}},
     {PLACE_FILE, PLACE_FILE}},
    {"list",
     COMMAND_LIST,
     command_list,
     {{"WHAT [--long]", "gpus, models, formats, engines, units, quantities, attributes"}},
     {PLACE_LIST}},
    {"explain",
     COMMAND_EXPLAIN,
     command_explain,
     {{"CODE", "what a diagnostic means: perfc explain E0207"},
      {"PLAN NAME", "how a figure is made: perfc explain plan.perf chat.tpot"}},
     {PLACE_PLAN_OR_CODE, PLACE_FIGURE}},
    {"import",
     COMMAND_IMPORT,
     command_import,
     {{"FILE", "a model declaration from a config.json, .safetensors or .gguf"}},
     {PLACE_FILE}},
    {"calibrate",
     COMMAND_CALIBRATE,
     command_calibrate,
     {{"PLAN", "engines fitted to the plan's measurements, as declarations"}},
     {PLACE_FILE}},
    {"completion",
     COMMAND_COMPLETION,
     command_completion,
     {{"SHELL", "a script that completes these words in bash, zsh or fish"}},
     {PLACE_SHELL}},
    {"help", COMMAND_HELP, command_help, {{"[COMMAND]", "what a command takes"}}, {PLACE_COMMAND}},
    {.name = "fmt", .id = COMMAND_ANY},
    {.name = "lsp", .id = COMMAND_ANY},
};
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

const struct command_row *command_rows(size_t *count)
{
    *count = ROW_COUNT;
    return rows;
}

const struct command_row *command_find(const char *name)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

/* ---- words of places -------------------------------------------------------------------------------- */

struct words {
    VEC(const char *) list;
};

static const char *const *languages(struct arena *arena)
{
    struct words words = {0};
    for (int i = 0; i < LANGUAGE_COUNT; i++)
        *VEC_PUSH(arena, words.list) = language_name((enum language)i);
    *VEC_PUSH(arena, words.list) = NULL;
    return words.list.items;
}

static const char *const *formats(struct arena *arena)
{
    struct words words = {0};
    size_t count;
    const struct backend *all = backends(&count);
    for (size_t i = 0; i < count; i++)
        *VEC_PUSH(arena, words.list) = all[i].name;
    *VEC_PUSH(arena, words.list) = NULL;
    return words.list.items;
}

static const char *const *command_names(struct arena *arena)
{
    struct words words = {0};
    for (size_t i = 1; i < ROW_COUNT; i++)
        if (rows[i].run)
            *VEC_PUSH(arena, words.list) = rows[i].name;
    *VEC_PUSH(arena, words.list) = NULL;
    return words.list.items;
}

const char *const *command_line_words(struct arena *arena, enum place place)
{
    static const char *const colours[] = {
        [COLOUR_AUTO] = "auto", [COLOUR_ALWAYS] = "always", [COLOUR_NEVER] = "never", NULL};
    static const char *const diagnostics[] = {
        [DIAGNOSTICS_TEXT] = "text",     [DIAGNOSTICS_JSON] = "json",     [DIAGNOSTICS_SARIF] = "sarif",
        [DIAGNOSTICS_GITHUB] = "github", [DIAGNOSTICS_GITLAB] = "gitlab", NULL};
    switch (place) {
    case PLACE_FORMAT: return formats(arena);
    case PLACE_LANGUAGE: return languages(arena);
    case PLACE_DIAGNOSTICS: return diagnostics;
    case PLACE_COLOUR: return colours;
    case PLACE_LIST: return list_names;
    case PLACE_SHELL: return shell_names;
    case PLACE_COMMAND: return command_names(arena);
    default: return NULL;
    }
}

const char *command_line_choice(struct arena *arena, enum place place)
{
    const char *const *words = command_line_words(arena, place);
    struct buffer text = buffer_in(arena);
    for (size_t i = 0; words && words[i]; i++)
        buffer_printf(&text, "%s%s", i == 0 ? "" : words[i + 1] ? ", " : " or ", words[i]);
    return buffer_string(&text);
}
