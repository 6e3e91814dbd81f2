#include "import/config.h"
#include "import/storage.h"
void config_quantization(struct config *config) { config->model.weights = storage_standard("bf16"); }
