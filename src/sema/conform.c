/* conform.c: whether a value is what an attribute takes: type, dimension, range. */
#include <math.h>
#include <string.h>

#include "sema/internal.h"
#include "sema/unit.h"

struct dim attribute_dim(const struct attribute_info *info, bool *money)
{
    struct unit unit = {0};
    *money = strcmp(info->unit, "money/s") == 0;
    if (!*money && strcmp(info->unit, "1") != 0)
        unit_parse(info->unit, &unit);
    return unit.dim;
}

static struct diag *report_type(struct plan *plan, const struct attribute_info *info, struct value value,
                                struct span span, const char *expected)
{
    return diag_add(plan->diags, DIAG_E0208, span, "`%s` takes %s, not %s", info->name, expected,
                    value_describe(plan, &value));
}

static struct value wrong_type(struct plan *plan, const struct attribute_info *info, struct value value,
                               struct span span, const char *expected)
{
    report_type(plan, info, value, span, expected);
    return value_error();
}

/* Tokens and requests are counts: a bare number does where one of them is expected. */
static bool is_counting(struct dim dim)
{
    struct dim rest = dim;
    rest.power[DIM_TOKEN] = rest.power[DIM_REQUEST] = 0;
    return dim_is_none(rest);
}

static bool is_price(struct dim dim)
{
    struct dim rest = dim;
    int money = rest.power[DIM_USD] + rest.power[DIM_EUR];
    bool mixed = rest.power[DIM_USD] && rest.power[DIM_EUR];
    rest.power[DIM_USD] = rest.power[DIM_EUR] = 0;
    rest.power[DIM_TIME]++;
    return money == 1 && !mixed && dim_is_none(rest);
}

static void note_readings(struct plan *plan, struct diag *diag, const struct expr *expr, struct dim expected)
{
    if (!expr || expr->kind != EXPR_NUMBER)
        return;
    const char *digits = expr->number.digits, *unit = expr->number.unit, *count = expr->number.count;
    if (unit && strcmp(unit, "B") == 0 && !count && is_counting(expected)) {
        const char *fix = arena_printf(plan->arena, "%sB", digits);
        diag_fix(plan->diags, diag, expr->span, fix,
                 "`%s B` is %s bytes; `%s`, without the space, is %s billion", digits, digits, fix, digits);
    } else if (!unit && count && strcmp(count, "B") == 0 && expected.power[DIM_DATA]) {
        diag_note(plan->diags, diag, "`%sB` is %s billion; `%s B`, with a space, is %s bytes", digits, digits,
                  digits, digits);
    }
}

static struct value wrong_dimension(struct plan *plan, const struct attribute_info *info, struct value value,
                                    const struct expr *expr, struct span span, struct dim expected,
                                    bool money)
{
    const char *wanted = money ? "money per time" : dim_text(plan->arena, expected);
    struct diag *diag =
        dim_is_none(value.dim)
            ? diag_add(plan->diags, DIAG_E0207, span, "`%s` needs a unit: it takes %s", info->name, wanted)
            : diag_add(plan->diags, DIAG_E0207, span, "`%s` takes %s, not %s", info->name, wanted,
                       value_describe(plan, &value));
    diag_label(plan->diags, diag, "this is %s", value_describe(plan, &value));
    note_readings(plan, diag, expr, expected);
    if (money)
        diag_note(plan->diags, diag, "units that would do: `usd/h`, `eur/h`");
    else if (!dim_is_none(expected))
        diag_note(plan->diags, diag, "units that would do: %s", dim_unit_examples(plan->arena, expected));
    return value_error();
}

static struct value conform_range(struct plan *plan, const struct decl *decl,
                                  const struct attribute_info *info, struct value value, struct span span)
{
    const double most_exact = 9007199254740992.0; /* doubles beyond 2^53 skip whole numbers */
    bool count = info->type == TYPE_COUNT;
    double maximum = count ? fmin(info->maximum, most_exact) : info->maximum;
    if (count && value.number != floor(value.number)) {
        diag_add(plan->diags, DIAG_E0220, span, "`%s` takes a whole number, not %s", info->name,
                 quantity_text(plan->arena, value.number, dim_none()));
        return value_error();
    }
    if (value.number >= info->minimum && value.number <= maximum)
        return value;
    bool low = value.number < info->minimum;
    const char *limit = quantity_text(plan->arena, low ? info->minimum : maximum, value.dim);
    diag_add(plan->diags, DIAG_E0219, span, "`%s` of %s `%s` is %s, but %s %s", info->name,
             kind_name(decl->kind), decl->name ? decl->name : "",
             quantity_text(plan->arena, value.number, value.dim), low ? "the least is" : "the most is",
             limit);
    return value_error();
}

static struct value conform_number(struct plan *plan, const struct decl *decl,
                                   const struct attribute_info *info, struct value value,
                                   const struct expr *expr, struct span span)
{
    bool money;
    struct dim expected = attribute_dim(info, &money);
    bool fits = money ? is_price(value.dim) : dim_equal(value.dim, expected);
    if (!fits && is_counting(expected) && dim_is_none(value.dim)) {
        value.dim = expected;
        fits = true;
    }
    if (!fits)
        return wrong_dimension(plan, info, value, expr, span, expected, money);
    return conform_range(plan, decl, info, value, span);
}

static struct value conform_word(struct plan *plan, const struct attribute_info *info, struct value value,
                                 struct span span)
{
    if (word_in(info->detail, value.text))
        return value;
    struct diag *diag =
        diag_add(plan->diags, DIAG_E0208, span, "`%s` cannot be `%s`", info->name, value.text);
    const char *near = word_suggest(plan->arena, info->detail, value.text);
    if (near)
        diag_fix(plan->diags, diag, span, near, "did you mean `%s`?", near);
    diag_note(plan->diags, diag, "it takes %s", words_text(plan->arena, info->detail));
    return value_error();
}

/* `gpu = 4090` says well enough which card is meant. */
static struct value not_a_name(struct plan *plan, const struct attribute_info *info, enum kind kind,
                               struct value value, struct span span)
{
    const char *expected = arena_printf(plan->arena, "the name of a %s", info->detail);
    struct diag *diag = report_type(plan, info, value, span, expected);
    if (value.type == VALUE_NUMBER && dim_is_none(value.dim))
        lookup_offer(plan, NULL, kind, arena_printf(plan->arena, "%.0f", value.number), diag, span);
    return value_error();
}

struct value conform(struct plan *plan, const struct decl *decl, enum attribute attribute, struct value value,
                     const struct expr *expr, struct span span)
{
    const struct attribute_info *info = attribute_info(attribute);
    switch (info->type) {
    case TYPE_NUMBER:
    case TYPE_COUNT:
        if (value.type != VALUE_NUMBER)
            return wrong_type(plan, info, value, span,
                              info->type == TYPE_COUNT ? "a whole number" : "a number with its unit");
        return conform_number(plan, decl, info, value, expr, span);
    case TYPE_BOOL:
        return value.type == VALUE_BOOL ? value : wrong_type(plan, info, value, span, "true or false");
    case TYPE_TEXT:
        return value.type == VALUE_TEXT ? value : wrong_type(plan, info, value, span, "a text in quotes");
    case TYPE_WORD:
        return value.type == VALUE_TEXT ? conform_word(plan, info, value, span)
                                        : wrong_type(plan, info, value, span, "one of its words");
    case TYPE_REF: {
        enum kind kind = kind_from_name(info->detail);
        if (value.type == VALUE_DECL && value.decl->kind == kind)
            return value;
        return not_a_name(plan, info, kind, value, span);
    }
    case TYPE_WORDS: break;
    }
    return value;
}
