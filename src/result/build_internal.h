/* build_internal.h: what the files of the report builder share. */
#ifndef PERFC_RESULT_BUILD_INTERNAL_H
#define PERFC_RESULT_BUILD_INTERNAL_H

#include "result/build.h"
#include "result/compare.h"
#include "result/message.h"
#include "result/vary.h"
#include "sema/unit.h"

#define UP      "\xE2\x96\xB2" /* better */
#define DOWN    "\xE2\x96\xBC" /* worse */
#define EN_DASH "\xE2\x80\x93"
#define MINUS   "\xE2\x88\x92"
#define ARROW   "\xE2\x86\x92"

/* Charts and cards stay readable, and a report linear in its plan, by drawing at most this many. */
enum { DRAWN_MAX = 24, COLUMNS_MAX = 8 };

struct builder {
    struct arena *arena;
    struct evaluator *evaluator;
    struct plan *plan;
    const struct plan_view *view;
    struct report *report;
    enum language language;
    const struct phrases *phrases;       /* composed texts that are data, or NULL */
    const struct evaluation **scenarios; /* of the plan, in order */
    size_t count;
    size_t valid;                     /* how many of them have results */
    struct measured_result *measured; /* one for each measurement */
    struct sweep_result *sweeps;      /* one for each sweep */
};

/* ---- sections (one function each; adds nothing when there is nothing to say) ---------------- */

void build_verdict(struct builder *builder);
void build_key(struct builder *builder);
void build_compare(struct builder *builder);
void build_roofline(struct builder *builder);
void build_time(struct builder *builder);
void build_memory(struct builder *builder);
void build_sweeps(struct builder *builder);
void build_tradeoff(struct builder *builder);
void build_measured(struct builder *builder);
void build_sensitivity(struct builder *builder);
void build_derivations(struct builder *builder);
void build_assumptions(struct builder *builder);
void build_sources(struct builder *builder);
void build_plan(struct builder *builder);
void build_warnings(struct builder *builder);

/* ---- measurements ----------------------------------------------------------------------------- */

/* The time between the limit and what was measured: in tables and bars, in a sentence, for machines. */
void build_gaps(struct builder *builder, struct report_section *section,
                const struct measured_result *const *results, size_t count);
void say_gap(struct builder *builder, const struct measured_result *result, struct rich_text *text);
void list_measurements(struct builder *builder);

/* ---- blocks --------------------------------------------------------------------------------- */

struct report_section *add_section(struct builder *builder, const char *id, const char *title, bool folded);
struct report_block *add_block(struct builder *builder, struct report_section *section, enum block_kind kind);
struct rich_text *add_paragraph(struct builder *builder, struct report_section *section);
struct report_table *add_table(struct builder *builder, struct report_section *section, const char *caption);
struct report_chart *add_chart(struct builder *builder, struct report_section *section, enum chart_kind kind,
                               const char *id, const char *title);

void add_column(struct builder *builder, struct report_table *table, const char *heading, enum align align,
                const char *quantity);
struct report_row *add_row(struct builder *builder, struct report_table *table);
struct report_cell *add_cell(struct builder *builder, struct report_row *row, enum tone tone,
                             const char *text);
struct report_cell *add_number(struct builder *builder, struct report_row *row, double value,
                               struct print_unit unit);

/* "The charts show the first 24 of 10 000 scenarios." when not all are drawn. */
void say_what_is_drawn(struct builder *builder, struct report_section *section);

/* Scenarios with results that are drawn: at most DRAWN_MAX, in order; from a section's point of view. */
size_t drawn(const struct builder *builder, const struct evaluation **out);

/* Why figures of a table do not exist: a short word stands in the cell, the reasons under the table. */
struct reasons {
    VEC(struct rich_text) items;
    VEC(const char *) keys;
};
void add_reason(struct builder *builder, struct reasons *reasons, const char *of, const char *reason);
void add_reasons(struct builder *builder, struct report_section *section, const struct reasons *reasons);

/* ---- a table of scenarios and figures, whichever way it fits -------------------------------- */

struct matrix_row {
    const char *label;    /* "weights" */
    const char *quantity; /* relative name, or NULL */
    double *values;       /* one for each column, SI */
    bool total;
};

/* Scenarios as columns, or as rows when there are many. All values in `unit`. */
void add_matrix(struct builder *builder, struct report_section *section, const char *caption,
                const struct evaluation *const *scenarios, size_t count, const struct matrix_row *rows,
                size_t row_count, struct print_unit unit);

/* ---- what the plan says of its own declarations ---------------------------------------------- */

bool has_descriptions(struct builder *builder);
void add_descriptions(struct builder *builder, struct report_section *section);

/* ---- sweeps ------------------------------------------------------------------------------------- */

struct sweep;
/* Measurements of scenarios that the sweep passes through, as a series of its chart. */
void add_seen(struct builder *builder, const struct sweep *sweep, size_t x_axis,
              const struct quantity_info *shown, struct line_chart *chart);

/* ---- latency against throughput ---------------------------------------------------------------- */

/* The scenarios and the points of sweeps that fit and have both, with those on the Pareto front marked. */
void collect_tradeoff(struct builder *builder);

/* ---- what would change it --------------------------------------------------------------------- */

/* Where decode's bound, the fit and the assertions that read it change. */
void say_changes(struct builder *builder, struct report_section *section,
                 const struct evaluation *evaluation);
/* An input's value in the unit a person would pick, with as many digits as tell it from what it is now. */
const char *input_text(struct builder *builder, const struct evaluation *evaluation, enum vary input,
                       double value, double now);
/* The SI unit of an input. */
const char *input_unit(struct builder *builder, const struct evaluation *evaluation, enum vary input);

/* ---- words ---------------------------------------------------------------------------------- */

/* A text of messages.def in the report's language: the functions where it has no placeholders, else the
 * macros with the texts that stand in them. say() and SAY() add to a rich text. */
const char *words(const struct builder *builder, enum message message);
void say(const struct builder *builder, struct rich_text *out, enum tone tone, enum message message);
#define WORDS(builder, message, ...) MESSAGE_TEXT((builder)->arena, (builder)->language, message, __VA_ARGS__)
#define SAY(builder, out, tone, message, ...)                                                                \
    MESSAGE_RICH((builder)->arena, out, tone, (builder)->language, message, __VA_ARGS__)

/* A text that is data (a reason, a warning, a value in words) as the report's language has it. */
const char *phrase(const struct builder *builder, const char *english);

/* A quantity's label, and the same inside a sentence: "time per token"; "KV cache" stays. */
const char *label_of(const struct builder *builder, const struct quantity_info *info);
const char *label_within(struct builder *builder, const struct quantity_info *info);

/* ---- text ----------------------------------------------------------------------------------- */

/* The unit that suits a magnitude; memory is in GiB. */
struct print_unit column_unit(const struct quantity_info *info, struct dim dim, double magnitude);
/* Smallest and largest magnitude of a column, zeros aside, and the one its unit should suit: their
 * geometric mean, so that neither end of a wide column is all zeros or all thousands. */
struct extent {
    double low, high;
};
void extent_add(struct extent *extent, double value);
double extent_middle(const struct extent *extent);
struct print_unit memory_unit(double largest);
/* The unit for a quantity in a column of all scenarios. */
struct print_unit scenarios_unit(struct builder *builder, enum quantity quantity);
/* "Time per token" as it stands inside a sentence; "KV cache" stays. */
const char *lower_first(struct builder *builder, const char *label);
/* "TPOT (ms)". */
const char *with_unit(struct builder *builder, const char *label, struct print_unit unit);
const char *memory_text(struct builder *builder, double bytes);
const char *data_text(struct builder *builder, double bytes);
const char *time_text(struct builder *builder, double seconds);
const char *count_text(struct builder *builder, double count);
/* "22 %", two significant digits, never "0 %" for what is not zero. */
const char *percent_text(struct builder *builder, double fraction);
/* How a change between two values looks: its tone (`neutral` where it is neither better nor worse), and the
 * arrow that stands after it, with its blank; "" for none. */
enum tone change_tone(enum change change, enum tone neutral);
const char *change_mark(enum change change);
/* A value with its unit in the unit a person would pick. */
const char *figure_text(struct builder *builder, const struct quantity_info *info, double value,
                        struct dim dim);
/* "llama-3.1-70b fp8 on 4 × h100-sxm, 64 users, 2 000 + 400 tokens". */
const char *case_text(struct builder *builder, const struct evaluation *evaluation);
/* "chat.tpot". */
const char *quantity_name(struct builder *builder, const struct decl *scenario, const char *path);

/* ---- sentences ------------------------------------------------------------------------------ */

/* "Decode is bound by reading weights: 14.0 GB of the 16.1 GB moved per step." */
void say_bound(struct builder *builder, const struct evaluation *evaluation, struct rich_text *out);
/* "Short by 3.2 GiB. It fits with batch ≤ 27, or ..." */
void say_how_to_fit(struct builder *builder, const struct evaluation *evaluation, struct rich_text *out);

#endif
