/* module.c: files and the names they declare. A name is looked up in the file that uses it, then in the
 * files it imports, then in the standard library, whose files are parsed when a name first needs them. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/intern.h"
#include "import/import.h"
#include "sema/internal.h"
#include "sema/stdlib_data.h"
#include "syntax/parse.h"

static struct module *module_new(struct plan *plan, const char *path, const char *identity, bool catalogue)
{
    struct module *module = ARENA_NEW(plan->arena, struct module);
    module->path = path;
    module->identity = identity;
    module->catalogue = catalogue;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++)
        module->declarations[kind] = map_new(plan->arena);
    module->lets = map_new(plan->arena);
    module->aliases = map_new(plan->arena);
    return module;
}

static void module_parse(struct plan *plan, struct module *module, const char *text, size_t length)
{
    uint32_t file = sources_add(plan->sources, module->path, text, length, module->catalogue);
    module->tree = parse_file(plan->arena, plan->strings, plan->sources, file, plan->diags);
    collect_module(plan, module);
}

/* ---- reading ------------------------------------------------------------------------------ */

static const char *read_descriptor(struct plan *plan, int descriptor, struct buffer *text)
{
    char chunk[1 << 16];
    for (;;) {
        ssize_t got = read(descriptor, chunk, sizeof chunk);
        if (got == 0)
            return NULL;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return strerror(errno);
        if (text->length + (size_t)got > SOURCE_MAX_BYTES)
            return arena_printf(plan->arena, "the file is larger than %d MiB", SOURCE_MAX_BYTES >> 20);
        buffer_add(text, chunk, (size_t)got);
    }
}

/* Reads a whole file; returns why it could not, or NULL. */
static const char *read_path(struct plan *plan, const char *path, struct buffer *text)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return strerror(errno);
    struct stat status;
    const char *why = NULL;
    if (fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode))
        why = strerror(EISDIR);
    else
        why = read_descriptor(plan, descriptor, text);
    close(descriptor);
    return why;
}

static const char *canonical_path(struct plan *plan, const char *path)
{
    char *resolved = realpath(path, NULL);
    const char *identity = intern_text(plan->strings, resolved ? resolved : path);
    free(resolved);
    return identity;
}

void module_empty_root(struct plan *plan)
{
    plan->root = module_new(plan, "", intern_text(plan->strings, ""), false);
}

/* The plan's own file, before it is parsed. */
static void start_root(struct plan *plan, const char *path, const char *identity)
{
    plan->root = module_new(plan, path, identity, false);
    map_put(plan->modules, identity, plan->root);
}

static void parse_root(struct plan *plan, const char *text, size_t length)
{
    module_parse(plan, plan->root, text, length);
    *VEC_PUSH(plan->arena, plan->plan_modules) = plan->root;
}

void module_load_text(struct plan *plan, const char *path, const char *text, size_t length)
{
    start_root(plan, path, canonical_path(plan, path));
    parse_root(plan, text, length);
}

void module_load_root(struct plan *plan, const char *path, const char **unreadable)
{
    struct buffer text = buffer_in(plan->arena);
    bool standard_input = strcmp(path, "-") == 0;
    *unreadable = standard_input ? read_descriptor(plan, STDIN_FILENO, &text) : read_path(plan, path, &text);
    if (*unreadable)
        return;
    start_root(plan, standard_input ? "<stdin>" : path,
               standard_input ? intern_text(plan->strings, "-") : canonical_path(plan, path));
    parse_root(plan, buffer_string(&text), text.length);
}

/* ---- imports ------------------------------------------------------------------------------ */

static const char *directory_of(struct plan *plan, const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? arena_strndup(plan->arena, path, (size_t)(slash - path) + 1) : "";
}

/* Takes the last directory off "a/b/": "a/". False where ".." is not the directory before it: there is none
 * that has a name, or it is a symbolic link. */
static bool leave(struct plan *plan, const char **directory)
{
    struct stat status;
    size_t length = strlen(*directory);
    if (length == 0)
        return false;
    const char *path = arena_strndup(plan->arena, *directory, length - 1);
    const char *above = directory_of(plan, path), *name = path + strlen(above);
    if (*name == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || lstat(path, &status) != 0 ||
        S_ISLNK(status.st_mode))
        return false;
    *directory = above;
    return true;
}

/* "plans/../cards.perf" is the same file as "cards.perf", but not to those who match paths with those of a
 * repository. */
static const char *path_beside(struct plan *plan, const char *importing, const char *file)
{
    const char *directory = directory_of(plan, importing);
    while (strncmp(file, "../", 3) == 0 && leave(plan, &directory))
        file += 3;
    return arena_printf(plan->arena, "%s%s", directory, file);
}

static bool readable(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0;
}

/* Where an import is: beside the importing file, then in the -I directories. NULL: neither. */
static const char *find_import(struct plan *plan, const struct module *from, const char *file)
{
    const char *beside = file[0] == '/' ? file : path_beside(plan, from->path, file);
    if (file[0] == '/' || readable(beside))
        return beside;
    for (size_t i = 0; i < plan->options.include_count; i++) {
        const char *path = arena_printf(plan->arena, "%s/%s", plan->options.include_dirs[i], file);
        if (readable(path))
            return path;
    }
    return beside;
}

static size_t stdlib_file_by_path(const char *path)
{
    size_t count;
    const struct stdlib_file *files = stdlib_files(&count);
    size_t file = 0;
    while (file < count && strcmp(files[file].path, path) != 0)
        file++;
    return file;
}

static struct module *import_stdlib(struct plan *plan, const struct stmt *stmt, const char *path)
{
    size_t count;
    stdlib_files(&count);
    size_t file = stdlib_file_by_path(path);
    if (file < count)
        return module_stdlib(plan, file);
    diag_add(plan->diags, DIAG_E0401, stmt->import.file.span, "the standard library has no file `%s`", path);
    return NULL;
}

/* A model file as the declaration that describes it. */
static struct module *import_model_module(struct plan *plan, const struct stmt *stmt, const char *path,
                                          const char *identity)
{
    struct import_options options = {.cause = stmt->import.file.span};
    struct imported imported;
    if (!import_model(plan->arena, plan->sources, plan->diags, path, &options, &imported))
        return NULL;
    plan->module_count++;
    struct module *module = module_new(plan, imported.path, identity, false);
    map_put(plan->modules, identity, module);
    module_parse(plan, module, imported.text, imported.length);
    *VEC_PUSH(plan->arena, plan->plan_modules) = module;
    return module;
}

struct module *module_import(struct plan *plan, struct module *from, const struct stmt *stmt)
{
    const char *file = stmt->import.file.text;
    if (strncmp(file, "stdlib:", 7) == 0)
        return import_stdlib(plan, stmt, file + 7);
    size_t length = strlen(file);
    bool model_file = import_is_model_file(file);
    if (!model_file && (length < 5 || strcmp(file + length - 5, ".perf") != 0)) {
        diag_add(plan->diags, DIAG_E0402, stmt->import.file.span,
                 "cannot import `%s`: only `.perf`, `.csv`, `.json`, `.safetensors` and `.gguf` files can be "
                 "imported",
                 file);
        return NULL;
    }
    const char *path = find_import(plan, from, file);
    const char *identity = canonical_path(plan, path);
    struct module *module = map_get(plan->modules, identity);
    if (module)
        return module;
    if (plan->module_count >= IMPORTS_MAX) {
        diag_add(plan->diags, DIAG_E0403, stmt->import.file.span, "more than %d files are imported",
                 IMPORTS_MAX);
        return NULL;
    }
    if (model_file)
        return import_model_module(plan, stmt, path, identity);
    struct buffer text = buffer_in(plan->arena);
    const char *why = read_path(plan, path, &text);
    if (why) {
        diag_add(plan->diags, DIAG_E0401, stmt->import.file.span, "cannot read `%s`: %s", path, why);
        return NULL;
    }
    plan->module_count++;
    module = module_new(plan, path, identity, false);
    map_put(plan->modules, identity, module);
    module_parse(plan, module, buffer_string(&text), text.length);
    *VEC_PUSH(plan->arena, plan->plan_modules) = module;
    return module;
}

bool module_read_table(struct plan *plan, const struct module *from, const char *file, struct span span,
                       uint32_t *number)
{
    const char *path = find_import(plan, from, file);
    struct buffer text = buffer_in(plan->arena);
    const char *why = read_path(plan, path, &text);
    if (why) {
        diag_add(plan->diags, DIAG_E0401, span, "cannot read `%s`: %s", path, why);
        return false;
    }
    bool marked = text.length >= 3 && memcmp(buffer_string(&text), "\xEF\xBB\xBF", 3) == 0;
    size_t skip = marked ? 3 : 0; /* a byte order mark is no part of the text */
    *number = sources_add_data(plan->sources, path, buffer_string(&text) + skip, text.length - skip);
    return true;
}

/* ---- the standard library ------------------------------------------------------------------ */

struct module *module_stdlib(struct plan *plan, size_t file)
{
    size_t count;
    const struct stdlib_file *files = stdlib_files(&count);
    if (plan->stdlib_modules[file])
        return plan->stdlib_modules[file];
    const char *path = arena_printf(plan->arena, "stdlib:%s", files[file].path);
    struct module *module = module_new(plan, path, intern_text(plan->strings, path), true);
    plan->stdlib_modules[file] = module;
    const char *text = files[file].text;
    size_t length = files[file].length;
    for (size_t i = 0; i < plan->options.include_count; i++) {
        struct buffer override = buffer_in(plan->arena);
        const char *path_override =
            arena_printf(plan->arena, "%s/%s", plan->options.include_dirs[i], files[file].path);
        if (!read_path(plan, path_override, &override)) {
            module->path = path_override;
            text = buffer_string(&override);
            length = override.length;
            break;
        }
    }
    module_parse(plan, module, text, length);
    return module;
}

/* First index entry not below (kind, name). */
static size_t stdlib_lower_bound(const char *kind, const char *name)
{
    size_t high, low = 0;
    const struct stdlib_entry *entries = stdlib_index(&high);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(entries[middle].kind, kind);
        if (order == 0)
            order = strcmp(entries[middle].name, name);
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct decl *find_in_stdlib(struct plan *plan, enum kind kind, const char *name)
{
    size_t count;
    const struct stdlib_entry *entries = stdlib_index(&count);
    size_t at = stdlib_lower_bound(kind_name(kind), name);
    if (at == count || strcmp(entries[at].kind, kind_name(kind)) != 0 || strcmp(entries[at].name, name) != 0)
        return NULL;
    return map_get(module_stdlib(plan, entries[at].file)->declarations[kind], name);
}

/* ---- lookup -------------------------------------------------------------------------------- */

static struct decl *find_in_module(struct plan *plan, struct module *module, enum kind kind, const char *name)
{
    if (module->visit == plan->visit)
        return NULL;
    module->visit = plan->visit;
    struct decl *decl = map_get(module->declarations[kind], name);
    for (size_t i = 0; !decl && i < module->imports.count; i++)
        decl = find_in_module(plan, module->imports.items[i], kind, name);
    return decl;
}

struct decl *module_find(struct plan *plan, struct module *from, enum kind kind, const char *name)
{
    struct module *module = from ? from : plan->root;
    plan->visit++;
    struct decl *decl = find_in_module(plan, module, kind, name);
    if (!decl)
        decl = find_in_stdlib(plan, kind, name);
    if (decl && kind == KIND_MODEL)
        decl_bind_blocks(plan, decl); /* whoever finds a model may read its blocks */
    return decl;
}

static struct let *find_let(struct plan *plan, struct module *module, const char *name)
{
    if (module->visit == plan->visit)
        return NULL;
    module->visit = plan->visit;
    struct let *let = map_get(module->lets, name);
    for (size_t i = 0; !let && i < module->imports.count; i++)
        let = find_let(plan, module->imports.items[i], name);
    return let;
}

struct let *module_find_let(struct plan *plan, struct module *from, const char *name)
{
    plan->visit++;
    return find_let(plan, from ? from : plan->root, name);
}

struct module *module_find_alias(struct plan *plan, struct module *from, const char *name)
{
    return map_get((from ? from : plan->root)->aliases, name);
}

static void consider_module(struct plan *plan, struct module *module, enum kind kind,
                            struct suggestion *suggestion, struct kin *kin)
{
    if (module->visit == plan->visit)
        return;
    module->visit = plan->visit;
    for (size_t i = 0; i < module->order.count; i++)
        if (module->order.items[i]->kind == kind && module->order.items[i]->name) {
            suggestion_consider(suggestion, module->order.items[i]->name);
            kin_consider(kin, module->order.items[i]->name);
        }
    for (size_t i = 0; i < module->imports.count; i++)
        consider_module(plan, module->imports.items[i], kind, suggestion, kin);
}

struct suggestion module_suggest(struct plan *plan, struct module *from, enum kind kind, const char *name,
                                 struct kin *kin)
{
    struct suggestion suggestion = suggestion_for(name);
    *kin = kin_of(name);
    plan->visit++;
    consider_module(plan, from ? from : plan->root, kind, &suggestion, kin);
    size_t count;
    const struct stdlib_entry *entries = stdlib_index(&count);
    for (size_t i = stdlib_lower_bound(kind_name(kind), "");
         i < count && strcmp(entries[i].kind, kind_name(kind)) == 0; i++) {
        suggestion_consider(&suggestion, entries[i].name);
        kin_consider(kin, entries[i].name);
    }
    return suggestion;
}

struct decl **plan_catalogue(struct plan *plan, enum kind kind, size_t *count)
{
    VEC(struct decl *) found = {0};
    size_t entry_count;
    const struct stdlib_entry *entries = stdlib_index(&entry_count);
    for (size_t i = stdlib_lower_bound(kind_name(kind), "");
         i < entry_count && strcmp(entries[i].kind, kind_name(kind)) == 0; i++) {
        const char *name = intern_text(plan->strings, entries[i].name);
        struct decl *decl = map_get(module_stdlib(plan, entries[i].file)->declarations[kind], name);
        if (!decl)
            continue;
        if (kind == KIND_MODEL)
            decl_bind_blocks(plan, decl);
        *VEC_PUSH(plan->arena, found) = decl;
    }
    *count = found.count;
    return found.items;
}
