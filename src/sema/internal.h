/* internal.h: what the files of src/sema share and nobody else sees. */
#ifndef PERFC_SEMA_INTERNAL_H
#define PERFC_SEMA_INTERNAL_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "sema/plan.h"
#include "source/diag.h"
#include "source/kin.h"
#include "source/suggest.h"
#include "syntax/ast.h"

enum { INHERITANCE_MAX = 16, EVALUATION_MAX = 200, IMPORTS_MAX = 256, RANGE_MAX = 10000 };

/* A file that was read: the scope in which its names are looked up. */
struct module {
    const char *path;     /* for messages; relative imports start from its directory */
    const char *identity; /* interned canonical path, so that no file is read twice */
    bool catalogue;
    struct syntax_tree *tree;
    struct map *declarations[KIND_COUNT];
    struct map *lets;
    struct map *aliases;          /* `import "f" as name`: name to module */
    VEC(struct module *) imports; /* without `as`: their names count as this module's */
    VEC(struct decl *) order;     /* declarations as they stand */
    VEC(struct let *) let_order;
    unsigned visit; /* mark of the lookup that saw it last: imports may form circles */
};

struct let {
    struct name name;
    struct expr *expr;
    struct module *module;
    struct value value;
    bool evaluated, evaluating;
};

/* One attribute as written in one declaration. */
struct slot {
    enum attribute attribute;
    struct span span;               /* of the name on the left */
    const struct item_list *values; /* NULL when `value` was set from outside */
    struct value value;             /* sweep points and --set */
    enum origin origin;
    struct decl *owner;
};

/* `source.NAME = "..."`: provenance of one attribute or of a group of them. */
struct provenance {
    enum attribute kind; /* ATTR_SOURCE or ATTR_CONFIDENCE */
    const char *name;    /* dotted attribute name, or a prefix of some */
    const char *text;
};

struct cached_setting {
    struct setting setting;
    enum { SETTING_UNKNOWN, SETTING_EVALUATING, SETTING_PRESENT, SETTING_MISSING } state;
};

struct decl_state {
    const struct stmt *stmt; /* NULL for copies */
    struct module *module;
    struct path base_path;
    enum { BASE_UNBOUND, BASE_BINDING, BASE_BOUND } base_state;
    bool blocks_ready;
    bool is_inherited; /* by a scenario of the plan */
    VEC(struct slot) slots;
    VEC(struct provenance) provenance;
    VEC(struct decl *) own_blocks;
    struct cached_setting **cache; /* one per attribute of the kind, made on first use */
};

/* A value that is being worked out, for the text of a cycle. */
struct frame {
    const struct decl *decl; /* NULL for a `let` */
    const char *name;
    struct frame *outer;
};

struct plan {
    struct arena *arena;
    struct strings *strings;
    struct sources *sources;
    struct diags *diags;
    struct plan_options options;
    struct attribute_index *attributes;
    struct module *root;
    struct map *modules; /* by identity */
    size_t module_count;
    struct module **stdlib_modules;        /* by file number of the embedded library; NULL until read */
    VEC(struct module *) plan_modules;     /* the plan and everything it imports, imports first */
    VEC(struct module *) reported_modules; /* those of them that count as the plan itself */
    struct plan_view view;
    struct quantity_reader reader;
    const struct old_reader *old;      /* set while a guard is evaluated: `old.` is a name then */
    struct expr *defaults[ATTR_COUNT]; /* the table's default expressions, parsed on first use */
    const struct row_scope
        *row;            /* set while a row of measurements is evaluated: its columns are names then */
    struct frame *frame; /* innermost value being worked out */
    unsigned depth;
    unsigned visit;
};

/* ---- attribute.c: the attribute table, indexed ---------------------------------------------- */

struct attribute_index *attribute_index_new(struct arena *arena, struct strings *strings);
/* By interned dotted name; ATTR_COUNT when the kind has no such attribute. */
enum attribute attribute_lookup(const struct attribute_index *index, enum kind kind, const char *name);
/* Position among the attributes of a kind, and how many there are. */
size_t attribute_position(const struct attribute_index *index, enum kind kind, enum attribute attribute);
size_t attribute_total(const struct attribute_index *index, enum kind kind);
/* The attribute of a kind that `name` means elsewhere or is nearest to, or NULL. */
const char *attribute_suggest(enum kind kind, const char *name);
/* What to write in place of `name`, which a kind has no attribute for and people look for; or NULL. */
const char *attribute_advice(enum kind kind, const char *name);
/* Whether some attribute of the kind is `prefix.something`. */
bool attribute_is_group(enum kind kind, const char *prefix);
/* Whether `word` is one of the alternatives in `words` ("gqa|mla|none"). */
bool word_in(const char *words, const char *word);
const char *word_suggest(struct arena *arena, const char *words, const char *word);
/* The alternatives for a message: "`gqa`, `mla`, `none`". */
const char *words_text(struct arena *arena, const char *words);

/* ---- module.c: files and their names -------------------------------------------------------- */

/* Reads and collects the plan file and everything it imports. */
void module_load_root(struct plan *plan, const char *path, const char **unreadable);
void module_load_text(struct plan *plan, const char *path, const char *text, size_t length);
/* A plan's scope without a file. */
void module_empty_root(struct plan *plan);
/* What an `import` statement brings in; NULL when it cannot, which is reported. */
struct module *module_import(struct plan *plan, struct module *from, const struct stmt *stmt);
/* A declaration by name as seen from `from` (NULL: from the plan): its own, its imports', the library's. */
struct decl *module_find(struct plan *plan, struct module *from, enum kind kind, const char *name);
struct let *module_find_let(struct plan *plan, struct module *from, const char *name);
struct module *module_find_alias(struct plan *plan, struct module *from, const char *name);
/* Reads a table beside `from`, or in an -I directory, and adds it to the sources. False, and a report at
 * `span`, when it cannot be read. */
bool module_read_table(struct plan *plan, const struct module *from, const char *file, struct span span,
                       uint32_t *number);
/* The module of an embedded file, read on first use. */
struct module *module_stdlib(struct plan *plan, size_t file);
/* The nearest name of that kind, and in `kin` those that share whole parts with it. */
struct suggestion module_suggest(struct plan *plan, struct module *from, enum kind kind, const char *name,
                                 struct kin *kin);

/* ---- collect.c: statements to declarations --------------------------------------------------- */

void collect_module(struct plan *plan, struct module *module);
/* Joins the parts with dots and interns the result. */
const char *path_text(struct plan *plan, const struct path *path, size_t first, size_t count);
struct decl *decl_new(struct plan *plan, enum kind kind, struct module *module);

/* ---- inherit.c: bases and blocks ------------------------------------------------------------- */

void decl_bind_base(struct plan *plan, struct decl *decl);
void decl_bind_blocks(struct plan *plan, struct decl *decl);

/* ---- eval.c, arithmetic.c, conform.c, lookup.c: expressions ---------------------------------------------
 */

/* Where an expression stands. */
struct scope {
    struct module *module;
    struct decl *decl; /* NULL at top level */
};

struct value evaluate(struct plan *plan, struct scope scope, const struct expr *expr);
/* The same where a declaration of `kind` is expected, which names are then looked up as. */
struct value evaluate_reference(struct plan *plan, struct scope scope, const struct expr *expr,
                                enum kind kind);
struct value let_value(struct plan *plan, struct let *let);
struct value lookup_path(struct plan *plan, struct scope scope, const struct path *path);
struct decl *lookup_declaration(struct plan *plan, struct scope scope, const struct path *path,
                                enum kind kind, bool report);
/* Adds to `diag` the name of that kind that was probably meant at `span`, or several; false: none is near. */
bool lookup_offer(struct plan *plan, struct module *from, enum kind kind, const char *name, struct diag *diag,
                  struct span span);

struct value value_error(void);
struct value value_number(double number, struct dim dim);
struct value value_bool(bool boolean);
struct value value_absent(const char *why);
/* "a number", "data/time", "true or false", "a gpu": what the value is, for messages. */
const char *value_describe(struct plan *plan, const struct value *value);

struct value arithmetic_unary(struct plan *plan, const struct expr *expr, struct value operand);
struct value arithmetic_binary(struct plan *plan, const struct expr *expr, struct value left,
                               struct value right);
struct value arithmetic_call(struct plan *plan, struct scope scope, const struct expr *expr);

/* The dimension an attribute takes; *money is set for prices. */
struct dim attribute_dim(const struct attribute_info *info, bool *money);

/* Checks type, dimension and range of a value for an attribute, reporting what is wrong. `expr` may be NULL.
 */
struct value conform(struct plan *plan, const struct decl *decl, enum attribute attribute, struct value value,
                     const struct expr *expr, struct span span);
/* One written item as a value of the attribute. */
struct value evaluate_item(struct plan *plan, struct scope scope, enum attribute attribute,
                           const struct decl *decl, const struct expr *expr);

/* Enters and leaves a value being worked out. False, and a report at `span`, on a cycle of depth. */
bool frame_push(struct plan *plan, struct frame *frame, const struct decl *decl, const char *name,
                struct span span);
void frame_pop(struct plan *plan);
void report_cycle(struct plan *plan, const struct decl *decl, const char *name, struct span span);

/* ---- rows.c: measurements of variants, and of the rows of tables ------------------------------------ */

/* Whether a `measured` block is about something else than its scenario as it is. */
bool rows_expand(const struct decl *decl);
/* Adds its measurements to the view. */
void rows_measure(struct plan *plan, struct decl *decl);
/* The cell of the column `name` of the row that is being evaluated. False: none is, or it has no such column.
 */
bool rows_read(struct plan *plan, const char *name, struct value *value);

/* ---- view.c: sweeps, assertions, comparisons, measurements ------------------------------------ */

void view_collect(struct plan *plan);
void view_check(struct plan *plan);

void poison(struct decl *decl);

#endif
