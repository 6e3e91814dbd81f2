/* test_jargon.c: what engines, model files and people call things leads to the name that it has here. */
#include <criterion/criterion.h>
#include <string.h>

#include "result/quantity.h"
#include "result_fixture.h"
#include "source/jargon.h"

static const struct {
    const char *said, *meant;
} rows[] = {
#define JARGON(said, meant) {said, meant},
#include "source/jargon.def"
#undef JARGON
};

static bool names_something(struct plan *plan, const char *name)
{
    for (enum kind kind = 0; kind < KIND_COUNT; kind++)
        if (attribute_find(kind, name) != ATTR_COUNT)
            return true;
    return quantity_find(QUANTITY_OF_SCENARIO, name) || quantity_find(QUANTITY_OF_MODEL, name) ||
           quantity_find(QUANTITY_OF_GPU, name) || plan_find(plan, KIND_FORMAT, name) ||
           plan_find(plan, KIND_ENGINE, name);
}

Test(jargon, every_meaning_is_the_name_of_something)
{
    struct result_fixture fixture = result_open("");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        cr_expect(names_something(fixture.plan, rows[i].meant), "%s: nothing is called %s", rows[i].said,
                  rows[i].meant);
    result_close(&fixture);
}

Test(jargon, no_row_stands_twice)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (size_t j = 0; j < i; j++)
            cr_expect(!jargon_same(rows[i].said, rows[j].said) || strcmp(rows[i].meant, rows[j].meant) != 0,
                      "%s", rows[i].said);
}

Test(jargon, case_and_separators_do_not_matter)
{
    cr_assert(jargon_same("max-num-seqs", "max_num_seqs"));
    cr_assert(jargon_same("MaxNumSeqs", "max_num_seqs"));
    cr_assert_not(jargon_same("max_num_seq", "max_num_seqs"));
    cr_assert_not(jargon_same("", "tp"));
}

static void expect_offer(const char *text, const char *offered)
{
    struct result_fixture fixture = result_open(text);
    cr_assert_geq(diags_count(fixture.diags), 1, "%s", text);
    const struct diag *diag = diags_get(fixture.diags, 0);
    cr_assert_not_null(diag->notes, "%s: %s", text, diag->message);
    const char *found = diag->notes->replacement ? diag->notes->replacement : diag->notes->text;
    cr_expect(strstr(found, offered), "%s: %s (%s)", text, found, diag->message);
    result_close(&fixture);
}

Test(jargon, attributes_by_the_names_of_engines_and_papers)
{
    expect_offer("scenario s { tensor_parallel_size = 8 }", "tp");
    expect_offer("scenario s { max-num-seqs = 8 }", "batch");
    expect_offer("scenario s { isl = 1000 }", "prompt");
    expect_offer("scenario s { quantization = fp8 }", "weights");
    expect_offer("gpu g { vram = 80 GB }", "memory");
    expect_offer("model m { num_hidden_layers = 32 }", "layers");
    expect_offer("model m { kv_lora_rank = 512 }", "kv_rank");
}

Test(jargon, what_no_attribute_says_is_told)
{
    expect_offer("scenario s { gpus = 8 }", "`tp` cards share every matrix");
    expect_offer("scenario s { qps = 8 }", "closed loop");
    expect_offer("gpu g { tflops = 312 }", "peak.bf16");
}

Test(jargon, declarations_by_other_names)
{
    expect_offer("scenario s { engine = trtllm }", "tensorrt-llm");
    expect_offer("scenario s { weights = float16 }", "fp16");
    expect_offer("scenario s { model = meta-llama/Llama-3.1-8B-Instruct }", "llama-3.1-8b");
    expect_offer("scenario s { model = \"Qwen/Qwen3-32B\" }", "qwen3-32b");
}

Test(jargon, quantities_by_other_names)
{
    cr_assert_str_eq(quantity_suggest(QUANTITY_OF_SCENARIO, "inter_token_latency"), "tpot");
    cr_assert_str_eq(quantity_suggest(QUANTITY_OF_SCENARIO, "itl"), "tpot");
    cr_assert_str_eq(quantity_suggest(QUANTITY_OF_SCENARIO, "vram"), "memory.total");
    cr_assert_str_eq(quantity_suggest(QUANTITY_OF_MODEL, "total_params"), "params");
}
