/* backend.c: the table of backends. A new one is a row here, a line in emitters.h and its file. */
#include "backend/backend.h"

#include <string.h>

#include "backend/emitters.h"

static const struct backend table[] = {
    {"text", ".txt", "aligned text for a terminal (the default)", false, true, text_emit},
    {"md", ".md", "GitHub and GitLab flavoured Markdown, for a pull request", false, true, markdown_emit},
    {"html", ".html", "one self-contained page with charts", false, true, html_emit},
    {"json", ".json", "every quantity in SI units, for scripts (docs/report.schema.json)", true, true,
     json_emit},
    {"junit", ".xml", "assertions and thresholds as test cases, for CI", false, true, junit_emit},
    {"csv", ".csv", "one row per scenario, one column per quantity, in SI units", true, false, csv_emit},
};

enum { BACKEND_COUNT = sizeof table / sizeof table[0] };

/* Other names and suffixes that people type. */
static const struct {
    const char *alias, *name;
} aliases[] = {
    {"txt", "text"},
    {"markdown", "md"},
    {"htm", "html"},
    {"xml", "junit"},
};

const struct backend *backends(size_t *count)
{
    *count = BACKEND_COUNT;
    return table;
}

const struct backend *backend_by_name(const char *name)
{
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++)
        if (strcmp(aliases[i].alias, name) == 0)
            name = aliases[i].name;
    for (size_t i = 0; i < BACKEND_COUNT; i++)
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}

const struct backend *backend_by_path(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash + 1 : path, '.');
    return dot ? backend_by_name(dot + 1) : NULL;
}
