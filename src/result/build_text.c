/* build_text.c: figures, units and names as the report words them. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "result/build_internal.h"
#include "result/name.h"
#include "source/phrase.h"

const char *words(const struct builder *builder, enum message message)
{
    return message_pattern(builder->language, message);
}

void say(const struct builder *builder, struct rich_text *out, enum tone tone, enum message message)
{
    message_rich(builder->arena, out, tone, builder->language, message, NULL, 0);
}

const char *phrase(const struct builder *builder, const char *english)
{
    return phrase_in(builder->phrases, builder->language, english);
}

const char *label_of(const struct builder *builder, const struct quantity_info *info)
{
    return quantity_label(info, builder->language);
}

const char *label_within(struct builder *builder, const struct quantity_info *info)
{
    return lower_first(builder, label_of(builder, info));
}

static bool is_data(struct dim dim)
{
    return dim_equal(dim, (struct dim){{[DIM_DATA] = 1}});
}

/* What occupies memory is in GiB, as drivers report it; what is moved is in GB, as bandwidth is. */
static bool is_memory(const struct quantity_info *info)
{
    return info != NULL && strncmp(info->name, "memory.", 7) == 0;
}

void extent_add(struct extent *extent, double value)
{
    double magnitude = fabs(value);
    if (magnitude == 0)
        return;
    if (extent->high == 0 || magnitude < extent->low)
        extent->low = magnitude;
    extent->high = fmax(extent->high, magnitude);
}

double extent_middle(const struct extent *extent)
{
    return sqrt(extent->low) * sqrt(extent->high);
}

struct print_unit column_unit(const struct quantity_info *info, struct dim dim, double magnitude)
{
    bool binary = is_memory(info) && is_data(dim);
    return unit_for_print(dim, magnitude, binary ? UNIT_STYLE_BINARY : UNIT_STYLE_DECIMAL);
}

static const struct dim data_dim = {{[DIM_DATA] = 1}};
static const struct dim time_dim = {{[DIM_TIME] = 1}};

struct print_unit memory_unit(double largest)
{
    return unit_for_print(data_dim, largest, UNIT_STYLE_BINARY);
}

const char *memory_text(struct builder *builder, double bytes)
{
    return unit_format(builder->arena, bytes, memory_unit(bytes), 3);
}

const char *data_text(struct builder *builder, double bytes)
{
    return quantity_text(builder->arena, bytes, data_dim);
}

const char *time_text(struct builder *builder, double seconds)
{
    return quantity_text(builder->arena, seconds, time_dim);
}

const char *count_text(struct builder *builder, double count)
{
    return quantity_text(builder->arena, count, dim_none());
}

const char *figure_text(struct builder *builder, const struct quantity_info *info, double value,
                        struct dim dim)
{
    if (is_memory(info) && is_data(dim))
        return unit_format(builder->arena, value, column_unit(info, dim, value), 3);
    return quantity_text(builder->arena, value, dim);
}

enum tone change_tone(enum change change, enum tone neutral)
{
    return change == CHANGE_BETTER ? TONE_GOOD : change == CHANGE_WORSE ? TONE_BAD : neutral;
}

const char *change_mark(enum change change)
{
    return change == CHANGE_BETTER ? " " UP : change == CHANGE_WORSE ? " " DOWN : "";
}

const char *percent_text(struct builder *builder, double fraction)
{
    char text[NUMBER_TEXT_MAX];
    double percent = 100 * fabs(fraction);
    if (percent >= 99.5)
        number_significant(text, percent, 3);
    else if (percent >= 0.95)
        number_significant(text, percent, 2);
    else if (percent >= 0.05)
        number_significant(text, percent, 1);
    else
        strcpy(text, percent == 0 ? "0" : "0.1");
    const char *shown = arena_printf(builder->arena, "%s\xE2\x80\x89%%", text);
    return percent > 0 && percent < 0.05 ? WORDS(builder, M_LESS_THAN, shown) : shown;
}

const char *lower_first(struct builder *builder, const char *label)
{
    if (!isupper((unsigned char)label[0]) || isupper((unsigned char)label[1]))
        return label;
    char *copy = arena_strdup(builder->arena, label);
    copy[0] = (char)tolower((unsigned char)copy[0]);
    return copy;
}

const char *with_unit(struct builder *builder, const char *label, struct print_unit unit)
{
    return unit.text[0] == '\0' ? label : WORDS(builder, M_WITH_UNIT, label, unit.text);
}

const char *quantity_name(struct builder *builder, const struct decl *scenario, const char *path)
{
    return quantity_full_name(builder->arena, scenario->name, path);
}

/* "tp 4, pp 2": the names of the attributes, whatever the language. */
static const char *parallelism_text(struct builder *builder, const struct pm_case *input)
{
    const struct {
        const char *name;
        double value;
    } parts[] = {{"tp", input->tp}, {"pp", input->pp}, {"dp", input->dp}, {"ep", input->ep}};
    struct buffer out = buffer_in(builder->arena);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].value > 1)
            buffer_printf(&out, "%s%s %.0f", out.length > 0 ? ", " : "", parts[i].name, parts[i].value);
    return buffer_string(&out);
}

/* "2 × 4 × h100-sxm (tp 4)". */
static const char *gpus_text(struct builder *builder, const struct evaluation *evaluation)
{
    const struct pm_case *input = &evaluation->binding.input;
    struct buffer out = buffer_in(builder->arena);
    double gpus = evaluation->result.gpus;
    if (input->replicas > 1)
        buffer_printf(&out, "%s \xC3\x97 ", count_text(builder, input->replicas));
    if (gpus > 1 || input->replicas > 1)
        buffer_printf(&out, "%s \xC3\x97 ", count_text(builder, gpus));
    buffer_text(&out, evaluation->binding.gpu->decl->name);
    const char *parallelism = parallelism_text(builder, input);
    if (*parallelism)
        buffer_text(&out, WORDS(builder, M_BRACKETED, parallelism));
    return buffer_string(&out);
}

static const char *load_text(struct builder *builder, const struct pm_case *input)
{
    if (input->static_step)
        return WORDS(builder, M_BATCH_AND_CONTEXT, count_text(builder, input->batch),
                     count_text(builder, input->context));
    return WORDS(builder, input->batch == 1 ? M_ONE_USER_AND_TOKENS : M_USERS_AND_TOKENS,
                 count_text(builder, input->batch), count_text(builder, input->prompt),
                 count_text(builder, input->output));
}

/* What the model is stored in, in a word: where experts are most of it, the format of theirs. */
static const struct decl *main_format(const struct bound_model *model)
{
    const struct pm_params *params = &model->params;
    return params->experts > params->total / 2 ? model->formats[CLASS_EXPERTS] : model->weights;
}

const char *case_text(struct builder *builder, const struct evaluation *evaluation)
{
    const struct binding *binding = &evaluation->binding;
    const char *model = binding->model->decl->name, *gpus = gpus_text(builder, evaluation);
    const char *load = load_text(builder, &binding->input);
    const struct decl *format = main_format(binding->model);
    if (format != NULL)
        model = arena_printf(builder->arena, "%s %s", model, format->name);
    if (binding->engine_named)
        return WORDS(builder, M_CASE_WITH_ENGINE, model, gpus, load, binding->engine->name);
    return WORDS(builder, M_CASE, model, gpus, load);
}
