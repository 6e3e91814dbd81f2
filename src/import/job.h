/* job.h: one import under way, and the ways it can complain. */
#ifndef PERFC_IMPORT_JOB_H
#define PERFC_IMPORT_JOB_H

#include "import/import.h"
#include "source/diag.h"

struct import_job {
    struct arena *arena;
    struct sources *sources;
    struct diags *diags;
    const char *path; /* of the file that is imported */
    struct import_options options;
    bool alone;   /* bytes in memory: nothing lies beside them */
    bool headers; /* every tensor's bytes are read beside the configuration */
    bool failed;
};

/* An error about the whole file. The import has failed; notes may be added. */
struct diag *job_error(struct import_job *job, enum diag_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* An error at a place of a file that is among the sources. */
struct diag *job_error_at(struct import_job *job, enum diag_code code, struct span span, const char *format,
                          ...) __attribute__((format(printf, 4, 5)));

/* Where `path` has its last component, and the name of a file beside `path`. */
const char *job_base_name(const char *path);
const char *job_beside(struct import_job *job, const char *path, const char *name);

/* Says that a file beside the imported one was read, too: reports of --deps depend on it. */
void job_was_read(struct import_job *job, const char *path);

struct buffer;

/* Reads at most `limit` bytes; why it could not, or NULL. */
const char *job_read(struct import_job *job, const char *path, size_t limit, struct buffer *text);

/* What a model from this file is called: the file's name, or that of its directory when the file's name says
 * nothing (config.json), in the form of the catalogue. */
const char *job_model_name(struct import_job *job, const char *title);

/* "org/name", when the file's name or `stated` has that form; else the plain name. */
const char *job_model_title(struct import_job *job, const char *stated);

#endif
