/* fuzz_import_config.c: a libFuzzer target for the import of config.json files. `make fuzz` builds and runs
 * it. */
#include "fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return import_bytes(size % 3 == 0 ? "config.json" : "org__model.json", data, size, size % 2 == 1);
}
