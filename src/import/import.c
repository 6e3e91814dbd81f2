/* import.c: which kind of file it is, reading it, and what the model is called. */
#include "import/import.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "import/config.h"
#include "import/gguf.h"
#include "import/safetensors.h"

/* ---- complaints ---------------------------------------------------------------------------- */

static struct diag *add_error(struct import_job *job, enum diag_code code, struct span span, const char *text)
{
    job->failed = true;
    return diag_add(job->diags, code, span, "%s", text);
}

struct diag *job_error_at(struct import_job *job, enum diag_code code, struct span span, const char *format,
                          ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *text = arena_vprintf(job->arena, format, arguments);
    va_end(arguments);
    struct diag *diag = add_error(job, code, span, text);
    if (job->options.cause.end > 0)
        diag_note_at(job->diags, diag, job->options.cause, "imported here");
    return diag;
}

struct diag *job_error(struct import_job *job, enum diag_code code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *text = arena_vprintf(job->arena, format, arguments);
    va_end(arguments);
    struct span place = job->options.cause;
    if (place.end == 0)
        place.file = UINT32_MAX; /* no place at all: the file is not text */
    return add_error(job, code, place, text);
}

/* ---- files --------------------------------------------------------------------------------- */

const char *job_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *job_beside(struct import_job *job, const char *path, const char *name)
{
    return arena_printf(job->arena, "%.*s%s", (int)(job_base_name(path) - path), path, name);
}

void job_was_read(struct import_job *job, const char *path)
{
    if (strcmp(path, job->path) != 0)
        sources_add(job->sources, arena_strdup(job->arena, path), "", 0, false);
}

const char *job_read(struct import_job *job, const char *path, size_t limit, struct buffer *text)
{
    char chunk[1 << 14];
    const char *why = NULL;
    struct stat status;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return strerror(errno);
    if (fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode))
        why = strerror(EISDIR);
    while (!why) {
        ssize_t got = read(descriptor, chunk, sizeof chunk);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            why = strerror(errno);
        if (got <= 0)
            break;
        if (text->length + (size_t)got > limit)
            why = arena_printf(job->arena, "the file is larger than %zu MiB", limit >> 20);
        else
            buffer_add(text, chunk, (size_t)got);
    }
    close(descriptor);
    return why;
}

/* ---- names --------------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), size = strlen(end);
    return length >= size && strcmp(text + length - size, end) == 0;
}

/* The path of the directory, without a slash at its end; "" when there is none. */
static const char *parent(struct import_job *job, const char *path)
{
    size_t length = (size_t)(job_base_name(path) - path);
    return arena_strndup(job->arena, path, length > 0 ? length - 1 : 0);
}

static bool is_hash(const char *name)
{
    return strlen(name) == 40 && strspn(name, "0123456789abcdef") == 40;
}

/* "org" and "name" with a slash where `fold` joins them; without it, the name itself. */
static const char *with_slash(struct import_job *job, const char *name, const char *fold)
{
    const char *at = strstr(name, fold);
    return at && at > name && at[2] ? arena_printf(job->arena, "%.*s/%s", (int)(at - name), name, at + 2)
                                    : name;
}

/* The file's name without its suffix, or its directory's name when every model has a file of this name. In
 * the cache of the Hugging Face Hub that is models--ORG--NAME/snapshots/HASH. */
static const char *stem(struct import_job *job)
{
    static const char *const suffixes[] = {".safetensors.index.json", ".json", ".safetensors", ".gguf"};
    static const char *const common[] = {"config", "model", "pytorch_model"};
    const char *base = job_base_name(job->path);
    size_t length = strlen(base);
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++)
        if (length > strlen(suffixes[i]) && ends_with(base, suffixes[i])) {
            length -= strlen(suffixes[i]);
            break;
        }
    bool says_nothing = strncmp(base, "model-0", 7) == 0;
    for (size_t i = 0; i < sizeof common / sizeof common[0]; i++)
        says_nothing = says_nothing || (strlen(common[i]) == length && strncmp(base, common[i], length) == 0);
    if (!says_nothing)
        return arena_strndup(job->arena, base, length);
    const char *directory = parent(job, job->path);
    if (is_hash(job_base_name(directory)) &&
        strcmp(job_base_name(parent(job, directory)), "snapshots") == 0) {
        const char *repository = job_base_name(parent(job, parent(job, directory)));
        if (strncmp(repository, "models--", 8) == 0)
            return with_slash(job, repository + 8, "--");
    }
    directory = job_base_name(directory);
    return *directory && strcmp(directory, ".") != 0 && strcmp(directory, "..") != 0 ? directory : "";
}

/* "org__name" is how downloads flatten "org/name". */
const char *job_model_title(struct import_job *job, const char *stated)
{
    const char *name = stem(job);
    if (*name)
        return with_slash(job, name, "__");
    return stated && *stated ? arena_strdup(job->arena, stated) : "model"; /* jansson's goes with its tree */
}

const char *job_model_name(struct import_job *job, const char *title)
{
    size_t length = strlen(title);
    while (length > 1 && title[length - 1] == '/')
        length--;
    char *name = arena_strndup(job->arena, title, length);
    name = (char *)job_base_name(name);
    for (char *at = name; *at; at++) {
        bool upper = *at >= 'A' && *at <= 'Z', lower = *at >= 'a' && *at <= 'z',
             digit = *at >= '0' && *at <= '9';
        if (upper)
            *at = (char)(*at - 'A' + 'a');
        else if (!lower && !digit && *at != '.' && *at != '_')
            *at = '-';
    }
    return name;
}

/* ---- kinds of file ------------------------------------------------------------------------- */

bool import_is_model_file(const char *path)
{
    return ends_with(path, ".json") || ends_with(path, ".safetensors") || ends_with(path, ".gguf");
}

enum { CONFIG_MAX = SOURCE_MAX_BYTES };

static bool read_config(struct import_job *job, const char *text, size_t length, struct architecture *model)
{
    struct json_file json;
    if (!json_file_read(job, job->path, text, length, CONFIG_VALUES_MAX, &json))
        return false;
    bool known = config_architecture(job, &json, model);
    json_decref(json.root);
    return known;
}

static bool deliver(struct import_job *job, const struct architecture *model, struct imported *imported)
{
    struct buffer out = buffer_in(job->arena);
    architecture_write(&out, model);
    imported->path = job->path;
    imported->text = buffer_string(&out);
    imported->length = out.length;
    return true;
}

bool import_model_bytes(struct arena *arena, struct sources *sources, struct diags *diags, const char *path,
                        const char *bytes, size_t length, const struct import_options *options,
                        struct imported *imported)
{
    struct import_job job = {arena, sources, diags, path, .options = *options, .alone = true};
    struct architecture model = {0};
    bool known = ends_with(path, ".gguf")          ? gguf_read_bytes(&job, bytes, length, &model)
                 : ends_with(path, ".safetensors") ? safetensors_read_bytes(&job, bytes, length, &model)
                 : ends_with(path, ".safetensors.index.json")
                     ? safetensors_read_index(&job, bytes, length, &model)
                     : read_config(&job, bytes, length, &model);
    return known && deliver(&job, &model, imported);
}

bool import_model(struct arena *arena, struct sources *sources, struct diags *diags, const char *path,
                  const struct import_options *options, struct imported *imported)
{
    struct import_job job = {arena, sources, diags, path, .options = *options};
    struct architecture model = {0};
    bool known;
    if (ends_with(path, ".gguf")) {
        known = gguf_read_file(&job, &model);
    } else if (ends_with(path, ".safetensors")) {
        known = safetensors_read_file(&job, &model);
    } else {
        struct buffer text = buffer_in(arena);
        const char *why = job_read(&job, path, CONFIG_MAX, &text);
        if (why) {
            job_error(&job, DIAG_E0401, "cannot read `%s`: %s", path, why);
            return false;
        }
        known = ends_with(path, ".safetensors.index.json")
                    ? safetensors_read_index(&job, buffer_string(&text), text.length, &model)
                    : read_config(&job, buffer_string(&text), text.length, &model);
    }
    return known && deliver(&job, &model, imported);
}
