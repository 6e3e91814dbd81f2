/* build_described.c: what the plan says of its own declarations in words: names, makers, remarks. */
#include "base/arena.h"
#include "result/build_internal.h"

/* The columns of the table, left out where no declaration has one. */
static const struct {
    enum attribute attribute;
    enum message heading;
} columns[] = {
    {ATTR_FULL_NAME, M_FULL_NAME}, {ATTR_GPU_VENDOR, M_VENDOR}, {ATTR_GPU_ARCHITECTURE, M_ARCHITECTURE},
    {ATTR_GPU_YEAR, M_YEAR},       {ATTR_NOTE, M_REMARK},
};

enum { COLUMN_COUNT = sizeof columns / sizeof columns[0] };

/* Set or inherited; NULL where it is neither. */
static const struct setting *described(struct builder *builder, struct decl *decl, size_t column)
{
    const struct setting *setting = plan_setting(builder->plan, decl, columns[column].attribute);
    bool said = setting != NULL && setting->origin != ORIGIN_DEFAULT;
    return said && (setting->value.type == VALUE_TEXT || setting->value.type == VALUE_NUMBER) ? setting
                                                                                              : NULL;
}

/* Whether the declaration itself says anything. */
static bool is_described(struct builder *builder, struct decl *decl)
{
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        const struct setting *setting = described(builder, decl, i);
        if (setting != NULL && setting->origin == ORIGIN_PLAN)
            return true;
    }
    return false;
}

static void add_description(struct builder *builder, struct report_row *row, const struct setting *setting)
{
    if (setting == NULL)
        add_cell(builder, row, TONE_MUTED, "\xE2\x80\x93");
    else if (setting->value.type == VALUE_TEXT)
        add_cell(builder, row, TONE_PLAIN, setting->value.text);
    else
        add_cell(builder, row, TONE_PLAIN, arena_printf(builder->arena, "%.0f", setting->value.number));
}

bool has_descriptions(struct builder *builder)
{
    for (size_t i = 0; i < builder->view->declarations.count; i++)
        if (is_described(builder, builder->view->declarations.items[i]))
            return true;
    return false;
}

void add_descriptions(struct builder *builder, struct report_section *section)
{
    bool used[COLUMN_COUNT] = {false};
    VEC(struct decl *) shown = {0};
    for (size_t i = 0; i < builder->view->declarations.count; i++) {
        struct decl *decl = builder->view->declarations.items[i];
        if (!is_described(builder, decl))
            continue;
        *VEC_PUSH(builder->arena, shown) = decl;
        for (size_t j = 0; j < COLUMN_COUNT; j++)
            used[j] = used[j] || described(builder, decl, j) != NULL;
    }
    if (shown.count == 0)
        return;
    struct report_table *table = add_table(builder, section, words(builder, M_DECLARED_BY_THE_PLAN));
    add_column(builder, table, words(builder, M_DECLARATION), ALIGN_LEFT, NULL);
    for (size_t j = 0; j < COLUMN_COUNT; j++)
        if (used[j])
            add_column(builder, table, words(builder, columns[j].heading), ALIGN_LEFT, NULL);
    for (size_t i = 0; i < shown.count; i++) {
        struct report_row *row = add_row(builder, table);
        add_cell(
            builder, row, TONE_NAME,
            arena_printf(builder->arena, "%s %s", kind_name(shown.items[i]->kind), shown.items[i]->name));
        for (size_t j = 0; j < COLUMN_COUNT; j++)
            if (used[j])
                add_description(builder, row, described(builder, shown.items[i], j));
    }
}
