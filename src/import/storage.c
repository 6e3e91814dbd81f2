/* storage.c: the formats that imports name, and those they declare. */
#include "import/storage.h"

#include <string.h>

#include "base/arena.h"
#include "base/number.h"

/* As in stdlib/formats.perf and the files below formats; test_import_storage.c compares the two. */
static const struct storage standard[] = {
    {.name = "fp64", .bits = 64, .compute = "fp64"},
    {.name = "fp32", .bits = 32, .compute = "fp32"},
    {.name = "bf16", .bits = 16, .compute = "bf16"},
    {.name = "fp16", .bits = 16, .compute = "fp16"},
    {.name = "fp8", .bits = 8, .compute = "fp8"},
    {.name = "fp8-e5m2", .bits = 8, .compute = "fp8"},
    {.name = "fp8-block", .bits = 8 + 32.0 / 16384, .compute = "fp8"},
    {.name = "int8", .bits = 8, .compute = "int8"},
    {.name = "mxfp8", .bits = 8.25, .compute = "fp8"},
    {.name = "mxfp4", .bits = 4.25, .compute = "fp4"},
    {.name = "nvfp4", .bits = 4.5, .compute = "fp4"},
    {.name = "gptq-int4-g128", .bits = 4 + 20.0 / 128, .compute = "fp16", .weight_only = true},
    {.name = "awq-int4-g128", .bits = 4 + 20.0 / 128, .compute = "fp16", .weight_only = true},
    {.name = "gptq-int4-g32", .bits = 4 + 20.0 / 32, .compute = "fp16", .weight_only = true},
    {.name = "awq-int4-g32", .bits = 4 + 20.0 / 32, .compute = "fp16", .weight_only = true},
    {.name = "int4-g32", .bits = 4.5, .compute = "fp16", .weight_only = true},
    {.name = "nf4", .bits = 4.5, .compute = "fp16", .weight_only = true},
    {.name = "nf4-double", .bits = 4 + 8.0 / 64 + 32.0 / 16384, .compute = "fp16", .weight_only = true},
    {.name = "q4_0", .bits = 4.5, .compute = "fp16", .weight_only = true, .gguf = true},
    {.name = "q4_1", .bits = 5, .compute = "fp16", .weight_only = true, .gguf = true},
    {.name = "q5_0", .bits = 5.5, .compute = "fp16", .weight_only = true, .gguf = true},
    {.name = "q5_1", .bits = 6, .compute = "fp16", .weight_only = true, .gguf = true},
    {.name = "q8_0", .bits = 8.5, .compute = "fp16", .weight_only = true, .gguf = true},
    {.name = "q2_k", .bits = 2.625, .compute = "fp16", .weight_only = true, .gguf = true},
    {.name = "q3_k", .bits = 3.4375, .compute = "fp16", .weight_only = true, .gguf = true},
    {.name = "q4_k", .bits = 4.5, .compute = "fp16", .weight_only = true, .gguf = true},
    {.name = "q5_k", .bits = 5.5, .compute = "fp16", .weight_only = true, .gguf = true},
    {.name = "q6_k", .bits = 6.5625, .compute = "fp16", .weight_only = true, .gguf = true},
    {.name = "iq1_s", .bits = 1.5625, .compute = "fp16", .weight_only = true, .gguf = true},
    {.name = "iq1_m", .bits = 1.75, .compute = "fp16", .weight_only = true, .gguf = true},
    {.name = "iq2_xxs", .bits = 2.0625, .compute = "fp16", .weight_only = true, .gguf = true},
    {.name = "iq2_xs", .bits = 2.3125, .compute = "fp16", .weight_only = true, .gguf = true},
    {.name = "iq2_s", .bits = 2.5625, .compute = "fp16", .weight_only = true, .gguf = true},
    {.name = "iq3_xxs", .bits = 3.0625, .compute = "fp16", .weight_only = true, .gguf = true},
    {.name = "iq3_s", .bits = 3.4375, .compute = "fp16", .weight_only = true, .gguf = true},
    {.name = "iq4_nl", .bits = 4.5, .compute = "fp16", .weight_only = true, .gguf = true},
    {.name = "iq4_xs", .bits = 4.25, .compute = "fp16", .weight_only = true, .gguf = true},
};

const struct storage *storage_standard(const char *name)
{
    for (size_t i = 0; i < sizeof standard / sizeof standard[0]; i++)
        if (strcmp(standard[i].name, name) == 0)
            return &standard[i];
    return NULL;
}

const struct storage *storage_declare(struct arena *arena, struct architecture *model, struct storage storage)
{
    for (size_t i = 0; i < model->declared.count; i++)
        if (strcmp(model->declared.items[i]->name, storage.name) == 0)
            return model->declared.items[i];
    if (model->declared.count == DECLARED_MAX)
        return NULL;
    struct storage *copy = ARENA_NEW(arena, struct storage);
    *copy = storage;
    copy->declared = true;
    *VEC_PUSH(arena, model->declared) = copy;
    return copy;
}

const struct storage *storage_mix(struct arena *arena, struct architecture *model, const char *class_word,
                                  double bytes, double elements, const struct storage *like)
{
    char total[NUMBER_TEXT_MAX], count[NUMBER_TEXT_MAX];
    const char *text =
        arena_printf(arena, "8 * %s / %s", number_shortest(total, bytes), number_shortest(count, elements));
    for (size_t i = 0; i < model->declared.count; i++)
        if (strcmp(model->declared.items[i]->bits_text, text) == 0)
            return model->declared.items[i];
    const char *first = arena_printf(arena, "mix-%s", class_word);
    size_t length = strlen(first), others = 0;
    for (size_t i = 0; i < model->declared.count; i++) {
        const char *name = model->declared.items[i]->name;
        others += strncmp(name, first, length) == 0 && (name[length] == '\0' || name[length] == '-');
    }
    const char *name = others == 0 ? first : arena_printf(arena, "%s-%zu", first, others + 1);
    return storage_declare(
        arena, model,
        (struct storage){.name = name,
                         .bits = 8 * bytes / elements,
                         .bits_text = text,
                         .compute = like->compute,
                         .weight_only = like->weight_only,
                         .title = arena_printf(arena, "mixture of formats (%s)", class_word)});
}
