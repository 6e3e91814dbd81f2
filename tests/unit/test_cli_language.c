/* test_cli_language.c: reports of every example in Chinese: no English is left besides names, units and what
 * the plan's author wrote, and every number is that of the English report. */
#include <criterion/criterion.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/intern.h"
#include "base/map.h"
#include "result/quantity.h"
#include "run.h"
#include "sema/plan.h"

static struct arena *arena;
static struct buffer faults;
static struct strings *strings;
static struct map *allowed;

static void allow_words(const char *text);

/* Words that are the same in both languages: names of products, techniques and people, unit prefixes, words
 * of the trade that Chinese keeps. Everything else must come from the tables below or from the plan. */
static const char same_in_both[] =
    "GPU GPUs token KV FLOP perfc Roofline CUDA all reduce HTTP logits PCIe NVLink Transformer JSON vLLM "
    "SGLang "
    "TensorRT LLM tok Mtok ktok Gtok usd GiB MiB TiB GFLOP TFLOP PFLOP MFLOP kFLOP EFLOP TPOT "
    /* titles of papers, and formulas */
    "Williams Waterman and Patterson CACM Leviathan Fast Inference from Transformers via Speculative "
    "Decoding "
    "docs model section floor ceil max min then else not "
    /* names of parts in formulas (result/derive_sheet.h) */
    "projections bytes block matrices";

static void set_up(void)
{
    arena = arena_new();
    faults = buffer_in(arena);
    strings = strings_new(arena);
    allowed = map_new(arena);
    allow_words(same_in_both);
    for (int i = 0; i < QUANTITY_COUNT; i++) {
        const struct quantity_info *info = quantity_info((enum quantity)i);
        allow_words(info->name);
        allow_words(info->formula ? info->formula : "");
        allow_words(info->static_formula ? info->static_formula : "");
    }
    for (int i = 0; i < ATTR_COUNT; i++)
        allow_words(attribute_info((enum attribute)i)->name);
}

static void tear_down(void)
{
    arena_free(arena);
}

TestSuite(cli_language, .init = set_up, .fini = tear_down, .timeout = 300);

static bool is_letter(char byte)
{
    return isalpha((unsigned char)byte) != 0;
}

/* Whether names cut in the middle ("toke…speed") begin or end here. */
static bool is_cut(const char *text, const char *start, size_t length)
{
    static const char ellipsis[] = "…";
    return strncmp(start + length, ellipsis, 3) == 0 ||
           (start - text >= 3 && strncmp(start - 3, ellipsis, 3) == 0);
}

/* The next run of three ASCII letters and more; NULL when there is none. */
static const char *next_word(const char **at)
{
    const char *text = *at;
    for (const char *start = text; *start; start++) {
        size_t length = 0;
        while (is_letter(start[length]))
            length++;
        if (length >= 3 && !is_cut(text, start, length)) {
            *at = start + length;
            return intern(strings, start, length);
        }
        start += length > 0 ? length - 1 : 0;
    }
    return NULL;
}

static void allow_words(const char *text)
{
    for (const char *word = next_word(&text); word; word = next_word(&text))
        map_put(allowed, word, (void *)word);
}

/* What the plan says, and what the catalogue says of what it names: names, values and sources are data. The
 * English report shows them in its sections of sources and of the plan. */
static void allow_data(const char *plan)
{
    allow_words(plan);
    allow_words(read_file(arena, plan, NULL));
    struct paths catalogue = find_files(arena, source_path(arena, "stdlib"), ".perf");
    cr_assert(catalogue.list.count > 3);
    for (size_t i = 0; i < catalogue.list.count; i++)
        allow_words(read_file(arena, catalogue.list.items[i], NULL));
}

static void look_for_english(const char *plan, const char *format, const char *text)
{
    size_t told = 0;
    for (const char *word = next_word(&text); word && told < 10; word = next_word(&text))
        if (!map_get(allowed, word)) {
            buffer_printf(&faults, "  %s in %s: %s\n", plan, format, word);
            map_put(allowed, word, (void *)word);
            told++;
        }
}

static struct paths examples(void)
{
    struct paths plans = find_files(arena, source_path(arena, "examples"), ".perf");
    cr_assert(plans.list.count >= 8, "%zu examples", plans.list.count);
    return plans;
}

/* The catalogue's remarks are English sentences, so that their words would excuse ours: these never may be
 * left, whatever the catalogue says. They begin sentences of the report. */
static const char *const telling[] = {
    "Decode is bound", "Where the",   "Time per token", "against",   "does not fit", "unless declared",
    "Scenario ",       "The figures", "free per",       "at most",   "Weights",      "Assumptions",
    "Warnings",        "how ",        "better",         "worse",     "of the limit", "Fits in memory",
    "Comparison",      "Throughput",  "reading ",       "computing", "no change",
};

static void look_for_sentences(const char *plan, const char *format, const char *text)
{
    for (size_t i = 0; i < sizeof telling / sizeof telling[0]; i++)
        if (strstr(text, telling[i]))
            buffer_printf(&faults, "  %s in %s: \"%s\"\n", plan, format, telling[i]);
}

Test(cli_language, no_english_is_left_in_text_and_markdown)
{
    static const char *const formats[] = {"text", "md"};
    struct paths plans = examples();
    for (size_t i = 0; i < plans.list.count; i++)
        allow_data(plans.list.items[i]);
    for (size_t i = 0; i < plans.list.count; i++)
        for (size_t k = 0; k < sizeof formats / sizeof formats[0]; k++) {
            const char *plan = plans.list.items[i];
            struct run run = RUN(arena, "--lang", "zh", "-f", formats[k], plan);
            cr_expect(run.status == 0 || run.status == 5, "%s: %d", plan, run.status);
            if (k == 1)
                allow_words("details summary sub br text amp quot nbsp");
            /* The sources and the plan come last and are what others wrote; a terminal breaks their words. */
            const char *end = strstr(run.out, "\n来源\n");
            const char *own = end ? arena_strndup(arena, run.out, (size_t)(end - run.out)) : run.out;
            look_for_english(plan, formats[k], own);
            if (k == 0)
                look_for_sentences(plan, formats[k], own);
        }
    cr_assert(faults.length == 0, "\n%s", buffer_string(&faults));
}

/* ---- the page ------------------------------------------------------------------------------------------ */

static bool begins(const char *at, const char *text)
{
    return strncmp(at, text, strlen(text)) == 0;
}

/* What an element hides or what others wrote: scripts, styles, code, the sources and the plan itself. */
static const char *skipped_to(const char *at)
{
    static const char *const skipped[][2] = {
        {"<script", "</script>"},
        {"<style", "</style>"},
        {"<code", "</code>"},
        {"<section class=\"folded\" id=\"sources\"", "</section>"},
        {"<section class=\"folded\" id=\"plan\"", "</section>"},
    };
    for (size_t i = 0; i < sizeof skipped / sizeof skipped[0]; i++)
        if (begins(at, skipped[i][0])) {
            const char *end = strstr(at, skipped[i][1]);
            cr_assert_not_null(end);
            return end;
        }
    return at;
}

/* The words of a page that a reader sees or hears: text, and attributes that are read out. */
static const char *words_of_page(const char *page)
{
    static const char *const read_out[] = {" title=\"", " aria-label=\"", " alt=\"", " data-label=\""};
    struct buffer out = buffer_in(arena);
    for (const char *at = page; *at; at++) {
        if (*at != '<') {
            buffer_byte(&out, *at);
            continue;
        }
        at = skipped_to(at);
        const char *end = strchr(at, '>');
        cr_assert_not_null(end);
        for (; at < end; at++)
            for (size_t i = 0; i < sizeof read_out / sizeof read_out[0]; i++)
                if (begins(at, read_out[i]))
                    buffer_printf(&out, " %.*s ", (int)strcspn(at + strlen(read_out[i]), "\""),
                                  at + strlen(read_out[i]));
        buffer_byte(&out, ' ');
    }
    return buffer_string(&out);
}

/* Names of the catalogue, but not its remarks, which are English. */
static void allow_names(void)
{
    static const char *const lists[] = {"gpus", "models", "formats", "engines", "systems"};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        for (const char *line = RUN(arena, "list", lists[i]).out; *line;) {
            allow_words(arena_strndup(arena, line, strcspn(line, " \n")));
            line += strcspn(line, "\n");
            line += *line == '\n';
        }
    /* What stands beside names and in formulas: entities, and the names of parts. */
    allow_words("quot amp nbsp hellip src stdlib perf examples main tmp nums billion first last none "
                "weights_read cache_read cache_moved attention_work spared draft tower_weights on_stage "
                "kv_fixed pages page_bytes at_last beyond logit width rows left_out sequences queries head "
                "kv_per_token matrix_work fresh");
}

static const char nasty[] =
    "scenario chat { gpu=h100-sxm model=llama-3.1-8b prompt=1000 output=300 batch=8 }\n"
    "sweep chat { tp = 1, 2, 3, 5, 64\n"
    " show tpot, fits, decode.bound }\n"
    "sweep chat { gpu = h100-sxm, l40s, rtx-4090\n"
    " batch = 1, 500\n"
    " show tpot, cost_per_mtok, ttft }\n"
    "scenario big { gpu=l40s model=llama-3.1-70b prompt=1000 output=300 batch=8 }\n"
    "scenario st { gpu=l40s model=llama-3.1-8b context=1000 batch=8 }\n"
    "scenario dr : chat { speculation.tokens=3 speculation.acceptance=0.2 }\n"
    "scenario moe { gpu=h100-sxm model=qwen3-30b-a3b prompt=1000 output=1 batch=16 engine=vllm }\n"
    "compare chat, big, st, dr, moe\n"
    "assert chat.tpot <= 1 ms\n"
    "assert st.ttft <= 1 ms\n"
    "measured chat { tpot = 1 ms  source = \"x\"}\n"
    "measured chat { ttft = 500 ms }\n"
    "gpu bare { memory = 80 GB  bandwidth = 2 TB/s }\n"
    "sweep chat { gpu = h100-sxm, bare\n"
    "  show tpot }\n"
    "measured chat { throughput = 1e6 tokens/s }\n"
    "scenario wait : chat { batch = 5000 }\n"
    "scenario mix { gpu=h200-sxm model=deepseek-v3.2 prompt=40000 output=300 batch=16 tp=8 engine=vllm }\n"
    "scenario far { gpu=a100-sxm-80 model=gemma-3-27b prompt=9000 output=500 batch=4 pp=2 cached_prefix=1000 "
    "}\n"
    "scenario odd { gpu=h100-sxm model=qwen3-next-80b-a3b prompt=900 output=500 batch=4 tp=4 }\n";

/* Nothing that the program says of its own accord is English, in warnings, reasons and derivations either. */
Test(cli_language, no_english_is_left_on_the_page)
{
    struct paths plans = examples();
    allow_names();
    /* The nasty one first, as the remarks in the examples excuse more words. */
    for (size_t i = 0; i <= plans.list.count; i++) {
        const char *plan = i == 0 ? scratch_file(arena, "nasty.perf", nasty) : plans.list.items[i - 1];
        allow_words(plan);
        allow_words(read_file(arena, plan, NULL));
        struct run run = RUN(arena, "--lang", "zh", "-f", "html", plan);
        cr_expect(run.status == 0 || run.status == 5, "%s: %d", plan, run.status);
        look_for_english(plan, "html", words_of_page(run.out));
    }
    cr_assert(faults.length == 0, "\n%s", buffer_string(&faults));
}

/* ---- numbers ---------------------------------------------------------------------------------------- */

/* How often each number stands in a text, as lines "31.2 7" would say; order may differ between languages. */
static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *numbers_of(const char *text)
{
    VEC(const char *) all = {0};
    for (const char *at = text; *at; at++) {
        if (strncmp(at, "&#8203;", 7) == 0) /* a mark that Markdown shows nothing of */
            at += 6;
        if (!isdigit((unsigned char)*at))
            continue;
        size_t length = 0;
        while (isdigit((unsigned char)at[length]) ||
               (at[length] == '.' && isdigit((unsigned char)at[length + 1])))
            length++;
        *VEC_PUSH(arena, all) = arena_strndup(arena, at, length);
        at += length - 1;
    }
    qsort(all.items, all.count, sizeof *all.items, by_text);
    struct buffer out = buffer_in(arena);
    for (size_t i = 0; i < all.count; i++)
        buffer_printf(&out, "%s\n", all.items[i]);
    return buffer_string(&out);
}

/* In CSV and JSON nothing moves; in Markdown sentences are ordered differently, and the same numbers are in
 * them. */
Test(cli_language, numbers_are_those_of_the_english_report)
{
    struct paths plans = examples();
    for (size_t i = 0; i < plans.list.count; i++) {
        const char *plan = plans.list.items[i];
        struct run english = RUN(arena, "-f", "md", "--max-bytes", "99999999", plan);
        struct run chinese = RUN(arena, "--lang", "zh", "-f", "md", "--max-bytes", "99999999", plan);
        const char *one = numbers_of(english.out), *other = numbers_of(chinese.out);
        cr_assert(strlen(one) > 500, "%s", plan);
        if (strcmp(one, other) != 0) {
            size_t at = 0;
            while (one[at] == other[at])
                at++;
            while (at > 0 && one[at - 1] != '\n')
                at--;
            buffer_printf(&faults, "  %s: numbers differ near \"%.20s\" and \"%.20s\"\n", plan, one + at,
                          other + at);
        }
    }
    cr_assert(faults.length == 0, "\n%s", buffer_string(&faults));
}

Test(cli_language, machines_read_the_same_in_any_language)
{
    const char *plan = source_path(arena, "examples/proposal.perf");
    cr_expect_str_eq(RUN(arena, "--lang", "zh", "-f", "csv", plan).out, RUN(arena, "-f", "csv", plan).out);
}

/* ---- which language --------------------------------------------------------------------------------- */

static struct run run_plan(const char *report, const char *language)
{
    const char *plan = arena_printf(
        arena, "%s\nscenario chat { gpu = h100-sxm  model = llama-3.1-8b  context = 4096 }\n", report);
    struct run_options options = {.input = plan, .input_length = strlen(plan)};
    return language ? run_perfc(arena, options, "--lang", language, "-", (const char *)NULL)
                    : run_perfc(arena, options, "-", (const char *)NULL);
}

Test(cli_language, the_command_line_wins_over_the_plan)
{
    const char *key = "关键指标";
    cr_expect_null(strstr(run_plan("", NULL).out, key));
    cr_expect_not_null(strstr(run_plan("report { language = zh }", NULL).out, key));
    cr_expect_null(strstr(run_plan("report { language = zh }", "en").out, key));
    cr_expect_not_null(strstr(run_plan("report { language = en }", "zh").out, key));
    cr_expect_eq(run_plan("", "fr").status, 2);
}

Test(cli_language, the_page_says_which_language_it_is_in)
{
    const char *plan = source_path(arena, "examples/quickstart.perf");
    cr_expect_not_null(strstr(RUN(arena, "-f", "html", "--lang", "zh", plan).out, "<html lang=\"zh-Hans\""));
    cr_expect_not_null(strstr(RUN(arena, "-f", "html", plan).out, "<html lang=\"en\">"));
}
