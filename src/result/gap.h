/* gap.h: the time between what physics allows and what was measured, term by term. */
#ifndef PERFC_RESULT_GAP_H
#define PERFC_RESULT_GAP_H

#include "result/coefficient.h"
#include "result/measured.h"

/* Terms add up: limit + ... = expected, and the rest makes it what was measured. */
enum gap_term {
    GAP_LIMIT,
    GAP_ORDER,     /* operations one after another, what they write, experts touched rather than the fewest */
    GAP_BANDWIDTH, /* the share of the bandwidth that is reached */
    GAP_KERNELS,   /* the share of the peak in products of matrices and experts */
    GAP_ATTENTION, /* the same in attention */
    GAP_COMMUNICATION,
    GAP_LAUNCH, /* fixed time of operations */
    GAP_HOST,   /* fixed time of sequences */
    GAP_DRAFTS,
    GAP_INTERFERENCE, /* prefills of other users between one's own tokens */
    GAP_PREFILL,      /* of the own prompt; from here on, before the first token */
    GAP_REQUEST,
    GAP_STREAM,
    GAP_WAVE,
    GAP_QUEUE,
    GAP_REST, /* measured less expected: nothing in the model */
    GAP_TERMS
};

/* What a figure is a time of. */
enum gap_time { GAP_OF_TOKEN, GAP_OF_FIRST_TOKEN, GAP_OF_REQUEST };

struct gap {
    enum gap_time time;
    double seconds[GAP_TERMS];
    double expected, measured; /* seconds */
};

/* "bandwidth": the word that scripts know a term by. */
const char *gap_word(enum gap_term term);

/* False where there is no such time: sizes, and figures without an expected value or a limit. */
bool gap_find(const struct evaluation *evaluation, const struct measured_row *row, struct gap *out);

/* A single change of the engine that would make the expected value what was measured. */
struct gap_reason {
    enum coefficient coefficient;
    double factor; /* on times */
    double far;    /* how many of its own spreads that is */
};

/* The two likeliest, likelier first; how many there are at most `most`. */
size_t gap_reasons(const struct evaluation *evaluation, const struct measured_row *row,
                   struct gap_reason *out, size_t most);

#endif
