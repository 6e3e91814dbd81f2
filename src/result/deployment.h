/* deployment.h: what is served on what, in a line: an engine fitted to measurements knows by it where they
 * were made. */
#ifndef PERFC_RESULT_DEPLOYMENT_H
#define PERFC_RESULT_DEPLOYMENT_H

#include "result/bind.h"

/* "minimax-m2.5 fp8 on h200-sxm, tp 4": model, formats of its matrices, card and layout. */
const char *deployment_text(struct arena *arena, const struct binding *binding);

/* Whether `list`, deployments with "; " between them, has this one. */
bool deployment_listed(const char *list, const char *deployment);

#endif
