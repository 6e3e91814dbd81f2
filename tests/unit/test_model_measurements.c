/* test_model_measurements.c: the 2,005 serving measurements that the calibration rests on, each with the
 * prototype's prediction beside it; the library must make the same one. The file is no part of the
 * distribution: where it is absent the test is skipped, and says so. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model_fixture.h"

#ifndef SOURCE_DIR
#define SOURCE_DIR "."
#endif

enum { COLUMNS = 18 };

/* Cuts a line at its commas, in place; no field of this file is quoted. */
static size_t split(char *line, char *fields[COLUMNS])
{
    size_t count = 0;
    line[strcspn(line, "\r\n")] = '\0';
    for (char *field = line; field != NULL && count < COLUMNS;) {
        char *comma = strchr(field, ',');
        fields[count++] = field;
        if (comma != NULL) {
            *comma++ = '\0';
        }
        field = comma;
    }
    return count;
}

static void check_row(char *fields[COLUMNS])
{
    struct fixture_model model;
    struct pm_gpu gpu;
    struct pm_engine engine;
    struct pm_result result;
    cr_assert(fixture_serving_model(&model, fields[3], fields[5], fields[4], fields[1]), "%s: %s", fields[0],
              fields[3]);
    cr_assert(fixture_gpu(&gpu, fields[4]));
    fixture_engine(&engine, fields[1]);
    engine.as_calibrated = true;
    engine.chunk = 0;
    struct pm_case input = fixture_case(&model.model, &gpu, &engine);
    input.dp = strtod(fields[7], NULL);
    input.tp = strtod(fields[6], NULL) / input.dp;
    input.ep = strtod(fields[8], NULL);
    input.prompt = strtod(fields[9], NULL);
    input.output = strtod(fields[10], NULL);
    input.batch = strtod(fields[11], NULL);
    double tpot = strtod(fields[16], NULL) / 1e3, ttft = strtod(fields[17], NULL) / 1e3;
    pm_evaluate(&input, &result);
    cr_expect(fabs(result.expected.tpot - tpot) <= 1e-3 * tpot, "%s: tpot %.6g ms, reference %.6g", fields[0],
              result.expected.tpot * 1e3, tpot * 1e3);
    cr_expect(fabs(result.expected.ttft - ttft) <= 1e-3 * ttft, "%s: ttft %.6g ms, reference %.6g", fields[0],
              result.expected.ttft * 1e3, ttft * 1e3);
    cr_expect_null(pm_verify(&input, &result), "%s: %s", fields[0], pm_verify(&input, &result));
}

Test(model_measurements, reference)
{
    char path[4096], line[1024], *fields[COLUMNS];
    size_t rows = 0;
    snprintf(path, sizeof path, "%s/../shared/facts/serving.csv", SOURCE_DIR);
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        cr_skip_test("SKIPPED: no serving measurements at %s", path);
    }
    cr_assert_not_null(fgets(line, sizeof line, file));
    while (fgets(line, sizeof line, file) != NULL) {
        cr_assert_eq(split(line, fields), COLUMNS);
        check_row(fields);
        rows++;
    }
    fclose(file);
    cr_assert_eq(rows, 2005);
}
