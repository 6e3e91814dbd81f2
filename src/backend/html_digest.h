/* html_digest.h: the digest by which a content security policy names the one style and script it allows. */
#ifndef PERFC_BACKEND_HTML_DIGEST_H
#define PERFC_BACKEND_HTML_DIGEST_H

#include <stddef.h>

enum { HTML_DIGEST_TEXT = 45 }; /* base64 of 32 bytes, and a NUL */

/* Writes the base64 of the SHA-256 of `length` bytes. Returns `out`. */
const char *html_digest(char out[HTML_DIGEST_TEXT], const char *bytes, size_t length);

#endif
