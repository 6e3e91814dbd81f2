/* command_list.c: `perfc list WHAT`, the standard library and the two tables. */
#include <string.h>

#include "base/buffer.h"
#include "base/intern.h"
#include "cli/command_line.h"
#include "result/evaluate.h"
#include "sema/plan.h"
#include "sema/unit.h"
#include "source/diag.h"
#include "source/suggest.h"

struct listing {
    struct cli *cli;
    struct plan *plan;
    struct evaluator *evaluator;
    struct buffer *out;
};

/* ---- catalogue ------------------------------------------------------------------------------------ */

static const char *setting_text(struct listing *listing, struct decl *decl, enum attribute attribute)
{
    const struct setting *setting = plan_setting(listing->plan, decl, attribute);
    return setting && setting->value.type == VALUE_NUMBER
               ? quantity_text(listing->cli->arena, setting->value.number, setting->value.dim)
               : "-";
}

static void detail_gpu(struct listing *listing, struct decl *decl)
{
    enum attribute peak =
        plan_is_set(listing->plan, decl, ATTR_GPU_PEAK_BF16) ? ATTR_GPU_PEAK_BF16 : ATTR_GPU_PEAK_FP16;
    buffer_printf(listing->out, "  memory %s, bandwidth %s, 16-bit peak %s, link %s\n",
                  setting_text(listing, decl, ATTR_GPU_MEMORY),
                  setting_text(listing, decl, ATTR_GPU_BANDWIDTH), setting_text(listing, decl, peak),
                  setting_text(listing, decl, ATTR_GPU_LINK));
}

static void detail_model(struct listing *listing, struct decl *decl)
{
    buffer_printf(listing->out, "  parameters %s, active %s, layers %s, cache %s\n",
                  evaluate_text(listing->evaluator, decl, Q_PARAMS),
                  evaluate_text(listing->evaluator, decl, Q_ACTIVE_PARAMS),
                  evaluate_text(listing->evaluator, decl, Q_LAYERS),
                  evaluate_text(listing->evaluator, decl, Q_KV_BYTES_PER_TOKEN));
}

static void detail_format(struct listing *listing, struct decl *decl)
{
    buffer_printf(listing->out, "  %s bits per value, computes in %s\n",
                  setting_text(listing, decl, ATTR_FORMAT_BITS),
                  plan_text(listing->plan, decl, ATTR_FORMAT_COMPUTE, "-"));
}

static void list_kind(struct listing *listing, enum kind kind,
                      void (*detail)(struct listing *, struct decl *))
{
    size_t count;
    struct decl **found = plan_catalogue(listing->plan, kind, &count);
    for (size_t i = 0; i < count; i++) {
        const char *full = plan_text(listing->plan, found[i], ATTR_FULL_NAME, "");
        buffer_printf(listing->out, *full ? "%-28s %s\n" : "%s\n", found[i]->name, full);
        if (!listing->cli->long_list)
            continue;
        if (detail)
            detail(listing, found[i]);
        const char *source = plan_text(listing->plan, found[i], ATTR_SOURCE, NULL);
        const char *confidence = plan_text(listing->plan, found[i], ATTR_CONFIDENCE, NULL);
        if (source)
            buffer_printf(listing->out, "  source: %s%s%s%s\n", source, confidence ? " (" : "",
                          confidence ? confidence : "", confidence ? ")" : "");
    }
}

static void list_gpus(struct listing *listing)
{
    list_kind(listing, KIND_GPU, detail_gpu);
}

static void list_models(struct listing *listing)
{
    list_kind(listing, KIND_MODEL, detail_model);
}

static void list_formats(struct listing *listing)
{
    list_kind(listing, KIND_FORMAT, detail_format);
}

static void list_engines(struct listing *listing)
{
    list_kind(listing, KIND_ENGINE, NULL);
}

/* ---- tables --------------------------------------------------------------------------------------- */

static void list_units(struct listing *listing)
{
    const struct unit_row *rows;
    size_t count = unit_table(&rows);
    for (size_t i = 0; i < count; i++) {
        char number[NUMBER_TEXT_MAX];
        buffer_printf(listing->out, "%-10s %-10s %s\n", rows[i].name, rows[i].dimension,
                      number_shortest(number, rows[i].value));
    }
}

static void list_quantities(struct listing *listing)
{
    static const char *const scopes[] = {"scenario", "model", "gpu"};
    for (enum quantity quantity = 0; quantity < QUANTITY_COUNT; quantity++) {
        const struct quantity_info *info = quantity_info(quantity);
        buffer_printf(listing->out, "%-9s %-28s %s\n", scopes[info->scope], info->name, info->doc);
        if (!listing->cli->long_list)
            continue;
        buffer_printf(listing->out, "  unit %s\n", info->unit);
        if (info->formula)
            buffer_printf(listing->out, "  = %s\n", info->formula);
        if (info->source)
            buffer_printf(listing->out, "  source: %s\n", info->source);
    }
}

static void list_attributes(struct listing *listing)
{
    for (enum kind kind = 0; kind < KIND_COUNT; kind++)
        for (enum attribute attribute = 0; attribute < ATTR_COUNT; attribute++) {
            const struct attribute_info *info = attribute_info(attribute);
            if (!(info->scope & (1u << kind)))
                continue;
            buffer_printf(listing->out, "%-9s %-24s %s\n", kind_name(kind), info->name, info->doc);
            if (listing->cli->long_list && info->fallback)
                buffer_printf(listing->out, "  default: %s\n", info->fallback);
            if (listing->cli->long_list && info->detail)
                buffer_printf(listing->out, "  takes: %s\n", info->detail);
        }
}

const char *const list_names[] = {"gpus",  "models",     "formats",    "engines",
                                  "units", "quantities", "attributes", NULL};

/* In the order of their names. */
static void (*const lists[])(struct listing *) = {
    list_gpus, list_models, list_formats, list_engines, list_units, list_quantities, list_attributes,
};
enum { LIST_COUNT = sizeof lists / sizeof lists[0] };
_Static_assert(sizeof list_names / sizeof list_names[0] == LIST_COUNT + 1, "a name for each list");

static void no_such_list(const char *name)
{
    struct suggestion suggestion = suggestion_for(name);
    for (size_t i = 0; i < LIST_COUNT; i++)
        suggestion_consider(&suggestion, list_names[i]);
    const char *near = suggestion_result(&suggestion);
    cli_complain("`list` has no `%s`; %s%s%s", name, near ? "did you mean `" : "",
                 near ? near : "`perfc help list` explains", near ? "`?" : "");
}

enum exit_status command_list(struct cli *cli)
{
    if (cli->operands.count != 1) {
        cli_complain("`list` takes %s", command_line_choice(cli->arena, PLACE_LIST));
        return EXIT_USAGE;
    }
    for (size_t i = 0; i < LIST_COUNT; i++) {
        if (strcmp(list_names[i], cli->operands.items[0]) != 0)
            continue;
        struct buffer out = buffer_in(cli->arena);
        struct session session = {
            .cli = cli, .sources = sources_new(cli->arena), .diags = diags_new(cli->arena)};
        struct listing listing = {.cli = cli, .out = &out};
        struct plan_options options = {.include_dirs = cli->include_dirs.items,
                                       .include_count = cli->include_dirs.count};
        session.plan = listing.plan =
            plan_empty(cli->arena, strings_new(cli->arena), session.sources, session.diags, options);
        session.evaluator = listing.evaluator = evaluator_new(listing.plan);
        lists[i](&listing);
        enum exit_status status = session_diagnose(&session);
        return status == EXIT_FINE ? output_standard(&out) : status;
    }
    no_such_list(cli->operands.items[0]);
    return EXIT_USAGE;
}
