/* svg_bars.c: one stacked bar per scenario. A part carries its own label where it is wide enough; the others
 * are named below their bar, each behind a swatch of its colour. Many bars share one legend instead. */
#include "backend/svg.h"

#include <math.h>
#include <string.h>

enum { MAX_BARS = 40, ROOMY_BARS = 8, MAX_LEGEND = 12 };

/* Names of bars are bold and a little larger: wider than chart_text_width() has it. */
static const double BOLD = 1.2;

struct bars {
    struct svg *svg;
    const struct bar_chart *chart;
    struct chart_scale x;
    double y; /* where the next thing goes */
    bool compact;
    size_t shown;
};

static double bar_total(const struct bar *bar)
{
    double total = 0;
    for (size_t i = 0; i < bar->parts.count; i++)
        total += fmax(bar->parts.items[i].value, 0);
    return total;
}

/* ---- labels behind swatches ---------------------------------------------------------------- */

/* A row of swatches with text that wraps at the width; `x` moves along, bars->y down. */
static void swatch(struct bars *bars, double *x, enum series_kind kind, const char *text)
{
    struct svg *svg = bars->svg;
    double mark = 10, gap = 5, height = svg->size + 5;
    text = chart_fit(svg->page->arena, text, svg->size, svg->width - mark - gap - 4);
    double width = mark + gap + chart_text_width(text, svg->size);
    if (*x > 0 && *x + width > svg->width) {
        *x = 0;
        bars->y += height;
    }
    svg_box(svg, svg_kind_class(kind), (struct chart_box){*x, bars->y + height - 13, mark, mark}, NULL);
    svg_text(svg, NULL, *x + mark + gap, bars->y + height - 4, SVG_START, text);
    *x += width + 14;
}

static bool seen_before(const struct bar_chart *chart, size_t bar, size_t part)
{
    const struct bar_part *made = &chart->bars.items[bar].parts.items[part];
    for (size_t i = 0; i <= bar; i++)
        for (size_t j = 0; j < chart->bars.items[i].parts.count && (i < bar || j < part); j++) {
            const struct bar_part *other = &chart->bars.items[i].parts.items[j];
            if (other->kind == made->kind && strcmp(other->label, made->label) == 0)
                return true;
        }
    return false;
}

static void draw_legend(struct bars *bars)
{
    svg_open(bars->svg, "legend", NULL);
    double x = 0;
    size_t entries = 0;
    for (size_t i = 0; i < bars->shown; i++) {
        const struct bar *bar = &bars->chart->bars.items[i];
        for (size_t j = 0; j < bar->parts.count && entries < MAX_LEGEND; j++) {
            if (seen_before(bars->chart, i, j))
                continue;
            swatch(bars, &x, bar->parts.items[j].kind, bar->parts.items[j].label);
            entries++;
        }
    }
    svg_close(bars->svg);
    if (entries)
        bars->y += bars->svg->size + 14;
}

/* ---- one bar ------------------------------------------------------------------------------- */

/* Among many bars the limit is named once for all neighbours that share it. */
static bool names_limit(const struct bars *bars, const struct bar *bar, const struct bar *previous)
{
    if (!(bar->limit > 0) || !bar->limit_text)
        return false;
    bool shared = previous && previous->limit_text && strcmp(previous->limit_text, bar->limit_text) == 0;
    return !(bars->compact && shared);
}

/* The name with the total behind it, and the name of the limit where its line begins. */
static void draw_header(struct bars *bars, const struct bar *bar, const struct bar *previous)
{
    struct svg *svg = bars->svg;
    double size = svg->size, gap = 10;
    const char *total = bar->total_text    ? bar->total_text
                        : bar->parts.count ? ""
                                           : html_words(bars->svg->page, M_SVG_NOTHING);
    double total_width = chart_text_width(total, size);
    const char *name = chart_fit(svg->page->arena, bar->label, size * BOLD, svg->width - total_width - gap);
    double name_width = chart_text_width(name, size * BOLD);
    svg_text(svg, "name", 0, bars->y + size, SVG_START, name);
    svg_text(svg, "total", name_width + gap, bars->y + size, SVG_START, total);
    double beside = name_width + total_width + 2 * gap;
    if (bar->band_text && beside + chart_text_width(bar->band_text, size) <= svg->width)
        svg_text(svg, "muted", beside, bars->y + size, SVG_START, bar->band_text);
    if (names_limit(bars, bar, previous)) {
        const char *limit = chart_fit(svg->page->arena, bar->limit_text, size, svg->width);
        double width = chart_text_width(limit, size);
        double end = fmin(fmax(chart_at(&bars->x, bar->limit) + 4, width), svg->width);
        if (end - width < name_width + total_width + 3 * gap) /* no room beside them: a row of its own */
            bars->y += size + 4;
        svg_text(svg, "muted", end, bars->y + size, SVG_END, limit);
    }
    bars->y += size + 7;
}

static const char *part_text(struct bars *bars, const struct bar_part *part)
{
    return part->text ? arena_printf(bars->svg->page->arena, "%s %s", part->label, part->text) : part->label;
}

/* Draws the parts side by side; returns how many labels did not fit within. */
static size_t draw_parts(struct bars *bars, const struct bar *bar, double height, bool *outside)
{
    struct svg *svg = bars->svg;
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < bar->parts.count; i++) {
        const struct bar_part *part = &bar->parts.items[i];
        if (!(part->value > 0)) {
            outside[i] = false;
            continue;
        }
        double left = chart_at(&bars->x, sum), right = chart_at(&bars->x, sum += part->value);
        const char *text = part_text(bars, part);
        struct chart_box box = {left, bars->y, fmax(right - left, 1), height};
        svg_box(svg, svg_kind_class(part->kind), box, text);
        outside[i] = chart_text_width(text, svg->size) + 10 > box.width;
        if (outside[i])
            count++;
        else if (!bars->compact)
            svg_text(svg, arena_printf(svg->page->arena, "on %s", svg_kind_class(part->kind)),
                     left + box.width / 2, bars->y + height / 2 + svg->size * 0.35, SVG_MIDDLE, text);
    }
    return count;
}

/* The band of the total, below the bar: as wide as it is, with a mark at either end. */
static void draw_band(struct bars *bars, const struct bar *bar)
{
    struct svg *svg = bars->svg;
    if (!(bar->high > bar->low))
        return;
    double low = chart_at(&bars->x, bar->low), high = chart_at(&bars->x, bar->high), y = bars->y + 5;
    svg_open(svg, "band", bar->band_text);
    svg_line(svg, NULL, low, y, high, y);
    svg_line(svg, NULL, low, y - 3, low, y + 3);
    svg_line(svg, NULL, high, y - 3, high, y + 3);
    svg_close(svg);
    bars->y += 8;
}

static void draw_bar(struct bars *bars, const struct bar *bar, const struct bar *previous)
{
    struct svg *svg = bars->svg;
    svg_open(svg, "bar", NULL);
    double height = bars->compact ? 10 : 24;
    draw_header(bars, bar, previous);
    bool *outside = ARENA_ARRAY(svg->page->arena, bool, bar->parts.count + 1);
    double top = bars->y;
    if (bar->limit > 0) /* the room there is, so that what is left of it shows */
        svg_box(svg, "track", (struct chart_box){0, top, chart_at(&bars->x, bar->limit), height}, NULL);
    size_t left_over = draw_parts(bars, bar, height, outside);
    if (bar->limit > 0) {
        double limit = chart_at(&bars->x, bar->limit);
        svg_line(svg, "limit", limit, top - 4, limit, top + height + 4);
    }
    bars->y += height;
    draw_band(bars, bar);
    if (left_over && !bars->compact) {
        double x = 0;
        bars->y += 5;
        for (size_t i = 0; i < bar->parts.count; i++)
            if (outside[i])
                swatch(bars, &x, bar->parts.items[i].kind, part_text(bars, &bar->parts.items[i]));
        bars->y += svg->size + 5;
    }
    bars->y += bars->compact ? 6 : 16;
    svg_close(svg);
}

/* ---- the chart ----------------------------------------------------------------------------- */

static void draw_axis(struct bars *bars)
{
    struct svg *svg = bars->svg;
    struct chart_ticks ticks =
        chart_linear_ticks(svg->page->arena, 0, bars->x.high,
                           bars->chart->unit_scale > 0 ? bars->chart->unit_scale : 1, svg->narrow ? 4 : 8);
    svg_open(svg, "axis", NULL);
    svg_line(svg, "base", bars->x.from, bars->y, bars->x.to, bars->y);
    for (size_t i = 0; i < ticks.items.count; i++) {
        const struct chart_tick *tick = &ticks.items.items[i];
        double at = chart_at(&bars->x, tick->value);
        double half = chart_text_width(tick->label, svg->size) / 2;
        svg_line(svg, "base", at, bars->y, at, bars->y + 4);
        svg_text(svg, NULL, fmax(fmin(at, svg->width - half), half), bars->y + svg->size + 6, SVG_MIDDLE,
                 tick->label);
    }
    bars->y += 2 * svg->size + 12;
    svg_text(svg, NULL, bars->x.to, bars->y, SVG_END, bars->chart->unit ? bars->chart->unit : "");
    svg_close(svg);
    bars->y += 6;
}

void svg_bars(struct svg *svg, const struct bar_chart *chart)
{
    struct bars bars = {.svg = svg, .chart = chart, .y = 2};
    bars.shown = chart->bars.count < MAX_BARS ? chart->bars.count : MAX_BARS;
    bars.compact = bars.shown > ROOMY_BARS;
    bars.x = (struct chart_scale){.from = 0, .to = svg->width - 2};
    for (size_t i = 0; i < bars.shown; i++)
        bars.x.high =
            fmax(bars.x.high, fmax(fmax(bar_total(&chart->bars.items[i]), chart->bars.items[i].limit),
                                   chart->bars.items[i].high));
    if (!(bars.x.high > 0))
        bars.x.high = chart->unit_scale > 0 ? chart->unit_scale : 1;
    if (bars.compact)
        draw_legend(&bars);
    for (size_t i = 0; i < bars.shown; i++)
        draw_bar(&bars, &chart->bars.items[i], i ? &chart->bars.items[i - 1] : NULL);
    draw_axis(&bars);
    if (bars.shown < chart->bars.count) {
        svg_text(svg, "muted", 0, bars.y - 6, SVG_START,
                 HTML_WORDS(svg->page, M_SVG_FIRST_OF, arena_printf(svg->page->arena, "%zu", bars.shown),
                            arena_printf(svg->page->arena, "%zu", chart->bars.count)));
    }
    svg->height = bars.y;
}
