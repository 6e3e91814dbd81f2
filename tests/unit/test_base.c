/* test_base.c: arena, vectors, interning, maps, buffers, numbers, UTF-8. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/number.h"
#include "base/utf8.h"
#include "base/vec.h"

static struct arena *arena;

static void setup(void)
{
    arena = arena_new();
}

static void teardown(void)
{
    arena_free(arena);
}

TestSuite(base, .init = setup, .fini = teardown);

Test(base, arena_gives_zeroed_aligned_apart_memory)
{
    unsigned char *before = NULL;
    for (size_t size = 0; size < 5000; size += 37) {
        unsigned char *memory = arena_alloc(arena, size);
        cr_assert_not_null(memory);
        cr_assert_eq((uintptr_t)memory % _Alignof(max_align_t), 0);
        for (size_t i = 0; i < size; i++)
            cr_assert_eq(memory[i], 0);
        memset(memory, 0xAB, size);
        cr_assert_neq(memory, before);
        before = memory;
    }
}

Test(base, arena_takes_blocks_larger_than_a_chunk)
{
    char *small = arena_strdup(arena, "kept");
    char *large = arena_alloc(arena, (size_t)5 << 20);
    large[((size_t)5 << 20) - 1] = 'x';
    char *next = arena_strdup(arena, "after");
    cr_assert_str_eq(small, "kept");
    cr_assert_str_eq(next, "after");
    cr_assert_geq(arena_used(arena), (size_t)5 << 20);
}

static void fill(unsigned char *memory, size_t size)
{
    for (size_t i = 0; i < size; i++)
        memory[i] = (unsigned char)(i * 7);
}

static bool filled(const unsigned char *memory, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (memory[i] != (unsigned char)(i * 7))
            return false;
    return true;
}

Test(base, arena_grows_the_last_allocation_where_it_is)
{
    unsigned char *memory = arena_alloc(arena, 40);
    fill(memory, 40);
    cr_assert_eq(arena_grow(arena, memory, 40, 300), memory);
    cr_assert(filled(memory, 40));
    fill(memory, 300);
    char *after = arena_strdup(arena, "after");
    unsigned char *moved = arena_grow(arena, memory, 300, 600);
    cr_assert_neq(moved, memory);
    cr_assert(filled(moved, 300));
    fill(moved, 600);
    cr_assert_str_eq(after, "after");
    cr_assert_eq(arena_used(arena), 40 + 260 + 6 + 600);
}

Test(base, arena_grows_what_is_large_beside_the_rest)
{
    char *before = arena_strdup(arena, "before");
    size_t size = 40000;
    unsigned char *memory = arena_grow(arena, NULL, 0, size);
    for (; size < (size_t)6 << 20; size *= 3) {
        fill(memory, size);
        char *between = arena_strdup(arena, "between");
        memory = arena_grow(arena, memory, size, size * 3);
        cr_assert(filled(memory, size));
        cr_assert_str_eq(between, "between");
    }
    fill(memory, size);
    cr_assert_str_eq(before, "before");
    cr_assert_str_eq(arena_strdup(arena, "after"), "after");
}

Test(base, buffers_grow_between_allocations)
{
    struct buffer one = buffer_in(arena), other = buffer_in(arena);
    buffer_expect(&other, 100000);
    cr_assert_str_eq(buffer_string(&other), "");
    for (int i = 0; i < 20000; i++) {
        buffer_printf(&one, "%05d", i);
        buffer_text(&other, "0123456789");
    }
    cr_assert(one.length == 100000 && other.length == 200000);
    cr_assert(strncmp(one.data + 99990, "1999819999", 10) == 0 &&
              strcmp(other.data + 199990, "0123456789") == 0);
}

Test(base, arena_formats_beyond_its_small_buffer)
{
    cr_assert_str_eq(arena_printf(arena, "%s-%d", "tp", 8), "tp-8");
    char *text = arena_printf(arena, "%0300d|", 7);
    cr_assert_eq(strlen(text), 301);
    cr_assert_str_eq(text + 298, "07|");
    cr_assert_str_eq(arena_strndup(arena, "abcdef", 3), "abc");
}

Test(base, vector_keeps_what_was_pushed)
{
    VEC(int) numbers = {0};
    for (int i = 0; i < 1000; i++)
        *VEC_PUSH(arena, numbers) = i * i;
    cr_assert_eq(numbers.count, 1000);
    for (int i = 0; i < 1000; i++)
        cr_assert_eq(numbers.items[i], i * i);
}

Test(base, interned_strings_compare_by_pointer)
{
    struct strings *strings = strings_new(arena);
    const char *first = intern(strings, "llama-3.1-70b.params", 13);
    cr_assert_str_eq(first, "llama-3.1-70b");
    cr_assert_eq(intern_text(strings, "llama-3.1-70b"), first);
    cr_assert_neq(intern_text(strings, "llama-3.1-70B"), first);
    cr_assert_str_eq(intern_text(strings, ""), "");
    cr_assert_eq(intern(strings, NULL, 0), intern_text(strings, ""));
}

Test(base, interning_survives_growth)
{
    struct strings *strings = strings_new(arena);
    const char *pointers[5000];
    char name[24];
    for (int i = 0; i < 5000; i++) {
        snprintf(name, sizeof name, "scenario-%d", i);
        pointers[i] = intern_text(strings, name);
    }
    for (int i = 0; i < 5000; i++) {
        snprintf(name, sizeof name, "scenario-%d", i);
        cr_assert_eq(intern_text(strings, name), pointers[i]);
        cr_assert_str_eq(pointers[i], name);
    }
}

Test(base, map_finds_what_was_put)
{
    static char keys[3000], values[3000];
    struct map *map = map_new(arena);
    cr_assert_null(map_get(map, keys));
    for (int i = 0; i < 3000; i++)
        cr_assert_null(map_put(map, &keys[i], &values[i]));
    for (int i = 0; i < 3000; i++)
        cr_assert_eq(map_get(map, &keys[i]), &values[i]);
    cr_assert_eq(map_put(map, &keys[7], &values[8]), &values[7]);
    cr_assert_eq(map_get(map, &keys[7]), &values[8]);
    cr_assert_null(map_get(map, "another pointer"));
}

Test(base, buffer_appends)
{
    struct buffer buffer = buffer_in(arena);
    cr_assert_str_eq(buffer_string(&buffer), "");
    buffer_text(&buffer, "a");
    buffer_byte(&buffer, '|');
    buffer_repeat(&buffer, "-=", 3);
    buffer_printf(&buffer, "|%500d|", 1);
    buffer_add(&buffer, "xyz", 2);
    cr_assert_eq(buffer.length, 1 + 1 + 6 + 502 + 2);
    cr_assert_eq(strncmp(buffer_string(&buffer), "a|-=-=-=|  ", 11), 0);
    cr_assert_str_eq(buffer_string(&buffer) + buffer.length - 4, "1|xy");
}

static double parsed(const char *text, int exponent10)
{
    double value = -1;
    cr_assert(number_parse(text, strlen(text), exponent10, &value), "%s", text);
    return value;
}

Test(base, literals_are_rounded_once)
{
    /* The compiler's own conversion is the independent reference. */
    cr_assert_eq(parsed("2.039", 12), 2.039e12);
    cr_assert_eq(parsed("0.3", 0), 0.3);
    cr_assert_eq(parsed("4_096", 0), 4096.0);
    cr_assert_eq(parsed("1.7e3", 0), 1700.0);
    cr_assert_eq(parsed("3.35", 12), 3.35e12);
    cr_assert_eq(parsed("10", -6), 10e-6);
    cr_assert_eq(parsed("90", -2), 0.9);
    cr_assert_eq(parsed("1e-400", 300), 1e-100);
    cr_assert_eq(parsed("0.000", 5), 0.0);
    cr_assert_eq(parsed("9007199254740993", 0), 9007199254740992.0); /* a tie, to even */
}

/* The short way, where it is taken and just beyond, against the C library's. */
Test(base, the_short_way_rounds_like_the_long_one)
{
    uint64_t state = 1;
    for (int i = 0; i < 20000; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        int digits = 1 + (int)(state >> 33) % 17, exponent = (int)(state >> 40) % 60 - 30;
        char text[64], with_exponent[96];
        snprintf(text, sizeof text, "%.*s", digits, "9007199254740993317");
        for (int at = 0; at < digits; at++)
            text[at] = (char)('0' + (state >> (at * 3)) % 10);
        snprintf(with_exponent, sizeof with_exponent, "%se%d", text, exponent);
        cr_assert_eq(parsed(text, exponent), strtod(with_exponent, NULL), "%s", with_exponent);
    }
}

Test(base, digits_beyond_the_buffer_still_break_a_tie)
{
    /* 2^53 + 1 is a tie between its neighbours; a digit a thousand places later decides it upwards. */
    char text[1200];
    memset(text, '0', sizeof text);
    memcpy(text, "9007199254740993.", 17);
    text[1198] = '1';
    text[1199] = '\0';
    cr_assert_eq(parsed(text, 0), 9007199254740994.0);
    text[1198] = '0';
    cr_assert_eq(parsed(text, 0), 9007199254740992.0);
    memset(text, '1', 1000);
    text[1000] = '\0';
    double value;
    cr_assert_not(number_parse(text, 1000, 0, &value), "1.1e999 is not finite");
    cr_assert_float_eq(parsed(text, -999), 1.1111111111111112, 1e-15);
}

Test(base, what_is_no_number_is_refused)
{
    static const char *const texts[] = {"",   "_",     ".5",  "5.",  "1e",   "1e+",   "1x",
                                        "-1", "1.2.3", "inf", "nan", "0x10", "1e999", "1 "};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        double value = 42;
        cr_assert_not(number_parse(texts[i], strlen(texts[i]), 0, &value), "'%s'", texts[i]);
        cr_assert_eq(value, 42);
    }
}

static const char *shortest(double value)
{
    static char text[NUMBER_TEXT_MAX];
    return number_shortest(text, value);
}

Test(base, shortest_text_reads_back)
{
    cr_assert_str_eq(shortest(0.008073741824), "0.008073741824");
    cr_assert_str_eq(shortest(14e9), "14000000000");
    cr_assert_str_eq(shortest(1.5e-9), "1.5e-09");
    cr_assert_str_eq(shortest(0.1), "0.1");
    cr_assert_str_eq(shortest(0.1 + 0.2), "0.30000000000000004");
    cr_assert_str_eq(shortest(-2.5), "-2.5");
    cr_assert_str_eq(shortest(0.0), "0");
    cr_assert_str_eq(shortest(-0.0), "0");
    cr_assert_str_eq(shortest(9007199254740991.0), "9007199254740991");
    static const double hard[] = {5e-324, 1.7976931348623157e308, 2.2250738585072014e-308, 123.858};
    for (size_t i = 0; i < sizeof hard / sizeof hard[0]; i++)
        cr_assert_eq(strtod(shortest(hard[i]), NULL), hard[i]);
}

static const char *significant(double value, int digits)
{
    static char text[NUMBER_TEXT_MAX];
    return number_significant(text, value, digits);
}

Test(base, significant_digits)
{
    cr_assert_str_eq(significant(16.147, 3), "16.1");
    cr_assert_str_eq(significant(0.00123456, 3), "0.00123");
    cr_assert_str_eq(significant(7, 3), "7.00");
    cr_assert_str_eq(significant(12345, 3), "12300");
    cr_assert_str_eq(significant(999.96, 3), "1000");
    cr_assert_str_eq(significant(999.4, 3), "999");
    cr_assert_str_eq(significant(0.99951, 3), "1.00");
    cr_assert_str_eq(significant(-39.96, 4), "-39.96");
    cr_assert_str_eq(significant(0, 3), "0.00");
    cr_assert_str_eq(significant(2e-9, 2), "0.0000000020");
    cr_assert_str_eq(significant(2e-10, 2), "2.0e-10");
    cr_assert_str_eq(significant(5e15, 1), "5000000000000000");
    cr_assert_str_eq(significant(5e16, 1), "5e+16");
}

/* What the C library makes of the value in that many digits (at most 15, which survive being read back), as
 * printf("%e") has it: every figure of ours is one of its figures, a point, or a zero that fills up. */
static void expect_figures(double value, int digits)
{
    char ours[NUMBER_TEXT_MAX], theirs[NUMBER_TEXT_MAX];
    snprintf(theirs, sizeof theirs, "%.*e", digits - 1, value);
    double back = strtod(significant(value, digits), NULL);
    snprintf(ours, sizeof ours, "%.*e", digits - 1, back);
    cr_assert_str_eq(ours, theirs, "%a in %d digits is %s", value, digits, significant(value, digits));
}

/* Roundings near a half and near a power of ten, where a shorter way could go wrong by one, and others. */
Test(base, significant_digits_are_those_of_the_c_library)
{
    static const double halves[] = {0.5,      2.5,     1.005,  2.675,     1e-9,       9.995,        99.95,
                                    0.099995, 1234565, 0.15,   0.25,      1e15 - 0.5, 999999.5,     9.5e-9,
                                    1e14,     8.5e14,  1e-3,   0.001,     123456.5,   4503599627.5, 0.3,
                                    1.5e9,    72057.5, 2.5e-7, 1.0000005, 99999.95,   999.9995,     65535.5};
    for (size_t i = 0; i < sizeof halves / sizeof *halves; i++)
        for (int digits = 1; digits <= 15; digits++)
            for (int side = -1; side <= 1; side++)
                expect_figures(side < 0   ? nextafter(halves[i], 0)
                               : side > 0 ? nextafter(halves[i], INFINITY)
                                          : halves[i],
                               digits);
    unsigned long seed = 1;
    for (int i = 0; i < 20000; i++) { /* Lehmer's generator; the values span 1e-10 to 1e16 */
        seed = seed * 48271 % 2147483647;
        double value = (double)seed / 2147483647 * pow(10, (int)(seed % 27) - 10);
        expect_figures(value, 1 + i % 9);
    }
}

Test(base, utf8_questions)
{
    cr_assert_eq(utf8_valid_prefix("abc\xC2\xB5", 5), 5);
    cr_assert_eq(utf8_valid_prefix("abc\xFFz", 5), 3);
    cr_assert_eq(utf8_valid_prefix("\xC0\x80", 2), 0, "an overlong NUL");
    cr_assert_eq(utf8_valid_prefix("\xED\xA0\x80", 3), 0, "a surrogate");
    cr_assert_eq(utf8_valid_prefix("a\xE6\xBC", 3), 1, "a character cut short");
    cr_assert_eq(utf8_width("\xE6\xBC\xA2", 3), 2, "a wide character");
    cr_assert_eq(utf8_width("e\xCC\x81", 3), 1, "a combining mark");
    cr_assert_eq(utf8_count("e\xCC\x81\xE6\xBC\xA2", 6), 3);
    bool printable;
    cr_assert_eq(utf8_next("\xE2\x80\xAE", 3, &printable), 3);
    cr_assert_not(printable, "right-to-left override");
    utf8_next("\x1b", 1, &printable);
    cr_assert_not(printable);
    utf8_next("\xC2\xB5", 2, &printable);
    cr_assert(printable);
}
