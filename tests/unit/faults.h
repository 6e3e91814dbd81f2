/* faults.h: for suites whose tests look at many things: each gathers its faults, so that a failure names them
 * all. Included once by a test file, whose suite has set_up and tear_down as its .init and .fini. */
#ifndef PERFC_TEST_FAULTS_H
#define PERFC_TEST_FAULTS_H

#include <criterion/criterion.h>

#include "base/arena.h"
#include "base/buffer.h"

static struct arena *arena;
static struct buffer faults; /* one line per fault */

static void set_up(void)
{
    arena = arena_new();
    faults = buffer_in(arena);
}

static void tear_down(void)
{
    arena_free(arena);
}

#define FAULT(...)         (buffer_printf(&faults, "  " __VA_ARGS__), buffer_text(&faults, "\n"))
#define EXPECT_NO_FAULTS() cr_assert(faults.length == 0, "\n%s", buffer_string(&faults))

#endif
