/* fuzz_import_safetensors.c: a libFuzzer target for the import of safetensors headers. `make fuzz` builds and
 * runs it. */
#include "fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return import_bytes(size % 3 == 0 ? "config.safetensors" : "org__model.safetensors", data, size,
                        size % 2 == 1);
}
