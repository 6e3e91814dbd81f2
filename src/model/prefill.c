/* prefill.c: the steps of prompts: whole, in chunks that read weights and earlier tokens again, several side
 * by side, and through the stages of a pipeline (model.md sections 3 and 6). */
#include "model/internal.h"

/* ---- prefill -------------------------------------------------------------------------------- */

/* A prompt passes in chunks, each a step with the decoding sequences; many equal ones are priced at their
 * mean, which is exact while no operation changes sides. */
enum { CHUNKS_ONE_BY_ONE = 64 };

static void add_scaled(struct pm_step *sum, const struct pm_step *step, double times)
{
    struct pm_step scaled = *step;
    for (int i = 0; i < PM_BOUND_COUNT; i++) {
        scaled.term[i] *= times;
    }
    scaled.allreduces *= times;
    scaled.allreduce_time *= times;
    scaled.launches *= times;
    scaled.host_time *= times;
    scaled.bytes_moved *= times;
    scaled.weights_moved *= times;
    scaled.kv_moved *= times;
    scaled.work *= times;
    pm_step_add(sum, &scaled);
}

static double chunk_of(const struct pm_case *input)
{
    return input->engine->ideal ? 0 : pm_at_least(pm_chunk(input), 0);
}

double pm_prompt_chunks(const struct pm_case *input)
{
    double chunk = chunk_of(input), fresh = pm_prompt_tokens(input) - pm_cached_tokens(input);
    return chunk > 0 ? pm_at_least(ceil(fresh / chunk), 1) : 1;
}

/* Chunk `index` of a prompt, in a step of `load`, and for how many such steps it stands. */
bool pm_prompt_chunk(const struct pm_case *input, size_t index, struct pm_load *load, double *times)
{
    double cached = pm_cached_tokens(input), fresh = pm_prompt_tokens(input) - cached;
    double chunk = chunk_of(input), chunks = pm_prompt_chunks(input), done = (double)index * chunk;
    double tower = pm_at_most(input->model->tower_tokens, fresh);
    *times = 1;
    if (!(fresh > 0) || (chunks <= 1 && index > 0)) {
        return false;
    }
    if (chunks > CHUNKS_ONE_BY_ONE) {
        double equal = chunks - 1;
        if (index == 0) {
            load->prompt = chunk;
            load->cached = cached + (equal - 1) / 2 * chunk;
            load->requests = 0;
            load->tower_tokens = 0; /* with the last chunk */
            *times = equal;
            return true;
        }
        done = index == 1 ? equal * chunk : fresh;
        index--;
    }
    double rest = fresh - done;
    if (!(rest > 0)) {
        return false;
    }
    load->prompt = chunks > 1 ? pm_at_most(rest, chunk) : rest;
    load->cached = cached + done;
    load->requests = load->prompt >= rest ? 1 : 0;
    load->tower_tokens = index == 0 ? tower : 0;
    return true;
}

double pm_prefill_steps(const struct pm_case *input, const struct pm_load *base, struct pm_step *sum)
{
    double chunks = pm_prompt_chunks(input), times;
    struct pm_load load = *base;
    struct pm_step step;
    bool any = false;
    *sum = (struct pm_step){0};
    for (size_t index = 0; pm_prompt_chunk(input, index, &load, &times); index++) {
        any = true;
        pm_step_of(input, &load, chunks > 1 ? &step : sum, NULL, 0, NULL);
        if (times > 1) {
            add_scaled(sum, &step, times);
        } else if (chunks > 1) {
            pm_step_add(sum, &step);
        }
    }
    return any ? chunks : 0;
}

/* Chunks follow each other through the stages of a pipeline: n of them take n + s - 1 of the times that one
 * needs for one of s stages. */
void pm_pipeline(const struct pm_case *input, double chunks, struct pm_step *step)
{
    double stages = pm_layout_of(input).pp;
    if (stages > 1 && chunks > 1) {
        struct pm_step through = {0};
        add_scaled(&through, step, (chunks + stages - 1) / (chunks * stages));
        *step = through;
    }
}

/* ---- several prompts ------------------------------------------------------------------------ */

double pm_prompts_at_most(const struct pm_case *input, double wanted)
{
    double chunk = chunk_of(input), chunks = pm_prompt_chunks(input);
    double fresh = pm_prompt_tokens(input) - pm_cached_tokens(input);
    double most = chunks > 1 ? 1 / chunks : pm_at_least(pm_divide(chunk, fresh), 1);
    return chunk > 0 ? pm_at_most(wanted, most) : wanted;
}

void pm_crowd(const struct pm_case *input, double prompts, struct pm_load *load)
{
    double cached = pm_cached_tokens(input), fresh = pm_prompt_tokens(input) - cached;
    load->prompt = prompts * fresh;
    load->prompts = load->requests = prompts;
    load->cached = cached;
    load->tower_tokens = prompts * pm_at_most(input->model->tower_tokens, fresh);
}

double pm_crowded_step(const struct pm_case *input, const struct pm_load *decoding, double prompts)
{
    double chunks = pm_prompt_chunks(input);
    struct pm_step step;
    if (chunks > 1) {
        return pm_prefill_steps(input, decoding, &step) > 0 ? step.time / chunks : 0;
    }
    struct pm_load load = *decoding;
    pm_crowd(input, prompts, &load);
    pm_step_of(input, &load, &step, NULL, 0, NULL);
    return step.time;
}
