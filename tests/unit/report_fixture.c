/* report_fixture.c: builds the report trees that the backend tests draw. The figures are plausible but
 * made up; no test takes them for truth. */
#include "report_fixture.h"

#include <string.h>

#include "base/arena.h"
#include "result/report.h"
#include "source/diag.h"
#include "source/source.h"

static const double GIB = 1073741824.0;

static const char plan_text[] = "# A plan\n"
                                "scenario today {\n"
                                "  model = " NASTY_SCRIPT "\n"
                                "\tbatch = 64 # " NASTY_TICKS "\n"
                                "}\n"
                                "assert proposal.fits " NASTY_INVALID "\n";

const char *nasty_long_name(struct arena *arena)
{
    char *name = arena_strdup(arena, "very-long-name-");
    char *full = arena_alloc(arena, 201);
    size_t length = strlen(name);
    memcpy(full, name, length);
    for (size_t i = length; i < 200; i++)
        full[i] = (char)('0' + (int)((i - length) % 10));
    return full;
}

static struct rich_text rich(struct arena *arena, enum tone tone, const char *text)
{
    struct rich_text result = {0};
    rich_add(arena, &result, tone, text);
    return result;
}

static struct report_section *add_section(struct arena *arena, struct report *report, const char *id,
                                          const char *title, bool folded)
{
    struct report_section *section = VEC_PUSH(arena, report->sections);
    section->id = id;
    section->title = title;
    section->folded = folded;
    return section;
}

static struct report_block *add_block(struct arena *arena, struct report_section *section,
                                      enum block_kind kind)
{
    struct report_block *block = VEC_PUSH(arena, section->blocks);
    block->kind = kind;
    return block;
}

/* ---- tables */

static void add_column(struct arena *arena, struct report_table *table, const char *heading, enum align align,
                       const char *quantity)
{
    struct report_column *column = VEC_PUSH(arena, table->columns);
    column->heading = heading;
    column->align = align;
    column->quantity = quantity;
}

static struct report_cell *add_cell(struct arena *arena, struct report_row *row, enum tone tone,
                                    const char *text)
{
    struct report_cell *cell = VEC_PUSH(arena, row->cells);
    cell->text = rich(arena, tone, text);
    return cell;
}

static void add_number(struct arena *arena, struct report_row *row, const char *text, double value, bool best)
{
    struct report_cell *cell = add_cell(arena, row, TONE_PLAIN, text);
    cell->value = value;
    cell->has_value = true;
    cell->best = best;
}

static void fill_comparison(struct arena *arena, struct report_table *table)
{
    table->caption = "Scenarios against the first";
    add_column(arena, table, "Figure", ALIGN_LEFT, NULL);
    add_column(arena, table, "today", ALIGN_RIGHT, "today.tpot");
    add_column(arena, table, "proposal", ALIGN_RIGHT, "proposal.tpot");
    add_column(arena, table, NASTY_PIPE, ALIGN_RIGHT, NULL);

    struct report_row *row = VEC_PUSH(arena, table->rows);
    add_cell(arena, row, TONE_PLAIN, "Time per token (ms)");
    add_number(arena, row, "31.0", 0.031, false);
    add_number(arena, row, "24.2", 0.0242, true);
    rich_add(arena, &row->cells.items[2].text, TONE_GOOD, " (22 % better)");
    add_cell(arena, row, TONE_BAD, "does not fit");

    row = VEC_PUSH(arena, table->rows);
    add_cell(arena, row, TONE_NAME, NASTY_SCRIPT);
    add_cell(arena, row, TONE_MUTED, NASTY_TICKS);
    add_cell(arena, row, TONE_STRONG, NASTY_CONTROL);
    add_cell(arena, row, TONE_WARN, NASTY_INVALID);

    row = VEC_PUSH(arena, table->rows);
    add_cell(arena, row, TONE_NAME, NASTY_WIDE);
    add_cell(arena, row, TONE_NAME, NASTY_EMOJI);
    add_cell(arena, row, TONE_PLAIN, NASTY_MARKUP);
    add_cell(arena, row, TONE_PLAIN, "");

    row = VEC_PUSH(arena, table->rows);
    add_cell(arena, row, TONE_NAME, nasty_long_name(arena));
    add_cell(arena, row, TONE_PLAIN, NASTY_CLOSERS);
    add_cell(arena, row, TONE_PLAIN, NASTY_BIDI);
    add_cell(arena, row, TONE_PLAIN, "1");

    row = VEC_PUSH(arena, table->rows);
    row->total = true;
    add_cell(arena, row, TONE_STRONG, "Total");
    add_number(arena, row, "62.0", 62, false);
    add_number(arena, row, "48.4", 48.4, false);
    add_number(arena, row, "7", 7, false);
}

/* More columns than any terminal has. */
static void fill_wide(struct arena *arena, struct report_table *table)
{
    add_column(arena, table, "Scenario", ALIGN_LEFT, NULL);
    for (int i = 0; i < 24; i++)
        add_column(arena, table, arena_printf(arena, "quantity %d (ms)", i), ALIGN_RIGHT, NULL);
    for (int r = 0; r < 3; r++) {
        struct report_row *row = VEC_PUSH(arena, table->rows);
        add_cell(arena, row, TONE_NAME, arena_printf(arena, "scenario-%d", r));
        for (int i = 0; i < 24; i++)
            add_number(arena, row, arena_printf(arena, "%d.%d00", r * 100 + i, i % 10), r * 100 + i, false);
    }
}

/* ---- key figures */

static void add_figure(struct arena *arena, struct key_card *card, struct key_figure figure)
{
    *VEC_PUSH(arena, card->figures) = figure;
}

static void add_cards(struct arena *arena, struct report_block *block)
{
    struct key_card *card = VEC_PUSH(arena, block->cards.cards);
    card->title = "today";
    card->subtitle = "llama-3.1-70b fp8 on 4 \xC3\x97 h100-sxm, 64 users, 2000 + 400 tokens";
    card->tone = TONE_GOOD;
    add_figure(arena, card,
               (struct key_figure){"Memory", "today.fits", "fits", "12.0 GiB free", NULL, TONE_GOOD});
    add_figure(arena, card,
               (struct key_figure){"Time per token", "today.tpot", "31.0 ms", "27.0 to 37.0 ms",
                                   "limit 12.0 ms", TONE_PLAIN});
    add_figure(arena, card,
               (struct key_figure){"Throughput", "today.throughput", "2060 tok/s", NULL, NULL, TONE_PLAIN});
    rich_add(arena, &card->advice, TONE_PLAIN, "Decode is bound by reading weights: ");
    rich_add(arena, &card->advice, TONE_STRONG, "14.0 GB of the 16.1 GB");
    rich_add(arena, &card->advice, TONE_PLAIN, " moved per token.");

    card = VEC_PUSH(arena, block->cards.cards);
    card->title = NASTY_SCRIPT;
    card->subtitle = NASTY_MARKUP;
    card->tone = TONE_BAD;
    add_figure(arena, card,
               (struct key_figure){"Memory", "x.fits", "does not fit", "short by 3.20 GiB", NULL, TONE_BAD});
    add_figure(arena, card,
               (struct key_figure){NASTY_PIPE, NULL, NASTY_TICKS, NASTY_CONTROL, NASTY_INVALID, TONE_WARN});
    rich_add(arena, &card->advice, TONE_BAD, "Short by 3.20 GiB.");
    rich_add(arena, &card->advice, TONE_PLAIN,
             " It fits with batch \xE2\x89\xA4 27,"
             " or context \xE2\x89\xA4 3400, or an 8-bit KV cache, or tp = 2.");
}

/* ---- charts */

static struct report_chart *add_chart(struct arena *arena, struct report_section *section,
                                      enum chart_kind kind, const char *id, const char *title)
{
    struct report_chart *chart = &add_block(arena, section, BLOCK_CHART)->chart;
    chart->kind = kind;
    chart->id = id;
    chart->title = title;
    chart->description = "What the chart shows, for people who cannot see it. " NASTY_SCRIPT;
    return chart;
}

static void fill_roofline(struct arena *arena, struct roofline_chart *chart)
{
    struct roofline_device *device = VEC_PUSH(arena, chart->devices);
    device->label = "h100-sxm 3.35 TB/s";
    device->bandwidth = 3.35e12;
    *VEC_PUSH(arena, device->roofs) = (struct roof){"fp16 989 TFLOP/s", 989.4e12};
    *VEC_PUSH(arena, device->roofs) = (struct roof){"fp8 1.98 PFLOP/s", 1978.9e12};
    device = VEC_PUSH(arena, chart->devices);
    device->label = NASTY_SCRIPT " 4.80 TB/s";
    device->bandwidth = 4.8e12;
    *VEC_PUSH(arena, device->roofs) = (struct roof){"fp8 1.98 PFLOP/s " NASTY_PIPE, 1978.9e12};

    static const struct roofline_point points[] = {
        {"today", SERIES_DECODE, 110.0, 368.5e12, 210e12, 0},
        {"today", SERIES_PREFILL, 2400.0, 1978.9e12, 1100e12, 0},
        {"proposal", SERIES_DECODE, 112.0, 537.6e12, 300e12, 1},
        {"proposal", SERIES_PREFILL, 2400.0, 1978.9e12, 0, 1},
        {NASTY_SCRIPT, SERIES_DECODE, 1.02, 4.9e12, 2e12, 1},
    };
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++)
        *VEC_PUSH(arena, chart->points) = points[i];
}

static void add_part(struct arena *arena, struct bar *bar, enum series_kind kind, const char *label,
                     double gib, const char *text)
{
    *VEC_PUSH(arena, bar->parts) = (struct bar_part){kind, label, gib * GIB, text};
}

static void fill_bars(struct arena *arena, struct bar_chart *chart)
{
    chart->unit = "GiB per GPU";
    chart->unit_scale = GIB;
    struct bar *bar = VEC_PUSH(arena, chart->bars);
    bar->label = "today";
    bar->limit = 79.6 * GIB;
    bar->limit_text = "capacity 79.6 GiB";
    bar->total_text = "33.4 GiB";
    add_part(arena, bar, SERIES_WEIGHTS, "weights", 16.4, "16.4 GiB");
    add_part(arena, bar, SERIES_KV, "KV cache", 11.0, "11.0 GiB");
    add_part(arena, bar, SERIES_ACTIVATIONS, "activations", 1.0, "1.00 GiB");
    add_part(arena, bar, SERIES_OVERHEAD, "overhead", 5.0, "5.00 GiB");

    bar = VEC_PUSH(arena, chart->bars);
    bar->label = NASTY_WIDE;
    bar->limit = 79.6 * GIB;
    bar->limit_text = "capacity 79.6 GiB";
    bar->total_text = "82.8 GiB";
    add_part(arena, bar, SERIES_WEIGHTS, NASTY_SCRIPT, 70.0, "70.0 GiB");
    add_part(arena, bar, SERIES_KV, "KV cache", 9.6, "9.60 GiB");
    add_part(arena, bar, SERIES_SHORTFALL, "short by", 3.2, "3.20 GiB");

    bar = VEC_PUSH(arena, chart->bars); /* a bar with nothing in it */
    bar->label = NASTY_PIPE;
}

static void fill_lines(struct arena *arena, struct line_chart *chart)
{
    chart->x_title = "batch";
    chart->y_title = "throughput (tok/s)";
    chart->x_scale = 1;
    chart->y_scale = 1;
    chart->x_log = true;
    chart->x_limit = 100;
    chart->x_limit_text = "memory is full";
    static const double batches[] = {1, 8, 32, 128, 256};
    static const double rates[] = {90, 640, 1900, 4200, 5100};
    for (int s = 0; s < 2; s++) {
        struct line_series *series = VEC_PUSH(arena, chart->series);
        series->label = s == 0 ? "proposal" : NASTY_SCRIPT;
        for (int i = 0; i < 5; i++) {
            double y = rates[i] * (s == 0 ? 1.0 : 0.5);
            *VEC_PUSH(arena, series->points) = (struct line_point){
                batches[i], y, 0.8 * y, 1.2 * y, !(s == 1 && i == 2), batches[i] <= 100, NULL};
        }
    }
}

/* ---- the rest */

static void add_derivation(struct arena *arena, struct report_section *section)
{
    struct derivation *derivation = &add_block(arena, section, BLOCK_DERIVATION)->derivation;
    derivation->title = "today";
    *VEC_PUSH(arena, derivation->steps) = (struct derivation_step){"tpot",
                                                                   "Time between two tokens of one user.",
                                                                   "decode.step + interference",
                                                                   "12.1 ms + 0.666 ms",
                                                                   "12.7 ms",
                                                                   "0.012728169130437148 s",
                                                                   "Yu and others, Orca, OSDI 2022"};
    *VEC_PUSH(arena, derivation->steps) = (struct derivation_step){
        NASTY_SCRIPT, NASTY_MARKUP, "a * b | c", NASTY_TICKS, NASTY_CONTROL, NASTY_INVALID, NULL};
}

static void add_quantities(struct arena *arena, struct report *report)
{
    const struct report_quantity quantities[] = {
        {.name = "today.tpot",
         .type = QUANTITY_NUMBER,
         .value = 0.0104,
         .unit = "s",
         .has_band = true,
         .low = 0.0087,
         .high = 0.0126},
        {.name = "today.ceiling.tpot", .type = QUANTITY_NUMBER, .value = 0.008073741824, .unit = "s"},
        {.name = "today.memory.total", .type = QUANTITY_NUMBER, .value = 14000000000.0, .unit = "B"},
        {.name = "today.third", .type = QUANTITY_NUMBER, .value = 1.0 / 3.0, .unit = "1"},
        {.name = "today.fits", .type = QUANTITY_BOOL, .boolean = true},
        {.name = "today.decode.bound", .type = QUANTITY_TEXT, .text = "bandwidth (weights)"},
        {.name = "today.compute_bound_batch",
         .type = QUANTITY_ABSENT,
         .text = "no batch is compute-bound at this context"},
        {.name = "\"<script>alert(\\\"x\\\" & 'y')</script>\".name",
         .type = QUANTITY_TEXT,
         .text = NASTY_CONTROL},
        {.name = "\"=HYPERLINK(\\\"http://evil.example\\\",\\\"x\\\")\".fits",
         .type = QUANTITY_BOOL,
         .boolean = false},
        {.name = "\"q \\ uote\"."
                 "tpot",
         .type = QUANTITY_ABSENT,
         .text = NASTY_INVALID},
    };
    for (size_t i = 0; i < sizeof quantities / sizeof quantities[0]; i++)
        *VEC_PUSH(arena, report->quantities) = quantities[i];
}

static void add_assertions(struct arena *arena, struct report *report)
{
    *VEC_PUSH(arena, report->assertions) = (struct report_assertion){"proposal.tpot <= 40 ms",
                                                                     "chat must feel instant",
                                                                     true,
                                                                     "31.0 ms",
                                                                     "40.0 ms",
                                                                     "22 % below",
                                                                     NULL,
                                                                     27};
    *VEC_PUSH(arena, report->assertions) =
        (struct report_assertion){"proposal.fits", NULL, false, NULL, NULL, NULL, NULL, 28};
    *VEC_PUSH(arena, report->assertions) = (struct report_assertion){NASTY_SCRIPT " " NASTY_TICKS,
                                                                     NASTY_MARKUP,
                                                                     false,
                                                                     NASTY_PIPE,
                                                                     NASTY_CONTROL,
                                                                     NULL,
                                                                     NASTY_INVALID,
                                                                     29};
}

static void add_diagnostics(struct arena *arena, struct report *report)
{
    struct sources *sources = sources_new(arena);
    uint32_t file = sources_add(sources, "plan.perf", plan_text, sizeof plan_text - 1, false);
    struct diags *diags = diags_new(arena);
    /* Line 2, column 10: the word "today". */
    struct span place = {file, 18, 23};
    struct diag *diag = diag_add(diags, DIAG_E0101, place, "something about %s", NASTY_SCRIPT);
    diag_note(diags, diag, "a remark: %s", NASTY_PIPE);
    diag_fix(diags, diag, place, "tomorrow", "did you mean `tomorrow`?");
    report->diags = diags;
    report->sources = sources;
}

static void add_text_sections(struct arena *arena, struct report *report)
{
    struct report_section *section = add_section(arena, report, "assumptions", "Assumptions", true);
    struct rich_text paragraph = rich(arena, TONE_PLAIN,
                                      "Every default used, with its reason; a "
                                      "sentence that is long enough to be wrapped at eighty columns: ");
    rich_add(arena, &paragraph, TONE_NAME, NASTY_TICKS);
    rich_add(arena, &paragraph, TONE_WARN, " " NASTY_MARKUP " ");
    rich_add(arena, &paragraph, TONE_MUTED, NASTY_INVALID);
    add_block(arena, section, BLOCK_PARAGRAPH)->paragraph = paragraph;
    struct report_block *list = add_block(arena, section, BLOCK_LIST);
    *VEC_PUSH(arena, list->list.items) = rich(arena, TONE_PLAIN, "engine = typical: no engine was given");
    *VEC_PUSH(arena, list->list.items) = rich(arena, TONE_PLAIN, NASTY_SCRIPT);
    *VEC_PUSH(arena, list->list.items) = rich(arena, TONE_PLAIN, "- " NASTY_CONTROL);
    *VEC_PUSH(arena, list->list.items) = rich(arena, TONE_PLAIN, NASTY_CLOSERS);

    section = add_section(arena, report, "plan", "The plan", true);
    struct report_listing *listing = &add_block(arena, section, BLOCK_LISTING)->listing;
    listing->path = "plan.perf";
    listing->text = plan_text;
    listing->length = sizeof plan_text - 1;
}

struct report *report_fixture_empty(struct arena *arena)
{
    struct report *report = ARENA_NEW(arena, struct report);
    report->plan = "empty.perf";
    report->sources = sources_new(arena);
    report->diags = diags_new(arena);
    return report;
}

struct report *report_fixture(struct arena *arena)
{
    struct report *report = ARENA_NEW(arena, struct report);
    report->plan = "plan.perf";
    report->title = "Chat service " NASTY_SCRIPT;
    rich_add(arena, &report->verdict, TONE_PLAIN, "1 of 3 assertions holds; ");
    rich_add(arena, &report->verdict, TONE_NAME, "proposal");
    rich_add(arena, &report->verdict, TONE_PLAIN, " serves 64 users at 31 ms per token.");
    report->verdict_tone = TONE_BAD;
    add_assertions(arena, report);
    *VEC_PUSH(arena, report->scenarios) = "today";
    *VEC_PUSH(arena, report->scenarios) = "proposal";
    *VEC_PUSH(arena, report->scenarios) = NASTY_SCRIPT;
    *VEC_PUSH(arena, report->models) = "llama-3.1-70b";
    *VEC_PUSH(arena, report->gpus) = "h100-sxm";
    *VEC_PUSH(arena, report->gpus) = NASTY_INVALID;

    struct report_section *section = add_section(arena, report, "key", "Key figures", false);
    add_cards(arena, add_block(arena, section, BLOCK_CARDS));
    section = add_section(arena, report, "compare", "Comparison", false);
    fill_comparison(arena, &add_block(arena, section, BLOCK_TABLE)->table);
    section = add_section(arena, report, "roofline", "Where it stands", false);
    fill_roofline(arena, &add_chart(arena, section, CHART_ROOFLINE, "roofline", "Roofline")->roofline);
    section = add_section(arena, report, "memory", "Where the memory goes", false);
    fill_bars(arena, &add_chart(arena, section, CHART_BARS, "memory", "Memory " NASTY_TICKS)->bars);
    section = add_section(arena, report, "sweeps", "Sweep of proposal", true);
    fill_lines(arena, &add_chart(arena, section, CHART_LINES, "sweep-1", "Throughput over batch")->lines);
    fill_wide(arena, &add_block(arena, section, BLOCK_TABLE)->table);
    section = add_section(arena, report, "derivations", "How each figure was made", true);
    add_derivation(arena, section);
    add_text_sections(arena, report);
    add_quantities(arena, report);
    add_diagnostics(arena, report);
    return report;
}

struct report *report_fixture_large(struct arena *arena, size_t scenarios)
{
    struct report *report = report_fixture_empty(arena);
    report->plan = "large.perf";
    rich_add(arena, &report->verdict, TONE_PLAIN, "Many scenarios.");
    struct report_section *section = add_section(arena, report, "key", "Key figures", false);
    struct report_table *table = &add_block(arena, section, BLOCK_TABLE)->table;
    add_column(arena, table, "Scenario", ALIGN_LEFT, NULL);
    for (int i = 0; i < 6; i++)
        add_column(arena, table, arena_printf(arena, "q%d (ms)", i), ALIGN_RIGHT, NULL);
    for (size_t s = 0; s < scenarios; s++) {
        const char *name = arena_printf(arena, "scenario-%zu", s);
        *VEC_PUSH(arena, report->scenarios) = name;
        struct report_row *row = VEC_PUSH(arena, table->rows);
        add_cell(arena, row, TONE_NAME, name);
        for (int i = 0; i < 6; i++)
            add_number(arena, row, arena_printf(arena, "%zu.%d", s, i), (double)s + i / 10.0, false);
        for (int i = 0; i < 80; i++) {
            struct report_quantity *quantity = VEC_PUSH(arena, report->quantities);
            quantity->name = arena_printf(arena, "%s.group%d.quantity%d", name, i / 10, i);
            quantity->type = QUANTITY_NUMBER;
            quantity->value = (double)(s * 80 + (size_t)i) / 7.0;
            quantity->unit = "s";
        }
    }
    return report;
}
