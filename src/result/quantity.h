/* quantity.h: the table of quantities, everything a report can tell.
 *
 * quantities.def has one row each. Reports, JSON, derivations, completion and the reference are drawn
 * from it. A quantity belongs to a scenario, a model or a card. */
#ifndef PERFC_RESULT_QUANTITY_H
#define PERFC_RESULT_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/language.h"
#include "result/report.h"
#include "sema/plan.h"
#include "sema/value.h"

struct binding;
struct bound_gpu;
struct bound_model;
struct pm_params;
struct pm_result;

enum quantity_scope { QUANTITY_OF_SCENARIO, QUANTITY_OF_MODEL, QUANTITY_OF_GPU, QUANTITY_SCOPE_COUNT };
enum quantity_better { BETTER_NEITHER, BETTER_LOWER, BETTER_HIGHER };

enum quantity {
#define QUANTITY(scope, id, ...) Q_##id,
#include "result/quantities.def"
#undef QUANTITY
    QUANTITY_COUNT
};

/* A row of the table. */
struct quantity_info {
    enum quantity id;
    enum quantity_scope scope;
    const char *name;        /* "decode.intensity" */
    enum quantity_type type; /* NUMBER, BOOL or TEXT */
    const char *unit;        /* its dimension by one of its units; "money": the currency of the prices */
    enum quantity_better better;
    bool has_band;       /* NAME.low and NAME.high exist too */
    const char *label;   /* for people: "Time per token"; English, as doc is: see quantity_label() */
    const char *formula; /* an expression of the language over other quantities and attributes, or NULL */
    const char *static_formula; /* the same for a static step (`context` + `batch`), where it differs */
    const char *source;         /* of the formula */
    const char *doc;            /* one sentence */
    const char *chinese_label, *chinese_doc;
};

/* The row of a quantity. */
const struct quantity_info *quantity_info(enum quantity quantity);

/* Label and sentence in a language. */
const char *quantity_label(const struct quantity_info *info, enum language language);
const char *quantity_doc(const struct quantity_info *info, enum language language);

/* The row of this name ("decode.intensity"; "tpot.low" is no row), or NULL. */
const struct quantity_info *quantity_find(enum quantity_scope scope, const char *name);

/* Which scope a kind of declaration has; false for kinds without quantities. */
bool quantity_scope_of(enum kind kind, enum quantity_scope *scope);

/* The row nearest to a misspelt path, or NULL: its name, or NAME.low / NAME.high. */
const char *quantity_suggest(enum quantity_scope scope, const char *path);

/* What quantities are computed from; parts that a scope does not need are NULL. */
struct quantity_input {
    const struct binding *binding;   /* scenario */
    const struct pm_result *result;  /* scenario */
    const struct bound_model *model; /* scenario and model */
    const struct pm_params *params;  /* scenario and model */
    const struct bound_gpu *gpu;     /* scenario and card */
};

/* The quantity in SI, with its band. `name` is the row's own, `unit` is left to the caller. A quantity that
 * does not exist for the case has the type QUANTITY_ABSENT and the reason as its text. */
struct report_quantity quantity_get(enum quantity quantity, const struct quantity_input *input);

/* An attribute's value as a quantity without a name; a reference is the text of its name. */
struct report_quantity quantity_of_value(struct arena *arena, const struct value *value);

/* The formula that tells most about this case, or NULL. */
const char *quantity_formula(enum quantity quantity, const struct quantity_input *input);

/* The dimension of a quantity: its row's, with "money" replaced by the currency of the card's price. */
struct dim quantity_dim(enum quantity quantity, const struct quantity_input *input);

#endif
