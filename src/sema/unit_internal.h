/* unit_internal.h: what the files of unit.h share. */
#ifndef PERFC_SEMA_UNIT_INTERNAL_H
#define PERFC_SEMA_UNIT_INTERNAL_H

#include "sema/unit.h"

/* clang-format off */
/* Dimensions that have a unit of their own, or a word. */
#define DIM_DATA_ONLY {{[DIM_DATA] = 1}}
#define DIM_DATA_RATE_ONLY {{[DIM_DATA] = 1, [DIM_TIME] = -1}}
#define DIM_WORK_ONLY {{[DIM_WORK] = 1}}
#define DIM_WORK_RATE_ONLY {{[DIM_WORK] = 1, [DIM_TIME] = -1}}
#define DIM_TIME_ONLY {{[DIM_TIME] = 1}}
#define DIM_TOKEN_ONLY {{[DIM_TOKEN] = 1}}
#define DIM_REQUEST_ONLY {{[DIM_REQUEST] = 1}}
#define DIM_USD_ONLY {{[DIM_USD] = 1}}
#define DIM_EUR_ONLY {{[DIM_EUR] = 1}}
#define DIM_ENERGY_ONLY {{[DIM_ENERGY] = 1}}
#define DIM_POWER_ONLY {{[DIM_ENERGY] = 1, [DIM_TIME] = -1}}
#define DIM_NONE_ONLY {{0}}
/* clang-format on */

/* The unit of exactly this name without a `/`, or false. */
bool unit_simple(const char *text, size_t length, struct unit *unit);

#endif
