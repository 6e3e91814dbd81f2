/* threshold.h: how far one input of a scenario may go before something changes: decode's bound, whether it
 * fits, or an assertion. Solved by bracketing and bisection on the evaluation itself, to the whole number for
 * batches and lengths and to the last digits for rates, so that what is printed is where it happens. */
#ifndef PERFC_RESULT_THRESHOLD_H
#define PERFC_RESULT_THRESHOLD_H

#include "result/vary.h"

/* What a threshold is about: a number that stays the same while nothing changes; negative: it cannot be said
 * there, which is no change. */
typedef int (*threshold_state)(void *context, const struct evaluation *evaluation);

struct threshold_question {
    threshold_state state;
    void *context;
    unsigned parts; /* of a result that the state is read from (enum pm_part) */
};

struct threshold_question threshold_question(threshold_state state, void *context);

enum { THRESHOLD_QUESTIONS_MAX = 16 };

struct threshold {
    bool exists;
    enum vary input;
    bool above;   /* it changes with more of the input; false: with less */
    double last;  /* the last value at which nothing has changed yet */
    double first; /* the first at which it has: the next whole number, or beside it in the last digits */
    int from, to; /* states before and after */
};

/* The nearest change in one direction; does not exist when there is none within reach (the input times or
 * over 1024 for batches and lengths, 16 for the rest; shares up to 1). */
struct threshold threshold_find(struct variation *variation, enum vary input, bool above,
                                threshold_state state, void *context);

/* The same for up to THRESHOLD_QUESTIONS_MAX questions, which share what they look at. */
void thresholds_find(struct variation *variation, enum vary input, bool above,
                     const struct threshold_question *questions, size_t count, struct threshold *out);

/* What bounds the expected decode step, as enum pm_bound. */
int threshold_bound(void *unused, const struct evaluation *evaluation);

/* Whether the ceiling of the decode step is compute (1) or memory (0). */
int threshold_ceiling_side(void *unused, const struct evaluation *evaluation);

/* Whether everything fits: all sequences of a static step, and of a closed loop all users at once (those that
 * do not fit wait). */
int threshold_fits(void *unused, const struct evaluation *evaluation);

/* An assertion as the context of threshold_asserted(): 1 holds, 0 fails. */
struct threshold_assertion {
    struct evaluator *evaluator;
    const struct check *check;
    bool read; /* set once the scenario was read */
};
int threshold_asserted(void *assertion, const struct evaluation *evaluation);

/* Whether a condition can be decided for a changed scenario: it reads quantities only, since attributes are
 * what the plan says whatever is tried here. */
bool threshold_can_ask(const struct check *check);

#endif
