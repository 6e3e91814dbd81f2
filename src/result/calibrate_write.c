/* calibrate_write.c: a fitted engine as the text of a declaration, with what the measurements told in
 * comments.
 *
 * It must be readable wherever it is imported, so it inherits from the catalogue only: what the plan itself
 * declared on the way there is written out. */
#include "result/calibrate.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/number.h"
#include "result/name.h"
#include "sema/unit.h"

static const char *const figure_names[FIT_FIGURES] = {
    [FIT_TPOT] = "time per token", [FIT_TTFT] = "time to first token", [FIT_RATE] = "throughput"};

/* ---- text from the plan ------------------------------------------------------------------------- */

/* One line of a comment or a string: no control characters, and escapes where `quoted`. */
static void add_clean(struct buffer *out, const char *text, bool quoted)
{
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;
        if (quoted && (byte == '"' || byte == '\\'))
            buffer_byte(out, '\\');
        buffer_byte(out, byte < 0x20 || byte == 0x7f ? '?' : (char)byte);
    }
}

static const char *plan_name(const struct plan *plan)
{
    const char *path = plan_view(plan)->path, *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* ---- comments ------------------------------------------------------------------------------------ */

static void add_errors(struct buffer *out, const struct fit_errors *errors)
{
    buffer_printf(out, "%10.1f / %5.1f", 100 * errors->median, 100 * errors->mean);
}

static void write_errors(struct buffer *out, const struct calibration *calibration, const char *mark)
{
    const struct fit *fit = &calibration->fit;
    buffer_printf(out, "%s%-28s%18s%18s%s\n", mark, "error in %, median / mean", "before", "after",
                  fit->checked ? "  of runs left out" : "");
    for (enum fit_figure i = 0; i < FIT_FIGURES; i++) {
        if (fit->before[i].count == 0)
            continue;
        buffer_printf(out, "%s  %-20s %5zu", mark, figure_names[i], fit->before[i].count);
        add_errors(out, &fit->before[i]);
        add_errors(out, &fit->after[i]);
        if (fit->checked)
            add_errors(out, &fit->held_out[i]);
        buffer_byte(out, '\n');
    }
    if (!fit->checked)
        buffer_printf(out,
                      "%sOne run cannot tell how well another one would be predicted; the band is what other "
                      "deployments show.\n",
                      mark);
    else if (!fit->gains)
        buffer_printf(out, "%sBeware: runs left out are predicted no better than by the standard values.\n",
                      mark);
}

/* What a coefficient owes to the runs and not to what was known before. */
static void write_changes(struct buffer *out, const struct calibration *calibration, const char *mark)
{
    const struct fit *fit = &calibration->fit;
    size_t count = 0;
    for (enum coefficient i = 0; i < COEFFICIENT_COUNT; i++) {
        if (fit->change[i] == 0)
            continue;
        if (count++ == 0)
            buffer_printf(out, "%s%-34s%12s%18s\n", mark, "times changed by", "factor", "told by the runs");
        buffer_printf(out, "%s  %-32s%12.3f%16.0f %%\n", mark, coefficient_info(i).label, exp(fit->change[i]),
                      100 * fit->told[i]);
    }
    if (count == 0)
        buffer_printf(out, "%sThe standard values agree with these runs to one per cent.\n", mark);
}

enum { LINE_BYTES = 100 };

/* Both coefficients of bandwidth go by one name. */
static bool other_is_fitted(const struct fit *fit, enum coefficient it)
{
    return (it == COEFFICIENT_BANDWIDTH && fit->fitted[COEFFICIENT_MEMORY]) ||
           (it == COEFFICIENT_MEMORY && !fit->fitted[COEFFICIENT_MEMORY]);
}

/* Coefficients that stay: those that the runs depend on, or those that they do not. */
static void write_kept(struct buffer *out, const struct calibration *calibration, const char *mark,
                       const char *what, bool effective)
{
    size_t line = 0;
    for (enum coefficient i = 0; i < COEFFICIENT_COUNT; i++) {
        const char *label = coefficient_info(i).label;
        if (calibration->fit.change[i] != 0 || calibration->fit.fitted[i] != effective ||
            other_is_fitted(&calibration->fit, i))
            continue;
        if (line == 0)
            buffer_printf(out, "%s%s:\n", mark, what);
        bool first = line == 0, wraps = line + strlen(label) > LINE_BYTES;
        buffer_printf(out, "%s%s%s%s",
                      first   ? ""
                      : wraps ? ",\n"
                              : ", ",
                      first || wraps ? mark : "", first || wraps ? "  " : "", label);
        line = (wraps ? 0 : line) + strlen(label) + 2;
    }
    buffer_text(out, line > 0 ? "\n" : "");
}

enum { SKIPS_SHOWN = 8 };

static void write_skips(struct buffer *out, const struct calibration *calibration, const char *mark)
{
    for (size_t i = 0; i < calibration->skip_count && i < SKIPS_SHOWN; i++) {
        buffer_printf(out, "%snot used: ", mark);
        add_clean(out, calibration->skips[i].measurement->scenario->name, false);
        buffer_text(out, ", because ");
        add_clean(out, calibration->skips[i].why, false);
        buffer_byte(out, '\n');
    }
    if (calibration->skip_count > SKIPS_SHOWN)
        buffer_printf(out, "%snot used: %zu more\n", mark, calibration->skip_count - SKIPS_SHOWN);
}

void calibration_summary(struct evaluator *evaluator, const struct calibration *calibration, const char *mark,
                         struct buffer *out)
{
    bool many = calibration->runs != 1;
    buffer_printf(out, "%s", mark);
    add_clean(out, calibration->engine->name, false);
    buffer_printf(out, " fitted to %zu measured run%s of ", calibration->runs, many ? "s" : "");
    add_clean(out, plan_name(evaluator_plan(evaluator)), false);
    buffer_byte(out, '\n');
    write_errors(out, calibration, mark);
    write_changes(out, calibration, mark);
    write_kept(out, calibration, mark, "standard values stay, as these runs agree with them", true);
    write_kept(out, calibration, mark, "standard values stay, as these runs do not depend on them", false);
    write_skips(out, calibration, mark);
}

/* ---- the declaration ------------------------------------------------------------------------------- */

static bool is_written(const struct calibration *calibration, enum attribute attribute)
{
    static const struct {
        enum attribute low, high;
    } bands[FIT_FIGURES] = {[FIT_TPOT] = {ATTR_ENGINE_TPOT_LOW, ATTR_ENGINE_TPOT_HIGH},
                            [FIT_TTFT] = {ATTR_ENGINE_TTFT_LOW, ATTR_ENGINE_TTFT_HIGH},
                            [FIT_RATE] = {ATTR_ENGINE_RATE_LOW, ATTR_ENGINE_RATE_HIGH}};
    const struct coefficient_slot *slots;
    size_t count = coefficient_slots(&slots);
    for (size_t i = 0; i < count; i++)
        if (slots[i].attribute == attribute && calibration->written[i])
            return true;
    for (enum fit_figure i = 0; i < FIT_FIGURES; i++)
        if (calibration->bands[i].high > 0 && (attribute == bands[i].low || attribute == bands[i].high))
            return true;
    return attribute == ATTR_ENGINE_FITTED_TO || attribute == ATTR_SOURCE || attribute == ATTR_CONFIDENCE ||
           attribute == ATTR_FULL_NAME;
}

/* What the plan itself set on this engine or on those it inherits from. */
static void write_own(struct evaluator *evaluator, const struct calibration *calibration, struct buffer *out)
{
    struct plan *plan = evaluator_plan(evaluator);
    char text[NUMBER_TEXT_MAX];
    for (enum attribute i = 0; i < ATTR_COUNT; i++) {
        const struct setting *setting = plan_setting(plan, calibration->engine, i);
        if (!setting || !setting->owner || setting->owner->catalogue || is_written(calibration, i))
            continue;
        const struct value *value = &setting->value;
        buffer_printf(out, "  %s = ", attribute_info(i)->name);
        if (value->type == VALUE_NUMBER) {
            const char *unit = dim_si_unit(plan_arena(plan), value->dim);
            buffer_printf(out, "%s%s%s", number_shortest(text, value->number), strcmp(unit, "1") ? " " : "",
                          strcmp(unit, "1") ? unit : "");
        } else if (value->type == VALUE_BOOL)
            buffer_text(out, value->boolean ? "true" : "false");
        else {
            buffer_byte(out, '"');
            add_clean(out, value->text, true);
            buffer_byte(out, '"');
        }
        buffer_byte(out, '\n');
    }
}

static void write_coefficients(struct arena *arena, const struct calibration *calibration, struct buffer *out)
{
    const struct coefficient_slot *slots;
    size_t count = coefficient_slots(&slots);
    for (size_t i = 0; i < count; i++) {
        struct pm_engine fitted = calibration->fitted, standard = calibration->standard;
        if (!calibration->written[i])
            continue;
        const char *name = attribute_info(slots[i].attribute)->name;
        buffer_printf(out, "  %-22s = %-10s # was %s\n", name,
                      coefficient_text(arena, &slots[i], *coefficient_value(&fitted, &slots[i])),
                      coefficient_text(arena, &slots[i], *coefficient_value(&standard, &slots[i])));
    }
}

static void write_bands(const struct calibration *calibration, struct buffer *out)
{
    static const char *const names[FIT_FIGURES] = {
        [FIT_TPOT] = "tpot", [FIT_TTFT] = "ttft", [FIT_RATE] = "rate"};
    struct pm_band widest = {0, 0};
    for (enum fit_figure i = 0; i < FIT_FIGURES; i++) {
        const struct pm_band *band = &calibration->bands[i];
        if (!(band->high > 0))
            continue;
        buffer_printf(out, "  band.%s_low%*s= %.3f\n", names[i], 10, "", band->low);
        buffer_printf(out, "  band.%s_high%*s= %.3f\n", names[i], 9, "", band->high);
        widest = band->high > widest.high ? *band : widest;
    }
    if (widest.high > 0 && calibration->unverified) {
        buffer_printf(out, "  band.unverified_low    = %.3f # measured on such a card, by these runs\n",
                      widest.low);
        buffer_printf(out, "  band.unverified_high   = %.3f\n", widest.high);
    }
}

enum { DEPLOYMENTS_WRITTEN = 32 };

/* Of more, the runs left out tell what holds everywhere. */
static void write_deployments(const struct calibration *calibration, struct buffer *out)
{
    if (calibration->deployment_count > DEPLOYMENTS_WRITTEN)
        return;
    buffer_text(out, "  fitted_to = \"");
    for (size_t i = 0; i < calibration->deployment_count; i++) {
        buffer_text(out, i > 0 ? "; " : "");
        add_clean(out, calibration->deployments[i], true);
    }
    buffer_text(out, "\"\n");
}

void calibration_write(struct evaluator *evaluator, const struct calibration *calibration, struct buffer *out)
{
    struct plan *plan = evaluator_plan(evaluator);
    struct arena *arena = plan_arena(plan);
    const struct decl *base = calibration->engine;
    while (base && !base->catalogue)
        base = base->base;
    calibration_summary(evaluator, calibration, "# ", out);
    buffer_printf(out, "\nengine %s", name_text(arena, calibration->name));
    if (base)
        buffer_printf(out, " : %s", name_text(arena, base->name));
    buffer_text(out, " {\n  name = \"");
    add_clean(out, plan_text(plan, calibration->engine, ATTR_FULL_NAME, calibration->engine->name), true);
    buffer_printf(out, ", calibrated\"\n  source = \"fitted to %zu measured run%s of ", calibration->runs,
                  calibration->runs == 1 ? "" : "s");
    add_clean(out, plan_name(plan), true);
    buffer_text(out, "\"\n  confidence = measured\n");
    write_own(evaluator, calibration, out);
    write_coefficients(arena, calibration, out);
    write_deployments(calibration, out);
    write_bands(calibration, out);
    buffer_text(out, "}\n");
}
