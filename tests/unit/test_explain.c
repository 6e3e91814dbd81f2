/* test_explain.c: derivations as trees: every input says where it was set, --set shows what it does, and each
 * format tells it. test_explain_walk.c walks all of them. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/number.h"
#include "result/derive.h"
#include "result_fixture.h"
#include "run.h"
#include "sema/unit.h"
#include "source/source.h"
#include "syntax/parse.h"

static const char cases[] =
    "gpu card { memory = 80 GB  bandwidth = 2 TB/s  peak.fp16 = 312 TFLOPS  peak.fp8 = 624 TFLOPS\n"
    "  link = 300 GB/s  link_domain = 8  price = 2 usd/h  tdp = 400 W }\n"
    "model bare { params = 7e9  layers = 32  hidden = 4096  heads = 32 }\n"
    "model grouped { layers = 32  hidden = 4096  heads = 32  kv_heads = 8  ffn = 14336  vocab = 128256 }\n"
    "model windowed { hidden = 1024  heads = 8  kv_heads = 4  ffn = 4096  vocab = 32000\n"
    "  block local { count = 10  window = 512 }\n"
    "  block global { count = 2 } }\n"
    "model mixture { layers = 16  hidden = 2048  heads = 16  kv_heads = 4  vocab = 50000\n"
    "  experts = 32  active_experts = 4  expert_ffn = 1024 }\n"
    "scenario step { gpu = card  model = bare  context = 4096 }\n"
    "scenario bound : step { engine = ideal  batch = 8 }\n"
    "scenario loop { gpu = card  model = grouped  prompt = 2000  output = 400  batch = 16 }\n"
    "scenario queue : loop { batch = 2000 }\n"
    "scenario tensor { gpu = card  model = grouped  prompt = 900  output = 100  batch = 16  tp = 4  weights "
    "= fp8 }\n"
    "scenario window { gpu = card  model = windowed  prompt = 2000  output = 400  batch = 16 }\n"
    "scenario experts { gpu = card  model = mixture  prompt = 500  output = 300  batch = 32  tp = 2 }\n"
    "scenario mixed : experts { weights.experts = fp8 }\n"
    "scenario draft : loop { speculation.tokens = 3  speculation.acceptance = 0.7 }\n"
    "scenario cloud { gpu = h100-sxm  model = llama-3.1-8b  prompt = 1000  output = 300  batch = 8 }\n"
    "scenario drafted : step { speculation.tokens = 1  speculation.acceptance = 0.5 }\n";

static const struct derive_node *find_node(const struct derive_node *node, const char *name)
{
    if (strcmp(node->name, name) == 0)
        return node;
    const struct derive_node *found = NULL;
    for (size_t i = 0; i < node->inputs.count && !found; i++)
        found = find_node(node->inputs.items[i], name);
    return found;
}

/* What is tried and does not hold, a division by zero included, leaves nothing behind. */
Test(explain, formulas_that_were_tried_report_nothing)
{
    struct result_fixture fixture =
        result_open("gpu card { memory = 80 GB  bandwidth = 2 TB/s  peak.fp16 = 312 TFLOPS }\n"
                    "model bare { params = 7e9  layers = 32  hidden = 4096  heads = 32 }\n"
                    "scenario empty { gpu = card  model = bare  context = 0 }\n");
    size_t before = diags_count(fixture.diags);
    struct decl *empty = plan_find(fixture.plan, KIND_SCENARIO, "empty");
    for (size_t i = 0; i < QUANTITY_COUNT; i++)
        if (quantity_info((enum quantity)i)->scope == QUANTITY_OF_SCENARIO)
            cr_assert_not_null(derive_tree(fixture.evaluator, empty, (enum quantity)i));
    cr_assert_eq(diags_count(fixture.diags), before);
    cr_assert_eq(diags_errors(fixture.diags), 0);
    result_close(&fixture);
}

Test(explain, says_where_an_input_was_set)
{
    struct result_fixture fixture = result_open(cases);
    struct decl *queue = plan_find(fixture.plan, KIND_SCENARIO, "queue");
    const struct derive_node *tree = derive_tree(fixture.evaluator, queue, Q_LATENCY);
    const struct derive_node *batch = find_node(tree, "batch"), *output = find_node(tree, "output");
    cr_assert(batch && output);
    cr_assert(batch->origin.origin == ORIGIN_PLAN && batch->origin.line == 13);
    cr_assert(output->origin.origin == ORIGIN_INHERITED && output->origin.line == 12);
    cr_assert_str_eq(output->origin.owner, "loop");
    tree = derive_tree(fixture.evaluator, plan_find(fixture.plan, KIND_SCENARIO, "cloud"), Q_CEILING_TPOT);
    const struct derive_node *bandwidth = find_node(tree, "gpu.bandwidth");
    cr_assert(bandwidth && bandwidth->origin.origin == ORIGIN_CATALOGUE);
    cr_assert_str_eq(bandwidth->full, "h100-sxm.bandwidth");
    cr_assert(bandwidth->origin.source != NULL);
    cr_assert(strncmp(bandwidth->origin.file, "stdlib:", 7) == 0);
    result_close(&fixture);
}

/* Every operation stands once with its arithmetic; 7e9 parameters at 2 bytes are 14e9 bytes in all. */
Test(explain, a_term_is_its_operations)
{
    struct result_fixture fixture = result_open(cases);
    struct decl *step = plan_find(fixture.plan, KIND_SCENARIO, "step");
    const struct derive_node *tree = derive_tree(fixture.evaluator, step, Q_DECODE_TIME_WEIGHTS);
    cr_assert(tree->formula != NULL);
    double sum = 0;
    for (size_t i = 0; i < tree->inputs.count; i++) {
        const struct derive_node *part = tree->inputs.items[i];
        if (!part->part)
            continue;
        const struct derive_node *bytes = find_node(part, "bytes"), *bandwidth = find_node(part, "bandwidth");
        cr_assert(bytes && bandwidth);
        /* 32 of each */
        sum += 32 * bytes->value.value;
    }
    cr_assert(sum >= 14e9 && sum < 14.1e9, "%g", sum);
    cr_assert(find_node(tree, "gpu.bandwidth") != NULL);
    result_close(&fixture);
}

/* A stack of experts on one GPU is arithmetic too where the plan does not say over how many they are spread:
 * 32 experts of 3 x 2048 x 1024 values of a byte, on two GPUs. */
Test(explain, experts_of_a_block_are_counted)
{
    struct result_fixture fixture = result_open(cases);
    struct decl *mixed = plan_find(fixture.plan, KIND_SCENARIO, "mixed");
    const struct derive_node *tree = derive_tree(fixture.evaluator, mixed, Q_MEMORY_WEIGHTS_EXPERTS);
    const struct derive_node *stack = find_node(tree, "block.experts");
    cr_assert_not_null(stack);
    cr_assert_not_null(stack->formula);
    cr_expect_float_eq(stack->value.value, 32.0 / 2 * 3 * 2048 * 1024, 1e-3);
    cr_expect_not_null(find_node(stack, "ep"));
    result_close(&fixture);
}

/* 16 tokens pass a matrix of 4096 x (4096 + 2 x 8 x 128) values of 2 bytes: 2 x 16 x 25,165,824 = 805,306,368
 * operations; activations of 4096 + 6144 columns in 2 bytes. One decode step attends to 2000 + 400 / 2
 * tokens. */
Test(explain, a_launch_is_a_product_of_its_sizes)
{
    struct result_fixture fixture = result_open(cases);
    struct decl *loop = plan_find(fixture.plan, KIND_SCENARIO, "loop");
    const struct derive_node *weights = derive_tree(fixture.evaluator, loop, Q_DECODE_TIME_WEIGHTS);
    const struct derive_node *projection = find_node(weights, "op.QKV_projection");
    cr_assert_not_null(projection);
    const struct derive_node *work = find_node(projection, "work"), *bytes = find_node(projection, "bytes");
    cr_assert(work && bytes);
    cr_expect_str_eq(work->formula, "2 FLOP * rows * matrix");
    cr_expect_float_eq(work->value.value, 805306368, 1);
    cr_expect_str_eq(find_node(work, "matrix")->formula, "inner * outer");
    cr_expect_float_eq(find_node(work, "outer")->value.value, 6144, 1e-9);
    cr_expect_float_eq(find_node(bytes, "weights")->value.value, 2 * 25165824.0, 1);
    cr_expect_str_eq(find_node(bytes, "weights")->formula, "matrix * bits * 1 B / 8");
    cr_expect_float_eq(find_node(bytes, "activations")->value.value, 2 * 16 * (4096 + 6144), 1e-6);
    const struct derive_node *cache = derive_tree(fixture.evaluator, loop, Q_DECODE_TIME_KV);
    const struct derive_node *attention = find_node(cache, "op.decode_attention");
    cr_assert_not_null(attention);
    const struct derive_node *read = find_node(attention, "cache");
    cr_expect_str_eq(read->formula, "sequences * attended * token_bytes");
    cr_expect_float_eq(find_node(read, "token_bytes")->value.value, 2 * 8 * 128 * 2, 1e-9);
    cr_expect_float_eq(find_node(read, "attended")->value.value, 2200, 1);
    result_close(&fixture);
}

/* 32 tokens choose 4 of 32 experts each: 32 (1 - (1 - 4/32)^32) = 31.554 are read, whatever the ceiling allows,
 * half of each on either GPU: 3 x 2048 x 1024 values of 2 bytes, in 16 layers. */
Test(explain, a_step_moves_the_experts_that_tokens_choose)
{
    struct result_fixture fixture = result_open(cases);
    struct decl *experts = plan_find(fixture.plan, KIND_SCENARIO, "experts");
    const struct derive_node *moved = derive_tree(fixture.evaluator, experts, Q_DECODE_MOVED_WEIGHTS);
    const struct derive_node *input = find_node(moved, "op.expert_input");
    const struct derive_node *output = find_node(moved, "op.expert_output");
    cr_assert(input && output && moved->formula);
    double read = 32 * (1 - pow(0.875, 32)) / 2 * 2048 * 1024 * 2;
    cr_expect_float_eq(input->value.value, 2 * read, 1e-6 * read);
    cr_expect_float_eq(output->value.value, read, 1e-6 * read);
    cr_expect(moved->value.value > 16 * 3 * read);
    result_close(&fixture);
}

/* ---- the command ------------------------------------------------------------------------------------- */

static const char small_plan[] =
    "gpu card { memory = 80 GB  bandwidth = 2 TB/s  peak.fp16 = 312 TFLOPS }\n"
    "model bare { params = 7e9  layers = 32  hidden = 4096  heads = 32 }\n"
    "scenario chat { gpu = card  model = bare  context = 4096  engine = ideal }\n";

Test(explain, prints_a_tree)
{
    struct arena *arena = arena_new();
    const char *path = scratch_file(arena, "plan.perf", small_plan);
    /* Wide enough for the longest name of a temporary directory. */
    struct run run = RUN(arena, "explain", path, "chat.ceiling.decode.memory_time", "--width", "400");
    cr_assert(run.status == 0, "%s", run.err);
    /* (14e9 + 4096 x 524288) / 2e12 */
    cr_assert(strncmp(run.out, "chat.ceiling.decode.memory_time = 8.07\xE2\x80\x89ms\n", 44) == 0, "%s",
              run.out);
    cr_assert(strstr(run.out, "  exactly 0.008073741824 s\n"));
    cr_assert(strstr(run.out, "\n\xE2\x94\x82 = decode.traffic / gpu.bandwidth\n"));
    cr_assert(strstr(run.out, "= 16.1\xE2\x80\x89GB / 2.00\xE2\x80\x89TB/s\n"));
    cr_assert(strstr(run.out, "gpu.bandwidth = 2.00\xE2\x80\x89TB/s; ") && strstr(run.out, "plan.perf:1\n"));
    cr_assert(!strstr(run.out, "was "));
    arena_free(arena);
}

Test(explain, set_shows_what_it_changes)
{
    struct arena *arena = arena_new();
    const char *path = scratch_file(arena, "plan.perf", small_plan);
    struct run run =
        RUN(arena, "explain", path, "chat.ceiling.decode.memory_time", "--set", "card.bandwidth=4 TB/s");
    cr_assert(run.status == 0, "%s", run.err);
    cr_assert(strstr(run.out, "memory_time = 4.04\xE2\x80\x89ms (was 8.07\xE2\x80\x89ms)\n"), "%s", run.out);
    cr_assert(strstr(run.out, "gpu.bandwidth = 4.00\xE2\x80\x89TB/s (was 2.00\xE2\x80\x89TB/s); --set\n"));
    cr_assert(strstr(run.out, "decode.traffic = 16.1\xE2\x80\x89GB\n"), "what stays says nothing");
    arena_free(arena);
}

static void check_json(json_t *node, size_t *count)
{
    cr_assert(json_is_string(json_object_get(node, "name")));
    cr_assert(json_object_get(node, "value") != NULL);
    ++*count;
    json_t *input;
    size_t i;
    json_array_foreach(json_object_get(node, "inputs"), i, input) check_json(input, count);
}

Test(explain, json_is_whole)
{
    struct arena *arena = arena_new();
    const char *path = scratch_file(arena, "plan.perf", small_plan);
    struct run run = RUN(arena, "explain", "-f", "json", path, "chat.tpot", "--set", "card.bandwidth=4 TB/s");
    cr_assert(run.status == 0, "%s", run.err);
    json_error_t error;
    json_t *root = json_loads(run.out, JSON_REJECT_DUPLICATES, &error);
    cr_assert(root != NULL, "%s at %d", error.text, error.line);
    json_t *tree = json_object_get(root, "derivation");
    size_t count = 0;
    check_json(tree, &count);
    cr_assert(count > 10);
    cr_assert_str_eq(json_string_value(json_object_get(tree, "full_name")), "chat.tpot");
    cr_assert_float_eq(json_real_value(json_object_get(tree, "value")), 0.004036870912, 1e-12);
    cr_assert_str_eq(json_string_value(json_object_get(tree, "unit")), "s");
    cr_assert_str_eq(json_string_value(json_object_get(tree, "was")), "8.07\xE2\x80\x89ms");
    json_decref(root);
    arena_free(arena);
}

Test(explain, markdown_is_a_list)
{
    struct arena *arena = arena_new();
    const char *path = scratch_file(arena, "plan.perf", small_plan);
    struct run run = RUN(arena, "explain", "-f", "md", path, "chat.decode.traffic");
    cr_assert(run.status == 0, "%s", run.err);
    cr_assert(strncmp(run.out, "### `chat.decode.traffic`\n\n", 27) == 0, "%s", run.out);
    cr_assert(strstr(run.out, "\n- `decode.traffic` = **16.1"));
    cr_assert(strstr(run.out, "\n  - `decode.weight_traffic` = **14.0"));
    arena_free(arena);
}

/* 8 030 261 248 parameters, as its publisher counts them; the name has dots of its own. */
Test(explain, the_catalogue_too)
{
    struct arena *arena = arena_new();
    const char *path = scratch_file(arena, "plan.perf", small_plan);
    struct run run = RUN(arena, "explain", path, "llama-3.1-8b.params");
    cr_assert(run.status == 0, "%s", run.err);
    cr_assert(strstr(run.out, "exactly 8030261248\n"), "%s", run.out);
    cr_assert(strstr(run.out, "= 3 * layers * hidden * ffn\n"), "%s", run.out);
    arena_free(arena);
}

Test(explain, what_does_not_exist_says_why)
{
    struct arena *arena = arena_new();
    const char *path = scratch_file(arena, "plan.perf", small_plan);
    struct run run = RUN(arena, "explain", path, "chat.ttft");
    cr_assert(run.status == 0);
    cr_assert(strstr(run.out, "chat.ttft does not exist: the scenario has no prompt\n"), "%s", run.out);
    run = RUN(arena, "explain", "-f", "csv", path, "chat.tpot");
    cr_assert(run.status == 2);
    run = RUN(arena, "explain", path, "chat.tpott");
    cr_assert(run.status == 2 && strstr(run.err, "did you mean `tpot`?"));
    arena_free(arena);
}
