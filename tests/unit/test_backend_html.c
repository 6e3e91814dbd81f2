/* test_backend_html.c: the HTML page: what may never be in it, what must be, and the geometry of its charts.
 */
#include <criterion/criterion.h>
#include <libxml/parser.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backend/chart.h"
#include "backend/emitters.h"
#include "backend/html_digest.h"
#include "base/buffer.h"
#include "base/utf8.h"
#include "report_fixture.h"
#include "result/report.h"
#include "run.h"

static struct arena *arena;

static void setup(void)
{
    arena = arena_new();
}

static void teardown(void)
{
    arena_free(arena);
}

TestSuite(backend_html, .init = setup, .fini = teardown);

static const char *draw(const struct report *report)
{
    struct buffer out = buffer_in(arena);
    cr_assert(html_emit(arena, report, (struct backend_options){0}, &out));
    cr_assert_eq(strlen(buffer_string(&out)), out.length, "a NUL in the page");
    return buffer_string(&out);
}

static size_t occurrences(const char *text, const char *part)
{
    size_t count = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        count++;
    return count;
}

/* What stands between `from` and the next `to`. */
static const char *between(const char *text, const char *from, const char *to)
{
    const char *start = strstr(text, from);
    cr_assert_not_null(start, "no %s", from);
    start += strlen(from);
    const char *end = strstr(start, to);
    cr_assert_not_null(end, "no %s after %s", to, from);
    return arena_strndup(arena, start, (size_t)(end - start));
}

/* ---- text is never markup ------------------------------------------------------------------ */

Test(backend_html, strings_of_a_plan_are_never_markup)
{
    const char *page = draw(report_fixture(arena));
    cr_assert_eq(occurrences(page, "<script"), 1, "more than the page's own script");
    cr_assert_eq(occurrences(page, "</script"), 1);
    cr_assert_eq(occurrences(page, "</style"), 1);
    cr_assert_null(strstr(page, "<script>alert"));
    cr_assert_not_null(strstr(page, "&lt;script&gt;alert("), "the string itself must be shown");
    cr_assert_null(strstr(page, "]]> -->"), "a comment could be closed");
    cr_assert_not_null(strstr(page, "]]&gt; --&gt; &lt;/details&gt;"));
}

Test(backend_html, is_valid_utf8_without_control_characters)
{
    const char *page = draw(report_fixture(arena));
    size_t length = strlen(page);
    cr_assert_eq(utf8_valid_prefix(page, length), length);
    for (size_t i = 0; i < length; i++)
        cr_assert(page[i] == '\n' || (unsigned char)page[i] >= 0x20, "byte %d at %zu", page[i], i);
    cr_assert_null(strchr(page, '\x7f'));
    cr_assert_null(strstr(page, "\xE2\x80\xAE"), "a directional override reached the page");
    cr_assert_not_null(strstr(page, NASTY_INVALID_SHOWN));
}

/* Forms that HTML 4 had a meaning for, and that writers of HTML have copied into attributes as they are. */
Test(backend_html, server_side_includes_cannot_end_an_attribute)
{
    static const char *const attacks[] = {"<!-- \"><img src=x onerror=alert(1)> -->",
                                          "&{\"><img src=x onerror=alert(1)>};"};
    for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
        struct report *report = report_fixture_empty(arena);
        report->title = attacks[i];
        rich_add(arena, &report->verdict, TONE_PLAIN, attacks[i]); /* goes into the meta description */
        struct report_section *section = VEC_PUSH(arena, report->sections);
        section->id = section->title = attacks[i];
        struct report_block *block = VEC_PUSH(arena, section->blocks);
        block->kind = BLOCK_TABLE;
        block->table.caption = attacks[i]; /* goes into aria-label */
        *VEC_PUSH(arena, block->table.columns) = (struct report_column){attacks[i], ALIGN_LEFT, attacks[i]};
        const char *page = draw(report);
        cr_assert_null(strstr(page, "<img"), "attack %zu", i);
        cr_assert_null(strstr(page, "\"><i"), "attack %zu", i);
    }
}

/* `text` without its first element of that name. */
static const char *without(const char *text, const char *from, const char *to)
{
    const char *start = strstr(text, from), *end = start ? strstr(start, to) : NULL;
    cr_assert_not_null(end, "no %s", from);
    return arena_printf(arena, "%.*s%s", (int)(start - text), text, end + strlen(to));
}

/* Every element is closed where it was opened, every attribute quoted and given once: a parser of XML, which
 * forgives nothing, reads the page. */
Test(backend_html, is_well_formed)
{
    const char *page = without(draw(report_fixture(arena)), "<style>", "</style>");
    page = without(page, "<script>", "</script>");
    xmlDocPtr parsed = xmlReadMemory(page, (int)strlen(page), "page", "UTF-8", XML_PARSE_NONET);
    cr_assert_not_null(parsed, "%s", xmlGetLastError()->message);
    xmlFreeDoc(parsed);
}

/* ---- self-contained ------------------------------------------------------------------------ */

Test(backend_html, loads_nothing_and_allows_only_its_own_style_and_script)
{
    const char *page = draw(report_fixture(arena));
    static const char *const forbidden[] = {" src=",   "<link",    "<iframe",     "<img",    "url(",
                                            "@import", "style=\"", "href=\"http", "onclick", "<base"};
    for (size_t i = 0; i < sizeof forbidden / sizeof *forbidden; i++)
        cr_assert_null(strstr(page, forbidden[i]), "%s in the page", forbidden[i]);
    const char *policy = between(page, "Content-Security-Policy\" content=\"", "\"");
    cr_assert_not_null(strstr(policy, "default-src 'none'"));
    cr_assert_null(strstr(policy, "unsafe"));
    const char *style = between(page, "<style>", "</style>"),
               *script = between(page, "<script>", "</script>");
    char digest[HTML_DIGEST_TEXT];
    cr_assert_not_null(strstr(policy, html_digest(digest, style, strlen(style))));
    cr_assert_not_null(strstr(policy, html_digest(digest, script, strlen(script))));
}

/* FIPS 180-4's examples; base64 of them by `openssl dgst -sha256 -binary | base64`. */
Test(backend_html, digest_is_sha256)
{
    static const struct {
        const char *text, *digest;
    } examples[] = {
        {"", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="},
        {"abc", "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "JI1qYdIGOLjlwCaTDD5gOaM85Flk/yFn9uzt1BnbBsE="},
    };
    char digest[HTML_DIGEST_TEXT];
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        cr_assert_str_eq(html_digest(digest, examples[i].text, strlen(examples[i].text)), examples[i].digest);
}

/* ---- structure ----------------------------------------------------------------------------- */

Test(backend_html, says_the_verdict_first)
{
    const char *page = draw(report_fixture(arena));
    const char *order[] = {"<!DOCTYPE html>",
                           "<html lang=\"en\">",
                           "<meta charset=\"utf-8\"/>",
                           "<title>",
                           "class=\"skip\"",
                           "<h1>",
                           "class=\"verdict bad\"",
                           "class=\"assertions\"",
                           "class=\"cards\"",
                           "<table>",
                           "<svg",
                           "class=\"steps\"",
                           "id=\"L1\"",
                           "<footer>"};
    const char *at = page;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        at = strstr(at, order[i]);
        cr_assert_not_null(at, "%s is missing or too early", order[i]);
    }
    cr_assert_eq(occurrences(page, "<h1>"), 1);
}

Test(backend_html, marks_each_assertion)
{
    const char *list = between(draw(report_fixture(arena)), "class=\"assertions\">", "</ul>");
    cr_assert_eq(occurrences(list, "✓"), 1);
    cr_assert_eq(occurrences(list, "✗"), 1);
    cr_assert_eq(occurrences(list, ">?<"), 1, "the third could not be decided");
    cr_assert_not_null(strstr(list, "31.0 ms against 40.0 ms"));
    cr_assert_not_null(strstr(list, "22 % below"));
    cr_assert_not_null(strstr(list, "href=\"#L27\""));
}

/* Nine that hold are folded behind their number; the one that fails stays in sight. */
Test(backend_html, many_assertions_that_hold_are_folded)
{
    struct report *report = report_fixture_empty(arena);
    for (int i = 0; i < 10; i++)
        *VEC_PUSH(arena, report->assertions) = (struct report_assertion){.text = "a.fits", .holds = i != 4};
    const char *page = draw(report);
    const char *fold = strstr(page, "<details class=\"holding\">");
    cr_assert_not_null(fold);
    cr_assert_not_null(strstr(fold, " 9 assertions hold"));
    cr_assert_eq(occurrences(page, "✗"), 1);
    cr_assert_null(strstr(fold, "✗"));
}

Test(backend_html, tables_have_captions_and_headings)
{
    const char *page = draw(report_fixture(arena));
    cr_assert_eq(occurrences(page, "<table>"), 2);
    const char *table = between(page, "<table>", "</table>");
    cr_assert_not_null(strstr(table, "<caption>Scenarios against the first</caption>"));
    cr_assert_eq(occurrences(table, "scope=\"col\""), 4);
    cr_assert_eq(occurrences(table, "scope=\"row\""), 5);
    cr_assert_eq(occurrences(table, " (best)"), 1);
    cr_assert_not_null(strstr(table, "data-v=\"0.0242000\""));
}

Test(backend_html, charts_have_words)
{
    const char *page = draw(report_fixture(arena));
    cr_assert_eq(occurrences(page, "<svg"), 6, "three charts, each wide and narrow");
    cr_assert_eq(occurrences(page, "<desc>What the chart shows"), 6);
    cr_assert_eq(occurrences(page, "viewBox="), 6);
    cr_assert_not_null(strstr(page, "h100-sxm 3.35 TB/s"));
    cr_assert_not_null(strstr(page, "fp16 989 TFLOP/s"));
    cr_assert_not_null(strstr(page, ">balance 295<"), "989.4 TFLOP/s over 3.35 TB/s is 295.3 FLOP/B");
    cr_assert_not_null(strstr(page, "memory is full"));
    cr_assert_not_null(strstr(page, "capacity 79.6 GiB"));
    cr_assert_null(strstr(page, "nan"));
    cr_assert_null(strstr(page, "inf,"));
}

Test(backend_html, key_figures_lead_to_their_derivation)
{
    const char *page = draw(report_fixture(arena));
    cr_assert_not_null(strstr(page, "<a href=\"#why-1-tpot\">Time per token</a>"));
    cr_assert_eq(occurrences(page, "id=\"why-1-tpot\""), 1);
}

Test(backend_html, an_empty_report_is_a_page)
{
    const char *page = draw(report_fixture_empty(arena));
    cr_assert_not_null(strstr(page, "<h1>empty.perf</h1>"));
    cr_assert_eq(occurrences(page, "<section"), 0);
}

Test(backend_html, is_the_same_every_time)
{
    struct report *report = report_fixture(arena);
    cr_assert_str_eq(draw(report), draw(report));
}

Test(backend_html, shows_sixty_cards_and_says_so)
{
    struct report *report = report_fixture_empty(arena);
    struct report_section *section = VEC_PUSH(arena, report->sections);
    section->id = section->title = "key";
    struct report_block *block = VEC_PUSH(arena, section->blocks);
    block->kind = BLOCK_CARDS;
    for (int i = 0; i < 200; i++)
        VEC_PUSH(arena, block->cards.cards)->title = "x";
    const char *page = draw(report);
    cr_assert_eq(occurrences(page, "<article"), 60);
    cr_assert_not_null(strstr(page, "the other 140"));
}

/* Charts must survive numbers at the edges: nothing, one point, zero, equal ends. */
Test(backend_html, degenerate_charts_are_drawn)
{
    struct report *report = report_fixture_empty(arena);
    struct report_section *section = VEC_PUSH(arena, report->sections);
    section->id = section->title = "charts";
    for (int i = 0; i < 8; i++) {
        struct report_block *block = VEC_PUSH(arena, section->blocks);
        block->kind = BLOCK_CHART;
        block->chart.kind = (enum chart_kind)(i / 2);
        block->chart.id = arena_printf(arena, "chart-%d", i);
        block->chart.title = block->chart.description = "";
    }
    struct roofline_chart *roofline = &section->blocks.items[1].chart.roofline;
    VEC_PUSH(arena, roofline->devices)->label = "no bandwidth, no roofs";
    VEC_PUSH(arena, roofline->points)->label = "nowhere";
    struct bar_chart *bars = &section->blocks.items[3].chart.bars;
    struct bar *bar = VEC_PUSH(arena, bars->bars);
    bar->label = "zero";
    VEC_PUSH(arena, bar->parts)->label = "nothing";
    struct line_chart *lines = &section->blocks.items[5].chart.lines;
    struct line_series *series = VEC_PUSH(arena, lines->series);
    series->label = "one point at zero";
    VEC_PUSH(arena, series->points)->valid = true;
    lines->x_log = true;
    for (int i = 6; i < 8; i++) {
        struct tornado_chart *tornado = &section->blocks.items[i].chart.tornado;
        tornado->unit = tornado->less_label = tornado->more_label = "";
    }
    struct tornado_bar *nothing = VEC_PUSH(arena, section->blocks.items[7].chart.tornado.bars);
    nothing->label = nothing->more_text = "nothing";
    const char *page = draw(report);
    cr_assert_eq(occurrences(page, "<svg"), 16);
    cr_assert_null(strstr(page, "nan"));
    cr_assert_null(strstr(page, "inf"));
}

/* From -10 % to +20 % over 877 of 880 units: the axis stands a third along, a bar of +20 % reaches the end.
 */
Test(backend_html, a_tornado_stands_on_its_axis)
{
    struct report *report = report_fixture_empty(arena);
    struct report_section *section = VEC_PUSH(arena, report->sections);
    section->id = section->title = "charts";
    struct report_block *block = VEC_PUSH(arena, section->blocks);
    block->kind = BLOCK_CHART;
    block->chart.kind = CHART_TORNADO;
    block->chart.id = block->chart.title = block->chart.description = "t";
    struct tornado_chart *tornado = &block->chart.tornado;
    tornado->unit = "%";
    tornado->unit_scale = 0.01;
    tornado->less_label = "less";
    tornado->more_label = "more";
    *VEC_PUSH(arena, tornado->bars) = (struct tornado_bar){"bandwidth", 0.2, -0.1, "20 % more", "10 % less"};
    const char *page = draw(report);
    /* 1 + 877 / 3 = 293.3; the bar of -10 % lies left of it, that of +20 % right of it */
    cr_assert_not_null(strstr(page, "x=\"293.3\""), "%s", page);
    cr_assert_not_null(strstr(page, "width=\"584.7\""));
    cr_assert_not_null(strstr(page, "width=\"292.3\""));
    cr_assert_not_null(strstr(page, "less: 20 % more \xC2\xB7 more: 10 % less"));
}

Test(backend_html, passes_tidy)
{
    const char *version[] = {"tidy", "-v", NULL};
    if (run_command(arena, version, (struct run_options){0}).status != 0)
        cr_skip_test("tidy is not installed");
    const char *file = scratch_file(arena, "report.html", draw(report_fixture(arena)));
    const char *check[] = {"tidy", "-e", "-q", file, NULL};
    struct run run = run_command(arena, check, (struct run_options){0});
    cr_assert_eq(run.status, 0, "%s", run.err);
}

/* ---- geometry ------------------------------------------------------------------------------ */

static const char *tick_labels(struct chart_ticks ticks)
{
    struct buffer out = buffer_in(arena);
    for (size_t i = 0; i < ticks.items.count; i++)
        if (ticks.items.items[i].label)
            buffer_printf(&out, "%s%s", out.length ? "|" : "", ticks.items.items[i].label);
    return buffer_string(&out);
}

Test(backend_html, ticks_are_round_numbers)
{
    cr_assert_str_eq(tick_labels(chart_linear_ticks(arena, 0, 97.3, 1, 5)), "0|20|40|60|80");
    cr_assert_str_eq(tick_labels(chart_linear_ticks(arena, 0, 0.0305, 1e-3, 4)), "0|10|20|30");
    cr_assert_str_eq(tick_labels(chart_linear_ticks(arena, 0, 1, 1, 5)), "0|0.2|0.4|0.6|0.8|1");
    cr_assert_str_eq(tick_labels(chart_linear_ticks(arena, 5, 5, 1, 5)), "", "an empty range has no ticks");
    /* One unit in the last place apart: a step of that size would never get from one end to the other. */
    cr_assert_str_eq(tick_labels(chart_linear_ticks(arena, 1823.1698368090904, 1823.1698368090906, 1, 6)),
                     "");
    cr_assert_str_eq(tick_labels(chart_log_ticks(arena, 0.5, 3000, 1, false, 9)), "1|10|100|1000");
    cr_assert_str_eq(tick_labels(chart_log_ticks(arena, 1e12, 2e15, 1, true, 9)), "1 T|10 T|100 T|1 P");
    cr_assert_str_eq(tick_labels(chart_log_ticks(arena, 90, 1100, 1, false, 9)), "100|200|500|1000");
}

Test(backend_html, log_ticks_have_two_to_five_between_decades)
{
    struct chart_ticks ticks = chart_log_ticks(arena, 1, 1000, 1, false, 9);
    size_t between_decades = 0;
    for (size_t i = 0; i < ticks.items.count; i++)
        if (ticks.items.items[i].value > 1.5 && ticks.items.items[i].value < 9)
            between_decades++;
    cr_assert_eq(between_decades, 4, "2, 3, 4 and 5");
}

Test(backend_html, scales_map_ends_and_middle)
{
    struct chart_scale linear = {.low = 0, .high = 10, .from = 100, .to = 300};
    cr_assert_float_eq(chart_at(&linear, 5), 200, 1e-9);
    struct chart_scale logarithmic = {.low = 1, .high = 100, .from = 400, .to = 0, .log = true};
    cr_assert_float_eq(chart_at(&logarithmic, 1), 400, 1e-9);
    cr_assert_float_eq(chart_at(&logarithmic, 10), 200, 1e-9);
    cr_assert_float_eq(chart_at(&logarithmic, 100), 0, 1e-9);
}

Test(backend_html, text_is_cut_in_the_middle_to_fit)
{
    const char *cut = chart_fit(arena, nasty_long_name(arena), 13, 100);
    cr_assert_leq(chart_text_width(cut, 13), 100);
    cr_assert_not_null(strstr(cut, "…"));
    cr_assert_eq(strncmp(cut, "ver", 3), 0);
    cr_assert_str_eq(chart_fit(arena, "short", 13, 100), "short");
}

/* A hundred labels around twenty points: each that found a place has it for itself. */
Test(backend_html, labels_never_cover_each_other)
{
    struct chart_space space = {.arena = arena, .bounds = {0, 0, 600, 400}};
    VEC(struct chart_box) placed = {0};
    for (int i = 0; i < 100; i++) {
        struct chart_box box;
        bool led;
        double x = 30 + 137 * i % 540, y = 20 + 71 * (i % 20) % 360;
        if (chart_place(&space, x, y, 30 + i % 50, 14, 60, &box, &led))
            *VEC_PUSH(arena, placed) = box;
    }
    cr_assert_gt(placed.count, 60);
    for (size_t i = 0; i < placed.count; i++) {
        struct chart_box a = placed.items[i];
        cr_assert(a.x >= 0 && a.y >= 0 && a.x + a.width <= 600 && a.y + a.height <= 400);
        for (size_t j = 0; j < i; j++) {
            struct chart_box b = placed.items[j];
            bool apart = a.x >= b.x + b.width || b.x >= a.x + a.width || a.y >= b.y + b.height ||
                         b.y >= a.y + a.height;
            cr_assert(apart, "labels %zu and %zu", j, i);
        }
    }
}
