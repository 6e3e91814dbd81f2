/* test_house.c: tests about the tree itself: which module includes which, what is listed and documented,
 * and what library code may not call. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "faults.h"
#include "run.h"

/* The order of architecture: a file may include what stands before its own module. */
static const char *const modules[] = {"base",  "source", "import",  "syntax", "sema",
                                      "model", "result", "backend", "cli"};
enum { MODULE_COUNT = sizeof modules / sizeof modules[0], MODULE_SYNTAX = 3, MODULE_MODEL = 5 };

TestSuite(house, .init = set_up, .fini = tear_down);

/* Every C source file of src/, as a path relative to the tree. */
static struct paths sources(const char *const *suffixes, size_t count)
{
    struct paths all = {{0}};
    const char *root = source_path(arena, "");
    for (size_t i = 0; i < count; i++) {
        struct paths some = find_files(arena, source_path(arena, "src"), suffixes[i]);
        for (size_t k = 0; k < some.list.count; k++)
            *VEC_PUSH(arena, all.list) = some.list.items[k] + strlen(root);
    }
    return all;
}

static const char *const every_suffix[] = {".c", ".h", ".def"};

static int module_of(const char *path)
{
    for (int i = 0; i < MODULE_COUNT; i++) {
        size_t length = strlen(modules[i]);
        if (strncmp(path, modules[i], length) == 0 && path[length] == '/')
            return i;
    }
    return -1;
}

static bool may_include(int from, int to)
{
    if (from == MODULE_MODEL)
        return to == MODULE_MODEL;
    return to <= from;
}

static void check_includes(const char *path, int module)
{
    const char *text = read_file(arena, source_path(arena, path), NULL);
    cr_assert_not_null(text, "%s", path);
    struct lines lines = split_lines(arena, text);
    for (size_t i = 0; i < lines.list.count; i++) {
        const char *line = lines.list.items[i];
        if (strncmp(line, "#include \"", 10) != 0)
            continue;
        int other = module_of(line + 10);
        if (other >= 0 && !may_include(module, other))
            FAULT("%s:%zu: %s", path, i + 1, line);
    }
}

Test(house, includes_point_one_way)
{
    struct paths files = sources(every_suffix, 3);
    cr_assert(files.list.count > 20, "the source tree was not found");
    for (size_t i = 0; i < files.list.count; i++) {
        const char *path = files.list.items[i];
        int module = module_of(path + strlen("src/"));
        if (module < 0)
            FAULT("%s: belongs to no module", path);
        else
            check_includes(path, module);
    }
    check_includes("grammar/perf.y", MODULE_SYNTAX);
    check_includes("grammar/perf.l", MODULE_SYNTAX);
    EXPECT_NO_FAULTS();
}

/* A header with a .c of the same name is part of it. */
static bool needs_a_line(const char *path)
{
    if (ends_with(path, "stdlib_data.c"))
        return false; /* generated */
    if (!ends_with(path, ".h"))
        return true;
    char *twin = arena_strdup(arena, source_path(arena, path));
    twin[strlen(twin) - 1] = 'c';
    return !file_exists(twin);
}

Test(house, every_source_file_has_a_line_in_src_readme)
{
    const char *readme = read_file(arena, source_path(arena, "src/README.md"), NULL);
    cr_assert_not_null(readme);
    struct paths files = sources(every_suffix, 3);
    for (size_t i = 0; i < files.list.count; i++) {
        const char *path = files.list.items[i] + strlen("src/");
        const char *entry = arena_printf(arena, "\n- `%s`: ", path), *line = strstr(readme, entry);
        if (!line && needs_a_line(files.list.items[i]))
            FAULT("%s has no line in src/README.md", path);
        if (line && strstr(line + 1, entry))
            FAULT("%s has two lines in src/README.md", path);
    }
    struct lines lines = split_lines(arena, readme);
    for (size_t i = 0; i < lines.list.count; i++) {
        char path[256];
        if (sscanf(lines.list.items[i], "- `%255[^`]`: ", path) == 1 &&
            !file_exists(source_path(arena, arena_printf(arena, "src/%s", path))))
            FAULT("src/README.md names %s, which does not exist", path);
    }
    EXPECT_NO_FAULTS();
}

/* Whether a sources.am lists the file on a line of its own. */
static bool listed(const char *fragment, const char *path)
{
    const char *text = read_file(arena, source_path(arena, fragment), NULL);
    cr_assert_not_null(text, "%s", fragment);
    size_t length = strlen(path);
    for (const char *at = strstr(text, path); at != NULL; at = strstr(at + 1, path)) {
        char before = at == text ? '\n' : at[-1], after = at[length];
        if (strchr(" \t\n", before) != NULL && strchr(" \t\n\\", after) != NULL)
            return true;
    }
    return false;
}

Test(house, every_source_file_is_built)
{
    struct paths files = sources(every_suffix, 3);
    for (size_t i = 0; i < files.list.count; i++) {
        const char *path = files.list.items[i];
        int module = module_of(path + strlen("src/"));
        if (module < 0 || ends_with(path, "stdlib_data.c"))
            continue;
        const char *fragment = arena_printf(arena, "src/%s/sources.am", modules[module]);
        if (!listed(fragment, path))
            FAULT("%s does not list %s", fragment, path);
    }
    struct paths tests = find_files(arena, source_path(arena, "tests/unit"), ".c");
    cr_assert(tests.list.count > 5);
    for (size_t i = 0; i < tests.list.count; i++) {
        const char *path = tests.list.items[i] + strlen(source_path(arena, ""));
        if (!listed("tests/sources.am", path))
            FAULT("tests/sources.am does not list %s", path);
    }
    EXPECT_NO_FAULTS();
}

/* What library code may not call, and where it may all the same. */
static const struct {
    const char *call, *allowed, *reason;
} banned[] = {
    {"malloc", "src/base/", "memory comes from arenas"},
    {"calloc", "src/base/", "memory comes from arenas"},
    {"realloc", "src/base/", "memory comes from arenas"},
    {"exit", "src/base/", "library code never exits"},
    {"abort", "src/base/", "library code never exits"},
    {"printf", "src/cli/", "library code never prints"},
    {"puts", "src/cli/", "library code never prints"},
    {"perror", "src/cli/", "library code never prints"},
    {"setlocale", "", "results do not depend on a locale"},
    {"strtok", "", "it keeps state"},
    {"rand", "", "results are deterministic"},
    {"time", "src/cli/", "results are deterministic"},
    {"sprintf", "", "it does not know its limit"},
    {"xmlNewChild", "", "it reads its text as markup and empties elements that hold an ampersand"},
};

static bool identifier_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
           byte == '_';
}

/* Whether code (not a comment) of the line calls the function. */
static bool calls(const char *line, const char *name)
{
    const char *comment = strstr(line, "/*");
    size_t length = strlen(name);
    for (const char *at = strstr(line, name); at != NULL; at = strstr(at + 1, name)) {
        if (comment != NULL && at > comment)
            return false;
        if ((at == line || (!identifier_byte(at[-1]) && at[-1] != '"' && at[-1] != '.' && at[-1] != '>')) &&
            at[length] == '(')
            return true;
    }
    return false;
}

Test(house, library_code_keeps_its_promises)
{
    static const char *const suffixes[] = {".c"};
    struct paths files = sources(suffixes, 1);
    for (size_t i = 0; i < files.list.count; i++) {
        const char *path = files.list.items[i];
        if (ends_with(path, "stdlib_data.c"))
            continue;
        struct lines lines = split_lines(arena, read_file(arena, source_path(arena, path), NULL));
        for (size_t k = 0; k < lines.list.count; k++) {
            const char *line = lines.list.items[k];
            if (line[strspn(line, " ")] == '*' || line[strspn(line, " ")] == '/')
                continue;
            for (size_t b = 0; b < sizeof banned / sizeof banned[0]; b++) {
                bool allowed = banned[b].allowed[0] != '\0' &&
                               strncmp(path, banned[b].allowed, strlen(banned[b].allowed)) == 0;
                if (!allowed && calls(line, banned[b].call))
                    FAULT("%s:%zu: %s(): %s", path, k + 1, banned[b].call, banned[b].reason);
            }
        }
    }
    EXPECT_NO_FAULTS();
}

enum { COLUMNS = 110, FILE_LINES = 800 };

static size_t columns(const char *line)
{
    size_t count = 0;
    for (; *line != '\0'; line++)
        count += ((unsigned char)*line & 0xC0) != 0x80;
    return count;
}

Test(house, files_keep_the_style)
{
    static const char *const suffixes[] = {".c", ".h"};
    struct paths files = sources(suffixes, 2);
    for (size_t i = 0; i < files.list.count; i++) {
        const char *path = files.list.items[i];
        if (ends_with(path, "stdlib_data.c"))
            continue;
        const char *text = read_file(arena, source_path(arena, path), NULL);
        const char *name = strrchr(path, '/') + 1;
        if (strncmp(text, "/* ", 3) != 0 || strncmp(text + 3, name, strlen(name)) != 0)
            FAULT("%s does not begin by saying what it is (\"/* %s: ...\")", path, name);
        struct lines lines = split_lines(arena, text);
        if (lines.list.count > FILE_LINES)
            FAULT("%s has %zu lines", path, lines.list.count);
        for (size_t k = 0; k < lines.list.count; k++) {
            const char *line = lines.list.items[k];
            size_t length = strlen(line);
            if (columns(line) > COLUMNS)
                FAULT("%s:%zu: longer than %d columns", path, k + 1, COLUMNS);
            if (strchr(line, '\t') != NULL)
                FAULT("%s:%zu: a tab", path, k + 1);
            if (length > 0 && line[length - 1] == ' ')
                FAULT("%s:%zu: blanks at the end", path, k + 1);
        }
    }
    EXPECT_NO_FAULTS();
}
