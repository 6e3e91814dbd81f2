/* safetensors.h: headers of safetensors files, and the index of a checkpoint in several of them. */
#ifndef PERFC_IMPORT_SAFETENSORS_H
#define PERFC_IMPORT_SAFETENSORS_H

#include "import/architecture.h"
#include "import/job.h"

bool safetensors_read_file(struct import_job *job, struct architecture *model);
bool safetensors_read_bytes(struct import_job *job, const char *bytes, size_t length,
                            struct architecture *model);
bool safetensors_read_index(struct import_job *job, const char *text, size_t length,
                            struct architecture *model);

#endif
