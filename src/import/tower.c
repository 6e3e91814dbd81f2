#include "import/config.h"
void config_tower(struct config *config) { (void)config; }
