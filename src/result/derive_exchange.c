/* derive_exchange.c: worksheets of exchanges between GPUs: messages, and the legs they go by. */
#include <math.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "result/derive_sheet.h"

#define ACTIVATIONS "Activations of all its tokens, in 16 bits."

static const struct {
    const char *name, *doc, *message;
} kinds[PM_EXCHANGE_KINDS] = {
    [PM_EXCHANGE_GROUP] = {"op.allreduce", "One all-reduce of a tensor-parallel group.", ACTIVATIONS},
    [PM_EXCHANGE_EXPERTS] =
        {"op.dispatch_combine",
         "Tokens to their experts and back; together they take what one all-reduce takes.", ACTIVATIONS},
    [PM_EXCHANGE_NORMS] = {"op.norm_sums", "Sums of squares, for norms of queries and keys over all heads.",
                           "One sum of queries and one of keys for each token, in 32 bits."},
    [PM_EXCHANGE_HANDOVER] = {"op.handover", "From one stage of the pipeline to the next.", ACTIVATIONS},
};

/* "system.link" where the plan names a system: its links stand for those of the card. */
static const char *owner(const struct sheet *sheet)
{
    return sheet->evaluation->binding.gpu->system ? "system" : "gpu";
}

static void host_rate(struct sheet *sheet, struct derive_node *rate, const struct pm_leg *leg)
{
    const struct pm_gpu *gpu = sheet->input->gpu;
    if (!(gpu->pcie > 0))
        sheet_part(sheet, rate, "pcie", leg->rate / leg->efficiency, "B/s",
                   "PCIe 4.0 x16: neither a link nor `pcie` is declared.");
    if (leg->efficiency != 1)
        sheet_part(sheet, rate, "reached", leg->efficiency, "1",
                   "Share of PCIe that all-reduces reach without peer access, by the tables of L40S: 0.6 "
                   "between 2 GPUs, 0.12 among 4, 0.06 among 8.");
    sheet_printf(sheet, rate, "%s%s", gpu->pcie > 0 ? "gpu.pcie" : "pcie",
                 leg->efficiency != 1 ? " * reached" : "");
}

static void network_rate(struct sheet *sheet, struct derive_node *rate, const struct pm_leg *leg)
{
    const char *share = leg->efficiency != 1 ? " * engine.efficiency.link" : "";
    if (sheet->input->gpu->network > 0)
        sheet_printf(sheet, rate, "system.network%s", share);
    else
        host_rate(sheet, rate, leg);
}

/* In a mesh a group reaches the pair links to its other members. */
static void link_rate(struct sheet *sheet, struct derive_node *rate, const struct pm_leg *leg)
{
    const struct pm_gpu *gpu = sheet->input->gpu;
    const char *of = owner(sheet);
    const char *share = leg->efficiency == 1              ? ""
                        : leg->route == PM_ROUTE_ONE_SHOT ? " * engine.efficiency.oneshot"
                                                          : " * engine.efficiency.link";
    double reached = leg->rate / leg->efficiency / gpu->link;
    if (fabs(reached - 1) < 1e-12)
        sheet_printf(sheet, rate, "%s.link%s", of, share);
    else
        sheet_printf(sheet, rate, "%s.link * (%.17g - 1) / (%s.link_domain - 1)%s", of, leg->gpus, of, share);
}

static void fill_rate(struct sheet *sheet, struct derive_node *rate, const struct pm_leg *leg)
{
    switch (leg->route) {
    case PM_ROUTE_ONE_SHOT:
    case PM_ROUTE_RING: link_rate(sheet, rate, leg); break;
    case PM_ROUTE_HOST: host_rate(sheet, rate, leg); break;
    case PM_ROUTE_NETWORK: network_rate(sheet, rate, leg); break;
    }
}

static void fill_fixed(struct sheet *sheet, struct derive_node *fixed, const struct pm_leg *leg)
{
    const struct pm_engine *engine = sheet->input->engine;
    bool apart = leg->route == PM_ROUTE_RING && leg->fixed == engine->allreduce_time + engine->ring_time;
    if (leg->fixed == engine->allreduce_time || apart)
        sheet_printf(sheet, fixed, "engine.allreduce_time%s",
                     apart && engine->ring_time > 0 ? " + engine.ring_time" : "");
    else if (leg->route != PM_ROUTE_HOST || leg->gpus > 8)
        sheet_printf(sheet, fixed, "2 * (%.17g - 1) * %.17g s", leg->gpus,
                     leg->fixed / (2 * (leg->gpus - 1)));
}

/* What of the message a GPU sends: all of it to each other one, 2 (n-1)/n around a ring, and between the
 * nodes a GPU's part of that. */
static const char *share_text(struct sheet *sheet, const struct pm_leg *leg)
{
    double around = 2 * (leg->gpus - 1) / leg->gpus;
    if (leg->share == leg->gpus - 1)
        return arena_printf(sheet->arena, "(%.17g - 1)", leg->gpus);
    if (leg->share == around || leg->share == around / 2)
        return arena_printf(sheet->arena, "%s(%.17g - 1) / %.17g", leg->share == around ? "2 * " : "",
                            leg->gpus, leg->gpus);
    return arena_printf(sheet->arena, "2 * (%.17g - 1) / %.17g / %.17g", leg->gpus, leg->gpus,
                        round(around / leg->share));
}

/* A value for each hidden unit of a token, or one sum of its queries and one of its keys. */
static void fill_message(struct sheet *sheet, struct derive_node *message, enum pm_exchange_kind kind)
{
    bool norms = kind == PM_EXCHANGE_NORMS;
    double each = norms ? PM_NORM_SUMS : 2 * sheet->model->model.hidden;
    sheet_part(sheet, message, "tokens", message->value.value / each, "1", "In the step.");
    if (norms)
        sheet_printf(sheet, message, "tokens * %d B", PM_NORM_SUMS);
    else
        sheet_formula(message, "tokens * model.hidden * 2 B");
}

/* fixed + share * message / rate, for each leg under names of its own. */
static void fill_legs(struct sheet *sheet, struct derive_node *node, const struct pm_exchange *exchange,
                      enum pm_exchange_kind kind)
{
    struct buffer sum = buffer_in(sheet->arena);
    const char *doc = kinds[kind].message;
    fill_message(sheet, sheet_part(sheet, node, "message", exchange->message, "B", doc), kind);
    for (size_t i = 0; i < exchange->leg_count; i++) {
        const struct pm_leg *leg = &exchange->legs[i];
        struct derive_node *fixed = sheet_part(sheet, node, "latency", leg->fixed, "s", "Whatever the size.");
        struct derive_node *rate =
            sheet_part(sheet, node, "rate", leg->rate, "B/s", "Of a GPU, in one direction.");
        fill_fixed(sheet, fixed, leg);
        fill_rate(sheet, rate, leg);
        buffer_printf(&sum, "%s%s + ", i > 0 ? " + " : "", fixed->name);
        if (leg->share == 1)
            buffer_printf(&sum, "message / %s", rate->name);
        else
            buffer_printf(&sum, "%s * message / %s", share_text(sheet, leg), rate->name);
    }
    sheet_formula(node, buffer_string(&sum));
}

void add_exchanges(struct sheet *sheet, struct derive_node *node, struct buffer *sum,
                   const struct pm_step_part *step)
{
    for (size_t i = 0; i < PM_EXCHANGE_KINDS; i++) {
        const struct pm_exchange *exchange = &step->exchanges[i];
        if (!(exchange->count * exchange->time > 0))
            continue;
        struct derive_node *part = sheet_part(sheet, node, kinds[i].name, exchange->time, "s", kinds[i].doc);
        fill_legs(sheet, part, exchange, (enum pm_exchange_kind)i);
        buffer_printf(sum, "%s%.17g * %s", sum->length > 0 ? " + " : "", exchange->count, part->name);
    }
}
