/* test_language.c: reports in other languages: no text is missing, and none is left in English. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "faults.h"
#include "result/message.h"
#include "result/quantity.h"
#include "run.h"
#include "source/phrase.h"

TestSuite(language, .init = set_up, .fini = tear_down);

/* ---- messages ------------------------------------------------------------------------------------- */

/* Whether `pattern` holds what stands at `piece`, `length` bytes. */
static bool holds(const char *pattern, const char *piece, size_t length)
{
    for (const char *at = pattern; *at; at++)
        if (strncmp(at, piece, length) == 0)
            return true;
    return false;
}

/* Whatever one column has in braces the other has too; a translation may name one twice. */
static void same_placeholders(const char *one, const char *other)
{
    for (const char *at = strchr(one, '{'); at; at = strchr(at + 1, '{')) {
        size_t length = strcspn(at, "}") + 1;
        if (!holds(other, at, length))
            FAULT("%.*s is in \"%s\" and not in \"%s\"", (int)length, at, one, other);
    }
}

static size_t occurrences(const char *text, const char *piece)
{
    size_t count = 0;
    for (const char *at = strstr(text, piece); at; at = strstr(at + 1, piece))
        count++;
    return count;
}

Test(language, messages_name_the_same_placeholders_and_tones)
{
    static const char *const marks[] = {"<b>", "<n>", "<g>", "<r>", "<w>", "<m>", "</>"};
    for (int i = 0; i < MESSAGE_COUNT; i++) {
        const char *english = message_pattern(LANGUAGE_EN, (enum message)i);
        for (int k = LANGUAGE_EN + 1; k < LANGUAGE_COUNT; k++) {
            const char *other = message_pattern((enum language)k, (enum message)i);
            cr_assert(english && *english && other, "message %d", i);
            if (*other == '\0' && strcmp(english, " ") != 0) /* Chinese puts nothing between sentences */
                FAULT("\"%s\" says nothing", english);
            same_placeholders(english, other);
            same_placeholders(other, english);
            for (size_t m = 0; m < sizeof marks / sizeof marks[0]; m++)
                if (occurrences(english, marks[m]) != occurrences(other, marks[m]))
                    FAULT("%s stands as often in \"%s\" as in \"%s\"? no", marks[m], english, other);
        }
    }
    EXPECT_NO_FAULTS();
}

/* Arguments follow the order of the English column, wherever the other has them. */
Test(language, a_message_takes_its_arguments_in_the_order_of_english)
{
    const char *const two[] = {"2", "3"};
    cr_expect_str_eq(message_text(arena, LANGUAGE_EN, M_SOME_ASSERTIONS_HOLD, two, 2),
                     "2 of 3 assertions hold");
    cr_expect_str_eq(message_text(arena, LANGUAGE_ZH, M_SOME_ASSERTIONS_HOLD, two, 2),
                     "3 条断言中有 2 条成立");
    /* What is missing shows, and what an argument has in braces is no placeholder. */
    const char *const one[] = {"{all}"};
    cr_expect_str_eq(message_text(arena, LANGUAGE_EN, M_SOME_ASSERTIONS_HOLD, one, 1),
                     "{all} of {all} assertions hold");
}

Test(language, tones_become_runs)
{
    struct rich_text text = {0};
    const char *const arguments[] = {"<b>chat", "the model has no `layers`"};
    message_rich(arena, &text, TONE_PLAIN, LANGUAGE_ZH, M_HAS_NO_RESULT, arguments, 2);
    cr_assert_eq(text.runs.count, 3);
    cr_expect_str_eq(text.runs.items[0].text, "<b>chat");
    cr_expect_eq(text.runs.items[0].tone, TONE_NAME);
    cr_expect_eq(text.runs.items[1].tone, TONE_BAD);
    cr_expect_eq(text.runs.items[2].tone, TONE_PLAIN);
    cr_expect_str_eq(text.runs.items[2].text, "the model has no `layers`");
}

/* ---- quantities ----------------------------------------------------------------------------------- */

/* Whether a text holds a Chinese character (U+4E00 to U+9FFF: three bytes, the first E4 to E9). */
static bool is_chinese(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text >= 0xe4 && (unsigned char)*text <= 0xe9)
            return true;
    return false;
}

Test(language, quantities_have_labels_and_sentences)
{
    for (int i = 0; i < QUANTITY_COUNT; i++) {
        const struct quantity_info *info = quantity_info((enum quantity)i);
        const char *label = quantity_label(info, LANGUAGE_ZH), *doc = quantity_doc(info, LANGUAGE_ZH);
        if (!is_chinese(label) && strcmp(label, quantity_label(info, LANGUAGE_EN)) != 0)
            FAULT("%s: label \"%s\"", info->name, label);
        if (!is_chinese(doc) || !strstr(doc, "。"))
            FAULT("%s: sentence \"%s\"", info->name, doc);
        if (label[0] == '\0')
            FAULT("%s: no label", info->name);
    }
    EXPECT_NO_FAULTS();
}

/* The `why` column as text, macros expanded, so that the texts in it can be seen. */
#define AS_TEXT(...)      AS_TEXT_ONCE(__VA_ARGS__)
#define AS_TEXT_ONCE(...) #__VA_ARGS__

static const char *const reasons[] = {
#define QUANTITY(scope, id, name, type, unit, better, label, value, band, exists, why, ...) AS_TEXT(why),
#include "result/quantities.def"
#undef QUANTITY
};

Test(language, every_reason_has_a_phrase)
{
    size_t seen = 0;
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        for (const char *at = strchr(reasons[i], '"'); at; at = strchr(at + 1, '"')) {
            const char *end = strchr(at + 1, '"');
            const char *text = arena_strndup(arena, at + 1, (size_t)(end - at) - 1);
            if (!is_chinese(phrase_in(NULL, LANGUAGE_ZH, text)))
                FAULT("no phrase for \"%s\"", text);
            at = end;
            seen++;
        }
    cr_assert(seen > 20, "%zu reasons found", seen);
    EXPECT_NO_FAULTS();
}

/* The text of a C string literal that begins at `at`, its neighbours included; NULL when none begins there.
 */
static const char *literal_at(const char *at)
{
    struct buffer out = buffer_in(arena);
    at += strspn(at, " \n");
    if (*at != '"')
        return NULL;
    while (*at == '"') {
        for (at++; *at && *at != '"'; at++) {
            at += *at == '\\';
            buffer_byte(&out, *at);
        }
        at += (*at == '"') + strspn(at + (*at == '"'), " \n");
    }
    return buffer_string(&out);
}

/* The first text among the arguments of the call that goes on at `at`. */
static const char *text_in_call(const char *at)
{
    int open = 0;
    for (; *at && open >= 0 && *at != ';'; at++) {
        open += *at == '(' ? 1 : *at == ')' ? -1 : 0;
        if (*at == '"')
            return literal_at(at);
    }
    return NULL;
}

/* Looks for calls of `function` in the sources, and for the phrase of the text that each passes on. Returns
 * how many there are. Texts that are nothing but names in code spans need none. */
static size_t look_at_calls(const char *function)
{
    size_t seen = 0;
    struct paths files = find_files(arena, source_path(arena, "src/result"), ".c");
    for (size_t i = 0; i < files.list.count; i++) {
        const char *source = read_file(arena, files.list.items[i], NULL);
        for (const char *at = strstr(source, function); at; at = strstr(at + 1, function)) {
            const char *text = text_in_call(at + strlen(function));
            bool name = text && text[0] == '`' && strcspn(text + 1, "`") == strlen(text) - 2;
            if (!text || name || strcmp(text, "%s") == 0)
                continue;
            seen++;
            if (!is_chinese(phrase_in(NULL, LANGUAGE_ZH, text)))
                FAULT("%s: no phrase for \"%s\"", files.list.items[i], text);
        }
    }
    return seen;
}

/* A warning stands in the report; an error is why a point of a sweep cannot be. */
Test(language, every_warning_and_error_that_reports_show_has_a_phrase)
{
    cr_expect_gt(look_at_calls("DIAG_W"), 10);
    cr_expect_gt(look_at_calls("bind_error("), 10);
    cr_expect_gt(look_at_calls("bind_missing("), 10);
    cr_expect_gt(look_at_calls("phrases_printf("), 2);
    cr_expect_gt(look_at_calls("phrases_of_phrases("), 1);
    cr_expect_gt(look_at_calls("add_reason(trial"), 7);
    EXPECT_NO_FAULTS();
}

/* ---- phrases -------------------------------------------------------------------------------------- */

/* The conversion of the argument `number` (from 1) in a printf format, "%2$s" or by order; "" if none. */
static const char *conversion(const char *format, size_t number)
{
    size_t order = 0;
    for (const char *at = strchr(format, '%'); at; at = strchr(at, '%')) {
        unsigned given = 0;
        int read = 0;
        if (at[1] == '%') {
            at += 2;
            continue;
        }
        const char *flags = at + 1;
        if (sscanf(flags, "%u$%n", &given, &read) == 1 && read > 0)
            flags += read;
        size_t index = read > 0 ? given : ++order;
        size_t length = strcspn(flags, "sdugfzxc") + 1;
        at = flags;
        if (index == number)
            return arena_strndup(arena, flags, length);
    }
    return "";
}

Test(language, phrases_take_the_same_arguments)
{
    static const struct {
        const char *english, *chinese;
    } rows[] = {
#define PHRASE(english, chinese) {english, chinese},
#include "source/phrases.def"
#undef PHRASE
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *english = rows[i].english, *chinese = rows[i].chinese;
        if (!is_chinese(chinese))
            FAULT("\"%s\" is \"%s\"", english, chinese);
        if (strchr(chinese, '$') && occurrences(chinese, "%") != occurrences(chinese, "$"))
            FAULT("\"%s\" names some arguments by number and some by order", chinese);
        for (size_t k = 1; k < 10; k++)
            if (strcmp(conversion(english, k), conversion(chinese, k)) != 0)
                FAULT("argument %zu of \"%s\" and of \"%s\"", k, english, chinese);
        for (size_t k = 0; k < i; k++)
            if (strcmp(rows[k].english, english) == 0)
                FAULT("\"%s\" has two rows", english);
    }
    EXPECT_NO_FAULTS();
}

Test(language, a_composed_phrase_is_found_again)
{
    struct phrases *phrases = phrases_new(arena);
    const char *english = phrases_printf(phrases, "%s `%s` has an error", "gpu", "h100");
    cr_expect_str_eq(english, "gpu `h100` has an error");
    cr_expect_str_eq(phrase_in(phrases, LANGUAGE_EN, english), english);
    cr_expect_str_eq(phrase_in(phrases, LANGUAGE_ZH, "gpu `h100` has an error"), "gpu `h100` 有错误");
    cr_expect_str_eq(phrase_in(phrases, LANGUAGE_ZH, "gpu `b200` has an error"), "gpu `b200` has an error");
    english = phrases_of_phrases(phrases, "%s `%s` lacks %s", "gpu", "h100", "`gpu` (or `system`)");
    cr_expect_str_eq(english, "gpu `h100` lacks `gpu` (or `system`)");
    cr_expect_str_eq(phrase_in(phrases, LANGUAGE_ZH, english), "gpu `h100` 缺少 `gpu`（或 `system`）");
    cr_expect_str_eq(phrase_in(NULL, LANGUAGE_ZH, "the model has no experts"), "该模型没有专家");
}
