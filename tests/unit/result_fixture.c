/* result_fixture.c: writes the text to a scratch file, since plans are read from files, and evaluates it. */
#include "result_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/arena.h"
#include "base/intern.h"
#include "source/source.h"

struct result_fixture result_open(const char *text)
{
    const char *directory = getenv("TMPDIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/perfc-result-XXXXXX", directory ? directory : "/tmp");
    int descriptor = mkstemp(path);
    cr_assert(descriptor >= 0, "no scratch file at %s", path);
    size_t length = strlen(text);
    cr_assert(write(descriptor, text, length) == (ssize_t)length);
    close(descriptor);

    struct result_fixture fixture = {.arena = arena_new()};
    const char *unreadable;
    struct sources *sources = sources_new(fixture.arena);
    fixture.diags = diags_new(fixture.arena);
    fixture.plan = plan_load(fixture.arena, strings_new(fixture.arena), sources, fixture.diags, path,
                             (struct plan_options){0}, &unreadable);
    unlink(path);
    cr_assert(unreadable == NULL, "%s", unreadable);
    fixture.evaluator = evaluator_new(fixture.plan);
    plan_check(fixture.plan);
    evaluate_all(fixture.evaluator);
    return fixture;
}

void result_close(struct result_fixture *fixture)
{
    arena_free(fixture->arena);
}

double result_number(struct result_fixture *fixture, enum kind kind, const char *name, const char *path)
{
    struct decl *decl = plan_find(fixture->plan, kind, name);
    struct report_quantity quantity;
    cr_assert(decl != NULL, "no %s", name);
    cr_assert(evaluate_quantity(fixture->evaluator, decl, path, &quantity), "no %s.%s", name, path);
    return quantity.type == QUANTITY_NUMBER ? quantity.value
           : quantity.type == QUANTITY_BOOL ? quantity.boolean
                                            : (double)NAN;
}

size_t result_count(const struct result_fixture *fixture, enum diag_code code)
{
    size_t count = 0;
    for (size_t i = 0; i < diags_count(fixture->diags); i++)
        count += diags_get(fixture->diags, i)->code == code;
    return count;
}
