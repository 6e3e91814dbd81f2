/* run.c: see run.h. */
#include "run.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* In the child: never returns. */
static void start(const char *const *argv, struct run_options options, int in, int out, int err)
{
    if (options.stdout_path != NULL)
        out = open(options.stdout_path, O_WRONLY | O_CREAT, 0666);
    if (out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
        _exit(126);
    if (options.directory != NULL && chdir(options.directory) != 0)
        _exit(126);
    signal(SIGPIPE, SIG_DFL);
    execvp(argv[0], (char *const *)(size_t)argv);
    _exit(127);
}

/* Reads what there is; false at the end. */
static bool drain(int descriptor, struct buffer *buffer)
{
    char bytes[1 << 16];
    ssize_t count = read(descriptor, bytes, sizeof bytes);
    if (count > 0)
        buffer_add(buffer, bytes, (size_t)count);
    return count > 0 || (count < 0 && errno == EINTR);
}

/* Writes input and reads both outputs until both are closed; false after the time limit. */
static bool converse(struct run_options options, int in, int out, int err, struct buffer *outputs)
{
    double limit = now() + (options.timeout ? options.timeout : 60);
    size_t written = 0;
    struct pollfd polled[3] = {{in, POLLOUT, 0}, {out, POLLIN, 0}, {err, POLLIN, 0}};
    while (polled[1].fd >= 0 || polled[2].fd >= 0) {
        if (polled[0].fd >= 0 && written == options.input_length) {
            close(polled[0].fd);
            polled[0].fd = -1;
        }
        double left = limit - now();
        if (left <= 0)
            return false;
        if (poll(polled, 3, (int)(1000 * left) + 1) < 0 && errno != EINTR)
            return false;
        if (polled[0].fd >= 0 && polled[0].revents) {
            ssize_t count = write(polled[0].fd, options.input + written, options.input_length - written);
            written = count > 0 ? written + (size_t)count : options.input_length; /* a closed pipe ends it */
        }
        for (int i = 1; i < 3; i++) {
            if (polled[i].fd >= 0 && polled[i].revents && !drain(polled[i].fd, &outputs[i - 1])) {
                close(polled[i].fd);
                polled[i].fd = -1;
            }
        }
    }
    if (polled[0].fd >= 0)
        close(polled[0].fd);
    return true;
}

struct run run_command(struct arena *arena, const char *const *argv, struct run_options options)
{
    int in[2], out[2], err[2];
    cr_assert(pipe(in) == 0 && pipe(out) == 0 && pipe(err) == 0, "no pipes");
    signal(SIGPIPE, SIG_IGN);
    fflush(NULL);
    pid_t child = fork();
    cr_assert(child >= 0, "cannot fork");
    if (child == 0) {
        setpgid(0, 0);
        close(in[1]);
        close(out[0]);
        close(err[0]);
        start(argv, options, in[0], out[1], err[1]);
    }
    close(in[0]);
    close(out[1]);
    close(err[1]);
    struct buffer outputs[2] = {buffer_in(arena), buffer_in(arena)};
    bool finished = converse(options, in[1], out[0], err[0], outputs);
    if (!finished)
        kill(-child, SIGKILL);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    struct run result = {
        .status = !finished           ? -1
                  : WIFEXITED(status) ? WEXITSTATUS(status)
                                      : 128 + WTERMSIG(status),
        .out = buffer_string(&outputs[0]),
        .out_length = outputs[0].length,
        .err = buffer_string(&outputs[1]),
        .err_length = outputs[1].length,
    };
    return result;
}

const char *perfc_path(void)
{
    const char *path = getenv("PERFC");
    return path != NULL ? path : PERFC_BINARY;
}

struct run run_perfc(struct arena *arena, struct run_options options, ...)
{
    VEC(const char *) argv = {0};
    *VEC_PUSH(arena, argv) = perfc_path();
    va_list arguments;
    va_start(arguments, options);
    const char *argument;
    while ((argument = va_arg(arguments, const char *)) != NULL)
        *VEC_PUSH(arena, argv) = argument;
    va_end(arguments);
    *VEC_PUSH(arena, argv) = NULL;
    return run_command(arena, argv.items, options);
}

const char *source_path(struct arena *arena, const char *relative)
{
    return arena_printf(arena, "%s/%s", SOURCE_DIR, relative);
}

char *read_file(struct arena *arena, const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    struct buffer buffer = buffer_in(arena);
    char bytes[1 << 14];
    size_t count;
    while ((count = fread(bytes, 1, sizeof bytes, file)) > 0)
        buffer_add(&buffer, bytes, count);
    bool failed = ferror(file) != 0;
    fclose(file);
    if (failed)
        return NULL;
    if (length != NULL)
        *length = buffer.length;
    return buffer.data != NULL ? buffer.data : arena_strdup(arena, "");
}

void write_file(const char *path, const char *text, size_t length)
{
    FILE *file = fopen(path, "wb");
    cr_assert(file != NULL, "cannot write %s", path);
    cr_assert(fwrite(text, 1, length, file) == length && fclose(file) == 0, "cannot write %s", path);
}

bool file_exists(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0;
}

bool ends_with(const char *text, const char *suffix)
{
    size_t length = strlen(text), tail = strlen(suffix);
    return length >= tail && strcmp(text + length - tail, suffix) == 0;
}

static void collect(struct arena *arena, const char *directory, const char *suffix, struct paths *paths)
{
    DIR *stream = opendir(directory);
    if (stream == NULL)
        return;
    struct dirent *entry;
    while ((entry = readdir(stream)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        const char *path = arena_printf(arena, "%s/%s", directory, entry->d_name);
        struct stat status;
        if (stat(path, &status) != 0)
            continue;
        if (S_ISDIR(status.st_mode))
            collect(arena, path, suffix, paths);
        else if (ends_with(path, suffix))
            *VEC_PUSH(arena, paths->list) = path;
    }
    closedir(stream);
}

static int compare_paths(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

struct paths find_files(struct arena *arena, const char *directory, const char *suffix)
{
    struct paths paths = {{0}};
    collect(arena, directory, suffix, &paths);
    if (paths.list.count > 0)
        qsort(paths.list.items, paths.list.count, sizeof *paths.list.items, compare_paths);
    return paths;
}

size_t directory_entries(const char *directory)
{
    DIR *stream = opendir(directory);
    cr_assert(stream != NULL, "no directory %s", directory);
    size_t count = 0;
    struct dirent *entry;
    while ((entry = readdir(stream)) != NULL)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(stream);
    return count;
}

const char *scratch_directory(struct arena *arena)
{
    const char *parent = getenv("TMPDIR");
    char *path = arena_printf(arena, "%s/perfc-test-XXXXXX", parent != NULL ? parent : "/tmp");
    cr_assert(mkdtemp(path) != NULL, "cannot make %s", path);
    return path;
}

const char *scratch_file(struct arena *arena, const char *name, const char *text)
{
    const char *path = arena_printf(arena, "%s/%s", scratch_directory(arena), name);
    write_file(path, text, strlen(text));
    return path;
}

struct lines split_lines(struct arena *arena, const char *text)
{
    struct lines lines = {{0}};
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        *VEC_PUSH(arena, lines.list) = arena_strndup(arena, text, length);
        text += length + (text[length] == '\n');
    }
    return lines;
}

const char smallest_plan[] =
    "gpu my-card    { memory = 80 GB   bandwidth = 2 TB/s   peak.fp16 = 312 TFLOPS }\n"
    "model my-model { params = 7e9     layers = 32   hidden = 4096   heads = 32 }\n"
    "scenario chat  { gpu = my-card    model = my-model   context = 4096   batch = 1 }\n";

void expect_refused(struct run run, int status, const char *part_of_message)
{
    cr_assert_eq(run.status, status, "exit status %d, not %d\n%.3000s", run.status, status, run.err);
    cr_assert_not_null(strstr(run.err, part_of_message), "no `%s` in:\n%.3000s", part_of_message, run.err);
    cr_assert(run.err_length < 50000, "%zu bytes of messages", run.err_length);
    cr_assert_eq(run.out_length, 0, "a report was written all the same:\n%.500s", run.out);
}
