/* lexeme.h: what the scanner's rules make of the text they matched: counts, units, strings, and what does not
 * belong to the language. The token under construction is parser->scanned, its span already set. */
#ifndef PERFC_SYNTAX_LEXEME_H
#define PERFC_SYNTAX_LEXEME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct parser;

/* A name or keyword: sets the text and returns the kind of token. */
int lexeme_word(struct parser *parser);

/* A number of `digits` bytes and perhaps a count suffix: returns how many bytes it really has. */
size_t lexeme_number(struct parser *parser, size_t digits);

/* A number with a misplaced point, of which `digits` is what must have been meant. */
void lexeme_malformed_number(struct parser *parser, const char *digits, const char *why);

/* Whether a unit follows at this offset. */
bool lexeme_unit_follows(const struct parser *parser, size_t offset);
int lexeme_unit(struct parser *parser);

/* A string in its quotes; `close` is the number of bytes of the closing quote, 0 when it is missing. */
int lexeme_string(struct parser *parser, size_t close);

/* A string in quotes that are not the language's, `quote` bytes each. */
int lexeme_foreign_string(struct parser *parser, size_t quote);

/* A spelling of an operator from elsewhere, such as `&&`. */
int lexeme_foreign_operator(struct parser *parser);

/* A comment that does not begin with `#`. */
void lexeme_foreign_comment(struct parser *parser);

/* Square brackets around a list: reported and dropped, or a stray character: true. */
bool lexeme_bracket_is_stray(struct parser *parser, bool open);

/* A word with bytes beyond ASCII. Returns how many bytes of it to take, and the kind of token: TOK_YYEOF for
 * one to pass over. */
size_t lexeme_foreign_word(struct parser *parser, int *kind);

/* A character that means nothing. */
int lexeme_stray(struct parser *parser);

/* ---- looking ahead in the text, from an offset on ---- */

/* Past blanks, newlines and comments. */
size_t text_skip_space(const struct parser *parser, size_t at);

/* Past a name or string that begins here; `at` itself when none does. */
size_t text_skip_name(const struct parser *parser, size_t at);

/* Whether, after the word that ends here and its `.parts`, a single `=` or a `{` makes it a left side. */
bool text_is_left_side(const struct parser *parser, size_t at);

#endif
