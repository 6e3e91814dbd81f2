/* diff_fixture.c: two plans, compared. */
#include "diff_fixture.h"

#include <criterion/criterion.h>

struct pair pair_open(const char *old, const char *new)
{
    struct pair pair = {.old = result_open(old), .new = result_open(new)};
    cr_assert_eq(diags_errors(pair.old.diags) + diags_errors(pair.new.diags), 0);
    pair.diff = diff_compare(pair.new.arena, diff_side(pair.old.evaluator), diff_side(pair.new.evaluator));
    return pair;
}

void pair_close(struct pair *pair)
{
    result_close(&pair->old);
    result_close(&pair->new);
}
