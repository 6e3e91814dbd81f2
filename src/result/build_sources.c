/* build_sources.c: where every catalogue figure comes from, and how sure it is. */
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/map.h"
#include "result/build_internal.h"

/* Figures of one declaration that share a source and a confidence. */
struct figures {
    const struct decl *decl;
    const char *source, *confidence;
    struct buffer text;
};

struct catalogue {
    VEC(struct figures) list;
    struct map *seen_decls; /* keyed by address: declarations whose figures are listed */
};

/* The value as the catalogue writes it. */
static const char *setting_text(struct builder *builder, const struct setting *setting)
{
    const struct value *value = &setting->value;
    struct unit unit;
    switch (value->type) {
    case VALUE_BOOL: return value->boolean ? "true" : "false";
    case VALUE_TEXT: return value->text;
    case VALUE_DECL: return value->decl->name;
    case VALUE_NUMBER: break;
    case VALUE_ERROR:
    case VALUE_ABSENT: return "";
    }
    if (setting->unit == NULL || !unit_parse(setting->unit, &unit)) {
        char text[NUMBER_TEXT_MAX];
        return dim_is_none(value->dim) ? arena_strdup(builder->arena, number_shortest(text, value->number))
                                       : quantity_text(builder->arena, value->number, value->dim);
    }
    /* Ten digits hide the noise of converting back and keep every figure a data sheet prints. */
    double one;
    struct dim dim;
    if (!unit_literal("1", NULL, setting->unit, &one, &dim))
        return "";
    return arena_printf(builder->arena, "%.10g\xE2\x80\x89%s", value->number / one, setting->unit);
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static struct figures *find_figures(struct builder *builder, struct catalogue *catalogue, size_t first,
                                    const struct input *input)
{
    const struct setting *setting = input->setting;
    for (size_t i = first; i < catalogue->list.count; i++) {
        struct figures *each = &catalogue->list.items[i];
        if (each->decl == input->decl && same_text(each->source, setting->source) &&
            same_text(each->confidence, setting->confidence))
            return each;
    }
    struct figures *figures = VEC_PUSH(builder->arena, catalogue->list);
    *figures = (struct figures){input->decl, setting->source, setting->confidence, buffer_in(builder->arena)};
    return figures;
}

/* What describes a declaration rather than being a figure of it: texts and provenance. */
static bool is_description(enum attribute attribute)
{
    return attribute_info(attribute)->type == TYPE_TEXT || attribute == ATTR_CONFIDENCE ||
           attribute == ATTR_GPU_YEAR;
}

static const char *input_name(struct builder *builder, const struct input *input)
{
    const char *name = attribute_info(input->attribute)->name;
    return input->decl->kind == KIND_BLOCK ? arena_printf(builder->arena, "%s.%s", input->decl->name, name)
                                           : name;
}

/* Figures from the catalogue, and figures of the plan that name a source. */
static bool is_listed(const struct input *input)
{
    const struct setting *setting = input->setting;
    if (setting == NULL || input->decl->kind == KIND_SCENARIO || is_description(input->attribute))
        return false;
    return setting->origin == ORIGIN_CATALOGUE || setting->source != NULL;
}

static void list_inputs(struct builder *builder, struct catalogue *catalogue, const struct input *inputs,
                        size_t count)
{
    const struct decl *current = NULL;
    bool skip = false;
    size_t first = 0;
    for (size_t i = 0; i < count; i++) {
        const struct input *input = &inputs[i];
        if (input->decl != current) {
            current = input->decl;
            first = catalogue->list.count;
            skip = map_put(catalogue->seen_decls, (const char *)current, catalogue) != NULL;
        }
        if (skip || !is_listed(input))
            continue;
        struct figures *figures = find_figures(builder, catalogue, first, input);
        buffer_printf(&figures->text, "%s%s %s", figures->text.length > 0 ? ", " : "",
                      input_name(builder, input), setting_text(builder, input->setting));
    }
}

/* Whether everything the scenario rests on was listed before, so that 10 000 scenarios on one card ask
 * for its inputs once. */
static bool all_seen(const struct catalogue *catalogue, const struct evaluation *evaluation)
{
    const struct binding *binding = &evaluation->binding;
    const struct decl *rests_on[] = {binding->gpu->decl, binding->gpu->system,    binding->model->decl,
                                     binding->engine,    binding->model->weights, binding->model->kv_cache};
    for (size_t i = 0; i < sizeof rests_on / sizeof rests_on[0]; i++)
        if (rests_on[i] != NULL && map_get(catalogue->seen_decls, (const char *)rests_on[i]) == NULL)
            return false;
    for (size_t i = 0; i < CLASS_COUNT; i++) {
        const struct decl *format = binding->model->formats[i];
        if (format != NULL && map_get(catalogue->seen_decls, (const char *)format) == NULL)
            return false;
    }
    return true;
}

static const char *decl_text(struct builder *builder, const struct decl *decl)
{
    if (decl->kind == KIND_BLOCK && decl->parent != NULL)
        return arena_printf(builder->arena, "model %s", decl->parent->name);
    return arena_printf(builder->arena, "%s %s", kind_name(decl->kind), decl->name);
}

static void add_figures(struct builder *builder, struct report_section *section,
                        const struct catalogue *catalogue)
{
    struct report_table *table = add_table(builder, section, words(builder, M_EVERY_CATALOGUE_FIGURE));
    add_column(builder, table, words(builder, M_DECLARATION), ALIGN_LEFT, NULL);
    add_column(builder, table, words(builder, M_FIGURES), ALIGN_LEFT, NULL);
    add_column(builder, table, words(builder, M_SOURCE), ALIGN_LEFT, NULL);
    add_column(builder, table, words(builder, M_CONFIDENCE), ALIGN_LEFT, NULL);
    for (size_t i = 0; i < catalogue->list.count; i++) {
        const struct figures *figures = &catalogue->list.items[i];
        struct report_row *row = add_row(builder, table);
        add_cell(builder, row, TONE_NAME, decl_text(builder, figures->decl));
        add_cell(builder, row, TONE_PLAIN, buffer_string(&figures->text));
        add_cell(builder, row, figures->source == NULL ? TONE_MUTED : TONE_PLAIN,
                 figures->source == NULL ? words(builder, M_NOT_STATED) : figures->source);
        add_cell(builder, row, TONE_PLAIN,
                 figures->confidence == NULL ? words(builder, M_NOT_STATED)
                                             : phrase(builder, figures->confidence));
    }
}

void build_sources(struct builder *builder)
{
    struct catalogue catalogue = {.seen_decls = map_new(builder->arena)};
    for (size_t i = 0; i < builder->count; i++) {
        const struct evaluation *evaluation = builder->scenarios[i];
        if (!evaluation->valid || all_seen(&catalogue, evaluation))
            continue;
        struct input *inputs;
        size_t count = evaluation_inputs(builder->evaluator, evaluation, &inputs);
        list_inputs(builder, &catalogue, inputs, count);
    }
    if (catalogue.list.count == 0 && !has_descriptions(builder))
        return;
    struct report_section *section = add_section(builder, "sources", words(builder, M_SOURCES), true);
    if (catalogue.list.count > 0)
        add_figures(builder, section, &catalogue);
    add_descriptions(builder, section);
}
