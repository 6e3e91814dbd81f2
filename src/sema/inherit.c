/* inherit.c: binds `kind name : base`, and gives a model the blocks of its base. An inherited block is
 * copied into the model that inherits it, so that its defaults come from there. */
#include "sema/internal.h"

static void report_inheritance_cycle(struct plan *plan, struct decl *decl)
{
    struct diag *diag = diag_add(plan->diags, DIAG_E0211, decl->state->base_path.span,
                                 "`%s` inherits from itself", decl->name);
    const char *chain = decl->name;
    for (struct decl *at = decl->base; at && at != decl; at = at->base)
        chain = arena_printf(plan->arena, "%s → %s", chain, at->name);
    diag_note(plan->diags, diag, "the circle is %s → %s", chain, decl->name);
    poison(decl);
}

/* The base of a block is a block of the same model, or of a model that it inherits from. */
static struct decl *find_block(struct plan *plan, struct decl *model, const struct path *path,
                               const struct decl *except)
{
    const char *name = path_text(plan, path, 0, path->count);
    for (struct decl *at = model; at; at = at->base) {
        decl_bind_base(plan, at);
        for (size_t i = 0; i < at->state->own_blocks.count; i++)
            if (at->state->own_blocks.items[i]->name == name && at->state->own_blocks.items[i] != except)
                return at->state->own_blocks.items[i];
    }
    diag_add(plan->diags, DIAG_E0201, path->span, "model `%s` has no block `%s`", model->name, name);
    return NULL;
}

static unsigned chain_length(const struct decl *decl)
{
    unsigned length = 0;
    while ((decl = decl->base))
        length++;
    return length;
}

void decl_bind_base(struct plan *plan, struct decl *decl)
{
    struct decl_state *state = decl->state;
    if (state->base_state != BASE_UNBOUND)
        return;
    state->base_state = BASE_BINDING;
    if (state->base_path.count) {
        struct scope scope = {state->module, NULL};
        decl->base = decl->kind == KIND_BLOCK
                         ? find_block(plan, decl->parent, &state->base_path, decl)
                         : lookup_declaration(plan, scope, &state->base_path, decl->kind, true);
        if (!decl->base) {
            poison(decl);
        } else if (decl->base->state->base_state == BASE_BINDING) {
            report_inheritance_cycle(plan, decl);
            decl->base = NULL;
        } else {
            decl_bind_base(plan, decl->base);
            if (decl->base->poisoned)
                poison(decl);
            if (chain_length(decl) > INHERITANCE_MAX) {
                diag_add(plan->diags, DIAG_E0213, state->base_path.span,
                         "`%s` stands at the end of more than %d declarations that inherit from each other",
                         decl->name, INHERITANCE_MAX);
                decl->base = NULL;
                poison(decl);
            }
        }
    }
    state->base_state = BASE_BOUND;
}

static struct decl *copy_block(struct plan *plan, struct decl *block, struct decl *model)
{
    struct decl *copy = decl_new(plan, KIND_BLOCK, block->state->module);
    copy->name = block->name;
    copy->span = block->span;
    copy->name_span = block->name_span;
    copy->parent = model;
    copy->base = block;
    copy->poisoned = block->poisoned;
    copy->state->base_state = BASE_BOUND;
    return copy;
}

static struct decl *own_block(const struct decl *model, const char *name)
{
    for (size_t i = 0; i < model->state->own_blocks.count; i++)
        if (model->state->own_blocks.items[i]->name == name)
            return model->state->own_blocks.items[i];
    return NULL;
}

void decl_bind_blocks(struct plan *plan, struct decl *model)
{
    if (model->state->blocks_ready)
        return;
    model->state->blocks_ready = true;
    decl_bind_base(plan, model);
    VEC(struct decl *) blocks = {0};
    struct decl *base = model->base;
    if (base) {
        decl_bind_blocks(plan, base);
        for (size_t i = 0; i < base->block_count; i++) {
            struct decl *own = own_block(model, base->blocks[i]->name);
            if (own && !own->state->base_path.count)
                own->base = base->blocks[i];
            *VEC_PUSH(plan->arena, blocks) = own ? own : copy_block(plan, base->blocks[i], model);
        }
    }
    for (size_t i = 0; i < model->state->own_blocks.count; i++) {
        struct decl *own = model->state->own_blocks.items[i];
        bool placed = false;
        for (size_t j = 0; j < blocks.count; j++)
            placed = placed || blocks.items[j] == own;
        if (!placed)
            *VEC_PUSH(plan->arena, blocks) = own;
        decl_bind_base(plan, own);
    }
    model->blocks = blocks.items;
    model->block_count = blocks.count;
}
