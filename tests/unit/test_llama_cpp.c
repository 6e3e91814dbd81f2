/* test_llama_cpp.c: llama.cpp against what it prints of itself: tests/field/llama-cpp.csv has rows of
 * llama-bench and llama-batched-bench with their sources, mixtures of experts above all, batches to 32 and
 * prompts behind 32,768 tokens. Rows that are set aside say why. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "faults.h"
#include "result_fixture.h"
#include "run.h"

TestSuite(llama_cpp, .init = set_up, .fini = tear_down);

enum column {
    ID,
    SOURCE,
    BUILD,
    GPU,
    MODEL,
    WEIGHTS,
    EXPERTS,
    HEAD,
    METRIC,
    BATCH,
    DEPTH,
    TOKENS,
    MICROBATCH,
    VALUE,
    SET_ASIDE,
    COLUMNS
};

struct row {
    char *field[COLUMNS];
    bool decode;
    double measured, error; /* s a step or a prompt; predicted / measured - 1 */
};

static struct {
    VEC(struct row) list;
} rows;

static double number(const struct row *row, enum column column)
{
    return strtod(row->field[column], NULL);
}

static void read_row(char *line)
{
    struct row row = {.decode = false};
    for (size_t i = 0; i < COLUMNS; i++) {
        row.field[i] = line;
        line += strcspn(line, ",");
        if (*line != '\0')
            *line++ = '\0';
    }
    if (row.field[SET_ASIDE][0] != '\0')
        return;
    row.decode = strcmp(row.field[METRIC], "decode") == 0;
    row.measured = number(&row, row.decode ? BATCH : TOKENS) / number(&row, VALUE);
    *VEC_PUSH(arena, rows.list) = row;
}

/* A decode step at the mean of the contexts it was measured over, or a prompt in steps of `microbatch`. */
static void put_scenario(struct buffer *plan, const struct row *row)
{
    double depth = number(row, DEPTH), tokens = number(row, TOKENS);
    buffer_printf(plan, "scenario \"%s\" { gpu = %s  model = %s  engine = llama-cpp  weights = %s\n",
                  row->field[ID], row->field[GPU], row->field[MODEL], row->field[WEIGHTS]);
    if (row->field[EXPERTS][0] != '\0')
        buffer_printf(plan, "  weights.experts = %s\n", row->field[EXPERTS]);
    if (row->decode)
        buffer_printf(plan, "  batch = %s  context = %g }\n", row->field[BATCH], depth + tokens / 2);
    else
        buffer_printf(plan, "  prompt = %g  cached_prefix = %g  output = 1  chunk = %s }\n", depth + tokens,
                      depth, row->field[MICROBATCH]);
}

static void predict_all(void)
{
    char *text = read_file(arena, source_path(arena, "tests/field/llama-cpp.csv"), NULL);
    strtok(text, "\n");
    for (char *line; (line = strtok(NULL, "\n")) != NULL;)
        read_row(line);
    struct buffer plan = buffer_in(arena);
    for (size_t i = 0; i < rows.list.count; i++)
        put_scenario(&plan, &rows.list.items[i]);
    struct result_fixture fixture = result_open(buffer_string(&plan));
    for (size_t i = 0; i < rows.list.count; i++) {
        struct row *row = &rows.list.items[i];
        double predicted =
            result_number(&fixture, KIND_SCENARIO, row->field[ID], row->decode ? "tpot" : "ttft");
        row->error = predicted / row->measured - 1;
    }
    result_close(&fixture);
}

/* Rows of the same metric that are like `like` in that column, no farther off than `within`. */
static size_t count_alike(const struct row *like, enum column column, double within)
{
    size_t count = 0;
    for (size_t i = 0; i < rows.list.count; i++) {
        const struct row *row = &rows.list.items[i];
        bool alike = strcmp(row->field[column], like->field[column]) == 0 && row->decode == like->decode;
        count += alike && fabs(row->error) <= within;
    }
    return count;
}

/* Half of the rows of a card or a model with four or more, each of decoding and of prompts, lie within a
 * quarter of what was measured. Known to miss that: dense prompts of an RTX 4090, up to 1.7 times as fast as
 * predicted, since builds of 2024 were slower and the fit has more of them; and long latent prompts, which
 * llama.cpp attends to in their compressed form, at twice the work. */
static bool is_missed(const struct row *row, enum column column)
{
    return !row->decode && (strcmp(row->field[column], "llama-3-8b") == 0 ||
                            strcmp(row->field[column], "glm-4.7-flash") == 0);
}

static void check_groups(enum column column)
{
    for (size_t i = 0; i < rows.list.count; i++) {
        const struct row *row = &rows.list.items[i];
        size_t all = count_alike(row, column, INFINITY), near = count_alike(row, column, 0.25);
        if (all >= 4 && (2 * near < all) != is_missed(row, column))
            FAULT("%s of %s: %zu of %zu within a quarter", row->field[METRIC], row->field[column], near, all);
    }
}

Test(llama_cpp, predicts_what_it_prints_of_itself)
{
    predict_all();
    size_t steps = 0, near_steps = 0, prompts = 0, near_prompts = 0;
    for (size_t i = 0; i < rows.list.count; i++) {
        const struct row *row = &rows.list.items[i];
        bool near = fabs(row->error) <= 0.25;
        *(row->decode ? &steps : &prompts) += 1;
        *(row->decode ? &near_steps : &near_prompts) += near;
        if (!(fabs(log1p(row->error)) <= log(1.85)))
            FAULT("%s (%s): off by %+.0f %%", row->field[ID], row->field[SOURCE], 100 * row->error);
    }
    cr_assert(steps > 200 && prompts > 100);
    if (near_steps < 0.9 * (double)steps || near_prompts < 0.7 * (double)prompts)
        FAULT("%zu of %zu steps and %zu of %zu prompts within a quarter", near_steps, steps, near_prompts,
              prompts);
    check_groups(GPU);
    check_groups(MODEL);
    EXPECT_NO_FAULTS();
}

/* ---- one token ------------------------------------------------------------------------------ */

static const char *const one_token_models[] = {"gpt-oss-20b", "qwen3-30b-a3b", "mixtral-8x7b",
                                               "llama-3.1-8b"};

enum { ONE_TOKEN_MODELS = sizeof one_token_models / sizeof one_token_models[0] };

static void put_one_token(struct buffer *plan, const char *gpu, const char *engine)
{
    for (size_t i = 0; i < ONE_TOKEN_MODELS; i++)
        buffer_printf(
            plan,
            "scenario \"%s, %s, %s\" { gpu = %s  model = %s  engine = %s  weights = q4_0  context = "
            "128 }\n",
            gpu, one_token_models[i], engine, gpu, one_token_models[i], engine);
}

static void check_one_token(struct result_fixture *fixture, const char *gpu, const char *engine)
{
    for (size_t i = 0; i < ONE_TOKEN_MODELS; i++) {
        char *name = arena_printf(arena, "%s, %s, %s", gpu, one_token_models[i], engine);
        double compute = result_number(fixture, KIND_SCENARIO, name, "decode.time.compute");
        if (compute != 0)
            FAULT("%s: %.3g s of a token's time go to arithmetic", name, compute);
    }
}

/* One token multiplies every weight that it reads once: two operations for half a byte and more. So no card
 * with ten operations for a byte waits for its arithmetic, whatever share of either it reaches. Engines that
 * serve are fitted where several users run, and on the cards of that fit say nothing of one token alone. */
Test(llama_cpp, one_token_never_waits_for_arithmetic)
{
    struct result_fixture catalogue = result_open("");
    struct buffer plan = buffer_in(arena);
    size_t count, cards = 0;
    struct decl **gpus = plan_catalogue(catalogue.plan, KIND_GPU, &count);
    for (size_t i = 0; i < count; i++) {
        double peak = plan_number(catalogue.plan, gpus[i], ATTR_GPU_PEAK_FP16, 0);
        double bandwidth = plan_number(catalogue.plan, gpus[i], ATTR_GPU_BANDWIDTH, 1);
        if (peak < 10 * bandwidth)
            continue;
        gpus[cards++] = gpus[i];
        put_one_token(&plan, gpus[i]->name, "llama-cpp");
        if (!plan_bool(catalogue.plan, gpus[i], ATTR_GPU_MOE_CALIBRATED, false))
            put_one_token(&plan, gpus[i]->name, "typical");
    }
    cr_assert(cards > 80, "%zu cards", cards);
    struct result_fixture fixture = result_open(buffer_string(&plan));
    for (size_t i = 0; i < cards; i++) {
        check_one_token(&fixture, gpus[i]->name, "llama-cpp");
        if (!plan_bool(catalogue.plan, gpus[i], ATTR_GPU_MOE_CALIBRATED, false))
            check_one_token(&fixture, gpus[i]->name, "typical");
    }
    result_close(&fixture);
    result_close(&catalogue);
    EXPECT_NO_FAULTS();
}
