/* architecture.c: layers, and how many parameters one has. The formulas are those of src/model/params.c,
 * which tests hold to published totals; here they serve what a declaration states as one number (MTP layers).
 */
#include "import/architecture.h"

#include <stdarg.h>

#include "base/arena.h"
#include "import/modules.h"

struct layer layer_usual(void)
{
    return (struct layer){.value = {
#define FIELD(id, name, kind, usual) [LAYER_##id] = usual,
                              LAYER_FIELDS(FIELD)
#undef FIELD
                          }};
}

void architecture_layers(struct arena *arena, struct architecture *model, size_t count)
{
    model->layers = ARENA_ARRAY(arena, struct layer, count);
    model->layer_count = count;
    for (size_t i = 0; i < count; i++)
        model->layers[i] = layer_usual();
}

void architecture_note(struct arena *arena, struct architecture *model, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    *VEC_PUSH(arena, model->notes) = arena_vprintf(arena, format, arguments);
    va_end(arguments);
}

/* Norms, biases, sinks and convolutions of the attention. */
static double attention_vectors(const struct layer *layer, double hidden)
{
    const double *v = layer->value;
    bool own = v[LAYER_REUSES_KV] == 0;
    double queries = v[LAYER_HEADS] * v[LAYER_HEAD_DIM], heads = own ? v[LAYER_KV_HEADS] : 0;
    double keys = heads * v[LAYER_HEAD_DIM], values = v[LAYER_SHARED_KV] ? 0 : heads * layer_v_dim(layer);
    double sum = v[LAYER_OUTPUT_BIAS] ? hidden : 0;
    switch ((enum attention_kind)v[LAYER_ATTENTION]) {
    case ATTENTION_GROUPED:
        sum += v[LAYER_QKV_BIAS] ? queries + keys + values : 0;
        sum += v[LAYER_SINKS] ? v[LAYER_HEADS] : 0;
        sum += v[LAYER_QK_NORM] == QK_NORM_HEAD   ? (own ? 2 : 1) * v[LAYER_HEAD_DIM]
               : v[LAYER_QK_NORM] == QK_NORM_FULL ? queries + keys
                                                  : 0;
        break;
    case ATTENTION_LATENT: sum += v[LAYER_Q_RANK] + v[LAYER_KV_RANK]; break;
    case ATTENTION_LINEAR: {
        double key_width = v[LAYER_LINEAR_KEY_HEADS] * v[LAYER_LINEAR_KEY_DIM];
        double value_width = v[LAYER_LINEAR_VALUE_HEADS] * v[LAYER_LINEAR_VALUE_DIM];
        sum += (2 * key_width + value_width) * v[LAYER_CONV_KERNEL] + 2 * v[LAYER_LINEAR_VALUE_HEADS] +
               v[LAYER_LINEAR_VALUE_DIM];
        break;
    }
    case ATTENTION_MAMBA: {
        double inner = v[LAYER_SSM_HEADS] * v[LAYER_SSM_HEAD_DIM];
        double convolved = inner + 2 * v[LAYER_SSM_GROUPS] * v[LAYER_SSM_STATE];
        sum += convolved * v[LAYER_CONV_KERNEL] + convolved + 3 * v[LAYER_SSM_HEADS] + inner;
        break;
    }
    case ATTENTION_NONE: break;
    }
    return sum + (v[LAYER_INDEX_HEADS] > 0 ? 2 * v[LAYER_INDEX_DIM] : 0);
}

static double bias_of(const struct layer *layer, double input, double width)
{
    return (layer->value[LAYER_FFN_GATED] ? 2 : 1) * width + input;
}

double layer_params(const struct layer *layer, double hidden)
{
    const double *v = layer->value;
    struct matrix matrices[MATRICES_MAX];
    size_t count = layer_matrices(layer, hidden, matrices);
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += matrices[i].count;
    if (v[LAYER_ATTENTION_PARAMS] == 0)
        sum += attention_vectors(layer, hidden);
    if (v[LAYER_FFN_BIAS])
        sum += bias_of(layer, hidden, v[LAYER_FFN]);
    if (v[LAYER_EXPERT_BIAS])
        sum += v[LAYER_EXPERTS] * bias_of(layer, hidden, v[LAYER_EXPERT_FFN]);
    sum += v[LAYER_ROUTER_BIAS] ? v[LAYER_EXPERTS] : 0;
    return sum + v[LAYER_NORMS] * hidden * (v[LAYER_NORM] == NORM_LAYER ? 2 : 1) + v[LAYER_EXTRA_PARAMS];
}
