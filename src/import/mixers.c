/* mixers.c: layers that keep a state in place of a cache, as several families have them. */
#include "import/mixers.h"

#include <math.h>
#include <string.h>

/* ---- Mamba 1 ------------------------------------------------------------------------------- */

/* in_proj, convolution, x_proj, dt_proj, A, D, out_proj. Jamba has norms on dt, B and C. */
static double mamba_params(const struct mamba *mamba, double hidden, bool norms)
{
    return 2 * hidden * mamba->inner + mamba->inner * mamba->kernel + mamba->inner +
           mamba->inner * (mamba->rank + 2 * mamba->state) + mamba->rank * mamba->inner + mamba->inner +
           mamba->inner * mamba->state + mamba->inner + mamba->inner * hidden +
           (norms ? mamba->rank + 2 * mamba->state : 0);
}

/* What is said as a number of parameters and bytes of state still needs heads: of 64 where that goes. */
struct layer mixer_recurrent(double width, double state, double kernel, double params, double bytes)
{
    struct layer layer = layer_usual();
    double *v = layer.value, size = fmod(width, 64) == 0 ? 64 : 1;
    v[LAYER_ATTENTION] = ATTENTION_MAMBA;
    v[LAYER_SSM_HEADS] = width / size;
    v[LAYER_SSM_HEAD_DIM] = size;
    v[LAYER_SSM_STATE] = state;
    v[LAYER_CONV_KERNEL] = kernel;
    v[LAYER_ATTENTION_PARAMS] = params;
    v[LAYER_STATE] = bytes;
    return layer;
}

/* Unlike Mamba-2's, its convolution runs over the inner channels alone. */
struct layer mixer_mamba(const struct mamba *mamba, double hidden, bool norms)
{
    double tail = mamba->kernel > 1 ? mamba->kernel - 1 : 0;
    return mixer_recurrent(mamba->inner, mamba->state, mamba->kernel, mamba_params(mamba, hidden, norms),
                           mamba->inner * (mamba->state * 4 + tail * 2));
}

double mixer_rank(struct config *config, const char *key, double hidden)
{
    const char *word = config_word_if(config, key);
    double rank = ceil(hidden / 16);
    if (!(word && strcmp(word, "auto") == 0))
        rank = config_count_or(config, key, rank);
    return rank;
}

/* ---- Mamba-2 ------------------------------------------------------------------------------- */

struct layer mixer_mamba2(struct config *config, const struct mamba2_keys *keys)
{
    struct layer layer = layer_usual();
    double *v = layer.value, inner = config_size_or(config, keys->expand, 2) * config->model.hidden;
    if (keys->width)
        inner = config_size_or(config, keys->width, inner);
    v[LAYER_ATTENTION] = ATTENTION_MAMBA;
    v[LAYER_SSM_HEADS] = config_needed(config, keys->heads);
    const char *word = config_word_if(config, keys->head_dim);
    v[LAYER_SSM_HEAD_DIM] = word && strcmp(word, "auto") == 0
                                ? inner / v[LAYER_SSM_HEADS]
                                : config_count_or(config, keys->head_dim, inner / v[LAYER_SSM_HEADS]);
    v[LAYER_SSM_GROUPS] = config_needed(config, keys->groups);
    v[LAYER_SSM_STATE] = config_needed(config, keys->state);
    v[LAYER_CONV_KERNEL] = config_needed(config, keys->kernel);
    if (v[LAYER_SSM_HEADS] * v[LAYER_SSM_HEAD_DIM] != inner)
        config_error(config, NULL, keys->heads, "`%s` and `%s` make %.0f channels, not the %.0f there are",
                     keys->heads, keys->head_dim, v[LAYER_SSM_HEADS] * v[LAYER_SSM_HEAD_DIM], inner);
    if (!config_flag_or(config, keys->conv_bias, true))
        config_error(config, NULL, keys->conv_bias, "`%s` is false, which a `block` cannot say",
                     keys->conv_bias);
    if (config_flag_or(config, keys->proj_bias, false))
        v[LAYER_EXTRA_PARAMS] = 2 * inner + 2 * v[LAYER_SSM_GROUPS] * v[LAYER_SSM_STATE] +
                                v[LAYER_SSM_HEADS] + config->model.hidden;
    return layer;
}
