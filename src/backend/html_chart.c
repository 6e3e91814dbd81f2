/* html_chart.c: a chart as a figure with two drawings of it, one for wide screens and one for narrow ones. */
#include "backend/svg.h"

static void drawing(struct html_page *page, xmlNodePtr figure, const struct report_chart *chart, bool narrow,
                    bool half)
{
    struct svg svg = {.page = page, .narrow = narrow, .width = narrow ? 340 : half ? 510 : 880, .size = 13};
    svg.root = html_add_text(page, figure, "svg", narrow ? "narrow" : "wide", NULL);
    html_set(page, svg.root, "role", "img");
    html_add_text(page, svg.root, "title", NULL, chart->title);
    html_add_text(page, svg.root, "desc", NULL, chart->description);
    switch (chart->kind) {
    case CHART_ROOFLINE: svg_roofline(&svg, &chart->roofline); break;
    case CHART_BARS: svg_bars(&svg, &chart->bars); break;
    case CHART_LINES: svg_lines(&svg, &chart->lines); break;
    case CHART_TORNADO: svg_tornado(&svg, &chart->tornado); break;
    }
    html_setf(page, svg.root, "viewBox", "0 0 %s %s", svg_number(&svg, svg.width),
              svg_number(&svg, svg.height));
    html_raw(page, figure, "\n");
}

void html_chart(struct html_page *page, xmlNodePtr parent, const struct report_chart *chart, bool half)
{
    xmlNodePtr figure = html_add_text(page, parent, "figure", "chart", NULL);
    html_setf(page, figure, "id", "chart-%s", html_slug(page->arena, chart->id));
    html_add_text(page, figure, "figcaption", NULL, chart->title);
    html_raw(page, figure, "\n");
    drawing(page, figure, chart, false, half);
    drawing(page, figure, chart, true, half);
    html_raw(page, parent, "\n");
}
