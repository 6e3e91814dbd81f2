/* diff_internal.h: what the files that word a diff share. */
#ifndef PERFC_RESULT_DIFF_INTERNAL_H
#define PERFC_RESULT_DIFF_INTERNAL_H

#include "result/build_internal.h"
#include "result/diff.h"

/* ---- comparing (diff.c, diff_beside.c) ---- */

bool diff_same_quantity(const struct report_quantity *old, const struct report_quantity *new);
struct diff_figure diff_figure_of(const struct quantity_info *row, const struct report_quantity *old,
                                  const struct report_quantity *new);
/* Fill diff->declarations and diff->sweeps. */
void diff_declarations(struct arena *arena, struct diff *diff);
void diff_sweeps(struct arena *arena, struct diff *diff);
/* Visits the points of the new side's sweeps, each with the same point of the old side, or NULL. */
typedef void diff_point_visitor(void *context, const struct report_sweep *sweep,
                                const struct report_sweep_point *old, const struct report_sweep_point *new);
void diff_each_point(struct arena *arena, const struct diff *diff, diff_point_visitor *visit, void *context);
/* What a point shows under this name, or NULL. */
const struct report_quantity *diff_shown_at(const struct report_sweep_point *point, const char *name);

/* ---- words ---- */

/* The one unit that suits both sides. */
struct print_unit pair_unit(const struct quantity_info *row, struct dim dim, double old, double new);
/* A side's number in that unit, with enough digits to tell it from the other. */
const char *side_number(struct builder *builder, double value, double other, struct print_unit unit);
/* What is no number: "yes", a word, or a dash. */
const char *word_text(const struct builder *builder, const struct report_quantity *quantity);
/* "31.0 → 38.4 ms". */
const char *change_text(struct builder *builder, const struct diff_figure *figure);
/* "24 %", "−0.08 %". */
const char *share_text(struct builder *builder, double share);
/* "+24 %", "×12". */
const char *relative_text(struct builder *builder, double relative);
/* "+7.4". */
const char *delta_number(struct builder *builder, double delta, struct print_unit unit);

/* "chat time per token 31.0 → 38.4 ms (+24 %)". */
void say_figure(struct builder *builder, struct rich_text *out, const struct diff_scenario *scenario,
                const struct diff_figure *figure);
/* "time per token +7.4 ms: reading weights +5.0 ms, communication +2.4 ms". */
void say_cause(struct builder *builder, struct rich_text *out, const struct diff_cause *cause);

/* An input as it was given, not rounded to what a figure deserves: "4096 tok", "3.35 TB/s". */
const char *exact_text(struct arena *arena, double value, struct print_unit unit);

/* diff_report.c: the columns of a table of figures that changed, and a row of it. `lead` is the heading of
 * the first column and what stands in it, or NULL when there is no such column. */
void add_change_columns(struct builder *builder, struct report_table *table, const char *lead);
void add_change_row(struct builder *builder, struct report_table *table, const char *lead,
                    const struct diff_figure *figure);

/* diff_verdict.c: the one sentence. */
void diff_verdict(struct builder *builder, const struct diff *diff);

/* diff_sections.c and diff_beside_sections.c: the sections beside those of scenarios. */
void diff_thresholds_section(struct builder *builder, const struct diff *diff);
void diff_assertions_section(struct builder *builder, const struct diff *diff);
void diff_sweeps_section(struct builder *builder, const struct diff *diff);
void diff_declarations_section(struct builder *builder, const struct diff *diff);
void diff_inputs_section(struct builder *builder, const struct diff *diff);

#endif
