/* fuzz_import_gguf.c: a libFuzzer target for the import of gguf headers. `make fuzz` builds and runs it. */
#include "fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return import_bytes(size % 3 == 0 ? "config.gguf" : "org__model.gguf", data, size, size % 2 == 1);
}
