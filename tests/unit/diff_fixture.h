/* diff_fixture.h: two plans, compared. */
#ifndef PERFC_TEST_DIFF_FIXTURE_H
#define PERFC_TEST_DIFF_FIXTURE_H

#include "result/diff.h"
#include "result_fixture.h"

struct pair {
    struct result_fixture old, new;
    struct diff *diff;
};

/* The texts of two plans without errors. The caller closes the pair. */
struct pair pair_open(const char *old, const char *new);
void pair_close(struct pair *pair);

#endif
