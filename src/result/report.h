/* report.h: the report tree, which every backend draws and none computes.
 *
 * All text is plain UTF-8 (never markup; a backend escapes it). Numbers come formatted, with their
 * value beside them for charts and machines. Everything lives in one arena. */
#ifndef PERFC_RESULT_REPORT_H
#define PERFC_RESULT_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/language.h"
#include "base/vec.h"

struct diags;
struct sources;

/* ---- text --------------------------------------------------------------------------------- */

enum tone {
    TONE_PLAIN,
    TONE_GOOD, /* better, holds, fits */
    TONE_BAD,  /* worse, fails, does not fit */
    TONE_WARN,
    TONE_MUTED,  /* small print: bands, limits */
    TONE_STRONG, /* emphasis */
    TONE_NAME,   /* a name from the plan */
};

/* A run of text in one tone. */
struct span_text {
    const char *text;
    enum tone tone;
};

/* A paragraph, a heading or a cell: runs of text that follow each other. */
struct rich_text {
    VEC(struct span_text) runs;
};

/* Appends a run. */
void rich_add(struct arena *arena, struct rich_text *text, enum tone tone, const char *run);
void rich_addf(struct arena *arena, struct rich_text *text, enum tone tone, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- tables ------------------------------------------------------------------------------- */

enum align { ALIGN_LEFT, ALIGN_RIGHT };

struct report_column {
    const char *heading; /* with the unit, when the whole column has one: "TPOT (ms)" */
    enum align align;
    const char *quantity; /* dotted name of what the column shows, or NULL */
};

struct report_cell {
    struct rich_text text;
    double value; /* for sorting; valid when has_value */
    bool has_value;
    bool best; /* best of its row or column */
};

struct report_row {
    VEC(struct report_cell) cells;
    bool total; /* a sum, set apart by a rule above it */
};

struct report_table {
    const char *caption; /* or NULL */
    VEC(struct report_column) columns;
    VEC(struct report_row) rows;
};

/* ---- charts ------------------------------------------------------------------------------- */

/* What a part of a bar or a point is about; each has one fixed colour in every chart. */
enum series_kind {
    SERIES_WEIGHTS,
    SERIES_KV,
    SERIES_COMPUTE,
    SERIES_COMMUNICATION,
    SERIES_FIXED,
    SERIES_ACTIVATIONS,
    SERIES_OVERHEAD,
    SERIES_FREE,
    SERIES_SHORTFALL,
    SERIES_DECODE,
    SERIES_PREFILL,
    SERIES_OTHER,
    SERIES_KIND_COUNT
};

/* Roofline: FLOP/s over FLOP/B, log-log. */
struct roof {
    const char *label; /* "fp8 1.98 PFLOP/s" */
    double peak;       /* FLOP/s */
};
struct roofline_point {
    const char *label;      /* scenario name */
    enum series_kind phase; /* SERIES_DECODE or SERIES_PREFILL */
    double intensity;       /* FLOP/B */
    double ceiling;         /* FLOP/s on the roof */
    double expected;        /* FLOP/s expected; 0 when there is none */
    size_t device;          /* index of its device */
};
struct roofline_device {
    const char *label; /* "h100-sxm 3.35 TB/s" */
    double bandwidth;  /* bytes/s */
    VEC(struct roof) roofs;
};
struct roofline_chart {
    VEC(struct roofline_device) devices;
    VEC(struct roofline_point) points;
};

/* Stacked bars, one per scenario, against an optional limit line per bar. */
struct bar_part {
    enum series_kind kind;
    const char *label; /* "weights" */
    double value;
    const char *text; /* "13.0 GiB" */
};
struct bar {
    const char *label;
    VEC(struct bar_part) parts;
    double limit;           /* 0: none */
    const char *limit_text; /* "capacity 80.0 GiB" */
    const char *total_text;
    double low, high;      /* band of the total; 0: none */
    const char *band_text; /* "7.48 to 10.2 ms" */
};
struct bar_chart {
    const char *unit;  /* axis title: "GiB per GPU" */
    double unit_scale; /* SI value of one unit, for axis labels */
    VEC(struct bar) bars;
};

/* Lines over one axis, for sweeps, and points over two. */
struct line_point {
    double x, y;
    double low, high; /* band; equal to y when there is none */
    bool valid;       /* false: the quantity does not exist there, the line breaks */
    bool fits;
    const char *label; /* of this point alone, or NULL */
};
enum line_style {
    LINE_JOINED,   /* points that follow each other */
    LINE_POINTS,   /* points that do not */
    LINE_MEASURED, /* points that were seen, not computed */
    LINE_FRONT     /* the best that can be had: a line without points */
};
struct line_series {
    const char *label;
    enum line_style style;
    VEC(struct line_point) points;
};
struct line_chart {
    const char *x_title, *y_title;
    double x_scale, y_scale; /* SI value of one axis unit */
    bool x_log;
    bool x_round; /* ticks at round numbers, not at the values of the first series */
    VEC(struct line_series) series;
    double x_limit;           /* a vertical dashed line, in SI; 0: none */
    const char *x_limit_text; /* "memory is full" */
    double x_knee;            /* a dotted one: where something else becomes the limit; 0: none in range */
    const char *x_knee_text;  /* "compute-bound from 297" */
};

/* A tornado: for each input, by how much a result changes with less of it and with more, on either side of
 * what it is now. */
struct tornado_bar {
    const char *label;                 /* "bandwidth" */
    double less, more;                 /* change of the result, as a share of it; 0: none */
    const char *less_text, *more_text; /* "8.4 % more"; NULL: there is no less of it */
};
struct tornado_chart {
    const char *unit;                    /* axis title: "% of time per token" */
    double unit_scale;                   /* value of one axis unit: 0.01 */
    const char *less_label, *more_label; /* "a tenth less", "a tenth more" */
    VEC(struct tornado_bar) bars;
};

enum chart_kind { CHART_ROOFLINE, CHART_BARS, CHART_LINES, CHART_TORNADO };

struct report_chart {
    enum chart_kind kind;
    const char *id;                  /* unique in the report: letters, digits, dashes */
    const char *title, *description; /* for people who cannot see it */
    union {
        struct roofline_chart roofline;
        struct bar_chart bars;
        struct line_chart lines;
        struct tornado_chart tornado;
    };
};

/* ---- derivations -------------------------------------------------------------------------- */

/* One line of a derivation: `name = formula = formula with values = value`. */
struct derivation_step {
    const char *name;        /* "tpot" */
    const char *doc;         /* one sentence */
    const char *formula;     /* "decode.step + interference" */
    const char *substituted; /* "12.1 ms + 0.666 ms" */
    const char *value;       /* "12.7 ms" */
    const char *exact;       /* "0.012728169130437148 s" */
    const char *source;      /* of the formula, or NULL */
};

struct derivation {
    const char *title; /* scenario name */
    VEC(struct derivation_step) steps;
};

/* ---- key figures -------------------------------------------------------------------------- */

/* One of the figures people look for: expected first, band beside it, ceiling small below. */
struct key_figure {
    const char *label;    /* "Time per token" */
    const char *quantity; /* "chat.tpot" */
    const char *value;    /* "31 ms", "does not fit" */
    const char *detail;   /* "27 to 37 ms", or NULL */
    const char *limit;    /* "limit 12 ms", or NULL */
    enum tone tone;
};

struct key_card {
    const char *title;    /* scenario name */
    const char *subtitle; /* "llama-3.1-70b fp8 on 4 × h100-sxm, 64 users, 2 000 + 400 tokens" */
    enum tone tone;
    VEC(struct key_figure) figures;
    struct rich_text advice; /* what to do when it does not fit, what bounds it; may be empty */
};

/* ---- the plan's own text ------------------------------------------------------------------ */

struct report_listing {
    const char *path; /* as the user named it */
    const char *text;
    size_t length;
};

/* ---- the tree ----------------------------------------------------------------------------- */

enum block_kind {
    BLOCK_PARAGRAPH,
    BLOCK_LIST,
    BLOCK_TABLE,
    BLOCK_CHART,
    BLOCK_CARDS,
    BLOCK_DERIVATION,
    BLOCK_LISTING
};

struct report_block {
    enum block_kind kind;
    union {
        struct rich_text paragraph;
        struct {
            VEC(struct rich_text) items;
        } list;
        struct report_table table;
        struct report_chart chart;
        struct {
            VEC(struct key_card) cards;
        } cards;
        struct derivation derivation;
        struct report_listing listing;
    };
};

struct report_section {
    const char *id;    /* "key", "compare", "roofline", ... as in `report { sections }` */
    const char *title; /* "Key figures" */
    bool folded;       /* details that Markdown and HTML fold */
    VEC(struct report_block) blocks;
};

/* An assertion, evaluated. */
struct report_assertion {
    const char *text;    /* the condition as written */
    const char *message; /* or NULL */
    bool holds;
    const char *left, *right; /* both sides of a comparison, formatted; NULL otherwise */
    const char *margin;       /* "22 % below", or NULL */
    const char *why;          /* why it could not be decided, or NULL */
    unsigned line;
};

/* A quantity for machines, in SI. */
enum quantity_type { QUANTITY_NUMBER, QUANTITY_BOOL, QUANTITY_TEXT, QUANTITY_ABSENT };
struct report_quantity {
    const char *name; /* "chat.decode.intensity" */
    enum quantity_type type;
    double value;
    bool boolean;
    const char *text; /* of QUANTITY_TEXT; the reason of QUANTITY_ABSENT */
    const char *unit; /* "s", "B", "1" */
    bool has_band;
    double low, high;
};

/* ---- sweeps and what would change a result, for machines ------------------------------------- */

/* A point of a sweep: a value for each axis and each `show`, named as the plan names them ("batch", "tpot").
 * `why` is there where the point is impossible, and nothing is shown then. */
struct report_sweep_point {
    VEC(struct report_quantity) axes, shown;
    bool fits;
    const char *why;
};

struct report_sweep {
    const char *scenario;
    VEC(const char *) axes; /* attributes */
    VEC(struct report_sweep_point) points;
};

/* How a result moves with an input of a scenario: d ln y / d ln x, and the result at `less` and `more`. */
struct report_elasticity {
    const char *quantity;      /* "tpot" */
    double value, left, right; /* left and right differ at a corner: for less of the input and for more */
    bool corner;
    double with_less, with_more;
};

struct report_sensitivity {
    const char *scenario;
    const char *input; /* as a plan writes it, from the scenario: "gpu.bandwidth" */
    const char *unit;
    double value, less, more; /* as it is, and at about a tenth less and more */
    VEC(struct report_elasticity) results;
};

/* How far an input may go before something changes. */
struct report_threshold {
    const char *scenario;
    const char *about;        /* "ceiling", "bound", "fits" or "assertion" */
    const char *text;         /* of the assertion, or NULL */
    const char *input, *unit; /* "batch", "1" */
    bool above;               /* it changes with more of the input; false: with less */
    double last, first;       /* the last value at which nothing has changed yet, the first at which it has */
    const char *from, *to;    /* what it is before and after: "weights", "compute" */
};

/* A scenario, or a point of a sweep, between latency and throughput. */
struct report_tradeoff {
    const char *name;     /* "chat", "chat, batch = 32" */
    const char *scenario; /* the scenario itself, or the one that is swept */
    double throughput;    /* output tokens/s per GPU */
    double latency;       /* s per output token */
    double low, high;     /* band of the latency */
    bool pareto;          /* none is better at one and no worse at the other */
};

/* ---- measurements, for machines ----------------------------------------------------------------- */

/* A part of the time between the limit and what was measured, in seconds; the parts add up to the latter. */
struct report_gap_part {
    const char *term; /* "bandwidth" */
    double seconds;
};

struct report_measurement {
    const char *scenario; /* or the variant of it that was measured: "chat, batch 8", "runs.csv:12" */
    const char *quantity; /* "tpot" */
    const char *source;   /* or NULL */
    const char *unit;
    double measured;
    bool has_expected, has_ceiling, possible, inside; /* inside: of the band */
    double expected, low, high, ceiling;
    VEC(struct report_gap_part) parts; /* of times, speeds and throughputs that have a limit */
};

/* ---- what went in, for machines and for `perfc diff` ----------------------------------------- */

/* An attribute in effect. Its value is named as the declaration calls it: "batch", "peak.fp16", and
 * "dense.count" for a block of a model; a reference is the text of its name. */
struct report_attribute {
    struct report_quantity value;
    const char *origin; /* "plan", "inherited", "catalogue", "default", "command line" */
    const char *file;   /* where it was written, or NULL */
    unsigned line;
};

/* A declaration that a scenario rests on, each once. */
struct report_input {
    const char *kind, *name; /* "gpu", "h100-sxm" */
    VEC(struct report_attribute) attributes;
    VEC(size_t) uses; /* of a scenario: indices of the other inputs it rests on */
};

struct diff;

struct report {
    enum language language;   /* of every text in it that is no name, number or unit */
    const char *plan;         /* path as named */
    const char *title;        /* or NULL */
    struct rich_text verdict; /* one sentence */
    enum tone verdict_tone;
    VEC(struct report_assertion) assertions;
    VEC(struct report_section) sections;
    VEC(struct report_quantity) quantities;
    VEC(const char *) scenarios, models, gpus; /* declarations in use, in order */
    VEC(struct report_input) inputs;
    VEC(struct report_sweep) sweeps;
    VEC(struct report_tradeoff) tradeoff;
    VEC(struct report_sensitivity) sensitivities; /* of the scenarios of that section */
    VEC(struct report_threshold) thresholds;
    VEC(struct report_measurement) measurements;
    VEC(const char *) guards; /* conditions as written: thresholds for `perfc diff` */
    const struct diff *diff;  /* of a report that compares two others (result/diff.h), or NULL */
    const struct diags *diags;
    const struct sources *sources;
};

#endif
