/* mixers.h: layers that keep a state in place of a cache, as several families have them. */
#ifndef PERFC_IMPORT_MIXERS_H
#define PERFC_IMPORT_MIXERS_H

#include "import/config.h"

/* A mixer that is said as a number of parameters and bytes of state. */
struct layer mixer_recurrent(double width, double state, double kernel, double params, double bytes);

struct mamba {
    double inner, state, kernel, rank;
};

struct layer mixer_mamba(const struct mamba *mamba, double hidden, bool norms);

/* The rank of the time step: a number, or what "auto" and no key mean. */
double mixer_rank(struct config *config, const char *key, double hidden);

/* The keys of a family. Its inner width is `width`, or else `expand` times the hidden size. */
struct mamba2_keys {
    const char *heads, *head_dim, *groups, *state, *kernel, *expand, *width, *conv_bias, *proj_bias;
};

struct layer mixer_mamba2(struct config *config, const struct mamba2_keys *keys);

#endif
