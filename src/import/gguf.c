/* gguf.c: not yet. */
#include "import/gguf.h"

bool gguf_read_file(struct import_job *job, struct architecture *model)
{
    (void)model;
    job_error(job, DIAG_E0209, "import of GGUF files is not supported yet");
    return false;
}

bool gguf_read_bytes(struct import_job *job, const char *bytes, size_t length, struct architecture *model)
{
    (void)bytes, (void)length;
    return gguf_read_file(job, model);
}
