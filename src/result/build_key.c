/* build_key.c: the figures people look for, one card per scenario; a table when there are many. */
#include <string.h>

#include "base/arena.h"
#include "result/build_internal.h"

static struct key_figure *add_figure(struct builder *builder, struct key_card *card,
                                     const struct evaluation *evaluation, enum quantity quantity)
{
    const struct quantity_info *info = quantity_info(quantity);
    struct key_figure *figure = VEC_PUSH(builder->arena, card->figures);
    figure->label = label_of(builder, info);
    figure->quantity = quantity_name(builder, evaluation->scenario, info->name);
    figure->value = EN_DASH;
    return figure;
}

/* "27.0 to 37.0 ms": both ends in the unit of the higher. */
static const char *band_text(struct builder *builder, const struct quantity_info *info, struct dim dim,
                             double low, double high)
{
    struct print_unit unit = column_unit(info, dim, high);
    return WORDS(builder, M_FROM_TO, unit_number(builder->arena, low, unit, 3),
                 unit_format(builder->arena, high, unit, 3));
}

/* An expected value, its band when it has a width, and the ceiling. */
static void add_expected(struct builder *builder, struct key_card *card, const struct evaluation *evaluation,
                         enum quantity expected, enum quantity ceiling, enum message limit_text)
{
    struct key_figure *figure = add_figure(builder, card, evaluation, expected);
    const struct quantity_info *info = quantity_info(expected);
    struct report_quantity value = evaluate_row(builder->evaluator, evaluation->scenario, expected);
    struct dim dim = evaluate_dim(builder->evaluator, evaluation->scenario, expected);
    if (value.type != QUANTITY_NUMBER) {
        figure->detail = phrase(builder, value.text);
        figure->tone = TONE_MUTED;
        return;
    }
    figure->value = figure_text(builder, info, value.value, dim);
    if (value.has_band && value.low < value.high)
        figure->detail = band_text(builder, info, dim, value.low, value.high);
    struct report_quantity limit = evaluate_row(builder->evaluator, evaluation->scenario, ceiling);
    if (limit.type == QUANTITY_NUMBER)
        figure->limit = WORDS(builder, limit_text, figure_text(builder, info, limit.value, dim));
    if (evaluation->result.hypothetical)
        figure->tone = TONE_WARN;
}

static void add_memory(struct builder *builder, struct key_card *card, const struct evaluation *evaluation)
{
    const struct pm_memory *memory = &evaluation->result.memory;
    struct key_figure *figure = add_figure(builder, card, evaluation, Q_FITS);
    bool several = evaluation->result.gpus > 1;
    figure->value = words(builder, memory->fits ? M_FITS : M_DOES_NOT_FIT);
    figure->tone = memory->fits ? TONE_GOOD : TONE_BAD;
    if (memory->fits)
        figure->detail =
            WORDS(builder, several ? M_FREE_PER_GPU : M_FREE, memory_text(builder, memory->free));
    else
        figure->detail =
            WORDS(builder, several ? M_SHORT_PER_GPU : M_SHORT, memory_text(builder, memory->shortfall));
    struct print_unit unit = memory_unit(memory->usable > memory->total ? memory->usable : memory->total);
    int digits = unit_digits_against(memory->total / unit.scale, memory->usable / unit.scale, 3);
    figure->limit = WORDS(builder, M_OF_USABLE, unit_number(builder->arena, memory->total, unit, digits),
                          unit_format(builder->arena, memory->usable, unit, digits));
}

/* The band of the speed is that of the time per token, turned over. */
static void add_speed(struct builder *builder, struct key_card *card, const struct evaluation *evaluation)
{
    add_expected(builder, card, evaluation, Q_SPEED, Q_CEILING_SPEED, M_AT_MOST);
    const struct pm_service *expected = &evaluation->result.expected;
    struct key_figure *figure = &card->figures.items[card->figures.count - 1];
    if (expected->speed > 0 && expected->tpot_band.low > 0 &&
        expected->tpot_band.low < expected->tpot_band.high) {
        double per_step = expected->speed * expected->tpot;
        figure->detail = band_text(builder, quantity_info(Q_SPEED),
                                   evaluate_dim(builder->evaluator, evaluation->scenario, Q_SPEED),
                                   per_step / expected->tpot_band.high, per_step / expected->tpot_band.low);
    }
}

static void add_bound(struct builder *builder, struct key_card *card, const struct evaluation *evaluation)
{
    const struct pm_step *step = &evaluation->result.decode;
    struct key_figure *figure = add_figure(builder, card, evaluation, Q_DECODE_BOUND);
    figure->label = words(builder, M_BOUND_BY);
    struct decl *scenario = evaluation->scenario;
    figure->value = evaluate_text(builder->evaluator, scenario, Q_DECODE_BOUND);
    if (step->time > 0 && step->bound < PM_BOUND_COUNT)
        figure->detail = WORDS(builder, M_SHARE_OF_DECODE_STEP,
                               percent_text(builder, step->term[step->bound] / step->time));
    const char *ceiling = evaluate_text(builder->evaluator, scenario, Q_CEILING_DECODE_BOUND);
    if (strcmp(ceiling, figure->value) != 0)
        figure->limit = WORDS(builder, M_LIMIT_IS, ceiling);
}

/* Absent prices are no news for a card; the assumptions say so. */
static void add_cost(struct builder *builder, struct key_card *card, const struct evaluation *evaluation)
{
    struct report_quantity cost = evaluate_row(builder->evaluator, evaluation->scenario, Q_COST_PER_MTOK);
    if (cost.type != QUANTITY_NUMBER)
        return;
    struct key_figure *figure = add_figure(builder, card, evaluation, Q_COST_PER_MTOK);
    figure->label =
        words(builder, M_COST_PER_MTOK); /* output tokens; the row's own label is long for a card */
    figure->value = evaluate_text(builder->evaluator, evaluation->scenario, Q_COST_PER_MTOK);
    struct report_quantity rate = evaluate_row(builder->evaluator, evaluation->scenario, Q_COST_RATE);
    if (rate.type == QUANTITY_NUMBER)
        figure->detail = WORDS(builder,
                               evaluate_number(builder->evaluator, evaluation->scenario, Q_GPUS, 1) == 1
                                   ? M_COST_FOR_ONE_GPU
                                   : M_COST_FOR_GPUS,
                               evaluate_text(builder->evaluator, evaluation->scenario, Q_COST_RATE),
                               evaluate_text(builder->evaluator, evaluation->scenario, Q_GPUS));
}

static void add_card(struct builder *builder, struct report_block *block, const struct evaluation *evaluation)
{
    struct key_card *card = VEC_PUSH(builder->arena, block->cards.cards);
    card->title = evaluation->scenario->name;
    if (!evaluation->valid) {
        card->subtitle = words(builder, M_NO_RESULT);
        card->tone = TONE_BAD;
        rich_add(builder->arena, &card->advice, TONE_BAD, phrase(builder, evaluation->why));
        return;
    }
    bool fits = evaluation->result.memory.fits;
    card->subtitle = case_text(builder, evaluation);
    card->tone = fits ? TONE_GOOD : TONE_BAD;
    add_memory(builder, card, evaluation);
    add_speed(builder, card, evaluation);
    add_expected(builder, card, evaluation, Q_TPOT, Q_CEILING_TPOT, M_LIMIT);
    add_expected(builder, card, evaluation, Q_THROUGHPUT, Q_CEILING_THROUGHPUT, M_AT_MOST);
    add_expected(builder, card, evaluation, Q_TTFT, Q_CEILING_TTFT, M_LIMIT);
    add_bound(builder, card, evaluation);
    add_cost(builder, card, evaluation);
    if (!fits) {
        say_how_to_fit(builder, evaluation, &card->advice);
        say(builder, &card->advice, TONE_PLAIN, M_NEXT_SENTENCE);
    }
    say_bound(builder, evaluation, &card->advice);
}

/* ---- the table of all, when cards would be too many ------------------------------------------ */

static const enum quantity overview[] = {Q_MEMORY_TOTAL, Q_TPOT, Q_THROUGHPUT, Q_TTFT, Q_COST_PER_MTOK};
enum { OVERVIEW_COUNT = sizeof overview / sizeof overview[0] };

static void add_overview(struct builder *builder, struct report_section *section)
{
    struct report_table *table = add_table(builder, section, words(builder, M_ALL_SCENARIOS));
    struct print_unit units[OVERVIEW_COUNT];
    add_column(builder, table, words(builder, M_SCENARIO), ALIGN_LEFT, NULL);
    add_column(builder, table, label_of(builder, quantity_info(Q_FITS)), ALIGN_LEFT, "fits");
    for (size_t i = 0; i < OVERVIEW_COUNT; i++) {
        const struct quantity_info *info = quantity_info(overview[i]);
        units[i] = scenarios_unit(builder, overview[i]);
        add_column(builder, table, with_unit(builder, label_of(builder, info), units[i]), ALIGN_RIGHT,
                   info->name);
    }
    add_column(builder, table, label_of(builder, quantity_info(Q_DECODE_BOUND)), ALIGN_LEFT, "decode.bound");
    for (size_t i = 0; i < builder->count; i++) {
        const struct evaluation *evaluation = builder->scenarios[i];
        struct report_row *row = add_row(builder, table);
        add_cell(builder, row, TONE_NAME, evaluation->scenario->name);
        if (!evaluation->valid) {
            add_cell(builder, row, TONE_BAD, phrase(builder, evaluation->why));
            for (size_t j = 0; j <= OVERVIEW_COUNT; j++)
                add_cell(builder, row, TONE_MUTED, EN_DASH);
            continue;
        }
        bool fits = evaluation->result.memory.fits;
        add_cell(builder, row, fits ? TONE_GOOD : TONE_BAD, words(builder, fits ? M_YES : M_NO));
        for (size_t j = 0; j < OVERVIEW_COUNT; j++) {
            struct report_quantity value =
                evaluate_row(builder->evaluator, evaluation->scenario, overview[j]);
            if (value.type == QUANTITY_NUMBER)
                add_number(builder, row, value.value, units[j]);
            else
                add_cell(builder, row, TONE_MUTED, EN_DASH);
        }
        add_cell(builder, row, TONE_PLAIN,
                 evaluate_text(builder->evaluator, evaluation->scenario, Q_DECODE_BOUND));
    }
}

void build_key(struct builder *builder)
{
    if (builder->count == 0)
        return;
    struct report_section *section = add_section(builder, "key", words(builder, M_KEY_FIGURES), false);
    size_t cards = builder->count < DRAWN_MAX ? builder->count : DRAWN_MAX;
    if (cards < builder->count)
        SAY(builder, add_paragraph(builder, section), TONE_MUTED, M_FIRST_AS_CARDS,
            count_text(builder, (double)cards), count_text(builder, (double)builder->count));
    struct report_block *block = add_block(builder, section, BLOCK_CARDS);
    for (size_t i = 0; i < cards; i++)
        add_card(builder, block, builder->scenarios[i]);
    if (cards < builder->count)
        add_overview(builder, section);
}
