/* test_import_families.c: configurations that nobody had at hand when the importer was written, held to what
 * is known of each: tests/import/families.cases, whose comments say where a figure comes from. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "faults.h"
#include "import_fixture.h"
#include "run.h"

TestSuite(import_families, .init = set_up, .fini = tear_down);

enum { NAME, PARAMS, ACTIVE, CACHE, WINDOWS, STATES, CONFIG, FIELDS };

static const char *const quantities[FIELDS] = {
    [PARAMS] = "params",           [ACTIVE] = "active_params", [CACHE] = "kv_bytes_per_token",
    [WINDOWS] = "kv_bytes_window", [STATES] = "state_bytes",
};

static void hold(char *const fields[FIELDS])
{
    struct import_run run = import_bytes("m.json", fields[CONFIG], strlen(fields[CONFIG]));
    if (!run.known) {
        FAULT("%s: %s", fields[NAME], import_error(&run).message);
        import_close(&run);
        return;
    }
    struct result_fixture fixture = import_evaluate_text(run.imported.text);
    for (size_t i = PARAMS; i < CONFIG; i++) {
        double expected = strtod(fields[i], NULL);
        if (i == ACTIVE && expected == 0)
            continue;
        double found = result_number(&fixture, KIND_MODEL, "m", quantities[i]);
        if (found != expected)
            FAULT("%s: %s is %.0f, not %.0f", fields[NAME], quantities[i], found, expected);
    }
    result_close(&fixture);
    import_close(&run);
}

Test(import_families, have_the_totals_and_caches_that_are_known)
{
    char *text = read_file(arena, source_path(arena, "tests/import/families.cases"), NULL);
    size_t count = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char *fields[FIELDS] = {line};
        size_t field = 1;
        for (char *at = line; *at && field < FIELDS; at++)
            if (*at == '|') {
                *at = '\0';
                fields[field++] = at + 1;
            }
        if (*line == '#')
            continue;
        cr_assert(field == FIELDS, "%s has %zu fields", line, field);
        hold(fields);
        count++;
    }
    cr_assert(count >= 70, "%zu cases", count);
    EXPECT_NO_FAULTS();
}
