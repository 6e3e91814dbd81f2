/* json_number.h: number_shortest() for reports with a million numbers. */
#ifndef PERFC_BACKEND_JSON_NUMBER_H
#define PERFC_BACKEND_JSON_NUMBER_H

#include "base/number.h"

/* The same text as number_shortest(), several times as fast for magnitudes from 1e-6 to 2^53. */
const char *json_number(char text[NUMBER_TEXT_MAX], double value);

#endif
