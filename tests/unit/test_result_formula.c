/* test_result_formula.c: every formula of the table of quantities, evaluated as an expression of the language
 * inside its declaration, gives the value that the C side gives. So the formulas that reports print are the
 * ones that were computed. */
#include <math.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/arena.h"
#include "result/derive.h"
#include "result_fixture.h"
#include "sema/unit.h"
#include "source/source.h"
#include "syntax/parse.h"

/* Static steps and closed loops; dense, grouped, windowed, latent and expert models; one card and several;
 * full memory; speculation; prices in two currencies. */
static const char plan_text_all[] =
    "gpu card { memory = 80 GB  bandwidth = 2 TB/s  peak.fp16 = 312 TFLOPS  peak.fp8 = 624 TFLOPS\n"
    "  link = 300 GB/s  link_domain = 8  price = 2 usd/h  tdp = 400 W }\n"
    "gpu cached : card { cache = 40 MB  peak.bf16 = 312 TFLOPS  price = 1.5 eur/h }\n"
    "model bare { params = 7e9  layers = 32  hidden = 4096  heads = 32 }\n"
    "model grouped { layers = 32  hidden = 4096  heads = 32  kv_heads = 8  ffn = 14336  vocab = 128256 }\n"
    "model windowed { hidden = 1024  heads = 8  kv_heads = 4  ffn = 4096  vocab = 32000\n"
    "  block local { count = 10  window = 512 }\n"
    "  block global { count = 2 } }\n"
    "model mixture { layers = 16  hidden = 2048  heads = 16  kv_heads = 4  vocab = 50000\n"
    "  experts = 32  active_experts = 4  expert_ffn = 1024 }\n"
    "model latent { layers = 8  hidden = 2048  heads = 16  vocab = 50000  ffn = 8192\n"
    "  q_rank = 512  kv_rank = 256  nope_dim = 64  rope_dim = 32  v_dim = 64 }\n"
    "scenario static-bare { gpu = card  model = bare  context = 4096 }\n"
    "scenario static-ideal : static-bare { engine = ideal  batch = 8 }\n"
    "scenario static-empty { gpu = card  model = bare  context = 0 }\n"
    "scenario static-full { gpu = card  model = bare  context = 4096  batch = 256 }\n"
    "scenario static-cache { gpu = cached  model = grouped  context = 1000  batch = 3  prompt = 700 }\n"
    "scenario static-tp { gpu = card  model = grouped  context = 5000  batch = 16  tp = 4  weights = fp8 }\n"
    "scenario static-mixture { gpu = card  model = mixture  context = 2000  batch = 7 }\n"
    "scenario static-latent { gpu = card  model = latent  context = 2000  batch = 7 }\n"
    "scenario static-draft { gpu = card  model = grouped  context = 2000  batch = 4\n"
    "  speculation.tokens = 4  speculation.acceptance = 0.8 }\n"
    "scenario loop { gpu = card  model = grouped  prompt = 2000  output = 400  batch = 16 }\n"
    "scenario loop-named : loop { engine = typical }\n"
    "scenario loop-ideal : loop { engine = ideal }\n"
    "scenario loop-queue : loop { batch = 2000 }\n"
    "scenario loop-one { gpu = card  model = grouped  prompt = 2000  output = 1  batch = 4 }\n"
    "scenario loop-no-prompt { gpu = card  model = grouped  prompt = 0  output = 100  batch = 4 }\n"
    "scenario loop-window { gpu = card  model = windowed  prompt = 2000  output = 400  batch = 16 }\n"
    "scenario loop-mixture { gpu = card  model = mixture  prompt = 500  output = 300  batch = 32  tp = 2  dp "
    "= 2\n"
    "  replicas = 3 }\n"
    "scenario loop-stages { gpu = card  model = grouped  prompt = 500  output = 300  batch = 32  pp = 2 }\n"
    "scenario loop-prefix : loop { engine = vllm  cached_prefix = 1000 }\n"
    "scenario loop-prefix-window : loop-window { cached_prefix = 1000 }\n"
    "scenario loop-vllm : loop { engine = vllm-0.21  tp = 2 }\n"
    "scenario loop-trt : loop { engine = tensorrt-llm  tp = 2 }\n"
    "scenario loop-sglang : loop { engine = sglang  overhead = 1 GB }\n"
    "scenario loop-llama : loop-window { engine = llama-cpp }\n"
    "scenario loop-hybrid { gpu = a100-sxm-80  model = qwen3.5-27b  engine = vllm  prompt = 9000  output = 500\n"
    "  batch = 4  cached_prefix = 5000 }\n"
    "scenario loop-desktop : loop { gpu = apple-m3-max-40  engine = sglang  prompt = 50000  output = 40  batch = 5 }\n"
    "scenario loop-old-waits : loop-desktop { engine = waits }\n"
    "engine waits : llama-cpp { chunk = 8192  first_wave = 0.1  stream_interval = 2  operation_time = 0 s }\n"
    "scenario loop-draft : loop { speculation.tokens = 3  speculation.acceptance = 0.7 }\n";

static struct expr *parse_text(struct result_fixture *fixture, const char *formula)
{
    struct sources *sources = plan_sources(fixture->plan);
    uint32_t file = sources_add(sources, "formula", formula, strlen(formula), true);
    return parse_expression(fixture->arena, plan_strings(fixture->plan), sources, file, fixture->diags);
}

static void compare_formula(struct result_fixture *fixture, struct decl *decl, enum quantity quantity)
{
    const char *formula = evaluate_formula(fixture->evaluator, decl, quantity);
    struct report_quantity value = evaluate_row(fixture->evaluator, decl, quantity);
    if (!formula || value.type == QUANTITY_ABSENT)
        return;
    struct expr *expr = parse_text(fixture, formula);
    cr_assert(expr != NULL, "%s: `%s` is no expression", value.name, formula);
    struct value other = plan_evaluate_in(fixture->plan, decl, expr);
    if (value.type == QUANTITY_BOOL) {
        cr_expect(other.type == VALUE_BOOL && other.boolean == value.boolean, "%s = %s", value.name, formula);
        return;
    }
    cr_assert(other.type == VALUE_NUMBER, "%s: `%s` is no number (%d)", value.name, formula, (int)other.type);
    double scale = fmax(fabs(value.value), 1e-30);
    cr_expect(fabs(other.number - value.value) <= 1e-9 * scale, "%s is %.17g, but `%s` is %.17g", value.name,
              value.value, formula, other.number);
    cr_expect(dim_equal(other.dim, evaluate_dim(fixture->evaluator, decl, quantity)),
              "%s: `%s` has another dimension", value.name, formula);
}

static size_t compare_all(struct result_fixture *fixture, struct decl *decl)
{
    enum quantity_scope scope;
    size_t count = 0;
    if (decl->kind == KIND_ENGINE)
        return 0;
    cr_assert(quantity_scope_of(decl->kind, &scope));
    if (decl->kind == KIND_SCENARIO) {
        const struct evaluation *evaluation = evaluate_scenario(fixture->evaluator, decl);
        const char *broken = pm_verify(&evaluation->binding.input, &evaluation->result);
        cr_expect(broken == NULL, "%s: %s", decl->name, broken);
    }
    for (size_t i = 0; i < QUANTITY_COUNT; i++) {
        if (quantity_info((enum quantity)i)->scope != scope)
            continue;
        compare_formula(fixture, decl, (enum quantity)i);
        count += evaluate_formula(fixture->evaluator, decl, (enum quantity)i) != NULL;
    }
    return count;
}

Test(result_formula, formulas_give_the_values)
{
    struct result_fixture fixture = result_open(plan_text_all);
    cr_assert(diags_errors(fixture.diags) == 0, "%s", diags_get(fixture.diags, 0)->message);
    const struct plan_view *view = plan_view(fixture.plan);
    size_t count = 0;
    cr_assert(view->declarations.count > 20);
    for (size_t i = 0; i < view->declarations.count; i++)
        count += compare_all(&fixture, view->declarations.items[i]);
    cr_assert(count > 1000, "only %zu formulas were compared", count);
    cr_assert(diags_errors(fixture.diags) == 0, "%s", diags_get(fixture.diags, 0)->message);
    result_close(&fixture);
}

Test(result_formula, every_row_is_complete)
{
    for (size_t i = 0; i < QUANTITY_COUNT; i++) {
        const struct quantity_info *row = quantity_info((enum quantity)i);
        struct unit unit;
        cr_expect(row->doc[strlen(row->doc) - 1] == '.', "%s: the sentence has no end", row->name);
        cr_expect(row->source != NULL, "%s has no source", row->name);
        cr_expect(strncmp(row->unit, "money", 5) == 0 || strcmp(row->unit, "1") == 0 ||
                      unit_parse(row->unit, &unit),
                  "%s: `%s` is no unit", row->name, row->unit);
        cr_expect(quantity_find(row->scope, row->name) == row, "%s is there twice", row->name);
    }
}

Test(result_formula, derivations_put_values_in_place_of_names)
{
    struct result_fixture fixture = result_open(plan_text_all);
    struct decl *scenario = plan_find(fixture.plan, KIND_SCENARIO, "static-ideal");
    struct derivation_step step = derive_step(fixture.evaluator, scenario, Q_MEMORY_KV_PER_TOKEN);
    cr_expect_str_eq(step.formula,
                     "2 * model.layers * model.kv_heads * model.head_dim * memory.kv_value_bytes / tp");
    cr_expect_str_eq(step.substituted, "2 × 32 × 32 × 128 × 2\xE2\x80\x89"
                                       "B / 1");
    cr_expect_str_eq(step.exact, "524288 B/token"); /* 2 L d bytes = 2 * 32 * 4096 * 2 */
    result_close(&fixture);
}
