/* bench.c: how fast perfc is. Prints figures; nothing here passes or fails.
 *
 *     perfc-bench PERFC EXAMPLES-DIRECTORY
 *
 * Times are wall clock of whole processes, the median of several runs; memory is the peak resident set. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "model/perfmodel.h"

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Of this process alone, however busy the machine is. */
static double processor_time(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

struct cost {
    double seconds;
    double bytes; /* peak resident */
    int status;
};

/* Runs the command with its outputs thrown away. */
static struct cost run_once(const char *const *argv)
{
    double started = now();
    pid_t child = fork();
    if (child < 0)
        fail("fork");
    if (child == 0) {
        int null = open("/dev/null", O_RDWR);
        if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
            _exit(127);
        execv(argv[0], (char *const *)(size_t)argv);
        _exit(127);
    }
    int status;
    struct rusage usage;
    if (wait4(child, &status, 0, &usage) < 0)
        fail("wait4");
    return (struct cost){
        .seconds = now() - started,
        .bytes = 1024.0 * (double)usage.ru_maxrss,
        .status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
    };
}

static int by_seconds(const void *left, const void *right)
{
    double a = ((const struct cost *)left)->seconds, b = ((const struct cost *)right)->seconds;
    return (a > b) - (a < b);
}

enum { RUNS_MAX = 31 };

static struct cost run(const char *const *argv, int runs)
{
    struct cost costs[RUNS_MAX];
    for (int i = 0; i < runs; i++)
        costs[i] = run_once(argv);
    qsort(costs, (size_t)runs, sizeof costs[0], by_seconds);
    return costs[runs / 2];
}

static void print_cost(const char *what, struct cost cost, const char *remark)
{
    printf("%-34s %9.2f ms %8.1f MB  %s\n", what, 1e3 * cost.seconds, 1e-6 * cost.bytes, remark);
    if (cost.status != 0)
        printf("%-34s exit status %d\n", "", cost.status);
    fflush(stdout);
}

/* A plan with `count` scenarios that differ in card, batch and length. */
static void write_plan(const char *path, int count)
{
    static const char *const cards[] = {"h100-sxm", "h200-sxm", "b200-sxm", "a100-sxm-80"};
    FILE *file = fopen(path, "w");
    if (file == NULL)
        fail(path);
    fputs("scenario base {\n  model = llama-3.1-8b\n  gpu = h100-sxm\n  prompt = 1000\n  output = 200\n}\n",
          file);
    for (int i = 0; i < count; i++)
        fprintf(file, "scenario s%d : base {\n  gpu = %s\n  batch = %d\n  prompt = %d tokens\n}\n", i,
                cards[i % 4], 1 + i % 61, 200 + i % 1999);
    if (fclose(file) != 0)
        fail(path);
}

/* Both sizes of one format, and whether the time grows with the size alone. */
static void bench_scale(const char *perfc, const char *directory, const char *format)
{
    static const int sizes[] = {2500, 10000};
    double per_scenario[2];
    for (int i = 0; i < 2; i++) {
        char plan[4096], what[64], remark[64];
        snprintf(plan, sizeof plan, "%s/plan%d.perf", directory, sizes[i]);
        write_plan(plan, sizes[i]);
        const char *const argv[] = {perfc, "-f", format, plan, NULL};
        struct cost cost = run(argv, 3);
        per_scenario[i] = cost.seconds / sizes[i];
        snprintf(what, sizeof what, "%d scenarios to %s", sizes[i], format);
        snprintf(remark, sizeof remark, "%.1f us per scenario", 1e6 * per_scenario[i]);
        print_cost(what, cost, remark);
        unlink(plan);
    }
    printf("%-34s %9.2f     (1 is linear)\n", "  growth per scenario", per_scenario[1] / per_scenario[0]);
}

/* Full evaluations, of batches of 1 to 64: no two in a row are alike. */
static void time_evaluations(const char *what, struct pm_case *input)
{
    struct pm_result result;
    double total = 0, started = processor_time();
    long count = 0;
    for (; processor_time() - started < 1; count += 64) {
        for (int batch = 1; batch <= 64; batch++) {
            input->batch = batch;
            pm_evaluate(input, &result);
            total += result.expected.tpot; /* keeps the work from being optimised away */
        }
    }
    double seconds = processor_time() - started;
    printf("%-34s %9.0f /s    %.2f us each%s\n", what, (double)count / seconds, 1e6 * seconds / (double)count,
           total > 0 ? "" : " (no result)");
}

/* Shaped like DeepSeek-V3: latent attention, 256 experts. */
static void bench_evaluations(void)
{
    const struct pm_format fp8 = {8, PM_FP8, PM_FP8, false}, bf16 = {16, PM_BF16, PM_BF16, false};
    struct pm_block blocks[2] = {{
        .count = 3,
        .attention = PM_ATTENTION_LATENT,
        .heads = 128,
        .kv_heads = 128,
        .head_dim = 192,
        .v_dim = 128,
        .q_rank = 1536,
        .kv_rank = 512,
        .nope_dim = 128,
        .rope_dim = 64,
        .ffn = 18432,
        .ffn_gated = true,
        .norms = 2,
        .attention_format = fp8,
        .ffn_format = fp8,
        .expert_format = fp8,
        .shared_format = fp8,
        .router_format = bf16,
    }};
    blocks[1] = blocks[0];
    blocks[1].count = 58;
    blocks[1].ffn = 0;
    blocks[1].experts = 256;
    blocks[1].active_experts = 8;
    blocks[1].expert_ffn = 2048;
    blocks[1].shared_ffn = 2048;
    const struct pm_model model = {
        .hidden = 7168,
        .vocab = 129280,
        .final_norms = 1,
        .weights_format = fp8,
        .embedding_format = bf16,
        .head_format = bf16,
        .norm_format = bf16,
        .kv_format = bf16,
        .blocks = blocks,
        .block_count = 2,
    };
    const struct pm_gpu gpu = {
        .memory = 141e9,
        .bandwidth = 4.8e12,
        .link = 450e9,
        .link_domain = 8,
        .tdp = 700,
        .price = 3.5 / 3600,
        .peak = {[PM_BF16] = 989e12, [PM_FP16] = 989e12, [PM_FP8] = 1979e12},
        .measured = true,
    };
    const struct pm_engine engine = {
        .efficiency_bandwidth = 0.9,
        .efficiency_dense = {0.7, 0.5, 0.45},
        .efficiency_attention = 0.6,
        .efficiency_experts = {0.12, 0.06, 0.2},
        .expert_half_rows = 5,
        .operation_time = 10e-6,
        .sequence_time = 20e-6,
        .allreduce_time = 8e-6,
        .efficiency_link = 0.65,
        .utilization = 0.95,
        .overhead = 3e9,
        .activations_in_overhead = true,
        .page = 16,
        .chunk = 8192,
        .request_time = 20e-3,
        .stream_interval = 9,
        .first_wave = 0.06,
        .corner = 4,
        .expert_row_mix = 0.3,
        .recurrent_factor = 1.6,
        .efficiency_oneshot = 0.6,
        .ring_time = 8e-6,
        .user_time = 5e-4,
        .tpot_band = {0.84, 1.21},
        .ttft_band = {0.63, 1.74},
        .rate_band = {0.82, 1.18},
        .unverified_band = {0.5, 2},
    };
    struct pm_case input = {
        .model = &model,
        .gpu = &gpu,
        .engine = &engine,
        .tp = 8,
        .pp = 1,
        .dp = 1,
        .ep = 1,
        .replicas = 1,
        .prompt = 1024,
        .output = 1024,
    };
    /* As in sensitivities, thresholds and calibration: load and coefficients change, not the model. */
    void *storage = malloc(pm_prepared_size(&input));
    if (storage == NULL)
        fail("malloc");
    input.prepared = pm_prepare(&input, storage);
    time_evaluations("evaluations of a MoE scenario", &input);
    /* As in sweeps: every point is a scenario of its own. */
    input.prepared = NULL;
    time_evaluations("  with preparation each time", &input);
    free(storage);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s PERFC EXAMPLES-DIRECTORY\n", argv[0]);
        return 2;
    }
    const char *perfc = argv[1], *parent = getenv("TMPDIR");
    char directory[2048], quickstart[2048];
    snprintf(directory, sizeof directory, "%s/perfc-bench-XXXXXX", parent != NULL ? parent : "/tmp");
    if (mkdtemp(directory) == NULL)
        fail(directory);
    snprintf(quickstart, sizeof quickstart, "%s/quickstart.perf", argv[2]);

    const char *const version[] = {perfc, "--version", NULL};
    print_cost("start and stop", run(version, RUNS_MAX), "");
    const char *const html[] = {perfc, quickstart, "-f", "html", NULL};
    print_cost("quickstart to html", run(html, RUNS_MAX), "");
    const char *const text[] = {perfc, quickstart, NULL};
    print_cost("quickstart to text", run(text, RUNS_MAX), "");
    bench_scale(perfc, directory, "md");
    bench_scale(perfc, directory, "html");
    bench_scale(perfc, directory, "json");
    bench_evaluations();
    rmdir(directory);
    return 0;
}
