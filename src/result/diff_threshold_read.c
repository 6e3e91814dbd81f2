/* diff_threshold_read.c: the text of a `--fail-if`. */
#include <string.h>

#include "base/arena.h"
#include "result/diff.h"
#include "sema/unit.h"

/* ---- reading --------------------------------------------------------------------------------------- */

static const char *trimmed(struct arena *arena, const char *text, size_t length)
{
    while (length > 0 && *text == ' ') {
        text++;
        length--;
    }
    while (length > 0 && text[length - 1] == ' ')
        length--;
    return arena_strndup(arena, text, length);
}

/* The row of "tpot" and of "tpot.high", which is a bound of the former's band. */
static const struct quantity_info *row_of(struct arena *arena, enum quantity_scope scope, const char *path)
{
    const struct quantity_info *row = quantity_find(scope, path);
    const char *dot = strrchr(path, '.');
    if (row || !dot || (strcmp(dot, ".low") != 0 && strcmp(dot, ".high") != 0))
        return row;
    row = quantity_find(scope, arena_strndup(arena, path, (size_t)(dot - path)));
    return row && row->has_band ? row : NULL;
}

/* Looks the quantity up for each kind of declaration, as rows of the threshold; the first that has it. */
static const struct quantity_info *find_rows(struct arena *arena, const char *path, struct threshold *out)
{
    const struct quantity_info *first = NULL;
    for (int scope = 0; scope < QUANTITY_SCOPE_COUNT; scope++) {
        bool asked = !out->sweeps || scope == QUANTITY_OF_SCENARIO;
        out->rows[scope] = asked ? row_of(arena, (enum quantity_scope)scope, path) : NULL;
        if (!first)
            first = out->rows[scope];
    }
    return first;
}

static const char *suggest(const char *path)
{
    const char *near = NULL;
    for (int scope = 0; scope < QUANTITY_SCOPE_COUNT && !near; scope++)
        near = quantity_suggest((enum quantity_scope)scope, path);
    return near;
}

/* `"Qwen/Qwen3-32B"` without its quotes. */
static const char *unquoted(struct arena *arena, const char *name)
{
    size_t length = strlen(name), used = 0;
    if (length < 2 || name[0] != '"' || name[length - 1] != '"')
        return name;
    char *out = arena_strndup(arena, name + 1, length - 2);
    for (size_t i = 1; i + 1 < length; i++) {
        i += name[i] == '\\' && i + 2 < length;
        out[used++] = name[i];
    }
    out[used] = '\0';
    return out;
}

/* `tpot`, `chat.tpot`, `sweep tpot` or `sweep chat.tpot`; names may hold dots, so every dot is tried. */
static bool parse_name(struct arena *arena, const char *name, struct threshold *out, const char **why)
{
    static const char sweep[] = "sweep ";
    out->sweeps = strncmp(name, sweep, sizeof sweep - 1) == 0;
    if (out->sweeps)
        name += sizeof sweep - 1 + strspn(name + sizeof sweep - 1, " ");
    const char *path = name;
    do {
        const struct quantity_info *row = find_rows(arena, path, out);
        if (row) {
            out->path = path;
            out->name =
                path == name ? NULL : unquoted(arena, arena_strndup(arena, name, (size_t)(path - name) - 1));
            if (row->type == QUANTITY_NUMBER)
                return true;
            *why = arena_printf(arena, "`%s` is no number; an `assert` in the plan can demand it", path);
            return false;
        }
        path = strchr(path, '.');
        path = path ? path + 1 : NULL;
    } while (path);
    const char *dot = strrchr(name, '.'), *near = suggest(name);
    if (!near && dot)
        near = suggest(dot + 1);
    *why = near ? arena_printf(arena, "there is no quantity `%s`; did you mean `%s`?", name, near)
                : arena_printf(arena, "there is no quantity `%s`; `perfc list quantities` prints them", name);
    return false;
}

/* Of the same name, rows of scenarios, models and cards have the same unit. */
static const struct quantity_info *first_row(const struct threshold *threshold)
{
    for (int scope = 0; scope < QUANTITY_SCOPE_COUNT; scope++)
        if (threshold->rows[scope])
            return threshold->rows[scope];
    return NULL;
}

/* Whether a value of dimension `dim` can be compared with the row's. Prices are in either currency, and a
 * bare number will do for tokens. */
static bool suits(struct arena *arena, const struct quantity_info *row, struct dim *dim)
{
    static const char *const currencies[] = {"usd", "eur"};
    if (strncmp(row->unit, "money", 5) == 0) {
        for (size_t i = 0; i < sizeof currencies / sizeof currencies[0]; i++)
            if (dim_equal(*dim, report_unit_dim(arena_printf(arena, "%s%s", currencies[i], row->unit + 5))))
                return true;
        return false;
    }
    struct dim own = report_unit_dim(row->unit);
    if (dim_is_none(*dim) && dim_equal(own, report_unit_dim("tokens")))
        *dim = own;
    return dim_equal(*dim, own);
}

static size_t number_length(const char *text)
{
    size_t length = strspn(text, "0123456789_.");
    if (length > 0 && (text[length] == 'e' || text[length] == 'E')) {
        size_t sign = text[length + 1] == '+' || text[length + 1] == '-';
        size_t digits = strspn(text + length + 1 + sign, "0123456789");
        if (digits > 0)
            length += 1 + sign + digits;
    }
    return length;
}

static bool parse_value(struct arena *arena, const char *text, struct threshold *out, const char **why)
{
    if (!*text) {
        *why = "the value is missing";
        return false;
    }
    char sign = *text == '+' || *text == '-' ? *text : '\0';
    const char *digits = text + (sign != '\0');
    size_t length = number_length(digits);
    const char *unit = trimmed(arena, digits + length, strlen(digits + length));
    if (length == 0 || !unit_literal(arena_strndup(arena, digits, length), NULL, *unit ? unit : NULL,
                                     &out->value, &out->dim)) {
        *why = arena_printf(arena, "`%s` is no value like `+5%%` or `40 ms`", text);
        return false;
    }
    if (sign == '-')
        out->value = -out->value;
    out->kind = !sign ? THRESHOLD_ABSOLUTE : strcmp(unit, "%") == 0 ? THRESHOLD_RELATIVE : THRESHOLD_CHANGE;
    const struct quantity_info *row = first_row(out);
    if (out->kind == THRESHOLD_RELATIVE || suits(arena, row, &out->dim))
        return true;
    if (!sign && strcmp(unit, "%") == 0)
        *why =
            arena_printf(arena, "`%s` has a unit; a change in per cent has a sign: `+%s`", out->path, text);
    else
        *why = arena_printf(arena, "`%s` is %s, not %s", out->path,
                            strncmp(row->unit, "money", 5) == 0 ? "money"
                                                                : dim_text(arena, report_unit_dim(row->unit)),
                            dim_text(arena, out->dim));
    return false;
}

bool threshold_parse(struct arena *arena, const char *text, struct threshold *out, const char **why)
{
    const char *at = text;
    for (bool quoted = false; *at && (quoted || (*at != '<' && *at != '>')); at++)
        quoted = quoted != (*at == '"');
    *out = (struct threshold){.text = text};
    if (!*at) {
        *why = "a threshold is a quantity, `>` or `<`, and a value: `tpot>+5%`";
        return false;
    }
    bool or_equal = at[1] == '=';
    out->relation = *at == '>' ? (or_equal ? MORE_OR_EQUAL : MORE) : (or_equal ? LESS_OR_EQUAL : LESS);
    const char *value = at + 1 + or_equal;
    return parse_name(arena, trimmed(arena, text, (size_t)(at - text)), out, why) &&
           parse_value(arena, trimmed(arena, value, strlen(value)), out, why);
}
