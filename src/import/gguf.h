/* gguf.h: model files of llama.cpp. Only the header is read. */
#ifndef PERFC_IMPORT_GGUF_H
#define PERFC_IMPORT_GGUF_H

#include "import/architecture.h"
#include "import/job.h"

bool gguf_read_file(struct import_job *job, struct architecture *model);
bool gguf_read_bytes(struct import_job *job, const char *bytes, size_t length, struct architecture *model);

#endif
