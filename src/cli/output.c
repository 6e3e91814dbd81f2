/* output.c: bytes to files, whole or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/clean.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "cli/cli.h"
#include "source/source.h"

/* 0, or the errno of the failure. */
static int write_all(int descriptor, const char *bytes, size_t length)
{
    while (length) {
        ssize_t written = write(descriptor, bytes, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return errno;
        bytes += written;
        length -= (size_t)written;
    }
    return 0;
}

bool output_is_standard(const char *path)
{
    return strcmp(path, "-") == 0;
}

enum exit_status output_standard(const struct buffer *text)
{
    const char *bytes = buffer_string(text);
    size_t length = text->length;
    if (isatty(STDOUT_FILENO) && !output_utf8()) {
        bytes = clean_ascii(text->arena, bytes);
        length = strlen(bytes);
    }
    int failure = write_all(STDOUT_FILENO, bytes, length);
    if (!failure)
        return EXIT_FINE;
    cli_complain("cannot write to standard output: %s", strerror(failure));
    return EXIT_FILE;
}

void output_error(struct arena *arena, const char *text)
{
    bool narrow = isatty(STDERR_FILENO) && !output_utf8();
    const char *bytes = narrow ? clean_ascii_columns(arena, text) : text;
    (void)write_all(STDERR_FILENO, bytes, strlen(bytes)); /* nowhere to complain about a failure */
}

static enum exit_status cannot_write(const char *path, int failure)
{
    cli_complain("cannot write %s: %s", path, strerror(failure));
    return EXIT_FILE;
}

/* Devices and pipes cannot be replaced, so they are written to. */
static enum exit_status write_directly(const char *path, const struct buffer *text)
{
    int descriptor = open(path, O_WRONLY | O_CLOEXEC);
    if (descriptor < 0)
        return cannot_write(path, errno);
    int failure = write_all(descriptor, buffer_string(text), text->length);
    if (close(descriptor) != 0 && !failure)
        failure = errno;
    return failure ? cannot_write(path, failure) : EXIT_FINE;
}

/* What a new file would get: umask() can only be read by setting it. */
static mode_t new_file_mode(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/* Beside the target, since rename() does not cross file systems; with a name of its own, since the target's
 * may be as long as names can be. */
static char *temporary_name(struct arena *arena, const char *target)
{
    const char *slash = strrchr(target, '/');
    return arena_printf(arena, "%.*s.perfc-XXXXXX", slash ? (int)(slash + 1 - target) : 0, target);
}

/* Signals that would leave the temporary file behind wait until it has its name. */
static void hold_signals(bool hold, sigset_t *before)
{
    sigset_t signals;
    if (!hold) {
        sigprocmask(SIG_SETMASK, before, NULL);
        return;
    }
    sigemptyset(&signals);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, before);
}

/* 0, or the errno of the failure, which leaves no file. */
static int write_temporary(const char *target, mode_t mode, const struct buffer *text, char *temporary)
{
    int descriptor = mkstemp(temporary);
    if (descriptor < 0)
        return errno;
    int failure = write_all(descriptor, buffer_string(text), text->length);
    if (!failure && fchmod(descriptor, mode) != 0)
        failure = errno;
    if (close(descriptor) != 0 && !failure)
        failure = errno;
    if (!failure && rename(temporary, target) != 0)
        failure = errno;
    if (failure)
        unlink(temporary);
    return failure;
}

static enum exit_status replace(struct arena *arena, const char *path, const char *target, mode_t mode,
                                const struct buffer *text)
{
    sigset_t before;
    hold_signals(true, &before);
    int failure = write_temporary(target, mode, text, temporary_name(arena, target));
    hold_signals(false, &before);
    return failure ? cannot_write(path, failure) : EXIT_FINE;
}

enum exit_status output_write(struct arena *arena, const char *path, const struct buffer *text)
{
    struct stat status;
    if (output_is_standard(path))
        return output_standard(text);
    if (stat(path, &status) != 0)
        return errno == ENOENT ? replace(arena, path, path, new_file_mode(), text)
                               : cannot_write(path, errno);
    if (S_ISDIR(status.st_mode))
        return cannot_write(path, EISDIR);
    if (!S_ISREG(status.st_mode))
        return write_directly(path, text);
    if (access(path, W_OK) != 0)
        return cannot_write(path, errno);
    /* A symbolic link stays one: what it points at is replaced. */
    char *resolved = realpath(path, NULL);
    enum exit_status result = replace(arena, path, resolved ? resolved : path, status.st_mode & 07777, text);
    free(resolved);
    return result;
}

const char *output_is_input(const struct sources *sources, const char *path)
{
    struct stat output, input;
    if (output_is_standard(path) || stat(path, &output) != 0 || !S_ISREG(output.st_mode))
        return NULL;
    for (size_t i = 0; i < sources_count(sources); i++) {
        const struct source *source = sources_get(sources, (uint32_t)i);
        if (!source->embedded && stat(source->path, &input) == 0 && input.st_dev == output.st_dev &&
            input.st_ino == output.st_ino)
            return source->path;
    }
    return NULL;
}
