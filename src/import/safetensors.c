/* safetensors.c: not yet. */
#include "import/safetensors.h"

bool safetensors_read_file(struct import_job *job, struct architecture *model)
{
    (void)model;
    job_error(job, DIAG_E0209, "import of safetensors files is not supported yet");
    return false;
}

bool safetensors_read_bytes(struct import_job *job, const char *bytes, size_t length, struct architecture *model)
{
    (void)bytes, (void)length;
    return safetensors_read_file(job, model);
}

bool safetensors_read_index(struct import_job *job, const char *text, size_t length, struct architecture *model)
{
    (void)text, (void)length;
    return safetensors_read_file(job, model);
}
