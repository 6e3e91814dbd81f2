/* test_docs_readme.c: what the README shows of a report is what perfc prints today. UPDATE_GOLDENS=1 (or
 * `make docs`) puts it there. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "run.h"

#define FENCE "\n```\n"

struct stretch {
    const char *text;
    size_t length;
};

/* From the first `begin` to the first `end` after it, neither included. */
static struct stretch between(const char *text, const char *begin, const char *end)
{
    const char *from = strstr(text, begin);
    cr_assert_not_null(from, "no %s", begin);
    from += strlen(begin);
    const char *to = strstr(from, end);
    cr_assert_not_null(to, "no %s after %s", end, begin);
    return (struct stretch){from, (size_t)(to - from)};
}

/* What stands there in the README is `expected`, or becomes it. */
static const char *with(struct arena *arena, const char *readme, struct stretch shown,
                        struct stretch expected)
{
    if (shown.length == expected.length && memcmp(shown.text, expected.text, shown.length) == 0)
        return readme;
    cr_assert_not_null(getenv("UPDATE_GOLDENS"),
                       "README.md shows\n%.*s\nbut perfc prints\n%.*s\nrun `make docs`", (int)shown.length,
                       shown.text, (int)expected.length, expected.text);
    struct buffer page = buffer_in(arena);
    buffer_add(&page, readme, (size_t)(shown.text - readme));
    buffer_add(&page, expected.text, expected.length);
    buffer_text(&page, shown.text + shown.length);
    return buffer_string(&page);
}

/* The fenced block that follows `sentence`. */
static struct stretch block_after(const char *readme, const char *sentence)
{
    const char *at = strstr(readme, sentence);
    cr_assert_not_null(at, "README.md does not say: %s", sentence);
    return between(at, FENCE, FENCE);
}

static size_t listed(struct arena *arena, const char *what)
{
    struct run run = RUN(arena, "list", what);
    cr_assert_eq(run.status, 0, "%s", run.err);
    return split_lines(arena, run.out).list.count;
}

static const char *with_report(struct arena *arena, const char *readme)
{
    struct run run = RUN(arena, source_path(arena, "examples/quickstart.perf"));
    cr_assert_eq(run.status, 0, "%s", run.err);
    readme = with(arena, readme, block_after(readme, "perfc examples/quickstart.perf` begins"),
                  between(run.out, "quickstart.perf\n", "\n\n"));
    /* A scenario's figures end where the sentence about its bound begins. */
    struct stretch card = between(strstr(run.out, "Key figures"), "\n\nh100\n", "\n  Decode is bound by");
    card.text -= strlen("h100\n");
    card.length += strlen("h100\n");
    return with(arena, readme, block_after(readme, "per scenario,"), card);
}

static const char *with_counts(struct arena *arena, const char *readme)
{
    const char *counts =
        arena_printf(arena, "%zu cards and %zu models", listed(arena, "gpus"), listed(arena, "models"));
    return with(arena, readme, between(readme, "catalogue inside the binary knows ", " (`perfc list gpus`)"),
                (struct stretch){counts, strlen(counts)});
}

Test(docs, readme_says_what_perfc_says_today)
{
    struct arena *arena = arena_new();
    const char *path = source_path(arena, "README.md"), *before = read_file(arena, path, NULL);
    cr_assert_not_null(before);
    const char *after = with_counts(arena, with_report(arena, before));
    if (after != before)
        write_file(path, after, strlen(after));
    arena_free(arena);
}
