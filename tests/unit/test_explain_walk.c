/* test_explain_walk.c: every quantity of scenarios, models and cards of many kinds has a derivation, and its
 * formula gives the value from the values that stand below it: the language itself evaluates it, with its
 * units. */
#include <math.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/number.h"
#include "result/build.h"
#include "result/derive.h"
#include "result_fixture.h"
#include "sema/unit.h"
#include "source/source.h"
#include "syntax/parse.h"

/* ---- formulas from printed inputs ------------------------------------------------------------------- */

static bool name_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
           byte == '_' || byte == '.';
}

static const struct derive_node *input_named(const struct derive_node *node, const char *at, size_t length)
{
    for (size_t i = 0; i < node->inputs.count; i++)
        if (strlen(node->inputs.items[i]->name) == length &&
            strncmp(node->inputs.items[i]->name, at, length) == 0)
            return node->inputs.items[i];
    return NULL;
}

/* The formula with `(value unit)` in place of the names: an expression without names. */
static const char *with_values(struct arena *arena, const struct derive_node *node)
{
    struct buffer out = buffer_in(arena);
    for (const char *at = node->formula; *at;) {
        size_t length = 0;
        bool word = !(*at >= '0' && *at <= '9');
        while (name_byte(at[length]))
            length++;
        const struct derive_node *input = word && length > 0 ? input_named(node, at, length) : NULL;
        if (input) {
            const char *unit =
                input->value.unit && strcmp(input->value.unit, "1") != 0 ? input->value.unit : "";
            /* A compound unit stands in parentheses' place as a factor: 3 B/token is (3 B / 1 token). */
            const char *gap = *unit ? " " : "";
            if (input->value.type == QUANTITY_BOOL)
                buffer_text(&out, input->value.boolean ? "(1 == 1)" : "(1 == 0)");
            else if (input->value.value < 0)
                buffer_printf(&out, "(0%s%s - %.17g%s%s)", gap, unit, -input->value.value, gap, unit);
            else
                buffer_printf(&out, "(%.17g%s%s)", input->value.value, gap, unit);
        } else {
            buffer_add(&out, at, length > 0 ? length : 1);
        }
        at += length > 0 ? length : 1;
    }
    return buffer_string(&out);
}

static struct value evaluate_language(struct result_fixture *fixture, const char *text)
{
    struct sources *sources = plan_sources(fixture->plan);
    uint32_t file = sources_add(sources, "formula", text, strlen(text), true);
    struct expr *expr =
        parse_expression(fixture->arena, plan_strings(fixture->plan), sources, file, fixture->diags);
    cr_assert(expr != NULL, "`%s` is no expression", text);
    return plan_evaluate(fixture->plan, expr);
}

/* Where the operand that ends before `end` begins: at its parenthesis, or with its word. */
static const char *operand_before(const char *text, const char *end)
{
    int open = 0;
    const char *at = end;
    do {
        at--;
        open += *at == ')' ? 1 : *at == '(' ? -1 : 0;
    } while (at > text && (open > 0 || (*end != ')' && name_byte(at[-1]))));
    return at;
}

static const char *operand_after(const char *begin)
{
    int open = 0;
    const char *at = begin;
    do {
        open += *at == '(' ? 1 : *at == ')' ? -1 : 0;
        at++;
    } while (*at && (open > 0 || name_byte(*at)));
    return at;
}

/* The language has no powers: they are taken here, the first one first. */
static struct value evaluate_text_of(struct result_fixture *fixture, const char *text)
{
    struct arena *arena = fixture->arena;
    for (const char *power = strstr(text, " ^ "); power; power = strstr(text, " ^ ")) {
        const char *left = operand_before(text, power), *right = operand_after(power + 3);
        struct value base = evaluate_language(fixture, arena_strndup(arena, left, (size_t)(power - left)));
        struct value exponent =
            evaluate_language(fixture, arena_strndup(arena, power + 3, (size_t)(right - power) - 3));
        cr_assert(base.type == VALUE_NUMBER && exponent.type == VALUE_NUMBER, "%s", text);
        cr_assert(dim_is_none(base.dim) && dim_is_none(exponent.dim), "%s", text);
        text = arena_printf(arena, "%.*s%.17g%s", (int)(left - text), text, pow(base.number, exponent.number),
                            right);
    }
    return evaluate_language(fixture, text);
}

struct walk {
    struct result_fixture *fixture;
    size_t nodes, formulas, inputs, operations, exchanges;
    bool seen[QUANTITY_COUNT];
};

static void check_formula(struct walk *walk, const struct derive_node *node)
{
    const char *text = with_values(walk->fixture->arena, node);
    struct value value = evaluate_text_of(walk->fixture, text);
    walk->formulas++;
    if (node->value.type == QUANTITY_BOOL) {
        cr_expect(value.type == VALUE_BOOL && value.boolean == node->value.boolean, "%s = %s", node->name,
                  text);
        return;
    }
    if (node->value.type == QUANTITY_TEXT) { /* a word is told by the comparison that decides for it */
        cr_expect(value.type == VALUE_BOOL && value.boolean, "%s is %s, but not %s", node->name, node->text,
                  text);
        return;
    }
    cr_assert(value.type == VALUE_NUMBER, "%s: `%s` is no number", node->name, text);
    cr_expect(fabs(value.number - node->value.value) <= 1e-9 * fmax(fabs(node->value.value), 1e-30),
              "%s is %.17g, but `%s` is %.17g", node->name, node->value.value, text, value.number);
}

/* Exchanges between GPUs, and the rates of their legs, are arithmetic down to what cards and engines say. */
static bool is_exchange(const char *name)
{
    return strncmp(name, "op.allreduce", 12) == 0 || strncmp(name, "op.dispatch", 11) == 0 ||
           strncmp(name, "op.handover", 11) == 0;
}

static void check_exchange(struct walk *walk, const struct derive_node *node)
{
    walk->exchanges++;
    cr_expect(node->formula, "%s is %s without a formula", node->name, node->text);
    for (size_t i = 0; i < node->inputs.count; i++)
        cr_expect(strncmp(node->inputs.items[i]->name, "rate", 4) != 0 || node->inputs.items[i]->formula,
                  "the rate %s of %s has no formula", node->inputs.items[i]->text, node->name);
}

static void walk_tree(struct walk *walk, const struct derive_node *node)
{
    walk->nodes++;
    cr_assert(node->name && node->text, "%s", node->name);
    cr_expect((node->exact != NULL) == (node->value.type == QUANTITY_NUMBER), "%s", node->name);
    if (node->is_input) {
        const struct derive_origin *origin = &node->origin;
        walk->inputs++;
        cr_expect(origin->origin == ORIGIN_DEFAULT ? origin->reason != NULL
                                                   : origin->file != NULL && origin->line > 0,
                  "%s comes from nowhere", node->name);
        cr_expect(origin->origin != ORIGIN_CATALOGUE || origin->source != NULL, "%s has no source",
                  node->full);
        cr_expect(node->inputs.count == 0);
        return;
    }
    cr_expect(node->source != NULL, "%s", node->name);
    if (node->value.type == QUANTITY_ABSENT || node->above)
        return;
    cr_expect(node->part || node->formula, "%s is %s without a derivation", node->full, node->text);
    if (node->formula) {
        cr_assert(node->shown && node->substituted);
        check_formula(walk, node);
    }
    walk->operations += node->part && node->formula;
    if (node->part && is_exchange(node->name))
        check_exchange(walk, node);
    for (size_t i = 0; i < node->inputs.count; i++)
        if (node->inputs.items[i]->part || node->inputs.items[i]->is_input)
            walk_tree(walk, node->inputs.items[i]);
}

static void walk_declaration(struct walk *walk, struct decl *decl)
{
    enum quantity_scope scope;
    cr_assert(quantity_scope_of(decl->kind, &scope));
    for (size_t i = 0; i < QUANTITY_COUNT; i++) {
        if (quantity_info((enum quantity)i)->scope != scope)
            continue;
        const struct derive_node *line = derive_line(walk->fixture->evaluator, decl, (enum quantity)i);
        walk->seen[i] = walk->seen[i] || line->value.type != QUANTITY_ABSENT;
        walk_tree(walk, line);
    }
}

/* What stands above a node in its tree. */
struct ancestry {
    const struct ancestry *above;
    const struct derive_node *node;
};

/* A figure that is made of itself would be derived from nothing. */
static void expect_no_circle(const struct derive_node *node, const struct ancestry *above)
{
    struct ancestry own = {above, node};
    for (const struct ancestry *at = above; at && node->full; at = at->above)
        cr_assert(!at->node->full || strcmp(at->node->full, node->full) != 0 || node->is_input,
                  "%s is made of itself", node->full);
    for (size_t i = 0; i < node->inputs.count; i++)
        expect_no_circle(node->inputs.items[i], &own);
}

/* Steps and loops; dense, windowed, latent, sparse, hybrid and state-space models, experts; tensor, pipeline
 * and attention parallelism; drafts of three kinds; cached prefixes, chunks, queues, and what does not fit.
 */
static const char cases[] =
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
    "scenario step { gpu = card  model = bare  context = 4096 }\n"
    "scenario bound : step { engine = ideal  batch = 8 }\n"
    "scenario loop { gpu = card  model = grouped  prompt = 2000  output = 400  batch = 16 }\n"
    "scenario queue : loop { batch = 2000 }\n"
    "scenario one : loop { output = 1 }\n"
    "scenario tensor { gpu = card  model = grouped  prompt = 900  output = 100  batch = 16  tp = 4  weights "
    "= fp8 }\n"
    "scenario window { gpu = card  model = windowed  prompt = 2000  output = 400  batch = 16 }\n"
    "scenario windowpre : window { cached_prefix = 1000 }\n"
    "scenario experts { gpu = card  model = mixture  prompt = 500  output = 300  batch = 32  tp = 2 }\n"
    "scenario expertsdp : experts { dp = 2 replicas = 3 engine = vllm }\n"
    "scenario stages { gpu = card  model = grouped  prompt = 500  output = 300  batch = 32  pp = 2 }\n"
    "scenario pptp { gpu = h100-sxm  model = llama-3.1-70b  prompt = 5000  output = 300  batch = 64  pp = 2 "
    "tp = 4 engine = vllm cached_prefix = 700}\n"
    "scenario draft : loop { speculation.tokens = 3  speculation.acceptance = 0.7 }\n"
    "scenario draftmtp { gpu=h200-sxm model=deepseek-v3 prompt=1000 output=300 batch=16 tp=8 engine=sglang "
    "speculation.tokens=1 speculation.acceptance=0.8 }\n"
    "scenario draftm { gpu=h100-sxm model=llama-3.1-70b prompt=1000 output=300 batch=16 tp=4 engine=vllm "
    "speculation.tokens=4 speculation.acceptance=0.6 speculation.draft = llama-3.1-8b }\n"
    "scenario moe { gpu=h100-sxm model=qwen3-30b-a3b prompt=1000 output=300 batch=16 engine=vllm }\n"
    "scenario moebig : moe { batch=256 prompt=9000 cached_prefix=4000 }\n"
    "scenario mla { gpu=h200-sxm model=deepseek-v3 prompt=1000 output=300 batch=16 tp=8 engine=sglang}\n"
    "scenario mlalong : mla { prompt = 40000 batch = 3 }\n"
    "scenario mlasparse { gpu=h200-sxm model=deepseek-v3.2 prompt=10000 output=300 batch=16 tp=8 "
    "engine=vllm}\n"
    "scenario kimi { gpu=h100-sxm model=kimi-k2 prompt=10000 output=300 batch=16 tp=8 engine=vllm}\n"
    "scenario oss { gpu=h100-sxm model=gpt-oss-120b prompt=2000 output=300 batch=16 engine=vllm}\n"
    "scenario gemma { gpu=a100-sxm-80 model=gemma-3-27b prompt=9000 output=500 batch=4 engine=vllm }\n"
    "scenario gemma2 { gpu=rtx-4090 model=gemma-2-9b prompt=9000 output=500 batch=4 engine=llama-cpp }\n"
    "scenario hybrid { gpu = a100-sxm-80  model = qwen3-next-80b-a3b tp=4  engine = vllm  prompt = 9000  "
    "output = 500\n"
    "  batch = 4  cached_prefix = 5000 }\n"
    "scenario hyb2 { gpu=h100-sxm model=nemotron-nano-9b-v2 prompt=3000 output=300 batch=8 "
    "engine=tensorrt-llm }\n"
    "scenario jamba { gpu=h100-sxm model=jamba-v0.1 prompt=3000 output=300 batch=8 tp=2}\n"
    "scenario mamba { gpu=h100-sxm model=mamba-2.8b prompt=3000 output=300 batch=8 }\n"
    "scenario nofit { gpu=l40s model=llama-3.1-70b prompt=1000 output=300 batch=8 }\n"
    "scenario idealloop : moe { engine = ideal }\n"
    "scenario cloud { gpu = h100-sxm  model = llama-3.1-8b  prompt = 1000  output = 300  batch = 8 }\n"
    "scenario llama { gpu = rtx-4090  model = llama-3.1-8b weights=q4_k_m prompt = 1000  output = 300  batch "
    "= 1 engine=llama-cpp }\n"
    "scenario zero { gpu = card  model = grouped  prompt = 0  output = 100  batch = 4 }\n"
    "scenario drafted : step { speculation.tokens = 1  speculation.acceptance = 0.5 }\n"
    "scenario empty : step { context = 0 }\n";

/* Weights in 4 bits, tokens that choose experts alike, norms over all heads; prompts that fill every step,
 * heads with biases and learned positions. */
static const char more_cases[] =
    "scenario slowdraft { gpu=mi300x model=llama-3.1-8b prompt=1000 output=300 batch=7 engine=vllm "
    "speculation.tokens=3 speculation.acceptance=0.7 }\n"
    "scenario idledraft { gpu=h200-sxm model=glm-4.5-air prompt=1000 output=20 batch=1 tp=2 dp=2 engine=vllm "
    "speculation.tokens=2 speculation.acceptance=0.7 }\n"
    "scenario onlyone : idledraft { output = 1 engine = sglang }\n"
    "scenario idealdraft : idledraft { engine = ideal batch = 16 }\n"
    "scenario idealpp { gpu=a100-sxm-40 model=llama-2-70b context=1000 batch=2 pp=3 engine=ideal }\n"
    "scenario smallcard { gpu=jetson-orin-nano-8 model=qwen2-1.5b prompt=100 output=200 engine=vllm-0.6 }\n"
    "scenario biasedhead { gpu=apple-m4-max-32 model=phi-1.5 prompt=900 output=20 pp=3 weights=q4_k_m }\n"
    "scenario narrow { gpu=b200-sxm model=llama-3.1-70b weights=nvfp4 prompt=2000 output=300 batch=16 tp=2}\n"
    "scenario alike { gpu=rtx-4090 model=qwen3-30b-a3b weights=q4_k_m prompt=500 output=300 batch=4 "
    "engine=llama-cpp }\n"
    "scenario norms { gpu=b200-sxm model=minimax-m2 prompt=2000 output=300 batch=16 tp=4 engine=vllm}\n"
    "scenario crowded { gpu = h200-sxm  model = starcoder  prompt = 30000  output = 300  batch = 100  engine "
    "= "
    "tensorrt-llm }\n"
    "scenario crowd { gpu = h100-sxm  model = llama-3.1-8b  prompt = 1500  output = 20  batch = 64  tp = 2  "
    "engine = "
    "vllm }\n"
    "engine held : tensorrt-llm { hold_steps = 20  hold_share = 0.9  poll_interval = 4  balance_steps = 60 }\n"
    "scenario held { gpu = h200-sxm  model = llama-3.1-70b  prompt = 1024  output = 1024  batch = 64  tp = 4\n"
    "  engine = held  chunk = 2248  lengths = equal }\n"
    "scenario balanced { gpu = h200-sxm  model = qwen3-235b-a22b  weights = fp8  prompt = 1024  output = 512\n"
    "  batch = 64  dp = 8  ep = 8  engine = tensorrt-llm }\n"
    "scenario in_step { gpu = h100-sxm  model = llama-3.1-8b  prompt = 2000  output = 200  batch = 64\n"
    "  engine = sglang  lengths = equal }\n"
    "scenario spread : in_step { gpu = rtx-4090  prompt = 7000  output = 2000  batch = 4  lengths = spread }\n"
    "scenario eased : spread { lengths = equal }\n"
    "scenario train : crowd { lengths = equal }\n"
    "scenario biased { gpu = h100-sxm  model = phi-2  prompt = 900  output = 300  batch = 2  pp = 2 }\n"
    "scenario learned { gpu = h100-sxm  model = gpt2  prompt = 300  output = 300  batch = 1  tp = 4  engine "
    "= llama-cpp "
    "}\n";

/* Kinds of models and engines whose figures once had no formula: chunks and windows alone, tables of rows,
 * feed-forwards beside experts, states without more, caches that are read more slowly, experts that tokens
 * choose alike, and steps without overhead on several cards. */
static const char rare_cases[] =
    "model loop {\n"
    "  hidden = 2048   vocab = 32000   heads = 16   ffn = 5632   tied_embeddings = true\n"
    "  block first { count = 8 }\n"
    "  block again { count = 16   reuses_weights = true   block_extra_params = 1000000 }\n"
    "}\n"
    "scenario again { gpu = h100-sxm  model = loop  prompt = 1000  output = 200  batch = 8  tp = 2  engine = "
    "vllm }\n"
    "scenario chunks { gpu = h200-sxm  model = llama-4-scout  prompt = 1000  output = 200  batch = 8  tp = 8 "
    "}\n"
    "scenario rows { gpu = h200-sxm  model = gemma-4-e2b  prompt = 1000  output = 200  batch = 8  engine = "
    "llama-cpp }\n"
    "scenario beside { gpu = h100-sxm  model = grok-2  prompt = 5000  output = 300  batch = 64  tp = 8  pp = "
    "2 }\n"
    "scenario states { gpu = h200-sxm  model = mamba-codestral-7b  prompt = 1000  output = 200  batch = 8\n"
    "  engine = llama-cpp }\n"
    "scenario states2 : states { gpu = h100-sxm  engine = mlc-llm  tp = 4  pp = 2 }\n"
    "scenario linear { gpu = h200-sxm  model = kimi-linear-48b-a3b  prompt = 700  output = 50  batch = 2\n"
    "  engine = llama-cpp }\n"
    "scenario mixed { gpu = h200-sxm  model = mixtral-8x7b  prompt = 700  output = 50  batch = 2  engine = "
    "llama-cpp }\n"
    "scenario biased { gpu = h200-sxm  model = phi-2  prompt = 700  output = 50  batch = 2  engine = "
    "llama-cpp "
    "}\n"
    "scenario windows { gpu = h100-sxm  model = starcoder2-7b  prompt = 5000  output = 300  batch = 64  tp = "
    "4\n"
    "  pp = 2  engine = vllm-0.6 }\n"
    "scenario critical { gpu = h100-sxm  model = llama-3.1-405b  prompt = 5000  output = 300  batch = 64  tp "
    "= "
    "4\n"
    "  pp = 2  engine = vllm-0.6  cached_prefix = 700 }\n"
    "scenario least { gpu = h200-sxm  model = llama-3.1-8b  prompt = 1000  output = 200  batch = 8  tp = 8\n"
    "  engine = ideal }\n"
    "scenario least1 { gpu = rtx-4090  model = qwen3.5-122b-a10b  prompt = 300  output = 100  engine = ideal "
    "}\n"
    "scenario once { gpu = h100-sxm  model = llama-3.1-8b  prompt = 1000  output = 1  batch = 8\n"
    "  speculation.tokens = 3  speculation.acceptance = 0.7 }\n"
    "scenario lightning { gpu = h200-sxm  model = minimax-m1  prompt = 100  output = 20  tp = 8  weights = "
    "fp8 }\n"
    "scenario waits { gpu = a800-pcie-80  model = gpt-oss-20b  prompt = 20000  output = 20  batch = 300\n"
    "  cached_prefix = 10003  engine = llama-cpp }\n";

/* Exchanges over links, pairs of a mesh, bridges, the host and a network. */
static const char exchange_cases[] =
    "model grouped { layers = 32  hidden = 4096  heads = 32  kv_heads = 8  ffn = 14336  vocab = 128256 }\n"
    "model mixture { layers = 16  hidden = 2048  heads = 16  kv_heads = 4  vocab = 50000\n"
    "  experts = 32  active_experts = 4  expert_ffn = 1024 }\n"
    "gpu bare-card { memory = 80 GB  bandwidth = 2 TB/s  peak.bf16 = 312 TFLOPS }\n"
    "gpu bridged : bare-card { link = 100 GB/s  link_domain = 2  pcie = 60 GB/s }\n"
    "gpu meshed : bare-card { link = 300 GB/s  link_domain = 8  link_mesh = true }\n"
    "system nodes { gpu = bare-card  gpus_per_node = 8  nodes = 2  link = 400 GB/s  link_domain = 8  network "
    "= 50 GB/s "
    "}\n"
    "system islands { gpu = bare-card  gpus_per_node = 8  nodes = 2 }\n"
    "scenario nolink { gpu = bare-card  model = grouped  prompt = 900  output = 100  batch = 16  tp = 8 }\n"
    "scenario nolink2 : nolink { tp = 2  pp = 2 }\n"
    "scenario bridge : nolink { gpu = bridged  tp = 4 }\n"
    "scenario bridgepp : nolink { gpu = bridged  tp = 2  pp = 4 }\n"
    "scenario mesh : nolink { gpu = meshed  tp = 4  engine = vllm }\n"
    "scenario farm { system = nodes  model = mixture  prompt = 900  output = 100  batch = 64  tp = 16 }\n"
    "scenario farmpp : farm { tp = 8  pp = 2 }\n"
    "scenario farmdp : farm { tp = 2  dp = 8  ep = 16 }\n"
    "scenario isles : farm { system = islands  tp = 8  pp = 2 }\n";

/* Walks every `parts`-th declaration from `first`, so that tests run side by side. */
static void walk_some(const char *text, size_t first, size_t parts)
{
    struct result_fixture fixture = result_open(text);
    cr_assert(diags_errors(fixture.diags) == 0, "%s", diags_get(fixture.diags, 0)->message);
    struct walk walk = {.fixture = &fixture};
    const struct plan_view *view = plan_view(fixture.plan);
    struct report *report = report_build(fixture.evaluator, (struct report_options){.quantities = true});
    for (size_t i = first; i < view->scenarios.count; i += parts)
        walk_declaration(&walk, view->scenarios.items[i]);
    for (size_t i = first; i < report->models.count; i += parts)
        walk_declaration(&walk, plan_find(fixture.plan, KIND_MODEL, report->models.items[i]));
    for (size_t i = first; i < report->gpus.count; i += parts)
        walk_declaration(&walk, plan_find(fixture.plan, KIND_GPU, report->gpus.items[i]));
    cr_assert(diags_errors(fixture.diags) == 0, "%s", diags_get(fixture.diags, 0)->message);
    cr_assert(walk.formulas > 1000 && walk.inputs > 500 && walk.operations > 500 && walk.exchanges >= 10,
              "%zu %zu %zu %zu", walk.formulas, walk.inputs, walk.operations, walk.exchanges);
    result_close(&fixture);
}

Test(explain_walk, every_figure_is_derived_1)
{
    walk_some(cases, 0, 4);
}

Test(explain_walk, every_figure_is_derived_2)
{
    walk_some(cases, 1, 4);
}

Test(explain_walk, every_figure_is_derived_3)
{
    walk_some(cases, 2, 4);
}

Test(explain_walk, every_figure_is_derived_4)
{
    walk_some(cases, 3, 4);
}

Test(explain_walk, exchanges_are_derived)
{
    walk_some(exchange_cases, 0, 1);
}

Test(explain_walk, every_figure_is_derived_where_prompts_fill_the_steps)
{
    walk_some(more_cases, 0, 1);
}

Test(explain_walk, rare_kinds_are_derived)
{
    walk_some(rare_cases, 0, 1);
}

Test(explain_walk, no_figure_is_made_of_itself)
{
    static const enum quantity ends[] = {Q_FITS,           Q_COST_PER_MTOK, Q_TTFT,
                                         Q_DECODE_BALANCE, Q_MAX_BATCH,     Q_MFU};
    struct result_fixture fixture = result_open(cases);
    const struct plan_view *view = plan_view(fixture.plan);
    for (size_t i = 0; i < view->scenarios.count; i++)
        for (size_t j = 0; j < sizeof ends / sizeof ends[0]; j++)
            expect_no_circle(derive_tree(fixture.evaluator, view->scenarios.items[i], ends[j]), NULL);
    result_close(&fixture);
}

/* What the page and the other reports print of how a figure was made. */
Test(explain_walk, every_step_of_a_report_has_its_arithmetic)
{
    struct result_fixture fixture = result_open(cases);
    const struct plan_view *view = plan_view(fixture.plan);
    size_t steps = 0;
    for (size_t i = 0; i < view->scenarios.count; i++) {
        struct derivation derivation;
        derive_main(fixture.evaluator, view->scenarios.items[i], &derivation);
        for (size_t j = 0; j < derivation.steps.count; j++) {
            const struct derivation_step *step = &derivation.steps.items[j];
            cr_expect(step->formula && step->substituted, "%s of %s", step->name,
                      view->scenarios.items[i]->name);
            steps++;
        }
    }
    cr_assert(steps > 1000);
    result_close(&fixture);
}
