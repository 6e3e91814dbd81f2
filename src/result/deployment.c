/* deployment.c: what is served on what, in a line. */
#include "result/deployment.h"

#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"

static const char separator[] = "; ";

static const char *format_name(const struct bound_model *model, enum weight_class class)
{
    return model->formats[class] ? model->formats[class]->name : "bf16";
}

/* Attention, dense and expert matrices decide the times of a step. */
static void add_formats(struct buffer *out, const struct bound_model *model)
{
    static const enum weight_class classes[] = {CLASS_ATTENTION, CLASS_FFN, CLASS_EXPERTS};
    const char *last = "";
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        const char *name = format_name(model, classes[i]);
        if (strcmp(name, last) != 0)
            buffer_printf(out, "%s%s", i > 0 ? "/" : " ", name);
        last = name;
    }
}

static void add_degree(struct buffer *out, const char *name, double degree)
{
    if (degree > 1)
        buffer_printf(out, ", %s %.0f", name, degree);
}

const char *deployment_text(struct arena *arena, const struct binding *binding)
{
    const struct pm_case *input = &binding->input;
    struct buffer out = buffer_in(arena);
    buffer_text(&out, binding->model->decl->name);
    add_formats(&out, binding->model);
    buffer_printf(&out, " on %s", binding->gpu->decl->name);
    add_degree(&out, "tp", input->tp);
    add_degree(&out, "pp", input->pp);
    add_degree(&out, "dp", input->dp);
    add_degree(&out, "ep", input->ep);
    return buffer_string(&out);
}

bool deployment_listed(const char *list, const char *deployment)
{
    size_t length = strlen(deployment), gap = strlen(separator);
    for (const char *at = list; at; at = strstr(at, separator) ? strstr(at, separator) + gap : NULL)
        if (strncmp(at, deployment, length) == 0 &&
            (at[length] == '\0' || strncmp(at + length, separator, gap) == 0))
            return true;
    return false;
}
