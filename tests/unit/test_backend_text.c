/* test_backend_text.c: the table of backends, clean strings, and the report for a terminal. Widths and
 * pictures are worked out by hand in the comments. */
#include <criterion/criterion.h>
#include <string.h>

#include "backend/backend.h"
#include "backend/clean.h"
#include "backend/text_draw.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/utf8.h"
#include "report_fixture.h"
#include "result/report.h"

static struct arena *arena;

static void setup(void)
{
    arena = arena_new();
}

static void teardown(void)
{
    arena_free(arena);
}

TestSuite(backend, .init = setup, .fini = teardown);
TestSuite(backend_text, .init = setup, .fini = teardown);

static const char *emit(const struct report *report, unsigned width, bool unicode, bool colour)
{
    struct buffer out = buffer_in(arena);
    struct backend_options options = {.width = width, .unicode = unicode, .colour = colour};
    cr_assert(backend_by_name("text")->emit(arena, report, options, &out));
    return buffer_string(&out);
}

static struct text_writer writer_into(struct buffer *out, size_t width, bool unicode)
{
    *out = buffer_in(arena);
    return (struct text_writer){.arena = arena, .out = out, .width = width, .unicode = unicode};
}

/* ---- the table of backends */

Test(backend, is_found_by_name)
{
    static const char *const names[][2] = {{"text", "text"},   {"txt", "text"},  {"md", "md"},
                                           {"markdown", "md"}, {"html", "html"}, {"htm", "html"},
                                           {"json", "json"},   {"csv", "csv"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct backend *backend = backend_by_name(names[i][0]);
        cr_assert_not_null(backend, "%s", names[i][0]);
        cr_assert_str_eq(backend->name, names[i][1]);
    }
    cr_assert_null(backend_by_name("pdf"));
    cr_assert_null(backend_by_name(""));
}

Test(backend, is_found_by_the_suffix_of_a_path)
{
    cr_assert_str_eq(backend_by_path("out/report.html")->name, "html");
    cr_assert_str_eq(backend_by_path("a.b.md")->name, "md");
    cr_assert_str_eq(backend_by_path("report.txt")->name, "text");
    cr_assert_null(backend_by_path("report"));
    cr_assert_null(backend_by_path("dir.md/report"));
    cr_assert_null(backend_by_path("report."));
    cr_assert_null(backend_by_path("report.perf"));
}

Test(backend, each_has_its_own_name_and_suffix)
{
    size_t count;
    const struct backend *all = backends(&count);
    cr_assert_geq(count, 4);
    for (size_t i = 0; i < count; i++) {
        cr_assert_eq(backend_by_name(all[i].name), &all[i]);
        cr_assert_eq(backend_by_path(arena_printf(arena, "x%s", all[i].suffix)), &all[i]);
        cr_assert_not_null(all[i].doc);
    }
}

/* ---- clean strings */

Test(backend, cleans_what_could_steer_a_terminal)
{
    static const char *const cases[][2] = {
        {"plain", "plain"},
        {"a\tb\r\nc\nd", "a b c d"},
        {"\033[31m", "\xEF\xBF\xBD[31m"},
        {"\x7f\xC2\x9B", "\xEF\xBF\xBD\xEF\xBF\xBD"}, /* DEL, and CSI as U+009B */
        {NASTY_INVALID, NASTY_INVALID_SHOWN},
        {NASTY_BIDI, "left\xEF\xBF\xBDtfel"},
        {"\xC0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD"},                                 /* overlong NUL */
        {"\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},                 /* a surrogate */
        {"\xF4\x90\x80\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"}, /* beyond U+10FFFF */
        {"\xF0\x9F\x9A", "\xEF\xBF\xBD"}, /* cut off: one replacement */
        {NASTY_WIDE, NASTY_WIDE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        cr_assert_str_eq(clean_line(arena, cases[i][0]), cases[i][1]);
    cr_assert_str_eq(clean_line(arena, NULL), "");
}

Test(backend, cuts_the_middle)
{
    cr_assert_str_eq(clean_middle(arena, "abcdefghij", 10, "…"), "abcdefghij");
    cr_assert_str_eq(clean_middle(arena, "abcdefghij", 7, "…"), "abc…hij");
    cr_assert_str_eq(clean_middle(arena, "abcdefghij", 6, "..."), "ab...j");
    cr_assert_str_eq(clean_middle(arena, "abcdefghij", 2, "..."), "ab");
    /* Four ideographs are eight columns; in six, "…" leaves three before and two after. */
    cr_assert_str_eq(clean_middle(arena, NASTY_WIDE, 6, "…"), "\xE5\xB7\xA8…\xE5\x9E\x8B");
}

Test(backend, spells_signs_in_ascii)
{
    cr_assert_str_eq(clean_ascii(arena, "4 × h100, batch ≤ 27, 3 µs · …"),
                     "4 x h100, batch <= 27, 3 us - ...");
    cr_assert_str_eq(clean_ascii(arena, NASTY_WIDE), "????");
}

/* ---- whole reports */

static size_t widest_line(const char *text)
{
    size_t widest = 0;
    while (*text) {
        size_t length = strcspn(text, "\n"), width = utf8_width(text, length);
        widest = width > widest ? width : widest;
        text += length + (text[length] == '\n');
    }
    return widest;
}

Test(backend_text, never_exceeds_the_width)
{
    const struct report *report = report_fixture(arena);
    for (unsigned width = 40; width <= 120; width += 8) {
        cr_assert_leq(widest_line(emit(report, width, true, false)), width, "unicode, %u", width);
        cr_assert_leq(widest_line(emit(report, width, false, false)), width, "ascii, %u", width);
    }
}

Test(backend_text, is_80_wide_unless_told_and_120_at_most)
{
    const struct report *report = report_fixture(arena);
    cr_assert_str_eq(emit(report, 0, true, false), emit(report, 80, true, false));
    cr_assert_str_eq(emit(report, 500, true, false), emit(report, 120, true, false));
    cr_assert_eq(widest_line(emit(report, 0, true, false)), 80); /* charts use what there is */
    cr_assert_eq(widest_line(emit(report, 120, true, false)), 120);
}

Test(backend_text, holds_no_control_characters)
{
    const char *text = emit(report_fixture(arena), 80, true, false);
    cr_assert_eq(utf8_valid_prefix(text, strlen(text)), strlen(text));
    for (const char *at = text; *at; at++)
        cr_assert((unsigned char)*at >= 0x20 ? *at != 0x7f : *at == '\n', "byte %02x", *at);
}

Test(backend_text, is_ascii_where_it_must_be)
{
    for (const char *at = emit(report_fixture(arena), 80, false, false); *at; at++)
        cr_assert((unsigned char)*at < 0x7f && ((unsigned char)*at >= 0x20 || *at == '\n'), "byte %02x", *at);
}

static const char *without_colour(const char *text)
{
    struct buffer plain = buffer_in(arena);
    while (*text) {
        if (*text == '\033') {
            cr_assert_eq(text[1], '[');
            text += 2 + strspn(text + 2, "0123456789;");
            cr_assert_eq(*text++, 'm');
        } else {
            buffer_byte(&plain, *text++);
        }
    }
    return buffer_string(&plain);
}

Test(backend_text, colours_change_nothing_else)
{
    const struct report *report = report_fixture(arena);
    const char *coloured = emit(report, 80, true, true);
    cr_assert_not_null(strstr(coloured, "\033[32m✓\033[0m proposal.tpot <= 40 ms"));
    cr_assert_not_null(strstr(coloured, "\033[31m✗\033[0m proposal.fits"));
    cr_assert_str_eq(without_colour(coloured), emit(report, 80, true, false));
}

Test(backend_text, tells_assertions_with_both_sides)
{
    const struct report *report = report_fixture(arena);
    const char *text = emit(report, 80, true, false);
    cr_assert_not_null(strstr(text, "✓ proposal.tpot <= 40 ms\n"
                                    "    chat must feel instant: 31.0 ms against 40.0 ms, 22 % below\n"
                                    "✗ proposal.fits\n"));
    text = emit(report, 80, false, false);
    cr_assert_not_null(strstr(text, "ok   proposal.tpot <= 40 ms\n"));
    cr_assert_not_null(strstr(text, "FAIL proposal.fits\n"));
}

Test(backend_text, shows_key_figures_side_by_side)
{
    const char *text = emit(report_fixture(arena), 80, true, false);
    /* The longest value of the block is 24 columns wide, "`tick` ``two`` ```three" being 23 of them. */
    cr_assert_not_null(strstr(text, "  Memory          fits                     12.0 GiB free\n"));
    cr_assert_not_null(
        strstr(text, "  Time per token  31.0 ms                  27.0 to 37.0 ms · limit 12.0 ms\n"));
    cr_assert_not_null(strstr(text, "  Throughput      2060 tok/s\n"));
}

Test(backend_text, numbers_the_lines_of_the_plan)
{
    const char *text = emit(report_fixture(arena), 80, true, false);
    cr_assert_not_null(strstr(text, "\n    1  # A plan\n    2  scenario today {\n"));
    cr_assert_not_null(strstr(text, "\n    4      batch = 64 # ")); /* the tab goes to column 4 */
    cr_assert_not_null(strstr(text, "\n    5  }\n"));
}

Test(backend_text, of_an_empty_report_is_its_name)
{
    cr_assert_str_eq(emit(report_fixture_empty(arena), 80, true, false), "empty.perf\n");
}

/* ---- wrapping */

Test(backend_text, wraps_at_words)
{
    struct buffer out;
    struct text_writer writer = writer_into(&out, 20, true);
    struct styled text =
        styled_text(&writer, TONE_PLAIN, "one two three four five incomprehensibilities six");
    text_wrapped(&writer, &text, "- ", 2);
    cr_assert_str_eq(buffer_string(&out), "- one two three four\n" /* exactly 20 */
                                          "  five\n"
                                          "  incomprehensibilit\n" /* fits on no line */
                                          "  ies six\n");
}

Test(backend_text, wraps_wide_characters_by_columns)
{
    struct buffer out;
    struct text_writer writer = writer_into(&out, 10, true);
    /* Two words of eight columns and the space between them need seventeen. */
    struct styled text = styled_text(&writer, TONE_PLAIN, NASTY_WIDE " " NASTY_WIDE);
    text_wrapped(&writer, &text, "", 0);
    cr_assert_str_eq(buffer_string(&out), NASTY_WIDE "\n" NASTY_WIDE "\n");
}

/* ---- tables */

static void add_row(struct report_table *table, const char *first, const char *second, bool total)
{
    struct report_row *row = VEC_PUSH(arena, table->rows);
    row->total = total;
    rich_add(arena, &VEC_PUSH(arena, row->cells)->text, TONE_NAME, first);
    if (second)
        rich_add(arena, &VEC_PUSH(arena, row->cells)->text, TONE_PLAIN, second);
}

static struct report_table small_table(void)
{
    struct report_table table = {.caption = "Parts"};
    *VEC_PUSH(arena, table.columns) = (struct report_column){.heading = "Part"};
    *VEC_PUSH(arena, table.columns) = (struct report_column){.heading = "GiB", .align = ALIGN_RIGHT};
    add_row(&table, "weights", "16.4", false);
    add_row(&table, NASTY_WIDE, "1", false);
    add_row(&table, "none", NULL, false);
    add_row(&table, "total", "117.4", true);
    table.rows.items[0].cells.items[1].best = true;
    return table;
}

Test(backend_text, table_word_for_word)
{
    struct buffer out;
    struct text_writer writer = writer_into(&out, 80, true);
    struct report_table table = small_table();
    text_table(&writer, &table);
    cr_assert_str_eq(buffer_string(&out), "Parts\n"
                                          "Part         GiB\n"
                                          "────────────────\n"
                                          "weights   * 16.4\n"
                                          "巨大模型       1\n"
                                          "none\n"
                                          "────────────────\n"
                                          "total      117.4\n"
                                          "* best\n");
    writer = writer_into(&out, 80, false);
    text_table(&writer, &table);
    cr_assert_not_null(strstr(buffer_string(&out), "\n---------------\nweights  * 16.4\n????          1\n"));
}

static size_t occurrences(const char *text, const char *word)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
        count++;
    return count;
}

Test(backend_text, wide_tables_are_split_and_lose_nothing)
{
    struct report_table table = {0};
    *VEC_PUSH(arena, table.columns) = (struct report_column){.heading = "Scenario"};
    struct report_row *row = VEC_PUSH(arena, table.rows);
    rich_add(arena, &VEC_PUSH(arena, row->cells)->text, TONE_NAME, "chat");
    for (int i = 0; i < 20; i++) {
        *VEC_PUSH(arena, table.columns) =
            (struct report_column){.heading = arena_printf(arena, "q%02d", i), .align = ALIGN_RIGHT};
        rich_add(arena, &VEC_PUSH(arena, row->cells)->text, TONE_PLAIN,
                 arena_printf(arena, "%d.50000", 100 + i));
    }
    struct buffer out;
    struct text_writer writer = writer_into(&out, 80, true);
    text_table(&writer, &table);
    const char *text = buffer_string(&out);
    cr_assert_leq(widest_line(text), 80);
    for (int i = 0; i < 20; i++) {
        cr_assert_eq(occurrences(text, arena_printf(arena, "q%02d", i)), 1);
        cr_assert_eq(occurrences(text, arena_printf(arena, "%d.50000", 100 + i)), 1);
    }
    /* Beside 8 columns for the name each quantity takes 2 + 9: six fit into 80, so 20 need four parts. */
    cr_assert_eq(occurrences(text, "chat"), 4);
}

Test(backend_text, no_single_column_is_split_off_when_cells_can_wrap)
{
    struct report_table table = {0};
    struct report_row *row = VEC_PUSH(arena, table.rows);
    for (int i = 0; i < 4; i++) {
        *VEC_PUSH(arena, table.columns) = (struct report_column){.heading = "h", .align = ALIGN_RIGHT};
        rich_add(arena, &VEC_PUSH(arena, row->cells)->text, TONE_PLAIN, "25.6 to 36.8");
    }
    struct buffer out;
    struct text_writer writer = writer_into(&out, 40, true);
    text_table(&writer, &table);
    /* Four times 12 and three gaps of 2 are 54; at 8 columns each ("25.6 to" is 7) they are 38. */
    cr_assert_eq(occurrences(buffer_string(&out), "36.8"), 4);
    cr_assert_not_null(strstr(buffer_string(&out), " 25.6 to   25.6 to   25.6 to   25.6 to\n"));
}

Test(backend_text, long_texts_wrap_inside_their_column)
{
    struct report_table table = {0};
    *VEC_PUSH(arena, table.columns) = (struct report_column){.heading = "Name"};
    *VEC_PUSH(arena, table.columns) = (struct report_column){.heading = "Reason"};
    add_row(&table, "engine", "no engine was given, so the typical one", false);
    struct buffer out;
    struct text_writer writer = writer_into(&out, 40, true);
    text_table(&writer, &table);
    /* 40 - 6 - 2 = 32 columns are left for the reason. */
    cr_assert_str_eq(buffer_string(&out), "Name    Reason\n"
                                          "────────────────────────────────────────\n"
                                          "engine  no engine was given, so the\n"
                                          "        typical one\n");
}

/* ---- charts */

Test(backend_text, bars_are_as_long_as_their_values)
{
    struct bar_chart chart = {.unit = "GiB", .unit_scale = 1};
    struct bar *bar = VEC_PUSH(arena, chart.bars);
    bar->label = "a";
    bar->limit = 40;
    bar->limit_text = "capacity 40";
    bar->total_text = "30";
    *VEC_PUSH(arena, bar->parts) = (struct bar_part){SERIES_WEIGHTS, "weights", 20, "20"};
    *VEC_PUSH(arena, bar->parts) = (struct bar_part){SERIES_KV, "KV", 10, "10"};
    struct buffer out;
    struct text_writer writer = writer_into(&out, 44, true); /* label 1, gap 2, then 0..40 in 41 columns */
    text_bars(&writer, &chart);
    cr_assert_str_eq(buffer_string(&out), "a  ████████████████████▓▓▓▓▓▓▓▓▓▓          │\n"
                                          "   total 30  █ weights 20  ▓ KV 10\n"
                                          "   │ capacity 40\n");
}

Test(backend_text, a_tornado_stands_on_its_axis)
{
    struct tornado_chart chart = {.unit = "%", .unit_scale = 0.01, .less_label = "less", .more_label = "more"};
    *VEC_PUSH(arena, chart.bars) = (struct tornado_bar){"a", 0.2, -0.1, "2", "1"};
    *VEC_PUSH(arena, chart.bars) = (struct tornado_bar){"bc", 0, 0.1, NULL, "1"};
    struct buffer out;
    /* labels 2 and a gap of 2, a gap of 2 and texts of 5: 33 columns of -0.1 to 0.2, an axis after 10 of 30 */
    struct text_writer writer = writer_into(&out, 44, true);
    text_tornado(&writer, &chart);
    cr_assert_str_eq(buffer_string(&out), "a    \xE2\x96\x90\xE2\x96\x90\xE2\x96\x90\xE2\x96\x90\xE2\x96\x90"
                                          "\xE2\x96\x90\xE2\x96\x90\xE2\x96\x90\xE2\x96\x90\xE2\x96\x90│"
                                          "▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄   2 / 1\n"
                                          "bc             │▐▐▐▐▐▐▐▐▐▐             - / 1\n"
                                          "    ▄ less  ▐ more\n");
}

static const char *line_at(const char *text, size_t number)
{
    for (; number > 0; number--)
        text = strchr(text, '\n') + 1;
    return arena_strndup(arena, text, strcspn(text, "\n"));
}

Test(backend_text, lines_run_from_corner_to_corner)
{
    struct line_chart chart = {.x_title = "batch", .y_title = "tok/s", .x_scale = 1, .y_scale = 1};
    struct line_series *series = VEC_PUSH(arena, chart.series);
    series->label = "chat";
    *VEC_PUSH(arena, series->points) = (struct line_point){.x = 0, .y = 0, .valid = true, .fits = true};
    *VEC_PUSH(arena, series->points) = (struct line_point){.x = 5, .valid = false};
    *VEC_PUSH(arena, series->points) = (struct line_point){.x = 10, .y = 50, .valid = true, .fits = false};
    struct buffer out;
    struct text_writer writer = writer_into(&out, 40, false);
    text_lines(&writer, &chart);
    const char *text = buffer_string(&out);
    /* Ten columns stand left of the axis, so the last of thirty is column 39. */
    const char *top = line_at(text, 1), *bottom = line_at(text, 15);
    cr_assert_str_eq(top, "      50 +                             a");
    cr_assert_str_eq(bottom, "       0 +A"); /* the gap at 5 leaves no line between */
    cr_assert_eq(occurrences(text, "A"), 2); /* and in the key */
    cr_assert_not_null(strstr(text, "small letter: does not fit"));
}

Test(backend_text, roofline_stands_on_its_decades)
{
    struct roofline_chart chart = {0};
    struct roofline_device *device = VEC_PUSH(arena, chart.devices);
    device->label = "card 1 TB/s";
    device->bandwidth = 1e12;
    *VEC_PUSH(arena, device->roofs) = (struct roof){"fp16 100 TFLOP/s", 1e14};
    *VEC_PUSH(arena, chart.points) = (struct roofline_point){"chat", SERIES_DECODE, 1, 1e12, 1e12, 0};
    struct buffer out;
    struct text_writer writer = writer_into(&out, 80, true);
    text_roofline(&writer, &chart);
    const char *text = buffer_string(&out);
    /* A margin of 0.3 decades is left around values and intensities. Values: 11.7 to 14.3 over 17 row steps,
     * so 1e14 is row 0.3 / 2.6 * 17 = 1.96 and 1e12 row 15.04. Intensities: -0.3 to 2.3 over 71 column steps,
     * so the balance point 100 is column 62.8 and the intensity 1 column 8.2. Below three decades 2 and 5
     * have ticks. */
    cr_assert_eq(strncmp(line_at(text, 1 + 2), "  100T ┤", strlen("  100T ┤")), 0);
    cr_assert_eq(strncmp(line_at(text, 1 + 15), "    1T ┤", strlen("    1T ┤")), 0);
    cr_assert_not_null(strstr(text, "\n   20T ┤"));
    cr_assert_not_null(strstr(text, "\n   50T ┤"));
    const char *roof = strstr(text, "  100T ┤") + strlen("  100T ┤");
    cr_assert_eq(strspn(roof, " .-'"), 63);
    cr_assert_eq(strncmp(roof + 63, "─", strlen("─")), 0);
    const char *point = strstr(text, "    1T ┤") + strlen("    1T ┤");
    cr_assert_eq(strcspn(point, "1"), 8);
    cr_assert_not_null(strstr(text, "fp16 100 TFLOP/s\n"));
    cr_assert_not_null(strstr(text, "A card 1 TB/s\n"));
    cr_assert_not_null(strstr(text, "1 chat decode  ○ its ceiling\n"));
}

Test(backend_text, roofline_survives_what_has_no_logarithm)
{
    struct roofline_chart chart = {0};
    struct roofline_device *device = VEC_PUSH(arena, chart.devices);
    device->label = "nothing";
    *VEC_PUSH(arena, device->roofs) = (struct roof){"none", 0};
    *VEC_PUSH(arena, chart.points) = (struct roofline_point){"zero", SERIES_PREFILL, 0, 0, 0, 0};
    struct buffer out;
    struct text_writer writer = writer_into(&out, 80, true);
    text_roofline(&writer, &chart);
    cr_assert_not_null(strstr(buffer_string(&out), "1 zero prefill"));
}

/* No report holds such values; a picture of them ends all the same, inside its width. */
Test(backend_text, charts_survive_extremes)
{
    static const double values[] = {0, -1, -1e300, 1e300, 5e-324, 1};
    enum { COUNT = sizeof values / sizeof values[0] };
    struct roofline_chart roofline = {0};
    struct line_chart lines = {.x_scale = 1, .y_scale = 1, .x_log = true, .x_title = "x", .y_title = "y"};
    struct bar_chart bars = {0};
    struct line_series *series = VEC_PUSH(arena, lines.series);
    series->label = "s";
    for (size_t i = 0; i < COUNT; i++) {
        struct roofline_device *device = VEC_PUSH(arena, roofline.devices);
        *device = (struct roofline_device){.label = "d", .bandwidth = values[i]};
        struct bar *bar = VEC_PUSH(arena, bars.bars);
        *bar = (struct bar){.label = "b", .limit = values[i]};
        for (size_t j = 0; j < COUNT; j++) {
            *VEC_PUSH(arena, device->roofs) = (struct roof){"r", values[j]};
            *VEC_PUSH(arena, bar->parts) = (struct bar_part){SERIES_OTHER, "p", values[j], "v"};
            *VEC_PUSH(arena, roofline.points) =
                (struct roofline_point){"p", SERIES_DECODE, values[i], values[j], values[j], i};
            *VEC_PUSH(arena, series->points) =
                (struct line_point){.x = values[i], .y = values[j], .valid = true, .fits = true};
        }
    }
    struct buffer out;
    struct text_writer writer = writer_into(&out, 60, true);
    text_roofline(&writer, &roofline);
    text_bars(&writer, &bars);
    text_lines(&writer, &lines);
    cr_assert_leq(widest_line(buffer_string(&out)), 60);
}
