/* html_chart.c: a chart as a figure with two drawings of it, one for wide screens and one for narrow ones. */
#include "backend/svg.h"

static void draw(struct svg *svg, const struct report_chart *chart)
{
    switch (chart->kind) {
    case CHART_ROOFLINE: svg_roofline(svg, &chart->roofline); break;
    case CHART_BARS: svg_bars(svg, &chart->bars); break;
    case CHART_LINES: svg_lines(svg, &chart->lines); break;
    case CHART_TORNADO: svg_tornado(svg, &chart->tornado); break;
    }
}

/* How high a drawing is turns out when it is drawn, and stands before it: it is drawn aside. */
static void drawing(struct html_page *page, const struct report_chart *chart, bool narrow, bool half)
{
    struct svg svg = {.page = page, .narrow = narrow, .width = narrow ? 340 : half ? 510 : 880, .size = 13};
    struct buffer *out = page->out, shapes = buffer_in(page->arena);
    page->out = &shapes;
    draw(&svg, chart);
    page->out = out;
    html_open(page, "svg", narrow ? "narrow" : "wide");
    html_set_plain(page, "role", "img");
    struct buffer box = buffer_in(page->arena);
    buffer_text(&box, "0 0 ");
    svg_number(&box, svg.width);
    buffer_byte(&box, ' ');
    svg_number(&box, svg.height);
    html_set_plain(page, "viewBox", buffer_string(&box));
    html_element(page, "title", NULL, chart->title);
    html_element(page, "desc", NULL, chart->description);
    buffer_add(out, shapes.data, shapes.length);
    html_close(page);
    html_line(page);
}

void html_chart(struct html_page *page, const struct report_chart *chart, bool half)
{
    html_open(page, "figure", "chart");
    html_setf(page, "id", "chart-%s", html_slug(page->arena, chart->id));
    html_element(page, "figcaption", NULL, chart->title);
    html_line(page);
    drawing(page, chart, false, half);
    drawing(page, chart, true, half);
    html_close(page);
    html_line(page);
}
