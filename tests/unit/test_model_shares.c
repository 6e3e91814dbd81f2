/* test_model_shares.c: how weights and sequences are divided among GPUs, against arithmetic by hand. The
 * cases are those in which a changed sign or rounding of the model went unseen by every other test. */
#include <criterion/criterion.h>
#include <math.h>

#include "model_fixture.h"

enum { FFN = 3 }; /* as weights_by_class has them: embedding, positions, attention, ffn */

/* One layer of width 1000 without attention, on a card with much memory, under the engine without overhead.
 */
struct shares {
    struct fixture_model model;
    struct pm_gpu gpu;
    struct pm_engine engine;
};

static struct pm_case shares_case(struct shares *shares, struct pm_block block)
{
    shares->model = (struct fixture_model){.model = {.hidden = 1000}, .blocks = {block}};
    fixture_connect(&shares->model, 1);
    fixture_formats(&shares->model, &fixture_bf16);
    fixture_gpu(&shares->gpu, "h100_sxm");
    fixture_ideal(&shares->engine);
    struct pm_case input = fixture_case(&shares->model.model, &shares->gpu, &shares->engine);
    input.context = 1000;
    return input;
}

static void expect_near(double value, double expected)
{
    cr_expect(fabs(value - expected) <= 1e-9 * expected, "%.12g, not %.12g", value, expected);
}

/* 3 x 1000 x 4000 parameters are counted and twice as many declared, of 2 bytes each: 48 MB. */
Test(model_shares, declared_parameters_scale_every_class)
{
    struct shares shares;
    struct pm_memory memory;
    struct pm_case input = shares_case(
        &shares,
        (struct pm_block){.count = 1, .attention = PM_ATTENTION_NONE, .ffn = 4000, .ffn_gated = true});
    shares.model.model.declared_params = 24e6;
    pm_memory_of(&input, &memory);
    expect_near(memory.weights_by_class[FFN], 48e6);
    expect_near(memory.weights, 48e6);
}

/* Experts of width 500 inside a model of 1000: a projection down and one up, 2 x 1000 x 500 parameters, of
 * which each of two GPUs holds half, in 2 bytes: 1 MB. */
Test(model_shares, projections_around_narrow_experts_are_split)
{
    struct shares shares;
    struct pm_memory memory;
    struct pm_case input = shares_case(&shares, (struct pm_block){.count = 1,
                                                                  .attention = PM_ATTENTION_NONE,
                                                                  .ffn_gated = true,
                                                                  .experts = 4,
                                                                  .active_experts = 2,
                                                                  .expert_ffn = 100,
                                                                  .expert_input = 500});
    input.tp = 2;
    pm_memory_of(&input, &memory);
    expect_near(memory.weights_by_class[FFN], 1e6);
}

/* Nine sequences over eight replicas are two on one of them, so that each may be as long as of sixteen, and
 * half as long as of eight. */
Test(model_shares, the_fullest_replica_bounds_the_context)
{
    struct shares shares;
    struct pm_memory eight, nine, sixteen;
    struct pm_case input = shares_case(&shares, (struct pm_block){.count = 1,
                                                                  .attention = PM_ATTENTION_GROUPED,
                                                                  .heads = 8,
                                                                  .kv_heads = 8,
                                                                  .head_dim = 128,
                                                                  .v_dim = 128,
                                                                  .ffn = 4000,
                                                                  .ffn_gated = true});
    input.dp = 8;
    input.batch = 8;
    pm_memory_of(&input, &eight);
    input.batch = 9;
    pm_memory_of(&input, &nine);
    input.batch = 16;
    pm_memory_of(&input, &sixteen);
    cr_expect_gt(nine.max_context, 0);
    cr_expect_eq(nine.max_context, sixteen.max_context, "%.0f, not %.0f", nine.max_context,
                 sixteen.max_context);
    cr_expect(fabs(nine.max_context - eight.max_context / 2) <= 1, "%.0f, not half of %.0f", nine.max_context,
              eight.max_context);
}
