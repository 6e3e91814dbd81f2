/* result_fixture.h: a plan from a text, evaluated, for the tests of the result layer. */
#ifndef PERFC_TESTS_RESULT_FIXTURE_H
#define PERFC_TESTS_RESULT_FIXTURE_H

#include "result/evaluate.h"
#include "sema/plan.h"
#include "source/diag.h"

struct result_fixture {
    struct arena *arena;
    struct plan *plan;
    struct evaluator *evaluator;
    struct diags *diags;
};

/* Loads, checks and evaluates `text`; result_close() frees it. */
struct result_fixture result_open(const char *text);
void result_close(struct result_fixture *fixture);

/* A quantity of a scenario, model or card: "chat", "memory.kv". NAN when it does not exist. */
double result_number(struct result_fixture *fixture, enum kind kind, const char *name, const char *path);

/* Diagnostics with this code. */
size_t result_count(const struct result_fixture *fixture, enum diag_code code);

#endif
