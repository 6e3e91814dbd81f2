/* plan.c: a generated plan through the layers of perfc. */
#include "validate.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/intern.h"
#include "sema/plan.h"
#include "source/diag.h"
#include "source/source.h"

struct evaluator *plan_of(struct arena *arena, const char *name, const struct buffer *text)
{
    struct sources *sources = sources_new(arena);
    struct diags *diags = diags_new(arena);
    struct plan *plan = plan_load_text(arena, strings_new(arena), sources, diags, name, buffer_string(text),
                                       text->length, (struct plan_options){0});
    struct evaluator *evaluator = evaluator_new(plan);
    plan_check(plan);
    if (diags_errors(diags) > 0) {
        for (size_t i = 0; i < diags_count(diags) && i < 10; i++)
            fprintf(stderr, "%s: %s\n", name, diags_get(diags, i)->message);
        exit(1);
    }
    return evaluator;
}

const struct evaluation *evaluation_of(struct evaluator *evaluator, const char *scenario, const char **why)
{
    struct decl *decl = plan_find(evaluator_plan(evaluator), KIND_SCENARIO, scenario);
    if (decl == NULL) {
        *why = "no such scenario";
        return NULL;
    }
    const struct evaluation *evaluation = evaluate_scenario(evaluator, decl);
    *why = evaluation->why != NULL ? evaluation->why : "an error was reported";
    return evaluation->valid ? evaluation : NULL;
}
