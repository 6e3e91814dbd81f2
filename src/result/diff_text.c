/* diff_text.c: how a diff words values, changes and their causes. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "result/diff_internal.h"

/* ---- values ------------------------------------------------------------------------------------- */

struct print_unit pair_unit(const struct quantity_info *row, struct dim dim, double old, double new)
{
    struct extent extent = {0, 0};
    extent_add(&extent, old);
    extent_add(&extent, new);
    return column_unit(row, dim, extent_middle(&extent));
}

/* Enough digits to tell the two apart. */
static int pair_digits(double old, double new, struct print_unit unit)
{
    return old == new ? 3 : unit_digits_against(new / unit.scale, old / unit.scale, 3);
}

const char *side_number(struct builder *builder, double value, double other, struct print_unit unit)
{
    return unit_number(builder->arena, value, unit, pair_digits(other, value, unit));
}

const char *word_text(const struct builder *builder, const struct report_quantity *quantity)
{
    switch (quantity->type) {
    case QUANTITY_BOOL: return words(builder, quantity->boolean ? M_YES : M_NO);
    case QUANTITY_TEXT: return phrase(builder, quantity->text);
    case QUANTITY_NUMBER:
    case QUANTITY_ABSENT: break;
    }
    return EN_DASH;
}

/* "31.0 ms", "yes". */
static const char *side_text(struct builder *builder, const struct diff_figure *figure,
                             const struct report_quantity *side)
{
    return side->type == QUANTITY_NUMBER
               ? figure_text(builder, figure->row, side->value, report_unit_dim(side->unit))
               : word_text(builder, side);
}

const char *change_text(struct builder *builder, const struct diff_figure *figure)
{
    struct arena *arena = builder->arena;
    if (!figure->comparable)
        return arena_printf(arena, "%s " ARROW " %s", side_text(builder, figure, figure->old),
                            side_text(builder, figure, figure->new));
    double old = figure->old->value, new = figure->new->value;
    struct print_unit unit = pair_unit(figure->row, figure->dim, old, new);
    return arena_printf(arena, "%s " ARROW " %s", side_number(builder, old, new, unit),
                        unit_format(arena, new, unit, pair_digits(old, new, unit)));
}

const char *share_text(struct builder *builder, double share)
{
    char text[NUMBER_TEXT_MAX];
    double percent = 100 * fabs(share);
    number_significant(text, percent, percent >= 99.5 ? 3 : percent >= 0.95 ? 2 : 1);
    return arena_printf(builder->arena, "%s%s\xE2\x80\x89%%", share < 0 ? MINUS : "",
                        percent == 0 ? "0" : text);
}

const char *relative_text(struct builder *builder, double relative)
{
    if (relative >= 9)
        return arena_printf(builder->arena, "\xC3\x97%s",
                            unit_number(builder->arena, 1 + relative, (struct print_unit){"", 1}, 3));
    return arena_printf(builder->arena, "%s%s", relative < 0 ? "" : "+", share_text(builder, relative));
}

const char *delta_number(struct builder *builder, double delta, struct print_unit unit)
{
    return arena_printf(builder->arena, "%s%s", delta < 0 ? MINUS : "+",
                        unit_number(builder->arena, fabs(delta), unit, 3));
}

static const char *delta_text(struct builder *builder, const struct quantity_info *row, double delta)
{
    return arena_printf(builder->arena, "%s%s", delta < 0 ? MINUS : "+",
                        figure_text(builder, row, fabs(delta), report_unit_dim(row->unit)));
}

const char *exact_text(struct arena *arena, double value, struct print_unit unit)
{
    char text[NUMBER_TEXT_MAX];
    number_significant(text, value / unit.scale, 6);
    if (strchr(text, '.') && !strchr(text, 'e')) {
        size_t length = strlen(text);
        while (text[length - 1] == '0')
            length--;
        text[length - (text[length - 1] == '.')] = '\0';
    }
    return arena_printf(arena, "%s%s%s", text, unit.text[0] ? "\xE2\x80\x89" : "", unit.text);
}

/* ---- sentences ------------------------------------------------------------------------------------ */

void say_figure(struct builder *builder, struct rich_text *out, const struct diff_scenario *scenario,
                const struct diff_figure *figure)
{
    const char *name = scenario->name;
    if (figure->row->id == Q_FITS)
        SAY(builder, out, TONE_PLAIN, figure->new->boolean ? M_FITS_AGAIN : M_FITS_NO_MORE, name);
    else if (figure->has_relative)
        SAY(builder, out, TONE_PLAIN, M_FIGURE_CHANGED_BY, name, label_within(builder, figure->row),
            change_text(builder, figure), relative_text(builder, figure->relative));
    else
        SAY(builder, out, TONE_PLAIN, M_FIGURE_CHANGED, name, label_within(builder, figure->row),
            change_text(builder, figure));
}

static void sort_terms(const struct diff_cause *cause, size_t *order)
{
    for (size_t i = 0; i < cause->terms.count; i++) {
        size_t at = i;
        double own = fabs(cause->terms.items[i].new - cause->terms.items[i].old);
        for (; at > 0; at--) { /* stable: equal terms keep their order */
            const struct diff_term *before = &cause->terms.items[order[at - 1]];
            if (fabs(before->new - before->old) >= own)
                break;
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
}

enum { TERMS_SAID = 3 };

void say_cause(struct builder *builder, struct rich_text *out, const struct diff_cause *cause)
{
    size_t *order = ARENA_ARRAY(builder->arena, size_t, cause->terms.count + 1);
    double total = cause->new - cause->old, rest = total, largest = fabs(total);
    sort_terms(cause, order);
    SAY(builder, out, TONE_PLAIN, M_CAUSE_OF, label_within(builder, cause->row),
        delta_text(builder, cause->row, total));
    size_t said = 0;
    for (size_t i = 0; i < cause->terms.count && said < TERMS_SAID; i++) {
        const struct diff_term *term = &cause->terms.items[order[i]];
        double delta = term->new - term->old;
        if (i == 0)
            largest = fmax(largest, fabs(delta));
        if (fabs(delta) < 0.005 * largest)
            break;
        if (said++ > 0)
            say(builder, out, TONE_PLAIN, M_COMMA);
        SAY(builder, out, TONE_PLAIN, M_TERM_CHANGED, phrase(builder, term->label),
            delta_text(builder, cause->row, delta));
        rest -= delta;
    }
    if (fabs(rest) >= 0.005 * largest)
        SAY(builder, out, TONE_PLAIN, M_THE_REST, delta_text(builder, cause->row, rest));
}
