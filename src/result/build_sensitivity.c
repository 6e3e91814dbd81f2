/* build_sensitivity.c: what would change a result: how much it moves with each input, and how far an input
 * may go before something else happens. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "result/build_internal.h"
#include "result/sensitivity.h"

/* Each scenario takes a few thousand evaluations and a page of the report. */
enum { SCENARIOS_MAX = 3, BARS_MAX = 8, SAID_MAX = 3 };

/* ---- inputs as text ------------------------------------------------------------------------------- */

static struct dim input_dim(const struct evaluation *evaluation, enum vary input)
{
    struct dim dim = vary_info(input).dim;
    if (input == VARY_PRICE) {
        dim.power[evaluation->binding.gpu->currency] = 1;
        dim.power[DIM_TIME] = -1;
    }
    return dim;
}

const char *input_text(struct builder *builder, const struct evaluation *evaluation, enum vary input,
                       double value, double now)
{
    enum { DIGITS = 3, DIGITS_MOST = 6 }; /* what takes more digits to tell apart is the same to a reader */
    enum unit_style style = input == VARY_MEMORY ? UNIT_STYLE_BINARY : UNIT_STYLE_DECIMAL;
    struct print_unit unit = unit_for_print(input_dim(evaluation, input), value, style);
    int digits = unit_digits_against(value / unit.scale, now / unit.scale, DIGITS);
    return unit_format(builder->arena, value, unit, digits > DIGITS_MOST ? DIGITS : digits);
}

/* ---- in sentences ----------------------------------------------------------------------------------- */

/* The result that is looked at first: time per token, to the first token where there is none. */
static enum sensitivity_result main_result(const struct evaluation *evaluation)
{
    return sensitivity_value(&evaluation->result, RESULT_TPOT) > 0 ? RESULT_TPOT : RESULT_TTFT;
}

/* Of a result from what it is to what it would be, as a share; rounding is no change. */
static double change(const struct evaluation *evaluation, enum sensitivity_result result,
                     const double *would_be)
{
    double now = sensitivity_value(&evaluation->result, result);
    double share = now > 0 ? would_be[result] / now - 1 : 0;
    return fabs(share) < 1e-12 ? 0 : share;
}

/* "10 % more bandwidth", "a batch of 70 instead of 64". */
static const char *more_text(struct builder *builder, const struct sensitivity *sensitivity)
{
    struct vary_info info = vary_info(sensitivity->input);
    if (info.whole)
        return WORDS(builder, strchr("aeiou", info.label[0]) ? M_AN_INPUT_INSTEAD_OF : M_A_INPUT_INSTEAD_OF,
                     phrase(builder, info.label), count_text(builder, sensitivity->more),
                     count_text(builder, sensitivity->value));
    return WORDS(builder, M_MORE_OF_INPUT, percent_text(builder, sensitivity->more / sensitivity->value - 1),
                 phrase(builder, info.label));
}

static const char *result_label(struct builder *builder, enum sensitivity_result result)
{
    return label_within(builder, quantity_info(sensitivity_quantity(result)));
}

/* What one buys or serves, largest effect first; ties keep their order. */
static size_t by_effect(const struct evaluation *evaluation, const struct sensitivity *all, size_t count,
                        enum sensitivity_result result, const struct sensitivity **out, size_t most)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        double effect = fabs(change(evaluation, result, all[i].with_more));
        const double worth_drawing = 0.0005;
        if (effect < worth_drawing || vary_info(all[i].input).engine)
            continue;
        size_t at = kept < most ? kept++ : most;
        while (at > 0 && effect > fabs(change(evaluation, result, out[at - 1]->with_more))) {
            if (at < most)
                out[at] = out[at - 1];
            at--;
        }
        if (at < most)
            out[at] = &all[i];
    }
    return kept;
}

static void say_effects(struct builder *builder, struct report_section *section,
                        const struct evaluation *evaluation, const struct sensitivity *const *largest,
                        size_t count, enum sensitivity_result result)
{
    struct rich_text *text = add_paragraph(builder, section);
    SAY(builder, text, TONE_PLAIN, M_NAME_COLON, evaluation->scenario->name);
    size_t said = 0;
    for (size_t i = 0; i < count && said < SAID_MAX; i++) {
        if (largest[i]->input == VARY_WEIGHT_BITS || largest[i]->input == VARY_KV_BITS)
            continue; /* nobody has a tenth of a bit more to give */
        double moved = change(evaluation, result, largest[i]->with_more);
        const char *more = more_text(builder, largest[i]), *percent = percent_text(builder, moved);
        if (said++ == 0)
            SAY(builder, text, TONE_PLAIN, moved < 0 ? M_GIVES_LESS : M_GIVES_MORE, more, percent,
                result_label(builder, result));
        else
            SAY(builder, text, TONE_PLAIN, moved < 0 ? M_AND_GIVES_LESS : M_AND_GIVES_MORE, more, percent);
    }
    say(builder, text, TONE_PLAIN, said == 0 ? M_NOTHING_MOVES_IT : M_FULL_STOP);
}

/* ---- as a chart ------------------------------------------------------------------------------------- */

/* "bandwidth", "batch 58 or 70". */
static const char *bar_label(struct builder *builder, const struct sensitivity *sensitivity)
{
    struct vary_info info = vary_info(sensitivity->input);
    if (!info.whole)
        return phrase(builder, info.label);
    if (sensitivity->less == sensitivity->value)
        return WORDS(builder, M_INPUT_AT, phrase(builder, info.label),
                     count_text(builder, sensitivity->more));
    return WORDS(builder, M_INPUT_AT_EITHER, phrase(builder, info.label),
                 count_text(builder, sensitivity->less), count_text(builder, sensitivity->more));
}

static const char *change_text(struct builder *builder, double change)
{
    if (change == 0)
        return words(builder, M_NO_CHANGE);
    return WORDS(builder, change < 0 ? M_PERCENT_LESS : M_PERCENT_MORE, percent_text(builder, change));
}

static void add_tornado_bar(struct builder *builder, struct tornado_chart *chart,
                            const struct evaluation *evaluation, const struct sensitivity *sensitivity,
                            enum sensitivity_result result)
{
    struct tornado_bar *bar = VEC_PUSH(builder->arena, chart->bars);
    bar->label = bar_label(builder, sensitivity);
    bar->more = change(evaluation, result, sensitivity->with_more);
    bar->more_text = change_text(builder, bar->more);
    if (sensitivity->less != sensitivity->value && sensitivity->with_less[result] > 0) {
        bar->less = change(evaluation, result, sensitivity->with_less);
        bar->less_text = change_text(builder, bar->less);
    }
}

static void add_tornado(struct builder *builder, struct report_section *section,
                        const struct evaluation *evaluation, const struct sensitivity *const *largest,
                        size_t count, enum sensitivity_result result, size_t number)
{
    const char *label = result_label(builder, result);
    struct report_chart *chart = add_chart(builder, section, CHART_TORNADO,
                                           arena_printf(builder->arena, "sensitivity-%zu", number + 1),
                                           WORDS(builder, M_WHAT_MOVES, label, evaluation->scenario->name));
    chart->description = WORDS(builder, M_DESCRIBE_TORNADO, label, more_text(builder, largest[0]),
                               change_text(builder, change(evaluation, result, largest[0]->with_more)));
    chart->tornado.unit = WORDS(builder, M_CHANGE_OF, label);
    chart->tornado.unit_scale = 0.01;
    chart->tornado.less_label = words(builder, M_A_TENTH_LESS);
    chart->tornado.more_label = words(builder, M_A_TENTH_MORE);
    for (size_t i = 0; i < count; i++)
        add_tornado_bar(builder, &chart->tornado, evaluation, largest[i], result);
}

/* ---- as a table ------------------------------------------------------------------------------------- */

static const char *slope_text(struct builder *builder, double slope)
{
    double magnitude = fabs(slope);
    if (magnitude < 0.0005)
        return "0";
    return arena_printf(builder->arena, magnitude < 0.005 ? "%s%.3f" : "%s%.2f", slope < 0 ? MINUS : "",
                        magnitude);
}

static void add_elasticity(struct builder *builder, struct report_row *row,
                           const struct elasticity *elasticity)
{
    if (!elasticity->exists) {
        add_cell(builder, row, TONE_MUTED, EN_DASH);
        return;
    }
    const char *text = slope_text(builder, elasticity->value);
    if (elasticity->corner)
        text = WORDS(builder, M_EITHER, slope_text(builder, elasticity->left),
                     slope_text(builder, elasticity->right));
    struct report_cell *cell = add_cell(builder, row, elasticity->value == 0 ? TONE_MUTED : TONE_PLAIN, text);
    cell->value = elasticity->value;
    cell->has_value = true;
}

static void add_elasticities(struct builder *builder, struct report_section *section,
                             const struct evaluation *evaluation, const struct sensitivity *all, size_t count)
{
    bool exists[RESULT_COUNT], corner = false;
    struct report_table *table =
        add_table(builder, section, WORDS(builder, M_PER_CENT_FOR_ONE_MORE, evaluation->scenario->name));
    add_column(builder, table, words(builder, M_INPUT), ALIGN_LEFT, NULL);
    add_column(builder, table, words(builder, M_VALUE), ALIGN_RIGHT, NULL);
    for (int i = 0; i < RESULT_COUNT; i++) {
        const struct quantity_info *info = quantity_info(sensitivity_quantity((enum sensitivity_result)i));
        exists[i] = sensitivity_value(&evaluation->result, (enum sensitivity_result)i) > 0;
        if (exists[i])
            add_column(builder, table, label_of(builder, info), ALIGN_RIGHT, info->name);
    }
    for (size_t j = 0; j < count; j++) {
        struct report_row *row = add_row(builder, table);
        add_cell(builder, row, TONE_PLAIN, phrase(builder, vary_info(all[j].input).label));
        add_cell(builder, row, TONE_PLAIN,
                 input_text(builder, evaluation, all[j].input, all[j].value, all[j].value));
        for (int i = 0; i < RESULT_COUNT; i++)
            if (exists[i]) {
                add_elasticity(builder, row, &all[j].elasticity[i]);
                corner = corner || all[j].elasticity[i].corner;
            }
    }
    if (corner)
        say(builder, add_paragraph(builder, section), TONE_MUTED, M_WHERE_TWO_STAND);
}

/* ---- for machines ----------------------------------------------------------------------------------- */

const char *input_unit(struct builder *builder, const struct evaluation *evaluation, enum vary input)
{
    return dim_si_unit(builder->arena, input_dim(evaluation, input));
}

static void list_sensitivity(struct builder *builder, const struct evaluation *evaluation,
                             const struct sensitivity *from)
{
    struct report_sensitivity *out = VEC_PUSH(builder->arena, builder->report->sensitivities);
    *out = (struct report_sensitivity){
        .scenario = evaluation->scenario->name,
        .input = vary_info(from->input).path,
        .unit = input_unit(builder, evaluation, from->input),
        .value = from->value,
        .less = from->less,
        .more = from->more,
    };
    for (int i = 0; i < RESULT_COUNT; i++) {
        const struct elasticity *elasticity = &from->elasticity[i];
        if (elasticity->exists)
            *VEC_PUSH(builder->arena, out->results) = (struct report_elasticity){
                .quantity = quantity_info(sensitivity_quantity((enum sensitivity_result)i))->name,
                .value = elasticity->value,
                .left = elasticity->left,
                .right = elasticity->right,
                .corner = elasticity->corner,
                .with_less = from->with_less[i],
                .with_more = from->with_more[i],
            };
    }
}

/* ---- the section ------------------------------------------------------------------------------------------
 */

static void add_scenario(struct builder *builder, struct report_section *section,
                         const struct evaluation *evaluation, size_t number)
{
    struct sensitivity *all;
    size_t count = sensitivities(builder->arena, evaluation, &all);
    enum sensitivity_result result = main_result(evaluation);
    const struct sensitivity *largest[BARS_MAX];
    size_t bars = by_effect(evaluation, all, count, result, largest, BARS_MAX);
    if (bars > 0) {
        say_effects(builder, section, evaluation, largest, bars, result);
        add_tornado(builder, section, evaluation, largest, bars, result, number);
    }
    if (count > 0)
        add_elasticities(builder, section, evaluation, all, count);
    for (size_t i = 0; i < count; i++)
        list_sensitivity(builder, evaluation, &all[i]);
    say_changes(builder, section, evaluation);
}

void build_sensitivity(struct builder *builder)
{
    if (builder->valid == 0)
        return;
    struct report_section *section =
        add_section(builder, "sensitivity", words(builder, M_WHAT_WOULD_CHANGE_IT), true);
    if (builder->valid > SCENARIOS_MAX)
        SAY(builder, add_paragraph(builder, section), TONE_MUTED, M_FOR_THE_FIRST,
            count_text(builder, SCENARIOS_MAX), count_text(builder, (double)builder->valid));
    size_t shown = 0;
    for (size_t i = 0; i < builder->count && shown < SCENARIOS_MAX; i++)
        if (builder->scenarios[i]->valid)
            add_scenario(builder, section, builder->scenarios[i], shown++);
}
