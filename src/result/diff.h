/* diff.h: two reports compared: what went in, what came out, why, and whether thresholds hold.
 *
 * A side is a report with its quantities, inputs and assertions (no sections): of an evaluated plan
 * (diff_side) or of a saved JSON report (saved_report_read). */
#ifndef PERFC_RESULT_DIFF_H
#define PERFC_RESULT_DIFF_H

#include "result/compare.h"
#include "result/evaluate.h"
#include "result/report.h"
#include "sema/value.h"

/* ---- the two sides -------------------------------------------------------------------------- */

/* What an evaluated plan is compared by. */
struct report *diff_side(struct evaluator *evaluator);

/* Fills report->inputs with every declaration that the plan's scenarios rest on, and report->guards. */
void report_inputs(struct evaluator *evaluator, struct report *report);

/* Reads what `perfc -f json` wrote. False: it is no such report, and *why says why. */
bool saved_report_read(struct arena *arena, const char *path, const char *text, size_t length,
                       struct report *out, const char **why);

/* ---- thresholds ----------------------------------------------------------------------------- */

enum threshold_kind {
    THRESHOLD_RELATIVE, /* tpot>+5% */
    THRESHOLD_CHANGE,   /* tpot>+2ms */
    THRESHOLD_ABSOLUTE, /* tpot>40ms */
};

/* One `--fail-if`. */
struct threshold {
    const char *text;
    bool sweeps;      /* about the points of sweeps, not about declarations */
    const char *name; /* of a scenario, model or card; NULL: each that has the quantity */
    const char *path; /* "tpot", "tpot.high" */
    const struct quantity_info *rows[QUANTITY_SCOPE_COUNT]; /* the quantity of each kind, or NULL */
    enum { MORE, MORE_OR_EQUAL, LESS, LESS_OR_EQUAL } relation;
    enum threshold_kind kind;
    double value;
    struct dim dim;
};

/* Reads `[sweep] [name.]quantity (> | >= | < | <=) value`. False, and *why says why, when it is none. */
bool threshold_parse(struct arena *arena, const char *text, struct threshold *out, const char **why);

/* ---- the comparison ------------------------------------------------------------------------- */

enum diff_state { DIFF_KEPT, DIFF_NEW, DIFF_REMOVED };

/* A figure that changed; `old` or `new` may be of type QUANTITY_ABSENT. */
struct diff_figure {
    const struct quantity_info *row;
    const char *label; /* where it is not the row's: "tpot.high" */
    struct dim dim;
    const struct report_quantity *old, *new;
    bool comparable;   /* both are numbers of one dimension */
    bool has_relative; /* and the old one is not 0 */
    double relative;   /* 0.05: 5 % more */
    enum change change;
    double weight; /* how far it went to the worse (positive) or better, as a logarithm; 0: neither */
};

/* A total and the terms it is made of, on both sides; the terms add up to the total. */
struct diff_term {
    const char *label;
    double old, new;
};
struct diff_cause {
    const struct quantity_info *row; /* the total */
    double old, new;
    VEC(struct diff_term) terms; /* those that are not 0 on both sides */
};

struct diff_scenario {
    const char *name;
    enum diff_state state;
    VEC(struct diff_figure) figures; /* those that changed; of a new or removed scenario those there are */
    VEC(struct diff_cause) causes;
    const struct diff_figure *worst, *best; /* among the figures that scenarios are judged by, or NULL */
};

/* An attribute in effect that differs, for all scenarios that it differs for in the same way. */
struct diff_input {
    const char *kind;      /* "scenario", "gpu", ... */
    const char *attribute; /* "batch" */
    const char *of;        /* the declaration's name when it is the same on both sides, else NULL */
    const struct report_attribute *old, *new; /* NULL: not set */
    VEC(const char *) scenarios;
};

/* An assertion that flipped, came or went; `old` or `new` may be NULL. */
struct diff_assertion {
    const struct report_assertion *old, *new;
};

/* A model or a card that came or went, or that has quantities which changed. */
struct diff_declaration {
    const char *kind, *name; /* "model" or "gpu" */
    enum diff_state state;
    VEC(struct diff_figure) figures;
};

/* A point of a sweep that came or went, or shows something that changed. */
struct diff_point {
    enum diff_state state;
    const struct report_sweep_point *point; /* of the new side, unless it went */
    VEC(struct diff_figure) figures;
};

struct diff_sweep {
    const struct report_sweep *sweep; /* of the new side, unless it went */
    enum diff_state state;
    VEC(struct diff_point) points;
    size_t kept, changed, worse, better; /* points on both sides, and of those; some are worse and better */
    size_t added, removed;
};

struct diff {
    const struct report *old, *new;
    struct report_index *old_index, *new_index;
    bool broken;                          /* a side has errors, and nothing else is filled in */
    bool inputs_known;                    /* both sides list their inputs */
    VEC(struct diff_scenario) scenarios;  /* that changed, came or went: worst first, ties by name */
    size_t kept;                          /* scenarios on both sides */
    size_t changed, worse, better, mixed; /* of those; mixed ones count as worse and as better */
    size_t added, removed;
    VEC(struct diff_declaration) declarations;
    VEC(struct diff_sweep) sweeps;
    VEC(struct diff_input) inputs;
    VEC(struct diff_assertion) assertions;
    size_t failing, mended; /* assertions that no longer hold, that hold again */
    VEC(struct report_assertion) thresholds;
    size_t exceeded;
};

struct diff *diff_compare(struct arena *arena, const struct report *old, const struct report *new);

/* Decides a threshold; false, and *why, when neither side has what it names. */
bool diff_threshold(struct arena *arena, struct diff *diff, const struct threshold *threshold,
                    const char **why);

/* Decides the guards of the new plan against the old report. Without its evaluator, as of a saved report,
 * they are listed as not decided. */
void diff_guards(struct arena *arena, struct diff *diff, struct evaluator *evaluator);

/* The report that the backends draw. */
struct report *diff_report(struct arena *arena, struct diff *diff);

/* The same when a side has errors: there is nothing to compare, and the report says why. */
struct report *diff_broken_report(struct arena *arena, const struct report *old, const struct report *new);

/* ---- reading a report ----------------------------------------------------------------------- */

/* The quantities and inputs of a report by their names. */
struct report_index;
struct report_index *report_index_new(struct arena *arena, const struct report *report);
/* The quantity `path` of a declaration, NULL when the report has none. */
const struct report_quantity *report_index_find(const struct report_index *index, const char *declaration,
                                                const char *path);

/* The input of this kind and name, or NULL. */
const struct report_input *report_index_input(const struct report_index *index, const char *kind,
                                              const char *name);
const struct report_attribute *report_find_attribute(const struct report_input *input, const char *name);

/* The dimension that a unit text of a report means. */
struct dim report_unit_dim(const char *unit);

#endif
