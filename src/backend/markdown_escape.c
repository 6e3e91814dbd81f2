/* markdown_escape.c: text that GitHub and GitLab show as it is written.
 *
 * A backslash before ASCII punctuation makes it literal (CommonMark 2.4); '<', '>' and '&' become entities,
 * which also holds inside <details>. What is found in the finished text and not in the source (mentions,
 * references to issues, names of emoji) is broken up by a zero-width space, the way dependabot does it. */
#include "backend/markdown_escape.h"

#include <ctype.h>
#include <string.h>

#include "backend/clean.h"
#include "base/arena.h"
#include "base/buffer.h"

enum { NAME_LONGEST = 64, FENCE_LEAST = 3 };

static const char ZERO_WIDTH[] = "&#8203;";

/* What stands for a byte; NULL for itself. */
static const char *const substitutes[128] = {
    ['<'] = "&lt;", ['>'] = "&gt;", ['&'] = "&amp;", ['\\'] = "\\\\", ['`'] = "\\`", ['*'] = "\\*",
    ['['] = "\\[",  [']'] = "\\]",  ['#'] = "\\#",   ['~'] = "\\~",   ['|'] = "\\|", ['$'] = "\\$",
};

static bool is_word(char byte)
{
    return isalnum((unsigned char)byte) || (unsigned char)byte >= 0x80;
}

/* "://" and "www." make a link of what follows (GFM 6.9); "scheme&#58;//" does not. */
static bool starts_link(const char *text, size_t at)
{
    if (text[at] == ':')
        return text[at + 1] == '/' && text[at + 2] == '/';
    return text[at] == '.' && at >= 3 && (text[at - 1] | 32) == 'w' && (text[at - 2] | 32) == 'w' &&
           (text[at - 3] | 32) == 'w';
}

static bool is_reference_mark(char byte)
{
    return byte == '@' || byte == '#' || byte == '!' || byte == '~' || byte == '%' || byte == '$';
}

/* GitHub: @name, #1; GitLab also: !1, ~label, %milestone, $snippet. */
static bool starts_reference(const char *text, size_t at)
{
    return is_reference_mark(text[at]) && is_word(text[at + 1]);
}

/* :tada: is a picture, wherever it stands; of numbers only two are. */
static bool starts_emoji(const char *text, size_t at)
{
    static const char digits[] = "0123456789";
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-";
    if (text[at] != ':')
        return false;
    const char *name = text + at + 1;
    size_t length = strspn(name, letters);
    if (length == 0 || name[length] != ':')
        return false;
    return strspn(name, digits) < length || strncmp(name, "100:", 4) == 0 || strncmp(name, "1234:", 5) == 0;
}

/* What is found in the finished text. */
static bool is_found(const char *text, size_t at)
{
    return starts_reference(text, at) || starts_emoji(text, at);
}

static bool is_emphasis(const char *text, size_t at)
{
    /* An underscore inside a word means nothing: kv_cache stays readable. */
    return text[at] == '_' && !(at > 0 && is_word(text[at - 1]) && is_word(text[at + 1]));
}

/* Length of a list or heading mark, rule or underline at the beginning of a block; the byte after which the
 * backslash goes is its last. */
static size_t block_mark(const char *text)
{
    if (*text != '\0' && strchr("-+=:", *text))
        return 1;
    size_t digits = strspn(text, "0123456789");
    return digits > 0 && (text[digits] == '.' || text[digits] == ')') ? digits + 1 : 0;
}

void markdown_escape(struct arena *arena, struct buffer *out, const char *text, bool begins)
{
    const char *clean = clean_line(arena, text);
    size_t at = 0;
    if (begins) {
        clean += strspn(clean, " ");
        size_t mark = block_mark(clean);
        if (mark > 0) {
            buffer_add(out, clean, mark - 1);
            buffer_byte(out, '\\');
            buffer_byte(out, clean[mark - 1]);
            at = mark;
        }
    }
    size_t plain = at; /* begin of what is not yet written */
    for (; clean[at]; at++) {
        unsigned char byte = (unsigned char)clean[at];
        const char *substitute = byte < 128 ? substitutes[byte] : NULL;
        bool reference = is_found(clean, at), link = starts_link(clean, at);
        bool emphasis = is_emphasis(clean, at);
        if (!substitute && !reference && !link && !emphasis)
            continue;
        buffer_add(out, clean + plain, at - plain);
        plain = at + 1;
        if (link)
            buffer_text(out, byte == ':' ? "&#58;" : "&#46;");
        else if (emphasis)
            buffer_text(out, "\\_");
        else if (substitute)
            buffer_text(out, substitute);
        else
            buffer_byte(out, (char)byte);
        if (reference)
            buffer_text(out, ZERO_WIDTH);
    }
    buffer_add(out, clean + plain, at - plain);
}

void markdown_escape_html(struct arena *arena, struct buffer *out, const char *text)
{
    const char *clean = clean_line(arena, text);
    for (size_t at = 0; clean[at]; at++) {
        unsigned char byte = (unsigned char)clean[at];
        if (byte == '<' || byte == '>' || byte == '&')
            buffer_text(out, substitutes[byte]);
        else if (byte == '"')
            buffer_text(out, "&quot;");
        else
            buffer_byte(out, (char)byte);
        if (is_found(clean, at))
            buffer_text(out, ZERO_WIDTH);
    }
}

/* Letters, digits and marks that neither end a code span nor a table cell. */
static bool fits_code_span(const char *clean)
{
    if (*clean == '\0' || *clean == ' ' || clean[strlen(clean) - 1] == ' ')
        return false;
    for (; *clean; clean++)
        if (!is_word(*clean) && !strchr(" ._-/+:,()%=", *clean))
            return false;
    return true;
}

void markdown_name(struct arena *arena, struct buffer *out, const char *name)
{
    const char *clean = clean_middle(arena, clean_line(arena, name), NAME_LONGEST, "…");
    if (!fits_code_span(clean)) {
        markdown_escape(arena, out, clean, false);
        return;
    }
    buffer_byte(out, '`');
    buffer_text(out, clean);
    buffer_byte(out, '`');
}

void markdown_fence(struct buffer *out, const char *lines)
{
    size_t longest = FENCE_LEAST - 1, run = 0;
    for (const char *at = lines; *at; at++) {
        run = *at == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    buffer_repeat(out, "`", longest + 1);
    buffer_text(out, "text\n");
    buffer_text(out, lines);
    buffer_repeat(out, "`", longest + 1);
    buffer_byte(out, '\n');
}
