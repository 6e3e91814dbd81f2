/* test_formats_gguf.c: `weights = q8_0` means the file of that name, whose sizes llama.cpp prints. */
#include <math.h>

#include "faults.h"
#include "result_fixture.h"

TestSuite(formats_gguf, .init = set_up, .fini = tear_down);

/* Sizes in GiB, two digits after the point, as llama-bench prints them. Types to a thousandth, and mixes to
 * one in a hundred, since what they hold depends on the model. spark   ggml-org/llama.cpp,
 * benches/dgx-spark.md    metal   ggml-org/llama.cpp, pull request 3084 mixtral ggml-org/llama.cpp, pull
 * request 4406       vulkan  ggml-org/llama.cpp, pull request 18280 opencl  ggml-org/llama.cpp, pull request
 * 2059       macs    geerlingguy/ai-benchmarks, issue 48 pi      geerlingguy/ai-benchmarks, issue 23 arc
 * intel/ipex-llm, issue 12991 */
static const struct {
    const char *model, *weights;
    double gib, within;
    const char *source;
} files[] = {
    {"qwen2.5-7b", "q8_0", 7.54, 0.001, "spark"},
    {"qwen3-30b-a3b", "q8_0", 30.25, 0.001, "spark"},
    {"gpt-oss-20b", "q8_0   weights.experts = mxfp4", 11.27, 0.001, "spark"},
    {"gpt-oss-120b", "q8_0   weights.experts = mxfp4", 59.02, 0.001, "spark"},
    {"llama-2-7b", "fp16", 12.55, 0.001, "metal"},
    {"llama-2-7b", "q8_0", 6.67, 0.001, "metal"},
    {"llama-2-7b", "q6_k", 5.15, 0.001, "metal"},
    {"llama-2-7b", "q4_1", 3.95, 0.001, "metal"},
    {"llama-2-7b", "q4_0", 3.56, 0.001, "metal"},
    {"llama-2-7b", "q5_k_m", 4.45, 0.01, "metal"},
    {"llama-2-7b", "q5_k_s", 4.33, 0.01, "metal"},
    {"llama-2-7b", "q4_k_m", 3.80, 0.01, "metal"},
    {"llama-2-7b", "q4_k_s", 3.59, 0.01, "metal"},
    {"llama-2-13b", "q6_k", 9.95, 0.001, "opencl"},
    {"mixtral-8x7b", "q8_0", 46.22, 0.001, "mixtral"},
    {"mixtral-8x7b", "q6_k", 35.74, 0.005, "mixtral"}, /* keys and values in q8_0 */
    {"mixtral-8x7b", "q4_0", 24.62, 0.005, "mixtral"},
    {"llama-3.1-8b", "q4_0", 4.33, 0.0015, "vulkan"},
    {"llama-3.1-8b", "q4_k_s", 4.36, 0.01, "vulkan"},
    {"tinyllama-1.1b", "q4_k_m", 636.18 / 1024, 0.01, "macs"},
    {"llama-3.2-3b", "q4_k_m", 1.87, 0.01, "macs"}, /* one table, a head and so in q6_k */
    {"qwen2.5-14b", "q4_k_m", 8.37, 0.01, "pi"},
    {"qwen2.5-7b", "q4_k_m", 4.36, 0.01, "arc"},
};

Test(formats_gguf, weights_are_those_of_the_file)
{
    struct buffer text = buffer_in(arena);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        buffer_printf(
            &text,
            "scenario r%zu { gpu = b300-sxm   engine = ideal   context = 1   model = %s   weights = "
            "%s }\n",
            i, files[i].model, files[i].weights);
    struct result_fixture fixture = result_open(buffer_string(&text));
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char *name = arena_printf(arena, "r%zu", i);
        double gib = result_number(&fixture, KIND_SCENARIO, name, "memory.weights") / 1073741824;
        if (!(fabs(gib / files[i].gib - 1) <= files[i].within))
            FAULT("%s in %s: %.4f GiB, the file has %.2f (%s)", files[i].model, files[i].weights, gib,
                  files[i].gib, files[i].source);
    }
    result_close(&fixture);
    EXPECT_NO_FAULTS();
}

/* By hand, 1000 words of 64 values: q4_0 has 4.5 bits and its head q6_k 6.5625; a declaration, and then a
 * model's own, are stronger than what the file would hold, and other formats keep 16 bits. */
Test(formats_gguf, what_is_declared_is_stronger)
{
    struct result_fixture fixture =
        result_open("model small { layers = 1  hidden = 64  heads = 1  ffn = 64  vocab = 1000 }\n"
                    "model tied : small { tied_embeddings = true }\n"
                    "model own : small { weights.head = fp16 }\n"
                    "scenario s { gpu = h100-sxm  engine = ideal  context = 1  weights = q4_0 }\n"
                    "scenario file : s { model = small }\n"
                    "scenario once : s { model = tied }\n"
                    "scenario kept : s { model = own }\n"
                    "scenario said : s { model = small  weights.head = q8_0  weights.embedding = bf16 }\n"
                    "scenario fp8 : s { model = small  weights = fp8 }\n");
    static const struct {
        const char *scenario;
        double embedding, head; /* bits */
    } expected[] = {
        {"file", 4.5, 6.5625}, {"once", 6.5625, 0}, {"kept", 4.5, 16}, {"said", 16, 8.5}, {"fp8", 16, 16},
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        const char *name = expected[i].scenario;
        double embedding = result_number(&fixture, KIND_SCENARIO, name, "memory.weights.embedding");
        double head = result_number(&fixture, KIND_SCENARIO, name, "memory.weights.head");
        if (embedding != 64000 * expected[i].embedding / 8 || head != 64000 * expected[i].head / 8)
            FAULT("%s: %.9g and %.9g bytes", name, embedding, head);
    }
    result_close(&fixture);
    EXPECT_NO_FAULTS();
}
