/* report_fixture.h: a report tree built by hand that holds every kind of block and the strings that break
 * careless writers. All backends are tested against it. */
#ifndef PERFC_TESTS_REPORT_FIXTURE_H
#define PERFC_TESTS_REPORT_FIXTURE_H

#include <stddef.h>

struct arena;
struct report;

/* Strings that a plan might hold; each occurs in the fixture as a name, a cell, a label or a text. */
#define NASTY_SCRIPT "<script>alert(\"x\" & 'y')</script>"
#define NASTY_PIPE "a|b||c"
#define NASTY_TICKS "`tick` ``two`` ```three"
#define NASTY_MARKUP "*bold* _it_ ~gone~ #1 [link](http://evil.example/x) @someone \\ ![i](u)"
#define NASTY_CONTROL "bell\aescape\033[31mred\ttab\r\nline\x7f" "end"
#define NASTY_INVALID "bad\xff\xc3(\xe2\x82" "end"     /* each ill-formed sequence is one U+FFFD */
#define NASTY_INVALID_SHOWN "bad\xEF\xBF\xBD\xEF\xBF\xBD(\xEF\xBF\xBD" "end"
#define NASTY_WIDE "\xE5\xB7\xA8\xE5\xA4\xA7\xE6\xA8\xA1\xE5\x9E\x8B" /* four ideographs, eight columns */
#define NASTY_EMOJI "\xF0\x9F\x9A\x80 rocket"
#define NASTY_CLOSERS "]]> --> </details></summary></style></title>"
#define NASTY_FORMULA "=HYPERLINK(\"http://evil.example\",\"x\")"
#define NASTY_BIDI "left\xE2\x80\xAEtfel"               /* U+202E, right-to-left override */

/* A name of 200 letters: "very-long-name-0123..." */
const char *nasty_long_name(struct arena *arena);

/* Every kind of block, two ordinary scenarios ("today", "proposal") and the nasty strings. */
struct report *report_fixture(struct arena *arena);

/* A report without sections, assertions or quantities, as an empty plan gives. */
struct report *report_fixture_empty(struct arena *arena);

/* One comparison table and one list of quantities over `scenarios` scenarios with 80 quantities each; the
 * load for speed tests. */
struct report *report_fixture_large(struct arena *arena, size_t scenarios);

#endif
