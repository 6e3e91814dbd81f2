/* unclosed.h: what to make of a file whose braces do not close. */
#ifndef PERFC_SYNTAX_UNCLOSED_H
#define PERFC_SYNTAX_UNCLOSED_H

struct parser;

/* Reports the missing `}` once, at the declaration that lacks it, and moves what was swallowed by that
 * declaration back to where it belongs. Does nothing when all braces closed. */
void unclosed_repair(struct parser *parser);

#endif
